"""What exact derivatives cost: operations of all derivatives by the states, against those of the
right-hand side."""

import re
from pathlib import Path

import pytest

from tests.models import example

LIMIT = 8
PAGE = Path(__file__).parents[2] / "docs" / "analysis.md"
# the table of the documentation: operations of the right-hand side, and of the full state Jacobian
TOLD = {
    m[1]: (int(m[2]), int(m[3]))
    for m in re.finditer(
        r"\| (\w+)(?: \(8\))? \| (\d+) \| (\d+)(?: \(constant\))? \|",
        PAGE.read_text(encoding="utf-8"),
    )
}


@pytest.mark.parametrize(
    "name",
    [
        "quarter_car",
        "rolling_disc",
        "cart",
        "double_pendulum",
        "passenger_car",
        pytest.param("stanford_arm", marks=pytest.mark.campaign),
    ],
)
def test_operations_of_the_state_jacobian(name):
    eom = example(name)
    found = eom.program.count.total, eom.jacobian().operation_count()["total"]
    assert found[1] <= LIMIT * found[0]
    assert found == TOLD[name]


def test_the_cheapest_order_is_not_beaten_by_forward_or_reverse():
    eom = example("double_pendulum")
    cost = {
        mode: eom.jacobian(mode=mode).count.total for mode in ("forward", "reverse", "cheapest")
    }
    assert cost["cheapest"] <= min(cost["forward"], cost["reverse"])
