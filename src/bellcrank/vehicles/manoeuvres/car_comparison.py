"""Several cars, or set-ups of one, through the same manoeuvres, to be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bellcrank.core.errors import BellcrankError
from bellcrank.core.files.text_files import read_toml
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.manoeuvres.compiled_car import read_car
from bellcrank.vehicles.manoeuvres.manoeuvre_result import OnProgress, Result

Drive = Callable[[Car, str], Result]


@dataclass
class CarResults:
    """A car and what it did: results by manoeuvre; where there is none, why."""

    label: str
    car: Car
    results: dict[str, Result] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


def label_cars(cars: Iterable[Any]) -> list[CarResults]:
    """Cars with labels that differ: their names; where two are the same, with their files or a
    number."""
    read = [read_car(car) for car in cars]
    files = [car.source.stem if car.source is not None else "" for car in read]
    if len({car.name for car in read}) < len(read) and len(set(files)) == len(read) and all(files):
        return [
            CarResults(f"{car.name} ({file})", car) for car, file in zip(read, files, strict=True)
        ]
    count, occurrences = Counter(car.name for car in read), Counter[str]()
    labelled_cars = []
    for car in read:
        occurrences[car.name] += 1
        labelled_cars.append(
            CarResults(
                car.name if count[car.name] == 1 else f"{car.name} ({occurrences[car.name]})", car
            )
        )
    return labelled_cars


def run_all(
    cars: list[CarResults], names: Iterable[str], drive: Drive, report: OnProgress | None = None
) -> Iterable[tuple[CarResults, str]]:
    """Drives every manoeuvre with every car, and hands out each when it was driven; `report` gets
    the fraction of them that is done, and what comes next."""
    listed = list(names)
    for i, car in enumerate(cars):
        for j, name in enumerate(listed):
            if report is not None:
                report((i + j / len(listed)) / len(cars), f"{name}, {car.label}")
            try:
                car.results[name] = drive(car.car, name)
            except BellcrankError as error:
                car.failures[name] = str(error)
            yield car, name


def cars_with_setups(cars: Iterable[str | Path], setups: Iterable[str | Path]) -> list[Car]:
    """Cars of files, each followed by the same with the sections of set-up files over its own,
    named after both."""
    read = [(Path(path).stem, read_toml(Path(path))) for path in setups]
    setup_sections = [(str(sections.pop("name", stem)), sections) for stem, sections in read]
    variants = []
    for path in cars:
        car = Car.read(path)
        variants.append(car)
        variants += [
            car.changed(**sections, name=f"{car.name}, {name}") for name, sections in setup_sections
        ]
    return variants
