"""Runs whose method adapts its steps: compiled as in WebAssembly, in pieces as in one, with what
they report."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.numeric.collocation import STIFF
from bellcrank.core.numeric.embedded import EMBEDDED
from bellcrank.core.numeric.step_report import stiff_switch_message
from bellcrank.simulation.run.adaptive import CompiledRun
from tests.models import WASM, needs_compiler, needs_wasm, pendulum, rarely, relative
from tests.programs import COMPILED, build
from tests.simulation.run.test_goes_on import driven as remembering

METHODS = (*EMBEDDED, *STIFF)
BACKENDS = ("auto", WASM)


def driven(**values):
    """A pendulum with an input that jumps, and an output."""
    s = pendulum(
        "-k*q(rod)**3 - c*u(rod) + w",
        lambda s: s.add_input("w", units="F*L"),
        k=40.0,
        c=0.1,
        **values,
    )
    s.add_output("square", "q(rod)**2")
    s.set_run(inputs={"w": 0.0})
    return s


@pytest.fixture(scope="module")
def equations():
    return driven().equations()


@pytest.fixture(scope="module")
def sim(equations):
    return equations.compile()


def table(run):
    return np.array([run[name] for name in run])


@needs_compiler
@needs_wasm
@pytest.mark.parametrize("method", METHODS)
def test_compiled_runs_are_those_in_webassembly(equations, sim, method):
    options = {
        "t_end": 5.0,
        "method": method,
        "inputs": {"w": bc.signals.step(at=1.2345, height=2.0)},
    }
    here = equations.compile(backend="wasm").simulate(rtol=1e-7, atol=1e-9, **options)
    there = sim.simulate(rtol=1e-7, atol=1e-9, **options)
    assert relative(table(there), table(here)) < 1e-10
    assert [there.settings[x] for x in ("steps", "rejected")] == [
        here.settings[x] for x in ("steps", "rejected")
    ]
    finer = sim.simulate(rtol=1e-11, atol=1e-13, **options)
    assert 1e-9 < relative(table(there), table(finer)) < 1e-6


@needs_compiler
@pytest.mark.parametrize("method", METHODS)
def test_runs_repeat_to_the_bit_whole_and_in_pieces(sim, method, monkeypatch):
    options = {
        "t_end": 2.0,
        "method": method,
        "inputs": {"w": bc.signals.step(at=0.777, height=3.0)},
    }
    whole = sim.simulate(**options)
    assert np.array_equal(table(sim.simulate(**options)), table(whole))
    watched = sim.simulate(events={"up": "u(rod) > 0.5"}, **options)  # step by step
    assert np.array_equal(table(watched), table(whole)) and watched.events
    advance = CompiledRun.advance

    def one_by_one(self, last):
        self._run._job.pause = 1
        return advance(self, min(last, self.steps_done + 1))

    monkeypatch.setattr(CompiledRun, "advance", one_by_one)
    assert np.array_equal(table(sim.simulate(**options)), table(whole))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", METHODS)
def test_figures_of_a_run(equations, method, backend):
    simulation = equations.compile(backend=backend)
    coarse, fine = (
        simulation.simulate(method=method, rtol=r, atol=r).settings for r in (1e-4, 1e-9)
    )
    assert coarse["steps"] < fine["steps"] and coarse["rates"] < fine["rates"]
    assert (fine["rtol"], fine["atol"]) == (1e-9, 1e-9)
    assert (
        0
        < fine["smallest_step"]
        <= 1 / fine["steps"]
        <= fine["largest_step"]
        < coarse["largest_step"]
        <= 1.0
    )
    each = {"tsit5": 6, "dop853": 11, "radau5": 4, "rodas5p": 8}[method]
    assert fine["rates"] >= each * (fine["steps"] + fine["rejected"])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", rarely(METHODS, ("radau5",)))
def test_event_times_to_the_tolerance(backend, method):
    s = pendulum("-k*q(rod)", k=2.1 * math.pi**2)  # one oscillation in two seconds
    s.set_run(initial={"q(rod)": 0.5})
    run = (
        s.equations()
        .compile(backend=backend)
        .simulate(
            t_end=6.0,
            step=0.5,
            method=method,
            rtol=1e-10,
            atol=1e-12,
            events={"up": bc.event("q(rod)", direction=1), "down": "q(rod) < -0.3"},
            stop="down" if backend == "wasm" else (),
        )
    )
    down = math.acos(-0.6) / math.pi
    if backend == "wasm":
        assert run.ended.startswith("stopped by event 'down'") and run.time[-1] == pytest.approx(
            down, abs=1e-9
        )
        assert run["q(rod)"][-1] == pytest.approx(-0.3, abs=1e-9)
        return
    times = {name: [e.time for e in run.events if e.name == name] for name in ("up", "down")}
    np.testing.assert_allclose(times["up"], [1.5, 3.5, 5.5], atol=2e-9)
    np.testing.assert_allclose(times["down"], [down, 2 + down, 4 + down], atol=2e-9)


@pytest.mark.parametrize("method", METHODS)
def test_short_pulses_are_not_stepped_over(sim, method):
    pulse = bc.signals.pulse(start=3.0, width=1e-3, height=4200.0)
    free = {"initial": {"q(rod)": 0.0}, "parameters": {"k": 0.0, "c": 0.0}}
    run = sim.simulate(t_end=4.0, step=0.5, method=method, rtol=1e-4, inputs={"w": pulse}, **free)
    assert run["u(rod)"][:7].tolist() == [0.0] * 7
    assert run["u(rod)"][7] == pytest.approx(1.0, rel=1e-4)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("magnitude", "ended"),
    [
        (
            "k3*q(rod)**3",
            r"stopped at t = 1.26657 s: the step became too small \(last .* s\): "
            r"[qu]\(rod\) asks for it",
        ),
        ("sqrt(0.5 - t)", r"stopped at t = 0.5 s: (?!.*try a smaller step).*"),
    ],
)
def test_runs_that_cannot_go_on_say_why(backend, magnitude, ended):
    s = pendulum(magnitude, **({"k3": 50.0} if "k3" in magnitude else {}))
    sim = s.equations().compile(backend=backend)
    for method in METHODS:
        run = sim.simulate(t_end=20.0, method=method)
        assert run.ended != "finished" and np.isfinite(table(run)).all()
        assert re.match(ended, run.ended), (method, run.ended)


@pytest.mark.parametrize("backend", BACKENDS)
def test_too_many_steps_are_told(backend, monkeypatch):
    from bellcrank.core.numeric.step_statistics import StepStatistics

    monkeypatch.setattr(
        "bellcrank.simulation.run.adaptive.StepStatistics", lambda most: StepStatistics(50)
    )
    s = pendulum("-c*(u(rod) - 1)", c=1e6)
    sim = s.equations().compile(backend=backend)
    with pytest.warns(bc.ModelWarning, match="limited .* by stability"):
        run = sim.simulate(method="tsit5", rtol=1e-4)
    told = (
        r"50 steps were not enough to t_end = 1 s\. A mode of 4.8e\+05 1/s holds them: try "
        r"method='radau5'$"
    )
    assert re.search(told, run.ended), run.ended
    slow = (
        pendulum("-k*q(rod)**3 + w*sin(50*t)", k=50.0, w=9.0).equations().compile(backend=backend)
    )
    assert slow.simulate(method="tsit5", t_end=9.0).ended.endswith(
        "to t_end = 9 s. Try a larger rtol"
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", EMBEDDED)
def test_explicit_steps_that_a_fast_mode_holds_are_told(backend, method):
    sim = pendulum("-c*(u(rod) - 1)", c=2e3).equations().compile(backend=backend)
    told = (
        rf"^a mode of 9.5e\+02 1/s limited \d+ of \d+ steps of {method} by stability, not "
        rf"accuracy; method='radau5' takes longer"
    )
    with pytest.warns(bc.ModelWarning, match=told) as warned:
        run = sim.simulate(method=method, rtol=1e-4)
    assert len(warned) == 1 and run.ended == "finished"
    assert run.settings["steps"] / 2 < run.settings["held_steps"] <= run.settings["steps"]
    assert run.settings["fastest_mode"] == pytest.approx(2e3 / 2.1, rel=0.02)
    assert (
        "held_steps" not in sim.simulate(method=method, rtol=1e-4, parameters={"c": 1.0}).settings
    )


def test_stiff_steps_lost_in_rounding_are_told():
    from bellcrank.core.numeric.run_spec import STEP_TOO_SMALL, TOO_MANY_STEPS
    from bellcrank.core.numeric.step_report import step_failure_message
    from bellcrank.core.numeric.step_statistics import StepStatistics

    told = (
        "Newton's method failed in 41 of 80 steps: rtol=1e-10 may be below .* double precision: "
        "try rtol=1e-08"
    )
    count = StepStatistics(80, 30, 50, 400, n_jacobians=40, n_newton_failures=41)
    for status in (STEP_TOO_SMALL, TOO_MANY_STEPS):
        assert re.search(told, step_failure_message(status, count, ["q(a)"], 1.0, "radau5", 1e-10))
    count.n_newton_failures = 2
    assert "Newton" not in step_failure_message(
        STEP_TOO_SMALL, count, ["q(a)"], 1.0, "radau5", 1e-10
    )


def test_what_is_refused(sim):
    with pytest.raises(
        bc.ModelError, match="rtol=1e-14 is below 1e-13, which double precision cannot keep"
    ):
        sim.simulate(method="tsit5", rtol=1e-14)
    with pytest.raises(
        bc.ModelError,
        match=r"method='tsit6' is not known\. Did you mean 'tsit5'.*rk4.*dop853.*DOP853",
    ):
        sim.simulate(method="tsit6")
    assert sim.simulate(method="TSIT5", inputs={"w": 0.0}).settings["method"] == "tsit5"
    assert sim.simulate(method="DOP853", inputs={"w": 0.0}).settings["method"] == "DOP853"


def test_command_line_tells_the_steps_chosen(capsys):
    from bellcrank.cli.main import main

    model = str(Path(__file__).parents[3] / "examples/double_pendulum.py")
    assert (
        main(
            [
                "run",
                model,
                "--method",
                "tsit5",
                "--rtol",
                "1e-6",
                "--atol",
                "1e-8",
                "--json",
                "--t-end",
                "1",
            ]
        )
        == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert told["method"] == "tsit5" and told["rejected"] >= 0 and told["steps"] < told["rates"]
    assert 0 < told["smallest_step"] < told["largest_step"] < 1
    assert (told["rtol"], told["atol"]) == (1e-6, 1e-8)
    assert main(["run", model, "--method", "radau5", "--rtol", "1e-4", "--t-end", "0.3"]) == 0
    work = (
        r"work +\d+ steps rejected, [\d,]+ rates, \d+ Jacobians, \d+ factorisations, \d+ "
        r"failures of Newton's method"
    )
    assert re.search(work, capsys.readouterr().out)


@needs_compiler
@pytest.mark.parametrize("method", ["tsit5", "DOP853"])
def test_progress_within_one_output(sim, method, monkeypatch):
    """Long runs with a single row report how far they are."""
    monkeypatch.setattr("bellcrank.simulation.backend.c_runs.PAUSE_SECONDS", 0.0)
    told = []
    sim.simulate(t_end=4.0, step=4.0, method=method, progress=told.append)
    assert told == sorted(told) and told[-1] == 1.0
    if method == "tsit5":
        monkeypatch.setattr("bellcrank.simulation.backend.c_runs.FIRST_PAUSE", 10)
        told.clear()
        sim.simulate(t_end=4.0, step=4.0, method=method, progress=told.append)
        assert len(told) > 3 and told == sorted(told) and 0 < told[0] < 1


# ---- stiff motion


def stiff():
    """A pendulum whose speed is held by a hard damper, and an input that jumps."""
    s = pendulum(
        "-c*(u(rod) - w) - k*q(rod)", lambda s: s.add_input("w", units="1/T"), k=3.0, c=2e4
    )
    s.set_run(t_end=2.0, step=0.1, inputs={"w": bc.signals.step(at=0.777, height=2.0)})
    return s


@pytest.mark.parametrize("backend", BACKENDS)
def test_auto_goes_over_where_a_fast_mode_holds_the_steps(backend):
    sim = stiff().equations().compile(backend=backend)
    run = sim.simulate(method="auto", rtol=1e-6, atol=1e-8)
    assert run.ended == "finished" and run.settings["method"] == "auto"
    assert run.settings["fastest_mode"] == pytest.approx(2e4 / 2.1, rel=0.02)
    held = (
        2.0 * run.settings["fastest_mode"] / 3.5
    )  # steps of the explicit method, which is stable up to 3.5 / rate
    assert 0 < run.settings["went_over"] < 0.1 and run.settings["steps"] < held / 20
    assert run.settings["jacobians"] >= 1
    only = sim.simulate(method="radau5", rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(table(run), table(only), atol=2e-5)
    watched = sim.simulate(method="auto", rtol=1e-6, atol=1e-8, events={"through": "q(rod) > 1"})
    assert np.array_equal(table(watched), table(run))
    assert [e.name for e in watched.events] == ["through"]
    after = np.searchsorted(only.time, watched.events[0].time)
    assert only["q(rod)"][after - 1] < 1 < only["q(rod)"][after]


@pytest.mark.campaign
@pytest.mark.parametrize("backend", BACKENDS)
def test_auto_goes_back_where_stiff_steps_do_not_come_on_sooner(backend):
    """A hard damper that opens at 0.5 s: the pendulum then swings freely."""
    s = pendulum("-c*grip*u(rod) - k*q(rod)", lambda s: s.add_input("grip"), k=300.0, c=2e4)
    s.set_run(
        t_end=3.0, step=0.1, inputs={"grip": bc.signals.step(at=0.5, height=-1.0, before=1.0)}
    )
    sim = s.equations().compile(backend=backend)
    run = sim.simulate(method="auto", rtol=1e-6, atol=1e-8)
    assert (
        run.settings["went_over"] < 0.1
        and 0.5 < run.settings["went_back"] < 3
        and run.settings["times_back"] == 1
    )
    (told,) = stiff_switch_message(run.settings)
    assert re.fullmatch(
        r"went over to radau5 at t = .* held the steps; back to tsit5 at t = .*, whose steps .*",
        told,
    )
    exact = sim.simulate(method="radau5", rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(table(run), table(exact), atol=1e-3)


@needs_compiler
def test_auto_stays_where_nothing_is_stiff(sim):
    run = sim.simulate(method="auto", t_end=3.0, rtol=1e-6, atol=1e-8)
    assert "went_over" not in run.settings and "jacobians" not in run.settings
    assert np.array_equal(
        table(run), table(sim.simulate(method="tsit5", t_end=3.0, rtol=1e-6, atol=1e-8))
    )


@pytest.mark.parametrize("method", STIFF)
def test_stiff_motion_takes_few_steps(method):
    """A damper holds the speed within 1e-4 s; a SciPy method follows the same motion."""
    sim = stiff().equations().compile()
    run = sim.simulate(method=method, rtol=1e-6, atol=1e-8)
    exact = sim.simulate(method="Radau", rtol=1e-9, atol=1e-11)
    assert np.abs(run["q(rod)"] - exact["q(rod)"]).max() < 1e-5
    assert run.settings["steps"] < 120 and run.settings["newton_failures"] < 10


@needs_compiler
@pytest.mark.parametrize("method", STIFF)
def test_slopes_by_differences_are_found_for_every_state(method):
    """Of a routine the program knows no slopes: they cost an evaluation for each state, and steps
    are those with known ones."""
    stiff_one = {"arguments": ("q", "u"), "python": lambda q, u: -1e4 * q - 2e3 * u}
    given = {"method": method, "t_end": 0.1, "initial": {"q(rod)": 0.3}}
    known = (
        pendulum("-k*q(rod) - c*u(rod)", k=1e4, c=2e3)
        .equations()
        .compile()
        .simulate(**given)
        .settings
    )
    routine = pendulum("f(q(rod), u(rod))", lambda s: s.add_external("f", **stiff_one))
    found = routine.equations().compile().simulate(**given).settings
    assert found["steps"] == pytest.approx(known["steps"], abs=2) and found["jacobians"] > 0
    assert found["rates"] == pytest.approx(known["rates"] + 2 * found["jacobians"], rel=0.15)


# ---- stand-alone programs in C


@pytest.mark.parametrize("language", COMPILED[:1])
def test_programs_choose_their_steps(language, tmp_path):
    """With inputs that jump; echo and keywords repeat the run."""
    equations = driven().equations()
    program = build(equations, language, tmp_path / "written")
    lines = ("STOPT 2", "STEP 0.05", "RTOL 1e-7", "ATOL 1e-9", "W step 0.777 3 0")
    jump = {"w": bc.signals.step(at=0.777, height=3.0)}
    for method in METHODS:
        found = program.run(tmp_path / method, f"METHOD {method}", *lines)
        run = equations.compile().simulate(
            t_end=2.0, step=0.05, method=method, rtol=1e-7, atol=1e-9, inputs=jump
        )
        for name in ("q(rod)", "u(rod)"):
            np.testing.assert_allclose(found[name], run[name], atol=1e-6 * np.abs(run[name]).max())
        told = program(
            tmp_path / method / "out.echo",
            "--output",
            tmp_path / "again.erd",
            "--echo",
            tmp_path / "x",
        )
        assert f" rejected, {method}, finished at t = 2 s" in told
        assert np.array_equal(bc.Run.read(tmp_path / "again.erd")["q(rod)"], found["q(rod)"])
    assert re.search(
        r"\n\d+ rates, \d+ Jacobians, \d+ factorisations, 0 failures of Newton's method\n", told
    )
    program.run(
        tmp_path / "short", "METHOD tsit5", *lines[:-1], "W ramp 0.777 3 0.777000000000001"
    )  # one break
    told = program(
        tmp_path / "short" / "out.echo", "--output", tmp_path / "x.erd", "--echo", tmp_path / "x"
    )
    ramp = {"w": bc.signals.ramp(0.777, 3.0, 0.777000000000001)}
    run = equations.compile().simulate(
        t_end=2.0, step=0.05, method="tsit5", rtol=1e-7, atol=1e-9, inputs=ramp
    )
    assert int(re.search(r"(\d+) steps", told)[1]) == run.settings["steps"]
    held = ("METHOD tsit5", "RTOL 1e-4", "K 3e5", "STOPT 1")
    (tmp_path / "held.par").write_text(
        "\n".join(["PARSFILE", f"PARSFILE {program.default}", *held, "C 3e3", "END"])
    )
    assert re.search(
        r"a mode of 1\.\de\+03 1/s limited \d+ of \d+ steps by stability, not",
        program(tmp_path / "held.par"),
    )
    told = program(tmp_path / "held.par", "--method", "auto", "--output", tmp_path / "over.csv")
    run = equations.compile().simulate(
        method="auto", rtol=1e-4, t_end=1.0, parameters={"k": 3e5, "c": 3e3}
    )
    assert f"went over to radau5 at t = {run.settings['went_over']:g} s: a mode of 1." in told
    for name, words in (("steps", "steps of"), ("rates", "rates,"), ("jacobians", "Jacobians,")):
        assert int(re.search(rf"(\d+) {words}", told)[1]) == pytest.approx(
            run.settings[name], rel=0.02, abs=2
        )
    np.testing.assert_allclose(
        bc.Run.read(tmp_path / "over.csv")["q(rod)"], run["q(rod)"], atol=1e-5
    )
    assert (
        "static const int SLOPED[] = {\n    1, 1\n}"
        in (tmp_path / "written" / "model.c").read_text()
    )  # exact
    program("--rtol", "1e-14", code=1)
    assert (
        "the method is rk2, rk4, heun, euler, ab2, rk3, tsit5, dop853, radau5, rodas5p or auto"
        in program("--method", "tsit6", code=1)
    )


@needs_compiler
@needs_wasm
@pytest.mark.parametrize("method", METHODS)
def test_routines_that_remember_take_the_same_steps_in_c_and_webassembly(method):
    """What they remember changes the rates at the end of every step, which the next one begins
    with."""
    equations = remembering().equations()
    here, there = (
        equations.compile(backend=b).simulate(t_end=0.6, step=0.02, method=method, rtol=1e-4)
        for b in ("wasm", "c")
    )
    assert all(there.settings[x] == here.settings[x] for x in ("steps", "rejected"))
    # slopes of the routine are differences, in whose last digits the two differ
    assert relative(table(there), table(here)) < (1e-5 if method in STIFF else 1e-12)
