"""Guesses of states: from where the assembly of closed loops starts, next to initial values, which
it keeps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from bellcrank.core.errors import ModelError, require_mapping
from bellcrank.core.units import parse_quantity


class StateGuess(float):
    """A value among initial ones from which an assembly starts and which it may change."""

    __slots__ = ()


class GuessText(str):
    """The same as text with a unit ("90 deg"), until the unit of the state is known."""

    __slots__ = ()


def with_guess(initial: Any, guess: Mapping[Any, float | str] | None) -> Any:
    """Initial values together with guesses of other states."""
    if not guess:
        require_mapping(guess, "guess")
        return initial
    if initial is not None and not isinstance(initial, Mapping):
        raise ModelError(
            "guess= goes with values by name: initial= is a whole state (q, u), which "
            "leaves nothing open"
        )
    initial_keys = {_normalized_name(k) for k in initial or ()}
    guesses = {k: _make_guess(k, v) for k, v in require_mapping(guess, "guess").items()}
    if duplicates := [str(k) for k in guesses if _normalized_name(k) in initial_keys]:
        reason = "an initial value is kept, a guess may change"
        raise ModelError(f"{', '.join(duplicates)}: given in initial= and in guess=; {reason}")
    return {**(initial or {}), **guesses}


def _normalized_name(name: Any) -> str:
    return "".join(str(getattr(name, "name", name)).split())


def _make_guess(name: Any, value: Any) -> StateGuess | GuessText:
    if parse_quantity(value) is not None:
        return GuessText(value)
    try:
        number = StateGuess(value)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"guess of {name} is {value!r}, not a number") from None
    if not math.isfinite(number):
        raise ModelError(f"guess of {name} is {number}, not a finite number")
    return number
