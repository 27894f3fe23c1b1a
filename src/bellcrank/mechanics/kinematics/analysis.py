"""Kinematical analysis of a whole description: constraints solved, every formula turned into
expressions.

In:  a `Mechanism` and the `DescriptionChecker` that made it. Out: `KinematicAnalysis`: kinematics,
forces, outputs as expressions in q, u, t and parameters. All problems found on the way are raised
together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from bellcrank.choices import OutputGroup, choice_values
from bellcrank.core.errors import ModelError, did_you_mean, issue_warning
from bellcrank.core.name_lookup import normalized_name
from bellcrank.mechanics.kinematics.body_motion import Kinematics, build_kinematics
from bellcrank.mechanics.kinematics.constraint_rows import (
    ConstraintRow,
    contradiction_message,
    ignored_note,
    sort_rows,
    with_partials,
)
from bellcrank.mechanics.kinematics.dependent_accelerations import usual_pivots
from bellcrank.mechanics.kinematics.integrals import (
    gravity_potential,
    kinetic_energy,
    linear_and_angular_momentum,
)
from bellcrank.mechanics.kinematics.language import FormulaLanguage
from bellcrank.mechanics.kinematics.loop_joints import loop_joint_rows
from bellcrank.mechanics.kinematics.numeric_rank import NumericRank
from bellcrank.mechanics.kinematics.reactions import ReactionOutputs
from bellcrank.mechanics.kinematics.results import (
    ConstraintForm,
    KinematicAnalysis,
    LoopElimination,
    OutputChannel,
    SampledCall,
)
from bellcrank.mechanics.kinematics.speed_constraints import (
    DependentSpeed,
    not_everywhere,
    solve_speed_constraint,
    speed_values,
)
from bellcrank.model.checker import DescriptionChecker
from bellcrank.model.formula import formula_names, to_syntax
from bellcrank.model.loads.load import MAGNITUDE_ARGUMENTS, BodyPoint, Load, LoadRecord, Motion
from bellcrank.model.mechanism import Mechanism
from bellcrank.model.scope import referenced_name
from bellcrank.model.shapes import Shape, read_shape
from bellcrank.symbolic.expr import (
    ZERO,
    Expr,
    Func,
    Symbol,
    add,
    depends_on,
    derivative,
    free_symbols,
)
from bellcrank.symbolic.expr.formula_parser import syntax_to_text
from bellcrank.symbolic.expr.user_function_value import UserFunctionValue
from bellcrank.symbolic.vector.basis import Vector, direction, dot
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace


def analyse(
    mechanism: Mechanism, checker: DescriptionChecker, form: ConstraintForm = ConstraintForm.AUTO
) -> KinematicAnalysis:
    """Solves the constraints and reads every formula."""
    points = _read_points(checker, mechanism)
    if checker.problems:
        _collect_remaining_problems(mechanism, checker, points)
        raise ModelError(checker.problems, mechanism.name)
    kinematics = build_kinematics(mechanism)
    _read_states(kinematics, checker, points)
    rows = _constraint_rows(kinematics, checker, points)
    removed: list[DependentSpeed] = []
    notes: list[str] = []
    solved: list[ConstraintRow] = []
    loops: LoopElimination | None = None
    loose: list[DependentSpeed] = []
    closed = any(row.g is not None or form is ConstraintForm.MULTIPLIERS for row in rows)
    if rows and not closed:
        removed, solved, notes = _solve_rows(rows, kinematics, checker)
        loose = [r for r in removed if not r.is_always_solvable]
        driven = len(removed) == len(mechanism.speeds)  # nothing is left to solve for
        closed = (driven or (bool(loose) and form is ConstraintForm.AUTO)) and not checker.problems
    if closed:  # all speeds stay states
        removed, solved = [], []
        loops, notes = _loop_elimination(rows, kinematics, checker)
    elif rows:
        notes += map(not_everywhere, loose)
        work = DerivationWorkspace([*mechanism.coordinates, *mechanism.speeds])
        kinematics = build_kinematics(mechanism, speed_values(removed, work), work)
        if not checker.problems:
            _read_states(kinematics, checker, points)
    shapes = _read_shapes(checker, mechanism)
    counting = {id(row.source) for row in (loops.rows if loops else ())}
    result = KinematicAnalysis(
        mechanism,
        kinematics,
        points,
        shapes,
        removed=removed,
        solved=solved,
        loops=loops,
        loose=loose,
        notes=notes,
        spare=[row for row in rows if row.g is not None and id(row.source) not in counting],
    )
    checker.scope.kept = {}
    reader = LoadReader(result, checker)
    reader.read_formulas()
    if checker.problems:
        raise ModelError(checker.problems, mechanism.name)
    for sentence in _unknown_names(checker):
        issue_warning(f"model '{mechanism.name}': {sentence}")
    result.entered = [
        SampledCall(tuple(checker.scope.parameter(n) for n in routine.returns), routine, args)
        for routine, args in checker.scope.entered.items()
    ]
    result.parameters = tuple(checker.scope.used)
    return result


def _collect_remaining_problems(
    mechanism: Mechanism, checker: DescriptionChecker, points: dict[str, BodyPoint]
) -> None:
    """A broken model is read on as far as possible, so that all its problems are reported at
    once."""
    try:
        kinematics = build_kinematics(mechanism)
        _read_states(kinematics, checker, points)
        LoadReader(KinematicAnalysis(mechanism, kinematics, points), checker).read_formulas()
    except (
        ModelError,
        ValueError,
        IndexError,
        KeyError,
    ):  # what is broken already cannot be read further
        return


def _unknown_names(checker: DescriptionChecker) -> list[str]:
    """A message for every name that was given a value or a property but is in no formula: mistyped,
    most likely."""
    d, used_names = checker.description, checker.scope.used
    other_names = {*checker.scope.variables, *checker.scope.states, *checker.scope.returned}
    unread = {s for e in d.externals for a in e.arguments for s in formula_names(a)}
    for event in d.run.events:
        unread |= {
            *event.action,
            *formula_names(event.expression),
            *(s for x in event.action.values() for s in formula_names(x)),
        }
    messages = []
    for key, record in d.parameters.items():
        if (
            record.declared
            or key == "g"
            or key in used_names
            or key in other_names
            or key in unread
        ):
            continue
        settings = {
            "a value": record.value,
            "a unit": record.units,
            "a label": record.label,
            "a sign": record.positive,
        }
        properties = " and ".join(
            property_name
            for property_name, x in settings.items()
            if x is not None and x is not False
        )
        suggestion = did_you_mean(record.name, used_names)
        reason = f"{properties} is given for '{record.name}', which is not used in any formula"
        messages.append(
            f"{reason}.{suggestion} If this is intended, declare it with add_parameter()."
        )
    return messages


def _read_points(checker: DescriptionChecker, mechanism: Mechanism) -> dict[str, BodyPoint]:
    body_index = {b.name: b.index for b in mechanism.bodies}
    points: dict[str, BodyPoint] = {}
    for record in checker.description.points:
        location = f"point '{record.name}'"
        coordinates = checker.read_vector(record.at, location, "at")
        index = checker.body_index(record.body, location, "body")
        if index is None:
            continue
        coordinates = checker.transform_coordinates(
            coordinates, record.coordinates_of, *checker.nominal_pose(index), location
        )
        body = body_index[checker.drafts[index].record.name] if index >= 0 else -1
        points[record.name] = BodyPoint(record.name, body, coordinates, record.label or record.name)
    return points


def _read_shapes(checker: DescriptionChecker, mechanism: Mechanism) -> tuple[Shape, ...]:
    """What the bodies look like."""
    body_index = {b.name: b.index for b in mechanism.bodies}
    shapes = (read_shape(record, checker, body_index) for record in checker.description.shapes)
    return tuple(shape for shape in shapes if shape is not None)


def _read_states(
    kinematics: Kinematics, checker: DescriptionChecker, points: dict[str, BodyPoint]
) -> None:
    """Rates of user-defined states."""
    language = FormulaLanguage(checker.scope, kinematics, points, _no_forces(checker))
    for record, symbol in zip(checker.description.states, kinematics.mechanism.states, strict=True):
        location = f"state '{record.name}'"
        rate: Expr = ZERO
        with checker.collect_problems(f"{location}: rate"):
            rate = language.to_scalar(record.rate)
        if depends_on(rate, lambda s: s.kind == "acceleration"):
            checker.add_problem(
                location, "its rate contains an acceleration, which is an algebraic loop."
            )
        kinematics.rates[symbol] = rate


def _no_forces(checker: DescriptionChecker) -> dict[str, Callable[[], Expr]]:
    def reject_fm_in_rate() -> Expr:
        raise ModelError(
            "fm() cannot be in the rate of a state; write out the formula of the force"
        )

    return {f.name: reject_fm_in_rate for f in checker.description.forces}


def _constraint_rows(
    kinematics: Kinematics, checker: DescriptionChecker, points: dict[str, BodyPoint]
) -> list[ConstraintRow]:
    """All constraints of a description, those of positions first."""
    language = FormulaLanguage(checker.scope, kinematics, points, {})
    rate = partial(derivative, of_symbol=kinematics.symbol_derivative)
    position: list[ConstraintRow] = []
    speed: list[ConstraintRow] = []
    for loop in checker.description.loops:
        with checker.collect_problems():
            position += [
                ConstraintRow(x.text, rate(x.g), x.g, source=x)
                for x in loop_joint_rows(loop, language)
            ]
    for record in checker.description.constraints:
        source_text = (
            record.expression
            if isinstance(record.expression, str)
            else syntax_to_text(to_syntax(record.expression))
        )
        name = record.label or source_text
        text = f"'{name}'"
        try:
            residual = language.to_scalar(record.expression)
            if sampled := [s.name for s in free_symbols(residual) if s.kind == "kept"]:
                jumps = f"the value of a user function that changes in jumps ({', '.join(sampled)})"
                raise ModelError(f"{jumps} cannot be in it")
            eliminated_speed = _requested_elimination(record.eliminate, text, language)
            if depends_on(residual, lambda s: s.kind == "speed"):
                speed.append(
                    ConstraintRow(name, residual, None, eliminated_speed, source=record.expression)
                )
            elif state_names := [
                z.name for z in free_symbols(residual) if z in kinematics.mechanism.states
            ]:
                raise ModelError(
                    f"positions cannot be bound to user-defined states "
                    f"({', '.join(state_names)}); bind a speed"
                )
            elif depends_on(residual, lambda s: s.kind == "coordinate"):
                position.append(ConstraintRow(name, rate(residual), residual, eliminated_speed))
            else:
                reason = "holds neither a speed nor a coordinate, so it constrains nothing"
                raise ModelError(f"the constraint {text} {reason}")
        except ModelError as error:
            message = str(error)
            checker.problems.append(
                message if "constraint" in message else f"constraint {text}: {message}"
            )
    return [*position, *speed]


def _requested_elimination(formula: Any, text: str, language: FormulaLanguage) -> Symbol | None:
    if formula is None:
        return None
    speed = language.to_scalar(formula)
    if not isinstance(speed, Symbol) or speed.kind != "speed":
        raise ModelError(f"the constraint {text}: eliminate={formula!r} is not a speed")
    return speed


def _loop_elimination(
    rows: list[ConstraintRow], kinematics: Kinematics, checker: DescriptionChecker
) -> tuple[LoopElimination | None, list[str]]:
    """Rows of a model with closed loops, with the elimination that the rules for speed constraints
    lead to."""
    speeds = kinematics.mechanism.speeds
    complete: list[ConstraintRow] = []
    for row in rows:
        with checker.collect_problems():
            complete.append(with_partials(row, speeds))
    rounding = NumericRank(kinematics)
    fixed = rounding.constant_rows(complete)
    checker.problems += [
        contradiction_message(row) for row, is_satisfied in fixed.items() if not is_satisfied
    ]
    sorted_rows = sort_rows([row for row in complete if row not in fixed])
    checker.problems += sorted_rows.problems
    notes = [*map(ignored_note, fixed), *sorted_rows.notes]
    if not checker.problems:
        with checker.collect_problems():
            repeated = rounding.redundant_rows(sorted_rows.active_rows)
            independent = [row for row in sorted_rows.active_rows if row not in repeated]
            pivots = usual_pivots(
                independent, speeds, kinematics.work.copy(), rounding.significant_speeds
            )
            all_rows = tuple(
                row
                for row in complete
                if row in sorted_rows.active_rows or row in sorted_rows.unresolved_rows
            )
            if not all_rows:  # a second hinge on the axis of the first one closes nothing
                return None, notes
            return LoopElimination(
                all_rows,
                tuple(independent),
                tuple(pivots),
                tuple(sorted_rows.unresolved_rows.values()),
            ), notes
    return None, notes


def _solve_rows(
    rows: list[ConstraintRow], kinematics: Kinematics, checker: DescriptionChecker
) -> tuple[list[DependentSpeed], list[ConstraintRow], list[str]]:
    """The speeds that the rows determine, the rows that count, and notes on those that do not."""
    speeds = list(kinematics.mechanism.speeds)
    rounding = NumericRank(kinematics)
    removed: list[DependentSpeed] = []
    independent: list[ConstraintRow] = []
    notes: list[str] = []
    complete: list[ConstraintRow] = []
    for row in rows:
        with checker.collect_problems():
            complete.append(with_partials(row, speeds))
    fixed = rounding.constant_rows(complete)
    checker.problems += [
        contradiction_message(row) for row, is_satisfied in fixed.items() if not is_satisfied
    ]
    repeated = [
        *fixed,
        *rounding.redundant_rows([row for row in complete if row not in fixed], with_bias=True),
    ]
    for row in complete:
        if row in repeated:
            notes.append(ignored_note(row))
            continue
        with checker.collect_problems():
            new = solve_speed_constraint(
                row.v, removed, speeds, row.eliminate, row.name, rounding.significant_speeds
            )
            if new is None:
                notes.append(ignored_note(row))
                continue
            removed.append(new)
            independent.append(row)
            speeds.remove(new.speed)
    return removed, independent, notes


class LoadReader:
    """Reads forces, gravity and outputs."""

    def __init__(self, analysis: KinematicAnalysis, checker: DescriptionChecker) -> None:
        self.analysis = analysis
        self.checker = checker
        self.k = analysis.kinematics
        magnitudes = {f.name: partial(self._load_magnitude, f) for f in checker.description.forces}
        self.language = FormulaLanguage(checker.scope, self.k, analysis.points, magnitudes)
        self.known: dict[str, tuple[Load, ...]] = {}
        self.hiding: dict[
            str, LoadRecord
        ] = {}  # names of motions in magnitudes: a force whose magnitude holds it
        self.open: list[str] = []

    def _load_magnitude(self, record: LoadRecord) -> Expr:
        loads = self.load(record)
        return loads[0].magnitude if loads else ZERO

    def read_formulas(self) -> None:
        d = self.checker.description
        self.analysis.loads += [load for record in d.forces for load in self.load(record)]
        for name, formula in d.definitions.items():
            if self.language.is_cached(name, formula):
                continue
            with self.checker.collect_problems(f"definition '{name}'"):
                self.language.evaluate(to_syntax(formula))
        if d.gravity is not None:
            self.analysis.body_forces += self._read_record(d.gravity)
        self._read_outputs()
        self.analysis.wheels = tuple(x.build_wheel(self) for x in d.wheels)
        self._read_echo_values()
        self._sampled_calls()
        self._warn_of_hidden_names()

    def _warn_of_hidden_names(self) -> None:
        """Parameters, inputs and the like that a magnitude cannot mean, since their names are those
        of the motion."""
        scope = self.checker.scope
        other_names = {
            *scope.used,
            *scope.variables,
            *scope.states,
            *scope.definitions,
            *scope.description.parameters,
        }
        for name, record in self.hiding.items():
            if (
                name in other_names and name in MAGNITUDE_ARGUMENTS
            ):  # other names were chosen for this force by the user
                clash = (
                    f"'{name}' is the force's own motion in its magnitude, and something else "
                    f"in the model"
                )
                message = (
                    f"{clash}. Rename the other, or give dummies= three other names for the "
                    f"motion of this force."
                )
                self.checker.add_problem(record.message_label, message)

    def _read_echo_values(self) -> None:
        """Values that user functions give to the echo of a run."""
        d = self.checker.description
        for e in (e for e in d.externals if e.when == "echo"):
            location = f"external '{e.name}'"
            args = [
                self._collect_error(location, partial(self.language.to_scalar, a))
                for a in e.arguments
            ]
            if None in args:
                continue
            if any(s.kind == "acceleration" for a in args for s in free_symbols(a)):
                self.checker.add_problem(location, "its arguments contain an acceleration.")
            for i, name in enumerate(e.returns):
                record = d.parameters.get(name)
                value = Func(e.name, tuple(args), UserFunctionValue(e, i))
                self.analysis.echo.append(
                    OutputChannel(name, (record and record.label) or name, value)
                )

    def _sampled_calls(self) -> None:
        """Calls of user functions at the start of a run or at the end of steps, in order of
        entry."""
        order = {e: i for i, e in enumerate(self.checker.description.externals)}
        sampled_calls = [
            SampledCall(values, routine, args)
            for (routine, args), values in (self.language.kept or {}).items()
        ]
        self.analysis.kept = sorted(sampled_calls, key=lambda k: order[k.routine])
        updated = {s for k in sampled_calls if k.routine.when == "update" for s in k.symbols}
        for call in sampled_calls:
            location, argument_symbols = (
                f"external '{call.routine.name}'",
                [s for a in call.arguments for s in free_symbols(a)],
            )
            if any(s.kind == "acceleration" for s in argument_symbols):
                self.checker.add_problem(location, "its arguments contain an acceleration.")
            if call.routine.when == "init" and (
                late := [s.name for s in argument_symbols if s in updated]
            ):
                self.checker.add_problem(
                    location, f"it is called before {', '.join(late)} is known (when='init')."
                )

    def _collect_error(self, location: str, action: Callable[[], Any]) -> Any:
        value = None
        with self.checker.collect_problems(location):
            value = action()
        return value

    # ---- loads

    def load(self, record: LoadRecord) -> tuple[Load, ...]:
        key = record.name
        if key in self.open:
            raise ModelError(f"{record.message_label} depends on itself through fm()")
        if key not in self.known:
            self.open.append(key)
            self.known[key] = self._read_record(record)
            self.open.pop()
        return self.known[key]

    def _read_record(self, record: LoadRecord) -> tuple[Load, ...]:
        loads: tuple[Load, ...] | None = self._collect_error(
            record.message_label, partial(record.build_loads, self)
        )
        return loads or ()

    def scalar(self, value: Any) -> Expr:
        return self.language.to_scalar(value)

    def body(self, reference: Any) -> int:
        return self.language.body_index(reference)

    def point(self, reference: Any) -> BodyPoint:
        return self.language.point(reference)

    def direction(self, value: Any) -> Vector:
        return direction(self.language.vector(value))

    def relative_motion(self, p: BodyPoint, r: BodyPoint) -> tuple[Vector, Vector]:
        return self.k.position(p) - self.k.position(r), self.k.velocity(p) - self.k.velocity(r)

    def with_drawn_values(self, value: Expr) -> Expr:
        return self.k.with_drawn_values(value)

    def bind(self, value: Expr) -> Expr:
        return self.k.work.bind(value)

    def magnitude(self, record: LoadRecord, motion: Motion) -> Expr:
        language = self.language
        outer, language.dummies = (language.dummies, language.met_dummies), motion
        language.met_dummies = set()
        try:
            size = language.to_scalar(record.magnitude)
            self.hiding |= dict.fromkeys(language.met_dummies, record)
        finally:
            language.dummies, language.met_dummies = outer
        if accelerations := [s.name for s in free_symbols(size) if s.kind == "acceleration"]:
            loop = "a force that depends on accelerations is an algebraic loop"
            raise ModelError(
                f"its magnitude contains the acceleration {', '.join(accelerations)}: {loop}"
            )
        return self.k.work.bind(size)

    # ---- outputs

    def _read_outputs(self) -> None:
        d, a = self.checker.description, self.analysis
        output_names: set[str] = set()
        inputs = {v.name for v in d.variables}
        states = {
            normalized_name(s).lower(): s.name
            for s in (*a.mechanism.coordinates, *a.mechanism.speeds)
        }
        channels = {"t": "t"} | {
            normalized_name(v.name): v.name for v in d.variables
        }  # channels by name without blanks
        for record in d.outputs:
            location, key = f"output '{record.name}'", normalized_name(record.name)
            channel_owner = states.get(key.lower(), channels.get(key))
            if not key:
                self.checker.add_problem(location, "the name is empty; a channel needs one.")
            elif record.name in output_names:
                self.checker.add_problem(location, "the name is used twice.")
            elif channel_owner in inputs:
                self.checker.add_problem(
                    location,
                    f"'{channel_owner}' is an input, which is a channel already; rename the "
                    f"output.",
                )
            elif channel_owner is not None:
                blanks = (
                    " (blanks do not count)"
                    if "".join(channel_owner.split()) == key and channel_owner != record.name
                    else ""
                )
                self.checker.add_problem(
                    location, f"the channel '{channel_owner}' exists already{blanks}."
                )
            channels[key] = record.name
            output_names.add(record.name)
            value = self._collect_error(
                location, partial(self.language.to_scalar, record.expression)
            )
            if record.body is not None:
                self._collect_error(location, partial(self.language.body_index, record.body))
            if value is not None:
                label, body = record.label or record.name, referenced_name(record.body)
                a.outputs.append(
                    OutputChannel(record.name, label, value, record.units, body, record.generic)
                )
        for group in d.output_groups:
            for output in self._group_outputs(group):
                if output.name in inputs:
                    message = (
                        f"the input '{output.name}' has the name of one of them; rename the input."
                    )
                    self.checker.add_problem(f"outputs '{group}'", message)
                elif output.name not in output_names:
                    output_names.add(output.name)
                    a.outputs.append(output)

    def _group_outputs(self, group: str) -> list[OutputChannel]:
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
                    OutputChannel("kinetic", "kinetic energy", kinetic, "F*L"),
                    OutputChannel("potential", "potential energy of gravity", potential, "F*L"),
                    OutputChannel(
                        "energy",
                        "kinetic energy and that of gravity",
                        add(kinetic, potential),
                        "F*L",
                    ),
                ]
            case "momentum":
                linear, angular = linear_and_angular_momentum(self.k)
                rows = [
                    ("p", "linear momentum along", linear, "M*L/T"),
                    ("h", "angular momentum about the fixed origin,", angular, "M*L**2/T"),
                ]
                return [
                    OutputChannel(f"{letter}{i}", f"{label} [n{i}]", dot(e, v), units)
                    for letter, label, v, units in rows
                    for i, e in enumerate(self.k.frames[-1].axes, 1)
                ]
            case "residuals":
                return _residual_outputs(a.loops.rows if a.loops else ())
            case "reactions":
                a.reactions = lambda: ReactionOutputs(a, self.language).outputs()
                return a.reactions()
        group_names = choice_values(OutputGroup)
        message = (
            f"not available.{did_you_mean(group, group_names)} Known: {', '.join(group_names)}."
        )
        self.checker.add_problem(f"outputs '{group}'", message)
        return []


def _residual_outputs(rows: Sequence[ConstraintRow]) -> list[OutputChannel]:
    """How well loops are closed: residuals of positions, and of the speeds of all constraints. A
    tree has none."""
    closed = [(row.name, row.g) for row in rows if row.g is not None]
    return [
        *(
            OutputChannel(f"residual{i}", f"residual of {name}", g)
            for i, (name, g) in enumerate(closed, 1)
        ),
        *(
            OutputChannel(f"residual_rate{i}", f"residual of the rate of {row.name}", row.v)
            for i, row in enumerate(rows, 1)
        ),
    ]


def _force_output(load: Load, units: str) -> OutputChannel:
    return OutputChannel(
        load.name, load.label, load.magnitude, units, None, "Moment" if load.is_moment else "Force"
    )
