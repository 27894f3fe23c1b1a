"""STL files: the triangles of a body, from text or from 50 bytes each."""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bellcrank.core.errors import BellcrankError, ModelError
from bellcrank.core.files.text_files import reject_device

LARGEST = 200_000  # triangles that a picture takes
Point = tuple[float, float, float]


@dataclass(frozen=True)
class Mesh:
    """Corners, and triangles as the numbers of three corners each."""

    points: tuple[Point, ...]
    faces: tuple[tuple[int, int, int], ...]


def read_stl(path: str | Path, error: type[BellcrankError] = ModelError) -> Mesh:
    """The triangles of a file; corners that several share are one."""
    reject_device(path, error)
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(84 + 50 * LARGEST * 8 + 1)  # text takes some 250 bytes for each
    except (OSError, ValueError) as found:
        raise error(f"cannot read {path}: {getattr(found, 'strerror', None) or found}") from None
    corners = _parse_binary(data) if _is_binary(data) else _parse_ascii(data)
    if corners is None or not len(corners):
        raise error(f"cannot read {path}: it is no STL file with triangles")
    if len(corners) > LARGEST:
        raise error(
            f"cannot read {path}: it has {len(corners)} triangles; pictures take up to {LARGEST}"
        )
    if not np.isfinite(corners).all():
        raise error(f"cannot read {path}: a corner is no finite number")
    points, corner_indices = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    faces = corner_indices.reshape(-1, 3).tolist()
    return Mesh(tuple(map(tuple, points.tolist())), tuple((a, b, c) for a, b, c in faces))


def _is_binary(data: bytes) -> bool:
    """A file with as many bytes as its count of triangles asks for, whatever its first word."""
    return len(data) >= 84 and len(data) == 84 + 50 * struct.unpack_from("<I", data, 80)[0]


def _parse_binary(data: bytes) -> np.ndarray:
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    return np.frombuffer(data, record, offset=84)["corners"].astype(float)


def _parse_ascii(data: bytes) -> np.ndarray | None:
    vertices = re.findall(rb"vertex\s+(\S{1,40})\s+(\S{1,40})\s+(\S{1,40})", data)
    if not data.lstrip().startswith(b"solid") or len(vertices) % 3:
        return None
    try:
        return np.array([[float(x) for x in row] for row in vertices]).reshape(-1, 3, 3)
    except ValueError:
        return np.full((1, 3, 3), math.nan)
