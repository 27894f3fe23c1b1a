"""Inputs over time: C and Python know the same signals."""

import math

import numpy as np
import pytest

import bellcrank as bc
from tests.models import able, needs_compiler, pendulum, rarely, relative

TIMES = np.linspace(0.0, 1.0, 41)
SIGNALS = {
    "number": 0.7,
    "step": bc.signals.step(at=0.3, height=2.0, before=-0.5),
    "ramp": bc.signals.ramp(start=0.2, slope=3.0, end=0.6),
    "endless ramp": bc.signals.ramp(start=0.2, slope=3.0),
    "sine": bc.signals.sine(amplitude=2.0, frequency=3.0, phase=0.4, start=0.1),
    "chirp": bc.signals.chirp(amplitude=1.5, f0=0.5, f1=8.0, duration=0.6, start=0.1),
    "function": lambda t: math.exp(-t),
    "pair": (TIMES, np.sin(9 * TIMES)),
    "array": np.column_stack([TIMES, np.cos(9 * TIMES)]),
    "straight table": bc.table(TIMES, np.cos(5 * TIMES)),
    "cubic table": bc.table(TIMES, np.cos(5 * TIMES), 3),
    "short table": bc.table(
        (0.2, 0.3, 0.5, 0.8), (1.0, 2.0, 0.0, 1.0), 3
    ),  # continues with its end slopes, and reports it
}


def driven(units="1", rate=False):
    def prepare(s):
        s.add_input("w", units=units)
        s.add_output("w_out", "w", units=units)

    if rate:
        return pendulum("m0*(w + t0*dxdt(w))", prepare, m0=1.0, t0=0.1)
    return pendulum("m0*w", prepare, m0=1.0)


@needs_compiler
@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("method", rarely(["rk2", "rk4"], ("rk4",)))
@pytest.mark.filterwarnings("ignore:input 'w' is a table")
def test_c_and_python_agree(name, method):
    eom = driven().equations()
    runs = [
        eom.compile(backend=b).simulate(inputs={"w": SIGNALS[name]}, method=method)
        for b in ("c", "python")
    ]
    for channel in ("q(rod)", "u(rod)", "w_out"):
        assert relative(runs[0][channel], runs[1][channel]) <= 1e-12


@needs_compiler
@pytest.mark.parametrize("name", ["ramp", "sine", "chirp", "pair", "cubic table"])
def test_rates_of_inputs_agree(name):
    eom = driven(rate=True).equations()
    runs = [eom.compile(backend=b).simulate(inputs={"w": SIGNALS[name]}) for b in ("c", "python")]
    assert relative(runs[0]["u(rod)"], runs[1]["u(rod)"]) <= 1e-12


@needs_compiler
@pytest.mark.parametrize("backend", ["c", "python"])
def test_inputs_are_in_user_units(backend):
    sim = driven(units="deg").equations().compile(backend=backend)
    for given in (30.0, (TIMES, np.full(41, 30.0)), lambda t: 30.0):
        run = sim.simulate(inputs={"w": given})
        np.testing.assert_allclose(run["w_out"], 30.0, rtol=1e-14)
    assert sim.derivatives(0.0, [0.0], [0.0], inputs={"w": 30.0})[1][0] == pytest.approx(
        math.radians(30) / 2.1
    )


@pytest.mark.parametrize("backend", ["auto", "python"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (math.nan, "input 'w' is nan"),
        (
            (TIMES, np.where(TIMES > 0.5, math.nan, 0.0)),
            "input 'w' holds values that are not finite",
        ),
        ((TIMES * 0.9, TIMES), r"input 'w' covers t = 0 to 0.9 s, but the run goes from 0 to 1 s"),
        (
            (TIMES + 0.1, TIMES),
            r"input 'w' covers t = 0.1 to 1.1 s, but the run goes from 0 to 1 s",
        ),
        ((TIMES[::-1], TIMES), "times must increase"),
        ((TIMES, TIMES[1:]), "match the values"),
        (lambda t: math.nan if t > 0.5 else 0.0, r"input 'w' is nan at t = 0.505 s"),
        (lambda t: 1 / 0, "input 'w' fails at t = 0 s: ZeroDivisionError"),
        (lambda t: "much", "input 'w' fails at t = 0 s: ValueError"),
        (bc.signals.step(at=math.nan), "input 'w': a number of its step is nan"),
        ("fast", "input 'w' is 'fast'; give a number"),
        (bc.table((0, 1), (0, 1), ((0, 1), (2, 3))), "table of 2 arguments"),
    ],
)
def test_bad_input_is_told(backend, given, message):
    sim = driven().equations().compile(backend=backend)
    with pytest.raises(bc.RunError, match=message):
        sim.simulate(inputs={"w": given})
    assert (
        sim.simulate(inputs={"w": 0.0}).ended == "finished"
    )  # nothing is left over from the failure


@pytest.mark.parametrize("backend", ["auto", "python"])
@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_an_input_that_is_one_sample_short_holds_its_last_value(backend, method):
    sim = driven().equations().compile(backend=able(backend, method))
    values = np.sin(TIMES)
    with pytest.warns(
        bc.ModelWarning,
        match=r"input 'w' ends at t = 0.975 s, the run goes from 0 to 1 s: its last",
    ):
        run = sim.simulate(inputs={"w": (TIMES[:-1], values[:-1])}, method=method)
    known = run.time <= TIMES[-2]
    np.testing.assert_allclose(
        run["w_out"][known], np.interp(run.time[known], TIMES, values), atol=1e-12
    )
    assert (run["w_out"][~known] == values[-2]).all() and (~known).any()
    with pytest.raises(bc.RunError, match=r"covers t = 0 to 0.95 s"):
        sim.simulate(inputs={"w": (TIMES[:-2], values[:-2])}, method=method)


def test_missing_and_unknown_inputs():
    sim = driven().equations().compile(backend="python")
    with pytest.raises(bc.ModelError, match="input 'w' has no value"):
        sim.simulate()
    with pytest.raises(
        bc.ModelError, match=r"inputs={'ww': ...}: the model has no such input. Did you mean 'w'"
    ):
        sim.simulate(inputs={"w": 1.0, "ww": 2.0})


def test_rate_of_a_step_is_refused():
    with pytest.raises(bc.ModelError, match="input 'w' must be differentiable"):
        driven(rate=True).equations().compile(backend="python").simulate(
            inputs={"w": bc.signals.step()}
        )
