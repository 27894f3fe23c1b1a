"""Motorcycles in space: tyre law, statics, published bicycle in the limit of stiff tyres, steady
turns by hand, energy, riding."""

import json
import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.motorcycles.motorcycle import motorcycle_text
from tests.analysis.bicycle import PARAMETERS, canonical_A, canonical_matrices, published

Motorcycle = bc.vehicles.Motorcycle


@pytest.fixture(scope="module")
def bicycle():
    return Motorcycle.read("bicycle")


@pytest.fixture(scope="module")
def sport():
    return Motorcycle.read("sport")


# ---- tyre


def test_tyre_is_linear_for_small_slip_and_never_passes_the_friction():
    tyre = bc.vehicles.tyres.MotorcycleTyre(cornering=15, camber=1.1, longitudinal=20, mu=1.2)
    small = 1e-4
    assert tyre.forces(1500, 0, small).Fy == pytest.approx(-15 * 1500 * small, rel=1e-7)
    assert tyre.forces(1500, 0, 0, gamma=small).Fy == pytest.approx(-1.1 * 1500 * small, rel=1e-7)
    assert tyre.forces(1500, small, 0).Fx == pytest.approx(20 * 1500 * small, rel=1e-7)
    kappa, alpha, gamma = np.meshgrid(
        np.linspace(-1, 1, 9), np.linspace(-1.2, 1.2, 9), np.linspace(-1, 1, 9)
    )
    found = tyre.forces(1500, kappa, alpha, gamma)
    assert np.hypot(found.Fx, found.Fy).max() <= 1.2 * 1500
    assert np.hypot(found.Fx, found.Fy).max() > 1.15 * 1500


def test_tyre_reports_wrong_values():
    with pytest.raises(bc.ModelError, match=r"crown=0\.4 must be smaller than radius=0\.3"):
        bc.vehicles.tyres.MotorcycleTyre(cornering=15, camber=1, crown=0.4).forces(1000, 0, 0)
    with pytest.raises(bc.ModelError, match="cornering=0 must be a positive number"):
        bc.vehicles.tyres.MotorcycleTyre(cornering=0, camber=1).forces(1000, 0, 0)


# ---- file


def test_labels_name_each_wheel_once(sport):
    d = sport.system(speed=20.0).description
    labels = [x.label for x in (*d.parameters.values(), *d.variables, *d.outputs) if x.label]
    assert "travel of the rear wheel, in compression" in labels and not [
        x for x in labels if "the the" in x
    ]


def test_loads_trail_and_preload_by_hand(sport):
    d, given = sport.data, sport.data.sections
    x = sum(m * x for _, m, x, _ in d.masses()) / d.mass
    assert d.loads[0] == pytest.approx(d.mass * GRAVITY * x / 1.40, rel=1e-12)
    assert d.heights[0] == pytest.approx(0.300 - d.loads[0] / 140e3, abs=1e-12)
    eps = math.radians(24)
    assert d.offset == pytest.approx(
        d.heights[0] * math.sin(eps) - 0.100 * math.cos(eps), rel=1e-12
    )
    by_offset = sport.changed(front={"trail": None, "offset": f"{d.offset} m"})
    assert by_offset.data.trail == pytest.approx(0.100, rel=1e-12)
    hung = (given.front.slider.mass + given.front.wheel.mass) * GRAVITY
    assert d.preloads[0] == pytest.approx((d.loads[0] - hung) * math.cos(eps), rel=1e-12)


@pytest.mark.parametrize(
    "sections, words",
    [
        ({"front": {"rakee": 3}}, r"front: 'rakee' is not known\. Did you mean 'rake'"),
        ({"front": {"offset": "30 mm"}}, "front: give either trail or offset"),
        ({"front": {"slider": None}}, "front: spring and slider belong together"),
        ({"rear": {"arm": None}}, "rear: spring and arm belong together"),
        ({"frame": {"cg": [3, 0, 0.5]}}, "the rear wheel carries -.* N at rest"),
        ({"rear": {"spring": {"arm": [0.42, 0, 0.68]}}}, "frame and arm are the same point"),
        ({"rear": {"tyre": {"radius": None}}}, "rear.tyre: radius missing"),
        (
            {"front": {"tyre": {"file": "none.tir"}}},
            "front.tyre.radius has no meaning for a tyre by file",
        ),
        (
            {"front": {"wheelbase": "1400 N"}},
            r"front.wheelbase = '1400 N' must be in a unit such as m",
        ),
        ({"frame": {"inertia": [0, 1, 1]}}, "frame.inertia = .* must be three positive moments"),
        (
            {"frame": {"cg": [0.7, 0.3, 0.5]}},
            r"frame.cg = \[0.7, 0.3, 0.5\] m must lie in the plane of symmetry: y = 0",
        ),
        ({"frame": {"cg": [0.7, 0, -0.5]}}, "frame.cg = .* must lie above the road"),
        ({"rear": {"arm": {"pivot": [0.5, 0.1, 0.4]}}}, "rear.arm.pivot = .* plane of symmetry"),
        ({"front": {"rake": "95 deg"}}, "front.rake = 95 deg must lie between 0 and 90 deg"),
        (
            {"front": {"tyre": {"vertical_stiffness": "180 N/m"}}},
            "front.tyre: compressed to half its radius it carries 27 N",
        ),
        (
            {"front": {"wheelbase": "1400 m"}},
            "the fork pulls with .* N at rest: wheel and slider are heavier",
        ),
        (
            {"rear": {"spring": {"frame": [0, 0, 0]}}},
            "rear.spring: the strut pulls .* are frame and arm interchanged",
        ),
        (
            {"chain": {"sprocket": [0.05, 0, 0.3]}},
            "chain.sprocket lies .* m from the axle .* overlap",
        ),
        ({"brakes": {"front_share": "170 %"}}, "brakes.front_share = 1.7 must lie between 0 and 1"),
        ({"folder": "here"}, "'folder' is no section"),
    ],
)
def test_mistakes_are_reported(sport, sections, words):
    with pytest.raises(bc.ModelError, match=words):
        sport.changed(**sections)


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda m: m.system(speed="20 m/s"),
            r"system: speed='20 m/s' must be a finite number \(m/s\)",
        ),
        (lambda m: m.system(speed=math.nan), "speed=nan must be a finite number"),
        (lambda m: m.system(rider=3), "rider=3 must be what Motorcycle.rider returns"),
        (
            lambda m: m.lane_change(speed=0),
            r"lane_change: speed=0 must be a positive number \(m/s\)",
        ),
        (
            lambda m: m.lane_change(length=-10),
            r"lane_change: length=-10 must be a positive number \(m\)",
        ),
        (lambda m: m.lane_change(offset=math.nan), "offset=nan must be a finite number"),
        (
            lambda m: m.lane_change(horizont=3),
            "rider: 'horizont' is not known. Did you mean 'horizon'",
        ),
        (lambda m: m.lane_change(most=-1), "rider: most=-1 must be a positive number"),
        (
            lambda m: m.rider([(0, 0), (100, 0)]),
            r"rider: path=\[\(0, 0\), \(100, 0\)\] must be a Path.through",
        ),
        (
            lambda m: m.ride(bc.vehicles.manoeuvres.circle(50), t_end=-1),
            r"ride: t_end=-1 must be a positive number \(s\)",
        ),
        (lambda m: m.modes(20), r"modes: speeds=20 must be a list of finite numbers \(m/s\)"),
        (lambda m: m.modes([]), r"speeds=\[\] must be a list"),
        (lambda m: m.corner(20, 3), "corner: lateral_acceleration=3 must be a list"),
        (lambda m: m.corner(20, [math.nan]), "must be a list of finite numbers"),
        (lambda m: bc.vehicles.manoeuvres.circle(0), "circle: radius=0 must be positive"),
        (lambda m: bc.vehicles.manoeuvres.lane_change([(0, 0), (-5, 1)]), "must have x that grows"),
        (lambda m: bc.vehicles.manoeuvres.lane_change([(0, "a")]), "must be pairs"),
    ],
)
def test_wrong_arguments_are_named(sport, call, words):
    with pytest.raises(bc.ModelError, match=words):
        call(sport)


def test_files_of_other_vehicles(tmp_path):
    (tmp_path / "ride.toml").write_text(motorcycle_text("sport"))
    (tmp_path / "drive.toml").write_text(bc.vehicles.template("passenger"))
    with pytest.raises(
        bc.ModelError,
        match=r"ride.toml is no file of a car: its section \[frame\] is that of a motorcycle",
    ):
        bc.vehicles.Car.read(tmp_path / "ride.toml")
    with pytest.raises(
        bc.ModelError, match=r"drive.toml is no file of a motorcycle: its section \[body\]"
    ):
        Motorcycle.read(tmp_path / "drive.toml")


def test_unknown_names(sport):
    with pytest.raises(
        bc.ModelError, match=r"no file or motorcycle is called 'sprot'\. Did you mean 'sport'"
    ):
        Motorcycle.read("sprot")
    assert isinstance(bc.load("sport"), Motorcycle)
    assert sport.check() == []
    assert sport.changed(front={"rake": "50 deg"}).check()[0].startswith("front.rake = 50 deg")
    odd = sport.changed(frame={"inertia": [13, 25, 1800]}).check()
    assert odd[0].startswith("frame.inertia = [13.0, 25.0, 1800.0]")


def test_commands(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["motorcycle", "new", "mine.toml"]) == 0
    assert (tmp_path / "mine.toml").read_text() == motorcycle_text("sport")
    assert main(["motorcycle", "new", "mine.toml"]) == 1
    capsys.readouterr()
    assert main(["motorcycle", "check", "mine.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["trail"]["value"] == pytest.approx(100)
    assert main(["motorcycle", "list"]) == 0 and "benchmark bicycle" in capsys.readouterr().out
    assert main(["motorcycle", "keys"]) == 0 and "chain.front_radius" in capsys.readouterr().out
    assert main(["motorcycle", "modes"]) == 1 and "name a file" in capsys.readouterr().err


# ---- published bicycle


def stiff(bicycle, cornering):
    """The benchmark bicycle with tyres of a cornering stiffness per load and nearly rigid springs,
    without camber thrust."""
    tyre = {"cornering": cornering, "camber": 0, "friction": 1000, "vertical_stiffness": "1e9 N/m"}
    return bicycle.changed(front={"tyre": tyre}, rear={"tyre": tyre})


def four(modes):
    """Weave, capsize and castering of one speed, sorted: the slow modes but for that of the forward
    speed."""
    found = [m.eigenvalue for m in modes if 1e-6 < abs(m.eigenvalue) < 30]
    return np.sort_complex([x for e in found for x in ((e, e.conjugate()) if e.imag else (e,))])


@pytest.mark.campaign
def test_stiff_tyres_approach_the_published_bicycle(bicycle):
    """Meijaard et al. (2007), canonical equations. The difference is of first order in the
    compliance of the tyres, so one extrapolation suffices."""
    sim = stiff(bicycle, 4e3)._free
    at = {"u(frame, 1)": 5.0, "u(front.wheel)": 5 / 0.35, "u(rear.wheel)": 5 / 0.3}
    rough, fine = (
        four(sim.modes(at=at, parameters={"cornering_front": c, "cornering_rear": c}))
        for c in (4e3, 8e3)
    )
    wanted = np.sort_complex(np.linalg.eigvals(canonical_A(5, PARAMETERS | {"g": GRAVITY})))
    assert wanted == pytest.approx(published(5), rel=2e-3)
    assert fine == pytest.approx(wanted, abs=2e-3)
    assert np.abs(fine - wanted).max() < 0.6 * np.abs(rough - wanted).max()
    assert 2 * fine - rough == pytest.approx(wanted, abs=1e-4)


@pytest.mark.campaign
def test_weave_and_capsize_speeds_of_the_published_bicycle(bicycle):
    modes = stiff(bicycle, 2e4).modes([4.25, 4.3, 4.35, 6.0, 6.05])
    limits = modes.limits()
    assert limits["weave"] == pytest.approx([4.292382536], abs=5e-3)
    assert limits["capsize"][-1] == pytest.approx(6.024262015, abs=0.02)
    soft = bicycle.modes([4.0, 4.5, 5.5, 6.5]).limits()
    assert soft["weave"] == pytest.approx([4.29], abs=0.05) and soft["capsize"] == pytest.approx(
        [6.02], abs=0.3
    )


@pytest.mark.campaign
def test_weave_of_the_published_bicycle_at_walking_speed(bicycle):
    """Two real eigenvalues below 0.68 m/s, both unstable: a table of the stable capsize mode alone
    would mislead."""
    modes = stiff(bicycle, 2e4).modes([0.5])
    wanted = np.linalg.eigvals(canonical_A(0.5, PARAMETERS | {"g": GRAVITY})).real
    assert modes.named["weave"][0] == pytest.approx(wanted.max(), abs=0.01) and wanted.max() > 4.5
    assert modes.named["capsize"][0] == pytest.approx(
        wanted[np.abs(wanted + 3.1) < 0.1][0], abs=0.01
    )


# ---- steady turns


def turned(axis, angle):
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


X, Y, Z = np.eye(3)


class ByHand:
    """Positions, inertia and forces of the parts of a motorcycle in a steady turn, from its data
    and the found angles."""

    def __init__(self, motorcycle, turn):
        d, given = motorcycle.data, motorcycle.data.sections
        value = {
            n: math.radians(turn[n]) if turn.units[n].startswith("deg") else turn[n]
            for n in turn.values
        }
        self.turn, self.d, self.given = turn, d, given
        R = turned(X, value["q(frame, 5)"]) @ turned(Y, value["q(frame, 6)"])
        self.R, self.p0 = R, np.array([0, 0, value["q(frame, 3)"]])
        rake = given.front.rake
        self.foot, e = (
            np.array([d.wheelbase + d.trail, 0, 0]),
            np.array([-math.sin(rake), 0, math.cos(rake)]),
        )
        Rs = R @ turned(e, value["q(steer)"])
        self.axis, pivot, hinge = (
            R @ e,
            np.array(given.rear.arm.pivot),
            np.array([given.rider.cg[0], 0, given.rider.lean.height]),
        )
        Ra, Rr = R @ turned(Y, value["q(arm)"]), R @ turned(X, value["q(rider)"])
        self.pivot = self.p0 + R @ pivot

        def fork(at):
            return self.p0 + R @ self.foot + Rs @ (np.array(at) - self.foot + value["q(fork)"] * e)

        def steer(at):
            return self.p0 + R @ self.foot + Rs @ (np.array(at) - self.foot)

        def arm(at):
            return self.pivot + Ra @ (np.array(at) - pivot)

        self.arm = arm
        self.rate = math.radians(turn["yaw_rate"]) * Z
        v, cm = (
            R @ [value[f"u(frame, {i})"] for i in (1, 2, 3)],
            self.p0 + R @ np.array(given.frame.cg),
        )
        assert abs(v[2]) < 1e-9
        self.centre = cm - np.cross(v, self.rate) / (self.rate @ self.rate)
        self.wheels = {
            "front": (
                fork((d.wheelbase, 0, d.heights[0])),
                Rs @ Y,
                d.front_tyre,
                given.front.wheel,
            ),
            "rear": (arm((0, 0, d.heights[1])), Ra @ Y, d.rear_tyre, given.rear.wheel),
        }
        self.parts = {  # mass, position, inertia in space, spin momentum
            "frame": self.body(given.frame, self.p0 + R @ np.array(given.frame.cg), R),
            "rider": self.body(
                given.rider, self.p0 + R @ hinge + Rr @ (np.array(given.rider.cg) - hinge), Rr
            ),
            "steer": self.body(given.front.steer, steer(given.front.steer.cg), Rs),
            "fork": self.body(given.front.slider, fork(given.front.slider.cg), Rs),
            "arm": self.body(given.rear.arm, arm(given.rear.arm.cg), Ra),
        }
        for end, (at, a, _, wheel) in self.wheels.items():
            cross = wheel.cross_inertia or wheel.spin_inertia / 2
            inertia = cross * np.eye(3) + (wheel.spin_inertia - cross) * np.outer(a, a)
            self.parts[f"{end}.wheel"] = (
                wheel.mass,
                at,
                inertia,
                wheel.spin_inertia * value[f"u({end}.wheel)"] * a,
            )

    @staticmethod
    def body(part, at, R):
        i1, i2, i3 = part.inertia
        own = np.array([[i1, 0, part.inertia_xz], [0, i2, 0], [part.inertia_xz, 0, i3]])
        return part.mass, at, R @ own @ R.T, np.zeros(3)

    def lacks(self, names, about):
        """Force and moment about a point that these parts lack: inertia less weight."""
        force, moment = np.zeros(3), np.zeros(3)
        for name in names:
            mass, at, inertia, spin = self.parts[name]
            f = mass * (np.cross(self.rate, np.cross(self.rate, at - self.centre)) + GRAVITY * Z)
            force += f
            moment += np.cross(at - about, f) + np.cross(self.rate, inertia @ self.rate + spin)
        return force, moment

    def tyre(self, end, about):
        """Force and moment of a tyre, at the lowest point of its torus."""
        at, a, tyre, _ = self.wheels[end]
        t = np.cross(a, Z) / np.linalg.norm(np.cross(a, Z))
        s, lean = np.cross(Z, t), a @ Z
        contact = at + (tyre.radius - tyre.crown) * lean * s
        contact[2] = 0.0
        fx, fy, fz, mx, my, mz = (
            self.turn[f"{end}.tyre.{n}"] for n in ("fx", "fy", "fz", "mx", "my", "mz")
        )
        force = fx * t + fy * s + fz * Z
        return force, np.cross(contact - about, force) + mx * t + my * s + mz * Z

    def air(self, about):
        air = self.given.aerodynamics
        at = self.p0 + self.R @ np.array(air.at)
        v = np.cross(self.rate, at - self.centre) @ self.R @ X
        force = air.density / 2 * v**2 * self.R @ np.array([-air.drag_area, 0, air.lift_area])
        return force, np.cross(at - about, force)


@pytest.fixture(scope="module")
def turns(sport):
    return sport.corner(20, [-2.0, 3.0, 6.0])


@pytest.mark.campaign
def test_steady_turns_balance_by_hand(sport, turns):
    """Newton and Euler for the whole motorcycle, the front end about the steering axis, and the
    swing arm with chain."""
    for turn in turns.turns:
        hand = ByHand(sport, turn)
        force, moment = hand.lacks(hand.parts, hand.p0)
        for f, m in (hand.tyre("front", hand.p0), hand.tyre("rear", hand.p0), hand.air(hand.p0)):
            force, moment = force - f, moment - m
        assert np.abs(force).max() < 1e-5 and np.abs(moment).max() < 1e-5
        at = hand.p0 + hand.R @ hand.foot
        _, needed = hand.lacks(("steer", "fork", "front.wheel"), at)
        torque = (needed - hand.tyre("front", at)[1]) @ hand.axis
        assert turn["steering_torque"] == pytest.approx(torque, abs=1e-5)
        assert abs(torque) > 0.1
        _, needed = hand.lacks(("arm", "rear.wheel"), hand.pivot)
        acting = hand.tyre("rear", hand.pivot)[1] + chain_moment(hand) + strut_moment(hand)
        assert (needed - acting) @ hand.R @ Y == pytest.approx(0, abs=1e-4)


def chain_moment(hand):
    """Of the upper run, by its tangent points: both lie at the same angle from the line of
    centres."""
    chain, axle = hand.given.chain, hand.R.T @ (hand.wheels["rear"][0] - hand.p0)
    d = np.array(chain.sprocket) - axle
    tilt = math.atan2(d[2], d[0]) + math.acos(
        (chain.rear_radius - chain.front_radius) / math.hypot(d[0], d[2])
    )
    out = np.array([math.cos(tilt), 0, math.sin(tilt)])
    ends = axle + chain.rear_radius * out, np.array(chain.sprocket) + chain.front_radius * out
    along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    force = hand.turn["drive_torque"] / chain.rear_radius * along
    return np.cross(hand.p0 + hand.R @ ends[0] - hand.pivot, hand.R @ force)


def strut_moment(hand):
    strut = hand.given.rear.spring
    top, low = hand.p0 + hand.R @ np.array(strut.frame), hand.arm(strut.arm)
    shorter = math.dist(strut.frame, strut.arm) - math.dist(top, low)
    push = hand.d.preloads[1] + strut.stiffness * shorter
    return np.cross(low - hand.pivot, push * (low - top) / math.dist(top, low))


@pytest.mark.campaign
def test_turns_of_a_bicycle_at_low_speed(bicycle):
    """Newton's method fails with steps of 1.5 m/s2 here. Small turns: Meijaard et al. (2007), C = 0
    and q constant."""
    turns = bicycle.corner(5, [0.1, 3.0])
    _, _, K0, K2 = canonical_matrices(PARAMETERS)
    yaw_rate = 0.1 / 5
    steer = yaw_rate * PARAMETERS["w"] / (5 * np.cos(PARAMETERS["lam"]))
    K = GRAVITY * K0 + 25 * K2
    roll = -K[0, 1] * steer / K[0, 0]
    torque = K[1, 0] * roll + K[1, 1] * steer
    assert turns["steer"][0] == pytest.approx(np.degrees(steer), rel=5e-3)
    assert turns["steering_torque"][0] == pytest.approx(torque, rel=0.02)
    assert turns["yaw_rate"] == pytest.approx(np.degrees([yaw_rate, 0.6]), rel=1e-6)


def test_roll_angle_of_a_turn_with_a_round_tyre(sport):
    """tan(roll) = v^2/(g R) for the line from contact to mass centre; the round tyre moves the
    contact inwards, so that roll = p + asin(c sin(p)/(h - c)). Cossalter, Motorcycle Dynamics
    (2006), section 4.1. Light wheels have no gyroscopic moment."""
    light = {"wheel": {"spin_inertia": "1e-4 kg-m2", "cross_inertia": "1e-4 kg-m2"}}
    tyre = {"twist": 0, "crown": "80 mm"}
    thin = sport.changed(
        front={**light, "tyre": tyre},
        rear={**light, "tyre": tyre},
        aerodynamics=None,
        rider={"lean": {"stiffness": "1e7 N-m/rad"}},
    )
    turn = thin.corner(30, [5.0]).turns[0]
    p = math.atan(5.0 / GRAVITY)
    c, h = 0.08, thin.data.centre[1]
    roll = p + math.asin(c * math.sin(p) / (h - c))
    assert -turn["roll"] == pytest.approx(math.degrees(roll), rel=0.03)
    assert -turn["roll"] > 1.1 * math.degrees(p)  # without the crown it would be this


@pytest.mark.campaign
def test_gyroscopic_wheels_and_camber_thrust(turns, sport):
    """Left and right turns mirror each other, and camber thrust carries most of the side force."""
    left, right = sport.corner(20, [2.0]).turns[0], turns.turns[0]
    for name in ("roll", "steer", "steering_torque"):
        assert left[name] == pytest.approx(-right[name], abs=1e-6)
    turn = turns.turns[1]
    for end, coefficient in (("front", 1.1), ("rear", 1.0)):
        thrust = -coefficient * turn[f"{end}.tyre.gamma"] * turn[f"{end}.tyre.fz"]
        assert thrust / turn[f"{end}.tyre.fy"] == pytest.approx(1, abs=0.35)


# ---- motion


@pytest.mark.campaign
def test_at_rest_nothing_moves(sport):
    sim = sport._free
    q, u = sim.assemble({"u(frame, 1)": 0, "u(front.wheel)": 0, "u(rear.wheel)": 0})
    assert np.abs(sim.derivatives(0, q, u)[1]).max() < 1e-8


@pytest.mark.campaign
def test_energy_is_conserved_without_dissipation(sport):
    """Without friction and dampers it falls over on ice, and heave, pitch and roll exchange
    energy."""
    tyre = {"friction": 1e-9, "vertical_damping": 0, "rolling_resistance": 0, "camber": 0}
    free = {"compression": 0, "rebound": 0}
    ice = sport.changed(
        front={"tyre": tyre, "spring": {**free, "bump_stop": None}, "damper": 0},
        rear={"tyre": tyre, "spring": {**free, "bump_stop": None}},
        rider={"lean": {"damping": 0}},
        aerodynamics=None,
    )
    sim = ice.system(speed=10).equations().compile()
    start = {"q(frame, 5)": 0.2, "u(frame, 4)": 0.5, "q(steer)": 0.05, "q(fork)": 0.01}  # rad and m
    run = sim.simulate(t_end=0.7, step=1e-4, initial=start)  # small, as wheels lift off and land
    d, strut = ice.data, ice.data.sections.rear.spring
    k = ice.data.sections.front.spring.stiffness
    arm, pivot = run["q(arm)"], np.array(ice.data.sections.rear.arm.pivot)
    low = np.array([pivot + turned(Y, b) @ (np.array(strut.arm) - pivot) for b in arm])
    shorter = math.dist(strut.frame, strut.arm) - np.linalg.norm(
        low - np.array(strut.frame), axis=1
    )
    strain = d.preloads[0] * run["q(fork)"] + k * run["q(fork)"] ** 2 / 2
    strain = strain + d.preloads[1] * shorter + strut.stiffness * shorter**2 / 2
    strain = strain + 1e4 * run["q(rider)"] ** 2 / 2
    total = run["energy"] + strain + run["front.tyre_stored"] + run["rear.tyre_stored"]
    assert np.ptp(run["roll"]) > 20
    assert np.ptp(total) < 1e-6 * np.ptp(run["energy"])


@pytest.mark.campaign
@pytest.mark.parametrize("speed, length", [(12.0, 35.0), (30.0, 90.0)])
def test_lane_change_without_falling(sport, speed, length):
    ride = sport.lane_change(speed=speed, offset=3.0, length=length)
    run = ride.run
    assert not ride.fell and run.ended == "finished"
    assert run["y"][-1] == pytest.approx(3.0, abs=0.15) and abs(run["roll"][-1]) < 1.0
    assert ride.metrics["path_error"] < 0.4
    assert run["roll"].max() > 3 and run["roll"].min() < -3
    before = run["x"] < 20
    assert (
        run["steering_torque"][before].mean() < 0
    )  # a turn to the left begins by steering to the right
    assert run["speed"] == pytest.approx(speed, rel=0.02)


@pytest.mark.campaign
def test_without_a_rider_it_falls_at_walking_speed(sport):
    run = (
        sport.system(speed=2)
        .equations()
        .compile()
        .simulate(t_end=30, initial={"u(frame, 4)": 0.05})
    )
    assert abs(run["roll"][-1]) == pytest.approx(np.degrees(1.2), abs=0.01)
    assert "fallen" in run.ended and run.time[-1] < 10


@pytest.mark.campaign
def test_what_is_not_found_is_left_out_and_named(sport, capsys):
    turns = sport.corner(20, [3.0, 30.0, 40.0, -3.0])
    assert turns.lateral_acceleration == (3.0, -3.0) and turns["roll"][0] == pytest.approx(
        -turns["roll"][1]
    )
    assert turns.problems[0] == "no turn at 30, 40 m/s2" and "no steady turn at 20 m/s" in str(
        turns
    )
    with pytest.raises(bc.RunError, match="no steady turn at 20 m/s"):
        sport.corner(20, [30.0])
    modes = sport.modes([20.0, 900.0])
    assert modes.speeds.tolist() == [20.0] and modes.problems == (
        "no steady motion was found at 900 m/s",
    )
    assert main(["motorcycle", "corner", "sport", "--ay", "2:40:2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["problems"][0] == "no turn at 40 m/s2"


@pytest.mark.campaign
def test_modes_of_the_sports_motorcycle(sport):
    """Weave is unstable at walking speed and near 2 to 4 Hz at high speed, wobble near 5 to 10 Hz:
    Sharp (1971)."""
    modes = sport.modes([4, 15, 30, 45])
    weave, wobble, capsize = (modes.named[n] for n in ("weave", "wobble", "capsize"))
    assert weave[0].real > 0 > weave[1:].real.max()
    assert 1.5 < weave[-1].imag / (2 * np.pi) < 4.5 and 4 < wobble[-1].imag / (2 * np.pi) < 12
    assert np.abs(capsize[1:]).max() < 3
    damped = sport.changed(front={"damper": "12 N-m-s/rad"}).modes([30.0])
    assert damped.named["wobble"][0].real < wobble[2].real  # a steering damper damps wobble


@pytest.mark.parametrize(("name", "legs"), [("bicycle", "fork"), ("sport", "slider of the fork")])
def test_legs_of_the_fork_hold_the_wheel_when_it_is_steered(name, legs):
    """In pictures they end on both sides of the front wheel, on its axis, as far from its
    middle."""
    s = bc.vehicles.Motorcycle.read(name).system(speed=5.0)
    run = s.equations().compile().simulate(t_end=1e-3, initial={"q(steer)": 20})
    motion = run.motion
    places = motion.scene.mark_positions(motion.poses[:1])[0]
    marks, items = motion.scene.marks, motion.scene.items
    hub = next(x.marks[0] for x in items if x.label == "front wheel")
    axis = motion.poses[0, marks[hub].body, 3:].reshape(3, 3)[:, 1]
    ends = [
        places[x.marks[-1]] - places[hub] for x in items if x.label == legs and x.kind == "line"
    ]
    aside = ends[0] @ axis
    assert abs(aside) > 0.03 and np.array(ends) == pytest.approx(
        np.outer([aside, -aside], axis), abs=1e-9
    )
