"""Inverse and forward dynamics undo each other, on all examples and with real actuators."""

import numpy as np
import pytest

import bellcrank as bc
from tests.helpers import stub
from tests.models import EXAMPLES, LONG_TO_DERIVE, example, random_state, rarely, relative, system


def state(sim):
    """A state that satisfies the constraints, away from rest."""
    eom = bc.Equations(sim.derived)
    if eom.analysis.loops is None:
        q, u = random_state(eom, 4)
        _, udot = sim.derivatives(0.0, q, u, inputs=dict.fromkeys(eom.inputs, 0.02))
        # a linkage has no position past its travel: there the start serves
        return (q, u) if np.all(np.isfinite(udot)) else (sim.assemble()[0], 0.1 * u)
    initial = dict(sim.interface.run.initial)
    if not any(str(name).startswith("u(") for name in initial):
        initial |= {u.name: 0.7 for u in eom.independent_speeds}
    return sim.assemble(initial)


@pytest.mark.parametrize("name", rarely(EXAMPLES, LONG_TO_DERIVE))
def test_forces_of_the_motion_itself_vanish(name):
    """Forward dynamics comes from the compiled form of the model, the inverse from M and f: two
    derivations."""
    eom = example(name)
    sim = eom.compile(backend="python", external=stub(eom))
    inputs = dict.fromkeys(eom.inputs, 0.02)
    q, u = state(sim)
    _, udot = sim.derivatives(0.0, q, u, inputs=inputs)
    found = sim.inverse(q, u, udot, inputs=inputs).array
    size = np.abs(found).max() + 1.0
    if eom.analysis.loops is None:
        size = max(size, float(np.abs(sim.inverse(q, u, 0 * udot, inputs=inputs).array).max()))
    assert np.abs(found).max() / size < 1e-10


@pytest.mark.parametrize(
    "name", ["double_pendulum", "stanford_arm", "spacecraft_2", "cart", "rolling_disc"]
)
def test_forward_dynamics_undoes_inverse_dynamics(name):
    """The forces for any accelerations, divided by the mass matrix of the equations, are the change
    of acceleration."""
    from tests.helpers import values_at

    eom = example(name)
    sim = eom.compile(backend="python", external=stub(eom))
    q, u = random_state(eom, 7)
    wanted = np.random.default_rng(1).uniform(-3, 3, len(u))
    tau = sim.inverse(q, u, wanted).array
    M = np.array([values_at(eom, row, q, u) for row in eom.mass_matrix])
    _, free = sim.derivatives(0.0, q, u)
    assert relative(free + np.linalg.solve(M, tau), wanted) < 1e-10


def actuated_pendulum():
    """The double pendulum with a torque in each hinge that is given from outside."""
    s = system("double_pendulum")
    s.add_input("t1", units="F*L")
    s.add_input("t2", units="F*L")
    s.add_moment("m1", magnitude="t1", direction=s.inertial[3], on="a")
    s.add_moment("m2", magnitude="t2", direction=s.inertial[3], on="b", against="a")
    return s.equations().compile(backend="python")


def test_torques_for_a_trajectory_reproduce_it_in_a_simulation():
    """Computed torque: q(t) prescribed, torques by inverse dynamics, simulated forward, the same
    q(t) again."""
    sim = actuated_pendulum()
    t = np.linspace(0, 2, 401)
    q = np.column_stack([0.3 * np.sin(2 * t), 0.5 * (1 - np.cos(3 * t))])
    u = np.column_stack([0.6 * np.cos(2 * t), 1.5 * np.sin(3 * t)])
    udot = np.column_stack([-1.2 * np.sin(2 * t), 4.5 * np.cos(3 * t)])
    zero = {"t1": 0.0, "t2": 0.0}
    forces = sim.inverse(q, u, udot, t, forces=["m1", "m2"], inputs=zero)
    assert forces.units == ("N-m", "N-m")
    drive = {f"t{i}": bc.table(t.tolist(), forces[f"m{i}"].tolist(), 3) for i in (1, 2)}
    initial = {"q(a)": q[0, 0], "q(b)": q[0, 1], "u(a)": u[0, 0], "u(b)": u[0, 1]}
    run = sim.simulate(
        t_end=2, step=0.005, method="rk4", inputs=drive, initial=initial, output_every=1
    )
    assert run["q(a)"] == pytest.approx(q[:, 0], abs=1e-7)
    assert run["q(b)"] == pytest.approx(q[:, 1], abs=1e-7)


def test_laws_of_actuators_are_recovered():
    """The six actuators of the controlled arm, sought as unknowns for its own motion, are what
    their laws say."""
    s = system("stanford_arm_controlled")
    s.add_outputs("forces", "moments")
    sim = s.equations().compile(backend="python")
    q, u = random_state(bc.Equations(sim.derived), 3)
    _, udot = sim.derivatives(0.0, q, u)
    names = ["tau1", "tau2", "tau3", "tau4", "tau5", "sigma"]
    found = sim.inverse(q, u, udot, forces=names)
    expected = sim.outputs(0.0, q, u)
    assert [found[n] for n in names] == pytest.approx([expected[n] for n in names], rel=1e-10)


def test_a_driven_loop():
    """A motor on the crank of the four-bar linkage: its torque for the motion without it is zero,
    for another it is not."""
    s = system("four_bar")
    s.add_input("torque", units="F*L")
    s.add_moment("motor", magnitude="torque", direction=s.inertial[3], on="a")
    s.set_run(inputs={"torque": 0.0})
    sim = s.equations().compile(backend="python")
    q, u = sim.assemble({"q(a)": -0.3, "u(a)": 0.8})
    _, driven = sim.derivatives(0.0, q, u, inputs={"torque": 12.5})
    found = sim.inverse(q, u, driven, forces="motor", inputs={"torque": 0.0})
    assert found["motor"] == pytest.approx(12.5, rel=1e-10)


def test_what_cannot_be_is_said():
    sim = actuated_pendulum()
    zero = {"t1": 0.0, "t2": 0.0}
    with pytest.raises(bc.RunError, match="cannot produce the motion: along u"):
        sim.inverse([0.1, 0.2], [0, 0], [1, 2], forces=["m1"], inputs=zero)
    with pytest.raises(
        bc.ModelError, match=r"no force or moment is called 'm3'.*Forces: ta, tab, m1, m2"
    ):
        sim.inverse([0.1, 0.2], [0, 0], [1, 2], forces=["m3"], inputs=zero)
    with pytest.raises(bc.ModelError, match="udot must have 2 values"):
        sim.inverse([0.1, 0.2], [0, 0], [1], inputs=zero)
    loop = example("four_bar").compile(backend="python")
    q, u = loop.assemble({"q(a)": -0.3})
    with pytest.raises(bc.RunError, match="accelerations contradict the constraints"):
        loop.inverse(q, u, [1.0, 0.0, 0.0])


def test_mass_matrix_of_a_loop_is_that_of_its_energy():
    """Four-bar linkage: with one degree of freedom, M u(a)^2 / 2 is the kinetic energy."""
    s = system("four_bar")
    s.add_outputs("energy")
    sim = s.equations().compile(backend="python")
    q, u = sim.assemble({"q(a)": -0.3, "u(a)": 1.3})
    _, udot = sim.derivatives(0.0, q, u)
    free = list(sim.loaded.program.speeds).index(sim.derived.analysis.independent_speeds[0])
    derivatives = (
        u / u[free]
    )  # the mechanism has one degree of freedom, its speeds are proportional
    M = sim.inverse(q, u, udot + derivatives).array[0] - sim.inverse(q, u, udot).array[0]
    assert 0.5 * M * u[free] ** 2 == pytest.approx(sim.outputs(0.0, q, u)["kinetic"], rel=1e-10)
