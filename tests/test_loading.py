"""bc.load: content and ending decide what a file is; every kind has a class with a classmethod
`read`."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.loading import FILE_KINDS
from bellcrank.vehicles.motorcycles.motorcycle import motorcycle_text

ROOT = Path(__file__).parents[1]
TYRE = ROOT / "examples" / "tyres" / "book_205_60R15.tir"
CRG = """$ROAD_CRG
REFERENCE_LINE_INCREMENT = 1.0
LONG_SECTION_V_RIGHT = -1.0
LONG_SECTION_V_INCREMENT = 1.0
$
$KD_DEFINITION
#:LRFI
D:long section 1,m
D:long section 2,m
D:long section 3,m
$
$$$$
  0.000000  0.000000  0.000000
  0.100000  0.100000  0.100000
  0.200000  0.200000  0.200000
"""
STUDY = '[model]\nvehicle = "quarter_car"\n[grid]\nk = [1.0]\n'
MODEL = "import bellcrank as bc\n\n\ndef model(name='own'):\n    return bc.System(name)\n"
DECK = "(reset)\n(add-body b :translate 1 :mass 2)\n(set-defaults stopt 1 step 0.1)\n"


def write(name, text):
    return lambda folder: (folder / name).write_text(text, encoding="utf-8")


def run_file(name):
    channel = {"x": np.array([1.0, 2.0])}
    run = bc.Run("r", np.array([0.0, 1.0]), channel, {"x": "m"}, {"x": "x"}, "read from a file")
    return lambda folder: run.save(folder / name)


def shipped(name, to):
    return lambda folder: shutil.copy(bc.linkage.shipped(name), folder / to)


def table(folder):
    bc.linkage.Linkage.read("trailing_arm").table(accuracy=1e-3).save(folder / "file.json")


def points(folder):
    rows = ["pivot_inner,0,0.3,0.3", "pivot_outer,0,0.7,0.3", "wheel_centre,-0.4,0.75,0.3"]
    head = ["# kind: trailing_arm", "# units: m", "# axes: ISO 8855", "# side: left", "name,x,y,z"]
    (folder / "file.csv").write_text("\n".join([*head, *rows]) + "\n", encoding="utf-8")


FILES = [
    ("file.py", write("file.py", MODEL), bc.System),
    ("file.lsp", write("file.lsp", DECK), bc.System),
    (
        "file.toml",
        lambda folder: (folder / "file.toml").write_text(
            bc.vehicles.template("passenger"), encoding="utf-8"
        ),
        bc.vehicles.Car,
    ),
    (
        "sport.toml",
        lambda folder: (folder / "sport.toml").write_text(
            motorcycle_text("sport"), encoding="utf-8"
        ),
        bc.vehicles.Motorcycle,
    ),
    ("file.toml", shipped("macpherson", "file.toml"), bc.linkage.Linkage),
    ("file.csv", points, bc.linkage.Linkage),
    ("file.json", table, bc.linkage.Table),
    (
        "file.tir",
        lambda folder: shutil.copy(TYRE, folder / "file.tir"),
        bc.vehicles.tyres.MagicFormula,
    ),
    (
        "file.dat",
        lambda folder: shutil.copy(TYRE, folder / "file.dat"),
        bc.vehicles.tyres.MagicFormula,
    ),
    ("file.crg", write("file.crg", CRG), bc.vehicles.terrain.Road),
    (
        "file.csv",
        write("file.csv", ",0,1\n0,0,0\n1,0.1,0.1\n2,0.2,0.2\n"),
        bc.vehicles.terrain.Surface,
    ),
    (
        "file.txt",
        write("file.txt", "# heights\n0 1\n0 0 0\n1 0.1 0.1\n2 0.2 0.2\n"),
        bc.vehicles.terrain.Surface,
    ),
    (
        "file.npz",
        lambda folder: np.savez(folder / "file.npz", x=[0, 1], y=[0, 1], h=np.zeros((2, 2))),
        bc.vehicles.terrain.Surface,
    ),
    ("file.par", write("file.par", "PARSFILE\nSTOPT 3\nEND\n"), bc.ParsFile),
    ("file.dat", write("file.dat", "PARSFILE\nSTOPT 3\nEND\n"), bc.ParsFile),
    *(
        (f"file.{ending}", run_file(f"file.{ending}"), bc.Run)
        for ending in ("csv", "json", "erd", "nc", "mat")
    ),
    ("file.csv", write("file.csv", "time [s];speed [m/s]\n0;1\n1;2\n"), bc.Run),
]


@pytest.mark.parametrize(("name", "make", "kind"), FILES)
def test_a_file_is_what_it_holds(name, make, kind, tmp_path):
    make(tmp_path)
    found = bc.load(tmp_path / name)
    assert isinstance(found, kind)
    assert isinstance(kind.read(str(tmp_path / name)), kind)


def test_a_study_is_read_as_one(tmp_path):
    (tmp_path / "ball.py").write_text(
        "import bellcrank as bc\n\n\ndef model():\n    s = bc.System('b')\n    "
        "s.add_point_mass('b', translate='z', mass=1)\n"
        "    s.add_gravity((0, 0, -1))\n    return s\n",
        encoding="utf-8",
    )
    text = (
        '[model]\nfile = "ball.py"\n[run]\nt_end = 1\nstep = 0.1\n[grid]\ng = [5, '
        '10]\n[metrics.low]\nkind = "min"\nof = "q(b)"\n'
    )
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    assert len(bc.load(tmp_path / "study.toml")) == 2


def test_every_kind_is_tried():
    from importlib import import_module

    tried = {kind for _, _, kind in FILES} | {bc.Study}
    assert {getattr(import_module(k.module), k.reader) for k in FILE_KINDS} == tried


def test_names_of_what_comes_with_bellcrank():
    assert bc.load("passenger").name == "passenger car"
    assert bc.load("five_link").name == "five_link"
    with pytest.raises(
        bc.ModelError,
        match=r"'formula_student' is a car and a linkage; call bc\.vehicles\.Car\.read",
    ):
        bc.load("formula_student")
    with pytest.raises(
        bc.ModelError, match=r"no file pasenger\. Did you mean 'passenger'\? Names of what comes"
    ):
        bc.load("pasenger")


def test_a_file_of_that_name_wins(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("passenger").write_text("PARSFILE\nEND\n", encoding="utf-8")
    assert isinstance(bc.load("passenger"), bc.ParsFile)


def test_options_go_to_the_class(tmp_path):
    (tmp_path / "own.py").write_text(MODEL, encoding="utf-8")
    assert bc.load(tmp_path / "own.py", name="other").name == "other"
    np.save(tmp_path / "h.npy", np.zeros((3, 3)))
    assert bc.load(tmp_path / "h.npy", spacing=0.5).spacing == (0.5, 0.5)
    with pytest.raises(
        bc.ModelError,
        match=r"h\.npy: Surface\.read takes no argument 'step'; it takes spacing, start",
    ):
        bc.load(tmp_path / "h.npy", step=0.5)
    with pytest.raises(bc.ModelError, match=r"own\.py: model\(\) takes no argument 'n'"):
        bc.load(tmp_path / "own.py", n=3)


def test_no_kind(tmp_path):
    (tmp_path / "own.toml").write_text("[engine]\npower = 3\n", encoding="utf-8")
    with pytest.raises(
        bc.ModelError, match=r"own\.toml is none .* Its top-level keys are engine\. Looked for:"
    ) as caught:
        bc.load(tmp_path / "own.toml")
    assert all(f"\n  {kind.name}: {kind.known_by}" in str(caught.value) for kind in FILE_KINDS)
    (tmp_path / "broken.toml").write_text("[engine\n", encoding="utf-8")
    with pytest.raises(bc.ModelError, match=r"broken\.toml' is not a TOML file"):
        bc.load(tmp_path / "broken.toml")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    with pytest.raises(bc.ModelError, match="is none of the files that are known"):
        bc.load(tmp_path / "picture.png")
    with pytest.raises(bc.ModelError, match="is a folder; give the path of a file"):
        bc.load(tmp_path)
    with pytest.raises(bc.ModelError, match=r"no file .*own\.tml\. Did you mean 'own\.toml'\?"):
        bc.load(tmp_path / "own.tml")
    with pytest.raises(bc.ModelError, match=r"load\(3\): give the path of a file"):
        bc.load(3)


def test_text_that_looks_like_python_is_never_executed(tmp_path):
    (tmp_path / "model.txt").write_text(MODEL + "\nraise SystemExit(1)\n", encoding="utf-8")
    with pytest.raises(bc.ModelError, match="is none of the files that are known"):
        bc.load(tmp_path / "model.txt")


def test_a_wrong_study_is_reported_by_its_reader(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    with pytest.raises(bc.ModelError, match="metrics"):
        bc.load(tmp_path / "study.toml")
