"""The parser of all commands, and the one place where errors become exit codes.

A command is a module with `options(parser)`, which adds its options, and `command(args)`, which does the work and
returns an exit code, or nothing if all is fine. To add one: write the module, add a line to COMMANDS. Only the module
of the command that is given is imported.
"""

from __future__ import annotations

import gc
import sys
import warnings
from argparse import ArgumentParser
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import bellcrank as bc
from bellcrank.cli import signals
from bellcrank.cli.codes import FINE, USAGE, USER_ERROR
from bellcrank.cli.outputs import Outputs, add_overwrite
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.terminal import shown
from bellcrank.files.whole import guarded_by

COMMANDS = {
    "run": "Run a simulation and report how it went.",
    "describe": "List parameters, inputs, states and outputs with values, units and labels.",
    "count": "Derive the equations of motion and count the operations of one evaluation.",
    "write": "Derive the equations of motion and write a stand-alone program: source, Makefile and default input.",
    "page": "Write a live page: the model running in the browser, with sliders and plots, in one file.",
    "fmu": "Write a functional mock-up unit (FMI 2 or 3), by which other tools run the model.",
    "check": "Check the equations of motion against an independent numerical evaluation of the model.",
    "compare": "Compare methods that keep constraints: drift, accuracy, cost and largest stable step.",
    "many": "Run a model many times at once, with values that vary from run to run.",
    "realtime": "Take steps of a model in real time, and report how long they take.",
    "study": "Run a model over grids and samples of its parameters, on all cores or a Dask cluster; a killed study "
    "continues.",
    "translate": "Write the Python model that is equivalent to an AUTOSIM deck.",
    "kane": "Derive equations of motion by hand, in the language of AUTOLEV (1992), at the terminal.",
    "analyse": "Find equilibria, modes, frequency responses and sensitivities of a model.",
    "picture": "Draw what a model looks like, at its start or at several times of its run.",
    "plot": "Draw channels of one or several runs.",
    "report": "Write one page about a model: tree, tables, equations, operation counts, check and plots of a run.",
    "tyre": "Read a .tir file: its stiffnesses and notes, curves and a table of its forces.",
    "car": "Create, check and summarize car files.",
    "drive": "Drive manoeuvres with a car: metrics, channels, passed or failed.",
    "kinematics": "Measure a suspension over travel and rack: camber, toe, roll centre, motion ratios and more.",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    if arguments is not None:
        with shown():
            return _do(list(arguments))
    gc.set_threshold(200_000)  # most objects of a command stay until its end
    with signals.of_the_command(), shown():
        try:
            code = _do(sys.argv[1:])
        except KeyboardInterrupt:  # when all was done
            code = signals.ended()
        return signals.leave(code)


def _do(words: list[str]) -> int:
    try:
        parser = make_parser(words[0] if words else None)
        args = parser.parse_args(words)
        if args.command is None:
            parser.print_help(sys.stderr)
            return USAGE
        with warnings.catch_warnings():
            warnings.simplefilter("default", bc.ModelWarning)
            warnings.showwarning = _show_warning
            outputs = Outputs(args)
            outputs.check_asked()
            with guarded_by(outputs):
                code = args.command(args) or FINE
            sys.stdout.flush()
            return code
    except KeyboardInterrupt:
        return signals.ended()
    except BrokenPipeError:  # the reader of our output went away
        sys.stderr.close()
        return USER_ERROR
    except bc.BellcrankError as error:
        return _complain(str(error))
    except OSError as error:
        return _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except MemoryError:
        return _complain("there is not enough memory for this")
    except Exception as error:
        if not _of_an_interrupt(error):
            raise
        return signals.ended()


def _of_an_interrupt(error: BaseException | None) -> bool:
    """Code in C may turn an interrupt into an error of its own, with the interrupt as its cause."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _complain(message: str) -> int:
    print(f"bellcrank: {message}", file=sys.stderr)
    return USER_ERROR


def _show_warning(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
    print(f"warning: {message}", file=sys.stderr)


def make_parser(wanted: str | None) -> ArgumentParser:
    """The parser of the command line, with the options of one command."""
    head = "Describe a vehicle or mechanism; get its equations of motion as a small, fast simulation program."
    codes = "Exit codes: 0 fine, 1 an error in model or options, 2 wrong usage, 3 a check failed, 4 a run ended early, "
    codes += "130 interrupted, 143 terminated."
    parser = ArgumentParser(prog="bellcrank", description=head, epilog=codes)
    parser.add_argument("--version", action="version", version=f"bellcrank {bc.__version__}")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=CommandParser)
    for name, words in COMMANDS.items():
        found = commands.add_parser(name, help=words[0].lower() + words[1:].rstrip("."), description=words)
        if name == wanted:
            module = import_module(f"bellcrank.cli.{name}")
            module.options(found)
            add_overwrite(found)
            found.set_defaults(command=module.command)
    return parser
