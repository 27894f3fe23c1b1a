"""`bellcrank drive --vary`: a manoeuvre of many set-ups of a car."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError, Namespace
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

from bellcrank.choices import ManoeuvreName
from bellcrank.cli.files import in_folder
from bellcrank.cli.progress import Progress
from bellcrank.cli.text import number, print_written, table
from bellcrank.errors import ModelError
from bellcrank.library.manoeuvres import Experiment, experiment, known
from bellcrank.study.cluster import remote

SHOWN = 20  # set-ups
COLUMNS = 6  # metrics of a table


def varied(text: str) -> tuple[str, str]:
    """KEY=VALUES of --vary."""
    key, equals, values = text.partition("=")
    if not equals or "." not in key or not values.strip():
        raise ArgumentTypeError(f"{text!r} is not KEY=LOW:HIGH:N, such as front.spring.stiffness=25:45:5")
    return key.strip(), values


def show_experiment(args: Namespace, files: list[str], names: list[str], settings: dict[str, Any]) -> None:
    """Drives all set-ups, writes what is asked for, and prints tables or figures."""
    if len(files) != 1 or len(names) != 1 or args.setup:
        raise ModelError("--vary takes one car and one manoeuvre, without --setup")
    if args.plot or args.targets or args.author:
        raise ModelError("--vary has no --plot, --targets or --author; --report writes a page, --out a table (.csv)")
    with Progress("driving") as progress, ExitStack() as cluster:
        executor = cluster.enter_context(remote(args.cluster)).get_executor() if args.cluster else None
        found = experiment(
            files[0], cast(ManoeuvreName, names[0]), dict(args.vary), samples=args.samples, cores=args.cores,
            executor=executor, progress=progress.report_next, **settings,
        )  # fmt: skip
    first = next((n for n in known()[names[0]].first if n in found.metrics), next(iter(found.metrics)))
    written = []
    if args.out:
        written.append(found.save(in_folder(str(Path(args.out) / f"{names[0]}_set-ups.csv"))))
    if args.report:
        written.append(found.page(in_folder(args.report)))
    if args.json:
        print(json.dumps(_figures(found), indent=2))
        return
    _show(found, args.sort if args.sort in found.metrics else first)
    print_written(*written)
    if args.sort:
        found[args.sort]  # a mistyped one is reported after the results, which may have taken long


def _show(found: Experiment, by: str) -> None:
    shown = [by, *(n for n in found.varying if n != by)][:COLUMNS]
    keys = [f.key for f in found.factors]
    how = "one model" if found.shared else "a car of their own for each"
    print(f"{found.car}: {found.manoeuvre}, {len(found.setups)} set-ups by {how}\n")
    rows = [[*(f"{x:.6g}" for x in found.setups[i]), *(f"{found[n][i]:.5g}" for n in shown)] for i in found.order(by)]
    heads = [*keys, *(f"{n} ({found.units[n]})" for n in shown)]
    print(f"sorted by {by}" + (f", first {SHOWN} of {len(rows)}" if len(rows) > SHOWN else ""))
    print(table(rows[:SHOWN], heads, ">" * len(heads)))
    print(
        "\nchange from the lowest to the highest value of each factor; R2: variance explained by the response surface"
    )
    rows = [[n, *(f"{x:.4g}" for x in found.effects(n).values()), f"{found.surface(n).r2:.3f}"] for n in found.varying]
    print(table(rows, ["metric", *keys, "R2"], "<" + ">" * (len(keys) + 1)))
    for i, why in list(found.failures.items())[:3]:
        print(f"note: set-up {i + 1} was not driven: {why}")
    if len(found.failures) > 3:
        print(f"note: {len(found.failures)} set-ups were not driven")


def _figures(found: Experiment) -> dict[str, object]:
    return {
        "car": found.car,
        "manoeuvre": found.manoeuvre,
        "factors": {f.key: [number(x) for x in found.setups[:, i]] for i, f in enumerate(found.factors)},
        "metrics": {n: [number(float(x)) for x in y] for n, y in found.metrics.items()},
        "units": dict(found.units),
        "effects": {n: {k: number(x) for k, x in found.effects(n).items()} for n in found.varying},
        "failures": {str(i): why for i, why in found.failures.items()},
    }
