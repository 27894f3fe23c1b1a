"""The interface of models: what runs record is what it lists, and every spelling of a name finds
the same quantity."""

import warnings

import pytest

import bellcrank as bc
from bellcrank.mechanics.interface.interface import CHANNELS, STATES, normalized_name
from tests.helpers import stub
from tests.models import EXAMPLES, LONG_TO_DERIVE, example, rarely


def stubbed(eom):
    """A simulation in Python, and inputs for it."""
    inputs = dict.fromkeys((x.name for x in eom.interface.signals), 0.0)
    return eom.compile(backend="python", external=stub(eom)), inputs


@pytest.mark.parametrize("name", rarely(EXAMPLES, LONG_TO_DERIVE))
def test_it_lists_what_examples_have_and_record(name):
    eom = example(name)
    sim, inputs = stubbed(eom)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.ModelWarning)
        run = sim.simulate(t_end=1e-4, step=1e-4, method="rk4", output_every=1, inputs=inputs)
    listed = eom.interface.channels
    assert list(run) == [x.name for x in listed]
    assert run.units == {x.name: x.unit.text for x in listed}
    assert run.labels == {x.name: x.label for x in listed}
    assert (
        len({x.column for x in listed}) == len(listed)
        and max(x.column for x in listed) < eom.interface.row_width
    )
    every_spelling_finds_a_state(eom.interface)
    it_agrees_with_program_and_listing(eom, eom.interface, eom.program)


def every_spelling_finds_a_state(interface):
    for letter, listed in (("q", interface.coordinates), ("u", interface.speeds)):
        for i, x in enumerate(listed, 1):
            blanks = x.name.replace(",", " ,  ").replace("(", " ( ")
            for spelled in (x.name, x.name.upper(), blanks, x.symbol, f"{letter.upper()}({i})"):
                assert interface.find_or_none(spelled, STATES) is x, spelled
            assert x.index == i - 1
    for x in interface.channels:
        assert interface.find_channel(x.name.upper()) is x


def it_agrees_with_program_and_listing(eom, interface, program):
    assert [x.symbol for x in interface.states] == [*program.coordinates, *program.speeds]
    assert [x.symbol for x in (*interface.parameters, *interface.function_parameters)] == list(
        program.parameters
    )
    assert [x.symbol for x in (*interface.inputs, *interface.sampled_inputs)] == list(
        program.inputs
    )
    assert [x.name for x in interface.outputs] == list(program.output_names)
    text = eom.describe()
    for x in (*interface.parameters, *interface.states, *interface.outputs):
        assert x.name in text and x.label in text


def test_near_names_are_told():
    interface = example("quarter_car").interface
    with pytest.raises(
        bc.ModelError,
        match=r"channel 'z_raod' is not known. Did you mean 'z_road'\?.*inputs: z_road",
    ):
        interface.find_or_raise("z_raod", CHANNELS, "channel")
    with pytest.raises(bc.ModelError, match=r"speeds: u\(wheel\), u\(body\)"):
        interface.find_or_raise("u(hub)", ("speed",), "speed")


def test_kinds_stand_apart():
    s = bc.System("apart", units="mks")
    rod = s.add_body("rod", rotate=2, mass="m", inertia=(0, "i", 0))
    s.add_input("m_in", units="F*L", label="moment")
    s.add_input("idle_in", units="L")
    s.add_moment("drive", magnitude="m_in", direction=rod[2], on=rod)
    s.add_parameter("nobody", 3.0)
    s.set_defaults(i=2.0)
    interface = s.equations().interface
    assert interface.find_or_none("I", ("parameter",)).default == 2.0
    assert (
        interface.find_or_none("m", ("parameter",)) is None
        and interface.find_or_none("m", ("idle",)).name == "m"
    )
    assert (
        interface.find_or_none("nobody", ("parameter", "idle")) is None
        and interface.find_or_none("nobody", ("unused",)).default == 3
    )
    assert [x.name for x in interface.inputs] == ["m_in"] and [
        x.name for x in interface.signals
    ] == ["m_in", "idle_in"]
    assert interface.find_channel("M_in").label == "moment"
    assert (
        interface.find_channel("idle_in") is None
        and interface.find_or_none("idle_in", ("input",)).column == -1
    )


def test_an_euler_parameter_starts_at_one():
    s = bc.System("free", units="mks")
    s.add_body("b", rotate="euler-parameters", mass=1, inertia=(1, 2, 3))
    assert [x.default for x in s.equations().interface.coordinates] == [1, 0, 0, 0]


def test_names_are_compared_one_way():
    assert (
        normalized_name(" q( B , 2)")
        == normalized_name("q(B,2)")
        == "q(B,2)"
        != normalized_name("q(b,2)")
    )


def test_labels_are_the_given_ones_or_the_names():
    """No phrase is generated but for parameter files, which print those of AUTOSIM."""
    s = bc.System("pendulum")
    rod = s.add_body("rod", rotate=2, cm=(0, 0, "l"), mass="m", inertia=0)
    s.add_moment("drive", magnitude="drive - k*q(rod)", direction=rod[2], on=rod)
    s.add_gravity()
    s.add_input("drive")
    s.set_defaults(l=1, m=2, k=3)
    s.set_labels(k="stiffness of the joint")
    s.add_output("energy", "k*q(rod)**2/2")
    eom = s.equations()
    labels = {x.name: x.label for x in eom.interface}
    given = {"k": "stiffness of the joint", "g": "acceleration of gravity"}
    given |= {"q(rod)": "rod angle", "u(rod)": "rod angular speed"}
    assert labels == {name: given.get(name, name) for name in labels}
    assert (
        eom.interface.find_or_raise("l", ("parameter",), "").description
        == "coordinate of center of mass of rod in dir 3"
    )
    assert eom.interface.find_or_raise("q(rod)", STATES, "").description.startswith(
        "Rotation of rod relative to"
    )
    sim = eom.compile(backend="python")
    found = sim.equilibrium(inputs={"drive": 0.0})
    s.add_output("twice", "2*q(rod)", label="rod angle")
    s.add_output("thrice", "3*q(rod)", label="stiffness of the joint")
    other = {x.name: x.label for x in s.equations().interface}
    assert other["q(rod)"] == "q(rod)" and other["twice"] == "rod angle"  # no two have one label
    assert (
        other["thrice"] == "stiffness of the joint (thrice)"
        and other["k"] == "stiffness of the joint (k)"
    )
    shown = [eom.describe(), str(found), str(sim.linearize(at=found).modes)]
    for text in shown:
        assert "q(rod)" in text
        assert not any(
            phrase in text for phrase in ("relative to", "in dir", "Abs. rot", "mass of")
        )
    assert "stiffness of the joint" in shown[0]
