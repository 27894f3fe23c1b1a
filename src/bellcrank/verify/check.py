"""The check of derived equations against the independent evaluation of their description.

In:  a System. Out: `Report`: a line per property, with the number found and the limit it must keep.
At random states: accelerations must satisfy the principle of virtual power and Newton-Euler body
by body, rates of coordinates must move bodies as the speeds say, outputs must be what their
formulas say, slopes in the program must agree with differences. Over a short run: energy, and
momentum where nothing from the ground can push. With small variables: the same against the
description without them, and the order of the error that the truncation makes. With closed loops
and constraints: positions, speeds and accelerations must keep them, at random states and in a run
of the program itself. The states are completed by the program under check, which only chooses
them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from bellcrank.api.equations import Equations
from bellcrank.api.system import System
from bellcrank.choices import Backend, Solve
from bellcrank.core.errors import BellcrankError, ModelError
from bellcrank.kane import Derivation
from bellcrank.kane.equations import KaneEquations
from bellcrank.simulation.run.status import RunStatus
from bellcrank.verify.conservation import check_conservation
from bellcrank.verify.divisor_zeros import check_model_divisors, states_at_zero_divisors
from bellcrank.verify.hand_derivation_check import check_derivation
from bellcrank.verify.jacobian_check import check_constraint_jacobians, check_rhs_jacobian
from bellcrank.verify.model_under_test import CheckSample, ModelUnderTest, held_signals
from bellcrank.verify.redundant import check_redundant_equations
from bellcrank.verify.report import CheckLine, Report
from bellcrank.verify.state_checks import RESIDUAL, check_at_states
from bellcrank.verify.truncation import check_truncation

OWN_STEPS = 200  # of the program's own run
RUN_SAMPLE_COUNT = 4  # states of that run at which residuals are evaluated


def check(
    system: System | Derivation | KaneEquations,
    *,
    states: int = 20,
    seed: int = 0,
    equations: Equations | None = None,
    parameters: Mapping[str, float] | None = None,
    solve: Solve = "auto",
    backend: Backend | None = None,
    run: bool = True,
) -> Report:
    """Check the equations of a system against an independent evaluation at random states.

    Parameters
    ----------
    system : System or Derivation
        The system. Derivations by hand (`bc.kane`) are checked step by step.
    states : int, default 20
        Number of random states.
    seed : int, default 0
        Seed of the random states.
    equations : Equations, optional
        Equations of the system. Default: they are derived.
    parameters : mapping, optional
        Values by name in user units that replace defaults.
    solve : str, default "auto"
        As of `System.equations`.
    backend : str, optional
        As of `Equations.compile`.
    run : bool, default True
        False omits checks that need a run: energy, momentum, loops that stay closed.

    Returns
    -------
    Report
        `report.passed`, and `print(report)` for all properties with their limits.

    Raises
    ------
    ModelError
        If the description has mistakes.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("oscillator")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> spring = s.add_force("spring", magnitude="-50*x", direction=s.inertial.x, at=mass.origin)
    >>> bc.check(s, states=3, run=False, backend="python").passed
    True
    """
    if isinstance(system, Derivation | KaneEquations):
        return check_derivation(system, states, seed, parameters, backend)
    model: object = system
    if not isinstance(model, System):
        hint = (
            "; equations go with their system: check(system, equations=...)"
            if isinstance(model, Equations)
            else ""
        )
        raise ModelError(
            f"check() takes a System or a Derivation, not {type(model).__name__}{hint}"
        )
    if states < 1:
        raise ModelError(f"states={states!r} must be at least 1", system.name)
    if not isinstance(seed, int) or seed < 0:
        raise ModelError(f"seed={seed!r} must be a whole number of at least 0", system.name)
    eom = equations if equations is not None else system.equations(solve=solve)
    options = {} if backend is None else {"backend": backend}
    has_small = bool(eom.analysis.mechanism.orders)
    report = Report(eom.name, states, seed)
    with np.errstate(all="ignore"):
        subject = truncated = ModelUnderTest(system, eom, options, parameters, seed)
        if has_small:
            exact = system.equations(solve=solve, small=False)
            subject = ModelUnderTest(system, exact, options, parameters, seed, quiet=True)
        samples = subject.samples(states)
        suffix = " without small variables" if has_small else ""
        subset = samples[: max(3, states // 4)]
        lively_samples = list(samples)
        lively_samples[1::2] = subject.speed_dominated_samples(samples[1::2])
        extra_samples = subject.samples_in_other_branches(lively_samples)
        zeros = states_at_zero_divisors(subject)
        lines, scales = check_at_states(subject, lively_samples + extra_samples + zeros, suffix)
        report.lines += lines + check_model_divisors(subject)
        report.lines += check_constraint_jacobians(subject, subset) + check_redundant_equations(
            subject, subset
        )
        report.lines += check_rhs_jacobian(subject, subset, seed)
        if run:
            report.lines += _check_own_run(subject) + check_conservation(subject, samples, suffix)
        if has_small:
            report.lines += check_truncation(subject, truncated, subset)
    report.lines += [
        _sample_line(subject, states, len(extra_samples), len(zeros)),
        CheckLine("scales", "", note=scales),
        *_operation_count_line(eom),
    ]
    return report


# ---- lines of the report


def _check_own_run(subject: ModelUnderTest) -> list[CheckLine]:
    """A run of the program itself, with the settings of the model: do the loops stay closed?"""
    if not subject.loops:
        return []
    name, settings, eom, sim = (
        "constraint residuals over a run",
        subject.description.run,
        subject.eom,
        subject.sim,
    )
    step = settings.step or 1e-3
    t_end = min(settings.t_end or 1.0, OWN_STEPS * step)
    inputs = {**held_signals(subject.no_inputs), **settings.inputs}
    try:
        run = sim.simulate(
            t_end=t_end, step=step, parameters=subject.given, inputs=inputs, output_every=1
        )
    except BellcrankError as error:
        return [CheckLine(name, math.nan, RESIDUAL, note=str(error))]
    if run.status is not RunStatus.FINISHED:
        return [CheckLine(name, math.nan, RESIDUAL, note=run.ended)]
    worst = 0.0
    units = subject.eom.quantities.states
    for i in np.unique(np.linspace(0, len(run) - 1, RUN_SAMPLE_COUNT).astype(int)):
        state_values = {
            x.name: float(units[x.name].to_equation_units(run[x.name][i]))
            for x in (*eom.coordinates, *eom.speeds)
        }
        q, u = (
            np.array([state_values[x.name] for x in group])
            for group in (eom.coordinates, eom.speeds)
        )
        inputs = {k: (float(run[k][i]) if k in run else 0.0, 0.0, 0.0) for k in subject.no_inputs}
        closed = subject.evaluation(CheckSample(float(run.time[i]), q, u, inputs)).closed
        assert closed is not None
        worst = max(worst, *closed.errors(q, u))
    note = f"{run.settings['method']}, {round(t_end / step)} steps of {step:g} s"
    return [CheckLine(name, worst, RESIDUAL, note=note)]


def _sample_line(subject: ModelUnderTest, states: int, further: int, zeros: int) -> CheckLine:
    """At which states equations were compared, and at which not."""
    notes = [f"{further} more where formulas are made of other pieces"] if further else []
    notes += [f"{zeros} more where a pivot of speed constraints vanishes"] if zeros else []
    notes += [f"{n} passed over: {reason}" for reason, n in subject.passed_over.most_common()]
    return CheckLine("states", str(states), note="; ".join(notes))


def _operation_count_line(eom: Equations) -> list[CheckLine]:
    c = eom.operation_count()
    breakdown = (
        f"{c['add']} add, {c['multiply']} multiply, {c['divide']} divide, {c['function']} functions"
    )
    if c["per_step"]["total"]:
        breakdown += f", {c['per_step']['total']} once per step at a quarter"
    classic = c["classic"]
    rule = f"add / multiply or divide, and {classic['calls']} calls"
    published = f"{classic['add']} / {classic['muldiv']}"
    return [
        CheckLine("operations", str(c["total"]), note=breakdown),
        CheckLine("operations, published rule", published, note=rule),
    ]
