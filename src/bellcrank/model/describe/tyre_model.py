"""What a tyre model has to be able to do: forces and moments of a rolling wheel as one text for
arrays and formulas.

`steady` is written with Python's operators and the functions of `MathFunctions`, so that the same
lines give numbers over NumPy arrays and, with formulas in their place, a part of a model. Axes are
those of ISO 8855 at the contact centre (ISO-W): x along the intersection of wheel plane and road,
forward; y to the left; z along the normal of the road, up. Quantities are in N, m, s, rad and Pa.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


class MathFunctions(Protocol):
    """Functions of the model language, over whatever the quantities are."""

    def sin(self, x: Any) -> Any: ...
    def cos(self, x: Any) -> Any: ...
    def tan(self, x: Any) -> Any: ...
    def acos(self, x: Any) -> Any: ...
    def atan(self, x: Any) -> Any: ...
    def atan2(self, y: Any, x: Any) -> Any: ...
    def sqrt(self, x: Any) -> Any: ...
    def exp(self, x: Any) -> Any: ...
    def abs(self, x: Any) -> Any: ...
    def tanh(self, x: Any) -> Any: ...
    def min(self, a: Any, b: Any) -> Any: ...
    def max(self, a: Any, b: Any) -> Any: ...
    def where(self, c: Any, a: Any, b: Any) -> Any: ...


@dataclass(frozen=True)
class Rolling:
    """How a wheel rolls.

    `Fz`: load; `kappa` = -V_sx/|V_x|: > 0 drives, -1 is a locked wheel; `alpha` = atan(V_sy/|V_x|):
    > 0 makes Fy < 0;
    `gamma`: > 0 is inclined to the right seen from behind; `p`: pressure; `Vx`: speed along x;
    `omega`: spin;
    `phit`: turn slip, the curvature of the path, None where it is omitted; `low`: fraction of
    shifts and moments that need rolling, 0 at standstill; `mu`: friction of the road over that of
    the tyre's data; `tan`: that of alpha, where it is known.
    """

    Fz: Any
    kappa: Any
    alpha: Any
    gamma: Any
    p: Any
    Vx: Any
    omega: Any
    phit: Any = None
    low: Any = 1.0
    mu: Any = 1.0
    tan: Any = None

    def tangent(self, m: MathFunctions) -> Any:
        return m.tan(self.alpha) if self.tan is None else self.tan


@runtime_checkable
class TyreModel(Protocol):
    """A tyre by its forces in steady rolling."""

    @property
    def scales(self) -> Mapping[str, float]:
        """Factors that become parameters of a model."""
        ...

    @property
    def named_scales(self) -> Mapping[str, str]:
        """Names of those parameters that a model has already."""
        ...

    @property
    def usual(self) -> tuple[float, float]:
        """Pressure (Pa) and speed (m/s) where none is given."""
        ...

    @property
    def has_pressure(self) -> bool:
        """Do forces depend on the pressure?"""
        ...

    @property
    def vertical_damping(self) -> float:
        """N s/m."""
        ...

    @property
    def transient(self) -> str:
        """How slip follows in models: "linear" and "nonlinear" by deflections, "none" at once."""
        ...

    @property
    def has_side_force(self) -> bool:
        """Has it a side force? All have."""
        ...

    @property
    def ranges(self) -> Mapping[str, tuple[str, float, float]]:
        """Words and limits of Fz, kappa, alpha and gamma, where there are such: outside, the
        nearest end is used."""
        ...

    def on(self, side: str) -> Any:
        """The tyre on the "left" or the "right" of a vehicle."""
        ...

    def problems(self) -> list[str]:
        """What is not allowed, as messages."""
        ...

    def steady_state_forces(
        self, m: MathFunctions, at: Rolling, scales: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Fx, Fy, Mx, My, Mz, mux, muy, Kxk, Kya, trail, sigma_x, sigma_y; `load`: Fz within the
        ranges; with nonlinear transients slope_x, slope_y: slopes of the forces over slip, over
        those without slip."""
        ...

    def with_bounded_slips(self, m: MathFunctions, at: Rolling) -> Rolling:
        """The same wheel with slips that vanish at standstill."""
        ...

    def carcass_stiffness(
        self, m: MathFunctions, at: Rolling, scales: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """Stiffness of the carcass at standstill along and across (N/m): the same at every load."""
        ...

    def standstill_weight(self, m: MathFunctions, speed: Any) -> Any:
        """`low` of `Rolling` at a speed."""
        ...

    def free_radius(self, m: MathFunctions, omega: Any) -> Any:
        """Radius of the turning wheel without load."""
        ...

    def rolling_radius(self, m: MathFunctions, Fz: Any, omega: Any, p: Any) -> Any:
        """Effective rolling radius."""
        ...

    def radial_load(self, m: MathFunctions, at: Rolling, Rl: Any) -> tuple[Any, Any]:
        """Elastic load at a loaded radius, and the energy stored by it."""
        ...


def is_tyre(candidate: Any) -> bool:
    """Is it a tyre model? A class of them is none yet."""
    return isinstance(candidate, TyreModel) and not isinstance(candidate, type)
