"""Axes by name ("x", "y", "z"), units="SI" and numbers with their unit ("90 deg"), where a model
takes them."""

import math

import pytest

import bellcrank as bc


def pendulum(units="SI", named=True):
    """A driven, damped pendulum; without names and units every axis is a number and every number
    has the base unit."""
    s = bc.System("pendulum", units=units)
    if named:
        place = {
            "joint_at": ("100 mm", 0, 0),
            "cm": (0, "-50 cm", 0),
            "orientation": ("z", "30 deg"),
        }
        rod = s.add_body("rod", rotate="z", mass="2000 gram", inertia=("0.1 kg-m2",) * 3, **place)
        s.add_moment("damper", magnitude="-c*u(rod)", direction=rod.z, on=rod)
        s.add_moment("motor", magnitude="1000 Nmm", direction="z", on=rod)
        s.add_gravity(direction="-[n.y]")
        s.set_defaults(c="200 Nmm-s")
        s.set_run(t_end=0.1, step=0.01, initial={"q(rod)": "90 deg"})
    else:
        place = {"joint_at": (0.1, 0, 0), "cm": (0, -0.5, 0), "orientation": (3, math.pi / 6)}
        rod = s.add_body("rod", rotate=3, mass=2, inertia=(0.1,) * 3, **place)
        s.add_moment("damper", magnitude="-c*u(rod)", direction=rod[3], on=rod)
        s.add_moment("motor", magnitude=1, direction=s.inertial[3], on=rod)
        s.add_gravity(direction="-[n2]")
        s.set_defaults(c=0.2)
        s.set_run(t_end=0.1, step=0.01, initial={"q(rod)": math.pi / 2})
    return s


@pytest.fixture(scope="module")
def sims():
    return [pendulum(named=named).equations().compile(backend="python") for named in (True, False)]


def test_the_same_model_in_both_spellings(sims):
    ours, plain = (sim.simulate() for sim in sims)
    assert ours["q(rod)"] == pytest.approx(plain["q(rod)"], rel=1e-13)
    assert bc.check(pendulum()).passed


def test_values_of_runs_with_units(sims):
    ours = sims[0].simulate(
        parameters={"c": "300 Nmm-s"}, initial={"q(rod)": "45 deg", "u(rod)": "10 rpm"}
    )
    plain = sims[1].simulate(
        parameters={"c": 0.3}, initial={"q(rod)": math.pi / 4, "u(rod)": math.pi / 3}
    )
    assert ours["q(rod)"] == pytest.approx(plain["q(rod)"], rel=1e-13)
    assert sims[0].assemble({"q(rod)": "1 rev"})[0] == pytest.approx([2 * math.pi])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"parameters": {"c": "3 kg"}}, "'c' is '3 kg', but its unit is N-m-s"),
        ({"initial": {"q(rod)": "3 s"}}, "'q(rod)' is '3 s', but its unit is rad"),
        (
            {"initial": {"q(rod)": "90 degs"}},
            "initial value of q(rod) is '90 degs': no unit is named 'degs'",
        ),
        ({"parameters": {"c": "much"}}, "parameter 'c' is 'much', not a number"),
    ],
)
def test_values_that_cannot_be_meant(given, message, sims):
    with pytest.raises(bc.ModelError) as error:
        sims[0].simulate(**given)
    assert message in str(error.value)


@pytest.mark.parametrize("units", ["SI", "si", "mks", "MKS"])
def test_names_of_the_si(units):
    assert bc.System("a", units=units).description.units == "mks"


def test_a_default_in_another_unit_whatever_the_order():
    values = []
    for calls in (("set_units", "set_defaults"), ("set_defaults", "set_units")):
        s = bc.System("mass", units="SI")
        mass = s.add_body("mass", translate="x", mass="m")
        s.add_force("spring", magnitude="-k*x", direction=s.inertial.x, at=mass.origin)
        for name in calls:
            getattr(s, name)(
                **{"k": "N/mm"} if name == "set_units" else {"k": "3 N/m", "m": "2 kg"}
            )
        found = s.equations().interface
        values.append(
            (
                found.find_or_none("k", ("parameter",)).default,
                found.find_or_none("m", ("parameter",)).default,
            )
        )
    assert values == [(pytest.approx(0.003), 2.0)] * 2


def test_a_guess_and_an_input_with_units():
    s = bc.System("mass", units="mm-tonne")
    s.add_input("road", units="L")
    mass = s.add_body("mass", translate="x", mass="1 kg")
    s.add_force("spring", magnitude="-k*(x - road)", direction="x", at=mass.origin)
    s.set_defaults(k="1 N/mm")
    s.set_run(t_end=0.01, step=0.001, guess={"q(mass)": "1 m"}, inputs={"road": "2 cm"})
    interface = s.equations().interface
    assert interface.run.initial == {"q(mass)": 1000.0}
    assert interface.run.inputs == {"road": 20.0}
    sim = s.equations().compile(backend="python")
    assert sim.simulate(inputs={"road": "3 cm"})["road"][-1] == pytest.approx(30)
    assert sim.derivatives(0, [0], [0])[1] == pytest.approx([20 / 0.001])


@pytest.mark.parametrize("axes", [("x", "y"), (1, 2)])
def test_several_axes_by_name(axes):
    s = bc.System("slider", units="SI")
    s.add_body("a", translate=axes, mass=1)
    assert len(s.equations().coordinates) == 2


def test_three_names_are_axes_and_components_stay_components():
    s = bc.System("ship", units="SI")
    b = s.add_body(
        "b", translate=("x", "y", "z"), rotate=("z", "y", "x"), mass=1, inertia=(1, 1, 1)
    )
    assert (len(b.q), len(b.u)) == (6, 6)
    s = bc.System("slope", units="SI")
    s.add_body("b", translate=("x", 0, "z"), mass=1)
    s.set_defaults(x=1, z=1)
    assert sorted(s.equations().parameters) == []  # the direction alone does not enter: no force
    assert len(s.equations().coordinates) == 1


def test_axes_of_formulas():
    s = bc.System("slope", units="SI")
    b = s.add_body("rear.b", translate="y", mass=1)
    s.add_output("v", "dot(vel(rear.b.origin), [rear.b.y])")
    s.add_output("w", bc.dot(bc.vel(b.origin), b["y"]))
    s.add_output("n", "dot(vel(rear.b.origin), [ n.y ])")
    run = (
        s.equations()
        .compile(backend="python")
        .simulate(t_end=0.1, step=0.1, initial={"u(rear.b)": 2})
    )
    assert [run[name][-1] for name in "vwn"] == [2, 2, 2]
    with pytest.raises(IndexError, match="1, 2, 3 or 'x', 'y', 'z', not 'w'"):
        b["w"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"rotate": "w"},
            "rotate='w': an axis is 'x', 'y' or 'z' (or 1, 2, 3), or three components",
        ),
        ({"rotate": "z", "cm": ("3 kg", 0, 0)}, "3 kg"),
        ({"rotate": "z", "mass": "3 m"}, "3 m"),
        ({"rotate": "z", "cm": ("3 foo", 0, 0)}, "an operator is missing before 'foo'"),
    ],
)
def test_what_is_no_axis_or_no_length(given, message):
    s = bc.System("rod", units="SI")
    s.add_body("rod", **{"inertia": (1, 1, 1), "mass": 1, **given})
    with pytest.raises(bc.ModelError) as error:
        s.equations()
    assert message in str(error.value)


def test_hand_led_derivations_take_axes_by_name():
    d = bc.kane.Derivation("turn")
    (a,) = d.frames("A")
    d.rotate("N", a, "z", d.coordinates("q")[0])
    assert str(d.dircos("N", a)[1, 2]) == "-sin(q)"
    assert str(a.y) == str(a[2]) == str(a["y"])


def test_default_of_an_input():
    s = bc.System("mass", units="SI")
    s.add_input("push", units="N", default="2 kN")
    mass = s.add_body("mass", translate="x", mass=1)
    s.add_force("pull", magnitude="push", direction="x", at=mass.origin)
    sim = s.equations().compile(backend="python")
    assert sim.derivatives(0, [0], [0])[1] == pytest.approx([2000])
    assert sim.simulate(t_end=0.1, step=0.1, inputs={"push": 5})["push"][-1] == 5
