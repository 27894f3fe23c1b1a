"""Four-bar loops in 1 to 12 blocks: assembled against circles, accelerations against the whole
system solved at once, runs in which one block passes its singular configuration while the others
are regular."""

from functools import cache
from math import atan2, cos, pi, sin, sqrt

import numpy as np
import pytest

import bellcrank as bc
from tests.models import needs_compiler

pytestmark = needs_compiler


def shares(i):
    """Is the rocker of the block before also the crank of block i? Else it has one of its own."""
    return i % 3 == 2


@cache
def blocks(count):
    """Four-bars on one carriage, compiled: neighbours share a body or are coupled by inertia
    alone."""
    s = bc.System(f"{count} blocks", units="SI")
    x, y = s.inertial["x"], s.inertial["y"]
    carriage = s.add_body("carriage", translate="x", mass="m_c")

    def rod(name, parent, at, length):
        inertia = (0, 0, f"m*{length}**2/12")
        return s.add_body(
            name,
            parent=parent,
            joint_at=(at, 0, 0),
            rotate="z",
            cm=(f"{length}/2", 0, 0),
            mass="m",
            inertia=inertia,
        )

    for i in range(count):
        if shares(i):
            base, crank, length = f"d{i - 1}", rocker, f"l_c{i - 1}"  # noqa: F821
        else:
            base, length = "0", f"l_a{i}"
            crank = rod(f"a{i}", carriage, 0, length)
        coupler = rod(f"b{i}", crank, length, f"l_b{i}")
        rocker = rod(f"c{i}", carriage, f"{base} + d{i}", f"l_c{i}")
        ends = [
            s.add_point(f"{n}{i}", body=b, at=(f"l_{n}{i}", 0, 0))
            for n, b in (("b", coupler), ("c", rocker))
        ]
        s.add_loop_joint(f"loop {i}", between=ends, directions=(x, y))
        s.set_defaults(
            **{f"l_b{i}": 1.5, f"l_c{i}": 1.5, f"d{i}": 1.5},
            **({} if shares(i) else {f"l_a{i}": 0.8}),
        )
    s.add_gravity(direction=-y)
    s.set_defaults(m=1, m_c=5, g=9.81)
    start = {f"q(a{i})": 1.0 for i in range(count) if not shares(i)}
    guess = {f"q(b{i})": -0.5 for i in range(count)} | {f"q(c{i})": 1.5 for i in range(count)}
    s.set_run(t_end=0.1, step=0.001, initial=start, guess=guess)
    return s.equations().compile()


def closed(lengths, angle):
    """Angles of coupler (to the crank) and rocker by the meeting of two circles, above the line to
    the pivot; and the sine of the angle between both."""
    crank, coupler, rocker, base = lengths
    tip = crank * cos(angle), crank * sin(angle)
    x, y = base - tip[0], -tip[1]
    far = sqrt(x * x + y * y)
    along = (far * far + coupler**2 - rocker**2) / (2 * far)
    if abs(along) >= coupler:
        return 0.0, 0.0, 0.0
    up = sqrt(coupler**2 - along**2)
    meet = tip[0] + (along * x - up * y) / far, tip[1] + (along * y + up * x) / far
    turned = atan2(meet[1] - tip[1], meet[0] - tip[0])
    return turned - angle, atan2(meet[1], meet[0] - base), up * far / (coupler * rocker)


def drawn(rng, count):
    """Lengths, and all angles by name, of blocks far from singular configurations."""
    values, angles = (
        {"m": rng.uniform(0.5, 2), "m_c": rng.uniform(1, 10)},
        {"q(carriage)": rng.normal()},
    )
    for i in range(count):
        for _ in range(1000):
            length = values[f"l_c{i - 1}"] if shares(i) else rng.uniform(0.5, 1.0)
            angle = angles[f"q(c{i - 1})"] if shares(i) else rng.uniform(-pi, pi)
            coupler, rocker, base = rng.uniform(1.2, 1.8, 3)
            turned, rocks, sine = closed((length, coupler, rocker, base), angle)
            if sine > 0.3:
                break
        values |= {f"l_b{i}": coupler, f"l_c{i}": rocker, f"d{i}": base}
        angles |= {f"q(b{i})": turned, f"q(c{i})": rocks}
        if not shares(i):
            values[f"l_a{i}"], angles[f"q(a{i})"] = length, angle
    return values, angles


class Assembled:
    """A model with values of its parameters, and what closes its loops."""

    def __init__(self, sim, values):
        self.sim, self.values, loaded = sim, values, sim.loaded
        self.p = loaded.parameter_values(values)
        self.c, self.calls = loaded.constants(self.p), loaded.model.new_calls()
        self.close = self.calls.new_assembler(self.p, self.c, loaded.inputs(None), None).assemble
        self.names = [
            [x.name for x in group] for group in (loaded.program.coordinates, loaded.program.speeds)
        ]

    def section(self, name, q, u):
        return self.calls.values(name, 0.0, q.tolist(), u.tolist(), self.p, self.c, [])

    def dense(self, q, u):
        """u' of the whole system solved at once."""
        program = self.sim.loaded.program
        parts = program.loops.system_sizes(len(q)).unpack(self.section("system", q, u))
        m, n = parts.J.shape
        K = np.block([[parts.M, parts.J.T], [parts.J, np.zeros((m, m))]])
        return np.linalg.lstsq(K, np.concatenate([parts.f, parts.gamma]), rcond=1e-13)[0][:n]


def assembly_and_accelerations(count, seed):
    rng = np.random.default_rng(seed)
    values, angles = drawn(rng, count)
    model = Assembled(blocks(count), values)
    names, speeds = model.names
    exact = np.array([angles[name] for name in names])
    free = np.array([name[2] in "bc" and name != "q(carriage)" for name in names])
    guess = exact + np.where(free, rng.uniform(-0.05, 0.05, len(exact)), 0.0)
    moving = np.array([name[2] in "bc" and name != "u(carriage)" for name in speeds])
    q, u = model.close(
        0.0, guess, np.where(moving, 0.0, rng.normal(size=len(speeds))), free, moving
    )
    assert np.abs(q - exact).max() < 1e-11
    assert np.abs(model.section("closure", q, u)[: 2 * count]).max() < 1e-12
    found, wanted = model.sim.derivatives(0.0, q, u, parameters=values)[1], model.dense(q, u)
    assert np.abs(found - wanted).max() < 1e-10 * max(1.0, np.abs(wanted).max())


def through_a_singular_configuration(count, seed):
    """A parallelogram passes the line on which all its rods lie and stays one; the other blocks are
    regular."""
    rng = np.random.default_rng(seed)
    values, angles = drawn(rng, count)
    b = int(
        rng.choice(
            [i for i in range(count) if not shares(i) and (i + 1 == count or not shares(i + 1))]
        )
    )
    length, base = rng.uniform(0.5, 1.0), rng.uniform(1.2, 1.8)
    values |= {f"l_a{b}": length, f"l_c{b}": length, f"l_b{b}": base, f"d{b}": base}
    angle = rng.uniform(0.02, 0.05)
    angles |= {f"q(a{b})": angle, f"q(b{b})": -angle, f"q(c{b})": angle}
    model, speed = Assembled(blocks(count), values), rng.uniform(-3.0, -2.0)
    names, speeds = model.names
    q = np.array([angles[name] for name in names])
    turns = {f"u(a{b})": speed, f"u(b{b})": -speed, f"u(c{b})": speed}
    u = np.array([turns.get(name, 0.0) for name in speeds])
    run = model.sim.simulate(
        initial=(q, u), parameters=values, t_end=0.05, step=5e-4, method="rk4", output_every=1
    )
    a, c = run[f"q(a{b})"], run[f"q(c{b})"]
    assert a[0] > 0.0 > a[-1] and np.abs(a - c).max() < 1e-9
    for i in range(0, len(run), 10):
        state = [np.array([run[name][i] for name in group]) for group in model.names]
        assert np.abs(model.section("closure", *state)[: 2 * count]).max() < 1e-12
        found, wanted = (
            model.sim.derivatives(0.0, *state, parameters=values)[1],
            model.dense(*state),
        )
        if abs(a[i]) > 0.01:
            assert np.abs(found - wanted).max() < 1e-8 * max(1.0, np.abs(wanted).max())


@pytest.mark.parametrize("seed", range(10))
def test_assembly_and_accelerations_of_some_blocks(seed):
    assembly_and_accelerations((1, 3)[seed % 2], seed)


@pytest.mark.parametrize("seed", range(4))
def test_one_of_some_blocks_passes_its_singular_configuration(seed):
    through_a_singular_configuration((1, 3)[seed % 2], 100 + seed)


@pytest.mark.campaign
@pytest.mark.parametrize("count", range(1, 13))
def test_assembly_and_accelerations_of_many_blocks(count):
    for seed in range(1000 + count, 1504, 12):
        assembly_and_accelerations(count, seed)


@pytest.mark.campaign
@pytest.mark.parametrize("count", range(1, 13))
def test_one_of_many_blocks_passes_its_singular_configuration(count):
    for seed in range(2000 + count, 2504, 12):
        through_a_singular_configuration(count, seed)
