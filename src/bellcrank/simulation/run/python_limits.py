"""What plain Python does not run, and what is to be installed for it."""

from __future__ import annotations

from bellcrank.core.numeric.fixed_step_methods import SCIPY, join_alternatives


def not_in_python_message(feature: str) -> str:
    """The message that says it of something that was asked for."""
    runs = f"fixed steps ({join_alternatives()}) and SciPy's methods ({join_alternatives(SCIPY)})"
    return (
        f"{feature} is not available in plain Python, which runs {runs}, with loops away "
        f"from singular configurations; "
        "for all else use backend='auto' and a C compiler, or wasmtime (pip install "
        "wasmtime)"
    )
