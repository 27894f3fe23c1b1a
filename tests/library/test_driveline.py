"""Motors of axles on a test bench, a car on rigid wheels that roll: closed forms and balances of power and energy."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import ModelError
from bellcrank.library.vehicles.controllers.parts import Controls
from bellcrank.library.vehicles.data import CORNERS
from bellcrank.library.vehicles.driveline import add_drive

MASS, RADIUS, SPIN = 1500.0, 0.3, 1.0
WHEELED = MASS + 4 * SPIN / RADIUS**2  # kg, with the wheels
MOTORS = {
    "drive": {"driven": "all", "front_share": 0.4, "torque": None, "power": None},
    "front": {"motor": {"torque": "200 N-m", "power": "80 kW", "inertia": "0.03 kg-m2", "efficiency": 0.95}},
    "rear": {"motor": {"torque": "310 N-m", "power": "150 kW", "speed": "1500 rad/s", "efficiency": 0.9,
                       "regeneration": 0.5}},
}  # fmt: skip


def bench(car):
    """The drive of a car, with the mass of the car on wheels that roll without slip and a force `push` on it."""
    s = bc.System("bench")
    chassis = s.add_body("chassis", translate=1, mass=MASS, inertia=0)
    wheels = {}
    for corner in CORNERS:
        wheels[corner] = s.add_body(f"{corner}.wheel", parent=chassis, rotate=2, mass=0, inertia=(SPIN, SPIN, SPIN))
        s.add_constraint(f"{RADIUS}*u({corner}.wheel) - u(chassis)", eliminate=wheels[corner].u[1])
        s.add_input(f"{corner}.drive_torque", units="F*L", default=0.0)
    for name, units in (("drive", "F*L"), ("braking", "F*L"), ("push", "F")):
        s.add_input(name, units=units, default=0.0)
    s.add_force("push", magnitude="push", direction=s.inertial[1], at=chassis.origin)
    carriers = dict.fromkeys(CORNERS, chassis)
    add_drive(s, car.data, wheels, carriers, chassis, "drive", MASS * 9.81 * RADIUS, Controls())
    s.set_run(step=0.001, output_every=1, method="rk4")
    return s.equations().compile()


def work(run, *channels):
    """Integral of a sum of powers over the run (J)."""
    return np.trapezoid(sum(run[name] for name in channels), run.time)


def gained(values, inertia):
    """Change of kinetic energy from the beginning to the end (J)."""
    return inertia / 2 * (values[-1] ** 2 - values[0] ** 2)


@pytest.fixture(scope="module")
def electric():
    return bc.vehicles.Car.read("electric").changed(**MOTORS)


@pytest.fixture(scope="module")
def electric_bench(electric):
    return bench(electric)


def test_wrong_motors_of_axles_are_named(electric):
    with pytest.raises(ModelError, match=r"front.motor: the front axle is not driven \(drive.driven = 'rear'\)"):
        electric.changed(drive={"driven": "rear"})
    with pytest.raises(ModelError, match=r"front.motor and drive.map: a car has the motor of \[drive\] or motors"):
        electric.changed(drive={"map": [["0 rpm", "120 N-m"], ["6000 rpm", "100 N-m"]]})
    with pytest.raises(ModelError, match=r"rear.motor.regeneration = 1.2 must lie between 0 and 1"):
        electric.changed(rear={"motor": {"regeneration": 1.2}})
    with pytest.raises(ModelError, match=r"'ration'.*Did you mean 'ratio'"):
        electric.changed(rear={"motor": {"ration": 9}})


def test_motors_of_axles_accelerate_by_torque_then_power_then_not_at_all(electric_bench):
    """Constant torque gives a constant acceleration, constant power an energy that grows linearly; the losses are the
    powers times 1 - efficiency, and the rest is kinetic energy of car, wheels and rotor."""
    run = electric_bench.simulate(t_end=16, inputs={"drive": 9000.0})
    v = run["u(chassis)"]
    moved = WHEELED + 0.03 * (9 / RADIUS) ** 2
    assert np.gradient(v, run.time)[1000] == pytest.approx((200 * 0.95 + 310 * 0.9) * 9 / RADIUS / moved, rel=1e-6)
    i, j = np.searchsorted(v, [20.0, 40.0])  # m/s: both motors at their power
    assert gained(v[i : j + 1], moved) == pytest.approx(
        (80e3 * 0.95 + 150e3 * 0.9) * (run.time[j] - run.time[i]), rel=1e-6
    )
    for axle, torque, power, loss in (("front", 200, 80e3, 0.05), ("rear", 310, 150e3, 0.1)):
        assert run[f"{axle}.motor_torque"].max() == pytest.approx(torque, rel=1e-9)
        assert run[f"{axle}.motor_power"].max() == pytest.approx(power, rel=1e-9)
        rolls = v > 1
        assert run[f"{axle}.motor_loss"][rolls] == pytest.approx(loss * run[f"{axle}.motor_power"][rolls], rel=1e-9)
    assert run["rear.motor_speed"][-1] > 1500 * 30 / np.pi and abs(run["rear.motor_torque"][-1]) < 1e-9
    given = work(run, "front.motor_power", "rear.motor_power")
    lost = work(run, "front.motor_loss", "rear.motor_loss")
    assert given - lost == pytest.approx(gained(v, moved), rel=1e-6)


def test_motors_of_axles_recover_the_energy_of_the_car_less_their_losses(electric_bench):
    """Braking: the wheels drive the motors, each within its part of the drive torque; at standstill nothing jumps."""
    start = {"u(chassis)": 20.0}
    mild = electric_bench.simulate(t_end=4, initial=start, inputs={"drive": -1000.0})
    v = mild["u(chassis)"]
    moved = WHEELED + 0.03 * (9 / RADIUS) ** 2
    assert v[-1] - v[0] == pytest.approx(-4 * 1000 / RADIUS / moved, rel=1e-9)
    for axle, part, efficiency in (("front", 0.4, 0.95), ("rear", 0.6, 0.9)):
        assert mild[f"{axle}.motor_power"] == pytest.approx(-1000 * part * efficiency * v / RADIUS, rel=1e-9)
    recovered, lost = (work(mild, f"front.motor_{x}", f"rear.motor_{x}") for x in ("power", "loss"))
    assert gained(v, moved) == pytest.approx(recovered - lost, rel=1e-6) and -recovered > 9 * lost > 0
    hard = electric_bench.simulate(t_end=8, initial=start, inputs={"drive": -9000.0})
    assert hard["rear.motor_torque"][0] == pytest.approx(-min(310, 150e3 / (20 / RADIUS * 9)) / 2, rel=1e-9)
    assert hard["front.motor_loss"].min() >= 0 and hard["rear.motor_loss"].min() >= 0
    backwards = (hard["u(chassis)"] < -1) & (hard["u(chassis)"] > -10)  # with all its torque, after the stop
    assert backwards.any() and hard["rear.motor_torque"][backwards] == pytest.approx(-310, rel=1e-9)
    assert max(np.abs(np.diff(hard[f"{axle}.motor_torque"])).max() for axle in ("front", "rear")) < 20


def test_motors_of_axles_hold_a_car_on_a_slope(electric_bench):
    """Also without regeneration: the force of the slope is held at standstill, with hardly any creeping."""
    inputs = {"push": -2000.0, "drive": 2000 * RADIUS}
    for back in (0.0, 1.0):
        run = electric_bench.simulate(t_end=2, inputs=inputs, parameters={"regeneration_rear": back})
        assert abs(run["u(chassis)"]).max() < 1e-3


def balanced(car, run, given):
    """Whether the energy `given` to the wheels (J) is that of the wheels, the work of the tyres' forces on the car, and
    a little for sliding and rolling; and the tyres' forces accelerate the car against the air."""
    inertia = {c: car.data.axle(axle).record.wheel.spin_inertia for c, (axle, _) in CORNERS.items()}
    wheels = sum(gained(run[f"u({c}.wheel)"], inertia[c]) for c in CORNERS)
    pushes = np.trapezoid(sum(run[f"{c}.tyre.fx"] for c in CORNERS) * run["speed"], run.time)
    assert 0 < given - wheels - pushes < 0.08 * given
    air = car.data.sections.aerodynamics
    drag = np.trapezoid(air.density / 2 * air.drag * air.area * run["speed"] ** 3, run.time)
    assert pushes == pytest.approx(gained(run["speed"], car.stand.mass) + drag, rel=0.01)


@pytest.mark.campaign
def test_an_electric_car_accelerates_by_its_motors(electric):
    """From standstill within the limits of both motors, and the time to 100 km/h follows."""
    result = bc.manoeuvres.run(electric, "acceleration")
    run = result.run
    assert run["front.motor_torque"].max() == pytest.approx(200, rel=1e-6)
    assert run["front.motor_power"].max() < 80e3 * 1.0001 and run["rear.motor_power"].max() < 150e3 * 1.0001
    given = work(run, "front.motor_power", "rear.motor_power") - work(run, "front.motor_loss", "rear.motor_loss")
    balanced(electric, run, given - gained(run["front.motor_speed"] * np.pi / 30, 0.03))
    assert 3 < result["time"] < 8
