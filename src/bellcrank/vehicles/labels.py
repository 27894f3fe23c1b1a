"""Labels of vehicles as people read them: parameters in words, wheels by where they are, not by
names of parts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bellcrank.api.system import System

WHEEL = "wheel"  # what a corner without a part is
PARTS = {"outer": "outer tyre", "inner": "inner tyre"}  # of a corner with dual tyres
WORDS = {
    "m": "mass of the chassis",
    "m_chassis": "mass of a chassis part",
    "m_rim": "mass of a rim",
    "i_roll": "roll inertia of the chassis",
    "i_pitch": "pitch inertia of the chassis",
    "i_yaw": "yaw inertia of the chassis",
    "h": "nominal height of the mass centre",
    "track": "track width",
    "wheelbase": "wheelbase",
    "k_tyre": "vertical stiffness of a tyre",
    "c_tyre": "vertical damping of a tyre",
    "l_tyre": "radius of a tyre without load",
    "k_strut": "stiffness of a strut",
    "c_strut": "damping of a strut",
    "l_strut": "length of a strut without load",
    "c_roll": "rolling resistance over speed",
}
OF_AXLES = {
    "x": "position of axle {}, forward",
    "c_long": "longitudinal slip stiffness, axle {}",
    "s_long": "longitudinal relaxation length, axle {}",
    "mu": "friction of the tyres, axle {}",
    "c_side": "cornering stiffness, axle {}",
    "s_side": "lateral relaxation length, axle {}",
}  # parameters of axles, which have its number behind their name


def _axle_before_part(label: str) -> str:
    """ "the left rim of axle 1" as "axle 1 left rim", which stands well before what it does."""
    part, _, corner = label.removeprefix("the ").partition(" of ")
    return f"{corner}, {part}" if " of " in corner else f"{corner} {part}".strip()


def write_plain_labels(s: System, corners: Mapping[str, str]) -> None:
    """Gives parameters labels that have none, and writes "the front left tyre" for fl.tyre and "the
    front left wheel" for fl in those of parameters, inputs, states and outputs. `corners`: by name,
    what to write, with {} for the part ("the front left {}")."""
    d = s.description
    for name, record in d.parameters.items():
        stem, _, index = name.rpartition("_")
        default_label = (
            OF_AXLES[stem].format(index)
            if stem in OF_AXLES and index.isdigit()
            else WORDS.get(name)
        )
        record.label = record.label or default_label
    if not corners:
        return
    names = "|".join(map(re.escape, corners))
    pattern = re.compile(rf"(the )?(?<![\w.])({names})(?:\.(tyre|outer|inner|wheel|rim))?(?![\w.])")
    for body in d.bodies:  # in whose labels those of states begin
        corner, _, part = body.name.rpartition(".")
        if body.name in corners and "{" in corners[body.name]:
            corner, part = body.name, "carrier"
        if corner in corners and part and (not body.label or corner in body.label.split()):
            body.label = _axle_before_part(corners[corner].format(part.replace("_", " ")))

    def plain_part_name(match: re.Match[str]) -> str:
        article, corner, part = match.groups()
        if article and not part and f" {corner} " in corners[corner]:
            return match[0]  # "the rear wheel" has the words that "rear" stands for
        return corners[corner].format(PARTS.get(part, part or WHEEL))

    records: list[Any] = [*d.parameters.values(), *d.variables, *d.states, *d.outputs]
    for r in records:
        if r.label:
            r.label = pattern.sub(plain_part_name, r.label).removesuffix(" of chassis")
