# ruff: noqa: RUF009  (a key is a field of the record)
"""Keys of the controllers in a car file."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.library.vehicles.keys import key

ON = "whether it is active at the beginning; the parameter {}_on switches it"


@dataclass(frozen=True)
class Stability:
    """ESC: brakes single wheels when the yaw rate or the side slip leaves what the steering wheel asks for."""

    on: bool = key(ON.format("esc"), default=True, kind="flag")
    gain: float = key("yaw moment per yaw-rate error", "F*L*T/A", 25e3, sign=0, usual=(5e3, 2e5))
    dead_zone: float = key("yaw-rate error without intervention", "A/T", 0.06, sign=0, usual=(0.01, 0.2))
    side_slip_gain: float = key("yaw moment per side-slip angle", "F*L/A", 60e3, sign=0, usual=(0, 5e5))
    side_slip: float = key("side-slip angle without intervention", "A", 0.06, sign=0, usual=(0.02, 0.2))
    friction: float = key("friction of the road that limits the reference yaw rate", default=0.85, sign=1,
                          usual=(0.2, 1.2))  # fmt: skip
    understeer: float | None = key("understeer gradient of the reference car; default: that of tyres and compliance",
                                   "A*T**2/L", None, sign=0, usual=(0, 0.02))  # fmt: skip
    lag: float = key("lag of the reference yaw rate behind the steering wheel", "T", 0.1, sign=1, usual=(0.02, 0.3))
    actuator_lag: float = key("lag of the brake torques", "T", 0.04, sign=1, usual=(0.01, 0.2))
    torque: float = key("largest brake torque at a wheel", "F*L", 2000.0, sign=1, usual=(300, 6000))
    slip: float = key("wheel slip at which ESC releases the brake", default=0.25, sign=1, usual=(0.1, 0.6))
    cut: float = key("fraction by which the drive torque is reduced during an intervention", default=1.0, sign=0,
                     usual=(0, 1))  # fmt: skip
    slow: float = key("speed below which ESC is off", "L/T", 5.0, sign=1, usual=(2, 10))


@dataclass(frozen=True)
class Controllers:
    """All controllers that a car file may have."""

    esc: Stability | None = key("electronic stability control", default=None, kind="section", record=Stability)
