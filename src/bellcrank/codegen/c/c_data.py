"""Data of the kernel as C: whole numbers in an enum, numbers as definitions, lists as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bellcrank.codegen.c.step_methods import wrapped_numbers
from bellcrank.codegen.kernel_data import REAL_LISTS, Value


def c_data_definitions(data: Mapping[str, Value], real: str = "real") -> str:
    """The data in their order; numbers in arrays are of a type."""
    lines: list[str] = []
    integers = [f"{name} = {x}" for name, x in data.items() if isinstance(x, int)]
    lines += [f"enum {{ {', '.join(integers)} }};"] if integers else []
    for name, x in data.items():
        if isinstance(x, float):
            lines.append(f"#define {name} {x!r}")
        elif not isinstance(x, int):
            lines += _array_definition(name, x, real)
    return "\n".join([*lines, ""])


def _array_definition(
    name: str, x: Sequence[int] | Sequence[float] | Sequence[tuple[int, int]], real: str
) -> list[str]:
    if name == "ORDER":
        pairs = [f"    {{{i}, {j}}}," for i, j in x]  # type: ignore[misc]
        return [f"static const int {name}[][2] = {{", *pairs, "    {0, 0}", "};"]
    kind = real if name in REAL_LISTS else "int"
    return [f"static const {kind} {name}[] = {{", *wrapped_numbers(x or [0], "    ", ""), "};"]  # type: ignore[arg-type]
