"""Runs next to each other in lanes of vectors: the same motion as `simulate` to rounding."""

import subprocess
import sys

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.codegen.c.lanes import lanes_source
from bellcrank.core.numeric.fixed_step_methods import METHODS
from bellcrank.symbolic.expr.function_table import CALLED
from tests.models import example, needs_compiler, rarely, system

pytestmark = needs_compiler
TREES = [
    "quarter_car",
    "stanford_arm",
    "cart",
    "clutch",
    "formula_student_corner",
    "motorcycle",
    "passenger_car",
    "kane_rolling_disc",
    "suspension_car",
    "spacecraft_2",
    "n_link_chain",
    "driven_car",
]


def sizes(run, of):
    """The size of each channel, and of the largest of its unit: what is zero but for rounding is
    small against that."""
    largest = {}
    for name in of:
        largest[run.units[name]] = max(
            largest.get(run.units[name], 0.0), np.nanmax(np.abs(run[name]))
        )
    return {name: max(largest[run.units[name]], 1e-6) for name in of}


def close(sim, many, settings, runs, tolerance=1e-12):
    for i in runs:
        alone = sim.simulate(**settings(i))
        size = sizes(alone, many)
        assert many.ended[i] == alone.ended
        for name in many:
            np.testing.assert_allclose(
                many[name][i], alone[name], rtol=0, atol=tolerance * size[name], err_msg=name
            )


@pytest.mark.parametrize("name", rarely(TREES, TREES[4:]))
def test_runs_in_lanes_are_those_of_simulate(name):
    """Trees, tables, linkages, tyres on ground; an odd number of runs leaves a lane idle."""
    sim = example(name).compile()
    names = [x.name for x in sim.interface.parameters if x.default][:4]
    values = {
        x: np.linspace(0.97, 1.05, 5) * sim.interface.find_or_none(x, ("parameter",)).default
        for x in names
    }
    step = sim.interface.run.step or 1e-3
    span = {"t_end": 40.5 * step, "step": step}
    many = sim.simulate_many(parameters=values, output_every=4, backend="lanes", **span)
    assert (many.settings["backend"], many.notes) == ("lanes", [])
    one = lambda i: {"parameters": {k: v[i] for k, v in values.items()}, "output_every": 4, **span}  # noqa: E731
    close(sim, many, one, (0, 3, 4))


def test_accelerations_that_are_solved_for_in_lanes():
    """Where the equations are left implicit."""
    sim = system("double_pendulum").equations(solve="implicit").compile()
    values = np.linspace(9.0, 10.0, 5)
    many = sim.simulate_many(parameters={"g": values}, t_end=0.1, step=1e-3, backend="lanes")
    assert (many.settings["backend"], many.notes) == ("lanes", [])
    plain = example("double_pendulum").compile(backend="python")
    close(
        plain, many, lambda i: {"parameters": {"g": values[i]}, "t_end": 0.1, "step": 1e-3}, (0, 4)
    )


SINGLE = {  # motions that are small against the forces that balance in them
    "suspension_car": 3e-5,
    ("driven_car", "ax"): 1e-3,
    ("driven_car", "yaw_rate"): np.inf,
}


@pytest.mark.parametrize(
    "name", rarely(TREES, [x for x in TREES if x not in ("stanford_arm", "passenger_car")])
)
def test_runs_in_single_precision(name):
    """Within 1e-5 of double precision in many steps: what is rounded away when increments are added
    is not lost."""
    sim = example(name).compile()
    names = [x.name for x in sim.interface.parameters if x.default][:4]
    values = {
        x: np.linspace(0.97, 1.05, 5) * sim.interface.find_or_none(x, ("parameter",)).default
        for x in names
    }
    step = sim.interface.run.step or 1e-3
    t_end = min(1000.5 * step, sim.interface.run.t_end)
    given = {"parameters": values, "t_end": t_end, "step": step, "output_every": 100}
    short = sim.simulate_many(backend="lanes", precision="single", **given)
    exact = sim.simulate_many(backend="cores", **given)
    assert (short.settings["precision"], short.notes) == ("single", [])
    assert short.ended == exact.ended
    size = sizes(exact, short)
    for x in short:
        assert (
            np.abs(short[x] - exact[x]).max()
            <= SINGLE.get((name, x), SINGLE.get(name, 1e-5)) * size[x]
        ), x
    assert any((short[x] != exact[x]).any() for x in short)


def test_single_precision_is_for_runs_side_by_side():
    sim = example("quarter_car").compile()
    many = sim.simulate_many(n=2, t_end=0.01, step=0.001, backend="cores", precision="single")
    assert many.settings["precision"] == "double"
    assert "computed in double precision" in many.notes[0]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_with_inputs_that_jump_within_steps(method):
    """Of a model so short that a group has several vectors: the same bits in all of them, the last
    not full."""
    sim, k, order = (
        example("quarter_car").compile(),
        np.linspace(1e4, 2e4, 11),
        [7, 3, 10, 6, 0, 8, 2, 9, 1, 4, 5],
    )
    shared = {
        "t_end": 0.06,
        "step": 0.002,
        "method": method,
        "inputs": {"z_road": bc.signals.step(at=0.0131, height=0.05)},
    }
    many = sim.simulate_many(parameters={"k": k}, output_every=1, **shared)
    assert many.settings["backend"] == "lanes"
    close(sim, many, lambda i: {"parameters": {"k": k[i]}, "output_every": 1, **shared}, (0, 7, 10))
    turned = sim.simulate_many(parameters={"k": k[order]}, output_every=1, **shared)
    assert all((turned[x] == many[x][order]).all() for x in many)


def test_a_run_that_ends_leaves_the_other_vectors_of_its_group_alone():
    """Signals of each run, too; one of them is no longer finite after some steps."""
    sim, c = example("quarter_car").compile(), np.full(11, 1000.0)
    c[5] = -1e8
    roads = [bc.signals.sine(amplitude=0.001 * i, frequency=3.0) for i in range(11)]
    shared = {"t_end": 0.1, "step": 0.002, "output_every": 5}
    many = sim.simulate_many(
        parameters={"c": c}, inputs={"z_road": roads}, backend="lanes", **shared
    )
    cores = sim.simulate_many(
        parameters={"c": c}, inputs={"z_road": roads}, backend="cores", **shared
    )
    assert (many.settings["backend"], many.ended) == ("lanes", cores.ended)
    assert [i for i, x in enumerate(many.ended) if x != "finished"] == [5]
    for x in many:
        assert (np.isnan(many[x]) == np.isnan(cores[x])).all()
        np.testing.assert_allclose(
            np.delete(many[x], 5, 0), np.delete(cores[x], 5, 0), rtol=1e-9, atol=1e-9
        )


def test_an_angle_that_is_far_leaves_its_neighbour_alone():
    """The C library brings a large angle within a turn; the other lane has the bits it has next to
    a usual one."""
    sim = example("double_pendulum").compile()
    angle = sim.interface.states[0].name
    span = {"t_end": 0.05, "step": 1e-3, "backend": "lanes"}
    usual, beside = ([0.3 + i, 0.7, 1.1] for i in (0.0, 3e7))
    alone = sim.simulate_many(initial={angle: usual}, **span)
    many = sim.simulate_many(initial={angle: beside}, **span)
    assert all((many[x][1:] == alone[x][1:]).all() for x in many)
    one = sim.simulate(initial={angle: beside[0]}, t_end=0.05, step=1e-3)
    assert all(np.allclose(many[x][0], one[x], rtol=1e-9, atol=1e-7) for x in many)


def test_inputs_and_initial_values_of_every_run():
    sim, q = example("quarter_car").compile(), np.array([0.01, -0.02, 0.03])
    heights = [bc.signals.sine(amplitude=0.01 * i, frequency=3.0) for i in range(3)]
    shared = {"t_end": 0.1, "step": 0.002}
    many = sim.simulate_many(
        initial={"u(body)": q}, inputs={"z_road": heights}, output_every=1, **shared
    )
    assert many.settings["backend"] == "lanes"

    def one(i):
        own = {"initial": {"u(body)": q[i]}, "inputs": {"z_road": heights[i]}}
        return own | {"output_every": 1, **shared}

    close(sim, many, one, range(3))


ARGUMENTS = {
    "acosh": ("1.5 + x**2",),
    "where": ("x > 0", "x", "-2*x"),
    "mod": ("x", "0.3"),
    "atan2": ("x", "0.2 - x"),
}


@pytest.mark.filterwarnings("ignore:output .* is not finite")
def test_every_function_of_formulas():
    """Chosen without branches, or called lane by lane; runs lie on both sides of every choice."""
    s = bc.System("functions")
    s.add_body("b", translate=1, mass=1)
    s.add_input("x", units="1")
    texts = {}
    for name, f in CALLED.items():
        if f.syntax and name != "where":
            continue
        plain = ["x"] + ["0.4 - x"] * ((f.arity or 2) - 1)
        if f.domain:
            plain[0] = "0.2 + 0.1*x"
        texts[name] = (
            f"{name}({', '.join(ARGUMENTS.get(name, ('x', '-0.5', '0.6') if name == 'smooth_step' else plain))})"
        )
    texts |= {
        "less": "(x < 0.1)*3 + (x >= 0.4)",
        "power": "x**5 + (1.5 + x)**0.3",
        "angles": "sin(1e7*x) + cos(x)*sin(30*x)",
    }
    wide = {
        "atan": 1e3,
        "exp": 705.0,
        "tanh": 20.0,
        "sqrt": 1.0,
        "atan2": 3.0,
    }  # and how far their arguments go
    texts |= {
        f"wide_{name}": f"{name}({f'abs({size}*x)' if name == 'sqrt' else f'{size}*x'}{', x - 0.3' * (name == 'atan2')})"
        for name, size in wide.items()
    }
    texts["wide_root"] = "1/sqrt(abs(x))"
    for name, text in texts.items():
        s.add_output(f"f_{name}", text)
    sim = s.equations().compile()
    beyond = [
        1.02,
        -1.02,
        -1.05,
        1.2,
        -1.2,
        1e305,
        -1e305,
    ]  # powers that are infinite, short of digits, or zero
    x = np.concatenate([np.linspace(-1, 1, 4001), [1e-9, -1e-9, 1e-200, 0.0, -0.0], beyond])
    many = sim.simulate_many(
        inputs={"x": x},
        t_end=0.001,
        step=0.001,
        backend="lanes",
        channels=[f"f_wide_{n}" for n in (*wide, "root")],
    )
    with np.errstate(all="ignore"):
        np.testing.assert_array_max_ulp(many["f_wide_root"][:, -1], 1 / np.sqrt(np.abs(x)), 3)
        for name, size in wide.items():
            f, far = getattr(np, {"atan": "arctan", "atan2": "arctan2"}.get(name, name)), size * x
            expected = (
                f(np.abs(far)) if name == "sqrt" else f(far, x - 0.3) if name == "atan2" else f(far)
            )
            np.testing.assert_array_max_ulp(many[f"f_wide_{name}"][:, -1], expected, 3)
    x = np.array([-0.9, -0.3, 0.0, 0.2, 0.45, 0.5, 0.9])
    many = sim.simulate_many(
        inputs={"x": x}, t_end=0.002, step=0.001, backend="lanes", output_every=1
    )
    assert many.settings["backend"] == "lanes"
    for i, value in enumerate(x):
        alone = sim.simulate(inputs={"x": value}, t_end=0.002, step=0.001, output_every=1)
        for name in many:
            np.testing.assert_allclose(
                many[name][i], alone[name], rtol=2e-14, atol=1e-15, err_msg=f"{name} of {value}"
            )


@pytest.mark.campaign
def test_what_cannot_go_side_by_side_is_told():
    sim = example("spacecraft_1_small").compile()
    step = sim.interface.run.step or 1e-3
    many = sim.simulate_many(n=2, t_end=3 * step, step=step)
    assert many.settings["backend"] == "cores"
    assert "'thrust' remembers" in many.notes[0]


def test_the_text_is_that_of_the_one_printer():
    """Statements are those of the scalar program, one for one, in the same order."""
    program = example("stanford_arm").derived.program
    text = lanes_source(program)
    assert text.count("const lanes z") == example(
        "stanford_arm"
    ).compile().loaded.model.source.count("const double z")


def test_closed_loops_go_side_by_side_where_they_are_regular():
    """The same motion as alone, with the same bits whatever stands in other lanes; runs that come
    near a singular position have the bits of `simulate`, and their number is reported."""
    sim, sizes_of_runs, order = (
        example("four_bar").compile(),
        np.linspace(1.0, 1.02, 9),
        [5, 3, 6, 0, 8, 2, 1, 7, 4],
    )
    varied, step = [x for x in sim.interface.parameters if x.default][:2], sim.interface.run.step
    span = {"t_end": min(sim.interface.run.t_end, 1000 * step), "step": step, "output_every": 50}

    def go(of, backend):
        return sim.simulate_many(
            parameters={x.name: x.default * of for x in varied}, backend=backend, **span
        )

    many, alone = (go(sizes_of_runs, backend) for backend in ("lanes", "cores"))
    turned, size = go(sizes_of_runs[order], "lanes"), sizes(alone, many)
    assert many.settings["backend"] == "lanes"
    left = int(many.notes[0].split()[0])
    same = [all((many[x][i] == alone[x][i]).all() for x in many) for i in range(9)]
    assert 0 < left <= sum(same) < 9
    for x in many:
        assert (turned[x] == many[x][order]).all(), x
        np.testing.assert_allclose(many[x], alone[x], rtol=0, atol=1e-12 * size[x], err_msg=x)


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("target", "root"),
    [
        (("x86_64-linux", "-mavx512f"), "vrsqrt14pd"),
        (("x86_64-linux", "-mavx2"), "vsqrtpd"),
        (("aarch64-linux",), "fsqrt"),
    ],
)
def test_other_compilers_and_processors_take_the_text(target, root, tmp_path):
    """Clang as zig has it, for vectors of 512, 256 and 128 bits: assembly within the text, too."""
    pytest.importorskip(
        "ziglang", reason="there is no compiler for other processors: pip install ziglang"
    )
    for name in ("driven_car", "slider_crank"):
        source = tmp_path / f"{name}.c"
        source.write_text(lanes_source(example(name).compile().loaded.program))
        flags = [
            "-O3",
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused-function",
            "-Wno-unused-command-line-argument",
            "-S",
            str(source),
        ]
        command = [
            sys.executable,
            "-m",
            "ziglang",
            "cc",
            "-target",
            *target,
            *flags,
            "-o",
            str(tmp_path / "text.s"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:3000]
        assert root.encode() in (tmp_path / "text.s").read_bytes()
