"""A library that is soon ready, and the one that follows it: of large models the same bits,
whenever it comes."""

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.codegen.c.program_sources import ProgramSources
from bellcrank.core.errors import BuildError
from bellcrank.simulation.backend import libraries as of_libraries
from bellcrank.simulation.backend import tiers
from bellcrank.simulation.backend.background import BackgroundQueue
from bellcrank.simulation.backend.compiler import Compiler, find_compiler
from bellcrank.simulation.backend.libraries import CurrentLibrary
from bellcrank.simulation.backend.processes import ProcessTerminated, run_program
from tests.models import needs_compiler, pendulum

EXAMPLES = sorted(
    p.stem
    for p in (Path(__file__).parents[3] / "examples").glob("*.py")
    if "def model(" in p.read_text()
)
METHODS = ("rk2", "rk4", "euler", "heun", "tsit5", "dop853", "radau5", "rodas5p", "auto")
SOURCE = "int answer(void) { return 42; }\n"
SUMS = """
void sums(int n, const double *a, const double *b, double *c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const double x = a[i]*b[j], y = x + a[j]*a[j];
            c[i] += x*y - b[i]*c[j] + (i > j ? a[j]*x : y*y);
        }
}
"""
LONG = 600.0  # s that a test waits for a compiler


@pytest.fixture
def tiered(tmp_path, monkeypatch):
    """Two libraries of each source, in a cache of their own; both soon ready."""
    monkeypatch.delenv("BELLCRANK_CFLAGS")
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Compiler, "early_flags", ("-O0",))
    monkeypatch.setattr(Compiler, "fast_flags", ("-O0", "-ffp-contract=off"))
    monkeypatch.setattr(tiers, "SMALL", -1)
    monkeypatch.setattr(tiers, "SHORT", 0)
    monkeypatch.setattr(of_libraries, "LONG_RUNS", 0.0)
    tiers.compile_kernel.cache_clear()
    yield tmp_path / "cache"
    tiers.compile_kernel.cache_clear()


class Gate:
    """Lets the fast library come when it is opened."""

    def __init__(self, monkeypatch):
        self.opened, made = threading.Event(), tiers._LibrarySource.build_library

        def late(source, speed, aside=None):
            assert aside is None or self.opened.wait(LONG)
            return made(source, speed, aside)

        monkeypatch.setattr(tiers._LibrarySource, "build_library", late)


def libraries(sim) -> CurrentLibrary:
    return sim.loaded.model._compiled.variants.latest


def rows(run):
    return np.array([run.time, *run.channels.values()]).tobytes()


@needs_compiler
def test_the_fast_library_takes_over_within_a_run_and_what_goes_on(tiered, monkeypatch):
    gate = Gate(monkeypatch)
    equations = pendulum().equations()
    sim = equations.compile()
    assert sim.notes[1].startswith("runs with a library that was soon ready")
    f, stepper = sim.rhs(), sim.stepper(step=0.01)
    x, address = np.asarray(sim.assemble()), f.address
    rates, first = f(0.0, x), sim.simulate()
    stepper.step()
    before = dict(stepper.state)
    assert first.settings["library"] == "early"

    def opens(share):
        gate.opened.set()
        assert libraries(sim).is_final.wait(LONG)

    second = sim.simulate(progress=opens)
    assert second.settings["library"] == "early, then fast"
    third = sim.simulate()
    assert third.settings["library"] == "fast" and len(sim.notes) == 1
    assert rows(first) == rows(second) == rows(third)
    assert f.address != address and np.array_equal(f(0.0, x), rates)
    again = sim.stepper(step=0.01)
    again.step()
    assert dict(again.state) == before
    stepper.step()
    again.step()
    assert dict(again.state) == dict(stepper.state)
    at_once = equations.compile()  # from the cache
    assert libraries(at_once).speeds == ["fast"]
    assert not [*tiered.glob("build-*")]


def test_the_library_of_stiff_methods_is_reported_too():
    context = pendulum().equations().compile(backend="python").loaded.new_context()
    assert context.library_history == ""
    context.stiff_calls.speeds = ("early", "fast")
    assert context.library_history == "early, then fast"


@needs_compiler
def test_where_runs_take_long_those_that_follow_take_a_library_of_one_text(tiered, monkeypatch):
    monkeypatch.setattr(tiers, "SMALL", 10**9)
    gate, equations = Gate(monkeypatch), pendulum().equations()
    sim = equations.compile()
    assert sim.notes[1].startswith("linked to the solver kernel")
    builds = sim.loaded.model._compiled.variants
    first, stepper = sim.simulate(), sim.stepper(step=0.01)
    waited = builds.latest.is_final
    assert not waited.is_set()

    def opens(share):
        gate.opened.set()
        assert waited.wait(LONG)

    second = sim.simulate(progress=opens)
    third = sim.simulate()
    found = [run.settings["library"] for run in (first, second, third)]
    assert found == ["linked", "linked", "fast"] and len(sim.notes) == 1
    assert rows(first) == rows(second)
    for name, channel in first.channels.items():
        assert np.allclose(channel, third.channels[name], rtol=1e-12, atol=1e-12), name
    stepper.step()
    assert libraries(equations.compile()).speeds == ["fast"]  # from the cache


@needs_compiler
def test_a_fast_library_that_cannot_be_made_is_noted(tiered, monkeypatch):
    made = tiers._LibrarySource.build_library

    def fails(source, speed, aside=None):
        if aside is not None:
            raise BuildError("the disk is full")
        return made(source, speed, aside)

    monkeypatch.setattr(tiers._LibrarySource, "build_library", fails)
    sim = pendulum().equations().compile()
    sim.simulate()
    assert libraries(sim).is_final.wait(LONG)
    assert (
        sim.notes[1]
        == "stays with the library that was soon ready, since the fast one is not made: the "
        "disk is full"
    )
    assert sim.simulate().settings["library"] == "early"


@needs_compiler
def test_where_there_is_one_library_alone(tiered, monkeypatch):
    """Code of users, flags of users, flags that a compiler does not know, and sources that are soon
    compiled."""

    def speeds(own=True):
        found = tiers.build_libraries(
            ProgramSources(SOURCE, "", ""), find_compiler(), "auto", is_generated=own, linked=False
        ).latest
        assert found.current.loaded.answer() == 42
        found.add_run_time(1.0)
        return found.speeds[0], found.is_final.wait(LONG)

    assert speeds() == ("early", True)
    assert speeds() == ("fast", True)
    for path in tiered.iterdir():
        shutil.rmtree(path)
    assert speeds(own=False) == ("fast", True)
    for path in tiered.iterdir():
        shutil.rmtree(path)
    monkeypatch.setattr(Compiler, "early_flags", ("-O0", "-fno-such-thing-at-all"))
    assert speeds() == ("fast", True)
    monkeypatch.setenv("BELLCRANK_CFLAGS", "-O0")
    assert speeds() == ("fast", True)
    monkeypatch.delenv("BELLCRANK_CFLAGS")
    monkeypatch.setattr(tiers, "SHORT", len(SOURCE))
    assert speeds() == ("fast", True)


@pytest.mark.skipif(find_compiler() is None or not find_compiler().is_gcc, reason="needs gcc")
def test_both_libraries_fuse_the_same_products_and_sums(tmp_path):
    """gcc decides on trees what is fused; those of the two libraries are the same."""
    (tmp_path / "sums.c").write_text(SUMS)
    texts = []
    for speed in ("early_flags", "fast_flags"):
        dump = tmp_path / f"{speed}.txt"
        flags = [*getattr(find_compiler(), speed), f"-fdump-tree-optimized={dump}"]
        command = [
            *find_compiler().command,
            *flags,
            "-S",
            "-o",
            os.devnull,
            str(tmp_path / "sums.c"),
        ]
        subprocess.run(command, check=True, capture_output=True)
        texts.append(dump.read_text())
    assert texts[0] == texts[1] and "sums" in texts[0]


@pytest.mark.skipif(os.name != "posix", reason="needs processes of POSIX")
def test_what_is_under_way_ends_with_the_process():
    began, ended, background = threading.Event(), [], BackgroundQueue()

    def task(aside):
        began.set()
        try:
            run_program(
                [sys.executable, "-c", "import time; time.sleep(60)"],
                None,
                background_process=aside,
            )
        except ProcessTerminated:
            ended.append("ended")

    assert background.submit(task) and began.wait(LONG)
    assert background.submit(lambda aside: ended.append("never"))
    start = time.monotonic()
    background.stop_all_tasks()
    assert time.monotonic() - start < 5.0 and ended == ["ended"]
    assert not background.submit(task)


@needs_compiler
@pytest.mark.parametrize(
    "use", ["runs", *(pytest.param(x, marks=pytest.mark.campaign) for x in ("stepper", "rhs"))]
)
def test_the_fast_library_is_begun_when_it_pays(tiered, monkeypatch, use):
    monkeypatch.setattr(of_libraries, "LONG_RUNS", LONG)
    gate, sim = Gate(monkeypatch), pendulum().equations().compile()
    gate.opened.set()
    sim.simulate()
    sim.derivatives(0.0, [0.1], [0.2])
    assert libraries(sim).build_faster is not None and libraries(sim).speeds == ["early"]
    if use == "runs":
        monkeypatch.setattr(of_libraries, "LONG_RUNS", 0.0)
        sim.simulate()
    elif use == "stepper":
        sim.stepper(step=0.01)
    else:
        sim.rhs()
    assert libraries(sim).is_final.wait(LONG) and libraries(sim).speeds == ["early", "fast"]


SCRIPT = """
import os, sys, time
import bellcrank as bc
import bellcrank.simulation.backend.libraries
from tests.models import pendulum
bellcrank.simulation.backend.libraries.LONG_RUNS = 0.0
sim = pendulum().equations().compile()
run = sim.simulate()
assert run.settings["library"] == "early", run.settings
end, began = sys.argv[1:]
while not os.path.exists(began):
    time.sleep(0.01)
if end == "fork":
    child = os.fork()
    if not child:
        assert sim.simulate().settings["library"] == "early"
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
if end == "interrupt":
    raise KeyboardInterrupt
"""
SLOW = """#!/bin/sh
for x in "$@"; do case "$x" in *.c) grep -q "Kernel .kernel_functions" "$x" && exec {cc} "$@";; esac; done
case "$*" in *--version*) exec {cc} "$@";; *-fdisable-rtl*) ;; *) sleep 900 & echo $! > {pid}; wait;; esac
exec {cc} "$@"
"""


def is_gone(process):
    """Does a process that was killed end, which a busy machine may take its time for?"""
    until = time.monotonic() + 60.0
    while time.monotonic() < until:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@needs_compiler
@pytest.mark.campaign
@pytest.mark.skipif(
    os.name != "posix" or find_compiler() is None or not find_compiler().is_gcc, reason="needs gcc"
)
@pytest.mark.parametrize("end", ["exit", "fork", "interrupt"])
def test_processes_end_while_a_compiler_is_under_way(tmp_path, end):
    """Nothing is waited for, no compiler continues, and nothing is left of a build."""
    slow, pid = tmp_path / "slow-cc", tmp_path / "pid"
    slow.write_text(SLOW.format(cc=" ".join(find_compiler().command), pid=pid))
    slow.chmod(0o755)
    env = {k: v for k, v in os.environ.items() if k != "BELLCRANK_CFLAGS"}
    (tmp_path / "temporary").mkdir()
    env |= {"TMPDIR": str(tmp_path / "temporary")}
    env |= {
        "CC": str(slow),
        "BELLCRANK_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    script = "import bellcrank.simulation.backend.tiers as t; t.SMALL, t.SHORT = -1, 0\n" + SCRIPT
    done = subprocess.run(
        [sys.executable, "-c", script, end, str(pid)],
        env=env,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (done.returncode == 0) == (end != "interrupt"), done.stderr
    assert "Exception in thread" not in done.stderr and "assert" not in done.stderr.lower(), (
        done.stderr
    )
    assert not [*(tmp_path / "cache").glob("build-*")]
    assert not [*(tmp_path / "temporary").iterdir()]
    assert is_gone(int(pid.read_text()))


@pytest.mark.campaign
@pytest.mark.skipif(
    find_compiler() is None or find_compiler().early_flags is None, reason="needs gcc"
)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EXAMPLES)
def test_bits_are_the_same_whichever_library_runs(name, tmp_path, monkeypatch):
    """What gcc does after it has fused products and sums changes no result: all methods, all
    examples."""
    monkeypatch.delenv("BELLCRANK_CFLAGS")
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path))
    monkeypatch.setattr(BackgroundQueue, "submit", lambda self, task: False)
    monkeypatch.setattr(tiers, "SHORT", 0)
    monkeypatch.setattr(tiers, "SMALL", -1)
    equations = bc.System.read(Path(__file__).parents[3] / "examples" / f"{name}.py").equations()
    early, fast = (equations.compile(backend="c", speed=speed) for speed in ("auto", "fast"))
    if libraries(early).speeds != ["early"]:
        pytest.skip("has routines of its own in C")
    given = early.interface.run
    t_end = min(given.t_end or 1.0, 1.0)
    for method in METHODS:
        ran = []
        for sim in (early, fast):
            try:
                run = sim.simulate(
                    method=method, t_end=t_end, step=min(given.step or 0.001, t_end / 100)
                )
            except bc.BellcrankError as error:
                ran.append(str(error))
            else:
                ran.append((rows(run), run.ended))
        assert ran[0] == ran[1], method


@needs_compiler
def test_the_kernel_is_compiled_with_the_flags_of_now(monkeypatch):
    """One that was compiled with other flags, as for an earlier model, may have other bits."""
    compiler = find_compiler()
    monkeypatch.setenv("BELLCRANK_CFLAGS", "-O0")
    first = tiers.kernel_and_address(compiler)
    monkeypatch.setenv("BELLCRANK_CFLAGS", "-O0 -ffp-contract=off")
    assert tiers.kernel_and_address(compiler)[1] != first[1]
    monkeypatch.setenv("BELLCRANK_CFLAGS", "-O0")
    assert tiers.kernel_and_address(compiler) == first
