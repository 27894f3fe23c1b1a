"""TMeasy, the tyre of Rill: slope, peak and sliding of each direction at two loads; also from size
and load index.

Rill, Road Vehicle Dynamics (2011), chapter 3. Slips are relative to the rolling speed; forces of
combined slip follow one curve whose values are those of the two directions, weighted by the
direction of the slip.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.model.describe.tyre_model import MathFunctions, Rolling
from bellcrank.vehicles.arguments import is_finite
from bellcrank.vehicles.tyres.steady_tyre import SpringTyre

__all__ = ["TMeasy"]

STILL = 0.01  # m/s next to the rolling speed, so that slips exist at standstill
LOCKED = 1e-3  # of the speed, at which a wheel still rolls: slips are over the rolling speed
TINY = 1e-12  # slip below which none has a direction
LEAST = 1e-3  # of the nominal load: below it forces are those there, in proportion to the load
SIZE = re.compile(
    r"\s*(?:P|LT)?\s*(\d{2,3})\s*/\s*(\d{2,3})\s*(?:Z?R|-|D|B)\s*(\d{2}(?:\.5)?)\s*(\w*)\s*",
    re.I | re.A,
)
KINDS: dict[str, dict[str, Any]] = {  # at the nominal load and at twice it, per load
    "passenger": {
        "dfx0": (18.3741, 19.4669),
        "fxm": (1.1292, 1.0896),
        "fxs": (0.80149, 0.76917),
        "sxm": (0.13913, 0.13913),
        "sxs": (0.66667, 0.66667),
        "dfy0": (15.9826, 12.8509),
        "fym": (1.0009, 0.91367),
        "fys": (0.8336, 0.77336),
        "sym": (0.14852, 0.18504),
        "sys": (0.96524, 1.0714),
        "lever": (0.178, 0.19),
        "sq0": (0.16337, 0.20355),
        "sqe": (0.96524, 1.0714),
    },
    "truck": {
        "dfx0": (17.7764, 14.5301),
        "fxm": (0.89965, 0.77751),
        "fxs": (0.46183, 0.42349),
        "sxm": (0.10811, 0.12389),
        "sxs": (0.66667, 0.66667),
        "dfy0": (7.4013, 6.8505),
        "fym": (0.75876, 0.72628),
        "fys": (0.68276, 0.65319),
        "sym": (0.33167, 0.33216),
        "sys": (1.0296, 1.0296),
        "lever": (0.178, 0.19),
        "sq0": (0.36484, 0.36538),
        "sqe": (1.0296, 1.0296),
    },
}
PAIRS = tuple(KINDS["passenger"])


@dataclass(frozen=True)
class TMeasy(SpringTyre):
    """TMeasy tyre: curves with initial slope, maximum and sliding, each at the nominal load and at
    twice that load.

    Pairs are (at the nominal load, at twice it). Forces and slopes are divided by the load.
    Defaults are those of a passenger car; `of_size` chooses them by a tyre size.

    Parameters
    ----------
    pn : float
        Nominal load in N.
    dfx0, dfy0 : pair of float
        Initial slopes along and across the wheel.
    fxm, fym, sxm, sym : pair of float
        Forces and slips of the maxima.
    fxs, fys, sxs, sys : pair of float
        Forces and slips of sliding.
    lever : pair of float
        Lever of the aligning moment, divided by the length of the contact patch.
    sq0, sqe : pair of float
        Slips at which the lever is zero for the first time, and from which on it stays zero.
    radius, width : float, default 0.3 and 0.2
        Unloaded radius and width in m.
    vertical_stiffness : float, default 2e5
        In N/m.
    vertical_damping : float, default 50.0
        In N s/m.
    rolling_resistance : float, default 0.015
        Lever of the load, divided by the radius.
    mu : float, default 1.0
        Friction of the road, divided by that of the data.
    most : float, default 3.5
        Largest load, divided by `pn`.
    relaxation : float or pair, default (0.15, 0.5)
        Relaxation length in m, or those along and across the wheel.
    named_scales : mapping, optional
        Parameters of a model that replace values; models set it.
    notes : tuple of str, optional
        Remarks on the data.

    Examples
    --------
    >>> import bellcrank as bc
    >>> tyre = bc.vehicles.tyres.TMeasy(pn=3000)
    >>> round(tyre.forces(Fz=3000, kappa=0, alpha=0.02).Fy)
    -897
    >>> round(tyre.scaled(mu=0.5).forces(3000, 0, 0.02).Fy)
    -817
    """

    positive = ("pn", "mu", "most", *SpringTyre.positive)
    pn: float
    dfx0: tuple[float, float] = KINDS["passenger"]["dfx0"]
    fxm: tuple[float, float] = KINDS["passenger"]["fxm"]
    fxs: tuple[float, float] = KINDS["passenger"]["fxs"]
    sxm: tuple[float, float] = KINDS["passenger"]["sxm"]
    sxs: tuple[float, float] = KINDS["passenger"]["sxs"]
    dfy0: tuple[float, float] = KINDS["passenger"]["dfy0"]
    fym: tuple[float, float] = KINDS["passenger"]["fym"]
    fys: tuple[float, float] = KINDS["passenger"]["fys"]
    sym: tuple[float, float] = KINDS["passenger"]["sym"]
    sys: tuple[float, float] = KINDS["passenger"]["sys"]
    lever: tuple[float, float] = KINDS["passenger"]["lever"]
    sq0: tuple[float, float] = KINDS["passenger"]["sq0"]
    sqe: tuple[float, float] = KINDS["passenger"]["sqe"]
    radius: float = 0.3
    width: float = 0.2
    vertical_stiffness: float = 2e5
    vertical_damping: float = 50.0
    rolling_resistance: float = 0.015
    mu: float = 1.0
    most: float = 3.5
    relaxation: Any = (0.15, 0.5)
    named_scales: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of_size(cls, size: str, load_index: int | None = None, kind: str = "passenger") -> TMeasy:
        """Make a tyre with typical, not measured, values for a tyre size.

        Parameters
        ----------
        size : str
            Such as "205/60R15" or "205/60 R15 91V".
        load_index : int, optional
            Load index. Default: that of `size`. The nominal load is half the load that it allows.
        kind : {"passenger", "truck"}, default "passenger"
            Type of tyre.

        Returns
        -------
        TMeasy
            The tyre.

        Raises
        ------
        ModelError
            If the size cannot be read or has no load index.

        Examples
        --------
        >>> import bellcrank as bc
        >>> tyre = bc.vehicles.tyres.TMeasy.of_size("205/60R15 91V")
        >>> round(tyre.radius, 4), round(tyre.pn)
        (0.3135, 3029)
        """
        match = SIZE.fullmatch(size) if isinstance(size, str) else None
        if match is None:
            raise ModelError(f"size={size!r:.60} is no tyre size such as '205/60R15 91V'")
        if load_index is None:
            index_match = re.match(r"\d{2,3}", match[4])
            if index_match is None:
                raise ModelError(
                    f"size={size!r} has no load index behind it; give load_index=, such as 91"
                )
            load_index = int(index_match[0])
        if kind not in KINDS:
            raise ModelError(f"kind={kind!r} must be one of {', '.join(map(repr, KINDS))}")
        max_load = load_index_capacity(load_index)
        if not int(match[1]) * int(match[2]) > 0:
            raise ModelError(f"size={size!r}: width and aspect ratio must be positive")
        width, height = int(match[1]) / 1000, int(match[1]) * int(match[2]) / 1e5
        stiffness = max_load / (
            0.16 * height
        )  # the tyre gives way by so much of its height under the load of its index
        stiffer = (
            KINDS[kind]["dfx0"][0] / KINDS[kind]["dfy0"][0] - 1
        )  # combined slip takes its direction from both
        return cls(
            0.5 * max_load,
            **KINDS[kind],
            radius=height + float(match[3]) * 0.0254 / 2,
            width=width,
            vertical_stiffness=stiffness,
            notes=(
                f"typical values of a {kind} tyre of this size and load index, not measured ones",
                f"cornering stiffness differs by {stiffer:+.0%} at very small slip angles "
                f"(0.05 deg at a longitudinal "
                "slip of 0.1 %); linear metrics have that value, steady circles that of "
                "larger angles",
            ),
        )

    @property
    def scales(self) -> Mapping[str, float]:
        return {"mu": self.mu}

    @property
    def nominal(self) -> float:
        return self.pn

    @property
    def static_load_range(self) -> tuple[float, float]:
        return 0.0, 2 * self.pn  # that of its load index

    def problems(self) -> list[str]:
        problems = super().problems()
        for name in PAIRS:
            pair = getattr(self, name)
            if (
                not isinstance(pair, tuple | list)
                or len(pair) != 2
                or not all(is_finite(x) and x > 0 for x in pair)
            ):
                problems.append(
                    f"{name}={pair!r} must be two positive numbers, at the nominal load and "
                    f"at twice it"
                )
        return problems

    def steady_state_forces(
        self, m: MathFunctions, state: Rolling, scales: Mapping[str, Any], limits: bool = True
    ) -> dict[str, Any]:
        mu = scales["mu"] * state.mu
        q = m.min(m.max(state.Fz / self.pn, LEAST), self.most)
        fraction = m.min(state.Fz / (LEAST * self.pn), 1.0)
        rolls = m.max(m.abs(1 + state.kappa), LOCKED)
        sx, sy = state.kappa / rolls, -state.tangent(m) / rolls
        square = sx**2 + sy**2 + 2 * TINY**2
        s = m.sqrt(square)
        cos, sin = sx / s, sy / s
        along, across = (sx**2 + TINY**2) / square, (sy**2 + TINY**2) / square  # alike without slip

        def force(name: str) -> Any:
            """A force or slope at the load, from those at the nominal one and twice it."""
            one, two = getattr(self, name)[0] * self.pn, getattr(self, name)[1] * 2 * self.pn
            return q * (2 * one - two / 2 - (one - two / 2) * q)

        def slip(name: str) -> Any:
            one, two = getattr(self, name)
            return one + (two - one) * (q - 1)

        def resultant(x: Any, y: Any) -> Any:
            return m.sqrt(x**2 * along + y**2 * across)

        size = tmeasy_force_curve(
            m,
            s,
            resultant(force("dfx0"), force("dfy0")),
            mu * resultant(slip("sxm"), slip("sym")),
            mu * resultant(force("fxm"), force("fym")),
            mu * resultant(slip("sxs"), slip("sys")),
            mu * resultant(force("fxs"), force("fys")),
        )
        Fx, Fy = fraction * size * cos, fraction * size * sin
        depth = q * self.pn / self.vertical_stiffness
        lever = self._normalized_trail(m, m.abs(sy), slip("sq0"), slip("sqe"), slip("lever"))
        trail = lever * 2 * math.sqrt(self.radius) * m.sqrt(depth) * m.tanh(state.Vx / STILL)
        x, y = self.relaxation_lengths
        return {
            "Fx": Fx,
            "Fy": Fy,
            "Mx": -fraction * self.width**2 / 12 * self.vertical_stiffness * state.gamma,
            "My": -self.rolling_resistance * self.radius * state.Fz * m.tanh(state.omega),
            "Mz": -trail * Fy,
            "mux": mu * force("fxm") / (q * self.pn),
            "muy": mu * force("fym") / (q * self.pn),
            "Kxk": fraction * force("dfx0"),
            "Kya": -fraction * force("dfy0"),
            "trail": trail,
            "load": fraction * q * self.pn,
            "sigma_x": x + 0.0 * state.Fz,
            "sigma_y": y + 0.0 * state.Fz,
        }

    def with_bounded_slips(self, m: MathFunctions, state: Rolling) -> Rolling:
        """Slips over the speed and a little more."""
        speed = m.abs(state.Vx)
        fraction = speed / (speed + STILL)
        return replace(
            state, kappa=state.kappa * fraction, alpha=m.atan(m.tan(state.alpha) * fraction)
        )

    def _normalized_trail(self, m: MathFunctions, s: Any, zero: Any, end: Any, start: Any) -> Any:
        """Lever of the side force over the patch length."""
        w, x = zero / end, s / zero
        rising = (1 - w) * (1 - x) + w * (1 - (3 - 2 * x) * x**2)
        falling = -(1 - w) * (s - zero) / zero * ((end - s) / (end - zero)) ** 2
        return start * m.where(s <= zero, rising, m.where(s < end, falling, 0.0))


def tmeasy_force_curve(
    m: MathFunctions, s: Any, df0: Any, sm: Any, fm: Any, ss: Any, fs: Any
) -> Any:
    """Force over slip: from the slope at zero through a maximum to sliding."""
    df0 = m.max(df0, 2 * fm / sm)
    x = s / sm
    rise = df0 * s / (1 + x * (x + df0 * sm / fm - 2))
    a = (fm / sm) ** 2 / (df0 * sm)
    fall_width = m.max(ss - sm, TINY)  # without any slip both are nothing
    inflection = sm + (fm - fs) / (a * fall_width)
    first = fm - a * (s - sm) ** 2
    second = fs + a * (inflection - sm) / m.max(ss - inflection, TINY) * (ss - s) ** 2
    y = (s - sm) / fall_width
    wide = fm - (fm - fs) * y**2 * (3 - 2 * y)
    fall = m.where(inflection <= ss, m.where(s <= inflection, first, second), wide)
    return m.where(s < sm, rise, m.where(s < ss, fall, fs))


def load_index_capacity(index: Any) -> float:
    """The load in N that a load index stands for: 45 kg at 0, 80 steps to ten times it."""
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index <= 200:
        raise ModelError(f"load_index={index!r:.40} must be a whole number from 0 to 200")
    return 9.81 * 45.0 * 10.0 ** (index / 80)
