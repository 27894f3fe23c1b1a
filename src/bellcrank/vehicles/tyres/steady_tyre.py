"""Forces of a tyre over arrays: what all tyre models share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Self, cast

import numpy as np

from bellcrank.core.argument_checks import PublicDir
from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.html import heading, paragraph
from bellcrank.core.files.notebook_display import NotebookDisplay
from bellcrank.model.describe.tyre_model import MathFunctions, Rolling
from bellcrank.simulation.run.array_functions import array_function
from bellcrank.symbolic.expr.function_table import CALLED
from bellcrank.vehicles.arguments import is_finite
from bellcrank.vehicles.tyres.tyre_curves import draw_tyre_curves

__all__: list[str] = []

ARRAYS: Any = SimpleNamespace(**{name: array_function(known) for name, known in CALLED.items()})
SHORTEST = 0.05  # m, of a relaxation length
FOR_MODELS = ("load", "slope_x", "slope_y")  # what `steady` gives for models alone
TURNS = 30  # of the iteration that finds the spin: each takes away at least a power of ten


class Forces(Mapping[str, Any]):
    """Forces and moments of a tyre by name: `f.Fx` or `f["Fx"]`, numbers or arrays as the inputs
    were.

    Forces and moments act on the wheel at the contact centre, in axes x forward, y to the left, z
    up.

    Attributes
    ----------
    Fx, Fy, Fz : float or ndarray
        Forces in N.
    Mx, My, Mz : float or ndarray
        Moments in N m.
    mux, muy : float or ndarray
        Coefficients of friction.
    Kxk, Kya : float or ndarray
        Slip stiffness in N, cornering stiffness in N/rad.
    trail, Re, Rl, rho : float or ndarray
        Pneumatic trail, effective rolling radius, loaded radius and deflection in m.
    sigma_x, sigma_y : float or ndarray
        Relaxation lengths in m.
    notes : tuple of str
        Inputs that were limited to the range of the tyre.

    Examples
    --------
    >>> import bellcrank as bc
    >>> f = bc.vehicles.tyres.TMeasy.of_size("205/60R15 91V").forces(Fz=4000, alpha=0.0, kappa=0.05)
    >>> bool(f.Fx > 0 and f.Fx == f["Fx"])
    True
    """

    def __init__(self, values: Mapping[str, Any], notes: tuple[str, ...] = ()) -> None:
        self._values = dict(values)
        self.notes = notes

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name not in values:
            raise AttributeError(f"a tyre gives no {name!r}.{did_you_mean(name, values)}")
        return values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __repr__(self) -> str:
        return "Forces(" + ", ".join(f"{k}={v}" for k, v in self._values.items()) + ")"


class SteadyTyre(ABC, NotebookDisplay, PublicDir):
    """A tyre by its forces in steady rolling; a model of them says `steady_state_forces`,
    `deflection` and the rest below."""

    internals: ClassVar[tuple[str, ...]] = (
        "out_of_range_messages",
        "carcass_stiffness",
        "standstill_weight",
        "free_radius",
        "relaxation_lengths",
        "static_load_range",
        "with_formulas",
        "radial_load",
        "problems",
        "rolling_radius",
        "contact_patch",
        "with_bounded_slips",
        "has_side_force",
        "steady_state_forces",
    )
    notes: tuple[str, ...] = ()
    transient = "linear"

    def _html_parts(self) -> list[str]:
        return [heading(repr(self)), *map(paragraph, self.notes)]

    def _notebook_figure(self) -> Any:
        return self.plot()

    def plot(
        self, path: str | Path | None = None, *, p: float | None = None, V: float | None = None
    ) -> Any:
        """Plot lateral and longitudinal force, aligning torque, combined slip, camber thrust and
        radii.

        Parameters
        ----------
        path : str or Path, optional
            File to write (.png, .svg, .pdf). Default: none.
        p : float, optional
            Inflation pressure in Pa. Default: that of the tyre.
        V : float, optional
            Speed in m/s. Default: that of the measurements.

        Returns
        -------
        Figure
            The matplotlib figure.

        Examples
        --------
        >>> import bellcrank as bc
        >>> figure = bc.vehicles.tyres.TMeasy.of_size("205/60R15 91V").plot()
        >>> len(figure.axes)
        6
        """
        return draw_tyre_curves(self, path, p, V)

    @property
    def has_side_force(self) -> bool:
        """Has it a side force? All have."""
        return True

    @property
    @abstractmethod
    def scales(self) -> Mapping[str, float]:
        """Factors that become parameters of a model."""

    @property
    def usual(self) -> tuple[float, float]:
        """Pressure (Pa) and speed (m/s) where none is given."""
        return 2.2e5, 16.7

    @property
    def ranges(self) -> Mapping[str, tuple[str, float, float]]:
        """Words and limits of Fz, kappa, alpha and gamma, where there are such."""
        return {}

    @property
    def static_load_range(self) -> tuple[float, float]:
        """Least and largest load (N) that it may carry at rest."""
        return self.ranges.get("Fz", ("", 0.0, math.inf))[1:]

    @property
    def relaxation_lengths(self) -> tuple[Any, ...]:
        """Relaxation lengths along and across, of a tyre that has them as `relaxation`."""
        relaxation = getattr(self, "relaxation", SHORTEST)
        return (
            tuple(relaxation) if isinstance(relaxation, tuple | list) else (relaxation, relaxation)
        )

    @abstractmethod
    def problems(self) -> list[str]:
        """What is not allowed, as messages."""

    @abstractmethod
    def steady_state_forces(
        self, m: MathFunctions, state: Rolling, scales: Mapping[str, Any], limits: bool = True
    ) -> dict[str, Any]:
        """Fx, Fy, Mx, My, Mz, mux, muy, Kxk, Kya, trail, sigma_x, sigma_y; `load`: Fz within the
        ranges."""

    @abstractmethod
    def rolling_radius(self, m: MathFunctions, Fz: Any, omega: Any, p: Any) -> Any:
        """Effective rolling radius."""

    def on(self, side: str) -> Any:
        """Mount the tyre on a side of a vehicle.

        Parameters
        ----------
        side : {"left", "right"}
            The side.

        Returns
        -------
        SteadyTyre
            The same tyre, unless it has a side of its own.
        """
        return self

    @property
    def has_pressure(self) -> bool:
        """Do forces depend on the pressure?"""
        return False

    @property
    def nominal(self) -> float:
        """Load (N) at which the stiffness of the carcass is taken."""
        return 4000.0

    def carcass_stiffness(
        self, m: MathFunctions, state: Rolling, scales: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """Stiffness of the carcass at standstill along and across (N/m): of small slip, at the
        nominal load."""
        forces = self.steady_state_forces(
            m, Rolling(self.nominal, 0.0, 0.0, 0.0, state.p, self.usual[1], 0.0), scales
        )
        Cx, Cy = (
            m.abs(forces[K]) / m.max(SHORTEST, forces[s])
            for K, s in (("Kxk", "sigma_x"), ("Kya", "sigma_y"))
        )
        return Cx, Cy

    def standstill_weight(self, m: MathFunctions, speed: Any) -> Any:
        """The fraction of shifts and moments that need rolling, at a speed."""
        return 1.0

    def free_radius(self, m: MathFunctions, omega: Any) -> Any:
        """Radius of the turning wheel without load."""
        return getattr(self, "radius", float("nan"))

    def radial_load(self, m: MathFunctions, state: Rolling, Rl: Any) -> tuple[Any, Any]:
        """Elastic load at a loaded radius, and the energy stored by it."""
        rho = m.max(0.0, self.free_radius(m, state.omega) - Rl)
        k = getattr(self, "vertical_stiffness", float("nan"))
        return k * rho, k * rho**2 / 2

    def with_bounded_slips(self, m: MathFunctions, state: Rolling) -> Rolling:
        """The same wheel with slips that vanish at standstill, for tables without a law of
        standstill."""
        return state

    def out_of_range_messages(self, state: Rolling) -> tuple[str, ...]:
        """Messages about what lies outside the ranges of the tyre."""
        return ()

    def contact_patch(self, state: Rolling, forces: Mapping[str, Any]) -> dict[str, Any]:
        """Deflection, loaded radius and what else is known of the contact patch."""
        return {}

    def forces(
        self,
        Fz: Any,
        kappa: Any,
        alpha: Any,
        gamma: Any = 0.0,
        p: Any = None,
        V: Any = None,
        phit: Any = 0.0,
        *,
        limits: bool = True,
    ) -> Forces:
        """Compute forces and moments of steady rolling.

        Axes: x forward, y to the left, z up. Arguments are numbers or arrays.

        Parameters
        ----------
        Fz : float or array
            Load in N.
        kappa : float or array
            Longitudinal slip: positive drives, -1 is a locked wheel.
        alpha : float or array
            Slip angle in rad; a positive one gives a negative Fy.
        gamma : float or array, default 0.0
            Inclination in rad; positive is to the right, seen from behind.
        p : float or array, optional
            Inflation pressure in Pa. Default: that of the tyre.
        V : float or array, optional
            Speed along the wheel in m/s. Default: that of the measurements.
        phit : float or array, default 0.0
            Turn slip in 1/m, the curvature of the path.
        limits : bool, default True
            Evaluate what is outside the ranges of the tyre at their ends, which `notes` of the
            result reports, and let forces vanish at standstill.

        Returns
        -------
        Forces
            By name: Fx, Fy, Fz in N, Mx, My, Mz in N m; friction, stiffnesses, radii and relaxation
            lengths as far as known.

        Raises
        ------
        ModelError
            If the tyre or an argument is not valid.
        """
        problems = self.problems()
        if problems:
            raise ModelError([f"forces of a tyre: {p}" for p in problems])
        pressure, speed = self.usual
        inputs = {
            "Fz": Fz,
            "kappa": kappa,
            "alpha": alpha,
            "gamma": gamma,
            "p": pressure if p is None else p,
            "V": speed if V is None else V,
            "phit": phit,
        }
        values = _input_arrays(inputs)
        has_turn_slip = bool(np.any(values["phit"] != 0))
        with np.errstate(all="ignore"):
            omega = self._spin_at_slip(values)
            state = Rolling(
                np.maximum(values["Fz"], 0.0),
                values["kappa"],
                values["alpha"],
                values["gamma"],
                values["p"],
                values["V"],
                omega,
                values["phit"] if has_turn_slip else None,
            )
            slowed = self.with_bounded_slips(ARRAYS, state) if limits else state
            results = self.steady_state_forces(ARRAYS, slowed, self.scales, limits)
            results = {name: value for name, value in results.items() if name not in FOR_MODELS}
            results = {"Fx": results["Fx"], "Fy": results["Fy"], "Fz": state.Fz, **results}
            results["Re"] = self.rolling_radius(ARRAYS, state.Fz, omega, state.p)
            results |= self.contact_patch(state, results)
        shape = np.broadcast_shapes(*(np.shape(x) for x in inputs.values()))
        arrays = {name: _broadcast_like(value, shape) for name, value in results.items()}
        return Forces(arrays, self.out_of_range_messages(state) if limits else ())

    def _spin_at_slip(self, state: Mapping[str, np.ndarray]) -> np.ndarray:
        """The spin at which a wheel has its slip: the radius depends on it, if only a little."""
        rim = (1 + state["kappa"]) * state["V"]
        load = np.maximum(state["Fz"], 0.0)
        omega = rim / self.rolling_radius(ARRAYS, load, 0.0 * rim, state["p"])
        for _ in range(TURNS):
            new = rim / self.rolling_radius(ARRAYS, load, omega, state["p"])
            is_converged = bool(np.all(np.abs(new - omega) <= 1e-15 * np.abs(new)))
            omega = new
            if is_converged:
                break
        return omega


class SpringTyre(SteadyTyre):
    """A tyre by a few values, among them a radius and a linear spring under load.

    `positive` and `not_negative` name the values that must be so.
    """

    positive: ClassVar[tuple[str, ...]] = ("width", "radius", "vertical_stiffness")
    not_negative: ClassVar[tuple[str, ...]] = ("vertical_damping", "rolling_resistance")
    internals: ClassVar[tuple[str, ...]] = (*SteadyTyre.internals, "positive", "not_negative")
    radius: float
    vertical_stiffness: float

    def scaled(self, **values: Any) -> Self:
        """Change values of the tyre.

        Parameters
        ----------
        values : float
            Arguments of the class by name.

        Returns
        -------
        SteadyTyre
            Another tyre.

        Raises
        ------
        ModelError
            If the tyre has no value of that name.
        """
        field_names = [x.name for x in fields(cast(Any, self))]
        unknown = [name for name in values if name not in field_names]
        if unknown:
            suggestion = did_you_mean(unknown[0], field_names)
            raise ModelError(
                f"a {type(self).__name__} tyre has no '{unknown[0]}'.{suggestion} It has "
                f"{', '.join(field_names)}."
            )
        return cast(Self, replace(cast(Any, self), **values))

    def problems(self) -> list[str]:
        numbers = {name: getattr(self, name) for name in (*self.positive, *self.not_negative)}
        problems = [
            f"{name}={value!r:.40} must be "
            f"{'a positive number' if name in self.positive else 'zero or positive'}"
            for name, value in numbers.items()
            if not is_finite(value) or value < 0 or (value == 0 and name in self.positive)
        ]
        if len(self.relaxation_lengths) != 2 or not all(
            is_finite(x) and x >= 0 for x in self.relaxation_lengths
        ):
            pair = getattr(self, "relaxation", None)
            problems.append(
                f"relaxation={pair!r:.40} must be a length (m), or those along and across the wheel"
            )
        return problems

    def rolling_radius(self, m: MathFunctions, Fz: Any, omega: Any, p: Any) -> Any:
        return self.radius - Fz / self.vertical_stiffness / 3 + 0.0 * omega

    def contact_patch(self, state: Rolling, forces: Mapping[str, Any]) -> dict[str, Any]:
        rho = state.Fz / self.vertical_stiffness
        return {"rho": rho, "Rl": self.radius - rho}


def _broadcast_like(value: Any, shape: tuple[int, ...]) -> Any:
    return float(value) if not shape else np.array(np.broadcast_to(value, shape))


def _input_arrays(inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The inputs as arrays of one shape; all problems are reported at once."""
    values, problems = {}, []
    for name, value in inputs.items():
        try:
            values[name] = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            problems.append(f"{name}={value!r:.60} must be a number or an array of numbers")
            continue
        if not np.all(np.isfinite(values[name])):
            problems.append(
                f"{name} must be finite; it holds "
                f"{values[name].ravel()[~np.isfinite(values[name].ravel())][0]}"
            )
    if problems:
        raise ModelError([f"forces of a tyre: {p}" for p in problems])
    try:
        return dict(zip(values, np.broadcast_arrays(*values.values()), strict=True))
    except ValueError:
        shapes = ", ".join(f"{name} {v.shape}" for name, v in values.items() if v.ndim)
        raise ModelError(
            f"forces of a tyre: arrays of shapes {shapes} do not fit together"
        ) from None
