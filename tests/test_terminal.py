"""Text from data files on the terminal: control characters are shown, not obeyed."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import bellcrank as bc
from bellcrank import cli
from bellcrank.cli.terminal import erase_line
from bellcrank.core.errors import escape_unprintable, issue_warning

EVIL = "a\x1b]0;title\x07\x1b[2Jb\x9b31m\r\u202e"
SHOWN = r"a\x1b]0;title\x07\x1b[2Jb\x9b31m\r\u202e"


def obeyed(text):
    """Characters that a terminal would obey."""
    return [c for c in text if not c.isprintable() and c not in "\n\t"]


def test_printable():
    assert escape_unprintable(EVIL) == SHOWN
    assert escape_unprintable("a\tb\nµ·é 车 κ²") == "a\tb\nµ·é 车 κ²"
    assert escape_unprintable("\ud800\x7f\x00") == r"\ud800\x7f\x00"
    every = "".join(map(chr, range(0x3000))) + "\u2028\u2066"
    assert not [
        c for c in obeyed(escape_unprintable(every)) if ord(c) < 0xA0 or c in "\u2028\u202e\u2066"
    ]


def test_errors_and_warnings():
    for error in (
        bc.ModelError(EVIL),
        bc.ModelError([EVIL, EVIL], EVIL),
        bc.RunError(EVIL),
        bc.BuildError(EVIL),
    ):
        assert SHOWN in str(error) and not obeyed(str(error))
    with pytest.warns(bc.ModelWarning) as told:
        issue_warning(EVIL)
    assert str(told[0].message) == SHOWN


CAR = """
name = "x\\u001b]0;title\\u0007"
"wheel\\u001b[2Jbase" = 3
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.csv").write_text(
        f"t,{EVIL}\ns,{EVIL}\n0,1\n1,2\n".replace("\r", ""), encoding="utf-8"
    )
    channels = [{"name": n, "unit": "s", "label": EVIL, "values": [0, 1]} for n in ("t", EVIL)]
    (tmp_path / "evil.json").write_text(
        json.dumps({"title": EVIL, "channels": channels}), encoding="utf-8"
    )
    (tmp_path / "car.toml").write_text(CAR, encoding="utf-8")
    (tmp_path / "study.toml").write_text(CAR, encoding="utf-8")
    (tmp_path / "x\x1b[2J.lsp").write_text("(setsym *multipliers* \x1b[2J)", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("plot", "evil.csv", "--list"),
        ("plot", "evil.csv", "nope"),
        ("plot", "evil.json", "--list"),
        ("plot", "evil.json", "nope"),
        ("car", "check", "car.toml"),
        ("study", "study.toml", "--check"),
        ("run", "x\x1b[2J.lsp"),
        ("run", "y\x1b[2J.py"),
        ("run", "m.py", "--\x1b[2J"),
        ("\x1b[2J",),
    ],
)
def test_no_command_passes_on_control_characters(words, folder, capsys):
    with suppress(SystemExit):  # of the parser
        cli.main([*words])
    out, err = capsys.readouterr()
    assert out + err
    assert not obeyed(out + err)


def test_progress_is_ours_alone(capsys):
    erase_line(EVIL)
    assert capsys.readouterr().err == f"\r\x1b[K{SHOWN}"


def test_a_command_whose_output_is_closed_does_its_work(tmp_path):
    """As `bellcrank run model.py --out run.csv >&-` in a shell, or a service without a terminal."""
    model = Path(__file__).parent.parent / "examples" / "quarter_car.py"
    out = tmp_path / "run.csv"
    words = f'"{sys.executable}" -m bellcrank run "{model}" --t-end 0.1 --out "{out}" >&- 2>&-'
    assert subprocess.run(["sh", "-c", words], timeout=120).returncode == 0
    assert out.exists()
