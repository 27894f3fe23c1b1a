"""Linkages: closed chains between a base and a carrier, solved exactly, tabulated, interpolated and measured.

    from bellcrank.linkage import five_link
    linkage = five_link("five_link.toml")
    pose = linkage.solve([-0.1, 0.0, 0.1])
    pose.position, pose.rotation, pose.d, pose.delta, pose.dd, pose.ddelta

Hard points come from a dict, a TOML or a CSV file; see `files`. Kinematics only: no bushes, no other compliance.
"""

from __future__ import annotations

from importlib.resources import files as _files
from pathlib import Path
from typing import Any

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.linkage.chain import Chain
from bellcrank.linkage.files import read_sheet
from bellcrank.linkage.linkage import Linkage
from bellcrank.linkage.pose import Pose
from bellcrank.linkage.suspensions import build_chain
from bellcrank.linkage.table import Table, read_table

__all__ = [
    "Chain", "Linkage", "Pose", "Table", "double_wishbone", "five_link", "formula_pushrod", "load", "macpherson",
    "read_table", "semi_trailing", "shipped", "solid_axle_four_link", "trailing_arm",
]  # fmt: skip


def load(source: Any, kind: str | None = None, **given: Any) -> Linkage:
    """The linkage of a hard-point file or dict, of the kind it states."""
    return Linkage(build_chain(read_sheet(source, kind, **given)))


def five_link(points: Any, **given: Any) -> Linkage:
    """Five rods from the base (P1 .. P5) to the carrier (X1 .. X5); wheel_centre."""
    return load(points, "five_link", **given)


def double_wishbone(points: Any, **given: Any) -> Linkage:
    """Two arms (lower_front, lower_rear, lower_ball; upper_...), tie rod (tie_base, tie_carrier), wheel_centre."""
    return load(points, "double_wishbone", **given)


def macpherson(points: Any, **given: Any) -> Linkage:
    """Arm (lower_front, lower_rear, lower_ball), strut (strut_lower, strut_top), tie rod, wheel_centre."""
    return load(points, "macpherson", **given)


def trailing_arm(points: Any, **given: Any) -> Linkage:
    """Carrier on one hinge (pivot_inner, pivot_outer) across the vehicle; wheel_centre."""
    return load(points, "trailing_arm", **given)


def semi_trailing(points: Any, **given: Any) -> Linkage:
    """Carrier on one oblique hinge (pivot_inner, pivot_outer); wheel_centre."""
    return load(points, "semi_trailing", **given)


def solid_axle_four_link(points: Any, **given: Any) -> Linkage:
    """Axle on four rods (lower_left_base ... upper_right_axle); wheel_left, wheel_right. Inputs: travel and roll."""
    return load(points, "solid_axle_four_link", **given)


def formula_pushrod(points: Any, **given: Any) -> Linkage:
    """Double wishbone with push rod (pushrod_outer on the carrier, or by `attach` on an arm; pushrod_crank) and bell
    crank (crank_pivot, crank_axis or the x axis); spring_base and spring_crank."""
    return load(points, "formula_pushrod", **given)


def shipped(name: str | None = None) -> Any:
    """The path of a hard-point file that comes with Bellcrank, or the names of all of them."""
    folder = Path(str(_files("bellcrank.linkage") / "data"))
    names = sorted(p.stem for p in folder.glob("*.toml"))
    if name is None:
        return names
    if name not in names:
        guess = did_you_mean(name, names)
        raise ModelError(f"no hard-point file '{name}' comes with Bellcrank.{guess} There are {', '.join(names)}.")
    return folder / f"{name}.toml"
