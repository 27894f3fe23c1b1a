"""Stiff integrators with adaptive steps, as data: a record here is all that C and Python know of
one.

radau5: Hairer & Wanner, Solving Ordinary Differential Equations II (1996), section IV.8.
"""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.core.numeric.rosenbrock import RODAS5P, RosenbrockMethod

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class CollocationMethod:
    """A method: nodes of the stages, weights of the error, eigenvalues of the inverse of its matrix
    and the coordinates in which that is diagonal: the first real, the others the parts of a complex
    one (`to_eigenbasis`,
    `from_eigenbasis`)."""

    name: str
    description: str
    nodes: Vector
    error_weights: Vector
    real_eigenvalue: float
    complex_eigenvalue: tuple[float, float]
    to_eigenbasis: tuple[Vector, Vector, Vector]
    from_eigenbasis: tuple[Vector, Vector, Vector]
    order: int = 5
    first_order: int = 3  # of the estimate that chooses the first step
    error_exponent: int = 4
    max_growth: float = 8.0


RADAU5 = CollocationMethod(
    "radau5",
    "Radau IIA",
    nodes=(0.15505102572168222, 0.6449489742783178, 1.0),
    error_weights=(-10.048809399827414, 1.382142733160748, -0.3333333333333333),
    real_eigenvalue=3.637834252744496,
    complex_eigenvalue=(2.6810828736277523, 3.050430199247411),
    to_eigenbasis=(
        (7.984154861161569, 0.6260939397996029, 1.0),
        (-2.90496012349341, -2.9001642769871854, 1.0),
        (-4.687856351018672, 1.7693530509893534, 0.0),
    ),
    from_eigenbasis=(
        (0.049427023828846665, -0.04942702382884668, -0.09850631495524843),
        (0.13095565491491296, -0.13095565491491293, 0.3041883277736138),
        (0.5233764454994501, 0.47662355450055, 0.5960392048282245),
    ),
)
STIFF: dict[str, CollocationMethod | RosenbrockMethod] = {m.name: m for m in (RADAU5, RODAS5P)}
