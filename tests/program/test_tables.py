"""Tables of parameters and of numbers wherever a formula may stand, against the same model with the
value itself."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.symbolic.expr import Symbol, evaluate
from tests.models import needs_compiler, relative
from tests.programs import MAINLY_C, build

LINE = bc.table([0, 1, 2], [0, 1, 4])
CUBIC = bc.table([0, 0.5, 1, 2], [1, 1.4, 1.1, 2], order=3)
PLANE = bc.table([0, 1], [0, 2], [[1, 2], [3, 5]])
K = 1.25


def formulas():
    """Formulas and their numbers."""
    return {
        "line(k)": LINE(K),
        "line(1.5)": LINE(1.5),
        "cubic(k)": CUBIC(K),
        "plane(k, 0.5)": PLANE(K, 0.5),
        "line(cubic(k)/2)": LINE(CUBIC(K) / 2),
        "line(k)*cubic(0.3) + k": LINE(K) * CUBIC(0.3) + K,
        "where(k > 1, line(k), 0.1)": LINE(K),
    }


PLACES = (
    "force",
    "mass",
    "inertia",
    "joint_at",
    "cm",
    "moment",
    "output",
    "definition",
    "constraint",
    "external",
)


def half(a, q):
    return 0.5 * a - q


HALF = {
    "python": half,
    "c": "void half(double a, double q, double *returns)\n{\n    returns[0] = 0.5*a - q;\n}\n",
    "fortran": """
  subroutine half(a, q, returns)
    real(dp), intent(in) :: a, q
    real(dp), intent(out) :: returns(1)
    returns(1) = 0.5_dp*a - q
  end subroutine half
""",
}


def model(texts=None):
    """A double pendulum on a slide with formulas at some places, and a plain number at the
    others."""
    s = bc.System("tables", units="mks")
    for name, table in (("line", LINE), ("cubic", CUBIC), ("plane", PLANE)):
        s.define(name, table)
    at = {p: "1.5" for p in PLACES} | (texts or {})
    cart = s.add_body("cart", translate=1, mass=at["mass"], inertia=0)
    arm = s.add_body(
        "arm",
        parent=cart,
        rotate=2,
        mass=2,
        inertia=(at["inertia"],) * 3,
        cm=(0, 0, f"-({at['cm']})"),
    )
    s.add_body(
        "tip",
        parent=arm,
        rotate=2,
        mass=1,
        inertia=(0.2, 0.2, 0.2),
        joint_at=(0, 0, at["joint_at"]),
        cm=(0, 0, -0.2),
    )
    s.add_body("slave", translate=1, mass=1, inertia=0)
    s.add_constraint(f"u(slave) - ({at['constraint']})*u(cart)", eliminate="u(slave)")
    s.add_external("half", arguments=(at["external"], "q(cart)"), returns="part", **HALF)
    s.define("held", at["definition"])
    s.add_gravity(direction="[n3]", g=-9.81)
    s.add_force(
        "f", magnitude=f"({at['force']}) - held*x + part", direction=s.inertial[1], at=cart.origin
    )
    s.add_moment("m", magnitude=f"({at['moment']})*q(tip)", direction=arm[2], on="tip", against=arm)
    s.add_output("out", f"({at['output']})*q(arm)")
    s.add_output("shown", "k*q(cart)")  # k is used, even where no formula is
    s.set_defaults(k=K)
    s.set_run(t_end=0.1, step=0.01, initial={"q(arm)": 10, "q(tip)": -20})
    return s


def everywhere(values=False):
    """Formulas with tables at all places, or their values."""
    chosen = [list(formulas().items())[i % len(formulas())] for i in range(len(PLACES))]
    return model(
        {
            place: repr(value) if values else text
            for place, (text, value) in zip(PLACES, chosen, strict=True)
        }
    )


def rates(s, backend):
    sim = s.equations().compile(backend=backend)
    q, u = (
        np.linspace(0.2, 0.7, len(x)) for x in (sim.interface.coordinates, sim.interface.speeds)
    )
    return np.concatenate([*sim.derivatives(0.0, q, u), list(sim.outputs(0.0, q, u).values())])


@pytest.mark.parametrize(
    "place", [*PLACES[:3], *(pytest.param(p, marks=pytest.mark.campaign) for p in PLACES[3:])]
)
def test_a_table_of_parameters_is_its_value_wherever_it_stands(place):
    text, value = list(formulas().items())[PLACES.index(place) % len(formulas())]
    assert (
        relative(
            rates(model({place: text}), "python"), rates(model({place: repr(value)}), "python")
        )
        < 1e-13
    )


@needs_compiler
def test_tables_of_parameters_compiled():
    assert relative(rates(everywhere(), "c"), rates(everywhere(values=True), "python")) < 1e-13


@pytest.mark.parametrize("language", MAINLY_C)
def test_tables_of_parameters_in_programs(tmp_path, language):
    run = build(everywhere().equations(), language, tmp_path).run(tmp_path / "run")
    reference = everywhere(values=True).equations().compile(backend="python").simulate()
    assert max(relative(run[name], reference[name]) for name in reference) < 1e-9


@pytest.mark.campaign
def test_tables_of_parameters_pass_the_check():
    assert bc.check(everywhere(), states=3, run=False).passed


@pytest.mark.parametrize("backend", ["python", pytest.param("c", marks=needs_compiler)])
def test_slopes_through_tables_of_parameters(backend):
    """By k: the slope of the table, not zero."""
    s = bc.System("slope", units="mks")
    b = s.add_body("b", translate=1, mass=2, inertia=0)
    s.define("cubic", CUBIC)
    s.add_force("f", magnitude="cubic(k) + cubic(k/2)*x", direction=s.inertial[1], at=b.origin)
    s.set_defaults(k=K)
    sim = s.equations().compile(backend=backend)
    B = sim.linearize(at={"q(b)": 0.5}, wrt=["k"]).B
    slope = (CUBIC(K + 1e-6) - CUBIC(K - 1e-6)) / 2e-6
    half = (CUBIC(K / 2 + 1e-6) - CUBIC(K / 2 - 1e-6)) / 2e-6
    assert B[1, 0] == pytest.approx((slope + 0.5 * half * 0.5) / 2, rel=1e-6)
    found = sim.sensitivity("k", "q(b)", t_end=0.2, step=0.01, check=True)
    assert max(found.checked.values()) < 1e-6


@pytest.mark.parametrize("backend", ["python", pytest.param("c", marks=needs_compiler)])
def test_tables_asked_beyond_their_points_are_told_wherever_they_stand(backend):
    """In constants, inside of each other, in outputs; what user functions give is not looked at."""
    s = bc.System("beyond", units="mks")
    b = s.add_body("b", translate=1, mass=2, inertia=0)
    for name in ("fixed", "inner", "outer", "shown", "within", "unseen"):
        s.define(name, bc.table([0, 1, 2], [0, 1, 4]))
    s.add_external("outside", arguments=("x",), python=lambda x: 7.0)
    s.add_force(
        "f",
        magnitude="fixed(k) + outer(inner(x)) + within(x) + unseen(outside(x))",
        direction=s.inertial[1],
        at=b.origin,
    )
    s.add_output("a", "shown(5*u(b))")
    s.set_defaults(k=3)
    sim = s.equations().compile(backend=backend)
    with pytest.warns(bc.ModelWarning) as told:
        sim.simulate(t_end=0.1, step=0.05, initial={"q(b)": 2.5, "u(b)": 1})
    asked = sorted(
        str(w.message).split("'")[1] for w in told if "was evaluated at" in str(w.message)
    )
    assert asked == ["fixed", "inner", "outer", "shown", "within"]
    sim.simulate(
        t_end=0.01, step=0.005, initial={"q(b)": 0.5}, parameters={"k": 1}
    )  # a warning would be an error


def test_derivatives_are_those_of_the_table_itself():
    """They were looked up by the address of a table, which another one has after it is gone."""
    x = Symbol("x", "coordinate")
    for n in range(200):
        slope = bc.table([0, 1, 3], [0, n, 3 * n], name="spring_damper")(x).function.partial(
            0, (x,)
        )
        assert slope.name == "spring_damper_d1"
        assert evaluate([slope], {x: 2.0}) == [n]


def test_mixed_derivatives_are_one_table_in_either_order():
    x, y = Symbol("x", "coordinate"), Symbol("y", "coordinate")
    axis = [0.0, 1, 2, 3]
    surface = bc.table(
        axis, axis, [[(a * b) ** 2 for b in axis] for a in axis], order=3, name="surface"
    )
    first, last = (surface.partial(i, (x, y)).function.partial(1 - i, (x, y)) for i in (0, 1))
    assert first is last
    assert evaluate([first], {x: 1.5, y: 2.5}) == pytest.approx([4 * 1.5 * 2.5])
    assert first.function.given is surface
