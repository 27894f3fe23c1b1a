"""Suspension measures: what a wheel does over its travel and rack. Kinematics only: no compliance
of bushes.

Signs. Camber is positive when the top is inclined outward, toe when the front points inward
(toe-in), caster when the top of the steering axis lies behind, kingpin inclination when it lies
inward; scrub radius is positive when the steering axis meets the ground inside of the contact
point, mechanical trail when it meets it ahead; the deviation from Ackermann steering where the
outer wheel steers too much for the inner one. These are the same in ISO 8855 and SAE J670. The
steer angle is positive about the third axis of the file: to the left in ISO 8855 (z up), to the
right in SAE (z down). Coordinates (wheel centre, instant axis) are in the file's axes; heights
count up from the ground under the wheel.

Roll centre, force based: a lateral force at the contact point of a wheel pushes the body up by F
dy/dz of that point (virtual work), and the height is that at which both wheels' equal lateral
forces have the same moment: h = mean of y dy/dz, y outward from the middle plane.

Anti-features: percent of the load transfer F h/L that the links carry instead of the springs.
Braking and an outboard motor act on the carrier at the contact point; with inboard brakes or drive
the path of the wheel centre counts. Milliken & Milliken, Race Car Vehicle Dynamics (1995), ch. 17.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.atomic import write_text
from bellcrank.core.files.figure_files import new_figure, save_figure
from bellcrank.core.files.html import heading, html_table
from bellcrank.core.files.notebook_display import NotebookDisplay
from bellcrank.core.files.record import report_io_errors
from bellcrank.core.unit_notation import typeset_unit
from bellcrank.linkage.chain import BASE, Chain
from bellcrank.linkage.pose import Pose
from bellcrank.linkage.pose_table import default_range
from bellcrank.linkage.wheel_motion import (
    WheelMotion,
    angle_in_deg,
    linkage_wheel_motion,
    vector_lengths,
)

Array = np.ndarray[Any, Any]

DISPLAYED = {
    "m": (1000.0, "mm"),
    "N/m": (0.001, "N/mm"),
    "1": (1.0, ""),
}  # factors and units for people
TRAVEL, STEPS = 0.1, 25  # m up and down, and most steps of a sweep
LEVEL = 1e-6  # of its size, by which a measure changes that is drawn
ROUNDING = 1e-10  # m or rad, below which it is zero

STEERING_AXIS = {  # lower and upper point on it, by kind
    "double_wishbone": ("lower_ball", "upper_ball"),
    "formula_pushrod": ("lower_ball", "upper_ball"),
    "macpherson": ("lower_ball", "strut_top"),
}


@dataclass(repr=False)
class Measures(NotebookDisplay):
    """Columns by name, with units and labels; `notes` report what could not be given and why. A
    label begins with the title of the measure, which tables, plots and reports use; signs and
    meaning follow after a comma."""

    name: str
    mode: str
    columns: dict[str, Array] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> Array:
        if name not in self.columns:
            guess = did_you_mean(name, self.columns)
            raise ModelError(
                f"there is no measure '{name}'.{guess} There are: {', '.join(self.columns)}."
            )
        return self.columns[name]

    def __iter__(self) -> Any:
        return iter(self.columns)

    def add(self, name: str, values: Array, unit: str, label: str) -> None:
        self.columns[name], self.units[name], self.labels[name] = values, unit, label

    def __repr__(self) -> str:
        return (
            f"Measures({self.name!r}: {len(self.columns)} measures at {self['travel'].size} "
            f"positions, {self.mode})"
        )

    def _html_parts(self) -> list[str]:
        """Measures where the wheel is nearest to zero, and over which range they go."""
        i, rows = int(np.argmin(np.abs(self["travel"]))), []
        for name in self.columns:
            values, unit = self.displayed(name)
            range_text = (
                f"{values.min():.4g} to {values.max():.4g}" if np.isfinite(values).all() else ""
            )
            rows.append((self.title(name), f"{values[i]:.4g}", range_text, unit, name))
        head = (
            f"{self.name}: {self.mode} motion; values at a travel of "
            f"{1000 * self['travel'][i]:.4g} mm"
        )
        return [
            heading(head),
            html_table(("measure", "value", "range", "unit", "name"), rows, right=(1, 2)),
        ]

    def _notebook_figure(self) -> Any:
        return draw_measures([self]) if self["travel"].size > 1 else None

    def title(self, name: str) -> str:
        """What a measure is called."""
        self[name]
        return self.labels[name].partition(",")[0] or name.replace("_", " ")

    def displayed(self, name: str) -> tuple[Array, str]:
        """A measure in the unit that people read: mm, N/mm; a pure number has none."""
        values, unit = np.broadcast_to(self[name], self["travel"].shape), self.units[name]
        factor, display_unit = DISPLAYED.get(unit, (1.0, typeset_unit(unit)))
        return factor * values, display_unit

    def save(self, path: str | Path) -> Path:
        """Writes a CSV file: names, units, then one row for each pose."""
        lines = [",".join(self.columns), ",".join(self.units[c] for c in self.columns)]
        rows = np.stack(
            [np.broadcast_to(v, self["travel"].shape) for v in self.columns.values()], 1
        )
        lines += [",".join(repr(float(x)) for x in row) for row in rows]
        report_io_errors("write", Path(path), lambda: write_text(path, "\n".join(lines) + "\n"))
        return Path(path)


def measure_wheel(linkage: Any, travel: Any, rack: Any = 0.0, mode: str = "parallel") -> Measures:
    """Measures of a wheel at travels (m) and rack positions (m), the other wheel of the axle moving
    by `mode`: parallel (with it), opposite (against it) or single (at rest). Give arrays of travel,
    of rack, or of both."""
    z, r = (np.atleast_1d(a).astype(float) for a in np.broadcast_arrays(travel, rack))
    if r.any() and "rack" not in linkage.inputs:
        raise ModelError(
            f"linkage '{linkage.name}' has no rack; its inputs are {', '.join(linkage.inputs)}"
        )
    wheel, drawn = (
        linkage_wheel_motion(linkage, z, r, mode, _measured_links(linkage.chain)),
        linkage_wheel_motion(linkage, 0.0, 0.0, mode, ()),
    )
    m = Measures(linkage.name, mode)
    m.add("travel", z, "m", "wheel travel, up")
    if "rack" in linkage.inputs:
        m.add("rack", r, "m", "rack travel")
    _add_wheel_angles(m, wheel)
    _add_steering_axis(m, wheel)
    other_wheel = _other_wheel(linkage, wheel, z, r, mode)
    _add_positions(m, wheel, other_wheel, drawn)
    _add_ackermann_error(m, wheel, other_wheel, drawn)
    _add_roll_centre(m, linkage, wheel, other_wheel)
    _add_beam_twist(m, wheel)
    _add_anti_features(m, wheel)
    _add_strut_measures(m, wheel)
    return m


def _measured_links(chain: Chain) -> list[str]:
    """Links whose points are measured: of struts and of the steering axis."""
    point_names = [*(p for s in chain.struts for p in s.points), *STEERING_AXIS.get(chain.kind, ())]
    point_names += ["wheel_left", "wheel_right"] if chain.both else []
    bodies = dict.fromkeys(chain.points[p].body for p in point_names)
    return [b for b in bodies if b not in (BASE, chain.carrier)]


def _add_wheel_angles(m: Measures, w: WheelMotion) -> None:
    a = w.axis
    toe = angle_in_deg(a[:, 0], a[:, 1])
    m.add("camber", -np.arcsin(a[:, 2]) * (180.0 / np.pi), "deg", "camber, top outward positive")
    m.add("toe", toe, "deg", "toe, toe-in positive")
    is_left = w.chain.side != "right"
    m.add(
        "steer", (-toe if is_left else toe) * w.chain.up, "deg", "steer angle, about the third axis"
    )


def _add_steering_axis(m: Measures, w: WheelMotion) -> None:
    """Caster, kingpin inclination, scrub radius, trail: by two points on the axis, or the instant
    axis of the rack."""
    point_names = STEERING_AXIS.get(w.chain.kind)
    if point_names is not None:
        low, high = w.point(point_names[0])[0], w.point(point_names[1])[0]
        k, axis_point = high - low, low
    elif w.pose.delta_rack is not None and "rack" in {i.kind for i in w.chain.inputs}:
        assert w.pose.d_rack is not None
        rotation, translation = w.pose.delta_rack, w.pose.d_rack
        axis_point = w.in_wheel_axes(
            w.pose.position
            + np.cross(rotation, translation) / (rotation * rotation).sum(1)[:, None]
        )
        k = w.in_wheel_axes(rotation)
        k = k * np.sign(np.real(k[:, 2:3]))
        m.notes.append(
            "steering axis: the instant axis of the carrier for rack movement at constant "
            "wheel travel"
        )
    else:
        m.notes.append(
            "no steering axis: caster, kingpin inclination, scrub radius and trail are omitted"
        )
        return
    m.add("caster", angle_in_deg(-k[:, 0], k[:, 2]), "deg", "caster, top behind positive")
    inclination = angle_in_deg(-k[:, 1], k[:, 2])
    m.add("kingpin_inclination", inclination, "deg", "kingpin inclination, top inward positive")
    if "tyre_radius" not in w.chain.vehicle:
        return
    ground = axis_point + k * ((w.contact[:, 2] - axis_point[:, 2]) / k[:, 2])[:, None]
    offset = w.contact - ground
    forward = np.stack([w.axis[:, 1], -w.axis[:, 0]], 1)
    forward = forward / vector_lengths(forward)[:, None]
    outward = np.stack([-forward[:, 1], forward[:, 0]], 1)
    m.add(
        "scrub_radius",
        (offset[:, :2] * outward).sum(1),
        "m",
        "scrub radius, steering axis inside positive",
    )
    m.add(
        "mechanical_trail",
        -(offset[:, :2] * forward).sum(1),
        "m",
        "mechanical trail, steering axis ahead positive",
    )


def _add_positions(
    m: Measures, w: WheelMotion, other_wheel: WheelMotion, drawn: WheelMotion
) -> None:
    centre = w.centre * w.flip
    for i, name in enumerate("xyz"):
        m.add(f"wheel_{name}", centre[:, i], "m", f"wheel centre {name}, axes of the file")
    reference_name = "contact point" if "tyre_radius" in w.chain.vehicle else "wheel centre"
    lateral = w.contact[:, 1] - drawn.contact[:, 1]
    m.add(
        "half_track_change",
        lateral,
        "m",
        f"half track change, outward movement of the {reference_name}",
    )
    if not w.chain.both:
        other_lateral = (
            lateral if other_wheel is w else other_wheel.contact[:, 1] - drawn.contact[:, 1]
        )
        m.add(
            "track_change", lateral + other_lateral, "m", f"track change, at both {reference_name}s"
        )
    forward_change = w.centre[:, 0] - drawn.centre[:, 0]
    axle = w.chain.vehicle.get("axle")
    if axle in ("front", "rear"):
        m.add(
            "wheelbase_change",
            forward_change if axle == "front" else -forward_change,
            "m",
            "wheelbase change, at this wheel",
        )
    else:
        m.add("wheel_ahead", forward_change, "m", "forward movement of the wheel centre")
    square = (w.delta * w.delta).sum(1)
    turning = np.real(square) > 1e-18
    safe = np.where(turning, square, 1.0)[:, None]
    v = w.v_centre * w.flip
    point = np.where(turning[:, None], centre + np.cross(w.delta, v) / safe, np.nan)
    direction = np.where(turning[:, None], w.delta / np.sqrt(safe), np.nan)
    label = "point of the instant axis nearest to the wheel centre"
    for i, name in enumerate("xyz"):
        m.add(f"instant_axis_{name}", point[:, i], "m", f"{label}, {name}")
    for i, name in enumerate("xyz"):
        m.add(
            f"instant_axis_d{name}", direction[:, i], "1", f"direction of the instant axis, {name}"
        )


def _add_ackermann_error(
    m: Measures, w: WheelMotion, other_wheel: WheelMotion, drawn: WheelMotion
) -> None:
    """How far steering is from Ackermann's: tan(right) = tan(left)/(1 + t/l tan(left)), angles to
    the left."""
    if "rack" not in m.columns or "wheelbase" not in w.chain.vehicle:
        return
    straight = angle_in_deg(drawn.axis[:, 0], drawn.axis[:, 1])
    left_angle, right_angle = (
        straight - m["toe"],
        angle_in_deg(other_wheel.axis[:, 0], other_wheel.axis[:, 1]) - straight,
    )
    tangent = np.tan(left_angle * (np.pi / 180.0))
    ideal = angle_in_deg(
        tangent, 1.0 + 2 * drawn.contact[:, 1] / w.chain.vehicle["wheelbase"] * tangent
    )
    label = "deviation from Ackermann steering, positive where the outer wheel steers too much"
    m.add("ackermann_error", right_angle - ideal, "deg", label)


def _other_wheel(linkage: Any, w: WheelMotion, z: Array, r: Array, mode: str) -> WheelMotion:
    """The other wheel of the axle, seen as if it were on this side."""
    other_travel = {"parallel": z, "opposite": -z, "single": np.zeros_like(z)}[mode]
    # it is the mirror image; a rack that steers this one inward steers that one outward
    alone = w.chain.both or (mode == "parallel" and not r.any())
    return w if alone else linkage_wheel_motion(linkage, other_travel, -r, mode, ())


def _add_roll_centre(m: Measures, linkage: Any, w: WheelMotion, other_wheel: WheelMotion) -> None:
    if "tyre_radius" not in w.chain.vehicle:
        m.notes.append(
            "no tyre_radius in the file: measures at the ground are omitted, and track "
            "changes are those of wheel "
            "centres"
        )
        return
    label = "roll centre height, above the ground, force based"
    if "roll" in linkage.inputs:
        m.add("roll_centre_height", _axle_roll_centre(w), "m", label)
        return

    def height(x: WheelMotion) -> Array:
        return x.contact[:, 1] * x.v_contact[:, 1] / x.v_contact[:, 2]

    m.add("roll_centre_height", 0.5 * (height(w) + height(other_wheel)), "m", label)


def _axle_roll_centre(w: WheelMotion) -> Array:
    """Of an axle whose wheels move together: mean lateral movement of the contacts over their roll
    angle."""
    rates, positions = [], []
    for name in ("wheel_left", "wheel_right"):
        hub, arm = (
            w.pose.point(name),
            np.array([0.0, 0.0, -w.chain.up * w.chain.vehicle["tyre_radius"]]),
        )
        rotation = _pose_of_point_body(w, name).delta_rack
        assert hub.d_rack is not None and rotation is not None
        rates.append(hub.d_rack + np.cross(rotation, arm))
        positions.append(hub.position)
    if _pose_of_point_body(w, "wheel_right") is w.pose:
        assert w.pose.delta_rack is not None
        roll = w.pose.delta_rack[:, 0]
    else:
        roll = (rates[0][:, 2] - rates[1][:, 2]) / (positions[0][:, 1] - positions[1][:, 1])
    return 0.5 * w.chain.up * (rates[0][:, 1] + rates[1][:, 1]) / (roll * w.chain.up)


def _pose_of_point_body(w: WheelMotion, point: str) -> Pose:
    """The body of a hard point."""
    body = w.chain.points[point].body
    return w.pose if body == w.chain.carrier else w.pose.link[body]


def _add_beam_twist(m: Measures, w: WheelMotion) -> None:
    """Rotation of the left arm of a twist beam against the right one."""
    if w.chain.kind == "twist_beam":
        left_rotation, right_rotation = w.pose.rotation, w.pose.link["right_arm"].rotation
        sine, cosine = (
            (right_rotation[:, :, i] * left_rotation[:, :, 2 if i == 0 else i]).sum(1)
            for i in (0, 2)
        )
        m.add(
            "twist",
            angle_in_deg(sine, cosine) * w.chain.outward,
            "deg",
            "twist of the beam, left arm up positive",
        )


def _add_anti_features(m: Measures, w: WheelMotion) -> None:
    v = w.chain.vehicle
    missing = [k for k in ("axle", "wheelbase", "cg_height", "tyre_radius") if k not in v]
    if missing:
        m.notes.append(f"anti-features are omitted: the file does not state {', '.join(missing)}")
        return
    scale = 100.0 * v["wheelbase"] / v["cg_height"]
    locked, rolling = _longitudinal_slopes(w)
    front = v["axle"] == "front"
    for action, names in (
        ("brake", ("anti_dive", "anti_lift_braking")),
        ("drive", ("anti_lift_driving", "anti_squat")),
    ):
        if f"{action}_front" in v:
            fraction = v[f"{action}_front"] if front else 1.0 - v[f"{action}_front"]
            slope = rolling if v.get(f"inboard_{action}") else locked
            name = names[0] if front else names[1]
            label = f"{name.replace('_', '-', 1).replace('_', ' while ')}, {v['axle']} axle"
            m.add(name, scale * fraction * (slope if front else -slope), "%", label)


def _longitudinal_slopes(w: WheelMotion) -> tuple[Array, Array]:
    """dx/dz of the contact point (locked wheel) and of the wheel centre; of an axle when both its
    wheels rise."""
    contact, centre = w.v_contact, w.v_centre
    if w.chain.both:
        v = w.pose.point("wheel_left").d
        contact, centre = (
            w.in_wheel_axes(v + np.cross(w.pose.delta, w.in_wheel_axes(w.contact - w.centre))),
            w.in_wheel_axes(v),
        )
    return contact[:, 0] / contact[:, 2], centre[:, 0] / centre[:, 2]


def _add_strut_measures(m: Measures, w: WheelMotion) -> None:
    for strut in w.chain.struts:
        (a, va), (b, vb) = w.point(strut.points[0]), w.point(strut.points[1])
        line = a - b
        length = vector_lengths(line)
        ratio = -(line * (va - vb)).sum(1) / length
        m.add(f"{strut.name}_length", length, "m", f"{strut.name} length")
        m.add(
            f"{strut.name}_ratio",
            ratio,
            "1",
            f"{strut.name} motion ratio, compression per wheel travel",
        )
        if strut.stiffness is not None:
            label = f"{strut.name} wheel rate, without the preload term"
            m.add(f"{strut.name}_wheel_rate", strut.stiffness * ratio**2, "N/m", label)


DRAWN = (
    "camber",
    "toe",
    "caster",
    "kingpin_inclination",
    "scrub_radius",
    "mechanical_trail",
    "track_change",
    "wheelbase_change",
    "roll_centre_height",
    "anti_dive",
    "anti_squat",
    "anti_lift_braking",
    "wheel_load",
    "roll_stiffness",
    "lateral_force_steer",
    "aligning_steer",
)


def main_measures(m: Measures) -> list[str]:
    """The main measures, as far as there are numbers."""
    names = [
        *(c for c in DRAWN if c in m.columns),
        *(c for c in m if c.endswith(("_ratio", "_wheel_rate"))),
    ]
    return [c for c in names if np.isfinite(m[c]).all()]


def default_travels(linkage: Any) -> Array:
    """Wheel travels (m) of a sweep: up and down by 100 mm as far as the file and the linkage allow,
    at round numbers of which 0 is one, and the ends."""
    low, high = default_range(linkage)
    low, high = max(low, -TRAVEL), min(high, TRAVEL)
    step = next(
        s for s in (0.0005, 0.001, 0.002, 0.005, 0.01) if (high - low) / s <= STEPS or s == 0.01
    )
    inner = step * np.arange(math.ceil(low / step), math.floor(high / step) + 1)
    return np.unique(np.round([low, *inner, high], 9))


def constant_measures(measures: Sequence[Measures], names: Sequence[str]) -> dict[str, str]:
    """Those of the names whose values are the same everywhere, with title and value."""
    texts = {}
    for name in names:
        values = np.concatenate([np.atleast_1d(m[name]) for m in measures])
        largest = np.abs(values).max(initial=0.0)
        if np.ptp(values) <= max(LEVEL * largest, ROUNDING):
            value, unit = measures[0].displayed(name)
            level_value = 0.0 if largest <= ROUNDING else value[0]
            texts[name] = f"{measures[0].title(name)} {level_value:.4g} {unit}".strip()
    return texts


def draw_measures(
    measures: Sequence[Measures], path: str | Path | None = None, against: str = "travel"
) -> Any:
    """A matplotlib figure: the main measures over travel or rack, one line for each set. Those that
    do not change are written below."""
    first = measures[0]
    names = main_measures(first)
    level = constant_measures(measures, names)
    changing = [n for n in names if n not in level]
    rows = max(1, -(-len(changing) // 3))
    figure = new_figure(11, 2.3 * rows + 0.6)
    axes = figure.subplots(rows, 3, squeeze=False, sharex=True).ravel()
    for axis, name in zip(axes, changing, strict=False):
        for m in measures:
            values, unit = m.displayed(name)
            axis.plot(1000 * m[against], values, label=m.mode, linewidth=1.3)
        axis.set_title(first.title(name) + (f" ({unit})" if unit else ""), fontsize=9)
        axis.ticklabel_format(useOffset=False)
        axis.tick_params(labelsize=8, labelbottom=True)
        axis.grid(True, linewidth=0.4, alpha=0.6)
    for axis in axes[len(changing) :]:
        axis.set_axis_off()
    for axis in axes[max(0, len(changing) - 3) : len(changing)]:
        axis.set_xlabel(f"{first.title(against)} (mm)", fontsize=8)
    if len(measures) > 1:
        axes[0].legend(fontsize=8)
    if level:
        figure.text(
            0.01,
            0.0,
            "the same everywhere: " + "; ".join(level.values()),
            fontsize=8,
            va="bottom",
            wrap=True,
        )
        figure.get_layout_engine().set(
            rect=(0, 0.4 / (2.3 * rows + 0.6), 1, 1 - 0.4 / (2.3 * rows + 0.6))
        )
    figure.suptitle(f"{first.name}: kinematics", fontsize=11)
    return save_figure(figure, path)
