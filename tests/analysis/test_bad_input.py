"""What cannot be analysed says why, where, and what is allowed."""

import math

import pytest

import bellcrank as bc
from tests.models import example, pendulum


def falling():
    """A mass that hangs on nothing next to one on a spring."""
    s = bc.System("two masses", units="mks")
    n = s.inertial
    s.add_body("free", translate=3, mass=1)
    held = s.add_body("held", translate=3, mass=2)
    s.add_gravity(direction=-n[3])
    s.add_force("spring", magnitude="-k*x", direction=n[3], at=held.origin)
    s.set_defaults(k=100)
    return s.equations().compile(backend="python")


def test_no_equilibrium_names_what_runs_away():
    with pytest.raises(bc.NoEquilibrium, match="diverging variables") as error:
        falling().equilibrium()
    assert error.value.runaway == ["u(free)"]
    assert error.value.residuals["u(free)'"] == pytest.approx(-9.80665)
    assert abs(error.value.residuals["u(held)'"]) < 1e-6
    assert "u(free)' = -9.807" in str(error.value)


def test_a_torque_that_nothing_balances():
    """m g l = 19.6 N m at most: a moment of 30 N m has no equilibrium, the nearest point is the
    horizontal rod."""
    s = pendulum(magnitude="drive", drive=30.0)
    s.add_gravity(direction=-s.inertial[2])
    sim = s.equations().compile(backend="python")
    with pytest.raises(bc.NoEquilibrium) as error:
        sim.equilibrium()
    assert error.value.residuals["u(rod)'"] == pytest.approx((30 - 2 * 9.80665) / 2.1, rel=1e-6)
    balanced = sim.equilibrium(parameters={"drive": 10.0})
    assert math.sin(balanced["q(rod)"]) == pytest.approx(10 / (2 * 9.80665), rel=1e-12)


def test_indifferent_freedoms_are_named():
    found = example("rolling_disc").compile(backend="python").equilibrium()
    assert {"q(yaw, 1)", "q(yaw, 3)", "q(disc)", "u(yaw, 1)"} <= set(found.neutral)
    assert found.steady["q(yaw, 1)"] == pytest.approx(2.0, rel=1e-4)
    crank = example("slider_crank").compile(backend="python").equilibrium()
    assert crank.neutral == ("q(crank)", "q(rod)", "q(piston)")


def test_linearisation_away_from_equilibrium_is_allowed_and_said():
    sim = pendulum().equations().compile(backend="python")
    model = sim.linearize(at={"q(rod)": 0.3})
    assert not model.equilibrium and "no equilibrium (u(rod)' = -0.4286 rad/s/s)" in model.notes[0]
    assert model.drift == pytest.approx([0.0, -3.0 * 0.3 / 2.1])
    assert model.A[1] == pytest.approx([-3 / 2.1, -0.5 / 2.1])
    assert sim.linearize(at="equilibrium").equilibrium


def test_unknown_names_list_what_there_is():
    sim = example("quarter_car").compile(backend="python")
    with pytest.raises(
        bc.ModelError, match=r"input 'z_raod' is not known. Did you mean 'z_road'\?.*inputs: z_road"
    ):
        sim.linearize(wrt=["z_raod"])
    with pytest.raises(
        bc.ModelError,
        match=r"output 'travle' is not known. Did you mean 'travel'\?.*outputs: az, travel, fz",
    ):
        sim.frequency_response("z_road", "travle", [1.0])
    with pytest.raises(
        bc.ModelError, match=r"fixed 'q\(boddy\)' is not known. Did you mean 'q\(body\)'"
    ):
        sim.equilibrium(fixed={"q(boddy)": 0})
    with pytest.raises(bc.ModelError, match="cannot be both free and fixed"):
        sim.equilibrium(free=["f0"], fixed={"f0": 3000})
    with pytest.raises(bc.ModelError, match="at='somewhere' is not known"):
        sim.linearize(at="somewhere")
    with pytest.raises(bc.ModelError, match="f must be frequencies in Hz"):
        sim.frequency_response("z_road", "az", [-1.0])
    with pytest.raises(bc.ModelError, match="over 'kk' is not known"):
        sim.root_locus("kk", [1.0])
    with pytest.raises(bc.ModelError, match="by='guess' is not known"):
        sim.power_spectrum("az", {"z_road": 1.0}, [1.0, 2.0], by="guess")
    with pytest.raises(bc.ModelError, match="of='speed' is not known"):
        bc.Equations(sim.derived).jacobian(of="speed")
    with pytest.raises(
        bc.ModelError, match=r"wrt='z_roda': no state, input or parameter.*'z_road'"
    ):
        bc.Equations(sim.derived).jacobian(wrt="z_roda")


def test_more_equations_than_unknowns_are_counted():
    sim = example("quarter_car").compile(backend="python")
    with pytest.raises(
        bc.NoEquilibrium, match="equations, 2 unknowns: name more in free=, or fewer in fixed="
    ):
        sim.equilibrium(fixed={"q(body)": 0.0, "q(wheel)": 0.01})


def test_singular_configuration_is_named():
    """A crank and rod of equal length, folded: the piston's pin restricts nothing new there."""
    s = bc.System("folded crank", units="mks")
    a = s.add_body("crank", rotate=3, cm=(0.05, 0, 0), mass=1, inertia=(0.01, 0.01, 0.01))
    b = s.add_body(
        "rod",
        parent=a,
        rotate=3,
        joint_at=(0.1, 0, 0),
        cm=(0.05, 0, 0),
        mass=1,
        inertia=(0.01, 0.01, 0.01),
    )
    piston = s.add_body("piston", translate=1, joint_at=(0.2, 0, 0), mass=1, inertia=0)
    end = s.add_point("end", body=b, at=(0.1, 0, 0))
    s.add_loop_joint("pin", between=(end, piston.origin), directions=(s.inertial[1], s.inertial[2]))
    sim = s.equations().compile(backend="python")
    half = math.pi / 2
    regular = sim.linearize(
        at={"q(crank)": 0.4, "q(rod)": -0.8, "q(piston)": 0.2 * math.cos(0.4) - 0.2}
    )
    assert len(regular.states) == 2
    with pytest.raises(bc.RunError, match="singular configuration"):
        sim.linearize(at={"q(crank)": half, "q(rod)": math.pi, "q(piston)": -0.2})


def test_a_state_off_the_constraints_is_refused():
    sim = example("four_bar").compile(backend="python")
    with pytest.raises(bc.RunError, match="does not satisfy the constraints"):
        sim.linearize(at=([0.3, 0.0, 0.0], [0.0, 0.0, 0.0]))


def test_external_routines_are_differentiated_or_held():
    def prepare(s):
        s.add_external("law", arguments=("x",), python=lambda x: -3.0 * x - x**3)

    sim = pendulum("law(q(rod))", prepare).equations().compile(backend="python")
    model = sim.linearize(at={"q(rod)": 0.3})
    assert model.A[1, 0] == pytest.approx((-3.0 - 3 * 0.09) / 2.1, rel=1e-9)
    assert any("'law' are taken by differences" in n for n in model.notes)

    def remembering(s):
        s.add_external(
            "relay", arguments=("x",), memory=1, python=lambda x, m: -1.0 if x > 0 else 1.0
        )

    held = (
        pendulum("relay(q(rod))", remembering)
        .equations()
        .compile(backend="python")
        .linearize(at={"q(rod)": 0.3})
    )
    assert held.A[1, 0] == 0.0 and any("held constant" in n for n in held.notes)


def test_values_held_over_a_step_are_refused():
    def prepare(s):
        s.add_external(
            "control",
            arguments=("q(rod)",),
            returns=("torque",),
            when="update",
            python=lambda x: 5.0,
        )

    sim = pendulum("torque", prepare).equations().compile(backend="python")
    for analysis in (sim.equilibrium, sim.linearize, lambda: sim.inverse([0.1], [0.0], [0.0])):
        with pytest.raises(bc.ModelError, match="called once per step or run: torque"):
            analysis()


def test_every_value_of_a_routine_has_its_own_slope():
    def prepare(s):
        s.add_external(
            "two",
            arguments=("q(rod)",),
            returns=("m1", "m2"),
            python=lambda x: (-3.0 * x, math.sin(x)),
        )

    sim = pendulum("m1 + 2*m2", prepare).equations().compile(backend="python")
    model = sim.linearize(at={"q(rod)": 0.3})
    assert model.A[1, 0] == pytest.approx((-3.0 + 2 * math.cos(0.3)) / 2.1, rel=1e-9)


def test_an_output_without_derivatives_does_not_hinder_the_rest():
    def prepare(s):
        s.add_output("root", "sqrt(q(rod)**2*q(rod)**2)**0.25")

    sim = pendulum(prepare=prepare).equations().compile(backend="python")
    model = sim.linearize(at={"q(rod)": 0.0})
    assert model.A[1] == pytest.approx([-3 / 2.1, -0.5 / 2.1])
    assert any("derivatives of the outputs root do not exist" in n for n in model.notes)


def test_a_matrix_that_cannot_be_written_out_is_an_error(monkeypatch):
    """A part of it, one direction, is not what was asked for."""
    s = bc.System("chain", units="mks")
    parent = None
    for i in range(4):
        parent = s.add_body(
            f"b{i}", parent, rotate=3, joint_at=(1, 0, 0), cm=(0.5, 0, 0), mass=1, inertia=(1, 1, 1)
        )
    s.add_gravity(direction="-[n2]")
    eom = s.equations()
    assert eom.jacobian().rates == () and len(eom.jacobian().columns) == 8
    monkeypatch.setattr("bellcrank.analysis.jacobian.MAX_MATRIX_OPERATIONS", 50)
    with pytest.raises(bc.ModelError, match=r"8 rows and 8 columns .* fewer columns \(wrt=\)"):
        eom.jacobian()
