"""What plain Python does not run, and what is to be installed for it."""

from __future__ import annotations

from bellcrank.numeric.methods import SCIPY, one_of


def not_in_python(feature: str) -> str:
    """The message that says it of something that was asked for."""
    runs = f"fixed steps ({one_of()}) and SciPy's methods ({one_of(SCIPY)})"
    return (
        f"{feature} is not available in plain Python, which runs {runs}, with loops away from singular configurations; "
        "for all else use backend='auto' and a C compiler, or wasmtime (pip install 'bellcrank[wasm]')"
    )
