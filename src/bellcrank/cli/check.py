"""`bellcrank check`: the verification of a model against an independent evaluation."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import bellcrank as bc
from bellcrank.cli.codes import CHECK_FAILED, FINE
from bellcrank.cli.files import is_script
from bellcrank.cli.load_model import derive_model_equations, load_model_argument, parameter_settings
from bellcrank.cli.options import (
    add_shared_options,
    given_options,
    parse_integer_option,
    parse_positive_integer,
)
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import ProgressReporter
from bellcrank.verify.check import check
from bellcrank.verify.report import Report


def add_options(parser: CommandParser) -> None:
    add_shared_options(parser, "model", "values")
    add = parser.group("check")
    add(
        "--states",
        type=parse_positive_integer,
        default=20,
        metavar="N",
        help="number of random states (default: %(default)s)",
    )
    add(
        "--seed",
        type=parse_integer_option,
        default=0,
        metavar="N",
        help="seed of the random states (default: %(default)s)",
    )
    add_shared_options(parser, "backend", "json")


def run_command(args: Namespace) -> int:
    if is_script(args.model):
        from bellcrank.cli.kane import script_plan

        report = _run_check(
            args, script_plan(args.model, args.solve).equations, None, dict(args.set)
        )
    else:
        system = load_model_argument(args)
        equations = derive_model_equations(args, system)
        report = _run_check(args, system, equations, parameter_settings(args, equations))
    print(report.to_json() if args.json else report)
    return FINE if report.passed else CHECK_FAILED


def _run_check(
    args: Namespace, subject: Any, equations: bc.Equations | None, parameters: dict[str, float]
) -> Report:
    with ProgressReporter("checking"):
        return check(
            subject,
            states=args.states,
            seed=args.seed,
            equations=equations,
            parameters=parameters,
            backend=args.backend,
            **given_options(solve=args.solve),
        )
