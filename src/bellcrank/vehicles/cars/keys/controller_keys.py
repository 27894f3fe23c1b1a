# ruff: noqa: RUF009  (a key is a field of the record)
"""Keys of the controllers in a car file."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.vehicles.file_keys import file_key

ON = "whether it is active at the beginning; the parameter {}_on switches it"


@dataclass(frozen=True)
class AbsKeys:
    """ABS: a continuous law that holds the slip of each wheel (docs/car.md)."""

    on: bool = file_key(ON.format("abs"), default=True, kind="flag")
    slip: float = file_key("target slip", default=0.12, sign=1, usual=(0.05, 0.3), most=1)
    gain: float = file_key(
        "fraction of the brake torque per slip", default=8.0, sign=0, usual=(1, 20)
    )
    rate: float = file_key(
        "fraction of the brake torque per slip and time", "1/T", 30.0, sign=0, usual=(1, 200)
    )
    slow: float = file_key("speed below which ABS is off", "L/T", 1.5, sign=1, usual=(0.5, 5))
    select_low: str = file_key(
        "axles both of whose wheels get the smaller fraction of the two",
        default="none",
        kind="text",
        choices=("none", "front", "rear", "all"),
    )


@dataclass(frozen=True)
class TrailerAbsKeys(AbsKeys):
    """ABS of a trailer: the law of that of a car, with its own switch."""

    on: bool = file_key(ON.format("abs_NAME"), default=True, kind="flag")
    select_low: str = file_key(
        "wheels that get the smallest fraction of all of them: of each axle, or of each side",
        default="none",
        kind="text",
        choices=("none", "axle", "side"),
    )


@dataclass(frozen=True)
class EscKeys:
    """ESC: brakes single wheels when the yaw rate or the side slip leaves what the steering wheel
    asks for."""

    on: bool = file_key(ON.format("esc"), default=True, kind="flag")
    gain: float = file_key(
        "yaw moment per yaw-rate error", "F*L*T/A", 25e3, sign=0, usual=(5e3, 2e5)
    )
    dead_zone: float = file_key(
        "yaw-rate error without intervention", "A/T", 0.06, sign=0, usual=(0.01, 0.2)
    )
    side_slip_gain: float = file_key(
        "yaw moment per side-slip angle", "F*L/A", 60e3, sign=0, usual=(0, 5e5)
    )
    side_slip: float = file_key(
        "side-slip angle without intervention", "A", 0.06, sign=0, usual=(0.02, 0.2)
    )
    friction: float = file_key(
        "friction of the road that limits the reference yaw rate",
        default=0.85,
        sign=1,
        usual=(0.2, 1.2),
    )
    understeer: float | None = file_key(
        "understeer gradient of the reference car; default: that of tyres and compliance",
        "A*T**2/L",
        None,
        sign=0,
        usual=(0, 0.02),
    )
    lag: float = file_key(
        "lag of the reference yaw rate behind the steering wheel",
        "T",
        0.1,
        sign=1,
        usual=(0.02, 0.3),
    )
    actuator_lag: float = file_key("lag of the brake torques", "T", 0.04, sign=1, usual=(0.01, 0.2))
    torque: float = file_key(
        "largest brake torque at a wheel", "F*L", 2000.0, sign=1, usual=(300, 6000)
    )
    slip: float = file_key(
        "wheel slip at which ESC releases the brake", default=0.25, sign=1, usual=(0.1, 0.6), most=1
    )
    cut: float = file_key(
        "fraction by which the drive torque is reduced during an intervention",
        default=1.0,
        sign=0,
        usual=(0, 1),
        most=1,
    )
    slow: float = file_key("speed below which ESC is off", "L/T", 5.0, sign=1, usual=(2, 10))


@dataclass(frozen=True)
class TractionControlKeys:
    """Traction control: brakes a spinning wheel, and reduces the drive torque when the driven
    wheels spin together."""

    on: bool = file_key(ON.format("traction"), default=True, kind="flag")
    slip: float = file_key(
        "target slip of the driven wheels", default=0.08, sign=1, usual=(0.03, 0.3), most=1
    )
    slip_speed: float = file_key(
        "slip speed that is allowed at least, as the car starts to move",
        "L/T",
        0.5,
        sign=1,
        usual=(0.2, 2),
    )
    brake_gain: float = file_key(
        "brake torque per slip speed above the target", "F*T", 400.0, sign=0, usual=(0, 3000)
    )
    brake_rate: float = file_key(
        "brake torque per slip speed above the target and time", "F", 3000.0, sign=0, usual=(0, 3e4)
    )
    torque: float = file_key(
        "largest brake torque at a wheel", "F*L", 1500.0, sign=0, usual=(0, 5000)
    )
    cut_gain: float = file_key(
        "reduction of the drive torque per slip speed above the target",
        "T/L",
        0.15,
        sign=0,
        usual=(0, 2),
    )
    cut_rate: float = file_key("the same per time", "1/L", 1.0, sign=0, usual=(0, 10))
    fast: float = file_key(
        "speed above which wheels are not braked", "L/T", 25.0, sign=1, usual=(5, 80)
    )


@dataclass(frozen=True)
class TorqueVectoringKeys:
    """Torque vectoring: moves torque between the wheels of an axle, by two motors or an active
    differential."""

    on: bool = file_key(ON.format("vectoring"), default=True, kind="flag")
    axle: str = file_key(
        "axle whose torque is moved", default="rear", kind="text", choices=("front", "rear", "both")
    )
    moment: float = file_key(
        "yaw moment per lateral acceleration; positive reduces understeer",
        "M*L",
        0.0,
        usual=(-1000, 1000),
    )
    gain: float = file_key(
        "yaw moment per yaw-rate error to a reference car", "F*L*T/A", 0.0, sign=0, usual=(0, 1e5)
    )
    understeer: float | None = file_key(
        "understeer gradient of the reference car; default: that of tyres and compliance",
        "A*T**2/L",
        None,
        usual=(-0.002, 0.02),
    )
    friction: float = file_key(
        "friction of the road that limits the reference yaw rate",
        default=0.85,
        sign=1,
        usual=(0.2, 1.2),
    )
    torque: float = file_key(
        "largest torque that is moved from a wheel to the other",
        "F*L",
        800.0,
        sign=0,
        usual=(50, 3000),
    )
    lag: float = file_key("lag of the torques", "T", 0.03, sign=1, usual=(0.005, 0.2))
    slow: float = file_key("speed below which it is off", "L/T", 3.0, sign=1, usual=(1, 10))


@dataclass(frozen=True)
class CruiseControlKeys:
    """Cruise control: keeps a speed by drive and brakes, in models without a driver."""

    on: bool = file_key(ON.format("cruise"), default=True, kind="flag")
    speed: float | None = file_key(
        "speed at the beginning; default: the initial speed of the model",
        "L/T",
        None,
        sign=0,
        usual=(5, 70),
    )
    gain: float = file_key("acceleration per speed error", "1/T", 0.8, sign=0, usual=(0.1, 3))
    rate: float = file_key(
        "acceleration per speed error and time", "1/T**2", 0.15, sign=0, usual=(0, 1)
    )
    acceleration: float = file_key(
        "largest acceleration that it asks for", "L/T**2", 1.5, sign=1, usual=(0.5, 4)
    )
    deceleration: float = file_key(
        "largest deceleration that it asks for; 0: no brakes", "L/T**2", 2.0, sign=0, usual=(0, 5)
    )


@dataclass(frozen=True)
class ControllerKeys:
    """All controllers that a car file may have."""

    esc: EscKeys | None = file_key(
        "electronic stability control", default=None, kind="section", record=EscKeys
    )
    traction: TractionControlKeys | None = file_key(
        "traction control", default=None, kind="section", record=TractionControlKeys
    )
    vectoring: TorqueVectoringKeys | None = file_key(
        "torque vectoring", default=None, kind="section", record=TorqueVectoringKeys
    )
    cruise: CruiseControlKeys | None = file_key(
        "cruise control", default=None, kind="section", record=CruiseControlKeys
    )
