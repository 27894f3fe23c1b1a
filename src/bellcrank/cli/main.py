"""The parser of all commands, and the one place where errors become exit codes.

A command is a module with `options(parser)`, which adds its options, and `command(args)`, which does the work, returns
an exit code and whose docstring's first line is the help. To add one: write the module, add a line to COMMANDS.
"""

from __future__ import annotations

import sys
import warnings
from argparse import ArgumentParser
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import bellcrank as bc
from bellcrank.cli import (
    analyse,
    check,
    compare,
    count,
    describe,
    kane,
    kinematics,
    plot,
    report,
    run,
    study,
    translate,
    write,
)
from bellcrank.cli.codes import INTERRUPTED, USAGE, USER_ERROR

COMMANDS: dict[str, ModuleType] = {
    "run": run,
    "describe": describe,
    "count": count,
    "write": write,
    "check": check,
    "compare": compare,
    "study": study,
    "translate": translate,
    "kane": kane,
    "analyse": analyse,
    "plot": plot,
    "report": report,
    "kinematics": kinematics,
}


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


def make_parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="bellcrank",
        description="Describe a vehicle or mechanism; get its equations of motion as a small, fast simulation program.",
        epilog="Exit codes: 0 fine, 1 an error in model or options, 2 wrong usage, 3 a check failed,"
        " 4 a run ended early.",
    )
    parser.add_argument("--version", action="version", version=f"bellcrank {bc.__version__}")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, module in COMMANDS.items():
        words = module.command.__doc__.splitlines()[0]
        found = commands.add_parser(name, help=words[0].lower() + words[1:].rstrip("."), description=words)
        module.options(found)
        found.set_defaults(command=module.command)
    return parser
