"""What a run reports about itself: outputs without a value, user functions that return none, tables
asked too far."""

import math

import numpy as np
import pytest

import bellcrank as bc
from tests.models import able, pendulum

BACKENDS = ["auto", "python"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", ["rk4", "RK45", "tsit5"])
def test_output_without_a_value_is_named_and_the_run_goes_on(backend, method):
    s = pendulum()
    s.add_output("inverse", "1/q(rod)")
    s.add_output("twice", "2*q(rod)")
    s.set_run(initial={"q(rod)": 0.0, "u(rod)": 1.0})
    with pytest.warns(bc.ModelWarning, match=r"^output 'inverse' is not finite at t = 0 s: inf$"):
        run = s.equations().compile(backend=able(backend, method)).simulate(method=method)
    assert run.ended == "finished"
    np.testing.assert_allclose(run["inverse"][1:], 1 / run["q(rod)"][1:], rtol=1e-14)
    np.testing.assert_allclose(run["twice"], 2 * run["q(rod)"], rtol=1e-14)


def test_many_outputs_without_a_value_are_one_message():
    s = pendulum()
    for i in range(5):
        s.add_output(f"inverse_{i}", f"{i + 1}/q(rod)")
    s.set_run(initial={"q(rod)": 0.0, "u(rod)": 1.0})
    message = (
        r"^outputs 'inverse_0', 'inverse_1', 'inverse_2' and 2 more are not finite at t = 0 s$"
    )
    with pytest.warns(bc.ModelWarning, match=message) as found:
        s.equations().compile(backend="python").simulate()
    assert len(found) == 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_number_of_times_is_told(backend):
    s = pendulum()
    s.add_output("root", "sqrt(-1 - q(rod)**2)", units="1")
    with pytest.warns(
        bc.ModelWarning, match="output 'root' is not finite at t = 0 s and 100 more times: nan"
    ):
        s.equations().compile(backend=backend).simulate()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", ["rk4", "RK45"])
def test_the_load_without_a_value_is_named_and_no_output_where_the_run_stopped(
    backend, method, recwarn
):
    s = pendulum()
    s.add_moment("push", magnitude="1e-9*sqrt(0.5 - t)", direction="[rod3]", on="rod")
    s.add_output("root", "sqrt(0.495 - t)")
    s.set_run(t_end=1, step=0.01)
    run = s.equations().compile(backend=backend).simulate(method=method)
    assert (
        "likely term: the moment 'push', whose magnitude was nan at t = 0.50"
        in run.ended.replace("0.5 s", "0.50 s")
    )
    assert 0.49 <= run.time[-1] <= 0.5 and not recwarn.list
    late = pendulum()
    late.add_output("root", "sqrt(0.495 - t)")
    with pytest.warns(bc.ModelWarning, match="output 'root' is not finite at t = 0.5 s: nan"):
        late.equations().compile(backend=backend).simulate(method=method, t_end=0.5, step=0.01)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", ["rk2", "rk4", "RK45"])
def test_external_that_returns_no_number_is_named(backend, method):
    s = pendulum(
        "m0*f(t)",
        lambda s: s.add_external(
            "f", arguments=("t",), python=lambda t: 1.0 if t < 0.5 else math.nan
        ),
        m0=1.0,
    )
    run = s.equations().compile(backend=backend).simulate(method=method)
    assert "the user function 'f' returned nan at t = 0.5" in run.ended
    assert 0.3 < run.time[-1] <= 0.5 and np.isfinite(run["u(rod)"]).all()


# ---- tables


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("order", [1, 3])
def test_table_beyond_its_points(backend, order):
    """Straight at its ends: y = 2 x there, so it continues as 2 x."""
    x = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    s = pendulum(
        "-k*spring(q(rod))", lambda s: s.define("spring", bc.table(x, 2 * x, order)), k=1.0
    )
    sim = s.equations().compile(backend=backend)
    inside = sim.simulate(initial={"q(rod)": 0.9})
    assert inside.ended == "finished"
    message = (
        "^table 'spring' was evaluated at 1.5, outside its range -1 to 1; values were "
        "extrapolated linearly$"
    )
    with pytest.warns(bc.ModelWarning, match=message):
        run = sim.simulate(initial={"q(rod)": 1.5}, t_end=2)
    np.testing.assert_allclose(
        run["q(rod)"], 1.5 * np.cos(math.sqrt(2 / 2.1) * run.time), rtol=1e-6, atol=1e-8
    )


def test_table_of_two_arguments_keeps_its_end_value():
    s = pendulum(prepare=lambda s: s.define("map", bc.table([0, 1], [0, 1], [[1, 2], [3, 4]])))
    s.add_output("value", "map(t, 0.5)")
    with pytest.warns(
        bc.ModelWarning,
        match="table 'map' was evaluated at 2, outside its range 0 to 1; values were held at the "
        "end value",
    ):
        run = s.equations().compile(backend="python").simulate(t_end=2)
    assert run["value"][-1] == pytest.approx(3.5)


def test_table_as_input_that_ends_before_the_run():
    s = pendulum("m0*w", lambda s: s.add_input("w"), m0=1.0)
    sim = s.equations().compile(backend="python")
    table = bc.table([0, 1], [0, 1])
    sim.simulate(t_end=1, inputs={"w": table})
    with pytest.warns(
        bc.ModelWarning,
        match="input 'w' is a table for t = 0 to 1 s, but the run goes from 0 to 2 s",
    ):
        run = sim.simulate(t_end=2, inputs={"w": table})
    assert run["w"][-1] == pytest.approx(2)


def test_external_routines_are_not_called_for_the_look():
    calls = []
    s = pendulum(
        "-k*spring(f(t))",
        lambda s: (
            s.define("spring", bc.table([0, 1], [0, 1])),
            s.add_external("f", arguments=("t",), python=lambda t: calls.append(t) or 5.0),
        ),
        k=1.0,
    )
    run = s.equations().compile(backend="python").simulate(method="rk2", step=0.1)
    assert len(calls) == 21 + len(run) * 0  # two a step and one before
