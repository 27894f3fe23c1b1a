"""Driven vehicles: static equilibrium, single-track formulas, load transfer, friction-limited
braking, standstill; bad input.

Single-track formulas: Pacejka, Tyre and Vehicle Dynamics (3rd ed., 2012), section 1.3.2: delta =
L/R + eta a_y/g.
"""

import math
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import cli
from tests.late import Late
from tests.models import rarely

optimize = Late("scipy.optimize")

G = 9.80665
FRONT, REAR, TRACK, M, RIM, HEIGHT = 1.2, 1.4, 1.5, 1200.0, 40.0, 0.55
L, TOTAL, K, LENGTH, SPIN = FRONT + REAR, M + 4 * RIM, (200e3, 25e3), (0.3, 0.4), 1.0
C_FRONT, C_REAR, MU = 45e3, 55e3, 0.9
SLOPE, FOOT = 0.2, 1000.0  # the ground rises behind x = FOOT
WHEELS = [f"w{axle}{side}" for axle in (1, 2) for side in "lr"]


def sample_car(**options):
    slips = tuple(bc.Slip(60e3, c, friction=MU) for c in (C_FRONT, C_REAR))
    return bc.vehicles.car(
        slip=slips, terrain=bc.vehicles.terrain.ramp(SLOPE, FOOT), brakes=(0.6, 0.4), **options
    )


@pytest.fixture(scope="module")
def equations():
    return sample_car().equations()


@pytest.fixture(scope="module")
def sim(equations):
    return equations.compile()


def static_state():
    """Height and pitch of the chassis, wheel loads and radii at rest, by the equilibrium of rims
    and chassis in the tilted position.

    Rims slide along the chassis' z axis, the ground pushes upwards at the wheel centres.
    """
    x = np.array([FRONT, -REAR])

    def parts(unknown):
        height, pitch, *travel = unknown
        c, s = math.cos(pitch), math.sin(pitch)
        z = LENGTH[0] - HEIGHT + np.array(travel)
        radius = height - x * s + z * c
        return c, K[0] * (LENGTH[0] - radius), x * c + z * s, np.array(travel), radius

    def balance(unknown):
        c, load, place, travel, _ = parts(unknown)
        rims = (load - RIM * G) * c - K[1] * travel
        return [2 * load.sum() - TOTAL * G, 2 * ((load - RIM * G) * place).sum(), *rims]

    found = optimize.fsolve(balance, [0.42, 0.0, 0.1, 0.1], xtol=1e-13)
    _, load, _, _, radius = parts(found)
    return found[0], found[1], load, radius


def rolling(speed):
    """Initial values of straight rolling at a speed from the static state."""
    _, pitch, _, radius = static_state()
    start = {"u(chassis, 1)": speed * math.cos(pitch), "u(chassis, 3)": speed * math.sin(pitch)}
    return start | {f"u({w}.wheel)": speed / radius[int(w[1]) - 1] for w in WHEELS}


@pytest.mark.campaign
def test_car_rolls_at_its_static_equilibrium(sim):
    height, pitch, load, _ = static_state()
    run = sim.simulate(t_end=8, output_every=1000, initial=rolling(5))
    assert run["height"][-1] == pytest.approx(height, abs=1e-7)
    assert math.radians(run["pitch"][-1]) == pytest.approx(pitch, abs=1e-7)
    for w in WHEELS:
        assert run[f"{w}.tyre_load"][-1] == pytest.approx(load[int(w[1]) - 1], rel=1e-6)
    assert run["height"][0] == pytest.approx(
        height, abs=1e-4
    )  # the start that the vehicle sets itself
    assert run["speed"][-1] == pytest.approx(5, rel=1e-5)


def turned(sim, speed, steer, t_end):
    run = sim.simulate(
        t_end=t_end, output_every=100, initial=rolling(speed), inputs={"steer": steer}
    )
    return run["speed"][-1], math.radians(run["yaw_rate"][-1]), run


@pytest.mark.parametrize("steer", [3.0, -1.5])
def test_low_speed_turning_radius_is_that_of_the_single_track_model(sim, steer):
    speed, yaw_rate, run = turned(sim, 0.8, steer, 8)
    assert speed / yaw_rate == pytest.approx(L / math.radians(steer), rel=0.01)
    inner, outer = ("l", "r") if steer > 0 else ("r", "l")
    angle = {side: abs(run[f"q(w1{side}.knuckle)"][-1]) for side in "lr"}
    assert 1 / math.tan(angle[outer]) - 1 / math.tan(angle[inner]) == pytest.approx(
        TRACK / L, rel=1e-4
    )  # Ackermann


@pytest.mark.parametrize(("speed", "steer"), [(15, 1.0), (25, 0.5)])
def test_understeer_gradient_is_that_of_the_single_track_model(sim, speed, steer):
    """delta = L/R + m/L (b/C1 - a/C2) a_y with axle stiffnesses and the mass centre of the whole
    car."""
    ahead = 2 * RIM * (FRONT - REAR) / TOTAL
    a, b = FRONT - ahead, REAR + ahead
    gradient = TOTAL / L * (b / (2 * C_FRONT) - a / (2 * C_REAR))
    v, yaw_rate, run = turned(sim, speed, steer, 5)
    assert (math.radians(steer) - L * yaw_rate / v) / (v * yaw_rate) == pytest.approx(
        gradient, rel=0.01
    )
    assert run["ay"][-1] == pytest.approx(v * yaw_rate, rel=1e-3)


@pytest.mark.parametrize(("name", "moment", "sign"), [("drive", 700.0, 1), ("brake", 900.0, -1)])
def test_car_accelerates_and_brakes_with_the_pitch_of_the_static_balance(sim, name, moment, sign):
    """Moment at the wheels to acceleration; load moves by the moments of inertia forces about the
    ground, and by the shift of weight as the chassis pitches; the springs in series give that
    pitch."""
    height, pitch, load, radius = static_state()
    run = sim.simulate(t_end=4, output_every=100, initial=rolling(15), inputs={name: moment})
    ax = run["ax"][-1]
    r = radius.mean()
    assert ax == pytest.approx(sign * moment / r / (TOTAL + 4 * SPIN / r**2), rel=0.01)
    tilt = math.radians(run["pitch"][-1]) - pitch
    lever = height - r
    about_ground = M * ax * height + 4 * RIM * ax * r + 4 * SPIN * ax / r
    moved = (about_ground - M * G * lever * tilt) / L
    for axle, way in ((1, -1), (2, 1)):
        gained = sum(run[f"w{axle}{side}.tyre_load"][-1] for side in "lr") - 2 * load[axle - 1]
        assert gained == pytest.approx(way * moved, rel=0.005)
    stiffness = 2 / (1 / K[0] + 1 / K[1])
    assert tilt == pytest.approx(
        -moved / stiffness * 2 / L, rel=0.02
    )  # suspensions tilt with the chassis


def test_locked_wheels_brake_with_the_friction_limit(sim):
    """All four locked: every load gives mu of itself."""
    run = sim.simulate(t_end=1.6, initial=rolling(20), inputs={"brake": 30e3})
    assert all(abs(run[f"u({w}.wheel)"][1500]) < 0.5 for w in WHEELS)
    load = sum(run[f"{w}.tyre_load"] for w in WHEELS)
    force = sum(run[f"{w}.tyre_fx"] for w in WHEELS)
    assert force[400:] == pytest.approx(-MU * load[400:], rel=1e-3)
    assert run["speed"][400] - run["speed"][1400] == pytest.approx(MU * G, rel=0.01)


def test_braked_car_stops_and_stays(sim):
    """It rocks back by the elasticity of tyres and suspension alone, and comes to rest."""
    run = sim.simulate(
        t_end=20,
        output_every=10,
        initial=rolling(10),
        inputs={"brake": bc.signals.step(1.0, 3000.0)},
    )
    x = run["q(chassis, 1)"]
    _, _, _, radius = static_state()
    braking = 3000 / radius.mean() / (TOTAL + 4 * SPIN / radius.mean() ** 2)
    assert x.max() == pytest.approx(10 + 10**2 / (2 * braking), rel=0.02)
    assert x.max() - x[-1] < 0.05
    assert abs(run["speed"][-1]) < 1e-9


def test_brake_at_standstill_moves_nothing(sim):
    run = sim.simulate(t_end=3, output_every=100, inputs={"brake": bc.signals.step(0.5, 8000.0)})
    free = sim.simulate(t_end=3, output_every=100)
    assert abs(run["q(chassis, 1)"] - free["q(chassis, 1)"]).max() < 1e-4
    assert abs(run["speed"]).max() < 1e-3


@pytest.mark.parametrize("across", rarely([False, True], [False]))
def test_car_stands_on_a_slope_without_creeping(sim, across):
    """Held by its brakes, nose uphill or across the slope."""
    angle = math.atan(SLOPE)
    h = 0.415
    start = {
        "q(chassis, 1)": FOOT + 50 - h * math.sin(angle),
        "q(chassis, 3)": SLOPE * 50 + h * math.cos(angle) - HEIGHT,
    }
    start |= (
        {"q(chassis, 4)": math.pi / 2, "q(chassis, 6)": angle}
        if across
        else {"q(chassis, 5)": -angle}
    )
    run = sim.simulate(t_end=90, output_every=1000, initial=start, inputs={"brake": 4000.0})
    for axis in (1, 2):
        place = run[f"q(chassis, {axis})"]
        assert abs(place[-1] - place[30]) < 1e-9 and abs(place[-1] - place[0]) < 0.2
    assert abs(run["speed"][-1]) < 1e-9
    held = [sum(run[f"{w}.tyre_{f}"][-1] for w in WHEELS) for f in ("fx", "fy")]
    assert np.hypot(*held) == pytest.approx(TOTAL * G * math.sin(angle), rel=1e-6)


def test_c_and_python_agree(equations, sim):
    inputs = {
        "steer": bc.signals.step(0.01, 4.0),
        "drive": bc.signals.step(0.02, 800.0),
        "brake": bc.signals.step(0.05, 2000.0),
    }
    options = {"t_end": 0.1, "step": 0.002, "initial": rolling(12), "inputs": inputs}
    runs = [sim.simulate(**options), equations.compile(backend="python").simulate(**options)]
    for channel in ("q(chassis, 1)", "yaw_rate", "w1l.tyre_fy", "w2r.tyre_fx", "w1r.held", "rack"):
        assert runs[0][channel] == pytest.approx(runs[1][channel], rel=1e-8, abs=1e-8)


@pytest.mark.campaign
def test_truck_with_two_steered_axles_goes_round_one_point():
    """Low speed: all wheels roll without side force, so the path curves about a point on the line
    of the rear axle."""
    s = bc.vehicles.truck(
        axles=(2.8, 1.4, -2.0),
        slip=bc.Slip(20.0, 15.0, per_load=True),
        steered=(1, 2),
        driven=(3,),
        speed=1.0,
    )
    run = s.equations().compile().simulate(t_end=10, output_every=100, inputs={"steer": 5.0})
    radius = 4.8 / math.tan(math.radians(5))  # of the middle of the rear axle
    for axle, x in ((1, 2.8), (2, 1.4)):
        assert math.tan(run[f"q(w{axle}l.knuckle)"][-1]) == pytest.approx(
            (x + 2.0) / (radius - 0.9), rel=1e-4
        )
    assert run["speed"][-1] / math.radians(run["yaw_rate"][-1]) == pytest.approx(radius, rel=0.01)


@pytest.mark.campaign
def test_motorcycle_transfers_load_when_it_is_driven_or_braked():
    m, rim, base, k, length, spin = 100.0, 15.0, 1.4, (150e3, 20e3), (0.3, 0.4), 0.6
    slip = bc.Slip(30e3, relaxation=0.2)
    s = bc.vehicles.motorcycle(
        rim=rim, chassis=m, k=k, c=(300, 1500), length=length, wheelbase=base, slip=slip, spin=spin
    )
    sim = s.equations().compile()
    sag = (m + rim) * G / k[0]
    r, height = length[0] - sag, sum(length) - sag - m * G / k[1]
    start = {"q(frame, 2)": -sag - m * G / k[1], "u(frame, 1)": 8}
    start |= {f"q({side}.rim)": m * G / k[1] for side in ("rear", "front")}
    start |= {f"u({side}.wheel)": 8 / r for side in ("rear", "front")}
    for name, moment, sign in (("drive", 80.0, 1), ("brake", 60.0, -1)):
        run = sim.simulate(t_end=5, output_every=100, initial=start, inputs={name: moment})
        ax = sign * moment / r / (2 * (m + rim) + 2 * spin / r**2)
        speed = run["u(frame, 1)"]
        assert speed[-1] - speed[-11] == pytest.approx(ax, rel=0.01)
        tilt = math.radians(run["pitch"][-1])  # front up: weight moves to the rear
        moved = (
            2 * m * ax * height
            + 2 * rim * ax * r
            + 2 * spin * ax / r
            + 2 * m * G * (height - r) * tilt
        ) / base
        for side, way in (("rear", 1), ("front", -1)):
            assert run[f"{side}.tyre_load"][-1] - (m + rim) * G == pytest.approx(
                way * moved, rel=0.02
            )


SLIP = bc.Slip(60e3, 50e3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bc.vehicles.car(steered=(1,)), "steered: without slip tyres glide"),
        (
            lambda: bc.vehicles.truck(speed=3, brakes=(1, 0, 0)),
            "speed, brakes: without slip tyres glide",
        ),
        (
            lambda: bc.vehicles.car(slip=bc.Slip(60e3)),
            "a vehicle in space needs a cornering stiffness",
        ),
        (lambda: bc.vehicles.car(slip=(SLIP,)), "one for each of the 2 axles"),
        (
            lambda: bc.vehicles.car(slip=bc.Slip(60e3, 50e3, friction=-1, relaxation=0)),
            "friction=-1 must be positive; .*relaxation=0",
        ),
        (
            lambda: bc.vehicles.car(slip=SLIP, steered=(1, 2)),
            "at least one axle must not be steered",
        ),
        (
            lambda: bc.vehicles.car(slip=SLIP, driven=(3,)),
            r"driven=\(3,\) must be different axles, counted from 1 to 2",
        ),
        (
            lambda: bc.vehicles.car(slip=SLIP, brakes=(0.6, 0.6)),
            "2 shares, none negative, that add up to 1",
        ),
        (
            lambda: bc.vehicles.car(slip=SLIP, spin=0),
            "spin=0: the moment of inertia must be positive",
        ),
        (lambda: bc.vehicles.car(slip=SLIP, speed=math.nan), "speed=nan must be a finite number"),
        (
            lambda: bc.vehicles.car(slip=SLIP, k=(0, 1)),
            r"k=\(0, 1\) must be positive to carry its weight",
        ),
        (lambda: bc.vehicles.truck(axles=(1, "a")), "must be at least two different numbers"),
        (lambda: bc.vehicles.car(inertia=(1, 2, "x")), "three positive moments"),
        (lambda: bc.vehicles.car(massx=3), "massx=3 is not known. Did you mean 'mass'"),
        (lambda: bc.vehicles.motorcycle(slip=SLIP), "a vehicle in the plane has no lateral force"),
        (
            lambda: bc.vehicles.motorcycle(slip=bc.Slip(1e4), coordinates="redundant"),
            "slip needs a frame",
        ),
    ],
)
def test_bad_vehicles(make, message):
    with pytest.raises(bc.ModelError, match=message):
        make()


def test_bad_values_at_run_time(sim):
    with pytest.raises(bc.ModelError, match="parameter 'mu_1' is 0; it must be positive"):
        sim.simulate(t_end=0.1, parameters={"mu_1": 0})
    with pytest.raises(bc.ModelError, match="parameter 's_side_2' is -1; it must be positive"):
        sim.simulate(t_end=0.1, parameters={"s_side_2": -1})


def test_misspelt_input(sim):
    with pytest.raises(bc.ModelError, match=r"the model has no such input. Did you mean 'steer'"):
        sim.simulate(t_end=0.01, inputs={"steeer": 1.0})


@pytest.mark.campaign
def test_example_turns_and_stops(tmp_path, capsys):
    """One derivation: the run of the command line, and the picture."""
    path = Path(__file__).parents[2] / "examples" / "driven_car.py"
    out = tmp_path / "run.csv"
    assert cli.main(["run", str(path), "--out", str(out)]) == 0
    assert "finished" in capsys.readouterr().out
    run = bc.Run.read(out)
    turn = (run.time > 3) & (run.time < 4)
    assert run["ay"][turn] == pytest.approx(
        run["speed"][turn] * np.radians(run["yaw_rate"][turn]), rel=1e-2
    )
    assert run["ax"][(run.time > 7) & (run.time < 8)].max() < -7
    assert abs(run["speed"][-1]) < 1e-3
    run_path(str(path))["draw"](run, tmp_path / "driven_car.png")
    assert (tmp_path / "driven_car.png").stat().st_size > 10_000


@pytest.mark.campaign
def test_check_of_the_car():
    report = bc.check(sample_car(speed=10), states=2)
    assert report.passed, str(report)
