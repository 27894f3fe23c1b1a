"""Closed linkages drawn at random, and their accelerations by an independent solution with
multipliers.

Points and axes of a loop joint coincide in the reference configuration, so every linkage can be
assembled. Bodies stand in frames of their own, given by rotation matrices, so that axes meant to be
parallel are so but for the last digit.
"""

from dataclasses import dataclass

import numpy as np

import bellcrank as bc
from bellcrank.verify import jets
from bellcrank.verify.bodies import ReferenceMechanism
from bellcrank.verify.formulas import ParameterValues
from bellcrank.verify.kane_residual import PartialVelocityMotions
from bellcrank.verify.reference_constraints import ReferenceConstraints
from bellcrank.verify.reference_evaluation import ReferenceEvaluation

ROWS = {
    "spherical": 3,
    "revolute": 5,
    "prismatic": 5,
    "cylindrical": 4,
    "universal": 4,
    "planar": 3,
    "distance": 1,
}
ABOUT = (
    "revolute",
    "cylindrical",
    "spherical",
    "distance",
    "directions",
)  # that close a planar linkage


@dataclass(frozen=True)
class Linkage:
    """A system with what was drawn for it: `guess` is a rough start, `speeds` some speeds of it,
    `parameters` its points."""

    system: bc.System
    kind: str
    guess: dict
    speeds: dict

    @property
    def parameters(self):
        return {record.name: record.value for record in self.system.description.parameters.values()}


def rotation(rng):
    """A rotation matrix, orthogonal to the last digit or so."""
    R = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    return R * np.sign(np.linalg.det(R))


def turn(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


class Drawing:
    """A description in the making: where bodies stand nominally, in the axes of the ground."""

    def __init__(self, name, rng, named=False):
        self.rng, self.named = rng, named  # are coordinates of points parameters?
        self.s = bc.System(name, units="mks")
        self.R, self.p = {None: np.eye(3)}, {None: np.zeros(3)}

    def body(self, name, parent, at, R, framed=True, **joint):
        """A body with its origin `at` and axes R."""
        rng, A = self.rng, self.R[parent]
        size = rng.uniform(0.2, 1.0)
        own = rotation(rng)
        inertia = size * (own @ np.diag(rng.uniform(0.02, 0.03, 3)) @ own.T)
        frame = {}
        if framed:
            C = A.T @ R
            frame = {
                "rotation_axis": tuple(C[:, 2].tolist()),
                "reference_axis": tuple(C[:, 0].tolist()),
            }
        made = self.s.add_body(
            name,
            parent=parent,
            joint_at=self.coordinates(f"{name}at", A.T @ (at - self.p[parent])),
            mass=size,
            cm=tuple(rng.uniform(-0.2, 0.2, 3).tolist()),
            inertia=inertia.tolist(),
            **frame,
            **joint,
        )
        self.R[name], self.p[name] = R if framed else A, at
        return made

    def point(self, name, body, at):
        own = self.R[body].T @ (at - self.p[body])
        return self.s.add_point(name, body=body or self.s.inertial, at=self.coordinates(name, own))

    def coordinates(self, name, v):
        if not self.named:
            return tuple(v.tolist())
        names = [f"{name}{i}" for i in (1, 2, 3)]
        self.s.set_defaults(**dict(zip(names, v.tolist(), strict=True)))
        return tuple(names)

    def direction(self, body, v):
        """A vector of the ground as one of a body, in words."""
        return " + ".join(
            f"({x!r})*[{body or 'n'}{i}]" for i, x in enumerate((self.R[body].T @ v).tolist(), 1)
        )

    def close(self, joint, p, r, axes, label):
        """Closes a loop between points of bodies that coincide nominally; `axes` are three
        directions of the ground."""
        x, y, z = axes
        first, second = f"p_{label}", f"r_{label}"
        body, at = p
        self.point(first, body, at)
        away = 0.0 if joint != "distance" else self.rng.uniform(0.3, 0.8) * x
        self.point(second, r, at + away)
        if joint == "directions":
            self.s.add_loop_joint(
                label,
                between=(first, second),
                directions=tuple(self.direction(r, e) for e in (x, y)),
            )
        else:
            axis = None if joint in ("spherical", "distance") else self.direction(body, z)
            self.s.add_loop_joint(label, joint, between=(first, second), axis=axis)


def planar(rng, _):
    """A ring of hinges, and now and then a slide, about parallel axes anywhere in space."""
    d = Drawing("planar", rng)
    E = rotation(rng) if rng.random() < 0.8 else np.eye(3)
    n = int(rng.integers(3, 6))
    corners = np.array(
        [
            np.exp(2j * np.pi * (i + rng.uniform(-0.2, 0.2)) / (n + 1)) * rng.uniform(0.6, 1.2)
            for i in range(n + 1)
        ]
    )
    at = [E @ (z.real, z.imag, 0.0) for z in corners]
    split = int(
        rng.integers(1, n)
    )  # bodies before it hang on the first corner, the rest on the last
    names = [f"b{i}" for i in range(n)]
    slide = int(rng.integers(0, n)) if rng.random() < 0.3 else -1
    guess, speeds = {}, {}
    parent, previous = None, None
    for i in range(split):
        previous = _planar_body(d, names[i], parent, at[i], E, i == slide, guess)
        parent = previous
    other = None
    for i in range(n - 1, split - 1, -1):
        other = _planar_body(d, names[i], other, at[i + 1], E, i == slide, guess)
    joint = str(rng.choice(ABOUT))
    if joint == "distance" and n == 3:
        joint = "revolute"
    d.close(joint, (previous, at[split]), other, E.T, "tie")
    if joint != "distance" and rng.random() < 0.3:  # the same once more, by other rows
        d.close(
            str(rng.choice(("spherical", "cylindrical", "directions"))),
            (previous, at[split]),
            other,
            E.T,
            "again",
        )
    speeds[f"u({names[0]})"] = float(rng.uniform(-0.4, 0.4))
    if n > 3 and slide != 0 and joint != "distance" and rng.random() < 0.3:
        d.s.add_constraint(f"q({names[0]}) - 0.2*sin(0.7*t)", label="drive")
        guess.pop(f"q({names[0]})", None)
        speeds = {}
    if rng.random() < 0.5:
        d.s.add_gravity(direction=d.direction(None, -E[:, 1]), g=0.5)
    return Linkage(d.s, f"planar {n} {joint}", guess, speeds)


def _planar_body(d, name, parent, at, E, slides, guess):
    R = E @ turn(d.rng.uniform(-3, 3))
    if slides:
        along = d.R[parent].T @ E @ turn(d.rng.uniform(-3, 3))[:, 0]
        d.body(name, parent, at, R, framed=False, translate=(tuple(along.tolist()),))
    else:
        d.body(name, parent, at, R, rotate=3)
    guess[f"q({name})"] = float(d.rng.uniform(-0.1, 0.1))
    return name


def coupled(rng, _):
    """A rod on equal cranks: more rows than speeds."""
    d = Drawing("coupled", rng)
    E = rotation(rng)
    n, crank = int(rng.integers(3, 6)), rng.uniform(0.3, 0.6)
    arm = crank * (E @ turn(rng.uniform(0.5, 2.5)))[:, 0]
    feet = np.cumsum([0.0, *rng.uniform(0.5, 1.0, n - 1)])
    for i, x in enumerate(feet):
        d.body(f"a{i}", None, x * E[:, 0], E @ turn(rng.uniform(-3, 3)), rotate=3)
    d.body("rod", "a0", arm, E @ turn(rng.uniform(-3, 3)), rotate=3)
    for i, x in enumerate(feet[1:], 1):
        d.close(
            str(rng.choice(("revolute", "directions", "spherical"))),
            ("rod", x * E[:, 0] + arm),
            f"a{i}",
            E.T,
            f"tie{i}",
        )
    speeds = {"u(a0)": float(rng.uniform(-0.02, 0.02))}
    return Linkage(d.s, f"coupled {n}", {"q(a0)": float(rng.uniform(-0.1, 0.1))}, speeds)


def spatial(rng, where):
    """A chain of hinges, slides, ball joints and free bodies in space, closed by any joint, with at
    least one degree of freedom.

    Its points are parameters, drawn by `where`.
    """
    d = Drawing("spatial", rng, named=True)
    joint = str(rng.choice(list(ROWS)))
    kinds = {"hinge": 1, "slide": 1, "ball": 3, "euler": 3, "free": 6}
    chain, left = [], -ROWS[joint]
    while left < 1:
        usable = [k for k in kinds if left + kinds[k] <= 3]
        chain.append(
            str(rng.choice(usable, p=[kinds[k] / sum(kinds[x] for x in usable) for k in usable]))
        )
        left += kinds[chain[-1]]
    parent, at, guess, speeds = None, np.zeros(3), {}, {}
    split = int(rng.integers(1, len(chain) + 1))
    ends = [None, None]
    for i, kind in enumerate(chain):
        if i == split:
            ends[0], parent = parent, None
        at = where.uniform(-1, 1, 3)
        _spatial_body(d, f"b{i}", parent, at, kind, guess)
        parent = f"b{i}"
    ends[1 if ends[0] is not None else 0] = parent
    d.close(joint, (ends[0], where.uniform(-1, 1, 3)), ends[1], rotation(rng), "tie")
    speeds[next(u for u in _speed_names(chain))] = float(rng.uniform(-0.3, 0.3))
    if left > 1 and chain[0] in ("hinge", "slide") and rng.random() < 0.3:
        d.s.add_constraint("q(b0) - 0.1*sin(0.7*t)", label="drive")
        guess.pop("q(b0)", None)
        speeds = {}
    if rng.random() < 0.3:
        d.s.add_gravity(direction=d.direction(None, rotation(rng)[0]), g=0.3)
    return Linkage(d.s, f"spatial {'-'.join(chain)} {joint}", guess, speeds)


def _speed_names(chain):
    for i, kind in enumerate(chain):
        yield f"u(b{i})" if kind in ("hinge", "slide") else f"u(b{i}, 1)"


def _spatial_body(d, name, parent, at, kind, guess):
    rng, R = d.rng, rotation(d.rng)
    count = 1
    match kind:
        case "hinge":
            d.body(name, parent, at, R, rotate=3)
        case "slide":
            d.body(name, parent, at, R, framed=False, translate=(tuple(R[0].tolist()),))
        case "ball":
            d.body(name, parent, at, R, rotate=(3, 1, 2))
            count = 3
        case "euler":
            d.body(name, parent, at, R, framed=False, rotate="euler-parameters")
            return
        case "free":
            d.body(name, parent, at, R, translate=(1, 2, 3), rotate=(3, 1, 2))
            count = 6
    keys = [f"q({name})"] if count == 1 else [f"q({name}, {i})" for i in range(1, count + 1)]
    guess |= {key: float(rng.uniform(-0.1, 0.1)) for key in keys}


KINDS = {"planar": planar, "coupled": coupled, "spatial": spatial}


def linkage(kind, seed, variant=0):
    """A linkage of a kind; variants of a spatial one differ in the places of its points."""
    return KINDS[kind](np.random.default_rng(seed), np.random.default_rng([seed, variant]))


class Independent:
    """The linkage in plain numbers, by `verify`: no more is shared with the equations than the
    description."""

    def __init__(self, linkage, eom):
        self.machine = ReferenceMechanism.from_description(
            linkage.system.description, ParameterValues(linkage.parameters)
        )
        self.speeds = [x.name for x in eom.speeds]

    def _evaluation(self, t):
        return ReferenceEvaluation(self.machine, self.speeds, lambda *_: [], t)

    def errors(self, t, q, u):
        """Residuals of positions and speeds, and whether all axes point as drawn."""
        e = self._evaluation(t)
        closed = ReferenceConstraints(e.machine, e.mechanics_evaluator, 1.0)
        return *closed.errors(q, u), closed.has_reference_orientation(e.machine.motion(q, u))

    def accelerations(self, t, q, u):
        """M u' = f + J' lambda with J u' = gamma, by the null space of J; and how far the state is
        from a singular one."""
        e = self._evaluation(t)
        closed = ReferenceConstraints(e.machine, e.mechanics_evaluator, 1.0)
        s = closed.jacobian(q)
        still = closed.residuals(e.machine.motion_with_rates(q, jets.Jet([u, np.zeros_like(u)])))
        gamma = -np.array(
            [_rate(x, 2 if holds else 1) for x, holds in zip(still, s.positions, strict=True)]
        )
        partials = PartialVelocityMotions(e, q)
        M, f = partials.mass_matrix(), partials.power_residuals(e.motion(q, u, np.zeros_like(u)))
        J, gamma = s.J / s.sizes[:, None], gamma / s.sizes
        U, sigma, V = np.linalg.svd(J)
        rank = int(np.sum(sigma > 1e-8 * sigma[0]))
        T = V[rank:].T
        c = V[:rank].T @ ((U[:, :rank].T @ gamma) / sigma[:rank])
        a = np.linalg.solve(T.T @ M @ T, T.T @ (f - M @ c))
        return T @ a + c, rank, sigma[rank - 1] / sigma[0]


def _rate(x, order):
    for _ in range(order):
        x = jets.jet_time_derivative(x)
    return float(jets.constant_term(x))
