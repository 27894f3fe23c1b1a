"""Exact derivatives of expressions that share intermediate results.

`accumulate` eliminates the intermediate results of a graph one by one (forward, reverse or cheapest first);
`total_slopes`, `tangent` and `adjoint` put implicit results, solutions of linear systems, on top of it.
"""

from bellcrank.program.differentiate.eliminate import MODES, accumulate
from bellcrank.program.differentiate.implicit import NOTHING, Linear, adjoint, tangent, total_slopes
from bellcrank.program.differentiate.intermediates import Intermediates
from bellcrank.program.differentiate.partials import ExternalPartial, by_routine

__all__ = [
    "MODES", "NOTHING", "Intermediates", "Linear", "ExternalPartial", "accumulate", "adjoint", "by_routine", "tangent",
    "total_slopes",
]  # fmt: skip
