"""The functions that programs consist of: one line for each, in the order in which they are
printed.

Whoever prints, loads, counts or searches a program goes over `Program.functions`; nobody lists them
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bellcrank.program.statements import Section


@dataclass(frozen=True)
class FunctionKind:
    """What a function gives and when it is called.

    `phase` is 1 for what is evaluated with the rates of the states, 2 for outputs and values that
    are kept, 0 for what comes before: a routine with a memory may change it in one phase only.
    `equations`: of closed loops, those that need it, "minimal" or "multipliers"; all, if it is
    empty. `frequent`: it is worth arranging for speed.
    `sparse`: many of its results are zero.
    """

    what: str
    phase: int = 1
    equations: str = ""
    frequent: bool = False
    sparse: bool = False


KINDS: Mapping[str, FunctionKind] = {
    "constants": FunctionKind("what follows from the parameters alone", 0),
    "derivatives": FunctionKind("rates of coordinates and speeds", frequent=True),
    "outputs": FunctionKind("further channels", 2),
    "closure": FunctionKind("constraints of closed loops: g, G, v, J", frequent=True, sparse=True),
    "sides": FunctionKind(
        "closed loops: do directions point as drawn, 1, or the other way, -1; slopes by q",
        sparse=True,
    ),
    "correct_q": FunctionKind(
        "what is taken from dependent coordinates in regular positions", 1, "minimal", frequent=True
    ),
    "correct_u": FunctionKind("the same for speeds, then the pivots", 1, "minimal", frequent=True),
    "system": FunctionKind(
        "redundant equations: q', M (lower triangle), f, J, gamma, g, v", sparse=True
    ),
    "coordinate_rates": FunctionKind("rates of coordinates alone"),
    "start": FunctionKind(
        "values of user functions that are kept over a run: the first of those at the end of w", 2
    ),
    "update": FunctionKind("values of user functions that are kept over a step: the last of w", 2),
    "entry": FunctionKind("parameters that user functions give: the last of p", 0),
    "slopes": FunctionKind("nonzero entries of the state Jacobian"),
    "echo": FunctionKind("what user functions give to the echo of a run", 2),
    "poses": FunctionKind(
        "where bodies are: origin and rotation matrix of each, in the inertial frame",
        2,
        sparse=True,
    ),
    "marks": FunctionKind("numbers of a picture that follow from the parameters", 2, sparse=True),
}
ALWAYS = ("constants", "derivatives", "outputs")


@dataclass(frozen=True)
class ProgramFunction:
    """A function of a program: results from time, states, parameters, constants and inputs;
    `labels` name them.

    The section stands for itself. The results of `constants`, which takes parameters alone, are
    what its statements assign.
    """

    name: str
    section: Section
    labels: tuple[str, ...]
    kind: FunctionKind

    @classmethod
    def extra(cls, name: str, section: Section) -> ProgramFunction:
        """A function besides those that every program may have."""
        labels = tuple(f"{name} {i}" for i in range(1, len(section.results) + 1))
        return cls(name, section, labels, FunctionKind(f"{name}, one after another"))
