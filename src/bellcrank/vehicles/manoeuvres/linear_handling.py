"""Handling of a car for small steering angles: the linear model of the compiled car about straight,
steady running.

Everything that the model has takes part: compliance and bushes, steering column, roll steer,
camber, tyres with their trails and load dependence, gyroscopic moments of the wheels, rolling
resistance, drive and air. The steady motion and the derivatives are found by differences of the
compiled equations of motion, which costs milliseconds.

Definitions, with the steering angle d (steering-wheel angle over steering ratio), lateral
acceleration ay, speed V and wheelbase L in a steady turn: understeer gradient K = d(d)/d(ay) at
constant radius = d(V^2 d/ay)/d(V^2) (ISO 4138); characteristic speed: that of the largest yaw gain;
side-slip angle of the rear axle D2 = b/V^2 - beta/ay and of the front axle D1 = d/ay - L/V^2 + D2,
both per ay, from which the cornering stiffness of an axle is m2/D2 and m1/D1, with the masses that
the axles carry. Milliken & Milliken, Race Car Vehicle Dynamics (1995), ch. 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.cars.driveline.clutch_and_converter import MOTOR
from bellcrank.vehicles.cars.driveline.gearbox import GEAR
from bellcrank.vehicles.cars.metrics.handling_metrics import Figures, VehicleMetric
from bellcrank.vehicles.manoeuvres.steady_motion import central_differences, non_cyclic_states

if TYPE_CHECKING:
    from bellcrank.vehicles.manoeuvres.compiled_car import CompiledCar
    from bellcrank.vehicles.manoeuvres.manoeuvre_result import MetricCollector

Array = np.ndarray[Any, Any]
SPEED = 80 / 3.6  # m/s, at which gradients are taken
SLOWLY = (4.0, 8.0)  # m/s, of slow turns
SPEED_DIFFERENCE = 0.05  # of the speed, to either side, over which the gradient is a difference
SLOWEST, HIGHEST = 5.0, 100.0  # m/s, between which characteristic and critical speed are looked for
WIDE = 0.1  # of a speed, to the next
PASSIVE_DRIVER = {
    "k_speed": 0.0,
    "i_speed": 0.0,
    "hands": 0.0,
    "k_turn": 0.0,
}  # parameters of a driver who does nothing
FORWARD, TURNING, STEER, DRIVE = "u(chassis, 1)", "u(chassis, 6)", "steer", "drive"
GAIN_OUTPUTS = ("ay", "yaw_rate", "roll", "side_slip", "steering_torque")
EQUIVALENT = "equivalent wheelbase: two axles with the same steering angle at low speed"
ANGLE = 0.01  # deg of the steering wheel
ITERATIONS = 30
STEP_TOLERANCE = 1e-10  # of a step of Newton's method, in equation units


@dataclass(frozen=True)
class SteadyGains:
    """Steady outputs per steering-wheel angle (user units per deg) at a speed (m/s)."""

    speed: float
    of: dict[str, float]

    def __getitem__(self, name: str) -> float:
        return self.of[name]


@dataclass(frozen=True)
class CarMode:
    """A mode: its eigenvalue (1/s), and the size of each state in it."""

    value: complex
    sizes: dict[str, float] = field(repr=False)

    @property
    def frequency(self) -> float:
        """Damped frequency, Hz."""
        return self.value.imag / (2 * math.pi)

    @property
    def damping(self) -> float:
        """Damping ratio."""
        return -self.value.real / abs(self.value)


class LinearCar:
    """Steady gains of a compiled car over the speed."""

    def __init__(self, car: CompiledCar) -> None:
        self.car, self.sim = car, car.sim
        self.names = [state.name for state in self.sim.interface.states]
        parameter_names = {p.name for p in self.sim.interface.parameters}
        self.parameters = {
            **car.values,
            **{name: value for name, value in PASSIVE_DRIVER.items() if name in parameter_names},
        }
        self._last: tuple[Array, float, float] | None = None
        self._found: dict[float, SteadyGains] = {}

    def gains(self, speed: float) -> SteadyGains:
        """The gains at a speed (m/s)."""
        if speed not in self._found:
            self._found[speed] = self._compute_gains(speed)
        return self._found[speed]

    def _compute_gains(self, speed: float) -> SteadyGains:
        x, drive, steer, unknown, J = self._straight_running_state(speed)
        step = np.linalg.solve(
            J, -ANGLE * self._input_partials(x, {STEER: steer, DRIVE: drive}, STEER, ANGLE)[unknown]
        )
        outputs = []
        for sign in (-1.0, 1.0):
            perturbed = x.copy()
            perturbed[unknown] += sign * self._state_step(step, unknown, FORWARD)
            n = self.sim.loaded.n_q
            inputs = {
                STEER: steer + sign * ANGLE,
                DRIVE: drive + sign * float(step[self._index_of(unknown, FORWARD)]),
            }
            outputs.append(
                self.sim.outputs(
                    0.0,
                    perturbed[:n].tolist(),
                    perturbed[n:].tolist(),
                    parameters=self.parameters,
                    inputs=inputs,
                )
            )
        return SteadyGains(
            speed,
            {name: (outputs[1][name] - outputs[0][name]) / (2 * ANGLE) for name in GAIN_OUTPUTS},
        )

    def modes(self, speed: float) -> list[CarMode]:
        """Modes of small motions about straight running at a speed (m/s), steering wheel and
        throttle fixed."""
        x, drive, steer, unknown, _ = self._straight_running_state(speed)
        J = self._jacobian({STEER: steer, DRIVE: drive}, x, unknown)
        values, vectors = np.linalg.eig(J)
        names = [self.names[i] for i in unknown]
        return [
            CarMode(complex(v), dict(zip(names, np.abs(w).tolist(), strict=True)))
            for v, w in zip(values, vectors.T, strict=True)
            if v.imag >= 0
        ]

    def responses(
        self, speed: float, outputs: Sequence[str], frequencies: Array
    ) -> dict[str, Array]:
        """Complex gains of outputs (user units per deg of the steering wheel) over frequencies
        (Hz)."""
        x, drive, steer, unknown, _ = self._straight_running_state(speed)
        inputs = {STEER: steer, DRIVE: drive}
        A, B = (
            self._jacobian(inputs, x, unknown),
            self._input_partials(x, inputs, STEER, ANGLE)[unknown],
        )
        C = central_differences(lambda at: self._output_vector(at, inputs, outputs), x, unknown)
        D = (
            self._output_vector(x, inputs | {STEER: steer + ANGLE}, outputs)
            - self._output_vector(x, inputs, outputs)
        ) / ANGLE
        eye = np.eye(len(unknown))
        gains = [
            C @ np.linalg.solve(2j * np.pi * f * eye - A, B.astype(complex)) + D
            for f in frequencies
        ]
        return dict(zip(outputs, np.array(gains).T, strict=True))

    def _output_vector(self, x: Array, inputs: dict[str, float], outputs: Sequence[str]) -> Array:
        n = self.sim.loaded.n_q
        outputs_by_name = self.sim.outputs(
            0.0, x[:n].tolist(), x[n:].tolist(), parameters=self.parameters, inputs=inputs
        )
        return np.array([outputs_by_name[name] for name in outputs])

    def _straight_running_state(self, speed: float) -> tuple[Array, float, float, Array, Array]:
        """State, driving torque, steering-wheel angle, places of what is not cyclic, and the
        Jacobian there, straight ahead: the forward speed is held, and its column is that of the
        driving torque; the yaw rate stays zero by the steering wheel, as a car that is not
        symmetric needs another angle than zero."""
        x, drive, steer = self._initial_guess(speed)
        unknown = self._non_cyclic_states(x, {STEER: steer, DRIVE: drive})
        forward, turning = self._index_of(unknown, FORWARD), self._index_of(unknown, TURNING)
        for _ in range(ITERATIONS):
            inputs = {STEER: steer, DRIVE: drive}
            r, J = self._state_derivatives(inputs)(x)[unknown], self._jacobian(inputs, x, unknown)
            J[:, forward] = self._input_partials(x, inputs, DRIVE, max(1.0, 1e-3 * abs(drive)))[
                unknown
            ]
            straight = J.copy()
            straight[:, turning] = self._input_partials(x, inputs, STEER, ANGLE)[unknown]
            try:
                step = np.linalg.solve(straight, -r)
            except np.linalg.LinAlgError:
                break
            x[unknown] += self._state_step(step, unknown, FORWARD, TURNING)
            drive, steer = drive + float(step[forward]), steer + float(step[turning])
            if not np.isfinite(step).all():
                break
            if np.abs(self._state_step(step, unknown, FORWARD, TURNING)).max() < STEP_TOLERANCE:
                self._last = x.copy(), drive, steer
                return x, drive, steer, unknown, J
        name = self.car.data.sections.name
        raise RunError(f"{name} has no steady motion straight ahead at {3.6 * speed:.4g} km/h")

    def _initial_guess(self, speed: float) -> tuple[Array, float, float]:
        if self._last is not None:
            x, drive, steer = self._last
            last_speed = x[self.names.index(FORWARD)]
            scaled = {
                n: x[i] * speed / last_speed if n.startswith("u(") else x[i]
                for i, n in enumerate(self.names)
            }
            geared = {
                n: value for n, value in self.car.rolling_state(speed).items() if n in (GEAR, MOTOR)
            }
            return np.array([*(scaled | geared).values()]), drive, steer
        start = self.car.nearest_straight_state(speed)
        initial = np.array(
            [0.0 if name.startswith("driver.") else start[name] for name in self.names]
        )
        initial[self.names.index(TURNING)] = 0.0
        return initial, self.car.drive_torque(start), math.degrees(start["driver.turn"])

    def _non_cyclic_states(self, x: Array, inputs: dict[str, float]) -> Array:
        """Places of the states that are not those of the driver and not cyclic: what nothing but
        they depend on."""
        f = self.sim.rhs(parameters=self.parameters, inputs=inputs)
        return non_cyclic_states(
            f,
            x,
            np.array([i for i, name in enumerate(self.names) if not name.startswith("driver.")]),
        )

    def _jacobian(self, inputs: dict[str, float], x: Array, indices: Array) -> Array:
        """Derivatives of the rates at some places with respect to the states there."""
        rates = self._state_derivatives(inputs)
        return central_differences(lambda at: rates(at)[indices], x, indices)

    def _state_derivatives(self, inputs: dict[str, float]) -> Callable[[Array], Array]:
        f = self.sim.rhs(parameters=self.parameters, inputs=inputs)
        return lambda x: np.array(f(0.0, x))

    def _input_partials(self, x: Array, inputs: dict[str, float], name: str, step: float) -> Array:
        """Derivatives of the rates by an input."""
        rates_above, rates_below = (
            self._state_derivatives(inputs | {name: inputs[name] + d})(x) for d in (step, -step)
        )
        partials: Array = (rates_above - rates_below) / (2 * step)
        return partials

    def _index_of(self, unknown: Array, name: str) -> int:
        return int(np.flatnonzero(unknown == self.names.index(name))[0])

    def _state_step(self, step: Array, unknown: Array, *inputs: str) -> Array:
        """A move without those of inputs, which stand in the places of speeds."""
        input_indices = [self.names.index(name) for name in inputs]
        state_step: Array = np.where(np.isin(unknown, input_indices), 0.0, step)
        return state_step


def equivalent_wheelbase(car: CompiledCar) -> float:
    """Wheelbase (m) of a vehicle with two axles that goes round slowly with the same steering
    angle: V^2 d/ay without the part that grows with V^2. More axles than two, also those of
    trailers, resist a turn."""
    if not car.data.simple_axles:
        return car.metrics["wheelbase"]
    model, ratio = LinearCar(car), car.metrics["steering_ratio"]
    (v, y), (w, z) = (
        (v**2, v**2 * math.radians(1.0) / ratio / model.gains(v)["ay"]) for v in SLOWLY
    )
    return (w * y - v * z) / (w - v)


def add_equivalent_wheelbase(metrics: MetricCollector, car: CompiledCar) -> float:
    """The equivalent wheelbase (m); of a vehicle with more than two axles it becomes a metric."""
    base = equivalent_wheelbase(car)
    if car.data.simple_axles:
        metrics.add("wheelbase_equivalent", base, "m", EQUIVALENT)
    return base


def linear_handling_metrics(car: CompiledCar, speed: float = SPEED) -> Figures:
    """Gradients at a speed (m/s), characteristic speed and cornering stiffnesses of the linear
    model of a car."""
    model, f, V = LinearCar(car), car.metrics, speed
    ratio, base = f["steering_ratio"], f["wheelbase"]
    towing = bool(car.at_rest.trailers) or bool(car.data.added_axles)
    rear_axle = float(car.at_rest.contact_points[2:, 0].mean())
    rear_distance = (
        float(car.at_rest.mass_centre[0]) - rear_axle if towing else base * f["front_share"]
    )

    def steer(v: float) -> float:
        """Steering angle of the front wheels per lateral acceleration, rad s2/m."""
        return math.radians(1.0) / ratio / model.gains(v)["ay"]

    low, high = V * (1 - SPEED_DIFFERENCE), V * (1 + SPEED_DIFFERENCE)
    K = (high**2 * steer(high) - low**2 * steer(low)) / (high**2 - low**2)
    gains = model.gains(V)
    slip = math.radians(gains["side_slip"] / gains["ay"])
    rear = rear_distance / V**2 - slip
    front = steer(V) - base / V**2 + rear
    axle_masses = f["mass"] * f["front_share"], f["mass"] * (1 - f["front_share"])
    speed_text = f"{3.6 * V:.4g} km/h"
    body_label = "" if car.data.frame is None else " of the front part of the body"
    figures = {
        "understeer": VehicleMetric(
            math.degrees(K) * GRAVITY, "deg/g", f"understeer gradient at {speed_text}", (-1.0, 9.0)
        ),
        "roll_gradient": VehicleMetric(
            gains["roll"] / gains["ay"] * GRAVITY,
            "deg/g",
            f"roll gradient{body_label} at {speed_text}",
            (0.1, 9.0),
        ),
        "side_slip_gradient": VehicleMetric(
            math.degrees(rear) * GRAVITY, "deg/g", f"slip gradient of the rear axle at {speed_text}"
        ),
        "torque_gradient": VehicleMetric(
            gains["steering_torque"] / gains["ay"],
            "N-m/(m/s2)",
            f"steering torque per lateral acceleration at {speed_text}",
        ),
    }
    if towing:
        figures["wheelbase_equivalent"] = VehicleMetric(equivalent_wheelbase(car), "m", EQUIVALENT)
    axles = (
        () if towing else (("front", axle_masses[0], front), ("rear", axle_masses[1], rear))
    )  # a hitch or one more axle adds lateral force
    for name, mass, angle in axles:
        stiffness = math.radians(mass / angle) / 1000 if angle else math.inf
        label = f"cornering stiffness of the {name} axle with suspension" + (
            " and steering" if name == "front" else ""
        )
        figures[f"cornering_{name}"] = VehicleMetric(stiffness, "kN/deg", label)
    return Figures(figures | _characteristic_speed_metric(model))


def _characteristic_speed_metric(model: LinearCar) -> dict[str, VehicleMetric]:
    """The speed of the largest yaw gain, or the one above which the car is not stable, as far as it
    is driven."""

    def gain(v: float) -> float:
        return model.gains(v)["yaw_rate"]

    best, v = gain(SLOWEST), SLOWEST
    while v < HIGHEST:
        try:
            next_gain = gain(v * (1 + WIDE))
        except RunError:
            return {}  # the drive does not reach more
        if next_gain < 0 or not math.isfinite(next_gain):
            return {
                "critical_speed": _speed_metric(
                    _bisect(lambda x: 1 / gain(x), v, v * (1 + WIDE)), CRITICAL
                )
            }
        if next_gain < best:
            return {
                "characteristic_speed": _speed_metric(
                    _find_maximum(gain, v / (1 + WIDE), v * (1 + WIDE)), CHARACTERISTIC
                )
            }
        best, v = next_gain, v * (1 + WIDE)
    return {}


CHARACTERISTIC, CRITICAL = (
    "characteristic speed: that of the largest yaw gain",
    "speed above which it is not stable",
)


def _speed_metric(speed: float, label: str) -> VehicleMetric:
    return VehicleMetric(3.6 * speed, "km/h", label)


def _bisect(value: Callable[[float], float], low: float, high: float) -> float:
    """Where a value changes its sign."""
    at_low = value(low) > 0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if (value(middle) > 0) == at_low else (low, middle)
    return (low + high) / 2


def _find_maximum(value: Callable[[float], float], low: float, high: float) -> float:
    """Where a value is largest: parabolas through three points."""
    middle, h = (low + high) / 2, (high - low) / 2
    for _ in range(3):
        a, b, c = value(middle - h), value(middle), value(middle + h)
        middle += h * (a - c) / (2 * (a - 2 * b + c))
        h /= 2
    return middle
