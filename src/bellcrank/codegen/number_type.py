"""The type of numbers that a program computes in. Printers and run-time sources alone know it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NumberType:
    """A type of C. `suffix` ends its literals, `header` declares mathematical functions that follow
    the type of their arguments, `sines` is the run-time source that takes sines and cosines
    together.

    User functions, tables of linkages and what is called back speak double precision whatever a
    program computes in.
    """

    name: str
    c: str
    epsilon: float
    suffix: str
    header: str
    sines: str

    @property
    def relative_epsilon(self) -> float:
        """How much more than in double precision it is rounded."""
        return self.epsilon / 2.0**-52


DOUBLE = NumberType("double", "double", 2.0**-52, "", "math.h", "sincos.c")
FLOAT = NumberType("float", "float", 2.0**-23, "f", "tgmath.h", "sincos_library.c")
