"""Steps of the fixed-step methods in Fortran."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.numeric.methods import METHODS, Method

TIMES = {0.0: "start", 0.5: "middle", 1.0: "finish_time"}


def stage_time(node: float) -> str:
    return TIMES.get(node, f"start + {node!r}_dp*h")


def method_names() -> str:
    """Their names as an array."""
    width = max(map(len, METHODS))
    shown = ", ".join(f'"{name:{width}}"' for name in METHODS)
    return f"character(len={width}), parameter :: methods({len(METHODS)}) = [{shown}]"


def method_cases(unit: Sequence[int]) -> str:
    """The cases of `advance`, which goes from y with rates k to next; `unit`: places of the first of four Euler
    parameters that are brought to unit size."""
    most = max(m.by_stages for m in METHODS.values())
    lines = [f"    real(dp) :: {', '.join(f'k{i}(n_s)' for i in range(2, most + 1))}", "    select case (method)"]
    for number, m in enumerate(METHODS.values(), 1):
        chosen = "default" if number == len(METHODS) else f"({number})"
        lines.append(f"    case {chosen} ! {m.name}{f': {m.words}' if m.words else ''}")
        lines += _SEMI_IMPLICIT if m.semi_implicit else _explicit(m)
    lines.append("    end select")
    for i in unit:
        squares = " + ".join(f"next({j})*next({j})" for j in range(i + 1, i + 5))
        lines.append(f"    next({i + 1}:{i + 4}) = next({i + 1}:{i + 4})*(1/sqrt({squares}))")
    return "\n".join([*lines, ""])


def _explicit(m: Method) -> list[str]:
    rates = ["k", *(f"k{i}" for i in range(2, m.by_stages + 1))]
    alive = ".true." if m.remembers else ".false."
    lines = [
        f"      call rates({alive}, {stage_time(s.node)}, y + {s.sum.text(rates)}, k{i})"
        for i, s in enumerate(m.stages, 2)
    ]
    lines += [f"      next = y + {m.result.text(rates)}"]
    if m.two_step is None:
        return lines
    known = ["      if (behind) then", f"        next = y + {m.two_step.text(['k', 'k_old'])}", "      else"]
    return [*known, *(f"  {line}" for line in lines), "      end if"]


def two_step() -> str:
    """Does the method chosen need the rates at the beginning of the step before?"""
    return " .or. ".join(f"method == {i}" for i, m in enumerate(METHODS.values(), 1) if m.two_step)


_SEMI_IMPLICIT = [
    "      next = y",
    "      next(n_q + 1:) = next(n_q + 1:) + h*k(n_q + 1:)",
    "      call rates(.false., start, next, k2)",
    "      next(:n_q) = next(:n_q) + h*k2(:n_q)",
]
