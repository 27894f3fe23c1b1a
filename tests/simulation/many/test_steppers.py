"""A vector of steppers, and environments of Gymnasium: the bits of single ones, what fails alone,
what is rejected."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from tests.models import needs_compiler
from tests.simulation.run.test_goes_on import driven, equations, four_bar

BALANCE = runpy.run_path(str(Path(__file__).parents[3] / "examples" / "balance.py"))
BACKENDS = ["python", pytest.param("c", marks=needs_compiler)]
STEP = 0.01


@pytest.fixture(scope="module", params=BACKENDS)
def made(request: Any) -> Any:
    return {m: equations(m).compile(backend=request.param) for m in (driven, four_bar)}


@pytest.fixture(scope="module")
def cart() -> Any:
    return BALANCE["pole_on_cart"]().equations().compile()


def values(st: Any) -> np.ndarray:
    return np.column_stack(
        [np.atleast_1d(st.t), np.atleast_2d(st.state), np.atleast_2d(st.outputs)]
    )


@pytest.mark.parametrize("model", [driven, four_bar])
def test_a_vector_has_the_bits_of_its_steppers(made: Any, model: Any) -> None:
    """With memories, kept values and loops; inputs, parameters, starts of each; what was saved
    comes back."""
    sim, rng = made[model], np.random.default_rng(2)
    name, state = ("k", "q(mass)") if model is driven else ("g", "u(a)")
    p, first = rng.uniform(20, 50, 3), rng.uniform(0.1, 0.3, 3)
    inputs = {"z": 0.0} if model is driven else {}
    all_of = sim.steppers(3, step=STEP, parameters={name: p}, initial={state: first}, inputs=inputs)
    alone = [
        sim.stepper(step=STEP, parameters={name: a}, initial={state: b}, inputs=inputs)
        for a, b in zip(p.tolist(), first.tolist(), strict=True)
    ]

    def go(steps: int) -> None:
        for i in range(steps):
            z = rng.uniform(-1, 1, 3)
            if model is driven:
                all_of.set(z=z)
            all_of.step(1 + i % 2)
            for stepper, height in zip(alone, z.tolist(), strict=True):
                if model is driven:
                    stepper.set(z=height)
                stepper.step(1 + i % 2)
        assert np.array_equal(values(all_of), np.vstack([values(s) for s in alone]))

    go(5)
    saved, then = all_of.save(), values(all_of)
    p = rng.uniform(20, 50, 3)
    all_of.set_parameter({name: p})
    all_of.reset([1], initial={state: 0.2})
    for stepper, value in zip(alone, p.tolist(), strict=True):
        stepper.set_parameter(name, value)
    alone[1].reset(initial={state: 0.2})
    go(5)
    all_of.restore(saved)
    assert np.array_equal(values(all_of), then)
    assert all_of.state[state].shape == (3,) and len(all_of) == 3


def test_a_run_that_fails_leaves_the_others_alone(made: Any) -> None:
    sim = made[driven]
    k = np.array([40.0, -1e8, 30.0])
    all_of = sim.steppers(parameters={"k": k}, step=STEP, inputs={"z": 0.1})
    all_of.step(100)
    assert list(all_of.problems) == [1] and "stopped at t = 0." in all_of.problems[1]
    assert repr(all_of) == f"Steppers('driven': 3 runs, rk4, step {STEP:g} s; 1 failed)"
    assert (
        np.isfinite(np.asarray(all_of.state)).all()
        and all_of.t[1] < 0.9 < all_of.t[0] == all_of.t[2]
    )
    other = sim.stepper(parameters={"k": 30.0}, step=STEP, inputs={"z": 0.1})
    other.step(100)
    assert np.array_equal(values(all_of)[2], values(other)[0])
    all_of.set_parameter(c=0.5)  # of those that continue
    all_of.reset([1], parameters={"k": 30.0})
    all_of.step(100)
    assert not all_of.problems and np.array_equal(values(all_of)[1], values(other)[0])


def test_what_vectors_refuse(made: Any) -> None:
    sim = made[driven]
    all_of = sim.steppers(2, step=STEP, inputs={"z": 0.1})
    before = values(all_of)
    told = [
        (
            lambda: all_of.set(z=[1, 2, 3]),
            bc.ModelError,
            r"must be a number, or 2 of them, not an array of shape \(3,\)",
        ),
        (lambda: all_of.set(z="fast"), bc.ModelError, "not 'fast'"),
        (lambda: all_of.set(z=[1, np.nan]), bc.RunError, "is not finite"),
        (lambda: all_of.set(y=1), bc.ModelError, "the model has no such input"),
        (lambda: all_of.step(0.5), bc.ModelError, "the number of steps must be whole"),
        (lambda: all_of.set_parameter(kk=1), bc.ModelError, "the model has no such parameter"),
        (
            lambda: all_of.reset([0], initial={"q(mess)": 1}),
            bc.ModelError,
            "no such coordinate or speed",
        ),
        (lambda: all_of.reset([2]), bc.ModelError, "there is no run 2; they are 0 to 1"),
        (
            lambda: all_of.restore([]),
            bc.ModelError,
            r"it takes what save\(\) of 2 runs has returned",
        ),
        (lambda: sim.steppers(), bc.ModelError, "n"),
        (lambda: sim.steppers(2, parameters={"k": [1, 2, 3]}), bc.ModelError, "3"),
    ]
    for wrong, kind, why in told:
        with pytest.raises(kind, match=why):
            wrong()
    assert np.array_equal(values(all_of), before)


@pytest.mark.filterwarnings("ignore:.*(symmetric and normalized|Box observation space).*")
@pytest.mark.parametrize(
    "actions", [{"force": (-10, 10)}, [{"force": -10}, {"force": 0}, {"force": 10}]]
)
def test_environments_satisfy_gymnasium(cart: Any, actions: Any) -> None:
    """Its checker; and a vector has the bits of single environments with seeds of their own, over
    ends of episodes."""
    pytest.importorskip("gymnasium", reason="the extra gym is not installed")
    from gymnasium.utils.env_checker import check_env
    from gymnasium.vector import SyncVectorEnv

    def make(n: int | None = None) -> Any:
        return bc.gym.make(
            cart,
            actions,
            observations=["q(cart)", "sin(q(pole))", "u(pole)"],
            reward="1 - q(pole)**2 - 0.001*force**2 - m_p",
            done="abs(q(pole)) > 0.3",
            action_every=4,
            t_end=0.5,
            n=n,
            initial={"q(pole)": bc.random.uniform(-0.2, 0.2)},
            parameters={"M_p": bc.random.uniform(0.05, 0.2)},
        )

    check_env(make(), skip_render_check=True)
    ours, theirs = make(3), SyncVectorEnv([make] * 3)
    assert np.array_equal(ours.reset(seed=3)[0], theirs.reset(seed=3)[0])
    ours.action_space.seed(1)
    ends = np.zeros(2)
    for _ in range(80):
        action = ours.action_space.sample()
        found, expected = ours.step(action), theirs.step(action)
        assert all(np.array_equal(a, b) for a, b in zip(found[:4], expected[:4], strict=True))
        ends += found[2].sum(), found[3].sum()
    assert (ends > 0).all()  # episodes that were lost, and some that came to their end


def test_functions_of_channels_and_steps_that_fail(cart: Any) -> None:
    pytest.importorskip("gymnasium", reason="the extra gym is not installed")
    env = bc.gym.make(
        cart,
        {"force": (-1, 1)},
        observations={"q(pole)": (-1, 1)},
        reward=lambda x: x["q(pole)"] ** 2 + x["force"],
        done=lambda x: x["q(pole)"] > 0.5,
        t_end=1.0,
    )
    env.reset(seed=1, options={"initial": {"q(pole)": 0.4}, "parameters": {"m_c": 2}})
    assert env.task.values["m_c"] == 2
    seen, reward, over, late, info = env.step(np.array([5.0]))
    assert (
        reward == pytest.approx(seen[0] ** 2 + 1) and not over and not late and info["t"] == 0.005
    )
    while not over:
        seen, _, over, late, info = env.step(np.array([-1.0]))
    assert seen[0] > 0.5 and not late
    env.reset(options={"initial": {"u(pole)": 1e200}})
    _, _, over, _, info = env.step(np.array([0.0]))
    assert over and "stopped at t = " in info["problem"]
    assert env.reset()[0].shape == (1,) and env.task.values["m_c"] == 1


def test_what_environments_refuse(cart: Any) -> None:
    pytest.importorskip("gymnasium", reason="the extra gym is not installed")
    force = {"force": (-1, 1)}
    told = [
        ({"actions": {"push": (0, 1)}}, "the model has no input 'push'. Inputs: force"),
        ({"actions": {}}, "at least one input"),
        ({"actions": {"force": (1, 0)}}, "must be two numbers"),
        ({"actions": {"force": (0, np.inf)}}, "must be finite"),
        ({"actions": [{"force": 1}]}, "a list of at least two settings"),
        ({"actions": [{"force": 1}, {"force": "x"}]}, "finite numbers"),
        (
            {"observations": ["q(poll)"]},
            r"observation 'q\(poll\)': no channel or parameter is called",
        ),
        ({"observations": "q(pole)"}, "must be a list"),
        ({"reward": "speed"}, "reward: no channel or parameter is called 'speed'"),
        ({"done": "q(pole)"}, "must be a comparison"),
        ({"action_every": 0}, "action_every=0 must be a whole number"),
        ({"t_end": -1}, "t_end=-1 s must be a positive number"),
        ({"method": "auto"}, "adapts its steps"),
        ({"n": 0}, "n=0 must be a whole number"),
    ]
    for given, why in told:
        with pytest.raises(bc.BellcrankError, match=why):
            bc.gym.make(cart, **{"actions": force, **given})
    with pytest.raises(bc.ModelError, match="it takes a file with a model"):
        bc.gym.make(3, force)
    env = bc.gym.make(cart, force)
    env.reset()
    for wrong in (np.array([np.nan]), np.array([1.0, 2.0])):
        with pytest.raises(bc.RunError, match="must be 1 finite numbers: force"):
            env.step(wrong)
    with pytest.raises(bc.ModelError, match="they may hold 'initial' and 'parameters'"):
        env.reset(options={"inital": {}})


@pytest.mark.campaign
def test_gains_found_by_trial_are_about_those_of_lqr(cart: Any, capsys: Any) -> None:
    """The cost of the gains that trials find comes near the least there is, which theory gives."""
    pytest.importorskip("gymnasium", reason="the extra gym is not installed")
    gains = BALANCE["tuned"](BALANCE["environments"](cart, 32), rounds=6, best=5)
    both = np.array([gains, BALANCE["lqr"](cart), np.zeros(4)])
    costs = BALANCE["costs"]
    trial, theory, nothing = sum(
        costs(BALANCE["environments"](cart, 3), both, i) for i in (5000, 5001, 5002)
    )
    assert theory < 1.01 * trial and trial < 1.5 * theory and nothing > 20 * theory


@pytest.mark.parametrize(
    ("what", "value"), [("reward", None), ("reward", np.nan), ("done", np.nan), ("done", "yes")]
)
def test_functions_that_return_no_number_are_errors(cart: Any, what: str, value: Any) -> None:
    pytest.importorskip("gymnasium", reason="the extra gym is not installed")
    given = {"reward": 1.0, "done": "t > 9", what: lambda x: value}
    env = bc.gym.make(
        cart, {"force": (-1, 1)}, observations={"q(pole)": (-1, 1)}, t_end=1.0, **given
    )
    env.reset(seed=1)
    with pytest.raises(bc.RunError, match=rf"{what}\(\) returned"):
        env.step(np.array([0.0]))
