"""The text for GPUs, compiled as C++ and run by a processor that plays one, against runs in C; on a GPU the same for real."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.backend import cuda as backend_cuda
from bellcrank.backend.c_lanes import set_course
from bellcrank.backend.c_many import batch_of
from bellcrank.backend.cuda import memory_of, no_gpu
from bellcrank.emit.c.cuda import cuda_source, on_host
from bellcrank.emit.c.many import FIGURES
from bellcrank.many import many as module
from tests.models import example, rarely

TREES = ["quarter_car", "stanford_arm", "motorcycle", "suspension_car", "passenger_car", "driven_car"]


class Played:
    """A GPU played by a processor: threads one after another, in three launches."""

    def __init__(self, program, method, shared, number, folder):
        (folder / "gpu.cpp").write_text(on_host(cuda_source(program, method, shared, number), shared))
        library = folder / "gpu.so"
        command = ["g++", "-O1", "-ffp-contract=off", "-fPIC", "-shared", str(folder / "gpu.cpp"), "-o", str(library)]
        done = subprocess.run([*command, "-lm"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:3000]
        self.library = ctypes.CDLL(str(library))
        self.sizes = np.zeros(2 + len(FIGURES), dtype=np.int64)
        self.library.sizes(ctypes.c_void_p(self.sizes.ctypes.data))

    def go(self, course, begin, wanted, results, inputs, progress):
        batch, _ = batch_of(begin, wanted, results)
        set_course(batch, course)
        n, long = len(results.status), ctypes.c_int64
        jobs, tallies = (np.empty(n * size // 8 + 1) for size in memory_of(self.sizes, wanted))
        for i in (1, 2, 3):
            at = [ctypes.c_void_p(x.ctypes.data) for x in (jobs, tallies)]
            self.library.run_on_host(ctypes.byref(batch), *at, long(i == 1), long(course.total * i // 3))
        return 0.0


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("name", rarely(TREES, [t for t in TREES if t != "quarter_car"]))
def test_the_text_for_gpus_against_runs_in_c(name, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "no_gpu", lambda: "")
    monkeypatch.setattr(module, "Gpu", lambda *given: Played(*given, tmp_path))
    against_cores(name)
    if name != "quarter_car":
        against_cores(name, "single", share=True)


@pytest.mark.skipif(bool(no_gpu()), reason="there is no GPU")
@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("name", TREES)
def test_on_a_gpu(name, precision, share):
    against_cores(name, precision, share)


@pytest.mark.skipif(bool(no_gpu()), reason="there is no GPU")
def test_runs_that_do_not_fit_on_a_gpu_at_once(monkeypatch):
    """They are done one part after another, with the same bits."""
    sim = example("quarter_car").compile()
    given = {"parameters": {"k": np.linspace(1e4, 2e4, 1000)}, "t_end": 0.1, "step": 0.001, "keep": ["az"], "every": 10}
    shares = []
    all_at_once = sim.simulate_many(backend="cuda", **given)
    monkeypatch.setattr(backend_cuda.Gpu, "_room", lambda *_: 384)
    parts = sim.simulate_many(backend="cuda", progress=shares.append, **given)
    assert (all_at_once["az"] == parts["az"]).all()
    assert shares[-1] == 1.0 and len(shares) >= 3


@pytest.mark.skipif(bool(no_gpu()), reason="there is no GPU")
def test_values_that_lie_on_a_gpu():
    cupy = pytest.importorskip("cupy")
    sim, k = example("quarter_car").compile(), np.linspace(1e4, 2e4, 50)
    there, here = (
        sim.simulate_many(parameters={"k": x}, t_end=0.01, step=0.001, backend="cuda") for x in (cupy.asarray(k), k)
    )
    assert (there["az"] == here["az"]).all()
    assert (there.values["k"] == k).all()


class Elsewhere:
    """An array on a GPU that is not there."""

    def __dlpack_device__(self):
        return 2, 0


def against_cores(name, precision="double", share=False):
    """Parameters that enter constants, figures, an input that jumps within a step where there is one."""
    sim = example(name).compile()
    tolerance = {"double": 1e-12, "single": 1e-5}[precision]
    names = [x.name for x in sim.interface.parameters if x.default][:4] if not share else []
    values = {x: np.linspace(0.97, 1.05, 5) * sim.interface.get(x, ("parameter",)).default for x in names}
    start = sim.interface.coordinates[0]
    base = float(sim.interface.run.initial.get(start.name, start.default or 0.0))
    step, channels = sim.interface.run.step or 1e-3, [x.name for x in sim.interface.channels]
    jump = {"inputs": {"z_road": bc.step(at=6.3 * step, height=0.05)}} if name == "quarter_car" else {}
    given = {
        "n": 5,
        "parameters": values,
        "initial": {start.name: base + np.linspace(0.0, 0.01, 5)},
        "t_end": 20.5 * step,
        "step": step,
        "every": 3,
        "keep": channels,
        **jump,
    }
    figures = {channels[-1]: ["final", "min", "max", "mean", "rms", "crossing(0.1)", "percentile(80)", "wk"]}
    there = sim.simulate_many(backend="cuda", precision=precision, reduce=figures, **given)
    here = sim.simulate_many(backend="cores", reduce=figures, **given)
    assert there.settings["precision"] == precision
    assert (there.settings["backend"], there.notes) == ("cuda", [])
    assert there.ended == here.ended == ["finished"] * 5
    largest = {"m/s2": 9.81}  # what balances in an acceleration are forces of this size
    for c in channels:
        largest[here.units[c]] = max(largest.get(here.units[c], 1e-6), np.abs(here[c]).max())
    for c in channels:
        np.testing.assert_allclose(there[c], here[c], rtol=0, atol=tolerance * largest[here.units[c]], err_msg=c)
    for word, x in here.reduced[channels[-1]].items():
        allowed = 10 * tolerance * (largest[here.units[channels[-1]]] if word != "crossing(0.1)" else 1.0)
        if precision == "single" and word.startswith("percentile"):
            allowed = 0.01 * np.ptp(here[channels[-1]])  # rows next to the edge of a cell are counted in either
        np.testing.assert_allclose(there.reduced[channels[-1]][word], x, rtol=0, atol=allowed, err_msg=word)


@pytest.mark.skipif(not no_gpu(), reason="there is a GPU")
def test_values_on_a_gpu_that_cannot_be_read_are_told():
    with pytest.raises(bc.BellcrankError, match="lie on a GPU, and cannot be read: "):
        example("quarter_car").compile().simulate_many(parameters={"k": Elsewhere()}, t_end=0.01, step=0.001)


@pytest.mark.skipif(not no_gpu(), reason="there is a GPU")
def test_a_machine_without_a_gpu_says_so_and_uses_its_cores():
    many = example("quarter_car").compile().simulate_many(n=3, t_end=0.01, step=0.001, backend="cuda")
    assert many.settings["backend"] == "lanes"
    assert "not done on a GPU: " in many.notes[0]
