"""Models from files: `MODEL.py` with a function model()."""

from __future__ import annotations

import inspect
import runpy
from pathlib import Path
from typing import Any

from bellcrank.api.system import System
from bellcrank.errors import ModelError, did_you_mean


def load_model(path: str | Path, **arguments: Any) -> System:
    """The System that model(**arguments) of a Python file returns. The file is run: it is trusted code."""
    path = Path(path)
    if not path.exists():
        near = [p.name for p in path.parent.glob("*.py")] if path.parent.exists() else []
        raise ModelError(f"no file {path}.{did_you_mean(path.name, near)}")
    if path.suffix != ".py":
        raise ModelError(f"{path.name}: a model is a Python file (.py) with a function model()")
    names = runpy.run_path(str(path))
    make = names.get("model")
    if not callable(make):
        what = "model is not a function" if "model" in names else "there is no function model()"
        raise ModelError(f"{path.name}: {what}; a model file defines model(), which returns a System")
    known = inspect.signature(make).parameters
    for name in arguments:
        if name not in known and not any(p.kind is p.VAR_KEYWORD for p in known.values()):
            raise ModelError(f"{path.name}: model() takes no argument '{name}'; it takes {', '.join(known) or 'none'}")
    system = make(**arguments)
    if not callable(getattr(system, "equations", None)):  # a System, or a hand-led derivation
        raise ModelError(f"{path.name}: model() must return a System, but returned {type(system).__name__}")
    return system
