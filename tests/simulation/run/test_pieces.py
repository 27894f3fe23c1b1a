"""Runs with events, cut into pieces anywhere and at their events: as one run."""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from tests.models import needs_compiler

STEP, T_END = 0.02, 1.2
FIXED = ("euler", "heun", "rk2", "rk3", "rk4", "ab2")
ADAPTIVE = ("tsit5", "dop853", "radau5", "rodas5p", "auto", "RK45", "Radau")
BACKENDS = [pytest.param({"speed": "quick"}, marks=needs_compiler), {"backend": "wasm"}]
QUICK, CAMPAIGN = 40, 200


class RandomModel:
    """Two masses on springs between walls, with events over states, time and parameters; some lie
    exactly at steps. `method`: of its runs."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = np.random.default_rng([731, seed])
        s = bc.System("pieces", units="SI")
        a = s.add_body("a", translate=1, mass=1, inertia=0)
        b = s.add_body("b", parent=a, translate=1, mass="m", inertia=0)
        s.add_force("spring", magnitude="F - k*q(a) - c*u(a)", direction="[n1]", at=a.origin)
        s.add_force("link", magnitude="-k2*q(b)*h", direction="[n1]", at=b.origin)
        s.set_defaults(m=2, F=float(rng.choice([0, 1])), k=float(rng.choice([0, 9])), h=1)
        s.set_defaults(c=float(rng.choice([0, 0.4])), k2=float(rng.choice([0, 4])), n=0)
        self.method = str(rng.choice(FIXED if seed % 3 else ADAPTIVE))
        # a file has no parameters, no rates of steps before, and not whether `>` has counted at its end
        self.needs_checkpoint = self.method == "ab2"
        for i in range(rng.integers(1, 4)):
            (condition, direction), action = self._condition(), self._action()
            s.add_event(f"e{i}", condition, direction=direction, action=action)
            self.needs_checkpoint |= "> " in condition or not all(
                x.startswith("u(") for x in action
            )
        s.set_run(initial={"u(a)": 1.0, "u(b)": float(rng.choice([0.0, -0.5]))})
        self.system = s

    def _condition(self) -> tuple[str, int]:
        rng, wall = (
            self.rng,
            round(self.rng.uniform(0.05, 0.6), 1 if self.rng.random() < 0.5 else 9),
        )
        time = round(self.rng.uniform(0.1, 1.0), 1 if rng.random() < 0.5 else 9)
        kind = rng.integers(5)
        if kind == 0:
            return f"q(a) - {wall}", 1
        if kind == 1:
            return f"q(a) + q(b) - {wall}", int(rng.choice([-1, 0, 1]))
        if kind == 2:
            return f"q(a) {rng.choice(['>', '>='])} {wall}", 0
        if kind == 3:
            return f"t {rng.choice(['-', '>', '>='])} {time}", 0
        return f"u(a) - {round(rng.uniform(-0.3, 0.3), 3)}", int(rng.choice([-1, 1]))

    def _action(self) -> dict[str, str]:
        return [
            {"u(a)": "-0.8*u(a)"},
            {"F": "-2*F - 1"},
            {"h": "h + 1"},
            {"n": "n + 1", "u(b)": "u(b) - 0.3"},
            {"u(a)": "u(a) + 0.5", "F": "F + 1"},
        ][self.rng.integers(5)]

    def cuts(self, whole: bc.Run) -> list[float]:
        """Times at which a run is cut, in order, each once: of events and of steps."""
        rng = self.rng
        steps = STEP * rng.choice(np.arange(1, round(T_END / STEP)), 2, replace=False)
        times = {e.time for e in whole.events if 0.01 < e.time < T_END - 0.01} | {
            *map(float, steps)
        }
        ordered = sorted(times)
        return [t for t, u in itertools.pairwise([*ordered, T_END]) if u - t > 1e-6] + [T_END]


def by_runs(sim: bc.Simulation, model: RandomModel, times: Sequence[float], _: Path) -> bc.Run:
    run = sim.simulate(t_end=times[0], step=STEP, method=model.method)
    for t in times[1:]:
        run = sim.simulate(start=run, t_end=t)
    return run


def by_files(sim: bc.Simulation, model: RandomModel, times: Sequence[float], at: Path) -> bc.Run:
    """Cut at steps, as a run from a file counts its steps from there."""
    if model.needs_checkpoint:
        return by_runs(sim, model, times, at)
    run = None
    for t in times:
        if abs(t / STEP - round(t / STEP)) < 1e-9:
            start = None if run is None else bc.Run.read(run.save(at / "run.csv"))
            run = sim.simulate(start=start, t_end=t, step=STEP, method=model.method)
    return run


def by_stepper(sim: bc.Simulation, model: RandomModel, times: Sequence[float], at: Path) -> bc.Run:
    if model.method not in FIXED:
        return by_runs(sim, model, times, at)
    run = sim.simulate(t_end=times[0], step=STEP, method=model.method)
    stepper = sim.stepper(start=run)
    while stepper.t < T_END - 1e-9:
        saved = stepper.save()
        stepper.step()
        stepper.restore(saved)
        stepper.step()
    return stepper.state


WAYS: list[Callable[..., bc.Run]] = [by_runs, by_files, by_stepper]


def compared(backend: dict[str, str], seed: int, tmp_path: Path) -> None:
    model = RandomModel(seed)
    sim = model.system.equations().compile(**backend)
    whole = sim.simulate(t_end=T_END, step=STEP, method=model.method)
    times = model.cuts(whole)
    allowed = 1e-11 if model.method in FIXED else 1e-4
    for way in WAYS:
        run = way(sim, model, times, tmp_path)
        for name in ("q(a)", "u(a)", "q(b)", "u(b)"):
            error = abs(float(np.ravel(run[name])[-1]) - float(whole[name][-1]))
            assert error <= allowed, (seed, way.__name__, model.method, name, error, times)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("seed", range(QUICK))
def test_pieces_are_as_one_run(backend: dict[str, str], seed: int, tmp_path: Path) -> None:
    compared(backend, seed, tmp_path)


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("seed", range(QUICK, CAMPAIGN))
def test_many_more_pieces_are_as_one_run(
    backend: dict[str, str], seed: int, tmp_path: Path
) -> None:
    compared(backend, seed, tmp_path)
