"""Rigid wheels in C: their ground and their tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bellcrank.codegen.c.c_data import c_data_definitions
from bellcrank.codegen.c.linkage import function_data
from bellcrank.codegen.kernel_data import Data
from bellcrank.codegen.kernel_function import KernelFunction, kernel_function_digest
from bellcrank.kernel.text import Kernel
from bellcrank.program.program import SimulationProgram
from bellcrank.program.statements import Section, prune_section


@dataclass(frozen=True)
class RigidWheel:
    """A rigid wheel as generated code knows it, in equation units.

    `inputs`: places in w of the force along x and z and of the moment of the ground (-1: none).
    `facts`: places among the outputs of x, z, vx, vz, spin, ax, az, turn. `resistance`: rolling
    resistance. `ground` as the kernel knows it.
    """

    name: str
    radius: float
    restitution: tuple[float, float]
    grip: int
    resistance: float
    inputs: tuple[int, int, int]
    facts: tuple[int, ...]
    ground: KernelFunction


def wheels_at(program: SimulationProgram, wheels: Sequence[RigidWheel]) -> Section:
    """What a run asks of all wheels at a state."""
    results = tuple(program.outputs.results[i] for w in wheels for i in w.facts)
    return prune_section(replace(program.outputs, results=results), program.derivatives.statements)


def wheel_data(wheels: Sequence[RigidWheel]) -> Data:
    """What the kernel knows of the wheels, but for their ground."""
    return {
        "N_WHEELS": len(wheels),
        "WHEEL_RADIUS": [w.radius for w in wheels],
        "WHEEL_RESTITUTION": [x for w in wheels for x in w.restitution],
        "WHEEL_RESISTANCE": [w.resistance for w in wheels],
        "WHEEL_GRIP": [w.grip for w in wheels],
        "WHEEL_INPUT": [x for w in wheels for x in w.inputs],
    }


def wheel_tables(wheels: Sequence[RigidWheel]) -> str:
    """The ground and what is known of the wheels, in C."""
    grounds = {f"wheel_ground_{kernel_function_digest(w.ground)}": w.ground for w in wheels}
    names = [f"&wheel_ground_{kernel_function_digest(w.ground)}_of" for w in wheels]
    texts = [
        Kernel({}).take("ground_parts.c"),
        *(function_data(name, g) for name, g in grounds.items()),
    ]
    texts += [
        f"static const Ground *const WHEEL_GROUND[] = {{{', '.join(names)}}};",
        c_data_definitions(wheel_data(wheels)),
    ]
    return "\n".join(texts)
