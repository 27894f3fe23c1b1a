"""Models as environments of Gymnasium, for those who learn or tune controllers.

`bc.gym.make` gives an environment, or with `n` a vector of them. Needs the package gymnasium (`bellcrank[gym]`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bellcrank.api.simulation import Simulation
from bellcrank.api.system import System
from bellcrank.choices import Method
from bellcrank.errors import ModelError, optional_package
from bellcrank.gym.task import Actions, Done, Observations, Reward, Task


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
    """An environment (`gymnasium.Env`) of a model: a file, a System, its equations or a simulation.

    `actions`: inputs with their least and greatest values, {"force": (-10, 10)}, or a list of settings to choose from,
    [{"force": -10}, {"force": 10}]. `observations`: channels or formulas over channels and parameters, by default all
    states; or a dictionary of them with bounds. `reward`: a formula, a number, or a function of the channels by name.
    `done`: comparisons that end an episode, or a function; it is truncated at `t_end` (s). An action holds for
    `action_every` steps of `step` s. `parameters` and `initial` are numbers, or distributions
    (`bc.random.uniform(a, b)`) from which every episode draws; `guess` of what closed loops determine holds
    numbers, as of `simulate`. With `n`, a `gymnasium.vector.VectorEnv` of so many, on all cores. `render_mode`:
    "rgb_array" for images of `size` (width, height), "human" for a window.
    """
    optional_package("gymnasium", "gym")
    from bellcrank.gym import env, vector

    sim = _simulation(model)
    asked: dict[str, Any] = {
        "actions": actions, "observations": observations, "reward": reward, "done": done, "t_end": t_end, "step": step,
        "action_every": action_every, "parameters": parameters, "initial": initial, "inputs": inputs, "method": method,
        "guess": guess,
    }  # fmt: skip
    task = Task.of(sim.interface, **asked)
    if n is not None:
        return vector.ModelVectorEnv(sim, task, n, render_mode, size)

    def again(render_mode: str | None = None) -> Any:
        return make(sim, **asked, render_mode=render_mode, size=size)

    return env.ModelEnv(sim, task, render_mode, size, again)


def stable_baselines(envs: Any) -> Any:
    """A vector of environments for Stable-Baselines3, which begins the next episode within the step that ends one.

    Parameters
    ----------
    envs : gymnasium.vector.VectorEnv
        What ``make(..., n=...)`` returns.

    Returns
    -------
    stable_baselines3.common.vec_env.VecEnv
        The same environments. In the infos of a step that ends an episode, `terminal_observation` holds what was seen
        last, and `TimeLimit.truncated` whether it was cut at `t_end`.

    Raises
    ------
    RunError
        If the package stable-baselines3 is missing.
    """
    optional_package("stable_baselines3", "rl")
    from bellcrank.gym.stable_baselines import SameStepEnvs

    return SameStepEnvs(envs)


def _simulation(model: Any) -> Simulation:
    """A model in any of its forms, compiled."""
    if isinstance(model, str | Path):
        model = System.read(model)
    if callable(getattr(model, "equations", None)):
        model = model.equations()
    if callable(getattr(model, "compile", None)):
        model = model.compile()
    if not isinstance(model, Simulation):
        what = "a file with a model, a System, its equations or a simulation"
        raise ModelError(f"gym.make({model!r}): it takes {what}")
    return model
