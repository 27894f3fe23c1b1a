"""The parser of all commands, and the one place where errors become exit codes.

A command is a module with `add_options(parser)`, which adds its options, and `run_command(args)`,
which does the work and returns an exit code, or nothing if all is fine. To add one: write the
module, add a line to GROUPS. Only the module of the command that is given is imported.
"""

from __future__ import annotations

import gc
import sys
import warnings
from argparse import SUPPRESS, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import Any

import bellcrank as bc
from bellcrank.cli import process_signals
from bellcrank.cli.codes import FINE, USAGE, USER_ERROR
from bellcrank.cli.overwrite_guard import OverwriteGuard, add_overwrite
from bellcrank.cli.parser import CommandParser, ShortErrors
from bellcrank.cli.progress import ProgressReporter
from bellcrank.cli.terminal import printable_output
from bellcrank.core.errors import did_you_mean
from bellcrank.core.files.atomic import use_write_guard
from bellcrank.core.files.picture_style import ignore_style_of_folder

GROUPS: dict[
    str, dict[str, tuple[str, str]]
] = {  # what a command does, and the words behind it in its example
    "Models": {
        "examples": (
            "List or copy the models that come with Bellcrank.",
            "four_bar quarter_car --out my_models",
        ),
        "describe": (
            "List parameters, inputs, states and outputs with units.",
            "examples/quarter_car.py",
        ),
        "count": (
            "Count the operations of one evaluation of the equations.",
            "examples/passenger_car.py --json",
        ),
        "check": (
            "Check the equations against an independent evaluation.",
            "examples/four_bar.py --states 50",
        ),
        "report": (
            "Write a page about a model, its equations and a run.",
            "examples/four_bar.py --out four_bar.html",
        ),
        "picture": (
            "Draw a model, at its initial state or at given times.",
            "examples/four_bar.py --at 0 --at 0.5",
        ),
    },
    "Runs": {
        "run": (
            "Run a simulation.",
            "examples/quarter_car.py --set k=20000 --t-end 2 --out run.csv --plot run.png",
        ),
        "plot": ("Plot channels of one or several saved runs.", "run.csv az travel --out run.svg"),
        "many": (
            "Run a model many times with values that vary.",
            'examples/quarter_car.py --n 2000 --vary "k=uniform(14e3,20e3)" --channels az '
            "--metrics rms",
        ),
        "study": (
            "Run a model over grids and samples of its parameters.",
            "examples/studies/course.toml",
        ),
        "realtime": (
            "Run a model in real time and measure its steps.",
            "examples/quarter_car.py --seconds 5",
        ),
    },
    "Analysis": {
        "analyse": (
            "Find equilibria, modes, frequency responses, sensitivities.",
            "examples/quarter_car.py --modes --response z_road az --out results",
        ),
        "identify": (
            "Find parameters of a model or car from logs.",
            "examples/quarter_car.py --log log.csv --map map.toml --fit k=5e3:50e3 --fit c "
            "--report fit.html",
        ),
        "compare": (
            "Compare constraint methods: drift, accuracy, cost, steps.",
            "examples/four_bar.py --dae projection,dlmm",
        ),
    },
    "Vehicles": {
        "car": ("Create, check and summarize car files.", "new my_car.toml --like formula_student"),
        "drive": (
            "Drive manoeuvres with a car.",
            "passenger iso3888-1 --speed 80 --report lane_change.html",
        ),
        "motorcycle": (
            "Create and check motorcycle files; modes, turns, lane change.",
            "modes sport --speeds 5:50:10 --plot modes.png",
        ),
        "kinematics": (
            "Measure a suspension over wheel and rack travel.",
            "examples/suspension.toml --travel -60:60:13 --plot suspension.png",
        ),
        "tyre": (
            "Summarize and plot a tyre property file (.tir).",
            "examples/tyres/book_205_60R15.tir --plot curves.png",
        ),
    },
    "Export": {
        "export": (
            "Write a program, embedded C, an FMU or a live page.",
            "embedded examples/quarter_car.py --precision single",
        ),
        "write": (
            "Write a program; short for export c, fortran or python.",
            "examples/passenger_car.py --language fortran",
        ),
        "fmu": (
            "Write a functional mock-up unit; short for export fmu.",
            "examples/quarter_car.py --fmi 3",
        ),
        "page": (
            "Write a page with the live model; short for export page.",
            "examples/quarter_car.py --slider k=1e4:3e4 --plot az",
        ),
    },
    "Other formats": {
        "translate": (
            "Translate an AUTOSIM deck to a Python model.",
            "examples/decks/passenger_car.lsp --out car.py",
        ),
        "kane": ("Derive equations in the language of AUTOLEV (1992).", "--folder work"),
    },
}
HEAD = (
    "Describe a vehicle or mechanism; get its equations of motion as a small, fast simulation "
    "program."
)
CODES = """bellcrank COMMAND --help lists the options of a command, with an example.

Exit codes: 0 success, 1 error in model or options, 2 wrong usage, 3 failed check,
4 run ended early, 130 interrupted, 143 terminated."""
OF_THEIR_OWN = (
    "kane",
    "realtime",
)  # a prompt that nothing may overwrite, steps that nothing may delay
COMMANDS = {name: words for group in GROUPS.values() for name, words in group.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    if arguments is not None:
        with printable_output():
            return _run_with_progress(list(arguments))
    gc.set_threshold(200_000)  # most objects of a command stay until its end
    with process_signals.signal_handling(), printable_output():
        try:
            code = _run_with_progress(sys.argv[1:])
        except KeyboardInterrupt:  # when all was done
            code = process_signals.signal_exit_code()
        return process_signals.exit_process(code)


def _run_with_progress(words: list[str]) -> int:
    silent = not words or words[0] in OF_THEIR_OWN or words[0].startswith("-")
    with nullcontext() if silent else ProgressReporter(f"bellcrank {words[0]}"):
        return _run_and_catch(words)


def _run_and_catch(words: list[str]) -> int:
    """Does the command; returns its exit code, also where it fails."""
    try:
        parser = make_parser(words[0] if words else None)
        args = parser.parse_args(words)
        if args.command is None:
            parser.print_help(sys.stderr)
            return USAGE
        with warnings.catch_warnings():
            warnings.simplefilter("default", bc.ModelWarning)
            warnings.showwarning = _print_warning
            outputs = OverwriteGuard(args)
            outputs.check_requested_files()
            with use_write_guard(outputs), ignore_style_of_folder():
                code = args.command(args) or FINE
            sys.stdout.flush()
            return code
    except KeyboardInterrupt:
        return process_signals.signal_exit_code()
    except BrokenPipeError:  # the reader of our output went away
        sys.stderr.close()
        return USER_ERROR
    except bc.BellcrankError as error:
        return _print_error(str(error))
    except OSError as error:
        return _print_error(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except MemoryError:
        return _print_error("there is not enough memory for this")
    except Exception as error:
        if not _is_caused_by_interrupt(error):
            raise
        return process_signals.signal_exit_code()


def _is_caused_by_interrupt(error: BaseException | None) -> bool:
    """Code in C may turn an interrupt into an error of its own, with the interrupt as its cause."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _print_error(message: str) -> int:
    print(f"bellcrank: {message}", file=sys.stderr)
    return USER_ERROR


def _print_warning(
    message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    print(f"warning: {message}", file=sys.stderr)


def make_parser(command_name: str | None) -> ArgumentParser:
    """The parser of the command line, with the options of one command."""
    listed = "\n\n".join(
        "\n".join(
            [
                f"{title}:",
                *(f"  {name:12}{summary.rstrip('.')}" for name, (summary, _) in group.items()),
            ]
        )
        for title, group in GROUPS.items()
    )
    parser = ShortErrors(
        prog="bellcrank",
        usage="bellcrank [-h] [--version] COMMAND ...",
        description=f"{HEAD}\n\n{listed}",
        epilog=CODES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"bellcrank {bc.__version__}")
    parser.set_defaults(command=None)
    if (
        command_name is not None
        and not command_name.startswith("-")
        and command_name not in COMMANDS
    ):
        suggestion = did_you_mean(command_name, COMMANDS) or f" Commands: {', '.join(COMMANDS)}"
        parser.error(f"'{command_name}' is not a command.{suggestion}")
    commands = parser.add_subparsers(prog="bellcrank", help=SUPPRESS, parser_class=CommandParser)
    for name, (summary, example) in COMMANDS.items():
        command_parser = commands.add_parser(
            name,
            description=summary,
            epilog=f"example:\n  bellcrank {name} {example}",
            formatter_class=RawDescriptionHelpFormatter,
            add_help=False,
        )
        if name == command_name:
            module = import_module(f"bellcrank.cli.{name}")
            module.add_options(command_parser)
            add_overwrite(command_parser)
            command_parser.group("help")(
                "-h", "--help", action="help", help="show this help and exit"
            )
            command_parser.set_defaults(command=module.run_command)
            command_parser.usage = command_parser.short_usage()
    return parser
