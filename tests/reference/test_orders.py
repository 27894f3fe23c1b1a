"""Orders of all methods, at the ends of steps and within them, of a tree and of a closed loop, in C
and without a compiler.

The adaptive methods are given half the tolerance again and again: their errors fall with the number
of steps to the power of the order. A row within a step is as good as its interpolant, whose error
in a step is of one order more: that of radau5 is of order 3, so rows fall with the fourth power of
the step, those of the others are as good as the ends.
"""

import numpy as np
import pytest
from cases import compiled, loop_residuals

from bellcrank.core.numeric.collocation import STIFF
from bellcrank.core.numeric.embedded import EMBEDDED
from bellcrank.core.numeric.fixed_step_methods import AUTO, METHODS
from tests.models import needs_wasm

MODELS = {"double_pendulum": 1.0, "four_bar": 0.5}  # seconds
BACKENDS = ("auto", "python")
CHOOSING = {  # order at the end, and of rows within steps
    "tsit5": (5, 5),
    "dop853": (8, 8),
    "radau5": (5, 4),
    "rodas5p": (5, 5),
    "auto": (5, 5),
}
assert set(CHOOSING) == {*EMBEDDED, *STIFF, AUTO}
NOISE = 0.4  # of a slope fitted over a few runs whose errors change their signs
ROWS = 200


def seldom(quickly):
    """All cases of model, backend and method; in the campaign alone but for some."""
    cases = []
    for model in MODELS:
        for backend in BACKENDS:
            for method in (*METHODS, *CHOOSING):
                marks = [] if quickly(model, backend, method) else [pytest.mark.campaign]
                if backend == "python" and method in CHOOSING:
                    cases.append(pytest.param(model, "wasm", method, marks=[*marks, needs_wasm]))
                else:
                    cases.append(pytest.param(model, backend, method, marks=marks))
    return cases


def states(sim, run):
    return np.array([run[x.name] for x in sim.interface.states])


def exact(model):
    """Rows of the states, found with steps that leave rounding alone, and the largest value of each
    state."""
    sim, t_end = compiled(model), MODELS[model]
    run = sim.simulate(
        t_end=t_end, step=t_end / ROWS, output_every=1, method="dop853", rtol=1e-13, atol=1e-15
    )
    found = states(sim, run)
    return found, np.abs(found).max(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("model", "backend", "method"),
    seldom(lambda *case: case[:2] == ("double_pendulum", "auto") and case[2] not in STIFF),
)
def test_every_method_has_its_order(model, backend, method):
    sim, t_end = compiled(model, backend), MODELS[model]
    right, size = exact(model)
    if method in METHODS:
        order = METHODS[method].order
        ends = []
        for n in (ROWS, 2 * ROWS, 4 * ROWS) if order < 4 else (ROWS // 4, ROWS // 2, ROWS):
            run = sim.simulate(t_end=t_end, step=t_end / n, output_every=n, method=method)
            ends.append((np.abs(states(sim, run)[:, -1] - right[:, -1]) / size[:, 0]).max())
            assert model != "four_bar" or loop_residuals(sim, run, states=2).max() < 1e-12
        assert np.log2(np.array(ends[:-1]) / ends[1:]) == pytest.approx([order] * 2, abs=0.1)
        return
    found = []
    for rtol in 0.5 ** np.arange(17.0, 34.0, 1 if backend == "auto" else 2):
        run = sim.simulate(
            t_end=t_end,
            step=t_end / ROWS,
            output_every=1,
            method=method,
            rtol=rtol,
            atol=rtol / 100,
        )
        assert model != "four_bar" or loop_residuals(sim, run, states=6).max() < 1e-12
        off = np.abs(states(sim, run) - right) / size
        assert off.max() < 10 * rtol
        found.append((run.settings["steps"], off[:, -1].max(), off.max()))
    steps, *errors = np.log(found).T
    orders = [-np.polyfit(steps, e, 1)[0] for e in errors]
    assert all(
        fitted > order - NOISE for fitted, order in zip(orders, CHOOSING[method], strict=True)
    ), orders
