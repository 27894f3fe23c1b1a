"""Linkages in a System: the joint of a carrier, its links and points."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.units import unit_system
from bellcrank.linkage.chain import BASE
from bellcrank.linkage.implicit_linkage import implicit_equations
from bellcrank.linkage.linkage import Linkage
from bellcrank.linkage.pose_lookup import pose_lookup
from bellcrank.linkage.pose_table import Table
from bellcrank.model.describe.builder import Builder
from bellcrank.model.describe.handles import BodyHandle, ForceHandle, PointHandle, StateHandles
from bellcrank.model.guided_linkage import ExactGuide, TableGuide
from bellcrank.model.joints.guided import GuideRecord
from bellcrank.model.owner import OwnName
from bellcrank.model.records import BodyRecord
from bellcrank.model.scope import NAME
from bellcrank.program.grid_lookup import LookupFormulas
from bellcrank.program.implicit_function import ImplicitFormulas
from bellcrank.symbolic.expr import Expr, Symbol
from bellcrank.symbolic.expr.formula_parser import axis_number

SPAN = {
    "rack": (-0.06, 0.06),
    "roll": (-0.15, 0.15),
}  # of a second input in a table made for a joint, m or rad
ACCURACY = {
    False: 1e-8,
    True: 1e-6,
}  # of such a table, m and rad: quintic with one input, bicubic with two


class LinkageJoint:
    """A linkage between a base and a carrier of a System."""

    def __init__(
        self,
        builder: Builder,
        name: str,
        linkage: Any,
        base: Any,
        carrier: str,
        guided: GuideRecord,
    ) -> None:
        self._builder, self.name, self.linkage = builder, name, linkage
        self._base, self._guided = base, guided
        self._bodies: dict[str, Any] = {linkage.chain.carrier: carrier, BASE: base}

    @property
    def q(self) -> Expr:
        """The coordinate: travel of the wheel centre, up from the drawn position (of an axle:
        `carrier.q[2]` is the roll).
        """
        return _carrier_states(
            self._bodies[self.linkage.chain.carrier], self._guided.coordinate_count
        )[0][0]

    @property
    def u(self) -> Expr:
        """The rate of travel."""
        return _carrier_states(
            self._bodies[self.linkage.chain.carrier], self._guided.coordinate_count
        )[1][0]

    def link(
        self,
        name: str,
        *,
        mass: Any = 0,
        inertia: Any = 0,
        cm: Sequence[Any] | None = None,
        label: str | None = None,
    ) -> BodyHandle:
        """The body of an internal link, `<joint>.<link>`: its frame is that of the base as drawn,
        so points and `cm` (default: the link's reference point) are coordinates of the base.
        Without mass it costs nothing.
        """
        if name == self.linkage.chain.carrier:
            raise ModelError(
                f"'{name}' is the carrier itself: body '{self._bodies[name]}'", self._builder.name
            )
        self._check_known(name, self.linkage.links, "link")
        link_origin = self.linkage.origins[name]
        body = f"{self.name}.{name}"
        if name not in self._bodies:
            guide = replace(
                self._guided, part=name, coordinate_count=0, drawn=_as_float_triple(link_origin)
            )
            self._builder.description.bodies.append(
                BodyRecord(body, self._base, label, 0, 0, joint=guide)
            )
            self._bodies[name] = body
        record = next(b for b in self._builder.description.bodies if b.name == body)
        if mass != 0 or inertia != 0:
            record.mass, record.inertia, record.cm = (
                mass,
                inertia,
                tuple(self._to_base_units(link_origin) if cm is None else cm),
            )
        return BodyHandle(body, [], [], self._builder.owner)

    def _check_known(self, name: str, names: Collection[str], kind: str) -> None:
        if name not in names:
            raise ModelError(
                f"linkage '{self.name}' has no {kind} '{name}'.{did_you_mean(name, names)} "
                f"It has: {', '.join(names)}.",
                self._builder.name,
            )

    @property
    def _metre(self) -> float:
        """1 m in the length unit of the builder."""
        units = unit_system(self._builder.description.units)
        return float(
            units.parse_unit("m").to_equation_units(1.0)
            / units.parse_unit(units.length).to_equation_units(1.0)
        )

    def _to_base_units(self, drawn: Sequence[float]) -> tuple[float, ...]:
        """A drawn point in the base."""
        return tuple(
            float(x + y) * self._metre for x, y in zip(drawn, self._guided.at, strict=True)
        )

    def point(self, name: str) -> PointHandle:
        """A hard point as a point of the system, `<joint>.<point>`, on the body it belongs to."""
        points = self.linkage.chain.points
        self._check_known(name, points, "hard point")
        body, full = points[name].body, f"{self.name}.{name}"
        if all(p.name != full for p in self._builder.description.points):
            if body not in self._bodies:
                self.link(body)
            position = self._to_base_units(points[name].at)
            base = self._builder.inertial if self._base is None else self._base
            self._builder.add_point(full, self._bodies[body], at=position, coordinates_of=base)
        return PointHandle(OwnName(full, self._builder.owner))

    def add_spring(
        self,
        name: str,
        between: Sequence[str] | str,
        *,
        stiffness: float,
        damping: float = 0.0,
        free_length: float | None = None,
        preload: float | None = None,
        ride: tuple[float, float] | None = None,
        stop: Any = None,
    ) -> ForceHandle:
        """A spring and damper between two hard points (or along a strut of the file), in user units
        of the builder.

        Its free length is given by one of: `free_length`; `preload`, its push as drawn; `ride` =
        (travel, load), the vertical load at the wheel centre that it carries at that travel. `stop`
        is a table of a further push against shortening from the drawn length (positive: shorter).
        Stiffness, damping and free length become parameters
        `<name>_k`, `<name>_c`, `<name>_l0`.
        """
        struts = {x.name: x.points for x in self.linkage.chain.struts}
        if isinstance(between, str) and between not in struts:
            raise ModelError(
                f"linkage '{self.name}' has no strut '{between}'.{did_you_mean(between, struts)}",
                self._builder.name,
            )
        first, second = struts[between] if isinstance(between, str) else between
        if sum(x is not None for x in (free_length, preload, ride)) != 1:
            raise ModelError(
                f"spring '{name}': give one of free_length=, preload= and ride=", self._builder.name
            )
        points = self.point(first), self.point(second)
        if free_length is None:
            pose = self.linkage.solve(0.0 if ride is None else float(ride[0]) / self._metre)
            a, b = pose.point(first), pose.point(second)
            line = a.position - b.position
            length = float(np.linalg.norm(line))
            ratio = float(line @ (a.d - b.d)) / length
            if ride is not None and abs(ratio) < 1e-6:
                raise ModelError(
                    f"spring '{name}': at travel {ride[0]} it does not feel the wheel "
                    f"(motion ratio {ratio:.2g})",
                    self._builder.name,
                )
            force = preload if ride is None else -float(ride[1]) / ratio
            assert force is not None
            free_length = length * self._metre + force / stiffness
        builder, spring_label = self._builder, name.replace("_", " ")
        builder.add_parameter(
            f"{name}_k", stiffness, units="F/L", label=f"stiffness of {spring_label}"
        )
        builder.add_parameter(
            f"{name}_c", damping, units="F*T/L", label=f"damping of {spring_label}"
        )
        builder.add_parameter(
            f"{name}_l0", free_length, units="L", label=f"free length of {spring_label}"
        )
        push_text = f"{name}_k*({name}_l0 - x) - {name}_c*v"
        if stop is not None:
            builder.define(f"{name}_stop", stop)
            push_text += f" + {name}_stop(x0 - x)"
        return builder.add_strut(name, magnitude=push_text, between=points)


def add_linkage(
    builder: Builder,
    name: str,
    linkage: Linkage | Table,
    base: Any,
    carrier: Any,
    exact: bool,
    rack: Any,
    at: Sequence[float],
    accuracy: float | None,
    extend: bool,
) -> LinkageJoint:
    """See `System.add_linkage`."""
    d = builder.description
    carrier_name = carrier if isinstance(carrier, str) else carrier.name
    record = _find_body_record(builder, carrier_name)
    if record is None:
        body_names = [b.name for b in d.bodies]
        raise ModelError(
            f"linkage '{name}': no body is called "
            f"'{carrier_name}'.{did_you_mean(str(carrier_name), body_names)}",
            d.name,
        )
    if _body_name(record.parent) != _body_name(base):
        raise ModelError(
            f"linkage '{name}': the carrier '{record.name}' must be added with "
            f"parent={_body_name(base)!r}, its base",
            d.name,
        )
    if record.joint is not None:
        raise ModelError(
            f"linkage '{name}': the carrier '{record.name}' has a linkage already", d.name
        )
    if not isinstance(linkage, Linkage | Table):
        raise ModelError(
            f"linkage '{name}': a Linkage or a Table is needed, given {type(linkage).__name__}",
            d.name,
        )
    kinds = [i.kind for i in linkage.chain.inputs]
    if rack is not None and "rack" not in kinds:
        raise ModelError(
            f"linkage '{name}': '{linkage.name}' has no rack; its inputs are {', '.join(kinds)}",
            d.name,
        )
    guide = _make_guide(name, linkage, exact, rack is not None or "roll" in kinds, accuracy, extend)
    own_count = 2 if "roll" in kinds else 1
    body = None if rack is None else _rack_body(builder, name, rack, linkage, base)
    leaders = tuple((record.name, i) for i in range(own_count)) + (
        () if body is None else ((body, 0),)
    )
    drawn = linkage.chain.place(linkage.chain.wheel_centre)
    start = guide.numeric_motion(linkage.chain.carrier, [0.0] * len(guide.coordinate_kinds()), 1.0)[
        "p"
    ]
    nominal = _as_float_triple(start) if max(abs(start - drawn)) > 1e-9 else drawn
    rack_formula = rack if body is None else None
    record.joint = GuideRecord(
        guide,
        linkage.chain.carrier,
        own_count,
        leaders,
        _as_float_triple(at),
        nominal,
        rack_formula,
    )
    if isinstance(carrier, BodyHandle):
        q, u = _carrier_states(record.name, own_count)
        carrier.q, carrier.u = (
            StateHandles(q, f"{record.name}.q"),
            StateHandles(u, f"{record.name}.u"),
        )
    return LinkageJoint(builder, name, linkage, base, record.name, record.joint)


def _as_float_triple(v: Sequence[float]) -> tuple[float, float, float]:
    return float(v[0]), float(v[1]), float(v[2])


def _carrier_states(body: str, own_count: int) -> tuple[list[Symbol], list[Symbol]]:
    """Coordinates and speeds of a carrier."""
    names = [body] if own_count == 1 else [f"{body}, {i}" for i in range(1, own_count + 1)]
    return [Symbol(f"q({n})", "coordinate") for n in names], [
        Symbol(f"u({n})", "speed") for n in names
    ]


def _find_body_record(builder: Builder, name: Any) -> BodyRecord | None:
    return next((b for b in builder.description.bodies if b.name == str(name)), None)


def _body_name(body: Any) -> str:
    return "n" if body is None else str(body if isinstance(body, str) else body.name)


def _rack_body(builder: Builder, name: str, rack: Any, linkage: Any, base: Any) -> str | None:
    """The body whose sliding is the rack travel: one translation in the base, along the linkage's
    rack axis. None if the rack is no body but a formula.
    """
    record = _find_body_record(
        builder,
        rack.name if isinstance(rack, BodyHandle) else rack if isinstance(rack, str) else None,
    )
    if record is None:
        formula = isinstance(rack, str | int | float | Expr) or hasattr(rack, "syntax")
        if isinstance(rack, BodyHandle | bool) or not formula:
            raise ModelError(
                f"linkage '{name}': rack={rack!r} is neither a body of the system nor a "
                f"formula over time, inputs and"
                " parameters",
                builder.name,
            )
        d = builder.description
        scalars = [*(v.name for v in d.variables), *d.definitions]
        scalar_names = [*scalars, *d.parameters]
        if (
            isinstance(rack, str)
            and NAME.fullmatch(rack)
            and rack != "t"
            and rack not in scalar_names
        ):
            raise ModelError(
                f"linkage '{name}': rack={rack!r} names no body, input, parameter or "
                f"definition that the system has"
                f" so far.{did_you_mean(rack, [*(b.name for b in d.bodies), *scalars])}",
                builder.name,
            )
        return None
    axis = next(i.axis for i in linkage.chain.inputs if i.kind == "rack")
    directions = record.translate
    slide = (
        directions[0]
        if isinstance(directions, tuple | list) and len(directions) == 1
        else directions
    )
    number = axis_number(slide)
    vector = slide if number is None else tuple(1.0 if i == number else 0.0 for i in (1, 2, 3))
    rotates = record.rotate not in ((), None, [])
    if (
        _body_name(record.parent) != _body_name(base)
        or rotates
        or not isinstance(vector, tuple)
        or len(vector) != 3
    ):
        raise ModelError(
            f"linkage '{name}': the rack '{record.name}' must slide in '{_body_name(base)}' "
            f"along one axis",
            builder.name,
        )
    if any(abs(float(a) - b) > 1e-9 for a, b in zip(vector, axis, strict=True)):
        raise ModelError(
            f"linkage '{name}': the rack '{record.name}' slides along {vector}, the "
            f"linkage's rack along {axis}",
            builder.name,
        )
    return record.name


def _make_guide(
    name: str,
    linkage: Linkage | Table,
    exact: bool,
    second: bool,
    accuracy: float | None,
    extend: bool,
) -> Any:
    if isinstance(linkage, Linkage):
        if exact:
            return ExactGuide(
                name,
                linkage,
                second,
                ImplicitFormulas(partial(implicit_equations, linkage, second)),
            )
        span = SPAN[linkage.inputs[1]] if second else None
        fine = ACCURACY[second] if accuracy is None else accuracy
        return _make_guide(
            name, linkage.table(accuracy=fine, rack=span), False, second, accuracy, extend
        )
    table = linkage

    def formulas(part: str) -> LookupFormulas:
        return LookupFormulas(partial(pose_lookup, table, part, extend))

    return TableGuide(name, table, second, formulas, extend)
