"""The parts of a study file that vary: grids, samples, inputs, metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from bellcrank import signals
from bellcrank.errors import ModelError
from bellcrank.many.sampling import DISTRIBUTIONS, HOW, Samples, Value, wrong_numbers
from bellcrank.metrics.kinds import read_kind
from bellcrank.metrics.metric import Metric
from bellcrank.study.reader import Reader
from bellcrank.study.sampling import Part

SIGNALS = {name: kind.names for name, kind in signals.KINDS.items() if name != "constant"}
MOST = 1_000_000  # runs of a study


def read_parts(r: Reader) -> tuple[Part, ...]:
    """[[parts]], or the one part of [grid] and [samples]."""
    alone = [key for key in ("grid", "samples") if key in r.data]
    if "parts" in r.data and alone:
        r.problem(f"{' and '.join(alone)} must stand in one of the [[parts]], or there are no parts")
    if "parts" in r.data:
        study_parts = tuple(_part(t, t.text("name", str(i))) for i, t in enumerate(r.tables("parts"), 1))
    else:
        study_parts = (_part(r, ""),)
    if len({p.name for p in study_parts}) < len(study_parts):
        r.problem(f"the parts must have different names, given {', '.join(repr(p.name) for p in study_parts)}")
    count = sum(_count(p) for p in study_parts)
    if count > MOST:
        r.problem(f"{count} runs are more than {MOST}")
        return ()
    return study_parts


def _count(part: Part) -> int:
    return math.prod(len(v) for v in part.grid.values()) * (part.samples.count if part.samples else 1)


def _part(t: Reader, name: str) -> Part:
    if "parts" not in t.data and name:
        t.known(("name", "grid", "samples"))
    g = t.table("grid")
    grid = {key: values for key in g.data if (values := _grid(g, key))}
    samples = _samples(t.table("samples")) if "samples" in t.data else None
    duplicates = [n for n in grid if samples and n in samples.of]
    if duplicates:
        t.problem(f"{', '.join(duplicates)} is both in grid and in samples")
    if not g.data and "samples" not in t.data:
        t.problem("there is nothing to vary: a table grid or samples is needed")
    return Part(name, grid, samples)


def _grid(t: Reader, key: str) -> list[Value]:
    """[1, 2, 3], or {from = 1, to = 3, count = 3}, with spacing = "log" if wanted."""
    values = t.data[key]
    if isinstance(values, Mapping):
        return _range(t.table(key))
    if not isinstance(values, list) or not values:
        t.problem(f"{key} = {values!r} must be a list of values, or {{from = , to = , count = }}")
        return []
    for x in values:
        if not isinstance(x, int | float | str) or (isinstance(x, float) and not math.isfinite(x)):
            t.problem(f"{key}: {x!r} is not a finite number or text")
            return []
    if len({repr(float(x)) if isinstance(x, int | float) else x for x in values}) < len(values):
        t.problem(f"{key}: a value stands there twice")
    return list(values)


def _range(t: Reader) -> list[Value]:
    t.known(("from", "to", "count", "spacing"))
    spacing = t.choice("spacing", ("linear", "log"), "linear")
    if not t.needs("from", "to", "count"):
        return []
    low, high, count = t.number("from"), t.number("to"), t.whole("count", 2)
    if low is None or high is None or count is None:
        return []
    inner = range(count - 1)
    if spacing == "linear":
        return [*(low + (high - low) * i / (count - 1) for i in inner), high]
    if low <= 0 or high <= 0:
        t.problem("from and to must be positive with spacing = 'log'")
        return []
    return [*(low * (high / low) ** (i / (count - 1)) for i in inner), high]


def _samples(t: Reader) -> Samples | None:
    t.known(("count", "seed", "how", "of"))
    sampling = t.choice("how", HOW, HOW[0])
    inner = t.table("of")
    distributions = {name: d for name in inner.data if (d := _distribution(inner, name)) is not None}
    if not t.needs("count", "seed", "of"):
        return None
    count, seed = t.whole("count", 1), t.whole("seed", 0)
    return None if count is None or seed is None or not distributions else Samples(count, seed, sampling, distributions)


def _distribution(t: Reader, name: str) -> tuple[str, tuple[float, float]] | None:
    entry = t.data[name]
    choices = ", ".join(f"{kind} = {words}" for kind, words in DISTRIBUTIONS.items())
    if not isinstance(entry, Mapping) or len(entry) != 1 or next(iter(entry)) not in DISTRIBUTIONS:
        t.problem(f"{name} = {entry!r} is not a distribution; it is one of {choices}")
        return None
    ((kind, pair),) = entry.items()
    if problem := wrong_numbers(kind, pair):
        t.problem(f"{name}: {problem}")
        return None
    return kind, (pair[0], pair[1])


def read_inputs(t: Reader) -> dict[str, Any]:
    """Numbers, formulas, signals {step = {at = 1, height = 2}}, or samples {t = [..], value = [..]}."""
    inputs = {}
    for name, entry in t.data.items():
        if not isinstance(entry, Mapping):
            value: Any = t.formula(name)
        elif set(entry) == {"t", "value"}:
            value = {key: _numbers(t.table(name), key) for key in ("t", "value")}
        elif len(entry) == 1 and next(iter(entry)) in SIGNALS:
            ((kind, _),) = entry.items()
            inner = t.table(name).table(kind)
            inner.known(SIGNALS[kind])
            value = {kind: {key: v for key in inner.data if (v := inner.formula(key)) is not None}}
        else:
            signal_kinds = ", ".join(SIGNALS)
            t.problem(f"{name} must be a number, a formula, {{t = [...], value = [...]}}, or one of {signal_kinds}")
            continue
        if value is not None:
            inputs[name] = value
    return inputs


def _numbers(t: Reader, key: str) -> list[float]:
    entry = t.data[key]
    is_numeric = isinstance(entry, list) and all(isinstance(x, int | float) and math.isfinite(x) for x in entry)
    if is_numeric and len(entry) > 1:
        return [float(x) for x in entry]
    t.problem(f"{key} must be a list of finite numbers")
    return []


def read_metrics(t: Reader) -> dict[str, Metric]:
    """name = {kind = , of = channel or list of channels, from = , until = }, or a metric of bc.metrics."""
    if not t.data:
        t.problem("there is no metric: one is name = { kind = ..., of = channel }")
    read = {name: x if isinstance(x, Metric) else _metric(t.table(name)) for name, x in t.data.items()}
    return {name: m for name, m in read.items() if m is not None}


def _metric(t: Reader) -> Metric | None:
    t.known(("kind", "of", "from", "until"))
    if not t.needs("kind", "of"):
        return None
    kind_text, channel_entry = t.text("kind", ""), t.data["of"]
    try:
        kind, number = read_kind(kind_text, f"the metric '{kind_text}'")
    except ModelError as error:
        t.problem(str(error).removesuffix("."))
        return None
    channels = [channel_entry] if isinstance(channel_entry, str) else channel_entry
    if not isinstance(channels, list) or not channels or not all(isinstance(c, str) for c in channels):
        t.problem(f"of = {channel_entry!r} must be a channel or a list of channels")
        return None
    start, end = t.number("from"), t.number("until")
    if start is not None and end is not None and not start < end:
        t.problem(f"from = {start!r} must lie before until = {end!r}")
    return Metric(kind, tuple(channels), number, start or 0.0, math.inf if end is None else end)
