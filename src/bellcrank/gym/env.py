"""A model as an environment of Gymnasium."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

from bellcrank.api.simulation import Simulation
from bellcrank.core.errors import ModelError, RunError, did_you_mean
from bellcrank.gym.task import ControlTask

RENDER_MODES = ["rgb_array", "human"]
SINGLE = np.dtype(np.float32)  # of observations


def make_spaces(task: ControlTask) -> tuple[Any, Any]:
    """The spaces of observations and actions."""
    low, high = (
        np.nextafter(np.float32(x), np.float32(s))
        for x, s in zip(task.observation_bounds, (-np.inf, np.inf))
    )
    observations = gymnasium.spaces.Box(low, high, dtype=np.float32)
    if task.choices is not None:
        return observations, gymnasium.spaces.Discrete(len(task.choices))
    low, high = task.bounds
    return observations, gymnasium.spaces.Box(
        low.astype(np.float32), high.astype(np.float32), dtype=np.float32
    )


def check_render_mode(mode: str | None) -> str | None:
    """A mode of rendering, if there is such."""
    if mode is not None and mode not in RENDER_MODES:
        listed = ", ".join(f"'{m}'" for m in RENDER_MODES)
        suggestion = did_you_mean(str(mode), RENDER_MODES)
        raise ModelError(
            f"render_mode={mode!r} is not known; it is None or one of {listed}.{suggestion}"
        )
    return mode


def make_metadata(h: float, task: ControlTask, **extra: Any) -> dict[str, Any]:
    """Ways to render, and frames per second at which an episode is shown in real time."""
    return {
        "render_modes": RENDER_MODES,
        "render_fps": max(1, round(1.0 / (h * task.every))),
        **extra,
    }


class ModelEnv(gymnasium.Env):
    """An episode is a run, step by step; `stepper` is what takes the steps.

    A step that fails ends the episode at the last good state, an event that stops the run where it
    happens;
    `info["problem"]` reports why. `again` makes another one with a mode of rendering.
    """

    metadata = {"render_modes": RENDER_MODES}

    def __init__(
        self,
        sim: Simulation,
        task: ControlTask,
        render_mode: str | None = None,
        size: tuple[int, int] = (640, 400),
        remake: Callable[..., Any] | None = None,
    ) -> None:
        self.task, self.size, self.render_mode = task, size, check_render_mode(render_mode)
        self.observation_space, self.action_space = make_spaces(task)
        self.stepper = sim.stepper(**task.median_values)
        self.metadata = make_metadata(self.stepper.h, task)
        self._window: Any = None
        if remake is not None:
            self.spec = EnvSpec(
                f"bellcrank/{_env_identifier(sim.interface.model)}-v0", entry_point=remake
            )
            self.spec.kwargs = {"render_mode": render_mode}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        drawn = self.task.draw_episode(self.np_random, options or {})
        self.stepper.reset(**drawn)
        self.task.use_parameters(drawn["parameters"])
        rows = self.stepper.row[None, :]
        if self.render_mode == "human":
            self._show_window()
        return self.task.observe(rows)[0], {"t": self.stepper.t}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        task, st = self.task, self.stepper
        st.set_constant_inputs(task.inputs, task.input_values(action))
        try:
            st.step(task.every)
        except RunError:
            if not st.problem:
                raise
        row, problem = st.row, st.problem
        numbers = row.tolist()
        t = numbers[0]
        outcome = None if problem else task.single.evaluate_row(numbers)
        if outcome is None:
            rows = row[None, :]
            observation, reward = task.observe(rows)[0], float(task.reward(rows).reshape(-1)[0])
            terminated = bool(problem) or bool(task.is_over(rows)[0])
        else:
            observation, reward, terminated = (
                np.array(outcome[0], SINGLE),
                float(outcome[1]),
                outcome[2],
            )
        if self.render_mode == "human":
            self._show_window()
        info = {"problem": problem, "t": t} if problem else {"t": t}
        return observation, reward, terminated, t >= task.truncation_time, info

    def render(self) -> np.ndarray | None:
        """The present state as an image, (height, width, 3); with `render_mode="human"` a window
        shows it."""
        if self.render_mode == "human":
            self._show_window()
            return None
        return self.stepper.image(*self.size) if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Closes the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def _show_window(self) -> None:
        if self._window is None:
            from bellcrank.gym.window import ImageWindow

            self._window = ImageWindow(self.stepper.h * self.task.every)
        if self._window.visible:
            self._window.show_image(self.stepper.image(*self.size))


def _env_identifier(name: str) -> str:
    """A name as identifiers of environments may be."""
    words = "".join(c if c.isalnum() and c.isascii() else " " for c in name).split()
    return "".join(w[:1].upper() + w[1:] for w in words) or "Model"
