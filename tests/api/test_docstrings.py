"""Docstrings of public items in numpydoc form: every parameter is described, and examples print
what they say."""

import doctest
import inspect
import re
from enum import Enum
from importlib import import_module

import pytest

import bellcrank as bc
from bellcrank.analysis.equilibrium import Equilibrium
from bellcrank.analysis.inverse import InverseDynamics
from bellcrank.analysis.jacobian import Jacobian
from bellcrank.analysis.linear_model import LinearModel
from bellcrank.analysis.modes import Mode, Modes
from bellcrank.analysis.response import Response, Spectrum
from bellcrank.analysis.root_locus import Equilibria, RootLocus, StabilityChart
from bellcrank.analysis.sensitivity import Sensitivity
from bellcrank.export.page.page import LivePage
from bellcrank.loading import FILE_KINDS
from bellcrank.model.formula import SCALAR
from bellcrank.simulation.many.steppers import Steppers
from bellcrank.simulation.run.rhs import Rhs
from bellcrank.simulation.run.stepper import Stepper
from bellcrank.vehicles.tyres.steady_tyre import Forces
from bellcrank.vehicles.tyres.tyre_fitting import Fit
from tests.models import needs_compiler


def classes(module):
    """Public classes of a module that are not public names of the package itself."""
    listed = (getattr(module, name) for name in module.__all__)
    return [x for x in listed if inspect.isclass(x) and getattr(bc, x.__name__, None) is not x]


CLASSES = (bc.System, bc.Equations, bc.Simulation, bc.Run)  # each call has an example of its own
RESULTS = (
    Equilibria,
    Equilibrium,
    InverseDynamics,
    LinearModel,
    Mode,
    Modes,
    Response,
    RootLocus,
    Sensitivity,
    Spectrum,
    StabilityChart,
    Fit,
    LivePage,
    Jacobian,
    Rhs,
    Forces,
    Stepper,
    Steppers,
    bc.BellcrankError,
    bc.BuildError,
    bc.Comparison,
    bc.Dae,
    bc.ExpressionError,
    bc.InternalError,
    bc.Interrupted,
    bc.Many,
    bc.ModelError,
    bc.ModelWarning,
    bc.NoEquilibrium,
    bc.ParsFile,
    bc.RunError,
    bc.RunStatus,
    bc.Screw,
    bc.Slip,
    bc.State,
    bc.Study,
    bc.StudyResult,
    bc.Tyre,
    bc.metrics.Metric,
    bc.metrics.MetricKind,
    *(
        x
        for m in (
            bc.kane,
            bc.vehicles.manoeuvres,
            bc.measured,
            bc.optimize,
            bc.vehicles.tyres,
            bc.vehicles,
        )
        for x in classes(m)
    ),
)
"""Classes whose methods share the example of the class."""
MADE = (Stepper, Steppers, Rhs, Forces)  # by calls alone
MODULES = (
    bc,
    bc.gym,
    bc.linkage,
    bc.vehicles.manoeuvres,
    bc.measured,
    bc.optimize,
    bc.random,
    bc.signals,
    bc.vehicles.terrain,
    bc.vehicles.tyres,
    bc.vehicles,
)
READ = [
    getattr(import_module(k.module), k.reader) for k in FILE_KINDS
]  # whose classmethod `read` is looked at


def methods(kind):
    """Public methods of a class, class methods too, by name."""
    for name, method in inspect.getmembers(
        kind, lambda x: inspect.isfunction(x) or inspect.ismethod(x)
    ):
        own = method.__module__.startswith("bellcrank")  # not those of a Sequence
        if own and not name.startswith("_") and name not in getattr(kind, "internals", ()):
            yield f"{kind.__name__}.{name}", method


def functions():
    for module in MODULES:
        for name in dir(module) if module is bc else module.__all__:
            if (
                inspect.isfunction(item := getattr(module, name))
                and name[0] != "_"
                and name not in SCALAR
            ):
                yield f"{module.__name__}.{name}", item


def shown():
    """Items with an example of their own: classes, methods of the main ones, functions of the
    package."""
    yield from ((kind.__name__, kind) for kind in (*CLASSES, *RESULTS))
    for kind in CLASSES:
        yield from methods(kind)
    yield from ((f"{kind.__name__}.read", kind.read) for kind in READ)
    yield from functions()


def items():
    """Public calls by name: classes, their methods, functions of the package."""
    yield from shown()
    for kind in RESULTS:
        yield from methods(kind)


def missing(item):
    """Parameters that the docstring does not describe; of a class, those of its constructor or its
    attributes."""
    text = inspect.getdoc(item) or ""
    described = {
        x
        for line in re.findall(r"^([*\w, ]+) : ", text, re.M)
        for x in line.replace("*", "").split(", ")
    }
    hidden = {"self", *getattr(item, "internals", ())}
    if item in MADE or (
        inspect.isclass(item)
        and issubclass(item, BaseException | Enum)
        and "__init__" not in vars(item)
    ):
        return []
    return [x for x in inspect.signature(item).parameters if x not in described | hidden]


def returns(item):
    """Whether a call returns something that its docstring should describe."""
    nothing = ("None", None, inspect.Signature.empty)
    return not inspect.isclass(item) and inspect.signature(item).return_annotation not in nothing


def test_what_is_returned_is_described():
    wanting = [
        name
        for name, item in items()
        if returns(item) and "Returns\n---" not in (inspect.getdoc(item) or "")
    ]
    assert wanting == [], "describe what these return in the docstrings"


def test_every_parameter_is_described():
    incomplete = {name: missing(item) for name, item in items() if missing(item)}
    assert incomplete == {}, "describe these parameters in the docstrings"


EXAMPLES = {name: item for name, item in items() if ">>>" in (inspect.getdoc(item) or "")}


def test_every_call_has_an_example():
    assert [name for name, _ in shown() if name not in EXAMPLES] == []


COMPILED = {"bellcrank.compile_linkage"}  # in C alone


LONG = {
    "Result",
    "Result.animate",
    "Experiment",
    *(
        f"bellcrank.vehicles.manoeuvres.{x}"
        for x in ("experiment", "handling", "identify", "report", "run")
    ),
}  # cars are compiled


def marks(name):
    return needs_compiler if name in COMPILED else pytest.mark.campaign if name in LONG else ()


@pytest.mark.parametrize("name", [pytest.param(x, marks=marks(x)) for x in EXAMPLES])
def test_examples_print_what_they_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(EXAMPLES[name]), {}, name, None, 0)
    report = []
    assert doctest.DocTestRunner(verbose=False).run(test, out=report.append).failed == 0, "".join(
        report
    )
