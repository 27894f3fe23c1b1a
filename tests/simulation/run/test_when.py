"""User functions that are called at the start of a run, once per step, or for outputs only."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.simulation.backend.c import CModel
from bellcrank.simulation.backend.compiler import find_compiler
from tests.late import Late
from tests.models import STRICT, able, needs_compiler, pendulum

linalg = Late("scipy.linalg")

WAYS = [
    "python",
    pytest.param("callback", marks=needs_compiler),
    pytest.param("c", marks=needs_compiler),
]
J, K, GAIN = 2.1, 3.0, 4.0


def compiled(s, way, method="rk4"):
    return s.equations().compile(backend=able("python", method) if way == "python" else "c")


def routine(way, python, c):
    return {"c": c} if way == "c" else {"python": python}


def sampled(way, **more):
    """A spring, and a controller that looks at the angle once per step."""
    s = pendulum(
        "-k*q(rod) + torque",
        lambda s: s.add_external(
            "control",
            arguments=("q(rod)", "gain"),
            returns="torque",
            when="update",
            **routine(
                way,
                lambda q, gain: -gain * q,
                "void control(double q, double gain, double "
                "*returns)\n{\n    returns[0] = -gain*q;\n}",
            ),
        ),
        k=K,
        gain=GAIN,
    )
    s.add_output("torque seen", "torque", units="F*L")
    s.set_run(step=0.02, **more)
    return s


def exact(n, h):
    """q at the end of each step: the torque is held over it."""
    step = linalg.expm(np.array([[0, 1, 0], [-K / J, 0, 1 / J], [0, 0, 0]]) * h)
    y, found = np.array([0.3, 0.0, -GAIN * 0.3]), [0.3]
    for _ in range(n):
        y = step @ y
        y[2] = -GAIN * y[0]
        found.append(y[0])
    return np.array(found)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", ["rk4", "DOP853", "dop853"])
def test_update_holds_over_a_step(way, method):
    run = compiled(sampled(way), way, method).simulate(method=method)
    np.testing.assert_allclose(run["q(rod)"], exact(50, 0.02), atol=1e-8)
    np.testing.assert_allclose(run["torque seen"], -GAIN * run["q(rod)"], rtol=1e-14)


@pytest.mark.parametrize("method", ["rk4", "tsit5"])
def test_samples_at_output_times_that_are_not_every_step_are_reported(method):
    """Adaptive methods sample there: other results than with every step stored."""
    sim = compiled(sampled("c"), "c", method)
    if method == "rk4":
        last = sim.simulate(method=method, output_every=5)["q(rod)"][-1]
        assert last == pytest.approx(exact(50, 0.02)[-1], abs=1e-8)
        return
    with pytest.warns(
        bc.ModelWarning,
        match="torque are sampled at output times, every 0.1 s instead of every 0.02 s",
    ):
        run = sim.simulate(method=method, output_every=5)
    assert run["q(rod)"][-1] == pytest.approx(exact(10, 0.1)[-1], abs=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_jump_of_an_input_is_no_step_for_it(way):
    """With a split step the torque still changes at the ends of whole steps only."""
    s = sampled(way)
    s.add_input("w", units="F*L")
    s.add_moment("more", magnitude="w", direction="[rod3]", on="rod")
    sim = compiled(s, way)
    plain = sim.simulate(inputs={"w": 0})
    split = sim.simulate(inputs={"w": bc.signals.step(at=0.031, height=1e-12)})
    np.testing.assert_allclose(split["q(rod)"], plain["q(rod)"], atol=1e-9)  # 1e-5 otherwise


@pytest.mark.parametrize("way", WAYS)
def test_event_within_a_step_sees_the_value_held(way):
    sim = sampled(way).equations().compile(backend="wasm" if way == "python" else "c")
    run = sim.simulate(t_end=3, events={"down": "q(rod) < 0"}, stop="down")
    n = len(run) - 2
    q, h = exact(n, 0.02), run.time[-1] - n * 0.02
    whole = np.array([[0, 1, 0], [-K / J, 0, 1 / J], [0, 0, 0]])
    u = run["u(rod)"][n]
    assert (linalg.expm(whole * h) @ [q[-1], u, -GAIN * q[-1]])[0] == pytest.approx(0, abs=1e-8)
    assert 0 < h < 0.02


@pytest.mark.parametrize("way", WAYS)
def test_init_is_called_once(way):
    calls = []
    s = pendulum(
        "f0*amplitude + f0*more",
        lambda s: (
            s.add_external(
                "prepare",
                arguments=("q(rod)",),
                returns=("amplitude",),
                when="init",
                **routine(
                    way,
                    lambda q: calls.append(q) or 10 * q,
                    "void prepare(double q, double *returns)\n{\n    returns[0] = 10*q;\n}",
                ),
            ),
            s.add_external(
                "double_it",
                arguments=("amplitude",),
                returns=("more",),
                when="init",
                **routine(
                    way,
                    lambda a: 2 * a,
                    "void double_it(double a, double *returns)\n{\n    returns[0] = 2*a;\n}",
                ),
            ),
        ),
        f0=1.0,
    )
    run = compiled(s, way).simulate()
    assert calls in ([0.3], []) and (way == "c" or calls)
    # 3 + 6 N m from rest: a parabola
    assert run["q(rod)"][-1] == pytest.approx(0.3 + 9 / J / 2, rel=1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_update_remembers_and_is_a_function_in_formulas(way):
    """A counter, called at the start and at the end of each of 100 steps."""
    tick = "double tick(double t, double *memory)\n{\n    (void)t;\n    return memory[0] += 1;\n}"
    s = pendulum(
        "m0*tick(t)",
        lambda s: s.add_external(
            "tick",
            arguments=("t",),
            memory=1,
            when="update",
            **routine(way, lambda t, m: m.__setitem__(0, m[0] + 1) or m[0], tick),
        ),
        m0=J,
    )
    s.add_output("count", "tick(t)")
    sim = compiled(s, way)
    for _ in range(2):
        run = sim.simulate(t_end=1.0, step=0.01, method="rk4")
        assert run["count"].tolist() == list(range(1, 102))
        np.testing.assert_allclose(np.diff(run["u(rod)"]), 0.01 * np.arange(1, 101), rtol=1e-9)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", ["rk4", "RK45", "tsit5"])
def test_output_is_called_for_rows_only(way, method):
    tick = "double tick(double t, double *memory)\n{\n    (void)t;\n    return memory[0] += 1;\n}"
    s = pendulum(
        prepare=lambda s: s.add_external(
            "tick",
            arguments=("t",),
            memory=1,
            when="output",
            **routine(way, lambda t, m: m.__setitem__(0, m[0] + 1) or m[0], tick),
        )
    )
    s.add_output("count", "tick(t)")
    run = compiled(s, way, method).simulate(output_every=10, method=method)
    assert run["count"].tolist() == list(range(1, 12))


def test_single_evaluations_are_those_of_a_run_that_starts_there():
    sims = [
        compiled(sampled(way), way)
        for way in ("python", "callback")
        if way == "python" or find_compiler()
    ]
    for sim in sims:
        udot = sim.derivatives(0.0, [0.2], [0.0])[1]
        assert udot[0] == pytest.approx(-(K + GAIN) * 0.2 / J, rel=1e-14)
        assert sim.outputs(0.0, [0.2], [0.0])["torque seen"] == pytest.approx(-GAIN * 0.2)
    assert sims[0].interface.inputs == ()


@needs_compiler
def test_source_compiles_without_warnings():
    s = sampled("c")
    s.add_external(
        "first", arguments=(), returns=("a", "b"), when="init", python=lambda: (1.0, 2.0)
    )
    s.add_output("sum", "a + b + sin(q(rod))")
    eom = s.equations()
    CModel(eom.program, eom.compile(backend="c").loaded.functions, flags=STRICT)
    assert eom.compile(backend="c").simulate()["sum"][0] == pytest.approx(3 + math.sin(0.3))


@pytest.mark.parametrize("way", WAYS)
def test_error_in_a_kept_routine_is_told(way):
    if way == "c":
        pytest.skip("C does not raise")
    s = pendulum(
        "m0*late(t)",
        lambda s: s.add_external(
            "late", arguments=("t",), when="update", python=lambda t: 1 / (0.5 - t)
        ),
        m0=1.0,
    )
    with pytest.raises(bc.RunError, match=r"external 'late\(0.5\)' failed: ZeroDivisionError"):
        compiled(s, way).simulate(step=0.25)


def test_what_cannot_be():
    s = pendulum(
        "m0*f(t)",
        lambda s: s.add_external("f", arguments=("t",), when="output", python=abs),
        m0=1.0,
    )
    with pytest.raises(
        bc.ModelError,
        match=r"external 'f' is called for outputs only \(when='output'\), but the equations",
    ):
        s.equations()
    s = pendulum(prepare=lambda s: s.add_external("f", arguments=("t",), when="update", python=abs))
    s.add_constraint("u(rod) - f(t)")
    with pytest.raises(bc.ModelError, match=r"changes in jumps \(f_1\)"):
        s.equations()
    s = pendulum(
        "m0*a",
        lambda s: s.add_external(
            "f", arguments=("up(rod)",), returns="a", when="update", python=abs
        ),
        m0=1.0,
    )
    with pytest.raises(bc.ModelError, match="external 'f': its arguments contain an acceleration"):
        s.equations()


def test_check_covers_kept_values():
    from bellcrank.verify.check import check

    assert check(sampled("python"), states=3).passed


def test_analyses_say_that_they_cannot():
    with pytest.raises(
        bc.ModelError,
        match="not available for models with user functions that are called once per step or run: "
        "torque",
    ):
        sampled("python").equations().compile(backend="python").linearize()
