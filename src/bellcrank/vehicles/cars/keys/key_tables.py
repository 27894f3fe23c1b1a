"""Everything a car file may say, as tables: keys with unit, default, usual values and meaning, and
hard points by kind of suspension. `bellcrank car keys` prints them, docs/car_keys.md shows them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import MISSING, fields
from typing import Any

from bellcrank.core.units import parse_dimension
from bellcrank.linkage import shipped
from bellcrank.linkage.hard_point_files import KEYS
from bellcrank.linkage.hard_points import MEANINGS, point_aliases
from bellcrank.linkage.suspensions import KINDS, OPTIONAL
from bellcrank.vehicles.cars.keys.car_keys import AddedAxleKeys, CarFileKeys, TrailerAxleKeys
from bellcrank.vehicles.file_keys import FileKey, format_value, key_of, user_unit

HEAD = ("key", "unit", "default", "usual", "meaning")
NAMES = shipped()
POINT_HEAD = ("kind", "hard point", "link", "unit", "meaning", "also known as")
NOT_IN_CARS = ("name", "vehicle")  # statements of a file of hard points that a car makes elsewhere


def key_rows(record: Any = CarFileKeys) -> list[list[str]]:
    """A row for each key of a file, in the order of `HEAD`."""
    return list(_record_rows(record, ""))


def hard_point_rows() -> list[list[str]]:
    """A row for each hard point of each kind of suspension that a car may have, in the order of
    `POINT_HEAD`."""
    return [
        [
            name,
            point,
            "body" if body == "base" else body,
            "m",
            MEANINGS[point] + ("; optional" if point in OPTIONAL.get(name, ()) else ""),
            ", ".join(point_aliases(point)),
        ]
        for name, kind in KINDS.items()
        for point, body in kind.points.items()
    ]


def keys_as_markdown() -> str:
    """Both tables as a page."""
    return PAGE.format(
        keys=_markdown_table(HEAD, key_rows()),
        points=_markdown_table(POINT_HEAD, hard_point_rows()),
    )


PAGE = """# Keys of a car file

`bellcrank car keys` prints this list, `bellcrank car keys --markdown` writes this page. \
[A car from hard points](car.md) explains the file.

The unit column shows a unit of the right kind. Numbers are in the units that their section \
states, `units = ["mm", "N/mm"]`, or have their own: `"25 N/mm"`. "required" marks a key without \
default. With the default "none" the key or section is omitted. Every section may have a `note`.

{keys}

## Hard points

Coordinates use the `axes` of the suspension. `at` of the axle is the position of their origin:

| axes | x | y | z |
|---|---|---|---|
| ISO 8855 | forward | left | up |
| SAE | forward | right | down |
| ADAMS | rearward | right | up |

Further hard points, such as the ends of a spring, may have any name. `attach` names their \
link. Points called `..._base` belong to the body. The last column lists the names that other \
programs use. Error messages translate them and ignore prefixes such as `hpl_`.

{points}
"""


def _markdown_table(head: tuple[str, ...], rows: list[list[str]]) -> str:
    def line(cells: Any) -> str:
        return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"

    rows = [[f"`{row[0]}`", *row[1:]] for row in rows]
    return "\n".join(line(x) for x in (head, ["---"] * len(head), *rows))


def _record_rows(record: Any, prefix: str, skipped: Collection[str] = ()) -> Iterator[list[str]]:
    """Rows of a record, without keys that are `skipped`."""
    for f in fields(record):
        if f.name in skipped:
            continue
        k = key_of(f)
        if record is CarFileKeys and f.name == "rear":
            yield [f.name, "", "", "", "rear axle: the keys of the front axle"]
        elif k.kind in ("section", "sections"):
            suffix = "" if k.kind == "section" else ".NAME"
            yield [
                f"[{prefix}{f.name}{suffix}]",
                "",
                "" if f.default is MISSING else "none",
                "",
                k.label,
            ]
            skipped = (
                {x.name for x in fields(TrailerAxleKeys)} - {"at"}
                if k.record is AddedAxleKeys
                else set()
            )
            yield from _record_rows(k.record, f"{prefix}{f.name}{suffix}.", skipped)
        elif k.kind == "mapping":
            yield [f"[{prefix}{f.name}]", "", "", "", k.label]
            yield from _suspension_rows(f"{prefix}{f.name}.")
        else:
            yield [
                f"{prefix}{f.name}",
                _unit_text(k),
                _key_default_text(f),
                _range_text(k),
                k.label,
            ]


def _suspension_rows(prefix: str) -> Iterator[list[str]]:
    yield [
        f"{prefix}shipped",
        "",
        "none",
        "",
        f"hard points that come with Bellcrank: {', '.join(NAMES)}",
    ]
    yield [
        f"{prefix}file",
        "",
        "none",
        "",
        "file of hard points, relative to the folder of the car file",
    ]
    for name, meaning in KEYS.items():
        if name not in NOT_IN_CARS:
            unit = "m" if name in ("points", "lengths") else ""
            yield [f"{prefix}{name}", unit, "", "", meaning]


def _unit_text(k: FileKey) -> str:
    return ", ".join(user_unit(parse_dimension(d)).text for d in k.dimensions)


def _key_default_text(f: Any) -> str:
    if f.default is MISSING:
        return "required"
    k = key_of(f)
    if isinstance(f.default, float) and k.dimensions:
        return format_value(k, f.default)
    return "none" if f.default is None else str(f.default).replace("(0.0, 0.0, 0.0)", "0")


def _range_text(k: FileKey) -> str:
    return (
        ""
        if k.typical_range is None
        else f"{format_value(k, k.typical_range[0])} to {format_value(k, k.typical_range[1])}"
    )
