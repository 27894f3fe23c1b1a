"""Small models, one for each capability of a run, with what is known about their motion from
elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import bellcrank as bc
from tests.linkage.machines import linkage
from tests.mechanics.dynamics.test_driven import slider_crank
from tests.reference.nonholonomic import KINDS
from tests.reference.nonholonomic import system as nonholonomic

G = 9.80665


@dataclass(frozen=True)
class Capability:
    """A model that needs it, and its states at given times found otherwise than by a run of
    Bellcrank in C."""

    name: str
    system: Callable[[], bc.System]
    known: Callable[[Any, np.ndarray], dict[str, np.ndarray]]  # equations, times -> states by name
    error: float = (
        1e-6  # of the run in C against that: of the method, and of closed forms of idealised motion
    )
    same: float = 1e-9  # of other ways to run against the run in C
    dae: str | None = None


def _mass(
    name: str, force: str, prepare: Callable[[bc.System], None] = lambda s: None, **run: Any
) -> bc.System:
    """A mass on a line; the force is a formula of x = q(mass), v = u(mass) and t."""
    s = bc.System(name, units="mks")
    mass = s.add_body("mass", translate=1, mass="m")
    prepare(s)
    formula = force.replace("x", "q(mass)").replace("v", "u(mass)")
    s.add_force("pull", magnitude=formula, direction=s.inertial[1], at=mass.origin)
    s.set_defaults(m=2.0)
    s.set_run(**{"t_end": 0.5, "step": 0.01, "initial": {"q(mass)": 1.0}, **run})
    return s


def _swings(eom: Any, t: np.ndarray, rate: float = 2.0) -> dict[str, np.ndarray]:
    return {"q(mass)": np.cos(rate * t), "u(mass)": -rate * np.sin(rate * t)}


def oscillator() -> bc.System:
    return _mass("oscillator", "-k*x", lambda s: s.add_parameter("k", 8.0), method="rk4")


def orbit() -> bc.System:
    """A long ellipse from its far end: steps that are right there are far too large at its near
    end."""
    s = bc.System("orbit", units="mks")
    planet = s.add_point_mass("planet", translate=(1, 2), mass="m")
    for i in (1, 2):
        pull = f"-p*mu*q(planet, {i})/(q(planet, 1)**2 + q(planet, 2)**2)**1.5"
        s.add_force(f"pull_{i}", magnitude=pull, direction=s.inertial[i], at=planet.origin)
    s.add_parameter("p", 2.0, units="M")
    s.set_defaults(m=2.0, mu=1.0)
    speed = math.sqrt((1 - ECCENTRIC) / (1 + ECCENTRIC))
    first = {"q(planet, 1)": -1 - ECCENTRIC, "u(planet, 2)": -speed}
    s.set_run(t_end=6.25, step=0.125, method="tsit5", initial=first)
    return s


ECCENTRIC = 0.95


def _orbits(eom: Any, t: np.ndarray) -> dict[str, np.ndarray]:
    """Kepler's equation, E - e sin(E) = pi + t."""
    e, mean = ECCENTRIC, math.pi + t
    angle = mean.copy()
    for _ in range(100):
        angle -= (angle - e * np.sin(angle) - mean) / (1 - e * np.cos(angle)) * 0.7
    rate, side = 1 / (1 - e * np.cos(angle)), math.sqrt(1 - e * e)
    return {
        "q(planet, 1)": np.cos(angle) - e,
        "q(planet, 2)": side * np.sin(angle),
        "u(planet, 1)": -np.sin(angle) * rate,
        "u(planet, 2)": side * np.cos(angle) * rate,
    }


def stiffening() -> bc.System:
    """A damper towards a speed of cos(t) that grows by a factor of a million, so that no explicit
    step stays stable."""
    force = "-m*(d + c*t**2)*(v - w*cos(t*d)) - m*w*d*sin(t*d)"
    first = {"u(mass)": 1.0}
    return _mass(
        "stiffening", force, _growing, method="radau5", t_end=1.0, step=0.02, initial=first
    )


def _growing(s: bc.System) -> None:
    for name, value, units in (("c", 1e6, "1/T**3"), ("d", 1.0, "1/T"), ("w", 1.0, "L/T")):
        s.add_parameter(name, value, units=units)


def _follows(eom: Any, t: np.ndarray) -> dict[str, np.ndarray]:
    return {"q(mass)": np.sin(t), "u(mass)": np.cos(t)}


def ball() -> bc.System:
    s = bc.System("ball", axes="ISO 8855")
    s.add_body("ball", translate=3, mass="m")
    s.add_gravity()
    s.set_defaults(m=2, e=0.8, g=G)
    s.add_event("bounce", "q(ball)", action={"u(ball)": "-e*u(ball)"}, direction=-1)
    s.set_run(t_end=1.5, step=0.01, method="rk4", initial={"q(ball)": 1})
    return s


def _bounces(t: np.ndarray, height: float, restitution: float) -> tuple[np.ndarray, np.ndarray]:
    """Height and speed of what falls from a height and bounces."""
    begins, speed, above = 0.0, 0.0, height
    q, u = np.empty_like(t), np.empty_like(t)
    while begins <= t[-1]:
        here = t - begins
        later = here >= -1e-12
        q[later] = (above + speed * here - G * here**2 / 2)[later]
        u[later] = (speed - G * here)[later]
        lasts = (speed + math.sqrt(speed**2 + 2 * G * above)) / G
        speed, above, begins = restitution * (G * lasts - speed), 0.0, begins + lasts
    return q, u


def _ball(eom: Any, t: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(("q(ball)", "u(ball)"), _bounces(t, 1.0, 0.8), strict=True))


def pendulum() -> bc.System:
    """A mass in the plane at the end of a rod that closes a loop."""
    s = bc.System("pendulum", units="mks")
    bob = s.add_point_mass("bob", translate=(1, 2), mass="m")
    s.add_loop_joint("rod", "distance", between=(bob.origin, s.inertial.origin), length="l")
    s.add_gravity(direction=(0, -1, 0))
    s.set_defaults(g=G, m=2, l=1)
    first = {"q(bob, 1)": math.sin(0.5), "q(bob, 2)": -math.cos(0.5)}
    s.set_run(t_end=1.0, step=0.01, method="rk4", initial=first)
    return s


def _hangs(eom: Any, t: np.ndarray) -> dict[str, np.ndarray]:
    """The equation of its angle."""
    q, u = _solved(lambda t, y: [y[1], -G * math.sin(y[0])], [0.5, 0.0], t)
    return {
        "q(bob, 1)": np.sin(q),
        "q(bob, 2)": -np.cos(q),
        "u(bob, 1)": u * np.cos(q),
        "u(bob, 2)": u * np.sin(q),
    }


def _solved(
    rates: Callable[[float, np.ndarray], Any], first: list[float], t: np.ndarray
) -> np.ndarray:
    return solve_ivp(
        rates, (t[0], t[-1]), first, t_eval=t, method="DOP853", rtol=1e-11, atol=1e-12
    ).y


def parallelogram() -> bc.System:
    """Passes through the line at which it could fold over."""
    s = bc.System("parallelogram", units="mks")
    n, rods = s.inertial, {}
    for name, length, parent, at in (("a", "l", n, 0), ("b", "w", "a", "l"), ("c", "l", n, "w")):
        given = {
            "mass": f"m*{length}",
            "inertia": (0, 0, f"m*{length}**3/12"),
            "cm": (f"{length}/2", 0, 0),
        }
        rods[name] = s.add_body(
            name, parent=rods.get(parent, n), rotate=3, joint_at=(at, 0, 0), **given
        )
    ends = [
        s.add_point(f"of_{x}", body=rods[x], at=(length, 0, 0))
        for x, length in (("b", "w"), ("c", "l"))
    ]
    s.add_loop_joint("pin", between=ends, directions=(n[1], n[2]))
    s.set_defaults(l=1, w=2, m=1)
    first = {"q(a)": 2.5, "q(b)": -2.5, "q(c)": 2.5, "u(a)": 3.0}
    s.set_run(t_end=0.5, step=0.005, method="rk4", initial=first)
    return s


def _turns(eom: Any, t: np.ndarray) -> dict[str, np.ndarray]:
    q, u = 2.5 + 3 * t, np.full_like(t, 3.0)
    return {"q(a)": q, "q(b)": -q, "q(c)": q, "u(a)": u, "u(b)": -u, "u(c)": u}


def rigid_wheel() -> bc.System:
    """A disc that turns as it would roll, so that impacts leave its spin alone."""
    s = bc.System("disc", axes="ISO 8855")
    hub = s.add_point_mass("hub", translate=(1, 3), mass="m")
    disc = s.add_body("disc", hub, rotate=2, mass=0, inertia=(0.1, 0.09, 0.1))
    s.add_gravity()
    s.add_contact(
        "wheel",
        at=hub,
        radius=0.3,
        terrain=bc.vehicles.terrain.flat(),
        restitution=(0.7, 0.5),
        wheel=disc,
    )
    s.set_defaults(m=2, g=G)
    first = {"q(hub, 2)": 1.3, "u(hub, 1)": 1.5, "u(disc)": 5.0}
    s.set_run(t_end=1.0, step=0.01, method="rk4", initial=first)
    return s


def _rolls(eom: Any, t: np.ndarray) -> dict[str, np.ndarray]:
    q, u = _bounces(t, 1.0, 0.7)
    still = np.ones_like(t)
    return {
        "q(hub, 1)": 1.5 * t,
        "q(hub, 2)": q + 0.3,
        "q(disc)": 5 * t,
        "u(hub, 1)": 1.5 * still,
        "u(hub, 2)": u,
        "u(disc)": 5 * still,
    }


SLOPE, STIFF, RADIUS = -0.2, 2e4, 0.3


def downhill() -> bc.System:
    """Two masses glide down a slope on springs: over a profile with points, and over heights on a
    grid."""
    s = bc.System("downhill", axes="ISO 8855")
    x, y = np.arange(-4.0, 5.0), np.arange(-2.0, 3.0)
    grounds = {
        "near": bc.vehicles.terrain.profile(
            [-9, -1, 0.05, 9], [SLOPE * z for z in (-9, -1, 0.05, 9)]
        ),
        "far": bc.vehicles.terrain.grid(x, y, np.add.outer(SLOPE * x, 0 * y)),
    }
    s.set_defaults(m=20, g=G)
    first = {}
    for name, ground in grounds.items():
        hub = s.add_point_mass(name, translate=(1, 2, 3) if name == "far" else (1, 3), mass="m")
        s.add_contact(
            f"{name}_tyre", at=hub, radius=RADIUS, terrain=ground, tyre=bc.Tyre(stiffness=STIFF)
        )
        last = 3 if name == "far" else 2
        first |= {f"q({name}, {last})": (RADIUS - _rest() / 2) * math.sqrt(1 + SLOPE**2)}
    s.add_gravity()
    s.set_run(t_end=0.4, step=0.002, output_every=5, method="rk4", initial=first)
    return s


def _rest() -> float:
    """The deflection at which the spring bears its mass on the slope."""
    return 20 * G / math.sqrt(1 + SLOPE**2) / STIFF


def _glides(eom: Any, t: np.ndarray) -> dict[str, np.ndarray]:
    """Along the slope it falls freely, across it swings about its rest."""
    size, rate = math.sqrt(1 + SLOPE**2), math.sqrt(STIFF / 20)
    across = RADIUS - _rest() + _rest() / 2 * np.cos(rate * t) - (RADIUS - _rest() / 2)
    speed, pull = -_rest() / 2 * rate * np.sin(rate * t), G * SLOPE / size
    along, faster = -pull * t**2 / 2, -pull * t
    # directions: along (1, SLOPE), across (-SLOPE, 1), both of the length `size`; downhill is +x
    q1, u1 = ((a - SLOPE * c) / size for a, c in ((along, across), (faster, speed)))
    q3, u3 = ((SLOPE * a + c) / size for a, c in ((along, across), (faster, speed)))
    q3 = q3 + (RADIUS - _rest() / 2) * size
    found = {}
    for name, last in (("near", 2), ("far", 3)):
        found |= {
            f"q({name}, 1)": q1,
            f"u({name}, 1)": u1,
            f"q({name}, {last})": q3,
            f"u({name}, {last})": u3,
        }
    return found


POINTS, FORCES = [-2.0, 0.0, 0.4, 2.0], [-12.0, 0.0, 4.0, 12.0]


def on_table() -> bc.System:
    return _mass("on table", "-k*law(x) - k*smooth(x)", _tables, method="rk4", t_end=1.0)


def _tables(s: bc.System) -> None:
    s.add_parameter("k", 2.0)
    s.define("law", bc.table(POINTS, FORCES))
    s.define("smooth", bc.table([-2, -1, 0, 1, 2], [-8, -1, 0, 1, 8], 3))


def _by_tables(eom: Any, t: np.ndarray) -> dict[str, np.ndarray]:
    from scipy.interpolate import CubicSpline

    smooth = CubicSpline([-2, -1, 0, 1, 2], [-8, -1, 0, 1, 8])
    rates = lambda t, y: [y[1], -np.interp(y[0], POINTS, FORCES) - float(smooth(y[0]))]  # noqa: E731
    return dict(zip(("q(mass)", "u(mass)"), _solved(rates, [1.0, 0.0], t), strict=True))


def arm() -> bc.System:
    """A wheel on a trailing arm, solved in every evaluation."""
    s = bc.System("arm", units="mks", axes="ISO 8855")
    chain = linkage("trailing_arm")
    wheel = s.add_body(
        "wheel", mass="m", inertia=(0.9, 1.4, 0.9), cm=chain.chain.place("wheel_centre")
    )
    joint = s.add_linkage("rear", chain, carrier=wheel)
    at = joint.point("wheel_centre")
    s.add_force("tyre", magnitude="-k*(x - x0) - c*v", direction=s.inertial[3], at=at)
    s.set_defaults(k=5e4, c=500, m=38)
    s.set_run(t_end=0.2, step=0.002, output_every=5, method="rk4", initial={"q(wheel)": 0.03})
    return s


def _in_python(eom: Any, t: np.ndarray, backend: str = "python") -> dict[str, np.ndarray]:
    run = eom.compile(backend=backend).simulate()
    return {x.name: run[x.name] for x in eom.interface.states}


C_SPRING = "double spring(double x)\n{\n    return -8.0*x;\n}\n"


def with_c() -> bc.System:
    return _mass(
        "with C",
        "spring(x)",
        lambda s: s.add_external("spring", arguments=("x",), c=C_SPRING),
        method="rk4",
    )


def _spring(x: float) -> float:
    return -8.0 * x


def with_python() -> bc.System:
    add = lambda s: s.add_external("spring", arguments=("x",), python=_spring)  # noqa: E731
    return _mass("with Python", "spring(x)", add, method="rk4")


def cart_pole() -> bc.System:
    """The cart (mass M, body Q1) and pendulum (mass m, body q1) of every textbook, with capitals as
    there."""
    s = bc.System("cart-pole", units="mks")
    cart = s.add_body("Q1", translate=1, mass="M", inertia=0)
    s.add_body("q1", cart, rotate=3, cm=(0, "-l", 0), mass="m", inertia=0)
    s.add_gravity(direction="-[n2]", g="G")
    s.add_force("spring", magnitude="-K*x - k*v", direction=s.inertial[1], at=cart.origin)
    s.set_defaults(M=2.0, m=0.5, l=0.8, G=9.81, K=30.0, k=1.5)
    s.set_run(t_end=0.5, step=0.005, method="rk4", initial={"q(Q1)": 0.3, "q(q1)": 0.9})
    return s


def _cart_pole(eom: Any, t: np.ndarray) -> dict[str, np.ndarray]:
    M, m, l, g, K, k = 2.0, 0.5, 0.8, 9.81, 30.0, 1.5

    def rates(t: float, y: np.ndarray) -> list[float]:
        x, angle, v, w = y
        mass = [[M + m, m * l * math.cos(angle)], [m * l * math.cos(angle), m * l**2]]
        force = [m * l * w**2 * math.sin(angle) - K * x - k * v, -m * g * l * math.sin(angle)]
        return [v, w, *np.linalg.solve(mass, force)]

    y = solve_ivp(rates, (0, t[-1]), [0.3, 0.9, 0, 0], t_eval=t, rtol=1e-11, atol=1e-12).y
    return dict(zip(("q(Q1)", "q(q1)", "u(Q1)", "u(q1)"), y, strict=True))


CAPABILITIES = [
    Capability("fixed steps", oscillator, _swings),
    Capability("names that differ by case alone", cart_pole, _cart_pole),
    Capability("adaptive steps", orbit, _orbits, error=1e-2, same=1e-6),
    Capability("stiff methods", stiffening, _follows, error=1e-4, same=1e-6),
    Capability("events with actions", ball, _ball),
    Capability("closed loops", pendulum, _hangs),
    Capability("singular configurations", parallelogram, _turns, same=1e-7),
    Capability("methods for constraints (`dae=`)", pendulum, _hangs, dae="dlmm"),
    Capability("rigid wheels", rigid_wheel, _rolls),
    Capability("ground", downhill, _glides, error=1e-5),
    Capability("tables", on_table, _by_tables, error=1e-4),
    Capability("linkages", arm, _in_python),
    Capability("user functions in C", with_c, _swings),
    Capability("user functions in Python", with_python, _swings),
]


def _all_speeds(name: str) -> bc.System:
    """A nonholonomic or driven mechanism whose speeds all stay states, while coefficients of its
    constraints pass zero."""
    if name == "driven":
        s = slider_crank()
        s.set_run(t_end=0.2, step=0.0005, guess={"q(b)": -0.1, "q(p)": 0.45}, method="rk4")
    else:
        s = nonholonomic(name, 4, True)
        s.set_run(
            t_end=2.0, step=0.005, output_every=20, initial=s.description.run.initial, method="rk4"
        )
    return s


OTHERS = [  # not in the table: no way to run treats them apart
    Capability(name, partial(_all_speeds, name), partial(_in_python, backend="wasm"), same=1e-10)
    for name in (*KINDS, "driven")
]
