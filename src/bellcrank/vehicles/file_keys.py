"""Keys of a file: what each is called, its dimension, words, allowed and usual values; and how a
section is read.

A section is a frozen dataclass whose fields are made by `file_key`. Numbers stand in the units that
the section states, by a list such as units = ["mm", "N/mm"], or that a section around it states; or
a value is text with its own unit, "25 N/mm". In records all is in SI units, angles in rad. Nothing
is guessed: a number whose unit is not stated is rejected, a key that is not known is rejected with
the nearest name, and all problems are reported at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from itertools import pairwise
from typing import Any

import numpy as np

from bellcrank.core.errors import ExpressionError, ModelError, did_you_mean
from bellcrank.core.numeric.real_numbers import display_text, to_float, to_float_array
from bellcrank.core.units import ANGLE, WITH_UNIT, Dimension, Unit, parse_dimension, unit_system

SI = unit_system("mks")
UNITS = "units"
NUMBERS = ("number", "vector", "numbers", "pairs")  # kinds that have units


@dataclass(frozen=True)
class FileKey:
    """What a file may say under a name.

    kind: number, vector (three numbers), numbers (a list), pairs (a list of two numbers each), rows
    (lists of numbers without unit, all of one length), text, flag (true or
    false), formulas (by names), mapping (read elsewhere), section (a record of its own) or sections
    (such records by name). `dimensions`: of the numbers, two for pairs. `sign`: 1 positive, 0 not
    negative, None any. `max_value`: the largest value that is allowed; `typical_range`: between
    what a person expects it, in SI units. `switch`: of a section whose keys have defaults, true
    stands for all of these and false for none.
    """

    kind: str
    label: str
    dimensions: tuple[str, ...] = ()
    sign: int | None = None
    typical_range: tuple[float, float] | None = None
    choices: tuple[str, ...] = ()
    record: Any = None
    max_value: float = math.inf
    switch: bool = False


def file_key(
    words: str,
    dimension: str | tuple[str, str] = "1",
    default: Any = MISSING,
    *,
    kind: str = "number",
    sign: int | None = None,
    usual: tuple[float, float] | None = None,
    choices: tuple[str, ...] = (),
    record: Any = None,
    most: float = math.inf,
    switch: bool = False,
) -> Any:
    """A field of a record with its `FileKey`; without a default it must be given."""
    dimensions = (dimension,) if isinstance(dimension, str) else dimension
    entry = FileKey(
        kind,
        words,
        dimensions if kind in NUMBERS else (),
        sign,
        usual,
        choices,
        record,
        most,
        switch,
    )
    return field(default=default, metadata={"key": entry})


def key_of(f: Field[Any]) -> FileKey:
    entry: FileKey = f.metadata["key"]
    return entry


def user_unit(dimension: Dimension) -> Unit:
    """What a person reads numbers of a dimension in: angles in deg."""
    return SI.parse_unit("deg") if dimension == ANGLE else SI.user_unit(dimension)


def format_value(key: FileKey, value: float) -> str:
    """A number of a key in its user unit, for a person: 2 deg, not 0.0349 rad."""
    unit = user_unit(parse_dimension(key.dimensions[0]))
    return f"{unit.from_equation_units(value):.4g}" + ("" if unit.text == "-" else f" {unit.text}")


class ProblemList(list[str]):
    """Messages about what is wrong, collected while a file is read."""

    def add_problem(self, sentence: str, instead: Any = None) -> Any:
        self.append(sentence)
        return instead


@dataclass(frozen=True)
class SectionUnits:
    """Units that hold in a section: the nearest statement of a dimension counts."""

    units: tuple[Unit, ...] = ()

    def unit_for(self, dimension: Dimension) -> Unit | None:
        return next((u for u in self.units if u.dimension == dimension), None)

    def with_section_units(self, value: Any, path: str, problems: ProblemList) -> SectionUnits:
        """With the units that a section adds."""
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, Sequence) or not all(isinstance(u, str) for u in texts):
            return problems.add_problem(
                f'{path}: units = {value!r:.60} must be a list such as ["mm", "N/mm"].', self
            )
        units = [
            u
            for u in (parse_unit(text, f"{path}: units", problems) for text in texts)
            if u is not None
        ]
        for i, one in enumerate(units):
            if any(one.dimension == earlier.dimension for earlier in units[:i]):
                problems.append(
                    f"{path}: units lists two units of one kind, the second is '{one.text}'."
                )
        return SectionUnits((*units, *self.units))


def parse_unit(text: str, path: str, problems: ProblemList) -> Unit | None:
    try:
        return SI.parse_unit(text)
    except ExpressionError as error:
        return problems.add_problem(f"{path}: {error.message.splitlines()[0]}")
    except (ModelError, ValueError, ArithmeticError):
        return problems.add_problem(f"{path}: {text!r:.40} is no unit.")


def read_key_record(
    cls: Any,
    section: Any,
    path: str,
    problems: ProblemList,
    outer_units: SectionUnits | None = None,
) -> Any:
    """A record of the class from a mapping; None where something is wrong, which `problems` then
    reports."""
    if not isinstance(section, Mapping):
        return problems.add_problem(
            f"{path} must be a section with keys of its own, given {section!r:.60}."
        )
    problem_count = len(problems)
    keys = {f.name: f for f in fields(cls) if "key" in f.metadata}
    for name in section:
        if name not in keys and name not in (UNITS, "note"):
            suggestion = did_you_mean(str(name), keys)
            problems.append(f"{path}: '{name}' is not known.{suggestion} Keys: {', '.join(keys)}.")
    section_units = SectionUnits() if outer_units is None else outer_units
    if UNITS in section:
        section_units = section_units.with_section_units(section[UNITS], path, problems)
    values = {}
    for name, f in keys.items():
        k, key_path = key_of(f), f"{path}.{name}" if path else name
        if name in section:
            values[name] = read_value(k, section[name], key_path, problems, section_units)
        elif f.default is MISSING:
            problems.append(f"{key_path} is missing: {k.label}.")
    return cls(**values) if len(problems) == problem_count else None


def read_value(
    k: FileKey, value: Any, path: str, problems: ProblemList, section_units: SectionUnits
) -> Any:
    if k.kind == "section":
        if k.switch and isinstance(value, bool):
            return k.record() if value else None
        return read_key_record(k.record, value, path, problems, section_units)
    if k.kind == "sections":
        if not isinstance(value, Mapping):
            return problems.add_problem(f"{path} must hold sections, given {value!r:.60}.", {})
        return {
            str(n): read_key_record(k.record, v, f"{path}.{n}", problems, section_units)
            for n, v in value.items()
        }
    if k.kind == "mapping":
        return (
            value
            if isinstance(value, Mapping)
            else problems.add_problem(f"{path} must be a section of its own.", {})
        )
    if k.kind == "formulas":
        plain = isinstance(value, Mapping) and all(
            isinstance(x, str | int | float) for x in value.values()
        )
        rule = """must be formulas by name, such as { mu = "0.5*mu" }"""
        return (
            dict(value)
            if plain
            else problems.add_problem(f"{path} {rule}, given {value!r:.60}.", {})
        )
    if k.kind == "flag":
        is_bool = isinstance(value, bool)
        return (
            value
            if is_bool
            else problems.add_problem(f"{path} must be true or false, given {value!r:.60}.", False)
        )
    if k.kind == "text":
        return _read_text(k, value, path, problems)
    if k.kind == "pairs":
        return _read_pairs(k, value, path, problems, section_units)
    if k.kind == "rows":
        return _read_rows(value, path, problems)
    if k.kind in ("vector", "numbers"):
        not_a_list = isinstance(value, str) or not isinstance(value, Sequence) or not value
        if not_a_list or (k.kind == "vector" and len(value) != 3):
            count = "three numbers" if k.kind == "vector" else "a list of numbers"
            return problems.add_problem(
                f"{path} must be {count}, given {value!r:.60}.", (0.0, 0.0, 0.0)
            )
        problem_count = len(problems)
        numbers = tuple(
            _read_number(k, k.dimensions[0], x, path, problems, section_units) for x in value
        )
        del problems[problem_count + 1 :]  # the first number reports it for all
        return numbers
    return _read_number(k, k.dimensions[0], value, path, problems, section_units)


def _read_text(k: FileKey, value: Any, path: str, problems: ProblemList) -> Any:
    if not isinstance(value, str):
        return problems.add_problem(f"{path} must be text, given {value!r:.60}.", "")
    if not k.choices:
        return value
    for choice in k.choices:
        if value.lower() == choice.lower():
            return choice
    options = ", ".join(f"'{c}'" for c in k.choices)
    return problems.add_problem(
        f"{path} = {value!r:.40} is not known; it is one of {options}.", k.choices[0]
    )


def _read_pairs(
    k: FileKey, value: Any, path: str, problems: ProblemList, section_units: SectionUnits
) -> tuple[tuple[float, float], ...]:
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    if (
        not is_list
        or len(value) < 2
        or not all(isinstance(p, Sequence) and len(p) == 2 for p in value)
    ):
        return problems.add_problem(
            f"{path} must be a list of at least two pairs of numbers.", ((0.0, 0.0), (1.0, 1.0))
        )
    problem_count = len(problems)
    rows = [
        [_read_number(k, d, x, path, problems, section_units) for d, x in zip(k.dimensions, p)]
        for p in value
    ]
    if len(problems) > problem_count:
        del problems[problem_count + 1 :]  # the first number reports it for all
        return ((0.0, 0.0), (1.0, 1.0))
    abscissae = [p[0] for p in rows]
    if any(b <= a for a, b in pairwise(abscissae)):
        problems.append(f"{path}: the first numbers of the pairs must increase.")
    return tuple((a, b) for a, b in rows)


def _read_rows(value: Any, path: str, problems: ProblemList) -> tuple[tuple[float, ...], ...]:
    array = (
        to_float_array(value)
        if isinstance(value, Sequence) and not isinstance(value, str)
        else None
    )
    is_invalid = array is None or array.ndim != 2 or not np.isfinite(array).all()
    if (
        array is None
        or is_invalid
        or not array.size
        or any(isinstance(x, bool) for row in value for x in row)
    ):
        rule = (
            "must be a list of rows of numbers, all of one length, such as [[1, 1.1], [1.2, 1.3]]"
        )
        return problems.add_problem(f"{path} {rule}, given {display_text(value)}.", ((0.0,),))
    return tuple(tuple(map(float, row)) for row in array)


def _read_number(
    k: FileKey,
    dimension: str,
    value: Any,
    path: str,
    problems: ProblemList,
    section_units: SectionUnits,
) -> float:
    key_dimension = parse_dimension(dimension)
    unit = (
        section_units.unit_for(key_dimension)
        if key_dimension != Dimension()
        else SI.equation_unit(key_dimension)
    )
    text = value if isinstance(value, str) else None
    if text is not None:
        match = WITH_UNIT.fullmatch(text)
        unit = None if match is None else parse_unit(match[2], path, problems)
        if match is None:
            return problems.add_problem(
                f"{path}: {text!r:.40} is neither a number nor a number with its unit.", 0.0
            )
        if unit is None:
            return 0.0
        if unit.dimension != key_dimension:
            example = user_unit(key_dimension).text
            return problems.add_problem(
                f"{path} = '{text}' must be in a unit such as {example}.", 0.0
            )
        value = float(match[1])
    number = to_float(value)
    if number is None or not math.isfinite(number):
        return problems.add_problem(f"{path}: {display_text(value)} is not a finite number.", 0.0)
    if unit is None:
        example = user_unit(key_dimension).text
        return problems.add_problem(
            f"{path} = {value:g}: its unit is not stated; add one such as '{example}' to "
            f"units, or write "
            f"'{value:g} {example}'.",
            0.0,
        )
    if (k.sign == 1 and not value > 0) or (k.sign == 0 and not value >= 0):
        problems.append(
            f"{path} = {value:g} must {'be positive' if k.sign == 1 else 'not be negative'}."
        )
    si_value = float(unit.to_equation_units(value))
    if si_value > k.max_value:
        problems.append(
            f"{path} = {format_value(k, si_value)} must lie between 0 and "
            f"{format_value(k, k.max_value)}."
        )
    return si_value
