"""Partial vehicles of a thesis: all tests of van Iwaarden (2003), published and computed results.

    python examples/thesis_gallery.py [--out FOLDER]

prints one table of the tests of both motorcycle models (chapter 6 and section 1.7) and one of the
planar pendulum by all methods (chapter 3), and draws them into FOLDER (default `gallery`).
docs/gallery_partial_vehicles.md shows both. Runs are those of the thesis: rk4, its steps, and its
method DLMM on redundant coordinates.
"""

import argparse
import math
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

import bellcrank as bc

G = 9.81
SIDES = ("rear", "front")
PARTS = tuple(f"{side}.{part}" for side in SIDES for part in ("rim", "chassis"))
GROUND = {
    "flat": bc.vehicles.terrain.flat(),
    "drop": bc.vehicles.terrain.flat(-0.5),
    "rising": bc.vehicles.terrain.ramp(0.2, height=-1),
    "hill": bc.vehicles.terrain.hill(),
    "hollow": bc.vehicles.terrain.cosine(1, 0.5, height=-2),
    "course": bc.vehicles.terrain.course(),
}


@dataclass(frozen=True)
class Case:
    """A test of the thesis: SI units, all masses, springs and dampers alike, wheelbase 1 m, relaxed
    lengths 0.4 m."""

    name: str
    title: str
    model: int
    k: float
    c: float
    t_end: float
    rim: float = 0.3588  # heights at the start
    chassis: float = 0.7392
    mass: float = 1.0
    speed: float = 0.0
    friction: float = 0.0
    ground: str = "flat"
    step: float = 0.001
    inputs: dict = field(default_factory=dict, hash=False)

    @cached_property
    def run(self):
        """By DLMM on point masses and constraints, as in the thesis."""
        return _started(
            self, model_1() if self.model == 1 else _motorcycle(self.ground, "redundant"), "dlmm"
        )

    @cached_property
    def minimal(self):
        """The same machine in minimal coordinates (model 2)."""
        return _started(self, _motorcycle(self.ground, "minimal"), "projection")

    @property
    def violation(self):
        """Largest distance from the constraints in m: of the rod's length, and of the rims from
        square."""
        return float(
            np.abs(self.run.residuals.g).max()
        )  # (strut . rod)/|rod| is a length, and |rod| = 1 m


def pulses(force):
    """The force from 0 to 1 s, the opposite one from 2 to 3 s, as samples."""
    edge = 1e-9
    return (0, 1, 1 + edge, 2, 2 + edge, 3), (force, force, 0, 0, -force, -force)


CASES = (
    Case("M1 1a", "release, no damping", 1, 1000, 0, 1, 0.3, 0.4, step=0.01),
    Case("M1 1b", "release, damping", 1, 1000, 50, 1, 0.3, 0.4, step=0.01),
    Case("M1 2", "-100 N on the front chassis from 1 s", 1, 1000, 50, 3, 0.3, 0.4, step=0.01, inputs={"front.load": bc.signals.step(at=1, height=-100)}),
    Case("M1 3", "100 N forward 0-1 s, back 2-3 s", 1, 1000, 50, 3, 0.3, 0.4, inputs={"rear.drive": pulses(100)}),
    Case("M2 1a", "release, no damping", 2, 500, 0, 3),
    Case("M2 1b", "release, damping", 2, 500, 50, 3, 0.35, 0.70),
    Case("M2 2", "-100 N on the front chassis from 0.5 s", 2, 1000, 50, 1, inputs={"front.load": bc.signals.step(at=0.5, height=-100)}),
    Case("M2 3", "50 N on the rear rim 0-1 s, back 2-3 s", 2, 1000, 100, 3, inputs={"rear.drive": pulses(50)}),
    Case("M2 4", "hill at 5 m/s", 2, 1000, 50, 5, speed=5, ground="hill"),
    Case("M2 5", "rolling resistance at 20 m/s", 2, 1000, 50, 10, speed=20, friction=1),
    Case("M2 6", "drop by 0.5 m", 2, 1000, 50, 1, ground="drop"),
    Case("M2 7", "drop onto a slope of 0.2", 2, 1000, 50, 1, ground="rising"),
    Case("M2 8", "drop into a cosine hollow", 2, 1000, 50, 5, ground="hollow"),
    Case("1.7", "test course at 20 m/s", 2, 1e4, 500, 6, mass=5, speed=20, friction=1, ground="course"),
)  # fmt: skip
BY_NAME = {c.name: c for c in CASES}


# ---- models


@cache
def model_1():
    """Model 1, (2.3) and (2.4): three masses above each other on each side, the lowest held on the
    ground; a rod joins the upper ones."""
    s = bc.System("motorcycle, model 1 of the thesis", axes="ISO 8855")
    n = s.inertial
    s.add_gravity()
    for x, side in enumerate(SIDES):
        contact = s.add_point_mass(f"{side}.contact", translate=1, joint_at=(x, 0, 0), mass="m")
        low = contact
        for height, part in ((0.4, "rim"), (0.8, "chassis")):
            body = s.add_point_mass(
                f"{side}.{part}", contact, translate=3, joint_at=(0, 0, height), mass="m"
            )
            spring = "k*(0.4 - x) - c*v"
            s.add_force(
                f"{side}.{part}.spring",
                magnitude=spring,
                direction=n[3],
                at=body.origin,
                against=low.origin,
            )
            s.add_output(f"{side}.{part}.z", f"q({side}.{part}) + {height}", units="L")
            low = body
        s.add_input(f"{side}.load", units="F")
        s.add_force(f"{side}.push", magnitude=f"{side}.load", direction=n[3], at=low.origin)
        s.add_input(f"{side}.drive", units="F")
        s.add_force(f"{side}.thrust", magnitude=f"{side}.drive", direction=n[1], at=contact.origin)
    s.add_constraint("magnitude(pos(front.chassis.origin, rear.chassis.origin)) - 1", label="rod")
    s.add_output(
        "pitch",
        "atan2(q(front.chassis) - q(rear.chassis), 1 + q(front.contact) - q(rear.contact))",
        units="deg",
    )
    s.set_defaults(m=1, k=1000, c=0, g=G)
    s.set_run(inputs={f"{side}.{i}": 0.0 for side in SIDES for i in ("load", "drive")})
    return s.equations().compile()


@cache
def _motorcycle(ground, coordinates):
    return (
        bc.vehicles.motorcycle(coordinates=coordinates, terrain=GROUND[ground])
        .equations()
        .compile()
    )


def _initial(case, coordinates):
    rim, chassis, v = case.rim - 0.4, case.chassis - 0.8, case.speed
    if case.model == 1:
        return {
            f"q({side}.{part})": z
            for side in SIDES
            for part, z in (("rim", rim), ("chassis", chassis))
        }
    if coordinates == "minimal":
        return {
            "q(frame, 2)": chassis,
            "u(frame, 1)": v,
            **{f"q({side}.rim)": rim - chassis for side in SIDES},
        }
    heights = {f"q({p}, 2)": rim if p.endswith("rim") else chassis for p in PARTS}
    return heights | {f"u({p}, 1)": v for p in PARTS}


def _started(case, sim, dae):
    coordinates = "minimal" if dae == "projection" else "redundant"
    if case.model == 1:
        values = {"m": case.mass, "k": case.k, "c": case.c}
    else:
        values = {"m_rim": case.mass, "m_chassis": case.mass, "c_roll": case.friction, "g": G}
        values |= {f"k_{x}": case.k for x in ("tyre", "strut")} | {
            f"c_{x}": case.c for x in ("tyre", "strut")
        }
    return sim.simulate(
        t_end=case.t_end,
        step=case.step,
        dae=dae,
        parameters=values,
        initial=_initial(case, coordinates),
        inputs=case.inputs,
    )


# ---- figures


def two_masses(case, times):
    """Exact heights of rim and chassis part of a side that stands on the ground, and the
    eigenvalues (1/s): a linear system."""
    shape, m = np.array([[2, -1], [-1, 1]]), case.mass
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-case.k / m * shape, -case.c / m * shape]])
    rest = np.array([0.4 - 2 * m * G / case.k, 0.8 - 3 * m * G / case.k])
    start = np.array([case.rim - rest[0], case.chassis - rest[1], 0, 0])
    values, V = np.linalg.eig(A)
    motion = np.exp(np.outer(times, values)) * np.linalg.solve(V, start)
    return rest + (motion @ V.T).real[:, :2], values


def deviation(case):
    """Largest difference of the heights of the rear side from the exact ones (m), and the
    eigenvalues."""
    exact, values = two_masses(case, case.run.time)
    found = np.column_stack([case.run["rear.rim.z"], case.run["rear.chassis.z"]])
    return float(np.abs(found - exact).max()), values


def at_time(values, run, t):
    return float(values[np.argmin(np.abs(run.time - t))])


def at(run, channel, t):
    return at_time(run[channel], run, t)


def first(run, condition):
    return float(run.time[np.argmax(condition)])


def in_the_air(run, side):
    """Seconds in which a tyre carries nothing."""
    return float((run[f"{side}.tyre_load"] == 0).mean() * run.time[-1])


class Row(NamedTuple):
    """A row of the table: what the thesis reports, what we get, and what to make of it."""

    test: str
    thesis: str
    here: str
    verdict: str


def rows():
    """The table of all tests."""
    return [Row(f"{c.name} {c.title}", *FINDINGS[c.name](c, c.run)) for c in CASES]


def _m1_1a(case, run):
    error, values = deviation(case)
    w = sorted({round(abs(x.imag), 2) for x in values})
    pull = case.k * (run["rear.rim.z"].max() - 0.4)
    return (
        "periodic, upper masses no pure sine",
        f"modes {w[0]} and {w[1]} rad/s; within {1000 * error:.1f} mm of the exact motion; "
        f"tyre tension up to {pull:.0f} N",
        "agrees: two modes with a frequency ratio of 2.618, never exactly periodic",
    )


def _m1_1b(case, run):
    error, values = deviation(case)
    slow = max(values, key=lambda x: x.real)
    return (
        "damped",
        f"slowest mode {slow.real:.2f} +/- {abs(slow.imag):.2f}i 1/s; within "
        f"{1000 * error:.1f} mm of the exact motion; "
        f"heights after 1 s {run['rear.rim.z'][-1]:.4f}, {run['rear.chassis.z'][-1]:.4f} m",
        "agrees; read the initial heights as 0.3 and 0.4 m",
    )


def _m1_2(case, run):
    p = run.residuals.position
    return (
        "front sinks; a small rod error at 1 s is corrected soon",
        f"front chassis and rim sink by "
        f"{at(run, 'rear.chassis.z', 3) - at(run, 'front.chassis.z', 3):.4f} and "
        f"{at(run, 'rear.rim.z', 3) - at(run, 'front.rim.z', 3):.4f} m (exact 0.2, 0.1); "
        f"rod error at most {p.max():.1e} m, at {first(run, p == p.max()):.2f} s",
        "agrees; the force must point down",
    )


def _m1_3(case, run):
    v = at(run, "u(rear.contact)", 1)
    return (
        "no pitch, so model 1 is dropped",
        f"pitch {number(abs(run['pitch']).max())} deg; {v:.2f} m/s after 1 s",
        "agrees: this model cannot pitch",
    )


def _m2_1a(case, run):
    error, values = deviation(case)
    w = sorted({round(abs(x.imag), 2) for x in values})
    return (
        "nearly a sine",
        f"rear chassis between {run['rear.chassis.z'].min():.4f} and "
        f"{run['rear.chassis.z'].max():.4f} m, modes {w[0]} and {w[1]} rad/s; "
        f"exact to {error:.0e} m",
        "agrees; the tyres never leave the ground",
    )


def _m2_1b(case, run):
    rest = 0.8 - 3 * G / case.k
    return (
        "damped within 1 s",
        f"rest height {rest:.4f} m; chassis error "
        f"{1000 * abs(at(run, 'rear.chassis.z', 1) - rest):.3f} mm after 1 s",
        "agrees",
    )


def _m2_2(case, run):
    p = np.abs(run.residuals.g[:, 0])
    return (
        "front sinks; rod error 1.5e-7 m, gone after 0.4 s",
        f"rod error {p.max():.1e} m at {first(run, p == p.max()):.3f} s, {number(p[900])} "
        f"at 0.9 s; front rim and chassis "
        f"{at(run, 'front.rim.z', 1):.4f}, {at(run, 'front.chassis.z', 1):.4f} m at 1 s",
        "DLMM is far more accurate than reported",
    )


def _m2_3(case, run):
    return (
        "front rises, level between, front dips",
        f"pitch {at(run, 'pitch', 1):+.2f}, {at(run, 'pitch', 2):+.2f}, "
        f"{at(run, 'pitch', 3):+.2f} deg at 1, 2, 3 s; "
        f"{at(run, 'u(rear.rim, 1)', 1):.2f} m/s at 1 s",
        "agrees; 50 N drive four masses (12.5 m/s^2)",
    )


def _m2_4(case, run):
    v = run["u(rear.rim, 1)"]
    spent = float(np.subtract(*(run["energy"] + run["strain"])[[0, -1]]))
    return (
        "front up 0.8 s, rear 1.0 s, top 2.6 s; initial speed not reached again",
        f"front up {first(run, run['front.rim.x'] > 5):.2f} s, rear "
        f"{first(run, run['rear.rim.x'] > 5):.2f} s, slowest "
        f"{v.min():.2f} m/s at {first(run, v == v.min()):.2f} s; {v[-1]:.3f} m/s at 5 s; "
        f"dampers dissipate {spent:.2f} J",
        "agrees; only the dampers dissipate energy",
    )


def _m2_5(case, run):
    off = abs(run["u(rear.rim, 1)"] / (20 * np.exp(-2 * run.time / 4)) - 1).max()
    return (
        "exponential decay, but not in the first second",
        f"20 exp(-t/2) m/s from the start, within {100 * off:.1f} %; airborne for "
        f"{in_the_air(run, 'rear'):.2f} s",
        "agrees after the first second",
    )


def _m2_6(case, run):
    touch = first(run, run["rear.tyre_load"] > 0)
    return (
        "falls, bounces, comes to rest",
        f"touches at {touch:.3f} s, load up to {run['rear.tyre_load'].max():.0f} N, stays "
        f"on the ground for the rest",
        f"agrees qualitatively; a rigid fall takes {math.sqrt(2 * 0.5 / G):.4f} s",
    )


def _m2_7(case, run):
    front, rear = (first(run, run[f"{side}.tyre_load"] > 0) for side in ("front", "rear"))
    return (
        "front touches at 0.4 s, rear at 0.44 s; rolls back down",
        f"{front:.3f} s, {rear:.3f} s; rear rim moves at {run['u(rear.rim, 1)'][-1]:.2f} "
        f"m/s after 1 s",
        "agrees",
    )


def _m2_8(case, run):
    longer = replace(case, t_end=100.0).minimal
    middle = (longer["rear.rim.x"] + longer["front.rim.x"]) / 2 - 2 * math.pi
    early, late = (
        float(np.abs(middle[(longer.time > a) & (longer.time <= a + 10)]).max()) for a in (0, 90)
    )
    energy = run["energy"] + run["strain"]
    return (
        "swings in the hollow, comes to a standstill (longer run)",
        f"landing dissipates {energy[0] - at_time(energy, run, 2):.0f} J, the rest until 5 "
        f"s {at_time(energy, run, 2) - energy[-1]:.1f} J; swings by "
        f"{early:.1f} m about the lowest point, by {late:.1f} m after 90 s",
        "swings, but hardly slows down once it rolls",
    )


def _course(case, run):
    jump = first(run, run["rear.tyre_load"] == 0)
    return (
        "jump, landing on the second ramp, hill, end on the slope; trajectories shown",
        f"rear lifts at {jump:.2f} s (x = {at(run, 'rear.rim.x', jump):.1f} m), airborne "
        f"{in_the_air(run, 'rear'):.2f} s rear and "
        f"{in_the_air(run, 'front'):.2f} s front; pitch {run['pitch'].min():.1f} to "
        f"{run['pitch'].max():.1f} deg; "
        f"x = {run['rear.rim.x'][-1]:.1f} m at 6 s, {run['u(rear.rim, 1)'][-1]:.1f} m/s",
        "agrees qualitatively",
    )


FINDINGS = {
    "M1 1a": _m1_1a,
    "M1 1b": _m1_1b,
    "M1 2": _m1_2,
    "M1 3": _m1_3,
    "M2 1a": _m2_1a,
    "M2 1b": _m2_1b,
    "M2 2": _m2_2,
    "M2 3": _m2_3,
    "M2 4": _m2_4,
    "M2 5": _m2_5,
    "M2 6": _m2_6,
    "M2 7": _m2_7,
    "M2 8": _m2_8,
    "1.7": _course,
}


# ---- the planar pendulum by all methods

HORIZONS = (1, 10, 100)
METHODS = (
    "projection",
    bc.Dae("projection", metric="mass"),
    "dlmm",
    "clmm",
    "baumgarte",
    "stabilised",
    "post",
    "half-explicit",
    *(bc.Dae(m, base="free fall") for m in ("projection", "stabilised", "post")),
)


class Swing(NamedTuple):
    """A method on the pendulum: how far it leaves the circle (m) and its energy (J of 9.81) until
    each horizon."""

    method: str
    drift: list[float]
    energy: list[float]
    time: np.ndarray
    off: np.ndarray
    error: np.ndarray


def pendulum():
    """All methods with rk4 and 10 ms, from level rest, 1 kg on 1 m."""
    sim = (
        bc.System.read(Path(__file__).parent / "planar_pendulum.py")
        .equations(constraints="multipliers")
        .compile()
    )
    found = []
    for dae in METHODS:
        run = sim.simulate(t_end=HORIZONS[-1], step=0.01, dae=dae)
        off, error = np.abs(run["r"] - 1), np.abs(run["energy"] - G)
        until = [run.time <= t for t in HORIZONS]
        name = (
            dae
            if isinstance(dae, str)
            else f"{dae.method}, {'masses' if dae.metric == 'mass' else dae.base}"
        )
        found.append(
            Swing(
                name,
                [off[u].max() for u in until],
                [error[u].max() for u in until],
                run.time,
                off,
                error,
            )
        )
    return found


def recovery(steps=3):
    """Distance from the circle (m) after 0, 1, 2, ... steps of 10 ms from a start at 1.25 m, by
    method."""
    sim = (
        bc.System.read(Path(__file__).parent / "planar_pendulum.py")
        .equations(constraints="multipliers")
        .compile()
    )
    start = {"q(bob, 1)": 1.25}
    return {
        dae: (
            sim.simulate(t_end=0.01 * steps, step=0.01, dae=dae, initial=start, assemble=False)["r"]
            - 1
        ).tolist()
        for dae in ("dlmm", "post", "stabilised", "baumgarte", "clmm")
    }


# ---- output


def number(x):
    """A small number in a table."""
    return "0" if x < 1e-12 else f"{x:.1e}"


def table():
    """The tables as text in Markdown."""
    lines = ["| test | thesis | Bellcrank | verdict |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in rows()]
    lines += [
        "",
        "| method | distance from the circle, m, until 1 s | 10 s | 100 s | energy error, "
        "J, until 1 s | 10 s | 100 s |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {s.method} | {' | '.join(map(number, [*s.drift, *s.energy]))} |" for s in pendulum()
    ]
    lines += [
        "",
        "| method, from 1.25 m | distance from the circle, m, after 1 step | 2 | 3 |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {' | '.join(number(abs(x)) for x in off[1:])} |"
        for name, off in recovery().items()
    ]
    return lines


def draw(folder):
    """All pictures; their paths."""
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    panels = {
        "gallery_model_1.png": ("M1 1a", "M1 1b", "M1 2", "M1 3"),
        "gallery_model_2.png": ("M2 1a", "M2 1b", "M2 2", "M2 3", "M2 4", "M2 5", "M2 6", "M2 7"),
    }
    paths = []
    for name, cases in panels.items():
        figure = Figure(figsize=(11, 2.5 * len(cases) / 2), layout="constrained")
        for axis, case in zip(figure.subplots(len(cases) // 2, 2).flat, cases, strict=True):
            _panel(axis, BY_NAME[case])
        paths.append(folder / name)
        figure.savefig(paths[-1], dpi=70)
    figure = Figure(figsize=(11, 5.6), layout="constrained")
    for axis, case in zip(figure.subplots(2, 1), ("M2 8", "1.7"), strict=True):
        _track(axis, BY_NAME[case])
    paths.append(folder / "gallery_tracks.png")
    figure.savefig(paths[-1], dpi=70)
    paths.append(folder / "gallery_pendulum.png")
    _pendulum_figure(Figure(figsize=(11, 3.8), layout="constrained")).savefig(paths[-1], dpi=70)
    return paths


def _panel(axis, case):
    """Heights, or speed and pitch where these are what the test is about."""
    run = case.run
    shown = slice(None, None, max(1, len(run.time) // 1000))
    if case.name in ("M1 3", "M2 3"):
        axis.plot(run.time[shown], run["pitch"][shown], label="pitch")
        axis.set_ylabel("deg")
    elif case.name in ("M2 4", "M2 5"):
        axis.plot(run.time[shown], run["u(rear.rim, 1)"][shown], label="speed of the rear rim")
        if case.name == "M2 5":
            axis.plot(
                run.time[shown], 20 * np.exp(-run.time[shown] / 2), "k:", label="20 exp(-t/2)"
            )
        axis.set_ylabel("m/s")
    elif case.name in ("M2 1a", "M2 1b"):
        for part, height, weight in (("rim", 0.4, 2), ("chassis", 0.8, 3)):
            off = run[f"rear.{part}.z"] - (height - weight * case.mass * G / case.k)
            axis.plot(run.time[shown], 1000 * off[shown], label=f"{part} from its rest height")
        axis.set_ylabel("mm")
    else:
        for side, style in zip(SIDES, ("-", "--"), strict=True):
            for part, colour in (("rim", "tab:blue"), ("chassis", "tab:orange")):
                axis.plot(
                    run.time[shown],
                    run[f"{side}.{part}.z"][shown],
                    style,
                    color=colour,
                    label=f"{side} {part}",
                )
        axis.set_ylabel("m")
    axis.set_title(f"{case.name} {case.title}", fontsize=9, loc="left")
    axis.legend(fontsize=7, frameon=False)
    axis.grid(True, linewidth=0.4, alpha=0.6)
    axis.margins(x=0)


def _track(axis, case):
    """Paths of the masses over the ground."""
    run = case.run
    x = np.linspace(
        min(run[f"{p}.x"].min() for p in PARTS) - 0.5,
        max(run[f"{p}.x"].max() for p in PARTS) + 0.5,
        1500,
    )
    axis.fill_between(
        x, GROUND[case.ground].height(x), GROUND[case.ground].height(x).min() - 0.3, color="0.85"
    )
    for p, colour in zip(PARTS, ("tab:blue", "tab:orange", "tab:green", "tab:red"), strict=True):
        axis.plot(run[f"{p}.x"][::5], run[f"{p}.z"][::5], color=colour, linewidth=0.9, label=p)
    axis.set_title(f"{case.name} {case.title}: paths, m", fontsize=9, loc="left")
    axis.legend(fontsize=7, frameon=False, ncols=2)
    axis.margins(x=0)


def _pendulum_figure(figure):
    left, right = figure.subplots(1, 2, sharex=True)
    for s in pendulum():
        rough = "free fall" in s.method
        for axis, values in ((left, s.off), (right, s.error)):
            smooth = np.maximum.accumulate(np.maximum(values, 1e-17))
            axis.loglog(
                s.time[1::20], smooth[1::20], ":" if rough else "-", linewidth=1.2, label=s.method
            )
    for axis, title in (
        (left, "largest distance from the circle so far, m"),
        (right, "largest error of the energy so far, J"),
    ):
        axis.set_title(title, fontsize=9, loc="left")
        axis.grid(True, linewidth=0.4, alpha=0.6)
        axis.set_xlabel("s")
    right.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="gallery", help="folder for the pictures")
    print("\n".join(table()))
    for path in draw(Path(parser.parse_args().out)):
        print(path)
