"""What a compiled program knows of CPython, to be called from there without the way through ctypes."""

from __future__ import annotations

from bellcrank.emit.c.runtime_files import runtime

FUNCTIONS = {  # of its stable interface, in the order in which a program gets their addresses, as C declares them
    "PyBool_FromLong": "void *(*{})(long)",
    "PyBytes_AsString": "char *(*{})(void *)",
    "PyErr_Occurred": "void *(*{})(void)",
    "PyFloat_AsDouble": "double (*{})(void *)",
    "PyBuffer_Release": "void (*{})(Py_buffer *)",
    "PyObject_GetBuffer": "int (*{})(void *, Py_buffer *, int)",
}


def python_calls() -> str:
    """Functions of CPython; they follow the text of bound rates."""
    lines = "\n".join(f"    {kind.format(name)};" for name, kind in FUNCTIONS.items())
    return runtime("python.c", FUNCTIONS=lines)
