"""Errors: what can go wrong, said to an engineer.

`ModelError`, `BuildError` and `RunError` are the user's to fix; `InternalError` is a bug of
Bellcrank. A message reports what, where, the numbers, and what to try; a `ModelError` holds all
problems found at once. Every error survives pickling, so that a study may run in other processes.
"""

from __future__ import annotations

import difflib
import importlib
import sys
import threading
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_SHOWN = 100  # characters of a long line of text that an ExpressionError shows
# characters that a terminal obeys: C0 without tab and new line, C1, directions of text, half
# characters
_CONTROL = (
    *range(0x09),
    *range(0x0B, 0x20),
    *range(0x7F, 0xA0),
    0x2028,
    0x2029,
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    *range(0xD800, 0xE000),
)
_ESCAPES = {code: ascii(chr(code))[1:-1] for code in _CONTROL}


def escape_unprintable(text: str) -> str:
    """A text whose control characters are written as Python would: names and units of files may
    hold any."""
    return text if text.isprintable() else text.translate(_ESCAPES)


class BellcrankError(Exception):
    """Base of all errors that Bellcrank raises.

    Examples
    --------
    >>> import bellcrank as bc
    >>> try:
    ...     bc.System("car").expr("k*(x")
    ... except bc.BellcrankError as error:
    ...     print(type(error).__name__)
    ExpressionError
    """

    def __str__(self) -> str:
        return escape_unprintable(super().__str__())


class ModelError(BellcrankError):
    """A description or an option that cannot be used.

    Parameters
    ----------
    problems : str or sequence of str
        Messages, all that were found at once.
    model : str, optional
        Name of the model.

    Examples
    --------
    >>> import bellcrank as bc
    >>> try:
    ...     bc.System("car").equations(solve="fast")
    ... except bc.ModelError as error:
    ...     print(len(error.problems))
    1
    """

    def __init__(self, problems: str | Sequence[str], model: str | None = None) -> None:
        super().__init__(problems, model)
        self.problems: list[str] = [problems] if isinstance(problems, str) else list(problems)
        self.model = model

    def __str__(self) -> str:
        if self.model is None and len(self.problems) == 1:
            return escape_unprintable(self.problems[0])
        count = f"{len(self.problems)} problem{'' if len(self.problems) == 1 else 's'}"
        head = (
            f"the model has {count}" if self.model is None else f"model '{self.model}' has {count}"
        )
        return escape_unprintable(
            "\n".join(
                [
                    head,
                    *(_numbered_problem(i, problem) for i, problem in enumerate(self.problems, 1)),
                ]
            )
        )


class ExpressionError(ModelError):
    """A text that cannot be read: an expression, a unit, a line of a file.

    Parameters
    ----------
    message : str
        What is wrong; further lines report what is allowed.
    text : str
        The text.
    position : int
        Character of the text, from 0. The message shows it by a caret.
    model : str, optional
        Name of the model.

    Examples
    --------
    >>> import bellcrank as bc
    >>> try:
    ...     bc.System("car").expr("k*(x")
    ... except bc.ExpressionError as error:
    ...     print(error.text, error.position)
    k*(x 2
    """

    def __init__(self, message: str, text: str, position: int, model: str | None = None) -> None:
        head, *details = message.split("\n")
        super().__init__("\n".join([head, _caret_excerpt(text, position), *details]), model)
        self.args = (message, text, position, model)
        self.message = message
        self.text = text
        self.position = position


class BuildError(BellcrankError):
    """Generated source that cannot be written, compiled or loaded.

    Examples
    --------
    >>> import bellcrank as bc
    >>> issubclass(bc.BuildError, bc.BellcrankError)
    True
    """


class RunError(BellcrankError):
    """A run or an analysis that cannot start or continue. The message has time, state and cause.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("mass")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> run = s.equations().compile(backend="python").simulate(1, step=0.5)
    >>> try:
    ...     run["speed"]
    ... except bc.RunError as error:
    ...     print(str(error).splitlines()[0])
    no channel 'speed'. Channels: q(mass), u(mass)
    """


class NoChannel(RunError, KeyError):
    """A channel that a run does not have."""

    __str__ = Exception.__str__


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run.

    Parameters
    ----------
    run : Run
        What was computed until then, a run like any other.

    Examples
    --------
    >>> import bellcrank as bc
    >>> issubclass(bc.Interrupted, KeyboardInterrupt)
    True
    """

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self.run = run

    def __str__(self) -> str:
        return f"the run was {self.run.ended}"


class InternalError(BellcrankError):
    """A fault of Bellcrank, to be reported with the model.

    Examples
    --------
    >>> import bellcrank as bc
    >>> "Please report it" in str(bc.InternalError("no pivot"))
    True
    """

    def __str__(self) -> str:
        return (
            f"{super().__str__()}\nThis is a fault in Bellcrank, not in your model. Please "
            f"report it with the model."
        )


class ModelWarning(UserWarning):
    """Category of warnings: something is allowed but probably not meant.

    Examples
    --------
    >>> import warnings
    >>> import bellcrank as bc
    >>> s = bc.System("mass")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> with warnings.catch_warnings(record=True) as issued:
    ...     warnings.simplefilter("always", bc.ModelWarning)
    ...     s.set_defaults(k=3)
    ...     eom = s.equations()
    >>> [x.category.__name__ for x in issued]
    ['ModelWarning']
    """


_issued = threading.local()


def warnings_issued() -> int:
    """How many warnings this thread has issued."""
    return getattr(_issued, "count", 0)


def issue_warning(text: str) -> None:
    """A warning at the line outside of Bellcrank that led to it."""
    _issued.count = warnings_issued() + 1
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("bellcrank"):
        level, frame = level + 1, frame.f_back
    warnings.warn(escape_unprintable(text), ModelWarning, stacklevel=level)


def require_mapping(value: Any, label: str) -> dict[Any, Any]:
    """A dictionary that was given, or an empty one for None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ModelError(f"{label}={value!r} must be a dictionary {{name: value}}")
    return dict(value)


def require_callback(function: Any, label: str, arguments: str) -> None:
    """Rejects what was given in place of a function that is called as one continues, or of None."""
    if function is not None and not callable(function):
        raise ModelError(f"{label}={function!r} must be a function of {arguments}, or None")


def optional_package(name: str, extra: str) -> Any:
    """A package that only some need, imported; `extra` is what brings it along."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise RunError(f"this needs the package {name}: pip install bellcrank[{extra}]") from None


def pluralize(number: int, word: str, words: str = "") -> str:
    """1 body, 2 bodies."""
    return f"{number} {word if number == 1 else words or word + 's'}"


def close_matches(name: str, candidates: Iterable[str]) -> list[str]:
    """Up to three of the candidates that resemble a name, best first; capitals do not matter."""
    spelled = {
        candidate.lower(): candidate for candidate in reversed(list(candidates))
    }  # the first of equals
    return [
        spelled[match]
        for match in difflib.get_close_matches(str(name).lower(), spelled, n=3, cutoff=0.6)
    ]


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" (note the space) for the candidate nearest to a name, or "" if
    none is near."""
    matches = close_matches(name, candidates)
    return f" Did you mean '{matches[0]}'?" if matches else ""


def _numbered_problem(number: int, problem: str) -> str:
    label = f"  {number}. "
    return label + problem.replace("\n", "\n" + " " * len(label))


def _caret_excerpt(text: str, position: int) -> str:
    """The line of a text that holds a position, and a caret line under it; long lines are cut
    around the caret."""
    position = min(max(position, 0), len(text))
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start : end if end >= 0 else len(text)]
    column = position - start
    first_column = max(0, column - _SHOWN // 2) if len(line) > _SHOWN else 0
    text_before, text_after = line[first_column:column], line[column : first_column + _SHOWN]
    mark_left = "..." if first_column else ""
    mark_right = "..." if first_column + _SHOWN < len(line) else ""
    margin = "".join("\t" if character == "\t" else " " for character in mark_left + text_before)
    return f"  {mark_left}{text_before}{text_after}{mark_right}\n  {margin}^"
