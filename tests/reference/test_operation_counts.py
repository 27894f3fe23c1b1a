"""Operations of one evaluation of (qdot, udot) by the rule of Sayers (1990): bounds beside the published best."""

import pytest
from cases import example

# model: (additions, multiplications and divisions), calls counted as multiplications?; published best
BARS = {
    "stanford_arm": (165, 230, False),  # 240, 353
    "spacecraft_2": (210, 285, True),  # 338, 455
    "spacecraft_1": (380, 500, True),  # 628, 791
    "spacecraft_1_small": (300, 360, True),  # 442, 514
    "passenger_car": (55, 95, True),  # 69, 114
    "passenger_car_small": (14, 18, True),  # 15, 19
}


@pytest.mark.parametrize("name", BARS)
def test_operation_count(name):
    adds, muldivs, with_calls = BARS[name]
    classic = example(name).equations().operation_count()["classic"]
    assert classic["add"] <= adds
    assert classic["muldiv"] + (classic["calls"] if with_calls else 0) <= muldivs


def test_chain_count_is_linear():
    """Twice as many links added cost twice as many operations, within 5 %."""
    total = {n: example("n_link_chain", n=n).equations().operation_count()["total"] for n in (8, 16, 32)}
    assert total[32] - total[16] <= 2.1 * (total[16] - total[8])
