"""A study as plain data that can be sent to other machines, the settings of each run, and the key
of a run.

The key of a run is a digest of everything that determines its result: the model with its arguments,
or the text of its file; terrain, channels, settings, values, metrics, and the version of Bellcrank.
Runs with the same key are one run, also of different parts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.core.files.file_names import file_exists
from bellcrank.core.files.text_files import read_text
from bellcrank.core.files.user_modules import imported_files
from bellcrank.core.metrics.metric import Metric, MetricKind
from bellcrank.core.metrics.metric_kinds import parse_metric_kind
from bellcrank.core.name_lookup import normalized_name
from bellcrank.core.version import __version__
from bellcrank.simulation.many.sample_plans import Value
from bellcrank.study.study_records import StudyDefinition

Job = dict[str, Any]
GROUPS = ("model", "terrain", "run")


def is_state_name(name: str) -> bool:
    return normalized_name(name).lower().startswith(("q(", "u("))


def make_job(definition: StudyDefinition) -> Job:
    """The study without its grids: what every run starts from."""
    spec = definition.model
    model: dict[str, Any] = {"vehicle": spec.vehicle, "arguments": dict(spec.arguments)}
    if spec.terrain is not None:
        model["terrain"] = dict(spec.terrain)
    if spec.file is not None:
        model["file"], model["files"] = spec.file.name, _model_texts(spec.file)
    return {
        "bellcrank": __version__,
        "model": model,
        "outputs": {n: [o.formula, o.units, o.label] for n, o in definition.outputs.items()},
        "run": dict(definition.run),
        "parameters": {normalized_name(n): v for n, v in definition.parameters.items()},
        "initial": {normalized_name(n): v for n, v in definition.initial.items()},
        "guess": {normalized_name(n): v for n, v in definition.guess.items()},
        "inputs": dict(definition.inputs),
        "metrics": [
            [name, m.text, list(m.channels), m.start, None if m.end == float("inf") else m.end]
            for name, m in definition.metrics.items()
        ],
    }


def _model_texts(path: Path) -> dict[str, str]:
    """The model file, the routines next to a deck, and what these import from their folder."""
    names = (path, path.with_suffix(".py")) if path.name else ()
    model_files = [file for file in dict.fromkeys(names) if file_exists(file)]
    imported = [p for file in model_files if file.suffix == ".py" for p in imported_files(file)]
    files = dict.fromkeys([*model_files, *imported])
    return {file.relative_to(path.parent).as_posix(): read_text(file, ModelError) for file in files}


def make_metrics(job: Job) -> dict[str, Metric]:
    """The metrics of a run by name."""
    return {
        name: Metric(
            *_kind_and_channels(text, channels), start, float("inf") if end is None else end
        )
        for name, text, channels, start, end in job["metrics"]
    }


def _kind_and_channels(
    text: str, channels: list[str]
) -> tuple[MetricKind, tuple[str, ...], float | None]:
    kind, number = parse_metric_kind(text, text)
    return kind, tuple(channels), number


def apply_run_values(job: Job, values: Mapping[str, Value]) -> Job:
    """The job of one run: its values put where they belong."""
    run_job = {**job, "model": deepcopy(job["model"]), "run": dict(job["run"])}
    for group in ("parameters", "initial"):
        run_job[group] = dict(job[group])
    for name, value in values.items():
        group, dot, key = name.partition(".")
        if dot and group in GROUPS:
            targets = {"model": run_job["model"]["arguments"], "run": run_job["run"]}
            (run_job["model"].setdefault("terrain", {}) if group == "terrain" else targets[group])[
                key
            ] = value
        elif is_state_name(name):
            run_job["initial"][normalized_name(name)] = value
        else:
            run_job["parameters"][normalized_name(name)] = value
    return run_job


def content_digest(data: Any) -> str:
    """A digest of plain data. 1 and 1.0 are the same number."""
    text = json.dumps(
        _integers_to_floats(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _integers_to_floats(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {str(k): _integers_to_floats(v) for k, v in data.items()}
    if isinstance(data, list | tuple):
        return [_integers_to_floats(v) for v in data]
    return (
        float(data)
        if isinstance(data, int) and not isinstance(data, bool) and abs(data) < 2**53
        else data
    )


def run_key(job: Job, values: Mapping[str, Value]) -> str:
    return content_digest(apply_run_values(job, values))


def variant_key(settled_job: Job) -> str:
    """Runs of one variant share one derived and compiled model."""
    backend = settled_job["run"].get("backend")
    return content_digest([settled_job["model"], settled_job["outputs"], backend])
