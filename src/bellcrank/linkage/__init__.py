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
    """Make a linkage of hard points.

    Parameters
    ----------
    source : str, Path or mapping
        A TOML or CSV file, or a mapping with the same content (docs/linkages.md).
    kind : str, optional
        Kind of the linkage, such as "double_wishbone". Default: that in `source`.
    **given : Any
        Keys of the file, such as `units`, `axes`, `side` and `name`; they replace what the source states.

    Returns
    -------
    Linkage
        The linkage: `linkage.solve(travel)` returns poses, travel in m.

    Raises
    ------
    ModelError
        If a hard point is missing or wrong: all problems are listed.

    Examples
    --------
    >>> import bellcrank as bc
    >>> front = bc.linkage.load(bc.linkage.shipped("double_wishbone"))
    >>> front.links
    ['lower_arm', 'upper_arm', 'rack', 'tie_rod']
    """
    return Linkage(build_chain(read_sheet(source, kind, **given)))


def five_link(points: Any, **given: Any) -> Linkage:
    """Make a five-link suspension.

    Parameters
    ----------
    points : str, Path or mapping
        Hard points P1 to P5 on the base, X1 to X5 on the carrier, wheel_centre; a file or mapping, as of `load`.
    **given : Any
        As of `load`.

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
    return load(points, "five_link", **given)


def double_wishbone(points: Any, **given: Any) -> Linkage:
    """Make a double wishbone suspension.

    Parameters
    ----------
    points : str, Path or mapping
        Hard points lower_front, lower_rear, lower_ball, the same of the upper arm, tie_base, tie_carrier, wheel_centre;
        a file or mapping, as of `load`.
    **given : Any
        As of `load`.

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
    return load(points, "double_wishbone", **given)


def macpherson(points: Any, **given: Any) -> Linkage:
    """Make a MacPherson suspension.

    Parameters
    ----------
    points : str, Path or mapping
        Hard points lower_front, lower_rear, lower_ball, strut_lower, strut_top, tie_base, tie_carrier, wheel_centre; a
        file or mapping, as of `load`.
    **given : Any
        As of `load`.

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
    return load(points, "macpherson", **given)


def trailing_arm(points: Any, **given: Any) -> Linkage:
    """Make a trailing arm: a carrier on one hinge across the vehicle.

    Parameters
    ----------
    points : str, Path or mapping
        Hard points pivot_inner, pivot_outer, wheel_centre; a file or mapping, as of `load`.
    **given : Any
        As of `load`.

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
    return load(points, "trailing_arm", **given)


def semi_trailing(points: Any, **given: Any) -> Linkage:
    """Make a semi-trailing arm: a carrier on one oblique hinge.

    Parameters
    ----------
    points : str, Path or mapping
        Hard points pivot_inner, pivot_outer, wheel_centre; a file or mapping, as of `load`.
    **given : Any
        As of `load`.

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
    return load(points, "semi_trailing", **given)


def solid_axle_four_link(points: Any, **given: Any) -> Linkage:
    """Make a solid axle on four rods; its inputs are travel and roll.

    Parameters
    ----------
    points : str, Path or mapping
        Hard points lower_left_base to upper_right_axle, wheel_left, wheel_right; a file or mapping, as of `load`.
    **given : Any
        As of `load`.

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
    return load(points, "solid_axle_four_link", **given)


def formula_pushrod(points: Any, **given: Any) -> Linkage:
    """Make a double wishbone with push rod and bell crank.

    Parameters
    ----------
    points : str, Path or mapping
        Hard points of a double wishbone, pushrod_outer (on the carrier, or by `attach` on an arm), pushrod_crank,
        crank_pivot, crank_axis (default: the x axis), spring_base, spring_crank; a file or mapping, as of `load`.
    **given : Any
        As of `load`.

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
    return load(points, "formula_pushrod", **given)


def shipped(name: str | None = None) -> Any:
    """Return the path of a hard-point file that comes with Bellcrank, or the names of all.

    Parameters
    ----------
    name : str, optional
        Name of the file. Default: all names are returned.

    Returns
    -------
    Path or list of str
        The file, or the names.

    Raises
    ------
    ModelError
        If there is no such file.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.linkage.shipped("macpherson").name
    'macpherson.toml'
    """
    folder = Path(str(_files("bellcrank.linkage") / "data"))
    names = sorted(p.stem for p in folder.glob("*.toml"))
    if name is None:
        return names
    if name not in names:
        guess = did_you_mean(name, names)
        raise ModelError(f"no hard-point file '{name}' comes with Bellcrank.{guess} There are {', '.join(names)}.")
    return folder / f"{name}.toml"
