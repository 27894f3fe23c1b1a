"""Steps that know the one before (ab2): one evaluation each, order 2 past jumps and events, the
same bits in pieces."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.numeric.fixed_step_methods import METHODS
from bellcrank.simulation.run.step_stability import two_step_roots
from tests.analysis.view.test_page import worst
from tests.codegen.test_program_events import TURN, agrees, as_written, both_ways, lever
from tests.export.test_fmu import Opened
from tests.models import example, needs_compiler, pendulum, relative
from tests.node import needs_node, page_runs, unpacked
from tests.programs import COMPILED
from tests.simulation.run.test_goes_on import four_bar

BACKENDS = ("c", "python")


def mass(**settings):
    """A mass on a spring that is pushed."""
    s = bc.System("mass", units="mks")
    b = s.add_body("b", translate=1, mass=1)
    s.add_input("f", units="F")
    s.add_force("all", magnitude="f - k*q(b) - e*q(b)^3 - c*u(b)", direction=s.inertial[1], at=b.cm)
    s.set_defaults(k=4, c=0.3, e=1)
    s.set_run(**{"t_end": 2, "step": 0.01, "method": "ab2", "initial": {"q(b)": 1}, **settings})
    return s


@pytest.fixture(scope="module")
def masses():
    equations = mass().equations()
    return {backend: equations.compile(backend=backend) for backend in (*BACKENDS, "wasm")}


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_oscillator_follows_its_recurrence(masses, backend):
    """q'' = -k q: a midpoint step, then y[n+1] = y[n] + h/2*(3 A y[n] - A y[n-1]), by matrices of
    its own."""
    k, h = 4.0, 0.01
    run = masses[backend].simulate(
        parameters={"c": 0.0, "e": 0.0, "k": k}, inputs={"f": 0.0}, t_end=1
    )
    A, rows = np.array([[0.0, 1.0], [-k, 0.0]]), [np.array([1.0, 0.0])]
    rows.append((np.eye(2) + h * A + h**2 / 2 * A @ A) @ rows[0])
    for _ in range(99):
        rows.append(rows[-1] + h / 2 * (3 * A @ rows[-1] - A @ rows[-2]))
    assert np.column_stack([run["q(b)"], run["u(b)"]]) == pytest.approx(np.array(rows), abs=1e-13)
    assert run["q(b)"] == pytest.approx(
        np.cos(2 * run.time), abs=5 / 12 * 2**3 * h**2 * 1.2
    )  # its error constant


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_step_evaluates_rates_once(masses, backend):
    asked = []

    def push(t):
        asked.append(t)
        return 0.0

    counts = {}
    for method in ("ab2", "rk2"):
        for n in (50, 100):
            asked.clear()
            masses[backend].simulate(
                t_end=n / 100, method=method, output_every=n, inputs={"f": push}
            )
            counts[method, n] = len(asked)
    assert counts["ab2", 100] - counts["ab2", 50] == 50
    assert counts["rk2", 100] - counts["rk2", 50] == 100


@pytest.mark.parametrize("backend", ["c", "wasm"])
def test_order_two_past_jumps_kinks_events_and_short_ends(masses, backend):
    """Within steps, whatever their length, and at the end of one."""
    kick = [bc.event("q(b) < 0.5", action={"u(b)": "u(b) + 1"}, name="kick")]
    given = {
        "t_end": 1.9037,
        "events": kick,
        "inputs": {"f": bc.signals.step(at=0.4013, height=3)},
        "output_every": 1000,
    }
    exact = masses["c"].simulate(**given | {"method": "dop853", "rtol": 1e-12, "atol": 1e-14})
    ramp = given | {"inputs": {"f": bc.signals.ramp(0.5, 2.0)}}
    bent = masses["c"].simulate(**ramp | {"method": "dop853", "rtol": 1e-12, "atol": 1e-14})
    for what, right in ((given, exact), (ramp, bent)):
        errors = []
        for h in (0.02, 0.01, 0.005):
            run = masses[backend].simulate(**what | {"step": h})
            assert [e.name for e in run.events] == [e.name for e in right.events] != []
            errors.append(
                abs(run["q(b)"][-1] - right["q(b)"][-1]) + abs(run["u(b)"][-1] - right["u(b)"][-1])
            )
        assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx([2, 2], abs=0.3)


def test_roots_of_stability():
    """Hairer & Wanner (1996), section V.1: real from -1 to 0; on the imaginary axis |w| = 1 + y^4/4
    + ..., > 1."""
    two = METHODS["ab2"].two_step
    z = np.array([-1.0, -0.5, 0.3 + 0.4j, -0.222 + 0.628j, 2j, -3 + 1j, 0.0])
    found = np.array(two_step_roots(two, z))
    for i, x in enumerate(z):
        right = np.roots([1, -(1 + 1.5 * x), 0.5 * x])
        assert sorted(found[:, i], key=abs) == pytest.approx(sorted(right, key=abs), abs=1e-12)
    assert np.abs(found[:, 0]).max() == pytest.approx(1.0, abs=1e-14)
    y = np.array([0.05, 0.1])
    first, second = two_step_roots(two, 1j * y)
    assert np.abs(first) - 1 == pytest.approx(y**4 / 4, rel=0.1)
    assert np.all(np.abs(second) < 0.06)
    assert np.abs(two_step_roots(two, np.array([-1.001]))).max() > 1


def test_a_step_beyond_the_limit_is_told_and_one_below_is_not():
    """s = -100 twice: h s = -1 is the end of stability."""
    sim = mass(t_end=1, initial={"q(b)": 0.1}).equations().compile(backend="python")
    given = {"parameters": {"k": 1e4, "c": 200, "e": 0}, "inputs": {"f": 0.0}}
    assert sim.simulate(step=0.0099, **given).ended == "finished"
    for step in (0.0115, 0.02):
        with pytest.warns(bc.ModelWarning, match="too large for ab2") as told:
            sim.simulate(step=step, **given)
        assert 0.008 < float(str(told[0].message).split("a step of ")[1].split()[0]) < 0.0105


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_changed_begins_anew(masses, backend):
    """Other parameters, another step, another method in between: the first step is one of the
    midpoint rule."""
    sim = masses[backend]
    first = sim.simulate(t_end=0.5, inputs={"f": 0.0})
    here = {x: first[x][-1] for x in ("q(b)", "u(b)")}
    for changed in ({"parameters": {"k": 5.0}}, {"step": 0.02}):
        on = sim.simulate(start=first, t_end=1.0, **changed)
        anew = sim.simulate(t_start=0.5, t_end=1.0, initial=here, inputs={"f": 0.0}, **changed)
        assert np.array_equal(on["q(b)"], anew["q(b)"])
    for other in ("rk4", "tsit5") if backend == "c" else ("rk4",):
        between = sim.simulate(start=first, t_end=0.7, method=other, step=0.01)
        on = sim.simulate(start=between, t_end=0.8, method="ab2", step=0.01)
        there = {x: between[x][-1] for x in ("q(b)", "u(b)")}
        anew = sim.simulate(t_start=0.7, t_end=0.8, initial=there, inputs={"f": 0.0})
        assert on["q(b)"] == pytest.approx(anew["q(b)"], abs=1e-14)
    stepper = sim.stepper(step=0.01, method="ab2", inputs={"f": 0.0})
    whole = sim.stepper(step=0.01, method="ab2", inputs={"f": 0.0})
    whole.step(10)
    for i in range(10):
        stepper.step()
        stepper.set(f=0.0 if i % 2 else -0.0)  # no change of a value
    assert stepper.state["q(b)"] == pytest.approx(whole.state["q(b)"], abs=1e-9)


@pytest.mark.parametrize("backend", BACKENDS)
def test_kept_values_that_change_are_jumps(backend):
    """A controller that is sampled at every step lets each be one of the midpoint rule; one that
    holds does not."""

    def model(law):
        def prepare(s):
            s.add_external(
                "hold",
                arguments=("q(rod)",),
                returns=("pull",),
                when="update",
                python=lambda q: law(q),
                c=f"void hold(double q, double *r) "
                f"{{ r[0] = {'-3.0*q' if law(1.0) else '0.0*q'}; }}",
            )

        s = pendulum("pull - u(rod)", prepare)
        return s.equations().compile(backend=backend)

    for law, same in ((lambda q: -3.0 * q, True), (lambda q: 0.0 * q, False)):
        sim = model(law)
        ab2, rk2 = (
            sim.simulate(t_end=0.5, step=0.01, method=m, initial={"u(rod)": 1})
            for m in ("ab2", "rk2")
        )
        assert np.array_equal(ab2["q(rod)"], rk2["q(rod)"]) == same
        assert relative(ab2["q(rod)"], rk2["q(rod)"]) < 1e-3


@pytest.mark.campaign
def test_loops_stay_closed_and_other_equations_too():
    equations = four_bar().equations()
    c, wasm = (equations.compile(backend=b) for b in ("c", "wasm"))
    given = {"t_end": 0.3, "step": 0.001, "method": "ab2"}
    fine = c.simulate(t_end=0.3, step=0.001, method="dop853", rtol=1e-12, atol=1e-14)
    for dae in (None, "baumgarte", "post"):
        way = {"dae": dae} if dae else {}
        runs = [sim.simulate(**given, **way) for sim in (c, wasm)]
        assert relative(runs[0]["q(b)"], runs[1]["q(b)"]) < 1e-11
        half = c.simulate(**given | {"step": 0.0005}, output_every=2, **way)
        errors = [relative(run["q(b)"], fine["q(b)"]) for run in (runs[0], half)]
        assert errors[1] < 1e-3 and 3.8 < errors[0] / errors[1] < 4.2
    assert c.simulate(**given).residuals.position.max() < 1e-10
    for dae, allowed in (
        ("half-explicit", "rk2, rk4, heun"),
        ("dlmm", "rk2, rk4, heun, euler, rk3"),
    ):
        with pytest.raises(
            bc.ModelError, match=f"dae='{dae}' is available for {allowed}, not for ab2"
        ):
            c.simulate(dae=dae, **given)


@pytest.mark.campaign
def test_singular_positions_are_passed_by_the_midpoint_rule():
    """A run that stays near one has the bits of rk2 there, in C and in WebAssembly the same
    passages."""
    eom = example("change_point_four_bar")
    run = eom.interface.run
    given = {"t_end": run.t_end, "step": run.step}
    fine = eom.compile().simulate(method="rk4", **given)
    runs = [eom.compile(backend=b).simulate(method="ab2", **given) for b in ("c", "wasm")]
    for x in runs:
        assert x.ended == "finished" and [e.name.split(" (")[0] for e in x.events] == [
            e.name.split(" (")[0] for e in fine.events
        ]


@pytest.mark.campaign
@pytest.mark.parametrize("language", COMPILED)
def test_written_programs_take_the_steps_of_runs(tmp_path, language):
    """Events, routines that remember and keep, an input that jumps, a last step that is shorter."""
    agrees(
        lever().equations(),
        language,
        tmp_path / "lever",
        TURN,
        0,
        ["--method", "ab2"],
        method="ab2",
    )
    kick = [bc.event("q(b) < 0.5", action={"u(b)": "u(b) + 1"}, name="kick")]
    s = mass(t_end=1.9037, inputs={"f": bc.signals.step(at=0.4013, height=3)})
    agrees(s.equations(), language, tmp_path / "mass", kick)
    slow = [bc.event("t - 0.1113", action={"u(a)": "0.9*u(a)"}, name="slow")]
    options, settings = (
        ["--method", "ab2", "--step", "0.004", "--t-end", "0.2"],
        {"step": 0.004, "t_end": 0.2},
    )
    run, written, _ = both_ways(
        four_bar().equations(),
        language,
        tmp_path / "bars",
        slow,
        0,
        options,
        method="ab2",
        **settings,
    )
    off = np.abs(written - as_written(run, run.channels)).max()
    assert (
        off < 1e-12 if language == "fortran" else off == 0
    )  # corrections in Fortran round otherwise


@needs_node
@pytest.mark.parametrize("model", [mass, pytest.param(four_bar, marks=pytest.mark.campaign)])
def test_pages_take_the_same_steps(model):
    """An input that jumps within a step, a last step that is shorter; loops."""
    s = model()
    settings = (
        {"inputs": {"f": bc.signals.step(at=0.1031, height=3)}}
        if model is mass
        else {"initial": {"q(a)": 0.3, "u(a)": 5}}
    )
    s.set_run(t_end=0.3, step=0.004, method="ab2", **settings)
    eom = s.equations()
    page = eom.export("page")
    facts, _, _ = unpacked(page.text)
    assert facts["method"] == "ab2"
    (rows,) = page_runs(page, (0.2987, 0.004, 7))
    run = eom.compile(backend="python").simulate(t_end=0.2987, output_every=7)
    assert worst(rows, run) < 1e-12


@needs_compiler
@pytest.mark.campaign
def test_units_take_the_same_steps(tmp_path):
    s = mass(t_end=1)
    eom = s.equations()
    sim = eom.compile(speed="quick")
    run = sim.simulate(
        start=sim.simulate(t_end=0.5, inputs={"f": 0.0}), t_end=1.0, inputs={"f": 2.0}
    )
    unit = Opened(eom.export("fmu", tmp_path / "x.fmu"), "CoSimulation")
    unit.start()
    for i in range(100):
        unit.set({"f": 0.0 if i < 50 else 2.0})
        unit.step(0.01 * i, 0.01)
    assert unit.get(*unit.states) == pytest.approx(
        [run[x][-1] for x in ("q(b)", "u(b)")], rel=1e-12
    )
    unit.close()
