"""Laws the derived equations must obey, whatever form they have."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanics.dynamics.accelerations import PASSES
from tests.helpers import NAMES, inputs, random_state, simulation, values_at
from tests.models import example, rarely, system

TREES = [n for n in NAMES if not n.startswith(("passenger", "cart")) and not n.endswith("_small")]


@pytest.mark.parametrize("name", rarely(TREES, ("n_link_chain",)))
def test_mass_matrix_agrees_with_kinetic_energy(name):
    s = system(name)
    s.add_outputs("energy")
    eom = s.equations(optimise="none")
    q, u = random_state(eom, name)
    n = len(u)
    M = np.array(values_at(eom, [x for row in eom.mass_matrix for x in row], q, u)).reshape(n, n)
    kinetic = simulation(eom).outputs(0.0, q, u, inputs=inputs(eom))["kinetic"]
    assert 0.5 * u @ M @ u == pytest.approx(kinetic, rel=1e-12)
    assert np.linalg.eigvalsh(M).min() > 0


@pytest.mark.parametrize(
    "name", rarely([n for n in NAMES if not n.endswith("_small")], ["n_link_chain", "spacecraft_1"])
)
def test_accelerations_solve_the_mass_matrix(name):
    eom = example(name)
    q, u = random_state(eom, name)
    n = len(u)
    M = np.array(values_at(eom, [x for row in eom.mass_matrix for x in row], q, u)).reshape(n, n)
    f = np.array(values_at(eom, eom.forces, q, u))
    _, udot = simulation(eom).derivatives(0.0, q, u, inputs=inputs(eom))
    assert M @ udot == pytest.approx(f, rel=1e-9, abs=1e-9 * abs(f).max())


@pytest.mark.parametrize("left_out", PASSES)
@pytest.mark.parametrize(
    "name",
    rarely(["stanford_arm", "spacecraft_2", "passenger_car"], ("spacecraft_2", "stanford_arm")),
)
def test_no_pass_changes_the_motion(name, left_out):
    plain, full = system(name).equations(without=(left_out,)), example(name)
    q, u = random_state(full, name)
    expected = np.concatenate(simulation(full).derivatives(0.0, q, u))
    got = np.concatenate(simulation(plain).derivatives(0.0, q, u))
    assert got == pytest.approx(expected, rel=1e-10, abs=1e-10 * abs(expected).max())


def test_inertia_about_a_tilted_axis_goes_to_a_parent_that_carries_no_translation():
    """A part with speeds of its own origin, turned against the axes of what it is hinged to."""
    s = bc.System("part on a swing", units="mks")
    s.add_body("swing", rotate=3, mass=2, cm=(0.3, 0, 0), inertia=(0.2, 0.3, 0.4))
    s.add_body(
        "part", parent="swing", translate=(1, 2, 3), rotate=1, joint_at=(0.5, 0.1, 0), mass=1, cm=(0, 0.1, 0.2),
        inertia=(0.05, 0.06, 0.07), orientation=((3, 0.4), (2, 0.7)),
    )  # fmt: skip
    s.add_gravity(direction="-[n2]")
    q, u = [0.3, 0.1, -0.2, 0.15, 0.8], [0.7, 0.4, -0.3, 0.2, 1.1]
    plain, full = (
        np.concatenate(
            s.equations(without=left_out).compile(backend="python").derivatives(0.0, q, u)
        )
        for left_out in (("regroup",), ())
    )
    assert full == pytest.approx(plain, rel=1e-11, abs=1e-11 * abs(plain).max())


def test_unknown_pass_is_named():
    with pytest.raises(bc.ModelError, match=r"'regrup'.*Did you mean 'regroup'"):
        system("stanford_arm").equations(without=("regrup",))


def test_energy_of_the_undamped_pendulum_is_conserved():
    run = example("double_pendulum").compile(backend="python").simulate(t_end=3, step=0.002)
    assert np.ptp(run["energy"]) < 1e-7 * np.ptp(run["kinetic"])


def test_momentum_of_the_free_spacecraft_is_conserved():
    s = system("spacecraft_2")
    s.add_outputs("momentum")
    run = (
        s.equations()
        .compile(backend="python")
        .simulate(t_end=50, step=0.5, method="rk4", output_every=10)
    )
    h = np.array([run[f"h{i}"] for i in (1, 2, 3)])
    assert np.ptp(h, axis=1).max() < 1e-9 * abs(h).max()
    assert max(abs(run[f"p{i}"] - run[f"p{i}"][0]).max() for i in (1, 2, 3)) < 1e-9 * abs(h).max()
