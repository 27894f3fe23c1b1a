"""Loops through singular configurations converge: against one differential equation along the
smooth branch."""

import re
import warnings

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.numeric.loop_projector import LoopProjector
from tests.models import WASM, example, needs_compiler, needs_wasm, system
from tests.programs import build
from tests.simulation.run.planar import (
    change_point,
    four_bar,
    massless_coupler,
    peaucellier,
    start_on,
    three_cranks,
    two_windows,
    window_on_a_swing,
    windows,
)

CERTAIN = 1e-8  # rad, over 10 s


def error(m, sim, exact, t_end, step, **more):
    """The largest error of any coordinate, and the run; `exact`: coordinates every 0.05 s."""
    run = sim.simulate(t_end=t_end, step=step, output_every=max(1, round(0.05 / step)), **more)
    assert run.ended == "finished"
    return max(
        np.abs(run[f"q({n})"] - exact[: len(run.time), i]).max() for i, n in enumerate(m.names)
    ), run


def every(t_end):
    return np.linspace(0.0, t_end, round(t_end / 0.05) + 1)


def order(errors, steps):
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


def windows_case(n, z=np.pi / 2, v=-1.0, **more):
    m, branch = windows(n, **more)
    return m, branch, [z], [v]


def crossing(gravity=0.0, damping=0.0, z=1.0, v=3.0):
    return four_bar(gravity=gravity, damping=damping), change_point(), [z], [v]


def two_freedoms(given, z, v):
    m, branch = given
    return m, branch, z, v


CASES = {  # model, branch, place and speed on it, time, error of the method's own at 2 ms
    "window": (lambda: windows_case(1), 4.0, 1e-9),
    "two windows": (lambda: windows_case(2), 10.0, 4e-9),
    "ten windows": (lambda: windows_case(10), 10.0, 4e-9),
    "start in line": (lambda: windows_case(3, 0.0, -2.0), 2.0, 4e-10),
    "change point": (crossing, 3.0, 1e-9),
    "change point, gravity": (lambda: crossing(gravity=9.81), 1.5, 3e-9),
    "change point, damping": (lambda: crossing(damping=0.3), 3.0, 1e-9),
    "start at the change point": (lambda: crossing(gravity=9.81, z=0.0), 1.5, 1e-9),
    "rod on three cranks": (lambda: two_freedoms(three_cranks(), [1.5], [-3.0]), 2.0, 4e-9),
    "massless coupler": (lambda: two_freedoms(massless_coupler(), [1.5], [-2.0]), 2.0, 1e-9),
    "pendulum": (
        lambda: two_freedoms(windows(1, pendulum=True), [1.5, 0.2], [-2.0, 0.5]),
        4.0,
        2e-7,
    ),
    "swing": (lambda: two_freedoms(window_on_a_swing(), [-1.4, 0.4], [0.5, -3.0]), 2.0, 2e-7),
    "two blocks": (lambda: two_freedoms(two_windows(), [1.5, 0.3], [-2.0, 1.0]), 2.0, 4e-7),
}
# two rows are lost at once; curves are long, mechanisms symmetric: pivots of equal size
INVERSORS = {
    "inversor": (lambda: two_freedoms(peaucellier(), [0.7], [3.0]), 3.0, 1e-9),
    "inversor, back": (lambda: two_freedoms(peaucellier(), [2.0], [-4.0]), 3.0, 4e-7),
    "inversor, far": (lambda: two_freedoms(peaucellier(), [4.0], [3.0]), 3.0, 2e-8),
    "inversor, gravity": (lambda: two_freedoms(peaucellier(gravity=9.81), [4.0], [3.0]), 3.0, 1e-7),
    "inversor, flat": (lambda: two_freedoms(peaucellier(gravity=9.81), [np.pi], [3.0]), 1.0, 2e-9),
    "inversor, crosswise": (
        lambda: two_freedoms(peaucellier(gravity=9.81), [np.pi / 2], [3.0]),
        1.0,
        1e-7,
    ),
}
QUICK = ("window",)


@pytest.mark.campaign
@needs_compiler
@pytest.mark.parametrize(
    "name",
    [
        n if n in QUICK else pytest.param(n, marks=pytest.mark.campaign)
        for n in (*CASES, *INVERSORS)
    ],
)
def test_errors_fall_with_the_step(name):
    make, t_end, own = (CASES | INVERSORS)[name]
    m, branch, z, v = make()
    sim = m.done(start_on(branch, z, v)).compile(backend="c")
    exact, steps = m.exact(branch, z, v, every(t_end)), (0.005, 0.002, 0.001)
    found = [error(m, sim, exact, t_end, step)[0] for step in steps]
    assert found[1] < own
    assert order(found, steps) > 3.7
    assert error(m, sim, exact, min(t_end, 2.0), 5e-5)[0] < 2e-10


@needs_compiler
@pytest.mark.campaign
@pytest.mark.parametrize("name", INVERSORS)
def test_inversors_with_adaptive_methods(name):
    """Errors once had a floor of 1e-8 that grew to whole radians with smaller steps: the curve was
    a quintic, too short, and built again at every stage, from ends that rounding chose among equal
    pivots."""
    make, t_end, _ = INVERSORS[name]
    m, branch, z, v = make()
    sim = m.done(start_on(branch, z, v)).compile(backend="c")
    exact = m.exact(branch, z, v, every(t_end))
    for method, tolerance in (("dop853", 1e-8), ("dop853", 1e-12), ("radau5", 1e-9)):
        found, run = error(
            m, sim, exact, t_end, 0.05, method=method, rtol=tolerance, atol=tolerance
        )
        assert found < 100 * tolerance
        assert all("passed" in str(e) for e in run.events)


@needs_compiler
@pytest.mark.campaign
@pytest.mark.parametrize(
    ("n", "steps"), [(1, (0.002, 5e-4, 1e-4, 1e-5)), (2, (1e-4, 2e-5)), (40, (0.002, 0.001))]
)
def test_windows_over_ten_seconds(n, steps):
    m, branch, z, v = windows_case(n)
    sim = m.done(start_on(branch, z, v)).compile(backend="c")
    exact = m.exact(branch, z, v, every(10.0))
    for step in steps:
        found, run = error(m, sim, exact, 10.0, step)
        assert found < (CERTAIN if step > 0.001 else 1e-9)
        assert np.ptp(run["energy"]) < 1e-8 * (n + 1)


def equal_arms(angle, speed, times, r=0.1):
    """The crank with a rod of its own length: the piston's motion is an exact cosine. Masses of the
    example, no friction."""
    from scipy.integrate import solve_ivp

    def mass(x):
        return r**2 * (
            2 / 3
            + (1.5 * np.sin(x)) ** 2
            + (0.5 * np.cos(x)) ** 2
            + 1 / 12
            + 0.5 * (2 * np.sin(x)) ** 2
        )

    energy = mass(angle) * speed**2
    return solve_ivp(
        lambda t, x: np.sqrt(energy / mass(x)),
        (0.0, times[-1]),
        [angle],
        method="DOP853",
        rtol=1e-13,
        atol=1e-13,
        t_eval=times,
    ).y[0]


@pytest.mark.campaign
@needs_compiler
def test_slider_crank_with_equal_arms():
    sim = example("slider_crank", equal_arms=True).compile(backend="c")
    start, found = {"u(crank)": 2.0}, []
    for step in (0.002, 0.0005):
        run = sim.simulate(
            t_end=10,
            step=step,
            output_every=round(0.05 / step),
            parameters={"c": 0.0},
            initial=start,
        )
        found.append(np.abs(run["q(crank)"] - equal_arms(0.5, 2.0, run.time)).max())
        assert np.abs(run["x"] - 0.2 * np.cos(run["q(crank)"])).max() < 1e-12
    assert found[0] < 1e-9 and found[1] < 1e-11


# ---- adaptive methods


@needs_compiler
@pytest.mark.campaign
@pytest.mark.parametrize(
    ("method", "tolerance"), [("tsit5", 1e-6), ("dop853", 1e-9), ("radau5", 1e-7)]
)
@pytest.mark.parametrize(
    "name", [name for name in CASES if name not in ("ten windows", "two windows")]
)
def test_methods_of_the_program_pass_as_well(name, method, tolerance):
    """Long steps, too: once one of order 8 took the far side of a singular configuration for a
    branch that is missed."""
    make, t_end, _ = CASES[name]
    m, branch, z, v = make()
    sim = m.done(start_on(branch, z, v)).compile(backend="c")
    t_end = min(t_end, 1.5)
    exact = m.exact(branch, z, v, every(t_end))
    found = error(m, sim, exact, t_end, 0.01, method=method, rtol=tolerance, atol=tolerance)[0]
    assert found < 100 * tolerance


@needs_compiler
def test_long_steps_that_pass_a_singular_position_in_their_middle():
    """They begin and end away from it. Without a look at the middle errors are three times the
    tolerance, or steps get stuck."""
    make, _, _ = CASES["window"]
    m, branch, z, v = make()
    sim = m.done(start_on(branch, z, v)).compile(backend="c")
    tight = sim.simulate(t_end=1.5, step=0.05, method="dop853", rtol=1e-11, atol=1e-11)
    exact = np.column_stack([tight[f"q({n})"] for n in m.names])
    for method, tolerance in (("dop853", 1e-5), ("tsit5", 1e-6)):
        assert (
            error(m, sim, exact, 1.5, 0.05, method=method, rtol=tolerance, atol=tolerance)[0]
            < 1.5 * tolerance
        )


# ---- branches that miss each other


@pytest.mark.campaign
@needs_compiler
def test_gaps_turn_the_motion_and_round_off_does_not():
    """A ground that is too long by a gap: the crank after 2.5 s goes to the limit of a sharp turn,
    until the gap cannot be reported from rounding."""
    sim = example("change_point_four_bar").compile(backend="c")
    assert sim.simulate(t_end=2.5, parameters={"l4": 2 + 1e-4}).ended == "finished"
    turned, energies = {}, []
    for gap in (1e-4, 1e-8, 1e-10, 1e-14, 0.0):
        for step in (1e-3, 1e-4):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the start given is off by the gap
                run = sim.simulate(
                    t_end=2.5,
                    step=step,
                    parameters={"l4": 2 + gap},
                    initial={"q(a)": 1.0, "u(a)": 3.0},
                )
            turned[gap, step] = run["q(a)"][-1]
            energies.append(np.ptp(run["energy"]))
            assert ("miss each other" in str(run.events[0])) == (gap > 1e-12)
        assert turned[gap, 1e-3] == pytest.approx(turned[gap, 1e-4], abs=2e-4)
    assert turned[0.0, 1e-3] == pytest.approx(turned[1e-14, 1e-4], abs=1e-7)
    assert turned[1e-8, 1e-3] == pytest.approx(turned[1e-10, 1e-4], abs=2e-3)
    assert abs(turned[0.0, 1e-3] - turned[1e-10, 1e-3]) > 0.3
    assert max(energies) < 2e-3


# ---- starts


def line(n):
    """All links of n windows in line."""
    return {f"q(a{i})": 0.0 for i in range(n + 1)} | {f"q(b{i})": 0.0 for i in range(1, n + 1)}


def along(n, speed):
    return {f"u(a{i})": speed for i in range(n + 1)} | {f"u(b{i})": -speed for i in range(1, n + 1)}


@pytest.mark.parametrize("backend", [WASM, pytest.param("c", marks=needs_compiler)])
def test_start_that_is_singular_and_at_rest(backend):
    sim = example("n_four_bar", n=2).compile(backend=backend)
    with pytest.raises(bc.RunError, match="singular and at rest: give a speed"):
        sim.simulate(t_end=0.1, initial=line(2) | along(2, 0.0))


@needs_compiler
@pytest.mark.parametrize("push", [pytest.param(1e-3, marks=pytest.mark.campaign), 0.05])
def test_speeds_off_the_branch_are_brought_onto_it(push):
    """The rank is lost there: the loops allow the push at the start, but no motion leads that
    way."""
    sim = example("n_four_bar", n=2).compile(backend="c")
    speeds = along(2, -2.0)
    speeds["u(a1)"] += push
    speeds["u(b1)"] += push
    speeds["u(b2)"] -= 2 * push
    with pytest.warns(bc.ModelWarning, match="the start is singular, and its speeds lie off"):
        run = sim.simulate(t_end=1.0, step=0.001, output_every=50, initial=line(2) | speeds)
    m, branch, z, _ = windows_case(2, 0.0)
    exact = m.exact(branch, z, [run["u(a0)"][0]], run.time)
    assert abs(run["u(a0)"][0] + 2.0) < push
    assert np.abs(run["q(a2)"] - exact[:, 0]).max() < 1e-10


@pytest.mark.campaign
@needs_compiler
def test_motion_that_turns_round_within_the_zone_goes_back_the_way_it_came():
    m, branch, z, v = windows_case(1, -0.008, 0.0)
    sim = m.done(start_on(branch, z, v)).compile(backend="c")
    assert error(m, sim, m.exact(branch, z, v, every(0.3)), 0.3, 0.0005)[0] < 1e-12
    run = sim.simulate(
        t_end=0.2,
        step=0.0005,
        initial=dict(zip(("q(a0)", "q(b1)", "q(a1)"), (0.04, -0.04, 0.04), strict=True))
        | {"u(a0)": -0.9, "u(b1)": 0.9, "u(a1)": -0.9},
    )
    exact = m.exact(branch, [0.04], [-0.9], run.time)
    assert np.abs(run["q(a0)"] - exact[:, 0]).max() < 1e-11


# ---- what is reported, and what does not change


@needs_compiler
def test_passages_name_their_loop_and_no_warning_blames_the_step():
    sim = example("n_four_bar", n=1).compile(backend="c")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = sim.simulate(t_end=3.0, step=0.0005)
    told = [str(e) for e in run.events]
    assert len(told) == 3 and all(
        "singular configuration of 'window 1" in x and "passed" in x for x in told
    )


@needs_compiler
@needs_wasm
def test_both_backends_go_over_the_same_bridge():
    eom = example("change_point_four_bar")
    given = {
        "t_end": 0.2,
        "step": 0.002,
        "initial": {"q(a)": -0.3, "u(a)": 3.0, "q(b)": 0.2, "q(c)": 0.2},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        c, wasm = (eom.compile(backend=b).simulate(**given) for b in ("c", "wasm"))
    assert len(c.events) == len(wasm.events) == 1
    for name in ("q(a)", "q(b)", "u(c)"):
        assert np.abs(c[name] - wasm[name]).max() < 1e-10


def test_a_stiff_method_tells_who_stood_in_for_it():
    """Where all links are in line: when, and which method; an explicit one needs none, and away
    from there there is none."""
    sim = example("change_point_four_bar").compile()
    near, away = ({"q(a)": -x, "u(a)": 3.0, "q(b)": 0.7 * x, "q(c)": 0.7 * x} for x in (0.05, 0.3))

    def notes(method, start, t_end):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sim.simulate(
                t_end=t_end, step=t_end / 4, initial=start, method=method, rtol=1e-4
            ).notes

    assert notes("tsit5", near, 0.04) == notes("radau5", away, 1e-3) == []
    for method in ("radau5", "rodas5p"):
        (told,) = notes(method, near, 0.04)
        found = re.fullmatch(
            f"near singular configurations of loops at t = (.*) s, tsit5 replaced {method}", told
        )
        assert 0 <= float(found[1]) < 0.02


def test_models_that_stay_away_from_singular_positions_take_no_care(monkeypatch):
    """What they compute is what it was: the redundant equations are never asked for."""

    def never(*given):
        raise AssertionError

    sim = example("four_bar").compile(backend="python")
    monkeypatch.setattr(LoopProjector, "_project_near_singular", never)
    monkeypatch.setattr(LoopProjector, "rates_near_singular", never)
    assert sim.simulate(t_end=0.05).ended == "finished"


@needs_compiler
def test_steps_that_were_divided_are_told():
    """A coarse step of a stiff linkage is halved where its correction is large; results then jump
    as functions of the parameters."""
    eom = example("four_bar")
    c, python = (eom.compile(backend=b) for b in ("c", "python"))
    coarse, same = (sim.simulate(step=0.01, method="rk2", t_end=0.4) for sim in (c, python))
    divided = [e for e in coarse.events if "step divided" in str(e)]
    assert divided and [e.time for e in same.events] == [e.time for e in coarse.events]
    assert not c.simulate(step=0.002, t_end=0.4).events


@pytest.mark.campaign
@pytest.mark.parametrize("language", [pytest.param("c", marks=needs_compiler)])
def test_written_programs_tell_of_singular_starts(tmp_path, language):
    s = system("n_four_bar", n=2)
    s.set_run(t_end=0.2, step=0.002, initial=line(2) | along(2, 0.0))
    program = build(s.equations(), language, tmp_path / "rest")
    assert "singular and at rest" in program("--output", tmp_path / "out.erd", code=1)
    pushed = along(2, -2.0) | {"u(a1)": -1.95, "u(b1)": 2.05, "u(b2)": 1.9}
    s = system("n_four_bar", n=2)
    s.set_run(t_end=0.2, step=0.002, initial=line(2) | pushed)
    eom = s.equations()
    program = build(eom, language, tmp_path / "pushed")
    assert "its speeds lie off the branch" in program("--output", tmp_path / "pushed.erd")
    with pytest.warns(bc.ModelWarning, match="lie off"):
        run = eom.compile().simulate()
    assert np.abs(bc.Run.read(tmp_path / "pushed.erd")["q(a0)"] - run["q(a0)"]).max() < 1e-9
