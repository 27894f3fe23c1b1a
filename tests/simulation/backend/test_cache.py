"""Compiled libraries: verified before they are loaded, kept where nobody else writes, made by
compilers that end."""

import ctypes
import gc
import grp
import hashlib
import os
import pwd
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.files.trusted import folder_access_problem, read_trusted
from bellcrank.simulation.backend import cache as keeping
from bellcrank.simulation.backend import compiler as building
from bellcrank.simulation.backend.cache import cache_folder
from bellcrank.simulation.backend.compiler import find_compiler, load_from_source, shared_library
from bellcrank.simulation.backend.fortran_functions import find_fortran_compiler
from bellcrank.simulation.backend.processes import ProcessTimeout, compile_time_limit, run_program
from tests.models import needs_compiler, pendulum
from tests.processes import ends

SOURCE = "int answer(void) { return 42; }\n"
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("BELLCRANK_CACHE", str(folder))
    return folder


def replaced(path, data):
    path.unlink()  # who has it loaded keeps the file that was there
    path.write_bytes(data)


def cut_short(path):
    replaced(path, path.read_bytes()[: path.stat().st_size // 2])


def foreign(path):
    other = shared_library("int other(void) { return 1; }\n", find_compiler())
    replaced(path, other.read_bytes())


def emptied(path):
    replaced(path, b"")


def lost(path):
    path.unlink()


def no_digest(path):
    (path.parent / "digest").unlink()


def odd_digest(path):
    (path.parent / "digest").write_bytes(b"\xff\xfe")


def one_bit(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    replaced(path, data)


@needs_compiler
@pytest.mark.parametrize(
    "damage", [cut_short, foreign, emptied, lost, no_digest, odd_digest, one_bit]
)
def test_a_library_that_is_not_the_one_put_there_is_made_again(damage, cache):
    """One that was cut short ended the process with SIGBUS, every time; a foreign one in a
    traceback."""
    damage(shared_library(SOURCE, find_compiler()))
    with pytest.warns(bc.ModelWarning, match="not the one that was put there: it is made again"):
        assert load_from_source(SOURCE, find_compiler()).answer() == 42
    assert load_from_source(SOURCE, find_compiler()).answer() == 42


@needs_compiler
def test_a_model_runs_from_a_cache_that_was_damaged(cache):
    expected = pendulum().equations().compile(backend="c").simulate()
    for path in cache.rglob("library*"):
        cut_short(path)
    with pytest.warns(bc.ModelWarning, match="made again"):
        run = pendulum().equations().compile(backend="c").simulate()
    assert np.array_equal(run["q(rod)"], expected["q(rod)"])


@needs_compiler
@posix
@pytest.mark.parametrize(
    ("mode", "why"),
    [
        (0o770, "others can write"),
        (0o707, "others can write"),
        (0o777, "delete it, and it is made afresh"),
    ],
)
def test_a_cache_that_others_can_write_is_not_used(mode, why, cache):
    cache.mkdir()
    cache.chmod(mode)
    with pytest.warns(bc.ModelWarning, match=f"is not used: .*{why}"):
        path = shared_library(SOURCE, find_compiler())
    assert cache not in path.parents and os.listdir(cache) == []
    assert path.parent.parent.stat().st_mode & 0o777 == 0o700
    with pytest.warns(bc.ModelWarning):
        assert shared_library(SOURCE, find_compiler()) == path  # kept as long as the process lives


@needs_compiler
@posix
def test_a_cache_in_a_folder_that_others_can_write_is_not_used(tmp_path, monkeypatch):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path / "open" / "cache"))
    with pytest.warns(bc.ModelWarning, match=r"is not used: others can write to .*open"):
        shared_library(SOURCE, find_compiler())


@needs_compiler
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_a_cache_of_another_user_is_not_used(cache):
    cache.mkdir(mode=0o700)
    os.chown(cache, 1234, 1234)
    with pytest.warns(bc.ModelWarning, match="it belongs to another user"):
        assert cache not in shared_library(SOURCE, find_compiler()).parents


def planted(cache, tmp_path):
    """A library with the name and digest of the one that is asked for, but with another content,
    put there by hand."""
    place, evil = shared_library(SOURCE, find_compiler()), SOURCE.replace("42", "666")
    made = building.compile_source(
        evil, tmp_path, find_compiler(), building.default_flags(find_compiler())
    )
    replaced(place, made.read_bytes())
    (place.parent / "digest").write_text(hashlib.sha256(made.read_bytes()).hexdigest())
    return place


def given_away(place):
    os.chown(place.parent / "digest", 1234, 1234)


def all_given_away(place):
    for path in (place.parent, place, place.parent / "digest"):
        os.chown(path, 1234, 1234)


def opened(place):
    place.chmod(0o722)


def folder_opened(place):
    place.parent.chmod(0o770)


def linked(place):
    moved = place.parent.parent.parent / "elsewhere.so"
    place.rename(moved)
    place.symlink_to(moved)


@needs_compiler
@posix
@pytest.mark.parametrize("change", [given_away, all_given_away, opened, folder_opened, linked])
def test_a_planted_library_is_not_loaded(change, cache, tmp_path):
    """A digest that anybody can compute does not make a library one of ours; its owner and modes
    do."""
    if "given" in change.__name__ and os.geteuid() != 0:
        pytest.skip("only root gives files away")
    change(planted(cache, tmp_path))
    with pytest.warns(bc.ModelWarning, match="not the one that was put there: it is made again"):
        assert load_from_source(SOURCE, find_compiler()).answer() == 42
    assert load_from_source(SOURCE, find_compiler()).answer() == 42


@posix
def test_folders_above_that_others_can_exchange(tmp_path):
    inner = tmp_path / "above" / "cache"
    inner.mkdir(parents=True, mode=0o700)
    assert folder_access_problem(inner) == ""
    inner.parent.chmod(0o777)
    assert "others can write to" in folder_access_problem(inner)
    inner.parent.chmod(0o1777)  # as the folder of temporary files: who owns a name there keeps it
    assert folder_access_problem(inner) == ""
    inner.parent.chmod(0o770)
    group = grp.getgrgid(inner.parent.stat().st_gid)
    alone = group.gr_name == pwd.getpwuid(os.geteuid()).pw_name and not group.gr_mem
    assert (folder_access_problem(inner) == "") == alone
    if os.geteuid() == 0:
        inner.parent.chmod(0o700)
        os.chown(inner.parent, 1234, -1)
        assert "above it belongs to another user" in folder_access_problem(inner)


@posix
def test_what_is_read_must_be_a_file_of_ours(tmp_path):
    path = tmp_path / "kept"
    assert read_trusted(path) is None
    path.write_bytes(b"x")
    path.chmod(0o600)
    assert read_trusted(path) == b"x"
    path.chmod(0o620)
    assert read_trusted(path) is None
    os.mkfifo(tmp_path / "pipe", 0o600)
    assert read_trusted(tmp_path / "pipe") is None  # without waiting for somebody who writes
    assert read_trusted(tmp_path) is None


@needs_compiler
@posix
def test_a_library_that_cannot_be_loaded_is_made_again(cache):
    """With the right digest: the compiler, or the disk, had written something else."""
    place = shared_library(SOURCE, find_compiler())
    replaced(place, b"no library")
    place.chmod(0o700)
    (place.parent / "digest").write_text(hashlib.sha256(b"no library").hexdigest())
    with pytest.warns(bc.ModelWarning, match="cannot be loaded: .*; it is removed and made again"):
        assert load_from_source(SOURCE, find_compiler()).answer() == 42
    assert load_from_source(SOURCE, find_compiler()).answer() == 42


@needs_compiler
@posix
def test_a_compiler_that_writes_garbage_leaves_none_in_the_cache(cache, tmp_path, monkeypatch):
    text = (
        '[ "$1" = --version ] && echo "garbage cc 1.0" && exit 0\nfor x; do [ "$l" = -o ] && '
        "echo no > $x; l=$x; done"
    )
    monkeypatch.setenv("CC", str(script(tmp_path / "garbage", text)))
    with pytest.warns(bc.ModelWarning, match=r"runs in (Python|WebAssembly).* cannot be loaded"):
        assert pendulum().equations().compile(backend="c").backend in ("python", "wasm")
    assert not [name for name in os.listdir(cache) if not name.startswith("kernel-")]


@needs_compiler
@posix
def test_a_user_without_home(tmp_path, monkeypatch):
    """A folder named ~ appeared in the working directory."""
    monkeypatch.chdir(tmp_path)
    for name in ("BELLCRANK_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.warns(bc.ModelWarning, match="is not used: there is no home folder"):
        assert load_from_source(SOURCE, find_compiler()).answer() == 42
    assert os.listdir(tmp_path) == []


def test_a_relative_folder_in_the_environment(monkeypatch, tmp_path):
    """A relative XDG_CACHE_HOME made compiling fail, with a warning that misled; its specification
    has it ignored."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BELLCRANK_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "some/where")
    with pytest.warns(
        bc.ModelWarning,
        match="XDG_CACHE_HOME='some/where' is not used: it must be an absolute path",
    ):
        assert cache_folder() == Path.home() / ".cache" / "bellcrank"
    monkeypatch.setenv("BELLCRANK_CACHE", "here")
    assert cache_folder() == tmp_path / "here"
    if find_compiler():
        assert load_from_source(SOURCE, find_compiler()).answer() == 42


# ---- compilers


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@posix
@needs_compiler
def test_a_compiler_that_hangs_is_stopped_with_what_it_started(tmp_path, monkeypatch, cache):
    hangs = script(
        tmp_path / "hangs",
        f'[ "$1" = --version ] && echo "hanging cc 1.0" && exit 0\nsleep 1000 & echo $! > '
        f"{tmp_path}/pid; wait",
    )
    monkeypatch.setenv("CC", str(hangs))
    monkeypatch.setenv("BELLCRANK_COMPILE_SECONDS", "0.5")
    with pytest.warns(
        bc.ModelWarning,
        match=r"runs in (Python|WebAssembly).*was stopped after 0.5 s \(BELLCRANK_COMPILE_SECONDS",
    ):
        sim = pendulum().equations().compile(backend="c")
    assert sim.backend in ("python", "wasm")
    ends(int((tmp_path / "pid").read_text()))
    assert not [name for name in os.listdir(cache) if not name.startswith("kernel-")]


@pytest.mark.parametrize(
    ("given", "limit"), [("", 3600.0), ("0", None), ("2.5", 2.5), (" 7 ", 7.0)]
)
def test_time_limit(given, limit, monkeypatch):
    monkeypatch.setenv("BELLCRANK_COMPILE_SECONDS", given)
    assert compile_time_limit() == limit


@pytest.mark.parametrize("given", ["soon", "-1", "nan"])
def test_time_limit_that_is_none(given, monkeypatch):
    monkeypatch.setenv("BELLCRANK_COMPILE_SECONDS", given)
    with pytest.raises(
        bc.BuildError, match=r"BELLCRANK_COMPILE_SECONDS=.* must be a number of seconds"
    ):
        compile_time_limit()


@posix
def test_a_helper_that_is_left_running_is_not_waited_for(tmp_path):
    """A compiler's server may keep what it was given to write to."""
    began = time.perf_counter()
    left = script(tmp_path / "left", f"sleep 20 & echo $! > {tmp_path}/pid; echo made")
    assert run_program([str(left)], 10).output == "made\n"
    assert time.perf_counter() - began < 8
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    with pytest.raises(ProcessTimeout):
        run_program(["sleep", "20"], 0.05)


@needs_compiler
@pytest.mark.parametrize("named", ["no-such-compiler -m64", '"', "'cc", "/dev/null"])
def test_cc_that_cannot_be_used_is_said(named, monkeypatch):
    """It was replaced without a word; an unclosed quotation mark ended in a traceback."""
    building._find_compiler_named.cache_clear()
    monkeypatch.setenv("CC", named)
    with pytest.warns(bc.ModelWarning, match=r"compiler .* \(from CC\): .*; using "):
        found = find_compiler()
    assert found is not None and "no-such" not in found.command[0]


@pytest.mark.skipif(find_fortran_compiler() is None, reason="there is no Fortran compiler")
def test_fc_that_cannot_be_used_is_said(monkeypatch):
    building._find_compiler_named.cache_clear()
    monkeypatch.setenv("FC", "'")
    with pytest.warns(
        bc.ModelWarning, match=r"\(from FC\): it cannot be read \(No closing quotation\); using "
    ):
        assert find_fortran_compiler() is not None


@needs_compiler
def test_flags_that_cannot_be_read(monkeypatch):
    monkeypatch.setenv("BELLCRANK_CFLAGS", '-O1 "')
    with pytest.warns(
        bc.ModelWarning, match=r"runs in (Python|WebAssembly).*BELLCRANK_CFLAGS=.* cannot be read"
    ):
        assert pendulum().equations().compile(backend="c").backend in ("python", "wasm")


# ---- what is left behind


@needs_compiler
@posix
def test_what_a_killed_build_left_is_removed(cache):
    first = shared_library(SOURCE, find_compiler())
    old, young, busy = (cache / f"build-{name}" for name in ("old", "young", "busy"))
    for folder in (old, young, busy):
        folder.mkdir()
        (folder / "model.c").write_text("half")
    for folder in (old, busy):
        os.utime(folder, (time.time() - 1000,) * 2)
    held = keeping._lock_folder(busy)
    shared_library(SOURCE + "\n", find_compiler())
    os.close(held)
    assert sorted(p.name for p in cache.glob("build-*")) == ["build-busy", "build-young"]
    assert first.exists()


def damaged_and_built(_):
    path = Path(os.environ["BELLCRANK_CACHE"])
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = load_from_source(SOURCE, find_compiler()).answer()
    return found, sorted(p.name[:6] for p in path.iterdir() if p.name.startswith("build-"))


@needs_compiler
def test_processes_that_mend_the_same_library_at_once(cache):
    cut_short(shared_library(SOURCE, find_compiler()))
    with ProcessPoolExecutor(2) as pool:
        assert {found for found, _ in pool.map(damaged_and_built, range(6))} == {42}
    assert len(list(cache.iterdir())) == 1


@needs_compiler
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
def test_libraries_are_unloaded_when_nothing_uses_them(cache):
    def loaded():
        return str(cache) in Path("/proc/self/maps").read_text()

    sim = pendulum().equations().compile(backend="c")
    run, derivatives = sim.simulate(), sim.loaded.model.new_calls().derivatives
    assert loaded()
    del sim
    gc.collect()
    assert loaded()  # a function of it is still known
    del derivatives, run
    gc.collect()
    assert not loaded()


def test_ctypes_keeps_a_library_as_long_as_its_functions():
    """What unloading relies on."""
    function = ctypes.CDLL(None).abs
    gc.collect()
    assert (
        any(isinstance(x, ctypes.CDLL) for x in gc.get_referents(function._objects))
        or function._objects
    )


@pytest.mark.campaign
@needs_compiler
@posix
def test_the_command_with_an_odd_environment(tmp_path):
    """No traceback, whatever the environment holds."""
    env = {
        **os.environ,
        "CC": '"',
        "BELLCRANK_CFLAGS": "'",
        "XDG_CACHE_HOME": "r",
        "BELLCRANK_COMPILE_SECONDS": "x",
    }
    env.pop("BELLCRANK_CACHE", None)
    model = Path(__file__).parents[3] / "examples" / "cart.py"
    done = subprocess.run(
        [sys.executable, "-m", "bellcrank", "run", str(model), "--t-end", "0.1"],
        env={**env, "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert "(from CC): it cannot be read" in done.stderr and "BELLCRANK_CFLAGS" in done.stderr
