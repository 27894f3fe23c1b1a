"""What a user gives to a simulation, checked and in equation units: parameters, inputs, states,
numbers, names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from bellcrank.choices import Method
from bellcrank.core.errors import (
    ModelError,
    close_matches,
    did_you_mean,
    issue_warning,
    pluralize,
    require_mapping,
)
from bellcrank.core.numeric.fixed_step_methods import ADAPTIVE, DEFAULT
from bellcrank.core.numeric.fixed_step_methods import METHODS as FIXED
from bellcrank.core.numeric.real_numbers import display_text, to_float
from bellcrank.core.numeric.run_spec import At, ProgramInput, RunSpec
from bellcrank.core.numeric.tuning import PLANS
from bellcrank.core.units import WITH_UNIT, parse_quantity
from bellcrank.mechanics.interface.interface import (
    CHANNELS,
    DECLARED,
    PARAMETERS,
    Interface,
    Quantity,
)
from bellcrank.model.inertia import unphysical_inertia_reason
from bellcrank.model.mechanism import Body
from bellcrank.program.program import SimulationProgram
from bellcrank.simulation.run.signal_inputs import extend_to_span, to_program_input, to_signal
from bellcrank.symbolic.expr import Expr, Symbol, evaluate, free_symbols, postorder
from bellcrank.symbolic.expr.evaluate import evaluate_vectorized
from bellcrank.symbolic.expr.printing import to_text

Numbers = Sequence[float] | np.ndarray
METHODS = (*FIXED, *ADAPTIVE)
MATLAB = {
    "ode45": "tsit5",
    "ode15s": "radau5",
    "ode23s": "rodas5p",
    "ode113": "dop853",
}  # a method for the same use
_FLOAT = np.dtype(float)


def resolve_run_spec(
    interface: Interface,
    t_end: float | None,
    step: float | None,
    method: str | None,
    output_every: int | None,
    t_start: float | None = None,
    *,
    may_be_within_a_step: bool = False,
) -> RunSpec:
    """What is given, else what set_run says, else t_end = 1 s, a thousand steps, rk4, every step,
    from t = 0. A run may be shorter than a step that it has from another one."""
    r, name = interface.run, interface.model
    t_start = 0.0 if t_start is None else require_finite(t_start, "t_start")
    t_end = require_finite(
        t_end if t_end is not None else r.t_end if r.t_end is not None else t_start + 1.0, "t_end"
    )
    span = t_end - t_start
    if span <= 0:
        condition = f"be later than t_start={t_start:g} s" if t_start else "be positive"
        raise ModelError(f"t_end={t_end:g} s must {condition}")
    step = require_positive(
        step if step is not None else r.step if r.step is not None else span / 1000, "step"
    )
    method = canonical_method(
        method if method is not None else r.method if r.method is not None else DEFAULT, name
    )
    every = (
        output_every
        if output_every is not None
        else r.output_every
        if r.output_every is not None
        else 1
    )
    if (
        not isinstance(every, int | np.integer)
        or isinstance(every, bool | np.timedelta64)
        or every < 1
    ):
        raise ModelError(f"output_every={every!r} must be a whole number of at least 1", name)
    if span / step > 1e13:
        raise ModelError(
            f"step={step:g} s is too small for t_end={t_end:g} s: {span / step:.0e} steps", name
        )
    if t_start + step == t_start or t_end - step == t_end:
        raise ModelError(
            f"step={step:g} s is too small at t = {max(abs(t_start), abs(t_end)):g} s", name
        )
    if step > span * (1 + PLANS.over) and not may_be_within_a_step:
        limit = f"the run, t = {t_start:g} to {t_end:g} s" if t_start else f"t_end={t_end:g} s"
        raise ModelError(f"step={step:g} s is larger than {limit}", name)
    return RunSpec(t_end, step, method, int(every), t_start)


def parameter_values(
    interface: Interface, parameters: Mapping[str, float | str] | None = None
) -> list[float]:
    """Return parameters in equation units, but those of user functions; `parameters` (user units)
    replace defaults."""
    override = interface.values_by_key(
        require_mapping(parameters, "parameters"), DECLARED, "parameters"
    )
    values, missing, problems = [], [], []
    for p in interface.parameters:
        value = override.pop(p.key, p.default)
        if value is None:
            missing.append(p.name)
            continue
        user_value = require_finite(value, f"parameter '{p.name}'")
        values.append(float(p.unit.to_equation_units(user_value)))
        if p.positive and not user_value > 0:
            problems.append(f"parameter '{p.name}' is {user_value:g}; it must be positive")
    if problems:
        raise ModelError(problems, interface.model)
    if override:  # a misspelled name may be the reason that a value is missing
        check_parameter_names(interface, override)
    if missing:
        listed = ", ".join(f"'{m}'" for m in missing)
        channels = [
            x.name for x in interface.of_kinds(CHANNELS)
        ]  # a misspelled one in a formula is a parameter
        hints = "".join(
            f" Does '{m}' mean '{similar[0]}'?"
            for m in missing
            if (similar := close_matches(m, channels))
        )
        raise ModelError(
            f"no value is given for {pluralize(len(missing), 'parameter')}: {listed}. "
            f"Use set_defaults() or parameters=.{hints}",
            interface.model,
        )
    return values


def check_parameter_names(
    interface: Interface, names: Iterable[str], call_format: str = "parameters={{'{}': ...}}"
) -> None:
    """An error that reports all names that are no parameters which may be given; `call_format`
    shows the call."""
    parameter_names = sorted((x.name for x in interface.of_kinds(PARAMETERS)), key=str.lower)
    problems = []
    for name in names:
        quantity = interface.find_or_none(name, (*DECLARED, "input"))
        call = call_format.format(name)
        if quantity is None:
            problems.append(
                f"{call}: the model has no such parameter.{did_you_mean(name, parameter_names)}"
            )
        elif quantity.kind == "entered":
            problems.append(
                f"{call}: parameter '{name}' is given by the user function '{quantity.base_input}'."
            )
        elif quantity.kind == "input":
            problems.append(f"{call}: it is an input of the model, not a parameter.")
        elif quantity.kind == "unused":
            issue_warning(f"{call}: the model does not use this parameter")
    if problems:
        raise ModelError(
            [*problems[:-1], f"{problems[-1]} Parameters: {', '.join(parameter_names) or 'none'}."],
            interface.model,
        )


def program_inputs(
    interface: Interface, inputs: Mapping[str, Any] | None, span: tuple[float, float] | None = None
) -> list[ProgramInput]:
    """Every input over time in equation units; those that are sampled must cover a run over a span
    of time."""
    inputs = require_mapping(inputs, "inputs")
    listed = interface.inputs_by_key(inputs)
    names_by_key = {x.key: x.name for x in interface.signals}
    problems = [
        f"inputs={{'{name}': ...}}: the model has no such "
        f"input.{did_you_mean(name, names_by_key.values())}"
        for name in listed
        if name not in names_by_key
    ]
    if problems:
        last = f"{problems[-1]} Inputs: {', '.join(names_by_key.values()) or 'none'}."
        raise ModelError([*problems[:-1], last], interface.model)
    result: list[ProgramInput] = []
    missing = []
    for x in interface.inputs:
        if x.base_input not in listed:
            missing.append(x.base_input)
            continue
        signal = to_signal(listed[x.base_input], x.base_input)
        if span is not None:
            signal = extend_to_span(signal, x.base_input, span)
        result.append(to_program_input(signal, x.base_input, x.unit.factor, x.rate))
    if missing:
        names = [f"input '{name}' has no value" for name in dict.fromkeys(missing)]
        raise ModelError(
            [*names[:-1], f"{names[-1]}. Use inputs= or set_run(inputs=)."], interface.model
        )
    return result


def state_lists(interface: Interface, q: object, u: object) -> tuple[list[float], list[float]]:
    """q and u as lists of the right lengths."""
    lists: list[list[float]] = []
    for values, quantities, label in ((q, interface.coordinates, "q"), (u, interface.speeds, "u")):
        if (
            type(values) is np.ndarray
            and values.dtype == float
            and values.shape == (len(quantities),)
        ):
            lists.append(values.tolist())
            continue
        names = ", ".join(x.name for x in quantities)
        if (
            isinstance(values, str)
            or not isinstance(values, Sequence | np.ndarray)
            or len(values) != len(quantities)
        ):
            count = (
                f"{len(values)} given"
                if isinstance(values, Sequence | np.ndarray)
                else f"not {values!r}"
            )
            raise ModelError(
                f"{label} must have {len(quantities)} values ({names}), {count}", interface.model
            )
        lists.append([require_number(v, x.name) for v, x in zip(values, quantities, strict=True)])
    return lists[0], lists[1]


def state_array(interface: Interface, q: Any, u: Any) -> np.ndarray:
    """q and u in one array."""
    try:
        are_vectors = q.dtype is u.dtype is _FLOAT and q.ndim == u.ndim == 1
        if are_vectors and len(q) == len(interface.coordinates) and len(u) == len(interface.speeds):
            return np.concatenate((q, u))
    except AttributeError:
        pass
    return np.array([x for part in state_lists(interface, q, u) for x in part])


def canonical_method(method: str, model: str | None = None) -> Method:
    """The method as it is spelled; dop853 runs in the program, DOP853 in SciPy."""
    if method in METHODS:
        return cast(Method, method)
    for candidate in METHODS:
        if str(method).lower() == candidate.lower():
            return cast(Method, candidate)
    equivalent = MATLAB.get(str(method).lower())
    suggestion = (
        f" Did you mean '{equivalent}'?" if equivalent else did_you_mean(str(method), METHODS)
    )
    raise ModelError(
        f"method={method!r} is not known.{suggestion} Methods: {', '.join(METHODS)}.", model
    )


def require_number(value: object, label: str) -> float:
    """A real number that was given; text, booleans and complex numbers are errors."""
    real_value = to_float(value)
    if real_value is None:
        match = WITH_UNIT.fullmatch(value) if isinstance(value, str) else None
        reason = (
            f": no unit is named '{match[2]}'"
            if match and parse_quantity(value) is None
            else ", not a number"
        )
        raise ModelError(f"{label} is {display_text(value)}{reason}")
    return real_value


def require_finite(value: object, label: str) -> float:
    real_value = require_number(value, label)
    if not math.isfinite(real_value):
        raise ModelError(f"{label} is {real_value}, not a finite number")
    return real_value


def require_positive(value: object, label: str, unit: str = " s") -> float:
    real_value = require_finite(value, label)
    if real_value <= 0:
        raise ModelError(f"{label}={real_value:g}{unit} must be positive")
    return real_value


def _evaluate_or_none(
    entries: Sequence[Expr], values_by_symbol: Mapping[str, float]
) -> list[float] | None:
    """Values of constant expressions; None if they depend on what has no value, because the
    equations do not use it."""
    try:
        values = evaluate(entries, values_by_symbol)
    except (ModelError, ArithmeticError):
        return None
    return values if all(math.isfinite(x) for x in values) else None


def program_arguments_of_row(
    program: SimulationProgram, row: np.ndarray, p: Sequence[float], c: Sequence[float]
) -> At:
    """What a program was called with at a recorded row: time, states, outputs, inputs."""
    t, q, u, _, _, w = program_arguments_of_rows(program, row, p, c)
    return float(t), q.tolist(), u.tolist(), p, c, w.tolist()


def program_arguments_of_rows(
    program: SimulationProgram, columns: np.ndarray, p: Sequence[float], c: Sequence[float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, Sequence[float], Sequence[float], np.ndarray]:
    """The same at several: `columns` holds one for each number of a row."""
    n_q, n_s = len(program.coordinates), len(program.coordinates) + len(program.speeds)
    states = columns[1 : 1 + n_q], columns[1 + n_q : 1 + n_s]
    return columns[0], *states, p, c, columns[len(columns) - len(program.inputs) :]


def symbol_values(
    program: SimulationProgram,
    t: float,
    q: Iterable[float],
    u: Iterable[float],
    p: Iterable[float],
    w: Iterable[float],
) -> dict[Expr, float]:
    """Values of a program's symbols, for expressions that are evaluated as they are; inputs as many
    as w has."""
    values_by_symbol: dict[Expr, float] = {Symbol("t", "time"): t}
    for group, numbers in ((program.coordinates, q), (program.speeds, u), (program.parameters, p)):
        values_by_symbol.update(zip(group, map(float, numbers), strict=True))
    return values_by_symbol | dict(zip(program.inputs, map(float, w), strict=False))


def check_inertias(bodies: Sequence[Body], interface: Interface, p: Sequence[float]) -> None:
    """Masses and moments of inertia that follow from parameters must not be negative."""
    values_by_name = _unused_parameter_values(interface)
    values_by_name |= {
        x.name: v
        for x, v in zip((*interface.parameters, *interface.function_parameters), p, strict=True)
    }
    problems = []
    for body in bodies:
        mass = _evaluate_or_none([body.mass], values_by_name)
        if mass is not None and mass[0] < 0:
            problems.append(
                f"the mass of body '{body.name}' is negative: {to_text(body.mass)} = {mass[0]:g}"
            )
        armature = _evaluate_or_none([body.armature], values_by_name)
        if armature is not None and armature[0] < 0:
            problems.append(
                f"the armature of body '{body.name}' is negative: {to_text(body.armature)} "
                f"= {armature[0]:g}"
            )
        inertia = _evaluate_or_none([x for row in body.inertia for x in row], values_by_name)
        if inertia is None:
            continue
        moments = np.linalg.eigvalsh(np.reshape(inertia, (3, 3)))
        if _has_negative_inertia(moments):
            problems.append(
                f"the inertia of body '{body.name}' is not physical: its smallest principal "
                f"value is {moments[0]:g}"
            )
    if problems:
        raise ModelError(problems, interface.model)


def inertia_notes(bodies: Sequence[Body], interface: Interface) -> list[str]:
    """Bodies to which default values give moments of inertia no real body has. Published models
    have such, so this is no warning; one moment alone, with zeros for the others, is how bodies in
    a plane are written."""
    try:
        values_by_name = _default_values(interface.parameters)
    except ModelError:  # which is raised where they are used
        return []
    notes = []
    for body in bodies:
        entries = [x for row in body.inertia for x in row]
        if (
            all(s.kind == "constant" for s in free_symbols(*entries))
            or (inertia := _evaluate_or_none(entries, values_by_name)) is None
        ):
            continue
        principal = np.linalg.eigvalsh(np.reshape(inertia, (3, 3)))
        if np.any(principal[:2]) and (problem := unphysical_inertia_reason(principal)):
            notes.append(f"body '{body.name}': {problem}")
    return notes


def _unused_parameter_values(interface: Interface) -> dict[str, float]:
    """Parameters that stand in the model, but not in its program, by name."""
    return _default_values(interface.unused_parameters)


def _default_values(quantities: Iterable[Quantity]) -> dict[str, float]:
    """Default values in equation units by name, of those that have one."""
    with_default = [x for x in quantities if x.default is not None]
    return {
        x.name: float(x.unit.to_equation_units(require_finite(x.default, f"parameter '{x.name}'")))
        for x in with_default
    }


def _has_negative_inertia(moments: np.ndarray) -> np.ndarray | np.bool_:
    """Is the smallest of principal moments of inertia negative? They are in order."""
    return moments[..., 0] < -1e-9 * np.abs(moments).max(axis=-1)


def check_batch_inertias(bodies: Sequence[Body], interface: Interface, p: np.ndarray) -> None:
    """The same for the parameters of many runs, a row each; an error reports the first that is
    wrong."""
    names = [x.name for x in (*interface.parameters, *interface.function_parameters)]
    varied = {name for name, column in zip(names, p.T, strict=True) if (column != column[0]).any()}
    check_inertias(bodies, interface, p[0].tolist())
    values_by_name = {
        name: np.full(len(p), value) for name, value in _unused_parameter_values(interface).items()
    }
    values_by_name |= dict(zip(names, p.T, strict=True))
    for body in bodies:
        groups = [body.mass], [body.armature], [x for row in body.inertia for x in row]
        is_unphysical = np.zeros(len(p), dtype=bool)
        for entries in groups:
            if varied.isdisjoint(s.name for s in postorder(entries) if isinstance(s, Symbol)):
                continue
            try:
                values = np.stack(evaluate_vectorized(entries, values_by_name, len(p)), axis=-1)
            except (ModelError, ArithmeticError):
                continue  # it depends on what has no value, because the equations do not use it
            is_finite = np.isfinite(values).all(axis=1)
            square = len(entries) > 1
            moments = (
                np.linalg.eigvalsh(values[is_finite].reshape(-1, 3, 3))
                if square
                else values[is_finite]
            )
            is_unphysical[is_finite] |= (
                _has_negative_inertia(moments) if square else moments[:, 0] < 0
            )
        for run in np.flatnonzero(is_unphysical)[:1].tolist():
            try:
                check_inertias(bodies, interface, p[run].tolist())
            except ModelError as error:
                raise ModelError(
                    [f"run {run}: {message}" for message in error.problems], interface.model
                ) from None
