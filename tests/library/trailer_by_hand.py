"""The linear equations of a car with a trailer in the plane, written from Newton's laws: lateral velocity and yaw rate of
the car, articulation angle and its rate, and three slip angles that lag by the relaxation lengths of the tyres.

Only data of the car and its trailer, loads at rest and tyre stiffnesses at them are used. Lengths: a and b from the mass
centre of the car to its axles, e to the hitch; c and L from the hitch to mass centre and axle of the trailer.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import root

from bellcrank.describe.tyre_model import Rolling
from bellcrank.library.tyres.steady import ARRAYS
from bellcrank.library.vehicles.data import CORNERS, GRAVITY
from bellcrank.library.vehicles.trailer_rest import rotation

RADIUS = 0.305  # m, about, of rolling wheels


@dataclass(frozen=True)
class Combination:
    m1: float
    I1: float
    a: float
    b: float
    e: float
    m2: float
    I2: float
    c: float
    L: float
    C: tuple  # N/rad, both wheels of the front, rear and trailer axle
    trail: tuple
    sigma: tuple
    R2: float  # N, resistance of the trailer

    def matrices(self, U):
        """A and B of x' = A x + B steer, x = (v, r, psi, psi', alpha of the three axles)."""
        m1, I1, a, b, e, m2, I2, c, L = (getattr(self, k) for k in ("m1", "I1", "a", "b", "e", "m2", "I2", "c", "L"))
        tf, tr, tt = self.trail
        # unknown rates: v', r', psi'', and the lateral force Y of the hitch on the trailer
        M = np.zeros((4, 4))
        M[0, [0, 3]] = m1, 1
        M[1, [1, 3]] = I1, -e
        M[2] = m2, -m2 * (e + c), -m2 * c, -1
        M[3] = 0, I2, I2, -c
        F = np.zeros((4, 7))  # by the states
        Y = -np.array(self.C)
        F[0, 1] = -m1 * U
        F[0, 4], F[0, 5] = Y[0], Y[1]
        F[1, 4], F[1, 5] = (a - tf) * Y[0], -(b + tr) * Y[1]
        F[2, 1], F[2, 2], F[2, 6] = -m2 * U, -self.R2, Y[2]
        F[3, 2], F[3, 6] = -c * self.R2, -(L + tt - c) * Y[2]
        rates = np.linalg.solve(M, F)
        A, B = np.zeros((7, 7)), np.zeros(7)
        A[0], A[1], A[3] = rates[0], rates[1], rates[2]
        A[2, 3] = 1
        slips = np.zeros((3, 7))
        slips[0, :2] = 1 / U, a / U
        slips[1, :2] = 1 / U, -b / U
        slips[2, :4] = 1 / U, -(e + L) / U, -1, -L / U
        for i, s in enumerate(self.sigma):
            A[4 + i] = slips[i] * U / s
            A[4 + i, 4 + i] -= U / s
        B[4] = -U / self.sigma[0]
        return A, B

    def sway(self, U):
        """Damping ratio and frequency (Hz) of the least damped oscillation."""
        values = np.linalg.eigvals(self.matrices(U)[0])
        worst = min((x for x in values if x.imag > 0), key=lambda x: -x.real / abs(x))
        return -worst.real / abs(worst), worst.imag / (2 * np.pi)

    def critical_speed(self, low=10.0, high=80.0):
        """Speed (m/s) at which the damping of sway vanishes."""
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.sway(middle)[0] > 0 else (low, middle)
        return low

    def amplification(self, U, frequency):
        """Lateral acceleration of the trailer's mass centre over that of the car's, of a steady sine."""
        A, B = self.matrices(U)
        s = 2j * np.pi * frequency
        x = np.linalg.solve(s * np.eye(7) - A, B)
        car = s * x[0] + U * x[1]
        trailer = s * (x[0] - (self.e + self.c) * x[1] - self.c * x[3]) + U * x[1]
        return abs(trailer / car)


def tyre(model, load, speed, alpha):
    """Cornering stiffness (N/rad), pneumatic trail and relaxation length (m), rolling resistance (N m), at a slip
    angle (rad) such as toe makes."""
    h = 1e-5
    low, found, high = (model.forces(load, 0.0, a) for a in (alpha - h, alpha, alpha + h))
    C, M = ((float(getattr(high, k)) - float(getattr(low, k))) / (2 * h) for k in ("Fy", "Mz"))
    at = Rolling(load, 0.0, 0.0, 0.0, model.usual[0], speed, 0.0)
    with np.errstate(all="ignore"):
        still = model.steady(ARRAYS, at, model.scales)
    return abs(C), abs(M / C), float(still["sigma_y"]), abs(float(found.My))


def combination(car, speed=20.0, pitch=(0.0, 0.0), heights=(0.0, 0.0), alpha=(0.0,) * 6):
    """The car with its first trailer, whose axles must be one. Lengths are horizontal: `pitch` of car and trailer (rad,
    nose down), and z of the mass centres of their sprung masses in their own axes, say by how much they differ from
    those as drawn; `alpha`: slip angles (rad) of the wheels fl, fr, rl, rr and of the trailer, straight ahead. Wheels that roll turn at different speeds left and right, which adds to yaw inertias."""
    data, at, trailer = car.data, car.stand, car.data.trailers[0]

    def level(x, z, angle):
        return float(x * np.cos(angle) + z * np.sin(angle))

    centre = at.centre
    inertia = float(data.sprung.inertia[2, 2]) + data.sprung.mass * (data.sprung.cg[0] - centre[0]) ** 2
    inertia += data.sprung.mass * data.sprung.cg[1] ** 2
    sides = {"front": [], "rear": []}
    for i, (axle, _) in enumerate(CORNERS.values()):
        record = data.axle(axle).record
        own = record.carrier.mass + record.wheel.mass + sum(x.mass for x in (record.links or {}).values())
        inertia += own * float(np.sum((at.contact[i][:2] - centre[:2]) ** 2)) + record.carrier.inertia[2]
        inertia += record.wheel.cross_inertia or record.wheel.spin_inertia / 2
        inertia += record.wheel.spin_inertia * (at.contact[i][1] / RADIUS) ** 2
        sides[axle].append(tyre(data.axle(axle).tyre, at.load[i], speed, alpha[i]))
    (towed,) = trailer.axles
    loads = zip(at.trailers[0].load.values(), alpha[4:])
    sides["trailer"] = [tyre(towed.tyre, load, speed, angle) for load, angle in loads]
    C = tuple(sum(s[0] for s in both) for both in sides.values())
    trail = tuple(sum(s[0] * s[1] for s in both) / sum(s[0] for s in both) for both in sides.values())
    sigma = tuple(np.mean([s[2] for s in both]) for both in sides.values())
    x, y, _ = towed.record.at
    m2 = trailer.mass
    x = level(x, towed.record.at[2], pitch[1])
    cg = level(trailer.sprung.cg[0], heights[1], pitch[1])
    c = -(trailer.sprung.mass * cg + towed.mass * x) / m2
    I2 = float(trailer.sprung.inertia[2, 2]) + trailer.sprung.mass * (cg + c) ** 2
    I2 += 2 * towed.record.wheel.spin_inertia * (y / RADIUS) ** 2
    I2 += towed.mass * ((x + c) ** 2 + y**2) + 2 * (
        towed.record.wheel.cross_inertia or towed.record.wheel.spin_inertia / 2
    )
    radius = float(towed.tyre.forces(at.trailers[0].load[towed.wheel("l")], 0.0, 0.0).Re)
    resistance = sum(s[3] for s in sides["trailer"]) / radius
    x_front, x_rear = (float(at.contact[i : i + 2, 0].mean()) for i in (0, 2))
    hitch = level(trailer.hitch[0], trailer.hitch[2], pitch[0])
    centre = [level(centre[0], heights[0], pitch[0])]
    return Combination(
        at.mass, inertia, x_front - centre[0], centre[0] - x_rear, float(centre[0] - hitch), m2, I2, c, -x, C,
        trail, sigma, resistance,
    )  # fmt: skip


def hitch_load(trailer):
    """Load of a level trailer with one axle on its hitch (N): its weight without moment about the axle's contact."""
    (axle,) = trailer.axles
    return trailer.sprung.mass * GRAVITY * (1 - trailer.sprung.cg[0] / axle.record.at[0])


def lift_angle(car):
    """Inclination of the road (rad) at which the upper wheel of a trailer with one axle of slides lifts, on the ball of a
    car that stands still. Unknown are roll and pitch about the ball, the travels of the lower and the upper wheel, and
    the inclination. Known are forces along both slides, the deflections of both tyres, of which the upper one only
    touches, and moments about the ball: those about the other axes are the load and the lateral force of the lower one."""
    trailer, at = car.data.trailers[0], car.stand.trailers[0]
    (axle,) = trailer.axles
    record, r0 = axle.record, float(axle.tyre.free_radius(ARRAYS, 0.0))
    own, normal = record.mass + record.wheel.mass, np.array([0.0, 0.0, 1.0])

    def left_open(unknown):
        roll, pitch, *travels, angle = unknown
        turned = rotation(pitch, roll)
        weight = GRAVITY * np.array([0.0, -np.sin(angle), -np.cos(angle)])
        centres = [turned @ (np.array(record.at) * [1, side, 1] + [0, 0, q]) for side, q in zip((-1, 1), travels)]
        masses = [(trailer.sprung.mass, turned @ trailer.sprung.cg), *((own, p) for p in centres)]
        inclined = turned[2, 1]
        upright = np.sqrt(1 - inclined**2)
        below = [(at.hitch_height + p[2]) / upright for p in centres]
        contact = centres[0] + below[0] * (inclined * turned[:, 1] - normal) / upright
        force = -sum(m * p[0] for m, p in masses) / contact[0] * weight  # no moment about the axes up and to the left
        moment = np.cross(contact, force) + sum(m * np.cross(p, weight) for m, p in masses)
        along = [(own * weight + f) @ turned[:, 2] for f in (force, 0.0)]
        springs = [along[i] - at.spring - record.stiffness * q for i, q in enumerate(travels)]
        load = record.tyre.vertical_stiffness * (r0 - below[0])
        return [moment[0] / 1e4, *(f / 1e4 for f in springs), (load - force[2]) / 1e4, below[1] - r0]

    found = root(left_open, [0.05, at.pitch, *(at.travel[axle.wheel(side)] for side in "rl"), 0.6], tol=1e-12)
    assert found.success
    return float(found.x[-1])
