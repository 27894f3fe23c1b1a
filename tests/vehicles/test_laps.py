"""Laps: quasi-steady speed against closed forms, the car driven at it, and courses that cannot
be."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError

Circuit = bc.vehicles.manoeuvres.Circuit


def ring(n, radius, last=None, swap=()):
    """Points of a circle of n steps, the first `last` of them, two interchanged, as a file."""
    points = [
        (radius * math.cos(2 * math.pi * i / n), radius * math.sin(2 * math.pi * i / n))
        for i in range(last or n)
    ]
    if swap:
        i, j = swap
        points[i], points[j] = points[j], points[i]
    return "x,y\n" + "".join(f"{x},{y}\n" for x, y in points)


def oval_by_hand(straight, radius, ay, drive, braking):
    """Lap time and top speed of a point mass: half circles at the limit, straights with full drive,
    then brakes."""
    corner = math.sqrt(ay * radius)
    top = math.sqrt(corner**2 + 2 * straight * drive * braking / (drive + braking))
    return 2 * math.pi * radius / corner + 2 * (top - corner) * (1 / drive + 1 / braking), top


@pytest.mark.parametrize(
    ("straight", "radius", "limits"),
    [(200, 50, (9, 4, 8)), (600, 80, (14, 7, 15)), (60, 20, (6, 2, 9))],
)
def test_oval_equals_the_closed_form(straight, radius, limits):
    ay, drive, braking = limits
    lap = Circuit.oval(straight, radius).fastest(ay=ay, drive=drive, braking=braking)
    time, top = oval_by_hand(straight, radius, *limits)
    assert lap.lap_time == pytest.approx(time, rel=1.5e-3)
    assert lap.speed.max() == pytest.approx(top, rel=1.5e-3)
    assert lap.speed.min() == pytest.approx(math.sqrt(ay * radius), rel=1e-6)


def test_circle_with_downforce():
    """v^2/R = mu (g + k v^2); the speed of a circle is then constant."""
    mu, k, radius = 1.4, 0.004, 60.0
    v = np.linspace(1, 80, 400)
    angle = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    circle = Circuit.through(radius * np.cos(angle), radius * np.sin(angle))
    assert circle.length == pytest.approx(2 * math.pi * radius, rel=1e-6)
    lap = circle.fastest(
        ay=list(zip(v, mu * (9.80665 + k * v**2), strict=True)), drive=5, braking=9
    )
    expected = math.sqrt(mu * 9.80665 * radius / (1 - mu * k * radius))
    assert lap.speed == pytest.approx(np.full(len(lap.speed), expected), rel=2e-4)


def test_limits_are_used_but_never_exceeded():
    lap = Circuit.shipped("club").fastest(ay=9, drive=4, braking=8)
    middle = slice(5, -5)
    use = np.hypot(np.where(lap.ax > 0, lap.ax / 4, lap.ax / 8), lap.ay / 9)[middle]
    assert use.max() < 1.02
    assert np.mean(use > 0.98) > 0.95  # a point mass is at its limit everywhere


def test_top_speed_limits_the_straights():
    lap = Circuit.oval(2000, 50).fastest(ay=9, drive=((0, 4), (30, 4), (40, 0)), braking=8)
    assert 39 < lap.speed.max() <= 40


def test_a_lap_is_the_same_in_the_other_direction_without_drive_and_brakes_that_differ():
    club = Circuit.shipped("club")
    back = Circuit.through(club.x[::-8], club.y[::-8])
    times = [c.fastest(ay=9, drive=5, braking=5).lap_time for c in (club, back)]
    assert times[0] == pytest.approx(times[1], rel=1e-3)


def test_course_from_a_file(tmp_path):
    club = Circuit.shipped("club")
    rows = "".join(
        f"{x / 1000!r},{y / 1000!r}\n" for x, y in zip(club.x[::8], club.y[::8], strict=True)
    )
    path = tmp_path / "own.csv"
    path.write_text("x [km],y [km]\n" + rows)
    own = Circuit.read(path)
    assert (own.name, own.length) == ("own", pytest.approx(club.length, rel=1e-5))
    assert own.tightest == pytest.approx(club.tightest, rel=1e-2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n0,0\n1,0\n", "needs columns 'x' and 'y' in m; it has a, b"),
        ("x,y\n0,0\n1,0\n2,0\n", "at least 8 points, given 3"),
        ("x [s],y [m]\n0,0\n1,0\n", "column 'x' is in 's'; a course may be in m, km, mm"),
        (
            "x,y\n" + "".join(f"{10 * i},0\n" for i in range(12)),
            "not closed: its last point lies 110 m from the first",
        ),
        (
            "x,y\n" + "0,0\n0,0\n" + "".join(f"{i},{i * i}\n" for i in range(1, 10)),
            "points 1 and 2 of the course lie",
        ),
        (
            ring(24, 60e3),
            r"course is 3759\d\d m long; allowed are 20 m to 100 km. Are the points in m\?",
        ),
        (ring(24, 0.06), r"course is 0\.3759\d* m long; allowed are 20 m"),
        (ring(60, 60, 50), "not closed: its last point lies 65.* m from the first"),
        (
            ring(60, 60, 63),
            "turns back by 1.* deg between its last point and the first: its end overlaps "
            "its beginning",
        ),
        (
            ring(24, 60, swap=(5, 6)),
            r"turns back by 1.* deg at point 7, x = .* points must be in the direction of driv",
        ),
        (ring(24, 60).replace("60.0,0.0", "nan,0.0"), "x = nan"),
    ],
)
def test_files_that_are_no_course(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(ModelError, match=message) as error:
        Circuit.read(path)
    assert "bad.csv" in str(error.value)


def test_wrong_values_are_named():
    oval = Circuit.oval(100, 30)
    for given, message in (
        ({"ay": -3}, "ay=.*must be positive"),
        ({"braking": ((10, 5), (5, 6))}, "braking=.*must increase"),
        ({"drive": "fast"}, "drive='fast' must be a positive number"),
    ):
        with pytest.raises(ModelError, match=message):
            oval.fastest(**{"ay": 8, "drive": 4, "braking": 8, **given})
    with pytest.raises(ModelError, match="straight=-1 must be a positive number"):
        Circuit.oval(-1, 30)
    with pytest.raises(ModelError, match=r"no course is called 'clib'\. Did you mean 'club'"):
        bc.vehicles.manoeuvres.run("passenger", "lap", track="clib")
    with pytest.raises(ModelError, match="a course must be a name"):
        bc.vehicles.manoeuvres.run("passenger", "lap", track=3)
    with pytest.raises(ModelError, match="pace=-1 must be a positive number"):
        bc.vehicles.manoeuvres.run("passenger", "lap", pace=-1)
    with pytest.raises(ModelError, match="speeds need a path through points"):
        bc.vehicles.manoeuvres.Driver(speeds=(1.0, 2.0))


def test_courses_to_the_right_and_figures_of_eight():
    """The direction of the points is that of driving; the lines of an eight may cross."""
    angle = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    left, right = (Circuit.through(50 * np.cos(s * angle), 50 * np.sin(s * angle)) for s in (1, -1))
    assert np.mean(left.curvature) == pytest.approx(1 / 50, rel=1e-3) == -np.mean(right.curvature)
    eight = Circuit.through(80 * np.sin(angle), 40 * np.sin(2 * angle))
    path, at = eight.unrolled_path(100.0, 100.0)
    assert np.hypot(np.diff(path.x), np.diff(path.y)).max() < 1.01  # it goes on where it began
    assert abs(np.diff(path.heading)).max() < 0.1 and len(at) == len(path.x)
    times = [c.fastest(ay=9, drive=5, braking=5).lap_time for c in (left, right)]
    assert times[0] == pytest.approx(times[1], rel=1e-9)


def test_settings_that_no_lap_has():
    for settings, message in (
        ({"sectors": 2.5}, "sectors=2.5 must be a whole number from 1 to 100"),
        ({"sectors": 200.0}, "sectors=200 must be a whole number"),
        (
            {"width": 1.2},
            r"width=1\.2 m of the course must be more than the track of passenger car, 1\.5\d+ m",
        ),
        ({"track": "missing.csv"}, "missing.csv"),
        ({"driver": "me"}, "me"),
    ):
        with pytest.raises((ModelError, bc.RunError), match=message):
            bc.vehicles.manoeuvres.run("passenger", "lap", **settings)


def test_trailing_axles_cut_in():
    """On a circle, an axle whose middle runs inside of the line is that much farther from it, plus
    half its track."""
    from types import SimpleNamespace

    from bellcrank.vehicles.manoeuvres.laps import _max_wheel_deviations

    R, cut = 40.0, 1.5
    angle = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    course = Circuit.through(R * np.cos(angle), R * np.sin(angle))
    t = np.linspace(0.1, 6.0, 50)  # angle of the car along the circle
    contact = np.array([[1.0, 0.8, 0], [1.0, -0.8, 0], [-1.0, 0.9, 0], [-1.0, -0.9, 0]])
    axle = SimpleNamespace(
        parameter_suffix="box_axle",
        full_name="box.axle",
        record=SimpleNamespace(at=(-6.0, 1.1, 0.0)),
    )
    data = SimpleNamespace(sprung=SimpleNamespace(cg=np.zeros(3)), simple_axles=(axle,))
    car = SimpleNamespace(at_rest=SimpleNamespace(contact_points=contact), data=data)
    run = {
        "x": R * np.cos(t),
        "y": R * np.sin(t),
        "yaw": np.degrees(t) + 90,
        "driver.station": R * t + 30.0,
        "box.axle_x": (R - cut) * np.cos(t - 0.15),
        "box.axle_y": (R - cut) * np.sin(t - 0.15),
    }
    found = _max_wheel_deviations(car, run, course, 30.0)
    assert found["box_axle"] == pytest.approx(np.full(50, cut + 1.1), abs=2e-3)
    outside = (
        math.hypot(R, 1.0) - R
    )  # of an axle 1 m ahead of the mass centre, which is on the line
    assert found["front"] == pytest.approx(np.full(50, 0.8 + outside), abs=2e-3)
    assert found["rear"] == pytest.approx(np.full(50, 0.9 + outside), abs=2e-3)


@pytest.mark.campaign
def test_driven_lap_of_an_oval():
    """Far below its own limits a car drives the lap of the point mass: the time is that of the lap
    over `pace`."""
    pace, limits = 0.9, {"ay": 5.0, "drive": 1.5, "braking": 5.0}
    result = bc.vehicles.manoeuvres.run("passenger", "lap", track="oval", pace=pace, **limits)
    time, top = oval_by_hand(200, 50, 5.0, 1.5, 5.0)
    assert result.passed
    assert result["time_limit"] == pytest.approx(time, rel=2e-3)
    assert result["time"] == pytest.approx(time / pace, rel=0.01)
    assert result["speed_max"] == pytest.approx(3.6 * pace * top, rel=0.02)
    assert result["time"] == pytest.approx(sum(result[f"sector_{i}"] for i in (1, 2, 3)), rel=1e-9)
    assert result["time_limit"] == pytest.approx(
        sum(result[f"sector_{i}_limit"] for i in (1, 2, 3)), rel=1e-9
    )
    run = result.run
    on = (run["lap_distance"] >= 0) & (run["lap_distance"] <= result["distance"])
    expected = np.trapezoid(1 / run["ground_speed"][on], run["lap_distance"][on])
    assert result["time"] == pytest.approx(expected, rel=0.01)
    halfway = (
        np.abs(run["lap_distance"] - (100 + 25 * math.pi)) < 10
    )  # in the middle of the first half circle
    assert run["ay"][halfway].mean() == pytest.approx(pace**2 * 5.0, rel=0.03)


@pytest.mark.campaign
def test_limits_are_those_of_the_car():
    from bellcrank.vehicles.manoeuvres.compiled_car import compile_car
    from bellcrank.vehicles.manoeuvres.laps import acceleration_limits

    car = bc.vehicles.Car.read("passenger")
    prepared = compile_car(car)
    limits = acceleration_limits(
        prepared, Circuit.shipped("club"), {"ay": None, "drive": None, "braking": None}
    )
    speed, ay = limits["ay"][1]
    assert ay == pytest.approx(prepared.steady_turn_limit(speed).ay)
    stop = bc.vehicles.manoeuvres.run(
        car, "braking", speed=100
    )  # with a constant torque that never locks a wheel: less
    tyre, load = car.data.front.tyre, float(np.mean(car.stand.wheel_load))
    friction = (
        max(float(tyre.forces(load, kappa, 0.0).Fx) for kappa in np.linspace(0.02, 0.3, 60)) / load
    )
    assert stop["deceleration_max"] < limits["braking"][-1][1] < 1.01 * friction * 9.80665
    power = car.data.sections.drive.power
    speed, ax = limits["drive"][1]
    air = car.data.sections.aerodynamics
    force = power / speed - air.density / 2 * air.drag * air.area * speed**2
    assert ax < force / car.stand.total_mass
    assert ax == pytest.approx(
        force / car.stand.total_mass, rel=0.12
    )  # less what rolls and what spins up
