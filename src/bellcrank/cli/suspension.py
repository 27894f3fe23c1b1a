"""The suspension that a command was given, or the axles of a car."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bellcrank.core.files.text_files import read_toml
from bellcrank.linkage import shipped

AXLES = ("front", "rear")
FILES = ("csv", "plot", "table")  # options that name files to be written


def each_axle(args: Namespace) -> Iterator[Namespace]:
    """The arguments as they are; of a car of which no axle is named, those of each axle, with files
    of its own."""
    if args.axle is not None or not is_car(args.suspension):
        yield args
        return
    for axle in AXLES:
        axle_values: dict[str, Any] = {**vars(args), "axle": axle}
        for option in FILES:
            if axle_values[option]:
                path = Path(axle_values[option])
                axle_values[option] = str(path.with_name(f"{path.stem}_{axle}{path.suffix}"))
        yield Namespace(**axle_values)


def is_ambiguous_name(name: str) -> bool:
    """Whether a car and hard points that come with Bellcrank have a name; there is no such file."""
    from bellcrank.vehicles.cars.car import car_names

    return name in car_names() and name in shipped() and not Path(name).exists()


def is_car(name: str) -> bool:
    """Whether a name is that of a car, not of hard points."""
    path = Path(name)
    if not path.exists():
        from bellcrank.vehicles.cars.car import car_names

        return name in car_names() and name not in shipped()
    return path.suffix == ".toml" and all(
        isinstance(read_toml(path).get(axle), dict) for axle in AXLES
    )
