"""A car driven by a log: recorded steering wheel, pedals or speed; what the car does is compared
with the log.

Before the log begins, the car runs straight ahead in steady motion. In a lead-in the steering wheel
goes to the first recorded angle and stays there, so that a log may begin in a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.choices import Method
from bellcrank.core.errors import (
    BellcrankError,
    ModelError,
    RunError,
    did_you_mean,
    require_mapping,
)
from bellcrank.core.numeric.real_numbers import display_text, to_float
from bellcrank.core.signals import sampled
from bellcrank.core.units import parse_quantity
from bellcrank.measured.correlation import Correlation, compare
from bellcrank.measured.log import convert_unit, read
from bellcrank.optimize.fit_result import Fit
from bellcrank.optimize.recordings import (
    Histories,
    Recording,
    Values,
    bounds_by_name,
    make_fit_setup,
    make_unknown,
    parse_sensor_name,
    run_fit,
    sensor_unknowns,
    to_recordings,
)
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.file_keys import SI, UNITS, ProblemList, SectionUnits
from bellcrank.vehicles.manoeuvres.compiled_car import (
    STEP,
    THROTTLE_CLOSED,
    THROTTLE_FIXED,
    CompiledCar,
    compile_car,
    compiled_car,
)
from bellcrank.vehicles.manoeuvres.design_of_experiments import model_content_and_values
from bellcrank.vehicles.manoeuvres.manoeuvre_result import (
    Curve,
    Manoeuvre,
    MetricCollector,
    Result,
    Setting,
)
from bellcrank.vehicles.manoeuvres.steady_motion import SPEED_TOLERANCE

Array = np.ndarray[Any, Any]
WHEEL, SPEED, DRIVE, BRAKE = "steering_wheel", "speed", "drive", "brake"
SETTLES = 2.0  # s, of the lead-in
FIRST = 0.1  # s, over which the speed at the beginning is averaged
STANDS = 0.5  # m/s, below which a car begins at rest
CONTROL = ("steer", "speed_set", "curve_set")  # inputs that follow from the channels above
JUMP = STEP  # s, in which pedals change from the steady motion to the log


@dataclass(repr=False)
class LogReplayResult(Result):
    """A car driven by a log, compared with it: `result.correlation` has the errors of each
    channel."""

    correlation: Correlation | None = None


def replay_log(
    car: CompiledCar, log: Run, speed: float | None, settle: float
) -> tuple[Run, list[str]]:
    """A run by a log, whose time it has, and notes on how it was driven; `speed` (m/s): at the
    beginning, where the log has none."""
    units = {q.name: str(q.unit) for q in car.sim.interface.signals}
    usable = [n for n in (WHEEL, SPEED, *units) if n not in CONTROL]
    if not any(n in log.channels for n in usable):
        raise ModelError(
            f"recorded: {log.name} has no channel that drives a car "
            f"({', '.join(usable[:5])} ...); its "
            f"channels are {', '.join(log)}"
        )

    def values(name: str, unit: str) -> Array:
        samples = convert_unit(
            log[name], log.units.get(name, ""), unit, f"channel '{name}' of {log.name}"
        )
        if not np.isfinite(samples).all():
            raise RunError(
                f"recorded: channel '{name}' of {log.name} holds values that are not finite"
            )
        return samples

    log_speed = values(SPEED, "m/s") if SPEED in log.channels else None
    if log_speed is None and speed is None:
        raise ModelError(
            "recorded: the log has no channel 'speed'; give the speed at the beginning "
            "(speed=, km/h)"
        )
    v = float(log_speed[log.time <= FIRST].mean()) if log_speed is not None else float(speed or 0.0)
    start = car.nearest_straight_state(v if v > STANDS else 0.0)
    inputs: dict[str, Any] = {}
    pedals = [n for n in (DRIVE, BRAKE) if n in log.channels]
    idle = log_speed is not None and not any(
        log[n].any() for n in pedals
    )  # the driver of a run keeps the speed without them
    for name, unit in units.items():
        if name in log.channels and name not in (*CONTROL, *(pedals if idle else ())):
            x = values(name, unit)
            first = {DRIVE: car.drive_torque(start), BRAKE: 0.0}.get(name, float(x[0]))
            inputs[name] = sampled(
                [0.0, settle - JUMP, *(settle + log.time)], [first, first, *x], name
            )
    notes = [f"the first values of the log are kept for {settle:g} s before it begins"]
    start_speed = car.motion_of(start).speed
    if v > STANDS and abs(start_speed - v) > SPEED_TOLERANCE * v:
        notes.append(
            f"the run begins at {3.6 * start_speed:.4g} km/h in place of the {3.6 * v:.4g} km/h of "
            f"the log: the drive keeps no more"
        )
    if WHEEL in log.channels:
        trim = convert_unit(
            np.array([start.get("driver.turn", 0.0)]), "rad", units["steer"], "driver.turn"
        )[0]
        x = values(WHEEL, units["steer"]) - trim
        inputs["steer"] = sampled([0.0, settle / 2, *(settle + log.time)], [0.0, x[0], *x], WHEEL)
        notes.append("the steering wheel has the recorded angle")
    parameters: Mapping[str, float] = {}
    if DRIVE in inputs:
        parameters = THROTTLE_CLOSED
        notes.append("drive and brake torques are those of the log")
    elif log_speed is not None:
        inputs["speed_set"] = sampled([0.0, *(settle + log.time)], [v, *log_speed], SPEED)
        notes.append("the driver keeps the recorded speed")
    else:
        inputs["speed_set"], parameters = v, THROTTLE_FIXED
        notes.append("the throttle is held")
    run = car.simulate(settle + float(log.time[-1]), start, inputs, parameters)
    return replace(run, time=run.time - settle), notes


def log_replay_test(vehicle: Car, settings: dict[str, Any]) -> Result:
    """Drives as a log says, and compares all channels that the log has."""
    log = (
        settings["log"]
        if isinstance(settings["log"], Run)
        else read(settings["log"], settings["map"] or None)
    )
    car = compiled_car(vehicle, settings)
    start_speed = settings["speed"]
    run, notes = replay_log(
        car, log, None if start_speed is None else start_speed / 3.6, settings["settle"]
    )
    metrics, common = MetricCollector(), [n for n in log if n in run.channels]
    if not common:
        raise ModelError(
            f"recorded: no channel of {log.name} ({', '.join(log)}) is one of the car; a table of "
            "channels renames columns (map=)"
        )
    errors = compare(run, log, common, start=0.0)
    for name, e in errors.errors.items():
        label = run.labels.get(name, name)
        metrics.add(f"{name}_rms", e.rms, e.unit, f"{label}: RMS error")
        metrics.add(
            f"{name}_nrms",
            100 * e.normalized,
            "%",
            f"{label}: RMS error over the range of the measurement",
        )
        metrics.add(f"{name}_peak", e.peak, e.unit, f"{label}: peak error")
        metrics.add(f"{name}_r2", e.r2, "", f"{label}: R2")
        metrics.add(f"{name}_correlation", e.correlation, "", f"{label}: correlation")
        metrics.add(f"{name}_delay", e.delay, "s", f"{label}: delay of the measurement")
    curves = tuple(
        Curve(
            "time, s",
            f"{run.labels.get(n, n)}, {run.units.get(n, '')}",
            (("simulated", run.time, run[n]),),
            (("measured", errors.measured.time, errors.measured[n]),),
        )
        for n in common
    )
    shown_settings = {
        **settings,
        "log": _log_label(settings["log"], log.name),
        "map": _log_label(settings["map"], "given"),
    }
    runs = {"simulated": run, "measured": errors.measured}
    return LogReplayResult(
        "recorded",
        vehicle.name,
        shown_settings,
        runs,
        metrics.as_metrics(),
        [],
        notes,
        (),
        curves,
        correlation=errors,
    )


def _log_label(source: Any, otherwise: str) -> str:
    return str(source) if isinstance(source, str | Path) else otherwise


RECORDED = Manoeuvre(
    "recorded",
    "driven by a log: recorded steering wheel, pedals or speed",
    {
        "log": Setting("", "", "the log (.csv, .mf4, .mat ...)", data=True),
        "map": Setting(
            "",
            "",
            "table of its columns (.toml): channel, column, unit, scale, offset, delay",
            data=True,
        ),
        "speed": Setting(None, "km/h", "speed at the beginning, where the log has none"),
        "settle": Setting(SETTLES, "s", "lead-in, in which the first values are reached and kept"),
    },
    log_replay_test,
    first=("ay_nrms", "yaw_rate_nrms"),
    needs=("log",),
)


# ---- identification


class _CarVariants:
    """Runs of a car by each recording, with values of keys of its file and of parameters of its
    model."""

    def __init__(
        self,
        car: Car,
        logs: Sequence[Run],
        keys: Mapping[str, str],
        speed: float | None,
        settle: float,
        method: Method,
        gear: float | None,
        channels: Sequence[str],
    ) -> None:
        self.car, self.logs, self.keys, self.channels = car, logs, keys, channels
        self.speed, self.settle, self.method, self.gear = speed, settle, method, gear
        self.same, self.usual = model_content_and_values(car) if keys else ("", {})
        self.kept: dict[tuple[float, ...], dict[str, float]] = {}

    def car_at(self, point: Values) -> Car:
        """The car with other values, by the same compiled model."""
        parameters = {
            n: x for n, x in point.items() if parse_sensor_name(n) is None and n not in self.keys
        }
        return self.car.with_parameters(
            self._parameters_of_keys(tuple(point[key] for key in self.keys)) | parameters
        )

    def _parameters_of_keys(self, values: tuple[float, ...]) -> dict[str, float]:
        """Parameters of the model that differ with values of the keys; each car is described
        once."""
        if values not in self.kept:
            car = self.car
            for (key, unit), value in zip(self.keys.items(), values, strict=True):
                tree: Any = f"{value!r} {unit}" if unit else value
                for name in reversed(key.split(".")):
                    tree = {name: tree}
                car = car.changed(**tree)
            content, parameters = (
                model_content_and_values(car) if self.keys else (self.same, self.usual)
            )
            if content != self.same or parameters.keys() != self.usual.keys():
                raise ModelError(
                    f"identify: {', '.join(self.keys)} change more than parameters of the model"
                )
            self.kept[values] = {n: x for n, x in parameters.items() if x != self.usual[n]}
        return self.kept[values]

    def run(self, i: int, point: Values) -> Run:
        car = compile_car(self.car_at(point), method=self.method, gear=self.gear)
        return replay_log(car, self.logs[i], self.speed, self.settle)[0]

    def __call__(self, i: int, points: Sequence[Values]) -> list[Histories | None]:
        histories_at: list[Histories | None] = []
        for point in points:
            try:
                run = self.run(i, point)
            except RunError:
                histories_at.append(None)
                continue
            histories = {c: run[c] for c in self.channels}
            is_complete = run.time[-1] >= self.logs[i].time[-1] - 1e-6 and all(
                np.isfinite(x).all() for x in histories.values()
            )
            histories_at.append((run.time, histories) if is_complete else None)
        return histories_at


def identify_parameters(
    car: Car,
    data: Any,
    parameters: Any,
    channels: Iterable[str] | str | None,
    start: Mapping[str, float] | None,
    weights: Mapping[str, float] | None,
    speed: float | None,
    settle: float,
    method: Method,
    gear: float | None,
    max_iterations: int,
    progress: Callable[[float], None] | None,
) -> Fit:
    """Finds values of a car from logs; see `bellcrank.vehicles.manoeuvres.identify`."""
    recordings: list[Recording] = to_recordings(data)
    logs = [r.log() for r in recordings]
    requested, start_values = (
        bounds_by_name(parameters, "parameters"),
        require_mapping(start, "start"),
    )
    base = compile_car(car, method=method, gear=gear)
    model = {q.name: q for q in base.sim.interface.parameters}
    sensed = {
        n: b for n, b in requested.items() if n not in model and parse_sensor_name(n) is not None
    }
    outputs = {q.name: (str(q.unit), q.label) for q in base.sim.interface.outputs}
    driving = {WHEEL, *(() if any(DRIVE in log.channels for log in logs) else (SPEED,))}
    usual = {n: x for n, x in outputs.items() if n not in driving} if channels is None else outputs
    setting = make_fit_setup(car.name, usual, logs, channels)
    unknowns, keys = [], dict[str, str]()
    for name, bounds in requested.items():
        if name in sensed:
            continue
        if name in model:
            first = start_values.get(name, base.values.get(name, model[name].default))
            q = model[name]
            unknowns.append(
                make_unknown(
                    name,
                    float(first or 0.0),
                    bounds,
                    str(q.unit),
                    q.label,
                    user_start=name in start_values,
                )
            )
        elif "." in name:
            key_bounds, keys[name] = _bounds_and_unit(name, bounds)
            first = start_values.get(name, _current_key_value(car, name, keys[name]))
            if first is None and key_bounds is None:
                raise ModelError(
                    f"identify: give bounds of '{name}' with a unit, or a value to begin "
                    f"with (start=)"
                )
            middle = float(first) if first is not None else 0.5 * sum(key_bounds or (0.0, 0.0))
            unknowns.append(
                make_unknown(name, middle, key_bounds, keys[name], user_start=name in start_values)
            )
        else:
            suggestion = did_you_mean(name, model)
            raise ModelError(
                f"identify: '{name}' is no key of the car file, no parameter and no "
                f"sensor.{suggestion}"
            )
    cars = _CarVariants(car, logs, keys, speed, settle, method, gear, setting.channels)
    unknowns += sensor_unknowns(setting, sensed, start_values)
    cars.run(0, {u.name: u.start for u in unknowns})  # what is wrong is reported as such
    return run_fit(setting, unknowns, cars, weights, max_iterations, progress, (), tuple(sensed))


def _bounds_and_unit(name: str, bounds: Any) -> tuple[tuple[float, float] | None, str]:
    """Bounds of a key and their unit, from numbers or text with a unit; a unit alone has no
    bounds."""
    if bounds is None or isinstance(bounds, str):
        return None, bounds or ""
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        raise ModelError(
            f"identify: the bounds of '{name}', {display_text(bounds)}, must be (low, high)"
        )
    quantities = [parse_quantity(x) if isinstance(x, str) else None for x in bounds]
    if quantities[0] is not None and quantities[1] is not None:
        if quantities[0][1] != quantities[1][1]:
            raise ModelError(
                f"identify: the bounds of '{name}', {display_text(bounds)}, must have the same unit"
            )
        return (quantities[0][0], quantities[1][0]), quantities[0][1]
    numbers = [to_float(x) for x in bounds]
    if None in numbers:
        raise ModelError(
            f"identify: the bounds of '{name}', {display_text(bounds)}, must be numbers "
            f"with or without a unit"
        )
    return (float(numbers[0] or 0.0), float(numbers[1] or 0.0)), ""


def _current_key_value(car: Car, key: str, unit: str) -> float | None:
    """The value of a key of the file, in a unit; None where the file does not have it so."""
    entry: Any = car.given
    units_stated = SectionUnits()
    for name in key.split("."):
        entry = entry.get(name) if isinstance(entry, Mapping) else None
        if isinstance(entry, Mapping) and UNITS in entry:
            units_stated = units_stated.with_section_units(entry[UNITS], key, ProblemList())
    pair = parse_quantity(entry) if isinstance(entry, str) else None
    value = to_float(entry) if pair is None and entry is not None else None
    if not unit:
        return value
    try:
        if (
            value is not None
            and (own_unit := units_stated.unit_for(SI.parse_unit(unit).dimension)) is not None
        ):
            pair = value, own_unit.text
        return (
            None
            if pair is None
            else float(convert_unit(np.array([pair[0]]), pair[1], unit, key)[0])
        )
    except BellcrankError:
        return None
