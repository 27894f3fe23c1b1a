"""Libraries of a program at the speed that is asked for: one, or one that is soon ready and then a
faster one.

A program is compiled without the kernel and attached to one that was compiled before (`linked`), or
as one text with it (`unity`), which takes longer and makes small models faster. The library of a
large model that is soon ready and the fast one are compiled from one source such that results have
equal bits (`Compiler.early`): a run is the same, whenever the fast one takes over. The two builds
of a small model may differ in the last digits: a run ends with the build with which it began. What
follows is made in the background once runs have taken a while, or a stepper is made, which will; it
is found in the cache from then on.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from bellcrank.codegen.c.program_sources import ProgramSources
from bellcrank.codegen.c.tables import TableNumbers
from bellcrank.core.errors import BuildError
from bellcrank.kernel.text import Kernel
from bellcrank.simulation.backend.background import background_queue
from bellcrank.simulation.backend.cache import cached_file, usable_folder
from bellcrank.simulation.backend.compiler import (
    Compiler,
    CompilerTimeout,
    compile_source,
    default_flags,
    environment_flags,
    library_key,
    load_cached_library,
    load_from_source,
)
from bellcrank.simulation.backend.libraries import CurrentLibrary, LibraryVariants, LoadedLibrary
from bellcrank.simulation.backend.processes import BackgroundProcess, ProcessTerminated

SMALL = (
    80_000  # characters of a program without the kernel: with it in one text it is faster, below
)
# characters of a source whose fast library is so soon ready (about a second) that no other is made
SHORT = 80_000


def build_libraries(
    sources: ProgramSources,
    compiler: Compiler,
    speed: str = "fast",
    foreign: Sequence[Path] = (),
    is_generated: bool = False,
    flags: Sequence[str] | None = None,
    linked: bool = True,
    tables: TableNumbers | None = None,
) -> LibraryVariants:
    """The libraries of a program; with a `speed` of "auto" one that is soon ready, until a faster
    one is.

    Code of users is compiled once, since it may have variables of its own, and so is a source with
    `flags` of its own.
    `foreign`: libraries that it needs; `is_generated` as of `load`; not `linked`: the kernel is to
    be one text with it;
    `tables`: numbers of those that are data.
    """
    small = len(sources.common) <= SMALL
    unity_source = _LibrarySource(
        sources.for_build("unity"), compiler, foreign, is_generated, tables
    )
    linked_source = (
        _LibrarySource(
            sources.for_build("linked"), compiler, foreign, is_generated, tables, attached=True
        )
        if linked
        else unity_source
    )
    if flags is not None:
        return LibraryVariants(_final_library(unity_source.compile_library(speed, flags)))
    if speed in ("quick", "soon"):
        return LibraryVariants(_final_library(linked_source.compile_library(speed)))
    if speed != "auto" or not is_generated:
        return LibraryVariants(
            _final_library((unity_source if small else linked_source).compile_library("fast"))
        )
    if small and linked:
        fast = unity_source.from_cache("fast")
        return (
            _linked_then_unity(linked_source, unity_source)
            if fast is None
            else LibraryVariants(_final_library(fast))
        )
    if (
        len(linked_source.text) > SHORT
        and compiler.early_flags is not None
        and not environment_flags()
    ):
        return LibraryVariants(_early_then_fast(linked_source))
    return LibraryVariants(_final_library(linked_source.compile_library("fast")))


def kernel_and_address(compiler: Compiler) -> tuple[ctypes.CDLL, int]:
    """The kernel that programs are attached to, compiled once for a compiler, and where its
    functions are listed.

    More work of the compiler brings a twentieth of the time of steps at most, and takes three times
    as long.
    """
    return compile_kernel(compiler, default_flags(compiler, "quick"))


@lru_cache(maxsize=4)
def compile_kernel(compiler: Compiler, flags: tuple[str, ...]) -> tuple[ctypes.CDLL, int]:
    """The kernel compiled with such flags, which BELLCRANK_CFLAGS may change within a process."""
    source = Kernel({"LINKED": 1}).take("linked.c")
    library = load_from_source(source, compiler, flags)
    library.kernel_functions.restype = ctypes.c_void_p
    return library, int(library.kernel_functions())


class _LibrarySource:
    """A source to be compiled; one that follows another is compiled with flags as they are: with
    others, bits might be others. `attached`: its library is attached to the kernel."""

    def __init__(
        self,
        text: str,
        compiler: Compiler,
        foreign: Sequence[Path],
        is_generated: bool,
        tables: TableNumbers | None,
        attached: bool = False,
    ) -> None:
        self.text, self.compiler, self.foreign, self._own, self._tables = (
            text,
            compiler,
            foreign,
            is_generated,
            tables,
        )
        self._attached, self._folder = attached, usable_folder()

    def compile_library(
        self, speed: str, flags: Sequence[str] | None = None, name: str = ""
    ) -> LoadedLibrary:
        """The library, compiled if need be with fewer flags; it may have a name other than its
        speed."""
        flags = self._flags(speed) if flags is None else flags
        loaded = load_from_source(
            self.text, self.compiler, flags, self.foreign, self._own, self._tables
        )
        return self._attach_to_kernel(loaded, name or speed)

    def from_cache(self, speed: str) -> LoadedLibrary | None:
        """The library from the cache, if it is there."""
        key = self._key(self._flags(speed))
        return None if cached_file(key, self._folder) is None else self.build_library(speed)

    def build_library(
        self, speed: str, background_process: BackgroundProcess | None = None
    ) -> LoadedLibrary:
        """The library, compiled if need be; `background_process` runs the compiler, if given."""
        flags = self._flags(speed)

        def compile_in_folder(work: Path) -> Path:
            return compile_source(
                self.text,
                work,
                self.compiler,
                flags,
                linked=self.foreign,
                exactly=True,
                background_process=background_process,
            )

        return self._attach_to_kernel(
            load_cached_library(
                self._key(flags), compile_in_folder, True, self._folder, self._tables
            ),
            speed,
        )

    def _attach_to_kernel(self, loaded: ctypes.CDLL, speed: str) -> LoadedLibrary:
        if self._attached:
            loaded.attach(ctypes.c_void_p(kernel_and_address(self.compiler)[1]))
        return LoadedLibrary(loaded, speed)

    def _flags(self, speed: str) -> tuple[str, ...]:
        return default_flags(self.compiler, speed, len(self.text))

    def _key(self, flags: Sequence[str]) -> str:
        return library_key(self.text, self.compiler, (*flags, *map(str, self.foreign)))


def _early_then_fast(source: _LibrarySource) -> CurrentLibrary:
    """The fast library if there is one, else one that is soon ready, which the fast one follows."""
    fast = source.from_cache("fast")
    if fast is not None:
        return _final_library(fast)
    try:
        libraries = CurrentLibrary(source.build_library("early"))
    except CompilerTimeout:
        raise
    except BuildError:  # a flag is not known, or nothing can be compiled, which is reported then
        return _final_library(source.compile_library("fast"))
    libraries.build_faster = lambda: _build_in_background(
        libraries, lambda aside: source.build_library("fast", aside), libraries.switch_to
    )
    return libraries


def _linked_then_unity(linked: _LibrarySource, unity: _LibrarySource) -> LibraryVariants:
    """A library that is attached to the kernel. Where runs take long, one is made that is one text
    with it, for runs that begin then."""
    first = _final_library(linked.compile_library("fast", name="linked"))
    builds = LibraryVariants(first)

    def replace(library: LoadedLibrary) -> None:
        builds.latest = _final_library(library)

    def build_unity() -> None:
        first.is_final.clear()
        _build_in_background(first, lambda aside: unity.build_library("fast", aside), replace)

    first.build_faster = build_unity
    return builds


def _build_in_background(
    libraries: CurrentLibrary,
    build_library: Callable[[BackgroundProcess], LoadedLibrary],
    switch_library: Callable[[LoadedLibrary], None],
) -> None:
    """Makes another library in the background, unless nobody waits for it any more."""
    libraries_ref = weakref.ref(libraries)

    def build_and_switch(background_process: BackgroundProcess) -> None:
        problem = ""
        try:
            background_process.raise_if_ended()
            if libraries_ref() is None:
                return
            library = build_library(background_process)
        except ProcessTerminated:
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
        current.is_final.set()

    if not background_queue().submit(build_and_switch):
        libraries.is_final.set()


def _final_library(library: LoadedLibrary) -> CurrentLibrary:
    """One library, which stays."""
    libraries = CurrentLibrary(library)
    libraries.is_final.set()
    return libraries
