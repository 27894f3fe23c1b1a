"""Templates of programs and what is put into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bellcrank.codegen.identifiers import comment_text
from bellcrank.core.errors import ModelError
from bellcrank.core.files.template import fill_template, template_text
from bellcrank.export.standalone.setup import ProgramSetup
from bellcrank.program.program import SimulationProgram


def fill_program_template(
    name: str, fields: Mapping[str, str] | None = None, common: Mapping[str, str] | None = None
) -> str:
    """A template with its places filled; pieces of `common` may be left over."""
    return fill_template(
        template_text("bellcrank.export.standalone/templates", name), fields or {}, common
    )


FILES = {"c": "DECK.c", "fortran": "DECK.f90", "python": "DECK.py"}


def require_language(program: SimulationProgram, language: str, *options: str) -> None:
    """Every user function must be given in the language of the program, or in one that it can
    call."""
    missing = [
        r.name for r in program.externals if not any(r.known_in(option) for option in options)
    ]
    if missing:
        listed = ", ".join(f"'{m}'" for m in missing)
        argument_list, neighbours = (
            " or ".join(f"{x}=" for x in options),
            " or ".join(FILES[x] for x in options),
        )
        raise ModelError(
            f"a program in {language} needs the user function {listed} in {language}: give "
            f"{argument_list} in"
            f" add_external(); of a deck, {neighbours} next to it holds its routines",
            program.name,
        )


def summary_comment(setup: ProgramSetup, lead: str) -> str:
    """What the model consists of, as lines of a comment."""
    lines = [lead.rstrip()]
    for line in setup.about:
        inner = line[: len(line) - len(line.lstrip())]
        lines.append(f"{lead}{inner}{comment_text(line)}"[:130].rstrip())
    return "".join(f"{line}\n" for line in lines)


def indent_lines(lines: Iterable[str]) -> str:
    """Lines of an initialiser."""
    return "".join(f"    {line}\n" for line in lines)
