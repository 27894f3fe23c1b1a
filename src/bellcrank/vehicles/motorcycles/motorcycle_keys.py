# ruff: noqa: RUF009  (a key is a field of the record)
"""The motorcycle as data: what a motorcycle file may contain, section by section, in SI units.

Coordinates: x forward from the rear contact point, y to the left, z up from the road, of the
motorcycle at rest with its rider, upright and with straight steering. Everything lies in the plane
of symmetry but for what is said otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bellcrank.vehicles.cars.keys.car_keys import BumpStopKeys, CarEventKeys, Vector, WheelKeys
from bellcrank.vehicles.file_keys import file_key


@dataclass(frozen=True)
class MotorcycleBodyKeys:
    """A rigid body of the motorcycle."""

    mass: float = file_key("mass", "M", sign=1, usual=(0.2, 400))
    cg: Vector = file_key("mass centre, at rest", "L", kind="vector")
    inertia: Vector = file_key(
        "moments of inertia about the mass centre: roll, pitch, yaw", "M*L**2", kind="vector"
    )
    inertia_xz: float = file_key(
        "product of inertia, -integral of x z dm", "M*L**2", 0.0, usual=(-10, 10)
    )


@dataclass(frozen=True)
class RiderLeanKeys:
    """A rider whose upper body rolls against the frame, about an axis along x."""

    height: float = file_key("height of the axis above the road", "L", sign=1, usual=(0.5, 1.2))
    stiffness: float = file_key(
        "stiffness of the rider against the frame", "F*L/A", sign=0, usual=(100, 2e4)
    )
    damping: float = file_key(
        "damping of the rider against the frame", "F*L*T/A", 0.0, sign=0, usual=(0, 500)
    )


@dataclass(frozen=True)
class RiderKeys(MotorcycleBodyKeys):
    """The rider, or the upper body of one whose lower body is part of the frame; fixed without
    `lean`."""

    lean: RiderLeanKeys | None = file_key(
        "roll against the frame; fixed without it",
        default=None,
        kind="section",
        record=RiderLeanKeys,
    )


@dataclass(frozen=True)
class ForkStrutKeys:
    """A spring and a damper. The preload is solved so that the motorcycle is at rest as drawn."""

    stiffness: float = file_key("stiffness", "F/L", sign=1, usual=(3e3, 3e5))
    compression: float = file_key("damping in compression", "F*T/L", sign=0, usual=(100, 3e4))
    rebound: float = file_key("damping in rebound", "F*T/L", sign=0, usual=(100, 3e4))
    bump_stop: BumpStopKeys | None = file_key(
        "elastic stop of compression", default=None, kind="section", record=BumpStopKeys
    )
    rebound_stop: BumpStopKeys | None = file_key(
        "elastic stop of extension", default=None, kind="section", record=BumpStopKeys
    )


@dataclass(frozen=True, kw_only=True)
class SwingArmStrutKeys(ForkStrutKeys):
    """The strut of a swing arm, between a point of the frame and one of the arm."""

    frame: Vector = file_key("end in the frame", "L", kind="vector")
    arm: Vector = file_key("end in the swing arm", "L", kind="vector")


@dataclass(frozen=True)
class MotorcycleTyreData:
    """A tyre: by the values of `bc.vehicles.tyres.MotorcycleTyre`, or by a .tir file with a crown
    radius."""

    crown: float = file_key(
        "crown radius: that of the cross-section", "L", 0.0, sign=0, usual=(0.01, 0.12)
    )
    file: str | None = file_key(
        "a .tir file, relative to the folder of this file, instead of the values",
        default=None,
        kind="text",
    )
    radius: float | None = file_key("radius without load", "L", None, sign=1, usual=(0.2, 0.4))
    width: float | None = file_key("width, for pictures", "L", None, sign=1, usual=(0.02, 0.25))
    cornering: float | None = file_key(
        "lateral force per load and slip angle in rad", default=None, sign=1, usual=(5, 40)
    )
    camber: float | None = file_key(
        "lateral force per load and inclination in rad", default=None, sign=0, usual=(0.5, 1.5)
    )
    longitudinal: float | None = file_key(
        "longitudinal force per load and slip", default=None, sign=1, usual=(8, 50)
    )
    friction: float | None = file_key(
        "largest force per load", default=None, sign=1, usual=(0.3, 1.8)
    )
    trail: float | None = file_key("pneumatic trail", "L", None, sign=0, usual=(0, 0.05))
    twist: float | None = file_key(
        "aligning torque per load and inclination in rad", "L", None, usual=(0, 0.03)
    )
    relaxation: float | None = file_key(
        "relaxation length across the wheel", "L", None, sign=1, usual=(0.05, 0.5)
    )
    vertical_stiffness: float | None = file_key(
        "stiffness under load", "F/L", None, sign=1, usual=(5e4, 4e5)
    )
    vertical_damping: float | None = file_key(
        "damping under load", "F*T/L", None, sign=0, usual=(0, 1e3)
    )
    rolling_resistance: float | None = file_key(
        "resistance over load", default=None, sign=0, usual=(0.004, 0.03)
    )


@dataclass(frozen=True)
class FrontAssemblyKeys:
    """Steering head, telescopic fork and front wheel. The fork slides along the steering axis."""

    wheelbase: float = file_key(
        "distance of the wheel centres at rest, along x", "L", sign=1, usual=(0.8, 1.8)
    )
    rake: float = file_key(
        "angle of the steering axis to the vertical, top rearward", "A", sign=0, usual=(0.3, 0.65)
    )
    steer: MotorcycleBodyKeys = file_key(
        "steered part: clamps, handlebar, fork tubes", kind="section", record=MotorcycleBodyKeys
    )
    wheel: WheelKeys = file_key(
        "rotating parts: wheel, tyre, brake discs", kind="section", record=WheelKeys
    )
    tyre: MotorcycleTyreData = file_key("tyre", kind="section", record=MotorcycleTyreData)
    trail: float | None = file_key(
        "ground trail at rest: the contact lies behind the steering axis",
        "L",
        None,
        usual=(0.03, 0.18),
    )
    offset: float | None = file_key(
        "instead of trail: distance of the wheel centre before the steering axis",
        "L",
        None,
        usual=(-0.02, 0.09),
    )
    damper: float = file_key("steering damper", "F*L*T/A", 0.0, sign=0, usual=(0, 20))
    slider: MotorcycleBodyKeys | None = file_key(
        "fork sliders, calipers, mudguard; needed with a spring",
        default=None,
        kind="section",
        record=MotorcycleBodyKeys,
    )
    spring: ForkStrutKeys | None = file_key(
        "spring and damper of the fork, of both legs together; a rigid fork without it",
        default=None,
        kind="section",
        record=ForkStrutKeys,
    )


@dataclass(frozen=True, kw_only=True)
class SwingArmKeys(MotorcycleBodyKeys):
    """The swing arm."""

    pivot: Vector = file_key("pivot in the frame", "L", kind="vector")


@dataclass(frozen=True)
class RearAssemblyKeys:
    """Rear wheel, on a swing arm with a strut or fixed to the frame."""

    wheel: WheelKeys = file_key(
        "rotating parts: wheel, tyre, sprocket, brake disc", kind="section", record=WheelKeys
    )
    tyre: MotorcycleTyreData = file_key("tyre", kind="section", record=MotorcycleTyreData)
    arm: SwingArmKeys | None = file_key(
        "swing arm; without it the wheel is fixed to the frame",
        default=None,
        kind="section",
        record=SwingArmKeys,
    )
    spring: SwingArmStrutKeys | None = file_key(
        "strut of the swing arm", default=None, kind="section", record=SwingArmStrutKeys
    )


@dataclass(frozen=True)
class ChainDriveKeys:
    """The final drive. The upper run pulls when the engine drives, the lower one when it brakes."""

    sprocket: Vector = file_key("centre of the engine sprocket", "L", kind="vector")
    front_radius: float = file_key(
        "pitch radius of the engine sprocket", "L", sign=1, usual=(0.025, 0.06)
    )
    rear_radius: float = file_key(
        "pitch radius of the sprocket on the wheel", "L", sign=1, usual=(0.07, 0.16)
    )


@dataclass(frozen=True)
class MotorcycleBrakeKeys:
    """Brakes: that of the front wheel acts on the fork, that of the rear wheel on the swing arm."""

    front_share: float = file_key(
        "fraction of the brake torque on the front wheel",
        default=0.7,
        sign=0,
        usual=(0.4, 1.0),
        most=1,
    )


@dataclass(frozen=True)
class MotorcycleAerodynamicsKeys:
    """Forces of the air on the frame, at the pressure centre."""

    drag_area: float = file_key(
        "drag coefficient times frontal area", "L**2", sign=0, usual=(0.2, 0.8)
    )
    lift_area: float = file_key(
        "lift coefficient times frontal area", "L**2", 0.0, usual=(-0.1, 0.2)
    )
    at: Vector = file_key("pressure centre", "L", (0.7, 0.0, 0.6), kind="vector")
    density: float = file_key("density of the air", "M/L**3", 1.206, sign=1, usual=(0.8, 1.4))


@dataclass(frozen=True)
class MotorcycleFileKeys:
    """The whole file."""

    frame: MotorcycleBodyKeys = file_key(
        "frame with engine, tank, seat, and all that does not move against them",
        kind="section",
        record=MotorcycleBodyKeys,
    )
    front: FrontAssemblyKeys = file_key("front end", kind="section", record=FrontAssemblyKeys)
    rear: RearAssemblyKeys = file_key("rear end", kind="section", record=RearAssemblyKeys)
    name: str = file_key("name of the motorcycle", default="motorcycle", kind="text")
    rider: RiderKeys | None = file_key("rider", default=None, kind="section", record=RiderKeys)
    chain: ChainDriveKeys | None = file_key(
        "chain; without it the drive torque acts on the swing arm, as of a shaft drive",
        default=None,
        kind="section",
        record=ChainDriveKeys,
    )
    brakes: MotorcycleBrakeKeys = file_key(
        "brakes", default=MotorcycleBrakeKeys(), kind="section", record=MotorcycleBrakeKeys
    )
    aerodynamics: MotorcycleAerodynamicsKeys | None = file_key(
        "aerodynamic forces", default=None, kind="section", record=MotorcycleAerodynamicsKeys
    )
    events: Mapping[str, CarEventKeys] | None = file_key(
        "events, by name", default=None, kind="sections", record=CarEventKeys
    )
