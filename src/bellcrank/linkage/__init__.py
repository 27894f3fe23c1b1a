"""Linkages: closed chains between a base and a carrier, solved exactly, tabulated, interpolated and
measured.

    from bellcrank.linkage import five_link
    linkage = five_link("five_link.toml")
    pose = linkage.solve([-0.1, 0.0, 0.1])
    pose.position, pose.rotation, pose.d, pose.delta, pose.dd, pose.ddelta

Hard points come from a dict, a TOML or a CSV file; see `files`. Kinematics only: no bushes, no
other compliance.
"""

from __future__ import annotations

from typing import Any

from bellcrank.linkage.chain import Chain
from bellcrank.linkage.hard_point_files import shipped
from bellcrank.linkage.linkage import Linkage
from bellcrank.linkage.pose import Pose
from bellcrank.linkage.pose_table import Table

__all__ = [
    "Chain",
    "Linkage",
    "Pose",
    "Table",
    "double_wishbone",
    "five_link",
    "formula_pushrod",
    "macpherson",
    "semi_trailing",
    "shipped",
    "solid_axle_four_link",
    "trailing_arm",
]


def five_link(points: Any, **given: Any) -> Linkage:
    """Make a five-link suspension.

    Parameters
    ----------
    points : str, Path or mapping
        Hard points P1 to P5 on the base, X1 to X5 on the carrier, wheel_centre; a file, name or
        mapping, as of `Linkage.read`.
    **given : Any
        As of `Linkage.read`.

    Returns
    -------
    Linkage
        The linkage.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.linkage.five_link(bc.linkage.shipped("five_link")).name
    'five_link'
    """
    return Linkage.read(points, "five_link", **given)


def double_wishbone(points: Any, **given: Any) -> Linkage:
    """Make a double wishbone suspension.

    Parameters
    ----------
    points : str, Path or mapping
        Hard points lower_front, lower_rear, lower_ball, the same of the upper arm, tie_base,
        tie_carrier, wheel_centre; a file or mapping, as of `Linkage.read`.
    **given : Any
        As of `Linkage.read`.

    Returns
    -------
    Linkage
        The linkage.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.linkage.double_wishbone(bc.linkage.shipped("double_wishbone")).name
    'double_wishbone'
    """
    return Linkage.read(points, "double_wishbone", **given)


def macpherson(points: Any, **given: Any) -> Linkage:
    """Make a MacPherson suspension.

    Parameters
    ----------
    points : str, Path or mapping
        Hard points lower_front, lower_rear, lower_ball, strut_lower, strut_top, tie_base,
        tie_carrier, wheel_centre; a file or mapping, as of `Linkage.read`.
    **given : Any
        As of `Linkage.read`.

    Returns
    -------
    Linkage
        The linkage.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.linkage.macpherson(bc.linkage.shipped("macpherson")).name
    'macpherson'
    """
    return Linkage.read(points, "macpherson", **given)


def trailing_arm(points: Any, **given: Any) -> Linkage:
    """Make a trailing arm: a carrier on one hinge across the vehicle.

    Parameters
    ----------
    points : str, Path or mapping
        Hard points pivot_inner, pivot_outer, wheel_centre; a file or mapping, as of `Linkage.read`.
    **given : Any
        As of `Linkage.read`.

    Returns
    -------
    Linkage
        The linkage.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.linkage.trailing_arm(bc.linkage.shipped("trailing_arm")).name
    'trailing_arm'
    """
    return Linkage.read(points, "trailing_arm", **given)


def semi_trailing(points: Any, **given: Any) -> Linkage:
    """Make a semi-trailing arm: a carrier on one oblique hinge.

    Parameters
    ----------
    points : str, Path or mapping
        Hard points pivot_inner, pivot_outer, wheel_centre; a file or mapping, as of `Linkage.read`.
    **given : Any
        As of `Linkage.read`.

    Returns
    -------
    Linkage
        The linkage.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.linkage.semi_trailing(bc.linkage.shipped("semi_trailing")).name
    'semi_trailing'
    """
    return Linkage.read(points, "semi_trailing", **given)


def solid_axle_four_link(points: Any, **given: Any) -> Linkage:
    """Make a solid axle on four rods; its inputs are travel and roll.

    Parameters
    ----------
    points : str, Path or mapping
        Hard points lower_left_base to upper_right_axle, wheel_left, wheel_right; a file, name or
        mapping, as of
        `Linkage.read`.
    **given : Any
        As of `Linkage.read`.

    Returns
    -------
    Linkage
        The linkage.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.linkage.solid_axle_four_link(bc.linkage.shipped("solid_axle")).name
    'solid_axle'
    """
    return Linkage.read(points, "solid_axle_four_link", **given)


def formula_pushrod(points: Any, **given: Any) -> Linkage:
    """Make a double wishbone with push rod and bell crank.

    Parameters
    ----------
    points : str, Path or mapping
        Hard points of a double wishbone, pushrod_outer (on the carrier, or by `attach` on an arm),
        pushrod_crank, crank_pivot, crank_axis (default: the x axis), spring_base, spring_crank; a
        file, name or mapping, as of
        `Linkage.read`.
    **given : Any
        As of `Linkage.read`.

    Returns
    -------
    Linkage
        The linkage.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.linkage.formula_pushrod(bc.linkage.shipped("formula_student")).name
    'formula_student'
    """
    return Linkage.read(points, "formula_pushrod", **given)


def __dir__() -> list[str]:
    return sorted(__all__)
