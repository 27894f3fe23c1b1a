"""Magic Formula tyre: the coefficients of a .tir file, and the forces they stand for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.model.describe.tyre_model import MathFunctions, Rolling
from bellcrank.vehicles.tyres import magic_terms as terms
from bellcrank.vehicles.tyres.magic_keys import (
    DEFAULTS,
    DIMENSION_OF,
    RANGES,
    SCALES,
    SECTION_OF,
    dimension_factor,
)
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS, SteadyTyre
from bellcrank.vehicles.tyres.tir_files import read_tir
from bellcrank.vehicles.tyres.tyre_plausibility import implausible_properties

__all__ = ["MagicFormula"]

FORMS = ("solver", "star")
SIDES = ("left", "right", "symmetric")
TRANSIENTS = ("linear", "nonlinear", "none")
USED = {  # scale factors that a version knows
    "5.2": ("LKYC", "LKZC", "LMP", "LMUV", "LCZ", "LIP", "LKG", "LMPHI", "LMUS", "LGYR"),
    "6": (
        "LGAX",
        "LGAY",
        "LGAZ",
        "LSGKP",
        "LSGAL",
        "LMUV",
        "LGYR",
        "LCZ",
        "LIP",
        "LKG",
        "LMPHI",
        "LMUS",
    ),
}
NEEDED = ("UNLOADED_RADIUS", "FNOMIN", "VERTICAL_STIFFNESS", "LONGVL", "VXLOW", "NOMPRES", "LFZO")
FORM = (
    "QSY7",
    "QSY8",
    "INFLPRES",
)  # exponents; pressure and scale factors are parameters of models
OMITTED = (
    "SCALING_COEFFICIENTS",
    "TURNSLIP_COEFFICIENTS",
    "CONTACT_PATCH",
    "INERTIA",
    "TIRE_CONDITIONS",
)  # there
STEPS = 200  # of the search for the loaded radius of 6.2


@dataclass(frozen=True, eq=False)
class MagicFormula(SteadyTyre):
    """Magic Formula tyre of version 5.2 (PAC2002), 6.1 or 6.2, in N, m, s, rad, Pa.

    Parameters
    ----------
    coefficients : mapping
        Coefficients by their names in .tir files. Those omitted are zero, scale factors one.
    version : {"5.2", "6.1", "6.2"}, default "6.1"
        Version of the formula.
    side : {"left", "right", "symmetric"}, default "left"
        Side of a vehicle on which the tyre was measured.
    form : {"solver", "star"}, default "solver"
        "solver" takes slip angle and inclination as they are, as MF-Tyre; "star" tan(alpha) and
        sin(gamma), as the book.
    name : str, default "tyre"
        Name in messages.
    mirrored : bool, default False
        Is it mounted on the other side? `on(side)` sets it.
    extra : mapping, optional
        What a file contains besides the coefficients.
    notes : tuple of str, optional
        Assumptions.
    named_scales, named_numbers : optional
        Parameters and table of a model that replace coefficients; models set them.
    transient : {"linear", "nonlinear", "none"}, default "linear"
        How slip follows in models: "nonlinear" shortens relaxation lengths with the slope of the
        force, "none" has neither delay nor force at standstill.
    crown : float, default 0.0
        Crown radius of a motorcycle tyre in m: the contact point of models moves sideways with the
        inclination.

    Examples
    --------
    >>> import bellcrank as bc
    >>> tyre = bc.vehicles.tyres.MagicFormula.read("examples/tyres/book_205_60R15.tir")
    >>> round(tyre.forces(Fz=4000, kappa=0, alpha=0.05).Fy)
    -2301
    >>> round(tyre.scaled(LMUY=0.5).forces(4000, 0, 0.05).Fy)
    -1661
    """

    coefficients: Mapping[str, float]
    version: str = "6.1"
    side: str = "left"
    form: str = "solver"
    name: str = "tyre"
    mirrored: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    named_scales: Mapping[str, str] = field(default_factory=dict)
    transient: str = "linear"
    named_numbers: str = ""
    crown: float = 0.0

    def __post_init__(self) -> None:
        entered = {str(key).upper(): value for key, value in self.coefficients.items()}
        problems = [
            f"{key} is no coefficient of the Magic Formula.{did_you_mean(key, DEFAULTS)}"
            for key in entered
            if key not in DEFAULTS
        ]
        problems += [
            f"{key}={value!r:.40} must be a number"
            for key, value in entered.items()
            if not _is_number(value)
        ]
        if self.version not in ("5.2", "6.1", "6.2"):
            problems.append(f"version={self.version!r} must be '5.2', '6.1' or '6.2'")
        choices = {
            "side": (self.side, SIDES),
            "form": (self.form, FORMS),
            "transient": (self.transient, TRANSIENTS),
        }
        for key, (value, valid) in choices.items():
            if value not in valid:
                problems.append(f"{key}={value!r} must be one of {', '.join(map(repr, valid))}")
        if not problems:
            coefficients = {**DEFAULTS, **{key: float(value) for key, value in entered.items()}}
            if "INFLPRES" not in entered or not coefficients["INFLPRES"] > 0:
                coefficients["INFLPRES"] = coefficients["NOMPRES"]
            if coefficients["PKY2"] == 0 and coefficients["PKY1"] == 0:
                coefficients["PKY2"] = 1.0  # no side force
            elif coefficients["PKY2"] == 0:
                problems.append("PKY2 must not be zero")
            problems += [
                f"{key}={coefficients[key]:g} must be positive"
                for key in NEEDED
                if not coefficients[key] > 0
            ]
            object.__setattr__(self, "coefficients", MappingProxyType(coefficients))
        if problems:
            raise ModelError([f"tyre '{self.name}': {p}" for p in problems])

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        version: str | None = None,
        form: str = "solver",
        transient: str = "linear",
    ) -> MagicFormula:
        """Read a tyre from a tyre property file: Magic Formula 5.2 (PAC2002), 6.1 or 6.2.

        Parameters
        ----------
        path : str or Path
            The file (.tir). Its units become N, m, s, rad and Pa.
        version : {"5.2", "6.1", "6.2"}, optional
            Version of a file that does not state it. Default: that of the file.
        form : {"solver", "star"}, default "solver"
            "solver" takes slip angle and inclination as they are, "star" tan(alpha) and sin(gamma).
        transient : {"linear", "nonlinear", "none"}, default "linear"
            How slip follows in models.

        Returns
        -------
        MagicFormula
            The tyre. `tyre.notes` reports what was assumed, `tyre.extra` what the file says besides
            the coefficients: by "SECTION.KEY", tables by section.

        Raises
        ------
        ModelError
            If the file is no Magic Formula tyre or has mistakes: all of them are listed with their
            lines.

        Examples
        --------
        >>> import bellcrank as bc
        >>> tyre = bc.vehicles.tyres.MagicFormula.read("examples/tyres/book_205_60R15.tir")
        >>> tyre.version, round(float(tyre.forces(4000, 0.0, 0.05)["Fy"]))
        ('6.1', -2301)
        """
        file = read_tir(path, version)
        tyre = cls(
            file.numbers,
            file.version,
            file.side,
            form,
            file.name,
            False,
            file.extra,
            transient=transient,
        )
        return replace(
            tyre, notes=tuple(dict.fromkeys([*file.notes, *implausible_properties(tyre)]))
        )

    def __getitem__(self, key: str) -> float:
        if str(key).upper() not in self.coefficients:
            raise ModelError(f"tyre '{self.name}' has no {key}.{did_you_mean(str(key), DEFAULTS)}")
        return self.coefficients[str(key).upper()]

    def __reduce__(self) -> Any:
        names = (self.version, self.side, self.form, self.name, self.mirrored)
        options = (
            dict(self.extra),
            self.notes,
            dict(self.named_scales),
            self.transient,
            self.named_numbers,
            self.crown,
        )
        return MagicFormula, (dict(self.coefficients), *names, *options)

    def __repr__(self) -> str:
        size = f"R0 {self['UNLOADED_RADIUS']:g} m, nominal load {self['FNOMIN']:g} N"
        return (
            f"MagicFormula({self.name!r}: version {self.version}, {self.side}, {size}, "
            f"{len(self.notes)} notes)"
        )

    def scaled(self, **coefficients: float) -> MagicFormula:
        """Change coefficients.

        Parameters
        ----------
        coefficients : float
            By name, such as the scale factor LMUX=0.8.

        Returns
        -------
        MagicFormula
            Another tyre.
        """
        return replace(
            self,
            coefficients={**self.coefficients, **{k.upper(): v for k, v in coefficients.items()}},
        )

    def sized(self, load: float | None = None, radius: float | None = None) -> MagicFormula:
        """Scale the tyre to another size: a plausible tyre, not a measured one.

        Forces grow with the load, moments with load and radius, lengths with the radius,
        stiffnesses with load over radius, masses with the square of the radius. Slips keep their
        meaning.

        Parameters
        ----------
        load : float, optional
            Nominal load in N. Default: that of the tyre.
        radius : float, optional
            Unloaded radius in m. Default: that of the tyre.

        Returns
        -------
        MagicFormula
            Another tyre.

        Raises
        ------
        ModelError
            If a value is not positive.
        """
        f = 1.0 if load is None else load / self["FNOMIN"]
        r = 1.0 if radius is None else radius / self["UNLOADED_RADIUS"]
        if not (0 < f < math.inf and 0 < r < math.inf):
            raise ModelError(
                f"tyre '{self.name}': load={load!r} and radius={radius!r} must be positive numbers"
            )
        factors = {"L": r, "F": f, "A": 1.0, "M": r * r, "T": 1.0, "P": 1.0}
        unscaled = ("LONGVL", "VXLOW", "GRAVITY")
        scaled = {
            key: value * dimension_factor(DIMENSION_OF[key], factors)
            for key, value in self.coefficients.items()
            if key in DIMENSION_OF and key not in unscaled
        }
        note = (
            f"scaled from {self['FNOMIN']:g} N and {self['UNLOADED_RADIUS']:g} m: likely, not "
            f"measured"
        )
        coefficients, crown = {**self.coefficients, **scaled}, r * self.crown
        return replace(self, coefficients=coefficients, notes=(*self.notes, note), crown=crown)

    def on(self, side: str) -> MagicFormula:
        """Mount the tyre on a side of a vehicle: mirrored if it was measured on the other one.

        Parameters
        ----------
        side : {"left", "right"}
            The side.

        Returns
        -------
        MagicFormula
            Another tyre.
        """
        if side not in SIDES[:2]:
            raise ModelError(f"tyre '{self.name}': side={side!r} must be 'left' or 'right'")
        return replace(self, mirrored=self.side not in (side, "symmetric"))

    @property
    def scales(self) -> Mapping[str, float]:
        """Scale factors that this version knows."""
        unknown = USED["5.2" if self.version == "5.2" else "6"]
        return {key: self.coefficients[key] for key in SCALES if key not in unknown}

    @property
    def usual(self) -> tuple[float, float]:
        return self["INFLPRES"], self["LONGVL"]

    @property
    def ranges(self) -> Mapping[str, tuple[str, float, float]]:
        limits = {
            key: (0.0 if key == "FZ" else self[f"{key}MIN"], self[f"{key}MAX"])
            for key in RANGES
            if key != "PRES"
        }
        return {
            RANGES[key][0]: (RANGES[key][1], *bounds)
            for key, bounds in limits.items()
            if bounds[0] < bounds[1]
        }

    @property
    def nominal(self) -> float:
        return self["FNOMIN"]

    def problems(self) -> list[str]:
        return []

    # ---- forces, over arrays and formulas

    @property
    def numbers(self) -> Mapping[str, float]:
        """Coefficients that may be data of a model. Zeros, and what else decides on terms, are part
        of its form."""
        return {
            key: x
            for key, x in self.coefficients.items()
            if SECTION_OF[key] not in OMITTED and key not in FORM and 0 != abs(x) < math.inf
        }

    def with_formulas(self, formulas: Mapping[str, Any]) -> MagicFormula:
        """The same tyre with formulas in place of `numbers`."""
        tyre = copy(self)
        object.__setattr__(
            tyre, "coefficients", MappingProxyType({**self.coefficients, **formulas})
        )
        object.__setattr__(tyre, "choices", self.choices)
        return tyre

    @cached_property
    def choices(self) -> Mapping[str, bool]:
        """What the values of coefficients decide: is the stiffness of the carcass given, are slip
        angles bounded?"""
        values, alpha_range = self.coefficients, (self["ALPMIN"], self["ALPMAX"])
        has_carcass = values["LONGITUDINAL_STIFFNESS"] > 0 and values["LATERAL_STIFFNESS"] > 0
        return {"carcass": has_carcass, "bounded": max(map(abs, alpha_range)) < math.pi / 2}

    def _coefficient_namespace(self, scales: Mapping[str, Any]) -> Any:
        words = {
            "version": self.version,
            "form": self.form,
            "nonlinear": self.transient == "nonlinear",
        }
        return SimpleNamespace(**words, **self.choices, **{**self.coefficients, **scales})

    def steady_state_forces(
        self, m: MathFunctions, state: Rolling, scales: Mapping[str, Any], limits: bool = True
    ) -> dict[str, Any]:
        c = self._coefficient_namespace(scales)
        if self.mirrored:
            phit = None if state.phit is None else -state.phit
            tan = None if state.tan is None else -state.tan
            state = replace(state, alpha=-state.alpha, gamma=-state.gamma, phit=phit, tan=tan)
        limited = self._within_ranges(m, c, state) if limits else state
        min_load = terms.MIN_LOAD_RATIO * c.FNOMIN
        load = m.max(limited.Fz, min_load)
        limited = replace(limited, Fz=load)
        rolls = m.max(
            -1.0,
            m.min(
                1.0, state.omega * self.rolling_radius(m, state.Fz, state.omega, state.p) / c.VXLOW
            ),
        )
        forces = terms.steady_forces(m, c, limited, rolls)
        sigma_x, sigma_y = terms.relaxation_lengths(m, c, limited, forces["Kxk"], forces["Kya"])
        fraction = m.min(
            state.Fz / min_load, 1.0
        )  # one from the least load on, zero where there is none
        forces |= {key: fraction * forces[key] for key in ("Fx", "Fy", "Mx", "Mz")}
        load_unlimited = m.max(
            state.Fz, min_load
        )  # no range bounds the load of the rolling resistance
        forces["My"] = fraction * terms.rolling_resistance_moment(
            m, c, replace(limited, Fz=load_unlimited), forces["Fx"], rolls
        )
        if self.mirrored:
            forces |= {key: -forces[key] for key in ("Fy", "Mx", "Mz")}
        return {**forces, "sigma_x": sigma_x, "sigma_y": sigma_y, "load": fraction * load}

    def _within_ranges(self, m: MathFunctions, c: Any, state: Rolling) -> Rolling:
        """The same wheel inside the ranges of the file."""

        def inside(key: str, value: Any, least: float | None = None) -> Any:
            low, high = self[f"{key}MIN"] if least is None else least, self[f"{key}MAX"]
            value = m.max(value, low) if low != -math.inf else value
            return m.min(value, high) if high != math.inf else value

        alpha, tan = inside("ALP", state.alpha), state.tan
        if tan is not None and c.bounded:
            tan = m.min(m.max(tan, m.tan(c.ALPMIN)), m.tan(c.ALPMAX))
        return replace(
            state,
            Fz=inside("FZ", state.Fz, least=0.0),
            kappa=inside("KPU", state.kappa),
            alpha=alpha,
            tan=tan,
            gamma=inside("CAM", state.gamma),
            p=inside("PRES", state.p),
        )

    def with_bounded_slips(self, m: MathFunctions, state: Rolling) -> Rolling:
        """Slips and shifts that vanish at standstill, below the speed VXLOW, as the commercial
        solver has them."""
        low = self["VXLOW"]
        speed = m.abs(state.Vx)
        fraction = m.min(speed / low, 1.0)
        side = m.min(speed * (1 + m.abs(m.tan(state.alpha))) / low, 1.0)
        slow = speed <= low
        return replace(
            state,
            kappa=state.kappa * fraction,
            alpha=state.alpha * m.where(slow, side, 1.0),
            phit=None if state.phit is None else state.phit * fraction,
            low=self.standstill_weight(m, state.Vx),
        )

    def out_of_range_messages(self, state: Rolling) -> tuple[str, ...]:
        notes = []
        for key, (attribute, label, unit) in RANGES.items():
            low, high = self[f"{key}MIN"], self[f"{key}MAX"]
            value = np.asarray(getattr(state, attribute))
            outside = (value > high) | ((value < low) & (key != "FZ"))
            if np.any(outside):
                worst = value[outside].ravel()[0]
                span = f"{low:g} to {high:g} {unit}".strip()
                notes.append(
                    f"{label} {worst:g} lies outside {span} ({int(np.sum(outside))} of "
                    f"{value.size} points): "
                    "the nearest end was used"
                )
        return tuple(notes)

    def standstill_weight(self, m: MathFunctions, speed: Any) -> Any:
        return standstill_blend(m, speed, self["VXLOW"])

    # ---- radii and the contact patch

    @property
    def has_pressure(self) -> bool:
        return self.version != "5.2"

    @property
    def vertical_damping(self) -> float:
        return self["VERTICAL_DAMPING"]

    def free_radius(self, m: MathFunctions, omega: Any) -> Any:
        return terms.free_radius(self._coefficient_namespace({}), omega)

    def radial_load(self, m: MathFunctions, state: Rolling, Rl: Any) -> tuple[Any, Any]:
        """Elastic load and its energy; what Fx and Fy take from the load (Q_FCX, Q_FCY) is
        omitted."""
        c = self._coefficient_namespace({})
        sunk = m.max(0.0, terms.free_radius(c, state.omega) - Rl)
        bottom = m.max(0.0, c.RIM_RADIUS + c.BOTTOM_OFFST - Rl) if c.BOTTOM_STIFF else 0.0
        hard, hard_energy = c.BOTTOM_STIFF * bottom, c.BOTTOM_STIFF * bottom**2 / 2
        if self.version == "5.2":
            return (
                c.VERTICAL_STIFFNESS * sunk + hard,
                c.VERTICAL_STIFFNESS * sunk**2 / 2 + hard_energy,
            )
        if self.version == "6.2":
            sunk = cambered_deflection(m, c, state, Rl)
        x, R0, q1 = sunk / c.UNLOADED_RADIUS, c.UNLOADED_RADIUS, linear_stiffness(m, c)
        size = _spin_load_factor(m, c, state) * _pressure_load_factor(c, state) * c.FNOMIN
        return size * x * (q1 + c.Q_FZ2 * x) + hard, size * R0 * x**2 * (
            q1 / 2 + c.Q_FZ2 * x / 3
        ) + hard_energy

    def rolling_radius(self, m: MathFunctions, Fz: Any, omega: Any, p: Any) -> Any:
        return terms.rolling_radius(m, self._coefficient_namespace({}), Fz, omega, p)

    def contact_patch(self, state: Rolling, forces: Mapping[str, Any]) -> dict[str, Any]:
        """rho, Rl, and half length a and half width b of the contact patch."""
        c = self._coefficient_namespace(self.scales)
        free = terms.free_radius(c, state.omega)
        if self.version == "6.2":
            rho = free - self._loaded_radius_62(c, state, forces, free)
        elif self.version == "6.1":
            rho = _deflection_61(c, state, forces)
        else:
            rho = state.Fz / c.VERTICAL_STIFFNESS
        if self.version == "5.2":
            size = state.Fz / c.FNOMIN
            q1, q2 = _patch_coefficients_52(c)
            return {
                "rho": rho,
                "Rl": free - rho,
                "a": c.UNLOADED_RADIUS * (q2 * size + q1 * np.sqrt(size)),
            }
        n = state.Fz / (terms.vertical_stiffness(c, state.p) * c.UNLOADED_RADIUS)
        a = c.UNLOADED_RADIUS * (c.Q_RA2 * n + c.Q_RA1 * np.sqrt(n))
        b = c.WIDTH * (c.Q_RB2 * n + c.Q_RB1 * np.cbrt(n))
        return {"rho": rho, "Rl": free - rho, "a": a, "b": b}

    def _loaded_radius_62(
        self, c: Any, state: Rolling, forces: Mapping[str, Any], free: Any
    ) -> Any:
        """Loaded radius of 6.2, by halving an interval."""
        low = np.broadcast_to(np.asarray(0.5 * free), np.shape(state.Fz)).copy()
        high = np.broadcast_to(np.asarray(free), np.shape(state.Fz)).copy()
        for _ in range(STEPS):
            middle = 0.5 * (low + high)
            too_much = (
                radial_load_62(ARRAYS, c, state, middle, forces["Fx"], forces["Fy"]) > state.Fz
            )
            low, high = np.where(too_much, middle, low), np.where(too_much, high, middle)
            if np.all(high - low <= 1e-15 * free):
                break
        return 0.5 * (low + high)


def standstill_blend(m: MathFunctions, speed: Any, low: float) -> Any:
    """0 at standstill, 1 from the low speed on, smooth between."""
    part = m.min(m.abs(speed) / low, 1.0)
    return (1 - m.cos(math.pi * part)) / 2


def linear_stiffness(m: MathFunctions, c: Any) -> Any:
    """Coefficient of x in the load of 6.x, so that the stiffness at the nominal load is the given
    one."""
    return m.sqrt(
        m.max(0.0, (c.VERTICAL_STIFFNESS * c.UNLOADED_RADIUS / c.FNOMIN) ** 2 - 4 * c.Q_FZ2)
    )


def _spin_load_factor(m: MathFunctions, c: Any, state: Rolling) -> Any:
    """Growth of the load with spin and pressure, and what the forces take from it is left to the
    caller."""
    return 1 + c.Q_V2 * (c.UNLOADED_RADIUS / c.LONGVL) * m.abs(state.omega)


def _pressure_load_factor(c: Any, state: Rolling) -> Any:
    return 1 + c.PFZ1 * (state.p - c.NOMPRES) / c.NOMPRES


def _deflection_61(c: Any, state: Rolling, forces: Mapping[str, Any]) -> Any:
    """Deflection under a load: the load is a quadratic function of it."""
    factor = (
        _spin_load_factor(ARRAYS, c, state)
        - (c.Q_FCX * forces["Fx"] / c.FNOMIN) ** 2
        - (c.Q_FCY * forces["Fy"] / c.FNOMIN) ** 2
    )
    b, y = (
        linear_stiffness(ARRAYS, c),
        state.Fz / (factor * _pressure_load_factor(c, state) * c.FNOMIN),
    )
    return c.UNLOADED_RADIUS * 2 * y / (b + np.sqrt(b * b + 4 * c.Q_FZ2 * y))


def cambered_deflection(m: MathFunctions, c: Any, state: Rolling, Rl: Any) -> Any:
    """Deflection of 6.2 at a loaded radius, with what camber adds to it."""
    free = terms.free_radius(c, state.omega)
    sunk = m.max(0.0, free - Rl)
    rtw = (1.075 - 0.5 * c.ASPECT_RATIO) * c.WIDTH
    has_camber = c.Q_CAM1 or c.Q_CAM2
    ratio = (
        (c.Q_CAM1 * Rl + c.Q_CAM2 * Rl**2) / (c.Q_CAM1 * free + c.Q_CAM2 * free**2)
        if has_camber
        else 0.0
    )
    camber = ratio**2 * rtw / 8 * m.abs(m.tan(state.gamma)) - c.Q_CAM3 * sunk * m.abs(state.gamma)
    return m.max(0.0, sunk + camber)


def radial_load_62(m: MathFunctions, c: Any, state: Rolling, Rl: Any, Fx: Any, Fy: Any) -> Any:
    """Load of 6.2 at a loaded radius."""
    free = terms.free_radius(c, state.omega)
    x = cambered_deflection(m, c, state, Rl) / c.UNLOADED_RADIUS
    camber_shift = (c.Q_FYS1 + c.Q_FYS2 * Rl / free + c.Q_FYS3 * (Rl / free) ** 2) * state.gamma
    by_side = c.Q_FCY * (Fy - camber_shift) / c.FNOMIN
    if c.Q_FCY2:
        by_side = by_side * m.max(x, 1e-9) ** c.Q_FCY2
    factor = _spin_load_factor(m, c, state) - (c.Q_FCX * Fx / c.FNOMIN) ** 2 - by_side**2
    return (
        factor
        * _pressure_load_factor(c, state)
        * (linear_stiffness(m, c) * x + c.Q_FZ2 * x**2)
        * c.FNOMIN
    )


def _patch_coefficients_52(c: Any) -> tuple[float, float]:
    """QA1 and QA2, estimated from the stiffness where the file does not give them."""
    if c.QA1 or c.QA2:
        return c.QA1, c.QA2
    y = math.log10(c.UNLOADED_RADIUS * c.VERTICAL_STIFFNESS / c.FNOMIN)
    q1 = -0.0388 * y**3 + 0.2509 * y**2 - 0.6283 * y + 0.6279
    return q1, 1.693 * q1**2


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.floating | np.integer) and not math.isnan(value)
