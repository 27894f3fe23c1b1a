"""`bellcrank translate`: an AUTOSIM deck as a Python model."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

import bellcrank as bc
from bellcrank.cli.files import prepare_output_path
from bellcrank.cli.parser import CommandParser
from bellcrank.core.files.atomic import write_text
from bellcrank.core.files.shipped_files import resolve_example
from bellcrank.formats.decks import read_deck_file, translate_to_python


def add_options(parser: CommandParser) -> None:
    add = parser.group("deck")
    add("deck", metavar="DECK.lsp", help="an AUTOSIM deck")
    add(
        "--external",
        metavar="FILE",
        help="file with the user functions of the deck (.py, .c, .f90)",
    )
    out_help = "the Python file to write, or - to print it (default: DECK_model.py)"
    parser.group("output")("--out", metavar="FILE", help=out_help)


def run_command(args: Namespace) -> None:
    path = resolve_example(args.deck)
    if path.suffix.lower() != ".lsp":
        raise bc.ModelError(f"{path.name}: what is translated is an AUTOSIM deck (.lsp)")
    deck, routines = read_deck_file(path, args.external)
    text = translate_to_python(deck, path.name, routines)
    if args.out == "-":
        print(text, end="")
        return
    output_path = Path(args.out or f"{path.stem}_model.py")
    if output_path.resolve() in routines:
        raise bc.ModelError(
            f"{output_path} holds the routines of the deck; give another file with --out"
        )
    write_text(prepare_output_path(str(output_path)), text)
    for remark in deck.remarks:
        print(f"warning: {remark}", file=sys.stderr)
    print(f"wrote {output_path}")
