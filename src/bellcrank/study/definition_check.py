"""A study compared with its model: names of all kinds, formulas, settings, tables and plots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bellcrank.core.errors import BellcrankError, ModelError, did_you_mean
from bellcrank.core.files.file_names import file_exists
from bellcrank.core.name_lookup import find_name
from bellcrank.mechanics.interface.interface import PARAMETERS, STATES, Interface
from bellcrank.simulation.run.argument_checks import resolve_run_spec
from bellcrank.simulation.run.dae_methods import to_dae
from bellcrank.simulation.run.loaded import BACKENDS
from bellcrank.study.job import GROUPS, Job, is_state_name, make_metrics
from bellcrank.study.runner import run_options
from bellcrank.study.study_formulas import CircularDefinition, names_in_formula
from bellcrank.study.study_records import PlotSpec, StudyDefinition, TableSpec

RUN = ("t_end", "step", "method", "dae")


def definition_problems(definition: StudyDefinition, job: Job, interface: Interface) -> list[str]:
    """Everything in a study that its model does not know; `job` is that of the first run."""
    names = [*_name_problems(definition, interface), *_state_problems(definition, interface)]
    problems = [
        *names,
        *_input_problems(definition, interface),
        *_metric_problems(definition, job, interface),
        *_run_problems(definition, job, interface),
        *_table_and_plot_problems(definition),
    ]
    if not names:
        try:
            run_options(interface, job)
        except CircularDefinition as error:
            problems += error.problems
        except ModelError:  # of these values alone: a row of the study will report it
            pass
    return problems


def _sorted_list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names, key=str.lower)) or "none"


def _all_formulas(definition: StudyDefinition) -> Iterator[tuple[str, str]]:
    """Every formula of a study, with its place."""
    for group in ("parameters", "initial", "guess"):
        for name, entry in getattr(definition, group).items():
            if isinstance(entry, str):
                yield f"[{group}] {name}", entry
    for name, entry in definition.inputs.items():
        arguments: Mapping[str, Any] = entry if isinstance(entry, Mapping) else {"": entry}
        for inner in arguments.values():
            for value in inner.values() if isinstance(inner, Mapping) else [inner]:
                if isinstance(value, str):
                    yield f"[inputs] {name}", value


def _name_problems(definition: StudyDefinition, interface: Interface) -> Iterator[str]:
    """Parameters that neither the model has nor a formula uses, and names in formulas that nobody
    gives."""
    listed = [x.name for x in interface.of_kinds(PARAMETERS)]
    used_names = {name for _, text in _all_formulas(definition) for name in names_in_formula(text)}
    texts = {
        name: [x for p in definition.parts for x in p.grid.get(name, ()) if isinstance(x, str)]
        for name in definition.varied
    }
    free = [
        n for n in definition.varied if n.partition(".")[0] not in GROUPS and not is_state_name(n)
    ]
    for name in dict.fromkeys((*definition.parameters, *free)):
        if find_name(name, {*listed, *used_names}) is None:
            hint = did_you_mean(name, listed)
            yield (
                f"the model has no parameter '{name}', and no formula uses it.{hint} "
                f"Parameters: {_sorted_list(listed)}."
            )
        elif texts.get(name):
            yield f"parameter '{name}': {texts[name][0]!r} is not a number."
    known_names = [*listed, *definition.parameters, *free]
    for label, text in _all_formulas(definition):
        for name in sorted(
            x for x in names_in_formula(text) if find_name(x, dict.fromkeys(known_names)) is None
        ):
            yield (
                f"{label}: nobody gives '{name}'.{did_you_mean(name, known_names)} Names: "
                f"{_sorted_list(known_names)}."
            )
    for name in definition.varied:
        group, dot, key = name.partition(".")
        if dot and group == "run" and key not in RUN:
            yield f"'{name}' cannot vary; of a run these can: {', '.join(f'run.{r}' for r in RUN)}."
        if dot and group == "terrain" and definition.model.vehicle is None:
            yield f"'{name}' cannot vary: terrain belongs to a vehicle, the model here is a file."


def _state_problems(definition: StudyDefinition, interface: Interface) -> Iterator[str]:
    states = [x.name for x in interface.states]
    for name in dict.fromkeys(
        (
            *definition.initial,
            *definition.guess,
            *(n for n in definition.varied if is_state_name(n)),
        )
    ):
        if interface.find_or_none(name, (*STATES, "removed")) is None:
            yield (
                f"the model has no state '{name}'.{did_you_mean(name, states)} States: "
                f"{', '.join(states)}."
            )


def _input_problems(definition: StudyDefinition, interface: Interface) -> Iterator[str]:
    input_names = [x.name for x in interface.signals]
    for name in definition.inputs:
        if find_name(name, input_names, "input") is None:
            yield (
                f"the model has no input '{name}'.{did_you_mean(name, input_names)} Inputs: "
                f"{_sorted_list(input_names)}."
            )
    values_by_key = interface.inputs_by_key(definition.inputs)
    for x in interface.inputs:
        if not x.rate and x.key not in values_by_key:
            yield f"no value is given for the input '{x.name}': a line in [inputs] is needed."


def _metric_problems(definition: StudyDefinition, job: Job, interface: Interface) -> Iterator[str]:
    used_names = {"part", "ended", *definition.varied}
    for name in definition.metrics:
        if name in used_names:
            yield f"metric '{name}' needs another name: {', '.join(sorted(used_names))} are taken."
    channel_names = [x.name for x in interface.channels]
    for name, m in make_metrics(job).items():
        for c in m.channels:
            if interface.find_channel(c) is None:
                hint = did_you_mean(c, channel_names)
                yield (
                    f"metric '{name}': the model has no channel '{c}'.{hint} Channels: "
                    f"{', '.join(channel_names)}."
                )
        units = {x.unit.text for c in m.channels if (x := interface.find_channel(c)) is not None}
        if len(units) > 1:
            yield f"metric '{name}': its channels have different units, {', '.join(sorted(units))}."


def _run_problems(definition: StudyDefinition, job: Job, interface: Interface) -> Iterator[str]:
    run = job["run"]
    every = run.get("output_every")
    if isinstance(every, float):
        yield f"[run] output_every = {every!r} must be a whole number."
    if run.get("backend", "auto") not in BACKENDS:
        yield (
            f"[run] backend = {run['backend']!r} is not known; it is one of {', '.join(BACKENDS)}."
        )
    try:
        spec = resolve_run_spec(
            interface, run.get("t_end"), run.get("step"), run.get("method"), None
        )
    except BellcrankError as error:
        yield f"[run]: {'; '.join(getattr(error, 'problems', [str(error)]))}."
    else:
        for name, m in definition.metrics.items():
            if m.start >= spec.t_end:
                yield (
                    f"metric '{name}': from = {m.start:g} s lies after the end of the runs, "
                    f"{spec.t_end:g} s."
                )
    if "dae" in run:
        try:
            to_dae(str(run["dae"]))
        except ModelError as error:
            yield from (f"[run] {p}" for p in error.problems)


def _table_and_plot_problems(definition: StudyDefinition) -> Iterator[str]:
    """Tables and plots that name what the study does not have."""
    metrics = list(definition.metrics)
    specs: Sequence[tuple[str, TableSpec | PlotSpec]] = [
        *((f"[[tables]] {i}", t) for i, t in enumerate(definition.tables, 1)),
        *((f"[[plots]] {i}", p) for i, p in enumerate(definition.plots, 1)),
    ]
    by_name = {p.name: p for p in definition.parts}
    for label, spec in specs:
        if spec.value not in metrics:
            hint = did_you_mean(spec.value, metrics)
            yield f"{label}: no metric '{spec.value}'.{hint} Metrics: {_sorted_list(metrics)}."
        if spec.part is not None and spec.part not in by_name:
            yield (
                f"{label}: no part '{spec.part}'.{did_you_mean(spec.part, by_name)} Parts: "
                f"{_sorted_list(by_name)}."
            )
            continue
        if spec.part is None and len(by_name) > 1:
            yield f"{label}: part is missing; it is one of {_sorted_list(by_name)}."
            continue
        varied = by_name[spec.part].varied_names if spec.part is not None else definition.varied
        axes = (
            (spec.rows, spec.columns)
            if isinstance(spec, TableSpec)
            else (spec.x, spec.y, spec.lines)
        )
        for name in (*axes, *spec.where):
            if name is not None and name not in varied:
                yield (
                    f"{label}: '{name}' does not vary there.{did_you_mean(name, varied)} It has "
                    f"{', '.join(varied)}."
                )
        if (
            isinstance(spec, TableSpec)
            and spec.published_file is not None
            and not file_exists(spec.published_file)
        ):
            yield f"{label}: no file {spec.published_file} (next to)."
