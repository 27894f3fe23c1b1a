"""Inverse dynamics of a model: M(q) u' - f(q, u, t) as a program of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.analysis.external_derivatives import UserFunctionDerivatives
from bellcrank.analysis.inverse import InverseDynamics
from bellcrank.analysis.plant import AnalysisModel
from bellcrank.analysis.point import point_parameter_values
from bellcrank.core.errors import ModelError, RunError, did_you_mean
from bellcrank.core.name_lookup import find_name
from bellcrank.core.numeric.real_numbers import display_text, to_float_array
from bellcrank.core.units import ANGLE, FORCE, LENGTH, TIME, unit_system
from bellcrank.mechanics.dynamics.accelerations import speed_reduction
from bellcrank.mechanics.dynamics.linear import user_system
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.mechanics.kinematics.analysis import KinematicAnalysis
from bellcrank.program.build import ProgramParts, build_program
from bellcrank.program.differentiate import total_slopes
from bellcrank.program.program import SimulationProgram
from bellcrank.program.unused_parameters import drop_idle_parameters
from bellcrank.simulation.backend.protocol import ExecutableModel
from bellcrank.simulation.run.point_evaluation import Inputs, Parameters
from bellcrank.simulation.run.stepping import NO_VALUE
from bellcrank.symbolic.expr import ZERO, Expr, Symbol, add, mul, neg, small_threshold, sub
from bellcrank.symbolic.expr.table import Table

# of accelerations that constraints determine, and of degrees of freedom that forces cannot move
TOLERANCE = 1e-7


@dataclass(frozen=True)
class InverseDynamicsProgram:
    """M u' - f of independent speeds, residuals of dependent accelerations, and their derivatives
    by the forces."""

    program: SimulationProgram
    independent: tuple[Symbol, ...]
    dependent: tuple[Symbol, ...]
    accelerations: tuple[Symbol, ...]  # inputs that stand for u', in the order of the state speeds
    forces: tuple[Symbol, ...]
    entries: tuple[tuple[int, int], ...]


def derive_inverse(plant: AnalysisModel, loads: Sequence[str]) -> InverseDynamicsProgram:
    """The inverse dynamics as a program; the laws of the named loads are replaced by unknown
    magnitudes."""
    a = plant.derived.analysis
    unknown_forces = {
        x.name: Symbol(f"force {x.name}", "variable") for x in a.loads if x.name in loads
    }
    modified: KinematicAnalysis = replace(
        a, loads=[replace(x, magnitude=unknown_forces.get(x.name, x.magnitude)) for x in a.loads]
    )
    base = plant.loaded.program
    state_speeds = list(base.speeds)
    speeds = list(a.mechanism.speeds)
    with small_threshold(a.mechanism.threshold):
        system = user_system(modified)
        # with small variables what is dropped depends on the way of derivation: what counts is the
        # program's own u'
        model_rates = dict(
            zip(
                state_speeds,
                (e for _, e in plant.derived.results.rates[len(base.coordinates) :]),
                strict=True,
            )
        )
        has_small = bool(a.mechanism.orders)
        rate = {u: Symbol(f"rate of {u.name}", "variable") for u in state_speeds}
        index = system.index
        residuals: list[Expr] = []
        force_terms = user_system(a).f if has_small else {}
        for i in index:
            moving = {
                j: sub(rate[speeds[j]], model_rates[speeds[j]]) if has_small else rate[speeds[j]]
                for j in index
            }
            terms = [mul(system.M.get((max(i, j), min(i, j)), ZERO), moving[j]) for j in index]
            terms += [force_terms[i]] if has_small else []
            residuals.append(system.work.bind(sub(add(*terms), system.f[i])))
        dependent_residuals = _dependent_residuals(modified, rate, system.work)
    independent = tuple(speeds[i] for i in index)
    forces = tuple(unknown_forces[n] for n in loads)
    derivatives = (
        total_slopes(residuals, forces, external=UserFunctionDerivatives())
        if forces
        else [{} for _ in residuals]
    )
    entries = tuple((i, j) for i, row in enumerate(derivatives) for j in sorted(row))
    roots = [*residuals, *dependent_residuals.values(), *(derivatives[i][j] for i, j in entries)]
    with small_threshold(10**9):
        roots = drop_idle_parameters(roots)
        names = [f"M u' - f, {u.name}" for u in independent] + [
            f"residual {u.name}'" for u in dependent_residuals
        ]
        names += [f"derivative {i + 1}, {j + 1}" for i, j in entries]
        inputs = [*(s for s in base.inputs if s.kind != "rate"), *rate.values(), *forces]
        zeros = [ZERO] * (len(base.coordinates) + len(base.speeds))
        title, outputs = f"{base.name}: inverse dynamics", list(zip(names, roots, strict=True))
        states = base.coordinates, base.speeds
        program_parts = ProgramParts(
            title, a.parameter_symbols, *states, zeros, outputs, inputs, outputs_matter=True
        )
        program = build_program(program_parts)
    return InverseDynamicsProgram(
        program,
        independent,
        tuple(dependent_residuals),
        tuple(rate[u] for u in state_speeds),
        forces,
        entries,
    )


def _dependent_residuals(
    a: KinematicAnalysis, rate: Mapping[Symbol, Symbol], work: Any
) -> dict[Symbol, Expr]:
    """With loops: what dependent accelerations differ from those that the constraints ask for."""
    if a.loops is None:
        return {}
    reduction = speed_reduction(a, work)
    speeds = list(a.mechanism.speeds)
    residuals: dict[Symbol, Expr] = {}
    for s, u in enumerate(speeds):
        if s not in reduction.free:
            terms = [neg(mul(x, rate[speeds[r]])) for r, x in reduction.partials_of(s).items()]
            residuals[u] = work.bind(add(rate[u], neg(reduction.bias_term(s)), *terms))
    return residuals


def _inverse_program(
    plant: AnalysisModel, loads: Sequence[str]
) -> tuple[InverseDynamicsProgram, ExecutableModel]:
    def make_program() -> tuple[InverseDynamicsProgram, ExecutableModel]:
        loaded, inverse = plant.loaded, derive_inverse(plant, loads)
        by_name = {
            r.name: f for r, f in zip(loaded.program.routines, loaded.functions, strict=True)
        }
        routines = inverse.program.routines
        functions = [
            r.value if isinstance(r, Table) else by_name.get(r.name, r.python) for r in routines
        ]
        only_c = [r.name for r, f in zip(routines, functions, strict=True) if f is None]
        if only_c:
            raise ModelError(
                f"external '{only_c[0]}' is given in C alone: give python= as well", plant.name
            )
        return inverse, loaded.python_model.compile_similar(inverse.program, functions)

    compiled: tuple[InverseDynamicsProgram, ExecutableModel] = plant.cached(
        ("inverse", *loads), make_program
    )
    return compiled


def inverse_dynamics(
    plant: AnalysisModel,
    q: Any,
    u: Any,
    udot: Any,
    t: Any,
    forces: Iterable[Any] | str | None,
    parameters: Parameters,
    inputs: Inputs,
) -> InverseDynamics:
    """Forces for given positions, speeds and accelerations (equation units), one state or one row
    per time."""
    plant.reject_sampled_values()
    loads = _load_names(plant, forces)
    inverse, compiled_model = _inverse_program(plant, loads)
    motion, times, single = _motion_rows(plant.interface, q, u, udot, t)
    p = point_parameter_values(plant.loaded, inverse.program.parameters, parameters)
    signals = dict(zip(plant.loaded.program.inputs, plant.loaded.inputs(inputs), strict=True))
    model = compiled_model.new_calls()
    c, input_symbols = model.constants(p), inverse.program.inputs
    rows = []
    for k, time in enumerate(times):
        accelerations = {
            s: float(x) for s, x in zip(inverse.accelerations, motion[2][k], strict=True)
        }
        w = [
            accelerations[s]
            if s in accelerations
            else signals[s].function(float(time))
            if s in signals
            else 0.0
            for s in input_symbols
        ]
        try:
            outputs = np.array(
                model.outputs(float(time), motion[0][k].tolist(), motion[1][k].tolist(), p, c, w)
            )
        except NO_VALUE as error:
            raise RunError(
                f"inverse dynamics of '{plant.name}' fails at t = {time:g} s ({error}): a "
                f"singular configuration?"
            ) from None
        rows.append(_generalized_forces(inverse, outputs, float(time), motion[2][k]))
    return _label_forces(plant, inverse, np.array(rows), times, single, loads)


def _load_names(plant: AnalysisModel, forces: Iterable[Any] | str | None) -> list[str]:
    if forces is None:
        return []
    load_names = list(dict.fromkeys(x.name for x in plant.derived.analysis.loads))
    selected = []
    for item in [forces] if isinstance(forces, str) else forces:
        name = str(getattr(item, "name", item))
        match = find_name(name, load_names, "force")
        if match is None:
            raise ModelError(
                f"forces: no force or moment is called '{name}'.{did_you_mean(name, load_names)} "
                f"Forces: {', '.join(load_names) or 'none'}.",
                plant.name,
            )
        selected.append(match)
    return selected


def _motion_rows(
    interface: Interface, q: Any, u: Any, udot: Any, t: Any
) -> tuple[list[np.ndarray], np.ndarray, bool]:
    """Positions, speeds and accelerations as rows over time."""
    listed = (
        ("q", q, interface.coordinates),
        ("u", u, interface.speeds),
        ("udot", udot, interface.speeds),
    )
    arrays = []
    for name, values, states in listed:
        array = to_float_array(values)
        if array is None:
            raise ModelError(f"{name}={display_text(values)} must be real numbers", interface.model)
        if array.ndim not in (1, 2) or array.shape[-1] != len(states):
            names = ", ".join(s.name for s in states)
            raise ModelError(
                f"{name} must have {len(states)} values ({names}), or rows of them; its "
                f"shape is {array.shape}",
                interface.model,
            )
        arrays.append(array)
    single = all(a.ndim == 1 for a in arrays)
    rows = max(1 if a.ndim == 1 else len(a) for a in arrays)
    broadcast = [
        np.broadcast_to(a, (rows, a.shape[-1])) if a.ndim == 1 or len(a) in (1, rows) else None
        for a in arrays
    ]
    if any(a is None for a in broadcast):
        raise ModelError("q, u and udot must have the same number of rows", interface.model)
    times = to_float_array(t)
    if times is None or times.shape not in ((), (rows,)):
        raise ModelError(
            f"t={display_text(t)} must be one time, or one per row ({rows})", interface.model
        )
    return [a for a in broadcast if a is not None], np.broadcast_to(times, (rows,)), single


def _generalized_forces(
    inverse: InverseDynamicsProgram, outputs: np.ndarray, t: float, udot: np.ndarray
) -> np.ndarray:
    n, m = len(inverse.independent), len(inverse.dependent)
    required_forces, constraint_residuals = outputs[:n], outputs[n : n + m]
    scale = float(np.abs(udot).max(initial=1.0))
    if np.abs(constraint_residuals).max(initial=0.0) > TOLERANCE * scale:
        worst = int(np.argmax(np.abs(constraint_residuals)))
        raise RunError(
            f"at t = {t:g} s the accelerations contradict the constraints: "
            f"{inverse.dependent[worst].name}' differs "
            f"by {constraint_residuals[worst]:.3g} from what the loops ask for"
        )
    if not inverse.forces:
        return required_forces
    derivatives = np.zeros((n, len(inverse.forces)))
    for (i, j), x in zip(inverse.entries, outputs[n + m :], strict=True):
        derivatives[i, j] = x
    forces = np.linalg.lstsq(derivatives, -required_forces, rcond=1e-12)[0]
    residual = required_forces + derivatives @ forces
    size = float(np.abs(required_forces).max(initial=0.0)) or 1.0
    if np.abs(residual).max(initial=0.0) > TOLERANCE * size:
        worst = int(np.argmax(np.abs(residual)))
        raise RunError(
            f"at t = {t:g} s the forces {', '.join(s.name[6:] for s in inverse.forces)} "
            f"cannot produce the motion: "
            f"along {inverse.independent[worst].name} {residual[worst]:.3g} is left "
            f"(equation units)"
        )
    return np.asarray(forces)


def _label_forces(
    plant: AnalysisModel,
    inverse: InverseDynamicsProgram,
    values: np.ndarray,
    times: np.ndarray,
    single: bool,
    loads: Sequence[str],
) -> InverseDynamics:
    if loads:
        loads_by_name = {x.name: x for x in plant.derived.analysis.loads}
        dimensions = [loads_by_name[n].dimension for n in loads]
        names, labels = list(loads), [loads_by_name[n].label for n in loads]
    else:
        speeds = [
            plant.interface.find_or_raise(s, ("speed", "removed"), "speed")
            for s in inverse.independent
        ]
        speed_dimensions = [x.unit.dimension for x in speeds]
        dimensions = [
            FORCE * LENGTH / TIME / (speed / ANGLE**speed.angle) for speed in speed_dimensions
        ]
        names = [f"force along {x.name}" for x in speeds]
        labels = [f"generalised force along {x.label}" for x in speeds]
    units = [unit_system(plant.interface.units).user_unit(x) for x in dimensions]
    factors = np.array([x.factor for x in units])
    descriptions = tuple(names), tuple(x.text for x in units), tuple(labels)
    return InverseDynamics(
        plant.name, np.array(times), *descriptions, values / factors, factors, single
    )
