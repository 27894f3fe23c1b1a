"""Cars with additional bodies, states and controllers: in models, manoeuvres, steady states and
modes."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError
from bellcrank.vehicles.cars.control.driver import Driver
from bellcrank.vehicles.manoeuvres.compiled_car import compile_car, manoeuvre_system, read_car
from bellcrank.vehicles.manoeuvres.sine_with_dwell import sine_with_dwell_signal

EXAMPLE = Path(__file__).parents[2] / "examples" / "car_with_trailer.py"


def example():
    spec = importlib.util.spec_from_file_location("car_with_trailer", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def odometer(system, car):
    """A state that nothing depends on, and the torque of one wheel from a controller."""
    system.add_state(
        "distance", rate="dot(vel(chassis.cm), [chassis1])", units="L", label="distance"
    )
    system.control("fl.drive_torque", "0*F_test")
    system.add_parameter("F_test", 1.0, units="F*L")


@pytest.fixture(scope="module")
def car():
    return bc.vehicles.Car.read("passenger")


@pytest.fixture(scope="module")
def extended(car):
    return car.extended(odometer)


@pytest.fixture(scope="module")
def system(extended):
    return extended.system()


def test_functions_extend_every_model(car, extended, system):
    assert "distance" in {x.name for x in system.description.states}
    assert not car.extensions and not car.is_extended and extended.is_extended
    names = {v.name for v in system.description.variables}
    assert "fr.drive_torque" in names and "fl.drive_torque" not in names
    assert extended.extended(odometer).extensions == (odometer, odometer)
    assert read_car(system) is extended


def test_what_cannot_be_controlled_is_named(car, extended, system):
    with pytest.raises(
        ModelError, match=r"no torque of a wheel is called 'fl.brake_torqe'.*fl.brake_torque"
    ):
        system.control("fl.brake_torqe", "0")
    with pytest.raises(ModelError, match=r"'fl.drive_torque' is given by a controller already"):
        system.control("fl.drive_torque", "0")
    with pytest.raises(ModelError, match="give functions that take the system and the car"):
        car.extended("trailer")
    with pytest.raises(ModelError, match="give a function"):
        car.extended()


def test_models_changed_by_hand_and_classes_that_cannot_be_called_are_refused(extended, car):
    """What manoeuvres would omit without a word before."""
    by_hand = extended.system()
    by_hand.set_defaults(F_test=2.0)
    with pytest.raises(ModelError, match=r"give them car.extended\(function\)"):
        read_car(by_hand)

    class Short(bc.vehicles.Car):
        def system(self, speed=20.0):
            return super().system(speed=speed)

    class Other(bc.vehicles.Car):
        def system(self, **options):
            return None

    for kind, words in (
        (Short, r"Short.system\(\) cannot be called by manoeuvres.*\*\*options"),
        (Other, "NoneType"),
    ):
        with pytest.raises(ModelError, match=words):
            manoeuvre_system(kind(folder=car.folder, **car.given), Driver(), None)


@pytest.mark.campaign
def test_classes_with_their_own_system_are_driven(car):
    class Own(bc.vehicles.Car):
        def system(self, **options):
            s = super().system(**options)
            odometer(s, self)
            return s

    own = Own(folder=car.folder, **car.given).changed(name="own")
    assert type(own) is Own
    run = bc.vehicles.manoeuvres.run(own, "iso7401-step").run
    assert run["distance"][-1] == pytest.approx(np.trapezoid(run["speed"], run.time), rel=1e-3)
    plain = bc.vehicles.manoeuvres.run(car, "iso7401-step").run
    assert run["yaw_rate"] == pytest.approx(plain["yaw_rate"], abs=1e-6)


@pytest.mark.campaign
def test_wheel_torques_as_inputs(car):
    """Torques of single wheels act like those of pedals, and turn the car when they differ from
    side to side."""
    sim = car.system(speed=20).equations().compile()
    pedal = sim.simulate(t_end=1, inputs={"brake": 1000.0, "drive": 200.0})
    share = car.data.sections.brakes.front_share
    wheels = {f"f{s}.brake_torque": 500.0 * share for s in "lr"} | {
        f"r{s}.brake_torque": 500 * (1 - share) for s in "lr"
    }
    front = next(float(p.default) for p in sim.interface.parameters if p.name == "drive_front")
    wheels |= {f"f{s}.drive_torque": 100.0 * front for s in "lr"} | {
        f"r{s}.drive_torque": 100 * (1 - front) for s in "lr"
    }
    single = sim.simulate(t_end=1, inputs=wheels)
    assert single["speed"] == pytest.approx(pedal["speed"], abs=1e-9)
    left = sim.simulate(t_end=1, inputs={"fl.brake_torque": 300.0})
    vectored = sim.simulate(t_end=1, inputs={"rr.drive_torque": 200.0, "rl.drive_torque": -200.0})
    assert left["yaw_rate"][-1] > 0.5 and vectored["yaw_rate"][-1] > 0.5


@pytest.mark.campaign
def test_car_with_a_trailer_and_an_esc():
    """The example: steady starts, the load on the hitch, snaking that is less damped the faster it
    goes, and an ESC that keeps the car from spinning in a sine with dwell."""
    module = example()
    car = module.car_with_trailer()
    compiled = compile_car(car)
    for start in (
        compiled.straight_running_state(80 / 3.6),
        compiled.steady_turn_state(20.0, 0.01),
    ):
        run = compiled.simulate(2.0, start, {"speed_set": 20.0}, {"k_speed": 0.0})
        assert np.ptp(run["yaw_rate"]) < 1e-6 and np.ptp(run["hitch_angle"]) < 1e-6
        wheels = run["trailer.left.tyre_load"] + run["trailer.right.tyre_load"]
        hitch = (module.MASS + 2 * module.WHEEL) * module.G - wheels[-1]
        assert hitch == pytest.approx(module.HITCH, rel=0.1)
    found = module.snaking((60, 100))
    assert found[100].damping < found[60].damping and 0.3 < found[100].frequency < 1.5
    on, off = (
        compiled.simulate(
            4.0,
            compiled.straight_running_state(80 / 3.6),
            {"steer": sine_with_dwell_signal(150.0, 0.7, 0.5)[0]},
            {"k_speed": 0.0, "esc_gain": gain},
        )
        for gain in (20e3, 0.0)
    )
    assert np.abs(on["side_slip"]).max() < 0.7 * np.abs(off["side_slip"]).max()
