"""Published figures by one command: step steer, spacecraft slew, arm settling.

    python examples/figures.py [FOLDER]

Sayers (1990), sections 9.1, 9.4 and 9.6; the curves are computed here, as the plots of the source
are not in the text. Pictures go into FOLDER (default `demo`).
"""

import sys
from pathlib import Path
from runpy import run_path

import numpy as np
from matplotlib.figure import Figure

import bellcrank as bc

HERE = Path(__file__).parent
demo = run_path(str(HERE / "demo.py"))


def simulated(name, **arguments):
    """A run of an example as its file asks for, every step kept."""
    return (
        bc.System.read(HERE / f"{name}.py", **arguments)
        .equations()
        .compile()
        .simulate(output_every=1)
    )


def panel(axis, title, unit):
    axis.set_title(title, fontsize=11, loc="left")
    axis.set_ylabel(unit)
    axis.grid(True, linewidth=0.4, alpha=0.6)
    axis.margins(x=0)


def step_steer(path):
    """Car: lateral acceleration, yaw rate, roll angle and slip angles, small and full overlaid."""
    demo["overlay"](simulated("passenger_car"), simulated("passenger_car", small=True), path)


def spacecraft_slew(path):
    """Spacecraft #1: commanded and actual clock and camera angles, bus angles in the dead band,
    thruster pulses."""
    model = run_path(str(HERE / "spacecraft_1.py"))
    run = simulated("spacecraft_1")
    t = run.time
    commands = np.array([model["cmd"](x) for x in t])
    figure = Figure(figsize=(9.5, 8.4), layout="constrained")
    angles, bus, pulses = figure.subplots(3, 1, sharex=True, height_ratios=(1, 1.2, 0.9))

    panel(angles, "Slew of clock and camera", "rad")
    angles.plot(t, run["q(c)"], color="tab:blue", linewidth=1.6, label="clock")
    camera = angles.twinx()
    camera.plot(t, run["q(d)"], color="tab:orange", linewidth=1.6, label="camera (right)")
    camera.set_ylabel("rad")
    for axis, command in ((angles, commands[:, 0]), (camera, commands[:, 1])):
        axis.plot(t, command, "--", color="black", linewidth=1.0, label="command")
        axis.margins(x=0)
    handles = [angles.lines[0], camera.lines[0], angles.lines[1]]
    angles.legend(handles=handles, fontsize=9, frameon=False, loc="center right")

    panel(bus, "Attitude of the bus", "mrad")
    dead = 1000 * model["DEAD_BAND"]
    bus.axhspan(-dead, dead, color="0.9", zorder=0, label="dead band")
    for i, colour in zip((4, 5, 6), ("tab:blue", "tab:orange", "tab:green")):
        bus.plot(
            t, 1000 * run[f"q(b, {i})"], color=colour, linewidth=1.2, label=f"about axis {i - 3}"
        )
    bus.set_ylim(-3.6, 3.1)
    bus.legend(fontsize=9, frameon=False, ncols=4, loc="lower right")

    panel(pulses, "Thruster moments", "")
    for i, colour in zip((1, 2, 3), ("tab:blue", "tab:orange", "tab:green")):
        moment = run[f"tt{i}"]
        size = np.abs(moment).max() or 1.0
        pulses.plot(t, 0.4 * moment / size - i, color=colour, linewidth=1.0, drawstyle="steps-post")
    pulses.set_yticks(
        (-1, -2, -3),
        [f"axis {i}\n{np.abs(run[f'tt{i}']).max():g} {run.units['tt1']}" for i in (1, 2, 3)],
    )
    pulses.set_ylim(-3.6, -0.4)
    pulses.set_xlabel("time (s)")
    figure.suptitle(
        "Spacecraft #1: slew with attitude control by thrusters (Sayers 1990, section 9.4)",
        fontsize=12,
    )
    figure.savefig(path, dpi=130)


def arm_settling(path):
    """Controlled Stanford arm: six joint coordinates on their way to the targets."""
    run = simulated("stanford_arm_controlled")
    figure = Figure(figsize=(9.5, 6.2), layout="constrained")
    turns, slide = figure.subplots(2, 1, sharex=True, height_ratios=(1.7, 1))
    panel(turns, "Rotations", "rad")
    for joint in "abdef":
        turns.plot(run.time, run[f"q({joint})"], linewidth=1.6, label=joint.upper())
    turns.axhline(np.pi / 3, color="black", linestyle="--", linewidth=1.0, label="target")
    turns.legend(fontsize=9, frameon=False, ncols=6, loc="lower right")
    panel(slide, "Extension of C", "m")
    slide.plot(run.time, run["q(c)"], linewidth=1.4, color="tab:brown", label="C")
    slide.axhline(0.1, color="black", linestyle="--", linewidth=1.0, label="target")
    slide.legend(fontsize=9, frameon=False, ncols=2, loc="lower right")
    slide.set_xlabel("time (s)")
    figure.suptitle(
        "Stanford arm with controller, from rest to its targets (Sayers 1990, section 9.6)",
        fontsize=12,
    )
    figure.savefig(path, dpi=130)


def main(folder="demo"):
    """All figures, as PNG files in `folder`."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for draw in (step_steer, spacecraft_slew, arm_settling):
        path = folder / f"{draw.__name__}.png"
        draw(path)
        print(f"wrote {path}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
