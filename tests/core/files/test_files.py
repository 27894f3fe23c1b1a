"""Files of channels: written, read back equal; files that are damaged are reported as such."""

import importlib.util
import json
import math
import struct
from contextlib import suppress

import numpy as np
import pytest
from scipy.io import loadmat, savemat

import bellcrank as bc
from bellcrank.core.files import format_choice
from bellcrank.core.files.erd import format_g13
from bellcrank.core.files.parsfile import ParsFile, keyword_for, parse_number
from bellcrank.core.files.record import short_names
from tests.core.files.formats import FORMATS
from tests.models import example, relative

needs_pyarrow = pytest.mark.skipif(
    importlib.util.find_spec("pyarrow") is None, reason="pyarrow is not installed"
)


@pytest.fixture(scope="module")
def run():
    return example("passenger_car").compile(backend="python").simulate(t_end=0.3)


@pytest.mark.parametrize("ending", FORMATS)
def test_runs_are_read_back_equal(run, tmp_path, ending):
    path = run.save(tmp_path / f"car{ending}")
    again = bc.Run.read(path)
    assert list(again) == list(run)
    assert again.units == run.units
    assert np.array_equal(again.time, run.time)
    for name in run:
        assert np.array_equal(again[name], run[name]), name
    if ending != ".csv":  # which has no place for words
        assert (again.name, again.labels, again.generic, again.bodies) == (
            run.name,
            run.labels,
            run.generic,
            run.bodies,
        )
        assert again.ended == "finished"


def test_binary_erd_is_equal_and_classic_has_32_bit(run, tmp_path):
    binary = bc.Run.read(run.save(tmp_path / "b.erd", binary=True))
    assert all(np.array_equal(binary[name], run[name]) for name in run)
    classic = bc.Run.read(run.save(tmp_path / "c.erd", classic=True))
    assert relative(classic.time, run.time) < 1e-6
    for short, name in zip(classic, run, strict=True):
        assert np.array_equal(classic[short], run[name].astype(np.float32))
        assert classic.units[short] == run.units[name][:8]


def test_classic_layout_is_that_of_1990(run, tmp_path):
    """Sayers (1990), Appendix B, subroutine OPNOUT."""
    lines = run.save(tmp_path / "c.erd", classic=True).read_text(encoding="utf-8").splitlines()
    n, samples = len(run.channels), len(run)
    assert lines[0] == "ERDFILEV2.00"
    assert lines[1] == f"{n:6},{samples:6},{samples:6},{4 * n:6},     1," + " 0.500000E-01"
    assert lines[2] == "TITLE Passenger car"
    assert [line[:8] for line in lines[3:8]] == [
        "SHORTNAM",
        "LONGNAME",
        "UNITSNAM",
        "GENNAME ",
        "RIGIBODY",
    ]
    assert [len(line) for line in lines[3:8]] == [
        8 + 8 * n,
        8 + 32 * n,
        8 + 8 * n,
        8 + 32 * n,
        8 + 32 * n,
    ]
    assert lines[8:10] == ["XLABEL Time", "XUNITS sec"]
    assert lines[-1] == "END"
    raw = (tmp_path / "c.erd.BIN").read_bytes()
    assert len(raw) == samples * (4 * n + 8)
    assert struct.unpack("<if", raw[:8]) == (4 * n, 0.0)


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.05, " 0.500000E-01"),
        (1.0, "  1.00000    "),
        (0.5, " 0.500000    "),
        (123456.7, "  123457.    "),
        (1e6, " 0.100000E+07"),
        (-0.005, "-0.500000E-02"),
        (0.0, "  0.00000    "),
        (-12.5, " -12.5000    "),
        (999999.6, " 0.100000E+07"),
        (0.09999999, " 0.100000    "),
    ],
)
def test_numbers_of_fortran(x, text):
    """G13.6 of the Fortran standard (13.7.5.2.2), as gfortran prints it."""
    assert format_g13(x) == text


def test_runs_that_are_not_even(run, tmp_path):
    uneven = bc.Run(
        "x",
        np.array([0.0, 1.0, 3.0, 4.0]),
        {"a": np.arange(4.0)},
        {"a": "m"},
        {"a": "a"},
        "finished",
    )
    assert np.array_equal(bc.Run.read(uneven.save(tmp_path / "a.erd")).time, uneven.time)
    with pytest.raises(bc.RunError, match="evenly spaced"):
        uneven.save(tmp_path / "b.erd", classic=True)


def test_names_and_words_of_all_kinds(tmp_path):
    names = ["q(b, 4)", 'a "b"', "größe", "a|b", "x" * 40, "X" * 39 + "x1", "q(b,4)"]
    values = {n: np.array([1.0 / 3, i, 1e-300]) for i, n in enumerate(names)}
    run = bc.Run(
        't "x"',
        np.arange(3.0),
        values,
        dict.fromkeys(names, 'µ"m'),
        {n: f'"{n}", so' for n in names},
        "finished",
    )
    for ending in (".erd", ".csv", ".nc", ".json", ".mat"):
        again = bc.Run.read(run.save(tmp_path / f"a{ending}"))
        assert list(again) == names
        assert again.units == run.units
        assert all(np.array_equal(again[n], run[n]) for n in names)


def test_json_files_hold_names_units_and_all_numbers(tmp_path):
    values = np.array([1 / 3, math.nan, math.inf, -math.inf])
    run = bc.Run(
        "x", np.arange(4.0), {"q(b, 4)": values}, {"q(b, 4)": "m"}, {"q(b, 4)": "so"}, "finished"
    )

    def strict(name):
        raise AssertionError(name)

    path = run.save(tmp_path / "a.json")
    found = json.loads(path.read_text(encoding="utf-8"), parse_constant=strict)
    time, channel = found["channels"]
    assert time["values"] == [0, 1, 2, 3]
    assert (channel["name"], channel["unit"], channel["label"]) == ("q(b, 4)", "m", "so")
    assert np.array_equal(bc.Run.read(path)["q(b, 4)"], values, equal_nan=True)


def test_short_names():
    assert short_names(["q(b, 4)", "q(b,4)", "a long name", "a longname2", "A LONGNAME"]) == [
        "q(b,4)",
        "q(b,4)2",
        "alongnam",
        "alongna2",
        "ALONGNA3",
    ]


def test_labels_in_a_third_line_of_a_table(tmp_path):
    """Names, units and numbers stand as without them; without the option there are none, other
    formats refuse it."""
    words = {"a b": "a label, with a comma", "c": "c"}
    run = bc.Run(
        "labels",
        np.array([0.0, 0.5]),
        {"a b": np.array([1.0, 2]), "c": np.zeros(2)},
        {"a b": "m"},
        words,
        "finished",
    )
    plain = run.save(tmp_path / "plain.csv").read_text(encoding="utf-8").splitlines()
    path = run.save(tmp_path / "labelled.csv", labels=True)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines == [*plain[:2], 'time,"a label, with a comma",c', *plain[2:]]
    again = bc.Run.read(path)
    assert again.labels["a b"] == words["a b"] and again.units["a b"] == "m"
    assert [again[n].tolist() for n in again] == [run[n].tolist() for n in run]
    with pytest.raises(bc.RunError, match="labels is a layout of CSV files"):
        run.save(tmp_path / "run.erd", labels=True)


def test_an_erd_file_of_another_program(tmp_path):
    """Header as road profiles have it: no units of all channels, the step after the kind, text in
    the same file."""
    path = tmp_path / "profile.erd"
    path.write_text(
        "ERDFILEV2.00\n   2,   3,  -1,  1,  5,  0.0250,  -1,\nTITLE   section "
        "1\nSHORTNAMLElev.  RElev.\nUNITSNAMmm      mm\n"
        "XUNITS  m\nEND\n 0.0 1.0\n 0.5 1.5\n 1.0 2.0\n",
        encoding="utf-8",
    )
    with pytest.warns(bc.ModelWarning, match="samples are over a coordinate in m, not over time"):
        run = bc.Run.read(path)
    assert list(run) == ["LElev.", "RElev."]
    assert run.units["LElev."] == "mm"
    assert np.allclose(run.time, [0, 0.025, 0.05])
    assert run["RElev."][2] == 2.0


def test_empty_cells_of_logs_with_several_rates(tmp_path):
    """Loggers leave cells empty between the samples of slower channels."""
    path = tmp_path / "log.csv"
    path.write_text("Time,speed,ay\ns,m/s,m/s2\n0,20,1\n0.01,,2\n0.02,21,\n", encoding="utf-8")
    run = bc.Run.read(path)
    np.testing.assert_array_equal(run["speed"], [20, np.nan, 21])
    np.testing.assert_array_equal(run["ay"], [1, 2, np.nan])


BAD_ERD = [
    ("x\n", "line 1: an ERD file begins with ERDFILEV2.00"),
    ("ERDFILEV2.00\n", "line 2: expected channels"),
    ("ERDFILEV2.00\n1,2\nEND\n", "line 2: expected channels"),
    ("ERDFILEV2.00\n1,1,-1,1,5,0.1\n", "a line END, which is missing"),
    ("ERDFILEV2.00\n1,1,-1,1,7,0.1\nEND\n", "the kind of data is 7"),
    ("ERDFILEV2.00\n0,1,-1,1,5,0.1\nEND\n", "cannot be read"),
    ("ERDFILEV2.00\n1,2,-1,1,5,0.1\nEND\n1.0\n", "2 samples are announced, 1 found"),
    ("ERDFILEV2.00\n1,1,-1,1,5,0.1\nEND\n1.0 2.0\n", "line 4: 1 numbers are expected, 2 found"),
    ("ERDFILEV2.00\n1,1,-1,1,5,0.1\nEND\nx\n", "line 4: 'x' holds something that is not a number"),
    ("ERDFILEV2.00\n1,1,1,4,1,0.1\nEND\n", "its data should be next to it"),
    ('ERDFILEV2.00\n1,1,-1,1,5,0.1\nCHANNEL "a"\nEND\n1\n', "five texts in quotation marks"),
    (
        "ERDFILEV2.00\n2,1,-1,1,5,0.1\nSHORTNAMa       A\nEND\n1 2\n",
        "two channels of this file have the same name",
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD_ERD)
def test_damaged_erd_files(tmp_path, text, message):
    (tmp_path / "a.erd").write_text(text, encoding="utf-8")
    with pytest.raises(bc.RunError, match=message):
        bc.Run.read(tmp_path / "a.erd")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "a line of names and lines of numbers are needed"),
        ("a.csv", b"t,a\ns,m\n1\n", "line 3: 2 numbers are expected, 1 found"),
        ("a.csv", b"t,a\n0,x\n", "line 2, column 'a': 'x' is not a number"),
        ("a.csv", b"t,a\n0,1\n,2\n", "line 3, column 't': '' is not a number"),
        ("a.csv", b"t,a,a\n0,1,2\n", "the name 'a' stands there twice"),
        ("a.csv", b"\xff\xfe\x00", "which is not UTF-16"),
        ("a.nc", b"nothing", "no NetCDF file in classic format"),
        ("a.nc", b"CDF\x01", "no NetCDF file in classic format"),
        ("a.mat", b"nothing", "no MATLAB file"),
        ("a.mat", b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM", "save it with '-v7'"),
        ("a.json", b"{", "no JSON file"),
        ("a.json", b"[" * 100000, "no JSON file"),
        ("a.json", b"[1]", "a list channels is expected"),
        (
            "a.json",
            b'{"channels": [{"name": "t", "values": ["x"]}]}',
            "holds .x., not a number",
        ),
        ("a.json", b'{"channels": [{"name": "a", "values": [1]}]}', "the first channel must be t"),
        (
            "a.json",
            b'{"channels": [{"name": "t", "values": [1]}, {"name": "a", "values": []}]}',
            "'a' has 0 values, t 1",
        ),
        pytest.param("a.parquet", b"nothing", "cannot read", marks=needs_pyarrow),
        ("a.xyz", b"", "known file extensions are .csv, .erd, .parquet, .nc, .mat, .mf4 and .json"),
    ],
)
def test_damaged_tables(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(bc.RunError, match=message):
        bc.Run.read(tmp_path / name)


@pytest.mark.parametrize("name", ["a.csv", "a.erd", "a.nc", "a.json", "a.mat", "a.par"])
def test_files_that_are_not_there(tmp_path, name):
    read = bc.ParsFile.read if name == "a.par" else bc.Run.read
    with pytest.raises(bc.RunError, match=r"cannot read .*No such file"):
        read(tmp_path / name)


@pytest.mark.parametrize("ending", FORMATS)
def test_files_that_cannot_be_written(run, tmp_path, ending):
    with pytest.raises(bc.RunError, match="cannot write"):
        run.save(tmp_path / "nowhere" / f"a{ending}")


def test_matlab_files_have_names_that_matlab_takes(tmp_path):
    names = ["q(b, 2)", "q(b,2)", "end", "t 1", "2x", "größe", "x" * 70, "x" * 71, "about", "*"]
    values = {n: np.array([float(i), 1 / 3]) for i, n in enumerate(names)}
    run = bc.Run("x", np.arange(2.0), values, dict.fromkeys(names, "m/s²"), {}, "finished")
    path = run.save(tmp_path / "a.mat")
    held = loadmat(path, simplify_cells=True)
    stored = [n for n in held if not n.startswith("__")]
    long = "x" * 63
    assert stored == [
        "t",
        "q_b_2",
        "q_b_2_2",
        "end_2",
        "t_1",
        "x_2x",
        "gr_e",
        long,
        f"{long[:-2]}_2",
        "about_2",
        "x",
        "about",
        "title",
        "history",
    ]
    assert held["about"]["q_b_2"]["name"] == "q(b, 2)" and held["about"]["q_b_2"]["unit"] == "m/s²"
    again = bc.Run.read(path)
    assert list(again) == names and again.units == run.units
    # damaged ones are read or reported, never more
    whole, rng = path.read_bytes(), np.random.default_rng(1)
    for _ in range(300):
        damaged = bytearray(whole[: rng.integers(100, 2 * len(whole))])
        for place in rng.integers(0, len(damaged), 3):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        with suppress(bc.RunError):
            bc.Run.read(path)
    # of others: all vectors as long as t
    savemat(
        path,
        {
            "t": [[0.0], [1.0]],
            "a": [[1, 2]],
            "b": [1.0, 2.0, 3.0],
            "c": "xy",
            "d": np.eye(2),
            "e": [1j, 2],
        },
    )
    other = bc.Run.read(path)
    assert list(other) == ["a"] and other["a"].tolist() == [1.0, 2.0]
    savemat(path, {"a": [1.0, 2.0]})
    with pytest.raises(bc.RunError, match="holds no vector t"):
        bc.Run.read(path)


def test_a_package_that_is_missing_is_told(run, tmp_path, monkeypatch):
    monkeypatch.setattr(format_choice, "find_spec", lambda name: None)
    with pytest.raises(
        bc.RunError, match=r"MDF 4 files need the package asammdf: pip install bellcrank\[mdf\]"
    ):
        run.save(tmp_path / "a.mf4")


def test_classic_is_a_layout_of_erd_files_alone(run, tmp_path):
    with pytest.raises(bc.RunError, match="a layout of ERD files"):
        run.save(tmp_path / "a.csv", classic=True)


# ---- parameter files


def test_parameter_files_are_read_in_order(tmp_path):
    (tmp_path / "inner.par").write_text("PARSFILE\nb 2\nEND\nnot read\n", encoding="utf-8")
    path = tmp_path / "outer.par"
    path.write_text(
        "PARSFILE\n* words\nTITLE some words\nA 1 kg mass\nParsfile inner.par\nq( b, 4 ) -1d-2\n",
        encoding="utf-8",
    )
    file = bc.load(path)
    assert file.title == "some words"
    assert [(e.keyword, e.words[0], e.line) for e in file.entries] == [
        ("a", "1", 4),
        ("b", "2", 2),
        ("q(b,4)", "-1d-2", 6),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5", 1.5),
        ("-2E-3", -0.002),
        ("1D2", 100.0),
        (".5", 0.5),
        ("1e999", None),
        ("nan", None),
        ("0x1", None),
        ("1_0", None),
        ("", None),
        ("1-5", None),
    ],
)
def test_numbers_of_parameter_files(text, value):
    assert parse_number(text) == value


def test_keywords_are_never_those_of_the_file():
    assert [
        keyword_for(n, t) for n, t in (("k", ()), ("STEP", ()), ("end", ("End_",)), ("q(b, 4)", ()))
    ] == [
        "k",
        "STEP_",
        "end__",
        "q(b,4)",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this one is empty"),
        ("k 3\n", "line 1: a parameter file begins"),
        ("PARSFILE\nPARSFILE\n", "line 2: PARSFILE needs"),
        ("PARSFILE\nPARSFILE a.par\n", "more than 20 deep"),
        ("PARSFILE\nPARSFILE none.par\n", "cannot read"),
    ],
)
def test_damaged_parameter_files(tmp_path, text, message):
    (tmp_path / "a.par").write_text(text, encoding="utf-8")
    with pytest.raises(bc.RunError, match=message):
        ParsFile.read(tmp_path / "a.par")


QUICK_TIMES = [
    ("t,z\nms,m\n0,0\n100,5\n200,5\n", 0.2),
    ("t,z\n[ms],[m]\n0,0\n100,5\n200,5\n", 0.2),
    ("Time [ms];z [m]\n0;0\n100;5,5\n200;5\n", 0.2),
    ("time;z\n[s];[m]\n0;0\n0,1;5,25\n0,2;5\n", 0.2),
    ("sep=;\nt;z;\n[s];[m];\n0;0;\n0.1;5;\n0.2;5;\n", 0.2),
    ("t\tz\nmin\tm\n0\t0\n1\t5\n2\t5\n", 120.0),
    ("t,z\n0,0\n0.1,5\n0.2,5\n", 0.2),
    ("time,z\nus,m\n0,0\n1e5,5\n2e5,5\n", 0.2),
]


@pytest.mark.parametrize(("text", "end"), QUICK_TIMES)
def test_the_unit_of_time_in_a_file_counts(tmp_path, text, end):
    (tmp_path / "log.csv").write_text(text, encoding="utf-8")
    run = bc.Run.read(tmp_path / "log.csv")
    assert run.time[-1] == pytest.approx(end, rel=1e-15)
    assert list(run) == ["z"]


def test_the_unit_of_time_in_json_netcdf_and_parquet_counts(tmp_path):
    """Files that other programs write: time in milliseconds."""
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet
    from scipy.io import netcdf_file

    (tmp_path / "a.json").write_text(
        '{"channels": [{"name": "t", "unit": "ms", "values": [0, 100]}, {"name": "z", "values": [1, 2]}]}'
    )
    with netcdf_file(str(tmp_path / "a.nc"), "w") as f:
        f.createDimension("t", 2)
        for name, unit in (("t", b"ms"), ("z", b"m")):
            v = f.createVariable(name, "f8", ("t",))
            v[:], v.units = [0.0, 100.0], unit
    schema = arrow.schema(
        [arrow.field("t", arrow.float64(), metadata={"unit": "ms"}), ("z", arrow.float64())]
    )
    parquet.write_table(
        arrow.table([[0.0, 100.0], [1.0, 2.0]], schema=schema), str(tmp_path / "a.parquet")
    )
    for ending in ("json", "nc", "parquet"):
        assert bc.Run.read(tmp_path / f"a.{ending}").time[-1] == pytest.approx(0.1), ending


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("z_road,t\nm,s\n0,0\n1,1\n", "the first column must be time, but 'z_road' is in 'm'"),
        ("z_road,t\n0,0\n1,1\n", "the first column must be time, but it is 'z_road'"),
        ("t,z\n0,0\n1,1\n0.5,2\n", "time 't' decreases from 1 in sample 2 to 0.5 in sample 3"),
        ("t,z\n0,0\nnan,1\n", "time 't' is nan in sample 2"),
        ("t,z\n0,0\n1,1_0\n", "line 3, column 'z': '1_0' is not a number"),
        ("t,z\n0,0\n1,\uff11\n", "is not a number"),
    ],
)
def test_what_is_no_time_or_no_number_is_an_error(tmp_path, text, message):
    (tmp_path / "log.csv").write_text(text, encoding="utf-8")
    with pytest.raises(bc.RunError, match=message):
        bc.Run.read(tmp_path / "log.csv")


def test_samples_before_and_after_an_event_have_the_same_time(tmp_path):
    (tmp_path / "log.csv").write_text("t,z\n0,0\n1,1\n1,-1\n2,0\n", encoding="utf-8")
    assert bc.Run.read(tmp_path / "log.csv").time.tolist() == [0, 1, 1, 2]
