"""Steps are not called too large where a formula jumps, nor by equations that the run does not
integrate."""

import warnings

import pytest

import bellcrank as bc

pytestmark = pytest.mark.filterwarnings("ignore:model .* jumps where:bellcrank.ModelWarning")


def sliding(formula, stiffness=0.0):
    s = bc.System("sliding", axes="ISO 8855")
    body = s.add_point_mass("b", translate=1, mass=1)
    s.add_force("dry", magnitude=formula, direction=s.inertial[1], at=body.origin)
    s.add_force("spring", magnitude=f"-{stiffness}*x", direction=s.inertial[1], at=body.origin)
    return s.equations().compile(backend="python")


def told(sim, **options):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        run = sim.simulate(t_end=0.2, **options)
    return "; ".join([*(str(w.message) for w in found), run.ended])


@pytest.mark.parametrize(
    "formula", ["-2*sign(v)", "-2*where(v > 0, 1, -1)", "-2*sign(v) - 5*v", "-2*sign(v + 3e-7)"]
)
@pytest.mark.parametrize("method", ["rk4", "rk2", "euler"])
def test_dry_friction_is_no_stiff_damper(formula, method):
    """A body at rest, and one that comes to rest: the jump was an eigenvalue of -2e6 1/s."""
    sim = sliding(formula, 100.0)
    for start in ({}, {"q(b)": 0.1}, {"u(b)": 0.3}):
        assert told(sim, step=1e-3, method=method, initial=start) == "finished"


@pytest.mark.parametrize("method", ["rk4", "rk2"])
def test_stiff_damper_beside_dry_friction_is_told_with_its_own_eigenvalue(method):
    said = told(sliding("-2*sign(v) - 1e4*v"), step=1e-3, method=method)
    assert "is too large for" in said and "eigenvalue -1e+04 1/s" in said


def test_steep_friction_without_a_jump_is_told():
    said = told(sliding("-2*tanh(v/1e-4)"), step=1e-3, method="rk4")
    assert "eigenvalue -2e+04 1/s" in said


def rod_pendulum():
    s = bc.System("pendulum", units="mks")
    bob = s.add_point_mass("bob", translate=(1, 2), mass=1)
    s.add_loop_joint("rod", "distance", between=(bob.origin, s.inertial.origin), length=1)
    s.add_gravity(direction=(0, -1, 0))
    s.set_run(initial={"q(bob, 1)": 1})
    return s.equations().compile()


def test_alarm_belongs_to_the_equations_that_a_method_integrates():
    """Baumgarte's feedback is stiff by itself: poles at -beta, which the reduced equations do not
    have."""
    sim = rod_pendulum()
    assert told(sim, step=5e-3, dae=bc.Dae("baumgarte", alpha=10, beta=10)) == "finished"
    said = told(sim, step=5e-3, dae=bc.Dae("baumgarte", alpha=2000, beta=2000))
    assert "the step of 0.005 s is too large for rk4" in said
    assert told(sim, step=5e-3, dae="dlmm") == "finished"


@pytest.mark.parametrize("law", ["-k*(q(a) - 0.8)", "-k*u(a)/100"])
def test_an_unstable_step_in_a_loop_is_named_as_such(law):
    """The loop is what gives way; the step is what is wrong. With a stable step the run
    finishes."""
    s = bc.System("stiff four-bar", units="mks")
    bodies = {"mass": 1, "inertia": (0.01, 0.01, 0.01), "rotate": 3}
    a = s.add_body("a", cm=(0.1, 0, 0), **bodies)
    b = s.add_body("b", parent=a, joint_at=(0.2, 0, 0), cm=(0.25, 0, 0), **bodies)
    c = s.add_body("c", joint_at=(0.5, 0, 0), cm=(0.2, 0, 0), **bodies)
    p, q = s.add_point("p", body=b, at=(0.5, 0, 0)), s.add_point("q", body=c, at=(0.4, 0, 0))
    s.add_loop_joint("pin", "revolute", between=(p, q), axis=b[3])
    s.add_gravity(direction="-[n2]")
    s.add_moment("spring", magnitude=law, direction="[n3]", on=a)
    s.set_defaults(k=1e4)
    sim = s.equations().compile(backend="python")
    start = {"q(a)": 0.81, "u(a)": 0.1}
    run = sim.simulate(t_end=0.3, step=0.01, initial=start)
    assert "the step of 0.01 s is too large for rk4" in run.ended
    assert "constraints lock" not in run.ended
    assert sim.simulate(t_end=0.02, step=5e-4, initial=start).ended == "finished"
