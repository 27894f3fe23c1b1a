"""Frequency weighting W_k of vertical vibration at the seat: ISO 2631-1:1997, Annex A.

W_k is a product of analogue filters: high pass and low pass (band limiting, A.1 and A.2), acceleration-velocity
transition (A.3) and upward step (A.4). Here it acts on sampled signals without further approximation: the signal is
taken as straight between samples, and for such a signal the answer of the analogue filter is computed exactly, at any
sampling rate.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

F1, F2 = 0.4, 100.0  # Hz, corners of the band, Butterworth of second order
F3 = F4 = 12.5  # Hz, acceleration-velocity transition
Q4 = 0.63
F5, Q5 = 2.37, 0.91  # upward step
F6, Q6 = 3.35, 0.91


@lru_cache(maxsize=1)
def _fraction() -> tuple[np.ndarray, np.ndarray]:
    """W_k as numerator and denominator in s, highest power first."""
    w1, w2, w3, w4, w5, w6 = (2 * np.pi * f for f in (F1, F2, F3, F4, F5, F6))
    root = np.sqrt(2)
    above: list[list[float]] = [
        [1, 0, 0],  # high pass: s^2/(s^2 + sqrt(2) w1 s + w1^2)
        [w2**2],
        [w4**2 / w3, w4**2],
        [1, w5 / Q5, w5**2],  # the step's (w5/w6)^2 times its fraction in s/w5 and s/w6 leaves this
    ]
    below: list[list[float]] = [[1, root * w1, w1**2], [1, root * w2, w2**2], [1, w4 / Q4, w4**2], [1, w6 / Q6, w6**2]]
    numerator, denominator = np.array([1.0]), np.array([1.0])
    for a, b in zip(above, below, strict=True):
        numerator, denominator = np.polymul(numerator, a), np.polymul(denominator, b)
    return numerator, denominator


def weighted(time: np.ndarray, signal: np.ndarray) -> np.ndarray:
    """The weighted signal at the times given (s). The filter starts at rest.

    Steps that are not equal are made so first, as fine as the finest, by straight lines.
    """
    t, x = np.asarray(time, dtype=float), np.asarray(signal, dtype=float)
    if len(t) < 2:
        return np.zeros_like(x)
    steps = np.diff(t)
    h = float(steps.min())
    if float(steps.max()) - h <= 1e-6 * h:
        return _answer(x, float(t[-1] - t[0]) / len(steps))
    count = int(np.ceil((t[-1] - t[0]) / h - 1e-9))
    even = np.linspace(t[0], t[-1], count + 1)
    return np.asarray(np.interp(t, even, _answer(np.interp(even, t, x), float(even[1] - even[0]))))


def _answer(x: np.ndarray, h: float) -> np.ndarray:
    """The sum over all poles p of r/(s - p), each exact for a signal that is straight between samples h apart.

    Poles come in conjugate pairs, of which the second adds the conjugate of the first.
    """
    from scipy.signal import lfilter

    poles, residues = _poles()
    y = np.zeros(len(x))
    for p, r in zip(poles, residues, strict=True):
        z = p * h
        new = h * (np.expm1(z) - z) / z**2  # of the later sample; of both together h (exp(z) - 1)/z
        old = h * np.expm1(z) / z - new
        part, _ = lfilter([new, old], [1.0, -np.exp(z)], x, zi=[-new * x[0]])  # 0 at the first sample
        y += 2 * np.real(r * part)
    return y


@lru_cache(maxsize=1)
def _poles() -> tuple[np.ndarray, np.ndarray]:
    """Poles above the real axis, and their residues; all poles of W_k are simple and none is real."""
    numerator, denominator = _fraction()
    poles = np.roots(denominator)
    poles = poles[poles.imag > 0]
    return poles, np.polyval(numerator, poles) / np.polyval(np.polyder(denominator), poles)
