"""What a derivation knows by name: scalars, frames, bodies and points, and formulas over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bellcrank.core.argument_checks import PublicDir
from bellcrank.core.errors import ModelError
from bellcrank.kane.dynamics import Body, MassSystem
from bellcrank.kane.frames import Frame
from bellcrank.kane.language import KaneLanguage, Value
from bellcrank.kane.motion import KaneMotion, Point
from bellcrank.kane.name_space import NameSpace, split_names
from bellcrank.kane.scalars import TIME, DerivationScalars
from bellcrank.model.records import RunRecord
from bellcrank.symbolic.expr import ZERO, Expr, Symbol, expression
from bellcrank.symbolic.vector.basis import Mat3, Vector

Symbols = tuple[Symbol, ...]
RUN = ("t_end", "step", "method", "output_every", "initial", "inputs")


@dataclass
class DerivationNotes:
    """What is carried for runs and readers: values of constants and units by name; channels in
    order."""

    values: dict[str, float] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    channels: dict[str, Expr] = field(default_factory=dict)
    channel_words: dict[str, tuple[str, str]] = field(default_factory=dict)  # unit, label
    groups: list[str] = field(default_factory=list)
    run: RunRecord = field(default_factory=RunRecord)


class DeclaredNames(PublicDir):
    """Names and what they stand for. `Derivation` adds the steps."""

    internals = ("inertia_matrix", "known_names", "lookup")

    def __init__(
        self, name: str = "hand-led derivation", autoz: bool = False, capitals: bool = True
    ) -> None:
        self.name = name
        self.scalars = DerivationScalars()
        self.scalars.autoz = autoz
        self.motion = KaneMotion(self.scalars)
        self.newtonian = Frame("N")
        self.motion.frames.append(self.newtonian)
        self.machine = MassSystem(self.motion, self.newtonian)
        self.frame_names, self.point_names = NameSpace("frame", Frame), NameSpace("point", Point)
        self.scalar_names = NameSpace(
            "scalar", Symbol, capitals
        )  # AUTOLEV does not distinguish capitals
        self.frame_names.add_name(self.newtonian, "the Newtonian frame")
        self.euler: dict[Frame, tuple[Symbol, ...]] = {}  # scalar first
        self.potential_energy: Expr | None = None
        self.removed: dict[Symbol, Any] = {}
        self.configuration: list[Expr] = []  # zero in every position
        self.unsolved: list[Expr] = []  # zero in every motion, and solved for no speed
        self.notes = DerivationNotes()

    @property
    def bound(self) -> bool:
        """Do constraints bind states to each other?"""
        return bool(self.configuration or self.unsolved)

    # ---- declarations

    def constants(self, *names: str, units: str | None = None) -> Symbols:
        """Declare constants: parameters of the equations, with values at run time.

        Parameters
        ----------
        names : str
            Names, also several in one text: "la lb g".
        units : str, optional
            Units of all of them.

        Returns
        -------
        tuple of Symbol
            The symbols.
        """
        return self._declare(names, "parameter", self.scalars.constants, "a constant", units)

    def coordinates(self, *names: str, units: str | None = None) -> Symbols:
        """Declare generalized coordinates. `set_rate` or `set_speeds` defines their time
        derivatives.

        Parameters
        ----------
        names : str
            Names, also several in one text.
        units : str, optional
            Units of all of them.

        Returns
        -------
        tuple of Symbol
            The symbols.
        """
        return self._declare(names, "coordinate", self.scalars.coordinates, "a coordinate", units)

    def speeds(self, *names: str, units: str | None = None) -> Symbols:
        """Declare generalized speeds.

        Parameters
        ----------
        names : str
            Names, also several in one text.
        units : str, optional
            Units of all of them.

        Returns
        -------
        tuple of Symbol
            The symbols.
        """
        return self._declare(names, "speed", self.scalars.speeds, "a generalized speed", units)

    def inputs(self, *names: str, units: str | None = None) -> Symbols:
        """Declare inputs: quantities given over time at run time, which may not be differentiated.

        Parameters
        ----------
        names : str
            Names, also several in one text.
        units : str, optional
            Units of all of them.

        Returns
        -------
        tuple of Symbol
            The symbols.
        """
        return self._declare(names, "variable", self.scalars.inputs, "an input", units)

    def auxiliary(
        self, speed: str, measures: str, units: str | None = None
    ) -> tuple[Symbol, Symbol]:
        """Declare an auxiliary speed, which is always zero, and the constraint force or torque that
        it brings into evidence.

        The speed enters velocities, the component enters forces; the equation of that speed gives
        the component (Kane & Levinson 1985, section 4.9).

        Parameters
        ----------
        speed : str
            Name of the speed.
        measures : str
            Name of the force or torque component.
        units : str, optional
            Units of the component.

        Returns
        -------
        tuple of Symbol
            The speed and the component.
        """
        self.scalar_names.check_names([speed, measures])
        (u,) = self._declare((speed,), "speed", self.scalars.auxiliary, "an auxiliary speed", None)
        (f,) = self._declare(
            (measures,), "reaction", self.scalars.unknown, f"what {speed} measures", units
        )
        return u, f

    def define(self, name: str, value: Any) -> Symbol:
        """Name a quantity: a force law, a prescribed motion, an abbreviation. It is a channel of
        each run.

        Parameters
        ----------
        name : str
            Name.
        value : ScalarLike
            The quantity.

        Returns
        -------
        Symbol
            The symbol.
        """
        value = self.scalar(value)
        self._check_free_names([name])
        symbol = Symbol(name, "defined")
        self.scalar_names.add_name(symbol, f"{name} = {value}")
        self.scalars.define(symbol, value)
        self.notes.channels[name] = symbol
        return symbol

    def _declare(
        self,
        names: Iterable[str],
        kind: str,
        into: list[Symbol],
        description: str,
        units: str | None,
    ) -> Symbols:
        declared = tuple(Symbol(name, kind) for name in self._check_free_names(split_names(names)))
        for s in declared:
            self.scalar_names.add_name(s, description)
            if units:
                self.notes.units[s.name] = units
        into.extend(declared)
        self.scalars.version += 1
        return declared

    def _check_free_names(self, names: list[str]) -> list[str]:
        """Names that scalars may have: neither given already nor those of unit vectors."""
        for name in names:
            if name[-1:] in ("1", "2", "3") and any(
                f.name == name[:-1] for f in self.motion.frames
            ):
                raise ModelError(f"'{name}' is a unit vector of the frame {name[:-1]}")
            if self.scalars.autoz and name[:1] in "zZ" and name[1:].isdigit():
                raise ModelError(
                    f"'{name}' is kept for intermediate results: autoz names them Z1, Z2, ..."
                )
        return self.scalar_names.check_names(names)

    def frames(self, *names: str) -> tuple[Frame, ...]:
        """Declare reference frames without mass.

        Parameters
        ----------
        names : str
            Names.

        Returns
        -------
        tuple of Frame
            The frames.
        """
        frames = tuple(Frame(name) for name in self._free_frames(split_names(names)))
        for f in frames:
            self._add_frame(f, "a frame")
        return frames

    def body(self, name: str, mass: Any = None, inertia: Any = None, cm: str | None = None) -> Body:
        """Declare a rigid body: a frame with mass and inertia, and its mass centre `body.cm`.

        Parameters
        ----------
        name : str
            Name.
        mass : ScalarLike, optional
            Mass. Default: the constant m<name>.
        inertia : ScalarLike or sequence, optional
            Central inertia: 0, three moments or a 3 x 3 array. Default: the constants I<name>1,
            I<name>2, I<name>3.
        cm : str, optional
            Name of the mass centre. Default: <name>o.

        Returns
        -------
        Body
            The body.
        """
        self._free_frames([name])
        centre = cm or f"{name}o"
        self.point_names.check_names([centre])
        moment_names = [f"I{name}{i}" for i in (1, 2, 3)]
        self.scalar_names.check_names(
            [f"m{name}"] * (mass is None) + moment_names * (inertia is None)
        )
        mass = self.constants(f"m{name}")[0] if mass is None else self.scalar(mass)
        moments = self.constants(*moment_names) if inertia is None else inertia
        rigid_body = Body(name, self.points(centre)[0], mass, self.inertia_matrix(moments))
        self._add_frame(rigid_body, "a body")
        self.machine.bodies.append(rigid_body)
        return rigid_body

    def inertia_matrix(self, inertia: Any) -> Mat3:
        """0, three moments or a 3 x 3 array as expressions."""
        if isinstance(inertia, Sequence) and not isinstance(inertia, str) and len(inertia) == 3:
            if all(
                isinstance(row, Sequence) and not isinstance(row, str) and len(row) == 3
                for row in inertia
            ):
                m = tuple(tuple(self.scalar(x) for x in row) for row in inertia)
                if any(
                    m[i][j].fingerprint != m[j][i].fingerprint for i in range(3) for j in range(i)
                ):
                    raise ModelError(f"inertia={inertia!r} is not symmetric")
                return m  # type: ignore[return-value]
            a, b, c = (self.scalar(x) for x in inertia)
            return (a, ZERO, ZERO), (ZERO, b, ZERO), (ZERO, ZERO, c)
        if isinstance(inertia, int | float) and inertia == 0:
            return ((ZERO,) * 3,) * 3
        raise ModelError(f"inertia={inertia!r} must be 0, three moments or a symmetric 3 x 3 array")

    def _free_frames(self, names: list[str]) -> list[str]:
        for name in self.frame_names.check_names(names):
            clashes = [s for s in self.scalar_names if s in (f"{name}1", f"{name}2", f"{name}3")]
            if clashes:
                names_text = ", ".join(clashes)
                raise ModelError(
                    f"the unit vectors of a frame {name} would be called {names_text}, "
                    f"which are scalars"
                )
        return names

    def _add_frame(self, f: Frame, description: str) -> None:
        self.frame_names.add_name(f, description)
        self.motion.frames.append(f)

    def points(self, *names: str) -> tuple[Point, ...]:
        """Declare points.

        Parameters
        ----------
        names : str
            Names.

        Returns
        -------
        tuple of Point
            The points.
        """
        points = tuple(Point(name) for name in self.point_names.check_names(split_names(names)))
        for p in points:
            self.point_names.add_name(p, "a point")
        return points

    def particle(self, name: str, mass: Any = None) -> Point:
        """Declare a particle: a point with mass.

        Parameters
        ----------
        name : str
            Name.
        mass : ScalarLike, optional
            Mass. Default: the constant m<name>.

        Returns
        -------
        Point
            The point.
        """
        self.point_names.check_names([name])
        value = self.constants(f"m{name}")[0] if mass is None else self.scalar(mass)
        (p,) = self.points(name)
        self.machine.masses[p] = value
        return p

    # ---- formulas

    @property
    def time(self) -> Symbol:
        return TIME

    def scalar(self, given: Any) -> Expr:
        """Read an expression.

        Parameters
        ----------
        given : ScalarLike
            A number, an expression or text.

        Returns
        -------
        Expr
            The expression.
        """
        return self.language.scalar(given) if isinstance(given, str) else expression(given)

    def vector(self, given: Any) -> Vector:
        """Read a vector.

        Parameters
        ----------
        given : VectorLike
            A vector, or text such as "la*u1*A2"; 0 is the zero vector.

        Returns
        -------
        Vector
            The vector.
        """
        if isinstance(given, Vector):
            return given
        if isinstance(given, str):
            return self.language.vector(given)
        if isinstance(given, int | float) and given == 0:
            return Vector({})
        raise ModelError(f"expected a vector, not {given!r}")

    @property
    def language(self) -> KaneLanguage:
        return KaneLanguage(self.lookup, self.known_names)

    def lookup(self, name: str) -> Value | None:
        """The scalar or unit vector of a name. Where q1 is a scalar and Q1 a unit vector, capitals
        matter as well."""
        if name == "t":
            return TIME
        if name.endswith("'") and (moving := self.scalar_names.get(name[:-1])) is not None:
            return self.scalars.rate(moving)
        scalar, frame = self.scalar_names.get(name), self.frame_names.get(name[:-1])
        unit = frame[int(name[-1])] if frame is not None and name[-1] in "123" else None
        if scalar is not None and unit is not None and scalar.name != name:
            return unit
        return scalar or unit

    def known_names(self) -> list[str]:
        return [
            *self.scalar_names,
            *(f"{f.name}{i}" for f in self.motion.frames for i in (1, 2, 3)),
        ]

    def frame(self, given: Frame | str) -> Frame:
        """Find a frame.

        Parameters
        ----------
        given : Frame or str
            The frame or its name.

        Returns
        -------
        Frame
            The frame.
        """
        return self.frame_names.find(given)

    def point(self, given: Point | str) -> Point:
        """Find a point.

        Parameters
        ----------
        given : Point or str
            The point or its name.

        Returns
        -------
        Point
            The point.
        """
        return self.point_names.find(given)

    def symbol(self, given: Symbol | str) -> Symbol:
        """Find a symbol.

        Parameters
        ----------
        given : Symbol or str
            The symbol or its name.

        Returns
        -------
        Symbol
            The symbol.
        """
        return self.scalar_names.find(given)
