"""Where the inputs and outputs of rigid wheels stand in a program."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.emit.c.rigid import RigidWheel
from bellcrank.model.loads.contact import INPUTS, OUTPUTS, RigidContact
from bellcrank.program.program import Program


def rigid_wheels(contacts: Sequence[RigidContact], program: Program) -> list[RigidWheel]:
    """The rigid wheels of a model as generated code knows them; none in a model with closed loops."""
    if program.loops is not None:
        return []
    inputs = [s.name for s in program.given_inputs]
    outputs = list(program.output_names)
    found = []
    for c in contacts:
        places = tuple(inputs.index(name) if (name := f"{c.name}.{i}") in inputs else -1 for i in INPUTS)
        facts = tuple(outputs.index(f"{c.name}.{o}") for o in OUTPUTS)
        own = c.name, c.radius, c.restitution, c.turns, c.resistance
        found.append(RigidWheel(*own, places, facts, c.terrain.near_function))  # type: ignore[arg-type]
    return found
