"""Every shipped vehicle: FMU and page give the run of the package, the check passes, reports are
written."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.export.fmu import binaries
from bellcrank.verify.check import check
from tests.analysis.view.test_page import worst
from tests.analysis.view.test_report import well_formed
from tests.fmus import Opened, validate_fmu
from tests.node import needs_node, page_runs, unpacked
from tests.vehicles.test_driveline import CLUTCH, CONVERTER, DRIVE

pytestmark = pytest.mark.campaign

CARS, MOTORCYCLES = bc.vehicles.car_names(), bc.vehicles.motorcycle_names()
T_END, EVERY = 0.6, 20  # s, steps per sample
SAME = 1e-9  # relative to the largest value of each channel
STEERED = {"steer": 40.0, "drive": 150.0, "brake": 60.0, "wind": 3.0}  # deg, N m, N m, m/s
PUSHED = {"steer_torque": 0.4, "drive": 5.0, "brake": 1.0}  # N m


VARIED = {  # car and what differs; ABS with so small a target slip that it acts
    "a clutch": ("passenger", {"drive": DRIVE | {"clutch": {"torque": f"{CLUTCH} N-m"}}}),
    "a converter": ("passenger", {"drive": DRIVE | {"converter": CONVERTER}}),
    "ABS of a trailer": ("caravan", {"trailers": {"caravan": {"brakes": {"abs": {"slip": 1e-4}}}}}),
}


@pytest.fixture(scope="module", params=[*CARS, *MOTORCYCLES, *VARIED])
def vehicle(request):
    if request.param in VARIED:
        name, change = VARIED[request.param]
        return bc.vehicles.Car.read(name).changed(**change)
    kind = bc.vehicles.Car if request.param in CARS else bc.vehicles.Motorcycle
    return kind.read(request.param)


@pytest.fixture(scope="module")
def system(vehicle):
    return vehicle.system(speed=20.0 if isinstance(vehicle, bc.vehicles.Car) else 6.0)


@pytest.fixture(scope="module")
def eom(system):
    return system.equations()


@pytest.fixture(scope="module")
def inputs(eom, vehicle):
    given = STEERED if isinstance(vehicle, bc.vehicles.Car) else PUSHED
    return {name: value for name, value in given.items() if name in eom.inputs}


@pytest.fixture(scope="module")
def run(eom, inputs):
    found = eom.compile(speed="quick").simulate(t_end=T_END, output_every=EVERY, inputs=inputs)
    assert found.ended == "finished"
    if "caravan.axle_l.abs" in found.channels:
        assert found["caravan.axle_l.abs"].min() < 0.98
    return found


def test_fmu_is_the_run(eom, inputs, run, tmp_path, monkeypatch):
    """Co-simulation of all outputs and states, in units of the run; no two ports have the same
    value."""
    monkeypatch.setattr(
        binaries, "FLAGS", tuple("-O0" if f == "-O2" else f for f in binaries.FLAGS)
    )
    path = eom.export("fmu", tmp_path / "vehicle.fmu")
    assert validate_fmu(str(path)) == []
    unit = Opened(path, "CoSimulation")
    factors = {x.name: x.unit.factor for x in (*eom.interface.signals, *eom.interface.outputs)}
    unit.start({name: value * factors[name] for name, value in inputs.items()})
    names = [x.name for x in eom.interface.outputs]
    states = [x.name for x in eom.interface.states]
    scales = np.array(
        [*(factors[x] for x in names), *(x.unit.factor for x in eom.interface.states)]
    )
    rows, length = [], eom.interface.run.step * EVERY
    for i in range(len(run.time)):
        if i:
            unit.step((i - 1) * length, length)
        rows.append(unit.get(*names, *unit.states) / scales)
    unit.close()
    found = dict(zip((*names, *states), np.array(rows).T, strict=True))
    assert worst({x.name: run[x.name] for x in eom.interface.signals} | found, run) < SAME
    alike = (
        ".gamma",
        ".held",
    )  # inclinations of a solid axle and brake torques of a trailer may agree
    listed = [x for x in names if x in unit.outputs and not x.endswith(alike)]
    ports = [found[x] for x in listed if np.ptp(found[x]) > 0]
    assert len({x.tobytes() for x in ports}) == len(ports)


@needs_node
def test_page_is_the_run(eom, inputs, run):
    page = eom.export("page")
    (rows,) = page_runs(page, (T_END, unpacked(page.text)[0]["step"], EVERY, {"inputs": inputs}))
    assert "error" not in rows, rows
    assert worst(rows, run) < SAME


def test_check_passes(system, eom):
    report = check(system, states=3, equations=eom)
    assert report.passed, str(report)


@pytest.mark.parametrize("name", CARS)
def test_report_of_a_car(name, tmp_path):
    path = tmp_path / "car.html"
    bc.vehicles.manoeuvres.report(path, name, manoeuvres=["braking", "iso7401-step"])
    assert well_formed(path.read_text(encoding="utf-8"))
