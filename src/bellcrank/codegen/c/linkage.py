"""Functions of a model that the kernel evaluates, in C: `void name(double x0, ..., double
*values)`, for the `c` of an user function; and files with many poses.

The texts need the head of a program and the files of the kernel in which their structures stand
(`kernel_files`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bellcrank.codegen.c.printer import CPrinter
from bellcrank.codegen.c.runtime_files import fill_runtime_file, source_head
from bellcrank.codegen.c.tables import number_list
from bellcrank.codegen.kernel_function import Formulas, KernelFunction
from bellcrank.codegen.linkage import implicit_function
from bellcrank.codegen.lookup import lookup_function
from bellcrank.codegen.number_type import DOUBLE
from bellcrank.codegen.straight_line import straight_lines
from bellcrank.core.name_lookup import routine_name
from bellcrank.kernel.text import Kernel
from bellcrank.program.grid_lookup import GridLookup
from bellcrank.program.implicit_function import ImplicitFunction
from bellcrank.symbolic.expr import Expr, Symbol

# statements of a function that is not to become a part of others: they would take long to compile
MAX_INLINE_STATEMENTS = 200
_TYPES = {"i": "int32_t", "d": "double", "f": "float"}  # of lists


def c_implicit(name: str, f: ImplicitFunction) -> str:
    """A function given by equations."""
    return kernel_function(routine_name(name), implicit_function(f))


def c_lookup(name: str, f: GridLookup, value_indices: Sequence[int]) -> str:
    """A look-up, which sets those of the values that are wanted."""
    return kernel_function(routine_name(name), lookup_function(f, value_indices))


def kernel_files(functions: Iterable[ImplicitFunction | GridLookup], kernel: Kernel) -> str:
    """The files of the kernel that functions need."""
    kinds = {type(f) for f in functions}
    return kernel.take(
        *(f for k, f in ((GridLookup, "lookup.c"), (ImplicitFunction, "implicit.c")) if k in kinds)
    )


def kernel_function(name: str, f: KernelFunction) -> str:
    """The formulas of a function, what the kernel knows of it, and the function itself."""
    return f"{function_data(name, f)}\n{function_call(name, name, f)}"


def function_data(name: str, f: KernelFunction) -> str:
    """What the kernel knows of a function, as the structure `NAME_of`."""
    segments = [
        _formula_function(f"{name}_{field}", formulas) for field, formulas in f.formulas.items()
    ]
    entries: list[str] = []
    for field, kind, length in f.fields:
        value: Any = f.numbers.get(field)
        if field in f.lists and not f.lists[field].size:
            entries.append("NULL")
        elif field in f.lists:
            numbers = f.lists[field]
            segments.append(
                number_list(f"{name}_{field}", numbers.tolist(), _TYPES[numbers.dtype.char])
            )
            entries.append(f"{name}_{field}")
        elif kind == "Formulas":
            entries.append(f"{name}_{field}" if field in f.formulas else "NULL")
        elif length > 1:
            entries.append(f"{{{', '.join(repr(x) for x in value)}}}")
        else:
            entries.append(repr(value))
    return "\n".join(
        [*segments, f"static const {f.kind} {name}_of = {{{', '.join(entries)}}};", ""]
    )


def function_call(name: str, data: str, f: KernelFunction) -> str:
    """A function over the structure `DATA_of`."""
    argument_names = [f"x{i}" for i in range(f.arguments)]
    lines = [f"const double x[] = {{{', '.join(argument_names)}}};"]
    lines += [f"double room[{f.room}];", f"int32_t pivot[{f.pivots}];"] if f.room else []
    lines.append(f"{f.called}(&{data}_of, x, {'room, pivot, ' if f.room else ''}values);")
    return _static_function(
        f"inline void {name}({', '.join(f'double {x}' for x in argument_names)}, double *values)",
        lines,
    )


def shared_source(name: str, data: str, f: KernelFunction) -> str:
    """A function over `DATA_of`, with that and the files of the kernel; it may stand in a text more
    than once."""
    definitions = {data: function_data(data, f), f"call_{name}": function_call(name, data, f)}
    guarded = [
        f"#ifndef {key}_here\n#define {key}_here\n{text}#endif\n"
        for key, text in definitions.items()
    ]
    return Kernel({}).take(f.kernel_file) + "".join(guarded)


def _formula_function(name: str, formulas: Formulas) -> str:
    symbol_groups, values = formulas
    names = {
        s: f"{letter}[{i}]"
        for letter, group in zip("abc", symbol_groups, strict=True)
        for i, s in enumerate(group)
    }
    lines = _statements({f"out[{i}]": e for i, e in values.items()}, names)
    parameters_text = "const double *a, const double *b, const double *c, double *out"
    kind = "inline" if len(lines) < MAX_INLINE_STATEMENTS else "SEPARATE"
    return _static_function(
        f"{kind} void {name}({parameters_text})", [_void_casts("a", "b", "c", "out"), *lines]
    )


def _static_function(head: str, lines: Sequence[str]) -> str:
    return "\n".join([f"static {head}", "{", *(f"    {line}" for line in lines), "}", ""])


def _void_casts(*names: str) -> str:
    return " ".join(f"(void){x};" for x in names)


def _statements(results: Mapping[str, Expr], names: Mapping[Symbol, str]) -> list[str]:
    lines, value_texts = straight_lines(CPrinter(names, {}, {}), list(results.values()))
    return [
        *lines,
        *(f"{target} = {text};" for target, text in zip(results, value_texts, strict=True)),
    ]


def poses_source(
    functions: Sequence[ImplicitFunction | GridLookup],
    texts: Sequence[str],
    assignments: Sequence[str],
    second: bool,
    width: int,
) -> str:
    """A C file with `poses(n, z, r, out)`: many poses, `width` numbers for each. `texts` are texts
    of the functions and of others, `assignments` statements that fill `v` from `z[i]` (and
    `r[i]`)."""
    return fill_runtime_file(
        "poses.c",
        HEAD=source_head(DOUBLE) + kernel_files(functions, Kernel({})),
        PARTS="\n".join(texts),
        UNUSED="" if second else "(void)r;",
        WIDTH=str(width),
        CALLS="\n".join(assignments),
    )


def values_source(name: str, symbols: Sequence[Symbol], results: Sequence[Expr]) -> str:
    """C of straight-line results over an array of values: `void name(const double *s, double
    *out)`."""
    names = {x: f"s[{i}]" for i, x in enumerate(symbols)}
    lines = _statements({f"out[{i}]": e for i, e in enumerate(results)}, names)
    return _static_function(
        f"void {name}(const double *s, double *out)", [_void_casts("s"), *lines]
    )
