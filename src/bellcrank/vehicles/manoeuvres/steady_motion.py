"""The steady motion of a car, straight ahead or round a circle, on a plane road: Newton's method on
the compiled model.

A motion is steady when all speeds, travels and states of the driver stay as they are. The driver
keeps speed and curvature, so the steering-wheel angle and the throttle that this takes are states
of the driver and found as well: whatever is asymmetric about the car or the road is steered against
from the first moment on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.api.simulation import Simulation
from bellcrank.core.errors import RunError
from bellcrank.core.units import parse_dimension
from bellcrank.vehicles.cars.control.driver import RATE

Array = np.ndarray[Any, Any]
HORIZONTAL_POSE = ("q(chassis, 1)", "q(chassis, 2)", "q(chassis, 4)")
PREVIEW_STATES = (
    "driver.station",
    "driver.steer",
    "driver.seen",
    "driver.seeing",
)  # of a driver who looks at a path
RATE_TOLERANCE = 1e-9  # derivatives per s that may remain, relative to SIZE
ROUNDING_TOLERANCE = 1e-6  # where rounding keeps Newton's method from coming closer
ITERATIONS = 40
SPEED_TOLERANCE = 0.002  # of a speed, within which a steady motion has it
DIFFERENCE = 1e-7
STEP = 1e-6  # of a difference that shows what acts, in equation units
ACTING_THRESHOLD = 1e-8  # of the largest derivative of a rate: rounding
ENDLESS = 1e9  # rad/s, of a steering wheel without limit
MAX_STEPS_BY_KIND = {"u": 2.0, "q": 0.05}  # m/s or rad/s, and m or rad, of one step
STATES = {
    parse_dimension(d): most
    for d, most in (("A", 0.05), ("L", 0.05), ("1", 0.05), ("L/T", 2.0), ("A/T", 20.0))
}


@dataclass(frozen=True)
class SteadyMotion:
    """Steady motion of a car: its speed along the car (m/s), as a driver keeps it, the ground speed
    of the mass centre (m/s), the yaw rate (rad/s, to the left) and the side slip (rad)."""

    speed: float
    ground_speed: float
    yaw_rate: float
    side_slip: float

    @property
    def lateral_acceleration(self) -> float:
        """Acceleration normal to the path, m/s2."""
        return self.ground_speed * self.yaw_rate

    @property
    def radius(self) -> float:
        """Radius of the path of the mass centre, m."""
        return self.path_radius(0.0, 0.0)

    def path_radius(self, ahead: float, left: float) -> float:
        """Radius (m) of the path of a point of the car, from the mass centre (m)."""
        if not self.yaw_rate:
            return math.inf
        forward = self.ground_speed * math.cos(self.side_slip) - self.yaw_rate * left
        lateral = self.ground_speed * math.sin(self.side_slip) + self.yaw_rate * ahead
        return math.hypot(forward, lateral) / abs(self.yaw_rate)

    def keeps_speed(self, speed: float) -> bool:
        """Return True if this is the motion that a driver at that speed (m/s) was to keep."""
        return abs(self.speed - speed) <= SPEED_TOLERANCE * abs(speed)


def central_differences(f: Callable[[Array], Array], x: Array, indices: Array) -> Array:
    """Derivatives of a function with respect to some states, in columns, by central differences."""
    columns = []
    for i in indices:
        x_below, x_above = x.copy(), x.copy()
        x_below[i] -= STEP
        x_above[i] += STEP
        columns.append((f(x_above) - f(x_below)) / (2 * STEP))
    return np.stack(columns, axis=1)


def non_cyclic_states(f: Any, x: Array, indices: Array) -> Array:
    """Those of some states on which a derivative of one of them depends: not the angles of wheels,
    nor distances and other integrals that nothing depends on."""
    active, J = (
        list(range(len(indices))),
        central_differences(lambda y: np.array(f(0.0, y))[indices], x, indices),
    )
    while True:
        magnitudes = np.abs(J[np.ix_(active, active)])
        acts = (magnitudes > ACTING_THRESHOLD * magnitudes.max(axis=1, keepdims=True)).any(axis=0)
        if acts.all():
            return np.array(indices)[active]
        active = [k for k, a in zip(active, acts, strict=True) if a]


def _max_step(state: Any) -> float:
    """How far a state may move in one step: a torque or force of a controller, on which others
    depend linearly, as far as it has to."""
    if state.name.startswith(("u(", "q(")):
        return MAX_STEPS_BY_KIND[state.name[0]]
    return STATES.get(state.unit.dimension, math.inf)


class SteadyMotionSolver:
    """Solves for steady motions of one compiled car; `slope`: rise of the road per distance along x
    and along y;
    `held`: states that stay as they are given, such as the steering-wheel angle driver.turn."""

    def __init__(
        self, sim: Simulation, slope: tuple[float, float] = (0.0, 0.0), held: tuple[str, ...] = ()
    ) -> None:
        self.sim, self.slope = sim, slope
        self.names = [state.name for state in sim.interface.states]
        index = {name: i for i, name in enumerate(self.names)}
        self.index = index
        fixed_names = {*HORIZONTAL_POSE, *PREVIEW_STATES, *held} | {
            n for n in self.names if n.endswith(".post")
        }
        self.free = np.array([i for i, n in enumerate(self.names) if n not in fixed_names])
        self.unknown = self.free
        self.longest = np.array([_max_step(state) for state in sim.interface.states])
        self.seen = np.array([index[n] for n in PREVIEW_STATES[1:] if n in index], dtype=int)

    def solve(
        self,
        start: Mapping[str, float],
        inputs: Mapping[str, float],
        parameters: Mapping[str, float],
        course: float = 0.0,
    ) -> dict[str, float]:
        """All states of the steady motion that is nearest to `start`; `course`: direction of the
        velocity of the mass centre (rad from x to the left)."""
        f = self.sim.rhs(parameters=dict(parameters), inputs=dict(inputs))
        x = np.concatenate(self.sim.assemble(dict(start)))
        self.unknown = non_cyclic_states(f, x, self.free)
        for _ in range(4):
            x = self._newton(f, x)
            across = self._course_angle(x, inputs, parameters) - course
            if abs(across) < 1e-9:
                break
            x[self.index["q(chassis, 4)"]] -= across
        return dict(zip(self.names, x.tolist(), strict=True))

    def with_path_driver(
        self,
        state: Mapping[str, float],
        inputs: Mapping[str, float],
        parameters: Mapping[str, float],
    ) -> dict[str, float]:
        """The same state with a driver who already steers as the path asks for, and whose hold on
        the steering wheel makes up the rest: the steering wheel stays where it is when he takes
        over."""
        values = dict(state)
        if not len(self.seen):
            return values
        limited = [
            p.name for p in self.sim.interface.parameters if p.name == RATE
        ]  # as quickly as it takes
        f = self.sim.rhs(
            parameters={**parameters, **dict.fromkeys(limited, ENDLESS)}, inputs=dict(inputs)
        )
        x = np.array([values[n] for n in self.names])
        last_seen = x[self.seen].copy()
        x[self.seen] = 0.0
        r = f(0.0, x)[self.seen]
        J = np.empty((len(r), len(r)))
        for k, i in enumerate(self.seen):  # linear in these states
            perturbed = x.copy()
            perturbed[i] += 1.0
            J[:, k] = f(0.0, perturbed)[self.seen] - r
        x[self.seen] = np.linalg.solve(J, -r)
        hands = float(parameters.get("hands", 0.0))
        x[self.index["driver.turn"]] += hands * (last_seen[0] - x[self.seen[0]])
        return dict(zip(self.names, x.tolist(), strict=True))

    def _newton(self, f: Any, x: Array) -> Array:
        """Steps count by what remains to be moved, not by what remains of derivatives, whose sizes
        differ by far between wheels and steering (natural monotonicity: Deuflhard, Newton Methods
        for Nonlinear Problems, 2004)."""
        max_steps = self.longest[self.unknown]
        best, r = x.copy(), self._residual(f, x)
        for _ in range(ITERATIONS):
            if np.abs(r).max() < RATE_TOLERANCE:
                return best
            J = self._jacobian(f, best, r)
            newton_step = np.linalg.lstsq(J, -r, rcond=None)[0]
            fraction = min(1.0, 1.0 / max(np.abs(newton_step / max_steps).max(), 1e-12))
            for _ in range(12):
                trial = best.copy()
                trial[self.unknown] += fraction * newton_step
                new_residual = self._residual(f, trial)
                if np.isfinite(new_residual).all():
                    next_step = np.linalg.lstsq(J, -new_residual, rcond=None)[0]
                    if np.linalg.norm(next_step / max_steps) < np.linalg.norm(
                        newton_step / max_steps
                    ):
                        break
                fraction /= 2
            else:
                break
            best, r = trial, new_residual
        if np.abs(r).max() < ROUNDING_TOLERANCE:
            return best
        worst = self.names[int(self.unknown[int(np.argmax(np.abs(r)))])]
        raise RunError(f"no steady motion was found: {worst}' = {np.abs(r).max():.3g} remains")

    def _jacobian(self, f: Any, x: Array, r: Array) -> Array:
        J = np.empty((len(r), len(r)))
        for k, i in enumerate(self.unknown):
            perturbed = x.copy()
            h = DIFFERENCE * max(1.0, abs(x[i]))
            perturbed[i] += h
            J[:, k] = (self._residual(f, perturbed) - r) / h
        return J

    def _residual(self, f: Any, x: Array) -> Array:
        rates = f(0.0, x)
        along, across = (rates[self.index[n]] for n in HORIZONTAL_POSE[:2])
        rates[self.index["q(chassis, 3)"]] -= self.slope[0] * along + self.slope[1] * across
        residual: Array = rates[self.unknown]
        return residual

    def motion(
        self,
        state: Mapping[str, float],
        inputs: Mapping[str, float],
        parameters: Mapping[str, float],
    ) -> SteadyMotion:
        """Speeds and yaw rate of a state."""
        outputs = self._outputs(np.array([state[n] for n in self.names]), inputs, parameters)
        return SteadyMotion(
            outputs["speed"],
            outputs["ground_speed"],
            math.radians(outputs["yaw_rate"]),
            math.radians(outputs["side_slip"]),
        )

    def _course_angle(
        self, x: Array, inputs: Mapping[str, float], parameters: Mapping[str, float]
    ) -> float:
        outputs = self._outputs(x, inputs, parameters)
        return float(np.radians(outputs["yaw"] + outputs["side_slip"]))

    def _outputs(
        self, x: Array, inputs: Mapping[str, float], parameters: Mapping[str, float]
    ) -> dict[str, float]:
        n = len(x) - sum(name.startswith("u(") for name in self.names)
        return self.sim.outputs(
            0.0, x[:n].tolist(), x[n:].tolist(), parameters=dict(parameters), inputs=dict(inputs)
        )
