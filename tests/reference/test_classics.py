"""Classic problems with closed forms: linkages, rolling, rotors, follower forces."""

import numpy as np
import pytest
from lagrange import Lagrange, turned
from scipy.special import ellipj, ellipk

import bellcrank as bc

pytestmark = pytest.mark.campaign
SOLID = (0.4, 0.4, 0.4)


def test_bennett_linkage():
    """Bennett, Engineering 76 (1903), 777: tan(t1/2) tan(t2/2) = sin((b + a)/2) / sin((b - a)/2),
    one degree of freedom with equations of loops that are redundant only where it is closed."""
    a, alpha, beta = 0.3, 0.6, 1.1
    b = a * np.sin(beta) / np.sin(alpha)
    s = bc.System("Bennett", units="mks")
    link = {"mass": 1, "inertia": (0.02, 0.02, 0.02), "rotate": 3}
    first = s.add_body("l1", cm=(a / 2, 0, 0), **link)
    parent = first
    for name, length, twist in (("l2", a, alpha), ("l3", b, beta)):
        axis = (0, -float(np.sin(twist)), float(np.cos(twist)))
        at = {"joint_at": (length, 0, 0), "rotation_axis": axis, "reference_axis": (1, 0, 0)}
        parent = s.add_body(name, parent=parent, cm=(0.1, 0, 0), **at, **link)
    p, g = s.add_point("p", body=parent, at=(a, 0, 0)), s.add_point("g", at=(-b, 0, 0))
    n = s.inertial
    s.add_loop_joint("end", between=(p, g), directions=(n[1], n[2], n[3]))
    axis = f"({np.cos(alpha)!r}*[l33] - {np.sin(alpha)!r}*[l32])".replace("np.float64", "")
    s.add_constraint(f"dot({axis}, [n1])")
    s.add_constraint(
        f"dot({axis}, {np.cos(beta)!r}*[n2] - {np.sin(beta)!r}*[n3])".replace("np.float64", "")
    )

    ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    t1 = 1.0
    t2 = 2 * np.arctan(ratio / np.tan(t1 / 2))
    start = {"q(l1)": t1, "u(l1)": 1.0}
    s.set_run(t_end=1.0, step=0.005, initial=start, guess={"q(l2)": t2, "q(l3)": -t1})
    eom = s.equations()
    assert len(eom.independent_speeds) == 1
    run = eom.compile(backend="python").simulate()
    assert run.ended == "finished"
    assert np.ptp(run["q(l1)"]) > 0.2
    assert np.tan(run["q(l1)"] / 2) * np.tan(run["q(l2)"] / 2) == pytest.approx(ratio, rel=1e-8)
    assert np.cos(run["q(l3)"] + run["q(l1)"]) == pytest.approx(1.0, abs=1e-9)


def test_rssr_linkage():
    """Hartenberg and Denavit, Kinematic Synthesis of Linkages (1964), section 12: the rod length
    gives A cos(phi) + B sin(phi) = C for the output angle."""
    r1, r2, rod, at = 0.1, 0.3, 0.6, np.array([0.4, 0.3, -0.1])
    s = bc.System("RSSR", units="mks")
    crank = s.add_body("crank", rotate=3, cm=(0.05, 0, 0), mass=1, inertia=(0.01,) * 3)
    rocker = s.add_body(
        "rocker",
        rotate=1,
        joint_at=tuple(map(float, at)),
        cm=(0, 0.1, 0),
        mass=2,
        inertia=(0.02,) * 3,
    )
    p, q = s.add_point("p", body=crank, at=(r1, 0, 0)), s.add_point("q", body=rocker, at=(0, r2, 0))
    s.add_loop_joint("loop", "distance", between=(p, q), length=rod)
    s.add_gravity(direction="-[n3]")
    s.set_run(
        t_end=1.0, step=0.002, initial={"q(crank)": 0.2, "u(crank)": 8.0}, guess={"q(rocker)": 0.5}
    )
    run = s.equations().compile(backend="python").simulate()
    theta = run["q(crank)"]
    assert np.ptp(theta) > 2
    d = r1 * np.array([np.cos(theta), np.sin(theta), 0 * theta]) - at[:, None]
    A, B, C = d[1], d[2], ((d**2).sum(axis=0) + r2**2 - rod**2) / (2 * r2)
    spread = np.arccos(C / np.hypot(A, B))
    phi = np.arctan2(B, A) + np.array([spread, -spread])
    off = np.abs(np.exp(1j * phi) - np.exp(1j * run["q(rocker)"]))
    branch = int(off[:, 0].argmin())
    assert off[branch] == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("constraints", ["auto", "multipliers"])
def test_ball_on_a_turntable(constraints):
    """Weltner, American Journal of Physics 47 (1979), 984: a solid ball runs in a circle at 2/7 of
    the table's rate."""
    s = bc.System("turntable", units="mks")
    s.add_body("b", translate=(1, 2), rotate="euler-parameters", mass=1, inertia=SOLID)
    s.add_constraint("dot(vel(b.origin), [n1]) - r*dot(rot(b), [n2]) + W*q(b, 2)")
    s.add_constraint("dot(vel(b.origin), [n2]) + r*dot(rot(b), [n1]) - W*q(b, 1)")
    s.set_defaults(W=3.5, r=1)
    sim = s.equations(constraints=constraints).compile(backend="python")
    run = sim.simulate(
        t_end=3.0, step=0.005, initial={"q(b, 1)": 0.4, "u(b, 1)": 0.0, "u(b, 2)": 0.6}
    )
    z = run["q(b, 1)"] + 1j * run["q(b, 2)"]
    assert z == pytest.approx(0.4 + 0.6 * (np.exp(1j * run.time) - 1), abs=1e-7)


def test_ziegler_double_pendulum_under_a_follower_force():
    """Ziegler, Ingenieur-Archiv 20 (1952), 49: masses 2m and m flutter from P = (7/2 - sqrt 2) k/l
    on."""
    s = bc.System("Ziegler", units="mks")
    a = s.add_body("a", rotate=3, cm=(1, 0, 0), mass=2, inertia=0)
    b = s.add_body("b", parent=a, rotate=3, joint_at=(1, 0, 0), cm=(1, 0, 0), mass=1, inertia=0)
    s.add_moment("first", magnitude="-k*q(a)", direction="[n3]", on=a)
    s.add_moment("second", magnitude="-k*q(b)", direction="[n3]", on=b, against=a)
    s.add_force("follower", magnitude="P", direction="-[b1]", at=b.cm)
    s.set_defaults(k=1, P=1)
    sim = s.equations().compile(backend="python")
    critical = 3.5 - np.sqrt(2)
    for load in (0.5, 0.999 * critical, 1.001 * critical, 3.0):
        M, K = np.array([[3, 1], [1, 1.0]]), np.array([[2 - load, load - 1], [-1, 1.0]])
        squares = np.linalg.eigvals(-np.linalg.solve(M, K)).astype(complex)
        expected = np.concatenate([np.sqrt(squares), -np.sqrt(squares)])
        found = np.linalg.eigvals(sim.linearize(at="start", parameters={"P": load}).A)
        assert all(np.abs(found - x).min() < 1e-7 for x in expected)
        assert (found.real.max() > 1e-3) == (load > critical)


@pytest.mark.parametrize("spin", [20.0, 60.0])
def test_sleeping_top(spin):
    """Goldstein, Classical Mechanics (1980), section 5-7: asleep where (C w)^2 > 4 A m g l; small
    motions about the vertical follow A z'' - i C w z' - m g l z = 0."""
    A, C, weight = 0.06, 0.02, 2 * 9.81 * 0.15
    s = bc.System("top", units="mks")
    outer = s.add_body("outer", rotate=1, mass=0, inertia=0)
    inner = s.add_body("inner", parent=outer, rotate=2, mass=0, inertia=0)
    about = A - 2 * 0.15**2
    s.add_body("top", parent=inner, rotate=3, cm=(0, 0, 0.15), mass=2, inertia=(about, about, C))
    s.add_gravity(direction="-[n3]")
    s.set_defaults(g=9.81)
    sim = s.equations().compile(backend="python")
    run = sim.simulate(t_end=0.6, step=0.001, initial={"q(outer)": 1e-7, "u(top)": spin})
    roots = np.roots([A, -1j * C * spin, -weight])
    assert (np.abs(roots.real).max() < 1e-9) == ((C * spin) ** 2 > 4 * A * weight)
    parts = np.linalg.solve(np.array([[1, 1], roots]), [1e-7, 0])
    expected = (parts[:, None] * np.exp(roots[:, None] * run.time)).sum(axis=0)
    size = np.abs(expected).max()
    assert (run["q(outer)"] + 1j * run["q(inner)"]) / size == pytest.approx(
        expected / size, abs=1e-6
    )


def test_jeffcott_rotor():
    """Jeffcott, Philosophical Magazine 37 (1919), 304: whirl of a disc with unbalance on an elastic
    shaft, driven at constant speed below and above the critical one."""
    m, k, c, e = 2.0, 800.0, 4.0, 1e-3
    s = bc.System("Jeffcott", units="mks")
    shaft = s.add_body("s", translate=(1, 2), mass=0, inertia=0)
    s.add_body("d", parent=shaft, rotate=3, cm=(e, 0, 0), mass=m, inertia=(0.01, 0.01, 0.02))
    for i in (1, 2):
        s.add_force(
            f"f{i}", magnitude=f"-k*q(s, {i}) - c*u(s, {i})", direction=f"[n{i}]", at=shaft.origin
        )
    s.add_constraint("q(d) - W*t", label="motor")
    s.set_defaults(k=k, c=c, W=1)
    sim = s.equations().compile(backend="python")
    for w in (12.0, 20.0, 35.0):
        R = e * w**2 / (k / m - w**2 + 1j * c * w / m)
        start = {
            "q(s, 1)": R.real,
            "q(s, 2)": R.imag,
            "u(s, 1)": -w * R.imag,
            "u(s, 2)": w * R.real,
        }
        run = sim.simulate(t_end=1.0, step=0.001, parameters={"W": w}, initial=start)
        z = run["q(s, 1)"] + 1j * run["q(s, 2)"]
        assert z / abs(R) == pytest.approx(R / abs(R) * np.exp(1j * w * run.time), abs=1e-6)


@pytest.mark.parametrize("constraints", ["auto", "multipliers"])
def test_golf_ball_in_a_vertical_cylinder(constraints):
    """Gualtieri et al., American Journal of Physics 74 (2006), 497: a solid ball that rolls around
    inside a vertical cylinder does not fall out: its height oscillates at sqrt(2/7) of the rate at
    which it runs around."""
    r, rho, rate = 0.02, 0.1, 12.0
    s = bc.System("golf ball", units="mks")
    arm = s.add_body("arm", rotate=3, mass=0, inertia=0)
    ball = {"mass": 0.05, "inertia": (0.4 * 0.05 * r**2,) * 3, "rotate": "euler-parameters"}
    s.add_body("ball", parent=arm, joint_at=(rho, 0, 0), translate=3, **ball)
    s.add_constraint("dot(vel(ball.origin), [arm2]) + r*dot(rot(ball), [arm3])")
    s.add_constraint("dot(vel(ball.origin), [arm3]) - r*dot(rot(ball), [arm2])")
    s.add_gravity(direction="-[n3]")
    s.set_defaults(g=9.81, r=r)
    sim = s.equations(constraints=constraints).compile(backend="python")
    # the ball turns against the arm: without this it would spin about the radial axis
    run = sim.simulate(
        t_end=0.5, step=0.00025, initial={"u(arm)": rate, "u(ball, 1)": 0.0, "u(ball, 2)": 0.0}
    )
    assert run["q(arm)"] == pytest.approx(rate * run.time, abs=1e-7)
    height = -9.81 / (0.4 * rate**2) * (1 - np.cos(np.sqrt(2 / 7) * rate * run.time))
    assert run["q(ball, 1)"] == pytest.approx(height, abs=1e-7)


@pytest.mark.parametrize("constraints", ["auto", "multipliers"])
@pytest.mark.parametrize("offset", [0.004, 1.5, 4.0])
def test_klingel_motion_of_a_wheelset(constraints, offset):
    """Klingel, Organ fuer die Fortschritte des Eisenbahnwesens 20 (1883), 113: wheels of conicity c
    roll on a wave of length 2 pi sqrt(r b/c), whatever the speed. Both wheels roll here without
    slip; then psi'' = -k sin(psi) over the distance s, k = c/(r b), is a pendulum: y = y0 cn(s sqrt
    k), of length 4 K(k y0^2/4)/sqrt k. Energy gives the speed.
    """
    radius, half, cone, mass, spin, yaw = 0.46, 0.75, 0.05, 1200.0, 100.0, 700.0
    s = bc.System("wheelset", units="mks")
    set_ = s.add_body(
        "w", translate=(1, 2), rotate=3, mass=mass, inertia=(yaw / 2, yaw / 2, yaw - spin / 2)
    )
    s.add_body("axle", parent=set_, rotate=2, mass=0, inertia=(spin / 2, spin, spin / 2))
    for name, side in (("left", 1), ("right", -1)):
        s.add_point(name, body=set_, at=(0, side * half, 0))
        s.add_constraint(
            f"dot(vel({name}), [w1]) - u(axle)*(r + ({side})*cone*q(w, 2))", label=f"{name} wheel"
        )
    s.add_constraint("dot(vel(w.origin), [w2])", label="flange")
    s.add_output("forward", "dot(vel(w.origin), [w1])")
    s.set_defaults(cone=cone, r=radius)
    sim = s.equations(constraints=constraints).compile(backend="python")
    k = cone / (radius * half)
    wave = 4 * ellipk(k * offset**2 / 4) / np.sqrt(k)
    if offset < 0.01:
        assert wave == pytest.approx(2 * np.pi * np.sqrt(radius * half / cone), rel=1e-6)
    for v in (5.0, 20.0):
        start = {"q(w, 2)": offset, "u(axle)": v / radius}
        run = sim.simulate(t_end=1.25 * wave / v, step=0.01 / v, initial=start, output_every=10)
        way = radius * run["q(axle)"]
        assert way[-1] > wave
        sn, cn, _, _ = ellipj(np.sqrt(k) * way, k * offset**2 / 4)
        assert run["q(w, 2)"] / offset == pytest.approx(cn, abs=1e-10)
        assert np.sin(run["q(w, 3)"] / 2) == pytest.approx(
            -np.sqrt(k) * offset / 2 * sn, abs=1e-10 * max(offset, 1)
        )
        heavy = mass + spin / radius**2 + yaw * k**2 * np.array([offset, *run["q(w, 2)"]]) ** 2
        assert run["forward"] == pytest.approx(v * np.sqrt(heavy[0] / heavy[1:]), rel=1e-10)


@pytest.mark.parametrize("angle", [0.1, 1.5, 3.0, -2.0])
def test_caster_that_is_pulled_along_a_line(angle):
    """A tractrix: L psi' = -v sin(psi), so tan(psi/2) falls by exp(-v t/L), from any angle."""
    v, trail = 2.0, 0.4
    s = bc.System("caster", units="mks")
    pivot = s.add_body("x", translate=1, mass=3, inertia=0)
    c = s.add_body("c", parent=pivot, rotate=3, mass=1, cm=(-0.2, 0, 0), inertia=(0.01, 0.01, 0.01))
    s.add_point("contact", body=c, at=(-trail, 0, 0))
    s.add_constraint("dot(vel(contact), [c2])", label="wheel")
    s.add_constraint("u(x) - v", label="pull")
    s.set_defaults(v=v)
    run = (
        s.equations()
        .compile(backend="python")
        .simulate(t_end=2.0, step=0.001, initial={"q(c)": angle})
    )
    expected = np.tan(angle / 2) * np.exp(-v / trail * run.time)
    assert np.tan(run["q(c)"] / 2) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("constraints", ["auto", "multipliers"])
@pytest.mark.parametrize("radius_of_gyration", [0.10, 0.139, 0.143, 0.2])
def test_shimmy_of_a_caster_on_an_elastic_pivot(radius_of_gyration, constraints):
    """Pacejka, Tyre and Vehicle Dynamics (2012), chapter 6, with a rigid wheel: trail a, mass
    centre b behind the pivot, whose lateral stiffness is k: (m (a - b)^2 + I) s^3 + m (a - b) v s^2
    + k a^2 s + k a v = 0, stable at every speed where b (a - b) > I/m."""
    a, b, m, k = 0.3, 0.2, 8.0, 4000.0
    inertia = m * radius_of_gyration**2
    s = bc.System("caster", units="mks")
    x = s.add_body("x", translate=1, mass=0, inertia=0)
    y = s.add_body("y", parent=x, translate=2, mass=0, inertia=0)
    c = s.add_body("c", parent=y, rotate=3, mass=m, cm=(-b, 0, 0), inertia=(inertia,) * 3)
    s.add_point("contact", body=c, at=(-a, 0, 0))
    s.add_constraint("dot(vel(contact), [c2])", label="wheel")
    s.add_constraint("u(x) - v", label="pull")
    s.add_force("spring", magnitude="-k*q(y)", direction="[n2]", at=y.origin)
    s.set_defaults(v=1, k=k)
    sim = s.equations(constraints=constraints).compile(backend="python")
    for v in (1.0, 6.0, 30.0):
        roots = np.roots([m * (a - b) ** 2 + inertia, m * (a - b) * v, k * a**2, k * a * v])
        assert (roots.real.max() < 0) == (b * (a - b) > radius_of_gyration**2)
        found = np.linalg.eigvals(sim.linearize(at="start", parameters={"v": v}).A)
        assert all(np.abs(found - x).min() < 1e-6 * np.abs(roots).max() for x in roots)


def test_stewart_platform_driven_by_its_legs():
    """Stewart, Proceedings of the Institution of Mechanical Engineers 180 (1965), 371: six lengths
    as functions of time give the pose; the inverse kinematics of that pose, in closed form, gives
    the lengths back. Rates follow from Jacobians, and the forces of the legs from Newton and Euler
    for the platform."""
    angles = np.radians([10, 110, 130, 230, 250, 350])
    tops = np.array([0.3 * np.cos(angles), 0.3 * np.sin(angles), 0 * angles]).T
    feet = np.radians([50, 70, 170, 190, 290, 310])
    base = np.array([0.6 * np.cos(feet), 0.6 * np.sin(feet), 0 * feet]).T
    mass, inertia = 10.0, np.array([0.5, 0.6, 0.7])
    s = bc.System("Stewart", units="mks")
    x = s.add_body("x", translate=(1, 2, 3), rotate=(1, 2, 3), mass=mass, inertia=tuple(inertia))
    rest = np.linalg.norm(tops + [0, 0, 0.8] - base, axis=1)
    for i in range(6):
        s.add_point(f"p{i}", body=x, at=tuple(map(float, tops[i])))
        s.add_point(f"g{i}", at=tuple(map(float, base[i])))
        d = f"pos(p{i}) - pos(g{i})"
        s.add_constraint(
            f"dot({d}, {d}) - (l{i} + stroke*sin(rate*t + {i}) - stroke*sin({i}))**2",
            label=f"leg {i}",
        )
    s.set_defaults(stroke=0.03, rate=3, g=9.81, **{f"l{i}": float(rest[i]) for i in range(6)})
    s.add_gravity(direction="-[n3]")
    s.add_outputs("reactions")
    s.set_run(t_end=1.0, step=0.01, guess={"q(x, 3)": 0.8})
    run = s.equations().compile(backend="python").simulate()
    assert run.ended == "finished"
    assert max(np.ptp(run[f"q(x, {i})"]) for i in (4, 5, 6)) > 0.02
    i = np.arange(6)
    for n in range(0, 101, 10):
        R = (
            turned(1, run["q(x, 4)"][n])
            @ turned(2, run["q(x, 5)"][n])
            @ turned(3, run["q(x, 6)"][n])
        )
        at = np.array([run[f"q(x, {j})"][n] for j in (1, 2, 3)])
        arms = tops @ R.T
        legs = arms + at - base
        lengths = np.linalg.norm(legs, axis=1)
        assert lengths == pytest.approx(
            rest + 0.03 * (np.sin(3 * run.time[n] + i) - np.sin(i)), abs=1e-9
        )
        # l l' = d . (v + w x a), and once more for accelerations
        G = np.hstack([legs, np.cross(arms, legs)])
        rates, second = 0.09 * np.cos(3 * run.time[n] + i), -0.27 * np.sin(3 * run.time[n] + i)
        v, w = np.split(np.linalg.solve(G, lengths * rates), 2)
        assert [run[f"u(x, {j})"][n] for j in (1, 2, 3)] == pytest.approx(R.T @ v, abs=1e-8)
        assert [run[f"u(x, {j})"][n] for j in (4, 5, 6)] == pytest.approx(R.T @ w, abs=1e-8)
        moved = v + np.cross(w, arms)
        right = (
            lengths * second
            + rates**2
            - (moved**2).sum(axis=1)
            - (legs * np.cross(w, np.cross(w, arms))).sum(axis=1)
        )
        a, alpha = np.split(np.linalg.solve(G, right), 2)
        I = R @ np.diag(inertia) @ R.T
        load = np.concatenate([mass * (a + [0, 0, 9.81]), I @ alpha + np.cross(w, I @ w)])
        thrust = np.linalg.solve((G / lengths[:, None]).T, load)
        found = [2 * run[f"lambda{j + 1}"][n] * lengths[j] for j in range(6)]
        assert found == pytest.approx(thrust, rel=1e-7)


def delta_arm(x, azimuth, base, platform, upper, fore):
    """Cosine and sine of the arm's angle below the horizontal, elbow outwards, for a platform at x;
    x may be complex."""
    p = turned(3, -azimuth) @ x
    A, B = p[0] + platform - base, -p[2]
    C = (A * A + p[1] * p[1] + B * B + upper**2 - fore**2) / (2 * upper)
    N = A * A + B * B
    root = np.sqrt(N - C * C)
    return (A * C + B * root) / N, (B * C - A * root) / N


@pytest.mark.parametrize("heading", [0.0, 0.7])
def test_delta_robot(heading):
    """Clavel, 18th International Symposium on Industrial Robots (1988), 91; the mass of forearms at
    their ends: inverse kinematics in closed form, motion under constant motor torques by Lagrange's
    equations for the platform."""
    r_b, r_p, upper, fore = 0.2, 0.05, 0.2, 0.42
    m_p, m_a, m_f, J = 0.5, 0.3, 0.1, 0.002
    azimuths, torques = heading + 2 * np.pi / 3 * np.arange(3), np.array([-1.2, -0.8, -0.5])
    s = bc.System("Delta", units="mks")
    platform = s.add_body("p", translate=(1, 2, 3), mass=m_p + 3 * m_f / 2, inertia=0)
    m = m_a + m_f / 2
    cm = (m_a * upper / 2 + m_f / 2 * upper) / m
    about = J + m_a * (cm - upper / 2) ** 2 + m_f / 2 * (upper - cm) ** 2
    x0 = np.array([0.03, -0.05, -0.35])
    start, guess = dict(zip(("q(p, 1)", "q(p, 2)", "q(p, 3)"), x0.tolist(), strict=True)), {}
    v0 = np.array([0.3, 0.2, -0.4])
    start |= dict(zip(("u(p, 1)", "u(p, 2)", "u(p, 3)"), v0.tolist(), strict=True))
    for i, phi in enumerate(azimuths):
        c, sn = float(np.cos(phi)), float(np.sin(phi))
        at = {
            "joint_at": (r_b * c, r_b * sn, 0.0),
            "rotation_axis": (-sn, c, 0.0),
            "reference_axis": (c, sn, 0.0),
        }
        arm = s.add_body(f"a{i}", rotate=3, cm=(cm, 0, 0), mass=m, inertia=(about,) * 3, **at)
        elbow = s.add_point(f"e{i}", body=arm, at=(upper, 0, 0))
        wrist = s.add_point(f"w{i}", body=platform, at=(r_p * c, r_p * sn, 0))
        s.add_loop_joint("loop_2", "distance", between=(elbow, wrist), length=fore)
        s.add_moment(f"motor_{i}", magnitude=float(torques[i]), direction=arm[3], on=arm)
        guess[f"q(a{i})"] = float(np.arctan2(*delta_arm(x0, phi, r_b, r_p, upper, fore)[::-1]))
    s.add_gravity(direction="-[n3]")
    s.set_defaults(g=9.81)
    s.set_run(t_end=0.2, step=0.001, initial=start, guess=guess)
    eom = s.equations()
    assert len(eom.independent_speeds) == 3
    run = eom.compile(backend="python").simulate()
    assert run.ended == "finished"
    x = np.array([run[f"q(p, {i})"] for i in (1, 2, 3)])
    assert np.ptp(x, axis=1).max() > 0.05
    for i, phi in enumerate(azimuths):
        c, sn = np.array([delta_arm(p, phi, r_b, r_p, upper, fore) for p in x.T]).T
        assert np.array([np.cos(run[f"q(a{i})"]), np.sin(run[f"q(a{i})"])]) == pytest.approx(
            np.array([c, sn]), abs=1e-9
        )

    def poses(x):
        found = [(x, np.eye(3))]
        for phi in azimuths:
            c, sn = delta_arm(x, phi, r_b, r_p, upper, fore)
            out = turned(3, phi)
            R = np.array([[c, 0, sn], [0, 1, 0], [-sn, 0, c]])
            hip, along = out @ [r_b, 0, 0], out @ R @ [upper, 0, 0]
            found += [(hip + along / 2, out @ R), (hip + along, out)]
        return found

    def loads(x):
        found = np.zeros(3)
        for phi, torque in zip(azimuths, torques, strict=True):
            for k in range(3):
                moved = x + 1e-30j * np.eye(3)[k]
                c, sn = delta_arm(moved, phi, r_b, r_p, upper, fore)
                found[k] += torque * (c.real * sn.imag - sn.real * c.imag) / 1e-30
        return found

    bodies = [(m_p + 3 * m_f / 2, np.zeros(3)), *[(m_a, np.full(3, J)), (m_f / 2, np.zeros(3))] * 3]
    times = run.time[::20]
    q, v = Lagrange(bodies, poses, loads=loads).run(x0, v0, times)
    assert x[:, ::20] == pytest.approx(q, abs=1e-8)
    assert np.array([run[f"u(p, {i})"][::20] for i in (1, 2, 3)]) == pytest.approx(v, abs=1e-7)


AGILE_LEGS = {
    1: (3, 2),
    2: (1, 3),
    3: (2, 1),
}  # base axis: axis of the middle joint, axis of the platform


def agile_eye_links(R):
    """Orientations of inner and outer links of the legs, in closed form, for an orientation of the
    platform: the axis of the middle joint turns about that of the base, and is square to that of
    the platform."""
    found = []
    for base, (middle, top) in AGILE_LEGS.items():
        # at rest axes are those of the base; cosine and sine of the angle of the inner link
        c, s = R[top - 1, top - 1], R[middle - 1, top - 1]
        size = np.sqrt(c * c + s * s)
        c, s = c / size, s / size
        inner = np.eye(3, dtype=R.dtype)
        i, j = base % 3, (base + 1) % 3
        inner[i, i], inner[j, j], inner[i, j], inner[j, i] = c, c, -s, s
        outer = np.zeros((3, 3), dtype=R.dtype)
        outer[:, middle - 1], outer[:, top - 1] = inner[:, middle - 1], R[:, top - 1]
        rest = 6 - middle - top
        i, j = rest % 3, (rest + 1) % 3
        outer[:, rest - 1] = np.cross(outer[:, i], outer[:, j])
        found += [inner, outer]
    return found


AGILE_MASSES = {
    "p": (1.0, (0.0, 0.0, 0.1), (0.01, 0.012, 0.015)),
    "inner": (0.4, (0.08, 0.05, 0.03), (0.002, 0.003, 0.0025)),
    "outer": (0.3, (0.04, 0.07, 0.02), (0.001, 0.0015, 0.002)),
}


def agile_eye():
    s = bc.System("Agile Eye", units="mks")

    def body(name, kind, **joint):
        mass, cm, inertia = AGILE_MASSES[kind]
        return s.add_body(name, mass=mass, cm=cm, inertia=inertia, **joint)

    body("p", "p", rotate=(1, 2, 3))
    for base, (middle, top) in AGILE_LEGS.items():
        inner = body(f"a{base}", "inner", rotate=base)
        body(f"b{base}", "outer", parent=inner, rotate=middle)
        for other in {1, 2, 3} - {top}:
            s.add_constraint(
                f"dot([b{base}{top}], [p{other}])", label=f"axis of leg {base}, {other}"
            )
    return s


def test_agile_eye():
    """Gosselin and Hamel, IEEE International Conference on Robotics and Automation (1994), 1293:
    three legs with square axes that meet in one point. Each motor angle is the arc tangent of two
    entries of the platform's rotation; its motion under gravity is compared with Lagrange's
    equations for the platform."""
    s = agile_eye()
    s.add_gravity(direction="-[n3]")
    s.set_defaults(g=9.81)
    e0, rates = np.array([0.2, -0.3, 0.25]), np.array([1.0, -0.8, 1.5])

    def platform(e):
        return turned(1, e[0]) @ turned(2, e[1]) @ turned(3, e[2])

    def orientations(e):
        return [R := platform(e), *agile_eye_links(R)]

    kinds = ["p", *("inner", "outer") * 3]
    bodies = [(AGILE_MASSES[k][0], np.array(AGILE_MASSES[k][2])) for k in kinds]

    def poses(e):
        return [(R @ AGILE_MASSES[k][1], R) for k, R in zip(kinds, orientations(e), strict=True)]

    lagrange = Lagrange(bodies, poses)
    w = lagrange.jacobians(e0)[0][1] @ rates
    start = {f"q(p, {i + 1})": float(e0[i]) for i in range(3)} | {
        f"u(p, {i + 1})": float(w[i]) for i in range(3)
    }
    s.set_run(t_end=0.5, step=0.001, initial=start)
    eom = s.equations()
    assert len(eom.independent_speeds) == 3
    run = eom.compile(backend="python").simulate()
    assert run.ended == "finished"
    e = np.array([run[f"q(p, {i})"] for i in (1, 2, 3)])
    assert np.ptp(e, axis=1).min() > 0.2
    for n in range(0, 501, 50):
        R = platform(e[:, n])
        exact = np.arctan2([R[2, 1], R[0, 2], R[1, 0]], [R[1, 1], R[2, 2], R[0, 0]])
        assert [run[f"q(a{i})"][n] for i in (1, 2, 3)] == pytest.approx(exact, abs=1e-9)
        spins = lagrange.jacobians(e[:, n])
        w = np.array([run[f"u(p, {i})"][n] for i in (1, 2, 3)])
        rate = np.linalg.solve(spins[0][1], w)
        exact = [(spins[2 * i - 1][1] @ rate)[i - 1] for i in (1, 2, 3)]
        assert [run[f"u(a{i})"][n] for i in (1, 2, 3)] == pytest.approx(exact, abs=1e-8)
    times = run.time[::50]
    found, _ = lagrange.run(e0, rates, times)
    assert e[:, ::50] == pytest.approx(found, abs=1e-7)


@pytest.mark.parametrize("driven", [1, 2, 3])
def test_agile_eye_turns_about_the_axis_of_one_motor(driven):
    """With the other two motors at zero it is decoupled: the platform turns about the driven axis
    by the motor angle."""
    s = agile_eye()
    for i in (1, 2, 3):
        s.add_constraint(f"q(a{i}) - W*t" if i == driven else f"q(a{i})", label=f"motor {i}")
    s.set_defaults(W=1.5)
    run = s.equations().compile(backend="python").simulate(t_end=0.8, step=0.01)
    assert run.ended == "finished"
    for i in (1, 2, 3):
        assert run[f"q(p, {i})"] == pytest.approx(
            1.5 * run.time if i == driven else 0 * run.time, abs=1e-9
        )
        assert run[f"u(p, {i})"] == pytest.approx(
            np.full(len(run), 1.5 if i == driven else 0.0), abs=1e-9
        )
