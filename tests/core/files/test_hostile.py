"""Files made to fill the memory, and pipes on which a reader would wait for ever."""

import io
import os
import struct
import zipfile
import zlib
from contextlib import suppress

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.files.format_choice import write_record
from bellcrank.core.files.mat5 import HEADER, read_mat5
from bellcrank.core.files.record import FileChannel, Record
from bellcrank.core.files.stl import read_stl
from bellcrank.core.files.text_files import max_unpacked_size, read_text
from bellcrank.vehicles.terrain.surface_files import _read_array_file

LARGE = 2**22


@pytest.fixture
def limit(monkeypatch):
    monkeypatch.setattr("bellcrank.core.files.text_files._UNPACKED", 2**21)


def zeros():
    """Zeros by the megabyte, packed: a thousandth of their size."""
    packer = zlib.compressobj(9)
    return b"".join([packer.compress(bytes(2**20)) for _ in range(LARGE >> 20)] + [packer.flush()])


def mat(*parts):
    head = b"x".ljust(HEADER - 4) + b"\x00\x01IM"
    return head + b"".join(struct.pack("<II", 15, len(p)) + p for p in parts)


def test_a_mat_file_that_would_fill_the_memory(limit):
    packed = zeros()
    assert len(packed) < LARGE / 500
    with pytest.raises(ValueError, match="unpacked, it is larger than 2 MiB"):
        read_mat5(mat(packed))


def test_an_npz_that_would_fill_the_memory(limit, tmp_path):
    path = tmp_path / "terrain.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("h.npy", "w", force_zip64=True) as h,
    ):
        for _ in range(LARGE >> 20):
            h.write(bytes(2**20))
    with pytest.raises(bc.ModelError, match="unpacked, it takes 4 MiB, more than 2"):
        _read_array_file(path, None, None)


def test_damaged_arrays_are_one_message(tmp_path):
    """Readers of archives and headers raised errors of several kinds."""
    data = io.BytesIO()
    np.savez_compressed(data, x=np.arange(3.0), y=np.arange(2.0), h=np.arange(6.0).reshape(3, 2))
    whole, rng, path = data.getvalue(), np.random.default_rng(5), tmp_path / "t.npz"
    plain = io.BytesIO()
    np.save(plain, np.arange(6.0).reshape(3, 2))
    for i in range(200):
        name, source = (path, whole) if i % 2 else (tmp_path / "t.npy", plain.getvalue())
        damaged = bytearray(source)
        for place in rng.integers(len(source), size=4):
            damaged[place] = rng.integers(256)
        name.write_bytes(damaged[: rng.integers(len(source))] if i % 5 == 0 else damaged)
        try:
            _read_array_file(name, (1.0, 1.0), None)
        except bc.ModelError as error:
            assert str(error).startswith("terrain ")


def test_how_much_is_unpacked():
    assert max_unpacked_size(0) == 2**28
    assert max_unpacked_size(10**8) == 10**10


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize(
    "ending", [".csv", ".json", ".mat", ".erd", ".nc", ".npz", ".stl", ".tir", ".toml", ".lsp"]
)
def test_a_pipe_is_no_file(ending, tmp_path):
    path = tmp_path / f"pipe{ending}"
    os.mkfifo(path)
    read = {".npz": lambda p: _read_array_file(p, None, None), ".stl": read_stl}.get(
        ending, read_text
    )
    if ending in (".csv", ".json", ".mat", ".erd", ".nc"):
        read = bc.Run.read
    elif ending == ".tir":
        read = bc.vehicles.tyres.MagicFormula.read
    with pytest.raises(bc.BellcrankError, match="it is a pipe, not a file"):
        read(path)


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="needs /dev/fd")
def test_a_pipe_of_the_shell_is_read():
    """As <(...) of a shell."""
    ours, theirs = os.pipe()
    os.write(theirs, b"text")
    os.close(theirs)
    assert read_text(f"/dev/fd/{ours}") == "text"
    os.close(ours)


DIGITS = "9" * 400
NO_NUMBERS = ['"5"', "true", "false", '"0_1"', '"１"', DIGITS, "-" + DIGITS, "[1]", "{}", '"nan"']


@pytest.mark.parametrize("value", NO_NUMBERS, ids=range(len(NO_NUMBERS)))
@pytest.mark.parametrize("place", ["t", "a"])
def test_values_of_json_files_that_are_no_numbers(value, place, tmp_path):
    """Text and truth values were numbers, an integer of 400 digits was an OverflowError."""
    path = tmp_path / "r.json"
    values = {"t": "[0, 1]", "a": "[2, 3]"} | {place: f"[0, {value}]"}
    channels = ", ".join(f'{{"name": "{n}", "values": {v}}}' for n, v in values.items())
    path.write_text(f'{{"channels": [{channels}]}}', encoding="utf-8")
    with pytest.raises(bc.RunError, match=f"channel '{place}' holds .*, not a number"):
        bc.Run.read(path)


def test_values_of_a_json_file_as_one_text(tmp_path):
    path = tmp_path / "r.json"
    path.write_text('{"channels": [{"name": "t", "values": "12"}]}', encoding="utf-8")
    with pytest.raises(bc.RunError, match="a list of numbers"):
        bc.Run.read(path)


@pytest.mark.parametrize("seed", range(60))
def test_damaged_parquet_files(seed, tmp_path):
    """Names that are no UTF-8 were a raw UnicodeDecodeError."""
    pytest.importorskip("pyarrow")
    record = Record("x", np.arange(3.0), (FileChannel("channel_a", np.arange(3.0), "m"),))
    path = tmp_path / "r.parquet"
    write_record(path, record)
    data, draw = bytearray(path.read_bytes()), np.random.default_rng(seed)
    place = data.find(b"channel_a") if seed < 5 else draw.integers(len(data))
    start = data.find(b"channel_a", place + 1) if seed % 2 else place
    data[max(start, 0)] = 0xFF
    path.write_bytes(bytes(data))
    with suppress(bc.BellcrankError):
        bc.Run.read(path)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device here")
@pytest.mark.parametrize("ending", [".mat", ".nc", ".parquet", ".npy", ".npz", ".stl"])
def test_links_to_devices_without_end_are_not_read(ending, tmp_path):
    """7.5 GB were read of /dev/zero under the name of an array."""
    path = tmp_path / f"endless{ending}"
    path.symlink_to("/dev/zero")
    read = bc.vehicles.terrain.Surface.read if ending.startswith(".np") else bc.Run.read
    if ending == ".stl":
        read = read_stl
    with pytest.raises(bc.BellcrankError, match="is a device, not a file"):
        read(path)
