"""Every measure of a double wishbone against points found by another way: balls on circles, the
carrier as a triangle of lengths."""

import numpy as np
import pytest

from bellcrank.linkage import Linkage
from bellcrank.linkage.measures import measure_wheel
from tests.late import Late
from tests.linkage.machines import sheet
from tests.models import rarely

optimize = Late("scipy.optimize")

H = 1e-5  # m


class Points:
    """A left wheel in m, ISO axes; lengths and circles from the file alone."""

    def __init__(self, data):
        self.p = {n: np.array(x, float) / 1000 for n, x in data["points"].items()}
        self.radius = data["vehicle"]["tyre_radius"] / 1000
        balls = [self.p[n] for n in ("lower_ball", "upper_ball", "tie_carrier")]
        self.sides = [np.linalg.norm(balls[i] - balls[j]) for i, j in ((0, 1), (1, 2), (2, 0))]
        self.rod = np.linalg.norm(self.p["tie_carrier"] - self.p["tie_base"])
        base = self.frame(*balls)
        self.centre = base.T @ (self.p["wheel_centre"] - balls[0])
        self.axle = base.T @ np.array([0.0, 1.0, 0.0])
        self.guess = np.array([0.0, 0.0, *self.p["tie_carrier"]])

    @staticmethod
    def frame(a, b, c):
        x = (b - a) / np.linalg.norm(b - a)
        z = np.cross(x, c - a)
        z = z / np.linalg.norm(z)
        return np.stack([x, np.cross(z, x), z], 1)

    def swung(self, arm, angle, point):
        a, b = self.p[f"{arm}_front"], self.p[f"{arm}_rear"]
        e = (b - a) / np.linalg.norm(b - a)
        r = point - a
        return (
            a
            + np.cos(angle) * r
            + np.sin(angle) * np.cross(e, r)
            + (1 - np.cos(angle)) * e * (e @ r)
        )

    def at(self, z, rack=0.0):
        """Balls, wheel centre, wheel axis, contact point, spring length."""

        def placed(x):
            low, high = (
                self.swung("lower", x[0], self.p["lower_ball"]),
                self.swung("upper", x[1], self.p["upper_ball"]),
            )
            R = self.frame(low, high, x[2:])
            return low, high, low + R @ self.centre, R @ self.axle

        def rows(x):
            low, high, centre, _ = placed(x)
            tie = self.p["tie_base"] + [0, rack, 0]
            lengths = [low - high, high - x[2:], x[2:] - low, x[2:] - tie]
            wanted = [*self.sides, self.rod]
            return [
                *(np.linalg.norm(v) - w for v, w in zip(lengths, wanted, strict=True)),
                centre[2] - self.p["wheel_centre"][2] - z,
            ]

        x = optimize.root(rows, self.guess, tol=1e-12).x
        assert np.abs(rows(x)).max() < 1e-13
        low, high, centre, axle = placed(x)
        down = np.array([0, 0, -1.0]) + axle[2] * axle
        contact = centre + self.radius * down / np.linalg.norm(down)
        arm = self.swung("lower", x[0], self.p["spring_arm"])
        return low, high, centre, axle, contact, np.linalg.norm(arm - self.p["spring_base"])


@pytest.fixture(scope="module")
def both():
    data = sheet("double_wishbone")
    assert data["units"] == "mm" and data["axes"] == "ISO 8855" and data["side"] == "left"
    return data, Points(data), Linkage.read(data)


def rates(points, z, rack):
    """dy/dz and dx/dz of the contact point as a point of the carrier, the wheel locked."""
    low, high = points.at(z - H, rack), points.at(z + H, rack)
    here = points.at(z, rack)

    def fixed(pose):
        """The material point of the carrier that is the contact point at z."""
        R0 = Points.frame(here[0], here[1], here[2])
        R = Points.frame(pose[0], pose[1], pose[2])
        return pose[0] + R @ R0.T @ (here[4] - here[0])

    v = fixed(high) - fixed(low)
    return v[0] / v[2], v[1] / v[2]


@pytest.mark.parametrize(
    ("z", "rack"),
    rarely([(0.0, 0.0), (0.04, 0.0), (-0.03, 0.012)], [(0.0, 0.0), (0.04, 0.0)], several=True),
)
def test_measures_of_the_double_wishbone(z, rack, both):
    data, points, linkage = both
    m = measure_wheel(linkage, z, rack)
    low, high, centre, axle, contact, spring = points.at(z, rack)
    drawn = points.at(0.0)
    assert m["camber"][0] == pytest.approx(-np.degrees(np.arcsin(axle[2])), abs=1e-7)
    assert m["toe"][0] == pytest.approx(np.degrees(np.arctan2(axle[0], axle[1])), abs=1e-7)
    assert m["steer"][0] == pytest.approx(-m["toe"][0])
    k = high - low
    assert m["caster"][0] == pytest.approx(np.degrees(np.arctan2(-k[0], k[2])), abs=1e-7)
    assert m["kingpin_inclination"][0] == pytest.approx(
        np.degrees(np.arctan2(-k[1], k[2])), abs=1e-7
    )
    ground = low + k * (contact[2] - low[2]) / k[2]
    ahead = np.array([axle[1], -axle[0]]) / np.hypot(*axle[:2])
    out = np.array([-ahead[1], ahead[0]])
    assert m["scrub_radius"][0] == pytest.approx((contact - ground)[:2] @ out, abs=1e-9)
    assert m["mechanical_trail"][0] == pytest.approx((ground - contact)[:2] @ ahead, abs=1e-9)
    assert m["half_track_change"][0] == pytest.approx(contact[1] - drawn[4][1], abs=1e-9)
    assert m["wheelbase_change"][0] == pytest.approx(centre[0] - drawn[2][0], abs=1e-9)
    longitudinal, lateral = rates(points, z, rack)
    other = points.at(z, -rack)
    h = 0.5 * (contact[1] * lateral + other[4][1] * rates(points, z, -rack)[1])
    assert m["roll_centre_height"][0] == pytest.approx(h, abs=1e-6)
    car = data["vehicle"]
    anti = 100 * car["brake_front"] * longitudinal * car["wheelbase"] / car["cg_height"]
    assert m["anti_dive"][0] == pytest.approx(anti, abs=1e-4)
    ratio = -(points.at(z + H, rack)[5] - points.at(z - H, rack)[5]) / (2 * H)  # compression
    assert m["spring_length"][0] == pytest.approx(spring, abs=1e-10)
    assert m["spring_ratio"][0] == pytest.approx(ratio, abs=1e-7)
    stiffness = data["struts"]["spring"]["stiffness"]
    assert m["spring_wheel_rate"][0] == pytest.approx(stiffness * ratio**2, rel=1e-6)


@pytest.mark.parametrize(
    ("mode", "other"), [("parallel", 0.03), ("opposite", -0.03), ("single", 0.0)]
)
def test_track_and_roll_centre_of_the_axle(mode, other, both):
    _, points, linkage = both
    m = measure_wheel(linkage, 0.03, mode=mode)
    drawn, here, there = points.at(0.0)[4][1], points.at(0.03)[4][1], points.at(other)[4][1]
    assert m["track_change"][0] == pytest.approx(here + there - 2 * drawn, abs=1e-9)
    h = 0.5 * (here * rates(points, 0.03, 0.0)[1] + there * rates(points, other, 0.0)[1])
    assert m["roll_centre_height"][0] == pytest.approx(h, abs=1e-6)
