"""Which channels plots show unasked, in which panels, and how small a range of theirs still means
something.

In:  a run. Out: names. Plots of runs, recorded runs and live pages ask here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.core.units import ONE, TIME, UNIT_SYSTEMS, Dimension
from bellcrank.simulation.run.plot_page import RunHistory

MOST = 6  # curves that are drawn unasked
FLAT = 50.0  # times the range of a curve, next to which it is a flat line
SETTLED, ROUNDING = (
    1e-3,
    1e-9,
)  # least range of an axis over that of its channel in the run, over values of its unit
# range over its values, of a channel that is none but for errors of the method, as energy that is
# kept
CONSTANT = 1e-6
AT_REST = 1e3  # times rounding, of an axis whose channel stays at zero


def ordered_outputs(run: RunHistory) -> list[str]:
    """Channels that are no states, those of the whole before those of parts, whose names have a
    dot."""
    listed = [c for c in run if not _is_state(run, c)]
    return sorted(listed, key=lambda c: "." in c)


def order_channels(run: RunHistory) -> list[str]:
    """All channels: those that are drawn unasked, then outputs, then states."""
    defaults = default_channels(run)
    return [
        *defaults,
        *(c for c in ordered_outputs(run) if c not in defaults),
        *(c for c in run if c not in {*defaults, *ordered_outputs(run)}),
    ]


def default_channels(run: RunHistory, max_count: int = MOST) -> list[str]:
    """What is drawn unasked: outputs that vary; coordinates and energies where there are none but
    energies."""
    varying = _varying_channels(run)
    listed = [c for c in ordered_outputs(run) if c in varying]
    if not listed:
        return ([c for c in run if c in varying] or ordered_outputs(run) or list(run))[:max_count]
    energies = [c for c in listed if "energy" in run.labels.get(c, c).lower()]
    without_energies = [c for c in listed if c not in energies]
    return (
        without_energies or [*(c for c in run if c in varying and c.startswith("q(")), *energies]
    )[:max_count]


def split_by_range(names: Sequence[str], run: RunHistory) -> list[list[str]]:
    """The channels of one panel, or of several, so that none is a flat line next to one that goes
    far."""
    groups: list[tuple[float, list[str]]] = []
    for name in names:
        span = _value_range(np.asarray(run[name], dtype=float))
        group = next(
            (
                listed
                for group_span, listed in groups
                if group_span <= FLAT * span and span <= FLAT * group_span
            ),
            None,
        )
        if group is None:
            groups.append((span, [name]))
        else:
            group.append(name)
    return [listed for _, listed in groups]


def channels_by_unit(units: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Channels, given with their units, by unit: one panel each."""
    groups: dict[str, list[str]] = {}
    for name, unit in units:
        groups.setdefault(unit, []).append(name)
    return list(groups.values())


def minimum_axis_ranges(
    values: Sequence[np.ndarray], units: Sequence[str], seconds: float
) -> list[float]:
    """The least range of an axis for each channel: what is smaller is at rest, or rounding; 0 where
    that is unknown. Rounding is measured by the largest value of its dimension, in whatever unit,
    by 1 for plain numbers, and by what such a value would change in the seconds of the run: an
    acceleration by the speeds."""
    sizes: dict[object, float] = {ONE: 1.0}
    kinds = [_dimension_and_factor(unit) for unit in units]
    for x, (kind, factor) in zip(values, kinds, strict=True):
        sizes[kind] = max(sizes.get(kind, 0.0), factor * _largest_magnitude(x))
    dimensions = [k for k in sizes if isinstance(k, Dimension) and seconds > 0]
    for kind in sorted(dimensions, key=lambda k: -k.time):
        sizes[kind] = max(sizes[kind], sizes.get(kind * TIME, 0.0) / seconds)
    return [
        _minimum_range(x, ROUNDING * sizes[kind] / factor)
        for x, (kind, factor) in zip(values, kinds, strict=True)
    ]


def _minimum_range(values: np.ndarray, rounding: float) -> float:
    """The least range of an axis; what does not move in the run leaves room for what is too small
    to matter."""
    span, size = _value_range(values), _largest_magnitude(values)
    return (
        max(SETTLED * span, rounding)
        if span > rounding
        else max(SETTLED * size, AT_REST * rounding)
    )


@cache
def _dimension_and_factor(unit: str) -> tuple[object, float]:
    """The dimension of a unit and its size; one that nobody knows is a kind of its own."""
    try:
        parsed_unit = UNIT_SYSTEMS["mks"].parse_unit(unit or "1")
    except ModelError:
        return unit, 1.0
    return (parsed_unit.dimension, parsed_unit.factor) if parsed_unit.factor > 0 else (unit, 1.0)


def _varying_channels(run: RunHistory) -> set[str]:
    """Channels whose range is more than rounding, and than what a method makes of a constant."""
    names = list(run)
    values = [np.asarray(run[c], dtype=float) for c in names]
    min_ranges = minimum_axis_ranges(values, [run.units.get(c, "") for c in names], duration(run))
    return {
        c
        for c, x, small in zip(names, values, min_ranges, strict=True)
        if _value_range(x) > max(small, CONSTANT * _largest_magnitude(x))
    }


def duration(run: RunHistory) -> float:
    """How long it lasts."""
    return float(run.time[-1] - run.time[0]) if len(run.time) else 0.0


def _is_state(run: RunHistory, name: str) -> bool:
    return name.startswith(("q(", "u(")) or run.generic.get(name) == "State"


def _largest_magnitude(values: np.ndarray) -> float:
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def _value_range(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.max() - finite.min()) if len(finite) else 0.0
