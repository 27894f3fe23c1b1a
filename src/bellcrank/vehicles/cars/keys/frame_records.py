# ruff: noqa: RUF009  (a key is a field of the record)
"""What a car file says about a frame or body that twists."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.vehicles.file_keys import file_key

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class FramePartKeys:
    """The part of the sprung mass ahead of the joint of a flexible frame, without loads."""

    mass: float = file_key("mass", "M", sign=1, usual=(50, 4000))
    cg: Vector = file_key("mass centre", "L", kind="vector")
    inertia: Vector = file_key(
        "moments of inertia about its mass centre: roll, pitch, yaw", "M*L**2", kind="vector"
    )
    inertia_xz: float = file_key(
        "product of inertia, -integral of x z dm", "M*L**2", 0.0, usual=(-300, 300)
    )


@dataclass(frozen=True)
class FrameKeys:
    """A frame or body that twists: a front and a rear part on one axis along the car."""

    torsion_stiffness: float = file_key(
        "torque per angle of torsion, between the front and the rear axle",
        "F*L/A",
        sign=1,
        usual=(2e4, 4e6),
    )
    torsion_damping: float | None = file_key(
        "torque per rate of torsion; default: from `damping_ratio`", "F*L*T/A", None, sign=0
    )
    damping_ratio: float | None = file_key(
        "damping ratio of the torsion of the free frame; default: 0.02",
        default=None,
        sign=0,
        usual=(0.005, 0.1),
    )
    at: Vector | None = file_key(
        "joint: x divides axles and loads, z is the height of the torsion axis, y is 0; "
        "default: mid-wheelbase, height "
        "of the mass centre of the body",
        "L",
        None,
        kind="vector",
    )
    front: FramePartKeys | None = file_key(
        "front part, without loads; default: a split by the wheelbase",
        default=None,
        kind="section",
        record=FramePartKeys,
    )
