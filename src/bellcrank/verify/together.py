"""Several states in one pass: what evaluations of one machine are asked for later is found at once for all of them.

In:  evaluations without closed loops, each with a state. Out: nothing; each evaluation knows its motions and the
values of its formulas afterwards. The rules are those of one state (`numeric`), on arrays with the states along their
last axis. What cannot be found so, as where one state has no value, is left to each evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from bellcrank.model.records import LoadRecord
from bellcrank.verify.bodies import Motion, look_ahead
from bellcrank.verify.formulas import CannotEvaluate
from bellcrank.verify.jets import Jet, Jets, NoDerivative
from bellcrank.verify.mechanics import Formulas
from bellcrank.verify.numeric import Evaluation, Push

FAILED = (CannotEvaluate, ArithmeticError, ValueError, np.linalg.LinAlgError)
State = tuple[Evaluation, np.ndarray, np.ndarray]  # with coordinates and independent speeds
Asked = Iterable[tuple[Any, Callable[[Formulas], Any]]]  # keys and formulas


class Together:
    """Evaluations of one machine, each at one state."""

    def __init__(self, states: Sequence[State]) -> None:
        self.each = [e for e, _, _ in states]
        self.at = [(q, u) for _, q, u in states]
        self.q, self.u = np.array([q for q, _ in self.at]).T, np.array([u for _, u in self.at]).T
        self.all = _several(self.each, 1)
        self._slopes()
        self.motion = self.all.values(self.q, self.u)
        self._moving: list[Motion] = []
        for e, (q, u), single in zip(self.each, self.at, self._split(self.motion), strict=True):
            e.keep(("plain", q.tobytes(), u.tobytes()), single)

    def _split(self, motion: Motion, motions: int = 0) -> list[Motion]:
        return motion.split([e.machine for e in self.each], motions)

    def _slopes(self) -> None:
        """Motions with single speeds at one, and the slopes of constraints that follow from them."""
        n, count = len(self.all.machine.u_names), len(self.each)
        stacked = _several(self.each, n + 1)
        motion = stacked.machine.motion(
            Jets([np.tile(self.q, n + 1)]), Jets([np.repeat(np.eye(n, n + 1, 1), count, axis=1)])
        )
        for e, (q, _), single in zip(self.each, self.at, self._split(motion, n + 1), strict=True):
            e.keep(("columns", q.tobytes()), single)
        if not self.all.bound:
            return
        residuals = stacked.constraint_values(motion).reshape(-1, n + 1, count)
        c, A = residuals[:, 0], residuals[:, 1:] - residuals[:, :1]
        self.all.keep(("slopes", self.q.tobytes()), (c, A))
        for i, (e, (q, _)) in enumerate(zip(self.each, self.at, strict=True)):
            e.keep(("slopes", q.tobytes()), (c[:, i].copy(), A[..., i].copy()))

    def motions(self, udot: Sequence[np.ndarray]) -> list[Motion]:
        """Motions with these accelerations, known to second order."""
        motion = self.all.motion(self.q, self.u, np.array(udot).T)
        entries = zip(self.each, self.at, udot, self._split(motion), strict=True)
        return [e.keep(("motion", q.tobytes(), u.tobytes(), a.tobytes()), single) for e, (q, u), a, single in entries]

    def loads(self) -> None:
        """Loads of the description, and rates of user-defined states."""
        d = self.all.machine.description

        def pushes(record: LoadRecord) -> Callable[[Formulas], list[Push]]:
            return lambda f: list(self.all.pushes_of(f, record))

        self._ask([(("pushes", f.name), pushes(f)) for f in d.forces], self._series)
        self._ask([(("state", z.name), methodcaller("evaluate", z.rate)) for z in d.states], self._series)

    def outputs(self, udot: Sequence[np.ndarray]) -> None:
        """Output channels, with accelerations."""
        d = self.all.machine.description
        requests: list[Any] = [(("output", x.name), methodcaller("evaluate", x.expression)) for x in d.outputs]
        if {"forces", "moments"} & {group.lower() for group in d.output_groups}:
            requests += [(("force", f.name), methodcaller("magnitude", f)) for f in d.forces]
        self._ask(requests, lambda: (self.all.motion(self.q, self.u, np.array(udot).T), self.motions(udot)))

    def pieces(self) -> None:
        """Which pieces formulas are made of."""
        try:
            piece_sets, unresolved = self.all.pieces_of_each(self.q, self.u)
        except FAILED:
            return
        for e, (q, u), piece_set in zip(self.each, self.at, piece_sets, strict=True):
            e.keep(("found pieces", q.tobytes(), u.tobytes()), ([piece_set], unresolved))

    def _series(self) -> tuple[Motion, list[Motion]]:
        """The motion with rates of its coordinates."""
        motion = self.all.moving(self.motion)
        if not self._moving:
            for e, (q, u), single in zip(self.each, self.at, self._split(motion), strict=True):
                full = e.values(q, u).u
                self._moving.append(e.keep(("moving", q.tobytes(), full.tobytes()), single))
        return motion, self._moving

    def _ask(self, requests: Asked, series: Callable[[], tuple[Motion, list[Motion]]]) -> None:
        """Evaluates formulas, by values alone where that is enough, and leaves to each evaluation what it needs."""
        values, need_rates = self.all.plain_formulas(self.motion), self.all.machine.need_rates
        plain_formulas = [e.plain_formulas(e.values(q, u)) for e, (q, u) in zip(self.each, self.at, strict=True)]
        for key, evaluate in requests:
            try:
                if key not in need_rates:
                    try:
                        _note(key, evaluate(values), plain_formulas)
                    except NoDerivative:
                        need_rates.add(key)
                if key in need_rates:
                    motion, motions = series()
                    result = evaluate(self.all.formulas(motion))
                    _note(key, result, [e.formulas(m) for e, m in zip(self.each, motions, strict=True)])
            except FAILED:
                continue


def together(states: Sequence[State]) -> list[Together]:
    """The states, those without a value omitted; nothing where there is only one, or with closed loops."""
    if len(states) < 2 or states[0][0].closed is not None:
        return []
    look_ahead((e.machine, q) for e, q, _ in states)
    states = [s for s in states if all(b.joint.admits(s[0].machine.moved_by(b, s[1])) for b in s[0].machine.bodies)]
    try:
        return [Together(states)] if len(states) > 1 else []
    except FAILED:
        middle = len(states) // 2
        return [*together(states[:middle]), *together(states[middle:])]


def _several(evaluations: Sequence[Evaluation], times: int) -> Evaluation:
    """One evaluation of all states, one after another, so many times."""
    first = evaluations[0]
    time = np.tile([e.time for e in evaluations], times)
    inputs = {k: np.tile(np.array([e.driven[k] for e in evaluations]).T, times) for k in first.driven}
    return first.with_inputs(time, {k: (x[0], x[1], x[2]) for k, x in inputs.items()})


def _note(key: Any, result: Any, formulas: Sequence[Formulas]) -> None:
    """Leaves what was found for all states to the formulas of each."""
    count = len(formulas)
    if isinstance(result, list):  # of loads
        loads = [(load.body, _each(load.force, count, 1), _each(load.moment, count, 1)) for load in result]
        for i, f in enumerate(formulas):
            f.known[key] = [Push(body, force[i], moment[i]) for body, force, moment in loads]
        return
    values = _each(result.c[0] if isinstance(result, Jet) else np.asarray(result), count, 0)
    for f, x in zip(formulas, values, strict=True):
        f.known[key] = x


def _each(x: np.ndarray, count: int, rank: int) -> np.ndarray:
    """An array for each state, of one for all states or for each along the last axis."""
    x = x[..., None] if x.ndim == rank else x
    return np.ascontiguousarray(np.moveaxis(np.broadcast_to(x, (*x.shape[:-1], count)), -1, 0))
