"""Suspensions by hard points: which points each kind needs, on which bodies, and how the bodies are
tied together.

Every builder takes a `HardPointData` (the content of a hard-point file, lengths already in m) and
returns a `Chain`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.linkage.chain import (
    BASE,
    Chain,
    ChainInput,
    ChainJoint,
    ChainRod,
    ChainStrut,
    HardPoint,
    Point,
    vector_between,
)
from bellcrank.linkage.hard_points import alias_suggestion, name_suggestion

RACK = "rack"
Ties = tuple[list[ChainJoint], list[ChainRod]]


@dataclass(frozen=True)
class RackPoints:
    """A steering rack: the base points it carries, and the direction of positive movement."""

    points: tuple[str, ...]
    axis: Point = (0.0, 1.0, 0.0)


@dataclass(frozen=True)
class HardPointData:
    """The content of a hard-point file in m."""

    name: str
    kind: str
    axes: str
    side: str
    points: Mapping[str, Point]
    attach: Mapping[str, str] = field(default_factory=dict)
    struts: tuple[ChainStrut, ...] = ()
    rack: RackPoints | None = None
    lengths: Mapping[str, float] = field(default_factory=dict)
    vehicle: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    bodies: tuple[str, ...] = ()
    joints: tuple[ChainJoint, ...] = ()
    rods: tuple[ChainRod, ...] = ()


@dataclass(frozen=True)
class SuspensionKind:
    """A kind of suspension: the points it must have (with their bodies), and how it is tied
    together."""

    points: Mapping[str, str]
    build: Callable[[Mapping[str, Point]], Ties]
    bodies: tuple[str, ...]
    carrier: str = "carrier"
    both: bool = False  # one linkage for both wheels of an axle
    tie: tuple[str, ...] = ()  # base points a rack carries unless reported otherwise


def build_chain(sheet: HardPointData) -> Chain:
    """The chain of a sheet; raises a ModelError with all missing, misspelt and unattached points.
    Hard points in ADAMS axes are turned into ISO 8855."""
    chain = _build_kind(sheet)
    chain = chain.in_iso() if chain.axes == "ADAMS" else chain
    inner = [p.at[1] for p in chain.points.values() if p.body == BASE]
    y = chain.points["wheel_centre"].at[1] if "wheel_centre" in chain.points else 0.0
    if (
        sheet.kind != "chain"
        and chain.side != "centre"
        and inner
        and all(chain.outward * (y - x) < 0 for x in inner)
    ):
        frame, sign = (
            f"side = '{chain.side}', axes = '{chain.drawn}'",
            -1 if chain.drawn != chain.axes else 1,
        )
        raise ModelError(
            f"hard point 'wheel_centre' with y = {sign * y:g} m lies inside of all hard "
            f"points of the body, the "
            f"nearest at {sign * min(inner, key=lambda x: abs(x - y)):g} m, for {frame}. "
            f"Left points have y > 0 in "
            "ISO 8855 and y < 0 in SAE and ADAMS axes. Give the other side, other axes, or "
            "mirror the points.",
            sheet.name,
        )
    return chain


def _build_kind(sheet: HardPointData) -> Chain:
    if sheet.kind == "chain":
        return _general_chain(sheet)
    kind = KINDS[sheet.kind]
    sheet = _with_axle_centre(sheet)
    drawn = dict.fromkeys((*kind.points, *sheet.points), (0.0, 0.0, 0.0))
    problems = _point_name_problems(sheet, kind, [r.name for r in kind.build(drawn)[1]])
    if problems:
        raise ModelError(problems, sheet.name)
    extras = {n: BASE for n in sheet.points if n not in kind.points and n.endswith("_base")}
    home = {**{n: b for n, b in kind.points.items() if n in sheet.points}, **extras, **sheet.attach}
    joints, rods = kind.build(sheet.points)
    bodies = list(kind.bodies)
    if sheet.rack is not None:
        rack_points = sheet.rack.points or kind.tie
        home.update(dict.fromkeys(rack_points, RACK))
        bodies.append(RACK)
        joints.append(
            ChainJoint("rack_guide", "prismatic", BASE, RACK, rack_points[0], sheet.rack.axis)
        )
    return _make_chain(sheet, bodies, home, (joints, rods), kind.carrier)


def _make_chain(
    sheet: HardPointData, bodies: Sequence[str], home: Mapping[str, str], ties: Ties, carrier: str
) -> Chain:
    joints, rods = ties
    centre = (
        "wheel_centre"
        if home.get("wheel_centre") == carrier or sheet.kind == "chain"
        else "wheel_left"
    )
    inputs = [
        ChainInput(
            "travel",
            ("wheel_centre",) if centre == "wheel_centre" else ("wheel_left", "wheel_right"),
        )
    ]
    if sheet.kind != "chain" and KINDS[sheet.kind].both:
        inputs.append(ChainInput("roll", ("wheel_left", "wheel_right")))
    if sheet.rack is not None:
        inputs.append(ChainInput("rack", (), RACK, sheet.rack.axis))
    points = {n: HardPoint(home[n], position) for n, position in sheet.points.items()}
    return Chain(
        sheet.name,
        sheet.kind,
        tuple(bodies),
        points,
        tuple(joints),
        _rod_lengths(sheet, rods),
        carrier,
        centre,
        tuple(inputs),
        sheet.axes,
        sheet.side,
        sheet.struts,
        sheet.vehicle,
        sheet.note,
        sheet.axes,
    )


def _with_axle_centre(sheet: HardPointData) -> HardPointData:
    """The middle of an axle is its wheel centre unless one is given."""
    p = sheet.points
    if (
        "wheel_centre" not in OPTIONAL.get(sheet.kind, ())
        or "wheel_centre" in p
        or not {"wheel_left", "wheel_right"} <= set(p)
    ):
        return sheet
    a, b = p["wheel_left"], p["wheel_right"]
    centre = (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))
    return replace(sheet, points={**p, "wheel_centre": centre})


def _point_name_problems(sheet: HardPointData, kind: SuspensionKind, rods: list[str]) -> list[str]:
    problems = []
    bodies = {BASE, *kind.bodies}
    extra = [n for n in sheet.points if n not in kind.points]
    missing = [
        n for n in kind.points if n not in sheet.points and n not in OPTIONAL.get(sheet.kind, ())
    ]
    for name in missing:
        spelt = alias_suggestion(name, extra)
        problems.append(f"{sheet.kind} needs the hard point '{name}', which is missing.{spelt}")
    for name in extra:
        if name in sheet.attach or name.endswith("_base"):
            continue
        guess = name_suggestion(name, [*missing, *kind.points])
        problems.append(
            f"the hard point '{name}' is not one of {sheet.kind}'s, and `attach` does not "
            f"say which body it belongs to "
            f"({', '.join(sorted(bodies))}).{guess}"
        )
    for name, body in sheet.attach.items():
        if name not in sheet.points:
            problems.append(
                f"attach: no hard point is called '{name}'.{did_you_mean(name, sheet.points)}"
            )
        if body not in (*bodies, *rods) and not (body == RACK and sheet.rack is not None):
            listed = ", ".join([*sorted(bodies), *rods])
            problems.append(
                f"attach: '{name}' is to belong to '{body}', but the links of {sheet.kind} "
                f"are {listed}."
            )
        elif body in rods and name in kind.points:
            problems.append(
                f"attach: '{name}' is a joint of {sheet.kind} and cannot sit on the rod '{body}'."
            )
    if sheet.rack is not None:
        if not (sheet.rack.points or kind.tie):
            problems.append(
                f"rack: say which base points it carries (rack.points); {sheet.kind} has "
                f"none by default."
            )
        for name in sheet.rack.points:
            if (
                sheet.points.get(name) is None
                or {**kind.points, **sheet.attach}.get(name, BASE) != BASE
            ):
                problems.append(
                    f"rack: '{name}' is not a hard point of the "
                    f"base.{did_you_mean(name, kind.points)}"
                )
    return problems


def _rod_lengths(sheet: HardPointData, rods: Sequence[ChainRod]) -> tuple[ChainRod, ...]:
    """Rods with the lengths that differ from the drawn ones."""
    names = {r.name for r in rods}
    problems = [
        f"no rod is called '{n}'.{did_you_mean(n, names)}" for n in sheet.lengths if n not in names
    ]
    if problems:
        raise ModelError(
            [f"lengths: {problem} Rods: {', '.join(sorted(names))}." for problem in problems],
            sheet.name,
        )
    return tuple(replace(r, length=sheet.lengths.get(r.name, r.length)) for r in rods)


def _general_chain(sheet: HardPointData) -> Chain:
    """A chain whose bodies, joints and rods are listed in the file."""
    home = {n: sheet.attach.get(n, BASE) for n in sheet.points}
    ties = list(sheet.joints), list(sheet.rods)
    return _make_chain(sheet, sheet.bodies, home, ties, home.get("wheel_centre", "carrier"))


# ---- the kinds


def _five_link(points: Mapping[str, Point]) -> Ties:
    return [], [ChainRod(f"rod_{i}", f"P{i}", f"X{i}") for i in range(1, 6)]


def _arm_pivot(name: str, level: str, points: Mapping[str, Point]) -> ChainJoint:
    return _joint_through(
        f"{level}_pivot", "revolute", BASE, name, (f"{level}_front", f"{level}_rear"), points
    )


def _joint_through(
    name: str,
    kind: str,
    first: str,
    second: str,
    point_names: tuple[str, str],
    points: Mapping[str, Point],
) -> ChainJoint:
    """A joint at the first of two hard points, its axis through both."""
    return ChainJoint(
        name,
        kind,
        first,
        second,
        point_names[0],
        vector_between(points[point_names[0]], points[point_names[1]]),
        through=point_names,
    )


def _wishbones(points: Mapping[str, Point]) -> Ties:
    joints = [
        _arm_pivot("lower_arm", "lower", points),
        _arm_pivot("upper_arm", "upper", points),
        ChainJoint("lower_ball_joint", "spherical", "lower_arm", "carrier", "lower_ball"),
        ChainJoint("upper_ball_joint", "spherical", "upper_arm", "carrier", "upper_ball"),
    ]
    return joints, [ChainRod("tie_rod", "tie_base", "tie_carrier")]


def _macpherson(points: Mapping[str, Point]) -> Ties:
    joints = [
        _arm_pivot("lower_arm", "lower", points),
        ChainJoint("lower_ball_joint", "spherical", "lower_arm", "carrier", "lower_ball"),
        _joint_through(
            "strut_slide", "prismatic", "carrier", "strut", ("strut_lower", "strut_top"), points
        ),
        ChainJoint("strut_mount", "spherical", BASE, "strut", "strut_top"),
    ]
    return joints, [ChainRod("tie_rod", "tie_base", "tie_carrier")]


def _trailing_arm(points: Mapping[str, Point]) -> Ties:
    return [
        _joint_through(
            "arm_pivot", "revolute", BASE, "carrier", ("pivot_inner", "pivot_outer"), points
        )
    ], []


def _solid_axle(*names: str) -> Callable[[Mapping[str, Point]], Ties]:
    """A solid axle on rods from <name>_base to <name>_axle."""
    return lambda at: ([], [ChainRod(n, f"{n}_base", f"{n}_axle") for n in names])


def _watt_linkage(points: Mapping[str, Point]) -> Ties:
    """A lever on the axle, turned about the line ahead, whose ends two rods join to the body on
    either side."""
    rods = [
        ChainRod("watt_left", "watt_left_base", "lever_left"),
        ChainRod("watt_right", "watt_right_base", "lever_right"),
    ]
    lever = ChainJoint("lever_pivot", "revolute", "axle", "lever", "lever_pivot", (1.0, 0.0, 0.0))
    return [lever], [*_solid_axle("lower_left", "lower_right", "upper")(points)[1], *rods]


def _leaf_springs(points: Mapping[str, Point]) -> Ties:
    """An axle on leaf springs, each as a rod that guides as its front half does. The leaves hold
    the axle across, at the height of their middle, so that its point there stays in the middle
    plane."""
    middle = ChainJoint("leaves", "inplane", BASE, "axle", "leaf_centre", (0.0, 1.0, 0.0))
    return [middle], _solid_axle("lower_left", "lower_right", "upper")(points)[1]


def _a_arm(points: Mapping[str, Point]) -> Ties:
    arm = _joint_through(
        "arm_pivot", "revolute", BASE, "a_arm", ("arm_left_base", "arm_right_base"), points
    )
    ball = ChainJoint("arm_ball_joint", "spherical", "a_arm", "axle", "arm_axle")
    return [arm, ball], _solid_axle("lower_left", "lower_right")(points)[1]


def _twist_beam(points: Mapping[str, Point]) -> Ties:
    """Two trailing arms whose cross beam twists about the line across through its shear centre.
    Their pivots slide across, and the shear centre stays in the middle: a twist is symmetric."""
    across = (0.0, 1.0, 0.0)
    return [
        ChainJoint("beam", "revolute", "left_arm", "right_arm", "shear_centre", across),
        ChainJoint("left_pivot", "inline", BASE, "left_arm", "pivot_left", across),
        ChainJoint("right_pivot", "inline", BASE, "right_arm", "pivot_right", across),
        ChainJoint("middle", "inplane", BASE, "left_arm", "shear_centre", across),
    ], []


def _pushrod(points: Mapping[str, Point]) -> Ties:
    joints, rods = _wishbones(points)
    if "crank_axis" in points:
        crank = _joint_through(
            "crank_pivot", "revolute", BASE, "bell_crank", ("crank_pivot", "crank_axis"), points
        )
    else:
        crank = ChainJoint(
            "crank_pivot", "revolute", BASE, "bell_crank", "crank_pivot", (1.0, 0.0, 0.0)
        )
    joints.append(crank)
    return joints, [*rods, ChainRod("pushrod", "pushrod_crank", "pushrod_outer")]


def _points_by_body(**names: str) -> dict[str, str]:
    """Hard points with the body of each, from the names on every body."""
    return {name: body for body, listed in names.items() for name in listed.split()}


_WISHBONES = _points_by_body(
    base="lower_front lower_rear upper_front upper_rear tie_base",
    carrier="lower_ball upper_ball tie_carrier wheel_centre",
)
_STRUT = _points_by_body(
    base="lower_front lower_rear tie_base",
    carrier="lower_ball strut_lower tie_carrier wheel_centre",
    strut="strut_top",
)
_SWING = _points_by_body(base="pivot_inner pivot_outer", carrier="wheel_centre")
_LOWER_RODS = _points_by_body(
    base="lower_left_base lower_right_base",
    axle="lower_left_axle lower_right_axle wheel_left wheel_right wheel_centre",
)
_UPPER_ROD = _points_by_body(base="upper_base", axle="upper_axle")
_FOUR_RODS = {
    **_LOWER_RODS,
    **_points_by_body(
        base="upper_left_base upper_right_base", axle="upper_left_axle upper_right_axle"
    ),
}
_PANHARD = {
    **_LOWER_RODS,
    **_UPPER_ROD,
    **_points_by_body(base="panhard_base", axle="panhard_axle"),
}
_WATT = {
    **_LOWER_RODS,
    **_UPPER_ROD,
    **_points_by_body(
        base="watt_left_base watt_right_base", axle="lever_pivot", lever="lever_left lever_right"
    ),
}
_LEAF = {**_LOWER_RODS, **_UPPER_ROD, **_points_by_body(axle="leaf_centre")}
_A_ARM = {**_LOWER_RODS, **_points_by_body(base="arm_left_base arm_right_base", axle="arm_axle")}
_TWIST = _points_by_body(
    base="", left_arm="pivot_left shear_centre wheel_left", right_arm="pivot_right wheel_right"
)
_CRANK = _points_by_body(
    base="crank_pivot crank_axis spring_base",
    bell_crank="pushrod_crank spring_crank",
    carrier="pushrod_outer",
)

KINDS: dict[str, SuspensionKind] = {
    "five_link": SuspensionKind(
        _points_by_body(base="P1 P2 P3 P4 P5", carrier="X1 X2 X3 X4 X5 wheel_centre"),
        _five_link,
        ("carrier",),
    ),
    "double_wishbone": SuspensionKind(
        _WISHBONES, _wishbones, ("lower_arm", "upper_arm", "carrier"), tie=("tie_base",)
    ),
    "macpherson": SuspensionKind(
        _STRUT, _macpherson, ("lower_arm", "strut", "carrier"), tie=("tie_base",)
    ),
    "trailing_arm": SuspensionKind(_SWING, _trailing_arm, ("carrier",)),
    "semi_trailing": SuspensionKind(_SWING, _trailing_arm, ("carrier",)),
    "solid_axle_four_link": SuspensionKind(
        _FOUR_RODS,
        _solid_axle("lower_left", "lower_right", "upper_left", "upper_right"),
        ("axle",),
        "axle",
        True,
    ),
    "solid_axle_panhard": SuspensionKind(
        _PANHARD,
        _solid_axle("lower_left", "lower_right", "upper", "panhard"),
        ("axle",),
        "axle",
        True,
    ),
    "solid_axle_watt": SuspensionKind(_WATT, _watt_linkage, ("axle", "lever"), "axle", True),
    "solid_axle_leaf": SuspensionKind(_LEAF, _leaf_springs, ("axle",), "axle", True),
    "solid_axle_a_arm": SuspensionKind(_A_ARM, _a_arm, ("axle", "a_arm"), "axle", True),
    "twist_beam": SuspensionKind(_TWIST, _twist_beam, ("left_arm", "right_arm"), "left_arm", True),
    "formula_pushrod": SuspensionKind(
        {**_WISHBONES, **_CRANK},
        _pushrod,
        ("lower_arm", "upper_arm", "carrier", "bell_crank"),
        tie=("tie_base",),
    ),
}
SOLID_AXLES = tuple(k for k in KINDS if k.startswith("solid_axle"))
OPTIONAL = {
    "formula_pushrod": ("crank_axis", "spring_base", "spring_crank"),
    **dict.fromkeys(SOLID_AXLES, ("wheel_centre",)),
}
