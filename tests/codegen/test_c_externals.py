"""User functions: in C within the source, or called back; what they remember; and the whole under
the sanitizers."""

import subprocess

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.simulation.backend.compiler import find_compiler
from tests.models import needs_compiler, pendulum

COUNTER_C = """
double counter(double t, double *memory)
{
    memory[0] += 1.0;
    memory[1] = t;
    return memory[0];
}
"""
PAIR_C = """
static const double gain = 2.0;
void pair(double a, double b, double *returns)
{
    returns[0] = gain*a;
    returns[1] = a*b;
}
"""


def counter(t, memory):
    memory[0] += 1.0
    memory[1] = t
    return memory[0]


def pair(a, b):
    return 2.0 * a, a * b


def machine(c=True, python=True, when="derivatives"):
    """A pendulum whose moment holds a routine that counts its calls, and one with two values."""

    def prepare(s):
        s.add_external(
            "counter",
            arguments=("t",),
            memory=2,
            python=counter if python else None,
            c=COUNTER_C if c else None,
        )
        s.add_external(
            "pair",
            arguments=("q(rod)", "u(rod)"),
            returns=("first", "second"),
            python=pair if python else None,
            c=PAIR_C if c else None,
        )
        s.add_output("calls", "counter(t)")

    return pendulum("m0*(-first - 0.1*second*t0 - 0.01*counter(t))", prepare, m0=1.0, t0=1.0)


@needs_compiler
@pytest.mark.parametrize("method", ["rk2", "rk4", "euler"])
def test_memory_changes_once_per_accepted_step(method):
    """And with rk2 at the middle of each step as well, as AUTOSIM's programs do; outputs never
    change it."""
    runs = [
        machine(c=True).equations().compile(backend="c").simulate(method=method, t_end=0.2),
        machine(c=False).equations().compile(backend="c").simulate(method=method, t_end=0.2),
        machine(c=False).equations().compile(backend="python").simulate(method=method, t_end=0.2),
    ]
    per_step = 2 if method == "rk2" else 1
    expected = 2.0 + per_step * np.arange(
        21
    )  # one call at the start, and the output's own on a copy
    for run in runs:
        np.testing.assert_array_equal(run["calls"], expected)
        np.testing.assert_allclose(run["q(rod)"], runs[0]["q(rod)"], rtol=1e-12)


@needs_compiler
@pytest.mark.parametrize(
    "method", ["rk4", "tsit5", pytest.param("RK45", marks=pytest.mark.campaign)]
)
@pytest.mark.parametrize("c", [True, False])
def test_every_run_starts_with_a_clear_memory(method, c):
    sim = machine(c=c).equations().compile(backend="c")
    first, second = sim.simulate(method=method), sim.simulate(method=method)
    np.testing.assert_array_equal(first["calls"], second["calls"])
    assert first["calls"][-1] > 3


@needs_compiler
def test_single_evaluations_leave_the_memory_alone():
    sim = machine().equations().compile(backend="c")
    rates = [sim.derivatives(0.1, [0.2], [0.3])[1][0] for _ in range(3)]
    assert rates[0] == rates[1] == rates[2]


@pytest.mark.parametrize("backend", ["python", pytest.param("c", marks=needs_compiler)])
def test_single_evaluations_do_not_see_the_memory_of_earlier_runs(backend):
    sim = machine(c=False).equations().compile(backend=backend)
    before = sim.derivatives(0.1, [0.2], [0.3])[1][0]
    assert sim.simulate(t_end=0.1)["calls"][-1] > 3
    assert sim.derivatives(0.1, [0.2], [0.3])[1][0] == before


@needs_compiler
def test_given_routine_replaces_the_one_in_c():
    sim = machine().equations().compile(backend="c", external={"Counter": lambda t, memory: 0.0})
    assert (
        "external_counter" not in sim.loaded.model.source
        and "external_pair" in sim.loaded.model.source
    )
    assert sim.simulate(t_end=0.05)["calls"].tolist() == [0.0] * 6


@needs_compiler
def test_routine_in_c_alone():
    eom = machine(python=False).equations()
    assert eom.compile(backend="c").simulate(t_end=0.1).ended == "finished"
    with pytest.raises(bc.ModelError, match=r"counter.*C or Fortran alone"):
        eom.compile(backend="python")


@needs_compiler
def test_mistake_in_c_is_shown():
    s = pendulum(
        "m0*f(t)",
        lambda s: s.add_external(
            "f", arguments=("t",), c="double f(double t) { return t + oops; }"
        ),
        m0=1,
    )
    with pytest.raises(bc.BuildError, match=r"(?s)could not compile.*oops"):
        s.equations().compile(backend="c")
    s = pendulum(
        "m0*f(t)",
        lambda s: s.add_external(
            "f", arguments=("t",), c="double f(double t) { return t + oops; }", python=lambda t: t
        ),
        m0=1,
    )
    with pytest.warns(bc.ModelWarning, match=r"(?s)runs in (Python|WebAssembly).*oops"):
        sim = s.equations().compile(backend="c")
    assert sim.backend in ("python", "wasm")


MAIN = """
#include <stdio.h>
int main(void)
{
    double p[N_P + 1] = {@P@}, c[N_C + 1], y[N_S] = {0.3}, k[N_S], bad[N_S], rows[40*(1 + N_S + N_OUT)];
    double memory[2] = {0}, kept[1] = {0};
    const double x[3] = {0.0, 0.1, 1.0}, pieces[8] = {0.0, 1.0, 0.0, 0.0, 0.1, 2.0, 0.0, 0.0};
    Externals externals = {0, memory, 0, 0};
    Input input = {PIECES, 0, 1.0, {0}, 3, x, pieces};
    constants(p, c);
    for (int method = RK2; method <= EULER; method++)
        for (int kind = CONSTANT; kind <= PIECES; kind++) {
            Job job = {.method = method, .last = 25, .total = 25, .every = 3, .h = 0.01, .p = p, .c = c};
            job.inputs = &input, job.externals = &externals, job.y = y, job.k = k, job.bad = bad, job.rows = rows;
            job.kept = kept;
            input.kind = kind, input.a[3] = 1.0;
            if (run(&job) || job.filled != 10)
                return 1;
            y[0] = 0.3, y[1] = 0.0;
        }
    printf("%.17g\\n", rows[10]);
    return 0;
}
"""


@pytest.mark.campaign
@needs_compiler
def test_clean_under_the_sanitizers(tmp_path):
    def prepare(s):
        s.add_external("counter", arguments=("t",), memory=2, c=COUNTER_C)
        s.add_input("w", units="1")
        s.define("f", bc.table((-1, 0, 1, 2), (0, 1, 0, 2), 3))
        s.define("g", bc.table((-1, 0, 1), (0, 1), ((1, 2), (3, 4), (5, 6)), 1))
        s.add_output("out", "sin(q(rod))*w")

    eom = pendulum(
        "m0*(f(w) + g(w, q(rod)) - 0.01*counter(t) - sin(q(rod)))", prepare, m0=1.0
    ).equations(solve="implicit")
    sim = eom.compile(backend="c")
    values = ", ".join(map(repr, sim.parameter_values()))
    (tmp_path / "model.c").write_text(sim.loaded.model.source + MAIN.replace("@P@", values))
    flags = [
        "-std=c99",
        "-O1",
        "-g",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    ]
    command = [*find_compiler().command, *flags, "model.c", "-o", "model", "-lm"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    if "sanitize" in built.stderr or "asan" in built.stderr:
        pytest.skip("the compiler has no sanitizers")
    assert built.returncode == 0, built.stderr
    done = subprocess.run([tmp_path / "model"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@needs_compiler
def test_routines_may_have_names_that_printers_make():
    """A routine called x1 or values1 was looked for under another name."""
    names = ("x1", "values1", "force1", "M_x")
    text = "".join(f"double {n}(double q) {{ return {i + 1}*q; }}\n" for i, n in enumerate(names))

    def routines(s):
        for n in names:
            s.add_external(n, arguments=("q",), c=text)

    sim = (
        pendulum(" + ".join(f"m0*{n}(q(rod))" for n in names), routines, m0=1.0)
        .equations()
        .compile(backend="c")
    )
    same = pendulum("m0*10*q(rod)", m0=1.0).equations().compile(backend="c")
    run, other = (s.simulate(t_end=0.1, step=0.01) for s in (sim, same))
    assert np.allclose(run["u(rod)"], other["u(rod)"], rtol=1e-12, atol=0)
