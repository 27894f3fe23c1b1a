"""Events of a model in C for controllers: after every step the state of a stepper, whatever lies
within the step."""

import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.simulation.backend.compiler import find_compiler
from tests.embedded import STRICT, Embedded
from tests.models import needs_compiler, pendulum, system
from tests.simulation.run.test_actions import four_bar as linkage
from tests.simulation.run.test_events_at_steps import PERIODIC, mass
from tests.simulation.run.test_goes_on import four_bar
from tests.simulation.run.test_model_events import ball
from tests.simulation.run.test_stepper_events import bouncing


def clutch():
    s = system("clutch")
    s.add_event("locks", "u(engine) - u(wheel)", action={"locked": 1})
    slips = {"locked": 0, "side": "sign(hold)"}
    s.add_event("slips", "where(locked > 0, abs(hold) - cap, -1)", action=slips, direction=1)
    return s


def hit_four_bar():
    """The crank is thrown back at an angle, and gravity changes where another bar passes one."""
    s = four_bar()
    s.add_event("back", "q(a) - 1.2", action={"u(a)": "-0.7*u(a)"}, direction=1)
    s.add_event("heavy", "q(b) > -1", action={"g": "g + 1"})
    s.set_run(initial={"q(a)": 0.3, "u(a)": 6}, t_end=1, step=0.01)
    return s


def remembering():
    """Routines that keep and remember do so once per step."""

    def prepare(s):
        s.add_external(
            "hold",
            arguments=("t", "a"),
            memory=1,
            when="update",
            c="double hold(double t, double a, double *memory)\n"
            "{ memory[0] += 0.5*a; return t > 0.1 ? memory[0] : 0.0; }\n",
        )
        s.add_external(
            "most",
            arguments=("a",),
            memory=2,
            c="double most(double a, double "
            "*memory)\n{ if (a > memory[1]) memory[1] = a; return memory[1]; }\n",
        )

    s = pendulum("-k*q(rod) + hold(t, q(rod)) - most(u(rod))", prepare, k=3.0)
    s.add_output("seen", "most(u(rod)) + hold(t, q(rod))")
    s.add_event("hit", "t - 0.1234", action={"u(rod)": "u(rod) + 0.1"})
    s.add_event("past", "q(rod) - 0.32", action={"k": "1.2*k"})
    return s


MODELS = {f.__name__: f for f in (ball, bouncing, clutch, hit_four_bar, remembering)}


@cache
def equations(name):
    return MODELS[name]().equations()


def inputs_at(eom, t):
    """Inputs of the model, held over a step, in user units."""
    given = eom.interface.inputs_by_key()
    known = {
        "cap": ([0, 0.5, 6], [0, 60, 60]),
        "torque": ([0, 3, 3.2, 3.6, 3.8, 6], [30, 30, 120, 120, 30, 30]),
    }
    return {x: float(np.interp(t, *known[x])) if x in known else 0.0 for x in given}


def compared(name, folder, step, count, precision="double", method="rk4", **flags):
    """The largest difference of a state or output from that of a stepper, against its size, and
    both."""
    eom = equations(name) if isinstance(name, str) else name
    s = eom.interface
    c = Embedded(eom, folder, precision, **flags)
    m = c.model()
    m.h = step
    st = eom.compile(backend="c", speed="quick").stepper(
        step=step, method=method, inputs=inputs_at(eom, 0.0)
    )
    names = [x.name for x in (*s.states, *s.outputs)]
    factors = np.array([x.unit.factor for x in (*s.states, *s.outputs)])
    for x in s.inputs:
        m.w[x.index] = inputs_at(eom, 0.0).get(x.name, 0.0) * x.unit.factor
    assert c.call("begin", m) == 0
    rows = []
    for i in range(count):
        given = inputs_at(eom, i * step)
        for x in s.inputs:
            m.w[x.index] = given.get(x.name, 0.0) * x.unit.factor
        st.set(**given)
        assert c.call("step", m) == 0, i
        st.step()
        values = dict(st.state) | dict(st.outputs)
        rows.append((np.array(c.row(m)[1:]) / factors, [values[k] for k in names]))
    got, expected = np.array(rows).transpose(1, 0, 2)
    found = [e.name for e in st.events]
    counted = [found.count(e.name) for e in s.run.events]
    assert list(m.count) == counted
    return np.abs(got - expected).max(axis=0) / np.abs(expected).max(axis=0), counted, c


@needs_compiler
def test_steps_with_events_equal_those_of_the_package(tmp_path):
    """A ball that bounces, is kicked at the end of a step, pressed by an input and a parameter, and
    stopped."""
    worst, counted, c = compared("bouncing", tmp_path, 1 / 64, 60)
    assert worst.max() < 1e-12 and counted == [1, 1, 0, 0]
    eom = equations("bouncing")
    m, st = c.model(), eom.compile(backend="c", speed="quick").stepper(step=0.1)
    m.h = 0.1
    assert c.call("begin", m) == 0
    assert m.stopped == -1 and st.t == 0.0
    for i in range(6):
        if i == 3:  # which acts at the beginning of the next step
            m.w[c.place("W_Z")] = 2.0
            st.set(z=2.0)
        assert c.call("step", m) == 0
        st.step()
        assert np.array(m.y) == pytest.approx(st.x, abs=1e-13)
    assert list(m.count) == [1, 1, 1, 0] == [[e.name for e in st.events].count(x) for x in NAMES]
    kept, m.p[0] = list(m.y), np.nan  # the last good state comes back from a step that fails
    c.call("tune", m)
    assert c.call("step", m) == c.place("NOT_FINITE") and list(m.y) == kept
    m, st = (
        c.model(),
        eom.compile(backend="c", speed="quick").stepper(step=0.1, initial={"u(ball)": 9}),
    )
    m.h, m.y[1] = 0.1, 9.0
    assert c.call("begin", m) == 0
    while not (failed := c.call("step", m)):
        st.step()
    st.step()
    far = c.place("EVENT_FAR")
    assert (
        failed == c.place("STOPPED") == c.call("step", m)
        and m.stopped == far == 3
        and m.count[far] == 1
    )
    assert (m.t, *m.y) == pytest.approx((st.t, *st.x), abs=1e-13)
    assert c.call("begin", m) == 0 and m.stopped == -1


NAMES = ("bounce", "kick", "pressed", "far")


def test_what_loops_determine_cannot_be_set(tmp_path):
    for event, told in (
        (
            {"u(b)": 0},
            "event 'e' sets u\\(b\\): closed loops determine it in embedded code; q\\(a\\), "
            "q\\(d\\), .* may be set",
        ),
        ({"l": 0.3}, "event 'e' sets l: loops are closed by it.*other parameters may be set"),
    ):
        s = linkage()
        s.add_event("e", "t > 1", action=event)
        with pytest.raises(bc.ModelError, match=told):
            s.equations().export("embedded", tmp_path)


# ---- long


@needs_compiler
@pytest.mark.campaign
@pytest.mark.parametrize("precision, near", [("double", 1e-12), ("single", 1e-5)])
@pytest.mark.parametrize("step", [0.003, 0.01, 1 / 64, 0.02])
@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model(name, step, precision, near, tmp_path):
    worst, counted, _ = compared(name, tmp_path, step, int(ENDS[name] / step), precision)
    assert worst.max() < near and min(counted[:2]) > 0


ENDS = {"ball": 2.0, "bouncing": 2.0, "clutch": 6.0, "hit_four_bar": 1.0, "remembering": 1.5}


@needs_compiler
@pytest.mark.campaign
@pytest.mark.parametrize("method", ["rk2", "heun", "euler", "ab2"])
@pytest.mark.parametrize("name", ["ball", "hit_four_bar", "remembering"])
def test_every_method(name, method, tmp_path):
    s = MODELS[name]()
    run = s.equations().interface.run
    s.set_run(t_end=1, step=0.01, method=method, initial=dict(run.initial))
    step = (
        0.001 if method == "euler" else 0.01
    )  # longer steps of loops are halved within the package
    worst, counted, _ = compared(
        s.equations(), tmp_path, step, int(ENDS[name] / step), method=method
    )
    assert worst.max() < 1e-12 and counted[0] > 0


@needs_compiler
@pytest.mark.campaign
@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("condition", PERIODIC)
def test_events_at_the_ends_of_steps_act_once(condition, precision, tmp_path):
    s = mass()
    s.add_event("e", condition, action={"n": "n + 1"}, direction=1)
    c = Embedded(s.equations(), tmp_path, precision)
    m = c.model()
    assert c.call("begin", m) == 0
    for i in range(1, 1001):
        assert c.call("step", m) == 0
        ended = np.count_nonzero(PERIODIC[condition] < (i % 30 + 0.25) * 0.01) + i // 30 * 15
        assert abs(m.count[0] - ended) <= (precision == "single") and m.e[0] == m.count[0]
        assert m.t == pytest.approx(i * m.h, rel=1e-6)
    assert m.count[0] == 500


@needs_compiler
@pytest.mark.campaign
@pytest.mark.parametrize("precision", ["double", "single"])
def test_chatter_ends_a_step(precision, tmp_path):
    """The ball comes to rest after infinitely many bounces, at t = 4.06 s."""
    c = Embedded(equations("ball"), tmp_path, precision)
    m = c.model()
    assert c.call("begin", m) == 0
    for _ in range(1000):
        before = m.t, list(m.y)
        if failed := c.call("step", m):
            break
    rest = np.sqrt(2 / 9.80665) * (1 + 2 * 0.8 / 0.2)
    assert failed == c.place("CHATTERS") and (m.t, list(m.y)) == before
    assert m.t == pytest.approx(rest, abs=0.011)
    assert c.call("step", m) == failed


@needs_compiler
@pytest.mark.campaign
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_compilers_have_nothing_to_say(compiler, name, tmp_path):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    for precision in ("double", "single"):
        path = equations(name).export("embedded", tmp_path / precision, precision=precision)
        for extra in (
            ["-O2", "-c", path.name],
            ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover"],
        ):
            files = (
                [] if "-c" in extra else [path.name, f"{path.stem}_bench.c", "-o", "bench", "-lm"]
            )
            subprocess.run(
                [compiler, *STRICT, "-Wvla", *extra, *files], cwd=path.parent, check=True
            )
        subprocess.run(
            [path.parent / "bench", "0.6"], cwd=path.parent, check=True, capture_output=True
        )


@needs_compiler
@pytest.mark.campaign
def test_the_s_function_has_them(tmp_path):
    path = equations("bouncing").export("simulink", tmp_path)
    stubs = Path(__file__).parent / "simulink"
    command = [*find_compiler().command, *STRICT, f"-I{stubs}", "-DMATLAB_MEX_FILE", "-c"]
    subprocess.run([*command, f"{path.stem}_sfun.c", path.name], cwd=tmp_path, check=True)
