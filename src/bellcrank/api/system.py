"""System: what a user types to describe a machine.

Calls that write single records are the Builder's; here stand those that several stages answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bellcrank.choices import Constraints, Optimise, ShapeKind, Side, Solve, StartBelowGround
from bellcrank.describe.builder import Builder, name_of
from bellcrank.describe.given import BodyLike, PointLike, ScalarLike
from bellcrank.errors import BellcrankError, ModelError

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations
    from bellcrank.describe.contacts import Contact, Ground, Tyre
    from bellcrank.describe.linkage_joint import LinkageJoint
    from bellcrank.describe.tyre_model import TyreModel
    from bellcrank.linkage import Linkage, Table
    from bellcrank.model.loads.contact import RigidContact


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
        Direction of the vertical axis: "SAE" has axis 3 down, "ISO 8855" has it up. Without it gravity acts along
        axis 3.

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

    internals = ("description", "keeps", "owner")
    keeps = False  # are its equations kept on disk for other processes?

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
        """Carries a body by a linkage: its joint to `base` has the travel of the wheel centre as coordinate.

        `carrier` is a body added with parent=base and no degree of freedom of its own; `at` (m) is where the origin of
        the hard points lies in the base, whose axes they share. exact=False looks poses up in a table made for
        `accuracy` (m, rad; 1e-8, with a second input 1e-6 over 60 mm of rack or 0.15 rad of roll to either side); a
        `Table` may be given instead of a Linkage. `rack` is a body that slides in the base along the linkage's rack
        axis, or the rack travel as a formula over time, inputs and parameters (twice differentiable); it may be shared
        by two linkages. Outside its range an exact joint, and a table unless `extend`, ends the run.
        """
        from bellcrank.describe.linkage_joint import add_linkage

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
        """Add six springs and dampers between the body of `at` and `against` (default: the ground), without preload.

        `stiffness` and `damping`: six values, three along and three about the axes of `against`, or six rows of six
        (force, then moment, over deflection and rotation vector); numbers, or formulas of parameters. Rotations may be
        large: the moment is the derivative of an energy. Loads are called <name>.f1 to f3 and <name>.m1 to m3.
        """
        from bellcrank.describe.bushing import add_bushing

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
    ) -> None:
        """Give a body (None: the ground) a shape in pictures and pages; equations do not know of it.

        `label`, else `name`, is shown where the pointer is on it.
        `kind`: "box" (`size`: three lengths along its axes, or one), "cylinder" (radius, length), "sphere" (radius),
        "line" (thickness; `at`: its points) or "mesh" (what the lengths of the STL file `file` are multiplied with).
        Its middle is `at`, in the body's axes, and its own third axis points along `axis` ("x", "y", "z" or
        three components). Lengths may be formulas of parameters; `color` is "#rrggbb" or a plain name. A body without
        shapes is drawn as rods from joint to joint and a ball at its mass centre.
        """
        from bellcrank.describe.shapes import add_shape

        add_shape(self, body, kind, size, at, axis, color, label or name, file)

    def add_attitude(self, name: str | None = None, *, body: BodyLike) -> None:
        """Channels of a body, in deg: yaw, pitch, roll (turns about its axes z, y, x, one after another), side_slip of
        its mass centre, yaw_rate, and its forward speed. `name` stands before them (default: that of the body and a
        dot)."""
        from bellcrank.describe.attitude import add_attitude

        add_attitude(self, body, name)

    def add_wheel_angles(self, name: str | None = None, *, wheel: BodyLike, side: Side | None = None) -> None:
        """Channels of a wheel that turns about its axis 2, in deg: slip_angle of its centre (from its heading to its
        velocity, about z), and inclination (about its heading); with `side`, "left" or "right", camber in its place,
        positive with the top outwards. `name` stands before them (default: that of the wheel and a dot)."""
        from bellcrank.describe.attitude import add_wheel_angles

        add_wheel_angles(self, wheel, side, name)

    def add_contact(
        self,
        name: str,
        *,
        at: PointLike | BodyLike,
        radius: ScalarLike | None = None,
        terrain: Ground,
        tyre: Tyre | TyreModel | None = None,
        restitution: Sequence[float] = (0.0, 0.0),
        rolling_resistance: ScalarLike = 0,
        drive: ScalarLike = 0,
        wheel: BodyLike | None = None,
        below: StartBelowGround = "raise",
    ) -> Contact | RigidContact:
        """Set a wheel of this `radius` about the point `at` on a terrain of `bc.terrain`.

        `tyre` says how it gives way. While it touches the ground, `rolling_resistance` (force times time per length)
        brakes it in proportion to its speed along the ground and `drive` (a force) pushes it forward. A tyre with slip
        (`bc.Slip`) acts on `wheel`, the body that turns about its second axis: rolling resistance is then a moment on
        it, and it is driven and braked by moments. A tyre of `bc.tyres` (`bc.tyres.read("file.tir")`) acts on `wheel`
        too, with its own radius, load and rolling resistance (docs/tyres.md); `radius` is then omitted.
        Without a tyre the wheel is rigid: at an impact its normal speed is reversed and multiplied by the first number
        of `restitution`, its slip multiplied by the second; then it rolls. `wheel` is the body that turns when it rolls
        without slipping; without it the wheel's own turning is omitted. A wheel that starts below ground is moved up
        with a warning, or an error (`below="error"`).
        """
        from bellcrank.describe.contacts import add_contact
        from bellcrank.describe.rigid_contact import add_rigid_contact

        called = name_of(name, "contact")
        if tyre is None:
            return add_rigid_contact(self, called, at, radius, terrain, restitution, rolling_resistance, wheel, below)
        return add_contact(self, called, at, radius, terrain, rolling_resistance, tyre, drive, wheel)

    def picture(
        self,
        path: str | Path | None = None,
        *,
        initial: Mapping[Any, float | str] | None = None,
        parameters: Mapping[str, float | str] | None = None,
        title: str | None = None,
        guess: Mapping[Any, float | str] | None = None,
    ) -> Any:
        """Draws the machine where its run starts, or with other initial values and parameters (user units).

        Saves a picture (.png, .svg, .pdf) when a path is given; returns the matplotlib figure.
        """
        from bellcrank.run.body_motion import at_start, drawn
        from bellcrank.scene.picture import draw_scene

        d = self.equations(optimise="none").derived
        m = at_start(drawn(d.analysis, d.interface, d.program), initial, parameters, guess)
        return draw_scene(m.scene, m.poses, None, path, title)

    def _repr_html_(self) -> str:
        """What a notebook shows: the picture and the bodies, or what is wrong with the description."""
        from bellcrank.view.notebook import broken_html, model_html

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
            How accelerations are found: "explicit" factorizes the mass matrix symbolically, "implicit" solves it
            numerically, "order-n" uses a recursive method. "auto" chooses the fewest operations.
        constraints : {"auto", "multipliers", "eliminate"}, default "auto"
            "multipliers" keeps all speeds as states, M u' = f + J' lambda with J u' = gamma. "eliminate" removes
            one speed for each speed constraint; runs warn near a zero of its coefficient. "auto" removes a speed if
            its coefficient cannot vanish in motion, and keeps all speeds otherwise, with a note.
        small : bool, default True
            False derives the same description without small orders.
        optimise : {"none", "default", "thorough"}, default "default"
            How much time is spent on shorter programs.
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
        from bellcrank.api.equations import equations_of
        from bellcrank.kinematics.results import ConstraintForm

        if constraints not in list(ConstraintForm):
            known = ", ".join(map(repr, map(str, ConstraintForm)))
            raise ModelError(f"constraints={constraints!r} is not known; it is one of {known}", self.name)
        return equations_of(self.description, solve, small, optimise, without, constraints, self.keeps)
