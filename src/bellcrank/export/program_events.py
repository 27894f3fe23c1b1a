"""Events of a written program: what it watches and sets, gathered from what a user gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bellcrank.errors import ModelError
from bellcrank.export.standalone.setup import Keyed, Setup
from bellcrank.files.parsfile import keyword_for
from bellcrank.run.actions import event_formulas, listed_events, parameters_of, parameters_used
from bellcrank.run.jumps import following


def with_events(setup: Setup, events: Any, stop: Any, independent: Sequence[Any]) -> Setup:
    """The setup of a program that watches events, as `simulate` takes them; `independent` speeds of the model."""
    interface = setup.interface
    listed_actions = listed_events(events, stop, interface)
    if not listed_actions:
        return setup
    entered = {x.key: x.name for x in interface.entered}
    used_keys = {key for x in listed_actions for key in parameters_used(interface, x)}
    for key in sorted(used_keys & set(entered)):
        reason = "a user function gives it, and events of a program can neither read nor set it"
        raise ModelError(f"events: {entered[key]}: {reason}", interface.model)
    formulas = event_formulas(interface, listed_actions, {x.name: 0.0 for x in parameters_of(interface)})
    keywords = [x.keyword for x in (*setup.parameters, *setup.signals)]
    event_parameters = []
    for x in (*interface.idle, *interface.unused):
        if x.key in used_keys:
            event_parameters.append(Keyed(keyword_for(x.name, keywords), x, x.default))
            keywords.append(event_parameters[-1].keyword)
    return replace(
        setup, events=tuple(formulas), own=tuple(event_parameters), follows=following(interface, independent)
    )
