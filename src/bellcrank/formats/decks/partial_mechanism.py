"""The machine as far as a deck has described it: what can be asked of it before the last form is
read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bellcrank.api.system import System
from bellcrank.core.errors import ModelError
from bellcrank.mechanics.kinematics.analysis import analyse
from bellcrank.model.build_mechanism import build_mechanism
from bellcrank.symbolic.expr import Expr
from bellcrank.symbolic.vector.basis import (
    IDENTITY,
    NULL,
    Mat3,
    Vec3,
    add3,
    matvec,
    neg3,
    transpose,
)


def independent_speeds(system: System) -> list[str]:
    """The speeds that constraints leave, in the order of AUTOSIM's U(1), U(2) ..."""
    return [s.name for s in analyse(*build_mechanism(system.description)).independent_speeds]


def composite_centres(system: System, bodies: set[str]) -> dict[str, tuple[str, ...]]:
    """Mass centres of bodies with all that is fixed to them, where these differ from the bodies'
    own (eq. 8.1.15)."""
    try:
        mechanism, checker = build_mechanism(system.description)
    except ModelError:
        return {}  # what is wrong is reported when the equations are derived
    if checker.problems:
        return {}
    mechanism_bodies = [b for b in mechanism.bodies if b.name in bodies]
    return {
        b.name: tuple(map(str, b.composite_cm)) for b in mechanism_bodies if b.composite_cm != b.cm
    }


class ReferenceConfiguration:
    """The machine with all coordinates at zero."""

    def __init__(self, system: System) -> None:
        _, self.checker = build_mechanism(system.description)

    def _nominal_pose(self, body: str) -> tuple[Mat3, Vec3]:
        """Orientation and origin of a body in the inertial axes."""
        if body not in self.checker.index:  # the inertial body, or one whose form is broken
            return IDENTITY, NULL
        return self.checker.nominal_pose(self.checker.index[body])

    def direction_in_body(
        self, source: str, target: str, components: Sequence[Any]
    ) -> tuple[Any, ...]:
        """A direction along the axes of one body, along those of another."""
        v = tuple(self.checker.scope.to_scalar(x) for x in components)
        (R_G, _), (R_W, _) = self._nominal_pose(source), self._nominal_pose(target)
        return tuple(map(_as_int_or_text, matvec(transpose(R_W), matvec(R_G, v))))  # type: ignore[arg-type]

    def origin_in_body(self, body: str, base: str) -> tuple[Any, ...]:
        """Coordinates of the origin of a body in another."""
        (R, p), (_, p_body) = self._nominal_pose(base), self._nominal_pose(body)
        return tuple(map(_as_int_or_text, matvec(transpose(R), add3(p_body, neg3(p)))))


def _as_int_or_text(x: Expr) -> int | str:
    text = str(x)
    return int(text) if text.lstrip("-").isdigit() else text
