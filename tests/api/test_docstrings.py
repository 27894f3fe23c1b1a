"""Docstrings of public items in numpydoc form: every parameter is described, and examples print what they say."""

import doctest
import inspect
import re
from importlib import import_module

import pytest

import bellcrank as bc
from bellcrank.loading import KINDS
from bellcrank.model.formula import SCALAR
from tests.models import needs_compiler

CLASSES = (bc.System, bc.Equations, bc.Simulation, bc.Run)
RECORDS = (bc.Dae, bc.Many, bc.ParsFile, bc.Screw, bc.Slip, bc.State, bc.Tyre)  # whose methods are not looked at
READ = [getattr(import_module(k.module), k.reader) for k in KINDS]  # whose classmethod `read` is looked at


def items():
    """Public calls by name: classes, their methods, functions of the package."""
    for kind in CLASSES:
        yield kind.__name__, kind
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_") and name not in kind.internals:
                yield f"{kind.__name__}.{name}", method
    yield from ((kind.__name__, kind) for kind in RECORDS)
    yield from ((f"{kind.__name__}.read", kind.read) for kind in READ)
    for module in (bc, bc.linkage, bc.random, bc.signals, bc.terrain):
        for name in dir(module) if module is bc else module.__all__:
            if inspect.isfunction(item := getattr(module, name)) and name[0] != "_" and name not in SCALAR:
                yield f"{module.__name__}.{name}", item


def missing(item):
    """Parameters that the docstring does not describe; of a class, those of its constructor or its attributes."""
    text = inspect.getdoc(item) or ""
    described = {x for line in re.findall(r"^([*\w, ]+) : ", text, re.M) for x in line.replace("*", "").split(", ")}
    hidden = {"self", *getattr(item, "internals", ())}
    return [x for x in inspect.signature(item).parameters if x not in described | hidden]


def test_every_parameter_is_described():
    incomplete = {name: missing(item) for name, item in items() if missing(item)}
    assert incomplete == {}, "describe these parameters in the docstrings"


EXAMPLES = {name: item for name, item in items() if ">>>" in (inspect.getdoc(item) or "")}


def test_every_call_has_an_example():
    assert [name for name, _ in items() if name not in EXAMPLES] == []


COMPILED = {"bellcrank.compile_linkage"}  # in C alone


@pytest.mark.parametrize("name", [pytest.param(x, marks=needs_compiler if x in COMPILED else ()) for x in EXAMPLES])
def test_examples_print_what_they_say(name):
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(EXAMPLES[name]), {}, name, None, 0)
    report = []
    assert doctest.DocTestRunner(verbose=False).run(test, out=report.append).failed == 0, "".join(report)
