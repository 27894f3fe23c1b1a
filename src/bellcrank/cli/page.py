"""`bellcrank page`: `bellcrank export page`."""

from __future__ import annotations

from argparse import Namespace

from bellcrank.cli.export import export, format_options
from bellcrank.cli.options import shared
from bellcrank.cli.parser import CommandParser


def options(parser: CommandParser) -> None:
    shared(parser, "model")
    format_options(parser, "page")


def command(args: Namespace) -> None:
    export(args, "page")
