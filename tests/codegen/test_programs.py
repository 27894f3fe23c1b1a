"""Stand-alone programs in C, Fortran and Python against the run within the package; their files;
their answers to bad input."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.numeric.fixed_step_methods import METHODS, join_alternatives
from bellcrank.export.model_setup import program_stem
from bellcrank.export.standalone.c import KNOWN_METHODS
from tests.models import example, pendulum, relative, system
from tests.programs import (
    COMPILED,
    FLAGS,
    LANGUAGES,
    LONG_PYTHON,
    LONG_SHELLS,
    MAINLY_C,
    SHELLS,
    build,
    compiled,
)

AUTOSIM = [
    "passenger_car",
    "passenger_car_small",
    "cart",
    "four_bar",
    "spacecraft_1",
    "spacecraft_1_small",
    "spacecraft_2",
    "stanford_arm",
    "stanford_arm_controlled",
]
SOME = ("cart", "four_bar")  # the others in the long tests
OFF = {
    "ltt1": 0.0,
    "ltt2": 0.0,
    "ltt3": 0.0,
}  # thrusters switch, and a switch may fall into another step


def worst(run, reference):
    """The largest relative difference of all channels."""
    assert set(run) == set(reference)
    assert all(run.units[name] == reference.units[name] for name in run)
    return max(relative(run[name], reference[name]) for name in run)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Programs of examples, each built once."""
    known = {}

    def get(name, language, make=example):
        if (name, language) not in known:
            folder = tmp_path_factory.mktemp(f"{name}_{language}")
            known[name, language] = build(make(name), language, folder)
        return known[name, language]

    return get


# ---- the same numbers


@pytest.mark.parametrize("language", COMPILED)
@pytest.mark.parametrize(
    "name", [n if n in SOME else pytest.param(n, marks=pytest.mark.campaign) for n in AUTOSIM]
)
def test_examples_agree_with_the_run_within_the_package(built, tmp_path, name, language):
    eom = example(name)
    values = OFF if name.startswith("spacecraft_1") else {}
    start = {"q(rb)": 3.0} if name == "passenger_car" else {}  # deg
    reference = eom.compile(backend="c").simulate(parameters=values, initial=start)
    run = built(name, language).run(tmp_path, *(f"{k} {v}" for k, v in (values | start).items()))
    assert worst(run, reference) < 1e-9
    assert relative(run.time, reference.time) == 0


@pytest.mark.campaign
@pytest.mark.parametrize("language", COMPILED)
@pytest.mark.parametrize("flags", ["-O1 -Werror", "-O2 -Werror", "-O3 -Werror"])
@pytest.mark.parametrize("name", AUTOSIM)
def test_examples_compile_without_warnings_however_optimised(tmp_path, name, language, flags):
    program = build(example(name), language, tmp_path, flags)
    values = OFF if name.startswith("spacecraft_1") else {}
    run = program.run(tmp_path / "run", *(f"{k} {v}" for k, v in values.items()))
    assert worst(run, example(name).compile(backend="c").simulate(parameters=values)) < 1e-9


@pytest.mark.parametrize(
    "name",
    [
        "quarter_car",
        "passenger_car",
        *(
            pytest.param(n, marks=pytest.mark.campaign)
            for n in AUTOSIM
            if n not in ("four_bar", "spacecraft_1", "spacecraft_1_small")
        ),
    ],
)
def test_python_programs_agree_too(built, tmp_path, name):
    values = OFF if name.startswith("spacecraft_1") else {}
    t_end = 0.02 if name.startswith("stanford") else 1.0
    reference = example(name).compile().simulate(t_end=t_end, parameters=values)
    lines = [f"stopt {t_end}", *(f"{k} {v}" for k, v in values.items())]
    assert worst(built(name, "python").run(tmp_path, *lines), reference) < 1e-9
    texts = [p.read_text(encoding="utf-8") for p in built(name, "python").folder.glob("*.py")]
    assert not any("import numpy" in text for text in texts)  # nothing but Python


def mass_on_a_spring():
    s = bc.System("mass", units="mks")
    b = s.add_body("b", translate=1, mass=1)
    s.add_force("f", magnitude="-4*x", direction=s.inertial[1], at=b.origin)
    s.add_event("back", "q(b)", action={"u(b)": "-u(b)"})
    return s


def remembering():
    return pendulum(
        "counter(t)",
        lambda s: s.add_external("counter", arguments=("t",), memory=2, python=counter),
    )


def holding():
    def prepare(s):
        s.add_external(
            "held", arguments=("u(rod)",), returns=("pull",), when="update", python=twice
        )

    return pendulum("pull", prepare)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: system("four_bar"), "do not keep loops closed"),
        (mass_on_a_spring, "do not watch events"),
        (remembering, "have no user functions with a memory"),
        (holding, "do not hold values of user functions"),
    ],
)
def test_models_that_the_driver_in_python_cannot_run_become_a_module_alone(tmp_path, make, why):
    eom = make().equations()
    with pytest.warns(
        bc.ModelWarning, match=f"programs in Python {why}.*write one in C or Fortran"
    ):
        path = eom.export("python", tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["model.py"]
    assert f"# Note: programs in Python {why}" in path.read_text(encoding="utf-8")
    space = {"__name__": "model"}
    exec(path.read_text(encoding="utf-8"), space)
    sim = eom.compile(backend="python")
    q, u = sim.assemble()
    p, c = sim.parameter_values(), sim.loaded.constants(sim.parameter_values())
    if why.startswith(("do not keep", "do not watch")):
        rates = space["derivatives"](0.0, list(q), list(u), p, c, [], space["ROUTINES"])
        for found, expected in zip(rates, sim.derivatives(0.0, q, u), strict=True):
            assert found == pytest.approx(expected, rel=1e-12)


def test_programs_in_python_use_rk4_where_a_model_asks_for_another_method(tmp_path):
    s = pendulum("-q(rod)")
    s.set_run(method="heun")
    s.equations().export("python", tmp_path)
    (path,) = tmp_path.glob("*.par")
    text = path.read_text(encoding="utf-8")
    assert "asks for the method heun; rk4 is used" in text and "METHOD          rk4" in text


COUNTER = {
    "c": "double counter(double t, double "
    "*memory)\n{\n    memory[0] += 1.0;\n    memory[1] = t;\n    return memory[0];\n}\n",
    "fortran": """
  function counter(t, memory) result(value)
    real(dp), intent(in) :: t
    real(dp), intent(inout) :: memory(2)
    real(dp) :: value
    memory = [memory(1) + 1, t]
    value = memory(1)
  end function counter
""",
}
PAIR = {
    "c": "void pair(double a, double b, double "
    "*returns)\n{\n    returns[0] = 2.0*a;\n    returns[1] = a*b;\n}\n",
    "fortran": """
  subroutine pair(a, b, returns)
    real(dp), intent(in) :: a, b
    real(dp), intent(out) :: returns(2)
    returns = [2*a, a*b]
  end subroutine pair
""",
}
GAIN = 2.0


def counter(t, memory):
    memory[0] += 1.0
    memory[1] = t
    return memory[0]


def twice(a):
    return GAIN * a


def pair(a, b):
    return twice(a), a * b


def everything(memory=True, **options):
    """A pendulum with tables, user functions, inputs, their rates, and every function of the text
    language."""

    calls = "counter(t)" if memory else "t/tau"

    def prepare(s):
        x = np.linspace(-1, 1, 6)
        grid = np.add.outer(np.sin(x), x**2)
        s.define("v", "tau*u(rod)")
        s.define("straight", bc.table(x, np.cos(x)))
        s.define("smooth", bc.table(x, np.cos(2 * x), 3))
        s.define("flat", bc.table(x, x, grid))
        s.define("curved", bc.table(x, x, grid, 3))
        if memory:
            s.add_external("counter", arguments=("t",), memory=2, python=counter, **COUNTER)
        s.add_external(
            "pair", arguments=("q(rod)", "u(rod)"), returns=("first", "second"), python=pair, **PAIR
        )
        for name in ("steady", "jump", "rise", "wave", "sweep", "line", "curve"):
            s.add_input(name, units="1", label=f'the {name}, "as it is"')
        s.set_units(tau="T", p0="1")
        s.add_output(
            "one", "straight(3*q(rod)) + smooth(q(rod)) + tau*dxdt(smooth(q(rod)))", units="1"
        )
        s.add_output(
            "two", "flat(q(rod), v) + curved(v, q(rod)) + tau*dxdt(curved(q(rod), v))", units="1"
        )
        s.add_output("some", "min(q(rod), 0.1, v) + max(q(rod), 0.2) + abs(v) + sign(v)", units="1")
        s.add_output(
            "more",
            "where(q(rod) > 0.1, exp(q(rod)), log(2 + q(rod))) + (2 + q(rod))**1.7 + sqrt(2 "
            "+ v**2)",
            units="1",
        )
        s.add_output(
            "rest",
            "(2 + q(rod))**p0 + atan2(v, 2) + asin(q(rod)/4) + acos(q(rod)/4) + atan(v) + "
            "tan(q(rod))",
            units="1",
        )
        s.add_output("powers", "q(rod)**4 + 1/(2 + q(rod))**3 + where(t > tau/2, 1, 0)", units="1")
        s.add_output(
            "rates", "dxdt(rise) + dxdt(wave) + dxdt(sweep) + dxdt(line) + dxdt(curve)", units="1/T"
        )
        s.add_output("calls", calls, units="1")
        s.set_run(inputs={
            "steady": 0.1, "jump": bc.signals.step(0.2, 0.3, 0.05), "rise": bc.signals.ramp(0.1, 0.5), "wave": bc.signals.sine(0.2, 3, 0.4, 0.1),
            "sweep": bc.signals.chirp(0.1, 1, 5, 0.6, 0.1), "line": ([0, 0.3, 1.0], [0, 0.2, 0.1]),
            "curve": bc.table(np.linspace(0, 1, 5), [0, 0.1, -0.1, 0.2, 0.0], 3),
        }, method=options.get("method", "rk4"))  # fmt: skip

    moment = (
        f"m0*(-first - 0.1*second - 0.01*{calls} + steady + jump + rise + wave + sweep + line + "
        f"curve + smooth(q(rod)))"
    )
    return pendulum(moment, prepare, m0=1.0, p0=0.7, tau=1.0)


@pytest.mark.filterwarnings(
    "ignore:table '.*' was evaluated at:bellcrank.ModelWarning"
)  # on purpose: outside its points
@pytest.mark.parametrize("language", MAINLY_C)
def test_tables_routines_inputs_and_functions(tmp_path, language):
    eom = everything(memory=language != "python").equations()
    program = build(eom, language, tmp_path / "program")
    sim = eom.compile(backend="c")
    for method in ("rk4", "rk2", "euler") if language != "python" else ("rk4", "rk2"):
        run = program.run(tmp_path / method, f"method {method}")
        assert worst(run, sim.simulate(method=method)) < 1e-9


@pytest.mark.parametrize("language", COMPILED)
def test_mass_matrix_solved_numerically(tmp_path, language):
    eom = system("stanford_arm").equations(solve="implicit")
    run = build(eom, language, tmp_path / "program").run(tmp_path, "stopt 0.5")
    assert worst(run, eom.compile(backend="c").simulate(t_end=0.5)) < 1e-9


@pytest.mark.campaign
@pytest.mark.parametrize("language", LANGUAGES[1:2])
def test_long_routines_in_parts(tmp_path, language):
    from bellcrank.codegen.fortran.source import fortran_source
    from bellcrank.program.derivatives import with_rhs_jacobian_in
    from bellcrank.program.inertias import inertia_functions

    eom = example("spacecraft_2")
    eom.export(language, tmp_path)
    program = with_rhs_jacobian_in(eom.program, "fortran")
    text = fortran_source(program, longest=15, extra=inertia_functions(program))
    assert (
        "subroutine derivatives_3(t, q, u, p, c, w, z, x)" in text
        and "subroutine constants_2(p, c)" in text
    )
    assert max(map(len, text.splitlines())) <= 132
    (tmp_path / "model.f90").write_text(text, encoding="utf-8")
    run = compiled(language, tmp_path).run(tmp_path / "run", "stopt 50")
    assert worst(run, eom.compile(backend="c").simulate(t_end=50)) < 1e-9


# ---- the input file


@pytest.mark.campaign
@pytest.mark.parametrize("language", COMPILED)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("change_point_four_bar", {}),
        ("slider_crank", {"equal_arms": True}),
        ("n_four_bar", {"n": 2}),
    ],
)
def test_passages_through_singular_positions(tmp_path, name, options, language):
    """The run within the package reports passages; the programs come out of them on the same
    branch, with closed loops."""
    s = system(name, **options)
    s.add_outputs("residuals")
    eom = s.equations()
    reference = eom.compile(backend="c").simulate()
    assert reference.ended == "finished" and any("singular" in str(e) for e in reference.events)
    run = build(eom, language, tmp_path / "program").run(tmp_path)
    assert len(run) == len(reference)
    for s in (*eom.coordinates, *eom.speeds):
        assert relative(run[s.name], reference[s.name]) < 1e-6
    assert (
        max(np.abs(run[n]).max() for n in run if n.startswith("residual") and "rate" not in n)
        < 1e-12
    )


@pytest.mark.parametrize("language", COMPILED[:1])
@pytest.mark.parametrize(
    "name", ["quarter_car", pytest.param("four_bar", marks=pytest.mark.campaign)]
)
def test_echo_reproduces_the_run(built, tmp_path, name, language):
    """Parameter file -> program -> echo -> program: the same run, with initial values the first one
    had to find."""
    program = built(name, language)
    first = program.run(tmp_path / "first", "stopt 0.5")
    again = program.run(tmp_path / "second", include=tmp_path / "first" / "out.echo")
    assert list(again) == list(first)
    assert worst(again, first) < 1e-12
    assert relative(again.time, first.time) == 0
    echo = bc.ParsFile.read(tmp_path / "first" / "out.echo")
    keywords = [e.keyword for e in echo.entries]
    eom = example(name)
    assert set(p.lower() for p in eom.parameters) <= set(keywords)
    assert {"".join(s.name.split()) for s in (*eom.coordinates, *eom.speeds)} <= set(keywords)


def test_echo_names_labels_and_units(built):
    built("four_bar", "c")()
    text = (built("four_bar", "c").folder / "four_bar_linkage.echo").read_text(encoding="utf-8")
    (mass,) = (line for line in text.splitlines() if line.startswith("bm "))
    assert mass.split()[1:3] == ["10", "kg"] and "mass of" in mass
    # Sayers (1990), Table 9.3.3: Q(2) = .563473, Q(3) = -.644491 for Q(1) = -.5
    values = {
        e.keyword: float(e.words[0])
        for e in bc.ParsFile.read(built("four_bar", "c").folder / "four_bar_linkage.echo").entries
        if e.keyword != "method"
    }
    assert values["q(a)"] == -0.5
    assert values["q(b)"] == pytest.approx(0.563473, abs=5e-7)
    assert values["q(c)"] == pytest.approx(-0.644491, abs=1e-6)


@pytest.mark.parametrize("language", COMPILED)
@pytest.mark.parametrize("name", ["passenger_car", "four_bar"])
def test_every_parameter_acts_without_new_compilation(built, tmp_path, name, language):
    eom, program = example(name), built(name, language)
    sim = eom.compile(backend="c")
    base = sim.simulate(t_end=0.5)
    records = eom.analysis.mechanism.description.parameters
    for p in eom.parameters:
        default = records[p.lower()].value
        changed = 1.05 * default if default else 100.0
        run = program.run(tmp_path / p, f"{p.upper()} {changed!r} in its unit", "stopt 0.5")
        assert worst(run, sim.simulate(t_end=0.5, parameters={p: changed})) < 1e-9
        assert worst(run, base) > 1e-9, p


@pytest.mark.parametrize("language", SHELLS)
def test_options_and_forms_of_input(built, tmp_path, language):
    program = built("quarter_car", language)
    (tmp_path / "inner.par").write_text(
        "PARSFILE\n\nM_B 300\nend\nthis is not read\n", encoding="utf-8"
    )
    path = tmp_path / "car.par"
    path.write_text(
        "\ufeffPARSFILE\r\n  * comment\r\nTITLE a wide \u00f6 title\r\nPARSFILE "
        "inner.par\r\nk\t1.68D4 N/m\r\nu( wheel ) -2.5e-1\r\nQ(2) .01\r\nz_road 0.02\r\n",
        encoding="utf-8",
    )
    told = program(
        path,
        "--t-end",
        0.2,
        "--step",
        "2e-3",
        "--method",
        "rk2",
        "--output-every",
        7,
        "--output",
        tmp_path / "o.csv",
        *(() if language == "python" else ("--echo", tmp_path / "o.echo")),
    )
    assert "a wide \u00f6 title: 100 steps of" in told
    run = bc.Run.read(tmp_path / "o.csv")
    reference = example("quarter_car").compile(backend="c").simulate(
        t_end=0.2, step=0.002, method="rk2", output_every=7, parameters={"m_b": 300}, inputs={"z_road": 0.02},
        initial={"u(wheel)": -0.25, "q(body)": 0.01},
    )  # fmt: skip
    assert worst(run, reference) < 1e-9
    assert run.time[-1] == 0.2  # the last step is kept though it is not the seventh
    assert "--output-every" in program("--help")


@pytest.mark.parametrize("language", COMPILED[:1])
def test_layouts_of_the_output(built, tmp_path, language):
    program = built("four_bar", language)
    for name, options in (("text", []), ("binary", ["--binary"]), ("classic", ["--classic"])):
        program("--output", tmp_path / f"{name}.erd", "--echo", tmp_path / f"{name}.echo", *options)
    text, binary, classic = (
        bc.Run.read(tmp_path / f"{name}.erd") for name in ("text", "binary", "classic")
    )
    assert worst(binary, text) == 0
    assert relative(classic.time, text.time) < 1e-6
    assert (tmp_path / "classic.erd.BIN").stat().st_size == len(text) * (4 * len(text.channels) + 8)
    for short, full in zip(classic, text, strict=True):
        assert relative(classic[short], text[full]) < 1e-7
        assert classic.units[short] == text.units[full]
    header = (tmp_path / "classic.erd").read_text(encoding="utf-8").splitlines()
    assert header[1] == "    10,   201,   201,    40,     1, 0.500000E-02"
    echo = (tmp_path / "classic.echo").read_text(encoding="utf-8").splitlines()
    assert [line[8:21] for line in echo if line.startswith("l1 ")] in (
        ["0.500000    "[:13].rjust(13)],
        [" 0.500000    "],
    )
    assert text.generic["pull"] == "Force" and text.bodies["q(b)"] == "b"


# ---- bad input


BAD = [
    ("PARSFILE\nk 3\nkk 4\n", "line 3: no keyword is called 'kk'"),
    ("PARSFILE\n* c\nk three\n", "line 3: k needs a number, found 'three'"),
    ("PARSFILE\nk\n", "line 2: k needs a number, found ''"),
    ("PARSFILE\nk 1e999\n", "k needs a number, found '1e999'"),
    ("PARSFILE\nk 0x10\n", "k needs a number, found '0x10'"),
    ("PARSFILE\nk 1-5\n", "k needs a number, found '1-5'"),
    ("PARSFILE\nk nan\n", "k needs a number, found 'nan'"),
    ("k 3\n", "line 1: a parameter file begins with the line PARSFILE"),
    ("", "begins with the line PARSFILE; this one is empty"),
    ("PARSFILE\nPARSFILE nowhere.par\n", "line 2: cannot read nowhere.par"),
    ("PARSFILE\nPARSFILE\n", "line 2: PARSFILE needs the name of a file"),
    ("PARSFILE\nPARSFILE bad.par\n", "parameter files name each other"),
    ("PARSFILE\nstep -1\n", "line 2: step needs a positive number, found '-1'"),
    ("PARSFILE\niprint 1.5\n", "iprint needs a whole number of at least 1, found '1.5'"),
    ("PARSFILE\nmethod midpoint\n", "the method is {methods}, found 'midpoint'"),
    ("PARSFILE\nstep 2\nstopt 1\n", "is larger than STOPT"),
    ("PARSFILE\nm_b 0\nm_w 0\n", "the constants of the model cannot be computed"),
    ("PARSFILE\nz_road sine 1 2\n", "line 2: z_road: sine needs 4 numbers"),
    ("PARSFILE\nz_road square 1 2\n", "found 'square'"),
    ("PARSFILE\nz_road chirp 1 1 2 0 0\n", "the duration of a chirp must be positive"),
    ("PARSFILE\nz_road file road.txt\n", "line 2: cannot read road.txt"),
    ("PARSFILE\nz_road file words.txt\n", "line 1: expected a time later than the one before"),
    ("PARSFILE\nq(wheel\n", "no keyword is called"),
    ("PARSFILE\nq(9) 1\n", "no keyword is called 'q(9)'"),
]


@pytest.mark.parametrize("language", LONG_SHELLS)
def test_bad_input_is_told_with_its_line(built, tmp_path, language):
    program = built("quarter_car", language)
    path = tmp_path / "bad.par"
    (tmp_path / "words.txt").write_text("hello\n", encoding="utf-8")
    for text, message in (
        BAD if language != "python" else BAD[::4]
    ):  # Python takes its time to start
        path.write_text(text, encoding="utf-8")
        known = join_alternatives(
            {"c": KNOWN_METHODS, "fortran": METHODS, "python": ("rk2", "rk4")}[language]
        )
        assert message.replace("{methods}", known) in program(path, cwd=tmp_path, code=1), text
        assert not [*tmp_path.glob("quarter_car.*")]


@pytest.mark.parametrize("language", ["c", "python"])
def test_all_problems_are_told_at_once(built, tmp_path, language):
    path = tmp_path / "bad.par"
    path.write_text("PARSFILE\nfirst 1\nk x\nlast 2\n", encoding="utf-8")
    told = built("quarter_car", language)(path, cwd=tmp_path, code=1)
    assert [f"line {n}" in told for n in (1, 2, 3, 4, 5)] == [False, True, True, True, False]


@pytest.mark.parametrize("language", LONG_SHELLS)
def test_files_that_cannot_be_written(built, tmp_path, language):
    program = built("quarter_car", language)
    for option in ("--output", "--echo")[: 1 if language == "python" else 2]:
        told = program(program.default, option, tmp_path / "nowhere" / "file", cwd=tmp_path, code=1)
        assert "this file cannot be written" in told
    assert "cannot read" in program(tmp_path / "none.par", cwd=tmp_path, code=1)
    program("--colour", "red", cwd=tmp_path, code=2)
    program("--step", cwd=tmp_path, code=2)
    if language != "python":
        program("--classic", "--output", "a.csv", cwd=tmp_path, code=2)


@pytest.mark.parametrize("language", LONG_SHELLS)
def test_dependent_speeds_cannot_be_given(built, tmp_path, language):
    path = tmp_path / "cart.par"
    path.write_text("PARSFILE\nu(lfw) 3\n", encoding="utf-8")
    assert "u(lfw) follows from a constraint and cannot be given" in built("cart", language)(
        path, cwd=tmp_path, code=1
    )


@pytest.mark.parametrize("language", SHELLS)
def test_a_run_that_blows_up_ends_with_what_it_has(built, tmp_path, language):
    path = tmp_path / "car.par"
    path.write_text("PARSFILE\nk -1e9\nstep 0.01\nstopt 3\nz_road 1\n", encoding="utf-8")
    told = built("quarter_car", language)(path, cwd=tmp_path, code=4)
    assert "stopped at t = " in told
    run = bc.Run.read(tmp_path / f"quarter_car.{'csv' if language == 'python' else 'erd'}")
    assert 1 < len(run) < 31 and np.all(np.isfinite(run["q(body)"]))


@pytest.mark.campaign
@pytest.mark.parametrize("language", COMPILED[:1])
def test_loops_that_cannot_be_closed(tmp_path, language):
    s = bc.System("three bars", units="mks")
    parent = None
    for name in "abc":
        parent = s.add_body(
            name,
            parent=parent,
            rotate=3,
            joint_at=(0 if parent is None else 1, 0, 0),
            cm=(1, 0, 0),
            mass=1,
            inertia=0,
        )
    s.add_loop_joint(
        "loop",
        "revolute",
        between=(
            s.add_point("tip", body=parent, at=(1, 0, 0)),
            s.add_point("hook", at=("d", 0, 0)),
        ),
        axis=s.inertial[3],
    )
    s.set_defaults(d=2)
    s.set_run(
        t_end=0.1,
        step=0.01,
        initial={"q(a)": np.pi / 3, "q(b)": -np.pi / 3, "q(c)": -np.pi / 3, "u(a)": 1.0},
    )
    program = build(s.equations(), language, tmp_path / "program")
    sim = s.equations().compile(backend="c")
    assert worst(program.run(tmp_path), sim.simulate()) < 1e-9
    path = tmp_path / "bars.par"
    path.write_text("PARSFILE\nd 4\n", encoding="utf-8")
    said = program(path, cwd=tmp_path, code=1)
    with pytest.raises(
        bc.ModelError, match="cannot be assembled: a residual of 2 remains"
    ) as refused:
        sim.simulate(parameters={"d": 4})
    assert str(refused.value).splitlines()[-1].split("1. ")[1].rstrip(".") in said


# ---- writing


@pytest.mark.parametrize(
    ("language", "option"), [("c", "c= or fortran="), ("fortran", "fortran= or c=")]
)
def test_routines_must_be_given_in_the_language(tmp_path, language, option):
    s = pendulum("f(t)", lambda s: s.add_external("f", arguments=("t",), python=lambda t: t))
    with pytest.raises(bc.ModelError, match=f"needs the user function 'f' in .*: give {option}"):
        s.equations().export(language, tmp_path)


def test_python_routines_that_cannot_be_taken_along(tmp_path):
    around = 3.0

    def nested(t):
        return around * t

    for function, why in (
        (nested, "variables of the function around it"),
        (abs, "not a plain function"),
        (lambda t: t, "not written with def"),
    ):
        s = pendulum(
            "f(t)",
            lambda s, function=function: s.add_external("f", arguments=("t",), python=function),
        )
        with pytest.raises(bc.ModelError, match=why):
            s.equations().export("python", tmp_path)


@pytest.mark.parametrize("language", LONG_PYTHON)
def test_names_and_labels_of_all_kinds(tmp_path, language):
    """Names that are words of the file or of a language, long ones, labels with quotes and letters
    of other alphabets."""
    s = bc.System('a "machine" \u00fc?? */', units="mks")
    rod = s.add_body(
        "Step",
        rotate=3,
        cm=(0, -1, 0),
        mass=2,
        inertia=(0.1, 0.1, 0.1),
        label="gr\u00f6\u00dfe \"x\" 'y' \\ ??/",
    )
    s.add_moment(
        "drive",
        magnitude="-step*q(Step) - END*u(Step) - "
        "a_very_long_name_that_goes_on_and_on_and_on_to_the_end_of_the_line*sin(t)*p*Y",
        direction=rod[3],
        on=rod,
    )
    s.set_defaults(
        step=3,
        END=0.5,
        a_very_long_name_that_goes_on_and_on_and_on_to_the_end_of_the_line=0.1,
        p=2,
        Y=3,
    )
    s.set_labels(step="a label " * 30)
    s.set_run(t_end=1, step=0.01, initial={"q(Step)": 0.3})
    eom = s.equations()
    program = build(eom, language, tmp_path / "program")
    run = program.run(tmp_path / "run", "step_ 4", "step 0.02")
    assert worst(run, eom.compile(backend="c").simulate(step=0.02, parameters={"step": 4})) < 1e-9
    if language != "python":
        again = program.run(tmp_path / "again", include=tmp_path / "run" / "out.echo")
        assert worst(again, run) < 1e-12


def test_parameters_without_value_must_be_given(tmp_path):
    s = pendulum("-stiffness*q(rod)")
    program = build(s.equations(), "c", tmp_path / "program")
    assert "no value is given for stiffness" in program(cwd=tmp_path / "program", code=1)
    run = program.run(tmp_path / "run", "stiffness 3")
    assert (
        worst(run, s.equations().compile(backend="c").simulate(parameters={"stiffness": 3})) < 1e-9
    )


def test_unwritable_folder(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(bc.BuildError, match="cannot write to"):
        example("quarter_car").export("c", tmp_path / "file" / "folder")


def test_source_reads_well(tmp_path):
    example("quarter_car").export("fortran", tmp_path)
    text = (tmp_path / "model.f90").read_text(encoding="utf-8")
    assert text.startswith("! quarter car\n!\n! 2 coordinates, 2 independent speeds.")
    assert "!   p(5)    k (N/m)                  suspension stiffness\n" in text
    assert "    qd(1) = u_wheel\n" in text
    assert (
        (tmp_path / "quarter_car.par")
        .read_text(encoding="utf-8")
        .startswith("PARSFILE\n* Input of quarter car")
    )
    assert FLAGS.endswith("-Werror")


@pytest.mark.campaign
@pytest.mark.parametrize("language", LANGUAGES[:1])
def test_mutated_input_with_all_checks_on(tmp_path, language):
    """1,000 seeded mutations of parameter files and points: a result or a clear error, no fault, no
    hang."""
    flags = (
        "-O1 -g -fsanitize=undefined -fno-sanitize-recover=all -D_FORTIFY_SOURCE=2 "
        "-fstack-protector-all"
    )
    program = build(example("quarter_car"), language, tmp_path / "program", flags)
    text = (
        program.default.read_text(encoding="utf-8") + "z_road file points.txt\nPARSFILE inner.par\n"
    )
    (tmp_path / "inner.par").write_text("PARSFILE\nk 17000\n", encoding="utf-8")
    rng = np.random.default_rng(7)
    letters = list("kqu()0123456789.eEdD+-* \t\n\x00\u00fc\"'%PARSFILE,")
    codes = {0: 0, 1: 0, 4: 0}
    for _ in range(1000):
        for name, base in (("m.par", text), ("points.txt", "0 0\n0.5,0.1\n* words\n4 0\n")):
            chars = list(base)
            for _ in range(rng.integers(0, 6)):
                place = int(rng.integers(len(chars))) if chars else 0
                match rng.integers(3):
                    case 0:
                        chars[place : place + 1] = letters[rng.integers(len(letters))]
                    case 1:
                        del chars[place : place + int(rng.integers(1, 40))]
                    case _:
                        chars[place:place] = chars[place : place + int(rng.integers(1, 200))] * int(
                            rng.integers(1, 60)
                        )
            (tmp_path / name).write_text("".join(chars), encoding="utf-8")
        done = subprocess.run(
            [
                program.folder / program.stem,
                "m.par",
                "--t-end",
                "0.1",
                "--step",
                "0.001",
                "--output-every",
                "50",
            ],
            cwd=tmp_path,
            capture_output=True,
            timeout=20,
            check=False,
        )
        told = done.stderr.decode(errors="replace")
        assert done.returncode in codes, told
        assert "runtime error" not in told and "Sanitizer" not in told, told
        assert done.returncode != 1 or told.startswith("quarter_car: "), told
        codes[done.returncode] += 1
    assert codes[0] > 50 and codes[1] > 250


def test_comments_tell_a_parameter_from_an_output_of_its_name(tmp_path):
    """The cart has a wheel radius r and a yaw rate r."""
    eom = example("cart")
    unit = eom.quantities.unit["r"].text
    for language, radius, rate in (
        ("c", "p[12]", "out[0]"),
        ("fortran", "p(13)", "out(1)"),
        ("python", "p[12]", "outputs[0]"),
    ):
        text = eom.export(language, tmp_path / language).read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if f"{radius} " in line or f"{rate} " in line][
            :2
        ]
        assert f" r ({unit})" in lines[0].replace("r  (", "r (") and "yaw rate" not in lines[0]
        assert "(rad/s)" in lines[1] and "yaw rate" in lines[1]


@pytest.mark.campaign
@pytest.mark.parametrize("language", COMPILED)
def test_reactions_of_loops(tmp_path, language):
    """Outputs that need multipliers, without warnings of the compiler."""
    s = system("sarrus_linkage")
    s.add_outputs("reactions", "residuals", "energy")
    eom = s.equations()
    reference = eom.compile(backend="c").simulate(t_end=0.1)
    run = build(eom, language, tmp_path / "program").run(tmp_path, "stopt 0.1")
    moving = [n for n in run if np.abs(reference[n]).max() > 1e-9]
    assert max(relative(run[n], reference[n]) for n in moving) < 1e-9 and len(moving) > 30


@pytest.mark.parametrize("language", COMPILED)
def test_a_model_without_parameters(tmp_path, language):
    """Uniform motion: nothing to be reported but the state."""
    s = bc.System("plain", units="mks")
    s.add_body("b", translate=1, mass=1, inertia=0)
    s.set_run(t_end=1, step=0.1, initial={"u(b)": 2.0})
    run = build(s.equations(), language, tmp_path / "program").run(tmp_path / "run")
    np.testing.assert_allclose(run["q(b)"], 2 * run.time, rtol=1e-14)


@pytest.mark.parametrize("language", ["c", "fortran", "python"])
def test_no_model_takes_the_name_of_a_file_beside_it(tmp_path, language):
    """A model called "signals" would lose its program to signals.py; one called "time" would hide
    Python's own."""
    s = system("quarter_car")
    s.define("tab", bc.table([0, 1], [0, 1]))
    s.equations().export(language, tmp_path)
    (stem,) = (p.stem for p in tmp_path.glob("*.par"))
    beside = {
        p.relative_to(tmp_path).parts[0].partition(".")[0].lower()
        for p in tmp_path.rglob("*")
        if p.is_file()
    } - {stem}
    assert len(beside) >= 2
    assert all(
        program_stem(name) == f"model_{name}" for name in (*beside, "time", "numpy", "random")
    )


def test_numbers_of_numpy_are_plain_numbers_in_programs(tmp_path):
    s = system("quarter_car")
    s.set_run(initial={"q(body)": np.float64(0.01), "q(wheel)": np.float32(0.5)})
    eom = s.equations()
    for language in ("c", "python", "fortran"):
        folder = eom.export(language, tmp_path / language)
        texts = [p.read_text(encoding="utf-8") for p in Path(folder).rglob("*") if p.is_file()]
        assert not any("np.float" in text for text in texts), language
