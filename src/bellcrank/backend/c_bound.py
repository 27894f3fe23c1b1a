"""Rates of a compiled program by one call: parameters, constants and inputs bound once, in memory that C reads.

Nothing that is bound changes, and every call has room of its own: any number of threads may call.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank.backend.c_calls import CCalls
from bellcrank.backend.c_job import NO_FUNCTION, Function, InputSignal, Job, address
from bellcrank.backend.c_runs import signal_of
from bellcrank.errors import InternalError
from bellcrank.numeric.run_spec import Input


class Bound:
    """`address` is that of the C function `int rates_at(double t, const double *x, double *xdot, const void *bound)`,
    which returns 0 if all went well; `data` is what it takes for `bound`. Both are valid as long as this object lives.

    `called(t, x, out)` is the fastest way where nothing is called back (`calls_back`), if it is there: true when rates
    were left in `out`, false or an error if arguments are others than contiguous arrays of floats of the right length.
    `kept`: values of user functions for `rates_of_all` where they are not found afresh.
    """

    def __init__(self, program_calls: CCalls, p: Sequence[float], c: Sequence[float], inputs: Sequence[Input]) -> None:
        self._calls, self._inputs = program_calls, inputs
        self._signals = (InputSignal * max(len(inputs), 1))(*map(signal_of, inputs))
        has_callbacks = any(i.kind == "function" for i in inputs)
        self._function = Function(self._input) if has_callbacks else NO_FUNCTION
        self._externals = program_calls.externals(program_calls.memory)
        self.kept = np.zeros(len(program_calls.program.inputs) - len(inputs) + 1)
        self._arrays = [np.array([*values, 0.0]) for values in (p, c)]
        at_p, at_c = map(address, self._arrays)
        self._job = Job(
            function=self._function, inputs=ctypes.addressof(self._signals), p=at_p, c=at_c,
            externals=ctypes.addressof(self._externals), kept=address(self.kept),
        )  # fmt: skip
        self.data = ctypes.addressof(self._job)
        self.calls_back = has_callbacks or bool(program_calls.compiled.called_back)
        program_calls.libraries.tell(self)
        self.follow()

    def follow(self) -> None:
        """Takes the functions of the library that is there now; those of before stay valid."""
        library = self._calls.libraries.now
        self._all, self.address = library.rates_of_all, library.rates_address
        vars(self).pop("called", None)

    def expect_long_use(self) -> None:
        """Has the fast library made, if it is still to come."""
        self._calls.libraries.expect_long_use()

    @cached_property
    def called(self) -> Callable[..., bool] | None:
        if self.calls_back:
            return None
        return python_function(self._calls.library, "rates_called", self.data)

    def rates(self, t: float, x: np.ndarray) -> np.ndarray:
        """Rates of a state, an array of the right length, as they are at the start of a run."""
        x = np.ascontiguousarray(x)
        if self.called is not None and self.called(t, x, derivatives := np.empty(len(x))):
            return derivatives
        return self.rates_of_all(np.array([t]), x[None, :], afresh=True)[0]

    def rates_of_all(self, t: np.ndarray, x: np.ndarray, afresh: bool) -> np.ndarray:
        """Rates of states, one row each; `afresh`: as at the start of a run, else with the values in `kept`, and those
        of `derivatives` near singular configurations too."""
        times, rows = np.ascontiguousarray(t, float), np.ascontiguousarray(x, float)
        derivatives = np.empty_like(rows)
        addresses = map(address, (times, rows, derivatives))
        self._done(lambda: self._all(len(rows), afresh, *addresses, None, self.data))
        return derivatives

    def near_singular(self, t: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Which states, one row each, are so near to a singular configuration of closed loops that a run takes other
        equations there."""
        times, rows = np.ascontiguousarray(t, float), np.ascontiguousarray(x, float)
        derivatives, flags = np.empty_like(rows), np.zeros(len(rows), dtype=np.int32)
        addresses = map(address, (times, rows, derivatives, flags))
        self._done(lambda: self._all(len(rows), 0, *addresses, self.data))
        return flags != 0

    def is_calm(
        self, t: np.ndarray, x: np.ndarray, h: float, relative_step: float, squarings: int, threshold: float
    ) -> bool:
        """Return True if all modes at some states, one row each, are slow compared with the step h.

        This is so if the sum of the squared entries of (h A)^(2^squarings) is below `threshold`. A is the Jacobian of
        the state derivatives by finite differences with a `relative_step`.
        """
        times, rows = np.ascontiguousarray(t, float), np.ascontiguousarray(x, float)
        arguments = len(rows), address(times), address(rows), h, relative_step, squarings, threshold, self.data
        return self._answer(self._calls.libraries.now.is_calm, arguments)

    def is_calm_run(self, rows: np.ndarray, h: float, relative_step: float, squarings: int, threshold: float) -> bool:
        """The same of a run, by its rows, all of them finite: at its start, after each third, and on both sides of the
        three largest changes of speeds."""
        rows = np.ascontiguousarray(rows, float)
        arguments = *rows.shape, address(rows), h, relative_step, squarings, threshold, self.data
        return self._answer(self._calls.libraries.now.is_calm_run, arguments)

    def _answer(self, function: Callable[..., int], arguments: tuple[Any, ...]) -> bool:
        """What C says."""
        if not self.calls_back:
            return bool(function(*arguments))
        answer = 0

        def call() -> int:
            nonlocal answer
            answer = function(*arguments)
            return 0

        self._done(call)
        return bool(answer)

    def _done(self, call: Callable[[], int]) -> None:
        """Calls C; raises what routines or inputs in Python raised."""
        failed = self._calls.back.during(call) if self.calls_back else call()
        if failed:
            raise InternalError(f"the rates of {self._calls.program.name} ended with status {failed}")

    def _input(self, *arguments: object) -> int:
        return self._calls.back.guarded(self._call_input, *arguments)

    def _call_input(self, number: int, t: float, value: list[float]) -> None:
        value[0] = self._inputs[number].function(t)


# ---- functions of a compiled program that CPython calls by themselves: a third of what a call through ctypes costs


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
    definition = struct.pack(
        "PPPiP", bound, _address(ctypes.c_char_p(_NAME)), _address(library[name]), _SEVERAL_ARGUMENTS, 0
    )
    create = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    function: Callable[..., bool] = create(("PyCFunction_NewEx", api))(
        _address(ctypes.c_char_p(definition)) + _FIRST, definition, None
    )
    return function


def _address(pointer: Any) -> int:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0
