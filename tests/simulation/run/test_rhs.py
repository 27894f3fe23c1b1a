"""Rates as a function f(t, x): the numbers of runs and of `derivatives`, in SciPy, in C, in
threads, and what is rejected."""

import ctypes
import gc
import math
import pickle
import sys

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.simulation.backend.compiler import compile_source, find_compiler
from bellcrank.simulation.run.state_jacobian import difference_jacobian
from tests.codegen.test_c_externals import machine
from tests.late import Late
from tests.models import example, needs_compiler, pendulum, rarely, relative
from tests.simulation.run.test_threads import at_once
from tests.simulation.run.test_when import WAYS, compiled, sampled

scipy = Late("scipy")
integrate = Late("scipy.integrate")
BACKENDS = ["python", pytest.param("c", marks=needs_compiler)]
GUST = bc.signals.sine(amplitude=0.3, frequency=0.7)


def driven():
    """A pendulum with a lag of its own and an input."""
    s = pendulum(
        "-k*q(rod) - c*u(rod) + lag",
        lambda s: s.add_input("gust", units="F*L"),
        k=3.0,
        c=0.5,
        tau=0.2,
    )
    s.add_state("lag", rate="(gust - lag)/tau", units="F*L")
    return s


def state(sim, seed=3):
    """A state in motion."""
    q, u = sim.assemble()
    rng = np.random.default_rng(seed)
    return np.concatenate([q + 0.1 * rng.uniform(-1, 1, len(q)), u + rng.uniform(-1, 1, len(u))])


def rates(sim, t, x):
    """What `derivatives` gives."""
    return np.concatenate(sim.derivatives(t, *np.split(x, [len(sim.interface.coordinates)])))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("gust", [0.2, GUST, lambda t: 0.3 * math.sin(1.4 * math.pi * t)])
def test_it_is_the_equation_of_motion(backend, gust):
    """By hand: q' = u, lag' = (gust - lag)/tau, J u' = -k q - c u + lag."""
    f = (
        driven()
        .equations()
        .compile(backend=backend)
        .rhs(parameters={"tau": 0.5}, inputs={"gust": gust})
    )
    assert f.state_names == ("q(rod)", "lag", "u(rod)")
    assert f.units == ("rad", "N-m", "rad/s")
    assert (
        repr(f) == "Rhs('pendulum': x' = f(t, x), t in s, x of 3 states: q(rod) [rad], lag [N-m], "
        "u(rod) [rad/s])"
    )
    q, lag, u = x = np.array([0.4, 0.1, -0.7])
    value = gust if isinstance(gust, float) else 0.3 * math.sin(1.4 * math.pi * 0.3)
    np.testing.assert_allclose(
        f(0.3, x), [u, (value - lag) / 0.5, (-3 * q - 0.5 * u + lag) / 2.1], rtol=1e-14
    )
    expected = [[0, 0, 1], [0, -2, 0], [-3 / 2.1, 1 / 2.1, -0.5 / 2.1]]
    np.testing.assert_allclose(f.jacobian(0.3, x), expected, atol=1e-12)
    np.testing.assert_array_equal(f(0.3, list(x)), f(0.3, x))
    np.testing.assert_array_equal(f(0.3, np.repeat(x, 2)[::2]), f(0.3, x))
    np.testing.assert_array_equal(f(np.float64(0.3), x.astype(">f8")), f(0.3, x))
    np.testing.assert_array_equal(f(0, np.array([1, 0, 2])), f(0.0, np.array([1.0, 0.0, 2.0])))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["planar_pendulum", "four_bar"])
def test_closed_loops_have_the_rates_of_a_run(backend, name):
    """Rates by differences of a run with short steps."""
    sim = example(name).compile(backend=backend)
    h = 1e-4
    run = sim.simulate(t_end=40 * h, step=h, method="rk4")
    rows = np.array([x.unit.to_equation_units(run[x.name]) for x in sim.interface.states]).T
    f = sim.rhs()
    differences = (rows[18] - 8 * rows[19] + 8 * rows[21] - rows[22]) / (12 * h)
    assert relative(f(run.time[20], rows[20]), differences) < 1e-9
    np.testing.assert_array_equal(f(0.0, rows[20]), rates(sim, 0.0, rows[20]))


@needs_compiler
def test_in_a_singular_position_compiled_rates_are_those_of_python():
    eom = example("change_point_four_bar")
    one, other = (eom.compile(backend=b) for b in ("c", "python"))
    flat = np.zeros(one.loaded.n_states)
    q, _ = one.assemble()
    flat[: len(q)] = q
    flat[len(q) :] = other.assemble()[1]
    for x in (flat, np.zeros_like(flat)):
        np.testing.assert_allclose(one.rhs()(0.0, x), other.rhs()(0.0, x), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_values_that_routines_keep_are_those_of_a_start_there(way):
    f = compiled(sampled(way), way).rhs()
    np.testing.assert_allclose(
        f(0.0, np.array([0.2, 0.5])), [0.5, -(3.0 + 4.0) * 0.2 / 2.1], rtol=1e-14
    )


@pytest.mark.parametrize("way", WAYS)
def test_routines_that_remember_do_so_in_no_call(way):
    sim = machine(c=way == "c").equations().compile(backend="python" if way == "python" else "c")
    f, x = sim.rhs(), state(sim)
    first = f(0.1, x)
    f(0.2, 2 * x)
    np.testing.assert_array_equal(f(0.1, x), first)
    np.testing.assert_array_equal(rates(sim, 0.1, x), first)


@needs_compiler
@pytest.mark.parametrize(
    ("name", "inputs"),
    [("double_pendulum", None), ("quarter_car", {"z_road": bc.signals.sine(0.02, 1.0)})],
)
def test_scipy_integrates_it_to_what_a_run_gives(name, inputs):
    sim = example(name).compile(backend="c")
    f = sim.rhs(inputs=inputs)
    x = np.asarray(sim.assemble())
    run = sim.simulate(t_end=1.0, step=2e-4, inputs=inputs)
    for method, options in (("DOP853", {}), ("Radau", {"jac": f.jacobian})):
        found = integrate.solve_ivp(f, (0, 1), x, method=method, rtol=1e-9, atol=1e-11, **options)
        ends = [s.unit.to_equation_units(run[s.name][-1]) for s in sim.interface.states]
        assert relative(found.y[:, -1], ends) < 1e-7


SHIM = """
typedef int (*Rates)(double t, const double *x, double *xdot, void *user_data);
typedef struct { Rates f; void *data; long n, wanted; double x[8], push[8]; } Asked;
double along(double t, void *user_data)
{
    const Asked *a = user_data;
    double x[8], xdot[8];
    for (long i = 0; i < a->n; i++)
        x[i] = a->x[i] + t*a->push[i];
    return a->f(t, x, xdot, a->data) ? 1e300 : xdot[a->wanted];
}
"""


@needs_compiler
@pytest.mark.parametrize("gust", [GUST, lambda t: 0.3 * math.sin(1.4 * math.pi * t)])
def test_programs_in_c_call_its_address(tmp_path, gust):
    """By scipy.LowLevelCallable: the integral of u' along a line of states is that of f itself."""
    sim = driven().equations().compile(backend="c")
    f, x, push = (
        sim.rhs(inputs={"gust": gust}),
        np.array([0.4, 0.1, -0.7]),
        np.array([0.3, -0.2, 0.5]),
    )
    library = ctypes.CDLL(
        str(compile_source(SHIM, tmp_path, find_compiler(), ("-O1", "-shared", "-fPIC")))
    )
    room = type(
        "Asked",
        (ctypes.Structure,),
        {
            "_fields_": [
                ("f", ctypes.c_void_p),
                ("data", ctypes.c_void_p),
                ("n", ctypes.c_long),
                ("wanted", ctypes.c_long),
                ("x", ctypes.c_double * 8),
                ("push", ctypes.c_double * 8),
            ]
        },
    )(f.address, f.user_data, 3, 2, (ctypes.c_double * 8)(*x), (ctypes.c_double * 8)(*push))
    library.along.restype, library.along.argtypes = (
        ctypes.c_double,
        [ctypes.c_double, ctypes.c_void_p],
    )
    called = scipy.LowLevelCallable(
        library.along, ctypes.cast(ctypes.pointer(room), ctypes.c_void_p)
    )
    expected = integrate.quad(lambda t: f(t, x + t * push)[2], 0, 2)[0]
    assert integrate.quad(called, 0, 2)[0] == pytest.approx(expected, rel=1e-13)


@needs_compiler
def test_an_error_in_python_is_told_to_programs_in_c():
    def gust(t):
        if t > 1:
            raise ValueError("no gust any more")
        return 0.2

    f = driven().equations().compile(backend="c").rhs(inputs={"gust": gust})
    double = ctypes.c_double * 3
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, double, double, ctypes.c_void_p)(
        f.address
    )
    x, xdot = double(0.1, 0.2, 0.3), double()
    assert call(0.5, x, xdot, f.user_data) == 0
    assert call(1.5, x, xdot, f.user_data) != 0
    assert call(0.5, x, xdot, f.user_data) == 0
    np.testing.assert_array_equal(xdot, f(0.5, np.array(x)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_eight_threads_share_one_function(backend):
    """Inputs of Python, too; an error reaches the thread it belongs to."""

    def gust(t):
        if t == 3.5:
            raise ValueError("no gust in the fourth thread")
        return math.sin(t)

    sim = driven().equations().compile(backend=backend)
    for given in (gust, GUST):
        f = sim.rhs(inputs={"gust": given})
        states = np.random.default_rng(0).uniform(-1, 1, (8, 50, 3))
        times = np.arange(8.0) + np.where(np.arange(8) == 3, 0.5 if given is gust else 0.0, 0.0)
        alone = {i: [f(times[i], x) for x in states[i]] for i in range(8) if times[i] != 3.5}
        found = at_once(
            lambda i, f=f, states=states, times=times: [f(times[i], x) for x in states[i]]
        )
        for i, rates in alone.items():
            np.testing.assert_array_equal(found[i], rates)
        if given is gust:
            assert "no gust in the fourth thread" in str(found[3])


@needs_compiler
def test_it_outlives_the_simulation():
    sim = example("quarter_car").compile(backend="c")
    f = sim.rhs(inputs={"z_road": ([0.0, 1.0], [0.0, 0.1])})
    x = np.asarray(sim.assemble())
    before = f(0.5, x)
    del sim
    gc.collect()
    np.testing.assert_array_equal(f(0.5, x), before)
    results = [f(0.01 * i, x) for i in range(100)]
    np.testing.assert_array_equal(f(0.0, x), results[0])  # results are arrays of their own


@pytest.mark.parametrize("backend", BACKENDS)
def test_out_is_filled_and_returned(backend):
    f = pendulum().equations().compile(backend=backend).rhs()
    x, wide = np.array([0.1, 0.2]), np.zeros(4)
    for out in (np.zeros(2), wide[::2]):
        assert f(0.0, x, out) is out
        np.testing.assert_array_equal(out, f(0.0, x))
    assert f(0.0, x, out=x) is x  # the state itself
    np.testing.assert_array_equal(x, wide[::2])
    locked = np.zeros(2)
    locked.flags.writeable = False
    for wrong in (np.zeros(3), np.zeros(2, dtype=np.float32), [0.0, 0.0], locked, np.zeros((2, 1))):
        with pytest.raises(bc.ModelError, match="out must be an array of 2 floats, not"):
            f(0.0, x, wrong)


@needs_compiler
def test_calls_keep_nothing_and_need_no_way_of_their_own(monkeypatch):
    sim = pendulum().equations().compile(backend="c")
    f, x, out = sim.rhs(), np.array([0.1, 0.2]), np.zeros(2)
    strided, t = np.zeros(4)[::2], 0.123
    before = [sys.getrefcount(each) for each in (x, out, strided, t)]
    for given in (
        (t, x, out),
        (t, x, strided),
        (t, strided, out),
        (t, [0.1, 0.2], out),
        (1, x, out),
    ):
        for _ in range(20):
            f(*given)
    del given
    assert [sys.getrefcount(each) for each in (x, out, strided, t)] == before
    monkeypatch.setattr(
        "bellcrank.simulation.backend.bound_rhs.make_python_function", lambda *given: None
    )  # as in other Pythons
    np.testing.assert_array_equal(sim.rhs()(t, x), f(t, x))
    np.testing.assert_array_equal(sim.rhs()(t, strided, out), f(t, strided))


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_no_state_is_told(backend):
    f = pendulum().equations().compile(backend=backend).rhs()
    wrong = (
        np.zeros(3),
        np.zeros((2, 1)),
        np.zeros((1, 2)),
        1.0,
        None,
        "ab",
        [1.0],
        ["a", "b"],
        [1j, 2],
        [[1], [1, 2]],
    )
    for x in (*wrong, np.zeros(2, dtype=complex)):
        with pytest.raises(bc.ModelError, match=r"x must be 2 numbers \(q\(rod\), u\(rod\)\), not"):
            f(0.0, x)
        with pytest.raises(bc.ModelError, match="x must be 2 numbers"):
            f.jacobian(0.0, x)
    for t in (None, "soon", [0.0, 1.0]):
        with pytest.raises(bc.ModelError, match=r"t is .* not a number"):
            f(t, np.zeros(2))
    with pytest.raises(bc.ModelError, match="no such parameter"):
        pendulum().equations().compile(backend=backend).rhs(parameters={"kk": 3})
    with pytest.raises(bc.ModelError, match="input 'gust' has no value"):
        driven().equations().compile(backend=backend).rhs()


def test_in_python_there_is_no_address():
    f = pendulum().equations().compile(backend="python").rhs()
    for name in ("address", "user_data"):
        with pytest.raises(
            bc.ModelError, match=r"the model runs in Python.*compile\(backend='c'\)"
        ):
            getattr(f, name)
    with pytest.raises(
        bc.ModelError, match="cannot be stored, copied or sent elsewhere; make another one there"
    ):
        pickle.dumps(f)


@needs_compiler
@pytest.mark.parametrize("name", rarely(["four_bar", "passenger_car"], ["passenger_car"]))
def test_exact_slopes_are_those_of_differences(name):
    sim = example(name).compile(backend="c")
    f, x = sim.rhs(), state(sim)
    exact = f.jacobian(0.2, x)
    differences = difference_jacobian(f._batch_rates, np.array([0.2]), x[None, :])[0]
    assert 0 < np.abs(exact - differences).max() < 1e-7 * np.abs(exact).max()
