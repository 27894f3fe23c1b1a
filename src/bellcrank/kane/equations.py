"""From Kane's equations to the `Equations` object: mass matrix, solution, program.

In:  a `Derivation`. Out: `KaneEquations`: counts, code in all languages, runs. The mass matrix is read off the residuals
F_r + F_r*, so it is what the user's own velocities and accelerations say; if it is not symmetric they contradict each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bellcrank.api.equations import Equations
from bellcrank.derive.pipeline import OPTIMISE, SOLVE, Clock
from bellcrank.dynamics.derive import LONG
from bellcrank.errors import ModelError
from bellcrank.expr import ONE, Expr, Symbol, add, release, substitute
from bellcrank.expr.walk import symbols
from bellcrank.kane.derived import HandDerived, solved
from bellcrank.kane.simulation import KaneSimulation
from bellcrank.kane.steps import Steps
from bellcrank.kane.system import REAL, KaneSystem, kane_system
from bellcrank.kinematics.analysis import Analysis, Output
from bellcrank.kinematics.body_motion import Kinematics
from bellcrank.kinematics.dimensions import Quantities
from bellcrank.model.joints.plain import PlainJoint
from bellcrank.model.joints.rotation import EulerParameters, Rotation
from bellcrank.model.mechanism import Body, Mechanism
from bellcrank.model.records import Description, ParameterRecord, VariableRecord
from bellcrank.program.build import Parts, build_program
from bellcrank.program.count import count
from bellcrank.program.idle import drop_idle_parameters
from bellcrank.program.optimise import first_extraction, optimise
from bellcrank.program.program import Program
from bellcrank.units import ONE as PURE
from bellcrank.units import Unit
from bellcrank.vector.basis import IDENTITY, NULL, dot
from bellcrank.vector.work import Work

FEW = 60  # intermediate results up to which equations are also tried written out


@dataclass(frozen=True)
class HandMechanism(Mechanism):
    """The states of a hand-led derivation, in the order in which they were declared."""

    q: tuple[Symbol, ...] = ()
    u: tuple[Symbol, ...] = ()

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return self.q

    @property
    def speeds(self) -> tuple[Symbol, ...]:
        return self.u


class KaneEquations(Equations):
    """Equations of motion from a hand-led derivation; `derivation` is where they came from."""

    def __init__(self, derived: HandDerived) -> None:
        super().__init__(derived)
        self.derivation, self.system = derived.derivation, derived.system

    def compile(self, backend: str = "auto", external: Mapping[str, Any] | None = None) -> KaneSimulation:
        """A simulation, ready to run; Euler parameters of initial states are brought to unit size."""
        return KaneSimulation(self.derived, backend, dict(external or {}))


def equations_of(d: Steps, solve: str = "auto", level: str = "default") -> KaneEquations:
    """The equations of motion of a derivation."""
    if solve not in SOLVE or solve == "order-n":
        raise ModelError(
            f"solve={solve!r}: a hand-led derivation can be solved 'auto', 'explicit' or 'implicit'", d.name
        )
    if level not in OPTIMISE:
        raise ModelError(f"optimise={level!r} is not known; it is one of {', '.join(OPTIMISE)}", d.name)
    clock = Clock()
    with clock.stage("derive"):
        system = kane_system(d)
        implicit = solve == "implicit" or (solve == "auto" and len(system.speeds) > LONG)
        outputs = _outputs(d, system)
        analysis = _analysis(d, outputs)
        if implicit:
            program, how = _implicit(d, system, outputs), "Kane's method by hand, mass matrix solved numerically"
        else:
            program, how = _explicit(d, system, outputs, level), "Kane's method by hand"
    seconds = dict(clock.seconds)
    return KaneEquations(HandDerived(analysis, _quantities(d, outputs), program, how, seconds, solve, d, system))


# ---- programs


def _explicit(d: Steps, system: KaneSystem, outputs: list[Output], level: str) -> Program:
    """The rates in symbols. Intermediate results are kept, or written out where that comes out cheaper."""
    ways = [solved(d, system)]
    if 0 < len(d.scalars.intermediate) <= FEW:
        plain = [release(x) for x in (*system.f, *(x for row in system.M for x in row))]
        n = len(system.f)
        rows = [plain[n * (i + 1) : n * (i + 2)] for i in range(n)]
        ways.append(solved(d, replace(system, f=plain[:n], M=rows)))
    raw = [count(roots).total for roots in ways]
    clean = [drop_idle_parameters(roots) for roots in ways]
    if level == "none":
        best = raw.index(min(raw))
        return _build(d, system, clean[best], outputs, stages=[("formulation", raw[best])])
    short = [optimise(x, first_extraction(x), thorough=level == "thorough") for x in clean]
    totals = [count(x).total for x in short]
    best = totals.index(min(totals))
    return _build(d, system, short[best], outputs, stages=[("formulation", raw[best]), ("extraction", totals[best])])


def _implicit(d: Steps, system: KaneSystem, outputs: list[Output]) -> Program:
    unknowns = [Symbol(f"x{i + 1}", "intermediate") for i in range(len(system.speeds))]
    matrix = [[system.M[max(i, j)][min(i, j)] for j in range(len(unknowns))] for i in range(len(unknowns))]
    return _build(d, system, [*system.rates, *unknowns], outputs, solve=(matrix, system.f), unknowns=unknowns)


def _build(d: Steps, system: KaneSystem, rates: list[Expr], outputs: list[Output], **more: object) -> Program:
    s = d.scalars
    known: dict[Expr, Expr] = dict(zip(system.accelerations, rates[len(s.coordinates) :], strict=True))
    values = [(o.name, substitute(o.value, known)) for o in outputs]
    return build_program(
        Parts(
            d.name,
            s.constants,
            s.coordinates,
            system.speeds,
            rates,
            values,
            s.inputs,
            **more,  # type: ignore[arg-type]
        )
    )


# ---- what runs and readers need


def _outputs(d: Steps, system: KaneSystem) -> list[Output]:
    s, notes = d.scalars, d.notes
    listed: list[tuple[str, Expr, str, str]] = []
    for name, value in notes.channels.items():
        unit, label = notes.channel_words.get(
            name, (notes.units.get(name.lower(), ""), notes.labels.get(name.lower(), name))
        )
        listed.append((name, value, unit, label))
    for x, value in system.reactions.items():
        listed.append((x.name, value, notes.units.get(x.name.lower(), ""), f"{x.name}, from an auxiliary speed"))
    for group in notes.groups:
        listed += _group(d, group)
    taken = {q.name.lower() for q in (*s.coordinates, *s.independent)}
    for u in s.speeds:
        if u in s.definitions and u.name.lower() not in taken:
            listed.append((u.name, u, notes.units.get(u.name.lower(), ""), "dependent speed"))
    values = s.resolve(value for _, value, _, _ in listed)
    unknown: dict[Expr, Expr] = {x: e for x, e in system.reactions.items()}
    values = [substitute(v, unknown) if unknown else v for v in values]
    for v in values:
        bad = [x.name for x in symbols(v) if x.kind not in (*REAL, "acceleration")]
        if bad:
            raise ModelError(f"a channel holds {', '.join(bad)}, which has no definition", d.name)
    return [Output(name, label, v, unit or None) for (name, _, unit, label), v in zip(listed, values, strict=True)]


def _group(d: Steps, group: str) -> list[tuple[str, Expr, str, str]]:
    if group == "energy":
        kinetic = d.kinetic_energy()
        rows = [("kinetic", kinetic, "", "kinetic energy")]
        if d.potential_energy is not None:
            rows.append(("potential", d.potential_energy, "", "potential energy"))
            rows.append(("energy", add(kinetic, d.potential_energy), "", "kinetic and potential energy"))
        return rows
    linear, angular = d.linear_momentum(), d.angular_momentum()
    axes = d.newtonian.axes
    rows = [(f"p{i + 1}", dot(e, linear), "", f"linear momentum along {e}") for i, e in enumerate(axes)]
    return rows + [
        (f"h{i + 1}", dot(e, angular), "", f"angular momentum about the mass centre, {e}") for i, e in enumerate(axes)
    ]


def _analysis(d: Steps, outputs: list[Output]) -> Analysis:
    s, notes = d.scalars, d.notes
    records = {
        c.name.lower(): ParameterRecord(c.name, notes.values.get(c.name.lower()), None, c.name) for c in s.constants
    }
    description = Description(d.name, parameters=records, run=notes.run)
    description.variables = [VariableRecord(x.name) for x in s.inputs]
    bodies = tuple(_body(i, b, d) for i, b in enumerate(d.machine.bodies))
    extra = [f for f in d.euler if f not in d.machine.bodies]
    bodies += tuple(_body(len(bodies) + i, f, d) for i, f in enumerate(extra))
    mechanism = HandMechanism(d.name, bodies, description, q=tuple(s.coordinates), u=tuple(s.speeds))
    gone = {u: e for u, e in zip(s.speeds, s.resolve(s.speeds), strict=True) if u in s.definitions}
    kinematics = Kinematics(mechanism, Work(), dict(gone), rates=dict(s.rates))
    found = Analysis(mechanism, kinematics, {}, removed=[d.removed[u] for u in gone], outputs=outputs)
    found.parameters = {c.name.lower(): c.name for c in s.constants}
    return found


def _body(index: int, frame: object, d: Steps) -> Body:
    """A body as the later stages count it; only the unit size of its Euler parameters matters to them."""
    q = d.euler.get(frame, ())  # type: ignore[call-overload]
    name = str(frame)
    rotation = EulerParameters(tuple(q), ()) if q else Rotation((), ())
    joint = PlainJoint(tuple(q), (), IDENTITY, NULL, rotation)
    return Body(index, name, name, -1, ONE, (NULL, NULL, NULL), NULL, joint)


def _quantities(d: Steps, outputs: list[Output]) -> Quantities:
    """Units are labels here: values are taken as they are."""
    s, units = d.scalars, d.notes.units
    result = Quantities()
    for x in (*s.constants, *s.inputs):
        key = x.name.lower()
        result.unit[key] = Unit(PURE, 1.0, units.get(key, ""))
        result.label[key] = d.notes.labels.get(key, x.name)
    for x in (*s.coordinates, *s.speeds):
        result.states[x.name] = Unit(PURE, 1.0, units.get(x.name.lower(), ""))
        result.state_label[x.name] = d.notes.labels.get(x.name.lower(), x.name)
    for o in outputs:
        result.output_unit[o.name] = Unit(PURE, 1.0, o.units or "")
    return result
