"""add-body and add-point."""

from __future__ import annotations

from typing import Any

from bellcrank.formats.decks.machine import Nominal
from bellcrank.formats.decks.macros import Arguments
from bellcrank.formats.decks.state import DeckState
from bellcrank.formats.decks.values import Vector

ORIGIN: Vector = (0, 0, 0)
Axis = int | Vector


def add_body(deck: DeckState, given: Arguments) -> None:
    """A body with its joint; see `System.add_body`."""
    names, values, symbol = deck.names, deck.values, given.required[0]
    name = names.new(symbol, "body", names.bodies)
    parent = "n" if (p := given.get("parent")) is None else names.body(p, ":parent")
    options: dict[str, Any] = {} if parent == "n" else {"parent": parent}
    if (label := given.get("name")) is not None:
        options["label"] = _in_a_sentence(values.text(label, ":name"))
    slides, axes, parent_axis = _joint(deck, given, parent)
    options |= {"translate": slides} if slides else {}
    options |= {"rotate": axes[0] if len(axes) == 1 else axes} if axes else {}
    options |= {} if parent_axis is None else {"rotation_axis": parent_axis}
    if (reference := given.get("reference-axis")) is not None:
        options["reference_axis"] = values.axis(reference, ":reference-axis")
    options |= _places(deck, given, parent)
    options |= _mass(deck, given, name)
    turns = len(axes) or (parent_axis is not None)
    for keyword, count in (("small-angles", turns), ("small-translations", len(slides))):
        flags = values.flags(given.get(keyword), f":{keyword}", count)
        options |= {keyword.replace("-", "_"): flags} if flags else {}
    names.add_body(name, parent, len(slides) + turns)
    deck.call("add_body", name, **options)


def _in_a_sentence(label: str) -> str:
    """Names of bodies are read in the middle of sentences: "Bus" is printed as "the bus" (Sayers 1990, section 9.4)."""
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


def _joint(deck: DeckState, given: Arguments, parent: str) -> tuple[tuple[Axis, ...], tuple[int, ...], Axis | None]:
    """Directions of translation and the first axis in the parent, the axes of rotation in the body."""
    values = deck.values
    slides = values.axes(given.get("translate"), ":translate")
    if len(slides) > 3:
        raise given.keywords["translate"].fail(f":translate has {len(slides)} directions; at most 3 are allowed")
    found = values.axes(given.get("body-rotation-axes"), ":body-rotation-axes")
    axes = tuple(a for a in found if isinstance(a, int))
    if len(axes) != len(found):
        raise given.keywords["body-rotation-axes"].fail(":body-rotation-axes holds axis numbers 1, 2 or 3")
    if len(axes) not in (0, 1, 3):
        hint = "use a massless body between two"
        raise given.keywords["body-rotation-axes"].fail(f"{len(axes)} rotations: a joint has 0, 1 or 3; {hint}")
    first = given.get("parent-rotation-axis")
    parent_axis = None if first is None else values.axis(first, ":parent-rotation-axis")
    other = given.get("coordinate-system")
    if other is not None and (system := deck.names.body(other, ":coordinate-system")) != parent:
        slides = tuple(_turned(deck, system, parent, a) for a in slides)
        parent_axis = None if parent_axis is None else _turned(deck, system, parent, parent_axis)
    if isinstance(parent_axis, int) and axes in ((), (parent_axis,)):
        return slides, (parent_axis,), None  # the same axis in parent and body
    return slides, axes, parent_axis


def _turned(deck: DeckState, given: str, wanted: str, axis: Axis) -> Axis:
    components = axis if not isinstance(axis, int) else tuple(int(i == axis) for i in (1, 2, 3))
    found = Nominal(deck.system).turned(given, wanted, components)
    if isinstance(axis, int) and found == components:
        return axis
    return found[0], found[1], found[2]


def _places(deck: DeckState, given: Arguments, parent: str) -> dict[str, Any]:
    """joint_at, cm and the body whose coordinates these are; by default the origins of parent and body."""
    values = deck.values
    joint, cm, system = given.get("joint-coordinates"), given.get("cm-coordinates"), given.get("coordinate-system")
    found: dict[str, Any] = {}
    if joint is not None:
        found["joint_at"] = values.components(joint, ":joint-coordinates")
    if cm is not None:
        found["cm"] = values.components(cm, ":cm-coordinates")
    if system is None or not found:
        return found
    other = deck.names.body(system, ":coordinate-system")
    if other == parent and cm is None:
        return found
    found.setdefault("joint_at", ORIGIN if other == parent else Nominal(deck.system).origin(parent, other))
    found.setdefault("cm", found["joint_at"])
    return {**found, "coordinates_of": other}


def _mass(deck: DeckState, given: Arguments, name: str) -> dict[str, Any]:
    """Mass and inertia; what is not given gets symbols named after the body."""
    found: dict[str, Any] = {}
    symbol = given.required[0]
    if (mass := given.get("mass")) is not None:
        found["mass"] = deck.values.scalar(mass, ":mass")
    else:
        deck.names.scalar(f"{name}m", symbol, symbol.fail)
    if (inertia := given.get("inertia-matrix")) is not None:
        found["inertia"] = deck.values.inertia(inertia)
    else:
        for ending in ("11", "12", "22", "13", "23", "33"):
            deck.names.scalar(f"{name}i{ending}", symbol, symbol.fail)
    return found


def add_point(deck: DeckState, given: Arguments) -> None:
    """A point of a body; see `System.add_point`."""
    names, values = deck.names, deck.values
    name = names.new(given.required[0], "point", {*names.points, "o"})
    body = "n" if (b := given.get("body")) is None else names.body(b, ":body")
    options: dict[str, Any] = {} if body == "n" else {"body": body}
    if (at := given.get("coordinates")) is not None:
        options["at"] = values.components(at, ":coordinates")
    if (system := given.get("coordinate-system")) is not None:
        other = names.body(system, ":coordinate-system")
        options |= {} if other == body or at is None else {"coordinates_of": other}
    if (label := given.get("name")) is not None:
        options["label"] = values.text(label, ":name")
    names.points[name] = body
    deck.call("add_point", name, **options)
