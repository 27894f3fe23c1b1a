"""Sketches of the concept pages: `python -m website.sketches` writes them into docs/images/concepts
and tutorials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Arc, Circle, Rectangle

from website.shown import DOCS

STEEL, BLUE, RED, GREEN = "#5b7083", "#1f6fb2", "#c0392b", "#2e8b57"


def arrow(axis: Any, at: Any, by: Any, text: str = "", color: str = "black") -> None:
    """An arrow from `at` by a vector, with its name at the tip."""
    end = np.add(at, by)
    axis.annotate(
        "",
        end,
        at,
        arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.6, "shrinkA": 0, "shrinkB": 0},
    )
    axis.text(
        *np.add(at, np.multiply(by, 1.16)), text, color=color, ha="center", va="center", fontsize=10
    )


def axes(axis: Any, at: Any, size: float, angle: float, names: tuple[str, str]) -> None:
    """Axes x and y of a frame, turned by an angle in rad; z points out of the page."""
    for name, color, turn in zip(names, (RED, GREEN), (0.0, np.pi / 2), strict=True):
        arrow(axis, at, (size * np.cos(angle + turn), size * np.sin(angle + turn)), name, color)
    axis.add_patch(Circle(at, 0.07, facecolor="white", edgecolor=BLUE, lw=1.4, zorder=4))
    axis.add_patch(Circle(at, 0.02, color=BLUE, zorder=5))


def ground(axis: Any, x: float, y: float, width: float = 1.0, above: bool = False) -> None:
    """A hatched line that stands for the ground, below or above what is fixed to it."""
    axis.add_patch(
        Rectangle(
            (x - width / 2, y if above else y - 0.12),
            width,
            0.12,
            facecolor="none",
            edgecolor="grey",
            hatch="////",
            lw=0,
        )
    )
    axis.plot([x - width / 2, x + width / 2], [y, y], color="black", lw=1.2)


def link(axis: Any, a: Any, b: Any, width: float = 9) -> None:
    axis.plot(
        *zip(a, b, strict=True), color=STEEL, lw=width, solid_capstyle="round", alpha=0.55, zorder=1
    )


def tree(axis: Any) -> None:
    """Ground, parent and child with joint_at, cm and the axes of both."""
    angle = -0.5
    hinge, tip = np.array([0.0, 0.0]), np.array([2.6 * np.cos(angle), 2.6 * np.sin(angle)])
    ground(axis, 0, 0.0, above=True)
    link(axis, hinge, tip)
    end = tip + 2.2 * np.array([np.cos(0.45), np.sin(0.45)])
    link(axis, tip, end)
    axes(axis, hinge, 0.9, angle, ("a.x", "a.y"))
    axes(axis, tip, 0.9, 0.45, ("b.x", "b.y"))
    middle = tip + 1.3 * np.array([np.cos(0.45), np.sin(0.45)])
    axis.plot(*middle, "o", color="black", ms=6)
    axis.text(*(middle + [0.12, -0.32]), "cm of b", fontsize=9)
    axis.annotate(
        "joint_at: hinge of b,\nin axes of a",
        tip,
        tip + [-1.9, -0.7],
        fontsize=9,
        arrowprops={"arrowstyle": "->", "color": "grey"},
    )
    axis.text(-0.95, 0.2, "ground n", fontsize=9)
    axis.text(1.0, -0.95, "parent a", fontsize=9, color=STEEL)
    axis.text(4.2, -0.75, "child b", fontsize=9, color=STEEL)
    axis.set(xlim=(-1.0, 5.2), ylim=(-2.4, 1.3))


def joints(axis: Any) -> None:
    """Joints as they are drawn in textbooks, with the arguments that make them."""
    made = (
        ("revolute", 'rotate="z"', "q: angle"),
        ("prismatic", 'translate="x"', "q: distance"),
        ("planar", 'translate=("x", "y"),\nrotate="z"', "q: 2 distances, angle"),
        ("spherical", 'rotate=("z", "y", "x")', "q: 3 angles"),
        ("screw", "joint=bc.Screw(pitch)", "q: angle"),
    )
    for i, (name, text, what) in enumerate(made):
        x = 2.4 * i
        axis.text(x, 1.25, name, ha="center", fontsize=11, weight="bold")
        axis.text(x, -1.1, text, ha="center", va="center", fontsize=7.5, family="monospace")
        axis.text(x, -1.6, what, ha="center", fontsize=8, color="grey")
        if name == "revolute":
            link(axis, (x, 0), (x + 0.7, 0.6))
            axis.add_patch(Circle((x, 0), 0.12, facecolor="white", edgecolor="black", zorder=3))
            axis.add_patch(Arc((x, 0), 1.3, 1.3, theta1=0, theta2=40, color=BLUE, lw=1.5))
            ground(axis, x, -0.3)
        elif name == "prismatic":
            axis.add_patch(Rectangle((x - 0.35, -0.17), 0.7, 0.4, color=STEEL, alpha=0.6))
            arrow(axis, (x - 0.4, 0.55), (0.8, 0), "", RED)
            ground(axis, x, -0.3, 1.8)
        elif name == "planar":
            axis.add_patch(Rectangle((x - 0.3, -0.2), 0.6, 0.4, angle=20, color=STEEL, alpha=0.6))
            arrow(axis, (x - 0.9, -0.6), (0.7, 0), "", RED)
            arrow(axis, (x - 0.9, -0.6), (0, 0.7), "", GREEN)
        elif name == "spherical":
            axis.add_patch(Circle((x, 0), 0.22, color=STEEL, alpha=0.7, zorder=3))
            axis.add_patch(Arc((x, 0), 0.62, 0.62, theta1=-150, theta2=-30, color="black", lw=1.5))
            link(axis, (x, 0), (x + 0.5, 0.75))
        else:
            link(axis, (x - 0.8, 0), (x + 0.8, 0), 12)
            for k in np.arange(-0.7, 0.75, 0.2):
                axis.plot([x + k - 0.05, x + k + 0.05], [-0.15, 0.15], color="black", lw=1)
            arrow(axis, (x - 0.4, 0.5), (0.8, 0), "", RED)
    axis.set(xlim=(-1.2, 10.9), ylim=(-1.9, 1.6))


def inertia(axis: Any) -> None:
    """A body with its origin, its centre of mass and the axes of its inertia."""
    axis.add_patch(Rectangle((-0.3, -0.35), 4.2, 1.0, angle=14, color=STEEL, alpha=0.3))
    axes(axis, (0, 0), 0.9, np.radians(14), ("b.x", "b.y"))
    axis.text(-0.15, -0.35, "origin: at the joint", fontsize=9)
    cm = np.array([2.1, 0.72])
    for letter, turn in (("x", 0.0), ("y", np.pi / 2)):
        by = (1.2 * np.cos(np.radians(14) + turn), 1.2 * np.sin(np.radians(14) + turn))
        arrow(axis, cm, by, f"$I_{{{letter}{letter}}}$", "black")
    axis.plot(*cm, "o", color="black", ms=7)
    arrow(axis, (0, 0), 0.93 * cm, "", "grey")
    axis.text(0.95, 0.62, "cm", fontsize=10, color="grey")
    axis.text(2.25, 0.42, "centre of mass", fontsize=9)
    axis.set(xlim=(-1.0, 4.6), ylim=(-0.8, 2.3))


def coordinates(axis: Any) -> None:
    """A body in a plane: coordinates along axes of the ground, speeds along its own axes."""
    angle, at = np.radians(35), np.array([2.6, 1.3])
    along, across = (
        np.array([np.cos(angle), np.sin(angle)]),
        np.array([-np.sin(angle), np.cos(angle)]),
    )
    axes(axis, (0, 0), 0.8, 0.0, ("n.x", "n.y"))
    axis.add_patch(
        Rectangle(at - 0.9 * along - 0.35 * across, 1.8, 0.7, angle=35, color=STEEL, alpha=0.3)
    )
    axis.plot([1.25, at[0], at[0]], [0, 0, at[1]], color="grey", lw=1, ls="--")
    axis.plot([at[0], 4.6], [at[1], at[1]], color="grey", lw=1, ls="--")
    axis.text(1.5, -0.35, "q(b, 1)", ha="center", fontsize=10, color=BLUE)
    axis.text(2.7, 0.25, "q(b, 2)", fontsize=10, color=BLUE)
    axis.add_patch(Arc(at, 3.2, 3.2, theta1=0, theta2=35, color=BLUE, lw=1.5))
    axis.text(4.3, 1.75, "q(b, 3)", fontsize=10, color=BLUE)
    arrow(axis, at, 1.9 * along, "u(b, 1)", RED)
    arrow(axis, at, 1.2 * across, "u(b, 2)", GREEN)
    axis.add_patch(Arc(at, 0.9, 0.9, theta1=150, theta2=300, color="black", lw=1.5))
    tip = at + 0.45 * np.array([np.cos(np.radians(300)), np.sin(np.radians(300))])
    arrow(axis, tip, (0.13, 0.09))
    axis.text(1.3, 0.75, "u(b, 3)", fontsize=10)
    axis.plot(*at, "o", color="black", ms=6)
    axis.set(xlim=(-0.5, 5.3), ylim=(-0.6, 2.9))


def assembly(axis: Any) -> None:
    """A four-bar linkage: cut open as a tree, and its two assemblies for one angle of the crank."""
    lengths, base = (1.0, 2.4, 2.0), 2.4
    angle = np.radians(70)
    for x, title, side in (
        (0.0, "tree: bodies and joints", 0),
        (4.6, "one assembly", 1),
        (9.2, "the other", -1),
    ):
        a, d = np.array([x, 0.0]), np.array([x + base, 0.0])
        b = a + lengths[0] * np.array([np.cos(angle), np.sin(angle)])
        gap = d - b
        far = float(np.hypot(*gap))
        along = (lengths[1] ** 2 - lengths[2] ** 2 + far**2) / (2 * far)
        normal = np.array([-gap[1], gap[0]]) / far
        joint = b + along * gap / far + (side or 1) * np.sqrt(lengths[1] ** 2 - along**2) * normal
        ends = (joint, joint) if side else (joint + [-0.35, 0.15], joint + [0.45, -0.05])
        for start, end in ((a, b), (b, ends[0]), (d, ends[1])):
            link(axis, start, end, 7)
        for pin in (a, b, d, *ends):
            axis.add_patch(Circle(pin, 0.1, facecolor="white", edgecolor="black", zorder=3))
        if not side:
            axis.plot(*zip(*ends, strict=True), color=RED, lw=1.4, ls=":")
            axis.text(
                joint[0] + 0.1, joint[1] + 0.35, "loop joint", ha="center", fontsize=9, color=RED
            )
            for text, at in (
                ("crank", (a + b) / 2),
                ("coupler", (b + ends[0]) / 2),
                ("rocker", (d + ends[1]) / 2),
            ):
                axis.text(at[0] + 0.15, at[1] - 0.25, text, fontsize=9)
        for pin in (a, d):
            ground(axis, pin[0], -0.12, 0.7)
        axis.text(x + base / 2, 3.25, title, ha="center", fontsize=10, weight="bold")
    axis.set(xlim=(-0.6, 12.6), ylim=(-2.2, 3.6))


def integrators(axis: Any) -> None:
    """Fixed steps and adaptive steps over one curve, whose fast part decays."""
    t = np.linspace(0, 5, 400)

    def curve(t: Any) -> Any:
        return np.cos(1.3 * t) + 1.1 * np.exp(-6 * t)

    adaptive = np.concatenate(
        [[0], np.cumsum([0.08, 0.1, 0.14, 0.2, 0.35, 0.6, 0.85, 0.9, 0.9, 0.88])]
    )
    for x, title, steps, below in (
        (0.0, "fixed step", np.linspace(0, 5, 21), "the same step everywhere"),
        (6.5, "adaptive", adaptive, "the tolerance sets the step"),
    ):
        axis.plot(x + t, curve(t), color=STEEL, lw=1.6)
        axis.plot(x + steps, curve(steps), "o", color=BLUE, ms=5)
        axis.vlines(x + steps, -1.55, -1.35, color=BLUE, lw=1.2)
        axis.plot([x, x + 5], [-1.45, -1.45], color="black", lw=1)
        axis.text(x + 2.5, 2.2, title, ha="center", fontsize=10, weight="bold")
        axis.text(x + 2.5, -2.0, below, ha="center", fontsize=9, color="grey")
        axis.text(x + 5.15, -1.5, "t", fontsize=10)
    axis.set(xlim=(-0.4, 12.0), ylim=(-2.3, 2.6))


def kane(axis: Any) -> None:
    """The pendulum on a cart of the tutorial."""
    ground(axis, 1.2, -0.55, 4.6)
    axis.add_patch(Rectangle((0.7, -0.45), 1.6, 0.6, color=STEEL, alpha=0.5))
    link(axis, (1.5, -0.15), (2.5, -1.9), 6)
    axis.plot([1.5, 1.5], [-0.15, -2.0], color="grey", lw=1, ls="--")
    axis.plot(2.5, -1.9, "o", color="black", ms=10)
    axis.add_patch(Arc((1.5, -0.15), 2.4, 2.4, theta1=-90, theta2=-60, color=BLUE, lw=1.5))
    axis.text(1.75, -1.55, "phi", color=BLUE)
    axis.text(2.15, -1.0, "l")
    axis.text(0.8, 0.25, "cart C")
    axis.text(2.7, -1.95, "pendulum P")
    axes(axis, (-0.9, -0.4), 0.9, 0.0, ("N1", "N2"))
    arrow(axis, (-0.9, 0.95), (2.3, 0), "x", "grey")
    axis.set(xlim=(-1.4, 4.2), ylim=(-2.3, 1.3))


SKETCHES: dict[str, tuple[Callable[[Any], None], tuple[float, float]]] = {
    "concepts/tree": (tree, (6.2, 3.7)),
    "concepts/joints": (joints, (9.7, 2.8)),
    "concepts/inertia": (inertia, (5.6, 3.1)),
    "concepts/coordinates": (coordinates, (5.8, 3.5)),
    "concepts/assembly": (assembly, (9.7, 4.3)),
    "concepts/integrators": (integrators, (8.8, 3.5)),
    "tutorials/kane_sketch": (kane, (5.6, 3.6)),
}

if __name__ == "__main__":
    matplotlib.rcParams["svg.hashsalt"] = "sketches"  # the same file each time
    for name, (draw, size) in SKETCHES.items():
        figure = Figure(figsize=size, layout="constrained")
        axis = figure.subplots()
        axis.set_aspect("equal")
        axis.axis("off")
        draw(axis)
        path = DOCS / "images" / f"{name}.svg"
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
