"""Speed constraints: linear in the speeds, solved for one speed each, in symbols.

Sayers (1990), section 8.3: each constraint removes one speed; the replacement is put into all
earlier ones. A constraint that is already satisfied is ignored and noted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bellcrank.core.errors import ModelError
from bellcrank.mechanics.kinematics.constraint_rows import partials_of
from bellcrank.mechanics.kinematics.pivots import never_zero
from bellcrank.symbolic.expr import ZERO, Expr, Symbol, add, div, mul, neg, sub
from bellcrank.symbolic.expr.calculus import constant_part, nominal
from bellcrank.symbolic.expr.traversal import substitute
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace

Acting = Callable[[Mapping[Symbol, Expr]], list[Symbol]]


@dataclass(frozen=True)
class DependentSpeed:
    """A dependent speed: speed = rest + sum of coefficient * speed over independent speeds and
    speeds removed later.

    `pivot` is its coefficient in the constraint, by which the others are divided.
    """

    speed: Symbol
    coefficients: dict[Symbol, Expr]
    rest: Expr
    name: str
    pivot: Expr

    @property
    def quoted_name(self) -> str:
        """The name of its constraint in messages."""
        return f"'{self.name}'"

    @property
    def is_always_solvable(self) -> bool:
        """Is there no motion in which it cannot be found?"""
        return never_zero(self.pivot)

    @property
    def relation(self) -> Expr:
        """The replacement as one expression."""
        return add(self.rest, *(mul(a, u) for u, a in self.coefficients.items()))


def solve_speed_constraint(
    residual: Expr,
    removed: list[DependentSpeed],
    speeds: list[Symbol],
    preferred: Symbol | None,
    name: str,
    acting: Acting = list,
) -> DependentSpeed | None:
    """The speed a constraint removes and its replacement; None when the constraint holds
    already."""
    for r in removed:
        residual = substitute(residual, {r.speed: r.relation})
    if residual.fingerprint == 0:
        return None
    coefficients = partials_of(residual, speeds, name)
    if not coefficients:
        raise ModelError(
            f"the constraint '{name}' contradicts earlier ones: it asks that {residual} = 0"
        )
    speed = choose_speed(coefficients, speeds, preferred, name, acting)
    if preferred is None and not never_zero(coefficients[speed]):
        speed = max(
            (u for u in coefficients if never_zero(coefficients[u])),
            key=speeds.index,
            default=speed,
        )
    coefficient = coefficients[speed]
    drift = sub(residual, add(*(mul(a, u) for u, a in coefficients.items())))
    drift = (
        ZERO if drift.fingerprint == 0 else substitute(residual, dict.fromkeys(coefficients, ZERO))
    )
    coefficients_solved = {
        u: neg(div(a, coefficient)) for u, a in coefficients.items() if u is not speed
    }
    return DependentSpeed(
        speed, coefficients_solved, neg(div(drift, coefficient)), name, coefficient
    )


def choose_speed(
    coefficients: dict[Symbol, Expr],
    speeds: list[Symbol],
    preferred: Symbol | None,
    name: str,
    acting: Acting,
) -> Symbol:
    """Which speed to remove: a constant coefficient if there is one, the highest index among
    equals; of those `acting`, whose coefficients are more than rounding."""
    if preferred is not None:
        if preferred not in coefficients:
            raise ModelError(
                f"the constraint '{name}' cannot be solved for {preferred}: it does not occur there"
            )
        return preferred
    order = {u: i for i, u in enumerate(speeds)}
    coefficients = {u: coefficients[u] for u in acting(coefficients)}
    regular = [u for u, a in coefficients.items() if constant_part(a).fingerprint != 0]
    regular = (
        regular
        or [u for u, a in coefficients.items() if _is_nonzero_at_reference(a)]
        or list(coefficients)
    )
    constant = [u for u in regular if coefficients[u].constant]
    return max(constant or regular, key=lambda u: order[u])


def _is_nonzero_at_reference(coefficient: Expr) -> bool:
    """Is the coefficient other than zero in the reference configuration?"""
    try:
        return nominal(coefficient).fingerprint != 0
    except ModelError:  # a division that fails there
        return False


def not_everywhere(r: DependentSpeed) -> str:
    """The note on a speed that was removed although it cannot be found in every motion."""
    return (
        f"{r.speed} follows from the constraint {r.quoted_name} by division by {r.pivot}: "
        f"results are wrong near its zeros"
    )


def speed_values(removed: list[DependentSpeed], work: DerivationWorkspace) -> dict[Symbol, Expr]:
    """The removed speeds in terms of the independent ones, built from the last removed to the
    first."""
    values: dict[Symbol, Expr] = {}
    for r in reversed(removed):
        terms = [mul(work.bind(a), values.get(u, u)) for u, a in r.coefficients.items()]
        values[r.speed] = work.bind(add(r.rest, *terms))
    return values
