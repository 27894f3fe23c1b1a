"""The whole path on one page: description -> mechanism -> analysis -> derivation -> program.

Each step is timed, so that one can see where a derivation spends its time.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace

from bellcrank.api.equations import Equations
from bellcrank.api.look import look_at
from bellcrank.dynamics.derive import PASSES, Derivation, derivations, reduced_system, require_freedom
from bellcrank.errors import ModelError, did_you_mean
from bellcrank.expr import ZERO, Expr, Symbol, add, mul, partial, small_threshold, substitute
from bellcrank.kinematics.analysis import Analysis, analyse
from bellcrank.kinematics.dimensions import Quantities, infer
from bellcrank.kinematics.eliminate import solve_rows
from bellcrank.kinematics.rows import right_side
from bellcrank.model.check import freeze
from bellcrank.model.records import Description
from bellcrank.program.count import count
from bellcrank.program.extract import network_cost
from bellcrank.program.idle import drop_idle_parameters
from bellcrank.program.optimise import first_extraction, optimise
from bellcrank.program.program import KeptCall, Loops, Parts, Program, Quick, Scales, build_program

SOLVE = ("auto", "explicit", "implicit", "order-n")
OPTIMISE = ("none", "default", "thorough")


class Clock:
    """Seconds spent per stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


@contextmanager
def no_collection() -> Iterator[None]:
    """Expressions hold no cycles: looking for them while millions are made costs a tenth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def derive_equations(
    description: Description,
    solve: str,
    small: bool,
    level: str,
    without: Collection[str] = (),
    multipliers: bool = False,
) -> Equations:
    """Equations of motion of a description; `without` names passes to leave out. With `multipliers` all speeds stay states."""
    if solve not in SOLVE:
        raise ModelError(f"solve={solve!r} is not known; it is one of {', '.join(SOLVE)}", description.name)
    if level not in OPTIMISE:
        raise ModelError(f"optimise={level!r} is not known; it is one of {', '.join(OPTIMISE)}", description.name)
    for name in without:
        if name not in PASSES:
            known = ", ".join(PASSES)
            raise ModelError(
                f"without={name!r} is not a pass.{did_you_mean(name, PASSES)} Passes: {known}.", description.name
            )
    clock = Clock()
    with small_threshold(description.small_threshold), no_collection():
        with clock.stage("analyse"):
            mechanism, checker = freeze(description, small)
            analysis = analyse(mechanism, checker, multipliers)
            require_freedom(analysis)
        with clock.stage("units"):
            quantities, problems = infer(analysis)
            if problems:
                raise ModelError(problems, description.name)
        loops = None
        if analysis.loops is not None:
            with clock.stage("loops"):
                loops = _loops(analysis, quantities)
        with clock.stage("derive"):
            try:
                program, how = _program(analysis, loops, solve, level, frozenset(without))
            except ModelError as error:
                raise ModelError(error.problems, description.name) from None
    return Equations(analysis, quantities, program, how, dict(clock.seconds), solve)


def _program(
    analysis: Analysis, loops: Loops | None, solve: str, level: str, without: frozenset[str]
) -> tuple[Program, str]:
    coordinates = list(analysis.mechanism.coordinates)
    q_rates = [analysis.kinematics.rates[q] for q in coordinates]
    if solve != "auto" and loops:
        raise ModelError(f"solve={solve!r} is not available for models with closed loops yet; leave it at 'auto'")
    if solve == "implicit":
        return _implicit(analysis, q_rates), "implicit: mass matrix solved numerically"
    ways = list(derivations(analysis, solve, without))
    listed = [_roots(analysis, q_rates, w) for w in ways]
    raw = [count(roots).total for roots in listed]
    order = sorted(range(len(ways)), key=lambda i: (raw[i], i))
    chosen = order[0]
    if level == "none" or "extract" in without:
        roots = drop_idle_parameters(listed[chosen])
        return _build(analysis, roots, loops=loops, stages=[("formulation", raw[chosen])]), ways[chosen].how
    near = [i for i in order if raw[i] <= 1.02 * raw[chosen]][:2]
    clean = {i: drop_idle_parameters(listed[i]) for i in near}
    extracted = {i: first_extraction(clean[i]) for i in near}
    chosen = min(near, key=lambda i: network_cost(extracted[i]))
    roots = optimise(clean[chosen], extracted[chosen], thorough=level == "thorough")
    stages = [("formulation", raw[chosen]), ("extraction", count(roots).total)]
    return _build(analysis, roots, loops=loops, stages=stages), ways[chosen].how


def _roots(analysis: Analysis, q_rates: list[Expr], way: Derivation) -> list[Expr]:
    index = {u: i for i, u in enumerate(analysis.mechanism.speeds)}
    return [*q_rates, *(way.udot[index[u]] for u in analysis.state_speeds)]


def _build(analysis: Analysis, rates: list[Expr], **more: object) -> Program:
    """The program with its outputs; accelerations in outputs are the rates just derived."""
    speeds = analysis.state_speeds
    accelerations: dict[Expr, Expr] = {}
    for u, rate in zip(speeds, rates[len(analysis.mechanism.coordinates) :], strict=True):
        accelerations[analysis.kinematics.rate_of(u)] = rate
    outputs = [(o.name, substitute(o.value, accelerations)) for o in analysis.outputs]
    d = analysis.mechanism.description
    names = sorted(analysis.parameters.values(), key=str.lower)
    orders = analysis.mechanism.orders
    parameters = [Symbol(n, "parameter", orders.get(n.lower(), 0)) for n in names]
    inputs = [Symbol(v.name, "variable", orders.get(v.name.lower(), 0)) for v in d.variables]
    kept = [KeptCall(k.symbols, k.routine, k.arguments) for k in analysis.kept]
    program = build_program(
        Parts(d.name, parameters, analysis.mechanism.coordinates, speeds, rates, outputs, inputs, kept=kept, **more)  # type: ignore[arg-type]
    )
    for routine in program.routines:
        if getattr(routine, "when", None) == "output" and program.in_rates(routine):
            raise ModelError(
                f"external '{routine.name}' is called for outputs only (when='output'), but the equations of motion use it"
            )
    return program


def _loops(analysis: Analysis, quantities: Quantities) -> Loops:
    """Loops in expressions, looked at in numbers; the look decides how they are eliminated."""
    assert analysis.loops is not None
    loops = _loop_rows(analysis)
    rates = [analysis.kinematics.rates[q] for q in analysis.mechanism.coordinates]
    look = look_at(analysis, loops, rates, quantities)
    used = analysis.loops.used if look is None else look.elimination.used
    if len(used) >= len(analysis.mechanism.speeds):
        listed = ", ".join(row.text for row in used)
        raise ModelError(
            f"the constraints leave no freedom: {len(used)} rows determine all {len(used)} speeds ({listed})",
            analysis.mechanism.name,
        )
    if look is None:
        return loops
    if look.elimination != analysis.loops:
        analysis.eliminate(look.elimination)
    analysis.notes += look.notes
    loops = replace(loops, scales=look.scales)
    return replace(loops, quick=_quick(analysis, loops))


def _quick(analysis: Analysis, loops: Loops) -> Quick | None:
    """The correction of regular positions; None where coordinates do not follow speeds one by one."""
    assert analysis.loops is not None
    q, u = list(analysis.mechanism.coordinates), list(analysis.mechanism.speeds)
    rates, scales = analysis.kinematics.rates, loops.scales
    used, pivots = analysis.loops.used, analysis.loops.pivots
    count = sum(row.g is not None for row in used)
    columns = [x for s in pivots[:count] for x in q if rates[x] is s]
    g = [row.g for row in used[:count] if row.g is not None]
    if not count == scales.rank_g == len(columns) == len(g):
        return None
    slopes = [{x: a for x in columns if (a := partial(y, x)) is not ZERO} for y in g]
    dq, _ = solve_rows(slopes, g, columns, analysis.kinematics.work.copy())
    speeds = [dict(row.slopes) for row in used]
    du, divided = solve_rows(speeds, [row.v for row in used], pivots, analysis.kinematics.work.copy())
    dq, both = (optimise(roots) for roots in (dq, [*du, *divided]))
    sizes = tuple(scales.rows[i] * scales.columns[j] / scales.usual_order for i, j in scales.order)
    places = tuple(q.index(x) for x in columns), tuple(u.index(s) for s in pivots)
    return Quick(*places, tuple(dq), tuple(both[: len(du)]), tuple(both[len(du) :]), sizes)


def _loop_rows(analysis: Analysis) -> Loops:
    """What is needed to bring a state onto the constraints: g, dg/dq, v and dv/du; and M, f and gamma of the tree."""
    q, u = analysis.mechanism.coordinates, analysis.mechanism.speeds
    assert analysis.loops is not None
    rows = analysis.loops.rows
    position = [(row.text, row.g) for row in rows if row.g is not None]
    for b in analysis.mechanism.bodies:
        if b.euler:
            position.append((f"unit size of the Euler parameters of {b.name}", add(*(mul(e, e) for e in b.q_r)) - 1))
    system, _ = reduced_system(analysis, shift_back=True)
    count = len(u)
    right = [right_side(row, analysis.kinematics) for row in rows]
    lower = [system.M.get((i, j), ZERO) for i in range(count) for j in range(i + 1)]
    clean = drop_idle_parameters([*lower, *(system.f[i] for i in range(count)), *right])
    triangle = iter(clean)
    M = tuple(tuple(next(triangle) for _ in range(i + 1)) for i in range(count))
    f, gamma = clean[len(lower) : len(lower) + count], clean[len(lower) + count :]
    return Loops(
        tuple(row.text for row in rows),
        tuple(text for text, _ in position),
        tuple(g for _, g in position),
        tuple(tuple(partial(g, s) for s in q) for _, g in position),
        tuple(row.v for row in rows),
        tuple(tuple(dict(row.slopes).get(s, ZERO) for s in u) for row in rows),
        Scales(len(position), len(analysis.loops.used), (1.0,) * len(rows), (1.0,) * len(u)),
        M,
        tuple(f),
        tuple(gamma),
    )


def _implicit(analysis: Analysis, q_rates: list[Expr]) -> Program:
    system, _ = reduced_system(analysis, shift_back=True)
    index = system.index
    unknowns = [Symbol(f"x{n + 1}", "intermediate") for n in range(len(index))]
    matrix = [[system.M.get((max(i, j), min(i, j)), ZERO) for j in index] for i in index]
    right = [system.f[i] for i in index]
    return _build(analysis, [*q_rates, *unknowns], solve=(matrix, right), unknowns=unknowns)
