"""The smallest change that satisfies some rows, in Fortran."""

from __future__ import annotations

from bellcrank.files.template import filled, template
from bellcrank.numeric.tuning import LOOPS


def least_norm() -> str:
    """A subroutine with the thresholds of the table."""
    pieces = {"SHORT": f"{LOOPS.short!r}_dp", "REPEATED": f"{LOOPS.repeated!r}_dp"}
    return filled(template("bellcrank.emit/fortran/runtime", "least_norm.f90"), pieces)
