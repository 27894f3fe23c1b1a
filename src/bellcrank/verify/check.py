"""The check of derived equations against the independent evaluation of their description.

In:  a System. Out: `Report`: a line per property, with the number found and the limit it must keep. At random states:
accelerations must satisfy the principle of virtual power and Newton-Euler body by body, rates of coordinates must
move bodies as the speeds say, outputs must be what their formulas say, slopes in the program must agree with
differences. Over a short run: energy, and momentum where nothing from the ground can push. With small variables: the
same against the description without them, and the order of the error that the truncation makes. With closed loops and
constraints: positions, speeds and accelerations must keep them, at random states and in a run of the program itself.
The states are completed by the program under check, which only chooses them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from bellcrank.api.equations import Equations
from bellcrank.api.system import System
from bellcrank.errors import BellcrankError, ModelError
from bellcrank.kane import Derivation
from bellcrank.kane.equations import KaneEquations
from bellcrank.numeric.redundant import Numbers
from bellcrank.verify.balance import lines_over_a_run
from bellcrank.verify.kane import check_derivation
from bellcrank.verify.numeric import Evaluation, Residual
from bellcrank.verify.reactions import newton_euler, reactions_error
from bellcrank.verify.report import Line, Report
from bellcrank.verify.slopes import lines_of_constraints, lines_of_rates
from bellcrank.verify.subject import UNUSABLE, Sample, Subject, held
from bellcrank.verify.truncation import lines_of_truncation

EQUATION = 1e-10  # of the largest term of an equation of motion, or of a constraint of accelerations
RESIDUAL = 1e-9  # of the largest velocity, length or output
OWN_STEPS = 200  # of the program's own run
LOOKS = 4  # states of that run at which residuals are evaluated


def check(
    system: System | Derivation | KaneEquations,
    states: int = 20,
    seed: int = 0,
    *,
    equations: Equations | None = None,
    parameters: Mapping[str, float] | None = None,
    solve: str = "auto",
    backend: str | None = None,
    run: bool = True,
) -> Report:
    """Checks the equations of a system (derived here unless given) against an independent evaluation of it.

    `parameters` (user units) replace defaults. `run=False` leaves out what needs a run: energy, momentum, loops that
    stay closed. A hand-led derivation has no description: its own steps are checked in numbers (`verify.kane`).
    """
    if isinstance(system, Derivation | KaneEquations):
        return check_derivation(system, states, seed, parameters, backend)
    if states < 1:
        raise ModelError(f"states={states!r} must be at least 1", system.name)
    if not isinstance(seed, int) or seed < 0:
        raise ModelError(f"seed={seed!r} must be a whole number of at least 0", system.name)
    eom = equations if equations is not None else system.equations(solve=solve)
    options = {} if backend is None else {"backend": backend}
    small = bool(eom.analysis.mechanism.orders)
    report = Report(eom.name, states, seed)
    with np.errstate(all="ignore"):
        subject = truncated = Subject(system, eom, options, parameters, seed)
        if small:
            exact = system.equations(solve=solve, small=False)
            subject = Subject(system, exact, options, parameters, seed, quiet=True)
        samples = list(subject.samples(states))
        suffix = " without small variables" if small else ""
        few = samples[: max(3, states // 4)]
        faster = [subject.lively(s) if i % 2 else s for i, s in enumerate(samples)]
        report.lines += _lines_at_states(subject, faster, suffix)
        report.lines += lines_of_constraints(subject, few) + lines_of_rates(subject, few, seed)
        if run:
            report.lines += _lines_of_own_run(subject) + lines_over_a_run(subject, samples[0], suffix)
        if small:
            report.lines += lines_of_truncation(subject, truncated, few)
    report.lines += _information(eom)
    return report


# ---- lines of the report


def _lines_at_states(subject: Subject, samples: list[Sample], suffix: str) -> list[Line]:
    worst = {name: Worst() for name in ("kinematic", "power", "bodies", "singular_rates", "reactions", "residuals")}
    closing = {"position": Worst(), "speed": Worst(), "acceleration": Worst()}
    outputs: dict[str, list[tuple[float, float]]] = {}  # found and expected
    singular_rates = _singular_rates(subject)
    freedoms = [x.name for x in subject.eom.independent_speeds]
    units = subject.eom.quantities.output_unit
    groups = [g.lower() for g in subject.description.output_groups]
    reactions = "reactions" in groups and not subject.description.constraints  # whose loads have no place of their own
    for s in samples:
        evaluation = subject.evaluation(s)
        try:
            qdot, udot = subject.rates(s)
            worst["kinematic"].note(evaluation.kinematic_error(s.q, s.u, qdot))
            if evaluation.closed is not None:
                for w, error in zip(closing.values(), evaluation.closed.errors(s.q, s.u, udot), strict=True):
                    w.note(error)
            elif evaluation.bound:
                closing["speed"].note(evaluation.constraint_error(s.q, qdot))
            _note_largest(worst["power"], evaluation.residual(s.q, s.u, udot), freedoms)
            _note_largest(worst["bodies"], newton_euler(evaluation, s.q, s.u, udot), evaluation.machine.u_names)
            if singular_rates is not None:
                worst["singular_rates"].note(_singular_error(evaluation, s, *singular_rates(s)))
            channels = {name: float(units[name].to_equation(value)) for name, value in subject.outputs(s).items()}
            for name, expected in evaluation.outputs(s.q, s.u, udot).items():
                outputs.setdefault(name, []).append((channels[name], expected))
            if subject.loops and "residuals" in groups:
                values = [abs(x) for name, x in channels.items() if name.startswith("residual")]
                worst["residuals"].note(float(np.max(values, initial=0.0)))
            if reactions:
                known = {name.lower(): value for name, value in channels.items()}
                worst["reactions"].note(reactions_error(evaluation, s.q, s.u, udot, known))
        except UNUSABLE as error:
            for w in worst.values():
                w.note(math.nan, f"no numbers at t = {s.time:.3g}: {error}")
            break
    levels = list(closing) if subject.loops else ["speed"] if evaluation.bound else []
    limits = {"acceleration": EQUATION}
    lines = [Line(f"constraint residuals ({k}){suffix}", closing[k].value, limits.get(k, RESIDUAL)) for k in levels]
    for key, name, limit, wanted in (
        ("kinematic", "rates of coordinates", RESIDUAL, True),
        ("power", "equations of motion (virtual power)", EQUATION, True),
        ("bodies", "equations of motion (Newton-Euler)", EQUATION, True),
        ("singular_rates", "rates near singular positions", EQUATION, singular_rates is not None),
        ("residuals", "residual channels", RESIDUAL, subject.loops and "residuals" in groups),
        ("reactions", "reactions of joints and loops", RESIDUAL, reactions),
    ):
        if wanted:
            note = worst[key].where if key in ("power", "bodies") and not worst[key].value <= limit else ""
            lines.append(Line(name + suffix, worst[key].value, limit, note=note))
    if outputs:
        gap, name = _largest_gap(outputs, {k: u.text for k, u in units.items()})
        lines.append(Line(f"outputs{suffix}", gap, RESIDUAL, note=f"largest in {name}" if gap > RESIDUAL else ""))
    return lines


def _note_largest(worst: Worst, residual: Residual, names: list[str]) -> None:
    relative = residual.relative
    i = int(np.argmax(np.nan_to_num(relative, nan=np.inf))) if len(relative) else 0
    worst.note(float(relative.max(initial=0.0)), f"largest in the equation of {names[i]}" if names else "")


def _singular_error(evaluation: Evaluation, s: Sample, n: Numbers, rates: np.ndarray) -> float:
    """What is left of kinematics, constraints and equations of motion with rates found without a choice of speeds."""
    assert evaluation.closed is not None
    qdot, udot = np.split(rates, [len(s.q)])
    speed = max(1.0, float(np.abs(s.u).max(initial=0.0)))
    errors = [float(np.abs([*n.g, *(n.v / speed)]).max(initial=0.0))]
    errors += [evaluation.kinematic_error(s.q, s.u, qdot), evaluation.closed.errors(s.q, s.u, udot)[2]]
    errors.append(float(evaluation.residual(s.q, s.u, udot).relative.max(initial=0.0)))
    return float(np.max(errors))


def _singular_rates(subject: Subject) -> Callable[[Sample], tuple[Numbers, np.ndarray]] | None:
    """The redundant equations, and rates as they are found from them near singular positions, which must hold
    everywhere."""
    loops = subject.eom.program.loops
    if loops is None:
        return None
    model, sizes = subject.loaded.python.calls(), loops.sizes(len(subject.eom.coordinates))

    def found(s: Sample) -> tuple[Numbers, np.ndarray]:
        n = sizes.split(model.values("system", *s.at, *subject.numbers(s)))
        return n, n.rates(loops.scales)[0]

    return found


def _lines_of_own_run(subject: Subject) -> list[Line]:
    """A run of the program itself, with the settings of the model: do the loops stay closed?"""
    if not subject.loops:
        return []
    name, settings, eom, sim = "constraint residuals over a run", subject.description.run, subject.eom, subject.sim
    step = settings.step or 1e-3
    t_end = min(settings.t_end or 1.0, OWN_STEPS * step)
    inputs = {**held(subject.no_inputs), **settings.inputs}
    try:
        run = sim.simulate(t_end=t_end, step=step, parameters=subject.given, inputs=inputs, output_every=1)
    except BellcrankError as error:
        return [Line(name, math.nan, RESIDUAL, note=str(error))]
    if run.ended != "finished":
        return [Line(name, math.nan, RESIDUAL, note=run.ended)]
    worst = 0.0
    units = subject.eom.quantities.states
    for i in np.unique(np.linspace(0, len(run) - 1, LOOKS).astype(int)):
        known = {x.name: float(units[x.name].to_equation(run[x.name][i])) for x in (*eom.coordinates, *eom.speeds)}
        q, u = (np.array([known[x.name] for x in listed]) for listed in (eom.coordinates, eom.speeds))
        inputs = {k: (float(run[k][i]) if k in run else 0.0, 0.0, 0.0) for k in subject.no_inputs}
        closed = subject.evaluation(Sample(float(run.time[i]), q, u, inputs)).closed
        assert closed is not None
        worst = max(worst, *closed.errors(q, u, np.zeros_like(u))[:2])
    note = f"{run.settings['method']}, {round(t_end / step)} steps of {step:g} s"
    return [Line(name, worst, RESIDUAL, note=note)]


class Worst:
    """The largest of several errors, and where it was met."""

    value, where = 0.0, ""

    def note(self, error: float, where: str = "") -> None:
        if not error <= self.value and not math.isnan(self.value):
            self.value, self.where = error, where


def _largest_gap(pairs: Mapping[str, list[tuple[float, float]]], unit: Mapping[str, str]) -> tuple[float, str]:
    """Largest difference of a channel, relative to its size; one that is zero beside others of its unit has none."""
    arrays = {name: np.array(listed) for name, listed in pairs.items()}
    size = {name: float(np.abs(a[:, 1]).max()) for name, a in arrays.items()}
    worst, where = 0.0, ""
    for name, a in arrays.items():
        alike = max(size[other] for other in arrays if unit[other] == unit[name])
        error = float(np.abs(a[:, 0] - a[:, 1]).max()) / max(size[name], 1e-6 * alike, 1e-3)
        if not error <= worst:
            worst, where = error, name
    return worst, where


def _information(eom: Equations) -> list[Line]:
    c = eom.operation_count()
    parts = f"{c['add']} add, {c['multiply']} multiply, {c['divide']} divide, {c['function']} functions"
    if c["per_step"]["total"]:
        parts += f", {c['per_step']['total']} once per step at a quarter"
    classic = c["classic"]
    rule = f"add / multiply or divide, and {classic['calls']} calls"
    counted = f"{classic['add']} / {classic['muldiv']}"
    return [Line("operations", str(c["total"]), note=parts), Line("operations, published rule", counted, note=rule)]
