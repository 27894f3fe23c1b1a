"""The public interface of descriptions, past what the examples use."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model.records import BodyRecord


def pendulum(**options):
    s = bc.System("pendulum", units="mks")
    rod = s.add_body("rod", rotate=3, cm=(0, "-l", 0), mass="m", inertia=(0, 0, "i"), **options)
    s.add_gravity(direction="-[n2]")
    s.set_defaults(l=0.5, m=2, i=0.1)
    return s, rod


def acceleration(s, q=0.3, u=0.0, **more):
    return s.equations().compile(backend="python").derivatives(0.0, [q], [u], **more)[1][0]


PLAIN = -2 * 9.80665 * 0.5 * np.sin(0.3) / (0.1 + 2 * 0.25)


def test_a_body_is_recorded_with_the_defaults_of_its_record():
    s = bc.System("one body", units="mks")
    s.add_body("b")
    assert s.description.bodies == [BodyRecord("b")]


def test_names_of_a_description_are_case_sensitive():
    s, _ = pendulum()
    s.add_moment("M1", magnitude="-K*Q(rod)", direction="[rod3]", on="rod")
    s.set_defaults(K=0.0)
    assert "K" in s.equations().parameters
    assert acceleration(s) == pytest.approx(PLAIN)
    s.add_moment("M2", magnitude="-K*q(ROD)", direction="[Rod3]", on="Rod")
    with pytest.raises(bc.ModelError, match=r"no body has the name 'Rod'. Did you mean 'rod'"):
        s.equations()


RESERVED_INSIDE = ("x", "x0", "v", "X", "V", "Q", "U", "Dot", "T", "PI")


@pytest.mark.parametrize("name", RESERVED_INSIDE)
def test_names_of_motions_and_capitals_are_free_for_parameters(name):
    s, _ = pendulum()
    s.add_moment("M1", magnitude=f"-{name}*q(rod)", direction="[rod3]", on="rod")
    s.set_defaults({name: 0.0})
    assert name in s.equations().parameters
    assert acceleration(s) == pytest.approx(PLAIN)


def with_force(magnitude, **options):
    s, rod = pendulum()
    s.add_point("tip", body=rod, at=(0.3, 0, 0))
    s.add_force("pull", magnitude=magnitude, direction="[n1]", at="tip", **options)
    return s


@pytest.mark.parametrize("name", ["x", "x0", "v"])
def test_a_name_of_a_motion_cannot_be_a_parameter_of_the_same_magnitude(name):
    s = with_force(f"-k*{name}")
    s.add_output("twice", f"2*{name}")
    s.set_defaults({"k": 1.0, name: 3.0})
    with pytest.raises(
        bc.ModelError, match=f"force 'pull': '{name}' is the force's own motion .* dummies="
    ):
        s.equations()
    s = with_force(f"-k*{name}*xx - c*vv", dummies=("xx", "xx0", "vv"))
    s.set_defaults({"k": 1.0, "c": 1.0, name: 3.0})
    assert name in s.equations().parameters


def test_a_parameter_object_with_the_name_of_a_motion_is_the_parameter():
    s = with_force("0")
    v = s.add_parameter("v", 2.0)
    s.add_force("other", magnitude=v * s.parameter("k"), direction="[n1]", at="tip")
    s.set_defaults(k=1.0)
    assert {"v", "k"} <= set(s.equations().parameters)


def test_unknown_axes_are_reported_at_once():
    with pytest.raises(
        bc.ModelError, match="axes='NED' is not known; it is 'SAE', 'ISO 8855' or None"
    ):
        bc.System("plane", axes="NED")


def body_of(name):
    s = bc.System(name, units="mks")
    return s, s.add_body("b", translate=(1, 2, 3), mass=1, inertia=0)


ELSEWHERE = {
    "at": lambda s, b, o: s.add_force("f", magnitude="-k*x", direction=s.inertial[1], at=o.origin),
    "against": lambda s, b, o: s.add_force(
        "f", magnitude="-k*x", direction=s.inertial[1], at=b.origin, against=o.cm
    ),
    "direction": lambda s, b, o: s.add_force("f", magnitude="-k*x", direction=o[1], at=b.origin),
    "strut": lambda s, b, o: s.add_strut(
        "f", magnitude="-k*x", between=(o.origin, s.inertial.origin)
    ),
    "moment": lambda s, b, o: s.add_moment("f", magnitude="k", direction=s.inertial[1], on=o),
    "output": lambda s, b, o: s.add_output("y", bc.dot(o[1], s.inertial[1])),
    "velocity": lambda s, b, o: s.add_output("y", bc.dot(bc.vel(o.origin), s.inertial[1])),
    "loop": lambda s, b, o: s.add_loop_joint(
        "loop", "spherical", between=(o.origin, s.inertial.origin)
    ),
    "axis": lambda s, b, o: s.add_loop_joint(
        "loop_2", "revolute", between=(b.origin, s.inertial.origin), axis=o[3]
    ),
    "parent": lambda s, b, o: s.add_body("c", o, translate=1),
    "point": lambda s, b, o: s.add_point("p", body=o),
    "constraint": lambda s, b, o: s.add_constraint(bc.dot(bc.vel(o.origin), s.inertial[1])),
}


@pytest.mark.parametrize("what", ELSEWHERE)
def test_what_belongs_to_another_system_is_refused(what):
    (s, b), (_, other) = body_of("one"), body_of("two")
    s.set_defaults(k=1.0)
    ELSEWHERE[what](s, b, other)
    with pytest.raises(bc.ModelError, match="belongs to the system 'two', not to 'one'"):
        s.equations()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("push", "'push' is an input, which is a channel already"),
        ("", "the name is empty"),
        ("  ", "the name is empty"),
        ("a  b", "'a b' exists already"),
        ("ab", r"'a b' exists already \(blanks do not count\)"),
        ("t", "'t' exists"),
        ("Q( rod )", r"'q\(rod\)' exists already"),
    ],
)
def test_names_of_channels_are_told_apart(name, told):
    s, _ = pendulum()
    s.add_input("push")
    s.add_output("a b", "push*q(rod)")
    s.add_output(name, "u(rod)")
    with pytest.raises(bc.ModelError, match=told):
        s.equations()


def test_an_input_does_not_hide_an_output_of_a_group():
    s, _ = pendulum()
    s.add_input("energy")
    s.add_outputs("energy")
    with pytest.raises(bc.ModelError, match="the input 'energy' has the name of one of them"):
        s.equations()


def test_definitions_tables_and_python_formulas():
    s, rod = pendulum()
    spring = bc.table([-1.0, 0.0, 1.0], [3.0, 0.0, -1.0])
    s.define("spring", spring)
    s.define("lean", "angle([n2], [rod2], [n3])")
    s.add_moment("spring", magnitude="spring(lean)", direction=rod[3], on=rod)
    extra = -0.3 / (0.1 + 2 * 0.25)
    assert acceleration(s) == pytest.approx(PLAIN + extra)
    python, rod = pendulum()
    python.add_moment("spring", magnitude=spring(rod.q[1]), direction=rod[3], on=rod)
    assert acceleration(python) == pytest.approx(PLAIN + extra)


def test_cubic_table_has_smooth_slopes():
    curve = bc.table(np.linspace(0, 3, 7), np.linspace(0, 3, 7) ** 2, 3)
    assert curve(1.3) == pytest.approx(1.69)
    x = bc.System("t").parameter("x")
    from bellcrank.symbolic.expr import evaluate, partial

    assert evaluate([partial(curve(x), x)], {"x": 1.3})[0] == pytest.approx(2.6)


def test_force_reaction_goes_through_the_same_point():
    """A force between two free bodies changes neither momentum nor angular momentum."""
    s = bc.System("pair", units="mks")
    a = s.add_body("a", translate=(1, 2, 3), rotate=(1, 2, 3), mass=2, inertia=(1, 2, 2.5))
    b = s.add_body(
        "b",
        translate=(1, 2, 3),
        rotate="euler-parameters",
        mass=3,
        inertia=(2, 2, 3),
        cm=(0.1, 0, 0.2),
    )
    p = s.add_point("p", body=a, at=(0.3, 0.1, -0.2))
    s.add_force("pull", magnitude="5*x - v", direction=b[2], at=p, against=b.origin)
    s.add_strut("strut", magnitude="-7*(x - 1)", between=(p, b.cm))
    s.add_outputs("momentum")
    sim = s.equations().compile(backend="python")
    initial = {"q(b, 1)": 1.0, "u(a, 5)": 0.5, "u(b, 2)": 0.3, "u(b, 4)": 1.0}
    run = sim.simulate(t_end=1, step=0.01, initial=initial)
    for i in (1, 2, 3):
        assert np.ptp(run[f"p{i}"]) < 1e-8
        assert np.ptp(run[f"h{i}"]) < 1e-6
    e = np.array([run[f"q(b, {i})"] for i in (4, 5, 6, 7)])
    assert np.linalg.norm(e, axis=0) == pytest.approx(1.0, abs=1e-7)


def test_external_returns_become_variables():
    s, rod = pendulum()
    s.add_external(
        "drive",
        arguments=("t", "q(rod)"),
        returns=("torque", "unused"),
        python=lambda t, q: (2 * q, 0.0),
    )
    s.add_moment("motor", magnitude="torque", direction=rod[3], on=rod)
    assert acceleration(s) == pytest.approx(PLAIN + 0.6 / 0.6)
    stubbed = s.equations().compile(backend="python", external={"drive": lambda t, q: (0.0, 0.0)})
    assert stubbed.derivatives(0.0, [0.3], [0.0])[1][0] == pytest.approx(PLAIN)


def test_rates_of_inputs_are_inputs():
    s, rod = pendulum()
    s.add_input("z", units="A")
    s.add_moment("damper", magnitude="-c*(u(rod) - dxdt(z))", direction=rod[3], on=rod)
    s.set_defaults(c=0.6)
    sim = s.equations().compile(backend="python")
    udot = sim.derivatives(0.0, [0.0], [0.0], inputs={"z": bc.signals.ramp(slope=2.0)})[1]
    assert udot[0] == pytest.approx(2.0)
    with pytest.raises(bc.ModelError, match="differentiable"):
        sim.derivatives(0.0, [0.0], [0.0], inputs={"z": bc.signals.step()})


def test_coordinates_of_another_body():
    s = bc.System("two", units="mks")
    a = s.add_body("a", rotate=3, joint_at=(1, 0, 0), mass=1, inertia=(1, 1, 1))
    s.add_body(
        "b",
        parent=a,
        rotate=3,
        joint_at=(2, 1, 0),
        cm=(2, 3, 0),
        coordinates_of="n",
        mass=1,
        inertia=(1, 1, 1),
    )
    s.add_output("y", "dot(pos(b.cm), [n2])")
    s.add_output("x", "dot(pos(b.origin), [n1])")
    out = s.equations().compile(backend="python").outputs(0.0, [0, 0], [0, 0])
    assert (out["x"], out["y"]) == pytest.approx((2, 3))


def test_summary_tells_the_essentials():
    s, _ = pendulum()
    text = s.equations().summary()
    assert "1 body," in text and "operations" in text and "derived by" in text


def test_latex_and_sources_can_be_written(tmp_path):
    s, _ = pendulum()
    eom = s.equations()
    assert r"\frac{d}{dt}" in eom.latex()
    path = eom.export("python", tmp_path)
    assert "def derivatives" in path.read_text()


def test_constraint_by_name_and_redundant_note():
    s = bc.System("skate", units="mks")
    b = s.add_body("b", translate=(1, 2), rotate=3, mass=1, inertia=(0, 0, "i"), cm=("a", 0, 0))
    s.add_constraint("dot(vel(b.origin), [b2])", eliminate="u(b, 3)")
    s.add_constraint("2*dot(vel(b.origin), [b2])")
    s.set_defaults(i=0.2, a=0.4)
    eom = s.equations()
    assert [c.speed.name for c in eom.constraints] == ["u(b, 3)"]
    assert len(eom.notes) == 1 and "ignored" in eom.notes[0]
    sim = eom.compile(backend="python")
    qdot, udot = sim.derivatives(0.0, [0, 0, 0.3], [1.0, 0.2])
    # Chaplygin sleigh: v1' = a w^2, w' = -a w v1 / (a^2 + i/m), with v2 = a w
    w = 0.2 / 0.4
    assert qdot[2] == pytest.approx(w)
    assert udot == pytest.approx([0.4 * w**2, -0.4 * 0.4 * w * 1.0 / (0.16 + 0.2)])
    assert b.u[3] is not None


def test_nominal_length_with_euler_parameters():
    """x0 of a spring on a body turned by Euler parameters is its length in the upright position."""
    s = bc.System("spring", units="mks")
    b = s.add_body("b", rotate="euler-parameters", mass=1, inertia=(1, 1, 1))
    tip = s.add_point("tip", body=b, at=(0, 0, 2))
    s.add_strut("spring", magnitude="x0", between=(tip, s.add_point("base", at=(0, 0, 5))))
    s.add_outputs("forces")
    out = s.equations().compile(backend="python").outputs(0.0, [0.6, 0.8, 0, 0], [0, 0, 0])
    assert out["spring"] == pytest.approx(3.0)


def test_table_of_two_arguments_holds_its_end_value():
    surface = bc.table([0.0, 1.0, 2.0], [0.0, 1.0], [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]])
    assert surface(0.5, 0.5) == pytest.approx(1.0)
    assert surface(9.0, 0.5) == pytest.approx(2.5)
    slope = surface.partial(0, ()).function
    assert slope(0.5, 0.5) == pytest.approx(1.0) and slope(9.0, 0.5) == 0.0


def test_output_may_not_take_the_name_of_a_channel():
    s, _ = pendulum()
    s.add_output("Q(rod)", "u(rod)")
    with pytest.raises(bc.ModelError, match=r"'q\(rod\)' exists already"):
        s.equations()


def test_gravity_is_given_once():
    s, _ = pendulum()
    s.add_gravity()
    with pytest.raises(bc.ModelError, match="twice"):
        s.equations()


def test_axis_number_out_of_range_is_a_sentence():
    s, rod = pendulum()
    s.add_body("b", parent=rod, rotate=4, mass=1, inertia=(1, 1, 1))
    with pytest.raises(bc.ModelError, match="4 is not an axis"):
        s.equations()


def test_parameters_without_inertia_are_refused_before_a_run():
    sim = pendulum()[0].equations().compile(backend="python")
    with pytest.raises(bc.ModelError, match="cannot be computed with these parameters"):
        sim.simulate(t_end=1.0, step=0.1, parameters={"m": 0.0, "i": 0.0})


def test_printed_statements_keep_signs_and_numbers():
    s = bc.System("car", units="mks")
    s.add_body("car", translate=(1, 2), rotate=3, mass=2, inertia=(1, 1, 1))
    rates = [str(r) for r in s.equations().program.derivatives.results]
    assert any(" - " in r for r in rates[:2]) and any(" + " in r for r in rates[:2])


def test_point_mass_falls_freely():
    s = bc.System("stone", units="mks", axes="ISO 8855")
    s.add_point_mass("stone", mass="m")
    s.add_gravity()
    s.set_defaults(m=3)
    sim = s.equations().compile(backend="python")
    assert sim.derivatives(0.0, [0, 0, 0], [0, 0, 0])[1] == pytest.approx([0, 0, -9.80665])


def test_results_as_tables_and_in_words():
    sim = pendulum()[0].equations().compile(backend="python")
    run = sim.simulate(t_end=0.1, step=0.01, initial={"q(rod)": 0.3})
    frame, dataset = run.to_pandas(), run.to_xarray()
    assert frame["q(rod)"].iloc[-1] == run["q(rod)"][-1] and frame.attrs["units"]["q(rod)"] == "rad"
    assert dataset["q(rod)"].attrs["units"] == "rad" and len(dataset["t"]) == len(run)
    words = sim.describe()
    assert "q(rod)" in words and "kg" in words


# ---- what text can say, Python can


def test_comparisons_and_limits_in_python_are_those_of_text():
    def outputs(make):
        s = bc.System("limits", units="mks")
        b = s.add_body("b", translate=1, mass=1)
        k, x = s.parameter("k"), b.q[1]
        make(s, b, k, x)
        s.set_defaults(k=0.4)
        sim = s.equations().compile(backend="python")
        return [
            sim.outputs(0.0, [q], [-1.5])[name] for q in (-1.0, 0.4, 2.0) for name in "abcdefgh"
        ]

    def python(s, b, k, x):
        speed = bc.dot(bc.vel(b.origin), s.inertial[1])
        s.add_output("a", bc.min(x, k))
        s.add_output("b", bc.max(x, k, 1))
        s.add_output("c", bc.abs(x) + abs(x))
        s.add_output("d", bc.where(x < k, 1, 2))
        s.add_output("e", bc.where(x >= k, 1, 2))
        s.add_output("f", bc.where(k <= x, 1, 2))
        s.add_output("g", bc.where(x < 1, 1, 2))
        s.add_output("h", bc.where(speed < 0, abs(speed), bc.max(speed, 0)))

    def text(s, b, k, x):
        for name, formula in zip(
            "abcdefgh",
            (
                "min(q(b), k)",
                "max(q(b), k, 1)",
                "2*abs(q(b))",
                "where(q(b) < k, 1, 2)",
                "where(q(b) >= k, 1, 2)",
                "where(k <= q(b), 1, 2)",
                "where(1 > q(b), 1, 2)",
                "where(dot(vel(b0), [n1]) < 0, abs(u(b)), max(u(b), 0))",
            ),
            strict=True,
        ):
            s.add_output(name, formula)

    assert outputs(python) == outputs(text)
    assert outputs(python)[:8] == [-1.0, 1.0, 2.0, 1.0, 2.0, 2.0, 1.0, 1.5]


def test_comparison_has_no_truth_before_a_run():
    s = bc.System("limits", units="mks")
    b = s.add_body("b", translate=1, mass=1)
    with pytest.raises(
        bc.ModelError, match=r"\(q\(b\) < k\) is true or false only during a run: use bc.where"
    ):
        min(s.parameter("k"), b.q[1])
    with pytest.raises(bc.ModelError, match="true or false only during a run"):
        bool(bc.dot(bc.vel(b.origin), s.inertial[1]) > 1)
