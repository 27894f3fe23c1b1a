"""Carriers of the wheels on their linkages: one linkage for each wheel, or one for both (solid
axle, twist beam).

In: an axle as data. Out: `WheelCarrier` of each corner: the body that carries the wheel, where its
centre is, and its hard points, by their names on the left side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bellcrank.api.system import System
from bellcrank.linkage.axle_sides import name_on_side
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.model.formula import call_formula, dot
from bellcrank.vehicles.cars.design.axles import AxleData
from bellcrank.vehicles.cars.design.car_data import CORNER_WORDS
from bellcrank.vehicles.model_parameters import add_si_parameter

Place = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class WheelCarrier:
    """What carries a wheel. `centre`: of the wheel in the body `carrier`, m; `travel`: formula of
    the wheel travel."""

    joint: Any
    carrier: BodyHandle
    centre: Place
    travel: str
    side: int
    both: bool

    def hard_point(self, left_name: str) -> Any:
        """The hard point that is called `left_name` on the left side, as a point of the model."""
        return self.joint.point(name_on_side(left_name, self.side) if self.both else left_name)


def add_independent_suspension(
    s: System,
    name: str,
    axle: AxleData,
    side: int,
    chassis: BodyHandle,
    rack: BodyHandle,
    exact: bool,
) -> WheelCarrier:
    """The carrier of a wheel on its own linkage, with the links that have mass."""
    record, offset = axle.record, _point_on_side(axle.record.at, side)
    linkage = axle.linkage if side > 0 else axle.linkage.mirror()
    centre = _offset_point(linkage.points["wheel_centre"], offset)
    cg = (
        centre
        if record.carrier.cg is None
        else _offset_point(_point_on_side(record.carrier.cg, side), offset)
    )
    carrier = s.add_body(
        name,
        parent=chassis,
        mass=record.carrier.mass,
        inertia=record.carrier.inertia,
        cm=cg,
        label=f"{CORNER_WORDS[name]} carrier",
    )
    steered = axle.is_steered and axle.name == "front"
    joint = s.add_linkage(
        name,
        linkage,
        base=chassis,
        carrier=carrier,
        exact=exact,
        rack=rack if steered else None,
        at=offset,
    )
    for link, part in (record.links or {}).items():
        link_cg = None if part.cg is None else _offset_point(_point_on_side(part.cg, side), offset)
        joint.link(link, mass=part.mass, inertia=part.inertia, cm=link_cg, label=f"{link} {name}")
    return WheelCarrier(joint, carrier, centre, f"q({name})", side, both=False)


def add_dependent_suspension(
    s: System, axle: AxleData, chassis: BodyHandle, exact: bool
) -> dict[str, WheelCarrier]:
    """The one linkage of both wheels, by their corners: axle or arms, links with mass, torsion of a
    cross beam."""
    linkage, offset = axle.linkage, axle.record.at
    chain, name = linkage.chain, carrier_name(axle)
    links = {body: part for side in (1, -1) for part, body, _ in axle.unsprung_parts(side)}
    carrier_link = links.pop(chain.carrier)
    carrier = s.add_body(
        name,
        parent=chassis,
        mass=carrier_link.mass,
        inertia=carrier_link.inertia,
        cm=_offset_point(carrier_link.cg, offset),
        label=f"{axle.name} {chain.carrier.replace('_', ' ')}",
    )
    joint = s.add_linkage(axle.name, linkage, base=chassis, carrier=carrier, exact=exact, at=offset)
    bodies = {chain.carrier: carrier}
    for body, part in links.items():
        bodies[body] = joint.link(
            body,
            mass=part.mass,
            inertia=part.inertia,
            cm=_offset_point(part.cg, offset),
            label=f"{axle.name} {body.replace('_', ' ')}",
        )
    if axle.record.twist_stiffness is not None:
        _add_beam_torsion(s, axle, bodies["left_arm"], bodies["right_arm"])
    mounts = {}
    for corner, side in ((f"{axle.name[0]}l", 1), (f"{axle.name[0]}r", -1)):
        hub = name_on_side(chain.hub, side)
        travel = f"q({name}, 1) {'+' if side > 0 else '-'} {chain.track / 2!r}*sin(q({name}, 2))"
        mounts[corner] = WheelCarrier(
            joint,
            bodies[chain.points[hub].body],
            _offset_point(chain.place(hub), offset),
            travel,
            side,
            True,
        )
    return mounts


def carrier_name(axle: AxleData) -> str:
    """The body whose coordinates are travel and roll of an axle."""
    return f"{axle.name}.{axle.linkage.chain.carrier}"


def axle_coordinates(axle: AxleData, left_travel: float, right_travel: float) -> dict[str, float]:
    """Coordinates of an axle at travels of its wheels, m."""
    name = carrier_name(axle)
    return {
        f"q({name}, {i})": value
        for i, value in enumerate(axle.linkage_inputs(left_travel, right_travel), 1)
    }


def _add_beam_torsion(
    s: System, axle: AxleData, left_arm: BodyHandle, right_arm: BodyHandle
) -> None:
    """The torsion of the cross beam between the arms of a twist beam."""
    name = axle.name
    stiffness_label = f"torsional stiffness of the {name} cross beam"
    k = add_si_parameter(
        s, f"k_twist_{name}", axle.record.twist_stiffness or 0.0, "F*L/A", stiffness_label
    )
    angle = call_formula("atan2", dot(right_arm[1], left_arm[3]), dot(right_arm[3], left_arm[3]))
    s.define(f"twist_{name}", angle)
    s.add_moment(
        f"{name}.beam",
        magnitude=f"-{k}*twist_{name}",
        direction=left_arm[2],
        on=left_arm,
        against=right_arm,
        label=f"torsion of the {name} cross beam",
    )
    label = f"twist of the {name} cross beam, left arm up positive"
    s.add_output(f"{name}.twist", f"twist_{name}", label=label, units="deg")


def _offset_point(point: Any, offset: Any) -> Place:
    x, y, z = (float(a + b) for a, b in zip(point, offset, strict=True))
    return x, y, z


def _point_on_side(point: Any, side: int) -> Place:
    x, y, z = point
    return x, side * y, z
