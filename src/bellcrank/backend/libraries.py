"""The library of a program, which may become another one while it is used: first one that is soon ready, then the fast.

Both are made of one source, have equal structures and give equal bits, so that a call may go to the one and the next,
with the same structures, to the other, within a run as well.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Protocol

LONG_RUNS = 1.0  # s of runs after which a faster library pays


class Library:
    """A loaded library, and functions of it whose calls are too short to let other threads run meanwhile.

    `speed`: what it was made for, as `compiler.default_flags` has it.
    """

    def __init__(self, loaded: ctypes.CDLL, speed: str) -> None:
        self.loaded, self.speed = loaded, speed

    @cached_property
    def rates_of_all(self) -> Callable[..., int]:
        function = self._short.rates_of_all
        function.argtypes = [ctypes.c_int64, ctypes.c_int32, *[ctypes.c_void_p] * 5]
        return function

    @cached_property
    def is_calm(self) -> Callable[..., int]:
        function, real = self._short.is_calm, ctypes.c_double
        function.argtypes = [ctypes.c_int64, *[ctypes.c_void_p] * 2, real, real, ctypes.c_int32, real, ctypes.c_void_p]
        return function

    @cached_property
    def is_calm_run(self) -> Callable[..., int]:
        function, real, long = self._short.is_calm_run, ctypes.c_double, ctypes.c_int64
        function.argtypes = [long, long, ctypes.c_void_p, real, real, ctypes.c_int32, real, ctypes.c_void_p]
        return function

    @cached_property
    def steps_on(self) -> Callable[[int, int], int]:
        """A few steps are as short."""
        function = self._short.steps_on
        function.argtypes = [ctypes.c_void_p, ctypes.c_int64]
        return function

    @cached_property
    def close_loops(self) -> Callable[..., int]:
        function, pointer = self.loaded.close_loops, ctypes.c_void_p
        function.argtypes = [pointer, pointer, pointer, ctypes.c_int, pointer, pointer]
        return function

    @cached_property
    def find_metric(self) -> Callable[[int, int, int, int], None]:
        function = self.loaded.find_metric
        function.argtypes, function.restype = [ctypes.c_void_p] * 4, None
        return function

    @cached_property
    def find_branch(self) -> Callable[[int], int]:
        function = self.loaded.find_branch
        function.argtypes = [ctypes.c_void_p]
        return function

    @cached_property
    def rates_address(self) -> int:
        return ctypes.cast(self.loaded.rates_at, ctypes.c_void_p).value or 0

    @cached_property
    def _short(self) -> ctypes.PyDLL:
        return ctypes.PyDLL("", handle=self.loaded._handle)


class Follower(Protocol):
    """Holds functions of a library; `follow` takes those of the library that is there now."""

    def follow(self) -> None: ...


class Libraries:
    """`now` is the library to call. One that was there before stays loaded: calls may be under way in it.

    `speeds` are those of all that were there, in order; `problem` says why a faster one cannot be had; `later` makes
    one where runs take long.
    """

    def __init__(self, first: Library) -> None:
        self.now, self.speeds, self.problem = first, [first.speed], ""
        self.later: Callable[[], None] | None = None
        self._seconds = 0.0  # that runs took so far
        self.settled = threading.Event()  # no other library is to come
        self._before: list[Library] = []
        self._followers: weakref.WeakSet[Follower] = weakref.WeakSet()

    def tell(self, follower: Follower) -> None:
        """Reports one that holds functions when these are to be found anew, from any thread; it is to look after
        that."""
        if not self.settled.is_set():
            self._followers.add(follower)

    def took(self, seconds: float) -> None:
        """Counts the time of runs."""
        self._seconds += seconds
        if self._seconds > LONG_RUNS:
            self._begin()

    def expect_long_use(self) -> None:
        """Begins at once with a library that takes over from this one, for what does not count its time."""
        if not self.settled.is_set():
            self._begin()

    def _begin(self) -> None:
        build_faster, self.later = self.later, None
        if build_faster is not None:
            build_faster()

    def exchange(self, library: Library) -> None:
        """Takes another library from now on."""
        self._before.append(self.now)
        self.now = library
        self.speeds.append(library.speed)
        for follower in [*self._followers]:
            follower.follow()
        self._followers.clear()


class Builds:
    """`now` are the libraries that runs take which begin now; those that have begun keep theirs."""

    def __init__(self, libraries: Libraries) -> None:
        self.now = libraries
