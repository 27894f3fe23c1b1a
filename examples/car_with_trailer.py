"""Car with a trailer and an ESC: a shipped car, extended, in manoeuvres and by its modes.

python examples/car_with_trailer.py
"""

import numpy as np

import bellcrank as bc

MASS, HITCH = 900.0, 600.0  # kg of the caravan without its wheels; N on the ball of the hitch
RADIUS, AHEAD, TRACK, BALL = (
    0.3,
    3.2,
    1.6,
    0.45,
)  # m: of the wheels, from axle to hitch, between wheels, height of hitch
K_SPRING, C_SPRING, K_TYRE = 45e3, 3e3, 250e3  # N/m, N s/m, N/m of one side
WHEEL = 20.0  # kg
G = 9.80665  # m/s2


def add_trailer(system, car):
    """A caravan with one axle on springs, on the ball of the hitch."""
    load, ahead = (
        (MASS * G - HITCH) / 2,
        HITCH * AHEAD / (MASS * G),
    )  # N on one spring; m of the mass centre to the axle
    hitch = (
        float(car.stand.contact[2][0]) - 0.9,
        0,
        BALL - car.stand.height,
    )  # in the axes of the car
    sinks = (load + WHEEL * G) / K_TYRE  # m
    system.add_parameter(
        "m_trailer", MASS, units="M", label="mass of the caravan without its wheels"
    )
    system.add_parameter("ahead_trailer", ahead, units="L", label="its mass centre before its axle")
    system.add_parameter(
        "i_trailer", 1800.0, units="M*L**2", label="its moment of inertia about the vertical"
    )
    trailer = system.add_body(
        "trailer",
        parent="chassis",
        rotate=(3, 2, 1),
        joint_at=hitch,
        mass="m_trailer",
        cm=(f"ahead_trailer - {AHEAD!r}", 0, 0.4),
        inertia=(500, "i_trailer", "i_trailer"),
        label="caravan",
    )
    slip = bc.Slip(longitudinal=60e3, cornering=45e3, relaxation=0.4, friction=0.9)
    tyre = bc.Tyre(stiffness=K_TYRE, damping=500, slip=slip)
    for side, sign, ground in (("left", 1, system.ground[0]), ("right", -1, system.ground[1])):
        name = f"trailer.{side}"
        at = (-AHEAD, sign * TRACK / 2, RADIUS - sinks - BALL)
        axle = system.add_body(name, parent=trailer, translate=3, joint_at=at, mass=0, inertia=0)
        wheel = system.add_body(
            f"{name}.wheel", parent=axle, rotate=2, mass=WHEEL, inertia=(0.5, 0.9, 0.5)
        )
        system.add_force(
            f"{name}.spring",
            magnitude=f"-{load!r} - {K_SPRING!r}*q({name}) - {C_SPRING!r}*u({name})",
            direction=trailer[3],
            at=axle.origin,
            against=trailer.origin,
        )
        system.add_contact(
            f"{name}.tyre", at=wheel, radius=RADIUS, terrain=ground, tyre=tyre, wheel=wheel
        )
    system.add_output(
        "hitch_angle", "q(trailer, 1)", label="yaw angle of the trailer at the hitch", units="deg"
    )


def add_esc(system, car):
    """An ESC that brakes the outer front wheel when the car turns more than a neutral car on the
    road could."""
    system.add_parameter("esc_gain", 20e3, units="F*L*T/A", label="ESC: brake torque per yaw rate")
    system.add_parameter(
        "esc_free", np.radians(4.0), units="A/T", label="ESC: yaw-rate error without action"
    )
    system.add_parameter("esc_time", 0.04, units="T", label="ESC: lag of the hydraulics")
    system.define(
        "esc.wanted",
        "forward*steering_wheel/steering_ratio/(wheelbase + 0.0025*wheelbase*forward**2)",
    )
    system.define("esc.most", "0.9*9.81/max(abs(forward), 3)")
    system.define(
        "esc.error", "dot(rot(chassis), [n3]) - max(-esc.most, min(esc.most, esc.wanted))"
    )
    for corner, sign in (("fr", ""), ("fl", "-")):
        asked = f"esc_gain*max(0, {sign}esc.error - esc_free)*where(forward > 3, 1, 0)"
        system.add_state(
            f"esc.{corner}",
            rate=f"({asked} - esc.{corner})/esc_time",
            units="F*L",
            label=f"ESC: brake torque of {corner}",
        )
        system.control(f"{corner}.brake_torque", f"esc.{corner}")


def car_with_trailer():
    return bc.vehicles.Car.read("passenger").extended(add_trailer, add_esc)


def snaking(speeds=(60, 80, 100, 120)):
    """Frequency (Hz) and damping ratio of the slow mode with the least damping, over the speed
    (km/h): snaking."""
    sim = car_with_trailer().system(speed=60 / 3.6).equations().compile()
    found = {}
    for speed in speeds:
        straight = sim.equilibrium(
            free=["drive", "steer"], targets={"yaw_rate": 0, "speed": speed / 3.6}
        )
        modes = sim.linearize(at=straight).essential().modes
        found[speed] = min((m for m in modes if 0.2 < m.frequency < 2), key=lambda m: m.damping)
    return found


def main():
    car = car_with_trailer()
    for name in ("iso7401-step", "iso3888-1", "iso7975"):
        print(bc.vehicles.manoeuvres.run(car, name))
    for speed, mode in snaking().items():
        print(f"snaking at {speed} km/h: {mode.frequency:.2f} Hz, damping ratio {mode.damping:.3f}")


if __name__ == "__main__":
    main()
