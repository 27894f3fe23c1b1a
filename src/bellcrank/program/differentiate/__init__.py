"""Exact derivatives of expressions that share intermediate results.

`accumulate_derivatives` eliminates the intermediate results of a graph one by one (forward, reverse
or cheapest first);
`total_slopes`, `forward_derivatives` and `reverse_gradient` put implicit results, solutions of
linear systems, on top of it.
"""

from bellcrank.program.differentiate.implicit_derivatives import (
    NO_LINEAR_SYSTEM,
    LinearSystem,
    forward_derivatives,
    reverse_gradient,
    total_slopes,
)
from bellcrank.program.differentiate.intermediates import Intermediates
from bellcrank.program.differentiate.partials import ExternalPartial, routine_partial
from bellcrank.program.differentiate.vertex_elimination import MODES, accumulate_derivatives

__all__ = [
    "MODES",
    "NO_LINEAR_SYSTEM",
    "Intermediates",
    "LinearSystem",
    "ExternalPartial",
    "accumulate_derivatives",
    "reverse_gradient",
    "routine_partial",
    "forward_derivatives",
    "total_slopes",
]
