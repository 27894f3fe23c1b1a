"""`bellcrank drive --vary`: a manoeuvre of many set-ups of a car."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError, Namespace
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

from bellcrank.choices import ManoeuvreName
from bellcrank.cli.files import prepare_output_path
from bellcrank.cli.progress import ProgressReporter
from bellcrank.cli.report_text import aligned_text_table, json_number, print_written
from bellcrank.core.errors import ModelError
from bellcrank.study.dask_team import dask_client
from bellcrank.vehicles.manoeuvres import Experiment, experiment, known

MAX_PRINTED_SETUPS = 20  # set-ups
MAX_PRINTED_METRICS = 6  # metrics of a table


def parse_varied_key(text: str) -> tuple[str, str]:
    """KEY=VALUES of --vary."""
    key, equals, values = text.partition("=")
    if not equals or "." not in key or not values.strip():
        raise ArgumentTypeError(
            f"{text!r} is not KEY=LOW:HIGH:N, such as front.spring.stiffness=25:45:5"
        )
    return key.strip(), values


def show_experiment(
    args: Namespace, files: list[str], names: list[str], settings: dict[str, Any]
) -> None:
    """Drives all set-ups, writes what is asked for, and prints tables or figures."""
    if len(files) != 1 or len(names) != 1 or args.setup:
        raise ModelError("--vary takes one car and one manoeuvre, without --setup")
    if args.plot or args.targets or args.author:
        raise ModelError(
            "--vary has no --plot, --targets or --author; --report writes a page, --out a "
            "table (.csv)"
        )
    with ProgressReporter("driving") as progress, ExitStack() as cluster:
        executor = (
            cluster.enter_context(dask_client(args.cluster)).get_executor()
            if args.cluster
            else None
        )
        result = experiment(
            files[0],
            cast(ManoeuvreName, names[0]),
            dict(args.vary),
            samples=args.samples,
            cores=args.cores,
            executor=executor,
            progress=progress.report_next,
            **settings,
        )
    first = next(
        (n for n in known()[names[0]].first if n in result.metrics), next(iter(result.metrics))
    )
    paths = []
    if args.out:
        paths.append(
            result.save(prepare_output_path(str(Path(args.out) / f"{names[0]}_set-ups.csv")))
        )
    if args.report:
        paths.append(result.page(prepare_output_path(args.report)))
    if args.json:
        print(json.dumps(_experiment_as_dict(result), indent=2))
        return
    _print_experiment(result, args.sort if args.sort in result.metrics else first)
    print_written(*paths)
    if args.sort:
        result[args.sort]  # a mistyped one is reported after the results, which may have taken long


def _print_experiment(result: Experiment, sort_key: str) -> None:
    columns = [sort_key, *(n for n in result.varying if n != sort_key)][:MAX_PRINTED_METRICS]
    keys = [f.key for f in result.factors]
    model_text = "one model" if result.shared else "a car of their own for each"
    print(f"{result.car}: {result.manoeuvre}, {len(result.setups)} set-ups by {model_text}\n")
    rows = [
        [*(f"{x:.6g}" for x in result.setups[i]), *(f"{result[n][i]:.5g}" for n in columns)]
        for i in result.order(sort_key)
    ]
    heads = [*keys, *(f"{n} ({result.units[n]})" for n in columns)]
    print(
        f"sorted by {sort_key}"
        + (f", first {MAX_PRINTED_SETUPS} of {len(rows)}" if len(rows) > MAX_PRINTED_SETUPS else "")
    )
    print(aligned_text_table(rows[:MAX_PRINTED_SETUPS], heads, ">" * len(heads)))
    print(
        "\nchange from the lowest to the highest value of each factor; R2: variance "
        "explained by the response surface"
    )
    rows = [
        [n, *(f"{x:.4g}" for x in result.effects(n).values()), f"{result.surface(n).r2:.3f}"]
        for n in result.varying
    ]
    print(aligned_text_table(rows, ["metric", *keys, "R2"], "<" + ">" * (len(keys) + 1)))
    for i, reason in list(result.failures.items())[:3]:
        print(f"note: set-up {i + 1} was not driven: {reason}")
    if len(result.failures) > 3:
        print(f"note: {len(result.failures)} set-ups were not driven")


def _experiment_as_dict(result: Experiment) -> dict[str, object]:
    return {
        "car": result.car,
        "manoeuvre": result.manoeuvre,
        "factors": {
            f.key: [json_number(x) for x in result.setups[:, i]]
            for i, f in enumerate(result.factors)
        },
        "metrics": {n: [json_number(float(x)) for x in y] for n, y in result.metrics.items()},
        "units": dict(result.units),
        "effects": {
            n: {k: json_number(x) for k, x in result.effects(n).items()} for n in result.varying
        },
        "failures": {str(i): reason for i, reason in result.failures.items()},
    }
