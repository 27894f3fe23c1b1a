"""A linkage drawn otherwise: poses with hard points elsewhere, and exact derivatives by their
coordinates.

In:  a `Linkage` and other places of its hard points. Out: `LinkageVariant`, which `measure` takes
as it takes a linkage. The plan is written anew, in a millisecond, but no travel is followed:
Newton's method starts from the states of the linkage as it was. Derivatives are imaginary parts:
places with an imaginary part `STEP` long pass through one further step of Newton's method and
through all measures, without cancellation (complex-step derivatives: Squire & Trapp, SIAM Rev. 40
(1998) 110).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.linkage.link_motion import drawn_origins, internal_link_names
from bellcrank.linkage.linkage import Linkage, poses_from_states
from bellcrank.linkage.pose import Pose
from bellcrank.linkage.solution_plan import make_plan
from bellcrank.linkage.solver import LinkageSolver

Array = np.ndarray[Any, Any]

STEP = 1e-30  # m


class VariantFamily:
    """A linkage of which variants are drawn; states from which they are solved are kept."""

    def __init__(self, linkage: Linkage) -> None:
        self.linkage = linkage
        self._kept: dict[bytes, Array] = {}

    def variant(self, positions: Mapping[str, Any]) -> LinkageVariant:
        """The linkage with hard points at places (m, three numbers each, by name)."""
        return LinkageVariant(self, positions)

    def initial_states(self, values: Sequence[Array]) -> Array:
        """States of the linkage as it was at the values of its inputs."""
        key = np.array(values).tobytes()
        if key not in self._kept:
            self._kept[key] = self.linkage.states(values)
        return self._kept[key]


class LinkageVariant:
    """A variant of a linkage. With `near`, coordinates are complex arrays, one entry for each pose
    that is asked for, and near its real variant."""

    def __init__(
        self,
        drawings: VariantFamily,
        positions: Mapping[str, Any],
        near: LinkageVariant | None = None,
    ) -> None:
        self.drawings, self.near = drawings, near
        self.chain = drawings.linkage.chain.moved(positions)
        self.solver = LinkageSolver(
            make_plan(self.chain),
            drawings.linkage.mobility.independent_rows,
            float if near is None else complex,
        )
        self.origins = drawn_origins(self.solver.plan)

    @property
    def name(self) -> str:
        return self.chain.name

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.drawings.linkage.inputs

    def complex_variant(self, positions: Mapping[str, Any]) -> LinkageVariant:
        """The variant over complex places near its own: imaginary parts of results are derivatives
        times `STEP`."""
        return LinkageVariant(self.drawings, positions, self)

    def solve(
        self, travel: Any, rack: Any = None, *, roll: Any = None, links: Sequence[str] | None = None
    ) -> Pose:
        """As `Linkage.solve`, for a list of poses."""
        second_inputs = {"rack": rack, "roll": roll}
        second = [
            0.0 if second_inputs[kind] is None else second_inputs[kind] for kind in self.inputs[1:]
        ]
        lanes = [x for p in self.chain.points.values() for x in p.at]
        values = [
            np.array(x)
            for x in np.broadcast_arrays(np.atleast_1d(travel), *second, *lanes)[: len(self.inputs)]
        ]
        link_names = internal_link_names(self.chain) if links is None else links
        return poses_from_states(self.solver, self.states(values), values, self.origins, link_names)

    def states(self, values: Sequence[Array]) -> Array:
        """Solved states; a ModelError where the hard points do not reach an input."""
        if self.near is not None:
            state = self.near.states([np.real(v) for v in values]).astype(complex)
            self.solver.set_state_inputs(state, values)
            return self.solver.newton_step(state, self.solver.target_values(values))[0]
        linkage, plan = self.drawings.linkage, self.solver.plan
        state = self.drawings.initial_states(values).copy()
        for new, old in zip(plan.placings, linkage.plan.placings, strict=True):
            if new.steps[0].kind == "free":
                offset = new.steps[0].place
                state[offset : offset + 3] += np.subtract(new.origin, old.origin)[:, None]
        solution = self.solver.solve(state, values)
        is_valid = solution.converged & (solution.det == linkage.branch)
        if not is_valid.all():
            i = int(np.argmin(is_valid))
            raise ModelError(
                f"the changed hard points do not reach travel {values[0][i]:.6g} m", self.name
            )
        return solution.state
