"""Runs that continue where another ended: with fixed steps the same bits as one run."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from tests.models import Sims, example, needs_compiler, rarely

ENDS = (0.2, 0.35, 0.41)  # the last two are multiples of the step but for rounding


def driven() -> bc.System:
    """A mass with inputs, formulas over t, and routines that remember and keep."""
    s = bc.System("driven", units="mks")
    mass = s.add_body("mass", translate=3, mass="m")
    s.add_input("z", units="L")
    s.add_external(
        "control",
        arguments=("u(mass)", "gain"),
        returns=("pull",),
        when="update",
        memory=1,
        python=_control,
        c="void control(double u, double g, double *r, double *m) "
        "{ m[0] += 0.01*u; r[0] = -g*u - m[0]; }",
    )
    s.add_external(
        "slack",
        arguments=("v",),
        memory=2,
        python=_slack,
        c="double slack(double v, double *m) "
        "{ m[0] = 0.9*m[0] + v; m[1] += 1; return 0.1*m[0] + 1e-3*m[1]; }",
    )
    s.add_external(
        "begin",
        arguments=("q(mass)",),
        returns=("origin",),
        when="init",
        python=lambda q: q + 0.1,
        c="void begin(double q, double *r) { r[0] = q + 0.1; }",
    )
    f = "-k*(x - z) - c*v + f0*sin(3*t) + pull + slack(v) + origin"
    s.add_force("f", magnitude=f, direction=s.inertial[3], at=mass.origin)
    s.add_output("az", "dot(dxdt(vel(mass.cm)), [n3])")
    s.set_defaults(m=1, k=40, c=0.5, f0=3, gain=0.3)
    s.set_run(initial={"q(mass)": 0.1}, inputs={"z": bc.signals.step(at=0.255, height=0.3)})
    return s


def _control(u: float, gain: float, memory: np.ndarray) -> float:
    memory[0] += 0.01 * u
    return -gain * u - memory[0]


def _slack(v: float, memory: np.ndarray) -> float:
    memory[:] = 0.9 * memory[0] + v, memory[1] + 1
    return 0.1 * memory[0] + 1e-3 * memory[1]


def four_bar() -> bc.System:
    s = bc.System("four bars", units="mks")
    bar = {"rotate": 3, "mass": 1, "inertia": (0.1, 0.1, 0.1)}
    a = s.add_body("a", cm=(0.1, 0, 0), **bar)
    b = s.add_body("b", parent=a, joint_at=(0.2, 0, 0), cm=(0.3, 0, 0), **bar)
    c = s.add_body("c", joint_at=(0.5, 0, 0), cm=(0.2, 0, 0), **bar)
    p, r = s.add_point("p", body=b, at=(0.6, 0, 0)), s.add_point("r", body=c, at=(0.4, 0, 0))
    s.add_loop_joint("loop", between=(p, r), directions=(s.inertial[1], s.inertial[2]))
    s.add_gravity(direction=s.inertial[2])
    s.set_defaults(g=9.81)
    s.set_run(initial={"q(a)": 0.3, "u(a)": 20})
    return s


@cache
def equations(model: Any) -> bc.Equations:
    """Derived once."""
    return model().equations()


def in_pieces(sim: Any, **given: Any) -> bc.Run:
    """The last of runs that continue, one after another."""
    run = sim.simulate(t_end=ENDS[0], **given)
    for end in ENDS[1:]:
        run = sim.simulate(t_end=end, start=run)
        assert run.ended == "finished"
    return run


BOTH = [(model, backend) for model in (driven, four_bar) for backend in ("c", "wasm")]


@pytest.mark.parametrize(("model", "backend"), rarely(BOTH, BOTH[3:], several=True))
def test_pieces_have_the_bits_of_one_run(model: Any, backend: str) -> None:
    """Memories, kept values and loops continue; ends that are whole steps but for rounding do not
    determine either."""
    sim = equations(model).compile(backend=backend)
    ways = [("rk4", None), ("rk2", None), ("ab2", None)]
    if model is four_bar:
        ways = [("rk4", None), ("heun", "dlmm"), ("rk4", "minimal"), ("ab2", None), ("ab2", "post")]
    for method, dae in ways:
        step = 0.0025 if method == "ab2" else 0.01  # within its stability
        given = {"step": step, "method": method, "output_every": 3} | ({"dae": dae} if dae else {})
        whole, last = sim.simulate(t_end=ENDS[-1], **given), in_pieces(sim, **given)
        for x in sim.interface.states:
            assert last[x.name][-1] == whole[x.name][-1]
        inner = whole.time > ENDS[1] + 1e-9
        assert np.array_equal(last.time[1:], whole.time[inner])
        assert all(
            np.array_equal(last[x.name][1:], whole[x.name][inner]) for x in sim.interface.states
        )


@pytest.fixture(scope="module")
def masses() -> Any:
    s = bc.System("mass", units="in-lb")
    b = s.add_body("b", rotate=3, mass=1, inertia=("i", "i", "i"))
    s.add_input("twist", units="F*L")
    s.add_moment("spring", magnitude="twist - k*q(b) - c*u(b)", direction=s.inertial[3], on=b)
    s.set_defaults(i=2.0, k=0.1, c=0.001)
    s.set_run(t_end=1, step=0.01, initial={"q(b)": 10}, inputs={"twist": 0})
    return Sims(s.equations())


@pytest.fixture(scope="module")
def mass(masses: Any) -> Any:
    return masses["wasm"]


def test_adaptive_methods_go_on_to_their_tolerance(mass: Any) -> None:
    whole = mass.simulate(t_end=ENDS[-1], method="RK45")
    assert in_pieces(mass, method="RK45")["q(b)"][-1] == pytest.approx(whole["q(b)"][-1], rel=1e-6)


def test_other_parameters_inputs_and_steps(mass: Any) -> None:
    """As a run that starts with these values at that time."""
    first = mass.simulate(t_end=0.5)
    at = {x: first[x][-1] for x in ("q(b)", "u(b)")}
    for given in (
        {"parameters": {"k": 0.3}},
        {"inputs": {"twist": 2.0}},
        {"step": 0.007},
        {"method": "RK45"},
    ):
        on, fresh = (
            mass.simulate(start=first, **given),
            mass.simulate(t_start=0.5, initial=at, **given),
        )
        assert on["q(b)"][-1] == pytest.approx(fresh["q(b)"][-1], rel=1e-12)
        assert on.time[0] == 0.5 and on.time[-1] == 1
    again = mass.simulate(start=mass.simulate(start=first, t_end=0.75, parameters={"k": 0.3}))
    assert again["q(b)"][-1] == mass.simulate(start=first, parameters={"k": 0.3})["q(b)"][-1]


def test_a_run_that_an_event_stopped_goes_on(mass: Any) -> None:
    first = mass.simulate(events={"low": "q(b) < 3"}, stop="low")
    on, whole = mass.simulate(start=first), mass.simulate()
    assert on.time[0] == first.events[0].time and on["q(b)"][0] == pytest.approx(3, abs=1e-12)
    assert on.time[1:] == pytest.approx(whole.time[whole.time > on.time[0]])
    assert on["q(b)"][-1] == pytest.approx(whole["q(b)"][-1], rel=1e-7)


def test_files_and_copies(mass: Any, tmp_path: Path) -> None:
    """The states of the last row, in user units."""
    first = mass.simulate(t_end=0.5)
    on = mass.simulate(start=bc.Run.read(first.save(tmp_path / "first.csv")))
    assert on["q(b)"] == pytest.approx(mass.simulate(start=first)["q(b)"], rel=1e-13)


def test_parameters_that_events_set_are_not_in_a_file(tmp_path: Path) -> None:
    """A mass with a force that an event reverses at 0.5 s: -2.5 m after 2 s, by hand."""
    s = bc.System("reversed", units="mks")
    b = s.add_body("b", translate=1, mass=1)
    s.add_parameter("f", 1.0, units="F")
    s.add_force("push", magnitude="f", direction=s.inertial[1], at=b.origin)
    s.add_event("reverse", "t - 0.5", action={"f": "-3"})
    s.set_run(t_end=2, step=0.01)
    sim = s.equations().compile()
    first = sim.simulate(t_end=1)
    saved = bc.Run.read(first.save(tmp_path / "first.csv"))
    assert sim.simulate(start=first, t_end=2)["q(b)"][-1] == pytest.approx(-2.5, abs=1e-9)
    assert sim.simulate(start=saved, t_end=2, parameters={"f": -3})["q(b)"][-1] == pytest.approx(
        -2.5, abs=1e-9
    )
    with pytest.warns(bc.ModelWarning, match="events set f, but a file has no parameters"):
        sim.simulate(start=saved, t_end=2)


def test_what_cannot_go_on_is_told(mass: Any, tmp_path: Path) -> None:
    first, bars = mass.simulate(t_end=0.5), equations(four_bar).compile(backend="python")
    told = [
        (mass, {"start": 3}, "must be a run that this one continues from"),
        (mass, {"start": first, "initial": {"q(b)": 0}}, "initial= and start="),
        (mass, {"start": first, "t_start": 0.5}, "t_start= and start="),
        (mass, {"start": first, "t_end": 0.4}, "t_end=0.4 s must be later than t_start=0.5 s"),
        (bars, {"start": first}, r"the run of 'mass' is none of this model: it has no q\(a\)"),
    ]
    for sim, given, why in told:
        with pytest.raises(bc.ModelError, match=why):
            sim.simulate(**given)
    model = driven().equations()
    sim = model.compile(backend="python")
    run = sim.simulate(t_end=0.1, step=0.02)
    with pytest.raises(
        bc.ModelError, match=r"what .*slack.* remembers and the value of .*pull.* is not in a file"
    ):
        sim.simulate(start=bc.Run.read(run.save(tmp_path / "run.csv")), t_end=0.2)
    compiled = model.compile(backend="c")
    if compiled.backend == "c":  # in WebAssembly, routines remember in Python, too
        with pytest.raises(bc.ModelError, match="the run is one of another model or backend"):
            compiled.simulate(start=run, t_end=0.2)


@pytest.mark.parametrize("method", ["rk4", "tsit5"])
def test_an_event_that_stopped_a_run_does_not_stop_the_next(masses: Any, method: str) -> None:
    """It is zero at the start, and counts from its first sign after."""
    given: dict[str, Any] = {"events": {"low": "q(b) < 3"}, "stop": "low", "t_end": 40}
    sim = masses["wasm"]
    first = sim.simulate(method=method, step=0.05, **given)
    second = sim.simulate(start=first, **given)
    assert (
        second.ended.startswith("stopped by event 'low'")
        and second.events[0].time > first.events[0].time + 1
    )
    assert second["q(b)"][1] < 3


@needs_compiler
def test_rows_of_a_run_that_continues_have_their_own_parameters() -> None:
    """A rod grows in an event: loops are closed with the length that it has in each row."""
    sim = example("four_bar").compile()
    grows = bc.event("t - 0.0805", direction=1, action={"l2": "1.001*l2"}, name="grows")
    run = sim.simulate(start=sim.simulate(t_end=0.05, step=0.001), t_end=0.1, events=[grows])
    assert len(run.events) == 1 and run.residuals.position.max() < 1e-12
