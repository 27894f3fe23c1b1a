"""`bellcrank drive`: manoeuvres of a car, with their metrics."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from bellcrank.cli.codes import CHECK_FAILED, FINE
from bellcrank.cli.files import in_folder
from bellcrank.cli.options import MANY, argument, shared
from bellcrank.cli.progress import Progress
from bellcrank.cli.text import table
from bellcrank.errors import ModelError
from bellcrank.library.manoeuvres import known, run
from bellcrank.library.manoeuvres.result import Result
from bellcrank.library.vehicles.car import Car

ALL = "all"


def options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    names = ", ".join(known())
    add("file", nargs="?", metavar="CAR.toml", help="the file of a car, or the name of one that comes with Bellcrank")
    add(
        "manoeuvre",
        nargs="?",
        metavar="NAME",
        help=f"{names}, or {ALL}; without it they are listed with their settings",
    )
    add("--speed", type=float, metavar="KM/H", help="speed, of manoeuvres that have one")
    add("--set", type=argument, metavar="NAME=VALUE", help="another setting of the manoeuvre; may be repeated", **MANY)
    add("--plot", metavar="FILE", help="draw the channels to look at first (.png, .svg, .pdf)")
    add("--out", metavar="FOLDER", help="write metrics (.json) and runs (.csv)")
    shared(parser, "json")


def command(args: Namespace) -> int:
    if args.file is None or args.manoeuvre is None:
        _list(args)
        return FINE
    car = Car.read(args.file)
    names = list(known()) if args.manoeuvre == ALL else [args.manoeuvre]
    if args.plot and len(names) > 1:
        raise ModelError("--plot draws one manoeuvre; with 'all' give --out")
    results = [_driven(car, name, args) for name in names]
    if args.json:
        found = [r.figures() for r in results]
        print(json.dumps(found[0] if len(found) == 1 else found, indent=2))
    failed = any(r.passed is False for r in results)
    return CHECK_FAILED if failed and len(results) == 1 else FINE


def _driven(car: Car, name: str, args: Namespace) -> Result:
    settings = dict(args.set)
    has = known()[name].settings if name in known() else {}
    if args.speed is not None and ("speed" in has or args.manoeuvre != ALL):
        settings["speed"] = args.speed
    with Progress(f"driving {name}"):
        result = run(car, name, **settings)
    written = [] if args.out is None else result.save(args.out)
    if args.plot:
        written.append(result.plot(in_folder(args.plot)))
    if not args.json:
        print(result)
        for path in written:
            print(f"wrote {path}")
    return result


def _list(args: Namespace) -> None:
    if args.json:
        listed = {
            n: {"words": m.words, "source": m.source, "settings": {k: vars(s) for k, s in m.settings.items()}}
            for n, m in known().items()
        }
        print(json.dumps(listed, indent=2))
        return
    for name, m in known().items():
        print(f"{name}: {m.words}" + (f" ({m.source})" if m.source else ""))
        rows = [[k, "" if s.default is None else str(s.default), s.unit, s.label] for k, s in m.settings.items()]
        print(table(rows, None, "<<<<"))
