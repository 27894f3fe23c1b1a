"""Model files that import modules of their folder, under every command and System.read."""

import sys
from pathlib import Path
from threading import Event, Thread
from types import ModuleType

import pytest

import bellcrank as bc
from bellcrank.cli.main import main
from bellcrank.core.files.user_modules import import_from_folder, imported_files
from bellcrank.study.job import make_job
from bellcrank.study.runner import build_model

PART = """
import bellcrank as bc
from inner.deep import MASS

def slide(k):
    s = bc.System("slide", units="mks")
    b = s.add_body("b", translate=1, mass=MASS, inertia=0)
    s.add_force("f", magnitude=f"-{k}*x", direction=s.inertial[1], at=b.origin)
    s.set_run(t_end=0.1, step=0.01, initial={"q(b)": 1})
    return s
"""
MODEL = """
from part import slide

def model(k=3):
    from late import LATE
    return slide(k + LATE)
"""


def folder(path, mass, late=0):
    """A model of two files, a package and a module that is imported when model() is called."""
    (path / "inner").mkdir(parents=True)
    (path / "inner" / "__init__.py").write_text("", encoding="utf-8")
    (path / "inner" / "deep.py").write_text(f"MASS = {mass}\n", encoding="utf-8")
    (path / "late.py").write_text(f"LATE = {late}\n", encoding="utf-8")
    (path / "part.py").write_text(PART, encoding="utf-8")
    (path / "model.py").write_text(MODEL, encoding="utf-8")
    return path / "model.py"


def mass_of(system):
    return float(str(system.equations().mass_matrix[0][0]))


def test_neighbours_of_equal_names_are_apart_and_leave_nothing(tmp_path):
    first, second = folder(tmp_path / "a", 2), folder(tmp_path / "b", 5)
    before = list(sys.path), set(sys.modules)
    assert [mass_of(bc.System.read(p)) for p in (first, second, first)] == [2, 5, 2]
    assert sys.path == before[0]
    assert not {"part", "late", "inner", "inner.deep"} & (set(sys.modules) - before[1])


def test_modules_of_the_caller_come_back(tmp_path, monkeypatch):
    own = type(sys)("part")
    monkeypatch.setitem(sys.modules, "part", own)
    assert mass_of(bc.System.read(folder(tmp_path / "a", 2))) == 2
    assert sys.modules["part"] is own


def test_a_model_that_fails_leaves_nothing(tmp_path):
    path = folder(tmp_path / "a", 2)
    (tmp_path / "a" / "late.py").write_text("raise ValueError('too late')\n", encoding="utf-8")
    before = list(sys.path)
    with pytest.raises(ValueError, match="too late"):
        bc.System.read(path)
    assert sys.path == before and "part" not in sys.modules


def test_a_changed_neighbour_is_read_anew(tmp_path):
    path = folder(tmp_path / "a", 2)
    assert mass_of(bc.System.read(path)) == 2
    (tmp_path / "a" / "inner" / "deep.py").write_text("MASS = 12\n", encoding="utf-8")
    assert mass_of(bc.System.read(path)) == 12


def test_what_others_have_installed_is_not_replaced(tmp_path):
    import numpy

    path = folder(tmp_path / "a", 2)
    (tmp_path / "a" / "numpy.py").write_text("raise ImportError('hidden')\n", encoding="utf-8")
    assert mass_of(bc.System.read(path)) == 2 and sys.modules["numpy"] is numpy


def test_threads_do_not_mix_neighbours(tmp_path):
    paths = [folder(tmp_path / str(i), i + 1) for i in range(4)]
    found = {}
    threads = [
        Thread(target=lambda i=i: found.update({i: bc.System.read(paths[i])})) for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [mass_of(found[i]) for i in range(4)] == [1, 2, 3, 4]


def test_models_are_read_while_other_threads_import():
    """The table of modules grew while it was listed: RuntimeError."""
    names = [f"made_up_{k}" for k in range(400)]
    ended = Event()

    def import_modules():
        while not ended.is_set():
            for name in names:
                sys.modules[name] = ModuleType(name)
            for name in names:
                sys.modules.pop(name, None)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = Thread(target=import_modules)
    thread.start()
    try:
        for _ in range(150):
            with import_from_folder(Path(__file__)):
                pass
    finally:
        ended.set()
        thread.join()
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("command", ["run", "count", "describe"])
def test_commands_find_neighbours(tmp_path, monkeypatch, capsys, command):
    path = folder(tmp_path / "a", 2)
    monkeypatch.chdir(tmp_path)
    assert main([command, str(path.relative_to(tmp_path))]) == 0, capsys.readouterr().err


def test_files_that_a_model_imports_are_found_without_running_them(tmp_path):
    path = folder(tmp_path / "a", 2)
    (tmp_path / "a" / "unused.py").write_text("", encoding="utf-8")
    (tmp_path / "a" / "inner" / "deep.py").write_text(
        "from . import side\nfrom ..late import LATE\n", encoding="utf-8"
    )
    (tmp_path / "a" / "inner" / "side.py").write_text(
        "import numpy, part\nraise ValueError\n", encoding="utf-8"
    )
    found = [p.relative_to(tmp_path / "a").as_posix() for p in imported_files(path)]
    assert found == ["inner/__init__.py", "inner/deep.py", "inner/side.py", "late.py", "part.py"]


@pytest.mark.campaign
def test_a_study_takes_neighbours_along(tmp_path):
    """To workers, and into the keys of its runs: after a change next to the model they are run
    anew."""
    path = folder(tmp_path / "a", 2)
    definition = {
        "name": "n",
        "model": {"file": str(path)},
        "grid": {"model.k": [1, 2]},
        "metrics": {"last": {"kind": "final", "of": "q(b)"}},
    }
    study = bc.Study.read(definition)
    assert mass_of(build_model(make_job(study.definition))) == 2  # as a worker builds it, elsewhere
    first = study.run(tmp_path / "out", in_process=True)["last"]
    assert first[0] != first[1]
    (tmp_path / "a" / "inner" / "deep.py").write_text("MASS = 12\n", encoding="utf-8")
    assert (bc.Study.read(definition).run(tmp_path / "out", in_process=True)["last"] != first).all()
