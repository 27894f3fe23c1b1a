"""Stand-alone programs of a model, written to a folder."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from bellcrank.emit.c.source import Words, output_key
from bellcrank.errors import BuildError, ModelError, did_you_mean
from bellcrank.export.first_step import with_stable_step
from bellcrank.export.gather import program_facts
from bellcrank.export.standalone.c import c_program
from bellcrank.export.standalone.facts import Facts
from bellcrank.export.standalone.fortran import fortran_program
from bellcrank.export.standalone.python import python_program
from bellcrank.program.program import Program

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations

Writer = Callable[[Program, Facts, Words], dict[str, str]]


def _python(program: Program, facts: Facts, words: Words) -> dict[str, str]:
    """A program in Python takes along what computes here, as it stands."""
    folder = files("bellcrank.numeric")
    texts = {f"numeric/{f.name}": f.read_text("utf-8") for f in folder.iterdir() if f.name.endswith(".py")}
    return python_program(program, facts, words) | dict(sorted(texts.items()))


LANGUAGES: dict[str, Writer] = {"c": c_program, "fortran": fortran_program, "python": _python}


def write_program(equations: Equations, language: str, directory: str | Path) -> Path:
    """Writes all files of a program; the path of the one with the equations."""
    if equations.analysis.mechanism.description.contacts:
        raise ModelError(
            "programs do not contain rigid wheels, which run inside of Bellcrank alone; use a tyre", equations.name
        )
    if language not in LANGUAGES:
        known = ", ".join(f"'{name}'" for name in LANGUAGES)
        near = did_you_mean(str(language), LANGUAGES)
        raise ModelError(f"language {language!r} is not known; it is one of {known}.{near}", equations.name)
    facts = with_stable_step(equations, program_facts(equations))
    written = LANGUAGES[language](equations.program, facts, words_of(equations))
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in written.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise BuildError(f"cannot write to {folder}: {error.strerror or error}") from None
    return folder / next(iter(written))


def words_of(equations: Equations) -> Words:
    """Labels and units for the comments of generated source."""
    q = equations.quantities
    named = [*equations.program.parameters, *equations.program.inputs]
    label = {s.name: q.label.get(s.name.lower(), "") for s in named} | dict(q.state_label)
    label |= {output_key(o.name): o.label for o in equations.analysis.outputs}
    unit = {s.name: q.unit[s.name.lower()].text for s in named if s.name.lower() in q.unit}
    unit |= {name: u.text for name, u in q.states.items()}
    unit |= {output_key(name): u.text for name, u in q.output_unit.items()}
    return Words(label, unit)
