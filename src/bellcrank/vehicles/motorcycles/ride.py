"""A ride along a path: the run, its metrics, and whether the motorcycle fell."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.plots import draw_panels
from bellcrank.core.files.html import heading
from bellcrank.core.files.notebook_display import PlotDisplay
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars.metrics.handling_metrics import Figures, VehicleMetric
from bellcrank.vehicles.motorcycles.motorcycle_model import FALLEN

PANELS = (
    ("y", "y (m)"),
    ("roll", "roll (deg)"),
    ("steer", "steer (deg)"),
    ("steering_torque", "steering torque (N m)"),
)


@dataclass(frozen=True, eq=False)
class Ride(PlotDisplay):
    """A ride of a motorcycle along a path; `plot` draws y, roll, steering angle and torque over
    time.

    Attributes
    ----------
    name : str
        Name of the motorcycle.
    run : Run
        All channels over time.
    metrics : Figures
        Largest roll angle, roll rate, steering torque, distance from the path and lateral
        acceleration, smallest load.
    fell : bool
        Whether the motorcycle fell, so that the run ended early.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("upright")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> roll = s.add_output("roll", "0", units="deg")
    >>> run = s.equations().compile(backend="python").simulate(t_end=0.1, step=0.01)
    >>> bc.vehicles.Ride("upright", run).fell
    False
    """

    name: str
    run: Run

    @property
    def fell(self) -> bool:
        """Did the motorcycle fall, so that the run ended early?"""
        return abs(float(self.run["roll"][-1])) > 0.99 * float(np.degrees(FALLEN))

    @property
    def metrics(self) -> Figures:
        """Largest values."""
        run = self.run

        def largest_magnitude(channel: str) -> float:
            return float(np.abs(run[channel]).max())

        rate = np.abs(np.gradient(run["roll"], run.time)).max()
        load = min(float(run[f"{end}.tyre.fz"].min()) for end in ("front", "rear"))
        return Figures(
            {
                "roll": VehicleMetric(largest_magnitude("roll"), "deg", "largest roll angle"),
                "roll_rate": VehicleMetric(float(rate), "deg/s", "largest rate of the roll angle"),
                "steering_torque": VehicleMetric(
                    largest_magnitude("steering_torque"), "N-m", "largest steering torque"
                ),
                "path_error": VehicleMetric(
                    largest_magnitude("path_error"), "m", "largest distance from the path"
                ),
                "ay": VehicleMetric(
                    largest_magnitude("ay"), "m/s2", "largest lateral acceleration"
                ),
                "load": VehicleMetric(load, "N", "smallest load of a wheel"),
            }
        )

    def __str__(self) -> str:
        outcome = "fell" if self.fell else "did not fall"
        return f"{self.name}: {outcome} in {self.run.time[-1]:.4g} s\n{self.metrics!r}"

    def _html_parts(self) -> list[str]:
        return [
            heading(f"{self.name}: a ride, {'fell' if self.fell else 'did not fall'}"),
            *self.metrics._html_parts(),
        ]

    def _draw(self, path: str | Path | None) -> Any:
        panels = [(label, {channel: np.asarray(self.run[channel])}) for channel, label in PANELS]
        return draw_panels(
            f"{self.name}: ride", "time (s)", np.asarray(self.run.time), panels, path
        )
