"""What is written is read back: names, units, labels, lengths and values, in every format and
layout."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

import bellcrank as bc
from bellcrank.core.errors import RunError
from bellcrank.core.files.format_choice import read_record, write_record
from bellcrank.core.files.record import FileChannel, Record
from bellcrank.core.files.text_files import to_one_line
from tests.core.files.formats import FORMATS

UNITS = ("", "m", "m/s**2", "1", "deg", "N/mm", "kg·m²", "µm", "in-lb-s2", "%")
texts = some.text(
    some.characters(exclude_categories=("Cs",)), min_size=1, max_size=20
) | some.sampled_from(
    [
        "a b",
        "a  b",
        "A b",
        "q(body)",
        "x [m]",
        "a;b;c",
        "a,b",
        'say "x"',
        "1",
        "nan",
        "t",
        "T",
        "time",
        "-",
        "#",
        "=1+1",
    ]
)
numbers = some.floats(allow_nan=False, width=64) | some.sampled_from(
    [math.inf, -math.inf, 0.0, -0.0, 5e-324, 1e308]
)


@some.composite
def records(draw):
    length = draw(some.integers(0, 5))
    rows = some.lists(numbers, min_size=length, max_size=length)
    names = draw(some.lists(texts, min_size=1, max_size=5))
    steps = some.lists(some.floats(1e-3, 10), min_size=length, max_size=length)
    channels = [
        FileChannel(n, np.array(draw(rows)), draw(some.sampled_from(UNITS)), draw(texts))
        for n in names
    ]
    return Record(draw(texts), np.cumsum(draw(steps)), tuple(channels))


def same(written, read, labels):
    assert np.array_equal(read.time, written.time)
    assert [c.name for c in read.channels] == [to_one_line(c.name) for c in written.channels]
    assert [c.unit for c in read.channels] == [to_one_line(c.unit) for c in written.channels]
    for a, b in zip(written.channels, read.channels, strict=True):
        assert a.values.tobytes() == np.asarray(b.values, dtype=float).tobytes()
    if labels:
        assert [c.label for c in read.channels] == [to_one_line(c.label) for c in written.channels]


def round_trip(ending, folder, record, **layouts):
    """Written and read back; or rejected, where two names would be one."""
    path = folder / f"r{ending}"
    path.unlink(missing_ok=True)
    try:
        write_record(path, record, **layouts)
    except RunError as error:
        assert "give it another name" in str(error)
        names = [to_one_line(c.name) for c in record.channels]
        barred = ending == ".nc" and any("/" in name for name in names)
        assert barred or "" in names or len({"t", *names}) <= len(names)
        assert not path.exists()
        return
    same(record, read_record(path), labels=ending not in (".csv", ".mat"))


EXAMPLES = {
    "max_examples": 8,
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
}


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("count", [8, pytest.param(400, marks=pytest.mark.campaign)])
def test_random_records(ending, count, tmp_path):
    @settings(**{**EXAMPLES, "max_examples": count})
    @given(records())
    def check(record):
        round_trip(ending, tmp_path, record)

    check()


def test_random_records_in_erd_with_a_file_of_samples(tmp_path):
    """Files of several layouts take turns under one name."""

    @settings(**EXAMPLES)
    @given(records(), some.booleans())
    def check(record, binary):
        round_trip(".erd", tmp_path, record, binary=binary)
        assert (tmp_path / "r.erd.bin").exists() <= binary or not (tmp_path / "r.erd").exists()

    check()


def history(n, value):
    return Record("x", 0.1 * np.arange(n), (FileChannel("q", np.full(n, value), "m"),))


@pytest.mark.parametrize("last", ["", "binary", "classic"])
@pytest.mark.parametrize("first", ["", "binary", "classic"])
def test_samples_of_an_older_file_are_not_read(first, last, tmp_path):
    """Those of a binary file were read in place of the classic ones that were written later."""
    path = tmp_path / "s.erd"
    write_record(path, history(4, 1.0), **{first: True} if first else {})
    write_record(path, history(6, 2.0), **{last: True} if last else {})
    assert [*read_record(path).channels[0].values] == [2.0] * 6
    assert len([*tmp_path.iterdir()]) == (2 if last else 1)


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize(
    ("names", "told"),
    [(("a  b", "a b "), "as 'a  b'"), (("t",), "as time"), (("\x1b",), "no name")],
)
def test_names_that_would_be_one_are_refused_when_written(ending, names, told, tmp_path):
    record = Record("x", np.arange(2.0), tuple(FileChannel(n, np.arange(2.0)) for n in names))
    with pytest.raises(
        bc.RunError,
        match=f"cannot write .*r{ending}: the channel .*{told} in a file; give it another",
    ):
        write_record(tmp_path / f"r{ending}", record)
    assert not [*tmp_path.iterdir()]


def test_names_with_control_characters_are_not_read(tmp_path):
    (tmp_path / "e.csv").write_text("t,a\x1b[2J\ns,m\n0,1\n1,2\n", encoding="utf-8")
    with pytest.raises(
        bc.RunError, match=r"the name 'a\\x1b\[2J' of channel 2 holds control characters"
    ):
        bc.Run.read(tmp_path / "e.csv")


def test_names_have_single_blanks(tmp_path):
    """As they are written, in every format."""
    (tmp_path / "b.csv").write_text("t,a  b,c\ns,m,m\n0,1,2\n1,2,3\n", encoding="utf-8")
    assert [*bc.Run.read(tmp_path / "b.csv").channels] == ["a b", "c"]
    (tmp_path / "b.csv").write_text("t,a  b,a b\ns,m,m\n0,1,2\n1,2,3\n", encoding="utf-8")
    with pytest.raises(bc.RunError, match="the name 'a b' stands there twice"):
        bc.Run.read(tmp_path / "b.csv")
    (tmp_path / "b.json").write_text(
        '{"channels": [{"name": "t", "unit": "s", "values": [0, 1]}, {"name": "  ", "values": [1, 2]}]}',
        encoding="utf-8",
    )
    with pytest.raises(bc.RunError, match="channel 2 has no name"):
        bc.Run.read(tmp_path / "b.json")


def test_more_units_than_names_are_not_read(tmp_path):
    """The line break after the units is missing: a sample would be lost."""
    (tmp_path / "u.csv").write_text("t,a\ns,m,0,1\n1,2\n2,3\n", encoding="utf-8")
    with pytest.raises(
        bc.RunError, match=r"u.csv, line 2: 4 units are given, but line 1 has 2 names"
    ):
        bc.Run.read(tmp_path / "u.csv")
