"""Libraries of a program at the speed that is asked for: one, or one that is soon ready and then a faster one.

A program is compiled without the kernel and attached to one that was compiled before (`linked`), or as one text with it
(`unity`), which takes longer and makes small models faster. The library of a large model that is soon ready and the
fast one are compiled from one source such that results have equal bits (`Compiler.early`): a run is the same, whenever
the fast one takes over. The two builds of a small model may differ in the last digits: a run ends with the build with
which it began. What follows is made in the background once runs have taken a while, or a stepper is made, which will;
it is found in the cache from then on.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from bellcrank.backend.background import background
from bellcrank.backend.cache import found, usable_folder
from bellcrank.backend.compiler import (
    Compiler,
    Stopped,
    compile_source,
    default_flags,
    digest,
    load_kept,
    load_source,
    named_flags,
)
from bellcrank.backend.libraries import Builds, Libraries, Library
from bellcrank.backend.processes import Aside, Ended
from bellcrank.emit.c.sources import Sources
from bellcrank.emit.c.tables import TableNumbers
from bellcrank.errors import BuildError
from bellcrank.kernel.text import Kernel

SMALL = 80_000  # characters of a program without the kernel: with it in one text it is faster, below
SHORT = 80_000  # characters of a source whose fast library is so soon ready (about a second) that no other is made


def builds_of(
    sources: Sources,
    compiler: Compiler,
    speed: str = "fast",
    foreign: Sequence[Path] = (),
    is_generated: bool = False,
    flags: Sequence[str] | None = None,
    linked: bool = True,
    tables: TableNumbers | None = None,
) -> Builds:
    """The libraries of a program; with a `speed` of "auto" one that is soon ready, until a faster one is.

    Code of users is compiled once, since it may have variables of its own, and so is a source with `flags` of its own.
    `foreign`: libraries that it needs; `is_generated` as of `load`; not `linked`: the kernel is to be one text with it;
    `tables`: numbers of those that are data.
    """
    small = len(sources.common) <= SMALL
    unity_source = _Source(sources.of("unity"), compiler, foreign, is_generated, tables)
    linked_source = (
        _Source(sources.of("linked"), compiler, foreign, is_generated, tables, attached=True)
        if linked
        else unity_source
    )
    if flags is not None:
        return Builds(_settled(unity_source.library(speed, flags)))
    if speed in ("quick", "soon"):
        return Builds(_settled(linked_source.library(speed)))
    if speed != "auto" or not is_generated:
        return Builds(_settled((unity_source if small else linked_source).library("fast")))
    if small and linked:
        fast = unity_source.known("fast")
        return _linked_and_unity(linked_source, unity_source) if fast is None else Builds(_settled(fast))
    if len(linked_source.text) > SHORT and compiler.early is not None and not named_flags():
        return Builds(_early_and_fast(linked_source))
    return Builds(_settled(linked_source.library("fast")))


def linked_kernel(compiler: Compiler) -> tuple[ctypes.CDLL, int]:
    """The kernel that programs are attached to, compiled once for a compiler, and where its functions are listed.

    More work of the compiler brings a twentieth of the time of steps at most, and takes three times as long.
    """
    return kernel_with(compiler, default_flags(compiler, "quick"))


@lru_cache(maxsize=4)
def kernel_with(compiler: Compiler, flags: tuple[str, ...]) -> tuple[ctypes.CDLL, int]:
    """The kernel compiled with such flags, which BELLCRANK_CFLAGS may change within a process."""
    source = Kernel({"LINKED": 1}).take("linked.c")
    library = load_source(source, compiler, flags)
    library.kernel_functions.restype = ctypes.c_void_p
    return library, int(library.kernel_functions())


class _Source:
    """A source to be compiled; one that follows another is compiled with flags as they are: with others, bits might be
    others. `attached`: its library is attached to the kernel."""

    def __init__(
        self,
        text: str,
        compiler: Compiler,
        foreign: Sequence[Path],
        is_generated: bool,
        tables: TableNumbers | None,
        attached: bool = False,
    ) -> None:
        self.text, self.compiler, self.foreign, self._own, self._tables = text, compiler, foreign, is_generated, tables
        self._attached, self._folder = attached, usable_folder()

    def library(self, speed: str, flags: Sequence[str] | None = None, name: str = "") -> Library:
        """The library, compiled if need be with fewer flags; it may have a name other than its speed."""
        flags = self._flags(speed) if flags is None else flags
        loaded = load_source(self.text, self.compiler, flags, self.foreign, self._own, self._tables)
        return self._ready(loaded, name or speed)

    def known(self, speed: str) -> Library | None:
        """The library from the cache, if it is there."""
        key = self._key(self._flags(speed))
        return None if found(key, self._folder) is None else self.made(speed)

    def made(self, speed: str, background_process: Aside | None = None) -> Library:
        """The library, compiled if need be; `background_process` runs the compiler, if given."""
        flags = self._flags(speed)

        def make(work: Path) -> Path:
            return compile_source(
                self.text,
                work,
                self.compiler,
                flags,
                linked=self.foreign,
                exactly=True,
                background_process=background_process,
            )

        return self._ready(load_kept(self._key(flags), make, True, self._folder, self._tables), speed)

    def _ready(self, loaded: ctypes.CDLL, speed: str) -> Library:
        if self._attached:
            loaded.attach(ctypes.c_void_p(linked_kernel(self.compiler)[1]))
        return Library(loaded, speed)

    def _flags(self, speed: str) -> tuple[str, ...]:
        return default_flags(self.compiler, speed, len(self.text))

    def _key(self, flags: Sequence[str]) -> str:
        return digest(self.text, self.compiler, (*flags, *map(str, self.foreign)))


def _early_and_fast(source: _Source) -> Libraries:
    """The fast library if there is one, else one that is soon ready, which the fast one follows."""
    fast = source.known("fast")
    if fast is not None:
        return _settled(fast)
    try:
        libraries = Libraries(source.made("early"))
    except Stopped:
        raise
    except BuildError:  # a flag is not known, or nothing can be compiled, which is reported then
        return _settled(source.library("fast"))
    libraries.later = lambda: _follow(libraries, lambda aside: source.made("fast", aside), libraries.exchange)
    return libraries


def _linked_and_unity(linked: _Source, unity: _Source) -> Builds:
    """A library that is attached to the kernel. Where runs take long, one is made that is one text with it, for runs
    that begin then."""
    first = _settled(linked.library("fast", name="linked"))
    builds = Builds(first)

    def replace(library: Library) -> None:
        builds.now = _settled(library)

    def follow() -> None:
        first.settled.clear()
        _follow(first, lambda aside: unity.made("fast", aside), replace)

    first.later = follow
    return builds


def _follow(
    libraries: Libraries, build_library: Callable[[Aside], Library], switch_library: Callable[[Library], None]
) -> None:
    """Makes another library in the background, unless nobody waits for it any more."""
    libraries_ref = weakref.ref(libraries)

    def follow(background_process: Aside) -> None:
        problem = ""
        try:
            background_process.check()
            if libraries_ref() is None:
                return
            library = build_library(background_process)
        except Ended:
            return
        except Exception as error:  # it has nobody above it, and the model runs without
            problem = str(error)
        current = libraries_ref()
        if current is None:
            return
        if problem:
            current.problem = problem
        else:
            switch_library(library)
        current.settled.set()

    if not background().add(follow):
        libraries.settled.set()


def _settled(library: Library) -> Libraries:
    """One library, which stays."""
    libraries = Libraries(library)
    libraries.settled.set()
    return libraries
