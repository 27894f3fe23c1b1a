"""Frequency weightings of vibration that people feel: W_k (vertical, at the seat) and W_d
(horizontal) of Annex A of ISO 2631-1:1997.

A weighting is a product of analogue filters: high pass and low pass (band limiting, A.1 and A.2),
acceleration-velocity transition (A.3) and, of W_k, upward step (A.4). Here it acts on sampled
signals without further approximation: the signal is taken as straight between samples, and for such
a signal the answer of the analogue filter is computed exactly, at any sampling rate: a state for
every pair of poles, which `many_rows.c` of the kernel keeps as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

POLES = 4  # pairs of them in a weighting, at most


@dataclass(frozen=True)
class FrequencyWeighting:
    """Corners in Hz and resonant factors by the names of the standard's Table A.1; `step` is None
    without A.4."""

    f1: float
    f2: float
    f3: float
    f4: float
    q4: float
    step: tuple[float, float, float, float] | None = None  # f5, Q5, f6, Q6


WEIGHTINGS = {
    "wk": FrequencyWeighting(0.4, 100.0, 12.5, 12.5, 0.63, (2.37, 0.91, 3.35, 0.91)),
    "wd": FrequencyWeighting(0.4, 100.0, 2.0, 2.0, 0.63),
}
EVEN = 1e-6  # of steps: a difference that is not seen


def transfer_function(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A weighting as numerator and denominator in s, highest power first."""
    w = WEIGHTINGS[name]
    w1, w2, w3, w4 = (2 * np.pi * f for f in (w.f1, w.f2, w.f3, w.f4))
    root = np.sqrt(2)
    above: list[list[float]] = [
        [1, 0, 0],  # high pass: s^2/(s^2 + sqrt(2) w1 s + w1^2)
        [w2**2],
        [w4**2 / w3, w4**2],
    ]
    below: list[list[float]] = [[1, root * w1, w1**2], [1, root * w2, w2**2], [1, w4 / w.q4, w4**2]]
    if w.step is not None:
        f5, q5, f6, q6 = w.step
        w5, w6 = 2 * np.pi * f5, 2 * np.pi * f6
        above.append(
            [1, w5 / q5, w5**2]
        )  # the step's (w5/w6)^2 times its fraction in s/w5 and s/w6 leaves this
        below.append([1, w6 / q6, w6**2])
    numerator, denominator = np.array([1.0]), np.array([1.0])
    for a, b in zip(above, below, strict=True):
        numerator, denominator = np.polymul(numerator, a), np.polymul(denominator, b)
    return numerator, denominator


def apply_weighting(time: np.ndarray, signal: np.ndarray, name: str = "wk") -> np.ndarray:
    """The weighted signal at the times given (s). The filter starts at rest.

    The last step may be another than the others. If more are, they are made equal first, as fine as
    the finest, by straight lines.
    """
    t, x = np.asarray(time, dtype=float), np.asarray(signal, dtype=float)
    if len(t) < 2:
        return np.zeros_like(x)
    steps = np.diff(t)
    if len(t) == 2 or _is_even(steps[:-1]):
        return _filter_response(
            x, float(t[-2] - t[0]) / max(len(t) - 2, 1), float(steps[-1]), _is_even(steps), name
        )
    count = int(np.ceil((t[-1] - t[0]) / float(steps.min()) - 1e-9))
    even = np.linspace(t[0], t[-1], count + 1)
    h = float(even[1] - even[0])
    return np.asarray(np.interp(t, even, _filter_response(np.interp(even, t, x), h, h, True, name)))


def _is_even(steps: np.ndarray) -> bool:
    return float(steps.max()) - float(steps.min()) <= EVEN * float(steps.min())


def _filter_response(x: np.ndarray, h: float, last: float, even: bool, name: str) -> np.ndarray:
    """The sum of what every state of the filter adds, samples h apart; the last step may have
    another length."""
    from scipy.signal import lfilter

    y = np.zeros(len(x))
    regular = x if even else x[:-1]
    for (a, new, old), (a_last, new_last, old_last) in zip(
        _filter_states(name, h), _filter_states(name, last), strict=True
    ):
        part, _ = lfilter([new, old], [1.0, -a], regular, zi=[-new * x[0]])  # 0 at the first sample
        y[: len(regular)] += np.real(part)
        if not even:
            y[-1] += np.real(a_last * part[-1] + new_last * x[-1] + old_last * x[-2])
    return y


def _filter_states(name: str, h: float) -> list[tuple[complex, complex, complex]]:
    """For every pair of poles p, r of r/(s - p): what it keeps of itself over a step h, and takes
    of the later and of the earlier sample. The second of a pair adds the conjugate of the first, so
    that twice the real part counts."""
    coefficients = []
    for p, r in zip(*_poles(name), strict=True):
        z = p * h
        new = h * (np.expm1(z) - z) / z**2 if h else 0.0 * z  # of both together h (exp(z) - 1)/z
        old = h * np.expm1(z) / z - new if h else 0.0 * z
        coefficients.append((complex(np.exp(z)), complex(2 * r * new), complex(2 * r * old)))
    return coefficients


def filter_coefficients(times: np.ndarray) -> np.ndarray:
    """The same as C reads it, for rows at these times: by weighting, step (all but the last, and
    that) and pair of poles, real and imaginary parts one after another."""
    coefficients = np.zeros((len(WEIGHTINGS), 2, POLES, 6))
    steps = np.diff(times) if len(times) > 1 else np.zeros(1)
    for i, name in enumerate(WEIGHTINGS):
        for j, h in enumerate((float(steps[0]), float(steps[-1]))):
            for k, numbers in enumerate(_filter_states(name, h)):
                coefficients[i, j, k] = [part for z in numbers for part in (z.real, z.imag)]
    return coefficients


@lru_cache(maxsize=len(WEIGHTINGS))
def _poles(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Poles above the real axis, and their residues; all poles are simple and none is real."""
    numerator, denominator = transfer_function(name)
    poles = np.roots(denominator)
    poles = poles[poles.imag > 0]
    return poles, np.polyval(numerator, poles) / np.polyval(np.polyder(denominator), poles)
