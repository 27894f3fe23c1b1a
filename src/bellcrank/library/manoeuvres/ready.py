"""A car ready to drive: compiled once for each path, and settled at a speed before every manoeuvre."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any
from weakref import WeakKeyDictionary

from bellcrank.api.simulation import Simulation
from bellcrank.errors import ModelError, RunError
from bellcrank.library.vehicles.building import CarSystem, build, rolling
from bellcrank.library.vehicles.car import Car
from bellcrank.library.vehicles.data import CarData
from bellcrank.library.vehicles.driver import Driver
from bellcrank.library.vehicles.figures import Figures, figures_of
from bellcrank.library.vehicles.rest import Stand, stand
from bellcrank.run.result import Run

SETTLES = 6.0  # s
STEP, EVERY = 0.001, 10
RELEASED = {"k_speed": 0.0, "i_speed": 0.0}  # no throttle
HELD = {"k_speed": 0.0}  # the throttle as it was


@dataclass(frozen=True, eq=False)
class Ready:
    """A compiled car."""

    data: CarData
    at_rest: Stand
    figures: Figures
    sim: Simulation
    driver: Driver

    def settled(self, speed: float, **parameters: float) -> dict[str, float]:
        """The state of the car that runs straight ahead at a speed (m/s), at the origin."""
        first = self.driver.start(self.data, self.at_rest)
        start = rolling(self.data, self.at_rest, speed)
        start |= {"q(chassis, 1)": -speed * SETTLES, **{k: s - speed * SETTLES for k, s in first.items()}}
        if speed == 0:
            return start
        run = self.drive(SETTLES, start, {"speed_set": speed}, parameters)
        found = {state.name: float(run[state.name][-1]) for state in self.sim.interface.states}
        place = {"q(chassis, 1)": 0.0, "q(chassis, 2)": 0.0, "q(chassis, 4)": 0.0}
        return found | place | first

    def drive(
        self,
        t_end: float,
        start: Mapping[str, float],
        inputs: Mapping[str, Any],
        parameters: Mapping[str, float] | None = None,
        until: str | None = None,
    ) -> Run:
        """A run from a state; `until` a condition is met."""
        events = {} if until is None else {"end": until}
        run = self.sim.simulate(
            t_end=t_end, step=STEP, method="rk4", output_every=EVERY, initial=dict(start), inputs=dict(inputs),
            parameters=dict(parameters or {}), events=events or None, stop=tuple(events),
        )  # fmt: skip
        if len(run.time) < 2:
            raise RunError(f"the run did not begin: {run.ended}")
        return run


_kept: WeakKeyDictionary[CarData, dict[Driver, Ready]] = WeakKeyDictionary()


def data_of(car: Any) -> CarData:
    """The data of a car: a `Car`, the System of one, or the path or name of a file."""
    if isinstance(car, Car | CarSystem):
        return car.data
    if isinstance(car, str | FilePath):
        return Car.read(car).data
    raise ModelError(
        f"a manoeuvre needs a bc.vehicles.Car, a system of read_car or the path of a file, given {type(car).__name__}"
    )


def ready(data: CarData, driver: Driver | None = None) -> Ready:
    """The car compiled with a driver; kept as long as the car is."""
    who = driver or Driver()
    kept = _kept.setdefault(data, {})
    if who not in kept:
        at_rest = stand(data)
        system = build(data, at_rest, driver=who)
        kept[who] = Ready(data, at_rest, figures_of(data, at_rest), system.equations().compile(), who)
    return kept[who]
