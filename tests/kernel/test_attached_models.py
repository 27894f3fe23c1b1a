"""Models that are attached to the kernel take no more of its memory than there is: examples under a
sanitizer."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPT = """
import sys, warnings
warnings.simplefilter("ignore")
import bellcrank as bc
sim = bc.System.read(sys.argv[1]).equations().compile(backend="c", speed="quick")
assert sim.backend == "c", sim.notes
u = next(name for name in sim.stepper().state if name.startswith("u("))
events = [bc.event("sin(600*t)", action={u: f"0.999*{u}"}), bc.event(f"{u} - 1e9", stop=True)]
for method in ("rk4", "ab2", "euler", "tsit5", "dop853", "radau5", "rodas5p", "auto"):
    sim.simulate(t_end=0.02, method=method)
    assert sim.simulate(t_end=0.02, method=method, events=events).events
for dae in ("dlmm", "half-explicit", "stabilised") if sim.loaded.program.loops is not None else ():
    sim.simulate(t_end=0.02, dae=dae)
    assert sim.simulate(t_end=0.02, dae=dae, events=events).events
print("all ran")
"""
RIGID = """
import sys, warnings
warnings.simplefilter("ignore")
from tests.codegen.test_rigid_and_dae_programs import tandem
for low in (0.0, 0.25):
    sim = tandem(low, int(sys.argv[1])).equations().compile(backend="c", speed="quick")
    assert sim.backend == "c", sim.notes
    for method in ("rk2", "rk4", "heun", "rk3"):
        what = {e.name.split()[-1] for e in sim.simulate(t_end=1.2, method=method).events}
        assert {"impact", "lifted"} <= what, what
    sim.stepper().step(100)
print("all ran")
"""


@pytest.mark.campaign
@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
@pytest.mark.parametrize("name", ["quarter_car", "change_point_four_bar", "sarrus_linkage"])
def test_nothing_beyond_the_memory_of_the_kernel(name, tmp_path):
    _run_with_sanitizer(SCRIPT, str(EXAMPLES / f"{name}.py"), tmp_path)


@pytest.mark.campaign
@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
@pytest.mark.parametrize("wheels", [1, 4])
def test_nor_do_rigid_wheels_take_more(wheels, tmp_path):
    _run_with_sanitizer(RIGID, str(wheels), tmp_path)


def _run_with_sanitizer(script, argument, tmp_path):
    found = subprocess.run(
        ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    )
    flags = "-O1 -g -fsanitize=address -fno-omit-frame-pointer -ffp-contract=off"
    env = os.environ | {
        "LD_PRELOAD": found.stdout.strip(),
        "ASAN_OPTIONS": "detect_leaks=0",
        "CC": "gcc",
    }
    env |= {
        "BELLCRANK_CFLAGS": flags,
        "BELLCRANK_CACHE": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, "-c", script, argument]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0 and "all ran" in done.stdout, done.stderr[-3000:]
