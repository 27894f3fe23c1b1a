"""Sines and cosines in WebAssembly: a function of two results, the same digits in every browser.

An angle is k right angles and a rest (Cody & Waite), whose sine and cosine are polynomials (the kernels of `sincos.c`).
Math.sin and Math.cos take over beyond 2^20 right angles and for what is not finite.
"""

from __future__ import annotations

from bellcrank.emit.wasm.binary import (
    ADD,
    BITS,
    END,
    F64,
    FROM_BITS,
    I64,
    I64_ADD,
    I64_AND,
    I64_GE_U,
    I64_SHL,
    I64_SUB,
    I64_XOR,
    IF,
    MUL,
    RETURN,
    SELECT,
    SUB,
    WRAP,
    Defined,
    Type,
    body,
    call,
    get,
    i64,
    number,
    put,
    tee,
)  # fmt: skip

SINCOS = Type((F64,), (F64, F64))
_SHIFT = 6755399441055744.0  # 3*2^51: what is added to it is rounded to a whole number, which its last bits then hold
_SHIFT_BITS = 0x4338000000000000
_PER_RIGHT_ANGLE = 0.63661977236758138
_RIGHT_ANGLE = (1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
_SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
_COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip


def sincos(sine_of: int, cosine_of: int) -> Defined:
    """The function; its arguments are the numbers of Math.sin and Math.cos."""
    x, shifted, k, r, r2, r4, sine, cosine, bits = range(9)

    def polynomial(a: tuple[float, ...]) -> bytes:
        pairs = [number(a[i]) + get(r2) + number(a[i + 1]) + MUL + ADD for i in (0, 2, 4)]
        return pairs[0] + get(r4) + pairs[1] + get(r4) + pairs[2] + MUL + ADD + MUL + ADD

    code = get(x) + number(_PER_RIGHT_ANGLE) + MUL + number(_SHIFT) + ADD + tee(shifted) + number(_SHIFT) + SUB + put(k)
    code += get(x) + b"".join(get(k) + number(part) + MUL + SUB for part in _RIGHT_ANGLE)
    code += tee(r) + get(r) + MUL + tee(r2) + get(r2) + MUL + put(r4)
    code += get(r) + get(r) + get(r2) + MUL + polynomial(_SINE) + MUL + ADD + put(sine)
    code += number(1.0) + get(r2) + number(-0.5) + get(r2) + polynomial(_COSINE) + MUL + ADD + MUL + ADD + put(cosine)
    far = get(shifted) + BITS + tee(bits) + i64(_SHIFT_BITS - 2**20) + I64_SUB + i64(2**21) + I64_GE_U
    code += far + IF + get(x) + call(sine_of) + get(x) + call(cosine_of) + RETURN + END

    def turned(even: int, odd: int, quarter: int) -> bytes:
        """That of the rest which k right angles lead to, with its sign."""
        chosen = get(odd) + get(even) + get(bits) + i64(1) + I64_AND + WRAP + SELECT
        sign = get(bits) + i64(quarter) + I64_ADD + i64(2) + I64_AND + i64(62) + I64_SHL
        return chosen + BITS + sign + I64_XOR + FROM_BITS

    code += turned(sine, cosine, 0) + turned(cosine, sine, 1)
    return Defined("sincos", SINCOS, body([(7, F64), (1, I64)], code))
