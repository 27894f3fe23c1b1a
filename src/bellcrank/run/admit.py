"""States of closed loops brought onto their constraints: assembly at the start, one small correction after every step.

Position rows g(q, t) = 0 with slopes G, and all rows v = J u + b = 0 at the level of speeds. Corrections are least-norm Newton
steps, so no choice of dependent variables enters and redundant rows do no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

CLOSED = 1e-13  # largest residual of a closed loop, in units of its equations
ITERATIONS = 60


class CannotClose(Exception):
    """No position satisfies the constraints: the row with the largest residual, and that residual."""

    def __init__(self, row: str, residual: float) -> None:
        super().__init__(row, residual)
        self.row, self.residual = row, residual


@dataclass(frozen=True)
class Closure:
    """The constraints of a model as a function of time and state."""

    names: Sequence[str]  # of the rows of v
    positions: Sequence[str]  # of the rows of g
    n_q: int
    n_u: int
    function: Callable[[float, list[float], list[float]], list[float]]

    def evaluate(self, t: float, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """g, G, v, J."""
        flat = np.array(self.function(t, q.tolist(), u.tolist()))
        m, rows = len(self.positions), len(self.names)
        g, rest = flat[:m], flat[m:]
        G, rest = rest[: m * self.n_q].reshape(m, self.n_q), rest[m * self.n_q :]
        return g, G, rest[:rows], rest[rows:].reshape(rows, self.n_u)

    def admit(self, t: float, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """The nearest state that satisfies the constraints, and how far it had to be moved."""
        moved = 0.0
        for _ in range(4):
            g, G, _, _ = self.evaluate(t, q, u)
            if np.abs(g).max(initial=0.0) < CLOSED:
                break
            step = _least_norm(G, g)
            moved += float(np.linalg.norm(step))
            q = q - step
        _, _, v, J = self.evaluate(t, q, u)
        return q, u - _least_norm(J, v), moved

    def assemble(
        self, t: float, q: np.ndarray, u: np.ndarray, free_q: np.ndarray, free_u: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """A state on the constraints, changing only what is free; raises CannotClose where there is none."""
        q = self.close(t, q.copy(), u, free_q)
        _, _, v, J = self.evaluate(t, q, u)
        u = u.copy()
        u[free_u] -= _least_norm(J[:, free_u], v)
        _, _, v, _ = self.evaluate(t, q, u)
        size = max(1.0, float(np.abs(u).max(initial=0.0)))
        if np.abs(v).max(initial=0.0) > 1e-9 * size:
            worst = int(np.abs(v).argmax())
            raise CannotClose(f"speeds of {self.names[worst]}", float(v[worst]))
        return q, u

    def close(self, t: float, q: np.ndarray, u: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Damped Newton on the position rows."""
        g, G, _, _ = self.evaluate(t, q, u)
        for _ in range(ITERATIONS):
            size = np.abs(g).max(initial=0.0)
            if size < CLOSED:
                return q
            step = np.zeros_like(q)
            step[free] = _least_norm(G[:, free], g)
            length = float(np.linalg.norm(step))
            scale: float = min(1.0, 0.5 / length) if length > 0 else 1.0
            for _ in range(12):
                trial = q - scale * step
                new = self.evaluate(t, trial, u)
                if np.linalg.norm(new[0]) < np.linalg.norm(g) or scale < 1e-3:
                    break
                scale /= 2
            if np.linalg.norm(new[0]) >= np.linalg.norm(g):
                break
            q, (g, G, _, _) = trial, new
        if np.abs(g).max(initial=0.0) < 1e-10:
            return q
        worst = int(np.abs(g).argmax())
        raise CannotClose(self.positions[worst], float(g[worst]))


def _least_norm(A: np.ndarray, r: np.ndarray) -> np.ndarray:
    """The smallest x with A x = r, redundant rows allowed."""
    if not A.size:
        return np.zeros(A.shape[1])
    x: np.ndarray = np.linalg.lstsq(A, r, rcond=1e-10)[0]
    return x
