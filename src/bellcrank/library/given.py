"""Numbers that calls are given: what is none is rejected by its name, with what is allowed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bellcrank.errors import ModelError
from bellcrank.numeric.real import displayed, real, reals


def is_finite(x: Any) -> bool:
    """Is it a finite real number, no text and no truth value?"""
    found = real(x)
    return found is not None and math.isfinite(found)


def finite(call: str, unit: str, /, **given: Any) -> None:
    """Rejects arguments that are no finite numbers."""
    _reject(call, f"a finite number ({unit})", given, is_finite)


def positive(call: str, unit: str, /, **given: Any) -> None:
    """Rejects arguments that are no positive finite numbers."""
    _reject(call, f"a positive number ({unit})", given, lambda x: is_finite(x) and x > 0)


def finite_list(call: str, name: str, unit: str, given: Any) -> list[float]:
    """A list of finite numbers."""
    found = reals(list(given) if isinstance(given, range) else given)
    if found is None or found.ndim != 1 or not found.size or not np.isfinite(found).all():
        raise ModelError(f"{call}: {name}={displayed(given)} must be a list of finite numbers ({unit})")
    values: list[float] = found.tolist()
    return values


def _reject(call: str, kind: str, given: dict[str, Any], good: Callable[[Any], bool]) -> None:
    wrong = [f"{call}: {name}={displayed(x)} must be {kind}" for name, x in given.items() if not good(x)]
    if wrong:
        raise ModelError(wrong)
