"""What a check found: lines with a value and the limit it must keep, for a person and as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field

from bellcrank.core.files.html import HtmlText, heading, html_table
from bellcrank.core.files.notebook_display import NotebookDisplay


@dataclass(frozen=True)
class CheckLine:
    """One property: the value found and its limit. `at_least` turns the limit round; without one it
    is information."""

    name: str
    value: float | str
    limit: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def passed(self) -> bool:
        if self.limit is None or isinstance(self.value, str):
            return self.limit is None
        return bool(
            self.value >= self.limit if self.at_least else self.value <= self.limit
        )  # nan passes neither


@dataclass(repr=False)
class Report(NotebookDisplay):
    """What a check found."""

    model: str
    states: int
    seed: int
    lines: list[CheckLine] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Do all properties keep their limits, and is there one?"""
        return all(line.passed for line in self.lines) and any(
            line.limit is not None for line in self.lines
        )

    def to_json(self) -> str:
        head = {key: getattr(self, key) for key in ("model", "passed", "states", "seed")}
        keys = ("name", "passed", "value", "limit", "note")
        lines = [
            {key: getattr(x, key) for key in keys} | {"value": _json_number(x.value)}
            for x in self.lines
        ]
        return json.dumps({**head, "lines": lines}, indent=2)

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Mark, property, value, limit and note of every line, in words."""
        return [
            (_line_mark(line), line.name, _value_text(line.value), _limit_text(line), line.note)
            for line in self.lines
        ]

    def __repr__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        return (
            f"Report({self.model!r}: {verdict}, {len(self.lines)} properties, {self.states} states)"
        )

    def _html_parts(self) -> list[str]:
        head = f"{self.model}: {'passed' if self.passed else 'FAILED'}"
        colors = {"ok": "#1a7f37", "FAILED": "#c62828"}
        rows = [
            (HtmlText(f'<span style="color:{colors[mark]}">{mark}</span>') if mark else "", *cells)
            for mark, *cells in self.rows()
        ]
        return [
            heading(f"{head} ({self.states} random states, seed {self.seed})"),
            html_table(("", "property", "value", "limit", "note"), rows, right=(2,)),
        ]

    def __str__(self) -> str:
        rows = self.rows()
        i, j, k, m = (max(len(row[column]) for row in rows) for column in range(4))
        head = (
            f"{self.model}: {'passed' if self.passed else 'FAILED'} ({self.states} random "
            f"states, seed {self.seed})"
        )
        return "\n".join(
            [
                head,
                *(f"  {a:{i}}  {b:{j}}  {c:>{k}}  {d:{m}}  {e}".rstrip() for a, b, c, d, e in rows),
            ]
        )


# ---- how a report looks


def _line_mark(line: CheckLine) -> str:
    return "" if line.limit is None else "ok" if line.passed else "FAILED"


def _value_text(x: float | str) -> str:
    return (
        x
        if isinstance(x, str)
        else "exact"
        if x == math.inf
        else f"{x:.2g}"
        if x >= 0.01
        else f"{x:.1e}"
    )


def _limit_text(line: CheckLine) -> str:
    if line.limit is None:
        return ""
    return f"at least {line.limit:g}" if line.at_least else f"limit {line.limit:g}"


def _json_number(x: float | str) -> float | str | None:
    """A value that JSON knows."""
    return x if isinstance(x, str) else float(x) if math.isfinite(x) else None
