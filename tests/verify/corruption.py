"""Wrong programs: each equation of a program spoiled in turn, a little, in all the ways an equation can be wrong."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from bellcrank.backend.python import PythonModel
from bellcrank.program.statements import Assign
from bellcrank.verify.subject import Subject
from bellcrank.verify.truncation import scaled_sample

SECTIONS = ("constants", "derivatives", "outputs", "closure", "system")
FACTOR, BESIDE = Fraction(10013, 10000), Fraction(7, 10000)


def places(program):
    """(section, "result" or "statement", index) of every equation: rates, outputs, constraints and their slopes, intermediate results."""
    found = []
    for name in SECTIONS:
        section = getattr(program, name)
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
    program = replace(eom.program, **{name: section})
    return type(eom)(replace(eom.derived, program=program))


def acts(system, eom, wrong):
    """Does the wrong equation change any result at states that keep the constraints? An intermediate result may cancel out further on,
    or only add to a row a multiple of another. What small variables leave open, a change with the square of their size, is no mistake."""
    subject = Subject(system, eom, {"backend": "python"}, None, 7, quiet=True)
    samples = subject.samples(3)
    samples += subject.further(samples)
    orders = eom.analysis.mechanism.orders
    if not orders:
        return _largest_change(subject, eom, wrong, samples) > 1e-10
    changes = []
    for size in (1e-2, 1e-3):
        scaled = {k: subject.given.get(k, r.value) * size ** orders[k] for k, r in system.description.parameters.items()
                  if k in orders and r.value is not None}  # fmt: skip
        smaller = Subject(system, eom, {"backend": "python"}, scaled, 7, quiet=True)
        changes.append(_largest_change(smaller, eom, wrong, [scaled_sample(subject, s, size, orders) for s in samples]))
    return changes[1] > 1e-14 and math.log10(changes[0] / changes[1]) < 1.5


def _largest_change(subject, eom, wrong, samples):
    routines = subject.loaded.functions
    models = [PythonModel(e.program, routines).calls() for e in (eom, wrong)]
    return max(_change(*(_results(m, subject, s) for m in models)) for s in samples)


def _change(right, wrong):
    pairs = [(np.array(a), np.array(b)) for a, b in zip(right, wrong, strict=True)]
    return max(float(np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(a).max(initial=0.0))) for a, b in pairs)


def _results(model, subject, s):
    p, _, w = subject.numbers(s)
    at = (s.time, s.q.tolist(), s.u.tolist(), p, model.constants(p), w)
    found = [*model.derivatives(*at), model.outputs(*at)]
    if model.program.loops is not None:
        found += [model.values("closure", *at), model.values("system", *at)]
    return found
