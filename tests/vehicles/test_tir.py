"""Reading .tir files: habits of real ones, what is rejected, and thousands of changed ones."""

import random
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.vehicles.tyres.magic_keys import DIMENSION_OF, dimension_factor
from tests.core.files.fuzz import mutated
from tests.vehicles.tyre_tables import BOOK, PAC

TEXT = BOOK.read_text("utf-8")
POINT = dict(Fz=3500, kappa=0.03, alpha=0.05, gamma=0.02)


def tyre_of(folder, text, **options):
    path = folder / "some.tir"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return bc.vehicles.tyres.MagicFormula.read(path, **options)


def same(tyre):
    book = bc.vehicles.tyres.MagicFormula.read(BOOK).forces(**POINT)
    return all(
        tyre.forces(**POINT)[n] == pytest.approx(book[n], rel=1e-9)
        for n in ("Fx", "Fy", "Mx", "My", "Mz", "Re")
    )


def without(text, *keys):
    return "\n".join(line for line in text.split("\n") if line.split(" =")[0] not in keys)


def in_units(text, length, force, angle):
    """The file in other units: mm, kN, deg."""
    factors = {"L": length, "F": force, "A": angle, "M": 1.0, "T": 1.0, "P": force / length**2}
    lines = []
    for line in text.split("\n"):
        key, _, value = line.partition(" = ")
        dimension = DIMENSION_OF.get(key)
        usable = dimension and "'" not in value
        lines.append(
            f"{key} = {float(value) / dimension_factor(dimension, factors)!r}" if usable else line
        )
    return "\n".join(lines)


HABITS = {
    "line ends of DOS": lambda t: t.replace("\n", "\r\n"),
    "line ends of old Macs": lambda t: t.replace("\n", "\r"),
    "comments behind values": lambda t: t.replace(
        "PDX1 = 1.0422", "PDX1   =\t1.0422   $Longitudinal friction Mux, [-] !"
    ),
    "lower case": lambda t: t.lower(),
    "no header": lambda t: t[t.index("[UNITS]") :],
    "no sections at all": lambda t: without(
        "\n".join(x for x in t.split("\n") if not x.startswith("[")), "MASS"
    ),
    "tables in braces": lambda t: t + "\n[SHAPE]\n{radial width}\n 1.0 0.0\n 1.0 0.4\n 0.9 1.0\n",
    "a byte order mark": lambda t: "\ufeff" + t,
    "sixteen bits": lambda t: t.encode("utf-16"),
    "umlauts of Latin-1": lambda t: ("$ Reifengr\u00f6\u00dfe\n" + t).encode("latin-1"),
    "exponents of Fortran": lambda t: t.replace("PHX1 = 0.00021615", "PHX1 = 2.1615D-04").replace(
        "-9.968e-05", "-9.968d-5"
    ),
    "lines of dashes": lambda t: t.replace("[", "$---------------------[units]\n[").replace(
        "\n!", "\n  !"
    ),
    "other quotes": lambda t: t.replace("'", '"'),
    "no quotes": lambda t: t.replace("'", ""),
    "no blanks": lambda t: t.replace(" = ", "="),
    "unknown keys": lambda t: t + "\n[MAKER]\nSECRET_9 = 3\nWORDS = 'a $ b'\n",
    "mm, kN and deg": lambda t: in_units(
        t.replace("'meter'", "'mm'").replace("'newton'", "'kN'").replace("'radians'", "'degrees'"),
        1e-3,
        1e3,
        np.pi / 180,
    ),
    "psi": lambda t: (
        t.replace("TIME = 'second'", "TIME = 'second'\nPRESSURE = 'psi'")
        .replace("PRES = 220000.0", f"PRES = {220000 / 6894.757293168!r}")
        .replace("PRESMIN = 186000.0", "PRESMIN = 1")
        .replace("PRESMAX = 255000.0", "PRESMAX = 100")
    ),
    "blanks in sections": lambda t: t.replace("[MODEL]", " [ Model ] $ x"),
    "a key twice": lambda t: t.replace("PDX1 = 1.0422", "PDX1 = 2\nPDX1 = 1.0422"),
    "other names": lambda t: (
        t.replace("TYRESIDE", "TIRESIDE").replace("INFLPRES", "IP").replace("NOMPRES", "IP_NOM")
    ),
}


@pytest.mark.parametrize("habit", HABITS)
def test_habits_of_real_files_are_read(habit, tmp_path):
    tyre = tyre_of(tmp_path, HABITS[habit](TEXT))
    assert tyre.version == "6.1" and tyre.side == "left" and same(tyre)
    assert not bc.vehicles.tyres.MagicFormula.read(BOOK).notes


def test_what_is_unknown_is_kept_and_noted(tmp_path):
    tyre = tyre_of(tmp_path, HABITS["unknown keys"](TEXT) + "[SHAPE]\n{radial width}\n1 2\n3 4\n")
    assert tyre.extra["MAKER.SECRET_9"] == 3 and tyre.extra["MAKER.WORDS"] == "a $ b"
    assert (
        np.array_equal(tyre.extra["SHAPE"], [[1, 2], [3, 4]]) and tyre.extra["UNITS.MASS"] == "kg"
    )
    assert any("SECRET_9" in note for note in tyre.notes) and tyre["MASS"] == 9.3


def test_both_sides_and_versions(tmp_path):
    right = tyre_of(tmp_path, TEXT.replace("'LEFT'", "'Right'"))
    assert right.side == "right" and right.on("left").mirrored
    assert (
        "counts as measured on the left"
        in tyre_of(tmp_path, TEXT.replace("'LEFT'", "'moon'")).notes[0]
    )
    assert tyre_of(tmp_path, TEXT.replace("FITTYP = 61", "FITTYP = 62")).version == "6.2"
    pac = PAC.read_text("utf-8")
    assert bc.vehicles.tyres.MagicFormula.read(PAC).version == "5.2"
    assert tyre_of(tmp_path, without(pac, "FITTYP")).version == "5.2"
    assert tyre_of(tmp_path, without(TEXT, "FITTYP"), version="6.1").version == "6.1"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda t: t.replace("FITTYP = 61", "FITTYP = 51"),
            r"tir.*FITTYP = 51 is a motorcycle tyre.*MotorcycleTyre",
        ),
        (lambda t: t.replace("FITTYP = 61", "FITTYP = 60"), "FITTYP = '60' is not known"),
        (
            lambda t: t.replace("FITTYP = 61", "PROPERTY_FILE_FORMAT = 'PAC_MC'"),
            r"'pac_mc' is a motorcycle tyre.*version 6.1",
        ),
        (lambda t: t.replace("FITTYP = 61", "PROPERTY_FILE_FORMAT = 'FTIRE'"), "an FTire"),
        (lambda t: without(t, "FITTYP"), "neither FITTYP nor"),
        (lambda t: t.replace("PDX1 = 1.0422", "PDX1 = 1,0422"), "line .* decimal comma"),
        (lambda t: t.replace("PDX1 = 1.0422", "PDX1 = much"), "PDX1 = 'much' is no number"),
        (lambda t: t.replace("PDX1 = 1.0422", "PDX1 = 1e999"), "too large"),
        (lambda t: t.replace("'meter'", "'parsec'"), "'parsec' is no unit"),
        (lambda t: without(t, "FNOMIN"), "FNOMIN=0 must be positive"),
        (lambda t: "", "no tyre property file"),
        (lambda t: "once upon a time", "no tyre property file"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(change, words, tmp_path):
    with pytest.raises(bc.ModelError, match=words):
        tyre_of(tmp_path, change(TEXT))


def test_no_file(tmp_path):
    with pytest.raises(bc.ModelError, match="cannot read"):
        bc.vehicles.tyres.MagicFormula.read(tmp_path / "none.tir")
    with pytest.raises(bc.ModelError, match="the path of a"):
        bc.vehicles.tyres.MagicFormula.read(3)


def test_doubtful_coefficients_are_noted(tmp_path):
    odd = (
        TEXT.replace("PKY1 = -15.324", "PKY1 = 15.324")
        .replace("Q_FZ2 = 15.4", "Q_FZ2 = 99")
        .replace("220000.0", "2.2")
    )
    notes = " ".join(tyre_of(tmp_path, odd).notes)
    assert "Kya" in notes and "Q_FZ2" in notes and "NOMPRES = 2.2 Pa: usual is" in notes


def changed(count, seed, folder):
    """Reads so many changed files; how many were tyres."""
    rng, texts = (
        random.Random(seed),
        (TEXT, PAC.read_text("utf-8"), HABITS["tables in braces"](TEXT)),
    )
    tyres = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(count):
            text = mutated(rng.choice(texts), rng.choice(texts), rng)
            try:
                tyre = tyre_of(folder, text.encode("utf-8", "surrogatepass"))
            except bc.ModelError as error:
                assert str(error).strip()
                continue
            tyres += 1
            tyre.forces(**POINT)
            assert all(isinstance(note, str) and "\n" not in note for note in tyre.notes)
    return tyres


def test_changed_files_are_a_tyre_or_a_sentence(tmp_path):
    assert changed(60, 18, tmp_path) > 10


@pytest.mark.campaign
def test_ten_thousand_changed_files_are_a_tyre_or_a_sentence():
    with tempfile.TemporaryDirectory() as folder:
        assert changed(10_000, 2012, Path(folder)) > 2000
