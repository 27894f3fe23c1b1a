"""Cars on Magic Formula tyres: steady cornering by equations and by a run, braking, split
friction."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.optimize import fsolve

import bellcrank as bc
from tests.vehicles.tyre_tables import BOOK, DATA, columns

ODD = ("PHY1", "PHY2", "PVY1", "PVY2", "RVY1", "RVY2", "PEY3")
G = 9.80665


def test_a_planar_car_has_the_published_understeer_steer_and_side_slip():
    """Four wheels on the book's tyre without its odd shifts; load transfer shared 60 : 40."""
    tyre = bc.vehicles.tyres.MagicFormula.read(BOOK).scaled(**dict.fromkeys(ODD, 0.0))
    car = DATA["two_track"]
    m, a, b, h, track, V = (car[k] for k in ("m", "a", "b", "h", "track", "V"))
    L, share = a + b, car["front_share_of_load_transfer"]
    static = np.array([m * G * b / L, m * G * a / L]) / 2
    C = -2 * tyre.forces(static, 0.0, 0.0, V=V).Kya
    assert [car["C1"], car["C2"]] == pytest.approx(C, rel=1e-2)
    assert m / L * (b / C[0] - a / C[1]) == pytest.approx(car["understeer_gradient"], rel=1e-2)
    found = columns("two_track")
    for ay, delta, beta in zip(
        *(found[name][::2] for name in ("ay", "delta", "beta")), strict=True
    ):
        r, move = ay / V, m * ay * h / track * np.array([share, 1 - share])

        def rest(x, ay=ay, r=r, move=move):
            slip = np.array([np.arctan(x[1] + a * r / V) - x[0], np.arctan(x[1] - b * r / V)])
            loads = np.stack([static - move, static + move])
            Fy = tyre.forces(loads, 0.0, slip, V=V).Fy.sum(axis=0)
            return [(Fy.sum() - m * ay) / m, (a * Fy[0] - b * Fy[1]) / m]

        assert fsolve(rest, [0.0, 0.0], xtol=1e-12) == pytest.approx([delta, beta], rel=1e-2)


def two_track(tyre, car):
    """The same as a model: four wheels that rise, steer and turn on a body in a plane, with the
    loads of the table.

    Both wheels of an axle stand in its middle: the table lets them move alike.
    """
    m, a, b, V = (car[k] for k in ("m", "a", "b", "V"))
    hub, track = 10.0, car["track"]  # of the load transfer
    s = bc.System("two track", axes="ISO 8855")
    rest = m - 4 * hub
    body = s.add_body(
        "car",
        translate=(1, 2),
        rotate=3,
        mass=rest,
        inertia=(1500, 1500, 2000),
        cm=(2 * hub * (b - a) / rest, 0, 0),
    )
    s.add_input("steer", units="A")
    s.define("vx", "dot(vel(car.origin), [car1])")
    s.define("vy", "dot(vel(car.origin), [car2])")
    s.define("ay", f"{V}*u(car, 3)")
    s.add_force("cruise", magnitude=f"2e4*({V} - vx)", direction=body[1], at="car.origin")
    ends = (
        (a, b, car["front_share_of_load_transfer"]),
        (-b, a, 1 - car["front_share_of_load_transfer"]),
    )
    for i, (x, other, share) in enumerate(ends, 1):
        for side, sign in (("l", 1), ("r", -1)):
            name = f"w{i}{side}"
            rise = s.add_body(
                f"{name}h",
                body,
                translate=3,
                joint_at=(x, sign * 1e-3, 0),
                mass=hub,
                inertia=(1, 1, 1),
            )
            turn = rise
            if i == 1:
                turn = s.add_body(f"{name}k", rise, rotate=3, mass=0, inertia=(1, 1, 1))
                holds = f"1e5*(steer - q({name}k)) - 500*u({name}k)"
                s.add_moment(
                    f"{name}.holds", magnitude=holds, direction=turn[3], on=turn, against=rise
                )
            wheel = s.add_body(name, turn, rotate=2, mass=0, inertia=(0.5, 1, 0.5))
            load = f"{m * G * other / (a + b) / 2} - {sign * share * m * car['h'] / track}*ay"
            s.add_force(
                f"{name}.load", magnitude=f"-({load})", direction=rise[3], at=f"{name}h.origin"
            )
            s.add_contact(
                f"{name}t",
                at=wheel,
                terrain=bc.vehicles.terrain.flat(),
                tyre=tyre.on("left"),
                wheel=wheel,
            )
    s.add_output("ay", "ay", units="L/T^2")
    s.add_output("beta", "vy/vx", units="1")
    s.add_output("delta", "(q(w1lk) + q(w1rk))/2", units="A")
    return s


@pytest.mark.campaign
def test_a_model_of_the_planar_car_has_the_published_understeer_steer_and_side_slip():
    none = dict.fromkeys(
        (*ODD, "LHX", "LVX", "LMY", "LMX", "LTR", "LRES", "LKZC", "LS"), 0.0
    )  # side forces alone
    tyre, car, found = (
        bc.vehicles.tyres.MagicFormula.read(BOOK).scaled(VERTICAL_DAMPING=2000, **none),
        DATA["two_track"],
        columns("two_track"),
    )
    sim = two_track(tyre, car).equations().compile()
    start = {"u(car, 1)": car["V"]}
    for i, w in enumerate(("w1l", "w1r", "w2l", "w2r")):
        load = car["m"] * G * (car["b"] if i < 2 else car["a"]) / (car["a"] + car["b"]) / 2
        at = tyre.forces(load, 0, 0, V=car["V"])
        start |= {f"q({w}h)": at.Rl, f"u({w})": car["V"] / at.Re}
    L = car["a"] + car["b"]
    for k, wanted in enumerate((7e-4, *found["delta"][::2])):
        run = sim.simulate(
            t_end=6,
            step=1e-3,
            output_every=6000,
            initial=start,
            inputs={"steer": bc.signals.step(0, wanted)},
        )
        ay, delta, beta = (run[name][-1] for name in ("ay", "delta", "beta"))
        if k == 0:
            assert (delta - L * ay / car["V"] ** 2) / ay == pytest.approx(
                car["understeer_gradient"], rel=1e-2
            )
            continue
        assert ay == pytest.approx(found["ay"][2 * k - 2], rel=2e-2)
        for value, name in ((delta, "delta"), (beta, "beta")):
            assert value == pytest.approx(CubicSpline(found["ay"], found[name])(ay), rel=1e-2)


@pytest.fixture(scope="module")
def car():
    """The car of the library on the book's tyre; from x = 1000 m on the right side of the road is
    slippery."""
    tyre = bc.vehicles.tyres.MagicFormula.read(BOOK)
    ground = bc.vehicles.terrain.flat().with_friction(left=1.0, right=[(0, 1.0), (1000, 0.2)])
    length = (tyre["UNLOADED_RADIUS"], 0.4)
    s = bc.vehicles.car(
        slip=tyre, speed=100 / 3.6, brakes=(0.7, 0.3), length=length, terrain=ground
    )
    return s.equations().compile()


M, RIM, TRACK, X, HEIGHT = 1200.0, 40.0, 1.5, np.array([1.2, -1.4]), 0.415
"""The car of the library: chassis, rim, axles, and how high its mass centre stands on its springs."""
STATIC = np.array([-X[1], X[0]]) / (X[0] - X[1]) * M * G / 2 + RIM * G
V0 = 100 / 3.6


def steady_car(tyre, V, ay, start):
    """Side slip, steering angle and driving moment of the car in a steady turn on four such tyres,
    by equilibrium of forces and moments: roll with its camber, load transfer by turning, by
    overturning moments, wheels as gyroscopes and rolling resistance, aligning moments, slip of
    driven wheels, each wheel at its own place and angle."""
    hub, stiff = tyre["UNLOADED_RADIUS"] - STATIC.mean() / 200e3, TRACK**2 / (1 / 200e3 + 1 / 25e3)
    L, r, high, gyro = X[0] - X[1], ay / V, M * HEIGHT + 4 * RIM * hub, 4 * 1.0 / hub
    whole = M + 4 * RIM

    def forces(beta, delta, drive, load, roll):
        found = {}
        for side, y in (("left", TRACK / 2), ("right", -TRACK / 2)):
            steer = np.array(
                [np.arctan2(np.sin(delta), np.cos(delta) - y / L * np.sin(delta)), 0.0]
            )
            alpha = np.arctan2(V * beta + X * r, V - y * r) - steer
            kappa, lever = np.zeros(2), tyre["UNLOADED_RADIUS"] - load[side] / 200e3
            for _ in range(5):
                f = tyre.on(side).forces(load[side], kappa, alpha, roll, V=V)
                pull = (np.array([drive / 2, 0.0]) + f.My + f.Mz * np.sin(roll)) / lever
                kappa = kappa + (pull - f.Fx) / f.Kxk
            fx, fy = (
                pull * np.cos(steer) - f.Fy * np.sin(steer),
                pull * np.sin(steer) + f.Fy * np.cos(steer),
            )
            found[side] = np.array(
                [fx.sum(), fy.sum(), (X * fy - y * fx + f.Mz).sum(), f.Mx.sum(), f.My.sum()]
            )
        return found["left"] + found["right"]

    def rest(x):
        beta, Mx, My = x[0], 0.0, 0.0
        for _ in range(3):
            roll = ((high + gyro) * ay + Mx) / (stiff - high * G)
            move, back = (
                roll * stiff / (2 * TRACK),
                (My + high * ay * beta) / L / 2 * np.array([1, -1]),
            )
            load = {"left": STATIC + back - move, "right": STATIC + back + move}
            along, across, turning, Mx, My = forces(*x, load, roll)
        return (
            across / whole - ay,
            (turning - 2 * RIM * ay * X.sum()) / whole,
            along / whole + ay * beta,
        )

    found, _, fine, _ = fsolve(rest, start, full_output=True)
    assert fine == 1
    return found


@pytest.mark.campaign
def test_a_car_corners_as_equilibrium_by_hand_says_up_to_the_limit_of_its_tyres(car):
    """Steady turns at 25 m/s; what is left of the steering angle without L/R is a sixth of it at
    first."""
    tyre, V, at, start = (
        bc.vehicles.tyres.MagicFormula.read(BOOK),
        25.0,
        "start",
        (0.0, 0.01, 100.0),
    )
    for ay, understeer, angle in ((1, 0.012, 0.003), (4, 0.012, 0.003), (7, 0.04, 0.02)):
        at = car.equilibrium(targets={"speed": V, "ay": ay}, free=["steer", "drive"], at=at)
        start = steady_car(tyre, V, ay, start)
        steer, wanted = np.radians(at["steer"]), start[1]
        assert steer - 2.6 * ay / V**2 == pytest.approx(wanted - 2.6 * ay / V**2, rel=understeer)
        assert steer == pytest.approx(wanted, rel=angle) and at["drive"] == pytest.approx(
            start[2], rel=0.01
        )
    at = car.equilibrium(
        targets={"speed": V, "ay": 7.6}, free=["steer", "drive"], at=at
    )  # angles grow without end
    least, most = (steady_car(tyre, V, 7.6 * x, start)[1] for x in (0.98, 1.02))
    assert least < np.radians(at["steer"]) < most
    run = car.simulate(
        t_end=3, step=0.001, inputs={"steer": bc.signals.step(0.1, 4.0)}, output_every=100
    )
    assert 7.5 < run["speed"][-1] * np.radians(run["yaw_rate"][-1]) < 8.2  # muy is 0.88 at 4 kN


def braked(tyre, slip, moment=0.0):
    """Deceleration with all wheels at one slip, or by moments of wheels that roll: load transfer by
    hand."""
    found, hub = 5.0, tyre.forces(3300, 0, 0).Rl
    for _ in range(60):
        load = STATIC + np.array([1, -1]) * (M * HEIGHT + 4 * RIM * hub) * found / (X[0] - X[1]) / 2
        f, lever = tyre.forces(load, slip, 0.0, V=12.0), tyre["UNLOADED_RADIUS"] - load / 200e3
        pull = -f.Fx if not moment else (moment * np.array([0.35, 0.15]) - f.My) / lever
        found = 2 * pull.sum() / (M + 4 * RIM + (2 * (1.0 / lever**2).sum() if moment else 0.0))
    return found


@pytest.mark.campaign
def test_locked_wheels_brake_less_than_rolling_ones_and_both_as_by_hand(car):
    tyre = bc.vehicles.tyres.MagicFormula.read(BOOK)
    ways = {}
    for moment, slip in ((3500, -0.3), (9000, -0.9)):
        run = car.simulate(
            t_end=8, step=0.001, inputs={"brake": bc.signals.step(0.5, moment)}, output_every=10
        )
        v, kappa = run["speed"], min(run[f"w{i}{s}.tyre.kappa"].min() for i in (1, 2) for s in "lr")
        stopped = np.argmax(v < 0.05)
        assert (
            stopped > 0 and abs(v[-1]) < 0.02 and (kappa > slip if moment == 3500 else kappa < slip)
        )
        i, j = np.searchsorted(-v[:stopped], [-20, -5])
        wanted = braked(tyre, -0.02, 3500) if moment == 3500 else braked(tyre, -1.0)
        assert (v[i] - v[j]) / (run.time[j] - run.time[i]) == pytest.approx(wanted, rel=0.01)
        ways[moment] = run["q(chassis, 1)"][stopped]
        assert ways[moment] == pytest.approx(V0 * 0.5 + V0**2 / (2 * wanted), rel=0.03)
    assert ways[3500] < ways[9000]


@pytest.mark.campaign
def test_split_friction_turns_a_braked_car_to_the_side_that_holds(car):
    options = dict(t_end=0.5, step=0.001, inputs={"brake": bc.signals.step(0.2, 4000)})
    split = car.simulate(initial={"q(chassis, 1)": 1000.0}, **options)
    even = car.simulate(**options)
    assert abs(even["yaw_rate"]).max() < 1.0
    now, tyre = 400, bc.vehicles.tyres.MagicFormula.read(BOOK)
    forces = {
        w: [split[f"{w}.tyre.{c}"][now] for c in ("fx", "fy", "mz", "fz", "kappa", "alpha")]
        for w in ("w1l", "w1r", "w2l", "w2r")
    }
    for w in ("w1r", "w2r"):  # slide on a fifth of the friction
        fx, _, _, fz, kappa, alpha = forces[w]
        assert kappa < -0.5
        assert fx == pytest.approx(
            tyre.scaled(LMUX=0.2, LMUY=0.2).on("right").forces(fz, kappa, alpha, V=27).Fx, rel=0.02
        )
    yaw = np.radians(split["yaw_rate"])
    y, x = np.array([1, -1, 1, -1]) * TRACK / 2, np.repeat(X, 2)
    fx, fy, mz = np.array([f[:3] for f in forces.values()]).T
    inertia = 2000 + 2 * RIM * np.sum(X**2 + (TRACK / 2) ** 2)
    assert (yaw[now + 20] - yaw[now - 20]) / 0.04 == pytest.approx(
        (fy @ x - fx @ y + mz.sum()) / inertia, rel=0.03
    )
    assert yaw[now] > 0.1


def test_friction_of_the_ground():
    ground = bc.vehicles.terrain.flat().with_friction(left=0.8, right=[(0, 1.0), (50, 0.2)])
    assert (
        ground.friction == (((0.0, 0.8),), ((0.0, 1.0), (50.0, 0.2)))
        and ground.raised(1).friction is not None
    )
    for wrong, words in (
        ((), "give one friction"),
        (([],), "must be a number"),
        ((-1,), "must not be negative"),
    ):
        with pytest.raises(bc.ModelError, match=words):
            bc.vehicles.terrain.flat().with_friction(*wrong)


def test_friction_of_the_ground_holds_for_any_slip():
    """A block on a slippery plane slides with its fraction of the friction, by a tyre with springs
    alone."""
    s = bc.System("block", axes="ISO 8855")
    body = s.add_point_mass("b", mass=300)
    s.add_gravity()
    tyre = bc.Tyre(2e5, 3000, bc.Slip(30e3, 30e3, friction=0.8))
    ground = bc.vehicles.terrain.flat().with_friction(left=1.0, right=0.25)
    s.add_contact("t", at=body, radius=0.3, terrain=ground, tyre=tyre, wheel=body)
    sim = s.equations().compile(backend="python")
    for y, share in ((1.0, 1.0), (-1.0, 0.25)):
        start = {"q(b, 3)": 0.3 - 300 * G / 2e5, "q(b, 2)": y, "u(b, 1)": 5}
        run = sim.simulate(t_end=0.2, step=0.002, initial=start)
        assert run["t_fx"][-1] == pytest.approx(-0.8 * share * 300 * G, rel=1e-3)


@pytest.mark.campaign
@pytest.mark.parametrize(
    "options", [{"step": 1e-3}, {"step": 5e-4}, {"step": 1e-3, "method": "auto", "rtol": 1e-8}]
)
def test_a_wheel_is_stopped_on_a_slope_held_for_a_minute_and_started_again(options):
    s = bc.System.read(BOOK.with_name("wheel_on_a_slope.py"))
    eom = s.equations()
    assert bc.check(s, equations=eom).passed
    run = eom.compile().simulate(output_every=1, **{"method": "rk4", **options})
    held = (run.time > 25) & (run.time < 69.9)
    for i in (1, 2, 3):
        assert np.ptp(run[f"q(hub, {i})"][held]) < 1e-6
    assert run["tyre.fx"][held][-1] == pytest.approx(400 * G * 0.15 / np.hypot(1, 0.15), rel=1e-9)
    assert abs(run["speed"][held]).max() < 1e-6 and run["speed"][0] == 15 and run["speed"][-1] > 5
    k, most = 6e4, np.interp(run.time, [0, 2, 2.1, 70, 70.1], [0, 0, 900, 900, 0])
    pad = k * abs(run["pad"])
    brake = np.minimum(pad, most) * (pad - np.minimum(pad, most) / 2) / k
    energy = (run["energy"] + run["tyre_stored"] + brake)[run.time < 69.99]
    lost = energy[0] - energy[-1]
    assert (
        lost > 2e4 and (energy - np.minimum.accumulate(energy)).max() < 1e-8 * lost
    )  # load that grows with the spin
