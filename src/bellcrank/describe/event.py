"""An event as a user describes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.choices import Crossing
from bellcrank.describe.given import ScalarLike
from bellcrank.errors import ModelError, mapping
from bellcrank.expr.text import parse
from bellcrank.kinds import checked
from bellcrank.model.records import GivenEvent
from bellcrank.numeric.real import displayed, real


@checked
def event(
    expression: ScalarLike,
    *,
    direction: Crossing = 0,
    action: Mapping[Any, ScalarLike] | None = None,
    stop: bool = False,
    name: str = "",
) -> GivenEvent:
    """An event for `simulate(events=[...])`; `System.add_event` describes one that belongs to the model.

    `expression` crosses zero, from below (`direction=1`), from above (-1), or either way (0); or it is a comparison
    that becomes true (with -1: no longer is).

    `action` sets states and parameters: `{"u(ball)": "-e*u(ball)"}`. All its formulas take the values before it. `stop`
    ends the run. Formulas are over states, outputs, inputs, parameters and t, in user units.
    """
    if isinstance(direction, bool) or real(direction) not in (-1, 0, 1):
        raise ModelError(f"event: direction={displayed(direction)} must be -1, 0 or 1")
    text = str(expression)
    named = str(name or text)
    settings = {_name_of(k): str(v) for k, v in mapping(action, f"event '{named}': action").items()}
    for given in (text, *settings.values()):
        parse(given)
    return GivenEvent(text, int(direction), settings, bool(stop), named)


def _name_of(given: Any) -> str:
    return given.name if hasattr(given, "name") else str(given)
