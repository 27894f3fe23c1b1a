"""The four-bar linkage of Sayers (1990), section 9.3: one closed loop, massless links."""

import numpy as np
import pytest
from cases import assert_close

import bellcrank as bc
from bellcrank.simulation.run.point_evaluation import loop_constraints
from tests.models import example, system

CHECK = {  # independent evaluation of Kane's equations at one state, D = 100
    "q": [-0.5, 0.5634732702895136, -0.6444917733599087],
    "u": [1.7, -2.2370243670673657, 2.3647716827354732],
    "up": 239.86100167433935,
    "pull": 1998.6034594679686,
}
DISPLACED = {  # midpoint rule, h = 0.005: pull, x, y, q(a), q(b), q(c), u(a)
    0.0: [2062.64, 0.426105, -0.0401155, -0.5, 0.563473, -0.644492, 0.0],
    0.1: [-1169.38, 0.487484, 0.302779, 0.20705, -0.197883, 0.259854, 4.57077],
    0.5: [200.647, 0.498909, 0.169432, -0.0611741, 0.0619556, -0.0764947, 1.60476],
    1.0: [77.2374, 0.499896, 0.190559, -0.0188827, 0.018957, -0.0236042, 0.156846],
}
NOMINAL = {  # the same, started at q(a) = 0
    0.1: [183.453, 0.499542, 0.180199, -0.0396129, 0.0399401, -0.0495234, -0.165798],
    0.5: [108.86, 0.499839, 0.188255, -0.0234921, 0.0236071, -0.0293666, -0.0936987],
    1.0: [112.389, 0.499815, 0.18742, -0.0251623, 0.0252943, -0.0314548, -0.00617522],
}
CHANNELS = ("pull", "x", "y", "q(a)", "q(b)", "q(c)", "u(a)")


@pytest.fixture(scope="module")
def sim():
    return example("four_bar").compile(backend="python")


def test_check_state(sim):
    qdot, udot = sim.derivatives(0.0, CHECK["q"], CHECK["u"])
    assert_close(qdot, CHECK["u"], 1e-12)
    assert udot[0] == pytest.approx(CHECK["up"], rel=1e-10)
    assert sim.outputs(0.0, CHECK["q"], CHECK["u"])["pull"] == pytest.approx(
        CHECK["pull"], rel=1e-10
    )


def test_loop_closes_from_the_given_angle(sim):
    q, u = sim.assemble({"q(a)": -0.5, "u(a)": 1.7})
    assert_close(q, CHECK["q"], 1e-12)
    assert_close(u, CHECK["u"], 1e-12)


def test_published_speeds_are_dependent(sim):
    assert [c.speed.name for c in bc.Equations(sim.derived).constraints] == ["u(b)", "u(c)"]
    assert [u.name for u in sim.derived.analysis.independent_speeds] == ["u(a)"]
    assert len(sim.interface.speeds) == 3


@pytest.mark.parametrize(
    ("start", "history"), [(-0.5, DISPLACED), (0.0, NOMINAL)], ids=["displaced", "nominal"]
)
def test_history_of_the_midpoint_rule(sim, start, history):
    """The published program closes the loop at every stage, this one after every step: a tenth of
    the error of the method."""
    run = sim.simulate(t_end=1.0, step=0.005, method="rk2", initial={"q(a)": start})
    for t, values in history.items():
        i = round(t / 0.005)
        assert [run[c][i] for c in CHANNELS] == pytest.approx(values, rel=3e-4, abs=5e-5)


@pytest.mark.parametrize("backend", ["python", "auto"])
def test_loop_stays_closed(backend):
    sim = example("four_bar").compile(backend=backend)
    run = sim.simulate(t_end=10.0, step=0.005, output_every=20)
    assert run.ended == "finished"
    loops = loop_constraints(sim.loaded, sim.parameter_values(), [])
    for i in range(len(run)):
        q = np.array([run[str(c)][i] for c in sim.interface.coordinates])
        u = np.array([run[str(c)][i] for c in sim.interface.speeds])
        g, _, v, _ = loops.evaluate(0.0, q, u)
        assert abs(g).max() < 1e-10 and abs(v).max() < 1e-10


def test_fourth_order_on_the_constraints(sim):
    reference = sim.simulate(t_end=0.4, step=0.00025, method="rk4")["q(a)"][-1]
    errors = [
        abs(sim.simulate(t_end=0.4, step=h, method="rk4")["q(a)"][-1] - reference)
        for h in (0.008, 0.004, 0.002)
    ]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx([4, 4], abs=0.4)


def test_operation_count(sim):
    """Published: 81 / 141, the correction at every call included; here it is done once per step and
    enters at a quarter."""
    count = bc.Equations(sim.derived).operation_count()
    assert (count["add"], count["multiply"] + count["divide"], count["function"]) == (51, 89, 8)
    assert (count["classic"]["add"], count["classic"]["muldiv"]) == (63, 108)
    assert count["per_step"]["total"] == 129


def test_impossible_length_names_the_loop():
    s = bc.System("rod", units="mks")
    a = s.add_body("a", rotate=3, cm=(1, 0, 0), mass=1, inertia=(1, 1, 1))
    b = s.add_body("b", rotate=3, joint_at=(3, 0, 0), cm=(1, 0, 0), mass=1, inertia=(1, 1, 1))
    s.add_loop_joint("coupler", "distance", between=(a.cm, b.cm), length="l")
    s.set_defaults(l=2.0)
    sim = s.equations().compile(backend="python")
    assert sim.assemble({"q(a)": 1.0}) is not None
    with pytest.raises(bc.ModelError, match=r"(?s)coupler.*cannot be assembled"):
        sim.simulate(parameters={"l": 50.0}, initial={"q(a)": 1.0})
    with pytest.warns(bc.ModelWarning, match="contradict"):
        sim.assemble({"q(a)": 1.0, "q(b)": 1.0})


def test_loop_on_one_body_is_refused():
    s = system("four_bar")
    s.add_loop_joint("loop", between=("bp", "s1"), directions=("[b1]",))
    with pytest.raises(bc.ModelError, match="one body"):
        s.equations()


def test_repeated_row_is_noted_and_changes_nothing():
    s = system("four_bar")
    s.add_loop_joint("again", between=("bp", "cp"), directions=("2*[b1]",))
    eom = s.equations()
    assert any("again" in n for n in eom.notes)
    udot = eom.compile(backend="python").derivatives(0.0, CHECK["q"], CHECK["u"])[1]
    assert udot[0] == pytest.approx(CHECK["up"], rel=1e-9)
