"""Tables, and external routines that remember."""

import numpy as np


class Spline:
    """A function of one argument through points, or its d-th derivative; it goes on with its end slope."""

    def __init__(self, x, pieces, d):
        self.x, self.pieces, self.d = x, pieces, d

    def __call__(self, v):
        x, d = self.x, self.d
        inside = min(max(v, x[0]), x[-1])
        i = min(max(int(np.searchsorted(x, inside, side="right")) - 1, 0), len(x) - 2)
        s, (a0, a1, a2, a3) = inside - x[i], self.pieces[4 * i : 4 * i + 4]
        slope = a1 + s * (2 * a2 + s * 3 * a3)
        if d == 0:
            return a0 + s * (a1 + s * (a2 + s * a3)) + (v - inside) * slope
        if d == 1:
            return slope
        return 0.0 if v != inside else 2 * a2 + 6 * a3 * s if d == 2 else 6 * a3 if d == 3 else 0.0


def cubic(a, d, s):
    """Value or d-th derivative of a cubic."""
    a0, a1, a2, a3 = a
    if d == 0:
        return a0 + s * (a1 + s * (a2 + s * a3))
    return a1 + s * (2 * a2 + s * 3 * a3) if d == 1 else 2 * a2 + s * 6 * a3 if d == 2 else 6 * a3 if d == 3 else 0.0


class Surface:
    """A function of two arguments over a grid, or a derivative of it; outside it is that of the nearest edge."""

    def __init__(self, x, y, pieces, dx, dy):
        self.x, self.y, self.pieces, self.dx, self.dy = x, y, pieces, dx, dy

    def __call__(self, v, w):
        place = []
        for axis, at in ((self.x, v), (self.y, w)):
            inside = min(max(at, axis[0]), axis[-1])
            i = min(max(int(np.searchsorted(axis, inside, side="right")) - 1, 0), len(axis) - 2)
            place.append((i, axis[i + 1] - axis[i], inside - axis[i]))
        (i, hx, a), (j, hy, b) = place
        cell = 16 * (i * (len(self.y) - 1) + j)
        along = [cubic(self.pieces[cell + 4 * k : cell + 4 * k + 4], self.dy, b / hy) for k in range(4)]
        return cubic(along, self.dx, a / hx) / (hx**self.dx * hy**self.dy)


def single(function):
    """A routine that returns one number, which it may give as a tuple."""

    def value(*arguments):
        found = function(*arguments)
        return found[0] if isinstance(found, tuple) else found

    return value


class Remembering:
    """A routine with an array that keeps its values between steps.

    The array changes while `live` (1: rates, 2: outputs of an accepted step) is what the routine is called for, else a
    copy is used.
    """

    live = 0

    def __init__(self, function, size, when):
        self.function, self.memory, self.when = function, np.zeros(size), when

    def __call__(self, *arguments):
        return self.function(*arguments, self.memory if Remembering.live == self.when else self.memory.copy())


def set_live(live):
    Remembering.live = live
