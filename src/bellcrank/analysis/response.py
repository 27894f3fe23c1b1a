"""Frequency responses and power spectral densities, with their plots and files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.draw import draw_response, draw_spectra
from bellcrank.analysis.tables import motion_line, table, write_csv
from bellcrank.errors import ModelError
from bellcrank.files.notebook import Shown
from bellcrank.numeric.real import reals


@dataclass(frozen=True)
class Response(Shown):
    """Complex response of an output to a sine of an input over frequency f (Hz), in user units."""

    name: str
    input: str
    output: str
    unit: str
    f: np.ndarray
    values: np.ndarray
    notes: tuple[str, ...] = ()
    motion: str = ""  # at which motion, in words
    stability: str = ""  # of that motion

    @property
    def magnitude(self) -> np.ndarray:
        return np.abs(self.values)

    @property
    def phase(self) -> np.ndarray:
        """Degrees, without jumps."""
        return np.degrees(np.unwrap(np.angle(self.values)))

    @property
    def decibels(self) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.asarray(20 * np.log10(self.magnitude))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.f)

    def __str__(self) -> str:
        shown = range(len(self.f)) if len(self.f) <= 24 else np.linspace(0, len(self.f) - 1, 24).astype(int)
        rows = [[f"{self.f[i]:.4g}", f"{self.magnitude[i]:.6g}", f"{self.phase[i]:.4g}"] for i in shown]
        head = ["f (Hz)", f"magnitude ({self.unit})", "phase (deg)"]
        return "\n".join(
            [
                f"{self.name}: {self.output} per {self.input}",
                *motion_line(self.motion),
                *([f"  stability: {self.stability}"] if self.stability else []),
                table(head, rows, ">>>"),
            ]
        )

    def save(self, path: str | Path) -> Path:
        """Writes a CSV file: frequency, real and imaginary part, magnitude, phase."""
        head = ["f (Hz)", f"real ({self.unit})", f"imaginary ({self.unit})", f"magnitude ({self.unit})", "phase (deg)"]
        columns = (self.f, self.values.real, self.values.imag, self.magnitude, self.phase)
        return write_csv(path, head, zip(*(c.tolist() for c in columns), strict=True))

    def _drawn(self) -> Any:
        return self.plot()

    def plot(self, path: str | Path | None = None) -> Any:
        """Magnitude and phase over frequency; saves a picture when a path is given."""
        ratio = f"{self.output} per {self.input}", self.unit
        return draw_response(self.name, ratio, self.f, self.magnitude, self.phase, path)


def check_frequencies(f: Any) -> np.ndarray:
    """Frequencies in Hz as an array."""
    given = reals(f)
    values = np.array([]) if given is None else np.atleast_1d(given)
    if values.ndim != 1 or not values.size or not np.all(np.isfinite(values)) or np.any(values < 0):
        raise ModelError("f must be frequencies in Hz: finite numbers that are not negative")
    return values


@dataclass(frozen=True)
class Spectrum(Shown):
    """One-sided power spectral density of a channel over frequency f (Hz), unit squared per Hz."""

    name: str
    channel: str
    unit: str
    f: np.ndarray
    values: np.ndarray
    source: str  # "linear model" or "simulation"
    notes: tuple[str, ...] = ()
    motion: str = ""  # about which motion, in words

    @property
    def rms(self) -> float:
        """Root mean square over the frequencies given."""
        return float(np.sqrt(np.trapezoid(self.values, self.f)))

    def __len__(self) -> int:
        return len(self.f)

    def __str__(self) -> str:
        band = f"from {self.f[0]:g} to {self.f[-1]:g} Hz"
        head = f"{self.name}: {self.channel}, {self.source}, rms {self.rms:.6g} {self.unit} {band}"
        return "\n".join([head, *motion_line(self.motion)])

    def save(self, path: str | Path) -> Path:
        """Writes a CSV file: frequency and density."""
        head = ["f (Hz)", f"{self.channel} (({self.unit})^2/Hz)"]
        return write_csv(path, head, zip(self.f.tolist(), self.values.tolist(), strict=True))

    def _drawn(self) -> Any:
        return self.plot()

    def plot(self, path: str | Path | None = None, *others: Spectrum) -> Any:
        """The density over frequency, others over it; saves a picture when a path is given."""
        lines = [(f"{s.channel}, {s.source}, rms {s.rms:.4g} {s.unit}", s.f, s.values) for s in (self, *others)]
        return draw_spectra(self.name, self.unit, lines, path)
