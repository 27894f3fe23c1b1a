"""Result files are whole or as they were before; words of users stay words in them; bad files are
reported, not traced."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.analysis.tables import write_csv
from bellcrank.cli import main
from bellcrank.core.files import atomic, format_choice
from bellcrank.core.files.atomic import (
    AtomicWrite,
    defer_signals,
    write_folder,
    write_text,
    write_texts,
)
from bellcrank.core.files.figure_files import new_figure, save_figure
from bellcrank.core.files.record import FileChannel, Record, Table, TableColumn
from bellcrank.core.files.text_files import to_one_line
from bellcrank.simulation.backend.compiler import find_compiler
from bellcrank.study.store import StudyStore
from bellcrank.verify.report_page import write_report
from tests.core.files.formats import FORMATS, marks
from tests.models import pendulum
from tests.programs import SKIPPED, build

try:
    import resource
except ImportError:
    resource = None

BEFORE = b"what stood here before"
needs_limits = pytest.mark.skipif(resource is None, reason="no limits of file sizes here")


def record(samples=200, label="a label"):
    t = np.linspace(0, 1, samples)
    return Record(
        "title",
        t,
        (FileChannel("a", np.sin(t), "m", label), FileChannel("b", np.cos(t), "m", label)),
    )


def table():
    return Table(
        "title",
        (TableColumn("a", [0.1 * i for i in range(500)], "m"), TableColumn("how", ["well"] * 500)),
    )


def picture(path):
    figure = new_figure(3, 2)
    figure.subplots().plot(np.random.default_rng(1).normal(size=300))
    save_figure(figure, path)


def page(path):
    run = pendulum().equations().compile(backend="python").simulate(t_end=0.5)
    run.plot(path=path)


def programs(path):
    pendulum().equations().export(path.stem, path.parent)


WRITERS = {
    **{
        f"r{ending}": lambda p: format_choice.write_record(p, record())
        for ending in format_choice.FORMATS
    },
    **{
        f"t{ending}": lambda p: format_choice.write_table(p, table())
        for ending in format_choice.TABLES
    },
    "binary.erd": lambda p: format_choice.write_record(p, record(), binary=True),
    "classic.erd": lambda p: format_choice.write_record(p, record(), classic=True),
    "p.png": picture,
    "page.html": page,
    "modes.csv": lambda p: write_csv(p, ["a"], [[0.1]] * 1000),
    "text.txt": lambda p: write_text(p, "x" * 5000),
}  # of each: more than 2,000 bytes


@contextmanager
def full_disk(size):
    """Files cannot grow past a size: a real write fails in its midst, in C as in Python."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    sys.dont_write_bytecode = (
        True  # Python would keep what was cut short of it, and stumble over it from then on
    )
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = False


@needs_limits
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            n, marks=marks(getattr(format_choice.FORMATS.get(Path(n).suffix), "package", ""))
        )
        for n in WRITERS
    ],
)
def test_a_disk_that_fills_up_leaves_what_stood_there(name, tmp_path):
    """CSV, ERD and NetCDF files were left cut short under their final names."""
    place = tmp_path / name
    place.write_bytes(BEFORE)
    with full_disk(1000), pytest.raises(bc.RunError if name != "text.txt" else OSError):
        WRITERS[name](place)
    assert place.read_bytes() == BEFORE
    assert os.listdir(tmp_path) == [name]
    WRITERS[name](place)
    assert place.read_bytes() != BEFORE
    beside = {"binary.erd": [name + ".bin"], "classic.erd": [name + ".BIN"]}.get(name, [])
    assert sorted(os.listdir(tmp_path)) == sorted([name, *beside])


class Interrupting(list):
    """Values of a column in the midst of which somebody presses Ctrl-C."""

    def __iter__(self):
        for i, x in enumerate(super().__iter__()):
            if i == 300:
                raise KeyboardInterrupt
            yield x


@pytest.mark.parametrize("ending", format_choice.TABLES)
def test_an_interrupt_leaves_what_stood_there(ending, tmp_path):
    place = tmp_path / f"t{ending}"
    place.write_bytes(BEFORE)
    with pytest.raises(KeyboardInterrupt):
        format_choice.write_table(
            place, Table("t", (TableColumn("a", Interrupting(table().columns[0].values)),))
        )
    assert place.read_bytes() == BEFORE and os.listdir(tmp_path) == [place.name]


@needs_limits
@pytest.mark.parametrize("language", ["c", "fortran", "python"])
def test_a_program_is_written_whole(language, tmp_path):
    eom = pendulum().equations()
    with full_disk(3000), pytest.raises(bc.BuildError, match="cannot write"):
        eom.export(language, tmp_path / "new")
    assert os.listdir(tmp_path) == []
    eom.export(language, tmp_path / "new")
    before = {p: p.read_bytes() for p in (tmp_path / "new").rglob("*") if p.is_file()}
    with full_disk(3000), pytest.raises(bc.BuildError, match="cannot write"):
        eom.export(language, tmp_path / "new")
    assert {p: p.read_bytes() for p in (tmp_path / "new").rglob("*") if p.is_file()} == before


def test_files_that_belong_together_change_together(tmp_path):
    """A header of an ERD file fits its data, a parameter file the files of its inputs."""
    a, b = tmp_path / "a", tmp_path / "b"
    write_texts({a: "1", b: "1"})
    with pytest.raises(KeyboardInterrupt), AtomicWrite() as parts:
        parts.path_for(a).write_text("2")
        parts.path_for(b).write_text("2")
        assert (a.read_text(), b.read_text()) == ("1", "1")
        raise KeyboardInterrupt
    assert (a.read_text(), b.read_text()) == ("1", "1") and sorted(os.listdir(tmp_path)) == [
        "a",
        "b",
    ]


def kill_at(step, write):
    """Runs a writer in a child that is killed at its n-th change of a folder; False if it ends
    before."""
    child = os.fork()
    if not child:
        steps = iter(range(1000))
        for name in ("replace", "unlink"):
            setattr(os, name, killed_at(step, steps, getattr(os, name)))
        write()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def killed_at(step, steps, change):
    def changed(*given, **options):
        if next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return change(*given, **options)

    return changed


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes by fork here")
LAYOUTS = [{}, {"binary": True}, {"classic": True}]


@needs_fork
@pytest.mark.parametrize("new", LAYOUTS, ids=str)
@pytest.mark.parametrize("old", LAYOUTS, ids=str)
def test_a_killed_writer_leaves_the_old_or_the_new_samples(old, new, tmp_path):
    """Header and samples of a binary ERD file take their places one after the other: a kill in
    between lost both results."""
    step, more = 0, True
    while more:
        folder = tmp_path / str(step)
        folder.mkdir()
        place = folder / "r.erd"
        format_choice.write_record(place, record(30), **old)
        more = kill_at(step, lambda p=place: format_choice.write_record(p, record(31), **new))
        left = len(format_choice.read_record(place).channels[0].values)
        assert left in (30, 31) if more else left == 31
        kill_at(0, lambda p=place: format_choice.write_record(p, record(32), **new))
        assert len(format_choice.read_record(place).channels[0].values) == left  # killed again
        format_choice.write_record(place, record(33), **new)
        assert len(format_choice.read_record(place).channels[0].values) == 33
        assert len(os.listdir(folder)) == (2 if new else 1)
        step += 1
    assert step > 1


def test_samples_of_another_header_are_not_read(tmp_path):
    place = tmp_path / "r.erd"
    format_choice.write_record(place, record(30), binary=True)
    samples = tmp_path / "r.erd.bin"
    samples.write_bytes(samples.read_bytes()[:-8] + bytes(8))
    with pytest.raises(bc.RunError, match="not those that its header was written with"):
        format_choice.read_record(place)
    text = place.read_text(encoding="utf-8").split("\n")
    place.write_text("\n".join(x for x in text if not x.startswith("DIGEST")), encoding="utf-8")
    assert len(format_choice.read_record(place).channels[0].values) == 30


@needs_fork
def test_a_folder_with_files_of_two_results_says_so(tmp_path):
    step, more = 0, True
    while more:
        folder = tmp_path / str(step)
        folder.mkdir()
        write_folder(folder, {"a": "old", "b": "old", "c": "old"})
        new = {"a": "new", "b": "new", "c": "new"}
        more = kill_at(step, lambda f=folder, texts=new: write_folder(f, texts))
        mixed = len({(folder / name).read_text() for name in new}) == 2
        assert (folder / atomic.UNFINISHED).exists() >= mixed
        write_folder(folder, new)
        assert sorted(os.listdir(folder)) == sorted(new)
        step += 1
    assert step > 3


def test_leavings_of_a_killed_process_are_used_up(tmp_path):
    part = tmp_path / ".a.txt.part"
    part.write_text("left by somebody who was killed")
    (tmp_path / ".folder.part").mkdir()
    (tmp_path / ".folder.part" / "left").write_text("")
    write_text(tmp_path / "a.txt", "whole")
    write_folder(tmp_path / "folder", {"x": "1", "inner/y": "2"})
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "folder"]
    assert sorted(os.listdir(tmp_path / "folder")) == ["inner", "x"]


def test_two_writers_of_one_file_do_not_meet(tmp_path):
    place = tmp_path / "a"
    with AtomicWrite() as one:
        first = one.path_for(place)
        with AtomicWrite() as two:
            second = two.path_for(place)
            assert first != second
            second.write_text("two")
        first.write_text("one")
    assert place.read_text() == "one" and os.listdir(tmp_path) == ["a"]


def test_links_modes_and_devices_are_kept(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("1")
    real.chmod(0o640)
    link.symlink_to(real)
    write_text(link, "2")
    assert link.is_symlink() and real.read_text() == "2" and real.stat().st_mode & 0o777 == 0o640
    write_text("/dev/null", "3")
    assert not Path("/dev/null").is_file()
    long = tmp_path / ("n" * 250)
    write_text(long, "4")
    assert long.read_text() == "4"


def test_a_foreign_file_in_the_way_is_not_written_to(tmp_path):
    """A hidden name may be a link that somebody laid."""
    trap = tmp_path / "trap"
    trap.write_text("mine")
    (tmp_path / ".a.part").symlink_to(trap)
    write_text(tmp_path / "a", "whole")
    assert trap.read_text() == "mine" and (tmp_path / "a").read_text() == "whole"


def test_an_interrupt_waits_for_a_few_renames():
    done = []
    with pytest.raises(KeyboardInterrupt), defer_signals():
        signal.raise_signal(signal.SIGINT)
        done.append("all of it")
    assert done and signal.getsignal(signal.SIGINT) is signal.default_int_handler


# ---- words


ODD = "rod\nkk 3000\r\ttab\x00nul\x1b[31m */ // ' \" & <b> % \\ \u2028 \ud800 end"


def named(label):
    system = pendulum()
    system.set_labels({name: label for name in list(system.equations().parameters)[:1]})
    system.add_output("twice", "2*q(1)", label=label, units="rad")
    return system


def test_a_label_is_one_line():
    assert to_one_line("rod\nkk 3000") == "rod kk 3000"
    assert to_one_line(ODD) == "rod kk 3000 tab nul [31m */ // ' \" & <b> % \\ end"
    assert to_one_line("Winkel \u03b1, \u00b5m") == "Winkel \u03b1, \u00b5m"


@pytest.mark.parametrize("language", ["c", "fortran", "python"])
def test_a_label_puts_no_line_into_programs_and_their_input(language, tmp_path):
    """`set_labels(m="rod\\nkk 3000")` wrote a line `kk 3000` into the parameter file, and the
    program ran with it."""
    eom = named(ODD).equations()
    plain = named("plain").equations()
    eom.export(language, tmp_path / "odd")
    plain.export(language, tmp_path / "plain")
    for path in (tmp_path / "plain").iterdir():
        if path.is_file():
            lines, odd = (p.read_bytes().split(b"\n") for p in (path, tmp_path / "odd" / path.name))
            assert b"\x00" not in b"\n".join(odd) and b"\r" not in b"\n".join(odd)
            if path.suffix == ".par":
                assert [line.split()[:1] for line in lines] == [line.split()[:1] for line in odd]
    if language == "python":
        for path in (tmp_path / "odd").glob("*.py"):
            compile(path.read_text("utf-8"), path.name, "exec")
    elif find_compiler() and shutil.which("gfortran"):
        command = find_compiler().command if language == "c" else ["gfortran"]
        made = subprocess.run(
            ["make", "-n", "-C", str(tmp_path / "odd")], capture_output=True, text=True, check=True
        )
        files = [w for w in made.stdout.split() if w.endswith((".c", ".f90"))]
        subprocess.run([*command, "-fsyntax-only", *files], cwd=tmp_path / "odd", check=True)


@pytest.mark.parametrize("ending", FORMATS)
def test_words_are_one_line_in_files_of_channels(ending, tmp_path):
    run = named(ODD).equations().compile(backend="python").simulate(t_end=0.1)
    path = run.save(tmp_path / f"r{ending}")
    again = bc.Run.read(path)
    assert list(again) == list(run) and np.array_equal(again["twice"], run["twice"])
    if ending != ".csv":
        assert again.labels["twice"] == f"{to_one_line(ODD)} (twice)"  # all have this label
    odd = Record(
        "t\nEND\n1 2",
        np.arange(3.0),
        (FileChannel("a\nb", np.arange(3.0), "m\nm", "l\nl", "g\0", "b\r"),),
        ("x\nEND",),
    )
    found = bc.Run.read(format_choice.write_record(tmp_path / f"odd{ending}", odd))
    assert list(found) == ["a b"] and found["a b"].tolist() == [0, 1, 2]


def test_names_with_line_ends_are_refused():
    for name in ("a\nb", "a\tb", "a\0b", "\ud800"):
        with pytest.raises(bc.ModelError, match="on one line"):
            pendulum().add_output(name, "1")
        with pytest.raises(bc.ModelError, match="on one line"):
            bc.System(name)


def test_greek_names_in_netcdf(tmp_path):
    """An output named with a Greek letter ended in a traceback of the NetCDF writer."""
    system = pendulum()
    system.add_output("\u03b1_front", "q(1)", units="rad", label="Winkel \u03b1")
    run = system.equations().compile(backend="python").simulate(t_end=0.1)
    again = bc.Run.read(run.save(tmp_path / "r.nc"))
    assert (
        np.array_equal(again["\u03b1_front"], run["\u03b1_front"])
        and again.labels["\u03b1_front"] == "Winkel \u03b1"
    )


def test_words_in_pages_are_words(tmp_path):
    run = (
        named("</script><script>alert(1)</script>")
        .equations()
        .compile(backend="python")
        .simulate(t_end=0.1)
    )
    run.plot("twice", path=tmp_path / "p.html")
    assert "alert(1)</script>" not in (tmp_path / "p.html").read_text("utf-8")
    write_report(named("<b>x</b>\0"), tmp_path / "r.html", states=0, run=False)
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "<b>x</b>" not in text and "\0" not in text


# ---- bad files and options


BAD = {
    "question.csv": b"?",
    "only_t.csv": b"t\n",
    "latin.csv": "t,z_road\n0,1\n1,2\u00e9\n".encode("latin-1"),
    "nul.csv": b"t,z_road\n0,\x001\n",
    "quote.csv": b't,z_road\n0,"1\n' + b"x" * 200_000,
    "digits.toml": b"x = " + b"9" * 5000,
    "deep.toml": b"x = " + b"[" * 100_000,
    "latin.toml": b"name = '\xe9'",
    "deep.json": b"[" * 200_000,
    "digits.json": b'{"channels": [' + b"9" * 5000 + b"]}",
    "short.nc": b"CDF\x01" + bytes(range(100)),
    "short.parquet": b"PAR1" + bytes(range(100)) + b"PAR1",
    "zero.par": b"PARSFILE\nPARSFILE /dev/zero\n",
    "self.par": b"PARSFILE\nPARSFILE self.par\n",
    "nul.py": b"x = 1\x00",
    "latin.py": b"x = '\xe9'",
    "memory.py": b"def model():\n    return bytearray(10**15)\n",
    "deep.lsp": b"(" * 50_000,
    "latin.lsp": b"(add-body \xe9)",
    "digits.al": b"DOF(" + b"9" * 5000 + b")",
    "power.al": "DOF(\u00b2)".encode(),
}
QUARTER = str(Path(__file__).parents[3] / "examples" / "quarter_car.py")
COMMANDS = [
    (["plot", "question.csv"], "the first column must be time, but it is '?'"),
    (["plot", "only_t.csv"], "nothing to draw"),
    (["plot", "deep.json"], "it is no JSON file (brackets within brackets, too many)"),
    (["plot", "digits.json"], "it is no JSON file (a number has thousands of digits)"),
    (["plot", "short.nc"], "no NetCDF file in classic format"),
    (["plot", "short.parquet"], "cannot read short.parquet"),
    (
        ["run", QUARTER, "--input", "latin.csv"],
        "its line 3 holds the byte 0xE9, which is not UTF-8; save it as UTF-8",
    ),
    (["run", QUARTER, "--input", "nul.csv"], "line 2, column 'z_road'"),
    (
        ["run", QUARTER, "--input", "quote.csv"],
        "cannot read quote.csv: field larger than field limit",
    ),
    (["run", QUARTER, "--pars", "zero.par"], "cannot read /dev/zero: it is larger than 100 MB"),
    (["run", QUARTER, "--pars", "self.par"], "more than 20 deep"),
    (
        ["run", QUARTER, "--method", "Radau", "--t-end", "1e9"],
        "GiB are available: use a larger output_every",
    ),
    (["run", QUARTER, "--event", "a=where(1, 2)"], "where(1, 2) has 2 arguments"),
    (["run", "nul.py"], "source code string cannot contain null bytes"),
    (["run", "latin.py"], "SyntaxError"),
    (["run", "memory.py"], "memory.py, line 2: MemoryError"),
    (["run", "deep.lsp"], "parentheses may be 50 deep"),
    (["run", "latin.lsp"], "its line 1 holds the byte 0xE9"),
    (["run", "digits.al"], "must be a whole number from 1 to 200"),
    (["run", "power.al"], "unexpected character"),
    (["kinematics", "digits.toml"], "not a TOML file: a number has thousands of digits"),
    (["kinematics", "deep.toml"], "not a TOML file: brackets within brackets"),
    (["study", "digits.toml"], "not a TOML file"),
    (["study", "latin.toml"], "its line 1 holds the byte 0xE9"),
]


@pytest.mark.parametrize(
    ("arguments", "words"), COMMANDS, ids=[f"{a[0]} {a[-1]}" for a, _ in COMMANDS]
)
def test_bad_files_and_options_are_told(arguments, words, tmp_path, monkeypatch, capsys):
    """Each of these ended in a traceback, or filled the memory."""
    monkeypatch.chdir(tmp_path)
    for name in arguments:
        if name in BAD:
            Path(name).write_bytes(BAD[name])
    assert main(arguments) == 1
    told = capsys.readouterr().err
    assert words in told and told.startswith("bellcrank: ")


@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le with mark"])
def test_inputs_in_the_codings_of_spreadsheets(coding, tmp_path):
    text = "t;z_road\r\n0;0\r\n5;0.1\r\n"
    data = b"\xff\xfe" + text.encode("utf-16-le") if "mark" in coding else text.encode(coding)
    (tmp_path / "i.csv").write_bytes(data)
    assert main(["run", QUARTER, "--t-end", "0.01", "--input", str(tmp_path / "i.csv")]) == 0


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 200_000,
        b'{"key": "K", "metrics": [1], "ended": "finished"}',
        b'{"key": "K", "metrics": {"a": "x"}, "ended": "finished"}',
        b'{"key": "K", "metrics": {"a": 1}, "ended": 3, "seconds": 1}',
        b'{"key": "K", "metrics": {"a": 1}, "ended": "finished"}',
        b'{"key": "K", "metrics": {"a": 1}, "ended": "finished", "seconds": 1, "notes": 5}',
        b"9" * 5000,
        b"\xff",
    ],
)
def test_records_of_a_study_that_are_none(line, tmp_path):
    """A record with metrics of the wrong type, or of brackets alone, ended every later start of the
    study."""
    (tmp_path / "runs").mkdir()
    good = b'{"key": "G", "metrics": {"a": 1, "b": null}, "ended": "finished", "seconds": 0.1, "notes": []}'
    (tmp_path / "runs" / "a.jsonl").write_bytes(line + b"\n" + good + b"\n")
    (tmp_path / "study.json").write_bytes(line)
    with StudyStore(tmp_path) as store:
        assert list(store.records()) == ["G"]
        assert not store.previous_job() or isinstance(store.previous_job(), dict)


def test_dollars_in_pictures_are_dollars(tmp_path):
    run = named(r"$\frac{").equations().compile(backend="python").simulate(t_end=0.1)
    run.plot("twice", path=tmp_path / "p.png")


WRITTEN = [
    pytest.param(
        x,
        marks=[
            pytest.mark.skipif(SKIPPED[x][0], reason=SKIPPED[x][1]),
            *([pytest.mark.campaign] * (x != "c")),
        ],
    )
    for x in ("c", "python")
]


@needs_limits
@pytest.mark.parametrize("language", WRITTEN)
def test_a_written_program_leaves_what_stood_there(language, tmp_path):
    """It emptied the results of the last run before it began."""
    program = build(pendulum().equations(), language, tmp_path / "program")
    stem = str(program.folder / program.stem)
    start = [sys.executable, f"{stem}.py"] if language == "python" else [stem]
    plain = language == "python"
    ways = (
        (["r.csv"],)
        if plain
        else (["r.erd"], ["r.csv"], ["r.erd", "--binary"], ["r.erd", "--classic"])
    )
    for i, options in enumerate(ways):
        folder = tmp_path / str(i)
        folder.mkdir()
        command = [
            *start,
            str(program.default),
            "--output",
            *options,
            *([] if plain else ["--echo", "e.echo"]),
        ]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        before = contents(folder)
        assert not [name for name in before if name.endswith(".part")]
        limited = ["sh", "-c", 'trap "" XFSZ; ulimit -f 1; exec "$@"', "sh", *command]
        done = subprocess.run(limited, cwd=folder, capture_output=True, text=True)
        assert done.returncode not in (0, 4) and "Traceback" not in done.stderr
        after = contents(folder)
        assert {n: t for n, t in after.items() if "echo" not in n and not n.endswith(".part")} == {
            n: t for n, t in before.items() if "echo" not in n
        }
        assert not [name for name in after if name.endswith(".part")]


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


@pytest.mark.parametrize("write", [write_text, lambda path, text: write_folder(path, {"a": text})])
def test_an_interrupt_while_a_hidden_file_is_made_leaves_none(tmp_path, monkeypatch, write):
    claimed = atomic._claim_temporary

    def interrupted(*given, **options):
        made = claimed(*given, **options)
        signal.raise_signal(signal.SIGINT)
        return made

    monkeypatch.setattr(atomic, "_claim_temporary", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "result", "text")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_in_the_way_of_a_hidden_file(tmp_path):
    """In a folder of several users anybody could stop the writing of a file: Invalid argument."""
    os.mkfifo(tmp_path / ".q.csv.part")
    write_text(tmp_path / "q.csv", "whole")
    assert (tmp_path / "q.csv").read_text() == "whole"
    assert sorted(os.listdir(tmp_path)) == [".q.csv.part", "q.csv"]
