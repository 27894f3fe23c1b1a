"""Motors of axles, clutch and torque converter on a test bench, a car on rigid wheels that roll:
closed forms and balances of power and energy."""

import numpy as np
import pytest
from scipy.optimize import brentq

import bellcrank as bc
from bellcrank.core.errors import ModelError
from bellcrank.vehicles.cars.control.controller_context import ControllerOutputs
from bellcrank.vehicles.cars.design.car_data import CORNERS
from bellcrank.vehicles.cars.driveline.driveline import add_drive

MASS, RADIUS, SPIN = 1500.0, 0.3, 1.0
WHEELED = MASS + 4 * SPIN / RADIUS**2  # kg, with the wheels
MOTORS = {
    "drive": {"driven": "all", "front_share": 0.4, "torque": None, "power": None},
    "front": {
        "motor": {
            "torque": "200 N-m",
            "power": "80 kW",
            "inertia": "0.03 kg-m2",
            "efficiency": 0.95,
        }
    },
    "rear": {
        "motor": {
            "torque": "310 N-m",
            "power": "150 kW",
            "speed": "1500 rad/s",
            "efficiency": 0.9,
            "regeneration": 0.5,
        }
    },
}


def bench(car, rolls=True):
    """The drive of a car, with the mass of the car on wheels that roll without slip and a force
    `push` on it; or on wheels that are off the ground."""
    s = bc.System("bench")
    s.add_parameter("mass", MASS, units="M")
    chassis = s.add_body("chassis", translate=1, mass="mass", inertia=0)
    wheels = {}
    for corner in CORNERS:
        wheels[corner] = s.add_body(
            f"{corner}.wheel", parent=chassis, rotate=2, mass=0, inertia=(SPIN, SPIN, SPIN)
        )
        if rolls:
            s.add_constraint(
                f"{RADIUS}*u({corner}.wheel) - u(chassis)", eliminate=wheels[corner].u[1]
            )
        s.add_input(f"{corner}.drive_torque", units="F*L", default=0.0)
    for name, units in (("drive", "F*L"), ("braking", "F*L"), ("push", "F")):
        s.add_input(name, units=units, default=0.0)
    s.add_force("push", magnitude="push", direction=s.inertial[1], at=chassis.origin)
    carriers = dict.fromkeys(CORNERS, chassis)
    add_drive(
        s,
        car.data,
        wheels,
        carriers,
        {"front": chassis, "rear": chassis},
        "drive",
        MASS * 9.81 * RADIUS,
        ControllerOutputs(),
    )
    s.set_run(step=0.001, output_every=1, method="rk4")
    return s.equations().compile()


def work(run, *channels):
    """Integral of a sum of powers over the run (J)."""
    return np.trapezoid(sum(run[name] for name in channels), run.time)


def gained(values, inertia):
    """Change of kinetic energy from the beginning to the end (J)."""
    return inertia / 2 * (values[-1] ** 2 - values[0] ** 2)


IDLE, FLAT, J, FIRST = 80.0, 160.0, 0.15, 3.6 * 3.7
DRIVE = {
    "torque": None,
    "power": None,
    "driven": "rear",
    "final": 3.7,
    "efficiency": 0.93,
    "inertia": f"{J} kg-m2",
    "map": [["0 rpm", f"{FLAT} N-m"], ["6000 rpm", f"{FLAT} N-m"]],
    "drag": [["800 rpm", "15 N-m"], ["6000 rpm", "45 N-m"]],
    "gears": [3.6, 2.0, 1.35, 1.0, 0.8],
}
CLUTCH = 350.0  # N m
RATIOS, CAPACITIES = (
    [[0, 2.0], [0.85, 1.0], [1, 0.99]],
    [[0, 0.0032], [0.6, 0.0031], [0.85, 0.0022], [1, 0]],
)
CONVERTER = {
    "torque_ratio": RATIOS,
    "capacity": [[n, f"{k} N-m-s2"] for n, k in CAPACITIES],
    "lock_speed": "250 rad/s",
    "lock_torque": "300 N-m",
}


@pytest.fixture(scope="module")
def passenger():
    return bc.vehicles.Car.read("passenger")


@pytest.fixture(scope="module")
def clutched(passenger):
    return bench(passenger.changed(drive={**DRIVE, "clutch": {"torque": f"{CLUTCH} N-m"}}))


@pytest.fixture(scope="module")
def converted(passenger):
    return bench(passenger.changed(drive={**DRIVE, "converter": CONVERTER}))


@pytest.fixture(scope="module")
def electric():
    return bc.vehicles.Car.read("electric").changed(**MOTORS)


@pytest.fixture(scope="module")
def electric_bench(electric):
    return bench(electric)


def test_wrong_motors_of_axles_are_named(electric):
    with pytest.raises(
        ModelError, match=r"front.motor: the front axle is not driven \(drive.driven = 'rear'\)"
    ):
        electric.changed(drive={"driven": "rear"})
    with pytest.raises(
        ModelError, match=r"front.motor and drive.map: a car has the motor of \[drive\] or motors"
    ):
        electric.changed(drive={"map": [["0 rpm", "120 N-m"], ["6000 rpm", "100 N-m"]]})
    with pytest.raises(ModelError, match=r"rear.motor.regeneration = 1.2 must lie between 0 and 1"):
        electric.changed(rear={"motor": {"regeneration": 1.2}})
    with pytest.raises(ModelError, match=r"'ration'.*Did you mean 'ratio'"):
        electric.changed(rear={"motor": {"ration": 9}})


def test_motors_of_axles_accelerate_by_torque_then_power_then_not_at_all(electric_bench):
    """Constant torque gives a constant acceleration, constant power an energy that grows linearly;
    the losses are the powers times 1 - efficiency, and the rest is kinetic energy of car, wheels
    and rotor."""
    run = electric_bench.simulate(t_end=16, inputs={"drive": 9000.0})
    v = run["u(chassis)"]
    moved = WHEELED + 0.03 * (9 / RADIUS) ** 2
    assert np.gradient(v, run.time)[1000] == pytest.approx(
        (200 * 0.95 + 310 * 0.9) * 9 / RADIUS / moved, rel=1e-6
    )
    i, j = np.searchsorted(v, [20.0, 40.0])  # m/s: both motors at their power
    assert gained(v[i : j + 1], moved) == pytest.approx(
        (80e3 * 0.95 + 150e3 * 0.9) * (run.time[j] - run.time[i]), rel=1e-6
    )
    for axle, torque, power, loss in (("front", 200, 80e3, 0.05), ("rear", 310, 150e3, 0.1)):
        assert run[f"{axle}.motor_torque"].max() == pytest.approx(torque, rel=1e-9)
        assert run[f"{axle}.motor_power"].max() == pytest.approx(power, rel=1e-9)
        rolls = v > 1
        assert run[f"{axle}.motor_loss"][rolls] == pytest.approx(
            loss * run[f"{axle}.motor_power"][rolls], rel=1e-9
        )
    assert (
        run["rear.motor_speed"][-1] > 1500 * 30 / np.pi and abs(run["rear.motor_torque"][-1]) < 1e-9
    )
    given = work(run, "front.motor_power", "rear.motor_power")
    lost = work(run, "front.motor_loss", "rear.motor_loss")
    assert given - lost == pytest.approx(gained(v, moved), rel=1e-6)


def test_motors_of_axles_recover_the_energy_of_the_car_less_their_losses(electric_bench):
    """Braking: the wheels drive the motors, each within its part of the drive torque; at standstill
    nothing jumps."""
    start = {"u(chassis)": 20.0}
    mild = electric_bench.simulate(t_end=4, initial=start, inputs={"drive": -1000.0})
    v = mild["u(chassis)"]
    moved = WHEELED + 0.03 * (9 / RADIUS) ** 2
    assert v[-1] - v[0] == pytest.approx(-4 * 1000 / RADIUS / moved, rel=1e-9)
    for axle, part, efficiency in (("front", 0.4, 0.95), ("rear", 0.6, 0.9)):
        assert mild[f"{axle}.motor_power"] == pytest.approx(
            -1000 * part * efficiency * v / RADIUS, rel=1e-9
        )
    recovered, lost = (work(mild, f"front.motor_{x}", f"rear.motor_{x}") for x in ("power", "loss"))
    assert (
        gained(v, moved) == pytest.approx(recovered - lost, rel=1e-6) and -recovered > 9 * lost > 0
    )
    hard = electric_bench.simulate(t_end=8, initial=start, inputs={"drive": -9000.0})
    assert hard["rear.motor_torque"][0] == pytest.approx(
        -min(310, 150e3 / (20 / RADIUS * 9)) / 2, rel=1e-9
    )
    assert hard["front.motor_loss"].min() >= 0 and hard["rear.motor_loss"].min() >= 0
    backwards = (hard["u(chassis)"] < -1) & (
        hard["u(chassis)"] > -10
    )  # with all its torque, after the stop
    assert backwards.any() and hard["rear.motor_torque"][backwards] == pytest.approx(-310, rel=1e-9)
    assert (
        max(np.abs(np.diff(hard[f"{axle}.motor_torque"])).max() for axle in ("front", "rear")) < 20
    )


def test_motors_of_axles_hold_a_car_on_a_slope(electric_bench):
    """Also without regeneration: the force of the slope is held at standstill, with hardly any
    creeping."""
    inputs = {"push": -2000.0, "drive": 2000 * RADIUS}
    for back in (0.0, 1.0):
        run = electric_bench.simulate(
            t_end=2, inputs=inputs, parameters={"regeneration_rear": back}
        )
        assert abs(run["u(chassis)"]).max() < 1e-3


def test_wrong_clutches_and_converters_are_named(passenger):
    clutch = {"torque": "300 N-m"}
    with pytest.raises(ModelError, match=r"drive.clutch needs drive.drag and drive.inertia"):
        passenger.changed(drive={**DRIVE, "inertia": None, "clutch": clutch})
    with pytest.raises(ModelError, match=r"drive.clutch and drive.converter: give one of them"):
        passenger.changed(drive={**DRIVE, "clutch": clutch, "converter": CONVERTER})
    with pytest.raises(ModelError, match=r"drive.clutch needs drive.map"):
        passenger.changed(drive={"clutch": clutch})
    with pytest.raises(ModelError, match=r"'torqe'.*Did you mean 'torque'"):
        passenger.changed(drive={**DRIVE, "clutch": {"torqe": "300 N-m"}})
    wrong = {
        "torque_ratio": [[0.1, 2], [1, 1]],
        "capacity": [[0, "0.003 N-m-s2"], [1, "0.001 N-m-s2"]],
    }
    with pytest.raises(ModelError) as caught:
        passenger.changed(drive={**DRIVE, "converter": wrong})
    assert "torque_ratio: speed ratios must go from 0 to 1" in str(caught.value)
    assert "the last value must be 0" in str(caught.value)
    with pytest.raises(
        ModelError, match=r"at the speed ratio 0.8 the efficiency is 1.2; speed ratio times torque"
    ):
        passenger.changed(
            drive={
                **DRIVE,
                "converter": {**CONVERTER, "torque_ratio": [[0, 2], [0.8, 1.5], [1, 1]]},
            }
        )


def test_half_of_the_work_of_a_launch_is_heat_of_the_clutch(clutched):
    """With a constant torque the motor keeps the speed at which the clutch carries it, and the
    fraction of its work that is heat is 1 - w/w_m, with the mean speed w of the gears; then the
    clutch sticks, and the rotor is accelerated as well."""
    start = {"driveline.motor": IDLE, "driveline.clutch": 1.0, "driveline.gear": 1.0}
    run = clutched.simulate(t_end=6, initial=start, inputs={"drive": 1e5})
    v, motor = run["u(chassis)"], run["motor_speed"] * np.pi / 30
    gears = run["gear_ratio"] * v / RADIUS
    carries = IDLE * (1 + np.sqrt(FLAT / CLUTCH) / 2)
    i, j = np.searchsorted(gears[:2000], [0.3 * carries, 0.95 * carries])
    slips = slice(i, j + 1)
    assert motor[slips] == pytest.approx(carries, rel=1e-4)
    heat, done = (
        np.trapezoid(run[name][slips], run.time[slips]) for name in ("coupling_loss", "motor_power")
    )
    assert heat / done == pytest.approx(1 - (gears[i] + gears[j]) / (2 * carries), rel=1e-3)
    ax = np.gradient(v, run.time)
    thrust = 0.93 * FLAT * FIRST / RADIUS
    assert ax[slips] == pytest.approx(thrust / WHEELED, rel=1e-3)
    sticks = (run.time > 2) & (run["gear"] == 1)
    assert sticks.any() and motor[sticks] == pytest.approx(gears[sticks], rel=1e-4)
    assert ax[sticks][:-2] == pytest.approx(
        thrust / (WHEELED + 0.93 * J * (FIRST / RADIUS) ** 2), rel=1e-3
    )
    shift = np.flatnonzero((run["gear"] > 1.5) & (run["gear"] < 1.95))
    assert (
        np.diff(run["gear"]).min() >= 0
        and ax[shift].min() < 0.1 * ax[slips][0]
        and run["motor_torque"].min() < -15
    )
    rest = work(run, "motor_power") - work(run, "coupling_loss", "gear_loss")
    assert rest == pytest.approx(gained(v, WHEELED) + gained(motor, J), rel=1e-5)


def test_clutch_opens_for_hard_braking_and_the_motor_idles(clutched):
    start = {
        "u(chassis)": 8.0,
        "driveline.motor": 8 / RADIUS * FIRST,
        "driveline.clutch": 1.0,
        "driveline.gear": 1.0,
    }
    run = clutched.simulate(
        t_end=6, initial=start, inputs={"braking": 5000.0}, parameters={"gear_held": 1.0}
    )
    late = run.time > 0.6
    assert run["clutch"][late].max() < 0.01 and np.ptp(run["u(chassis)"][late]) < 1e-3
    assert np.gradient(run["motor_speed"] * np.pi / 30, run.time)[1000] == pytest.approx(
        -np.interp(run["motor_speed"][1000], [800, 6000], [15, 45]) / J, rel=0.01
    )
    assert run["motor_speed"][-1] * np.pi / 30 == pytest.approx(IDLE, rel=0.01)
    stands = clutched.simulate(
        t_end=1, initial={"driveline.motor": IDLE, "driveline.clutch": 1.0, "driveline.gear": 1.0}
    )
    assert np.ptp(stands["motor_speed"]) < 1e-9 and abs(stands["u(chassis)"]).max() < 1e-12


@pytest.mark.parametrize("turbine", [0.0, 150.0, 229.0, 245.0])
def test_torque_converter_at_a_constant_speed(converted, turbine):
    """A heavy car keeps its speed: the motor turns where full load is k(n) w^2, and the turbine
    gives m(n) of it; on overrun where its drag is k(1/n) of the turbine. The coupling point of the
    table is at 229 rad/s."""
    v = turbine / FIRST * RADIUS
    start = {"u(chassis)": v, "driveline.motor": max(IDLE, turbine), "driveline.gear": 1.0}
    given = {"parameters": {"mass": 1e12, "gear_held": 1.0}, "initial": start, "t_end": 3}
    run = converted.simulate(inputs={"drive": 1e5}, **given)

    def capacity(n):
        return np.interp(n, *zip(*CAPACITIES, strict=True))

    w = brentq(lambda w: FLAT - capacity(turbine / w) * w**2, turbine + 1, 600)
    assert run["motor_speed"][-1] * np.pi / 30 == pytest.approx(w, rel=1e-6)
    assert run["speed_ratio"][-1] == pytest.approx(turbine / w, abs=1e-6)
    assert run["pump_torque"][-1] == pytest.approx(FLAT, rel=1e-6)
    multiplies = np.interp(turbine / w, *zip(*RATIOS, strict=True))
    assert run["turbine_torque"][-1] == pytest.approx(multiplies * FLAT, rel=1e-6)
    assert run["coupling_loss"][-1] == pytest.approx(
        FLAT * w * (1 - multiplies * turbine / w), rel=1e-6
    )
    if turbine == 229:
        assert multiplies == pytest.approx(1, abs=0.01)
    if turbine > 100:
        coasts = converted.simulate(inputs={"drive": -1e5}, **given)
        drags = brentq(
            lambda w: (
                np.interp(w * 30 / np.pi, [800, 6000], [15, 45])
                - capacity(w / turbine) * turbine**2
            ),
            turbine / 2,
            turbine,
        )
        assert coasts["motor_speed"][-1] * np.pi / 30 == pytest.approx(drags, rel=1e-5)
        assert coasts["turbine_torque"][-1] == pytest.approx(coasts["pump_torque"][-1], rel=1e-9)
        assert coasts["coupling_loss"][-1] > 0


def test_torque_converter_shifts_locks_and_keeps_the_balance(converted):
    """From idle with all gears: the work of the motor is kinetic energy and losses, and the locked
    converter has none."""
    start = {"driveline.motor": IDLE, "driveline.gear": 1.0}
    run = converted.simulate(t_end=15, initial=start, inputs={"drive": 1e5})
    v, motor = run["u(chassis)"], run["motor_speed"] * np.pi / 30
    rest = work(run, "motor_power") - work(run, "coupling_loss", "gear_loss")
    assert rest == pytest.approx(gained(v, WHEELED) + gained(motor, J), rel=1e-5)
    assert run["gear"][-1] > 2.9 and np.diff(run["gear"]).min() >= 0
    gears = run["gear_ratio"] * v / RADIUS
    locked = (gears > 1.1 * 250) & (np.abs(run["gear"] - run["gear"].round()) < 1e-4)
    assert locked.mean() > 0.3 and motor[locked] == pytest.approx(gears[locked], rel=0.02)
    assert (
        run["lock_up_torque"].max() > 0.8 * FLAT
        and np.abs(run["coupling_loss"][locked]).mean() < 100
    )


def balanced(car, run, given):
    """Whether the energy `given` to the wheels (J) is that of the wheels, the work of the tyres'
    forces on the car, and a little for sliding and rolling; and the tyres' forces accelerate the
    car against the air."""
    inertia = {c: car.data.axle(axle).record.wheel.spin_inertia for c, (axle, _) in CORNERS.items()}
    wheels = sum(gained(run[f"u({c}.wheel)"], inertia[c]) for c in CORNERS)
    pushes = np.trapezoid(sum(run[f"{c}.tyre.fx"] for c in CORNERS) * run["speed"], run.time)
    assert 0 < given - wheels - pushes < 0.08 * given
    air = car.data.sections.aerodynamics
    drag = np.trapezoid(air.density / 2 * air.drag * air.area * run["speed"] ** 3, run.time)
    assert pushes == pytest.approx(gained(run["speed"], car.stand.mass) + drag, rel=0.01)


@pytest.mark.parametrize(
    ("driven", "share", "centre"),
    [
        ("all", 0.4, {"kind": "open"}),
        ("rear", 0.0, {"kind": "limited-slip", "preload": "150 N-m"}),
        ("all", 0.4, {"kind": "limited-slip", "lock": 0.1}),
        ("rear", 0.0, {"kind": "locked"}),
    ],
)
def test_a_centre_differential_moves_torque_to_the_slower_axle(passenger, driven, share, centre):
    """Wheels off the ground: each axle accelerates by its part of the torque; friction moves half
    of preload and of lock times torque from the faster axle, a lock as much as keeps both together.
    Powers add up."""
    torque, inertia = 600.0, 2 * SPIN
    drive = {
        "torque": None,
        "power": None,
        "driven": driven,
        "front_share": share if share else None,
        "centre": centre,
    }
    sim = bench(
        passenger.changed(
            drive={k: v for k, v in drive.items() if v is not None or k in ("torque", "power")}
        ),
        rolls=False,
    )
    run = sim.simulate(t_end=2.0, inputs={"drive": torque})
    front, rear = ((run[f"u({a}l.wheel)"] + run[f"u({a}r.wheel)"]) / 2 for a in "fr")
    moved = {"open": 0.0, "locked": torque * (0.5 - share)}.get(
        centre["kind"], (150.0 if "preload" in centre else 0.1 * torque) / 2
    )
    late = slice(500, None)
    t = run.time[late] - run.time[500]
    assert front[late] - front[500] == pytest.approx(
        (torque * share + moved) / inertia * t, rel=1e-3, abs=1e-6
    )
    assert rear[late] - rear[500] == pytest.approx(
        (torque * (1 - share) - moved) / inertia * t, rel=1e-3, abs=1e-6
    )
    if centre["kind"] != "open":
        assert run["centre.locking"][-1] == pytest.approx(-2 * moved, rel=1e-3)
    if centre["kind"] == "locked":
        assert front[-1] == pytest.approx(rear[-1], rel=1e-3)


def test_wrong_centre_differentials_are_named(passenger, electric):
    for drive, words in (
        (
            {"centre": {"kind": "open", "preload": "10 N-m"}},
            r"drive.centre: preload and lock are those of kind",
        ),
        (
            {"centre": {"kind": "limited-slip", "lock": 1.4}},
            r"drive.centre.lock = 1.4 must lie between 0 and 1",
        ),
        ({"centre": {"kind": "visco"}}, r"drive.centre.kind"),
    ):
        with pytest.raises(ModelError, match=words):
            passenger.changed(drive=drive)
    with pytest.raises(ModelError, match=r"drive.centre and front.motor"):
        electric.changed(drive={"centre": {"kind": "locked"}})


@pytest.mark.campaign
def test_an_electric_car_accelerates_by_its_motors(electric):
    """From standstill within the limits of both motors, and the time to 100 km/h follows."""
    result = bc.vehicles.manoeuvres.run(electric, "acceleration")
    run = result.run
    assert run["front.motor_torque"].max() == pytest.approx(200, rel=1e-6)
    assert (
        run["front.motor_power"].max() < 80e3 * 1.0001
        and run["rear.motor_power"].max() < 150e3 * 1.0001
    )
    given = work(run, "front.motor_power", "rear.motor_power") - work(
        run, "front.motor_loss", "rear.motor_loss"
    )
    balanced(electric, run, given - gained(run["front.motor_speed"] * np.pi / 30, 0.03))
    assert 3 < result["time"] < 8


@pytest.mark.campaign
@pytest.mark.parametrize("kind", ["clutch", "converter"])
def test_a_motor_with_a_speed_of_its_own_in_manoeuvres(passenger, kind):
    """Acceleration with a balance of energy, steady driving, and a stop to idle speed."""
    car = passenger.changed(
        drive={**DRIVE, "clutch": {"torque": "350 N-m"}}
        if kind == "clutch"
        else {**DRIVE, "converter": CONVERTER}
    )
    result = bc.vehicles.manoeuvres.run(car, "acceleration")
    run, motor = result.run, result.run["motor_speed"] * np.pi / 30
    rest = work(run, "motor_power") - work(run, "coupling_loss", "gear_loss")
    balanced(car, run, rest - gained(motor, J))
    assert (
        8 < result["time"] < 16
        and np.diff(run["gear"]).min() > -1e-9
        and run["motor_speed"].max() < 6150
    )
    understeer = bc.vehicles.manoeuvres.handling(passenger)[
        "understeer"
    ]  # another motor at the same wheels leaves it as it is
    assert bc.vehicles.manoeuvres.handling(car)["understeer"] == pytest.approx(understeer, rel=0.01)
    stop = bc.vehicles.manoeuvres.run(car, "braking", torque=3000)
    assert stop.passed and stop.run["motor_speed"][-1] * np.pi / 30 == pytest.approx(IDLE, rel=0.06)
