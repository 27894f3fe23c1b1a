"""The formats of export: which options each has, for a type checker, in Python and on the command
line."""

import inspect
import re
from typing import get_overloads

import pytest

import bellcrank as bc
from bellcrank.cli.main import main
from bellcrank.export.formats import FORMATS
from tests.models import FOLDER, example

QUARTER_CAR = str(FOLDER / "quarter_car.py")


def test_a_type_checker_sees_the_options_of_each_format():
    seen = {}
    for f in get_overloads(bc.Equations.export):
        _, chosen, path, *options = inspect.signature(f).parameters.values()
        for name in re.findall(r"'(\w+)'", chosen.annotation):
            seen[name] = {x.name for x in options}, path.default is None
    assert seen == {name: ({*f.options}, f.shown) for name, f in FORMATS.items()}


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("pyton", {}, "'pyton' is not known; it is one of 'c', 'fortran', .*Did you mean 'python'"),
        ("fmu", {"path": None}, "the format 'fmu' needs a path"),
        (
            "c",
            {"fmi": 3},
            "'fmi' is not an option of the format 'c'; its options are 'events', 'stop', "
            "'dae'. .*'fmu'$",
        ),
        (
            "python",
            {"stop": "x"},
            "'stop' is not an option of the format 'python'; it has no options. .*to 'c', ",
        ),
        ("simulink", {"precision": "single"}, "The option belongs to 'embedded'$"),
        (
            "page",
            {"dae": "dlmm"},
            "'dae' is not an option of the format 'page'; its options are 'sliders'",
        ),
    ],
)
def test_what_does_not_belong_to_a_format_is_an_error(name, options, told, tmp_path):
    with pytest.raises(bc.ModelError, match=told):
        example("quarter_car").export(name, **{"path": tmp_path / "new", **options})
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_kind_is_named():
    with pytest.raises(bc.ModelError, match=r"export: path=3 must be text, a path or None"):
        example("quarter_car").export("c", 3)


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (["write", "--language", "python"], ["export", "python"]),
        (["write", "--for", "simulink"], ["export", "simulink"]),
        (
            ["fmu", "--platform", "sources", "--fmi", "3"],
            ["export", "fmu", "--platform", "sources", "--fmi", "3"],
        ),
        (
            ["page", "--plot", "az", "--title", "T"],
            ["export", "page", "--plot", "az", "--title", "T"],
        ),
    ],
    ids=lambda words: words[0] + words[1],
)
def test_short_forms_write_the_same(short, long, tmp_path, monkeypatch):
    written = []
    for i, words in enumerate((short, long)):
        folder = tmp_path / str(i)
        folder.mkdir()
        monkeypatch.chdir(folder)
        assert main([*words, QUARTER_CAR]) == 0
        written.append({str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*.*")})
    assert written[0] and written[0] == written[1]


def test_options_of_other_formats_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["export", "embedded", QUARTER_CAR, "--fmi", "3"]) == 1
    assert "'fmi' is not an option of the format 'embedded'" in capsys.readouterr().err
    assert main(["write", QUARTER_CAR, "--for", "embedded", "--language", "fortran"]) == 1
    assert "--for embedded is written in C, not in fortran" in capsys.readouterr().err
    assert main(["export", "pag", QUARTER_CAR]) == 1
    assert "Did you mean 'page'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_written_programs_take_the_constraint_method(tmp_path):
    four_bar = str(FOLDER / "four_bar.py")
    for name, words in {"same": [], "other": ["--dae", "dlmm"]}.items():
        assert main(["write", four_bar, *words, "--out", str(tmp_path / name)]) == 0
    example("four_bar").export("c", tmp_path / "python", dae="dlmm")
    same, other, python = (
        (tmp_path / x / "program.c").read_bytes() for x in ("same", "other", "python")
    )
    assert other == python != same
