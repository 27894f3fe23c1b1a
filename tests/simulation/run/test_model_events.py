"""Events that belong to a model: every run looks for them, many runs and written programs too;
others say that they do not."""

import math
import warnings

import numpy as np
import pytest

import bellcrank as bc
from tests.models import able, needs_compiler
from tests.programs import compiled

G, E = 9.80665, 0.8


def ball():
    s = bc.System("ball", axes="ISO 8855")
    s.add_body("ball", translate=3, mass="m")
    s.add_gravity()
    s.set_defaults(m=2, e=E, g=G)
    s.add_event("bounce", "q(ball)", action={"u(ball)": "-e*u(ball)"}, direction=-1)
    s.set_run(t_end=2, step=0.01, initial={"q(ball)": 1})
    return s


def impacts():
    fall = math.sqrt(2 / G)
    return [fall, fall * (1 + 2 * E), fall * (1 + 2 * E + 2 * E**2)]


@pytest.mark.parametrize("backend", ["wasm", pytest.param("c", marks=needs_compiler)])
@pytest.mark.parametrize("method", ["rk4", "tsit5"])
def test_every_run_looks_for_them(backend, method):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # e stands in the event alone
        sim = ball().equations().compile(backend=able(backend, method))
    run = sim.simulate(method=method)
    assert [e.time for e in run.events] == pytest.approx(impacts(), abs=1e-9)
    more = sim.simulate(method=method, events={"low": "q(ball) < 0.5"}, stop="low")
    assert [e.name for e in more.events] == ["low"] and more.time[-1] == pytest.approx(
        math.sqrt(1 / G)
    )
    assert len(sim.simulate(method=method, parameters={"e": 0.5}).events) > 3
    with pytest.raises(bc.ModelError, match="two have the name 'bounce'"):
        sim.simulate(events={"bounce": "t - 1"})


@needs_compiler
def test_many_runs_and_programs():
    sim = ball().equations().compile()
    many = sim.simulate_many(n=3, channels=["q(ball)"], output_every=1)
    alone = sim.simulate()
    kept = np.searchsorted(alone.time, many.time)
    assert many["q(ball)"] == pytest.approx(np.tile(alone["q(ball)"][kept], (3, 1)), abs=1e-9)


@needs_compiler
def test_a_written_program(tmp_path):
    ball().equations().export("c", tmp_path)
    said = compiled("c", tmp_path)("--output", "out.csv", cwd=tmp_path)
    assert said.count("bounce at t = ") == 3
    assert bc.Run.read(tmp_path / "out.csv")["q(ball)"].min() > -1e-9


def test_names_and_formulas():
    s = ball()
    with pytest.raises(bc.ModelError, match="there are two events with the name 'bounce'"):
        s.add_event("bounce", "t > 1")
    with pytest.raises(bc.ModelError, match="the formula ends too early"):
        s.add_event("late", "t >")
    with pytest.raises(bc.ModelError, match="direction=2 must be -1, 0 or 1"):
        s.add_event("late", "t > 1", direction=2)
