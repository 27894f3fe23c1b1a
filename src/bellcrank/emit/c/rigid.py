"""Rigid wheels in C: their ground and their tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bellcrank.program.program import Program
from bellcrank.program.statements import Section, needed


@dataclass(frozen=True)
class RigidWheel:
    """A rigid wheel as generated code knows it, in equation units.

    `inputs`: places in w of the force along x and z and of the moment of the ground (-1: none). `facts`: places among
    the outputs of x, z, vx, vz, spin, ax, az, turn. `resistance`: rolling resistance. `source`: C text of its ground,
    `ground` the name of the data there.
    """

    name: str
    radius: float
    restitution: tuple[float, float]
    turns: bool
    resistance: float
    inputs: tuple[int, int, int]
    facts: tuple[int, ...]
    source: str
    ground: str


def wheels_at(program: Program, wheels: Sequence[RigidWheel]) -> Section:
    """What a run asks of all wheels at a state."""
    results = tuple(program.outputs.results[i] for w in wheels for i in w.facts)
    return needed(replace(program.outputs, results=results), program.derivatives.statements)


def wheel_tables(wheels: Sequence[RigidWheel]) -> str:
    """The ground and what is known of the wheels."""
    n = len(wheels)
    columns = {
        f"double WHEEL_RADIUS[{n}]": [repr(w.radius) for w in wheels],
        f"double WHEEL_RESTITUTION[{n}][2]": [f"{{{w.restitution[0]!r}, {w.restitution[1]!r}}}" for w in wheels],
        f"double WHEEL_RESISTANCE[{n}]": [repr(w.resistance) for w in wheels],
        f"int WHEEL_TURNS[{n}]": [str(int(w.turns)) for w in wheels],
        f"int WHEEL_INPUT[{n}][3]": ["{" + ", ".join(map(str, w.inputs)) + "}" for w in wheels],
        f"ground_t *const WHEEL_GROUND[{n}]": [f"&{w.ground}" for w in wheels],
    }
    lines = [*dict.fromkeys(w.source for w in wheels)]
    lines += [f"static const {head} = {{{', '.join(values)}}};" for head, values in columns.items()]
    return "\n".join([*lines, f"enum {{ N_WHEELS = {n} }};", ""])
