"""Stand-alone programs of a model, written to a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bellcrank.derive.derived import Derived
from bellcrank.emit.words import Words, output_key
from bellcrank.errors import BuildError, ModelError
from bellcrank.export.embedded.write import embedded_files, simulink_files
from bellcrank.export.first_step import with_stable_step
from bellcrank.export.model_setup import setup_of, special_of
from bellcrank.export.program_events import with_events
from bellcrank.export.standalone.c import KNOWN_METHODS, c_program
from bellcrank.export.standalone.fortran import fortran_program
from bellcrank.export.standalone.python import python_program
from bellcrank.export.standalone.setup import Setup
from bellcrank.files.whole import write_folder
from bellcrank.interface.interface import Interface
from bellcrank.numeric.methods import METHODS
from bellcrank.program.program import Program

Writer = Callable[[Program, Setup, Words], dict[str, str]]


LANGUAGES: dict[str, Writer] = {"c": c_program, "fortran": fortran_program, "python": python_program}
CALLED = {"embedded": embedded_files, "simulink": simulink_files}  # what others call step by step, in C


def write_program(derived: Derived, name: str, directory: str | Path, **options: Any) -> Path:
    """Writes all files of a program in a format; the path of the one with the equations."""
    files = CALLED[name](derived, **options) if name in CALLED else _program_files(derived, name, **options)
    folder = Path(directory)
    try:
        write_folder(folder, files)
    except (OSError, ValueError) as error:
        raise BuildError(f"cannot write to {folder}: {getattr(error, 'strerror', None) or error}") from None
    return folder / next(iter(files))


def _program_files(
    derived: Derived, language: str, events: Any = None, stop: Any = (), dae: Any = None
) -> dict[str, str]:
    if language == "python" and derived.analysis.mechanism.description.contacts:
        raise ModelError("programs in Python do not have rigid wheels: write one in C or Fortran", derived.name)
    methods = METHODS if language == "python" else KNOWN_METHODS
    setup = with_stable_step(setup_of(derived, methods=methods, special=special_of(derived, dae)), derived)
    setup = with_events(setup, events, stop, derived.analysis.independent_speeds)
    return LANGUAGES[language](derived.program, setup, words_of(derived.interface))


def words_of(interface: Interface) -> Words:
    """Labels and units for the comments of generated source."""
    inputs = (x for x in interface.inputs if not x.rate)
    quantities = {x.name: x for x in (*interface.parameters, *interface.entered, *inputs, *interface.kept)}
    quantities |= {x.name: x for x in interface.states} | {output_key(x.name): x for x in interface.outputs}
    return Words({k: x.label for k, x in quantities.items()}, {k: x.unit.text for k, x in quantities.items()})
