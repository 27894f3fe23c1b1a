"""Answers as numbers: formulas of the dialect evaluated with plain arithmetic and NumPy vectors, no
algebra of ours next to the parser."""

import math

import numpy as np

from bellcrank.kane.language import PRIMED
from bellcrank.symbolic.expr.formula_parser import parse_formula

FUNCTIONS = {"COS": math.cos, "SIN": math.sin, "SQRT": math.sqrt}


def value(text, known):
    """The number or N-vector of a formula; `known` gives names in capitals, forms as IA(3)."""
    return _value(parse_formula(text, PRIMED), known)


def _value(node, known):
    if node.op == "number":
        return float(node.args[0])
    if node.op == "name":
        return known[str(node.args[0]).upper()]
    parts = [_value(c, known) for c in node.children]
    if node.op == "call":
        name = str(node.args[0]).upper()
        if name in FUNCTIONS:
            return FUNCTIONS[name](*parts)
        return known[f"{name}({','.join(str(int(p)) for p in parts)})"]
    if node.op == "neg":
        return -parts[0]
    a, b = parts
    return {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "/": lambda: a / b,
        "**": lambda: a**b,
    }[node.op]()


def double_pendulum_point(seed):
    """Random values of everything the double pendulum script names."""
    rng = np.random.default_rng(seed)
    names = [
        "PHI1",
        "PHI2",
        "U1",
        "U2",
        "U1'",
        "U2'",
        "LA",
        "LB",
        "G",
        "WDA",
        "WDAB",
        "MASSA",
        "MASSB",
        "TA",
        "TAB",
    ]
    names += [f"I{b}({i})" for b in "AB" for i in (1, 2, 3)]
    known = dict(zip(names, rng.uniform(0.3, 1.5, len(names)), strict=True))
    for frame, angle in (("N", 0.0), ("A", known["PHI1"]), ("B", known["PHI1"] + known["PHI2"])):
        c, s = math.cos(angle), math.sin(angle)
        axes = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
        known |= {f"{frame}{i + 1}": axes[i] for i in range(3)}
    return known


def assigned(answers, known):
    """Values of answers NAME=formula, each with those before it known; DIRCOS answers give their
    nine elements."""
    known = dict(known)
    for text in answers:
        if text.startswith("DIRCOS("):
            inner = text[len("DIRCOS(") : -1].split(",")
            known[f"DIRCOS({inner[0]},{inner[1]})"] = np.array([value(x, known) for x in inner[2:]])
        elif text.startswith("R="):
            head, formula = text.split(": ")
            known[head] = value(formula.removesuffix("=0"), known)
        else:
            name, formula = text.split("=", 1)
            known[name] = value(formula, known)
    return known
