"""A long source compiled in two halves at once: the same library, and mistakes of both are
reported."""

import shutil
from runpy import run_path

import numpy as np
import pytest

from bellcrank.codegen.c import split_source
from bellcrank.core.errors import BuildError
from bellcrank.simulation.backend import compiler
from bellcrank.simulation.backend.compiler import compile_source, default_flags, find_compiler
from tests.helpers import EXAMPLES

pytestmark = pytest.mark.skipif(
    find_compiler() is None or shutil.which("sh") is None, reason="needs compiler and shell"
)


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Short functions count as long, and there are processors enough."""
    monkeypatch.setattr(split_source, "MIN_SPLIT_LENGTH", 0)
    monkeypatch.setattr(compiler, "_can_compile_in_parallel", lambda: True)
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path / "cache"))


@pytest.mark.campaign
def test_halves_make_the_same_run(small, monkeypatch, tmp_path):
    equations = run_path(str(EXAMPLES / "quarter_car.py"))["model"]().equations()
    commands = []
    run_program = compiler.run_program
    monkeypatch.setattr(
        compiler, "run_program", lambda c, *a: commands.append(c) or run_program(c, *a)
    )
    apart = equations.compile(backend="c", speed="fast")
    assert any(
        "half_1.o" in word and "half_2.o" in word for command in commands for word in command
    )
    monkeypatch.setattr(compiler, "_can_compile_in_parallel", lambda: False)
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path / "other"))
    whole = equations.compile(backend="c", speed="fast")
    assert "-shared" in commands[-1]
    runs = [sim.simulate(t_end=1.0, step=0.01) for sim in (apart, whole)]
    assert all(np.array_equal(runs[0][name], runs[1][name]) for name in runs[0])


@pytest.mark.parametrize("half", [1, 2])
def test_a_mistake_in_one_half_is_told(small, tmp_path, half):
    text = "\n".join(
        (
            split_source.first_half(["int one(void) { return 1; }"]),
            split_source.second_half(
                "two", "#define EXPORT\nEXPORT void two(int *x)\n{\n    *x = 2;\n}"
            ),
            f"#if {split_source.HALF} == {half}",
            "int wrong = missing;",
            "#endif",
            "",
        )
    )
    cc = find_compiler()
    assert cc is not None
    with pytest.raises(BuildError, match="missing"):
        compile_source(text, tmp_path, cc, default_flags(cc), exactly=True)
