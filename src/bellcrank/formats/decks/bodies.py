"""add-body and add-point."""

from __future__ import annotations

from typing import Any

from bellcrank.formats.decks.machine import Nominal
from bellcrank.formats.decks.macros import Arguments
from bellcrank.formats.decks.state import DeckState
from bellcrank.formats.decks.values import Vector

MOST_BODIES = 200
ORIGIN: Vector = (0, 0, 0)
Axis = int | Vector


def add_body(deck: DeckState, given: Arguments) -> None:
    """A body with its joint; see `System.add_body`."""
    names, values = deck.names, deck.values
    if len(names.bodies) > MOST_BODIES:
        raise given.form.fail(f"a deck may have {MOST_BODIES} bodies")
    name = names.new(given.required[0], "body", names.bodies)
    parent = given.get("parent", names.body, "n")
    options: dict[str, Any] = {} if parent == "n" else {"parent": parent}
    options |= given.options(label=("name", lambda datum, what: _in_a_sentence(values.text(datum, what))))
    slides, axes, parent_axis = _joint(deck, given, parent)
    options |= {"translate": slides} if slides else {}
    options |= {"rotate": axes[0] if len(axes) == 1 else axes} if axes else {}
    options |= {} if parent_axis is None else {"rotation_axis": parent_axis}
    options |= given.options(reference_axis=("reference-axis", values.axis))
    options |= _places(deck, given, parent)
    options |= _mass(deck, given, name)
    turns = len(axes) or (parent_axis is not None)
    for keyword, count in (("small-angles", turns), ("small-translations", len(slides))):
        flags = values.flags(given.keywords.get(keyword), f":{keyword}", count)
        options |= {keyword.replace("-", "_"): flags} if flags else {}
    names.add_body(name, parent, len(slides) + turns)
    deck.call("add_body", name, **options)


def _in_a_sentence(label: str) -> str:
    """Names of bodies are read in the middle of messages: "Bus" is printed as "the bus" (Sayers 1990, section 9.4)."""
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


def _joint(deck: DeckState, given: Arguments, parent: str) -> tuple[tuple[Axis, ...], tuple[int, ...], Axis | None]:
    """Directions of translation and the first axis in the parent, the axes of rotation in the body."""
    values = deck.values
    slides = given.get("translate", values.axes, ())
    if len(slides) > 3:
        raise given.keywords["translate"].fail(f":translate has {len(slides)} directions; at most 3 are allowed")
    found = given.get("body-rotation-axes", values.axes, ())
    axes = tuple(a for a in found if isinstance(a, int))
    if len(axes) != len(found):
        raise given.keywords["body-rotation-axes"].fail(":body-rotation-axes holds axis numbers 1, 2 or 3")
    if len(axes) not in (0, 1, 3):
        hint = "use a massless body between two"
        raise given.keywords["body-rotation-axes"].fail(f"{len(axes)} rotations: a joint has 0, 1 or 3; {hint}")
    parent_axis = given.get("parent-rotation-axis", values.axis)
    system = given.get("coordinate-system", deck.names.body, parent)
    if system != parent:
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
    components = deck.values.components
    found = given.options(joint_at=("joint-coordinates", components), cm=("cm-coordinates", components))
    other = given.get("coordinate-system", deck.names.body)
    if other is None or not found or (other == parent and "cm" not in found):
        return found
    found.setdefault("joint_at", ORIGIN if other == parent else Nominal(deck.system).origin(parent, other))
    found.setdefault("cm", found["joint_at"])
    return {**found, "coordinates_of": other}


def _mass(deck: DeckState, given: Arguments, name: str) -> dict[str, Any]:
    """Mass and inertia; what is not given gets symbols named after the body."""
    symbol = given.required[0]
    for keyword, endings in (("mass", ("m",)), ("inertia-matrix", ("i11", "i12", "i22", "i13", "i23", "i33"))):
        for ending in () if keyword in given.keywords else endings:
            deck.names.scalar(f"{name}{ending}", symbol, symbol.fail)
    return given.options(mass=("mass", deck.values.scalar), inertia=("inertia-matrix", deck.values.inertia))


def add_point(deck: DeckState, given: Arguments) -> None:
    """A point of a body; see `System.add_point`."""
    names, values = deck.names, deck.values
    name = names.new(given.required[0], "point", {*names.points, "o"})
    body = given.get("body", names.body, "n")
    options: dict[str, Any] = {} if body == "n" else {"body": body}
    options |= given.options(at=("coordinates", values.components))
    other = given.get("coordinate-system", names.body, body)
    options |= {"coordinates_of": other} if other != body and "at" in options else {}
    options |= given.options(label=("name", values.text))
    names.points[name] = body
    deck.call("add_point", name, **options)
