"""Suspension measures against plane geometry, hand formulas and symmetry."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.core.errors import ModelError
from bellcrank.linkage import Linkage
from bellcrank.linkage.load_table import LoadTable
from bellcrank.linkage.measures import (
    Measures,
    constant_measures,
    default_travels,
    draw_measures,
    measure_wheel,
)
from bellcrank.linkage.pose import cross_last_axis
from bellcrank.linkage.suspensions import HardPointData, _with_axle_centre
from tests.linkage.machines import linkage, sheet

EXAMPLE = Path(__file__).parents[2] / "examples" / "suspension.toml"


def plane_wishbone(**vehicle):
    """Arms with axes along x and all points of one wheel in the plane x = 0: the front view is a
    plane four-bar."""
    y_z = {
        "lower_ball": (0.72, 0.18),
        "upper_ball": (0.68, 0.50),
        "lower": (0.35, 0.22),
        "upper": (0.42, 0.46),
    }
    points = {n: [0.0, *y_z[n]] for n in ("lower_ball", "upper_ball")}
    for level in ("lower", "upper"):
        points[f"{level}_front"], points[f"{level}_rear"] = (
            [0.15, *y_z[level]],
            [-0.15, *y_z[level]],
        )
    # a tie rod that repeats the lower arm keeps the motion plane
    points |= {
        "tie_base": [-0.1, *y_z["lower"]],
        "tie_carrier": [-0.1, *y_z["lower_ball"]],
        "wheel_centre": [0, 0.76, 0.3],
    }
    head = {
        "kind": "double_wishbone",
        "name": "plane",
        "units": "m",
        "axes": "ISO 8855",
        "side": "left",
    }
    return Linkage.read({**head, "points": points, "vehicle": {"tyre_radius": 0.3, **vehicle}}), y_z


def meet(a, b, c, d):
    """Where the lines a-b and c-d meet in the plane."""
    a, b, c, d = (np.array(p) for p in (a, b, c, d))
    s = np.linalg.solve(np.stack([b - a, c - d], 1), c - a)[0]
    return a + s * (b - a)


def test_roll_centre_and_camber_change_of_a_plane_wishbone():
    wishbone, p = plane_wishbone()
    centre = meet(p["lower"], p["lower_ball"], p["upper"], p["upper_ball"])
    m = measure_wheel(wishbone, [-1e-4, 0.0, 1e-4])
    height = (
        centre[1] * 0.76 / (0.76 - centre[0])
    )  # the line from the contact point through the instant centre, at y = 0
    assert m["roll_centre_height"][1] == pytest.approx(height, rel=1e-9)
    gain = np.radians(m["camber"][2] - m["camber"][0]) / 2e-4
    assert gain == pytest.approx(-1 / (0.76 - centre[0]), rel=1e-6)
    assert m["toe"] == pytest.approx(0, abs=1e-9)
    at = [m[f"instant_axis_{c}"][1] for c in "yz"]
    assert at == pytest.approx(centre, abs=1e-9)
    assert abs(m["instant_axis_dx"][1]) == pytest.approx(1)


def test_trailing_arm_has_neither_camber_nor_toe_and_the_anti_lift_of_its_pivot():
    m = measure_wheel(linkage("trailing_arm"), [-0.05, 0.0, 0.05])
    for name in ("camber", "toe", "half_track_change"):
        assert m[name] == pytest.approx(0, abs=1e-12)
    assert m["anti_lift_braking"][1] == pytest.approx(
        100 * 0.3 * (0.32 / 0.40) * 2.5 / 0.53, rel=1e-12
    )
    assert m["anti_squat"][1] == pytest.approx(0, abs=1e-12)  # driven at the front alone
    radius = np.hypot(0.4, 0.03)
    assert m["wheelbase_change"][2] == pytest.approx(np.sqrt(radius**2 - 0.02**2) - 0.4, rel=1e-12)
    assert m["roll_centre_height"] == pytest.approx(0, abs=1e-12)


def test_steering_axis_of_the_wishbone_by_hand():
    m = measure_wheel(linkage("double_wishbone"), 0.0)
    lower, upper, wheel = np.array([8, 720, 170]), np.array([-18, 690, 510]), np.array([0, 765, 0])
    k = upper - lower
    ground = lower - k * lower[2] / k[2]
    assert m["caster"][0] == pytest.approx(np.degrees(np.arctan(26 / 340)), rel=1e-9)
    assert m["kingpin_inclination"][0] == pytest.approx(np.degrees(np.arctan(30 / 340)), rel=1e-9)
    assert 1000 * m["scrub_radius"][0] == pytest.approx(wheel[1] - ground[1], rel=1e-9)
    assert 1000 * m["mechanical_trail"][0] == pytest.approx(ground[0] - wheel[0], rel=1e-9)


def test_a_steered_five_link_has_its_virtual_axis():
    """With the balls of the wishbone's arms as ends of rods the virtual axis is the line of the
    balls, up to the wheel's own rise."""
    d = sheet("double_wishbone")
    p = d["points"]
    rods = [
        ("lower_front", "lower_ball"),
        ("lower_rear", "lower_ball"),
        ("upper_front", "upper_ball"),
        ("upper_rear", "upper_ball"),
    ]
    rods.append(("tie_base", "tie_carrier"))
    points = {f"P{i}": p[a] for i, (a, _) in enumerate(rods, 1)} | {
        f"X{i}": p[b] for i, (_, b) in enumerate(rods, 1)
    }
    five = Linkage.read(
        {
            "kind": "five_link",
            "name": "rods",
            "units": "mm",
            "axes": "ISO 8855",
            "side": "left",
            "vehicle": {"tyre_radius": 300},
            "points": points | {"wheel_centre": p["wheel_centre"]},
            "rack": {"points": ["P5"]},
        }
    )
    a, b = measure_wheel(five, 0.02, 0.005), measure_wheel(linkage("double_wishbone"), 0.02, 0.005)
    for name in ("camber", "toe", "half_track_change", "roll_centre_height"):
        assert a[name] == pytest.approx(b[name], abs=1e-9)
    assert a["caster"][0] == pytest.approx(b["caster"][0], abs=0.3)
    assert a["kingpin_inclination"][0] == pytest.approx(b["kingpin_inclination"][0], abs=0.3)
    assert "instant axis of the carrier for rack movement" in a.notes[0]


def test_signs_by_axes_and_side():
    left = linkage("double_wishbone")
    d = sheet("double_wishbone")
    turn = np.diag([1.0, -1.0, -1.0])
    sae = Linkage.read(
        {
            **d,
            "axes": "SAE",
            "points": {n: list(turn @ p) for n, p in d["points"].items()},
            "rack": {"points": ["tie_base"], "axis": [0, -1, 0]},
        }
    )
    a, b = measure_wheel(left, 0.03, 0.01), measure_wheel(sae, 0.03, 0.01)
    c = measure_wheel(left.mirror(), 0.03, -0.01)
    assert a["steer"][0] == pytest.approx(-b["steer"][0]) and a["steer"][0] == pytest.approx(
        -c["steer"][0]
    )
    assert a["wheel_z"][0] == pytest.approx(-b["wheel_z"][0])
    same = (
        "camber",
        "toe",
        "caster",
        "scrub_radius",
        "roll_centre_height",
        "half_track_change",
        "anti_dive",
        "spring_wheel_rate",
    )
    for name in same:
        assert a[name] == pytest.approx(b[name], rel=1e-9), name
        assert a[name] == pytest.approx(c[name], rel=1e-9), name
    # the rack lies behind the axle: to the left it turns the wheels' fronts to the right
    assert a["steer"][0] < -1


def test_wheel_rate_by_energy():
    strut = linkage("macpherson")
    m = measure_wheel(strut, [-1e-3, 0.0, 1e-3])
    length = m["spring_length"]
    assert m["spring_ratio"][1] == pytest.approx((length[0] - length[2]) / 2e-3, rel=1e-6)
    assert m["spring_wheel_rate"][1] == pytest.approx(22000 * m["spring_ratio"][1] ** 2)


def test_axle_in_roll():
    axle = linkage("solid_axle")
    m, p = measure_wheel(axle, [0.0, 0.04], mode="opposite"), measure_wheel(axle, [0.0, 0.04])
    assert m["camber"][1] == pytest.approx(
        -np.degrees(np.arcsin(0.04 / 0.74)), rel=1e-3
    )  # the axle tilts with its wheels
    assert m["roll_centre_height"][0] == pytest.approx(p["roll_centre_height"][0], rel=1e-12)
    low, high = axle.points["upper_left_axle"], axle.points["upper_left_base"]
    upper = low[2] + (high[2] - low[2]) * (0 - low[1]) / (
        high[1] - low[1]
    )  # upper links meet the middle plane here
    assert 0.3 < p["roll_centre_height"][0] < upper + 0.1
    assert m["anti_squat"][0] == pytest.approx(p["anti_squat"][0])


@pytest.mark.campaign
def test_lines_of_the_picture_are_the_measures():
    m = measure_wheel(linkage("double_wishbone"), np.linspace(-0.02, 0.02, 3))
    shown = {axis.get_title(): axis for axis in draw_measures([m]).axes if axis.lines}
    for name, title, factor in (
        ("camber", "camber (deg)", 1.0),
        ("scrub_radius", "scrub radius (mm)", 1000.0),
    ):
        (line,) = shown[title].lines
        assert line.get_xdata() == pytest.approx([-20.0, 0.0, 20.0])
        assert line.get_ydata() == pytest.approx(factor * m[name], rel=1e-14)


def test_an_axle_without_a_wheel_centre_has_it_in_its_middle():
    points = {"wheel_left": (0.1, 0.7, 0.3), "wheel_right": (0.3, -0.5, 0.9)}
    sheet = _with_axle_centre(
        HardPointData("axle", "solid_axle_four_link", "ISO 8855", "left", points)
    )
    assert sheet.points["wheel_centre"] == pytest.approx((0.2, 0.1, 0.6))


@pytest.mark.campaign
def test_command(tmp_path, capsys):
    assert (
        main(
            [
                "kinematics",
                "double_wishbone",
                "--travel=-40:40:5",
                "--mode",
                "all",
                "--csv",
                str(tmp_path / "k.csv"),
                "--plot",
                str(tmp_path / "k.png"),
            ]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert (
        "reachable travel -223.96 to 304.69 mm" in out
        and "opposite motion" in out
        and "anti-dive" in out
    )
    head, units, *rows = (tmp_path / "k_single.csv").read_text().splitlines()
    assert (
        head.split(",")[:3] == ["travel", "rack", "camber"]
        and units.split(",")[2] == "deg"
        and len(rows) == 5
    )
    assert (tmp_path / "k.png").stat().st_size > 10000
    assert main(["kinematics", "double_wishbone", "--rack=-20:20:3", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    steer = figures["modes"]["parallel"]["steer"]
    assert steer[0] > 5 and steer[2] < -5 and steer[1] == pytest.approx(0, abs=1e-9)
    assert (
        main(
            [
                "kinematics",
                "trailing_arm",
                "--travel=-50:50",
                "--table",
                str(tmp_path / "t.json"),
                "--columns",
                "camber,toe",
            ]
        )
        == 0
    )
    assert main(["kinematics", "trailing_arm", "--travel=0:600"]) == 1
    assert "cannot be reached" in capsys.readouterr().err
    assert main(["kinematics", "trailing_arm", "--columns", "cambr"]) == 1
    assert "Did you mean 'camber'?" in capsys.readouterr().err
    assert main(["kinematics", str(EXAMPLE), "--travel=-20:20:3", "--columns", "camber"]) == 0
    assert "front strut: macpherson" in capsys.readouterr().out
    assert main(["kinematics", str(tmp_path / "none.toml")]) == 1
    (tmp_path / "bad.toml").write_text("kind = five")
    assert main(["kinematics", str(tmp_path / "bad.toml")]) == 1
    assert "is not a TOML file" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["kinematics", "trailing_arm", "--travel=40:-40"])
    with pytest.raises(ModelError, match="mode='sideways'"):
        measure_wheel(linkage("trailing_arm"), 0.0, mode="sideways")


def test_usual_sweep_is_round_and_has_zero():
    """Up and down by 100 mm, less where the file or the linkage ends before."""
    assert default_travels(bc.vehicles.Car.read("passenger").linkage("front")) == pytest.approx(
        np.arange(-10, 11) / 100
    )
    assert default_travels(linkage("double_wishbone")) == pytest.approx(
        np.arange(-8, 9) / 100
    )  # of its file
    pushrod = Linkage.read("formula_student")
    found = default_travels(pushrod)
    low, high = pushrod.range()
    assert low < found[0] < found[-1] < high and 0.0 in found and len(found) > 15


def test_a_span_may_begin_with_a_minus(capsys):
    for given in (["--travel", "-40:40:3"], ["--travel=-40:40:3"]):
        assert main(["kinematics", "trailing_arm", *given, "--columns", "travel", "--json"]) == 0
        columns = json.loads(capsys.readouterr().out)["modes"]["parallel"]
        assert columns["travel"] == pytest.approx([-0.04, 0.0, 0.04])


@pytest.mark.campaign
def test_one_name_for_a_measure(capsys):
    """In tables, plots and reports: the beginning of its label, which no other measure has."""
    car = bc.vehicles.Car.read("passenger")
    for axle in ("front", "rear"):
        m = car.kinematics(axle, default_travels(car.linkage(axle)), mode="opposite")
        titles = [m.title(name) for name in m if not name.startswith("instant_axis")]
        assert len(set(titles)) == len(titles)
        panels = [
            axis.get_title().partition(" (")[0]
            for axis in draw_measures([m]).axes
            if axis.get_title()
        ]
        assert {*panels} < {*titles} and "track change" in panels and len(panels) > 10
        assert (
            main(
                [
                    "kinematics",
                    "passenger",
                    "--axle",
                    axle,
                    "--mode",
                    "opposite",
                    "--travel",
                    "-20:20:3",
                ]
            )
            == 0
        )
        table = capsys.readouterr().out
        assert [p for p in panels if f"  {p}" not in table] == []


def test_pictures_of_measures_and_loads():
    """Lengths in mm over mm of travel, three to a row; forces of parts in kN, a panel for each
    case, two to a row."""
    sets = []
    for mode, sign in (("bump", 1.0), ("roll", -1.0)):
        m = Measures("axle", mode)
        m.add("travel", np.array([-0.01, 0.02]), "m", "")
        for name, values, unit in (
            ("camber", [1.0, 2.0], "deg"),
            ("scrub_radius", 0.03, "m"),
            ("toe", [np.nan, 1.0], "deg"),
            ("caster", [5.0, 6.0], "deg"),
            ("anti_dive", [7.0, 8.0], "%"),
        ):
            m.add(name, sign * np.array(values), unit, "")
        sets.append(m)
    figure = draw_measures(sets)
    *shown, fifth, sixth = figure.axes
    titles = [
        "camber (deg)",
        "caster (deg)",
        "scrub radius (mm)",
        "anti dive (%)",
    ]  # toe has no numbers everywhere
    assert [a.get_title() for a in shown] == titles
    assert [[*line.get_ydata()] for line in shown[2].lines] == [[30, 30], [-30, -30]]
    assert [[*line.get_ydata()] for line in shown[0].lines] == [[1, 2], [-1, -2]]
    assert all([*line.get_xdata()] == [-10, 20] for a in shown for line in a.lines)
    assert [a.get_xlabel() for a in shown] == ["", "travel (mm)", "travel (mm)", "travel (mm)"]
    assert not fifth.axison and not sixth.axison
    assert [t.get_text() for t in shown[0].get_legend().get_texts()] == ["bump", "roll"]
    alone = draw_measures(sets[:1])
    assert alone.axes[0].get_legend() is None
    assert "the same everywhere: scrub radius 30 mm" in [t.get_text() for t in alone.texts]

    def case(name, *sizes):
        parts = {f"rod_{i}": SimpleNamespace(magnitude=x) for i, x in enumerate(sizes)}
        return SimpleNamespace(name=name, link_forces=SimpleNamespace(parts=parts))

    table = LoadTable(
        "axle",
        [case("braking", 2500.0, -800.0), case("turning", 10.0, 20.0), case("bump", 1.0, 2.0)],
    )
    axes = table.draw().axes
    assert [[b.get_width() for b in a.patches] for a in axes[:3]] == [
        [2.5, -0.8],
        [0.01, 0.02],
        [0.001, 0.002],
    ]
    assert [[b.get_y() + b.get_height() / 2 for b in a.patches] for a in axes[:1]] == [
        pytest.approx([0, 1])
    ]
    assert [t.get_text() for t in axes[0].get_yticklabels()] == ["rod_0", "rod_1"]
    assert [a.get_title() for a in axes] == ["braking", "turning", "bump", ""] and not axes[
        3
    ].axison
    assert [a.get_xlabel() for a in axes] == ["", "", "force (kN)", "force (kN)"]


def test_vector_products_of_poses():
    a, b = np.random.default_rng(0).normal(size=(2, 4, 3))
    assert cross_last_axis(a, b) == pytest.approx(np.cross(a, b)) and cross_last_axis(
        a, b[0]
    ) == pytest.approx(np.cross(a, b[0]))


def test_rounding_is_no_measure():
    """The wheels of a rigid axle keep toe and camber; 1e-15 rad is no curve."""
    rear = bc.vehicles.Car.read("van").kinematics("rear", np.linspace(-0.1, 0.1, 5))
    found = constant_measures([rear], ["camber", "toe", "wheelbase_change"])
    assert found == {"camber": "camber 0 deg", "toe": "toe 0 deg"}
