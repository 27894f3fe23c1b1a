"""Statements arranged for speed: the same values, fewer dependent operations, operands before their
users."""

import math
from fractions import Fraction

import numpy as np
import pytest

from bellcrank.codegen.schedule import AS_WRITTEN, ScheduleOptions, schedule_section
from bellcrank.codegen.schedule_steps import (
    SinCos,
    SinCosGroup,
    VectorizedCall,
    step_expressions,
    step_targets,
)
from bellcrank.codegen.split_functions import split_steps
from bellcrank.program.statements import AssignStatement, CallStatement, Section, prune_section
from bellcrank.symbolic.expr import Expr, Func, Product, Sum, Symbol, evaluate, postorder
from tests.models import EXAMPLES, LONG_TO_DERIVE, example, rarely

WITH_EXTERNALS = ("spacecraft_1", "spacecraft_1_small", "motorcycle")

a, b, c, d, e, f, g, h = (Symbol(x, "coordinate") for x in "abcdefgh")
z1, z2, z3, z4 = (Symbol(f"z{i}", "intermediate") for i in (1, 2, 3, 4))


def total(*terms):
    return Sum(tuple((t, 1) for t in terms))


def product(*factors, over=()):
    return Product(1, (*((x, 1) for x in factors), *((x, -1) for x in over)))


def depth(root):
    found = {}
    for node in postorder((root,)):
        found[node] = 1 + max((found[p] for p in node.parts), default=-1)
    return found[root]


def only_value(section, **options):
    """The value of the last statement."""
    return schedule_section(section, ScheduleOptions(**options)).steps[-1].value


def test_sum_of_eight_takes_three_additions_in_a_row():
    value = only_value(Section((), (total(a, b, c, d, e, f, g, h),)))
    assert depth(value) == 3
    assert str(value) == "((a + b) + (c + d)) + ((e + f) + (g + h))"


def test_nested_sums_are_one_sum():
    value = only_value(Section((), (total(total(total(a, b), c), d),)))
    assert depth(value) == 2


def test_product_of_five_is_balanced():
    assert depth(only_value(Section((), (product(a, b, c, d, e),)))) == 3


def test_what_is_ready_last_is_added_last():
    late = AssignStatement(z1, Func("exp", (a,)))
    value = only_value(Section((late,), (total(z1, b, c, d),)))
    assert z1 in value.parts  # and not below another addition


def test_a_long_sum_becomes_statements_that_functions_can_be_cut_between():
    """As one statement it was one block, over which compilers took a time that grew with its
    square."""
    angles = [Symbol(f"q{i}", "coordinate") for i in range(1000)]
    waves = [
        AssignStatement(Symbol(f"z{i}", "intermediate"), Func("sin", (x,)))
        for i, x in enumerate(angles)
    ]
    section = Section(tuple(waves), (total(*(product(a, s.target) for s in waves)),))
    plan = schedule_section(section)
    assert max(len(s.angles) for s in plan.steps if isinstance(s, SinCosGroup)) <= 128
    sums = [s for s in plan.steps if isinstance(s, AssignStatement)]
    assert max(sum(isinstance(n, Sum) for n in postorder((s.value,))) for s in sums) < 16
    pieces = split_steps(plan.steps, 500)
    assert len(pieces) > 1 and [s for piece in pieces for s in piece] == [*plan.steps]
    assert max(sum(map(len, map(step_targets, piece))) for piece in pieces) <= 700
    known = {a: 0.7, **{x: 0.01 * i for i, x in enumerate(angles)}}
    assert value_of(plan, known) == pytest.approx(
        [0.7 * sum(math.sin(0.01 * i) for i in range(1000))], rel=1e-12
    )


def pairs_of_products(value):
    """Additions of two products: only one of them can be fused with it."""
    sums = (n for n in postorder((value,)) if isinstance(n, Sum))
    return sum(all(isinstance(core, Product) for core, _ in n.terms) for n in sums)


def test_products_wait_a_little_for_something_to_be_fused_with():
    early = AssignStatement(z1, total(product(a, b), product(c, d)))
    section = Section((early,), (total(product(e, f), product(g, h), z1),))
    assert pairs_of_products(only_value(section)) == 0
    late = AssignStatement(z1, Func("exp", (a,)))
    assert pairs_of_products(only_value(Section((late,), section.results))) == 1


def test_sum_of_products_has_one_that_is_not_fused():
    value = only_value(
        Section((), (total(product(a, b), product(c, d), product(e, f), product(g, h)),))
    )
    assert pairs_of_products(value) == 1
    known = dict(
        zip((a, b, c, d, e, f, g, h), (2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0), strict=True)
    )
    assert evaluate((value,), known) == [2 * 3 + 5 * 7 + 11 * 13 + 17 * 19]


def test_angles_stand_as_they_are_stored():
    statements = tuple(
        AssignStatement(z, Func("sin", (x,))) for z, x in zip((z1, z2, z3), (c, a, b), strict=True)
    )
    section = Section(statements, (product(z1, z2, z3),))
    plan = schedule_section(section, stored=(a, b, c))
    assert [x.value for x in plan.steps[0].angles] == [a, b, c]
    assert [x.sine for x in plan.steps[0].angles] == [z2, z3, z1]


def test_signs_stay():
    value = Sum(((a, 1), (b, -1), (product(c, d), -1), (Product(-2, ((e, 1),)), 1)))
    plan = schedule_section(Section((), (value,)))
    known = dict(zip((a, b, c, d, e), (2.0, 3.0, 5.0, 7.0, 11.0), strict=True))
    assert value_of(plan, known) == [2 - 3 - 35 - 22]


def test_repeated_divisor_is_inverted_once():
    statements = (
        AssignStatement(z1, total(a, b)),
        AssignStatement(z2, product(c, over=(z1,))),
        AssignStatement(z3, product(d, over=(z1,))),
    )
    plan = schedule_section(Section(statements, (z2, z3)))
    divisions = [n for s in plan.steps for n in postorder(step_expressions(s)) if is_division(n)]
    assert len(divisions) == 1


def test_divisor_that_is_ready_early_is_inverted_early():
    late = AssignStatement(z1, Func("exp", (a,)))
    value = only_value(Section((late,), (product(z1, over=(b,)),)))
    assert str(value) == "z1*(1/b)"


def is_division(node):
    return isinstance(node, Product) and any(x < 0 for _, x in node.factors)


def test_angles_known_at_the_start_are_taken_together():
    statements = (
        AssignStatement(z1, Func("sin", (a,))),
        AssignStatement(z2, Func("cos", (a,))),
        AssignStatement(z3, Func("cos", (total(b, c),))),
    )
    plan = schedule_section(Section(statements, (product(z1, z2, z3),)))
    assert plan.steps[0] == SinCosGroup((SinCos(a, z1, z2), SinCos(total(b, c), None, z3)))


def test_angle_that_follows_from_a_sine_is_taken_alone():
    statements = (
        AssignStatement(z1, Func("sin", (a,))),
        AssignStatement(z2, Func("sin", (product(z1, b),))),
    )
    plan = schedule_section(Section(statements, (z2,)))
    first, second = (s for s in plan.steps if isinstance(s, SinCosGroup))
    assert [x.value for x in first.angles] == [a]
    assert len(second.angles) == 1 and second.angles[0].cosine is None  # unused


def test_functions_that_do_not_wait_for_each_other_are_taken_together():
    """Two wheels: angles that follow from angles, of each the same; a tangent is a sine over a
    cosine."""
    names = iter(Symbol(f"z{i}", "intermediate") for i in range(1, 9))
    statements, results = [], []
    for x, y in ((a, b), (c, d)):
        tangent, first, second = next(names), next(names), next(names)
        statements += [
            AssignStatement(tangent, total(x, y)),
            AssignStatement(first, Func("atan", (tangent,))),
        ]
        statements += [AssignStatement(second, Func("atan", (product(x, first),)))]
        results += [
            Func("sin", (product(e, second),)),
            Func("atan", (Product(-1, ((tangent, 1),)),)),
        ]
    section = Section(tuple(statements), (*results, Func("tan", (product(f, second),))))
    plan = schedule_section(section)
    taken = [s for s in plan.steps if isinstance(s, VectorizedCall | SinCosGroup)]
    assert [len(step_expressions(s)) for s in taken] == [2, 2, 3]  # atan(-x) is -atan(x)
    known = dict(zip((a, b, c, d, e, f), (0.2, 0.3, -0.5, 1.7, 1.1, 0.3), strict=True))
    wanted = value_of(schedule_section(section, AS_WRITTEN), known)
    assert value_of(plan, known) == pytest.approx(wanted, rel=1e-14) and wanted[1] == -math.atan(
        0.5
    )


def test_what_is_taken_together_keeps_the_order_of_external_calls():
    """What the second routine gives may depend on the first one having been called."""
    first, second = Routine(), Routine()
    statements = (
        AssignStatement(z1, Func("atan", (a,))),
        CallStatement((z2,), first, (z1,)),
        CallStatement((z3,), second, (b,)),
        AssignStatement(z4, Func("atan", (z3,))),
    )
    plan = schedule_section(Section(statements, (total(z2, z4),)))
    assert [type(s) for s in plan.steps if not isinstance(s, AssignStatement)] == [
        VectorizedCall,
        CallStatement,
        CallStatement,
        VectorizedCall,
    ]


def test_powers_are_products():
    plan = schedule_section(Section((), (Product(1, ((total(a, b), 9),)),)))
    assert not any(
        x not in (1, 2) for s in plan.steps for n in postorder((s.value,)) for x in exponents(n)
    )
    assert value_of(plan, {a: 1.0, b: 0.5}) == pytest.approx([1.5**9], rel=1e-15)


def test_roots_are_split_off_from_whole_powers():
    plan = schedule_section(Section((), (Product(1, ((a, Fraction(5, 2)), (b, Fraction(-1, 2)))),)))
    assert value_of(plan, {a: 2.0, b: 4.0}) == pytest.approx([2**2.5 / 2], rel=1e-15)


def exponents(node):
    return [x for _, x in node.factors] if isinstance(node, Product) else []


def test_statements_that_results_do_not_need_are_left_out():
    statements = (
        AssignStatement(z1, total(a, b)),
        AssignStatement(z2, total(c, d)),
        AssignStatement(z3, total(z1, e)),
    )
    assert [s.target for s in prune_section(Section((), (z3,)), statements).statements] == [z1, z3]


class Routine:
    """Stands for a user function."""

    returns = ("one", "two")


def test_external_calls_keep_their_order_and_lose_unused_values():
    first, second = Routine(), Routine()
    statements = (
        CallStatement((z1, z2), first, (a,)),
        CallStatement((None, z3), second, (b,)),
        AssignStatement(z4, Func("exp", (b,))),
    )
    plan = schedule_section(Section(statements, (total(z4, z3, z1),)))
    calls = [s for s in plan.steps if isinstance(s, CallStatement)]
    assert [s.routine for s in calls] == [first, second]
    assert [s.targets for s in calls] == [(z1, None), (None, z3)]


def value_of(plan, known):
    """Results of a schedule, by plain evaluation; every operand must be there when it is used."""
    values = dict(known)
    for s in plan.steps:
        found = evaluate(step_expressions(s), values)
        if isinstance(s, SinCosGroup):
            for angle, x in zip(s.angles, found, strict=True):
                values |= {
                    k: v
                    for k, v in ((angle.sine, math.sin(x)), (angle.cosine, math.cos(x)))
                    if k is not None
                }
        elif isinstance(s, VectorizedCall):
            values |= {
                t: getattr(math, s.function)(x) for t, x in zip(s.targets, found, strict=True)
            }
        else:
            values[s.target] = found[0]
    return evaluate(plan.results, values)


@pytest.mark.parametrize(
    "name",
    rarely([n for n in EXAMPLES if n not in WITH_EXTERNALS], LONG_TO_DERIVE),
)
@pytest.mark.parametrize(
    "idea", ["balance", "reciprocals", "critical_path", "together", "side_by_side"]
)
def test_every_idea_keeps_the_values(name, idea):
    program = example(name).program
    rng = np.random.default_rng(0)
    defined = {t for s in program.derivatives.statements for t in step_targets(s)}
    roots = [x for s in program.derivatives.statements for x in step_expressions(s)] + [
        *program.derivatives.results
    ]
    known: dict[Expr, float] = {
        s: rng.uniform(0.5, 1.5)
        for s in postorder(roots)
        if isinstance(s, Symbol) and s not in defined
    }
    plain = value_of(schedule_section(program.derivatives, AS_WRITTEN), known)
    arranged = value_of(
        schedule_section(program.derivatives, ScheduleOptions(**{idea: False})), known
    )
    assert arranged == pytest.approx(plain, rel=1e-9, abs=1e-9 * max(map(abs, plain)))


def test_the_same_section_gives_the_same_schedule():
    section = example("stanford_arm").program.derivatives
    assert schedule_section(section) == schedule_section(section)
