"""The formulas of a model: everything in a description that holds one, and the dimension it must give.

In:  a `Description` and the declared units of its outputs. Out: all of it in a `Reader`, and the nodes of the outputs.
Facts (masses, lengths) come first: what a parameter is learnt to be first counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bellcrank.expr.text import show
from bellcrank.kinematics.dimensions.algebra import INERTIA
from bellcrank.kinematics.dimensions.graph import Node
from bellcrank.kinematics.dimensions.reading import Reader
from bellcrank.model.formula import to_syntax
from bellcrank.model.joints.joint import JointRecord
from bellcrank.model.joints.words import called
from bellcrank.model.records import BodyRecord, Description, LoadRecord, ShapeRecord
from bellcrank.model.shapes import listed
from bellcrank.units import ANGLE, LENGTH, MASS, Dimension, Unit
from bellcrank.units import ONE as PURE


def read_model(reader: Reader, d: Description, output_units: Mapping[str, Unit | None]) -> dict[str, Node | None]:
    """Takes in all formulas; gives the nodes of the outputs."""
    for body in d.bodies:
        _read_body(reader, body)
    for point in d.points:
        for i, x in enumerate(point.at, 1):
            words = f"coordinate of {point.label or point.name} in dir {i}"
            reader.read(x, f"point '{point.name}'", words, "coordinate", LENGTH)
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
        where = f"constraint '{e if isinstance(e, str) else show(to_syntax(e))}'"
        reader.read(e, where, constraint.label or f"constraint #{i}")
    for external in d.externals:
        for i, x in enumerate(external.arguments if external.returns else (), 1):
            reader.read(x, f"external '{external.name}'", f"argument {i} of {external.name}")
    values: dict[str, Node | None] = {}
    for output in d.outputs:
        unit = output_units.get(output.name)
        where, words, needed = f"output '{output.name}'", output.label or output.name, unit.dimension if unit else None
        values[output.name] = reader.read(output.expression, where, words, "value", needed, strict=True)
    return values


def _read_load(reader: Reader, load: LoadRecord) -> None:
    for value, words, option, dimension, dummies in load.formulas():
        reader.read(value, load.where, words, option, dimension, dummies=dummies)


def _read_shape(reader: Reader, record: ShapeRecord) -> None:
    where, words = f"shape '{record.label or record.kind}'", f"size of a {record.kind}"
    for x in listed(record.size):
        reader.read(x, where, words, "size", PURE if record.kind == "mesh" else LENGTH)
    for point in record.at if record.kind == "line" else (record.at,):
        for x in point:
            reader.read(x, where, f"coordinate of a {record.kind}", "at", LENGTH)


def _read_body(reader: Reader, record: BodyRecord) -> None:
    where, body = f"body '{record.name}'", called(record.name, record.label)
    mass = f"{record.name}m" if record.mass is None else record.mass
    reader.read(mass, where, f"mass of {body}", "mass", MASS)
    for r, c, x in _inertia(record):
        what = f"{'moment' if r == c else 'product'} of inertia"
        reader.read(x, where, f"{what} of {body} ({r}{c})", what, INERTIA)
    for what, at, place in (
        ("joint_at", record.joint_at, f"attachment point for {body}"),
        ("cm", record.cm, f"center of mass of {body}"),
    ):
        for i, x in enumerate(at, 1):
            reader.read(x, where, f"coordinate of {place} in dir {i}", what, LENGTH)
    for value, words, option, dimension in record.joint.formulas(body) if isinstance(record.joint, JointRecord) else ():
        reader.read(value, where, words, option, dimension)
    reader.read(record.armature, where, f"armature of {body}", "armature", INERTIA if _turns(record) else MASS)
    for x, what, dimension in _oriented(record.orientation):
        reader.read(x, where, f"orientation of {body}", what, dimension)
    given = (record.translate, record.rotate, record.rotation_axis, record.reference_axis)
    for what, axes in zip(("translation", "rotation", "rotation", "reference"), given, strict=True):
        for axis in _axes(axes):
            reader.read_alike(axis, where, f"{what} axis of {body}")


def _inertia(record: BodyRecord) -> Iterator[tuple[int, int, Any]]:
    """Row, column and value of the upper triangle, as far as it is given."""
    given = record.inertia
    if isinstance(given, int | float):
        return
    full = given is not None and _is_row(given[0])
    for r in (1, 2, 3):
        for c in range(r, 4):
            if given is None:
                yield r, c, f"{record.name}i{r}{c}"
            elif full:
                yield r, c, given[r - 1][c - 1]
            elif r == c:
                yield r, c, given[r - 1]


def _turns(record: BodyRecord) -> bool:
    """Is the one speed of a body a rotation?"""
    none = record.translate is None or (_is_row(record.translate) and len(record.translate) == 0)
    return none or record.joint is not None


def _oriented(given: Any) -> Iterator[tuple[Any, str, Dimension]]:
    """Entries of a rotation matrix, or the angles of turns, with their dimensions."""
    rows = list(given) if isinstance(given, Sequence) or hasattr(given, "tolist") else []
    several = len(rows) > 0 and all(map(_is_row, rows))
    if several and all(len(row) == 3 for row in rows):
        yield from ((x, "entry", PURE) for row in rows for x in row)
        return
    for turn in rows if several else [rows]:
        if len(turn) == 2:
            yield turn[1], "angle", ANGLE


def _axes(given: Any) -> list[Sequence[Any]]:
    """The axes that are given by components."""
    if given is None or isinstance(given, int | str):
        return []
    vectors = [a for a in given if _is_row(a)]
    return vectors or ([] if all(isinstance(a, int | float) for a in given) else [given])


def _is_row(given: Any) -> bool:
    return hasattr(given, "__len__") and not isinstance(given, str)
