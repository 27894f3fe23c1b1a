"""Linkage: a closed chain between a base and a carrier, solved exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, issue_warning
from bellcrank.core.files.html import heading, html_table
from bellcrank.core.files.notebook_display import NotebookDisplay
from bellcrank.linkage.chain import Chain, check_chain
from bellcrank.linkage.hard_point_files import read_hard_points
from bellcrank.linkage.link_motion import (
    LinkMotion,
    drawn_origins,
    internal_link_names,
    link_motion,
)
from bellcrank.linkage.measures import draw_measures, measure_wheel
from bellcrank.linkage.mobility import Mobility, assemble_chain, count_degrees_of_freedom
from bellcrank.linkage.pose import Pose, combine_poses, mixed_term
from bellcrank.linkage.pose_table import Table, make_table
from bellcrank.linkage.solution_plan import BodyFrames, make_plan
from bellcrank.linkage.solver import LinkageSolver
from bellcrank.linkage.suspensions import build_chain
from bellcrank.linkage.travel_path import Way, trace_travel_path
from bellcrank.linkage.vector_jets import Vec

Array = np.ndarray[Any, Any]

LOOK = 0.08  # m to either side that are drawn
NEAR = 0.01  # of the range: distance from a fold at which solutions are warned of


class Linkage(NotebookDisplay):
    """A linkage with one input (travel of the wheel centre, m, up as drawn) or two (and rack, m, or
    roll, rad).

    Made by `Linkage.read`, `five_link`, `double_wishbone` and so on, or from a `Chain`. Problems of
    the description raise a ModelError.
    """

    def __init__(self, chain: Chain) -> None:
        check_chain(chain)
        self.chain = chain
        self.plan = make_plan(chain)
        self.mobility: Mobility = count_degrees_of_freedom(self.plan)
        self.solver = LinkageSolver(self.plan, self.mobility.independent_rows)
        self._assembled = assemble_chain(self.solver)
        self._ways: dict[float, Way] = {}
        self._twin: Linkage | None = None  # of which it is the mirror image
        self._tables: dict[tuple[Any, ...], Table] = {}

    @classmethod
    def read(
        cls, source: str | Path | Mapping[str, Any], kind: str | None = None, **given: Any
    ) -> Linkage:
        """Read a linkage: hard points of a file.

        Parameters
        ----------
        source : str, Path or mapping
            A TOML or CSV file (docs/linkages.md), the name of one that comes with Bellcrank
            (`bc.linkage.shipped()` lists them), or a mapping with the same content.
        kind : str, optional
            Kind of the linkage, such as "double_wishbone". Default: that in `source`.
        **given : Any
            Keys of the file, such as `units`, `axes`, `side` and `name`; they replace what the
            source states.

        Returns
        -------
        Linkage
            The linkage: `linkage.solve(travel)` returns poses, travel in m.

        Raises
        ------
        ModelError
            If a hard point is missing or wrong: all problems are listed.

        Examples
        --------
        >>> import bellcrank as bc
        >>> front = bc.linkage.Linkage.read("double_wishbone")
        >>> front.links
        ['lower_arm', 'upper_arm', 'rack', 'tie_rod']
        """
        return cls(build_chain(read_hard_points(source, kind, **given)))

    def content(self) -> Chain:
        """What identifies it."""
        return self.chain

    def __repr__(self) -> str:
        return (
            f"Linkage('{self.name}', {self.chain.kind}, {self.chain.side}, inputs "
            f"{', '.join(self.inputs)})"
        )

    def _html_parts(self) -> list[str]:
        rows = [(n, p.body, *p.at) for n, p in self.chain.points.items()]
        return [
            heading(repr(self)),
            html_table(("hard point", "body", "x (m)", "y (m)", "z (m)"), rows, right=(2, 3, 4)),
        ]

    def _notebook_figure(self) -> Any:
        low, high = self.range()
        middle = (low + high) / 2
        half_range = 0.98 * min(high - middle, LOOK)  # folds are omitted
        return draw_measures(
            [measure_wheel(self, np.linspace(middle - half_range, middle + half_range, 41))]
        )

    @property
    def name(self) -> str:
        return self.chain.name

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(i.kind for i in self.chain.inputs)

    @property
    def links(self) -> list[str]:
        """Names of the internal links: bodies, then rods."""
        return internal_link_names(self.chain)

    @property
    def points(self) -> dict[str, tuple[float, float, float]]:
        """Hard points as drawn, m, base axes."""
        return {name: p.at for name, p in self.chain.points.items()}

    @cached_property
    def origins(self) -> dict[str, tuple[float, float, float]]:
        """Drawn reference points of carrier and links."""
        return drawn_origins(self.plan)

    def mirror(self) -> Linkage:
        """The same linkage on the other side of the vehicle; tables that one has made serve
        both."""
        mirror_image = Linkage(self.chain.mirrored())
        mirror_image._twin = self
        return mirror_image

    @property
    def mirrored(self) -> bool:
        """Whether it is the mirror image of the side that was drawn."""
        return self._twin is not None

    # ---- range

    def way(self, second: float = 0.0) -> Way:
        """The way through the travel for one value of the second input."""
        if second not in self._ways and self._twin is not None and second == 0:
            self._ways[second] = self._twin.way().mirrored(self.plan.mirror_signs(self._twin.plan))
        if second not in self._ways:
            start = (
                self._states_along_lines(np.zeros(1), np.array([second]))[:, 0]
                if second
                else self._assembled
            )
            try:
                self._ways[second] = trace_travel_path(
                    self.solver, start, dict.fromkeys(range(1, len(self.inputs)), second)
                )
            except ArithmeticError as error:
                raise ModelError(f"{error}: its travel cannot be followed", self.name) from None
        return self._ways[second]

    def range(self, rack: float = 0.0, *, roll: float = 0.0) -> tuple[float, float]:
        """Lowest and highest travel (m) that is reached from the drawn position without taking the
        linkage apart."""
        travel_path = self.way(float(rack or roll))
        return travel_path.low, travel_path.high

    # ---- solution

    def solve(
        self, travel: Any, rack: Any = None, *, roll: Any = None, links: Sequence[str] | None = None
    ) -> Pose:
        """The pose at a travel (m), scalar or array; `rack` (m) or `roll` (rad) is the second
        input, 0 if not given.

        `links` names the internal links wanted (default: all).
        """
        values, shape = self.arguments(travel, rack, roll)
        link_names = self.links if links is None else links
        return poses_from_states(
            self.solver, self.states(values), values, self.origins, link_names
        ).reshaped(shape)

    def states(self, values: Sequence[Array], check: bool = True) -> Array:
        """Solved states at the values of the inputs."""
        if len(values) == 2 and values[1].any():
            return self._states_along_lines(*values)
        if values[0].any():
            if check:
                self._check_range(values[0])
            start = self.way().start(values[0])
        else:  # as drawn: the travel need not be followed
            start = np.repeat(self._assembled[:, None], len(values[0]), axis=1)
        solution = self.solver.solve(start, values)
        is_valid = solution.converged & (solution.det == self.branch)
        if check and not is_valid.all():
            i = int(np.argmin(is_valid))
            location = ", ".join(
                f"{k} {v[i]:.6g}{' m' if k == 'travel' else ''}"
                for k, v in zip(self.inputs, values)
            )
            raise ModelError(
                f"linkage '{self.name}': no solution on the drawn assembly at {location} "
                f"(rows left open by {solution.residual[i]:.3g})"
            )
        return solution.state

    def arguments(self, travel: Any, rack: Any, roll: Any) -> tuple[list[Array], tuple[int, ...]]:
        """Values of all inputs, one after another, and their common shape."""
        second_inputs = {"rack": rack, "roll": roll}
        kinds = self.inputs[1:]
        for kind, value in second_inputs.items():
            if value is not None and kind not in kinds and np.any(np.asarray(value) != 0):
                input_names = ", ".join(self.inputs)
                raise ModelError(
                    f"linkage '{self.name}' has no input '{kind}'; its inputs are {input_names}"
                )
        seconds = [0.0 if second_inputs[kind] is None else second_inputs[kind] for kind in kinds]
        arrays = np.broadcast_arrays(*(np.asarray(x, float) for x in (travel, *seconds)))
        if not all(np.isfinite(x).all() for x in arrays):
            raise ModelError(f"linkage '{self.name}': an input is not a finite number")
        return [x.ravel().copy() for x in arrays], arrays[0].shape

    @cached_property
    def branch(self) -> float:
        """Sign of the Jacobian's determinant on the drawn branch; it changes only at a fold."""
        zero = [np.zeros(1)] * len(self.inputs)
        return float(self.solver.solve(self._assembled[:, None], zero).det[0])

    def _check_range(self, z: Array) -> None:
        travel_path = self.way()
        outside = (z < travel_path.low) | (z > travel_path.high)
        if outside.any():
            worst = z[outside][np.argmax(np.abs(z[outside]))]
            raise ModelError(
                f"linkage '{self.name}': travel {worst:.6g} m cannot be reached; from the "
                f"drawn position it goes from "
                f"{travel_path.low:.6g} m ({travel_path.ends[0]}) to {travel_path.high:.6g} "
                f"m ({travel_path.ends[1]})"
            )
        margin = NEAR * (travel_path.high - travel_path.low)
        near_limit = ((z < travel_path.low + margin) & (travel_path.ends[0] == "fold")) | (
            (z > travel_path.high - margin) & (travel_path.ends[1] == "fold")
        )
        if near_limit.any():
            issue_warning(
                f"linkage '{self.name}': travel {z[near_limit][0]:.6g} m is close to the "
                f"end of its range "
                f"({travel_path.low:.6g} to {travel_path.high:.6g} m), where the "
                f"derivatives grow without bound"
            )

    def _states_along_lines(self, z: Array, second: Array) -> Array:
        """States at pairs of inputs: from the way at second = 0 along straight lines, in steps
        halved as needed."""
        travel_path = self.way()
        margin = NEAR * (travel_path.high - travel_path.low)
        z_start = np.clip(z, travel_path.low + margin, travel_path.high - margin)
        state = self.solver.solve(travel_path.start(z_start), [z_start, np.zeros_like(z)]).state
        fraction, step = (
            0.0,
            min(1.0, 0.01 / max(np.abs(second).max(), np.abs(z - z_start).max(), 1e-12)),
        )
        while fraction < 1.0:
            size = min(step, 1.0 - fraction)
            current = [z_start + fraction * (z - z_start), fraction * second]
            goal = [z_start + (fraction + size) * (z - z_start), (fraction + size) * second]
            T, _ = self.solver.first_derivatives(state, current)
            prediction = T[0] * (goal[0] - current[0]) + T[1] * (goal[1] - current[1])
            guess = self.solver.update_state(state, prediction)
            solution = self.solver.solve(guess, goal)
            is_valid = solution.converged & (solution.det == self.branch)
            jump = np.abs(solution.state - guess).max()
            if is_valid.all() and (jump < 0.25 * np.abs(prediction).max() + 1e-9):
                state, fraction, step = solution.state, fraction + size, 2 * step
            else:
                step = 0.5 * size
                if step < 1e-5:
                    i = int(np.argmin(is_valid))
                    raise ModelError(
                        f"linkage '{self.name}': travel {z[i]:.6g} m with {self.inputs[1]} "
                        f"{second[i]:.6g} cannot be "
                        f"reached; on the way there it folds near travel {goal[0][i]:.6g} "
                        f"m, {self.inputs[1]} "
                        f"{goal[1][i]:.6g}"
                    )
        return state

    def residuals(self, travel: Any, rack: Any = None) -> dict[str, Array]:
        """What is left open in every closing row at a solved pose (rods: m), by name."""
        values, _ = self.arguments(travel, rack, None)
        frames = BodyFrames(self.plan, self.states(values, check=False))
        result: dict[str, Array] = {}
        for name, row in zip(self.plan.names, self.solver.closure_rows(frames), strict=True):
            size = np.abs(np.broadcast_to(row.value, values[0].shape))
            result[name] = np.maximum(result.get(name, 0.0), size)
        return result

    def table(
        self,
        step: float | None = None,
        accuracy: float | None = None,
        *,
        range: tuple[float, float] | None = None,
        rack: tuple[float, float] | None = None,
        rack_step: float | None = None,
        scheme: str = "quintic",
        links: Sequence[str] | None = None,
    ) -> Table:
        """A table of poses with the same `solve`; see `bellcrank.linkage.pose_table.make_table`."""
        travel_range = None if range is None else tuple(range)
        span = None if rack is None else tuple(rack)
        options = (rack_step, scheme, None if links is None else tuple(links))
        if self._twin is None:
            return self._cached_table(step, accuracy, travel_range, span, *options)
        span = None if span is None else tuple(-x for x in reversed(span))
        return self._twin._cached_table(step, accuracy, travel_range, span, *options).mirror()

    def _cached_table(self, *arguments: Any) -> Table:
        """A table, kept for when it is asked for again, as by the other side."""
        if arguments not in self._tables:
            self._tables[arguments] = make_table(self, *arguments)
        return self._tables[arguments]


def poses_from_states(
    solver: LinkageSolver,
    state: Array,
    values: Sequence[Array],
    drawn: Mapping[str, Any],
    links: Sequence[str],
) -> Pose:
    """Poses of the carrier and of links at solved states; `drawn`: their reference points."""
    T, J = solver.first_derivatives(state, values)
    D2, frames = solver.second_derivatives(state, values, T, J)
    chain = solver.plan.chain
    pose_by_link = {
        n: _pose_of_link(link_motion(frames, n, drawn[n], D2), values, solver.number)
        for n in (chain.carrier, *links)
    }
    return combine_poses(pose_by_link, chain, drawn)


def _stack_vectors(v: Vec, n: int, number: type) -> Array:
    return np.stack([np.broadcast_to(np.asarray(x, number), (n,)) for x in v], axis=-1)


def _pose_of_link(m: LinkMotion, values: Sequence[Array], number: type) -> Pose:
    n, two = len(values[0]), len(values) == 2
    vectors = {
        "position": m.position,
        "d": m.d[0],
        "delta": m.delta[0],
        "dd": m.dd[0],
        "ddelta": m.ddelta[0],
    }
    if two:
        vectors |= {
            "d_rack": m.d[1],
            "delta_rack": m.delta[1],
            "dd_rack": m.dd[1],
            "ddelta_rack": m.ddelta[1],
        }
        vectors |= {"dd_mixed": mixed_term(*m.dd), "ddelta_mixed": mixed_term(*m.ddelta)}
    arrays: dict[str, Any] = {name: _stack_vectors(v, n, number) for name, v in vectors.items()}
    R = np.stack([_stack_vectors(row, n, number) for row in m.R], axis=1)
    return Pose(travel=values[0], rotation=R, rack=values[1] if two else None, **arrays)
