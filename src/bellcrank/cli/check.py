"""`bellcrank check`: the verification of a model against an independent evaluation."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import bellcrank as bc
from bellcrank.cli.codes import CHECK_FAILED, FINE
from bellcrank.cli.files import is_script
from bellcrank.cli.model import derive, load, settings
from bellcrank.cli.options import given, positive, shared, whole
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import Progress
from bellcrank.verify.check import check
from bellcrank.verify.report import Report


def options(parser: CommandParser) -> None:
    shared(parser, "model", "values")
    add = parser.group("check")
    add("--states", type=positive, default=20, metavar="N", help="number of random states (default: %(default)s)")
    add("--seed", type=whole, default=0, metavar="N", help="seed of the random states (default: %(default)s)")
    shared(parser, "backend", "json")


def command(args: Namespace) -> int:
    if is_script(args.model):
        from bellcrank.cli.kane import script_plan

        report = _check(args, script_plan(args.model, args.solve).equations, None, dict(args.set))
    else:
        system = load(args)
        equations = derive(args, system)
        report = _check(args, system, equations, settings(args, equations))
    print(report.to_json() if args.json else report)
    return FINE if report.passed else CHECK_FAILED


def _check(args: Namespace, subject: Any, equations: bc.Equations | None, parameters: dict[str, float]) -> Report:
    with Progress("checking"):
        return check(
            subject, states=args.states, seed=args.seed, equations=equations, parameters=parameters,
            backend=args.backend, **given(solve=args.solve),
        )  # fmt: skip
