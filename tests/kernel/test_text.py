"""Files of the kernel put together for a model, and the tables in it that follow from those in
Python."""

import subprocess
import sys

import pytest

from bellcrank.codegen.c.kernel_tables import kernel_tables
from bellcrank.kernel import text
from bellcrank.kernel.text import Kernel, kernel_file


@pytest.mark.parametrize("name", kernel_tables())
def test_tables_are_those_of_python(name):
    """Otherwise: python -m bellcrank.codegen.c.kernel_tables."""
    assert kernel_file(f"tables/{name}") == kernel_tables()[name]


def test_the_documented_command_writes_them(tmp_path):
    command = [sys.executable, "-m", "bellcrank.codegen.c.kernel_tables", str(tmp_path)]
    subprocess.run(command, check=True)
    assert {p.name: p.read_text(encoding="utf-8") for p in tmp_path.iterdir()} == kernel_tables()


FILES = {
    "unity.h": "#define LINKED 0\n",
    "a.c": '#include <math.h>\n#include "b.c"\n#if HAS_X\n#include "c.c"\nx\n#else\nno '
    'x\n#endif\n#include "b.c"\nend\n',
    "b.c": "b\n#ifdef __AVX__\navx\n#if HAS_X\nboth\n#endif\n#else\nplain\n#endif\n",
    "c.c": "#if !HAS_X\nnever\n#elif HAS_Y\ny\n#else\nneither\n#endif\n#if OTHER\nother\n#endif\n",
}


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (0, 0, "#include <math.h>\nb\n#ifdef __AVX__\navx\n#else\nplain\n#endif\nno x\nend\n"),
        (
            1,
            1,
            "#include <math.h>\nb\n#ifdef __AVX__\navx\nboth\n#else\nplain\n#endif\ny\n#if "
            "OTHER\nother\n#endif\nx\nend\n",
        ),
        (
            2,
            0,
            "#include <math.h>\nb\n#ifdef "
            "__AVX__\navx\nboth\n#else\nplain\n#endif\nneither\n#if OTHER\nother\n#endif\nx\nend\n",
        ),
    ],
)
def test_files_are_taken_once_and_parts_that_are_there(monkeypatch, x, y, expected):
    monkeypatch.setattr(text, "kernel_file", FILES.__getitem__)
    kernel = Kernel({"HAS_X": x, "HAS_Y": y})
    assert kernel.take("a.c") == expected
    assert kernel.take("b.c", "a.c") == ""
