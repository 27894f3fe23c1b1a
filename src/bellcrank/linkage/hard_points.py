"""Names of hard points: what each means, and what other programs call it."""

from __future__ import annotations

import re
from collections.abc import Collection

from bellcrank.core.errors import did_you_mean

PREFIX = re.compile(r"^(hp[lrs]|left|right|l|r)_|_(left|right|l|r)$", re.IGNORECASE)
MEANINGS = {
    "lower_front": "front pivot of the lower arm on the body",
    "lower_rear": "rear pivot of the lower arm on the body",
    "lower_ball": "lower ball joint: lower arm on the wheel carrier",
    "upper_front": "front pivot of the upper arm on the body",
    "upper_rear": "rear pivot of the upper arm on the body",
    "upper_ball": "upper ball joint: upper arm on the wheel carrier",
    "tie_base": "inner ball joint of the tie rod, on the rack or the body",
    "tie_carrier": "outer ball joint of the tie rod, on the wheel carrier",
    "wheel_centre": "wheel centre",
    "strut_lower": "a point of the strut's axis on the wheel carrier",
    "strut_top": "upper mount of the strut on the body",
    "pivot_inner": "inner pivot of the arm on the body",
    "pivot_outer": "outer pivot of the arm on the body",
    "upper_base": "upper rod on the body",
    "upper_axle": "upper rod on the axle",
    "panhard_base": "Panhard rod on the body",
    "panhard_axle": "Panhard rod on the axle",
    "watt_left_base": "left rod of the Watt linkage on the body",
    "watt_right_base": "right rod of the Watt linkage on the body",
    "lever_pivot": "pivot of the Watt lever on the axle",
    "lever_left": "left rod of the Watt linkage on its lever",
    "lever_right": "right rod of the Watt linkage on its lever",
    "leaf_centre": "middle between the leaf springs at their seats, in the middle plane",
    "arm_left_base": "left pivot of the A-arm on the body",
    "arm_right_base": "right pivot of the A-arm on the body",
    "arm_axle": "ball joint of the A-arm on the axle",
    "pivot_left": "left pivot of the twist beam on the body",
    "pivot_right": "right pivot of the twist beam on the body",
    "shear_centre": "shear centre of the cross beam, in the middle plane",
    "wheel_left": "left wheel centre",
    "wheel_right": "right wheel centre",
    "crank_pivot": "pivot of the bell crank on the body",
    "crank_axis": "a second point of the bell crank's axis; default: parallel to x",
    "spring_base": "end of the spring on the body",
    "spring_crank": "end of the spring on the bell crank",
    "pushrod_crank": "push rod on the bell crank",
    "pushrod_outer": "push rod on the wheel carrier, or by `attach` on an arm",
    **{f"P{i}": f"rod {i} on the body" for i in range(1, 6)},
    **{f"X{i}": f"rod {i} on the wheel carrier" for i in range(1, 6)},
    **{
        f"{level}_{side}_{end}": f"{level} {side} rod on the {'body' if end == 'base' else 'axle'}"
        for level in ("lower", "upper")
        for side in ("left", "right")
        for end in ("base", "axle")
    },
}
ALIASES = {  # names of templates of ADAMS/Car and their like, without the prefixes hpl_, hpr_, hps_
    "lca_front": "lower_front",
    "lca_rear": "lower_rear",
    "lca_outer": "lower_ball",
    "lca_ball": "lower_ball",
    "uca_front": "upper_front",
    "uca_rear": "upper_rear",
    "uca_outer": "upper_ball",
    "uca_ball": "upper_ball",
    "lbj": "lower_ball",
    "ubj": "upper_ball",
    "lower_ball_joint": "lower_ball",
    "upper_ball_joint": "upper_ball",
    "tierod_inner": "tie_base",
    "tie_rod_inner": "tie_base",
    "inner_tie_rod": "tie_base",
    "toe_link_inner": "tie_base",
    "tierod_outer": "tie_carrier",
    "tie_rod_outer": "tie_carrier",
    "outer_tie_rod": "tie_carrier",
    "toe_link_outer": "tie_carrier",
    "wheel_center": "wheel_centre",
    "wc": "wheel_centre",
    "strut_lwr_mount": "strut_lower",
    "lwr_strut_mount": "strut_lower",
    "spring_lwr_seat": "strut_lower",
    "top_mount": "strut_top",
    "strut_upr_mount": "strut_top",
    "strut_mount": "strut_top",
    "trailing_arm_inner": "pivot_inner",
    "arm_inner": "pivot_inner",
    "trailing_arm_outer": "pivot_outer",
    "arm_outer": "pivot_outer",
    "prod_outboard": "pushrod_outer",
    "prod_outer": "pushrod_outer",
    "prod_to_bellcrank": "pushrod_crank",
    "prod_inboard": "pushrod_crank",
    "bellcrank_pivot": "crank_pivot",
    "bellcrank_pivot_orient": "crank_axis",
    "shock_to_bellcrank": "spring_crank",
    "shock_to_chassis": "spring_base",
}


def point_aliases(name: str) -> list[str]:
    """What other programs call a hard point."""
    return [alias for alias, canonical in ALIASES.items() if canonical == name]


def canonical_name(name: str) -> str | None:
    """The hard point that another program calls so."""
    plain = name.lower()
    while (shorter := PREFIX.sub("", plain)) != plain and plain not in ALIASES:
        plain = shorter
    return ALIASES.get(plain)


def name_suggestion(name: str, names: Collection[str]) -> str:
    """' Did you mean ...?': by the names of other programs, then by spelling."""
    canonical = canonical_name(name)
    return f" Did you mean '{canonical}'?" if canonical in names else did_you_mean(name, names)


def alias_suggestion(name: str, names: Collection[str]) -> str:
    """' Is it given as ...?' for a hard point that is missing."""
    for candidate in names:
        if canonical_name(candidate) == name:
            return f" Is it given as '{candidate}'?"
    free = [candidate for candidate in names if canonical_name(candidate) is None]
    return did_you_mean(name, free).replace("Did you mean", "Is it given as")
