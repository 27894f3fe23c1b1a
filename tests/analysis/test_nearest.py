"""The equilibrium nearest to the start, its distance and its stability; compared with damped motion
by SciPy."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bellcrank as bc


def chain(links, backend="python", springs=()):
    """Pendulums hanging from each other, with torsion springs in their joints."""
    s = bc.System("chain", units="mks", axes="ISO 8855")
    parent = None
    for i in range(links):
        at = {} if parent is None else {"parent": parent, "joint_at": (0, 0, -1)}
        parent = s.add_body(f"b{i}", rotate=2, mass=1, cm=(0, 0, -1), inertia=0, **at)
        if springs:
            s.add_moment(
                f"k{i}", direction=parent[2], magnitude=f"-{springs[i]}*q(b{i})", on=parent
            )
    s.add_gravity()
    s.set_defaults(g=9.81)
    return s.equations().compile(backend=backend)


@pytest.fixture(scope="module")
def pendulum():
    return chain(1)


@pytest.mark.parametrize(
    "q0", [0.0, 0.3, 1.0, 1.3, 1.57, math.pi / 2, 1.58, 2.0, 2.2, 3.0, 7.0, -20.0, 100.0]
)
def test_a_pendulum_stays_within_half_a_turn(pendulum, q0):
    found = pendulum.equilibrium(at={"q(b0)": q0})
    assert abs(math.sin(found["q(b0)"])) < 1e-10
    assert abs(found.moved["q(b0)"]) < 2.1
    assert found["q(b0)"] - q0 == pytest.approx(found.moved["q(b0)"], abs=1e-12)
    assert found.distance == {"rad": abs(found.moved["q(b0)"])}
    hanging = math.cos(found["q(b0)"]) > 0
    assert found.stability == ("stable, undamped" if hanging else "unstable")
    assert bool(found.settles) == (not hanging)


def test_an_unstable_one_says_where_damped_motion_leads(pendulum):
    found = pendulum.equilibrium(at={"q(b0)": 2.5})
    assert found["q(b0)"] == pytest.approx(math.pi)
    assert found.settles == pytest.approx({"q(b0)": 0.0})
    assert max(x.real for x in found.eigenvalues) == pytest.approx(math.sqrt(9.81))
    assert "damped motion from the start leads to another equilibrium: q(b0) = 0 rad" in str(found)
    assert "stability: unstable; eigenvalues 3.1321, -3.1321 1/s" in str(found)
    assert "distance from the start: q(b0) by 0.641593 rad" in str(found)


def test_all_analyses_use_the_same_operating_point(pendulum):
    assert pendulum.modes()[0].eigenvalue.imag == pytest.approx(math.sqrt(9.81))
    linear = pendulum.linearize()
    assert linear.equilibrium
    assert linear.stability == pendulum.modes().stability == "stable, undamped"
    assert "stability: stable, undamped" in str(linear)
    assert not pendulum.linearize({"q(b0)": 0.3}).equilibrium


def test_a_model_without_equilibrium_says_what_to_do():
    s = bc.System("falls")
    s.add_body("b", translate=3, mass=1)
    s.add_gravity()
    with pytest.raises(bc.NoEquilibrium, match="give at='start'"):
        s.equations().compile(backend="python").linearize()


def settled(sim, q):
    """Where damped motion q' = u'(q, 0) leads, by SciPy."""
    still = [0.0] * len(q)
    run = solve_ivp(
        lambda _, x: sim.derivatives(0, x.tolist(), still)[1],
        (0, 200),
        q,
        "LSODA",
        rtol=1e-8,
        atol=1e-10,
    )
    return run.y[:, -1]


def check_chain(sim, q):
    """The equilibrium found is that of damped motion, or it is unstable and the result says where
    that leads."""
    names = [f"q(b{i})" for i in range(len(q))]
    found = sim.equilibrium(at=dict(zip(names, q.tolist(), strict=True)))
    here = np.array([found[n] for n in names])
    assert np.abs(sim.derivatives(0, here.tolist(), [0.0] * len(q))[1]).max() < 1e-7
    assert np.abs(here - q).max() < 2 * math.pi
    other = settled(sim, q)
    if found.stability == "unstable":
        assert found.settles
        here = np.array([found.settles[n] for n in names])
    assert np.abs(here - other).max() < 1e-3


@pytest.mark.parametrize("links", [2, 3])
def test_a_few_chains(links):
    sim, rng = chain(links), np.random.default_rng(links)
    for _ in range(3):
        check_chain(sim, rng.uniform(-math.pi, math.pi, links))


@pytest.mark.campaign
@pytest.mark.parametrize("links", [1, 2, 3, 4])
@pytest.mark.parametrize("stiff", [0.0, 6.0])
def test_chains_from_many_starts(links, stiff):
    rng = np.random.default_rng(10 * links)
    sim = chain(
        links, "c", tuple(rng.uniform(0.5, 1) * stiff for _ in range(links)) if stiff else ()
    )
    for _ in range(125):
        check_chain(sim, rng.uniform(-3.5, 3.5, links))


# ---- folds


def held_rod(cm, magnitude, initial):
    """A rod on a hinge with a moment."""
    s = bc.System("rod", units="mks", axes="ISO 8855")
    rod = s.add_body("rod", rotate=2, mass=1, cm=cm, inertia=0)
    s.add_gravity()
    s.add_moment("drive", magnitude=magnitude, direction=rod[2], on=rod)
    s.set_defaults(g=10, T=0, k=5) if "k" in magnitude else s.set_defaults(g=10, T=0)
    s.set_run(t_end=1, step=0.01, initial={"q(rod)": initial})
    return s.equations().compile(backend="python")


@pytest.mark.parametrize("count", [4, 13, 40])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_snap_through_is_a_fold(count, sign):
    """T = k q - m g l sin(q): the branch turns back at cos(q) = k/(m g l)."""
    sim = held_rod((0, 0, 1), "T - k*q(rod)", -1.5 * sign)
    found = sim.equilibria("T", sign * np.linspace(-4, 8, count))
    (fold,) = found.folds
    q = -sign * math.acos(0.5)
    assert fold.value == pytest.approx(5 * q - 10 * math.sin(q), abs=1e-5)
    assert fold.at["q(rod)"] == pytest.approx(q, abs=0.01)
    assert fold.to["q(rod)"] * sign > 1
    q = found["q(rod)"]
    assert 5 * q - 10 * np.sin(q) == pytest.approx(found.values, abs=1e-8)
    assert np.all((sign * q < 0) == (sign * found.values < abs(fold.value)))
    assert set(found.stability) == {"stable, undamped"}
    assert "fold at T = " in str(found)
    assert "belong to another branch" in str(found)


@pytest.mark.campaign
def test_beyond_the_last_fold_there_is_no_equilibrium():
    found = held_rod((0, 0, -1), "T", 0.0).equilibria("T", [0, 6, 9, 12, 15, 8])
    (fold,) = found.folds
    assert fold.value == pytest.approx(10, abs=1e-4)
    assert fold.to is None
    assert np.isnan(found["q(rod)"]).tolist() == [False] * 3 + [True] * 2 + [False]
    assert found.stability[3:5] == ("none", "none")
    assert "none was found after it" in str(found)
