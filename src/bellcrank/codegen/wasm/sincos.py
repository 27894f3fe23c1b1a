"""Sines and cosines in WebAssembly: instructions where they are needed.

An angle x is k/64 and a rest r, both exact; S = sin(k/64) and C = cos(k/64) come from a table, sin
r and cos r - 1 from short series, and the rest is the theorem of addition (Tang 1991, Table-lookup
algorithms for elementary functions). Angles outside the table, 4 rad, are turned back by whole
turns first (Cody & Waite). Results are right to 1.6e-16, of angles that were turned back to 3e-16.
Numbers are loaded from memory: engines make each out of five instructions.
"""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.codegen.memory import FLOAT64_BYTES, PARTS, ROWS
from bellcrank.codegen.wasm import encode_module as b
from bellcrank.codegen.wasm.number_pool import NumberPool

# 3*2^51: what is added to it is rounded to a whole number, which its last bits then hold
_WHOLE = 6755399441055744.0
_SHIFT = (
    _WHOLE + ROWS / 2
) / PARTS  # the same for parts of a radian: the last bits are the row of the table
_SHIFT_BITS = 0x42D8000000000000  # all other bits of what was shifted, if it is a row
_TURN = (
    6.2831853069365024566650390625,
    2.43084020260247688e-10,
)  # 33 bits, so that products are exact; the rest
_PER_TURN = 0.15915494309189535
_FAR = 2.0**22  # angles from which on, and if not finite, Math must take over
_SINE = (-1 / 6, 1 / 120)
_COSINE = (-0.5, 1 / 24 - 7.1e-8)  # so much less, since no term follows: 3e-17 are left

_NUMBERS = (_SHIFT, *_SINE, *_COSINE)
_STEPS = 5
SCRATCH = _STEPS + len(_NUMBERS)  # floats that are used on the way


class SinCosCode:
    """Instructions for angles that are taken after each other. `at`: the address of the table;
    `scratch` are locals for floats, `row` is one for an i32 and `bits` one for an i64."""

    def __init__(
        self, address: int, numbers: NumberPool, scratch: Sequence[int], row: int, bits: int
    ) -> None:
        self.at, self.numbers, self.row, self.bits = address, numbers, row, bits
        self._x, self._shifted, self._r, self._r2, self._other = scratch[:_STEPS]
        self._kept = dict(zip(_NUMBERS, scratch[_STEPS:], strict=True))

    def load_constants(self) -> bytes:
        """Brings the numbers that all angles need into locals."""
        return b"".join(
            self.numbers.load_constant(x) + b.local_set(local) for x, local in self._kept.items()
        )

    def sincos_block(self, angle: bytes, sine: int | None, cosine: int | None, far: bytes) -> bytes:
        """A block that puts sine and cosine of an angle into locals; `far` does it where the angle
        is very large or not finite, in the only `if` of the block: who cannot read the rest takes
        this alone."""
        x, shift = b.local_get(self._x), b.local_get(self._kept[_SHIFT])
        shifted = x + shift + b.ADD + b.local_tee(self._shifted) + b.BITS + b.local_tee(self.bits)
        in_table = b.i64_const(_SHIFT_BITS) + b.XOR_64 + b.i64_const(ROWS) + b.LESS_64
        far_branch = (
            x + b.ABS + b.f64_const(_FAR) + b.LT + b.NOT + b.IF + far + b.branch_out(2) + b.END
        )
        code = b.BLOCK + angle + b.local_set(self._x) + b.BLOCK + shifted + in_table + b.leave_if(0)
        code += far_branch + self._reduce_argument() + shifted + b.DROP + b.END
        return code + self._interpolate_table(sine, cosine) + b.END

    def _reduce_argument(self) -> bytes:
        rounding = self.numbers.load_constant(_WHOLE)
        rotations = (
            b.local_get(self._x)
            + self.numbers.load_constant(_PER_TURN)
            + b.MUL
            + rounding
            + b.ADD
            + rounding
            + b.SUB
            + b.local_set(self._r)
        )
        subtractions = (
            b.local_get(self._r) + self.numbers.load_constant(part) + b.MUL + b.SUB
            for part in _TURN
        )
        return rotations + b.local_get(self._x) + b"".join(subtractions) + b.local_set(self._x)

    def _interpolate_table(self, sine: int | None, cosine: int | None) -> bytes:
        get, put, tee, s, c = b.local_get, b.local_set, b.local_tee, self._shifted, self._other
        r, r2, row = self._r, self._r2, self.row
        code = (
            get(self.bits)
            + b.LOW
            + b.i32_const(ROWS - 1)
            + b.AND
            + b.i32_const(3)
            + b.SHIFTED
            + put(row)
        )
        code += (
            get(self._x)
            + get(s)
            + get(self._kept[_SHIFT])
            + b.SUB
            + b.SUB
            + tee(r)
            + get(r)
            + b.MUL
            + put(r2)
        )
        code += (
            get(r)
            + get(r)
            + get(r2)
            + b.MUL
            + self._even_polynomial(_SINE)
            + b.MUL
            + b.ADD
            + put(r)
        )
        code += get(r2) + self._even_polynomial(_COSINE) + b.MUL + put(r2)
        code += (
            get(row)
            + b.f64_load(self.at)
            + put(s)
            + get(row)
            + b.f64_load(self.at + FLOAT64_BYTES * ROWS)
            + put(c)
        )
        for target, one, cofunction, sign in ((sine, s, c, b.ADD), (cosine, c, s, b.SUB)):
            if target is not None:
                increment = get(one) + get(r2) + b.MUL + get(cofunction) + get(r) + b.MUL + sign
                code += get(one) + increment + b.ADD + put(target)
        return code

    def _even_polynomial(self, a: Sequence[float]) -> bytes:
        """Of r2."""
        low, high = (b.local_get(self._kept[x]) for x in a)
        return low + b.local_get(self._r2) + high + b.MUL + b.ADD
