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
        parts = tuple(_part(t, t.text("name", str(i))) for i, t in enumerate(r.tables("parts"), 1))
    else:
        parts = (_part(r, ""),)
    if len({p.name for p in parts}) < len(parts):
        r.problem(f"the parts must have different names, given {', '.join(repr(p.name) for p in parts)}")
    count = sum(_count(p) for p in parts)
    if count > MOST:
        r.problem(f"{count} runs are more than {MOST}")
        return ()
    return parts


def _count(part: Part) -> int:
    return math.prod(len(v) for v in part.grid.values()) * (part.samples.count if part.samples else 1)


def _part(t: Reader, name: str) -> Part:
    if "parts" not in t.data and name:
        t.known(("name", "grid", "samples"))
    g = t.table("grid")
    grid = {key: values for key in g.data if (values := _grid(g, key))}
    samples = _samples(t.table("samples")) if "samples" in t.data else None
    twice = [n for n in grid if samples and n in samples.of]
    if twice:
        t.problem(f"{', '.join(twice)} is both in grid and in samples")
    if not g.data and "samples" not in t.data:
        t.problem("there is nothing to vary: a table grid or samples is needed")
    return Part(name, grid, samples)


def _grid(t: Reader, key: str) -> list[Value]:
    """[1, 2, 3], or {from = 1, to = 3, count = 3}, with spacing = "log" if wanted."""
    given = t.data[key]
    if isinstance(given, Mapping):
        return _range(t.table(key))
    if not isinstance(given, list) or not given:
        t.problem(f"{key} = {given!r} must be a list of values, or {{from = , to = , count = }}")
        return []
    for x in given:
        if not isinstance(x, int | float | str) or (isinstance(x, float) and not math.isfinite(x)):
            t.problem(f"{key}: {x!r} is not a finite number or text")
            return []
    if len({repr(float(x)) if isinstance(x, int | float) else x for x in given}) < len(given):
        t.problem(f"{key}: a value stands there twice")
    return list(given)


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
    how = t.choice("how", HOW, HOW[0])
    inner = t.table("of")
    of = {name: d for name in inner.data if (d := _distribution(inner, name)) is not None}
    if not t.needs("count", "seed", "of"):
        return None
    count, seed = t.whole("count", 1), t.whole("seed", 0)
    return None if count is None or seed is None or not of else Samples(count, seed, how, of)


def _distribution(t: Reader, name: str) -> tuple[str, tuple[float, float]] | None:
    given = t.data[name]
    allowed = ", ".join(f"{kind} = {words}" for kind, words in DISTRIBUTIONS.items())
    if not isinstance(given, Mapping) or len(given) != 1 or next(iter(given)) not in DISTRIBUTIONS:
        t.problem(f"{name} = {given!r} is not a distribution; it is one of {allowed}")
        return None
    ((kind, pair),) = given.items()
    if wrong := wrong_numbers(kind, pair):
        t.problem(f"{name}: {wrong}")
        return None
    return kind, (pair[0], pair[1])


def read_inputs(t: Reader) -> dict[str, Any]:
    """Numbers, formulas, signals {step = {at = 1, height = 2}}, or samples {t = [..], value = [..]}."""
    found = {}
    for name, given in t.data.items():
        if not isinstance(given, Mapping):
            value: Any = t.formula(name)
        elif set(given) == {"t", "value"}:
            value = {key: _numbers(t.table(name), key) for key in ("t", "value")}
        elif len(given) == 1 and next(iter(given)) in SIGNALS:
            ((kind, _),) = given.items()
            inner = t.table(name).table(kind)
            inner.known(SIGNALS[kind])
            value = {kind: {key: v for key in inner.data if (v := inner.formula(key)) is not None}}
        else:
            known = ", ".join(SIGNALS)
            t.problem(f"{name} must be a number, a formula, {{t = [...], value = [...]}}, or one of {known}")
            continue
        if value is not None:
            found[name] = value
    return found


def _numbers(t: Reader, key: str) -> list[float]:
    given = t.data[key]
    numbers = isinstance(given, list) and all(isinstance(x, int | float) and math.isfinite(x) for x in given)
    if numbers and len(given) > 1:
        return [float(x) for x in given]
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
    given, of = t.text("kind", ""), t.data["of"]
    try:
        kind, number = read_kind(given, f"the metric '{given}'")
    except ModelError as error:
        t.problem(str(error).removesuffix("."))
        return None
    channels = [of] if isinstance(of, str) else of
    if not isinstance(channels, list) or not channels or not all(isinstance(c, str) for c in channels):
        t.problem(f"of = {of!r} must be a channel or a list of channels")
        return None
    start, end = t.number("from"), t.number("until")
    if start is not None and end is not None and not start < end:
        t.problem(f"from = {start!r} must lie before until = {end!r}")
    return Metric(kind, tuple(channels), number, start or 0.0, math.inf if end is None else end)
