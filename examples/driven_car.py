"""Car in a turn and braking: a step of the steering wheel at 20 m/s, then straight again, then full
braking to a standstill.

Rigid chassis, four wheels that turn, tyres with slip (linear stiffness, relaxation length, friction
circle), front-wheel drive, 29 coordinates and states, 14 speeds. Look at `yaw_rate`, `ay` and
`roll` in the turn, `pitch`, `speed` and the forces of the tyres while braking, and at the car
standing still afterwards. Axes and signs of ISO 8855: positive steering turns left.
`python examples/driven_car.py` draws both manoeuvres to driven_car.png.
"""

import bellcrank as bc

TURN, STRAIGHT, STOP = 1.0, 4.0, 6.0  # s
STEER, BRAKE = 2.0, 3200.0  # deg, N m


def model():
    """SI units. Inputs: steer in deg, drive and brake in N m."""
    slip = (
        bc.Slip(60e3, 45e3, relaxation=(0.15, 0.4)),
        bc.Slip(60e3, 55e3, relaxation=(0.15, 0.4)),
    )  # front, rear
    s = bc.vehicles.car(slip=slip, brakes=(0.65, 0.35), speed=20, rolling_resistance=2)
    steer = bc.signals.sampled(
        [0, TURN, TURN + 0.1, STRAIGHT, STRAIGHT + 0.1, 20], [0, 0, STEER, STEER, 0, 0]
    )
    s.set_run(
        t_end=12,
        step=0.001,
        output_every=10,
        inputs={"steer": steer, "brake": bc.signals.step(at=STOP, height=BRAKE)},
    )
    return s


def draw(run, path="driven_car.png"):
    """The turn and the stop, one below the other."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    rows = (
        (("steer", "roll", "pitch"), "deg"),
        (("yaw_rate",), "deg/s"),
        (("speed",), "m/s"),
        (("ax", "ay"), "m/s2"),
        (("w1l.tyre_load", "w1r.tyre_load", "w2l.tyre_load", "w2r.tyre_load"), "N"),
    )
    figure, axes = plt.subplots(len(rows), 1, sharex=True, figsize=(8, 11), layout="constrained")
    for ax, (names, unit) in zip(axes, rows):
        for name in names:
            ax.plot(run.time, run[name], label=name)
        ax.set_ylabel(unit)
        ax.legend(loc="upper right")
        ax.grid(alpha=0.3)
    axes[-1].set_xlabel("time, s")
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    found = model().equations().compile().simulate()
    draw(found)
    print(
        f"{found.ended}; largest yaw rate {found['yaw_rate'].max():.2f} deg/s, speed at the "
        f"end {found['speed'][-1]:.1e} m/s"
    )
