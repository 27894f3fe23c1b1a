"""What the reference tests share: the examples, the published numbers, and how closeness is
measured."""

import tomllib
from functools import cache
from pathlib import Path

import numpy as np

import bellcrank as bc
from bellcrank.verify.bodies import ReferenceMechanism
from bellcrank.verify.formulas import ParameterValues
from bellcrank.verify.reference_evaluation import ReferenceEvaluation
from tests.models import example as equations

HERE = Path(__file__).parent
CHECKS = tomllib.loads((HERE / "autosim_checks.toml").read_text(encoding="utf-8"))


@cache
def compiled(name, backend="auto", **arguments):
    """An example ready to run, compiled once."""
    return equations(name, **arguments).compile(backend=backend)


def assert_close(got, expected, relative):
    """Differences are measured against the largest magnitude of the expected vector."""
    got, expected = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
    assert got.shape == expected.shape
    scale = np.abs(expected).max(initial=0.0) or 1.0
    error = np.abs(got - expected).max(initial=0.0) / scale
    assert error <= relative, (
        f"differs by {error:.1e} of the largest magnitude\ngot      {got}\nexpected {expected}"
    )


def sample(run, names, t):
    """Channels `names` of a run at time t, which must be an output time."""
    i = int(np.argmin(np.abs(run.time - t)))
    assert abs(run.time[i] - t) < 1e-9
    return np.array([run[str(name)][i] for name in names])


def loop_residuals(sim, run, states=4):
    """The largest residuals of positions and speeds in a run, found from the description alone: as
    fractions of a radian or of the machine's size, and of the largest speed. For models in radians
    and consistent units."""
    eom = bc.Equations(sim.derived)
    values = ParameterValues()
    description = eom.analysis.mechanism.description
    for key, record in description.parameters.items():
        if record.value is not None:
            unit = eom.quantities.unit.get(key)
            values[key] = float(
                record.value if unit is None else unit.to_equation_units(record.value)
            )
    machine = ReferenceMechanism.from_description(description, values)
    q, u = ([x.name for x in listed] for listed in (eom.coordinates, eom.speeds))
    worst = np.zeros(2)
    for i in np.linspace(0, len(run) - 1, states).astype(int):
        state = [np.array([run[name][i] for name in names]) for names in (q, u)]
        evaluation = ReferenceEvaluation(
            machine, u, lambda *_: [], float(run.time[i]), {}, freedoms=[]
        )
        worst = np.maximum(worst, evaluation.closed.errors(*state))
    return worst
