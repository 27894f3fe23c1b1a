"""Events at the ends of steps count once and only once, whatever the rounding; periodic ones that
act are found one by one."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.numeric.fixed_step_methods import OWN
from tests.codegen.test_programs import compiled
from tests.models import needs_compiler

STEP = 0.01


def mass():
    """It moves with 1 m/s."""
    s = bc.System("mass", units="mks")
    s.add_body("b", translate=1, mass="m")
    s.add_parameter("n", 0, units="1")
    s.set_defaults(m=1)
    s.set_run(t_end=0.3, step=STEP, initial={"u(b)": 1})
    return s


@pytest.fixture(scope="module", params=["wasm", pytest.param("c", marks=needs_compiler)])
def sim(request):
    if request.param == "wasm":
        pytest.importorskip("wasmtime")
    return mass().equations().compile(backend=request.param)


PERIODIC = {
    "sin(100*pi*t)": np.arange(2, 31, 2) * STEP,
    "-sin(100*pi*t)": np.arange(1, 31, 2) * STEP,
    "mod(t, 0.02) - 0.01": np.arange(1, 31, 2) * STEP,
    "mod(t, 0.02) - 0.005": np.arange(0, 30, 2) * STEP
    + 0.005,  # it jumps back at the ends of steps
    "0.01 - mod(t, 0.02)": np.arange(2, 31, 2) * STEP,
}


@pytest.mark.parametrize("method", ["rk4", "tsit5"])
@pytest.mark.parametrize("condition", PERIODIC)
def test_zeros_at_the_ends_of_steps_count_once(sim, condition, method):
    if sim.backend == "python" and method in OWN:
        return
    run = sim.simulate(events=[bc.event(condition, direction=1, name="e")], method=method)
    expected = PERIODIC[condition]
    assert [e.time for e in run.events] == pytest.approx(
        [t for t in expected if t <= 0.3 + 1e-9], abs=1e-12
    )


@pytest.mark.parametrize("condition", PERIODIC)
def test_they_act_once(sim, condition):
    run = sim.simulate(events=[bc.event(condition, direction=1, action={"n": "n + 1"}, name="e")])
    assert run.ended == "finished" and [e.time for e in run.events] == pytest.approx(
        PERIODIC[condition], abs=1e-12
    )
    assert [c.after for e in run.events for c in e.changes] == list(range(1, len(run.events) + 1))
    times, counts = np.unique(run.time, return_counts=True)
    assert set(counts[np.isclose(times[:, None], PERIODIC[condition]).any(axis=1)]) == {
        2
    }  # before and after


@pytest.mark.parametrize("of", ["t", "q(b)"])
def test_each_step_has_its_event(sim, of):
    """Sums of steps are not multiples of them: some lie before, some behind a number."""
    listed = {f"e{k}": f"{of} - {k / 100}" for k in range(1, 31)}
    run = sim.simulate(events=listed)
    assert [e.name for e in run.events] == [*listed]
    assert [e.time for e in run.events] == pytest.approx(np.arange(1, 31) * STEP, abs=1e-12)


def test_what_only_touches_zero_is_no_event(sim):
    assert (
        sim.simulate(events={"touch": "(q(b) - 0.1)**2", "from above": "abs(t - 0.2)"}).events == []
    )


@needs_compiler
@pytest.mark.parametrize("condition", PERIODIC)
def test_runs_side_by_side_act_once(condition):
    sim, expected = mass().equations().compile(), PERIODIC[condition]
    events = [bc.event(condition, direction=1, action={"u(b)": "u(b) + 1"}, name="e")]
    many = sim.simulate_many(parameters={"m": [1.0, 2.0, 3.0]}, events=events)
    assert many["u(b)"][:, -1] == pytest.approx([1 + len(expected)] * 3)


@needs_compiler
def test_a_written_program_has_each_once(tmp_path):
    events = [
        bc.event(c, direction=1, action={"u(b)": "u(b) + 1"}, name=f"e{i}")
        for i, c in enumerate(PERIODIC)
    ]
    mass().equations().export("c", tmp_path, events=events)
    said = compiled("c", tmp_path)("--output", "out.csv", cwd=tmp_path)
    assert [said.count(f"e{i} at t = ") for i in range(5)] == [len(x) for x in PERIODIC.values()]
    assert bc.Run.read(tmp_path / "out.csv")["u(b)"][-1] == 1 + sum(map(len, PERIODIC.values()))


@pytest.mark.parametrize("condition", ["t - 0.1", "t - 0.1034", "q(b) - 0.1"])
def test_routines_are_updated_once_in_each_step(condition):
    """Wherever an event lies in it, also at its end."""

    def counted(t, memory):
        memory[0] += 1
        return memory[0]

    s = mass()
    s.add_external(
        "counted", arguments=("t",), returns="count", when="update", memory=1, python=counted
    )
    s.add_output("counted", "count")
    s.set_run(t_end=0.2)
    run = (
        s.equations()
        .compile()
        .simulate(events=[bc.event(condition, direction=1, action={"u(b)": "1.5*u(b)"})])
    )
    assert len(run.events) == 1 and run["counted"][-1] == 21
