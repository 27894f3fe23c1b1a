"""A model as an environment of Gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from bellcrank.api.simulation import Simulation
from bellcrank.errors import RunError
from bellcrank.gym.task import Task


def spaces_of(task: Task) -> tuple[Any, Any]:
    """The spaces of observations and actions."""
    low, high = (np.nextafter(np.float32(x), np.float32(s)) for x, s in zip(task.observed_bounds, (-np.inf, np.inf)))
    observations = gymnasium.spaces.Box(low, high, dtype=np.float32)
    if task.choices is not None:
        return observations, gymnasium.spaces.Discrete(len(task.choices))
    low, high = task.bounds
    return observations, gymnasium.spaces.Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)


class ModelEnv(gymnasium.Env):
    """An episode is a run, step by step; `stepper` is what takes the steps.

    A step that fails ends the episode at the last good state, an event that stops the run where it happens;
    `info["problem"]` reports why.
    """

    metadata = {"render_modes": []}

    def __init__(self, sim: Simulation, task: Task) -> None:
        self.task = task
        self.observation_space, self.action_space = spaces_of(task)
        self.stepper = sim.stepper(**task.usual)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        drawn = self.task.draw(self.np_random, options or {})
        self.stepper.reset(**drawn)
        self.task.take(drawn["parameters"])
        rows = self.stepper.row[None, :]
        return self.task.observe(rows)[0], {"t": self.stepper.t}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        task, st = self.task, self.stepper
        st.set(dict(zip(task.inputs, task.settings(action)[0].tolist(), strict=True)))
        info: dict[str, Any] = {}
        try:
            st.step(task.every)
        except RunError:
            if not st.problem:
                raise
        if st.problem:
            info["problem"] = st.problem
        rows = st.row[None, :]
        info["t"] = st.t
        over = bool(st.problem) or bool(task.is_over(rows)[0])
        reward = float(task.reward(rows).reshape(-1)[0])
        return task.observe(rows)[0], reward, over, bool(task.is_late(st.t)), info
