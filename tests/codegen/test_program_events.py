"""Events in written programs: impacts by closed forms, and runs within the package to the bit."""

import math
import os
import shutil
import subprocess
import warnings

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.codegen.event_formula import CEventPrinter
from bellcrank.simulation.backend.compiler import default_flags, find_compiler
from bellcrank.symbolic.expr.formula_steps import FormulaStep
from tests.models import example, needs_compiler
from tests.programs import COMPILED, COMPILED_MAINLY_C, Built, compiled
from tests.simulation.run.test_actions import (
    LATCH,
    ball,
    bolt,
    bounce,
    four_bar,
    hits,
    row_of_balls,
)


def like_a_run(language, folder):
    """A program, compiled as models are within the package; in Fortran, operation by operation."""
    flags = " ".join(default_flags(find_compiler())) if language == "c" else "-O0 -ffp-contract=off"
    return compiled(language, folder, f"{flags} -fno-math-errno -Werror")


def count(t, memory):
    memory[0] += 1
    return memory[0]


def control(u, gain):
    return (-gain * u,)


def lever():
    """Routines that remember and keep, an input that jumps, a parameter of events alone, a step
    that does not fit."""
    s = bc.System("lever", units="mks")
    b = s.add_body("b", rotate=3, mass=2, inertia=(1, 1, 1), cm=(0.3, 0, 0))
    s.add_input("f", units="F")
    s.add_parameter("far", 0.5, units="rad", label="where it turns")
    s.add_external(
        "count",
        arguments=("t",),
        memory=1,
        python=count,
        c="double count(double t, double *memory) { (void)t; return memory[0] += 1; }",
    )
    s.add_external(
        "control",
        arguments=("u(b)", "gain"),
        returns=("pull",),
        when="update",
        python=control,
        c="void control(double u, double gain, double *returns) { returns[0] = -gain*u; }",
    )
    s.add_moment("m", magnitude="pull + 0.001*count(t) + f*arm", direction=s.inertial[3], on=b)
    s.add_output("n", "count(t)")
    s.set_defaults(gain=0.3, arm=1)
    s.set_run(
        t_end=1.003,
        step=0.01,
        output_every=3,
        inputs={"f": bc.signals.step(at=0.305, height=4)},
        initial={"u(b)": 1},
    )
    return s


TURN = [
    bc.event(
        "q(b) - far", action={"u(b)": "-0.9*u(b)", "gain": "gain*1.1", "far": "2*far"}, name="turn"
    ),
    bc.event("u(b) < 0", name="back"),
    bc.event(
        "max(far, 0, 0.1) > 0.9",
        action={"arm": "min(arm, 2, 3)*(1 + smooth_step(t, 0, 1))"},
        name="then",
    ),
]


def as_written(run, channels):
    return np.column_stack([run.time, *(run[n] for n in channels)])


def both_ways(equations, language, folder, events, code=0, options=(), **settings):
    """A run by `simulate`; the same by a program that is written with its events: rows, and what it
    said."""
    equations.export(language, folder, events=events)
    said = like_a_run(language, folder)("--output", "out.csv", *options, cwd=folder, code=code)
    run = equations.compile(backend="c").simulate(events=events, **settings)
    return run, as_written(bc.Run.read(folder / "out.csv"), run.channels), said


def told(events, said):
    """The lines in which a program reports its events."""
    return [x for x in said.splitlines() if x.startswith(tuple(f"{e.name} at t" for e in events))]


def agrees(equations, language, folder, events, code=0, options=(), **settings):
    """Writes a program with events and runs it: rows and what is reported are those of `simulate`,
    to the bit in C."""
    run, written, said = both_ways(equations, language, folder, events, code, options, **settings)
    wanted = as_written(run, run.channels)
    if language == "c":
        assert np.array_equal(written, wanted)
    else:  # whose products are in another order
        np.testing.assert_allclose(written, wanted, rtol=1e-13, atol=1e-13)
    assert told(events, said) == [str(e) for e in run.events]
    assert run.ended == "finished" or run.ended in said
    return run, said


@pytest.mark.parametrize("language", COMPILED_MAINLY_C)
def test_a_ball_bounces_to_the_bit_as_in_a_run(tmp_path, language):
    """What is reported next to an event with an action is reported once, too. Others change no
    motion: at a row, and a little jump."""
    row = bc.event("t >= 0.41", action={"m": "2*m"}, name="row")
    half = bc.event(
        "q(ball) - 1 + where(q(ball) > 1, 1e-6, -1e-6)",
        direction=-1,
        action={"m": "m + 1"},
        name="half",
    )
    there = bc.event("q(ball) - ground", name="there")
    late = bc.event("t > 2.9", name="late")
    run, _ = agrees(ball().equations(), language, tmp_path, [bounce(), there, row, half, late])
    first = math.sqrt(2 / 9.81)
    expected = [first * (1 + 2 * sum(0.8**k for k in range(1, n + 1))) for n in range(6)]
    assert [e.name for e in run.events] == [
        "half",
        "row",
        "there",
        "bounce",
        "half",
        *["there", "bounce"] * 5,
        "late",
    ]
    assert [e.time for e in run.events if e.name == "there"] == pytest.approx(expected, abs=1e-10)


def test_the_largest_of_three_is_found_two_by_two():
    """Also of what is not a number."""
    parts = (
        FormulaStep("column", column=0),
        FormulaStep("number", number=2.0),
        FormulaStep("value", name="k"),
    )
    text = CEventPrinter({"k": "k"}).formula_source([*parts, FormulaStep("max", (0, 1, 2))])
    assert text == "larger_of_any(larger_of_any(row[0], 2.0), k)"


@pytest.mark.campaign
@needs_compiler
def test_routines_inputs_and_parameters_with_events(tmp_path):
    run, said = agrees(lever().equations(), "c", tmp_path, TURN)
    assert [e.name for e in run.events] == ["turn", "back", "then"]
    assert "far" in (tmp_path / "lever.par").read_text() and "turn at t" in said
    chooses_steps_as_a_run(lever().equations().compile(backend="c"), tmp_path, TURN, "auto")


def overdamped():
    """A fast mode, over which `auto` goes; set back twice."""
    s = bc.System("overdamped", units="mks")
    b = s.add_body("b", translate=1, mass=1)
    s.add_force("f", magnitude="-1e4*x - 2e4*v", direction=s.inertial[1], at=b.cm)
    s.set_run(t_end=3, step=0.1, initial={"q(b)": 1})
    return s


BACK = bc.event("q(b) < 0.7", action={"q(b)": "q(b) + 0.2"}, name="back")


def chooses_steps_as_a_run(sim, folder, events, method):
    """A program in C with an adaptive method: as many of them, rows at the same times."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # steps that are held
        run = sim.simulate(events=events, method=method)
    said = Built("c", folder, sim.loaded.name)(
        "--output", "out.csv", "--method", method, cwd=folder
    )
    written = as_written(bc.Run.read(folder / "out.csv"), run.channels)
    assert len(run.events) >= 2 and written == pytest.approx(
        as_written(run, run.channels), abs=1e-11
    )
    assert [x for x in said.splitlines() if " at t = " in x][: len(run.events)] == [
        str(e) for e in run.events
    ]
    assert f": {run.settings['steps']} steps of" in said and run.ended == "finished"
    return run, said


@pytest.mark.campaign
@needs_compiler
def test_a_program_with_events_goes_over_to_stiff_steps_and_begins_again_after_each(tmp_path):
    equations = overdamped().equations()
    equations.export("c", tmp_path, events=[BACK])
    like_a_run("c", tmp_path)
    run, said = chooses_steps_as_a_run(equations.compile(backend="c"), tmp_path, [BACK], "auto")
    assert f"went over to radau5 at t = {run.settings['went_over']:.6g} s" in said


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["slider_crank", "sarrus_linkage", "quarter_car"])
@pytest.mark.parametrize("language", COMPILED[1:])
def test_formulas_long_names_and_loops_in_fortran(tmp_path, language, name):
    equations = example(name)
    speed = equations.speeds[0].name
    events = [
        bc.event(
            "t - 0.1113",
            action={speed: f"-0.5*{speed}"},
            name="a name that is longer than a line of Fortran " * 3,
        ),
        bc.event(f"abs({speed}) + sign(t - 0.2037)*cbrt(t) > 0.4", name="odd"),
        bc.event("where(t > 0.3021, 1, -1)*t**2 > 0", stop=True, name="end"),
    ]
    equations.export(language, tmp_path / "none_acts", events=events[1:])
    compiled(language, tmp_path / "none_acts", "-O2 -Werror")
    equations.export(language, tmp_path, events=events)
    said = compiled(language, tmp_path, "-O2 -Werror")("--output", "out.csv", cwd=tmp_path, code=4)
    run, written = equations.compile().simulate(events=events), bc.Run.read(tmp_path / "out.csv")
    expected = as_written(run, run.channels)
    size = np.maximum(np.abs(expected).max(axis=0), 1e-9)
    assert np.abs((as_written(written, run.channels) - expected) / size).max() < 1e-12
    assert (
        all(" ".join(str(e).split()) in said for e in run.events)
        and run.ended in said
        and len(run.events) > 1
    )


@needs_compiler
@pytest.mark.campaign
def test_impacts_without_end_are_told_and_end_a_program_that_chooses_its_steps(tmp_path):
    """The times between impacts shrink to nothing at sqrt(2 h/g) (1 + e)/(1 - e), after 4.0637 s of
    8."""
    equations = ball().equations()
    equations.export("c", tmp_path, events=[bounce()])
    program, sim = like_a_run("c", tmp_path), equations.compile(backend="c")
    for method in ("tsit5", "dop853", "radau5", "rodas5p", "auto"):
        said = program(
            "--output", "out.csv", "--method", method, "--t-end", "8", cwd=tmp_path, code=4
        )
        written = bc.Run.read(tmp_path / "out.csv")
        assert "event 'bounce' fires repeatedly (chattering, again at once)" in said
        assert written.time[-1] == pytest.approx(math.sqrt(2 / 9.81) * 1.8 / 0.2, abs=1e-5)
        assert written["q(ball)"].min() > 0.5 - 1e-10
        impacts = [x for x in said.splitlines() if x.startswith("bounce at t")]
        assert len(impacts) > 70
        run = sim.simulate(method=method, t_end=8, events=[bounce()])
        assert (
            run.ended in said and abs(len(run.events) - len(impacts)) <= 2
        )  # the last are below the tolerance


@pytest.mark.campaign
@pytest.mark.parametrize("language", COMPILED)
def test_loops_chattering_and_stops(tmp_path, language):
    actions = [{"u(a)": "-0.5*u(a)"}, {"u(b)": "1"}, {"q(a)": "q(a) + 0.1"}, {"l": 0.61}]
    for i, action in enumerate((*actions, {"u(a)": 0, "u(c)": 3}, {"l": 5})):
        equations, folder = four_bar().equations(), tmp_path / f"loop{i}"
        hit = [bc.event("t - 0.1113", action=action, name="hit")]
        equations.export(language, folder, events=hit)
        said = like_a_run(language, folder)(
            "--output", "out.csv", cwd=folder, code=0 if i < 4 else 4
        )
        run, written = (
            equations.compile(backend="c").simulate(events=hit),
            bc.Run.read(folder / "out.csv"),
        )
        assert as_written(written, run.channels) == pytest.approx(
            as_written(run, run.channels), abs=1e-11
        )
        assert ("against the constraints" in said) == (i >= 4)
    agrees(
        ball().equations(), language, tmp_path / "zeno", [bounce()], 4, ["--t-end", "8"], t_end=8
    )
    with pytest.warns(bc.ModelWarning, match="changes nothing"):
        run = bolt().equations().compile(backend="c").simulate(events=[LATCH])
    bolt().equations().export(language, tmp_path / "latch", events=[LATCH])
    said = like_a_run(language, tmp_path / "latch")("--output", "out.csv", cwd=tmp_path / "latch")
    written = bc.Run.read(tmp_path / "latch" / "out.csv")
    assert (
        written["q(bolt)"][-1] == pytest.approx(0.5, abs=1e-9)
        and said.count("latch at t") == len(run.events) == 1
    )
    assert (
        len(written) == len(run)
        and said.count("note: event 'latch' changes nothing at t = 0.672342 s") == 1
    )
    agrees(
        ball().equations(),
        language,
        tmp_path / "stop",
        [bounce(stop=True)],
        4,
        ["--method", "rk2"],
        method="rk2",
    )


WITHOUT_WARNINGS = {
    "a parameter": (
        ball,
        [bc.event("q(ball) - ground", direction=-1, action={"g": "-g"}, name="b")],
    ),
    "a parameter of events": (
        ball,
        [bc.event("q(ball) - ground", direction=-1, action={"e": "0.9*e"}, name="b")],
    ),
    "a state": (ball, [bounce()]),
    "both, and a stop": (
        ball,
        [
            bc.event(
                "q(ball) - ground",
                direction=-1,
                action={"u(ball)": "-e*u(ball)", "m": "2*m"},
                stop=True,
                name="b",
            ),
            bc.event("u(ball)"),
        ],
    ),
    "nothing": (ball, [bc.event("q(ball) - ground")]),
    "a latch": (bolt, [LATCH]),
    "loops": (
        four_bar,
        [
            bc.event("t - 0.1", action={"l": 0.61, "u(a)": "-u(a)"}, name="hit"),
            bc.event("t - 0.12", stop=True),
        ],
    ),
}


@needs_compiler
@pytest.mark.campaign
@pytest.mark.parametrize("sets", WITHOUT_WARNINGS)
def test_programs_with_events_compile_without_warnings(tmp_path, sets):
    """At all levels: what a compiler can know of values that are not set depends on how much it
    looks through."""
    model, events = WITHOUT_WARNINGS[sets]
    model().equations().export("c", tmp_path, events=events)
    for command in [find_compiler().command, *([x] for x in ("gcc", "clang") if shutil.which(x))]:
        for level in ("-O0", "-O1", "-O2", "-O3"):
            flags = [
                "-std=c99",
                level,
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Werror",
                "-c",
                "program.c",
                "-o",
                os.devnull,
            ]
            done = subprocess.run(
                [*command, *flags], cwd=tmp_path, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, (level, done.stderr[:2000])


def test_what_programs_with_events_cannot_do_is_told(tmp_path):
    equations = ball().equations()
    with pytest.raises(bc.ModelError, match=r"called 'q\(bal\)'\. Did you mean 'q\(ball\)'"):
        equations.export("c", tmp_path, events={"low": "q(bal)"})
    with pytest.raises(bc.ModelError, match="stop='hit': no event has that name"):
        equations.export("c", tmp_path, events=[bounce()], stop="hit")
    with pytest.raises(
        bc.ModelError, match="'events' is not an option of the format 'python'; it has no options"
    ):
        equations.export("python", tmp_path, events=[bounce()])


@pytest.mark.parametrize("language", COMPILED_MAINLY_C)
def test_impacts_at_one_time_push_others_over(tmp_path, language):
    """Three elastic balls: the one in the middle passes on what it gets from both sides."""
    run, _ = agrees(row_of_balls().equations(), language, tmp_path, hits())
    assert [e.name for e in run.events] == ["hit0", "hit1", "hit0"]
    assert [run[f"u(b{i})"][-1] for i in range(3)] == pytest.approx([-1, 0, 1])
