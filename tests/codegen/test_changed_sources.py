"""A method and a function added in Python, as docs/architecture.md says: the tables of the kernel
and its modules in WebAssembly are then stale, which no run may pass over."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import bellcrank
from bellcrank.codegen.wasm import kernel_module, make_kernel
from bellcrank.core.errors import BellcrankError
from bellcrank.symbolic.expr.function_table import FUNCTIONS, FunctionTranslation
from tests.models import needs_compiler
from tests.node import needs_node

TABLES = "python -m bellcrank.codegen.c.kernel_tables"
METHOD = """
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
FUNCTION = """
    MathFunction(name="erf", value=math.erf, slopes=("2/sqrt(pi)*exp(-x**2)",), odd=True),
"""
UNKNOWN = {"javascript": FunctionTranslation("thanh")}
CHANGES = {
    "core/numeric/fixed_step_methods.py": ("SCIPY =", METHOD),
    "symbolic/expr/function_table.py": ("    # size, sign, choice\n", FUNCTION),
}
MEASURE = """
import math, sys
import bellcrank as bc

s = bc.System("oscillator")
body = s.add_body("body", translate=1, mass=1, inertia=0)
s.add_force("spring", magnitude="-q(body)", direction="[n1]", at=body.origin)
s.add_output("e", "erf(q(body))")
for backend in sys.argv[1:]:
    sim = s.equations().compile(backend=backend)
    for method, order in {"rk4": 4, "rk38": 4, "rk3": 3, "tsit5": 5}.items():
        def error(h):
            options = {"rtol": h**5} if method == "tsit5" else {"step": h}
            run = sim.simulate(2, method=method, initial={"q(body)": 1}, **options)
            assert abs(run["e"][-1] - math.erf(run["q(body)"][-1])) < 1e-14
            return abs(run["q(body)"][-1] - math.cos(2))
        assert method == "tsit5" or abs(math.log2(error(0.1)/error(0.05)) - order) < 0.15
        assert error(0.05) < 1e-4
"""
LAW = """
import math, sys
import bellcrank as bc

s = bc.System("m")
body = s.add_body("b", translate=1, mass=1, inertia=0)
s.add_force("spring", magnitude="-2*erf(x)", direction="[n1]", at=body.origin)
s.add_event("stop", "erf(q(b)) - 2", stop=True)
s.set_run(t_end=0.5, step=0.01, method="rk4", initial={"q(b)": 1})
eom = s.equations()
"""
PAGE = """
from tests.node import page_runs
(rows,) = page_runs(eom.export("page"), (0.5, 0.01, 1, {}))
assert "error" not in rows, rows
run = eom.compile(backend="c").simulate()
assert abs(rows["q(b)"][-1] - run["q(b)"][-1]) < 1e-12
"""


@pytest.fixture(scope="module")
def run_changed(tmp_path_factory):
    """Runs Python with a copy of the package that has one more method and one more function."""
    folder = tmp_path_factory.mktemp("changed")
    copy = folder / "bellcrank"
    shutil.copytree(
        Path(bellcrank.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__")
    )
    for name, (marker, added) in CHANGES.items():
        before, separator, after = (copy / name).read_text(encoding="utf-8").partition(marker)
        assert separator
        (copy / name).write_text(before + added + separator + after, encoding="utf-8")
    repository = Path(__file__).parents[2]

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *arguments],
            env={**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), str(repository)))},
            cwd=folder,
            capture_output=True,
            text=True,
        )

    return run


@needs_compiler
def test_what_is_new_runs_as_itself_or_not_at_all(run_changed):
    for backend in ("c", "auto"):
        stale = run_changed("-c", MEASURE, backend).stderr
        assert {"methods.h", "formulas.c"} <= {*re.findall(r"\w+\.\w+", stale)}
        assert f"run {TABLES}" in stale
    assert run_changed(*TABLES.split()[1:]).returncode == 0
    made = run_changed("-c", MEASURE, "c")
    assert made.returncode == 0, made.stderr
    exported = run_changed("-c", LAW + "for x in ('c', 'fortran', 'python'): eom.export(x, x)")
    assert exported.returncode == 0, exported.stderr
    pages = run_changed("-c", LAW + "eom.export('page')").stderr
    assert f".wasm is older than the source of the kernel: run {kernel_module.COMMAND}" in pages
    pytest.importorskip("wasmtime")
    assert f"run {kernel_module.COMMAND}" in run_changed("-c", MEASURE, "wasm").stderr


@needs_node
@needs_compiler
@pytest.mark.campaign
@pytest.mark.skipif(
    bool(make_kernel.missing_tools()), reason="needs clang 14, lld 14 and wasi-libc"
)
def test_what_is_new_runs_in_webassembly_and_in_pages(run_changed):
    pytest.importorskip("wasmtime")
    for command in (TABLES, kernel_module.COMMAND):
        assert run_changed(*command.split()[1:]).returncode == 0
    for made in (run_changed("-c", MEASURE, "wasm"), run_changed("-c", LAW + PAGE)):
        assert made.returncode == 0, made.stderr


@pytest.mark.parametrize("name", [name.removesuffix(".wasm") for name in make_kernel.KERNELS])
def test_a_module_of_another_text_is_refused(monkeypatch, name):
    monkeypatch.setattr(kernel_module, "source_digest", lambda: "of another text")
    kernel_module.kernel_module.cache_clear()
    with pytest.raises(BellcrankError, match=rf"{name}\.wasm is older .*make_kernel"):
        kernel_module.kernel_module(name)


def test_a_function_that_a_module_lacks_is_named(monkeypatch):
    pytest.importorskip("wasmtime")
    s = bellcrank.System("oscillator")
    body = s.add_body("body", translate=1, mass=1, inertia=0)
    s.add_force("spring", magnitude="-tanh(q(body))", direction="[n1]", at=body.origin)
    renamed = {**FUNCTIONS, "tanh": replace(FUNCTIONS["tanh"], code=UNKNOWN)}
    monkeypatch.setattr("bellcrank.codegen.wasm.printer.FUNCTIONS", renamed)
    with pytest.raises(BellcrankError, match=r"kernel\.wasm has no function thanh: .*make_kernel"):
        s.equations().compile(backend="wasm")
