"""What a user gives for many runs: numbers for all of them, arrays over runs, distributions;
checked, in one place.

In:  dictionaries of parameters, initial values and inputs. Out: `BatchValues`, which reports the
values of every run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, pluralize, require_mapping
from bellcrank.core.numeric.real_numbers import display_text
from bellcrank.core.signals import Signal
from bellcrank.mechanics.interface.interface import DECLARED, STATES, Interface
from bellcrank.simulation.backend.gpu_batch import to_host
from bellcrank.simulation.many.random import Spread
from bellcrank.simulation.many.sample_plans import HOW, SamplePlan, sample_columns
from bellcrank.simulation.run.memory_limits import check_memory

GROUPS = ("parameters", "initial", "inputs")
KINDS = {"parameters": DECLARED, "initial": (*STATES, "removed"), "inputs": ("input",)}
Signals = list[Any]


@dataclass(frozen=True)
class BatchValues:
    """Values of `n_runs` runs by group and name: those that all share, and `varied` ones, an array
    or a list each."""

    n_runs: int
    shared: Mapping[str, Mapping[Any, Any]]
    varied: Mapping[str, Mapping[Any, np.ndarray | Signals]]

    def values_of_run(self, run: int) -> dict[str, dict[Any, Any]]:
        """All values of one run, as `simulate` takes them."""
        result = {}
        for group in GROUPS:
            varied_values = {
                name: _as_batch_float(values[run]) for name, values in self.varied[group].items()
            }
            result[group] = {**self.shared[group], **varied_values}
        return result

    def without_parameters(self, keys: AbstractSet[str]) -> BatchValues:
        """What is left without some parameters."""

        def without_keys(group: Mapping[str, Mapping[Any, Any]]) -> dict[str, Mapping[Any, Any]]:
            return {
                **group,
                "parameters": {k: v for k, v in group["parameters"].items() if k not in keys},
            }

        return replace(self, shared=without_keys(self.shared), varied=without_keys(self.varied))

    @property
    def varied_numbers(self) -> dict[str, np.ndarray]:
        """The numbers that vary, by name."""
        listed = [(str(k), v) for group in GROUPS for k, v in self.varied[group].items()]
        return {name: values for name, values in listed if isinstance(values, np.ndarray)}


def read_batch_values(
    interface: Interface, n: Any, groups: Mapping[str, Any], sampling: str, seed: int
) -> BatchValues:
    """What was given for many runs; distributions are drawn, all at once."""
    if sampling not in HOW:
        raise ModelError(
            f"sampling={sampling!r} is not known; it is one of {', '.join(map(repr, HOW))}"
        )
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ModelError(f"seed={seed!r} must be a whole number of at least 0")
    shared: dict[str, dict[Any, Any]] = {g: {} for g in GROUPS}
    varied: dict[str, dict[Any, Any]] = {g: {} for g in GROUPS}
    spreads: dict[tuple[str, Any], Spread] = {}
    for group in GROUPS:
        entries = require_mapping(groups.get(group), group)
        keyed = interface.values_by_key(entries, KINDS[group], group)
        entries = keyed if group == "parameters" else entries
        for name, value in entries.items():
            value = to_host(value)
            run_values = _array_over_runs(value, f"{group}={{'{name}': ...}}", group == "inputs")
            if isinstance(value, Spread):
                spreads[group, name] = value
            elif run_values is not None:
                varied[group][name] = run_values
            else:
                shared[group][name] = value
    count = _count_runs(n, varied, bool(spreads))
    if spreads:
        _check_sample_memory(count, len(spreads))
        distributions = {
            f"{group} {name}": (s.kind, s.numbers) for (group, name), s in spreads.items()
        }
        samples = sample_columns(SamplePlan(count, int(seed), sampling, distributions))
        for (group, name), values in zip(spreads, samples.values(), strict=True):
            varied[group][name] = np.asarray(values, dtype=float)
    return BatchValues(count, shared, varied)


def _array_over_runs(value: Any, label: str, signals: bool) -> np.ndarray | Signals | None:
    """An array over runs; None for what all runs share. Inputs may also be a list of signals."""
    if isinstance(value, Spread | str | Signal) or not (
        hasattr(value, "__len__") or hasattr(value, "__array__")
    ):
        return None
    if signals:
        entries = list(value) if isinstance(value, Sequence) else []
        if any(isinstance(x, Signal) or callable(x) or _is_sampled_signal(x) for x in entries):
            return entries
    try:
        array = np.asarray(value)
        array = np.empty((0, 0)) if np.iscomplexobj(array) else array.astype(float)
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if signals and array.ndim != 1:  # times and values of one signal
        return None
    if array.ndim == 0:
        return None
    if array.ndim != 1:
        raise ModelError(
            f"{label} must be a number, a distribution or an array of numbers, one for each run"
        )
    if not np.isfinite(array).all():
        run = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ModelError(f"{label} is {array[run]} in run {run}, not a finite number")
    return array


def _is_sampled_signal(x: object) -> bool:
    """Is it (times, values), or an array of such rows or columns?"""
    if isinstance(x, np.ndarray):
        return x.ndim == 2
    return (
        isinstance(x, tuple | list)
        and len(x) == 2
        and all(isinstance(y, tuple | list | np.ndarray) for y in x)
    )


def _count_runs(n: Any, varied: Mapping[str, Mapping[Any, Any]], drawn_ones: bool) -> int:
    """How many runs there are."""
    lengths = {
        f"{group}={{'{name}': ...}}": len(v)
        for group in GROUPS
        for name, v in varied[group].items()
    }
    if n is None:
        if not lengths:
            raise ModelError(
                "n is required, the number of runs, unless an array of values is given"
            )
        n = max(lengths.values())
        if n == 0:
            raise ModelError(f"{next(iter(lengths))} has no values, one for each run")
    if (
        isinstance(n, bool | np.timedelta64)
        or not isinstance(n, int | np.integer)
        or not 1 <= n < 2**62
    ):
        raise ModelError(f"n={display_text(n)} must be a whole number of at least 1")
    problems = [
        f"{label} has {length} values for {n} runs"
        for label, length in lengths.items()
        if length != n
    ]
    if problems:
        raise ModelError(problems)
    return int(n)


def _check_sample_memory(count: int, size: int) -> None:
    """Rejects values that cannot be held: those that are drawn, and the shares that they are drawn
    by."""
    subject = f"{pluralize(count, 'run')} with {pluralize(size, 'value')} drawn for each"
    check_memory(subject, 16.0 * count * size, "do fewer runs")


def _as_batch_float(value: object) -> object:
    return float(value) if isinstance(value, np.floating) else value
