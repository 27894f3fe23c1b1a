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
    given = listed_events(events, stop, interface)
    if not given:
        return setup
    entered = {x.key: x.name for x in interface.entered}
    used = {key for x in given for key in parameters_used(interface, x)}
    for key in sorted(used & set(entered)):
        why = "a user function gives it, and events of a program can neither read nor set it"
        raise ModelError(f"events: {entered[key]}: {why}", interface.model)
    formulas = event_formulas(interface, given, {x.name: 0.0 for x in parameters_of(interface)})
    taken = [x.keyword for x in (*setup.parameters, *setup.signals)]
    own = []
    for x in (*interface.idle, *interface.unused):
        if x.key in used:
            own.append(Keyed(keyword_for(x.name, taken), x, x.default))
            taken.append(own[-1].keyword)
    return replace(setup, events=tuple(formulas), own=tuple(own), follows=following(interface, independent))
