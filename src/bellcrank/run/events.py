"""Events: conditions that are watched during a run.

A condition is a channel or a formula over channels in user units; an event is its crossing of zero from below. A
condition that is a comparison, such as "z < 3", is an event when it becomes true.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.expr.function_table import CALLED, OPERATORS
from bellcrank.expr.text import Syntax, evaluate_syntax, parse
from bellcrank.interface.interface import key_of
from bellcrank.model.formula import show
from bellcrank.numeric.branch import Passage
from bellcrank.run.arrays import for_arrays
from bellcrank.run.gimbal import Lock
from bellcrank.run.stepping import Rows

Condition = Callable[[np.ndarray], np.ndarray]
Within = Callable[[int, np.ndarray], Rows]  # rows within a step, by its number and the row at its start


@dataclass(frozen=True)
class Event:
    """A condition crossed zero from below, or became true, at a time (s)."""

    name: str
    time: float

    def __str__(self) -> str:
        return f"{self.name} at t = {self.time:.6g} s"


class Watch:
    """Looks for events in rows as they come. `stop` names those that end the run."""

    def __init__(
        self, conditions: Mapping[str, Condition], stop: Sequence[str] = (), strict: Collection[str] = ()
    ) -> None:
        self.conditions = dict(conditions)
        self.strict = set(strict)  # those that must be positive, zero is not enough
        self.stop = set(stop)
        self.events: list[Event] = []
        self.stopped: Event | None = None
        self._last: np.ndarray | None = None
        self._number = -1  # of the step at whose end that row is

    def begin(self, number: int, row: np.ndarray | None) -> None:
        """Takes the start of a run with so many steps behind it; its row, or None if that is still to come."""
        self._last = row
        self._number = number if row is not None else number - 1

    def look(self, rows: np.ndarray, within: Within | None) -> np.ndarray:
        """Records the events up to the last of further rows; the rows to be kept, if one of them stops the run.

        A condition that changes its sign between two rows is followed between them: `within` gives the rows there.
        """
        if not len(rows) or not self.conditions:
            return rows
        whole = rows if self._last is None else np.vstack([self._last, rows])
        first, self._last = self._number + (self._last is None), whole[-1].copy()
        self._number += len(rows)
        found: list[tuple[float, str, int]] = []
        for name, condition in self.conditions.items():
            g = np.broadcast_to(condition(whole), (len(whole),))
            strict = name in self.strict
            now = g > 0 if strict else g >= 0
            before = g <= 0 if strict else g < 0
            for i in np.flatnonzero(before[:-1] & now[1:]).tolist():
                assert within is not None
                at = within(first + i + 1, whole[i])
                a, b = float(whole[i, 0]), float(whole[i + 1, 0])
                found.append((_crossing(condition, at, (a, b), (float(g[i]), float(g[i + 1])), strict), name, i))
        for when, name, i in sorted(found):
            self.events.append(Event(name, when))
            if name in self.stop:
                self.stopped = self.events[-1]
                assert within is not None
                return np.vstack([rows[rows[:, 0] < when], within(first + i + 1, whole[i])(when)])
        return rows

    def passed(self, passages: Sequence[Passage]) -> None:
        """Records visits near singular positions."""
        self.events += [Event(_told(x), x.time) for x in passages]
        self.events.sort(key=lambda e: e.time)

    def locked(self, locks: Sequence[Lock]) -> None:
        """Records passages through gimbal lock."""
        self.events += [Event(lock.text, lock.time) for lock in locks]
        self.events.sort(key=lambda e: e.time)


def _told(x: Passage) -> str:
    """A visit near a singular position in words."""
    if x.ratio == Passage.DIVIDED:
        return "step divided, as it needed a correction of its loops that is large against what it moves"
    where = f" of {x.loop}" if x.loop else ""
    near = f"pivots down to {x.ratio:.1e} of their usual size"
    if x.missed:
        gap = f" by {x.residual:.1g}" if x.residual else ""
        return f"two branches{where} miss each other{gap}, and the motion turns ({near})"
    way = "entered and left where it was entered" if x.turned else "passed"
    return f"singular position{where} {way} ({near})"


def _crossing(
    condition: Condition, at: Rows, times: tuple[float, float], values: tuple[float, float], strict: bool
) -> float:
    """The time at which a condition is met first, between one at which it is not and one at which it is."""
    from scipy.optimize import brentq

    ends = dict(zip(times, values, strict=True))

    def value(t: float) -> float:
        return ends[t] if t in ends else float(np.broadcast_to(condition(at(t)[None, :]), (1,))[0])

    a, b = times
    if values[0] < 0 < values[1]:
        return float(brentq(value, a, b, xtol=1e-15 * max(1.0, abs(b)), rtol=8.9e-16, maxiter=200))
    while b - a > 1e-15 * max(1.0, abs(b)) and a < (middle := 0.5 * (a + b)) < b:  # from zero: a jump, or a start
        met = value(middle) > 0 if strict else value(middle) >= 0
        a, b = (a, middle) if met else (middle, b)
    return b


def is_strict(given: Any) -> bool:
    """Is a condition a comparison that does not hold for equal values?"""
    text = str(given)
    return ("<" in text or ">" in text) and parse(text).op in ("<", ">")


def read_condition(
    given: Any, columns: Mapping[str, tuple[int, float]], values: Mapping[str, float], name: str
) -> Condition:
    """A condition over rows for a channel's name or a formula; columns: channel -> (column, factor from user units)."""
    known = {key_of(k): v for k, v in columns.items()}
    numbers = {key_of(k): v for k, v in values.items()}
    text = str(given)

    def nothing_called(shown: str, candidates: Iterable[str]) -> ModelError:
        near = did_you_mean(shown, candidates)
        return ModelError(f"event '{name}': no channel or parameter is called '{shown}'.{near}")

    def channel(rows: np.ndarray, key: str) -> np.ndarray:
        column, factor = known[key]
        return np.asarray(rows[:, column] / factor)

    if key_of(text) in known:
        return lambda rows: channel(rows, key_of(text))
    syntax = parse(text)
    if syntax.op in ("<", "<=", ">", ">="):  # becomes true where the difference becomes positive
        a, b = syntax.children
        parts = (a, b) if syntax.op in (">", ">=") else (b, a)
        syntax = Syntax("-", parts, syntax.position, syntax.source)

    def meaning(rows: np.ndarray, node: Syntax, parts: list[Any]) -> Any:
        key = key_of(show(node)) if node.op in ("name", "call") else ""
        if key in known:
            return channel(rows, key)
        if node.op == "name":
            return np.pi if key == "pi" else numbers.get(key, node)  # a body within q(body) is no number
        unknown = next((p for p in parts if isinstance(p, Syntax)), node)
        if node.op == "number":
            return float(node.args[0])
        function = FUNCTIONS.get(str(node.args[0]).lower() if node.op == "call" else node.op)
        if function is None or unknown is not node:
            raise nothing_called(show(unknown), [*columns, *values])
        if node.op == "call" and not CALLED[str(node.args[0]).lower()].takes(len(parts)):
            raise node.fail(f"event '{name}': {show(node)} has {len(parts)} arguments")
        with np.errstate(all="ignore"):
            return function(*parts)

    def condition(rows: np.ndarray) -> np.ndarray:
        value = evaluate_syntax(syntax, lambda node, parts: meaning(rows, node, parts))
        if isinstance(value, Syntax):
            raise nothing_called(text, columns)
        return np.asarray(value, dtype=float)

    condition(np.zeros((1, 1 + max(c for c, _ in columns.values()))))  # tells what is wrong before the run
    return condition


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "neg": np.negative,
    **{name: for_arrays(f) for name, f in {**OPERATORS, **CALLED}.items()},
}  # fmt: skip
