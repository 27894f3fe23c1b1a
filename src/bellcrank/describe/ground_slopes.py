"""Slopes of the nearest ground: its distance falls along the normal, which turns as one moves along the ground.

With the unit vector t along the ground, a move dr changes the distance by n dr, the normal by turn t (t dr) and the
foot by (1 - turn distance) t (t dr). The turn follows from the curvature below, and is 1/distance at an edge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from bellcrank.emit.names import routine_name
from bellcrank.expr import ONE, ZERO, Expr, Func
from bellcrank.expr.external_value import ExternalValue, Rule
from bellcrank.model.records import External


class Ground(Protocol):
    """What a terrain has to be able to do; sources in C come with the names of their functions."""

    @property
    def c(self) -> tuple[str, str]: ...

    @property
    def c_turn(self) -> tuple[str, str]: ...

    @property
    def javascript(self) -> str: ...

    @property
    def lanes(self) -> str: ...

    @property
    def javascript_turn(self) -> str: ...

    def nearest(self, x: float, z: float, reach: float = math.inf) -> Any: ...

    def turn(self, x: float, z: float, reach: float = math.inf) -> tuple[float, float]: ...


def with_slopes(routine: External, terrain: Ground) -> External:
    """A routine of the nearest ground with slopes; arguments (x, z, reach), values (distance, nx, nz, foot)."""
    source, function = terrain.c_turn
    name = f"{routine.name}_turn"
    turns = External(
        name, routine.arguments, ("turn", "within"), python=terrain.turn,
        c=f"{source}\nstatic void {routine_name(name)}(double x, double z, double reach, double *found)\n"
        f"{{\n    {function}(x, z, reach, found);\n}}\n",
        javascript=terrain.javascript_turn,
    )  # fmt: skip

    def rule(value: int) -> Rule:
        return lambda argument, args: _slope(known, turns, value, argument, tuple(args))

    known = replace(routine, rule=rule)
    return known


def _slope(known: External, turns: External, value: int, argument: int, args: tuple[Expr, ...]) -> Expr:
    distance, nx, nz = (_value(known, i, args) for i in range(3))
    turn, within = (_value(turns, i, args) for i in range(2))
    if argument == 2:  # beyond its reach the ground is not looked for
        return ONE - within if value == 0 else ZERO
    along = nz if argument == 0 else -nx
    if value == 0:
        return within * (nx if argument == 0 else nz)
    if value == 3:
        return (ONE - turn * distance) * nz * along
    return turn * along * (nz if value == 1 else -nx)


def _value(routine: External, index: int, args: Sequence[Expr]) -> Expr:
    return Func(routine.name, tuple(args), ExternalValue(routine, index))
