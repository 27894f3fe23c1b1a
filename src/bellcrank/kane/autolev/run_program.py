"""Runs a program of the dialect: values of its input file, Kutta-Merson, output files as AUTOLEV's
programs have."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from bellcrank.api.simulation import Simulation
from bellcrank.choices import Backend, Method
from bellcrank.core.errors import ModelError, RunError
from bellcrank.kane.autolev.inputs import read_values
from bellcrank.kane.autolev.kutta_merson import KuttaMersonIntegrator
from bellcrank.kane.autolev.program_layout import OutputFile, ProgramLayout
from bellcrank.simulation.run.result import Run
from bellcrank.simulation.run.status import RunStatus

MOST_ROWS = 10_000_000


@dataclass
class ProgramRun:
    """A run with the settings the output files name."""

    plan: ProgramLayout
    run: Run = field(init=False)
    values: dict[str, float]
    t_end: float
    print_step: float
    step: float
    step_given: float
    seconds: float = 0.0
    evaluations: int | None = None
    notes: list[str] = field(default_factory=list)
    message: str = ""


def simulate_autolev_program(
    plan: ProgramLayout,
    text: str,
    source: str,
    t_end: float,
    print_step: float,
    step: float | None = None,
    method: Method | Literal["merson"] = "merson",
    backend: Backend = "auto",
    message: str = "",
    parameters: dict[str, float] | None = None,
) -> ProgramRun:
    """Reads the input file and runs to t_end, a row every print_step (both s), of which STEP is
    made a whole part."""
    names = [[s.name for s in group] for group in plan.groups]
    values, notes = read_values(text, names, source)
    values.update(_override_values(values, parameters or {}))
    step_given = step if step is not None else print_step
    for label, x in (("t_end", t_end), ("print step", print_step), ("step", step_given)):
        if not (math.isfinite(x) and x > 0):
            raise ModelError(f"{label} = {x} must be a positive number")
    substeps = max(int((print_step - 1e-8) / step_given + 1), 1)
    if t_end / print_step > MOST_ROWS or substeps > MOST_ROWS:
        raise ModelError(f"{t_end / print_step * substeps:.3g} steps are too many")
    sim: Simulation = plan.equations.compile(backend=backend)
    constants = {c.name: values[c.name] for c in plan.equations.derivation.scalars.constants}
    o = ProgramRun(
        plan,
        values,
        t_end,
        print_step,
        print_step / substeps,
        step_given,
        notes=notes,
        message=message,
    )
    start = time.perf_counter()
    o.run = (
        _run_kutta_merson(sim, constants, o)
        if method == "merson"
        else _run_other_method(sim, constants, o, method)
    )
    o.seconds = time.perf_counter() - start
    return o


def _override_values(values: dict[str, float], overrides: dict[str, float]) -> dict[str, float]:
    by_case = {k.upper(): k for k in values}
    unknown = [k for k in overrides if k.upper() not in by_case]
    if unknown:
        names = f"{', '.join(unknown)}. Names: {', '.join(values)}"
        raise ModelError(f"no quantity of the input file has the name {names}.")
    return {by_case[k.upper()]: float(v) for k, v in overrides.items()}


def _initial_state(o: ProgramRun) -> np.ndarray:
    """The initial state; Euler parameters, often typed with few digits, are brought to unit
    size."""
    states = [*o.plan.equations.coordinates, *o.plan.equations.speeds]
    y = np.array([o.values[s.name] for s in states])
    for four in _euler_parameter_indices(o.plan):
        size = float(np.linalg.norm(y[four]))
        if not 0.9 < size < 1.1:
            listed = ", ".join(states[i].name for i in four)
            raise ModelError(
                f"the squares of the Euler parameters {listed} add up to {size**2:.6g}, not to 1"
            )
        if abs(size - 1) > 1e-12:
            o.notes.append(f"Euler parameters of size {size:.9g} were brought to size 1")
        y[four] /= size
    return y


def _euler_parameter_indices(plan: ProgramLayout) -> list[list[int]]:
    index_of = {s: i for i, s in enumerate(plan.equations.coordinates)}
    return [[index_of[e] for e in four] for four in plan.equations.derivation.euler.values()]


def _run_kutta_merson(sim: Simulation, constants: dict[str, float], o: ProgramRun) -> Run:
    n_q = len(o.plan.equations.coordinates)
    p = sim.parameter_values(constants)
    model = sim.loaded.new_context().model
    c = model.constants(p)
    sets = _euler_parameter_indices(o.plan)

    def integrated_rates(t: float, y: np.ndarray) -> np.ndarray:
        qdot, udot = model.derivatives(t, y[:n_q].tolist(), y[n_q:].tolist(), p, c, [])
        return np.array([*qdot, *udot])

    def normalize_kane_quaternions(y: np.ndarray) -> np.ndarray:
        for four in sets:
            y[four] /= np.linalg.norm(y[four])
        return y

    y = _initial_state(o)
    integrator = KuttaMersonIntegrator(integrated_rates, o.step, normalize_kane_quaternions)
    per_row = round(o.print_step / o.step)
    total = int(o.t_end / o.step + 0.1)
    rows, end_text, status = (
        [_output_row(sim, 0.0, y, n_q, constants)],
        "finished",
        RunStatus.FINISHED,
    )
    try:
        with np.errstate(all="ignore"):
            for k in range(1, total + 1):
                y = integrator.advance((k - 1) * o.step, y)
                if k % per_row == 0:
                    rows.append(_output_row(sim, k * o.step, y, n_q, constants))
    except (RunError, ArithmeticError, ValueError) as error:
        end_text, status = f"stopped after t = {rows[-1]['t']:g} s: {error}", RunStatus.NOT_FINITE
    o.evaluations = integrator.evaluations
    return _as_run(sim, rows, end_text, status, o)


def _output_row(
    sim: Simulation, t: float, y: np.ndarray, n_q: int, constants: dict[str, float]
) -> dict[str, float]:
    states = sim.interface.states
    row = {"t": t} | {s.name: float(v) for s, v in zip(states, y, strict=True)}
    return row | sim.outputs(t, y[:n_q].tolist(), y[n_q:].tolist(), parameters=constants)


def _as_run(
    sim: Simulation, rows: list[dict[str, float]], end_text: str, status: RunStatus, o: ProgramRun
) -> Run:
    channels = {n: np.array([row[n] for row in rows]) for n in rows[0]}
    times = channels.pop("t")
    units = {n: o.plan.units.get(n, "") for n in channels}
    units |= {c.channel: c.unit for f in o.plan.files for c in f.columns}
    settings: dict[str, Any] = {
        "t_end": o.t_end,
        "step": o.step,
        "method": "merson",
        "backend": sim.backend,
    }
    return Run(
        o.plan.name,
        times,
        channels,
        units,
        {n: n for n in channels},
        end_text,
        [],
        settings,
        status=status,
    )


def _run_other_method(
    sim: Simulation, constants: dict[str, float], o: ProgramRun, method: Method
) -> Run:
    """A run with one of the methods of every model."""
    initial = {
        s.name: float(v) for s, v in zip(sim.interface.states, _initial_state(o), strict=True)
    }
    every = round(o.print_step / o.step)
    return sim.simulate(
        o.t_end,
        step=o.step,
        method=method,
        output_every=every,
        parameters=constants,
        initial=initial,
    )


# ---- output files


def output_texts(o: ProgramRun) -> dict[str, str]:
    """The text of every output file by its name."""
    return {f"{o.plan.name}.{f.suffix}": _file_text(o, f) for f in o.plan.files}


def _file_text(o: ProgramRun, f: OutputFile) -> str:
    name = o.plan.name
    lines = [
        f" FILE: {name}.{f.suffix}  (OUTPUT FROM PROGRAM {name}.FOR)",
        "",
        f" *** {o.message}".rstrip(),
    ]
    if f.suffix.startswith("OU"):
        lines += _parameter_listing(o)
    lines += ["", "", " SIMULATION RESULTS", ""]
    lines += ["".join(f" {text:^12}" for text in row).rstrip() for row in o.plan.column_heads(f)]
    lines.append("")
    columns = [o.run.time, *(o.run[c.channel] for c in f.columns)]
    lines += [
        "".join(f" {fortran_exponent_format(float(column[i]))}" for column in columns)
        for i in range(len(o.run))
    ]
    return "\n".join(lines) + "\n"


def _parameter_listing(o: ProgramRun) -> list[str]:
    lines = ["", "", " SYSTEM PARAMETERS"]
    for initial, rows in o.plan.listed_groups():
        lines += ["", "", " INITIAL CONDITIONS", ""] if initial else [""]
        lines += [
            f"{label:>15} = {fortran_exponent_format(o.values[s.name])} {unit}".rstrip()
            for label, s, unit in rows
        ]
    unit = o.plan.units.get("T", "")
    lines.append("")
    for title, value in (("TMAX", o.t_end), ("PSTEP", o.print_step)):
        lines.append(f"{title:>15} = {fortran_exponent_format(value)} {unit}".rstrip())
    lines.append(
        f"{'STEP':>15} = {fortran_exponent_format(o.step)} {unit} (USER INPUT VALUE = "
        f"{fortran_exponent_format(o.step_given)} {unit})"
    )
    return lines


def fortran_exponent_format(x: float) -> str:
    """FORTRAN's 1PE12.5."""
    text = f"{x + 0.0:12.5E}"  # no minus before zero
    return text if len(text) <= 12 else text.replace("E", "")
