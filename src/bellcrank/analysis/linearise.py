"""Linear models of a model: exact derivatives at a point, constraints removed, names and units put on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bellcrank.analysis.cyclic import onward
from bellcrank.analysis.equilibrium import Equilibrium, NoEquilibrium
from bellcrank.analysis.evaluate import evaluator
from bellcrank.analysis.find_equilibrium import find_equilibrium
from bellcrank.analysis.jacobian_runner import Groups, channel_at, groups_for
from bellcrank.analysis.kinks import may_have_kinks, mean_of_sides
from bellcrank.analysis.linear import LinearModel, Signal
from bellcrank.analysis.plant import CHANNELS, PARAMETERS, STATES, Plant
from bellcrank.analysis.point import Point
from bellcrank.analysis.reduce import Constraints, Reduction, Singular, reduce_states
from bellcrank.analysis.spin import despun
from bellcrank.analysis.steady import carrier, motion_words, value_words
from bellcrank.analysis.where import Place, place_at, with_guesses, word_of
from bellcrank.errors import RunError
from bellcrank.expr import symbols
from bellcrank.interface.interface import Interface, Quantity
from bellcrank.run.evaluate import Inputs, Parameters

CLOSED = 1e-8  # residual of constraints at a point given by its states
DRIVING = ("input", *PARAMETERS)
REST = 1e-7  # rates below this fraction of their derivatives are rest


def linear_model(
    plant: Plant,
    at: Any = "equilibrium",
    wrt: Any = None,
    outputs: Any = None,
    parameters: Parameters = None,
    inputs: Inputs = None,
    t: float = 0.0,
    states: Any = None,
    guess: Mapping[Any, float | str] | None = None,
) -> LinearModel:
    """A, B, C, D about a point (None: the equilibrium).

    `wrt` may name parameters, `outputs` states.
    """
    plant.refuse_kept()
    interface = plant.interface
    driven = interface.inputs if wrt is None else plant.find_all(wrt, DRIVING, "input")
    chosen_in = _with_rates(driven, interface)
    usual = interface.outputs or interface.states
    chosen_out = usual if outputs is None else plant.find_all(outputs, CHANNELS, "output")
    equilibrium = at is None or word_of(at, plant.name) == "equilibrium"
    at = with_guesses(plant, at, guess)
    if equilibrium:
        start = {"at": at} if guess else {}
        at = operating_point(plant, parameters=parameters, inputs=inputs, t=t, **start)
        parameters = inputs = None
    place = place_at(plant, at, parameters, inputs, t)
    here = place.point
    columns = [q.symbol for q in (*interface.states, *chosen_in) if q.symbol is not None]
    find = despun(evaluator(plant, groups_for(chosen_out), columns), plant, here)
    values, derivatives = find(here)
    derivatives, kinks = mean_of_sides(find, here, derivatives) if may_have_kinks(plant) else (derivatives, [])
    chosen = None if states is None else {x.name for x in plant.find_all(states, STATES, "state")}
    reduction = _reduction(plant, values, derivatives, chosen)
    return _assembled(
        plant, place, chosen_in, chosen_out, [*find.notes, *_kinks(kinks)], values, derivatives, reduction
    )


def operating_point(plant: Plant, **asked: Any) -> Equilibrium:
    """The equilibrium that analyses are made at unless at= says otherwise; if there is none, what to do instead."""
    try:
        return find_equilibrium(plant, **asked)
    except NoEquilibrium as error:
        more = "to analyse the model at its initial state instead, give at='start'"
        raise NoEquilibrium(f"{error}; {more}", error.residuals, error.runaway) from None


def _kinks(names: Sequence[str]) -> list[str]:
    """The note on derivatives that jump."""
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    listed, found = f"{', '.join(names[:4])}{more}", "the model has a kink here: derivatives with respect to"
    return [f"{found} {listed} are the means of both sides"] if names else []


def _with_rates(chosen: Sequence[Quantity], interface: Interface) -> list[Quantity]:
    """Inputs together with their own rates, where the model uses these."""
    found = list(chosen)
    for q in chosen:
        name = f"dxdt({q.name})"
        while extra := interface.get(name, ("input",)):
            if extra not in found:
                found.append(extra)
            name = f"dxdt({name})"
    return found


def _reduction(plant: Plant, values: Groups, derivatives: Groups, chosen: set[str] | None) -> Reduction:
    """Independent states and how the others follow."""
    states = plant.interface.states
    n_q, n = plant.loaded.n_q, len(states)
    g, v = derivatives["positions"], derivatives["speeds"]
    results, loops = plant.derived.results, plant.loaded.program.loops
    rows = [name for name, _ in results.positions], [name for name, _ in results.speeds]
    ranks = (loops.scales.rank_g, loops.scales.rank_v) if loops else (len(rows[0]), len(rows[1]))  # where regular
    residual = max((float(np.abs(values[k]).max(initial=0.0)) for k in ("positions", "speeds")), default=0.0)
    if residual > CLOSED:
        raise RunError(
            f"the state given does not satisfy the constraints of '{plant.name}': a residual of {residual:.2g} is "
            "left. Give it by names (at={...}), so that it is completed, or take it from sim.assemble()."
        )
    if chosen is None:
        analysis = plant.derived.analysis
        free = {u.name for u in analysis.independent_speeds}
        bound = {s.name for _, norm in analysis.mechanism.norms for s in symbols(norm)}
        prefer = [
            s.name not in bound and ("u" + s.name[1:] if s.kind == "coordinate" else s.name) in free for s in states
        ]
    else:
        prefer = [s.name in chosen for s in states]
    c = Constraints(g[:, :n_q], g[:, n:], v[:, :n_q], v[:, n_q:n], v[:, n:], *rows)
    try:
        return reduce_states(c, prefer, ranks)
    except Singular as error:
        raise RunError(
            f"'{plant.name}' is in a singular configuration: the constraint '{error.rows[0]}' does not restrict any "
            f"movement here that others do not restrict already (pivot {error.pivot:.1e}), so the independent states "
            "are not determined"
        ) from None


def _assembled(
    plant: Plant,
    place: Place,
    chosen_in: Sequence[Quantity],
    chosen_out: Sequence[Quantity],
    notes: list[str],
    values: Groups,
    derivatives: Groups,
    r: Reduction,
) -> LinearModel:
    every, here = plant.interface.states, place.point
    n = len(every)
    x_rates, w_rates = derivatives["rates"][:, :n], derivatives["rates"][:, n:]
    A = (x_rates @ r.N)[r.independent]
    B = (x_rates @ r.N_w + w_rates)[r.independent]
    seen = [channel_at(q, here.x, values, derivatives) for q in chosen_out]
    C = np.array([row[:n] @ r.N for _, row in seen]).reshape(len(seen), r.N.shape[1])
    D = np.array([row[:n] @ r.N_w + row[n:] for _, row in seen]).reshape(len(seen), r.N_w.shape[1])
    states = [every[i] for i in r.independent]
    f_x, f_w, f_y = (np.array([q.unit.factor for q in g]) for g in (states, chosen_in, chosen_out))
    lost = [q.name for q, row in zip(chosen_out, np.hstack([C, D]), strict=True) if not np.all(np.isfinite(row))]
    if lost:
        notes.append(f"derivatives of the outputs {', '.join(lost)} do not exist here")
    cyclic = onward(plant, here)
    moving = _moving(every, values["rates"], x_rates, here, cyclic)
    notes += [moving] if moving else []
    dependent = {}
    for i in sorted({*range(n)} - {*r.independent.tolist()}):
        shares = zip(states, r.N[i] * f_x / every[i].unit.factor, strict=True)
        dependent[every[i].name] = {s.name: float(x) for s, x in shares if x}
    if dependent:
        notes.append(f"dependent states follow from the others: {', '.join(dependent)}")
    return LinearModel(
        plant.name,
        A * f_x[None, :] / f_x[:, None],
        B * f_w[None, :] / f_x[:, None],
        C * f_x[None, :] / f_y[:, None],
        D * f_w[None, :] / f_y[:, None],
        tuple(_signal(q, here.x[i]) for q, i in zip(states, r.independent, strict=True)),
        tuple(_signal(q, here.of(q)) for q in chosen_in),
        tuple(_signal(q, v) for q, (v, _) in zip(chosen_out, seen, strict=True)),
        values["rates"][r.independent] / f_x,
        not moving,
        tuple(notes),
        dependent,
        place.motion or _motion(plant, place, cyclic, not moving),
        here,
    )


def _motion(plant: Plant, place: Place, cyclic: set[str], steady: bool) -> str:
    """Where the model was linearised, in words."""
    if steady:
        return f"{place.words}: {motion_words(plant, place.point, cyclic)}"
    speed = carrier(plant, place.point, cyclic)
    at = f" at {value_words(speed, place.point.of(speed))}" if speed else ""
    return f"{place.words}{at}, which is not steady"


def _signal(q: Quantity, value: float) -> Signal:
    user = float(q.unit.from_equation(value))
    return Signal(q.name, q.unit.text, q.label, user, q.unit.factor, q.kind == "coordinate")


def _moving(states: Sequence[Quantity], rates: np.ndarray, derivatives: np.ndarray, here: Point, gone: set[str]) -> str:
    """Why the point is no equilibrium or steady motion: the fastest rates in words; "" if it is one."""
    size = np.abs(derivatives * np.maximum(np.abs(here.x), 1.0)).max(axis=1, initial=0.0)
    fast = np.abs(rates) > REST * (size + 1e-3)
    moving = [(q, rate) for q, rate, f in zip(states, rates, fast, strict=True) if f and q.name not in gone]
    if not moving:
        return ""
    listed = ", ".join(f"{q.name}' = {q.unit.from_equation(rate):.4g} {q.unit.text}/s" for q, rate in moving[:4])
    more = f" and {len(moving) - 4} more" if len(moving) > 4 else ""
    return f"the point is no equilibrium ({listed}{more}): the model holds for a short time about the motion through it"
