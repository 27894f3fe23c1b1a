"""Closed loops against closed forms and conservation laws."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.simulation.run.point_evaluation import loop_constraints
from tests.models import example, rarely


def test_slider_crank_follows_its_closed_form():
    eom = example("slider_crank")
    assert len(eom.notes) == 3 and all("gudgeon pin" in n for n in eom.notes)
    run = eom.compile().simulate(parameters={"c": 0.0})
    q = run["q(crank)"]
    assert run["x"] == pytest.approx(
        0.1 * np.cos(q) + np.sqrt(0.4**2 - (0.1 * np.sin(q)) ** 2), abs=1e-12
    )
    assert np.ptp(run["energy"]) < 1e-7 * run["energy"][0]


def spatial_loop(joint):
    """A swinging frame and a pendulum on a tilted axis, tied to each other."""
    s = bc.System("spatial", units="mks")
    a = s.add_body("a", rotate=1, cm=(0, 0, -1), mass=1, inertia=(0.3, 0.3, 0.3))
    b = s.add_body(
        "b",
        parent=a,
        rotate=(1, 2, 3),
        joint_at=(0, 0, -2),
        cm=(0.5, 0, 0),
        mass=1,
        inertia=(0.3, 0.4, 0.3),
    )
    c = s.add_body(
        "c", rotate=((0, 1, 1),), joint_at=(2, 0, 0), cm=(0, 0, -1), mass=2, inertia=(0.3, 0.3, 0.3)
    )
    end_b = s.add_point("end_b", body=b, at=(2, 0, 0))
    end_c = s.add_point("end_c", body=c, at=(0, 0, -2))
    if joint == "distance":
        s.add_loop_joint("loop", "distance", between=(b.cm, end_c))
    elif joint == "position constraint":
        s.add_constraint("dot(pos(end_b, end_c), pos(end_b, end_c)) - 0.25", eliminate="u(c)")
    else:
        s.add_loop_joint("loop_2", joint, between=(end_b, end_c), axis=b[2])
    s.add_gravity(direction=-s.inertial[3])
    s.add_outputs("energy")
    return s


@pytest.mark.parametrize(
    ("joint", "freedoms"),
    rarely(
        [
            ("spherical", 2),
            ("distance", 4),
            ("position constraint", 4),
            ("universal", 1),
            ("planar", 2),
        ],
        [("spherical", 2), ("position constraint", 4), ("planar", 2)],
        several=True,
    ),
)
def test_spatial_loops_stay_closed_and_conserve_energy(joint, freedoms):
    eom = spatial_loop(joint).equations()
    assert len(eom.independent_speeds) == freedoms
    sim = eom.compile(backend="python")
    run = sim.simulate(t_end=0.3, step=0.001, initial={"q(a)": 0.2, "u(a)": 0.5})
    assert run.ended == "finished"
    loops = loop_constraints(sim.loaded, sim.parameter_values(), [])
    for i in (0, 100, 300):
        q = np.array([run[str(s)][i] for s in eom.coordinates])
        u = np.array([run[str(s)][i] for s in eom.speeds])
        g, _, v, _ = loops.evaluate(0.0, q, u)
        assert abs(g).max() < 1e-12 and abs(v).max() < 1e-11
    assert np.ptp(run["energy"]) < 1e-7 * np.ptp(run["kinetic"]) + 1e-9


def test_driven_position_constraint():
    """A prescribed angle: the drive needs the moment that the equation of the free body asks
    for."""
    s = bc.System("driven", units="mks")
    a = s.add_body("a", rotate=3, cm=(1, 0, 0), mass=1, inertia=(0, 0, 0))
    b = s.add_body(
        "b", parent=a, rotate=3, joint_at=(2, 0, 0), cm=(1, 0, 0), mass=1, inertia=(0, 0, 0)
    )
    s.add_constraint("q(a) - 0.3*sin(4*t)")
    s.add_output("drive", "q(a)")
    sim = s.equations().compile(backend="python")
    run = sim.simulate(t_end=1.0, step=0.001)
    assert run["drive"] == pytest.approx(0.3 * np.sin(4 * run.time), abs=1e-12)
    assert b.u[1] is not None and np.ptp(run["q(b)"]) > 0.05


@pytest.mark.campaign
def test_euler_parameters_in_a_loop_keep_their_size():
    s = bc.System("rod and top", units="mks")
    b = s.add_body("b", rotate="euler-parameters", cm=(0, 0, 1), mass=1, inertia=(0.3, 0.4, 0.3))
    c = s.add_body("c", rotate=1, joint_at=(1, 0, 0), cm=(0, 0, 1), mass=1, inertia=(0.3, 0.4, 0.3))
    s.add_loop_joint("tie", "distance", between=(b.cm, c.cm))
    sim = s.equations().compile()
    for backend in ("python", "auto"):
        sim = s.equations().compile(backend=backend)
        run = sim.simulate(t_end=0.5, step=0.001, initial={"q(c)": 0.4, "u(b, 3)": 3.0})
        e = np.array([run[f"q(b, {i})"] for i in (1, 2, 3, 4)])
        assert np.linalg.norm(e, axis=0) == pytest.approx(1.0, abs=1e-12)


def test_guesses_of_dependent_angles_choose_the_assembly_and_leave_the_rest():
    sim = example("slider_crank").compile(backend="python")
    with pytest.warns(bc.ModelWarning, match=r"changed: q\(rod\) -0.7 -> "):
        q, u = sim.assemble({"q(crank)": 0.5, "q(rod)": -0.7, "u(crank)": 20.0})
    assert (q[0], u[0]) == pytest.approx((0.5, 20.0))
    assert 0.1 * np.sin(q[0]) + 0.4 * np.sin(q[0] + q[1]) == pytest.approx(0.0, abs=1e-12)
