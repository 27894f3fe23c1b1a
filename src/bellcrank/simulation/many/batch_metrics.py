"""Metrics of many runs, found while they continue, so that no history need be kept.

In:  what a user asks for. Out: `BatchMetric` records. `kernel/many_rows.c` finds them in compiled
runs, `BatchMetric.evaluate` for histories that are there already.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.core.metrics.metric import Metric, MetricKind
from bellcrank.core.metrics.metric_kinds import parse_metric_kind
from bellcrank.mechanics.interface.interface import CHANNELS, Interface, Quantity

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class BatchMetric:
    """One number of every run: a kind of metric of a channel; `label` as the user wrote it."""

    channel: Quantity
    kind: MetricKind
    number: float | None
    label: str

    def evaluate(self, t: NDArray[np.float64], x: NDArray[np.float64]) -> float:
        """Its value for a history."""
        return self.kind.value(t, [x], self.number) if len(x) else math.nan


def read_batch_metrics(
    interface: Interface, metrics: Any, channels: Sequence[Quantity]
) -> list[BatchMetric]:
    """What `metrics=` asks for: by channel, of all channels that are kept, or as metrics that name
    theirs."""
    if metrics is None:
        return []
    if isinstance(metrics, Mapping):
        return [
            f
            for name, kinds in metrics.items()
            for f in _metrics_of_channel(
                interface, find_channel(interface, name, "metrics="), kinds
            )
        ]
    result = []
    for x in _as_list(metrics):
        if isinstance(x, Metric):
            result.append(_batch_metric_from_metric(interface, x))
        elif not channels:
            raise ModelError(
                f"metrics={metrics!r}: name channels too, with channels= or as "
                f"metrics={{channel: [...]}}"
            )
        else:
            result += [
                f for channel in channels for f in _metrics_of_channel(interface, channel, x)
            ]
    return result


def metrics_name_channels(metrics: Any) -> bool:
    """Does `metrics=` name all channels itself?"""
    return isinstance(metrics, Mapping) or all(isinstance(x, Metric) for x in _as_list(metrics))


def _as_list(values: Any) -> list[Any]:
    return (
        list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]
    )


def _metrics_of_channel(interface: Interface, channel: Quantity, metrics: Any) -> list[BatchMetric]:
    return [
        _batch_metric_from_metric(interface, x, channel)
        if isinstance(x, Metric)
        else _batch_metric_from_text(channel, x)
        for x in _as_list(metrics)
    ]


def _batch_metric_from_metric(
    interface: Interface, metric: Metric, listed_channel: Quantity | None = None
) -> BatchMetric:
    if len(metric.channels) != 1 or not metric.whole:
        raise ModelError(
            f"metrics=: {metric!r} is of several channels or of a part of the run; many "
            f"runs have metrics "
            "of one channel over the whole run"
        )
    channel = find_channel(interface, metric.channels[0], "metrics=")
    if listed_channel not in (None, channel):
        raise ModelError(
            f"metrics=: {metric!r} is listed under the channel "
            f"'{listed_channel.name if listed_channel else ''}'"
        )
    return BatchMetric(channel, metric.kind, metric.number, metric.text)


def find_channel(interface: Interface, name: Any, option: str) -> Quantity:
    """A channel by its name."""
    channel = interface.find_channel(name)
    return (
        interface.find_or_raise(name, CHANNELS, f"{option} channel") if channel is None else channel
    )


def _batch_metric_from_text(channel: Quantity, word: Any) -> BatchMetric:
    kind, number = parse_metric_kind(word, f"metrics=: {word!r} of '{channel.name}'")
    return BatchMetric(channel, kind, number, str(word).strip().lower())
