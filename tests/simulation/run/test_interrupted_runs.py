"""Ctrl-C during a run: what was computed until then is in what is raised, bit-identical."""

import signal
import threading

import numpy as np
import pytest

import bellcrank as bc
from tests.models import example, needs_compiler, pendulum

KINDS = [
    ("quarter_car", "c", {}),
    ("quarter_car", "python", {}),
    ("quarter_car", "c", {"method": "tsit5", "rtol": 1e-9}),
    ("quarter_car", "c", {"method": "radau5"}),
    ("four_bar", "c", {}),
    ("four_bar", "c", {"method": "tsit5"}),
    ("four_bar", "c", {"dae": "projection"}),
]


@needs_compiler
@pytest.mark.parametrize(("name", "backend", "options"), KINDS)
def test_the_rows_until_then_are_there(name, backend, options):
    sim = example(name).compile(backend=backend)
    given = {"t_end": 0.4, "step": 0.001, "output_every": 1, **options}

    def pressed(share):
        if 0.0 < share < 1.0:
            raise KeyboardInterrupt

    whole = sim.simulate(**given)
    with pytest.raises(bc.Interrupted, match="the run was interrupted at t = ") as stop:
        sim.simulate(**given, progress=pressed)
    run = stop.value.run
    count = len(run.time)
    assert 1 < count < len(whole.time)
    assert run.ended == f"interrupted at t = {run.time[-1]:.6g} s"
    for channel in whole.units:
        assert np.array_equal(run[channel], whole[channel][:count], equal_nan=True), channel
    assert sim.simulate(**given).ended == whole.ended  # nothing is left behind


@needs_compiler
@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals of POSIX")
def test_a_real_key_ends_a_long_run_with_what_there_is():
    sim = pendulum().equations().compile(backend="c")
    timer = threading.Timer(
        0.3, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)
    )
    timer.start()
    with pytest.raises(bc.Interrupted) as stop:
        sim.simulate(t_end=1e7, step=0.001, output_every=1000)
    assert len(stop.value.run.time) > 1


def test_an_interrupt_before_the_first_row_is_a_plain_one(monkeypatch):
    sim = example("quarter_car").compile(backend="python")

    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("bellcrank.simulation.run.stepping.PythonRun.advance", pressed)
    with pytest.raises(KeyboardInterrupt) as stop:
        sim.simulate(t_end=0.01, step=0.001)
    assert not isinstance(stop.value, bc.Interrupted)
