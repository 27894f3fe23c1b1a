"""A method added in Python, as docs/architecture.md says: the tables of the kernel and its modules
in WebAssembly are then stale, which no run may pass over."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bellcrank
from bellcrank.codegen.wasm import kernel_module, make_kernel
from bellcrank.core.errors import BellcrankError
from tests.models import needs_compiler

TABLES = "python -m bellcrank.codegen.c.kernel_tables"
ADDED = """
THREE_EIGHTHS = FixedStepMethod(
    "rk38",
    "Kutta's 3/8 rule",
    4,
    (
        Stage(1 / 3, StageSum((1,), 3)),
        Stage(2 / 3, StageSum((-1, 3), 3)),
        Stage(1.0, StageSum((1, -1, 1))),
    ),
    StageSum((1, 3, 3, 1), 8),
)
METHODS = {"rk2": METHODS["rk2"], "rk38": THREE_EIGHTHS, **METHODS}  # others get other numbers
"""
MEASURE = """
import math, sys
import bellcrank as bc

s = bc.System("oscillator")
body = s.add_body("body", translate=1, mass=1, inertia=0)
s.add_force("spring", magnitude="-q(body)", direction="[n1]", at=body.origin)
for backend in sys.argv[1:]:
    sim = s.equations().compile(backend=backend)
    for method, order in {"rk4": 4, "rk38": 4, "rk3": 3, "tsit5": 5}.items():
        def error(h):
            options = {"rtol": h**5} if method == "tsit5" else {"step": h}
            run = sim.simulate(2, method=method, initial={"q(body)": 1}, **options)
            return abs(run["q(body)"][-1] - math.cos(2))
        assert method == "tsit5" or abs(math.log2(error(0.1)/error(0.05)) - order) < 0.15
        assert error(0.05) < 1e-4
"""


@pytest.fixture(scope="module")
def run_changed(tmp_path_factory):
    """Runs Python with a copy of the package that has one more method."""
    folder = tmp_path_factory.mktemp("changed")
    copy = folder / "bellcrank"
    shutil.copytree(
        Path(bellcrank.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__")
    )
    methods = copy / "core" / "numeric" / "fixed_step_methods.py"
    text = methods.read_text(encoding="utf-8")
    before, separator, after = text.partition("SCIPY =")
    assert separator
    methods.write_text(before + ADDED + separator + after, encoding="utf-8")

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *arguments],
            env={**os.environ, "PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
        )

    return run


@needs_compiler
def test_a_new_method_runs_as_itself_or_not_at_all(run_changed):
    for backend in ("c", "auto"):
        stale = run_changed("-c", MEASURE, backend).stderr
        assert "methods.h" in stale and f"run {TABLES}" in stale
    assert run_changed(*TABLES.split()[1:]).returncode == 0
    made = run_changed("-c", MEASURE, "c")
    assert made.returncode == 0, made.stderr
    pytest.importorskip("wasmtime")
    stale = run_changed("-c", MEASURE, "wasm").stderr
    assert f"kernel.wasm is older than the source of the kernel: run {kernel_module.COMMAND}" in (
        stale
    )


@pytest.mark.campaign
@pytest.mark.skipif(
    bool(make_kernel.missing_tools()), reason="needs clang 14, lld 14 and wasi-libc"
)
def test_a_new_method_runs_as_itself_in_webassembly(run_changed):
    pytest.importorskip("wasmtime")
    for command in (TABLES, kernel_module.COMMAND):
        assert run_changed(*command.split()[1:]).returncode == 0
    made = run_changed("-c", MEASURE, "wasm")
    assert made.returncode == 0, made.stderr


@pytest.mark.parametrize("name", [name.removesuffix(".wasm") for name in make_kernel.KERNELS])
def test_a_module_of_another_text_is_refused(monkeypatch, name):
    monkeypatch.setattr(kernel_module, "source_digest", lambda: "of another text")
    kernel_module.kernel_module.cache_clear()
    with pytest.raises(BellcrankError, match=rf"{name}\.wasm is older .*make_kernel"):
        kernel_module.kernel_module(name)
