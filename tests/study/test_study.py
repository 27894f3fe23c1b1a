"""Studies in this process: values against closed forms, resuming, changes, failures, files."""

import csv
import json
import math
import multiprocessing
import os
import pickle
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import cli
from bellcrank.cli.study import ProgressBar
from bellcrank.study import executor, local_team
from bellcrank.study.runner import StudyRunner
from bellcrank.study.store import RECORDS, RecordReader, RecordWriter, StudyStore
from bellcrank.study.worker import do_task
from bellcrank.study.worker_process import _take_over_stream
from tests.models import FOLDER, needs_compiler
from tests.study.studies import MARKED, MASS, end, mass, started, toml


def run(study, folder, **options):
    return bc.Study.read(study).run(folder, in_process=True, **options)


def test_rows_are_right(tmp_path):
    result = run(mass(), tmp_path)
    assert len(result) == 3
    assert result["end"] == pytest.approx([end(1), end(4), end(9)], abs=1e-6)
    assert result.units == {"k": "N/m", "end": "m", "fastest": "m/s"}
    assert (result.made, result.found, result.failed) == (3, 0, [])


def test_metrics_as_objects(tmp_path):
    asked = {
        "end": bc.metrics.final("q(mass)"),
        "high": bc.metrics.percentile("u(mass)", 97.5, start=0.1, end=0.4),
    }
    words = {
        "end": {"kind": "final", "of": "q(mass)"},
        "high": {"kind": "percentile(97.5)", "of": "u(mass)", "from": 0.1, "until": 0.4},
    }
    objects, tables = (
        run(mass(metrics=x), tmp_path / name) for name, x in (("a", asked), ("b", words))
    )
    assert list(objects.table()) == list(tables.table()) and objects.units == tables.units
    assert objects["end"] == pytest.approx([end(1), end(4), end(9)], abs=1e-6)


def test_worker_processes_give_the_rows_of_this_process(tmp_path):
    study = bc.Study.read(mass(grid={"k": [1, -4, 9]}, metrics={"end": MASS["metrics"]["end"]}))
    inside, workers = (
        study.run(tmp_path / "inside", in_process=True),
        study.run(tmp_path / "workers", workers=1),
    )
    assert list(workers.table()) == list(inside.table())
    assert (workers.made, workers.found, len(workers.failed)) == (3, 0, len(inside.failed))


def test_finished_runs_are_not_made_again(tmp_path):
    marks = tmp_path / "marks"
    study = mass(marks)
    run(study, tmp_path / "r")
    again = run(study, tmp_path / "r")
    assert (again.made, again.found) == (0, 3)
    more = run({**study, "grid": {"k": [9, 16, 1.0, 4]}}, tmp_path / "r")  # 1.0 is 1
    assert (more.made, more.found) == (1, 3)
    assert more["end"] == pytest.approx([end(9), end(16), end(1), end(4)], abs=1e-6)
    assert started(marks) == {1: 1, 4: 1, 9: 1, 16: 1}
    run(study, tmp_path / "r", fresh=True)
    assert started(marks) == {1: 2, 4: 2, 9: 2, 16: 1}


def test_a_line_cut_short_is_not_a_run(tmp_path):
    marks = tmp_path / "marks"
    study = mass(marks)
    run(study, tmp_path)
    (file,) = (tmp_path / RECORDS).glob("*.jsonl")
    file.write_bytes(file.read_bytes()[:-7])
    again = run(study, tmp_path)
    assert (again.made, again.found) == (1, 2)
    assert again["end"] == pytest.approx([end(1), end(4), end(9)], abs=1e-6)
    assert len(RecordReader(tmp_path).read_new()) == 3


def test_a_changed_study_says_what_changed(tmp_path):
    marks = tmp_path / "marks"
    run(mass(marks), tmp_path)
    changed = run(mass(marks, run={"backend": "python", "t_end": 0.25}), tmp_path)
    assert (changed.made, changed.found) == (3, 0)
    assert changed["end"] == pytest.approx([math.cos(0.25 * w) for w in (1, 2, 3)], abs=1e-6)
    assert "run.t_end: nothing is now 0.25" in changed.notes[0]
    assert (
        "3 kept runs belong to another form of the study and are left aside; 0 of 3 can be used"
        in changed.notes[1]
    )
    back = run(mass(marks), tmp_path)
    assert (back.made, back.found) == (0, 3)


def test_a_changed_model_file_changes_the_study(tmp_path):
    file = tmp_path / "model.py"
    source = MARKED.read_text(encoding="utf-8")
    file.write_text(source, encoding="utf-8")
    study = mass(model={"file": str(file)})
    run(study, tmp_path / "r")
    file.write_text(source.replace("mass=1", "mass=4"), encoding="utf-8")
    heavier = run(study, tmp_path / "r")
    assert (heavier.made, heavier.found) == (3, 0)
    assert heavier["end"] == pytest.approx([end(k / 4) for k in (1, 4, 9)], abs=1e-6)


def test_a_run_that_fails_is_a_row(tmp_path):
    """k = 1e9 is far past what the step can follow; a formula divides by zero for k = 1."""
    study = mass(
        grid={"k": [1, 2, 1e9]}, parameters={"w": "1/(k - 1)"}, initial={"u(mass)": "w - w"}
    )
    result = run(
        {**study, "run": {"backend": "python", "method": "euler", "t_end": 20, "step": 0.05}},
        tmp_path,
    )
    first, second, third = result.rows
    assert "w: 1/(k - 1) is nan, not a finite number" in first.ended
    assert second.finished
    assert third.ended.startswith("stopped at t =")
    assert first.metrics == third.metrics == {"end": None, "fastest": None}
    assert np.isnan(result["end"][[0, 2]]).all()
    assert (
        run(
            study | {"run": {"backend": "python", "method": "euler", "t_end": 20, "step": 0.05}},
            tmp_path,
            retry=True,
        ).made
        == 2
    )


def test_runs_that_failed_are_made_again_if_asked(tmp_path):
    marks = tmp_path / "marks"
    study = mass(marks, grid={"k": [1, 1e9]})
    study["run"] = {"backend": "python", "method": "euler", "t_end": 20, "step": 0.05}
    assert len(run(study, tmp_path / "r").failed) == 1
    assert run(study, tmp_path / "r", retry=True).made == 1
    assert started(marks) == {1: 1, 1e9: 2}
    assert len(RecordReader(tmp_path / "r").read_new()) == 2


def test_values_go_where_they_belong(tmp_path):
    """Initial values, settings of the run, arguments of the model, and names that only formulas
    use."""
    study = mass(
        grid={"q(mass)": [1, 2], "run.t_end": [0.25, 0.5], "model.pause": [0, 0.0001], "w": [2, 3]},
        parameters={"k": "w**2"},
    )
    result = run(study, tmp_path)
    assert len(result) == 16
    for row in result.rows:
        v = row.values
        assert row.metrics["end"] == pytest.approx(
            v["q(mass)"] * math.cos(v["w"] * v["run.t_end"]), abs=1e-6
        )
    assert result.units["q(mass)"] == "m"


def test_equal_runs_of_different_parts_are_made_once(tmp_path):
    marks = tmp_path / "marks"
    study = mass(
        marks,
        parameters={"k": 4},
        parts=[{"name": "a", "grid": {"k": [1, 4]}}, {"name": "b", "grid": {"q(mass)": [1, 2]}}],
    )
    del study["grid"]
    result = run(study, tmp_path)
    assert [row.part for row in result.rows] == ["a", "a", "b", "b"]
    assert result["end"] == pytest.approx([end(1), end(4), end(4), 2 * end(4)], abs=1e-6)
    assert (
        result.made == 4
    )  # the initial value 1 of the model and that of the study are not known to be one
    assert started(marks) == {1: 1, 4: 3}
    assert result.heads == ["part", "k", "q(mass)", "end", "fastest", "ended"]
    assert [row[:3] for row in result.table()] == [
        ["a", 1, None],
        ["a", 4, None],
        ["b", None, 1],
        ["b", None, 2],
    ]


def test_tables_of_the_best_beside_published_values(tmp_path):
    (tmp_path / "book.csv").write_text(
        "# of a book\nk,q(mass),end\n1,2,1.7\n4,3,1.6\n", encoding="utf-8"
    )
    study = mass(
        grid={"k": [1, 4], "q(mass)": [3, 2]},
        tables=[
            {"value": "end", "rows": "k", "best": "min", "beside": "book.csv", "source": "a book"}
        ],
    )
    (table,) = bc.Study.read(study, folder=tmp_path).run(tmp_path / "r", in_process=True).tables()
    (one,), (four,) = table.cells
    assert (one.value, one.best_at, one.published) == (
        pytest.approx(2 * end(1)),
        {"q(mass)": 2},
        1.7,
    )
    assert (four.value, four.published, four.published_at) == (
        pytest.approx(2 * end(4)),
        1.6,
        {"q(mass)": 3},
    )
    assert table.lines()[1] == ["1", "1.755 (2) | 1.7 (2)"]


def test_files_hold_names_and_units(tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    result = run(mass(grid={"k": [1, 4], "run.method": ["rk4", "rk2"]}), tmp_path)
    head, units, *rows = csv.reader(
        result.save(tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()
    )
    assert head == ["k", "run.method", "end", "fastest", "ended"]
    assert units == ["N/m", "", "m", "m/s", ""]
    assert float(rows[0][2]) == result["end"][0]
    table = parquet.read_table(result.save(tmp_path / "t.parquet"))
    assert table["end"].to_pylist() == result["end"].tolist()
    assert table["run.method"].to_pylist() == ["rk4", "rk2"] * 2
    assert table.schema.field("fastest").metadata[b"unit"] == b"m/s"
    found = json.loads(result.save(tmp_path / "t.json").read_text(encoding="utf-8"))["columns"]
    assert [c["name"] for c in found] == head
    assert [c["unit"] for c in found] == units
    assert found[1]["values"] == ["rk4", "rk2"] * 2
    assert found[2]["values"] == result["end"].tolist()
    with pytest.raises(bc.RunError, match="known file extensions"):
        result.save(tmp_path / "t.xls")


def test_pictures(tmp_path):
    """Saved where the results are, in the format of the ending; what is in them: test_draw."""
    grid = mass(grid={"k": [1, 4], "q(mass)": [1, 2, 3]}, metrics={"end": MASS["metrics"]["end"]})
    (path,) = run(grid, tmp_path / "grid").plot()
    assert path == tmp_path / "grid/end.png" and path.read_bytes().startswith(b"\x89PNG")
    samples = {"count": 4, "seed": 1, "of": {"k": {"uniform": [1, 9]}}}
    study = mass(samples=samples, plots=[{"file": "e.svg", "value": "end", "x": "k"}])
    del study["grid"]
    (path,) = run(study, tmp_path / "samples").plot()
    assert path.read_text(encoding="utf-8").startswith("<?xml")


def test_a_study_waits_half_a_minute_for_processes_of_an_earlier_start(tmp_path, monkeypatch):
    now, answers = [5.0], []
    clock = SimpleNamespace(
        monotonic=lambda: now[0], sleep=lambda s: now.__setitem__(0, now[0] + 100 * s)
    )
    with StudyStore(tmp_path), RecordWriter(tmp_path) as writer:
        writer.append({"key": "a"})
    monkeypatch.setattr("bellcrank.study.store.time", clock)
    monkeypatch.setattr(
        "bellcrank.study.store._try_lock", lambda stream, wait=False: answers.pop(0)
    )
    answers[:] = [True, *[False] * 6, True]  # the folder, then the file: 30 s later
    with StudyStore(tmp_path):
        assert now == [pytest.approx(35)]
    answers[:] = [True, *[False] * 9]
    with (
        pytest.raises(bc.RunError, match="a process of an earlier start still writes"),
        StudyStore(tmp_path),
    ):
        pass
    assert now == [pytest.approx(35 + 35)]


def test_records_are_forced_onto_the_disk_now_and_then(tmp_path, monkeypatch):
    now, forced = [0.0], []
    monkeypatch.setattr("bellcrank.study.store.time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr("bellcrank.study.store.os.fsync", forced.append)
    (tmp_path / RECORDS).mkdir()
    with RecordWriter(tmp_path) as writer:
        for now[0], count in ((0.4, 0), (0.6, 1), (1.0, 1), (1.2, 2)):
            writer.append({"t": now[0]})
            assert len(forced) == count
    assert len(forced) == 3


def test_workers_that_do_not_share_the_folder_send_their_results(tmp_path):
    """A team elsewhere: its records travel back, and are kept here."""

    class Elsewhere:
        threads, answers = 2, {}

        def submit(self, task):
            job, runs, _, token, seconds = task
            self.answers[len(self.answers)] = do_task(
                job, runs, str(tmp_path / "nowhere"), token, seconds
            )
            return len(self.answers) - 1

        def finished_tasks(self, tasks):
            return [(task, executor.TaskOutcome(self.answers[task])) for task in [*tasks]]

        def check_workers(self, progress):
            pass

    study = bc.Study.read(mass())
    runs = list(zip(study._keys, (values for _, values in study.run_points), strict=True))
    told = []
    with StudyStore(tmp_path / "r") as store:
        executor.StudyExecutor(Elsewhere(), study._job, store, told.append).run_all(runs)
    assert [record["values"]["k"] for record in told] == [1, 4, 9]
    result = bc.Study.read(mass()).run(tmp_path / "r", in_process=True)
    assert result.found == 3
    assert result["end"] == pytest.approx([end(1), end(4), end(9)], abs=1e-6)


# ---- models


def test_vehicles_on_terrains_that_vary(tmp_path):
    """The same as without a study: vehicle and terrain of bc, run by simulate(), measured by
    hand."""
    study = {
        "name": "roads",
        "model": {
            "vehicle": "motorcycle",
            "arguments": {"model": 1},
            "terrain": {"kind": "iso8608", "length": 40, "spacing": 0.5},
        },
        "run": {"backend": "python", "t_end": 0.05, "step": 0.005},
        "parameters": {"g": 9.81},
        "initial": {"u(frame)": "v"},
        "grid": {
            "terrain.seed": [1, 2],
            "terrain.road": ["E"],
            "v": [12.0],
            "model.rim": [1.5, -1],
        },
        "metrics": {
            "load": {"kind": "max", "of": "rear.tyre_load"},
            "x": {"kind": "final", "of": "q(frame)"},
        },
    }
    result = run(study, tmp_path)
    for row in result.rows:
        if row.values["model.rim"] < 0:
            assert "the mass must be positive" in row.ended
            continue
        ground = bc.vehicles.terrain.iso8608(
            "E", seed=row.values["terrain.seed"], length=40, spacing=0.5
        )
        sim = (
            bc.vehicles.motorcycle(model=1, rim=1.5, terrain=ground)
            .equations()
            .compile(backend="python")
        )
        direct = sim.simulate(
            t_end=0.05, step=0.005, parameters={"g": 9.81}, initial={"u(frame)": 12.0}
        )
        assert row.metrics["load"] == direct["rear.tyre_load"].max()
        assert row.metrics["x"] == direct["q(frame)"][-1]
    assert len({row.metrics["load"] for row in result.rows if row.finished}) == 2


def test_inputs_and_added_channels(tmp_path):
    """A force of size f from 0.1 s on, on a mass of 1 kg: x = f (t - 0.1)^2/2."""
    model = tmp_path / "pushed.py"
    model.write_text(
        "import bellcrank as bc\n\ndef model():\n    s = bc.System('pushed')\n    b = "
        "s.add_body('b', translate=1, mass=1, inertia=0)\n"
        "    s.add_input('push', units='F')\n    s.add_force('f', magnitude='push', "
        "direction=s.inertial[1], at=b.origin)\n    return s\n",
        encoding="utf-8",
    )
    study = {
        "model": {"file": "pushed.py"},
        "run": {"backend": "python", "t_end": 0.5, "step": 0.01},
        "inputs": {"push": {"step": {"at": 0.1, "height": "f"}}},
        "outputs": {
            "acc": {
                "formula": "dot(dxdt(vel(b.origin)), [n1])",
                "units": "L/T**2",
                "label": "acceleration",
            }
        },
        "grid": {"f": [2, 3]},
        "metrics": {"x": {"kind": "final", "of": "q(b)"}, "a": {"kind": "max", "of": "acc"}},
    }
    result = bc.Study.read(study, folder=tmp_path).run(tmp_path / "r", in_process=True)
    assert result["x"] == pytest.approx([0.16, 0.24])
    assert result["a"] == pytest.approx([2, 3])
    assert result.units["a"] == "m/s2"
    with pytest.raises(bc.ModelError, match="no value is given for the input 'push'"):
        bc.Study.read({**study, "inputs": {}, "grid": {"q(b)": [0]}}, folder=tmp_path)


@pytest.mark.filterwarnings("ignore::bellcrank.ModelWarning")
def test_decks(tmp_path):
    deck = Path(bc.__file__).parents[2] / "examples" / "decks" / "passenger_car.lsp"
    study = {
        "model": {"file": str(deck)},
        "run": {"backend": "python", "t_end": 0.2, "step": 0.025},
        "grid": {"speed": [600, 1200]},
        "metrics": {"lateral": {"kind": "peak", "of": "Ay"}},
    }
    result = run(study, tmp_path)
    assert not result.failed
    assert result["lateral"][0] < result["lateral"][1]


def test_a_worker_of_another_version_refuses(tmp_path):
    with pytest.raises(bc.RunError, match=r"has Bellcrank .*, the study comes from 0\.0\.1"):
        do_task({"bellcrank": "0.0.1"}, [], str(tmp_path), "", 1.0)


def test_the_bar():
    bar = ProgressBar("mass")
    bar.set_counts(10, 40, 0)
    bar.set_counts(20, 40, 1)
    assert bar.status_line(5.0) == f"mass [{'#' * 14}{'.' * 14}] 20/40, 1 failed, 5 s, 10 s left"


# ---- who runs it


def test_one_process_at_a_time(tmp_path):
    with StudyStore(tmp_path), pytest.raises(bc.RunError, match="another process runs a study in"):
        run(mass(), tmp_path)
    assert run(mass(), tmp_path).made == 3


def test_a_cluster_needs_dask(tmp_path, monkeypatch):
    monkeypatch.setattr("bellcrank.study.dask_team.importlib.util.find_spec", lambda name: None)
    with pytest.raises(bc.RunError, match="needs the packages dask and distributed"):
        bc.Study.read(mass()).run(tmp_path / "other", scheduler="tcp://127.0.0.1:1")


PLANTED = """
import pathlib
pathlib.Path(__file__).with_name("executed").write_text(__name__)
raise SystemExit(77)
"""


def test_workers_look_for_modules_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(("", ".", str(tmp_path), "/elsewhere")))
    assert repr(str(tmp_path)) not in local_team._worker_program()
    assert local_team._worker_environment()["PYTHONPATH"] == "/elsewhere"
    assert local_team._worker_environment()["PYTHONSAFEPATH"] == "1"


@pytest.mark.campaign
def test_nothing_is_imported_from_the_working_directory(tmp_path):
    """Workers took any module of the folder in which a study was started for one of Python's;
    nothing but data is there, wherever the study comes from."""
    for name in (
        "asyncio",
        "pickle",
        "json",
        "queue",
        "threading",
        "site",
        "sitecustomize",
        "distributed",
        "numpy",
    ):
        (tmp_path / f"{name}.py").write_text(PLANTED, encoding="utf-8")
    (tmp_path / "s.toml").write_text(toml(mass()), encoding="utf-8")
    command = [
        sys.executable,
        "-P",
        "-m",
        "bellcrank",
        "study",
        "s.toml",
        "--allow-outside",
        "--workers",
        "1",
        "--no-plots",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x", "127.0.0.1"])
def test_unreachable_scheduler(tmp_path, address):
    pytest.importorskip("distributed")
    with pytest.raises(bc.RunError, match=f"no Dask scheduler answers at {address} within"):
        bc.Study.read(mass()).run(tmp_path, scheduler=address, timeout=0.5)


def test_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(bc.RunError, match="results cannot be kept in"):
        run(mass(), tmp_path / "file")


# ---- command line


def command(*arguments):
    return cli.main(["study", "--allow-outside", *(str(a) for a in arguments)])


def test_command(tmp_path, capsys):
    file = tmp_path / "mass.toml"
    file.write_text(toml(mass(grid={"k": [1, 4, -1e9]})), encoding="utf-8")
    assert command(file, "--check") == 0
    assert capsys.readouterr().out == "mass: 3 runs of marked.py, nothing wrong\n"
    options = (
        "--out",
        tmp_path / "r",
        "--in-process",
        "--table",
        tmp_path / "rows.parquet",
        "--format",
        "svg",
    )
    assert command(file, *options) == 0
    out = capsys.readouterr().out
    assert "3 made, 0 found" in out
    assert "1 failed" in out
    assert f"{end(4):.5g}" in out
    assert "failed: k = -1e+09: " in out
    assert {p.name for p in (tmp_path / "r").iterdir()} >= {"table.csv", "end.svg", "fastest.svg"}
    assert (tmp_path / "rows.parquet").exists()


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (
            {"metrics": {"a": {"kind": "comfort", "of": "q(mass)"}}},
            (),
            "the metric 'comfort' is not known",
        ),
        (
            {"grid": {"stiffness": [1]}},
            (),
            "no parameter 'stiffness', and no formula uses it. Parameters: k.",
        ),
        ({}, ("--table", "x.xls"), "ends in .csv or .parquet or .json"),
        ({}, ("--in-process", "--workers", "2"), "takes neither a scheduler nor workers"),
    ],
)
def test_mistakes_are_told_without_traceback(
    tmp_path, capsys, monkeypatch, change, options, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(toml(mass(**change)), encoding="utf-8")
    assert command("s.toml", *options) == 1
    told = capsys.readouterr().err
    assert message in told
    assert "Traceback" not in told


COMPILING = """
import sys
from pathlib import Path
from types import SimpleNamespace
from bellcrank.simulation.backend.cache import get_or_make_file
from bellcrank.simulation.backend.processes import run_program
from bellcrank.study import worker_process

def work(folder):
    def make(build):
        Path(folder, "begun").touch()
        run_program(["sleep", "60"], None, build)
    get_or_make_file("key", make, Path(folder))

sys.modules["bellcrank.study.worker"] = SimpleNamespace(task_error_message=str, do_task=work)
worker_process.main()
"""


@pytest.mark.campaign
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_worker_that_ends_while_it_compiles_leaves_nothing(tmp_path):
    """The study that started it was interrupted or killed: its pipe is closed."""
    worker = subprocess.Popen(
        [sys.executable, "-c", COMPILING], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    pickle.dump((str(tmp_path),), worker.stdin)
    worker.stdin.flush()
    while not (tmp_path / "begun").exists():
        assert worker.poll() is None
        time.sleep(0.005)
    worker.stdin.close()
    assert worker.wait(10) == 0
    assert [p.name for p in tmp_path.iterdir()] == ["begun"]


def test_no_process_is_left():
    assert not multiprocessing.active_children()


@needs_compiler
def test_runs_at_once_are_those_one_by_one(tmp_path, monkeypatch):
    """Records to the bit, with notes: of runs that finish, are doubtful, stop, or cannot begin,
    with several settings."""
    study = {
        "name": "cars",
        "model": {"file": str(FOLDER / "quarter_car.py")},
        "run": {"t_end": 0.2, "step": 0.002, "output_every": 1},
        "parameters": {"w": "1/(k - 5e3)"},
        "initial": {"u(body)": "w - w"},
        "inputs": {"z_road": {"step": {"at": "delay", "height": 0.02}}},
        "grid": {
            "k": [1e4, 5e3, 2e4],
            "c": [1000, 3e5, -1e9],
            "delay": [0.0, 0.0305],
            "run.t_end": [0.2, 0.1],
        },
        "metrics": {"az": {"kind": "wk", "of": "az"}, "z": {"kind": "peak", "of": "q(body)"}},
    }
    at_once = []
    original = StudyRunner.run_jobs
    seconds, cpu = count(), count(0, 0.0001)  # clocks that are read once for each segment
    clocks = {"perf_counter": lambda: next(seconds), "process_time": lambda: next(cpu)}
    monkeypatch.setattr("bellcrank.study.runner.time", SimpleNamespace(**clocks))

    def counted(self, *given):
        found = original(self, *given)
        at_once.append(len(found))
        assert {r["seconds"] for r in found} <= {1, 1 / len(found)}  # by itself, or a share
        return found

    monkeypatch.setattr(StudyRunner, "run_jobs", counted)
    run(study, tmp_path / "some")
    assert max(at_once) > 3
    monkeypatch.setattr(StudyRunner, "run_jobs", lambda self, jobs, *_: [self.run_job(jobs[0])])
    run(study, tmp_path / "alone")
    some, alone = (RecordReader(tmp_path / name).read_new() for name in ("some", "alone"))
    assert len(some) == 36
    for key, record in alone.items():
        assert all(
            some[key][name] == record[name] for name in ("values", "metrics", "ended", "notes")
        )
    told = {r["ended"].split(":")[0].split(" at ")[0] for r in alone.values()}
    assert {"finished", "stopped"} <= told
    assert any(r["notes"] for r in alone.values() if r["ended"] == "finished")


def test_as_many_runs_go_at_once_as_take_a_moment(monkeypatch):
    """By the time of a core that the last ones took; one run before that is known."""
    asked, clock = [], count(3.0, 0.125)
    clocks = {"perf_counter": lambda: 0.0, "process_time": lambda: next(clock)}
    monkeypatch.setattr("bellcrank.study.runner.time", SimpleNamespace(**clocks))
    runner = object.__new__(StudyRunner)
    runner._cpu, runner.interface, runner.sim = math.inf, None, None
    runner._batchable_jobs = lambda jobs, most: asked.append(most) or ([], [], None)
    jobs = [{"run": {}, "metrics": []}] * 9  # of a model that cannot run
    for seconds, threads in ((10.0, 4), (0.25, 2), (1.1, 1), (5.0, 1)):
        (record,) = runner.run_jobs(jobs, seconds, threads)
        assert record["ended"].startswith("AttributeError")
    assert asked == [0, 4, 8, 9]


def test_a_worker_keeps_its_pipes_for_itself(tmp_path):
    """What the code of a model prints goes elsewhere."""
    there, here = os.pipe()
    elsewhere = tmp_path / "elsewhere"
    with _take_over_stream(here, "wb", os.open(elsewhere, os.O_CREAT | os.O_WRONLY)) as own:
        os.write(here, b"printed")
        own.write(b"answer")
    os.close(here)
    assert (os.read(there, 100), elsewhere.read_bytes()) == (b"answer", b"printed")
    os.close(there)


def test_a_shipped_example_is_a_model_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = {
        "name": "far",
        "model": {"file": "examples/quarter_car.py"},
        "run": {"t_end": 0.02, "step": 0.001},
        "grid": {"k": [16800, 20000]},
        "metrics": {"top": {"kind": "max", "of": "travel"}},
    }
    result = bc.Study.read(plan).run("far", in_process=True)
    assert len(result.rows) == 2 and not result.failed


def test_a_result_shows_why_the_first_run_failed(tmp_path):
    plan = {
        "name": "far",
        "model": {"file": "examples/quarter_car.py"},
        "run": {"t_end": 0.02, "step": 0.001},
        "grid": {"k": [16800, -1e300]},
        "metrics": {"top": {"kind": "max", "of": "travel"}},
    }
    shown = repr(bc.Study.read(plan).run(tmp_path / "far", in_process=True))
    assert shown.startswith("StudyResult('far': 2 rows, 1 failed, the first: ")
