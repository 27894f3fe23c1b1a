"""Ground over x and y: heights, nearest points by brute force, slopes, files, wheels and pictures
on it."""

import ctypes
import math
import re

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.scene.build_scene import height_grid
from bellcrank.simulation.backend.compiler import find_compiler, load_from_source
from tests.models import needs_compiler

X, Y = np.arange(-5.0, 5.5, 1.0), np.arange(-4.0, 4.5, 1.0)


def plane():
    return bc.vehicles.terrain.grid(
        X, Y, 0.3 * X[:, None] + 0.1 * Y - 0.2, outside="slope", name="plane"
    )


def gentle():
    return bc.vehicles.terrain.grid(
        X, Y, 0.1 * np.sin(0.5 * X)[:, None] * np.cos(0.4 * Y), name="gentle"
    )


def rough():
    heights = np.random.default_rng(0).normal(0, 0.15, (9, 8))
    return bc.vehicles.terrain.grid(
        np.arange(9) * 0.5 - 2, np.arange(8) * 0.4 - 1, heights, name="rough"
    )


def places(ground, count):
    rng = np.random.default_rng(3)
    for k, (x, y, up) in enumerate(rng.uniform((-7, -6, -0.2), (7, 6, 0.9), (count, 3))):
        yield x, y, ground.height(x, y) + up, 0.5 if k % 3 else 5.0


def test_heights_between_and_beyond():
    """Planes are planes and continue; other ground goes through its points, and its slopes are
    continuous."""
    ground, (x, y) = plane(), np.random.default_rng(1).uniform(-20, 20, (2, 50))
    assert ground.height(x, y) == pytest.approx(0.3 * x + 0.1 * y - 0.2, abs=1e-12)
    ground = rough()
    assert ground.height(np.arange(9)[:, None] * 0.5 - 2, np.arange(8) * 0.4 - 1) == pytest.approx(
        ground.heights
    )
    assert ground.height([-9.0, 1.0], [0.1, 50.0]) == pytest.approx(
        [ground.height(-2.0, 0.1), ground.heights[6, 7]]
    )
    line, e = np.linspace(-3, 3, 41), 1e-7
    for k, (dx, dy) in enumerate(((e, 0.0), (0.0, e))):
        for offset in (-1e-9, 1e-9):  # on both sides of a line of the grid
            at = (line, -0.2 + offset) if k else (0.5 + offset, line)
            slope = (
                ground.height(at[0] + dx, at[1] + dy) - ground.height(at[0] - dx, at[1] - dy)
            ) / (2 * e)
            assert ground.slope(*at)[k] == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("make", [plane, gentle, rough])
def test_nearest_point_is_that_of_a_dense_search(make):
    ground = make()
    for x, y, z, _ in list(places(ground, 40))[:: 4 if make is rough else 10]:
        if z < ground.height(x, y):
            continue
        s, t = np.linspace(x - 1, x + 1, 201)[:, None], np.linspace(y - 1, y + 1, 201)
        brute = math.sqrt(((s - x) ** 2 + (t - y) ** 2 + (ground.height(s, t) - z) ** 2).min())
        near = ground.nearest(x, y, z)
        assert brute - 6e-3 < near.distance < brute + 1e-12
        foot = np.array(near[4:]) + near.distance * np.array(near[1:4])
        assert foot == pytest.approx([x, y, z], abs=1e-7)
        assert near.foot_z == pytest.approx(ground.height(near.foot_x, near.foot_y), abs=1e-12)


def test_slopes_of_the_nearest_point():
    """The distance changes along the normal, the normal as `turn` says."""
    held = 0
    assert gentle()._has_single_foot(0.0, 0.0, 0.3) and not rough()._has_single_foot(
        0.0, 0.0, 0.3
    )  # both ways to the foot
    for ground in (gentle(), rough()):
        for x, y, z, _ in places(ground, 8):
            coarse, fine = (_changes(ground, np.array([x, y, z]), e) for e in (1e-5, 1e-6))
            if np.abs(coarse - fine).max() > 1e-4 * np.abs(fine).max():
                continue  # next to a line of the grid, or between two feet
            held += 1
            near, (xx, xy, xz, yy, yz, zz, within) = ground.nearest(x, y, z), ground.turn(x, y, z)
            assert within == 1 and coarse[:, 0] == pytest.approx(near[1:4], abs=1e-6)
            turns = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            assert coarse[:, 1:] == pytest.approx(turns, abs=1e-4 * np.abs(turns).max() + 1e-6)
    assert held > 11
    assert ground.turn(0.0, 0.0, 9.0, 0.5) == (0.0,) * 7 and ground.nearest(0, 0, 9, 0.5)[:4] == (
        0.5,
        0,
        0,
        1,
    )


def _changes(ground, r, e):
    found = np.array([[ground.nearest(*(r + w * d))[:4] for w in (-1, 1)] for d in e * np.eye(3)])
    return (found[:, 1] - found[:, 0]) / (2 * e)


def in_python(ground, at):
    return [*ground.nearest(*at)[:6], *ground.turn(*at)]


@needs_compiler
def test_the_nearest_ground_in_c():
    grounds, calls = [plane(), gentle(), rough()], []
    parts = ["#include <math.h>", "#include <stdint.h>", "#include <string.h>"]
    for i, ground in enumerate(grounds):
        (near, name), (turn, turned) = ground.c, ground.c_turn
        parts += [near, turn]
        calls += [
            f"if (k == {i}) {{ {name}(x, y, z, reach, out); {turned}(x, y, z, reach, out + 6); }}"
        ]
    parts += [
        "void around(int k, double x, double y, double z, double reach, double *out)",
        "{",
        *calls,
        "}",
        "",
    ]
    function, out = (
        load_from_source("\n".join(parts), find_compiler(), is_generated=True).around,
        np.empty(13),
    )
    for i, ground in enumerate(grounds):
        for at in places(ground, 12):
            function(i, *map(ctypes.c_double, at), ctypes.c_void_p(out.ctypes.data))
            assert out == pytest.approx(in_python(ground, at), rel=1e-7, abs=1e-7), (
                ground.name,
                at,
            )


def ball(ground, backend="python"):
    """A ball that glides without friction."""
    s = bc.System("ball on ground", axes="ISO 8855")
    point = s.add_point_mass("ball", translate=(1, 2, 3), mass=2)
    s.add_gravity()
    s.add_contact("t", at=point, radius=0.5, terrain=ground, tyre=bc.Tyre(2e4))
    return s.equations().compile(backend=backend)


@pytest.mark.campaign
def test_a_ball_slides_down_a_plane_and_keeps_its_energy():
    """Down the plane with g times its slope over 1 + slope^2, across as along; in a bowl energy
    stays."""
    ground, g = plane(), 9.80665
    start = {"q(ball, 3)": float(ground.nearest(0, 0, 0.5).foot_z) + 0.5}
    near = ground.nearest(0, 0, start["q(ball, 3)"])
    start["q(ball, 3)"] += (
        0.5 - near.distance - 2 * g * near.normal_z / 2e4
    ) / near.normal_z  # pressed in by its weight
    run = ball(ground).simulate(t_end=0.3, step=0.005, initial=start)
    for i, slope in ((1, 0.3), (2, 0.1)):
        assert run[f"q(ball, {i})"][-1] == pytest.approx(-g * slope / 1.1 * 0.045, rel=1e-3)
    bowl = bc.vehicles.terrain.grid(X, Y, 0.05 * (X[:, None] ** 2 + 0.7 * Y**2), outside="slope")
    run = ball(bowl).simulate(
        t_end=0.15, step=0.001, initial={"q(ball, 1)": 1.0, "q(ball, 3)": 0.56, "u(ball, 2)": 2.0}
    )
    energy = (
        sum(run[f"u(ball, {i})"] ** 2 for i in (1, 2, 3))
        + 2 * g * run["q(ball, 3)"]
        + run["t_stored"]
    )
    assert np.ptp(energy) < 1e-4 and np.ptp(run["t_stored"]) > 1e-3


def test_a_ball_has_the_slopes_of_the_ground():
    sim = ball(gentle())
    f, state = sim.rhs(), np.array([0.3, 0.7, 0.55, 1.0, -2.0, 0.3])
    h = 1e-6
    slopes = np.array([(f(0.0, state + e) - f(0.0, state - e)) / (2 * h) for e in h * np.eye(6)]).T
    assert f.jacobian(0.0, state) == pytest.approx(slopes, abs=1e-6 * np.abs(slopes).max())


def test_files(tmp_path):
    """Tables, arrays and OpenCRG text of one ground."""
    x, y, h = [0.0, 0.5, 1.0], [-1.0, 0.0, 1.0, 2.0], np.arange(12.0).reshape(3, 4) / 100
    rows = [f"{a},{','.join(map(str, row))}" for a, row in zip(x, h, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(["# heights", "x\\y,-1,0,1,2", *rows]))
    (tmp_path / "a.txt").write_text(
        "\n".join(["-1 0 1 2", *(row.replace(",", " ") for row in rows)])
    )
    np.save(tmp_path / "a.npy", h)
    np.savez(tmp_path / "a.npz", x=x, y=y, h=h)
    numbers = ["".join(f"{v:10.6f}" for v in (0.0, *row)) for row in h]
    numbers[0] = "**unused**" + numbers[0][10:]
    head = [
        "$CT",
        "a test",
        "$",
        "$ROAD_CRG  ! of the road",
        "* a comment",
        "REFERENCE_LINE_INCREMENT = 0.5 ! m",
        "LONG_SECTION_V_RIGHT = -1.0",
        "LONG_SECTION_V_INCREMENT = 1.0",
        "$",
        "$KD_Definition",
        "#:LRFI",
        "D:reference line phi,rad",
    ]
    sections = [f"D:long section {k + 1},m" for k in range(4)]
    (tmp_path / "a.crg").write_text("\n".join([*head, *sections, "$", "$" * 80, *numbers]))
    read = bc.vehicles.terrain.Surface.read
    for ground in (
        *(read(tmp_path / f"a.{e}") for e in ("csv", "txt", "npz", "crg")),
        read(tmp_path / "a.npy", spacing=(0.5, 1.0), start=(0.0, -1.0)),
    ):
        assert (ground.start, ground.spacing) == ((0.0, -1.0), (0.5, 1.0)) and np.array_equal(
            ground.heights, h
        )
    sloped = [*head, "D:reference line banking,m/m", *sections, "$", "$" * 80]
    (tmp_path / "b.crg").write_text(
        "\n".join([*sloped, *(n[:10] + f"{0.1:10.6f}" + n[10:] for n in numbers)])
    )
    assert read(tmp_path / "b.crg").heights == pytest.approx(h + 0.1 * np.array(y))
    for name, text, said in (
        ("c.csv", "x,0,1\n0,1,2\n1,1,high", r"line 3: 'high' is not a number"),
        ("d.csv", "x,0,1\n0,1,2\n1,1", r"line 3: 2 values; x and 2 heights were expected"),
        (
            "e.csv",
            "x,0,1,3\n0,1,2,3\n1,1,2,3",
            r"y must grow by even steps; from 0 to 1 it goes by 1, on the whole by 1.5",
        ),
        ("f.csv", "x,0,1\n0,1,nan\n1,1,2", r"no height at x = 0, y = 1 \(1 such\)"),
        ("g.crg", "$ROAD_CRG\n$\n", r"no line '\$\$\$\$'"),
        (
            "h.crg",
            "\n".join(
                [
                    *head,
                    *sections,
                    "$",
                    "$$$$",
                    numbers[0],
                    "       0.3" + numbers[1][10:],
                    "       0.9" + numbers[2][10:],
                ]
            ),
            r"at x = 0.5, y = 0 its reference line bends with a radius of 0.8333 m",
        ),
        (
            "k.crg",
            "\n".join(
                [*head, *sections, "$", "$$$$", *numbers[:2], "**missing*" + numbers[2][10:]]
            ),
            r"its reference line has no heading in record 3",
        ),
        (
            "i.crg",
            "\n".join([*head[:-2], "#:KRBI", *sections, "$", "$$$$"]),
            r"form 'KRBI' are not read; .* LRFI, LDFI",
        ),
        ("j.png", "", r"'.png' is not read; ground is read from .csv"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(bc.ModelError, match=said):
            read(tmp_path / name)
    with pytest.raises(bc.ModelError, match=r"a.npy: an .npy needs spacing="):
        read(tmp_path / "a.npy")


def announced(path, records=11, **values):
    """A flat road of records every 0.5 m and sections every 1 m, with keys of its header."""
    keys = {
        "REFERENCE_LINE_START_U": 100.0,
        "REFERENCE_LINE_END_U": 105.0,
        "REFERENCE_LINE_INCREMENT": 0.5,
        "LONG_SECTION_V_RIGHT": -1.5,
        "LONG_SECTION_V_LEFT": 1.5,
        "LONG_SECTION_V_INCREMENT": 1.0,
    } | values
    head = [f"{key} = {value}" for key, value in keys.items() if value is not None]
    form = ["$KD_DEFINITION", "#:LRFI", *(f"D:long section {k},m" for k in range(1, 5))]
    numbers = ["".join(f"{0.01 * i * k:10.6f}" for k in range(4)) for i in range(records)]
    path.write_text("\n".join(["$ROAD_CRG", *head, *form, "$", "$" * 80, *numbers]))
    return path


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"records": 6},
            "announces REFERENCE_LINE_END_U = 105, but the 6 records end at u = 102.5 with "
            "REFERENCE_LINE_INCREMENT = 0.5: the file is cut",
        ),
        ({"records": 12}, "the 12 records end at u = 105.5"),
        ({"REFERENCE_LINE_END_U": 109.0}, "the 11 records end at u = 105 "),
        ({"REFERENCE_LINE_END_U": 95.0}, "END_U = 95 must be larger than REFERENCE_LINE_START_U"),
        ({"REFERENCE_LINE_INCREMENT": 0.7}, "the 11 records end at u = 107"),
        ({"REFERENCE_LINE_INCREMENT": 0}, "INCREMENT = 0 must be positive"),
        ({"REFERENCE_LINE_INCREMENT": -0.0}, "INCREMENT = -0 must be positive"),
        ({"REFERENCE_LINE_INCREMENT": -0.5}, "INCREMENT = -0.5 must be positive"),
        ({"REFERENCE_LINE_INCREMENT": "nan"}, "INCREMENT = nan must be positive"),
        ({"REFERENCE_LINE_START_U": "inf"}, "START_U = inf must be a finite number"),
        ({"LONG_SECTION_V_LEFT": 9}, "the 4 channels 'long section' end at v = 1.5"),
        (
            {"LONG_SECTION_V_RIGHT": 1.5, "LONG_SECTION_V_LEFT": -1.5},
            "V_LEFT = -1.5 must be larger than LONG_SECTION_V_RIGHT = 1.5",
        ),
        ({"LONG_SECTION_V_INCREMENT": -1}, "V_INCREMENT = -1 must be positive"),
        ({"LONG_SECTION_V_INCREMENT": 0}, "V_INCREMENT = 0 must be positive"),
    ],
)
def test_a_road_whose_header_contradicts_its_data_is_refused(wrong, said, tmp_path):
    """A file that was cut after 6 of 11 records was a road of 2.5 m."""
    for read in (bc.vehicles.terrain.Surface.read, bc.vehicles.terrain.Road.read):
        with pytest.raises(bc.ModelError, match=re.escape(said)):
            read(announced(tmp_path / "a.crg", **wrong))


@pytest.mark.parametrize(
    "absent",
    [
        (),
        ("REFERENCE_LINE_INCREMENT",),
        ("REFERENCE_LINE_END_U",),
        ("LONG_SECTION_V_INCREMENT",),
        ("LONG_SECTION_V_RIGHT",),
        ("LONG_SECTION_V_LEFT",),
    ],
)
def test_a_header_may_leave_out_what_follows_from_the_rest(absent, tmp_path):
    path = announced(tmp_path / "a.crg", **dict.fromkeys(absent))
    ground = bc.vehicles.terrain.Surface.read(path)
    assert (ground.start, ground.spacing) == ((100.0, -1.5), (0.5, 1.0))
    assert ground.heights.shape == (11, 4)


def test_what_ground_may_be():
    with pytest.raises(
        bc.ModelError, match=r"11 values of x and 9 of y need heights of that shape"
    ):
        bc.vehicles.terrain.grid(X, Y, [[0.0, 1.0], [0.0, 1.0]])
    with pytest.raises(bc.ModelError, match=r"outside='flat' must be one of level, slope"):
        bc.vehicles.terrain.grid(X, Y, np.zeros((11, 9)), outside="flat")
    s = bc.System("wheels", axes="ISO 8855")
    wheel = s.add_body("wheel", translate=(1, 3), rotate=2, mass=1)
    with pytest.raises(
        bc.ModelError, match=r"rigid wheels need ground that does not change across"
    ):
        s.add_contact("a", at=wheel, radius=0.3, terrain=plane(), restitution=(0.5, 0.5))
    with pytest.raises(bc.ModelError, match=r"a side force, as bc.Slip has with cornering="):
        s.add_contact(
            "c",
            at=wheel,
            radius=0.3,
            terrain=plane(),
            tyre=bc.Tyre(1e5, 0, bc.Slip(8e4)),
            wheel=wheel,
        )
    with pytest.raises(bc.ModelError, match=r"knows no way ahead for drive="):
        s.add_contact(
            "b", at=wheel, radius=0.3, terrain=plane(), tyre=bc.Tyre(1e5), rolling_resistance=3
        )


def test_banked_road():
    """Level along its line, rising across it as asked, and level outside its edges."""
    angle = np.linspace(0, 1.5, 60)
    road = bc.vehicles.terrain.banked(50 * np.sin(angle), 50 - 50 * np.cos(angle), -0.1, width=12)
    for a in (0.4, 0.9, 1.3):
        for t in (-3.0, 0.0, 4.0):
            x, y = (50 - t) * math.sin(a), 50 - (50 - t) * math.cos(a)
            assert road.height(x, y) == pytest.approx(-0.1 * t, abs=0.02)


@pytest.mark.campaign
def test_what_a_picture_shows_of_it(tmp_path):
    ground = gentle()
    shown = height_grid(np.array([0.0, 1.0, 2.0]), np.array([-1.0, 1.0]), ground, 1.0)
    assert shown.height[2] == ground.height(1.0, -1.0) and len(shown.height) == 6
    sim = ball(ground)
    sim.simulate(t_end=0.1, step=0.01, initial={"q(ball, 3)": 0.6}).picture(tmp_path / "ball.png")
    assert (tmp_path / "ball.png").stat().st_size > 5000


def test_a_wheel_without_any_slip_in_python():
    """What no branch of a tyre asks for is not divided by nothing"""
    s = bc.System("wheel", axes="ISO 8855")
    hub = s.add_body("hub", translate=(1, 2, 3), rotate=(3, 2, 1), mass=200, inertia=(1, 1, 1))
    wheel = s.add_body("wheel", parent=hub, rotate=2, mass=10, inertia=(0.4, 0.8, 0.4))
    s.add_gravity()
    s.add_contact(
        "t",
        at=wheel,
        terrain=gentle(),
        tyre=bc.vehicles.tyres.TMeasy.of_size("205/60R15 91V"),
        wheel=wheel,
    )
    start = {"q(hub, 3)": 0.30, "u(hub, 1)": 5.0, "u(wheel)": 16.0}
    run = s.equations().compile(backend="python").simulate(t_end=0.01, step=0.001, initial=start)
    assert run.ended == "finished" and run["t_load"][-1] > 1000 and np.isfinite(run["t.fy"]).all()


def written(path, headings, step, v, heights, bank=None):
    """OpenCRG text of a road; the first heading is not read."""
    head = [
        "$ROAD_CRG",
        f"REFERENCE_LINE_INCREMENT = {step!r}",
        "$",
        "$KD_DEFINITION",
        "#:LDFI",
        "D:reference line phi,rad",
    ]
    if bank is not None:
        head.append("D:reference line banking,m/m")
    head += [f"D:long section at v = {a:.3f},m" for a in v]
    lines = []
    for i, row in enumerate(heights):
        values = [headings[i], *([] if bank is None else [bank[i]]), *row]
        cells = [
            "**unused**".ljust(20) if i == 0 and k == 0 else f"{x:20.12f}"
            for k, x in enumerate(values)
        ]
        lines += ["".join(cells[k : k + 4]) for k in range(0, len(cells), 4)]
    path.write_text("\n".join([*head, "$", "$" * 80, *lines]))
    return path


R, BANK, WAVE = (
    30.0,
    -0.12,
    0.04,
)  # m, of a ring to the left whose right side is up, with four waves around


def ring(path, pieces=720, way=1.0, v=(-4.0, -1.0, 0.0, 1.5, 4.0)):
    """A closed ring; `way` -1 goes to the right."""
    step = 2 * R * math.sin(math.pi / pieces)
    angles = (
        way * 2 * math.pi * (np.arange(pieces + 1) - 0.5) / pieces + 0.7
    )  # where it heads does not matter
    waves = WAVE * np.sin(8 * math.pi * np.arange(pieces + 1) / pieces)
    return written(
        path, angles, step, v, waves[:, None] + 0 * np.array(v), np.full(pieces + 1, way * BANK)
    )


def by_formula(x, y, half=math.pi / 720):
    """Height of the ring; its first piece runs along x, so that its middle lies half a piece
    aside."""
    cx, cy = -R * math.sin(-half), R * math.cos(half)
    r, angle = np.hypot(x - cx, y - cy), np.arctan2(x - cx, cy - y) + half
    return WAVE * np.sin(4 * angle) + BANK * (R - r)


def test_a_ring_road_of_a_file(tmp_path):
    rng = np.random.default_rng(3)
    r, angle = R + rng.uniform(-3.6, 3.6, 400), rng.uniform(0, 2 * math.pi, 400)
    x, y = r * np.sin(angle), R - r * np.cos(angle)
    errors = []
    for spacing in (0.5, 0.25):
        ground = bc.vehicles.terrain.Surface.read(ring(tmp_path / "ring.crg"), spacing=spacing)
        errors.append(np.abs(ground.height(x, y) - by_formula(x, y)).max())
    assert errors[1] < 2e-4 and errors[1] < 0.6 * errors[0]
    for a, b in zip(
        x[:6], y[:6], strict=True
    ):  # what wheels feel: the same, by slopes of the formula
        h = 1e-4
        slopes = [
            (by_formula(a + h, b) - by_formula(a - h, b)) / (2 * h),
            (by_formula(a, b + h) - by_formula(a, b - h)) / (2 * h),
        ]
        near = ground.nearest(a, b, by_formula(a, b) + 0.02)
        normal = np.array([-slopes[0], -slopes[1], 1.0]) / math.sqrt(
            1 + slopes[0] ** 2 + slopes[1] ** 2
        )
        assert [near.normal_x, near.normal_y, near.normal_z] == pytest.approx(normal, abs=4e-3)
        assert near.distance == pytest.approx(0.02 * normal[2], abs=2e-4)
    other = bc.vehicles.terrain.Surface.read(ring(tmp_path / "right.crg", way=-1.0), spacing=0.25)
    assert other.height(x, -y) == pytest.approx(ground.height(x, y), abs=1e-3)  # the mirror image
    inside, outside = (
        ground.height(0.0, R),
        ground.height(0.0, -8.0),
    )  # outside the edges it stays as high
    assert inside == pytest.approx(BANK * 4, abs=WAVE + 0.01) and outside == pytest.approx(
        -BANK * 4, abs=WAVE + 0.01
    )


def test_a_curved_road_that_hardly_bends_is_the_straight_one(tmp_path):
    v, h = (-2.0, 0.0, 2.0), np.random.default_rng(1).normal(size=(41, 3)) / 50
    straight = bc.vehicles.terrain.Surface.read(
        written(tmp_path / "a.crg", np.zeros(41), 0.5, v, h)
    )
    bent = bc.vehicles.terrain.Surface.read(
        written(tmp_path / "b.crg", 1e-7 * np.arange(41), 0.5, v, h), spacing=(0.5, 1.0)
    )
    x, y = np.meshgrid(0.5 * np.arange(4, 36), v, indexing="ij")
    assert bent.height(x, y) == pytest.approx(straight.height(x, y), abs=1e-5)


def test_roads_that_cross_themselves_or_bend_too_much(tmp_path):
    n = 400
    turns = np.linspace(0, 4.5 * math.pi, n)  # more than two rounds, radius 14 m
    rising = np.linspace(0, 6.0, n)[:, None] + np.zeros(3)
    with pytest.raises(
        bc.ModelError,
        match=r"the road crosses itself, .* m higher; ground over x and y has one height",
    ):
        bc.vehicles.terrain.Surface.read(
            written(tmp_path / "helix.crg", turns, 0.5, (-2.0, 0.0, 2.0), rising)
        )
    level = bc.vehicles.terrain.Surface.read(
        written(tmp_path / "twice.crg", turns, 0.5, (-2.0, 0.0, 2.0), 0 * rising), spacing=0.5
    )
    assert np.abs(level.heights).max() == 0
    with pytest.raises(
        bc.ModelError,
        match=r"bends with a radius of 14.11 m, within its own width from v = -2 to 20",
    ):
        bc.vehicles.terrain.Surface.read(
            written(tmp_path / "wide.crg", turns, 0.5, (-2.0, 0.0, 20.0), 0 * rising)
        )
    with pytest.raises(
        bc.ModelError, match=r"with spacing=\(0.001, 0.001\) it has .* heights, more than 1000000"
    ):
        bc.vehicles.terrain.Surface.read(tmp_path / "twice.crg", spacing=0.001)
    with pytest.raises(bc.ModelError, match="spacing= is for curved roads"):
        bc.vehicles.terrain.Surface.read(
            written(tmp_path / "a.crg", np.zeros(5), 0.5, (-2.0, 2.0), np.zeros((5, 2))),
            spacing=0.5,
        )


@pytest.mark.campaign
def test_a_road_too_fine_for_a_grid_is_told(tmp_path):
    long = ring(tmp_path / "long.crg", pieces=7200)
    with pytest.warns(
        UserWarning,
        match=r"its points stand every 0.0262 m; the ground over x and y has one every 0.1",
    ):
        bc.vehicles.terrain.Surface.read(long)
