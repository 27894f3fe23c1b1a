"""The demo: a passenger car in a step steer, derived in full and with small variables, compared.

Prints a table (size, operations, times, speed against real time) and writes passenger_car.csv and
passenger_car.png into
`demo/`, or into the folder given. `make demo` runs it.
"""

import sys
import time
from pathlib import Path

import bellcrank as bc

HERE = Path(__file__).parent
LONG = 200.0  # s, of the run that is timed


def examine(small):
    """Equations, simulation, run of two seconds, and the figures of one column of the table."""
    car = bc.System.read(HERE / "passenger_car.py", small=small)
    car.set_defaults(iyy=33000)  # a real body: the source's 12000 is less than izzr - ixx
    equations = car.equations()
    start = time.perf_counter()
    sim = equations.compile(speed="fast")
    compiled = time.perf_counter() - start
    run = sim.simulate(output_every=1)
    start = time.perf_counter()
    sim.simulate(t_end=LONG, output_every=1000)
    seconds = time.perf_counter() - start
    count = equations.operation_count()
    rows = [
        ("bodies", f"{len(equations.derived.bodies)}"),
        ("coordinates", f"{len(equations.coordinates)}"),
        ("degrees of freedom", f"{len(equations.independent_speeds)}"),
        ("operations per evaluation", f"{count['total']}"),
        ("  add", f"{count['add']}"),
        ("  multiply", f"{count['multiply']}"),
        ("  divide", f"{count['divide']}"),
        ("  functions", f"{count['function']}"),
        ("derived in", f"{sum(equations.seconds.values()):.3f} s"),
        ("compiled in", f"{compiled:.3f} s"),
        (
            f"run of {LONG:g} s ({round(LONG / run.settings['step'])} steps) in",
            f"{1000 * seconds:.1f} ms",
        ),
        ("speed against real time", f"{LONG / seconds:,.0f} x"),
        ("lateral acceleration at 2 s", f"{run['Ay'][-1]:.4f} {run.units['Ay']}"),
        ("yaw rate at 2 s", f"{run['r'][-1]:.4f} {run.units['r']}"),
    ]
    return sim, run, rows


def overlay(full, small, path):
    """Two runs of the car over each other: lateral acceleration, yaw rate, roll angle, slip
    angles."""
    from matplotlib.figure import Figure

    panels = [
        ("Lateral acceleration", [("Ay", "full", "tab:blue")]),
        ("Yaw rate", [("r", "full", "tab:blue")]),
        ("Roll angle", [("q(rb)", "full", "tab:blue")]),
        (
            "Slip angles",
            [("alpha f", "front, full", "tab:blue"), ("alpha r", "rear, full", "tab:orange")],
        ),
    ]
    figure = Figure(figsize=(9.5, 6.2), layout="constrained")
    for axis, (title, channels) in zip(figure.subplots(2, 2, sharex=True).flat, panels):
        for channel, label, colour in channels:
            axis.plot(
                full.time, full[channel], color=colour, linewidth=3.0, alpha=0.75, label=label
            )
        for i, (channel, _, _) in enumerate(channels):
            label = "small variables" if i == 0 else None
            axis.plot(small.time, small[channel], "--", color="black", linewidth=1.2, label=label)
        axis.set_title(title, fontsize=11, loc="left")
        axis.set_ylabel(full.units[channels[0][0]])
        axis.grid(True, linewidth=0.4, alpha=0.6)
        axis.margins(x=0)
        axis.legend(
            fontsize=9,
            frameon=False,
            loc="lower right" if title in ("Lateral acceleration", "Yaw rate") else "upper right",
        )
    for axis in figure.axes[2:]:
        axis.set_xlabel("time (s)")
    figure.suptitle(
        "Passenger car, step steer of 1 degree at 968 in/s (Sayers 1990, section 9.1)", fontsize=12
    )
    figure.savefig(path, dpi=130)


def main(folder="demo"):
    """The whole demo; results go into `folder`."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    sim, full, left = examine(small=False)
    _, small, right = examine(small=True)
    print(f"{'Passenger car, step steer':36}{'full':>14}{'small':>14}")
    for (words, a), (_, b) in zip(left, right):
        print(f"{words:36}{a:>14}{b:>14}")
    print("; ".join(sim.notes))
    print(f"wrote {full.save(folder / 'passenger_car.csv')}")
    overlay(full, small, folder / "passenger_car.png")
    print(f"wrote {folder / 'passenger_car.png'}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
