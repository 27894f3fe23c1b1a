"""Stand-alone programs of a model, written to a folder."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

from bellcrank.backend import arguments
from bellcrank.backend.c import NEAR
from bellcrank.derive.derived import Derived
from bellcrank.emit.c.source import Words, output_key
from bellcrank.errors import BuildError, ModelError, did_you_mean
from bellcrank.export.first_step import with_stable_step
from bellcrank.export.model_setup import Compile, setup_of
from bellcrank.export.standalone.c import c_program
from bellcrank.export.standalone.fortran import fortran_program
from bellcrank.export.standalone.python import python_program
from bellcrank.export.standalone.setup import Setup
from bellcrank.interface.interface import Interface
from bellcrank.program import null_space
from bellcrank.program.program import Program
from bellcrank.run import branch, integrate, projection

Writer = Callable[[Program, Setup, Words], dict[str, str]]


def _python(program: Program, setup: Setup, words: Words) -> dict[str, str]:
    """A program in Python takes integrators and what keeps loops closed from the package as they stand."""
    parts = [integrate, arguments] if program.loops is None else [integrate, arguments, null_space, projection, branch]
    texts = {f"{part.__name__.rpartition('.')[2]}.py": _alone(inspect.getsource(part)) for part in parts}
    return python_program(program, setup, words) | texts


def _alone(source: str) -> str:
    """A module that imports the others from its own folder."""
    for old, new in (
        ("from bellcrank.program.null_space import", "from null_space import"),
        ("from bellcrank.run.projection import", "from projection import"),
        ("from bellcrank.program.program import Scales\n", ""),  # a name in annotations only
        ("from bellcrank.backend.c import NEAR\n", f"NEAR = {NEAR}\n"),
    ):
        source = source.replace(old, new)
    return source


LANGUAGES: dict[str, Writer] = {"c": c_program, "fortran": fortran_program, "python": _python}


def write_program(derived: Derived, compiled: Compile, language: str, directory: str | Path) -> Path:
    """Writes all files of a program; the path of the one with the equations."""
    if derived.analysis.mechanism.description.contacts:
        raise ModelError(
            "programs do not contain rigid wheels, which run inside of Bellcrank alone; use a tyre", derived.name
        )
    if language not in LANGUAGES:
        known = ", ".join(f"'{name}'" for name in LANGUAGES)
        near = did_you_mean(str(language), LANGUAGES)
        raise ModelError(f"language {language!r} is not known; it is one of {known}.{near}", derived.name)
    setup = with_stable_step(setup_of(derived, compiled), compiled)
    files = LANGUAGES[language](derived.program, setup, words_of(derived.interface))
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise BuildError(f"cannot write to {folder}: {error.strerror or error}") from None
    return folder / next(iter(files))


def words_of(interface: Interface) -> Words:
    """Labels and units for the comments of generated source."""
    inputs = (x for x in interface.inputs if not x.rate)
    named = {x.name: x for x in (*interface.parameters, *interface.entered, *inputs, *interface.kept)}
    named |= {x.name: x for x in interface.states} | {output_key(x.name): x for x in interface.outputs}
    return Words({k: x.label for k, x in named.items()}, {k: x.unit.text for k, x in named.items()})
