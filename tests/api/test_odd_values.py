"""What is no real number is an error that names it; equations and simulations go to other
processes."""

import copy
import datetime
import math
import multiprocessing
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import bellcrank as bc


def oscillator():
    s = bc.System("oscillator", axes="ISO 8855")
    b = s.add_body("b", translate=1, mass="m", inertia=0)
    s.add_input("z", units="L")
    s.add_force("k", magnitude="-k*(x - z)", direction=s.inertial[1], at=b.origin)
    s.set_defaults(m=1, k=100)
    s.set_run(t_end=0.1, step=0.01, inputs={"z": bc.signals.sine(0.01, 2)})
    s.add_output("vel", "u(b)")
    return s


@pytest.fixture(scope="module")
def sim():
    return oscillator().equations().compile(backend="python")


WRONG = [
    "5",
    True,
    1j,
    np.bool_(True),
    b"1",
    10**400,
    10**5000,
    datetime.date(2020, 1, 1),
    [1],
    np.ma.masked,
    None,
]


@pytest.mark.parametrize("value", WRONG[:-1], ids=lambda x: type(x).__name__)
def test_values_that_are_no_numbers(sim, value):
    for given in (
        {"parameters": {"k": value}},
        {"initial": {"q(b)": value}},
        {"t_end": value},
        {"step": value},
        {"inputs": {"z": value}},
        {"inputs": {"z": ([0, 1], [0, value])}},
        {"t_start": value},
        {"output_every": value},
        {"method": "tsit5", "rtol": value},
        {"method": "tsit5", "atol": value},
    ):
        if "output_every" in given and type(value) is int:
            continue
        if isinstance(value, bool | np.bool_) and isinstance(
            given.get("inputs", {}).get("z"), tuple
        ):
            continue  # NumPy makes integers of them
        with pytest.raises(bc.BellcrankError):
            sim.simulate(**given)
    s = oscillator()
    s.set_defaults(k=value)
    with pytest.raises(bc.ModelError, match="default of parameter 'k'"):
        s.equations()
    with pytest.raises(bc.RunError, match="height"):
        bc.signals.step(height=value)


@pytest.mark.parametrize(
    "value", [Fraction(1, 2), Decimal("0.5"), np.float32(0.5), np.array(0.5), 0.5]
)
def test_values_that_are_numbers(sim, value):
    run = sim.simulate(parameters={"k": value}, inputs={"z": value}, initial={"q(b)": value})
    assert run["q(b)"][0] == 0.5


@pytest.mark.parametrize("bad", [math.nan, math.inf, np.ma.masked, 1j, "1"])
def test_states_that_are_no_numbers(sim, bad):
    q = np.ma.array([1.0], mask=[True]) if bad is np.ma.masked else np.array([bad])
    with pytest.raises(bc.ModelError, match=r"q\(b\)"):
        sim.simulate(initial=(q, np.zeros(1)))


def test_masked_and_complex_samples(sim):
    for values in (np.ma.array(np.ones(2), mask=[0, 1]), np.ones(2) * 1j, ["0", "1"]):
        with pytest.raises(bc.RunError, match="'z': values must be real numbers"):
            sim.simulate(inputs={"z": ([0, 1], values)})


def test_a_condition_that_is_no_number_is_reported():
    sim = oscillator().equations().compile()
    with pytest.warns(bc.ModelWarning, match="is not a number throughout the run"):
        sim.simulate(events=[bc.event("sqrt(-1 - t)")])
    with pytest.warns(bc.ModelWarning, match=r"is not a number at t = 0\.0\d s"):
        sim.simulate(events=[bc.event("sqrt(0.05 - t) + 1")])


def test_a_tolerance_above_the_state_is_reported(sim):
    with pytest.warns(
        bc.ModelWarning, match=r"atol of q\(b\), 1e\+300 m, exceeds its largest value"
    ):
        sim.simulate(method="DOP853", atol=1e300, initial={"q(b)": 1})


def test_a_time_that_is_no_number(sim):
    f = sim.rhs(inputs={"z": bc.signals.step()})
    for t in (math.nan, math.inf, "1"):
        with pytest.raises(bc.ModelError, match="t is"):
            f(t, np.zeros(2))


@pytest.mark.parametrize("kind", ["system", "equations", "simulation"])
def test_copies_give_the_same_run(kind):
    s = oscillator()
    eom = s.equations()
    sim = eom.compile(backend="python")
    expected = sim.simulate()["q(b)"]
    given = {"system": s, "equations": eom, "simulation": sim}[kind]
    s.set_defaults(
        k=5
    ) if kind != "system" else None  # the equations are those of the description as it was
    for again in (pickle.loads(pickle.dumps(given)), copy.deepcopy(given), copy.copy(given)):
        again = again.equations() if kind == "system" else again
        again = again if kind == "simulation" else again.compile(backend="python")
        assert np.array_equal(again.simulate()["q(b)"], expected)


@pytest.mark.parametrize(
    "signal",
    [
        bc.signals.step(0.1),
        bc.signals.ramp(),
        bc.signals.sine(),
        bc.signals.chirp(),
        bc.signals.pulse(),
        bc.signals.sampled([0, 1], [2, 3]),
    ],
)
def test_signals_go_to_other_processes(signal):
    again = pickle.loads(pickle.dumps(signal))
    assert [again(t) for t in (0.05, 0.3, 0.9)] == [signal(t) for t in (0.05, 0.3, 0.9)]


def run_with(job):
    sim, k = job
    return sim.simulate(parameters={"k": k})["q(b)"][-1]


@pytest.mark.campaign
def test_a_pool_of_processes_runs_a_simulation():
    sim = oscillator().equations().compile()
    jobs = [(sim, k) for k in (10.0, 100.0, 1000.0)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(run_with, jobs) == [run_with(job) for job in jobs]


FORMULAS = {
    "dot": "[n1], [b1]",
    "cross": "[n1], [b1]",
    "angle": "[n1], [b1], [n3]",
    "direction": "[b1]",
    "dir": "[b1]",
    "magnitude": "[b1]",
    "mag": "[b1]",
    "norm": "[b1]",
    "project": "[b1], [n1]",
    "dplane": "[b1], [n1]",
    "pos": "b.cm, n.origin",
    "vel": "b.cm, n.origin",
    "rot": "b",
    "dxdt": "q(b, 1)",
    "partial": "k*q(b, 1), q(b, 1)",
    "nominal": "k",
    "fm": "spring",
    "q": "b, 2",
    "u": "b, 2",
    "qp": "b, 2",
    "up": "b, 2",
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_function_with_one_argument_too_many_says_how_many_it_takes(name):
    s = bc.System("m")
    b = s.add_body("b", translate=(1, 2), rotate=3, mass=1, inertia=(1, 1, 1))
    s.add_force("spring", magnitude="-k*x", direction="[n1]", at=b.cm)
    s.add_output("y", f"{name}({FORMULAS[name]}, 1)")
    count = FORMULAS[name].replace("(b, 1)", "").count(",") + 2
    with pytest.raises(
        bc.ModelError, match=rf"{name}\(\) takes (1|2|1 or 2|2 or 3) arguments?, {count} given"
    ):
        s.equations(optimise="none")
