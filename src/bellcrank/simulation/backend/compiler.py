"""The C compiler of the machine, and libraries that it makes.

In:  C source. Out: a loaded shared library, kept in the cache by a digest of source, flags,
compiler and processor.
"""

from __future__ import annotations

import _ctypes
import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import sys
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from bellcrank.choices import Speed, choice_values
from bellcrank.codegen.c.split_source import HALF, is_split
from bellcrank.codegen.c.tables import SET, TableNumbers
from bellcrank.core.errors import BuildError, issue_warning
from bellcrank.simulation.backend.cache import (
    cached_file,
    get_or_make_file,
    remove_key,
    temporary_copy,
    usable_folder,
)
from bellcrank.simulation.backend.processes import (
    LIMIT,
    BackgroundProcess,
    ProcessTimeout,
    compile_time_limit,
    run_program,
)

FAST = ("-O3", "-march=native", "-ffp-contract=fast")
GCC = (
    "-frename-registers",
    "--param=sched-pressure-algorithm=1",  # fewer copies; our order of statements is kept
    "-fno-gcse-after-reload",
    "-fno-dse",  # look for what our statements do not have: a tenth of the time
)
X86 = ("x86_64", "amd64")
# of one run; next to each other, registers are wide and few, and our order is the better one
GCC_X86 = (
    # not to registers of integers, but to memory
    "-mtune-ctrl=^inter_unit_moves_from_vec,^inter_unit_moves_to_vec",
    "-fschedule-insns",
    "-fsched-pressure",  # our order gives way where registers run out
)
ARM = ("aarch64", "arm64")
GCC_ARM = (
    "-mpc-relative-literal-loads",
)  # a number of the text is one instruction: a fiftieth of the time of a car
# characters of a source; a longer one is compiled in less time by these, with the same speed and
# bits:
LONG = 500_000
GCC_LONG = (
    "-fno-tree-dse",
    "-fno-tree-slp-vectorize",
    "-fno-tree-pre",
    "-fno-code-hoisting",
    # stores before a load: our statements load once
    "--param=sccvn-max-alias-queries-per-access=3",
)
NATIVE = ("-march=native", "-mcpu=native", "-mtune=native")
LANES = range(
    80_000, LONG
)  # characters of a source of runs in lanes that is the better for an order of this processor:
GCC_LANES = ("-mtune=native",)  # a twentieth of the time on ARM, where shorter ones lose as much
# Without what gcc does after products and sums are fused, with instructions of the machine: half
# the time, equal bits. Nothing that works on trees may stand here, since it decides what is fused.
GCC_EARLY = (
    *(
        f"-fno-{what}"
        for what in (
            "schedule-insns",
            "schedule-insns2",
            "rename-registers",
            "gcse",
            "cse-follow-jumps",
            "rerun-cse-after-loop",
            "forward-propagate",
            "move-loop-invariants",
            "if-conversion",
            "if-conversion2",
            "split-wide-types",
            "dce",
            "ipa-ra",
            "caller-saves",
            "lra-remat",
            "cprop-registers",
            "reorder-blocks",
            "crossjumping",
            "peephole2",
            "ree",
            "shrink-wrap",
            "combine-stack-adjustments",
            "compare-elim",
            "auto-inc-dec",
            "web",
        )
    ),
    "-fira-algorithm=priority",
    "-fira-region=one",
    *(f"-fdisable-rtl-{what}" for what in ("cse1", "combine", "postreload")),
)
SPEEDS = choice_values(Speed)  # both, one after the other; of the program; of its making
ALWAYS = ("-std=c99", "-fno-math-errno", "-fPIC", "-shared")
FORTRAN = ("-std=f2008", "-fPIC", "-shared")
LINUX = ("-fno-semantic-interposition", "-Wl,-Bsymbolic")
NO_COMPILER = (
    "there is no C compiler (looked for CC, cc, gcc, clang and the Python package ziglang)"
)
ZIG = (sys.executable, "-P", "-m", "ziglang")  # -P: nothing is imported from the working directory
_SHOWN = 30  # lines of a compiler's message


class CompilerTimeout(BuildError):
    """The compiler took too long."""


@dataclass(frozen=True)
class Compiler:
    """How the compiler is called, and what it says it is."""

    command: tuple[str, ...]
    version: str

    @property
    def name(self) -> str:
        return self.version.splitlines()[0] if self.version else " ".join(self.command)

    @property
    def is_gcc(self) -> bool:
        return "Free Software Foundation" in self.version

    @property
    def fast_flags(self) -> tuple[str, ...]:
        """The flags that make the fastest code."""
        machine = platform.machine().lower()
        if self.is_gcc:
            return (
                *FAST,
                *GCC,
                *(GCC_X86 if machine in X86 else GCC_ARM if machine in ARM else ()),
            )
        if "clang" in self.version and machine in ARM:
            return tuple("-mcpu=native" if f == "-march=native" else f for f in FAST)
        return FAST

    @property
    def quick_flags(self) -> tuple[str, ...]:
        """The flags for a program that is soon ready: half the time of the compiler, half the speed
        or better."""
        flags = tuple(
            "-O1" if f == "-O3" else f
            for f in self.fast_flags
            if f not in (*GCC, *GCC_X86, *GCC_ARM)
        )
        return (
            (*flags, "-fexpensive-optimizations") if self.is_gcc else flags
        )  # products and sums are fused there

    @property
    def early_flags(self) -> tuple[str, ...] | None:
        """The flags for a program that is soon ready and is bit-identical to the fast one; None
        where they are not known.

        gcc fuses products and sums before it chooses instructions, and what it does afterwards
        changes no result.
        """
        return (*self.fast_flags, *GCC_EARLY) if self.is_gcc else None

    @property
    def unoptimized_flags(self) -> tuple[str, ...]:
        """The flags for what is evaluated a few hundred times: a quarter of the time of
        `quick_flags` for long sources."""
        return ("-O0",)


def find_compiler() -> Compiler | None:
    """The compiler named by CC, else cc, gcc, clang, else the ziglang package, else None."""
    zig = ((*ZIG, "cc"),) if find_spec("ziglang") is not None else ()
    return compiler_named("CC", (("cc",), ("gcc",), ("clang",), *zig))


def compiler_named(variable: str, candidates: tuple[tuple[str, ...], ...]) -> Compiler | None:
    """The compiler that a variable of the environment names, else the first of the usual ones that
    is there."""
    return _find_compiler_named(
        variable, os.environ.get(variable, ""), candidates, os.environ.get("PATH", "")
    )


@lru_cache(maxsize=16)
def _find_compiler_named(
    variable: str, requested: str, candidates: tuple[tuple[str, ...], ...], path: str
) -> Compiler | None:
    words, problem = _split_command(requested)
    compiler = _probe_compiler(words, path) if words else None
    if compiler is None:
        compiler = next(
            (candidate for command in candidates if (candidate := _probe_compiler(command, path))),
            None,
        )
        if requested.strip() and compiler is not None:
            problem = problem or "not found, or it reports no version"
            issue_warning(
                f"compiler {requested!r} (from {variable}): {problem}; using {compiler.command[0]}"
            )
    return compiler


def _split_command(text: str) -> tuple[list[str], str]:
    """The words of a text, or what is wrong with it if they cannot be distinguished."""
    try:
        return shlex.split(text), ""
    except ValueError as error:
        return [], f"it cannot be read ({error})"


def _probe_compiler(command: Sequence[str], path: str) -> Compiler | None:
    """The compiler of a command, if it is there and reports its version."""
    executable = shutil.which(command[0], path=path)
    version = _compiler_version([executable, *command[1:]]) if executable else ""
    return Compiler((str(executable), *command[1:]), version) if version else None


def _compiler_version(command: Sequence[str]) -> str:
    try:
        result = run_program([*command, "--version"], 60)
    except (OSError, ProcessTimeout):
        return ""
    return result.output.strip() if result.code == 0 else ""


def default_flags(compiler: Compiler, speed: str = "fast", length: int = 0) -> tuple[str, ...]:
    """BELLCRANK_CFLAGS, else what makes the fastest code of a source so long, or that which is soon
    ready."""
    if (
        speed == "quick" and length > LONG and compiler.is_gcc
    ):  # in half the time, and a faster program
        speed = "early"
    flags = {
        "fast": compiler.fast_flags,
        "quick": compiler.quick_flags,
        "soon": compiler.unoptimized_flags,
        "early": compiler.early_flags,
    }[speed]
    assert flags is not None
    return environment_flags() or (*flags, *(GCC_LONG if length > LONG and compiler.is_gcc else ()))


def environment_flags() -> tuple[str, ...]:
    """Those of BELLCRANK_CFLAGS."""
    flags_text = os.environ.get("BELLCRANK_CFLAGS", "")
    words, problem = _split_command(flags_text)
    if problem:
        raise BuildError(f"BELLCRANK_CFLAGS={flags_text!r}: {problem}")
    return tuple(words)


def lanes_flags(compiler: Compiler, length: int) -> tuple[str, ...]:
    """Those of a source so long that runs several runs in lanes."""
    flags = default_flags(compiler)
    if not compiler.is_gcc or flags != compiler.fast_flags:
        return flags
    tuned = length in LANES and platform.machine().lower() in ARM
    return (*(f for f in flags if f not in (*GCC_X86, *GCC_ARM)), *(GCC_LANES if tuned else ()))


def shared_library(
    source: str,
    compiler: Compiler,
    flags: Sequence[str] | None = None,
    language: str = "c",
    linked: Sequence[Path] = (),
) -> Path:
    """The compiled library of a source, from the cache or made now; `linked` are libraries that it
    needs."""
    flags = default_flags(compiler, length=len(source)) if flags is None else flags
    key = library_key(source, compiler, (*flags, *map(str, linked)))
    return get_or_make_file(
        key, lambda work: compile_source(source, work, compiler, flags, language, linked)
    )


def compile_source(
    source: str,
    folder: Path,
    compiler: Compiler,
    flags: Sequence[str] = FAST,
    language: str = "c",
    linked: Sequence[Path] = (),
    exactly: bool = False,
    background_process: BackgroundProcess | None = None,
) -> Path:
    """Compiles a source in a folder. Flags that a compiler may not know are omitted if it fails,
    unless it is to be compiled `exactly` so; it is quoted. `background_process` runs the compiler,
    if given."""
    code, library = folder / ("model.c" if language == "c" else "model.f90"), folder / "model.so"
    try:
        code.write_text(source, encoding="utf-8")
    except OSError as error:
        raise BuildError(f"cannot write {code}: {error.strerror or error}") from None
    linux = LINUX if sys.platform == "linux" else ()
    portable_flags = [
        f for f in flags if f not in (*NATIVE, *GCC, *GCC_X86, *GCC_ARM, *GCC_EARLY, *GCC_LONG)
    ]
    seconds, message, subject = (
        compile_time_limit(),
        "",
        "model" if language == "c" else "user functions in Fortran",
    )
    flag_sets = ((*flags, *linux), tuple(flags), (*portable_flags, *linux), tuple(portable_flags))
    always = ALWAYS if language == "c" else FORTRAN
    libraries = [*(x for path in linked for x in (str(path), f"-Wl,-rpath,{path.parent}")), "-lm"]
    is_parallel = (
        language == "c"
        and background_process is None
        and is_split(source)
        and _can_compile_in_parallel()
    )
    for flag_set in dict.fromkeys(flag_sets[:1] if exactly else flag_sets):
        start = (*compiler.command, *always, *flag_set)
        command = [*start, str(code), "-o", str(library), *libraries]
        if is_parallel:
            command = _parallel_command(start, code, library, libraries)
        try:
            result = run_program(command, seconds, folder, background_process)
        except OSError as error:
            raise BuildError(
                f"{compiler.command[0]} cannot be run: {error.strerror or error}"
            ) from None
        except ProcessTimeout:
            timeout_text = (
                f"{compiler.command[0]} was stopped after {seconds:g} s ({LIMIT} sets its time "
                f"limit)"
            )
            raise CompilerTimeout(f"the {subject} is not compiled: {timeout_text}") from None
        if result.code == 0 and library.exists():
            return library
        message = message or _truncate_message(
            result.errors or result.output or f"exit code {result.code}"
        )
    raise BuildError(f"{' '.join(compiler.command)} could not compile the {subject}:\n{message}")


def _can_compile_in_parallel() -> bool:
    """Are there two processors, and a shell that starts two programs at once?"""
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return mine > 1 and os.name == "posix" and shutil.which("sh") is not None


def _parallel_command(
    start: Sequence[str], code: Path, library: Path, libraries: Sequence[str]
) -> list[str]:
    """One command that compiles both halves of a source at once and joins them; it fails if one of
    them fails."""
    first, second = (code.with_name(f"half_{i}.o") for i in (1, 2))
    alone = [f for f in start if f != "-shared"]
    one, two = (
        shlex.join([*alone, f"-D{HALF}={i}", "-c", str(code), "-o", str(object_file)])
        for i, object_file in ((1, first), (2, second))
    )
    link_command = shlex.join([*start, str(first), str(second), "-o", str(library), *libraries])
    return ["sh", "-c", f"{two} & {one} || {{ wait $!; exit 1; }}; wait $! && {link_command}"]


def load_library(
    path: Path, is_generated: bool = False, tables: TableNumbers | None = None
) -> ctypes.CDLL:
    """Load a library. One with generated code alone (`is_generated`) is unloaded when nothing
    refers to it any more.

    ctypes keeps a library as long as one of its functions is known, so nothing can call it then.
    Code of users stays: it may have started threads or left functions with others. A library whose
    `tables` are data is loaded from a copy of its own: from one file, every model would get the
    same variables.
    """
    try:
        with nullcontext(path) if tables is None else temporary_copy(path) as file:
            library = ctypes.CDLL(str(file))
    except OSError as error:
        raise BuildError(f"the compiled model {path} cannot be loaded: {error}") from None
    if is_generated and hasattr(_ctypes, "dlclose"):
        weakref.finalize(library, _ctypes.dlclose, library._handle).atexit = False
    if tables is not None:
        for name in SET:
            if hasattr(library, name):
                getattr(library, name)(
                    *(ctypes.c_void_p(x.ctypes.data) for x in (tables.sizes, tables.numbers))
                )
    return library


def load_from_source(
    source: str,
    compiler: Compiler,
    flags: Sequence[str] | None = None,
    linked: Sequence[Path] = (),
    is_generated: bool = False,
    tables: TableNumbers | None = None,
) -> ctypes.CDLL:
    """The library of a source, compiled if need be."""
    flags = default_flags(compiler, length=len(source)) if flags is None else flags
    key = library_key(source, compiler, (*flags, *map(str, linked)))
    return load_cached_library(
        key,
        lambda work: compile_source(source, work, compiler, flags, "c", linked),
        is_generated,
        None,
        tables,
    )


def load_cached_library(
    key: str,
    build_file: Callable[[Path], Path],
    is_generated: bool = False,
    folder: Path | None = None,
    tables: TableNumbers | None = None,
) -> ctypes.CDLL:
    """The library of a key, loaded from the cache or made now. One that cannot be loaded does not
    stay there: it is made once more."""
    folder = usable_folder() if folder is None else folder
    path = cached_file(key, folder)
    if path is not None:
        try:
            return load_library(path, is_generated, tables)
        except BuildError as error:
            issue_warning(f"{error}; it is removed and made again")
            remove_key(key, folder)
    path = get_or_make_file(key, build_file, folder)
    try:
        return load_library(path, is_generated, tables)
    except BuildError:
        remove_key(key, folder)
        raise


def _truncate_message(message: str) -> str:
    lines = message.strip().splitlines()
    return "\n".join(
        [*lines[:_SHOWN], f"... {len(lines) - _SHOWN} more lines"] if len(lines) > _SHOWN else lines
    )


def library_key(source: str, compiler: Compiler, flags: Sequence[str]) -> str:
    """The key of a library in the cache."""
    texts = [
        source,
        "\n".join(flags),
        " ".join(compiler.command),
        compiler.version,
        platform.machine(),
        sys.platform,
    ]
    if not {*NATIVE}.isdisjoint(flags):
        texts.append(processor_features())
    return hashlib.sha256("\x00".join(texts).encode()).hexdigest()[:40]


@lru_cache(maxsize=1)
def processor_features() -> str:
    """What the processor can do, as far as the system reports: a folder may be shared by different
    machines."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor()
    keys = ("flags", "features", "cpu part", "model name", "isa")
    return "\n".join(
        sorted({line for line in text.splitlines() if line.split(":")[0].strip().lower() in keys})
    )
