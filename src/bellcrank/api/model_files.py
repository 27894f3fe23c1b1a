"""Models of files (`MODEL.py` with a function model(), and what the formats add), and settings of
runs."""

from __future__ import annotations

import inspect
import os
import runpy
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.shipped_files import resolve_model_path, vehicle_files
from bellcrank.core.files.user_modules import import_from_folder

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations
    from bellcrank.core.files.parsfile import ParsFile

READERS = {
    ".lsp": ("an AUTOSIM deck", "bellcrank.formats.decks.files", "load_deck"),
    ".toml": ("a car or motorcycle file", "bellcrank.vehicles.vehicle_loading", "vehicle_system"),
}
"""Readers of models that are data, by ending: what such a file is called, the module and its
function that reads it, which is imported for such a file alone."""


def read_model(path: str | Path, arguments: dict[str, Any]) -> Any:
    """The model of a file, for `System.read`: a System, or a hand-led derivation."""
    if not isinstance(path, str | Path):
        raise ModelError(f"System.read({path!r:.60}): give the path of a model file")
    path = resolve_model_path(path)
    if not os.path.exists(path):  # names that no file can have are those of none
        endings = {".py", *READERS}
        candidates = (
            [p.name for p in path.parent.iterdir() if p.suffix in endings]
            if path.parent.is_dir()
            else []
        )
        raise ModelError(
            f"no file {path}.{did_you_mean(path.name, [*candidates, *vehicle_files()])}"
        )
    if path.suffix.lower() in READERS:
        return _read_format_model(path, *READERS[path.suffix.lower()], arguments)
    if path.suffix != ".py":
        other_formats = "".join(
            f", or {description} ({ending})"
            for ending, (description, _, _) in sorted(READERS.items())
        )
        raise ModelError(
            f"{path.name}: a model is a Python file (.py) with a function model(){other_formats}"
        )
    with import_from_folder(path):
        names = runpy.run_path(str(path))
        model_function = names.get("model")
        if not callable(model_function):
            description = (
                "model is not a function" if "model" in names else "there is no function model()"
            )
            raise ModelError(
                f"{path.name}: {description}; a model file defines model(), which returns a System"
            )
        check_arguments(f"{path.name}: model()", model_function, arguments, 0)
        system = model_function(**arguments)
    if not callable(getattr(system, "equations", None)):  # a System, or a hand-led derivation
        raise ModelError(
            f"{path.name}: model() must return a System, but returned {type(system).__name__}"
        )
    return system


def settings_of(equations: Equations, pars: ParsFile | str | Path) -> dict[str, Any]:
    """Read a parameter file as arguments of `simulate`.

    Parameters
    ----------
    equations : Equations
        Equations of the model.
    pars : ParsFile, str or Path
        The file (.par, .echo), or what `bc.load` or `bc.ParsFile.read` returned.

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
    from bellcrank.export.model_setup import program_setup
    from bellcrank.export.parameter_files import read_settings

    return read_settings(program_setup(equations.derived), pars)


def _read_format_model(
    path: Path, kind: str, module: str, name: str, arguments: dict[str, Any]
) -> Any:
    read = getattr(import_module(module), name)
    check_arguments(f"{path.name}: {kind}", read, arguments, 1)
    return read(path, **arguments)


def check_arguments(
    owner: str, function: Callable[..., Any], arguments: Mapping[str, Any], skip: int
) -> None:
    """Rejects arguments that a function does not have; the first `skip` of its own are not for
    users."""
    parameters = dict(list(inspect.signature(function).parameters.items())[skip:])
    for name in arguments:
        if name not in parameters and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            raise ModelError(
                f"{owner} takes no argument '{name}'; it takes {', '.join(parameters) or 'none'}"
            )
