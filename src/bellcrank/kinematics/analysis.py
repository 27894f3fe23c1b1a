"""Kinematical analysis of a whole description: constraints solved, every formula turned into expressions.

In:  a `Mechanism` and the `Checker` that made it. Out: `Analysis`: kinematics, forces, outputs as expressions in q,
u, t and parameters. All problems found on the way are raised together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from bellcrank.choices import OutputGroup, choices_of
from bellcrank.errors import ModelError, did_you_mean, warn
from bellcrank.expr import ZERO, Expr, Func, Symbol, add, depends_on, derivative, symbols
from bellcrank.expr.external_value import ExternalValue
from bellcrank.expr.text import show
from bellcrank.kinematics.body_motion import Kinematics, motion_of
from bellcrank.kinematics.eliminate import usual_pivots
from bellcrank.kinematics.integrals import gravity_potential, kinetic_energy, momentum
from bellcrank.kinematics.language import Language
from bellcrank.kinematics.loop_joints import loop_rows
from bellcrank.kinematics.reactions import Reactions
from bellcrank.kinematics.results import Analysis, ConstraintForm, Elimination, Kept, Output
from bellcrank.kinematics.rounding import Rounding
from bellcrank.kinematics.rows import Row, ignored, never, sort_rows, with_partials
from bellcrank.kinematics.speed_constraints import Removed, not_everywhere, solve_speed_constraint, speed_values
from bellcrank.model.formula import names_in, to_syntax
from bellcrank.model.loads.load import MOTION, Load, LoadRecord, Motion, Point
from bellcrank.model.mechanism import Mechanism
from bellcrank.model.reading import Checker
from bellcrank.model.scope import name_in
from bellcrank.model.shapes import Shape, read_shape
from bellcrank.names import key_of
from bellcrank.vector.basis import Vector, direction, dot
from bellcrank.vector.work import Work


def analyse(mechanism: Mechanism, checker: Checker, form: ConstraintForm = ConstraintForm.AUTO) -> Analysis:
    """Solves the constraints and reads every formula."""
    points = _points(checker, mechanism)
    if checker.problems:
        _read_what_can_be_read(mechanism, checker, points)
        raise ModelError(checker.problems, mechanism.name)
    kinematics = motion_of(mechanism)
    _read_states(kinematics, checker, points)
    rows = _rows(kinematics, checker, points)
    removed: list[Removed] = []
    notes: list[str] = []
    solved: list[Row] = []
    loops: Elimination | None = None
    loose: list[Removed] = []
    closed = any(row.g is not None or form is ConstraintForm.MULTIPLIERS for row in rows)
    if rows and not closed:
        removed, solved, notes = _solve_rows(rows, kinematics, checker)
        loose = [r for r in removed if not r.holds_everywhere]
        driven = len(removed) == len(mechanism.speeds)  # nothing is left to solve for
        closed = (driven or (bool(loose) and form is ConstraintForm.AUTO)) and not checker.problems
    if closed:  # all speeds stay states
        removed, solved = [], []
        loops, notes = _closed(rows, kinematics, checker)
    elif rows:
        notes += map(not_everywhere, loose)
        work = Work([*mechanism.coordinates, *mechanism.speeds])
        kinematics = motion_of(mechanism, speed_values(removed, work), work)
        if not checker.problems:
            _read_states(kinematics, checker, points)
    shapes = _shapes(checker, mechanism)
    counting = {id(row.source) for row in (loops.rows if loops else ())}
    result = Analysis(
        mechanism, kinematics, points, shapes, removed=removed, solved=solved, loops=loops, loose=loose, notes=notes,
        spare=[row for row in rows if row.g is not None and id(row.source) not in counting],
    )  # fmt: skip
    checker.scope.kept = {}
    reader = Reader(result, checker)
    reader.read()
    if checker.problems:
        raise ModelError(checker.problems, mechanism.name)
    for sentence in _unknown_names(checker):
        warn(f"model '{mechanism.name}': {sentence}")
    result.entered = [
        Kept(tuple(checker.scope.parameter(n) for n in routine.returns), routine, args)
        for routine, args in checker.scope.entered.items()
    ]
    result.parameters = tuple(checker.scope.used)
    return result


def _read_what_can_be_read(mechanism: Mechanism, checker: Checker, points: dict[str, Point]) -> None:
    """A broken model is read on as far as possible, so that all its problems are reported at once."""
    try:
        kinematics = motion_of(mechanism)
        _read_states(kinematics, checker, points)
        Reader(Analysis(mechanism, kinematics, points), checker).read()
    except (ModelError, ValueError, IndexError, KeyError):  # what is broken already cannot be read further
        return


def _unknown_names(checker: Checker) -> list[str]:
    """A message for every name that was given a value or a property but is in no formula: mistyped, most likely."""
    d, used_names = checker.description, checker.scope.used
    other_names = {*checker.scope.variables, *checker.scope.states, *checker.scope.returned}
    unread = {s for e in d.externals for a in e.arguments for s in names_in(a)}
    for event in d.run.events:
        unread |= {*event.action, *names_in(event.expression), *(s for x in event.action.values() for s in names_in(x))}
    messages = []
    for key, record in d.parameters.items():
        if record.declared or key == "g" or key in used_names or key in other_names or key in unread:
            continue
        settings = {"a value": record.value, "a unit": record.units, "a label": record.label, "a sign": record.positive}
        properties = " and ".join(
            property_name for property_name, x in settings.items() if x is not None and x is not False
        )
        suggestion = did_you_mean(record.name, used_names)
        reason = f"{properties} is given for '{record.name}', which is not used in any formula"
        messages.append(f"{reason}.{suggestion} If this is intended, declare it with add_parameter().")
    return messages


def _points(checker: Checker, mechanism: Mechanism) -> dict[str, Point]:
    body_index = {b.name: b.index for b in mechanism.bodies}
    points: dict[str, Point] = {}
    for record in checker.description.points:
        location = f"point '{record.name}'"
        coordinates = checker.vector(record.at, location, "at")
        index = checker.body_index(record.body, location, "body")
        if index is None:
            continue
        coordinates = checker.converted(coordinates, record.coordinates_of, *checker.nominal_pose(index), location)
        body = body_index[checker.drafts[index].record.name] if index >= 0 else -1
        points[record.name] = Point(record.name, body, coordinates, record.label or record.name)
    return points


def _shapes(checker: Checker, mechanism: Mechanism) -> tuple[Shape, ...]:
    """What the bodies look like."""
    body_index = {b.name: b.index for b in mechanism.bodies}
    shapes = (read_shape(record, checker, body_index) for record in checker.description.shapes)
    return tuple(shape for shape in shapes if shape is not None)


def _read_states(kinematics: Kinematics, checker: Checker, points: dict[str, Point]) -> None:
    """Rates of user-defined states."""
    language = Language(checker.scope, kinematics, points, _no_forces(checker))
    for record, symbol in zip(checker.description.states, kinematics.mechanism.states, strict=True):
        location = f"state '{record.name}'"
        rate: Expr = ZERO
        with checker.collecting(f"{location}: rate"):
            rate = language.scalar(record.rate)
        if depends_on(rate, lambda s: s.kind == "acceleration"):
            checker.problem(location, "its rate contains an acceleration, which is an algebraic loop.")
        kinematics.rates[symbol] = rate


def _no_forces(checker: Checker) -> dict[str, Callable[[], Expr]]:
    def refused() -> Expr:
        raise ModelError("fm() cannot be in the rate of a state; write out the formula of the force")

    return {f.name: refused for f in checker.description.forces}


def _rows(kinematics: Kinematics, checker: Checker, points: dict[str, Point]) -> list[Row]:
    """All constraints of a description, those of positions first."""
    language = Language(checker.scope, kinematics, points, {})
    rate = partial(derivative, of_symbol=kinematics.rate_of)
    position: list[Row] = []
    speed: list[Row] = []
    for loop in checker.description.loops:
        with checker.collecting():
            position += [Row(x.text, rate(x.g), x.g, source=x) for x in loop_rows(loop, language)]
    for record in checker.description.constraints:
        source_text = record.expression if isinstance(record.expression, str) else show(to_syntax(record.expression))
        name = record.label or source_text
        text = f"'{name}'"
        try:
            residual = language.scalar(record.expression)
            if sampled := [s.name for s in symbols(residual) if s.kind == "kept"]:
                jumps = f"the value of a user function that changes in jumps ({', '.join(sampled)})"
                raise ModelError(f"{jumps} cannot be in it")
            eliminated_speed = _eliminated(record.eliminate, text, language)
            if depends_on(residual, lambda s: s.kind == "speed"):
                speed.append(Row(name, residual, None, eliminated_speed, source=record.expression))
            elif state_names := [z.name for z in symbols(residual) if z in kinematics.mechanism.states]:
                raise ModelError(
                    f"positions cannot be bound to user-defined states ({', '.join(state_names)}); bind a speed"
                )
            elif depends_on(residual, lambda s: s.kind == "coordinate"):
                position.append(Row(name, rate(residual), residual, eliminated_speed))
            else:
                reason = "holds neither a speed nor a coordinate, so it constrains nothing"
                raise ModelError(f"the constraint {text} {reason}")
        except ModelError as error:
            message = str(error)
            checker.problems.append(message if "constraint" in message else f"constraint {text}: {message}")
    return [*position, *speed]


def _eliminated(formula: Any, text: str, language: Language) -> Symbol | None:
    if formula is None:
        return None
    speed = language.scalar(formula)
    if not isinstance(speed, Symbol) or speed.kind != "speed":
        raise ModelError(f"the constraint {text}: eliminate={formula!r} is not a speed")
    return speed


def _closed(rows: list[Row], kinematics: Kinematics, checker: Checker) -> tuple[Elimination | None, list[str]]:
    """Rows of a model with closed loops, with the elimination that the rules for speed constraints lead to."""
    speeds = kinematics.mechanism.speeds
    complete: list[Row] = []
    for row in rows:
        with checker.collecting():
            complete.append(with_partials(row, speeds))
    rounding = Rounding(kinematics)
    fixed = rounding.fixed(complete)
    checker.problems += [never(row) for row, is_satisfied in fixed.items() if not is_satisfied]
    sorted_rows = sort_rows([row for row in complete if row not in fixed])
    checker.problems += sorted_rows.problems
    notes = [*map(ignored, fixed), *sorted_rows.notes]
    if not checker.problems:
        with checker.collecting():
            repeated = rounding.repeating(sorted_rows.kept)
            independent = [row for row in sorted_rows.kept if row not in repeated]
            pivots = usual_pivots(independent, speeds, kinematics.work.copy(), rounding.acting)
            all_rows = tuple(row for row in complete if row in sorted_rows.kept or row in sorted_rows.open)
            if not all_rows:  # a second hinge on the axis of the first one closes nothing
                return None, notes
            return Elimination(all_rows, tuple(independent), tuple(pivots), tuple(sorted_rows.open.values())), notes
    return None, notes


def _solve_rows(
    rows: list[Row], kinematics: Kinematics, checker: Checker
) -> tuple[list[Removed], list[Row], list[str]]:
    """The speeds that the rows determine, the rows that count, and notes on those that do not."""
    speeds = list(kinematics.mechanism.speeds)
    rounding = Rounding(kinematics)
    removed: list[Removed] = []
    independent: list[Row] = []
    notes: list[str] = []
    complete: list[Row] = []
    for row in rows:
        with checker.collecting():
            complete.append(with_partials(row, speeds))
    fixed = rounding.fixed(complete)
    checker.problems += [never(row) for row, is_satisfied in fixed.items() if not is_satisfied]
    repeated = [*fixed, *rounding.repeating([row for row in complete if row not in fixed], with_bias=True)]
    for row in complete:
        if row in repeated:
            notes.append(ignored(row))
            continue
        with checker.collecting():
            new = solve_speed_constraint(row.v, removed, speeds, row.eliminate, row.name, rounding.acting)
            if new is None:
                notes.append(ignored(row))
                continue
            removed.append(new)
            independent.append(row)
            speeds.remove(new.speed)
    return removed, independent, notes


class Reader:
    """Reads forces, gravity and outputs."""

    def __init__(self, analysis: Analysis, checker: Checker) -> None:
        self.analysis = analysis
        self.checker = checker
        self.k = analysis.kinematics
        magnitudes = {f.name: partial(self._size, f) for f in checker.description.forces}
        self.language = Language(checker.scope, self.k, analysis.points, magnitudes)
        self.known: dict[str, tuple[Load, ...]] = {}
        self.hiding: dict[str, LoadRecord] = {}  # names of motions in magnitudes: a force whose magnitude holds it
        self.open: list[str] = []

    def _size(self, record: LoadRecord) -> Expr:
        loads = self.load(record)
        return loads[0].magnitude if loads else ZERO

    def read(self) -> None:
        d = self.checker.description
        self.analysis.loads += [load for record in d.forces for load in self.load(record)]
        for name, formula in d.definitions.items():
            if self.language.has_read(name, formula):
                continue
            with self.checker.collecting(f"definition '{name}'"):
                self.language.value(to_syntax(formula))
        if d.gravity is not None:
            self.analysis.body_forces += self._read(d.gravity)
        self._outputs()
        self.analysis.wheels = tuple(x.read(self) for x in d.wheels)
        self._echo()
        self._kept()
        self._hidden()

    def _hidden(self) -> None:
        """Parameters, inputs and the like that a magnitude cannot mean, since their names are those of the motion."""
        scope = self.checker.scope
        other_names = {*scope.used, *scope.variables, *scope.states, *scope.definitions, *scope.description.parameters}
        for name, record in self.hiding.items():
            if name in other_names and name in MOTION:  # other names were chosen for this force by the user
                clash = f"'{name}' is the force's own motion in its magnitude, and something else in the model"
                message = f"{clash}. Rename the other, or give dummies= three other names for the motion of this force."
                self.checker.problem(record.where, message)

    def _echo(self) -> None:
        """Values that user functions give to the echo of a run."""
        d = self.checker.description
        for e in (e for e in d.externals if e.when == "echo"):
            location = f"external '{e.name}'"
            args = [self._try(location, partial(self.language.scalar, a)) for a in e.arguments]
            if None in args:
                continue
            if any(s.kind == "acceleration" for a in args for s in symbols(a)):
                self.checker.problem(location, "its arguments contain an acceleration.")
            for i, name in enumerate(e.returns):
                record = d.parameters.get(name)
                value = Func(e.name, tuple(args), ExternalValue(e, i))
                self.analysis.echo.append(Output(name, (record and record.label) or name, value))

    def _kept(self) -> None:
        """Calls of user functions at the start of a run or at the end of steps, in order of entry."""
        order = {e: i for i, e in enumerate(self.checker.description.externals)}
        sampled_calls = [Kept(values, routine, args) for (routine, args), values in (self.language.kept or {}).items()]
        self.analysis.kept = sorted(sampled_calls, key=lambda k: order[k.routine])
        updated = {s for k in sampled_calls if k.routine.when == "update" for s in k.symbols}
        for call in sampled_calls:
            location, argument_symbols = (
                f"external '{call.routine.name}'",
                [s for a in call.arguments for s in symbols(a)],
            )
            if any(s.kind == "acceleration" for s in argument_symbols):
                self.checker.problem(location, "its arguments contain an acceleration.")
            if call.routine.when == "init" and (late := [s.name for s in argument_symbols if s in updated]):
                self.checker.problem(location, f"it is called before {', '.join(late)} is known (when='init').")

    def _try(self, location: str, action: Callable[[], Any]) -> Any:
        value = None
        with self.checker.collecting(location):
            value = action()
        return value

    # ---- loads

    def load(self, record: LoadRecord) -> tuple[Load, ...]:
        key = record.name
        if key in self.open:
            raise ModelError(f"{record.where} depends on itself through fm()")
        if key not in self.known:
            self.open.append(key)
            self.known[key] = self._read(record)
            self.open.pop()
        return self.known[key]

    def _read(self, record: LoadRecord) -> tuple[Load, ...]:
        loads: tuple[Load, ...] | None = self._try(record.where, partial(record.read, self))
        return loads or ()

    def scalar(self, value: Any) -> Expr:
        return self.language.scalar(value)

    def body(self, reference: Any) -> int:
        return self.language.body(reference)

    def point(self, reference: Any) -> Point:
        return self.language.point(reference)

    def direction(self, value: Any) -> Vector:
        return direction(self.language.vector(value))

    def between(self, p: Point, r: Point) -> tuple[Vector, Vector]:
        return self.k.position(p) - self.k.position(r), self.k.velocity(p) - self.k.velocity(r)

    def nominal(self, value: Expr) -> Expr:
        return self.k.nominal(value)

    def hold(self, value: Expr) -> Expr:
        return self.k.work.hold(value)

    def magnitude(self, record: LoadRecord, motion: Motion) -> Expr:
        language = self.language
        outer, language.dummies = (language.dummies, language.met_dummies), motion
        language.met_dummies = set()
        try:
            size = language.scalar(record.magnitude)
            self.hiding |= dict.fromkeys(language.met_dummies, record)
        finally:
            language.dummies, language.met_dummies = outer
        if accelerations := [s.name for s in symbols(size) if s.kind == "acceleration"]:
            loop = "a force that depends on accelerations is an algebraic loop"
            raise ModelError(f"its magnitude contains the acceleration {', '.join(accelerations)}: {loop}")
        return self.k.work.hold(size)

    # ---- outputs

    def _outputs(self) -> None:
        d, a = self.checker.description, self.analysis
        output_names: set[str] = set()
        inputs = {v.name for v in d.variables}
        states = {key_of(s).lower(): s.name for s in (*a.mechanism.coordinates, *a.mechanism.speeds)}
        channels = {"t": "t"} | {key_of(v.name): v.name for v in d.variables}  # channels by name without blanks
        for record in d.outputs:
            location, key = f"output '{record.name}'", key_of(record.name)
            channel_owner = states.get(key.lower(), channels.get(key))
            if not key:
                self.checker.problem(location, "the name is empty; a channel needs one.")
            elif record.name in output_names:
                self.checker.problem(location, "the name is used twice.")
            elif channel_owner in inputs:
                self.checker.problem(
                    location, f"'{channel_owner}' is an input, which is a channel already; rename the output."
                )
            elif channel_owner is not None:
                blanks = (
                    " (blanks do not count)"
                    if "".join(channel_owner.split()) == key and channel_owner != record.name
                    else ""
                )
                self.checker.problem(location, f"the channel '{channel_owner}' exists already{blanks}.")
            channels[key] = record.name
            output_names.add(record.name)
            value = self._try(location, partial(self.language.scalar, record.expression))
            if record.body is not None:
                self._try(location, partial(self.language.body, record.body))
            if value is not None:
                label, body = record.label or record.name, name_in(record.body)
                a.outputs.append(Output(record.name, label, value, record.units, body, record.generic))
        for group in d.output_groups:
            for output in self._group(group):
                if output.name in inputs:
                    message = f"the input '{output.name}' has the name of one of them; rename the input."
                    self.checker.problem(f"outputs '{group}'", message)
                elif output.name not in output_names:
                    output_names.add(output.name)
                    a.outputs.append(output)

    def _group(self, group: str) -> list[Output]:
        a = self.analysis
        match group:
            case "coordinates" | "speeds":
                return []  # always channels
            case "forces":
                return [_force_output(x, "F") for x in a.loads if not x.is_moment]
            case "moments":
                return [_force_output(x, "F*L") for x in a.loads if x.is_moment]
            case "energy":
                kinetic, potential = kinetic_energy(self.k), gravity_potential(self.k, a.gravity)
                return [
                    Output("kinetic", "kinetic energy", kinetic, "F*L"),
                    Output("potential", "potential energy of gravity", potential, "F*L"),
                    Output("energy", "kinetic energy and that of gravity", add(kinetic, potential), "F*L"),
                ]
            case "momentum":
                linear, angular = momentum(self.k)
                rows = [
                    ("p", "linear momentum along", linear, "M*L/T"),
                    ("h", "angular momentum about the fixed origin,", angular, "M*L**2/T"),
                ]
                return [
                    Output(f"{letter}{i}", f"{label} [n{i}]", dot(e, v), units)
                    for letter, label, v, units in rows
                    for i, e in enumerate(self.k.frames[-1].axes, 1)
                ]
            case "residuals":
                return _residuals(a.loops.rows if a.loops else ())
            case "reactions":
                a.reactions = lambda: Reactions(a, self.language).outputs()
                return a.reactions()
        group_names = choices_of(OutputGroup)
        message = f"not available.{did_you_mean(group, group_names)} Known: {', '.join(group_names)}."
        self.checker.problem(f"outputs '{group}'", message)
        return []


def _residuals(rows: Sequence[Row]) -> list[Output]:
    """How well loops are closed: residuals of positions, and of the speeds of all constraints. A tree has none."""
    closed = [(row.name, row.g) for row in rows if row.g is not None]
    return [
        *(Output(f"residual{i}", f"residual of {name}", g) for i, (name, g) in enumerate(closed, 1)),
        *(Output(f"residual_rate{i}", f"residual of the rate of {row.name}", row.v) for i, row in enumerate(rows, 1)),
    ]


def _force_output(load: Load, units: str) -> Output:
    return Output(load.name, load.label, load.magnitude, units, None, "Moment" if load.is_moment else "Force")
