"""A car ready to drive: compiled once for each driver and ground, and settled at a speed before every manoeuvre.

One program serves most manoeuvres: its driver changes lanes by parameters, keeps a curvature or holds the wheel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from bellcrank.api.simulation import Simulation
from bellcrank.errors import ModelError, RunError
from bellcrank.library.vehicles.building import CarSystem, build, rolling
from bellcrank.library.vehicles.car import Car
from bellcrank.library.vehicles.data import CORNERS, GRAVITY, CarData
from bellcrank.library.vehicles.driver import Driver
from bellcrank.library.vehicles.figures import Figures, figures_of, understeer_gradient
from bellcrank.library.vehicles.path import Change
from bellcrank.library.vehicles.rest import Stand, stand
from bellcrank.run.result import Run
from bellcrank.signals import sampled

SETTLES = 6.0  # s
BENDS = 10.0  # s, from straight ahead to a steady circle
K_TURN = 3.0  # 1/s, with which a circle is kept
STEP, EVERY = 0.001, 10
METHOD = "rk4"  # of integration, unless another is asked for
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
    method: str = METHOD
    kept: dict[Any, dict[str, float]] = field(default_factory=dict)  # states that were found
    angles: dict[tuple[float, float], float] = field(default_factory=dict)  # of the steering wheel

    def settled(self, speed: float, **parameters: float) -> dict[str, float]:
        """The state of the car that runs straight ahead at a speed (m/s), at the origin."""
        key = (speed, *sorted(parameters.items()))
        if key not in self.kept:
            self.kept[key] = self._settled(speed, parameters)
        return dict(self.kept[key])

    def turning(self, speed: float, curvature: float) -> dict[str, float]:
        """The state of the car that goes round steadily at a speed (m/s), with a curvature (1/m) to the left; the
        steering wheel stays as it is."""
        key = ("turn", speed, curvature)
        if key not in self.kept:
            bend = sampled([0.0, 0.4 * BENDS, BENDS], [0.0, curvature, curvature])
            how = {"speed_set": speed, "curve_set": bend}
            run = self.drive(BENDS, self.settled(speed), how, {"k_turn": K_TURN})
            turns = math.radians(float(run["yaw_rate"][-1])) / speed
            if not abs(turns / curvature - 1) < 0.02:
                raise RunError(
                    f"{self.data.sections.name} does not go round a circle of {1 / abs(curvature):.4g} m radius at "
                    f"{3.6 * speed:.4g} km/h ({speed**2 * abs(curvature):.3g} m/s2): it ends with "
                    f"{abs(1 / turns) if turns else math.inf:.4g} m"
                )
            self.kept[key] = self.state(run)
        return dict(self.kept[key])

    def angle(self, speed: float, ay: float) -> float:
        """Steering-wheel angle (deg) that makes a lateral acceleration (m/s2) in steady state at a speed (m/s), the
        throttle held: found by runs that are scaled, the first as the linear car would need."""
        if (speed, ay) not in self.angles:
            angle = self.linear_angle(speed, ay)
            for _ in range(6):
                wheel = sampled([0.0, 0.7, BENDS], [0.0, angle, angle])
                run = self.drive(5.0, self.settled(speed), {"steer": wheel, "speed_set": speed}, HELD)
                reached = float(run["ay"][run.time > run.time[-1] - 1.0].mean())
                if abs(reached / ay - 1) < 0.005:
                    break
                if not reached > 0:
                    raise RunError(f"no steady lateral acceleration was reached with {angle:.1f} deg")
                angle *= ay / reached
            else:
                name = self.data.sections.name
                raise RunError(f"{name} does not reach {ay:g} m/s2 at {3.6 * speed:.4g} km/h in steady state")
            self.angles[speed, ay] = angle
        return self.angles[speed, ay]

    def linear_angle(self, speed: float, ay: float) -> float:
        """The same of the linear car."""
        f = self.figures
        slope = math.degrees(f["wheelbase"] / speed**2) + understeer_gradient(f) / GRAVITY
        return f["steering_ratio"] * slope * ay

    def throttle(self, start: Mapping[str, float]) -> float:
        """The moment at the wheels (N m) that the driver holds from a state on with the gain k_speed at zero."""
        reach = next(float(p.default or 0.0) for p in self.sim.interface.parameters if p.name == "driver_reach")
        return reach * self.driver.i_speed * start["driver.sum"]

    @property
    def radius(self) -> float:
        """Mean rolling radius of the wheels, m."""
        tyres = [self.data.axle(a).tyre for a, _ in CORNERS.values()]
        return float(np.mean([t.forces(3000.0, 0.0, 0.0).Re for t in tyres]))

    def state(self, run: Run) -> dict[str, float]:
        """All states at the end of a run, at the origin and heading along x."""
        found = {state.name: float(run[state.name][-1]) for state in self.sim.interface.states}
        place = {"q(chassis, 1)": 0.0, "q(chassis, 2)": 0.0, "q(chassis, 4)": 0.0}
        return found | place | self.driver.start(self.data, self.at_rest)

    def _settled(self, speed: float, parameters: Mapping[str, float]) -> dict[str, float]:
        first = self.driver.start(self.data, self.at_rest)
        start = rolling(self.data, self.at_rest, speed)
        start |= {"q(chassis, 1)": -speed * SETTLES, **{k: s - speed * SETTLES for k, s in first.items()}}
        if speed == 0:
            return start
        return self.state(self.drive(SETTLES, start, {"speed_set": speed}, parameters))

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
            t_end=t_end, step=STEP, method=self.method, output_every=EVERY, initial=dict(start), inputs=dict(inputs),
            parameters=dict(parameters or {}), events=events or None, stop=tuple(events),
        )  # fmt: skip
        if len(run.time) < 2:
            raise RunError(f"the run did not begin: {run.ended}")
        return run


_kept: WeakKeyDictionary[CarData, dict[Any, Ready]] = WeakKeyDictionary()
USUAL = Driver(Change(), preview=0.5, hands=0.0, circles=True)  # between cones a driver looks near


def data_of(car: Any) -> CarData:
    """The data of a car: a `Car`, the System of one, or the path or name of a file."""
    if isinstance(car, Car | CarSystem):
        return car.data
    if isinstance(car, str | FilePath):
        return Car.read(car).data
    raise ModelError(
        f"a manoeuvre needs a bc.vehicles.Car, a system of read_car or the path of a file, given {type(car).__name__}"
    )


def abs_of(data: CarData) -> str:
    """Whether a car has an anti-lock system, for notes."""
    return "no anti-lock system" if data.sections.brakes.abs is None else "with its anti-lock system"


def ready(
    data: CarData, driver: Driver = USUAL, ground: Callable[[], Any] | None = None, method: str = METHOD
) -> Ready:
    """The car compiled with a driver on the ground that `ground` makes, with posts below the wheels, or on flat ground
    that stays; kept as long as the car is, for an equal driver and ground. States are found anew for each method."""
    kept = _kept.setdefault(data, {})
    if (driver, ground, METHOD) not in kept:
        at_rest = stand(data)
        terrain = None if ground is None else ground()
        system = build(data, at_rest, driver=driver, terrain=terrain, posts=ground is not None)
        sim = system.equations().compile()
        kept[driver, ground, METHOD] = Ready(data, at_rest, figures_of(data, at_rest), sim, driver)
    if (driver, ground, method) not in kept:
        kept[driver, ground, method] = replace(kept[driver, ground, METHOD], method=method, kept={}, angles={})
    return kept[driver, ground, method]
