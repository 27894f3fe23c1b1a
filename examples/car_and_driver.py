"""Car and driver as two FMUs: each an FMU of its own, in co-simulation; and both in one model.

The car goes at 20 m/s on two axles with linear tyres; the driver turns a steering wheel with
inertia by the offset from the lane that is ahead. Every unit steps by itself; they exchange signals
once per interval, so that the two together differ from the one model by an error that falls with
it. `python examples/car_and_driver.py` writes both units, runs them in FMPy and reports the
difference.
"""

from pathlib import Path

import bellcrank as bc


def add_car(s, steer):
    """Moves in the plane with tyres at the axles; `steer` is the angle of the front wheels."""
    n = s.inertial
    car = s.add_body("car", translate=(1, 2), rotate=3, mass="m", inertia=(0, 0, "iz"), label="car")
    for name, place, angle in (("front", "a", steer), ("rear", "-b", "0")):
        axle = s.add_point(name, body=car, at=(place, 0, 0))
        slip = f"atan2(dot(vel({name}), [car2]), dot(vel({name}), [car1])) - ({angle})"
        s.add_force(f"tyre_{name}", magnitude=f"-c_{name}*({slip})", direction=car[2], at=axle)
    s.add_output("y", "dot(pos(car.cm), [n2])", label="offset from the lane", body=car)
    s.add_output("yaw", "angle([n1], [car1], [n3])", label="heading", body=car)
    s.set_units(m="M", iz="M*L**2", c_front="F/A", c_rear="F/A", a="L", b="L")
    s.set_defaults(m=1200, iz=1800, a=1.2, b=1.4, c_front=60e3, c_rear=70e3)
    return n


def add_driver(s, y, yaw):
    """Holds the steering wheel: a moment towards the angle that the offset ahead asks for."""
    hands = s.add_body("hands", rotate=1, inertia=("iw", 0, 0), mass=0, label="steering wheel")
    wanted = f"-gain*({y} + ahead*({yaw})/one)"
    s.add_moment(
        "arms", magnitude=f"k*({wanted} - q(hands)) - c*u(hands)", direction=hands[1], on=hands
    )
    s.add_output("steer", "q(hands)/ratio", label="angle of the front wheels")
    s.set_units(gain="A/L", ahead="L", one="A", ratio="1", k="F*L/A", c="F*L*T/A", iw="M*L**2")
    s.set_defaults(iw=0.05, k=20, c=1.6, gain=0.5, ahead=20, one=1, ratio=16)


def system(name):
    s = bc.System(name, units="mks")
    s.set_run(t_end=6, step=0.002, output_every=5)
    return s


def start(s):
    s.set_run(t_end=6, step=0.002, output_every=5, initial={"q(car, 2)": 1.0, "u(car, 1)": 20.0})


def car():
    """Input: the angle of the front wheels."""
    s = system("car")
    s.add_input("steer", units="A", label="angle of the front wheels")
    add_car(s, "steer")
    start(s)
    return s


def driver():
    """Inputs: offset and heading of the car."""
    s = system("driver")
    s.add_input("y", units="L", label="offset from the lane")
    s.add_input("yaw", units="A", label="heading")
    add_driver(s, "y", "yaw")
    return s


def both():
    """Both in one."""
    s = system("car and driver")
    add_driver(s, "dot(pos(car.cm), [n2])", "angle([n1], [car1], [n3])")
    add_car(s, "q(hands)/ratio")
    start(s)
    return s


def side_by_side(paths, interval, t_end=6.0):
    """Offset of the car at the ends of intervals, in FMUs that exchange signals once per
    interval."""
    from fmpy import extract, instantiate_fmu, read_model_description

    units, references = [], []
    for path in paths:
        description = read_model_description(str(path))
        unit = instantiate_fmu(extract(str(path)), description, "CoSimulation")
        unit.setupExperiment(startTime=0.0)
        unit.enterInitializationMode()
        unit.exitInitializationMode()
        units.append(unit)
        references.append({v.name: v.valueReference for v in description.modelVariables})
    found = []
    (the_car, its_driver), (of_car, of_driver) = units, references
    for i in range(round(t_end / interval)):
        seen = the_car.getReal([of_car["y"], of_car["yaw"]])
        its_driver.setReal([of_driver["y"], of_driver["yaw"]], seen)
        the_car.setReal([of_car["steer"]], its_driver.getReal([of_driver["steer"]]))
        for unit in units:
            unit.doStep(i * interval, interval)
        found.append(the_car.getReal([of_car["y"]])[0])
    for unit in units:
        unit.terminate()
        unit.freeInstance()
    return found


if __name__ == "__main__":
    import numpy as np

    paths = [s.equations().export("fmu", Path(f"{s.name}.fmu")) for s in (car(), driver())]
    together = both().equations().compile().simulate()
    for interval in (0.04, 0.02, 0.01):
        apart = side_by_side(paths, interval)
        every = round(interval / 0.01)
        print(f"interval {interval:g} s: {np.abs(apart - together['y'][every::every]).max():.2g} m")
