"""Rows of constraints: which count, which repeat others, which contradict them."""

import pytest

import bellcrank as bc
from bellcrank.mechanics.kinematics.constraint_rows import ConstraintRow, with_partials
from bellcrank.mechanics.kinematics.numeric_rank import NumericRank
from bellcrank.symbolic.expr import Number


def linkage(*more, lengths=(1.0, 2.5, 1.5), ground=2.0):
    """A four-bar in a plane, closed by its coupler's end."""
    s = bc.System("four-bar", units="mks")
    n = s.inertial
    a, b, c = lengths
    s.add_body("a", rotate=3, cm=(a / 2, 0, 0), mass=1, inertia=(1, 1, 1))
    s.add_body(
        "b", parent="a", rotate=3, joint_at=(a, 0, 0), cm=(b / 2, 0, 0), mass=1, inertia=(1, 1, 1)
    )
    s.add_body("c", rotate=3, joint_at=(ground, 0, 0), cm=(c / 2, 0, 0), mass=1, inertia=(1, 1, 1))
    s.add_point("p", body="b", at=(b, 0, 0))
    s.add_point("r", body="c", at=(c, 0, 0))
    s.add_loop_joint("pin", between=("p", "r"), directions=(n[1], n[2]))
    for add in more:
        add(s)
    s.set_run(initial={"q(a)": 1.0})
    return s


def test_a_multiple_of_a_row_is_ignored():
    eom = linkage(
        lambda s: s.add_loop_joint("again", between=("p", "r"), directions=("3*[n1] - [n2]",))
    ).equations()
    assert eom.notes == ["the constraint 'again, direction 1' is satisfied already and was ignored"]
    assert len(eom.independent_speeds) == 1


def test_a_row_that_follows_where_the_loop_is_closed_is_told():
    eom = linkage(
        lambda s: s.add_loop_joint("again", between=("p", "r"), directions=("[b1]",))
    ).equations()
    assert "'again, direction 1' follows from the others" in eom.notes[0]
    assert "only for these dimensions" not in eom.notes[0]
    assert len(eom.independent_speeds) == 1


def test_redundancy_that_hangs_on_dimensions_is_told():
    """A fifth bar, parallel to the cranks of a parallelogram, of the same length: with another
    length it would lock."""

    def fifth(s):
        s.add_point("m", body="b", at=(1, 0, 0))
        s.add_point("f", at=("w", 0, 0))
        s.add_loop_joint("third crank", "distance", between=("m", "f"), length="l")
        s.set_defaults(w=1.0, l=1.5)

    s = linkage(fifth, lengths=(1.5, 2.0, 1.5))
    s.set_run(initial={"q(a)": 1.0, "q(b)": -1.0, "q(c)": 1.0})
    (note,) = s.equations().notes
    assert "'rod third crank' follows from the others" in note
    assert "only for these dimensions" in note


def test_two_lengths_of_one_rod_contradict():
    def rod(length):
        return lambda s: s.add_loop_joint(
            f"rod of {length} m", "distance", between=("p", "n.origin"), length=length
        )

    with pytest.raises(bc.ModelError, match=r"'rod rod of 2\.5 m' contradicts 'rod rod of 2\.0 m'"):
        linkage(rod(2.0), rod(2.5)).equations()


def test_no_freedom_left_lists_the_rows():
    with pytest.raises(
        bc.ModelError,
        match=r"0 degrees of freedom: 3 constraint equations for 3 speeds \('pin, direction 1'",
    ):
        linkage(lambda s: s.add_constraint("q(a) - q(c) - 0.1")).equations()


def test_contradicting_drives_name_each_other():
    def drive(text):
        return lambda s: s.add_constraint(text)

    with pytest.raises(bc.ModelError, match=r"'u\(a\) - 2' contradicts 'u\(a\) - 1'"):
        linkage(drive("u(a) - 1"), drive("u(a) - 2")).equations()


def test_start_in_a_singular_position_is_noted():
    s = linkage()
    s.set_run(initial={"q(a)": 0.0, "q(b)": 0.0, "q(c)": 0.0})
    assert (
        "the initial configuration is singular: it has 1 more degree of freedom"
        in s.equations().notes
    )


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_what_counts_as_rounding_is_seen_beside_the_largest_slope(scale):
    kinematics = linkage().equations().analysis.kinematics
    a, b, c = kinematics.mechanism.speeds
    slopes = {a: Number(scale), b: Number(scale * 1e-6), c: Number(scale * 1e-12)}
    assert NumericRank(kinematics).significant_speeds(slopes) == [a, b]


def test_rows_that_follow_from_those_before_them_but_for_rounding():
    analysis = linkage().equations().analysis
    first, second = analysis.loops.rows
    mixed = first.v + 3 * second.v + 1e-14 * analysis.mechanism.speeds[0]
    third = with_partials(ConstraintRow("mixed", mixed), analysis.mechanism.speeds)
    rounding = NumericRank(analysis.kinematics)
    assert rounding.redundant_rows([first, second, third]) == [third]
    assert rounding.redundant_rows([first, third, second]) == [second]
    assert rounding.redundant_rows([first, second]) == []


def test_rows_of_one_name_are_all_there():
    """Two ball joints with one label, the weight below the first: each carries half of it."""
    s = bc.System("door", units="mks")
    door = s.add_body("d", translate=(1, 2, 3), rotate=(3, 2, 1), mass=2, inertia=(1, 1, 1))
    top, at = (
        s.add_point("p", body=door, at=(0, 0, 1)),
        s.add_point("r", body=s.inertial, at=(0, 0, 1)),
    )
    s.add_loop_joint("hinge", "spherical", between=(door.origin, s.inertial.origin))
    s.add_loop_joint("hinge", "spherical", between=(top, at))
    s.add_gravity()
    eom = s.equations()
    sim = eom.compile(backend="python")
    found = sim.multipliers(0.0, *sim.assemble())
    assert list(found) == list(eom.constraint_rows) and len(found) == 6
    assert abs(sum(found.values())) == pytest.approx(2 * 9.80665) and set(eom.position_rows) <= {
        *found
    }


def test_names_of_equations_are_plain():
    """Keys that are typed have no quotes inside; messages quote them."""
    s = bc.System("pendulum")
    ball = s.add_point_mass("ball", translate=("x", "z"), joint_at=(0, 0, -1), mass=2)
    s.add_gravity((0, 0, -1), g=10)
    s.add_loop_joint("coupler", "distance", between=("o", ball.origin))
    eom = s.equations()
    assert [*eom.constraint_rows] == [*eom.position_rows] == ["rod coupler"]
    assert [*eom.compile(backend="python").multipliers(0, [0, 0], [0, 0])] == ["rod coupler"]
    s.add_loop_joint("stay", "distance", between=("o", ball.origin), length=2)
    with pytest.raises(bc.ModelError, match="'rod stay' contradicts 'rod coupler'"):
        s.equations()
