"""System: the description of a machine, the only thing that grows by calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.describe.handles import BodyHandle, ForceHandle, PointHandle
from bellcrank.errors import ModelError, counted, mapping
from bellcrank.expr import Expr, Symbol
from bellcrank.model.bodies import states_of
from bellcrank.model.formula import Formula, to_syntax
from bellcrank.model.records import (
    BodyRecord,
    ConstraintRecord,
    Description,
    External,
    ForceRecord,
    LoopRecord,
    OutputRecord,
    ParameterRecord,
    PointRecord,
    StateRecord,
    VariableRecord,
)
from bellcrank.model.scope import MACHINE, Scope
from bellcrank.units import unit_system

PLACES = ("derivatives", "update", "output", "init", "input", "echo")  # where external routines are called

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations
    from bellcrank.describe.contacts import Contact, Ground, Tyre
    from bellcrank.describe.linkage_joint import LinkageJoint
    from bellcrank.linkage import Linkage, Table
    from bellcrank.model.contact import RigidContact


class System:
    """A machine described by bodies, joints, forces, constraints and outputs.

    `units` names the unit system of all values given and shown (mks, in-lb, ft-lb, mm-tonne); `axes` the convention
    for the vertical: "SAE" (axis 3 down), "ISO 8855" (axis 3 up) or None (gravity along +[n3] unless given).
    Problems of the description are collected and told together by `equations`.
    """

    def __init__(self, name: str, units: str = "mks", axes: str | None = None) -> None:
        self.description = Description(_name(name, "system"), unit_system(units).name, axes)
        self.inertial = BodyHandle("n", [], [])
        if axes is not None and str(axes).lower().split()[:1] not in (["sae"], ["iso"]):
            self.description.problems.append(f"axes={axes!r} is not known; it is 'SAE', 'ISO 8855' or None.")

    @property
    def name(self) -> str:
        return self.description.name

    # ---- bodies and points

    def add_body(
        self,
        name: str,
        parent: BodyHandle | str | None = None,
        *,
        label: str | None = None,
        mass: Any = None,
        inertia: Any = None,
        translate: Any = (),
        rotate: Any = (),
        rotation_axis: Any = None,
        reference_axis: Any = None,
        joint_at: Any = (0, 0, 0),
        cm: Any = (0, 0, 0),
        coordinates_of: BodyHandle | str | None = None,
        small_angles: Any = False,
        small_translations: Any = False,
    ) -> BodyHandle:
        """Adds a body carried by `parent` (default: the ground) through 0 to 3 translations, then 0, 1 or 3 rotations.

        `translate`: directions in the parent; `rotate`: axes of the new body, or "euler-parameters"; an axis is 1, 2, 3
        or three components. `joint_at` is measured in the parent, `cm` in the body. Mass and inertia default to
        parameters named after the body.
        """
        record = BodyRecord(
            _name(name, "body"), parent, label, mass, inertia, translate, rotate, rotation_axis, reference_axis, joint_at, cm,
            coordinates_of, small_angles, small_translations,
        )  # fmt: skip
        self.description.bodies.append(record)
        q, u = states_of(record)
        return BodyHandle(name, q, u)

    def add_point_mass(self, name: str, parent: BodyHandle | str | None = None, **options: Any) -> BodyHandle:
        """Adds a body without rotation and without inertia; `translate` defaults to all three axes."""
        options.setdefault("translate", (1, 2, 3))
        return self.add_body(name, parent, inertia=0, **options)

    def add_point(
        self,
        name: str,
        body: BodyHandle | str | None = None,
        at: Any = (0, 0, 0),
        coordinates_of: BodyHandle | str | None = None,
        label: str | None = None,
    ) -> PointHandle:
        """Adds a point fixed in a body (default: the ground)."""
        self.description.points.append(PointRecord(_name(name, "point"), body, at, coordinates_of, label))
        return PointHandle(name)

    def add_linkage(
        self,
        name: str,
        linkage: Linkage | Table,
        *,
        base: BodyHandle | str | None = None,
        carrier: BodyHandle | str,
        exact: bool = True,
        rack: Any = None,
        at: Sequence[float] = (0.0, 0.0, 0.0),
        accuracy: float | None = None,
        extend: bool = False,
    ) -> LinkageJoint:
        """Carries a body by a linkage: its joint to `base` has the travel of the wheel centre as coordinate.

        `carrier` is a body added with parent=base and no freedom of its own; `at` (m) is where the origin of the hard points lies in the base, whose
        axes they share. exact=False looks poses up in a table made for `accuracy` (m, rad; 1e-8, with a second
        input 1e-6 over 60 mm of rack or 0.15 rad of roll to either side); a `Table` may be given instead of a Linkage. `rack`
        is a body that slides in the base along the linkage's rack axis, or the rack travel as a formula over time, inputs and parameters (twice
        differentiable); it may be shared by two linkages. Outside its range an exact joint, and a table unless `extend`, ends the run.
        """
        from bellcrank.describe.linkage_joint import add_linkage

        return add_linkage(self, name, linkage, base, carrier, exact, rack, at, accuracy, extend)

    # ---- forces

    def add_force(
        self,
        name: str,
        *,
        magnitude: Any,
        direction: Any,
        at: Any,
        against: Any = None,
        label: str | None = None,
        dummies: tuple[str, str, str] = ("x", "x0", "v"),
    ) -> ForceHandle:
        """A force on the body of point `at`, the opposite one on the body of `against`, both through the point `at`.

        In the magnitude, x = direction . (at - against), x0 its nominal value, v = direction . (their relative velocity).
        """
        along = self._vector(direction)
        name = _name(name, "force")
        self.description.forces.append(ForceRecord("force", name, magnitude, along, at, against, label, dummies))
        return ForceHandle(name)

    def add_strut(
        self,
        name: str,
        *,
        magnitude: Any,
        between: Sequence[Any],
        label: str | None = None,
        dummies: tuple[str, str, str] = ("x", "x0", "v"),
    ) -> ForceHandle:
        """A force along the line between two points; positive pushes them apart. x is their distance, v its rate."""
        name = _name(name, "strut")
        if not isinstance(between, tuple | list) or len(between) != 2:
            self.description.problems.append(f"strut '{name}': between={between!r} must be two points.")
            between = ("o", "o")
        first, second = between
        self.description.forces.append(ForceRecord("strut", name, magnitude, None, first, second, label, dummies))
        return ForceHandle(name)

    def add_moment(
        self, name: str, *, magnitude: Any, direction: Any, on: Any, against: Any = None, label: str | None = None
    ) -> ForceHandle:
        """A moment on a body, the opposite one on `against` (default: the ground)."""
        along = self._vector(direction)
        name = _name(name, "moment")
        self.description.forces.append(ForceRecord("moment", name, magnitude, along, on, against, label))
        return ForceHandle(name)

    def add_gravity(self, direction: Any = None, g: Any = "g") -> None:
        """Uniform gravity along `direction` (default: down, by the axes convention). The parameter g has the standard value."""
        if self.description.gravity is not None:
            self.description.problems.append("gravity is given twice: call add_gravity() once.")
        self.description.gravity = (self._vector(direction), g)
        if isinstance(g, str) and g.isidentifier() and self._parameter(g).value is None:
            self._parameter(g).value = unit_system(self.description.units).gees
            self._parameter(g).units = self._parameter(g).units or f"{unit_system(self.description.units).length}/s2"
            self._parameter(g).label = self._parameter(g).label or "acceleration of gravity"

    def add_contact(
        self,
        name: str,
        *,
        at: Any,
        rim: Any,
        terrain: Ground,
        tyre: Tyre | None = None,
        restitution: Sequence[float] = (0.0, 0.0),
        rolling_resistance: Any = 0,
        drive: Any = 0,
        wheel: BodyHandle | str | None = None,
        below: str = "raise",
    ) -> Contact | RigidContact:
        """Sets a wheel of radius `rim` about the point `at` on a terrain of `bc.terrain`.

        `tyre` says how it gives way. While it touches the ground, `rolling_resistance` (force times time per length) brakes it in
        proportion to its speed along the ground and `drive` (a force) pushes it forward. A tyre with slip (`bc.Slip`) acts on `wheel`, the body
        that turns about its second axis: rolling resistance is then a moment on it, and it is driven and braked by moments.
        Without a tyre the wheel is rigid: at an impact its normal speed is reversed and multiplied by the first number of `restitution`, its slip
        multiplied by the second; then it rolls. `wheel` is the body that turns when it rolls without slipping; without it the wheel's own
        turning is left out. A wheel that starts below ground is moved up with a warning, or an error (`below="error"`).
        """
        from bellcrank.describe.contacts import add_contact
        from bellcrank.describe.rigid_contact import add_rigid_contact

        if tyre is None:
            return add_rigid_contact(
                self, _name(name, "contact"), at, rim, terrain, restitution, rolling_resistance, wheel, below
            )
        return add_contact(self, _name(name, "contact"), at, rim, terrain, rolling_resistance, tyre, drive, wheel)

    # ---- constraints

    def add_constraint(self, expression: Any, eliminate: Any = None, label: str | None = None) -> None:
        """Demands that the expression be zero. It must be linear in the speeds; `eliminate` names the speed to remove."""
        self.description.constraints.append(ConstraintRecord(expression, eliminate, label))

    def close_loop(
        self,
        p: Any,
        r: Any,
        directions: Sequence[Any] = (),
        *,
        joint: str | None = None,
        axis: Any = None,
        length: Any = None,
        label: str | None = None,
    ) -> None:
        """Closes a kinematic loop between two points of different bodies.

        Either `directions`: the points do not move apart along these vectors; or `joint`: pin, ball, slider, cylindrical,
        universal, planar (these but ball with `axis`, a vector fixed in p's body) or rod (a constant distance, `length` or the
        nominal one).
        """
        along = tuple(self._vector(d) for d in directions)
        self.description.loops.append(LoopRecord(p, r, along, joint, self._vector(axis), length, label))

    def _vector(self, given: Any) -> Any:
        """A vector expression as it stands; three components stand for one along the inertial axes."""
        if isinstance(given, tuple | list | np.ndarray) and len(given) == 3:
            parts = [Formula(to_syntax(c)) * self.inertial[i] for i, c in enumerate(given, 1)]
            return parts[0] + parts[1] + parts[2]
        return given

    # ---- parameters, variables, definitions

    def _parameter(self, name: str) -> ParameterRecord:
        return self.description.parameters.setdefault(_name(name, "parameter").lower(), ParameterRecord(name))

    def add_parameter(
        self, name: str, value: float | None = None, units: str | None = None, label: str | None = None
    ) -> Expr:
        """Declares a parameter (default value in user units)."""
        record = self._parameter(name)
        if record.name != name:
            self.description.problems.append(
                f"parameter '{name}': the name differs from '{record.name}' by case alone."
            )
        record.value = record.value if value is None else value
        record.units = units or record.units
        record.label = label or record.label
        return Symbol(name, "parameter")

    def parameter(self, name: str) -> Expr:
        """The parameter of that name as an expression."""
        return Symbol(self._parameter(name).name, "parameter")

    def set_defaults(self, values: Mapping[str, float] | None = None, **more: float) -> None:
        """Default values of parameters, in user units."""
        for name, value in {**mapping(values, "set_defaults"), **more}.items():
            self._parameter(name).value = value

    def set_units(self, values: Mapping[str, str] | None = None, **more: str) -> None:
        """Units of parameters: dimension words ("F/L") or real units ("N/mm")."""
        for name, text in {**mapping(values, "set_units"), **more}.items():
            self._parameter(name).units = text

    def set_labels(self, values: Mapping[str, str] | None = None, **more: str) -> None:
        """What parameters mean, in words."""
        for name, text in {**mapping(values, "set_labels"), **more}.items():
            self._parameter(name).label = text

    def require_positive(self, *names: str) -> None:
        """Parameters that make no sense unless they are positive: a run with another value is refused."""
        for name in names:
            self._parameter(name).positive = True

    def expr(self, text: str) -> Expr | Formula:
        """The expression that a text stands for; with vectors or velocities in it, a formula that is read later."""
        scope = Scope(self.description)
        for record in self.description.bodies:
            scope.by_body[record.name.lower()] = states_of(record)
        syntax = to_syntax(text)
        if _needs_machine(syntax):
            return Formula(syntax)
        return scope.scalar(syntax)

    def define(self, name: str, expression: Any) -> None:
        """Names a scalar for later text."""
        from bellcrank.expr.table import Table

        _name(name, "definition")
        if isinstance(expression, Table):
            self.description.tables[name] = expression.named(name)
        else:
            self.description.definitions[name] = expression

    def add_variable(self, name: str, units: str | None = None, label: str | None = None) -> Expr:
        """Declares an input that is given at run time."""
        self.description.variables.append(VariableRecord(_name(name, "variable"), units, label))
        return Symbol(name, "variable")

    def add_state(self, name: str, rate: Any, units: str | None = None, label: str | None = None) -> Expr:
        """Declares a state of your own, such as a lag or the deflection of a bristle; `rate` is its time derivative.

        It is zero at the start unless `initial` says otherwise, and is integrated and written like a coordinate. The rate may contain
        everything but accelerations and fm().
        """
        self.description.states.append(StateRecord(_name(name, "state"), rate, units, label))
        return Symbol(name, "coordinate")

    def add_external(
        self,
        name: str,
        *,
        arguments: Sequence[Any] = (),
        returns: Sequence[str] | str | int | None = None,
        memory: int | None = None,
        when: str = "derivatives",
        python: Callable[..., Any] | None = None,
        c: str | None = None,
        fortran: str | None = None,
    ) -> None:
        """Declares an external routine.

        Without `returns` it is a function in formulas, called with as many arguments as named here. With `returns`, these names are
        variables that the routine sets, and `arguments` are the expressions it is called with. With `memory`, the routine gets an
        array of that length as last argument, which keeps its values between steps.

        `when` it is called: with "derivatives"; once per step ("update"), once per run ("init"), or for "output" alone; at "input",
        when the parameters have been read, of which it gives further ones; or when the "echo" is written, to which it gives values.
        """
        if when not in PLACES:
            known = ", ".join(f"'{x}'" for x in PLACES)
            self.description.problems.append(f"external '{name}': when={when!r} is not known; it is one of {known}.")
        _name(name, "external")
        if memory is not None and (not isinstance(memory, int) or isinstance(memory, bool) or memory < 1):
            self.description.problems.append(
                f"external '{name}': memory={memory!r} must be a whole number of at least 1, or None."
            )
        routine: Any = python
        if routine is not None and not callable(routine):
            self.description.problems.append(f"external '{name}': python={python!r} cannot be called.")
        if isinstance(arguments, str):
            self.description.problems.append(
                f"external '{name}': arguments={arguments!r} must be a tuple, such as ({arguments!r},)."
            )
        if isinstance(returns, int) and returns != 1:
            self.description.problems.append(f"external '{name}': returns={returns!r} must be the names it sets.")
        names = (
            (returns,)
            if isinstance(returns, str)
            else ()
            if returns is None or isinstance(returns, int)
            else tuple(returns)
        )
        self.description.externals.append(External(name, tuple(arguments), names, memory, when, python, c, fortran))

    # ---- outputs, smallness, run

    def add_output(
        self,
        expression: Any,
        name: str,
        label: str | None = None,
        units: str | None = None,
        body: Any = None,
        generic: str | None = None,
    ) -> None:
        """Adds an output channel. Accelerations may occur."""
        self.description.outputs.append(OutputRecord(expression, _name(name, "output"), label, units, body, generic))

    def add_outputs(self, *groups: str) -> None:
        """Adds groups of channels: coordinates, speeds, forces, moments, energy, momentum, residuals."""
        self.description.output_groups.extend(_name(g, "group of outputs") for g in groups)

    def small(self, *what: Any) -> None:
        """Declares coordinates, speeds, variables or parameters small, of first order."""
        self.description.small.extend(what)

    def large(self, *what: Any) -> None:
        """Declares parameters large: of order -1, so that large times small is not small."""
        self.description.large.extend(what)

    @property
    def small_threshold(self) -> int:
        """A term is dropped when its order is at least the leading order plus this (default 2)."""
        return self.description.small_threshold

    @small_threshold.setter
    def small_threshold(self, value: int) -> None:
        if not isinstance(value, int) or value < 1:
            raise ModelError(f"small_threshold={value!r} must be a whole number of at least 1", self.name)
        self.description.small_threshold = value

    def set_run(
        self,
        *,
        t_end: float | None = None,
        step: float | None = None,
        method: str | None = None,
        output_every: int | None = None,
        initial: Mapping[Any, float] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        """What a run uses unless told otherwise. Times in s, initial values and inputs in user units."""
        run = self.description.run
        for key, value in {"t_end": t_end, "step": step, "method": method, "output_every": output_every}.items():
            if value is not None:
                setattr(run, key, value)
        run.initial.update(mapping(initial, "initial"))
        run.inputs.update(mapping(inputs, "inputs"))

    # ---- results

    def equations(
        self,
        solve: str = "auto",
        constraints: str = "auto",
        small: bool = True,
        optimise: str = "default",
        without: Collection[str] = (),
    ) -> Equations:
        """Derives the equations of motion.

        `solve`: auto (fewest operations), explicit (symbolic factorisation), implicit (mass matrix solved numerically) or order-n.
        `constraints="multipliers"` keeps all speeds as states, also those that speed constraints would remove: M u' = f + J' lambda with
        J u' = gamma (`eom.mass_matrix`, `forces`, `constraint_matrix`, `constraint_rates`), for the methods of `simulate(dae=...)`.
        `small=False` derives the same description without small orders. `optimise`: "none", "default" or "thorough".
        `without` leaves out passes by name (fingerprints, regroup, spin, shift, reference, composite, articulated, extract), to
        see what each is worth.
        """
        from bellcrank.api.equations import Equations
        from bellcrank.derive.pipeline import derive

        if constraints not in ("auto", "multipliers"):
            raise ModelError(f"constraints={constraints!r} is not known; it is 'auto' or 'multipliers'", self.name)
        derived = derive(self.description, solve, small, optimise, without, constraints == "multipliers")
        return Equations(derived)

    def __repr__(self) -> str:
        d = self.description
        parts = (
            counted(len(d.bodies), "body", "bodies"),
            counted(len(d.forces), "force"),
            counted(len(d.constraints) + len(d.loops), "constraint"),
        )
        return f"System({d.name!r}: {', '.join(parts)})"


def _name(given: Any, what: str) -> str:
    """A name, which is text."""
    if not isinstance(given, str):
        raise ModelError(f"the name of a {what} is {given!r}; it must be text")
    return given


def _needs_machine(syntax: Any) -> bool:
    from bellcrank.expr.text import postorder_syntax

    return any(n.op == "unit" or (n.op == "call" and n.args[0].lower() in MACHINE) for n in postorder_syntax(syntax))
