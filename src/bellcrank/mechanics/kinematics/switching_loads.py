"""Loads that jump where a speed passes zero or another value: dry friction written as `-f*sign(v)`.

A jump that opposes the motion holds a body only on the average, by switching at every step. It is
found by trial, at states at rest and at the zeros of what a formula compares: whatever does not
shrink with the distance is a jump.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from bellcrank.core.errors import BellcrankError
from bellcrank.model.loads.load import Load
from bellcrank.symbolic.expr import Expr, Func, Symbol, evaluate, free_symbols, postorder
from bellcrank.symbolic.expr.function_table import FUNCTIONS
from bellcrank.symbolic.expr.node import Product

JUMP_DISTANCES = (1e-8, 1e-5, 1e-11)  # distances from where it may jump, relative to the speed or 1
SMOOTH_CHANGE_FRACTION = 0.1  # change of a jump with the distance
MIN_JUMP_FRACTION = 1e-6  # of a jump, relative to the load
DRAWS, MOST = 3, 10  # sets of values; places that are tried for each
MAX_FORMULA_NODES = 300  # nodes of formulas that are not tried: nobody writes such by hand
ADVICE = (
    "dry friction written so never sticks: runs with fixed steps creep or chatter there, "
    "and adaptive methods take very"
    " many steps. Use tanh(v/v0) with a small speed v0, an elastic state or events that "
    "stick; see 'Dry friction' in"
    " docs/running.md"
)


def dry_friction(loads: Iterable[Load]) -> list[str]:
    """A message for every load that jumps with a speed; laws of tyres and other parts
    (`fl.tyre.mx`) are omitted."""
    switching_speeds = (
        (load, _switching_speed(load.magnitude)) for load in loads if "." not in load.name
    )
    return [
        f"the {x.kind} '{x.name}' jumps where {u.name} passes a limit or changes its sign: {ADVICE}"
        for x, u in switching_speeds
        if u
    ]


def _switching_speed(size: Expr) -> Symbol | None:
    """A speed with which a formula jumps."""
    nodes = list(islice(postorder([size]), MAX_FORMULA_NODES + 1))
    switches = list(_switching_arguments(nodes)) if len(nodes) <= MAX_FORMULA_NODES else []
    if not switches:
        return None
    # tables and routines are not called: any value will do
    variables = [
        n
        for n in nodes
        if isinstance(n, Symbol) or (isinstance(n, Func) and n.function is not None)
    ]
    rng = random.Random(1)
    for _ in range(DRAWS):
        values: dict[Expr, float] = {s: rng.uniform(0.5, 1.5) for s in variables}
        values |= {s: 0.0 for s in variables if isinstance(s, Symbol) and s.kind == "speed"}
        for speed, value in islice(dict.fromkeys(_switching_values(switches, values)), MOST):
            if _is_discontinuous(size, values, speed, value):
                return speed
    return None


def _switching_arguments(nodes: Iterable[Expr]) -> Iterator[Expr]:
    """What choices and quotients depend on, where it depends on speeds."""
    for n in nodes:
        bases: list[Expr] = []
        if isinstance(n, Func) and n.function is None and not FUNCTIONS[n.name].is_smooth:
            bases = [n.args[0] - n.args[1]] if len(n.args) == 2 else [*n.args]
        elif isinstance(n, Product):
            bases = [base for base, exponent in n.factors if exponent < 0]
        yield from (b for b in bases if any(s.kind == "speed" for s in free_symbols(b)))


def _switching_values(
    switches: Iterable[Expr], values: Mapping[Expr, float]
) -> Iterator[tuple[Symbol, float]]:
    """Speeds, and their values at which what is compared may pass zero."""
    for s in switches:
        for speed in (x for x in free_symbols(s) if x.kind == "speed"):
            yield speed, 0.0
            at_zero, at_one = (_value_at_speed(s, values, speed, x) for x in (0.0, 1.0))
            if at_zero and math.isfinite(at_zero) and math.isfinite(at_one) and at_one != at_zero:
                yield speed, at_zero / (at_zero - at_one)


def _is_discontinuous(
    size: Expr, values: Mapping[Expr, float], speed: Symbol, switch_speed: float
) -> bool:
    first = 0.0
    for distance in (x * max(1.0, abs(switch_speed)) for x in JUMP_DISTANCES):
        below, above = (
            _value_at_speed(size, values, speed, switch_speed + x) for x in (-distance, distance)
        )
        jump = above - below
        first = first or jump
        if not (
            abs(jump) > MIN_JUMP_FRACTION * (abs(above) + abs(below))
            and abs(jump - first) <= SMOOTH_CHANGE_FRACTION * abs(first)
        ):
            return False
    return True


def _value_at_speed(
    e: Expr, values: Mapping[Expr, float], speed: Symbol, speed_value: float
) -> float:
    try:
        return evaluate([e], {**values, speed: speed_value})[0]
    except (BellcrankError, ArithmeticError, ValueError):
        return math.nan
