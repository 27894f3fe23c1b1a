"""Many: what is kept of many runs, with names and units."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.choices import CurveStyle
from bellcrank.core.errors import RunError, did_you_mean, optional_package, pluralize
from bellcrank.core.files.format_choice import write_table
from bellcrank.core.files.html import heading, html_table, paragraph
from bellcrank.core.files.notebook_display import NotebookDisplay
from bellcrank.core.files.record import Table, TableColumn
from bellcrank.core.metrics.metric_kinds import parse_metric_kind
from bellcrank.core.name_lookup import find_name
from bellcrank.simulation.run.result import Run

SHOWN = 20  # runs in the table of a notebook


@dataclass
class Many(NotebookDisplay):
    """Results of many runs, as `Simulation.simulate_many` returns them.

    A run that stopped early has nan for the samples that it lacks; its metrics are those of the
    samples that it has.

    Attributes
    ----------
    name : str
        Name of the model.
    time : ndarray
        Times of the samples in s.
    channels : dict
        Arrays of runs by times, by channel in user units. `many["az"]` finds them, too.
    metrics : dict
        Arrays over runs by channel and metric: `many.metrics["az"]["rms"]`. `many.metric_values["az
        rms"]` and
        `many.metric_units["az rms"]` have one name for both.
    values : dict
        Arrays over runs of the parameters, initial values and inputs that vary.
    ended : list of str
        How each run ended.
    units, labels : dict
        Units and descriptions by channel.
    settings : dict
        Method, step, backend and other settings.
    notes : list of str
        Remarks on the runs.
    find_run : callable
        What `many.run(number)` calls to repeat one run with all channels.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("mass")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> sim = s.equations().compile()
    >>> many = sim.simulate_many(initial={"u(mass)": [1, 2]}, t_end=1, step=0.5, channels="q(mass)")
    >>> many["q(mass)"].tolist()
    [[0.0, 0.5, 1.0], [0.0, 1.0, 2.0]]
    """

    name: str
    time: np.ndarray
    channels: dict[str, np.ndarray]
    metrics: dict[str, dict[str, np.ndarray]]
    values: dict[str, np.ndarray]
    ended: list[str]
    units: dict[str, str]
    labels: dict[str, str]
    settings: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    find_run: Callable[[int], Run] | None = field(default=None, repr=False, compare=False)

    def __getitem__(self, channel: Any) -> np.ndarray:
        match = find_name(channel, self.channels, "channel")
        if match is None:
            names = ", ".join(self.channels) or "none: give channels="
            raise RunError(
                f"no history of '{channel}' is "
                f"kept.{did_you_mean(str(channel), self.channels)} Channels: {names}"
            )
        return self.channels[match]

    def __iter__(self) -> Iterator[str]:
        return iter(self.channels)

    def _ipython_key_completions_(self) -> list[str]:
        return [*self.channels]

    def __len__(self) -> int:
        return len(self.ended)

    def __repr__(self) -> str:
        contents = (
            f"{pluralize(len(self.channels), 'channel')} of {pluralize(len(self.time), 'row')}"
        )
        contents += f", {pluralize(len(self.metric_values), 'metric')}"
        early = len(self) - self.ended.count("finished")
        return (
            f"Many({self.name!r}: {pluralize(len(self), 'run')}; "
            f"{contents}{f'; {early} ended early' if early else ''})"
        )

    def run(self, number: int) -> Run:
        """Repeat one of the runs by `simulate`, with all channels and messages.

        Parameters
        ----------
        number : int
            Number of the run, from 0.

        Returns
        -------
        Run
            The run.

        Raises
        ------
        RunError
            If there is no such run.
        """
        if self.find_run is None or number not in range(-len(self), len(self)):
            raise RunError(f"there is no run {number}: they count from 0 to {len(self) - 1}")
        return self.find_run(number % len(self))

    @property
    def metric_values(self) -> dict[str, np.ndarray]:
        """Metrics by channel and kind as one name: "az rms"."""
        return {
            f"{name} {word}": x
            for name, by_kind in self.metrics.items()
            for word, x in by_kind.items()
        }

    @property
    def metric_units(self) -> dict[str, str]:
        """Their units, by the same names."""
        listed = [(name, word) for name, by_kind in self.metrics.items() for word in by_kind]
        return {
            f"{n} {w}": parse_metric_kind(w, w)[0].unit(self.units.get(n, "")) for n, w in listed
        }

    def table(self) -> Table:
        """Arrange what varies, the metrics and how each run ended.

        Returns
        -------
        Table
            A row for each run.
        """
        units = {**self.units, **self.metric_units}
        columns = [TableColumn("run", list(range(len(self))))]
        for name, x in {**self.values, **self.metric_values}.items():
            columns.append(
                TableColumn(name, x.tolist(), units.get(name, ""), self.labels.get(name, name))
            )
        return Table(self.name, (*columns, TableColumn("ended", self.ended)))

    def _html_parts(self) -> list[str]:
        columns = [c for c in self.table().columns if c.name != "run"]
        rows = [[i, *(c.values[i] for c in columns)] for i in range(min(len(self), SHOWN))]
        remark = [f"and {len(self) - SHOWN} more runs"] if len(self) > SHOWN else []
        heads = ["run", *(f"{c.name} ({c.unit})" if c.unit else c.name for c in columns)]
        return [
            heading(repr(self)),
            html_table(heads, rows, right=range(len(columns))),
            *map(paragraph, remark),
        ]

    def _notebook_figure(self) -> Any:
        return self.plot() if self.channels else None

    def save(self, path: str | Path) -> Path:
        """Write the table of all runs.

        Parameters
        ----------
        path : str or Path
            The file: .csv, .parquet or .json.

        Returns
        -------
        Path
            The file.
        """
        return write_table(path, self.table())

    def to_pandas(self) -> Any:
        """Convert the table of all runs to pandas.

        Returns
        -------
        pandas.DataFrame
            A row for each run: what varies, its metrics, how it ended.

        Raises
        ------
        RunError
            If pandas is not installed.
        """
        pandas = optional_package("pandas", "files")
        table = self.table()
        frame = pandas.DataFrame({c.name: c.values for c in table.columns}).set_index("run")
        frame.attrs["units"] = {c.name: c.unit for c in table.columns if c.unit}
        return frame

    def to_xarray(self) -> Any:
        """Convert histories and metrics to xarray.

        Returns
        -------
        xarray.Dataset
            Variables over runs and times; what varies are coordinates of the runs.

        Raises
        ------
        RunError
            If xarray is not installed.
        """
        xarray = optional_package("xarray", "files")
        units, labels = self.units, self.labels

        def words(name: str) -> dict[str, str]:
            return {"units": units.get(name, ""), "long_name": labels.get(name, name)}

        data: dict[str, Any] = {
            name: (("run", "t"), x, words(name)) for name, x in self.channels.items()
        }
        for name, x in self.metric_values.items():
            data[name] = ("run", x, {"units": self.metric_units[name]})
        data["ended"] = ("run", np.array(self.ended, dtype=object))
        coordinates: dict[str, Any] = {
            "run": np.arange(len(self)),
            "t": ("t", self.time, {"units": "s"}),
        }
        used_names = {*data, *coordinates}
        for name, x in self.values.items():
            coordinates[name if name not in used_names else f"{name} given"] = (
                "run",
                x,
                words(name),
            )
        return xarray.Dataset(data, coords=coordinates, attrs={"title": self.name})

    def plot(
        self,
        *channels: str,
        path: str | Path | None = None,
        style: CurveStyle = "bands",
        title: str | None = None,
    ) -> Any:
        """Draw channels over time.

        Parameters
        ----------
        channels : str
            Names. Default: all that are kept.
        path : str or Path, optional
            File of the picture. Default: none is written.
        style : {"bands", "runs"}, default "bands"
            Bands of percentiles, or every run.
        title : str, optional
            Title. Default: the name of the model.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from bellcrank.simulation.many.batch_plots import plot_batch

        return plot_batch(self, list(channels), path, style, title)
