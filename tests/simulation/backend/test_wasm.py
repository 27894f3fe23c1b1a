"""Runs without a compiler: the kernel and the model in WebAssembly give the rows that C gives."""

import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.codegen.c.kernel_tables import method_number
from bellcrank.codegen.wasm import make_kernel
from bellcrank.codegen.wasm.kernel_module import source_digest
from bellcrank.core.numeric.embedded import EMBEDDED
from bellcrank.core.numeric.fixed_step_methods import METHODS
from bellcrank.program.statements import NullSpaceSolve
from bellcrank.simulation.backend import wasm
from tests.linkage.machines import linkage
from tests.models import example, needs_compiler, pendulum, system

pytest.importorskip("wasmtime")
NAMED = [*METHODS, *EMBEDDED, "radau5", "rodas5p"]


def rows(run):
    return np.array([run.time, *run.channels.values()])


def assert_same(a, b, bound=1e-11):
    one, other = rows(a), rows(b)
    assert one.shape == other.shape and a.status is b.status
    sizes = np.maximum(np.abs(one).max(axis=1, keepdims=True), 1e-9)
    assert (np.abs(one - other) / sizes).max() < bound


@needs_compiler
@pytest.mark.parametrize("method", NAMED)
def test_a_pendulum(method):
    """A swing that is large enough that rounding is not what adaptive methods follow."""
    equations = pendulum().equations()
    a, b = (
        equations.compile(backend=x).simulate(t_end=0.5, method=method, initial={"q(rod)": 1.0})
        for x in ("c", "wasm")
    )
    assert b.settings["backend"] == "wasm"
    assert_same(a, b, 1e-9 if method in ("radau5", "rodas5p") else 1e-11)


@needs_compiler
@pytest.mark.parametrize(
    "name", ["four_bar", "change_point_four_bar", "stanford_arm", "rolling_disc"]
)
@pytest.mark.parametrize("method", ["rk4", "tsit5"])
def test_loops_and_bridges(name, method):
    """Steps that a method chooses agree as far as its tolerance asks: from rest, rounding chooses
    the first ones."""
    equations = example(name)
    a, b = (equations.compile(backend=x).simulate(t_end=0.1, method=method) for x in ("c", "wasm"))
    assert_same(a, b, 1e-11 if method == "rk4" else 1e-7)


@needs_compiler
def test_tables_and_functions_that_webassembly_lacks():
    def prepare(s):
        s.add_input("a", units="1")
        s.define("f", bc.table((-2.0, -0.5, 0.0, 1.0, 3.0), (1.0, -1.0, 0.5, 2.0, -3.0), 3))
        s.define(
            "g", bc.table((-1.0, 0.0, 2.0), (-1.0, 0.5, 1.0), [[0, 1, 0], [1, 2, 1], [0, 1, 3]], 1)
        )

    law = (
        "m0*(f(a + q(rod)) + g(q(rod), a) + mod(a + 2*q(rod), 0.3) - atan2(q(rod), 1 + a^2) + "
        "abs(a)^0.7 - q(rod))"
    )
    equations = pendulum(law, prepare, m0=2.1).equations()
    given = {"t_end": 0.5, "inputs": {"a": bc.signals.sine(amplitude=0.9, frequency=1.5)}}
    assert_same(*(equations.compile(backend=x).simulate(**given) for x in ("c", "wasm")))


@needs_compiler
@pytest.mark.parametrize("table", [{}, {"step": 0.02, "range": (-0.02, 0.02)}])
def test_linkages_are_functions_of_the_kernel(table):
    """Newton's method, and a look-up that the run leaves; nothing of them is called back."""
    s = bc.System("corner", units="mks", axes="ISO 8855")
    base = s.add_body("base", translate=3, mass=400)
    chain = linkage("trailing_arm")
    wheel = s.add_body(
        "wheel", parent=base, mass=38, inertia=(0.9, 1.4, 0.9), cm=chain.chain.place("wheel_centre")
    )
    given = {"linkage": chain.table(**table), "extend": True} if table else {"linkage": chain}
    joint = s.add_linkage("arm", base=base, carrier=wheel, **given)
    s.add_force("tyre", magnitude="-k*x", direction=s.inertial[3], at=joint.point("wheel_centre"))
    s.set_defaults(k=20000)
    s.set_units(k="F/L")
    equations = s.equations(optimise="none")
    c, wasm = (equations.compile(backend=x) for x in ("c", "wasm"))
    refused = [lambda *given: pytest.fail("called back") for _ in equations.program.routines]
    wasm.loaded.model.functions = tuple(refused)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(
            *(x.simulate(t_end=0.1, step=0.002, initial={"u(base)": 1.0}) for x in (c, wasm))
        )


@needs_compiler
@pytest.mark.parametrize("method", ["rk4", pytest.param("radau5", marks=pytest.mark.campaign)])
def test_ground_is_a_function_of_the_kernel(method):
    """Along x and over x and y, with the derivatives that stiff methods ask for; nothing of it is
    called back."""
    s = bc.System("balls", axes="ISO 8855")
    x = np.linspace(-2.0, 2.0, 9)
    grounds = (
        bc.vehicles.terrain.hill(-0.2, 1.0, 0.1),
        bc.vehicles.terrain.grid(x, x, 0.02 * np.sin(3 * x[:, None]) * np.cos(2 * x)),
    )
    for name, ground in zip("ab", grounds, strict=True):
        point = s.add_point_mass(name, translate=(1, 2, 3), mass=2)
        s.add_contact(f"t{name}", at=point, radius=0.5, terrain=ground, tyre=bc.Tyre(2e3))
    s.add_gravity()
    equations = s.equations()
    assert equations.program.externals and all(r.kernel for r in equations.program.externals)
    given = {
        "t_end": 0.1,
        "method": method,
        "initial": {"q(a, 3)": 0.49, "q(b, 3)": 0.49, "u(a, 1)": 2.0},
    }
    assert_same(
        *(equations.compile(backend=x).simulate(**given) for x in ("c", "wasm")),
        1e-11 if method == "rk4" else 1e-8,
    )


@needs_compiler
def test_inputs_of_every_kind():
    equations = pendulum(
        "-m0*q(rod) + push", lambda s: s.add_input("push", units="N-m"), m0=3.0
    ).equations()
    a, b = (equations.compile(backend=x) for x in ("c", "wasm"))
    for signal in (
        bc.signals.sine(amplitude=0.3, frequency=2.0),
        bc.signals.step(at=0.105, height=0.4),
        bc.signals.sampled([0, 0.1, 0.3], [0.0, 1.0, 0.5]),
        lambda t: 0.1 * t,
    ):
        for method in ("rk4", "tsit5"):
            assert_same(
                *(x.simulate(t_end=0.3, method=method, inputs={"push": signal}) for x in (a, b))
            )


@needs_compiler
@pytest.mark.parametrize("method", ["rk4", "tsit5"])
def test_events_that_act(method):
    stroke = bc.event("q(rod)", direction=-1, action={"u(rod)": "-0.5*u(rod)"})
    equations = pendulum().equations()
    given = {"t_end": 2.0, "method": method, "initial": {"q(rod)": 1.0}, "events": [stroke]}
    a, b = (equations.compile(backend=x).simulate(**given) for x in ("c", "wasm"))
    assert len(a.events) == len(b.events) > 0
    assert_same(a, b, 1e-10)


@needs_compiler
@pytest.mark.parametrize("dae", ["dlmm", "baumgarte", "half-explicit", "projection"])
def test_methods_for_differential_algebraic_equations(dae):
    equations = example("four_bar")
    assert_same(
        *(equations.compile(backend=x).simulate(t_end=0.05, dae=dae) for x in ("c", "wasm"))
    )


@needs_compiler
@pytest.mark.parametrize("dae", ["dlmm", "projection"])
def test_events_that_act_where_python_closes_loops(dae):
    """By methods for differential-algebraic equations a state that an event sets is brought onto
    the constraints by a callback."""
    equations = example("four_bar")
    sim = equations.compile(backend="c")
    speed = sim.interface.states[-1].name
    stroke = bc.event("t - 0.0203", action={speed: f"0.5*{speed}"})
    given = {"t_end": 0.05, "dae": dae, "events": [stroke]}
    a, b = (equations.compile(backend=x).simulate(**given) for x in ("c", "wasm"))
    assert len(a.events) == len(b.events) == 1
    assert_same(a, b, 1e-9)


@needs_compiler
def test_external_routines_are_called_back():
    """With a memory that changes once per accepted step."""

    def law(q, memory):
        memory[0] += 1.0
        return -3.0 * q - 0.01 * memory[0]

    equations = pendulum(
        "f0*law(q(rod))",
        lambda s: s.add_external("law", arguments=("x",), memory=1, python=law),
        f0=1.0,
    ).equations()
    for method in ("rk4", "tsit5"):
        assert_same(
            *(
                equations.compile(backend=x).simulate(t_end=0.2, method=method)
                for x in ("c", "wasm")
            )
        )


@needs_compiler
@pytest.mark.parametrize("method", ["rk4", "tsit5"])
def test_many_runs(method):
    """Parameters, starts and inputs of their own, histories and figures; one run cannot be done."""
    equations = pendulum(
        "-m0*q(rod) + push", lambda s: s.add_input("push", units="N-m"), m0=3.0
    ).equations()
    given = {
        "parameters": {"m0": [1.0, 2.0, -1e300, 3.0]}, "initial": {"q(rod)": [0.1, 0.2, 0.3, 0.4]}, "t_end": 0.3,
        "inputs": {"push": [bc.signals.sine(0.3, 1), bc.signals.sampled([0, 0.1, 0.3], [0, 2, 0.5]), 0.0, bc.signals.step(at=0.105, height=0.4)]},
        "method": method, "channels": "q(rod)", "metrics": {"u(rod)": ["max", "rms", "percentile(90)"]}, "backend": "cores",
    }  # fmt: skip
    a, b = (equations.compile(backend=x).simulate_many(**given) for x in ("c", "wasm"))
    assert (
        b.settings["backend"] == "cores" and a.ended == b.ended and a.ended.count("finished") == 3
    )
    assert np.allclose(a["q(rod)"], b["q(rod)"], rtol=1e-10, atol=1e-12, equal_nan=True)
    for name, values in a.metrics["u(rod)"].items():
        assert np.allclose(
            values, b.metrics["u(rod)"][name], rtol=1e-10, atol=1e-12, equal_nan=True
        )


@needs_compiler
def test_a_stepper_steps_as_in_c():
    equations = pendulum().equations()
    found = []
    for backend in ("c", "wasm"):
        stepper = equations.compile(backend=backend).stepper(step=0.01, initial={"q(rod)": 0.4})
        stepper.step(3)
        kept = stepper.save()
        stepper.step(100)
        found.append([*stepper.state.values(), stepper.t])
        stepper.restore(kept)
        stepper.step(100)
        assert [*stepper.state.values(), stepper.t] == found[-1]
    assert np.allclose(*found, rtol=1e-12, atol=1e-12)


def test_runs_from_several_threads():
    sim = pendulum().equations().compile(backend="wasm")
    starts = [0.1 * (i + 1) for i in range(6)]
    wanted = [rows(sim.simulate(t_end=0.3, initial={"q(rod)": x})) for x in starts]
    found = [None] * len(starts)

    def go(i):
        found[i] = rows(sim.simulate(t_end=0.3, initial={"q(rod)": starts[i]}))

    threads = [threading.Thread(target=go, args=(i,)) for i in range(len(starts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(a, b) for a, b in zip(wanted, found, strict=True))


def test_errors_in_inputs_are_raised():
    equations = pendulum("push", lambda s: s.add_input("push", units="N-m")).equations()

    def fails(t):
        if t > 0.1:
            raise ValueError("no value here")
        return 0.0

    with pytest.raises(bc.RunError, match="ValueError: no value here"):
        equations.compile(backend="wasm").simulate(t_end=0.3, inputs={"push": fails})


def test_what_is_said_where_it_is_missing(monkeypatch):
    equations = pendulum().equations()
    monkeypatch.setattr("bellcrank.simulation.run.loaded.find_compiler", lambda: None)
    assert equations.compile().simulate(t_end=0.01).settings["backend"] == "wasm"
    monkeypatch.setattr(wasm, "find_spec", lambda name: None)
    sim = equations.compile()
    assert sim.simulate(t_end=0.01).settings["backend"] == "python"
    assert sim.notes[0].endswith("WebAssembly needs wasmtime (pip install wasmtime)")
    with pytest.raises(bc.ModelError, match=r"WebAssembly needs wasmtime"):
        equations.compile(backend="wasm")


def test_numbers_of_methods_are_those_of_the_kernel():
    assert [method_number(name) for name in NAMED] == list(range(len(NAMED)))


@pytest.mark.parametrize("name", make_kernel.KERNELS)
def test_the_kernel_is_made_of_the_present_text(name):
    """Otherwise: python -m bellcrank.codegen.wasm.make_kernel."""
    assert source_digest().encode() in (make_kernel.FOLDER / name).read_bytes()


@needs_compiler
def test_accelerations_on_constraints_in_outputs():
    """They are found by the kernel while it runs: what it has under way must stay as it is."""
    s = system("four_bar")
    s.add_output("alpha", "dxdt(u(1))")
    equations = s.equations()
    assert any(isinstance(x, NullSpaceSolve) for x in equations.program.outputs.statements)
    assert_same(*(equations.compile(backend=x).simulate(t_end=0.05) for x in ("c", "wasm")))


def test_a_routine_that_runs_the_model_itself():
    """Within a run: the memory that holds it must stay as it is."""
    sims, inner = [], []

    def law(q):
        if sims and not inner:
            inner.append(None)
            inner.append(rows(sims[0].simulate(t_end=0.02, initial={"q(rod)": 0.1})))
        return -3.0 * q

    prepared = pendulum(
        "f0*law(q(rod))", lambda s: s.add_external("law", arguments=("x",), python=law), f0=1.0
    )
    sim = prepared.equations().compile(backend="wasm")
    wanted = [
        rows(sim.simulate(t_end=0.1)),
        rows(sim.simulate(t_end=0.02, initial={"q(rod)": 0.1})),
    ]
    sims.append(sim)
    assert np.array_equal(rows(sim.simulate(t_end=0.1)), wanted[0])
    assert np.array_equal(inner[1], wanted[1])


@pytest.mark.campaign
@pytest.mark.skipif(
    bool(make_kernel.missing_tools()), reason="needs clang 14, lld 14 and wasi-libc"
)
@pytest.mark.parametrize("name", make_kernel.KERNELS)
def test_the_kernel_is_that_of_its_text(name):
    """Otherwise: python -m bellcrank.codegen.wasm.make_kernel."""
    assert (make_kernel.FOLDER / name).read_bytes() == make_kernel.build_module(name)


FORKED = """
import os, signal, sys
import bellcrank as bc
equations = bc.System.read("planar_pendulum").equations()
expected = equations.compile(backend="wasm").simulate(t_end=0.1)
equations.export("page", sys.argv[1] + "/parent.html")
child = os.fork()
if not child:
    signal.alarm(60)
    run = equations.compile(backend="wasm").simulate(t_end=0.1)
    equations.export("page", sys.argv[1] + "/child.html")
    os._exit(0 if (run["q(bob, 1)"] == expected["q(bob, 1)"]).all() else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes by fork here")
def test_a_forked_child_compiles_after_its_parent(tmp_path):
    """It waited for ever for the compiling threads of its parent. The cache is empty: the kernel
    is compiled by the parent too."""
    env = {**os.environ, "BELLCRANK_CACHE": str(tmp_path / "cache")}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", FORKED, str(tmp_path)], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "child.html").read_bytes() == (tmp_path / "parent.html").read_bytes()


SCRIPT = """
import sys
import bellcrank as bc
run = bc.System.read(sys.argv[1]).equations().compile().simulate(t_end=0.1)
assert run.ok and run.settings["backend"] == sys.argv[2], run.settings
"""


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("name", "backend"), [("quarter_car", "wasm"), ("four_bar", "wasm"), ("suspension_car", "wasm")]
)
def test_examples_run_without_a_compiler(name, backend, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    env = {
        "PATH": str(folder),
        "BELLCRANK_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": ":".join(sys.path),
    }
    path = make_kernel.FOLDER.parents[2] / "examples" / f"{name}.py"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path), backend], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
