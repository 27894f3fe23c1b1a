"""The formulas of a model: everything in a description that holds one, and the dimension it must
give.

In:  a `Description` and the declared units of its outputs. Out: all of it in a
`FormulaGraphReader`, and the nodes of the outputs. Facts (masses, lengths) come first: what a
parameter is learnt to be first counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bellcrank.core.units import ANGLE, LENGTH, MASS, Dimension, Unit
from bellcrank.core.units import ONE as PURE
from bellcrank.mechanics.kinematics.dimensions.algebra import INERTIA
from bellcrank.mechanics.kinematics.dimensions.graph import DimensionNode
from bellcrank.mechanics.kinematics.dimensions.reading import FormulaGraphReader
from bellcrank.model.formula import to_syntax
from bellcrank.model.joints.joint import JointRecord
from bellcrank.model.joints.labels import body_label
from bellcrank.model.records import BodyRecord, Description, LoadRecord, ShapeRecord
from bellcrank.model.shapes import as_size_tuple
from bellcrank.symbolic.expr.formula_parser import syntax_to_text


def read_model(
    reader: FormulaGraphReader, d: Description, output_units: Mapping[str, Unit | None]
) -> dict[str, DimensionNode | None]:
    """Takes in all formulas; gives the nodes of the outputs."""
    for body in d.bodies:
        _read_body(reader, body)
    for point in d.points:
        for i, x in enumerate(point.at, 1):
            label = f"coordinate of {point.label or point.name} in dir {i}"
            reader.read_formula(x, f"point '{point.name}'", label, "coordinate", LENGTH)
    for shape in d.shapes:
        _read_shape(reader, shape)
    if d.gravity is not None:
        _read_load(reader, d.gravity)
    for name, value in d.definitions.items():
        reader.define(name, value)
    for load in d.forces:
        _read_load(reader, load)
    for state in d.states:
        reader.read_rate(state.name, state.rate, state.label or state.name)
    for i, constraint in enumerate(d.constraints, 1):
        e = constraint.expression
        location = f"constraint '{e if isinstance(e, str) else syntax_to_text(to_syntax(e))}'"
        reader.read_formula(e, location, constraint.label or f"constraint #{i}")
    for external in d.externals:
        for i, x in enumerate(external.arguments if external.returns else (), 1):
            reader.read_formula(
                x, f"external '{external.name}'", f"argument {i} of {external.name}"
            )
    values: dict[str, DimensionNode | None] = {}
    for output in d.outputs:
        unit = output_units.get(output.name)
        location, label, expected = (
            f"output '{output.name}'",
            output.label or output.name,
            unit.dimension if unit else None,
        )
        values[output.name] = reader.read_formula(
            output.expression, location, label, "value", expected, strict=True
        )
    return values


def _read_load(reader: FormulaGraphReader, load: LoadRecord) -> None:
    for value, label, option, dimension, dummies in load.given_formulas():
        reader.read_formula(value, load.message_label, label, option, dimension, dummies=dummies)


def _read_shape(reader: FormulaGraphReader, record: ShapeRecord) -> None:
    location, label = f"shape '{record.label or record.kind}'", f"size of a {record.kind}"
    for x in as_size_tuple(record.size):
        reader.read_formula(x, location, label, "size", PURE if record.kind == "mesh" else LENGTH)
    for point in record.at if record.kind == "line" else (record.at,):
        for x in point:
            reader.read_formula(x, location, f"coordinate of a {record.kind}", "at", LENGTH)


def _read_body(reader: FormulaGraphReader, record: BodyRecord) -> None:
    location, body = f"body '{record.name}'", body_label(record.name, record.label)
    mass = f"{record.name}m" if record.mass is None else record.mass
    reader.read_formula(mass, location, f"mass of {body}", "mass", MASS)
    for r, c, x in _inertia_entries(record):
        property_name = f"{'moment' if r == c else 'product'} of inertia"
        reader.read_formula(
            x, location, f"{property_name} of {body} ({r}{c})", property_name, INERTIA
        )
    for property_name, coordinates, point_label in (
        ("joint_at", record.joint_at, f"attachment point for {body}"),
        ("cm", record.cm, f"center of mass of {body}"),
    ):
        for i, x in enumerate(coordinates, 1):
            reader.read_formula(
                x, location, f"coordinate of {point_label} in dir {i}", property_name, LENGTH
            )
    for value, label, option, dimension in (
        record.joint.given_formulas(body) if isinstance(record.joint, JointRecord) else ()
    ):
        reader.read_formula(value, location, label, option, dimension)
    reader.read_formula(
        record.armature,
        location,
        f"armature of {body}",
        "armature",
        INERTIA if _is_rotational(record) else MASS,
    )
    for x, property_name, dimension in _orientation_entries(record.orientation):
        reader.read_formula(x, location, f"orientation of {body}", property_name, dimension)
    axis_options = (record.translate, record.rotate, record.rotation_axis, record.reference_axis)
    for property_name, axes in zip(
        ("translation", "rotation", "rotation", "reference"), axis_options, strict=True
    ):
        for axis in _component_axes(axes):
            reader.read_alike(axis, location, f"{property_name} axis of {body}")


def _inertia_entries(record: BodyRecord) -> Iterator[tuple[int, int, Any]]:
    """Row, column and value of the upper triangle, as far as it is given."""
    inertia = record.inertia
    if isinstance(inertia, int | float):
        return
    full = inertia is not None and _is_row(inertia[0])
    for r in (1, 2, 3):
        for c in range(r, 4):
            if inertia is None:
                yield r, c, f"{record.name}i{r}{c}"
            elif full:
                yield r, c, inertia[r - 1][c - 1]
            elif r == c:
                yield r, c, inertia[r - 1]


def _is_rotational(record: BodyRecord) -> bool:
    """Is the one speed of a body a rotation?"""
    has_no_translation = record.translate is None or (
        _is_row(record.translate) and len(record.translate) == 0
    )
    return has_no_translation or record.joint is not None


def _orientation_entries(orientation: Any) -> Iterator[tuple[Any, str, Dimension]]:
    """Entries of a rotation matrix, or the angles of turns, with their dimensions."""
    rows = (
        list(orientation)
        if isinstance(orientation, Sequence) or hasattr(orientation, "tolist")
        else []
    )
    is_sequence = len(rows) > 0 and all(map(_is_row, rows))
    if is_sequence and all(len(row) == 3 for row in rows):
        yield from ((x, "entry", PURE) for row in rows for x in row)
        return
    for axis_and_angle in rows if is_sequence else [rows]:
        if len(axis_and_angle) == 2:
            yield axis_and_angle[1], "angle", ANGLE


def _component_axes(axes: Any) -> list[Sequence[Any]]:
    """The axes that are given by components."""
    if axes is None or isinstance(axes, int | str):
        return []
    vectors = [a for a in axes if _is_row(a)]
    return vectors or ([] if all(isinstance(a, int | float) for a in axes) else [axes])


def _is_row(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str)
