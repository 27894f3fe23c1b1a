"""C for controllers: the run of the package step by step, without memory of its own, in double and
single precision."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli.main import main
from bellcrank.simulation.backend.compiler import find_compiler
from benchmarks.cortex import sizes, stack_of
from tests.cortex import Board, built, compiled
from tests.embedded import ALLOWED, STRICT, Embedded, in_units, symbols
from tests.emulated import emulator
from tests.models import FOLDER, example, needs_compiler, pendulum, relative

CARS = ("quarter_car", "passenger_car", "four_bar", "motorcycle", "driven_car", "suspension_car")
# what inputs are changed to during runs of tests, in user units
MOVED = {
    "quarter_car": {"z_road": 0.05},
    "passenger_car": {},
    "motorcycle": {"rear.drive": 50.0, "front.load": 20.0},
    "driven_car": {"steer": 3.0, "drive": 20.0, "brake": 1500.0},
}


def changed(eom, name, i):
    """Inputs before a step, in user units: they go up, and are held from step 30 on."""
    return {x: v * min(i, 30) / 30 for x, v in MOVED.get(name, {}).items() if x in eom.inputs}


def by_package(eom, name, count):
    """The same steps within the package: channels in user units."""
    run = eom.interface.run
    inputs = dict.fromkeys(eom.inputs, 0.0) | {
        k: v for k, v in run.inputs.items() if not MOVED.get(name)
    }
    stepper = eom.compile(backend="c", speed="quick").stepper(
        step=run.step, method=run.method or "rk4", inputs=inputs
    )
    rows = [dict(stepper.state) | dict(stepper.outputs)]
    for i in range(count):
        stepper.set(**changed(eom, name, i))
        stepper.step()
        rows.append(dict(stepper.state) | dict(stepper.outputs))
    return {k: np.array([row[k] for row in rows]) for k in rows[0]}


def by_itself(eom, name, count, folder, precision="double", **flags):
    """Steps of what is written: channels in user units."""
    c = Embedded(eom, folder, precision, **flags)
    factors = {x.name: x.unit.factor for x in eom.interface.inputs}
    places = {x.name: i for i, x in enumerate(eom.interface.inputs)}

    def before(i, m):
        for x, value in changed(eom, name, i).items():
            m.w[places[x]] = value * factors[x]

    m = c.model()
    assert c.call("begin", m) == 0
    return c, in_units(eom, c.rows(m, count, before))


def worst(got, expected, run=None):
    """The largest difference of a channel against its size in a run, or that of the channels of its
    kind."""
    sizes = {k: np.abs(x).max() for k, x in (run or expected).items()}
    kind = {k: k[:2] if k[:2] in ("q(", "u(") else k for k in sizes}
    largest = {k: max(sizes[j] for j in sizes if kind[j] == kind[k]) for k in sizes}
    return max(np.abs(got[k] - x).max() / (largest[k] or 1.0) for k, x in expected.items())


@needs_compiler
def test_steps_equal_those_of_the_package(tmp_path):
    eom = example("quarter_car")
    c, rows = by_itself(eom, "quarter_car", 100, tmp_path)
    assert worst(rows, by_package(eom, "quarter_car", 100)) < 1e-12
    assert np.abs(rows["travel"]).max() > 0.01
    # all of a model is in its structure: two may run at once, and a copy is a state to return to
    one, other = c.model(), c.model()
    other.p[c.place("P_K")] = 1e5
    assert c.call("begin", one) == c.call("begin", other) == 0
    one.w[c.place("W_Z_ROAD")] = other.w[c.place("W_Z_ROAD")] = 0.1
    for _ in range(50):
        assert c.call("step", one) == c.call("step", other) == 0
    kept = c.structure.from_buffer_copy(one)
    first = c.rows(one, 20)
    assert abs(first[0, 2] - other.y[1]) > 1e-3
    assert np.array_equal(c.rows(kept, 20), first)
    # a parameter that is tuned acts from then on; a state that is no number is rejected, and
    # nothing is lost
    one.p[c.place("P_M_B")] *= 2
    c.call("tune", one)
    c.call("step", one)
    strut = [9.80665 + m.out[c.place("OUT_AZ")] for m in (one, kept)]  # its force by the mass
    assert strut[0] == pytest.approx(strut[1] / 2, rel=0.1)
    before = list(one.y)
    one.w[0] = 1e308
    assert c.call("step", one) == c.place("NOT_FINITE")
    assert list(one.y) == before
    one.p[c.place("P_M_W")] = 0.0
    assert c.call("begin", one) == c.place("NOT_FINITE")


@needs_compiler
def test_nothing_is_kept_and_nothing_but_arithmetic_is_called(tmp_path):
    """Loops in single precision, with the bench: no memory of its own, no number in double
    precision. The pendulum comes from its level start to where others than the pivots of the start
    are needed, and swings on."""
    eom = example("planar_pendulum")
    c, rows = by_itself(
        eom, "planar_pendulum", 200, tmp_path, "single", flags=("-O0", "-Wdouble-promotion")
    )
    assert worst(rows, by_package(eom, "planar_pendulum", 200)) < 1e-5
    assert rows["q(bob, 1)"].min() < -0.9
    c.compile(
        "-O1", "-fno-stack-protector", "-c", c.source.name
    )  # which some systems have by default
    used, written = symbols(tmp_path, f"{c.stem}.o")
    assert all(ALLOWED.fullmatch(x) for x in used), used
    assert not written
    assert all(x.endswith("f") for x in used if x[:3] in ("sin", "cos", "sqr"))
    c.compile("-O0", f"{c.stem}_bench.c", c.source.name, "-o", "bench", "-lm")
    said = subprocess.run(
        [tmp_path / "bench", "--rows", "0.05"], capture_output=True, text=True, check=True
    ).stdout
    names, *lines = said.splitlines()
    assert names.startswith("t,q(bob;1)") and len(lines) == 6
    table = np.array([[float(x) for x in line.split(",")] for line in lines])
    assert relative(in_units(eom, table)["q(bob, 1)"], rows["q(bob, 1)"][:6]) < 1e-6
    assert (
        "5 steps"
        in subprocess.run(
            [tmp_path / "bench", "0.05"], capture_output=True, text=True, check=True
        ).stdout
    )


def test_what_cannot_be_written_is_said(tmp_path, capsys):
    def moved_in_python(s):
        s.add_external("bump", arguments=("t",), python=lambda t: t)

    hidden = pendulum("bump(t)", moved_in_python).equations()
    unknown = pendulum("-k*q(rod)").equations()
    fine = pendulum().equations()
    folder = tmp_path / "none"
    for eom, how, told in (
        (hidden, {}, "needs the user function 'bump' in C"),
        (unknown, {}, "starts with values of all parameters: give k"),
        (fine, {"precision": "half"}, "precision 'half' is not known; it is 'double' or 'single'"),
    ):
        with pytest.raises(bc.ModelError, match=told):
            eom.export("embedded", folder, **how)
        assert not folder.exists()
    chosen = pendulum()
    chosen.set_run(t_end=1.0, step=None, method="tsit5")
    with pytest.warns(
        bc.ModelWarning,
        match=r"asks for the method tsit5, but fixed steps of .* s are taken by rk4",
    ):
        header = chosen.equations().export("embedded", tmp_path / "stiff").with_suffix(".h")
    assert (
        "asks for the method tsit5; steps of a fixed length are taken by rk4"
        in header.read_text(encoding="utf-8")
    )
    assert (
        main(["write", str(FOLDER / "quarter_car.py"), "--for", "embedded", "--out", str(folder)])
        == 0
    )
    assert "interface: quarter_car.h" in capsys.readouterr().out
    assert {x.name for x in folder.iterdir()} == {
        "quarter_car.c",
        "quarter_car.h",
        "quarter_car_bench.c",
        "Makefile",
    }


# ---- Simulink


class Array(ctypes.Structure):
    """A vector of MATLAB, as the stand-in for its header has it."""

    _fields_ = (
        ("n", ctypes.c_int),
        ("is_complex", ctypes.c_int),
        ("values", ctypes.POINTER(ctypes.c_double)),
    )


def vector(*values):
    return Array(len(values), 0, (ctypes.c_double * max(len(values), 1))(*values))


@needs_compiler
def test_the_s_function_takes_the_same_steps(tmp_path):
    """Against a stand-in for Simulink's header: it has not been run in MATLAB."""
    eom, n = example("quarter_car"), 60
    path = eom.export("simulink", tmp_path)
    assert {x.name for x in tmp_path.iterdir()} == {
        "quarter_car.c",
        "quarter_car.h",
        "quarter_car_sfun.c",
    }
    stubs = Path(__file__).parent / "simulink"
    command = [
        *find_compiler().command,
        *STRICT,
        f"-I{stubs}",
        "-DMATLAB_MEX_FILE",
        "-shared",
        "-fPIC",
        "-O0",
    ]
    subprocess.run(
        [*command, "quarter_car_sfun.c", path.name, "-o", "block.so", "-lm"],
        cwd=tmp_path,
        check=True,
    )
    simulate = ctypes.CDLL(str(tmp_path / "block.so")).simulate
    simulate.restype = ctypes.c_char_p

    def rows(step=(), parameters=(), state=(), later=(), when=-1):
        inputs = (ctypes.c_double * (n + 1))(*(0.05 * min(i, 30) / 30 for i in range(n + 1)))
        found = (ctypes.c_double * ((n + 1) * 7))()
        given = [ctypes.byref(vector(*x)) for x in (step, parameters, state, later)]
        said = simulate(*given, when, n, inputs, found)
        return said.decode() if said else np.array(found).reshape(-1, 7)

    found, expected = rows(), by_package(eom, "quarter_car", n)
    names = [x.name for x in (*eom.interface.outputs, *eom.interface.states)]
    assert worst(dict(zip(names, found.T, strict=True)), expected) < 1e-12
    usual = [x.default for x in eom.interface.parameters]
    stiff = [
        5 * x if q.name == "k" else x for q, x in zip(eom.interface.parameters, usual, strict=True)
    ]
    assert np.array_equal(rows(parameters=usual, state=[0.0] * 4), found)
    assert not np.allclose(rows(parameters=stiff), found)
    tuned = rows(later=stiff, when=30)
    assert np.array_equal(tuned[:31], found[:31]) and not np.allclose(tuned[31:], found[31:])
    assert rows(step=(-1.0,)).startswith("STEP must be a positive number")
    assert (
        rows(parameters=(1.0,))
        == "PARAMETERS must be a vector of 8 numbers, or [] for those of the model"
    )
    assert rows(state=(1.0, 2.0)).startswith("STATE must be a vector of 4 numbers")
    assert rows(state=[np.inf] * 4).startswith(
        "quarter_car: a state or constant is no finite number"
    )


# ---- long


@needs_compiler
@pytest.mark.campaign
@pytest.mark.parametrize("name", CARS)
def test_every_kind_of_model(name, tmp_path):
    eom = example(name)
    reference = by_package(eom, name, 300)
    for precision, near in (("double", 1e-11), ("single", 1e-4)):
        c, rows = by_itself(eom, name, 300, tmp_path / precision, precision)
        assert worst(rows, reference) < near
        plain = ("-fno-stack-protector", "-fno-pie")  # some systems have them by default
        c.compile("-O2", *plain, "-c", c.source.name)
        used, written = symbols(c.folder, f"{c.stem}.o")
        assert all(ALLOWED.fullmatch(x) for x in used), used
        assert not written
        c.compile(
            "-g",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover",
            f"{c.stem}_bench.c",
            c.source.name,
            "-o",
            "bench",
            "-lm",
        )
        subprocess.run([c.folder / "bench", "0.2"], capture_output=True, check=True)


@needs_compiler
@pytest.mark.campaign
@pytest.mark.parametrize("method", ["rk2", "heun", "euler", "ab2"])
def test_every_method_and_routines_that_remember(method, tmp_path):
    def prepare(s):
        s.add_external(
            "hold",
            arguments=("t", "a"),
            memory=1,
            when="update",
            c="double hold(double t, double a, double *memory)\n"
            "{ memory[0] += 0.5*a; return t > 0.1 ? memory[0] : 0.0; }\n",
        )
        s.add_external(
            "most",
            arguments=("a",),
            memory=2,
            c="double most(double a, double "
            "*memory)\n{ if (a > memory[1]) memory[1] = a; return memory[1]; }\n",
        )

    s = pendulum("-3*q(rod) + hold(t, q(rod)) - most(u(rod))", prepare)
    s.add_output("seen", "most(u(rod)) + hold(t, q(rod))")
    s.set_run(t_end=1.0, step=0.01, method=method, initial={"q(rod)": 0.3})
    eom = s.equations()
    _, rows = by_itself(eom, "pendulum", 100, tmp_path)
    assert worst(rows, by_package(eom, "pendulum", 100)) < 1e-13


@needs_compiler
@pytest.mark.campaign
@pytest.mark.parametrize(
    "name", ["planar_pendulum", "whipple_bicycle", "andrews_squeezer", "sarrus_linkage"]
)
def test_loops_of_every_kind(name, tmp_path):
    """Pivots that hold and that do not, coordinates that do not follow speeds one by one; started
    elsewhere, too."""
    eom = example(name)
    c, rows = by_itself(eom, name, 300, tmp_path)
    assert worst(rows, by_package(eom, name, 300)) < 1e-11
    m = c.model()
    m.y[0] += 1e-3  # the rest follows
    assert c.call("begin", m) == 0 and c.call("step", m) == 0
    m.y[0] = 1e6 if name == "planar_pendulum" else np.nan
    assert c.call("begin", m) in (c.place("NOT_CLOSED"), c.place("NOT_FINITE"))


@needs_compiler
@pytest.mark.campaign
def test_loops_of_bodies_that_turn_freely(tmp_path):
    """Euler parameters: corrections keep them of unit size."""
    s = bc.System("held", units="mks")
    top = s.add_body(
        "top", rotate="euler-parameters", cm=(0.1, 0, -0.3), mass=2, inertia=(0.1, 0.1, 0.02)
    )
    low = s.add_body(
        "low",
        parent=top,
        joint_at=(0, 0, -0.6),
        rotate=(1, 2, 3),
        cm=(0, 0, -0.3),
        mass=1,
        inertia=(0.05, 0.05, 0.01),
    )
    end = s.add_point("end", body=low, at=(0, 0, -0.6))
    s.add_loop_joint(
        "loop",
        "distance",
        between=(end, s.add_point("peg", body=s.inertial, at=(0.8, 0, 0))),
        length=1.3,
    )
    s.add_gravity(direction=-s.inertial[3])
    s.set_run(t_end=1.0, step=0.002, initial={"u(top, 3)": 1.0})
    eom = s.equations()
    _, rows = by_itself(eom, "", 500, tmp_path)
    reference = by_package(eom, "", 500)
    assert worst(rows, reference) < 1e-10
    sizes = sum(rows[k] ** 2 for k in rows if k.startswith("q(top"))
    assert np.abs(sizes - 1.0).max() < 1e-12


@needs_compiler
@pytest.mark.campaign
def test_a_singular_position_is_told(tmp_path):
    """A four-bar that folds flat: the last good state stays."""
    c, _ = by_itself(example("change_point_four_bar"), "", 700, tmp_path)
    m = c.model()
    assert c.call("begin", m) == 0
    told = [c.call("step", m) for _ in range(1000)]
    end = told.index(c.place("NOT_CLOSED"))
    assert m.steps == end > 700 and np.isfinite(m.y).all()


@needs_compiler
@pytest.mark.campaign
@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("name", ["quarter_car", "four_bar"])
def test_on_a_small_processor(name, precision, tmp_path):
    """The same numbers as here, and without functions of the C library the same number of
    instructions every time."""
    unicorn = pytest.importorskip("unicorn", reason="there is no emulator: pip install unicorn")
    pytest.importorskip(
        "ziglang", reason="there is no compiler for other processors: pip install ziglang"
    )
    eom, count = example(name), 50
    c, expected = by_itself(eom, "", count, tmp_path, precision, flags=("-O0", "-ffp-contract=off"))
    board = Board(unicorn, built(tmp_path, c.stem), c.stem)
    board.call("defaults")
    assert board.call("begin")[0] == 0
    taken = [board.call("step") for _ in range(count)]
    assert {failed for failed, _ in taken} == {0}
    if name == "quarter_car":
        assert len({n for _, n in taken}) == 1
    got = in_units(eom, np.array([c.row(board.model(c.structure))]))
    last = {k: x[-1:] for k, x in expected.items()}
    assert worst(got, last, expected) < (
        1e-13 if precision == "double" else 1e-5
    )  # an angle passes zero


@needs_compiler
@pytest.mark.campaign
@pytest.mark.parametrize("name", ["quarter_car", "planar_pendulum"])
def test_the_bench_of_a_small_processor(name, tmp_path):
    """Code for a Cortex-M7 in QEMU prints the rows of this machine."""
    pytest.importorskip(
        "ziglang", reason="there is no compiler for other processors: pip install ziglang"
    )
    # its Linux does not know the M profile: the same instructions run on its largest ARM core
    runner = [*emulator("arm"), "-cpu", "max"]
    eom = example(name)
    c, expected = by_itself(eom, "", 100, tmp_path, flags=("-O0", "-ffp-contract=off"))
    compiled(tmp_path, "bench.elf", f"{c.stem}_bench.c", f"{c.stem}.c")
    command = [*runner, tmp_path / "bench.elf", "--rows", str(100 * eom.interface.run.step)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    table = np.array([[float(x) for x in line.split(",")] for line in said[1:]])
    assert worst(in_units(eom, table), expected) < 1e-13


@needs_compiler
@pytest.mark.campaign
@pytest.mark.parametrize(
    "name", ["table", 'a "b" */ ??/ größe', "x" * 80, "double", "derivatives", "N"]
)
def test_models_of_any_name_without_inputs_or_outputs(name, tmp_path):
    """Names of ours, of C and of nothing at all; what is named after them compiles."""
    s = bc.System(name, units="mks")
    rod = s.add_body("rod", rotate=3, cm=(0, -1, 0), mass=2, inertia=(0.1, 0.1, 0.1))
    s.define("step", bc.table([0, 1, 2], [0, 1, 4.0]))
    s.add_parameter("model", 1.0)
    s.add_moment("drive", magnitude="-model*step(q(rod))", direction=rod[3], on=rod)
    s.set_run(t_end=0.1, step=0.01, initial={"q(rod)": 0.3})
    eom = s.equations()
    for precision in ("double", "single"):
        folder = tmp_path / precision
        c, rows = by_itself(eom, "", 10, folder, precision, flags=("-O0", "-Wdouble-promotion"))
        assert worst(rows, by_package(eom, "", 10)) < 1e-6
        c.compile("-c", f"{c.stem}_bench.c")
    eom.export("simulink", tmp_path)
    (block,) = tmp_path.glob("*_sfun.c")
    assert len(block.stem) <= 63
    stubs = Path(__file__).parent / "simulink"
    command = [
        *find_compiler().command,
        *STRICT,
        f"-I{stubs}",
        "-DMATLAB_MEX_FILE",
        "-c",
        block.name,
    ]
    subprocess.run(command, cwd=tmp_path, check=True)


@pytest.mark.campaign
@pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None, reason="arm-none-eabi-gcc is not installed"
)
@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("name", ["stanford_arm", "four_bar"])
def test_memory_on_a_cortex_m_has_a_bound(name, precision, tmp_path):
    """Compiled with newlib; a stack without a bound is an error of the benchmark, as is a
    warning."""
    found = sizes(example(name), precision, tmp_path)
    assert found.own == 0 and 0 < found.stack < 2000 and found.code < 12_000


def test_the_deepest_chain_of_calls_is_the_stack():
    nodes = {"a": 8, "b": 100, "c": 30, "d": 50}
    graph = "".join(
        f'node: {{ title: "{k}" label: "{k}\\nm.c:1:1\\n{n} bytes (static)" }}\n'
        for k, n in nodes.items()
    )
    graph += "".join(
        f'edge: {{ sourcename: "{x}" targetname: "{y}" label: "" }}\n'
        for x, y in ("ab", "ac", "cd")
    )
    assert (stack_of(graph, ["a"]), stack_of(graph, ["c", "d"])) == (108, 80)
    with pytest.raises(RuntimeError, match="c calls itself"):
        stack_of(graph + 'edge: { sourcename: "d" targetname: "c" label: "" }\n', ["a"])
    with pytest.raises(RuntimeError, match="the stack of e is not known"):
        stack_of(graph + 'node: { title: "e" label: "e\\nm.c:1:1\\n4 bytes (dynamic)" }\n', ["a"])
