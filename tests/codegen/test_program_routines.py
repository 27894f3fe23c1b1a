"""User functions at all their places, in process and in programs of all languages, and called from
one language in another."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.simulation.backend.compiler import find_compiler
from bellcrank.simulation.backend.fortran_functions import find_fortran_compiler
from tests.late import Late
from tests.models import system
from tests.programs import COMPILED_MAINLY_C, SKIPPED, build

linalg = Late("scipy.linalg")

K, D, C, GAIN, Q0 = 2.0, 0.5, 3.0, 2.0, 0.2


def enter(k, d):
    return 2 * k, d + 1


def prepare(q, memory):
    memory[0] += 1
    return 10 * q * memory[0]


def control(q, gain):
    return -gain * q


def tick(t, memory):
    memory[0] += 1
    return memory[0] + 0 * t


def show(q, mass, amp):
    return q * mass, amp


def spring(q, c):
    return -c * q


def subroutine(name, arguments, lines, returns, memory=False):
    """The text of a subroutine in C and in Fortran, from its right sides."""
    given = [
        *(f"double {a}" for a in arguments),
        "double *returns",
        *(["double *memory"] if memory else []),
    ]
    count = ["    memory[0] += 1;"] if memory else []
    body = [f"    returns[{i}] = {x};" for i, x in enumerate(lines)]
    c = "\n".join([f"void {name}({', '.join(given)})", "{", *count, *body, "}"])
    f_lines = [x.replace("memory[0]", "memory(1)") for x in lines]
    fortran = [
        f"  subroutine "
        f"{name}({', '.join([*arguments, 'returns', *(['memory'] if memory else [])])})",
        f"    real(dp), intent(in) :: {', '.join(arguments)}",
        f"    real(dp), intent(out) :: returns({returns})",
        *(
            ["    real(dp), intent(inout) :: memory(1)", "    memory(1) = memory(1) + 1"]
            if memory
            else []
        ),
        f"    returns = [{', '.join(f_lines)}]",
        f"  end subroutine {name}",
    ]
    return c, "\n".join(fortran)


TEXTS = {
    "enter": (enter, *subroutine("enter", ("k", "d"), ("2*k", "d + 1"), 2)),
    "prepare": (prepare, *subroutine("prepare", ("q",), ("10*q*memory[0]",), 1, True)),
    "control": (control, *subroutine("control", ("q", "gain"), ("-gain*q",), 1)),
    "show": (show, *subroutine("show", ("q", "mass", "amp"), ("q*mass", "amp"), 2)),
    "spring": (
        spring,
        "double spring(double q, double c)\n{\n    return -c*q;\n}",
        "  function spring(q, c) result(value)\n    real(dp), intent(in) :: q, c\n    "
        "real(dp) :: value\n    value = -c*q\n"
        "  end function spring",
    ),
    "tick": (
        tick,
        "double tick(double t, double "
        "*memory)\n{\n    memory[0] += 1;\n    return memory[0] + 0*t;\n}",
        "  function tick(t, memory) result(value)\n    real(dp), intent(in) :: t\n    "
        "real(dp), intent(inout) :: memory(1)\n"
        "    real(dp) :: value\n    memory(1) = memory(1) + 1\n    value = memory(1) + "
        "0*t\n  end function tick",
    ),
}


def places(languages=("python", "c", "fortran")):
    """A rod on a spring with a routine at every place: J q'' = spring + torque (held over steps) +
    amp (held over the run)."""
    s = bc.System("all places", units="mks")
    rod = s.add_body("rod", rotate=3, mass="mass", inertia=(1, 1, 1), cm=("length", 0, 0))

    def add(name, **more):
        given = dict(zip(("python", "c", "fortran"), TEXTS[name], strict=True))
        s.add_external(name, **more, **{language: given[language] for language in languages})

    add("enter", arguments=("k", "d"), returns=("mass", "length"), when="input")
    add("prepare", arguments=("q(rod)",), returns="amp", when="init", memory=1)
    add("control", arguments=("q(rod)", "gain"), returns="torque", when="update")
    add("show", arguments=("q(rod)", "mass", "amp"), returns=("weight", "start"), when="echo")
    add("tick", arguments=("t",), memory=1, when="output")
    add("spring", arguments=("q", "c"))
    s.add_input("push", units="N-m", label="a push")
    s.add_moment(
        "m", magnitude="spring(q(rod), c) + torque*m0 + amp*m0 + push", direction="[rod3]", on=rod
    )
    s.add_output("rows", "tick(t)")
    s.set_units(weight="deg")
    s.set_labels(start="what the run starts with")
    s.set_defaults(k=K, d=D, c=C, gain=GAIN, m0=1)
    s.set_run(t_end=1, step=0.01, initial={"q(rod)": Q0}, inputs={"push": 0.25})
    return s


def exact(n=100, h=0.01, k=K):
    """q at the end of each step."""
    J = 1 + 2 * k * (D + 1) ** 2
    step = linalg.expm(np.array([[0, 1, 0], [-C / J, 0, 1 / J], [0, 0, 0]]) * h)
    held = 10 * Q0 + 0.25
    y, found = np.array([Q0, 0.0, held - GAIN * Q0]), [Q0]
    for _ in range(n):
        y = step @ y
        y[2] = held - GAIN * y[0]
        found.append(y[0])
    return np.array(found)


def check_echo(text, mass):
    words = {
        line.split()[1]: line.split()[2:] for line in text.splitlines() if line.startswith("* ")
    }
    assert float(words["mass"][0]) == pytest.approx(mass) and words["mass"][1] == "kg"
    assert float(words["length"][0]) == pytest.approx(1.5) and words["length"][1] == "m"
    assert (
        float(words["weight"][0]) == pytest.approx(np.degrees(Q0 * mass))
        and words["weight"][1] == "deg"
    )
    assert float(words["start"][0]) == pytest.approx(10 * Q0)
    assert "what the run starts with" in text


@pytest.mark.parametrize("backend", ["python", "c"])
def test_places_in_process(tmp_path, backend):
    from bellcrank.export.model_setup import program_setup
    from bellcrank.export.parameter_files import write_echo

    if backend == "c" and find_compiler() is None:
        pytest.skip("there is no C compiler")
    equations = places(("python",)).equations()
    sim = equations.compile(backend=backend)
    assert "mass" not in equations.parameters
    for k in (K, 3.0):
        run = sim.simulate(parameters={"k": k})
        np.testing.assert_allclose(run["q(rod)"], exact(k=k), atol=1e-8)
        assert run["rows"].tolist() == list(range(1, 102))
    setup = program_setup(equations.derived)
    path = write_echo(setup, sim.loaded, run, {"parameters": {"k": 3.0}}, tmp_path / "x.echo")
    check_echo(path.read_text(encoding="utf-8"), 6.0)
    again = sim.simulate(**bc.settings_of(equations, path))
    assert np.array_equal(again["q(rod)"], run["q(rod)"])


@pytest.mark.parametrize("language", COMPILED_MAINLY_C)
def test_places_in_programs(tmp_path, language):
    program = build(places().equations(), language, tmp_path / "program")
    for k in (K, 3.0):  # without new derivation or compilation
        run = program.run(tmp_path / str(k), f"k {k}")
        np.testing.assert_allclose(run["q(rod)"], exact(k=k), atol=1e-8)
        assert run["rows"].tolist() == list(range(1, 102))
        assert np.all(run["push"] == 0.25) and run.units["push"] == "N-m"
        check_echo((tmp_path / str(k) / "out.echo").read_text(encoding="utf-8"), 2 * k)
    again = program.run(tmp_path / "again", include=tmp_path / "3.0" / "out.echo")
    assert np.array_equal(again["q(rod)"], run["q(rod)"])


BOTH = pytest.mark.skipif(
    SKIPPED["c"][0] or SKIPPED["fortran"][0],
    reason="gfortran is not installed, or there is no C compiler, or no make",
)


@pytest.mark.campaign
@BOTH
@pytest.mark.parametrize(("language", "given"), [("c", "fortran"), ("fortran", "c")])
def test_routines_of_the_other_language(tmp_path, language, given):
    program = build(places((given,)).equations(), language, tmp_path / "program")
    assert (tmp_path / "program" / {"c": "routines.c", "fortran": "routines.f90"}[given]).exists()
    np.testing.assert_allclose(program.run(tmp_path / "run")["q(rod)"], exact(), atol=1e-8)


@BOTH
def test_routines_in_fortran_in_process():
    sim = places(("fortran",)).equations().compile(backend="c")
    np.testing.assert_allclose(sim.simulate()["q(rod)"], exact(), atol=1e-8)
    with pytest.raises(
        bc.ModelError, match="given in C or Fortran alone, but the model runs in Python"
    ):
        places(("fortran",)).equations().compile(backend="python")


@pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")
def test_no_fortran_compiler_is_told(monkeypatch):
    monkeypatch.setattr(
        "bellcrank.simulation.backend.fortran_functions.find_fortran_compiler", lambda: None
    )
    with pytest.raises(
        bc.BuildError, match=r"given in Fortran alone, but there is no Fortran compiler"
    ):
        places(("fortran",)).equations().compile(backend="c")


@pytest.mark.skipif(
    find_compiler() is None or find_fortran_compiler() is None, reason="there is no compiler"
)
def test_mistake_in_fortran_is_shown():
    s = bc.System("wrong", units="mks")
    rod = s.add_body("rod", rotate=3, mass=1, inertia=(1, 1, 1))
    s.add_external(
        "f", arguments=("t",), fortran="  function f(t) result(v)\n    v = oops\n  end function f\n"
    )
    s.add_moment("m", magnitude="m0*f(t)", direction="[rod3]", on=rod)
    s.set_defaults(m0=1)
    with pytest.raises(
        bc.BuildError, match=r"(?s)could not compile the user functions in Fortran.*oops"
    ):
        s.equations().compile(backend="c")


def refused(match, **routine):
    s = bc.System("wrong", units="mks")
    rod = s.add_body("rod", rotate=3, mass=1, inertia=(1, 1, 1))
    s.add_external("f", python=lambda *a: 1.0, **routine)
    s.add_moment("m", magnitude="m0*a", direction="[rod3]", on=rod)
    s.set_defaults(m0=1)
    if routine.pop("valued", False):
        s.set_defaults(a=2)
    with pytest.raises(bc.ModelError, match=match):
        s.equations()
    return s


def test_what_input_and_echo_refuse():
    refused(
        "its arguments may hold parameters only, not q.rod.",
        arguments=("q(rod)",),
        returns="a",
        when="input",
    )
    refused(
        "its arguments may hold parameters only, not t", arguments=("t",), returns="a", when="input"
    )
    refused("is called with what it returns itself", arguments=("2*a",), returns="a", when="input")
    refused("'a' is known when the echo is written", arguments=("k",), returns="a", when="echo")
    refused("when='echo' needs returns=", arguments=("k",), when="echo")
    refused("when='input' needs returns=", arguments=("k",), when="input")
    refused(
        "it is one of 'derivatives', 'update', 'output', 'init', 'input', 'echo'",
        arguments=("k",),
        when="start",
    )
    s = places(("python",))
    s.set_defaults(mass=3)
    with pytest.raises(
        bc.ModelError, match="external 'enter': it gives 'mass', which has the value 3 already"
    ):
        s.equations()
    sim = places(("python",)).equations().compile(backend="python")
    with pytest.raises(
        bc.ModelError, match="parameter 'mass' is given by the user function 'enter'"
    ):
        sim.simulate(parameters={"mass": 3})


def test_check_covers_parameters_of_routines():
    from bellcrank.verify.check import check

    assert check(places(("python",)), states=3).passed


@pytest.mark.campaign
@BOTH
def test_routines_of_all_languages_in_a_loop():
    """Loops are assembled in Python; a routine that is given in C or Fortran alone is called there
    as well."""
    found = []
    for given in ("python", "c", "fortran"):
        s = system("four_bar")
        texts = dict(zip(("python", "c", "fortran"), TEXTS["spring"], strict=True))
        s.add_external("spring", arguments=("q", "c"), **{given: texts[given]})
        s.add_moment("extra", magnitude="m0*spring(q(a), 2)", direction="[n3]", on="a")
        s.set_defaults(m0=3)
        found.append(s.equations().compile(backend="c").simulate(t_end=0.2)["q(a)"])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-10)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-10)
