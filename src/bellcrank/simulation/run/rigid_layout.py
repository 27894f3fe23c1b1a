"""Where the inputs and outputs of rigid wheels stand in a program."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.codegen.c.rigid import RigidWheel
from bellcrank.model.loads.contact import INPUTS, OUTPUTS, RigidContact
from bellcrank.program.program import SimulationProgram


def rigid_wheel_layouts(
    contacts: Sequence[RigidContact], program: SimulationProgram
) -> list[RigidWheel]:
    """The rigid wheels of a model as generated code knows them; none in a model with closed
    loops."""
    if program.loops is not None:
        return []
    inputs = [s.name for s in program.given_inputs]
    outputs = list(program.output_names)
    wheels = []
    for c in contacts:
        input_index = tuple(
            inputs.index(name) if (name := f"{c.name}.{i}") in inputs else -1 for i in INPUTS
        )
        output_index = tuple(outputs.index(f"{c.name}.{o}") for o in OUTPUTS)
        data = c.name, c.radius, c.restitution_factors, c.grip, c.resistance
        wheels.append(RigidWheel(*data, input_index, output_index, c.terrain.near_function))  # type: ignore[arg-type]
    return wheels
