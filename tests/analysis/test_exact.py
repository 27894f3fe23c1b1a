"""Derivatives of programs and matrices of linear models against complex steps and high-order
differences."""

import numpy as np
import pytest

import bellcrank as bc
from examples import madymo_five_link
from tests.analysis.complex_step import jacobian
from tests.models import example, random_state, rarely, relative, system

LONG = [
    pytest.param(n, marks=pytest.mark.campaign) for n in ("stanford_arm_controlled", "spacecraft_2")
]
TREES = [
    "double_pendulum",
    "stanford_arm",
    "cart",
    "rolling_disc",
    "passenger_car",
    "quarter_car",
    *LONG,
]


def numbers(eom):
    sim = eom.compile(backend="python")
    return sim, sim.parameter_values()


@pytest.mark.parametrize("name", TREES)
def test_matrices_agree_with_complex_steps(name):
    eom = example(name)
    sim, p = numbers(eom)
    q, u = random_state(eom, 3)
    w = [0.01] * len(eom.program.inputs)
    model = sim.linearize(at=(q, u), inputs=dict.fromkeys(eom.inputs, 0.01)).in_equation_units()
    expected = jacobian(eom.program, p, q, u, w, "quw")
    n = len(q) + len(u)
    assert relative(model.A, expected[:n, :n]) < 1e-10
    if w:
        assert relative(model.B, expected[:n, n:]) < 1e-10
    if eom.outputs:
        assert relative(model.C, expected[n:, :n]) < 1e-10


def test_derivatives_by_parameters_agree_with_complex_steps():
    eom = example("passenger_car")
    sim, p = numbers(eom)
    q, u = random_state(eom, 5)
    from bellcrank.analysis.derivative_evaluator import make_evaluator
    from bellcrank.analysis.operating_point import operating_point

    find = make_evaluator(sim.analysis_context, ("rates", "outputs"), eom.program.parameters)
    _, derivatives = find(operating_point(sim.analysis_context, (q, u)).point)
    found = np.vstack([derivatives["rates"], derivatives["outputs"]])
    expected = jacobian(eom.program, p, q, u, by="p")
    for row, other in zip(found, expected, strict=True):
        assert relative(row, other) < 1e-10


def central(f, x, h=2e-3):
    """Differences of eighth order."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return sum(w * (f(x + k * h) - f(x - k * h)) for k, w in enumerate(weights, 1)) / h


@pytest.mark.parametrize(("name", "free"), [("four_bar", "a"), ("slider_crank", "crank")])
def test_loops_agree_with_differences_along_the_closed_mechanism(name, free):
    """The state is assembled anew for every value of the independent coordinate and speed."""
    eom = example(name)
    sim = eom.compile(backend="python")
    start = {f"q({free})": -0.3 if name == "four_bar" else 0.5, f"u({free})": 1.2}
    model = sim.linearize(at=start)
    assert model.state_names == [f"q({free})", f"u({free})"]
    index = [u.name for u in eom.speeds].index(f"u({free})")

    def rates(values):
        q, u = sim.assemble(dict(zip(start, values, strict=True)))
        qd, ud = sim.derivatives(0.0, q, u)
        out = sim.outputs(0.0, q, u)
        return np.array([qd[index], ud[index], *out.values()])

    base = np.array(list(start.values()))
    found = np.array([central(lambda x, e=e: rates(base + x * e), 0.0) for e in np.eye(2)]).T
    assert relative(model.A, found[:2]) < 1e-8
    assert relative(model.C, found[2:]) < 1e-8


@pytest.mark.parametrize(
    "name",
    rarely(
        ["four_bar", "slider_crank", "sarrus_linkage", "andrews_squeezer"], ["andrews_squeezer"]
    ),
)
def test_loops_have_the_same_derivatives_by_elimination_and_on_the_null_space(name):
    """Speeds eliminated in symbols, and M, f, J, gamma of the tree solved in numbers: massless
    links and redundant rows too."""
    from bellcrank.analysis.derivative_evaluator import DerivativeEvaluator
    from bellcrank.analysis.loop_evaluator import LoopEvaluator
    from bellcrank.analysis.operating_point import operating_point

    eom = example(name)
    sim = eom.compile(backend="python")
    columns = [*eom.coordinates, *eom.speeds, *eom.program.parameters[:2]]
    groups = ("rates", "outputs", "positions", "speeds")
    at = operating_point(sim.analysis_context).point
    printed, whole = (
        find(sim.analysis_context, groups, columns)(at)
        for find in (DerivativeEvaluator, LoopEvaluator)
    )
    for group in groups:
        assert relative(whole[0][group], printed[0][group]) < 1e-12
        assert relative(whole[1][group], printed[1][group]) < 1e-12


def test_a_dead_centre_is_linearised_although_its_crank_was_eliminated():
    """Scotch yoke, the crank's speed eliminated: at the dead centre the slide does not determine
    it, but the mechanism is regular."""
    import bellcrank as bc

    s = bc.System("Scotch yoke", units="mks")
    crank = s.add_body("crank", rotate=3, mass=1, inertia=(0.2, 0.2, 0.2))
    s.add_body("slide", translate=1, mass=3)
    s.add_constraint("q(slide) - r*cos(q(crank)) + r", eliminate="u(crank)")
    s.add_moment("spring", magnitude="-k*q(crank) - c*u(crank)", direction=crank[3], on=crank)
    s.set_defaults(r=0.1, k=5, c=0.3)
    eom = s.equations()
    sim = eom.compile(backend="python")
    model = sim.linearize(at=([0.0, 0.0], [0.0, 0.0]), outputs=["q(crank)"])
    assert model.state_names == ["q(crank)", "u(crank)"]
    assert pytest.approx(np.array([[0, 1], [-5 / 0.2, -0.3 / 0.2]]), rel=1e-12) == model.A


def test_dependent_states_follow_as_the_closed_mechanism_does():
    sim = example("four_bar").compile(backend="python")
    model = sim.linearize(at={"q(a)": -0.3})

    def closed(x):
        return sim.assemble({"q(a)": x})[0]

    derivatives = central(closed, -0.3)
    assert [model.dependent["q(b)"]["q(a)"], model.dependent["q(c)"]["q(a)"]] == pytest.approx(
        derivatives[1:], rel=1e-9
    )


def test_euler_parameters_are_reduced_to_independent_ones():
    """A spinning body whose attitude is three numbers: six states for a rotating body, not
    seven."""
    import bellcrank as bc

    s = bc.System("top", units="mks")
    s.add_body("b", rotate="euler-parameters", cm=(0, 0, 0.3), mass=2, inertia=(0.2, 0.3, 0.1))
    s.add_gravity(direction=-s.inertial[3])
    sim = s.equations().compile(backend="python")
    at = {"q(b, 1)": 0.8, "q(b, 2)": 0.36, "q(b, 3)": 0.0, "q(b, 4)": 0.48, "u(b, 3)": 4.0}
    model = sim.linearize(at=at)
    assert len(model.states) == 6 and "q(b, 1)" in model.dependent
    q, u = (np.array(x) for x in sim.assemble(at))
    kept = [s.name for s in sim.interface.coordinates].index("q(b, 2)")

    def rate(x):
        moved = q.copy()
        moved[kept] += x
        moved[0] = np.sqrt(1 - np.sum(moved[1:] ** 2))
        qd, ud = sim.derivatives(0.0, moved, u)
        return np.array([*qd[1:], *ud])

    assert model.A[:, model.state_names.index("q(b, 2)")] == pytest.approx(
        central(rate, 0.0), rel=1e-8, abs=1e-9
    )


def test_small_variables_are_differentiated_as_the_program_has_them():
    eom = example("passenger_car_small")
    sim, p = numbers(eom)
    q, u = random_state(eom, 2)
    model = sim.linearize(at=(q, u)).in_equation_units()
    expected = jacobian(eom.program, p, q, u)
    assert relative(model.A, expected[: len(model.A)]) < 1e-11


def test_large_models_take_one_direction_at_a_time(monkeypatch):
    """The matrix is the same, column by column, as where it is written out."""
    from bellcrank.analysis import jacobian as jacobians

    eom = system("n_link_chain", n=4).equations()
    q, u = random_state(eom, 1)
    whole = eom.compile(backend="python").linearize(at=(q, u))
    monkeypatch.setattr(jacobians, "MAX_MATRIX_OPERATIONS", 0)
    columns = jacobians.column_symbols(eom.interface, None)
    directed = jacobians.derive_jacobian(eom.program, eom.derived.results, ["rates"], columns)
    assert [s.name for s in directed.rates] == [
        f"along {s.name}" for s in (*eom.coordinates, *eom.speeds)
    ]
    assert relative(eom.compile(backend="python").linearize(at=(q, u)).A, whole.A) < 1e-12


@pytest.mark.campaign
def test_along_a_direction_linkages_and_routines_are_differentiated_in_c(monkeypatch):
    """One that moves, so that third derivatives count; a routine is given in C and, all wrong, in
    Python."""
    from bellcrank.analysis import jacobian as jacobians

    monkeypatch.setattr(jacobians, "MAX_MATRIX_OPERATIONS", 0)
    s = madymo_five_link.model(exact=True)
    text = "double damper(double v)\n{\n    return 30.0*v + 4.0*v*v*v;\n}"
    s.add_external("damper", arguments=("v",), c=text, python=lambda v: -v)
    s.add_force(
        "damping", magnitude="-damper(u(wheel))", direction=s.inertial[3], at="wheel.origin"
    )
    sim = s.equations().compile(backend="c")
    model = sim.linearize(at=([0.05], [1.2]))

    def rates(x):
        return np.concatenate(sim.derivatives(0.0, [0.05 + x[0]], [1.2 + x[1]]))

    expected = np.array([central(lambda h, e=e: rates(h * e), 0.0) for e in np.eye(2)]).T
    assert relative(model.in_equation_units().A, expected) < 1e-8
    assert abs(expected[1, 0]) > 1 and expected[1, 1] < -1
    assert model.notes[0].endswith("taken by differences")


@pytest.mark.campaign
def test_long_chains_are_differentiated_through_articulated_bodies():
    eom = system("n_link_chain", n=17).equations(optimise="none")
    sim = eom.compile(backend="python")
    rng = np.random.default_rng(1)
    q, u, direction = rng.uniform(-0.5, 0.5, 17), rng.uniform(-0.5, 0.5, 17), rng.uniform(-1, 1, 34)

    def rates(x):
        return np.concatenate(sim.derivatives(0.0, q + x * direction[:17], u + x * direction[17:]))

    assert relative(sim.linearize(at=(q, u)).A @ direction, central(rates, 0.0, 1e-3)) < 1e-8


def test_gradient_in_reverse_is_the_weighted_jacobian():
    eom = example("double_pendulum")
    gradient = eom.gradient(of=["rates"])
    _, p = numbers(eom)
    q, u = random_state(eom, 1)
    weights = [0.3, -1.0, 2.0, 0.7]
    from bellcrank.simulation.backend.python_model import PythonModel

    model = PythonModel(gradient.program, []).new_calls()
    place = dict(zip(eom.program.parameters, p, strict=True))
    own = [place[s] for s in gradient.program.parameters]
    w = [weights[gradient.rates.index(s)] for s in gradient.program.inputs]
    found = model.outputs(0.0, q.tolist(), u.tolist(), own, model.constants(own), w)
    J = jacobian(eom.program, p, q, u)[:4]
    assert found == pytest.approx(np.array(weights) @ J, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("name", ["kane_double_pendulum", "kane_rolling_disc"])
def test_equations_derived_by_hand_are_differentiated_too(name):
    """Taken from the program itself; solved in symbols or in numbers, the derivatives are the
    same."""
    eom = example(name)
    sim, p = numbers(eom)
    q, u = random_state(eom, 3)
    inputs = dict.fromkeys(eom.inputs, 0.1)
    found = sim.linearize(at=(q, u), inputs=inputs).A
    expected = jacobian(eom.program, p, q, u, [0.1] * len(eom.inputs))[: len(found)]
    assert relative(found, expected) < 1e-12
    implicit = system(name).equations(solve="implicit").compile(backend="python")
    assert relative(implicit.linearize(at=(q, u), inputs=inputs).A, expected) < 1e-12


def test_an_input_that_drives_a_constraint_acts_with_its_rates():
    """A shaken base, q(base) = z: the mass on it answers by -m s^2/(m s^2 + c s + k), relative to
    the base."""
    import bellcrank as bc

    s = bc.System("shaker", units="mks")
    base = s.add_body("base", translate=1, mass=1)
    mass = s.add_body("mass", parent=base, translate=1, mass=2)
    s.add_input("z", units="L")
    s.add_constraint("q(base) - z")
    s.add_force(
        "mount",
        magnitude="-80*x - 3*v",
        direction=s.inertial[1],
        at=mass.origin,
        against=base.origin,
    )
    s.add_output("place", "dot(pos(mass.cm), [n1])")
    s.set_run(inputs={"z": 0.0})
    model = s.equations().compile(backend="python").linearize(at={}, wrt=["z"])
    assert model.input_names == ["z", "dxdt(z)", "dxdt(dxdt(z))"]
    f = np.array([0.3, 1.0, 4.0])
    p = 2j * np.pi * f
    expected = 1 - 2 * p**2 / (2 * p**2 + 3 * p + 80)
    assert model.frequency_response("z", "place", f).values == pytest.approx(expected, rel=1e-12)


def test_at_a_corner_derivatives_are_the_mean_of_both_sides():
    """A damper with two coefficients and play; steep friction next to it is smooth, and exact."""
    s = bc.System("corner", units="mks")
    for name in ("a", "b"):
        body = s.add_body(name, translate=3, mass=2)
        law = "where(v > 0, 30, 10)*v + 800*max(0, x)" if name == "a" else "5*tanh(v/0.005)"
        s.add_force(
            f"f_{name}", magnitude=f"-50*x - ({law})", direction=s.inertial[3], at=body.origin
        )
    model = s.equations().compile(backend="python").linearize(outputs=["q(a)"])
    assert model.state_names == ["q(a)", "q(b)", "u(a)", "u(b)"]
    expected = [[-(50 + 400) / 2, 0, -(30 + 10) / 2 / 2, 0], [0, -50 / 2, 0, -1000 / 2]]
    assert model.A[2:] == pytest.approx(np.array(expected), rel=1e-12)
    assert (
        "the model has a kink here: derivatives with respect to q(a), u(a) are the means of "
        "both sides" in model.notes
    )
