"""The stability of an equilibrium or steady motion, from the eigenvalues of the linear model
there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bellcrank.analysis.equilibrium import Equilibrium, NoEquilibrium
from bellcrank.analysis.find_equilibrium import find_equilibrium
from bellcrank.analysis.linearize import linear_model
from bellcrank.analysis.modes import stability_of
from bellcrank.analysis.operating_point import merge_guesses
from bellcrank.analysis.plant import AnalysisModel
from bellcrank.core.errors import ModelError, RunError

EQUILIBRIUM_TOLERANCE = 1e-6  # difference of two equilibria, in equation units, that counts as none


def with_stability(plant: AnalysisModel, solution: Equilibrium) -> Equilibrium:
    """The equilibrium with its eigenvalues and stability to first order."""
    try:
        values = linear_model(plant, solution, (), ()).essential().eigenvalues
    except (RunError, ModelError) as error:
        return replace(solution, stability=f"not determined ({error})")
    return replace(
        solution, stability=stability_of(values), eigenvalues=tuple(complex(x) for x in values)
    )


def find_stable_equilibrium(
    plant: AnalysisModel, at: Any, guess: Mapping[Any, float | str] | None, **options: Any
) -> Equilibrium:
    """`find_equilibrium` with stability, and where damped motion leads instead if it is
    unstable."""
    options["at"] = merge_guesses(plant, at, guess)
    solution = with_stability(plant, find_equilibrium(plant, **options))
    if solution.stability != "unstable":
        return solution
    try:
        damped_solution = find_equilibrium(plant, **options, method="damped motion")
    except NoEquilibrium:
        return solution
    if not any(
        abs(x - y) > EQUILIBRIUM_TOLERANCE
        for x, y in zip(damped_solution.point.q, solution.point.q, strict=True)
    ):
        return solution
    return replace(solution, settles={n: damped_solution.values[n] for n in damped_solution.moved})
