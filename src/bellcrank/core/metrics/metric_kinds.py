"""Kinds of metrics: each is defined here once, and its running update for many runs in
`kernel/many_rows.c`.

A new kind is a record here and a case there; `python -m bellcrank.codegen.c.kernel_tables` numbers
them.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.metrics import metric_values
from bellcrank.core.metrics.metric import MetricKind
from bellcrank.core.name_lookup import parse_call_text


def _unit_per_second(unit: str) -> str:
    head, slash, below = unit.rpartition("/")
    return f"{head}/s2" if slash and below == "s" else f"{unit or '1'}/s"


def _seconds_unit(unit: str) -> str:
    return "s"


final = MetricKind("final", "last value", lambda t, x: float(x[-1]))
min = MetricKind("min", "smallest value", lambda t, x: float(np.min(x)), together=builtins.min)
max = MetricKind("max", "largest value", lambda t, x: float(np.max(x)))
peak = MetricKind("peak", "largest magnitude", metric_values.peak)
travel = MetricKind("travel", "largest minus smallest value", lambda t, x: float(np.ptp(x)))
mean = MetricKind("mean", "mean over time", metric_values.mean)
rms = MetricKind("rms", "root of the mean over time of the square", metric_values.rms)
std = MetricKind(
    "std", "standard deviation: rms of what differs from the mean over time", metric_values.std
)
percentile = MetricKind(
    "percentile",
    "value below which so many percent of the samples lie",
    metric_values.percentile,
    "percent",
    95.0,
)
crossing = MetricKind(
    "crossing",
    "time at which a level is first crossed, up or down",
    metric_values.crossing,
    "level",
    unit=_seconds_unit,
)
wk = MetricKind(
    "wk",
    "rms of an acceleration weighted by W_k of ISO 2631-1:1997 (vertical)",
    lambda t, x: metric_values.weighted_rms(t, x, "wk"),
)
wd = MetricKind(
    "wd",
    "rms of an acceleration weighted by W_d of ISO 2631-1:1997 (horizontal)",
    lambda t, x: metric_values.weighted_rms(t, x, "wd"),
)
sd = MetricKind(
    "sd",
    "largest change of a velocity per time, step by step",
    metric_values.max_slope,
    unit=_unit_per_second,
)
load_variation = MetricKind(
    "load_variation",
    "standard deviation of a load divided by its mean",
    metric_values.load_variation,
    unit=lambda _: "1",
)
airborne = MetricKind(
    "airborne",
    "time during which no load is positive",
    lambda t, x: metric_values.time_without_load(t, x[None]),
    unit=_seconds_unit,
    joint=metric_values.time_without_load,
)

KINDS: dict[str, MetricKind] = {
    k.name: k
    for k in (
        final,
        min,
        max,
        peak,
        travel,
        mean,
        rms,
        std,
        percentile,
        crossing,
        wk,
        wd,
        sd,
        load_variation,
        airborne,
    )
}
"""All kinds by name, in the order of their numbers in C."""
TEXTS = tuple(kind.text() for kind in KINDS.values())
"""How they are written as text."""


def parse_metric_kind(word: Any, label: str) -> tuple[MetricKind, float | None]:
    """The kind and the number that text such as "rms" or "percentile(95)" names; an error begins
    with `label`."""
    text = str(word).strip().lower()
    name, numbers = parse_call_text(text) or (text, ())
    kind = KINDS.get(name)
    if kind is None or len(numbers) > bool(kind.number):
        suggestion = "" if kind else did_you_mean(name, KINDS)
        raise ModelError(f"{label} is not known.{suggestion} It is one of {', '.join(TEXTS)}.")
    if kind.number and not numbers:
        raise ModelError(f"{label}: the {kind.number} is missing, as in {kind.text()}")
    try:
        number = float(numbers[0]) if numbers else None
    except ValueError:
        raise ModelError(f"{label}: {numbers[0]!r} is not a number") from None
    return kind, kind.check_number(number, label)
