"""Tuning constants in Fortran."""

from __future__ import annotations

from typing import Any

from bellcrank.numeric.tuning import constants


def parameters(group: Any) -> str:
    """A part of the table as parameters: tuned_NAME."""
    lines = []
    for c in constants(group):
        kind = "integer" if isinstance(c.value, int) else "real(dp)"
        value = c.value if isinstance(c.value, int) else f"{c.value!r}_dp"
        lines += [f"  ! {c.note}", f"  {kind}, parameter :: tuned_{c.name} = {value}"]
    return "".join(f"{line}\n" for line in lines)
