"""Hard points from a dict, a TOML file or a CSV file. Units, axes and side must be stated; nothing
is guessed.

TOML: the statements of `KEYS`. CSV: lines "# units: mm" and so on, then a line "name,x,y,z" (with
an optional column
`body`) and the points. Lengths are numbers in `units`, or text with its own unit, "-122 mm".
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.parsfile import parse_number
from bellcrank.core.files.shipped_files import ShippedCollection, resolve_example
from bellcrank.core.files.text_files import read_text, read_toml
from bellcrank.core.numeric.real_numbers import display_text, to_float
from bellcrank.core.units import LENGTH, WITH_UNIT, unit_system
from bellcrank.linkage.chain import (
    AXES,
    SIDES,
    ChainJoint,
    ChainRod,
    ChainStrut,
    Point,
    vector_between,
)
from bellcrank.linkage.suspensions import KINDS, HardPointData, RackPoints

KEYS = {
    "kind": f"kind of suspension: {', '.join(KINDS)} or chain",
    "name": "what the suspension is called",
    "units": "unit of all lengths, such as 'mm'; a coordinate may also have its own, as in '-122 "
    "mm'",
    "axes": "'ISO 8855' (x forward, y left, z up), 'SAE' (x forward, y right, z down) or 'ADAMS' "
    "(x "
    "rearward, y right, "
    "z up)",
    "side": "side of the vehicle on which the points lie: left, right or centre",
    "points": "hard points: three coordinates each, by name",
    "attach": "link of each further hard point, by name; points called ..._base belong to the body",
    "struts": "springs and dampers by name: between = [two hard points], stiffness (N/m), damping "
    "(N "
    "s/m)",
    "rack": "steering rack: points that it carries, axis of positive travel; or true",
    "lengths": "rod lengths that differ from the drawn ones, by rod",
    "vehicle": "what measures need to know of the vehicle",
    "note": "remark, printed with results",
    "bodies": "chain: names of its bodies",
    "joints": "chain: joints with kind, between (two bodies), at (hard point), axis",
    "rods": "chain: rods between two hard points",
}
VEHICLE = (
    "wheelbase",
    "cg_height",
    "brake_front",
    "drive_front",
    "tyre_radius",
    "axle",
    "inboard_brake",
    "inboard_drive",
    "toe",
    "camber",
    "travel_low",
    "travel_high",
)
HARD_POINTS = ShippedCollection("hard-point file", "bellcrank.linkage")
LENGTHS = ("wheelbase", "cg_height", "tyre_radius", "travel_low", "travel_high")


def read_hard_points(source: Any, kind: str | None = None, **statements: Any) -> HardPointData:
    """A `HardPointData` from a path or a mapping; keywords (units=, axes=, side= ...) add to what
    it states."""
    if isinstance(source, Mapping):
        data, source_name = dict(source), "the hard points given"
        if "points" not in data:  # a bare mapping of points, with statements next to them
            points = {k: data.pop(k) for k in list(data) if k not in KEYS}
            data["points"] = points
    elif isinstance(source, str | Path):
        path = resolve_example(source) if Path(source).suffix else Path(source)
        if not path.suffix and not path.exists():
            path = shipped(str(source))
        data, source_name = read_file(path), str(source)
    else:
        raise ModelError(
            f"hard points are a dict or the path of a .toml or .csv file, given "
            f"{type(source).__name__}"
        )
    data |= {k: v for k, v in statements.items() if v is not None}
    data.setdefault("kind", kind)
    data.setdefault(
        "name", Path(source).stem if isinstance(source, str | Path) else (data["kind"] or "linkage")
    )
    return _HardPointReader(data, source_name).read_hard_points(kind)


def shipped(name: str | None = None) -> Any:
    """Return the path of a hard-point file that comes with Bellcrank, or the names of all.

    Parameters
    ----------
    name : str, optional
        Name of the file. Default: all names are returned.

    Returns
    -------
    Path or list of str
        The file, or the names.

    Raises
    ------
    ModelError
        If there is no such file.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.linkage.shipped("macpherson").name
    'macpherson.toml'
    """
    return HARD_POINTS.names() if name is None else HARD_POINTS.file(name)


def read_file(path: Path) -> dict[str, Any]:
    """The content of a TOML or CSV file."""
    return (
        _parse_csv(read_text(path, ModelError), path)
        if path.suffix.lower() == ".csv"
        else read_toml(path)
    )


def _parse_csv(text: str, path: Path) -> dict[str, Any]:
    data: dict[str, Any] = {"points": {}, "attach": {}}
    lines = []
    for line in text.splitlines():
        if line.lstrip().startswith("#"):
            key, colon, value = line.lstrip("# \t").partition(":")
            if colon and key.strip().lower() in KEYS:
                data[key.strip().lower()] = value.strip()
        elif line.strip():
            lines.append(line)
    try:
        head, *rows = [row for row in csv.reader(lines, skipinitialspace=True) if row] or [[]]
    except csv.Error as error:
        raise ModelError(f"'{path}' cannot be read: {error}") from None
    header = [h.strip().lower() for h in head]
    if header[:4] != ["name", "x", "y", "z"]:
        raise ModelError(
            f"'{path}': the first line of points must be name,x,y,z[,body], given "
            f"{','.join(header)!r}"
        )
    for cells in rows:
        row = dict(zip(header, [*cells, *[""] * len(header)], strict=False))
        name = row["name"].strip()
        if name in data["points"]:
            raise ModelError(f"'{path}': the hard point '{name}' is given twice")
        data["points"][name] = [row["x"], row["y"], row["z"]]
        if row.get("body", "").strip():
            data["attach"][name] = row["body"].strip()
    return data


def _length_unit_in_m(unit: str) -> float | None:
    """A length unit in m."""
    try:
        parsed = unit_system("mks").parse_unit(unit)
    except (ModelError, ValueError, ArithmeticError):
        return None
    return float(parsed.to_equation_units(1.0)) if parsed.dimension == LENGTH else None


def _is_name_pair(value: Any) -> bool:
    return (
        isinstance(value, Sequence) and len(value) == 2 and all(isinstance(v, str) for v in value)
    )


class _HardPointReader:
    """Reads statements and collects everything that is wrong with them."""

    def __init__(self, data: dict[str, Any], source_name: str) -> None:
        self.data, self.where = data, source_name
        self.problems: list[str] = []
        self.metre: float | None = 1.0  # None: not stated, lengths have their own

    def _add_problem(self, problem: str, instead: Any = None) -> Any:
        """Keeps a problem; gives what stands for the value until all are reported."""
        self.problems.append(problem)
        return instead

    def read_hard_points(self, kind: str | None) -> HardPointData:
        data = self.data
        for key in data:
            if key not in KEYS:
                self._add_problem(
                    f"'{key}' is not a statement of a hard-point file.{did_you_mean(key, KEYS)}"
                )
        stated_kind = self._read_choice("kind", (*KINDS, "chain"))
        if kind is not None and stated_kind is not None and stated_kind != kind:
            self._add_problem(f"kind = '{stated_kind}' was given to {kind}().")
        axes, side = self._read_choice("axes", tuple(AXES)), self._read_choice("side", SIDES)
        self._units()
        points = {
            n: self._vector(f"hard point '{n}'", v, True)
            for n, v in self._mapping("points").items()
        }
        if not points:
            self._add_problem("there are no hard points.")
        sheet = HardPointData(
            str(data["name"]),
            stated_kind or "chain",
            axes or "ISO 8855",
            side or SIDES[0],
            points,
            {n: str(b) for n, b in self._mapping("attach").items()},
            self._struts(),
            self._rack(),
            {n: self._length(f"length of '{n}'", v) for n, v in self._mapping("lengths").items()},
            self._vehicle(),
            str(data.get("note", "")),
            self._names("bodies"),
            self._joints(points),
            self._rods(),
        )
        if self.problems:
            raise ModelError(self.problems, sheet.name)
        return sheet

    def _mapping(self, key: str) -> Mapping[str, Any]:
        value = self.data.get(key, {})
        if not isinstance(value, Mapping):
            value = self._add_problem(f"{key} must be a table of names, given {value!r}.", {})
        return value

    def _read_choice(self, key: str, choices: tuple[str, ...]) -> Any:
        value = self.data.get(key)
        choice_text = ", ".join(f"'{a}'" for a in choices)
        if value is None:
            return self._add_problem(
                f"{key} is not stated in {self.where}; it is one of {choice_text}."
            )
        for a in choices:
            if str(value).lower() == a.lower():
                return a
        guess = did_you_mean(str(value), choices)
        return self._add_problem(
            f"{key} = {value!r} is not known; it is one of {choice_text}.{guess}"
        )

    def _units(self) -> Any:
        unit_spec = self.data.get("units")
        if unit_spec is None:
            self.metre = None
            return
        units = [
            _length_unit_in_m(str(text))
            for text in (unit_spec if isinstance(unit_spec, list | tuple) else [unit_spec])
        ]
        lengths = [unit for unit in units if unit is not None]
        if len(lengths) == 1:
            self.metre = lengths[0]
        else:
            self._add_problem(
                f"units = {unit_spec!r} is not a length; it is for instance 'mm', 'm' or 'in'."
            )

    def _number(self, label: str, value: Any) -> Any:
        number = (
            parse_number(value) if isinstance(value, str) else to_float(value)
        )  # the cells of a CSV file are text
        if number is None:
            return self._add_problem(f"{label}: {display_text(value)} is not a number.", 0.0)
        return (
            number
            if math.isfinite(number)
            else self._add_problem(f"{label}: {value!r} is not finite.", 0.0)
        )

    def _length(self, label: str, value: Any) -> float:
        match, metre = WITH_UNIT.fullmatch(value) if isinstance(value, str) else None, self.metre
        if match is not None and parse_number(value) is None:
            value, metre = match[1], _length_unit_in_m(match[2])
            if metre is None:
                text = f"'{match[1]} {match[2]}'"
                return float(
                    self._add_problem(
                        f"{label}: {text} is not a length; write for instance '{match[1]} mm'.", 0.0
                    )
                )
        elif metre is None:
            metre = self._report_missing_unit()
        x: float = self._number(label, value)
        inverse = 1.0 / metre
        return (
            x / inverse if inverse == round(inverse) else x * metre
        )  # 768 mm is 0.768 m, to the last digit

    def _report_missing_unit(self) -> float:
        """Reports once that plain numbers have no unit."""
        self.metre = 1.0
        self._add_problem(
            f"units are not stated in {self.where}; a length unit such as 'mm' or 'm' is "
            f"needed, or '120 mm' in place "
            "of plain numbers."
        )
        return 1.0

    def _vector(self, label: str, value: Any, length: bool = False) -> Point:
        if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 3:
            value = self._add_problem(
                f"{label}: three coordinates are needed, given {value!r}.", (0.0, 0.0, 0.0)
            )
        read = self._length if length else self._number
        x, y, z = (read(label, c) for c in value)
        return x, y, z

    def _struts(self) -> tuple[ChainStrut, ...]:
        struts = []
        for name, s in self._mapping("struts").items():
            if not isinstance(s, Mapping):
                s = {"between": s}
            for key in s:
                if key not in ("between", "stiffness", "damping"):
                    allowed_keys = "between, stiffness (N/m) and damping (N s/m)"
                    self._add_problem(
                        f"strut '{name}': '{key}' is not known; it has {allowed_keys}."
                    )
            end_names = self._end_names(s)
            if len(end_names) != 2:
                self._add_problem(
                    f"strut '{name}': between must be two hard points, given {s.get('between')!r}."
                )
                continue
            values = [
                None if k not in s else self._number(f"strut '{name}'", s[k])
                for k in ("stiffness", "damping")
            ]
            struts.append(ChainStrut(name, (end_names[0], end_names[1]), *values))
        return tuple(struts)

    def _rack(self) -> Any:
        data = self.data.get("rack")
        if data is None or data is False:
            return None
        if data is True:
            return RackPoints(())
        if not isinstance(data, Mapping):
            return self._add_problem(f"rack must be a table with points and axis, given {data!r}.")
        axis = self._vector("rack axis", data.get("axis", (0, 1, 0)))
        if not any(axis):
            self._add_problem("rack axis: it must not be zero.")
        points = data.get("points", ())
        if not isinstance(points, Sequence):
            points = self._add_problem(
                f"rack points must be a list of hard points, given {points!r}.", ()
            )
        return RackPoints(
            tuple(str(p) for p in ([points] if isinstance(points, str) else points)), axis
        )

    def _vehicle(self) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in self._mapping("vehicle").items():
            if key not in VEHICLE:
                self._add_problem(
                    f"vehicle: '{key}' is not known.{did_you_mean(key, VEHICLE)} It has "
                    f"{', '.join(VEHICLE)}."
                )
            elif key == "axle":
                result[key] = str(value)
                if value not in ("front", "rear"):
                    self._add_problem(
                        f"vehicle: axle = {value!r} is not known; it is 'front' or 'rear'."
                    )
            elif key.startswith("inboard"):
                result[key] = bool(value)
            else:
                read = self._length if key in LENGTHS else self._number
                result[key] = read(f"vehicle {key}", value)
        return result

    def _names(self, key: str) -> tuple[str, ...]:
        value = self.data.get(key, ())
        if isinstance(value, str) or not isinstance(value, Sequence):
            value = self._add_problem(f"{key} must be a list of names, given {value!r}.", ())
        return tuple(str(x) for x in value)

    def _named_entries(self, key: str, unnamed: str) -> list[tuple[str, Mapping[str, Any]]]:
        """Entries by name: a list of tables with names, or a table of them; two points or bodies
        may stand alone."""
        value = self.data.get(key, ())
        if isinstance(value, Mapping):
            entries = list(value.items())
        elif isinstance(value, Sequence) and not isinstance(value, str):
            names = [e.get("name") if isinstance(e, Mapping) else None for e in value]
            entries = [
                (n or unnamed.format(i), e)
                for i, (n, e) in enumerate(zip(names, value, strict=True), 1)
            ]
        else:
            entries = self._add_problem(
                f"{key} must be a list of tables, or a table of names, given {value!r}.", []
            )
        tables = []
        for name, e in entries:
            if isinstance(e, Sequence) and not isinstance(e, str):
                e = {"between": e}
            if isinstance(e, Mapping):
                tables.append((str(name), e))
            else:
                self._add_problem(
                    f"{key}: '{name}' must be a table with what it is between, given {e!r}."
                )
        return tables

    @staticmethod
    def _end_names(entry: Mapping[str, Any]) -> list[str]:
        names = entry.get("between", ())
        return (
            [str(x) for x in names]
            if isinstance(names, Sequence) and not isinstance(names, str)
            else [names]
        )

    def _joints(self, points: Mapping[str, Point]) -> tuple[ChainJoint, ...]:
        joints = []
        for name, j in self._named_entries("joints", "joint {}"):
            body_names = self._end_names(j)
            if len(body_names) != 2 or "kind" not in j or "at" not in j:
                self._add_problem(
                    f"joint '{name}': it needs kind, between (two bodies) and at (a hard point)."
                )
                continue
            axes = [self._axis(f"joint '{name}'", j.get(k), points) for k in ("axis", "axis_2")]
            axis_points = [
                tuple(j[k]) if _is_name_pair(j.get(k)) else None for k in ("axis", "axis_2")
            ]
            joints.append(
                ChainJoint(
                    name,
                    str(j["kind"]),
                    body_names[0],
                    body_names[1],
                    str(j["at"]),
                    *axes,
                    *axis_points,
                )
            )
        return tuple(joints)

    def _axis(self, label: str, value: Any, points: Mapping[str, Point]) -> Any:
        """A direction: three numbers, or two hard points."""
        if value is None:
            return None
        if _is_name_pair(value):
            if any(v not in points for v in value):
                return self._add_problem(
                    f"{label}: axis {list(value)} names a hard point that does not exist."
                )
            return vector_between(points[value[0]], points[value[1]])
        return self._vector(f"{label} axis", value)

    def _rods(self) -> tuple[ChainRod, ...]:
        rods = []
        for name, r in self._named_entries("rods", "rod_{}"):
            end_names = self._end_names(r)
            if len(end_names) == 2:
                rods.append(ChainRod(name, end_names[0], end_names[1]))
            else:
                self._add_problem(
                    f"rod '{name}': between must be two hard points, given {end_names!r}."
                )
        return tuple(rods)
