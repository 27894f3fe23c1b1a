"""Measures of signals whose values are known."""

import numpy as np
import pytest

from bellcrank.errors import RunError
from bellcrank.study.measures import KINDS, Measure
from bellcrank.study.pivot import pivot
from bellcrank.study.records import TableSpec
from bellcrank.study.rows import Row

T = np.linspace(0, 10, 10001)
W = 2 * np.pi


def of(kind, *signals, start=0.0, end=np.inf):
    return Measure("m", kind, ("x",) * len(signals), start, end).value(T, signals)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("rms", 3 / np.sqrt(2)), ("travel", 6.0), ("peak", 3.0), ("max", 3.0), ("min", -3.0), ("mean", 0.0), ("final", 0.0), ("sd", 3 * W)],
)  # fmt: skip
def test_of_a_sine(kind, expected):
    assert of(kind, 3 * np.sin(W * T)) == pytest.approx(expected, rel=1e-4, abs=1e-9)


def test_load_variation_of_a_sine_about_its_mean():
    assert of("load_variation", 1000 + 200 * np.sin(W * T)) == pytest.approx(0.2 / np.sqrt(2), rel=1e-6)


def test_airborne_is_the_time_without_any_load():
    front, rear = np.where((T > 2) & (T < 5), 0.0, 9.0), np.where((T > 4) & (T < 7), 0.0, 9.0)
    assert of("airborne", front) == pytest.approx(3.0, abs=0.002)
    assert of("airborne", front, rear) == pytest.approx(1.0, abs=0.002)


def test_the_worst_channel_counts():
    assert of("peak", np.sin(W * T), -5 * np.cos(W * T)) == pytest.approx(5)
    assert of("min", np.sin(W * T), 5 + T) == pytest.approx(-1)


def test_between_two_times():
    assert of("max", T, start=2, end=4) == pytest.approx(4)
    assert of("min", T, start=2, end=4) == pytest.approx(2)
    assert of("max", T, start=9.999) == pytest.approx(10)  # two samples are enough
    for start in (20, 10):
        with pytest.raises(RunError, match="no two samples"):
            of("max", T, start=start)


def test_units():
    assert {k: kind.unit("m/s") for k, kind in KINDS.items() if kind.unit("m/s") != "m/s"} == {
        "sd": "m/s2", "load_variation": "1", "airborne": "s",
    }  # fmt: skip
    assert KINDS["sd"].unit("m") == "m/s"


def test_a_table_has_the_best_of_every_row_and_column():
    rows = [
        Row("", {"a": a, "b": b, "c": c}, {"m": a + 10 * b + 100 * c}, "finished")
        for a in (1, 2)
        for b in (3, 4, 5)
        for c in (0, 1)
    ]
    table = pivot(rows, TableSpec("t", "m", "a", "b"), {"m": "N"})
    assert (table.rows, table.columns, table.unit) == ((1, 2), (3, 4, 5), "N")
    assert [[c.value for c in line] for line in table.cells] == [[31, 41, 51], [32, 42, 52]]
    assert table.cells[0][0].at == {"c": 0}
    (one,) = zip(*pivot(rows, TableSpec("t", "m", "a", best="max"), {}).cells, strict=True)
    assert [c.value for c in one] == [151, 152]
