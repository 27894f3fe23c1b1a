"""Models taken step by step: the bits of runs by `simulate`, from any state on, and what is
rejected."""

import copy
from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from tests.models import needs_compiler
from tests.simulation.run.test_goes_on import driven, equations, four_bar
from tests.simulation.run.test_threads import at_once
from tests.vehicles.test_rigid import RADIUS, disc

BACKENDS = ["python", pytest.param("c", marks=needs_compiler)]
STEP = 0.01


def values(stepper: Any) -> np.ndarray:
    return np.array([stepper.t, *np.asarray(stepper.state), *np.asarray(stepper.outputs)])


def last(run: bc.Run, sim: Any) -> np.ndarray:
    listed = (*sim.interface.states, *sim.interface.outputs)
    return np.array([run.time[-1], *(run[x.name][-1] for x in listed)])


@pytest.fixture(scope="module", params=BACKENDS)
def made(request: Any) -> Any:
    """Inputs, memories, kept values, formulas over time; closed loops."""
    return {m: equations(m).compile(backend=request.param) for m in (driven, four_bar)}


@pytest.mark.parametrize("model", [driven, four_bar])
@pytest.mark.parametrize("method", ["rk4", "rk2"])
def test_steps_have_the_bits_of_a_run(made: Any, model: Any, method: str) -> None:
    """One by one and several at once, over a jump of an input within a step."""
    sim = made[model]
    run = sim.simulate(t_end=0.8, step=STEP, method=method, output_every=1)
    st = sim.stepper(step=STEP, method=method)
    listed = (*sim.interface.states, *sim.interface.outputs)
    rows = np.column_stack([run.time, *(run[x.name] for x in listed)])
    for i in range(31):
        assert np.array_equal(values(st), rows[i]), i
        st.step()
    st.step(49)
    assert np.array_equal(np.asarray(st.state), rows[80, 1 : 1 + len(sim.interface.states)])
    if model is four_bar:  # a row of every step may change what routines for outputs remember
        assert np.array_equal(values(st), rows[80])


@pytest.mark.parametrize("model", [driven, four_bar])
def test_changes_on_the_way_are_those_of_runs_that_go_on(made: Any, model: Any) -> None:
    """Inputs by number and signal, parameters; and what was saved comes back, in the same stepper
    and in another."""
    sim = made[model]
    parameter = "k" if model is driven else "g"
    changes = [{"parameters": {parameter: 30.0}}]
    if model is driven:
        changes = [
            {"inputs": {"z": 0.2}},
            {"inputs": {"z": 0.1}},
            *changes,
            {"inputs": {"z": bc.signals.sine(frequency=2.0)}},
        ]
    run = sim.simulate(t_end=0.1, step=STEP, output_every=10)
    st = sim.stepper(step=STEP)
    st.step(10)
    saved, seen = [], []
    for i, change in enumerate(changes, 2):
        run = sim.simulate(start=run, t_end=10 * i * STEP, **change)
        if "inputs" in change:
            st.set(change["inputs"])
        else:
            st.set_parameter(**change["parameters"])
        before = values(st)
        st.step(0)
        assert np.array_equal(before, values(st))
        listed = (*sim.interface.states, *sim.interface.outputs)
        assert np.array_equal(before, [run.time[0], *(run[x.name][0] for x in listed)])
        saved.append(st.save())
        for _ in range(10):
            st.step()
        assert np.array_equal(values(st), last(run, sim)), change
        seen.append(values(st))
    other = sim.stepper(step=STEP)
    for stepper in (st, other):
        for old, then in reversed([*zip(saved, seen, strict=True)]):
            stepper.restore(old)
            for _ in range(10):
                stepper.step()
            assert np.array_equal(values(stepper), then)
    st.reset()
    assert np.array_equal(values(st), values(sim.stepper(step=STEP)))


def test_a_value_that_is_set_again_changes_nothing(made: Any) -> None:
    """Not what routines remember, either."""
    a, b = (made[driven].stepper(step=STEP, inputs={"z": 0.1}) for _ in range(2))
    for i in range(20):
        b.set(z=0.1)
        b.set({"Z": np.float64(0.1)})
        a.step(1 + i % 2)
        b.step(1 + i % 2)
    assert np.array_equal(values(a), values(b))


def test_values_by_name(made: Any) -> None:
    """In user units, in any spelling; the state in equation units is that of `rhs`."""
    st = made[driven].stepper(
        step=STEP, initial={"q(mass)": 0.2, "u(mass)": -1}, parameters={"m": 2.0}
    )
    assert (
        st.state["q(mass)"] == 0.2
        and st.state["U( Mass )"] == -1
        and dict(st.state)["u(mass)"] == -1
    )
    assert list(st.state) == ["q(mass)", "u(mass)"] and len(st.outputs) == 1 and "AZ" in st.outputs
    assert st.outputs.get("ay") is None and "ay" not in st.outputs
    assert np.array_equal(st.x, [0.2, -1]) and np.array_equal(
        np.asarray(st.state, dtype=np.float32), np.float32(st.x)
    )
    assert st.outputs["az"] != 0 and repr(st.outputs).startswith("{'az': ")
    assert repr(made[driven]).startswith(
        "Simulation('driven': 2 states, 1 input, 1 output; backend "
    )
    assert repr(st) == f"Stepper('driven': t = 0 s, rk4, step {STEP:g} s)"
    with pytest.raises(bc.ModelError, match=r"no value 'q\(mess\)' here. Did you mean 'q\(mass\)'"):
        st.state["q(mess)"]


def test_steppers_in_threads(made: Any) -> None:
    """Each for itself: what one sets and remembers does not reach the others."""
    sim = made[driven]

    def work(i: int) -> np.ndarray:
        st = sim.stepper(step=STEP, initial={"q(mass)": 0.1 * i}, parameters={"k": 10.0 + i})
        for n in range(12):
            st.set(z=0.01 * i * n)
            st.step()
        return values(st)

    alone = [work(i) for i in range(3)]
    for one, together in zip(alone, at_once(work, 3), strict=True):
        assert np.array_equal(one, together)


def test_it_goes_on_from_a_run(made: Any) -> None:
    sim = made[driven]
    first, whole = (sim.simulate(t_end=end, step=STEP, output_every=1) for end in (0.2, 0.4))
    st = sim.stepper(start=first)
    st.step(20)
    assert np.array_equal(np.asarray(st.state), last(whole, sim)[1:3])


@pytest.mark.parametrize("backend", [pytest.param("c", marks=needs_compiler), "wasm"])
def test_rigid_wheels_step_by_step(backend: str) -> None:
    """A disc that bounces and rolls: the bits of a run, and its events; what was saved comes
    back."""
    sim = disc(bc.vehicles.terrain.flat(), (0.7, 1.0)).equations().compile(backend=backend)
    given = {"step": STEP, "initial": {"q(d, 2)": RADIUS + 0.01, "u(d, 1)": 1.0}}
    run, st = sim.simulate(t_end=0.4, output_every=1, **given), sim.stepper(**given)
    st.step(10)
    saved = st.save()
    for _ in range(2):
        for i in range(10, 41):
            assert np.array_equal(
                np.asarray(st.state), [run[x.name][i] for x in sim.interface.states]
            ), i
            assert np.array_equal(
                np.asarray(st.outputs), [run[x.name][i] for x in sim.interface.outputs]
            )
            st.step()
        names = [e.name for e in st.events]
        assert "w rolls" in names and names == [e.name for e in run.events][-len(names) :]
        st.restore(saved)


def test_a_step_that_fails_tells_why_and_can_be_left(made: Any) -> None:
    sim, given = made[driven], {"step": STEP, "parameters": {"k": -1e8}}
    st, run = sim.stepper(**given), sim.simulate(t_end=2, output_every=1, **given)
    start = st.save()
    with pytest.raises(bc.RunError, match=r"stopped at t = 0.\d* s: ") as told:
        st.step(500)
    assert str(told.value) in run.ended and st.t == run.time[-1] > 0.1
    assert np.array_equal(values(st), last(run, sim))
    for again in (st.step, st.save):
        with pytest.raises(bc.RunError, match=r"stopped at t = 0\."):
            again()
    st.restore(start)
    assert st.t == 0
    st.step(10)
    st.reset(initial={"q(mass)": 0.5}, parameters={"k": 40})
    st.step(3)
    assert st.t == 0.03 and 0.4 < st.state["q(mass)"] < 0.5


def test_an_input_that_raises_is_told(made: Any) -> None:
    """The state is that before the step, and what was saved can be restored."""

    def road(t: float) -> float:
        if t > 0.055:
            raise ValueError("no road here")
        return 0.1 * t

    st, smooth = (
        made[driven].stepper(step=STEP, inputs={"z": z}) for z in (road, lambda t: 0.1 * t)
    )
    for stepper in (st, smooth):
        stepper.step(5)
    saved = st.save()
    for again in (
        "input 'z' fails at t = 0.06 s: ValueError: no road here",
        r"was not finished: use restore\(\)",
    ):
        with pytest.raises(bc.RunError, match=again):
            st.step()
        assert st.t == 0.05 and np.array_equal(np.asarray(st.state), np.asarray(smooth.state))
    st.restore(saved)
    for stepper in (st, smooth):
        stepper.set(z=0.0)
        stepper.step(5)
    assert np.array_equal(values(st), values(smooth))


def test_what_is_refused(made: Any) -> None:
    """Messages for what a user mistypes; the stepper stays as it was."""
    sim = made[driven]
    st = sim.stepper(step=STEP, inputs={"z": 0.1})
    st.step(3)
    before = values(st)
    bars = made[four_bar].stepper(step=STEP)
    sampled = sim.stepper(step=STEP, inputs={"z": ([0.0, 0.05, 0.1], [0.0, 1.0, 0.0])})
    sampled.step(10)
    told = [
        (
            lambda: st.set(zz=1.0),
            bc.ModelError,
            r"set\(zz=...\): the model has no such input. Did you mean 'z'",
        ),
        (
            lambda: st.set(k=1.0),
            bc.ModelError,
            r"no such input. It is a parameter: use set_parameter\(\). Inputs: z",
        ),
        (lambda: st.set(z=float("nan")), bc.RunError, "input 'z' is nan, not a finite number"),
        (lambda: st.set(z="1"), bc.RunError, "input 'z' is '1'; give a number"),
        (lambda: st.set([1]), bc.ModelError, "must be a dictionary"),
        (
            lambda: st.set_parameter(z=1.0),
            bc.ModelError,
            "it is an input of the model, not a parameter",
        ),
        (
            lambda: st.set_parameter(kk=1.0),
            bc.ModelError,
            r"set_parameter\(kk=...\): the model has no such parameter",
        ),
        (lambda: st.set_parameter("m", -1.0), bc.ModelError, "the mass of body 'mass' is negative"),
        (
            lambda: st.set_parameter(m=float("inf")),
            bc.ModelError,
            "parameter 'm' is inf, not a finite number",
        ),
        (
            lambda: st.step(-1),
            bc.ModelError,
            r"step\(-1\): the number of steps must be whole, not negative",
        ),
        (
            lambda: st.step(1.5),
            bc.ModelError,
            r"step\(1.5\): the number of steps must be whole, not negative",
        ),
        (lambda: st.restore(before), bc.ModelError, r"it takes what save\(\) has returned"),
        (lambda: st.restore(bars.save()), bc.ModelError, "saved by a stepper of another model"),
        (lambda: copy.copy(st), bc.ModelError, "a stepper is bound to memory of this process"),
        (
            lambda: sampled.step(),
            bc.RunError,
            r"input 'z' covers t = .* to 0.1 s, but step\(1\) goes from t = 0.1",
        ),
        (lambda: sim.stepper(step=-1), bc.ModelError, "step=-1 s must be positive"),
        (
            lambda: sim.stepper(method="tsit5"),
            bc.ModelError,
            "'tsit5' adapts its steps; a stepper takes method",
        ),
        (lambda: sim.stepper(method="rk5"), bc.ModelError, "method='rk5' is not known"),
        (lambda: sim.stepper(initial={"q(mess)": 1}), bc.ModelError, "no such coordinate or speed"),
        (lambda: sim.stepper(initial=([1.0], [])), bc.ModelError, "u must have 1 values"),
        (lambda: sim.stepper(inputs={"y": 1}), bc.ModelError, "the model has no such input"),
        (lambda: sim.stepper(events={"low": "q(mass) < 0"}), TypeError, "has no argument 'events'"),
        (lambda: sim.stepper(start=3), bc.ModelError, "must be a run that this one continues from"),
    ]
    for wrong, kind, why in told:
        with pytest.raises(kind, match=why):
            wrong()
    assert np.array_equal(values(st), before)
    sampled.set(z=0.0)
    sampled.step(5)
