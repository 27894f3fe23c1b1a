"""Manoeuvres as data: standard tests of cars by name, with settings, channels, metrics and
criteria.

    result = bc.vehicles.manoeuvres.run(car, "iso3888-1", speed=80)
    print(result, result["ay_max"], result.run["ay"], result.passed)
    bc.vehicles.manoeuvres.report("car.html", ["a.toml", "b.toml"])  # all manoeuvres, cars compared

A new one is a `Manoeuvre` in a file here, and a line below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path as FilePath
from typing import Any

from bellcrank.choices import ManoeuvreName, Method
from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.html import page_path, save_page
from bellcrank.optimize.fit_result import Fit
from bellcrank.simulation.run.argument_checks import canonical_method
from bellcrank.vehicles.cars.control.driver import Driver
from bellcrank.vehicles.cars.metrics.handling_metrics import Figures
from bellcrank.vehicles.driver_path import Change, Path, circle, lane_change
from bellcrank.vehicles.manoeuvres.car_comparison import CarResults, label_cars, run_all
from bellcrank.vehicles.manoeuvres.car_trailer_tests import AMPLIFICATION, OFF_TRACKING, SWAY
from bellcrank.vehicles.manoeuvres.circuit import Circuit, SpeedProfile
from bellcrank.vehicles.manoeuvres.circular_tests import BRAKE_IN_TURN, POWER_OFF, RADIUS, WHEEL
from bellcrank.vehicles.manoeuvres.compiled_car import METHOD, compile_car, read_car
from bellcrank.vehicles.manoeuvres.design_of_experiments import Experiment, run_experiment
from bellcrank.vehicles.manoeuvres.four_post import FOUR_POST
from bellcrank.vehicles.manoeuvres.friction_jump import MU_JUMP
from bellcrank.vehicles.manoeuvres.hill_start import HILL
from bellcrank.vehicles.manoeuvres.lane_changes import AVOIDANCE, DOUBLE
from bellcrank.vehicles.manoeuvres.laps import LAP
from bellcrank.vehicles.manoeuvres.linear_handling import linear_handling_metrics
from bellcrank.vehicles.manoeuvres.log_replay import RECORDED, SETTLES, identify_parameters
from bellcrank.vehicles.manoeuvres.manoeuvre_result import Criterion, Manoeuvre, Result, Setting
from bellcrank.vehicles.manoeuvres.on_centre import WEAVE
from bellcrank.vehicles.manoeuvres.road_following import ROAD
from bellcrank.vehicles.manoeuvres.road_tests import KERB_UP, POTHOLE, RIDE, SPLIT_MU
from bellcrank.vehicles.manoeuvres.side_wind import WIND
from bellcrank.vehicles.manoeuvres.sine_with_dwell import FISHHOOK, SINE_WITH_DWELL
from bellcrank.vehicles.manoeuvres.steering_tests import CIRCLE, FREQUENCY, STEP
from bellcrank.vehicles.manoeuvres.straight_line_tests import ACCELERATION, BRAKING
from bellcrank.vehicles.manoeuvres.tilt_table import TILT
from bellcrank.vehicles.manoeuvres.transient_steering import PULSE, SINE

__all__ = [
    "Change",
    "Circuit",
    "Criterion",
    "Driver",
    "Experiment",
    "Manoeuvre",
    "Path",
    "Result",
    "Setting",
    "SpeedProfile",
    "circle",
    "experiment",
    "handling",
    "identify",
    "known",
    "lane_change",
    "report",
    "run",
]

COMMON = {
    "method": Setting(METHOD, "", "method of integration"),
    "gear": Setting(
        None, "", "gear that is held; default: the one that suits the speed at the beginning"
    ),
    "without": Setting("", "", "controllers that are switched off, such as esc or abs, esc"),
}
OF_FRONT = (
    "roll is that of the front part of the body; the channel roll_rear has that of the rear part"
)
_LISTED = {
    m.name: replace(m, settings={**m.settings, **COMMON})
    for m in (
        BRAKING,
        ACCELERATION,
        CIRCLE,
        RADIUS,
        WHEEL,
        STEP,
        SINE,
        PULSE,
        FREQUENCY,
        WEAVE,
        BRAKE_IN_TURN,
        POWER_OFF,
        DOUBLE,
        AVOIDANCE,
        SINE_WITH_DWELL,
        FISHHOOK,
        WIND,
        RIDE,
        KERB_UP,
        POTHOLE,
        SPLIT_MU,
        MU_JUMP,
        FOUR_POST,
        ROAD,
        LAP,
        SWAY,
        OFF_TRACKING,
        AMPLIFICATION,
        TILT,
        HILL,
        RECORDED,
    )
}


def handling(car: Any) -> Figures:
    """Compute handling metrics of a car for small steering angles, from its linear model at 80
    km/h.

    Parameters
    ----------
    car : Car, CarSystem, path or str
        The car, or the path or name of its file. It is derived and compiled the first time.

    Returns
    -------
    Figures
        Understeer, roll, side-slip and torque gradients, cornering stiffnesses of the axles,
        characteristic speed, with compliance, steering column, roll steer, camber and tyres.

    Examples
    --------
    >>> import bellcrank as bc
    >>> metrics = bc.vehicles.manoeuvres.handling("passenger")
    >>> metrics["understeer"] > 0
    True
    """
    return linear_handling_metrics(compile_car(read_car(car)))


def known() -> dict[str, Manoeuvre]:
    """List all manoeuvres.

    Returns
    -------
    dict
        `Manoeuvre` by name, each with its description and settings.

    Examples
    --------
    >>> import bellcrank as bc
    >>> manoeuvre = bc.vehicles.manoeuvres.known()["iso3888-1"]
    >>> manoeuvre.settings["speed"].default, manoeuvre.settings["speed"].unit
    (80.0, 'km/h')
    """
    return dict(_LISTED)


def applicable_names(cars: Iterable[CarResults] = ()) -> list[str]:
    """Names of all that need nothing but a car; with those for trailers if every one of these cars
    has some."""
    towing = [bool(car.car.data.trailers) for car in cars]
    manoeuvres = [m for m in _LISTED.values() if not m.for_trailers or (towing and all(towing))]
    return [m.name for m in manoeuvres if m.in_all and not m.needs]


def run(car: Any, name: ManoeuvreName, **settings: Any) -> Result:
    """Drive a manoeuvre.

    Parameters
    ----------
    car : Car, CarSystem, path or str
        The car, or the path or name of its file. The model is kept with a `Car` for the next
        manoeuvre.
    name : str
        Name of the manoeuvre, as in `known()`.
    settings : optional
        Settings of the manoeuvre, `known()[name].settings`; speeds are in km/h. `method` is one of
        `simulate`.

    Returns
    -------
    Result
        Runs, metrics and criteria.

    Raises
    ------
    ModelError
        If a name or setting is not known or allowed.

    Examples
    --------
    >>> import bellcrank as bc
    >>> result = bc.vehicles.manoeuvres.run("passenger", "braking", speed=50)
    >>> result.metrics.details["distance"].unit
    'm'
    """
    if name not in _LISTED:
        names_text = ", ".join(_LISTED)
        raise ModelError(
            f"no manoeuvre is called '{name}'.{did_you_mean(str(name), _LISTED)} There are "
            f"{names_text}."
        )
    manoeuvre = _LISTED[name]
    for key, value in settings.items():
        if key not in manoeuvre.settings:
            suggestion = did_you_mean(key, manoeuvre.settings)
            names_text = ", ".join(manoeuvre.settings)
            raise ModelError(
                f"manoeuvre {name} has no setting '{key}'.{suggestion} It has {names_text}."
            )
        if manoeuvre.settings[key].data:  # checked where it is read
            continue
        default = manoeuvre.settings[key].default
        if isinstance(default, bool) and not isinstance(value, bool):
            raise ModelError(f"manoeuvre {name}: {key}={value!r:.40} must be true or false")
        if isinstance(default, str) and not isinstance(value, str):
            raise ModelError(
                f"manoeuvre {name}: {key}={value!r:.40} must be a word; "
                f"{manoeuvre.settings[key].label}"
            )
        if (
            isinstance(default, float | None)
            and value is not default
            and not _are_positive_numbers([value])
        ):
            raise ModelError(f"manoeuvre {name}: {key}={value!r:.40} must be a positive number")
        if isinstance(default, tuple) and not _are_positive_numbers(value):
            raise ModelError(
                f"manoeuvre {name}: {key}={value!r:.60} must be positive numbers, such as "
                f"{list(default)}"
            )
    for key in manoeuvre.needs:
        if settings.get(key) in (None, ""):
            raise ModelError(
                f"manoeuvre {name} needs the setting {key}: {manoeuvre.settings[key].label}"
            )
    vehicle = read_car(car)
    arguments = {
        key: settings.get(key, s.usual(vehicle.data.sections.kind))
        for key, s in manoeuvre.settings.items()
    }
    arguments["method"] = canonical_method(arguments["method"])
    switched_off = [name.strip() for name in arguments["without"].split(",") if name.strip()]
    result: Result = manoeuvre.drive(
        vehicle.switched(**dict.fromkeys(switched_off, False)) if switched_off else vehicle,
        arguments,
    )
    if vehicle.data.frame is not None:
        result.notes.append(OF_FRONT)
    return result


def experiment(
    car: Any,
    name: ManoeuvreName,
    vary: Mapping[str, Any],
    *,
    samples: int | None = None,
    seed: int = 0,
    cores: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[float, str], None] | None = None,
    **settings: Any,
) -> Experiment:
    """Drive a manoeuvre with many set-ups of a car: a design of experiments.

    Parameters
    ----------
    car : Car, CarSystem, str or Path
        A car, or the path or name of a car file.
    name : str
        Manoeuvre, as of `run`.
    vary : mapping
        Values of keys of the car file: "LOW:HIGH:N" or "a, b, c", with or without a unit behind, or
        a list of numbers. Numbers without a unit are in the unit of their section.
    samples : int, optional
        Number of samples of a Latin hypercube between the ends of the ranges. Default: all
        combinations of the values.
    seed : int, default 0
        Seed of the Latin hypercube.
    cores : int, optional
        Number of processes. Default: all cores.
    executor : concurrent.futures.Executor, optional
        What drives the set-ups instead, such as `distributed.Client(address).get_executor()` of a
        Dask cluster.
    progress : callable, optional
        Called with the fraction that is done and a text.
    **settings : Any
        Settings of the manoeuvre, as of `run`.

    Returns
    -------
    Experiment
        Set-ups with their metrics, `effects(metric)` and `surface(metric)`; `save` writes CSV,
        `page` HTML.

    Examples
    --------
    >>> import bellcrank as bc
    >>> springs = {"front.spring.stiffness": "45:60:2 N/mm"}
    >>> found = bc.vehicles.manoeuvres.experiment("passenger", "iso3888-1", springs, cores=1)
    >>> len(found["clearance"])
    2
    """
    return run_experiment(
        read_car(car), run, name, vary, settings, samples, seed, cores, progress, executor
    )


def identify(
    car: Any,
    data: Any,
    parameters: Mapping[str, Any] | Sequence[str],
    *,
    channels: Sequence[str] | str | None = None,
    start: Mapping[str, float] | None = None,
    weights: Mapping[str, float] | None = None,
    speed: float | None = None,
    settle: float = SETTLES,
    method: Method = METHOD,
    gear: float | None = None,
    max_iterations: int = 20,
    progress: Callable[[float], None] | None = None,
) -> Fit:
    """Find values of a car from logs by least squares: the manoeuvre "recorded", driven until it
    agrees.

    Parameters
    ----------
    car : Car, CarSystem, str or Path
        A car, or the path or name of a car file.
    data : Run, path, bc.optimize.Recording, or a list of these
        Logs, as of `bc.measured.read`. Channels "steering_wheel", "speed", "drive", "brake" and
        other inputs drive the car; others are compared.
    parameters : mapping or list of str
        What to find, with bounds (low, high): keys of the car file, ``{"front.spring.stiffness":
        ("25 N/mm", "45 N/mm")}``, parameters of the model ("k_bar_front") and errors of sensors
        ("ay.offset", "ay.scale", "ay.delay"). Keys change parameters of the model alone, not hard
        points or masses that the driver counts on.
    channels : str or sequence of str, optional
        Channels to compare. Default: all outputs that the logs have, except the recorded steering
        wheel and speed.
    start : mapping, optional
        Values to begin with. Default: those of the car.
    weights : mapping, optional
        One over the standard deviation of the noise, by channel. Default: estimated.
    speed : float, optional
        Speed at the beginning in km/h, where logs have none.
    settle : float, default 2.0
        Lead-in of each run in s.
    method : str, default "rk4"
        Method of integration.
    gear : float, optional
        Gear that is held.
    max_iterations : int, default 20
        Iterations of the search.
    progress : callable, optional
        Called with a fraction that grows from 0 to 1.

    Returns
    -------
    Fit
        Values, covariance, confidence intervals, correlation, and comparisons before and after.

    Raises
    ------
    ModelError
        If a name is not known, or if a key changes more than parameters of the model.

    Examples
    --------
    >>> import bellcrank as bc
    >>> car = bc.vehicles.Car.read("passenger")
    >>> softer = car.with_parameters({"k_bar_front": 15000})
    >>> log = bc.vehicles.manoeuvres.run(softer, "iso7401-step").run
    >>> fit = bc.vehicles.manoeuvres.identify(
    ...     car, log, {"k_bar_front": (5000, 60000)}, channels=["roll"]
    ... )
    >>> round(fit["k_bar_front"], -2)
    15000.0
    """
    start_speed, integrator = None if speed is None else speed / 3.6, canonical_method(method)
    return identify_parameters(
        read_car(car),
        data,
        parameters,
        channels,
        start,
        weights,
        start_speed,
        settle,
        integrator,
        gear,
        max_iterations,
        progress,
    )


def _are_positive_numbers(values: Any) -> bool:
    return (
        isinstance(values, list | tuple)
        and len(values) > 0
        and all(
            isinstance(x, int | float) and not isinstance(x, bool) and 0 < x < 1e6 for x in values
        )
    )


def report(
    path: str | FilePath,
    cars: Any,
    *,
    manoeuvres: Sequence[ManoeuvreName] | None = None,
    progress: Callable[[float, str], None] | None = None,
    method: Method = METHOD,
    targets: str | FilePath | Mapping[str, Any] | None = None,
    author: str | None = None,
) -> dict[str, dict[str, Result]]:
    """Drive manoeuvres with one or several cars and write one page about them.

    Parameters
    ----------
    path : str or Path
        The .html file.
    cars : Car, path, name of a car, or list of these
        The cars.
    manoeuvres : list of str, optional
        Names. Default: all that need nothing but a car.
    progress : callable, optional
        Called with the fraction that is done and the name of what comes next.
    method : str, optional
        Method of integration.
    targets : path or mapping, optional
        Limits of key metrics, by manoeuvre and metric: ``{"iso4138": {"understeer_2": [1.5, 4]}}``,
        in the units of the metrics; section `car` is for metrics that need no run.
    author : str, optional
        Printed on the page.

    Returns
    -------
    dict
        Results by car and manoeuvre.

    Raises
    ------
    ModelError
        If a name or target is not known.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bellcrank as bc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = bc.vehicles.manoeuvres.report(
    ...         Path(folder) / "car.html", "passenger", manoeuvres=["braking"]
    ...     )
    >>> [list(results) for results in found.values()]
    [['braking']]
    """
    method = canonical_method(method)
    page_path(path)
    limits = load_targets(targets)
    driven = label_cars(cars if isinstance(cars, list | tuple) else [cars])
    names = applicable_names(driven) if manoeuvres is None else manoeuvres
    for _ in run_all(driven, names, partial(run, method=method), progress):
        pass
    write_report_page(path, driven, limits, author)
    return {car.label: car.results for car in driven}


def load_targets(source: str | FilePath | Mapping[str, Any] | None) -> Any:
    """Targets of a file or mapping, read and checked."""
    if source is None:
        return {}
    from bellcrank.vehicles.manoeuvres.car_report.key_metrics import check_targets, read_targets

    targets = read_targets(source)
    check_targets(targets, _LISTED)
    return targets


def write_report_page(
    path: str | FilePath, driven: list[CarResults], targets: Any = None, author: str | None = None
) -> None:
    """Writes the page about cars that were driven."""
    from bellcrank.vehicles.manoeuvres.car_report.car_report import car_page

    save_page(path, car_page(driven, _LISTED, targets, author))


def __dir__() -> list[str]:
    return sorted(__all__)
