"""W_k and W_d against the factors printed in ISO 2631-1:1997, Table 3, and against an independent
program."""

import numpy as np
import pytest

from bellcrank.core.metrics.frequency_weighting import apply_weighting, transfer_function

# Table 3, principal frequency weightings in one-third octaves: frequency in Hz, factors times 1000
W_K = {
    "0.1": "31.2",
    "0.125": "48.6",
    "0.16": "79.0",
    "0.2": "121",
    "0.25": "182",
    "0.315": "263",
    "0.4": "352",
    "0.5": "418",
    "0.63": "459",
    "0.8": "477",
    "1": "482",
    "1.25": "484",
    "1.6": "494",
    "2": "531",
    "2.5": "631",
    "3.15": "804",
    "4": "967",
    "5": "1039",
    "6.3": "1054",
    "8": "1036",
    "10": "988",
    "12.5": "902",
    "16": "768",
    "20": "636",
    "25": "513",
    "31.5": "405",
    "40": "314",
    "50": "246",
    "63": "186",
    "80": "132",
    "100": "88.7",
    "125": "54.0",
    "160": "28.5",
    "200": "15.2",
    "250": "7.90",
    "315": "3.98",
    "400": "1.95",
}


# 212 is printed at 10 Hz, where the filter of Annex A, and a smooth line through the neighbours,
# have 202
W_D = {
    "0.1": "62.4",
    "0.125": "97.3",
    "0.16": "158",
    "0.2": "243",
    "0.25": "365",
    "0.315": "530",
    "0.4": "713",
    "0.5": "853",
    "0.63": "944",
    "0.8": "992",
    "1": "1011",
    "1.25": "1008",
    "1.6": "968",
    "2": "890",
    "2.5": "776",
    "3.15": "642",
    "4": "512",
    "5": "409",
    "6.3": "323",
    "8": "253",
    "12.5": "161",
    "16": "125",
    "20": "100",
    "25": "80.0",
    "31.5": "63.2",
    "40": "49.4",
    "50": "38.8",
    "63": "29.5",
    "80": "21.1",
    "100": "14.1",
    "125": "8.63",
    "160": "4.55",
    "200": "2.43",
    "250": "1.26",
    "315": "0.64",
    "400": "0.31",
}


def factor(frequency, name="wk"):
    """The size of a weighting at a frequency in Hz."""
    numerator, denominator = transfer_function(name)
    s = 2j * np.pi * frequency
    return abs(np.polyval(numerator, s) / np.polyval(denominator, s))


@pytest.mark.parametrize(("name", "table"), [("wk", W_K), ("wd", W_D)])
def test_factors_of_the_standard(name, table):
    """Within one unit of the last digit printed, at all frequencies."""
    assert len(W_K) == 37
    for frequency, printed in table.items():
        last = 10.0 ** -(len(printed.partition(".")[2]))
        assert 1000 * float(factor(float(frequency), name)) == pytest.approx(
            float(printed), abs=last
        ), frequency


@pytest.mark.parametrize("frequency", [0.5, 2.0, 5.0, 16.0])
def test_a_sine_is_weighted_by_its_factor(frequency):
    t = np.linspace(0, 30, 60001)
    y = apply_weighting(t, np.sin(2 * np.pi * frequency * t))[40000:]
    assert np.sqrt(2 * np.mean(y**2)) == pytest.approx(float(factor(frequency)), rel=1e-3)


def test_agrees_with_an_independent_program_on_any_signal():
    """SciPy's lsim, which integrates the state equations with a matrix exponential; the signal
    starts with a jump."""
    from scipy.signal import lsim  # slow to import

    t = np.linspace(0, 4, 1601)
    x = np.cumsum(np.random.default_rng(1).normal(size=len(t))) + 3.0
    for name in ("wk", "wd"):
        _, expected, _ = lsim(transfer_function(name), x, t)
        assert apply_weighting(t, x, name) == pytest.approx(
            expected, abs=1e-6 * np.abs(expected).max()
        )


def test_uneven_steps():
    """A last step that is shorter, as of a run whose end is no multiple of its step."""
    t = np.append(np.arange(0, 2, 0.002), 2.0005)
    x = np.sin(7 * t)
    even = np.linspace(0, 2.0005, 4002)
    assert apply_weighting(t, x)[-1] == pytest.approx(
        apply_weighting(even, np.sin(7 * even))[-1], abs=1e-4
    )
