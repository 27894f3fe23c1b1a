"""Wrong equations by the hundred: what the check rejects at its states, without an evaluation of
the description for each.

What is left of the equations of motion is affine in the accelerations that a program claims, T' M
(own - u'), and is measured by sizes that do not depend on them. M, own, sizes and the motions T
that loops allow are those of the check, found once for each of its states; so is what outputs are
measured by.
"""

import re
from types import ModuleType

import numpy as np

from bellcrank.codegen.python.source import python_source
from bellcrank.program.statements import AssignStatement
from bellcrank.verify.kane_residual import PartialVelocityMotions, accelerations
from bellcrank.verify.model_under_test import ModelUnderTest
from bellcrank.verify.state_checks import EQUATION, RESIDUAL, ZERO, StateChecks
from tests.verify.corruption import BESIDE, FACTOR

SECTIONS = ("constants", "derivatives", "outputs")  # which it looks at
SURELY = 10  # times the limit: sizes are those of right accelerations


class Switched:
    """A program in Python of which any one equation can be made wrong, without another
    compilation."""

    def __init__(self, program, functions):
        self.program, self.functions = program, functions
        self.wrong = None
        self.module = ModuleType("switched")
        exec(compile(_marked(program), "<switched>", "exec"), self.module.__dict__)
        self.module.wrong = self._wrong

    def _wrong(self, place, value):
        return value * float(FACTOR) + float(BESIDE) if place == self.wrong else value

    def results(self, t, q, u, p, w):
        """q', u', outputs."""
        at = t, q, u, p, self.module.constants(p, self.functions), w, self.functions
        return [np.array(x) for x in (*self._rates(at), self._values("outputs", at))]

    def _rates(self, at):
        qdot, udot = self.module.derivatives(*at)
        both = self._spoiled("derivatives", [*qdot, *udot])
        return both[: len(qdot)], both[len(qdot) :]

    def _values(self, section, at):
        wanted = getattr(self.program, section).results
        return self._spoiled(section, getattr(self.module, section)(*at)) if wanted else []

    def _spoiled(self, section, values):
        return [self._wrong((section, "result", i), x) for i, x in enumerate(values)]


def _marked(program):
    """The source of the program with every equation shown to wrong(place, value)."""
    printed = {
        f.name: f.section.statements for f in program.functions_of("minimal") if f.name in SECTIONS
    }
    lines, left, place = [], iter(()), {}
    for line in python_source(program).splitlines():
        head = re.match(r"def (\w+)\(", line)
        if head:
            left = iter(printed.get(head[1], ()))
            place = {
                **_places(program, "derivatives"),
                **_places(program, head[1]),
            }  # outputs take some from there
        if re.match(r"    (?!return|c = )", line) and (statement := next(left, None)) is not None:
            if isinstance(statement, AssignStatement):
                line = re.sub(
                    r"^(    [\w\[\]]+ = )(.*)$", rf"\1wrong({place[statement.target]!r}, \2)", line
                )
                assert "wrong(" in line
        lines.append(line)
    return "\n".join([*lines, ""])


def _places(program, section):
    statements = getattr(program, section).statements if section in SECTIONS else ()
    return {
        s.target: (section, "statement", i, ("value",))
        for i, s in enumerate(statements)
        if isinstance(s, AssignStatement)
    }


class Screen:
    """What the check of a model without small variables rejects at the states it looks at."""

    def __init__(self, system, eom, states=2):
        subject = ModelUnderTest(system, eom, {"backend": "python"}, None, 0, quiet=True)
        samples = subject.samples(states)
        faster = list(samples)
        faster[1::2] = subject.speed_dominated_samples(samples[1::2])
        looks = StateChecks(subject)
        self.program = Switched(eom.program, subject.loaded.functions)
        self.states = []
        for s in faster + subject.samples_in_other_branches(faster):
            looks.check_state(s)
            evaluation = subject.evaluation(s)
            partials, own = (
                PartialVelocityMotions(evaluation, s.q),
                accelerations(evaluation, s.q, s.u),
            )
            sizes, M = (
                partials.power_scales(evaluation.motion(s.q, s.u, own)),
                partials.mass_matrix(),
            )
            if evaluation.closed is not None:
                T = evaluation.closed.null_space(s.q, evaluation.freedoms)
                sizes, M = np.abs(T).T @ sizes, T.T @ M
            *_, p, _, w = subject.call_arguments(s)
            at = s.time, s.q.tolist(), s.u.tolist(), p, w
            weighed = M / np.where(sizes > 0, sizes, 1.0)[:, None]
            self.states.append((at, weighed, own, self.program.results(*at)))
        assert all(line.passed for line in looks.check_lines(""))
        self.loops = eom.program.loops is not None
        self.weights = [_weight(looks, name) for name in eom.outputs]

    def refuses(self, place):
        """Is a wrong equation surely found?"""
        if place is not None and (
            place[0] not in SECTIONS or (self.loops and place[0] == "constants")
        ):
            return False  # those of loops lead the check to other states
        self.program.wrong = place
        try:
            return any(self._refused(*state) for state in self.states)
        finally:
            self.program.wrong = None

    def _refused(self, at, weighed, own, right):
        qdot, udot, outputs = self.program.results(*at)
        if len(udot) and np.abs(weighed @ (udot - own)).max(initial=0.0) > SURELY * EQUATION:
            return True
        if not (np.array_equal(qdot, right[0]) and np.array_equal(udot, right[1])):
            return False  # which only the check itself can report
        return bool(np.any(np.abs(outputs - right[2]) > SURELY * RESIDUAL * np.array(self.weights)))


def _weight(looks, name):
    """What the check measures an output by; one that it cannot evaluate is not compared."""
    listed, units = looks.outputs.listed, looks.outputs.units
    if name not in listed:
        return np.inf
    dimension, channel = units[name].dimension, listed[name]
    alike = [
        c.expected_magnitude for other, c in listed.items() if units[other].dimension == dimension
    ]
    return max(
        channel.expected_magnitude,
        channel.varies,
        ZERO * max(*alike, looks.scales.scale_of(dimension)),
    )
