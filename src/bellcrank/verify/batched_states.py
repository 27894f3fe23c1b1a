"""Several states in one pass: what evaluations of one machine are asked for later is found at once
for all of them.

In:  evaluations without closed loops, each with a state. Out: nothing; each evaluation knows its
motions and the values of its formulas afterwards. The rules are those of one state (`numeric`), on
arrays with the states along their last axis. What cannot be found so, as where one state has no
value, is left to each evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from bellcrank.model.records import LoadRecord
from bellcrank.verify.bodies import ReferenceMotion, presolve_linkages
from bellcrank.verify.formulas import CannotEvaluate
from bellcrank.verify.jets import Jet, JetBatch, NoDerivative
from bellcrank.verify.mechanics import MechanicsEvaluator
from bellcrank.verify.reference_evaluation import AppliedWrench, ReferenceEvaluation

FAILED = (CannotEvaluate, ArithmeticError, ValueError, np.linalg.LinAlgError)
State = tuple[
    ReferenceEvaluation, np.ndarray, np.ndarray
]  # with coordinates and independent speeds
Asked = Iterable[tuple[Any, Callable[[MechanicsEvaluator], Any]]]  # keys and formulas


class BatchedStates:
    """Evaluations of one machine, each at one state."""

    def __init__(self, states: Sequence[State]) -> None:
        self.each = [e for e, _, _ in states]
        self.at = [(q, u) for _, q, u in states]
        self.q, self.u = np.array([q for q, _ in self.at]).T, np.array([u for _, u in self.at]).T
        self.all = _batched_evaluation(self.each, 1)
        self._constraint_jacobians()
        self.motion = self.all.values(self.q, self.u)
        self._moving: list[ReferenceMotion] = []
        for e, (q, u), single in zip(
            self.each, self.at, self._split_motion(self.motion), strict=True
        ):
            e.store(("plain", q.tobytes(), u.tobytes()), single)

    def _split_motion(self, motion: ReferenceMotion, motions: int = 0) -> list[ReferenceMotion]:
        return motion.split_states([e.machine for e in self.each], motions)

    def _constraint_jacobians(self) -> None:
        """Motions with single speeds at one, and the slopes of constraints that follow from
        them."""
        n, count = len(self.all.machine.u_names), len(self.each)
        stacked = _batched_evaluation(self.each, n + 1)
        motion = stacked.machine.motion(
            JetBatch([np.tile(self.q, n + 1)]),
            JetBatch([np.repeat(np.eye(n, n + 1, 1), count, axis=1)]),
        )
        for e, (q, _), single in zip(
            self.each, self.at, self._split_motion(motion, n + 1), strict=True
        ):
            e.store(("columns", q.tobytes()), single)
        if not self.all.bound:
            return
        residuals = stacked.constraint_values(motion).reshape(-1, n + 1, count)
        c, A = residuals[:, 0], residuals[:, 1:] - residuals[:, :1]
        self.all.store(("slopes", self.q.tobytes()), (c, A))
        for i, (e, (q, _)) in enumerate(zip(self.each, self.at, strict=True)):
            e.store(("slopes", q.tobytes()), (c[:, i].copy(), A[..., i].copy()))

    def motions(self, udot: Sequence[np.ndarray]) -> list[ReferenceMotion]:
        """Motions with these accelerations, known to second order."""
        motion = self.all.motion(self.q, self.u, np.array(udot).T)
        entries = zip(self.each, self.at, udot, self._split_motion(motion), strict=True)
        return [
            e.store(("motion", q.tobytes(), u.tobytes(), a.tobytes()), single)
            for e, (q, u), a, single in entries
        ]

    def loads(self) -> None:
        """Loads of the description, and rates of user-defined states."""
        d = self.all.machine.description

        def pushes(record: LoadRecord) -> Callable[[MechanicsEvaluator], list[AppliedWrench]]:
            return lambda f: list(self.all.wrenches_of_load(f, record))

        self._evaluate_formulas(
            [(("pushes", f.name), pushes(f)) for f in d.forces], self._motion_with_rates
        )
        self._evaluate_formulas(
            [(("state", z.name), methodcaller("evaluate", z.rate)) for z in d.states],
            self._motion_with_rates,
        )

    def outputs(self, udot: Sequence[np.ndarray]) -> None:
        """Output channels, with accelerations."""
        d = self.all.machine.description
        requests: list[Any] = [
            (("output", x.name), methodcaller("evaluate", x.expression)) for x in d.outputs
        ]
        if {"forces", "moments"} & {group.lower() for group in d.output_groups}:
            requests += [(("force", f.name), methodcaller("magnitude", f)) for f in d.forces]
        self._evaluate_formulas(
            requests,
            lambda: (self.all.motion(self.q, self.u, np.array(udot).T), self.motions(udot)),
        )

    def active_branches(self) -> None:
        """Which pieces formulas are made of."""
        try:
            piece_sets, unresolved = self.all.active_branches_of_states(self.q, self.u)
        except FAILED:
            return
        for e, (q, u), piece_set in zip(self.each, self.at, piece_sets, strict=True):
            e.store(("found pieces", q.tobytes(), u.tobytes()), ([piece_set], unresolved))

    def _motion_with_rates(self) -> tuple[ReferenceMotion, list[ReferenceMotion]]:
        """The motion with rates of its coordinates."""
        motion = self.all.with_rates(self.motion)
        if not self._moving:
            for e, (q, u), single in zip(
                self.each, self.at, self._split_motion(motion), strict=True
            ):
                full = e.values(q, u).u
                self._moving.append(e.store(("moving", q.tobytes(), full.tobytes()), single))
        return motion, self._moving

    def _evaluate_formulas(
        self, requests: Asked, series: Callable[[], tuple[ReferenceMotion, list[ReferenceMotion]]]
    ) -> None:
        """Evaluates formulas, by values alone where that is enough, and leaves to each evaluation
        what it needs."""
        values, need_rates = self.all.plain_formulas(self.motion), self.all.machine.need_rates
        plain_formulas = [
            e.plain_formulas(e.values(q, u)) for e, (q, u) in zip(self.each, self.at, strict=True)
        ]
        for key, evaluate in requests:
            try:
                if key not in need_rates:
                    try:
                        _store_for_each(key, evaluate(values), plain_formulas)
                    except NoDerivative:
                        need_rates.add(key)
                if key in need_rates:
                    motion, motions = series()
                    result = evaluate(self.all.mechanics_evaluator(motion))
                    _store_for_each(
                        key,
                        result,
                        [e.mechanics_evaluator(m) for e, m in zip(self.each, motions, strict=True)],
                    )
            except FAILED:
                continue


def batch_states(states: Sequence[State]) -> list[BatchedStates]:
    """The states, those without a value omitted; nothing where there is only one, or with closed
    loops."""
    if len(states) < 2 or states[0][0].closed is not None:
        return []
    presolve_linkages((e.machine, q) for e, q, _ in states)
    states = [
        s
        for s in states
        if all(
            b.joint.is_admissible(s[0].machine.joint_arguments(b, s[1]))
            for b in s[0].machine.bodies
        )
    ]
    try:
        return [BatchedStates(states)] if len(states) > 1 else []
    except FAILED:
        middle = len(states) // 2
        return [*batch_states(states[:middle]), *batch_states(states[middle:])]


def _batched_evaluation(
    evaluations: Sequence[ReferenceEvaluation], times: int
) -> ReferenceEvaluation:
    """One evaluation of all states, one after another, so many times."""
    first = evaluations[0]
    time = np.tile([e.time for e in evaluations], times)
    inputs = {
        k: np.tile(np.array([e.driven[k] for e in evaluations]).T, times) for k in first.driven
    }
    return first.with_inputs(time, {k: (x[0], x[1], x[2]) for k, x in inputs.items()})


def _store_for_each(key: Any, result: Any, formulas: Sequence[MechanicsEvaluator]) -> None:
    """Leaves what was found for all states to the formulas of each."""
    count = len(formulas)
    if isinstance(result, list):  # of loads
        loads = [
            (
                load.body,
                _array_per_state(load.force, count, 1),
                _array_per_state(load.moment, count, 1),
            )
            for load in result
        ]
        for i, f in enumerate(formulas):
            f.known[key] = [
                AppliedWrench(body, force[i], moment[i]) for body, force, moment in loads
            ]
        return
    values = _array_per_state(
        result.c[0] if isinstance(result, Jet) else np.asarray(result), count, 0
    )
    for f, x in zip(formulas, values, strict=True):
        f.known[key] = x


def _array_per_state(x: np.ndarray, count: int, rank: int) -> np.ndarray:
    """An array for each state, of one for all states or for each along the last axis."""
    x = x[..., None] if x.ndim == rank else x
    return np.ascontiguousarray(np.moveaxis(np.broadcast_to(x, (*x.shape[:-1], count)), -1, 0))
