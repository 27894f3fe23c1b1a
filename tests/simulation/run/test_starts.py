"""Starts of runs with closed loops are found once for the same numbers, and again for all
others."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError
from bellcrank.simulation.run import session
from bellcrank.simulation.run.initial_state_cache import MOST, InitialStateCache
from tests.models import example, needs_compiler
from tests.simulation.run.test_goes_on import four_bar


def test_is_found_once_for_the_same_numbers_and_is_the_askers_own() -> None:
    starts, asked = InitialStateCache(external=False), []

    def at(what: str, *numbers: float) -> tuple[np.ndarray]:
        def find() -> tuple[np.ndarray]:
            asked.append((what, numbers))
            return (np.array(numbers),)

        return starts.get_arrays(what, find, numbers, np.zeros(1))

    at("q", 1.0, 2.0)[0][:] = 7.0  # who has it may change it
    assert at("q", 1.0, 2.0)[0].tolist() == [1.0, 2.0] and len(asked) == 1
    at("u", 1.0, 2.0), at("q", 1.0, np.nextafter(2.0, 3.0)), at("q", 1.0)
    assert len(asked) == 4
    for i in range(MOST):
        at("many", float(i))
    at("q", 1.0, 2.0)
    assert len(asked) == 4 + MOST + 1  # the oldest are forgotten


def test_routines_are_asked_again() -> None:
    starts, asked = InitialStateCache(external=True), []
    for _ in range(2):
        starts.get_arrays("q", lambda: (np.array([asked.append(1)]),), (1.0,))
    assert len(asked) == 2


def test_a_start_follows_what_is_given() -> None:
    sim = four_bar().equations().compile(backend="python")
    first, u = sim.assemble({"q(a)": 0.3})
    first[:], u[:] = 0.0, 0.0
    for angle in (0.3, 0.4, 0.3):
        run = sim.simulate(0.002, step=0.001, initial={"q(a)": angle})
        assert run["q(a)"][0] == pytest.approx(angle, abs=1e-14)
        assert np.abs(run.residuals.g).max() < 1e-12
        again = sim.assemble({"q(a)": angle})
        assert run["q(b)"][0] == pytest.approx(again[0][1], abs=1e-13)


@needs_compiler
def test_starts_that_threads_find_in_turn_are_those_of_their_own_numbers() -> None:
    """Jobs in which loops were closed are used again: nothing of one start is left in the next."""
    sim, times = (
        example("four_bar").compile(backend="c"),
        [1e-3 * i for i in range(40)],
    )  # more than are remembered

    def begun(t: float) -> list[bytes]:
        length = 0.5 + 0.01 * (round(1e3 * t) % 3)
        run = sim.simulate(
            t + 2e-3, step=1e-3, t_start=t, parameters={"l1": length}, initial={"q(a)": -0.5 - t}
        )
        return [x.tobytes() for x in run.channels.values()]

    with ThreadPoolExecutor(4) as threads:
        together = [*threads.map(begun, times)]
    for t in (0.0, 0.017, 0.03):
        sim = example("four_bar").compile(backend="c")
        assert begun(t) == together[round(1e3 * t)]


@needs_compiler
def test_compiled_runs_make_nothing_that_keeps_loops_closed_in_python(monkeypatch):
    """It is asked for when a run is looked into; that is not what a run around its steps is to
    cost."""
    sim, made = example("four_bar").compile(backend="c"), []
    keeper = session.make_loop_projector
    monkeypatch.setattr(
        session, "make_loop_projector", lambda *given: made.append(1) or keeper(*given)
    )
    run = sim.simulate(t_end=0.05)
    assert sim.simulate(t_end=0.1, start=run).ended == "finished" and not made
    example("four_bar").compile(backend="python").simulate(t_end=0.01)
    assert made


def test_values_that_were_read_before_are_read_to_the_bit():
    """What a start remembers of values is known by their bits: -0 is not 0, and a whole number is
    one."""
    sim = example("double_pendulum").compile(backend="python")
    for value in (0.0, -0.0, 1, 1.0, -0.0, 0.0):
        q, _ = sim.assemble({"q(a)": value})
        assert np.float64(value).tobytes() == q[0].tobytes()
    q[:] = 7.0  # what was given belongs to whoever asked
    assert sim.assemble({"q(a)": 0.0})[0][0] == 0.0
    with pytest.raises(ModelError, match="not a number"):
        sim.assemble({"q(a)": 10**400})


@pytest.mark.parametrize(
    ("given", "size"), [({"q(b, 2)": 1.0}, "1.41421"), ({"q(b, 1)": 0.0}, "0")]
)
def test_euler_parameters_that_tell_no_orientation(given, size):
    """One of four that is given alone leaves the others as they are drawn."""
    s = bc.System("tumbling", units="mks")
    s.add_body("b", rotate="euler-parameters", mass=1, inertia=(1, 2, 2.5))
    sim = s.equations().compile(backend="python")
    with pytest.warns(
        bc.ModelWarning, match=f"Euler parameters of b: the initial values have size {size} and"
    ):
        sim.simulate(t_end=0.01, step=0.01, initial=given)
    sim.simulate(
        t_end=0.01, step=0.01, initial={"q(b, 1)": 0.9239, "q(b, 2)": 0.3827}
    )  # as printed in books


def test_a_start_replaces_that_of_the_model_however_it_is_spelled():
    """Blanks and numbers in names: `q( arm )`, `q(arm)` and `q(1)` are one coordinate."""
    s = bc.System("spelled")
    s.add_body("arm", rotate=3, cm=(1, 0, 0), mass=1, inertia=(1, 1, 1))
    s.set_run(t_end=0.1, step=0.1, initial={"q( arm )": 0.3})
    sim = s.equations().compile(backend="python")
    stepper = sim.stepper(initial={"q(1)": 0.7})
    assert stepper.state["q(arm)"] == 0.7
    stepper.reset(initial={"q( arm)": 0.8})
    assert stepper.state["q(arm)"] == 0.8
    for name in ("q(arm)", "q(1)", "q (arm)"):
        assert sim.simulate(initial={name: 0.5})["q(arm)"][0] == 0.5
        assert list(
            sim.simulate_many(initial={name: [0.5, 0.6]}, channels=["q(arm)"])["q(arm)"][:, 0]
        ) == [0.5, 0.6]
    s.set_run(initial={"q(arm)": 0.9})
    assert s.equations().compile(backend="python").simulate()["q(arm)"][0] == 0.9


@pytest.mark.parametrize("way", ["simulate", "set_run"])
@pytest.mark.parametrize(
    ("value", "units", "noted"),
    [
        (90, "SI", True),
        (-20.0, "SI", True),
        (12, "SI", False),
        ("90 deg", "SI", False),
        ("90 rad", "SI", False),
        (90, "in-lb", False),  # deg
    ],
)
def test_bare_angles_above_two_turns_are_noted(value, units, noted, way):
    s = bc.System("rod", units=units)
    s.add_body("rod", rotate=3, mass=1, inertia=(1, 1, 1))
    given = {"q(rod)": value}
    s.set_run(t_end=0.1, step=0.1, initial=given if way == "set_run" else {"q(rod)": 0.1})
    sim = s.equations().compile(backend="python")
    run = sim.simulate(initial=None if way == "set_run" else given)
    notes = [x for x in run.notes if "more than two turns" in x]
    assert bool(notes) == noted
    assert all(f"q(rod) is {value:g} rad" in x for x in notes)
