"""Functions of a model that the kernel evaluates, in C: `void name(double z[, double r], double *values)`, for the `c`
of an external routine; and files with many poses.

The texts need the head of a program and the files of the kernel in which their structures stand (`kernel_files`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bellcrank.emit.c.printer import CPrinter
from bellcrank.emit.c.runtime_files import head, runtime
from bellcrank.emit.c.tables import number_list
from bellcrank.emit.kernel_function import Formulas, KernelFunction
from bellcrank.emit.linkage import implicit_function
from bellcrank.emit.lookup import lookup_function
from bellcrank.emit.number import DOUBLE
from bellcrank.emit.straight import straight_lines
from bellcrank.expr import Expr, Symbol
from bellcrank.kernel.text import Kernel
from bellcrank.names import routine_name
from bellcrank.program.implicit import Implicit
from bellcrank.program.lookup import Lookup

_CALLED = {
    "Lookup": ["look_up(&{0}_of, x, values);"],
    "Implicit": [
        "double room[{1}];",
        "int32_t pivot[{2}];",
        "implicit_values(&{0}_of, x, room, pivot, values);",
    ],
}


def c_implicit(name: str, f: Implicit) -> str:
    """A function given by equations."""
    return kernel_function(routine_name(name), implicit_function(f))


def c_lookup(name: str, f: Lookup, wanted: Sequence[int]) -> str:
    """A look-up, which sets those of the values that are wanted."""
    return kernel_function(routine_name(name), lookup_function(f, wanted))


def kernel_files(functions: Iterable[Implicit | Lookup], kernel: Kernel) -> str:
    """The files of the kernel that functions need."""
    kinds = {type(f) for f in functions}
    return kernel.take(*(f for k, f in ((Lookup, "lookup.c"), (Implicit, "implicit.c")) if k in kinds))


def kernel_function(name: str, f: KernelFunction) -> str:
    """The formulas of a function, what the kernel knows of it, and the function itself."""
    parts = [_formulas(f"{name}_{field}", formulas) for field, formulas in f.formulas.items()]
    entries: list[str] = []
    for field, kind, length in f.fields:
        value: Any = f.numbers.get(field)
        if field in f.lists and not f.lists[field]:
            entries.append("NULL")
        elif field in f.lists:
            own = "int32_t" if f.is_whole(field) and kind != "double" else "double"
            parts.append(number_list(f"{name}_{field}", f.lists[field], own))
            entries.append(f"{name}_{field}")
        elif kind == "Formulas":
            entries.append(f"{name}_{field}" if field in f.formulas else "NULL")
        elif length > 1:
            entries.append(f"{{{', '.join(repr(x) for x in value)}}}")
        else:
            entries.append(repr(value))
    given = ("z", "r")[: f.arguments]
    lines = [f"const double x[] = {{{', '.join(given)}}};"]
    lines += [line.format(name, f.room, f.pivots) for line in _CALLED[f.kind]]
    parts.append(f"static const {f.kind} {name}_of = {{{', '.join(entries)}}};\n")
    parts.append(_function(f"inline void {name}({', '.join(f'double {x}' for x in given)}, double *values)", lines))
    return "\n".join(parts)


def _formulas(name: str, formulas: Formulas) -> str:
    over, values = formulas
    names = {s: f"{letter}[{i}]" for letter, group in zip("abc", over, strict=True) for i, s in enumerate(group)}
    lines = _statements({f"out[{i}]": e for i, e in values.items()}, names)
    taken = "const double *a, const double *b, const double *c, double *out"
    return _function(f"inline void {name}({taken})", [_silent("a", "b", "c", "out"), *lines])


def _function(head: str, lines: Sequence[str]) -> str:
    return "\n".join([f"static {head}", "{", *(f"    {line}" for line in lines), "}", ""])


def _silent(*names: str) -> str:
    return " ".join(f"(void){x};" for x in names)


def _statements(results: Mapping[str, Expr], names: Mapping[Symbol, str]) -> list[str]:
    lines, shown = straight_lines(CPrinter(names, {}, {}), list(results.values()))
    return [*lines, *(f"{target} = {text};" for target, text in zip(results, shown, strict=True))]


def poses_source(
    functions: Sequence[Implicit | Lookup], parts: Sequence[str], calls: Sequence[str], second: bool, width: int
) -> str:
    """A C file with `poses(n, z, r, out)`: many poses, `width` numbers for each. `parts` are texts of the functions and
    of others, `calls` statements that fill `v` from `z[i]` (and `r[i]`)."""
    return runtime(
        "poses.c",
        HEAD=head(DOUBLE) + kernel_files(functions, Kernel({})),
        PARTS="\n".join(parts),
        UNUSED="" if second else "(void)r;",
        WIDTH=str(width),
        CALLS="\n".join(calls),
    )


def values_source(name: str, symbols: Sequence[Symbol], results: Sequence[Expr]) -> str:
    """C of straight-line results over an array of values: `void name(const double *s, double *out)`."""
    names = {x: f"s[{i}]" for i, x in enumerate(symbols)}
    lines = _statements({f"out[{i}]": e for i, e in enumerate(results)}, names)
    return _function(f"void {name}(const double *s, double *out)", [_silent("s"), *lines])
