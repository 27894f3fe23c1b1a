"""What joints answer to the stages: starting values, what binds coordinates, locked positions,
words. No stage asks for kinds."""

from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model.build_mechanism import build_mechanism
from bellcrank.model.joints.labels import BodyLabels
from bellcrank.symbolic.expr import evaluate

SOURCE = Path(bc.__file__).parent


def joint(**options):
    s = bc.System("one")
    s.add_body("b", mass=1, inertia=(1, 2, 3), **options)
    mechanism, checker = build_mechanism(s.description)
    assert not checker.problems
    return mechanism.bodies[0].joint, mechanism


@pytest.mark.parametrize(
    ("options", "text", "lock"),
    [
        ({}, "fixed", None),
        ({"translate": (1, 2), "rotate": 3}, "2 slides, 1 rotation", None),
        ({"rotate": (3, 2, 1)}, "3 rotations", ("q(b, 2)", np.pi / 2)),
        ({"translate": (1, 2, 3), "rotate": (3, 1, 3)}, "3 slides, 3 rotations", ("q(b, 5)", 0.0)),
        ({"rotate": "euler-parameters"}, "free rotation", None),
        ({"joint": bc.Screw(0.1)}, "screw", None),
    ],
)
def test_freedoms_in_words_and_where_angles_lock(options, text, lock):
    found, _ = joint(**options)
    assert found.text == text
    assert (found.lock and (found.lock[0].name, found.lock[1])) == lock
    names = BodyLabels("B", "B", "n", "the inertial reference", "the fixed origin")
    assert [s for s, _ in found.coordinate_words(names)] == list(found.q)
    assert [s for s, _ in found.speed_words(names)] == list(found.u)


def test_euler_parameters_start_upright_and_have_unit_size():
    found, mechanism = joint(translate=1, rotate="euler-parameters")
    assert {s.name: x for s, x in mechanism.nonzero_reference_values.items()} == {"q(b, 2)": 1}
    ((text, size),) = mechanism.normalization_constraints
    assert text == "unit size of the Euler parameters of b"
    assert evaluate([size], {f"q(b, {i})": i for i in (2, 3, 4, 5)}) == [4 + 9 + 16 + 25 - 1]
    assert [s.name for s in found.slide_coordinates] == ["q(b, 1)"]


def test_kinds_of_joints_are_known_to_the_model_and_one_builder_of_links():
    kinds = (
        "joints.plain",
        "joints.rotation",
        "joints.functions",
        "joints.guided import Guid",
        "joints.screw",
    )
    asking = {
        p.relative_to(SOURCE).as_posix()
        for p in SOURCE.rglob("*.py")
        if any(k in p.read_text(encoding="utf-8") for k in kinds)
        and p.parent != SOURCE / "model" / "joints"
    }
    makers = {
        "model/bodies.py",
        "model/checker.py",
        "model/describe/linkage_joint.py",
        "model/guided_linkage.py",
        "kane/equations.py",
    }
    assert asking - makers == {"mechanics/dynamics/tree.py"}
