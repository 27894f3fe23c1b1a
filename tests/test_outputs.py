"""Commands replace what Bellcrank wrote, and nothing else, unless they are asked to."""

import os
import shutil
from pathlib import Path

import pytest

from bellcrank.cli import main
from bellcrank.cli.overwrite_guard import FOLDER

MODEL = """
import bellcrank as bc

def model():
    s = bc.System("mass")
    body = s.add_body("body", translate=1, mass="m", inertia=0)
    s.add_input("push", units="N")
    s.add_force("spring", magnitude="push - k*x", direction=s.inertial[1], at=body.origin)
    s.set_defaults(m=1, k=4)
    s.set_run(t_end=0.1, step=0.01, initial={"q(body)": 1}, inputs={"push": 0})
    return s
"""
LOG = "t,push\ns,N\n0,1\n1,2\n"
DECK = Path(__file__).parents[1] / "examples"
KEPT = "exists, and not as Bellcrank wrote it; give another name, or --overwrite to replace it"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path / "cache"))
    Path("v.py").write_text(MODEL, encoding="utf-8")
    Path("log.csv").write_text(LOG, encoding="utf-8")
    shutil.copy(next(iter(sorted(DECK.rglob("*.lsp")))), "d.lsp")
    return tmp_path


RUN = ("run", "v.py", "--backend", "python")
SOURCES = [
    pytest.param(("page", "v.py", "--out", "v.py"), marks=pytest.mark.campaign),
    pytest.param(("report", "v.py", "--out", "mine.html"), marks=pytest.mark.campaign),
    pytest.param(("fmu", "v.py", "--out", "v.py"), marks=pytest.mark.campaign),
    ("translate", "d.lsp", "--out", "d.lsp"),
    pytest.param(("picture", "v.py", "--out", "v.py"), marks=pytest.mark.campaign),
    (*RUN, "--input", "log.csv", "--out", "log.csv"),
    pytest.param((*RUN, "--input", "log.csv", "--plot", "./log.csv"), marks=pytest.mark.campaign),
    pytest.param((*RUN, "--echo", "v.py"), marks=pytest.mark.campaign),
    pytest.param(("many", "v.py", "--n", "2", "--out", "log.csv"), marks=pytest.mark.campaign),
    pytest.param(("plot", "log.csv", "--out", "log.csv"), marks=pytest.mark.campaign),
    ("write", "v.py", "--out", "."),
]


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


@pytest.mark.parametrize("words", SOURCES, ids=lambda words: f"{words[0]} {words[-1]}")
def test_nothing_that_was_there_is_lost(words, folder, capsys):
    """Models became pages, measurements results, with exit code 0."""
    for name in ("Makefile", "mine.html"):
        Path(name).write_text("mine", encoding="utf-8")
    before = contents(folder)
    assert main([*words]) == 1
    told = capsys.readouterr().err
    assert "cannot write" in told and "--overwrite" in told
    assert contents(folder) == before


@pytest.mark.campaign
def test_a_file_that_is_read_stays_even_if_it_is_ours(folder, capsys):
    assert main([*RUN, "--out", "r.csv"]) == 0
    os.link("r.csv", "linked.csv")
    for name in ("r.csv", "linked.csv"):
        assert main(["plot", name, "q(body)", "--out", "r.csv"]) == 1
        assert "this command reads it; give another name, or --overwrite" in capsys.readouterr().err


def test_results_are_replaced_by_newer_ones(folder, capsys):
    """Silently, as long as nobody else touched them."""
    for t_end in ("0.1", "0.2"):
        assert main([*RUN, "--t-end", t_end, "--out", "r.csv", "--echo", "r.par"]) == 0
    assert Path("r.csv").read_text(encoding="utf-8").splitlines()[-1].startswith("0.2,")
    os.utime("r.csv", (1, 1))
    assert main([*RUN, "--out", "r.csv"]) == 1
    assert f"cannot write r.csv: it {KEPT}" in capsys.readouterr().err
    assert main([*RUN, "--out", "r.csv", "--overwrite"]) == 0
    assert main([*RUN, "--out", "r.csv"]) == 0


@pytest.mark.parametrize(
    ("words", "made"),
    [
        (("translate", "d.lsp"), "d_model.py"),
        pytest.param(
            ("write", "v.py", "--out", "prog"), "prog/*.[cp]*", marks=pytest.mark.campaign
        ),
    ],
)
def test_edited_files_stay(words, made, folder, capsys):
    """What `translate` and `write` made is a beginning: an edited model, program or parameter file
    is work."""
    assert main([*words]) == 0
    assert main([*words]) == 0
    files = sorted(folder.glob(made))
    assert files
    for path in files:
        text = path.read_text(encoding="utf-8")
        path.write_text(text + "\n", encoding="utf-8")
        before = {p: p.read_bytes() for p in path.parent.iterdir() if p.is_file()}
        assert main([*words]) == 1
        assert f"{path.name}: it {KEPT}" in capsys.readouterr().err
        assert {p: p.read_bytes() for p in path.parent.iterdir() if p.is_file()} == before
        assert main([*words, "--overwrite"]) == 0
        assert path.read_text(encoding="utf-8") == text


def test_what_is_remembered_may_be_lost_or_damaged(folder, capsys):
    """Then a file counts as somebody else's."""
    assert main([*RUN, "--out", "r.csv"]) == 0
    (record,) = (folder / "cache" / FOLDER).iterdir()
    for damage in ("{", '{"stamps": 3}'):
        record.write_text(damage, encoding="utf-8")
        assert main([*RUN, "--out", "r.csv"]) == 1
    assert main([*RUN, "--out", "r.csv", "--overwrite"]) == 0
    assert main([*RUN, "--out", "r.csv"]) == 0


def test_a_command_that_was_killed_leaves_what_the_next_may_replace(folder, monkeypatch):
    """Between the note of a file and its taking its place."""
    assert main([*RUN, "--out", "r.csv"]) == 0

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("bellcrank.core.files.atomic.os.replace", killed)
        assert main([*RUN, "--out", "r.csv"]) == 130
    assert main([*RUN, "--out", "r.csv"]) == 0


@pytest.mark.campaign
def test_a_folder_with_a_study_json_of_somebody_else(folder, capsys):
    study = 'model.file = "v.py"\nrun = {backend = "python"}\ngrid = {k = [1]}\n'
    Path("s.toml").write_text(
        study + '[metrics.end]\nkind = "final"\nof = "q(body)"\n', encoding="utf-8"
    )
    Path("study.json").write_text('{"mine": 1}', encoding="utf-8")
    assert main(["study", "s.toml", "--in-process", "--no-plots", "--out", "."]) == 1
    assert "study.json does not come from a study; choose another folder" in capsys.readouterr().err
    assert Path("study.json").read_text(encoding="utf-8") == '{"mine": 1}'
