"""Numbers that calls are given: what is none is rejected by its name, with what is allowed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.core.numeric.real_numbers import display_text, to_float, to_float_array


def is_finite(x: Any) -> bool:
    """Is it a finite real number, no text and no truth value?"""
    value = to_float(x)
    return value is not None and math.isfinite(value)


def require_finite_argument(call: str, unit: str, /, **arguments: Any) -> None:
    """Rejects arguments that are no finite numbers."""
    _raise_if_wrong(call, f"a finite number ({unit})", arguments, is_finite)


def require_positive_argument(call: str, unit: str, /, **arguments: Any) -> None:
    """Rejects arguments that are no positive finite numbers."""
    _raise_if_wrong(
        call, f"a positive number ({unit})", arguments, lambda x: is_finite(x) and x > 0
    )


def require_finite_list(call: str, name: str, unit: str, numbers: Any) -> list[float]:
    """A list of finite numbers."""
    array = to_float_array(list(numbers) if isinstance(numbers, range) else numbers)
    if array is None or array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise ModelError(
            f"{call}: {name}={display_text(numbers)} must be a list of finite numbers ({unit})"
        )
    values: list[float] = array.tolist()
    return values


def _raise_if_wrong(
    call: str, kind: str, arguments: dict[str, Any], is_valid: Callable[[Any], bool]
) -> None:
    problems = [
        f"{call}: {name}={display_text(x)} must be {kind}"
        for name, x in arguments.items()
        if not is_valid(x)
    ]
    if problems:
        raise ModelError(problems)
