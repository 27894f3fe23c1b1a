"""A vector of environments as Stable-Baselines3 takes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

from bellcrank.core.errors import ModelError
from bellcrank.gym.vector import ModelVectorEnv


class StableBaselinesVecEnv(VecEnv):
    """An episode that is over is followed by the next one at once: observations are its first ones,
    and
    `infos[i]["terminal_observation"]` has the last ones of the episode before."""

    def __init__(self, envs: ModelVectorEnv) -> None:
        if not isinstance(envs, ModelVectorEnv):
            raise ModelError(
                f"stable_baselines({envs!r:.60}): it takes what bc.gym.make(..., n=...) returns"
            )
        self.envs = envs
        self._actions: Any = None
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> np.ndarray:
        """Begins an episode of every environment; seeds are those of `seed`, taken once."""
        observations, info = self.envs.reset(
            seed=None if all(s is None for s in self._seeds) else list(self._seeds)
        )
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [{"t": float(t)} for t in info["t"]]
        return np.array(observations)

    def step_async(self, actions: np.ndarray) -> None:
        """Notes the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Takes the step; observations, rewards, ends and infos."""
        observations, reward, terminated, late, info = self.envs.step(self._actions)
        infos: list[dict[str, Any]] = [{"t": float(t)} for t in info["t"]]
        for i in np.flatnonzero(info.get("_problem", np.zeros(self.num_envs, dtype=bool))):
            infos[i]["problem"] = info["problem"][i]
        dones = terminated | late
        finished = np.flatnonzero(dones)
        if len(finished):
            for i in finished:
                infos[i]["terminal_observation"] = observations[i].copy()
                infos[i]["TimeLimit.truncated"] = bool(late[i] and not terminated[i])
            self.envs.begin_episodes(finished, {})
            observations = self.envs.task.observe(self.envs.steppers.rows)
        return np.array(observations), reward.astype(np.float32), dones, infos

    def close(self) -> None:
        """Closes the environments."""
        self.envs.close()

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Images of all, with render_mode="rgb_array"."""
        return self.envs.render() or [None] * self.num_envs

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute, the same for each of them."""
        return [getattr(self.envs, attr_name) for _ in self._env_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Sets an attribute, of all of them together."""
        if len(self._env_indices(indices)) < self.num_envs:
            raise ModelError(
                "set_attr: environments of one model share their attributes; give indices=None"
            )
        setattr(self.envs, attr_name, value)

    def env_method(
        self, method_name: str, *args: Any, indices: Any = None, **options: Any
    ) -> list[Any]:
        """Calls a method of all together; what it returns, for each of them."""
        result = getattr(self.envs, method_name)(*args, **options)
        return [result for _ in self._env_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """None of them is."""
        return [False for _ in self._env_indices(indices)]

    def _env_indices(self, indices: Any) -> list[int]:
        positions: Iterable[int] = self._get_indices(indices)
        return list(positions)
