"""Drivers and paths: what they may be, lane changes by parameters beside those by tables, delays."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.library.vehicles.path import Change, lane_change
from tests.models import needs_compiler

CORNERS = ((15.0, 0.0), (45.0, 3.5), (70.0, 3.5), (95.0, -0.5))


@pytest.mark.parametrize(("given", "said"), [
    ({"kind": "macadm"}, "kind='macadm' must be one of macadam, point, pursuit, stanley"),
    ({"lag": 0.0}, "lag=0.0 must be positive"),
    ({"preview": -1.0}, "preview=-1.0 must be positive"),
    ({"delay": 3}, "delay=3 must lie between 0 and 2 s"),
    ({"points": 0}, "points=0 must be a whole number"),
    ({"path": [1, 2]}, "must be a Path.through"),
])  # fmt: skip
def test_what_drivers_may_be(given, said):
    with pytest.raises(bc.ModelError, match=said):
        bc.manoeuvres.Driver(**given)


def test_paths_that_cannot_be():
    with pytest.raises(bc.ModelError, match="four with growing x"):
        Change(((0.0, 0.0), (10.0, 3.0), (5.0, 3.0), (20.0, 0.0)))
    with pytest.raises(bc.ModelError, match="same place, near point 1"):
        bc.manoeuvres.Path.through([0, 1, 1, 2], [0, 0, 0, 0])
    car = bc.vehicles.Car.read("hmmwv")
    with pytest.raises(bc.ModelError, match=r"radius of 2\.9\d* m at .* turns no tighter than"):
        car.system(driver=bc.manoeuvres.Driver(bc.manoeuvres.circle(3.0)))


def test_lane_changes_by_parameters_and_by_tables():
    """Place, heading and curvature along both, and the tightest bend."""
    s = bc.System("path", axes="ISO 8855")
    ball = s.add_point_mass("ball", translate=1, mass=1)
    change = Change(CORNERS)
    change.add(s)
    x, y = change.place(s, "q(ball)", "a")
    for name, text in zip(("x", "y", "heading", "curvature"), (x, y, *change.turned(s, "q(ball)", "b")), strict=True):
        s.add_output(text, f"at.{name}")
    run = s.equations().compile(backend="python").simulate(t_end=1, step=0.0125, initial={ball.u[1]: 120.0})
    path = lane_change(CORNERS, before=20.0, after=20.0)
    for name, share in (("y", 0.01), ("heading", 0.02), ("curvature", 0.08)):  # that of tables is smoothed
        expected = np.interp(run["at.x"], path.x, getattr(path, name))
        assert run[f"at.{name}"] == pytest.approx(expected, abs=share * np.abs(expected).max())
    assert change.tightest()[0] == pytest.approx(path.tightest()[0], rel=0.05)
    assert change.tightest()[0] == pytest.approx(1 / np.abs(run["at.curvature"]).max(), rel=0.05)


@pytest.mark.campaign
@needs_compiler
@pytest.mark.parametrize(("kind", "delay"), [("pursuit", 0.0), ("stanley", 0.0), ("macadam", 0.15)])
def test_drivers_drive(kind, delay):
    """Along a path by tables, and back to it; a delay makes the error larger and not much more."""
    car = bc.vehicles.Car.read("passenger")
    path = lane_change([(55.0, 0.0), (85.0, 3.5), (110.0, 3.5), (135.0, 0.0)])
    sim = car.system(speed=15.0, driver=bc.manoeuvres.Driver(path, kind=kind, delay=delay)).equations().compile()
    run = sim.simulate(t_end=14.0, inputs={"speed_set": 15.0})
    error = np.abs(run["path_error"])
    assert run.ended == "finished" and 0.02 < error.max() < 0.9 and error[-1] < 0.05
    assert np.abs(run["ay"]).max() < 6 and run["x"][-1] > 190
