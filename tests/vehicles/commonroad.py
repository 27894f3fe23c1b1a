"""A car of hard points with the numbers of vehicle 2 of commonroad-vehicle-models, a model of 29
states without any.

    pip install commonroad-vehicle-models
    python -m tests.vehicles.commonroad    # drives the peer and writes commonroad.json anew, its parameters included

The axles of the peer roll about an axis on the ground, and wheels lean in proportion to travel:
here double wishbones whose lines meet on the ground, as far inwards as that asks for, and steering
axes upright through the contact. Its tyre is a Magic Formula without dependence on load, and turns
over with the sign of the lean: its side force at zero slip jumps there by 2 (PVY1 + PKY1 PHY1), a
fifth of the load. `matched` drives the peer without these shifts and without those along, which a
tyre that is mirrored for the other side does not have.

Not matched: the peer joins axles and body by springs across (175 kN/m), lets the moments of brakes
and drive act on the wheels alone, has no gyroscopic moments, turns both front wheels by one angle,
and has no relaxation of its tyres.
"""

import inspect
import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import bellcrank as bc

V = 20.0  # m/s
STEP = 0.02  # rad of the road wheels, from 0.5 s on with 0.4 rad/s
RAMP = 0.004  # rad/s
TIMES = (0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0)
SLOPES = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)  # m/s2
STEEP = 200.0  # PKY2, so that the cornering stiffness is in proportion to the load
NOMINAL = 3000.0  # N
SHIFTS = ("p_hx1", "p_vx1", "r_hx1", "p_hy1", "p_vy1", "r_by3", "r_hy1", "r_vy1", "r_vy3")
FILE = Path(__file__).with_suffix(".json")


def known():
    """Parameters and responses of the peer, as they were written."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    found["parameters"]["tire"] = SimpleNamespace(**found["parameters"]["tire"])
    return SimpleNamespace(**found["parameters"]), found


def matched(p):
    """The same where both cars are alike: tyres without shifts, wheels that stay upright as the
    body rolls and hardly keep their spin, and one mass centre of the whole car and the body, about
    which the peer takes moments."""
    for name in SHIFTS:
        setattr(p.tire, name, 0.0)
    p.D_f, p.D_r = -2 / p.T_f, -2 / p.T_r
    p.I_y_w = 0.2
    p.K_ras, p.K_rad = 100 * p.K_ras, 5 * p.K_rad
    unsprung = p.m_uf + p.m_ur
    p.m_uf, p.m_ur = unsprung * p.b / (p.a + p.b), unsprung * p.a / (p.a + p.b)
    p.I_uf, p.I_ur = p.m_uf * p.T_f**2 / 4, p.m_ur * p.T_r**2 / 4
    return p


# ---- the car


def make_car(p, folder):
    base = p.a + p.b
    (folder / "peer.tir").write_text(tir(p), encoding="utf-8")
    wheel, rack, across = 20.0, 1.0, 0.85
    sections = {
        "name": "vehicle 2",
        "units": ["kg", "m", "kg-m2", "N/m", "N-s/m", "N-m/rad", "N-m", "s"],
        "steering": {
            "rack_per_turn": 0.12,
            "stiffness": 20000.0,
            "rack_mass": rack,
            "damping_time": 0.001,
        },
        "brakes": {"front_share": p.T_sb},
        "drive": {"driven": "rear"},
    }
    yaw, moved = p.I_z, rack * p.a / (p.m_s - rack)  # the rack is not of the body, but of its mass
    for name, x, other, T, m, k, c, bar, lean in (
        ("front", p.a, p.b, p.T_f, p.m_uf, p.K_sf, p.K_sdf, p.K_tsf, p.D_f),
        ("rear", -p.b, p.a, p.T_r, p.m_ur, p.K_sr, p.K_sdr, p.K_tsr, p.D_r),
    ):
        rest = (p.m_s * other / base + m) * 9.81 / (2 * p.K_zt)
        yaw -= m * (x**2 + (T / 2) ** 2) + 2 * across
        sections[name] = {
            "at": [x, 0, 0],
            "suspension": wishbones(T / 2, p.R_w - rest, -1 / lean, name == "front"),
            "carrier": {"mass": m / 2 - wheel, "inertia": [0.01, 0.01, 0.01]},
            "wheel": {"mass": wheel, "spin_inertia": p.I_y_w, "cross_inertia": across},
            "spring": {"strut": "spring", "stiffness": k},
            "damper": {"strut": "spring", "coefficient": c},
            "anti_roll_bar": {"stiffness": -bar},
            "tyre": {"file": "peer.tir"},
        }
    cg, inertia = [-moved, 0, p.h_s], [p.I_Phi_s, p.I_y_s, yaw]
    body = {"mass": p.m_s - rack, "cg": cg, "inertia": inertia, "width": p.w, "length": p.l}
    return bc.vehicles.Car(folder=folder, body=body, **sections)


def wishbones(half, radius, away, steered):
    """Arms along lines through a point on the ground, `away` inwards of the wheel; the tie rod on
    one of them, too."""
    meet, inner = half - away, half - 0.35

    def on(x, y, z):  # a point at y on the line from (half, z) to the meeting point
        return [x, y, z * (y - meet) / away]

    low, high = radius - 0.12, radius + 0.16
    points = {
        "wheel_centre": [0, half, radius],
        "lower_ball": [0, half, low],
        "lower_front": on(0.15, inner, low),
        "lower_rear": on(-0.15, inner, low),
        "upper_ball": [0, half, high],
        "upper_front": on(0.15, inner, high),
        "upper_rear": on(-0.15, inner, high),
        "tie_carrier": [-0.15, half, low],
        "tie_base": on(-0.15, inner, low),
        "spring_base": [0, half, 2.0],
        "spring_wheel": [0, half, 0],
    }
    found = {
        "kind": "double_wishbone",
        "units": "m",
        "axes": "ISO 8855",
        "side": "left",
        "points": points,
        "attach": {"spring_wheel": "carrier"},
        "struts": {"spring": {"between": ["spring_base", "spring_wheel"]}},
    }
    return {**found, "rack": {"points": ["tie_base"]}} if steered else found


def tir(p):
    """The tyre of the peer, with the relaxation length of a hand's breadth. The peer counts lean in
    other axes than the formula: camber thrust has its sign here, too."""
    t = p.tire
    numbers = {
        "FNOMIN": NOMINAL,
        "VERTICAL_STIFFNESS": p.K_zt,
        "UNLOADED_RADIUS": p.R_w,
        "DREFF": 0,
        "BREFF": 0,
        "FREFF": 0,
        "PCX1": t.p_cx1,
        "PDX1": t.p_dx1,
        "PEX1": t.p_ex1,
        "PKX1": t.p_kx1,
        "RBX1": t.r_bx1,
        "RBX2": t.r_bx2,
        "RCX1": t.r_cx1,
        "REX1": t.r_ex1,
        "PCY1": t.p_cy1,
        "PDY1": t.p_dy1,
        "PDY3": t.p_dy3,
        "PEY1": t.p_ey1,
        "PKY1": t.p_ky1 * STEEP / 2,
        "PKY2": STEEP,
        "PHY3": -t.p_hy3,
        "PVY3": -t.p_vy3,
        "RBY1": t.r_by1,
        "RBY2": t.r_by2,
        "RCY1": t.r_cy1,
        "REY1": t.r_ey1,
        "QSX3": p.K_lt * NOMINAL / p.R_w,
        "PTX1": 0.2,
        "PTY1": 0.2,
        "PTY2": 1.0,
    }
    listed = "\n".join(f"{key} = {value!r}" for key, value in numbers.items())
    units = "[UNITS]\nLENGTH = 'meter'\nFORCE = 'newton'\nANGLE = 'radians'\n"
    model = (
        "[MODEL]\nPROPERTY_FILE_FORMAT = 'PAC2002'\nFITTYP = 6\nTYRESIDE = 'LEFT'\nLONGVL = 16.7\n"
    )
    return f"{units}{model}[VERTICAL]\n{listed}\n"


def compiled(car):
    """With a driver whose speed can be held or let go."""
    return car.system(speed=V, driver=bc.vehicles.manoeuvres.Driver()).equations().compile()


def step(car, sim, every=0.001):
    """Yaw rate, roll outwards and speed at TIMES, without drive."""
    wheel = math.degrees(STEP) * car.metrics["steering_ratio"]
    turn = bc.signals.sampled([0, 0.5, 0.5 + STEP / 0.4, 99], [0, 0, wheel, wheel])
    free = {"k_speed": 0.0, "i_speed": 0.0}
    run = sim.simulate(
        t_end=5.0, step=every, inputs={"steer": turn, "speed_set": V}, parameters=free
    )
    assert run.ended == "finished", run.ended
    yaw, roll, speed = np.radians(run["yaw_rate"]), np.radians(run["roll"]), run["speed"]
    return {
        n: at(TIMES, run.time, x) for n, x in (("yaw_rate", yaw), ("roll", roll), ("speed", speed))
    }


def slow_ramp(car, sim, every=0.001):
    """Road-wheel angle and roll outwards at lateral accelerations of SLOPES, the speed held."""
    rate = math.degrees(RAMP) * car.metrics["steering_ratio"]
    run = sim.simulate(
        t_end=12.5,
        step=every,
        inputs={"steer": bc.signals.ramp(0.0, rate, 99.0), "speed_set": V},
        parameters={"k_speed": 5.0},
    )
    assert run.ended == "finished", run.ended
    ay, angle, roll = (
        np.radians(run["yaw_rate"]) * run["speed"],
        np.radians(run["steer_angle"]),
        run["roll"],
    )
    return {"angle": at(SLOPES, ay, angle), "roll": at(SLOPES, ay, np.radians(roll))}


def at(where, x, y):
    return [float(v) for v in np.interp(where, x, y)]


# ---- the peer


def rates_of_peer(repaired):
    """The peer's function. The side slip of its tyres is that of the body's mass centre, above the
    roll axis;
    `repaired` takes the velocities of the axles, which it has as states."""
    from vehiclemodels import vehicle_dynamics_mb as module

    if not repaired:
        return module.vehicle_dynamics_mb
    text = inspect.getsource(module)
    for old, new in (
        ("x[10] + p.a*x[5] - x[14]", "x[15] - x[14]"),
        ("x[10] - p.b*x[5] - x[19]", "x[20] - x[19]"),
    ):
        assert text.count(old) == 2
        text = text.replace(old, new)
    found = {}
    exec(compile(text, "repaired", "exec"), found)
    return found["vehicle_dynamics_mb"]


def peer(rates, p, inputs, t_end, times):
    from scipy.integrate import solve_ivp
    from vehiclemodels.init_mb import init_mb

    start = init_mb([0, 0, 0, V, 0, 0, 0], p)
    return solve_ivp(
        lambda t, x: rates(list(x), inputs(t, x), p),
        (0, t_end),
        start,
        "LSODA",
        times,
        rtol=1e-7,
        atol=1e-9,
        max_step=0.02,
    ).y


def responses_of_peer(p, repaired=False):
    rates = rates_of_peer(repaired)
    ends = 0.5 + STEP / 0.4
    y = peer(rates, p, lambda t, x: [0.4 if 0.5 <= t < ends else 0.0, 0.0], 5.0, np.array(TIMES))
    steps = {
        "yaw_rate": list(map(float, y[5])),
        "roll": list(map(float, -y[6])),
        "speed": list(map(float, y[3])),
    }
    times = np.linspace(0, 12.5, 1251)
    y = peer(rates, p, lambda t, x: [RAMP, 5 * (V - x[3])], times[-1], times)
    return {
        "step": steps,
        "slow_ramp": {
            "angle": at(SLOPES, y[5] * y[3], y[2]),
            "roll": at(SLOPES, y[5] * y[3], -y[6]),
        },
    }


def write():
    from vehiclemodels.parameters_vehicle2 import parameters_vehicle2

    p = parameters_vehicle2()
    plain = {key: value for key, value in vars(p).items() if isinstance(value, float)}
    found = {"parameters": {**plain, "tire": dict(vars(p.tire))}, "as_it_is": responses_of_peer(p)}
    found["matched"] = responses_of_peer(matched(p))
    found["repaired"] = responses_of_peer(p, repaired=True)
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
