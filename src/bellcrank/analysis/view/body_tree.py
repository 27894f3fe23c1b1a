"""A sketch of the body tree as SVG: a box for each body, its joint on the line to its parent, loops
dashed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from bellcrank.model.mechanism import Body

BOX_W, BOX_H, GAP_X, GAP_Y = 150, 44, 130, 18


@dataclass(frozen=True)
class LoopLink:
    """A loop closed between two bodies (-1: the ground)."""

    first: int
    second: int
    text: str


def body_tree_svg(bodies: Sequence[Body], links: Sequence[LoopLink] = ()) -> str:
    """The tree from left to right."""
    children: dict[int, list[int]] = {-1: []}
    for b in bodies:
        children.setdefault(b.parent, []).append(b.index)
        children.setdefault(b.index, [])
    depth, height = {-1: 0}, {}
    for b in bodies:
        depth[b.index] = depth[b.parent] + 1
    row = 0
    for i in reversed(_depth_first(children)):  # children before parents
        if not children[i]:
            height[i] = float(row)
            row += 1
        else:
            height[i] = (height[children[i][0]] + height[children[i][-1]]) / 2
    max_depth = max(depth.values())
    position_of = {
        i: (depth[i] * (BOX_W + GAP_X) + 10, (row - 1 - height[i]) * (BOX_H + GAP_Y) + 10)
        for i in depth
    }
    width, tall = (
        (max_depth + 1) * (BOX_W + GAP_X) - GAP_X + 20,
        row * (BOX_H + GAP_Y) - GAP_Y + 20 + (30 if links else 0),
    )
    head = (
        f'viewBox="0 0 {width} {tall:.0f}" style="max-width:{width}px" role="img" '
        f'aria-label="body tree"'
    )
    elements = [f'<svg class="sketch" {head}>']
    for b in bodies:
        (x0, y0), (x1, y1) = position_of[b.parent], position_of[b.index]
        start, middle, end = y0 + BOX_H / 2, x1 - GAP_X + 12, y1 + BOX_H / 2
        path = f"M{x0 + BOX_W} {start:.0f}L{middle} {start:.0f}L{middle} {end:.0f}L{x1} {end:.0f}"
        elements.append(f'<path class="joint" d="{path}"/>')
        elements.append(
            f'<text class="small" x="{middle + 5}" y="{end - 5:.0f}">{escape(b.joint.text)}</text>'
        )
    for link in links:
        (x0, y0), (x1, y1) = position_of[link.first], position_of[link.second]
        a, c = (x0 + BOX_W / 2, y0 + BOX_H), (x1 + BOX_W / 2, y1 + BOX_H)
        low = max(a[1], c[1]) + 22
        path = f"M{a[0]} {a[1]:.0f}C{a[0]} {low:.0f} {c[0]} {low:.0f} {c[0]} {c[1]:.0f}"
        elements.append(f'<path class="loop" d="{path}"><title>{escape(link.text)}</title></path>')
    for i, (x, y) in position_of.items():
        name, label = ("N", "inertial reference") if i < 0 else (bodies[i].name, bodies[i].label)
        size = f'x="{x}" y="{y:.0f}" width="{BOX_W}" height="{BOX_H}" rx="6"'
        elements.append(f'<rect class="{"ground" if i < 0 else "body"}" {size}/>')
        short = label if len(label) < 24 else label[:22] + "…"
        for kind, baseline, text in (
            ("name", 18, name),
            *([("small", 34, short)] if label != name else []),
        ):
            position = f'x="{x + BOX_W / 2}" y="{y + baseline:.0f}" text-anchor="middle"'
            elements.append(f'<text class="{kind}" {position}>{escape(text)}</text>')
    return "\n".join([*elements, "</svg>"])


def _depth_first(children: dict[int, list[int]]) -> list[int]:
    order, stack = [], [-1]
    while stack:
        i = stack.pop()
        order.append(i)
        stack += reversed(children[i])
    return order
