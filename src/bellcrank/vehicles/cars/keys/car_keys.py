# ruff: noqa: RUF009  (a key is a field of the record)
"""The car as data: what a car file may say, section by section, in SI units.

Coordinates are those of the car: x forward, y to the left, z up (ISO 8855), or along `axes`, from
any origin; hard points have their own axes and are moved by `at` of their axle. Everything is given
for the left side and mirrored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bellcrank.choices import Crossing
from bellcrank.linkage.chain import AXES
from bellcrank.vehicles.cars.keys.controller_keys import AbsKeys, ControllerKeys, TrailerAbsKeys
from bellcrank.vehicles.cars.keys.frame_records import FrameKeys
from bellcrank.vehicles.file_keys import file_key

Vector = tuple[float, float, float]
Pairs = tuple[tuple[float, float], ...]
Rows = tuple[tuple[float, ...], ...]
DIRECTIONS: dict[str, Crossing] = {"both": 0, "up": 1, "down": -1}


@dataclass(frozen=True)
class BodyKeys:
    """The sprung mass without loads: body, engine, all that stands on the springs."""

    mass: float = file_key("mass of the body", "M", sign=1, usual=(100, 4000))
    cg: Vector = file_key("mass centre of the body", "L", kind="vector")
    inertia: Vector = file_key(
        "moments of inertia about the mass centre: roll, pitch, yaw", "M*L**2", kind="vector"
    )
    inertia_xz: float = file_key(
        "product of inertia, -integral of x z dm", "M*L**2", 0.0, usual=(-300, 300)
    )
    width: float = file_key("width without mirrors, for cones", "L", 1.8, sign=1, usual=(1.2, 2.6))
    length: float = file_key(
        "length from bumper to bumper, for cones", "L", 4.5, sign=1, usual=(2.2, 6.5)
    )
    height: float = file_key(
        "height above the ground, for pictures", "L", 1.45, sign=1, usual=(0.9, 3.2)
    )
    style: str = file_key(
        "what it looks like in pictures",
        default="car",
        kind="text",
        choices=("car", "utility", "van", "truck", "box_truck", "formula"),
    )


@dataclass(frozen=True)
class LoadKeys:
    """A driver, a passenger, luggage: a point mass fixed in the body."""

    mass: float = file_key("mass", "M", sign=0, usual=(0, 1000))
    at: Vector = file_key("position", "L", kind="vector")


@dataclass(frozen=True)
class LinkKeys:
    """A part of a suspension that has mass."""

    mass: float = file_key("mass", "M", sign=0, usual=(0.1, 250))
    inertia: Vector = file_key(
        "moments of inertia about its mass centre", "M*L**2", (0.0, 0.0, 0.0), kind="vector"
    )
    cg: Vector | None = file_key(
        "mass centre as drawn, in the axes of the hard points", "L", None, kind="vector"
    )


@dataclass(frozen=True)
class WheelKeys:
    """What turns: rim, tyre, disc, hub."""

    mass: float = file_key("mass", "M", sign=1, usual=(3, 80))
    spin_inertia: float = file_key(
        "moment of inertia about the axis", "M*L**2", sign=1, usual=(0.1, 12)
    )
    cross_inertia: float | None = file_key(
        "moment of inertia about a diameter; default: half of spin_inertia", "M*L**2", None, sign=1
    )


@dataclass(frozen=True)
class AirSpringKeys:
    """The air of a spring: a bellows of constant effective area. Its pressure is set so that the
    car stands at the
    `travel` of the spring, whatever its load."""

    area: float = file_key("effective area", "L**2", sign=1, usual=(0.002, 0.02))
    volume: float = file_key(
        "volume at the drawn length, with additional tanks", "L**3", sign=1, usual=(5e-4, 0.01)
    )
    exponent: float = file_key(
        "polytropic exponent: 1 isothermal, 1.4 adiabatic", default=1.38, sign=1, usual=(1, 1.4)
    )
    levelling_time: float | None = file_key(
        "self-levelling: time constant with which the ride height of the axle returns; "
        "default: the air is enclosed",
        "T",
        None,
        sign=1,
        usual=(1, 60),
    )


@dataclass(frozen=True)
class SpringKeys:
    """A spring along a strut. Its free length is given, or solved so that the car stands at
    `travel`."""

    strut: str = file_key(
        "strut of the suspension, or two hard points separated by a comma",
        default="spring",
        kind="text",
    )
    stiffness: float | None = file_key("stiffness", "F/L", None, sign=1, usual=(8e3, 5e5))
    table: Pairs | None = file_key(
        "force over compression from the free length, instead of a stiffness",
        ("L", "F"),
        None,
        kind="pairs",
    )
    air: AirSpringKeys | None = file_key(
        "air spring, instead of a stiffness", default=None, kind="section", record=AirSpringKeys
    )
    free_length: float | None = file_key(
        "free length; default: solved so that the car is at rest at `travel`", "L", None, sign=1
    )
    travel: float = file_key(
        "wheel travel at rest, from the drawn position", "L", 0.0, usual=(-0.1, 0.1)
    )
    perch: float = file_key(
        "offset of the spring perches, left up and right down", "L", 0.0, usual=(-0.05, 0.05)
    )
    friction: float = file_key(
        "leaf spring: friction force of the leaves, half the distance of loading and "
        "unloading curve",
        "F",
        0.0,
        sign=0,
        usual=(0, 3000),
    )
    friction_travel: float = file_key(
        "leaf spring: deflection over which its friction turns round to 1/e",
        "L",
        0.002,
        sign=1,
        usual=(0.0005, 0.01),
    )


@dataclass(frozen=True)
class DamperKeys:
    """A damper along a strut: one coefficient, one for each direction, or a table."""

    strut: str = file_key(
        "strut of the suspension, or two hard points separated by a comma",
        default="spring",
        kind="text",
    )
    coefficient: float | None = file_key(
        "damping in both directions", "F*T/L", None, sign=0, usual=(500, 4e4)
    )
    compression: float | None = file_key(
        "damping in compression", "F*T/L", None, sign=0, usual=(300, 4e4)
    )
    rebound: float | None = file_key("damping in rebound", "F*T/L", None, sign=0, usual=(500, 4e4))
    table: Pairs | None = file_key(
        "force over speed, both positive in compression", ("L/T", "F"), None, kind="pairs"
    )


@dataclass(frozen=True)
class BumpStopKeys:
    """An elastic stop along the strut of the spring: F = k d + k3 d^3 after the gap."""

    gap: float = file_key("clearance at the drawn length", "L", sign=0, usual=(0.005, 0.2))
    stiffness: float = file_key("stiffness k", "F/L", sign=0, usual=(0, 5e5))
    cubic: float = file_key(
        "stiffness k3 that grows with the deflection", "F/L**3", 0.0, sign=0, usual=(0, 1.5e9)
    )


@dataclass(frozen=True)
class AntiRollBarKeys:
    """An anti-roll bar: a spring between left and right, by its roll stiffness or its rate at the
    drop links."""

    stiffness: float | None = file_key(
        "roll moment per roll angle of the body relative to the axle",
        "F*L/A",
        None,
        sign=0,
        usual=(1e3, 2e5),
    )
    rate: float | None = file_key(
        "instead of stiffness: drop-link force per relative displacement of the two ends",
        "F/L",
        None,
        sign=0,
        usual=(1e3, 1e6),
    )
    at: str = file_key(
        "hard point to which the bar ends are attached", default="wheel_centre", kind="text"
    )


@dataclass(frozen=True)
class EnvelopingKeys:
    """Two elliptical cams, by which a tyre envelops short obstacles; defaults by its size, or of
    its .tir file."""

    base: float | None = file_key(
        "distance of the cams; default: 0.8 of the contact length at rest",
        "L",
        None,
        sign=0,
        usual=(0, 0.3),
    )
    ellipse: tuple[float, ...] | None = file_key(
        "half axes of a cam, along the road and upright; default: the radius",
        "L",
        None,
        kind="numbers",
        sign=1,
    )
    exponent: float | None = file_key(
        "exponent of the ellipses, at least 1; default: 1.8", default=None, sign=1, usual=(1.5, 2.5)
    )


@dataclass(frozen=True)
class TyreData:
    """A tyre: by a .tir file, by its size, or by the values of a model (fiala)."""

    file: str | None = file_key(
        "a .tir file, relative to the folder of the car file", default=None, kind="text"
    )
    size: str | None = file_key(
        "size and load index, such as '205/60R15 91V': typical values (TMeasy)",
        default=None,
        kind="text",
    )
    kind: str = file_key(
        "kind of a tyre given by size",
        default="passenger",
        kind="text",
        choices=("passenger", "truck"),
    )
    model: str | None = file_key(
        "tyre model with its values", default=None, kind="text", choices=("fiala",)
    )
    c_slip: float | None = file_key(
        "fiala: longitudinal force per slip", "F", None, sign=1, usual=(2e4, 6e5)
    )
    c_alpha: float | None = file_key(
        "fiala: cornering stiffness", "F/A", None, sign=1, usual=(1e4, 4e5)
    )
    umax: float | None = file_key(
        "fiala: friction without slip", default=None, sign=1, usual=(0.3, 1.8)
    )
    umin: float | None = file_key(
        "fiala: friction at full slip", default=None, sign=1, usual=(0.2, 1.7)
    )
    width: float | None = file_key("fiala: width", "L", None, sign=1, usual=(0.1, 0.5))
    radius: float | None = file_key(
        "fiala: radius without load", "L", None, sign=1, usual=(0.15, 0.7)
    )
    vertical_stiffness: float | None = file_key(
        "stiffness under load", "F/L", None, sign=1, usual=(8e4, 1e6)
    )
    vertical_damping: float | None = file_key(
        "damping under load", "F*T/L", None, sign=0, usual=(0, 1e4)
    )
    rolling_resistance: float | None = file_key(
        "resistance over load", default=None, sign=0, usual=(0.004, 0.04)
    )
    pressure: float | None = file_key(
        "inflation pressure, for .tir tyres with pressure terms", "F/L**2", None, sign=1
    )
    enveloping: EnvelopingKeys | None = file_key(
        "true, or cams: the tyre envelops short obstacles; default: it touches the road at "
        "one point",
        default=None,
        kind="section",
        record=EnvelopingKeys,
        switch=True,
    )


@dataclass(frozen=True)
class ComplianceKeys:
    """What the suspension gives under the forces of the tyre, as a K&C rig measures it. Steer is to
    the left, camber about the axis that points forward, each in the sense of force or moment:
    positive where the wheel yields."""

    steer_by_lateral_force: float = file_key(
        "steer to the left per lateral force to the left", "A/F", 0.0, usual=(-1e-5, 1e-5)
    )
    steer_by_aligning_moment: float = file_key(
        "steer per aligning moment", "A/(F*L)", 0.0, usual=(-1e-4, 5e-4)
    )
    toe_by_longitudinal_force: float = file_key(
        "toe-in per longitudinal force, of each wheel", "A/F", 0.0, usual=(-1e-5, 1e-5)
    )
    toe_by_brake_torque: float = file_key(
        "toe-in per brake torque of the wheel", "A/(F*L)", 0.0, usual=(-5e-5, 5e-5)
    )
    camber_by_lateral_force: float = file_key(
        "camber, top to the right, per lateral force to the left", "A/F", 0.0, usual=(-2e-5, 2e-5)
    )


@dataclass(frozen=True)
class BushKeys:
    """A bush in place of an ideal joint: six springs along and about its axes, which turn with its
    arm or rod. The first axis is `axis`; without it that of the hinge, the line of the rod, or for
    a ball x. The third lies towards
    `up`."""

    stiffness: tuple[float, ...] = file_key(
        "translational, in the bushing axes: three numbers, or nine row by row",
        "F/L",
        kind="numbers",
    )
    rotation: tuple[float, ...] = file_key(
        "rotational, about the bushing axes: three numbers, or nine",
        "F*L/A",
        (0.0, 0.0, 0.0),
        kind="numbers",
    )
    coupling: tuple[float, ...] | None = file_key(
        "force per rotation, in the bushing axes: nine numbers", "F/A", None, kind="numbers"
    )
    axis: Vector | None = file_key(
        "direction of the first bushing axis as drawn", default=None, kind="vector"
    )
    up: Vector | None = file_key(
        "direction towards which the third axis points; default: z", default=None, kind="vector"
    )
    first: Pairs | None = file_key(
        "force over deflection along the first axis, added to the stiffness",
        ("L", "F"),
        None,
        kind="pairs",
    )
    second: Pairs | None = file_key(
        "the same along the second axis", ("L", "F"), None, kind="pairs"
    )
    third: Pairs | None = file_key("the same along the third axis", ("L", "F"), None, kind="pairs")


@dataclass(frozen=True)
class DifferentialKeys:
    """How a driven axle splits its torque between its wheels.

    A torque bias ratio b is a lock of (b - 1)/(b + 1).
    """

    kind: str = file_key("kind", kind="text", choices=("open", "limited-slip", "locked"))
    preload: float = file_key(
        "limited-slip: preload torque between the wheels", "F*L", 0.0, sign=0, usual=(0, 300)
    )
    lock: float = file_key(
        "limited-slip: largest torque difference of the wheels relative to their sum",
        default=0.0,
        sign=0,
        usual=(0, 0.85),
    )
    lock_coast: float | None = file_key(
        "lock on overrun; default: that of drive", default=None, sign=0
    )


@dataclass(frozen=True)
class AxleMotorKeys:
    """An electric motor that drives one axle through a fixed ratio, within its torque, power and
    speed."""

    torque: float = file_key("largest torque of the motor", "F*L", sign=1, usual=(50, 600))
    power: float | None = file_key(
        "largest mechanical power of the motor", "F*L/T", None, sign=1, usual=(1e4, 5e5)
    )
    ratio: float = file_key("motor speed over wheel speed", default=9.0, sign=1, usual=(1, 15))
    efficiency: float = file_key(
        "efficiency from motor to wheels", default=0.97, sign=1, usual=(0.8, 1)
    )
    speed: float | None = file_key(
        "largest speed of the motor", "A/T", None, sign=1, usual=(500, 2500)
    )
    regeneration: float = file_key(
        "braking torque of the motor over its drive torque", default=1.0, sign=0, usual=(0, 1)
    )
    inertia: float = file_key(
        "moment of inertia of the rotor", "M*L**2", 0.0, sign=0, usual=(0, 0.2)
    )


@dataclass(frozen=True)
class AxleKeys:
    """Both wheels of an axle with their suspension."""

    suspension: Mapping[str, Any] = file_key(
        "hard points: `shipped`, `file`, or statements as of a hard-point file", kind="mapping"
    )
    wheel: WheelKeys = file_key(
        "rotating parts: wheel, tyre, brake disc", kind="section", record=WheelKeys
    )
    carrier: LinkKeys = file_key(
        "wheel carrier: upright, hub, caliper, half of links without a section; of a solid "
        "axle the whole of it "
        "without wheels, of a twist beam one arm with half of the cross beam",
        kind="section",
        record=LinkKeys,
    )
    spring: SpringKeys = file_key("spring", kind="section", record=SpringKeys)
    damper: DamperKeys = file_key("damper", kind="section", record=DamperKeys)
    tyre: TyreData = file_key("tyre", kind="section", record=TyreData)
    at: Vector = file_key(
        "position of the origin of the hard points", "L", (0.0, 0.0, 0.0), kind="vector"
    )
    toe: float = file_key("toe as built, toe-in positive", "A", 0.0, usual=(-0.02, 0.02))
    camber: float = file_key(
        "camber as built, top outwards positive", "A", 0.0, usual=(-0.09, 0.035)
    )
    dual_spacing: float | None = file_key(
        "dual tyres, not of steered front wheels: distance of the middles of both tyres",
        "L",
        None,
        sign=1,
        usual=(0.15, 0.5),
    )
    twist_stiffness: float | None = file_key(
        "torsional stiffness of the cross beam of a twist beam, between its arms",
        "F*L/A",
        None,
        sign=0,
        usual=(500, 3e4),
    )
    bump_stop: BumpStopKeys | None = file_key(
        "elastic stop of compression", default=None, kind="section", record=BumpStopKeys
    )
    rebound_stop: BumpStopKeys | None = file_key(
        "elastic stop of extension", default=None, kind="section", record=BumpStopKeys
    )
    anti_roll_bar: AntiRollBarKeys | None = file_key(
        "anti-roll bar", default=None, kind="section", record=AntiRollBarKeys
    )
    compliance: ComplianceKeys | None = file_key(
        "compliance under tyre forces, as a K&C rig measures it",
        default=None,
        kind="section",
        record=ComplianceKeys,
    )
    bushes: Mapping[str, BushKeys] | None = file_key(
        "bushings, by hard point", default=None, kind="sections", record=BushKeys
    )
    differential: DifferentialKeys | None = file_key(
        "torque distribution of a driven axle; open without it",
        default=None,
        kind="section",
        record=DifferentialKeys,
    )
    motor: AxleMotorKeys | None = file_key(
        "electric motor of the axle, driven by its part of the drive torque",
        default=None,
        kind="section",
        record=AxleMotorKeys,
    )
    links: Mapping[str, LinkKeys] | None = file_key(
        "links with mass, by name", default=None, kind="sections", record=LinkKeys
    )


@dataclass(frozen=True)
class SteeringKeys:
    """Steering wheel, column and rack of the front axle. Positive turns to the left."""

    rack_per_turn: float = file_key(
        "rack travel per revolution of the steering wheel", "L", sign=1, usual=(0.02, 0.4)
    )
    stiffness: float = file_key(
        "torsion bar and column in series, at the steering wheel", "F*L/A", sign=1, usual=(50, 3000)
    )
    assist: float = file_key(
        "power assistance: ratio of its torque to the driver's", default=0.0, sign=0, usual=(0, 15)
    )
    rack_mass: float = file_key("mass of the rack", "M", 3.0, sign=1, usual=(0.5, 20))
    damping_time: float = file_key(
        "damping over stiffness of column and assistance", "T", 0.003, sign=0, usual=(0, 0.02)
    )
    friction: float = file_key("friction of the rack", "F", 0.0, sign=0, usual=(0, 600))


@dataclass(frozen=True)
class BrakeKeys:
    """Brakes of all wheels."""

    front_share: float = file_key(
        "fraction of the brake torque on the front axle", sign=0, usual=(0.5, 0.85)
    )
    torque: float | None = file_key(
        "largest brake torque, sum of all wheels", "F*L", None, sign=1, usual=(1e3, 4e4)
    )
    abs: AbsKeys | None = file_key(
        "ABS, switched by the parameter abs_on", default=None, kind="section", record=AbsKeys
    )
    inboard: str = file_key(
        "axles whose brakes are on the body, at the final drive; the others are on the carriers",
        default="none",
        kind="text",
        choices=("none", "front", "rear", "all"),
    )

    def react_on_body(self, axle: str) -> bool:
        """Whether the brake torque of an axle acts on the body, by drive shafts."""
        return self.inboard in ("all", axle)


@dataclass(frozen=True)
class ClutchKeys:
    """A friction clutch between motor and gears, which opens near idle speed, for gear changes and
    for hard braking."""

    torque: float = file_key(
        "largest torque of the closed clutch", "F*L", sign=1, usual=(100, 1500)
    )


@dataclass(frozen=True)
class TorqueConverterKeys:
    """A torque converter between motor and gears, with or without a lock-up clutch."""

    torque_ratio: Pairs = file_key(
        "torque of turbine over pump, over their speed ratio", ("1", "1"), kind="pairs"
    )
    capacity: Pairs = file_key(
        "torque of the pump over its speed squared, over the speed ratio",
        ("1", "F*L*T**2"),
        kind="pairs",
    )
    lock_speed: float | None = file_key(
        "speed of the turbine at which the lock-up clutch closes; default: never",
        "A/T",
        None,
        sign=1,
        usual=(80, 400),
    )
    lock_torque: float = file_key(
        "largest torque of the lock-up clutch", "F*L", 400.0, sign=1, usual=(100, 1500)
    )


@dataclass(frozen=True)
class DrivelineKeys:
    """Source and distribution of the drive torque."""

    driven: str = file_key("driven axle", kind="text", choices=("front", "rear", "all"))
    front_share: float = file_key(
        "fraction of the drive torque on the front axle, if all are driven",
        default=0.5,
        sign=0,
        usual=(0, 1),
    )
    torque: float | None = file_key(
        "largest drive torque, sum of all wheels", "F*L", None, sign=1, usual=(200, 4e4)
    )
    power: float | None = file_key(
        "largest power at the wheels", "F*L/T", None, sign=1, usual=(1e4, 1e6)
    )
    reaction: str = file_key(
        "reaction torque acts on the body (drive shafts) or the carrier (hub motors)",
        default="body",
        kind="text",
        choices=("body", "carrier"),
    )
    map: Pairs | None = file_key(
        "largest motor torque over its speed", ("A/T", "F*L"), None, kind="pairs"
    )
    drag: Pairs | None = file_key(
        "largest drag torque of the motor over its speed; default: as it drives",
        ("A/T", "F*L"),
        None,
        kind="pairs",
    )
    gears: tuple[float, ...] | None = file_key(
        "ratios of the gears, from the first", default=None, kind="numbers", sign=1
    )
    final: float = file_key(
        "final drive ratio: motor speed over wheel speed, without gears",
        default=1.0,
        sign=1,
        usual=(1, 20),
    )
    efficiency: float = file_key(
        "efficiency from motor to wheels", default=1.0, sign=1, usual=(0.7, 1)
    )
    gear: float = file_key(
        "fixed gear: 1 and up, -1 reverse; 0: automatic, by speed and load", default=0.0
    )
    reverse: float | None = file_key(
        "ratio of the reverse gear; default: that of the first", default=None, sign=1
    )
    shift_at: float | None = file_key(
        "upshift motor speed at full load; default: highest of the map",
        "A/T",
        None,
        sign=1,
        usual=(100, 2000),
    )
    shift_low: float | None = file_key(
        "upshift motor speed without load; default: 0.4 shift_at",
        "A/T",
        None,
        sign=1,
        usual=(80, 1000),
    )
    idle: float | None = file_key(
        "motor speed below which the clutch of a motor with drag is open; default: 80 rad/s",
        "A/T",
        None,
        sign=1,
        usual=(50, 200),
    )
    shift_time: float = file_key(
        "lag of the ratio in a gear change", "T", 0.1, sign=1, usual=(0.02, 0.6)
    )
    centre: DifferentialKeys | None = file_key(
        "centre differential or coupling between the front and the rear axle",
        default=None,
        kind="section",
        record=DifferentialKeys,
    )
    inertia: float = file_key(
        "moment of inertia of the motor's rotating parts", "M*L**2", 0.0, sign=0, usual=(0, 1)
    )
    clutch: ClutchKeys | None = file_key(
        "friction clutch; the speed of the motor is then a state",
        default=None,
        kind="section",
        record=ClutchKeys,
    )
    converter: TorqueConverterKeys | None = file_key(
        "torque converter in place of a clutch",
        default=None,
        kind="section",
        record=TorqueConverterKeys,
    )


@dataclass(frozen=True)
class RideHeightMapKeys:
    """Coefficients over the ride heights of front and rear: a row for each front height, in it a
    number for each rear height. Between the points bilinear, outside as at the edge."""

    front_at: Vector = file_key(
        "point of the body whose height above the road is the front ride height", "L", kind="vector"
    )
    rear_at: Vector = file_key(
        "point of the body whose height above the road is the rear ride height", "L", kind="vector"
    )
    front: tuple[float, ...] = file_key("front ride heights, increasing", "L", kind="numbers")
    rear: tuple[float, ...] = file_key("rear ride heights, increasing", "L", kind="numbers")
    drag: Rows | None = file_key("drag coefficients, in place of `drag`", default=None, kind="rows")
    lift_front: Rows | None = file_key(
        "lift coefficients over the front axle, in place of `lift_front`", default=None, kind="rows"
    )
    lift_rear: Rows | None = file_key(
        "lift coefficients over the rear axle, in place of `lift_rear`", default=None, kind="rows"
    )


@dataclass(frozen=True)
class FlowAngleMapKeys:
    """Coefficients over the air-flow angle in the plane of the car, from 0 up; the other side is
    its mirror image. They are over the whole speed of the air. Straight lines between the points,
    constant outside."""

    side: Pairs | None = file_key(
        "lateral force coefficient over the angle, in place of `side`",
        ("A", "1"),
        None,
        kind="pairs",
    )
    yaw: Pairs | None = file_key(
        "yaw moment coefficient over the angle, in place of `yaw`", ("A", "1"), None, kind="pairs"
    )
    drag: Pairs | None = file_key(
        "longitudinal force over that at angle 0", ("A", "1"), None, kind="pairs"
    )
    lift_front: Pairs | None = file_key(
        "lift over the front axle over that at angle 0", ("A", "1"), None, kind="pairs"
    )
    lift_rear: Pairs | None = file_key(
        "lift over the rear axle over that at angle 0", ("A", "1"), None, kind="pairs"
    )


@dataclass(frozen=True)
class AerodynamicsKeys:
    """Forces of the air: drag at `height` above the mass centre's place, lift over the axles."""

    area: float = file_key("frontal area", "L**2", sign=1, usual=(0.7, 6))
    drag: float | None = file_key(
        "drag coefficient; required without `ride.drag`", default=None, sign=0, usual=(0.15, 1.6)
    )
    lift_front: float = file_key(
        "lift coefficient over the front axle, down force negative", default=0.0, usual=(-3, 0.3)
    )
    lift_rear: float = file_key("lift coefficient over the rear axle", default=0.0, usual=(-3, 0.3))
    side: float = file_key(
        "lateral force coefficient, per sine of the air-flow angle", default=0.0, usual=(0, 6)
    )
    yaw: float = file_key(
        "yaw moment coefficient about mid-wheelbase, per sine of that angle and wheelbase; "
        "positive: nose "
        "away from the wind",
        default=0.0,
        usual=(-1, 2),
    )
    side_height: float | None = file_key(
        "height of the lateral force above the ground; default: of the mass centre",
        "L",
        None,
        sign=0,
        usual=(0.2, 1.5),
    )
    density: float = file_key("density of the air", "M/L**3", 1.206, sign=1, usual=(0.8, 1.4))
    ride: RideHeightMapKeys | None = file_key(
        "coefficients over the ride heights", default=None, kind="section", record=RideHeightMapKeys
    )
    flow: FlowAngleMapKeys | None = file_key(
        "coefficients over the air-flow angle",
        default=None,
        kind="section",
        record=FlowAngleMapKeys,
    )

    @property
    def has_side_wind(self) -> bool:
        """Whether the car knows side wind."""
        return self.side != 0 or self.yaw != 0 or self.flow is not None


@dataclass(frozen=True)
class SetupKeys:
    """What is asked of the car as it stands on level ground; springs and wheel axes are solved from
    it."""

    height_front: float | None = file_key(
        "height of z = 0 of the car's axes above the front axle", "L", None
    )
    height_rear: float | None = file_key(
        "height of z = 0 of the car's axes above the rear axle", "L", None
    )
    toe_front: float | None = file_key(
        "toe of each front wheel, toe-in positive", "A", None, usual=(-0.02, 0.02)
    )
    toe_rear: float | None = file_key("toe of each rear wheel", "A", None, usual=(-0.02, 0.02))
    camber_front: float | None = file_key(
        "camber of the front wheels, top outwards positive", "A", None, usual=(-0.09, 0.035)
    )
    camber_rear: float | None = file_key(
        "camber of the rear wheels", "A", None, usual=(-0.09, 0.035)
    )
    cross_weight: float | None = file_key(
        "fraction of the weight on fr and rl, by the spring perches; the body is level",
        default=None,
        sign=1,
        usual=(0.45, 0.55),
    )
    load_fl: float | None = file_key("wheel load, instead of cross_weight", "F", None, sign=1)
    load_fr: float | None = file_key("wheel load, instead of cross_weight", "F", None, sign=1)
    load_rl: float | None = file_key("wheel load, instead of cross_weight", "F", None, sign=1)
    load_rr: float | None = file_key("wheel load, instead of cross_weight", "F", None, sign=1)

    @property
    def has_diagonal_load(self) -> bool:
        """Is load between the diagonals asked for?"""
        return {self.cross_weight, self.load_fl, self.load_fr, self.load_rl, self.load_rr} != {None}


@dataclass(frozen=True)
class CarEventKeys:
    """An event that every run of the car looks for, as of `System.add_event`."""

    when: str = file_key(
        "expression that crosses zero or comparison, of channels, parameters and t", kind="text"
    )
    action: Mapping[str, Any] | None = file_key(
        "new values of states and parameters: formulas by name", default=None, kind="formulas"
    )
    stop: bool = file_key("whether the event ends the run", default=False, kind="flag")
    direction: str = file_key(
        "direction of the crossings", default="both", kind="text", choices=tuple(DIRECTIONS)
    )


@dataclass(frozen=True)
class HitchKeys:
    """The joint of a trailer and the unit that tows it."""

    at: Vector = file_key("position on the towing unit, in its axes", "L", kind="vector")
    kind: str = file_key(
        "ball: free to turn about all axes; fifth wheel: stiff in roll",
        default="ball",
        kind="text",
        choices=("ball", "fifth wheel"),
    )
    roll_stiffness: float | None = file_key(
        "fifth wheel: roll moment per relative roll angle of the units",
        "F*L/A",
        None,
        sign=1,
        usual=(1e5, 2e7),
    )
    roll_damping: float = file_key(
        "fifth wheel: roll moment per relative roll rate", "F*L*T/A", 0.0, sign=0
    )
    yaw_friction: float = file_key(
        "friction torque about the vertical: stabiliser, plate of a fifth wheel",
        "F*L",
        0.0,
        sign=0,
        usual=(0, 1e4),
    )
    yaw_damping: float = file_key(
        "torque per articulation rate", "F*L*T/A", 0.0, sign=0, usual=(0, 1e5)
    )
    levelled: bool = file_key(
        "whether the springs of the car are set for the load on its hitch, as air springs are",
        default=False,
        kind="flag",
    )


@dataclass(frozen=True)
class AxleSteeringKeys:
    """How the wheels of a trailer axle are steered: by the articulation angle, or by themselves, as
    castors."""

    ratio: float | None = file_key(
        "wheel angle per articulation angle; positive values turn the wheels out of the "
        "bend, so the axle cuts in less",
        default=None,
        usual=(0, 1),
    )
    trail: float | None = file_key(
        "self-steering: distance of the wheel centres behind their kingpins",
        "L",
        None,
        sign=1,
        usual=(0.05, 0.5),
    )
    stiffness: float = file_key(
        "self-steering: centring torque of both wheels per wheel angle",
        "F*L/A",
        0.0,
        sign=0,
        usual=(0, 1e6),
    )
    damping: float = file_key(
        "self-steering: torque of both wheels per rate of the wheel angle",
        "F*L*T/A",
        0.0,
        sign=0,
        usual=(0, 1e5),
    )


@dataclass(frozen=True)
class TrailerAxleKeys:
    """An axle of a trailer: two wheels on vertical slides, or a rigid axle that moves up and
    rolls."""

    at: Vector = file_key("centre of the left wheel, from the hitch", "L", kind="vector")
    wheel: WheelKeys = file_key(
        "rotating parts of one side: wheel, tyre, brake drum", kind="section", record=WheelKeys
    )
    tyre: TyreData = file_key("tyre", kind="section", record=TyreData)
    stiffness: float = file_key("stiffness of one spring", "F/L", sign=1, usual=(1e4, 2e6))
    damping: float = file_key("damping of one damper", "F*T/L", sign=0, usual=(500, 1e5))
    kind: str = file_key(
        "independent: each wheel on a vertical slide; rigid: both on one axle",
        default="independent",
        kind="text",
        choices=("independent", "rigid"),
    )
    mass: float = file_key(
        "unsprung mass without wheels: of one side, or of a rigid axle",
        "M",
        0.0,
        sign=0,
        usual=(0, 900),
    )
    inertia: Vector = file_key(
        "rigid: moments of inertia of the axle without wheels",
        "M*L**2",
        (0.0, 0.0, 0.0),
        kind="vector",
    )
    spring_y: float | None = file_key(
        "rigid: distance of a spring from the middle; default: that of the wheel",
        "L",
        None,
        sign=1,
        usual=(0.3, 1.2),
    )
    roll_centre: float | None = file_key(
        "rigid: z of the roll centre, from the hitch; default: that of the wheel centres", "L", None
    )
    roll_stiffness: float = file_key(
        "anti-roll bar: roll moment per roll angle between body and axle",
        "F*L/A",
        0.0,
        sign=0,
        usual=(0, 5e6),
    )
    lifted: bool = file_key(
        "whether the axle is lifted: it carries nothing, its mass is fixed to the body as drawn",
        default=False,
        kind="flag",
    )
    steering: AxleSteeringKeys | None = file_key(
        "steered wheels: by `ratio`, or self-steering by `trail`",
        default=None,
        kind="section",
        record=AxleSteeringKeys,
    )
    dual_spacing: float | None = file_key(
        "dual tyres, not of steered front wheels: distance of the middles of both tyres",
        "L",
        None,
        sign=1,
        usual=(0.15, 0.5),
    )


@dataclass(frozen=True)
class AddedAxleKeys(TrailerAxleKeys):
    """One more axle of a car, behind or before its rear axle: the keys of an axle of a trailer, and
    its part of load, brakes and drive."""

    at: Vector = file_key("centre of the left wheel, in the axes of the car", "L", kind="vector")
    load_ratio: float = file_key(
        "load at rest over that of the rear axle", default=1.0, sign=1, usual=(0.2, 1.5)
    )
    equalisation: float = file_key(
        "load equalisation with the rear axle: 0 springs of their own, 1 changes of load are "
        "shared in the ratio of the stiffnesses",
        default=0.0,
        sign=0,
        usual=(0, 1),
    )
    brake_ratio: float = file_key(
        "brake torque over that of the rear axle", default=1.0, sign=0, usual=(0, 1.5)
    )
    drive_ratio: float = file_key(
        "drive torque over that of the rear axle; 0: not driven",
        default=0.0,
        sign=0,
        usual=(0, 1.5),
    )


@dataclass(frozen=True)
class OverrunBrakeKeys:
    """Overrun brakes: the trailer brakes as it pushes the unit that tows it, not while it moves
    backwards."""

    gain: float = file_key(
        "brake torque of the trailer per force above the threshold", "L", sign=1, usual=(0.5, 6)
    )
    threshold: float = file_key(
        "thrust of the hitch at which the brakes begin to act", "F", 0.0, sign=0, usual=(0, 2000)
    )
    lag: float = file_key(
        "lag of the brake torque behind the thrust of the hitch", "T", 0.1, sign=1, usual=(0.02, 1)
    )


@dataclass(frozen=True)
class TrailerBrakeKeys:
    """Brakes of all wheels of a trailer, which follow those of the car or the thrust of the
    hitch."""

    gain: float | None = file_key(
        "brake torque of the trailer per brake torque of the car",
        default=None,
        sign=0,
        usual=(0, 6),
    )
    overrun: OverrunBrakeKeys | None = file_key(
        "overrun brakes, in place of `gain`", default=None, kind="section", record=OverrunBrakeKeys
    )
    torque: float | None = file_key(
        "largest brake torque, sum of all wheels", "F*L", None, sign=1, usual=(500, 2e5)
    )
    lag: float = file_key("lag behind the brakes of the car", "T", 0.0, sign=0, usual=(0, 1))
    abs: TrailerAbsKeys | None = file_key(
        "ABS, switched by the parameter abs_NAME_on",
        default=None,
        kind="section",
        record=TrailerAbsKeys,
    )


@dataclass(frozen=True)
class TrailerKeys:
    """A towed unit: caravan, semi-trailer, dolly. Positions are from its own hitch: x forward, y
    left, z up."""

    mass: float = file_key("sprung mass without loads", "M", sign=1, usual=(50, 45000))
    cg: Vector = file_key("mass centre of the sprung mass, from the hitch", "L", kind="vector")
    inertia: Vector = file_key(
        "moments of inertia about the mass centre: roll, pitch, yaw", "M*L**2", kind="vector"
    )
    hitch: HitchKeys = file_key("joint with the towing unit", kind="section", record=HitchKeys)
    axles: Mapping[str, TrailerAxleKeys] = file_key(
        "axles, by name, from the front", kind="sections", record=TrailerAxleKeys
    )
    towed_by: str | None = file_key(
        "unit that tows it: 'car', or a trailer that stands before it in the file; default: "
        "the unit before it",
        default=None,
        kind="text",
    )
    inertia_xz: float = file_key("product of inertia, -integral of x z dm", "M*L**2", 0.0)
    equalisation: float = file_key(
        "load equalisation of the axles: 0 springs of their own, 1 equal spring forces",
        default=0.0,
        sign=0,
        usual=(0, 1),
        most=1,
    )
    loads: Mapping[str, LoadKeys] | None = file_key(
        "point masses such as luggage, by name", default=None, kind="sections", record=LoadKeys
    )
    brakes: TrailerBrakeKeys | None = file_key(
        "brakes", default=None, kind="section", record=TrailerBrakeKeys
    )
    drag_area: float = file_key(
        "drag coefficient times frontal area, at the mass centre", "L**2", 0.0, sign=0, usual=(0, 8)
    )
    width: float = file_key(
        "width, for swept paths and pictures", "L", 2.0, sign=1, usual=(0.8, 2.6)
    )
    length: float = file_key("length of the body, for pictures", "L", 5.0, sign=1, usual=(1, 15))
    body_x: float | None = file_key(
        "x of the middle of the body, from the hitch, for pictures; default: of the mass centre",
        "L",
        None,
    )
    height: float = file_key("height of the body, for pictures", "L", 2.0, sign=1, usual=(0.1, 4))

    @property
    def body_centre_x(self) -> float:
        """x of the middle of the body as drawn, m."""
        return float(self.cg[0] if self.body_x is None else self.body_x)


@dataclass(frozen=True)
class CarFileKeys:
    """The whole file."""

    body: BodyKeys = file_key("sprung mass", kind="section", record=BodyKeys)
    front: AxleKeys = file_key("front axle", kind="section", record=AxleKeys)
    rear: AxleKeys = file_key("rear axle", kind="section", record=AxleKeys)
    steering: SteeringKeys = file_key("steering", kind="section", record=SteeringKeys)
    brakes: BrakeKeys = file_key("brakes", kind="section", record=BrakeKeys)
    drive: DrivelineKeys = file_key("drive", kind="section", record=DrivelineKeys)
    name: str = file_key("name of the car", default="car", kind="text")
    kind: str = file_key(
        "kind of vehicle; usual values of trucks are up to ten times as high",
        default="car",
        kind="text",
        choices=("car", "truck"),
    )
    car: str | None = file_key(
        "car file, or name of a shipped car, whose sections this file changes",
        default=None,
        kind="text",
    )
    axes: str = file_key(
        "axes of positions: 'ISO 8855' (x forward, y left, z up), 'SAE' (x forward, y "
        "right, z down) or "
        "'ADAMS' (x rearward, y right, z up); also of hard points that state none",
        default="ISO 8855",
        kind="text",
        choices=tuple(AXES),
    )
    loads: Mapping[str, LoadKeys] | None = file_key(
        "point masses such as driver and luggage, by name",
        default=None,
        kind="sections",
        record=LoadKeys,
    )
    aerodynamics: AerodynamicsKeys | None = file_key(
        "aerodynamic forces", default=None, kind="section", record=AerodynamicsKeys
    )
    controllers: ControllerKeys | None = file_key(
        "controllers of brakes and drive", default=None, kind="section", record=ControllerKeys
    )
    events: Mapping[str, CarEventKeys] | None = file_key(
        "events, by name", default=None, kind="sections", record=CarEventKeys
    )
    frame: FrameKeys | None = file_key(
        "frame or body that twists", default=None, kind="section", record=FrameKeys
    )
    setup: SetupKeys | None = file_key(
        "targets of the car at rest", default=None, kind="section", record=SetupKeys
    )
    axles: Mapping[str, AddedAxleKeys] | None = file_key(
        "more axles of trucks, by name: the keys of `trailers.NAME.axles.NAME`, and",
        default=None,
        kind="sections",
        record=AddedAxleKeys,
    )
    trailers: Mapping[str, TrailerKeys] | None = file_key(
        "trailers, by name: `shipped` or `file` and keys that differ, or all keys",
        default=None,
        kind="sections",
        record=TrailerKeys,
    )
