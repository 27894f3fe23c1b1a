"""Rates of a compiled program by one call: parameters, constants and inputs bound once, in memory
that C reads.

Nothing that is bound changes, and every call has room of its own: any number of threads may call.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.core.errors import InternalError
from bellcrank.core.numeric.run_spec import ProgramInput
from bellcrank.simulation.backend.c_calls import CCalls
from bellcrank.simulation.backend.c_runs import to_input_struct
from bellcrank.simulation.backend.c_structures import (
    NO_FUNCTION,
    Function,
    InputSignal,
    Job,
    array_address,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bellcrank.simulation.backend.c_structures import DoublePointer


class BoundRhs:
    """`array_address` is that of the C function `int rates_at(double t, const double *x, double
    *xdot, const void *bound)`, which returns 0 if all went well; `data` is what it takes for
    `bound`. Both are valid as long as this object lives.

    `python_entry(t, x, out)` is the fastest way where nothing is called back (`calls_python`), if
    it is there: true when rates were left in `out`, false or an error if arguments are others than
    contiguous arrays of floats of the right length. `sampled_values`: values of user functions for
    `batch_rates` where they are not found afresh.
    """

    def __init__(
        self,
        program_calls: CCalls,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[ProgramInput],
    ) -> None:
        self._calls, self._inputs = program_calls, inputs
        self._signals = (InputSignal * max(len(inputs), 1))(*map(to_input_struct, inputs))
        has_callbacks = any(i.kind == "function" for i in inputs)
        self._function = Function(self._input_callback) if has_callbacks else NO_FUNCTION
        self._externals = program_calls.new_externals(program_calls.memory)
        self.sampled_values = np.zeros(len(program_calls.program.inputs) - len(inputs) + 1)
        self._arrays = [np.array([*values, 0.0]) for values in (p, c)]
        at_p, at_c = map(array_address, self._arrays)
        self._job = Job(
            function=self._function,
            inputs=ctypes.addressof(self._signals),
            p=at_p,
            c=at_c,
            externals=ctypes.addressof(self._externals),
            kept=array_address(self.sampled_values),
        )
        self.data = ctypes.addressof(self._job)
        self.calls_python = has_callbacks or bool(program_calls.compiled.python_functions)
        program_calls.libraries.register(self)
        self.rebind_library()

    def rebind_library(self) -> None:
        """Takes the functions of the library that is there now; those of before stay valid."""
        library = self._calls.libraries.current
        self._all, self.address = library.batch_rates, library.rates_address
        vars(self).pop("python_entry", None)

    def expect_long_use(self) -> None:
        """Has the fast library made, if it is still to come."""
        self._calls.libraries.expect_long_use()

    @cached_property
    def python_entry(self) -> Callable[..., bool] | None:
        if self.calls_python:
            return None
        return make_python_function(self._calls.library, "rates_called", self.data)

    def rates(self, t: float, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rates of a state, an array of the right length, as they are at the start of a run."""
        x = np.ascontiguousarray(x)
        if self.python_entry is not None and self.python_entry(
            t, x, derivatives := np.empty(len(x))
        ):
            return derivatives
        return self.batch_rates(np.array([t]), x[None, :], afresh=True)[0]

    def batch_rates(
        self, t: NDArray[np.float64], x: NDArray[np.float64], afresh: bool
    ) -> NDArray[np.float64]:
        """Rates of states, one row each; `afresh`: as at the start of a run, else with the values
        in `sampled_values`, and those of `derivatives` near singular configurations too."""
        times, rows = np.ascontiguousarray(t, float), np.ascontiguousarray(x, float)
        derivatives = np.empty_like(rows)
        addresses = map(array_address, (times, rows, derivatives))
        self._call_checked(lambda: self._all(len(rows), afresh, *addresses, None, self.data))
        return derivatives

    def near_singular_mask(
        self, t: NDArray[np.float64], x: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Which states, one row each, are so near to a singular configuration of closed loops that
        a run takes other equations there."""
        times, rows = np.ascontiguousarray(t, float), np.ascontiguousarray(x, float)
        derivatives, flags = np.empty_like(rows), np.zeros(len(rows), dtype=np.int32)
        addresses = map(array_address, (times, rows, derivatives, flags))
        self._call_checked(lambda: self._all(len(rows), 0, *addresses, self.data))
        return flags != 0

    def is_stable_step(
        self,
        t: NDArray[np.float64],
        x: NDArray[np.float64],
        h: float,
        relative_step: float,
        squarings: int,
        threshold: float,
    ) -> bool:
        """Return True if all modes at some states, one row each, are slow compared with the step h.

        This is so if the sum of the squared entries of (h A)^(2^squarings) is below `threshold`. A
        is the Jacobian of the state derivatives by finite differences with a `relative_step`.
        """
        times, rows = np.ascontiguousarray(t, float), np.ascontiguousarray(x, float)
        arguments = (
            len(rows),
            array_address(times),
            array_address(rows),
            h,
            relative_step,
            squarings,
            threshold,
            self.data,
        )
        return self._call_predicate(self._calls.libraries.current.is_stable_step, arguments)

    def is_stable_run(
        self,
        rows: NDArray[np.float64],
        h: float,
        relative_step: float,
        squarings: int,
        threshold: float,
    ) -> bool:
        """The same of a run, by its rows, all of them finite: at its start, after each third, and
        on both sides of the three largest changes of speeds."""
        rows = np.ascontiguousarray(rows, float)
        arguments = (
            *rows.shape,
            array_address(rows),
            h,
            relative_step,
            squarings,
            threshold,
            self.data,
        )
        return self._call_predicate(self._calls.libraries.current.is_stable_run, arguments)

    def _call_predicate(self, function: Callable[..., int], arguments: tuple[float, ...]) -> bool:
        """What C says."""
        if not self.calls_python:
            return bool(function(*arguments))
        answer = 0

        def call() -> int:
            nonlocal answer
            answer = function(*arguments)
            return 0

        self._call_checked(call)
        return bool(answer)

    def _call_checked(self, call: Callable[[], int]) -> None:
        """Calls C; raises what routines or inputs in Python raised."""
        failed = self._calls.callbacks.call_c(call) if self.calls_python else call()
        if failed:
            raise InternalError(
                f"the rates of {self._calls.program.name} ended with status {failed}"
            )

    def _input_callback(self, number: int, t: float, value: DoublePointer) -> int:
        return self._calls.callbacks.run_guarded(self._evaluate_input, number, t, value)

    def _evaluate_input(self, number: int, t: float, value: DoublePointer) -> None:
        value[0] = self._inputs[number].function(t)


# ---- functions of a compiled program that CPython calls by themselves: a third of what a call
# through ctypes costs


# of CPython's stable interface, in the order in which python.c of the kernel takes their addresses
FUNCTIONS = (
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


def make_python_function(library: ctypes.CDLL, name: str, bound: int) -> Callable[..., bool] | None:
    """A function of the library that takes arguments of Python, with the address of what is bound;
    None where Python is another than CPython. It is valid as long as the library and what is bound
    are.

    The description of a function has to outlive it: it stands in the bytes that the function takes
    for `self`.
    """
    if sys.implementation.name != "cpython":
        return None
    api: Any = ctypes.pythonapi
    library.know_python(
        (ctypes.c_void_p * len(FUNCTIONS))(
            *(_pointer_value(getattr(api, each)) for each in FUNCTIONS)
        )
    )
    definition = struct.pack(
        "PPPiP",
        bound,
        _pointer_value(ctypes.c_char_p(_NAME)),
        _pointer_value(library[name]),
        _SEVERAL_ARGUMENTS,
        0,
    )
    create = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    function: Callable[..., bool] = create(("PyCFunction_NewEx", api))(
        _pointer_value(ctypes.c_char_p(definition)) + _FIRST, definition, None
    )
    return function


def _pointer_value(pointer: Any) -> int:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0
