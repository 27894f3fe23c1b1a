"""Design of experiments: a manoeuvre of many set-ups of a car by one compiled model; effects and
response surfaces.

A set-up that differs from the car in parameters of its model alone needs no model of its own: the
values of a factor are described once, and runs are given the parameters that they change. What
several factors change by statics, such as the loads of standing wheels, is the sum of their
changes, compared with three set-ups. Where that differs, or factors change more than parameters
(hard points, masses that the driver counts on), every set-up is a car of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import combinations_with_replacement, product
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np

from bellcrank.core.errors import BellcrankError, ModelError, did_you_mean
from bellcrank.core.files.atomic import write_text
from bellcrank.core.files.html import HtmlText, html_section, html_table, paragraph, save_page
from bellcrank.core.files.record import report_io_errors
from bellcrank.core.units import WITH_UNIT
from bellcrank.mechanics.derive.content_digest import (
    equation_digest,
    equation_independent_data,
    object_digest,
)
from bellcrank.mechanics.derive.model_pickle import NotPortable
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.manoeuvres.compiled_car import DEFAULT_DRIVER, manoeuvre_system
from bellcrank.vehicles.manoeuvres.manoeuvre_result import NOT_VALID, OnProgress, Result

Array = np.ndarray[Any, Any]
Drive = Callable[..., Result]
MOST = 20000  # set-ups
FEW = 5  # values of a factor that are described each; of more, three and a parabola
# relative, by which sums of what factors change may differ from the parameters of the set-up itself
SAME = 1e-6
RESTING = 1e-2  # the same of what holds standing wheels, which moving cars do not feel
LEVERS = {
    "x_lift_front": 1e-4,
    "x_lift_rear": 1e-4,
    "z_air": 1e-4,
    "wheelbase": 1e-4,
}  # m, of points on the ground


@dataclass(frozen=True)
class Factor:
    """A key of a car file and the values that it takes; `unit`: of the values, empty for that of
    the section."""

    key: str
    values: tuple[float, ...]
    unit: str = ""

    @classmethod
    def read(cls, key: str, source: Any) -> Factor:
        """From "LOW:HIGH:N", "a, b, c" with or without a unit behind, or a list of numbers."""
        unit = ""
        if isinstance(source, str):
            tokens = source.strip().split(None, 1)
            span, unit = (
                (source, "")
                if "," in source
                else (tokens[0] if tokens else "", tokens[1] if tokens[1:] else "")
            )
            match = WITH_UNIT.fullmatch(source.split(",")[-1].strip()) if "," in source else None
            if match is not None:
                span, unit = source[: len(source.rstrip()) - len(match[2])], match[2]
            try:
                values = _parse_factor_values(span)
            except ValueError:
                raise ModelError(
                    f"vary {key}={source!r:.60}: give numbers, as LOW:HIGH:N or separated "
                    f"by commas, and a unit behind"
                ) from None
        else:
            values = tuple(float(x) for x in source)
        if len(set(values)) < 2 or not np.isfinite(values).all():
            raise ModelError(f"vary {key}: give at least two different finite values")
        return cls(key, values, unit)

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    def as_car_sections(self, value: float) -> dict[str, Any]:
        """The value as sections of a car file."""
        tree: Any = f"{value!r} {self.unit}" if self.unit else value
        for key in reversed(self.key.split(".")):
            tree = {key: tree}
        return dict(tree)


def _parse_factor_values(text: str) -> tuple[float, ...]:
    if ":" not in text:
        return tuple(float(x) for x in text.split(","))
    fields = text.split(":")
    count = int(fields[2]) if len(fields) == 3 else 2
    if len(fields) > 3 or not 2 <= count <= MOST:
        raise ValueError
    return tuple(float(x) for x in np.linspace(float(fields[0]), float(fields[1]), count))


@dataclass(frozen=True, eq=False)
class Surface:
    """A polynomial of second order in the factors, each from -1 to 1 over its range, fitted to a
    metric by least squares; of first order where the set-ups do not determine more. `r2`: fraction
    of the variance that it explains."""

    factors: tuple[Factor, ...]
    terms: tuple[tuple[int, ...], ...]  # of the factors that are multiplied
    coefficients: Array
    r2: float

    def __call__(self, values: Mapping[str, float]) -> float:
        """The metric at values of the factors, by key, in the units of the factors."""
        missing = [f.key for f in self.factors if f.key not in values]
        if missing:
            raise ModelError(
                f"a response surface needs values of all factors; {', '.join(missing)} is missing"
            )
        x = np.array([[values[f.key] for f in self.factors]])
        return float(
            (_design_matrix(_coded_factors(self.factors, x), self.terms) @ self.coefficients)[0]
        )


@dataclass(frozen=True, eq=False)
class Experiment:
    """A manoeuvre driven with many set-ups of a car, made by `bc.vehicles.manoeuvres.experiment`.

    Parameters
    ----------
    car, manoeuvre : str
        Names of the car and of the manoeuvre.
    factors : tuple of Factor
        Keys of the car file with their values.
    setups : ndarray
        Values of the factors: one row for each set-up, columns as `factors`.
    metrics : mapping
        Values of each metric, by name; NaN where a run failed.
    units, labels : mapping
        Unit and label of each metric.
    failures : mapping, optional
        Why runs failed or are not valid, by row.
    shared : bool, default True
        Whether all set-ups ran by the parameters of one model.

    Examples
    --------
    >>> import bellcrank as bc
    >>> springs = {"front.spring.stiffness": "45:60:2 N/mm"}
    >>> found = bc.vehicles.manoeuvres.experiment("passenger", "iso3888-1", springs, cores=1)
    >>> found.effects("roll_max")["front.spring.stiffness"] < 0  # stiffer springs, less roll
    True
    """

    car: str
    manoeuvre: str
    factors: tuple[Factor, ...]
    setups: Array
    metrics: Mapping[str, Array]
    units: Mapping[str, str]
    labels: Mapping[str, str]
    failures: Mapping[int, str] = field(default_factory=dict)
    shared: bool = True

    def __getitem__(self, metric: str) -> Array:
        if metric not in self.metrics:
            guess = did_you_mean(metric, self.metrics)
            raise ModelError(
                f"there is no metric '{metric}'.{guess} There are: {', '.join(self.metrics)}."
            )
        return self.metrics[metric]

    def effects(self, metric: str) -> dict[str, float]:
        """Change of a metric from the lowest to the highest value of each factor, by a polynomial
        of first order.

        Parameters
        ----------
        metric : str
            Name of a metric of the manoeuvre.

        Returns
        -------
        dict
            The change by key of the car file, in the unit of the metric.
        """
        fitted = self._fit_polynomial(metric, 1)
        return {
            f.key: float(2 * c) for f, c in zip(self.factors, fitted.coefficients[1:], strict=True)
        }

    def surface(self, metric: str) -> Surface:
        """The response surface of a metric.

        Parameters
        ----------
        metric : str
            Name of a metric of the manoeuvre.

        Returns
        -------
        Surface
            Called with values of the factors by key, it returns the metric; `r2` says how well it
            fits.
        """
        return self._fit_polynomial(metric, 2)

    def _fit_polynomial(self, metric: str, order: int) -> Surface:
        y = self[metric]
        is_valid = np.isfinite(y)
        x = _coded_factors(self.factors, self.setups[is_valid])
        for n in range(order, 0, -1):
            terms = tuple(
                t
                for k in range(n + 1)
                for t in combinations_with_replacement(range(len(self.factors)), k)
            )
            A = _design_matrix(x, terms)
            if np.linalg.matrix_rank(A) == len(terms):
                coefficients = np.linalg.lstsq(A, y[is_valid], rcond=None)[0]
                residuals, spread = y[is_valid] - A @ coefficients, y[is_valid] - y[is_valid].mean()
                explained = (
                    1.0
                    if not spread.any()
                    else 1.0 - float(residuals @ residuals) / float(spread @ spread)
                )
                return Surface(self.factors, terms, coefficients, explained)
        raise ModelError(
            f"{int(is_valid.sum())} set-ups with a value of '{metric}' do not determine its effects"
        )

    @cached_property
    def varying(self) -> list[str]:
        """Metrics that the factors change."""
        return [n for n, y in self.metrics.items() if np.isfinite(y).sum() > 1 and np.nanstd(y) > 0]

    def order(self, metric: str) -> Array:
        """Rows from the lowest to the highest value of a metric; failed runs last.

        Parameters
        ----------
        metric : str
            Name of a metric of the manoeuvre.

        Returns
        -------
        ndarray
            Row numbers of `setups`.
        """
        return np.argsort(self[metric], kind="stable")

    def save(self, path: str | Path) -> Path:
        """Write a CSV file: factors and metrics, units, then one row for each set-up.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Path
            The file that was written.
        """
        names, columns = (
            [*(f.key for f in self.factors), *self.metrics],
            [*self.setups.T, *self.metrics.values()],
        )
        lines = [
            ",".join(names),
            ",".join([*(f.unit or "-" for f in self.factors), *self.units.values()]),
        ]
        lines += [",".join(repr(float(x)) for x in row) for row in zip(*columns, strict=True)]
        report_io_errors("write", Path(path), lambda: write_text(path, "\n".join(lines) + "\n"))
        return Path(path)

    def page(self, path: str | Path) -> Path:
        """Write an HTML page: effects, and all set-ups in a table that a click on a column sorts.

        Parameters
        ----------
        path : str or Path
            The .html file.

        Returns
        -------
        Path
            The file that was written.
        """
        keys = [f.key for f in self.factors]
        effects = [(n, *self.effects(n).values(), self.surface(n).r2) for n in self.varying]
        rows = [
            (*map(float, s), *(float(self.metrics[n][i]) for n in self.metrics))
            for i, s in enumerate(self.setups)
        ]
        heads = [*keys, *(f"{n} ({self.units[n]})" for n in self.metrics)]
        sections = [
            html_section(
                "effects",
                "Effects",
                paragraph(
                    "Change of each metric from the lowest to the highest value of a "
                    "factor, and fraction of its variance that the response surface explains."
                ),
                html_table(["metric", *keys, "R2"], effects, range(1, len(keys) + 2)),
            ),
            html_section(
                "setups",
                "Set-ups",
                paragraph("A click on a column sorts by it."),
                html_table(heads, rows, range(len(heads))),
            ),
        ]
        title = HtmlText(
            html_table(
                ["car", "manoeuvre", "set-ups"], [(self.car, self.manoeuvre, str(len(self.setups)))]
            )
        )
        text = PAGE.replace("CONTENT", "\n".join([title, *sections]))
        return save_page(path, text)


PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Design of experiments</title>
<style>body{font-family:sans-serif;margin:2em}table{border-collapse:collapse}
td,th{border:1px solid #ccc;padding:2px 8px}#setups th{cursor:pointer}td{text-align:right}\
</style></head><body>
<h1>Design of experiments</h1>
CONTENT
<script>
document.querySelectorAll("#setups th").forEach((head, column) => \
head.addEventListener("click", () => {
  const body = head.closest("table").querySelector("tbody") || head.closest("table");
  const rows = [...body.rows].filter(row => row.querySelector("td"));
  const value = row => { const x = parseFloat(row.cells[column].textContent); \
return isNaN(x) ? Infinity : x; };
  const sign = head.dataset.up === "1" ? -1 : 1;
  head.dataset.up = sign === 1 ? "1" : "0";
  rows.sort((a, b) => sign * (value(a) - value(b))).forEach(row => body.append(row));
}));
</script></body></html>
"""


def _coded_factors(factors: Sequence[Factor], x: Array) -> Array:
    low, high = (np.array([getattr(f, end) for f in factors]) for end in ("low", "high"))
    return (2 * x - low - high) / (high - low)


def _design_matrix(x: Array, terms: Sequence[Sequence[int]]) -> Array:
    return np.column_stack(
        [np.prod(x[:, list(t)], axis=1) if t else np.ones(len(x)) for t in terms]
    )


# ---- set-ups by parameters of one model


@dataclass(frozen=True, eq=False)
class _ParameterLevels:
    """Parameters of the car, and what each value of each factor adds to them, in the units of the
    model."""

    usual: Mapping[str, float]
    added: tuple[
        tuple[Array, Mapping[str, Array]], ...
    ]  # of each factor: values, and additions at them by parameter

    def parameters_at(self, setup: Array) -> dict[str, float]:
        """Parameters that differ from those of the car; what several factors change is the sum of
        their changes."""
        parameters: dict[str, float] = {}
        for (values, additions), x in zip(self.added, setup, strict=True):
            weights = np.array(
                [np.prod([(x - o) / (v - o) for o in values if o != v]) for v in values]
            )
            matches = np.flatnonzero(values == x)
            for name, y in additions.items():
                addition = float(y[matches[0]] if len(matches) else weights @ y)
                if addition:
                    parameters[name] = parameters.get(name, self.usual[name]) + addition
        return parameters


def model_content_and_values(car: Car) -> tuple[str, dict[str, float]]:
    """What a model consists of besides its parameters, and their values."""
    frozen = manoeuvre_system(car, DEFAULT_DRIVER, None).description.snapshot()
    values = {p.name: float(p.value) for p in frozen.parameters.values() if p.value is not None}
    tables = {k: v for k, v in equation_independent_data(frozen).items() if k != "ranges"}
    return equation_digest(frozen) + object_digest(tables), values


def _find_parameter_levels(
    car: Car, factors: Sequence[Factor], setups: Array
) -> _ParameterLevels | None:
    """None where set-ups differ from the car in more than parameters."""
    try:
        base_content, base_parameters = model_content_and_values(car)
        levels_found = []
        for i, f in enumerate(factors):
            values = np.unique(setups[:, i])
            if len(values) > FEW:
                values = np.array([f.low, (f.low + f.high) / 2, f.high])
            cars = [
                model_content_and_values(car.changed(**f.as_car_sections(float(x)))) for x in values
            ]
            if any(
                content != base_content or parameters.keys() != base_parameters.keys()
                for content, parameters in cars
            ):
                return None
            additions = {
                n: np.array([parameters[n] - x for _, parameters in cars])
                for n, x in base_parameters.items()
            }
            levels_found.append((values, {n: y for n, y in additions.items() if y.any()}))
        levels = _ParameterLevels(base_parameters, tuple(levels_found))
        for setup in setups[[0, len(setups) // 2, -1]]:  # all factors at once
            content, parameters = model_content_and_values(_car_with_setup(car, factors, setup))
            merged = base_parameters | levels.parameters_at(setup)
            if content != base_content or not all(
                _equals_sum_of_changes(n, parameters[n], x) for n, x in merged.items()
            ):
                return None
    except NotPortable:
        return None
    return levels


def _equals_sum_of_changes(name: str, actual: float, sum_of: float) -> bool:
    tolerance = RESTING if name.startswith(("k_rest_", "l_rest_")) else SAME
    return abs(actual - sum_of) <= LEVERS.get(name, tolerance * abs(actual) + 1e-12)


def _car_with_setup(car: Car, factors: Sequence[Factor], setup: Array) -> Car:
    for f, value in zip(factors, setup, strict=True):
        car = car.changed(**f.as_car_sections(float(value)))
    return car


class _SetupRunner:
    """Drives set-ups of a car by `drive`; in another process, of a car made there from its
    sections."""

    def __init__(
        self,
        car: Car,
        drive: Drive,
        name: str,
        settings: Mapping[str, Any],
        factors: Sequence[Factor],
        levels: _ParameterLevels | None,
    ) -> None:
        self.car, self.drive, self.name, self.settings = car, drive, name, settings
        self.factors, self.levels = factors, levels

    def __call__(self, setup: Array) -> dict[str, tuple[float, str, str]] | str:
        try:
            if self.levels is None:
                car = _car_with_setup(self.car, self.factors, setup)
            else:
                car = self.car.with_parameters(self.levels.parameters_at(setup))
            result = self.drive(car, self.name, **self.settings)
        except BellcrankError as error:
            return str(error)
        if result.invalid:
            return f"{NOT_VALID}: {'; '.join(result.invalid)}"
        return {
            n: (float(f.value), f.unit, f.label)
            for n, f in result.metrics.details.items()
            if _is_number(f.value)
        }


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float | np.floating)


_worker: _SetupRunner | None = None


def _start_worker(arguments: Mapping[str, Any], folder: Path, *driver_arguments: Any) -> None:
    global _worker
    _worker = _SetupRunner(Car(folder=folder, **arguments), *driver_arguments)


_token, _lock = (
    "",
    Lock(),
)  # which experiment `_worker` belongs to; workers may be threads of one process


def _run_setup_of_experiment(token: str, setup_arguments: tuple[Any, ...], setup: Array) -> Any:
    global _token
    with _lock:
        if _token != token:
            _start_worker(*setup_arguments)
            _token = token
        return _run_setup(setup)


def _run_setup(setup: Array) -> Any:
    assert _worker is not None
    return _worker(setup)


def setup_matrix(factors: Sequence[Factor], samples: int | None, seed: int) -> Array:
    """All combinations of the values, or a Latin hypercube of so many samples between the ends of
    the ranges."""
    if samples is None:
        count = int(np.prod([len(f.values) for f in factors]))
        if count > MOST:
            raise ModelError(
                f"{count} combinations are more than {MOST}; give samples= for a Latin hypercube"
            )
        return np.array(list(product(*(f.values for f in factors))))
    if not 2 <= samples <= MOST:
        raise ModelError(f"samples={samples} must lie between 2 and {MOST}")
    from scipy.stats import qmc

    unit = qmc.LatinHypercube(len(factors), seed=seed).random(samples)
    return np.asarray(qmc.scale(unit, [f.low for f in factors], [f.high for f in factors]))


def run_experiment(
    car: Car,
    drive: Drive,
    name: str,
    vary: Mapping[str, Any],
    settings: Mapping[str, Any],
    samples: int | None = None,
    seed: int = 0,
    cores: int | None = None,
    report: OnProgress | None = None,
    executor: Executor | None = None,
) -> Experiment:
    """Drives all set-ups; see `bellcrank.vehicles.manoeuvres.experiment`."""
    factors = tuple(Factor.read(key, values) for key, values in vary.items())
    if not factors:
        raise ModelError(
            "an experiment needs a factor: vary={'front.spring.stiffness': '25:45:5 N/mm'}"
        )
    setups = setup_matrix(factors, samples, seed)
    levels = _find_parameter_levels(car, factors, setups)
    driver = _SetupRunner(car, drive, name, settings, factors, levels)
    if executor is None:
        outcomes = list(_run_on_cores(driver, setups, cores, report))
    elif car.is_extended:
        raise ModelError(
            "executor: an extended car cannot be sent to other processes; use cores=1", car.name
        )
    else:
        outcomes = list(_run_on_executor(driver, setups, executor, report))
    first = next((r for r in outcomes if not isinstance(r, str)), None)
    if first is None:
        raise ModelError(f"{name} was driven with no set-up: {outcomes[0]}")
    metrics = {
        n: np.array([np.nan if isinstance(r, str) else r.get(n, (np.nan,))[0] for r in outcomes])
        for n in first
    }
    failures = {i: r for i, r in enumerate(outcomes) if isinstance(r, str)}
    units, labels = ({n: str(x[k]) for n, x in first.items()} for k in (1, 2))
    return Experiment(
        car.name, name, factors, setups, metrics, units, labels, failures, levels is not None
    )


def _run_on_cores(
    driver: _SetupRunner, setups: Array, cores: int | None, report: OnProgress | None
) -> Iterable[Any]:
    count = min(
        len(setups),
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
    )
    count = count if cores is None else min(cores, len(setups))
    if count <= 1 or driver.car.is_extended:
        outcomes: Iterable[Any] = map(driver, setups)
        yield from _with_progress(outcomes, len(setups), report)
        return
    yield driver(setups[0])  # the model is compiled once, before others ask for it
    driver_arguments = (driver.drive, driver.name, driver.settings, driver.factors, driver.levels)
    with ProcessPoolExecutor(
        count,
        initializer=_start_worker,
        initargs=(driver.car.given, driver.car.folder, *driver_arguments),
    ) as pool:
        yield from _with_progress(pool.map(_run_setup, setups[1:]), len(setups), report, 1)


def _run_on_executor(
    driver: _SetupRunner, setups: Array, executor: Executor, report: OnProgress | None
) -> Iterable[Any]:
    """By the processes of an executor; each makes the car once."""
    driver_arguments = (driver.drive, driver.name, driver.settings, driver.factors, driver.levels)
    drive = partial(
        _run_setup_of_experiment,
        uuid4().hex,
        (driver.car.given, driver.car.folder, *driver_arguments),
    )
    yield from _with_progress(executor.map(drive, list(setups)), len(setups), report)


def _with_progress(
    outcomes: Iterable[Any], count: int, report: OnProgress | None, finished: int = 0
) -> Iterable[Any]:
    for i, result in enumerate(outcomes, finished + 1):
        if report is not None:
            report(i / count, f"{i} of {count} set-ups")
        yield result
