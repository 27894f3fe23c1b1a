"""A numerical look at closed loops before they are derived: ranks, sizes, and a good choice of dependent speeds.

Ranks mean something only where the loops are closed, so the positions looked at are found by assembling the model with
its default values and walking from there along the constraints. Without default values for all parameters there is
nothing to look at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.backend.protocol import Calls
from bellcrank.backend.python import PythonModel
from bellcrank.backend.start import Input
from bellcrank.derive.loop_blocks import bridged_blocks
from bellcrank.errors import BellcrankError, ModelError
from bellcrank.expr import Expr, Symbol, evaluate, symbols
from bellcrank.expr.table import Table
from bellcrank.interface.interface import Interface, interface_of
from bellcrank.kinematics.analysis import Analysis, Elimination
from bellcrank.kinematics.body_motion import Kinematics
from bellcrank.kinematics.dimensions import Quantities
from bellcrank.kinematics.rounding import column_sizes, usual_sizes, vanishing
from bellcrank.kinematics.rows import Row
from bellcrank.model.guess import Guess
from bellcrank.numeric.null_space import fixed_ratio
from bellcrank.numeric.projection import CannotClose, Closure, Scales
from bellcrank.numeric.tuning import RANKS
from bellcrank.program.build import Parts, build_program
from bellcrank.program.loops import Loops
from bellcrank.program.statements import Call
from bellcrank.run.closure import closure_of
from bellcrank.run.gimbal import beside_locks
from bellcrank.run.inputs import as_signal
from bellcrank.run.values import known_symbols

ACTING = 1e-12  # a scaled entry below this never acts
SHARES = (1.0, 0.5, 0.2, 0.1)  # of the largest entry, for pivots that keep rows short
GOOD = 0.3  # the usual choice of speeds is kept if its pivots are no worse than this share of the best choice's
WALKS, PACES, PACE = 8, 10, 0.1
CLEAR = 1e-5  # singular values of a regular configuration, against the largest, are above
TRIED = 20  # starts, in search of one that is not singular
SINGULAR_START = (
    "the initial configuration is singular: its loops are closed there with more degrees of freedom than nearby, where"
    " none are left. Give a regular one, with initial values or guesses in set_run(initial=..., guess=...)."
)
DRAWS = 20  # states at which rows are looked at where nothing can be assembled
SOON = 0.01  # s, after which rows that change with time must still agree
Failure = (BellcrankError, ArithmeticError, ValueError, np.linalg.LinAlgError)


@dataclass(frozen=True)
class Look:
    """What was found: the rows that count, in order, with the speeds they are solved for; sizes; sentences."""

    elimination: Elimination
    scales: Scales
    notes: tuple[str, ...]


def look_at(analysis: Analysis, loops: Loops, rates: Sequence[Expr], quantities: Quantities) -> Look | None:
    """The look; None where the default values do not allow one."""
    assert analysis.loops is not None
    place = _Place.of(analysis, loops, rates, quantities)
    if place is None:
        return None
    found = list(place.positions())
    if not found:
        if analysis.loops.open and (why := place.cannot_close()):
            raise ModelError([*analysis.loops.open, why], analysis.mechanism.name)
        return None
    rows, speeds = analysis.loops.rows, list(analysis.mechanism.speeds)
    singular = max(_rank(J) for _, J in found) == len(speeds) and not all(_is_regular(J, len(speeds)) for _, J in found)
    if singular and not (found := place.regular_positions(len(speeds))):
        raise ModelError(SINGULAR_START, analysis.mechanism.name)
    if analysis.loops.open and not place.consistent():
        raise ModelError(analysis.loops.open, analysis.mechanism.name)
    G, J = _without_rounding(found, *place.usual_sizes(rows, analysis.kinematics), analysis.kinematics)
    scales = _scales(G, J)
    scaled = [x * np.outer(scales.rows, scales.columns) for x in J]
    elimination, usual = _choice(analysis.loops, scaled, analysis.mechanism.speeds, scales.rank_v)
    notes = []
    if scales.rank_v < len(rows):
        left = [r.text for r in rows if r not in elimination.used]
        notes.append(
            f"{len(rows)} rows of loops have rank {scales.rank_v} wherever the loops are closed: {', '.join(left)}"
            f" {'follows' if len(left) == 1 else 'follow'} from the others{place.only_here(scales.rank_v)}"
        )
    extra = scales.rank_v - place.rank_at_start()
    if extra > 0:
        notes.append(f"the initial configuration is singular: it has {extra} more degree{'s' * (extra > 1)} of freedom")
    order = tuple((rows.index(r), speeds.index(u)) for r, u in zip(elimination.used, elimination.pivots, strict=True))
    best = max(fixed_ratio(x, order) for x in scaled)
    sized = [x * np.array(scales.rows)[: len(x), None] for x in (x[: loops.paired] for x in G)]
    blocks = bridged_blocks(loops, speeds, analysis.mechanism.coordinates, rates, sized, scaled, _rank)
    scales = replace(scales, usual=float(usual) or 1.0, order=order, usual_order=best or 1.0, blocks=blocks)
    return Look(elimination, scales, tuple(notes))


def drawn_scales(
    known: Elimination, speeds: Sequence[Symbol], rank_g: int, values: Mapping[str, float]
) -> Scales | None:
    """Sizes of rows at states drawn at random, by which a run sees that a pivot is small there; None if rows have no
    numbers. `values`: of parameters, by name in lower case; others are drawn too."""
    random = np.random.default_rng(3)
    entries = [a for row in known.rows for _, a in row.slopes]
    free = [s for s in symbols(*entries) if s.kind != "constant"]
    places = [(i, list(speeds).index(u)) for i, row in enumerate(known.rows) for u, _ in row.slopes]
    J = []
    for _ in range(DRAWS):
        drawn: dict[Expr, float] = {s: values.get(s.name.lower(), random.uniform(0.5, 1.5)) for s in free}
        drawn |= {s: random.uniform(-np.pi, np.pi) for s in free if not s.constant}
        x = np.zeros((len(known.rows), len(speeds)))
        try:
            for at, value in zip(places, evaluate(entries, drawn), strict=True):
                x[at] = value
        except Failure:
            return None
        J.append(x)
    if not np.all(np.isfinite(J)):
        return None
    rank, found = len(known.used), _scales([], J)
    scaled = [x * np.outer(found.rows, found.columns) for x in J]
    pattern = np.max(np.abs(scaled), axis=0, initial=0.0) > ACTING
    usual = max(_order(x, rank, pattern, 1.0)[2] for x in scaled)
    order = tuple((known.rows.index(r), list(speeds).index(u)) for r, u in zip(known.used, known.pivots, strict=True))
    best = max(fixed_ratio(x, order) for x in scaled)
    return replace(found, rank_g=rank_g, rank_v=rank, usual=float(usual) or 1.0, order=order, usual_order=best or 1.0)


def _without_rounding(
    found: list[tuple[np.ndarray, np.ndarray]], usual: np.ndarray, length: float, kinematics: Kinematics
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """G and J of all positions, with rows that are rounding everywhere set to zero."""
    columns = column_sizes(kinematics, length)
    idle = np.flatnonzero(np.all([vanishing(J * columns, usual, length) for _, J in found], axis=0))
    for G, J in found:
        J[idle] = 0.0
        G[idle[idle < len(G)]] = 0.0  # position rows come first in both
    return [G for G, _ in found], [J for _, J in found]


def _rank(A: np.ndarray) -> int:
    """Rank of a matrix whose rows are brought to one size."""
    size = np.abs(A).max(axis=1, initial=0.0)
    values = np.linalg.svd(A[size > 0] / size[size > 0, None], compute_uv=False)
    return int(np.sum(values > RANKS.rank * values[0])) if len(values) else 0


def _is_regular(A: np.ndarray, rank: int) -> bool:
    """Has the matrix this rank, clearly? About a singular configuration errors of assembly look like a higher one."""
    values = np.linalg.svd(A, compute_uv=False)
    return len(values) >= rank > 0 and bool(values[rank - 1] > CLEAR * values[0])


def _scales(G: list[np.ndarray], J: list[np.ndarray]) -> Scales:
    """Largest entries over all positions brought to one: rows first, then columns."""
    largest = np.max(np.abs(J), axis=0)
    rows = 1.0 / _sizes(largest.max(axis=1, initial=0.0))
    columns = 1.0 / _sizes((largest * rows[:, None]).max(axis=0, initial=0.0))
    return Scales(max(map(_rank, G), default=0), max(map(_rank, J)), tuple(rows.tolist()), tuple(columns.tolist()))


def _sizes(x: np.ndarray) -> np.ndarray:
    """Sizes to divide by: what hardly acts anywhere is not magnified."""
    return np.maximum(x, 1e-3 * x.max(initial=0.0)) if x.any() else np.ones_like(x)


def _choice(known: Elimination, J: list[np.ndarray], speeds: Sequence[Symbol], rank: int) -> tuple[Elimination, float]:
    """Rows and speeds of an elimination whose smallest pivot over all positions is large: the usual, else the cheapest.

    Also returns the ratio of the last pivot to the first in the best position.
    """
    kept = _independent(J, rank)
    inner = [x[kept] for x in J]
    pattern = np.max(np.abs(inner), axis=0, initial=0.0) > ACTING
    usual = 0.0
    orders = {}  # rows and columns: smallest pivot, cost
    for x in inner:
        for share in SHARES:
            rows, columns, ratio = _order(x, rank, pattern, share)
            usual = max(usual, ratio if share == 1.0 else 0.0)
            if len(rows) == rank:
                orders[rows, columns] = _worst(inner, rows, columns), _fill(pattern, rows, columns)
    solved = dict(zip(known.used, known.pivots, strict=True))
    pivots = [solved[row] for i in kept if (row := known.rows[i]) in solved]
    place = {u: i for i, u in enumerate(speeds)}
    named = any(known.rows[i].eliminate is not None for i in kept)
    best = max((worst for worst, _ in orders.values()), default=0.0)
    if len(pivots) < rank or (not named and _worst(inner, range(rank), [place[u] for u in pivots]) < GOOD * best):
        good = {order: (cost, -worst) for order, (worst, cost) in orders.items() if worst >= GOOD * best}
        rows, columns = min(good, key=lambda order: good[order])
        kept, pivots = [kept[i] for i in rows], [speeds[j] for j in columns]
    return Elimination(known.rows, tuple(known.rows[i] for i in kept), tuple(pivots)), usual


def _independent(J: list[np.ndarray], rank: int) -> list[int]:
    """The first rows that do not follow from those before them wherever the loops are closed."""
    kept: list[int] = []
    for i in range(len(J[0])):
        if len(kept) < rank and max(_rank(x[[*kept, i]]) for x in J) > len(kept):
            kept.append(i)
    return kept


def _order(
    J: np.ndarray, rank: int, pattern: np.ndarray, share: float
) -> tuple[tuple[int, ...], tuple[int, ...], float]:
    """Rows and columns in the order of elimination, and the ratio of the last pivot to the first.

    Of the pivots that are at least a share of the largest, the one that makes the fewest new entries in all rows is
    taken (after Markowitz); with a share of one this is full pivoting.
    """
    A, P = J.copy(), pattern.copy()
    rows, columns, pivots = [], [], []
    for _ in range(rank):
        size = np.abs(A)
        new = np.outer(P.sum(axis=1) - 1, P.sum(axis=0) - 1)
        allowed = np.where(size >= share * size.max(), new - size / (size.max() or 1.0), np.inf)
        i, j = divmod(int(allowed.argmin()), A.shape[1])
        pivots.append(size[i, j])
        if pivots[-1] == 0.0:
            break
        A -= np.outer(A[:, j] / A[i, j], A[i])
        _eliminate(P, i, j)
        A[i], A[:, j] = 0.0, 0.0
        rows.append(i)
        columns.append(j)
    return tuple(rows), tuple(columns), pivots[-1] / pivots[0] if pivots[0] else 0.0


def _fill(pattern: np.ndarray, rows: Sequence[int], columns: Sequence[int]) -> int:
    """Products that an elimination in this order takes, until every row holds one dependent speed."""
    P, cost = pattern.copy(), 0
    for i, j in zip(rows, columns, strict=True):
        cost += int((P[:, j].sum() - 1) * (P[i].sum() - 1))
        _eliminate(P, i, j)
    return cost


def _eliminate(P: np.ndarray, i: int, j: int) -> None:
    """Where rows have entries after column j has been taken out of all of them with row i, which keeps the others."""
    others = P[i].copy()
    others[j] = False
    touched = P[:, j].copy()
    touched[i] = False
    P |= np.outer(touched, others)
    P[:, j] = False


def _worst(J: list[np.ndarray], rows: Sequence[int], columns: Sequence[int]) -> float:
    return min(fixed_ratio(x, list(zip(rows, columns, strict=True))) for x in J)


def _callable(routine: Any, needed: bool) -> Any:
    """A routine as it can be called here; one that is not given in Python stands for 0 unless constraints need it."""
    if isinstance(routine, Table):
        return routine.value
    if routine.python is not None or needed:
        return routine.python
    count = len(routine.returns)
    return lambda *arguments: (0.0,) * count if count > 1 else 0.0


@dataclass(frozen=True)
class _Place:
    """The constraints in numbers, and where to start."""

    closure: Closure
    model: Calls
    p: list[float]
    w: list[float]
    q: np.ndarray
    given: np.ndarray  # which coordinates have initial values

    @classmethod
    def of(cls, analysis: Analysis, loops: Loops, rates: Sequence[Expr], quantities: Quantities) -> _Place | None:
        mechanism = analysis.mechanism
        parameters, inputs = analysis.parameter_symbols, analysis.input_symbols
        entered = [Call(k.symbols, k.routine, k.arguments) for k in analysis.entered]
        states = mechanism.coordinates, mechanism.speeds
        parts = Parts(mechanism.name, parameters, *states, rates, (), inputs, loops=loops, entered=entered)
        program = build_program(parts)
        held = {s.routine for s in (*program.closure.statements, *program.entry.statements) if isinstance(s, Call)}
        routines = [_callable(r, r in held) for r in program.routines]
        interface = interface_of(analysis, quantities, program)
        if None in routines or any(x.default is None for x in interface.parameters):
            return None
        try:
            p = [float(x.unit.to_equation(x.default)) for x in interface.parameters]
            model = PythonModel(program, routines).calls()
            p += model.values("entry", 0.0, (), (), [*p, *(0.0 for _ in program.entry.results)], (), ())
            w, q, given = _start(interface)
            return cls._with(model, p, w, beside_locks(mechanism, q, ~given), given)
        except Failure:
            return None

    @classmethod
    def _with(cls, model: Calls, p: list[float], w: list[float], q: np.ndarray, given: np.ndarray) -> _Place:
        signals = [Input(lambda t, x=x: x) for x in w]  # type: ignore[misc]
        closure = closure_of(model, p, signals)
        assert closure is not None
        return cls(closure, model, p, w, q, given)

    def rank_at_start(self) -> int:
        """Rank of J at the assembled start."""
        return _rank(self.closure.evaluate(0.0, self._assembled(), np.zeros(self.closure.n_u))[3])

    def regular_positions(self, speeds: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """G and J of positions with a degree of freedom, all of one rank, about a start that is drawn; none if no such
        start is found."""
        random = np.random.default_rng(3)
        for attempt in range(TRIED):
            given = self.given if attempt < TRIED // 2 else np.zeros_like(self.given)
            q = np.where(given, self.q, self.q + random.uniform(-1.0, 1.0, len(self.q)))
            held = given.copy()
            if attempt % 2 and not held.all():  # Newton's method alone is drawn back to the singular configuration
                held[random.choice(np.flatnonzero(~held))] = True
            found = [(G, J) for G, J in self.positions(q, held) if _is_regular(J, _rank(J))]
            ranks = {_rank(J) for _, J in found}
            if len(found) > 1 and len(ranks) == 1 and max(ranks) < speeds:
                return found
        return []

    def positions(
        self, near: np.ndarray | None = None, held: np.ndarray | None = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """G and J at the start, assembled as it is given or `near` a position with coordinates `held`, and along walks
        from there."""
        random = np.random.default_rng(1)
        try:
            start = self._assembled() if near is None else self._close(near, held)
            _, G, _, J = self.closure.evaluate(0.0, start, np.zeros(self.closure.n_u))
        except (*Failure, CannotClose):
            return
        yield G, J
        walks = WALKS if self.closure.n_u < 20 else 2
        for _ in range(walks):
            q = start
            for _ in range(PACES):
                try:
                    q = self._pace(q, random)
                    _, G, _, J = self.closure.evaluate(0.0, q, np.zeros(self.closure.n_u))
                except (*Failure, CannotClose):
                    break
            else:
                yield G, J

    def consistent(self) -> bool:
        """Can all rows hold at once, in position and speed, at the start and soon after?"""
        q, free = self._assembled(), np.ones(self.closure.n_q, dtype=bool)
        u = np.zeros(self.closure.n_u)
        try:
            for t in (0.0, SOON):
                q, _ = self.closure.assemble(t, q, u, free, np.ones_like(u, dtype=bool))
        except (*Failure, CannotClose):
            return False
        return True

    def cannot_close(self) -> str:
        """Why there is no start; "" if that is not known."""
        try:
            self._assembled()
        except CannotClose as error:
            return str(error)
        except Failure:
            return ""
        return ""

    def usual_sizes(self, rows: Sequence[Row], kinematics: Kinematics) -> tuple[np.ndarray, float]:
        """Sizes that slopes of rows of their kinds have, and a length of the machine."""
        known = known_symbols(self.model.program, 0.0, self.q, np.zeros(self.closure.n_u), self.p, self.w)
        try:
            return usual_sizes(rows, kinematics, lambda roots: evaluate(roots, known))
        except Failure:
            return np.zeros(len(rows)), 1.0

    def _assembled(self) -> np.ndarray:
        """The start, with what is given kept if it can be."""
        try:
            return self.closure.close(0.0, self.q, np.zeros(self.closure.n_u), ~self.given)
        except CannotClose:
            return self._close(self.q)

    def _close(self, q: np.ndarray, held: np.ndarray | None = None) -> np.ndarray:
        free = np.ones(self.closure.n_q, dtype=bool) if held is None else ~held
        return self.closure.close(0.0, q, np.zeros(self.closure.n_u), free)

    def _pace(self, q: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """A step along the constraints in a random direction."""
        u = np.zeros(self.closure.n_u)
        _, _, _, J = self.closure.evaluate(0.0, q, u)
        _, values, V = np.linalg.svd(J)
        free = V[np.sum(values > 1e-6 * values[0]) :]
        direction = random.standard_normal(len(free)) @ free
        direction *= PACE / max(float(np.abs(direction).max()), 1e-12)
        c = self.model.constants(self.p)
        qdot = self.model.derivatives(0.0, q.tolist(), direction.tolist(), self.p, c, self.w)[0]
        still = self.model.derivatives(0.0, q.tolist(), u.tolist(), self.p, c, self.w)[0]
        return self._close(q + np.array(qdot) - np.array(still))

    def only_here(self, rank: int) -> str:
        """A remark where a redundancy is lost with slightly other dimensions."""
        random = np.random.default_rng(2)
        p = [x * (1 + 1e-3 * random.standard_normal()) for x in self.p]
        other = _Place._with(self.model, p, self.w, self.q, self.given)
        found = list(other.positions())
        if found and max(_rank(J) for _, J in found) == rank:
            return ""
        return "; so only for these dimensions: with slightly other ones they bind more, or cannot be closed"


def _start(interface: Interface) -> tuple[list[float], np.ndarray, np.ndarray]:
    """Inputs at t = 0, zero where none is given; coordinates at the start, and which are given; in equation units."""
    inputs = interface.given_inputs()
    w = [
        float(as_signal(inputs[x.key], x.name)(0.0)) * x.unit.factor if x.key in inputs and not x.rate else 0.0
        for x in interface.inputs
    ]
    q = np.array([x.unit.to_equation(x.default) for x in interface.coordinates])
    given = np.zeros(len(q), dtype=bool)
    for key, value in interface.run.initial.items():
        if x := interface.get(key, ("coordinate",)):
            q[x.place], given[x.place] = x.unit.to_equation(float(value)), not isinstance(value, Guess)
    return w, q, given
