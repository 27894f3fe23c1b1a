"""What a derivation gives: the analysed model, its quantities, and the program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bellcrank.kinematics.analysis import Analysis
from bellcrank.kinematics.dimensions import Quantities
from bellcrank.program.program import Program


class Derived(NamedTuple):
    """Equations of motion as data. `how` says in words by which form, `solve` what was asked for, `seconds` what each stage took."""

    analysis: Analysis
    quantities: Quantities
    program: Program
    how: str
    seconds: Mapping[str, float]
    solve: str
