"""Steps that the method chooses: what error they may have, and how such a run goes, ends, and is told of."""

import math

import model
import numpy as np
import settings
from numeric.adapt import Count
from numeric.chosen import Chosen
from numeric.driven import FINISHED, NO_VALUE, STEP_TOO_SMALL, TOO_MANY_STEPS
from numeric.pace import caps_of, ends_of_stretches, output_times, usual_tolerance
from numeric.radau import in_places
from numeric.steps_told import held_by, stood_in, went_over
from numeric.tuning import CONTROL


class Tolerances:
    """`rtol` against the size of each state, and besides what is told of all states, of a unit, of a state, in the
    units of the states."""

    def __init__(self):
        self.rtol, self.of_all, self.of_unit, self.of_state = settings.RTOL, None, {}, {}

    def set_absolute(self, inner, value, states):
        """ATOL of all states, ATOL(m) of those with a unit, ATOL(Q(1)) of one; is there one?"""
        named = [s.keyword for i, s in enumerate(states) if inner in self.names_of(i, s)]
        if not inner:
            self.of_all = value
        elif named:
            self.of_state[named[0]] = value
        elif any(plain(s.unit) == inner for s in states):
            self.of_unit[inner] = value
        else:
            return False
        return True

    def names_of(self, i, state):
        letter, number = ("q", i + 1) if i < settings.N_Q else ("u", i + 1 - settings.N_Q)
        return plain(state.keyword), f"{letter}({number})"

    def absolute(self, states):
        """Of each state in equation units, and its group, -1 where it was told."""
        found, groups = usual_tolerance(self.rtol, np.array(settings.UNIT_SIZES)), np.array(settings.UNIT_GROUPS, int)
        for j, s in enumerate(states):
            for value in (self.of_all, self.of_unit.get(plain(s.unit)), self.of_state.get(s.keyword)):
                if value is not None:
                    found[j], groups[j] = value * s.factor, -1
        return {"atol": found, "groups": groups}

    def options(self, e, y, states):
        """What steps are taken with, from a state on."""
        lengths = [e.p[i] for i in settings.LENGTHS]
        caps = np.array(caps_of(settings.GROWTHS, lengths, settings.METRE, y))
        return {"rtol": self.rtol, "caps": caps, **self.absolute(states)}

    def echoed(self, states):
        """Keywords, values, units and labels for the echo."""
        yield "RTOL", self.rtol, "-", "error of a step against each state"
        if self.of_all is not None:
            yield "ATOL", self.of_all, "-", "and besides, in the unit of each"
        for s in {plain(s.unit): s for s in states}.values():
            if plain(s.unit) in self.of_unit:
                yield f"ATOL({s.unit})", self.of_unit[plain(s.unit)], s.unit, "and besides"
        for s in states:
            if s.keyword in self.of_state:
                yield f"ATOL({s.keyword})", self.of_state[s.keyword], s.unit, "and besides"


def plain(text):
    """Small letters, without blanks."""
    return "".join(text.split()).lower()


class Run(Chosen):
    """A run, or a stretch of one, from a time and state on. `held`: what routines keep and remember."""

    def __init__(self, e, course, t, y, options, watch, states, held, goes_on=False):
        times = output_times(0.0, course.t_end, course.step, course.every, t)
        updates = times.tolist() if len(e.kept) else []  # what external routines keep jumps there
        ends = ends_of_stretches({*course.breaks, *updates}, times)
        count = Count(CONTROL.most_steps + CONTROL.steps_of_row * len(times))
        self.states, self.held = states, held
        super().__init__(e, y, course.method, times, ends, options, watch, count)
        self._goes_on = goes_on

    @property
    def _held(self):
        return self.held

    def _names(self):
        return [s.keyword for s in self.states]

    def _costs(self):
        return settings.COSTS

    def _known_slopes(self, t, y):
        places, columns = settings.SLOPES
        try:
            values = self.evaluation.call(model.slopes, t, y) if places else []
        except NO_VALUE:
            columns, values = [], []
        return in_places(values, places if len(values) else [], columns, len(y))

    def whole(self):
        """All rows, up to the end or an event that stops the run or acts."""
        if self._goes_on:
            self.advance(self.reached)  # takes the start
        return list(self.advance(len(self.times) - 1))

    @property
    def ended(self):
        """What ended it early, in a sentence."""
        if self.status == FINISHED:
            return ""
        if self.status in (STEP_TOO_SMALL, TOO_MANY_STEPS):
            why = self.problem
        elif self.problem:
            why = f"the rates of the states cannot be evaluated any more ({self.problem})"
        else:
            bad = [s.keyword for s, x in zip(self.states, self.bad) if not math.isfinite(x)]
            many = "is no longer a finite number" if len(bad) == 1 else "are no longer finite numbers"
            why = f"{', '.join(bad)} {many}"
        return f"stopped at t = {self.time:g} s: {why}"


def told(method, figures, passages):
    """What the steps were, for one line, and further lines about the work they took."""
    sizes = f"{figures.get('smallest_step', 0):.3g} to {figures.get('largest_step', 0):.3g}"
    steps = f"{figures['steps']} steps of {sizes} s, {figures['rejected']} rejected"
    work = f"{figures['rates']} rates"
    if "jacobians" in figures:
        work += f", {figures['jacobians']} Jacobians, {figures['factorisations']} factorisations"
        work += f", {figures['newton_failures']} failures of Newton's method"
    return steps, [work, *went_over(figures), *held_by(method, figures), *stood_in(method, figures, passages)]
