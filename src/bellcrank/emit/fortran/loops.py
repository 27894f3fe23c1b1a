"""Closed loops in Fortran: the numbers that their run-time sources use."""

from __future__ import annotations

from bellcrank.emit.fortran.lines import wrapped
from bellcrank.emit.fortran.runtime_files import real
from bellcrank.emit.fortran.tables import numbers
from bellcrank.numeric.projection import Scales
from bellcrank.numeric.tuning import ELIMINATION
from bellcrank.program.loops import Loops


def scales(k: Scales) -> list[str]:
    """Numbers that bring the rows of loops to entries of about one, and what counts as a singular position."""
    lines = [
        f"  real(dp), parameter :: usual_ratio = {real(k.usual)}, singular = {real(ELIMINATION.singular)}",
        f"  real(dp), parameter :: usual_order = {real(k.usual_order)}",
        f"  integer, parameter :: n_order = {len(k.order)} ! pivots of `derivatives`: their rows and columns",
    ]
    for i, name in enumerate(("order_row", "order_column")):
        listed = ", ".join(str(place[i] + 1) for place in k.order)
        lines += [f"  {line}" for line in wrapped(f"integer, parameter :: {name}(n_order) = [integer :: {listed}]")]
    for name, size, values in (("row_scale", "n_v", k.rows), ("column_scale", "n_u", k.columns)):
        lines += [f"  real(dp), parameter :: {name}({size}) = [ &", f"    {numbers(values)}]"]
    return [*lines, ""]


def corrected_places(loops: Loops) -> str:
    """Places that the correction of regular positions moves."""
    correction = loops.correction
    if correction is None:
        return ""
    lines = [f"integer, parameter :: n_corrected_q = {len(correction.q)}, n_corrected_u = {len(correction.u)}"]
    for name, places in (("q", correction.q), ("u", correction.u)):
        listed = ", ".join(str(i + 1) for i in places)
        lines += wrapped(f"integer, parameter :: corrected_{name}(n_corrected_{name}) = [integer :: {listed}]")
    scales = ", ".join(map(real, correction.pivot_scales))
    lines += wrapped(f"real(dp), parameter :: pivot_scale(n_corrected_u) = [real(dp) :: {scales}]")
    return "".join(f"  {line}\n" for line in lines)
