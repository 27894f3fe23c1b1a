"""How runs with closed loops began: states on the constraints and what goes with them, by all they
follow from."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from bellcrank.simulation.backend.c_assembly import Spare

MOST = 32  # results that are kept
Anything = TypeVar("Anything")
Arrays = TypeVar("Arrays", bound=tuple[np.ndarray, ...])


class InitialStateCache:
    """Results of the last starts, by their numbers: runs often begin alike. Any number of threads
    may ask.

    Nothing is kept of models that call user functions, whose values need not be the same again.
    `spare_jobs`: jobs in which starts were found, for the next.
    """

    def __init__(self, external: bool) -> None:
        self._external, self._lock = external, Lock()
        self.spare_jobs: list[Spare] = []
        self._known: OrderedDict[tuple[Hashable, ...], object] = OrderedDict()

    def get_arrays(
        self,
        kind: str,
        compute: Callable[[], Arrays],
        numbers: Sequence[float],
        *arrays: np.ndarray,
    ) -> Arrays:
        """Return the result of `compute`, which depends on numbers and arrays alone; computed once
        and cached."""
        if self._external:
            return compute()
        key = kind, float_bytes(numbers), *[x.tobytes() for x in arrays]
        cached = self._known.get(key)
        if cached is None:
            cached = self._store(key, compute())
        return cast(Arrays, tuple([x.copy() for x in cast(Arrays, cached)]))

    def get_object(self, arguments: Hashable, compute: Callable[[], Anything]) -> Anything:
        """Return the result of `compute`, which depends on `arguments` alone; computed once and
        cached."""
        key = "read", arguments
        cached = self._known.get(key)
        return cast(Anything, self._store(key, compute()) if cached is None else cached)

    def _store(self, key: tuple[Hashable, ...], value: Anything) -> Anything:
        with self._lock:
            self._known[key] = value
            if len(self._known) > MOST:
                self._known.popitem(last=False)
        return value


def float_bytes(numbers: Sequence[float]) -> bytes:
    """Numbers as bits."""
    return array("d", numbers).tobytes()
