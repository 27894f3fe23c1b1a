"""Linkages and tables compiled: many poses at a time from C, with the interface of the exact
linkage."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bellcrank.codegen.c.linkage import c_implicit, c_lookup, poses_source, values_source
from bellcrank.core.errors import BuildError, ModelError
from bellcrank.linkage.chain import Chain
from bellcrank.linkage.implicit_linkage import implicit_equations, pose_formulas
from bellcrank.linkage.linkage import Linkage
from bellcrank.linkage.pose import Pose, combine_poses
from bellcrank.linkage.pose_lookup import pose_lookup
from bellcrank.linkage.pose_table import Table, make_table
from bellcrank.simulation.backend.compiler import NO_COMPILER, find_compiler, load_from_source

Array = np.ndarray[Any, Any]

_ONE = (
    ("position", 0, 3),
    ("rotation", 3, 12),
    ("d", 12, 15),
    ("delta", 15, 18),
    ("dd", 18, 21),
    ("ddelta", 21, 24),
)
_TWO = (
    ("position", 0, 3), ("rotation", 3, 12), ("d", 12, 15), ("d_rack", 15, 18), ("delta", 18, 21),
    ("delta_rack", 21, 24), ("dd", 24, 27), ("dd_rack", 27, 30), ("dd_mixed", 30, 33),
    ("ddelta", 33, 36), ("ddelta_rack", 36, 39), ("ddelta_mixed", 39, 42),
)  # fmt: skip


class CompiledLinkage:
    """A linkage (Newton's method) or table (look-up) in C. `links`: internal links it gives besides
    the carrier."""

    def __init__(
        self, linkage: Linkage | Table, *, links: Sequence[str] = (), extend: bool = False
    ) -> None:
        compiler = find_compiler()
        if compiler is None:
            raise BuildError(f"{NO_COMPILER}: install one, or use the linkage itself")
        if extend and not isinstance(linkage, Table):
            raise ModelError("extend=True is for tables; an exact linkage ends at its folds")
        self.linkage, self.links, self.extend = linkage, list(links), extend
        self.second = len(linkage.inputs) == 2
        self.layout = _TWO if self.second else _ONE
        self.parts = [linkage.chain.carrier, *self.links]
        self.width = self.layout[-1][2] * len(self.parts)
        self.source = (
            _linkage_source(self) if isinstance(linkage, Linkage) else _table_source(self, linkage)
        )
        self._function = load_from_source(self.source, compiler, is_generated=True).poses

    def numbers(self, travel: Array, second: Array | None = None) -> Array:
        """All values of many poses (poses, width); not-a-number outside the range."""
        z = np.ascontiguousarray(travel, float)
        r = np.zeros_like(z) if second is None else np.ascontiguousarray(second, float)
        values = np.empty((len(z), self.width))
        pointer = ctypes.c_void_p
        self._function(ctypes.c_int64(len(z)), *(pointer(a.ctypes.data) for a in (z, r, values)))
        return values

    def solve(
        self, travel: Any, rack: Any = None, *, roll: Any = None, links: Sequence[str] | None = None
    ) -> Pose:
        """As `Linkage.solve`; `links` names some of those that were compiled."""
        second = rack if roll is None else roll
        inputs = [travel, 0.0 if second is None else second] if self.second else [travel]
        arrays = np.broadcast_arrays(*(np.asarray(x, float) for x in inputs))
        flat = [a.ravel() for a in arrays]
        numbers = self.numbers(*flat)
        failed = ~np.isfinite(numbers).all(axis=1)
        if failed.any():
            raise ModelError(
                f"linkage '{self.linkage.name}': travel {flat[0][failed][0]:.6g} m lies "
                f"outside its range or cannot be "
                "solved"
            )
        poses = {}
        n = self.layout[-1][2]
        for k, name in enumerate(self.parts):
            if k and links is not None and name not in links:
                continue
            values: dict[str, Any] = {
                f: numbers[:, k * n + a : k * n + b] for f, a, b in self.layout
            }
            values["rotation"] = values["rotation"].reshape(-1, 3, 3)
            if self.second:
                values["rack"] = flat[1]
            poses[name] = Pose(travel=flat[0], **values, **self._extrapolation_flags(flat))
        return combine_poses(poses, self.linkage.chain, self.linkage.origins).reshaped(
            arrays[0].shape
        )

    # ---- what tables are made from

    @property
    def chain(self) -> Chain:
        return self.linkage.chain

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.linkage.inputs

    @property
    def origins(self) -> Mapping[str, Any]:
        return self.linkage.origins

    def range(self) -> tuple[float, float]:
        """Lowest and highest travel, m."""
        return self.linkage.range()

    def table(
        self,
        step: float | None = None,
        accuracy: float | None = None,
        *,
        range: tuple[float, float] | None = None,
        rack: tuple[float, float] | None = None,
        rack_step: float | None = None,
        scheme: str = "quintic",
    ) -> Table:
        """As `Linkage.table`, for carrier and links that were compiled: worth it for ten thousands
        of poses."""
        return make_table(self, step, accuracy, range, rack, rack_step, scheme, None)

    def _extrapolation_flags(self, inputs: Sequence[Array]) -> dict[str, Any]:
        """Where a table was left, if it may be."""
        if not self.extend or not isinstance(self.linkage, Table):
            return {}
        grids = [self.linkage.travel, self.linkage.rack]
        is_outside = [
            (x < g[0]) | (x > g[-1]) for x, g in zip(inputs, grids, strict=False) if g is not None
        ]
        return {"extended": np.logical_or.reduce(is_outside)} if np.any(is_outside) else {}


def _linkage_source(c: CompiledLinkage) -> str:
    assert isinstance(c.linkage, Linkage)
    function = implicit_equations(c.linkage, c.second)
    texts = [c_implicit("state", function)]
    statements = [
        f"double s[{function.value_count}];",
        f"state(z[i], {'r[i], ' if c.second else ''}s);",
    ]
    for k, part in enumerate(c.parts):
        texts.append(values_source(f"part_{k}", *pose_formulas(c.linkage, part, c.second)))
        statements.append(f"part_{k}(s, v + {k * c.layout[-1][2]});")
    return poses_source([function], texts, statements, c.second, c.width)


def _table_source(c: CompiledLinkage, table: Table) -> str:
    functions, texts, statements = [], [], []
    for k, part in enumerate(c.parts):
        function = pose_lookup(table, part, c.extend)
        functions.append(function)
        texts.append(c_lookup(f"part_{k}", function, range(len(function.values))))
        statements.append(
            f"part_{k}(z[i], {'r[i], ' if c.second else ''}v + {k * c.layout[-1][2]});"
        )
    return poses_source(functions, texts, statements, c.second, c.width)


def compile_linkage(
    linkage: Linkage | Table, *, links: Sequence[str] = (), extend: bool = False
) -> CompiledLinkage:
    """Compile a linkage or table to C, to evaluate many poses.

    Parameters
    ----------
    linkage : Linkage or Table
        The linkage (`bc.linkage.Linkage.read`) or its table.
    links : sequence of str, default ()
        Links whose poses are wanted besides that of the carrier.
    extend : bool, default False
        True extrapolates a table linearly outside its range; `pose.extended` reports it.

    Returns
    -------
    CompiledLinkage
        `solve(travel)` returns poses; travel in m.

    Raises
    ------
    BuildError
        If the compiler fails.

    Examples
    --------
    >>> import bellcrank as bc
    >>> front = bc.linkage.Linkage.read("trailing_arm")
    >>> bc.compile_linkage(front).solve(0.0) is not None
    True
    """
    return CompiledLinkage(linkage, links=links, extend=extend)
