"""The structures of a compiled run as ctypes knows them, made of the lists from which their C text is printed."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from bellcrank.emit.c import job
from bellcrank.errors import InternalError

Double = ctypes.POINTER(ctypes.c_double)
External = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, Double, Double)
Function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_double, Double)
NO_EXTERNAL, NO_FUNCTION = External(), Function()
_TYPES: dict[str, Any] = {
    "int": ctypes.c_int32,
    "long": ctypes.c_int64,
    "real": ctypes.c_double,
    "double": ctypes.c_double,
    "six reals": ctypes.c_double * 6,
    "input function": Function,
    "external function": External,
}  # all others are pointers


def _mirror(name: str, fields: tuple[job.Field, ...]) -> Any:
    listed = [(each, _TYPES.get(f.kind, ctypes.c_void_p)) for f in fields for each in f.names.split()]
    return type(name, (ctypes.Structure,), {"_fields_": listed})


Externals = _mirror("Externals", job.EXTERNALS)
InputSignal = _mirror("InputSignal", job.INPUT)
Job = _mirror("Job", job.RUN)
LoopJob = _mirror("LoopJob", job.LOOPS)
DaeJob = _mirror("DaeJob", job.DAE)
RigidJob = _mirror("RigidJob", job.RIGID)
Array = _mirror("Array", job.ARRAY)
Batch = _mirror("Batch", job.BATCH)
JOBS = {Job: job.RUN, LoopJob: job.LOOPS, RigidJob: job.RIGID}  # of runs that a driver may start, with their fields


def address(array: np.ndarray) -> int:
    """Where an array begins that is contiguous and may be written to: sooner found than by the array itself."""
    if not array.size:
        return array.ctypes.data
    return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]


def check_sizes(library: Any, job_type: Any) -> None:
    """Compares the structures of a library with those here."""
    found = (ctypes.c_int64 * 3)()
    library.structure_sizes(found)
    for kind, size in zip((job_type, InputSignal, Externals), found, strict=True):
        if ctypes.sizeof(kind) != size:
            raise InternalError(
                f"{kind.__name__} has {size} bytes in the compiled program and {ctypes.sizeof(kind)} where it is "
                "called from"
            )
