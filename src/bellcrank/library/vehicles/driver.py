"""Drivers: steering by preview of a path and a speed that is kept, as formulas and states of the model itself.

MacAdam (1981), Application of an optimal preview control for simulation of closed-loop automobile driving, IEEE
Transactions SMC-11: the steering angle that, held over the preview time, brings a linear single-track car nearest to
the path, by least squares over points ahead. With x = (v_y, r) of x' = A x + B d, in axes of the car,

    d = sum of g_j (y_j - f_j x)/sum of g_j^2,

y_j the path t_j ahead, f_j x where the car would be without steering, g_j d what steering adds; all through the
exponential of one matrix, so exact; gains depend on the speed alone and are tables over it. A lag stands for the
muscles. Single point: d = (l + K V^2) 2 y/D^2 at D = V T ahead. The nearest station of the path is a state that is
drawn along, never searched. Speed: a moment in proportion to the error and its integral, which waits at the limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import expm

from bellcrank.api.system import System
from bellcrank.describe.handles import BodyHandle
from bellcrank.errors import ModelError
from bellcrank.expr.table import table
from bellcrank.library.tyres.steady import ARRAYS
from bellcrank.library.vehicles.data import CORNERS, GRAVITY, CarData
from bellcrank.library.vehicles.figures import Figures, figures_of, steering_ratio
from bellcrank.library.vehicles.path import Path
from bellcrank.library.vehicles.rest import Stand

KINDS = ("macadam", "point")
SPEEDS = (1.0, 3.0, 5.0, 7.5, 10.0, 13.0, 16.0, 20.0, 25.0, 30.0, 36.0, 43.0, 52.0, 65.0)  # m/s, of the gain tables
SLOWEST = 1.0  # m/s, from which on the driver looks ahead
DRAWN = 5.0  # 1/s, with which the station is drawn to the nearest point
COASTS = 0.05  # of the weight, as a force that the engine brakes with; beyond, the brakes do


@dataclass(frozen=True)
class Driver:
    """Who drives. `path`: what to follow (None: the steering wheel is an input alone); `kind`: "macadam" or "point";
    `preview` time (s), of MacAdam with `points` ahead; `lag` of the arms (s); `most`: steering-wheel angle (deg).

    The speed is kept at the input speed_set (m/s) with the gains k_speed (1/s) and i_speed (1/s^2), parameters.
    """

    path: Path | None = None
    kind: str = "macadam"
    preview: float = 1.0
    points: int = 10
    lag: float = 0.1
    most: float = 500.0
    k_speed: float = 1.5
    i_speed: float = 0.5

    def __post_init__(self) -> None:
        wrong = [] if self.kind in KINDS else [f"kind={self.kind!r} must be one of {', '.join(KINDS)}"]
        for name in ("preview", "lag", "most"):
            if not getattr(self, name) > 0:
                wrong.append(f"{name}={getattr(self, name)!r} must be positive")
        if not isinstance(self.points, int) or not 1 <= self.points <= 50:
            wrong.append(f"points={self.points!r} must be a whole number from 1 to 50")
        if wrong:
            raise ModelError("driver: " + "; ".join(wrong))

    def add(self, s: System, car: CarData, at_rest: Stand, chassis: BodyHandle) -> dict[str, str]:
        """Adds states and formulas; returns what the model shall take for steer, drive and brake."""
        s.define("driver.ahead", "dot(vel(chassis.cm), direction(project([chassis1], [n3])))")
        found = self._speed(s, car, at_rest)
        if self.path is not None:
            found["steer"] = self._steering(s, car, at_rest)
        return found

    def start(self, car: CarData, at_rest: Stand) -> dict[str, float]:
        """The station of the path nearest to where the car begins."""
        if self.path is None:
            return {}
        return {"driver.station": self.path.nearest(float(car.sprung.cg[0]), float(car.sprung.cg[1]))}

    def _speed(self, s: System, car: CarData, at_rest: Stand) -> dict[str, str]:
        s.add_variable("speed_set", units="L/T", label="speed that the driver keeps")
        s.set_run(inputs={"speed_set": 0.0})
        s.add_parameter("k_speed", self.k_speed, units="1/T", label="driver: acceleration over speed error")
        s.add_parameter("i_speed", self.i_speed, units="1/T**2", label="driver: acceleration over its integral")
        radius = sum(float(car.axle(a).tyre.free_radius(ARRAYS, 0.0)) for a, _ in CORNERS.values()) / 4
        s.add_parameter("driver_reach", at_rest.mass * radius, units="M*L", label="mass times radius of the wheels")
        s.define("driver.error", "speed_set - driver.ahead")
        s.define("driver.moment", "driver_reach*(k_speed*driver.error + i_speed*driver.sum)")
        drive = car.sections.drive
        most = "drive_limit" if drive.map is not None else repr(drive.torque or 1e9)
        full = f"abs(driver.moment) < {most}"
        s.add_state("driver.sum", rate=f"where({full}, where(k_speed > 0, driver.error, 0), 0)", units="L",
                    label="integral of the speed error")  # fmt: skip
        coasts = f"({COASTS}*g*driver_reach)"
        return {
            "drive": f"drive + max(-{coasts}, driver.moment)",
            "brake": f"brake + max(0, -driver.moment - {coasts})",
        }

    def _steering(self, s: System, car: CarData, at_rest: Stand) -> str:
        path = self.path
        assert path is not None
        for name, values in (("path_x", path.x), ("path_y", path.y), ("path_heading", path.heading)):
            s.define(name, table(path.s, values, 3))
        s.define("driver.cos", "dot(direction(project([chassis1], [n3])), [n1])")
        s.define("driver.sin", "dot(direction(project([chassis1], [n3])), [n2])")
        s.define("driver.x", "dot(pos(chassis.cm), [n1])")
        s.define("driver.y", "dot(pos(chassis.cm), [n2])")
        s.define("driver.heading", "path_heading(driver.station)")
        along = "cos(driver.heading)*{0} + sin(driver.heading)*{1}"
        goes = along.format("dot(vel(chassis.cm), [n1])", "dot(vel(chassis.cm), [n2])")
        short = along.format("(driver.x - path_x(driver.station))", "(driver.y - path_y(driver.station))")
        s.add_state("driver.station", rate=f"{goes} + {DRAWN}*({short})", units="L", label="station of the path")
        away = along.format("(driver.y - path_y(driver.station))", "(path_x(driver.station) - driver.x)")
        s.add_output(away, "path_error", label="distance from the path, to the left", units="L")
        s.define("driver.pace", f"max({SLOWEST}, driver.ahead)")
        s.define("driver.aside", "dot(vel(chassis.cm), cross([n3], direction(project([chassis1], [n3]))))")
        s.define("driver.turns", "dot(rot(chassis), [n3])")
        wanted = self._macadam(s, car, at_rest) if self.kind == "macadam" else self._point(s, car, at_rest)
        most = math.radians(self.most)
        s.define("driver.wanted", f"max(-{most!r}, min({most!r}, {steering_ratio(car)!r}*({wanted})))")
        s.add_parameter("t_driver", self.lag, units="T", label="lag of the driver's arms")
        s.require_positive("t_driver")
        s.add_state("driver.steer", rate="(driver.wanted - driver.steer)/t_driver", units="A",
                    label="steering-wheel angle of the driver")  # fmt: skip
        return "steer + driver.steer"

    def _ahead(self, s: System, index: int, time: float) -> str:
        """Defines the distance of the path from the car's axis, some time ahead."""
        at, name = f"(driver.station + {time!r}*driver.pace)", f"driver.see_{index}"
        dx, dy = f"(path_x({at}) - driver.x)", f"(path_y({at}) - driver.y)"
        s.define(name, f"driver.cos*{dy} - driver.sin*{dx}")
        return name

    def _macadam(self, s: System, car: CarData, at_rest: Stand) -> str:
        times = self.preview * np.arange(1, self.points + 1) / self.points
        found = figures_of(car, at_rest)
        rows = np.array([gains(*single_track(car, at_rest, found, v), v, times) for v in SPEEDS])
        terms = []
        for j, time in enumerate(times):
            s.define(f"driver_gain_{j + 1}", table(SPEEDS, rows[:, j].tolist(), 3))
            terms.append(f"driver_gain_{j + 1}(driver.pace)*{self._ahead(s, j + 1, float(time))}")
        for name, column, of in (("aside", -2, "driver.aside"), ("turns", -1, "driver.turns")):
            s.define(f"driver_gain_{name}", table(SPEEDS, rows[:, column].tolist(), 3))
            terms.append(f"-driver_gain_{name}(driver.pace)*{of}")
        return " + ".join(terms).replace("+ -", "- ")

    def _point(self, s: System, car: CarData, at_rest: Stand) -> str:
        found = figures_of(car, at_rest)
        K = math.radians(found["understeer"]) / GRAVITY
        see = self._ahead(s, 1, self.preview)
        far = f"({self.preview!r}*driver.pace)"
        return f"({found['wheelbase']!r} + {max(K, 0.0)!r}*driver.pace**2)*2*{see}/{far}**2"


def gains(A: Any, B: Any, speed: float, times: Any) -> Any:
    """MacAdam's gains at a speed: of the points ahead, then of side speed and yaw rate (rad per m, m/s, rad/s)."""
    M = np.zeros((5, 5))  # of y, v_y, psi, r and the steering angle, which is held
    M[0, 1], M[0, 2], M[2, 3] = 1.0, speed, 1.0
    M[np.ix_((1, 3), (1, 3))], M[(1, 3), 4] = A, B
    first = np.array([expm(M * t)[0] for t in times])
    g = first[:, 4]
    weights = g / (g @ g)
    return np.array([*weights, weights @ first[:, 1], weights @ first[:, 3]])


def single_track(car: CarData, at_rest: Stand, found: Figures, speed: float) -> tuple[Any, Any]:
    """A and B of (v_y, r)' = A (v_y, r) + B d: the linear car with the cornering stiffnesses of its axles."""
    m, C1, C2 = found["mass"], *(np.degrees(found[f"cornering_{a}"]) * 1000 for a in ("front", "rear"))
    b = found["wheelbase"] * found["front_share"]
    a = found["wheelbase"] - b
    Iz = yaw_inertia(car, at_rest)
    A = [[-(C1 + C2) / (m * speed), -(a * C1 - b * C2) / (m * speed) - speed],
         [-(a * C1 - b * C2) / (Iz * speed), -(a * a * C1 + b * b * C2) / (Iz * speed)]]  # fmt: skip
    return np.array(A), np.array([C1 / m, a * C1 / Iz])


def yaw_inertia(car: CarData, at_rest: Stand) -> float:
    """Moment of inertia of the whole car about the vertical through its mass centre."""
    sprung, centre = car.sprung, at_rest.centre
    total = float(sprung.inertia[2, 2]) + sprung.mass * float(np.sum((sprung.cg[:2] - centre[:2]) ** 2))
    for i, (which, _) in enumerate(CORNERS.values()):
        record = car.axle(which).record
        own = record.carrier.mass + record.wheel.mass + sum(x.mass for x in (record.links or {}).values())
        total += own * float(np.sum((at_rest.contact[i][:2] - centre[:2]) ** 2))
        total += record.wheel.cross_inertia or record.wheel.spin_inertia / 2
    return total
