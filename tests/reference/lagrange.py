"""Equations of motion by Lagrange's equations in numbers, from positions of bodies alone: nothing
of Bellcrank enters.

Bodies are (mass, inertia about the mass centre, in body axes) with poses as functions of a minimal
set of coordinates in closed form. First derivatives are complex steps; those of the mass matrix are
differences of sixth order.
"""

import numpy as np
from scipy.integrate import solve_ivp

SIXTH = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))  # central differences


def turned(axis, angle):
    """The matrix of a rotation about one of the axes 1, 2, 3; the angle may be complex."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = axis % 3, (axis + 1) % 3
    R = np.eye(3, dtype=type(c))
    R[i, i], R[j, j], R[i, j], R[j, i] = c, c, -s, s
    return R


class Lagrange:
    """`poses(q)`: a list of (position of the mass centre, rotation), one for each of the `bodies`;
    `loads(q)`: generalized forces besides gravity, which is along -z."""

    def __init__(self, bodies, poses, g=9.81, loads=None):
        self.bodies, self.poses, self.g = bodies, poses, g
        self.loads = loads or (lambda q: np.zeros(len(q)))

    def jacobians(self, q):
        """Of velocities, and of angular velocities in body axes, for every body."""
        found = [(np.zeros((3, len(q))), np.zeros((3, len(q)))) for _ in self.bodies]
        here = [np.real(R) for _, R in self.poses(q)]
        for k in range(len(q)):
            moved = np.array(q, dtype=complex)
            moved[k] += 1e-30j
            for (v, w), R, (p, changed) in zip(found, here, self.poses(moved), strict=True):
                v[:, k] = np.imag(p) / 1e-30
                spin = R.T @ (np.imag(changed) / 1e-30)
                w[:, k] = spin[2, 1], spin[0, 2], spin[1, 0]
        return found

    def mass_matrix(self, q):
        pairs = zip(self.bodies, self.jacobians(q), strict=True)
        return sum(m * v.T @ v + w.T @ np.diag(inertia) @ w for (m, inertia), (v, w) in pairs)

    def accelerations(self, q, qd):
        q, h = np.asarray(q, dtype=float), 5e-3
        slopes = []
        for unit in np.eye(len(q)):
            pairs = (
                (c, self.mass_matrix(q + n * h * unit) - self.mass_matrix(q - n * h * unit))
                for n, c in SIXTH
            )
            slopes.append(sum(c * change for c, change in pairs) / h)
        rate = sum(dM * x for dM, x in zip(slopes, qd, strict=True))
        own = np.array([qd @ dM @ qd / 2 for dM in slopes])
        weight = sum(
            m * self.g * v[2] for (m, _), (v, _) in zip(self.bodies, self.jacobians(q), strict=True)
        )
        return np.linalg.solve(self.mass_matrix(q), self.loads(q) - weight - rate @ qd + own)

    def run(self, q, qd, times):
        n = len(q)
        found = solve_ivp(
            lambda _, y: np.concatenate([y[n:], self.accelerations(y[:n], y[n:])]),
            (times[0], times[-1]),
            [*q, *qd],
            "DOP853",
            t_eval=times,
            rtol=1e-9,
            atol=1e-11,
        )
        return found.y[:n], found.y[n:]
