"""A rack whose travel is given: by an input, by a formula over time, against a driven body and
against what an observer on the rack sees."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError
from bellcrank.linkage import Linkage
from tests.linkage.machines import linkage, sheet

R, W = 0.012, 9.0  # m, rad/s


def steered(kind, table=False):
    """A corner on a body that turns and moves, arm with mass; the rack moves by R sin(W t), whoever
    moves it."""
    s = bc.System("steered corner", units="mks", axes="ISO 8855")
    body = s.add_body(
        "body", translate=3, rotate=(1, 0.2, 0.3), mass=400, inertia=(60, 80, 90), cm=(0.1, 0, 0.5)
    )
    wheel = s.add_body("wheel", parent=body, mass=38, inertia=(0.9, 1.4, 0.9), cm=(0, 0.765, 0.3))
    chain = linkage("double_wishbone")
    rack = "r_0*sin(w_0*t)"
    if kind == "input":
        rack = s.add_input("r_in")
    elif kind == "body":
        rack = s.add_body("rack", parent=body, translate=2, mass=0, inertia=0)
        s.add_constraint("u(rack) - r_0*w_0*cos(w_0*t)")
    if kind != "input":
        s.set_defaults(r_0=R, w_0=W)
    chain = chain.table(step=0.02, range=(-0.06, 0.06), rack=(-0.02, 0.02)) if table else chain
    joint = s.add_linkage("front", chain, base=body, carrier=wheel, rack=rack)
    joint.link("lower_arm", mass=6, inertia=(0.12, 0.08, 0.18), cm=(0, 0.48, 0.18))
    joint.add_spring("spring", "spring", stiffness=45000, damping=3000, ride=(0.0, 4000))
    s.add_gravity()
    centre = joint.point("wheel_centre")
    s.add_output("ay", f"dot(dxdt(vel({centre.name})), [n2])", units="L/T**2")
    s.add_outputs("energy")
    return s


@pytest.mark.campaign
@pytest.mark.parametrize("table", [pytest.param(False, marks=pytest.mark.campaign), True])
def test_a_given_rack_is_a_driven_one(table):
    """The same accelerations and channels as with the rack as a body that a speed constraint
    drives; in C and in Python."""
    kinds = {"body": "python", "input": "c"} | ({} if table else {"formula": "python"})
    sims = {
        k: steered(k, table).equations(optimise="none").compile(backend=b) for k, b in kinds.items()
    }
    assert len(sims["input"].interface.coordinates) == 3
    inputs = {"r_in": bc.signals.sine(R, W / (2 * np.pi))}
    rng = np.random.default_rng(1)
    for t in (0.05, 0.4, 0.9):
        q, u = rng.uniform(-0.3, 0.3, 3), rng.uniform(-1, 1, 3)
        q[-1] *= 0.1
        place = {s.name: i for i, s in enumerate(sims["body"].interface.coordinates)}
        full = np.insert(q, place["q(rack)"], R * np.sin(W * t))
        qd, ud = sims["body"].derivatives(t, full.tolist(), u.tolist())
        out = sims["body"].outputs(t, full.tolist(), u.tolist())
        for kind, sim in sims.items():
            if kind == "body":
                continue
            given = {"inputs": inputs} if kind == "input" else {}
            qd_2, ud_2 = sim.derivatives(t, q.tolist(), u.tolist(), **given)
            assert np.delete(qd, place["q(rack)"]) == pytest.approx(qd_2, rel=1e-12)
            assert np.abs(ud - ud_2).max() < 1e-11 * np.abs(ud).max()
            found = sim.outputs(t, q.tolist(), u.tolist(), **given)
            for name in ("ay", "kinetic", "energy"):
                assert found[name] == pytest.approx(out[name], rel=1e-10)


@pytest.mark.campaign
@pytest.mark.parametrize("exact", [True, False])
def test_all_points_on_the_rack_fall_sideways(exact):
    """Five rods that all stand on the rack move with it as a whole: on it the wheel feels -r'' as
    gravity across, and nothing else."""
    data = sheet("five_link")
    data["rack"] = {"points": ["P1", "P2", "P3", "P4", "P5"], "axis": [0, 1, 0]}
    data["struts"], data["attach"] = (
        {},
        {k: v for k, v in data.get("attach", {}).items() if k not in ("spring_base",)},
    )
    riding = Linkage.read(data)
    found = []
    for led in (True, False):
        s = bc.System("wheel", units="mks", axes="ISO 8855")
        wheel = s.add_body("wheel", mass=12, inertia=(0.74, 1.46, 0.74), cm=(0, 0.768, 0))
        chain, rack = riding, "a*t**2/2 + b*t**3" if led else None
        if not exact:
            chain = riding.table(step=0.005, range=(-0.03, 0.05), rack=(-0.02, 0.02))
        s.add_linkage("corner", chain, carrier=wheel, rack=rack)
        s.add_gravity()
        if not led:
            s.add_force("across", magnitude="-12*(a + 6*b*t)", direction=s.inertial[2], at=wheel.cm)
        s.add_output("y", "dot(pos(wheel.cm), [n2])", units="L")
        s.add_output("ay", "dot(dxdt(vel(wheel.cm)), [n2])", units="L/T**2")
        s.set_defaults(a=3.0, b=-8.0)
        s.set_units(a="L/T**2", b="L/T**3")
        found.append(
            s.equations()
            .compile(backend="c")
            .simulate(t_end=0.06, step=0.001, initial={"u(wheel)": 0.3})
        )
    a, b = found
    t = a.time
    tolerance = 1e-12 if exact else 1e-7
    assert a.ended == b.ended == "finished"
    assert np.abs(a["q(wheel)"] - b["q(wheel)"]).max() < tolerance
    assert np.abs(a["y"] - b["y"] - (1.5 * t**2 - 8 * t**3)).max() < tolerance
    assert np.abs(a["ay"] - b["ay"] - (3 - 48 * t)).max() < (1e-9 if exact else 1e-3)


@pytest.mark.campaign
@pytest.mark.parametrize("table", [False, True])
def test_check_of_a_rack_that_is_led(table):
    """Newton-Euler, energy with the work of what leads the rack, momentum of the whole."""
    report = bc.check(steered("input" if table else "formula", table), states=2, backend="python")
    assert report.passed, str(report)
    lines = {line.name: line for line in report.lines}
    assert (
        "linear momentum" in lines and not lines["Jacobian of the rates against differences"].note
    )


def test_a_rack_in_inches_and_its_units():
    """A rack travel without stated units is a length."""
    s = bc.System("corner", units="in-lb", axes="ISO 8855")
    wheel = s.add_body("wheel", mass=80, inertia=(0, 0, 0))
    joint = s.add_linkage(
        "front", linkage("double_wishbone"), carrier=wheel, rack=s.add_input("steer")
    )
    s.add_output("rack", f"dot(pos({joint.point('tie_base').name}), [n2])", units="L")
    eom = s.equations()
    assert eom.quantities.unit["steer"].text == "in"
    sim = eom.compile(backend="python")
    out = [sim.outputs(0.0, [0.0], [0.0], inputs={"steer": x})["rack"] for x in (0.0, 0.25)]
    assert out[1] - out[0] == pytest.approx(0.25, rel=1e-12)


def test_bad_racks():
    def made(rack, **data):
        s = bc.System("corner", units="mks", axes="ISO 8855")
        s.add_input("steer")
        wheel = s.add_body("wheel", mass=38, inertia=(0.9, 1.4, 0.9))
        chain = linkage("double_wishbone")
        chain = (
            chain.table(step=0.05, range=(-0.05, 0.05), rack=(-0.02, 0.02), rack_step=0.02)
            if data
            else chain
        )
        s.add_linkage("front", chain, carrier=wheel, rack=rack)
        s.add_gravity()
        return s

    with pytest.raises(ModelError, match=r"rack='ster' names no body, input.*Did you mean 'steer'"):
        made("ster")
    with pytest.raises(ModelError, match="neither a body of the system nor a formula"):
        made([1.0])
    with pytest.raises(
        ModelError,
        match=r"rack: it depends on q\(wheel\); a rack that moves by itself is given as a body",
    ):
        made("0.1*q(wheel)").equations()
    with pytest.raises(ModelError, match="rack"):
        made("vel(o)").equations()
    with pytest.raises(ModelError, match="the rate of its rate is used; a ramp has none"):
        made("steer").equations().compile(backend="python").simulate(
            t_end=0.01, step=0.001, inputs={"steer": bc.signals.ramp(0, 1)}
        )
    run = (
        made("0.5*t**2", table=True)
        .equations()
        .compile(backend="python")
        .simulate(t_end=0.5, step=0.005, initial={"q(wheel)": 0.04})
    )
    assert "leaves its range" in run.ended


def test_a_loop_elsewhere_changes_nothing():
    """With it the equations come from partial velocities, without it from composite bodies."""
    rates = []
    for beside in (False, True):
        s = bc.System("corner", units="mks", axes="ISO 8855")
        body = s.add_body("body", rotate=3, mass=400, inertia=(60, 80, 90))
        wheel = s.add_body(
            "wheel", parent=body, mass=38, inertia=(0.9, 1.4, 0.9), cm=(0, 0.765, 0.3)
        )
        s.add_linkage("front", linkage("double_wishbone"), base=body, carrier=wheel, rack="0.1*t")
        if beside:
            a = s.add_body("a", translate=1, mass=1)
            b = s.add_body("b", translate=1, mass=1)
            s.add_loop_joint("loop", between=(a.origin, b.origin), directions=[s.inertial[1]])
        sim = s.equations(optimise="none").compile(backend="python")
        start = sim.assemble({"q(wheel)": 0.01, "u(body)": 1.5, "u(wheel)": -0.7})
        rates.append(
            {
                x.name: v
                for x, v in zip(sim.interface.speeds, sim.derivatives(0.1, *start)[1], strict=True)
            }
        )
    for name in rates[0]:
        assert rates[1][name] == pytest.approx(rates[0][name], rel=1e-10)
