"""Modes of a motorcycle over speed: weave, wobble and capsize by name, from the linear model of
straight running.

Straight ahead the lateral motion does not couple with the longitudinal one. Of the lateral modes,
weave is the oscillation with the largest participation of roll, yaw and sideslip, wobble that of
the others with the largest participation of the steering, capsize the slowest one that does not
oscillate. At walking speed weave may be two modes that do not oscillate; the more unstable of them
is listed then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.modes import Mode, Modes
from bellcrank.analysis.plots import draw_panels
from bellcrank.analysis.tables import SavableTable

Array = np.ndarray[Any, Any]
ROLLS = (
    "q(frame, 5)",
    "u(frame, 4)",
    "u(frame, 6)",
    "u(frame, 2)",
)  # roll, its rate, yaw rate, lateral speed
STEERS = ("q(steer)", "u(steer)")
TYRES = ("front.tyre_ey", "rear.tyre_ey", "front.tyre_camber", "rear.tyre_camber")
LATERAL = (*ROLLS, *STEERS, *TYRES, "q(rider)", "u(rider)")
NAMES = ("weave", "wobble", "capsize")
NONE = complex("nan")
FASTEST_WOBBLE = 20.0  # Hz, above which an oscillation of the steering is one of wheels and tyres
OVERDAMPED = 0.9  # damping ratio above which an oscillation is not called wobble


@dataclass(frozen=True, eq=False)
class SpeedModes(SavableTable):
    """Modes of a motorcycle at several speeds; `plot` draws real parts and frequencies over the
    speed.

    Attributes
    ----------
    name : str
        Name of the motorcycle.
    speeds : ndarray
        Speeds in m/s.
    modes : tuple of Modes
        All modes at each speed.
    named : mapping
        Eigenvalues in 1/s of "weave", "wobble" and "capsize" at each speed; nan where there is no
        such mode.
    problems : tuple of str
        Speeds that are omitted, as no steady motion was found.

    Examples
    --------
    >>> import numpy as np
    >>> import bellcrank as bc
    >>> weave = np.array([0.4 + 3.1j, -0.8 + 4.5j])
    >>> modes = bc.vehicles.SpeedModes("bicycle", np.array([4.0, 5.0]), (), {"weave": weave})
    >>> {name: [round(v, 2) for v in at] for name, at in modes.limits().items()}
    {'weave': [4.33]}
    """

    name: str
    speeds: Array
    modes: tuple[Modes, ...]
    named: Mapping[str, Array]
    problems: tuple[str, ...] = ()

    def limits(self) -> dict[str, list[float]]:
        """Find the speeds at which a mode becomes stable or unstable.

        Returns
        -------
        dict
            Speeds in m/s by mode, interpolated linearly between those that were computed.
        """
        limits: dict[str, list[float]] = {}
        for name, values in self.named.items():
            real = values.real
            for i in np.flatnonzero(real[:-1] * real[1:] < 0):
                step = self.speeds[i + 1] - self.speeds[i]
                speed = self.speeds[i] + step * real[i] / (real[i] - real[i + 1])
                limits.setdefault(name, []).append(float(speed))
        return limits

    @property
    def _title(self) -> str:
        return f"{self.name}: modes over speed"

    def _table(self) -> tuple[Sequence[str], list[list[float]]]:
        weave, wobble, capsize = (self.named[n] for n in NAMES)
        return HEAD, [
            [float(v), a.real, abs(a.imag) / (2 * np.pi), b.real, abs(b.imag) / (2 * np.pi), c.real]
            for v, a, b, c in zip(self.speeds, weave, wobble, capsize, strict=True)
        ]

    def _lines_after_table(self) -> list[str]:
        limits = {
            name: ", ".join(f"{v:.4g}" for v in speeds) for name, speeds in self.limits().items()
        }
        return [
            *(
                f"{name} becomes stable or unstable at {speeds} m/s"
                for name, speeds in limits.items()
            ),
            *self.problems,
        ]

    def _draw(self, path: str | Path | None) -> Any:
        real = {name: values.real for name, values in self.named.items()}
        swings = {name: np.abs(self.named[name].imag) / (2 * np.pi) for name in NAMES[:2]}
        panels = [("real part (1/s)", real), ("frequency (Hz)", swings)]
        return draw_panels(self._title, "speed (m/s)", self.speeds, panels, path)


HEAD = ("speed (m/s)", "weave (1/s)", "weave (Hz)", "wobble (1/s)", "wobble (Hz)", "capsize (1/s)")


def named_modes(modes: Modes) -> dict[str, complex]:
    """The eigenvalues of weave, wobble and capsize among those of a straight run."""
    eigenvalues = dict.fromkeys(NAMES, NONE)
    lateral = [
        m
        for m in modes
        if _participating_states(m, LATERAL) > 0.5 > _participating_states(m, TYRES)
    ]
    swings = [m for m in lateral if m.is_oscillatory]
    if swings:
        weave = max(swings, key=lambda m: _participating_states(m, ROLLS))
        eigenvalues["weave"] = weave.eigenvalue
        wobbles = [
            m
            for m in swings
            if m is not weave
            and m.damping < OVERDAMPED
            and abs(m.eigenvalue) < 2 * np.pi * FASTEST_WOBBLE
        ]
        if wobbles:
            eigenvalues["wobble"] = max(
                wobbles, key=lambda m: _participating_states(m, STEERS)
            ).eigenvalue
    real = [m for m in lateral if not m.is_oscillatory]
    unstable = [m for m in real if m.eigenvalue.real > 0]
    if not swings and len(unstable) == 2:
        eigenvalues["weave"] = max(m.eigenvalue.real for m in unstable) + 0j
        real = [m for m in real if m not in unstable]
    if real:
        eigenvalues["capsize"] = min(real, key=lambda m: abs(m.eigenvalue)).eigenvalue
    return eigenvalues


def _participating_states(mode: Mode, states: Sequence[str]) -> float:
    """What states take part in a mode."""
    return float(
        sum(p for s, p in zip(mode.states, mode.participation, strict=True) if s in states)
    )
