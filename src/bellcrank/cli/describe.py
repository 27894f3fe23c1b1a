"""`bellcrank describe`: parameters, states and outputs of a model."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import asdict

from bellcrank.cli.model import derive
from bellcrank.cli.options import shared
from bellcrank.cli.parser import CommandParser
from bellcrank.interface.listing import parameter_rows


def options(parser: CommandParser) -> None:
    shared(parser, "model", "json")


def command(args: Namespace) -> None:
    equations = derive(args)
    if args.json:
        parameters = [asdict(row) for row in parameter_rows(equations.interface)]
        states = [{"name": x.name, "unit": x.unit.text, "label": x.own_label} for x in equations.interface.states]
        print(json.dumps({"model": equations.name, "parameters": parameters, "states": states}, indent=2))
    else:
        print(equations.describe())
