"""Several runs of a model, next to each other and step by step: a vector of steppers.

In:  a loaded model and what a user gives for all runs or each of them. Out: `Steppers`. Compiled
runs that call nothing back continue in one call of C, on all cores where that pays.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.core.errors import ModelError, RunError, pluralize, require_mapping
from bellcrank.core.numeric.run_spec import Checkpoint
from bellcrank.simulation.backend.c_steps import BatchStepDriver
from bellcrank.simulation.many.batch_values import BatchValues, read_batch_values
from bellcrank.simulation.many.worker_threads import core_count
from bellcrank.simulation.run.checkpoint import InitialConditions
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.named_values import ChannelLayout, NamedValues
from bellcrank.simulation.run.stepper import Stepper, resolve_input_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORTH = 2e-4  # s of work from which on all cores are asked
FIRST = 64  # steps until the first look at the clock
BLOCK_SECONDS = 0.1  # between two looks at the keyboard


class Steppers:
    """Runs of a model that advance together with a fixed step, as `Simulation.steppers` returns
    them.

    Values are arrays over runs in user units. A run that fails does not affect others: `problems`
    has the reason, and its state stays the last good one.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("mass")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> steppers = s.equations().compile().steppers(step=0.5, initial={"u(mass)": [1, 2, 3]})
    >>> steppers.step(2)
    >>> steppers.reset([0])
    >>> steppers.state["q(mass)"].tolist()
    [0.0, 2.0, 3.0]
    """

    def __init__(
        self,
        loaded: LoadedModel,
        batch_values: BatchValues,
        step: float | None,
        method: str | None,
        t_start: float | None,
    ):
        self._loaded, interface = loaded, loaded.interface
        self._members = []
        for run in range(batch_values.n_runs):
            v = batch_values.values_of_run(run)
            origin = InitialConditions(t_start, v["initial"], v["parameters"], v["inputs"])
            self._members.append(Stepper(loaded, origin, step, method))
        self._states, self._outputs = (
            ChannelLayout(interface, interface.states),
            ChannelLayout(interface, interface.outputs),
        )
        self._rows = np.zeros((batch_values.n_runs, interface.row_width))
        self._pool: ThreadPoolExecutor | None = None
        self._per_step = np.inf  # s of one run: the least that was seen
        self._all: BatchStepDriver | None = None
        self._settled, self._failed, self._constant = True, 0, set[str]()
        self._held: dict[
            str, NDArray[np.float64]
        ] = {}  # what was set for all, which members are reported when they are asked
        self._bind_members()

    def __repr__(self) -> str:
        one = self._members[0]
        summary = f"{pluralize(len(self), 'run')}, {one.method}, step {one.h:g} s"
        return (
            f"Steppers({self._loaded.name!r}: "
            f"{summary}{f'; {self._failed} failed' if self._failed else ''})"
        )

    def __len__(self) -> int:
        return len(self._members)

    def step(self, n: int = 1) -> None:
        """Take steps of all runs that have not failed.

        Parameters
        ----------
        n : int, default 1
            Number of steps.
        """
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 0:
            raise ModelError(
                f"step({n!r}): the number of steps must be whole, not negative", self._loaded.name
            )
        if self._all is None:
            self._step_each(int(n))
            return
        n_left = int(n)
        while n_left > 0:
            max_block = (
                BLOCK_SECONDS / (self._per_step * len(self)) if self._per_step < np.inf else FIRST
            )
            block = min(n_left, max(1, int(max_block)))
            self._take_steps(block)
            n_left -= block

    def set(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        """Set inputs from now on.

        Parameters
        ----------
        values : mapping, optional
            Inputs by name: a number for all runs, or an array with one for each.
        named : float or array
            The same as keywords.
        """
        named = {**{str(k): v for k, v in require_mapping(values, "set()").items()}, **named}
        spelled = resolve_input_names(self._loaded.interface, named)
        columns = {
            spelled[name]: self._one_per_run(value, f"set({name}=...)")
            for name, value in named.items()
        }
        if self._all is None or not columns.keys() <= self._constant:
            with self._members_changed():
                for i, member in enumerate(self._members):
                    if not member.problem:
                        member.set({name: float(column[i]) for name, column in columns.items()})
            return
        indexed_columns = [
            (index, column)
            for name, column in columns.items()
            for index in self._members[0].input_indices[name]
        ]
        if indexed_columns:
            self._all.set_constants(
                np.array([p for p, _ in indexed_columns]),
                np.column_stack([c for _, c in indexed_columns]),
            )
        self._held.update(columns)
        self._settled = False

    def set_parameter(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        """Set parameters from now on.

        Parameters
        ----------
        values : mapping, optional
            Parameters by name: a number for all runs, or an array with one for each.
        named : float or array
            The same as keywords.
        """
        named = {**require_mapping(values, "set_parameter()"), **named}
        columns = {
            name: self._one_per_run(value, f"set_parameter({name}=...)")
            for name, value in named.items()
        }
        with self._members_changed():
            for i, member in enumerate(self._members):
                if not member.problem:
                    member.set_parameter(
                        **{name: float(column[i]) for name, column in columns.items()}
                    )

    def reset(
        self,
        which: Iterable[int] | None = None,
        initial: Mapping[Any, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        """Restart runs, with other values if they are given.

        Parameters
        ----------
        which : iterable of int, optional
            Numbers of the runs. Default: all.
        initial, parameters, inputs : mapping, optional
            Values by name: a number, or an array with one for each of these runs. Default: those of
            the start.
        """
        run_numbers = (
            list(range(len(self))) if which is None else [self._run_index(i) for i in which]
        )
        groups = {"parameters": parameters, "initial": initial, "inputs": inputs}
        batch_values = (
            read_batch_values(self._loaded.interface, len(run_numbers), groups, "random", 0)
            if run_numbers
            else None
        )
        with self._members_changed(run_numbers):
            for position, i in enumerate(run_numbers):
                v = batch_values.values_of_run(position) if batch_values is not None else {}
                self._members[i].reset(**{name: values or None for name, values in v.items()})

    def save(self) -> list[Checkpoint]:
        """Save the present states, with all that the next steps depend on.

        Returns
        -------
        list of Checkpoint
            One for each run, for `restore`.
        """
        self._sync_members()
        return [member.save() for member in self._members]

    def restore(self, saved: list[Checkpoint]) -> None:
        """Return to saved states.

        Parameters
        ----------
        saved : list of Checkpoint
            What `save` returned.
        """
        if not isinstance(saved, list | tuple) or len(saved) != len(self):
            raise ModelError(
                f"restore(): it takes what save() of {len(self)} runs has returned",
                self._loaded.name,
            )
        with self._members_changed():
            for member, one in zip(self._members, saved, strict=True):
                member.restore(one)

    @property
    def t(self) -> np.ndarray:
        """Times reached, s."""
        return self._current_rows()[:, 0].copy()

    @property
    def state(self) -> NamedValues:
        """States by name, an array over the runs each."""
        return self._states.values(self._current_rows())

    @property
    def outputs(self) -> NamedValues:
        """Outputs by name, with the present inputs."""
        return self._outputs.values(self._current_rows())

    @property
    def rows(self) -> np.ndarray:
        """Time, states, outputs and inputs of each run, in equation units."""
        return self._current_rows()

    @property
    def h(self) -> float:
        """The step, s."""
        return self._members[0].h

    def images(self, width: int = 640, height: int = 400) -> list[np.ndarray]:
        """Draw the mechanism in the present state of each run.

        Parameters
        ----------
        width, height : int, default 640 and 400
            Size of an image in pixels.

        Returns
        -------
        list of numpy.ndarray
            As of `Stepper.image`.
        """
        self._current_rows()
        self._sync_members()
        return [member.image(width, height) for member in self._members]

    @property
    def problems(self) -> dict[int, str]:
        """Why runs have failed, by their numbers."""
        return (
            {i: m.problem for i, m in enumerate(self._members) if m.problem} if self._failed else {}
        )

    # ---- how they continue

    def _take_steps(self, n: int) -> None:
        """Steps by one call of C, or one for each core."""
        assert self._all is not None
        count, cores, began = len(self), core_count(), time.perf_counter()
        if cores > 1 and WORTH < self._per_step * count * n < np.inf and count >= 2 * cores:
            self._pool = self._pool or ThreadPoolExecutor(cores)
            edges = np.linspace(0, count, cores + 1).astype(int).tolist()
            failed = sum(self._pool.map(self._all.take_steps, [n] * cores, edges[:-1], edges[1:]))
        else:
            failed = self._all.take_steps(n, 0, count)
            self._per_step = min(self._per_step, (time.perf_counter() - began) / (count * n))
        self._settled = True
        self._sync_failures(failed)

    def _sync_failures(self, failed: int, at_start: bool = False) -> None:
        """Notes why runs have failed."""
        if failed != self._failed:
            self._failed = failed
            for member in self._members:
                member.sync_failure(at_start)

    def _step_each(self, n: int) -> None:
        for i, member in enumerate(self._members):
            if not member.problem:
                try:
                    member.step(n)
                except RunError:
                    if not member.problem:  # nothing was done
                        raise
            self._rows[i] = member.row
        self._failed = sum(bool(m.problem) for m in self._members)

    def _current_rows(self) -> NDArray[np.float64]:
        if self._all is not None and not self._settled:
            self._sync_failures(self._all.take_steps(0, 0, len(self)), at_start=True)
            self._settled = True
        return self._rows

    def _bind_members(self, run_numbers: Iterable[int] | None = None) -> None:
        """Binds what the members have now, or those that were changed."""
        self._current_rows()
        self._held = {}
        indices = list(
            range(len(self)) if self._all is None or run_numbers is None else run_numbers
        )
        steps = {i: self._members[i].compiled_steps() for i in indices}
        if any(x is None for x in steps.values()):
            self._all = None
        elif self._all is None or run_numbers is None:
            self._all = BatchStepDriver([x for x in steps.values() if x is not None], self._rows)
        else:
            for i, one in steps.items():
                assert one is not None
                self._all.replace_member(i, one, self._rows[i])
        if self._all is None:
            for i, member in enumerate(self._members):
                self._rows[i] = member.row
        self._failed = sum(bool(m.problem) for m in self._members)
        self._constant = set.intersection(*(set(m.constant_inputs) for m in self._members))

    @contextmanager
    def _members_changed(self, run_numbers: Iterable[int] | None = None) -> Iterator[None]:
        """While members are changed one by one, which may fail."""
        self._sync_members()
        try:
            yield
        finally:
            self._bind_members(run_numbers)

    def _sync_members(self) -> None:
        """Reports the members what was set for all."""
        for name, column in self._held.items():
            for member, value in zip(self._members, column.tolist(), strict=True):
                member.constant_inputs[name] = value

    # ---- what a user gives

    def _one_per_run(self, value: Any, label: str) -> NDArray[np.float64]:
        """One number for each run."""
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            array = np.empty((0, 0))
        if array.shape not in ((), (len(self),)):
            received = f"an array of shape {array.shape}" if array.size else repr(value)
            raise ModelError(
                f"{label} must be a number, or {len(self)} of them, not {received}",
                self._loaded.name,
            )
        if not np.isfinite(array).all():
            raise RunError(f"{label}: {array} is not finite")
        return np.broadcast_to(array, (len(self),))

    def _run_index(self, i: Any) -> int:
        if not isinstance(i, int | np.integer) or isinstance(i, bool) or not 0 <= i < len(self):
            raise ModelError(
                f"which: there is no run {i!r}; they are 0 to {len(self) - 1}", self._loaded.name
            )
        return int(i)


def make_steppers(
    loaded: LoadedModel,
    n: int | None = None,
    step: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    initial: Mapping[Any, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    method: str | None = None,
    t_start: float | None = None,
    seed: int = 0,
) -> Steppers:
    """Several runs of a model to be taken step by step; values as of `Simulation.simulate_many`."""
    groups = {"parameters": parameters, "initial": initial, "inputs": inputs}
    return Steppers(
        loaded,
        read_batch_values(loaded.interface, n, groups, "random", seed),
        step,
        method,
        t_start,
    )
