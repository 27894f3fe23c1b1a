"""Motorcycle: what a user types, or writes to a file, to describe a motorcycle; and those that come
with Bellcrank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.core.argument_checks import validate_arguments
from bellcrank.core.errors import ModelError, RunError, did_you_mean
from bellcrank.core.files.shipped_files import ShippedCollection
from bellcrank.core.files.text_files import read_text
from bellcrank.core.numeric.real_numbers import display_text
from bellcrank.vehicles.arguments import (
    require_finite_argument,
    require_finite_list,
    require_positive_argument,
)
from bellcrank.vehicles.cars.design.trailer_data import changed_sections
from bellcrank.vehicles.cars.metrics.handling_metrics import Figures
from bellcrank.vehicles.cars.metrics.plausibility import unusual_keys, unusual_metrics
from bellcrank.vehicles.driver_path import lane_change
from bellcrank.vehicles.labels import write_plain_labels
from bellcrank.vehicles.likely_slips import as_sentence
from bellcrank.vehicles.motorcycles.motorcycle_data import MotorcycleData, make_motorcycle
from bellcrank.vehicles.motorcycles.motorcycle_metrics import motorcycle_metrics
from bellcrank.vehicles.motorcycles.motorcycle_model import (
    Ground,
    MotorcycleSystem,
    build_motorcycle_system,
    motorcycle_initial_state,
)
from bellcrank.vehicles.motorcycles.motorcycle_modes import NAMES, SpeedModes, named_modes
from bellcrank.vehicles.motorcycles.ride import Ride
from bellcrank.vehicles.motorcycles.rider import Rider, check_path, design_rider
from bellcrank.vehicles.motorcycles.steady_cornering import (
    Cornering,
    steady_turn_state,
    straight_running_state,
)

if TYPE_CHECKING:
    from bellcrank.analysis.equilibrium import Equilibrium
    from bellcrank.analysis.modes import Modes
    from bellcrank.api.simulation import Simulation
    from bellcrank.vehicles.driver_path import Path as Line

MOTORCYCLES = ShippedCollection(
    "motorcycle", "bellcrank.vehicles.motorcycles", other_kind=("body", "a car (Car.read)")
)
ENDS = {"front": "the front {}", "rear": "the rear {}"}
SPEEDS = tuple(float(v) for v in range(2, 61, 2))  # m/s
BEFORE = 20.0  # m, before a lane change
AFTER = 4.0  # s, after it


class Motorcycle:
    """A motorcycle or bicycle as data: the sections of a [motorcycle file](motorcycles.md), which
    `read` reads.

    Parameters
    ----------
    folder : str or Path, default "."
        Folder in which paths of tyres start.
    sections : mapping
        Sections of the file by name, each a mapping of keys.

    Raises
    ------
    ModelError
        If the data has mistakes: all of them are listed.

    Examples
    --------
    >>> import bellcrank as bc
    >>> motorcycle = bc.vehicles.Motorcycle.read("sport")
    >>> motorcycle.name, round(motorcycle.metrics["mass"])
    ('sports motorcycle', 293)
    >>> steep = motorcycle.changed(front={"rake": "22 deg"})
    >>> steep.metrics["offset"] < motorcycle.metrics["offset"]
    True
    """

    def __init__(self, *, folder: str | Path = ".", **sections: Any) -> None:
        self.folder, self.given = Path(folder), dict(sections)
        self.data: MotorcycleData = make_motorcycle(self.given, self.folder)

    @classmethod
    @validate_arguments
    def read(cls, path: str | Path) -> Motorcycle:
        """Read a motorcycle from a file.

        Parameters
        ----------
        path : str or Path
            A motorcycle file (.toml), or the name of one that comes with Bellcrank:
            `bc.vehicles.motorcycle_names()` lists them.

        Returns
        -------
        Motorcycle
            The motorcycle; `motorcycle.system()` makes its model.

        Raises
        ------
        ModelError
            If there is no such file or motorcycle, or if it has mistakes: all of them are listed.

        Examples
        --------
        >>> import bellcrank as bc
        >>> bc.vehicles.Motorcycle.read("bicycle").name
        'benchmark bicycle'
        """
        sections, file = MOTORCYCLES.read(path)
        return cls(folder=file.parent, **sections)

    @property
    def name(self) -> str:
        return self.data.sections.name

    def __repr__(self) -> str:
        return (
            f"Motorcycle({self.name!r}, {self.data.mass:.4g} kg, wheelbase "
            f"{self.data.wheelbase:.4g} m)"
        )

    def changed(self, **sections: Any) -> Motorcycle:
        """Change values of the motorcycle.

        Parameters
        ----------
        sections : mapping
            Sections with the keys to change: ``front={"rake": "25 deg"}``. None removes a key.
            A `file` is looked up in the working folder first, then in the folder of the motorcycle
            file.

        Returns
        -------
        Motorcycle
            Another motorcycle.

        Raises
        ------
        ModelError
            If a key or value is not allowed.
        """
        return type(self)(folder=self.folder, **changed_sections(self.given, sections))

    @cached_property
    def metrics(self) -> Figures:
        """What follows by hand formulas: loads, trails, wheel rates, squat ratio."""
        return motorcycle_metrics(self.data)

    def check(self) -> list[str]:
        """List what is unusual in the data and in `metrics`.

        Returns
        -------
        list of str
            Messages.
        """
        messages = [*unusual_keys(self.data.sections, ""), *unusual_metrics(self.metrics)]
        for end, tyre in (("front", self.data.front_tyre), ("rear", self.data.rear_tyre)):
            messages += [as_sentence(f"{end}.tyre: {note}") for note in tyre.notes]
        return messages

    def system(
        self, *, speed: float = 20.0, terrain: Ground | None = None, rider: Rider | None = None
    ) -> MotorcycleSystem:
        """Make the model of the motorcycle, which rolls ahead upright. A run ends if it falls.

        Parameters
        ----------
        speed : float, default 20.0
            Initial speed in m/s.
        terrain : Terrain or Surface, optional
            The ground. Default: flat.
        rider : Rider, optional
            Who steers and keeps the speed. Default: nobody; steer_torque, drive and brake are
            inputs.

        Returns
        -------
        MotorcycleSystem
            The model, a `System`.
        """
        require_finite_argument("system", "m/s", speed=speed)
        if not isinstance(rider, Rider | None):
            raise ModelError(
                f"system: rider={display_text(rider)} must be what Motorcycle.rider returns",
                self.name,
            )
        s = build_motorcycle_system(self.data, speed, terrain, rider)
        write_plain_labels(s, ENDS)
        return s

    @cached_property
    def _riderless_simulation(self) -> Simulation:
        """The model without rider, for analyses: they need no compiler."""
        return self.system().equations().compile(backend="python")

    def _straight(self, speed: float) -> Equilibrium:
        require_positive_argument(self.name, "m/s", speed=speed)
        return straight_running_state(
            self._riderless_simulation, motorcycle_initial_state(self.data, speed), speed
        )

    def modes(self, speeds: Sequence[float] | None = None) -> SpeedModes:
        """Compute the modes of straight running over speed: weave, wobble and capsize.

        Parameters
        ----------
        speeds : sequence of float, optional
            Speeds in m/s. Default: 2 to 60 m/s.

        Returns
        -------
        SpeedModes
            All modes, and those with names as table and plot. A speed at which no steady motion was
            found is omitted and named in `problems`.

        Raises
        ------
        ModelError
            If a speed is not positive.
        NoEquilibrium
            If the motorcycle has no steady motion at any of the speeds.
        """
        speed_values = (
            list(SPEEDS)
            if speeds is None
            else require_finite_list("modes", "speeds", "m/s", speeds)
        )
        modes_by_speed: dict[float, Modes] = {}
        errors: list[RunError] = []
        for v in speed_values:
            try:
                modes_by_speed[v] = self._riderless_simulation.modes(at=self._straight(v))
            except RunError as error:
                errors.append(error)
        if not modes_by_speed:
            raise errors[0]
        eigenvalues = [named_modes(modes) for modes in modes_by_speed.values()]
        curves = {name: np.array([k[name] for k in eigenvalues]) for name in NAMES}
        messages = [
            f"no steady motion was found at {v:g} m/s"
            for v in speed_values
            if v not in modes_by_speed
        ]
        return SpeedModes(
            self.name,
            np.array([*modes_by_speed]),
            tuple(modes_by_speed.values()),
            curves,
            tuple(messages),
        )

    def corner(self, speed: float, lateral_acceleration: Sequence[float]) -> Cornering:
        """Find steady turns at a speed.

        Parameters
        ----------
        speed : float
            Speed in m/s.
        lateral_acceleration : sequence of float
            Lateral accelerations in m/s2, positive to the left: speed times yaw rate.

        Returns
        -------
        Cornering
            Roll angle, steering angle, torques and all other channels of each turn. Turns that were
            not found, for instance as the tyres do not hold them, are omitted and named in
            `problems`.

        Raises
        ------
        RunError
            If none of the turns was found.
        """
        accelerations = require_finite_list(
            "corner", "lateral_acceleration", "m/s2", lateral_acceleration
        )
        state = self._straight(speed)
        equilibria: dict[float, Equilibrium] = {}
        errors: dict[float, RunError] = {}
        for ay in accelerations:
            if any(ay * failed_ay > 0 and abs(ay) >= abs(failed_ay) for failed_ay in errors):
                continue  # the way there leads past a turn that was not found
            try:
                equilibria[ay] = state = steady_turn_state(
                    self._riderless_simulation, state, speed, ay
                )
            except RunError as error:
                errors[ay] = error
        if not equilibria:
            raise next(iter(errors.values()))
        missing = ", ".join(f"{ay:g}" for ay in accelerations if ay not in equilibria)
        problems = [f"no turn at {missing} m/s2", *map(str, errors.values())] if errors else []
        return Cornering(
            self.name, speed, tuple(equilibria), tuple(equilibria.values()), tuple(problems)
        )

    def rider(
        self, path: Line, *, speed: float = 20.0, horizon: float = 4.0, **options: Any
    ) -> Rider:
        """Make a rider who stabilizes the motorcycle, follows a path and keeps the speed.

        Parameters
        ----------
        path : Path
            The path, such as `bc.vehicles.manoeuvres.lane_change` gives.
        speed : float, default 20.0
            Speed in m/s.
        horizon : float, default 4.0
            How far the rider looks ahead, in s.
        options : optional
            `most`, `k_speed` and `i_speed` of `Rider`.

        Returns
        -------
        Rider
            The rider, for `system(rider=)`.

        Raises
        ------
        RunError
            If no rider stabilizes the motorcycle at that speed.
        """
        check_path(path)
        require_positive_argument("rider", "s", horizon=horizon)
        option_names = [f.name for f in fields(Rider) if f.default is not MISSING]
        for name, value in options.items():
            if name not in option_names:
                suggestion = did_you_mean(name, ["horizon", *option_names])
                raise ModelError(
                    f"rider: '{name}' is not known.{suggestion} Options: horizon, "
                    f"{', '.join(option_names)}."
                )
            require_positive_argument("rider", "SI units", **{name: value})
        steady = self._straight(speed)
        linear = self._riderless_simulation.linearize(at=steady, wrt="steer_torque", outputs=())
        return design_rider(
            linear.essential().in_equation_units(), self.data, path, speed, horizon, **options
        )

    def ride(
        self, path: Line, *, speed: float = 20.0, t_end: float | None = None, **options: Any
    ) -> Ride:
        """Ride along a path at constant speed. The run ends if the motorcycle falls.

        Parameters
        ----------
        path : Path
            The path of the rear contact; the ride begins at x = y = 0, along x.
        speed : float, default 20.0
            Speed in m/s.
        t_end : float, optional
            Duration in s. Default: to the end of the path.
        options : optional
            As of `rider`.

        Returns
        -------
        Ride
            Run and metrics.
        """
        if t_end is not None:
            require_positive_argument("ride", "s", t_end=t_end)
        rider = self.rider(path, speed=speed, **options)
        s = self.system(speed=speed, rider=rider)
        steady = self._straight(speed)
        start = dict(steady.initial) | rider.initial_state(self.data)
        start["follow.sum"] = steady["drive"] / (
            self.data.mass * self.data.heights[1] * rider.i_speed
        )
        length = path.length - path.nearest(0.0, 0.0)
        end = 0.98 * length / speed if t_end is None else t_end
        run = s.equations().compile().simulate(t_end=end, initial=start)
        return Ride(self.name, run)

    def lane_change(
        self, *, speed: float = 20.0, offset: float = 3.0, length: float = 50.0, **options: Any
    ) -> Ride:
        """Change lanes, following a quintic step to the left.

        Parameters
        ----------
        speed : float, default 20.0
            Speed in m/s.
        offset : float, default 3.0
            Lateral distance of the lanes in m; negative to the right.
        length : float, default 50.0
            Length of the change in m.
        options : optional
            As of `rider`.

        Returns
        -------
        Ride
            Run and metrics.
        """
        require_positive_argument("lane_change", "m/s", speed=speed)
        require_positive_argument("lane_change", "m", length=length)
        require_finite_argument("lane_change", "m", offset=offset)
        runout = (AFTER + 1.0) * speed
        path = lane_change([(BEFORE, 0.0), (BEFORE + length, offset)], before=10.0, after=runout)
        return self.ride(path, speed=speed, t_end=(BEFORE + length) / speed + AFTER, **options)


def motorcycle_names() -> list[str]:
    """List the motorcycles and bicycles that come with Bellcrank.

    Returns
    -------
    list of str
        Their names.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.vehicles.motorcycle_names()
    ['bicycle', 'sport']
    """
    return MOTORCYCLES.names()


def motorcycle_text(name: str) -> str:
    """The text of a motorcycle file that comes with Bellcrank, as a start for another."""
    return read_text(MOTORCYCLES.file(name))


def motorcycle_system(
    path: str | Path, *, speed: float = 20.0, terrain: Ground | None = None
) -> MotorcycleSystem:
    """The model of a motorcycle file; options as of `Motorcycle.system`."""
    return Motorcycle.read(path).system(speed=speed, terrain=terrain)
