"""The linear equations of a car with trailers in the plane, written by virtual work: lateral
position of the car and headings of all units, and slip angles of all axles that lag by the
relaxation lengths of the tyres; and the paths of all units in a steady circle at a low speed.

Only data of the car and its trailers, loads at rest and tyre stiffnesses at them are used. Places x
are in axes of each unit, from the mass centre of the car and from the hitches of trailers.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import root

from bellcrank.model.describe.tyre_model import Rolling
from bellcrank.vehicles.cars.design.car_data import CORNERS, GRAVITY
from bellcrank.vehicles.cars.statics.trailer_statics import pitch_roll_rotation
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS


@dataclass(frozen=True)
class Unit:
    m: float
    I: float
    cg: float
    seen: float  # x of the sprung mass centre, where lateral acceleration is measured
    # of each: x, cornering stiffness (N/rad), pneumatic trail, relaxation length, yaw resistance (N
    # m^2)
    axles: tuple
    R: float = 0.0  # N, resistance
    hitch: float = 0.0  # x on the unit that tows it
    towed_by: int = 0  # which unit that is


@dataclass(frozen=True)
class Combination:
    units: tuple

    def by(self, k, x):
        """Lateral place of a point of unit k, by the lateral place of the car and the headings of
        all units."""
        row = np.zeros(1 + len(self.units))
        row[0] = 1
        while True:
            row[1 + k] += x
            if k == 0:
                return row
            k, x = self.units[k].towed_by, self.units[k].hitch

    def matrices(self, U):
        """A and B of x' = A x + B steer, x = (y', headings, their rates, slip angles of all
        axles)."""
        n, axles = (
            len(self.units),
            [(k, *axle) for k, unit in enumerate(self.units) for axle in unit.axles],
        )
        size = 2 * n + 1 + len(axles)
        M, F = np.zeros((n + 1, n + 1)), np.zeros((n + 1, size))
        for k, unit in enumerate(self.units):
            M += unit.m * np.outer(self.by(k, unit.cg), self.by(k, unit.cg))
            M[1 + k, 1 + k] += unit.I
            # resistance along the unit at its axles, which the drive along the car makes up; both
            # turn with their units, and what is hitched to a unit comes nearer as that turns: the
            # forces pull straight
            F[:, 1 + k] -= unit.R * self.by(k, 0)
            F[0, 1] += unit.R
            towed, x = k, 0.0
            while towed:
                at, towed = self.units[towed].hitch, self.units[towed].towed_by
                F[1 + towed, 1 + towed] += unit.R * at
        A, B = np.zeros((size, size)), np.zeros(size)
        first = 2 * n + 1
        for j, (k, x, C, trail, sigma, resists) in enumerate(axles):
            F[:, first + j] -= C * self.by(k, x - trail)
            F[1 + k, n + 1 + k] -= resists / U
            at = self.by(k, x)
            slip = np.zeros(size)
            slip[0] = 1 / U
            slip[n + 1 : first] = at[1:] / U
            slip[1 + k] -= 1
            slip[first + j] -= 1
            A[first + j] = slip * U / sigma
        B[first] = -U / axles[0][4]
        rates = np.linalg.solve(M, F)
        A[0], A[n + 1 : first] = rates[0], rates[1:]
        A[1 : n + 1, n + 1 : first] = np.eye(n)
        return A, B

    def sway(self, U):
        """Damping ratio and frequency (Hz) of the least damped oscillation."""
        values = np.linalg.eigvals(self.matrices(U)[0])
        worst = min((x for x in values if x.imag > 1e-3), key=lambda x: -x.real / abs(x))
        return -worst.real / abs(worst), worst.imag / (2 * np.pi)

    def critical_speed(self, low=10.0, high=80.0):
        """Speed (m/s) at which the damping of sway vanishes."""
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.sway(middle)[0] > 0 else (low, middle)
        return low

    def amplification(self, U, frequency, unit=1):
        """Lateral acceleration of a trailer's sprung mass centre over that of the car's, of a
        steady sine."""
        A, B = self.matrices(U)
        n, s = len(self.units), 2j * np.pi * frequency
        x = np.linalg.solve(s * np.eye(len(A)) - A, B)
        speeds = x[[0, *range(n + 1, 2 * n + 1)]]
        trailer, car = (self.by(k, self.units[k].seen) @ speeds for k in (unit, 0))
        return abs(trailer / car)


def tyre(model, load, speed, alpha):
    """Cornering stiffness (N/rad), pneumatic trail and relaxation length (m), rolling resistance (N
    m), at a slip angle (rad) such as toe makes."""
    h = 1e-5
    low, found, high = (model.forces(load, 0.0, a) for a in (alpha - h, alpha, alpha + h))
    C, M = ((float(getattr(high, k)) - float(getattr(low, k))) / (2 * h) for k in ("Fy", "Mz"))
    at = Rolling(load, 0.0, 0.0, 0.0, model.usual[0], speed, 0.0)
    with np.errstate(all="ignore"):
        still = model.steady(ARRAYS, at, model.scales)
    return abs(C), abs(M / C), float(still["sigma_y"]), abs(float(found.My))


def level(x, z, angle):
    return float(x * np.cos(angle) + z * np.sin(angle))


def towed_axle(axle, loads, speed, alpha, x, cg):
    """An axle without hard points as an entry of `Unit`, what it adds to the yaw inertia about
    `cg`, its resistance (N)."""
    tyres, spacing = len(axle.tyre_offsets), axle.record.dual_spacing or 0.0
    wheels = [axle.wheel(side) for side in "lr"]
    sides = [tyre(axle.tyre, loads[w] / tyres, speed, alpha.get(w, 0.0)) for w in wheels]
    C = tyres * sum(s[0] for s in sides)
    trail, sigma = sum(s[0] * s[1] for s in sides) * tyres / C, np.mean([s[2] for s in sides])
    slip = getattr(axle.tyre, "c_slip", 0.0) if tyres > 1 else 0.0
    wheel, y = axle.record.wheel, axle.record.at[1]
    inertia = axle.mass * ((x - cg) ** 2 + y**2) + 2 * (
        wheel.cross_inertia or wheel.spin_inertia / 2
    )
    if axle.is_rigid:
        inertia += axle.record.inertia[2] - axle.record.mass * y**2
    radius = float(axle.tyre.forces(loads[wheels[0]] / tyres, 0.0, 0.0).Re)
    inertia += 2 * wheel.spin_inertia * (y / radius) ** 2
    return (
        (x, C, trail, sigma, 4 * slip * (spacing / 2) ** 2),
        inertia,
        tyres * sum(s[3] for s in sides) / radius,
    )


def combination(car, speed=20.0, pitch=None, heights=None, alpha=None):
    """The car with its trailers. Lengths are horizontal: `pitch` of car and trailers by name (rad,
    nose down), and z of the mass centres of their sprung masses in their own axes, say by how much
    they differ from those as drawn; `alpha`: slip angles (rad) of wheels, straight ahead. Wheels
    that roll turn at different speeds left and right, which adds to yaw inertias."""
    data, at, pitch, heights, alpha = car.data, car.stand, pitch or {}, heights or {}, alpha or {}
    centre, nose = at.centre, pitch.get("car", 0.0)
    inertia = (
        float(data.sprung.inertia[2, 2]) + data.sprung.mass * (data.sprung.cg[0] - centre[0]) ** 2
    )
    inertia += data.sprung.mass * data.sprung.cg[1] ** 2
    origin = level(centre[0], heights.get("car", 0.0), nose)
    seen = float(data.sprung.cg[0] - centre[0])
    axles = []
    for i, axle in ((0, data.front), (2, data.rear)):
        record, tyres, spacing = (
            axle.record,
            len(axle.tyre_offsets),
            axle.record.dual_spacing or 0.0,
        )
        own = record.carrier.mass + sum(x.mass for x in (record.links or {}).values())
        turned, radius = (
            record.carrier.inertia[2],
            float(axle.tyre.forces(at.load[i] / tyres, 0.0, 0.0).Re),
        )
        for j in (i, i + 1):
            far = float(np.sum((at.contact[j][:2] - centre[:2]) ** 2))
            if not axle.both:
                inertia += own * far + turned
            inertia += record.wheel.mass * far + (
                record.wheel.cross_inertia or record.wheel.spin_inertia / 2
            )
            inertia += record.wheel.spin_inertia * (at.contact[j][1] / radius) ** 2
        x = float(at.contact[i : i + 2, 0].mean())
        if axle.both:
            inertia += own * (x - centre[0]) ** 2 + turned
        sides = [
            tyre(axle.tyre, at.load[j] / tyres, speed, alpha.get(list(CORNERS)[j], 0.0))
            for j in (i, i + 1)
        ]
        C = tyres * sum(s[0] for s in sides)
        slip = getattr(axle.tyre, "c_slip", 0.0) if tyres > 1 else 0.0
        axles.append(
            (
                x - origin,
                C,
                tyres * sum(s[0] * s[1] for s in sides) / C,
                np.mean([s[2] for s in sides]),
                4 * slip * (spacing / 2) ** 2,
            )
        )
    for axle in data.added:
        entry, more, _ = towed_axle(
            axle, at.added.load, speed, alpha, axle.record.at[0] - origin, centre[0] - origin
        )
        axles.append(entry)
        inertia += more
    units, names = [Unit(at.mass, inertia, 0.0, seen, tuple(axles))], ["chassis"]
    for trailer, stands in zip(data.trailers, at.trailers, strict=True):
        name, towing = trailer.name, names.index(trailer.towed_by)
        angle, z = pitch.get(name, 0.0), heights.get(name, 0.0)
        own = level(trailer.sprung.cg[0], z, angle)
        places = [level(a.record.at[0], a.record.at[2], angle) for a in trailer.axles]
        cg = (
            trailer.sprung.mass * own + sum(a.mass * x for a, x in zip(trailer.axles, places))
        ) / trailer.mass
        inertia = float(trailer.sprung.inertia[2, 2]) + trailer.sprung.mass * (own - cg) ** 2
        axles, resistance = [], 0.0
        for axle, x in zip(trailer.axles, places):
            entry, more, resists = towed_axle(axle, stands.load, speed, alpha, x, cg)
            axles.append(entry)
            inertia, resistance = inertia + more, resistance + resists
        hitch = level(
            trailer.hitch[0],
            trailer.hitch[2],
            pitch.get("car" if towing == 0 else trailer.towed_by, 0.0),
        )
        hitch -= 0 if towing else origin
        units.append(Unit(trailer.mass, inertia, cg, own, tuple(axles), resistance, hitch, towing))
        names.append(name)
    return Combination(tuple(units))


def by_hand(model, car, speed, heights):
    """Equations by hand, with the pitch of all units and the slip angles that toe and travel make
    straight ahead."""
    x, drive, steer, *_ = model._steady(speed)
    units = {"car": "pitch"} | {
        trailer.name: f"{trailer.name}.pitch" for trailer in car.data.trailers
    }
    wheels = [
        *car.data.wheels,
        *(axle.wheel(side) for t in car.data.trailers for axle in t.axles for side in "lr"),
    ]
    shown = {o.name for o in model.sim.interface.outputs}
    wheels = [wheel for wheel in wheels if f"{wheel}.tyre.alpha" in shown]  # dual tyres have no toe
    seen = model._out(
        x,
        {"steer": steer, "drive": drive},
        (*units.values(), *(f"{wheel}.tyre.alpha" for wheel in wheels)),
    )
    pitch, alpha = dict(zip(units, np.radians(seen))), dict(zip(wheels, seen[len(units) :]))
    return combination(car, speed, pitch, heights, alpha)


def circling(car, radii):
    """Radii (m) of the paths of the axles of trailers, by name, in a slow steady circle to the
    left, from those of the rear axles of the car. Unit k goes round the centre at the distance b,
    at right angles at the point p behind its hitch. Its tyres slip by their distance from that
    point; they, the resistance and the unit behind make no moment about the hitch."""
    trailers, at = car.data.trailers, car.stand
    x, found = float(at.contact[2:, 0].mean()), {}
    p, b = -x, radii["rear"]
    for axle in car.data.added:  # two axles of the car: where between them it goes at right angles
        other = axle.record.at[0]
        p = ((radii["rear"] ** 2 - radii[axle.index] ** 2) / (x - other) - x - other) / 2
        b = np.sqrt(radii["rear"] ** 2 - (x + p) ** 2)

    def shape(points):
        """Distances b, and angles to the towing units."""
        found = {"chassis": (p, b, 0.0)}
        for trailer, own in zip(trailers, points):
            before, beside, _ = found[trailer.towed_by]
            offset = before + trailer.hitch[0]
            far = np.sqrt(beside**2 + offset**2 - own**2)
            found[trailer.name] = (own, far, np.arctan2(offset, beside) - np.arctan2(own, far))
        return found

    def moments(points):
        shapes, behind, left = shape(points), {t.name: [] for t in trailers}, []
        for trailer, stands in zip(reversed(trailers), reversed(at.trailers)):
            own, far, angle = shapes[trailer.name]
            force, moment = np.zeros(2), 0.0
            for at_x, push in behind[trailer.name]:
                force, moment = force + push, moment + at_x * push[1]
            for axle in trailer.axles:
                (x, C, trail, _, _), _, resists = towed_axle(
                    axle, stands.load, 1.0, {}, axle.record.at[0], 0.0
                )
                push = -C * np.arctan2(x + own, far)
                force, moment = force + [-resists, push], moment + (x - trail) * push
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            behind.setdefault(trailer.towed_by, []).append((trailer.hitch[0], turn @ force))
            left.append(moment / 1e5)
        return left

    first = [-np.mean([a.record.at[0] for a in t.axles]) for t in trailers]
    answer = root(moments, first, tol=1e-10)
    assert answer.success
    for trailer in trailers:
        own, far, _ = shape(answer.x)[trailer.name]
        found |= {
            axle.index: float(np.hypot(far, axle.record.at[0] + own)) for axle in trailer.axles
        }
    return found


def level_loads(car):
    """Loads (N) of the front axle, of all other axles of the car and of each trailer, and on the
    hitches, by weights and moments of units that pitch as they stand, and whose axles carry the
    same."""
    found, behind = {}, {}

    def carried(name, weights, front, xs):
        loads = behind.get(name, [])
        weight = sum(w for _, w in [*weights, *loads])
        group = sum((x - front) * w for x, w in [*weights, *loads]) / (np.mean(xs) - front)
        return weight - group, group

    pitches = {"chassis": car.stand.pitch} | {t.name: t.pitch for t in car.stand.trailers}
    for trailer in reversed(car.data.trailers):
        pitch = pitches[trailer.name]
        weights = [
            (
                level(trailer.sprung.cg[0], trailer.sprung.cg[2], pitch),
                trailer.sprung.mass * GRAVITY,
            )
        ]
        xs = [level(a.record.at[0], a.record.at[2], pitch) for a in trailer.axles]
        weights += [(x, a.unsprung_mass * GRAVITY) for x, a in zip(xs, trailer.axles)]
        hitch, group = carried(trailer.name, weights, 0.0, xs)
        at = level(trailer.hitch_point[0], trailer.hitch_point[2], pitches[trailer.towed_by])
        behind.setdefault(trailer.towed_by, []).append((at, hitch))
        found |= {f"hitch_{trailer.name}": hitch, trailer.name: group}
    at = car.stand
    xs = [float(at.contact_points[2:, 0].mean()), *(a.record.at[0] for a in car.data.added_axles)]
    weights = [(at.mass_centre[0], at.mass * GRAVITY)]
    found["front"], found["rear"] = carried(
        "chassis", weights, float(at.contact_points[:2, 0].mean()), xs
    )
    return found


def braked(model, load, inertia):
    """Of a wheel that rolls: 1/R' with the loaded radius R', M_y/R' by rolling resistance, and I/(R
    R')."""
    found = model.forces(load, 0.0, 0.0)
    height = float(found.Rl)
    return np.array([1.0, abs(float(found.My)), inertia / float(found.Re)]) / height


def hitch_load(trailer):
    """Load of a level trailer with one axle on its hitch (N): its weight without moment about the
    axle's contact."""
    (axle,) = trailer.axles
    return trailer.sprung.mass * GRAVITY * (1 - trailer.sprung.cg[0] / axle.record.at[0])


def lift_angle(car):
    """Inclination of the road (rad) at which the upper wheel of a trailer with one axle of slides
    lifts, on the ball of a car that stands still. Unknown are roll and pitch about the ball, the
    travels of the lower and the upper wheel, and the inclination. Known are forces along both
    slides, the deflections of both tyres, of which the upper one only touches, and moments about
    the ball: those about the other axes are the load and the lateral force of the lower one."""
    trailer, at = car.data.trailers[0], car.stand.trailers[0]
    (axle,) = trailer.axles
    record, r0 = axle.record, float(axle.tyre.free_radius(ARRAYS, 0.0))
    own, normal = record.mass + record.wheel.mass, np.array([0.0, 0.0, 1.0])

    def left_open(unknown):
        roll, pitch, *travels, angle = unknown
        turned = pitch_roll_rotation(pitch, roll)
        weight = GRAVITY * np.array([0.0, -np.sin(angle), -np.cos(angle)])
        centres = [
            turned @ (np.array(record.at) * [1, side, 1] + [0, 0, q])
            for side, q in zip((-1, 1), travels)
        ]
        masses = [(trailer.sprung.mass, turned @ trailer.sprung.cg), *((own, p) for p in centres)]
        inclined = turned[2, 1]
        upright = np.sqrt(1 - inclined**2)
        below = [(at.hitch_height + p[2]) / upright for p in centres]
        contact = centres[0] + below[0] * (inclined * turned[:, 1] - normal) / upright
        force = (
            -sum(m * p[0] for m, p in masses) / contact[0] * weight
        )  # no moment about the axes up and to the left
        moment = np.cross(contact, force) + sum(m * np.cross(p, weight) for m, p in masses)
        along = [(own * weight + f) @ turned[:, 2] for f in (force, 0.0)]
        springs = [along[i] - at.spring - record.stiffness * q for i, q in enumerate(travels)]
        load = record.tyre.vertical_stiffness * (r0 - below[0])
        return [
            moment[0] / 1e4,
            *(f / 1e4 for f in springs),
            (load - force[2]) / 1e4,
            below[1] - r0,
        ]

    found = root(
        left_open, [0.05, at.pitch, *(at.travel[axle.wheel(side)] for side in "rl"), 0.6], tol=1e-12
    )
    assert found.success
    return float(found.x[-1])
