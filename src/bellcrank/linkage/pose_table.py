"""Tables of poses: a linkage at the nodes of a grid, interpolated with the interface of the exact
linkage."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from bellcrank.core.argument_checks import validate_arguments
from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.atomic import write_text
from bellcrank.core.files.record import report_io_errors
from bellcrank.core.files.text_files import parse_json, read_text
from bellcrank.linkage.bicubic_poses import BicubicCells, bicubic_cells
from bellcrank.linkage.chain import Chain, ChainInput, ChainJoint, ChainRod, ChainStrut, HardPoint
from bellcrank.linkage.pose import ONE_INPUT, POLAR, TWO_INPUTS, Pose, combine_poses, mirrored
from bellcrank.linkage.pose_interpolation import (
    SCHEMES,
    PosePolynomials,
    ThreeRotations,
    interpolant,
)
from bellcrank.linkage.rotations import rotation_angle

Array = np.ndarray[Any, Any]

FORMAT = "bellcrank linkage table 1"
MOST = 20001  # nodes
ORDER = {"quintic": 6, "cubic": 4, "three-rotations": 3}
_STATED = ("name", "kind", "bodies", "carrier", "wheel_centre", "axes", "side", "note")
_LISTED = {"joints": ChainJoint, "rods": ChainRod, "inputs": ChainInput, "struts": ChainStrut}


class PoseSource(Protocol):
    """What a table is made from: a `Linkage`, as far as it is asked here."""

    @property
    def chain(self) -> Chain: ...
    @property
    def inputs(self) -> tuple[str, ...]: ...
    @property
    def links(self) -> list[str]: ...
    @property
    def origins(self) -> Mapping[str, Any]: ...
    def range(self) -> tuple[float, float]: ...
    def solve(
        self, travel: Any, rack: Any = None, *, roll: Any = None, links: Sequence[str] | None = None
    ) -> Pose: ...


@dataclass(frozen=True, eq=False)
class Table:
    """Poses of a linkage at the nodes of a uniform grid.

    `travel` (m) and, with two inputs, `rack` are the nodes; `nodes` holds the poses there by link,
    the carrier under its own name; `scheme` is quintic, cubic, three-rotations or (two inputs)
    bicubic. `errors` are the largest differences from the exact linkage that were measured when a
    table was made for an accuracy: m, rad, and their derivatives per m.
    """

    chain: Chain
    origins: Mapping[str, Any]
    travel: Array
    nodes: Mapping[str, Pose]
    scheme: str = "quintic"
    rack: Array | None = None
    errors: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    @validate_arguments
    def read(cls, path: str | Path) -> Table:
        """Read a table of a linkage that `Table.save` wrote.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Table
            The table, for `System.add_linkage`.

        Raises
        ------
        ModelError
            If the file is no such table.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import bellcrank as bc
        >>> table = bc.linkage.Linkage.read("trailing_arm").table(accuracy=1e-4)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = table.save(Path(folder) / "arm.json")
        ...     again = bc.linkage.Table.read(Path(folder) / "arm.json")
        >>> again.travel.tolist() == table.travel.tolist()
        True
        """
        data = parse_json(read_text(path, ModelError), path, ModelError)
        try:
            if not isinstance(data, dict) or data.get("format") != FORMAT:
                raise ValueError(f"its format is not '{FORMAT}'")
            nodes = {
                n: _poses_at_nodes(data["travel"], fields) for n, fields in data["nodes"].items()
            }
            chain, travel = _chain_from_dict(data["linkage"]), np.array(data["travel"])
            rack = None if data["rack"] is None else np.array(data["rack"])
            return cls(chain, data["origins"], travel, nodes, data["scheme"], rack, data["errors"])
        except (
            ArithmeticError,
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
            MemoryError,
        ) as error:
            raise ModelError(f"'{path}' cannot be read as a linkage table: {error}") from None

    def __repr__(self) -> str:
        size = (
            f"{len(self.travel)}" if self.rack is None else f"{len(self.travel)} x {len(self.rack)}"
        )
        return (
            f"Table('{self.chain.name}', {self.scheme}, {size} nodes, travel {self.low:.6g} to "
            f"{self.high:.6g} m)"
        )

    @property
    def name(self) -> str:
        return self.chain.name

    @property
    def inputs(self) -> tuple[str, ...]:
        kinds = tuple(i.kind for i in self.chain.inputs)
        return kinds if self.rack is not None else kinds[:1]

    @property
    def links(self) -> list[str]:
        return [n for n in self.nodes if n != self.chain.carrier]

    @property
    def low(self) -> float:
        return float(self.travel[0])

    @property
    def high(self) -> float:
        return float(self.travel[-1])

    @property
    def step(self) -> float:
        return _grid_step(self.travel)

    def range(self) -> tuple[float, float]:
        """Lowest and highest travel of the table, m."""
        return self.low, self.high

    @cached_property
    def pieces(self) -> dict[str, PosePolynomials | ThreeRotations]:
        """Interpolants of a table of one input, by link."""
        return {n: interpolant(p, self.step, self.scheme) for n, p in self.nodes.items()}

    @cached_property
    def cells(self) -> dict[str, BicubicCells]:
        """Interpolants of a table of two inputs, by link."""
        assert self.rack is not None
        return {
            n: bicubic_cells(p, self.step, _grid_step(self.rack)) for n, p in self.nodes.items()
        }

    def solve(
        self,
        travel: Any,
        rack: Any = None,
        *,
        roll: Any = None,
        links: Sequence[str] | None = None,
        extend: bool = False,
    ) -> Pose:
        """The interpolated pose at a travel (m), scalar or array. Outside the table: an error, or
        with `extend=True` the pose continues straight (constant d, rotation vector linear from the
        last node) and `pose.extended` is true there."""
        second = rack if roll is None else roll
        if self.rack is None and second is not None and np.any(np.asarray(second) != 0):
            raise ModelError(f"table '{self.name}' has no second input")
        inputs = [travel] if self.rack is None else [travel, 0.0 if second is None else second]
        arrays = np.broadcast_arrays(*(np.asarray(x, float) for x in inputs))
        z = arrays[0].ravel()
        z_in = self._clip_to_grid(z, self.travel, "travel", extend)
        i, s = _locate_cell(z_in, self.travel)
        r = r_in = zeros = np.zeros_like(z)
        if self.rack is not None:
            r = arrays[1].ravel()
            r_in = self._clip_to_grid(r, self.rack, self.inputs[1], extend)
        beyond = (z - z_in, r - r_in) if extend else (zeros, zeros)
        extended = (beyond[0] != 0) | (beyond[1] != 0)
        poses = {}
        for name in [self.chain.carrier, *(self.links if links is None else links)]:
            if self.rack is None:
                data: dict[str, Any] = dict(self.pieces[name].pose_at(i, s, beyond[0]))
            else:
                data = {
                    "rack": r,
                    **self.cells[name].pose_at(i, s, *_locate_cell(r_in, self.rack), beyond),
                }
            if extended.any():
                data["extended"] = extended
            poses[name] = Pose(travel=z, **data)
        return combine_poses(poses, self.chain, self.origins).reshaped(arrays[0].shape)

    def _clip_to_grid(self, x: Array, grid: Array, label: str, extend: bool) -> Array:
        inner = np.clip(x, grid[0], grid[-1])
        slack = 1e-12 * (grid[-1] - grid[0])
        if not np.isfinite(x).all():
            raise ModelError(f"table '{self.name}': {label} is not a finite number")
        if not extend and (np.abs(x - inner) > slack).any():
            worst = x[np.argmax(np.abs(x - inner))]
            raise ModelError(
                f"table '{self.name}': {label} {worst:.6g} lies outside its nodes, which go "
                f"from {grid[0]:.6g} to "
                f"{grid[-1]:.6g}; make a larger table, or use extend=True to continue straight"
            )
        return inner

    def mirror(self) -> Table:
        """The table of the same linkage on the other side of the vehicle."""
        nodes = {n: mirrored(p) for n, p in self.nodes.items()}
        rack = None
        if (
            self.rack is not None
        ):  # a rack moves both sides the same way, so that the mirror turns its sense
            rack = -self.rack[::-1]
            nodes = {n: p[:, ::-1] for n, p in nodes.items()}
        origins = {n: tuple(float(x) for x in np.array(o) * POLAR) for n, o in self.origins.items()}
        return replace(self, chain=self.chain.mirrored(), origins=origins, nodes=nodes, rack=rack)

    def compare(self, linkage: PoseSource, per_interval: int = 4) -> dict[str, float]:
        """Largest differences of carrier and links from the exact linkage at points inside the
        intervals: position (m), angle (rad), d, delta, dd, ddelta."""
        z = _interior_points(self.travel, per_interval)
        second: dict[str, Any] = {}
        if self.rack is not None:
            z, second[self.inputs[1]] = np.meshgrid(
                z, _interior_points(self.rack, per_interval), indexing="ij"
            )
        interpolated, exact = (
            self.solve(z, *second.values()),
            linkage.solve(z, links=self.links, **second),
        )
        errors = [
            pose_differences(interpolated, exact),
            *(pose_differences(interpolated.link[n], exact.link[n]) for n in self.links),
        ]
        return {measure: max(f[measure] for f in errors) for measure in errors[0]}

    # ---- files

    def save(self, path: str | Path) -> Path:
        """Writes the table as JSON: the linkage, the grid, and the pose with two derivatives at
        every node."""
        fields = ONE_INPUT if self.rack is None else TWO_INPUTS
        data = {
            "format": FORMAT,
            "linkage": _chain_as_dict(self.chain),
            "origins": {n: list(map(float, o)) for n, o in self.origins.items()},
            "scheme": self.scheme,
            "travel": self.travel.tolist(),
            "rack": None if self.rack is None else self.rack.tolist(),
            "errors": dict(self.errors),
            "nodes": {
                n: {f: getattr(p, f).tolist() for f in fields} for n, p in self.nodes.items()
            },
        }
        report_io_errors("write", Path(path), lambda: write_text(path, json.dumps(data)))
        return Path(path)

    def save_transformations(self, path: str | Path, link: str | None = None) -> Path:
        """Writes the carrier (or a link) in the table format of Houdek (2020), section 4.1: the
        number of nodes, then for each travel, three rows of the transformation (rotation and
        position), d and delta. It holds no second derivatives."""
        if self.rack is not None:
            raise ModelError(f"table '{self.name}': this format holds one input only")
        p = self.nodes[link or self.chain.carrier]
        lines = [str(len(self.travel))]
        for k, u in enumerate(self.travel):
            lines.append(repr(float(u)))
            lines += [
                " ".join(repr(float(x)) for x in (*p.rotation[k, r], p.position[k, r]))
                for r in range(3)
            ]
            lines += [" ".join(repr(float(x)) for x in v[k]) for v in (p.d, p.delta)]
        report_io_errors("write", Path(path), lambda: write_text(path, "\n".join(lines) + "\n"))
        return Path(path)


def _poses_at_nodes(travel: Any, fields: Mapping[str, Any]) -> Pose:
    arrays: dict[str, Any] = {f: np.array(fields[f], float) for f in TWO_INPUTS if f in fields}
    return Pose(travel=np.array(travel), **arrays)


def make_table(
    linkage: PoseSource,
    step: float | None,
    accuracy: float | None,
    range: tuple[float, float] | None,
    rack: tuple[float, float] | None,
    rack_step: float | None,
    scheme: str,
    links: Sequence[str] | None,
) -> Table:
    """A table over `range` (default: the travel the file states, else the inner nine tenths of the
    reachable one) with nodes about every `step` m, or as many as the wanted `accuracy` (m in
    position, rad in rotation) asks for. With `rack=(low, high)` it is a bicubic table of travel and
    the second input."""
    if scheme not in SCHEMES:
        guess = did_you_mean(scheme, SCHEMES)
        raise ModelError(
            f"scheme={scheme!r} is not known; it is one of {', '.join(SCHEMES)}.{guess}"
        )
    if (step is None) == (accuracy is None):
        raise ModelError("a table needs either step= (m) or accuracy= (m and rad)")
    for option, x in (("step", step), ("accuracy", accuracy), ("rack_step", rack_step)):
        if x is not None and not (math.isfinite(x) and x > 0):
            raise ModelError(f"{option}={x!r} must be positive")
    if rack is not None and len(linkage.inputs) == 1:
        raise ModelError(f"linkage '{linkage.chain.name}' has no second input for rack={rack}")
    low, high = range or default_range(linkage)
    if not low < high:
        raise ModelError(f"range={range!r}: the lower end must lie below the upper one")
    link_names = linkage.links if links is None else list(links)

    def build(n: int, m: int) -> Table:
        if (n + 1) * (m + 1) > MOST * (10 if m else 1):
            size = f"{n + 1} nodes{f' by {m + 1}' if m else ''}"
            raise ModelError(f"a table of {size} is too large; use a larger step or accuracy")
        travel, racks = (
            np.linspace(low, high, n + 1),
            None if rack is None else np.linspace(*rack, m + 1),
        )
        if racks is None:
            pose = linkage.solve(travel, links=link_names)
        else:
            zz, rr = np.meshgrid(travel, racks, indexing="ij")
            pose = linkage.solve(zz, links=link_names, **{linkage.inputs[1]: rr})
        nodes = {linkage.chain.carrier: pose, **pose.link}
        return Table(
            linkage.chain,
            linkage.origins,
            travel,
            nodes,
            scheme if racks is None else "bicubic",
            racks,
        )

    if step is not None:
        return build(
            _interval_count(high - low, step),
            0 if rack is None else _interval_count(rack[1] - rack[0], rack_step or step),
        )
    assert accuracy is not None
    # the error is measured at four points of every interval, for all parts
    order, n, m = (ORDER[scheme], 8, 0) if rack is None else (4, 8, 4)
    while True:
        table = build(n, m)
        errors = table.compare(linkage)
        worst = max(errors["position"], errors["angle"])
        if worst <= accuracy:
            return replace(table, errors=errors)
        factor = min(8.0, max(1.15, 1.05 * (worst / accuracy) ** (1.0 / order)))
        n, m = math.ceil(n * factor), math.ceil(m * factor)


def default_range(linkage: PoseSource) -> tuple[float, float]:
    vehicle = linkage.chain.vehicle
    low, high = linkage.range()
    inner = 0.05 * (high - low)
    return vehicle.get("travel_low", low + inner), vehicle.get("travel_high", high - inner)


def _interval_count(length: float, step: float) -> int:
    return max(1, math.ceil(length / step - 1e-9))


def pose_differences(a: Pose, b: Pose) -> dict[str, float]:
    """Largest differences of two sets of poses: position, angle, d, delta, dd, ddelta."""

    def size(x: Array) -> float:
        return float(np.sqrt((x * x).sum(-1)).max())

    result = {
        "position": size(a.position - b.position),
        "angle": float(rotation_angle(a.rotation, b.rotation).max()),
    }
    return result | {f: size(getattr(a, f) - getattr(b, f)) for f in ("d", "delta", "dd", "ddelta")}


def _grid_step(grid: Array) -> float:
    return float((grid[-1] - grid[0]) / (len(grid) - 1))


def _locate_cell(x: Array, grid: Array) -> tuple[Array, Array]:
    n = len(grid) - 1
    position = (x - grid[0]) * (n / (grid[-1] - grid[0]))
    i = np.clip(np.floor(position).astype(int), 0, n - 1)
    return i, position - i


def _interior_points(grid: Array, k: int) -> Array:
    inner = (np.arange(k) + 0.5) / k
    return (grid[:-1, None] + np.diff(grid)[:, None] * inner).ravel()


def _chain_as_dict(chain: Chain) -> dict[str, Any]:
    data = {f: getattr(chain, f) for f in _STATED}
    data |= {
        "points": {n: asdict(p) for n, p in chain.points.items()},
        "vehicle": dict(chain.vehicle),
    }
    return data | {f: [asdict(x) for x in getattr(chain, f)] for f in _LISTED}


def _chain_from_dict(data: dict[str, Any]) -> Chain:
    """A chain from what `_chain_as_dict` wrote."""

    def tuples(x: Any) -> Any:
        return tuple(tuples(y) for y in x) if isinstance(x, list) else x

    def record_from_row(kind: Any, row: dict[str, Any]) -> Any:
        return kind(**{k: tuples(v) for k, v in row.items()})

    lists: dict[str, Any] = {
        f: tuple(record_from_row(kind, row) for row in data[f]) for f, kind in _LISTED.items()
    }
    points = {n: record_from_row(HardPoint, p) for n, p in data["points"].items()}
    return Chain(
        points=points, vehicle=data["vehicle"], **{f: tuples(data[f]) for f in _STATED}, **lists
    )
