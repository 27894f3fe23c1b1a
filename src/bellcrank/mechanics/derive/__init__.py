"""From a description to equations: the pipeline on one page, choice of loop equations, matrices,
Jacobians."""
