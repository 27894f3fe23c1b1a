"""A program evaluated with complex numbers: derivatives without subtraction, exact to round-off.

Squire & Trapp (1998), Using complex variables to estimate derivatives of real functions, SIAM
Review 40, 110-112.
"""

import numpy as np

from bellcrank.program.statements import AssignStatement
from bellcrank.symbolic.expr import Func, Number, Product, Sum, Symbol, postorder
from bellcrank.symbolic.expr.node import PI

STEP = 1e-200
FUNCTIONS = {"sin": np.sin, "cos": np.cos, "tan": np.tan, "exp": np.exp, "log": np.log}


def value(node, known):
    if isinstance(node, Number):
        return complex(node.value)
    if isinstance(node, Sum):
        return sum(complex(c) * known[core] for core, c in node.terms)
    if isinstance(node, Product):
        result = complex(node.coefficient)
        for base, exponent in node.factors:
            result *= (
                known[base] ** float(exponent)
                if exponent != int(exponent)
                else known[base] ** int(exponent)
            )
        return result
    if node is PI:
        return complex(np.pi)
    assert isinstance(node, Func), node
    args = [known[a] for a in node.args]
    if node.name == "atan2":  # of a quotient, on the sheet of its real part
        y, x = args
        return np.arctan2(y.real, x.real) + 1j * (x.real * y.imag - y.real * x.imag) / (
            x.real**2 + y.real**2
        )
    return FUNCTIONS[node.name](args[0])


def expression(root, known):
    done = dict(known)
    for node in postorder((root,), known=frozenset(known)):
        done[node] = value(node, done)
    return done[root]


def rates(program, p, q, u, w=(), t=0.0):
    """Rates of all states and all outputs for complex arguments."""
    known = {Symbol("t", "time"): complex(t)}
    for symbols, numbers in (
        (program.parameters, p),
        (program.coordinates, q),
        (program.speeds, u),
        (program.inputs, w),
    ):
        known.update(zip(symbols, map(complex, numbers), strict=True))
    for section in (program.constants, program.derivatives, program.outputs):
        for s in section.statements:
            assert isinstance(s, AssignStatement)
            known[s.target] = expression(s.value, known)
    return np.array(
        [expression(r, known) for r in (*program.derivatives.results, *program.outputs.results)]
    )


def jacobian(program, p, q, u, w=(), by="qu", t=0.0):
    """Derivatives of all rates and outputs by states (q, u), inputs (w) or parameters (p)."""
    groups = {"p": list(p), "q": list(q), "u": list(u), "w": list(w)}
    columns = []
    for letter in by:
        for i in range(len(groups[letter])):
            moved = {k: list(map(complex, v)) for k, v in groups.items()}
            moved[letter][i] += 1j * STEP
            columns.append(rates(program, **moved, t=t).imag / STEP)
    return np.array(columns).T
