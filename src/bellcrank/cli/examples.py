"""`bellcrank examples`: what comes with Bellcrank, listed or copied."""

from __future__ import annotations

import ast
import json
from argparse import Namespace

from bellcrank import examples
from bellcrank.cli.options import add_shared_options
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.report_text import aligned_text_table


def add_options(parser: CommandParser) -> None:
    add = parser.group("examples")
    add("names", nargs="*", metavar="NAME", help="examples to copy (default: list all models)")
    add("--all", action="store_true", help="all files, also decks, tyres and studies")
    add = parser.group("output")
    add("--out", metavar="FOLDER", help="folder to copy them to")
    add_shared_options(parser, "json")


def run_command(args: Namespace) -> None:
    if args.out:
        for path in examples.copy(args.out, *args.names):
            print(f"wrote {path}")
        return
    if args.names:
        for name in args.names:
            print(examples.path(name))
        return
    listed = {
        name: docstring_summary(name)
        for name in (examples.files() if args.all else examples.names())
    }
    print(
        json.dumps(listed, indent=2)
        if args.json
        else aligned_text_table([*listed.items()], None, "<<")
    )


def docstring_summary(name: str) -> str:
    """The first lines of the docstring of a Python file; nothing for others."""
    path = examples.path(name)
    if path.suffix != ".py":
        return ""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n\n")[0].replace("\n", " ")
