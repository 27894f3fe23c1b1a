from bisect import bisect_right


class Spline:
    """A function of one argument through points, or its d-th derivative, extrapolated with its
    slope at the ends."""

    def __init__(self, x, pieces, d=0):
        self.x, self.pieces, self.d = x, pieces, d

    def __call__(self, v):
        return self.at(v, self.d)

    def at(self, v, d):
        x = self.x
        inside = min(max(v, x[0]), x[-1])
        i = min(max(bisect_right(x, inside) - 1, 0), len(x) - 2)
        s, (a0, a1, a2, a3) = inside - x[i], self.pieces[4 * i : 4 * i + 4]
        slope = a1 + s * (2 * a2 + s * 3 * a3)
        if d == 0:
            return a0 + s * (a1 + s * (a2 + s * a3)) + (v - inside) * slope
        if d == 1:
            return slope
        return 0.0 if v != inside else 2 * a2 + 6 * a3 * s if d == 2 else 6 * a3 if d == 3 else 0.0
