"""WebAssembly of programs in pages: the numbers of the compiled program, for every example; what is
rejected."""

import zlib

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.codegen.browser import browser_program
from bellcrank.codegen.c.functions import C_NAMES
from bellcrank.codegen.linkages import kernel_function
from bellcrank.core.numeric.run_spec import At
from bellcrank.simulation.run.loaded import load_model
from bellcrank.simulation.run.point_evaluation import assemble
from bellcrank.symbolic.expr.function_table import CALLED
from tests.models import SOURCES, example, needs_compiler, system
from tests.node import evaluated, needs_node

pytestmark = needs_node
QUICK = ("quarter_car", "four_bar", "motorcycle")  # inputs, a loop, tyres on ground
LINKED = [n for n, text in SOURCES.items() if "def model(" in text]


def given_to(eom, loaded, count=3):
    """Parameters, and some states near the start with arbitrary inputs."""
    rng = np.random.default_rng(zlib.crc32(eom.name.encode()))
    start = np.concatenate(assemble(loaded))
    points = []
    for i in range(count):
        moved = start + (i > 0) * 0.1 * np.maximum(np.abs(start), 0.3) * rng.uniform(
            -1, 1, len(start)
        )
        points.append(
            {"t": 0.3 + i, "y": moved, "w": rng.uniform(-0.1, 0.1, len(loaded.program.inputs))}
        )
    return loaded.parameter_values(), points


def named(made):
    """Functions of the program itself, as it names them."""
    return [{"system_at": "system"}.get(n, n) for n in made.sizes]


def results_of(loaded, p, points, names):
    """What the functions of a loaded program give."""
    model = loaded.model.new_calls()
    c, n_q, found = model.constants(p), loaded.n_q, []
    for point in points:
        y = point["y"].tolist()
        at: At = (point["t"], y[:n_q], y[n_q:], p, c, point["w"].tolist())
        others = {
            "derivatives": lambda at: np.concatenate(model.derivatives(*at)),
            "outputs": lambda at: model.outputs(*at),
        }
        found.append(
            {n: np.array(others[n](at) if n in others else model.values(n, *at)) for n in names}
        )
    return found


def largest_difference(first, second):
    """Of all functions, against the largest result of each; of corrections that vanish in size."""
    worst = 0.0
    for one, other in zip(first, second, strict=True):
        for name, wanted in other.items():
            got = np.array(one[name] if name in one else one[C_NAMES[name]])
            same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
            size = max(
                np.abs(wanted).max(initial=0.0), 1.0 if name.startswith("correct") else 1e-300
            )
            worst = max(
                worst, float(np.where(same, 0.0, np.abs(got - wanted) / size).max(initial=0.0))
            )
    return worst


def instructions(module):
    """The first bytes of all instructions of a module; those of later years begin with 0xc0 to
    0xff."""
    at, found = 8, set()

    def count():
        nonlocal at
        value = shift = 0
        while True:
            byte = module[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    while at < len(module):
        kind, at = module[at], at + 1
        end = count() + at
        if kind == 10:
            break
        at = end
    for _ in range(count()):
        end = count() + at
        for _ in range(count()):
            count()
            assert module[at] in (0x7C, 0x7E, 0x7F)  # floats and integers
            at += 1
        while at < end:
            code, at = module[at], at + 1
            found.add(code)
            once = (0x02, 0x04, 0x0C, 0x0D, 0x10, 0x20, 0x21, 0x22, 0x41, 0x42)
            for _ in range(2 if code in (0x2B, 0x39) else code in once):
                count()
            at += 8 if code == 0x44 else 0
        assert at == end
    return found


def test_functions_equal_those_of_python():
    models = [
        *map(example, QUICK),
        system("double_pendulum").equations(solve="implicit"),
    ]  # the last solves in numbers
    listed = [(eom, load_python(eom)) for eom in models]
    given = [given_to(*pair) for pair in listed]
    made = [browser_program(eom.program) for eom, _ in listed]
    found = evaluated(
        [(m, loaded.n_q, *g) for m, (_, loaded), g in zip(made, listed, given, strict=True)]
    )
    for (eom, loaded), program, g, each in zip(listed, made, given, found, strict=True):
        wanted = results_of(loaded, *g, named(program))
        assert max(instructions(program.module)) < 0xC0  # WebAssembly of 2017
        assert largest_difference(each, wanted) < 1e-13, (
            eom.name
        )  # Python does not arrange statements


def test_sines_of_angles_near_and_far():
    eom = example("double_pendulum")
    loaded = load_python(eom)
    pairs = [
        (0.3, -2.0),
        (1e5, 7.85),
        (1e7, 0.4),
        (-0.2, 3e9),
        (1e300, 1.0),
        (0.5, np.nan),
        (-0.0, np.pi),
    ]
    pairs += [
        (x, -x)
        for x in (
            3.9921875,
            3.992187500000001,
            4.0,
            4.0078125,
            4.007813,
            -4.0,
            2.0**22,
            2.0**22 - 0.3,
        )
    ]
    points = [{"t": 0.0, "y": np.array([*pair, 0.5, -0.7]), "w": np.zeros(0)} for pair in pairs]
    p = loaded.parameter_values()
    wanted = results_of(loaded, p, points, ("derivatives",))
    (found,) = evaluated([(browser_program(eom.program), 2, p, points)])
    assert largest_difference(found, wanted) < 1e-13
    assert sum(np.isnan(x["derivatives"]).any() for x in wanted) == 1


def load_python(eom):
    return load_model(eom.analysis, eom.interface, eom.program, "python", {})


@pytest.mark.campaign
@needs_compiler
@pytest.mark.parametrize("name", LINKED)
def test_every_example_equals_the_compiled_program_or_is_refused(name):
    eom = example(name)
    foreign = [r.name for r in eom.program.externals if kernel_function(eom.program, r) is None]
    if foreign:
        with pytest.raises(bc.ModelError, match=f"cannot call the user functions? '{foreign[0]}'"):
            browser_program(eom.program)
        return
    loaded = load_model(eom.analysis, eom.interface, eom.program, "c", {})
    p, points = given_to(eom, loaded, 6)
    made = browser_program(eom.program)
    assert max(instructions(made.module)) < 0xC0
    wanted = results_of(loaded, p, points, named(made))
    rounding = largest_difference(results_of(load_python(eom), p, points, named(made)), wanted)
    (found,) = evaluated([(made, loaded.n_q, p, points)])
    assert largest_difference(found, wanted) < max(1e-14, 2 * rounding)


def every_function():
    """A body that is moved by every function of formulas at once, each as an output; what they are
    of is an input."""
    s = bc.System("functions", units="mks")
    s.add_body("b", translate=1, mass=1)
    for name in ("x", "y"):
        s.add_input(name)
    names = []
    for f in CALLED.values():
        arguments = {1: "x", 2: "x, y", 3: "x, y, 2"}[f.arity or 2]
        text = f"{f.name}({arguments})" if f.name != "where" else "where(x < y, x, y)"
        s.add_output(f"{f.name}_", text)
        names.append(f.name)
    s.add_output("powers", "x**3 + x**(-2) + abs(y)**0.3 + (x < y)*2")
    s.set_run(inputs={"x": 0.0, "y": 0.0})
    return s.equations()


def test_all_functions_of_formulas_at_usual_and_unusual_arguments():
    eom = every_function()
    loaded = load_python(eom)
    rng = np.random.default_rng(5)
    pairs = [
        *rng.uniform(-3, 3, (20, 2)),
        *rng.uniform(-1e5, 1e5, (10, 2)),
        (0.4, 0.7),
        (1e8, 2.0),
        (-0.0, 3.0),
        (2.0, -2.0),
    ]
    pairs += [(1e300, 1.0), (np.inf, 1.0), (1.5, np.nan), (np.nan, 1.5), (np.nan, np.nan)]
    points = [{"t": 0.0, "y": np.zeros(2), "w": np.array(pair)} for pair in pairs]
    (found,) = evaluated([(browser_program(eom.program), 1, [], points)])
    model = loaded.model.new_calls()
    for (x, y), results in zip(pairs, found, strict=True):
        wanted = model.outputs(0.0, [0.0], [0.0], [], [], [x, y])
        for name, got, want in zip(eom.outputs, results["outputs"], wanted, strict=True):
            same = got == want or (np.isnan(got) and np.isnan(want))
            assert same or abs(got - want) <= 4e-15 * max(1.0, abs(want)), (name, x, y, got, want)
