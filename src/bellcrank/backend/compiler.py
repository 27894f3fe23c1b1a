"""The C compiler of the machine, and compiled libraries kept by content.

In:  C source. Out: a loaded shared library. A library is named by a digest of source, flags, compiler and processor,
made under another name and then renamed, so that any number of processes may build the same model at the same time.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from bellcrank.errors import BuildError, warn

FAST = ("-O3", "-march=native", "-ffp-contract=fast")
GCC = ("-frename-registers", "--param=sched-pressure-algorithm=1")  # fewer copies; our order of statements is kept
NATIVE = ("-march=native", "-mcpu=native")
ALWAYS = ("-std=c99", "-fno-math-errno", "-fPIC", "-shared")
FORTRAN = ("-std=f2008", "-fPIC", "-shared")
LINUX = ("-fno-semantic-interposition", "-Wl,-Bsymbolic")
NO_COMPILER = "there is no C compiler (looked for CC, cc, gcc, clang and the Python package ziglang)"
_SHOWN = 30  # lines of a compiler's message


@dataclass(frozen=True)
class Compiler:
    """How the compiler is called, and what it says it is."""

    command: tuple[str, ...]
    version: str

    @property
    def name(self) -> str:
        return self.version.splitlines()[0] if self.version else " ".join(self.command)

    @property
    def fast(self) -> tuple[str, ...]:
        """The flags that make the fastest code."""
        if "Free Software Foundation" in self.version:
            return (*FAST, *GCC)
        if "clang" in self.version and platform.machine().lower() in ("aarch64", "arm64"):
            return tuple("-mcpu=native" if f == "-march=native" else f for f in FAST)
        return FAST


def find_compiler() -> Compiler | None:
    """The compiler named by CC, else cc, gcc, clang, else the ziglang package, else None."""
    return _find(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@lru_cache(maxsize=16)
def _find(named: str, path: str) -> Compiler | None:
    for command in (shlex.split(named), ["cc"], ["gcc"], ["clang"]):
        found = shutil.which(command[0], path=path) if command else None
        if found and (version := compiler_version([found, *command[1:]])):
            return Compiler((found, *command[1:]), version)
    if find_spec("ziglang") is not None:
        command = [sys.executable, "-m", "ziglang", "cc"]
        if version := compiler_version(command):
            return Compiler(tuple(command), version)
    return None


def compiler_version(command: Sequence[str]) -> str:
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def cache_folder() -> Path:
    """BELLCRANK_CACHE, else the folder bellcrank in XDG_CACHE_HOME, else in ~/.cache."""
    if named := os.environ.get("BELLCRANK_CACHE"):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "bellcrank"


def default_flags(compiler: Compiler) -> tuple[str, ...]:
    """BELLCRANK_CFLAGS, else what makes the fastest code."""
    named = os.environ.get("BELLCRANK_CFLAGS")
    return tuple(shlex.split(named)) if named else compiler.fast


def shared_library(
    source: str,
    compiler: Compiler,
    flags: Sequence[str] | None = None,
    language: str = "c",
    linked: Sequence[Path] = (),
) -> Path:
    """The compiled library of a source, from the cache or made now; `linked` are libraries that it needs."""
    flags = default_flags(compiler) if flags is None else flags
    name = f"{_digest(source, compiler, (*flags, *map(str, linked)))}{'.dll' if sys.platform == 'win32' else '.so'}"
    folder = cache_folder()
    if (folder / name).exists():
        return folder / name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        work = tempfile.TemporaryDirectory(prefix="build-", dir=folder)
    except OSError as error:
        why = f"the cache folder {folder} cannot be written ({error.strerror or error})"
        warn(f"{why}: compiled models are kept for this process only")
        folder = Path(_kept().name)
        if (folder / name).exists():
            return folder / name
        work = tempfile.TemporaryDirectory(prefix="build-", dir=folder)
    with work as inside:
        made = compile_source(source, Path(inside), compiler, flags, language, linked)
        try:
            os.replace(made, folder / name)
        except OSError as error:
            raise BuildError(f"the compiled model cannot be put into {folder}: {error.strerror or error}") from None
    return folder / name


@lru_cache(maxsize=1)
def _kept() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="bellcrank-", ignore_cleanup_errors=True)


def compile_source(
    source: str,
    folder: Path,
    compiler: Compiler,
    flags: Sequence[str] = FAST,
    language: str = "c",
    linked: Sequence[Path] = (),
) -> Path:
    """Compiles a source in a folder. Flags that a compiler may not know are left out if it fails; it is quoted."""
    code, library = folder / ("model.c" if language == "c" else "model.f90"), folder / "model.so"
    try:
        code.write_text(source, encoding="utf-8")
    except OSError as error:
        raise BuildError(f"cannot write {code}: {error.strerror or error}") from None
    linux = LINUX if sys.platform == "linux" else ()
    fewer = [f for f in flags if f not in (*NATIVE, *GCC)]
    message, what = "", "model" if language == "c" else "external routines in Fortran"
    for chosen in dict.fromkeys(((*flags, *linux), tuple(flags), (*fewer, *linux), tuple(fewer))):
        always = ALWAYS if language == "c" else FORTRAN
        command = [*compiler.command, *always, *chosen, str(code), "-o", str(library)]
        command += [*(x for path in linked for x in (str(path), f"-Wl,-rpath,{path.parent}")), "-lm"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=folder)
        except OSError as error:
            raise BuildError(f"{compiler.command[0]} cannot be run: {error.strerror or error}") from None
        if done.returncode == 0 and library.exists():
            return library
        message = message or _shortened(done.stderr or done.stdout or f"exit code {done.returncode}")
    raise BuildError(f"{' '.join(compiler.command)} could not compile the {what}:\n{message}")


def load(path: Path) -> ctypes.CDLL:
    """The library, loaded."""
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise BuildError(f"the compiled model {path} cannot be loaded: {error}") from None


def load_source(
    source: str, compiler: Compiler, flags: Sequence[str] | None = None, linked: Sequence[Path] = ()
) -> ctypes.CDLL:
    """The library of a source, compiled if need be; a damaged one in the cache is made again."""
    path = shared_library(source, compiler, flags, linked=linked)
    try:
        return load(path)
    except BuildError:
        path.unlink(missing_ok=True)
        return load(shared_library(source, compiler, flags, linked=linked))


def _shortened(message: str) -> str:
    lines = message.strip().splitlines()
    return "\n".join([*lines[:_SHOWN], f"... {len(lines) - _SHOWN} more lines"] if len(lines) > _SHOWN else lines)


def _digest(source: str, compiler: Compiler, flags: Sequence[str]) -> str:
    parts = [source, "\n".join(flags), " ".join(compiler.command), compiler.version, platform.machine(), sys.platform]
    if not {*NATIVE}.isdisjoint(flags):
        parts.append(_processor())
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:40]


@lru_cache(maxsize=1)
def _processor() -> str:
    """What the processor can do, as far as the system tells: a folder may be shared by different machines."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor()
    told = ("flags", "features", "cpu part", "model name", "isa")
    return "\n".join(sorted({line for line in text.splitlines() if line.split(":")[0].strip().lower() in told}))
