"""Events of a model in C for controllers: what is watched and set, over the arrays of its
structure.

In:  a `ProgramSetup` with events, and the program. Out: `EmbeddedEvents`. What such code cannot do
is said when it is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bellcrank.codegen.c.embedded import EmbeddedEvents
from bellcrank.codegen.c.events import EmittedEvents
from bellcrank.codegen.event_formula import CEventPrinter
from bellcrank.codegen.identifiers import comment_text
from bellcrank.core.errors import ModelError
from bellcrank.export.embedded.interface import EnumEntry, EnumListing, entry_names
from bellcrank.export.initial_data import fixed_parameters
from bellcrank.export.standalone.setup import ProgramSetup
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.program.loop_equations import LoopEquations
from bellcrank.simulation.many.batch_events import event_source


def embedded_events(derived: DerivedModel, setup: ProgramSetup) -> EmbeddedEvents | None:
    """The events of a model, or None."""
    if not setup.events:
        return None
    missing = [x.name for x in setup.own if x.value is None]
    if missing:
        listed = ", ".join(missing)
        raise ModelError(
            f"events start with values of all parameters: give {listed} in set_defaults()",
            derived.name,
        )
    _require_settable(derived, setup)
    index_of = {x.name: i for i, x in enumerate(setup.own)}
    arrays = [("p", setup.parameters), ("e", setup.own)]
    texts = {
        x.name: _parameter_value(name, i, x.factor)
        for name, listed in arrays
        for i, x in enumerate(listed)
    }
    printer = CEventPrinter(texts)
    events = tuple(event_source(e, printer, index_of) for e in setup.events)
    values = [x.factor * (x.value or 0.0) for x in setup.own]
    return EmbeddedEvents(
        EmittedEvents(events, len(index_of), frozenset(printer.used), frozenset()), values
    )


def event_list(setup: ProgramSetup, upper: str, conditions: Mapping[str, str]) -> EnumListing:
    """Numbers of events by name."""
    names = entry_names(f"{upper}_EVENT", [e.name for e in setup.events])
    words = (
        f"{e.name}: {conditions[e.name]}" if conditions[e.name] != e.name else e.name
        for e in setup.events
    )
    entries = tuple(
        EnumEntry(name, comment_text(text)) for name, text in zip(names, words, strict=True)
    )
    return EnumListing("events: count[...], stopped", entries)


def _parameter_value(array: str, i: int, factor: float) -> str:
    """A parameter in user units."""
    value = f"(double)m->{array}[{i}]"
    return value if factor == 1.0 else f"({value}/{factor!r})"


def _require_settable(derived: DerivedModel, setup: ProgramSetup) -> None:
    """Does an event set what closed loops determine?"""
    loops = derived.program.loops
    fixed = fixed_parameters(derived.program)
    for e in setup.events:
        for x, _ in e.settings:
            if x.symbol in fixed and x.kind == "parameter":
                reason = (
                    "loops are closed by it, or user functions read it at the start; other "
                    "parameters may be set"
                )
            elif (
                loops is not None
                and x.column >= 0
                and x.name not in (free := _unprojected_states(setup, loops))
            ):
                reason = (
                    f"closed loops determine it in embedded code; "
                    f"{', '.join(free) or 'parameters'} may be set"
                )
            else:
                continue
            raise ModelError(f"event '{e.name}' sets {x.name}: {reason}", derived.name)


def _unprojected_states(setup: ProgramSetup, loops: LoopEquations) -> Sequence[str]:
    """Names of the states that corrections of loops leave as they are."""
    if loops.correction is None:
        return ()
    q, u = setup.interface.coordinates, setup.interface.speeds
    corrected = {*(q[i].name for i in loops.correction.q), *(u[i].name for i in loops.correction.u)}
    return [x.name for x in (*q, *u) if x.name not in corrected]
