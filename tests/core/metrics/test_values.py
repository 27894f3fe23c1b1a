"""Metrics of signals whose values are known."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.metrics import KINDS
from bellcrank.core.metrics.metric_kinds import parse_metric_kind

T = np.linspace(0, 10, 10001)
W = 2 * np.pi


def of(text, *signals, start=0.0, end=np.inf):
    kind, number = parse_metric_kind(text, text)
    return kind(["x"] * len(signals), number, start=start, end=end).value(T, signals)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("rms", 3 / np.sqrt(2)),
        ("travel", 6.0),
        ("peak", 3.0),
        ("max", 3.0),
        ("min", -3.0),
        ("mean", 0.0),
        ("final", 0.0),
        ("sd", 3 * W),
        ("std", 3 / np.sqrt(2)),
        ("percentile(50)", 0.0),
        ("percentile(100)", 3.0),
        ("crossing(1.5)", 1 / 12),
    ],
)
def test_of_a_sine(kind, expected):
    assert of(kind, 3 * np.sin(W * T)) == pytest.approx(expected, rel=1e-4, abs=1e-9)


def test_load_variation_of_a_sine_about_its_mean():
    assert of("load_variation", 1000 + 200 * np.sin(W * T)) == pytest.approx(
        0.2 / np.sqrt(2), rel=1e-6
    )


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
        with pytest.raises(bc.RunError, match="samples between its times, which are too few"):
            of("max", T, start=start)


def test_units():
    assert {k: kind.unit("m/s") for k, kind in KINDS.items() if kind.unit("m/s") != "m/s"} == {
        "sd": "m/s2",
        "load_variation": "1",
        "airborne": "s",
        "crossing": "s",
    }
    assert KINDS["sd"].unit("m") == "m/s"


def test_a_standard_deviation_leaves_the_mean_out():
    assert of("std", 7 + 3 * np.sin(W * T)) == pytest.approx(3 / np.sqrt(2), rel=1e-6)


def test_a_jump_at_one_time_has_no_bound():
    t, x = np.array([0.0, 1.0, 1.0, 2.0]), np.array([0.0, 1.0, 5.0, 6.0])
    assert KINDS["sd"].value(t, [x]) == np.inf
    assert KINDS["sd"].value(t, [np.array([0.0, 1.0, 1.0, 3.0])]) == 2.0
    assert np.isnan(KINDS["sd"].value(t[:1], [x[:1]]))


def test_a_metric_of_a_run():
    run = bc.Run("r", T, {"a": 3 * np.sin(W * T)}, {"a": "m/s2"}, {"a": "a"}, "finished")
    comfort = bc.metrics.rms("a")
    assert (
        comfort(run) == pytest.approx(3 / np.sqrt(2), rel=1e-6) and comfort.unit("m/s2") == "m/s2"
    )
    late = bc.metrics.max("a", start=1.5, end=2.0)
    assert late(run) == pytest.approx(0.0, abs=1e-9)
    assert repr(late) == "Metric(max of a from 1.5 s to 2 s)"
    assert repr(bc.metrics.percentile("a", 97.5)) == "Metric(percentile(97.5) of a)"
    assert (
        bc.metrics.percentile("a").number == 95
        and bc.metrics.crossing("a", 2).text == "crossing(2)"
    )


def test_kinds_are_listed_and_described():
    assert all(
        getattr(bc.metrics, name) is kind and name in bc.metrics.__all__
        for name, kind in KINDS.items()
    )
    assert {*bc.metrics.__all__} == {*KINDS, "KINDS", "Metric", "MetricKind"}
    assert bc.metrics.rms.__doc__ == "Root of the mean over time of the square."


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bc.metrics.rms("a", 3), r"bc\.metrics\.rms takes no number, given 3"),
        (lambda: bc.metrics.percentile("a", 101), "101 must be between 0 and 100"),
        (lambda: bc.metrics.percentile("a", "x"), "percent='x' is not a number"),
        (lambda: bc.metrics.crossing("a", np.inf), "inf is not a finite number"),
        (lambda: bc.metrics.rms(3), "channels=3 must be the name of a channel or a list of names"),
        (lambda: bc.metrics.rms([]), "must be the name of a channel"),
        (lambda: bc.metrics.rms("a", start=2, end=1), "start=2 s must lie before end=1 s"),
        (
            lambda: parse_metric_kind("percentile", "'percentile'"),
            r"the percent is missing, as in percentile\(95\)",
        ),
        (
            lambda: parse_metric_kind("rmss", "'rmss'"),
            r"'rmss' is not known\. Did you mean 'rms'\? It is one of final, min",
        ),
        (lambda: parse_metric_kind("rms(3)", "'rms(3)'"), r"'rms\(3\)' is not known"),
    ],
)
def test_what_is_wrong_is_reported(make, message):
    with pytest.raises(bc.ModelError, match=message):
        make()
