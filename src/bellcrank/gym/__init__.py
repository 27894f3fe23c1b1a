"""Models as environments of Gymnasium, for those who learn or tune controllers.

`bc.gym.make` gives an environment, or with `n` a vector of them. Needs the package gymnasium
(`bellcrank[gym]`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bellcrank.api.simulation import Simulation
from bellcrank.api.system import System
from bellcrank.choices import Method
from bellcrank.core.errors import ModelError, optional_package
from bellcrank.gym.task import Actions, ControlTask, Done, Observations, Reward

__all__ = ["make"]


def make(
    model: Any,
    actions: Actions,
    *,
    observations: Observations = None,
    reward: Reward = 1.0,
    done: Done = (),
    t_end: float | None = None,
    step: float | None = None,
    action_every: int = 1,
    parameters: Mapping[str, Any] | None = None,
    initial: Mapping[Any, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    method: Method | None = None,
    n: int | None = None,
    guess: Mapping[Any, float | str] | None = None,
    render_mode: str | None = None,
    size: tuple[int, int] = (640, 400),
) -> Any:
    """Make an environment of Gymnasium from a model.

    Parameters
    ----------
    model : path, System, Equations or Simulation
        The model.
    actions : mapping or sequence
        Inputs with their bounds, ``{"force": (-10, 10)}``, or settings to choose from, ``[{"force":
        -10}, {"force": 10}]``.
    observations : sequence or mapping, optional
        Channels, or formulas of channels and parameters; a mapping has their bounds. Default: all
        states.
    reward : str, float or callable, default 1.0
        Formula, number, or function of the channels by name.
    done : str, sequence of str or callable, optional
        Comparisons that end an episode, or a function of the channels. Default: none.
    t_end : float, optional
        Time in s at which an episode is truncated. Default: that of the model.
    step : float, optional
        Time step in s. Default: that of the model.
    action_every : int, default 1
        Number of steps for which an action holds.
    parameters, initial : mapping, optional
        Numbers, or distributions (`bc.random.uniform(a, b)`) from which each episode draws.
    inputs : mapping, optional
        Inputs that are no actions, as of `simulate`.
    method : str, optional
        Method of integration, as of `simulate`.
    n : int, optional
        Number of environments, computed on all cores. Default: a single one.
    guess : mapping, optional
        Values by state from which the assembly of closed loops starts.
    render_mode : {"rgb_array", "human"}, optional
        Draw images, or a window. Default: neither.
    size : pair of int, default (640, 400)
        Width and height of an image in pixels.

    Returns
    -------
    gymnasium.Env or gymnasium.vector.VectorEnv
        The environment, a vector of them with `n`.

    Raises
    ------
    ModelError
        If a name or value is wrong.
    RunError
        If gymnasium is not installed.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("cart")
    >>> cart = s.add_body("cart", translate="x", mass=2, inertia=0)
    >>> push = s.add_input("push", units="N", default=0)
    >>> motor = s.add_force("motor", magnitude=push, direction=s.inertial.x, at=cart.origin)
    >>> env = bc.gym.make(s, {"push": (-10, 10)}, reward="-q(cart)**2", t_end=1, step=0.1)
    >>> state, info = env.reset(seed=1)
    >>> state, reward, terminated, truncated, info = env.step([4.0])
    >>> state.tolist()[1] > 0, terminated
    (True, False)
    """
    optional_package("gymnasium", "gym")
    from bellcrank.gym import env, vector

    sim = _compile_model(model)
    options: dict[str, Any] = {
        "actions": actions,
        "observations": observations,
        "reward": reward,
        "done": done,
        "t_end": t_end,
        "step": step,
        "action_every": action_every,
        "parameters": parameters,
        "initial": initial,
        "inputs": inputs,
        "method": method,
        "guess": guess,
    }
    task = ControlTask.from_options(sim.interface, **options)
    if n is not None:
        return vector.ModelVectorEnv(sim, task, n, render_mode, size)

    def env_factory(render_mode: str | None = None) -> Any:
        return make(sim, **options, render_mode=render_mode, size=size)

    return env.ModelEnv(sim, task, render_mode, size, env_factory)


def stable_baselines(envs: Any) -> Any:
    """A vector of environments for Stable-Baselines3, which begins the next episode within the step
    that ends one.

    Parameters
    ----------
    envs : gymnasium.vector.VectorEnv
        What ``make(..., n=...)`` returns.

    Returns
    -------
    stable_baselines3.common.vec_env.VecEnv
        The same environments. In the infos of a step that ends an episode, `terminal_observation`
        holds what was seen last, and `TimeLimit.truncated` whether it was cut at `t_end`.

    Raises
    ------
    RunError
        If the package stable-baselines3 is missing.
    """
    optional_package("stable_baselines3", "rl")
    from bellcrank.gym.stable_baselines import StableBaselinesVecEnv

    return StableBaselinesVecEnv(envs)


def _compile_model(model: Any) -> Simulation:
    """A model in any of its forms, compiled."""
    if isinstance(model, str | Path):
        model = System.read(model)
    if callable(getattr(model, "equations", None)):
        model = model.equations()
    if callable(getattr(model, "compile", None)):
        model = model.compile()
    if not isinstance(model, Simulation):
        expected = "a file with a model, a System, its equations or a simulation"
        raise ModelError(f"gym.make({model!r}): it takes {expected}")
    return model


def __dir__() -> list[str]:
    return sorted(__all__)
