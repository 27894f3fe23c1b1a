"""A sampled controller of one's own in a car: a yaw damper that brakes single front wheels.

python examples/car_controllers.py
"""

import bellcrank as bc

GAIN = 3000.0  # N m s of brake torque per yaw rate


def damper(t, yaw_rate):
    """Brake torques of the left and right front wheels (N m) against a yaw rate (rad/s)."""
    return max(0.0, -GAIN * yaw_rate), max(0.0, GAIN * yaw_rate)


def controlled_car(car="passenger"):
    """A shipped car with the damper, which is called every 10 ms."""
    torques = ["fl.brake_torque", "fr.brake_torque"]
    return bc.vehicles.Car.read(car).controlled(
        "damper", inputs=["yaw_rate"], torques=torques, sample_time=0.01, python=damper
    )


def main():
    sim = controlled_car().system(speed=25).equations().compile()
    for on in (0, 1):
        run = sim.simulate(
            t_end=3, inputs={"steer": bc.signals.step(0.5, 40.0)}, parameters={"damper_on": on}
        )
        rate, torque = run["yaw_rate"], run["damper.fr.brake_torque"]
        print(
            f"damper {'on' if on else 'off'}: yaw rate {rate.max():.2f} deg/s at most, "
            f"{rate[-1]:.2f} deg/s at the end, "
            f"brake torque {torque.max():.0f} N m"
        )


if __name__ == "__main__":
    main()
