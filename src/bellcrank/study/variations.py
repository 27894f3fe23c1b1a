"""The parts of a study file that vary: grids, samples, inputs, metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from bellcrank.core import signals
from bellcrank.core.errors import ModelError
from bellcrank.core.metrics.metric import Metric
from bellcrank.core.metrics.metric_kinds import parse_metric_kind
from bellcrank.simulation.many.sample_plans import (
    DISTRIBUTIONS,
    HOW,
    SamplePlan,
    Value,
    distribution_problem,
)
from bellcrank.study.study_parts import StudyPart
from bellcrank.study.table_reader import StudyTableReader

SIGNALS = {
    name: kind.parameter_names for name, kind in signals.SIGNAL_KINDS.items() if name != "constant"
}
MOST = 1_000_000  # runs of a study


def read_parts(r: StudyTableReader) -> tuple[StudyPart, ...]:
    """[[parts]], or the one part of [grid] and [samples]."""
    alone = [key for key in ("grid", "samples") if key in r.data]
    if "parts" in r.data and alone:
        r.add_problem(
            f"{' and '.join(alone)} must stand in one of the [[parts]], or there are no parts"
        )
    if "parts" in r.data:
        study_parts = tuple(
            _read_part(t, t.read_text("name", str(i)))
            for i, t in enumerate(r.sub_tables("parts"), 1)
        )
    else:
        study_parts = (_read_part(r, ""),)
    if len({p.name for p in study_parts}) < len(study_parts):
        r.add_problem(
            f"the parts must have different names, given "
            f"{', '.join(repr(p.name) for p in study_parts)}"
        )
    count = sum(_count_value_runs(p) for p in study_parts)
    if count > MOST:
        r.add_problem(f"{count} runs are more than {MOST}")
        return ()
    return study_parts


def _count_value_runs(part: StudyPart) -> int:
    return math.prod(len(v) for v in part.grid.values()) * (
        part.samples.count if part.samples else 1
    )


def _read_part(t: StudyTableReader, name: str) -> StudyPart:
    if "parts" not in t.data and name:
        t.check_keys(("name", "grid", "samples"))
    g = t.sub_table("grid")
    grid = {key: values for key in g.data if (values := _read_grid(g, key))}
    samples = _read_samples(t.sub_table("samples")) if "samples" in t.data else None
    duplicates = [n for n in grid if samples and n in samples.distributions]
    if duplicates:
        t.add_problem(f"{', '.join(duplicates)} is both in grid and in samples")
    if not g.data and "samples" not in t.data:
        t.add_problem("there is nothing to vary: a table grid or samples is needed")
    return StudyPart(name, grid, samples)


def _read_grid(t: StudyTableReader, key: str) -> list[Value]:
    """[1, 2, 3], or {from = 1, to = 3, count = 3}, with spacing = "log" if wanted."""
    values = t.data[key]
    if isinstance(values, Mapping):
        return _read_range(t.sub_table(key))
    if not isinstance(values, list) or not values:
        t.add_problem(
            f"{key} = {values!r} must be a list of values, or {{from = , to = , count = }}"
        )
        return []
    for x in values:
        if not isinstance(x, int | float | str) or (isinstance(x, float) and not math.isfinite(x)):
            t.add_problem(f"{key}: {x!r} is not a finite number or text")
            return []
    if len({repr(float(x)) if isinstance(x, int | float) else x for x in values}) < len(values):
        t.add_problem(f"{key}: a value stands there twice")
    return list(values)


def _read_range(t: StudyTableReader) -> list[Value]:
    t.check_keys(("from", "to", "count", "spacing"))
    spacing = t.read_choice("spacing", ("linear", "log"), "linear")
    if not t.require_keys("from", "to", "count"):
        return []
    low, high, count = t.read_number("from"), t.read_number("to"), t.read_integer("count", 2)
    if low is None or high is None or count is None:
        return []
    inner = range(count - 1)
    if spacing == "linear":
        return [*(low + (high - low) * i / (count - 1) for i in inner), high]
    if low <= 0 or high <= 0:
        t.add_problem("from and to must be positive with spacing = 'log'")
        return []
    return [*(low * (high / low) ** (i / (count - 1)) for i in inner), high]


def _read_samples(t: StudyTableReader) -> SamplePlan | None:
    t.check_keys(("count", "seed", "how", "of"))
    sampling = t.read_choice("how", HOW, HOW[0])
    inner = t.sub_table("of")
    distributions = {
        name: d for name in inner.data if (d := _read_distribution(inner, name)) is not None
    }
    if not t.require_keys("count", "seed", "of"):
        return None
    count, seed = t.read_integer("count", 1), t.read_integer("seed", 0)
    return (
        None
        if count is None or seed is None or not distributions
        else SamplePlan(count, seed, sampling, distributions)
    )


def _read_distribution(t: StudyTableReader, name: str) -> tuple[str, tuple[float, float]] | None:
    entry = t.data[name]
    choices = ", ".join(f"{kind} = {words}" for kind, words in DISTRIBUTIONS.items())
    if not isinstance(entry, Mapping) or len(entry) != 1 or next(iter(entry)) not in DISTRIBUTIONS:
        t.add_problem(f"{name} = {entry!r} is not a distribution; it is one of {choices}")
        return None
    ((kind, pair),) = entry.items()
    if problem := distribution_problem(kind, pair):
        t.add_problem(f"{name}: {problem}")
        return None
    return kind, (pair[0], pair[1])


def read_inputs(t: StudyTableReader) -> dict[str, Any]:
    """Numbers, formulas, signals {step = {at = 1, height = 2}}, or samples {t = [..], value =
    [..]}."""
    inputs = {}
    for name, entry in t.data.items():
        if not isinstance(entry, Mapping):
            value: Any = t.read_formula(name)
        elif set(entry) == {"t", "value"}:
            value = {key: _read_numbers(t.sub_table(name), key) for key in ("t", "value")}
        elif len(entry) == 1 and next(iter(entry)) in SIGNALS:
            ((kind, _),) = entry.items()
            inner = t.sub_table(name).sub_table(kind)
            inner.check_keys(SIGNALS[kind])
            value = {
                kind: {key: v for key in inner.data if (v := inner.read_formula(key)) is not None}
            }
        else:
            signal_kinds = ", ".join(SIGNALS)
            t.add_problem(
                f"{name} must be a number, a formula, {{t = [...], value = [...]}}, or one "
                f"of {signal_kinds}"
            )
            continue
        if value is not None:
            inputs[name] = value
    return inputs


def _read_numbers(t: StudyTableReader, key: str) -> list[float]:
    entry = t.data[key]
    is_numeric = isinstance(entry, list) and all(
        isinstance(x, int | float) and math.isfinite(x) for x in entry
    )
    if is_numeric and len(entry) > 1:
        return [float(x) for x in entry]
    t.add_problem(f"{key} must be a list of finite numbers")
    return []


def read_metrics(t: StudyTableReader) -> dict[str, Metric]:
    """name = {kind = , of = channel or list of channels, from = , until = }, or a metric of
    bc.metrics."""
    if not t.data:
        t.add_problem("there is no metric: one is name = { kind = ..., of = channel }")
    read = {
        name: x if isinstance(x, Metric) else _read_metric(t.sub_table(name))
        for name, x in t.data.items()
    }
    return {name: m for name, m in read.items() if m is not None}


def _read_metric(t: StudyTableReader) -> Metric | None:
    t.check_keys(("kind", "of", "from", "until"))
    if not t.require_keys("kind", "of"):
        return None
    kind_text, channel_entry = t.read_text("kind", ""), t.data["of"]
    try:
        kind, number = parse_metric_kind(kind_text, f"the metric '{kind_text}'")
    except ModelError as error:
        t.add_problem(str(error).removesuffix("."))
        return None
    channels = [channel_entry] if isinstance(channel_entry, str) else channel_entry
    if (
        not isinstance(channels, list)
        or not channels
        or not all(isinstance(c, str) for c in channels)
    ):
        t.add_problem(f"of = {channel_entry!r} must be a channel or a list of channels")
        return None
    start, end = t.read_number("from"), t.read_number("until")
    if start is not None and end is not None and not start < end:
        t.add_problem(f"from = {start!r} must lie before until = {end!r}")
    return Metric(kind, tuple(channels), number, start or 0.0, math.inf if end is None else end)
