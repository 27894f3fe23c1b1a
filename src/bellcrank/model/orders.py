"""Small orders of symbols, from small(), large() and the flags of bodies."""

from __future__ import annotations

from typing import Any

from bellcrank.errors import ModelError
from bellcrank.expr import Symbol
from bellcrank.model.reading import Checker


def assign_orders(checker: Checker) -> None:
    """Gives orders to symbols; coordinates and speeds are then made anew."""
    d, scope = checker.description, checker.scope
    for draft in checker.drafts:
        record, k = draft.record, len(draft.slides)
        q, u = scope.by_body[record.name]
        flags = _flags(record.small_translations, k) + _flags(record.small_angles, max(len(q), len(u)) - k)
        for states in (q, u):
            for s, flag in zip(states, flags, strict=False):
                if flag:
                    scope.orders[s.name] = 1
    for given, order in [(x, 1) for x in d.small] + [(x, -1) for x in d.large]:
        with checker.collecting("small()" if order > 0 else "large()"):
            e = scope.scalar(given)
            if not isinstance(e, Symbol):
                raise ModelError(f"{e} is not a parameter, variable, coordinate or speed.")
            scope.orders[e.name] = order
    if scope.orders:
        for q, u in (*scope.by_body.values(), (scope.coordinates, scope.speeds)):
            for states in (q, u):
                states[:] = [scope.symbol(s.name, s.kind) for s in states]
        scope.forget()


def _flags(flag: Any, count: int) -> list[bool]:
    if hasattr(flag, "__len__"):
        return [bool(x) for x in flag][:count] + [False] * (count - len(flag))
    return [bool(flag)] * count
