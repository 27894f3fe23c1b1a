"""The lines of a check at random states: every equation, output and value of the echo against the
description.

In:  a `ModelUnderTest` and samples. Out: lines of the report, and the scales that errors were
measured against. Accelerations must satisfy the principle of virtual power and Newton-Euler body
by body, rates of coordinates must move bodies as the speeds say, outputs and what user functions
give to the echo must be what their formulas say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from bellcrank.core.units import Unit
from bellcrank.verify import jets
from bellcrank.verify.batched_states import batch_states
from bellcrank.verify.jets import Jet
from bellcrank.verify.kane_residual import KaneResidual, accelerations, virtual_power
from bellcrank.verify.model_under_test import UNUSABLE, CheckSample, ModelUnderTest, split_batches
from bellcrank.verify.reactions import newton_euler, reactions_error
from bellcrank.verify.reference_evaluation import ReferenceEvaluation, rate_of
from bellcrank.verify.report import CheckLine
from bellcrank.verify.scales import (
    NEIGHBOUR_COUNT,
    ErrorScales,
    neighbouring_states,
    variation_scale,
)

EQUATION = 1e-10  # of the terms of an equation of motion, or of a constraint of accelerations
RESIDUAL = 1e-9  # of the terms of a velocity, a length or an output
ZERO = 1e-6  # of what counts as one of a dimension: channels that vary less are measured by this

PROPERTIES = {  # in the order of the report: name, limit
    "position": ("constraint residuals (position)", RESIDUAL),
    "speed": ("constraint residuals (speed)", RESIDUAL),
    "acceleration": ("constraint residuals (acceleration)", EQUATION),
    "kinematic": ("rates of coordinates", RESIDUAL),
    "power": ("equations of motion (virtual power)", EQUATION),
    "bodies": ("equations of motion (Newton-Euler)", EQUATION),
    "singular_rates": ("rates near singular configurations", EQUATION),
    "residuals": ("residual channels", RESIDUAL),
    "reactions": ("reactions of joints and loops", RESIDUAL),
}


class MaxError:
    """The largest of several errors, and where it was met. Without any error it is no number, which
    passes nothing."""

    value, where = math.nan, ""
    _any = False

    def update(self, error: float, location: str = "") -> None:
        if not self._any or (not error <= self.value and not math.isnan(self.value)):
            self.value, self.where, self._any = float(error), location, True


@dataclass
class ComparedChannel:
    """Values that a program gave and those of the description, next to how much these vary."""

    found: list[float] = field(default_factory=list)
    expected: list[float] = field(default_factory=list)
    varies: float = 0.0

    @property
    def expected_magnitude(self) -> float:
        return float(np.abs(self.expected).max(initial=0.0))


@dataclass
class ComparedChannels:
    """All of one kind by name, with units."""

    units: Mapping[str, Unit]
    listed: dict[str, ComparedChannel] = field(default_factory=dict)

    def add_sample(
        self, actual: Mapping[str, float], expected: Mapping[str, float], varies: np.ndarray
    ) -> None:
        for (name, value), size in zip(expected.items(), varies, strict=True):
            channel = self.listed.setdefault(name, ComparedChannel())
            channel.found.append(actual[name])
            channel.expected.append(value)
            channel.varies = max(channel.varies, float(size))

    def largest_gap(self, scales: ErrorScales) -> MaxError:
        """The largest difference of a channel, as a fraction of its size or of what it varies
        by."""
        worst = MaxError()
        for name, channel in self.listed.items():
            unit = self.units[name]
            similar_sizes = [
                c.expected_magnitude
                for other_name, c in self.listed.items()
                if self.units[other_name].dimension == unit.dimension
            ]
            floor = ZERO * max(*similar_sizes, scales.scale_of(unit.dimension))
            gap = float(np.abs(np.subtract(channel.found, channel.expected)).max(initial=0.0))
            worst.update(
                gap / max(channel.expected_magnitude, channel.varies, floor), f"largest in {name}"
            )
        return worst


class StateChecks:
    """What is found at one state after another."""

    def __init__(self, subject: ModelUnderTest) -> None:
        self.subject = subject
        self.worst = {key: MaxError() for key in PROPERTIES}
        self.scales = ErrorScales(subject.length)
        self.outputs, self.echo = (
            ComparedChannels(subject.eom.quantities.output_unit),
            ComparedChannels(subject.echo_units),
        )
        self.groups = [g.lower() for g in subject.description.output_groups]
        # loads of constraints have no place of their own
        self.reactions = "reactions" in self.groups and not subject.description.constraints
        self.singular_rates = _singular_rates(subject)
        self.bound = False

    def presolve(self, samples: Sequence[CheckSample]) -> None:
        """Finds what is needed at several states, and next to them, at once."""
        subject, samples_by_id = self.subject, {id(self.subject.evaluation(s)): s for s in samples}
        for states in subject.evaluate_together(samples):
            states.motions([np.zeros(len(u)) for _, u in states.at])
            udots = [
                accelerations(e, q, u) for e, (q, u) in zip(states.each, states.at, strict=True)
            ]
            states.motions(udots)
            claimed = [subject.rates(samples_by_id[id(e)])[1] for e in states.each]
            states.motions(claimed)
            states.outputs(claimed)
            entries = zip(states.each, states.at, udots, strict=True)
            perturbed = {id(e): neighbouring_states(e, q, u, a) for e, (q, u), a in entries}
            for i in range(NEIGHBOUR_COUNT):
                for neighbors in batch_states(
                    [(e, perturbed[id(e)][i][0], perturbed[id(e)][i][1]) for e in states.each]
                ):
                    neighbors.loads()
                    neighbors.outputs([perturbed[id(e)][i][2] for e in neighbors.each])

    def check_state(self, s: CheckSample) -> None:
        """Notes all errors at a state."""
        subject, worst = self.subject, self.worst
        evaluation = subject.evaluation(s)
        self.bound = bool(evaluation.bound)
        qdot, udot = subject.rates(s)
        expected_udot = accelerations(evaluation, s.q, s.u)
        self.scales.update(evaluation, s.q, s.u, expected_udot)
        worst["kinematic"].update(rates_error(evaluation, s, qdot))
        if evaluation.closed is not None:
            for key, error in zip(
                ("position", "speed"), evaluation.closed.errors(s.q, s.u), strict=True
            ):
                worst[key].update(error)
            worst["acceleration"].update(
                evaluation.closed.acceleration_error(s.q, s.u, udot, expected_udot)
            )
        elif evaluation.bound:
            worst["speed"].update(evaluation.constraint_error(s.q, qdot))
        freedoms = list(s.independent) or [x.name for x in subject.eom.independent_speeds]
        _note_largest(
            worst["power"], virtual_power(evaluation, s.q, s.u, udot, expected_udot), freedoms
        )
        _note_largest(
            worst["bodies"],
            newton_euler(evaluation, s.q, s.u, udot, expected_udot),
            evaluation.machine.u_names,
        )
        if self.singular_rates is not None:
            worst["singular_rates"].update(
                _singular_error(evaluation, s, self.singular_rates(s), expected_udot)
            )
        self._check_channels(s, evaluation, udot, expected_udot)

    def _check_channels(
        self,
        s: CheckSample,
        evaluation: ReferenceEvaluation,
        udot: np.ndarray,
        expected_udot: np.ndarray,
    ) -> None:
        units, output_values = self.outputs.units, self.subject.outputs(s)
        channels = {
            name: float(units[name].to_equation_units(value))
            for name, value in output_values.items()
        }
        expected = evaluation.outputs(s.q, s.u, udot)
        varies = variation_scale(
            evaluation,
            lambda *at: _values_in_order(evaluation.outputs(*at), expected),
            s.q,
            s.u,
            expected_udot,
        )
        self.outputs.add_sample(channels, expected, varies)
        if self.subject.loops and "residuals" in self.groups:
            values = [abs(x) for name, x in channels.items() if name.startswith("residual")]
            self.worst["residuals"].update(float(np.max(values, initial=0.0)))
        if self.reactions:
            self.worst["reactions"].update(reactions_error(evaluation, s.q, s.u, udot, channels))
        if self.echo.units:
            echoed = evaluation.echo(s.q, s.u)
            varies = variation_scale(
                evaluation, lambda *at: _values_in_order(evaluation.echo(*at), echoed), s.q, s.u
            )
            self.echo.add_sample(self.subject.echo(s), echoed, varies)

    def check_lines(self, suffix: str) -> list[CheckLine]:
        keys = {"kinematic", "power", "bodies"}
        keys |= (
            {"position", "speed", "acceleration"}
            if self.subject.loops
            else {"speed"}
            if self.bound
            else set()
        )
        keys |= {"singular_rates"} if self.singular_rates is not None else set()
        keys |= {"residuals"} if self.subject.loops and "residuals" in self.groups else set()
        keys |= {"reactions"} if self.reactions else set()
        entries = [
            (name, limit, self.worst[key])
            for key, (name, limit) in PROPERTIES.items()
            if key in keys
        ]
        channels = (("outputs", self.outputs), ("echo", self.echo))
        entries += [
            (name, RESIDUAL, c.largest_gap(self.scales)) for name, c in channels if c.listed
        ]
        return [
            CheckLine(name + suffix, w.value, limit, note="" if w.value <= limit else w.where)
            for name, limit, w in entries
        ]


def check_at_states(
    subject: ModelUnderTest, samples: Sequence[CheckSample], suffix: str
) -> tuple[list[CheckLine], str]:
    """The lines, and the scales in words."""
    checks = StateChecks(subject)
    for batch in split_batches(samples):
        with suppress(*UNUSABLE):  # each for itself then
            checks.presolve(batch)
        for s in batch:
            try:
                checks.check_state(s)
            except UNUSABLE as error:
                for w in checks.worst.values():
                    w.update(math.nan, f"no numbers at t = {s.time:.3g}: {error}")
                return checks.check_lines(suffix), checks.scales.summary(subject.unit_system)
    return checks.check_lines(suffix), checks.scales.summary(subject.unit_system)


def rates_error(evaluation: ReferenceEvaluation, s: CheckSample, qdot: np.ndarray) -> float:
    errors = (
        kinematic_error(evaluation, s.q, s.u, qdot),
        user_state_error(evaluation, s.q, s.u, qdot),
    )
    return float(np.max(errors))


def _values_in_order(values: Mapping[str, float], names: Mapping[str, float]) -> np.ndarray:
    return np.array([values.get(name, math.nan) for name in names])


def _note_largest(worst: MaxError, residual: KaneResidual, names: list[str]) -> None:
    relative = residual.relative
    i = int(np.argmax(np.nan_to_num(relative, nan=np.inf))) if len(relative) else 0
    worst.update(
        float(relative.max(initial=0.0)), f"largest in the equation of {names[i]}" if names else ""
    )


def _singular_error(
    evaluation: ReferenceEvaluation, s: CheckSample, rates: np.ndarray, expected_udot: np.ndarray
) -> float:
    """What is left of kinematics, constraints and equations of motion with rates found without a
    choice of speeds."""
    assert evaluation.closed is not None
    qdot, udot = np.split(rates, [len(s.q)])
    errors = [
        rates_error(evaluation, s, qdot),
        evaluation.closed.acceleration_error(s.q, s.u, udot, expected_udot),
    ]
    errors.append(
        float(virtual_power(evaluation, s.q, s.u, udot, expected_udot).relative.max(initial=0.0))
    )
    return float(np.max(errors))


def _singular_rates(subject: ModelUnderTest) -> Callable[[CheckSample], np.ndarray] | None:
    """The rates that the redundant equations give near singular configurations, which must hold
    everywhere."""
    loops = subject.eom.program.loops
    if loops is None:
        return None
    sizes = loops.system_sizes(len(subject.eom.coordinates))
    return lambda s: sizes.unpack(subject.function_values("system", s).tolist()).rates(
        loops.scales
    )[0]


# ---- rates of coordinates: what speeds mean, compared with those of a program; errors as a
# fraction of terms


FLOOR = 1e-3  # of the usual rate of a coordinate: smaller sums of terms count as this


def kinematic_error(
    evaluation: ReferenceEvaluation, q: np.ndarray, u: np.ndarray, qdot: np.ndarray
) -> float:
    """How far the claimed q' are from what the speeds mean, as the fraction of the sum of the
    magnitudes of the terms of each; and how far origins and axes of bodies that move so are from
    it, as the fraction of the velocities."""
    full = evaluation.all_speeds(q, u)
    rate = evaluation.largest_scaled_speed(full)
    joints = evaluation.machine.own.start
    rest_rates, *unit = evaluation.coordinate_rates(q)
    B = np.stack([x - rest_rates for x in unit], axis=1) if unit else np.zeros((joints, 0))
    size = np.maximum(
        np.abs(rest_rates) + np.abs(B) @ np.abs(full),
        FLOOR * rate * evaluation.state_scales("q")[:joints],
    )
    errors = [(np.abs(qdot[:joints] - rest_rates - B @ full) / size).max(initial=0.0)]
    claimed = evaluation.machine.motion(Jet([q, qdot]), Jet([full]))
    actual, expected = [], []
    for b in evaluation.machine.bodies:
        R, w = jets.constant_term(claimed.R[b.index]), jets.constant_term(claimed.w[b.index])
        actual.append((rate_of(claimed.p[b.index]), rate_of(claimed.R[b.index])))
        expected.append((jets.constant_term(claimed.v[b.index]), np.cross(w, R, axisb=0, axisc=0)))
    for i, typical in enumerate((rate * evaluation.length, rate)):  # origins, axes
        x, y = np.array([m[i] for m in actual]), np.array([m[i] for m in expected])
        errors.append(np.abs(x - y).max(initial=0.0) / max(typical, np.abs(y).max(initial=0.0)))
    return float(np.max(errors))


def user_state_error(
    evaluation: ReferenceEvaluation, q: np.ndarray, u: np.ndarray, qdot: np.ndarray
) -> float:
    """The largest error of the rates of user-defined states, as a fraction of the rate or of what
    it varies by."""
    expected = evaluation.user_state_rates(q, u)
    size = np.maximum(
        np.abs(expected), variation_scale(evaluation, evaluation.user_state_rates, q, u)
    )
    claimed = qdot[evaluation.machine.own]
    return float((np.abs(claimed - expected) / np.where(size > 0, size, 1.0)).max(initial=0.0))
