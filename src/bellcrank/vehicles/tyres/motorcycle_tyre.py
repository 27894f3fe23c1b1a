"""A simple motorcycle tyre: cornering and camber stiffness, friction, a round cross-section.

Longitudinal and lateral force per load are linear for small slip and inclination, X = C_k kappa and
Y = -(C_a tan(alpha) + C_g gamma), and saturate together at the friction mu:

    (Fx, Fy) = Fz (X, Y)/(1 + (X^2 + Y^2)^2/mu^4)^(1/4)

so that the force stays linear up to large roll angles and never passes the friction. Slip has a
trail behind the contact point, which vanishes with saturation; inclination has a moment that turns
the wheel into the turn. The contact point of the toroidal tyre moves in models as
`model.describe.tyre_patch` says. Pacejka, Tire and Vehicle Dynamics (3rd ed., 2012), section 11.2,
has these linear terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bellcrank.model.describe.tyre_model import MathFunctions, Rolling
from bellcrank.vehicles.tyres.steady_tyre import SpringTyre

__all__ = ["MotorcycleTyre"]


@dataclass(frozen=True)
class MotorcycleTyre(SpringTyre):
    """Motorcycle tyre by cornering and camber stiffness per load, with saturation at the friction.

    Parameters
    ----------
    cornering : float
        Lateral force per load and slip angle in 1/rad.
    camber : float
        Lateral force per load and inclination in 1/rad, towards the side to which the wheel is
        inclined.
    longitudinal : float, default 20.0
        Longitudinal force per load and slip.
    mu : float, default 1.2
        Friction: the largest force per load.
    radius : float, default 0.3
        Unloaded radius in m.
    crown : float, default 0.05
        Radius of the cross-section in m: the contact point moves sideways with the inclination.
    width : float, default 0.12
        Width in m, for pictures.
    trail : float, default 0.02
        Pneumatic trail in m.
    twist : float, default 0.005
        Aligning torque per load and inclination in m/rad, which turns the wheel into the turn.
    vertical_stiffness : float, default 1.5e5
        In N/m.
    vertical_damping : float, default 100.0
        In N s/m.
    rolling_resistance : float, default 0.015
        Lever of the load, divided by the radius.
    relaxation : float or pair, default (0.1, 0.2)
        Relaxation length in m, or those along and across the wheel.
    lags_camber : bool, default True
        Whether the camber thrust follows the inclination over the relaxation length, as the slip
        does, or at once.
    nominal : float, default 1500.0
        Load in N at which the stiffness at standstill is taken.
    named_scales : mapping, optional
        Parameters of a model that replace values; models set it.

    Examples
    --------
    >>> import bellcrank as bc
    >>> tyre = bc.vehicles.tyres.MotorcycleTyre(cornering=15, camber=1.0)
    >>> round(tyre.forces(Fz=1500, kappa=0, alpha=0.0, gamma=0.5).Fy)
    -744
    >>> round(tyre.scaled(mu=0.4).forces(1500, 0, 0.0, gamma=0.5).Fy)
    -551
    """

    positive = ("cornering", "longitudinal", "mu", "nominal", *SpringTyre.positive)
    not_negative = ("camber", "crown", *SpringTyre.not_negative)
    cornering: float
    camber: float
    longitudinal: float = 20.0
    mu: float = 1.2
    radius: float = 0.3
    crown: float = 0.05
    width: float = 0.12
    trail: float = 0.02
    twist: float = 0.005
    vertical_stiffness: float = 1.5e5
    vertical_damping: float = 100.0
    rolling_resistance: float = 0.015
    relaxation: Any = (0.1, 0.2)
    lags_camber: bool = True
    nominal: float = 1500.0
    named_scales: Mapping[str, str] = field(default_factory=dict)

    @property
    def scales(self) -> Mapping[str, float]:
        return {"mu": self.mu, "cornering": self.cornering, "camber": self.camber}

    def problems(self) -> list[str]:
        problems = super().problems()
        if not problems and self.crown >= self.radius:
            problems.append(f"crown={self.crown:g} must be smaller than radius={self.radius:g}")
        return problems

    def steady_state_forces(
        self, m: MathFunctions, state: Rolling, scales: Mapping[str, Any], limits: bool = True
    ) -> dict[str, Any]:
        mu = scales["mu"] * state.mu
        tan = state.tangent(m)
        slipping = scales["cornering"] * tan
        x, y = self.longitudinal * state.kappa, -(slipping + scales["camber"] * state.gamma)
        square = 1 + ((x**2 + y**2) / mu**2) ** 2
        size = state.Fz / m.sqrt(m.sqrt(square))
        trail = self.trail / square
        along, across = self.relaxation_lengths
        return {
            "Fx": size * x,
            "Fy": size * y,
            "Mx": 0.0 * state.Fz,
            "My": -self.rolling_resistance * self.radius * state.Fz * m.tanh(state.omega),
            "Mz": size * (trail * slipping - self.twist * state.gamma),
            "mux": mu + 0.0 * state.Fz,
            "muy": mu + 0.0 * state.Fz,
            "Kxk": self.longitudinal * state.Fz,
            "Kya": -scales["cornering"] * state.Fz,
            "trail": trail,
            "load": state.Fz,
            "sigma_x": along + 0.0 * state.Fz,
            "sigma_y": across + 0.0 * state.Fz,
        }
