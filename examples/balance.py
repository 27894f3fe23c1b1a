"""Pendulum balanced on a cart: gains of the controller found by random search, compared with LQR.

    python examples/balance.py

Needs gymnasium (`pip install bellcrank[gym]`). Sixty-four environments run at once, each with its
own gains; the best eighth determines where the next are drawn (the cross-entropy method). The
reward is the cost of LQR, so that its gains, from the linearised model and the Riccati equation,
are about the best there are; the last lines print both, and what they cost.
"""

import numpy as np
from scipy.linalg import solve_continuous_are

import bellcrank as bc

STATES = ["q(cart)", "q(pole)", "u(cart)", "u(pole)"]
WEIGHTS = {"q(cart)": 1.0, "q(pole)": 10.0, "u(cart)": 0.1, "u(pole)": 0.1}
EFFORT = 0.01  # of force**2


def pole_on_cart():
    """Two degrees of freedom, SI units; an angle of zero is upright."""
    s = bc.System("pole on a cart", units="mks", axes="ISO 8855")
    cart = s.add_body("cart", translate=1, mass="m_c")
    pole = s.add_body(
        "pole", parent=cart, rotate=2, cm=(0, 0, "l"), mass="m_p", inertia=(0, "i", 0)
    )
    s.add_input("force", units="F", label="force on the cart")
    s.add_gravity()
    s.add_force("push", magnitude="force", direction=s.inertial[1], at=cart.origin)
    s.add_moment("friction", magnitude="-c*u(pole)", direction=pole[2], on=pole)
    s.set_defaults(m_c=1, m_p=0.1, l=0.5, i=0.00833, c=0.001, g=9.81)
    s.set_run(t_end=5, step=0.005, inputs={"force": 0})
    return s


def environments(sim, n=None):
    """Episodes of 5 s; a force holds for 20 ms. The pole begins within 6 degrees of upright."""
    cost = " + ".join(f"{w}*{name}**2" for name, w in WEIGHTS.items())
    return bc.gym.make(
        sim,
        actions={"force": (-20, 20)},
        observations=STATES,
        reward=f"-({cost} + {EFFORT}*force**2)",
        done=["abs(q(pole)) > 0.7", "abs(q(cart)) > 3"],
        initial={"q(pole)": bc.random.uniform(-0.1, 0.1), "q(cart)": bc.random.uniform(-0.5, 0.5)},
        action_every=4,
        n=n,
    )


def costs(envs, gains, seed):
    """What an episode costs with each row of gains; one that falls pays as much for every step that
    is left."""
    seen, _ = envs.reset(seed=[seed] * envs.num_envs)  # the same start for all
    total, falls = np.zeros(envs.num_envs), np.zeros(envs.num_envs, dtype=bool)
    late = np.zeros(envs.num_envs, dtype=bool)
    while not late.any():
        seen, reward, fell, late, _ = envs.step(-np.sum(gains * seen, axis=1, keepdims=True))
        falls |= fell
        total += np.where(falls, 10.0, -reward)
        if falls.all():
            break
    return total


def tuned(envs, rounds=15, best=8, seed=1):
    """Gains by the cross-entropy method."""
    rng = np.random.default_rng(seed)
    mean, spread = np.zeros(4), np.array([5.0, 50.0, 5.0, 10.0])
    for i in range(rounds):
        gains = mean + spread * rng.standard_normal((envs.num_envs, 4))
        found = costs(envs, gains, i) + costs(envs, gains, 1000 + i)
        chosen = gains[np.argsort(found)[:best]]
        mean, spread = chosen.mean(axis=0), chosen.std(axis=0) + 0.3 * spread * 0.7**i
        print(f"round {i + 1:2}: cost of the best {found.min():8.2f}, gains {np.round(mean, 2)}")
    return mean


def lqr(sim):
    """Gains from the linearised model."""
    linear = sim.linearize()
    A, B = linear.A, linear.B
    K = np.linalg.solve(
        [[EFFORT]], B.T @ solve_continuous_are(A, B, np.diag([*WEIGHTS.values()]), [[EFFORT]])
    )
    return K[0]


def main():
    sim = pole_on_cart().equations().compile()
    envs = environments(sim, 64)
    by_trial, by_theory = tuned(envs), lqr(sim)
    tests = environments(sim, 2)
    both = np.array([by_trial, by_theory])
    trial, theory = np.mean([costs(tests, both, 5000 + i) for i in range(20)], axis=0)
    print(f"by trial  {np.round(by_trial, 2)}: cost {trial:.2f}")
    print(f"by theory {np.round(by_theory, 2)}: cost {theory:.2f}")
    return trial, theory


if __name__ == "__main__":
    main()
