"""Sines and cosines in WebAssembly: instructions where they are needed, the same digits in every browser.

An angle is k right angles and a rest (Cody & Waite), whose sine and cosine are polynomials (the kernels of `sincos.c`).
Numbers are loaded from memory: engines make each out of five instructions. Two angles may be taken at once, in vectors,
which every browser has since 2023.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bellcrank.emit.wasm import binary as b
from bellcrank.emit.wasm.numbers import Numbers

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
_STEPS = 8
SCRATCH = _STEPS + len(_NUMBERS)  # locals that are used on the way


@dataclass(frozen=True)
class Width:
    """How many angles are taken at once, in what kind of locals, by which instructions."""

    angles: int
    local: bytes
    add: bytes
    sub: bytes
    mul: bytes


ONE = Width(1, b.F64, b.ADD, b.SUB, b.MUL)
TWO = Width(2, b.PAIR, b.PAIR_ADD, b.PAIR_SUB, b.PAIR_MUL)


class Sines:
    """Instructions for angles that are taken after each other: numbers that the first of them loads stay in locals.

    `scratch` are locals of the width's kind, `whole` is one for an i32. `squares` is the local in which the squares of
    all angles are summed up.
    """

    def __init__(self, width: Width, numbers: Numbers, scratch: Sequence[int], whole: int) -> None:
        self.width, self.numbers, self.whole = width, numbers, whole
        self.sine, self.cosine, self.squares, self._x, self._shifted, self._r, self._r2, self._r4 = scratch[:_STEPS]
        self._kept = dict(zip(_NUMBERS, scratch[_STEPS:], strict=True))
        self._loaded = set[float]()
        self._begun = False

    def _number(self, x: float) -> bytes:
        if x in self._loaded:
            return b.get(self._kept[x])
        self._loaded.add(x)
        return (self.numbers.both(x) if self.width is TWO else self.numbers.one(x)) + b.tee(self._kept[x])

    def _rest(self, angle: bytes) -> bytes:
        """Right angles and the rest r of an angle, with powers of that."""
        w, get, put, tee = self.width, b.get, b.put, b.tee
        r, r2, r4, x = self._r, self._r2, self._r4, self._x
        code = angle + tee(x) + get(x) + w.mul + (get(self.squares) + w.add if self._begun else b"") + put(self.squares)
        self._begun = True
        code += get(x) + self._number(_PER_RIGHT_ANGLE) + w.mul + self._number(_SHIFT) + w.add + tee(self._shifted)
        code += self._number(_SHIFT) + w.sub + put(r4)
        code += get(x) + b"".join(get(r4) + self._number(part) + w.mul + w.sub for part in _RIGHT_ANGLE)
        return code + tee(r) + get(r) + w.mul + tee(r2) + get(r2) + w.mul + put(r4)

    def _polynomial(self, a: Sequence[float]) -> bytes:
        """Of r2, few operations after each other (Estrin)."""
        w, r2, r4 = self.width, b.get(self._r2), b.get(self._r4)
        low, middle, high = (self._number(a[i]) + r2 + self._number(a[i + 1]) + w.mul + w.add for i in (0, 2, 4))
        return low + r4 + middle + w.mul + w.add + r4 + r4 + w.mul + high + w.mul + w.add

    def together(self, angles: bytes) -> bytes:
        """Leaves sines and cosines of what is given, an angle or a pair, in the locals `sine` and `cosine`."""
        w, get, put = self.width, b.get, b.put
        s, c, r, r2, r4, shifted = self.sine, self.cosine, self._r, self._r2, self._r4, self._shifted
        code = self._rest(angles)
        code += get(r) + get(r) + get(r2) + w.mul + self._polynomial(_SINE) + w.mul + w.add + put(s)
        code += self._number(1.0) + get(r2) + self._number(-0.5) + w.mul + get(r4)
        code += self._polynomial(_COSINE) + w.mul + w.add + w.add + put(c)
        if w is TWO:
            return code + _turned_pair(s, c, shifted, r, r2, r4)
        return code + _turned(s, c, shifted, r, self.whole)


def _turned(s: int, c: int, shifted: int, old: int, whole: int) -> bytes:
    """An odd number of right angles changes sine and cosine, two turn their signs."""
    get, put = b.get, b.put
    code = get(shifted) + b.BITS + b.LOW + put(whole) + get(s) + put(old)
    for target, other, later in ((s, c, b""), (c, old, b.i32(1) + b.PLUS)):
        code += get(other) + get(target) + get(whole) + b.i32(1) + b.AND + b.SELECT + b.tee(target) + b.NEG
        code += get(target) + get(whole) + later + b.i32(2) + b.AND + b.SELECT + put(target)
    return code


def _turned_pair(s: int, c: int, shifted: int, odd: int, sign: int, swap: int) -> bytes:
    """The same for pairs, by their bits."""
    get, put, tee = b.get, b.put, b.tee
    code = get(shifted) + b.i32(63) + b.PAIR_SHL + tee(odd) + b.i32(63) + b.PAIR_SHR + put(swap)
    code += get(shifted) + b.i32(62) + b.PAIR_SHL + get(odd) + b.i32(1) + b.PAIR_SHIFT + b.PAIR_XOR + put(sign)
    code += get(c) + get(s) + get(swap) + b.PAIR_CHOOSE + get(sign) + b.PAIR_XOR
    code += get(s) + get(c) + get(swap) + b.PAIR_CHOOSE + get(sign) + get(odd) + b.PAIR_XOR + b.PAIR_XOR
    return code + put(c) + put(s)
