"""Functions of a compiled program that CPython calls by themselves: a third of what a call through ctypes costs."""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable
from typing import Any

FUNCTIONS = (  # of CPython's stable interface, in the order in which python.c of the kernel takes their addresses
    "PyBool_FromLong",
    "PyBytes_AsString",
    "PyErr_Occurred",
    "PyFloat_AsDouble",
    "PyBuffer_Release",
    "PyObject_GetBuffer",
)
_NAME = b"rates"
_SEVERAL_ARGUMENTS = 0x80  # METH_FASTCALL
_FIRST = struct.calcsize("P")


def python_function(library: ctypes.CDLL, name: str, bound: int) -> Callable[..., bool] | None:
    """A function of the library that takes arguments of Python, with the address of what is bound; None where Python is
    another than CPython. It is valid as long as the library and what is bound are.

    The description of a function has to outlive it: it stands in the bytes that the function takes for `self`.
    """
    if sys.implementation.name != "cpython":
        return None
    api: Any = ctypes.pythonapi
    library.know_python((ctypes.c_void_p * len(FUNCTIONS))(*(_address(getattr(api, each)) for each in FUNCTIONS)))
    own = struct.pack("PPPiP", bound, _address(ctypes.c_char_p(_NAME)), _address(library[name]), _SEVERAL_ARGUMENTS, 0)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    made: Callable[..., bool] = make(("PyCFunction_NewEx", api))(_address(ctypes.c_char_p(own)) + _FIRST, own, None)
    return made


def _address(pointer: Any) -> int:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0
