"""Mechanisms whose constraints prescribe all motion: positions, speeds, driving torques and
reactions.

Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems (1989), chapter 3.
"""

import numpy as np
import pytest

import bellcrank as bc

R, L, E, W, G = 0.1, 0.4, 0.03, 30.0, 9.81


def slider_crank(drive="q(a) - W*t"):
    s = bc.System("slider-crank", units="mks")
    a = s.add_body("a", rotate=3, cm=(R / 2, 0, 0), mass=1, inertia=(0.01, 0.01, 0.01))
    b = s.add_body(
        "b",
        parent=a,
        rotate=3,
        joint_at=(R, 0, 0),
        cm=(L / 2, 0, 0),
        mass=0.8,
        inertia=(0.02, 0.02, 0.02),
    )
    p = s.add_body("p", translate=1, mass=0.5, inertia=0)
    pin, at = s.add_point("e", body=b, at=(L, 0, 0)), s.add_point("off", body=p, at=(0, E, 0))
    s.add_loop_joint("pin", "revolute", between=(pin, at), axis=b[3])
    s.add_constraint(drive, label="motor")
    s.set_defaults(W=W, g=G)
    s.add_gravity(direction="-[n2]")
    s.add_outputs("reactions")
    s.set_run(t_end=0.2, step=0.001, guess={"q(b)": -0.1, "q(p)": 0.45})
    return s


def motion(th):
    """Angle of the coupler and position of the slider."""
    beta = np.arcsin((E - R * np.sin(th)) / L)
    return beta, R * np.cos(th) + L * np.cos(beta)


def torque(th, w=W, d=1e-4):
    """d(T + V)/dth at constant speed, by differences of the energy in closed form."""

    def energy(th):
        beta, _ = motion(th)
        rate = -R * np.cos(th) * w / (L * np.cos(beta))
        v_c = np.array([-R * np.sin(th) * w, R * np.cos(th) * w])
        v_b = v_c + L / 2 * rate * np.array([-np.sin(beta), np.cos(beta)])
        slide = v_c[0] - L * rate * np.sin(beta)
        kinetic = (
            0.5 * (0.01 + (R / 2) ** 2) * w**2
            + 0.4 * (v_b**2).sum(axis=0)
            + 0.01 * rate**2
            + 0.25 * slide**2
        )
        return kinetic + G * (R / 2 * np.sin(th) + 0.8 * (R * np.sin(th) + L / 2 * np.sin(beta)))

    return (8 * (energy(th + d) - energy(th - d)) - (energy(th + 2 * d) - energy(th - 2 * d))) / (
        12 * d
    )


def agrees(run):
    th = run["q(a)"]
    beta, x = motion(th)
    assert th == pytest.approx(W * run.time, abs=1e-10)
    assert run["q(b)"] == pytest.approx(beta - th, abs=1e-10)
    assert run["q(p)"] == pytest.approx(x, abs=1e-10)
    assert run["u(b)"] == pytest.approx(-R * np.cos(th) * W / (L * np.cos(beta)) - W, rel=1e-9)
    assert run["lambda3"] == pytest.approx(torque(th), abs=1e-6)


@pytest.mark.parametrize("settings", [{"backend": "python"}, {"speed": "quick"}])
def test_a_driven_slider_crank(settings):
    sim = slider_crank().equations().compile(**settings)
    run = sim.simulate()
    assert run.ended == "finished"
    agrees(run)
    agrees(sim.simulate(method="DOP853" if sim.backend == "python" else "dop853"))
    stepper = sim.stepper()
    stepper.step(150)
    assert stepper.outputs["lambda3"] == run["lambda3"][150]


def test_many_driven_runs():
    sim = slider_crank().equations().compile(speed="quick")
    for backend in ("lanes", "cores"):
        many = sim.simulate_many(
            parameters={"W": np.full(9, W)}, channels=["lambda3"], backend=backend
        )
        assert many["lambda3"][4] == pytest.approx(torque(W * many.time), abs=1e-6)


def test_driven_by_an_input_and_by_a_speed():
    for drive, inputs in (("u(a) - W", None), ("q(a) - W*t - turned", {"turned": 0.0})):
        s = slider_crank(drive)
        if inputs:
            s.add_input("turned")
        run = (
            s.equations()
            .compile(backend="python")
            .simulate(t_end=0.02, inputs=inputs, initial={"q(a)": 0})
        )
        assert run["lambda3"][5] == pytest.approx(torque(W * run.time[5]), abs=1e-5)


@pytest.mark.campaign
def test_the_summary_says_so_and_check_passes():
    s = slider_crank()
    eom = s.equations()
    assert eom.independent_speeds == []
    assert any("0 degrees of freedom" in note for note in eom.notes)
    assert bc.check(s).passed


def test_a_driven_tree():
    """Two arms with prescribed rates: torques by the equations of a double pendulum."""
    s = bc.System("arms", units="mks")
    a = s.add_body("a", rotate=3, cm=(0.5, 0, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    s.add_body(
        "b", parent=a, rotate=3, joint_at=(1, 0, 0), cm=(0.5, 0, 0), mass=2, inertia=(0.2, 0.2, 0.2)
    )
    s.add_constraint("u(a) - 2", label="shoulder")
    s.add_constraint("u(b) - 3*cos(t)", label="elbow")
    s.add_outputs("reactions")
    sim = s.equations().compile(backend="python")
    run = sim.simulate(t_end=1.0, step=0.01)
    t, q2 = run.time, 3 * np.sin(run.time)
    assert run["q(b)"] == pytest.approx(q2, abs=1e-8)
    u1, u2, du2 = 2.0, 3 * np.cos(t), -3 * np.sin(t)
    h = 2 * 1 * 0.5 * np.sin(q2)
    m12, m22 = 0.2 + 2 * 0.25 + 2 * 0.5 * np.cos(q2), 0.2 + 2 * 0.25
    assert run["lambda1"] == pytest.approx(m12 * du2 - h * (2 * u1 * u2 + u2**2), abs=1e-6)
    assert run["lambda2"] == pytest.approx(m22 * du2 + h * u1**2, abs=1e-6)


def test_what_is_rigid_and_prescribes_nothing_is_named():
    with pytest.raises(
        bc.ModelError, match=r"0 degrees of freedom: .*'motor'.* prescribes a motion"
    ):
        slider_crank("W*q(a) - 0.3").equations()


def coupling_rod(cranks, **run):
    s = bc.System("locomotive", units="mks")
    i = (0.05, 0.05, 0.05)
    wheels = [
        s.add_body(f"c{k}", rotate=3, joint_at=(float(k), 0, 0), cm=(0.15, 0, 0), mass=1, inertia=i)
        for k in range(cranks)
    ]
    rod = s.add_body(
        "rod", parent=wheels[0], rotate=3, joint_at=(0.3, 0, 0), cm=(1, 0, 0), mass=2, inertia=i
    )
    for k in range(1, cranks):
        p = s.add_point(f"p{k}", body=rod, at=(float(k), 0, 0))
        q = s.add_point(f"q{k}", body=wheels[k], at=(0.3, 0, 0))
        s.add_loop_joint(f"pin{k}", "revolute", between=(p, q), axis=rod[3])
    s.add_gravity(direction="-[n2]")
    s.set_run(**run)
    return s


@pytest.mark.parametrize("cranks", [3, pytest.param(4, marks=pytest.mark.campaign)])
def test_a_singular_start_hides_no_degree_of_freedom(cranks):
    """All cranks and the rod on one line: there the loops leave two degrees of freedom, elsewhere
    one."""
    eom = coupling_rod(cranks).equations()
    assert len(eom.independent_speeds) == 1
    assert any("initial configuration is singular" in note for note in eom.notes)
    sim = eom.compile(speed="quick")
    with pytest.raises(bc.RunError, match=r"singular and at rest.*initial=, guess="):
        sim.simulate(t_end=0.1)
    run = sim.simulate(t_end=0.1, step=0.01, initial={"q(c0)": 1.0, "u(c0)": 3.0})
    for k in range(1, cranks):
        assert run[f"q(c{k})"] == pytest.approx(run["q(c0)"], abs=1e-9)
