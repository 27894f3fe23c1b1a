"""Stand-alone programs with linkages: the same run as inside, in C, Python and Fortran."""

import math
import re
import subprocess
import sys

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.codegen.c.linkage import kernel_function
from bellcrank.codegen.c.source import c_source
from bellcrank.codegen.lookup import lookup_function
from bellcrank.codegen.python.lookup import python_lookup
from bellcrank.core.errors import ModelWarning
from bellcrank.linkage.pose import ONE_INPUT, TWO_INPUTS
from bellcrank.linkage.pose_lookup import pose_lookup
from bellcrank.simulation.backend.c import CModel
from bellcrank.symbolic.expr import Number
from tests.linkage.machines import linkage
from tests.models import STRICT, needs_compiler, rarely
from tests.programs import SKIPPED


def two_corners():
    """Two wheels on one body: an exact double wishbone whose rack is an input, and five links from
    a three-rotation table that the run leaves."""
    s = bc.System("two corners", units="mks", axes="ISO 8855")
    base = s.add_body("base", translate=3, mass=400, inertia=(90, 200, 220), cm=(0.3, 0, 0.5))
    front, rear = (
        linkage("double_wishbone"),
        linkage("five_link").table(step=0.02, range=(-0.02, 0.02), scheme="three-rotations"),
    )
    for name, chain, given in (
        ("front", front, {"rack": s.add_input("steer")}),
        ("rear", rear, {"extend": True}),
    ):
        centre = chain.chain.place("wheel_centre")
        wheel = s.add_body(
            f"{name}_wheel", parent=base, mass=38, inertia=(0.9, 1.4, 0.9), cm=centre
        )
        joint = s.add_linkage(name, chain, base=base, carrier=wheel, **given)
        joint.add_spring(
            f"spring_{name}", "spring", stiffness=45000, damping=3000, ride=(0.0, 2000)
        )
        at = joint.point("wheel_centre")
        s.add_force(f"tyre_{name}", magnitude="k_t*(x0 - x) + 2150", direction=s.inertial[3], at=at)
        s.add_output(f"ay_{name}", f"dot(dxdt(vel({at.name})), [n2])", units="L/T**2")
    s.add_gravity()
    s.set_defaults(k_t=200000)
    s.set_units(k_t="F/L")
    s.set_run(
        t_end=0.1,
        step=0.002,
        output_every=5,
        initial={"q(base)": 0.05},
        inputs={"steer": bc.signals.sine(0.01, 3.0)},
    )
    return s


@pytest.fixture(scope="module")
def inside():
    eom = two_corners().equations(optimise="none")
    with pytest.warns(
        ModelWarning,
        match=r"'rear_wheel' goes from -0\.02 to 0\.02 m, but q\(rear_wheel\) went from .* it was "
        r"extrapolated linearly",
    ):
        run = eom.compile(backend="c").simulate()
    assert run.ended == "finished"
    return eom, run


@pytest.mark.parametrize(
    "language",
    rarely(["c", "fortran", "python"], ("fortran", "python")),
)
def test_linkages_in_programs(language, inside, tmp_path):
    wanting, why = SKIPPED[language]
    if wanting:
        pytest.skip(why)
    eom, run = inside
    eom.export(language, tmp_path)
    if language != "python":
        flags = {"c": "CFLAGS=-O0 -Werror", "fortran": "FFLAGS=-O0 -Werror"}[language]
        built = subprocess.run(
            ["make", "-C", str(tmp_path), flags], capture_output=True, text=True, check=False
        )
        assert built.returncode == 0, built.stderr
    command = [sys.executable, "two_corners.py"] if language == "python" else ["./two_corners"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    found = bc.Run.read(next(tmp_path.glob("*.csv" if language == "python" else "*.erd")))
    for name in ("q(front_wheel)", "q(rear_wheel)", "u(rear_wheel)", "ay_front", "ay_rear"):
        assert np.abs(found[name] - run[name]).max() < 1e-10 * np.abs(run[name]).max()


def test_only_wanted_values_are_written(inside):
    """A massless link on which a spring stands turns and accelerates nowhere: its look-up computes
    less, and holds fewer numbers."""
    eom, _ = inside
    counted = eom.operation_count()["routines"]
    assert counted["rear_carrier"]["values"] > counted["rear_rod_5"]["values"]
    assert counted["rear_rod_5"]["total"] < counted["rear_carrier"]["total"]
    function = next(r for r in eom.program.routines if r.name == "rear_carrier").formulas.function
    full, cut = (lookup_function(function, wanted) for wanted in (range(24), range(3)))
    assert [f.numbers["width"] for f in (full, cut)] == [
        27,
        9,
    ]  # of position 4, 4 and, as the travel itself, 1
    assert [len(f.lists["numbers"]) for f in (full, cut)] == [54, 18]
    assert kernel_function("rear", cut).count("out[") == 3


def test_operations_of_a_look_up():
    """A cubic c0 + c1 x + c2 x^2/2 + c3 x^3/6 takes ten, its slope six more, and the place in a
    cell four; what is the same in all cells takes none."""
    table = linkage("five_link").table(step=0.02, range=(-0.04, 0.04), scheme="cubic")
    carrier, rod = (pose_lookup(table, part) for part in ("carrier", "rod_5"))
    assert [carrier.operations(wanted).total for wanted in ([0], [0, 12], [2])] == [14, 18, 5]
    assert rod.operations([0, 1, 2, 12, 13, 14]).total == 4  # it turns about a point of the base
    arm = pose_lookup(linkage("trailing_arm").table(step=0.02, scheme="quintic"), "carrier")
    assert (
        arm.operations(range(24)).total
        < 0.6 * pose_lookup(table, "carrier").operations(range(24)).total
    )


@pytest.mark.parametrize("rack", [None, (-0.02, 0.02)])
@pytest.mark.parametrize("extend", [False, True])
def test_an_arm_on_its_bearings_has_an_angle(rack, extend):
    """What turns about a fixed axis takes a fraction of the operations, and gives the poses of the
    table; its bearing stands, so that equations hold numbers for it: the same number in every cell,
    and no motion."""
    table = linkage("double_wishbone").table(step=0.02, range=(-0.04, 0.04), rack=rack)
    arm, carrier = (pose_lookup(table, part, extend) for part in ("lower_arm", "carrier"))
    n = len(arm.values)
    assert arm.operations(range(n)).total < 0.4 * carrier.operations(range(n)).total
    inputs, pairs = (1, 1) if rack is None else (2, 3)
    still = [
        *range(3),
        *range(12, 12 + 3 * inputs),
        *range(12 + 6 * inputs, 12 + 6 * inputs + 3 * pairs),
    ]
    assert [i for i, v in enumerate(arm.values) if isinstance(v, Number)] == still
    scope = {"math": math}
    exec(python_lookup("found", arm, range(n)), scope)
    for z, r in np.random.default_rng(2).uniform(
        (-0.05, -0.02) if extend else (-0.04, -0.02), (0.04, 0.02), (9, 2)
    ):
        given = (z,) if rack is None else (z, r)
        pose = table.solve(*given, links=["lower_arm"], extend=extend).link["lower_arm"]
        wanted = [
            x
            for name in (ONE_INPUT if rack is None else TWO_INPUTS)
            for x in np.ravel(getattr(pose, name))
        ]
        assert scope["found"](*given) == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@needs_compiler
@pytest.mark.parametrize(
    "further", [(), pytest.param(("-DONE_AT_A_TIME",), marks=pytest.mark.campaign)]
)
def test_look_ups_of_the_same_formulas_go_two_at_a_time(further):
    """Left and right in the lanes of a vector give what the program in Python finds of each alone;
    with one of them outside of its grid, the values of that side alone are not a number. So where
    there are no vectors."""
    s = bc.System("axle", units="mks", axes="ISO 8855")
    base = s.add_body(
        "base", translate=3, rotate=1, mass=400, inertia=(90, 200, 220), cm=(0.3, 0, 0.5)
    )
    left = linkage("five_link")
    for name, chain in (("left", left), ("right", left.mirror())):
        wheel = s.add_body(f"{name}_wheel", parent=base, mass=38, inertia=(0.9, 1.4, 0.9))
        s.add_linkage(name, chain.table(step=0.02, range=(-0.04, 0.04)), base=base, carrier=wheel)
        s.add_output(f"y_{name}", f"dot(pos({wheel.cm.name}), [base2])", units="L")
    eom = s.equations(optimise="none")
    text = c_source(eom.program)
    first, second = ("left", "right") if "left_carrier_beside" in text else ("right", "left")
    call = (
        rf"external_{first}_carrier_beside_{second}_carrier\(q_{first}\w*, q_{second}\w*, "
        rf"values\d+\);"
    )
    assert re.search(call, text) and not re.search(r"external_(left|right)_carrier\(q_", text)
    alone = eom.compile(backend="python")
    python = alone.loaded.model.new_calls()
    states = np.random.default_rng(1).uniform(-0.039, 0.039, (5, 2, 4))
    compiled = CModel(eom.program, alone.loaded.functions, flags=(*STRICT, *further)).new_calls()
    p = compiled.constants([])
    for q, u in states:
        at = (0.0, q, u, [], p, [])
        for found, wanted in zip(
            (compiled.derivatives(*at), compiled.outputs(*at)),
            (python.derivatives(*at), python.outputs(*at)),
            strict=True,
        ):
            assert np.ravel(np.hstack(found)) == pytest.approx(
                np.ravel(np.hstack(wanted)), rel=1e-10
            )
    for q, outside in (([0, 0, 0.05, 0.01], [True, False]), ([0, 0, -0.03, -0.05], [False, True])):
        assert list(np.isnan(compiled.outputs(0.0, q, [0.0] * 4, [], p, []))) == outside
