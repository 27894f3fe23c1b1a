"""`bellcrank page`: `bellcrank export page`."""

from __future__ import annotations

from argparse import Namespace

from bellcrank.cli.export import export_from_arguments, format_options
from bellcrank.cli.options import add_shared_options
from bellcrank.cli.parser import CommandParser


def add_options(parser: CommandParser) -> None:
    add_shared_options(parser, "model")
    format_options(parser, "page")


def run_command(args: Namespace) -> None:
    export_from_arguments(args, "page")
