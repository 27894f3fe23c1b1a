"""Random inputs: spectra of roads, and signals that have a given spectrum.

Densities are one-sided, in (unit of the input)^2/Hz.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bellcrank.choices import RoadClass
from bellcrank.core.errors import ModelError
from bellcrank.core.numeric.real_numbers import display_text, to_float

Density = Callable[[np.ndarray], np.ndarray]
ROUGHNESS = {
    c: 16e-6 * 4**i for i, c in enumerate("ABCDEFGH")
}  # m^3 at 0.1 cycles/m, geometric means of ISO 8608
REFERENCE = 0.1  # cycles/m


def road_spectrum(road: RoadClass | float, speed: float, *, waviness: float = 2.0) -> Density:
    """Return the spectral density of road height, for `power_spectrum`.

    The density is G_d(n) = G_d(n0) (n/n0)^-waviness over the spatial frequency n, with n0 = 0.1
    cycles/m. At constant speed the density in time is G_d(f/speed)/speed.

    Parameters
    ----------
    road : {"A" ... "H"} or float
        Class of ISO 8608, or G_d(n0) in m^3.
    speed : float
        Speed in m/s.
    waviness : float, default 2.0
        Exponent.

    Returns
    -------
    callable
        Density in m^2/Hz as a function of the frequency in Hz.

    Raises
    ------
    ModelError
        If the class is unknown or a value is not positive.

    Examples
    --------
    >>> import bellcrank as bc
    >>> float(bc.road_spectrum(16e-6, speed=10)(1.0))
    1.6e-06
    """
    if isinstance(road, str):
        if road.upper() not in ROUGHNESS:
            raise ModelError(
                f"road class {road!r} is not known; it is one of {', '.join(ROUGHNESS)}, or "
                f"G_d in m^3"
            )
        size = ROUGHNESS[road.upper()]
    else:
        size = to_float(road) or 0.0
    velocity, exponent = to_float(speed) or 0.0, to_float(waviness)
    if not velocity > 0 or not size > 0:
        raise ModelError(
            f"road_spectrum: speed={display_text(speed)} and the roughness "
            f"{display_text(road)} must be positive "
            f"numbers"
        )
    if exponent is None:
        raise ModelError(f"road_spectrum: waviness={display_text(waviness)} must be a number")

    def spectral_density(f: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.asarray(
                size * (np.asarray(f, dtype=float) / velocity / REFERENCE) ** -exponent / velocity
            )

    return spectral_density


def as_density(spectrum: Any, name: str) -> Density:
    """A density for what a user gives: a function of f in Hz, a number, or (f, values)."""
    if callable(spectrum):
        return lambda f: np.broadcast_to(np.asarray(spectrum(f), dtype=float), np.shape(f))
    if isinstance(spectrum, int | float):
        return lambda f: np.full(np.shape(f), float(spectrum))
    try:
        x, y = (np.asarray(part, dtype=float) for part in spectrum)
        if x.shape != y.shape or x.ndim != 1 or np.any(np.diff(x) <= 0):
            raise ValueError
    except (TypeError, ValueError):
        raise ModelError(
            f"the spectrum of '{name}' must be a number, a function of f in Hz, or (f, "
            f"values) with increasing f"
        ) from None
    return lambda f: np.interp(f, x, y, left=0.0, right=0.0)


def random_signal(
    density: Density, lines: np.ndarray, period: float, samples: int, rng: np.random.Generator
) -> np.ndarray:
    """One period of a signal with the density at the given lines (multiples of 1/period), phases at
    random.

    Shinozuka & Deodatis (1991), Simulation of stochastic processes by spectral representation,
    Appl. Mech. Rev. 44, 191-204.
    """
    spectrum = np.zeros(samples // 2 + 1, complex)
    values = density(lines)
    if not np.all(np.isfinite(values)) or np.any(values < 0):
        raise ModelError("a spectrum must be finite and not negative at all frequencies asked for")
    amplitude = np.sqrt(2 * values / period)
    index = np.rint(lines * period).astype(int)
    spectrum[index] = amplitude * np.exp(1j * rng.uniform(0, 2 * np.pi, len(lines))) * samples / 2
    return np.fft.irfft(spectrum, samples)


def line_density(values: np.ndarray, index: np.ndarray, period: float) -> np.ndarray:
    """Density of one period of a periodic signal at lines given by number."""
    amplitude = 2 * np.abs(np.fft.rfft(values))[index] / len(values)
    return np.asarray(amplitude**2 / 2 * period)
