"""Events of a model in its units: they act within steps of co-simulation, and in event mode, as in
a run; once each."""

import numpy as np
import pytest

from bellcrank.export.fmu import binaries
from tests.fmus import Opened, fmpy
from tests.models import needs_compiler
from tests.simulation.run.test_actions import slider_crank
from tests.simulation.run.test_goes_on import four_bar
from tests.simulation.run.test_stepper_events import bouncing

pytestmark = needs_compiler
STEP = 1 / 64


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Equations and units of the ball, each made once, without optimisation, which takes longer
    than the tests."""
    folder, found = tmp_path_factory.mktemp("units"), {}

    def make(version, method="rk4", model=bouncing):
        key = version, method, model
        if key not in found:
            s = model()
            if model is bouncing:
                s.set_run(
                    t_end=2, step=STEP, method=method, initial={"q(ball)": 1}, inputs={"z": 0}
                )
            equations = s.equations()
            path = folder / f"{model.__name__}_{method}_{version}.fmu"
            found[key] = equations, equations.export("fmu", path, fmi=version)
        return found[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binaries, "FLAGS", tuple("-O0" if f == "-O2" else f for f in binaries.FLAGS))
        yield make


def rows_after(run):
    """The last row at each time: after the events there."""
    last = np.append(np.diff(run.time) > 0, True)
    return dict(
        zip(
            run.time[last],
            zip(run["q(ball)"][last], run["u(ball)"][last], strict=True),
            strict=True,
        )
    )


@pytest.mark.parametrize(
    ("version", "method", "steps"),
    [(2, "rk4", 1), (2, "rk4", 4), pytest.param(3, "auto", 2, marks=pytest.mark.campaign)],
)
def test_cosimulation_has_the_rows_of_a_run(made, version, method, steps):
    """The kick at 0.5 s falls on the end of a step, with one or four steps of the model in each."""
    equations, path = made(version, method)
    run, length = equations.compile().simulate(), steps * STEP
    rows, unit = rows_after(run), Opened(path, "CoSimulation").start()
    for i in range(128 // steps):
        if i == 32 // steps:  # at 0.5 s, where the event has just acted
            state = unit.save()
            unit.step(i * length, length)
            unit.restore(state)
        unit.step(i * length, length)
        assert unit.get("ball.q", "ball.u") == pytest.approx(rows[(i + 1) * length], abs=1e-12)
    assert unit.get("e")[0] == pytest.approx(0.72) and len(run.events) == 3


@pytest.mark.parametrize("version", [2, pytest.param(3, marks=pytest.mark.campaign)])
def test_inputs_and_parameters_bring_events_about(made, version):
    unit = Opened(made(version)[1], "CoSimulation").start({"e": 0.5})
    unit.step(0.0, STEP)
    unit.set({"z": 2.0})
    for i in range(1, 4):
        unit.step(i * STEP, STEP)
    assert unit.get("m", "e").tolist() == [4, 0.5]  # once
    unit.set({"z": 0.0})
    unit.step(4 * STEP, STEP)
    unit.set({"z": 2.0})
    unit.step(5 * STEP, STEP)
    assert unit.get("m")[0] == 8


@pytest.mark.parametrize("version", [2, pytest.param(3, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_an_event_ends_the_run(made, version, kind):
    equations, path = made(version)
    end = equations.compile().simulate(initial={"u(ball)": 9}).time[-1]
    given = {"early_return_allowed": True} if version == 3 and kind == "CoSimulation" else {}
    found = fmpy.simulate_fmu(
        str(path),
        fmi_type=kind,
        stop_time=2,
        start_values={"ball.u": 9.0},
        output=["ball.q"],
        output_interval=0.125,
        relative_tolerance=1e-10,
        **given,
    )
    assert found["time"][-1] == pytest.approx(end, abs=1e-5) and found["ball.q"][
        -1
    ] == pytest.approx(3, abs=1e-6)


@pytest.mark.parametrize("version", [2, pytest.param(3, marks=pytest.mark.campaign)])
def test_model_exchange_by_cvode(made, version):
    """Event indicators, and states that are set in event mode."""
    equations, path = made(version)
    rows = rows_after(equations.compile().simulate())
    found = fmpy.simulate_fmu(
        str(path),
        fmi_type="ModelExchange",
        stop_time=2,
        output=["ball.q", "ball.u", "e"],
        output_interval=STEP,
        relative_tolerance=1e-10,
        record_events=True,
    )
    compared = 0
    for t, *state, e in found.tolist()[::-1]:  # where there are several rows at one time, the last
        near = min(rows, key=lambda x: abs(x - t))
        if abs(near - t) < 1e-9:
            assert state == pytest.approx(rows.pop(near), abs=1e-6)
            assert e == pytest.approx(0.72 if t > 0.4999 else 0.8)
            compared += 1
        if not rows:
            break
    assert compared > 120


def test_model_exchange_of_two_events_at_one_condition(made):
    """The piston passes a position outwards and back: each event acts once, at the time of the
    run."""
    equations, path = made(2, model=slider_crank)
    sim = equations.compile()
    for speed in (-9.5, -7.5, -6.5, -5.5):
        run = sim.simulate(method="dop853", rtol=1e-11, initial={"u(crank)": speed})
        found = fmpy.simulate_fmu(
            str(path),
            fmi_type="ModelExchange",
            stop_time=1.5,
            output=["m"],
            output_interval=STEP,
            relative_tolerance=1e-9,
            start_values={"crank.u": speed},
        )
        turned = found["time"][1:][np.diff(found["m"]) != 0]
        assert turned == pytest.approx([x.time for x in run.events], abs=1e-5)
        assert len(turned) >= 4


@pytest.mark.campaign
def test_closed_loops(made):
    def struck():
        s = four_bar()
        s.add_event("hit", "t - 0.123", action={"u(a)": "u(a) + 0.1"})
        s.add_event("tick", "t - 0.1875", action={"u(a)": "u(a) - 0.1"})
        s.set_run(step=STEP, t_end=15 * STEP, initial={"q(a)": 0.3, "u(a)": 20})
        return s

    equations, path = made(2, model=struck)
    run, unit = equations.compile().simulate(output_every=1), Opened(path, "CoSimulation").start()
    rows = [
        [run[x.name][i] for x in equations.interface.states]
        for i, t in enumerate(run.time)
        if t != 0.123
    ]
    at = [t for t in run.time if t != 0.123]
    for i in range(15):
        unit.step(i * STEP, STEP)
        last = max(k for k, t in enumerate(at) if t == (i + 1) * STEP)
        assert unit.get(*unit.states) == pytest.approx(rows[last], abs=1e-9), i
