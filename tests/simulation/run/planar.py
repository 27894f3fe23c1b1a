"""Planar linkages through singular configurations, described to the program and next to it as sums
of complex vectors.

The reference is one ordinary differential equation along the smooth branch, which is known in
closed form or as a Fourier series of both assemblies joined where they cross: no loop, no rank, no
correction enters it.
"""

from dataclasses import dataclass, field

import numpy as np

import bellcrank as bc
from tests.late import Late

integrate = Late("scipy.integrate")


@dataclass
class Planar:
    """Rods in a plane under gravity. A body: mass, inertia, terms (vector, factors of the angles)
    of its centre, factors of its angle."""

    name: str
    gravity: float = 0.0
    damping: float = 0.0  # of the first coordinate
    bodies: list = field(default_factory=list)
    names: list = field(default_factory=list)

    def __post_init__(self):
        self.s = bc.System(self.name, units="mks")
        self.made, self.ends = {}, {}

    def rod(self, name, length, parent=None, at=0.0, mass=None, side=1.0):
        """A uniform rod that starts at a place on the ground, or along its parent; `side`: its
        direction at angle zero."""
        mass = length if mass is None else mass
        inertia, number = mass * length**2 / 12, len(self.names)
        more = (
            {"joint_at": (at, 0, 0)}
            if parent is None
            else {"joint_at": (at, 0, 0), "parent": self.made[parent]}
        )
        reach = (0.5 * length * np.real(side), 0.5 * length * np.imag(side), 0)
        body = self.s.add_body(
            name, rotate=3, cm=reach, mass=mass, inertia=(inertia / 2, inertia / 2, inertia), **more
        )
        angle = {number: 1.0} if parent is None else {**self.ends[parent][1], number: 1.0}
        base = [] if parent is None else [*self.ends[parent][0], (at, self.ends[parent][1])]
        self.names.append(name)
        self.made[name], self.ends[name] = body, (base, angle)
        self.bodies.append((mass, inertia, [*base, (0.5 * length * side, angle)], angle))
        return body

    def pin(self, name, at, other, reach):
        """Closes a loop between points of two rods."""
        n = self.s.inertial
        p = self.s.add_point(f"{name}_{other}_1", body=self.made[name], at=(at, 0, 0))
        r = self.s.add_point(f"{name}_{other}_2", body=self.made[other], at=(reach, 0, 0))
        self.s.add_loop_joint(f"pin of {name} and {other}", between=(p, r), directions=(n[1], n[2]))

    def done(self, start):
        """The equations, with a start by coordinates and speeds."""
        if self.gravity:
            self.s.add_gravity(direction=-self.s.inertial[2])
            self.s.set_defaults(g=self.gravity)
        if self.damping:
            first = self.names[0]
            self.s.add_moment(
                "damper",
                magnitude=f"-d*u({first})",
                direction=self.s.inertial[3],
                on=self.made[first],
            )
            self.s.set_defaults(d=self.damping)
        self.s.add_outputs("energy")
        q, u = start
        given = {f"q({n})": float(x) for n, x in zip(self.names, q, strict=True)}
        given |= {f"u({n})": float(x) for n, x in zip(self.names, u, strict=True)}
        self.s.set_run(t_end=1.0, step=0.001, initial=given)
        return self.s.equations()

    def system(self, q, u):
        """Mass matrix and forces of the tree."""
        n = len(self.names)
        M, f = np.zeros((n, n)), np.zeros(n)
        for mass, inertia, terms, angle in self.bodies:
            J, bias = np.zeros(n, complex), 0.0
            for a, factors in terms:
                z = a * np.exp(1j * sum(k * q[i] for i, k in factors.items()))
                for i, k in factors.items():
                    J[i] += 1j * k * z
                bias -= z * sum(k * u[i] for i, k in factors.items()) ** 2
            M += mass * np.real(np.outer(J.conj(), J))
            f -= mass * np.real(J.conj() * (bias + 1j * self.gravity))
            w = np.array([angle.get(i, 0.0) for i in range(n)])
            M += inertia * np.outer(w, w)
        f[0] -= self.damping * u[0]
        return M, f

    def exact(self, branch, z, v, times):
        """Coordinates over time; branch(z, v): the point, its slopes T by z, and K with q'' = T z''
        + K."""
        p = len(z)

        def rates(t, x):
            q, T, K = branch(x[:p], x[p:])
            M, f = self.system(q, T @ x[p:])
            return np.concatenate([x[p:], np.linalg.solve(T.T @ M @ T, T.T @ (f - M @ K))])

        found = integrate.solve_ivp(
            rates,
            (0.0, times[-1]),
            [*z, *v],
            method="DOP853",
            rtol=3e-14,
            atol=1e-14,
            t_eval=times,
            max_step=0.05,
        )
        return np.array([branch(x[:p], x[p:])[0] for x in found.y.T])


def start_on(branch, z, v):
    q, T, _ = branch(np.array(z, float), np.array(v, float))
    return q, T @ np.array(v, float)


def linear(T):
    """A branch along which all angles are linear."""
    T = np.array(T, float).reshape(len(T), -1)
    return lambda z, v: (T @ np.asarray(z), T, np.zeros(len(T)))


def change_point(lengths=(1.0, 2.5, 1.5, 2.0), sign=1, number=1024):
    """The smooth motion of a linkage whose joints can all lie on one line, over two turns of its
    crank."""
    l1, l2, l3, l4 = lengths
    at = 0.0 if abs(l4 - l1 - abs(l2 - l3)) < 1e-12 else np.pi
    theta = at + (np.arange(number) + 0.5) * 4 * np.pi / number
    p = l1 * np.exp(1j * theta)
    d = l4 - p
    square = np.abs(d) ** 2
    x = (square + l2**2 - l3**2) / (2 * square)
    side = np.where(theta < at + 2 * np.pi, 1, -1) * sign
    end = p + x * d + side * np.sqrt(np.maximum(l2**2 / square - x * x, 0.0)) * 1j * d
    series = []
    for angle in (np.unwrap(np.angle(end - p)) - theta, np.unwrap(np.angle(end - l4))):
        closing = angle[-1] + ((angle[1] - angle[0]) + (angle[-1] - angle[-2])) / 2 - angle[0]
        mean = np.round(closing / (2 * np.pi)) / 2
        c = np.fft.rfft(angle - mean * (theta - theta[0])) / number
        c[np.abs(c) < 3e-15 * np.abs(c).max()] = 0.0
        series.append((mean, c[: np.flatnonzero(c)[-1] + 1]))

    def branch(z, v):
        t, q, T, K = z[0] - theta[0], [z[0]], [1.0], [0.0]
        for mean, c in series:
            k = 0.5 * np.arange(len(c))
            waves = np.where(k == 0, 1, 2) * c * np.exp(1j * k * t)
            q.append(mean * t + waves.sum().real)
            T.append(mean + (1j * k * waves).sum().real)
            K.append(-(k * k * waves).sum().real * v[0] ** 2)
        return np.array(q), np.array(T)[:, None], np.array(K)

    return branch


def four_bar(lengths=(1.0, 2.5, 1.5, 2.0), **given):
    l1, l2, l3, l4 = lengths
    m = Planar("four-bar", **given)
    m.rod("a", l1)
    m.rod("b", l2, parent="a", at=l1)
    m.rod("c", l3, at=l4)
    m.pin("b", l2, "c", l3)
    return m


def windows(n, gravity=9.81, pendulum=False):
    """n windows of unit links; `pendulum`: one more degree of freedom, on the first coupler. With
    its branch."""
    m = Planar("windows", gravity)
    rows = []
    for i in range(n + 1):
        m.rod(f"a{i}", 1.0, at=float(i))
        rows.append([1.0, 0.0])
        if i:
            m.rod(f"b{i}", 1.0, parent=f"a{i - 1}", at=1.0)
            m.pin(f"b{i}", 1.0, f"a{i}", 1.0)
            rows.append([-1.0, 0.0])
    if pendulum:
        m.rod("p", 0.8, parent="b1", at=0.5, mass=0.7, side=-1j)
        rows.append([0.0, 1.0])
    return m, linear(np.array(rows)[:, : 1 + pendulum])


def three_cranks():
    """A rod on three equal cranks: one of its rows always repeats others, and all are lost in
    line."""
    m = Planar("coupling rod", 9.81)
    m.rod("a", 0.5, mass=1.0)
    m.rod("b", 1.4, parent="a", at=0.5, mass=1.0)
    m.rod("c", 0.5, at=0.7, mass=1.0)
    m.rod("d", 0.5, at=1.4, mass=1.0)
    m.pin("b", 0.7, "c", 0.5)
    m.pin("b", 1.4, "d", 0.5)
    return m, linear([1.0, -1.0, 1.0, 1.0])


def massless_coupler():
    m = Planar("massless coupler", 9.81)
    m.rod("a", 1.0)
    m.rod("b", 1.0, parent="a", at=1.0, mass=0.0)
    m.rod("c", 1.0, at=1.0)
    m.pin("b", 1.0, "c", 1.0)
    return m, linear([1.0, -1.0, 1.0])


def window_on_a_swing():
    """A parallelogram on a rod that swings: its rows, along axes of the ground, know the angle of
    the rod."""
    m = Planar("swing", 9.81)
    m.rod("o", 1.5)
    m.rod("d", 0.6, parent="o", at=0.2)
    m.rod("e", 0.6, parent="d", at=0.6)
    m.rod("f", 0.6, parent="o", at=0.8)
    m.pin("e", 0.6, "f", 0.6)
    return m, linear([[1, 0], [0, 1], [0, -1], [0, 1]])


def two_windows():
    """Two parallelograms, the second on the coupler of the first: two blocks that are in their
    zones together and apart."""
    m = Planar("two blocks", 9.81)
    m.rod("a", 1.0)
    m.rod("b", 1.0, parent="a", at=1.0)
    m.rod("c", 1.0, at=1.0)
    m.pin("b", 1.0, "c", 1.0)
    m.rod("d", 0.6, parent="b", at=0.2)
    m.rod("e", 0.6, parent="d", at=0.6)
    m.rod("f", 0.6, parent="b", at=0.8)
    m.pin("e", 0.6, "f", 0.6)
    return m, linear([[1, 0], [-1, 0], [1, 0], [0, 1], [0, -1], [0, 1]])


def peaucellier(arm=1.5, side=0.6, crank=1.25, gravity=0.0, number=512):
    """Peaucellier's inversor: two arms from the origin, a rhombus at their ends, a crank to its
    near corner. It passes positions in which the rhombus is flat, lengthwise (two rows are lost)
    and crosswise. Its smooth motion, over the angle of a side of the rhombus to its axis."""
    m = Planar("inversor", gravity)
    for name, parent, length, at in (
        ("a", None, arm, 0.0),
        ("b", None, arm, 0.0),
        ("p", "a", side, arm),
        ("r", "b", side, arm),
        ("v", "a", side, arm),
        ("w", "b", side, arm),
        ("k", None, crank, crank),
    ):
        m.rod(name, length, parent=parent, at=at)
    m.pin("p", side, "r", side)
    m.pin("v", side, "w", side)
    m.pin("p", side, "k", crank)
    z = np.arange(number) * 2 * np.pi / number
    half = np.arcsin(side / arm * np.sin(z))  # angle between an arm and the axis
    axis = np.arccos((arm * np.cos(half) - side * np.cos(z)) / (2 * crank))
    waves = [np.fft.rfft(x) / number for x in (half, axis)]
    turns = (
        (1, 1, 0),
        (-1, 1, 0),
        (-1, 0, 1),
        (1, 0, -1),
        (-1, 0, -1),
        (1, 0, 1),
        (0, 2, 0),
    )  # of half, axis, z
    shift = np.array([0, 0, np.pi, -np.pi, 0, 0, 0])

    def branch(z, v):
        k = np.arange(number // 2 + 1)
        known = [np.where(k == 0, 1, 2) * c * np.exp(1j * k * z[0]) for c in waves]
        q = np.array([*(x.sum().real for x in known), z[0]])
        T = np.array([*((1j * k * x).sum().real for x in known), 1.0])
        K = np.array([*(-(k * k * x).sum().real for x in known), 0.0]) * v[0] ** 2
        by = np.array(turns)
        return by @ q + shift, (by @ T)[:, None], by @ K

    return m, branch
