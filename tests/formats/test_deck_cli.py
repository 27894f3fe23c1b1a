"""Decks on the command line: run, count, write, check, describe, translate; mistakes end with a
message."""

import json
import shutil
from pathlib import Path

import pytest
from deck_cases import EXAMPLES, file_of

from bellcrank.cli import main


def bellcrank(capsys, *words):
    code = main([str(w) for w in words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_run_with_set_and_initial_gives_the_run_of_the_example(capsys):
    options = (
        "--backend",
        "python",
        "--initial",
        "q(f)=.25",
        "--set",
        "r=.3",
        "--t-end",
        ".2",
        "--json",
    )
    ends = []
    for model in (file_of("cart"), EXAMPLES / "cart.py"):
        code, out, _ = bellcrank(capsys, "run", model, *options)
        assert code == 0
        ends.append({name: x["value"] for name, x in json.loads(out)["final"].items()})
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)


def test_settings_of_the_run_can_be_set_like_parameters(capsys):
    words = (
        "run",
        file_of("cart"),
        "--backend",
        "python",
        "--json",
        "--set",
        "STOPT=.1",
        "--set",
        "step=.05",
    )
    code, out, err = bellcrank(capsys, *words)
    figures = json.loads(out)
    assert (code, figures["t_end"], figures["step"]) == (0, 0.1, 0.05)
    assert "no such parameter" not in err


@pytest.mark.parametrize(
    ("more", "method"), [((), "RK45"), (("--step", ".01"), "rk2"), (("--set", "step=.01"), "rk2")]
)
def test_a_deck_without_step_is_run_with_error_control(capsys, tmp_path, more, method):
    deck = tmp_path / "x.lsp"
    deck.write_text("(add-body b :translate 1)(add-gravity :direction [n1])", encoding="utf-8")
    code, out, _ = bellcrank(capsys, "run", deck, "--backend", "python", "--json", *more)
    assert code == 0 and json.loads(out)["method"] == method


def test_count_and_warnings(capsys):
    code, out, err = bellcrank(capsys, "count", file_of("passenger_car_small"), "--json")
    assert code == 0 and json.loads(out)["operations"]["classic"] == {
        "add": 14,
        "muldiv": 16,
        "calls": 2,
    }
    assert (
        "'izznr' is set, but the model has no such symbol" in err
        and "'nrbi33' has no value: 1 is used" in err
    )


def test_write_and_check(capsys, tmp_path):
    assert (
        bellcrank(capsys, "write", file_of("cart"), "--language", "python", "--out", tmp_path)[0]
        == 0
    )
    assert list(tmp_path.glob("**/*.py"))
    deck = tmp_path / "pendulum.lsp"
    deck.write_text(
        "(add-body b :body-rotation-axes 3 :cm-coordinates #(l 0 0))(add-gravity :direction [n1])",
        encoding="utf-8",
    )
    code, out, _ = bellcrank(capsys, "check", deck, "--states", 2, "--backend", "python", "--json")
    assert code == 0 and json.loads(out)


ROUTINES = """(add-body b :translate 1 :mass 1)(add-variables difeqn real a)(add-subroutine difeqn CMD t a)
(add-line-force f :point1 b0 :direction [n1] :magnitude !"k*a + func(drag, u(1))")(set-defaults k 1 stopt .1 step .01)"""


def write_routines(folder, name):
    path = folder / name
    path.write_text(
        "def Cmd(t):\n    return t\n\n\ndef drag(u):\n    return -u\n", encoding="utf-8"
    )
    return path


def test_routines_beside_the_deck_or_elsewhere(capsys, tmp_path):
    deck = tmp_path / "cart.lsp"
    deck.write_text(ROUTINES, encoding="utf-8")
    words = ("run", deck, "--backend", "python", "--json")
    code, _, err = bellcrank(capsys, *words)
    assert code == 1 and "there is no routine for cmd, drag" in err
    other = write_routines(tmp_path, "other.py")
    assert bellcrank(capsys, *words, "--external", other)[0] == 0
    write_routines(tmp_path, "cart.py")
    code, out, _ = bellcrank(capsys, *words)
    assert code == 0 and json.loads(out)["final"]["q(b)"]["value"] > 0


def test_a_python_file_beside_a_deck_without_routines_is_not_run(capsys, tmp_path):
    shutil.copy(file_of("cart"), tmp_path / "cart.lsp")
    (tmp_path / "cart.py").write_text("raise SystemExit('it was run')", encoding="utf-8")
    assert bellcrank(capsys, "count", tmp_path / "cart.lsp")[0] == 0


def test_a_deck_calls_only_functions_that_its_file_defines(capsys, tmp_path):
    path = tmp_path / "x.lsp"
    force = '(add-line-force f :point1 b0 :direction [n1] :magnitude !"func(sleep, 1)")'
    path.write_text(f"(add-body b :translate 1 :mass 1){force}", encoding="utf-8")
    path.with_suffix(".py").write_text("from time import sleep\n", encoding="utf-8")
    code, _, err = bellcrank(capsys, "run", path, "--backend", "python")
    assert code == 1 and "there is no routine for sleep" in err


def test_translate_writes_a_model_that_runs(capsys, tmp_path):
    path = tmp_path / "models" / "cart_model.py"
    code, out, _ = bellcrank(capsys, "translate", file_of("cart"), "--out", path)
    assert code == 0 and f"wrote {path}" in out
    assert bellcrank(capsys, "count", path)[0] == 0
    code, out, _ = bellcrank(capsys, "translate", file_of("cart"), "--out", "-")
    assert code == 0 and out == path.read_text(encoding="utf-8")


def test_translate_does_not_write_over_the_routines(capsys, tmp_path):
    deck = tmp_path / "cart.lsp"
    deck.write_text(ROUTINES, encoding="utf-8")
    routines = write_routines(tmp_path, "cart.py")
    before = Path(routines).read_text(encoding="utf-8")
    code, _, err = bellcrank(capsys, "translate", deck, "--out", routines)
    assert code == 1 and "it exists" in err
    code, _, err = bellcrank(capsys, "translate", deck, "--out", routines, "--overwrite")
    assert code == 1 and "holds the routines of the deck" in err
    assert Path(routines).read_text(encoding="utf-8") == before
    path = tmp_path / "model.py"
    assert bellcrank(capsys, "translate", deck, "--out", path)[0] == 0
    assert bellcrank(capsys, "run", path, "--backend", "python")[0] == 0


@pytest.mark.parametrize("command", ["run", "count", "write", "check", "describe", "translate"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(add-body b", "line 1, column 1: '(' is never closed"),
        ("(add-body b :mas 1)", "line 1, column 13: add-body has no keyword :mas"),
        ('(delete-file "x")', "line 1, column 2: unknown macro 'delete-file'"),
        ("", "has no bodies"),
    ],
)
def test_a_broken_deck_ends_with_a_sentence(capsys, tmp_path, command, text, words):
    path = tmp_path / "broken.lsp"
    path.write_text(text, encoding="utf-8")
    code, _, err = bellcrank(capsys, command, path)
    assert code == 1 and "Traceback" not in err
    assert words in err or (not text and "bellcrank: " in err)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("count", "nowhere.lsp"), "no file nowhere.lsp"),
        (("count", file_of("cart"), "--arg", "n=3"), "takes no argument 'n'"),
        (("count", file_of("cart"), "--external", "nowhere.py"), "no file nowhere.py"),
        (("count", EXAMPLES / "cart.py", "--external", "x.py"), "takes no argument 'external'"),
        (("translate", EXAMPLES / "cart.py"), "an AUTOSIM deck (.lsp)"),
    ],
)
def test_wrong_files_and_options(capsys, words, told):
    code, _, err = bellcrank(capsys, *words)
    assert code == 1 and told in err


def test_files_that_are_no_text_and_routines_that_fail(capsys, tmp_path):
    path = tmp_path / "x.lsp"
    path.write_bytes(b"(reset)\xff")
    assert "is not UTF-8" in bellcrank(capsys, "count", path)[2]
    path.write_text(
        "(add-body b :translate 1)(add-variables difeqn real a)(add-subroutine difeqn s a)",
        encoding="utf-8",
    )
    path.with_suffix(".py").write_text("x = 1\ny = 1/0\n", encoding="utf-8")
    code, _, err = bellcrank(capsys, "count", path)
    assert code == 1 and "x.py, line 2: ZeroDivisionError" in err


def test_a_deck_can_neither_reach_files_nor_run_commands(capsys, tmp_path):
    """Lisp that would write, read, load or run something is rejected, and nothing happens."""
    mark = tmp_path / "mark"
    secret = tmp_path / "secret.lsp"
    secret.write_text("(add-body hidden :translate 1)", encoding="utf-8")
    attempts = (
        f'(with-open-file (s "{mark}" :direction :output) (write 1 s))',
        f'(open "{mark}" :direction :output)',
        f'(run-program "touch" (list "{mark}"))',
        f'(shell "touch {mark}")',
        f'(load "{secret}")',
        f'(setf x (load "{secret}"))(add-body b :translate 1 :mass x)',
        f'#.(load "{secret}")',
        '(add-body b :mass !"__import__(touch)")',
        f'(add-body b :mass !"open({mark.stem})")',
        '(add-line-force f :point1 a0 :direction [n1] :magnitude !"func(__import__, os)")',
        "(add-body b :name #.(quit))",
        "(eval (quit))",
    )
    for i, text in enumerate(attempts):
        path = tmp_path / f"attempt{i}.lsp"
        path.write_text(f"(add-body a :translate 1)\n{text}", encoding="utf-8")
        code, _, err = bellcrank(capsys, "run", path, "--backend", "python")
        assert code == 1 and "bellcrank: " in err, text
    assert not mark.exists()
