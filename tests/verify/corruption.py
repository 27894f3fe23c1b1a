"""Wrong programs: each equation of a program spoiled in turn, a little, in all the ways an equation
can be wrong."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from bellcrank.verify.model_under_test import ModelUnderTest
from bellcrank.verify.truncation import scaled_sample

FACTOR, BESIDE = Fraction(10013, 10000), Fraction(7, 10000)


def places(program):
    """(section, "result", index) or (section, "statement", index, path) of every equation: rates,
    outputs, constraints and their slopes, corrections, redundant equations, kept values,
    intermediate results, arguments of calls, entries of linear systems."""
    found = []
    for name in program.functions:
        section = getattr(program, name)
        last = len(section.results) - ONLY_CHOOSE.get(name, lambda loops: 0)(program.loops)
        section = replace(section, results=section.results[:last])
        if name != "constants":  # their results are the statements themselves
            found += [(name, "result", i) for i in range(len(section.results))]
        found += [
            (name, "statement", i, path)
            for i, s in enumerate(section.statements)
            for path in paths(s)
        ]
    return found


FIELDS = (
    "value",
    "arguments",
    "matrix",
    "right",
    "mass",
    "force",
    "rows",
)  # of statements, in which expressions stand


def paths(statement):
    """Where expressions stand in a statement: (field, index, index ...)."""

    def inside(entry, path):
        return (
            [p for i, x in enumerate(entry) for p in inside(x, (*path, i))]
            if isinstance(entry, tuple)
            else [path]
        )

    return [
        p
        for name in FIELDS
        if hasattr(statement, name)
        for p in inside(getattr(statement, name), (name,))
    ]


def _wrong(entry):
    return entry * FACTOR + BESIDE


def _with_wrong(entry, places):
    """Nested tuples with one expression in them spoiled."""
    if not places:
        return _wrong(entry)
    return tuple(_with_wrong(x, places[1:]) if i == places[0] else x for i, x in enumerate(entry))


ONLY_CHOOSE = {
    "correct_u": lambda loops: len(loops.correction.pivots)
}  # how many of the last results only choose the way


def spoiled(eom, place):
    """The same equations with one of them a little too large, and a little next to it."""
    name, kind, i, *path = place
    section = getattr(eom.program, name)
    if kind == "result":
        section = replace(section, results=_with_wrong(section.results, (i,)))
    else:
        ((field, *places),) = path
        statements = list(section.statements)
        changed = {field: _with_wrong(getattr(statements[i], field), places)}
        statements[i] = replace(statements[i], **changed)
        section = replace(section, statements=tuple(statements))
    program = replace(eom.program, **{name: section})
    return type(eom)(replace(eom.derived, program=program))


def acts(system, eom, wrong):
    """Does the wrong equation change any result at states that keep the constraints? An
    intermediate result may cancel out further on, or only add to a row a multiple of another. What
    small variables leave open, a change with the square of their size, is no mistake."""
    orders = eom.analysis.mechanism.orders
    subjects = _subjects(system, eom, wrong, None)
    samples = subjects[0].samples(3)
    samples += subjects[0].further(samples)
    if not orders:
        return _largest_change(subjects, samples) > 1e-10
    changes = []
    for size in (1e-2, 1e-3):
        scaled = {
            k: subjects[0].given.get(k, r.value) * size ** orders[k]
            for k, r in system.description.parameters.items()
            if k in orders and r.value is not None
        }
        smaller = _subjects(system, eom, wrong, scaled)
        changes.append(
            _largest_change(smaller, [scaled_sample(subjects[0], s, size, orders) for s in samples])
        )
    return changes[1] > 1e-14 and math.log10(changes[0] / changes[1]) < 1.5


def _subjects(system, eom, wrong, parameters):
    return [
        ModelUnderTest(system, e, {"backend": "python"}, parameters, 7, quiet=True)
        for e in (eom, wrong)
    ]


def _largest_change(subjects, samples):
    return max(_change(*(_results(subject, s) for subject in subjects)) for s in samples)


def _change(right, wrong):
    pairs = [(np.array(a), np.array(b)) for a, b in zip(right, wrong, strict=True)]
    return max(
        float(np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(a).max(initial=0.0)))
        for a, b in pairs
    )


def _results(subject, s):
    """Of all functions whose results are used for themselves."""
    program = subject.eom.program
    lists = [subject.plain_rates(s)]
    for name in program.functions:
        if name not in (
            "constants",
            "derivatives",
            "start",
            "update",
            "entry",
        ):  # which act through the others
            values = subject.function_values(name, s)
            lists.append(
                values[: len(values) - ONLY_CHOOSE.get(name, lambda loops: 0)(program.loops)]
            )
    return lists
