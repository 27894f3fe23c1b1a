"""Inertias of speeds for themselves, as a function next to those of a program."""

from __future__ import annotations

from bellcrank.program.program import SimulationProgram
from bellcrank.program.statements import Section, prune_section


def inertia_functions(program: SimulationProgram) -> dict[str, Section]:
    """`inertias`: the diagonal of the mass matrix of the tree, from which the metric of corrections
    follows."""
    if program.loops is None:
        return {}
    first, system = len(program.coordinates), program.system
    diagonal = [
        first + i * (i + 3) // 2 for i in range(len(program.speeds))
    ]  # of the diagonal in the lower triangle
    return {
        "inertias": prune_section(
            Section((), tuple(system.results[i] for i in diagonal)), system.statements
        )
    }
