"""Runs of constrained examples obey what must hold for all of them: closed loops, energy, order of
the method, redundant rows."""

import numpy as np
import pytest
from cases import compiled, loop_residuals

from tests.models import rarely, system

LOOPS = {  # example: arguments, seconds of a long run
    "four_bar": ({}, 10),
    "slider_crank": ({}, 10),
    "whipple_bicycle": ({}, 10),
    "andrews_squeezer": ({}, 0.06),  # the motor drives it ever faster: 2000 rad/s by then
    "n_four_bar": ({"n": 2}, 10),
    "sarrus_linkage": ({}, 10),
    "change_point_four_bar": ({}, 10),
}


def small(name):
    return compiled(name, **LOOPS.get(name, ({},))[0])


@pytest.mark.parametrize(
    "name", rarely(LOOPS, ("whipple_bicycle", "n_four_bar", "andrews_squeezer"))
)
def test_loops_stay_closed(name):
    sim = small(name)
    run = sim.simulate(t_end=LOOPS[name][1], output_every=20)
    assert run.ended == "finished"
    assert loop_residuals(sim, run).max() < 1e-10


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("four_bar", "DOP853"),
        pytest.param("four_bar", "Radau", marks=pytest.mark.campaign),
        ("four_bar", "LSODA"),
        ("change_point_four_bar", "dop853"),
        ("change_point_four_bar", "radau5"),
    ],
)
def test_adaptive_methods_keep_loops_closed(name, method):
    """The second passes a position where two branches cross; the fine fixed-step run stays on the
    same one."""
    sim = small(name)
    fine = sim.simulate(t_end=2, step=5e-4, method="rk4")
    run = sim.simulate(t_end=2, step=0.05, method=method)
    assert loop_residuals(sim, run).max() < 1e-10
    for q in sim.interface.coordinates:
        assert abs(run[q.name][-1] - fine[q.name][-1]) < 1e-4


FRICTIONLESS = {  # without its dampers: parameters, seconds, fraction of the largest kinetic energy
    "slider_crank": ({"c": 0.0}, 2, 1e-7),
    "whipple_bicycle": ({}, 5, 1e-8),
    "n_four_bar": ({}, 5, 1e-5),
    "rolling_disc": ({}, 5, 1e-8),
    "rolling_coin": ({}, 5, 1e-8),
}


@pytest.mark.parametrize("name", rarely(FRICTIONLESS, ("whipple_bicycle", "n_four_bar")))
def test_energy_is_conserved_without_friction(name):
    parameters, t_end, limit = FRICTIONLESS[name]
    run = small(name).simulate(t_end=t_end, parameters=parameters)
    assert run["kinetic"].max() > 0
    assert np.ptp(run["energy"]) < limit * run["kinetic"].max()


def four_bar_energy(sim, run, k=10000.0):
    """Kinetic energy, that of gravity and of the spring, from positions alone: speeds of B by its
    constraint and its angle."""
    x0 = np.hypot(0.5 - 0.3, 0.1 - 0.5)
    b = run["q(a)"] + run["q(b)"]
    px, py = 0.5 * np.cos(run["q(a)"]), 0.5 * np.sin(run["q(a)"])
    s1 = px - 0.1 * np.sin(b), py + 0.1 * np.cos(b)
    vx = -py * run["u(a)"] - 0.2 * np.cos(b) * (run["u(a)"] + run["u(b)"])
    vy = px * run["u(a)"] - 0.2 * np.sin(b) * (run["u(a)"] + run["u(b)"])
    kinetic = 0.5 * 10 * (vx**2 + vy**2) + 0.5 * (run["u(a)"] + run["u(b)"]) ** 2
    spring = 0.5 * k * (np.hypot(s1[0] - 0.3, s1[1] - 0.5) - x0) ** 2
    return kinetic + spring + 10 * 9.80665 * (py + 0.2 * np.cos(b))


def test_four_bar_with_massless_links_keeps_energy_without_its_damper():
    sim = compiled("four_bar")
    run = sim.simulate(t_end=10, step=0.001, method="rk4", output_every=10, parameters={"d": 0.0})
    energy = four_bar_energy(sim, run)
    assert np.ptp(energy) < 1e-5 * (energy.max() - 10 * 9.80665 * 0.2)


@pytest.mark.campaign
def test_massless_links_are_the_limit_of_light_ones():
    """Accelerations with massless links A and C, and with links whose mass goes to zero."""
    sim, heavy = compiled("four_bar"), compiled("four_bar", massive=True)
    q, u = sim.assemble({"q(a)": -0.3, "u(a)": 2.0})
    expected = sim.derivatives(0.0, q, u)[1]
    gaps = []
    for size in (1e-3, 1e-4):
        found = heavy.derivatives(0.0, q, u, parameters={"lm": 2 * size, "li33": 0.04 * size})[1]
        gaps.append(abs(found - expected).max() / abs(expected).max())
    assert gaps[0] < 1e-3
    assert gaps[0] / gaps[1] == pytest.approx(10, rel=0.01)


ORDERS = {  # example: seconds, coarsest step
    "four_bar": (0.4, 0.008),
    "slider_crank": (0.4, 0.004),
    "whipple_bicycle": (1.0, 0.02),
    "sarrus_linkage": (0.4, 0.01),
    "andrews_squeezer": (0.01, 4e-5),
}


@pytest.mark.parametrize("name", rarely(ORDERS, ("whipple_bicycle",)))
def test_halving_the_step_shows_fourth_order(name):
    t_end, step = ORDERS[name]
    sim = small(name)

    def path(k):
        run = sim.simulate(t_end=t_end, step=step / k, method="rk4", output_every=k)
        return np.array([run[x.name] for x in sim.interface.coordinates])

    reference = path(32)
    errors = np.array([abs(path(k) - reference).max() for k in (1, 2, 4)])
    assert np.log2(errors[:-1] / errors[1:]) == pytest.approx([4, 4], abs=0.4)


# ---- redundant rows


def four_bar(s):
    s.add_loop_joint("loop", between=("bp", "cp"), directions=("[n1]",))


def slider_crank(s):
    s.add_constraint("dot(pos(end), [n2])")


def whipple_bicycle(s):
    s.add_constraint(
        "dot(vel(fw.origin) + cross(rot(fw), r_f*direction(project([n3], [fork2]))), [n3])"
    )


def andrews_squeezer(s):
    s.add_loop_joint("loop_2", between=("p3", "p4"), directions=("[n1]", "[k72]"))


def n_four_bar(s):
    s.add_loop_joint("loop_3", between=("e1", "p1"), directions=("[a01]",))


def sarrus_linkage(s):
    s.add_constraint("dot([top1], [n3])")


def change_point_four_bar(s):
    s.add_loop_joint("loop_4", between=("p", "r"), directions=("[b1] + 2*[c2]",))


def cart(s):
    s.add_constraint("dot([b2], vel(lrw.origin) + vel(rrw.origin))")


def rolling_disc(s):
    s.add_constraint("dot(vel(disc.origin) + cross(rot(disc), -r*[lean3]), [yaw1] - 3*[yaw2])")


def rolling_coin(s):
    s.add_constraint("dot(vel(coin.origin) + cross(rot(coin), -r*[n3]), [n1])")


REDUNDANT = [
    slider_crank,
    cart,
    rolling_coin,
    change_point_four_bar,
    *(
        pytest.param(add, marks=pytest.mark.campaign)
        for add in (four_bar, n_four_bar, whipple_bicycle, andrews_squeezer)
    ),
    *(pytest.param(add, marks=pytest.mark.campaign) for add in (sarrus_linkage, rolling_disc)),
]


@pytest.mark.campaign
@pytest.mark.parametrize("add", REDUNDANT, ids=lambda add: add.__name__)
def test_redundant_row_changes_nothing(add):
    name = add.__name__
    plain = small(name)
    s = system(name, **LOOPS.get(name, ({},))[0])
    add(s)
    eom = s.equations()
    assert len(eom.independent_speeds) == len(plain.derived.analysis.independent_speeds)
    assert len(eom.notes) > len(plain.derived.analysis.notes)
    t_end = {"andrews_squeezer": 0.01}.get(name, 0.4)
    # a row that repeats others by factors that vary changes stages off the constraints and the
    # speed that is independent, and with them the result by a fraction of the error of the method
    settings = {"four_bar": {"step": 0.000625, "method": "rk4"}}.get(name, {})
    runs = [sim.simulate(t_end=t_end, **settings) for sim in (plain, eom.compile())]
    for state in (*eom.coordinates, *eom.speeds):
        a, b = (run[state.name] for run in runs)
        assert abs(a - b).max() <= 1e-9 * max(1.0, abs(a).max()), state.name
