"""Functions of the model language over arrays, value by value."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from bellcrank.symbolic.expr.function_table import MathFunction


def array_function(math_function: MathFunction) -> Callable[..., Any]:
    """A function of the model language for arrays, value by value."""
    form = getattr(np, math_function.numpy or math_function.name, None) or np.vectorize(
        math_function.value, otypes=[float]
    )
    return form if math_function.arity is not None else lambda *parts: reduce(form, parts)
