"""Fiala's tyre: side force of a brush with a parabolic pressure, bilinear longitudinal force,
friction that falls with slip.

As in Adams: Fx and Fy know of each other through the friction alone, so that both together may pass
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from bellcrank.model.describe.tyre_model import MathFunctions, Rolling
from bellcrank.vehicles.tyres.magic_terms import TINY, sign
from bellcrank.vehicles.tyres.steady_tyre import SpringTyre

__all__ = ["Fiala"]


@dataclass(frozen=True)
class Fiala(SpringTyre):
    """Fiala tyre: cornering stiffness and friction give the side force, without measurements.

    Parameters
    ----------
    c_slip : float
        Slip stiffness in N.
    c_alpha : float
        Cornering stiffness in N/rad.
    umax, umin : float, default 1.0 and 0.9
        Coefficients of friction without slip and at full slip.
    width, radius : float, default 0.2 and 0.3
        Width and unloaded radius in m.
    vertical_stiffness : float, default 2e5
        In N/m.
    vertical_damping : float, default 50.0
        In N s/m.
    rolling_resistance : float, default 0.0
        Lever of the load, divided by the radius.
    relaxation : float or pair, default (0.15, 0.5)
        Relaxation length in m, or those along and across the wheel.
    named_scales : mapping, optional
        Parameters of a model that replace values; models set it.

    Examples
    --------
    >>> import bellcrank as bc
    >>> tyre = bc.vehicles.tyres.Fiala(c_slip=60e3, c_alpha=45e3)
    >>> forces = tyre.forces(Fz=4000, kappa=0, alpha=0.02)
    >>> round(forces.Fy)
    -834
    >>> round(tyre.scaled(umax=0.5, umin=0.45).forces(4000, 0, 0.2).Fy)
    -1959
    """

    positive = ("c_slip", "c_alpha", "umax", "umin", *SpringTyre.positive)
    units_of_scales: ClassVar[dict[str, str]] = {"c_slip": "N", "c_alpha": "N/rad"}
    c_slip: float
    c_alpha: float
    umax: float = 1.0
    umin: float = 0.9
    width: float = 0.2
    radius: float = 0.3
    vertical_stiffness: float = 2e5
    vertical_damping: float = 50.0
    rolling_resistance: float = 0.0
    relaxation: Any = (0.15, 0.5)
    named_scales: Mapping[str, str] = field(default_factory=dict)

    @property
    def scales(self) -> Mapping[str, float]:
        return {
            "c_slip": self.c_slip,
            "c_alpha": self.c_alpha,
            "umax": self.umax,
            "umin": self.umin,
        }

    def steady_state_forces(
        self, m: MathFunctions, state: Rolling, scales: Mapping[str, Any], limits: bool = True
    ) -> dict[str, Any]:
        c_slip, c_alpha, umax, umin = (scales[key] for key in ("c_slip", "c_alpha", "umax", "umin"))
        tan = state.tangent(m)
        slip = m.min(1.0, m.sqrt(state.kappa**2 + tan**2 + TINY**2))
        friction = (umax - (umax - umin) * slip) * state.mu
        max_force = m.max(friction * state.Fz, 1e-9)
        size = m.abs(state.kappa)
        peak_slip = max_force / (2 * c_slip)
        sliding_Fx = sign(m, state.kappa) * (
            max_force - max_force**2 / (4 * m.max(size, peak_slip) * c_slip)
        )
        Fx = m.where(size < peak_slip, c_slip * state.kappa, sliding_Fx)
        # written without the sign of the slip angle, which has no derivative at zero
        slip_ratio = m.max(-1.0, m.min(1.0, c_alpha * tan / (3 * max_force)))
        H = 1 - m.abs(slip_ratio)
        x, y = self.relaxation_lengths
        return {
            "Fx": Fx,
            "Fy": -max_force * slip_ratio * (1 + H + H**2),
            "Mx": 0.0 * state.Fz,
            "My": -self.rolling_resistance
            * self.radius
            * state.Fz
            * m.tanh(state.omega * self.radius / 0.1),
            "Mz": max_force * self.width * slip_ratio * H**3,
            "mux": friction,
            "muy": friction,
            "Kxk": c_slip + 0.0 * state.Fz,
            "Kya": -c_alpha + 0.0 * state.Fz,
            "trail": self.width * H**3 / (1 + H + H**2),
            "load": state.Fz,
            "sigma_x": x + 0.0 * state.Fz,
            "sigma_y": y + 0.0 * state.Fz,
        }
