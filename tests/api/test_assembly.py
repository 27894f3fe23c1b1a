"""Loops closed from rough guesses: what is given is kept as long as there is an assembly with
it."""

import warnings

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.simulation.run.initial_assembly import _assemble_from_other_starts
from tests.programs import COMPILED, build

LINKS, GROUND = (2.0, 1.2, 1.5), 2.5


def rocker():
    """Neither of its outer links turns round: from all links stretched, Newton's iteration runs
    into a fold."""
    s = bc.System("double rocker")
    ground = s.add_point("ground", body=s.inertial, at=(GROUND, 0, 0))
    parent, at = s.inertial, 0
    for name, length in zip("abc", LINKS, strict=True):
        parent = s.add_body(
            name, parent=parent, joint_at=(at, 0, 0), rotate=3, mass=1, inertia=(1, 1, 1)
        )
        at = length
    s.add_loop_joint(
        "loop",
        between=(s.add_point("tip", body=parent, at=(at, 0, 0)), ground),
        directions=("[n1]", "[n2]"),
    )
    return s


@pytest.fixture(scope="module")
def double_rocker():
    return rocker().equations().compile(backend="python")


@pytest.mark.parametrize("angle", [0.3, 0.6, 1.0, 1.2, -0.6])
def test_a_given_angle_is_kept_where_an_assembly_has_it(double_rocker, angle):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        q, _ = double_rocker.assemble({"q(a)": angle})
    assert q[0] == angle
    turned = np.cumsum(q)
    assert abs(np.dot(LINKS, np.exp(1j * turned)) - GROUND) < 1e-12


def test_a_given_angle_beyond_reach_is_changed_with_a_warning(double_rocker):
    reach = np.arccos(
        (LINKS[0] ** 2 + GROUND**2 - (LINKS[1] + LINKS[2]) ** 2) / (2 * LINKS[0] * GROUND)
    )
    with pytest.warns(bc.ModelWarning, match=r"changed: q\(a\) 1.3 -> "):
        q, _ = double_rocker.assemble({"q(a)": 1.3})
    assert abs(q[0]) <= reach < 1.3


def test_of_assemblies_found_from_other_starts_the_nearest_is_taken(double_rocker):
    """Whatever its speeds are, and in whatever order they were found."""
    q, u, may = np.array([0.4, -0.2, 0.9]), np.zeros(3), np.ones(3, dtype=bool)
    near, far = (q + 0.1, np.array([9.0, 9.0, 9.0])), (q + 2.0, q)
    found = iter([far, near])

    class Found:
        def evaluate(self, t, q, u):
            return (np.array([0.1]),)

        def assemble(self, *given, nudges):
            return next(found, far)

    assert _assemble_from_other_starts(double_rocker.loaded, 0.0, q, u, may, may, Found()) is near


@pytest.mark.campaign
@pytest.mark.parametrize("language", COMPILED[:1])
def test_programs_close_loops_from_other_starts_as_well(language, double_rocker, tmp_path):
    s = rocker()
    s.set_run(t_end=0.01, step=0.01, initial={"q(a)": 0.3})
    program = build(s.equations(), language, tmp_path / "written")
    for angle in (0.3, 1.2, -0.6):
        run = program.run(tmp_path / str(angle), f"Q(1) {angle!r}")
        q = np.array([run[x.name][0] for x in double_rocker.interface.coordinates])
        assert q[0] == angle and abs(np.dot(LINKS, np.exp(1j * np.cumsum(q))) - GROUND) < 1e-12
        np.testing.assert_allclose(q, double_rocker.assemble({"q(a)": angle})[0], atol=1e-12)
