"""Units and names of all that a person reads: parameters, inputs, states, outputs.

In:  an `Analysis`. Out: `Quantities`: for every name a dimension (where it can be reported), a user
unit and a label.

What is not declared is deduced from where it stands (Sayers 1990, section 9.1, Table 9.1.1): a mass
is a mass, and `k` in the force `k*(x - x0)` is F/L. The deduction reads the formulas as the
modeller wrote them, not the expressions they became: there a velocity is L/T even if an arm of
length 1 has vanished from it or a small sine has become an angle.

Each module imports only from those before it: `algebra`, `graph`, `solution`, `conflicts`,
`wording`, `reading`,
`formulas`, `quantities` (the way through all of them).
"""

from bellcrank.mechanics.kinematics.dimensions.labels import state_labels
from bellcrank.mechanics.kinematics.dimensions.quantities import Quantities, infer_quantities

__all__ = ["Quantities", "infer_quantities", "state_labels"]
