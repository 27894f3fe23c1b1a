"""What K&C rigs measure: compliance under loads at the wheels, and tables of rigs and of Adams/Car
next to a car."""

import json
import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.linkage.elastokinematics import bush_mounts, make_bush
from bellcrank.linkage.wheel_motion import linkage_wheel_motion
from bellcrank.vehicles.cars.metrics.kc_compliance import LOADS, PHASES, RESPONSES
from bellcrank.vehicles.cars.metrics.kinematics_comparison import match_measure
from tests.vehicles.test_car_bushes import FRONT, REAR

STIFF = 1e9, 1e10  # N/m, of joints as bushes


@pytest.fixture(scope="module")
def car():
    return bc.vehicles.Car.read("passenger")


@pytest.fixture(scope="module")
def soft(car):
    return car.changed(
        front={"compliance": None, "bushes": FRONT}, rear={"compliance": None, "bushes": REAR}
    )


# ---- compliance


@pytest.mark.parametrize("which", ["car", pytest.param("soft", marks=pytest.mark.campaign)])
def test_loads_in_phase_are_those_of_the_coefficients(which, request):
    """Compliance of the file or of bushes, with the column of the steering, next to the
    coefficients of kinematics."""
    car, z = request.getfixturevalue(which), [-0.03, 0.0, 0.03]
    for axle in ("front", "rear"):
        m, found = car.kinematics(axle, z), car.compliance(axle, z)
        for name, other, sign in (
            ("lateral_in_phase_steer", "lateral_force_steer", 1),
            ("aligning_in_phase_steer", "aligning_steer", 1),
            ("lateral_in_phase_camber", "camber_compliance", -1),
            ("traction_in_phase_toe", "driving_toe", 1),
            ("braking_in_phase_toe", "braking_toe", 1),
        ):
            expected = sign * m[other]
            if which == "soft" and name.startswith(
                "braking"
            ):  # a cambered wheel touches next to its centre
                expected = expected - 10 * offset_of(car, axle, z) * found["aligning_opposed_steer"]
            assert found[name] == pytest.approx(expected, rel=1e-9, abs=1e-15), name
            assert found.units[name] == m.units[other]
        assert found["lateral_opposed_toe"] == pytest.approx(
            -found["lateral_opposed_steer"], rel=1e-12
        )
        if which == "soft":
            assert len(found.columns) > len(LOADS) * len(PHASES) * len(RESPONSES)
            assert found["lateral_opposed_lateral"] == pytest.approx(
                m["lateral_compliance"], rel=1e-9
            )
        if axle == "rear":  # no rack: each wheel is alone
            for load in LOADS:
                assert found[f"{load}_in_phase_toe"] == pytest.approx(
                    found[f"{load}_opposed_toe"], rel=1e-12
                )


def offset_of(car, axle, travel):
    """How far the contact lies to the left of the wheel centre, m."""
    wheel = linkage_wheel_motion(car.linkage(axle), travel)
    return wheel.contact[:, 1] - wheel.centre[:, 1]


def test_the_rack_moves_where_pushes_of_both_wheels_add(car):
    """By virtual work with finite differences of the linkage: what opposed longitudinal forces do
    is the column alone."""
    found, linkage, h = car.compliance("front"), car.linkage("front"), 1e-6
    ahead, back = (linkage.solve(0.0, x) for x in (h, -h))
    moved = (ahead.position - back.position) / (2 * h)
    steer = (ahead.rotation @ back.rotation.T)[1, 0] / (2 * h)  # rad/m
    s = car.data.sections.steering
    k = (1 + s.assist) * s.stiffness / (s.rack_per_turn / 2 / math.pi) ** 2  # N/m at the rack
    by_rack = 1000 * math.degrees(2 * moved[0] / k * steer)  # traction at the wheel centre, deg/kN
    difference = found["traction_opposed_steer"][0] - found["traction_in_phase_steer"][0]
    assert abs(by_rack) > 1e-4 and difference == pytest.approx(by_rack, rel=1e-5)
    turned = 100 * math.degrees(2 * steer**2 / k)
    assert found["aligning_in_phase_steer"][0] - found["aligning_opposed_steer"][
        0
    ] == pytest.approx(turned, rel=1e-5)


@pytest.mark.campaign
def test_finite_loads_on_bushes(soft):
    """Every link of the front axle a body on bushes that are as stiff as joints where it has none:
    finite loads at the wheel, as rigs apply them, move it by what the table says. Joints of
    stiffness k give by c/k, which is 0.5 % of the aligning torque's at 5e9 N/m; two of them say
    what is left of that."""
    from tests.linkage.test_elastic import model_of

    axle, found = soft.data.axle("front"), soft.compliance("front")
    linkage, pose = axle.linkage, axle.linkage.solve(0.0, 0.0)
    chain = linkage.chain
    spring = (axle.spring, axle.record.spring.stiffness)
    sims = []
    for k in STIFF:
        rigid = {
            p: make_bush(chain, p, (k, k, k), (30, 30, 30))
            for p in bush_mounts(chain)
            if p not in axle.bushes
        }
        sims.append(
            model_of(linkage, pose, {**axle.bushes, **rigid}, spring)
            .equations()
            .compile(speed="quick")
        )
    wheel = linkage_wheel_motion(soft.linkage("front"), 0.0, 0.0)
    arm = (wheel.contact - wheel.centre)[0]
    loads = {
        "lateral": (np.array([0, 1.0, 0]), np.cross(arm, [0, 1.0, 0]), 1000),
        "aligning": (np.zeros(3), np.array([0, 0, 1.0]), 100),
        "braking": (np.array([-1.0, 0, 0]), np.cross(arm, [-1.0, 0, 0]), 1000),
    }
    for load, (force, moment, unit) in loads.items():
        alone = "opposed" if load != "braking" else "in_phase"  # the rack is held
        table = np.array(
            [found[f"{load}_{alone}_{x}"][0] for x in ("steer", "camber", "longitudinal")]
        ) * [1, -1, 1]
        for size in (0.1, 3.0):  # of the unit of the table, as rigs apply
            w = size * unit * np.concatenate([force, moment])
            soft_joints, stiff_joints = (moved(sim, w) / size for sim in sims)
            by_model = stiff_joints + (stiff_joints - soft_joints) / (STIFF[1] / STIFF[0] - 1)
            assert np.abs(by_model - table).max() < 1e-3 * np.abs(table).max(), (load, size)


def moved(sim, w):
    """Steer, camber (deg) and way ahead (mm) by a force and a moment at the wheel: half of what
    both signs make."""
    ends = []
    for sign in (1, -1):
        given = {
            f"{x}{i}": float(sign * w[3 * k + i - 1]) for k, x in enumerate("fm") for i in (1, 2, 3)
        }
        at = sim.equilibrium(parameters=given)
        ends.append(
            [
                math.degrees(at["q(carrier, 4)"]),
                math.degrees(at["q(carrier, 6)"]),
                1000 * at["q(carrier, 1)"],
            ]
        )
    return (np.array(ends[0]) - ends[1]) / 2


def test_compliance_on_the_command_line(tmp_path, capsys):
    assert (
        main(
            [
                "kinematics",
                "passenger",
                "--axle",
                "front",
                "--compliance",
                "--csv",
                str(tmp_path / "c.csv"),
            ]
        )
        == 0
    )
    shown = capsys.readouterr().out
    assert (
        "lateral force, in phase" in shown
        and "aligning torque, opposed" in shown
        and "100 N m" in shown
    )
    head = (tmp_path / "c.csv").read_text().splitlines()
    assert head[0].startswith("travel,rack,lateral_in_phase_steer") and "deg/100 N-m" in head[1]
    assert main(["kinematics", "double_wishbone", "--compliance"]) == 1
    assert main(["kinematics", "passenger", "--axle", "front", "--compliance-load", "2"]) == 1
    assert main(["kinematics", "passenger", "--compliance", "--measured", "x.csv"]) == 1


# ---- measured tables


def rig_table(m, path, toe=0.0):
    """As a rig writes it: mm and deg in brackets, a wheel on either side, forces that are no
    measure."""
    lines = [
        "Wheel Travel Left;Toe Angle Left;Camber Angle Left;Toe Angle Right;Damper Temperature",
        "[mm];[deg];[rad];[deg];[degC]",
    ]
    rows = zip(
        1000 * m["travel"],
        m["toe"] + toe,
        np.radians(m["camber"]),
        -m["toe"],
        20 + 0 * m["toe"],
        strict=True,
    )
    path.write_text("\n".join([*lines, *(";".join(f"{x:.9g}" for x in row) for row in rows)]))


@pytest.mark.campaign
def test_a_table_of_a_rig(car, tmp_path, capsys):
    m = car.kinematics("front", np.linspace(-0.06, 0.06, 25))
    rig_table(m, tmp_path / "rig.csv", toe=0.1)
    found = car.compare_kinematics("front", tmp_path / "rig.csv")
    assert set(found.errors) == {"toe", "camber"} and found.against == "travel"
    assert found.unused == ("Toe Angle Right", "Damper Temperature")
    assert found["camber"].rms < 1e-6 and found["camber"].r2 > 0.999999
    toe = found["toe"]
    assert toe.rms == pytest.approx(0.1, rel=1e-6) and toe.peak == pytest.approx(0.1, rel=1e-6)
    assert toe.at_zero == pytest.approx(-0.1, rel=1e-5) and toe.slope_measured == pytest.approx(
        toe.slope_simulated, rel=1e-5
    )
    near = np.abs(m["travel"]) <= 0.25 * 0.06
    assert toe.slope_simulated == pytest.approx(
        np.polyfit(m["travel"][near], m["toe"][near], 1)[0], rel=1e-9
    )
    words = ["kinematics", "passenger", "--axle", "front", "--measured", str(tmp_path / "rig.csv")]
    assert main([*words, "--plot", str(tmp_path / "k.svg"), "--csv", str(tmp_path / "k.csv")]) == 0
    assert "RMS error" in capsys.readouterr().out and (tmp_path / "k.svg").exists()
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["errors"]["toe"]["rms"] == pytest.approx(
        0.1, rel=1e-6
    )
    assert main(["kinematics", "passenger", "--measured", str(tmp_path / "rig.csv")]) == 1
    assert "give --axle front or rear" in capsys.readouterr().err


def test_a_table_of_channels_for_other_names(car, tmp_path):
    m = car.kinematics("rear", np.linspace(-0.05, 0.05, 11))
    rows = "\n".join(f"{z},{-t}" for z, t in zip(m["travel"], np.radians(m["toe"]), strict=True))
    (tmp_path / "own.csv").write_text(f"sz,delta\n{rows}\n")
    table = {
        "channels": {
            "travel": {"column": "sz", "unit": "m"},
            "toe": {"column": "delta", "unit": "rad", "scale": -1},
        }
    }
    assert car.compare_kinematics("rear", tmp_path / "own.csv", table)["toe"].peak < 1e-9
    with pytest.raises(bc.RunError, match="no column of travel or rack"):
        car.compare_kinematics("rear", tmp_path / "own.csv")
    with pytest.raises(bc.RunError, match="'tow' is no measure"):
        car.compare_kinematics("rear", tmp_path / "own.csv", {"channels": {"tow": "delta"}})


@pytest.mark.parametrize(
    "column, name",
    [
        ("wheel_travel.vertical_left", "travel"),
        ("toe_angle.toe_left", "toe"),
        ("camber_angle.left", "camber"),
        ("Toe [deg]", "toe"),
        ("caster_angle.left", "caster"),
        ("kingpin_incl_angle.left", "kingpin_inclination"),
        ("Roll Center Height (mm)", "roll_centre_height"),
        ("Camber FL", "camber"),
        ("toe_angle.right", None),
        ("Toe RH", None),
        ("Time", None),
        ("", None),
    ],
)
def test_names_of_columns(column, name):
    known = dict.fromkeys(
        ("travel", "toe", "camber", "caster", "kingpin_inclination", "roll_centre_height"), ""
    )
    assert match_measure(column, known) == name
