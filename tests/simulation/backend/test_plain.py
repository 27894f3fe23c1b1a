"""What plain Python does not run is rejected in one message that says what to install."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.numeric.fixed_step_methods import METHODS, OWN, SCIPY
from bellcrank.core.numeric.run_spec import DAE_METHODS
from bellcrank.simulation.backend import wasm
from tests.models import example, needs_compiler, pendulum
from tests.simulation.run.test_singular_positions import along, line

TOLD = (
    r"is not available in plain Python, which runs fixed steps \(rk2, .*a C compiler, or "
    r"wasmtime \(pip install"
)
CROSSING = {
    "t_end": 0.2,
    "step": 0.002,
    "initial": {"q(a)": -0.3, "u(a)": 3.0, "q(b)": 0.21, "q(c)": 0.21},
}


@pytest.fixture(scope="module")
def sim():
    return pendulum("-k*q(rod)", k=2.1 * np.pi**2).equations().compile(backend="python")


@pytest.mark.parametrize("method", OWN)
def test_methods_that_choose_their_steps(sim, method):
    with pytest.raises(bc.ModelError, match=f"method='{method}' {TOLD}"):
        sim.simulate(method=method)
    with pytest.raises(bc.ModelError, match=f"method='{method}' {TOLD}"):
        sim.simulate_many(n=2, method=method)


@pytest.mark.parametrize("method", [*METHODS, *SCIPY])
def test_what_it_runs(sim, method):
    """The linear pendulum swings as its formula says, as far as the method goes."""
    run = sim.simulate(method=method, step=0.005)
    error = np.abs(run["q(rod)"] - 0.3 * np.cos(np.pi * run.time)).max()
    assert run.ended == "finished" and error < {1: 0.01, 2: 1e-4}.get(
        getattr(METHODS.get(method), "order", 4), 1e-6
    )


def test_methods_for_differential_algebraic_equations():
    sim = example("four_bar").compile(backend="python")
    for dae in (*DAE_METHODS[1:], bc.Dae("projection", metric="mass")):
        with pytest.raises(bc.ModelError, match=f"dae='{getattr(dae, 'method', dae)}' {TOLD}"):
            sim.simulate(t_end=0.01, dae=dae)
    assert sim.simulate(t_end=0.01).ok and sim.simulate(t_end=0.01, dae="minimal").ok


@pytest.mark.filterwarnings("ignore::bellcrank.ModelWarning")
def test_singular_positions():
    """A start in one is rejected; a run that comes near one ends there, with rows up to it."""
    sim = example("n_four_bar", n=2).compile(backend="python")
    with pytest.raises(
        bc.RunError, match=f"a start in a singular configuration of closed loops {TOLD}"
    ):
        sim.simulate(t_end=0.1, initial=line(2) | along(2, -2.0))
    run = example("change_point_four_bar").compile(backend="python").simulate(**CROSSING)
    assert (
        run.status is bc.RunStatus.AT_REST and 0 < run.time[-1] < 0.2 and abs(run["q(a)"][-1]) < 0.1
    )
    assert (
        run.ended.startswith("stopped at t = 0.")
        and "a way through singular configurations" in run.ended
    )


@needs_compiler
@pytest.mark.filterwarnings("ignore::bellcrank.ModelWarning")
@pytest.mark.parametrize("method", ["DOP853", "BDF"])
def test_methods_of_scipy_end_at_singular_positions(method):
    """Up to there they follow the motion that methods of the kernel carry through."""
    sim = example("change_point_four_bar").compile()
    run, through = sim.simulate(**CROSSING, method=method, rtol=1e-9), sim.simulate(**CROSSING)
    assert through.ok and run.status is bc.RunStatus.AT_REST
    assert (
        "SciPy's methods do not pass through singular configurations of loops: use rk2" in run.ended
    )
    n = len(run)
    assert n >= 8 and np.abs(run["q(b)"] - through["q(b)"][:n]).max() < 1e-6


def test_without_compiler_and_wasmtime(monkeypatch):
    equations = pendulum().equations()
    monkeypatch.setattr("bellcrank.simulation.run.loaded.find_compiler", lambda: None)
    monkeypatch.setattr(wasm, "find_spec", lambda name: None)
    sim = equations.compile()
    assert sim.simulate(t_end=0.01).settings["backend"] == "python"
    with pytest.raises(bc.ModelError, match=f"method='auto' {TOLD}"):
        sim.simulate(method="auto")
