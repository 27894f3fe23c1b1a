"""Finding a compiler, the cache, and what happens when something is missing."""

import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import bellcrank as bc
from bellcrank.simulation.backend import compiler as building
from bellcrank.simulation.backend.cache import cache_folder
from bellcrank.simulation.backend.compiler import (
    compile_source,
    find_compiler,
    load_from_source,
    shared_library,
)
from bellcrank.simulation.backend.tiers import compile_kernel
from tests.models import needs_compiler, pendulum

SOURCE = "int answer(void) { return 42; }\n"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("BELLCRANK_CACHE", str(folder))
    return folder


@pytest.fixture
def no_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(building, "find_spec", lambda name: None)
    building._find_compiler_named.cache_clear()
    yield
    building._find_compiler_named.cache_clear()


def test_cache_folder(monkeypatch):
    monkeypatch.setenv("BELLCRANK_CACHE", "/a/b")
    assert cache_folder() == Path("/a/b")
    monkeypatch.delenv("BELLCRANK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/c")
    assert cache_folder() == Path("/c/bellcrank")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "bellcrank"


@needs_compiler
def test_library_is_made_once(cache):
    first = shared_library(SOURCE, find_compiler())
    made = first.stat().st_mtime_ns
    assert shared_library(SOURCE, find_compiler()) == first
    assert first.stat().st_mtime_ns == made
    assert load_from_source(SOURCE, find_compiler()).answer() == 42
    assert list(cache.iterdir()) == [first.parent]  # nothing else is left behind


@needs_compiler
def test_other_source_flags_or_compiler_make_another_library(cache):
    c = find_compiler()
    paths = {
        shared_library(SOURCE, c),
        shared_library(SOURCE + "\n", c),
        shared_library(SOURCE, c, ("-O2",)),
        shared_library(SOURCE, building.Compiler(c.command, c.version + "x")),
    }
    assert len(paths) == 4


def build_one(_):
    return str(shared_library(SOURCE, find_compiler()))


@needs_compiler
def test_parallel_builds(cache):
    with ProcessPoolExecutor(2) as pool:
        paths = set(pool.map(build_one, range(8)))
    assert len(paths) == 1
    assert [str(p / "library.so") for p in cache.iterdir()] == list(paths)


@needs_compiler
def test_cache_that_cannot_be_written_is_replaced_by_a_temporary_one(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(
        "BELLCRANK_CACHE", str(tmp_path / "file" / "cache")
    )  # a folder cannot be made in a file
    with pytest.warns(bc.ModelWarning, match="cache folder .* is not used: it cannot be written"):
        path = shared_library(SOURCE, find_compiler())
    assert path.exists() and tmp_path not in path.parents


@needs_compiler
def test_failure_shows_the_message_of_the_compiler(tmp_path):
    with pytest.raises(bc.BuildError, match=r"(?s)could not compile.*nonsense"):
        compile_source("int f(void) { return nonsense; }\n", tmp_path, find_compiler())


@needs_compiler
def test_flag_for_this_processor_is_left_out_where_it_is_not_known(tmp_path):
    script = tmp_path / "old_cc"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *march*) echo "unknown -march" >&2; exit 1;; esac\nexec '
        f'{find_compiler().command[0]} "$@"\n'
    )
    script.chmod(0o755)
    assert compile_source(SOURCE, tmp_path, building.Compiler((str(script),), "old")).exists()


@needs_compiler
def test_flags_of_gcc_are_left_out_where_they_are_not_known(tmp_path):
    script = tmp_path / "other_cc"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *rename*) echo "unknown" >&2; exit 1;; esac\nexec '
        f'{find_compiler().command[0]} "$@"\n'
    )
    script.chmod(0o755)
    compiler = building.Compiler((str(script),), "cc 1.0, Free Software Foundation")
    assert "-frename-registers" in compiler.fast_flags
    assert compile_source(SOURCE, tmp_path, compiler, compiler.fast_flags).exists()


def test_gcc_on_x86_spills_to_memory_but_not_where_runs_are_side_by_side(monkeypatch):
    gcc = building.Compiler(
        ("gcc",), "gcc 13.3.0\nCopyright (C) 2023 Free Software Foundation, Inc."
    )
    monkeypatch.delenv("BELLCRANK_CFLAGS", raising=False)
    monkeypatch.setattr(building.platform, "machine", lambda: "x86_64")
    assert set(building.GCC_X86) <= set(gcc.fast_flags)
    assert not set(building.GCC_X86) & {*building.lanes_flags(gcc, 100_000), *gcc.quick_flags}
    monkeypatch.setattr(building.platform, "machine", lambda: "aarch64")
    assert not set(building.GCC_X86) & set(gcc.fast_flags)
    assert set(building.GCC_LANES) <= set(building.lanes_flags(gcc, 100_000))


@pytest.mark.parametrize(
    ("machine", "flag"), [("aarch64", "-mcpu=native"), ("x86_64", "-march=native")]
)
def test_clang_is_told_the_processor_as_it_asks_for(machine, flag, monkeypatch):
    monkeypatch.setattr(building.platform, "machine", lambda: machine)
    fast = building.Compiler(("clang",), "Debian clang version 14.0.6").fast_flags
    assert flag in fast and not {*building.GCC}.intersection(fast)


def test_without_a_compiler_the_model_runs_in_python(no_compiler, monkeypatch):
    assert find_compiler() is None
    monkeypatch.setattr("bellcrank.simulation.backend.wasm.find_spec", lambda name: None)
    eom = pendulum().equations()
    sim = eom.compile()
    assert sim.backend == "python"
    assert sim.notes == [
        "runs in Python: there is no C compiler (looked for CC, cc, gcc, clang and the "
        "Python package ziglang); "
        "WebAssembly needs wasmtime (pip install wasmtime)"
    ]
    assert sim.simulate().ended == "finished"
    with pytest.warns(
        bc.ModelWarning, match=r"pendulum runs in (Python|WebAssembly).*no C compiler"
    ):
        assert eom.compile(backend="c").backend == "python"


@needs_compiler
def test_broken_compiler_falls_back_with_its_message(tmp_path, monkeypatch, cache):
    script = tmp_path / "cc"
    script.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo "broken cc 1.0" && exit 0\necho "out of '
        'luck" >&2\nexit 1\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    with pytest.warns(bc.ModelWarning, match=r"(?s)runs in (Python|WebAssembly).*out of luck"):
        sim = pendulum().equations().compile()
    assert sim.backend in ("python", "wasm")


@needs_compiler
def test_backend_is_told():
    sim = pendulum().equations().compile()
    assert sim.backend == "c"
    assert sim.notes[0].startswith("compiled by ")
    with pytest.raises(bc.ModelError, match=r"backend='fortran'.*'auto', 'c', 'wasm', 'python'"):
        pendulum().equations().compile(backend="fortran")


@needs_compiler
def test_written_source_compiles_alone(tmp_path):
    path = pendulum().equations().export("c", tmp_path / "new")
    assert path == tmp_path / "new" / "model.c"
    command = [*find_compiler().command, "-std=c99", "-Wall", "-Wextra", "-Werror", "-c", path.name]
    subprocess.run(command, cwd=path.parent, check=True)
    with pytest.raises(bc.ModelError, match="'cobol' is not known"):
        pendulum().equations().export("cobol", tmp_path)


def test_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(bc.BuildError, match="cannot write"):
        pendulum().equations().export("c", tmp_path / "file" / "inside")


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0 or not Path("/dev/full").exists(),
    reason="needs /dev/full",
)
def test_disk_full(tmp_path):
    (tmp_path / "model.c").symlink_to("/dev/full")
    with pytest.raises(bc.BuildError, match=r"cannot write .*No space left"):
        pendulum().equations().export("c", tmp_path)


@pytest.mark.campaign
@needs_compiler
def test_quick_programs_are_the_same_to_rounding(monkeypatch, tmp_path):
    monkeypatch.delenv("BELLCRANK_CFLAGS")
    levels = []
    compile_it = building.compile_source
    monkeypatch.setattr(
        building, "compile_source", lambda *a: levels.append(a[3][0]) or compile_it(*a)
    )
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path))
    compile_kernel.cache_clear()
    equations = pendulum().equations()
    fast, quick = (equations.compile(backend="c", speed=speed) for speed in ("fast", "quick"))
    assert levels == [
        "-O3",
        "-O1",
        "-O1",
    ]  # one text with the kernel; the model, and the kernel that it is attached to
    a, b = fast.simulate(), quick.simulate()
    assert all(abs(a[x] - b[x]).max() < 1e-13 for x in a)


def test_speed_that_is_not_known():
    with pytest.raises(
        bc.ModelError, match="speed='slow' is not known; it is one of 'auto', 'fast', 'quick'"
    ):
        pendulum().equations().compile(backend="python", speed="slow")
