"""Terrain: heights by their formulas, nearest points by brute force, the spectrum of random
roads."""

import ctypes
import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.codegen.c.lanes import LANES
from bellcrank.codegen.c.runtime_files import fill_runtime_file, sincos_source
from bellcrank.codegen.number_type import DOUBLE
from bellcrank.kernel.text import kernel_file
from bellcrank.simulation.backend.compiler import find_compiler, load_from_source
from tests.models import needs_compiler


def test_course_has_the_heights_of_the_thesis():
    """Van Iwaarden (2003), eq. (1.27)."""
    ground = bc.vehicles.terrain.course()
    x = np.array([0.0, 19.9, 22.0, 25.0, 30.0, 40.0, 50 + 4 * math.pi, 78.0, 90.0])
    expected = [0, 0, 0.1 * 22 - 2, 0, 0.05 * 30 - 1.25, 0, 1.0, 0, 0.15 * 90 - 12]
    assert ground.height(x) == pytest.approx(expected, abs=1e-14)
    assert [(x, round(b, 12), round(a, 12)) for x, b, a in ground.jumps] == [
        (25.0, 0.5, 0.0),
        (35.0, 0.5, 0.0),
    ]


def test_hill_is_a_cosine_and_slopes_are_those_of_differences():
    ground = bc.vehicles.terrain.hill()
    x = np.linspace(0, 20, 57)
    inside = (x > 5) & (x < 5 + 4 * math.pi)
    assert ground.height(x) == pytest.approx(
        np.where(inside, 0.5 - 0.5 * np.cos(0.5 * (x - 5)), 0.0), abs=1e-14
    )
    e = 1e-5
    assert ground.slope(x) == pytest.approx(
        (ground.height(x + e) - ground.height(x - e)) / (2 * e), abs=1e-5
    )
    assert ground.curvature(7.0) == pytest.approx(0.125 * math.cos(1.0), rel=1e-12)


TERRAINS = {
    "course": lambda: bc.vehicles.terrain.course(),
    "hill": lambda: bc.vehicles.terrain.hill(5, 4, 2),
    "ramp": lambda: bc.vehicles.terrain.ramp(0.7, start=2, length=3),
    "washboard": lambda: bc.vehicles.terrain.cosine(0.3, 3.0),
    "steps": lambda: bc.vehicles.terrain.profile([0, 1, 1, 3, 3, 5], [0, 0.2, -0.3, 0.1, 0.8, 0.5]),
    "spline": lambda: bc.vehicles.terrain.profile(
        [0, 1, 2.5, 3, 5], [0, 0.4, -0.3, 0.1, 0.8], order=3
    ),
}


@pytest.mark.parametrize("name", TERRAINS)
def test_nearest_point_is_that_of_a_dense_search(name):
    """Against the distance to many points of the boundary, walls included."""
    ground = TERRAINS[name]()
    rng = np.random.default_rng(1)
    xs = np.linspace(-4, 40, 100_001)
    points = [np.column_stack([xs, ground.height(xs)])]
    for x, before, after in ground.jumps:
        points.append(np.column_stack([np.full(4001, x), np.linspace(before, after, 4001)]))
    boundary = np.vstack(points)
    for _ in range(12):
        x = rng.uniform(0, 36 if name == "course" else 6)
        z = ground.height(x) + rng.uniform(0.01, 1.0)
        near = ground.nearest(x, z)
        brute = np.sqrt(((boundary - (x, z)) ** 2).sum(axis=1).min())
        assert (
            brute - 4.5e-4 < near.distance < brute + 1e-12
        )  # points of the search are up to 4.4e-4 apart
        foot = np.array([near.foot_x, near.foot_z])
        assert foot + near.distance * np.array([near.normal_x, near.normal_z]) == pytest.approx(
            [x, z], abs=1e-12
        )
        assert math.hypot(near.normal_x, near.normal_z) == pytest.approx(1, abs=1e-12)


def test_a_wheel_has_the_slopes_of_the_ground():
    """On pieces, edges and walls, above and below, and past its reach, against differences."""
    kinds = set()
    for ground in (TERRAINS[name]() for name in ("washboard", "steps", "spline")):
        s = bc.System("wheel on ground", units="mks")
        wheel = s.add_body("wheel", translate=(1, 3), mass=10)
        s.add_contact(
            "t",
            at=wheel,
            radius=0.5,
            terrain=ground,
            tyre=bc.Tyre(2e4, 300),
            rolling_resistance=5,
            drive="20*t_foot",
        )
        sim = s.equations().compile(backend="python")
        f, rng = sim.rhs(), np.random.default_rng(2)
        assert sim.loaded.stiff_model.program.sloped == (0, 1, 2, 3)
        beside = [
            (x + (0.2 if a < b else -0.2), max(a, b) + 0.2) for x, b, a in ground.jumps
        ]  # edges are nearest
        above = [
            (x, float(ground.height(x)) + z)
            for x, z in rng.uniform((-0.5, -0.1), (6.0, 0.6), (20, 2))
        ]
        for place in beside + above:
            state = np.array([*place, *rng.uniform(-1, 1, 2)])
            near = ground.nearest(*state[:2], 0.5)
            kinds.add(
                "beyond" if near.distance >= 0.5 else ("wall", "piece", "edge")[_kind(ground, near)]
            )
            coarse, fine = (_differences(f, state, h) for h in (1e-5, 1e-6))
            if (
                np.abs(coarse - fine).max() < 1e-4 * np.abs(fine).max()
            ):  # else it is just next to a kink
                np.testing.assert_allclose(
                    f.jacobian(0.0, state), fine, atol=2e-6 * np.abs(fine).max()
                )
    assert kinds == {"beyond", "wall", "piece", "edge"}


def states_around(ground):
    """Points over the ground, near it, far away and deep below, with the reach of a wheel."""
    rng = np.random.default_rng(4)
    places = [
        (x, float(ground.height(x)) + z) for x, z in rng.uniform((-2, -1.0), (12, 1.0), (60, 2))
    ]
    return [[x, z, 0.5 if i % 3 else 5.0] for i, (x, z) in enumerate(places)]


def in_python(ground, state):
    return [*ground.nearest(*state)[:4], *ground.turn(*state)]


def gentle():
    """Grounds that have one foot within reach."""
    return [
        bc.vehicles.terrain.cosine(0.1, 1.0),
        bc.vehicles.terrain.profile([0, 1, 2.5, 3, 5], [0, 0.02, 0.01, 0.03, 0.02], order=3),
    ]


@needs_compiler
def test_the_nearest_ground_in_c():
    """Of numbers, and of vectors of them: there with the same bits in every lane, whatever stands
    in the others."""
    grounds = [*(make() for make in TERRAINS.values()), *gentle()]
    parts, calls, beside = (
        ["#include <float.h>", "#include <math.h>", "#include <stdint.h>", "#include <string.h>"],
        [],
        [],
    )
    for i, ground in enumerate(grounds):
        (near, name), (turn, turned) = ground.c, ground.c_turn
        parts += [near, turn]
        calls += [f"if (k == {i}) {{ {name}(x, z, reach, out); {turned}(x, z, reach, out + 4); }}"]
        beside += [f"if (k == {i}) ground_near_lanes(&{name}_of, x[0], x[1], x[2], near);"]
    parts += [
        "void around(int k, double x, double z, double reach, double *out)",
        "{",
        *calls,
        "}",
        "",
    ]
    parts += ["typedef double scalar;", "#define SEPARATE", kernel_file("lanes.h")]
    parts += [
        fill_runtime_file("room.c"),
        sincos_source(DOUBLE),
        sincos_source(LANES[DOUBLE]),
        kernel_file("lanes_roots.c"),
    ]
    parts += [grounds[0].lanes, "int width = N_LANES;"]
    parts += [
        "void side_by_side(int k, const double *given, double *out)",
        "{",
        "lanes x[3], near[4];",
    ]
    parts += ["memcpy(x, given, sizeof x);", *beside, "memcpy(out, near, sizeof near);", "}"]
    library, out = (
        load_from_source("\n".join(parts), find_compiler(), is_generated=True),
        np.empty(6),
    )
    width, rng = ctypes.c_int.in_dll(library, "width").value, np.random.default_rng(3)
    for i, ground in enumerate(grounds):
        states, alone = np.array(states_around(ground)), []
        for state in states:
            library.around(i, *map(ctypes.c_double, state), ctypes.c_void_p(out.ctypes.data))
            assert out == pytest.approx(in_python(ground, state), rel=1e-9, abs=1e-9), (
                ground.name,
                state,
            )
            alone.append(out[:4].copy())
        found = []
        for _ in range(2):
            order = rng.permutation(len(states))
            order, values = (
                np.append(order, order[: -len(order) % width]),
                np.empty((len(states), 4)),
            )
            for those in order.reshape(-1, width):
                given, near = np.ascontiguousarray(states[those].T), np.empty((4, width))
                library.side_by_side(
                    i, ctypes.c_void_p(given.ctypes.data), ctypes.c_void_p(near.ctypes.data)
                )
                values[those] = near.T
            found.append(values)
        assert (found[0] == found[1]).all()
        np.testing.assert_allclose(found[0], alone, rtol=1e-12, atol=1e-12, err_msg=ground.name)


def _kind(ground, near):
    part = ground.shape(near)[0]
    return 0 if part < 0 else 1 + part % 2


def _differences(f, x, h):
    return np.array([(f(0.0, x + e) - f(0.0, x - e)) / (2 * h) for e in h * np.eye(len(x))]).T


def test_nearest_point_at_an_edge_a_wall_and_below_ground():
    ground = bc.vehicles.terrain.profile([-1, 0, 0, 1], [1, 1, 0, 0])
    assert ground.nearest(0.3, 1.4)[:3] == pytest.approx((0.5, 0.6, 0.8))  # the upper edge
    assert ground.nearest(0.3, 0.5)[:3] == pytest.approx((0.3, 1, 0))  # the wall
    assert ground.nearest(-2, 0.5)[:3] == pytest.approx((-0.5, 0, 1))
    assert ground.nearest(-9, -4.0, reach=0.5)[:3] == pytest.approx(
        (-5, 0, 1)
    )  # deep below ground the way out is still up
    assert ground.nearest(-2, 9.0, reach=0.5) == pytest.approx((0.5, 0, 1, -2, 8.5))


def test_class_c_road_lies_on_its_line():
    """ISO 8608: G_d(n0 = 0.1 cycles/m) = 256e-6 m^3 for class C, waviness 2; Welch's estimate over
    8 roads."""
    from scipy.signal import welch

    length, dx = 4000.0, 0.25
    total = 0.0
    for seed in range(6):
        ground = bc.vehicles.terrain.iso8608("C", seed=seed, length=length, spacing=dx)
        h = ground.height(np.arange(0, length, dx))
        n, g = welch(h, fs=1 / dx, nperseg=2000, detrend=False, window="hann")
        total = total + g / 6
    band = (n > 0.03) & (n < 0.8)
    ratio = total[band] / (256e-6 * (n[band] / 0.1) ** -2)
    segments = 6 * (2 * length / (2000 * dx) - 1)
    error = math.sqrt(
        1.0 / (segments * 9 / 11)
    )  # of one line; Hann windows that overlap by half give 9/11 of independent ones
    assert np.abs(ratio - 1).max() < 5 * error
    assert abs(ratio.mean() - 1) < 3 * error * math.sqrt(3 / band.sum())
    slope, level = np.polyfit(np.log(n[band] / 0.1), np.log(total[band]), 1)
    assert slope == pytest.approx(-2, abs=0.02)
    assert math.exp(level) == pytest.approx(256e-6, rel=0.03)


def test_same_seed_same_road_and_rms_by_the_spectrum():
    a, b = (bc.vehicles.terrain.iso8608("C", seed=3, length=500) for _ in range(2))
    x = np.linspace(0, 500, 2001)[:-1]
    assert a.height(x).tolist() == b.height(x).tolist()
    assert (
        a.height(x).tolist()
        != bc.vehicles.terrain.iso8608("C", seed=4, length=500).height(x).tolist()
    )
    rms2 = np.mean(
        [bc.vehicles.terrain.iso8608("C", seed=s, length=500).height(x).var() for s in range(40)]
    )
    n = np.arange(5, 501) / 500
    assert rms2 == pytest.approx((256e-6 * (n / 0.1) ** -2).sum() / 500, rel=0.25)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: bc.vehicles.terrain.profile([0, 1, 2], [0, math.nan, 1]),
            r"no height at x = 1 .*gaps are not allowed",
        ),
        (
            lambda: bc.vehicles.terrain.profile([0, 2, 1], [0, 1, 1]),
            r"x goes back from 2 to 1 .*must not decrease",
        ),
        (
            lambda: bc.vehicles.terrain.profile([0, math.inf], [0, 1]),
            r"x\[1\] = inf is not a finite number",
        ),
        (lambda: bc.vehicles.terrain.profile([0], [0]), "at least 2"),
        (lambda: bc.vehicles.terrain.profile([1, 1], [0, 1]), "all x are the same"),
        (lambda: bc.vehicles.terrain.profile([0, 1], [0, "high"]), "must be numbers"),
        (lambda: bc.vehicles.terrain.profile([0, 1, 1, 2], [0, 1, 2, 3], order=3), "cannot jump"),
        (
            lambda: bc.vehicles.terrain.iso8608("J", seed=1),
            "road class 'J' is not known; it is one of A, B",
        ),
        (lambda: bc.vehicles.terrain.iso8608("C", seed=1, length=10, spacing=5), "do not fit"),
        (lambda: bc.vehicles.terrain.hill(0, -1, 1), "length=-1 must be positive"),
        (lambda: bc.vehicles.terrain.ramp(0.1, length=3), "needs a start"),
        (lambda: bc.vehicles.terrain.flat().height(math.nan), "x must be finite"),
    ],
)
def test_bad_terrain(make, message):
    with pytest.raises(bc.ModelError, match=message):
        make()


@pytest.mark.campaign
def test_two_tracks_of_a_road_are_coherent():
    """Kamash & Robson: coherence 2 pi n b K1(2 pi n b), here 0.626 at 0.1 cycles/m for tracks 1.5 m
    apart."""
    sums = np.zeros((3, 2001), complex)
    x = np.arange(4000) * 0.25
    for seed in range(30):
        left, right = bc.vehicles.terrain.iso8608_tracks(
            "C", seed=seed, track=1.5, wavelengths=(100.0, 1.0)
        )
        L, R = (np.fft.rfft(t.height(x)) for t in (left, right))
        sums += [np.abs(L) ** 2, np.abs(R) ** 2, L * R.conj()]
    same = bc.vehicles.terrain.iso8608("C", seed=29, wavelengths=(100.0, 1.0))
    assert np.array_equal(same.height(x), left.height(x))
    lines = np.fft.rfftfreq(4000, 0.25)
    for n, expected in ((0.02, 0.959), (0.1, 0.626), (0.3, 0.140)):
        near = np.abs(lines - n) < 0.1 * n
        found = sums[2, near].real.sum() / np.sqrt(
            sums[0, near].real.sum() * sums[1, near].real.sum()
        )
        assert found == pytest.approx(expected, abs=0.05)
        assert sums[1, near].real.sum() == pytest.approx(sums[0, near].real.sum(), rel=0.15)
    with pytest.raises(bc.ModelError, match="track=0"):
        bc.vehicles.terrain.iso8608_tracks("C", seed=1, track=0)
