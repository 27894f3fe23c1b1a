"""External routines of one language called from another, by the conventions of C (Fortran 2008: bind(C)).

In C a routine is `double name(double a, double b)`, or `void name(double a, double b, double *returns)` if it returns named values; with
memory, `double *memory` is a further argument. In Fortran it is a function or a subroutine with arrays in these places. Between the
two it is called `external_name`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bellcrank.emit.c.runtime_files import head
from bellcrank.emit.names import comment, identifier
from bellcrank.emit.number import DOUBLE
from bellcrank.program.routine import Routine


def external_name(routine: Routine) -> str:
    """The name of a routine in generated source."""
    return f"external_{identifier(routine.name)}"


Texts = Iterable[tuple[Routine, str]]  # routines, each with a text that holds it


def texts_of(routines: Texts) -> list[tuple[str, list[Routine]]]:
    """The different texts, each with the routines it holds: a file may hold several."""
    found: dict[str, list[Routine]] = {}
    for r, text in routines:
        found.setdefault(text.strip("\n"), []).append(r)
    return list(found.items())


def c_texts(routines: Texts, prefix: str = "external_") -> list[str]:
    """Routines in C, under their names in generated source."""
    lines = []
    for text, held in texts_of(routines):
        names = [identifier(r.name) for r in held]
        lines += [f"#define {n} {prefix}{n}" for n in names]
        lines += [text.strip(), *(f"#undef {n}" for n in names), ""]
    return lines


def _c_head(routine: Routine) -> str:
    arguments = [f"double a{i}" for i in range(1, routine.argument_count + 1)]
    arguments += ["double *returns"] if routine.returns else []
    arguments += ["double *memory"] if routine.memory else []
    kind = "void" if routine.returns else "double"
    return f"{kind} {external_name(routine)}({', '.join(arguments) or 'void'})"


def c_prototype(routine: Routine) -> str:
    """The declaration in C of a routine that is given in Fortran."""
    return f"{_c_head(routine)}; /* in Fortran */"


def c_file(routines: Sequence[Routine], title: str) -> str:
    """A file in C for a program in Fortran: routines that are given in C alone, and how Fortran calls them."""
    lines = [
        f"/* {comment(title)}: external routines in C */",
        head(DOUBLE),
        *c_texts(((r, r.given_in("c")) for r in routines), "routine_"),
    ]
    lines += ["/* ---- the same for Fortran */", ""]
    for r in routines:  # their own may be static
        given = ", ".join(_given(r))
        call = f"routine_{identifier(r.name)}({given});"
        lines += [_c_head(r), "{", f"    {call if r.returns else f'return {call}'}", "}", ""]
    return "\n".join(lines)


def _given(routine: Routine) -> list[str]:
    """Names of the arguments of a routine."""
    arguments = [f"a{i}" for i in range(1, routine.argument_count + 1)]
    arguments += ["returns"] if routine.returns else []
    return arguments + (["memory"] if routine.memory else [])


def fortran_texts(routines: Texts) -> list[str]:
    """Routines in Fortran, as procedures of a module."""
    return [
        f"  ! external {'routine' if len(held) == 1 else 'routines'} {', '.join(comment(r.name) for r in held)}\n{text}\n"
        for text, held in texts_of(routines)
    ]


def fortran_file(routines: Sequence[Routine], title: str) -> str:
    """A file in Fortran for a program in C: routines that are given in Fortran alone, and how C calls them."""
    lines = [
        f"! {comment(title)}: external routines in Fortran",
        "module routines",
        "  use, intrinsic :: iso_fortran_env, only: dp => real64",
        "  use, intrinsic :: iso_c_binding, only: c_double",
        "  implicit none",
        "",
        "contains",
        "",
        *fortran_texts((r, r.given_in("fortran")) for r in routines),
        "  ! ---- the same for C",
        "",
    ]
    for r in routines:
        lines += [*_bound(r, "_for_c", ""), _called(r), f"  end {_kind(r)} {identifier(r.name)}_for_c", ""]
    return "\n".join([*lines, "end module routines", ""])


def fortran_interfaces(routines: Sequence[Routine]) -> list[str]:
    """What a module in Fortran says of routines that are given in C."""
    if not routines:
        return []
    lines = ["  interface ! external routines in C"]
    for r in routines:
        name = external_name(r)
        head, *rest = _bound(r, "", "    import :: c_double")
        lines += [f"  {line}" for line in (head.replace(f" {identifier(r.name)}(", f" {name}("), *rest)]
        lines += [f"    end {_kind(r)} {name}"]
    return [*lines, "  end interface", ""]


def _kind(routine: Routine) -> str:
    return "subroutine" if routine.returns else "function"


def _bound(routine: Routine, suffix: str, first: str) -> list[str]:
    """Head and declarations of a procedure as C sees it."""
    arguments = [f"a{i}" for i in range(1, routine.argument_count + 1)]
    arrays = [("returns", str(len(routine.returns)), "out")] if routine.returns else []
    arrays += [("memory", str(routine.memory), "inout")] if routine.memory else []
    listed = ", ".join([*arguments, *(name for name, _, _ in arrays)])
    result = "" if routine.returns else " result(value)"
    lines = [
        f"  {_kind(routine)} {identifier(routine.name)}{suffix}({listed}){result} &",
        f'    bind(C, name="{external_name(routine)}")',
    ]
    lines += [first] if first else []
    lines += [f"    real(c_double), value :: {', '.join(arguments)}"] if arguments else []
    lines += [f"    real(c_double), intent({intent}) :: {name}({size})" for name, size, intent in arrays]
    return lines if routine.returns else [*lines, "    real(c_double) :: value"]


def _called(routine: Routine) -> str:
    call = f"{routine.name}({', '.join(_given(routine))})"
    return f"    call {call}" if routine.returns else f"    value = {call}"
