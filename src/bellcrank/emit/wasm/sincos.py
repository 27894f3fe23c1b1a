"""Sines and cosines in WebAssembly: instructions where they are needed, the same digits in every browser.

An angle is k right angles and a rest (Cody & Waite), whose sine and cosine are polynomials (the kernels of `sincos.c`).
Math.sin and Math.cos take over beyond 2^20 right angles and for what is not finite.
"""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.emit.wasm import binary as b

SCRATCH = 6  # locals that are used on the way
_SHIFT = 6755399441055744.0  # 3*2^51: what is added to it is rounded to a whole number, which its last bits then hold
_PER_RIGHT_ANGLE = 0.63661977236758138
_FAR = 2**20 / _PER_RIGHT_ANGLE
_RIGHT_ANGLE = (1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
_SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
_COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip


def sincos(x: int, sine: int | None, cosine: int | None, scratch: Sequence[int], by: tuple[int, int]) -> bytes:
    """A block that puts sine and cosine of the local x into locals; `by`: the numbers of Math.sin and Math.cos.

    What stands in it before the `if` is for angles that are near, what stands in that for others: it gives all of the
    results, and who cannot read the rest of the block may leave it out.
    """
    shifted, r, r2, r4, s, c = scratch
    get, put, tee, number = b.get, b.put, b.tee, b.number

    def polynomial(a: tuple[float, ...]) -> bytes:
        pairs = [number(a[i]) + get(r2) + number(a[i + 1]) + b.MUL + b.ADD for i in (0, 2, 4)]
        return pairs[0] + get(r4) + pairs[1] + get(r4) + pairs[2] + b.MUL + b.ADD + b.MUL + b.ADD

    def turned(even: int, odd: int, quarter: int) -> bytes:
        """That of the rest which k right angles lead to, with its sign."""
        bits = get(shifted) + b.BITS
        chosen = get(odd) + get(even) + bits + b.i64(1) + b.I64_AND + b.WRAP + b.SELECT
        sign = bits + b.i64(quarter) + b.I64_ADD + b.i64(2) + b.I64_AND + b.i64(62) + b.I64_SHL
        return chosen + b.BITS + sign + b.I64_XOR + b.FROM_BITS

    code = get(x) + number(_PER_RIGHT_ANGLE) + b.MUL + number(_SHIFT) + b.ADD + tee(shifted)
    code += number(_SHIFT) + b.SUB + put(r4)
    code += get(x) + b"".join(get(r4) + number(part) + b.MUL + b.SUB for part in _RIGHT_ANGLE)
    code += tee(r) + get(r) + b.MUL + tee(r2) + get(r2) + b.MUL + put(r4)
    code += get(r) + get(r) + get(r2) + b.MUL + polynomial(_SINE) + b.MUL + b.ADD + put(s)
    code += (
        number(1.0) + get(r2) + number(-0.5) + get(r2) + polynomial(_COSINE) + b.MUL + b.ADD + b.MUL + b.ADD + put(c)
    )
    far = b""
    for target, even, odd, quarter, function in ((sine, s, c, 0, by[0]), (cosine, c, s, 1, by[1])):
        if target is not None:
            code += turned(even, odd, quarter) + put(target)
            far += get(x) + b.call(function) + put(target)
    test = get(x) + b.ABS + number(_FAR) + b.LE + b.NOT
    return b.BLOCK + code + test + b.IF + far + b.END + b.END
