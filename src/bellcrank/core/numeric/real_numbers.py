"""Real numbers as callers give them: what counts as one, and how a wrong one is shown in a
message."""

from __future__ import annotations

from typing import Any

import numpy as np


def to_float(value: Any) -> float | None:
    """The number; None for text, booleans, complex and masked values, and integers that no float
    can hold."""
    if type(value) is float:
        return value
    if isinstance(
        value,
        str
        | bytes
        | bool
        | np.bool_
        | complex
        | np.complexfloating
        | np.timedelta64
        | np.datetime64,
    ):
        return None
    if isinstance(value, np.ndarray) and (
        value.ndim or value.dtype.kind not in "iuf" or value is np.ma.masked
    ):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def to_float_array(values: Any) -> np.ndarray | None:
    """An own array of real numbers; None where one of them is none."""
    listed = values if isinstance(values, list | tuple) else [values]
    if any(
        isinstance(x, np.ndarray) and type(x) is not np.ndarray and np.ma.is_masked(x)
        for x in listed
    ):
        return None
    try:
        array = np.array(values)
    except (TypeError, ValueError):
        return None
    if array.dtype.kind == "O":  # fractions, decimals, integers of many digits
        numbers = [to_float(x) for x in array.ravel()]
        return None if None in numbers else np.array(numbers, dtype=float).reshape(array.shape)
    return array.astype(float, order="C") if array.dtype.kind in "iuf" else None


def to_interval(values: Any) -> tuple[float, float] | None:
    """Two finite numbers, the lower first; None for anything else."""
    limits = to_float_array(values)
    if (
        limits is None
        or limits.shape != (2,)
        or not np.isfinite(limits).all()
        or not limits[0] < limits[1]
    ):
        return None
    return float(limits[0]), float(limits[1])


def display_text(value: Any) -> str:
    """A value for a message, which Python does not print where it is an integer of thousands of
    digits."""
    try:
        return f"{value!r:.60}"
    except ValueError:
        return (
            f"an integer of {value.bit_length()} bits"
            if isinstance(value, int)
            else type(value).__name__
        )
