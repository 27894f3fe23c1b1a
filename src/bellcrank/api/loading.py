"""What files say: models (`MODEL.py` with a function model(), and what the formats add), and settings of runs."""

from __future__ import annotations

import inspect
import runpy
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from bellcrank.api.equations import Equations
from bellcrank.api.system import System
from bellcrank.errors import ModelError, did_you_mean
from bellcrank.export.model_setup import setup_of
from bellcrank.export.parameter_files import read_settings
from bellcrank.files.neighbours import neighbours
from bellcrank.files.parsfile import ParsFile

READERS = {
    ".lsp": ("an AUTOSIM deck", "bellcrank.formats.decks.files", "load_deck"),
    ".toml": ("a car file", "bellcrank.library.vehicles.car", "read_car"),
}
"""Readers of models that are data, by ending: what such a file is called, the module and its function that reads it,
which is imported for such a file alone."""


def load_model(path: str | Path, **arguments: Any) -> System:
    """Load a model from a file.

    Parameters
    ----------
    path : str or Path
        A Python file with a function `model()` that returns a System, a car file (.toml) or an AUTOSIM deck (.lsp).
        Python files are executed: load those you trust.
    **arguments : Any
        Arguments of `model()`, or of the reader of the file.

    Returns
    -------
    System
        The model.

    Raises
    ------
    ModelError
        If there is no such file, or if it is no model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bellcrank as bc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "empty.py"
    ...     lines = "import bellcrank as bc", "def model(name='empty'):", "    return bc.System(name)"
    ...     written = path.write_text(chr(10).join(lines))
    ...     print(bc.load_model(path, name="mine"))
    System('mine': 0 bodies, 0 forces, 0 constraints)
    """
    if not isinstance(path, str | Path):
        raise ModelError(f"load_model({path!r:.60}): give the path of a model file")
    path = Path(path)
    if not path.exists():
        endings = {".py", *READERS}
        near = [p.name for p in path.parent.iterdir() if p.suffix in endings] if path.parent.is_dir() else []
        raise ModelError(f"no file {path}.{did_you_mean(path.name, near)}")
    if path.suffix.lower() in READERS:
        return _read(path, *READERS[path.suffix.lower()], arguments)
    if path.suffix != ".py":
        others = "".join(f", or {what} ({ending})" for ending, (what, _, _) in sorted(READERS.items()))
        raise ModelError(f"{path.name}: a model is a Python file (.py) with a function model(){others}")
    with neighbours(path):
        names = runpy.run_path(str(path))
        make = names.get("model")
        if not callable(make):
            what = "model is not a function" if "model" in names else "there is no function model()"
            raise ModelError(f"{path.name}: {what}; a model file defines model(), which returns a System")
        _check_arguments(f"{path.name}: model()", make, arguments, 0)
        system = make(**arguments)
    if not callable(getattr(system, "equations", None)):  # a System, or a hand-led derivation
        raise ModelError(f"{path.name}: model() must return a System, but returned {type(system).__name__}")
    return system


def settings_of(equations: Equations, pars: ParsFile | str | Path) -> dict[str, Any]:
    """Read a parameter file as arguments of `simulate`.

    Parameters
    ----------
    equations : Equations
        Equations of the model.
    pars : ParsFile, str or Path
        The file (.par, .echo), or what `bc.read` returned.

    Returns
    -------
    dict
        Arguments: `sim.simulate(**settings)`.

    Raises
    ------
    ModelError
        If the file has mistakes: all of them are listed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bellcrank as bc
    >>> s = bc.System("mass")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "run.par"
    ...     written = path.write_text(chr(10).join(["PARSFILE", "STOPT 3", "END"]))
    ...     print(bc.settings_of(s.equations(), path)["t_end"])
    3.0
    """
    return read_settings(setup_of(equations.derived), pars)


def _read(path: Path, what: str, module: str, name: str, arguments: dict[str, Any]) -> System:
    read = getattr(import_module(module), name)
    _check_arguments(f"{path.name}: {what}", read, arguments, 1)
    return read(path, **arguments)


def _check_arguments(who: str, function: Callable[..., Any], arguments: dict[str, Any], skip: int) -> None:
    known = dict(list(inspect.signature(function).parameters.items())[skip:])
    for name in arguments:
        if name not in known and not any(p.kind is p.VAR_KEYWORD for p in known.values()):
            raise ModelError(f"{who} takes no argument '{name}'; it takes {', '.join(known) or 'none'}")
