"""What an engineer computes of a car on a sheet of paper, from masses, springs, tyres and the
slopes of its hard points.

No equation of motion of Bellcrank is used: only the data of the car, where it stands, and how its
linkages move for a small travel as drawn. All is linear, in small motions about the position at
rest.
"""

from dataclasses import dataclass

import numpy as np

import bellcrank as bc
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.cars.statics.static_equilibrium import (
    corner_state,
    rack_centre,
    spring_and_stop_force,
)
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS

UP = np.array([0.0, 0.0, 1.0])
BEAM = "twist_beam"
AXLE_MASS, ARM_MASS, ROD_MASS, LINK_MASS = 85.0, 21.0, 3.0, 2.0  # kg


def symmetric(car):
    """The car with its driver in the middle: formulas by hand have two equal sides."""
    at = car.given["loads"]["driver"]["at"]
    return car.changed(loads={"driver": {"at": [at[0], 0.0, at[2]]}})


def car_with(kind, **rear):
    """The passenger car with another rear axle, its driver in the middle."""
    solid = kind != BEAM
    given = {
        "at": [-2.7, 0, 0],
        "toe": 0,
        "camber": 0,
        "carrier": {
            "mass": AXLE_MASS if solid else ARM_MASS,
            "inertia": [12, 0.9, 12] if solid else [0.4, 0.5, 0.3],
        },
        "anti_roll_bar": None,
        "compliance": None,
        "spring": {"stiffness": 40},
        "links": {"lower_left": {"mass": f"{ROD_MASS} kg"}} if solid else None,
        "twist_stiffness": None if solid else "90 N-m/deg",
    }
    if kind == "panhard_axle":
        given["links"]["panhard"] = {"mass": f"{LINK_MASS} kg"}
    passenger = bc.vehicles.Car.read("passenger")
    sections = {
        **passenger.given,
        "loads": {"driver": {"mass": "75 kg", "at": ["-1.35 m", "0 m", "0.6 m"]}},
    }
    axle = {k: v for k, v in {**sections["rear"], **given, **rear}.items() if v is not None}
    axle["spring"] = {**sections["rear"]["spring"], **axle["spring"]}
    axle["carrier"] = {**sections["rear"]["carrier"], **axle["carrier"]}
    axle["suspension"] = {"shipped": kind}
    return bc.vehicles.Car(**{**sections, "rear": axle})


@dataclass(frozen=True)
class Wheel:
    """A left wheel as it stands; slopes are per travel."""

    x: float
    b: float  # half the track on the ground
    N: float
    tyre: float  # N/m
    spring: float  # N/m of travel, with the preload
    bar: float  # N/m of travel, in roll
    contact: np.ndarray  # slopes of the carrier's point on the ground
    bends: float  # second slope of its height
    turns: np.ndarray  # rotation of the carrier
    centre: np.ndarray  # slopes of the wheel's centre
    R: float  # height of the wheel's centre
    spin: float
    masses: list  # mass, height above the ground, slopes, second slope of the height
    inertia: np.ndarray  # of carrier and wheel across, about their axes
    trail: float
    leans: float  # N m/rad, of the tyre against inclination
    rolls: float  # N m, of rolling resistance about the axis to the left


def wheels(car):
    return {name: wheel(car, name, 0 if name == "front" else 2) for name in ("front", "rear")}


def wheel(car, name, i):
    at, axle = car.stand, car.data.axle(name)
    record, h = axle.record, 1e-4
    low, now, high = (corner_state(axle, 1, at.travel[i] + d, at.height, UP) for d in (-h, 0.0, h))

    def second(f):
        return (f(high) - f(low)) / (2 * h)

    free = at.free_length[name]
    spring = -second(lambda c: spring_and_stop_force(axle, free, c.length, c.drawn) * c.ratio)
    bar = 0.0
    if record.anti_roll_bar is not None:
        track = 2 * (axle.pose(0.0).position[1] + record.at[1])
        bar = 2 * record.anti_roll_bar.stiffness / track**2
    tyre = -(
        corner_state(axle, 1, 0.0, at.height + h, UP).load
        - corner_state(axle, 1, 0.0, at.height - h, UP).load
    ) / (2 * h)
    masses = [
        (m, at.height + place[2], slope, second(lambda c, k=k: c.masses[k].by[0][2]))
        for k, (m, place, slope) in enumerate((p.mass, p.at, p.by[0]) for p in now.masses)
    ]
    pose = axle.pose(at.travel[i])
    found = axle.tyre.forces(at.load[i], 0.0, 0.0)
    return Wheel(
        float(now.contact[0]),
        float(now.contact[1]),
        at.load[i],
        tyre,
        spring,
        bar,
        now.contact_partial,
        second(lambda c: c.slope[2]),
        pose.delta,
        pose.d,
        at.height + float(now.centre[2]),
        record.wheel.spin_inertia,
        masses,
        np.array(record.carrier.inertia)
        + (record.wheel.cross_inertia or record.wheel.spin_inertia / 2),
        float(found.trail),
        -float(axle.tyre.forces(at.load[i], 0.0, 0.0, 1e-3).Mx - found.Mx) / 1e-3,
        float(found.My),
    )


# ---- braking


def loads_of_braking(car, a, moment, drag=0.0, drag_height=0.0, lift=(0.0, 0.0)):
    """Loads of the axles of a car that slows down by `a` with a braking moment, without drive.
    Unknown are heave and pitch (nose down) of the body and the travels; known are virtual work of
    each travel, the sum of the loads, and their moment. Next to m a h act the wheels, which stop
    turning, rolling resistance, and the weight of the body, which leans forward."""
    w, at, sprung, g = wheels(car), car.stand, car.data.sprung, GRAVITY
    rack, share = car.data.sections.steering.rack_mass, car.data.sections.brakes.front_share
    A, r = np.zeros((4, 4)), np.zeros(4)  # z, pitch, travels
    press = {}
    for i, (name, x) in enumerate(w.items()):
        load = np.zeros(4)
        load[[0, 1, 2 + i]] = -x.tyre, x.tyre * x.x, -x.tyre * x.contact[2]
        press[name] = load
        turns = x.spin * a / rolling_radius(car, name)
        T = moment * (share if i == 0 else 1 - share) / 2
        Fx = (-T + x.rolls + turns) / x.R
        # work of the travel of one wheel, locked by its brake to the carrier
        A[i] = load * x.contact[2]
        A[i, 1] += -x.N * x.contact[0] + sum(m * g * v[0] for m, _, v, _ in x.masses)
        A[i, 2 + i] += x.N * x.bends - x.spring - sum(m * g * bends for m, _, _, bends in x.masses)
        r[i] = (
            -Fx * x.contact[0]
            - (x.rolls + turns) * x.turns[1]
            - sum(m * a * v[0] for m, _, v, _ in x.masses)
        )
        A[2] += 2 * load
        r[2] -= lift[i]
        A[3] += 2 * load * x.x
        A[3, 1] += 2 * x.N * x.R - sum(2 * m * g * h for m, h, _, _ in x.masses)
        A[3, 2 + i] += 2 * x.N * x.centre[0] - sum(2 * m * g * v[0] for m, _, v, _ in x.masses)
        r[3] += (
            sum(2 * m * h * a for m, h, _, _ in x.masses) + 2 * turns + 2 * x.rolls - lift[i] * x.x
        )
    high = at.height + sprung.cg[2]
    A[3, 1] -= (sprung.mass * high + rack * w["front"].R) * g
    r[3] += (sprung.mass * high + rack * w["front"].R) * a - drag * drag_height
    found = np.linalg.solve(A, r)
    return [2 * (x.N + float(press[name] @ found)) for name, x in w.items()]


def rolling_radius(car, name, load=None):
    tyre = car.data.axle(name).tyre
    load = car.stand.load[0 if name == "front" else 2] if load is None else load
    return float(tyre.rolling_radius(ARRAYS, load, 60.0, tyre.usual[0]))


# ---- a steady turn


@dataclass(frozen=True)
class Turn:
    """Per lateral acceleration, to the left: roll (rad), travel of the right wheels up, load moved
    to them."""

    roll: float
    travel: dict
    transfer: dict


def steady_turn(car):
    """Three unknowns, roll of the body and a travel of each axle (right wheels up, left ones down),
    and three equations: virtual work of each travel, moments of the whole car about its track. Next
    to m a h act the wheels, which turn about y as the car turns about z, and the tyres, which
    resist to lean."""
    w, at, sprung = wheels(car), car.stand, car.data.sprung
    names = ("front", "rear")
    base = w["front"].x - w["rear"].x
    lever = base - w["front"].trail + w["rear"].trail
    behind = at.centre[0] - w["rear"].x
    side = {"front": at.mass * (behind + w["rear"].trail) / lever}
    side["rear"] = at.mass - side["front"]
    g = GRAVITY
    A, r = np.zeros((3, 3)), np.zeros(3)
    for i, name in enumerate(names):
        x = w[name]
        cy, cz = x.contact[1], x.contact[2]
        gyro = x.spin / rolling_radius(car, name)
        tx = x.turns[0]
        # roll: load of the tyres, and the weight's part across
        A[i, 0] = (
            2 * x.tyre * x.b * cz - 2 * x.N * cy + sum(2 * m * g * v[1] for m, _, v, _ in x.masses)
        )
        A[i, 1 + i] = -2 * x.tyre * cz**2 + 2 * x.N * x.bends - 2 * x.spring - 2 * x.bar
        A[i, 1 + i] -= sum(2 * m * g * bends for m, _, _, bends in x.masses)
        r[i] = side[name] * cy - sum(2 * m * v[1] for m, _, v, _ in x.masses) + 2 * gyro * tx
        A[i, 0] += 2 * x.leans * tx
        A[i, 1 + i] -= 2 * x.leans * tx**2
        A[2, 0] += 2 * x.leans
        A[2, 1 + i] -= 2 * x.leans * tx
        # the whole car: loads, less what the weights add by leaning and the inertia
        share = (
            (sprung.cg[0] - w["rear"].x) / base
            if name == "front"
            else 1 - (sprung.cg[0] - w["rear"].x) / base
        )
        A[2, 0] += 2 * x.b * x.tyre * x.b - sum(2 * m * g * h for m, h, _, _ in x.masses)
        A[2, 1 + i] += (
            -2 * x.b * x.tyre * cz
            + (sprung.mass * share + 2 * sum(m for m, *_ in x.masses)) * g * cy
        )
        A[2, 1 + i] -= sum(2 * m * g * v[1] for m, _, v, _ in x.masses)
        r[2] += sum(2 * m * h for m, h, _, _ in x.masses) + 2 * gyro
    high = at.height + sprung.cg[2]
    rack = car.data.sections.steering.rack_mass
    A[2, 0] -= (sprung.mass * high + rack * w["front"].R) * g
    r[2] += sprung.mass * high + rack * w["front"].R
    roll, *travel = np.linalg.solve(A, r)
    moved = {n: w[n].tyre * (roll * w[n].b - s * w[n].contact[2]) for n, s in zip(names, travel)}
    return Turn(float(roll), dict(zip(names, map(float, travel))), moved)


# ---- free vibrations


def symmetric_rates(car, v):
    """Eigenvalues of motions in which both sides do the same, without dampers, of a car that rolls
    ahead at v. Freedoms are the way ahead, heave and pitch (nose down, about the origin of x on the
    ground), travels, and spins of wheels. Tyres slip: e, which makes the force C/sigma e, grows by
    the speed of slip less v/sigma e. They slip along as wheels spin, the more as their rolling
    radius shrinks under load, and across as travel moves the contact and steers."""
    w, at, sprung, g = wheels(car), car.stand, car.data.sprung, GRAVITY
    n, rack, high = 7, car.data.sections.steering.rack_mass, at.height + sprung.cg[2]
    M, K, slips = np.zeros((n, n)), np.zeros((n, n)), []

    def row(x=0.0, z=0.0, pitch=0.0, **corner):
        return np.array(
            [
                x,
                z,
                pitch,
                *(corner.get(k, 0.0) for k in ("front", "rear", "spin_front", "spin_rear")),
            ]
        )

    def add(A, m, r):
        A += m * np.outer(r, r)

    add(M, sprung.mass, row(x=1, pitch=high))
    add(M, sprung.mass + rack, row(z=1, pitch=-sprung.cg[0]))
    add(M, rack, row(x=1))
    add(M, sprung.inertia[1, 1], row(pitch=1))
    K[2, 2] -= sprung.mass * g * high
    for i, (name, x) in enumerate(w.items()):
        for (m, h, slope, bends), place in zip(x.masses, places(car, i), strict=True):
            ways = row(x=1, pitch=h), row(), row(z=1, pitch=-place[0])
            for way, part in zip(ways, slope, strict=True):
                add(M, 2 * m, way + row(**{name: part}))
            K[3 + i, 3 + i] += 2 * m * g * bends
            K[2, 2] -= 2 * m * g * h
            K[[2, 3 + i], [3 + i, 2]] -= 2 * m * g * slope[0]
        carried = x.inertia - np.array(
            [0.0, x.spin / 2, 0.0]
        )  # the wheel turns freely about its axis
        for inertia, turns in [(carried, x.turns), *links(car, name, i)]:
            for axis in range(3):
                add(M, 2 * inertia[axis], row(pitch=float(axis == 1), **{name: turns[axis]}))
        add(M, 2 * x.spin, row(**{f"spin_{name}": 1}))
        press = row(z=1, pitch=-x.x, **{name: x.contact[2]})
        add(K, 2 * x.tyre, press)
        K[3 + i, 3 + i] += 2 * x.spring - 2 * x.N * x.bends + 2 * x.leans * x.turns[0] ** 2
        K[2, 2] += 2 * x.N * x.R
        K[[2, 3 + i], [3 + i, 2]] += 2 * x.N * x.centre[0]
        tyre, rolling = car.data.axle(name).tyre, rolling_radius(car, name)
        found = tyre.forces(x.N, 0.0, 0.0)
        ahead = row(x=1, pitch=x.R, **{name: x.centre[0]})
        shrinks = x.tyre * (
            rolling_radius(car, name, x.N + 1) - rolling
        )  # m of radius per m of deflection
        slips += [
            (
                ahead - row(**{f"spin_{name}": rolling}),
                ahead - row(**{f"spin_{name}": x.R}),
                -shrinks / rolling * press,
                2 * found.Kxk,
                found.sigma_x,
            ),
            (
                row(**{name: x.contact[1]}),
                row(**{name: x.contact[1]}),
                row(**{name: x.turns[2]}),
                2 * abs(found.Kya),
                found.sigma_y,
            ),
        ]
    return rates_of(M, K, np.zeros((n, n)), slips, v)


def opposite_rates(car, v):
    """Eigenvalues of motions in which both sides do the opposite, without dampers, of a car that
    rolls ahead at v with a stiff steering. Freedoms are the way aside, yaw and roll about the
    origin of x on the ground, travels, and spins of wheels, those of the left side. Wheels that
    turn keep their spin; tyres slip as in `symmetric_rates`, push across behind their middles and
    as they lean, and resist to lean."""
    w, at, sprung, g = wheels(car), car.stand, car.data.sprung, GRAVITY
    n, rack, where = 7, car.data.sections.steering.rack_mass, rack_centre(car.data)
    M, K, G, slips = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), []

    def row(y=0.0, yaw=0.0, roll=0.0, **corner):
        return np.array(
            [
                y,
                yaw,
                roll,
                *(corner.get(k, 0.0) for k in ("front", "rear", "spin_front", "spin_rear")),
            ]
        )

    def add(A, m, r):
        A += m * np.outer(r, r)

    for m, place in ((sprung.mass, sprung.cg), (rack, where)):
        add(M, m, row(y=1, yaw=place[0], roll=-(at.height + place[2])))
        K[2, 2] -= m * g * (at.height + place[2])
    turns = np.array([row(roll=1), row(), row(yaw=1)])
    M += turns.T @ sprung.inertia @ turns
    for i, (name, x) in enumerate(w.items()):
        for (m, h, slope, bends), place in zip(x.masses, places(car, i), strict=True):
            ways = row(yaw=-place[1]), row(y=1, yaw=place[0], roll=-h), row(roll=place[1])
            for way, part in zip(ways, slope, strict=True):
                add(M, 2 * m, way + row(**{name: part}))
            K[3 + i, 3 + i] += 2 * m * g * bends
            K[2, 2] -= 2 * m * g * h
            K[[2, 3 + i], [3 + i, 2]] += 2 * m * g * slope[1]
        carried = x.inertia - np.array(
            [0.0, x.spin / 2, 0.0]
        )  # the wheel turns freely about its axis
        for inertia, turned in [(carried, x.turns), *links(car, name, i)]:
            for axis, way in enumerate(turns):
                add(M, 2 * inertia[axis], way + row(**{name: turned[axis]}))
        add(M, 2 * x.spin, row(**{f"spin_{name}": 1}))
        leans, steers = row(roll=1, **{name: x.turns[0]}), row(yaw=1, **{name: x.turns[2]})
        tyre, rolling = car.data.axle(name).tyre, rolling_radius(car, name)
        G += 2 * x.spin * v / rolling * (np.outer(steers, leans) - np.outer(leans, steers))
        press = row(roll=x.b, **{name: x.contact[2]})
        add(K, 2 * x.tyre, press)
        add(K, 2 * x.leans, leans)
        K[3 + i, 3 + i] += 2 * x.spring + 2 * x.bar - 2 * x.N * x.bends
        K[[2, 3 + i], [3 + i, 2]] -= 2 * x.N * x.contact[1]
        found, leant = tyre.forces(x.N, 0.0, 0.0), tyre.forces(x.N, 0.0, 0.0, 1e-3)
        across = row(y=1, yaw=x.x, **{name: x.contact[1]})
        pushes = across - x.trail * steers
        K -= 2 * np.outer(across, leans) * float(leant.Fy - found.Fy) / 1e-3
        ahead = row(yaw=-x.b, **{name: x.centre[0]})
        shrinks = x.tyre * (
            rolling_radius(car, name, x.N + 1) - rolling
        )  # m of radius per m of deflection
        slips += [
            (
                ahead - row(**{f"spin_{name}": rolling}),
                ahead - row(**{f"spin_{name}": x.R}),
                -shrinks / rolling * press,
                2 * found.Kxk,
                found.sigma_x,
            ),
            (across, pushes, steers, 2 * abs(found.Kya), found.sigma_y),
        ]
    return rates_of(M, K, G, slips, v)


def roll_frequency(car):
    """Of the usual formula, rad/s: (k - m g h)/(I + m h^2), h the height of the body's mass centre
    over the roll axis, k the roll stiffness of springs and bars in series with that of the
    tyres."""
    f, w, sprung, g = car.metrics, wheels(car), car.data.sprung, GRAVITY
    behind = (sprung.cg[0] - w["rear"].x) / (w["front"].x - w["rear"].x)
    axis = behind * f["roll_centre_front"] + (1 - behind) * f["roll_centre_rear"]
    h, k = car.stand.height + sprung.cg[2] - axis, 0.0
    for name, x in w.items():
        springs, tyres = np.degrees(f[f"roll_stiffness_{name}"]), 2 * x.tyre * x.b**2
        k += springs * tyres / (springs + tyres)
    return float(np.sqrt((k - sprung.mass * g * h) / (sprung.inertia[0, 0] + sprung.mass * h**2)))


def rates_of(M, K, G, slips, v):
    """Eigenvalues of degrees of freedom with masses, stiffnesses, gyroscopic terms and tyres that
    slip."""
    n = len(M)
    A = np.zeros((2 * n + len(slips), 2 * n + len(slips)))
    A[:n, n : 2 * n], A[n : 2 * n, :n], A[n : 2 * n, n : 2 * n] = (
        np.eye(n),
        -np.linalg.solve(M, K),
        -np.linalg.solve(M, G),
    )
    for j, (slides, pushes, turned, C, sigma) in enumerate(slips, 2 * n):
        A[n : 2 * n, j] = -np.linalg.solve(M, pushes) * C / sigma
        A[j, n : 2 * n], A[j, :n], A[j, j] = slides, -v * turned, -v / sigma
    return np.linalg.eigvals(A)


def links(car, name, i):
    """Inertia and turn per travel of the links of a corner that have masses."""
    axle = car.data.axle(name)
    pose = axle.pose(car.stand.travel[2 * i])
    return [
        (p.inertia or (0, 0, 0), pose.link[k].delta) for k, p in (axle.record.links or {}).items()
    ]


def places(car, i):
    """Where the masses of a corner are."""
    axle = car.data.axle(("front", "rear")[i])
    now = corner_state(axle, 1, car.stand.travel[2 * i], car.stand.height, UP)
    return [part.at for part in now.masses]
