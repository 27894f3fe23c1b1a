"""Shapes of bodies, for pictures and pages: what `add_shape` writes down."""

from __future__ import annotations

from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.core.files.stl import read_stl
from bellcrank.core.files.text_files import to_one_line
from bellcrank.model.describe.builder import Builder
from bellcrank.model.records import ShapeRecord


def add_shape(
    s: Builder,
    body: Any,
    kind: str,
    size: Any,
    at: Any,
    axis: Any,
    color: str | None,
    label: str | None,
    file: Any,
    opacity: Any = 1.0,
) -> None:
    """A shape of a body; the file of a mesh is read at once."""
    if not isinstance(kind, str):
        raise ModelError(f"add_shape: kind={kind!r} must be text, such as 'box'", s.name)
    if (file is not None) != (kind == "mesh"):
        message = (
            "needs file=, an STL file"
            if kind == "mesh"
            else f"has no file: file={str(file)!r} is for a 'mesh'"
        )
        raise ModelError(f"add_shape: a '{kind}' {message}", s.name)
    mesh = None if file is None else read_stl(file)
    shape_label = None if label is None else to_one_line(label)
    s.description.shapes.append(
        ShapeRecord(kind, body, size, at, axis, color, shape_label, mesh, opacity)
    )
