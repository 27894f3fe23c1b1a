"""The functions of a program: every section is one of them, each stands for itself, and whoever
asks for a routine's values sees all."""

from dataclasses import fields

import pytest

import bellcrank as bc
from bellcrank.program.implicit_function import ImplicitFunction, newton_operations
from bellcrank.program.program import SimulationProgram
from bellcrank.program.program_functions import KINDS
from bellcrank.program.statements import statement_expressions, statement_targets
from bellcrank.simulation.backend.compiler import find_compiler
from bellcrank.symbolic.expr import ZERO, Symbol, free_symbols
from tests.linkage.machines import linkage
from tests.models import example


def test_phases_are_before_with_and_after_the_rates():
    phase = {name: kind.phase for name, kind in KINDS.items()}
    after = {"outputs", "start", "update", "echo", "poses", "marks"}
    assert {name for name in phase if phase[name] == 2} == after
    assert {name for name in phase if phase[name] == 0} == {"constants", "entry"}
    assert set(phase.values()) == {0, 1, 2}


def test_every_section_is_a_function():
    assert {f.name for f in fields(SimulationProgram) if f.type == "Section"} == {*KINDS}


@pytest.mark.parametrize("name", ["four_bar", "passenger_car", "quarter_car"])
def test_functions_stand_for_themselves(name):
    program = example(name).program
    for f in program.functions.values():
        known = {*(() if f.name == "constants" else program.constant_symbols)}
        for s in f.section.statements:
            assert own(statement_expressions(s)) <= known, f.name
            known.update(statement_targets(s))
        assert own(f.section.results) <= known
        assert len(f.labels) == len(
            f.section.results if f.name != "constants" else f.section.statements
        )


def own(roots):
    return {x for x in free_symbols(*roots) if x.kind in ("stored", "intermediate")}


def test_runs_take_the_functions_of_their_equations():
    program = example("four_bar").program
    minimal, multipliers = (
        {f.name for f in program.functions_of(x)} for x in ("minimal", "multipliers")
    )
    assert {"correct_q", "correct_u"} == minimal - multipliers and not multipliers - minimal
    assert {"constants", "derivatives", "outputs", "closure", "system"} <= minimal & multipliers
    assert minimal | multipliers == {*program.functions}


@pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")
def test_a_value_that_the_echo_alone_uses_is_computed():
    """The place of the carrier of a table: without gravity, rates need its slopes only."""
    chain = linkage("five_link")
    s = bc.System("corner", units="mks")
    wheel = s.add_body("wheel", mass=38, inertia=0, cm=chain.points["wheel_centre"])
    s.add_linkage("c", chain.table(step=0.02, range=(-0.04, 0.04)), carrier=wheel, exact=False)
    s.add_external(
        "show",
        arguments=("dot(pos(wheel.origin), [n1])",),
        returns=("x",),
        when="echo",
        python=lambda x: x,
    )
    eom = s.equations(optimise="none")
    found = [eom.compile(backend=b).echo(0.0, [0.02], [0.0])["x"] for b in ("python", "c")]
    assert abs(found[0]) > 1e-3 and found[1] == pytest.approx(found[0], rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_operations_of_a_function_given_by_equations_are_those_of_an_elimination(n):
    """By reciprocals of the pivots; right sides: the residual, one input, one second derivative."""
    x = Symbol("x", "input")
    rows, nothing = tuple(Symbol(f"r{i}", "input") for i in range(n)), (ZERO,) * n
    f = ImplicitFunction(
        (x,),
        rows,
        n,
        tuple(range(n)),
        rows,
        (rows,) * n,
        (rows,),
        ((),),
        (rows,),
        (),
        (),
        0.0,
        1.0,
        (nothing,),
    )
    add = multiply = divide = 0
    for left in reversed(range(n)):  # rows and columns behind the pivot
        divide += 1
        multiply += left + left * left
        add += left * left
    for _ in range(3):
        for k in range(n):  # forwards over k rows, backwards over n - 1 - k and the pivot
            multiply += k + (n - 1 - k) + 1
            add += k + (n - 1 - k)
    found = newton_operations(f)
    assert (found.add, found.multiply, found.divide) == (add, multiply, divide)
