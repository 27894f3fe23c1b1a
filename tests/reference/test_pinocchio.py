"""Random trees: accelerations agree with Pinocchio (Carpentier et al. 2019), the forms of solution
with each other."""

import numpy as np
import pytest
from cases import assert_close

pytest.importorskip("pinocchio")
from random_trees import PinocchioTree, bellcrank_system, offsets, random_state, random_tree

GRAVITY = 9.81


def tree_and_system(seed, bodies=None):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, bodies)
    gravity = rng.normal(size=3)
    gravity *= GRAVITY / np.linalg.norm(gravity)
    return rng, tree, gravity, bellcrank_system(rng, tree, gravity)


def level(seed):
    """The extraction pass is what takes time on dense random trees: every fourth goes through
    it."""
    return "default" if seed % 4 == 0 else "none"


def compare(seed, states=2, bodies=None):
    """Everything that determines the motion: joint accelerations, mass centres, and the turning of
    free bodies."""
    rng, tree, gravity, system = tree_and_system(seed, bodies)
    sim = system.equations(optimise=level(seed)).compile(backend="python")
    peer = PinocchioTree(tree, gravity)
    first_u = offsets(tree, "speeds")
    for _ in range(states):
        q, u = random_state(rng, tree)
        qdot, udot = sim.derivatives(0.0, q, u)
        outputs = sim.outputs(0.0, q, u)
        peer.accelerate(q, qdot)
        got, expected = [], []
        for b, link in enumerate(tree):
            if link.kind in ("revolute", "prismatic"):
                got.append(udot[first_u[b]])
                expected.append(peer.joint_acceleration(b))
            elif link.kind != "fixed":
                rotation = slice(first_u[b] + 3, first_u[b] + 6)
                w, alpha = peer.angular(b)
                assert_close(u[rotation], w, 1e-9)
                got.extend(udot[rotation])
                expected.extend(alpha)
            got.extend(outputs[f"{link.name} a{i}"] for i in (1, 2, 3))
            expected.extend(peer.mass_centre_acceleration(b))
        assert_close(
            [*got, GRAVITY], [*expected, GRAVITY], 1e-9
        )  # a tree at rest has no acceleration to compare with


# trees of this range whose derivation takes longest; larger ones and 300 more are in the campaign
# too
LONG = {*range(40)} - {1, 6, 14, 21}


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=pytest.mark.campaign) if s in LONG else s for s in range(40)]
)
def test_random_tree(seed):
    compare(seed)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_random_tree_campaign(seed):
    compare(seed, states=3)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(8))
def test_large_tree(seed):
    compare(seed, bodies=15)


def solutions_agree(seed):
    rng, tree, _, system = tree_and_system(seed)
    forms = ("explicit", "implicit", "order-n", "auto")
    sims = [
        system.equations(solve=s, optimise=level(seed)).compile(backend="python") for s in forms
    ]
    q, u = random_state(rng, tree)
    reference, *others = (sim.derivatives(0.0, q, u) for sim in sims)
    for qdot, udot in others:
        assert_close(qdot, reference[0], 1e-12)
        assert_close(udot, reference[1], 1e-9)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", (*range(10), *range(1000, 1060)))
def test_explicit_implicit_and_order_n_agree(seed):
    solutions_agree(seed)
