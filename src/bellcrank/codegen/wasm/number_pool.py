"""Numbers of a program's text that lie in memory, from where one instruction loads them."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from bellcrank.codegen.memory import FLOAT64_BYTES
from bellcrank.codegen.wasm import encode_module as b


class NumberPool:
    """Collects numbers; `at` is the address of the first."""

    def __init__(self, address: int) -> None:
        self.at, self.values = address, list[float]()
        self._places: dict[bytes, int] = {}

    def load_constant(self, x: float) -> bytes:
        """Instructions that give the number."""
        return (
            b.f64_const(x)
            if _fits_one_instruction(x)
            else b.i32_const(self._place_constant(x)) + b.f64_load(0)
        )

    def place_values(self, values: Sequence[float]) -> int:
        """The address of several numbers, one behind the other."""
        address = self.at + FLOAT64_BYTES * len(self.values)
        self.values += values
        return address

    def _place_constant(self, x: float) -> int:
        key = struct.pack("<d", x)
        if key not in self._places:
            self._places[key] = self.at + FLOAT64_BYTES * len(self.values)
            self.values.append(x)
        return self._places[key]


def _fits_one_instruction(x: float) -> bool:
    """Is it made by one instruction? So are 0 and n/16 2^e with n of 16 to 31 and e of -3 to 4, on
    ARM."""
    size, power = math.frexp(abs(x))
    return x == 0.0 or (math.isfinite(x) and (size * 32).is_integer() and -2 <= power <= 5)
