"""The structures of a compiled run as ctypes knows them, made of the headers of the kernel."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.core.errors import InternalError
from bellcrank.kernel.layout import structure_fields

if TYPE_CHECKING:
    DoubleArray = ctypes.Array[ctypes.c_double]
    DoublePointer = ctypes._Pointer[ctypes.c_double]

Double = ctypes.POINTER(ctypes.c_double)
External = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, Double, Double)
Function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_double, Double)
NO_EXTERNAL, NO_FUNCTION = External(), Function()
_TYPES: dict[str, Any] = {
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "real": ctypes.c_double,
    "double": ctypes.c_double,
    "*": ctypes.c_void_p,
    "function": ctypes.c_void_p,
}
UseValues = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
Close = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int32, Double)
RowAt = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_double, Double)
Hold = ctypes.CFUNCTYPE(None, ctypes.c_int32)
_CALLBACKS: dict[str, Any] = {
    "callback": External,
    "function": Function,
    "use_values": UseValues,
    "close": Close,
    "row_at": RowAt,
    "hold": Hold,
}


def _ctypes_structure(file: str, name: str) -> Any:
    fields = [
        (field, _CALLBACKS.get(field, _TYPES[kind]) if length == 1 else _TYPES[kind] * length)
        for field, kind, length in structure_fields(file, name)
    ]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


Externals = _ctypes_structure("externals.h", "Externals")
InputSignal = _ctypes_structure("input.h", "Input")
Events = _ctypes_structure("events.h", "Events")
Job = _ctypes_structure("job.h", "Job")
Array = _ctypes_structure("batch.h", "Array")
Batch = _ctypes_structure("batch.h", "Batch")


def record_dtype(file: str, name: str) -> np.dtype[Any]:
    """Records of a structure without pointers, for arrays of it."""
    fields = [(field, _TYPES[kind]) for field, kind, _ in structure_fields(file, name)]
    return np.dtype(fields, align=True)


def array_address(array: np.ndarray) -> int:
    """Where an array begins that is contiguous and may be written to: sooner found than by the
    array itself."""
    if not array.size:
        return array.ctypes.data
    return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]


def check_structure_sizes(library: ctypes.CDLL) -> None:
    """Compares the structures of a library with those here."""
    sizes = (ctypes.c_int64 * 4)()
    library.structure_sizes(sizes)
    for kind, size in zip((Job, InputSignal, Externals, Events), sizes, strict=True):
        if ctypes.sizeof(kind) != size:
            raise InternalError(
                f"{kind.__name__} has {size} bytes in the compiled program and "
                f"{ctypes.sizeof(kind)} where it is "
                "called from"
            )
