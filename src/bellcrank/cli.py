"""The command `bellcrank`: run, count, write, check. Each command is one thin function over public names.

Exit codes: 0 fine, 1 an error of the user (told on stderr), 2 wrong usage, 3 a check failed, 4 a run ended early.
Only `main` turns errors into exit codes.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
import threading
import time
import traceback
import warnings
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import bellcrank as bc
from bellcrank.verify.check import check

FINE, USER_ERROR, USAGE, CHECK_FAILED, ENDED_EARLY, INTERRUPTED = 0, 1, 2, 3, 4, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    parser = make_parser()
    args = parser.parse_args(arguments)
    if args.command is None:
        parser.print_help(sys.stderr)
        return USAGE
    with warnings.catch_warnings():
        warnings.simplefilter("default", bc.ModelWarning)
        warnings.showwarning = _show_warning
        try:
            return int(args.command(args))
        except bc.BellcrankError as error:
            return _complain(str(error))
        except BrokenPipeError:  # the reader of our output went away
            sys.stderr.close()
            return USER_ERROR
        except OSError as error:
            return _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return INTERRUPTED


def _complain(message: str) -> int:
    print(f"bellcrank: {message}", file=sys.stderr)
    return USER_ERROR


def _show_warning(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
    print(f"warning: {message}", file=sys.stderr)


# ---- commands


def run_command(args: Namespace) -> int:
    """Run a simulation and tell how it went."""
    equations = derive(args)
    start = time.perf_counter()
    with Progress("compiling"):
        sim = equations.compile(**given(backend=args.backend))
    compiled = time.perf_counter()
    inputs = read_inputs(args.input, equations) if args.input else {}
    with Progress("running") as progress:
        started = time.perf_counter()
        run = sim.simulate(
            parameters=dict(args.set),
            initial=dict(args.initial),
            inputs=inputs,
            progress=progress.tell,
            **given(t_end=args.t_end, step=args.step, method=args.method, output_every=args.output_every),
        )
        seconds = time.perf_counter() - started
    if args.out:
        make_folder(args.out)
        run.save(args.out)
    if args.plot:
        make_folder(args.plot)
        run.plot(path=args.plot)
    figures = run_figures(equations, sim, run, compiled - start, seconds)
    print(json.dumps(figures, indent=2) if args.json else run_text(equations, sim, run, figures, args))
    return FINE if run.ended == "finished" else ENDED_EARLY


def count_command(args: Namespace) -> int:
    """Derive the equations of motion and count the operations of one evaluation."""
    equations = derive(args)
    count = equations.operation_count()
    if args.json:
        sizes = model_sizes(equations)
        print(json.dumps({**sizes, "operations": count, "passes": dict(equations.program.stages)}, indent=2))
        return FINE
    kinds = ("add", "multiply", "divide", "function", "total")
    rows = [["operations", *(str(count[k]) for k in kinds)]]
    if count["per_step"]["total"]:
        rows.append(["of them per step", *(str(count["per_step"][k]) for k in kinds)])
    classic = count["classic"]
    print(heading(equations))
    print(table(rows, ["", *kinds], "<" + ">" * len(kinds)))
    print(f"\nclassic rule: {classic['add']} add, {classic['muldiv']} multiply or divide, {classic['calls']} calls")
    if equations.program.stages:
        print("passes: " + ", ".join(f"{name} {total}" for name, total in equations.program.stages))
    print(derived_line(equations))
    return FINE


def write_command(args: Namespace) -> int:
    """Derive the equations of motion and write the simulation program as source."""
    equations = derive(args)
    path = equations.write(args.language, args.out or f"{Path(args.model).stem}_{args.language}")
    print(f"{equations.summary()}\nwrote {path}")
    return FINE


def check_command(args: Namespace) -> int:
    """Check the equations of motion against an independent numerical evaluation of the model."""
    system = load(args)
    with Progress("checking"):
        report = check(
            system, states=args.states, seed=args.seed, parameters=dict(args.set), backend=args.backend,
            **given(solve=args.solve),
        )  # fmt: skip
    print(report.to_json() if args.json else report)
    return FINE if report.passed else CHECK_FAILED


def load(args: Namespace) -> bc.System:
    """The model of a file. What its own code does wrong is told with the line, not with a traceback."""
    try:
        return bc.load_model(args.model, **dict(args.arg))
    except (bc.BellcrankError, OSError):
        raise
    except Exception as error:
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(Path(args.model))]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        place = f"{args.model}, line {line}" if line else args.model
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        raise bc.ModelError(f"{place}: {type(error).__name__}: {text}") from error


def derive(args: Namespace) -> bc.Equations:
    system = load(args)
    with Progress("deriving the equations of motion"):
        return system.equations(**given(solve=args.solve))


def given(**options: Any) -> dict[str, Any]:
    """The options that were given; the others keep the defaults of the functions they go to."""
    return {k: v for k, v in options.items() if v is not None}


# ---- what a person, or a program, reads


def model_sizes(equations: bc.Equations) -> dict[str, Any]:
    return {
        "model": equations.name,
        "bodies": len(equations.analysis.mechanism.bodies),
        "coordinates": len(equations.coordinates),
        "speeds": len(equations.independent_speeds),
        "derivation": equations.how,
        "derivation_seconds": sum(equations.seconds.values()),
    }


def run_figures(equations: bc.Equations, sim: Any, run: bc.Run, compiling: float, running: float) -> dict[str, Any]:
    """All figures of a run, ready for JSON."""
    reached = float(run.time[-1]) if len(run) else 0.0
    settings = run.settings
    names = list(equations.outputs) or list(run)
    fixed = settings["method"].lower() in ("rk2", "rk4", "euler")
    return {
        **model_sizes(equations),
        "operations": equations.operation_count(),
        "backend": sim.backend,
        "compile_seconds": compiling,
        "method": settings["method"],
        "step": settings["step"],
        "steps": round(reached / settings["step"]) if fixed else None,
        "t_end": settings["t_end"],
        "reached": reached,
        "run_seconds": running,
        "real_time_factor": reached / running if running > 0 else None,
        "ended": run.ended,
        "events": [str(e) for e in run.events],
        "final": {
            name: {
                "value": _number(run[name][-1]) if len(run) else None,
                "unit": run.units.get(name, ""),
                "label": run.labels.get(name, name),
            }
            for name in names
        },
    }


def run_text(equations: bc.Equations, sim: Any, run: bc.Run, figures: dict[str, Any], args: Namespace) -> str:
    """The summary of a run and the last value of every output."""
    f, c = figures, figures["operations"]
    steps = "" if f["steps"] is None else f"{f['steps']} steps of {f['step']:g} s, "
    factor = f["real_time_factor"]
    rows = [
        ["operations", f"{sum(c[k] for k in ('add', 'multiply', 'divide', 'function'))} ({operations_text(c)})"],
        ["derived", f"in {f['derivation_seconds']:.3g} s, {f['derivation']}"],
        ["compiled", f"in {f['compile_seconds']:.3g} s, {sim.notes[0] if sim.notes else sim.backend}"],
        ["run", f"{steps}{f['method']}, to t = {f['reached']:g} s in {f['run_seconds']:.3g} s"],
        ["speed", "-" if factor is None else f"{_plain(factor)} times real time"],
        ["ended", f["ended"]],
    ]
    rows += [["", note] for note in (*sim.notes[1:], *equations.notes, *f["events"])]
    rows += [["wrote", str(path)] for path in (args.out, args.plot) if path]
    final = [
        [name, "-" if x["value"] is None else f"{x['value']:.6g}", x["unit"], x["label"]]
        for name, x in f["final"].items()
    ]
    last = table(final, ["channel", f"at {f['reached']:g} s", "unit", ""], "<><<")
    return "\n".join([heading(equations), table(rows, None, "<<"), "", last])


def heading(equations: bc.Equations) -> str:
    s = model_sizes(equations)
    bodies = f"{s['bodies']} {'body' if s['bodies'] == 1 else 'bodies'}"
    return f"{s['model']}: {bodies}, {s['coordinates']} coordinates, {s['speeds']} degrees of freedom"


def derived_line(equations: bc.Equations) -> str:
    return f"derived by {equations.how} in {sum(equations.seconds.values()):.3g} s"


def operations_text(c: dict[str, Any]) -> str:
    return f"{c['add']} add, {c['multiply']} multiply, {c['divide']} divide, {c['function']} functions"


def table(rows: Sequence[Sequence[str]], head: Sequence[str] | None, align: str) -> str:
    """Aligned columns; `align` has < or > for each."""
    lines = ([head] if head else []) + list(rows)
    widths = [max((len(line[i]) for line in lines), default=0) for i in range(len(align))]
    shown = (
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(line, align, widths, strict=True))
        for line in lines
    )
    return "\n".join(f"  {line}".rstrip() for line in shown)


def _plain(x: float) -> str:
    """Three digits, never as a power of ten."""
    return f"{x:.3g}" if abs(x) < 1000 else f"{float(f'{x:.3g}'):,.0f}"


def _number(x: float) -> float | None:
    """A number that JSON knows."""
    return float(x) if math.isfinite(x) else None


class Progress:
    """Says on stderr what takes longer than a second, if a person is watching."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._share: float | None = None
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._shown = False

    def tell(self, share: float, *_: Any) -> None:
        """Takes note of the share done."""
        self._share = float(share)

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()
        return self

    def _show(self) -> None:
        start = time.perf_counter()
        wait = 1.0
        while not self._done.wait(wait):
            wait = 0.25
            share = "" if self._share is None else f" {100 * self._share:.0f} %,"
            sys.stderr.write(f"\r\x1b[K{self.what} ...{share} {time.perf_counter() - start:.0f} s")
            sys.stderr.flush()
            self._shown = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


# ---- files


def make_folder(path: str) -> None:
    """The folder a result goes to."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)


def read_inputs(path: str, equations: bc.Equations) -> dict[str, Any]:
    """Inputs from a CSV file: the first column is time in s, the others are named inputs in user units.

    A second line with units, as in the CSV files of runs, must agree with the model.
    """
    with open(path, newline="", encoding="utf-8-sig") as stream:
        text = stream.read()
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    rows = [row for row in csv.reader(text.splitlines(), delimiter=delimiter) if any(cell.strip() for cell in row)]
    if len(rows) < 2:
        raise bc.RunError(f"{path}: a line of names and lines of numbers are needed")
    names = [cell.strip() for cell in rows[0]]
    units, start = ([cell.strip() for cell in rows[1]], 2) if _words(rows[1]) else (None, 1)
    known = {n.lower(): n for n in equations.inputs if not n.startswith("dxdt(")}
    used = [i for i, name in enumerate(names) if i > 0 and name.lower() in known]
    if not used:
        wanted = ", ".join(known.values()) or "none"
        raise bc.RunError(f"{path}: no column is an input of the model. Columns: {', '.join(names)}; inputs: {wanted}.")
    for i in sorted(set(range(1, len(names))) - set(used)):
        warnings.warn(f"{path}: column '{names[i]}' is no input of the model", bc.ModelWarning, stacklevel=2)
    for i in used if units else []:
        expected = equations.quantities.unit[names[i].lower()].text
        if i < len(units or []) and units and units[i] not in (expected, ""):
            raise bc.RunError(f"{path}: '{names[i]}' is in {units[i]}, but the model takes it in {expected}")
    columns: dict[int, list[float]] = {i: [] for i in (0, *used)}
    for line, row in enumerate(rows[start:], start + 1):
        for i, column in columns.items():
            column.append(_cell(row, i, path, line, names[i]))
    return {known[names[i].lower()]: (columns[0], columns[i]) for i in used}


def _words(row: Sequence[str]) -> bool:
    """Is this a line of units?"""
    try:
        float(row[0])
    except ValueError:
        return True
    return False


def _cell(row: Sequence[str], i: int, path: str, line: int, name: str) -> float:
    text = row[i].strip() if i < len(row) else ""
    try:
        return float(text)
    except ValueError:
        raise bc.RunError(f"{path}, line {line}, column '{name}': {text!r} is not a number") from None


# ---- arguments


def make_parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="bellcrank",
        description="Describe a vehicle or mechanism; get its equations of motion as a small, fast simulation program.",
        epilog="Exit codes: 0 fine, 1 an error in model or options, 2 wrong usage, 3 a check failed, 4 a run ended early.",
    )
    parser.add_argument("--version", action="version", version=f"bellcrank {bc.__version__}")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    model = ArgumentParser(add_help=False)
    model.add_argument("model", metavar="MODEL", help="a Python file with a function model(); it is run, so trust it")
    model.add_argument(
        "--arg", action="append", default=[], type=argument, metavar="NAME=VALUE",
        help="argument of model(), such as n=32 (may be repeated)",
    )  # fmt: skip
    model.add_argument("--solve", metavar="HOW", help="auto, explicit, implicit or order-n")
    figures = ArgumentParser(add_help=False)
    figures.add_argument("--json", action="store_true", help="print all figures as JSON")
    values = ArgumentParser(add_help=False)
    values.add_argument(
        "--set", action="append", default=[], type=value_of, metavar="NAME=VALUE",
        help="value of a parameter in its user unit (may be repeated)",
    )  # fmt: skip
    values.add_argument("--backend", metavar="NAME", help="auto, c or python")

    def add(name: str, command: Any, parents: list[ArgumentParser]) -> ArgumentParser:
        words = command.__doc__.splitlines()[0]
        found = commands.add_parser(
            name, parents=parents, help=words[0].lower() + words[1:].rstrip("."), description=words
        )
        found.set_defaults(command=command)
        return found

    run = add("run", run_command, [model, values, figures])
    run.add_argument(
        "--initial", action="append", default=[], type=value_of, metavar="STATE=VALUE",
        help='initial value in its user unit, such as "q(f)=.25" (may be repeated)',
    )  # fmt: skip
    run.add_argument("--input", metavar="FILE", help="CSV file: the first column is time, the others are named inputs")
    run.add_argument("--t-end", type=float, metavar="S", help="end of the run in s")
    run.add_argument("--step", type=float, metavar="S", help="time step in s")
    run.add_argument("--method", metavar="NAME", help="rk2, rk4, euler, or an adaptive method of SciPy")
    run.add_argument("--output-every", type=int, metavar="N", help="keep every N-th step")
    run.add_argument("--out", metavar="FILE", help="write all channels to a CSV file")
    run.add_argument("--plot", metavar="FILE", help="draw the outputs to a PNG file")

    add("count", count_command, [model, figures])

    write = add("write", write_command, [model])
    write.add_argument("--language", default="c", metavar="NAME", help="c (default) or python")
    write.add_argument("--out", metavar="FOLDER", help="where to write (default: named after model and language)")

    checking = add("check", check_command, [model, values, figures])
    checking.add_argument("--states", type=positive, default=20, metavar="N", help="random states (default 20)")
    checking.add_argument("--seed", type=int, default=0, metavar="N", help="of the random states (default 0)")
    return parser


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals or not name.strip() or not value.strip():
        raise ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name.strip(), value.strip()


def value_of(text: str) -> tuple[str, float]:
    """k=3, q(f)=.25"""
    name, value = _pair(text)
    try:
        return name, float(value)
    except ValueError:
        raise ArgumentTypeError(f"{value!r} in {text!r} is not a number") from None


def argument(text: str) -> tuple[str, Any]:
    """n=32, small=true, name=text: whole numbers, numbers, true and false, else text. Nothing is executed."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    for read in (int, float):
        try:
            return name.strip(), read(value)
        except ValueError:
            continue
    words = {"true": True, "false": False, "none": None}
    return name.strip(), words.get(value.strip().lower(), value)


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} must be at least 1")
    return number


if __name__ == "__main__":
    sys.exit(main())
