"""Tyres with slip: closed forms of relaxation, sliding, sticking and rolling; energy;
standstill."""

import math
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from tests.models import rarely
from tests.verify.corruption import acts, places, spoiled

G = 9.80665
M, RIM, K = 300.0, 0.3, 2e5
DEPTH = M * G / K
BACKENDS = ("c", "python")


NAMED = bc.Slip("c_x", "c_y", relaxation=("s_x", "s_y"), friction="mu", damping="t_d")


def towed(slip=NAMED, axes="ISO 8855"):
    """A wheel on a hub that moves straight ahead and up and down; the wheel's plane is turned to
    the left by an angle."""
    s = bc.System("towed wheel", axes=axes)
    side = 1 if axes.startswith("ISO") else -1  # y to the left, or to the right
    hub = s.add_point_mass("hub", translate=(1, 3), mass=M)
    wheel = s.add_body(
        "wheel",
        hub,
        rotate=2,
        rotation_axis=(f"{-side}*sin(a)", "cos(a)", 0),
        mass=0,
        inertia=(1, 1, 1),
    )
    s.add_input("moment", units="F*L")
    s.add_moment("drive", magnitude="moment", direction="[hub2]", on=wheel)
    s.add_gravity()
    s.add_contact(
        "t",
        at=hub,
        radius="r",
        terrain=bc.vehicles.terrain.flat(),
        tyre=bc.Tyre(K, 3000, slip),
        wheel=wheel,
    )
    s.set_defaults(r=RIM, a=0, c_x=30e3, c_y=20e3, s_x=0.3, s_y=0.3, mu=1, t_d=0.004)
    s.add_outputs("energy")
    s.set_run(
        t_end=0.5, step=0.0005, initial={"q(hub, 2)": side * (RIM - DEPTH)}, inputs={"moment": 0.0}
    )
    return s


@pytest.fixture(scope="module")
def equations():
    return towed().equations()


@pytest.fixture(scope="module")
def sim(equations):
    return equations.compile()


def block(slip, slope=0.0, translate=(1, 2, 3)):
    """A wheel that cannot turn, on a plane."""
    s = bc.System("locked wheel", axes="ISO 8855")
    body = s.add_point_mass("b", translate=translate, mass=M)
    s.add_gravity()
    ground = bc.vehicles.terrain.ramp(slope)
    s.add_contact("t", at=body, radius=RIM, terrain=ground, tyre=bc.Tyre(K, 3000, slip), wheel=body)
    height = (
        math.hypot(1, slope) * RIM - M * G / K
    )  # on a slope the normal carries cos^2: nearly settled
    s.set_run(t_end=1, step=0.001, initial={f"q(b, {len(translate)})": height})
    s.add_outputs("energy")
    return s


@pytest.mark.parametrize("which", rarely(["c", "python", "SAE"], ["python"]))
def test_side_force_builds_up_over_the_relaxation_length(equations, sim, which):
    """F = C tan(alpha) (1 - exp(-x/sigma)): Pacejka, section 7.2; the wheel points left, so the
    ground pushes it left."""
    C, sigma, angle, v, d = 12e3, 0.4, 0.05, 4.0, RIM - DEPTH
    if which != "c":
        sim = (equations if which == "python" else towed(axes="SAE").equations()).compile(
            backend="python"
        )
    run = sim.simulate(
        t_end=0.3,
        step=0.001,
        initial={
            "u(hub, 1)": v,
            "u(wheel)": (-1 if which == "SAE" else 1) * v * math.cos(angle) / d,
        },
        parameters={"a": angle, "c_y": C, "s_x": 0.2, "s_y": sigma, "mu": 2.0, "t_d": 0},
    )
    expected = C * math.tan(angle) * (1 - np.exp(-v * math.cos(angle) * run.time / sigma))
    # the side force drags the wheel and takes a little of its speed away
    assert run["t_fy"] == pytest.approx(expected, abs=2e-3 * expected.max())


@pytest.mark.parametrize("per_load", [False, True])
def test_driven_wheel_slips_in_proportion_to_its_force(sim, per_load):
    """Steady slip of a wheel under a moment: force per slip relative to the rolling speed;
    load-proportional too."""
    if per_load:
        sim = towed(replace(NAMED, per_load=True)).equations().compile(backend="python")
    d, C = RIM - DEPTH, 10.0 * M * G
    run = sim.simulate(
        t_end=1,
        step=0.002,
        inputs={"moment": 200.0},
        initial={"u(hub, 1)": 10, "u(wheel)": 10 / d},
        parameters={"c_x": 10.0 if per_load else C},
    )
    force, roll, speed = run["t_fx"][-1], run["u(wheel)"][-1] * d, run["u(hub, 1)"][-1]
    assert force == pytest.approx(C * (roll - speed) / roll, rel=2e-3)
    assert force == pytest.approx(
        200 / d * M / (M + 1 / d**2), rel=2e-3
    )  # the wheel's own inertia takes a part


@pytest.mark.campaign
def test_locked_wheel_slides_against_its_velocity_with_the_friction_limit():
    """Coulomb friction in the plane, whatever the two stiffnesses are."""
    slip = bc.Slip(30e3, 20e3, relaxation=(0.2, 0.5), friction=0.8)
    drawn = block(slip)
    drawn.add_constraint("u(b, 1) - 6")
    drawn.add_constraint("u(b, 2) - 8")
    run = drawn.equations().compile().simulate(t_end=1)
    assert (run["t_fx"][-1], run["t_fy"][-1]) == pytest.approx(
        (-0.6 * 0.8 * M * G, -0.8 * 0.8 * M * G), rel=1e-9
    )
    free = block(slip).equations().compile().simulate(initial={"u(b, 1)": 6, "u(b, 2)": 8}, t_end=1)
    speed = np.hypot(free["u(b, 1)"], free["u(b, 2)"])
    assert (speed[400] - speed[900]) / 0.5 == pytest.approx(0.8 * G, rel=1e-3)
    assert np.hypot(free["t_fx"], free["t_fy"]).max() == pytest.approx(0.8 * M * G, rel=1e-9)


def test_locked_wheel_sticks_as_a_spring():
    """Below the limit: a mass on the spring C/sigma, for ever, without loss."""
    C, sigma = 30e3, 0.3
    sim = block(bc.Slip(C, C, relaxation=sigma, damping=0), translate=(1, 3)).equations().compile()
    w = math.sqrt(C / sigma / M)
    run = sim.simulate(t_end=5 * 2 * math.pi / w, step=2e-4, initial={"u(b, 1)": 0.1})
    assert run["q(b, 1)"] == pytest.approx(0.1 / w * np.sin(w * run.time), abs=2e-6)
    energy = run["energy"] + run["t_stored"]
    assert np.ptp(energy) < 1e-6 * (M * 0.01 / 2)


def test_locked_wheel_stands_on_a_slope_and_slides_where_it_is_too_steep():
    slope = 0.3
    c, sine = 1 / math.hypot(1, slope), slope / math.hypot(1, slope)
    sim = block(bc.Slip(30e3, friction="mu"), slope, translate=(1, 3)).equations().compile()
    stands = sim.simulate(t_end=100, output_every=1000, parameters={"mu": 0.31})
    assert (
        abs(stands["q(b, 1)"][-1] - stands["q(b, 1)"][40]) < 1e-12
    )  # in 60 s, after its rocking has died away
    assert stands["t_fx"][-1] == pytest.approx(M * G * sine, rel=1e-9)
    slides = sim.simulate(t_end=4, parameters={"mu": 0.2})
    along = slides["u(b, 1)"] / c
    assert (along[4000] - along[2000]) / 2 == pytest.approx(-G * (sine - 0.2 * c), rel=1e-4)


def test_disc_rolls_down_a_slope():
    """g sin(a)/(1 + I/(m d^2)); rolling resistance c ends the acceleration at a rolling speed of m
    g sin(a)/c."""
    slope = -0.1
    s = bc.System("disc", axes="ISO 8855")
    hub = s.add_point_mass("hub", translate=(1, 3), mass=M)
    wheel = s.add_body("wheel", hub, rotate=2, mass=0, inertia=(10, 10, 10))
    s.add_gravity()
    s.add_contact(
        "t",
        at=hub,
        radius=RIM,
        terrain=bc.vehicles.terrain.ramp(slope),
        tyre=bc.Tyre(K, 3000, bc.Slip(60e3)),
        wheel=wheel,
        rolling_resistance="c_r",
    )
    c = 1 / math.hypot(1, slope)
    d = RIM - DEPTH * c
    s.set_defaults(c_r=0)
    s.set_run(initial={"q(hub, 2)": d / c}, step=0.001)
    sim = s.equations().compile()
    run = sim.simulate(t_end=2)
    speed = run["u(hub, 1)"] / c
    rate = G * -slope * c / (1 + 10 / (M * d**2))
    assert (speed[2000] - speed[1000]) == pytest.approx(rate, rel=1e-3)
    slow = sim.simulate(t_end=10, parameters={"c_r": 300.0})
    assert slow["u(wheel)"][-1] * d == pytest.approx(M * G * -slope * c / 300, rel=2e-3)
    assert slow["u(hub, 1)"][-1] / c == pytest.approx(
        slow["u(wheel)"][-1] * d * (1 + M * G * -slope * c / 60e3), rel=1e-4
    )


def test_energy_never_rises_while_a_wheel_slips(sim):
    """Spinning, sideways, then rolling: what is lost is never given back."""
    run = sim.simulate(
        t_end=2,
        step=2e-4,
        initial={"u(hub, 1)": 8, "u(wheel)": -50},
        parameters={"a": 0.6, "mu": 0.7, "s_y": 0.5},
    )
    energy = run["energy"] + run["t_stored"]
    assert np.diff(energy).max() < 1e-9 * energy[0]
    assert energy[-1] < 0.9 * energy[0]


def test_wheel_in_the_air_forgets_its_deflection(sim):
    run = sim.simulate(
        t_end=0.15, initial={"q(hub, 2)": 0.6, "u(hub, 1)": 8, "t_ex": 0.01, "t_ey": 0.02}
    )
    assert run["t_load"].max() == 0 and abs(run["t_fy"]).max() == 0
    assert abs(run["t_ex"][-1]) < 1e-9 and abs(run["t_ey"][-1]) < 1e-9


@pytest.mark.campaign
def test_programs_in_c_and_python_agree_over_rough_ground():
    s = bc.System("wheel", axes="ISO 8855")
    hub = s.add_body("hub", translate=(1, 2, 3), rotate=3, mass=M, inertia=(5, 5, 5))
    wheel = s.add_body("wheel", hub, rotate=2, mass=0, inertia=(1, 1, 1))
    s.add_gravity()
    slip = bc.Slip(12, 9, relaxation=(0.2, 0.4), friction=0.9, per_load=True)
    s.add_contact(
        "t",
        at=hub,
        radius=RIM,
        terrain=bc.vehicles.terrain.course(),
        tyre=bc.Tyre(K, 3000, slip),
        wheel="wheel",
    )
    start = {
        "q(hub, 1)": 22,
        "q(hub, 3)": 0.7,
        "u(hub, 1)": 15,
        "u(hub, 2)": 2,
        "u(wheel)": 20,
        "q(hub, 4)": 0.1,
    }
    runs = [
        s.equations().compile(backend=b).simulate(t_end=0.8, step=0.002, initial=start)
        for b in BACKENDS
    ]
    assert runs[0]["t_load"].max() > M * G
    for channel in ("q(hub, 1)", "q(hub, 2)", "u(wheel)", "t_fx", "t_fy"):
        assert runs[0][channel] == pytest.approx(
            runs[1][channel], rel=1e-8, abs=1e-8 * abs(runs[0][channel]).max()
        )
    assert wheel.name == "wheel"


@pytest.mark.campaign
def test_check_passes_with_slip_and_finds_wrong_equations(equations):
    """The check puts smooth functions in place of the ground, no farther away than 0.7 m: a large
    wheel is always in contact, and on slippery ground it slides in some states."""
    options = {"states": 4, "run": False, "parameters": {"r": 1.0, "mu": 0.05}, "backend": "python"}
    report = bc.check(towed(), equations=equations, **options)
    assert report.passed, str(report)
    for place in places(equations.program)[5::14]:
        wrong = spoiled(equations, place)
        assert not bc.check(towed(), equations=wrong, **options).passed or not acts(
            towed(), equations, wrong
        ), place


@pytest.mark.parametrize(
    ("slip", "message"),
    [
        (bc.Slip(30e3, 20e3, friction=0), r"slip: friction=0 must be positive"),
        (bc.Slip(30e3, -1), r"slip: cornering=-1 must be positive"),
        (bc.Slip(-2.0), r"slip: longitudinal=-2.0 must be positive"),
        (bc.Slip(None), r"slip: longitudinal=None must be positive"),
        (bc.Slip(30e3, relaxation=0), r"slip: relaxation=0 must be positive"),
        (
            bc.Slip(30e3, relaxation=(0.1, float("nan"))),
            r"slip: relaxation=\(0.1, nan\) must be positive",
        ),
        (bc.Slip(30e3, relaxation=(1, 2, 3)), "one length or two"),
        (bc.Slip(30e3, damping=-1), "damping=-1 must be zero or positive"),
        (30e3, "must be a bc.Slip"),
    ],
)
def test_bad_slip(slip, message):
    with pytest.raises(bc.ModelError, match=message):
        towed(slip)


def test_slip_needs_a_wheel_and_no_force_that_drives():
    s = bc.System("bad", axes="ISO 8855")
    hub = s.add_point_mass("hub", translate=(1, 3), mass=1)
    with pytest.raises(bc.ModelError) as found:
        s.add_contact(
            "c",
            at=hub,
            radius=1,
            terrain=bc.vehicles.terrain.flat(),
            tyre=bc.Tyre(-1, 0, bc.Slip(1, friction=-1)),
            drive="f",
        )
    text = str(found.value)
    assert (
        "stiffness=-1 must be zero or positive" in text and "friction=-1 must be positive" in text
    )
    assert "needs the body that turns" in text and "driven by a moment" in text
