"""What a user gives to a simulation, checked and in equation units: parameters, inputs, states, numbers, names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from bellcrank.choices import Method
from bellcrank.errors import ModelError, counted, did_you_mean, mapping, near, warn
from bellcrank.expr import Expr, Symbol, evaluate, postorder, symbols
from bellcrank.expr.evaluate import evaluate_all
from bellcrank.expr.show import text
from bellcrank.interface.interface import CHANNELS, DECLARED, PARAMETERS, Interface, Quantity
from bellcrank.model.inertia import not_of_a_body
from bellcrank.model.mechanism import Body
from bellcrank.numeric.methods import ADAPTIVE, DEFAULT
from bellcrank.numeric.methods import METHODS as FIXED
from bellcrank.numeric.real import displayed, real
from bellcrank.numeric.run_spec import At, Input, RunSpec
from bellcrank.numeric.tuning import PLANS
from bellcrank.program.program import Program
from bellcrank.run.inputs import as_input, as_signal, covering
from bellcrank.units import WITH_UNIT, with_unit

Numbers = Sequence[float] | np.ndarray
METHODS = (*FIXED, *ADAPTIVE)
MATLAB = {"ode45": "tsit5", "ode15s": "radau5", "ode23s": "rodas5p", "ode113": "dop853"}  # a method for the same use
_FLOAT = np.dtype(float)


def run_spec(
    interface: Interface,
    t_end: float | None,
    step: float | None,
    method: str | None,
    output_every: int | None,
    t_start: float | None = None,
) -> RunSpec:
    """What is given, else what set_run says, else t_end = 1 s, a thousand steps, rk4, every step, from t = 0."""
    r, name = interface.run, interface.model
    t_start = 0.0 if t_start is None else finite(t_start, "t_start")
    t_end = finite(t_end if t_end is not None else r.t_end if r.t_end is not None else t_start + 1.0, "t_end")
    span = t_end - t_start
    if span <= 0:
        why = f"be later than t_start={t_start:g} s" if t_start else "be positive"
        raise ModelError(f"t_end={t_end:g} s must {why}")
    step = positive(step if step is not None else r.step if r.step is not None else span / 1000, "step")
    method = method_name(method if method is not None else r.method if r.method is not None else DEFAULT, name)
    every = output_every if output_every is not None else r.output_every if r.output_every is not None else 1
    if not isinstance(every, int | np.integer) or isinstance(every, bool | np.timedelta64) or every < 1:
        raise ModelError(f"output_every={every!r} must be a whole number of at least 1", name)
    if span / step > 1e13:
        raise ModelError(f"step={step:g} s is too small for t_end={t_end:g} s: {span / step:.0e} steps", name)
    if t_start + step == t_start or t_end - step == t_end:
        raise ModelError(f"step={step:g} s is too small at t = {max(abs(t_start), abs(t_end)):g} s", name)
    if step > span * (1 + PLANS.over):
        what = f"the run, t = {t_start:g} to {t_end:g} s" if t_start else f"t_end={t_end:g} s"
        raise ModelError(f"step={step:g} s is larger than {what}", name)
    return RunSpec(t_end, step, method, int(every), t_start)


def given_parameters(interface: Interface, given: Mapping[str, float | str] | None = None) -> list[float]:
    """The parameters in equation units, but for those of user functions; `given` (user units) replaces defaults."""
    override = interface.keyed(mapping(given, "parameters"), DECLARED, "parameters")
    values, missing, refused = [], [], []
    for p in interface.parameters:
        value = override.pop(p.key, p.default)
        if value is None:
            missing.append(p.name)
            continue
        found = finite(value, f"parameter '{p.name}'")
        values.append(float(p.unit.to_equation(found)))
        if p.positive and not found > 0:
            refused.append(f"parameter '{p.name}' is {found:g}; it must be positive")
    if refused:
        raise ModelError(refused, interface.model)
    if override:  # a misspelled name may be the reason that a value is missing
        check_parameters(interface, override)
    if missing:
        listed = ", ".join(f"'{m}'" for m in missing)
        channels = [x.name for x in interface.all(CHANNELS)]  # a misspelled one in a formula is a parameter
        meant = "".join(f" Does '{m}' mean '{others[0]}'?" for m in missing if (others := near(m, channels)))
        raise ModelError(
            f"no value is given for {counted(len(missing), 'parameter')}: {listed}. "
            f"Use set_defaults() or parameters=.{meant}",
            interface.model,
        )
    return values


def check_parameters(interface: Interface, names: Iterable[str], given: str = "parameters={{'{}': ...}}") -> None:
    """An error that reports all names that are no parameters which may be given; `given` says how they were."""
    known = sorted((x.name for x in interface.all(PARAMETERS)), key=str.lower)
    problems = []
    for name in names:
        found = interface.get(name, (*DECLARED, "input"))
        what = given.format(name)
        if found is None:
            problems.append(f"{what}: the model has no such parameter.{did_you_mean(name, known)}")
        elif found.kind == "entered":
            problems.append(f"{what}: parameter '{name}' is given by the user function '{found.base}'.")
        elif found.kind == "input":
            problems.append(f"{what}: it is an input of the model, not a parameter.")
        elif found.kind == "unused":
            warn(f"{what}: the model does not use this parameter")
    if problems:
        raise ModelError([*problems[:-1], f"{problems[-1]} Parameters: {', '.join(known) or 'none'}."], interface.model)


def input_signals(
    interface: Interface, given: Mapping[str, Any] | None, span: tuple[float, float] | None = None
) -> list[Input]:
    """Every input over time in equation units; those that are sampled must cover a run over a span of time."""
    given = mapping(given, "inputs")
    listed = interface.given_inputs(given)
    known = {x.key: x.name for x in interface.signals}
    problems = [
        f"inputs={{'{name}': ...}}: the model has no such input.{did_you_mean(name, known.values())}"
        for name in listed
        if name not in known
    ]
    if problems:
        last = f"{problems[-1]} Inputs: {', '.join(known.values()) or 'none'}."
        raise ModelError([*problems[:-1], last], interface.model)
    result: list[Input] = []
    missing = []
    for x in interface.inputs:
        if x.base not in listed:
            missing.append(x.base)
            continue
        signal = as_signal(listed[x.base], x.base)
        if span is not None:
            signal = covering(signal, x.base, span)
        result.append(as_input(signal, x.base, x.unit.factor, x.rate))
    if missing:
        names = [f"input '{name}' has no value" for name in dict.fromkeys(missing)]
        raise ModelError([*names[:-1], f"{names[-1]}. Use inputs= or set_run(inputs=)."], interface.model)
    return result


def state_lists(interface: Interface, q: Any, u: Any) -> tuple[list[float], list[float]]:
    """q and u as lists of the right lengths."""
    found: list[list[float]] = []
    for given, wanted, what in ((q, interface.coordinates, "q"), (u, interface.speeds, "u")):
        if type(given) is np.ndarray and given.dtype == float and given.shape == (len(wanted),):
            found.append(given.tolist())
            continue
        names = ", ".join(x.name for x in wanted)
        if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray) or len(given) != len(wanted):
            count = f"{len(given)} given" if isinstance(given, Sequence | np.ndarray) else f"not {given!r}"
            raise ModelError(f"{what} must have {len(wanted)} values ({names}), {count}", interface.model)
        found.append([number(v, x.name) for v, x in zip(given, wanted, strict=True)])
    return found[0], found[1]


def state_array(interface: Interface, q: Any, u: Any) -> np.ndarray:
    """q and u in one array."""
    try:
        known = q.dtype is u.dtype is _FLOAT and q.ndim == u.ndim == 1
        if known and len(q) == len(interface.coordinates) and len(u) == len(interface.speeds):
            return np.concatenate((q, u))
    except AttributeError:
        pass
    return np.array([x for part in state_lists(interface, q, u) for x in part])


def method_name(method: str, model: str | None = None) -> Method:
    """The method as it is spelled; dop853 runs in the program, DOP853 in SciPy."""
    if method in METHODS:
        return cast(Method, method)
    for known in METHODS:
        if str(method).lower() == known.lower():
            return cast(Method, known)
    alike = MATLAB.get(str(method).lower())
    near = f" Did you mean '{alike}'?" if alike else did_you_mean(str(method), METHODS)
    raise ModelError(f"method={method!r} is not known.{near} Methods: {', '.join(METHODS)}.", model)


def number(value: Any, what: str) -> float:
    """A real number that was given; text, booleans and complex numbers are errors."""
    found = real(value)
    if found is None:
        written = WITH_UNIT.fullmatch(value) if isinstance(value, str) else None
        why = f": no unit is named '{written[2]}'" if written and with_unit(value) is None else ", not a number"
        raise ModelError(f"{what} is {displayed(value)}{why}")
    return found


def finite(value: Any, what: str) -> float:
    found = number(value, what)
    if not math.isfinite(found):
        raise ModelError(f"{what} is {found}, not a finite number")
    return found


def positive(value: Any, what: str, unit: str = " s") -> float:
    found = finite(value, what)
    if found <= 0:
        raise ModelError(f"{what}={found:g}{unit} must be positive")
    return found


def _value(entries: Sequence[Expr], known: Mapping[str, float]) -> list[float] | None:
    """Values of constant expressions; None if they depend on what has no value, because the equations do not use it."""
    try:
        found = evaluate(entries, known)
    except (ModelError, ArithmeticError):
        return None
    return found if all(math.isfinite(x) for x in found) else None


def at_row(program: Program, row: np.ndarray, p: Sequence[float], c: Sequence[float]) -> At:
    """What a program was called with at a recorded row: time, states, outputs, inputs."""
    t, q, u, _, _, w = at_rows(program, row, p, c)
    return float(t), q.tolist(), u.tolist(), p, c, w.tolist()


def at_rows(program: Program, columns: np.ndarray, p: Sequence[float], c: Sequence[float]) -> tuple[Any, ...]:
    """The same at several: `columns` holds one for each number of a row."""
    n_q, n_s = len(program.coordinates), len(program.coordinates) + len(program.speeds)
    states = columns[1 : 1 + n_q], columns[1 + n_q : 1 + n_s]
    return columns[0], *states, p, c, columns[len(columns) - len(program.inputs) :]


def known_symbols(program: Program, t: float, q: Any, u: Any, p: Any, w: Any) -> dict[Expr, float]:
    """Values of a program's symbols, for expressions that are evaluated as they are; inputs as many as w has."""
    known: dict[Expr, float] = {Symbol("t", "time"): t}
    for named, numbers in ((program.coordinates, q), (program.speeds, u), (program.parameters, p)):
        known.update(zip(named, map(float, numbers), strict=True))
    return known | dict(zip(program.inputs, map(float, w), strict=False))


def check_masses(bodies: Sequence[Body], interface: Interface, p: Sequence[float]) -> None:
    """Masses and moments of inertia that follow from parameters must not be negative."""
    known = _idle(interface)
    known |= {x.name: v for x, v in zip((*interface.parameters, *interface.entered), p, strict=True)}
    problems = []
    for body in bodies:
        mass = _value([body.mass], known)
        if mass is not None and mass[0] < 0:
            problems.append(f"the mass of body '{body.name}' is negative: {text(body.mass)} = {mass[0]:g}")
        armature = _value([body.armature], known)
        if armature is not None and armature[0] < 0:
            problems.append(f"the armature of body '{body.name}' is negative: {text(body.armature)} = {armature[0]:g}")
        inertia = _value([x for row in body.inertia for x in row], known)
        if inertia is None:
            continue
        moments = np.linalg.eigvalsh(np.reshape(inertia, (3, 3)))
        if _not_physical(moments):
            problems.append(
                f"the inertia of body '{body.name}' is not physical: its smallest principal value is {moments[0]:g}"
            )
    if problems:
        raise ModelError(problems, interface.model)


def inertia_notes(bodies: Sequence[Body], interface: Interface) -> list[str]:
    """Bodies to which default values give moments of inertia no real body has. Published models have such, so this is
    no warning; one moment alone, with zeros for the others, is how bodies in a plane are written."""
    try:
        known = _usual(interface.parameters)
    except ModelError:  # which is raised where they are used
        return []
    found = []
    for body in bodies:
        entries = [x for row in body.inertia for x in row]
        if all(s.kind == "constant" for s in symbols(*entries)) or (inertia := _value(entries, known)) is None:
            continue
        principal = np.linalg.eigvalsh(np.reshape(inertia, (3, 3)))
        if np.any(principal[:2]) and (wrong := not_of_a_body(principal)):
            found.append(f"body '{body.name}': {wrong}")
    return found


def _idle(interface: Interface) -> dict[str, float]:
    """Parameters that stand in the model, but not in its program, by name."""
    return _usual(interface.idle)


def _usual(quantities: Iterable[Quantity]) -> dict[str, float]:
    """Default values in equation units by name, of those that have one."""
    given = [x for x in quantities if x.default is not None]
    return {x.name: float(x.unit.to_equation(finite(x.default, f"parameter '{x.name}'"))) for x in given}


def _not_physical(moments: np.ndarray) -> Any:
    """Is the smallest of principal moments of inertia negative? They are in order."""
    return moments[..., 0] < -1e-9 * np.abs(moments).max(axis=-1)


def check_all_masses(bodies: Sequence[Body], interface: Interface, p: np.ndarray) -> None:
    """The same for the parameters of many runs, a row each; an error reports the first that is wrong."""
    names = [x.name for x in (*interface.parameters, *interface.entered)]
    varied = {name for name, column in zip(names, p.T, strict=True) if (column != column[0]).any()}
    check_masses(bodies, interface, p[0].tolist())
    known = {name: np.full(len(p), value) for name, value in _idle(interface).items()}
    known |= dict(zip(names, p.T, strict=True))
    for body in bodies:
        groups = [body.mass], [body.armature], [x for row in body.inertia for x in row]
        wrong = np.zeros(len(p), dtype=bool)
        for entries in groups:
            if varied.isdisjoint(s.name for s in postorder(entries) if isinstance(s, Symbol)):
                continue
            try:
                values = np.stack(evaluate_all(entries, known, len(p)), axis=-1)
            except (ModelError, ArithmeticError):
                continue  # it depends on what has no value, because the equations do not use it
            whole = np.isfinite(values).all(axis=1)
            square = len(entries) > 1
            moments = np.linalg.eigvalsh(values[whole].reshape(-1, 3, 3)) if square else values[whole]
            wrong[whole] |= _not_physical(moments) if square else moments[:, 0] < 0
        for run in np.flatnonzero(wrong)[:1].tolist():
            try:
                check_masses(bodies, interface, p[run].tolist())
            except ModelError as error:
                raise ModelError([f"run {run}: {told}" for told in error.problems], interface.model) from None
