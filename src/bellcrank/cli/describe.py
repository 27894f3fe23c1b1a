"""`bellcrank describe`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from bellcrank.cli.codes import FINE
from bellcrank.cli.model import derive
from bellcrank.cli.options import model_options


def options(parser: ArgumentParser) -> None:
    model_options(parser)


def command(args: Namespace) -> int:
    """List parameters, inputs, states and outputs of a model with values, units and labels."""
    print(derive(args).describe())
    return FINE
