"""Builder: what a user's calls become.

Each call writes a record of the description, or the message that says what is wrong with it.

In:  names, formulas as text or objects, numbers, vectors. Out: a `Description`, which `model`
checks and freezes, and handles. Nothing is resolved here, so the order of calls does not matter.
Wheels and linkages, which are several records each, stand in modules of their own, over the
Builder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from bellcrank.choices import (
    CallTime,
    Crossing,
    LoopJointKind,
    Method,
    OutputGroup,
    Units,
    VerticalAxis,
    choice_values,
)
from bellcrank.core.argument_checks import ValidatedCalls
from bellcrank.core.errors import ModelError, pluralize, require_mapping
from bellcrank.core.name_lookup import normalized_name
from bellcrank.core.numeric.real_numbers import display_text, to_float, to_interval
from bellcrank.core.signals import copy_input
from bellcrank.core.units import parse_quantity, unit_system
from bellcrank.model import records
from bellcrank.model.bodies import joint_states
from bellcrank.model.describe.argument_types import (
    AxesLike,
    AxisLike,
    BodyLike,
    InertiaLike,
    PointLike,
    ScalarLike,
    TripleLike,
    VectorLike,
)
from bellcrank.model.describe.event import event
from bellcrank.model.describe.handles import BodyHandle, ForceHandle, PointHandle
from bellcrank.model.formula import Formula, to_syntax
from bellcrank.model.guess import with_guess
from bellcrank.model.joints.joint import JointRecord
from bellcrank.model.loads.cable import Cable
from bellcrank.model.loads.force import Force
from bellcrank.model.loads.gravity import Gravity
from bellcrank.model.loads.load import MAGNITUDE_ARGUMENTS, LoadRecord
from bellcrank.model.loads.moment import Moment
from bellcrank.model.loads.strut import Strut
from bellcrank.model.owner import OwnName
from bellcrank.model.scope import MECHANICAL, FormulaScope
from bellcrank.symbolic.expr import Expr, Symbol
from bellcrank.symbolic.expr.formula_parser import AXES, SyntaxNode, postorder_syntax
from bellcrank.symbolic.expr.table import Table

PLACES = choice_values(CallTime)  # where user functions are called
MACHINE = MECHANICAL.keys() - {"q", "u"}  # functions whose value needs the whole system


class Builder(ValidatedCalls):
    """A description that grows by calls; problems are collected, to be reported together."""

    def __init__(
        self, name: str, *, units: Units = "mks", axes: VerticalAxis | None = None
    ) -> None:
        self.description = records.Description(
            check_name(name, "system"), unit_system(units).name, axes
        )
        self.inertial = BodyHandle("n", [], [])
        if axes is not None and str(axes).lower().split()[:1] not in (["sae"], ["iso"]):
            raise ModelError(f"axes={axes!r} is not known; it is 'SAE', 'ISO 8855' or None", name)

    def _add_problem(self, sentence: str) -> None:
        self.description.problems.append(sentence)

    @property
    def name(self) -> str:
        return self.description.name

    @property
    def owner(self) -> tuple[int, str]:
        """What handles of this system know of it."""
        return self.description.number, self.description.name

    # ---- bodies and points

    def add_body(
        self,
        name: str,
        parent: BodyLike | None = None,
        *,
        label: str | None = None,
        mass: ScalarLike | None = None,
        inertia: InertiaLike | None = None,
        translate: AxesLike = (),
        rotate: AxesLike = (),
        rotation_axis: AxisLike | None = None,
        reference_axis: AxisLike | None = None,
        joint_at: TripleLike = (0, 0, 0),
        cm: TripleLike = (0, 0, 0),
        coordinates_of: BodyLike | None = None,
        small_angles: bool | Sequence[bool] = False,
        small_translations: bool | Sequence[bool] = False,
        joint: JointRecord | None = None,
        orientation: Any = None,
        armature: ScalarLike = 0,
    ) -> BodyHandle:
        """Add a body, carried by its parent through up to three translations, followed by up to
        three rotations.

        Parameters
        ----------
        name : str
            Name of the body in formulas and results.
        parent : BodyLike, optional
            The body that carries it. Default: the ground.
        label : str, optional
            Description shown in listings and plots. Default: the name.
        mass : ScalarLike, optional
            Mass, in the mass unit of the system. Default: a parameter named after the body.
        inertia : InertiaLike, optional
            Moments of inertia about the center of mass, in the axes of the body: 0, three moments,
            or a 3 x 3 matrix. Default: parameters named after the body.
        translate : AxesLike, default ()
            Directions of translation in the parent, in order: "x", "y", "z" (or 1, 2, 3) or three
            components.
        rotate : AxesLike, default ()
            Axes of rotation of the new body, in order, or "euler-parameters".
        rotation_axis : AxisLike, optional
            Axis of the rotation in the parent, if it differs from that of the body.
        reference_axis : AxisLike, optional
            Direction in the parent from which the rotation is measured.
        joint_at : TripleLike, default (0, 0, 0)
            Position of the joint in the parent, in its axes (length).
        cm : TripleLike, default (0, 0, 0)
            Position of the center of mass in the body, in its axes (length).
        coordinates_of : BodyLike, optional
            The body in whose axes `joint_at` and `cm` are given.
        small_angles : bool or sequence of bool, default False
            Are the rotations small, of first order?
        small_translations : bool or sequence of bool, default False
            Are the translations small, of first order?
        joint : JointRecord, optional
            A joint of another kind, such as `bc.Screw`, in place of translations and rotations.
        orientation : matrix or sequence of rotations, optional
            Orientation of the body in its parent with all coordinates zero: a rotation matrix
            (columns: axes of the body), or rotations (axis, angle in rad or as "90 deg") in order.
        armature : ScalarLike, default 0
            Inertia of a motor's rotor times the square of its gear ratio. It resists the one speed
            of the joint.

        Returns
        -------
        BodyHandle
            The body: `body.x`, `body.y`, `body.z` are its unit vectors, `body.q[1]` and `body.u[1]`
            its first coordinate and speed, `body.cm` its center of mass.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("pendulum")
        >>> rod = s.add_body("rod", rotate="y", mass=1, inertia=(0.1, 0.1, 0.1), cm=(0, 0, 0.5))
        >>> rod.q[1]
        q(rod)
        """
        record = records.BodyRecord(
            check_name(name, "body"),
            parent,
            label,
            mass,
            inertia,
            translate,
            rotate,
            rotation_axis,
            reference_axis,
            joint_at,
            cm,
            coordinates_of,
            small_angles,
            small_translations,
            joint,
            orientation,
            armature,
        )
        self.description.bodies.append(record)
        q, u = joint_states(record)
        return BodyHandle(name, q, u, self.owner)

    def add_point_mass(
        self,
        name: str,
        parent: BodyLike | None = None,
        *,
        label: str | None = None,
        mass: ScalarLike | None = None,
        translate: AxesLike = (1, 2, 3),
        joint_at: TripleLike = (0, 0, 0),
        coordinates_of: BodyLike | None = None,
        small_translations: bool | Sequence[bool] = False,
    ) -> BodyHandle:
        """Add a body without rotation and without moments of inertia.

        Parameters
        ----------
        name : str
            Name of the body in formulas and results.
        parent : BodyLike, optional
            The body that carries it. Default: the ground.
        label : str, optional
            Description shown in listings and plots. Default: the name.
        mass : ScalarLike, optional
            Mass, in the mass unit of the system. Default: a parameter named after the body.
        translate : AxesLike, default (1, 2, 3)
            Directions of translation in the parent, in order: "x", "y", "z" (or 1, 2, 3) or three
            components.
        joint_at : TripleLike, default (0, 0, 0)
            Position in the parent with all coordinates zero, in its axes (length).
        coordinates_of : BodyLike, optional
            The body in whose axes `joint_at` is given. Default: the parent.
        small_translations : bool or sequence of bool, default False
            Are the translations small, of first order?

        Returns
        -------
        BodyHandle
            The body, as of `add_body`.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("projectile")
        >>> ball = s.add_point_mass("ball", translate=("x", "z"), mass=0.5)
        >>> s.equations().coordinates
        [q(ball, 1), q(ball, 2)]
        """
        return self.add_body(
            name,
            parent,
            label=label,
            mass=mass,
            inertia=0,
            translate=translate,
            joint_at=joint_at,
            coordinates_of=coordinates_of,
            small_translations=small_translations,
        )

    def add_point(
        self,
        name: str,
        body: BodyLike | None = None,
        at: TripleLike = (0, 0, 0),
        *,
        coordinates_of: BodyLike | None = None,
        label: str | None = None,
    ) -> PointHandle:
        """Add a point that is fixed in a body.

        Parameters
        ----------
        name : str
            Name of the point in formulas.
        body : BodyLike, optional
            The body. Default: the ground.
        at : TripleLike, default (0, 0, 0)
            Position in the body, in its axes (length).
        coordinates_of : BodyLike, optional
            The body in whose axes `at` is given. Default: that of the point.
        label : str, optional
            Description. Default: the name.

        Returns
        -------
        PointHandle
            The point, for forces, joints and formulas.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("pendulum")
        >>> rod = s.add_body("rod", rotate="y")
        >>> s.add_point("tip", rod, (0, 0, "l")).name
        'tip'
        """
        self.description.points.append(
            records.PointRecord(check_name(name, "point"), body, at, coordinates_of, label)
        )
        return PointHandle(OwnName(name, self.owner))

    # ---- forces

    def add_force(
        self,
        name: str,
        *,
        magnitude: ScalarLike,
        direction: VectorLike,
        at: PointLike,
        against: PointLike | None = None,
        label: str | None = None,
        dummies: tuple[str, str, str] = ("x", "x0", "v"),
    ) -> ForceHandle:
        """Add a force that acts on one body, and its opposite on another, both at the point `at`.

        Parameters
        ----------
        name : str
            Name of the force; `bc.fm(name)` is its magnitude.
        magnitude : ScalarLike
            Magnitude (force). The formula may contain `dummies`: x = direction . (at - against),
            its value x0 in the reference configuration, and v = direction . (relative velocity).
        direction : VectorLike
            Direction of the force on the body of `at`.
        at : PointLike
            The point where it acts.
        against : PointLike, optional
            A point of the body that takes the opposite force. Default: the fixed origin.
        label : str, optional
            Description. Default: the name.
        dummies : tuple of str, default ("x", "x0", "v")
            Names of distance, distance in the reference configuration and speed in the magnitude.

        Returns
        -------
        ForceHandle
            The force, for `bc.fm`.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> spring = s.add_force(
        ...     "spring", magnitude="-k*x - c*v", direction=s.inertial.x, at=mass.origin
        ... )
        >>> spring.name
        'spring'
        """
        return self._add_load(
            Force(name, magnitude, self._read_vector(direction), at, against, label, dummies)
        )

    def _add_load(self, record: LoadRecord) -> ForceHandle:
        record.name = check_name(record.name, record.kind)
        if len(record.dummies) != 3 or not all(isinstance(x, str) for x in record.dummies):
            dummies_text = f"{record.kind} '{record.name}': dummies={record.dummies!r:.60}"
            self._add_problem(f"{dummies_text} must be three names, as ('x', 'x0', 'v').")
            record.dummies = MAGNITUDE_ARGUMENTS
        self.description.forces.append(record)
        return ForceHandle(OwnName(record.name, self.owner))

    def add_strut(
        self,
        name: str,
        *,
        magnitude: ScalarLike,
        between: Sequence[PointLike],
        label: str | None = None,
        dummies: tuple[str, str, str] = ("x", "x0", "v"),
    ) -> ForceHandle:
        """Add a force along the line between two points.

        Parameters
        ----------
        name : str
            Name of the strut.
        magnitude : ScalarLike
            Magnitude (force); positive pushes the points apart. The formula may contain `dummies`:
            the distance x of the points, its value x0 in the reference configuration, and its time
            derivative v.
        between : sequence of two PointLike
            The two points.
        label : str, optional
            Description. Default: the name.
        dummies : tuple of str, default ("x", "x0", "v")
            Names of distance, distance in the reference configuration and speed in the magnitude.

        Returns
        -------
        ForceHandle
            The force, for `bc.fm`.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", joint_at=(1, 0, 0), mass=2, inertia=0)
        >>> s.add_strut("spring", magnitude="-k*(x - x0)", between=("o", mass.origin)).name
        'spring'
        """
        if not isinstance(between, tuple | list) or len(between) != 2:
            self._add_problem(f"strut '{name}': between={between!r} must be two points.")
            between = ("o", "o")
        return self._add_load(Strut(name, magnitude, None, between[0], between[1], label, dummies))

    def add_cable(
        self,
        name: str,
        *,
        tension: Any,
        through: Sequence[Any],
        label: str | None = None,
        dummies: tuple[str, str, str] = ("x", "x0", "v"),
    ) -> ForceHandle:
        """Add a cable, belt or tendon through two or more points, on which it slides without
        friction.

        Parameters
        ----------
        name : str
            Name of the cable.
        tension : ScalarLike
            Tension (force); positive pulls the points together. The formula may contain `dummies`:
            the length x of the whole cable, its value x0 in the reference configuration, and its
            time derivative v.
        through : sequence of PointLike
            The points in order, two or more.
        label : str, optional
            Description. Default: the name.
        dummies : tuple of str, default ("x", "x0", "v")
            Names of length, length in the reference configuration and speed in the tension.

        Returns
        -------
        ForceHandle
            The cable, for `bc.fm`.

        Examples
        --------
        A cable that may go slack.

        >>> import bellcrank as bc
        >>> s = bc.System("hoist")
        >>> load = s.add_point_mass("load", translate="z", joint_at=(0, 0, 2), mass=5)
        >>> s.add_cable("rope", tension="max(0, k*(x - x0) + c*v)", through=("o", load.origin)).name
        'rope'
        """
        if not isinstance(through, tuple | list) or len(through) < 2:
            self._add_problem(f"cable '{name}': through={through!r} must be two or more points.")
            through = ("o", "o")
        return self._add_load(
            Cable(name, tension, label=label, dummies=dummies, through=tuple(through))
        )

    def add_moment(
        self,
        name: str,
        *,
        magnitude: ScalarLike,
        direction: VectorLike,
        on: BodyLike,
        against: BodyLike | None = None,
        label: str | None = None,
    ) -> ForceHandle:
        """Add a moment that acts on one body, and its opposite on another.

        Parameters
        ----------
        name : str
            Name of the moment.
        magnitude : ScalarLike
            Magnitude (force times length).
        direction : VectorLike
            Direction of the moment on the body `on`.
        on : BodyLike
            The body on which it acts.
        against : BodyLike, optional
            The body that takes the opposite moment. Default: the ground.
        label : str, optional
            Description. Default: the name.

        Returns
        -------
        ForceHandle
            The moment, for `bc.fm`.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("pendulum")
        >>> rod = s.add_body("rod", rotate="y")
        >>> s.add_moment("friction", magnitude="-c*u(rod)", direction=rod.y, on=rod).name
        'friction'
        """
        return self._add_load(
            Moment(name, magnitude, self._read_vector(direction), on, against, label)
        )

    def add_joint_torque(
        self,
        body: BodyLike,
        magnitude: ScalarLike,
        *,
        name: str | None = None,
        label: str | None = None,
    ) -> ForceHandle:
        """Add the torque of a motor, spring or damper in the joint of a body.

        It acts on the body along the axis of its joint, and its opposite on the parent.

        Parameters
        ----------
        body : BodyLike
            A body that rotates about one axis.
        magnitude : ScalarLike
            Torque (force times length), positive in the direction of the angle.
        name : str, optional
            Name of the torque. Default: `torque_` and the name of the body.
        label : str, optional
            Description. Default: the name.

        Returns
        -------
        ForceHandle
            The torque, for `bc.fm`.

        Raises
        ------
        ModelError
            If the body does not rotate about one axis.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("arm")
        >>> upper = s.add_body("upper", rotate="z", cm=(1, 0, 0), mass=1, inertia=0)
        >>> lower = s.add_body("lower", upper, joint_at=(1, 0, 0), rotate="z", mass=1, inertia=0.1)
        >>> s.add_joint_torque(lower, "T").name
        'torque_lower'
        """
        key = str(getattr(body, "name", body)).lower()
        record = next((r for r in self.description.bodies if r.name.lower() == key), None)
        if record is None:
            known = ", ".join(r.name for r in self.description.bodies) or "none"
            raise ModelError(
                f"add_joint_torque: no body has the name '{body}' yet. Bodies: {known}.", self.name
            )
        axis = _single_joint_axis(record)
        if axis is None:
            raise ModelError(
                f"add_joint_torque: body '{record.name}' does not rotate about one axis; use "
                f"add_moment(..., on='{record.name}', against=...) with a direction",
                self.name,
            )
        torque = name or f"torque_{record.name}"
        return self._add_load(Moment(torque, magnitude, axis, body, record.parent, label))

    def add_gravity(self, direction: VectorLike | None = None, *, g: ScalarLike = "g") -> None:
        """Add uniform gravity.

        Parameters
        ----------
        direction : VectorLike, optional
            Direction in which gravity acts. Default: down by the axes of the system, or axis 3.
        g : ScalarLike, default "g"
            Acceleration of gravity. The parameter "g" has the standard value of the unit system.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("ball")
        >>> ball = s.add_point_mass("ball", translate="z", mass=1)
        >>> s.add_gravity((0, 0, -1), g=9.81)
        """
        if self.description.gravity is not None:
            self._add_problem("gravity is given twice: call add_gravity() once.")
        downward = (
            -self.inertial[3]
            if str(self.description.axes).lower().startswith("iso")
            else self.inertial[3]
        )
        along = downward if direction is None else self._read_vector(direction)
        self.description.gravity = Gravity("gravity", g, along, label="acceleration of gravity")
        if (
            isinstance(g, str)
            and g.isidentifier()
            and (record := self._parameter_record(g)).value is None
        ):
            units = unit_system(self.description.units)
            record.value, record.units = units.gees, record.units or f"{units.length}/s2"
            record.label = record.label or "acceleration of gravity"

    # ---- constraints

    def add_constraint(
        self,
        expression: ScalarLike,
        *,
        eliminate: ScalarLike | None = None,
        label: str | None = None,
    ) -> None:
        """Add a constraint: an expression that is zero at all times.

        Parameters
        ----------
        expression : ScalarLike
            The expression, linear in the speeds.
        eliminate : ScalarLike, optional
            The speed that the constraint determines. Default: chosen by Bellcrank.
        label : str, optional
            Description for messages.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("wheel")
        >>> wheel = s.add_body("wheel", translate="x", rotate="y", mass=1, inertia=(1, 1, 1))
        >>> s.add_constraint(wheel.u[1] - 0.3 * wheel.u[2], eliminate=wheel.u[1])
        >>> len(s.equations().speeds)
        1
        """
        self.description.constraints.append(records.ConstraintRecord(expression, eliminate, label))

    def add_loop_joint(
        self,
        name: str,
        kind: LoopJointKind | None = None,
        *,
        between: Sequence[PointLike],
        axis: VectorLike | None = None,
        length: ScalarLike | None = None,
        directions: Sequence[VectorLike] = (),
        label: str | None = None,
    ) -> None:
        """Close a kinematic loop by a joint between two points of different bodies.

        Parameters
        ----------
        name : str
            Name of the joint in messages, reactions and residuals.
        kind : str, optional
            "revolute", "prismatic", "cylindrical", "universal" or "planar" (with `axis`),
            "spherical", or "distance". Without a kind, the points do not move apart along
            `directions`.
        between : sequence of two PointLike
            The two points.
        axis : VectorLike, optional
            Axis of the joint, or normal of a planar one: a vector fixed in the body of the first
            point.
        length : ScalarLike, optional
            Distance of the points of a "distance" joint (length). Default: that in the reference
            configuration.
        directions : sequence of VectorLike, default ()
            Directions along which the points coincide, if there is no `kind`.
        label : str, optional
            Description. Default: the name.

        Examples
        --------
        A pendulum in Cartesian coordinates: one of two speeds is independent.

        >>> import bellcrank as bc
        >>> s = bc.System("pendulum")
        >>> ball = s.add_point_mass("ball", translate=("x", "z"), joint_at=(0, 0, -1), mass=2)
        >>> s.add_loop_joint("rod", "distance", between=("o", ball.origin))
        >>> eom = s.equations()
        >>> len(eom.speeds), len(eom.independent_speeds)
        (2, 1)
        """
        if isinstance(between, str) or not isinstance(between, Sequence) or len(between) != 2:
            self._add_problem(f"loop joint '{name}': between={between!r:.60} must be two points.")
            return
        along, joint_label = (
            tuple(self._read_vector(d) for d in directions),
            label or check_name(name, "loop joint"),
        )
        p, r = between
        self.description.loops.append(
            records.LoopRecord(p, r, along, kind, self._read_vector(axis), length, joint_label)
        )

    def _read_vector(self, value: Any) -> Any:
        """A vector expression as it stands; three components, or "x", "y", "z", are along the
        inertial axes."""
        if isinstance(value, str) and value.strip() in AXES:
            return self.inertial[value.strip()]
        if (
            isinstance(value, tuple | list | np.ndarray)
            and getattr(value, "ndim", 1) == 1
            and len(value) == 3
        ):
            components = [Formula(to_syntax(c)) * self.inertial[i] for i, c in enumerate(value, 1)]
            return components[0] + components[1] + components[2]
        return value

    # ---- parameters, variables, definitions

    def _parameter_record(self, name: str) -> records.ParameterRecord:
        return self.description.parameters.setdefault(
            check_name(name, "parameter"), records.ParameterRecord(name)
        )

    def add_parameter(
        self,
        name: str,
        value: float | str | None = None,
        *,
        units: str | None = None,
        label: str | None = None,
        range: tuple[float, float] | None = None,
    ) -> Expr:
        """Declare a parameter.

        Parameters
        ----------
        name : str
            Name of the parameter in formulas.
        value : float or str, optional
            Default value: a number in user units, or text with a unit ("10 mm").
        units : str, optional
            Unit: dimension words ("F/L") or a unit ("N/mm"). Default: found from the formulas.
        label : str, optional
            Description. Default: the name.
        range : tuple of float, optional
            Smallest and largest usual value, user units: the ends of its slider in a live page.
            Default: by the kind of quantity.

        Returns
        -------
        Expr
            The parameter, for formulas in Python.

        Raises
        ------
        ModelError
            If the range is not two finite numbers, the lower first.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> 2 * s.add_parameter("k", 50, units="F/L", label="stiffness")
        2*k
        """
        record = self._parameter_record(name)
        record.declared = True
        record.units = units or record.units
        if value is not None:
            self._set_default(record, value)
        record.label = label or record.label
        record.range = _check_range(name, range) or record.range
        return Symbol(name, "parameter")

    def parameter(self, name: str) -> Expr:
        """Return a parameter as an expression.

        Parameters
        ----------
        name : str
            Name of the parameter.

        Returns
        -------
        Expr
            The parameter, for formulas in Python.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> s.parameter("k") ** 2
        k**2
        """
        record = self._parameter_record(name)
        record.declared = True
        return Symbol(record.name, "parameter")

    def set_defaults(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """Set default values of parameters. `equations` warns of names that no formula contains.

        Parameters
        ----------
        values : mapping, optional
            Values by name, for names that are no Python words: numbers in user units, or text with
            a unit ("10 mm").
        **more : float or str
            The same as keywords.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass="m", inertia=0)
        >>> spring = s.add_force("spring", magnitude="-k*x", direction=s.inertial.x, at=mass.origin)
        >>> s.set_defaults({"m": "500 gram"}, k=50)
        >>> s.equations().compile(backend="python").parameter_values()
        [50.0, 0.5]
        """
        for name, value in {**require_mapping(values, "set_defaults"), **more}.items():
            self._set_default(self._parameter_record(name), value)

    def _set_default(self, record: records.ParameterRecord, value: Any) -> None:
        record.written = parse_quantity(value)
        if record.written is not None:
            self._convert_default(record)
            return
        record.value = to_float(value)
        if record.value is None and value is not None:
            expected = (
                "a number in the unit of the parameter, or text with a number and a unit, such "
                "as '10 mm'"
            )
            self._add_problem(
                f"the default of parameter '{record.name}' is {display_text(value)}; it "
                f"must be {expected}."
            )

    def _convert_default(self, record: records.ParameterRecord) -> None:
        """A default that was given with a unit, in the unit of the parameter; without one, in that
        of the system."""
        assert record.written is not None
        number, text = record.written
        system = unit_system(self.description.units)
        default_unit = system.parse_unit(text)
        record.units = record.units or str(default_unit.dimension)
        parameter_unit = system.parse(record.units)
        if not parameter_unit.dimension.same_kind(default_unit.dimension):
            default_text = f"the default of parameter '{record.name}' is '{number:g} {text}'"
            self._add_problem(f"{default_text}, but its unit is {parameter_unit.text}.")
        record.value = float(
            parameter_unit.from_equation_units(default_unit.to_equation_units(number))
        )

    def set_units(self, values: Mapping[str, str] | None = None, **more: str) -> None:
        """Set units of parameters. Units that are not set are found from the formulas.

        Parameters
        ----------
        values : mapping, optional
            Units by name: dimension words ("F/L") or units ("N/mm").
        **more : str
            The same as keywords.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> spring = s.add_force("spring", magnitude="-k*x", direction=s.inertial.x, at=mass.origin)
        >>> s.set_units(k="N/mm")
        >>> s.set_defaults(k=50)
        >>> s.equations().compile(backend="python").parameter_values()
        [50000.0]
        """
        for name, text in {**require_mapping(values, "set_units"), **more}.items():
            record = self._parameter_record(name)
            record.units = text
            if record.written is not None:
                self._convert_default(record)

    def set_labels(self, values: Mapping[str, str] | None = None, **more: str) -> None:
        """Set descriptions of parameters for listings, plots and files.

        Parameters
        ----------
        values : mapping, optional
            Descriptions by name of the parameter.
        **more : str
            The same as keywords.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> k = s.add_parameter("k", 50, units="N/m")
        >>> s.set_labels(k="stiffness of the spring")
        """
        for name, text in {**require_mapping(values, "set_labels"), **more}.items():
            self._parameter_record(name).label = text

    def require_positive(self, *names: str) -> None:
        """Declare parameters that must be positive: another value raises an error when a run
        starts.

        Parameters
        ----------
        *names : str
            Names of the parameters.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass="m", inertia=0)
        >>> spring = s.add_force("spring", magnitude="-k*x", direction=s.inertial.x, at=mass.origin)
        >>> s.require_positive("m", "k")
        >>> s.set_defaults(m=2, k=-50)
        >>> s.equations().compile(backend="python").simulate(1, step=0.1)
        Traceback (most recent call last):
            ...
        bellcrank.core.errors.ModelError: model 'oscillator' has 1 problem
          1. parameter 'k' is -50; it must be positive
        """
        for name in names:
            self._parameter_record(name).positive = True

    def expr(self, text: str) -> Expr | Formula:
        """Read a formula.

        Parameters
        ----------
        text : str
            The formula, such as "k*q(rod)". Unknown names become parameters.

        Returns
        -------
        Expr or Formula
            The expression; a formula that `equations` reads later if it contains vectors or
            velocities.

        Raises
        ------
        ExpressionError
            If the text is no formula.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> 2 * s.expr("k*x0")
        2*k*x0
        """
        scope = FormulaScope(self.description)
        for record in self.description.bodies:
            scope.by_body[record.name] = joint_states(record)
        syntax = to_syntax(text)
        return Formula(syntax) if _needs_mechanism(syntax) else scope.to_scalar(syntax)

    def define(self, name: str, expression: ScalarLike | Table) -> None:
        """Name a scalar or a table for use in formulas.

        Parameters
        ----------
        name : str
            The name.
        expression : ScalarLike or Table
            What the name means; of a table (`bc.table`), the name is a function of one or two
            arguments.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("pendulum")
        >>> rod = s.add_body("rod", rotate="y", mass=1, inertia=(1, 1, 1))
        >>> s.define("rise", "1 - cos(q(rod))")
        >>> s.add_output("height", "0.5*rise", units="m")
        >>> s.equations().compile(backend="python").outputs(0, [3.141592653589793], [0])
        {'height': 1.0}
        """
        check_name(name, "definition")
        if isinstance(expression, Table):
            self.description.tables[name] = expression.named(
                name, defined=name not in self.description.tables
            )
        else:
            self.description.definitions[name] = expression

    def add_input(
        self,
        name: str,
        *,
        units: str | None = None,
        label: str | None = None,
        default: Any = None,
        range: tuple[float, float] | None = None,
    ) -> Expr:
        """Declare an input, a value that a run is given over time.

        Parameters
        ----------
        name : str
            Name of the input in formulas.
        units : str, optional
            Unit: dimension words ("F") or a unit ("N"). Default: found from the formulas.
        label : str, optional
            Description. Default: the name.
        default : float, str or signal, optional
            Value if a run is given none: a number in user units, text with a unit, or a signal.
        range : tuple of float, optional
            Smallest and largest usual value, user units: the ends of its slider in a live page.
            Default: from its values in a run.

        Returns
        -------
        Expr
            The input, for formulas in Python.

        Raises
        ------
        ModelError
            If the range is not two finite numbers, the lower first.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("cart")
        >>> s.add_input("push", units="N", default=0)
        push
        """
        usual = _check_range(name, range)
        self.description.variables.append(
            records.VariableRecord(check_name(name, "input"), units, label, usual)
        )
        if default is not None:
            self.description.run.inputs.setdefault(name, copy_input(default))
        return Symbol(name, "variable")

    def add_state(
        self, name: str, rate: ScalarLike, *, units: str | None = None, label: str | None = None
    ) -> Expr:
        """Declare a user-defined state, such as a lag or the deflection of a bristle.

        Parameters
        ----------
        name : str
            Name of the state in formulas and results.
        rate : ScalarLike
            Its time derivative. The formula may contain everything but accelerations and fm().
        units : str, optional
            Unit: dimension words ("L") or a unit ("mm"). Default: found from the formulas.
        label : str, optional
            Description. Default: the name.

        Returns
        -------
        Expr
            The state, for formulas in Python. It is zero at the start of a run unless `initial`
            gives a value.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("lag")
        >>> s.add_state("x", "(1 - x)/tau")
        x
        """
        self.description.states.append(
            records.StateRecord(check_name(name, "state"), rate, units, label)
        )
        return Symbol(name, "coordinate")

    def add_external(
        self,
        name: str,
        *,
        arguments: Sequence[Any] = (),
        returns: Sequence[str] | str | int | None = None,
        memory: int | None = None,
        when: CallTime = "derivatives",
        python: Callable[..., Any] | None = None,
        c: str | None = None,
        fortran: str | None = None,
    ) -> None:
        """Declare a user function, written in Python, C or Fortran.

        Parameters
        ----------
        name : str
            Name of the function.
        arguments : sequence, default ()
            Without `returns`, the names of its arguments: formulas call it with as many. With
            `returns`, the expressions it is called with.
        returns : str or sequence of str, optional
            Names that the function sets, for use in formulas. Default: its value stands where a
            formula calls it.
        memory : int, optional
            Length of an array that the function receives as last argument and that keeps its values
            between steps.
        when : {"derivatives", "update", "output", "init", "input", "echo"}, default "derivatives"
            When it is called: in every evaluation, once per step, for outputs only, once per run,
            after parameters have been read (it sets further ones), or when the echo of a run is
            written (it adds values).
        python : callable, optional
            The function, for runs in Python and in compiled programs. Arguments and values are in
            equation units.
        c : str, optional
            Its source text in C.
        fortran : str, optional
            Its source text in Fortran.

        Examples
        --------
        A spring that becomes stiffer.

        >>> import bellcrank as bc
        >>> s = bc.System("oscillator")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> s.add_external("law", arguments=("x",), python=lambda x: 50 * x + 200 * x**3)
        >>> spring = s.add_force(
        ...     "spring", magnitude="-law(x)", direction=s.inertial.x, at=mass.origin
        ... )
        >>> qdot, udot = s.equations().compile(backend="python").derivatives(0, [1], [0])
        >>> udot.tolist()
        [-125.0]
        """
        check_name(name, "external")
        label = f"external '{name}'"
        if when not in PLACES:
            call_times = ", ".join(f"'{x}'" for x in PLACES)
            self._add_problem(f"{label}: when={when!r} is not known; it is one of {call_times}.")
        if memory is not None and (
            not isinstance(memory, int) or isinstance(memory, bool) or memory < 1
        ):
            self._add_problem(
                f"{label}: memory={memory!r} must be a whole number of at least 1, or None."
            )
        routine: Any = python
        if routine is not None and not callable(routine):
            self._add_problem(f"{label}: python={python!r} cannot be called.")
        if isinstance(arguments, str) or not isinstance(arguments, Iterable):
            self._add_problem(
                f"{label}: arguments={arguments!r} must be a tuple, such as ({str(arguments)!r},)."
            )
            arguments = ()
        has_one_value = returns is None or (isinstance(returns, Integral) and returns == 1)
        names = () if has_one_value else (returns,) if isinstance(returns, str) else returns
        if not isinstance(names, Iterable) or not all(isinstance(x, str) for x in names):
            self._add_problem(f"{label}: returns={returns!r:.60} must be the names it sets.")
            names = ()
        external = records.UserFunction(
            name, tuple(arguments), tuple(names), memory, when, python, c, fortran
        )
        self.description.externals.append(external)

    # ---- outputs, smallness, run

    def add_output(
        self,
        name: str,
        expression: ScalarLike,
        *,
        label: str | None = None,
        units: str | None = None,
        body: BodyLike | None = None,
        generic: str | None = None,
    ) -> None:
        """Add an output channel: the value of an expression over time.

        Parameters
        ----------
        name : str
            Name of the channel.
        expression : ScalarLike
            Its value. The formula may contain accelerations.
        label : str, optional
            Description for plots and files. Default: the name.
        units : str, optional
            Unit: dimension words ("L/T") or a unit ("km/h"). Default: found from the expression.
        body : BodyLike, optional
            The body to which the channel belongs, for files.
        generic : str, optional
            Kind of quantity in plain words ("vertical acceleration"), for files.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("ball")
        >>> ball = s.add_point_mass("ball", translate="z", mass=1)
        >>> s.add_output("height", bc.dot(bc.pos(ball.origin), s.inertial.z), units="L")
        >>> s.equations().outputs
        ['height']
        """
        record = records.OutputRecord(
            expression, check_name(name, "output"), label, units, body, generic
        )
        self.description.outputs.append(record)

    def add_outputs(self, *groups: OutputGroup) -> None:
        """Add groups of output channels.

        Parameters
        ----------
        *groups : str
            "coordinates", "speeds", "forces", "moments", "energy", "momentum", "residuals" (of
            constraints) or "reactions".

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("ball")
        >>> ball = s.add_point_mass("ball", translate="z", mass=1)
        >>> s.add_outputs("energy")
        >>> s.equations().outputs
        ['kinetic', 'potential', 'energy']
        """
        self.description.output_groups.extend(check_name(g, "group of outputs") for g in groups)

    def small(self, *what: Any) -> None:
        """Declare quantities small, of first order. Terms of an order of at least `small_threshold`
        above the leading one are dropped from the equations.

        Parameters
        ----------
        *what : str or Expr
            Coordinates, speeds, inputs or parameters, by name or as expressions.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("pendulum")
        >>> rod = s.add_body("rod", rotate="y", mass=1, inertia=(1, 1, 1), cm=(0, 0, -1))
        >>> s.add_gravity((0, 0, -1), g=10)
        >>> s.small(rod.q[1], rod.u[1])
        >>> s.equations().forces
        [-10*q(rod)]
        """
        self.description.small.extend(what)

    def large(self, *what: Any) -> None:
        """Declare parameters large, of order -1: large times small is not small.

        Parameters
        ----------
        *what : str or Expr
            Parameters, by name or as expressions.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("car")
        >>> mass = s.add_body("mass", translate="x", mass="m", inertia=0)
        >>> spring = s.add_force("spring", magnitude="-k*x", direction=s.inertial.x, at=mass.origin)
        >>> s.small(mass.q[1])
        >>> s.large("k")
        """
        self.description.large.extend(what)

    @property
    def small_threshold(self) -> int:
        """A term is dropped when its order is at least the leading order plus this (default 2)."""
        return self.description.small_threshold

    @small_threshold.setter
    def small_threshold(self, value: int) -> None:
        if not isinstance(value, int) or value < 1:
            raise ModelError(
                f"small_threshold={value!r} must be a whole number of at least 1", self.name
            )
        self.description.small_threshold = value

    def add_event(
        self,
        name: str,
        when: ScalarLike,
        *,
        action: Mapping[Any, ScalarLike] | None = None,
        stop: bool = False,
        direction: Crossing = 0,
    ) -> None:
        """Add an event that belongs to the model: every run and every exported program looks for
        it.

        Parameters
        ----------
        name : str
            Name of the event in `run.events`.
        when : ScalarLike
            An expression that crosses zero, or a comparison that becomes true. Values in user
            units.
        action : mapping, optional
            New values of states and parameters, as formulas over the values before the event, in
            user units.
        stop : bool, default False
            Does the event end the run?
        direction : {-1, 0, 1}, default 0
            Crossings that count: from below (1), from above (-1) or both (0).

        Raises
        ------
        ModelError
            If another event has the name.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("ball")
        >>> ball = s.add_point_mass("ball", translate="z", mass=1)
        >>> s.add_event("bounce", ball.q[1], direction=-1, action={"u(ball)": "-0.8*u(ball)"})
        >>> run = s.equations().compile().simulate(
        ...     2, step=0.1, initial={"q(ball)": 1, "u(ball)": "-1 m/s"}
        ... )
        >>> run["u(ball)"][[0, -1]].tolist()
        [-1.0, 0.8]
        """
        events = self.description.run.events
        if any(e.name == name for e in events):
            raise ModelError(f"there are two events with the name {name!r}", self.name)
        events.append(
            event(
                when, direction=direction, action=action, stop=stop, name=check_name(name, "event")
            )
        )

    def set_run(
        self,
        *,
        t_end: float | None = None,
        step: float | None = None,
        method: Method | None = None,
        output_every: int | None = None,
        initial: Mapping[Any, float | str] | None = None,
        inputs: Mapping[str, Any] | None = None,
        guess: Mapping[Any, float | str] | None = None,
    ) -> None:
        """Set what a run uses unless it is given other values.

        Parameters
        ----------
        t_end : float, optional
            End of a run in s.
        step : float, optional
            Step in s.
        method : str, optional
            Integration method.
        output_every : int, optional
            Record every n-th step only.
        initial : mapping, optional
            Initial values by state: numbers in user units, or text with a unit ("30 deg").
        inputs : mapping, optional
            Inputs by name, in user units.
        guess : mapping, optional
            Values by state from which the assembly of closed loops starts, and which it may change.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("ball")
        >>> ball = s.add_point_mass("ball", translate="z", mass=1)
        >>> s.set_run(t_end=1, step=0.1, initial={"u(ball)": "3 m/s"})
        """
        run = self.description.run
        for key, value in {
            "t_end": t_end,
            "step": step,
            "method": method,
            "output_every": output_every,
        }.items():
            if value is not None:
                setattr(run, key, value)
        run.initial = _merge_by_name(
            run.initial, with_guess(require_mapping(initial, "initial"), guess)
        )
        run.inputs = _merge_by_name(
            run.inputs,
            {name: copy_input(x) for name, x in require_mapping(inputs, "inputs").items()},
        )

    def __repr__(self) -> str:
        d = self.description
        summary = (
            pluralize(len(d.bodies), "body", "bodies"),
            pluralize(len(d.forces), "force"),
            pluralize(len(d.constraints) + len(d.loops), "constraint"),
        )
        return f"{type(self).__name__}({d.name!r}: {', '.join(summary)})"


def _single_joint_axis(record: records.BodyRecord) -> Formula | None:
    """The axis, fixed in the body, about which it rotates in its parent; None if there is not
    exactly one."""
    axis = record.rotate
    if axis is None or (not isinstance(axis, str) and np.size(axis) == 0):
        axis = record.rotation_axis
    if isinstance(axis, tuple | list) and len(axis) == 1:
        (axis,) = axis
    if record.joint is not None or axis is None:
        return None
    body = BodyHandle(record.name, [], [])
    if isinstance(axis, str):
        return body[axis.strip()] if axis.strip() in AXES else None
    if isinstance(axis, int | np.integer):
        return body[int(axis)]
    components = list(axis)
    are_axes = all(isinstance(c, str | int) and c in (1, 2, 3, *AXES) for c in components)
    if len(components) != 3 or any(np.size(c) != 1 for c in components) or are_axes:
        return None
    terms = [Formula(to_syntax(c)) * body[k] for k, c in enumerate(components, 1)]
    return terms[0] + terms[1] + terms[2]


def _merge_by_name(values: Mapping[Any, Any], overrides: Mapping[Any, Any]) -> dict[Any, Any]:
    """Values by name, of which those given replace others; blanks in names do not count."""
    new = {normalized_name(name) for name in overrides}
    return {
        name: value for name, value in values.items() if normalized_name(name) not in new
    } | dict(overrides)


def check_name(name: Any, kind: str) -> str:
    """A name, which is text that can be printed: no line ends, tabs or other control characters."""
    if not isinstance(name, str) or not name.isprintable():
        kind = f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
        raise ModelError(
            f"the name of {kind} is {name!r}; it must be "
            f"text{' on one line' * isinstance(name, str)}"
        )
    return name


def _check_range(name: str, limits_input: Any) -> tuple[float, float] | None:
    """Smallest and largest usual value, if they are given."""
    if limits_input is None or (limits := to_interval(limits_input)) is not None:
        return None if limits_input is None else limits
    raise ModelError(
        f"'{name}': range={display_text(limits_input)} must be two finite numbers, the lower first"
    )


def _needs_mechanism(syntax: SyntaxNode) -> bool:
    return any(
        n.op == "unit" or (n.op == "call" and n.args[0].lower() in MACHINE)
        for n in postorder_syntax(syntax)
    )
