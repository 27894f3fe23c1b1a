"""The kernel by itself: plain C over hand-made models, without warnings, with the order of every
method."""

import ctypes
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import bellcrank
from bellcrank.codegen.c.kernel_tables import method_number
from bellcrank.core.numeric.embedded import EMBEDDED
from bellcrank.core.numeric.fixed_step_methods import METHODS
from tests.models import needs_compiler

pytestmark = needs_compiler
KERNEL = Path(bellcrank.__file__).parent / "kernel"
MODELS = Path(__file__).parent / "models"
WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wvla", "-Werror")
COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)] or ["cc"]
KINDS = {
    "oscillator": ("-DHAS_LOOKS=1",),
    "pendulum": (),
    "pendulum by multipliers": ("-DHAS_DAE=1",),
}
KINDS |= {f"{kind} attached": (*flags, "-DATTACHED") for kind, flags in KINDS.items()}


def compiled(kind, folder, *flags, compiler=COMPILERS[0]):
    name, path = kind.split()[0], folder / "model.so"
    command = [
        compiler,
        *WARNINGS,
        *KINDS[kind],
        f"-I{MODELS}",
        f"-I{KERNEL}",
        *flags,
        "-fPIC",
        "-shared",
    ]
    done = subprocess.run(
        [*command, str(MODELS / f"{name}.c"), "-o", str(path), "-lm"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[:2000]
    return path


def kernel_alone(folder, *flags, compiler=COMPILERS[0]):
    path = folder / "kernel.so"
    command = [
        compiler,
        *WARNINGS,
        *flags,
        "-fPIC",
        "-shared",
        str(KERNEL / "linked.c"),
        "-o",
        str(path),
        "-lm",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    return path


@pytest.fixture(scope="module")
def ends(tmp_path_factory):
    """The state at the end of a run of a model."""
    libraries = {
        kind: ctypes.CDLL(str(compiled(kind, tmp_path_factory.mktemp("c"), "-O0")))
        for kind in KINDS
    }
    kernel = ctypes.CDLL(str(kernel_alone(tmp_path_factory.mktemp("c"), "-O0")))
    kernel.kernel_functions.restype = ctypes.c_void_p
    for kind, library in libraries.items():
        if "attached" in kind:
            library.attach(ctypes.c_void_p(kernel.kernel_functions()))

    def end(kind, method, start, t_end, h=1.0, rtol=1e-6):
        state, numbers = (
            (ctypes.c_double * len(start))(*start),
            map(ctypes.c_double, (h, t_end, rtol)),
        )
        assert libraries[kind].end_of_run(method_number(method), *numbers, state) == 0
        return np.array(state)

    end.libraries = libraries
    return end


@pytest.mark.campaign
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_no_warnings(kind, level, compiler, tmp_path):
    compiled(kind, tmp_path, level, compiler=compiler)


def order_of(error, steps=(0.02, 0.01)):
    found = [error(h) for h in steps]
    return math.log(found[0] / found[1]) / math.log(steps[0] / steps[1])


@pytest.mark.parametrize("method", METHODS)
def test_orders_of_fixed_steps(ends, method):
    def error(h):
        return np.abs(
            ends("oscillator", method, (1.0, 0.0), 2.0, h) - (math.cos(2), -math.sin(2))
        ).max()

    assert order_of(error) == pytest.approx(METHODS[method].order, abs=0.15)


@pytest.mark.parametrize("method", [*EMBEDDED, "radau5", "rodas5p"])
@pytest.mark.parametrize("size", [1.0, 1e-8])
def test_methods_that_choose_their_steps(ends, method, size):
    """The error follows the tolerance, and the size of the motion."""
    wanted, found = size * np.array([math.cos(9), -math.sin(9)]), []
    for rtol in (1e-4, 1e-7, 1e-10):
        found.append(
            np.abs(ends("oscillator", method, (size, 0.0), 9.0, rtol=rtol) - wanted).max() / size
        )
        assert found[-1] < 300 * rtol
    assert found[0] > 10 * found[1] > 100 * found[2]


@pytest.mark.parametrize("kind", ["oscillator", "oscillator attached"])
@pytest.mark.parametrize("method", ["rk4", "ab2", "tsit5", "dop853", "radau5", "rodas5p"])
def test_events(ends, kind, method):
    """x = cos t: where it comes down through zero, its speed is turned round and a half of it left:
    that is so after every half of a period, also where it falls on the end of a step."""
    for h in (0.05, math.pi / 64):
        state, when = (ctypes.c_double * 2)(1.0, 0.0), (ctypes.c_double * 10)()
        end = h * round(10 / h)
        numbers = map(ctypes.c_double, (h, end, 1e-9, 0.5))
        assert ends.libraries[kind].events_of_run(method_number(method), *numbers, state, when) == 3
        bound = 1e-2 if method == "ab2" else 1e-5
        assert np.abs(np.array(when[:3]) - math.pi * np.array([0.5, 1.5, 2.5])).max() < bound
        wanted = 0.125 * np.array([math.sin(end - 2.5 * math.pi), math.cos(end - 2.5 * math.pi)])
        assert np.abs(np.array(state) - wanted).max() < bound


def swing(t):
    """The pendulum of length 1 from 60 degrees, by the angle, with steps that are small enough."""
    x, n = np.array([math.pi / 3, 0.0]), 2000

    def rates(x):
        return np.array([x[1], -math.sin(x[0])])

    for _ in range(n):
        h = t / n
        a = rates(x)
        b = rates(x + h / 2 * a)
        c = rates(x + h / 2 * b)
        x = x + h / 6 * (a + 2 * b + 2 * c + rates(x + h * c))
    s, c = math.sin(x[0]), math.cos(x[0])
    return np.array([s, -c, c * x[1], s * x[1]])


@pytest.mark.parametrize(
    ("kind", "method", "bound"),
    [
        ("pendulum", "rk4", 1e-9),
        ("pendulum", "heun", 2e-4),
        ("pendulum", "tsit5", 1e-6),
        ("pendulum", "dop853", 1e-6),
        ("pendulum by multipliers", "rk4", 1e-9),
    ],
)
def test_closed_loops(ends, kind, method, bound):
    """A rod is a loop in Cartesian coordinates: it keeps its length, and swings as by its angle."""
    start = (math.sin(math.pi / 3), -0.5, 0.0, 0.0)
    found = ends(kind, method, start, 4.0, 0.01, 1e-8)
    assert abs(math.hypot(*found[:2]) - 1) < 1e-12 and abs(found[:2] @ found[2:]) < 1e-12
    assert np.abs(found - swing(4.0)).max() < bound


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "attached" not in kind])
def test_attached_models(ends, kind):
    """A kernel that was compiled before gives the states of one that is one text with the model."""
    start = (0.8, 0.1) if kind == "oscillator" else (0.8, -0.6, 0.03, 0.04)
    methods = [*METHODS, *(EMBEDDED if "by multipliers" not in kind else ())]
    for method in [*methods, *(("radau5", "rodas5p") if kind == "oscillator" else ())]:
        found = [ends(k, method, start, 2.0, 0.01, 1e-7) for k in (kind, f"{kind} attached")]
        assert np.abs(found[0] - found[1]).max() < 1e-13, method


SANITIZE = "-fsanitize=address,undefined"


def beside(folder, *command):
    """The kernel that models are attached to, compiled by itself."""
    path = folder / "kernel.o"
    done = subprocess.run(
        [*command, "-c", str(KERNEL / "linked.c"), "-o", str(path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[:2000]
    return str(path)


CALLS = """
#include "{model}.c"
#include <stdio.h>
#ifdef ATTACHED
const Kernel *kernel_functions(void);
#endif
int main(void)
{{
#ifdef ATTACHED
    attach(kernel_functions());
#endif
    for (int method = 0; method < {n}; method++) {{
        double state[N_S] = {{{start}}};
        printf("%d\\n", end_of_run(method, 0.05, 1.0, 1e-6, state));
#if HAS_LOOKS
        double when[10];
        printf("%d\\n", events_of_run(method, 0.05, 4.0, 1e-6, 0.5, state, when) != 2);
#endif
    }}
    return 0;
}}
"""


@pytest.mark.campaign
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("kind", KINDS)
def test_sanitizers(kind, compiler, tmp_path):
    """Nothing past arrays, no undefined behaviour, in a run by every method."""
    start = "1.0, 0.0" if "oscillator" in kind else "0.8, -0.6, 0.0, 0.0"
    n = len(METHODS) + (len(EMBEDDED) if "by multipliers" not in kind else 0)
    n += 2 if "oscillator" in kind else 0
    (tmp_path / "main.c").write_text(CALLS.format(model=kind.split()[0], n=n, start=start))
    command = [
        compiler,
        *WARNINGS,
        *KINDS[kind],
        f"-I{MODELS}",
        f"-I{KERNEL}",
        "-g",
        "-O1",
        "-fno-omit-frame-pointer",
    ]
    command += [SANITIZE, "-fno-sanitize-recover=all", "main.c", "-o", "main", "-lm"]
    command += (
        [beside(tmp_path, compiler, *WARNINGS, "-g", "-O1", SANITIZE)] if "attached" in kind else []
    )
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    ran = subprocess.run([str(tmp_path / "main")], capture_output=True, text=True)
    assert ran.returncode == 0 and set(ran.stdout.split()) == {"0"}, ran.stderr[:2000]


THREADS = """
#include "{model}.c"
#include <pthread.h>
#include <stdio.h>
#ifdef ATTACHED
const Kernel *kernel_functions(void);
#endif
static void *go(void *end)
{{
    for (int method = 0; method < {n}; method++) {{
        double state[N_S] = {{{start}}};
        if (end_of_run(method, 0.05, 1.0, 1e-6, state))
            return end;
        ((double *)end)[method] = state[0];
    }}
    return NULL;
}}
int main(void)
{{
    double ends[2][{n}];
    pthread_t threads[2];
#ifdef ATTACHED
    attach(kernel_functions());
#endif
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, go, ends[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int method = 0; method < {n}; method++)
        printf("%d\\n", ends[0][method] != ends[1][method]);
    return 0;
}}
"""


@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS)
def test_runs_in_two_threads(kind, tmp_path):
    """Nothing is shared that is written to."""
    start = "1.0, 0.0" if "oscillator" in kind else "0.8, -0.6, 0.0, 0.0"
    n = len(METHODS) + (len(EMBEDDED) if "by multipliers" not in kind else 0)
    (tmp_path / "main.c").write_text(THREADS.format(model=kind.split()[0], n=n, start=start))
    command = [
        "gcc",
        "-std=gnu99",
        *KINDS[kind],
        f"-I{MODELS}",
        f"-I{KERNEL}",
        "-g",
        "-O1",
        "-fsanitize=thread",
        "main.c",
    ]
    command += (
        [beside(tmp_path, "gcc", "-std=gnu99", "-g", "-O1", "-fsanitize=thread")]
        if "attached" in kind
        else []
    )
    done = subprocess.run(
        [*command, "-o", "main", "-lm", "-lpthread"], cwd=tmp_path, capture_output=True, text=True
    )
    if "sanitize" in done.stderr or not shutil.which("gcc"):
        pytest.skip("needs gcc with its thread sanitizer")
    assert done.returncode == 0, done.stderr[:2000]
    ran = subprocess.run(["setarch", "-R", str(tmp_path / "main")], capture_output=True, text=True)
    assert ran.returncode == 0 and set(ran.stdout.split()) == {"0"}, ran.stderr[:2000]


@pytest.mark.campaign
@pytest.mark.parametrize("file", [MODELS / "oscillator.c", KERNEL / "linked.c"])
def test_symbols_that_the_kernel_needs(file, tmp_path):
    """Mathematics and memory that is moved: nothing that allocates, prints or is kept."""
    path = tmp_path / "model.o"
    command = [
        "gcc",
        *WARNINGS,
        f"-I{MODELS}",
        f"-I{KERNEL}",
        "-O2",
        "-c",
        str(file),
        "-o",
        str(path),
    ]
    if not shutil.which("gcc") or not shutil.which("nm"):
        pytest.skip("gcc and nm are needed")
    subprocess.run(command, check=True)
    listed = subprocess.run(
        ["nm", "-u", str(path)], capture_output=True, text=True, check=True
    ).stdout.split()
    allowed = {
        "sin",
        "cos",
        "exp",
        "pow",
        "log",
        "sqrt",
        "fmax",
        "fmin",
        "nextafter",
        "floor",
        "fmod",
        "memcpy",
    }
    allowed |= {
        "asin",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "log10",
        "log2",
        "log1p",
    }
    allowed |= {"expm1", "cbrt", "hypot", "ceil", "ldexp", "copysign"}
    allowed |= {
        "memmove",
        "memset",
        "memcmp",
        "_GLOBAL_OFFSET_TABLE_",
        "__stack_chk_fail",
        "sincos",
        "acos",
        "tan",
    }
    assert {x for x in listed if x != "U"} <= allowed
