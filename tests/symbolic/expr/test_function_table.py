"""Every function of the table: values, slopes, facts, text in each language, dimensions, and the
independent rules."""

import ast
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError
from bellcrank.simulation.backend.compiler import find_compiler
from bellcrank.study.study_formulas import FormulaValues
from bellcrank.symbolic.expr import (
    Func,
    Number,
    Symbol,
    apply_builtin,
    evaluate,
    from_sympy,
    partial,
    to_latex,
    to_sympy,
)
from bellcrank.symbolic.expr.function_table import CALLED, FUNCTIONS
from bellcrank.symbolic.expr.functions import compile_rule
from bellcrank.symbolic.expr.mathml import to_mathml
from bellcrank.verify import jets
from bellcrank.verify.function_rules import FUNCTIONS as INDEPENDENT
from bellcrank.verify.jets import Jet
from tests.programs import COMPILED, build

SOURCE = Path(bc.__file__).parent
PLACES = {
    "acosh": (1.4,),
    "atan2": (0.6, -0.8),
    "mod": (-3.3, 0.9),
    "pow": (1.7, -0.4),
    "smooth_step": (0.6, 0.2, 1.4),
}
PLACES |= {"where": (1.0, 0.3, 0.8)}
BY_NAME = pytest.mark.parametrize("known", FUNCTIONS.values(), ids=FUNCTIONS)
OF_ONE = pytest.mark.parametrize(
    "known", [f for f in FUNCTIONS.values() if f.arity == 1], ids=lambda f: f.name
)


def place(known):
    """Arguments at which the function is smooth."""
    return PLACES.get(known.name, (0.37, 0.81)[: len(known.argument_names)])


def slopes(known, at, h=1e-6):
    """Partial derivatives by central differences."""
    moved = [[(*at[:i], at[i] + d, *at[i + 1 :]) for d in (h, -h)] for i in range(len(at))]
    return [(known.value(*up) - known.value(*down)) / (2 * h) for up, down in moved]


# ---- the record


@BY_NAME
def test_slopes_are_those_of_the_value(known):
    at = place(known)
    symbols = [Symbol(n, "coordinate") for n in known.argument_names]
    values = dict(zip(symbols, at, strict=True))
    made = apply_builtin(known.name, *symbols)
    assert evaluate([made], values)[0] == pytest.approx(known.value(*at), rel=1e-14)
    found = evaluate([partial(made, x) for x in symbols], values)
    assert found == pytest.approx(slopes(known, at), rel=1e-7, abs=1e-9)


@OF_ONE
def test_facts_hold_for_values(known):
    (x,) = place(known)
    f = known.value
    if known.odd or known.even:
        assert f(-x) == (-f(x) if known.odd else f(x))
    if known.never_negative:
        assert all(f(z) >= 0 for z in (-1.9, -0.3, 0.0, 1.2) if not math.isnan(f(z)))
    if known.inverse:
        assert f(
            FUNCTIONS[known.inverse].value(1.2 if known.name == "cosh" else 0.4)
        ) == pytest.approx(1.2 if known.name == "cosh" else 0.4, rel=1e-15)
    for quarter, value in enumerate(known.quarter_turns):
        if value is not None:
            assert f(quarter * math.pi / 2) == pytest.approx(value, abs=1e-15)
    if known.series:
        order = len(known.series)
        assert sum(c * 0.02**k for k, c in enumerate(known.series)) == pytest.approx(
            f(0.02), abs=0.02**order
        )
    if known.exact is not None:
        assert [known.exact(Fraction(z)) for z in (-1.5, 0, 2, 0.25)] == [
            f(z) for z in (-1.5, 0.0, 2.0, 0.25)
        ]


@BY_NAME
def test_text_in_terms_of_others_is_the_function(known):
    if known.in_terms:
        value = FormulaValues(dict(zip(known.argument_names, place(known), strict=True)))
        assert value.number(known.in_terms, known.name) == pytest.approx(
            known.value(*place(known)), rel=1e-14
        )


@BY_NAME
def test_values_exist_everywhere(known):
    for x in (-1e300, -2.0, -1.0, 0.0, 1.0, 1e300, math.inf, -math.inf, math.nan):
        assert isinstance(float(known.value(*[x] * len(known.argument_names))), float)


def test_values_beyond_the_domain_are_those_of_compiled_code():
    value = {f.name: f.value for f in FUNCTIONS.values()}
    assert value["sinh"](-1000.0) == -math.inf and value["cosh"](-1000.0) == math.inf
    assert (
        value["log10"](0.0) == value["log1p"](-1.0) == -math.inf and value["atanh"](1.0) == math.inf
    )
    assert all(map(math.isnan, (value["acosh"](0.5), value["mod"](1.0, 0.0), value["sqrt"](-1.0))))
    assert math.copysign(1.0, value["ceil"](-0.5)) == -1.0


def test_numbers_are_folded():
    assert [str(bc.mod(a, b)) for a, b in ((-7, 3), (7, -3), (Fraction(7, 2), 1))] == [
        "2",
        "-2",
        "0.5",
    ]
    assert (bc.floor(-0.5), bc.ceil(Fraction(7, 2))) == (Number(-1), Number(4))
    assert bc.smooth_step(3, 1, 3) is Number(1) and bc.smooth_step(2, 1, 3) is Number(
        Fraction(1, 2)
    )
    with pytest.raises(ModelError, match=r"mod\(1, 0\) is not defined"):
        bc.mod(1, 0)
    with pytest.raises(ModelError, match=r"cosh\(1000\) is too large a number"):
        bc.cosh(1000)
    with pytest.raises(ModelError, match=r"tanh\(\) takes 1 argument, 2 given"):
        bc.tanh(1, 2)


def test_hypot_of_two_sides():
    x, y = Symbol("x", "coordinate", 1), Symbol("y", "coordinate", 1)
    assert bc.hypot(x, y) is bc.hypot(y, x) is abs(bc.hypot(x, y))
    assert bc.hypot(x, y).order == 1  # as small as its arguments
    assert bc.hypot(3, -4) is Number(5)


def test_smooth_step_has_no_corner():
    x = Symbol("x", "coordinate")
    step = apply_builtin("smooth_step", x, Number(1), Number(3))
    first = partial(step, x)
    for at, value in ((0.0, 0.0), (1.0, 0.0), (3.0, 1.0), (4.0, 1.0)):
        assert evaluate([step, first, partial(first, x)], {x: at}) == [value, 0.0, 0.0]


# ---- text


def test_shown():
    x, y = Symbol("x"), Symbol("y")
    assert to_latex(bc.floor(x)) == r"\left\lfloor x \right\rfloor"
    assert to_latex(bc.cbrt(x)) == r"\sqrt[3]{x}"
    assert (
        to_latex(bc.log10(x) + bc.asinh(y))
        == r"\operatorname{arsinh}\left(y\right) + \log_{10}\left(x\right)"
    )
    assert to_mathml(bc.ceil(x)) == "<mrow><mo>⌈</mo><mi>x</mi><mo>⌉</mo></mrow>"
    assert str(bc.mod(x, y)) == "mod(x, y)"


@BY_NAME
def test_exchange_with_sympy(known):
    pytest.importorskip("sympy")
    symbols = [Symbol(n) for n in known.argument_names]
    made = apply_builtin(known.name, *symbols)
    theirs = to_sympy(made)
    at = place(known)
    there = theirs.subs({to_sympy(s): v for s, v in zip(symbols, at, strict=True)})
    assert float(there) == pytest.approx(known.value(*at), rel=1e-12)
    back = from_sympy(theirs)
    assert evaluate([back], dict(zip(symbols, at, strict=True))) == pytest.approx(
        [known.value(*at)], rel=1e-14
    )
    if known.sympy != "" and isinstance(made, Func) and len(known.argument_names) == 1:
        assert back is made


@pytest.mark.parametrize("name", CALLED)
def test_public_reserved_and_in_the_manual(name):
    assert callable(getattr(bc, name))
    s = bc.System("reserved", units="mks")
    with pytest.raises(ModelError, match=name):
        s.add_parameter(name, 1.0)
        s.equations()
    page = (Path(__file__).parents[3] / "docs" / "model_language.md").read_text(encoding="utf-8")
    assert re.search(rf"`{name}\(|[` ]{name}[` ]", page)


# ---- the independent rules


def test_independent_rules_for_the_same_names():
    assert list(INDEPENDENT) and set(INDEPENDENT) == set(FUNCTIONS)


@BY_NAME
def test_independent_values_and_slopes(known):
    at = place(known)
    series = INDEPENDENT[known.name](*(Jet([z, i + 1.0]) for i, z in enumerate(at)))
    value, rate = jets.coefficients(series, 2)
    assert value == pytest.approx(known.value(*at), rel=1e-14, abs=1e-15)
    assert rate == pytest.approx(
        sum((i + 1) * d for i, d in enumerate(slopes(known, at))), rel=1e-7, abs=1e-9
    )


# ---- models


def arguments(known):
    x = "(0.8*sin(q(m)))"
    if known.name == "where":
        return f"{x} > 0.2, {x}**2, 1 - {x}"
    return ", ".join(f"{base} + {x}/{4 + i}" for i, base in enumerate(place(known)))


def model():
    s = bc.System("functions", units="mks")
    m = s.add_body("m", translate=1, mass=2, inertia=0)
    used = {name: f"{name}({arguments(known)})" for name, known in CALLED.items()}
    s.add_force("f", magnitude=f"k*({' + '.join(used.values())})", direction=s.inertial[1], at=m.cm)
    for name, text in used.items():
        s.add_output(f"of_{name}", text, units="1")
    s.set_defaults(k=0.5)
    s.set_run(t_end=0.5, step=0.05, method="rk4", initial={"u(m)": 3.0})
    return s


@pytest.fixture(scope="module")
def equations():
    return model().equations()


def test_python_program_gives_the_values_of_the_table(equations):
    q = 0.4
    found = equations.compile(backend="python").outputs(0.0, [q], [1.0])
    x = 0.8 * math.sin(q)
    for name, known in CALLED.items():
        at = [base + x / (4 + i) for i, base in enumerate(place(known))]
        at = [float(x > 0.2), x**2, 1 - x] if name == "where" else at
        assert found[f"of_{name}"] == pytest.approx(known.value(*at), rel=4e-15), name


@pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")
def test_c_and_python_agree_to_the_last_bits(equations):
    inside, beside = equations.compile(backend="c"), equations.compile(backend="python")
    for q in np.linspace(-3, 3, 13):
        a, b = (sim.outputs(0.0, [q], [1.0]) for sim in (inside, beside))
        assert list(a.values()) == pytest.approx(list(b.values()), rel=4e-15, abs=1e-15)


@pytest.mark.parametrize("language", COMPILED)
def test_written_programs_use_every_function(equations, language, tmp_path):
    run = build(equations, language, tmp_path / "program").run(tmp_path / "run")
    expected = equations.compile(backend="python").simulate()
    for name in CALLED:
        np.testing.assert_allclose(
            run[f"of_{name}"], expected[f"of_{name}"], rtol=1e-6, atol=1e-6, err_msg=name
        )


# ---- what is not a number

UNDEFINED = ("x", "log(x) + y")
KEPT = {  # by a name, what is not a number where x is not; y is one
    f"{name}{i}_{k}": text.format(x=x, y="y")
    for k, x in enumerate(UNDEFINED)
    for name, texts in {
        "min": (
            "min({x}, {y})",
            "min({y}, {x})",
            "min(2, {x})",
            "min({x}, {y}, 3)",
            "min(sqrt(y), {x})",
        ),
        "max": (
            "max({x}, {y})",
            "max({y}, {x})",
            "max(2, {x})",
            "max({x}, {y}, 3)",
            "max(sqrt(y), {x})",
        ),
        "sign": ("sign({x})",),
        "abs": ("abs({x})",),
        "step": ("smooth_step({x}, 0, 1)", "smooth_step({y}, {x}, 1)", "smooth_step({y}, 0, {x})"),
        "mod": ("mod({x}, {y})", "mod({y}, {x})"),
        "floor": ("floor({x})",),
    }.items()
    for i, text in enumerate(texts)
}
CHOSEN = {
    "lt": ("where(x < y, 1, 2)", 2.0),
    "ge": ("where(x >= y, 1, 2)", 2.0),
    "value": ("where(x, 1, 2)", 1.0),
}


@pytest.fixture(scope="module")
def undefined():
    """Outputs of what is not a number, and a body that one of them moves."""
    s = bc.System("undefined", units="mks")
    m = s.add_body("m", translate=1, mass=2, inertia=0)
    s.define("x", "sqrt(-1 - sin(q(m)/far)**2)")
    s.define("y", "1.5 + sin(q(m)/far)**2")
    for name, text in (*KEPT.items(), *((n, c[0]) for n, c in CHOSEN.items())):
        s.add_output(name, text, units="1")
    s.add_force("pull", magnitude="k*cos(q(m)/far)", direction=s.inertial[1], at=m.cm)
    s.set_defaults(k=0.5, far=2)
    s.set_run(t_end=0.1, step=0.05, method="rk4")
    return s.equations()


def assert_nothing_is_lost(run):
    lost = [name for name in KEPT if not np.isnan(run[name]).all()]
    assert not lost
    assert {name: np.unique(run[name]).tolist() for name in CHOSEN} == {
        n: [c[1]] for n, c in CHOSEN.items()
    }


@pytest.mark.filterwarnings("ignore:outputs? .* not finite")
@pytest.mark.parametrize("backend", ["c", "lanes", "cores"])
@pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")
def test_what_is_not_a_number_is_not_lost(undefined, backend):
    sim = undefined.compile(backend="c")
    run = sim.simulate() if backend == "c" else sim.simulate_many(3, backend=backend)
    assert_nothing_is_lost(run)


@pytest.mark.parametrize("language", COMPILED)
def test_what_is_not_a_number_is_not_lost_in_programs(undefined, language, tmp_path):
    assert_nothing_is_lost(build(undefined, language, tmp_path / "program").run(tmp_path / "run"))


@pytest.mark.parametrize(
    "law",
    ["max({}, 0.7)", "min({}, 0.7)", "max(sin(t/late), {})", "sign({})", "smooth_step({}, 0, 1)"],
)
@pytest.mark.parametrize(
    "backend",
    [pytest.param("c", marks=pytest.mark.skipif(find_compiler() is None, reason="")), "python"],
)
def test_a_force_that_is_not_a_number_ends_a_run(law, backend):
    s = bc.System("force", units="mks")
    m = s.add_body("m", translate=1, mass=2, inertia=0)
    s.add_force(
        "pull", magnitude=f"k*{law.format('sqrt(1 - t/late)')}", direction=s.inertial[1], at=m.cm
    )
    s.set_defaults(k=0.5, late=0.2)
    run = s.equations().compile(backend=backend).simulate(t_end=0.5, step=0.05)
    assert run.ended.startswith("stopped at t = 0.25 s") and run.time[-1] == pytest.approx(0.2)


def test_check_passes_on_a_model_with_every_function(equations):
    report = bc.check(model(), states=3, backend="python", run=False, equations=equations)
    assert report.passed, str(report)


def test_dimensions():
    s = bc.System("units", units="mks")
    s.add_body("m", translate=1, mass=2, inertia=0)
    s.add_output("where_on_the_lap", "mod(q(m), lap) + cbrt(volume)")
    s.add_output("share", "tanh(q(m)/reach) + smooth_step(q(m), near, far)")
    s.set_defaults(lap=400, volume=1, reach=2, near=1, far=2)
    report = s.equations().describe()
    assert re.search(r"lap .*\bm\b", report) and re.search(r"volume .*m\*\*3|volume .*m3", report)
    s.set_units(lap="L")
    s.add_output("whole", "floor(lap)")
    with pytest.raises(ModelError, match=r"floor\(lap\) needs a pure number"):
        s.equations()


# ---- one table


# besides the table: an independent evaluation, bounds of values, and Python's functions that a kept
# model may name
ALLOWED = {
    "symbolic/expr/function_table.py",
    "verify/function_rules.py",
    "mechanics/kinematics/pivots.py",
    "mechanics/derive/model_pickle.py",
}
NAMES = set(FUNCTIONS)
COMMON = {
    "where",
    "sign",
    "min",
    "max",
    "abs",
    "log",
    "floor",
}  # words of messages and of Python, too


def listed(node):
    """Function names that a literal, the cases of a match or a text hold."""
    match node:
        case ast.Dict():
            parts = [*node.keys, *node.values]
        case ast.Tuple() | ast.List() | ast.Set():
            parts = node.elts
        case ast.Match():
            parts = [c.pattern.value for c in node.cases if isinstance(c.pattern, ast.MatchValue)]
        case ast.Constant(value=str(text)):
            return set(re.findall(r"\w+", text)) & (NAMES - COMMON)
        case _:
            return set()
    return {p.value for p in parts if isinstance(p, ast.Constant) and p.value in NAMES}


def words(tree):
    """Docstrings, which may speak of functions."""
    owners = (
        n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)
    )
    return {id(n.body[0].value) for n in owners if n.body and isinstance(n.body[0], ast.Expr)}


def test_no_other_file_lists_functions():
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name, text = path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8")
        named = NAMES.intersection(re.findall(r"\w+", text))
        if (
            name in ALLOWED or len(named) < 4 or named <= COMMON
        ):  # reading all files takes five seconds
            continue
        tree = ast.parse(text)
        skipped = words(tree)
        for node in ast.walk(tree):
            if id(node) not in skipped and len(names := listed(node)) > 3:
                found.append(f"{name}:{node.lineno} lists {', '.join(sorted(names))}")
    assert not found, "\n".join(found)


def test_rules_may_use_pi():
    """Unless an argument has this name."""
    (value,) = evaluate([compile_rule("2/sqrt(pi)*x", ("x",))(Number(3))], {})
    assert value == pytest.approx(6 / math.sqrt(math.pi))
    assert compile_rule("2*pi", ("pi",))(Number(3)) == Number(6)
