"""`bellcrank describe`: parameters, states and outputs of a model."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import asdict

from bellcrank.cli.load_model import derive_model_equations
from bellcrank.cli.options import add_shared_options
from bellcrank.cli.parser import CommandParser
from bellcrank.mechanics.interface.listing import parameter_rows


def add_options(parser: CommandParser) -> None:
    add_shared_options(parser, "model", "json")


def run_command(args: Namespace) -> None:
    equations = derive_model_equations(args)
    if args.json:
        parameters = [asdict(row) for row in parameter_rows(equations.interface)]
        states = [
            {"name": x.name, "unit": x.unit.text, "label": x.distinct_label}
            for x in equations.interface.states
        ]
        print(
            json.dumps(
                {"model": equations.name, "parameters": parameters, "states": states}, indent=2
            )
        )
    else:
        print(equations.describe())
