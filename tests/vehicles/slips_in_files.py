"""Single slips of the pen in the passenger car and in the tyre files that ship: what each changes,
and whether somebody who meant the old number could see it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np

import bellcrank as bc
from bellcrank.vehicles.tyres.magic_keys import DIMENSION_OF, SECTION_OF
from tests.vehicles.tyre_tables import BOOK, PAC

FACTORS = {"times 10": 10.0, "times 1000": 1e3, "times 0.001": 1e-3, "wrong sign": -1.0}
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")
WORDS = ("units", "name", "note", "size", "shipped")  # keys of a car file without numbers
OTHER_UNITS = {
    "m": "mm",
    "mm": "m",
    "deg": "rad",
    "N/mm": "N/m",
    "kg": "g",
    "N-m": "kN-m",
    "kW": "W",
    "N-m/deg": "N-m/rad",
    "N-m/rad": "N-m/deg",
    "m2": "mm^2",
    "ms": "s",
    "m/s": "km/h",
    "N": "kN",
    "deg/kN": "deg/N",
    "kg-m2": "g-m2",
    "N/mm^3": "N/m3",
}
TRIMS = (  # usual at zero, too
    "toe",
    "camber",
    "compliance",
    "lift_",
    "friction",
    "damping_time",
    "cubic",
    "stop.stiffness",
    "aerodynamics.yaw",
    "assist",
)
SMALL_MOVE = 50.0  # mm, of a hard point
MOUNT_MOVE = 150.0  # mm, of a hard point along the car: pivots of arms may lie anywhere
SMALL_FORCE = 0.3  # of the largest of its kind, of a tyre
UNIT_FACTORS = {"L": 1e3, "P": 1e-5, "A": 180 / np.pi, "L/T": 3.6, "F": 1e-3, "F/L": 1e-3}


@dataclass(frozen=True)
class Slip:
    """A changed file; `counts`: whether the change is large enough to be a mistake."""

    path: str
    kind: str
    text: str
    counts: bool = True


def passenger_text() -> str:
    """The passenger car with its hard points in the file."""
    package = files("bellcrank")
    text = (package / "vehicles" / "cars" / "data" / "passenger.toml").read_text("utf-8")
    for axle, name in (("front", "double_wishbone"), ("rear", "five_link")):
        drawn = (package / "linkage" / "data" / f"{name}.toml").read_text("utf-8")
        found = re.search(r"\[points\]\n(.*?)\n\n", drawn, re.DOTALL)
        head = re.search(rf"\[{axle}\.suspension\]\nshipped = [^\n]*\n", text)
        assert found is not None and head is not None
        points = f"[{axle}.suspension.points]\n{found[1]}\n"
        text = text[: head.end()] + points + text[head.end() :]
    return text


# ---- car files


def car_slips(text: str) -> list[Slip]:
    """Every slip in a number or unit of a car file."""
    found = []
    for path, spans in _car_numbers(text):
        for j, (a, b) in enumerate(spans):
            value = float(text[a:b])
            for kind, factor in FACTORS.items():
                if value != 0:
                    new = value * factor
                    counts = _counts_in_car(path, j, value, new)
                    changed = f"{text[:a]}{new:.10g}{text[b:]}"
                    found.append(Slip(f"{path}[{j}]", kind, changed, counts))
        for j, ((a, b), (c, d)) in enumerate(pairwise(spans)):
            if text[a:b] != text[c:d]:
                first, second = float(text[a:b]), float(text[c:d])
                counts = _counts_in_car(path, j, first, second) and "inertia" not in path
                counts = counts or path == "body.inertia"
                changed = text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]
                found.append(Slip(f"{path}[{j}]", "interchanged", changed, counts))
    return [*found, *_unit_slips(text)]


def _car_numbers(text: str) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Places of the numbers of each key."""
    section, position = "", 0
    for line in text.split("\n"):
        body = line.split("#")[0]
        if body.startswith("["):
            section = body.strip().strip("[]")
        elif "=" in body and not body.startswith(WORDS):
            key, value = body.split("=", 1)
            offset = position + len(key) + 1
            blank = re.sub(r'"[A-Za-z_][^"]*"', lambda m: " " * len(m[0]), value)
            spans = [(m.start() + offset, m.end() + offset) for m in NUMBER.finditer(blank)]
            if spans:
                yield f"{section}.{key.strip()}", spans
        position += len(line) + 1


def _unit_slips(text: str) -> Iterator[Slip]:
    for m in re.finditer(r"^units = \[(.*)\]$", text, re.MULTILINE):
        section = re.findall(r"^\[(.*)\]", text[: m.start()], re.MULTILINE)[-1]
        for unit in re.findall(r'"([^"]*)"', m[1]):
            other = OTHER_UNITS.get(unit)
            if other is not None:
                line = m[0].replace(f'"{unit}"', f'"{other}"')
                kind = f"{other} for {unit}"
                counts = not (section.endswith("_stop") and unit != "mm")  # soft ones are usual
                changed = text[: m.start()] + line + text[m.end() :]
                yield Slip(f"{section}.units", kind, changed, counts)


def _counts_in_car(path: str, place: int, old: float, new: float) -> bool:
    """Whether a changed number is a mistake that could be seen: points move by more than a hand's
    breadth, and what is usually small or of both signs becomes large."""
    if ".points." in path:
        return abs(new - old) > (SMALL_MOVE if place else MOUNT_MOVE)
    if path.endswith((".at", ".cg")):
        return abs(new - old) * 1000 > MOUNT_MOVE and path != "loads.driver.at"
    if any(word in path for word in TRIMS) or path == "rear.anti_roll_bar.stiffness":
        return abs(new) > abs(old)
    return True


# ---- tyre files


def tyre_slips(text: str) -> list[Slip]:
    """Every slip in a number or unit of a tyre file."""
    found = []
    numbers = [
        (m[1], float(m[2]), m.span(2))
        for m in re.finditer(r"^(\w+) *= *([-+\d.eE]+)(?=\s|$)", text, re.MULTILINE)
        if m[1] in SECTION_OF
    ]
    for (key, value, (a, b)), following in zip(numbers, [*numbers[1:], None], strict=True):
        factors = dict(FACTORS)
        if DIMENSION_OF.get(key) in UNIT_FACTORS:
            factors["wrong unit"] = UNIT_FACTORS[DIMENSION_OF[key]]
        if value != 0:
            found += [
                Slip(key, kind, f"{text[:a]}{value * factor!r}{text[b:]}")
                for kind, factor in factors.items()
            ]
        if following is not None and following[1] != value:
            other, other_value, (c, d) = following
            changed = f"{text[:a]}{other_value!r}{text[b:c]}{value!r}{text[d:]}"
            found.append(Slip(key, f"interchanged with {other}", changed))
    for kind, unit in (("LENGTH", "mm"), ("FORCE", "kN"), ("ANGLE", "degrees")):
        changed = re.sub(rf"{kind}( *= *)'[a-z]*'", rf"{kind}\1'{unit}'", text, count=1)
        found.append(Slip(kind, f"declared in {unit}", changed))
    return found


def tyre_curves(tyre: bc.vehicles.tyres.MagicFormula, load: float, radius: float) -> dict:
    """What a tyre produces in usual motions, over the usual size of each quantity."""
    a, s = np.linspace(-0.25, 0.25, 21), np.linspace(-0.3, 0.3, 21)
    corners = np.array([0.1, -0.1, 0.1, -0.1]), np.array([0.1, 0.1, -0.1, -0.1])
    runs = [
        tyre.forces(load * np.array([0.5, 1.0, 1.5]), 0.0, 0.0),
        tyre.forces(load, s, 0.0),
        tyre.forces(load, 0.0, a),
        tyre.forces(load, 0.0, 0.05, np.radians([-4.0, 4.0])),
        tyre.forces(load, *corners),
    ]
    moment = load * radius
    sizes = {"Fx": load, "Fy": load, "Mz": 0.1 * moment, "Mx": 0.1 * moment, "My": 0.03 * moment}
    sizes |= dict.fromkeys(("Re", "Rl", "sigma_x", "sigma_y"), radius)
    return {
        key: np.concatenate([np.ravel(np.asarray(run[key]) / size) for run in runs])
        for key, size in sizes.items()
    }


def largest_change(curves: dict, others: dict) -> float:
    """Largest change of any quantity over the largest value that it has."""
    changes = []
    for key, values in curves.items():
        difference = float(np.max(np.abs(values - others[key])))
        changes.append(difference / max(float(np.max(np.abs(values))), 0.1))
    return max(changes) if np.all(np.isfinite(changes)) else np.inf


# ---- what is said


@dataclass(frozen=True)
class SlipReport:
    """Slips that count, those of them that nobody reports, and how many were too small to count."""

    counted: int
    missed: list[str]
    omitted: int

    def __str__(self) -> str:
        share = 1 - len(self.missed) / self.counted
        missed = ", ".join(self.missed) or "none"
        return (
            f"{share:.1%} of {self.counted} slips reported, {self.omitted} small ones drawn "
            f"besides; missed: {missed}"
        )

    @property
    def share(self) -> float:
        return 1 - len(self.missed) / self.counted


def report_car_slips(count: int, seed: int, folder: Path) -> SlipReport:
    """Draws until so many slips in the passenger car count, and checks each."""
    text, path = passenger_text(), folder / "car.toml"

    def remarks(content: str) -> set[str]:
        path.write_text(content, encoding="utf-8")
        try:
            return set(bc.vehicles.Car.read(path).check())
        except bc.ModelError as error:
            return set(error.problems)

    known, slips = remarks(text), car_slips(text)
    sections = bc.vehicles.Car.read(path).data.sections
    random.Random(seed).shuffle(slips)
    drawn = iter(slips)
    missed, counted, omitted = [], 0, 0
    while counted < count:
        slip = next(drawn)
        if not slip.counts:
            omitted += 1
            continue
        found = remarks(slip.text) - known
        if not found and bc.vehicles.Car.read(path).data.sections == sections:
            omitted += 1  # a unit of a number that is zero
            continue
        counted += 1
        if not found:
            missed.append(f"{slip.path} {slip.kind}")
    return SlipReport(counted, missed, omitted)


def report_tyre_slips(count: int, seed: int, folder: Path) -> SlipReport:
    """Draws until so many slips in the tyre files count, and reads each."""
    path, rng = folder / "slip.tir", random.Random(seed)
    known = {p: bc.vehicles.tyres.MagicFormula.read(p) for p in (BOOK, PAC)}
    curves = {p: tyre_curves(t, t["FNOMIN"], t["UNLOADED_RADIUS"]) for p, t in known.items()}
    slips = [(p, slip) for p in known for slip in tyre_slips(p.read_text("utf-8"))]
    rng.shuffle(slips)
    missed, counted, omitted = [], 0, 0
    for p, slip in slips:
        if counted == count:
            break
        path.write_text(slip.text, encoding="utf-8")
        try:
            tyre = bc.vehicles.tyres.MagicFormula.read(path)
        except bc.ModelError:
            counted += 1
            continue
        old = known[p]
        with np.errstate(all="ignore"):
            found = tyre_curves(tyre, old["FNOMIN"], old["UNLOADED_RADIUS"])
        if largest_change(curves[p], found) < SMALL_FORCE:
            omitted += 1
            continue
        counted += 1
        if not set(tyre.notes) - set(old.notes):
            missed.append(f"{p.stem}: {slip.path} {slip.kind}")
    return SlipReport(counted, missed, omitted)
