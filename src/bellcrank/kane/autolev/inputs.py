"""The input file of a program of the dialect: numbers in the order of its READ statements
(list-directed).

Every READ begins on a new line and continues to further lines until it has its values; what is left
on its last line is ignored. Separators are commas and blanks; 3*0 stands for 0,0,0; 1.5D0 is 1.5.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from bellcrank.core.errors import ModelError

REPEAT = re.compile(r"(\d+)\*(.+)")
MOST = 10_000  # repetitions


def read_values(
    text: str, groups: Sequence[Sequence[str]], source: str
) -> tuple[dict[str, float], list[str]]:
    """Values by name, and notes about numbers that nothing reads."""
    lines = text.splitlines()
    values: dict[str, float] = {}
    notes: list[str] = []
    line_index = 0
    for group in groups:
        row: list[float] = []
        while len(row) < len(group):
            if line_index >= len(lines):
                message = f"READ {', '.join(group)} finds {len(row)} of {len(group)} values"
                order = "; ".join(", ".join(g) for g in groups)
                raise ModelError(
                    f"{source} ends before {group[len(row)]}: {message}. The whole order is "
                    f"{order}."
                )
            row += _parse_number_line(lines[line_index], f"{source}, line {line_index + 1}")
            line_index += 1
        if len(row) > len(group):
            surplus = f"{len(row) - len(group)} more values than {', '.join(group)}"
            notes.append(f"{source}, line {line_index}: {surplus}; they are ignored")
        values.update(zip(group, row, strict=False))
    unread = [i for i in range(line_index, len(lines)) if lines[i].strip()]
    if unread:
        notes.append(
            f"{source}, line {unread[0] + 1}: nothing reads what stands here; it is ignored"
        )
    return values, notes


def _parse_number_line(line: str, location: str) -> list[float]:
    numbers: list[float] = []
    text = line.strip()
    if ",," in text.replace(" ", "") or text.startswith(","):
        raise ModelError(f"{location}: a value is missing between two commas")
    for token in re.split(r"\s*,\s*|\s+", text.rstrip(", \t")):
        if not token:
            continue
        repeat = REPEAT.fullmatch(token)
        try:
            count, number = (int(repeat[1]), repeat[2]) if repeat else (1, token)
            value = float(re.sub("[dD]", "e", number))
        except ValueError:
            raise ModelError(f"{location}: '{token}' is not a number") from None
        if not math.isfinite(value) or not 1 <= count <= MOST:
            raise ModelError(f"{location}: '{token}' is not a finite number")
        numbers += [value] * count
    return numbers
