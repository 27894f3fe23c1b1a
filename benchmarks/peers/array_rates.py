"""The rates of a tree as a function of arrays over runs, of the same statements: for NumPy, and for
jax in its place."""

from bellcrank.program import interpreter
from bellcrank.program.statements import AssignStatement
from bellcrank.symbolic.expr import Func, Number, Product, Sum, Symbol, postorder
from bellcrank.symbolic.expr.evaluate import evaluate
from bellcrank.symbolic.expr.function_table import FUNCTIONS
from bellcrank.symbolic.expr.node import PI


def rates_of(program, p, xp):
    """f(x) -> x', states by runs; parameters p are those of all runs."""
    fixed = dict(interpreter.evaluate_constants(program, p))
    symbols = (*program.coordinates, *program.speeds)
    statements = program.derivatives.statements
    if program.inputs or not all(isinstance(s, AssignStatement) for s in statements):
        raise ValueError(
            "inputs, systems of equations and external routines have no form for arrays here"
        )

    def value(root, known):
        for node in postorder((root,), known=frozenset(known)):
            known[node] = one(node, known)
        return known[root]

    def one(node, known):
        if isinstance(node, Number):
            return float(node.value)
        if isinstance(node, Sum):
            return sum(float(c) * known[core] for core, c in node.terms)
        if isinstance(node, Product):
            result = float(node.coefficient)
            for base, exponent in node.factors:
                result = result * (known[base] if exponent == 1 else known[base] ** float(exponent))
            return result
        if isinstance(node, Func):
            return getattr(xp, FUNCTIONS[node.name].numpy or node.name)(
                *(known[a] for a in node.args)
            )
        if node is PI or isinstance(node, Symbol):
            return evaluate([node], {})[0]
        raise ValueError(f"{node} has no form for arrays")

    def rates(x):
        known = dict(fixed)
        known.update(zip(symbols, x, strict=True))
        for s in statements:
            known[s.target] = value(s.value, known)
        return xp.stack(
            [xp.broadcast_to(value(r, known), x[0].shape) for r in program.derivatives.results]
        )

    return rates


def rk4(rates, h):
    """One step of the classical method."""

    def step(x):
        k1 = rates(x)
        k2 = rates(x + h / 2 * k1)
        k3 = rates(x + h / 2 * k2)
        k4 = rates(x + h * k3)
        return x + h / 6 * (k1 + 2 * (k2 + k3) + k4)

    return step
