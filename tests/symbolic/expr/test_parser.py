"""The reader of formulas: precedence, names, unit vectors, and errors that point at the place."""

from fractions import Fraction

import pytest

import bellcrank as bc
from bellcrank.core.errors import ExpressionError, ModelError
from bellcrank.symbolic.expr import Number, Symbol, apply_builtin
from bellcrank.symbolic.expr.formula_parser import (
    SyntaxNode,
    evaluate_syntax,
    parse_formula,
    postorder_syntax,
    syntax_to_text,
)
from tests.symbolic.expr.reading import read


def shape(text):
    """A formula with all its parentheses."""

    def meaning(node, parts):
        match node.op:
            case "number" | "name":
                return str(node.args[0])
            case "unit":
                return f"[{node.args[0]}|{node.args[1]}]"
            case "neg":
                return f"(-{parts[0]})"
            case "call":
                return f"{node.args[0]}({','.join(parts)})"
        return f"({parts[0]}{node.op}{parts[1]})"

    return evaluate_syntax(parse_formula(text), meaning)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b*c", "(a+(b*c))"),
        ("a - b - c", "((a-b)-c)"),
        ("a/b/c", "((a/b)/c)"),
        ("a/b*c", "((a/b)*c)"),
        ("a*b**c", "(a*(b**c))"),
        ("a**b**c", "(a**(b**c))"),
        ("a^b", "(a**b)"),
        ("(a + b)*c", "((a+b)*c)"),
        ("((a))", "a"),
    ],
)
def test_precedence(text, expected):
    assert shape(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-a", "(-a)"),
        ("-a**2", "(-(a**2))"),
        ("-a*b", "((-a)*b)"),
        ("-a + b", "((-a)+b)"),
        ("a - -b", "(a-(-b))"),
        ("a*-b", "(a*(-b))"),
        ("a**-b", "(a**(-b))"),
        ("a**-b**c", "(a**(-(b**c)))"),
        ("a**-b*c", "((a**(-b))*c)"),
        ("--a", "(-(-a))"),
        ("+a", "a"),
        ("a + +b", "(a+b)"),
        ("(-a)**2", "((-a)**2)"),
    ],
)
def test_signs(text, expected):
    assert shape(text) == expected


@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
def test_comparisons_bind_weakest(op):
    assert shape(f"a + b {op} -c*d") == f"((a+b){op}((-c)*d))"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("0.1", Fraction(1, 10)),
        (".5", Fraction(1, 2)),
        ("3.", 3),
        ("1e-3", Fraction(1, 1000)),
        ("1.5D2", 150),
        ("2.E+1", 20),
        ("1e-07", Fraction(1, 10**7)),
        ("0e-999999999", 0),
    ],
)
def test_numbers_are_exact(text, value):
    assert parse_formula(text).args == (value,)


@pytest.mark.parametrize(
    "text", ["1e999", "1e-999999999", "9e99999999", "1" * 2000, "0." + "3" * 3000]
)
def test_numbers_beyond_all_measure_are_refused_at_once(text):
    with pytest.raises(ExpressionError, match="too long, too large or too small"):
        parse_formula(f"a + {text}")


@pytest.mark.parametrize("name", ["a", "A_1", "_x", "rear.chassis.cm", "x.y2"])
def test_names(name):
    node = parse_formula(f"  {name} ")
    assert (node.op, node.args, node.position) == ("name", (name,), 2)


def test_calls():
    assert shape("f()") == "f()"
    assert shape("f(a)") == "f(a)"
    assert shape("f (a, -b, g(c)*2)") == "f(a,(-b),(g(c)*2))"
    assert shape("rear.f((a))") == "rear.f(a)"
    assert shape("(f(a) + 1)*f(b)") == "((f(a)+1)*f(b))"


def test_unit_vectors():
    assert shape("dot([nrb1], [ n 3 ])") == "dot([nrb|1],[n|3])"
    assert shape("[b12]") == "[b1|2]"
    assert shape("[rear.axle2]*k") == "([rear.axle|2]*k)"


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("(a + b", "'(' is never closed", 0),
        ("a + (b*(c)", "'(' is never closed", 4),
        ("sin(a", "'(' is never closed", 3),
        ("a + b)", "')' without '('", 5),
        ("2 x", "an operator is missing before 'x'", 2),
        ("a b", "an operator is missing before 'b'", 2),
        ("2(a)", "an operator is missing before '('", 1),
        ("(a)(b)", "an operator is missing before '('", 3),
        ("a [n1]", "an operator is missing before '[n1]'", 2),
        ("1.5.2", "an operator is missing before '.2'", 3),
        ("a + ", "the formula ends too early", 3),
        ("a *", "the formula ends too early", 3),
        ("", "the formula is empty", 0),
        ("   ", "the formula is empty", 0),
        ("* a", "something is missing before '*'", 0),
        ("a + * b", "something is missing before '*'", 4),
        ("a < < b", "something is missing before '<'", 4),
        ("()", "something is missing before ')'", 1),
        ("f(a,)", "something is missing before ')'", 4),
        ("f(,a)", "something is missing before ','", 2),
        ("(a + )", "something is missing before ')'", 5),
        ("a, b", "',' outside the arguments of a function", 1),
        ("f((a, b))", "',' outside the arguments of a function", 4),
        ("a $ b", "unexpected character '$'", 2),
        ("a = b", "unexpected character '='", 2),
        ("[n4]", "unexpected character '['", 0),
        ("x ; import os", "unexpected character ';'", 2),
        ("α + 1", "unexpected character 'α'", 0),
        ("a\u00a0+ b", "unexpected character '\\xa0'", 1),
        ("'a'", 'unexpected character "\'"', 0),
    ],
)
def test_errors_point_at_the_place(text, message, position):
    with pytest.raises(ExpressionError) as caught:
        parse_formula(text)
    assert caught.value.message == message
    assert caught.value.position == position
    assert caught.value.text == text


def test_error_shows_a_caret_under_the_place():
    with pytest.raises(ExpressionError) as caught:
        parse_formula("k*(x - x0")
    assert str(caught.value) == "'(' is never closed\n  k*(x - x0\n    ^"


def test_error_in_one_of_several_lines_shows_that_line():
    with pytest.raises(ExpressionError) as caught:
        parse_formula("a +\nb c")
    assert str(caught.value).endswith("\n  b c\n    ^")


def test_meaning_can_fail_at_its_place():
    node = parse_formula("a + nonsense").args[1]
    error = node.error_at_node("no such name")
    assert isinstance(error, ExpressionError)
    assert str(error) == "no such name\n  a + nonsense\n      ^"


def test_syntax_without_text_fails_without_a_place():
    error = SyntaxNode("name", ("a",)).error_at_node("no such name")
    assert isinstance(error, ModelError)
    assert str(error) == "no such name"


def test_deep_nesting_is_read():
    n = 10_000
    assert read("(" * n + "a" + ")" * n) is Symbol("a")
    assert read("-" * n + "a") is Symbol("a")
    assert read("abs(" * n + "a" + ")" * n) is apply_builtin("abs", Symbol("a"))
    assert parse_formula("a**" * n + "a").op == "**"
    assert read("+".join(["a"] * n)) is n * Symbol("a")


def test_deep_nesting_that_is_never_closed_is_reported():
    with pytest.raises(ExpressionError) as caught:
        parse_formula("(" * 10_000 + "a")
    assert caught.value.position == 9_999
    assert len(str(caught.value)) < 400


def test_long_formula_is_read_in_linear_time():
    text = " + ".join(f"f{i}(x)" for i in range(20_000))
    assert len(postorder_syntax(parse_formula(text))) == 3 * 20_000 - 1


def test_shared_syntax_is_met_once():
    node = parse_formula("a")
    for _ in range(60):
        node = SyntaxNode("+", (node, node))
    assert len(postorder_syntax(node)) == 61
    assert evaluate_syntax(node, lambda n, parts: sum(parts) if parts else 1) == 2**60


def test_parts_come_before_wholes_from_left_to_right():
    assert [
        n.args[0] if n.op in ("name", "call") else n.op
        for n in postorder_syntax(parse_formula("f(a, b) + c"))
    ] == [
        "a",
        "b",
        "f",
        "c",
        "+",
    ]


def test_nothing_is_executed():
    assert parse_formula("__import__(os)").op == "call"
    with pytest.raises(ModelError, match="not a built-in function"):
        read("__import__(os)")


def test_absurd_powers_are_refused_at_once():
    with pytest.raises(ModelError, match="too many digits"):
        read("9**9**9**9")
    assert read("2**10") is Number(1024)


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("-k*rod.q", "-k*q(rod)"),
        ("rod.q[2]**2 - arm.rod.u [ 1 ]", "q(rod, 2)**2 - u(arm.rod, 1)"),
        ("sin(rod.q)", "sin(q(rod))"),
    ],
)
def test_coordinates_are_written_as_in_python(short, long):
    assert syntax_to_text(parse_formula(short)) == syntax_to_text(parse_formula(long))
    assert [n.op for n in postorder_syntax(parse_formula(short))] == [
        n.op for n in postorder_syntax(parse_formula(long))
    ]


@pytest.mark.parametrize("text", ["x rod.q", "rod.q(1)", "rod.q[0.5]", "rod.q[x]"])
def test_coordinates_that_are_not_well_written(text):
    with pytest.raises(ModelError):
        s = bc.System("wrong")
        s.add_body("rod", rotate=3, mass=1, inertia=(1, 1, 1))
        s.add_output("y", text)
        s.equations()


def test_text_and_python_mean_the_same_coordinate():
    s = bc.System("spring")
    rod = s.add_body("rod", rotate=3, mass=1, inertia=(1, 1, 1))
    s.add_moment("spring", magnitude="-k*rod.q - c*rod.u[1]", direction="[n3]", on=rod)
    s.add_output("in text", "rod.q")
    s.add_output("in Python", rod.q[1])
    assert {"k", "c"} <= {*map(str, s.equations().parameters)}
    assert "rod.q" not in map(str, s.equations().parameters)
    s.add_parameter("rod.q", 1)
    with pytest.raises(ModelError, match=r"'rod\.q'"):
        s.equations()
