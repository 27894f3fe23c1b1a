"""Controllers of cars: keys and switches; what they do in manoeuvres, by legal criteria, closed
forms and balances."""

import gc
import pickle
import re
import shutil
import sys
import zipfile
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError, RunError
from bellcrank.export.fmu import binaries
from bellcrank.vehicles.cars.design.car_data import CORNERS
from bellcrank.vehicles.cars.metrics.handling_metrics import axle_cornering
from bellcrank.vehicles.cars.user_controller import UserController
from tests.models import needs_compiler

EXAMPLE = Path(__file__).parents[2] / "examples" / "car_controllers.py"


@pytest.fixture(scope="module")
def plain():
    return bc.vehicles.Car.read("passenger")


@pytest.fixture(scope="module")
def controlled(plain):
    """Traction and cruise control of a car with more torque than its rear wheels transmit, on given
    friction."""
    strong = plain.changed(
        drive={"torque": "3600 N-m", "power": "130 kW"}, controllers={"traction": {}, "cruise": {}}
    )
    return strong.system(speed=0.0, road_inputs=True).equations().compile()


@pytest.fixture(scope="module")
def stable(plain):
    return plain.changed(controllers={"esc": {}})


def test_controllers_are_switched_by_name(plain, stable):
    assert plain.controllers == {} and stable.controllers == {"esc": True}
    assert stable.switched(esc=False).controllers == {"esc": False}
    assert stable.switched(esc=False).switched(esc=True).controllers == {"esc": True}
    assert stable.changed(controllers={"esc": {"on": False}}).controllers == {"esc": False}
    assert plain.changed(brakes={"abs": {}}).controllers == {"abs": True}
    with pytest.raises(ModelError, match=r"no controller is called 'ecs'. Did you mean 'esc'"):
        stable.switched(ecs=False)
    with pytest.raises(ModelError, match="switched: esc='no' must be True or False"):
        stable.switched(esc="no")
    with pytest.raises(ModelError, match="a driver who keeps the speed"):
        plain.changed(controllers={"cruise": {}}).switched(cruise=False)
    with pytest.raises(ModelError, match=r"It has none \(section \[controllers\]"):
        bc.vehicles.manoeuvres.run(plain, "braking", without="esc")


def test_wrong_keys_of_controllers_are_named(plain):
    with pytest.raises(ModelError, match=r"controllers: 'ecs' is not known. Did you mean 'esc'"):
        plain.changed(controllers={"ecs": {}})
    with pytest.raises(ModelError, match=r"controllers.esc.slip = 25 must lie between 0 and 1"):
        plain.changed(controllers={"esc": {"slip": 25}})  # 0.25 or "25 %"
    with pytest.raises(
        ModelError, match=r"controllers.esc.torque = '5 m' must be in a unit such as N-m"
    ):
        plain.changed(controllers={"esc": {"torque": "5 m"}})


@pytest.mark.campaign
def test_esc_turns_a_failed_sine_with_dwell_into_a_passed_one(stable):
    """49 CFR 571.126: the shipped car fails without ESC and passes with it; ESC acts where the car
    spins, and in no run of small amplitude."""
    off = bc.vehicles.manoeuvres.run(stable, "sine-with-dwell", without="esc")
    on = bc.vehicles.manoeuvres.run(stable, "sine-with-dwell")
    assert not off.passed and on.passed
    assert off["yaw_late"] > 80 and on["yaw_late"] < 5 and on["lateral_displacement"] > 1.83
    assert on["side_slip_max"] < 10 < off["side_slip_max"]
    assert any("no stability control" in note for note in off.notes)
    assert not any("no stability control" in note for note in on.notes)
    runs = list(on.runs.values())
    assert runs[0]["esc.active"].max() == 0 and runs[-1]["esc.active"].max() == 1
    last = runs[-1]
    for corner in ("fl", "fr", "rl", "rr"):
        assert last[f"esc.{corner}"].max() < 2000.01 and last[f"esc.{corner}"].min() > -1e-9
        assert last[f"{corner}.tyre.kappa"].min() > -0.3
    # against the rotation, ESC brakes the outer front wheel: the right one in a turn to the left
    front = last["esc.fr"] - last["esc.fl"]
    strong = np.abs(front) > 300
    assert (
        strong.any() and np.mean(np.sign(front[strong]) == np.sign(last["yaw_rate"][strong])) > 0.8
    )


@pytest.mark.campaign
def test_abs_by_axle_follows_the_wheel_that_would_lock(plain):
    """Braking on split friction with select-low at the rear: both rear wheels get the same torque,
    which the slippery side can transmit; the front wheels are braked each on its own."""
    car = plain.changed(brakes={"abs": {"select_low": "rear"}})
    sim = car.system(speed=25, road_inputs=True).equations().compile()
    inputs = {"fr.friction": 0.3, "rr.friction": 0.3, "brake": bc.signals.step(0.2, 9000.0)}
    run = sim.simulate(t_end=2.0, inputs=inputs)
    late = (run.time > 0.5) & (run.time < 1.0)  # then it turns to the side of the grip
    assert (
        run["rl.abs"] == pytest.approx(run["rr.abs"], abs=1e-12) and run["rr.abs"][late].max() < 0.9
    )
    assert run["rl.held"][late] == pytest.approx(run["rr.held"][late], rel=0.02)
    assert run["fl.abs"][late].mean() > 2 * run["fr.abs"][late].mean()
    assert run["rl.tyre.kappa"][late].min() > -0.06  # hardly used
    assert -0.25 < run["rr.tyre.kappa"][late].mean() < -0.05
    with pytest.raises(bc.ModelError, match="select_low"):
        plain.changed(brakes={"abs": {"select_low": "left"}})


def started(sim, friction, **parameters):
    """Full drive torque from standstill; friction of the left and right wheels."""
    inputs = {f"{c}.friction": friction[c[1] == "r"] for c in CORNERS} | {
        "drive": bc.signals.step(0.2, 3600.0)
    }
    return sim.simulate(t_end=4, inputs=inputs, parameters={"cruise_on": 0, **parameters})


def slip_speeds(run):
    """Of the rear wheels, m/s."""
    return [run[f"u({c}.wheel)"] * 0.3 - run["speed"] for c in ("rl", "rr")]


@pytest.mark.campaign
@pytest.mark.parametrize("friction", [(1.0, 0.2), (0.3, 0.3)])
def test_traction_control_keeps_the_slip_and_accelerates_better(controlled, friction):
    off, on = (started(controlled, friction, traction_on=x) for x in (0, 1))
    assert off.time[-1] == on.time[-1] == 4  # wheels that spin at standstill do not end a run
    assert on["speed"][-1] > (2 if friction[1] == 0.2 else 1.05) * off["speed"][-1]
    assert max(s.max() for s in slip_speeds(off)) > 20 and max(s.max() for s in slip_speeds(on)) < 8
    late = on.time > 2
    target = np.maximum(0.08 * on["speed"], 0.5)
    assert all((s[late] < 2 * target[late]).all() for s in slip_speeds(on))
    assert off["traction.active"].max() == 0 and on["traction.active"][late].min() == 1
    if (
        friction[0] != friction[1]
    ):  # the brake of the spinning wheel is torque at the other one: F_left = F_right + T/R
        assert on["traction.rr"][-1] > 300 > on["traction.rl"][late].max()
        force = on["rl.tyre.fx"] - on["rr.tyre.fx"]
        assert force[late].mean() == pytest.approx(
            (on["rr.held"] - on["rl.held"])[late].mean() / 0.3, rel=0.05
        )
    else:  # both wheels spin: the drive torque is reduced, and no wheel is braked for long
        assert on["traction.cut"][late].min() > 0.5 and on["traction.rr"][late].mean() < 150


@pytest.mark.campaign
def test_cruise_control_keeps_the_speed_by_the_power_that_resistance_takes(controlled):
    """From standstill within its acceleration; at 20 m/s the drive power is that of air, rolling
    and slip."""
    dry = {f"{c}.friction": 1.0 for c in CORNERS}
    run = controlled.simulate(t_end=60, inputs=dry | {"cruise_speed": 20.0})
    assert (
        abs(run["speed"][-1] - 20) < 0.005 and run["speed"].max() < 20.5 and run["ax"].max() < 2.0
    )
    power = run["cruise.drive"][-1] * (run["u(rl.wheel)"][-1] + run["u(rr.wheel)"][-1]) / 2
    air = 1.206 / 2 * 0.30 * 2.15 * 20**3
    rolling = -sum(run[f"{c}.tyre.my"][-1] * run[f"u({c}.wheel)"][-1] for c in CORNERS)
    assert power == pytest.approx(air + abs(rolling), rel=0.02)
    braked = controlled.simulate(t_end=1, inputs=dry | {"cruise_speed": 20.0, "brake": 500.0})
    assert braked["cruise.active"].max() == 0 and braked["cruise.drive"].max() == 0


@pytest.mark.campaign
def test_torque_vectoring_changes_the_understeer_gradient_as_predicted(plain):
    """A yaw moment M = k V r changes it by -k/l (1/C_1 + 1/C_2), with the cornering stiffnesses of
    tyres and lateral compliance, and by the angle that the longitudinal forces +-M/(2 h) of the
    rear wheels steer them by."""
    car = plain.changed(controllers={"vectoring": {}})
    axles = (axle_cornering(car.data, car.stand, axle) for axle in (car.data.front, car.data.rear))
    softness = sum(np.degrees(1 / axle.effective) for axle in axles)  # deg/N

    def understeer(**parameters):
        return bc.vehicles.manoeuvres.handling(car.with_parameters(parameters))["understeer"]

    stiff = {"toe_by_longitudinal_force_rear": 0.0}
    compliant, rigid = understeer(), understeer(**stiff)
    for k in (-250.0, 250.0):
        predicted = -k / car.metrics["wheelbase"] * softness * 9.80665
        assert understeer(vectoring_moment=k, **stiff) - rigid == pytest.approx(predicted, rel=0.01)
        force = (
            k * 9.80665 / car.metrics["track_rear"]
        )  # N of a wheel at 1 g; -0.3 deg/kN in the file
        assert understeer(vectoring_moment=k) - compliant == pytest.approx(
            predicted - 0.3e-3 * force, rel=0.01
        )
    assert 0 < understeer(vectoring_gain=30e3, vectoring_understeer=0.0) < 0.25 * compliant


def law(t, yaw_rate, memory):
    """Against the yaw rate and the angle, by the sum over samples."""
    memory[0] += 0.01 * yaw_rate
    return max(0.0, -3000 * yaw_rate - 5000 * memory[0]), max(
        0.0, 3000 * yaw_rate + 5000 * memory[0]
    )


LAW = """void damper(double t, double r, double *returns, double *memory) {
    (void)t; memory[0] += 0.01*r;
    double x = 3000*r + 5000*memory[0];
    returns[0] = x < 0 ? -x : 0;
    returns[1] = x > 0 ? x : 0;
}"""
TORQUES = ("fl.brake_torque", "fr.brake_torque")
OWN = {"inputs": ["yaw_rate"], "torques": TORQUES, "sample_time": 0.01, "memory": 1}


class Rig(bc.System):
    """A body that turns and is braked, as a car is by its front wheels."""

    control = bc.System.define

    def __init__(self, controller=None):
        super().__init__("rig")
        self.body = self.add_body("body", rotate=3, mass=1, inertia=(3000, 3000, 3000))
        self.add_output("yaw_rate", "u(body)", units="deg/s")
        self.add_state("lag", rate="(fl.brake_torque - fr.brake_torque - lag)/0.05", units="F*L")
        self.add_moment("brakes", magnitude="lag", direction=self.body[3], on=self.body)
        self.set_run(t_end=1, step=0.001, output_every=1, method="rk4", initial={"u(body)": 30.0})
        if controller is None:
            for torque in TORQUES:
                self.add_input(torque, units="F*L", default=0.0)
        else:
            controller(self, None)


def by_hand(sim, n, memory, **given):
    """Yaw rates (deg/s) at samples and the last state of a loop with the same law around the
    stepper."""
    stepper, found = sim.stepper(0.001, **given), []
    for _ in range(n):
        found.append(stepper.outputs["yaw_rate"])
        torques = law(stepper.t, np.radians(found[-1]), memory)
        stepper.set(**dict(zip(TORQUES, torques, strict=True)))
        stepper.step(10)
    return np.array(found), stepper


def test_wrong_controllers_of_the_user_are_named(plain):
    with pytest.raises(ModelError, match=r"controlled\('damper'\): give a function: python= or c="):
        plain.controlled("damper", **OWN)
    with pytest.raises(ModelError, match="sample_time=0 must be a positive number"):
        plain.controlled("damper", python=law, **{**OWN, "sample_time": 0})
    with pytest.raises(
        ModelError, match=r"is called 'fl.brake_torqe'. Did you mean 'fl.brake_torque'"
    ):
        plain.controlled("damper", python=law, **{**OWN, "torques": ["fl.brake_torqe"]})
    with pytest.raises(ModelError, match=r"inputs='yaw_rate' must be a list of names"):
        plain.controlled("damper", python=law, **{**OWN, "inputs": "yaw_rate"})
    own = plain.controlled("damper", python=law, **OWN)
    assert own.controllers == {"damper": True} and own.switched(damper=False).controllers == {
        "damper": False
    }
    with pytest.raises(ModelError, match="has a controller 'damper' already"):
        own.controlled("damper", python=law, **OWN)
    with pytest.raises(ModelError, match=r"'fl.brake_torque' is given by a controller already"):
        own.controlled("other", python=law, **OWN).system()


@pytest.mark.parametrize("torque", [np.nan, np.inf, None])
def test_a_torque_that_is_not_finite_ends_the_run(plain, torque):
    """A brake limits its torque by max(), which takes nan for zero: the run would continue without
    the controller."""
    own = plain.controlled(
        "damper", **OWN, python=lambda t, rate, memory: (0.0, torque if t > 0.5 else 0.0)
    )
    rig = Rig(own.extensions[-1]).equations().compile()
    with pytest.raises(
        RunError,
        match=rf"controller 'damper' returned {torque!r} for fr.brake_torque at t = 0.51 s",
    ):
        rig.simulate()


@pytest.mark.parametrize("language", ["python", "c"])
def test_a_sampled_controller_is_a_loop_around_the_stepper(plain, language):
    controller = plain.controlled(
        "damper", **OWN, **{language: law if language == "python" else LAW}
    ).extensions[-1]
    sim = Rig(controller).equations().compile()
    run = sim.simulate()
    found, stepper = by_hand(Rig().equations().compile(), 100, [0.0])
    assert run["yaw_rate"][:-1:10] == pytest.approx(found, rel=1e-9)
    assert run["yaw_rate"][-1] == pytest.approx(stepper.outputs["yaw_rate"], rel=1e-9, abs=1e-12)
    held = run["damper.fl.brake_torque"] - run["damper.fr.brake_torque"]
    assert held.min() < -1000 and (np.diff(held)[np.arange(1000) % 10 != 9] == 0).all()
    first = sim.simulate(t_end=0.504)  # within a sample: what is held goes on
    assert sim.simulate(start=first, t_end=1)["yaw_rate"][-1] == pytest.approx(
        run["yaw_rate"][-1], rel=1e-12
    )
    off = sim.simulate(parameters={"damper_on": 0})
    assert np.ptp(off["yaw_rate"]) < 1e-9


def test_samples_are_taken_at_the_next_end_of_a_step():
    times = []

    def note(t):
        times.append(t)
        return 0.0, 0.0

    eom = Rig(UserController("note", (), TORQUES, 0.0025, note, None, 0)).equations()
    sim = eom.compile()
    times.clear()
    sim.simulate(t_end=0.01)
    assert sorted({round(t, 6) for t in times}) == [0.0, 0.003, 0.005, 0.008, 0.01]
    with pytest.raises(ModelError, match="note"):
        eom.export("fmu", "note.fmu")


LEFT_RIGHT = dict(zip(("left", "right"), TORQUES, strict=True))


@pytest.fixture(scope="module")
def fmu_of_law(tmp_path_factory):
    """The law as an FMU, which integrates the yaw rate of a sample before it gives the torques;
    made once."""
    pytest.importorskip("fmpy", reason="FMPy is not installed")
    folder, made = tmp_path_factory.mktemp("fmus"), {}

    def make(version=2, **stops):
        path = folder / f"{'_'.join(('law', *stops))}{version}.fmu"
        if path not in made:
            s = bc.System("law")
            s.add_body("carrier", translate=1, mass=1, inertia=0)
            s.add_input("rate", units="A/T")
            s.add_state("turned", rate="rate", units="A")
            for side, sign in (("left", "-"), ("right", "")):
                s.add_output(side, f"max(0, {sign}(gain*rate + 5000*turned))", units="F*L")
            s.set_defaults(gain=3000)
            for name, when in stops.items():
                s.add_event(name, when, stop=True)
            s.set_run(t_end=1, step=0.01, method="rk4")
            made[path] = s.equations().export("fmu", path, fmi=version)
        return made[path]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binaries, "FLAGS", tuple("-O0" if f == "-O2" else f for f in binaries.FLAGS))
        yield make


def by_fmu(plain, path):
    """A car with the law of an FMU."""
    return plain.controlled(
        "damper", fmu=path, inputs={"rate": "yaw_rate"}, torques=LEFT_RIGHT, sample_time=0.01
    )


def rig_of(car):
    return Rig(car.extensions[-1]).equations()


@needs_compiler
@pytest.mark.parametrize("version", [2, 3])
def test_an_fmu_is_the_same_law_in_python(plain, fmu_of_law, tmp_path, version):
    path = shutil.copy(fmu_of_law(version), tmp_path)
    car = by_fmu(plain, path)
    assert car.controllers == {"damper": True} and car.switched(damper=False).controllers == {
        "damper": False
    }
    Path(path).unlink()  # it was read
    eom = rig_of(car)
    sim = eom.compile()
    expected = rig_of(plain.controlled("damper", python=law, **OWN)).compile().simulate()
    run = sim.simulate()
    for channel in ("yaw_rate", "damper.fl.brake_torque", "damper.fr.brake_torque"):
        assert run[channel] == pytest.approx(expected[channel], rel=1e-9, abs=1e-9)
    assert expected["damper.fr.brake_torque"].max() > 1000
    again = sim.simulate()
    assert (again["yaw_rate"] == run["yaw_rate"]).all()
    other = pickle.loads(pickle.dumps(sim)).simulate()  # as in a worker process
    assert (other["yaw_rate"] == run["yaw_rate"]).all()
    for language, error in (
        ("fmu", "'damper_fmu' in C"),
        ("c", "'damper_fmu' in C"),
        ("page", "'damper_fmu'"),
    ):
        with pytest.raises(ModelError, match=error):
            eom.export(language, tmp_path / "x")


@needs_compiler
def test_runs_of_an_fmu_do_not_share_its_state(plain, fmu_of_law):
    """Threads, steppers in turn with a single instance, and several runs that continue one: each is
    at its sample."""
    car = by_fmu(plain, fmu_of_law())
    sim = rig_of(car).compile()
    run = sim.simulate()
    many = sim.simulate_many(n=8, parameters={"damper_on": [1.0] * 8})
    assert (np.asarray(many["yaw_rate"]) == run["yaw_rate"]).all()
    car.extensions[-1].python._open = 1  # as if it could have one instance in a process
    steppers = [sim.stepper(0.001), sim.stepper(0.001)]
    for _ in range(100):
        for stepper in steppers:
            stepper.step(10)
    assert [s.outputs["yaw_rate"] for s in steppers] == [run["yaw_rate"][-1]] * 2
    first = sim.simulate(t_end=0.504)
    faster = sim.simulate(start=first, t_end=1, parameters={"damper_on": 0.5})
    assert faster["yaw_rate"][-1] > run["yaw_rate"][-1] + 1
    for _ in range(2):
        assert sim.simulate(start=first, t_end=1)["yaw_rate"][-1] == pytest.approx(
            run["yaw_rate"][-1], rel=1e-12
        )


@needs_compiler
def test_instances_of_an_fmu_are_freed_with_its_car(plain, fmu_of_law, monkeypatch):
    car = by_fmu(plain, fmu_of_law())
    folder = Path(car.extensions[-1].python._folder)
    sim = rig_of(car).compile()
    run = sim.simulate()
    instance = next(iter(car.extensions[-1].python._histories.values())).instance
    freed = []
    monkeypatch.setattr(
        instance._fmu, "freeInstance", lambda free=instance._fmu.freeInstance: freed.append(free())
    )
    assert folder.is_dir() and not freed
    del car, sim, run, instance
    gc.collect()
    assert len(freed) == 1 and not folder.exists()


@needs_compiler
def test_an_fmu_gets_and_gives_values_in_its_units(plain, fmu_of_law, tmp_path):
    """The same library with an input in deg/s and outputs in kN m, where the law has rad/s and N
    m."""
    path, other = fmu_of_law(), tmp_path / "units.fmu"
    with zipfile.ZipFile(path) as read, zipfile.ZipFile(other, "w") as written:
        for name in read.namelist():
            data = read.read(name)
            if name == "modelDescription.xml":
                text = data.decode()
                for unit, factor in (("rad/s", np.pi / 180), ("N.m", 1000.0)):
                    text, count = re.subn(
                        rf'(<Unit name="{unit}">\s*<BaseUnit )', rf'\1factor="{factor!r}" ', text
                    )
                    assert count == 1
                data = text.encode()
            written.writestr(name, data)
    torque = np.array(
        [
            rig_of(by_fmu(plain, p)).compile().simulate(t_end=0.001)["damper.fr.brake_torque"][0]
            for p in (path, other)
        ]
    )
    assert torque == pytest.approx([3050 * 30, 3050 * np.degrees(30) * 1000], rel=1e-12)


@needs_compiler
@pytest.mark.parametrize("version", [2, 3])
def test_an_fmu_that_ends_is_an_error(plain, fmu_of_law, version):
    sim = rig_of(by_fmu(plain, fmu_of_law(version, end="turned > 5"))).compile()
    with pytest.raises(
        RunError, match=r"FMU 'law_end\d.fmu' failed in its step from t = 0\.1\d s on"
    ):
        sim.simulate()


@needs_compiler
def test_wrong_fmus_are_named(plain, fmu_of_law, tmp_path):
    path = fmu_of_law()
    good = {"fmu": path, "inputs": {"rate": "yaw_rate"}, "torques": LEFT_RIGHT, "sample_time": 0.01}

    def wrong(match, **other):
        with pytest.raises(ModelError, match=match):
            plain.controlled("damper", **{**good, **other})

    wrong("no.fmu': there is no such file", fmu=tmp_path / "no.fmu")
    (tmp_path / "text.fmu").write_text("not a zip", encoding="utf-8")
    wrong(r"controlled\('damper'\): 'text.fmu' is not an FMU", fmu=tmp_path / "text.fmu")
    wrong(
        r"no variable 'rat'. Did you mean 'rate'\? Its inputs of type Real: rate",
        inputs={"rat": "yaw_rate"},
    )
    wrong(
        "variable 'turned' of 'law2.fmu' has causality local, not output",
        torques={"turned": TORQUES[0]},
    )
    wrong(
        "variable 'gain' of 'law2.fmu' has causality parameter, not input. Its inputs",
        inputs={"gain": "yaw_rate"},
    )
    wrong("inputs=.'yaw_rate'. must be a dictionary", inputs=["yaw_rate"])
    wrong(
        "'fl.brake_torque' is given more than once",
        torques=dict.fromkeys(LEFT_RIGHT, "fl.brake_torque"),
    )
    wrong("fmu= takes the place of python=, c= and memory=", python=law)
    wrong("sample_time=0 must be a positive number", sample_time=0)
    with pytest.raises(ModelError, match=r"inputs=.* must be a list of names"):
        plain.controlled(
            "damper", python=law, inputs={"a": "yaw_rate"}, torques=TORQUES, sample_time=0.01
        )

    def changed(name, old, new):
        other = tmp_path / name
        with zipfile.ZipFile(path) as read, zipfile.ZipFile(other, "w") as written:
            for entry in read.namelist():
                data = read.read(entry)
                if entry == "modelDescription.xml":
                    data = re.sub(old, new, data.decode(), flags=re.DOTALL).encode()
                if not entry.startswith("binaries") or new:
                    written.writestr(entry, data)
        return other

    wrong("without co-simulation", fmu=changed("me.fmu", "<CoSimulation.*?</CoSimulation>", " "))
    wrong(
        "cannot be loaded: .*The file is for c-code; this computer needs",
        fmu=changed("source.fmu", "$^", ""),
    )
    wrong("cannot be loaded", fmu=changed("guid.fmu", 'guid="[^"]*"', 'guid="{0}"'))
    whole = changed("whole.fmu", r'(name="rate".*?)<Real[^>]*/>', r'\1<Integer start="0"/>')
    wrong("variable 'rate' of 'whole.fmu' is Integer, not a number of type Real", fmu=whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "fmpy", None)
        with pytest.raises(RunError, match=r"pip install bellcrank\[fmu\]"):
            plain.controlled("damper", **good)


@needs_compiler
@pytest.mark.campaign
def test_controllers_of_the_user_in_a_car(plain, fmu_of_law):
    """It gives the run of a loop around the stepper of the plain car; switched off, that of the
    plain car. So does an FMU of the same law."""
    steer = {"steer": bc.signals.step(0.1, 40.0)}
    alone = plain.system(speed=25).equations().compile()
    found, _ = by_hand(alone, 60, [0.0], inputs=steer)
    sim = plain.controlled("damper", python=law, **OWN).system(speed=25).equations().compile()
    run = sim.simulate(t_end=0.6, inputs=steer)
    assert run["yaw_rate"][:-1] == pytest.approx(found, rel=1e-9, abs=1e-9)
    assert run["damper.fr.brake_torque"].max() > 300
    imported = (
        by_fmu(plain, fmu_of_law())
        .system(speed=25)
        .equations()
        .compile()
        .simulate(t_end=0.6, inputs=steer)
    )
    assert imported["yaw_rate"] == pytest.approx(run["yaw_rate"], rel=1e-9, abs=1e-9)
    off = sim.simulate(t_end=0.6, inputs=steer, parameters={"damper_on": 0})
    assert (
        off["damper.fr.brake_torque"].max() == 0
        and off["yaw_rate"][-1] > 1.05 * run["yaw_rate"][-1]
    )
    assert off["yaw_rate"] == pytest.approx(
        alone.simulate(t_end=0.6, inputs=steer)["yaw_rate"], abs=1e-9
    )


@pytest.mark.campaign
def test_example_of_a_controller(capsys):
    run_path(str(EXAMPLE))["main"]()
    off, on = (float(x) for x in re.findall(r"yaw rate ([\d.]+) deg/s", capsys.readouterr().out))
    assert 5 < on < 0.95 * off


@pytest.mark.campaign
def test_steady_turns_with_a_controller_of_the_yaw_rate(plain):
    """A controller that begins to brake as the car turns: the steady turn that is found stays, with
    its brake torque."""
    from bellcrank.vehicles.manoeuvres.compiled_car import CURVATURE_GAIN, compile_car

    def damper(t, yaw_rate):
        return max(0.0, -3000 * yaw_rate), max(0.0, 3000 * yaw_rate)

    torques = ["fl.brake_torque", "fr.brake_torque"]
    own = plain.controlled(
        "damper", inputs=["yaw_rate"], torques=torques, sample_time=0.01, python=damper
    )
    car, speed, ay = compile_car(own), 80 / 3.6, 4.0
    turn = car.steady_turn_state(speed, ay / speed**2)
    inputs = {"speed_set": speed, "curve_set": ay / speed**2}
    run = car.simulate(2.0, turn, inputs, {"k_turn": CURVATURE_GAIN})
    rate = ay / speed
    assert np.radians(run["yaw_rate"]) == pytest.approx(np.full(len(run.time), rate), rel=1e-3)
    assert run["damper.fr.brake_torque"] == pytest.approx(
        np.full(len(run.time), 3000 * rate), rel=1e-3
    )
    assert np.ptp(run["steering_wheel"]) < 0.05
    step = bc.vehicles.manoeuvres.run(own, "iso7401-step")
    turned = np.degrees(turn["driver.turn"] - car.straight_running_state(speed)["driver.turn"])
    assert step["angle"] == pytest.approx(turned, rel=1e-6)
