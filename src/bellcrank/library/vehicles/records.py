# ruff: noqa: RUF009  (a key is a field of the record)
"""The car as data: what a car file may say, section by section, in SI units.

Coordinates are those of the car: x forward, y to the left, z up (ISO 8855), or along `axes`, from any origin; hard
points have their own axes and are moved by `at` of their axle. Everything is given for the left side and mirrored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bellcrank.choices import Crossing
from bellcrank.library.vehicles.controllers.records import Antilock, Controllers, TrailerAntilock
from bellcrank.library.vehicles.frame_records import Frame
from bellcrank.library.vehicles.keys import key
from bellcrank.linkage.chain import AXES

Vector = tuple[float, float, float]
Pairs = tuple[tuple[float, float], ...]
Rows = tuple[tuple[float, ...], ...]
DIRECTIONS: dict[str, Crossing] = {"both": 0, "up": 1, "down": -1}


@dataclass(frozen=True)
class Body:
    """The sprung mass without loads: body, engine, all that stands on the springs."""

    mass: float = key("mass of the body", "M", sign=1, usual=(100, 4000))
    cg: Vector = key("mass centre of the body", "L", kind="vector")
    inertia: Vector = key("moments of inertia about the mass centre: roll, pitch, yaw", "M*L**2", kind="vector")
    inertia_xz: float = key("product of inertia, -integral of x z dm", "M*L**2", 0.0, usual=(-300, 300))
    width: float = key("width without mirrors, for cones", "L", 1.8, sign=1, usual=(1.2, 2.6))
    length: float = key("length from bumper to bumper, for cones", "L", 4.5, sign=1, usual=(2.2, 6.5))
    height: float = key("height above the ground, for pictures", "L", 1.45, sign=1, usual=(0.9, 3.2))
    style: str = key(
        "what it looks like in pictures",
        default="car",
        kind="text",
        choices=("car", "utility", "van", "truck", "box_truck", "formula"),
    )


@dataclass(frozen=True)
class Load:
    """A driver, a passenger, luggage: a point mass fixed in the body."""

    mass: float = key("mass", "M", sign=0, usual=(0, 1000))
    at: Vector = key("position", "L", kind="vector")


@dataclass(frozen=True)
class Link:
    """A part of a suspension that has mass."""

    mass: float = key("mass", "M", sign=0, usual=(0.1, 250))
    inertia: Vector = key("moments of inertia about its mass centre", "M*L**2", (0.0, 0.0, 0.0), kind="vector")
    cg: Vector | None = key("mass centre as drawn, in the axes of the hard points", "L", None, kind="vector")


@dataclass(frozen=True)
class Wheel:
    """What turns: rim, tyre, disc, hub."""

    mass: float = key("mass", "M", sign=1, usual=(3, 80))
    spin_inertia: float = key("moment of inertia about the axis", "M*L**2", sign=1, usual=(0.1, 12))
    cross_inertia: float | None = key(
        "moment of inertia about a diameter; default: half of spin_inertia", "M*L**2", None, sign=1
    )


@dataclass(frozen=True)
class Air:
    """The air of a spring: a bellows of constant effective area. Its pressure is set so that the car stands at the
    `travel` of the spring, whatever its load."""

    area: float = key("effective area", "L**2", sign=1, usual=(0.002, 0.02))
    volume: float = key("volume at the drawn length, with additional tanks", "L**3", sign=1, usual=(5e-4, 0.01))
    exponent: float = key("polytropic exponent: 1 isothermal, 1.4 adiabatic", default=1.38, sign=1, usual=(1, 1.4))
    levelling_time: float | None = key("self-levelling: time constant with which the ride height of the axle returns; "
                                       "default: the air is enclosed", "T", None, sign=1, usual=(1, 60))  # fmt: skip


@dataclass(frozen=True)
class Spring:
    """A spring along a strut. Its free length is given, or solved so that the car stands at `travel`."""

    strut: str = key("strut of the suspension, or two hard points separated by a comma", default="spring", kind="text")
    stiffness: float | None = key("stiffness", "F/L", None, sign=1, usual=(8e3, 5e5))
    table: Pairs | None = key("force over compression from the free length, instead of a stiffness", ("L", "F"), None,
                              kind="pairs")  # fmt: skip
    air: Air | None = key("air spring, instead of a stiffness", default=None, kind="section", record=Air)
    free_length: float | None = key(
        "free length; default: solved so that the car is at rest at `travel`", "L", None, sign=1
    )
    travel: float = key("wheel travel at rest, from the drawn position", "L", 0.0, usual=(-0.1, 0.1))
    perch: float = key("offset of the spring perches, left up and right down", "L", 0.0, usual=(-0.05, 0.05))
    friction: float = key("leaf spring: friction force of the leaves, half the distance of loading and unloading curve",
                          "F", 0.0, sign=0, usual=(0, 3000))  # fmt: skip
    friction_travel: float = key("leaf spring: deflection over which its friction turns round to 1/e", "L", 0.002,
                                 sign=1, usual=(0.0005, 0.01))  # fmt: skip


@dataclass(frozen=True)
class Damper:
    """A damper along a strut: one coefficient, one for each direction, or a table."""

    strut: str = key("strut of the suspension, or two hard points separated by a comma", default="spring", kind="text")
    coefficient: float | None = key("damping in both directions", "F*T/L", None, sign=0, usual=(500, 4e4))
    compression: float | None = key("damping in compression", "F*T/L", None, sign=0, usual=(300, 4e4))
    rebound: float | None = key("damping in rebound", "F*T/L", None, sign=0, usual=(500, 4e4))
    table: Pairs | None = key("force over speed, both positive in compression", ("L/T", "F"), None, kind="pairs")


@dataclass(frozen=True)
class Stop:
    """An elastic stop along the strut of the spring: F = k d + k3 d^3 after the gap."""

    gap: float = key("clearance at the drawn length", "L", sign=0, usual=(0.005, 0.2))
    stiffness: float = key("stiffness k", "F/L", sign=0, usual=(0, 2e6))
    cubic: float = key("stiffness k3 that grows with the deflection", "F/L**3", 0.0, sign=0, usual=(0, 2e10))


@dataclass(frozen=True)
class Bar:
    """An anti-roll bar: a spring between left and right, by its roll stiffness or its rate at the drop links."""

    stiffness: float | None = key(
        "roll moment per roll angle of the body relative to the axle", "F*L/A", None, sign=0, usual=(1e3, 2e5)
    )
    rate: float | None = key(
        "instead of stiffness: drop-link force per relative displacement of the two ends",
        "F/L", None, sign=0, usual=(1e3, 1e6),
    )  # fmt: skip
    at: str = key("hard point to which the bar ends are attached", default="wheel_centre", kind="text")


@dataclass(frozen=True)
class Enveloping:
    """Two elliptical cams, by which a tyre envelops short obstacles; defaults by its size, or of its .tir file."""

    base: float | None = key("distance of the cams; default: 0.8 of the contact length at rest", "L", None, sign=0,
                             usual=(0, 0.3))  # fmt: skip
    ellipse: tuple[float, ...] | None = key("half axes of a cam, along the road and upright; default: the radius", "L",
                                            None, kind="numbers", sign=1)  # fmt: skip
    exponent: float | None = key("exponent of the ellipses, at least 1; default: 1.8", default=None, sign=1,
                                 usual=(1.5, 2.5))  # fmt: skip


@dataclass(frozen=True)
class Rubber:
    """A tyre: by a .tir file, by its size, or by the values of a model (fiala)."""

    file: str | None = key("a .tir file, relative to the folder of the car file", default=None, kind="text")
    size: str | None = key("size and load index, such as '205/60R15 91V': typical values (TMeasy)", default=None,
                           kind="text")  # fmt: skip
    kind: str = key("kind of a tyre given by size", default="passenger", kind="text", choices=("passenger", "truck"))
    model: str | None = key("tyre model with its values", default=None, kind="text", choices=("fiala",))
    c_slip: float | None = key("fiala: longitudinal force per slip", "F", None, sign=1, usual=(2e4, 6e5))
    c_alpha: float | None = key("fiala: cornering stiffness", "F/A", None, sign=1, usual=(1e4, 4e5))
    umax: float | None = key("fiala: friction without slip", default=None, sign=1, usual=(0.3, 1.8))
    umin: float | None = key("fiala: friction at full slip", default=None, sign=1, usual=(0.2, 1.7))
    width: float | None = key("fiala: width", "L", None, sign=1, usual=(0.1, 0.5))
    radius: float | None = key("fiala: radius without load", "L", None, sign=1, usual=(0.15, 0.7))
    vertical_stiffness: float | None = key("stiffness under load", "F/L", None, sign=1, usual=(8e4, 1e6))
    vertical_damping: float | None = key("damping under load", "F*T/L", None, sign=0, usual=(0, 1e4))
    rolling_resistance: float | None = key("resistance over load", default=None, sign=0, usual=(0.004, 0.04))
    pressure: float | None = key("inflation pressure, for .tir tyres with pressure terms", "F/L**2", None, sign=1)
    enveloping: Enveloping | None = key("true, or cams: the tyre envelops short obstacles; default: it touches the "
                                        "road at one point", default=None, kind="section", record=Enveloping,
                                        switch=True)  # fmt: skip


@dataclass(frozen=True)
class Compliance:
    """What the suspension gives under the forces of the tyre, as a K&C rig measures it. Steer is to the left, camber
    about the axis that points forward, each in the sense of force or moment: positive where the wheel yields."""

    steer_by_lateral_force: float = key(
        "steer to the left per lateral force to the left", "A/F", 0.0, usual=(-1e-5, 1e-5)
    )
    steer_by_aligning_moment: float = key("steer per aligning moment", "A/(F*L)", 0.0, usual=(-1e-4, 5e-4))
    toe_by_longitudinal_force: float = key(
        "toe-in per longitudinal force, of each wheel", "A/F", 0.0, usual=(-1e-5, 1e-5)
    )
    toe_by_brake_torque: float = key("toe-in per brake torque of the wheel", "A/(F*L)", 0.0, usual=(-5e-5, 5e-5))
    camber_by_lateral_force: float = key("camber, top to the right, per lateral force to the left", "A/F", 0.0,
                                    usual=(-2e-5, 2e-5))  # fmt: skip


@dataclass(frozen=True)
class BushKeys:
    """A bush in place of an ideal joint: six springs along and about its axes, which turn with its arm or rod. The
    first axis is `axis`; without it that of the hinge, the line of the rod, or for a ball x. The third lies towards
    `up`."""

    stiffness: tuple[float, ...] = key(
        "translational, in the bushing axes: three numbers, or nine row by row", "F/L", kind="numbers"
    )
    rotation: tuple[float, ...] = key("rotational, about the bushing axes: three numbers, or nine", "F*L/A",
                                      (0.0, 0.0, 0.0), kind="numbers")  # fmt: skip
    coupling: tuple[float, ...] | None = key("force per rotation, in the bushing axes: nine numbers", "F/A", None,
                                             kind="numbers")  # fmt: skip
    axis: Vector | None = key("direction of the first bushing axis as drawn", default=None, kind="vector")
    up: Vector | None = key("direction towards which the third axis points; default: z", default=None, kind="vector")
    first: Pairs | None = key("force over deflection along the first axis, added to the stiffness", ("L", "F"), None,
                              kind="pairs")  # fmt: skip
    second: Pairs | None = key("the same along the second axis", ("L", "F"), None, kind="pairs")
    third: Pairs | None = key("the same along the third axis", ("L", "F"), None, kind="pairs")


@dataclass(frozen=True)
class Differential:
    """How a driven axle splits its torque between its wheels. A torque bias ratio b is a lock of (b - 1)/(b + 1)."""

    kind: str = key("kind", kind="text", choices=("open", "limited-slip", "locked"))
    preload: float = key("limited-slip: preload torque between the wheels", "F*L", 0.0, sign=0, usual=(0, 300))
    lock: float = key("limited-slip: largest torque difference of the wheels relative to their sum", default=0.0,
                      sign=0, usual=(0, 0.85))  # fmt: skip
    lock_coast: float | None = key("lock on overrun; default: that of drive", default=None, sign=0)


@dataclass(frozen=True)
class AxleMotor:
    """An electric motor that drives one axle through a fixed ratio, within its torque, power and speed."""

    torque: float = key("largest torque of the motor", "F*L", sign=1, usual=(50, 600))
    power: float | None = key("largest mechanical power of the motor", "F*L/T", None, sign=1, usual=(1e4, 5e5))
    ratio: float = key("motor speed over wheel speed", default=9.0, sign=1, usual=(1, 15))
    efficiency: float = key("efficiency from motor to wheels", default=0.97, sign=1, usual=(0.8, 1))
    speed: float | None = key("largest speed of the motor", "A/T", None, sign=1, usual=(500, 2500))
    regeneration: float = key("braking torque of the motor over its drive torque", default=1.0, sign=0, usual=(0, 1))
    inertia: float = key("moment of inertia of the rotor", "M*L**2", 0.0, sign=0, usual=(0, 0.2))


@dataclass(frozen=True)
class Axle:
    """Both wheels of an axle with their suspension."""

    suspension: Mapping[str, Any] = key("hard points: `shipped`, `file`, or statements as of a hard-point file",
                                        kind="mapping")  # fmt: skip
    wheel: Wheel = key("rotating parts: wheel, tyre, brake disc", kind="section", record=Wheel)
    carrier: Link = key(
        "wheel carrier: upright, hub, caliper, half of links without a section; of a solid axle the whole of it "
        "without wheels, of a twist beam one arm with half of the cross beam",
        kind="section",
        record=Link,
    )
    spring: Spring = key("spring", kind="section", record=Spring)
    damper: Damper = key("damper", kind="section", record=Damper)
    tyre: Rubber = key("tyre", kind="section", record=Rubber)
    at: Vector = key("position of the origin of the hard points", "L", (0.0, 0.0, 0.0), kind="vector")
    toe: float = key("toe as built, toe-in positive", "A", 0.0, usual=(-0.02, 0.02))
    camber: float = key("camber as built, top outwards positive", "A", 0.0, usual=(-0.09, 0.035))
    dual_spacing: float | None = key("dual tyres, not of steered front wheels: distance of the middles of both tyres",
                                     "L", None, sign=1, usual=(0.15, 0.5))  # fmt: skip
    twist_stiffness: float | None = key(
        "torsional stiffness of the cross beam of a twist beam, between its arms", "F*L/A", None, sign=0,
        usual=(500, 3e4),
    )  # fmt: skip
    bump_stop: Stop | None = key("elastic stop of compression", default=None, kind="section", record=Stop)
    rebound_stop: Stop | None = key("elastic stop of extension", default=None, kind="section", record=Stop)
    anti_roll_bar: Bar | None = key("anti-roll bar", default=None, kind="section", record=Bar)
    compliance: Compliance | None = key(
        "compliance under tyre forces, as a K&C rig measures it", default=None, kind="section", record=Compliance
    )
    bushes: Mapping[str, BushKeys] | None = key("bushings, by hard point", default=None,
                                                kind="sections", record=BushKeys)  # fmt: skip
    differential: Differential | None = key("torque distribution of a driven axle; open without it", default=None,
                                            kind="section", record=Differential)  # fmt: skip
    motor: AxleMotor | None = key("electric motor of the axle, driven by its part of the drive torque", default=None,
                                  kind="section", record=AxleMotor)  # fmt: skip
    links: Mapping[str, Link] | None = key("links with mass, by name", default=None, kind="sections", record=Link)


@dataclass(frozen=True)
class Steering:
    """Steering wheel, column and rack of the front axle. Positive turns to the left."""

    rack_per_turn: float = key("rack travel per revolution of the steering wheel", "L", sign=1, usual=(0.02, 0.4))
    stiffness: float = key("torsion bar and column in series, at the steering wheel", "F*L/A", sign=1, usual=(50, 5e4))
    assist: float = key("power assistance: ratio of its torque to the driver's", default=0.0, sign=0, usual=(0, 15))
    rack_mass: float = key("mass of the rack", "M", 3.0, sign=1, usual=(0.5, 20))
    damping_time: float = key("damping over stiffness of column and assistance", "T", 0.003, sign=0, usual=(0, 0.02))
    friction: float = key("friction of the rack", "F", 0.0, sign=0, usual=(0, 600))


@dataclass(frozen=True)
class Brakes:
    """Brakes of all wheels."""

    front_share: float = key("fraction of the brake torque on the front axle", sign=0, usual=(0.5, 0.85))
    torque: float | None = key("largest brake torque, sum of all wheels", "F*L", None, sign=1, usual=(1e3, 4e4))
    abs: Antilock | None = key("ABS, switched by the parameter abs_on", default=None, kind="section", record=Antilock)
    inboard: str = key("axles whose brakes are on the body, at the final drive; the others are on the carriers",
                       default="none", kind="text", choices=("none", "front", "rear", "all"))  # fmt: skip

    def react_on_body(self, axle: str) -> bool:
        """Whether the brake torque of an axle acts on the body, by drive shafts."""
        return self.inboard in ("all", axle)


@dataclass(frozen=True)
class Clutch:
    """A friction clutch between motor and gears, which opens near idle speed, for gear changes and for hard braking."""

    torque: float = key("largest torque of the closed clutch", "F*L", sign=1, usual=(100, 1500))


@dataclass(frozen=True)
class Converter:
    """A torque converter between motor and gears, with or without a lock-up clutch."""

    torque_ratio: Pairs = key("torque of turbine over pump, over their speed ratio", ("1", "1"), kind="pairs")
    capacity: Pairs = key("torque of the pump over its speed squared, over the speed ratio", ("1", "F*L*T**2"),
                          kind="pairs")  # fmt: skip
    lock_speed: float | None = key("speed of the turbine at which the lock-up clutch closes; default: never", "A/T",
                                   None, sign=1, usual=(80, 400))  # fmt: skip
    lock_torque: float = key("largest torque of the lock-up clutch", "F*L", 400.0, sign=1, usual=(100, 1500))


@dataclass(frozen=True)
class Drive:
    """Source and distribution of the drive torque."""

    driven: str = key("driven axle", kind="text", choices=("front", "rear", "all"))
    front_share: float = key(
        "fraction of the drive torque on the front axle, if all are driven", default=0.5, sign=0, usual=(0, 1)
    )
    torque: float | None = key("largest drive torque, sum of all wheels", "F*L", None, sign=1, usual=(200, 4e4))
    power: float | None = key("largest power at the wheels", "F*L/T", None, sign=1, usual=(1e4, 1e6))
    reaction: str = key("reaction torque acts on the body (drive shafts) or the carrier (hub motors)",
                        default="body", kind="text", choices=("body", "carrier"))  # fmt: skip
    map: Pairs | None = key("largest motor torque over its speed", ("A/T", "F*L"), None, kind="pairs")
    drag: Pairs | None = key("largest drag torque of the motor over its speed; default: as it drives",
                             ("A/T", "F*L"), None, kind="pairs")  # fmt: skip
    gears: tuple[float, ...] | None = key("ratios of the gears, from the first", default=None, kind="numbers", sign=1)
    final: float = key("final drive ratio: motor speed over wheel speed, without gears", default=1.0, sign=1,
                       usual=(1, 20))  # fmt: skip
    efficiency: float = key("efficiency from motor to wheels", default=1.0, sign=1, usual=(0.7, 1))
    gear: float = key("fixed gear: 1 and up, -1 reverse; 0: automatic, by speed and load", default=0.0)
    reverse: float | None = key("ratio of the reverse gear; default: that of the first", default=None, sign=1)
    shift_at: float | None = key("upshift motor speed at full load; default: highest of the map",
                                 "A/T", None, sign=1, usual=(100, 2000))  # fmt: skip
    shift_low: float | None = key("upshift motor speed without load; default: 0.4 shift_at", "A/T", None, sign=1,
                                  usual=(80, 1000))  # fmt: skip
    idle: float | None = key("motor speed below which the clutch of a motor with drag is open; default: 80 rad/s",
                             "A/T", None, sign=1, usual=(50, 200))  # fmt: skip
    shift_time: float = key("lag of the ratio in a gear change", "T", 0.1, sign=1, usual=(0.02, 0.6))
    centre: Differential | None = key("centre differential or coupling between the front and the rear axle",
                                      default=None, kind="section", record=Differential)  # fmt: skip
    inertia: float = key("moment of inertia of the motor's rotating parts", "M*L**2", 0.0, sign=0, usual=(0, 1))
    clutch: Clutch | None = key("friction clutch; the speed of the motor is then a state", default=None,
                                kind="section", record=Clutch)  # fmt: skip
    converter: Converter | None = key("torque converter in place of a clutch", default=None, kind="section",
                                      record=Converter)  # fmt: skip


@dataclass(frozen=True)
class RideMap:
    """Coefficients over the ride heights of front and rear: a row for each front height, in it a number for each rear
    height. Between the points bilinear, outside as at the edge."""

    front_at: Vector = key("point of the body whose height above the road is the front ride height", "L", kind="vector")
    rear_at: Vector = key("point of the body whose height above the road is the rear ride height", "L", kind="vector")
    front: tuple[float, ...] = key("front ride heights, increasing", "L", kind="numbers")
    rear: tuple[float, ...] = key("rear ride heights, increasing", "L", kind="numbers")
    drag: Rows | None = key("drag coefficients, in place of `drag`", default=None, kind="rows")
    lift_front: Rows | None = key("lift coefficients over the front axle, in place of `lift_front`", default=None,
                                  kind="rows")  # fmt: skip
    lift_rear: Rows | None = key("lift coefficients over the rear axle, in place of `lift_rear`", default=None,
                                 kind="rows")  # fmt: skip


@dataclass(frozen=True)
class FlowMap:
    """Coefficients over the air-flow angle in the plane of the car, from 0 up; the other side is its mirror image. They
    are over the whole speed of the air. Straight lines between the points, constant outside."""

    side: Pairs | None = key("lateral force coefficient over the angle, in place of `side`", ("A", "1"), None,
                             kind="pairs")  # fmt: skip
    yaw: Pairs | None = key("yaw moment coefficient over the angle, in place of `yaw`", ("A", "1"), None, kind="pairs")
    drag: Pairs | None = key("longitudinal force over that at angle 0", ("A", "1"), None, kind="pairs")
    lift_front: Pairs | None = key("lift over the front axle over that at angle 0", ("A", "1"), None, kind="pairs")
    lift_rear: Pairs | None = key("lift over the rear axle over that at angle 0", ("A", "1"), None, kind="pairs")


@dataclass(frozen=True)
class Aerodynamics:
    """Forces of the air: drag at `height` above the mass centre's place, lift over the axles."""

    area: float = key("frontal area", "L**2", sign=1, usual=(0.7, 6))
    drag: float | None = key("drag coefficient; required without `ride.drag`", default=None, sign=0, usual=(0.15, 1.6))
    lift_front: float = key("lift coefficient over the front axle, down force negative", default=0.0, usual=(-3, 0.3))
    lift_rear: float = key("lift coefficient over the rear axle", default=0.0, usual=(-3, 0.3))
    side: float = key("lateral force coefficient, per sine of the air-flow angle", default=0.0, usual=(0, 6))
    yaw: float = key("yaw moment coefficient about mid-wheelbase, per sine of that angle and wheelbase; positive: nose "
                     "away from the wind", default=0.0, usual=(-1, 2))  # fmt: skip
    side_height: float | None = key("height of the lateral force above the ground; default: of the mass centre", "L",
                                    None, sign=0, usual=(0.2, 1.5))  # fmt: skip
    density: float = key("density of the air", "M/L**3", 1.206, sign=1, usual=(0.8, 1.4))
    ride: RideMap | None = key("coefficients over the ride heights", default=None, kind="section", record=RideMap)
    flow: FlowMap | None = key("coefficients over the air-flow angle", default=None, kind="section", record=FlowMap)

    @property
    def sided(self) -> bool:
        """Whether the car knows side wind."""
        return self.side != 0 or self.yaw != 0 or self.flow is not None


@dataclass(frozen=True)
class Setup:
    """What is asked of the car as it stands on level ground; springs and wheel axes are solved from it."""

    height_front: float | None = key("height of z = 0 of the car's axes above the front axle", "L", None)
    height_rear: float | None = key("height of z = 0 of the car's axes above the rear axle", "L", None)
    toe_front: float | None = key("toe of each front wheel, toe-in positive", "A", None, usual=(-0.02, 0.02))
    toe_rear: float | None = key("toe of each rear wheel", "A", None, usual=(-0.02, 0.02))
    camber_front: float | None = key("camber of the front wheels, top outwards positive", "A", None,
                                     usual=(-0.09, 0.035))  # fmt: skip
    camber_rear: float | None = key("camber of the rear wheels", "A", None, usual=(-0.09, 0.035))
    cross_weight: float | None = key("fraction of the weight on fr and rl, by the spring perches; the body is level",
                                     default=None, sign=1, usual=(0.45, 0.55))  # fmt: skip
    load_fl: float | None = key("wheel load, instead of cross_weight", "F", None, sign=1)
    load_fr: float | None = key("wheel load, instead of cross_weight", "F", None, sign=1)
    load_rl: float | None = key("wheel load, instead of cross_weight", "F", None, sign=1)
    load_rr: float | None = key("wheel load, instead of cross_weight", "F", None, sign=1)

    @property
    def across(self) -> bool:
        """Is load between the diagonals asked for?"""
        return {self.cross_weight, self.load_fl, self.load_fr, self.load_rl, self.load_rr} != {None}


@dataclass(frozen=True)
class CarEvent:
    """An event that every run of the car looks for, as of `System.add_event`."""

    when: str = key("expression that crosses zero or comparison, of channels, parameters and t",
                    kind="text")  # fmt: skip
    action: Mapping[str, Any] | None = key("new values of states and parameters: formulas by name", default=None,
                                           kind="formulas")  # fmt: skip
    stop: bool = key("whether the event ends the run", default=False, kind="flag")
    direction: str = key("direction of the crossings", default="both", kind="text", choices=tuple(DIRECTIONS))


@dataclass(frozen=True)
class Hitch:
    """The joint of a trailer and the unit that tows it."""

    at: Vector = key("position on the towing unit, in its axes", "L", kind="vector")
    kind: str = key("ball: free to turn about all axes; fifth wheel: stiff in roll", default="ball", kind="text",
                    choices=("ball", "fifth wheel"))  # fmt: skip
    roll_stiffness: float | None = key("fifth wheel: roll moment per relative roll angle of the units", "F*L/A", None,
                                       sign=1, usual=(1e5, 2e7))  # fmt: skip
    roll_damping: float = key("fifth wheel: roll moment per relative roll rate", "F*L*T/A", 0.0, sign=0)
    yaw_friction: float = key("friction torque about the vertical: stabiliser, plate of a fifth wheel", "F*L", 0.0,
                              sign=0, usual=(0, 1e4))  # fmt: skip
    yaw_damping: float = key("torque per articulation rate", "F*L*T/A", 0.0, sign=0, usual=(0, 1e5))
    levelled: bool = key("whether the springs of the car are set for the load on its hitch, as air springs are",
                         default=False, kind="flag")  # fmt: skip


@dataclass(frozen=True)
class AxleSteering:
    """How the wheels of a trailer axle are steered: by the articulation angle, or by themselves, as castors."""

    ratio: float | None = key(
        "wheel angle per articulation angle; positive values turn the wheels out of the bend, so the axle cuts in less",
        default=None, usual=(0, 1),
    )  # fmt: skip
    trail: float | None = key("self-steering: distance of the wheel centres behind their kingpins", "L", None, sign=1,
                              usual=(0.05, 0.5))  # fmt: skip
    stiffness: float = key("self-steering: centring torque of both wheels per wheel angle", "F*L/A", 0.0, sign=0,
                           usual=(0, 1e6))  # fmt: skip
    damping: float = key("self-steering: torque of both wheels per rate of the wheel angle", "F*L*T/A", 0.0, sign=0,
                         usual=(0, 1e5))  # fmt: skip


@dataclass(frozen=True)
class TrailerAxle:
    """An axle of a trailer: two wheels on vertical slides, or a rigid axle that moves up and rolls."""

    at: Vector = key("centre of the left wheel, from the hitch", "L", kind="vector")
    wheel: Wheel = key("rotating parts of one side: wheel, tyre, brake drum", kind="section", record=Wheel)
    tyre: Rubber = key("tyre", kind="section", record=Rubber)
    stiffness: float = key("stiffness of one spring", "F/L", sign=1, usual=(1e4, 2e6))
    damping: float = key("damping of one damper", "F*T/L", sign=0, usual=(500, 1e5))
    kind: str = key("independent: each wheel on a vertical slide; rigid: both on one axle", default="independent",
                    kind="text", choices=("independent", "rigid"))  # fmt: skip
    mass: float = key("unsprung mass without wheels: of one side, or of a rigid axle", "M", 0.0, sign=0,
                      usual=(0, 900))  # fmt: skip
    inertia: Vector = key("rigid: moments of inertia of the axle without wheels", "M*L**2", (0.0, 0.0, 0.0),
                          kind="vector")  # fmt: skip
    spring_y: float | None = key("rigid: distance of a spring from the middle; default: that of the wheel", "L", None,
                                 sign=1, usual=(0.3, 1.2))  # fmt: skip
    roll_centre: float | None = key("rigid: z of the roll centre, from the hitch; default: that of the wheel centres",
                                    "L", None)  # fmt: skip
    roll_stiffness: float = key("anti-roll bar: roll moment per roll angle between body and axle", "F*L/A", 0.0,
                                sign=0, usual=(0, 5e6))  # fmt: skip
    lifted: bool = key("whether the axle is lifted: it carries nothing, its mass is fixed to the body as drawn",
                       default=False, kind="flag")  # fmt: skip
    steering: AxleSteering | None = key("steered wheels: by `ratio`, or self-steering by `trail`", default=None,
                                        kind="section", record=AxleSteering)  # fmt: skip
    dual_spacing: float | None = key("dual tyres, not of steered front wheels: distance of the middles of both tyres",
                                     "L", None, sign=1, usual=(0.15, 0.5))  # fmt: skip


@dataclass(frozen=True)
class AddedAxle(TrailerAxle):
    """One more axle of a car, behind or before its rear axle: the keys of an axle of a trailer, and its part of load,
    brakes and drive."""

    at: Vector = key("centre of the left wheel, in the axes of the car", "L", kind="vector")
    load_ratio: float = key("load at rest over that of the rear axle", default=1.0, sign=1, usual=(0.2, 1.5))
    equalisation: float = key("load equalisation with the rear axle: 0 springs of their own, 1 changes of load are "
                              "shared in the ratio of the stiffnesses", default=0.0, sign=0, usual=(0, 1))  # fmt: skip
    brake_ratio: float = key("brake torque over that of the rear axle", default=1.0, sign=0, usual=(0, 1.5))
    drive_ratio: float = key("drive torque over that of the rear axle; 0: not driven", default=0.0, sign=0,
                             usual=(0, 1.5))  # fmt: skip


@dataclass(frozen=True)
class Overrun:
    """Overrun brakes: the trailer brakes as it pushes the unit that tows it, not while it moves backwards."""

    gain: float = key("brake torque of the trailer per force above the threshold", "L", sign=1, usual=(0.5, 6))
    threshold: float = key("thrust of the hitch at which the brakes begin to act", "F", 0.0, sign=0, usual=(0, 2000))
    lag: float = key("lag of the brake torque behind the thrust of the hitch", "T", 0.1, sign=1, usual=(0.02, 1))


@dataclass(frozen=True)
class TrailerBrakes:
    """Brakes of all wheels of a trailer, which follow those of the car or the thrust of the hitch."""

    gain: float | None = key("brake torque of the trailer per brake torque of the car", default=None, sign=0,
                             usual=(0, 6))  # fmt: skip
    overrun: Overrun | None = key("overrun brakes, in place of `gain`", default=None, kind="section", record=Overrun)
    torque: float | None = key("largest brake torque, sum of all wheels", "F*L", None, sign=1, usual=(500, 2e5))
    lag: float = key("lag behind the brakes of the car", "T", 0.0, sign=0, usual=(0, 1))
    abs: TrailerAntilock | None = key("ABS, switched by the parameter abs_NAME_on", default=None, kind="section",
                                      record=TrailerAntilock)  # fmt: skip


@dataclass(frozen=True)
class Trailer:
    """A towed unit: caravan, semi-trailer, dolly. Positions are from its own hitch: x forward, y left, z up."""

    mass: float = key("sprung mass without loads", "M", sign=1, usual=(50, 45000))
    cg: Vector = key("mass centre of the sprung mass, from the hitch", "L", kind="vector")
    inertia: Vector = key("moments of inertia about the mass centre: roll, pitch, yaw", "M*L**2", kind="vector")
    hitch: Hitch = key("joint with the towing unit", kind="section", record=Hitch)
    axles: Mapping[str, TrailerAxle] = key("axles, by name, from the front", kind="sections", record=TrailerAxle)
    towed_by: str | None = key("unit that tows it: 'car', or a trailer that stands before it in the file; default: the "
                               "unit before it", default=None, kind="text")  # fmt: skip
    inertia_xz: float = key("product of inertia, -integral of x z dm", "M*L**2", 0.0)
    equalisation: float = key("load equalisation of the axles: 0 springs of their own, 1 equal spring forces",
                              default=0.0, sign=0, usual=(0, 1), most=1)  # fmt: skip
    loads: Mapping[str, Load] | None = key("point masses such as luggage, by name", default=None, kind="sections",
                                           record=Load)  # fmt: skip
    brakes: TrailerBrakes | None = key("brakes", default=None, kind="section", record=TrailerBrakes)
    drag_area: float = key("drag coefficient times frontal area, at the mass centre", "L**2", 0.0, sign=0,
                           usual=(0, 8))  # fmt: skip
    width: float = key("width, for swept paths and pictures", "L", 2.0, sign=1, usual=(0.8, 2.6))
    length: float = key("length of the body, for pictures", "L", 5.0, sign=1, usual=(1, 15))
    body_x: float | None = key("x of the middle of the body, from the hitch, for pictures; default: of the mass centre",
                               "L", None)  # fmt: skip
    height: float = key("height of the body, for pictures", "L", 2.0, sign=1, usual=(0.1, 4))

    @property
    def middle(self) -> float:
        """x of the middle of the body as drawn, m."""
        return float(self.cg[0] if self.body_x is None else self.body_x)


@dataclass(frozen=True)
class Sections:
    """The whole file."""

    body: Body = key("sprung mass", kind="section", record=Body)
    front: Axle = key("front axle", kind="section", record=Axle)
    rear: Axle = key("rear axle", kind="section", record=Axle)
    steering: Steering = key("steering", kind="section", record=Steering)
    brakes: Brakes = key("brakes", kind="section", record=Brakes)
    drive: Drive = key("drive", kind="section", record=Drive)
    name: str = key("name of the car", default="car", kind="text")
    kind: str = key("kind of vehicle; usual values of trucks are up to ten times as high", default="car", kind="text",
                    choices=("car", "truck"))  # fmt: skip
    car: str | None = key("car file, or name of a shipped car, whose sections this file changes", default=None,
                          kind="text")  # fmt: skip
    axes: str = key("axes of positions: 'ISO 8855' (x forward, y left, z up), 'SAE' (x forward, y right, z down) or "
                    "'ADAMS' (x rearward, y right, z up); also of hard points that state none",
                    default="ISO 8855", kind="text", choices=tuple(AXES))  # fmt: skip
    loads: Mapping[str, Load] | None = key(
        "point masses such as driver and luggage, by name", default=None, kind="sections", record=Load
    )
    aerodynamics: Aerodynamics | None = key("aerodynamic forces", default=None, kind="section", record=Aerodynamics)
    controllers: Controllers | None = key("controllers of brakes and drive", default=None, kind="section",
                                          record=Controllers)  # fmt: skip
    events: Mapping[str, CarEvent] | None = key("events, by name", default=None, kind="sections", record=CarEvent)
    frame: Frame | None = key("frame or body that twists", default=None, kind="section", record=Frame)
    setup: Setup | None = key("targets of the car at rest", default=None, kind="section", record=Setup)
    axles: Mapping[str, AddedAxle] | None = key(
        "more axles of trucks, by name: the keys of `trailers.NAME.axles.NAME`, and", default=None, kind="sections",
        record=AddedAxle,
    )  # fmt: skip
    trailers: Mapping[str, Trailer] | None = key(
        "trailers, by name: `shipped` or `file` and keys that differ, or all keys",
        default=None, kind="sections", record=Trailer,
    )  # fmt: skip
