"""Inputs are copied when they are given: what the caller does to the arrays afterwards changes
nothing."""

import numpy as np
import pytest

import bellcrank as bc


def oscillator(**settings):
    s = bc.System("oscillator", axes="ISO 8855")
    b = s.add_body("b", translate=1, mass=1, inertia=0)
    s.add_input("z", units="L")
    s.add_force("k", magnitude="-100*(x - z)", direction=s.inertial[1], at=b.origin)
    s.set_run(t_end=1, step=0.01, **settings)
    return s.equations()


def samples(kind):
    t, z = np.linspace(0, 4, 5), np.full(5, 0.01)
    return (t, z), {"pair": (t, z), "lists": (t.tolist(), z.tolist()), "array": np.array([t, z])}[
        kind
    ]


def spoil(given):
    for part in given:
        part[:] = [99.0] * len(part) if isinstance(part, list) else 99.0


@pytest.mark.parametrize("kind", ["pair", "lists", "array"])
@pytest.mark.parametrize("backend", ["c", "python"])
def test_inputs_of_a_description(backend, kind):
    _, given = samples(kind)
    sim = oscillator(inputs={"z": given}).compile(backend=backend)
    before = sim.simulate()["q(b)"]
    spoil(given)
    assert np.array_equal(sim.simulate()["q(b)"], before)


@pytest.mark.parametrize("backend", ["c", "python"])
def test_inputs_of_a_run_and_of_the_run_that_continues_it(backend):
    sim = oscillator().compile(backend=backend)
    _, given = samples("pair")
    whole = sim.simulate(t_end=2, inputs={"z": given})
    first = sim.simulate(t_end=1, inputs={"z": given})
    spoil(given)
    assert sim.simulate(start=first, t_end=2)["q(b)"][-1] == whole["q(b)"][-1]


@pytest.mark.parametrize("backend", ["c", "python"])
def test_inputs_of_a_stepper(backend):
    sim = oscillator().compile(backend=backend)
    (t, z), given = samples("pair")
    expected = sim.simulate(t_end=0.4, inputs={"z": (t.copy(), z.copy())})["q(b)"][-1]
    stepper = sim.stepper(step=0.01, inputs={"z": given})
    spoil(given)
    stepper.step(40)
    assert stepper.state["q(b)"] == pytest.approx(expected, rel=1e-12)


def test_a_table_keeps_its_own_points():
    x, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.0])
    table = bc.table(x, y)
    y[:] = 7.0
    assert table.value(1.0) == 1.0


def test_a_ramp_that_ends_before_it_starts_is_an_error():
    with pytest.raises(bc.RunError, match=r"end=0\.05 s is before start=0\.1 s"):
        bc.signals.ramp(start=0.1, slope=1, end=0.05)
