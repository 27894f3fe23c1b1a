"""Several runs of a model as a vector of environments of Gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode

from bellcrank.api.simulation import Simulation
from bellcrank.core.errors import ModelError
from bellcrank.gym.env import RENDER_MODES, check_render_mode, make_metadata, make_spaces
from bellcrank.gym.task import ControlTask


class ModelVectorEnv(gymnasium.vector.VectorEnv):
    """Each environment is one of `ModelEnv` with its own seed, bit-identical; an episode that is
    over is followed by the next one in the step after (`AutoresetMode.NEXT_STEP`). `steppers` take
    the steps."""

    metadata = {"render_modes": RENDER_MODES[:1], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        sim: Simulation,
        task: ControlTask,
        n: int,
        render_mode: str | None = None,
        size: tuple[int, int] = (640, 400),
    ) -> None:
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
            raise ModelError(f"n={n!r} must be a whole number of at least 1")
        if render_mode == "human":
            raise ModelError(
                "render_mode='human' shows one environment; of several take 'rgb_array'"
            )
        self.num_envs, self.task, self.size, self.render_mode = (
            int(n),
            task,
            size,
            check_render_mode(render_mode),
        )
        self.single_observation_space, self.single_action_space = make_spaces(task)
        self.observation_space = gymnasium.vector.utils.batch_space(
            self.single_observation_space, self.num_envs
        )
        self.action_space = gymnasium.vector.utils.batch_space(
            self.single_action_space, self.num_envs
        )
        self.steppers = sim.steppers(self.num_envs, **task.median_values)
        self.metadata = make_metadata(self.steppers.h, task, **ModelVectorEnv.metadata)
        self._rngs: list[np.random.Generator] = [np_random(None)[0] for _ in range(self.num_envs)]
        self._is_over = np.zeros(self.num_envs, dtype=bool)
        self._varied: dict[
            str, np.ndarray
        ] = {}  # parameters that episodes have drawn or were given

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        if isinstance(seed, int | np.integer):
            seed = [int(seed) + i for i in range(self.num_envs)]
        for i, one in enumerate(seed or []):
            if one is not None:
                self._rngs[i] = np_random(one)[0]
        self.begin_episodes(np.arange(self.num_envs), options or {})
        return self.task.observe(self.steppers.rows), {"t": self.steppers.t}

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        task, st, settings = self.task, self.steppers, self.task.input_value_rows(actions)
        if len(settings) != self.num_envs:
            raise ModelError(f"{len(settings)} actions for {self.num_envs} environments")
        st.set({name: settings[:, k] for k, name in enumerate(task.inputs)})
        st.step(task.every)
        finished_before, problems = np.flatnonzero(self._is_over), st.problems
        if len(finished_before):  # what these did in this step does not count
            self.begin_episodes(finished_before, {})
            problems = {i: message for i, message in problems.items() if i not in finished_before}
        rows = st.rows
        terminated = task.is_over(rows)
        terminated[list(problems)] = True
        late = rows[:, 0] >= task.truncation_time
        reward = np.empty(self.num_envs)
        reward[:] = task.reward(rows)
        reward[finished_before], terminated[finished_before], late[finished_before] = (
            0.0,
            False,
            False,
        )
        self._is_over = terminated | late
        info: dict[str, Any] = {"t": rows[:, 0].copy()}
        if problems:
            info["problem"] = np.array(
                [problems.get(i, "") for i in range(self.num_envs)], dtype=object
            )
            info["_problem"] = np.array([i in problems for i in range(self.num_envs)])
        return task.observe(rows), reward, terminated, late, info

    def render(self) -> tuple[np.ndarray, ...] | None:
        """The present states as images, (height, width, 3) each."""
        return tuple(self.steppers.images(*self.size)) if self.render_mode == "rgb_array" else None

    def begin_episodes(self, indices: np.ndarray, options: dict[str, Any]) -> None:
        """Begins episodes of some environments."""
        self._is_over[indices] = False
        drawn = [self.task.draw_episode(self._rngs[i], options) for i in indices]
        groups = {
            group: {name: np.array([d[group][name] for d in drawn]) for name in drawn[0][group]}
            for group in drawn[0]
        }
        self.steppers.reset(indices, **groups)
        for name in groups["parameters"]:
            self._varied.setdefault(name, np.full(self.num_envs, self.task.default_parameter(name)))
        for name, column in self._varied.items():
            column[indices] = groups["parameters"].get(name, self.task.default_parameter(name))
        self.task.use_parameters(self._varied)
