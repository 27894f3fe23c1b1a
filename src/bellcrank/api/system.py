"""System: what a user types to describe a machine.

Calls that write single records are the Builder's; here stand those that several stages answer.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bellcrank.api.model_files import read_model
from bellcrank.choices import Constraints, Optimise, ShapeKind, Side, Solve, StartBelowGround
from bellcrank.core.errors import BellcrankError, ModelError
from bellcrank.model.describe.argument_types import BodyLike, PointLike, ScalarLike
from bellcrank.model.describe.builder import Builder, check_name

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations
    from bellcrank.linkage import Linkage, Table
    from bellcrank.model.describe.contacts import Contact, NearestGroundProvider, Tyre
    from bellcrank.model.describe.linkage_joint import LinkageJoint
    from bellcrank.model.describe.tyre_model import TyreModel
    from bellcrank.model.loads.contact import RigidContact

# bodies of a system whose equations are worth keeping: reading them takes a fiftieth of the
# derivation
LARGE = 6


class System(Builder):
    """A mechanical system, described by bodies, joints, loads, constraints and outputs.

    The description may have mistakes while it grows: `equations` reports all of them together.

    Parameters
    ----------
    name : str
        Name of the model, for messages, files and pages.
    units : {"SI", "mks", "in-lb", "ft-lb", "mm-tonne"}, default "mks"
        Unit system of all values given and shown. "SI" is another name of "mks".
    axes : {"SAE", "ISO 8855"}, optional
        Direction of the vertical axis: "SAE" has axis 3 down, "ISO 8855" has it up. Without it
        gravity acts along axis 3.

    Raises
    ------
    ModelError
        If the unit system or the axes are unknown.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("oscillator", units="SI")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> spring = s.add_force("spring", magnitude="-50*x", direction=s.inertial.x, at=mass.origin)
    >>> s
    System('oscillator': 1 body, 1 force, 0 constraints)
    """

    internals = ("description", "_caches_equations", "owner")
    _caches_equations: bool | None = (
        None  # are its equations kept on disk for other processes? None: those of `LARGE` systems
    )

    def __copy__(self) -> System:
        """A copy shares nothing with the system: both may grow."""
        return copy.deepcopy(self)

    @classmethod
    def read(cls, path: str | Path, **arguments: Any) -> System:
        """Read a model from a file.

        Parameters
        ----------
        path : str or Path
            A Python file with a function `model()` that returns a System, a car or motorcycle file
            (.toml) or an AUTOSIM deck (.lsp). Also the name of an example, car or motorcycle that
            comes with Bellcrank: "four_bar", "van". Python files are executed: read those you
            trust.
        **arguments : Any
            Arguments of `model()`; of a car file `speed` (m/s), `exact` and `terrain`; of a deck
            `external`.

        Returns
        -------
        System
            The model.

        Raises
        ------
        ModelError
            If there is no such file, or if it is no model.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import bellcrank as bc
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "empty.py"
        ...     function = "def model(name='empty'):", "    return bc.System(name)"
        ...     written = path.write_text(chr(10).join(("import bellcrank as bc", *function)))
        ...     print(bc.System.read(path, name="mine"))
        System('mine': 0 bodies, 0 forces, 0 constraints)
        """
        return read_model(path, arguments)

    def add_linkage(
        self,
        name: str,
        linkage: Linkage | Table,
        *,
        base: BodyLike | None = None,
        carrier: BodyLike,
        exact: bool = True,
        rack: BodyLike | ScalarLike | None = None,
        at: Sequence[float] = (0.0, 0.0, 0.0),
        accuracy: float | None = None,
        extend: bool = False,
    ) -> LinkageJoint:
        """Add a linkage, such as a suspension, as one joint whose coordinate is the travel of the
        wheel centre.

        Parameters
        ----------
        name : str
            Name of the joint.
        linkage : Linkage or Table
            The linkage (`bc.linkage.Linkage.read`), or a table made of one.
        base : BodyLike, optional
            The body to which the linkage is mounted. Default: the ground.
        carrier : BodyLike
            The wheel carrier: a body added with `parent=base` and no degree of freedom of its own.
        exact : bool, default True
            False looks poses up in a table.
        rack : BodyLike or ScalarLike, optional
            A body that slides in the base along the rack axis, or the rack travel (length) as a
            formula of time, inputs and parameters, twice differentiable. Two linkages may share it.
            Default: the rack is fixed.
        at : sequence of float, default (0, 0, 0)
            Position of the origin of the hard points in the base, in m. Their axes are those of the
            base.
        accuracy : float, optional
            Accuracy of the table in m and rad. Default: 1e-8; with a rack or roll as second input
            1e-6, over 60 mm of rack or 0.15 rad of roll to either side.
        extend : bool, default False
            True extrapolates a table outside its range, with a warning. Otherwise the run ends
            there.

        Returns
        -------
        LinkageJoint
            The joint: `joint.q` is its travel, `joint.point(name)` a hard point, `joint.link(name)`
            a link as a body;
            `joint.add_spring(...)` adds a spring.

        Raises
        ------
        ModelError
            If the carrier is no body, has degrees of freedom or a linkage already, or if the
            linkage has no rack.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("corner", axes="ISO 8855")
        >>> wheel = s.add_body("wheel", mass=38, inertia=(0.9, 1.4, 0.9), cm=(0, 0.765, 0.3))
        >>> front = bc.linkage.Linkage.read("double_wishbone")
        >>> joint = s.add_linkage("front", front, carrier=wheel)
        >>> joint.q
        q(wheel)
        """
        from bellcrank.model.describe.linkage_joint import add_linkage

        return add_linkage(self, name, linkage, base, carrier, exact, rack, at, accuracy, extend)

    def add_bushing(
        self,
        name: str,
        *,
        at: PointLike,
        against: BodyLike | None = None,
        stiffness: Any,
        damping: Any = None,
        label: str | None = None,
    ) -> None:
        """Add six springs and dampers between two bodies, without preload.

        Rotations may be large: the moment is the derivative of an energy.

        Parameters
        ----------
        name : str
            Name of the bushing. Its loads are <name>.f1 to <name>.f3 and <name>.m1 to <name>.m3.
        at : PointLike
            Its position: a point of the first body.
        against : BodyLike, optional
            The second body, in whose axes stiffness and damping are given. Default: the ground.
        stiffness : sequence or matrix
            Six values, three along the axes (force per length) and three about them (moment per
            rad), or a symmetric matrix of 6 x 6; numbers, or formulas of parameters.
        damping : sequence or matrix, optional
            The same for damping (force times time per length, moment times time per rad). Default:
            none.
        label : str, optional
            Description. Default: "bushing" and the name.

        Raises
        ------
        ModelError
            If a value is missing or negative, if the stiffness is not symmetric, or if both bodies
            are the same.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("engine mount")
        >>> engine = s.add_body("engine", translate="z", mass=150, inertia=0)
        >>> stiffness, damping = (0, 0, 2e5, 0, 0, 0), (0, 0, 800, 0, 0, 0)
        >>> s.add_bushing("mount", at=engine.origin, stiffness=stiffness, damping=damping)
        >>> qdot, udot = s.equations().compile(backend="python").derivatives(0, [0.015], [0])
        >>> round(float(udot[0]), 6)
        -20.0
        """
        from bellcrank.model.describe.bushing import add_bushing

        add_bushing(self, name, at, against, stiffness, damping, label)

    def add_shape(
        self,
        name: str | None = None,
        *,
        body: BodyLike | None,
        kind: ShapeKind,
        size: Any = None,
        at: Any = (0, 0, 0),
        axis: Any = None,
        color: str | None = None,
        label: str | None = None,
        file: Any = None,
        opacity: float = 1.0,
    ) -> None:
        """Give a body a shape for pictures, animations and pages. Equations do not depend on it.

        A body without shapes is drawn as rods from joint to joint and a ball at its center of mass.

        Parameters
        ----------
        name : str, optional
            Name of the shape, shown where the pointer is on it unless `label` is given.
        body : BodyLike or None
            The body; None is the ground.
        kind : {"box", "cylinder", "sphere", "line", "mesh", "wheel", "car"}
            The shape. A wheel makes the picture show the ground below it.
        size : ScalarLike or sequence, optional
            Box: three lengths along its axes, or one; cylinder: radius and length; sphere: radius;
            line: thickness; mesh: factor of the lengths in the file; wheel: radius and width; car:
            length, width and height, then wheelbase, wheel radius and the distance from the front
            to the front axle if these are known. Numbers or formulas of parameters. Default: chosen
            by Bellcrank, but for a car.
        at : TripleLike, default (0, 0, 0)
            Middle of the shape in the body, in its axes (length); of a line, its points; of a car,
            the middle of the front axle at the height of the wheel centers. A car points along the
            first axis of its body.
        axis : AxisLike, optional
            Direction in the body of the third axis of the shape: "x", "y", "z" or three components.
            Default: "z".
        color : str, optional
            "#rrggbb" or a name such as "red". Default: chosen by Bellcrank.
        label : str, optional
            Description. Default: the name.
        file : str or Path, optional
            STL file of a mesh.
        opacity : float, default 1
            Below 1, one sees through the shape.

        Raises
        ------
        ModelError
            If a mesh has no file or the file cannot be read.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("pendulum")
        >>> rod = s.add_body("rod", rotate="y", mass=1, inertia=(0.1, 0.1, 0.1), cm=(0, 0, -0.5))
        >>> s.add_shape(body=rod, kind="cylinder", size=(0.02, 1), at=(0, 0, -0.5), color="silver")
        """
        from bellcrank.model.describe.shapes import add_shape

        add_shape(self, body, kind, size, at, axis, color, label or name, file, opacity)

    def add_attitude(self, name: str | None = None, *, body: BodyLike) -> None:
        """Add outputs for the attitude of a body: yaw, pitch and roll (deg), yaw_rate (deg/s),
        forward speed, and side_slip of its center of mass (deg).

        The angles are rotations about the axes z, y and x, in this order.

        Parameters
        ----------
        name : str, optional
            Prefix of the channels. Default: the name of the body and a dot.
        body : BodyLike
            The body, whose axis x points forward.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("car")
        >>> car = s.add_body(
        ...     "car", translate=("x", "y"), rotate="z", mass=1500, inertia=(500, 2500, 2500)
        ... )
        >>> s.add_attitude(body=car)
        >>> s.equations().outputs
        ['car.yaw', 'car.pitch', 'car.roll', 'car.yaw_rate', 'car.speed', 'car.side_slip']
        """
        from bellcrank.model.describe.attitude import add_attitude

        add_attitude(self, body, name)

    def add_wheel_angles(
        self, name: str | None = None, *, wheel: BodyLike, side: Side | None = None
    ) -> None:
        """Add outputs for the angles of a wheel that rotates about its axis y, in deg: slip_angle
        and inclination.

        The slip angle of its center is that from its heading to its velocity, about axis z.

        Parameters
        ----------
        name : str, optional
            Prefix of the channels. Default: the name of the wheel and a dot.
        wheel : BodyLike
            The wheel.
        side : {"left", "right"}, optional
            Side of the vehicle. With it, camber takes the place of the inclination, positive with
            the top outwards.

        Raises
        ------
        ModelError
            If `side` is unknown or `wheel` is no body.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("wheel")
        >>> wheel = s.add_body(
        ...     "wheel", translate=("x", "y"), rotate="y", mass=20, inertia=(1, 2, 1)
        ... )
        >>> s.add_wheel_angles(wheel=wheel, side="left")
        >>> s.equations().outputs
        ['wheel.slip_angle', 'wheel.camber']
        """
        from bellcrank.model.describe.attitude import add_wheel_angles

        add_wheel_angles(self, wheel, side, name)

    def add_contact(
        self,
        name: str,
        *,
        at: PointLike | BodyLike,
        radius: ScalarLike | None = None,
        terrain: NearestGroundProvider,
        tyre: Tyre | TyreModel | None = None,
        restitution: Sequence[float | None] = (0.0, None),
        rolling_resistance: ScalarLike = 0,
        drive: ScalarLike = 0,
        wheel: BodyLike | None = None,
        below: StartBelowGround = "raise",
    ) -> Contact | RigidContact:
        """Add a wheel that runs on the ground.

        Parameters
        ----------
        name : str
            Name of the contact; it begins the names of its channels.
        at : PointLike or BodyLike
            Center of the wheel.
        radius : ScalarLike, optional
            Radius of the wheel (length). Omit it if the tyre has its own (`bc.vehicles.tyres`).
        terrain : Ground
            The ground, of `bc.vehicles.terrain`.
        tyre : Tyre or tyre model, optional
            A spring and damper (`bc.Tyre`, whose `slip` gives forces along the ground), or a tyre
            of
            `bc.vehicles.tyres`, such as `bc.load("file.tir")`. Default: the wheel is rigid; it
            bounces, then rolls.
        restitution : pair of float, default (0, None)
            Of a rigid wheel, at an impact: factors of the reversed normal speed (0 to 1) and of the
            slip (-1 to 1), without `wheel` of the speed along the ground. None: 0 with `wheel`;
            without it the ground is smooth.
        rolling_resistance : ScalarLike, default 0
            Braking force per speed along the ground (force times time per length). With slip it
            acts as a moment on
            `wheel`. Tyres of `bc.vehicles.tyres` have their own.
        drive : ScalarLike, default 0
            Force that pushes the wheel forward while it touches the ground. Tyres with slip are
            driven by moments on
            `wheel`.
        wheel : BodyLike, optional
            The body that rotates about its axis y. Tyres with slip need it. Without it, the
            rotation of a rigid wheel is neglected.
        below : {"raise", "error"}, default "raise"
            What happens to a rigid wheel that starts below ground: it is moved up with a warning,
            or an error is raised.

        Returns
        -------
        Contact or RigidContact
            The contact. `contact.load`, `.depth`, `.stored` and `.speed` of a tyre are names for
            formulas: normal force, deflection, energy of the springs, and speed of the center along
            the ground.

        Raises
        ------
        ModelError
            If an argument is missing, wrong, or not allowed for this kind of tyre.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("wheel", axes="ISO 8855")
        >>> hub = s.add_point_mass("hub", translate=("x", "z"), mass=20)
        >>> tyre = bc.Tyre(stiffness=2e5, damping=100)
        >>> contact = s.add_contact(
        ...     "tyre", at=hub, radius=0.3, terrain=bc.vehicles.terrain.flat(), tyre=tyre
        ... )
        >>> contact.load
        'tyre_load'
        """
        from bellcrank.model.describe.contacts import add_contact
        from bellcrank.model.describe.rigid_contact import add_rigid_contact

        contact_name = check_name(name, "contact")
        if tyre is None:
            return add_rigid_contact(
                self,
                contact_name,
                at,
                radius,
                terrain,
                restitution,
                rolling_resistance,
                wheel,
                below,
            )
        return add_contact(
            self, contact_name, at, radius, terrain, rolling_resistance, tyre, drive, wheel
        )

    def picture(
        self,
        path: str | Path | None = None,
        *,
        initial: Mapping[Any, float | str] | None = None,
        parameters: Mapping[str, float | str] | None = None,
        title: str | None = None,
        guess: Mapping[Any, float | str] | None = None,
    ) -> Any:
        """Draw the system in its initial state.

        Parameters
        ----------
        path : str or Path, optional
            File of the picture: .png, .svg, .pdf or .jpg. Default: none is written.
        initial : mapping, optional
            Initial values by state, in user units or as text ("30 deg"). Default: those of
            `System.set_run`.
        parameters : mapping, optional
            Values of parameters by name, in user units. Default: their defaults.
        title : str, optional
            Title. Default: the name of the system.
        guess : mapping, optional
            Values by state from which the assembly of closed loops starts, and which it may change.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Raises
        ------
        ModelError
            If the description has mistakes, or if a loop cannot be closed.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("pendulum")
        >>> rod = s.add_body("rod", rotate="y", mass=1, inertia=(0.1, 0.1, 0.1), cm=(0, 0, -0.5))
        >>> figure = s.picture(initial={"q(rod)": "30 deg"}, title="a pendulum")
        >>> figure.get_suptitle()
        'a pendulum'
        """
        from bellcrank.scene.picture import draw_scene
        from bellcrank.simulation.run.body_poses import initial_pose, load_for_picture

        d = self.equations(optimise="none").derived
        m = initial_pose(
            load_for_picture(d.analysis, d.interface, d.program), initial, parameters, guess
        )
        return draw_scene(m.scene, m.poses, None, path, title)

    def _repr_html_(self) -> str:
        """What a notebook shows: the picture and the bodies, or what is wrong with the
        description."""
        from bellcrank.analysis.view.notebook import broken_html, model_html

        try:
            return model_html(self.equations(optimise="none").derived)
        except BellcrankError as error:
            return broken_html(self.name, str(error))

    def equations(
        self,
        *,
        solve: Solve = "auto",
        constraints: Constraints = "auto",
        small: bool = True,
        optimise: Optimise = "default",
        without: Collection[str] = (),
    ) -> Equations:
        """Derive the equations of motion.

        Parameters
        ----------
        solve : {"auto", "explicit", "implicit", "order-n"}, default "auto"
            How accelerations are found: "explicit" factorizes the mass matrix symbolically,
            "implicit" solves it numerically, "order-n" uses a recursive method. "auto" chooses the
            fewest operations.
        constraints : {"auto", "multipliers", "eliminate"}, default "auto"
            "multipliers" keeps all speeds as states, M u' = f + J' lambda with J u' = gamma.
            "eliminate" removes one speed for each speed constraint; runs warn near a zero of its
            coefficient. "auto" removes a speed if its coefficient cannot vanish in motion, and
            keeps all speeds otherwise, with a note.
        small : bool, default True
            False derives the same description without small orders.
        optimise : {"none", "default", "thorough"}, default "default"
            How much time is spent on shorter programs. "thorough" searches for about a minute and
            saves a few per cent of the operations; it gives the same program every time.
        without : collection of str, default ()
            Passes that are omitted, by name (docs/derivation.md), to measure the effect of each.

        Returns
        -------
        Equations
            The equations of motion, ready to compile, to print or to export.

        Raises
        ------
        ModelError
            If the description has mistakes: all of them are listed.

        Examples
        --------
        >>> import bellcrank as bc
        >>> s = bc.System("mass")
        >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
        >>> s.equations().mass_matrix
        [[2]]
        """
        from bellcrank.api.equations import derive_equations
        from bellcrank.mechanics.kinematics.results import ConstraintForm

        if constraints not in list(ConstraintForm):
            known_forms = ", ".join(map(repr, map(str, ConstraintForm)))
            raise ModelError(
                f"constraints={constraints!r} is not known; it is one of {known_forms}", self.name
            )
        keeps_on_disk = (
            len(self.description.bodies) >= LARGE
            if self._caches_equations is None
            else self._caches_equations
        )
        return derive_equations(
            self.description, solve, small, optimise, without, constraints, keeps_on_disk
        )
