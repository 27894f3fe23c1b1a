"""Brush tyre: elastic bristles under a parabolic pressure, which slide where the friction is used up.

With theta = |Q|/(3 mu F_z), Q the force of bristles that all stick, F = mu F_z (1 - (1 - theta)^3) along Q while
theta < 1; then the whole patch slides with mu F_z. Slips are relative to the rolling speed, as in Pacejka, Tyre and
Vehicle Dynamics (3rd ed., 2012), section 3.2, (3.11) and (3.36); there with one stiffness along and across.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bellcrank.describe.slip import DeflectionLaw

__all__ = ["Brush"]


@dataclass(frozen=True)
class Brush(DeflectionLaw):
    """How a tyre holds the road by bristles: the force bends off smoothly to the friction circle.

    Its values are those of `DeflectionLaw`; longitudinal and cornering are 2 c_p a^2 with the bristles' stiffness c_p
    per length and half the patch length a. Where these over their relaxation lengths are the same, as in the book, no
    energy is gained: the bristles have a potential then.
    """

    reach: ClassVar[float] = 3.0

    def share(self, elastic: str, limit: str) -> str:
        theta, slides = _parts(elastic, limit)
        return f"(1 - {theta} + ({theta})**2/3)*{slides}"

    def work(self, elastic: str, limit: str) -> str:
        theta, slides = _parts(elastic, limit)
        return f"(1/4 - {theta}/3 + ({theta})**2/12 + {slides}/3 - {slides}**2/12)"


def _parts(elastic: str, limit: str) -> tuple[str, str]:
    """theta, 1 where the whole patch slides, and 1/theta, 1 before that; neither divides by the load."""
    return f"{elastic}/max({elastic}, 3*{limit})", f"min(1, 3*{limit}/{elastic})"
