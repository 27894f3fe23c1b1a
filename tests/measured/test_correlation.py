"""Errors of a run compared with measurements: by hand, and what was put into a synthetic log comes
out."""

import json

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.files.record import FileChannel


def run(time, unit="m/s2", name="run", **channels):
    return bc.Run._from_channels(
        name,
        np.asarray(time, float),
        [FileChannel(n, np.asarray(x, float), unit, n) for n, x in channels.items()],
        "finished",
    )


def chirp(t):
    return np.sin(2 * np.pi * (0.5 * t + 0.2 * t**2))


def test_metrics_by_hand():
    found = bc.measured.compare(
        run([0, 1, 2, 3, 4], y=[1, 2, 3, 4, 5]),
        run([0, 1, 2, 3, 4], y=[1, 2, 3, 4, 1]),
        max_delay=0,
    )
    e = found["y"]
    assert e.rms == pytest.approx(np.sqrt(4**2 / 2 / 4))  # trapezoidal rule over 4 s
    assert e.normalized == pytest.approx(e.rms / 3) and (e.peak, e.peak_at) == (4, 4)
    assert e.correlation == pytest.approx(np.corrcoef([1, 2, 3, 4, 5], [1, 2, 3, 4, 1])[0, 1])
    y, mean = np.array([1, 2, 3, 4, 1]), (0.5 + 2 + 3 + 4 + 0.5) / 4
    square = (y - mean) ** 2
    assert e.r2 == pytest.approx(
        1 - e.rms**2 / ((square[0] / 2 + square[1:4].sum() + square[4] / 2) / 4)
    )


def test_scale_offset_delay_and_unit_of_a_sensor_are_recovered():
    t, rng = np.arange(0, 8, 0.01), np.random.default_rng(3)
    seen = 1.3 * chirp(t - 0.073) + 0.4 + rng.normal(0, 0.02, len(t))  # m/s2
    e = bc.measured.compare(run(t, y=chirp(t)), run(t, unit="g", y=seen / 9.80665))["y"]
    assert e.delay == pytest.approx(0.073, abs=5e-4)
    assert e.gain == pytest.approx(1.3, abs=0.005) and e.offset == pytest.approx(0.4, abs=0.003)
    assert e.r2 < e.correlation < 0.6  # until the delay is removed


def test_other_times_and_missing_overlap():
    t = np.linspace(1, 3, 77)
    found = bc.measured.compare(
        run(np.arange(0, 10, 0.001), y=chirp(np.arange(0, 10, 0.001))), run(t, y=chirp(t)), end=2.5
    )
    assert found["y"].rms < 1e-5 and found.measured.time[-1] <= 2.5
    with pytest.raises(bc.RunError, match="too few"):
        bc.measured.compare(run([0, 1, 2, 3], y=[0, 1, 2, 3]), run([5, 6, 7, 8], y=[0, 1, 2, 3]))


def test_a_constant_has_errors_but_no_correlation():
    e = bc.measured.compare(run([0, 1, 2, 3], y=[1, 1, 1, 1]), run([0, 1, 2, 3], y=[3, 3, 3, 3]))[
        "y"
    ]
    assert (e.rms, e.peak) == (2, 2) and np.isnan([e.r2, e.correlation, e.delay, e.gain]).all()


def test_units_of_another_kind_and_unknown_channels():
    a, b = (
        run([0, 1, 2, 3], y=[0, 1, 2, 3]),
        run([0, 1, 2, 3], unit="kg", y=[0, 1, 2, 3], z=[0, 1, 2, 3]),
    )
    with pytest.raises(bc.RunError, match="'kg', which cannot be compared with 'm/s2'"):
        bc.measured.compare(a, b)
    with pytest.raises(bc.RunError, match="no channel 'z' in run"):
        bc.measured.compare(a, b, "z")
    with pytest.raises(
        bc.RunError, match="channels=3 must be the name of a channel or a list of names"
    ):
        bc.measured.compare(a, a, 3)
    with pytest.raises(bc.RunError, match=r"max_delay=-1 must not be negative \(s\)"):
        bc.measured.compare(a, a, max_delay=-1)
    with pytest.raises(bc.RunError, match="renames them"):
        bc.measured.compare(a, run([0, 1, 2, 3], other=[0, 1, 2, 3]))


def test_page_table_and_json(tmp_path):
    t = np.arange(0, 5, 0.01)
    found = bc.measured.compare(
        run(t, **{"<b>y": chirp(t)}), run(t, name="log & co", **{"<b>y": chirp(t) + 0.1})
    )
    page = found.page(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;y" in page and "<b>y" not in page and "log &amp; co" in page and "0.1" in page
    assert "<b>y" in str(found) and json.loads(json.dumps(found.to_dict()))["<b>y"][
        "rms"
    ] == pytest.approx(0.1)
    found.plot(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").stat().st_size > 5000
