"""Logs become channels: names, units, scale, offset, delay and time as the table says, from every
format."""

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.files.format_choice import write_record
from bellcrank.core.files.record import FileChannel, Record

TIME = np.arange(0, 2.0, 0.01)
TRUE = {"ay": 4 * np.sin(3 * TIME), "steering_wheel": 30 * np.sin(3 * TIME)}  # m/s2, deg
TABLE = {
    "time": {"column": "Zeit", "unit": "ms"},
    "channels": {
        "ay": {"column": "Acc Y", "unit": "g", "scale": -0.5, "offset": 0.1, "delay": 0.05},
        "steering_wheel": {"column": "SWA", "unit": "rad"},
    },
}


def recorded():
    """Columns of which the table makes the true channels: recorded late, with the wrong sign, gain
    and zero."""
    late = 4 * np.sin(3 * (TIME - 0.05)) / 9.80665
    return {
        "Zeit": 1000 * TIME + 7000,
        "Acc Y": (late - 0.1) / -0.5,
        "SWA": np.radians(TRUE["steering_wheel"]),
    }


def lines(columns, between, units):
    rows = zip(*columns.values(), strict=True)
    text = [between.join(columns), *([between.join(units)] if units else [])]
    return "\n".join([*text, *(between.join(repr(float(x)) for x in row) for row in rows)])


@pytest.mark.parametrize(
    "between, units, comma",
    [(",", None, False), (";", ["[ms]", "[g]", "[rad]"], True), ("\t", ["(ms)", "", "rad"], False)],
)
def test_names_units_scale_offset_delay_and_time(tmp_path, between, units, comma):
    text = lines(recorded(), between, units)
    (tmp_path / "log.csv").write_text(text.replace(".", ",") if comma else text)
    log = bc.measured.read(tmp_path / "log.csv", TABLE)
    assert log.time == pytest.approx(TIME, abs=1e-9) and log.units == {
        "ay": "g",
        "steering_wheel": "rad",
    }
    known = log.time < TIME[-1] - 0.05  # then the last value is held
    assert 9.80665 * log["ay"][known] == pytest.approx(TRUE["ay"][known], abs=1e-6)
    assert np.degrees(log["steering_wheel"]) == pytest.approx(TRUE["steering_wheel"])


def test_a_table_in_a_file_with_a_part_of_the_log_and_other_steps(tmp_path):
    (tmp_path / "log.csv").write_text(lines(recorded(), ",", None))
    (tmp_path / "map.toml").write_text(
        "start = 7.5\nend = 8.5\nstep = 0.02\ntime = "
        '{column = "Zeit", unit = "ms"}\n[channels]\nsteering_wheel = "SWA"\n'
    )
    log = bc.measured.read(tmp_path / "log.csv", tmp_path / "map.toml")
    assert log.time == pytest.approx(np.arange(51) * 0.02)
    assert log["steering_wheel"] == pytest.approx(
        np.radians(30 * np.sin(3 * (0.5 + log.time))), abs=1e-4
    )
    assert log.units["steering_wheel"] == ""
    assert bc.measured.read(tmp_path / "log.csv", tmp_path / "map.toml", start=8.0).time[
        -1
    ] == pytest.approx(0.5)


def test_without_a_table_columns_keep_their_names_and_samples_without_a_number_are_bridged(
    tmp_path,
):
    (tmp_path / "log.csv").write_text("time [s],a [m]\n1,0\n2,nan\n3,4\n")
    log = bc.measured.read(tmp_path / "log.csv")
    assert log.time.tolist() == [0, 2] and log["a"].tolist() == [0, 4] and log.units == {"a": "m"}


def test_a_long_gap_is_reported(tmp_path):
    rows = [f"{i / 100},{'nan' if 20 <= i < 60 else i}" for i in range(100)]
    (tmp_path / "log.csv").write_text("t,a\n" + "\n".join(rows))
    with pytest.warns(
        bc.ModelWarning,
        match=r"column 'a' has no numbers between t = 0.19 and 0.6 s \(40 samples\)",
    ):
        log = bc.measured.read(tmp_path / "log.csv")
    assert np.interp(0.4, log.time, log["a"]) == pytest.approx(40)


def test_missing_rows_are_a_gap_and_a_slower_column_is_none(tmp_path, recwarn):
    every = [(i / 100, i) for i in range(100) if not 20 <= i < 60]
    (tmp_path / "rows.csv").write_text("t,a\n" + "\n".join(f"{t},{a}" for t, a in every))
    with pytest.warns(
        bc.ModelWarning,
        match=r"column 'a' has no numbers between t = 0.19 and 0.6 s \(40 samples\)",
    ):
        bc.measured.read(tmp_path / "rows.csv")
    recwarn.clear()
    (tmp_path / "slow.csv").write_text(
        "t,a,b\n" + "\n".join(f"{i / 100},{i},{i if i % 20 == 0 else ''}" for i in range(100))
    )
    bc.measured.read(tmp_path / "slow.csv")
    assert not recwarn.list


@pytest.mark.parametrize(
    "table, options, words",
    [
        (
            {"channels": {"a": {"delay": 5}}},
            {},
            "channel 'a': delay = 5 s must be shorter than the 0.99 s of",
        ),
        (
            {"channels": {"a": {}}, "step": 5},
            {},
            "step=5 s must be positive and at most the 0.99 s",
        ),
        (None, {"step": "a"}, r"read: step='a' must be a finite number \(s\)"),
        (None, {"start": "0"}, "read: start='0' must be a finite number"),
        (None, {"end": np.nan}, "read: end=nan must be a finite number"),
    ],
)
def test_times_that_are_wrong_are_named(tmp_path, table, options, words):
    (tmp_path / "log.csv").write_text("t,a\n" + "\n".join(f"{i / 100},{i}" for i in range(100)))
    with pytest.raises(bc.ModelError, match=words):
        bc.measured.read(tmp_path / "log.csv", table, **options)
    with pytest.raises(bc.ModelError, match="read: path=3 must be the path of a log"):
        bc.measured.read(3)


def test_matlab_files_of_other_programs(tmp_path):
    from scipy.io import savemat

    savemat(tmp_path / "log.mat", {"Time": TIME[:, None], "AccY": TRUE["ay"][:, None], "n": 3.0})
    log = bc.measured.read(
        tmp_path / "log.mat", {"channels": {"ay": {"column": "AccY", "unit": "m/s2"}}}
    )
    assert log["ay"] == pytest.approx(TRUE["ay"]) and log.time == pytest.approx(TIME)


@pytest.mark.skipif(find_spec("asammdf") is None, reason="asammdf is not installed")
def test_groups_of_an_mdf_file_with_rates_of_their_own(tmp_path):
    from asammdf import MDF, Signal

    slow = TIME[::5]
    with MDF(version="4.10") as file:
        file.append([Signal(np.cos(slow), slow, name="speed", unit="km/h")])
        file.append([Signal(np.sin(TIME), TIME, name="ay", unit="g")])
        file.save(tmp_path / "log.mf4")
    log = bc.measured.read(tmp_path / "log.mf4")
    inside = slow[-1] >= TIME
    assert log.time == pytest.approx(TIME[inside]) and log.units == {"ay": "g", "speed": "km/h"}
    assert log["ay"] == pytest.approx(np.sin(log.time)) and log["speed"] == pytest.approx(
        np.cos(log.time), abs=4e-4
    )


def test_every_format_is_read_alike(tmp_path):
    made = Record("log", TIME, (FileChannel("AccY", TRUE["ay"], "m/s2"),))
    table = {"channels": {"ay": {"column": "AccY", "scale": 2}}}
    for ending in (".csv", ".erd", ".json", ".mat"):
        write_record(tmp_path / f"log{ending}", replace(made))
        log = bc.measured.read(tmp_path / f"log{ending}", table)
        assert log["ay"] == pytest.approx(2 * TRUE["ay"], rel=1e-5) and log.units["ay"] == "m/s2", (
            ending
        )


def test_mistakes_of_a_table_are_reported_at_once():
    wrong = {
        "chanels": {},
        "channels": {"ay": {"colum": "x", "unit": "furlong", "delay": "late", "scale": 0}, "ax": 3},
    }
    with pytest.raises(bc.ModelError) as error:
        bc.measured.read("log.csv", wrong)
    text = str(error.value)
    assert len(error.value.problems) == 6
    for part in (
        "Did you mean 'channels'?",
        "Did you mean 'column'?",
        "furlong",
        "delay",
        "scale",
        "'ax'",
    ):
        assert part in text


@pytest.mark.parametrize(
    "table, message",
    [
        ({"channels": {"ay": "AccZ"}}, "no column 'AccZ', for channel 'ay'. Did you mean 'AccY'"),
        ({"time": "Uhr", "channels": {"ay": "AccY"}}, "no column 'Uhr' for time"),
        ({"start": 5.0, "channels": {"ay": "AccY"}}, "covers t = 0 to 1 s, but 5 to 1 s"),
    ],
)
def test_a_log_that_lacks_what_is_asked_for(tmp_path, table, message):
    (tmp_path / "log.csv").write_text("t,AccY\n0,1\n1,2\n")
    with pytest.raises(bc.RunError, match=message):
        bc.measured.read(tmp_path / "log.csv", table)
