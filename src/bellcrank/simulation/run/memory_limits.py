"""Memory: what results need and what there is, so that a run that cannot be held is rejected before
it begins."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.numeric.run_spec import RunSpec

SMALL = 2**26  # bytes that are always taken
CGROUP = Path("/sys/fs/cgroup")
LARGER = (
    "use a larger output_every (--output-every), a shorter run, or segments continued with start="
)
TIMES = 24.0  # bytes for each output time of many runs: as counted, scaled and joined
# of the samples of a run: as they are recorded, as channels in user units, and what is looked at
COPIES = 2.25


def available_memory() -> float:
    """Bytes that this process can take now, as the system and the limits of its group of processes
    have it."""
    limits = [_system_memory(), *_cgroup_memory()]
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            limits.append(float(limit))
    return min(limits)


def _system_memory() -> float:
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * int(line.split()[1])
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def _cgroup_memory() -> list[float]:
    """What is left to the groups of this process, the innermost and those above it, as containers
    have them."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    group = next((line[3:].strip("/") for line in lines if line.startswith("0::")), "")
    limits = []
    for folder in (CGROUP / group, *(CGROUP / group).parents):
        with suppress(OSError, ValueError):  # no limit is the word max
            limit, usage = (
                int((folder / f"memory.{x}").read_text(encoding="ascii"))
                for x in ("max", "current")
            )
            limits.append(float(max(limit - usage + _reclaimable_bytes(folder), 0)))
        if folder == CGROUP:
            break
    return limits


def _reclaimable_bytes(folder: Path) -> int:
    """Bytes of files that a group has read and need not keep."""
    for line in (folder / "memory.stat").read_text(encoding="ascii").splitlines():
        if line.startswith("inactive_file "):
            return int(line.split()[1])
    return 0


def check_memory(subject: str, required_bytes: float, advice: str) -> None:
    """Raise an error if results need more memory than is available; `advice`: how to need less."""
    if required_bytes <= SMALL:
        return
    available = available_memory()
    if required_bytes > available:
        raise RunError(
            f"{subject} need about {_size_label(required_bytes)} of memory, and "
            f"{_size_label(available)} are "
            f"available: {advice}"
        )


def _size_label(count: float) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"


class SampleBuffer:
    """Samples of a run as they come."""

    def __init__(self) -> None:
        self._room = np.empty((0, 1))
        self._filled = 0

    def append(self, rows: np.ndarray, expected: int) -> None:
        """Takes rows; so many are `expected` in all when the first come."""
        if len(rows):
            if not len(self._room):
                self._room = _allocate_samples(expected, rows.shape[1])
            filled = self._filled + len(rows)
            if filled > len(self._room):  # events add rows
                self._room = np.vstack([self.samples, _allocate_samples(filled, rows.shape[1])])
            self._room[self._filled : filled] = rows
            self._filled = filled

    @property
    def samples(self) -> np.ndarray:
        return self._room[: self._filled]


def check_result_memory(spec: RunSpec, width: int) -> None:
    """Rejects a run whose result cannot be held."""
    rows = (spec.n_steps - spec.first_step) // spec.output_every + 2
    check_memory(f"{rows} samples of {width} channels", COPIES * rows * width * 8, LARGER)


def _allocate_samples(rows: int, width: int) -> np.ndarray:
    try:
        return np.empty((rows, width))
    except MemoryError:
        size = rows * width * 8 / 2**30
        raise RunError(
            f"{rows} samples of {width} channels need {size:.1f} GiB of memory: {LARGER}"
        ) from None
