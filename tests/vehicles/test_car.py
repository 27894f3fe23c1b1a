"""Cars as files: what they say, what is rejected, how they stand, and suspensions next to published
tables.

No equations are derived here; that is done in test_car_runs.py.
"""

import json
import math
import tomllib

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli.main import main
from bellcrank.core.errors import ModelError
from bellcrank.linkage import Linkage
from bellcrank.linkage.chain import AXES
from bellcrank.linkage.measures import measure_wheel
from bellcrank.mechanics.derive.content_digest import equation_digest
from bellcrank.simulation.run.body_poses import initial_pose, load_for_picture
from bellcrank.vehicles.cars.car import template
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from tests.models import rarely
from tests.vehicles import car_by_hand as hand
from tests.vehicles.tyre_tables import BOOK

SEDAN = {  # Project Chrono, commit 7689fbc0, data/vehicle/sedan: front double wishbone
    "upper_front": (-0.100, 0.470, 0.105), "upper_rear": (-0.250, 0.510, 0.110), "upper_ball": (-0.040, 0.695, 0.105),
    "lower_front": (0.200, 0.420, -0.270), "lower_rear": (-0.200, 0.470, -0.265), "lower_ball": (0.000, 0.770, -0.320),
    "tie_base": (-0.200, 0.420, -0.120), "tie_carrier": (-0.150, 0.770, -0.120),
    "wheel_centre": (0.0, 0.7979, -0.1199),
}  # fmt: skip
# travel, camber, toe (deg), x and y of the wheel centre: Newton's method apart from Bellcrank,
# residual 1e-16 m
KINEMATICS = {
    "sedan": (
        (-0.05, 0.799689, 2.278588, 0.0000478, -0.0092951), (-0.025, 0.441506, 1.013024, 0.0001155, -0.0034597),
        (0.0, 0.0, 0.0, 0.0, 0.0), (0.025, -0.522099, -0.790686, -0.0003083, 0.0012054),
        (0.05, -1.128860, -1.373553, -0.0008159, 0.0002098),
    ),
    "hmmwv": (
        (-0.05, 0.862290, 0.404298, 0.0035095, -0.0131150), (-0.025, 0.507973, 0.172424, 0.0017100, -0.0057122),
        (0.0, 0.0, 0.0, 0.0, 0.0), (0.025, -0.643738, -0.129564, -0.0016548, 0.0041586),
        (0.05, -1.412947, -0.227609, -0.0032768, 0.0068589),
    ),
}  # fmt: skip
RACK = {  # rack to the left; camber, toe of the left wheel
    "sedan": ((0.01, -0.366583, 4.232017), (0.03, -0.939173, 12.856128)),
    "hmmwv": ((0.01, -0.167446, 4.119479), (0.03, -0.319261, 12.522935)),
}
MAP = [["0 rpm", "100 N-m"], ["6000 rpm", "100 N-m"]]
AXIS = {
    "sedan": (5.37670543, 10.00797980),
    "hmmwv": (2.92247267, 12.03599220),
}  # caster, kingpin inclination


@pytest.fixture(scope="module")
def passenger():
    return bc.vehicles.Car.read("passenger")


@pytest.fixture(scope="module")
def hmmwv():
    return bc.vehicles.Car.read("hmmwv")


@pytest.mark.parametrize("name", ["sedan", "hmmwv"])
def test_kinematics_of_published_suspensions(name, hmmwv):
    if name == "hmmwv":
        linkage = hmmwv.data.front.linkage
    else:
        statements = {
            "units": "m",
            "axes": "ISO 8855",
            "side": "left",
            "rack": {"points": ["tie_base"]},
        }
        linkage = Linkage.read({"kind": "double_wishbone", "points": SEDAN, **statements})
    rows = np.array(KINEMATICS[name])
    m = measure_wheel(linkage, rows[:, 0])
    start = linkage.points["wheel_centre"]
    found = np.column_stack(
        [m["camber"], m["toe"], m["wheel_x"] - start[0], m["wheel_y"] - start[1]]
    )
    assert np.abs(found[:, :2] - rows[:, 1:3]).max() < 6e-7
    assert np.abs(found[:, 2:] - rows[:, 3:]).max() < 6e-8
    at = np.array(RACK[name])
    m = measure_wheel(linkage, 0.0 * at[:, 0], at[:, 0])
    assert np.abs(np.column_stack([m["camber"], m["toe"]]) - at[:, 1:]).max() < 6e-7
    m = measure_wheel(linkage, 0.0)
    assert (m["caster"][0], m["kingpin_inclination"][0]) == pytest.approx(AXIS[name], abs=6e-9)


def test_masses_add_up(hmmwv):
    assert hmmwv.stand.mass == pytest.approx(2576.92, abs=0.01)  # as computed from the source


def resisting(axle, load, up, travel=0.0, side=1):
    """Moment of the tyre of a wheel, on the left for side = 1."""
    toe, camber = axle.record.toe, axle.record.camber
    axis = np.array(
        [math.sin(toe) * math.cos(camber), math.cos(toe) * math.cos(camber), -math.sin(camber)]
    )
    axis = axle.pose(travel).rotation @ axis * (side, 1, side)
    along = np.cross(axis, up)
    return axle.tyre.forces(load, 0.0, 0.0, math.asin(axis @ up)).Mx * along / np.linalg.norm(along)


@pytest.mark.parametrize("name", rarely(["passenger", "hmmwv"], ["passenger"]))
def test_loads_at_rest_are_those_of_the_lever(name, request):
    """Weights over the wheelbase, whatever springs and linkages do between. Tyres that lean resist
    about the line on which their wheel rolls, with toe a little across the car."""
    car = request.getfixturevalue(name)
    car = hand.symmetric(car) if "driver" in (car.given.get("loads") or {}) else car
    at = car.stand
    up = np.array([-math.sin(at.pitch), 0.0, math.cos(at.pitch)])
    ahead = np.array([math.cos(at.pitch), 0.0, math.sin(at.pitch)])
    front, rear, centre = (
        float(p @ ahead) for p in (at.contact_points[0], at.contact_points[2], at.mass_centre)
    )
    weight = at.mass * GRAVITY
    assert sum(at.wheel_load) == pytest.approx(weight, rel=1e-9)
    tipped = 2 * sum(
        resisting(car.data.axle(a), at.wheel_load[i], up)[1] for a, i in (("front", 0), ("rear", 2))
    )
    assert sum(at.wheel_load[:2]) == pytest.approx(
        (weight * (centre - rear) + tipped) / (front - rear), rel=1e-9
    )
    assert at.contact_points @ up + at.height == pytest.approx(
        np.zeros(4), abs=1e-12
    )  # on the ground
    assert at.travel == pytest.approx((0, 0, 0, 0), abs=1e-9)  # as drawn


@pytest.mark.campaign
def test_a_load_beside_the_middle_makes_the_car_lean(passenger):
    car = passenger.changed(loads={"driver": {"at": [-1.35, 0.4, 0.60]}})
    at = car.stand
    across = np.array([0.0, math.cos(at.roll), -math.sin(at.roll)])
    level = np.array([0.0, math.sin(at.roll), math.cos(at.roll)])
    up = math.cos(at.pitch) * level - np.array([math.sin(at.pitch), 0.0, 0.0])
    ahead = np.cross(across, up)
    corners = zip(("front", "front", "rear", "rear"), at.load, at.travel, (1, -1, 1, -1))
    leaning = sum(
        float(resisting(car.data.axle(a), f, up, z, side) @ ahead) for a, f, z, side in corners
    )
    moment = sum(f * float(p @ across) for f, p in zip(at.load, at.contact)) + leaning
    assert moment == pytest.approx(at.mass * GRAVITY * float(at.centre @ across), rel=1e-6)
    assert moment > 75 * GRAVITY * 0.4 and at.roll < 0  # more, as its left side goes down
    again = passenger.changed(loads={"driver": {"at": [-1.35, -0.4, 0.60]}})
    assert again.stand.load[1] == pytest.approx(car.stand.load[0], rel=1e-9)
    assert again.stand.roll == pytest.approx(-car.stand.roll, rel=1e-6)


@pytest.mark.campaign
def test_a_car_is_drawn_as_large_as_it_is(passenger):
    """Its shell has the length, width and height of the file and arches about the wheels; tyres are
    as wide as their size says."""
    eom = passenger.system().equations(optimise="none").derived
    m = initial_pose(load_for_picture(eom.analysis, eom.interface, eom.program))
    body = passenger.data.sections.body
    shell = [i for i in m.scene.items if i.mesh is not None]
    points = np.concatenate([i.mesh.points for i in shell])
    low, high = points.min(axis=0), points.max(axis=0)
    assert (high - low)[:2] == pytest.approx([body.length, body.width], rel=1e-3)
    tyres = [i for i in m.scene.items if i.kind == "tyre"]
    assert len(tyres) == 4 and {round(i.size[1], 3) for i in tyres} == {
        passenger.data.front.tyre.width
    }
    assert high[2] + tyres[0].size[0] == pytest.approx(body.height, rel=0.01)
    places = m.scene.mark_positions(m.poses[0])
    chassis = m.poses[0, 0, :3] + np.array(m.scene.marks[shell[0].marks[0]].position)
    for tyre in tyres:  # no point of the painted side lies within a wheel
        away = points + chassis - places[tyre.marks[0]]
        beside = np.abs(away[:, 1]) < tyre.size[1] / 2
        assert np.hypot(away[beside, 0], away[beside, 2]).min() > tyre.size[0]


@pytest.mark.campaign
def test_a_free_length_says_where_the_car_stands(passenger):
    given = {
        name: {"spring": {"free_length": f"{length!r} m"}}
        for name, length in passenger.stand.free_length.items()
    }
    same = passenger.changed(**given)
    assert same.stand.travel == pytest.approx(passenger.stand.travel, abs=1e-8)
    lower = passenger.changed(
        front={"spring": {"free_length": f"{passenger.stand.free_length['front'] - 0.01!r} m"}}
    )
    assert lower.stand.travel[0] > 0.005 and lower.stand.pitch > passenger.stand.pitch


@pytest.mark.campaign
def test_units_are_stated_and_all_the_same(passenger):
    other = passenger.changed(
        body={
            "units": ["tonne", "mm", "kg-m2"],
            "mass": 1.22,
            "cg": [-1200, 0, 560],
            "width": 1750,
            "length": 4400,
        },
        front={"toe": "0.0008726646259971648 rad", "spring": {"stiffness": "42000 N/m"}},
    )
    assert other.stand.load == pytest.approx(passenger.stand.load, rel=1e-9)
    assert other.stand.free_length["front"] == pytest.approx(
        passenger.stand.free_length["front"], rel=1e-12
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"front": {"spring": {"stifness": 3}}},
            "front.spring: 'stifness' is not known. Did you mean 'stiffness'?",
        ),
        ({"frnt": {}}, "'frnt' is not known. Did you mean 'front'?"),
        ({"front": {"toe": "3 N"}}, "front.toe = '3 N' must be in a unit such as deg"),
        ({"front": {"toe": "3"}}, "front.toe: '3' is neither a number nor a number with its unit"),
        ({"front": {"toe": "3 grad"}}, "no unit is named 'grad'"),
        ({"body": {"units": ["kg", "kg-m2"]}}, "body.cg = -1.2: its unit is not stated"),
        (
            {"body": {"units": ["kg", "m", "mm", "kg-m2"]}},
            "two units of one kind, the second is 'mm'",
        ),
        ({"body": {"mass": 0}}, "body.mass = 0 must be positive"),
        ({"body": {"mass": "nan kg"}}, "body.mass"),
        ({"body": {"cg": [1, 2]}}, "body.cg must be three numbers"),
        (
            {"body": {"inertia": [1, -1, 1]}},
            "body.inertia = [1.0, -1.0, 1.0] must be three positive moments",
        ),
        ({"body": None}, "body is missing: sprung mass"),
        ({"drive": {"driven": "both"}}, "it is one of 'front', 'rear', 'all'"),
        ({"brakes": {"front_share": 1.2}}, "brakes.front_share = 1.2 must lie between 0 and 1"),
        ({"rear": {"at": [3, 0, 0.3]}}, "front wheels stand at x = 0 m, rear wheels at 3 m"),
        ({"rear": {"tyre": {"file": "none.tir"}}}, "give one of file (a .tir file), size or model"),
        ({"rear": {"tyre": {"size": None, "file": "none.tir"}}}, "none.tir: No such file"),
        ({"rear": {"tyre": {"size": "205"}}}, "is no tyre size"),
        (
            {"rear": {"tyre": {"pressure": "2 bar"}}},
            "rear.tyre.pressure has no meaning for a tyre by size",
        ),
        ({"rear": {"tyre": {"size": None, "model": "fiala"}}}, "rear.tyre.c_slip is missing"),
        (
            {"rear": {"links": {"rod_6": {"mass": "1 kg"}}}},
            "no link 'rod_6'. Did you mean 'rod_5'?",
        ),
        ({"rear": {"spring": {"strut": "sprung"}}}, "no strut 'sprung'. Did you mean 'spring'?"),
        ({"rear": {"spring": {"strut": "P1, spring_rd"}}}, "Did you mean 'spring_rod'?"),
        (
            {"rear": {"damper": {"rebound": "1 N s/m"}}},
            "give one of coefficient, compression and rebound, or table",
        ),
        ({"rear": {"anti_roll_bar": {"at": "rod"}}}, "no hard point is called 'rod'"),
        ({"front": {"suspension": {"shipped": "trailing_arm"}}}, "front.suspension has no rack"),
        (
            {"front": {"suspension": {"shipped": "double"}}},
            "no hard-point file 'double' comes with Bellcrank",
        ),
        (
            {"front": {"spring": {"table": [["0 m", "0 N"], ["1 m", "1 N"]]}}},
            "front.spring: give one of stiffness, table and air",
        ),
        ({"front": {"spring": 3}}, "front.spring must be a section"),
        (
            {"rear": {"differential": {"kind": "lock"}}},
            "it is one of 'open', 'limited-slip', 'locked'",
        ),
        (
            {"rear": {"differential": {"kind": "locked", "lock": 0.3}}},
            "are those of kind = 'limited-slip'",
        ),
        (
            {"front": {"differential": {"kind": "locked"}}},
            "the front axle is not driven (drive.driven = 'rear')",
        ),
        (
            {"drive": {"gears": [3.0, 2.0]}},
            "drive.gears needs drive.map, the motor torque over its speed",
        ),
        ({"drive": {"gears": 3}}, "drive.gears must be a list of numbers"),
        (
            {"drive": {"map": MAP, "gears": [1.0, 2.0]}},
            "drive.gears: the ratios must fall from the first gear",
        ),
        (
            {"drive": {"map": [["0 rpm", "1 N-m"], ["9 rpm", "-1 N-m"]]}},
            "speeds and torques must not be negative",
        ),
        (
            {"drive": {"map": MAP, "efficiency": 1.2}},
            "drive.efficiency = 1.2 must lie between 0 and 1",
        ),
        (
            {"rear": {"suspension": {"shipped": "five_link", "units": "m"}}},
            "'shipped', whose units cannot be changed",
        ),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(passenger, change, words):
    with pytest.raises(bc.ModelError) as told:
        passenger.changed(**change)
    assert words in str(told.value)


@pytest.mark.campaign
def test_springs_that_do_not_hold(passenger):
    soft = passenger.changed(
        front={"spring": {"stiffness": "4 N/mm", "free_length": "0.47 m"}, "bump_stop": None}
    )
    said = (
        r"the springs do not hold the car: .* free_length 470 mm each front spring pushes 38.48 "
        r"N where the car is drawn"
    )
    with pytest.raises(bc.ModelError, match=said):
        soft.stand  # noqa: B018


@pytest.mark.campaign
def test_a_tyre_that_is_too_small_is_unusual(passenger):
    small = passenger.changed(front={"tyre": {"size": "205/60R15 60V"}})
    told = [s for s in small.check() if "load of f" in s]
    assert len(told) == 2 and "outside of its tyre's range 0 to 2482" in told[0]


def test_what_is_unusual_is_named_with_numbers(passenger):
    front = {
        "spring": {"stiffness": "600 N/mm"},
        "camber": -9,
        "carrier": {"inertia": [0.5, 0.1, 0.2]},
    }
    odd = passenger.changed(front=front, body={"cg": [-1.2, 0, 1.4]})
    told = "\n".join(odd.check())
    assert (
        "front.carrier.inertia = [0.5, 0.1, 0.2] kg m2: one exceeds the sum of the others." in told
    )
    assert "front.spring.stiffness = 6e+05 N/m: stiffness; usual is 8000 N/m to 5e+05 N/m" in told
    assert "front.camber = -9 deg: camber as built, top outwards positive; usual is" in told
    assert "height of the mass centre above the ground (cg_height) is" in told


@pytest.mark.campaign
def test_a_shipped_car_is_usual_and_a_lowered_one_is_not(passenger):
    assert all("tyre" in sentence for sentence in passenger.check())  # by size: not measured
    low = passenger.changed(front={"spring": {"travel": "75 mm"}})
    assert "on its stop, which begins at 45 mm" in "\n".join(low.check())


def test_figures_of_the_linkage(passenger):
    """Wheel rate and roll centre next to those of the measures of suspensions, which know nothing
    of the car."""
    passenger = hand.symmetric(passenger)
    found = passenger.metrics
    left = passenger.data.front.linkage
    ratio = measure_wheel(left, 0.0)["spring_ratio"][0]
    k, h = 42000.0, 1e-4
    bend = (
        measure_wheel(left, h)["spring_ratio"][0] - measure_wheel(left, -h)["spring_ratio"][0]
    ) / (2 * h)
    length = np.linalg.norm(np.subtract(left.points["spring_base"], left.points["spring_arm"]))
    F = k * (passenger.stand.free_length["front"] - length)
    assert found["wheel_rate_front"] == pytest.approx(
        (k * ratio**2 + F * np.sign(ratio) * bend) / 1000, rel=1e-3
    )
    assert found["roll_centre_front"] == pytest.approx(
        measure_wheel(left, 0.0)["roll_centre_height"][0], abs=0.004
    )
    assert found["steering_ratio"] == pytest.approx(
        360 / 50 / (measure_wheel(left, 0, 1e-5)["steer"][0] / -1e-5 / 1000), rel=1e-3
    )


@pytest.mark.campaign
def test_the_template_is_the_car_it_starts_from(tmp_path, capsys, passenger):
    path = tmp_path / "car.toml"
    assert main(["car", "new", str(path)]) == 0
    again = bc.vehicles.Car.read(path)
    assert again.stand.wheel_load == passenger.stand.load
    assert "shipped" not in again.given["front"]["suspension"]
    assert main(["car", "new", str(path)]) == 1  # it is there
    capsys.readouterr()
    assert main(["car", "check", str(path), "--quick", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["metrics"]["mass"] == {"value": 1466.0, "unit": "kg", "label": "mass with loads"}
    assert main(["car", "keys"]) == 0
    listed = capsys.readouterr().out
    assert "front.anti_roll_bar.stiffness" in listed and "front.suspension.attach" in listed
    assert "tie_base" in listed and "tierod_inner" in listed
    path.write_text(
        path.read_text(encoding="utf-8").replace("stiffness = 42 ", "stifness = 42 "),
        encoding="utf-8",
    )
    assert main(["car", "check", str(path)]) == 1
    assert "Did you mean 'stiffness'?" in capsys.readouterr().err


@pytest.mark.campaign
@pytest.mark.parametrize("axes", ["ADAMS", "SAE"])
def test_the_car_in_other_axes(axes, passenger):
    given = tomllib.loads(template("passenger"))
    given["body"]["inertia_xz"] = 30
    expected = bc.vehicles.Car(**given)

    def turned(v):
        return [sign * x for sign, x in zip(AXES[axes], v)]

    other = json.loads(json.dumps(given)) | {"axes": axes.lower()}
    other["body"] |= {"cg": turned(given["body"]["cg"]), "inertia_xz": -30}
    other["loads"]["driver"]["at"] = turned(given["loads"]["driver"]["at"])
    for name in ("front", "rear"):
        axle = other[name]
        axle["at"] = turned(axle["at"])
        del axle["suspension"]["axes"]  # those of the car
        axle["suspension"]["points"] = {
            n: turned(p) for n, p in axle["suspension"]["points"].items()
        }
        if "rack" in axle["suspension"]:
            axle["suspension"]["rack"] = {"points": ["tie_base"]}
    other["front"]["links"]["lower_arm"]["cg"] = turned(other["front"]["links"]["lower_arm"]["cg"])
    car = bc.vehicles.Car(**other)
    assert (
        dict(car.metrics) == dict(expected.metrics)
        and car.stand.wheel_load == expected.stand.wheel_load
    )
    assert (car.data.sprung.inertia == expected.data.sprung.inertia).all()
    assert car.data.front.record.links == expected.data.front.record.links


def test_points_over_shipped_ones(passenger):
    """A point is changed with its own units, or in those of the file."""
    old = passenger.data.front.linkage.points["tie_base"]
    changed = passenger.changed(
        front={"suspension": {"points": {"tie_base": ["-122 mm", 345, "0.236 m"]}}}
    )
    assert changed.data.front.linkage.points["tie_base"] == (-0.122, *old[1:])
    with pytest.raises(
        ModelError, match=r"hard point 'tierod_inner' is not one of .* Did you mean 'tie_base'"
    ):
        passenger.changed(front={"suspension": {"points": {"tierod_inner": [0, 0, 0]}}})
    with pytest.raises(ModelError, match="points must be a table of names"):
        passenger.changed(front={"suspension": {"points": [1, 2, 3]}})


def test_a_rod_of_another_length_over_shipped_points(passenger):
    """A tie rod behind the wheel centres that is longer by 1 mm pushes the rear of the wheel
    outwards: toe-in, by about that over the steering arm."""
    points = passenger.linkage("front").points
    long = math.dist(points["tie_base"], points["tie_carrier"])
    changed = passenger.changed(
        front={"suspension": {"lengths": {"tie_rod": f"{1000 * long + 1} mm"}}}
    )
    toe = [car.kinematics("front", 0.0)["toe"][0] for car in (passenger, changed)]
    arm = abs(points["tie_carrier"][0] - points["lower_ball"][0])
    assert toe[1] - toe[0] == pytest.approx(math.degrees(0.001 / arm), rel=0.1)


def test_manoeuvres_are_listed_and_mistakes_named(capsys):
    assert main(["drive"]) == 0
    assert "iso3888-1: double lane change" in capsys.readouterr().out
    assert main(["drive", "passenger", "iso3888"]) == 1
    assert "Did you mean 'iso3888-" in capsys.readouterr().err
    assert main(["drive", "passenger", "braking", "--set", "sped=3"]) == 1
    assert "braking has no setting 'sped'. Did you mean 'speed'?" in capsys.readouterr().err
    assert main(["drive", "passenger", "iso3888-1", "--set", "search=maybe"]) == 1
    assert "iso3888-1: search='maybe' must be true or false" in capsys.readouterr().err
    assert main(["drive", "passenger", "iso3888-1", "--set", "driver=3"]) == 1
    assert "iso3888-1: driver=3 must be a word; macadam, point" in capsys.readouterr().err
    assert main(["drive", "pasenger", "braking"]) == 1
    assert (
        "no file or car is called 'pasenger'. Did you mean 'passenger'?" in capsys.readouterr().err
    )
    assert main(["drive", "passenger", "braking", "--speed", "-3"]) == 1
    assert "speed=-3.0 must be a positive number" in capsys.readouterr().err


def test_files_that_change_a_car_take_keys_and_sections_away(tmp_path):
    """As None does in Python: air in place of the leaves of the van, and no anti-roll bar."""
    path = tmp_path / "air.toml"
    path.write_text(
        'car = "van"\nrear.anti_roll_bar = "none"\n[rear.spring]\nstiffness = '
        '"none"\nfriction = "none"\n'
        'friction_travel = "none"\nair = { area = "180 cm2", volume = "9000 cm3" }\n'
    )
    air = {"area": "180 cm2", "volume": "9000 cm3"}
    spring = {"stiffness": None, "friction": None, "friction_travel": None, "air": air}
    van = bc.vehicles.Car.read("van")
    same = van.changed(rear={"anti_roll_bar": None, "spring": spring})
    assert dict(bc.vehicles.Car.read(path).metrics) == dict(same.metrics)
    without = van.changed(rear={"anti_roll_bar": "none"}).metrics["roll_stiffness_rear"]
    assert van.metrics["roll_stiffness_rear"] - without == pytest.approx(
        250, rel=1e-4
    )  # N m/deg; the driver sits on the left


def test_files_that_name_each_other_are_reported(tmp_path):
    (tmp_path / "a.toml").write_text('car = "b.toml"')
    (tmp_path / "b.toml").write_text('car = "a.toml"')
    with pytest.raises(
        bc.ModelError, match=r"the files b.toml, a.toml name each other in a circle"
    ):
        bc.vehicles.Car.read(tmp_path / "a.toml")


def test_wrong_arguments_are_named():
    car = bc.vehicles.Car.read("passenger")
    with pytest.raises(bc.ModelError, match="system: speed='3' must be a finite number"):
        car.system(speed="3")
    with pytest.raises(
        bc.ModelError, match="with_parameters: k_front='stiff' must be a finite number"
    ):
        car.with_parameters({"k_front": "stiff"})
    with pytest.raises(bc.ModelError, match="'folder' is no section"):
        car.changed(folder="elsewhere")


def test_a_path_through_points():
    path = bc.vehicles.manoeuvres.Path.through([0, 10, 20, 30], [0, 0, 0, 0])
    assert path.length == pytest.approx(30) and max(map(abs, path.heading)) < 1e-12
    ring = bc.vehicles.manoeuvres.circle(50.0, straight=20.0, turns=0.5)
    turn = np.gradient(ring.heading, ring.s)
    assert turn[-30:-5] == pytest.approx(np.full(25, 1 / 50), rel=2e-3)
    change = bc.vehicles.manoeuvres.lane_change([(15, 0), (45, 3.5), (70, 3.5), (95, 0)])
    assert float(np.interp(575, change.x, change.y)) == pytest.approx(0.0, abs=1e-6)
    assert float(np.interp(57, change.x, change.y)) == pytest.approx(3.5, abs=1e-3)
    with pytest.raises(bc.ModelError, match="at least three points"):
        bc.vehicles.manoeuvres.Path.through([0, 1], [0, 1])
    with pytest.raises(bc.ModelError, match="at the same place"):
        bc.vehicles.manoeuvres.Path.through([0, 1, 1], [0, 1, 1])
    with pytest.raises(bc.ModelError, match="kind='macadm' must be one of macadam, point"):
        bc.vehicles.manoeuvres.Driver(kind="macadm")


def test_gains_of_the_driver():
    """MacAdam's driver on the car it assumes: what it sees ahead, it reaches with the steering
    angle held."""
    from bellcrank.vehicles.cars.control.driver import preview_gains

    A, B = np.array([[-5.0, -18.0], [0.3, -5.5]]), np.array([70.0, 45.0])
    times = np.arange(1, 11) / 10
    found = preview_gains(A, B, 20.0, times)
    x, d, h = np.zeros(4), 0.01, 5e-4  # y, v_y, psi, r
    seen = []
    for i in range(2000):
        v, r = x[1], x[3]
        rates = np.array([v + 20.0 * x[2], A[0] @ (v, r) + B[0] * d, r, A[1] @ (v, r) + B[1] * d])
        x = x + h * rates
        if (i + 1) % 200 == 0:
            seen.append(x[0])
    assert found[:10] @ seen == pytest.approx(d, rel=5e-3)


@pytest.mark.campaign
def test_other_springs_bars_and_stops_leave_the_derived_model_as_it_is(passenger):
    """They are parameters, and what a driver expects of the car does not depend on them."""
    other = passenger.changed(
        front={
            "spring": {"stiffness": "61 N/mm"},
            "anti_roll_bar": {"stiffness": "111 N-m/deg"},
            "bump_stop": {"gap": "30 mm", "stiffness": "7 N/mm"},
        },
        rear={"spring": {"stiffness": "48 N/mm", "free_length": "395 mm", "perch": "3 mm"}},
    )
    assert (
        abs(other.stand.pitch - passenger.stand.pitch) > 1e-3
        and abs(other.stand.roll - passenger.stand.roll) > 1e-4
    )
    driver = bc.vehicles.manoeuvres.Driver(
        bc.vehicles.manoeuvres.lane_change([(0, 0), (30, 3.5), (60, 3.5), (90, 0)]), circles=True
    )
    found = [equation_digest(car.system(driver=driver).description) for car in (passenger, other)]
    assert found[0] == found[1]
    heavier = passenger.changed(front={"wheel": {"mass": "30 kg"}})
    assert equation_digest(heavier.system(driver=driver).description) != found[0]


@pytest.mark.campaign
def test_kinematics_of_a_car(capsys, passenger, tmp_path):
    """Of both axles, if none is named."""
    given = [
        "kinematics",
        "passenger",
        "--travel=-20:20:3",
        "--json",
        "--csv",
        str(tmp_path / "k.csv"),
    ]
    assert main(given) == 0
    found = json.loads(capsys.readouterr().out)
    front, rear = (found[axle]["modes"]["parallel"] for axle in ("front", "rear"))
    assert front["camber"][1] == pytest.approx(-0.5) and front["toe"][1] == pytest.approx(0.05)
    assert rear["camber"][1] == pytest.approx(-0.8) and rear["toe"][1] == pytest.approx(0.1)
    level = hand.symmetric(passenger).metrics  # measures of a linkage are those as drawn
    assert front["roll_centre_height"][1] == pytest.approx(level["roll_centre_front"], abs=2e-3)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["k_front.csv", "k_rear.csv"]


@pytest.mark.campaign
@pytest.mark.parametrize("name", bc.vehicles.car_names())
def test_cars_that_come_with_bellcrank_are_usual(name):
    told = bc.vehicles.Car.read(name).check()
    assert [
        s for s in told if "not measured" not in s and "linear metrics" not in s
    ] == []  # of tyres by size


@pytest.mark.campaign
def test_a_car_on_a_measured_tyre(tmp_path, capsys):
    """`file` in place of `size`: a .tir file next to the car file."""
    copy = tmp_path / "my.tir"
    copy.write_bytes(BOOK.read_bytes())
    path = tmp_path / "car.toml"
    assert main(["car", "new", str(path)]) == 0
    text = path.read_text(encoding="utf-8")
    assert text.count('size = "205/60R15 91V"') == 2
    path.write_text(text.replace('size = "205/60R15 91V"', 'file = "my.tir"'), encoding="utf-8")
    assert main(["car", "check", str(path), "--quick"]) == 0
    assert "the springs hold the car" in capsys.readouterr().out
    car = bc.vehicles.Car.read(path)
    found = bc.vehicles.tyres.MagicFormula.read(copy).forces(
        np.array(car.stand.wheel_load[:2]), 0.0, 0.0
    )  # of both sides: the driver sits left
    both = float(np.abs(found.Kya).sum()) * math.radians(1) / 1000
    assert car.metrics["cornering_tyres_front"] == pytest.approx(both, rel=1e-9)


def test_events_of_a_file():
    """Every run of the car looks for them; formulas stay text."""
    slip = {"when": "t > 3", "action": {"mu_front": "0.3*mu_front"}, "direction": "up"}
    events = {"standstill": {"when": "speed < 0.2", "stop": True}, "ice": slip}
    given = tomllib.loads(template("passenger")) | {"events": events}
    found = bc.vehicles.Car(**given).system().description.run.events
    assert [(e.name, e.expression, e.direction, e.action, e.stop) for e in found] == [
        ("standstill", "speed < 0.2", 0, {}, True),
        ("ice", "t > 3", 1, {"mu_front": "0.3*mu_front"}, False),
    ]
    events["ice"] |= {"action": ["mu_front"], "direction": "left", "stop": 1}
    with pytest.raises(ModelError) as failed:
        bc.vehicles.Car(**given)
    told = str(failed.value)
    assert 'events.ice.action must be formulas by name, such as { mu = "0.5*mu" }' in told
    assert "events.ice.direction = 'left' is not known; it is one of 'both', 'up', 'down'" in told
    assert "events.ice.stop must be true or false, given 1." in told
