"""What a report must say to be filed: date, version, author, files with their hashes, tyres."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime

from bellcrank.files.html import Raw, table
from bellcrank.library.manoeuvres.side_by_side import Driven
from bellcrank.library.vehicles.car import Car
from bellcrank.library.vehicles.records import Rubber
from bellcrank.version import __version__

SHOWN = 16  # digits of a hash


def provenance(cars: Sequence[Driven], author: str | None, date: datetime) -> Raw:
    """Date, version and author, then one row for each car."""
    rows: list[tuple[object, ...]] = [("date", f"{date:%Y-%m-%d %H:%M}"), ("Bellcrank", f"version {__version__}")]
    if author:
        rows.append(("author", author))
    for c in cars:
        front, rear = (tyre_name(getattr(c.car.data.sections, axle).tyre) for axle in ("front", "rear"))
        tyres = front if front == rear else f"front {front}, rear {rear}"
        rows.append((c.label, f"{source(c.car)}; tyres: {tyres}"))
    return table(("", ""), rows)


def tyre_name(given: Rubber) -> str:
    """The file, size or model of a tyre."""
    named = given.file or given.size or given.model
    return str(named) + (f", {given.pressure / 1e5:.3g} bar" if given.pressure is not None else "")


def source(car: Car) -> str:
    """The file of a car with its hash; of a car that was changed, the hash of its data."""
    if car.source is not None:
        return f"{car.source.name}, SHA-256 {_short(car.source.read_bytes())}"
    return f"data SHA-256 {_short(json.dumps(car.given, sort_keys=True, default=str).encode())}"


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:SHOWN]
