"""Trailers in car files: statics, hitch forces, sway, off-tracking and rearward amplification,
against laws by hand."""

import math
import re

import numpy as np
import pytest
from scipy.optimize import fsolve

import bellcrank as bc
from bellcrank.core.errors import ModelError
from bellcrank.vehicles.cars.design.car_data import CORNERS, GRAVITY
from bellcrank.vehicles.manoeuvres.car_trailer_tests import critical_speed, decay_damping, sway_mode
from bellcrank.vehicles.manoeuvres.compiled_car import compile_car
from bellcrank.vehicles.manoeuvres.linear_handling import LinearCar
from tests.vehicles import trailer_by_hand as hand

AXLE = {
    "units": ["m", "kg", "N/mm", "N-s/m"], "at": [-4.3, 1.0, -0.16], "mass": 22, "stiffness": 55, "damping": 3200,
    "wheel": {"units": ["kg", "kg-m2"], "mass": 17, "spin_inertia": 0.8}, "tyre": {"size": "195/70R14 96N"},
}  # fmt: skip


@pytest.fixture(scope="module")
def car():
    return bc.vehicles.Car.read("caravan")


def tandem(car, equalisation):
    """The caravan with two axles, 0.9 m apart, on a hitch that is 0.1 m lower, so that it
    pitches."""
    axles = {
        "axle": None,
        "one": {**AXLE, "at": [-3.85, 1.0, -0.16]},
        "two": {**AXLE, "at": [-4.75, 1.0, -0.16]},
    }
    return car.changed(
        trailers={
            "caravan": {
                "axles": axles,
                "equalisation": equalisation,
                "hitch": {"at": ["-3.6 m", "0 m", "0.33 m"]},
            }
        }
    )


def test_statics_of_a_car_with_a_caravan(car):
    """Loads carry all weights; the hitch load is that of moments about the axle; the car without
    trailer is lighter behind by the lever of the hitch."""
    at, trailer = car.stand, car.data.trailers[0]
    (towed,) = at.trailers
    assert sum(at.wheel_load) + sum(towed.load.values()) == pytest.approx(
        at.total_mass * GRAVITY, rel=1e-9
    )
    assert sum(at.wheel_load) == pytest.approx(at.mass * GRAVITY + towed.hitch_load, rel=1e-9)
    height = (
        towed.hitch_height + trailer.sprung.cg[2]
    )  # a pitched trailer carries its mass centre further ahead
    moved = trailer.sprung.mass * GRAVITY * height * towed.pitch / -trailer.axles[0].record.at[0]
    assert towed.hitch_load == pytest.approx(hand.hitch_load(trailer) + moved, rel=0.02)
    alone = bc.vehicles.Car.read("passenger").stand
    lever = (alone.contact_points[0][0] - trailer.hitch_point[0]) / (
        alone.contact_points[0][0] - alone.contact_points[2][0]
    )
    rear = sum(at.wheel_load[2:]) - sum(alone.wheel_load[2:])
    assert rear == pytest.approx(towed.hitch_load * lever, rel=0.02)  # the car pitches a little
    assert car.metrics["hitch_load_caravan"] == towed.hitch_load
    assert [s for s in car.check() if "not measured" not in s and "linear metrics" not in s] == []


@pytest.mark.campaign
def test_labels_of_trailers_are_words():
    """Not names such as rear_semi.first_l; cornering stiffness has its unit."""
    d = bc.vehicles.Car.read("b_double").system().description
    labels = [
        x.label
        for x in (*d.bodies, *d.parameters.values(), *d.variables, *d.states, *d.outputs)
        if x.label
    ]
    assert [x for x in labels if "_" in x or "axle axle" in x] == []
    assert "cornering stiffness of the tyres of axle first of rear semi" in labels
    assert d.parameters["c_alpha_front"].units == "N/rad"


def test_tandem_axles_share_their_load(car):
    """Equalised axles carry the same spring force whatever the pitch; those with springs of their
    own do not."""
    loads = {}
    for equal in (0.0, 1.0):
        (towed,) = tandem(car, equal).stand.trailers
        assert abs(math.degrees(towed.pitch)) > 0.5
        loads[equal] = [
            sum(x for wheel, x in towed.load.items() if f".{axle}_" in wheel)
            for axle in ("one", "two")
        ]
    one, two = loads[1.0]
    assert one == pytest.approx(two, rel=5e-3)
    one, two = loads[0.0]
    assert abs(one - two) > 0.05 * (one + two)


def test_a_tractor_with_a_semi_trailer():
    """The axles of the tridem carry the same; the tractor, whose springs are set for the hitch
    load, stands level."""
    semi = bc.vehicles.Car.read("semi_trailer")
    at, f = semi.stand, semi.metrics
    loads = [f[f"load_semi_{axle}"] for axle in ("first", "second", "third")]
    assert max(loads) - min(loads) < 0.005 * loads[0]
    assert sum(at.wheel_load) + sum(loads) == pytest.approx(at.total_mass * GRAVITY, rel=1e-9)
    assert max(map(abs, at.travel)) < 2e-3
    assert [s for s in semi.check() if "not measured" not in s] == []


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("caravan", {"": (True, []), "_caravan": (False, ["caravan"])}),
        pytest.param("semi_trailer", {"": (True, ["semi"])}, marks=pytest.mark.campaign),
        pytest.param(
            "truck_trailer",
            {"": (True, []), "_trailer": (False, ["dolly", "trailer"])},
            marks=pytest.mark.campaign,
        ),
        pytest.param("b_double", {"": (True, ["lead", "rear_semi"])}, marks=pytest.mark.campaign),
    ],
)
def test_static_stability_of_units_that_roll_together(name, groups):
    """Fifth wheels carry roll, balls do not: half tracks, weighted by loads, less the offset of the
    mass centre, over its height, by hand, for a small pitch and roll."""
    vehicle = bc.vehicles.Car.read(name)
    at, f = vehicle.stand, vehicle.metrics
    found = {key for key in f if key.startswith("static_stability")}
    assert found == {f"static_stability{end}" for end in groups}
    half = (f["track_front"] + f["track_rear"]) / 4
    own = (
        sum(at.wheel_load),
        half,
        at.mass,
        f["cg_height"],
        float(at.mass_centre[1]) - at.roll * f["cg_height"],
    )
    for end, (first, names) in groups.items():
        units = [own] if first else []
        for t, s in zip(vehicle.data.trailers, at.trailers, strict=True):
            if t.name in names:
                parts = [
                    (t.sprung.mass, t.sprung.cg),
                    *((a.unsprung_mass, a.record.at) for a in t.axles),
                ]
                height = (
                    s.hitch_height + sum(m * (at[2] - s.pitch * at[0]) for m, at in parts) / t.mass
                )
                left = t.sprung.mass * t.sprung.cg[1] / t.mass - s.roll * height
                units.append(
                    (
                        sum(s.load.values()),
                        np.mean([a.record.at[1] for a in t.axles]),
                        t.mass,
                        height,
                        left,
                    )
                )
        load, half, mass, height, left = np.array(units).T
        expected = (load @ half / load.sum() - abs(mass @ left / mass.sum())) / (
            mass @ height / mass.sum()
        )
        assert f[f"static_stability{end}"] == pytest.approx(expected, rel=2e-3)
        label = f.details[f"static_stability{end}"].label
        assert all(n in label for n in names) and ("the towing unit" in label) is first


@pytest.mark.parametrize("y", [0.4, -0.4])
def test_static_stability_of_a_load_off_the_centre_line(y):
    """By masses: the offset of the mass centre, and at most its height times the roll on top."""
    van = bc.vehicles.Car.read("van")
    loaded = van.changed(loads={"cargo": {"mass": "1200 kg", "at": ["-2.6 m", f"{y} m", "1.1 m"]}})
    at, f = loaded.stand, loaded.metrics
    half, offset = (f["track_front"] + f["track_rear"]) / 4, float(at.mass_centre[1])
    level = (half - abs(offset)) / f["cg_height"]
    assert offset * y > 0.05 and level - abs(at.roll) < f["static_stability"] < level
    assert f["static_stability"] < van.metrics["static_stability"] - 0.1


def test_a_trailer_behind_a_dolly(car):
    """A full trailer: a dolly on the ball, a trailer on its fifth wheel; an asymmetric load is
    carried in roll."""
    dolly = {
        "units": ["kg", "m", "kg-m2", "N-m/rad"], "mass": 200, "cg": [-2.0, 0, 0.1], "inertia": [50, 80, 100],
        "hitch": {"at": [-3.6, 0, 0.43]}, "axles": {"axle": {**AXLE, "at": [-2.0, 1.0, -0.16]}},
    }  # fmt: skip
    wagon = {
        "units": ["kg", "m", "kg-m2", "N-m/rad"], "mass": 1000, "cg": [-1.8, 0, 0.4], "inertia": [400, 1500, 1600],
        "hitch": {"at": [-2.05, 0, 0.2], "kind": "fifth wheel", "roll_stiffness": 1e5},
        "axles": {"axle": {**AXLE, "at": [-3.5, 1.0, -0.36]}}, "loads": {"box": {"mass": 100, "at": [-2.0, 0.5, 0]}},
    }  # fmt: skip
    full = bc.vehicles.Car.read("passenger").changed(trailers={"dolly": dolly, "wagon": wagon})
    at = full.stand
    assert [t.name for t in at.trailers] == ["dolly", "wagon"] and full.data.trailers[
        1
    ].towed_by == "dolly"
    total = sum(at.wheel_load) + sum(x for t in at.trailers for x in t.load.values())
    assert total == pytest.approx(at.total_mass * GRAVITY, rel=1e-9)
    left, right = at.trailers[1].load.values()
    assert (
        left > right and at.trailers[1].roll < 0 and at.trailers[0].roll < 0
    )  # a positive roll lifts the left side
    assert at.trailers[0].hitch_load / (at.trailers[0].mass * GRAVITY) < 0.2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"axles": {"axle": {"at": [4.3, 1.0, -0.16]}}}, "behind the hitch"),
        ({"hitch": {"roll_stiffness": "1e5 N-m/rad"}}, "a ball is free in roll"),
        ({"hitch": {"kind": "fifth wheel"}}, "roll_stiffness is missing"),
        ({"axles": {"axle": {"spring_y": 0.5}}}, "belong to kind = 'rigid'"),
        ({"equalisation": 1.5}, "between 0 and 1"),
        ({"masss": 3}, "Did you mean 'mass'"),
        ({"cg": [0.5, 0, 0.3]}, "does not lie behind its hitch"),
        ({"axles": None}, "axles is missing"),
        ({"brakes": {"overrun": {"gain": "2 m"}}}, "give either gain"),
        ({"brakes": {"gain": None}}, "give either gain"),
        (
            {"brakes": {"gain": None, "overrun": {"gain": "2 m"}}},
            "brakes.lag belongs to brakes with a gain",
        ),
        (
            {"brakes": {"gain": None, "lag": None, "overrun": {"gain": "2 N"}}},
            "must be in a unit such as m",
        ),
        ({"axles": {"1st": AXLE}}, "begins with a letter"),
        (
            {"hitch": {"at": ["3.6 m", "0 m", "0.43 m"]}},
            "must lie behind the front axle of the car, at x = 0 m",
        ),
    ],
)
def test_what_is_wrong_with_a_trailer(car, change, words):
    with pytest.raises(ModelError) as error:
        car.changed(trailers={"caravan": change})
    assert words in str(error.value) and "caravan" in str(error.value)


def test_trailers_that_do_not_stand_and_inertias_of_no_body(car):
    deep = car.changed(trailers={"caravan": {"axles": {"axle": {"at": [-4.3, 1.0, -1.6]}}}})
    said = (
        r"do not hold the car: .* caravan weighs 1\d{4} N, .* x = -4\.\d+ m .* at -4.3 m and -1.6 m"
    )
    with pytest.raises(ModelError, match=said):
        deep.stand  # noqa: B018
    high = car.changed(trailers={"caravan": {"axles": {"axle": {"at": [-4.3, 1.0, 0.04]}}}}).check()
    pitch = math.degrees(math.atan(0.2 / 4.3))  # against that of the caravan as it is, nose up
    (told,) = (s for s in high if "(pitch_caravan)" in s)
    assert float(re.search(r"is (-[\d.]+) deg", told)[1]) == pytest.approx(
        car.metrics["pitch_caravan"] - pitch, abs=0.1
    )
    odd = car.changed(trailers={"caravan": {"inertia": [6000, 2800, 3000]}}).check()
    assert (
        "trailers.caravan.inertia = [6000.0, 2800.0, 3000.0] kg m2: one exceeds the sum of "
        "the others." in odd
    )


def test_names_of_trailers_and_files():
    plain = bc.vehicles.Car.read("passenger")
    for trailers, words in (
        ({"x": {"shipped": "carvan"}}, "Did you mean 'caravan'"),
        (
            {"chassis": {"shipped": "caravan", "hitch": {"at": ["-3.6 m", "0 m", "0.43 m"]}}},
            "own parts",
        ),
        ({"x": {"shipped": "caravan", "file": "a.toml"}}, "either shipped or file"),
    ):
        with pytest.raises(ModelError, match=words):
            plain.changed(trailers=trailers)
    with pytest.raises(ModelError, match="no file or car has this name"):
        bc.vehicles.Car(car="passengr")
    hitch, ahead = ({"at": [f"{x} m", "0 m", "0.43 m"]} for x in (-3.6, 6.0))
    with pytest.raises(
        ModelError,
        match=r"trailers.b.hitch.at = .* must lie behind the hitch of trailers.a, at x = 0 m",
    ):
        plain.changed(
            trailers={
                "a": {"shipped": "caravan", "hitch": hitch},
                "b": {"shipped": "caravan", "hitch": ahead},
            }
        )
    with pytest.raises(ModelError, match="needs a car with a trailer"):
        bc.vehicles.manoeuvres.run(plain, "iso9815")


def test_damping_of_a_decaying_oscillation():
    """The rule of ISO 9815 on an oscillation whose damping is known."""
    for ratio in (0.05, 0.2, -0.02):
        t = np.arange(0.0, 8.0, 0.01)
        w = 2 * math.pi * 0.7
        y = np.exp(-ratio / math.sqrt(1 - ratio**2) * w * t) * np.cos(w * t) + 0.01
        found, frequency = decay_damping(t, y)
        assert found == pytest.approx(ratio, abs=0.004) and frequency == pytest.approx(
            0.7, rel=0.02
        )


# ---- of the compiled model


# whose cornering stiffness does not depend on the load, nor on the longitudinal slip of driven
# wheels
FIALA = {
    "size": None, "model": "fiala", "units": ["N", "N/rad", "m", "N/mm", "N-s/m"], "c_slip": 90e3, "c_alpha": 58e3,
    "umax": 0.95, "umin": 0.8, "width": 0.205, "radius": 0.3135, "vertical_stiffness": 200, "vertical_damping": 400,
    "rolling_resistance": 0.012,
}  # fmt: skip
# parameters that leave the car as formulas in the plane have it: no compliance, no roll, no air
IN_THE_PLANE = {
    **{f"{key}_{axle}": 0.0 for axle in ("front", "rear") for key in ("toe", "camber")},
    "steer_by_lateral_force_front": 0.0, "steer_by_aligning_moment_front": 0.0, "toe_by_longitudinal_force_front": 0.0,
    "steer_by_lateral_force_rear": 0.0, "toe_by_longitudinal_force_rear": 0.0, "k_steer": 1e6, "cg_z": 0.0,
    "cg_z_caravan": -0.41, "c_drag": 0.0, "drag_caravan": 0.0, "c_lift_front": 0.0, "c_lift_rear": 0.0, "c_side": 0.0, "c_yaw": 0.0, "k_bar_front": 1e6, "k_bar_rear": 1e6,
    "k_caravan_axle": 5e5,
}  # fmt: skip
LOW = {"car": IN_THE_PLANE["cg_z"], "caravan": IN_THE_PLANE["cg_z_caravan"]}


@pytest.fixture(scope="module")
def towing(car):
    """The car with tyres that are linear for small slips of any kind."""
    return car.changed(front={"tyre": FIALA}, rear={"tyre": FIALA})


@pytest.fixture(scope="module")
def plane(towing):
    """The same compiled model with other parameters."""
    known = {p.name for p in compile_car(towing).sim.interface.parameters}
    assert IN_THE_PLANE.keys() <= known
    return LinearCar(compile_car(towing.with_parameters(IN_THE_PLANE)))


@pytest.mark.campaign
@pytest.mark.parametrize("speed", [60.0, 80.0, 100.0])
def test_sway_is_damped_as_by_hand(plane, towing, speed):
    mode = sway_mode(plane, speed / 3.6, ["caravan"])
    damping, frequency = hand.by_hand(plane, towing, speed / 3.6, LOW).sway(speed / 3.6)
    assert mode.damping == pytest.approx(damping, rel=0.01)
    assert mode.frequency == pytest.approx(frequency, rel=0.01)


@pytest.mark.campaign
def test_critical_speed_is_that_by_hand(plane, towing):
    expected = 3.6 * hand.by_hand(plane, towing, 100 / 3.6, LOW).critical_speed()
    assert critical_speed(plane.car, ["caravan"]) == pytest.approx(expected, rel=0.01)


@pytest.mark.campaign
def test_rearward_amplification_of_the_linear_model(plane, towing):
    f, v = np.array([0.2, 0.4, 0.7]), 80 / 3.6
    found = plane.responses(v, ("ay", "caravan.ay"), f)
    ratio = np.abs(found["caravan.ay"] / found["ay"])
    expected = hand.by_hand(plane, towing, v, LOW)
    assert ratio == pytest.approx([expected.amplification(v, x) for x in f], rel=0.02)


@pytest.mark.campaign
def test_a_sway_test_runs(towing):
    """Damping of a run agrees with the linear model, and falls with the speed."""
    result = bc.vehicles.manoeuvres.run(towing, "iso9815", speeds=[80.0, 100.0], ay=0.5)
    assert result["damping_100"] < result["damping_80"]
    for speed in (80, 100):
        assert result[f"damping_{speed}"] == pytest.approx(
            result[f"damping_linear_{speed}"], abs=0.02
        )
    assert result["critical_speed"] > 100 and result.passed


@pytest.mark.campaign
def test_sway_that_decays_within_a_wave_is_noted():
    result = bc.vehicles.manoeuvres.run("semi_trailer", "iso9815", speeds=[60.0], ay=0.5)
    assert math.isnan(result["damping_60"]) and result["damping_linear_60"] > 0.5 and result.passed
    assert any(note.startswith("no damping of the run at 60 km/h") for note in result.notes)
    assert "no critical speed was found from 40 to 300 km/h" in result.notes


@pytest.mark.campaign
def test_off_tracking_is_that_of_the_tractrix(towing):
    """Steady circle: each axle without slip goes round the centre at right angles to its unit."""
    result = bc.vehicles.manoeuvres.run(towing, "off-tracking", radius=15.0, speed=3.0)
    base = towing.metrics["wheelbase"]
    rear = math.sqrt(result["radius_front"] ** 2 - base**2)
    assert result["radius_rear"] == pytest.approx(rear, abs=0.02)
    trailer = towing.data.trailers[0]
    e = float(towing.stand.contact[2][0]) - trailer.hitch[0]
    towed = math.sqrt(rear**2 + e**2 - trailer.axles[0].record.at[0] ** 2)
    assert result["radius_caravan_axle"] == pytest.approx(towed, abs=0.03)
    assert result["off_tracking"] == pytest.approx(result["radius_front"] - towed, rel=0.05)
    (drawn,) = result.curves()
    lines = {name: x + 1j * y for name, x, y in drawn.lines}
    ends = {name: line[0] for name, line in lines.items() if name.startswith("axle ")}
    centre = fsolve(
        lambda p: [
            abs(ends[f"axle {a}"] - complex(*p)) - result[f"radius_{a}"] for a in ("front", "rear")
        ],
        [0.0, 15.0],
    )
    for name in ends:
        assert np.abs(lines[name] - complex(*centre)) == pytest.approx(
            result[f"radius_{name[5:]}"], abs=0.01
        )
    heading = {
        name: np.angle(line[0] - line[3]) for name, line in lines.items() if name not in ends
    }
    turned = math.degrees(heading["car"] - heading["caravan"])
    assert turned == pytest.approx(result["articulation_caravan"], abs=2e-3)  # the car is pitched
    left, right = (
        (lines["caravan"][i] - ends["axle caravan_axle"]) * np.exp(-1j * heading["caravan"])
        for i in (0, 1)
    )
    assert left.imag == pytest.approx(
        -right.imag, abs=1e-6
    )  # the axle is in the middle of its unit


@pytest.mark.campaign
def test_off_tracking_of_a_semi_trailer():
    """A group of axles follows as one axle would that is further behind by the mean square of their
    distances from the middle over its distance from the hitch: their tyres slip without moment
    about the hitch."""
    semi = bc.vehicles.Car.read("semi_trailer")
    result = bc.vehicles.manoeuvres.run(semi, "off-tracking", radius=15.0)
    trailer = semi.data.trailers[0]
    x = np.array([axle.record.at[0] for axle in trailer.axles])
    middle, e = -x.mean(), float(semi.stand.contact_points[2][0]) - trailer.hitch_point[0]
    behind = middle + x.var() / middle
    towed = math.sqrt(result["radius_rear"] ** 2 + e**2 - behind**2)
    second = math.hypot(towed, behind - middle)
    assert result["radius_semi_second"] == pytest.approx(second, abs=0.02)


@pytest.mark.campaign
def test_hitch_forces_are_those_of_the_change_of_momentum(towing):
    """Braking in a turn: what the hitch, the tyres and the weight do to the trailer is the change
    of its momentum, found by differences of velocities."""
    compiled, trailer = compile_car(towing), towing.data.trailers[0]
    start = compiled.steady_turn_state(20.0, 0.008)
    run = compiled.sim.simulate(
        t_end=1.0,
        step=0.001,
        output_every=1,
        initial=start,
        method="rk4",
        inputs={"speed_set": 20.0, "brake": 1500.0},
        parameters={"k_speed": 0.0},
    )
    names = [state.name for state in compiled.sim.interface.states]
    yaw = np.radians(run["caravan.yaw"])
    # positions of masses in the plane: body from its axle's middle and heading, wheels beside it
    x, y = run["caravan.axle_x"], run["caravan.axle_y"]
    ahead = trailer.sprung.cg[0] - trailer.axles[0].record.at[0]
    m, own = trailer.sprung.mass, trailer.axles[0].mass
    pitch, roll = np.radians(run["caravan.pitch"]), np.radians(run["caravan.roll"])
    high = trailer.sprung.cg[2] - trailer.axles[0].record.at[2]
    cgx = ahead * np.cos(pitch) + high * np.cos(roll) * np.sin(pitch)
    cgy = -high * np.sin(roll)
    px = (m + own) * x + m * (cgx * np.cos(yaw) - cgy * np.sin(yaw))
    py = (m + own) * y + m * (cgx * np.sin(yaw) + cgy * np.cos(yaw))
    inner = slice(100, -100)
    wanted = [np.gradient(np.gradient(p, run.time), run.time)[inner] for p in (px, py)]
    car_yaw = np.radians(run["yaw"])
    given = np.zeros((2, len(run.time)))
    for side in "lr":
        wheel = f"caravan.axle_{side}.tyre"
        fx, fy = run[f"{wheel}.fx"], run[f"{wheel}.fy"]
        given += [fx * np.cos(yaw) - fy * np.sin(yaw), fx * np.sin(yaw) + fy * np.cos(yaw)]
    fx, fy, fz = (run[f"caravan.hitch_f{k}"] for k in "xyz")
    tilt = np.radians(run["pitch"])
    level = fx * np.cos(tilt) + fz * np.sin(tilt)
    given += [
        level * np.cos(car_yaw) - fy * np.sin(car_yaw),
        level * np.sin(car_yaw) + fy * np.cos(car_yaw),
    ]
    drag = 0.5 * 1.206 * trailer.record.drag_area * run["caravan.speed"] ** 2
    given -= [drag * np.cos(yaw), drag * np.sin(yaw)]
    assert "q(caravan, 1)" in names
    for found, exact in zip(given, wanted, strict=True):
        assert np.abs(found[inner] - exact).max() < 0.01 * np.abs(exact).max()
    loads = sum(run[f"caravan.axle_{side}.tyre_load"] for side in "lr")
    assert (loads + fz)[-100:].mean() == pytest.approx(trailer.mass * GRAVITY, rel=0.01)


SEMI = (
    "semi",
    *(
        f"semi.{axle}{part}"
        for axle in ("first", "second", "third")
        for part in ("", "_l.wheel", "_r.wheel")
    ),
)


def add_momentum(system, car):
    """Position of the mass centre of the semi-trailer with its axles, along x, y and z of the
    ground."""
    trailer = car.data.trailers[0]
    masses = {"semi": trailer.sprung.mass}
    for axle in trailer.axles:
        masses[axle.full_name] = axle.record.mass
        masses |= {f"{axle.wheel(side)}.wheel": axle.record.wheel.mass for side in "lr"}
    assert masses.keys() == set(SEMI)
    for i, letter in enumerate("xyz", 1):
        sums = " + ".join(f"{m!r}*dot(pos({part}.cm), [n{i}])" for part, m in masses.items())
        system.add_output(
            f"centre_{letter}", f"({sums})/{sum(masses.values())!r}", units="L", label=letter
        )


@pytest.mark.campaign
def test_forces_and_friction_of_a_fifth_wheel():
    """Braking in a turn: forces of the fifth wheel and of the tyres, weight and drag are the change
    of the momentum of the semi-trailer, all three components, by differences of positions. Its dry
    plate resists with its full torque while the articulation angle grows, and the other way while
    it shrinks."""
    plain = bc.vehicles.Car.read("semi_trailer")
    car = plain.changed(trailers={"semi": {"hitch": {"yaw_friction": "2 kN-m"}}}).extended(
        add_momentum
    )
    sim = car.system(speed=12).equations().compile()
    inputs = {
        "steer": bc.signals.sampled([0, 1, 5, 6, 9], [0, 60, 60, 0, 0]),
        "brake": bc.signals.sampled([0, 2, 2.5, 3.5, 4, 9], [0, 0, 25e3, 25e3, 0, 0]),
    }
    run = sim.simulate(t_end=7.0, step=0.001, output_every=2, method="rk4", inputs=inputs)
    trailer = car.data.trailers[0]
    yaw, towing, tilt, roll = (np.radians(run[n]) for n in ("semi.yaw", "yaw", "pitch", "roll"))
    drag = 0.5 * 1.206 * trailer.record.drag_area * run["semi.speed"] ** 2
    given = np.array([-drag * np.cos(yaw), -drag * np.sin(yaw), -trailer.mass * GRAVITY + 0 * yaw])
    for wheel in (axle.wheel_name(side) for axle in trailer.axles for side in "lr"):
        fx, fy = run[f"{wheel}.tyre.fx"], run[f"{wheel}.tyre.fy"]
        given += [
            fx * np.cos(yaw) - fy * np.sin(yaw),
            fx * np.sin(yaw) + fy * np.cos(yaw),
            run[f"{wheel}.tyre_load"],
        ]
    fx, fy, fz = (
        run[f"semi.hitch_f{k}"] for k in "xyz"
    )  # in axes of the tractor: first roll, then pitch, then yaw
    across, up = fy * np.cos(roll) - fz * np.sin(roll), fy * np.sin(roll) + fz * np.cos(roll)
    along, up = fx * np.cos(tilt) + up * np.sin(tilt), up * np.cos(tilt) - fx * np.sin(tilt)
    given += [
        along * np.cos(towing) - across * np.sin(towing),
        along * np.sin(towing) + across * np.cos(towing),
        up,
    ]
    inner = slice(100, -100)
    for letter, found in zip("xyz", given, strict=True):
        p = run[f"centre_{letter}"]
        exact = trailer.mass * np.gradient(np.gradient(p, run.time), run.time)
        scale = trailer.mass * GRAVITY if letter == "z" else np.abs(exact[inner]).max()
        assert np.abs(found - exact)[inner].max() < 5e-4 * scale, letter
    assert np.abs(fy).max() > 20e3 and fx.min() < -20e3 and 80e3 < fz.mean() < 100e3

    rate, torque = run["semi.articulation_rate"], run["semi.hitch_mz"]
    for sign in (-1.0, 1.0):
        slips = (
            sign * rate > 0.5
        )  # deg/s, for half a second: far more than the 0.3 deg of its elasticity
        slips[250:] &= np.lib.stride_tricks.sliding_window_view(slips, 251).all(axis=1)
        assert slips[250:].any() and torque[250:][slips[250:]] == pytest.approx(
            -sign * 2000.0, rel=1e-3
        )
    assert np.abs(torque).max() <= 2000.0


@pytest.mark.campaign
def test_friction_of_a_hitch_leaves_steady_motions_as_they_are():
    """Friction opposes rotation, and in steady motion the articulation angle is constant. Gradients
    and steady circles are those without friction; the tractrix of a caravan is, too. In motion the
    stabiliser resists with its torque."""
    plain = bc.vehicles.Car.read("caravan")
    rubs = plain.changed(trailers={"caravan": {"hitch": {"yaw_friction": "200 N-m"}}})
    assert dict(bc.vehicles.manoeuvres.handling(rubs)) == pytest.approx(
        dict(bc.vehicles.manoeuvres.handling(plain)), rel=1e-4
    )
    circle = bc.vehicles.manoeuvres.run(rubs, "off-tracking")
    hitch = math.hypot(circle["radius_rear"], 3.6 - plain.metrics["wheelbase"])
    assert circle["radius_caravan_axle"] == pytest.approx(math.sqrt(hitch**2 - 4.3**2), abs=0.01)
    step = bc.vehicles.manoeuvres.run(rubs, "iso7401-step").run
    assert abs(step["caravan.hitch_mz"][0]) < 1e-6
    assert step["caravan.hitch_mz"].min() == pytest.approx(
        -200, rel=1e-3
    )  # while the articulation angle grows


@pytest.mark.campaign
def test_steady_turns_of_a_trailer_whose_brakes_lag():
    """Rounding of the lagging brake torque must not press pads on while a steady turn is solved
    for. The circle then stays as it is, at 3 m/s2, where the linear car is far from the truth."""
    compiled = compile_car(bc.vehicles.Car.read("semi_trailer"))
    speed, curvature = math.sqrt(300.0), 0.01
    start = compiled.steady_turn_state(speed, curvature)
    run = compiled.simulate(
        2.0, start, {"speed_set": speed, "curve_set": curvature}, {"k_turn": 3.0}
    )
    assert np.radians(run["yaw_rate"]) == pytest.approx(speed * curvature, rel=1e-4)
    assert run["semi.articulation"] == pytest.approx(run["semi.articulation"][0], rel=1e-3)
    assert compiled.steady_turn_limit(100 / 3.6).ay > 2.5


@pytest.mark.campaign
def test_equilibrium_and_modes_of_a_car_with_a_trailer(towing):
    """The analyses of any model: a steady motion by targets, and the modes there."""
    sim = towing.system(speed=80 / 3.6).equations().compile()
    straight = sim.equilibrium(free=["drive", "steer"], targets={"yaw_rate": 0, "speed": 80 / 3.6})
    modes = sim.linearize(at=straight).essential().modes
    sways = min((m for m in modes if 0.2 < m.frequency < 2), key=lambda m: m.damping)
    mode = sway_mode(LinearCar(compile_car(towing)), 80 / 3.6, ["caravan"])
    assert sways.damping == pytest.approx(mode.damping, rel=0.02)


@pytest.mark.campaign
def test_a_caravan_overturns_on_a_tilt_table_as_by_hand(towing):
    """Quasi-static threshold with the compliance of springs and tyres, of a high caravan behind a
    low car."""
    high = towing.changed(
        body={"cg": [-1.2, 0, 0.35]}, trailers={"caravan": {"cg": [-4.1, 0, 0.9]}}
    )
    result = bc.vehicles.manoeuvres.run(high, "tilt-table", begin=30.0, rate=0.25)
    by_hand = math.tan(hand.lift_angle(high))
    assert math.tan(math.radians(result["lift_caravan_axle"])) == pytest.approx(by_hand, rel=0.01)
    assert result["rollover_threshold"] == pytest.approx(by_hand, rel=0.01)
    assert (
        math.isnan(result["lift_front"])
        and "until then no wheel lifts for good of front, rear" in result.notes
    )
    trailer, at = high.data.trailers[0], high.stand.trailers[0]
    assert by_hand < trailer.axles[0].record.at[1] / (
        at.hitch_height + trailer.sprung.cg[2]
    )  # of a rigid caravan


@pytest.mark.campaign
def test_a_load_to_the_left_overturns_a_van_earlier_to_the_left():
    """The mirror image overturns at the same angle to the other side. A rigid van tilts at (half
    track -+ y)/height; springs and tyres lower both thresholds. Without the setting a note names
    the weaker side."""
    van = bc.vehicles.Car.read("van").changed(loads={"driver": {"mass": "0 kg"}})
    found = {}
    for y in (0.4, -0.4):
        off = van.changed(loads={"cargo": {"mass": "800 kg", "at": ["-3.0 m", f"{y} m", "1.2 m"]}})
        for side in ("left", "right") if y > 0 else ("right",):
            result = bc.vehicles.manoeuvres.run(off, "tilt-table", begin=15.0, rate=0.5, side=side)
            found[y, side] = result["rollover_threshold"]
            assert any("earlier with side=left" in note for note in result.notes) == (
                (y, side) == (0.4, "right")
            )
    assert found[0.4, "left"] == pytest.approx(found[-0.4, "right"], rel=1e-3)
    f = off.metrics
    half, aside = (f["track_front"] + f["track_rear"]) / 4, 0.4 * 800 / f["mass"]
    assert (
        0.75 * (half - aside) / f["cg_height"]
        < found[0.4, "left"]
        < (half - aside) / f["cg_height"]
    )
    assert found[0.4, "right"] - found[0.4, "left"] == pytest.approx(
        2 * aside / f["cg_height"], rel=0.15
    )
    with pytest.raises(
        ModelError, match=r"side='lefft' must be right or left\. Did you mean 'left'"
    ):
        bc.vehicles.manoeuvres.run(off, "tilt-table", side="lefft")


OVERRUN = {"gain": 2.4, "threshold": 300.0, "lag": 0.15}  # m, N, s


@pytest.fixture(scope="module")
def overrun(towing):
    given = {"units": ["m", "N", "s"], **OVERRUN}
    return towing.changed(
        trailers={"caravan": {"brakes": {"gain": None, "lag": None, "overrun": given}}}
    )


@pytest.fixture(scope="module")
def on_overrun(overrun):
    return overrun.system(speed=25.0).equations().compile()


STILL_AIR = {"c_drag": 0.0, "drag_caravan": 0.0, "c_lift_front": 0.0, "c_lift_rear": 0.0}


@pytest.mark.campaign
def test_overrun_brakes_in_steady_braking(overrun, on_overrun):
    """Deceleration and hitch force of a car that brakes steadily, from Newton's law of car and
    trailer: each wheel makes the force (T + M_y - I a/R)/R', the trailer brakes with gain times the
    push above the threshold."""
    torque = 2500.0
    run = on_overrun.simulate(t_end=2.5, inputs={"brake": torque}, parameters=STILL_AIR)
    at, trailer = overrun.stand, overrun.data.trailers[0]
    (axle,) = trailer.axles
    sums = np.zeros((2, 3))  # car and trailer: sums of 1/R', of M_y/R' and of I/R/R'
    for i, (wheel, (which, _)) in enumerate(CORNERS.items()):
        model, record = overrun.data.axle(which).tyre, overrun.data.axle(which).record
        load = float(run[f"{wheel}.tyre_load"][-1])
        share = (
            overrun.data.sections.brakes.front_share
            if i < 2
            else 1 - overrun.data.sections.brakes.front_share
        )
        sums[0] += hand.braked(model, load, record.wheel.spin_inertia) * [share / 2, 1, 1]
    for wheel in at.trailers[0].load:
        load = float(run[f"{wheel}.tyre_load"][-1])
        sums[1] += hand.braked(axle.tyre, load, axle.record.wheel.spin_inertia) * [0.5, 1, 1]
    pitch, lift = (float(run[name][-1]) for name in ("caravan.pitch", "caravan.hitch_fz"))
    along = lift * math.sin(
        math.radians(pitch)
    )  # what the load of the hitch adds to the push along the trailer
    gain, least = OVERRUN["gain"], OVERRUN["threshold"]
    # unknown: deceleration, push
    equations = [[at.mass + sums[0, 2], 1.0], [trailer.mass + sums[1, 2], -1.0 - gain * sums[1, 0]]]
    known = [torque * sums[0, 0] + sums[0, 1], sums[1, 1] + gain * (along - least) * sums[1, 0]]
    slows, push = np.linalg.solve(equations, known)
    assert -run["ax"][-1] == pytest.approx(slows, rel=5e-3)
    tilt = math.radians(run["pitch"][-1])
    level = run["caravan.hitch_fx"][-1] * math.cos(tilt) + lift * math.sin(tilt)
    assert -level == pytest.approx(push, rel=5e-3)
    assert run["caravan.thrust"][-1] == pytest.approx(push + along, rel=5e-3)
    held = sum(run[f"caravan.axle_{side}.held"][-1] for side in "lr")
    assert held == pytest.approx(gain * (run["caravan.thrust"][-1] - least), rel=2e-3)


@pytest.mark.campaign
def test_overrun_brakes_lag_behind_the_force_of_the_hitch(on_overrun):
    """The channel `thrust` is the force of the hitch along the trailer behind a lag, also in a
    turn."""
    inputs = {"brake": bc.signals.step(at=0.2, height=2000.0), "steer": 20.0}
    run = on_overrun.simulate(t_end=1.2, step=0.001, output_every=1, inputs=inputs)
    relative = np.radians(run["caravan.articulation"])
    pitch = np.radians(run["caravan.pitch"] - run["pitch"])
    fx, fy, fz = (run[f"caravan.hitch_f{k}"] for k in "xyz")
    force = fx * np.cos(relative) + fy * np.sin(relative) - fz * np.sin(pitch)
    expected = np.zeros(len(force))
    for i in range(1, len(force)):  # trapezoidal rule of push' = (-force - push)/lag
        h = 0.5 * 0.001 / OVERRUN["lag"]
        expected[i] = (expected[i - 1] * (1 - h) - h * (force[i - 1] + force[i])) / (1 + h)
    settled = run.time > 1.0  # the beginning is forgotten
    found, scale = run["caravan.thrust"], np.abs(run["caravan.thrust"]).max()
    assert scale > 500 and np.abs(found - expected)[settled].max() < 0.01 * scale


@pytest.mark.campaign
def test_overrun_brakes_are_released_backwards(overrun):
    """The car pushes the trailer back: its brakes stay open, and a driver who brakes then stops
    with those of the car."""
    sim = overrun.system(speed=-2.0).equations().compile()
    run = sim.simulate(t_end=1.0, inputs={"drive": -1500.0})
    assert run["caravan.thrust"][-1] > OVERRUN["threshold"] + 200 and run["speed"][-1] < -2.5
    assert np.abs(run["caravan.axle_l.held"]).max() < 1e-6


@pytest.mark.campaign
def test_manoeuvres_with_overrun_brakes(overrun):
    """Braking from 100 km/h, and the steady motion before it: nothing is braked, and the lagging
    force is that of the hitch."""
    plain = bc.vehicles.manoeuvres.run(
        overrun.changed(trailers={"caravan": {"brakes": None}}), "braking"
    )
    result = bc.vehicles.manoeuvres.run(overrun, "braking")
    assert result["distance"] < 0.97 * plain["distance"]
    run = next(iter(result.runs.values()))
    assert (
        run["caravan.thrust"][0] == pytest.approx(-run["caravan.hitch_fx"][0], abs=30)
        and run["caravan.thrust"][0] < 0
    )
