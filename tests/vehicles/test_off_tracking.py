"""Circles of off-tracking: the radius that is asked for is that of the named point."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.vehicles.manoeuvres.footprints import vehicle_footprints

R = 12.5  # m


def radius_of(x, y):
    """Radius of the circle through points, by least squares."""
    rows = np.column_stack([2 * x, 2 * y, np.ones_like(x)])
    a, b, c = np.linalg.lstsq(rows, x**2 + y**2, rcond=None)[0]
    return np.sqrt(c + a**2 + b**2), (a, b)


@pytest.fixture(scope="module")
def circles():
    car = bc.vehicles.Car.read("caravan")
    return car, {
        point: bc.vehicles.manoeuvres.run(car, "off-tracking", radius=R, point=point)
        for point in ("cg", "front-axle", "outer-corner")
    }


def test_mass_centre_on_its_circle(circles):
    """From the exported x and y."""
    run = circles[1]["cg"].run
    assert radius_of(run["x"], run["y"])[0] == pytest.approx(R, rel=1e-4)
    assert circles[1]["cg"]["radius_cg"] == pytest.approx(R, rel=1e-4)


def test_front_axle_and_outer_corner(circles):
    car, results = circles
    assert results["front-axle"]["radius_front"] == pytest.approx(R, rel=1e-4)
    outer = results["outer-corner"]
    assert outer["radius_outer"] == pytest.approx(R, rel=1e-4)
    outline = vehicle_footprints(car.data, car.stand)[0]
    corner = outline.corners(outer.run)[:, 1]
    assert radius_of(*corner.T)[0] == pytest.approx(R, rel=1e-4)
    assert results["cg"]["radius_outer"] > results["front-axle"]["radius_outer"] > R


def test_swept_annulus_holds_all_outlines(circles):
    car, results = circles
    result = results["outer-corner"]
    _, centre = radius_of(result.run["x"], result.run["y"])
    sides = [o.sides(result.run)[-1] - centre for o in vehicle_footprints(car.data, car.stand)]
    distances = np.hypot(*np.concatenate(sides).T)
    assert result["radius_inner"] == pytest.approx(distances.min(), abs=0.02)
    assert result["radius_outer"] == pytest.approx(distances.max(), abs=0.005)
    assert result["swept_width"] == result["radius_outer"] - result["radius_inner"]


def test_unknown_points_are_named():
    with pytest.raises(bc.ModelError, match=r"Did you mean 'front-axle'\?.*cg, front-axle, outer"):
        bc.vehicles.manoeuvres.run("caravan", "off-tracking", point="frontaxle")
