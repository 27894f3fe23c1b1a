"""Environments of Gymnasium: registered ones, images, the quick way of single steps,
Stable-Baselines3."""

import sys
import types

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.gym.task import ControlTask

gymnasium = pytest.importorskip("gymnasium", reason="the extra gym is not installed")
from bellcrank.gym import registered  # noqa: E402

FORMULAS = [
    "q(cart)",
    "q(pole)**2",
    "1 - q(cart)**2 - 0.5*u(pole)**2/(1 + abs(u(cart)))",
    "sin(q(pole)) - cos(2*q(pole))",
    "max(q(cart), u(cart)) - min(0.3, u(pole))",
    "sqrt(abs(u(cart)))*l",
    "(q(cart) > 0) + (u(cart) <= 0.1)",
    "-force + atan(u(pole))",
    "q(pole)**3",
    "exp(q(pole))",
    "sign(u(cart))",
]


@pytest.fixture(scope="module")
def cart():
    return registered.cart_pole().equations().compile(backend="python")


def task_of(sim, observations, **given):
    usual = {
        "reward": 1.0,
        "done": (),
        "t_end": 1.0,
        "step": None,
        "action_every": 1,
        "parameters": None,
        "initial": None,
        "inputs": None,
        "method": None,
        "guess": None,
    }
    return ControlTask.from_options(
        sim.interface, actions={"force": (-1, 1)}, observations=observations, **{**usual, **given}
    )


@pytest.mark.parametrize("formula", FORMULAS)
def test_single_rows_give_the_bits_of_arrays(cart, formula):
    """Where a formula has the quick form; `quick` counts those."""
    task = task_of(cart, [formula], reward=formula, done=f"{formula} > 0.2")
    rows = np.random.default_rng(1).normal(size=(200, len(cart.stepper(step=0.01).row)))
    found = [task.single.evaluate_row(row.tolist()) for row in rows]
    assert (found[0] is not None) == (formula not in FORMULAS[-3:])
    for row, look in zip(rows, found, strict=True):
        if look is not None:
            rewards, seen, over = (
                task.reward(row[None]),
                task.observe(row[None]),
                task.is_over(row[None]),
            )
            assert np.array_equal(np.float32(look[0]), seen[0])
            assert look[1] == rewards.reshape(-1)[0] and look[2] == over[0]


def test_a_division_by_zero_is_left_to_arrays(cart):
    env = bc.gym.make(
        cart,
        {"force": (-1, 1)},
        observations=["1/q(cart)"],
        reward="1/(q(cart) - q(cart))",
        t_end=1.0,
    )
    env.reset()
    seen, reward, over, late, _ = env.step(np.array([0.5]))
    assert np.isinf(reward) and np.isfinite(seen[0]) and not over and not late


def test_actions_outside_of_their_bounds_are_clipped_as_in_vectors(cart):
    task = task_of(cart, None)
    for action in (np.float32([0.25]), np.array([3.0]), np.array([-1.0]), [0.5], np.array([1])):
        assert task.input_values(action) == task.input_value_rows(action)[0].tolist()
    for wrong in (np.array([np.nan]), np.array([0.1, 0.2]), np.array([["a"]])):
        with pytest.raises((bc.RunError, ValueError)):
            task.input_values(wrong)


@pytest.mark.parametrize("name", [*registered.ENVIRONMENTS])
@pytest.mark.filterwarnings("ignore:.*symmetric and normalized space.*")
def test_registered_environments_satisfy_gymnasium(name):
    from gymnasium.utils.env_checker import check_env

    env = gymnasium.make(f"bellcrank/{name}", render_mode="rgb_array")
    assert env.spec.id == f"bellcrank/{name}" and np.isfinite(env.observation_space.low).all()
    with pytest.warns(
        bc.ModelWarning, match="render_mode='human' shows nothing: the backend"
    ):  # it tries all modes
        check_env(env.unwrapped)
    seen, _ = env.reset(seed=3)
    first = env.render()
    for _ in range(20):
        seen, reward, over, *_ = env.step(env.action_space.high)
        assert env.observation_space.contains(seen) and np.isfinite(reward)
        if over:
            break
    later = env.render()
    assert first.shape == later.shape == (400, 640, 3) and first.dtype == np.uint8
    assert (first != later).any(axis=2).mean() > 1e-3  # it has moved
    env.close()


def test_vectors_of_registered_environments():
    envs = gymnasium.make_vec(
        "bellcrank/CartPole-v0",
        num_envs=3,
        vectorization_mode="vector_entry_point",
        render_mode="rgb_array",
    )
    one = gymnasium.make("bellcrank/CartPole-v0")
    seen, _ = envs.reset(seed=[5, 6, 7])
    assert np.array_equal(seen[1], one.reset(seed=6)[0])
    images = envs.render()
    assert len(images) == 3 and (images[0] != images[1]).any()
    with pytest.raises(bc.ModelError, match="no environment is called 'CartPole-v9'"):
        registered.make_env("CartPole-v9")


def test_modes_of_rendering(cart):
    with pytest.raises(
        bc.ModelError,
        match="render_mode='rgb' is not known; it is None or one of 'rgb_array', 'human'",
    ):
        bc.gym.make(cart, {"force": (-1, 1)}, render_mode="rgb")
    with pytest.raises(bc.ModelError, match="shows one environment"):
        bc.gym.make(cart, {"force": (-1, 1)}, render_mode="human", n=2)
    env = bc.gym.make(cart, {"force": (-1, 1)}, render_mode="rgb_array", size=(120, 80), t_end=1.0)
    env.reset()
    assert env.render().shape == (80, 120, 3) and env.metadata["render_fps"] == 200
    other = env.spec.make()
    assert other.unwrapped is not env and other.unwrapped.spec.id == "bellcrank/PoleOnACart-v0"
    assert bc.gym.make(cart, {"force": (-1, 1)}).render() is None


class Base:
    """What the adapter takes from the VecEnv of Stable-Baselines3 2.x, without its algorithms."""

    def __init__(self, n, observations, actions):
        self.num_envs, self.observation_space, self.action_space = n, observations, actions
        self._seeds, self._options = [None] * n, [{}] * n

    def _reset_seeds(self):
        self._seeds = [None] * self.num_envs

    def _reset_options(self):
        self._options = [{}] * self.num_envs

    def _get_indices(self, indices):
        return (
            range(self.num_envs)
            if indices is None
            else [indices]
            if isinstance(indices, int)
            else indices
        )


@pytest.fixture
def adapter(monkeypatch):
    """The adapter over the true class, where the package is there."""
    try:
        import stable_baselines3  # noqa: F401
    except ImportError:
        for name in ("", ".common", ".common.vec_env", ".common.vec_env.base_vec_env"):
            monkeypatch.setitem(
                sys.modules,
                f"stable_baselines3{name}",
                types.ModuleType(f"stable_baselines3{name}"),
            )
        sys.modules["stable_baselines3.common.vec_env.base_vec_env"].VecEnv = Base
        monkeypatch.delitem(sys.modules, "bellcrank.gym.stable_baselines", raising=False)
    return bc.gym.stable_baselines


def test_stable_baselines_begins_the_next_episode_at_once(adapter):
    """Observations of a step that ends an episode are the first of the next; the last are in its
    infos. Rewards and observations of the first episodes are those of single environments."""
    envs = adapter(registered.make_vector_env("CartPole-v0", 4, t_end=0.4))
    singles = [gymnasium.make("bellcrank/CartPole-v0", t_end=0.4) for _ in range(4)]
    envs._seeds = [10, 11, 12, 13]
    seen = envs.reset()
    for i, env in enumerate(singles):
        assert np.array_equal(seen[i], env.reset(seed=10 + i)[0])
    push, ended = (
        np.array([[0.0], [20.0], [-20.0], [1.0]], dtype=np.float32),
        np.zeros(4, dtype=bool),
    )
    for _ in range(25):
        envs.step_async(push)
        seen, reward, done, infos = envs.step_wait()
        for i in np.flatnonzero(~ended):
            last, paid, over, late, _ = singles[i].step(push[i])
            assert reward[i] == np.float32(paid) and done[i] == (over or late)
            if done[i]:
                assert np.array_equal(
                    infos[i]["terminal_observation"], last
                ) and not np.array_equal(seen[i], last)
                assert (
                    infos[i]["TimeLimit.truncated"] == (late and not over)
                    and abs(seen[i][1]) <= 0.1
                )
            else:
                assert np.array_equal(seen[i], last) and "terminal_observation" not in infos[i]
        ended |= done
    assert ended.all()
    assert (
        envs.env_is_wrapped(object) == [False] * 4 and len(envs.get_attr("num_envs", [0, 2])) == 2
    )
    with pytest.raises(bc.ModelError, match="share their attributes"):
        envs.set_attr("size", (1, 1), indices=0)
    with pytest.raises(bc.ModelError, match=r"it takes what bc.gym.make\(..., n=...\) returns"):
        adapter(3)
