"""Masses, inertias and loads divided by one constant: other intermediate results, the same
accelerations."""

import pytest

import bellcrank as bc
from bellcrank.mechanics.dynamics.accelerations import (
    candidate_derivations,
    mass_units,
    prepare_tree_system,
)
from bellcrank.symbolic.expr import Symbol
from tests.models import derived


def parameter(name):
    return Symbol(name, "parameter")


def units(system):
    analysis = system.equations(optimise="none").analysis
    return {unit.fingerprint for unit in mass_units(prepare_tree_system(analysis, None, True).tree)}


def ways(analysis, **more):
    for way in candidate_derivations(analysis, "auto", **more):
        yield {i: value.fingerprint for i, value in way.udot.items()}


@pytest.mark.parametrize("name", ["stanford_arm_controlled", "spacecraft_1", "spacecraft_2"])
def test_every_unit_gives_the_same_accelerations(name):
    analysis = derived(name)[1].analysis
    plain = next(ways(analysis))
    found = list(ways(analysis, units=True))
    assert len(found) > len(list(ways(analysis)))
    assert all(values == plain for values in found)


def test_a_unit_is_what_a_leaf_resists_its_acceleration_with():
    s = bc.System("geared leaf")
    a = s.add_body("a", rotate=1, mass="m", inertia=("I", "I", "I"), cm=("c", 0, 0))
    s.add_body("b", a, rotate=3, mass="n", inertia=("x", "y", "z"), cm=("l", 0, 0), armature="ar")
    wanted = parameter("z") + parameter("n") * parameter("l") ** 2 + parameter("ar")
    assert units(s) == {wanted.fingerprint}


def test_the_mass_of_a_free_body_counts_what_it_carries():
    """A base without mass below a sliding load is a valid model: its own mass is no unit, the sum
    is."""
    s = bc.System("load")
    base = s.add_body(
        "base", translate=(1, 2, 3), rotate=(1, 2, 3), mass="m", inertia=("I", "I", "I")
    )
    s.add_body("load", base, translate=1, mass="n", inertia=("I", "I", "I"))
    assert units(s) == {(parameter("m") + parameter("n")).fingerprint, parameter("n").fingerprint}


def test_numbers_and_what_varies_are_no_units():
    s = bc.System("two links")
    a = s.add_body("a", rotate=1, mass=1, inertia=(1, 1, 1))
    s.add_body("b", a, rotate=1, mass=2, inertia=(3, 3, 3), cm=(0, 0, 1), joint_at=(0, 0, 1))
    assert units(s) == set()
