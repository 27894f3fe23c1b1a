"""A model of a study: built, derived and compiled once, then run with the values of many runs."""

from __future__ import annotations

import inspect
import math
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank import vehicles
from bellcrank.api.equations import Equations
from bellcrank.api.system import System
from bellcrank.choices import Backend
from bellcrank.core.errors import BellcrankError, ModelError, ModelWarning, did_you_mean
from bellcrank.core.numeric.run_spec import RunSpec
from bellcrank.core.signals import signal_by_kind
from bellcrank.mechanics.interface.interface import PARAMETERS, STATES, Interface
from bellcrank.model.guess import with_guess
from bellcrank.simulation.many.study_batches import max_batch_size, run_study_batch, to_batch_values
from bellcrank.simulation.run.argument_checks import resolve_run_spec
from bellcrank.simulation.run.result import Run
from bellcrank.study.job import Job, make_metrics
from bellcrank.study.study_formulas import FormulaValues
from bellcrank.study.study_rows import FINISHED
from bellcrank.vehicles import terrain as terrains
from bellcrank.vehicles import tyres

SIMULATE = ("t_end", "step", "method", "output_every", "dae", "rtol", "atol")


def constructors(module: Any, result: str) -> dict[str, Callable[..., Any]]:
    """The functions of a module that return vehicles ("System") or terrains ("Terrain"), by
    name."""
    listed = {name: f for name in module.__all__ if inspect.isfunction(f := getattr(module, name))}
    return_types = {
        name: str(f.__annotations__.get("return")).rpartition(".")[2] for name, f in listed.items()
    }
    return {name: f for name, f in listed.items() if return_types[name] == result}


def call_with_arguments(
    label: str, function: Callable[..., Any], arguments: Mapping[str, Any]
) -> Any:
    """Calls a function with arguments of a study file; those it does not take are reported."""
    signature = inspect.signature(function)
    open_ended = any(
        p.kind is p.VAR_KEYWORD for p in signature.parameters.values()
    )  # it reports itself what it takes
    unknown = [] if open_ended else [name for name in arguments if name not in signature.parameters]
    if unknown:
        suggestion, parameters = (
            did_you_mean(unknown[0], signature.parameters),
            ", ".join(signature.parameters),
        )
        raise ModelError(
            f"{label} takes no {' and no '.join(map(repr, unknown))}.{suggestion} It takes "
            f"{parameters}."
        )
    try:
        signature.bind(**arguments)
        return function(**arguments)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{label}: {error}") from None


def choose_by_name(kind: str, choices: Mapping[str, Any], name: Any) -> Any:
    if not isinstance(name, str) or name not in choices:
        suggestion, listed = did_you_mean(str(name), choices), ", ".join(sorted(choices))
        raise ModelError(f"no {kind} {name!r}.{suggestion} It is one of {listed}.")
    return choices[name]


def build_model(job: Job, path: Path | None = None) -> System:
    """The model of a job with the channels the study adds; `path` is where its file lies, if it
    lies here."""
    model = job["model"]
    system = _read_model_text(model, path) if model.get("file") else _build_vehicle(model)
    for name, (formula, units, label) in job["outputs"].items():
        try:
            system.add_output(name, formula, label=label, units=units)
        except ModelError as error:
            raise ModelError(f"output '{name}': {error}") from None
    return system


def _build_vehicle(model: Mapping[str, Any]) -> System:
    maker = choose_by_name("vehicle", constructors(vehicles, "System"), model["vehicle"])
    arguments = dict(model["arguments"])
    if "slip" in arguments:
        slip = arguments["slip"]
        arguments["slip"] = (
            list(map(_make_slip_law, slip)) if isinstance(slip, list) else _make_slip_law(slip)
        )
    if model.get("terrain") is not None:
        ground = dict(model["terrain"])
        kind = ground.pop("kind", None)
        terrain = choose_by_name("terrain", constructors(terrains, "Terrain"), kind)
        arguments["terrain"] = call_with_arguments(f"terrain {kind}", terrain, ground)
    system = call_with_arguments(f"vehicle {model['vehicle']}", maker, arguments)
    assert isinstance(system, System)
    return system


def _make_slip_law(entry: Any) -> Any:
    """How a tyre holds the road: a table with the fields of a law, of `bc.Slip` unless its kind is
    another."""
    if not isinstance(entry, Mapping):
        raise ModelError(
            f"slip = {entry!r} must be a table such as {{ longitudinal = 60e3, cornering = 45e3 }}"
        )
    fields = dict(entry)
    kind = fields.pop("kind", "Slip")
    laws = {
        name: slip_law
        for name in tyres.__all__
        if hasattr(slip_law := getattr(tyres, name), "define_forces")
    }
    law = choose_by_name("slip", laws, kind)
    return call_with_arguments(f"slip {kind}", law, fields)


def _read_model_text(model: Mapping[str, Any], path: Path | None) -> System:
    if path is not None:
        return _read_model_file(path, model["arguments"])
    with tempfile.TemporaryDirectory(prefix="bellcrank-study-") as folder:
        for name, text in model["files"].items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text(text, encoding="utf-8")
        return _read_model_file(Path(folder) / model["file"], model["arguments"])


def _read_model_file(path: Path, arguments: Mapping[str, Any]) -> System:
    try:
        return System.read(path, **arguments)
    except (BellcrankError, OSError):
        raise
    except Exception as error:  # whatever the code of a model file does wrong
        raise ModelError(f"{path.name}: {type(error).__name__}: {error}") from error


def failed_record(job: Job, message: str) -> dict[str, Any]:
    """What is recorded of a run that could not be made."""
    return _run_record(job, message, {}, (), 0.0)


def _run_record(
    job: Job,
    message: str,
    metrics: Mapping[str, float | None],
    notes: Iterable[str],
    seconds: float,
) -> dict[str, Any]:
    """What is recorded of a run; one that has not finished has no metrics."""
    recorded = {
        name: metrics.get(name) if message == FINISHED else None for name in make_metrics(job)
    }
    return {
        "metrics": recorded,
        "ended": message,
        "notes": list(dict.fromkeys(notes))[:5],
        "seconds": seconds,
    }


class StudyRunner:
    """A compiled model, run with the settings of settled jobs."""

    def __init__(self, equations: Equations, backend: Backend | None = None) -> None:
        self.interface = equations.interface
        self.sim = equations.compile(backend=backend or "auto", speed="fast")
        self._cpu = math.inf  # s that a run takes of one core

    def run_job(self, job: Job) -> dict[str, Any]:
        """The metrics of a run and the message that says how it ended. Whatever goes wrong is that
        message."""
        began, cpu = time.perf_counter(), time.process_time()
        metrics: dict[str, float | None] = {}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ModelWarning)
            try:
                settings = {k: v for k, v in job["run"].items() if k in SIMULATE}
                run = self.sim.simulate(**run_options(self.interface, job), **settings)
                message, metrics = run.ended, {}
                if message == FINISHED:
                    message, metrics = self._evaluate_metrics(job, run.time, run)
            except BellcrankError as error:
                message = str(error)
            except (
                Exception
            ) as error:  # a routine of the model, or a fault: the other runs continue
                message = f"{type(error).__name__}: {error}"
        notes = [str(w.message) for w in caught if issubclass(w.category, ModelWarning)]
        self._cpu = time.process_time() - cpu
        return _run_record(job, message, metrics, notes, time.perf_counter() - began)

    def run_jobs(self, jobs: Sequence[Job], seconds: float, threads: int) -> list[dict[str, Any]]:
        """The same for the first of some jobs with the same settings of the run, as many as take
        about so long of each thread: at once where compiled code can."""
        batch, options, spec = self._batchable_jobs(
            jobs, int(min(seconds * threads / max(self._cpu, 1e-6), len(jobs)))
        )
        if len(batch) < 2 or spec is None:
            return [self.run_job(jobs[0])]
        began, cpu = time.perf_counter(), time.process_time()
        names = dict.fromkeys(c for m in make_metrics(jobs[0]).values() for c in m.channels)
        channels = [x for c in names if (x := self.interface.find_channel(c))]
        results = run_study_batch(
            self.sim.loaded, spec, to_batch_values(options), channels, threads
        )
        records = []
        for job, run in zip(batch, results, strict=True):
            if run is not None:
                message, metrics = self._evaluate_metrics(job, run.time, run.channels)
                records.append(_run_record(job, message, metrics, run.notes, 0.0))
        if not records:  # each by itself: what is done is kept before the next begins
            return [self.run_job(jobs[0])]
        self._cpu = (time.process_time() - cpu) / len(records)
        spent = (time.perf_counter() - began) / len(batch)
        each = iter([r | {"seconds": spent} for r in records])
        return [
            self.run_job(job) if run is None else next(each)
            for job, run in zip(batch, results, strict=True)
        ]

    def _batchable_jobs(
        self, jobs: Sequence[Job], max_runs: int
    ) -> tuple[list[Job], list[dict[str, Any]], RunSpec | None]:
        """The first jobs that one spec serves, what each is given, and the spec; none that must go
        by itself."""
        settings = {k: v for k, v in jobs[0]["run"].items() if k in SIMULATE}
        batch: list[Job] = []
        options: list[dict[str, Any]] = []

        def names(groups: Mapping[str, Mapping[Any, Any]]) -> list[list[Any]]:
            return [list(x) for x in groups.values()]

        try:
            if not {"dae", "rtol", "atol"}.isdisjoint(settings) or max_runs < 2:
                return [], [], None
            spec = resolve_run_spec(
                self.interface,
                *(settings.get(k) for k in ("t_end", "step", "method", "output_every")),
            )
            max_runs = min(
                max_runs, max_batch_size(self.sim.loaded, spec, len(self.interface.outputs))
            )
            for job in jobs[:max_runs]:
                values = run_options(self.interface, job)
                if options and names(values) != names(options[0]):
                    break
                batch.append(job)
                options.append(values)
        except BellcrankError:  # of a job that reports it itself
            pass
        return batch, options, spec if batch else None

    def _evaluate_metrics(
        self, job: Job, times: np.ndarray, histories: Run | Mapping[str, np.ndarray]
    ) -> tuple[str, dict[str, float | None]]:
        """How a run that finished ended, and its metrics."""
        channels = {
            c: x.name
            for m in make_metrics(job).values()
            for c in m.channels
            if (x := self.interface.find_channel(c))
        }
        metrics: dict[str, float | None] = {}
        for name, m in make_metrics(job).items():
            with np.errstate(all="ignore"):
                value = m.value(times, [histories[channels[c]] for c in m.channels])
            if not np.isfinite(value):
                return (
                    f"metric '{name}' is {value}: {', '.join(m.channels)} cannot be "
                    f"measured so in this run",
                    {},
                )
            metrics[name] = float(value)
        return FINISHED, metrics


def run_options(interface: Interface, job: Job) -> dict[str, Any]:
    """Parameters, initial values and inputs of a run as numbers and signals.

    Formulas may use the parameters of the model and what the study gives.
    """
    model_defaults = {x.key: x.default for x in interface.of_kinds(PARAMETERS)}
    values: dict[str, float | str] = {
        key: value for key, value in model_defaults.items() if value is not None
    }
    parameters = interface.values_by_key(job["parameters"], PARAMETERS, "parameters")
    names = FormulaValues({**values, **parameters}, interface)
    states = (*STATES, "removed")
    initial_entries = interface.values_by_key(job["initial"], states, "initial")
    guessed = interface.values_by_key(job.get("guess", {}), STATES, "guess")
    initial_values = {
        k: names.number(v, f"initial value of {k}", k) for k, v in initial_entries.items()
    }
    initial = with_guess(
        initial_values, {k: names.number(v, f"guess of {k}", k) for k, v in guessed.items()}
    )
    return {
        "parameters": {name: names[name] for name in parameters if name in model_defaults},
        "initial": initial,
        "inputs": {
            name: _input_value(names, name, values) for name, values in job["inputs"].items()
        },
    }


def _input_value(names: FormulaValues, name: str, entry: Any) -> Any:
    if not isinstance(entry, Mapping):
        return names.number(entry, f"input {name}", name)
    if "t" in entry:
        return (entry["t"], entry["value"])
    ((kind, arguments),) = entry.items()
    return signal_by_kind(
        kind, **{k: names.number(v, f"input {name}, {k}") for k, v in arguments.items()}
    )
