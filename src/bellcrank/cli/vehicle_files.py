"""What `bellcrank car` and `bellcrank motorcycle` do alike with their files: begin one, list them,
show metrics."""

from __future__ import annotations

import json
import tomllib
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bellcrank.cli.codes import FINE
from bellcrank.cli.files import prepare_output_path
from bellcrank.cli.report_text import aligned_text_table, json_number
from bellcrank.core.errors import ModelError
from bellcrank.core.files.atomic import write_text
from bellcrank.vehicles.cars.metrics.handling_metrics import VehicleMetric


def create_vehicle_file(args: Namespace, kind: str, text: str) -> int:
    """Writes the file that a new vehicle starts from."""
    if Path(args.file).exists() and not args.overwrite:
        raise ModelError(
            f"{args.file} is there already; --overwrite lets the new file take its place"
        )
    write_text(prepare_output_path(args.file), text)
    print(f"wrote {args.file}\nnext: bellcrank {kind} check {args.file}")
    return FINE


def list_files(args: Namespace, names: list[str], text: Callable[[str], str]) -> int:
    """Prints the vehicles that come with Bellcrank."""
    listed = {name: tomllib.loads(text(name))["name"] for name in names}
    print(
        json.dumps(listed, indent=2)
        if args.json
        else aligned_text_table([[n, words] for n, words in listed.items()], None, "<<")
    )
    return FINE


def print_check(
    args: Namespace, name: str, fine: str, details: Mapping[str, VehicleMetric], odd: list[str]
) -> int:
    """Prints the metrics of a vehicle and what is unusual; fine: what holds once its file could be
    read."""
    if args.json:
        print(
            json.dumps({"name": name, "metrics": metric_values(details), "unusual": odd}, indent=2)
        )
        return FINE
    print(f"{name}: all keys are known, {fine}")
    print(
        aligned_text_table(
            [[n, f.format_value(".5g"), f.unit, f.label] for n, f in details.items()], None, "<><<"
        )
    )
    for sentence in odd:
        print(f"note: {sentence}")
    return FINE


def metric_values(details: Mapping[str, VehicleMetric]) -> dict[str, dict[str, Any]]:
    """Metrics for JSON."""
    return {
        name: {"value": json_number(f.value), "unit": f.unit, "label": f.label}
        for name, f in details.items()
    }
