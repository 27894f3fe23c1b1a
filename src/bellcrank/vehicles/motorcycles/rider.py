"""A rider who keeps the motorcycle upright, follows a path with preview and keeps the speed, as
formulas of the model.

Optimal preview control: Sharp & Valtetsiotis (2001), Optimal preview car steering control, Vehicle
System Dynamics 35 (Suppl.), 101-117; Sharp (2007), Motorcycle steering control by road preview, J.
Dyn. Syst. Meas. Control 129, 373-382. With x the lateral states of straight running at the speed V,
e the distance from the path to the left, p the angle to it, and k the curvature of the path,

    x' = A x + B T,    e' = V p + v - a r + h w,    p' = r - V k

with the lateral speed v of the frame's mass centre, at the distance a before the rear contact and
the height h, the yaw rate r and the roll rate w. The integral of weighted squares of e, p, roll
angle and T is smallest for

    T(t) = -K (x, e, p) - 1/w_T integral of B' exp(C' s) P (0, 0, -V) k(t + s) ds

with the solution P of the Riccati equation and the closed-loop matrix C. The integral over the path
ahead depends on the station alone, so it is a table. Riders do not feel the deflections of tyres:
these follow the other states at once in K, and the closed loop without them is verified to be
stable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bellcrank.api.system import System
from bellcrank.core.argument_checks import PublicDir
from bellcrank.core.errors import ModelError, RunError
from bellcrank.symbolic.expr.table import table
from bellcrank.vehicles.driver_path import Path
from bellcrank.vehicles.model_parameters import add_si_parameter
from bellcrank.vehicles.motorcycles.motorcycle_data import MotorcycleData

Array = np.ndarray[Any, Any]
DRAWN = 5.0  # 1/s, with which the station is drawn to the nearest point
SMALL = {
    "error": 0.3,
    "heading": 0.1,
    "roll": 0.3,
    "torque": 15.0,
}  # m, rad, rad, N m of the same weight
FINE = 0.01  # s, of the integral over the path ahead
FEELS = {  # state: parameter, dimension, words
    "q(frame, 5)": ("k_roll", "F*L/A", "roll angle"),
    "u(frame, 4)": ("k_roll_rate", "F*L*T/A", "roll rate"),
    "u(frame, 6)": ("k_yaw_rate", "F*L*T/A", "yaw rate"),
    "u(frame, 2)": ("k_aside", "F*T", "lateral speed"),
    "q(steer)": ("k_steer", "F*L/A", "steering angle"),
    "u(steer)": ("k_steer_rate", "F*L*T/A", "steering rate"),
}
SEES = {
    "error": ("k_error", "F", "distance from the path"),
    "heading": ("k_heading", "F*L/A", "angle to the path"),
}


@dataclass(frozen=True, eq=False)
class Rider(PublicDir):
    """A rider who follows a path at one speed, for `Motorcycle.system(rider=)`. `Motorcycle.rider`
    makes one.

    Parameters
    ----------
    path : Path
        The path of the rear contact.
    speed : float
        Speed in m/s for which the gains were computed.
    gains : mapping
        Steering torque to the right per state, distance from the path ("error") and angle to it
        ("heading"), in SI units.
    preview : tuple of ndarray
        Times ahead (s) and steering torque per curvature of the path there and time (N m2/s).
    most : float, default 80.0
        Largest steering torque in N m.
    k_speed, i_speed : float, default 1.5 and 0.5
        Gains of the speed control in 1/s and 1/s^2, parameters of the model.

    Examples
    --------
    >>> import numpy as np
    >>> import bellcrank as bc
    >>> gains = {"q(frame, 5)": 200.0, "u(frame, 4)": 30.0, "error": -50.0}
    >>> preview = (np.array([0.0, 1.0]), np.zeros(2))
    >>> rider = bc.vehicles.Rider(bc.vehicles.manoeuvres.circle(50), 10.0, gains, preview)
    >>> rider.most
    80.0
    """

    internals: ClassVar[tuple[str, ...]] = ("add_to_system", "initial_state", "preview_torque")
    path: Path
    speed: float
    gains: Mapping[str, float]
    preview: tuple[Array, Array]
    most: float = 80.0
    k_speed: float = 1.5
    i_speed: float = 0.5

    def preview_torque(self) -> Array:
        """Steering torque for the path ahead, at its stations, N m."""
        times, weights = self.preview
        stations, path_curvature = np.array(self.path.s), self.path.curvature
        curvatures = np.interp(
            stations[:, None] + self.speed * times[None, :], stations, path_curvature
        )
        return np.asarray(np.trapezoid(curvatures * weights, times, axis=1))

    def add_to_system(self, s: System, data: MotorcycleData) -> dict[str, str]:
        """Adds states and formulas; returns what the model shall take for its inputs."""
        return {
            "steer_torque": f"steer_torque + {self._steering(s)}",
            "drive": f"drive + {self._speed(s, data)}",
        }

    def initial_state(self, data: MotorcycleData) -> dict[str, float]:
        """Initial values of its states."""
        return {"follow.station": self.path.nearest(0.0, 0.0)}

    def _steering(self, s: System) -> str:
        self.path.add_to_system(s)
        s.define("follow_preview", table(self.path.s, self.preview_torque().tolist(), 3))
        s.define("follow.heading", "path_heading(follow.station)")
        for name, axis in (("x", "[n1]"), ("y", "[n2]")):
            s.define(
                f"follow.{name}", f"dot(pos(frame.origin), {axis}) - path_{name}(follow.station)"
            )
            s.define(f"follow.v{name}", f"dot(vel(frame.origin), {axis})")
        projection = "cos(follow.heading)*{0} + sin(follow.heading)*{1}"
        rate = (
            f"{projection.format('follow.vx', 'follow.vy')} + "
            f"{DRAWN}*({projection.format('follow.x', 'follow.y')})"
        )
        s.add_state("follow.station", rate=rate, units="L", label="station of the path")
        s.define("follow.error", "cos(follow.heading)*follow.y - sin(follow.heading)*follow.x")
        s.define("follow.cos", "dot(direction(project([frame1], [n3])), [n1])")
        s.define("follow.sin", "dot(direction(project([frame1], [n3])), [n2])")
        sine_part = "atan2(follow.sin*cos(follow.heading) - follow.cos*sin(follow.heading), "
        s.define(
            "follow.angle",
            f"{sine_part}follow.cos*cos(follow.heading) + follow.sin*sin(follow.heading))",
        )
        s.add_output(
            "path_error", "follow.error", label="distance from the path, to the left", units="L"
        )
        terms = []
        for key, (name, dimension, label) in (FEELS | SEES).items():
            add_si_parameter(
                s,
                name,
                self.gains[key],
                dimension,
                f"rider: steering torque to the right per {label}",
            )
            terms.append(
                f"{name}*{ {'error': 'follow.error', 'heading': 'follow.angle'}.get(key, key) }"
            )
        s.define("follow.asked", f"follow_preview(follow.station) - {' - '.join(terms)}")
        add_si_parameter(s, "steer_most", self.most, "F*L", "rider: largest steering torque")
        return "max(-steer_most, min(steer_most, follow.asked))"

    def _speed(self, s: System, data: MotorcycleData) -> str:
        s.add_input(
            "speed_set", units="L/T", label="speed that the rider keeps", default=self.speed
        )
        s.add_parameter(
            "k_speed", self.k_speed, units="1/T", label="rider: acceleration over speed error"
        )
        s.add_parameter(
            "i_speed", self.i_speed, units="1/T**2", label="rider: acceleration over its integral"
        )
        mass_radius = data.mass * data.heights[1]
        s.add_parameter(
            "rider_reach", mass_radius, units="M*L", label="mass times radius of the rear wheel"
        )
        s.define(
            "follow.slow", "speed_set - dot(vel(frame.cm), direction(project([frame1], [n3])))"
        )
        s.add_state(
            "follow.sum", rate="follow.slow", units="L", label="integral of the speed error"
        )
        return "rider_reach*(k_speed*follow.slow + i_speed*follow.sum)"


def check_path(path: Any) -> None:
    if not isinstance(path, Path):
        raise ModelError(
            f"rider: path={path!r:.60} must be a Path.through(x, y), a lane_change(corners) "
            f"or a circle(radius)"
        )


def design_rider(
    model: Any, data: MotorcycleData, path: Path, speed: float, horizon: float, **options: Any
) -> Rider:
    """The rider for a linear model of straight running (SI units, input steer_torque), who looks
    `horizon` s ahead."""
    from scipy.linalg import expm, solve_continuous_are

    names = list(model.state_names)
    sensed = [names.index(n) for n in FEELS]
    fast_states = [
        i for i, n in enumerate(names) if n not in FEELS and _is_lateral_state(model.A, sensed, i)
    ]
    kept_states = sensed + fast_states
    n, sensed_count = len(kept_states), len(sensed)
    A, B = np.zeros((n + 2, n + 2)), np.zeros((n + 2, 1))
    A[:n, :n] = model.A[np.ix_(kept_states, kept_states)]
    B[:n, 0] = model.B[kept_states, list(model.input_names).index("steer_torque")]
    order = list(FEELS)
    cg_x, _, height = data.sections.frame.cg
    for name, coefficient in (
        ("u(frame, 2)", 1.0),
        ("u(frame, 6)", -cg_x),
        ("u(frame, 4)", height),
    ):
        A[n, order.index(name)] = coefficient
    A[n, n + 1] = speed
    A[n + 1, order.index("u(frame, 6)")] = 1.0
    Q = np.zeros((n + 2, n + 2))
    Q[n, n], Q[n + 1, n + 1] = SMALL["error"] ** -2, SMALL["heading"] ** -2
    Q[order.index("q(frame, 5)"), order.index("q(frame, 5)")] = SMALL["roll"] ** -2
    price = SMALL["torque"] ** -2
    try:
        P = solve_continuous_are(A, B, Q, np.array([[price]]))
    except np.linalg.LinAlgError as error:
        raise RunError(f"no rider was found at {speed:g} m/s: {error}") from None
    K = (B.T @ P)[0] / price
    closed = A - B @ K[None, :]
    step, costate = expm(closed.T * FINE), P @ np.concatenate([np.zeros(n + 1), [-speed]])
    times, weights = np.arange(0.0, horizon + FINE / 2, FINE), []
    for _ in times:
        weights.append(-float(B[:, 0] @ costate) / price)
        costate = step @ costate
    if fast_states:
        slow = [*range(sensed_count), n, n + 1]
        fast = list(range(sensed_count, n))
        fast_from_slow = -np.linalg.solve(A[np.ix_(fast, fast)], A[np.ix_(fast, slow)])
        slow_gains, K = K[slow] + K[fast] @ fast_from_slow, np.zeros(n + 2)
        K[slow] = slow_gains
    worst = np.linalg.eigvals(A - B @ K[None, :]).real.max()
    if not worst < 0:
        raise RunError(
            f"the rider does not stabilize the motorcycle at {speed:g} m/s (growth {worst:.3g} 1/s)"
        )
    gains = {name: float(K[i]) for i, name in enumerate(FEELS)} | {
        "error": float(K[n]),
        "heading": float(K[n + 1]),
    }
    return Rider(path, speed, gains, (times, np.array(weights)), **options)


def _is_lateral_state(A: Array, sensed: list[int], i: int) -> bool:
    """Does a state couple with the lateral ones?"""
    size = np.abs(A).max()
    return bool(
        (np.abs(A[np.ix_(sensed, [i])]) > 1e-12 * size).any()
        or (np.abs(A[i, sensed]) > 1e-12 * size).any()
    )
