"""The library of a program, which may become another one while it is used: first one that is soon
ready, then the fast.

Both are made of one source, have equal structures and give equal bits, so that a call may go to the
one and the next, with the same structures, to the other, within a run as well.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Protocol

LONG_RUNS = 1.0  # s of runs after which a faster library pays


class LoadedLibrary:
    """A loaded library, and functions of it whose calls are too short to let other threads run
    meanwhile.

    `speed`: what it was made for, as `compiler.default_flags` has it.
    """

    def __init__(self, loaded: ctypes.CDLL, speed: str) -> None:
        self.loaded, self.speed = loaded, speed

    @cached_property
    def batch_rates(self) -> Callable[..., int]:
        function = self._gil_held.rates_of_all
        function.argtypes = [ctypes.c_int64, ctypes.c_int32, *[ctypes.c_void_p] * 5]
        return function

    @cached_property
    def is_stable_step(self) -> Callable[..., int]:
        function, real = self._gil_held.is_calm, ctypes.c_double
        function.argtypes = [
            ctypes.c_int64,
            *[ctypes.c_void_p] * 2,
            real,
            real,
            ctypes.c_int32,
            real,
            ctypes.c_void_p,
        ]
        return function

    @cached_property
    def is_stable_run(self) -> Callable[..., int]:
        function, real, long = self._gil_held.is_calm_run, ctypes.c_double, ctypes.c_int64
        function.argtypes = [
            long,
            long,
            ctypes.c_void_p,
            real,
            real,
            ctypes.c_int32,
            real,
            ctypes.c_void_p,
        ]
        return function

    @cached_property
    def take_steps(self) -> Callable[[int, int], int]:
        """A few steps are as short."""
        function = self._gil_held.steps_on
        function.argtypes = [ctypes.c_void_p, ctypes.c_int64]
        return function

    @cached_property
    def assemble(self) -> Callable[..., int]:
        function, pointer = self.loaded.close_loops, ctypes.c_void_p
        function.argtypes = [pointer, pointer, pointer, ctypes.c_int, pointer, pointer]
        return function

    @cached_property
    def compute_weights(self) -> Callable[[int, int, int, int], None]:
        function = self.loaded.find_metric
        function.argtypes, function.restype = [ctypes.c_void_p] * 4, None
        return function

    @cached_property
    def project_onto_branch(self) -> Callable[[int], int]:
        function = self.loaded.find_branch
        function.argtypes = [ctypes.c_void_p]
        return function

    @cached_property
    def rates_address(self) -> int:
        return ctypes.cast(self.loaded.rates_at, ctypes.c_void_p).value or 0

    @cached_property
    def _gil_held(self) -> ctypes.PyDLL:
        return ctypes.PyDLL("", handle=self.loaded._handle)


class LibraryBinding(Protocol):
    """Holds functions of a library; `rebind_library` takes those of the library that is there
    now."""

    def rebind_library(self) -> None: ...


class CurrentLibrary:
    """`current` is the library to call. One that was there before stays loaded: calls may be under
    way in it.

    `speeds` are those of all that were there, in order; `problem` says why a faster one cannot be
    had; `build_faster` makes one where runs take long.
    """

    def __init__(self, first: LoadedLibrary) -> None:
        self.current, self.speeds, self.problem = first, [first.speed], ""
        self.build_faster: Callable[[], None] | None = None
        self._seconds = 0.0  # that runs took so far
        self.is_final = threading.Event()  # no other library is to come
        self._before: list[LoadedLibrary] = []
        self._followers: weakref.WeakSet[LibraryBinding] = weakref.WeakSet()

    def register(self, follower: LibraryBinding) -> None:
        """Reports one that holds functions when these are to be found anew, from any thread; it is
        to look after that."""
        if not self.is_final.is_set():
            self._followers.add(follower)

    def add_run_time(self, seconds: float) -> None:
        """Counts the time of runs."""
        self._seconds += seconds
        if self._seconds > LONG_RUNS:
            self._start_faster_build()

    def expect_long_use(self) -> None:
        """Begins at once with a library that takes over from this one, for what does not count its
        time."""
        if not self.is_final.is_set():
            self._start_faster_build()

    def _start_faster_build(self) -> None:
        build_faster, self.build_faster = self.build_faster, None
        if build_faster is not None:
            build_faster()

    def switch_to(self, library: LoadedLibrary) -> None:
        """Takes another library from now on."""
        self._before.append(self.current)
        self.current = library
        self.speeds.append(library.speed)
        for follower in [*self._followers]:
            follower.rebind_library()
        self._followers.clear()


class LibraryVariants:
    """`latest` are the libraries that runs take which begin now; those that have begun keep
    theirs."""

    def __init__(self, libraries: CurrentLibrary) -> None:
        self.latest = libraries
