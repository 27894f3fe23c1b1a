"""Reads .tir files: the tyre property files of MF-Tyre, Adams and their kin, as data.

Text: `[SECTION]`, `KEY = value`, strings in quotes, `$` or `!` before a comment, tables under a
line in braces. What a file has besides the coefficients is kept; what was assumed is noted; what
cannot be a Magic Formula tyre is rejected in a message that names the line.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.core.files.shipped_files import resolve_example
from bellcrank.core.files.text_files import read_text, to_one_line
from bellcrank.vehicles.tyres.magic_keys import (
    DIMENSION_OF,
    MOTORCYCLE,
    RANGES,
    SECTION_OF,
    VERSIONS,
    dimension_factor,
)
from bellcrank.vehicles.tyres.tyre_plausibility import missing_stiffness_problems

__all__: list[str] = []

UNITS: dict[str, dict[str, float]] = {  # of [UNITS], in SI; without blanks, capitals and plural
    "LENGTH": {
        "m": 1.0,
        "meter": 1.0,
        "metre": 1.0,
        "mm": 1e-3,
        "millimeter": 1e-3,
        "millimetre": 1e-3,
        "cm": 1e-2,
        "centimeter": 1e-2,
        "centimetre": 1e-2,
        "km": 1e3,
        "kilometer": 1e3,
        "in": 0.0254,
        "inch": 0.0254,
        "inches": 0.0254,
        "ft": 0.3048,
        "foot": 0.3048,
        "feet": 0.3048,
    },
    "FORCE": {
        "n": 1.0,
        "newton": 1.0,
        "kn": 1e3,
        "kilonewton": 1e3,
        "knewton": 1e3,
        "lbf": 4.4482216152605,
        "lb": 4.4482216152605,
        "pound": 4.4482216152605,
        "pound_force": 4.4482216152605,
        "kgf": 9.80665,
        "kilogram_force": 9.80665,
        "kg_force": 9.80665,
        "dn": 10.0,
        "dan": 10.0,
        "dyne": 1e-5,
    },
    "ANGLE": {"rad": 1.0, "radian": 1.0, "deg": math.pi / 180, "degree": math.pi / 180},
    "MASS": {
        "kg": 1.0,
        "kilogram": 1.0,
        "g": 1e-3,
        "gram": 1e-3,
        "lb": 0.45359237,
        "lbm": 0.45359237,
        "pound": 0.45359237,
        "pound_mass": 0.45359237,
        "slug": 14.593902937206,
        "tonne": 1e3,
        "ton": 1e3,
    },
    "TIME": {
        "s": 1.0,
        "sec": 1.0,
        "second": 1.0,
        "ms": 1e-3,
        "millisecond": 1e-3,
        "min": 60.0,
        "minute": 60.0,
        "h": 3600.0,
        "hour": 3600.0,
    },
    "PRESSURE": {
        "pa": 1.0,
        "pascal": 1.0,
        "kpa": 1e3,
        "kilopascal": 1e3,
        "mpa": 1e6,
        "megapascal": 1e6,
        "bar": 1e5,
        "psi": 6894.757293168,
        "n/m^2": 1.0,
        "n/m**2": 1.0,
        "newton/meter^2": 1.0,
        "newton/meter**2": 1.0,
    },
}
FORMATS = {
    "pac2002": "5.2",
    "mf_05": "5.2",
    "mf-tyre5.2": "5.2",
}  # PROPERTY_FILE_FORMAT that says a version
READ = "Magic Formula 5.2 (PAC2002), 6.1 and 6.2 are read"
ROUND = "a motorcycle tyre"
INSTEAD = (
    "Its coefficients belong to other formulas. Use bc.vehicles.tyres.MotorcycleTyre "
    "(cornering, camber, friction of "
    "a tyre in a motorcycle file), or a file of version 6.1 or 6.2 of the same tyre"
)
NO_FORMULA = {  # one that says another model
    "pac_mc": ROUND,
    "pac-mc": ROUND,
    "pacmc": ROUND,
    "mf-mctyre": ROUND,
    "pac_time": "PAC-TIME",
    "pac94": "Pacejka 94",
    "pac89": "Pacejka 89",
    "pacejka94": "Pacejka 94",
    "pacejka89": "Pacejka 89",
    "fiala": "a Fiala tyre",
    "ftire": "an FTire",
    "uatire": "a tyre of the University of Arizona",
    "521": "Adams tyre 5.2.1",
    "5.2.1": "Adams tyre 5.2.1",
    "swift-tyre": "a SWIFT tyre",
    "cdtire": "a CDTire",
}
SIDES = {
    "left": "left",
    "l": "left",
    "right": "right",
    "r": "right",
    "symmetric": "symmetric",
    "both": "symmetric",
}
ALIASES = {"IP": "INFLPRES", "IP_NOM": "NOMPRES", "TIRESIDE": "TYRESIDE", "LFZ0": "LFZO"}
WORDS = (  # keys of text, which may stand in any section
    "FITTYP",
    "TYRESIDE",
    "PROPERTY_FILE_FORMAT",
    "FILE_TYPE",
    "FILE_VERSION",
    "FILE_FORMAT",
    "USE_MODE",
    "FUNCTION_NAME",
    "USER_SUB_ID",
    "ROAD_DIRECTION",
    "LENGTH",
    "FORCE",
    "ANGLE",
    "TIME",
    "PRESSURE",
    "N_TIRE_STATES",
    "HMAX_LOCAL",
    "SWITCH_INTEG",
    "TIME_SWITCH_INTEG",
    "TYPE",
    "COMMENT",
    "TIRE_VERSION",
)
SECTION = re.compile(r"\[\s*([^\[\]]*?)\s*\]")
ENTRY = re.compile(r"([A-Za-z_][\w.\-]*(?:\([^()]*\))?)\s*[=:]\s*(.*)", re.ASCII | re.DOTALL)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?", re.ASCII)
SHOWN = 60  # characters of a value that is reported
MOST_NOTES = 8  # of one kind that are reported one by one
LARGEST = 2 * 10**7  # characters of a file


@dataclass
class _TirContent:
    """What a file says, line by line: values by section and key, with the line they stand in."""

    where: str
    values: dict[tuple[str, str], tuple[Any, int]] = field(default_factory=dict)
    tables: dict[str, list[list[float]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def text_value(self, key: str) -> str:
        """A value as a word without quotes, blanks and capitals; empty if there is none."""
        words = [
            str(value)
            for (section, k), (value, _) in self.values.items()
            if k == key and section != "UNITS"
        ]
        return words[-1].strip().lower().replace(" ", "") if words else ""


@dataclass(frozen=True)
class TirFile:
    """The tyre of a file: coefficients in SI units, version of the formula, side, name, what else
    the file says, and what was assumed."""

    numbers: dict[str, float]
    version: str
    side: str
    name: str
    extra: dict[str, Any]
    notes: list[str]


def read_tir(path: str | Path, version: str | None = None) -> TirFile:
    """What a .tir file says; a `version` is for files that do not name it."""
    if not isinstance(path, str | Path):
        raise ModelError(
            f"a tyre is read from the path of a .tir file, given {type(path).__name__}"
        )
    text = read_text(resolve_example(path), ModelError, otherwise="latin-1")
    if len(text) > LARGEST:
        raise ModelError(f"{path}: a .tir file of {len(text)} characters is too large")
    file = _parse_lines(text, str(path))
    formula_version = _formula_version(file, version)
    numbers, extra = _coefficients_in_si(file)
    if not file.problems:
        file.problems += missing_stiffness_problems(numbers)
    if file.problems:
        raise ModelError([f"{file.where}: {p}" for p in file.problems])
    side = _measured_side(file)
    _check_ranges(file, numbers)
    return TirFile(
        numbers, formula_version, side, to_one_line(Path(path).stem) or "tyre", extra, file.notes
    )


# ---- lines


def _parse_lines(text: str, path: str) -> _TirContent:
    file, section, table = _TirContent(path), "", ""
    for number, raw in enumerate(text.split("\n"), 1):
        line = _without_comment(raw).strip()
        if not line:
            continue
        head = SECTION.fullmatch(line)
        entry = ENTRY.fullmatch(line)
        if head:
            section, table = to_one_line(head[1]).upper(), ""
        elif line.startswith("{"):
            table = section or "TABLE"
            file.tables.setdefault(table, [])
        elif entry:
            table = ""
            _store_value(file, section, entry[1].upper(), entry[2].strip(), number)
        else:
            _table_row(file, table or section, line, number)
    if not file.values:
        file.problems.append("it holds no line KEY = value: this is no tyre property file")
    return file


def _without_comment(line: str) -> str:
    """A line up to its comment; $ and ! inside quotes begin none."""
    quote = ""
    for i, ch in enumerate(line):
        if quote:
            quote = "" if ch == quote else quote
        elif ch in "'\"" and ch in line[i + 1 :]:
            quote = ch
        elif ch in "$!" or (ch in "#;" and not line[:i].strip()):
            return line[:i]
    return line


def _store_value(file: _TirContent, section: str, key: str, text: str, line: int) -> None:
    key = ALIASES.get(key, key)
    value: Any = text
    quoted = re.fullmatch(r"'([^']*)'|\"([^\"]*)\"", text)
    if quoted:
        value = to_one_line(quoted[1] or quoted[2] or "")
    if (section, key) in file.values and file.values[section, key][0] != value:
        earlier = file.values[section, key][1]
        file.notes.append(f"{key} is given twice, in lines {earlier} and {line}: the second holds")
    file.values[section, key] = (value, line)


def _table_row(file: _TirContent, table: str, line: str, number: int) -> None:
    """A row of numbers; other words without a key are noted."""
    tokens = line.replace(",", " ").split()
    if all(NUMBER.fullmatch(p) for p in tokens):
        file.tables.setdefault(table or "TABLE", []).append([_parse_float(p) for p in tokens])
    else:
        file.notes.append(
            f"line {number} is neither a section nor KEY = value and was omitted: {_shorten(line)}"
        )


def _shorten(text: str) -> str:
    text = to_one_line(text)
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")


def _parse_float(text: str) -> float:
    return float(re.sub("[dD]", "e", text))


# ---- meaning


def _formula_version(file: _TirContent, requested: str | None) -> str:
    """5.2, 6.1 or 6.2; what is something else is rejected."""
    fit, format = (
        file.text_value("FITTYP"),
        file.text_value("PROPERTY_FILE_FORMAT").replace("'", ""),
    )
    if format in NO_FORMULA:
        file.problems.append(
            f"PROPERTY_FILE_FORMAT = {_shorten(format)} is {NO_FORMULA[format]}; {READ}"
            + (f". {INSTEAD}" if NO_FORMULA[format] == ROUND else "")
        )
        return "6.1"
    number = _parse_float(fit) if NUMBER.fullmatch(fit) else None
    if number in MOTORCYCLE:
        file.problems.append(f"FITTYP = {fit} is {ROUND} (MF-MCTyre); {READ}. {INSTEAD}")
        return "6.1"
    if number in VERSIONS:
        file_version = VERSIONS[int(number)]
        if requested is not None and requested != file_version:
            file.notes.append(
                f"the file says version {file_version}; it was read as {requested}, as asked"
            )
        return requested or file_version
    if requested is not None:
        return requested
    if fit:
        file.problems.append(
            f"FITTYP = {_shorten(fit)} is not known; 5, 6 and 21 are Magic Formula 5.2, 61 "
            f"is 6.1, 62 is 6.2. "
            "Give version= to read it as one of these"
        )
        return "6.1"
    if format in FORMATS:
        file.notes.append(
            f"FITTYP is missing; PROPERTY_FILE_FORMAT = {format!r} is Magic Formula "
            f"{FORMATS[format]}"
        )
        return FORMATS[format]
    if file.values:
        file.problems.append(
            "it says neither FITTYP nor PROPERTY_FILE_FORMAT = 'PAC2002': the version of "
            "the formula is not known. "
            "Give version= '5.2', '6.1' or '6.2'"
        )
    return "6.1"


def _si_factors(file: _TirContent) -> dict[str, float]:
    """SI values of the units of the file, by the letters of dimensions."""
    factors = {}
    for kind, units in UNITS.items():
        value, line = file.values.get(("UNITS", kind), ("", 0))
        word = re.sub(r"[\s'\"]", "", str(value)).lower()
        if not word:
            factors[kind[0]] = 1.0 if kind != "PRESSURE" else math.nan
            continue
        factor = units.get(word, units.get(word.removesuffix("s")))
        if factor is None:
            file.problems.append(
                f"line {line}: {kind} = {_shorten(str(value))} is no unit that is known; "
                f"known are {', '.join(units)}"
            )
            factor = 1.0
        factors[kind[0]] = factor
    if not any(section == "UNITS" for section, _ in file.values):
        file.notes.append("the file has no [UNITS]: m, N, rad, kg, s and Pa were assumed")
    if math.isnan(factors["P"]):
        factors["P"] = factors["F"] / factors["L"] ** 2
    return factors


def _coefficients_in_si(file: _TirContent) -> tuple[dict[str, float], dict[str, Any]]:
    """The coefficients in SI units, and all else that the file says."""
    factors = _si_factors(file)
    numbers: dict[str, float] = {}
    extra: dict[str, Any] = {}
    lines: dict[str, int] = {}
    unknown = []
    for (section, key), (value, line) in file.values.items():
        text = str(value)
        if key not in SECTION_OF or (section == "UNITS" and key == "MASS"):
            extra[f"{section}.{key}" if section else key] = (
                _parse_float(text) if NUMBER.fullmatch(text) else value
            )
            if key not in WORDS and section not in ("UNITS", "MDI_HEADER"):
                unknown.append(key)
            continue
        if not text:
            file.notes.append(f"line {line}: {key} has no value and counts as missing")
            continue
        number = _parse_tir_number(file, key, text, line)
        if number is None:
            continue
        if key in lines:
            file.notes.append(f"{key} is given in lines {lines[key]} and {line}: the second holds")
        lines[key] = line
        numbers[key] = number * dimension_factor(DIMENSION_OF.get(key, ""), factors)
        if not math.isfinite(numbers[key]):
            file.problems.append(f"line {line}: {key} = {_shorten(text)} is too large")
    for key in unknown[:MOST_NOTES]:
        file.notes.append(f"{key} is no coefficient that is known; it was kept and is not used")
    if len(unknown) > MOST_NOTES:
        file.notes.append(
            f"{len(unknown) - MOST_NOTES} further unknown keys were kept and are not used"
        )
    extra |= {
        name: np.array(rows) if len({len(r) for r in rows}) == 1 else rows
        for name, rows in file.tables.items()
    }
    return numbers, extra


def _parse_tir_number(file: _TirContent, key: str, text: str, line: int) -> float | None:
    """A number, with what may stand behind it; None, and a problem, where there is none."""
    match = NUMBER.match(text)
    trailing = text[match.end() :].strip(" ,;\t") if match else ""
    if match and trailing and re.match(r"[\d.,]", trailing):
        match = None  # 1.2.3, 1,5
    if match is None:
        comma = " A decimal comma is not read." if re.fullmatch(r"[+-]?\d+,\d+.*", text) else ""
        file.problems.append(f"line {line}: {key} = {_shorten(text)} is no number.{comma}")
        return None
    if trailing:
        file.notes.append(
            f"line {line}: {_shorten(trailing)} behind the value of {key} was omitted"
        )
    number = _parse_float(match[0])
    if not math.isfinite(number):
        file.problems.append(f"line {line}: {key} = {_shorten(text)} is too large")
        return None
    return number


def _measured_side(file: _TirContent) -> str:
    word = file.text_value("TYRESIDE").strip("'\"")
    if word not in SIDES:
        reason = f"TYRESIDE = {_shorten(word)} names no side" if word else "TYRESIDE is missing"
        file.notes.append(f"{reason}: the tyre counts as measured on the left")
    return SIDES.get(word, "left")


def _check_ranges(file: _TirContent, numbers: dict[str, float]) -> None:
    """Ranges that are empty say nothing: they are left open."""
    for key, (_, words, _) in RANGES.items():
        low, high = numbers.get(f"{key}MIN", -math.inf), numbers.get(f"{key}MAX", math.inf)
        if not low < high or (key in ("FZ", "PRES") and high <= 0):
            file.notes.append(
                f"the range of {words}, {low:g} to {high:g}, is empty: it counts as open"
            )
            numbers.pop(f"{key}MIN", None)
            numbers.pop(f"{key}MAX", None)
