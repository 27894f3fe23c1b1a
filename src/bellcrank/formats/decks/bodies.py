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


def add_body(deck: DeckState, arguments: Arguments) -> None:
    """A body with its joint; see `System.add_body`."""
    names, values = deck.names, deck.values
    if len(names.bodies) > MOST_BODIES:
        raise arguments.form.fail(f"a deck may have {MOST_BODIES} bodies")
    name = names.new(arguments.required[0], "body", names.bodies)
    parent = arguments.get("parent", names.body, "n")
    options: dict[str, Any] = {} if parent == "n" else {"parent": parent}
    options |= arguments.options(label=("name", lambda datum, what: _in_a_sentence(values.text(datum, what))))
    slides, axes, parent_axis = _joint(deck, arguments, parent)
    options |= {"translate": slides} if slides else {}
    options |= {"rotate": axes[0] if len(axes) == 1 else axes} if axes else {}
    options |= {} if parent_axis is None else {"rotation_axis": parent_axis}
    options |= arguments.options(reference_axis=("reference-axis", values.axis))
    options |= _places(deck, arguments, parent)
    options |= _mass(deck, arguments, name)
    rotation_count = len(axes) or (parent_axis is not None)
    for keyword, count in (("small-angles", rotation_count), ("small-translations", len(slides))):
        flags = values.flags(arguments.keywords.get(keyword), f":{keyword}", count)
        options |= {keyword.replace("-", "_"): flags} if flags else {}
    names.add_body(name, parent, len(slides) + rotation_count)
    deck.call("add_body", name, **options)


def _in_a_sentence(label: str) -> str:
    """Names of bodies are read in the middle of messages: "Bus" is printed as "the bus" (Sayers 1990, section 9.4)."""
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


def _joint(deck: DeckState, arguments: Arguments, parent: str) -> tuple[tuple[Axis, ...], tuple[int, ...], Axis | None]:
    """Directions of translation and the first axis in the parent, the axes of rotation in the body."""
    values = deck.values
    slides = arguments.get("translate", values.axes, ())
    if len(slides) > 3:
        raise arguments.keywords["translate"].fail(f":translate has {len(slides)} directions; at most 3 are allowed")
    body_axes = arguments.get("body-rotation-axes", values.axes, ())
    axes = tuple(a for a in body_axes if isinstance(a, int))
    if len(axes) != len(body_axes):
        raise arguments.keywords["body-rotation-axes"].fail(":body-rotation-axes holds axis numbers 1, 2 or 3")
    if len(axes) not in (0, 1, 3):
        hint = "use a massless body between two"
        raise arguments.keywords["body-rotation-axes"].fail(f"{len(axes)} rotations: a joint has 0, 1 or 3; {hint}")
    parent_axis = arguments.get("parent-rotation-axis", values.axis)
    system = arguments.get("coordinate-system", deck.names.body, parent)
    if system != parent:
        slides = tuple(_turned(deck, system, parent, a) for a in slides)
        parent_axis = None if parent_axis is None else _turned(deck, system, parent, parent_axis)
    if isinstance(parent_axis, int) and axes in ((), (parent_axis,)):
        return slides, (parent_axis,), None  # the same axis in parent and body
    return slides, axes, parent_axis


def _turned(deck: DeckState, source: str, target: str, axis: Axis) -> Axis:
    components = axis if not isinstance(axis, int) else tuple(int(i == axis) for i in (1, 2, 3))
    rotated = Nominal(deck.system).turned(source, target, components)
    if isinstance(axis, int) and rotated == components:
        return axis
    return rotated[0], rotated[1], rotated[2]


def _places(deck: DeckState, arguments: Arguments, parent: str) -> dict[str, Any]:
    """joint_at, cm and the body whose coordinates these are; by default the origins of parent and body."""
    components = deck.values.components
    options = arguments.options(joint_at=("joint-coordinates", components), cm=("cm-coordinates", components))
    reference = arguments.get("coordinate-system", deck.names.body)
    if reference is None or not options or (reference == parent and "cm" not in options):
        return options
    options.setdefault("joint_at", ORIGIN if reference == parent else Nominal(deck.system).origin(parent, reference))
    options.setdefault("cm", options["joint_at"])
    return {**options, "coordinates_of": reference}


def _mass(deck: DeckState, arguments: Arguments, name: str) -> dict[str, Any]:
    """Mass and inertia; what is not given gets symbols named after the body."""
    symbol = arguments.required[0]
    for keyword, endings in (("mass", ("m",)), ("inertia-matrix", ("i11", "i12", "i22", "i13", "i23", "i33"))):
        for ending in () if keyword in arguments.keywords else endings:
            deck.names.scalar(f"{name}{ending}", symbol, symbol.fail)
    return arguments.options(mass=("mass", deck.values.scalar), inertia=("inertia-matrix", deck.values.inertia))


def add_point(deck: DeckState, arguments: Arguments) -> None:
    """A point of a body; see `System.add_point`."""
    names, values = deck.names, deck.values
    name = names.new(arguments.required[0], "point", {*names.points, "o"})
    body = arguments.get("body", names.body, "n")
    options: dict[str, Any] = {} if body == "n" else {"body": body}
    options |= arguments.options(at=("coordinates", values.components))
    reference = arguments.get("coordinate-system", names.body, body)
    options |= {"coordinates_of": reference} if reference != body and "at" in options else {}
    options |= arguments.options(label=("name", values.text))
    names.points[name] = body
    deck.call("add_point", name, **options)
