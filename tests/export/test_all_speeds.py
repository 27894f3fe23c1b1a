"""Nonholonomic systems whose speeds all stay states, and driven mechanisms, in everything that is written.

Each way is compared with `simulate`, over a motion in which the constraint coefficients pass zero.
"""

from functools import cache

import numpy as np
import pytest

from tests.dynamics.test_driven import slider_crank
from tests.embedded import Embedded, in_units
from tests.models import needs_compiler, relative
from tests.node import needs_node, page_runs
from tests.programs import COMPILED, build
from tests.reference.nonholonomic import KINDS
from tests.reference.nonholonomic import system as nonholonomic

pytestmark = [pytest.mark.campaign, needs_compiler]
MODELS = [*KINDS, "driven"]
FAILS = {"tricycle": 160}  # steps up to a position near which the embedded form cannot continue
STEP, STEPS, CLOSE = 0.005, 400, 1e-11  # relative to the largest value of a channel


@cache
def equations(name):
    s = slider_crank() if name == "driven" else nonholonomic(name, 4, True)
    if name == "driven":
        s.set_run(t_end=0.2, step=0.0005, guess={"q(b)": -0.1, "q(p)": 0.45})
    else:
        s.set_run(t_end=STEP * STEPS, step=STEP, output_every=20, initial=s.description.run.initial)
    eom = s.equations()
    assert eom.program.loops is not None, "all speeds are states"
    return eom


@cache
def reference(name):
    return equations(name).compile(backend="c").simulate(method="rk4")


def worst(found, run, names=None):
    return max(relative(np.asarray(found[n]), np.asarray(run[n])) for n in (names or run))


@pytest.mark.parametrize("language", COMPILED)
@pytest.mark.parametrize("name", MODELS)
def test_programs(tmp_path, name, language):
    run = build(equations(name), language, tmp_path / "program").run(tmp_path)
    assert worst(run, reference(name)) < CLOSE


@pytest.mark.parametrize("name", MODELS)
def test_embedded(tmp_path, name):
    """Controllers keep one choice of dependent speeds. Near steering by 90 degrees it fails, which is reported."""
    eom, run = equations(name), reference(name)
    made = Embedded(eom, tmp_path)
    model, r = made.model(), eom.interface.run
    assert made.call("begin", model) == 0
    every = int(r.output_every or 1)
    rows = in_units(eom, made.rows(model, FAILS.get(name, round(r.t_end / r.step))))
    found = {n: x[::every] for n, x in rows.items()}
    assert worst(found, {n: run[n][: len(found[n])] for n in run}) < CLOSE
    if name in FAILS:
        assert made.place("NOT_CLOSED") in [made.call("step", model) for _ in range(40)]


@pytest.mark.parametrize("name", MODELS)
def test_fmu(tmp_path, name):
    from tests.fmus import Opened

    eom, run = equations(name), reference(name)
    unit = Opened(eom.write_fmu(tmp_path / "x.fmu"), "CoSimulation").start()
    r, names = eom.interface.run, [x.name for x in eom.interface.outputs]
    assert len(unit.outputs) == len(names)
    h, rows = r.step * int(r.output_every or 1), []
    for i in range(len(run.time)):
        rows.append(unit.get(*unit.outputs))
        unit.step(i * h, h) if i + 1 < len(run.time) else None
    factors = [x.unit.factor for x in eom.interface.outputs]
    found = dict(zip(names, (np.array(rows) / factors).T, strict=True))
    assert worst(found, run, names) < CLOSE


@needs_node
@pytest.mark.filterwarnings("ignore:the picture needs values")
@pytest.mark.parametrize("name", MODELS)
def test_page(name):
    eom, run = equations(name), reference(name)
    r = eom.interface.run
    (found,) = page_runs(eom.page(), (r.t_end, r.step, int(r.output_every or 1)))
    assert "error" not in found, found
    assert worst(found, run, [n for n in run if n in found]) < 1e-10
