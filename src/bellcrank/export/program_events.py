"""Events of a written program: what it watches and sets, gathered from what a user gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.core.files.parsfile import keyword_for
from bellcrank.export.standalone.setup import KeyedQuantity, ProgramSetup
from bellcrank.simulation.run.event_actions import moves_first_mask
from bellcrank.simulation.run.event_specs import (
    compile_events,
    event_parameter_keys,
    resolve_events,
)
from bellcrank.simulation.run.event_specs import event_parameters as parameters_of


def with_events(
    setup: ProgramSetup, events: Any, stop: Any, independent: Sequence[Any]
) -> ProgramSetup:
    """The setup of a program that watches events, as `simulate` takes them; `independent` speeds of
    the model."""
    interface = setup.interface
    listed_actions = resolve_events(events, stop, interface)
    if not listed_actions:
        return setup
    entered = {x.key: x.name for x in interface.function_parameters}
    used_keys = {key for x in listed_actions for key in event_parameter_keys(interface, x)}
    for key in sorted(used_keys & set(entered)):
        reason = "a user function gives it, and events of a program can neither read nor set it"
        raise ModelError(f"events: {entered[key]}: {reason}", interface.model)
    formulas = compile_events(
        interface, listed_actions, {x.name: 0.0 for x in parameters_of(interface)}
    )
    keywords = [x.keyword for x in (*setup.parameters, *setup.signals)]
    event_parameters = []
    for x in (*interface.unused_parameters, *interface.unreferenced_parameters):
        if x.key in used_keys:
            event_parameters.append(KeyedQuantity(keyword_for(x.name, keywords), x, x.default))
            keywords.append(event_parameters[-1].keyword)
    return replace(
        setup,
        events=tuple(formulas),
        own=tuple(event_parameters),
        follows=moves_first_mask(interface, independent),
    )
