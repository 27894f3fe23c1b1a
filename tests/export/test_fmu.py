"""Functional mock-up units: FMPy reads and runs them; they give what the run within the package
gives, and its slopes."""

import ctypes
import html
import re
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.export.fmu import binaries
from bellcrank.export.fmu.sources import fmi_header
from bellcrank.model.records import StartSpeed
from bellcrank.simulation.backend.compiler import find_compiler
from tests.emulated import emulator
from tests.fmus import HEADERS, Opened, fmpy, sources_of, validate_fmu
from tests.modelica import is_unit
from tests.models import FOLDER, example, needs_compiler, pendulum, relative

pytestmark = needs_compiler
FMPyError = Exception  # what FMPy raises where a call returns an error
LONG = ("passenger_car", "four_bar", "motorcycle", "driven_car", "suspension_car")
# how long runs of tests are, in steps of the model, and what inputs jump to, in user units
STEPS = {
    "quarter_car": 100,
    "passenger_car": 40,
    "four_bar": 100,
    "motorcycle": 200,
    "driven_car": 200,
    "suspension_car": 100,
}
JUMPS = {
    "quarter_car": {"z_road": 0.05},
    "motorcycle": {"rear.drive": 50.0, "front.load": 20.0},
    "driven_car": {"steer": 3.0, "drive": 200.0, "brake": 100.0},  # no brake at all is a kink
}
CASES = [
    pytest.param(name, version, marks=[pytest.mark.campaign] if name in LONG else [])
    for name in STEPS
    for version in (2, 3)
]
each = pytest.mark.parametrize(("name", "version"), CASES)


@pytest.fixture(scope="module", autouse=True)
def soon_compiled():
    """Without optimisation, which takes longer than the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binaries, "FLAGS", tuple("-O0" if f == "-O2" else f for f in binaries.FLAGS))
        yield


@pytest.fixture(scope="module")
def unit(tmp_path_factory):
    """Units of examples, each written once."""
    made, folder = {}, tmp_path_factory.mktemp("units")

    def get(name, version):
        if (name, version) not in made:
            made[name, version] = example(name).export(
                "fmu", folder / f"{name}_{version}.fmu", fmi=version
            )
        return made[name, version]

    return get


@pytest.fixture
def opened(unit):
    """Instances of units, freed after the test."""
    used = []

    def get(name, version, kind="CoSimulation"):
        used.append(Opened(unit(name, version), kind))
        return used[-1]

    yield get
    for x in used:
        x.close()
        shutil.rmtree(x.folder, ignore_errors=True)


def plan(name):
    """Step, method, and the time at which inputs jump: a whole number of steps."""
    run = example(name).interface.run
    return run.step, run.method or "rk4", STEPS[name] // 2 * run.step


def jumped(name, t):
    """Inputs at a time, in equation units, by their names in the unit."""
    interface, at = example(name).interface, plan(name)[2]
    values = {x: JUMPS.get(name, {}).get(x, 0.0) for x in (s.name for s in interface.signals)}
    factors = {s.name: s.unit.factor for s in interface.signals}
    return {
        x: (v * factors[x] if t > at - 1e-9 else 0.0)
        for x, v in values.items()
        if x in example(name).inputs
    }


def reference(name, method=None, finer=1):
    """The run within the package, channels in user units."""
    step, usual, at = plan(name)
    inputs = {x: bc.signals.step(at, JUMPS.get(name, {}).get(x, 0.0)) for x in example(name).inputs}
    sim, t_end = (
        example(name).compile(backend="c" if name in LONG else "python", speed="quick"),
        STEPS[name] * step,
    )
    return sim.simulate(
        t_end=t_end, step=step / finer, inputs=inputs, output_every=finer, method=method or usual
    )


def worst(unit, names, rows, run, skip=()):
    """The largest difference of outputs from a run, against the size of each."""
    rows = np.array(rows)
    keep = [i for i in range(len(run.time)) if i not in skip]
    return max(
        relative(
            unit.display(n, rows[keep, i]), run[n.removeprefix("outputs.").replace("'", "")][keep]
        )
        for i, n in enumerate(names)
    )


# ---- the same numbers


@each
def test_co_simulation_equals_the_run(opened, name, version):
    step, _, _ = plan(name)
    run, x = reference(name), opened(name, version)
    x.set(jumped(name, 0.0))
    x.start()
    rows = []
    for i in range(STEPS[name] + 1):
        x.set(jumped(name, i * step))
        rows.append(x.get(*x.outputs))
        if i < STEPS[name]:
            x.step(i * step, step)
    assert worst(x, x.outputs, rows, run) < 1e-9


@each
def test_model_exchange_equals_the_run(opened, name, version):
    """By a method over the calls of model exchange: the same numbers, but for loops, which runs
    close at every step."""
    loops = example(name).program.loops is not None
    step, method, _ = plan(name)
    method, finer = ("rk4", 4) if loops else (method, 1)
    run, x = reference(name, method, finer), opened(name, version, "ModelExchange")
    x.set(jumped(name, 0.0))
    x.start()
    y, rows, h = x.get(*x.states), [], step / finer
    for i in range(STEPS[name] * finer + 1):
        x.at(i * h, y)
        x.set(jumped(name, i * h))
        if i % finer == 0:
            rows.append(x.get(*x.outputs))
        y = x.integrate(method, i * h, y, h)
        x.at((i + 1) * h, y)
        if loops and x.complete():
            y = x.get(*x.states)
    assert worst(x, x.outputs, rows, run) < (1e-6 if loops else 1e-9)


@each
def test_other_communication_intervals(opened, name, version):
    """Half a step is half a step or less of the error; 7/3 of one are three steps, each shorter
    than the model's."""
    step, _, _ = plan(name)
    ends = {}
    for n in (21, 42, 9, 420):
        x = opened(name, version).start(jumped(name, 1e9))
        for i in range(n):
            x.step(i * 21 / n * step, 21 / n * step)
        ends[n] = x.get(*x.states)
    size = np.abs(ends[420]).max()
    usual, half, longer = (np.abs(ends[n] - ends[420]).max() / size for n in (21, 42, 9))
    assert half < 0.5 * usual + 1e-12 and longer < usual + 1e-12


# ---- slopes


@each
def test_directional_derivatives(opened, name, version):
    """Every column against central differences; nothing else depends on what; forwards and
    backwards are the same."""
    x, rng = opened(name, version, "ModelExchange"), np.random.default_rng(1)
    x.start(jumped(name, 1e9))
    start, unknowns = x.get(*x.states), [*x.rates, *x.outputs]
    for _ in range(3 if len(start) < 20 else 1):
        y = start + 0.02 * rng.standard_normal(len(start))
        x.at(0.0, y)
        base = x.get(*unknowns)
        size = 1 + np.abs(base)
        for known in (*x.states, *x.inputs):
            (value,) = x.get(known)
            slope = x.along(unknowns, [known], [1.0])
            h = 1e-5 * max(1.0, abs(value))
            ends = []
            for side in (1, -1):
                x.set({known: value + side * h})
                ends.append(x.get(*unknowns))
            x.set({known: value})
            differences = (ends[0] - ends[1]) / (2 * h)
            scale = size + np.abs(slope) + np.abs(slope).max()
            assert (np.abs(slope - differences) / scale).max() < 2e-6, known
            changed = {
                n
                for n, a, b in zip(unknowns, *ends, strict=True)
                if abs(a - b) > 1e-9 * (abs(a) + abs(b))
            }
            assert all(known in x.needs(n) for n in changed)
            assert all(slope[i] == 0.0 for i, n in enumerate(unknowns) if known not in x.needs(n))
        if version == 3:
            knowns = [*x.states, *x.inputs]
            v, w = rng.standard_normal(len(unknowns)), rng.standard_normal(len(knowns))
            there, back = v @ x.along(unknowns, knowns, w), w @ x.back(unknowns, knowns, v)
            assert abs(there - back) < 1e-12 * (
                np.abs(v).max() * np.abs(x.along(unknowns, knowns, w)).sum()
            )


def test_slopes_by_parameters_and_time(opened):
    x = opened("quarter_car", 2, "ModelExchange").start()
    x.at(0.0, [0.01, 0.02, 0.3, -0.2])
    (at,) = x.get("der(body.u)")
    slope = x.along(["der(body.u)"], ["k"], [1.0])
    x.set({"k": 16801.0})
    assert x.get("der(body.u)") - at == pytest.approx(slope, rel=1e-6)
    assert x.along(["der(body.u)"], ["time"], [1.0]) == [0.0]


# ---- states of units


@each
def test_states_are_kept_and_restored(opened, name, version):
    step, _, _ = plan(name)
    x, other = opened(name, version), opened(name, version)
    x.start(jumped(name, 1e9))
    other.start()
    x.step(0.0, step)
    state, ends = x.save(), []
    data = x.packed(state)
    for unit in (x, x, other):
        unit.restore(unit.unpacked(data) if unit is other else state)
        for i in range(1, 11):
            unit.step(i * step, step)
        ends.append(unit.get(*unit.states, *unit.outputs))
    assert np.array_equal(ends[0], ends[1]) and np.array_equal(ends[0], ends[2])
    spoiled = bytearray(data)
    spoiled[len(data) // 2] ^= 1
    for wrong in (data[:-1], b"x" * len(data), bytes(spoiled), b""):
        with pytest.raises(FMPyError):
            x.unpacked(wrong)


@each
def test_instances_are_apart_and_reset_begins_anew(opened, name, version):
    step, _, _ = plan(name)
    alone, one, two = (opened(name, version) for _ in range(3))
    ends = []
    for unit in (alone, one):
        unit.start()
    two.start(jumped(name, 1e9))
    for i in range(10):
        alone.step(i * step, step)
    for i in range(10):
        one.step(i * step, step)
        two.step(i * step, step)
    ends = [unit.get(*unit.states) for unit in (alone, one, two)]
    assert np.array_equal(ends[0], ends[1])
    two.fmu.reset()
    two.start()
    for i in range(10):
        two.step(i * step, step)
    assert np.array_equal(two.get(*two.states), ends[0])


def test_a_parameter_is_tuned_during_a_run(opened):
    """The same as a run in two parts."""
    sim = example("quarter_car").compile(backend="python")
    x = opened("quarter_car", 2).start({"z_road": 0.05})
    inputs = {"z_road": 0.05}
    first = sim.simulate(t_end=0.2, step=0.001, inputs=inputs)
    x.step(0.0, 0.2)
    state = (
        [first[n][-1] for n in ("q(wheel)", "q(body)")],
        [first[n][-1] for n in ("u(wheel)", "u(body)")],
    )
    second = sim.simulate(
        t_end=0.2, step=0.001, inputs=inputs, initial=state, parameters={"k": 30000.0}
    )
    x.set({"k": 30000.0})
    x.step(0.2, 0.2)
    assert x.get(*x.outputs) == pytest.approx([second[n][-1] for n in x.outputs], rel=1e-9)


@pytest.mark.campaign
def test_start_values_in_user_units_arrive(unit):
    """FMPy turns a value with a display unit into that of the equations."""
    path = unit("driven_car", 2)
    description = fmpy.read_model_description(str(path))
    assert next(v for v in description.modelVariables if v.name == "steer").displayUnit == "deg"
    result = fmpy.simulate_fmu(
        str(path),
        stop_time=0.01,
        start_values={"steer": (2, "deg")},
        output=["steer"],
        output_interval=0.01,
    )
    assert result["steer"][-1] == pytest.approx(np.radians(2))


# ---- calls in every order


def test_calls_out_of_place_are_refused(opened):
    x = opened("quarter_car", 2)
    for call in (
        lambda: x.step(0.0, 0.01),
        lambda: x.get("az"),
        x.fmu.exitInitializationMode,
        x.fmu.terminate,
    ):
        with pytest.raises(FMPyError):
            call()
    x.start()
    for call in (
        lambda: x.step(0.5, 0.01),
        lambda: x.step(0.0, -0.01),
        lambda: x.step(0.0, float("nan")),
        lambda: x.set({"az": 1.0}),
        lambda: x.set({"z_road": float("inf")}),
        lambda: x.fmu.getReal([99]),
        x.fmu.enterInitializationMode,
    ):
        with pytest.raises(FMPyError):
            call()
    x.step(0.0, 0.01)
    x.fmu.terminate()
    with pytest.raises(FMPyError):
        x.step(0.01, 0.01)


def test_another_token_is_refused(unit, tmp_path):
    with zipfile.ZipFile(unit("quarter_car", 2)) as archive:
        archive.extractall(tmp_path)
    description = fmpy.read_model_description(str(tmp_path))
    description.guid = "{0}"
    with pytest.raises(FMPyError):
        fmpy.instantiate_fmu(str(tmp_path), description, "CoSimulation", logger=lambda *_: None)


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("name", "version", "sequences"),
    [
        ("quarter_car", 2, 4000),
        ("quarter_car", 3, 4000),
        ("four_bar", 2, 1000),
        ("four_bar", 3, 1000),
    ],
)
def test_random_calls_under_sanitizers(tmp_path, name, version, sequences):
    """Each call is answered as the standard asks for it in the mode of the unit; no memory is
    touched that is not its own, nor by two units in two threads."""
    path = example(name).export("fmu", tmp_path / "x.fmu", fmi=version, platforms="sources")
    folder = sources_of(path, tmp_path / "unit")
    shutil.copy(Path(__file__).with_name("calls.c"), folder)
    file, text = fmi_header(version)
    (folder / file).write_text(text, encoding="utf-8")
    for watched, given in (("address,undefined", [sequences]), ("thread", [sequences // 20, 7, 4])):
        strict = [
            "-std=gnu99",
            "-g",
            "-O1",
            f"-fsanitize={watched}",
            "-fno-sanitize-recover=all",
            "-pthread",
        ]
        command = [
            *find_compiler().command,
            *strict,
            f"-DVERSION={version}",
            "calls.c",
            "-o",
            "calls",
            "-lm",
        ]
        subprocess.run(command, cwd=folder, check=True)
        done = subprocess.run(
            [folder / "calls", *map(str, given)], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")


# ---- what models may hold


@pytest.mark.filterwarnings("ignore:model .* jumps where:bellcrank.ModelWarning")
@pytest.mark.parametrize("version", [2, pytest.param(3, marks=pytest.mark.campaign)])
def test_indicators_tell_where_rates_jump(tmp_path, version):
    """A rod against a stop without give, with friction: one for each comparison in the rates, none
    for what bends."""
    s = pendulum(
        "where(q(rod) < -0.1, 40, 0) - 0.2*sign(u(rod)) - k*min(q(rod), 0) + where(z > 0.5, 1, 0)",
        lambda s: s.add_input("z", units="1"),
        k=1,
    )
    s.add_output("not_in_the_rates", "where(u(rod) > 100, 1, 2)")
    path = s.equations().export("fmu", tmp_path / "x.fmu", fmi=version)
    assert validate_fmu(str(path)) == []
    x = Opened(path, "ModelExchange").start({"z": 0.0})
    names = [n for n in x.by_name if n.startswith("indicators")]
    assert len(names) == 3
    if version == 2:
        assert x.description.numberOfEventIndicators == 3
    else:
        assert [v.variable.name for v in x.description.eventIndicators] == names

    def seen(q, u, z):
        x.at(0.0, [q, u])
        x.fmu.enterEventMode()
        x.set({"z": z})
        x.new_states()
        x.fmu.enterContinuousTimeMode()
        found = (ctypes.c_double * 3)()
        x.fmu.getEventIndicators(found, 3)
        assert found[:] == list(x.get(*names))
        return sorted(found)

    assert seen(0.3, 2.0, 0.0) == pytest.approx(sorted([0.4, 2.0, -0.5]))
    assert seen(-0.3, -2.0, 1.0) == pytest.approx(sorted([-0.2, -2.0, 0.5]))
    with pytest.raises(FMPyError):
        x.fmu.getEventIndicators((ctypes.c_double * 2)(), 2)
    with pytest.raises(FMPyError):
        x.along(names[:1], x.states[:1], [1.0])
    x.close()


def machine(method="rk4"):
    """A pendulum with routines in C that remember, hold values over a step and give a parameter, a
    table, and the rate of an input."""

    def prepare(s):
        s.define("curve", bc.table([-2, -1, 0, 1, 2], [-3.0, -1.2, 0, 1.0, 2.5]))
        s.add_external("slack", arguments=("a",), memory=1, c=SLACK)
        s.add_external(
            "control", arguments=("q(rod)",), returns="pull", when="update", memory=1, c=CONTROL
        )
        s.add_external("twice", arguments=("k",), returns="k2", when="input", c=TWICE)
        s.add_input("z", units="N-m")

    s = pendulum(
        "m0*(-k2*curve(q(rod)) - slack(q(rod)) + pull) + z + t0*dxdt(z)",
        prepare,
        k=1.5,
        m0=1,
        t0=0.1,
    )
    s.add_output("held", "slack(q(rod))")
    s.add_output("pull_out", "pull")
    s.set_run(t_end=1.0, step=0.01, method=method, initial={"q(rod)": 0.3})
    return s.equations()


SLACK = """
double slack(double a, double *memory)
{
    if (a > memory[0] + 0.1) memory[0] = a - 0.1;
    if (a < memory[0] - 0.1) memory[0] = a + 0.1;
    return 5.0*memory[0];
}
"""
CONTROL = (
    "void control(double q, double *returns, double *memory) "
    "{ memory[0] += 0.01; returns[0] = -q - memory[0]; }"
)
TWICE = "void twice(double k, double *returns) { returns[0] = 2.0*k; }"


def test_routines_tables_and_rates_of_inputs(tmp_path):
    """Routines remember at the ends of steps alone; model exchange reports them by
    completedIntegratorStep."""
    eom = machine()
    run = eom.compile(speed="quick").simulate(inputs={"z": bc.signals.ramp(0.0, 0.5)})
    path = eom.export("fmu", tmp_path / "x.fmu")
    assert validate_fmu(str(path)) == []
    unit, exchange = Opened(path, "CoSimulation"), Opened(path, "ModelExchange")
    assert unit.inputs == ["z", "der(z)"]
    unit.start({"der(z)": 0.5})
    assert not unit.description.modelExchange.completedIntegratorStepNotNeeded
    for i in range(100):
        unit.set({"z": 0.005 * i})
        unit.fmu.setRealInputDerivatives([unit.reference["z"]], [1], [0.5])
        unit.step(0.01 * i, 0.01)
    names = ["rod.q", "rod.u", "held", "pull_out"]
    ends = [run[x][-1] for x in ("q(rod)", "u(rod)", "held", "pull_out")]
    assert unit.get(*names) == pytest.approx(ends, rel=1e-9)
    exchange.start({"der(z)": 0.5})
    y = exchange.get(*exchange.states)
    for i in range(100):
        k = []
        for node, share in ((0, 0), (0.5, 0.5), (0.5, 0.5), (1, 1)):
            exchange.set({"z": 0.005 * (i + node)})
            k.append(exchange.rates_at(0.01 * (i + node), y + (share * 0.01 * k[-1] if k else 0)))
        y = y + 0.01 / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3])
        exchange.at(0.01 * (i + 1), y)
        exchange.complete()
    assert exchange.get(*names) == pytest.approx(ends, rel=1e-9)
    unit.close()
    exchange.close()


def test_the_first_step_is_that_of_a_run(tmp_path):
    """A routine that remembers is not asked again for the state at which the initialization left
    it."""
    code = (
        "double lag(double a, double *memory) "
        "{ memory[0] += 0.5*(a - memory[0]); return memory[0]; }"
    )
    s = pendulum(
        "-lag(q(rod))", lambda s: s.add_external("lag", arguments=("a",), memory=1, c=code)
    )
    s.set_run(t_end=0.1, step=0.01, initial={"q(rod)": 0.3, "u(rod)": 2.0})
    eom = s.equations()
    run = eom.compile(speed="quick").simulate()
    unit = Opened(eom.export("fmu", tmp_path / "x.fmu"), "CoSimulation")
    unit.start()
    for i in range(10):
        unit.step(0.01 * i, 0.01)
        assert unit.get("rod.q", "rod.u") == pytest.approx(
            [run[x][i + 1] for x in ("q(rod)", "u(rod)")], rel=1e-13
        )
    unit.close()


def test_methods_of_scipy_are_replaced(tmp_path):
    s = pendulum()
    s.set_run(t_end=1.0, method="RK45")
    with pytest.warns(bc.ModelWarning, match="the unit takes auto"):
        s.equations().export("fmu", tmp_path / "x.fmu", platforms="sources")
    assert "GOES_OVER = 1" in (sources_of(tmp_path / "x.fmu", tmp_path) / "core.c").read_text(
        encoding="utf-8"
    )


@pytest.mark.campaign
@pytest.mark.parametrize("method", ["tsit5", "dop853", "radau5", "rodas5p", "auto"])
def test_methods_that_choose_their_steps(tmp_path, method):
    """Co-simulation takes the method of the model, with the tolerance it is given."""
    s = pendulum(k=3.0, c=2e3)
    s.set_run(t_end=1.0, method=method, initial={"q(rod)": 0.3, "u(rod)": 1.0})
    eom = s.equations()
    run = eom.compile(speed="quick").simulate(method="radau5", rtol=1e-11)
    unit = Opened(eom.export("fmu", tmp_path / "x.fmu"), "CoSimulation")
    with pytest.raises(FMPyError):
        unit.fmu.setupExperiment(tolerance=-1.0)
    unit.fmu.setupExperiment(tolerance=1e-9)
    unit.start()
    for i in range(5):
        unit.step(0.2 * i, 0.2)
    assert unit.get(*unit.states) == pytest.approx(
        [run[x][-1] for x in ("q(rod)", "u(rod)")], rel=1e-7
    )
    unit.close()


@pytest.mark.campaign
@pytest.mark.parametrize("version", [2, 3])
def test_loops_that_others_open_are_closed_again(opened, version):
    """Long steps that know nothing of loops: event mode is asked for, states change there, and then
    all is well."""
    x = opened("four_bar", version, "ModelExchange").start()
    y, events = x.get(*x.states), 0
    for i in range(50):
        y = x.integrate("rk4", 0.02 * i, y, 0.02)
        x.at(0.02 * (i + 1), y)
        if x.complete():
            events, y = events + 1, x.get(*x.states)
            assert not x.complete()
    run = example("four_bar").compile(speed="quick").simulate(t_end=1.0, method="tsit5", rtol=1e-10)
    assert events > 3
    assert x.get("x", "angle") == pytest.approx([run["x"][-1], run["angle"][-1]], abs=1e-3)


@pytest.mark.campaign
def test_a_car_and_its_driver_side_by_side(tmp_path):
    """Two units that report each other what they do come to the one model of both, by the first
    order of the interval."""
    parts = run_path(str(FOLDER / "car_and_driver.py"))
    paths = [
        parts[name]().equations().export("fmu", tmp_path / f"{name}.fmu")
        for name in ("car", "driver")
    ]
    together = parts["both"]().equations().compile(speed="quick").simulate()["y"]
    errors = [
        np.abs(parts["side_by_side"](paths, 0.01 * n) - together[n::n]).max() for n in (4, 2, 1)
    ]
    assert errors[2] < 0.01 and errors[0] > 1.8 * errors[1] > 3.2 * errors[2]


# ---- the file


@pytest.mark.campaign
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("name", ["quarter_car", "passenger_car", "four_bar", "motorcycle"])
def test_fmpy_compiles_the_sources(tmp_path, name, version):
    """A unit without its libraries is built by an importer, equals the run, and keeps and restores
    its state."""
    build = pytest.importorskip("fmpy.build", reason="this FMPy cannot compile")
    if shutil.which("cmake") is None:
        pytest.skip("FMPy compiles by CMake")
    bare = example(name).export("fmu", tmp_path / "bare.fmu", fmi=version, platforms="sources")
    built = tmp_path / "built"
    sources_of(bare, built)
    (tmp_path / "build").mkdir()
    build.build_platform_binary(built, tmp_path / "build")
    run, step, rows = reference(name), plan(name)[0], []
    x = Opened(built, "CoSimulation", str(built)).start(jumped(name, 0.0))
    for i in range(STEPS[name]):
        x.set(jumped(name, i * step))
        rows.append(x.get(*x.outputs))
        state = x.save()
        x.step(i * step, step)
        if i % 10 == 0:
            there = x.get(*x.states)
            x.restore(x.unpacked(x.packed(state)))
            x.step(i * step, step)
            assert np.array_equal(x.get(*x.states), there)
    rows.append(x.get(*x.outputs))
    assert worst(x, x.outputs, rows, run) < 1e-9
    x.close()


@each
def test_the_validator_finds_nothing(unit, name, version):
    assert validate_fmu(str(unit(name, version))) == []


@each
def test_units_are_written_as_modelica_has_them(unit, name, version):
    """By its grammar, and with the base units that FMPy reads."""
    definitions = fmpy.read_model_description(str(unit(name, version))).unitDefinitions
    names = [x for u in definitions for x in (u.name, *(d.name for d in u.displayUnits))]
    assert names and [x for x in names if not is_unit(x)] == []
    known = {u.name: u.baseUnit for u in definitions}
    if "N.m" in known:
        assert (known["N.m"].kg, known["N.m"].m, known["N.m"].s) == (1, 2, -2)


@each
def test_the_documentation_lists_the_variables_of_the_fmu(unit, name, version):
    """Inputs, outputs, parameters and states by their names in the FMU, and nothing else."""
    page = zipfile.ZipFile(unit(name, version)).read("documentation/index.html").decode()
    listed = [html.unescape(x) for x in re.findall(r"^<tr><td>(.*?)</td>", page, re.MULTILINE)]
    variables = fmpy.read_model_description(str(unit(name, version))).modelVariables
    states = {v.derivative.name for v in variables if v.derivative is not None}
    wanted = [
        v.name
        for v in variables
        if v.causality in ("input", "output", "parameter") or v.name in states
    ]
    assert sorted(listed) == sorted(wanted)


@pytest.mark.parametrize("version", [2, 3])
def test_states_are_the_outputs_of_a_model_without_outputs(tmp_path, version):
    s = pendulum()
    eom = s.equations()
    assert not eom.interface.outputs
    path = eom.export("fmu", tmp_path / "x.fmu", fmi=version)
    assert validate_fmu(str(path)) == []
    x = Opened(path, "CoSimulation").start()
    assert x.outputs == ["rod.q", "rod.u"] and x.needs("rod.q") == {"rod.q"}
    run, rows = eom.compile(backend="python").simulate(), []
    step = run.time[1] - run.time[0]
    for t in run.time:
        rows.append(x.get(*x.outputs))
        x.step(t, step)
    assert np.abs(run["q(rod)"]).max() > 0.01
    for i, channel in enumerate(("q(rod)", "u(rod)")):
        shown = x.display(x.outputs[i], np.array(rows)[:, i])
        assert relative(shown, run[channel]) < 1e-9
    x.close()


@pytest.mark.parametrize("version", [2, 3])
def test_attributes_that_importers_show(tmp_path, version):
    """They are given by the user, and escaped; the description has a default."""
    said = {"author": 'A & "B"', "version": "1.2", "license": "<BSD>", "copyright": "(c) A"}
    path = (
        pendulum()
        .equations()
        .export("fmu", tmp_path / "x.fmu", fmi=version, platforms="sources", **said)
    )
    read = fmpy.read_model_description(str(path))
    assert {key: getattr(read, key) for key in said} == said
    assert read.description.endswith("1 body, 1 degree of freedom")
    page = zipfile.ZipFile(path).read("documentation/index.html").decode()
    assert "&lt;BSD&gt;" in page and "<BSD>" not in page


def test_parts_with_inputs_are_terminals(unit, tmp_path):
    """In FMI 3, by its schema; every member is a variable of the FMU."""
    etree = pytest.importorskip("lxml.etree")
    s = bc.System("two", units="mks")
    for side in ("left", "right"):
        s.add_body(f"{side}.mass", translate=1, mass=1, inertia=0)
        s.add_input(f"{side}.force", units="F", default=0)
        s.add_force(
            f"{side}.pull",
            magnitude=f"{side}.force",
            direction=s.inertial[1],
            at=f"{side}.mass.origin",
        )
        s.add_output(f"{side}.speed", f"u({side}.mass)")
    s.add_output("sum", "u(left.mass) + u(right.mass)")
    path = s.equations().export("fmu", tmp_path / "x.fmu", fmi=3, platforms="sources")
    assert validate_fmu(str(path)) == []
    tree = etree.fromstring(zipfile.ZipFile(path).read("terminalsAndIcons/terminalsAndIcons.xml"))
    schema = etree.XMLSchema(
        etree.parse(f"{next(iter(fmpy.__path__))}/schema/fmi3/fmi3TerminalsAndIcons.xsd")
    )
    assert schema.validate(tree), schema.error_log
    members = {t.get("name"): [m.get("variableName") for m in t] for t in tree.iter("Terminal")}
    assert members == {side: [f"{side}.force", f"{side}.speed"] for side in ("left", "right")}
    with zipfile.ZipFile(unit("quarter_car", 3)) as archive:  # nothing to group
        assert [x for x in archive.namelist() if "terminal" in x] == ["terminalsAndIcons/icon.png"]


@pytest.mark.parametrize("version", [2, 3])
def test_the_icon_shows_the_model(tmp_path, version):
    """A picture of its start; equations that were derived by hand have none."""
    image = pytest.importorskip("PIL.Image")
    place = {2: "model.png", 3: "terminalsAndIcons/icon.png"}[version]
    path = (
        pendulum().equations().export("fmu", tmp_path / "x.fmu", fmi=version, platforms="sources")
    )
    with zipfile.ZipFile(path) as archive, archive.open(place) as stream:
        shown = np.array(image.open(stream).convert("RGB"))
    assert shown.shape == (200, 200, 3) and 50 < (shown < 200).any(axis=2).sum() < 20_000
    by_hand = example("kane_rolling_disc").export(
        "fmu", tmp_path / "y.fmu", fmi=version, platforms="sources"
    )
    assert not [x for x in zipfile.ZipFile(by_hand).namelist() if x.endswith(".png")]


def rolls_at(path, values):
    """Speeds at the start of a unit that is given values."""
    x = Opened(path, "CoSimulation").start(values)
    try:
        return x.get("cart.u", "wheel.u", "speed_start").tolist()
    finally:
        x.close()


@pytest.mark.parametrize("version", [2, pytest.param(3, marks=pytest.mark.campaign)])
def test_initial_values_follow_from_a_speed_at_the_start(tmp_path, version):
    """As polynomials; a speed that is the usual one leaves values of states that were given."""
    s = bc.System("roller", units="mks")
    cart = s.add_body("cart", translate=1, mass=2, inertia=0)
    s.add_body("wheel", parent=cart, rotate=2, mass=1, inertia=(1, 1, 1))
    s.set_run(t_end=1, step=0.01, initial={"u(cart)": 3.0, "u(wheel)": 6.9})
    s.description.run.start_speed = StartSpeed(3.0, {"u(cart)": (1.0,), "u(wheel)": (2.0, 0.1)})
    path = s.equations().export("fmu", tmp_path / "x.fmu", fmi=version)
    assert validate_fmu(str(path)) == []
    assert rolls_at(path, {"speed_start": 5.0}) == [5.0, 12.5, 5.0]
    assert rolls_at(path, {"wheel.u": 1.5, "speed_start": 3.0}) == [3.0, 1.5, 3.0]


@pytest.mark.campaign
def test_a_car_starts_at_any_speed(tmp_path):
    """An FMU made at 20 m/s and started at 35 moves as one made at 35 m/s, and its wheels roll."""
    car = bc.vehicles.Car.read("passenger")
    path = car.system(speed=20, exact=False).equations().export("fmu", tmp_path / "car.fmu")
    run = (
        car.system(speed=35, exact=False)
        .equations()
        .compile(speed="quick")
        .simulate(0.2, output_every=10)
    )
    x = Opened(path, "CoSimulation")
    names = [
        n for n in x.outputs if n in ("speed", "ax", "fl.tyre.kappa", "rl.tyre.kappa", "pitch")
    ]
    x.start({"speed_start": 35.0})
    rows = []
    for t in run.time:
        rows.append(x.get(*names))
        x.step(t, 0.01)
    x.close()
    for i, name in enumerate(names):
        seen = x.display(name, np.array(rows)[:, i])
        assert np.abs(seen - run[name]).max() < {"speed": 1e-4, "ax": 5e-3, "pitch": 1e-4}.get(
            name, 1e-5
        ), name


def test_messages_are_formatted_before_they_are_logged(unit):
    """Some importers print the format alone: it is the message, with percent signs as formats have
    them."""
    heard = []
    folder = fmpy.extract(str(unit("quarter_car", 2)))
    library = ctypes.CDLL(next(str(p) for p in Path(folder, "binaries").glob("*/*.so")))
    text = ctypes.c_char_p
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, text, ctypes.c_int, text, text)
    callbacks = (ctypes.c_void_p * 5)(
        ctypes.cast(logger := kind(lambda *said: heard.append(said[4])), ctypes.c_void_p)
    )
    start = library.fmi2Instantiate
    start.restype, start.argtypes = (
        ctypes.c_void_p,
        [text, ctypes.c_int, text, text, ctypes.c_void_p] + 2 * [ctypes.c_int],
    )
    assert start(b"x", 1, b"100 %s", b"", callbacks, 0, 1) is None
    token = fmpy.read_model_description(folder).guid
    assert heard == [f"the GUID 100 %%s is not that of this model, {token}".encode()]
    instance = start(b"x", 1, token.encode(), b"", callbacks, 0, 1)
    step = library.fmi2DoStep
    step.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int]
    assert step(instance, 0.0, 0.1, 0) == 3 and logger
    assert heard[1:] == [b"fmi2DoStep cannot be called before the initialization"]
    library.fmi2FreeInstance.argtypes = [ctypes.c_void_p]
    library.fmi2FreeInstance(instance)


def compile_strictly(command, folder, version):
    """Against the headers of FMPy, in which clang finds prototypes without arguments."""
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-isystem", HEADERS]
    command = [*command, *flags, "-c", f"fmi{version}.c", "-o", "unit.o"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@each
def test_sources_compile_without_warnings_with_the_headers_of_fmpy(unit, tmp_path, name, version):
    compile_strictly(
        [*find_compiler().command, "-fsyntax-only"],
        sources_of(unit(name, version), tmp_path),
        version,
    )


@pytest.mark.campaign
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("name", STEPS)
def test_sources_compile_without_warnings_by_clang(unit, tmp_path, name, version):
    """Zig's compiler of C is clang; it knows all targets, and Windows has other headers."""
    pytest.importorskip("ziglang", reason="clang comes with ziglang: pip install ziglang")
    for target in ("x86_64-linux-gnu", "x86_64-windows-gnu"):
        clang = [sys.executable, "-m", "ziglang", "cc", "-target", target]
        compile_strictly(clang, sources_of(unit(name, version), tmp_path), version)


@pytest.mark.skipif(shutil.which("nm") is None, reason="there is no nm")
@pytest.mark.parametrize("version", [2, 3])
def test_nothing_but_fmi_can_be_seen(unit, tmp_path, version):
    zipfile.ZipFile(unit("quarter_car", version)).extractall(tmp_path)
    library = next((tmp_path / "binaries").rglob("quarter_car.*"))
    done = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
    )
    names = [line.split()[-1] for line in done.stdout.splitlines()]
    assert names and all(n.startswith(f"fmi{version}") for n in names)


def test_the_same_model_gives_the_same_bytes(unit, tmp_path):
    first = unit("quarter_car", 2).read_bytes()
    again = example("quarter_car").export("fmu", tmp_path / "again.fmu").read_bytes()
    assert first == again
    with zipfile.ZipFile(unit("quarter_car", 2)) as archive:
        names = archive.namelist()
    assert names[0] == "modelDescription.xml" and not any("\\" in n for n in names)


def bars():
    """Three bars of one metre in a row; the hinges of the first and the last are d apart."""
    s, bar = (
        bc.System("bars", units="mks"),
        {"rotate": 3, "cm": (0, 0.5, 0), "mass": 1, "inertia": (0.1, 0.1, 0.1)},
    )
    left = s.add_body("left", **bar)
    middle = s.add_body("middle", parent=left, joint_at=(0, 1, 0), **bar)
    right = s.add_body("right", joint_at=("d", 0, 0), **bar)
    ends = [s.add_point(f"end{i}", body=b, at=(0, 1, 0)) for i, b in enumerate((middle, right))]
    s.add_loop_joint("pin", between=ends, directions=(s.inertial[1], s.inertial[2]))
    s.add_gravity(direction=-s.inertial[2])
    s.set_defaults(d=3.5)
    s.set_run(t_end=0.1, step=0.01, initial={"q(left)": -0.1})
    return s


def test_loops_are_closed_or_refused(tmp_path):
    """At the export, and in a unit whose lengths were changed; a run keeps them closed."""
    s = bars()
    eom = s.equations()
    with pytest.raises(bc.ModelError, match="cannot be assembled"):
        eom.export("fmu", tmp_path / "x.fmu")
    assert list(tmp_path.iterdir()) == []
    s.set_defaults(d=1.2)
    eom = s.equations()
    x = Opened(eom.export("fmu", tmp_path / "x.fmu"), "CoSimulation")
    with pytest.raises(FMPyError):
        x.start({"d": 3.5})
    with pytest.raises(FMPyError):  # after an error
        x.step(0.0, 0.01)
    x.fmu.reset()
    x.start({"d": 1.5})
    left, middle, right = x.get("left.q", "middle.q", "right.q")
    assert left == -0.1 and -np.sin(left) - np.sin(left + middle) == pytest.approx(
        1.5 - np.sin(right)
    )
    with pytest.raises(FMPyError):  # the length closes a loop
        x.set({"d": 1.2})
    x.fmu.reset()
    x.start()
    for i in range(10):
        x.step(0.01 * i, 0.01)
    run = eom.compile(backend="python").simulate()
    assert x.get(*x.states) == pytest.approx([run[n][-1] for n in run if n[0] in "qu"], rel=1e-9)
    x.close()


@pytest.mark.campaign
def test_other_platforms_by_zig(tmp_path, monkeypatch):
    """Processors as asked for, a C library as old as of 2012, and each where importers look for
    it."""
    # without optimisation zig adds checks, which need more of the system
    monkeypatch.setattr(
        binaries, "FLAGS", tuple("-O2" if f == "-O0" else f for f in binaries.FLAGS)
    )
    pytest.importorskip("ziglang", reason="libraries for other platforms need ziglang")
    machines = {"x86_64-linux": 62, "aarch64-linux": 183}
    darwin = {"x86_64-darwin": 0x01000007, "aarch64-darwin": 0x0100000C}
    others = zipfile.ZipFile(
        example("quarter_car").export(
            "fmu", tmp_path / "o.fmu", fmi=3, platforms=[*darwin, "x86_64-windows"]
        )
    )
    for folder, processor in darwin.items():
        library = others.read(f"binaries/{folder}/quarter_car.dylib")
        assert struct.unpack_from("<II", library) == (0xFEEDFACF, processor)  # 64 bit
    library = others.read("binaries/x86_64-windows/quarter_car.dll")
    at = int.from_bytes(library[0x3C:0x40], "little")
    assert library[:2] == b"MZ" and library[at : at + 6] == b"PE\0\0\x64\x86"
    needed = {x.lower() for x in re.findall(rb"[\w.-]+\.dll", library, re.IGNORECASE)} - {
        b"quarter_car.dll"
    }
    assert all(x.startswith((b"kernel32", b"api-ms-win-crt-")) for x in needed), needed
    for version, folders in ((2, ("linux64", "aarch64-linux")), (3, tuple(machines))):
        path = example("quarter_car").export(
            "fmu", tmp_path / "x.fmu", fmi=version, platforms=list(machines)
        )
        archive = zipfile.ZipFile(path)
        for folder, machine in zip(folders, machines.values(), strict=True):
            library = archive.read(f"binaries/{folder}/quarter_car.so")
            assert library[:4] == b"\x7fELF" and int.from_bytes(library[18:20], "little") == machine
            versions = [
                tuple(map(int, x.split(b"."))) for x in re.findall(rb"GLIBC_([0-9.]+)", library)
            ]
            assert versions and max(versions) <= (2, 17)


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["quarter_car", "passenger_car"])
def test_processors_give_the_same_bits(tmp_path, name):
    """Co-simulation on x86-64 and on ARM, each in QEMU unless this machine is one: every state and
    output, with one C library for both."""
    pytest.importorskip("ziglang", reason="libraries for other platforms need ziglang")
    path = example(name).export("fmu", tmp_path / "x.fmu", platforms="sources")
    folder = sources_of(path, tmp_path / "unit")
    shutil.copy(Path(__file__).with_name("digits.c"), folder)
    file, text = fmi_header(2)
    (folder / file).write_text(text, encoding="utf-8")
    flags = [f for f in binaries.FLAGS if f not in ("-O0", "-shared", "-fvisibility=hidden")]
    said = {}
    for processor in ("x86_64", "aarch64"):
        runner = emulator(processor)
        zig = [
            sys.executable,
            "-m",
            "ziglang",
            "cc",
            "-target",
            f"{processor}-linux-musl",
            "-static",
            "-O2",
        ]
        subprocess.run(
            [*zig, *flags, "digits.c", "-o", processor, "-lm"], cwd=folder, check=True, timeout=1800
        )
        done = subprocess.run(
            [*runner, folder / processor], capture_output=True, text=True, check=True
        )
        said[processor] = done.stdout.splitlines()
    assert len(said["x86_64"]) > 200
    assert said["x86_64"] == said["aarch64"]


def test_libraries_of_macs_in_one_file():
    """A head that names each processor, and parts at multiples of a page."""
    parts = {"x86_64-darwin": b"first" * 5000, "aarch64-darwin": b"second" * 3000}
    joined = binaries.universal_binary(parts)
    assert joined[:8] == bytes.fromhex("cafebabe00000002")
    for i, part in enumerate(parts.values()):
        kind, _, at, size, align = struct.unpack(">IIIII", joined[8 + 20 * i : 28 + 20 * i])
        assert (
            kind in (0x01000007, 0x0100000C)
            and at % 2**align == 0
            and joined[at : at + size] == part
        )


def test_words_for_people_are_escaped(tmp_path):
    """Titles and labels with characters that mean something in XML, C and HTML."""
    s = pendulum()
    s.set_labels(k='stiff & "hard" <b> */ \\ ümlaut')
    s.add_output("k", "q(rod)", label="named like a parameter")
    with pytest.warns(bc.ModelWarning, match=r"the output k of the model is called outputs\.k"):
        path = s.equations().export("fmu", tmp_path / "x.fmu", platforms="sources")
    description = fmpy.read_model_description(str(path))
    labels = {v.name: v.description for v in description.modelVariables}
    assert (
        labels["k"] == 'stiff & "hard" <b> */ \\ ümlaut'
        and labels["outputs.k"] == "named like a parameter"
    )
    page = zipfile.ZipFile(path).read("documentation/index.html").decode()
    assert "&lt;b&gt;" in page and "<b>" not in page


def test_what_cannot_be_exported_is_said_and_leaves_no_file(tmp_path):
    s = bc.System("lacking", units="mks")
    rod = s.add_body("rod", rotate=3, cm=(0, -1, 0), mass="m", inertia=(0.1, 0.1, 0.1))
    s.add_moment("drive", magnitude="-k*q(rod)", direction=rod[3], on=rod)
    with pytest.raises(bc.ModelError, match="give k, m in set_defaults"):
        s.equations().export("fmu", tmp_path / "x.fmu")
    s.set_defaults(k=1, m=1)
    eom = s.equations()
    with pytest.raises(bc.ModelError, match="2 or 3"):
        eom.export("fmu", tmp_path / "x.fmu", fmi=1)
    with pytest.raises(bc.ModelError, match=r"platform 'linux' is not known.*x86_64-linux"):
        eom.export("fmu", tmp_path / "x.fmu", platforms="linux")
    s.add_external("f", arguments=("A",), python=lambda a: a)
    s.add_moment("more", magnitude="f(q(rod))", direction=rod[3], on=rod)
    with pytest.raises(bc.ModelError, match="'f' in C"):
        s.equations().export("fmu", tmp_path / "x.fmu")
    assert list(tmp_path.iterdir()) == []
