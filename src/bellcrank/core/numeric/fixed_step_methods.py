"""Integrators with a fixed step as data: a record here is all that C, Python and every listing know
of one. Those with adaptive steps are in `embedded`.

Explicit methods are Runge-Kutta tableaux (Hairer, Norsett & Wanner, Solving Ordinary Differential
Equations I, 1993, section II.1). rk2 is AUTOSIM's midpoint rule (Sayers 1990, Appendix B). ab2 has
the rates at the beginning of the step before in the place of stages (the same book, section III.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from bellcrank.core.numeric.collocation import STIFF
from bellcrank.core.numeric.embedded import EMBEDDED


@dataclass(frozen=True)
class StageSum:
    """h/by*(w1*k1 + w2*k2 + ...) with the rates k of the stages so far: in this order, in every
    language."""

    weights: tuple[int | float, ...]
    divisor: int = 1

    @cached_property
    def terms(self) -> list[tuple[int, int | float]]:
        """Number of the stage, and weight, of what is not zero."""
        return [(i, w) for i, w in enumerate(self.weights) if w]

    @property
    def coefficients(self) -> tuple[float, ...]:
        return tuple(w / self.divisor for w in self.weights)

    def evaluate(self, h: float, rates: Sequence[Any]) -> Any:
        """Its value, for numbers and arrays."""
        terms = [rates[i] if w == 1 else w * rates[i] for i, w in self.terms]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return (h if self.divisor == 1 else h / self.divisor) * total

    def c_source(self, rates: Sequence[str]) -> str:
        """The same in C."""
        terms = [rates[i] if abs(w) == 1 else f"{abs(w)!r}*{rates[i]}" for i, w in self.terms]
        signs = ["-" if w < 0 else "+" for _, w in self.terms]
        sums = "".join(f" {sign} {x}" for sign, x in zip(signs, terms, strict=True)).removeprefix(
            " + "
        )
        sum_text = terms[0] if len(terms) == 1 and self.terms[0][1] == 1 else f"({sums})"
        return f"{'h' if self.divisor == 1 else f'h/{self.divisor}'}*{sum_text}"


@dataclass(frozen=True)
class Stage:
    """Rates within a step: `node` 0 is its start, 1 its end; the state there is the start and a sum
    of rates."""

    node: float
    increment: StageSum


@dataclass(frozen=True)
class FixedStepMethod:
    """An integrator. Its first stage is the start of the step, whose rates are known; `stages` are
    the others.

    `updates_memory_in_stages`: may user functions change what they remember at all stages, instead
    of at the end of a step alone? `semi_implicit`: speeds first, then coordinates with the new
    speeds; there are no stages then.
    `two_step`: the step that follows a whole one of the same length, of the rates at its own start
    and at that of the one before. All others are taken by the stages: the first of a run, those
    that an input's jump or kink or the end of a run cuts, those that follow a change, and those
    near singular configurations.
    """

    name: str
    description: str  # what it is, for listings; "" if the name says it
    order: int
    stages: tuple[Stage, ...]
    result: StageSum
    updates_memory_in_stages: bool = False
    semi_implicit: bool = False
    two_step: StageSum | None = None

    @property
    def n_rhs_per_step(self) -> int:
        """Of rates in a step, as almost all are."""
        return 1 if self.two_step else self.n_rhs_by_stages

    @property
    def n_rhs_by_stages(self) -> int:
        """Evaluations of rates in a step that knows nothing of the one before."""
        return 2 if self.semi_implicit else 1 + len(self.stages)

    @property
    def nodes(self) -> tuple[float, ...]:
        return (0.0, *(s.node for s in self.stages))

    @property
    def is_chain(self) -> bool:
        """Does every stage follow from the rates of the one before alone, as half-explicit methods
        need it?"""
        return not (self.semi_implicit or self.two_step) and all(
            s.increment.terms[0][0] == i and s.increment.coefficients[i] == s.node
            for i, s in enumerate(self.stages)
        )

    @cached_property
    def stability_polynomial(self) -> tuple[Fraction, ...]:
        """Coefficients of R(z): a mode y' = s y grows by it in a step by stages, z = h s; |R| = 1
        limits stability."""
        powers = [[Fraction(1)]]  # the rates of the stages as polynomials in z, by h
        for s in self.stages:
            powers.append(_times_z(s.increment, powers))
        return tuple(_times_z(self.result, powers))


def _times_z(total: StageSum, powers: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    polynomial = [Fraction(1)] + [Fraction(0)] * max(len(powers[i]) for i, _ in total.terms)
    for i, w in total.terms:
        for k, x in enumerate(powers[i]):
            polynomial[k + 1] += Fraction(w) / total.divisor * x
    return polynomial


DEFAULT = "rk4"
_MIDPOINT = (Stage(1 / 2, StageSum((1,), 2)),)
_RK3 = (Stage(1 / 2, StageSum((1,), 2)), Stage(1.0, StageSum((-1, 2))))
_RK4 = (
    Stage(1 / 2, StageSum((1,), 2)),
    Stage(1 / 2, StageSum((0, 1), 2)),
    Stage(1.0, StageSum((0, 0, 1))),
)
METHODS = {
    m.name: m
    for m in (
        FixedStepMethod(
            "rk2", "midpoint rule", 2, _MIDPOINT, StageSum((0, 1)), updates_memory_in_stages=True
        ),
        FixedStepMethod("rk4", "", 4, _RK4, StageSum((1, 2, 2, 1), 6)),
        FixedStepMethod(
            "heun", "trapezoidal rule", 2, (Stage(1.0, StageSum((1,))),), StageSum((1, 1), 2)
        ),
        FixedStepMethod("euler", "semi-implicit", 1, (), StageSum((1,)), semi_implicit=True),
        FixedStepMethod(
            "ab2",
            "two-step Adams-Bashforth",
            2,
            _MIDPOINT,
            StageSum((0, 1)),
            two_step=StageSum((3, -1), 2),
        ),
        FixedStepMethod("rk3", "Kutta's third-order rule", 3, _RK3, StageSum((1, 4, 1), 6)),
    )
}
SCIPY = ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")
AUTO = "auto"  # the first of EMBEDDED, which goes over to the first of STIFF
OWN = (*EMBEDDED, *STIFF, AUTO)  # with adaptive steps, in the program
ADAPTIVE = (*OWN, *SCIPY)
RTOL = 1e-8  # relative tolerance of adaptive ones, unless another is given
EXPLICIT = tuple(name for name, m in METHODS.items() if not (m.semi_implicit or m.two_step))
ONE_STEP = tuple(name for name, m in METHODS.items() if m.two_step is None)
HALF_EXPLICIT = tuple(name for name, m in METHODS.items() if m.is_chain)


def join_alternatives(names: Iterable[str] = METHODS) -> str:
    """rk2, rk4 or euler, for messages."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def method_listing() -> str:
    """All of them with what they are, the usual one first."""
    names = sorted(METHODS, key=lambda name: name != DEFAULT)
    return join_alternatives(
        f"{name} ({METHODS[name].description})" if METHODS[name].description else name
        for name in names
    )
