"""One simulation in eight threads at once: the same bits as one run after another; errors reach the
thread they belong to."""

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

import bellcrank as bc
from tests.codegen.test_c_externals import machine
from tests.models import able, example, needs_compiler, pendulum, rarely
from tests.simulation.run.test_when import WAYS, sampled
from tests.vehicles.test_rigid import RADIUS, disc

THREADS = 8
BACKENDS = ["python", pytest.param("c", marks=needs_compiler)]


@pytest.fixture(autouse=True)
def often():
    """Threads take turns as often as Python can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(task, count=THREADS):
    """task(0), task(1), ... in a thread each, all at the same time; what each returned or
    raised."""
    start = Barrier(count)

    def run(i):
        start.wait()
        try:
            return task(i)
        except BaseException as error:
            return error

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def bits(run):
    """All that a run recorded."""
    return [
        run.time.tobytes(),
        *(run[c].tobytes() for c in run),
        run.ended,
        [(e.name, e.time) for e in run.events],
    ]


def check(sim, settings):
    """Runs with other settings in each thread, against the same ones one after another."""
    alone = [bits(sim.simulate(**settings(i))) for i in range(THREADS)]
    assert len({str(x) for x in alone}) == THREADS  # the runs differ, so that a mix-up would show
    assert at_once(lambda i: bits(sim.simulate(**settings(i)))) == alone


@pytest.mark.filterwarnings(
    "ignore:atol of .* exceeds its largest value"
)  # the run with the least start hardly moves
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("method", "t_end"),
    rarely([("rk2", 0.5), ("RK45", 0.1), ("tsit5", 0.5)], [("RK45", 0.1)], several=True),
)
def test_external_routines_that_remember(way, method, t_end):
    """In Python, called back from C, and in C; events look into steps with the memory as it was
    there."""
    sim = machine(c=way == "c").equations().compile(backend="wasm" if way == "python" else "c")
    settings = {
        "t_end": t_end,
        "step": t_end / 50,
        "method": method,
        "events": {"falls": "q(rod) < 0"},
    }
    settings |= {} if method == "rk2" else {"rtol": 1e-3, "atol": 1e-2}
    check(sim, lambda i: {"initial": {"q(rod)": 0.02 * i}, **settings})


@pytest.mark.parametrize("backend", BACKENDS)
def test_values_that_are_kept_over_a_step(backend):
    sim = sampled("python").equations().compile(backend=backend)
    check(
        sim,
        lambda i: {
            "t_end": 0.4,
            "initial": {"q(rod)": 0.1 + 0.05 * i},
            "parameters": {"gain": 1.0 + i},
        },
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "options",
    rarely(
        [{}, {"method": "DOP853"}, {"dae": "baumgarte"}, {"dae": "minimal"}], [{"dae": "baumgarte"}]
    ),
    ids=str,
)
def test_closed_loops(backend, options):
    sim = example("four_bar").compile(
        backend=able(backend, "auto") if options.get("dae") == "baumgarte" else backend
    )
    check(sim, lambda i: {"t_end": 0.02, "step": 0.002, "initial": {"u(a)": 1.0 + i}, **options})


@pytest.mark.parametrize("backend", [pytest.param("c", marks=needs_compiler), "wasm"])
def test_rigid_wheels(backend):
    sim = disc(bc.vehicles.terrain.flat()).equations().compile(backend=backend)
    check(
        sim,
        lambda i: {"t_end": 0.3, "step": 0.01, "initial": {"q(d, 2)": RADIUS + 0.05 + 0.01 * i}},
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_functions_as_inputs_and_breaks(backend):
    def road(s):
        s.add_input("push", units="F*L")

    sim = pendulum("push - k*q(rod)", road, k=3.0).equations().compile(backend=backend)
    check(sim, lambda i: {"t_end": 0.3, "inputs": {"push": lambda t: np.sin((1 + i) * t)}})


@pytest.mark.parametrize("backend", BACKENDS)
def test_single_evaluations(backend):
    sim = machine(c=False).equations().compile(backend=backend)

    def task(i):
        found = []
        for k in range(40):
            at = 0.1 * i, [0.1 * i + 0.01 * k], [0.2]
            found.append(
                (
                    sim.derivatives(*at)[1][0],
                    sim.outputs(*at),
                    sim.assemble({"q(rod)": 0.1 * i})[0][0],
                )
            )
        return found

    assert at_once(task) == [task(i) for i in range(THREADS)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_errors_and_interrupts_reach_their_own_thread(backend):
    """A routine fails in one thread, and another thread is interrupted within it; the others
    continue."""

    def drive(t, which):
        if t > 0.1 and which == 3:
            raise ValueError("worn out")
        if t > 0.1 and which == 5:
            raise KeyboardInterrupt
        return np.cos(which * t)

    s = pendulum(
        "m0*drive(t, which)",
        lambda s: s.add_external("drive", arguments=("t", "which"), python=drive),
        m0=1.0,
    )
    s.set_defaults(which=1.0)
    sim = s.equations().compile(backend=backend)

    def task(i):
        return bits(sim.simulate(t_end=0.3, parameters={"which": float(i)}))

    found = at_once(task)
    assert isinstance(found[3], bc.RunError) and "worn out" in str(found[3])
    assert isinstance(found[5], KeyboardInterrupt)
    for i in set(range(THREADS)) - {3, 5}:
        assert found[i] == task(i)


@pytest.mark.parametrize("backend", BACKENDS)
def test_analyses(backend):
    sim = example("quarter_car").compile(backend=backend)

    def task(i):
        model = sim.linearize(parameters={"k": 1000.0 * (i + 15)})
        return model.A.tobytes(), model.eigenvalues.tobytes()

    assert at_once(task) == [task(i) for i in range(THREADS)]


@pytest.mark.campaign
def test_models_are_described_derived_and_differentiated_at_once():
    """Equal expressions are one object also if two threads make them at the same time."""

    def task(i):
        s = pendulum("-k*q(rod)**2 - c*u(rod) + m0*sin(q(rod))", k=3.0, c=0.1 * i, m0=1.0)
        eom = s.equations()
        model = eom.compile(backend="python").linearize()
        return (
            eom.operation_count(),
            [str(x) for x in eom.program.derivatives.results],
            model.A.tobytes(),
        )

    assert at_once(task) == [task(i) for i in range(THREADS)]


def test_one_object_for_equal_expressions():
    from bellcrank.symbolic.expr import Symbol

    for k in range(50):
        found = at_once(
            lambda i, k=k: [Symbol(f"only here {k}, {j}", "parameter") for j in range(50)]
        )
        assert all(x is y for listed in found for x, y in zip(listed, found[0], strict=True))
