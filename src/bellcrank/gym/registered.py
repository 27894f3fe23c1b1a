"""Environments under names of Gymnasium's registry: gymnasium.make("bellcrank/CartPole-v0").

The import of this module registers them: Gymnasium 1.0 and later looks for no entry points of
packages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import gymnasium

from bellcrank.api.simulation import Simulation
from bellcrank.api.system import System
from bellcrank.core.errors import ModelError
from bellcrank.gym import make
from bellcrank.simulation.many.random import uniform

FREE = 1e6  # bounds of what is not limited by the end of an episode


@dataclass(frozen=True)
class RegisteredEnv:
    """An environment by name: how its model is described, and the task as `make` takes it."""

    model: Callable[[], System]
    task: dict[str, Any] = field(default_factory=dict)


def cart_pole() -> System:
    """A pole on a cart; an angle of zero is upright."""
    s = System("pole on a cart", units="mks", axes="ISO 8855")
    cart = s.add_body("cart", translate=1, mass=1.0, inertia=0)
    pole = s.add_body(
        "pole", parent=cart, rotate=2, cm=(0, 0, "l"), mass=0.1, inertia=(0, "0.1*l**2/3", 0)
    )
    s.add_input("force", units="F", label="force on the cart", default=0)
    s.add_gravity()
    s.add_force("push", magnitude="force", direction=s.inertial[1], at=cart.origin)
    s.add_moment("friction", magnitude="-c*u(pole)", direction=pole[2], on=pole)
    s.add_shape(body=cart, kind="box", size=(0.4, 0.2, 0.15), at=(0, 0, -0.075))
    s.add_shape(body=pole, kind="box", size=(0.04, 0.04, "2*l"), at=(0, 0, "l"))
    s.set_defaults(l=0.5, c=0.001)
    s.set_run(t_end=10, step=0.005)
    return s


def pendulum() -> System:
    """A rod with a motor that is too weak to lift it at once; an angle of zero is upright."""
    s = System("pendulum with a motor", units="mks", axes="ISO 8855")
    rod = s.add_body("rod", rotate=2, cm=(0, 0, "l/2"), mass=1.0, inertia=(0, "l**2/12", 0))
    s.add_input("torque", units="F*L", label="torque of the motor", default=0)
    s.add_gravity()
    s.add_moment("motor", magnitude="torque", direction=rod[2], on=rod)
    s.add_shape(body=rod, kind="box", size=(0.06, 0.06, "l"), at=(0, 0, "l/2"))
    s.set_defaults(l=1.0)
    s.set_run(t_end=10, step=0.01)
    return s


def active_suspension() -> System:
    """A quarter car with an actuator between wheel and body, on a road of two sines."""
    s = System("quarter car with an actuator", units="mks", axes="ISO 8855")
    wheel = s.add_body("wheel", translate=3, mass=40.0, inertia=0, label="wheel")
    body = s.add_body("body", parent=wheel, translate=3, mass=350.0, inertia=0, label="sprung mass")
    s.add_input("actuator", units="F", label="force of the actuator on the body, up", default=0)
    s.define("road", "0.02*sin(2*pi*1.2*t) + 0.005*sin(2*pi*9*t)")
    vertical = s.inertial[3]
    s.add_force(
        "strut",
        magnitude="-18e3*q(body) - 1200*u(body) + actuator",
        direction=vertical,
        at=body.origin,
        against=wheel.origin,
    )
    s.add_force("tyre", magnitude="180e3*(road - q(wheel))", direction=vertical, at=wheel.origin)
    s.add_output(
        "az", "dot(dxdt(vel(body.origin)), [n3])", label="acceleration of the body", units="L/T**2"
    )
    s.add_output("tyre_deflection", "road - q(wheel)", label="deflection of the tyre", units="L")
    s.set_run(t_end=10, step=0.001)
    return s


ENVIRONMENTS = {
    "CartPole-v0": RegisteredEnv(
        cart_pole,
        {
            "actions": {"force": (-20, 20)},
            "observations": {
                "q(cart)": (-6, 6),
                "q(pole)": (-1.4, 1.4),
                "u(cart)": (-FREE, FREE),
                "u(pole)": (-FREE, FREE),
            },
            "reward": "1 - 0.1*q(cart)**2 - q(pole)**2 - 0.0001*force**2",
            "done": ["abs(q(pole)) > 0.7", "abs(q(cart)) > 3"],
            "initial": {"q(pole)": uniform(-0.1, 0.1), "q(cart)": uniform(-0.5, 0.5)},
            "action_every": 4,
        },
    ),
    "Pendulum-v0": RegisteredEnv(
        pendulum,
        {
            "actions": {"torque": (-2, 2)},
            "observations": {
                "sin(q(rod))": (-1, 1),
                "cos(q(rod))": (-1, 1),
                "u(rod)": (-FREE, FREE),
            },
            "reward": "cos(q(rod)) - 0.02*u(rod)**2 - 0.001*torque**2",
            "initial": {"q(rod)": uniform(2.64, 3.64)},
            "action_every": 5,
        },
    ),
    "ActiveSuspension-v0": RegisteredEnv(
        active_suspension,
        {
            "actions": {"actuator": (-1500, 1500)},
            "observations": {
                "q(body)": (-1, 1),
                "u(body)": (-FREE, FREE),
                "q(wheel)": (-1, 1),
                "u(wheel)": (-FREE, FREE),
                "tyre_deflection": (-1, 1),
            },
            "reward": "-az**2 - 1e4*tyre_deflection**2 - 1e-7*actuator**2",
            "done": "abs(q(body)) > 0.15",
            "initial": {"q(body)": uniform(-0.02, 0.02)},
            "action_every": 5,
        },
    ),
}
"""By their names behind "bellcrank/"."""


@cache
def _compiled_model(name: str) -> Simulation:
    """A model, compiled once for all environments."""
    return ENVIRONMENTS[name].model().equations().compile()


def make_env(name: str, render_mode: str | None = None, **task_options: Any) -> Any:
    """An environment by its name behind "bellcrank/"; keywords replace those of its task."""
    if name not in ENVIRONMENTS:
        raise ModelError(f"no environment is called {name!r}; there are {', '.join(ENVIRONMENTS)}")
    return make(
        _compiled_model(name),
        **{**ENVIRONMENTS[name].task, **task_options},
        render_mode=render_mode,
    )


def make_vector_env(
    name: str, num_envs: int = 1, render_mode: str | None = None, **task_options: Any
) -> Any:
    """A vector of such environments: `gymnasium.make_vec(...,
    vectorization_mode="vector_entry_point")`."""
    return make_env(name, render_mode, **task_options, n=num_envs)


for _name in ENVIRONMENTS:
    gymnasium.register(
        f"bellcrank/{_name}",
        entry_point=f"{__name__}:make_env",
        vector_entry_point=f"{__name__}:make_vector_env",
        kwargs={"name": _name},
    )
