"""Libraries of a source at the speed that is asked for: one, or one that is soon ready and then the fast one.

The two are compiled from one source such that results have equal bits (`Compiler.early`): a run is the same, whenever
the fast one takes over. It is made in the background and found in the cache from then on; a process that ends soon
does not begin with it, since it would be ended with the process, each time again.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence
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
from bellcrank.backend.libraries import Libraries, Library
from bellcrank.backend.processes import Aside, Ended
from bellcrank.errors import BuildError

SHORT = 80_000  # characters of a source whose fast library is so soon ready (about a second) that no other is made
LATER = 4.0  # s that a process lives with the library that was soon ready before the fast one is begun


def libraries_of(
    source: str,
    compiler: Compiler,
    speed: str = "fast",
    linked: Sequence[Path] = (),
    own: bool = False,
    flags: Sequence[str] | None = None,
) -> Libraries:
    """The library of a source; with a `speed` of "auto" one that is soon ready, until the fast one is.

    Code of users is compiled once, since it may have variables of its own, and so is a source with `flags` of its own.
    `own` as of `load`.
    """
    if speed == "auto":
        if own and flags is None and len(source) > SHORT and compiler.early is not None and not named_flags():
            return _early_and_fast(_Source(source, compiler, linked))
        speed = "fast"
    flags = default_flags(compiler, speed, len(source)) if flags is None else flags
    return _settled(Library(load_source(source, compiler, flags, linked, own), speed))


class _Source:
    """A source to be compiled with flags as they are: with others, bits might be others."""

    def __init__(self, text: str, compiler: Compiler, linked: Sequence[Path]) -> None:
        self.text, self.compiler, self.linked, self._folder = text, compiler, linked, usable_folder()

    def known(self, speed: str) -> Library | None:
        """The library from the cache, if it is there."""
        key = self._key(self._flags(speed))
        return None if found(key, self._folder) is None else self.made(speed)

    def made(self, speed: str, aside: Aside | None = None) -> Library:
        """The library, compiled if need be; `aside`: where the compiler runs, if not here."""
        flags = self._flags(speed)

        def make(work: Path) -> Path:
            return compile_source(self.text, work, self.compiler, flags, linked=self.linked, exactly=True, aside=aside)

        return Library(load_kept(self._key(flags), make, True, self._folder), speed)

    def _flags(self, speed: str) -> tuple[str, ...]:
        return default_flags(self.compiler, speed, len(self.text))

    def _key(self, flags: Sequence[str]) -> str:
        return digest(self.text, self.compiler, (*flags, *map(str, self.linked)))


def _early_and_fast(source: _Source) -> Libraries:
    """The fast library if there is one, else one that is soon ready, which the fast one follows."""
    fast = source.known("fast")
    if fast is not None:
        return _settled(fast)
    try:
        libraries = Libraries(source.made("early"))
    except Stopped:
        raise
    except BuildError:  # a flag is not known, or nothing can be compiled, which is told then
        return libraries_of(source.text, source.compiler, "fast", source.linked, own=True)
    wanted, begins = weakref.ref(libraries), time.monotonic() + LATER

    def follow(aside: Aside) -> None:
        """Makes the fast library, unless nobody waits for it any more."""
        problem = ""
        try:
            aside.check(max(0.0, begins - time.monotonic()))
            if wanted() is None:
                return
            made = source.made("fast", aside)
        except Ended:
            return
        except Exception as error:  # it has nobody above it, and the model runs without
            problem = str(error)
        libraries = wanted()
        if libraries is None:
            return
        if problem:
            libraries.problem = problem
        else:
            libraries.exchange(made)
        libraries.settled.set()

    if not background().add(follow):
        libraries.settled.set()
    return libraries


def _settled(library: Library) -> Libraries:
    """One library, which stays."""
    libraries = Libraries(library)
    libraries.settled.set()
    return libraries
