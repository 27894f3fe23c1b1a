"""C source: what it looks like, and that C, Python and the interpreter give the same numbers."""

import ctypes
import math
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.codegen.c.printer import CPrinter
from bellcrank.codegen.c.runtime_files import constant_definitions, fill_runtime_file
from bellcrank.codegen.c.source import c_source
from bellcrank.codegen.c.step_methods import method_cases, method_names
from bellcrank.codegen.identifiers import comment_text, safe_identifier, safe_names
from bellcrank.codegen.name_comments import NameComments
from bellcrank.codegen.number_type import DOUBLE
from bellcrank.codegen.python.printer import PythonPrinter
from bellcrank.core.numeric.fixed_step_methods import METHODS
from bellcrank.core.numeric.tuning import ELIMINATION
from bellcrank.kernel.text import kernel_file
from bellcrank.program import interpreter
from bellcrank.simulation.backend.c import CModel
from bellcrank.simulation.backend.compiler import compile_source, find_compiler
from bellcrank.symbolic.expr import Product, Symbol
from tests.models import (
    EXAMPLES,
    STRICT,
    example,
    needs_compiler,
    pendulum,
    random_state,
    rarely,
    relative,
    system,
)

EMIT = Path(bc.__file__).parent / "codegen"
# every kind of program: with a table of inputs, loops, constraints, user functions, derived by hand
KINDS = (
    *("quarter_car", "passenger_car", "four_bar", "motorcycle", "rolling_coin"),
    *("stanford_arm_controlled", "kane_rolling_disc"),
)
OTHERS = [n for n in EXAMPLES if n not in KINDS]


def strict_model(eom, **options):
    """Compiled without warnings, user functions and tables as they are."""
    sim = eom.compile(backend="python")
    return sim, CModel(eom.program, sim.loaded.functions, flags=STRICT, **options).new_calls()


# ---- text


def test_file_reads_well():
    words = NameComments({"k": "suspension stiffness"}, {"k": "N/m", "q(wheel)": "m"})
    text = c_source(example("quarter_car").program, words)
    assert text.startswith("/* quarter car\n\n   2 coordinates, 2 independent speeds.")
    assert "     q[0]    q(wheel) (m)\n" in text
    assert "k (N/m)                  suspension stiffness\n" in text
    body = text[text.index("EXPORT void derivatives(") :]
    body = body[body.index("{") : body.index("\n}")]
    assert "const double q_wheel = q[0], q_body = q[1];" in body
    assert "qd[0] = u_wheel; /* q(wheel)' */" in body
    assert "sincos" not in text and "spline_value" in text  # no angles, one input


def test_no_symbol_takes_a_name_that_a_printer_makes():
    """A parameter called mass1 stood next to the array of that name in models with loops."""
    files = ("c/printer.py", "c/lanes.py", "fortran/printer.py")
    made = {
        x
        for f in files
        for x in re.findall(r"\b([a-z]+)\{k\}", (EMIT / f).read_text(encoding="utf-8"))
    }
    assert {"matrix", "rates", "found", "mass"} <= made
    for name in sorted(made):
        assert safe_identifier(f"{name}1", set()) == f"v_{name}1"


def test_names_are_made_safe():
    symbols = [
        Symbol(n)
        for n in (
            "for",
            "q(b, 4)",
            "q(b,4)",
            "rear.chassis",
            "z1",
            "M_PI",
            "2x",
            "größe",
            "__x",
            "sin",
        )
    ]
    names = list(safe_names(symbols, ("t",)).values())
    assert names[:4] == ["for_2", "q_b_4", "q_b_4_2", "rear_chassis"]
    assert len(set(names)) == len(names)
    assert all(n.isidentifier() and n.isascii() for n in names)
    assert not {"z1", "M_PI", "sin"} & set(names)
    assert safe_identifier("a", ("a", "a_2")) == "a_3"


@pytest.mark.parametrize(
    "text", ["*/ int x; /*", "a\nb", "*\\/", "\\", "**//**", "*?/", "??/", "naïve */"]
)
def test_comments_cannot_be_left(text):
    shown = comment_text(text)
    assert (
        "*/" not in shown
        and "/*" not in shown
        and "\n" not in shown
        and "\\" not in shown
        and "??" not in shown
    )
    assert shown.isascii()


@needs_compiler
def test_hostile_names_compile():
    s = bc.System('a */ system("x"); /* "quoted" \\ more', units="mks")
    body = s.add_body(
        "double",
        rotate=3,
        mass="for",
        inertia=(0, 0, "while"),
        cm=("z1", 0, 0),
        label="*/ #error\n#error",
    )
    names = (
        "int",
        "NULL",
        "q_double",
        "t_",
        "qd",
        "LANES",
        "M_PI",
        "main",
        "smaller",
        "values1",
        "return",
    )
    s.add_moment(
        "m", magnitude=" + ".join(f"{n}*q(double)" for n in names), direction=body[3], on=body
    )
    s.set_defaults(**{"for": 1, "while": 1, "z1": 0.1}, **dict.fromkeys(names, -1.0))
    s.add_output("*/ out", "2*q(double)", label="*/\n")
    eom = s.equations()
    _, udot = strict_model(eom)[1].derivatives(0.0, [0.5], [0.0], *constants_of(eom), [])
    assert udot == pytest.approx([-5.5 / 1.01], rel=1e-12)


def test_division_by_a_power_is_in_parentheses():
    a, b = Symbol("a"), Symbol("b")
    names = {a: "a", b: "b"}
    for printer in (PythonPrinter(names, ()), CPrinter(names, {}, {})):
        assert printer.print_expression(Product(1, ((a, 1), (b, -2)))) == "a/(b*b)"


def constants_of(eom):
    sim = eom.compile(backend="python")
    p = sim.parameter_values()
    return p, sim.loaded.new_context().model.constants(p)


# ---- numbers


@needs_compiler
@pytest.mark.parametrize("name", rarely(EXAMPLES, OTHERS))
def test_c_python_and_interpreter_agree(name):
    eom = example(name)
    sim, model = strict_model(eom)
    p = sim.parameter_values()
    c, python = model.constants(p), sim.loaded.new_context().model
    assert relative(c, python.constants(p)) <= 1e-12 if c else True
    known = interpreter.evaluate_constants(eom.program, p)
    user = {r.name: f for r, f in zip(eom.program.routines, sim.loaded.functions, strict=True)}
    for seed in range(5):
        q, u = (x.tolist() for x in random_state(eom, seed))
        w = np.random.default_rng(seed).uniform(-0.01, 0.01, len(eom.program.inputs)).tolist()
        got = np.concatenate(model.derivatives(0.3, q, u, p, c, w))
        assert relative(got, np.concatenate(python.derivatives(0.3, q, u, p, c, w))) <= 1e-12
        plain, values = interpreter.evaluate_derivatives(eom.program, known, 0.3, q, u, w, user)
        assert relative(got, plain) <= 1e-12
        out = model.outputs(0.3, q, u, p, c, w)
        assert relative(out, python.outputs(0.3, q, u, p, c, w)) <= 1e-12
        assert relative(out, interpreter.evaluate_outputs(eom.program, values, user)) <= 1e-12


@needs_compiler
@pytest.mark.parametrize("name", rarely(EXAMPLES, OTHERS))
@pytest.mark.parametrize(
    "method",
    [
        "rk4",
        pytest.param("rk2", marks=pytest.mark.campaign),
        pytest.param("euler", marks=pytest.mark.campaign),
    ],
)
def test_runs_agree(name, method):
    eom = example(name)
    runs = [
        eom.compile(backend=b).simulate(method=method, t_end=60 * step_of(eom))
        for b in ("c", "python")
    ]
    assert [r.ended for r in runs] == ["finished"] * 2
    np.testing.assert_array_equal(runs[0].time, runs[1].time)
    for channel in runs[1]:
        difference = np.abs(runs[0][channel] - runs[1][channel]).max()
        assert difference <= 1e-9 * np.abs(runs[1][channel]).max() + 1e-15, (
            channel
        )  # nothing but rounding: no channel


def step_of(eom):
    return eom.interface.run.step


@needs_compiler
@pytest.mark.parametrize("longest", rarely([1, 7, 19], (1, 19)))
def test_long_functions_in_parts_give_the_same(longest, tmp_path):
    eom = example("n_link_chain", n=4)
    text = c_source(eom.program, longest=longest)
    assert "derivatives_2(" in text and "constants_2(" in text
    library = ctypes.CDLL(str(compile_source(text, tmp_path, find_compiler(), STRICT)))
    sim, model = strict_model(eom)
    p = sim.parameter_values()
    c = model.constants(p)
    q, u = (x.tolist() for x in random_state(eom))
    got_c, qd, ud = (ctypes.c_double * len(c))(), (ctypes.c_double * 4)(), (ctypes.c_double * 4)()
    library.constants(array(p), got_c)
    library.derivatives(
        ctypes.c_double(0.0), array(q), array(u), array(p), got_c, None, qd, ud, None
    )
    assert list(got_c) == c
    assert (list(qd), list(ud)) == model.derivatives(0.0, q, u, p, c, [])


@pytest.mark.skipif(shutil.which("clang") is None, reason="needs clang")
@pytest.mark.parametrize(
    "flags", rarely(["-O3 -ffp-contract=fast", "-O1 -ffp-contract=off"], ["-O3 -ffp-contract=fast"])
)
def test_clang_agrees(flags, tmp_path, monkeypatch):
    eom = example("spacecraft_2")
    state = random_state(eom)
    expected = eom.compile(backend="python").derivatives(0.0, *state)
    monkeypatch.setenv("CC", "clang")
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path))
    assert "clang" in find_compiler().version
    sim = eom.compile(backend="python")
    model = CModel(
        eom.program, sim.loaded.functions, flags=(*flags.split(), *STRICT[2:])
    ).new_calls()
    p = sim.parameter_values()
    got = model.derivatives(0.0, *(x.tolist() for x in state), p, model.constants(p), [])
    for g, e in zip(got, expected, strict=True):
        assert relative(np.array(g), np.array(e)) <= 1e-12


def test_speeds_are_loaded_after_the_angles():
    """The C library may be called for angles, and a call does not keep what is in registers."""
    text = c_source(example("stanford_arm").program)
    body = text[text.index("EXPORT void derivatives(") :]
    assert 0 < body.index("sincos_all(LANES(4), angle1") < body.index("= u[0]")


@needs_compiler
@pytest.mark.parametrize("vectors", [4, 2])
def test_the_last_vector_of_angles_is_full(tmp_path, vectors):
    """Zeros among the angles would be gathered in memory, and read as a vector before they are
    there."""
    text = c_source(example("spacecraft_2").program)
    body = text[text.index("EXPORT void derivatives(") :]
    listed = re.search(r"angle1\[LANES\((\d+)\)\] = \{(.*)\};", body)
    assert listed and listed[1] == "7"
    source = tmp_path / "room.c"
    source.write_text(
        f"#include <stdint.h>\n#include <string.h>\n{fill_runtime_file('room.c')}\nHERE "
        f"LANES(7) = {listed[2]}\n"
    )
    flags = ["-U__AVX512F__", "-U__AVX__", *(["-D__AVX__"] if vectors == 4 else [])]
    made = subprocess.run(
        [*find_compiler().command, "-E", *flags, str(source)], capture_output=True, text=True
    )
    size, values = made.stdout.split("HERE")[1].split("=")
    assert len(values.split(",")) == eval(size.replace("/", "//"))


def array(values):
    return (ctypes.c_double * len(values))(*values)


@needs_compiler
def test_every_function_of_the_language():
    """All at once, at a state where each is defined."""
    text = """sin(a) + cos(a*b) + tan(a) + asin(b/3) + acos(b/3) + atan(a) + atan2(a, b) + sqrt(b) + exp(a) + log(b) + abs(-a)
              + sign(a - 1) + min(a, b) + max(a, b) + where(a > b, a, -b) + where(a >= b, 1, 0) + a**5 + a**-3 + b**0.3
              + b**1.5 + sin(cos(a))*cos(cos(a)) + where(a < 0.5, 1, 2)*where(a <= b, 1, 3) + a**-0.5"""

    def prepare(s):
        s.add_input("a", units="1")
        s.add_input("b", units="1")

    sim, model = strict_model(pendulum(f"m0*({text})", prepare, m0=1.0).equations())
    p = sim.parameter_values()
    c, python = model.constants(p), sim.loaded.new_context().model
    for w in ([0.4, 1.3], [1.7, 0.6]):
        got = model.derivatives(0.0, [0.1], [0.2], p, c, w)
        assert got[1] == pytest.approx(python.derivatives(0.0, [0.1], [0.2], p, c, w)[1], rel=1e-13)


@needs_compiler
def test_numbers_out_of_range_are_no_trap():
    eom = pendulum("m0*(sqrt(q(rod)) + log(q(rod)) + 1/q(rod))", m0=1).equations()
    sim, model = strict_model(eom)
    p = sim.parameter_values()
    _, udot = model.derivatives(0.0, [-1.0], [0.0], p, model.constants(p), [])
    assert math.isnan(udot[0])


@needs_compiler
def test_implicit_form_is_solved():
    explicit = example("stanford_arm")
    implicit = system("stanford_arm").equations(solve="implicit")
    assert "solve_symmetric(6, " in c_source(implicit.program)
    q, u = random_state(explicit)
    sim, model = strict_model(implicit)
    p = sim.parameter_values()
    got = model.derivatives(0.0, q.tolist(), u.tolist(), p, model.constants(p), [])
    expected = explicit.compile(backend="python").derivatives(0.0, q, u)
    assert relative(got[1], expected[1]) <= 1e-12
    constants = interpreter.evaluate_constants(implicit.program, p)
    rates, _ = interpreter.evaluate_derivatives(
        implicit.program, constants, 0.0, q.tolist(), u.tolist(), []
    )
    assert relative(rates, np.concatenate(expected)) <= 1e-12


@needs_compiler
def test_singular_matrix_gives_nan(tmp_path):
    source = (
        "#include <math.h>\n"
        + "#define real double\n"
        + constant_definitions(ELIMINATION, DOUBLE)
        + kernel_file("solve.c")
        + "void s(int n, double *a, double *b) { solve_symmetric(n, a, b); }\n"
    )
    library = ctypes.CDLL(str(compile_source(source, tmp_path, find_compiler(), STRICT)))
    rng = np.random.default_rng(3)
    root = rng.uniform(-1, 1, (7, 7))
    matrix, right = root @ root.T, rng.uniform(-1, 1, 7)
    a, b = matrix.copy(), right.copy()
    library.s(7, ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(b.ctypes.data))
    assert relative(b, np.linalg.solve(matrix, right)) <= 1e-11
    a, b = np.ones((3, 3)), np.ones(3)
    library.s(3, ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(b.ctypes.data))
    assert np.isnan(b).all()


# ---- sine and cosine, and angles by their tangents

FLAGS = [
    ("-O1", "-ffp-contract=off"),
    ("-O3", "-march=native", "-ffp-contract=fast"),
    ("-O3", "-ffast-math"),
]
LOOP = "-DSINCOS_BY_TABLE=0"  # the way that processors without the table use
UNFUSED = "-U__FP_FAST_FMA"  # ... nor an operation for a product and a sum


@pytest.fixture(
    scope="module", params=[*FLAGS[:2], (*FLAGS[0], LOOP, UNFUSED), (*FLAGS[1], LOOP)], ids=" ".join
)
def sincos(request, tmp_path_factory):
    """sincos_all under the flags that are used, of up to seven angles at a time, and sincos_lanes,
    one in each lane."""
    head = (
        "#include <float.h>\n#include <math.h>\n#include <stdint.h>\n#include "
        "<string.h>\n#define SEPARATE\n"
    )
    source = (
        head
        + fill_runtime_file("room.c")
        + fill_runtime_file("sincos.c", TABLE="yes")
        + """void f(int n, const double *x, double *s, double *c)
        {
            for (int i = 0; i < n; i += 7)
                sincos_all(n - i < 7 ? n - i : 7, x + i, s + i, c + i);
        }
        typedef double scalar;
        """
        + kernel_file("lanes.h")
        + fill_runtime_file("sincos_lanes.c")
        + """void f_lanes(int n, const double *x, double *s, double *c)
        {
            for (int i = 0; i < n; i += N_LANES) {
                const size_t size = (n - i < N_LANES ? n - i : N_LANES)*sizeof(double);
                lanes angle = {0}, sine, cosine;
                memcpy(&angle, x + i, size);
                sincos_lanes(1, &angle, &sine, &cosine);
                memcpy(s + i, &sine, size);
                memcpy(c + i, &cosine, size);
            }
        }
        """
    )
    path = compile_source(
        source,
        tmp_path_factory.mktemp("sincos"),
        find_compiler(),
        (*request.param, "-Wall", "-Wextra"),
    )
    library = ctypes.CDLL(str(path))

    def evaluate(x, function="f"):
        x = np.ascontiguousarray(x, dtype=float)
        s, c = np.empty_like(x), np.empty_like(x)
        library[function](len(x), *(ctypes.c_void_p(a.ctypes.data) for a in (x, s, c)))
        return s, c

    return evaluate


@needs_compiler
@pytest.mark.parametrize(
    ("top", "ulp"),
    [
        (1e-9, 1.0),
        (1.0, 1.6),
        (100.0, 2.0),
        (1e4, 2.5),
        (1e5, 3.0),
        (1e6, 3.0),
        (1e9, 1.5),
        (1e300, 1.5),
    ],
)  # against the C library, which is itself off by up to half a unit
def test_sine_and_cosine_are_right(sincos, top, ulp):
    x = np.random.default_rng(0).uniform(-top, top, 40_003)
    for got, reference in zip(sincos(x), (math.sin, math.cos), strict=True):
        expected = np.array([reference(v) for v in x])
        assert (np.abs(got - expected) / np.spacing(np.abs(expected))).max() <= ulp


@needs_compiler
def test_own_sines_are_used_without_a_standard_named(tmp_path):
    """Processors with half precision name another method of evaluation then, which leaves double as
    it is."""
    source = (
        "#include <float.h>\n#include <math.h>\n#include <stdint.h>\n#include "
        "<string.h>\n#define SEPARATE\n"
    )
    source += fill_runtime_file("room.c") + fill_runtime_file("sincos.c", TABLE="yes")
    source += "void f(const double *x, double *s, double *c) { sincos_all(4000, x, s, c); }\n"
    x = np.random.default_rng(2).uniform(-3.0, 3.0, 4_000)
    found = []
    for standard in ("-std=c99", "-std=gnu99"):
        folder = tmp_path / standard
        folder.mkdir()
        f = ctypes.CDLL(
            str(compile_source(source, folder, find_compiler(), (*FLAGS[1], standard)))
        ).f
        pair = np.empty((2, len(x)))
        f(*(ctypes.c_void_p(a.ctypes.data) for a in (x, *pair)))
        found.append(pair)
    assert (found[0] == found[1]).all()


@needs_compiler
@pytest.mark.parametrize(("top", "ulp"), [(1.0, 1.6), (100.0, 2.0), (1e6, 3.0), (1e9, 1.5)])
def test_sine_and_cosine_in_lanes_are_right(sincos, top, ulp):
    """By the table and by the way of processors without it, wherever the tests run."""
    x = np.random.default_rng(0).uniform(-top, top, 4_003)
    for got, reference in zip(sincos(x, "f_lanes"), (math.sin, math.cos), strict=True):
        expected = np.array([reference(v) for v in x])
        assert (np.abs(got - expected) / np.spacing(np.abs(expected))).max() <= ulp


@needs_compiler
def test_sine_and_cosine_near_multiples_of_a_right_angle(sincos):
    k = np.concatenate(
        [np.arange(-2000, 2000), np.random.default_rng(1).integers(-636_000, 636_000, 50_000)]
    )
    for x in (k * (math.pi / 2), np.nextafter(k * (math.pi / 2), math.inf)):
        for got, reference in zip(sincos(x), (math.sin, math.cos), strict=True):
            expected = np.array([reference(v) for v in x])
            assert (
                np.abs(got - expected) / np.spacing(np.maximum(np.abs(expected), 1e-300))
            ).max() <= 4.5


@needs_compiler
def test_sine_and_cosine_to_one_and_a_half_units(sincos):
    """Against many digits; where the table is used, angles half a row from a right angle lose
    most."""
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(2)
    row = math.pi / 64
    worst = (
        rng.integers(-60, 60, 2000) * (math.pi / 2)
        + rng.choice([-1, 1], 2000) * rng.uniform(0.5, 0.65, 2000) * row
    )
    x = np.concatenate([rng.uniform(-100, 100, 1000), rng.uniform(-1, 1, 1000), worst])
    with mpmath.workprec(120):
        for got, reference in zip(sincos(x), (mpmath.sin, mpmath.cos), strict=True):
            for v, g in zip(x.tolist(), got.tolist(), strict=True):
                exact = reference(v)
                assert abs(g - exact) <= 1.5 * np.spacing(abs(float(exact))), v


def test_table_of_sines_and_cosines():
    mpmath = pytest.importorskip("mpmath")
    rows = re.findall(r"^    R\((.*?)\)", fill_runtime_file("sincos.c", TABLE="yes"), re.MULTILINE)
    assert len(rows) == 32
    with mpmath.workprec(200):
        for k, row in enumerate(rows):
            s, c, s_lack, c_lack = map(float, row.split(", "))
            angle = 2 * mpmath.pi * k / 128
            for exact, number, lack in (
                (mpmath.sin(angle), s, s_lack),
                (mpmath.cos(angle), c, c_lack),
            ):
                assert number == float(exact)
                assert abs(mpmath.mpf(number) + mpmath.mpf(lack) - exact) < 1e-32


@needs_compiler
def test_sine_and_cosine_of_special_values(sincos):
    s, c = sincos([0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, 1e6, -1e6, 1e22])
    assert np.signbit(s[:2]).tolist() == [False, True] and c[:2].tolist() == [1.0, 1.0]
    assert np.isnan(s[2:5]).all() and np.isnan(c[2:5]).all()
    assert s[5] == 5e-324
    assert s[6:] == pytest.approx([math.sin(v) for v in (1e6, -1e6, 1e22)], rel=1e-15)


@needs_compiler
def test_one_angle_that_is_not_finite_leaves_the_others_alone(sincos):
    s, c = sincos([0.5, math.nan, 2.5, 1e300])
    assert s[[0, 2]] == pytest.approx([math.sin(0.5), math.sin(2.5)], rel=1e-15)
    assert c[[0, 2]] == pytest.approx([math.cos(0.5), math.cos(2.5)], rel=1e-15)


@needs_compiler
def test_fast_math_falls_back_to_the_library(tmp_path):
    """-ffast-math would delete the rounding constant, so the C library takes over."""
    source = (
        "#include <stdio.h>\n#include <float.h>\n#include <math.h>\n#include "
        "<stdint.h>\n#include <string.h>\n"
    )
    source += fill_runtime_file("room.c") + fill_runtime_file("sincos.c", TABLE="yes")
    source += """int main(void)
    {
        double x[4] = {0.5, 20.0, -300.0, 4e5}, s[4], c[4];
        sincos_all(4, x, s, c);
        for (int i = 0; i < 4; i++)
            printf("%.17g %.17g\\n", s[i], c[i]);
        return 0;
    }
    """
    (tmp_path / "m.c").write_text(source)
    command = [*find_compiler().command, "-std=c99", *FLAGS[2], "m.c", "-o", "m", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    shown = subprocess.run(
        [tmp_path / "m"], capture_output=True, text=True, check=True
    ).stdout.split()
    expected = [f(x) for x in (0.5, 20.0, -300.0, 4e5) for f in (math.sin, math.cos)]
    assert list(map(float, shown)) == pytest.approx(expected, rel=1e-14)


@pytest.fixture(
    scope="module",
    params=[FLAGS[1], (*FLAGS[0], "-DATAN_BY_TABLE=0"), (*FLAGS[1], "-DATAN_BY_TABLE=0")],
    ids=" ".join,
)
def atan(request, tmp_path_factory):
    """atan_all under the flags that are used, of up to eight tangents at a time."""
    head = "#include <float.h>\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
    source = head + fill_runtime_file("room.c") + fill_runtime_file("atan.c")
    source += """void f(int n, const double *x, double *angle)
        {
            for (int i = 0; i < n; i += 8)
                atan_all(8, x + i, angle + i);
        }
        """
    flags = (*request.param, "-Wall", "-Wextra")
    library = ctypes.CDLL(
        str(compile_source(source, tmp_path_factory.mktemp("atan"), find_compiler(), flags))
    )

    def evaluate(x):
        whole = np.zeros(-(-len(x) // 8) * 8)
        whole[: len(x)] = x
        angle = np.empty_like(whole)
        library.f(len(x), *(ctypes.c_void_p(a.ctypes.data) for a in (whole, angle)))
        return angle[: len(x)]

    return evaluate


@needs_compiler
def test_angles_by_their_tangents_to_two_units(atan):
    """Against many digits: everywhere, and around every end of a row of the table or of an eighth
    of a turn."""
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(3)
    ends = np.concatenate(
        [2.0 ** np.arange(-5, 6) * (1 + i / 4) for i in range(4)]
        + [
            np.tan([math.pi / 8, 1.1780972]),
        ]
    )
    x = np.concatenate(
        [
            np.tan(rng.uniform(-1.57, 1.57, 1500)),
            rng.uniform(-0.07, 0.07, 200),
            2.0 ** rng.uniform(-1000, 1000, 200),
            ends,
            np.nextafter(ends, 0),
            -np.nextafter(ends, 9),
        ]
    )
    with mpmath.workprec(120):
        for v, got in zip(x.tolist(), atan(x).tolist(), strict=True):
            exact = mpmath.atan(v)
            assert abs(got - exact) <= 2.0 * np.spacing(abs(float(exact))), v


@needs_compiler
def test_angles_of_special_tangents(atan):
    x = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1.8e308 / 2, -1e300, 0.5, 2.0]
    assert atan(x).tolist() == pytest.approx(
        [math.atan(v) for v in x], rel=1e-15, abs=0, nan_ok=True
    )
    assert np.signbit(atan(x)[:2]).tolist() == [False, True]


def test_table_of_tangents():
    """Angles of the table are as good as exact."""
    mpmath = pytest.importorskip("mpmath")
    rows = re.findall(r"\{([\d.e+]+), ([\d.e+]+)\}", fill_runtime_file("atan.c"))
    assert len(rows) == 34
    with mpmath.workprec(200):
        for c, angle in rows:
            assert abs(
                mpmath.atan(mpmath.mpf(float(c))) - mpmath.mpf(float(angle))
            ) <= 0.01 * np.spacing(float(angle))


@needs_compiler
def test_a_step_whose_rates_cannot_be_had_makes_nothing_of_them(tmp_path):
    """At every stage of every method: where an input fails, its rates are not set."""
    lines = [
        "#include <math.h>",
        "#include <string.h>",
        "#define GAP 1e-9",
        "enum { N_Q = 1, N_S = 2, FINISHED = 0, FAILED = 1 };",
        "typedef double real;",
        method_names(),
        "typedef struct { int method, good; real behind, *old; } Job;",
        "#define unit_sizes_of(y) ((void)0)",
        "static int rates(Job *job, int live, real t, const real *y, real *k, real *w)",
        "{ if (job->good-- == 0) return FAILED; k[0] = y[1] + t + live; k[1] = -y[0] + w[0]; return FINISHED; }",
        "int advance(Job *job, real h, real t, real middle, real end, const real *y, const "
        "real *k, real *next, real *w)",
        "{",
        method_cases(),
        "}",
    ]
    library = ctypes.CDLL(str(compile_source("\n".join(lines), tmp_path, find_compiler(), STRICT)))
    real, y, k, w = (
        ctypes.c_double,
        (ctypes.c_double * 2)(1, 2),
        (ctypes.c_double * 2)(3, 4),
        (ctypes.c_double * 1)(),
    )

    def after(number, good):
        """Whether a step fails of which so many rates are good, how many are left, and the
        coordinate it leads to."""
        job, found = (
            (ctypes.c_int * 6)(number, good),
            (ctypes.c_double * 2)(-7, -7),
        )  # with nothing behind it
        failed = library.advance(job, real(0.1), real(0), real(0.05), real(0.1), y, k, found, w)
        return failed, job[1], found[0]

    for number in range(len(METHODS)):
        failed, left, reached = after(number, 100)
        assert not failed and reached not in (-7, 1) and left < 100
        for good in range(100 - left):
            failed, _, reached = after(number, good)
            assert failed and reached in (-7, 1)  # as it was, or where semi-implicit Euler begins
