"""Stand-alone programs of a model, written to a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bellcrank.codegen.name_comments import NameComments, output_key
from bellcrank.core.errors import BuildError, ModelError
from bellcrank.core.files.atomic import write_folder
from bellcrank.core.numeric.fixed_step_methods import METHODS
from bellcrank.export.embedded.write import embedded_files, simulink_files
from bellcrank.export.first_step import with_stable_step
from bellcrank.export.model_setup import kernel_features, program_setup
from bellcrank.export.program_events import with_events
from bellcrank.export.standalone.c import KNOWN_METHODS, c_program
from bellcrank.export.standalone.fortran import fortran_program
from bellcrank.export.standalone.python import python_program
from bellcrank.export.standalone.setup import ProgramSetup
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.program.program import SimulationProgram

Writer = Callable[[SimulationProgram, ProgramSetup, NameComments], dict[str, str]]


LANGUAGES: dict[str, Writer] = {
    "c": c_program,
    "fortran": fortran_program,
    "python": python_program,
}
CALLED = {
    "embedded": embedded_files,
    "simulink": simulink_files,
}  # what others call step by step, in C


def write_program(derived: DerivedModel, name: str, directory: str | Path, **options: Any) -> Path:
    """Writes all files of a program in a format; the path of the one with the equations."""
    files = (
        CALLED[name](derived, **options)
        if name in CALLED
        else _program_files(derived, name, **options)
    )
    folder = Path(directory)
    try:
        write_folder(folder, files)
    except (OSError, ValueError) as error:
        raise BuildError(
            f"cannot write to {folder}: {getattr(error, 'strerror', None) or error}"
        ) from None
    return folder / next(iter(files))


def _program_files(
    derived: DerivedModel, language: str, events: Any = None, stop: Any = (), dae: Any = None
) -> dict[str, str]:
    if language == "python" and derived.analysis.mechanism.description.rigid_contacts:
        raise ModelError(
            "programs in Python do not have rigid wheels: write one in C or Fortran", derived.name
        )
    methods = METHODS if language == "python" else KNOWN_METHODS
    setup = with_stable_step(
        program_setup(derived, methods=methods, special=kernel_features(derived, dae)), derived
    )
    setup = with_events(setup, events, stop, derived.analysis.independent_speeds)
    return LANGUAGES[language](derived.program, setup, name_comments(derived.interface))


def name_comments(interface: Interface) -> NameComments:
    """Labels and units for the comments of generated source."""
    inputs = (x for x in interface.inputs if not x.rate)
    quantities = {
        x.name: x
        for x in (
            *interface.parameters,
            *interface.function_parameters,
            *inputs,
            *interface.sampled_inputs,
        )
    }
    quantities |= {x.name: x for x in interface.states} | {
        output_key(x.name): x for x in interface.outputs
    }
    return NameComments(
        {k: x.label for k, x in quantities.items()}, {k: x.unit.text for k, x in quantities.items()}
    )
