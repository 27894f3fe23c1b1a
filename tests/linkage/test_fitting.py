"""Hard points fitted to target curves, against Newton's method on rod lengths and another
optimiser."""

import json
import tomllib
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

import bellcrank as bc
from bellcrank.cli.main import main
from bellcrank.core.errors import ModelError
from bellcrank.linkage import Linkage, shipped
from bellcrank.linkage.hard_point_fitting import PointCoordinate, TargetCurve, fit_curves
from bellcrank.linkage.measures import measure_wheel
from bellcrank.linkage.variants import STEP, VariantFamily
from bellcrank.vehicles.cars.metrics.fit_targets import FitTargetFile, fit_hard_points
from tests.models import rarely

TRAVEL = np.linspace(-0.08, 0.08, 17)
OWN = {  # a MacPherson strut of a small front-wheel-drive car, drawn for this test
    "kind": "macpherson", "units": "mm", "axes": "ISO 8855", "side": "left",
    "points": {
        "lower_front": [20, 335, -70], "lower_rear": [-270, 350, -62], "lower_ball": [6, 690, -96],
        "strut_lower": [-8, 585, 110], "strut_top": [-34, 548, 590], "tie_base": [-150, 310, 12],
        "tie_carrier": [-128, 672, -20], "wheel_centre": [0, 735, 0],
    },
    "rack": True,
}  # fmt: skip


def toe(tolerance=0.01, **more):
    return TargetCurve("bump", "toe", TRAVEL, 0 * TRAVEL, 0 * TRAVEL, True, tolerance, **more)


def box(*points, size=0.04, axes=(0, 1, 2)):
    return [PointCoordinate(p, k, -size, size) for p in points for k in axes]


# ---- variants of a linkage


@pytest.mark.parametrize("name", rarely(shipped(), {*shipped()} - {"five_link", "macpherson"}))
def test_redrawn_linkages_measure_as_new_ones_do(name):
    linkage, mode = Linkage.read(name), "opposite"
    z = np.linspace(-0.04, 0.05, 5)
    rack = np.linspace(-0.01, 0.02, 5) if "rack" in linkage.inputs else 0.0
    draw = np.random.default_rng(5)
    places = {
        p: tuple(np.array(at) + 2e-3 * draw.normal(size=3)) for p, at in linkage.points.items()
    }
    drawings = VariantFamily(linkage)
    near = drawings.variant(places)
    found, wanted = (
        measure_wheel(x, z, rack, mode) for x in (near, Linkage(linkage.chain.moved(places)))
    )
    for column in wanted:
        np.testing.assert_allclose(
            found[column], wanted[column], rtol=1e-10, atol=1e-11, err_msg=column
        )

    for point in list(places)[::5]:
        axis = int(draw.integers(3))

        def moved(step, point=point, axis=axis):
            at = list(places[point])
            at[axis] += step
            return {**places, point: tuple(at)}

        h = 1e-6
        above, below = (measure_wheel(drawings.variant(moved(s)), z, rack, mode) for s in (h, -h))
        lanes = {p: tuple(np.full(5, complex(x)) for x in at) for p, at in moved(1j * STEP).items()}
        slopes = measure_wheel(near.complex_variant(lanes), z, rack, mode)
        for column in set(found) - {"travel", "rack"}:
            if np.isfinite(found[column]).all():
                difference = (above[column] - below[column]) / (2 * h)
                scale = 1.0 + np.abs(difference).max() + np.abs(found[column]).max()
                exact = np.imag(slopes[column]) / STEP
                np.testing.assert_allclose(
                    exact / scale, difference / scale, atol=1e-6, err_msg=f"{point} {column}"
                )


def test_axes_through_hard_points_follow_them():
    chain = Linkage.read("double_wishbone").chain
    moved = chain.moved({"lower_front": (0.2, 0.3, 0.1)})
    axis = np.array(next(j.axis for j in moved.joints if j.name == "lower_pivot"))
    np.testing.assert_allclose(
        axis, np.subtract(moved.place("lower_rear"), moved.place("lower_front"))
    )
    other = chain.mirrored().moved({"lower_front": (0.2, -0.3, 0.1)})
    turned = np.array(next(j.axis for j in other.joints if j.name == "lower_pivot"))
    np.testing.assert_allclose(turned, axis * [-1, 1, -1], atol=1e-15)


# ---- bump steer


@pytest.mark.parametrize(
    ("source", "points"),
    [
        ("double_wishbone", ("tie_base", "tie_carrier")),
        pytest.param("macpherson", ("tie_base", "tie_carrier"), marks=pytest.mark.campaign),
        pytest.param("five_link", ("P5", "X5", "P4"), marks=pytest.mark.campaign),
        pytest.param(OWN, ("tie_base", "tie_carrier"), marks=pytest.mark.campaign),
    ],
)
def test_bump_steer_vanishes_with_at_most_three_hard_points(source, points):
    linkage = Linkage.read(source)
    found = fit_curves(linkage, box(*points), [toe()])
    assert found.max_deviation("bump", before=True) > 0.3
    assert found.max_deviation("bump") < 0.02
    fresh = measure_wheel(load_moved(linkage, found), np.linspace(-0.08, 0.08, 65))["toe"]
    assert (
        np.abs(fresh - measure_wheel(linkage, 0.0)["toe"]).max() < 0.02
    )  # also between the samples
    assert (np.abs(found.moves) <= 0.04 + 1e-12).all()


def load_moved(linkage, found):
    """The linkage made anew from the hard points that were found."""
    return Linkage(linkage.chain.moved(found.moved_points))


# ---- five curves at once


def test_five_link_meets_five_curves_of_another():
    """Curves of a five-link whose points were moved are met by moving them, from the drawn ones."""
    linkage = Linkage.read("five_link")
    vehicle = {**linkage.chain.vehicle, "wheelbase": 2.8, "cg_height": 0.55, "brake_front": 0.6}
    linkage = Linkage(replace(linkage.chain, vehicle=vehicle))
    draw = np.random.default_rng(11)
    names = ("P1", "P2", "P3", "P4", "P5")
    places = {n: tuple(np.array(linkage.points[n]) + draw.uniform(-0.012, 0.012, 3)) for n in names}
    aim = measure_wheel(Linkage(linkage.chain.moved(places)), TRAVEL)
    tolerances = {
        "toe": 0.02,
        "camber": 0.05,
        "roll_centre_height": 0.002,
        "anti_lift_braking": 1.0,
        "wheelbase_change": 0.0005,
    }
    curves = [
        TargetCurve(n, n, TRAVEL, 0 * TRAVEL, aim[n], False, t) for n, t in tolerances.items()
    ]
    found = fit_curves(linkage, box(*names, size=0.02), curves)
    assert all(found.max_deviation(c, before=True) > t for c, t in tolerances.items())
    assert found.meets_targets, found.notes


# ---- an independent solver and optimiser


def rods(points, pairs, travels):
    """Rotations of a carrier on five rods at heights of its wheel centre: Newton's method on the
    lengths of the rods."""
    base, outer = (np.array([points[p[i]] for p in pairs]) for i in (0, 1))
    centre = np.array(points["wheel_centre"])
    lengths = np.linalg.norm(base - outer, axis=1)
    found = {}
    for sense in (1, -1):
        x = np.zeros(5)  # x, y of the wheel centre, rotation vector
        for z in sorted((t for t in travels if sense * t >= 0), key=abs):
            for _ in range(30):
                residual = gaps(x, z, base, outer, centre, lengths)
                J = np.array(
                    [
                        (gaps(x + h, z, base, outer, centre, lengths) - residual) / 1e-7
                        for h in 1e-7 * np.eye(5)
                    ]
                )
                step = np.linalg.solve(J.T, -residual)
                x = x + step
                if np.abs(step).max() < 1e-13:
                    break
            found[z] = rotation(x[2:])
    return np.array([found[z] for z in travels])


def gaps(x, z, base, outer, centre, lengths):
    at = centre + [x[0], x[1], z] + (outer - centre) @ rotation(x[2:]).T
    return np.linalg.norm(at - base, axis=1) - lengths


def rotation(v):
    angle = np.linalg.norm(v)
    K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    if angle < 1e-12:
        return np.eye(3) + K
    return np.eye(3) + np.sin(angle) / angle * K + (1 - np.cos(angle)) / angle**2 * K @ K


@pytest.mark.parametrize(
    ("name", "pairs", "moves"),
    [
        ("five_link", [(f"P{i}", f"X{i}") for i in range(1, 6)], [("P5", 1), ("P5", 2)]),
        pytest.param(
            "double_wishbone",
            [
                ("lower_front", "lower_ball"),
                ("lower_rear", "lower_ball"),
                ("upper_front", "upper_ball"),
                ("upper_rear", "upper_ball"),
                ("tie_base", "tie_carrier"),
            ],
            [("tie_base", 1), ("tie_base", 2)],
            marks=pytest.mark.campaign,
        ),
    ],
)
def test_points_are_those_of_another_optimiser_on_another_solver(name, pairs, moves):
    """Nelder-Mead on rods by Newton's method with difference quotients, which share nothing with
    the fit."""
    linkage = Linkage.read(name)
    travels = np.linspace(-0.06, 0.06, 7)
    coordinates = [PointCoordinate(p, k, -0.05, 0.05) for p, k in moves]
    curves = [
        TargetCurve("toe", "toe", travels, 0 * travels, 0 * travels, True, 0.02),
        TargetCurve("camber", "camber", travels, 0 * travels, -20 * travels, True, 2.0, weight=2.0),
    ]
    found = fit_curves(linkage, coordinates, curves, move_weight=0.05)

    toe_in, camber = (np.radians(linkage.chain.vehicle.get(k, 0.0)) for k in ("toe", "camber"))
    static = (
        rotation(np.array([0, 0, -toe_in])) @ rotation(np.array([-camber, 0, 0])) @ [0.0, 1.0, 0.0]
    )

    def cost(x):
        points = {n: np.array(p) for n, p in linkage.points.items()}
        for (p, k), move in zip(moves, x, strict=True):
            points[p][k] += move
        axes = rods(points, pairs, travels) @ static
        toes, cambers = (
            np.degrees(np.arctan2(axes[:, 0], axes[:, 1])),
            np.degrees(-np.arcsin(axes[:, 2])),
        )
        parts = ((toes - toes[3]) / 0.02, 2.0 * (cambers - cambers[3] + 20 * travels) / 2.0)
        return sum(np.mean(r**2) for r in parts) + sum((0.05 * x / 0.05) ** 2)

    other = minimize(
        cost,
        [0.0, 0.0],
        method="Nelder-Mead",
        options={
            "xatol": 1e-8,
            "fatol": 1e-12,
            "maxiter": 400,
            "initial_simplex": [[0, 0], [0.01, 0], [0, 0.01]],
        },
    )
    np.testing.assert_allclose(found.moves, other.x, atol=2e-6)
    assert cost(found.moves) <= other.fun + 1e-9


# ---- files, cars, command

TARGETS = {
    "units": ["mm", "deg"],
    "points": {"tie_base": {"y": [-30, 30], "z": [-30, 30]}},
    "curves": {
        "bump steer": {"metric": "toe", "travel": [-60, 60], "change": 0, "tolerance": 0.15}
    },
}


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("axes", "side"), [("SAE", "left"), ("ISO 8855", "right"), ("ADAMS", "right")]
)
def test_cars_return_with_the_points_that_were_found(axes, side):
    """Hard points drawn in other axes and on the other side are written back as they were drawn."""
    car = bc.vehicles.Car.read("passenger")
    x, y, z = {"ISO 8855": (1, 1, 1), "SAE": (1, -1, -1), "ADAMS": (-1, -1, 1)}[axes]
    drawn = Linkage.read("double_wishbone")
    flip = -y if side == "right" else y
    points = {n: [x * p[0], flip * p[1], z * p[2]] for n, p in drawn.points.items()}
    given = {
        "kind": "double_wishbone",
        "units": "m",
        "axes": axes,
        "side": side,
        "points": points,
        "rack": True,
        "attach": {"spring_arm": "lower_arm"},
        "struts": {"spring": ["spring_base", "spring_arm"]},
        "shipped": None,
    }
    same = {"carrier": {"cg": None}, "links": None}
    car = car.changed(front={"suspension": given, **same})
    new = car.fit(TARGETS, axle="front")
    assert new.fitted.meets_targets
    for name, at in new.fitted.moved_points.items():
        np.testing.assert_allclose(new.linkage("front").points[name], at, atol=1e-12)
    toes = new.kinematics("front", np.linspace(-0.06, 0.06, 9))["toe"]
    assert np.abs(toes - toes[4]).max() == pytest.approx(
        new.fitted.max_deviation("bump steer"), rel=0.05
    )
    assert car.fitted is None


def test_solid_axles_move_both_sides():
    axle = Linkage.read("solid_axle")
    asked = {
        "units": ["mm", "deg"],
        "points": {"upper_left_axle": {"y": [-50, 50], "z": [-50, 50]}},
        "curves": {
            "roll_centre_height": {"travel": [-20, 20], "samples": 3, "value": 400, "tolerance": 50}
        },
    }
    found = fit_hard_points(axle, FitTargetFile.read(asked))
    left, right = (np.array(found.moved_points[f"upper_{s}_axle"]) for s in ("left", "right"))
    np.testing.assert_allclose(left, right * [1, -1, 1], atol=1e-12)
    assert found.max_deviation("roll_centre_height") < found.max_deviation(
        "roll_centre_height", before=True
    )


def test_tables_of_targets_and_steering_curves():
    linkage = Linkage.read("double_wishbone")
    asked = {
        "units": ["mm", "deg"],
        "points": {"tie_carrier": {"x": [-10, 10], "y": [-40, 40]}, "tie_base": {"z": [-20, 20]}},
        "curves": {
            "ackermann_error": {"rack": [-40, 40], "value": 0, "tolerance": 2},
            "toe": {"table": [[-40, 0.1], [0, 0], [40, -0.1]], "tolerance": 0.05},
        },
    }
    found = fit_hard_points(linkage, FitTargetFile.read(asked))
    for name in ("ackermann_error", "toe"):
        assert found.max_deviation(name) < found.max_deviation(name, before=True)
    steered = measure_wheel(found.linkage, 0.0, np.array([0.03]))["steer"][0]
    other = measure_wheel(found.linkage, 0.0, np.array([-0.03]))["steer"][0]
    v = linkage.chain.vehicle
    track = 2 * linkage.points["wheel_centre"][1]
    ideal = np.degrees(np.arctan(1 / (1 / np.tan(np.radians(steered)) + track / v["wheelbase"])))
    error = measure_wheel(found.linkage, 0.0, np.array([0.03]))["ackermann_error"][0]
    assert -other - ideal == pytest.approx(
        error, abs=0.02
    )  # the wheel as drawn stands straight but for its toe


def test_limits_are_kept_and_reported():
    found = fit_curves(Linkage.read("double_wishbone"), box("tie_base", size=0.002), [toe()])
    assert not found.meets_targets
    assert np.abs(found.moves).max() <= 0.002
    assert "tie_base.x, tie_base.y" in found.notes[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"points": {"tie_bse": {"z": [-1, 1]}}}, "Did you mean 'tie_base'"),
        ({"points": {"tie_base": {"z": [5, 10]}}}, "lowest and highest move about 0"),
        ({"points": {"tie_base": {}}}, "no coordinate may move"),
        ({"curves": {"teo": {"travel": [-1, 1], "value": 0}}}, "no metric 'teo'"),
        ({"curves": {"toe": {"travel": [-1, 1]}}}, "give table, or value or change"),
        ({"curves": {"toe": {"value": 0}}}, "give one of travel, rack and table"),
        ({"curves": {"toe": {"travel": [1, -1], "value": 0}}}, "lowest and highest"),
        ({"curves": {"toe": {"travel": [-1, 1], "value": "1 mm"}}}, "unit such as deg"),
        ({"curves": {}}, "there is no target"),
        ({"units": ["deg"]}, "its unit is not stated"),
        ({"weights": 1}, "'weights' is not known"),
    ],
)
def test_wrong_targets_are_reported(change, words):
    with pytest.raises(ModelError, match=words.replace("(", r"\(")):
        fit_hard_points(Linkage.read("double_wishbone"), FitTargetFile.read({**TARGETS, **change}))


@pytest.mark.campaign
def test_command_prints_moves_curves_and_sensitivities(tmp_path, capsys):
    targets = tmp_path / "targets.toml"
    targets.write_text(
        'units = ["mm", "deg"]\naxle = "front"\n[points.tie_base]\ny = [-30, 30]\nz = [-30, 30]\n'
        "[curves.toe]\ntravel = [-60, 60]\nchange = 0\ntolerance = 0.15\n"
    )
    new, csv, plot = (tmp_path / n for n in ("new.toml", "curves.csv", "curves.png"))
    files = ["--write", str(new), "--csv", str(csv), "--plot", str(plot)]
    assert main(["kinematics", "passenger", "--fit", str(targets), *files]) == 0
    out = capsys.readouterr().out
    assert "all targets are met" in out and "tie_base" in out and "root mean square" in out
    assert plot.stat().st_size > 5000
    assert len(csv.read_text().splitlines()) == 2 + 17
    assert main(["kinematics", "passenger", "--fit", str(targets), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    car = bc.vehicles.Car.read("passenger")
    changed = car.changed(**tomllib.loads(new.read_text()))
    np.testing.assert_allclose(
        changed.linkage("front").points["tie_base"], data["points"]["tie_base"], atol=1e-12
    )
    assert main(["kinematics", "double_wishbone", "--fit", str(targets)]) == 0
    assert main(["kinematics", "passenger", "--axle", "rear", "--fit", str(targets)]) != 0
    assert "no hard point" in capsys.readouterr().err
