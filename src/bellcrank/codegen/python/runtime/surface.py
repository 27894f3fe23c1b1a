from bisect import bisect_right


class Surface:
    """A function of two arguments over a grid, or a derivative of it; outside it is that of the
    nearest edge."""

    def __init__(self, x, y, pieces, dx, dy):
        self.x, self.y, self.pieces, self.dx, self.dy = x, y, pieces, dx, dy

    def __call__(self, v, w):
        (i, hx, a), (j, hy, b) = self.cell(self.x, v), self.cell(self.y, w)
        first = 16 * (i * (len(self.y) - 1) + j)
        along = [
            self.cubic(self.pieces[first + 4 * k : first + 4 * k + 4], self.dy, b / hy)
            for k in range(4)
        ]
        return self.cubic(along, self.dx, a / hx) / (hx**self.dx * hy**self.dy)

    @staticmethod
    def cell(axis, v):
        inside = min(max(v, axis[0]), axis[-1])
        i = min(max(bisect_right(axis, inside) - 1, 0), len(axis) - 2)
        return i, axis[i + 1] - axis[i], inside - axis[i]

    @staticmethod
    def cubic(a, d, s):
        """Value or d-th derivative."""
        if d == 0:
            return a[0] + s * (a[1] + s * (a[2] + s * a[3]))
        if d == 1:
            return a[1] + s * (2 * a[2] + s * 3 * a[3])
        return 2 * a[2] + s * 6 * a[3] if d == 2 else 6 * a[3] if d == 3 else 0.0
