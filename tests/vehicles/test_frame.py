"""Cars with a frame that twists: both parts next to the whole, statics and steady turns next to
sums by hand."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.vehicles.cars.building.frame_building import CENTRE, chassis_parts
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.cars.statics.static_equilibrium import corner_at_rest
from bellcrank.vehicles.manoeuvres.compiled_car import compile_car
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS
from bellcrank.vehicles.vehicle_loading import is_motorcycle
from tests.vehicles import car_by_hand as hand

STIFF = "3000 N-m/deg"
FRONT = {
    "mass": "700 kg",
    "cg": ["-0.4 m", "0 m", "0.5 m"],
    "inertia": ["200 kg-m2", "400 kg-m2", "500 kg-m2"],
}


def on_frame(car, **frame):
    """The car, or the one with a name, on a frame."""
    car = bc.vehicles.Car.read(car) if isinstance(car, str) else car
    return car.changed(frame={"torsion_stiffness": STIFF, **frame})


@pytest.mark.parametrize(
    ("name", "frame"), [("truck", {}), ("passenger", {"front": FRONT}), ("hmmwv", {})]
)
def test_both_parts_are_the_sprung_mass(name, frame):
    """Mass, mass centre and inertia about it, of parts that are physical: no second moment is
    negative."""
    car = on_frame(name, **frame)
    parts, whole = (car.data.frame.front, car.data.frame.rear), car.data.sprung
    mass = sum(p.mass for p in parts)
    centre = sum(p.mass * p.cg for p in parts) / mass
    inertia = np.zeros((3, 3))
    for p in parts:
        x, y, z = p.cg - centre
        across = [
            [y * y + z * z, -x * y, -x * z],
            [-x * y, x * x + z * z, -y * z],
            [-x * z, -y * z, x * x + y * y],
        ]
        inertia += p.inertia + p.mass * np.array(across)
        assert 2 * np.linalg.eigvalsh(p.inertia)[-1] < np.trace(p.inertia) * (1 + 1e-9)
    assert mass == pytest.approx(whole.mass, rel=1e-14)
    assert centre == pytest.approx(whole.cg, rel=1e-12, abs=1e-15)
    assert inertia == pytest.approx(whole.inertia, rel=1e-12, abs=1e-10)


def test_the_default_split_is_that_of_a_uniform_beam():
    """A beam with its mass centre at mid-wheelbase: halves with a quarter of its length along, 1/8
    of m l2/12 each."""
    m, long, base = 1200.0, 3.6, 2.7
    thin = 10.0  # kg m2 across, to be halved
    inertia = [f"{2 * thin} kg-m2", *[f"{m * long**2 / 12 + thin} kg-m2"] * 2]
    body = {
        "mass": f"{m} kg",
        "cg": [f"{-base / 2} m", "0 m", "0.5 m"],
        "inertia": inertia,
        "inertia_xz": "0 kg-m2",
    }
    found = on_frame(bc.vehicles.Car.read("passenger").changed(body=body, loads=None)).data.frame
    for part, sign in ((found.front, 1), (found.rear, -1)):
        assert part.mass == pytest.approx(m / 2)
        assert part.cg == pytest.approx([-base / 2 + sign * long / 4, 0, 0.5])
        assert np.diag(part.inertia) == pytest.approx(
            [thin, *[m / 2 * (long / 2) ** 2 / 12 + thin / 2] * 2]
        )


def test_loads_lie_on_the_part_below_them():
    load = {"mass": "80 kg", "at": ["-2.5 m", "0.3 m", "0.6 m"]}
    bare, car = (
        on_frame("passenger"),
        on_frame(bc.vehicles.Car.read("passenger").changed(loads={"boot": load})),
    )
    assert car.data.frame.rear.mass == pytest.approx(bare.data.frame.rear.mass + 80)
    assert car.data.frame.front.mass == bare.data.frame.front.mass
    ahead = on_frame(car, at=["-2.6 m", "0 m", "0.4 m"])
    assert ahead.data.frame.front.mass == pytest.approx(bare.data.frame.front.mass + 80)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"torsion_stiffness": 8000}, "its unit is not stated"),
        ({"torsion_stiffness": "-8000 N-m/deg"}, "must be positive"),
        ({"torsion_stiffness": "8000 N/mm"}, "must be in a unit such as N-m/rad"),
        ({"stiffness": STIFF}, "Did you mean 'torsion_stiffness'"),
        (
            {"at": ["0.4 m", "0 m", "0.4 m"]},
            r"joint lies at x = 0.4 m, .* between the rear axle at -2.7 m",
        ),
        ({"at": ["-1 m", "0.1 m", "0.4 m"]}, "y = 0.1 m must be 0"),
        (
            {"torsion_damping": "9 N-m-s/deg", "damping_ratio": 0.02},
            "give either torsion_damping or damping_ratio",
        ),
        ({"front": {**FRONT, "mass": "1700 kg"}}, r"must be less than body.mass = 1220 kg"),
        ({"front": {**FRONT, "cg": ["0.6 m", "0 m", "0.5 m"]}}, r"not physical: 520 kg at \(-3.6"),
        (
            {"front": {**FRONT, "inertia": ["900 kg-m2", *["300 kg-m2"] * 2]}},
            "frame.front.inertia is not physical",
        ),
    ],
)
def test_what_cannot_be_is_rejected(frame, message):
    with pytest.raises(bc.ModelError, match=message):
        on_frame("passenger", **frame)


def test_units_that_do_not_fit_a_frame_are_rejected():
    inertia = ["2000 kg-m2", "900 kg-m2", "1000 kg-m2"]
    with pytest.raises(bc.ModelError, match="inertia of the body is not physical"):
        on_frame(bc.vehicles.Car.read("passenger").changed(body={"inertia": inertia}))
    with pytest.raises(
        bc.ModelError,
        match=r"hitch.at: x = -3.1 m must lie behind the joint of the frame at -3.3 m",
    ):
        on_frame("semi_trailer", at=["-3.3 m", "0 m", "0.9 m"])
    at = ["-1 m", "0.92 m", "0.515 m"]
    with pytest.raises(
        bc.ModelError, match=r"axles.second.equalisation: the axle lies on the front part"
    ):
        on_frame(
            bc.vehicles.Car.read("truck").changed(axles={"second": {"at": at, "equalisation": 0.5}})
        )


def test_a_file_with_a_frame_is_that_of_a_car(tmp_path):
    """Motorcycle files have a section [frame], too."""
    section = f'[frame]\ntorsion_stiffness = "{STIFF}"\n'
    (tmp_path / "whole.toml").write_text(bc.vehicles.template("passenger") + section)
    (tmp_path / "changed.toml").write_text('car = "passenger"\n' + section)
    for name in ("whole", "changed"):
        car = bc.load(tmp_path / f"{name}.toml")
        assert isinstance(car, bc.vehicles.Car)
        assert car.data.frame.stiffness == pytest.approx(3000 * 180 / math.pi)
        assert not is_motorcycle(tmp_path / f"{name}.toml")


def rear_torque(car):
    """Moment of the rear wheels, the weights of the rear part and all that it carries about the
    axis of torsion."""
    frame, part, found = car.data.frame, car.stand.body_attitude("rear"), 0.0
    for side in (1, -1):
        c = corner_at_rest(car.data.rear, car.stand, side)
        forces = [(c.contact, c.load), *((m.at, -m.mass * GRAVITY) for m in c.masses)]
        found += float(c.moment[0]) + sum(
            f * np.cross(at - frame.joint, part.up)[0] for at, f in forces
        )
    return found - frame.rear.mass * GRAVITY * float(
        np.cross(frame.rear.cg - frame.joint, part.up)[0]
    )


def test_cross_weight_twists_the_frame():
    car = on_frame("formula_student", torsion_stiffness="1200 N-m/deg").setup(cross_weight=0.53)
    found, k = car.stand, 1200 * 180 / math.pi
    assert (found.wheel_load[1] + found.wheel_load[2]) / sum(found.wheel_load) == pytest.approx(
        0.53, abs=1e-6
    )
    assert rear_torque(car) == pytest.approx(k * found.twist, rel=1e-6)
    track = found.contact_points[2][1] - found.contact_points[3][1]
    assert k * found.twist == pytest.approx(
        (found.wheel_load[2] - found.wheel_load[3]) * track / 2, rel=0.02
    )  # of the loads alone
    assert found.rear.roll - found.roll == pytest.approx(found.twist, abs=1e-15)


@pytest.fixture(scope="module")
def loaded():
    """A rigid car with a load on one side of its boot."""
    load = {"mass": "150 kg", "at": ["-2.6 m", "0.6 m", "0.5 m"]}
    return bc.vehicles.Car.read("passenger").changed(loads={"boot": load})


def test_a_load_on_one_side_twists_the_frame_at_rest(loaded):
    car = on_frame(loaded, torsion_stiffness="1000 N-m/deg")
    assert rear_torque(car) == pytest.approx(car.data.frame.stiffness * car.stand.twist, rel=1e-6)
    assert sum(car.stand.wheel_load) == pytest.approx(sum(loaded.stand.wheel_load), rel=1e-9)
    assert (
        car.stand.wheel_load[2] - loaded.stand.wheel_load[2] > 50
    )  # N: more of its moment remains at the rear axle


@pytest.mark.campaign
def test_a_stiff_frame_stands_as_a_rigid_one(loaded):
    """With k and the axles in series, k0, the error is in proportion to 1/(k + k0)."""
    errors = []
    for k in (1e4, 1e5, 1e9):
        car = on_frame(loaded, torsion_stiffness=f"{k} N-m/deg")
        assert rear_torque(car) == pytest.approx(
            car.data.frame.stiffness * car.stand.twist, rel=1e-4
        )
        errors.append(np.subtract(car.stand.load, loaded.stand.load))
    assert np.abs(errors[0]).min() > 3  # N
    assert errors[1] == pytest.approx(errors[0] / 10, rel=0.05)
    assert errors[2] == pytest.approx(0, abs=1e-3)
    found, rigid = car.stand, loaded.stand
    assert (found.height, found.pitch, found.roll) == pytest.approx(
        (rigid.height, rigid.pitch, rigid.roll), abs=1e-8
    )


def free_frame(car):
    """The body of a car without suspensions, in space."""
    s, sprung = bc.System("free frame"), car.data.sprung
    for name, value, units in zip(
        ("m_body", *CENTRE), (sprung.mass, *sprung.cg), ("M", *"LLL"), strict=True
    ):
        s.add_parameter(name, float(value), units=units)
    body = s.add_body(
        "chassis", translate=(1, 2, 3), rotate=(3, 2, 1), mass=0, inertia=0, cm=CENTRE
    )
    chassis_parts(s, car.data, body)
    return s.equations().compile()


def test_the_free_frame_swings_as_two_flywheels():
    """f = sqrt(k (1/I_f + 1/I_r))/(2 pi), with both inertias about the axis through the mass
    centres."""
    body = {"loads": None, "body": {"inertia_xz": "0 kg-m2"}}
    frame = on_frame(
        bc.vehicles.Car.read("passenger").changed(**body), damping_ratio=0.05
    ).data.frame
    w = math.sqrt(
        frame.stiffness * sum(1 / float(p.inertia[0, 0]) for p in (frame.front, frame.rear))
    )
    assert frame.torsion_frequency == pytest.approx(w / (2 * math.pi), rel=1e-12)
    assert frame.damping == pytest.approx(2 * 0.05 * frame.stiffness / w, rel=1e-12)


def test_the_frame_of_the_model_swings_as_its_formula_says():
    """Parts with mass centres apart from the axis, which moves as the frame twists."""
    car = on_frame("passenger", front=FRONT, at=["-1 m", "0 m", "0.3 m"], damping_ratio=0.05)
    found = max(free_frame(car).modes(), key=lambda m: m.frequency)
    assert found.frequency == pytest.approx(
        car.data.frame.torsion_frequency * math.sqrt(1 - 0.05**2), rel=1e-6
    )
    assert found.damping == pytest.approx(0.05, rel=1e-6)


# ---- whole cars


@pytest.fixture(scope="module")
def rigid():
    """Its anti-roll bars ask much of a frame: three quarters of the load transfer are in front."""
    bars = {"front": {"anti_roll_bar": {"stiffness": "2500 N-m/deg"}}}
    return hand.symmetric(bc.vehicles.Car.read("passenger")).changed(**bars)


def turned(car, ay=1.0, speed=20.0):
    """Channels of a steady turn to the left; the half difference to one to the right."""
    driven, found = compile_car(car), []
    for curvature in (ay / speed**2, -ay / speed**2):
        state = driven.steady_turn_state(speed, curvature)
        x, n = [state[q.name] for q in driven.sim.interface.states], driven.sim.loaded.n_q
        given = {
            "parameters": driven.values,
            "inputs": {"speed_set": speed, "curve_set": curvature},
        }
        found.append(driven.sim.outputs(0.0, x[:n], x[n:], **given))
    return {name: (value - found[1][name]) / 2 for name, value in found[0].items()}


def transfers(seen):
    """Load transfer of both axles, N."""
    return np.array([(seen[f"{a}r.tyre_load"] - seen[f"{a}l.tyre_load"]) / 2 for a in "fr"])


def unsprung(car, name):
    """Mass that moves with both wheels of an axle, kg."""
    return 2 * sum(m.mass for m in corner_at_rest(car.data.axle(name), car.stand, 1).masses)


def radius(car, name):
    """Height of wheel centres above the ground, m."""
    return float(car.data.axle(name).tyre.free_radius(ARRAYS, 0.0))


def by_hand(car, ay):
    """Load transfer (N) and roll angles of both parts (rad): each part on the springs and tyres of
    its axle, the frame between them; the lateral force that a part has in excess of its axle goes
    through the frame at its axis."""
    f, frame, stand = car.metrics, car.data.frame, car.stand
    parts, x = (frame.front, frame.rear), [float(stand.contact[i][0]) for i in (0, 2)]
    mass = sum(p.mass for p in parts)
    front = mass * (sum(p.mass * p.cg[0] for p in parts) / mass - x[1]) / (x[0] - x[1])
    A, b, lifts = (
        np.zeros((4, 4)),
        np.zeros(4),
        [],
    )  # roll of both parts, of both axles on their tyres
    for i, (name, part) in enumerate(zip(("front", "rear"), parts, strict=True)):
        wheel, axis = hand.wheel(car, name, 2 * i), f[f"roll_centre_{name}"]
        k, t = math.degrees(f[f"roll_stiffness_{name}"]), f[f"track_{name}"]
        arm = part.mass * (stand.height + part.cg[2] - axis)
        through = (parts[0].mass - front) * (stand.height + frame.joint[2] - axis)
        arm += -through if i == 0 else through
        carried = (front, mass - front)[i] * axis
        A[i, i], A[i, 1 - i], A[i, 2 + i] = (
            k + frame.stiffness - GRAVITY * arm,
            -frame.stiffness,
            -k,
        )
        A[2 + i, i], A[2 + i, 2 + i] = -k, k + wheel.tyre * t**2 / 2
        b[i], b[2 + i] = arm * ay, (carried + unsprung(car, name) * radius(car, name)) * ay
        lifts.append(wheel.tyre * t / 2)
    found = np.linalg.solve(A, b)
    return found[2:] * lifts, found[:2]


@pytest.mark.campaign
def test_the_frame_distributes_load_transfer(rigid):
    """Springs in series. What hand formulas omit, such as lift of the links and gyroscopic moments,
    is 1.5 % of the distribution of the rigid car; the frame changes it as much as by hand."""
    stiff = transfers(turned(rigid))
    first, _ = by_hand(on_frame(rigid, torsion_stiffness="1e9 N-m/deg"), 1.0)
    assert first[0] / first.sum() == pytest.approx(stiff[0] / stiff.sum(), rel=0.02)
    flexible, errors = on_frame(rigid, torsion_stiffness="300 N-m/deg"), []
    for k in (300, 1000, 3000, 30000, 300000):
        car = flexible.with_parameters({"k_frame": k * 180 / math.pi})
        seen = turned(car)
        found, (loads, angles) = (
            transfers(seen),
            by_hand(on_frame(rigid, torsion_stiffness=f"{k} N-m/deg"), 1.0),
        )
        changed, expected = (
            x[0] / x.sum() / (y[0] / y.sum()) for x, y in ((found, stiff), (loads, first))
        )
        assert changed == pytest.approx(expected, rel=0.007)
        assert loads[0] / loads.sum() == pytest.approx(found[0] / found.sum(), rel=0.022)
        assert seen["frame_twist"] == pytest.approx(math.degrees(angles[1] - angles[0]), rel=0.03)
        assert seen["roll_rear"] - seen["roll"] == pytest.approx(seen["frame_twist"], rel=1e-3)
        assert found.sum() == pytest.approx(stiff.sum(), rel=0.005)
        errors.append(float(np.abs(found - stiff).max()))
    assert errors[0] > 50  # N
    assert errors[4] == pytest.approx(errors[3] / 10, rel=0.05)  # with 1/k


@pytest.mark.campaign
def test_a_wheel_on_a_block_twists_the_frame(rigid):
    """Front springs, frame and rear springs in series: the block turns the ground of the axles
    against each other."""
    car = on_frame(rigid, torsion_stiffness="1500 N-m/deg")
    high, f, k = 0.02, car.metrics, 1500 * 180 / math.pi
    sim = car.system(speed=10.0, posts=True).equations().compile()
    inputs = {
        "fl.post_speed": bc.signals.sampled(
            [0, 0.5, 0.5 + 1e-6, 20], [high / 0.5, high / 0.5, 0, 0]
        )
    }
    run = sim.simulate(t_end=8.0, step=0.001, inputs=inputs)
    assert run["fl.post"][-1] == pytest.approx(high, rel=1e-3)
    yields = 1 / k
    for i, name in enumerate(("front", "rear")):
        springs, tyres = (
            math.degrees(f[f"roll_stiffness_{name}"]),
            hand.wheel(car, name, 2 * i).tyre,
        )
        yields += 1 / springs + 2 / (tyres * f[f"track_{name}"] ** 2)
    moment = high / f["track_front"] / yields
    twist = run["frame_twist"] - run["frame_twist"][0]
    assert -twist[-1] == pytest.approx(math.degrees(moment / k), rel=0.03)
    assert run["frame_torque"][-1] == pytest.approx(moment, rel=0.03)


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["van", "semi_trailer"])
def test_trucks_stand_on_their_frames(name):
    """Solid axles, a trailer on the rear part: models stand as statics say, the rear part turns
    with its load."""
    car = on_frame(name)
    run = car.system(speed=0.0).equations().compile().simulate(t_end=1.0, step=0.001)
    for corner, load in zip(("fl", "fr", "rl", "rr"), car.stand.load, strict=True):
        assert run[f"{corner}.tyre_load"][0] == pytest.approx(load, rel=1e-6)
        assert run[f"{corner}.tyre_load"][-1] == pytest.approx(load, rel=1e-3)
    assert run["frame_twist"][0] == pytest.approx(math.degrees(car.stand.twist), rel=1e-9)
    assert run["frame_twist"] == pytest.approx(run["frame_twist"][0], abs=2e-4)


@pytest.mark.campaign
def test_manoeuvres_say_whose_roll_they_give(rigid):
    result = bc.vehicles.manoeuvres.run(
        on_frame(rigid, torsion_stiffness="1500 N-m/deg"), "iso7401-step"
    )
    assert any("roll is that of the front part" in note for note in result.notes)
    run = next(iter(result.runs.values()))
    assert float(np.abs(run["roll_rear"]).max()) > 1.1 * float(np.abs(run["roll"]).max())
