"""Modes of a linear model: eigenvalues with frequency, damping, shape and the fraction of every
state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.plots import draw_modes
from bellcrank.analysis.tables import Cells, SavableTable, motion_line

IMAGINARY_TOLERANCE = 1e-9  # imaginary part below this fraction of the largest eigenvalue: rounding

NEUTRAL_TOLERANCE = (
    1e-7  # an eigenvalue below this fraction of the largest neither grows nor decays
)
ROUNDING_TOLERANCE = (
    1e-14  # a real or imaginary part below this fraction of the largest eigenvalue is zero
)


@dataclass(frozen=True, repr=False)
class Mode:
    """One real eigenvalue, or a pair, of which the member with positive frequency stands for both.

    Attributes
    ----------
    eigenvalue : complex
        In 1/s. `frequency` (damped) and `natural_frequency` are in Hz, `damping` is the damping
        ratio, `time_constant` is in s.
    shape : ndarray
        Motion of every state; the largest is 1.
    participation : ndarray
        Fraction of every state in the mode; their sum is 1 (|left * right| eigenvector,
        Perez-Arriaga, Verghese & Schweppe (1982), IEEE Trans. PAS-101, 3117-3125).
    states : tuple of str
        Names of the states.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("oscillator")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> spring = s.add_force(
    ...     "spring", magnitude="-50*x - 4*v", direction=s.inertial.x, at=mass.origin
    ... )
    >>> mode = s.equations().compile(backend="python").modes()[0]
    >>> round(mode.natural_frequency, 4), round(mode.damping, 4)
    (0.7958, 0.2)
    >>> [name for name, fraction in mode.main_states()]
    ['q(mass)', 'u(mass)']
    """

    eigenvalue: complex
    shape: np.ndarray
    participation: np.ndarray
    states: tuple[str, ...]

    def __repr__(self) -> str:
        pitch = (
            f"{self.natural_frequency:.6g} Hz, damping {self.damping:.6g}, "
            if self.is_oscillatory
            else ""
        )
        return (
            f"Mode({eigenvalue_text(self.eigenvalue, 9, 6, ' ').strip()} 1/s: "
            f"{pitch}{self.participation_text()})"
        )

    @property
    def is_oscillatory(self) -> bool:
        return self.eigenvalue.imag != 0.0

    @property
    def frequency(self) -> float:
        """Damped frequency in Hz; zero if the mode does not oscillate."""
        return abs(self.eigenvalue.imag) / (2 * np.pi)

    @property
    def natural_frequency(self) -> float:
        """Undamped frequency |eigenvalue| / 2 pi in Hz."""
        return abs(self.eigenvalue) / (2 * np.pi)

    @property
    def damping(self) -> float:
        """Damping ratio, -Re/|eigenvalue|: 1 for a decaying real mode, negative if it grows."""
        size = abs(self.eigenvalue)
        return 0.0 - self.eigenvalue.real / size if size else 0.0

    @property
    def time_constant(self) -> float:
        """Seconds to decay (or grow, if negative) by e."""
        return -1.0 / self.eigenvalue.real if self.eigenvalue.real else np.inf

    @property
    def stable(self) -> bool:
        return self.eigenvalue.real < 0

    def main_states(self, count: int = 3, least: float = 0.05) -> list[tuple[str, float]]:
        """List the states that take most part.

        Parameters
        ----------
        count : int, default 3
            Number of states at most.
        least : float, default 0.05
            Smallest fraction that is listed.

        Returns
        -------
        list of tuple
            Name and fraction of each.
        """
        order = np.argsort(-self.participation, kind="stable")[:count]
        return [
            (self.states[i], float(self.participation[i]))
            for i in order
            if self.participation[i] >= least
        ]

    def participation_text(self) -> str:
        """Describe the states that take part.

        Returns
        -------
        str
            Such as "q(body) 48 %, u(body) 46 %".
        """
        return ", ".join(f"{name} {100 * share:.0f} %" for name, share in self.main_states())


class Modes(Sequence[Mode], SavableTable):
    """All modes of a linear model, the slowest first: a sequence of `Mode`; `plot` draws
    eigenvalues and participation.

    Attributes
    ----------
    name : str
        Name of the model.
    modes : sequence of Mode
        The modes.
    motion : str
        Description of the operating point.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("oscillator")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> spring = s.add_force(
    ...     "spring", magnitude="-50*x - 4*v", direction=s.inertial.x, at=mass.origin
    ... )
    >>> modes = s.equations().compile(backend="python").modes()
    >>> len(modes), modes.stability
    (1, 'stable')
    """

    def __init__(self, name: str, modes: Sequence[Mode], motion: str = "") -> None:
        self.name, self.motion = name, motion
        self._modes = list(modes)

    def __getitem__(self, index: Any) -> Any:
        return self._modes[index]

    def __len__(self) -> int:
        return len(self._modes)

    @property
    def stable(self) -> bool:
        return all(m.stable for m in self._modes)

    @property
    def stability(self) -> str:
        """To first order: "stable", "stable, undamped", "neutral" or "unstable"."""
        return stability_of(m.eigenvalue for m in self._modes)

    @property
    def _title(self) -> str:
        return f"{self.name}: modes"

    def _lines_before_table(self) -> list[str]:
        return [
            *motion_line(self.motion),
            *([f"stability: {self.stability}"] if self._modes else []),
        ]

    def _table_cells(self) -> Cells:
        rows = [
            [
                str(i),
                eigenvalue_text(m.eigenvalue, 9, 6, " "),
                f"{m.natural_frequency:.6g}" if m.is_oscillatory else "-",
                f"{m.damping:.6g}" if m.is_oscillatory else "-",
                "-" if not np.isfinite(m.time_constant) else f"{m.time_constant:.4g}",
                m.participation_text(),
            ]
            for i, m in enumerate(self._modes, 1)
        ]
        return (
            ["", "eigenvalue (1/s)", "f (Hz)", "damping", "T (s)", "participation"],
            rows,
            ">>>>><",
        )

    def _table(self) -> tuple[list[str], list[list[float]]]:
        states = self._modes[0].states if self._modes else ()
        head = ["real (1/s)", "imaginary (rad/s)", "natural frequency (Hz)", "damping"]
        head += [f"share {s}" for s in states] + [
            f"{part} {s}" for s in states for part in ("re", "im")
        ]
        return head, [
            [
                m.eigenvalue.real,
                m.eigenvalue.imag,
                m.natural_frequency,
                m.damping,
                *m.participation.tolist(),
            ]
            + [x for v in m.shape for x in (float(v.real), float(v.imag))]
            for m in self._modes
        ]

    def _notebook_figure(self) -> Any:
        return self.plot() if len(self) > 1 else None  # one mode is a line of the table

    def _draw(self, path: str | Path | None) -> Any:
        states = self._modes[0].states if self._modes else ()
        shares = np.array([m.participation for m in self._modes])
        return draw_modes(self.name, states, [m.eigenvalue for m in self._modes], shares, path)


def compute_modes(A: np.ndarray, states: Sequence[str], name: str = "", motion: str = "") -> Modes:
    """Modes of x' = A x."""
    from scipy.linalg import eig

    if not len(A):
        return Modes(name, [], motion)
    values, left_vectors, right_vectors = eig(A, left=True, right=True)
    values = snap_eigenvalues(values)
    size = float(np.abs(values).max(initial=0.0))
    modes = []
    for k, x in enumerate(values):
        real = abs(x.imag) <= IMAGINARY_TOLERANCE * size
        if not real and x.imag < 0:
            continue
        value = complex(x.real, 0.0 if real else x.imag)
        participation = np.abs(left_vectors[:, k].conj() * right_vectors[:, k])
        total = float(participation.sum())
        shape = right_vectors[:, k] / right_vectors[np.argmax(np.abs(right_vectors[:, k])), k]
        modes.append(
            Mode(value, shape, participation / total if total > 0 else participation, tuple(states))
        )
    modes.sort(key=lambda m: (abs(m.eigenvalue), m.eigenvalue.real))
    return Modes(name, modes, motion)


def eigenvalue_text(x: complex, real: int, pair: int, space: str = "") -> str:
    """An eigenvalue with so many digits, or the pair it belongs to."""
    return (
        f"{x.real:.{real}g}"
        if x.imag == 0
        else f"{x.real:.{pair}g}{space}+-{space}{abs(x.imag):.{pair}g}i"
    )


def snap_eigenvalues(values: np.ndarray) -> np.ndarray:
    """Eigenvalues without what rounding left of zero real or imaginary parts."""
    threshold = ROUNDING_TOLERANCE * float(np.abs(values).max(initial=0.0))
    components = [np.where(np.abs(x) > threshold, x, 0.0) for x in (values.real, values.imag)]
    return np.asarray(components[0] + 1j * components[1])


def stability_of(values: Iterable[complex]) -> str:
    """Stability to first order: "stable", "stable, undamped", "neutral" (something does not return)
    or "unstable"."""
    eigenvalues = np.array(list(values), dtype=complex)
    threshold = NEUTRAL_TOLERANCE * float(np.abs(eigenvalues).max(initial=0.0))
    if np.any(eigenvalues.real > threshold):
        return "unstable"
    if np.any(np.abs(eigenvalues) <= threshold):
        return "neutral"
    return "stable, undamped" if np.any(eigenvalues.real >= -threshold) else "stable"


def stability_line(word: str, values: Iterable[complex]) -> str:
    """unstable: eigenvalues 3.13, -3.13 1/s"""
    ordered = sorted({(-round(x.real, 12), abs(x.imag)): x for x in values}.items())
    texts = [eigenvalue_text(x, 5, 5) for _, x in ordered[:4]]
    if not texts:
        return f"stability: {word}"
    return (
        f"stability: {word}; eigenvalues {', '.join(texts)}{' ...' if len(ordered) > 4 else ''} 1/s"
    )


def match_eigenvalues(previous: np.ndarray, current: np.ndarray) -> np.ndarray:
    """Eigenvalues `current` in the order that continues those `previous`."""
    from scipy.optimize import linear_sum_assignment

    distance = np.abs(previous[:, None] - current[None, :])
    _, order = linear_sum_assignment(distance)
    return current[order]
