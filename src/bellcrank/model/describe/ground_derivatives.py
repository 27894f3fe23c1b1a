"""Slopes of the nearest ground: its distance falls along the normal, which turns as one moves along
the ground.

With the unit vector t along the ground, a move dr changes the distance by n dr, the normal by turn
t (t dr) and the foot by (1 - turn distance) t (t dr). The turn follows from the curvature below,
and is 1/distance at an edge. Of ground over x and y the normal changes by W dr, W symmetric, and
the foot by dr - n (n dr) - distance W dr.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from bellcrank.core.name_lookup import routine_name
from bellcrank.model.records import UserFunction
from bellcrank.symbolic.expr import ONE, ZERO, Expr, Func
from bellcrank.symbolic.expr.user_function_value import Rule, UserFunctionValue

SYMMETRIC = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # parts of W that are given


class NearestGroundProvider(Protocol):
    """What a terrain has to be able to do; sources in C come with the names of their functions.
    `spatial`: is it asked for places x, y, z, and not x, z?"""

    @property
    def spatial(self) -> bool: ...

    @property
    def c(self) -> tuple[str, str]: ...

    @property
    def c_turn(self) -> tuple[str, str]: ...

    @property
    def near_function(self) -> Any: ...  # as the kernel knows `nearest` ...

    @property
    def turn_function(self) -> Any: ...  # ... and `turn`

    @property
    def lanes(self) -> str: ...

    @property
    def nearest(self) -> Callable[..., Any]: ...

    @property
    def turn(self) -> Callable[..., tuple[float, ...]]: ...


def c_arguments(terrain: NearestGroundProvider) -> tuple[str, str]:
    """Arguments of the routines of a ground in C: as they are declared, and as they are handed
    on."""
    names = ("x", "y", "z", "reach") if terrain.spatial else ("x", "z", "reach")
    return ", ".join(f"double {name}" for name in names), ", ".join(names)


def with_derivatives(routine: UserFunction, terrain: NearestGroundProvider) -> UserFunction:
    """A routine of the nearest ground with slopes; arguments (x, z, reach), values (distance, nx,
    nz, foot), or of ground over x and y arguments (x, y, z, reach), values (distance, nx, ny, nz,
    foot, foot_y)."""
    source, function = terrain.c_turn
    name = f"{routine.name}_turn"
    parameters, handed = c_arguments(terrain)
    values = (
        (*(f"turn_{i}{j}" for i, j in SYMMETRIC), "within")
        if terrain.spatial
        else ("turn", "within")
    )
    turn_routine = UserFunction(
        name,
        routine.arguments,
        values,
        python=terrain.turn,
        c=f"{source}\nstatic void {routine_name(name)}({parameters}, double *found)\n"
        f"{{\n    {function}({handed}, found);\n}}\n",
        kernel=terrain.turn_function,
    )

    def rule(value: int) -> Rule:
        return lambda argument, args: slope(sloped, turn_routine, value, argument, tuple(args))

    slope = _spatial_derivative if terrain.spatial else _planar_derivative

    sloped = replace(routine, rule=rule)
    return sloped


def _planar_derivative(
    ground_routine: UserFunction,
    turn_routine: UserFunction,
    value: int,
    argument: int,
    args: tuple[Expr, ...],
) -> Expr:
    distance, nx, nz = (_function_value(ground_routine, i, args) for i in range(3))
    curvature, is_within_range = (_function_value(turn_routine, i, args) for i in range(2))
    if argument == 2:  # past its reach the ground is not looked for
        return ONE - is_within_range if value == 0 else ZERO
    along = nz if argument == 0 else -nx
    if value == 0:
        return is_within_range * (nx if argument == 0 else nz)
    if value == 3:
        return (ONE - curvature * distance) * nz * along
    return curvature * along * (nz if value == 1 else -nx)


def _spatial_derivative(
    ground_routine: UserFunction,
    turn_routine: UserFunction,
    value: int,
    argument: int,
    args: tuple[Expr, ...],
) -> Expr:
    is_within_range = _function_value(turn_routine, len(SYMMETRIC), args)
    if argument == 3:
        return ONE - is_within_range if value == 0 else ZERO
    normal = [_function_value(ground_routine, 1 + i, args) for i in range(3)]
    if value == 0:
        return is_within_range * normal[argument]
    component = value - 1 if value <= 3 else value - 4
    curvature = _function_value(
        turn_routine, SYMMETRIC.index((min(component, argument), max(component, argument))), args
    )
    if value <= 3:
        return curvature
    identity = ONE if component == argument else ZERO
    return identity - is_within_range * (
        normal[component] * normal[argument] + _function_value(ground_routine, 0, args) * curvature
    )


def _function_value(routine: UserFunction, index: int, args: Sequence[Expr]) -> Expr:
    return Func(routine.name, tuple(args), UserFunctionValue(routine, index))
