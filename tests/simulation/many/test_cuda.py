"""The text for GPUs, compiled as C++ and run by a processor that plays one, against runs in C; on a
GPU the same for real."""

import ctypes
import shutil
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.codegen.c.batch_driver import FIGURES
from bellcrank.codegen.c.cuda import cuda_source, host_emulation
from bellcrank.simulation.backend import gpu_batch as backend_cuda
from bellcrank.simulation.backend.c_batch import make_batch_struct
from bellcrank.simulation.backend.c_lanes import set_step_fields
from bellcrank.simulation.backend.gpu_batch import gpu_obstacle, run_memory
from bellcrank.simulation.many import simulate_many as module
from tests.models import example, needs_compiler, rarely
from tests.simulation.run.test_free_bodies import tumbling

LOOPS = ["slider_crank", "four_bar", "sarrus_linkage"]
TREES = [
    "quarter_car",
    "stanford_arm",
    "motorcycle",
    "suspension_car",
    "passenger_car",
    "driven_car",
]


EVENTS = {  # of some models: events, and a parameter that varies
    "clutch": (
        [
            bc.event("u(engine) - u(wheel)", action={"locked": 1}, name="locks"),
            bc.event(
                "where(locked > 0, abs(hold) - cap, -1)",
                direction=1,
                action={"locked": 0, "side": "sign(hold)"},
                name="slips",
            ),
        ],
        "drag",
        {"t_end": 4.0},
    ),
    "quarter_car": (
        [
            bc.event(
                "q(body) - 0.002", direction=1, action={"u(body)": "-0.8*u(body)"}, name="stop"
            ),
            bc.event("az < -0.8", stop=True, name="hard"),
        ],
        "k",
        {
            "t_end": 0.4,
            "step": 0.002,
            "inputs": {"z_road": bc.signals.step(at=0.0131, height=0.05)},
        },
    ),
    "slider_crank": (
        [
            bc.event(
                "x - 0.45",
                direction=1,
                action={"u(crank)": "0.8*u(crank)", "l": "1.01*l"},
                name="far",
            ),
            bc.event("c*t > 0.4", stop=True, name="late"),
        ],
        "c",
        {"t_end": 0.4},
    ),
}


class Played:
    """A GPU played by a processor: threads one after another, in three launches."""

    def __init__(self, program, method, shared, number, events, folder):
        (folder / "gpu.cpp").write_text(
            host_emulation(cuda_source(program, method, shared, number, events), shared)
        )
        library = folder / "gpu.so"
        command = [
            "g++",
            "-O1",
            "-ffp-contract=off",
            "-fPIC",
            "-shared",
            str(folder / "gpu.cpp"),
            "-o",
            str(library),
        ]
        done = subprocess.run([*command, "-lm"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:3000]
        self.library = ctypes.CDLL(str(library))
        self.sizes = np.zeros(2 + len(FIGURES), dtype=np.int64)
        self.library.sizes(ctypes.c_void_p(self.sizes.ctypes.data))

    def run_batch(self, spec, begin, wanted, results, inputs, progress):
        batch, _ = make_batch_struct(begin, wanted, results)
        set_step_fields(batch, spec)
        n, long = len(results.status), ctypes.c_int64
        jobs, tallies = (np.empty(n * size // 8 + 1) for size in run_memory(self.sizes, wanted))
        for i in (1, 2, 3):
            at = [ctypes.c_void_p(x.ctypes.data) for x in (jobs, tallies)]
            self.library.run_on_host(
                ctypes.byref(batch), *at, long(i == 1), long(spec.n_steps * i // 3)
            )
        return 0.0


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("name", rarely([*TREES, *LOOPS], [*TREES, *LOOPS][1:]))
def test_the_text_for_gpus_against_runs_in_c(name, tmp_path, monkeypatch):
    play(monkeypatch, tmp_path)
    against_cores(name)
    if name in TREES[1:]:
        against_cores(name, "single", share=True)


@pytest.mark.campaign
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("method", ["rk4", "ab2"])
def test_euler_parameters_keep_unit_size_in_the_text_for_gpus(method, tmp_path, monkeypatch):
    play(monkeypatch, tmp_path)
    sim = tumbling().compile()
    given = {"initial": {"u(b, 4)": [1.0, 3.0, 5.0]}, "method": method}
    for precision, allowed in (("double", 1e-14), ("single", 1e-6)):
        many = sim.simulate_many(backend="cuda", precision=precision, **given)
        size = np.sqrt(sum(many[f"q(b, {i})"] ** 2 for i in (4, 5, 6, 7)))
        assert np.abs(size - 1).max() < allowed


def play(monkeypatch, folder):
    """Plays a GPU."""
    monkeypatch.setattr(module, "gpu_obstacle", lambda: "")
    monkeypatch.setattr(module, "GpuProgram", lambda *given: Played(*given, folder))


@pytest.mark.campaign
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("name", EVENTS)
def test_events_in_the_text_for_gpus(name, tmp_path, monkeypatch):
    play(monkeypatch, tmp_path)
    with_events(name)
    if name not in LOOPS:
        with_events(name, "single")


@pytest.mark.campaign
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")
def test_runs_near_singular_positions_in_the_text_for_gpus(tmp_path, monkeypatch):
    play(monkeypatch, tmp_path)
    near_singular_positions()


@pytest.mark.skipif(bool(gpu_obstacle()), reason="there is no GPU")
@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("name", [*TREES, *LOOPS])
def test_on_a_gpu(name, precision, share):
    if precision == "single" and name in LOOPS:
        pytest.skip("loops are kept closed in double precision")
    against_cores(name, precision, share)


@pytest.mark.skipif(bool(gpu_obstacle()), reason="there is no GPU")
@pytest.mark.parametrize("name", EVENTS)
def test_events_on_a_gpu(name):
    with_events(name)
    if name not in LOOPS:
        with_events(name, "single")


@pytest.mark.skipif(bool(gpu_obstacle()), reason="there is no GPU")
def test_runs_near_singular_positions_on_a_gpu():
    near_singular_positions()


@pytest.mark.skipif(bool(gpu_obstacle()), reason="there is no GPU")
def test_runs_that_do_not_fit_on_a_gpu_at_once(monkeypatch):
    """They are done one part after another, with the same bits."""
    sim = example("quarter_car").compile()
    given = {
        "parameters": {"k": np.linspace(1e4, 2e4, 1000)},
        "t_end": 0.1,
        "step": 0.001,
        "channels": ["az"],
        "output_every": 10,
    }
    shares = []
    all_at_once = sim.simulate_many(backend="cuda", **given)
    monkeypatch.setattr(backend_cuda.GpuProgram, "_max_runs", lambda *_: 384)
    parts = sim.simulate_many(backend="cuda", progress=shares.append, **given)
    assert (all_at_once["az"] == parts["az"]).all()
    assert shares[-1] == 1.0 and len(shares) >= 3


@pytest.mark.skipif(bool(gpu_obstacle()), reason="there is no GPU")
def test_values_that_lie_on_a_gpu():
    cupy = pytest.importorskip("cupy")
    sim, k = example("quarter_car").compile(), np.linspace(1e4, 2e4, 50)
    there, here = (
        sim.simulate_many(parameters={"k": x}, t_end=0.01, step=0.001, backend="cuda")
        for x in (cupy.asarray(k), k)
    )
    assert (there["az"] == here["az"]).all()
    assert (there.values["k"] == k).all()


class Elsewhere:
    """An array on a GPU that is not there."""

    def __dlpack_device__(self):
        return 2, 0


def against_cores(name, precision="double", share=False):
    """Parameters that enter constants, figures, an input that jumps within a step where there is
    one."""
    sim = example(name).compile()
    tolerance = {"double": 1e-12, "single": 1e-5}[precision]
    names = [x.name for x in sim.interface.parameters if x.default][:4] if not share else []
    values = {
        x: np.linspace(0.97, 1.05, 5) * sim.interface.find_or_none(x, ("parameter",)).default
        for x in names
    }
    start = sim.interface.coordinates[0]
    base = float(sim.interface.run.initial.get(start.name, start.default or 0.0))
    step, channels = sim.interface.run.step or 1e-3, [x.name for x in sim.interface.channels]
    jump = (
        {"inputs": {"z_road": bc.signals.step(at=6.3 * step, height=0.05)}}
        if name == "quarter_car"
        else {}
    )
    given = {
        "n": 5,
        "parameters": values,
        "initial": {start.name: base + np.linspace(0.0, 0.01, 5)},
        "t_end": 20.5 * step,
        "step": step,
        "output_every": 3,
        "channels": channels,
        **jump,
    }
    figures = {
        channels[-1]: [
            "final",
            "min",
            "max",
            "mean",
            "rms",
            "crossing(0.1)",
            "percentile(80)",
            "wk",
        ]
    }
    there = sim.simulate_many(backend="cuda", precision=precision, metrics=figures, **given)
    here = sim.simulate_many(backend="cores", metrics=figures, **given)
    assert there.settings["precision"] == precision
    assert (there.settings["backend"], there.notes) == ("cuda", [])
    assert there.ended == here.ended == ["finished"] * 5
    largest = {"m/s2": 9.81}  # what balances in an acceleration are forces of this size
    for c in channels:
        largest[here.units[c]] = max(largest.get(here.units[c], 1e-6), np.abs(here[c]).max())
    for c in channels:
        np.testing.assert_allclose(
            there[c], here[c], rtol=0, atol=tolerance * largest[here.units[c]], err_msg=c
        )
    for word, x in here.metrics[channels[-1]].items():
        allowed = (
            10 * tolerance * (largest[here.units[channels[-1]]] if word != "crossing(0.1)" else 1.0)
        )
        if precision == "single" and word.startswith("percentile"):
            allowed = 0.01 * np.ptp(
                here[channels[-1]]
            )  # rows next to the edge of a cell are counted in either
        np.testing.assert_allclose(
            there.metrics[channels[-1]][word], x, rtol=0, atol=allowed, err_msg=word
        )


def with_events(name, precision="double"):
    """Against `simulate`, with the same bits whatever the number of runs; an event may stop
    some."""
    tolerance = {"double": 1e-12, "single": 1e-5}[precision]
    sim, (events, varied, settings) = example(name).compile(), EVENTS[name]
    values = np.linspace(0.8, 1.2, 6) * sim.interface.find_or_none(varied, ("parameter",)).default
    given = {"events": events, "output_every": 3, **settings}
    on_gpu = {"backend": "cuda", "precision": precision, **given}
    there = sim.simulate_many(parameters={varied: values}, **on_gpu)
    here = sim.simulate_many(parameters={varied: values}, backend="cores", **given)
    assert (there.settings["backend"], there.settings["precision"], there.notes) == (
        "cuda",
        precision,
        [],
    )
    assert (here.settings["backend"], there.ended) == ("python", here.ended)
    for c in there:
        size = max(np.nanmax(np.abs(here[c])), 1e-6)
        np.testing.assert_allclose(there[c], here[c], rtol=0, atol=tolerance * size, err_msg=c)
    plain = sim.simulate_many(
        parameters={varied: values}, backend="lanes", output_every=3, **settings
    )
    assert any((plain[c] != there[c]).any() for c in there)  # something happens
    some = sim.simulate_many(parameters={varied: values[[4, 1]]}, **on_gpu)
    for c in there:
        np.testing.assert_array_equal(some[c], there[c][[4, 1]])
    alike = sim.simulate_many(n=2, parameters={varied: values[3]}, **on_gpu)  # in constant memory
    for c in there:
        size = max(np.nanmax(np.abs(there[c])), 1e-6)
        np.testing.assert_allclose(
            alike[c], there[c][[3, 3]], rtol=0, atol=tolerance * size, err_msg=c
        )


def near_singular_positions():
    """Runs that come near one are done again by the cores, and a note says how many; the others
    stay on the GPU."""
    sim = example("slider_crank", equal_arms=True).compile()
    speed = np.array([0.5, 8.0, 0.6])
    given = {"initial": {"u(crank)": speed}, "t_end": 0.5, "step": 0.001, "channels": ["x"]}
    there, here = (sim.simulate_many(backend=b, **given) for b in ("cuda", "cores"))
    assert there.settings["backend"] == "cuda"
    assert there.notes == ["1 run came near singular configurations of closed loops and went alone"]
    assert (there["x"][1] == here["x"][1]).all()
    np.testing.assert_allclose(there["x"], here["x"], rtol=0, atol=1e-12)


@pytest.mark.skipif(not gpu_obstacle(), reason="there is a GPU")
def test_values_on_a_gpu_that_cannot_be_read_are_told():
    with pytest.raises(bc.BellcrankError, match="lie on a GPU, and cannot be read: "):
        example("quarter_car").compile().simulate_many(
            parameters={"k": Elsewhere()}, t_end=0.01, step=0.001
        )


@needs_compiler  # which the cores use
@pytest.mark.skipif(not gpu_obstacle(), reason="there is a GPU")
def test_a_machine_without_a_gpu_says_so_and_uses_its_cores():
    many = (
        example("quarter_car").compile().simulate_many(n=3, t_end=0.01, step=0.001, backend="cuda")
    )
    assert many.settings["backend"] == "lanes"
    assert "not done on a GPU: " in many.notes[0]


class CUDARuntimeError(RuntimeError):
    """As CuPy has it."""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA "
            "runtime version",
            "the driver of the GPU is too old for this CuPy: update it",
        ),
        (
            "cudaErrorNoDevice: no CUDA-capable device is detected",
            "there is no CUDA GPU that can be used (cudaErrorNo",
        ),
    ],
)
@needs_compiler  # which the cores use
@pytest.mark.parametrize("backend", ["cuda", "auto"])
def test_a_driver_that_is_too_old_is_told_and_cores_are_used(error, said, backend, monkeypatch):
    """A stand-in for CuPy, which raises what CuPy raises."""

    def count():
        raise CUDARuntimeError(error)

    cupy, told = (
        ModuleType("cupy"),
        SimpleNamespace(getDeviceCount=count, CUDARuntimeError=CUDARuntimeError),
    )
    cupy.cuda = SimpleNamespace(runtime=told)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    many = (
        example("quarter_car").compile().simulate_many(n=3, t_end=0.01, step=0.001, backend=backend)
    )
    assert many.ended == ["finished"] * 3
    assert many.settings["backend"] == "lanes"
    assert (len(many.notes), [said in x for x in many.notes]) == (
        (1, [True]) if backend == "cuda" else (0, [])
    )


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (
            ModuleNotFoundError("No module named 'cupy'", name="cupy"),
            "the package cupy is not installed (pip install",
        ),
        (
            ModuleNotFoundError("No module named 'fastrlock'", name="fastrlock"),
            "cannot be used (No module named 'fast",
        ),
        (
            ImportError("Failed to import CuPy.\n\nlibcublas.so.12: cannot open"),
            "(Failed to import CuPy. libcublas.so",
        ),
    ],
)
def test_a_cupy_that_cannot_be_imported_is_told(raised, said, monkeypatch):
    def refuse(name):
        raise raised

    monkeypatch.setattr(backend_cuda.importlib, "import_module", refuse)
    assert said in gpu_obstacle()
