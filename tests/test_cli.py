"""The command `bellcrank`: what it prints, what it writes, and its exit codes."""

import csv
import json
import re
import shlex
import subprocess
import sys
import time
from argparse import SUPPRESS
from importlib import import_module
from pathlib import Path
from runpy import run_path

import pytest

from bellcrank import cli
from bellcrank.cli.analyse import parse_frequencies
from bellcrank.cli.main import COMMANDS, GROUPS, make_parser
from bellcrank.cli.options import parse_argument
from bellcrank.cli.progress import ProgressReporter
from bellcrank.vehicles import car_names

EXAMPLES = Path(__file__).parents[1] / "examples"
QUARTER_CAR = str(EXAMPLES / "quarter_car.py")
PASSENGER_CAR = str(EXAMPLES / "passenger_car.py")
CHAIN = str(EXAMPLES / "n_link_chain.py")


def bellcrank(*arguments):
    """The exit code, also when argparse leaves by itself."""
    try:
        return cli.main([str(a) for a in arguments])
    except SystemExit as leaving:
        return leaving.code


def run(*arguments):
    return bellcrank("run", *arguments, "--backend", "python")


# ---- run


def test_run_tells_sizes_speed_and_last_values(capsys):
    assert run(PASSENGER_CAR) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Passenger car: 2 bodies, 4 coordinates, 3 degrees of freedom"
    assert [line.split()[0] for line in lines[1:7]] == [
        "operations",
        "derived",
        "compiled",
        "run",
        "speed",
        "ended",
    ]
    assert "80 steps of 0.025 s, rk2, to t = 2 s" in lines[4]
    (yaw,) = (line for line in lines if line.startswith("  r "))
    assert yaw.split()[1:] == ["6.17175", "deg/s", "Yaw", "Rate"]
    columns = {line.index(unit) for line in lines for unit in ("deg/s", "in-lb  ") if unit in line}
    assert len(columns) == 1  # units stand under each other


def test_run_prints_json(capsys):
    assert run(PASSENGER_CAR, "--json") == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["final"]["Ay"]["value"] == pytest.approx(0.2695, abs=1e-4)
    assert figures["final"]["Ay"]["unit"] == "g's"
    assert (figures["steps"], figures["backend"], figures["ended"]) == (80, "python", "finished")


def test_run_writes_channels_and_picture(tmp_path, capsys):
    table, picture = tmp_path / "new" / "car.csv", tmp_path / "car.png"
    assert run(PASSENGER_CAR, "--out", table, "--plot", picture) == 0
    rows = list(csv.reader(table.read_text(encoding="utf-8").splitlines()))
    assert rows[0][:2] == ["t", "q(nrb, 1)"]
    assert rows[1][0] == "s"
    assert len(rows) == 2 + 41
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"wrote       {table}" in capsys.readouterr().out


def test_options_reach_the_run(capsys):
    options = [
        "--set",
        "k=20000",
        "--set",
        "c=0",
        "--initial",
        "q(body)=0.01",
        "--initial",
        "u(body) = 1e-3",
    ]
    assert (
        run(QUARTER_CAR, *options, "--t-end", 0.25, "--step", 0.005, "--method", "rk2", "--json")
        == 0
    )
    figures = json.loads(capsys.readouterr().out)
    assert (figures["steps"], figures["method"], figures["t_end"]) == (50, "rk2", 0.25)
    assert figures["final"]["travel"]["value"] != 0


def test_arguments_of_the_model(capsys):
    assert bellcrank("count", CHAIN, "--arg", "n=3", "--json") == 0
    assert json.loads(capsys.readouterr().out)["coordinates"] == 3


def test_inputs_from_a_file(tmp_path, capsys):
    road = tmp_path / "road.csv"
    road.write_text("t,z_road,other\ns,m,\n0,0,1\n0.1,0.05,1\n1,0.05,1\n", encoding="utf-8")
    assert run(QUARTER_CAR, "--input", road, "--t-end", 1, "--json") == 0
    captured = capsys.readouterr()
    from_file = json.loads(captured.out)["final"]["travel"]["value"]
    assert "warning" in captured.err
    assert "'other' is no input" in captured.err
    assert run(QUARTER_CAR, "--t-end", 1, "--json") == 0
    assert json.loads(capsys.readouterr().out)["final"]["travel"]["value"] != pytest.approx(
        from_file
    )


def test_logs_with_units_in_brackets_semicolons_and_decimal_commas(tmp_path, capsys):
    log, plain, picture = (tmp_path / name for name in ("log.csv", "plain.csv", "log.svg"))
    log.write_text("time;z_road;\n[ms];[m];\n0;0;\n100;0,05;\n1000;0,05;\n", encoding="utf-8")
    plain.write_text("t,z_road\n0,0\n0.1,0.05\n1,0.05\n", encoding="utf-8")
    found = []
    for path in (log, plain):
        assert run(QUARTER_CAR, "--input", path, "--t-end", 1, "--json") == 0
        found.append(json.loads(capsys.readouterr().out)["final"])
    assert found[0] == found[1]
    assert bellcrank("plot", log, "z_road", "--out", picture) == 0
    assert "z_road" in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "t,road\n0,0\n1,1\n",
            "no column is an input of the model. Columns: t, road; inputs: z_road",
        ),
        ("t,z_road\n0,0\n1,high\n", "line 3, column 'z_road': 'high' is not a number"),
        ("t,z_road\ns,mm\n0,0\n1,1\n", "'z_road' is in mm, but the model takes it in m"),
        ("t,z_road\n0,0\n0.5,0\n", "z_road"),  # shorter than the run
        ("t,z_road\n1,0\n0,0\n", "z_road"),
        ("", "numbers are needed"),
    ],
)
def test_bad_input_file(tmp_path, capsys, text, message):
    road = tmp_path / "road.csv"
    road.write_text(text, encoding="utf-8")
    assert run(QUARTER_CAR, "--input", road) == 1
    assert message in capsys.readouterr().err


def test_run_that_ends_early_says_so_and_keeps_what_it_has(tmp_path, capsys):
    table = tmp_path / "car.csv"
    assert run(QUARTER_CAR, "--step", 0.05, "--t-end", 60, "--method", "euler", "--out", table) == 4
    assert "ended       stopped at t = " in capsys.readouterr().out
    assert len(table.read_text(encoding="utf-8").splitlines()) > 3


# ---- count, write, check


def test_count_prints_a_table(capsys):
    assert bellcrank("count", PASSENGER_CAR) == 0
    out = capsys.readouterr().out
    head, row = out.splitlines()[1:3]
    assert head.split() == ["add", "multiply", "divide", "function", "total"]
    numbers = [int(x) for x in row.split()[1:]]
    assert sum(numbers[:4]) == numbers[4]
    assert "classic rule: " in out
    assert "passes: formulation" in out


@pytest.mark.parametrize("language", ["c", "fortran", "python"])
def test_write_writes_source(tmp_path, capsys, language):
    assert bellcrank("write", QUARTER_CAR, "--language", language, "--out", tmp_path / "new") == 0
    path = Path(capsys.readouterr().out.splitlines()[-1].removeprefix("wrote "))
    assert path.parent == tmp_path / "new"
    assert "m_w" in path.read_text(encoding="utf-8")


def test_write_unknown_language(tmp_path, capsys):
    assert bellcrank("write", QUARTER_CAR, "--language", "cobol", "--out", tmp_path) == 1
    assert "'cobol' is not known" in capsys.readouterr().err


def test_check_passes(capsys):
    assert bellcrank("check", QUARTER_CAR, "--states", 3, "--backend", "python") == 0
    assert capsys.readouterr().out.startswith("quarter car: passed (3 random states, seed 0)")


def test_check_prints_json(capsys):
    assert (
        bellcrank("check", QUARTER_CAR, "--states", 2, "--seed", 5, "--backend", "python", "--json")
        == 0
    )
    report = json.loads(capsys.readouterr().out)
    assert (report["passed"], report["states"], report["seed"]) == (True, 2, 5)


def test_failed_check_has_its_own_exit_code(capsys, monkeypatch):
    monkeypatch.setattr("bellcrank.verify.state_checks.RESIDUAL", -1.0)
    assert bellcrank("check", QUARTER_CAR, "--states", 1, "--backend", "python") == 3
    assert "FAILED" in capsys.readouterr().out


# ---- errors


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["fly", QUARTER_CAR],
        ["run", QUARTER_CAR, "--set", "k"],
        ["run", QUARTER_CAR, "--set", "k=soft"],
        ["run", QUARTER_CAR, "--t-end", "soon"],
        ["run", QUARTER_CAR, "--arg", "3=n"],
        ["check", QUARTER_CAR, "--states", "0"],
        ["fmu", QUARTER_CAR, "--fmi", "4"],
    ],
)
def test_wrong_usage_is_reported_in_one_line(arguments, capsys):
    assert bellcrank(*arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    command = f"bellcrank {arguments[0]}" if arguments[0] in COMMANDS else "bellcrank"
    assert line.startswith(f"{command}: ")
    assert line.endswith(f" See {command} --help")


def test_a_command_that_is_misspelled(capsys):
    assert bellcrank("analyze", QUARTER_CAR) == 2
    assert "'analyze' is not a command. Did you mean 'analyse'?" in capsys.readouterr().err
    assert bellcrank("fly") == 2
    assert "Commands: examples, describe, count," in capsys.readouterr().err


def test_help_lists_all_commands_in_groups(capsys):
    assert bellcrank() == 2
    listed = capsys.readouterr().err
    assert bellcrank("--help") == 0
    assert capsys.readouterr().out == listed
    lines = listed.splitlines()
    for title, group in GROUPS.items():
        first = lines.index(f"{title}:") + 1
        assert [line.split()[0] for line in lines[first : first + len(group)]] == list(group)
    assert max(map(len, lines)) < 100


DEFAULT = re.compile(r"\(default: [^()]+\)$")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(name, capsys):
    """Groups, an example that can be read and names files that exist, and defaults in one form."""
    parser = make_parser(name)
    with pytest.raises(SystemExit):
        parser.parse_args([name, "--help"])
    shown = capsys.readouterr().out
    example = shlex.split(shown.split("example:\n  bellcrank ")[1])
    parser.parse_args(example)
    assert all(
        (EXAMPLES.parent / word).exists() for word in example if word.startswith("examples/")
    )
    if name == "car":
        assert example[example.index("--like") + 1] in car_names()
    (found,) = (a.choices[name] for a in parser._actions if isinstance(a.choices, dict))
    grouped = [
        g for g in found._action_groups if g.title not in ("positional arguments", "options")
    ]
    assert {a for g in grouped for a in g._group_actions} == {*found._actions}
    assert len({g.title for g in grouped}) == len(grouped)
    formatter = found._get_formatter()
    for action in found._actions:
        text = formatter._expand_help(action)
        assert ("default" in text) == bool(DEFAULT.search(text)), (action.option_strings, text)
        if isinstance(action.default, list):
            assert action.nargs == "+" or "(may be repeated)" in text, action.option_strings
        elif (
            action.default is not None
            and action.default is not False
            and action.default is not SUPPRESS
        ):
            value = DEFAULT.search(text).group()[len("(default: ") : -1]
            assert (
                action.type is parse_frequencies
                or value == str(action.default)
                or float(value) == action.default
            )


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("car new --like hmmwv my.toml", {"what": "new", "file": "my.toml", "like": "hmmwv"}),
        ("car --like hmmwv new my.toml", {"what": "new", "file": "my.toml", "like": "hmmwv"}),
        ("car new my.toml --like hmmwv", {"what": "new", "file": "my.toml", "like": "hmmwv"}),
        ("car new --like hmmwv", {"what": "new", "file": None, "like": "hmmwv"}),
        ("drive --speed 80 my.toml --json step", {"speed": 80.0, "words": ["my.toml", "step"]}),
        (
            "drive my.toml --speed -5 step sine",
            {"speed": -5.0, "words": ["my.toml", "step", "sine"]},
        ),
        ("kinematics --loads my.toml", {"suspension": "my.toml", "loads": ""}),
        ("kinematics --loads cases.toml my.toml", {"suspension": "my.toml", "loads": "cases.toml"}),
        (
            "kinematics --load my.toml --axle front",
            {"suspension": "my.toml", "loads": "", "axle": "front"},
        ),
        ("kinematics my.toml --loads", {"suspension": "my.toml", "loads": ""}),
        ("analyse --sensitivity k c car.py", {"model": "car.py", "sensitivity": ["k", "c"]}),
        ("analyse car.py --sensitivity k c", {"model": "car.py", "sensitivity": ["k", "c"]}),
        (
            "analyse --outputs az --sensitivity k car.py",
            {"outputs": ["az"], "sensitivity": ["k"], "model": "car.py"},
        ),
        (
            "analyse --outputs az car.py --sensitivity k",
            {"outputs": ["az"], "sensitivity": ["k"], "model": "car.py"},
        ),
    ],
)
def test_names_and_options_in_any_order(words, wanted):
    args = vars(make_parser(words.split()[0]).parse_args(words.split()))
    assert {name: args[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("kinematics --loads=my.toml", "required: SUSPENSION"),
        ("analyse --sensitivity k", "required: MODEL"),
        ("car nwe my.toml", "invalid choice: 'nwe'"),
        (
            "drive my.toml step --sped 80",
            "unrecognized arguments: --sped 80. Did you mean '--speed'?",
        ),
        ("car new a.toml b.toml", "unrecognized arguments: b.toml"),
    ],
)
def test_what_cannot_be_read_in_any_order(words, message, capsys):
    assert bellcrank(*words.split()) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--step", "-1"], "step=-1 s must be positive"),
        (["--t-end", "0.1", "--step", "1"], "larger than t_end"),
        (["--method", "rk5"], "method='rk5' is not known"),
        (["--initial", "q(wheeel)=1"], "Did you mean 'q(wheel)'"),
        (["--set", "k=nan"], "not a finite number"),
        (["--solve", "quickly"], "solve='quickly' is not known"),
        (["--arg", "n=3"], "takes no argument 'n'"),
        (["--input", "nothing.csv"], "nothing.csv: No such file"),
        (["--out", "car.xls"], "car.xls"),
        (["--out", "/proc/nothing/car.csv"], "/proc/nothing"),
    ],
)
def test_errors_of_the_user_are_told_without_traceback(arguments, message, capsys):
    assert run(QUARTER_CAR, *arguments) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize(
    ("arguments", "ending"),
    [
        (
            ["identify", QUARTER_CAR, "--log", "log.csv", "--fit", "k", "--report", "fit.pdf"],
            ".html or .htm",
        ),
        (["drive", "van", "iso4138", "--report", "van.pdf"], ".html or .htm"),
        (["report", QUARTER_CAR, "--out", "report.pdf"], ".html or .htm"),
        (["page", QUARTER_CAR, "--out", "page.pdf"], ".html"),
        (["fmu", QUARTER_CAR, "--out", "car.zip"], ".fmu"),
        (["kinematics", "macpherson", "--csv", "toe.xlsx"], ".csv"),
        (["kinematics", "macpherson", "--table", "toe.csv"], ".json"),
        (["tyre", "tyres/book_205_60R15.tir", "--table", "forces.txt"], ".csv"),
        (["motorcycle", "modes", "sport", "--out", "modes.json"], ".csv"),
    ],
)
def test_files_of_one_format_have_its_ending(arguments, ending, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert bellcrank(*arguments) in (1, 2)
    assert f"must end in {ending}" in capsys.readouterr().err.replace("\n", " ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "import bellcrank as bc\n\ndef model():\n    return bc.Sytem('x')\n",
            "line 4: AttributeError",
        ),
        ("def model(:\n    pass\n", "line 1: SyntaxError"),
        ("x = 3\n", "there is no function model()"),
    ],
)
def test_model_file_with_a_mistake(tmp_path, capsys, text, message):
    path = tmp_path / "mistake.py"
    path.write_text(text, encoding="utf-8")
    assert run(path) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert "mistake.py" in captured.err
    assert "Traceback" not in captured.err


def test_missing_file(capsys):
    assert run(EXAMPLES / "quarter_cat.py") == 1
    assert "Did you mean 'quarter_car.py'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n=32", 32),
        ("x=1e-3", 1e-3),
        ("small=true", True),
        ("name=a=b", "a=b"),
        ("n=__import__", "__import__"),
    ],
)
def test_arguments_are_read_not_executed(text, value):
    found = parse_argument(text)[1]
    assert (found, type(found)) == (value, type(value))


# ---- progress


class Terminal:
    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def watched(monkeypatch):
    """What a person at a terminal sees of standard error."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    return terminal


def test_progress_shows_after_a_second_and_only_to_a_person(monkeypatch):
    terminal = watched(monkeypatch)
    with ProgressReporter("working") as progress:
        progress.set_fraction(0.25)
        assert terminal.text == ""
        progress._done.wait(1.6)
    assert "working ... 25 %, 1 s" in terminal.text
    assert terminal.text.endswith("\r\x1b[K")


def test_the_innermost_progress_is_shown(monkeypatch):
    terminal = watched(monkeypatch)
    with ProgressReporter("outer") as outer:
        with ProgressReporter("inner") as inner:
            inner._done.wait(1.6)
        outer._done.wait(0.5)  # less than a second after the inner one
    assert "inner ... 1 s" in terminal.text and "outer" not in terminal.text


def test_every_command_shows_progress_which_its_output_replaces(monkeypatch):
    """Also one that reports nothing itself."""
    terminal, module = watched(monkeypatch), import_module("bellcrank.cli.tyre")

    def slow(args):
        time.sleep(1.6)
        print("a warning", file=sys.stderr)

    monkeypatch.setattr(module, "run_command", slow)
    assert cli.main(["tyre", "any.tir"]) == 0
    assert re.search(r"bellcrank tyre \.\.\. \d s\r\x1b\[Ka warning\n", terminal.text)


def test_module_can_be_run():
    done = subprocess.run(
        [sys.executable, "-m", "bellcrank", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("bellcrank ")


# ---- the demo and the figures


@pytest.mark.campaign
def test_demo_prints_the_table_and_writes_results(tmp_path, capsys):
    run_path(str(EXAMPLES / "demo.py"))["main"](tmp_path / "demo")
    out = capsys.readouterr().out
    (freedoms,) = (
        line.split() for line in out.splitlines() if line.startswith("degrees of freedom")
    )
    assert freedoms[-2:] == ["3", "3"]
    assert "speed against real time" in out and "inertia" not in out
    assert (tmp_path / "demo" / "passenger_car.csv").stat().st_size > 1000
    assert (tmp_path / "demo" / "passenger_car.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.campaign
def test_published_figures_are_drawn(tmp_path):
    run_path(str(EXAMPLES / "figures.py"))["main"](tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {
        "step_steer.png",
        "spacecraft_slew.png",
        "arm_settling.png",
    }


# ---- names, events, and what a model has


def test_misspelled_parameters_are_errors_with_near_names(capsys):
    assert run(QUARTER_CAR, "--set", "kt=3", "--set", "nothing=1") == 1
    told = capsys.readouterr().err
    assert "1. --set kt: the model has no such parameter. Did you mean 'k_t'?" in told
    assert "2. --set nothing: the model has no such parameter. Parameters: " in told
    assert bellcrank("check", QUARTER_CAR, "--set", "kt=3", "--states", "1") == 1
    assert "--set kt" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("run --set k=1 --set K=2", "parameters: 'k' and 'K' are the same"),
        (
            "run --initial q(body)=1 --initial q(body)=1",
            "argument --initial: 'q(body)' is given twice",
        ),
        ("run --arg n=1 --arg n=2", "argument --arg: 'n' is given twice"),
        ("run --atol 1e-6 --atol 1e-7", "argument --atol: a number for all states is given twice"),
        ("run --atol m=1e-6 --atol m=1e-7", "argument --atol: 'm' is given twice"),
        ("run --event up=az>1 --event up=az>2", "argument --event: 'up' is given twice"),
        (
            "run --event up=az>1 --stop up=az>2",
            "the event 'up' is given twice, by --event and by --stop",
        ),
        ("run --event up:az>1:k=1;k=2", "'up:az>1:k=1;k=2' sets k twice"),
        (
            "many --n 2 --vary k=uniform(1,2) --vary k=normal(1,2)",
            "argument --vary: 'k' is given twice",
        ),
        (
            "many --n 2 --vary k=uniform(1,2) --set K=3",
            "'k' varies from run to run by --vary, but has a fixed value",
        ),
        ("analyse --fixed k=1 --fixed k=2", "argument --fixed: 'k' is given twice"),
        ("page --slider k=1:2 --slider k=1:3", "argument --slider: 'k' is given twice"),
    ],
)
def test_what_is_given_twice_is_refused(capsys, words, told):
    command, *options = words.split()
    assert bellcrank(command, QUARTER_CAR, *options) in (1, 2)
    assert told in capsys.readouterr().err


def test_arguments_of_python_are_told_apart_by_capitals():
    args = make_parser("run").parse_args(["run", QUARTER_CAR, "--arg", "n=1", "--arg", "N=2"])
    assert args.arg == [("n", 1), ("N", 2)]


def test_a_run_goes_on_from_a_file(capsys, tmp_path):
    path = str(tmp_path / "first.csv")
    assert run(QUARTER_CAR, "--t-end", "1", "--out", path) == 0
    finals = []
    for options in (("--start", path, "--t-end", "1.5"), ("--t-end", "1.5")):
        capsys.readouterr()
        assert run(QUARTER_CAR, *options, "--json") == 0
        finals.append(json.loads(capsys.readouterr().out))
    on, whole = finals
    assert on["steps"] == 500 and whole["steps"] == 1500
    assert on["final"]["az"]["value"] == pytest.approx(whole["final"]["az"]["value"], rel=1e-9)
    assert run(QUARTER_CAR, "--start", path, "--initial", "q(body)=1") == 1
    assert "initial= and start=" in capsys.readouterr().err


def test_events_act(capsys):
    acts = "soft: z_road > 0.01: c = 500; u(body) = 0"
    assert bellcrank("run", QUARTER_CAR, "--event", acts, "--t-end", "0.6", "--json") == 0
    (told,) = json.loads(capsys.readouterr().out)["events"]
    assert (
        told.startswith("soft at t = 0.5 s: c ")
        and told.endswith("m/s")
        and "-> 500 N-s/m, u(body)" in told
    )
    assert run(QUARTER_CAR, "--event", "soft: z_road > 0.01: c") == 2
    assert "is not like" in capsys.readouterr().err


def test_events_are_told_and_stop_the_run(capsys):
    """The road rises at 0.5 s; the tyre load falls below 3 kN while the wheel swings back."""
    assert (
        bellcrank(
            "run", QUARTER_CAR, "--event", "bump=z_road > 0.01", "--stop", "fz < 3000", "--json"
        )
        == 4
    )
    figures = json.loads(capsys.readouterr().out)
    assert figures["events"][0] == "bump at t = 0.5 s"
    assert figures["ended"] == f"stopped by event 'fz < 3000' at t = {figures['reached']:.6g} s"
    assert figures["final"]["fz"]["value"] == pytest.approx(3000, abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check", QUARTER_CAR, "--seed", "-1"), "-1 must be at least 0"),
        (("check", QUARTER_CAR, "--seed", "x"), "'x' is not a whole number"),
        (("run", QUARTER_CAR, "--output-every", "0"), "0 must be at least 1"),
    ],
)
def test_numbers_out_of_range_are_wrong_usage(arguments, message, capsys):
    assert bellcrank(*arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--step", "1e-300"), "step=1e-300 s is too small for t_end=3 s"),
        (("--plot", "x.foo"), "cannot draw"),
        (("--event", "up=nothing - 1"), "event 'up': no channel or parameter is called 'nothing'"),
        (("--set", "m_b=-1"), "the mass of body 'body' is negative: m_b = -1"),
    ],
)
def test_wrong_values_of_a_run(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(QUARTER_CAR, *arguments) == 1
    assert message in capsys.readouterr().err


def test_describe_lists_what_can_be_set_and_seen(capsys):
    assert bellcrank("describe", QUARTER_CAR) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "quarter car (mks)"
    assert any(
        x.split()[:4] == ["k_t", "190000", "N/m", "190000"] and x.endswith("tyre stiffness")
        for x in lines
    )
    assert "  z_road       m        road height" in lines
    assert [x.split(" (")[0] for x in lines[1:] if not x.startswith(" ")] == [
        "parameters",
        "inputs",
        "states",
        "outputs",
    ]
    assert any(x.split()[:2] == ["fz", "N"] for x in lines)


def test_one_is_singular(capsys, tmp_path):
    file = tmp_path / "one.py"
    file.write_text(
        "import bellcrank as bc\ndef model():\n    s = bc.System('one')\n    "
        "s.add_body('b', rotate=3, mass=1, inertia=(1, 1, 1))\n    return s\n"
    )
    assert bellcrank("count", file) == 0
    assert capsys.readouterr().out.startswith("one: 1 body, 1 coordinate, 1 degree of freedom\n")


def test_progress_tells_how_many_seconds_are_left():
    progress = ProgressReporter("running")
    assert progress.status_line(10.0) == "running ... 10 s"
    progress.set_fraction(0.25)
    assert progress.status_line(10.0) == "running ... 25 %, 10 s, 30 s left"
