"""Sines and cosines in WebAssembly: instructions where they are needed, the same digits in every browser.

Two angles are taken at once, in vectors. An angle is k right angles and a rest (Cody & Waite), whose sine and cosine
are polynomials (the kernels of `sincos.c`). Numbers are loaded from memory: engines make each out of five instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bellcrank.emit.wasm import binary as b

_SHIFT = 6755399441055744.0  # 3*2^51: what is added to it is rounded to a whole number, which its last bits then hold
_PER_RIGHT_ANGLE = 0.63661977236758138
FAR = (2**20 / _PER_RIGHT_ANGLE) ** 2  # squares of angles beyond which, and if not finite, others must take over
_RIGHT_ANGLE = (1.57079632673412561417, 6.0771005065061922e-11)  # 33 bits, so that products with k are exact; the rest
_SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
_COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip

_NUMBERS = (_PER_RIGHT_ANGLE, _SHIFT, *_RIGHT_ANGLE, *_SINE, *_COSINE, 1.0, -0.5)
SCRATCH = 8 + len(_NUMBERS)  # pairs that are used on the way


def sincos(number: Callable[[float], bytes], scratch: Sequence[int], first: bool) -> bytes:
    """Sines and cosines of a pair of angles on the stack, in the first two of the locals `scratch`; the sum of the
    squares of all angles since the `first` in the third of them. `number` gives the instructions for a pair of equal
    numbers, which the first pair loads and all that follow use."""
    s, c, squares, x, shifted, r, r2, r4, *rest = scratch
    kept = dict(zip(_NUMBERS, rest, strict=True))
    loaded = set[float]() if first else set(kept)
    get, put, tee = b.get, b.put, b.tee
    add, sub, mul = b.PAIR_ADD, b.PAIR_SUB, b.PAIR_MUL

    def both(value: float) -> bytes:
        if value in loaded:
            return get(kept[value])
        loaded.add(value)
        return number(value) + tee(kept[value])

    def polynomial(a: tuple[float, ...]) -> bytes:
        """Of r2, few operations after each other (Estrin)."""
        low, middle, high = (both(a[i]) + get(r2) + both(a[i + 1]) + mul + add for i in (0, 2, 4))
        return low + get(r4) + middle + mul + add + get(r4) + get(r4) + mul + high + mul + add

    code = tee(x) + get(x) + mul + (b"" if first else get(squares) + add) + put(squares)
    code += get(x) + both(_PER_RIGHT_ANGLE) + mul + both(_SHIFT) + add + tee(shifted)
    code += both(_SHIFT) + sub + put(r4)
    code += get(x) + b"".join(get(r4) + both(part) + mul + sub for part in _RIGHT_ANGLE)
    code += tee(r) + get(r) + mul + tee(r2) + get(r2) + mul + put(r4)
    code += get(r) + get(r) + get(r2) + mul + polynomial(_SINE) + mul + add + put(s)
    code += both(1.0) + get(r2) + both(-0.5) + mul + get(r4) + polynomial(_COSINE) + mul + add + add + put(c)
    # An odd number of right angles changes sine and cosine, two turn their signs.
    odd, sign, swap = r, r2, r4
    code += get(shifted) + b.i32(63) + b.PAIR_SHL + tee(odd) + b.i32(63) + b.PAIR_SHR + put(swap)
    code += get(shifted) + b.i32(62) + b.PAIR_SHL + get(odd) + b.i32(1) + b.PAIR_SHIFT + b.PAIR_XOR + put(sign)
    code += get(c) + get(s) + get(swap) + b.PAIR_CHOOSE + get(sign) + b.PAIR_XOR
    code += get(s) + get(c) + get(swap) + b.PAIR_CHOOSE + get(sign) + get(odd) + b.PAIR_XOR + b.PAIR_XOR
    return code + put(c) + put(s)
