"""add-body and add-point."""

from __future__ import annotations

from typing import Any

from bellcrank.formats.decks.argument_values import Vector
from bellcrank.formats.decks.macros import MacroArguments
from bellcrank.formats.decks.partial_mechanism import ReferenceConfiguration
from bellcrank.formats.decks.state import DeckState

MOST_BODIES = 200
ORIGIN: Vector = (0, 0, 0)
Axis = int | Vector


def add_body(deck: DeckState, arguments: MacroArguments) -> None:
    """A body with its joint; see `System.add_body`."""
    names, values = deck.names, deck.values
    if len(names.bodies) > MOST_BODIES:
        raise arguments.form.error(f"a deck may have {MOST_BODIES} bodies")
    name = names.new_name(arguments.required[0], "body", names.bodies)
    parent = arguments.keyword_value("parent", names.body_name, "n")
    options: dict[str, Any] = {} if parent == "n" else {"parent": parent}
    options |= arguments.system_options(
        label=("name", lambda datum, what: _lowercase_initial(values.read_text(datum, what)))
    )
    slides, axes, parent_axis = _read_joint(deck, arguments, parent)
    options |= {"translate": slides} if slides else {}
    options |= {"rotate": axes[0] if len(axes) == 1 else axes} if axes else {}
    options |= {} if parent_axis is None else {"rotation_axis": parent_axis}
    options |= arguments.system_options(reference_axis=("reference-axis", values.read_axis))
    options |= _read_positions(deck, arguments, parent)
    options |= _read_mass(deck, arguments, name)
    rotation_count = len(axes) or (parent_axis is not None)
    for keyword, count in (("small-angles", rotation_count), ("small-translations", len(slides))):
        flags = values.read_flags(arguments.keywords.get(keyword), f":{keyword}", count)
        options |= {keyword.replace("-", "_"): flags} if flags else {}
    names.add_body(name, parent, len(slides) + rotation_count)
    deck.add_call("add_body", name, **options)


def _lowercase_initial(label: str) -> str:
    """Names of bodies are read in the middle of messages: "Bus" is printed as "the bus" (Sayers
    1990, section 9.4)."""
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


def _read_joint(
    deck: DeckState, arguments: MacroArguments, parent: str
) -> tuple[tuple[Axis, ...], tuple[int, ...], Axis | None]:
    """Directions of translation and the first axis in the parent, the axes of rotation in the
    body."""
    values = deck.values
    slides = arguments.keyword_value("translate", values.read_axes, ())
    if len(slides) > 3:
        raise arguments.keywords["translate"].error(
            f":translate has {len(slides)} directions; at most 3 are allowed"
        )
    body_axes = arguments.keyword_value("body-rotation-axes", values.read_axes, ())
    axes = tuple(a for a in body_axes if isinstance(a, int))
    if len(axes) != len(body_axes):
        raise arguments.keywords["body-rotation-axes"].error(
            ":body-rotation-axes holds axis numbers 1, 2 or 3"
        )
    if len(axes) not in (0, 1, 3):
        hint = "use a massless body between two"
        raise arguments.keywords["body-rotation-axes"].error(
            f"{len(axes)} rotations: a joint has 0, 1 or 3; {hint}"
        )
    parent_axis = arguments.keyword_value("parent-rotation-axis", values.read_axis)
    system = arguments.keyword_value("coordinate-system", deck.names.body_name, parent)
    if system != parent:
        slides = tuple(_axis_in_frame(deck, system, parent, a) for a in slides)
        parent_axis = (
            None if parent_axis is None else _axis_in_frame(deck, system, parent, parent_axis)
        )
    if isinstance(parent_axis, int) and axes in ((), (parent_axis,)):
        return slides, (parent_axis,), None  # the same axis in parent and body
    return slides, axes, parent_axis


def _axis_in_frame(deck: DeckState, source: str, target: str, axis: Axis) -> Axis:
    components = axis if not isinstance(axis, int) else tuple(int(i == axis) for i in (1, 2, 3))
    rotated = ReferenceConfiguration(deck.system).direction_in_body(source, target, components)
    if isinstance(axis, int) and rotated == components:
        return axis
    return rotated[0], rotated[1], rotated[2]


def _read_positions(deck: DeckState, arguments: MacroArguments, parent: str) -> dict[str, Any]:
    """joint_at, cm and the body whose coordinates these are; by default the origins of parent and
    body."""
    components = deck.values.read_components
    options = arguments.system_options(
        joint_at=("joint-coordinates", components), cm=("cm-coordinates", components)
    )
    reference = arguments.keyword_value("coordinate-system", deck.names.body_name)
    if reference is None or not options or (reference == parent and "cm" not in options):
        return options
    options.setdefault(
        "joint_at",
        ORIGIN
        if reference == parent
        else ReferenceConfiguration(deck.system).origin_in_body(parent, reference),
    )
    options.setdefault("cm", options["joint_at"])
    return {**options, "coordinates_of": reference}


def _read_mass(deck: DeckState, arguments: MacroArguments, name: str) -> dict[str, Any]:
    """Mass and inertia; what is not given gets symbols named after the body."""
    symbol = arguments.required[0]
    for keyword, endings in (
        ("mass", ("m",)),
        ("inertia-matrix", ("i11", "i12", "i22", "i13", "i23", "i33")),
    ):
        for ending in () if keyword in arguments.keywords else endings:
            deck.names.scalar_name(f"{name}{ending}", symbol, symbol.error)
    return arguments.system_options(
        mass=("mass", deck.values.read_scalar), inertia=("inertia-matrix", deck.values.read_inertia)
    )


def add_point(deck: DeckState, arguments: MacroArguments) -> None:
    """A point of a body; see `System.add_point`."""
    names, values = deck.names, deck.values
    name = names.new_name(arguments.required[0], "point", {*names.points, "o"})
    body = arguments.keyword_value("body", names.body_name, "n")
    options: dict[str, Any] = {} if body == "n" else {"body": body}
    options |= arguments.system_options(at=("coordinates", values.read_components))
    reference = arguments.keyword_value("coordinate-system", names.body_name, body)
    options |= {"coordinates_of": reference} if reference != body and "at" in options else {}
    options |= arguments.system_options(label=("name", values.read_text))
    names.points[name] = body
    deck.add_call("add_point", name, **options)
