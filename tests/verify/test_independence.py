"""The evaluation that checks the derivation shares nothing with it but the description and the
parser of formulas."""

import ast
from pathlib import Path

import pytest

import bellcrank.verify

SHARED = {
    "bellcrank.symbolic.expr.node",
    "bellcrank.symbolic.expr.table",
    "bellcrank.symbolic.expr.formula_parser",
    "bellcrank.model.records",
}  # plain data
SHARED |= {
    "bellcrank.core.errors",
    "bellcrank.core.units",
    "bellcrank.symbolic.expr.user_function_value",
}
SHOWN = {
    "report": {"bellcrank.core.files.html", "bellcrank.core.files.notebook_display"}
}  # how a result is printed


@pytest.mark.parametrize(
    "name",
    [
        "jets",
        "formulas",
        "bodies",
        "guided_joints",
        "reference_joints",
        "reference_constraints",
        "reference_evaluation",
        "reactions",
        "batched_states",
        "report",
    ],
)
def test_only_data_and_syntax_are_shared(name):
    source = Path(bellcrank.verify.__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    nodes = list(ast.walk(ast.parse(source)))
    imported = {n.module for n in nodes if isinstance(n, ast.ImportFrom)}
    imported |= {alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names}
    ours = {
        m for m in imported if m.startswith("bellcrank") and not m.startswith("bellcrank.verify")
    }
    assert ours <= SHARED | SHOWN.get(name, set())
