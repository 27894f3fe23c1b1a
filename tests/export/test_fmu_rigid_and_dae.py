"""Rigid wheels and methods for constraints in units: co-simulation has the samples of a run; no
model exchange."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.export.fmu import binaries
from tests.codegen.test_rigid_and_dae_programs import tandem
from tests.fmus import Opened, validate_fmu
from tests.models import needs_compiler
from tests.ways.capabilities import pendulum

pytestmark = [needs_compiler, pytest.mark.campaign]
STEP = 0.01


@pytest.fixture(autouse=True)
def without_optimisation(monkeypatch):
    monkeypatch.setattr(
        binaries, "FLAGS", tuple("-O0" if f == "-O2" else f for f in binaries.FLAGS)
    )


@pytest.mark.parametrize(("version", "steps"), [(2, 1), (3, 4)])
def test_rigid_wheels_move_as_in_a_run_and_a_state_can_be_restored(version, steps, tmp_path):
    eom = tandem().equations()
    run, length = eom.compile(backend="c").simulate(), steps * STEP
    last = np.append(np.diff(run.time) > 0, True)  # after events
    path = eom.export("fmu", tmp_path / "tandem.fmu", fmi=version)
    unit = Opened(path, "CoSimulation").start()
    assert not validate_fmu(str(path)) and unit.description.modelExchange is None
    assert {"impact", "rolls", "lifted"} <= {e.name.split()[-1] for e in run.events}
    for i in range(1, round(run.time[-1] / length) + 1):
        if i * steps == 68:
            state = unit.save()
            unit.step((i - 1) * length, length)
            unit.restore(state)
        unit.step((i - 1) * length, length)
        for outside, inside in (
            ("beam.q[2]", "q(beam, 2)"),
            ("beam.u[3]", "u(beam, 3)"),
            ("front.az", "front.az"),
        ):
            assert unit.get(outside)[0] == pytest.approx(
                run[inside][last][i * steps], rel=1e-10, abs=1e-10
            )
    unit.close()


@pytest.mark.parametrize("dae", ["dlmm", bc.Dae("baumgarte", alpha=20, beta=20), "minimal"])
def test_constraints_are_kept_as_in_a_run(dae, tmp_path):
    eom = pendulum().equations()
    run = eom.compile(backend="c").simulate(dae=dae)
    unit = Opened(eom.export("fmu", tmp_path / "pendulum.fmu", dae=dae), "CoSimulation").start()
    for i in range(100):
        unit.step(i * STEP, STEP)
        expected = [run[x.name][i + 1] for x in eom.interface.states]
        assert unit.get(*unit.states) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    unit.close()
