"""Formulas of events, step by step: the same steps for runs in the package and for printers."""

import numpy as np
import pytest

from bellcrank.core.errors import ModelError
from bellcrank.simulation.run.event_conditions import compile_formula, formula_function
from bellcrank.symbolic.expr.formula_parser import parse_formula
from bellcrank.symbolic.expr.formula_steps import formula_steps
from bellcrank.symbolic.expr.function_table import CALLED

COLUMNS = {"t": (0, 1.0), "a": (1, 2.0)}  # the second in another unit


def test_abbreviations_are_written_out_and_keep_their_values():
    macros = [f for f in CALLED.values() if f.macro]
    formulas = {
        "exp2": "exp2(a - t)",
        "smooth_step": "smooth_step(t, a, 2) + smooth_step(exp2(t), 0, 4)",
    }
    assert {f.name for f in macros} == {*formulas}
    rows = np.array([[0.3, 0.5], [-1.0, 3.0], [1.9, 0.0]])
    t, a = rows[:, 0], rows[:, 1] / 2
    step = np.vectorize(CALLED["smooth_step"].value)
    expected = {"exp2": 2 ** (a - t), "smooth_step": step(t, a, 2.0) + step(2**t, 0.0, 4.0)}
    for name, formula in formulas.items():
        steps = compile_formula(parse_formula(formula), COLUMNS, {}, "event")
        assert not {s.op for s in steps} & {f.name for f in macros}
        assert formula_function(steps, COLUMNS, {})(rows) == pytest.approx(
            expected[name], rel=1e-14
        )


@pytest.mark.parametrize(
    "formula", ["smooth_step(t, 0)", "exp2(t, 1)", "smooth_step(nobody, 0, 1)"]
)
def test_abbreviations_are_refused_like_functions(formula):
    with pytest.raises(ModelError, match="event"):
        formula_steps(parse_formula(formula), {}.get, [], "event 'x'")
