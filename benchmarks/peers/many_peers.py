"""RK4 steps per second of many runs by others, one core each: MuJoCo's rollout, jax with our
statements, CasADi's map.

Models are trees that `benchmarks/rhs.py` knows in other formats. The first run of each is held
against ours before anything is timed.
"""

import importlib.util
import os
import time

import numpy as np
from array_rates import rates_of, rk4

REPEATS, ALIKE = 3, 1e-6


def others(case, sim, runs, steps, h):
    """Steps per second by name; a sentence for what is not installed."""
    x = states(sim, runs)
    alone = sim.simulate(
        t_end=steps * h, step=h, method="rk4", initial=(x[: len(x) // 2, 0], x[len(x) // 2 :, 0])
    )
    names = [s.name for s in sim.interface.states]
    last = np.array(
        [
            s.unit.to_equation_units(alone[n][-1])
            for s, n in zip(sim.interface.states, names, strict=True)
        ]
    )
    found = {}
    for name, package, make in (
        ("MuJoCo rollout", "mujoco", by_mujoco),
        ("jax", "jax", by_jax),
        ("CasADi map", "casadi", by_casadi),
    ):
        if importlib.util.find_spec(package) is None:
            found[name] = f"the package {package} is not installed"
            continue
        run = make(case, sim, x, steps, h)
        error = np.abs(run()[:, 0] - last).max() / np.abs(last).max()
        assert error < ALIKE, f"{name} differs by {error:.1e}"
        times = []
        for _ in range(REPEATS):
            began = time.process_time()
            run()
            times.append(time.process_time() - began)
        found[name] = runs * steps / min(times)
    return found


def states(sim, runs):
    """States at the beginning, each a row over runs."""
    q, u = sim.assemble(None)
    x = np.repeat(np.concatenate([q, u])[:, None], runs, axis=1)
    x[0] += 1e-3 * np.arange(runs) / runs
    return x


def tree_of(case, sim):
    from rhs import CASES, links_of, mujoco_text

    _, _, gravity, springs = CASES[case]
    links = links_of(sim.loaded, springs)
    return links, gravity, mujoco_text


def by_mujoco(case, sim, x, steps, h):
    import mujoco
    from mujoco import rollout

    links, gravity, text = tree_of(case, sim)
    option = f'<option integrator="RK4" timestep="{h!r}" '
    model = mujoco.MjModel.from_xml_string(text(links, gravity).replace("<option ", option))
    data = mujoco.MjData(model)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    first = np.zeros((x.shape[1], mujoco.mj_stateSize(model, kind)))
    first[:, 1 : 1 + len(x)] = x.T

    def run():
        state, _ = rollout.rollout(model, data, first, nstep=steps)
        return state[:, -1, 1 : 1 + len(x)].T

    return run


def by_jax(case, sim, x, steps, h):
    os.environ.setdefault(
        "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    )
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    advance = rk4(rates_of(sim.derived.program, sim.parameter_values(), jnp), h)
    whole = jax.jit(lambda y: jax.lax.fori_loop(0, steps, lambda _, y: advance(y), y))
    return lambda: np.asarray(whole(jnp.asarray(x)))


def by_casadi(case, sim, x, steps, h):
    import casadi as ca
    from casadi_crba import forward_dynamics

    links, gravity, _ = tree_of(case, sim)
    f, n = forward_dynamics(links, gravity), len(x) // 2
    y = ca.SX.sym("y", 2 * n)

    def rates(y):
        return ca.vertcat(*f(y[:n], y[n:]))

    step = ca.Function("step", [y], [rk4(rates, h)(y)])
    many = step.mapaccum(steps).map(x.shape[1])
    return lambda: np.asarray(many(ca.DM(x)))[:, steps - 1 :: steps]
