"""Classic problems with closed forms: linkages, rolling, rotors, follower forces."""

import numpy as np
import pytest

import bellcrank as bc

pytestmark = pytest.mark.campaign
SOLID = (0.4, 0.4, 0.4)


def test_bennett_linkage():
    """Bennett, Engineering 76 (1903), 777: tan(t1/2) tan(t2/2) = sin((b + a)/2) / sin((b - a)/2), one degree of freedom
    with equations of loops that are redundant only where it is closed."""
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
    s.close_loop(p, g, directions=(n[1], n[2], n[3]), label="end")
    axis = f"({np.cos(alpha)!r}*[l33] - {np.sin(alpha)!r}*[l32])".replace("np.float64", "")
    s.add_constraint(f"dot({axis}, [n1])")
    s.add_constraint(f"dot({axis}, {np.cos(beta)!r}*[n2] - {np.sin(beta)!r}*[n3])".replace("np.float64", ""))

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
    """Hartenberg and Denavit, Kinematic Synthesis of Linkages (1964), section 12: the rod length gives
    A cos(phi) + B sin(phi) = C for the output angle."""
    r1, r2, rod, at = 0.1, 0.3, 0.6, np.array([0.4, 0.3, -0.1])
    s = bc.System("RSSR", units="mks")
    crank = s.add_body("crank", rotate=3, cm=(0.05, 0, 0), mass=1, inertia=(0.01,) * 3)
    rocker = s.add_body("rocker", rotate=1, joint_at=tuple(map(float, at)), cm=(0, 0.1, 0), mass=2, inertia=(0.02,) * 3)
    p, q = s.add_point("p", body=crank, at=(r1, 0, 0)), s.add_point("q", body=rocker, at=(0, r2, 0))
    s.close_loop(p, q, joint="rod", length=rod)
    s.add_gravity(direction="-[n3]")
    s.set_run(t_end=1.0, step=0.002, initial={"q(crank)": 0.2, "u(crank)": 8.0}, guess={"q(rocker)": 0.5})
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
    """Weltner, American Journal of Physics 47 (1979), 984: a solid ball runs in a circle at 2/7 of the table's rate."""
    s = bc.System("turntable", units="mks")
    s.add_body("b", translate=(1, 2), rotate="euler-parameters", mass=1, inertia=SOLID)
    s.add_constraint("dot(vel(b.origin), [n1]) - r*dot(rot(b), [n2]) + W*q(b, 2)")
    s.add_constraint("dot(vel(b.origin), [n2]) + r*dot(rot(b), [n1]) - W*q(b, 1)")
    s.set_defaults(W=3.5, r=1)
    sim = s.equations(constraints=constraints).compile(backend="python")
    run = sim.simulate(t_end=3.0, step=0.005, initial={"q(b, 1)": 0.4, "u(b, 1)": 0.0, "u(b, 2)": 0.6})
    z = run["q(b, 1)"] + 1j * run["q(b, 2)"]
    assert z == pytest.approx(0.4 + 0.6 * (np.exp(1j * run.time) - 1), abs=1e-7)


def test_ziegler_double_pendulum_under_a_follower_force():
    """Ziegler, Ingenieur-Archiv 20 (1952), 49: masses 2m and m flutter from P = (7/2 - sqrt 2) k/l on."""
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
    """Goldstein, Classical Mechanics (1980), section 5-7: asleep where (C w)^2 > 4 A m g l; small motions about the
    vertical follow A z'' - i C w z' - m g l z = 0."""
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
    assert (run["q(outer)"] + 1j * run["q(inner)"]) / size == pytest.approx(expected / size, abs=1e-6)


def test_jeffcott_rotor():
    """Jeffcott, Philosophical Magazine 37 (1919), 304: whirl of a disc with unbalance on an elastic shaft, driven at
    constant speed below and above the critical one."""
    m, k, c, e = 2.0, 800.0, 4.0, 1e-3
    s = bc.System("Jeffcott", units="mks")
    shaft = s.add_body("s", translate=(1, 2), mass=0, inertia=0)
    s.add_body("d", parent=shaft, rotate=3, cm=(e, 0, 0), mass=m, inertia=(0.01, 0.01, 0.02))
    for i in (1, 2):
        s.add_force(f"f{i}", magnitude=f"-k*q(s, {i}) - c*u(s, {i})", direction=f"[n{i}]", at=shaft.origin)
    s.add_constraint("q(d) - W*t", label="motor")
    s.set_defaults(k=k, c=c, W=1)
    sim = s.equations().compile(backend="python")
    for w in (12.0, 20.0, 35.0):
        R = e * w**2 / (k / m - w**2 + 1j * c * w / m)
        start = {"q(s, 1)": R.real, "q(s, 2)": R.imag, "u(s, 1)": -w * R.imag, "u(s, 2)": w * R.real}
        run = sim.simulate(t_end=1.0, step=0.001, parameters={"W": w}, initial=start)
        z = run["q(s, 1)"] + 1j * run["q(s, 2)"]
        assert z / abs(R) == pytest.approx(R / abs(R) * np.exp(1j * w * run.time), abs=1e-6)


@pytest.mark.parametrize("constraints", ["auto", "multipliers"])
def test_golf_ball_in_a_vertical_cylinder(constraints):
    """Gualtieri et al., American Journal of Physics 74 (2006), 497: a solid ball that rolls around inside a vertical
    cylinder does not fall out: its height oscillates at sqrt(2/7) of the rate at which it runs around."""
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
    run = sim.simulate(t_end=0.5, step=0.00025, initial={"u(arm)": rate, "u(ball, 1)": 0.0, "u(ball, 2)": 0.0})
    assert run["q(arm)"] == pytest.approx(rate * run.time, abs=1e-7)
    height = -9.81 / (0.4 * rate**2) * (1 - np.cos(np.sqrt(2 / 7) * rate * run.time))
    assert run["q(ball, 1)"] == pytest.approx(height, abs=1e-7)


def test_klingel_motion_of_a_wheelset():
    """Klingel, Organ fuer die Fortschritte des Eisenbahnwesens 20 (1883), 113: conical wheels that roll run on a sine of
    wavelength 2 pi sqrt(r s / cone), whatever the speed."""
    radius, half, cone = 0.46, 0.75, 0.05
    s = bc.System("wheelset", units="mks")
    s.add_body("w", translate=(1, 2), rotate=3, mass=1200, inertia=(700, 100, 700))
    s.add_constraint("dot(vel(w.origin), [n1]) - speed")
    s.add_constraint("dot(vel(w.origin), [n2]) - speed*q(w, 3)")
    s.add_constraint("u(w, 3) + speed*cone*q(w, 2)/(r*half)")
    s.set_defaults(speed=20, cone=cone, r=radius, half=half)
    sim = s.equations().compile(backend="python")
    for v in (5.0, 20.0):
        run = sim.simulate(t_end=40 / v, step=0.02 / v, parameters={"speed": v}, initial={"q(w, 2)": 0.004})
        wave = 2 * np.pi * np.sqrt(radius * half / cone)
        assert run["q(w, 2)"] == pytest.approx(0.004 * np.cos(2 * np.pi * run["q(w, 1)"] / wave), abs=1e-9)


def test_stewart_platform_driven_by_its_legs():
    """Stewart, Proceedings of the Institution of Mechanical Engineers 180 (1965), 371: six lengths as functions of time
    give the pose; the inverse kinematics of that pose, in closed form, gives the lengths back."""
    angles = np.radians([10, 110, 130, 230, 250, 350])
    tops = np.array([0.3 * np.cos(angles), 0.3 * np.sin(angles), 0 * angles]).T
    feet = np.radians([50, 70, 170, 190, 290, 310])
    base = np.array([0.6 * np.cos(feet), 0.6 * np.sin(feet), 0 * feet]).T
    s = bc.System("Stewart", units="mks")
    x = s.add_body("x", translate=(1, 2, 3), rotate=(1, 2, 3), mass=10, inertia=(0.5, 0.6, 0.7))
    rest = np.linalg.norm(tops + [0, 0, 0.8] - base, axis=1)
    for i in range(6):
        s.add_point(f"p{i}", body=x, at=tuple(map(float, tops[i])))
        s.add_point(f"g{i}", at=tuple(map(float, base[i])))
        d = f"pos(p{i}) - pos(g{i})"
        s.add_constraint(f"dot({d}, {d}) - (l{i} + stroke*sin(rate*t + {i}) - stroke*sin({i}))**2", label=f"leg {i}")
    s.set_defaults(stroke=0.03, rate=3, **{f"l{i}": float(rest[i]) for i in range(6)})
    s.add_gravity(direction="-[n3]")
    s.set_run(t_end=1.0, step=0.01, guess={"q(x, 3)": 0.8})
    run = s.equations().compile(backend="python").simulate()
    assert run.ended == "finished"
    assert max(np.ptp(run[f"q(x, {i})"]) for i in (4, 5, 6)) > 0.02
    for k in range(0, 101, 10):
        a, b, c = (run[f"q(x, {i})"][k] for i in (4, 5, 6))
        turn_1 = [[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]]
        turn_2 = [[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]]
        turn_3 = [[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]]
        R = np.array(turn_1) @ turn_2 @ turn_3
        at = [run[f"q(x, {i})"][k] for i in (1, 2, 3)]
        lengths = np.linalg.norm(tops @ R.T + at - base, axis=1)
        i = np.arange(6)
        assert lengths == pytest.approx(rest + 0.03 * (np.sin(3 * run.time[k] + i) - np.sin(i)), abs=1e-9)
