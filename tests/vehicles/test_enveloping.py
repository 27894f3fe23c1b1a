"""Enveloping: the path of a wheel on the effective road, against cams that are set on the road
point by point."""

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import bellcrank as bc
from bellcrank.vehicles.cars.running_gear.tyre_cams import axle_cams, effective_road

BOOK = Path(__file__).parents[2] / "examples" / "tyres" / "book_205_60R15.tir"
RADIUS, SUNK, BASE, EXPONENT = 0.32, 0.02, 0.09, 1.8
ROLLS = RADIUS - SUNK
KINK = 5e-4  # m, by which a wheel cuts a kink of its path, where a cam comes to the top of a step


def path(ground, x):
    """Heights of a rigid wheel with the loaded radius that rolls on a ground, less its radius."""

    def over(z, at):
        return ground.nearest(at, z).distance - ROLLS

    return np.array([brentq(over, -0.4 + ROLLS, 1.0 + ROLLS, args=(s,)) - ROLLS for s in x])


def cam(road_x, road_h, x, ellipse, exponent):
    """Height of one cam whose middle is at x, over all points of a road."""
    u = np.abs(road_x - x) / ellipse[0]
    under = u <= 1
    return (
        road_h[under] + ellipse[1] * (1 - u[under] ** exponent) ** (1 / exponent)
    ).max() - ellipse[1]


def points(ground, first, last, step=2e-4):
    """Dense points of a road, with its walls."""
    x = np.arange(first, last, step)
    walls = [(np.full(50, at), np.linspace(b, a, 50)) for at, b, a in ground.jumps]
    return np.concatenate([x, *(w[0] for w in walls)]), np.concatenate(
        [ground.height(x), *(w[1] for w in walls)]
    )


ROADS = {
    "kerb": lambda: bc.vehicles.terrain.profile([0, 0, 3], [0, 0.06, 0.06]),
    "hole": lambda: bc.vehicles.terrain.profile([0, 0, 0.6, 0.6], [0, -0.05, -0.05, 0]),
    "cleat": lambda: bc.vehicles.terrain.profile([0, 0, 0.02, 0.02], [0, 0.01, 0.01, 0]),
    "ramps": lambda: bc.vehicles.terrain.profile([0, 0.3, 0.5, 1.0], [0, 0.1, 0.05, 0.2]),
    "waves": lambda: bc.vehicles.terrain.profile(
        np.arange(0, 2.1, 0.1), 0.03 * np.sin(7 * np.arange(0, 2.1, 0.1)), order=3
    ),
}
SHAPES = {
    "usual": (BASE, (RADIUS, RADIUS), EXPONENT),
    "of a book": (0.1, (0.46, 0.3), 1.52),
    "one": (0.0, (RADIUS, RADIUS), 2.0),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ROADS)
def test_wheel_on_the_effective_road_rises_as_both_cams(name, shape):
    ground, (base, ellipse, exponent) = ROADS[name](), SHAPES[shape]
    smooth = bc.vehicles.terrain.enveloped(
        ground, RADIUS, SUNK, base=base, ellipse=ellipse, exponent=exponent
    )
    road = points(ground, -1.5, 3.0)
    x = np.linspace(-0.5, 1.2, 41)
    both = [[cam(*road, s + way * base / 2, ellipse, exponent) for s in x] for way in (-1, 1)]
    expected = np.mean(both, axis=0)
    off = np.abs(path(smooth, x) - expected)
    assert off.max() < KINK
    assert np.mean(off < 3e-5) > 0.75
    assert np.abs(expected - ground.height(x)).max() > 5 * KINK


def test_basic_curve_of_a_step_is_an_arc_of_the_ellipse():
    """With one cam the wheel begins to rise at a (1 - (1 - h/b)^c)^(1/c) before the step, along the
    ellipse."""
    a, b = 0.3, 0.28
    smooth = bc.vehicles.terrain.enveloped(
        ROADS["kerb"](), RADIUS, SUNK, base=0.0, ellipse=(a, b), exponent=2.0
    )
    length = a * np.sqrt(1 - (1 - 0.06 / b) ** 2)
    before = path(smooth, np.array([-length - 0.01, -length + 0.01]))
    assert before[0] == pytest.approx(0.0, abs=1e-9)
    assert before[1] > 1e-3
    x = np.linspace(-0.95 * length, -0.02, 9)
    assert path(smooth, x) == pytest.approx(0.06 - b * (1 - np.sqrt(1 - (x / a) ** 2)), abs=1e-4)
    inclined = -(b / a) * (x / a) / np.sqrt(1 - (x / a) ** 2)
    near = [smooth.nearest(s, z + ROLLS) for s, z in zip(x, path(smooth, x), strict=True)]
    assert [-n.normal_x / n.normal_z for n in near] == pytest.approx(
        inclined, abs=1e-2
    )  # a sample of the wheel


def test_work_of_a_constant_load_is_that_of_the_step():
    """The horizontal force of a load F is F tan(inclination): its work over a step of height h is F
    h."""
    smooth = bc.vehicles.terrain.enveloped(ROADS["kerb"](), RADIUS, SUNK)
    x = np.linspace(-0.3, 0.1, 161)
    near = [smooth.nearest(s, z + ROLLS) for s, z in zip(x, path(smooth, x), strict=True)]
    tangent = np.array([-n.normal_x / n.normal_z for n in near])
    assert np.trapezoid(tangent, x) == pytest.approx(0.06, abs=2e-4)


def test_long_waves_remain_to_second_order():
    """Of waves with one amplitude, the difference to the road falls with the square of the length,
    or a little more."""
    most = []
    for length in (4.0, 8.0):
        x = np.linspace(0, 3 * length, 121)
        ground = bc.vehicles.terrain.profile(x, 0.02 * np.cos(2 * np.pi * x / length), order=3)
        at = np.linspace(length, 2 * length, 25)
        smooth = bc.vehicles.terrain.enveloped(ground, RADIUS, SUNK)
        off = path(smooth, at) - path(ground, at)
        most.append(np.abs(off).max())
    assert most[0] < 1e-3
    assert 3.0 < most[0] / most[1] < 6.0


def test_straight_ground_and_what_belongs_to_it_remain():
    plane = bc.vehicles.terrain.ramp(0.1)
    assert bc.vehicles.terrain.enveloped(plane, RADIUS, SUNK) is plane
    road = ROADS["kerb"]().with_friction(0.5).lifted_by("h", "v")
    smooth = bc.vehicles.terrain.enveloped(road, RADIUS, SUNK)
    assert (smooth.friction, smooth.lifted) == (road.friction, road.lifted)
    far = np.array([-50.0, -2.0, 2.0, 80.0])
    slow = bc.vehicles.terrain.profile([0, 1, 2], [0, 0.1, 0.3])
    assert smooth.height(far) == pytest.approx(road.height(far), abs=1e-12)
    away = np.array([-50.0, -2.0, 4.0, 80.0])
    assert bc.vehicles.terrain.enveloped(slow, RADIUS, SUNK).height(away) == pytest.approx(
        slow.height(away), abs=1e-12
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"radius": -1, "deflection": 0}, "must be positive"),
        ({"radius": 0.3, "deflection": 0.3}, "deflection from 0 to below the radius"),
        ({"radius": 0.3, "deflection": 0.02, "exponent": 0.5}, "exponent at least 1"),
        ({"radius": 0.3, "deflection": 0.02, "ellipse": (0.3, 0.0)}, "half axes must be positive"),
        ({"radius": 0.3, "deflection": 0.02, "base": float("nan")}, "finite numbers"),
    ],
)
def test_cams_that_are_none_are_rejected(given, words):
    with pytest.raises(bc.ModelError, match=words):
        bc.vehicles.terrain.enveloped(ROADS["kerb"](), **given)


def test_ground_that_cannot_be_enveloped_is_rejected():
    with pytest.raises(bc.ModelError, match="curved without end"):
        bc.vehicles.terrain.enveloped(bc.vehicles.terrain.cosine(0.02, 6.0), RADIUS, SUNK)
    with pytest.raises(bc.ModelError, match="profiles along x"):
        bc.vehicles.terrain.enveloped(
            bc.vehicles.terrain.grid([0, 1], [0, 1], [[0, 0], [0, 1]]), RADIUS, SUNK
        )
    with pytest.raises(bc.ModelError, match="envelop a part of it"):
        bc.vehicles.terrain.enveloped(
            bc.vehicles.terrain.profile([0, 1, 1e6], [0, 0.1, 0]), RADIUS, SUNK
        )


# ---- of cars


def passenger(**enveloping):
    given = enveloping or True
    return bc.vehicles.Car.read("passenger").changed(front={"tyre": {"enveloping": given}})


def test_cams_of_a_car_follow_from_its_tyre():
    """Sizes of a tyre by its size; keys of a .tir file, of which lengths are over the radius."""
    car = passenger()
    load = sum(car.stand.wheel_load[:2]) / 2
    found = axle_cams(car.data.front, load)
    tyre = car.data.front.tyre
    rho = load / tyre.vertical_stiffness
    contact = 2 * tyre.radius * (rho / tyre.radius + 0.5 * np.sqrt(rho / tyre.radius))
    assert (found.length, found.height, found.exponent) == (tyre.radius, tyre.radius, 1.8)
    assert found.base == pytest.approx(0.8 * contact, rel=0.02)
    assert axle_cams(car.data.rear, load) is None
    own = passenger(base="90 mm", ellipse=["0.4 m", "0.3 m"], exponent=2)
    given = axle_cams(own.data.front, load)
    assert (given.base, given.length, given.height, given.exponent) == (0.09, 0.4, 0.3, 2.0)


def test_cams_of_a_file_are_those_of_its_keys():
    """ELLIPS_LENGTH and ELLIPS_HEIGHT are over the radius, ELLIPS_SHIFT over the contact length."""
    by_file = {"tyre": {"size": None, "file": str(BOOK), "enveloping": True}}
    car = bc.vehicles.Car.read("passenger").changed(front=by_file)
    load = 4000.0
    found, tyre = axle_cams(car.data.front, load), bc.load(str(BOOK))
    radius = tyre["UNLOADED_RADIUS"]
    assert (found.length, found.height, found.exponent) == (1.471 * radius, 0.9622 * radius, 1.5174)
    n = load / (tyre["VERTICAL_STIFFNESS"] * radius)
    assert found.base == pytest.approx(
        0.8335 * 2 * radius * (0.733 * n + 0.671 * np.sqrt(n)), rel=0.02
    )
    assert found.radius == pytest.approx(tyre.forces(load, 0.0, 0.0).Rl, rel=0.01)


def test_tyres_touch_at_a_point_unless_asked():
    car, road = bc.vehicles.Car.read("passenger"), ROADS["kerb"]()
    assert effective_road(car.data.front, 4000.0, road) is road
    off = car.changed(front={"tyre": {"enveloping": False}})
    assert effective_road(off.data.front, 4000.0, road) is road
    assert effective_road(passenger().data.front, 4000.0, road) is not road
    assert effective_road(passenger().data.front, 4000.0, road).pieces is (
        effective_road(passenger().data.front, 4000.0, road.lifted_by("h", "v")).pieces
    )


def test_ground_over_x_and_y_is_touched_at_a_point_with_a_warning():
    ground = bc.vehicles.terrain.grid([0, 1], [0, 1], [[0, 0], [0, 1]])
    with pytest.warns(bc.ModelWarning, match="touch it at one point"):
        assert effective_road(passenger().data.front, 4000.0, ground) is ground


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"enveloping": {"ellipse": ["0.3 m"]}},
            "front.tyre.enveloping.ellipse = .* two half axes",
        ),
        (
            {"enveloping": {"exponent": 0.5}},
            "front.tyre.enveloping.exponent = 0.5 must be at least 1",
        ),
        ({"enveloping": {"base": "-0.1 m"}}, "front.tyre.enveloping.base"),
        (
            {"enveloping": {"length": "0.1 m"}},
            "'length' is not known. Keys: base, ellipse, exponent",
        ),
        ({"enveloping": "yes"}, "front.tyre.enveloping must be a section"),
    ],
)
def test_cams_of_a_file_that_are_none_are_rejected(given, words):
    with pytest.raises(bc.ModelError, match=words):
        bc.vehicles.Car.read("passenger").changed(front={"tyre": given})


def test_motorcycles_have_no_such_key():
    with pytest.raises(bc.ModelError, match="'enveloping' is not known"):
        bc.vehicles.Motorcycle.read("sport").changed(front={"tyre": {"enveloping": True}})


@pytest.mark.campaign
def test_kerb_presses_less_on_tyres_that_envelop_it():
    """Loads of a point of contact are too high at edges; long waves of a road hardly differ."""
    point = bc.vehicles.Car.read("passenger")
    both = point.changed(front={"tyre": {"enveloping": True}}, rear={"tyre": {"enveloping": True}})
    kerbs = [bc.vehicles.manoeuvres.run(car, "kerb") for car in (point, both)]
    for axle in ("front", "rear"):
        loads = [kerb.metrics[f"load_{axle}"] for kerb in kerbs]
        assert 0.7 * loads[0] < loads[1] < 0.95 * loads[0]
    assert "one point" in kerbs[0].notes[0]
    assert "cams" in kerbs[1].notes[0]
    rides = [bc.vehicles.manoeuvres.run(car, "ride") for car in (point, both)]
    assert rides[1].metrics["az_weighted"] == pytest.approx(
        rides[0].metrics["az_weighted"], rel=0.01
    )


@pytest.mark.campaign
def test_loads_at_a_kerb_converge_with_the_step():
    car = bc.vehicles.Car.read("passenger")
    car = car.changed(front={"tyre": {"enveloping": True}}, rear={"tyre": {"enveloping": True}})
    system = car.system(speed=5.0, terrain=bc.vehicles.terrain.profile([3, 3, 40], [0, 0.06, 0.06]))
    sim = system.equations().compile()
    peaks = [
        sim.simulate(t_end=2.0, step=step, output_every=1)["fl.tyre_load"].max()
        for step in (2e-3, 5e-4, 1.25e-4)
    ]
    assert peaks[0] == pytest.approx(peaks[2], rel=5e-3)
    assert peaks[1] == pytest.approx(peaks[2], rel=5e-4)


@pytest.mark.campaign
def test_wheels_of_trailers_envelop_too():
    car = bc.vehicles.Car.read("caravan")
    trailer, axle = next((t.name, a.name) for t in car.data.trailers for a in t.axles)
    peaks = []
    for given in (False, True):
        own = car.changed(trailers={trailer: {"axles": {axle: {"tyre": {"enveloping": given}}}}})
        system = own.system(
            speed=5.0, terrain=bc.vehicles.terrain.profile([3, 3, 40], [0, 0.06, 0.06])
        )
        run = system.equations().compile().simulate(t_end=3.0, step=1e-3)
        peaks.append((run["fl.tyre_load"].max(), run[f"{trailer}.{axle}_l.tyre_load"].max()))
    assert peaks[1][0] == pytest.approx(peaks[0][0], rel=1e-3)
    assert peaks[1][1] < 0.97 * peaks[0][1]


def test_wheel_without_damping_keeps_its_energy_over_the_effective_road():
    """The force of the contact on the effective road has a potential: over a step and a hole
    nothing is lost."""
    ground = bc.vehicles.terrain.profile([2, 2, 4, 4, 4.3, 4.3], [0, 0.06, 0.06, 0.0, 0.0, 0.06])
    s = bc.System("wheel", axes="ISO 8855")
    hub = s.add_point_mass("hub", translate=(1, 3), mass=20)
    s.add_gravity()
    tyre = bc.Tyre(stiffness="k", damping="c")
    smooth = bc.vehicles.terrain.enveloped(ground, radius=0.32, deflection=20 * 9.80665 / 2e4)
    s.add_contact("wheel", at=hub, radius=0.32, terrain=smooth, tyre=tyre)
    s.set_defaults(k=2e4, c=0)
    s.add_outputs("energy")
    start = {"q(hub, 2)": 0.32 - 20 * 9.80665 / 2e4, "u(hub, 1)": 4.0}
    run = s.equations().compile().simulate(t_end=2.0, step=2e-4, output_every=10, initial=start)
    assert run["q(hub, 1)"][-1] > 5.0
    assert np.ptp(run["energy"] + run["wheel_stored"]) < 1e-3 * run["wheel_stored"].max()
    assert np.ptp(run["kinetic"]) > 1e-2 * run["kinetic"][0]
