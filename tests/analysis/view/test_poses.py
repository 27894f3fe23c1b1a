"""Where bodies are: the section of the program against an evaluation by another way, in both
languages."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.simulation.backend.compiler import find_compiler
from bellcrank.simulation.run.body_poses import add_pose_functions, make_pose_model
from bellcrank.simulation.run.dae_runs import RunSegment
from bellcrank.verify.bodies import ReferenceMechanism
from bellcrank.verify.formulas import ParameterValues
from tests.models import example


def machine():
    """All kinds of joints in one tree, with frames that are turned, lengths as parameters, one of
    them idle."""
    s = bc.System("tree", units="mks")
    base = s.add_body("base", translate=(1, 2, 3), rotate=(3, 1, 2), mass=2, cm=(0.1, 0.2, -0.3))
    arm = s.add_body(
        "arm", base, rotate=1, rotation_axis=(0.3, 0.4, "a"), joint_at=("l", 0.2, 0), mass=1
    )
    s.add_body(
        "slide",
        arm,
        translate=((1, 2, 2),),
        joint_at=(0, "h", 0.5),
        orientation=((2, 0.4), (1, -0.7)),
        mass=1,
    )
    s.add_body("free", translate=(1, 2, 3), rotate="euler-parameters", mass=3)
    s.add_body("nut", base, joint=bc.Screw("pitch", axis=(1, 1, 0)), joint_at=(0, 0, "l"), mass=1)
    s.add_body("fixed", "nut", joint_at=(0.3, "k", 0), orientation=((3, 0.3),), mass=0, inertia=0)
    s.set_defaults(
        l=0.7,
        h=0.3,
        k=0.9,
        a=0.8,
        pitch=0.2,
        **{f"{b}i{i}{i}": 1 for b in ("base", "arm", "slide", "free", "nut") for i in (1, 2, 3)},
    )
    s.set_defaults(
        {f"{b}i{i}": 0 for b in ("base", "arm", "slide", "free", "nut") for i in (12, 13, 23)}
    )
    return s


def by_another_way(description, values, q):
    motion = ReferenceMechanism.from_description(description, ParameterValues(values)).motion(
        np.array(q), np.zeros(len(q) - 1 if len(q) > 8 else len(q))
    )
    return np.array([[*motion.p[i], *motion.R[i].ravel()] for i in range(len(description.bodies))])


def test_poses_are_those_found_by_another_way():
    s = machine()
    sim = s.equations(optimise="none").compile(backend="python")
    model, p = make_pose_model(sim.loaded), sim.parameter_values()
    assert [x.name for x in model.program.parameters][-1:] == [
        "k"
    ]  # it moves nothing that has a mass
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(3):
        q = rng.normal(size=len(model.program.coordinates))
        e = [i for i, x in enumerate(model.program.coordinates) if x.name.startswith("q(free")][3:]
        q[e] /= np.linalg.norm(q[e])
        rows.append([0.0, *q, *np.zeros(len(model.program.speeds))])
    found = model.poses_of_rows(
        [RunSegment(np.array(rows), p, [0.0] * len(model.program.constant_symbols))]
    )
    assert found.shape == (3, 6, 12)
    for row, poses in zip(rows, found, strict=True):
        q = np.array(row[1 : 1 + len(model.program.coordinates)])
        expected = by_another_way(
            s.description, {"l": 0.7, "h": 0.3, "k": 0.9, "a": 0.8, "pitch": 0.2}, q
        )
        assert np.abs(poses - expected).max() < 1e-13
        R = poses[:, 3:].reshape(-1, 3, 3)
        assert np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max() < 1e-13


@pytest.mark.campaign
@pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")
def test_poses_are_a_section_that_c_has_too():
    eom = example("double_pendulum")
    program = add_pose_functions(eom.analysis, eom.program)
    assert len(program.functions["poses"].labels) == 24 and program.count == eom.program.count
    python, c = (eom.compile(backend=b) for b in ("python", "c"))
    model = c.loaded.model.like(program, c.loaded.functions)
    q, u = python.assemble()
    at = (
        0.0,
        list(q),
        list(u),
        python.parameter_values(),
        model.calls().constants(python.parameter_values()),
        [],
    )
    ours = python.loaded.model.like(program, python.loaded.functions).calls().values("poses", *at)
    assert model.calls().values("poses", *at) == pytest.approx(ours, abs=1e-15)
