"""The stability of an equilibrium or steady motion, from the eigenvalues of the linear model there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bellcrank.analysis.equilibrium import Equilibrium, NoEquilibrium
from bellcrank.analysis.find_equilibrium import find_equilibrium
from bellcrank.analysis.linearise import linear_model
from bellcrank.analysis.modes import stability_of
from bellcrank.analysis.plant import Plant
from bellcrank.analysis.where import with_guesses
from bellcrank.errors import ModelError, RunError

SAME = 1e-6  # difference of two equilibria, in equation units, that counts as none


def assessed(plant: Plant, found: Equilibrium) -> Equilibrium:
    """The equilibrium with its eigenvalues and stability to first order."""
    try:
        values = linear_model(plant, found, (), ()).essential().eigenvalues
    except (RunError, ModelError) as error:
        return replace(found, stability=f"not determined ({error})")
    return replace(found, stability=stability_of(values), eigenvalues=tuple(complex(x) for x in values))


def equilibrium(plant: Plant, at: Any, guess: Mapping[Any, float | str] | None, **asked: Any) -> Equilibrium:
    """`find_equilibrium` with stability, and where damped motion leads instead if it is unstable."""
    asked["at"] = with_guesses(plant, at, guess)
    found = assessed(plant, find_equilibrium(plant, **asked))
    if found.stability != "unstable":
        return found
    try:
        other = find_equilibrium(plant, **asked, by="damped motion")
    except NoEquilibrium:
        return found
    if not any(abs(x - y) > SAME for x, y in zip(other.point.q, found.point.q, strict=True)):
        return found
    return replace(found, settles={n: other.values[n] for n in other.moved})
