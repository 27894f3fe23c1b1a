"""Formulas of thousands of terms: what they take grows as their number, and they mean the same."""

import tracemalloc

import pytest

from bellcrank.symbolic.expr.formula_parser import (
    LONG_SUM,
    SyntaxNode,
    evaluate_syntax,
    long_sums,
    parse_formula,
    postorder_syntax,
)


def value(node, children):
    match node.op:
        case "number":
            return node.args[0]
        case "sum":
            return sum(children)
        case "neg":
            return -children[0]
        case "+":
            return children[0] + children[1]
        case "-":
            return children[0] - children[1]
        case "*":
            return children[0] * children[1]


def memory_of(terms):
    root = parse_formula("+".join(["1"] * terms))
    tracemalloc.start()
    long_sums(root)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_grows_as_the_number_of_terms():
    """It was the square: 1.6 GB for 20,000 terms."""
    assert memory_of(8000) < 3 * memory_of(4000)


LONG = "+".join(str(i) for i in range(LONG_SUM + 20))


@pytest.mark.parametrize(
    "text",
    [
        "1 - 2 + 3",
        LONG,
        LONG.replace("+", "-"),
        f"2*({LONG}) - ({LONG}) + ({LONG} - 7)*3",
        f"-({LONG}) - 5*(1 - 2) + {LONG}",
    ],
)
def test_the_value_is_the_same(text):
    root = parse_formula(text)
    assert evaluate_syntax(long_sums(root), value) == evaluate_syntax(root, value)


@pytest.mark.parametrize("terms", [3, LONG_SUM - 1, LONG_SUM, LONG_SUM + 50])
def test_a_sum_that_is_used_twice(terms):
    """Formulas that are built in Python share their parts: a beginning may be a term elsewhere."""
    start = parse_formula("+".join(["1"] * terms))
    two, three = parse_formula("2"), parse_formula("3")
    root = SyntaxNode("*", (SyntaxNode("+", (start, two)), SyntaxNode("-", (start, three))))
    rest = parse_formula(f"0*({LONG})")
    root = SyntaxNode("+", (SyntaxNode("+", (root, start)), rest))
    expected = (terms + 2) * (terms - 3) + terms
    assert evaluate_syntax(long_sums(root), value) == expected


def test_short_sums_next_to_long_ones_keep_their_places():
    rebuilt = long_sums(parse_formula(f"({LONG})*(1 - 22 + 333)"))
    nodes = {n.op: n for n in postorder_syntax(rebuilt) if n.op in ("-", "sum")}
    assert len(nodes["sum"].args) == LONG_SUM + 20
    assert nodes["-"].source[nodes["-"].position] == "-"
