"""States of the user's own: closed forms, both backends, stand-alone programs, analyses, the check,
bad input."""

import numpy as np
import pytest

import bellcrank as bc
from tests.programs import MAINLY_C, build


def lagged():
    """A mass pushed by a force that follows its command with a lag."""
    s = bc.System("lag", axes="ISO 8855")
    body = s.add_body("b", translate=1, mass="m", inertia=0)
    s.add_input("command", units="F")
    s.add_state("f", rate="(command - f)/tau", label="lagged force")
    s.add_force("push", magnitude="f", direction=s.inertial[1], at=body.origin)
    s.set_defaults(m=2, tau=0.1)
    s.set_run(t_end=1, step=0.01, inputs={"command": 3.0})
    return s


@pytest.mark.parametrize("backend", ["c", "python"])
def test_lag_follows_the_exponential(backend):
    run = lagged().equations().compile(backend=backend).simulate(initial={"f": 1.0})
    force = 3 - 2 * np.exp(-run.time / 0.1)
    assert run["f"] == pytest.approx(force, abs=3e-6)
    speed = (3 * run.time - 0.2 * (1 - np.exp(-run.time / 0.1))) / 2
    assert run["u(b)"] == pytest.approx(speed, abs=1e-6)
    assert run.units["f"] == "N"  # deduced from where it stands


def test_linear_model_and_equilibrium_hold_the_state():
    sim = lagged().equations().compile()
    linear = sim.linearize("start")
    names = [x.name for x in linear.states]
    A = np.asarray(linear.A)
    assert A[names.index("f"), names.index("f")] == pytest.approx(-10)
    assert A[names.index("u(b)"), names.index("f")] == pytest.approx(0.5)
    assert sim.equilibrium(inputs={"command": 0.0})["f"] == pytest.approx(0, abs=1e-12)


def test_check_finds_a_wrong_rate():
    s = lagged()
    assert bc.check(s, states=3).passed
    eom = s.equations()
    wrong = lagged()
    wrong.description.states[0].rate = "(command - 1.001*f)/tau"
    assert not bc.check(wrong, states=3, equations=eom).passed


@pytest.mark.parametrize(
    ("rate", "message"),
    [
        ("fm(push)", r"state 'f': rate: .*fm\(\) cannot be in the rate"),
        ("up(b)", "acceleration, which is an algebraic loop"),
        ("dxdt(f)", "the rate of f is not known here"),
        ("2*(", "state 'f': rate:"),
    ],
)
def test_bad_rates(rate, message):
    s = lagged()
    s.description.states[0].rate = rate
    with pytest.raises(bc.ModelError, match=message):
        s.equations()


def test_names_of_states_are_scalars():
    s = lagged()
    name = s.description.states[0].name
    s.add_input(name)
    with pytest.raises(bc.ModelError, match=f"scalar '{name}': the name is used twice"):
        s.equations()


def test_parameters_that_must_be_positive():
    s = lagged()
    s.require_positive("tau")
    with pytest.raises(bc.ModelError, match="parameter 'tau' is 0; it must be positive"):
        s.equations().compile().simulate(parameters={"tau": 0})


def test_constraint_may_hold_a_state():
    """A body that follows a state by a removed speed: its acceleration is known without that of the
    input."""
    s = bc.System("follower", axes="ISO 8855")
    body = s.add_body("b", translate=1, mass=2, inertia=0)
    rider = s.add_body("r", body, translate=3, mass=1, inertia=0)
    s.add_input("goal", units="L")
    s.add_state("z", rate="(goal - z)/tau", units="L")
    s.add_constraint("u(b) - (z - q(b))/tau", eliminate=body.u[1])
    s.add_force("spring", magnitude="-k*x", direction=s.inertial[3], at=rider.origin)
    s.add_output("a", "dxdt(u(b))")
    s.set_defaults(tau=0.2, k=10)
    s.set_run(t_end=1, step=0.01, inputs={"goal": bc.signals.step(0, 1)})
    assert bc.check(s, states=3).passed
    run = s.equations().compile().simulate()
    x = run.time / 0.2
    assert run["q(b)"] == pytest.approx(1 - (1 + x) * np.exp(-x), abs=1e-6)
    assert run["a"][1:] == pytest.approx(((1 - x) * np.exp(-x) / 0.04)[1:], abs=1e-4)


@pytest.mark.parametrize("language", MAINLY_C)
def test_standalone_programs_run_the_state(language, tmp_path):
    """The default run of the written program is that of the library."""
    s = lagged()
    run = s.equations().compile().simulate()
    found = build(s.equations(), language, tmp_path / "program").run(tmp_path / "run")
    assert found["f"] == pytest.approx(run["f"], rel=1e-6)


def swinging(loop):
    """A pendulum with a force that lags behind its place: by an angle, or by two translations and a
    constraint."""
    s = bc.System("pendulum", axes="ISO 8855")
    if loop:
        bob = s.add_point_mass("b", translate=(1, 3), mass=1)
        s.add_constraint("q(b, 1)**2 + q(b, 2)**2 - 1")
        s.set_run(initial={"q(b, 1)": 1})
        point = bob.origin
    else:
        point = s.add_body("b", rotate=2, mass=1, inertia=0, cm=(1, 0, 0)).cm
    s.add_gravity()
    s.define("x_b", bc.dot(bc.pos(point), s.inertial[1]))
    s.add_state("z", rate="(x_b - z)/tau")
    s.add_force("push", magnitude="-k*z", direction=s.inertial[1], at=point)
    s.set_defaults(tau=0.3, k=2)
    s.set_run(t_end=2, step=0.005)
    return s


@pytest.mark.campaign
def test_states_beside_closed_loops():
    reference = swinging(False).equations().compile().simulate()
    s = swinging(True)
    eom = s.equations()
    assert bc.check(s, states=3, equations=eom).passed
    for dae in ("projection", "dlmm"):
        assert eom.compile().simulate(dae=dae)["z"] == pytest.approx(reference["z"], abs=1e-7)


def test_positions_are_not_bound_to_states():
    s = swinging(False)
    s.add_constraint("q(b) - z/l")
    with pytest.raises(bc.ModelError, match="positions cannot be bound to user-defined states"):
        s.equations()
