"""Frequency responses and power spectral densities, with their plots and files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.plots import draw_response, draw_spectra
from bellcrank.analysis.tables import Cells, SavableTable, motion_line, write_csv
from bellcrank.core.errors import ModelError
from bellcrank.core.files.notebook_display import NotebookDisplay
from bellcrank.core.numeric.real_numbers import to_float_array


@dataclass(frozen=True)
class Response(SavableTable):
    """Complex response of an output to a sine of an input over frequency, in user units.

    Attributes
    ----------
    name : str
        Name of the model.
    input, output : str
        Names of both.
    unit : str
        Unit of the output per unit of the input.
    f : ndarray
        Frequencies in Hz.
    values : ndarray
        Complex values. `magnitude`, `decibels` and `phase` (deg, without jumps) follow from them.
    notes : tuple of str
        Remarks.
    motion, stability : str
        Description and stability of the operating point.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("oscillator")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> push = s.add_input("push", units="N", default=0)
    >>> spring = s.add_force(
    ...     "spring", magnitude="-50*x - 4*v + push", direction=s.inertial.x, at=mass.origin
    ... )
    >>> sim = s.equations().compile(backend="python")
    >>> response = sim.frequency_response("push", "q(mass)", [0, 0.5])
    >>> response.magnitude.round(4).tolist(), response.unit
    ([0.02, 0.0305], 'm/N')
    """

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

    @property
    def _title(self) -> str:
        return f"{self.name}: {self.output} per {self.input}"

    def _lines_before_table(self) -> list[str]:
        return [
            *motion_line(self.motion),
            *([f"stability: {self.stability}"] if self.stability else []),
        ]

    def _table_cells(self) -> Cells:
        indices = (
            range(len(self.f))
            if len(self.f) <= 24
            else np.linspace(0, len(self.f) - 1, 24).astype(int)
        )
        rows = [
            [f"{self.f[i]:.4g}", f"{self.magnitude[i]:.6g}", f"{self.phase[i]:.4g}"]
            for i in indices
        ]
        return ["f (Hz)", f"magnitude ({self.unit})", "phase (deg)"], rows, ">>>"

    def _table(self) -> tuple[list[str], list[list[float]]]:
        head = [
            "f (Hz)",
            f"real ({self.unit})",
            f"imaginary ({self.unit})",
            f"magnitude ({self.unit})",
            "phase (deg)",
        ]
        columns = (self.f, self.values.real, self.values.imag, self.magnitude, self.phase)
        return head, np.column_stack(columns).tolist()

    def _draw(self, path: str | Path | None) -> Any:
        ratio = f"{self.output} per {self.input}", self.unit
        return draw_response(self.name, ratio, self.f, self.magnitude, self.phase, path)


def check_frequencies(f: Any) -> np.ndarray:
    """Frequencies in Hz as an array."""
    array = to_float_array(f)
    values = np.array([]) if array is None else np.atleast_1d(array)
    if values.ndim != 1 or not values.size or not np.all(np.isfinite(values)) or np.any(values < 0):
        raise ModelError("f must be frequencies in Hz: finite numbers that are not negative")
    return values


@dataclass(frozen=True)
class Spectrum(NotebookDisplay):
    """One-sided power spectral density of a channel over frequency.

    Attributes
    ----------
    name : str
        Name of the model.
    channel, unit : str
        The channel and its unit.
    f : ndarray
        Frequencies in Hz.
    values : ndarray
        Density in (unit of the channel)^2/Hz. `rms` is the root mean square over these frequencies.
    source : str
        "linear model" or "simulation".
    notes : tuple of str
        Remarks.
    motion : str
        Description of the operating point.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("oscillator")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> push = s.add_input("push", units="N", default=0)
    >>> spring = s.add_force(
    ...     "spring", magnitude="-50*x - 4*v + push", direction=s.inertial.x, at=mass.origin
    ... )
    >>> sim = s.equations().compile(backend="python")
    >>> spectrum = sim.power_spectrum("q(mass)", {"push": 25}, [0.001, 0.5])
    >>> spectrum.source, round(spectrum.rms, 4)
    ('linear model', 0.0911)
    """

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
        return "\n".join([head, *(f"  {line}" for line in motion_line(self.motion))])

    def save(self, path: str | Path) -> Path:
        """Write a CSV file: frequency and density.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Path
            The file.
        """
        head = ["f (Hz)", f"{self.channel} (({self.unit})^2/Hz)"]
        return write_csv(path, head, zip(self.f.tolist(), self.values.tolist(), strict=True))

    def _notebook_figure(self) -> Any:
        return self.plot()

    def plot(self, path: str | Path | None = None, *others: Spectrum) -> Any:
        """Draw the density over frequency.

        Parameters
        ----------
        path : str or Path, optional
            File of the picture. Default: none is written.
        others : Spectrum
            Spectra that are drawn with it.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        lines = [
            (f"{s.channel}, {s.source}, rms {s.rms:.4g} {s.unit}", s.f, s.values)
            for s in (self, *others)
        ]
        return draw_spectra(self.name, self.unit, lines, path)
