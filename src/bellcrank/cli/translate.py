"""`bellcrank translate`: an AUTOSIM deck as a Python model."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

import bellcrank as bc
from bellcrank.cli.files import in_folder
from bellcrank.files.whole import write_text
from bellcrank.formats.decks import read_deck_file, translate


def options(parser: ArgumentParser) -> None:
    parser.add_argument("deck", metavar="DECK.lsp", help="an AUTOSIM deck")
    parser.add_argument("--external", metavar="FILE", help="file with the routines that the deck calls (.py, .c, .f90)")
    parser.add_argument("--out", metavar="FILE", help="the Python file to write (default: DECK_model.py; - prints it)")


def command(args: Namespace) -> None:
    path = Path(args.deck)
    if path.suffix.lower() != ".lsp":
        raise bc.ModelError(f"{path.name}: what is translated is an AUTOSIM deck (.lsp)")
    deck, routines = read_deck_file(path, args.external)
    text = translate(deck, path.name, routines)
    if args.out == "-":
        print(text, end="")
        return
    out = Path(args.out or f"{path.stem}_model.py")
    if out.resolve() in routines:
        raise bc.ModelError(f"{out} holds the routines of the deck; give another file with --out")
    write_text(in_folder(str(out)), text)
    for remark in deck.remarks:
        print(f"warning: {remark}", file=sys.stderr)
    print(f"wrote {out}")
