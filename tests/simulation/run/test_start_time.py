"""Runs that begin at another time than zero."""

import numpy as np
import pytest

import bellcrank as bc


def oscillator() -> bc.System:
    s = bc.System("oscillator", units="mks")
    mass = s.add_body("mass", translate=3, mass="m")
    s.add_input("z", units="L")
    s.add_force(
        "f", magnitude="-k*(x - z) - c*v + f0*sin(3*t)", direction=s.inertial[3], at=mass.origin
    )
    s.set_defaults(m=1, k=40, c=0.5, f0=3)
    return s


@pytest.fixture(scope="module")
def equations() -> bc.Equations:
    return oscillator().equations()


@pytest.mark.parametrize("backend", ["c", "python"])
@pytest.mark.parametrize("method", ["rk4", "rk2", "euler", "heun", "RK45"])
def test_a_run_from_later_on_is_the_rest_of_the_whole(
    equations: bc.Equations, backend: str, method: str
) -> None:
    """Inputs with a jump and formulas over t see the time; the last steps are the same but for
    rounding."""
    sim = equations.compile(backend=backend)
    given = {
        "t_end": 2,
        "step": 0.01,
        "method": method,
        "inputs": {"z": bc.signals.step(at=1.234, height=0.3)},
    }
    whole = sim.simulate(**given)
    rest = sim.simulate(
        t_start=1, initial={x: whole[x][100] for x in ("q(mass)", "u(mass)")}, **given
    )
    assert rest.time[0] == 1 and rest.time[-1] == 2 and len(rest) == 101
    assert rest["q(mass)"] == pytest.approx(
        whole["q(mass)"][100:], abs=1e-8 if method == "RK45" else 1e-14
    )


def test_loops_assemble_and_close_at_the_start_time() -> None:
    """A rod driven by a constraint over time: its angle at the start is that of the time."""
    s = bc.System("driven", units="mks")
    rod = s.add_body("rod", rotate=3, mass=1, inertia=(1, 1, 1))
    s.add_body(
        "bob", parent=rod, rotate=3, joint_at=(1, 0, 0), cm=(1, 0, 0), mass=1, inertia=(1, 1, 1)
    )
    s.add_constraint("q(rod) - sin(2*t)")
    run = s.equations().compile().simulate(t_start=0.5, t_end=1, step=0.01)
    assert run["q(rod)"] == pytest.approx(np.sin(2 * run.time), abs=1e-10)


@pytest.mark.parametrize(
    "given, told",
    [
        ({"t_start": 3, "t_end": 2}, "t_end=2 s must be later than t_start=3 s"),
        ({"t_start": "soon"}, "t_start is 'soon', not a number"),
        (
            {"t_start": 1, "t_end": 1.5, "step": 1.0},
            "step=1 s is larger than the run, t = 1 to 1.5 s",
        ),
        (
            {"t_start": 1e6, "t_end": 1e6 + 1e-3, "step": 1e-11},
            "step=1e-11 s is too small at t = 1e+06 s",
        ),
        (
            {"inputs": {"z": ([0.5, 1], [0, 1])}},
            "covers t = 0.5 to 1 s, but the run goes from 0 to 1 s",
        ),
    ],
)
def test_what_cannot_be_is_told(equations: bc.Equations, given: dict, told: str) -> None:
    sim = equations.compile(backend="python")
    with pytest.raises(bc.BellcrankError, match=told.replace("+", r"\+")):
        sim.simulate(**{"t_end": 1, "inputs": {"z": 0}, **given})
    assert (
        sim.simulate(t_start=0.5, t_end=1, step=0.01, inputs={"z": ([0.5, 1], [0, 1])}).ended
        == "finished"
    )
