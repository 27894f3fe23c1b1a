"""Runs a program of the dialect: values of its input file, Kutta-Merson, output files as AUTOLEV's programs have."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bellcrank.api.simulation import Simulation
from bellcrank.errors import ModelError, RunError
from bellcrank.kane.autolev.inputs import read_values
from bellcrank.kane.autolev.merson import Merson
from bellcrank.kane.autolev.plan import OutputFile, Plan
from bellcrank.run.result import Run

MOST_ROWS = 10_000_000


@dataclass
class Outcome:
    """A run with the settings the output files name."""

    plan: Plan
    run: Run
    values: dict[str, float]
    t_end: float
    print_step: float
    step: float
    step_given: float
    seconds: float = 0.0
    evaluations: int | None = None
    notes: list[str] = field(default_factory=list)
    message: str = ""


def simulate(
    plan: Plan,
    text: str,
    where: str,
    t_end: float,
    print_step: float,
    step: float | None = None,
    method: str = "merson",
    backend: str = "auto",
    message: str = "",
    parameters: dict[str, float] | None = None,
) -> Outcome:
    """Reads the input file and runs to t_end, a row every print_step (both s), of which STEP is made a whole part."""
    names = [[s.name for s in group] for group in plan.groups]
    values, notes = read_values(text, names, where)
    values.update(_overridden(values, parameters or {}))
    for what, x in (("t_end", t_end), ("print step", print_step), ("step", step if step is not None else print_step)):
        if not (math.isfinite(x) and x > 0):
            raise ModelError(f"{what} = {x} must be a positive number")
    given = step if step is not None else print_step
    pieces = max(int((print_step - 1e-8) / given + 1), 1)
    if t_end / print_step > MOST_ROWS or pieces > MOST_ROWS:
        raise ModelError(f"{t_end / print_step * pieces:.3g} steps are too many")
    sim: Simulation = plan.equations.compile(backend=backend)
    constants = {c.name: values[c.name] for c in plan.equations.derivation.scalars.constants}
    outcome = Outcome(plan, None, values, t_end, print_step, print_step / pieces, given, notes=notes, message=message)  # type: ignore[arg-type]
    start = time.perf_counter()
    if method == "merson":
        outcome.run = _merson(plan, sim, constants, outcome)
    else:
        outcome.run = _other(plan, sim, constants, outcome, method)
    outcome.seconds = time.perf_counter() - start
    return outcome


def _overridden(values: dict[str, float], given: dict[str, float]) -> dict[str, float]:
    by_case = {k.upper(): k for k in values}
    unknown = [k for k in given if k.upper() not in by_case]
    if unknown:
        raise ModelError(
            f"no quantity of the input file has the name {', '.join(unknown)}. Names: {', '.join(values)}."
        )
    return {by_case[k.upper()]: float(v) for k, v in given.items()}


def _state(plan: Plan, values: dict[str, float], notes: list[str]) -> np.ndarray:
    """The initial state; Euler parameters, often typed with few digits, are brought to unit size."""
    states = [*plan.equations.coordinates, *plan.equations.speeds]
    y = np.array([values[s.name] for s in states])
    for four in _euler(plan):
        size = float(np.linalg.norm(y[four]))
        if not 0.9 < size < 1.1:
            listed = ", ".join(states[i].name for i in four)
            raise ModelError(f"the squares of the Euler parameters {listed} add up to {size**2:.6g}, not to 1")
        if abs(size - 1) > 1e-12:
            notes.append(f"Euler parameters of size {size:.9g} were brought to size 1")
        y[four] /= size
    return y


def _euler(plan: Plan) -> list[list[int]]:
    place = {s: i for i, s in enumerate(plan.equations.coordinates)}
    return [[place[e] for e in four] for four in plan.equations.derivation.euler.values()]


def _merson(plan: Plan, sim: Simulation, constants: dict[str, float], outcome: Outcome) -> Run:
    n_q = len(plan.equations.coordinates)
    p = sim.parameter_values(constants)
    model = sim.loaded.context().model
    c = model.constants(p)
    sets = _euler(plan)

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        qdot, udot = model.derivatives(t, y[:n_q].tolist(), y[n_q:].tolist(), p, c, [])
        return np.array([*qdot, *udot])

    def settle(y: np.ndarray) -> np.ndarray:
        for four in sets:
            y[four] /= np.linalg.norm(y[four])
        return y

    y = _state(plan, outcome.values, outcome.notes)
    integrator = Merson(rates, outcome.step, settle)
    per_row = round(outcome.print_step / outcome.step)
    total = int(outcome.t_end / outcome.step + 0.1)
    rows, ended = [_row(sim, 0.0, y, n_q, constants)], "finished"
    try:
        with np.errstate(all="ignore"):
            for k in range(1, total + 1):
                y = integrator.advance((k - 1) * outcome.step, y)
                if k % per_row == 0:
                    rows.append(_row(sim, k * outcome.step, y, n_q, constants))
    except (RunError, ArithmeticError, ValueError) as error:
        ended = f"stopped after t = {rows[-1]['t']:g} s: {error}"
    outcome.evaluations = integrator.evaluations
    return _as_run(plan, sim, rows, ended, outcome, "merson")


def _row(sim: Simulation, t: float, y: np.ndarray, n_q: int, constants: dict[str, float]) -> dict[str, float]:
    states = sim.interface.states
    row = {"t": t} | {s.name: float(v) for s, v in zip(states, y, strict=True)}
    return row | sim.outputs(t, y[:n_q].tolist(), y[n_q:].tolist(), parameters=constants)


def _as_run(plan: Plan, sim: Simulation, rows: list[dict[str, float]], ended: str, o: Outcome, method: str) -> Run:
    names = [n for n in rows[0] if n != "t"]
    channels = {n: np.array([row[n] for row in rows]) for n in names}
    units = {n: plan.units.get(n, "") for n in names}
    for f in plan.files:
        units.update({c.channel: c.unit for c in f.columns})
    settings: dict[str, Any] = {"t_end": o.t_end, "step": o.step, "method": method, "backend": sim.backend}
    times = np.array([row["t"] for row in rows])
    return Run(plan.name, times, channels, units, {n: n for n in names}, ended, [], settings)


def _other(plan: Plan, sim: Simulation, constants: dict[str, float], o: Outcome, method: str) -> Run:
    """A run with one of the methods of every model."""
    states = [*plan.equations.coordinates, *plan.equations.speeds]
    y = _state(plan, o.values, o.notes)
    run = sim.simulate(
        t_end=o.t_end,
        step=o.step,
        output_every=round(o.print_step / o.step),
        method=method,
        parameters=constants,
        initial={s.name: float(v) for s, v in zip(states, y, strict=True)},
    )
    return run


# ---- output files


def output_texts(o: Outcome) -> dict[str, str]:
    """The text of every output file by its name."""
    return {f"{o.plan.name}.{f.suffix}": _file_text(o, f) for f in o.plan.files}


def _file_text(o: Outcome, f: OutputFile) -> str:
    name = o.plan.name
    lines = [f" FILE: {name}.{f.suffix}  (OUTPUT FROM PROGRAM {name}.FOR)", "", f" *** {o.message}".rstrip()]
    if f.suffix.startswith("OU"):
        lines += _parameters(o)
    heads = [("T", o.plan.units.get("T", "")), *((c.title, c.unit) for c in f.columns)]
    lines += ["", "", " SIMULATION RESULTS", ""]
    lines.append("".join(f" {title:^12}" for title, _ in heads).rstrip())
    lines.append("".join(f" {f'({unit})' if unit else '':^12}" for _, unit in heads).rstrip())
    lines.append("")
    columns = [o.run.time, *(o.run[c.channel] for c in f.columns)]
    lines += ["".join(f" {scientific(float(column[i]))}" for column in columns) for i in range(len(o.run))]
    return "\n".join(lines) + "\n"


def _parameters(o: Outcome) -> list[str]:
    plan = o.plan
    states = plan.states
    lines = ["", "", " SYSTEM PARAMETERS"]
    for group in plan.groups:
        initial = group[0].name in states
        if initial and "INITIAL" not in "".join(lines):
            lines += ["", "", " INITIAL CONDITIONS"]
        lines.append("")
        for s in group:
            shown = f"{s.name}(0)" if initial else s.name
            lines.append(f"{shown:>15} = {scientific(o.values[s.name])} {plan.units.get(s.name, '')}".rstrip())
    unit = plan.units.get("T", "")
    lines.append("")
    for title, value in (("TMAX", o.t_end), ("PSTEP", o.print_step)):
        lines.append(f"{title:>15} = {scientific(value)} {unit}".rstrip())
    lines.append(f"{'STEP':>15} = {scientific(o.step)} {unit} (USER INPUT VALUE = {scientific(o.step_given)} {unit})")
    return lines


def scientific(x: float) -> str:
    """FORTRAN's 1PE12.5."""
    shown = f"{x + 0.0:12.5E}"  # no minus before zero
    return shown if len(shown) <= 12 else shown.replace("E", "")
