"""Tolerances of adaptive methods: as a user gives them, and for each state in equation units.

An absolute tolerance is a number in the user unit of every state, or numbers by unit or state:
{"m": 1e-9, "rad": 1e-8, "q(arm)": 1e-6}. What is not given is a fraction of the relative one, of 1
m, 1 rad, 1 m/s ..., or, where all states of a unit are smaller so far, the relative one of the
largest of them: small motions are as exact as large ones.

The relative tolerance of a coordinate counts up to a size that the mechanism has: one turn of an
angle, and its largest length of a way. Turns of a wheel and the way along a road grow for ever, but
not the error that they may have.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bellcrank.core.errors import (
    ExpressionError,
    ModelError,
    did_you_mean,
    issue_warning,
    pluralize,
)
from bellcrank.core.numeric.fixed_step_methods import ADAPTIVE, OWN, RTOL
from bellcrank.core.numeric.tuning import CONTROL
from bellcrank.core.units import UNIT_SYSTEMS, Dimension, Unit
from bellcrank.mechanics.interface.interface import STATES, Interface
from bellcrank.simulation.run.argument_checks import require_finite, require_positive

Absolute = float | Mapping[str, float]
"""An absolute tolerance as it is given."""


@dataclass(frozen=True, eq=False)
class Tolerances:
    """`rtol` against the size of each state, as far as it is below its `cap`, and `atol` besides,
    in equation units."""

    rtol: float = RTOL
    requested_atol: Absolute | None = None  # the absolute tolerance, as it was
    atol: np.ndarray | None = None
    size_caps: np.ndarray | None = None
    unit_groups: np.ndarray | None = (
        None  # of each state: a number for its unit, -1 where `atol` was given
    )

    @property
    def reported_settings(self) -> dict[str, Absolute]:
        """For the settings of a run."""
        return {
            "rtol": self.rtol,
            "atol": CONTROL.absolute * self.rtol
            if self.requested_atol is None
            else self.requested_atol,
        }


USUAL = Tolerances()


def default_atol(rtol: float, unit_sizes: np.ndarray) -> np.ndarray:
    """The absolute tolerance of each state, unless given: a fraction of the relative one, of 1 m, 1
    rad, 1 m/s ..."""
    return np.asarray(CONTROL.absolute * rtol * unit_sizes)


def size_caps(
    growths: Sequence[str], lengths: Iterable[float], metre: float, y: Iterable[float]
) -> list[float]:
    """Sizes of the states in equation units above which the error allowed does not grow with them:
    one turn where they grow by turns, and the largest length of the model where they grow along a
    way."""
    sizes = [abs(float(x)) for x in lengths]
    sizes += [abs(float(v)) for v, growth in zip(y, growths, strict=True) if growth == "way"]
    caps = {"turn": 2 * math.pi, "way": max(sizes, default=0.0) or metre}
    return [caps.get(growth, math.inf) for growth in growths]


LOOSE = 10.0  # times the largest value of a state: an absolute tolerance above it controls nothing
FEW = 20  # rows from which the size of a motion is not known
ROUNDING = 1e-3  # of its absolute tolerance: a state that stays below this is zero but for rounding
SCIPY_FINEST = 100 * float(
    np.finfo(float).eps
)  # what SciPy's methods would use for a smaller relative tolerance


def resolve_tolerances(
    interface: Interface,
    method: str,
    rtol: float | None,
    atol: Absolute | None,
    previous: Tolerances,
) -> Tolerances:
    """Tolerances of a run, those of one that it continues from unless given; sizes that count are
    not yet known."""
    if method not in ADAPTIVE and rtol is None and atol is None:
        return previous
    relative = previous.rtol if rtol is None else require_positive(rtol, "rtol", "")
    if method in OWN and relative < CONTROL.finest:
        raise ModelError(
            f"rtol={relative:g} is below {CONTROL.finest:g}, which double precision cannot keep"
        )
    if method in ADAPTIVE and relative < SCIPY_FINEST:
        raise ModelError(
            f"rtol={relative:g} is below {SCIPY_FINEST:.3g}, the least that SciPy's "
            f"{method} can keep"
        )
    if relative >= 1:
        raise ModelError(
            f"rtol={relative:g} allows an error as large as the state itself; 1e-3 is "
            f"coarse, {RTOL:g} usual"
        )
    requested_atol = previous.requested_atol if atol is None else atol
    atol_defaults = default_atol(relative, interface.si_unit_factors)
    absolute, groups = _atol_vector(interface, requested_atol, atol_defaults)
    tolerances = Tolerances(
        relative, requested_atol, np.array(absolute), previous.size_caps, groups
    )
    if method not in ADAPTIVE:
        options = " and ".join(
            f"{name}={x!r}" for name, x in (("rtol", rtol), ("atol", atol)) if x is not None
        )
        verb = "are" if rtol is not None and atol is not None else "is"
        issue_warning(
            f"{options} {verb} not used: the steps of {method} have a fixed length; try "
            f"another step, or method='tsit5'"
        )
    return tolerances


def tolerances_at_start(
    tolerances: Tolerances, interface: Interface, p: Sequence[float], y: np.ndarray, method: str
) -> Tolerances:
    """Tolerances of a run from the state y."""
    if tolerances.atol is None or method not in ADAPTIVE:
        return tolerances
    if len(at_zero := np.flatnonzero((tolerances.atol == 0) & (y == 0))):
        exact = [interface.states[i].name for i in at_zero]
        names = f"{', '.join(exact[:4])}{' ...' if len(exact) > 4 else ''}"
        raise ModelError(
            f"atol is 0 for {names}, which begins at zero: no error at all would be allowed "
            f"there; give a positive one",
            interface.model,
        )
    if tolerances.size_caps is not None:
        return tolerances
    lengths = [p[i] for i in interface.length_parameters]
    caps = size_caps(interface.growth_kinds, lengths, interface.metre_factor, y)
    return replace(tolerances, size_caps=np.array(caps))


def zero_crossing_messages(
    tolerances: Tolerances, interface: Interface, rows: np.ndarray
) -> list[str]:
    """States whose absolute tolerance is above their size, or zero where they pass zero; `rows`:
    time, states, ..."""
    if tolerances.atol is None or not len(rows):
        return []
    messages = []
    largest = np.abs(rows[:, 1 : 1 + len(tolerances.atol)]).max(axis=0)
    loose = np.flatnonzero(
        (tolerances.atol > LOOSE * largest)
        & (largest > 0)
        & (tolerances.requested_atol is not None)
    )
    if len(loose):
        x, i = interface.states[loose[0]], loose[0]
        sizes = [
            f"{x.unit.from_equation_units(v):.3g} {x.unit}"
            for v in (tolerances.atol[i], largest[i])
        ]
        problem = f"atol of {x.name}, {sizes[0]}, exceeds its largest value {sizes[1]}"
        suffix = (
            f" (and so for {pluralize(len(loose) - 1, 'other state')})" if len(loose) > 1 else ""
        )
        messages.append(f"{problem}{suffix}: the error is not controlled; give a smaller atol")
    for i in np.flatnonzero(tolerances.atol == 0):
        values = rows[:, 1 + i]
        crossings = np.flatnonzero(np.sign(values) != np.sign(values[0]))
        if len(crossings):
            reason = "atol is 0 there, and steps become small for nothing; give a positive one"
            messages.append(
                f"{interface.states[i].name} passes zero before t = "
                f"{rows[crossings[0], 0]:.6g} s: {reason}"
            )
    return messages


def loose_atol_messages(
    tolerances: Tolerances, interface: Interface, rows: np.ndarray
) -> list[str]:
    """States that stay at or below their absolute tolerance without being zero; `rows`: time,
    states, ... Sizes are those in the rows: a few of them may all lie near zeros of a motion, and
    report nothing."""
    if tolerances.atol is None or tolerances.unit_groups is None or len(rows) < FEW:
        return []
    largest, limits = (
        np.abs(rows[:, 1 : 1 + len(tolerances.atol)]).max(axis=0),
        tolerances.atol.copy(),
    )
    for group in set(tolerances.unit_groups[tolerances.unit_groups >= 0].tolist()):
        in_group = tolerances.unit_groups == group
        if size := largest[in_group].max():
            limits[in_group] = np.minimum(limits[in_group], tolerances.rtol * size)
    small = np.flatnonzero((largest <= limits) & (largest > ROUNDING * limits))
    messages = []
    for i in small:
        x = interface.states[i]
        values = [
            f"{x.unit.from_equation_units(v):.3g}"
            for v in (largest[i], limits[i], tolerances.rtol * largest[i])
        ]
        problem = (
            f"{x.name} stays at or below its absolute tolerance (largest value {values[0]}, "
            f"tolerance {values[1]}"
        )
        messages.append(
            f"{problem} {x.unit}): its error is not controlled; if it matters, give "
            f"atol={{'{x.name}': {values[2]}}}"
        )
    return messages


def _atol_vector(
    interface: Interface, requested_atol: object, atol_defaults: np.ndarray
) -> tuple[Sequence[float] | np.ndarray, np.ndarray]:
    """The absolute tolerance of each state in equation units, and its group."""
    groups = interface.unit_groups
    if requested_atol is None:
        return atol_defaults, groups
    if (
        isinstance(requested_atol, Sequence | np.ndarray)
        and not isinstance(requested_atol, str)
        and getattr(requested_atol, "ndim", 1) != 0
    ):
        names = [x.name for x in interface.states]
        expected = (
            f"a number, or numbers by unit or state: "
            f"atol={{'{names[0] if names else 'm'}': 1e-9, ...}}"
        )
        raise ModelError(f"atol={requested_atol!r} must be {expected}", interface.model)
    if not isinstance(requested_atol, Mapping):
        value = _require_nonnegative(requested_atol, "atol")
        return [float(x.unit.to_equation_units(value)) for x in interface.states], np.full_like(
            groups, -1
        )
    by_unit: dict[Dimension, tuple[str, float]] = {}
    by_state: dict[str, float] = {}
    for name, x in requested_atol.items():
        value = _require_nonnegative(x, f"atol of {name}")
        state = interface.find_or_none(name, STATES)
        if state is not None:
            by_state[state.name] = float(state.unit.to_equation_units(value))
            continue
        unit = _find_state_unit(interface, name)
        if unit.dimension in by_unit:
            raise ModelError(
                f"atol is given for '{by_unit[unit.dimension][0]}' and for '{name}', which "
                f"are one kind"
            )
        by_unit[unit.dimension] = str(name), float(unit.to_equation_units(value))
    kinds = {dimension: value for dimension, (_, value) in by_unit.items()}
    is_explicit = [x.name in by_state or x.unit.dimension in kinds for x in interface.states]
    pairs = zip(interface.states, atol_defaults.tolist(), strict=True)
    values = [by_state.get(x.name, kinds.get(x.unit.dimension, default)) for x, default in pairs]
    return values, np.where(is_explicit, -1, groups)


def _find_state_unit(interface: Interface, name: object) -> Unit:
    """The unit of that name, which some state must have."""
    units = list(dict.fromkeys(x.unit.text for x in interface.states))
    names = [x.name for x in interface.states]
    choices = (
        f"Units of the states: {', '.join(units) or 'none'}; states: {', '.join(names) or 'none'}."
    )
    argument = f"atol={{'{name}': ...}}"
    try:
        unit = UNIT_SYSTEMS[interface.units].parse_unit(str(name))
    except (ExpressionError, ModelError):
        suggestion = did_you_mean(str(name), (*units, *names))
        raise ModelError(
            f"{argument} is neither a unit nor a state.{suggestion} {choices}", interface.model
        ) from None
    if all(x.unit.dimension != unit.dimension for x in interface.states):
        raise ModelError(f"{argument}: no state has such a unit. {choices}", interface.model)
    return unit


def _require_nonnegative(value: object, label: str) -> float:
    tolerance = require_finite(value, label)
    if tolerance < 0:
        raise ModelError(f"{label} is {tolerance:g}; it must not be negative")
    return tolerance
