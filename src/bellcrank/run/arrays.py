"""Functions of the model language over arrays, value by value."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from bellcrank.expr.function_table import MathFunction


def for_arrays(known: MathFunction) -> Callable[..., Any]:
    """A function of the model language for arrays, value by value."""
    form = getattr(np, known.numpy or known.name, None) or np.vectorize(known.value, otypes=[float])
    return form if known.arity is not None else lambda *parts: reduce(form, parts)
