"""Runs: how they end, what is kept, events, and what cannot be asked for."""

import math
import resource

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.numeric.fixed_step_methods import METHODS
from bellcrank.core.numeric.run_spec import RunSpec
from tests.late import Late
from tests.models import able, example, needs_compiler, pendulum, relative
from tests.programs import build

interpolate = Late("scipy.interpolate")
optimize = Late("scipy.optimize")

BACKENDS = ["auto", "wasm"]


@pytest.fixture(params=BACKENDS)
def sim(request):
    return pendulum().equations().compile(backend=request.param)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"t_end": 0}, "t_end=0 s must be positive"),
        ({"t_end": -1}, "t_end=-1 s must be positive"),
        ({"t_end": math.nan}, "t_end is nan"),
        ({"t_end": "long"}, "t_end is 'long', not a number"),
        ({"step": 0}, "step=0 s must be positive"),
        ({"step": 2.0}, "step=2 s is larger than t_end=1 s"),
        ({"method": "rk5"}, f"method='rk5' is not known.*Methods: {', '.join(METHODS)}"),
        ({"progress": 5}, "progress=5 must be a function of the share done"),
        ({"output_every": 0}, "output_every=0 must be a whole number"),
        ({"output_every": 1.5}, "output_every=1.5 must be a whole number"),
        ({"initial": {"q(bar)": 1}}, r"initial value for 'q\(bar\)'.*States: q\(rod\), u\(rod\)"),
        ({"initial": {"q(rod)": math.inf}}, r"initial value of q\(rod\) is inf"),
        ({"parameters": {"k": math.nan}}, "parameter 'k' is nan, not a finite number"),
        (
            {"events": {"up": "q(rod) - nothing"}},
            "event 'up': no channel or parameter is called 'nothing'",
        ),
        ({"events": {"up": "q(rod"}}, "never closed"),
        ({"events": {"up": "sin()"}}, "sin"),
        (
            {"events": {"up": "q(rod)"}, "stop": {"upp"}},
            "stop='upp': no event has that name. Did you mean 'up'",
        ),
    ],
)
def test_what_cannot_be_asked_for(sim, given, message):
    with pytest.raises(bc.ModelError, match=f"(?s){message}"):
        sim.simulate(**given)


def test_output_every_and_the_last_step(sim):
    run = sim.simulate(t_end=0.25, step=0.01, output_every=10)
    np.testing.assert_allclose(run.time, [0.0, 0.1, 0.2, 0.25], rtol=1e-15)
    whole = sim.simulate(t_end=0.25, step=0.01)
    assert run["q(rod)"].tolist() == whole["q(rod)"][[0, 10, 20, 25]].tolist()


def test_progress_goes_to_one(sim):
    seen = []
    sim.simulate(progress=seen.append)
    assert seen == sorted(seen) and seen[-1] == 1.0


@pytest.mark.parametrize("method", ["RK45", "Radau", "LSODA"])
def test_adaptive_methods_agree_with_rk4(sim, method):
    run = sim.simulate(method=method, output_every=10)
    reference = sim.simulate(method="rk4", step=0.001, output_every=100)
    np.testing.assert_allclose(run.time, reference.time, atol=1e-12)
    assert relative(run["q(rod)"], reference["q(rod)"]) < 1e-6


# ---- runs that do not go well


@pytest.mark.parametrize("backend", BACKENDS)
def test_diverging_run_keeps_its_results_and_says_why(backend):
    s = pendulum("k3*q(rod)**3", k3=50.0)
    run = s.equations().compile(backend=backend).simulate(t_end=20.0, step=0.01)
    assert run.ended.startswith("stopped at t = ")
    assert "u(rod)" in run.ended or "rates of the states" in run.ended
    assert "moment 'drive'" in run.ended and run.ended.endswith("try a smaller step")
    assert 10 < len(run) < 2000
    assert all(np.isfinite(run[c]).all() for c in run)


@pytest.mark.parametrize("backend", BACKENDS)
def test_formula_that_breaks_is_named(backend):
    s = pendulum("m0*log(1 - q(rod))", m0=-20.0)
    s.set_run(initial={"q(rod)": 1.0})
    run = s.equations().compile(backend=backend).simulate()
    assert run.ended.startswith("stopped at t = 0")
    assert "log(1 - q(rod))" in run.ended or "moment 'drive'" in run.ended


@pytest.mark.parametrize("backend", BACKENDS)
def test_diverging_adaptive_run_keeps_its_results(backend):
    run = (
        pendulum("k3*q(rod)**3", k3=50.0)
        .equations()
        .compile(backend=backend)
        .simulate(t_end=20.0, method="RK45")
    )
    assert run.ended.startswith("stopped at t = ") and len(run) > 10


def wrong(kind):
    def routine(t):
        if t < 0.5:
            return 1.0
        if kind == "raises":
            raise KeyError("no such gear")
        return {"two": (1.0, 2.0), "text": "fast", "none": None}[kind]

    return routine


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", ["rk2", "rk4", "RK45"])
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("raises", r"external 'f\(0.5.*\)' failed: KeyError: 'no such gear'"),
        ("two", "external 'f' must return one number, but returned"),
        ("text", "external 'f' must return one number, but returned 'fast'"),
        ("none", "external 'f' must return one number, but returned None"),
    ],
)
def test_external_that_goes_wrong_during_a_run(backend, method, kind, message):
    s = pendulum(
        "m0*f(t)", lambda s: s.add_external("f", arguments=("t",), python=wrong(kind)), m0=1.0
    )
    with pytest.raises(bc.RunError, match=message):
        s.equations().compile(backend=backend).simulate(method=method)


@pytest.mark.parametrize("backend", BACKENDS)
def test_external_with_two_values_must_return_two(backend):
    def prepare(s):
        s.add_external("pair", arguments=("t",), returns=("one", "two"), python=lambda t: 1.0)

    s = pendulum("m0*(one + two)", prepare, m0=1.0)
    with pytest.raises(
        bc.RunError, match=r"external 'pair' must return 2 numbers \(one, two\), but returned 1.0"
    ):
        s.equations().compile(backend=backend).simulate()


@pytest.mark.parametrize("backend", BACKENDS)
def test_interrupt_passes_through(backend):
    def stop(t):
        raise KeyboardInterrupt

    s = pendulum("m0*f(t)", lambda s: s.add_external("f", arguments=("t",), python=stop), m0=1.0)
    with pytest.raises(KeyboardInterrupt):
        s.equations().compile(backend=backend).simulate()


# ---- events


@pytest.mark.parametrize("method", ["rk4", "rk2", "RK45"])
def test_events_are_found_between_steps(sim, method):
    run = sim.simulate(
        t_end=10,
        step=0.01,
        output_every=7,
        method=method,
        events={"up": bc.event("q(rod)", direction=1), "fast": "abs(u(rod)) - 10"},
    )
    fine = sim.simulate(t_end=10, method="DOP853", rtol=1e-12, atol=1e-13, step=0.01)
    q, u = fine["q(rod)"], fine["u(rod)"]
    i = np.flatnonzero((q[:-1] < 0) & (q[1:] >= 0))
    expected = [
        optimize.brentq(
            interpolate.CubicHermiteSpline(fine.time[k : k + 2], q[k : k + 2], u[k : k + 2]),
            *fine.time[k : k + 2],
        )
        for k in i
    ]
    assert [e.name for e in run.events] == ["up"] * len(expected) and len(expected) == 2
    tolerance = {"rk2": 2e-3, "rk4": 1e-6, "RK45": 1e-5}[method]  # of the runs themselves
    np.testing.assert_allclose([e.time for e in run.events], expected, atol=tolerance)
    assert run.ended == "finished"
    steps = np.append(np.arange(0, 1001, 7), 1000) if method != "RK45" else None
    if steps is not None:
        np.testing.assert_allclose(run.time, np.unique(steps) * 0.01, atol=1e-12)


def test_an_event_by_name_is_the_event_that_bc_event_describes(sim):
    """The same crossings, in both directions; a comparison has one."""
    for condition in ("q(rod)", "-q(rod)", "q(rod) < 0", "q(rod) > 0"):
        ways = [{"zero": condition}, [bc.event(condition, name="zero")]]
        one, other = (
            [e.time for e in sim.simulate(t_end=10, step=0.01, events=x).events] for x in ways
        )
        assert one == other
        assert len(one) == (2 if "q(rod) " in condition else 4)


def test_event_stops_the_run(sim):
    run = sim.simulate(
        t_end=10, events={"down": "-q(rod)", "late": "t - 8"}, stop="down", output_every=5
    )
    assert run.ended == f"stopped by event 'down' at t = {run.events[0].time:.6g} s"
    assert len(run.events) == 1
    assert run.time[-2] < run.events[0].time == run.time[-1] < run.time[-2] + 0.05
    assert run["q(rod)"][-1] == pytest.approx(0, abs=1e-13)


@pytest.mark.parametrize("backend", BACKENDS)
def test_conditions_are_in_user_units_and_know_parameters(backend):
    def prepare(s):
        s.add_input("w", units="deg")
        s.add_output("Angle W", "w", units="deg")

    sim = pendulum("-m0*w", prepare, m0=1.0).equations().compile(backend=backend)
    events = {"half way": "angle w", "limit": "m0*t - 0.25*max(m0, 2)", "up": "Q(ROD) + 0*pi"}
    run = sim.simulate(inputs={"w": lambda t: 30 * t - 15}, events=events)
    assert {e.name: e.time for e in run.events} == pytest.approx({"half way": 0.5, "limit": 0.5})


def test_condition_may_be_an_output_with_a_space_in_its_name():
    run = (
        example("passenger_car").compile().simulate(events={"slip": "alpha f", "more": "Ay - 0.1"})
    )
    assert "more" in [e.name for e in run.events]


# ---- long runs


@needs_compiler
def test_blocks_of_steps_do_not_matter():
    sim = pendulum().equations().compile(backend="c")
    whole = sim.simulate(t_end=5.0, output_every=3)
    p, c = known(sim)
    start = RunSpec(5.0, 0.01, "rk4", 3, state=np.asarray(sim.assemble()), p=p, c=c)
    run = sim.loaded.new_context().model.new_run(start)
    rows = np.vstack([run.advance(last) for last in (1, 2, 7, 9, 333, 500)])
    np.testing.assert_array_equal(rows[:, 0], whole.time)
    np.testing.assert_array_equal(rows[:, 1], whole["q(rod)"])


def known(sim):
    p = sim.parameter_values()
    return p, sim.loaded.new_context().model.constants(p)


@needs_compiler
def test_many_steps_take_no_memory():
    sim = pendulum().equations().compile(backend="c")
    sim.simulate(t_end=10.0, step=1e-3, output_every=10**9)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run = sim.simulate(t_end=1000.0, step=1e-3, output_every=10**9)
    assert len(run) == 2 and run.ended == "finished"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 3000  # kilobytes


def test_initial_values_of_removed_speeds_decide_what_is_left_free():
    """u(c) = u(a) + 2 u(b) + w: with u(a) and u(c) given, u(b) follows."""
    s = bc.System("gears", units="mks")
    for name in "abc":
        s.add_body(name, rotate=3, mass=1, inertia=(1, 1, 1))
    s.add_input("w")
    s.add_constraint("u(c) - u(a) - 2*u(b) - w", eliminate="u(c)")
    sim = s.equations().compile(backend="python")
    run = sim.simulate(t_end=0.1, step=0.1, initial={"u(a)": 1.0, "u(c)": 4.5}, inputs={"w": 0.5})
    assert [run["u(a)"][0], run["u(b)"][0]] == pytest.approx([1.0, 1.5], rel=1e-14)


def without_a_start():
    """Its rates have no value from the start on, nor has one of its outputs."""
    s = bc.System("not defined", units="mks")
    m = s.add_body("m", translate=1, mass=2, inertia=0)
    s.add_force("f", magnitude="k*sqrt(-1 - t)", direction=s.inertial[1], at=m.cm)
    s.add_output("none", "sqrt(-2 - t)")
    s.set_defaults(k=0.5)
    s.set_run(t_end=0.5, step=0.05, initial={"u(m)": 3.0})
    return s


@pytest.fixture(scope="module")
def undefined():
    return without_a_start().equations()


@pytest.mark.filterwarnings("ignore:output 'none' is not finite")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", ["rk4", "ab2", "tsit5"])
def test_the_start_is_kept_of_a_run_that_ends_in_its_first_step(undefined, backend, method):
    run = undefined.compile(backend=able(backend, method)).simulate(method=method)
    assert run.ended.startswith("stopped") and "the force 'f', whose magnitude was nan" in run.ended
    assert (
        run.time.tolist() == [0.0] and run["u(m)"].tolist() == [3.0] and np.isnan(run["none"]).all()
    )


def test_a_written_program_keeps_the_start_of_a_run_that_ends_in_its_first_step(tmp_path):
    program = build(without_a_start().equations(), "python", tmp_path / "program")
    said = program(program.default, "--output", tmp_path / "out.csv", code=4)
    run = bc.Run.read(tmp_path / "out.csv")
    assert (
        "stopped at t = 0 s" in said
        and run.time.tolist() == [0.0]
        and run["u(m)"].tolist() == [3.0]
    )
    assert np.isnan(run["none"]).all()
