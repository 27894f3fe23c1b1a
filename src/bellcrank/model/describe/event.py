"""An event as a user describes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.choices import Crossing
from bellcrank.core.argument_checks import validate_arguments
from bellcrank.core.errors import ModelError, require_mapping
from bellcrank.core.numeric.real_numbers import display_text, to_float
from bellcrank.model.describe.argument_types import ScalarLike
from bellcrank.model.records import EventRecord
from bellcrank.symbolic.expr.formula_parser import parse_formula


@validate_arguments
def event(
    expression: ScalarLike,
    *,
    direction: Crossing = 0,
    action: Mapping[Any, ScalarLike] | None = None,
    stop: bool = False,
    name: str = "",
) -> EventRecord:
    """Describe an event for `simulate(events=[...])`. `System.add_event` adds one to the model.

    Parameters
    ----------
    expression : ScalarLike
        An expression that crosses zero, or a comparison that becomes true, of states, outputs,
        inputs, parameters and t in user units.
    direction : {-1, 0, 1}, default 0
        Crossings that count: from below (1), from above (-1) or both (0). With -1, a comparison
        counts when it becomes false.
    action : mapping, optional
        New values of states and parameters, as formulas over the values before the event, in user
        units.
    stop : bool, default False
        Does the event end the run?
    name : str, optional
        Name of the event. Default: the expression.

    Returns
    -------
    GivenEvent
        The event.

    Raises
    ------
    ModelError
        If a formula cannot be read or the direction is wrong.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.event("q(ball)", direction=-1, action={"u(ball)": "-e*u(ball)"}, name="bounce").name
    'bounce'
    """
    if isinstance(direction, bool) or to_float(direction) not in (-1, 0, 1):
        raise ModelError(f"event: direction={display_text(direction)} must be -1, 0 or 1")
    text = str(expression)
    event_name = str(name or text)
    settings = {
        _name_of(k): str(v)
        for k, v in require_mapping(action, f"event '{event_name}': action").items()
    }
    for formula in (text, *settings.values()):
        parse_formula(formula)
    return EventRecord(text, int(direction), settings, bool(stop), event_name)


def _name_of(reference: Any) -> str:
    return reference.name if hasattr(reference, "name") else str(reference)
