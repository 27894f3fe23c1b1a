"""Outputs of long models go on from what the rates have computed: the same values, and no call of a
user's function more."""

import ctypes

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.codegen.c import split_source
from bellcrank.codegen.c.lanes import lanes_source
from bellcrank.codegen.c.source import c_sources
from bellcrank.simulation.backend.compiler import compile_source, find_compiler
from tests.embedded import Embedded, in_units
from tests.models import STRICT, needs_compiler

SHARED = "derivatives_and_values("


def chain(python=None):
    """Four links on a carriage, whose outputs need the accelerations, a sum of other values, and a
    table."""
    s = bc.System("chain", units="SI")
    link = s.add_body("carriage", translate="x", mass=3, inertia=0)
    for i in range(1, 5):
        at = (0, 0, "-l") if i > 1 else (0, 0, 0)
        link = s.add_body(
            f"link{i}",
            link,
            rotate="y",
            joint_at=at,
            cm=(0, 0, "-c"),
            mass="m",
            inertia=(0, "j", 0),
        )
    s.add_gravity(direction="-[n.z]")
    s.define("law", bc.table([-1, 0, 1], [-2, 0, 3]))
    s.add_force(
        "spring", magnitude="-law(q(carriage))", direction=s.inertial.x, at="carriage.origin"
    )
    if python is not None:
        s.add_external("mine", arguments=("x",), python=python)
        s.add_force(
            "own", magnitude="mine(q(carriage))", direction=s.inertial.x, at="carriage.origin"
        )
    for i in range(1, 5):
        s.add_output(f"a{i}", f"dxdt(u(link{i}))")
        s.add_output(f"e{i}", f"m*u(link{i})^2*cos(q(link{i}))")
    s.set_defaults(l=1, c=0.4, m=2, j=0.3)
    return s


def function(library, name, eom, state, count):
    """Results of a function of a library, by numbers in equation units."""
    sim = eom.compile(backend="python")
    p = sim.parameter_values()
    n = len(eom.program.constant_symbols)
    c, out = (ctypes.c_double * max(1, n))(), (ctypes.c_double * count)()
    given = [(ctypes.c_double * len(x))(*x) for x in (*state, p)]
    library.constants(given[2], c)
    getattr(library, name)(ctypes.c_double(0.0), *given, c, None, out, None)
    return np.array(out)


@needs_compiler
@pytest.mark.parametrize("longest", [5, 20])
@pytest.mark.parametrize("half", [False, True])
def test_the_same_outputs(tmp_path, monkeypatch, longest, half):
    monkeypatch.setattr(split_source, "MIN_SPLIT_LENGTH", 0 if half else 10**9)
    eom = chain().equations()
    whole = c_sources(eom.program, longest=10**6).for_build("unity")
    text = c_sources(eom.program, longest=longest, halves=True).for_build("unity")
    assert SHARED in text and SHARED not in whole and split_source.is_split(text) == half
    flags = ("-O1", "-ffp-contract=off") if half else STRICT  # not every half calls every table
    found = []
    state = np.random.default_rng(1).uniform(-0.9, 0.9, (2, 5)).tolist()
    for i, source in enumerate((whole, text)):
        folder = tmp_path / str(i)
        folder.mkdir()
        library = ctypes.CDLL(str(compile_source(source, folder, find_compiler(), flags)))
        found.append(
            function(library, "outputs", eom, state, len(eom.program.functions["outputs"].labels))
        )
    assert np.ptp(found[0]) > 1
    np.testing.assert_allclose(found[1], found[0], rtol=1e-13, atol=1e-13)


def test_a_function_of_the_user_is_not_called_once_more():
    eom = chain(python=lambda x: 2 * x).equations()
    assert SHARED not in c_sources(eom.program, longest=5).for_build("unity")


def test_outputs_that_need_little_of_the_rates_stand_alone():
    s = chain()
    eom = s.equations()
    assert SHARED in c_sources(eom.program, longest=5).for_build("unity")
    t = bc.System("two", units="SI")
    t.add_body("a", rotate=("x", "y", "z"), mass=1, inertia=(1, 2, 3))
    t.add_output("half", "q(a,1)/2", units="rad")
    assert SHARED not in c_sources(t.equations().program, longest=1).for_build("unity")


@needs_compiler
def test_the_same_in_lanes(tmp_path, monkeypatch):
    """Runs next to each other, of which each has another start."""
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path))
    texts = []

    def in_short_parts(program, *given, **named):
        texts.append(lanes_source(program, *given, **named | {"longest": 5}))
        return texts[-1]

    monkeypatch.setattr("bellcrank.simulation.backend.c_lanes.lanes_source", in_short_parts)
    sim = chain().equations().compile()
    starts = [0.1, 0.4, -0.5, 0.9, 1.3]
    many = sim.simulate_many(
        initial={"q(link1)": starts}, t_end=0.2, step=0.01, backend="lanes", channels=["a4", "e2"]
    )
    assert SHARED in texts[-1]
    for i, start in enumerate(starts):
        run = sim.simulate(initial={"q(link1)": start}, t_end=0.2, step=0.01)
        for name in ("a4", "e2"):
            np.testing.assert_allclose(many[name][i], run[name], rtol=1e-9, atol=1e-9)


@needs_compiler
def test_the_same_in_embedded_code(tmp_path, monkeypatch):
    s = chain()
    s.set_run(t_end=1, step=0.01, initial={"q(link1)": 0.5, "u(link3)": 1.0})
    eom, rows = s.equations(), []
    for longest in (10**6, 5):
        monkeypatch.setattr("bellcrank.codegen.c.embedded.MAX_STATEMENTS_PER_PART", longest)
        folder = tmp_path / str(longest)
        folder.mkdir()
        c = Embedded(eom, folder)
        assert (SHARED in c.source.read_text(encoding="utf-8")) == (longest == 5)
        m = c.model()
        assert c.call("begin", m) == 0
        rows.append(in_units(eom, c.rows(m, 30)))
    for name, one in rows[0].items():
        np.testing.assert_allclose(rows[1][name], one, rtol=1e-9, atol=1e-9)
    assert np.ptp(rows[0]["a4"]) > 0.1
