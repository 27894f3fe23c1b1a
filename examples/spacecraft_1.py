"""Spacecraft with a flexible boom: a bus with a clock, a camera on it, and a flexible boom, kept in
attitude by thrusters.

Sayers (1990), section 9.4 (Spacecraft #1, an example of the SD/FAST manual). The motors follow a
commanded slew of clock and camera from 1 s to 11 s; three on-off thrusters hold the bus. E is a
massless body that gives the boom its second hinge. Look at the bus angles q(b, 4..6): they stay
near the thrusters' dead band of 0.0025 rad.
"""

from pathlib import Path

import bellcrank as bc

DEAD_BAND = 0.0025  # rad
PULSE = 0.02  # s


def cmd(t):
    """Commanded clock and camera angles (rad): a ramp between two holds."""
    slew = min(max(t - 1.0, 0.0), 10.0)
    return 4.0 - 0.025 * slew, -0.5 + 0.01 * slew


def thrust(t, axis, err, memory):
    """Thruster of one axis: -1, 0 or 1. `memory` keeps what fires (0..2) and until when (3..5)."""
    fire, off = int(axis) - 1, int(axis) + 2
    if abs(err) > DEAD_BAND:
        memory[fire] = -1.0 if err > 0 else 1.0
        memory[off] = t + PULSE
    elif t >= memory[off]:
        memory[fire] = 0.0
    return memory[fire]


# The same two routines for programs in C and Fortran stand next to the deck of this model.
C, FORTRAN = (
    Path(__file__).with_name("decks").joinpath(f"spacecraft_1.{kind}").read_text(encoding="utf-8")
    for kind in ("c", "f90")
)


def model(small=False):
    """Ten degrees of freedom, SI units. `small` takes the motion of bus and boom as small, eight of
    the ten."""
    s = bc.System("Spacecraft #1", units="mks")
    b = s.add_body(
        "b",
        label="bus",
        translate=(1, 2, 3),
        rotate=(1, 2, 3),
        small_angles=small,
        small_translations=small,
    )
    c = s.add_body(
        "c",
        parent=b,
        label="clock",
        rotate=3,
        joint_at=(0, 0, "-l1"),
        cm=(0, 0, "l2"),
        inertia=("ci", "ci", 0),
    )
    d = s.add_body(
        "d",
        parent=c,
        label="camera",
        rotate=1,
        rotation_axis=(-1, 0, 0),
        joint_at=(0, "-l3", 0),
        cm=(0, "l5", "l6"),
    )
    e = s.add_body(
        "e", parent=b, rotate=3, joint_at=(0, "-l7", 0), mass=0, inertia=0, small_angles=small
    )
    f = s.add_body(
        "f",
        parent=e,
        label="boom",
        rotate=1,
        cm=(0, "-l8", 0),
        inertia=("fi1", "fi2", "fi1"),
        small_angles=small,
    )
    s.add_shape(body=b, kind="box", size=("l7", "1.6*l7", "0.5*l1"), color="silver", label="bus")
    s.add_shape(body=c, kind="cylinder", size=("0.1*l7", "l1"), at=(0, 0, "l1/2"), label="clock")
    s.add_shape(
        body=d,
        kind="box",
        size=("0.4*l7", "0.4*l7", "0.6*l7"),
        at=(0, "l5", "l6"),
        color="navy",
        label="camera",
    )
    s.add_shape(
        body=f,
        kind="cylinder",
        size=("0.06*l7", "2*l8"),
        at=(0, "-l8", 0),
        axis=2,
        color="gold",
        label="boom",
    )
    if small:
        s.large("kb", "bb")  # moments from small deflections are not small

    s.add_external(
        "cmd", arguments=("t",), returns=("clkcmd", "camcmd"), python=cmd, c=C, fortran=FORTRAN
    )
    s.add_external(
        "thrust", arguments=("t", "axis", "err"), memory=6, python=thrust, c=C, fortran=FORTRAN
    )
    s.add_moment(
        "bt1",
        magnitude="-kb*q(e) - bb*u(e)",
        direction=e[3],
        on=f,
        against=b,
        label="boom-torque Z",
    )
    s.add_moment(
        "bt2",
        magnitude="-kb*q(f) - bb*u(f)",
        direction=f[1],
        on=f,
        against=b,
        label="boom-torque X",
    )
    s.add_moment(
        "clockt",
        magnitude="kclock*(clkcmd - q(c)) - bclock*u(c)",
        direction=c[3],
        on=c,
        against=b,
        label="torque from clock motor",
    )
    s.add_moment(
        "camt",
        magnitude="kclock*(camcmd - q(d)) - bclock*u(d)",
        direction=d[1],
        on=d,
        against=c,
        label="torque from camera motor",
    )
    for i in (1, 2, 3):
        s.add_moment(
            f"tt{i}",
            magnitude=f"ltt{i}*thrust(t, {i}, gyro*u(b, {i + 3}) + q(b, {i + 3}))",
            direction=b[i],
            on=b,
            label=f"thruster moment #{i}",
        )

    s.set_defaults(
        l1=1.5, l2=0.75, l3=0.1, l5=0.22, l6=0.2, l7=1.2, l8=3.3, bm=410, cm=6.8, dm=57.5, fm=10.7
    )
    s.set_defaults(
        bi11=115, bi12=-14, bi13=14, bi22=316, bi23=-34.6, bi33=440, ci=0.35, fi1=27.2, fi2=0.2
    )
    s.set_defaults(di11=4.85, di12=-0.41, di13=-0.07, di22=2.2, di23=-0.54, di33=5.5)
    s.set_defaults(ltt1=0.23, ltt2=0.21, ltt3=0.31, gyro=2, kclock=3500, bclock=20, kb=2000, bb=10)
    s.add_outputs("coordinates", "speeds", "moments")
    s.set_run(t_end=30, step=0.02, method="rk2", initial={"q(c)": 4, "q(d)": -0.5})
    return s


if __name__ == "__main__":
    print(model().equations().summary())
