"""Brush tyre: elastic bristles under a parabolic pressure, which slide where the friction is used
up.

With theta = |Q|/(3 mu F_z), Q the force of bristles that all stick, F = mu F_z (1 - (1 - theta)^3)
along Q while theta < 1; then the whole patch slides with mu F_z. Slips are relative to the rolling
speed, as in Pacejka, Tyre and Vehicle Dynamics (3rd ed., 2012), section 3.2, (3.11) and (3.36);
there with one stiffness along and across.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from bellcrank.core.errors import ModelError
from bellcrank.model.describe.slip import DeflectionLaw
from bellcrank.model.describe.tyre_model import MathFunctions, Rolling
from bellcrank.vehicles.tyres.steady_tyre import SteadyTyre

__all__ = ["Brush"]

SMALL = 1e-9  # force (N) and slip below which none has a direction


@dataclass(frozen=True)
class Brush(DeflectionLaw, SteadyTyre):
    """Brush tyre: bristles adhere in the front part of the contact patch and slide in the rear
    part.

    No energy is gained if both stiffnesses divided by their relaxation lengths are equal, as in
    Pacejka's book.

    Parameters
    ----------
    longitudinal : ScalarLike
        Longitudinal slip stiffness (force per slip), 2 c_p a^2 of bristles with the stiffness c_p
        per length.
    cornering : ScalarLike, optional
        Cornering stiffness (force per rad). Default: none, a wheel in a plane.
    relaxation : ScalarLike or pair, default 0.3
        Relaxation length (length), or those along and across the wheel.
    friction : ScalarLike, default 1.0
        Coefficient of friction.
    per_load : bool, default False
        Are both stiffnesses divided by the load (1 and 1/rad)?
    damping : ScalarLike, default 0.004
        Time constant of the damping of the material in s.
    half_length : float, default 0.0
        Half the length a of the contact patch in m, for the aligning moment of `forces`.

    Examples
    --------
    >>> import bellcrank as bc
    >>> tyre = bc.vehicles.tyres.Brush(longitudinal=60e3, cornering=45e3, friction=0.9)
    >>> round(tyre.forces(Fz=4000, kappa=0, alpha=0.02).Fy)
    -827
    """

    half_length: float = 0.0

    internals: ClassVar[tuple[str, ...]] = (*DeflectionLaw.internals, *SteadyTyre.internals)
    reach: ClassVar[float] = 3.0

    def force_fraction(self, elastic: str, limit: str) -> str:
        theta, slides = _sliding_ratio(elastic, limit)
        return f"(1 - {theta} + ({theta})**2/3)*{slides}"

    def work_fraction(self, elastic: str, limit: str) -> str:
        theta, slides = _sliding_ratio(elastic, limit)
        return f"(1/4 - {theta}/3 + ({theta})**2/12 + {slides}/3 - {slides}**2/12)"

    @property
    def scales(self) -> Mapping[str, float]:
        return {
            "longitudinal": self.longitudinal,
            "cornering": self.cornering,
            "friction": self.friction,
        }

    def rolling_radius(self, m: MathFunctions, Fz: Any, omega: Any, p: Any) -> Any:
        return float("nan") * Fz  # a brush says nothing of its radius

    def steady_state_forces(
        self, m: MathFunctions, state: Rolling, scales: Mapping[str, Any], limits: bool = True
    ) -> dict[str, Any]:
        numbers = (*scales.values(), *self.relaxation_lengths, self.half_length)
        if not all(isinstance(x, int | float) for x in numbers):
            raise ModelError(f"forces of a brush tyre need numbers, cornering= too; given {self!r}")
        per = state.Fz if self.per_load else 1.0
        Cx, Cy, mu = (
            scales["longitudinal"] * per,
            scales["cornering"] * per,
            scales["friction"] * state.mu,
        )
        rolls = m.max(m.abs(1 + state.kappa), SMALL)
        qx, qy = Cx * state.kappa / rolls, -Cy * m.tan(state.alpha) / rolls
        q, max_force = m.sqrt(qx**2 + qy**2 + SMALL**2), m.max(mu * state.Fz, SMALL)
        theta = m.min(1.0, q / (3 * max_force))
        size = max_force * (1 - (1 - theta) ** 3) / q
        trail = self.half_length * (1 - theta) ** 3 / (3 - 3 * theta + theta**2)
        zero = 0.0 * state.Fz
        return {
            "Fx": size * qx,
            "Fy": size * qy,
            "Mx": zero,
            "My": zero,
            "Mz": -trail * size * qy,
            "mux": mu + zero,
            "muy": mu + zero,
            "Kxk": Cx + zero,
            "Kya": -Cy + zero,
            "trail": trail,
            "load": state.Fz,
            "sigma_x": self.relaxation_lengths[0] + zero,
            "sigma_y": self.relaxation_lengths[1] + zero,
        }


def _sliding_ratio(elastic: str, limit: str) -> tuple[str, str]:
    """theta, 1 where the whole patch slides, and 1/theta, 1 before that; neither divides by the
    load."""
    return f"{elastic}/max({elastic}, 3*{limit})", f"min(1, 3*{limit}/{elastic})"
