"""A run from its first row to its last, with its events. The kernel takes the steps and lets events act; where SciPy
takes them, a run is a sequence of stretches, each of which ends at an event that acts.

The rows of a run have the state before and the one after every event that acts, at the same time; all others are where
they would be without.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from bellcrank.backend.c_runs import WHEEL_MODES
from bellcrank.backend.watching import Watching
from bellcrank.errors import RunError, warn
from bellcrank.interface.interface import DECLARED
from bellcrank.numeric.branch import Keeper, Passage
from bellcrank.numeric.events import Watch
from bellcrank.numeric.methods import SCIPY
from bellcrank.numeric.projection import Closure
from bellcrank.numeric.run_spec import Carried, Input, RunSpec, Weights
from bellcrank.numeric.steps_told import add_figures
from bellcrank.run.actions import EventsGiven
from bellcrank.run.closure import (
    Closing,
    begun,
    closure_of,
    inputs_at,
    keeper_of,
    on_branch,
    tell_of_branch,
    weights_at,
)
from bellcrank.run.dae_methods import Dae
from bellcrank.run.dae_runs import Piece, prepare_dae
from bellcrank.run.event_data import event_data, take_counted, take_happened, value_names
from bellcrank.run.goes_on import place_on
from bellcrank.run.jumps import mended
from bellcrank.run.loaded import Context, Loaded
from bellcrank.run.plain import not_in_python
from bellcrank.run.prepare import Prepared, Progress, prepare, take_steps
from bellcrank.run.rigid import prepare_rigid, tell_raised
from bellcrank.run.stepping import Evaluation
from bellcrank.run.tolerances import Tolerances


@dataclass
class Stretch:
    """A part of a run: how it goes, from which state, with which parameters (equation units); `row`: its first, if that
    is known."""

    spec: RunSpec
    p: list[float]
    y: np.ndarray
    carried: Carried | None = None
    row: np.ndarray | None = None


@dataclass
class Stretches:
    """What all stretches of a run share; `parameters` are those that a user gave, and later what events set."""

    loaded: Loaded
    context: Context
    signals: list[Input]
    dae: Dae
    tolerances: Tolerances
    watch: Watch
    events: EventsGiven
    parameters: Mapping[str, float] | None
    ends: bool = True  # has the run an end?

    def __post_init__(self) -> None:
        self.pieces: list[Piece] = []
        self.told: dict[str, float] = {}
        self.passages: list[Passage] = []  # near singular positions
        self.problem = ""  # what an event could not do, which ends the run
        self.interrupted = False
        self.within = False  # did the run end within a step, or after its state was changed?
        self._closure: tuple[Sequence[float], Closure | None] | None = None
        self._parts: list[np.ndarray] = []
        self.stretch: Any = None
        self.watching: Watching | None = None  # events that the kernel looks for
        self.changed: list[tuple[int, list[float], list[float]]] = []  # rows before, parameters, constants
        self._told_idle: set[str] = set()

    def closure(self, p: Sequence[float]) -> Closure | None:
        """The constraints of closed loops."""
        if self._closure is None or self._closure[0] != p:
            loops = self.loaded.program.loops
            context, known = self.context, self.loaded.constants(list(p))
            spare = self.loaded.starts.spare
            found = None if loops is None else closure_of(context.python, p, self.signals, context.model, known, spare)
            self._closure = p, found
        return self._closure[1]

    def ready(self, s: Stretch, kept: np.ndarray) -> tuple[Evaluation, Prepared]:
        """A stretch made ready; its state is brought onto the branch of a singular position."""
        loaded, t, closure, closing = self.loaded, s.spec.begins, self.closure(s.p), None
        if closure is not None:
            found = loaded.starts.found
            w = inputs_at(t, self.signals, kept)
            numbers = [*s.p, *w, t]
            weights = None if s.carried is None else s.carried.weights
            onto_branch = self.dae.usual and (s.carried is None or s.carried.inside is None)
            start = None
            if weights is None and onto_branch and closure.compiled is not None:
                *both, start = found("begun", partial(begun, closure.compiled, t, s.y), numbers, s.y)
                weights = both[0], both[1]
            elif weights is None:
                find = partial(weights_at, closure, self.context.python, t, s.y, s.p, w)
                weights = found("weights", find, numbers, s.y)
            closing = self._closing(closure, s, kept, weights)
            if onto_branch:
                if start is None:
                    bring = partial(on_branch, closing, closure.compiled, t, s.y)
                    (start,) = found("branch", bring, numbers, s.y, *weights)
                tell_of_branch(s.y, start, loaded.interface)
                s.y = start
        e = Evaluation(self.context, s.p, loaded.constants(s.p), self.signals, kept, closing)
        contacts = loaded.analysis.mechanism.description.contacts
        watching = self._watching(s, e) if self.watch.conditions else None
        if contacts:
            prepared = prepare_rigid(contacts, s.spec, e, s.y, self.watch, s.carried, watching)
        elif self.dae.usual:
            prepared = prepare(s.spec, e, s.y, self.tolerances, s.carried, watching)
        else:
            e, prepared = prepare_dae(s.spec, e, s.y, self.dae, s.carried, watching)
        return e, self._told(s, prepared)

    def _told(self, s: Stretch, prepared: Prepared) -> Prepared:
        """The same, with what takes what the kernel tells of events."""
        self.stretch = s
        watched = self.watching is not None
        return prepared._replace(happened=lambda: self.happened(prepared.run)) if watched else prepared

    def _watching(self, s: Stretch, e: Evaluation) -> Watching | None:
        """Events as the kernel looks for them, if it takes the steps."""
        model: Any = e.model if self.dae.usual else self.context.dae
        if not getattr(model, "watches", False):
            raise RunError(f"{self.loaded.name}: {not_in_python('an event')}")
        if s.spec.method in SCIPY and self.watching is not None:
            self.changed = []
            return self.watching
        memories = [m.array for m in self.context.memories if len(m.array)]
        hold = Held(memories) if memories else None
        until = s.spec.t_end if self.ends else np.inf
        close = None if self.dae.usual else self._closed
        modes = WHEEL_MODES * len(self.loaded.analysis.mechanism.description.contacts)
        data = event_data(self.loaded, self.events, s.spec, self._use_values, hold, close, s.carried is not None, until)
        self.watching, self.changed = Watching(data, e.n_s, len(model.memory), modes), []
        return self.watching

    def _closed(self, event: int, y: np.ndarray) -> np.ndarray:
        """A state on the constraints after an event has set some of it."""
        formula, watching = self.events.formulas[event], self.watching
        assert watching is not None
        p = self.changed[-1][1] if self.changed else self.stretch.p
        time = float(watching.run.fields.t)
        return mended(self.loaded, formula, self.closure(p), time, y)

    def _use_values(self, run: Any, found: list[float]) -> None:
        """Takes values that an event has set into the parameters of a run."""
        loaded, values = self.loaded, self.events.values
        new = dict(zip(value_names(self.events.formulas), found, strict=True))
        changed = {k: v for k, v in new.items() if v != values[k]}
        values.update(changed)
        self.parameters = loaded.interface.changed_parameters(self.parameters, changed)
        p = loaded.parameter_values(known_to(loaded, self.parameters, self.events.used))
        c = loaded.constants(p)
        run.set_given(p, c)
        assert self.watching is not None
        self.changed.append((int(self.watching.fields.n_rows), p, c))

    def happened(self, run: Any) -> bool:
        """Takes what the kernel tells of events; is the run over?"""
        assert self.watching is not None
        over, self.problem = take_happened(self.loaded, self.events, self.watching, self.watch, float(run.time))
        self._tell_idle()
        if hasattr(run, "raised"):  # what wheels do at the time of an event follows from it
            names = {x.name for x in self.events.formulas}
            self.watch.events.sort(key=lambda e: (e.time, e.name not in names))
            tell_raised(run)
        return over or getattr(run, "acted", None) is not None

    def _with_values_set(
        self, s: Stretch, e: Evaluation, prepared: Prepared, rows: np.ndarray
    ) -> tuple[Stretch, Evaluation]:
        """Keeps rows with the parameters that they had; what holds at their end."""
        first, before = 0, int(s.row is not None)  # a row that the kernel does not count
        elsewhere = getattr(prepared.run, "acted", None) is not None
        for count, p, c in self.changed:
            last = len(rows) - 1 if elsewhere else before + count
            self._keep(rows[first:last], e)
            first, (s, e) = last, self.with_parameters(s, e, p, c, prepared.run)
        self._keep(rows[first:], e)
        return s, e

    def with_parameters(
        self, s: Stretch, e: Evaluation, p: list[float], c: list[float], run: Any
    ) -> tuple[Stretch, Evaluation]:
        """The same with other parameters, which events have set in a run."""
        s, e, closure = replace(s, p=p), replace(e, p=p, c=c), self.closure(p)
        kept_closed = getattr(run, "compiled", run)
        if closure is not None and hasattr(kept_closed, "roots"):
            root_q, root_u = kept_closed.roots
            e = replace(e, closing=self._closing(closure, s, e.kept, (root_q**2, root_u**2)))
        return s, e

    def _closing(self, closure: Closure, s: Stretch, kept: np.ndarray, weights: Weights) -> Closing:
        t, y, p, staged = s.spec.begins, s.y, s.p, self.dae.staged

        def make() -> Keeper:
            return keeper_of(closure, self.context.python, y, p, self.signals, kept, staged, t, weights)

        return Closing(weights, staged, make)

    def run(self, s: Stretch, e: Evaluation, prepared: Prepared, progress: Progress | None) -> tuple[Any, ...]:
        """Takes stretch after stretch; the last one with its evaluation, stepper, and all rows."""
        furthest, begins = 0.0, s.spec.begins

        def tell(share: float) -> None:  # steps beyond an event are taken again
            nonlocal furthest
            furthest = max(furthest, share)
            if progress is not None:
                progress(furthest)

        while True:
            rows, self.interrupted = take_steps(prepared, None if progress is None else tell)
            if s.row is not None:
                rows = np.vstack([s.row[None, :], rows]) if len(rows) else s.row[None, :]
            s, e = self._with_values_set(s, e, prepared, rows)
            self.context.set_live(0)
            if self.interrupted:
                return s, e, prepared, self._rows()
            self.within = self.watch.stopped is not None
            if self.watching is not None:
                take_counted(self.watching, self.watch, begins, rows[-1] if len(rows) else None)
            self.watch.passed(prepared.run.passages)
            self.passages += prepared.run.passages
            add_figures(self.told, prepared.told())
            following = self._following(s, e, prepared)
            if following is None:
                return s, e, prepared, self._rows()
            s, e, prepared = following

    def _following(self, s: Stretch, e: Evaluation, prepared: Prepared) -> tuple[Stretch, Evaluation, Prepared] | None:
        """What follows where an event has ended steps that were taken elsewhere; None if that is the end."""
        rows = getattr(prepared.run, "acted", None)
        if rows is None or self.problem or self.watch.stopped is not None or rows[-1, 0] >= s.spec.t_end:
            return None
        weights = None if self.changed else e.weights
        carried = replace(prepared.run.carried(), inside=None, weights=weights)
        e.kept[:], e.model.memory[:] = carried.kept, carried.memory
        following = Stretch(place_on(s.spec, float(rows[-1, 0])), s.p, prepared.run.state.copy(), carried)
        return following, *self.ready(following, e.kept)

    def _keep(self, rows: np.ndarray, e: Evaluation) -> None:
        """Takes rows to those with the same parameters, if these came last."""
        if self.pieces and self.pieces[-1].p == e.p:
            self._parts.append(rows)
        else:
            self._join()
            self.pieces.append(Piece(rows, e.p, e.c))
            self._parts = [rows]

    def _join(self) -> None:
        if self.pieces and len(self._parts) > 1:
            self.pieces[-1] = self.pieces[-1]._replace(rows=np.vstack(self._parts))

    def _rows(self) -> np.ndarray:
        """All rows."""
        self._join()
        return np.vstack([x.rows for x in self.pieces]) if len(self.pieces) > 1 else self.pieces[0].rows

    def _tell_idle(self) -> None:
        """Tells once of every event whose action changes nothing."""
        for name, t in self.watch.idle.items():
            if name not in self._told_idle:
                self._told_idle.add(name)
                warn(f"event '{name}' changes nothing at t = {t:.6g} s")


class Held:
    """What routines in Python remember: marked before a step, put back for a look, or for good; as in events.h."""

    def __init__(self, arrays: Sequence[np.ndarray]) -> None:
        self._arrays = arrays
        self._marked = self._later = [a.copy() for a in arrays]

    def __call__(self, what: int) -> None:
        mark, back, forth, undo = range(4)
        if what == mark:
            self._marked = [a.copy() for a in self._arrays]
        elif what == back:
            self._later = [a.copy() for a in self._arrays]
        for array, values in zip(self._arrays, self._later if what == forth else self._marked, strict=True):
            if what in (back, forth, undo):
                array[:] = values


def known_to(loaded: Loaded, parameters: Mapping[str, float] | None, used: set[str]) -> Mapping[str, float] | None:
    """Parameters that a model is asked with: those that stand in events alone are left out."""
    if not parameters or not used:
        return parameters
    own = {x.key for x in loaded.interface.unused} & used
    listed = loaded.interface.keyed(parameters, DECLARED, "parameters")
    return {k: v for k, v in listed.items() if k not in own}
