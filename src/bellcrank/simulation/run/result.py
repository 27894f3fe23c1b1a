"""Run: time histories with names and units, and the message that says how the run ended; read back
from files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bellcrank.core.argument_checks import PublicDir, validate_arguments
from bellcrank.core.errors import NoChannel, RunError, did_you_mean, optional_package
from bellcrank.core.files.atomic import write_text
from bellcrank.core.files.format_choice import read_record, write_record
from bellcrank.core.files.html import heading, html_table
from bellcrank.core.files.notebook_display import NotebookDisplay
from bellcrank.core.files.record import FileChannel, Record, report_io_errors
from bellcrank.core.name_lookup import find_name
from bellcrank.core.numeric.event_log import Event
from bellcrank.core.numeric.run_spec import Checkpoint
from bellcrank.simulation.run.status import RunStatus, parse_run_status

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ENDED = "The run: "  # before the message that says how a run ended, in files
STATUS = "Status: "  # before the words for that, unless it finished


@dataclass(frozen=True)
class ConstraintResiduals:
    """What is left of constraints in recorded steps, equation units: a column per row, of positions
    g, of speeds v."""

    time: np.ndarray
    g: np.ndarray
    v: np.ndarray
    positions: tuple[str, ...]
    speeds: tuple[str, ...]

    @property
    def position(self) -> np.ndarray:
        """The largest of each step."""
        return np.abs(self.g).max(axis=1, initial=0.0)

    @property
    def speed(self) -> np.ndarray:
        """The largest of each step."""
        return np.abs(self.v).max(axis=1, initial=0.0)

    @property
    def largest(self) -> tuple[float, float]:
        """Of all recorded steps: of positions, of speeds."""
        return float(self.position.max(initial=0.0)), float(self.speed.max(initial=0.0))


@dataclass
class Run(PublicDir, NotebookDisplay):
    """Result of a simulation: channels over time, in user units.

    Attributes
    ----------
    name : str
        Name of the model.
    time : ndarray
        Times of the samples in s.
    channels : dict
        Samples by channel. `run["height"]` finds them, too.
    units : dict
        Units by channel.
    labels : dict
        Descriptions by channel.
    ended : str
        How the run ended, with time and cause; `run.message` is the same.
    events : list
        Events that occurred, in order of time.
    settings : dict
        Method, step and other settings of the run.
    generic : dict
        Kinds of quantity by channel, such as "vertical acceleration".
    bodies : dict
        Names of the bodies to which channels belong.
    notes : list of str
        Remarks on the run, such as tables that were evaluated outside their range.
    status : RunStatus
        How the run ended. `run.message` describes it, `run.ok` is True if nothing went wrong.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("mass")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> sim = s.equations().compile(backend="python")
    >>> run = sim.simulate(1.0, step=0.5, initial={"u(mass)": 3})
    >>> run["q(mass)"].tolist(), run.units["q(mass)"], run.ok
    ([0.0, 1.5, 3.0], 'm', True)
    """

    internals = ("find_residuals", "_find_motion", "_from_channels", "_find_checkpoint", "record")

    name: str
    time: np.ndarray
    channels: dict[str, np.ndarray]
    units: dict[str, str]
    labels: dict[str, str]
    ended: str
    events: list[Event] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    generic: dict[str, str] = field(
        default_factory=dict
    )  # what kind of quantity a channel is, in words
    bodies: dict[str, str] = field(default_factory=dict)  # the body a channel belongs to
    notes: list[str] = field(
        default_factory=list
    )  # what was outside the ranges that the model knows, and the like
    status: RunStatus = RunStatus.UNKNOWN
    find_residuals: Callable[[], ConstraintResiduals] | None = field(
        default=None, repr=False, compare=False
    )
    _find_checkpoint: Callable[[], Checkpoint] | None = field(
        default=None, repr=False, compare=False
    )  # for a continued run
    _find_motion: Callable[[], Any] | None = field(
        default=None, repr=False, compare=False
    )  # where bodies were, for pictures

    @classmethod
    @validate_arguments
    def read(cls, path: str | Path) -> Self:
        """Read a run from a file.

        Parameters
        ----------
        path : str or Path
            The file. Its ending names the format: .csv, .erd, .json, .mat, .mf4, .nc, .parquet.

        Returns
        -------
        Run
            The run. Logs of other programs are read as well.

        Raises
        ------
        RunError
            If the file cannot be read.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import bellcrank as bc
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "data.csv"
        ...     written = path.write_text(chr(10).join(["t,x", "0,1", "1,2"]))
        ...     print(bc.Run.read(path)["x"].tolist())
        [1.0, 2.0]
        """
        record = read_record(path)
        end_messages = [h.removeprefix(ENDED) for h in record.history if h.startswith(ENDED)]
        channels = [replace(c, label=c.label or c.name) for c in record.channels]
        status_lines = [h.removeprefix(STATUS) for h in record.history if h.startswith(STATUS)]
        if not end_messages:
            return cls._from_channels(record.title, record.time, channels, "read from a file")
        status = parse_run_status(status_lines[0] if status_lines else end_messages[0])
        return cls._from_channels(
            record.title, record.time, channels, end_messages[0], status=status
        )

    @classmethod
    def _from_channels(
        cls,
        name: str,
        time: np.ndarray,
        channels: Sequence[FileChannel],
        ended: str,
        **options: Any,
    ) -> Self:
        """A run of channels as files hold them."""
        fields = ("values", "unit", "label", "generic_name", "body")
        values, units, labels, generic, bodies = (
            {c.name: getattr(c, x) for c in channels} for x in fields
        )
        return cls(
            name, time, values, units, labels, ended, generic=generic, bodies=bodies, **options
        )

    @property
    def message(self) -> str:
        """How the run ended in a message, with time and cause."""
        return self.ended

    @property
    def ok(self) -> bool:
        """Did it finish, or did an event stop it?"""
        return self.status.ok

    @cached_property
    def residuals(self) -> ConstraintResiduals:
        """How well position and loop constraints are kept in the recorded steps; empty where the
        model has none."""
        if self.find_residuals is None:
            nothing = np.empty((len(self.time), 0))
            return ConstraintResiduals(self.time, nothing, nothing, (), ())
        return self.find_residuals()

    def __getstate__(self) -> dict[str, Any]:
        """What is stored or sent elsewhere: residuals as numbers, since the program that finds them
        stays here.

        So does what else a run that continues takes over: one that was sent is like one from a
        file.
        """
        state = self.__dict__ | {"_find_checkpoint": None, "_find_motion": None}
        state.pop("motion", None)
        if self.find_residuals is not None:
            state |= {"residuals": self.residuals, "find_residuals": None}
        return state

    def __post_init__(self) -> None:
        """Nobody changes samples by way of an array that was handed out."""
        _make_read_only((self.time, *self.channels.values()))

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        _make_read_only((self.time, *self.channels.values()))

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("time", "channels") and name in self.__dict__:
            raise AttributeError(
                f"run.{name} cannot be replaced: copy the arrays that you want to change"
            )
        super().__setattr__(name, value)

    def __getitem__(self, channel: Any) -> np.ndarray:
        name = str(channel)
        if name == "t":
            return self.time
        if name not in self.channels:
            match = find_name(name, self.channels, "channel")
            if match is None:
                channel_names = ", ".join(self.channels)
                raise NoChannel(
                    f"no channel '{name}'.{did_you_mean(name, self.channels)} Channels: "
                    f"{channel_names}"
                )
            name = match
        return self.channels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.channels)

    def _ipython_key_completions_(self) -> list[str]:
        """The channels that a notebook offers after `run["`."""
        return ["t", *self.channels]

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return (
            f"Run({self.name!r}: {len(self.time)} samples of {len(self.channels)} channels; "
            f"{self.ended})"
        )

    def _html_parts(self) -> list[str]:
        s, n = self.settings, len(self.time)
        rows: list[tuple[str, str]] = [("ended", self.ended)]
        rows += [("method", f"{s['method']}, step {s['step']:g} s")] if s else []
        rows += [("rows", f"{n} from {self.time[0]:g} to {self.time[-1]:g} s" if n else "none")]
        rows += [("event", str(e)) for e in self.events[:20]] + [("note", x) for x in self.notes]
        return [heading(self.name), html_table(("", ""), rows)]

    def _notebook_figure(self) -> Any:
        return self.plot()

    def to_pandas(self) -> Any:
        """Return all channels as a DataFrame over time. Needs pandas.

        Returns
        -------
        pandas.DataFrame
            A column for each channel, in user units (`frame.attrs["units"]`), over the time in s.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("mass")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> sim = s.equations().compile(backend="python")
        >>> run = sim.simulate(1.0, step=0.5, initial={"u(mass)": 3})
        >>> run.to_pandas()["q(mass)"].tolist()
        [0.0, 1.5, 3.0]
        """
        pandas = optional_package("pandas", "files")
        frame = pandas.DataFrame(self.channels, index=pandas.Index(self.time, name="t"))
        frame.attrs["units"] = dict(self.units)
        return frame

    def to_xarray(self) -> Any:
        """Return all channels as a Dataset over time, with units and labels as attributes. Needs
        xarray.

        Returns
        -------
        xarray.Dataset
            A variable for each channel, in user units, over the time `t` in s.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("mass")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> sim = s.equations().compile(backend="python")
        >>> run = sim.simulate(1.0, step=0.5, initial={"u(mass)": 3})
        >>> run.to_xarray()["q(mass)"].attrs["units"]
        'm'
        """
        xarray = optional_package("xarray", "files")
        units, labels = self.units, self.labels
        attributes = {
            name: {"units": units.get(name, ""), "long_name": labels.get(name, name)}
            for name in self.channels
        }
        data = {name: ("t", values, attributes[name]) for name, values in self.channels.items()}
        return xarray.Dataset(
            data, coords={"t": ("t", self.time, {"units": "s"})}, attrs={"title": self.name}
        )

    def save(
        self, path: str | Path, *, binary: bool = False, classic: bool = False, labels: bool = False
    ) -> Path:
        """Write all channels to a file with full precision.

        Parameters
        ----------
        path : str or Path
            The file. Its ending chooses the format: .csv, .erd, .json, .mat, .mf4, .nc or .parquet.
        binary : bool, default False
            Of ERD files: 64-bit samples in a second file next to the header.
        classic : bool, default False
            Of ERD files: the layout of 1990 with 32-bit samples.
        labels : bool, default False
            Of CSV files: a third line with labels, below names and units. `Run.read` and `bellcrank
            plot` read them.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        RunError
            If the ending is unknown or the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import bellcrank as bc
        >>> s = bc.System("mass")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> sim = s.equations().compile(backend="python")
        >>> run = sim.simulate(1.0, step=0.5, initial={"u(mass)": 3})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(bc.Run.read(run.save(Path(folder) / "mass.csv"))["q(mass)"].tolist())
        [0.0, 1.5, 3.0]
        """
        if not isinstance(path, str | Path):
            raise RunError(f"cannot save to {path!r}: a path is needed")
        return write_record(path, self.record(), binary=binary, classic=classic, labels=labels)

    def record(self) -> Record:
        """The channels as files hold them."""
        texts = self.units, self.labels, self.generic, self.bodies
        channels = tuple(
            FileChannel(n, x, *(by_channel.get(n, "") for by_channel in texts))
            for n, x in self.channels.items()
        )
        history, s = [], self.settings
        if s:
            history = [f"Simulated with Bellcrank, {s['method']}, step {s['step']!r} s"]
        status = (
            []
            if self.status in (RunStatus.FINISHED, RunStatus.UNKNOWN)
            else [f"{STATUS}{self.status.value}"]
        )
        return Record(self.name, self.time, channels, (*history, f"{ENDED}{self.ended}", *status))

    def plot(
        self,
        *channels: str,
        against: str | None = None,
        others: Sequence[Run] = (),
        path: str | Path | None = None,
        **options: Any,
    ) -> Any:
        """Plot channels over time, with one panel for each unit.

        Parameters
        ----------
        *channels : str
            Names of channels. Default: at most six that vary: outputs; coordinates and energies if
            there are only energies; states if there are none.
        against : str, optional
            Channel on the horizontal axis. Default: time.
        others : sequence of Run, default ()
            Runs that are drawn over this one.
        path : str or Path, optional
            File of the plot: .png, .svg or .pdf, or .html for an interactive page. Default: none is
            written.
        **options : Any
            `title`, and `names`, the names of all runs for the legend.

        Returns
        -------
        matplotlib.figure.Figure or None
            The figure; None for a page.

        Raises
        ------
        RunError
            If a channel is unknown or the file cannot be written.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("mass")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> sim = s.equations().compile(backend="python")
        >>> run = sim.simulate(1.0, step=0.5, initial={"u(mass)": 3})
        >>> len(run.plot("q(mass)", "u(mass)", title="a mass").axes)
        2
        """
        from bellcrank.simulation.run.run_plots import plot_runs

        return plot_runs([self, *others], list(channels), against=against, path=path, **options)

    @cached_property
    def motion(self) -> Any:
        """Where all bodies were: `time`, `poses` (rows, bodies, 12) and the `scene` of pictures."""
        if self._find_motion is None:
            raise RunError(
                f"there is no picture of this run of {self.name}: it comes from a file or "
                f"from another process; "
                "pictures are made of runs of `simulate`"
            )
        return self._find_motion()

    def picture(
        self, path: str | Path | None = None, *, at: Any = None, title: str | None = None
    ) -> Figure:
        """Draw the mechanism at several times, next to each other.

        Parameters
        ----------
        path : str or Path, optional
            File of the picture: .png, .svg, .pdf or .jpg. Default: none is written.
        at : float or sequence of float, optional
            Times in s, at most twelve. Default: six over the run.
        title : str, optional
            Title. Default: the name of the model.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Raises
        ------
        RunError
            If the run comes from a file, or if a time is outside the run.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("pendulum")
        >>> rod = s.add_body("rod", rotate="y", mass=1, inertia=(0.1, 0.1, 0.1), cm=(0, 0, -0.5))
        >>> sim = s.equations().compile(backend="python")
        >>> run = sim.simulate(1.0, step=0.5, initial={"u(rod)": 3})
        >>> [axes.get_title() for axes in run.picture(at=[0, 1]).axes]
        ['t = 0 s', 't = 1 s']
        """
        from bellcrank.scene.picture import draw_scene, nearest_frames

        m = self.motion
        return draw_scene(m.scene, m.poses, m.time, path, title, nearest_frames(m.time, at))

    def animate(
        self,
        path: str | Path,
        *,
        fps: float = 25,
        speed: float | None = None,
        title: str | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Path:
        """Write an animation of the mechanism, or a page that plays the run with plots.

        Parameters
        ----------
        path : str or Path
            The file: .gif, .mp4 (needs ffmpeg) or .html.
        fps : float, default 25
            Frames per second of an animation.
        speed : float, optional
            Seconds of the run per second of the animation. Default: 1, real time; an animation that
            would last less than 2 s or more than 20 s takes 6 s.
        title : str, optional
            Title. Default: the name of the model.
        progress : callable, optional
            Called with the fraction done, from 0 to 1.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        RunError
            If the run comes from a file, or if the animation cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import bellcrank as bc
        >>> s = bc.System("pendulum")
        >>> rod = s.add_body("rod", rotate="y", mass=1, inertia=(0.1, 0.1, 0.1), cm=(0, 0, -0.5))
        >>> sim = s.equations().compile(backend="python")
        >>> run = sim.simulate(1.0, step=0.5, initial={"u(rod)": 3})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(run.animate(Path(folder) / "pendulum.html").name)
        pendulum.html
        """
        from bellcrank.scene.animate import animate_scene

        m = self.motion
        if Path(path).suffix.lower() == ".html":
            from bellcrank.scene.recorded import recorded_page
            from bellcrank.simulation.run.plot_selection import (
                channels_by_unit,
                default_channels,
                duration,
                minimum_axis_ranges,
                order_channels,
            )

            channel_info = {
                n: {"label": self.labels.get(n, n), "unit": self.units.get(n, "")}
                for n in self.channels
            }
            names = order_channels(self)
            listed = [({"name": n, **channel_info[n]}, self.channels[n]) for n in names]
            channel_groups = channels_by_unit(
                (n, channel_info[n]["unit"]) for n in default_channels(self)
            )
            plots = [[names.index(n) for n in panel] for panel in channel_groups]
            units = [channel_info[n]["unit"] for n in names]
            min_ranges = minimum_axis_ranges(
                [self.channels[n] for n in names], units, duration(self)
            )
            text = recorded_page(m.scene, m.poses, m.time, listed, plots, min_ranges, title)
            report_io_errors("write", Path(path), lambda: write_text(path, text))
            return Path(path)
        return animate_scene(m.scene, m.poses, m.time, path, fps, speed, title, progress)


def _make_read_only(arrays: Iterable[np.ndarray]) -> None:
    for values in arrays:
        if isinstance(values, np.ndarray):
            values.flags.writeable = False
