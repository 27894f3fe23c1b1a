"""Wrong programs: each equation of a program spoiled in turn, a little, in all the ways an equation can be wrong."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

import bellcrank as bc
from bellcrank.build.python import PythonModel
from bellcrank.program.program import Assign

SECTIONS = ("constants", "derivatives", "outputs", "closure", "careful")
FACTOR, BESIDE = Fraction(10013, 10000), Fraction(7, 10000)


def places(program):
    """(section, "result" or "statement", index) of every equation: rates, outputs, constraints and their slopes, intermediate results."""
    found = []
    for name in SECTIONS:
        section = getattr(program, name)
        if name == "careful" and section.results:  # the last is the ratio of pivots, which only chooses the way
            section = replace(section, results=section.results[:-1])
        if name != "constants":  # their results are the statements themselves
            found += [(name, "result", i) for i in range(len(section.results))]
        found += [(name, "statement", i) for i, s in enumerate(section.statements) if isinstance(s, Assign)]
    return found


def spoiled(eom, place):
    """The same equations with one of them a little too large, and a little beside it."""
    name, kind, i = place
    section = getattr(eom.program, name)
    if kind == "result":
        results = list(section.results)
        results[i] = results[i] * FACTOR + BESIDE
        section = replace(section, results=tuple(results))
    else:
        statements = list(section.statements)
        statements[i] = replace(statements[i], value=statements[i].value * FACTOR + BESIDE)
        section = replace(section, statements=tuple(statements))
    wrong = bc.Equations.__new__(bc.Equations)
    wrong.__dict__.update(eom.__dict__)
    wrong.program = replace(eom.program, **{name: section})
    return wrong


def acts(eom, wrong, routines, seed=0):
    """Does the wrong equation change any result? An intermediate result may cancel out further on."""
    results = [_results(PythonModel(e.program, routines), seed) for e in (eom, wrong)]
    return bool(np.nanmax(np.abs(results[0] - results[1]) / np.maximum(1.0, np.abs(results[0])), initial=0.0) > 1e-11)


def _results(model, seed):
    program, rng = model.program, np.random.default_rng(seed)
    found = []
    for _ in range(2):
        p, q, u, w = (
            rng.uniform(0.3, 1.2, len(x)).tolist()
            for x in (program.parameters, program.coordinates, program.speeds, program.inputs)
        )
        at = (0.7, q, u, p, model.constants(p), w)
        rates = model.derivatives(*at)
        found += [*rates[0], *rates[1], *model.outputs(*at)]
        if program.loops is not None:
            found += [*model.closure(*at), *model.careful(*at)[:-1]]
    return np.array(found, dtype=float)
