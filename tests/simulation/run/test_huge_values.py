"""Values that no computer number can hold, or that lead to such, are told where they are given."""

import pytest

import bellcrank as bc
from tests.models import example

HUGE = 10**5000


@pytest.mark.parametrize("method", ["rk4", "euler"])
def test_a_run_without_one_finite_step_is_told(method):
    """The check of the step looked for the last finite row: IndexError."""
    run = (
        example("four_bar")
        .compile(backend="python")
        .simulate(t_end=0.1, method=method, initial={"u(a)": 1.7976931348623157e308})
    )
    assert not run.ok


def test_speeds_that_follow_from_huge_ones(capfd):
    """LinAlgError, after LAPACK had printed to the terminal."""
    sim = example("rolling_disc").compile(backend="python")
    with pytest.raises(bc.ModelError, match=r"u\(yaw, 1\) = 1e\+308 is too large"):
        sim.simulate(t_end=0.1, initial={"u(yaw, 1)": 1e308})
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "given",
    [
        {"mass": HUGE},
        {"mass": -HUGE},
        {"inertia": HUGE},
        {"inertia": (1, 1, HUGE)},
        {"inertia": [[HUGE, 0, 0], [0, 1, 0], [0, 0, 1]]},
        {"cm": (HUGE, 0, 0)},
        {"joint_at": (0, -HUGE, 0)},
        {"armature": HUGE},
    ],
    ids=range(8),
)
def test_integers_of_thousands_of_digits(given):
    """Python refuses to print them: ValueError."""
    system = bc.System("b", units="SI")
    system.add_body("b", rotate="z", **{"mass": 1, "inertia": (1, 1, 1), **given})
    with pytest.raises(bc.ModelError, match=r"too large for a computer number|inertia="):
        system.equations()
