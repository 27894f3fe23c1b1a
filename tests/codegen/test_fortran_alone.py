"""Fortran alone: the plain program next to a model, and the module of a model in a user's own
program; and the program under the kernel in C, which has the rows of the program in C."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from tests.codegen.test_program_events import TURN, lever
from tests.models import example, relative
from tests.programs import GFORTRAN, SKIPPED, build, compiled

pytestmark = pytest.mark.skipif(SKIPPED["fortran"][0], reason=SKIPPED["fortran"][1])
WARN = ("-Wall", "-Werror", "-Wno-unused-dummy-argument")
OWN = Path(__file__).parents[2] / "examples" / "quarter_car_in_fortran.f90"


def plain(folder, *lines):
    """The run of the plain program with some lines of input changed."""
    stem = next(folder.glob("*.par")).stem
    done = subprocess.run(
        ["make", "-s", "-C", str(folder), "plain", "FFLAGS=-O0 -Werror"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    text = (folder / f"{stem}.par").read_text(encoding="utf-8")
    text = re.sub(r"^END$", "", text, flags=re.MULTILINE) + "\n".join([*lines, "END", ""])
    (folder / "changed.txt").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [folder / f"{stem}_plain", "changed.txt", "plain.csv"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    return bc.Run.read(folder / "plain.csv") if done.returncode == 0 else done.stderr


def worst(run, other):
    assert list(run) == list(other)
    return max(relative(run[name], other[name]) for name in run)


def test_the_plain_program_has_the_rows_of_a_run(tmp_path):
    """A road that steps up within a step, and a last step that is shorter."""
    eom = example("quarter_car")
    eom.export("fortran", tmp_path)
    lines, bump = (
        ("step 0.003", "iprint 7", "stopt 1", "z_road step 0.5011 0.05 0"),
        bc.signals.step(at=0.5011, height=0.05),
    )
    for method in ("rk2", "rk4"):
        run = plain(tmp_path, *lines, f"method {method}")
        inside = {"step": 0.003, "output_every": 7, "t_end": 1, "inputs": {"z_road": bump}}
        assert worst(run, eom.compile(backend="c").simulate(method=method, **inside)) < 1e-12
    for line, why in (
        ("method tsit5", "METHOD is rk2 or rk4"),
        ("z_road file a.txt", "z_road is a number or constant, step"),
        ("z_road pulse 0.1 -1 1", "the width of a pulse must be positive"),
        ("z_road ramp 1", "z_road has too few numbers"),
        ("unknown 1", "no keyword is called unknown"),
        ("k x", "k needs a number, found x"),
    ):
        assert why in plain(tmp_path, *lines, line), line


def turning():
    """Euler parameters, a table, a routine in Fortran, a chirp."""
    s = bc.System("turning", units="mks")
    s.add_input("f", units="1")
    b = s.add_body("b", rotate="euler-parameters", mass=2, inertia=(1, 2, 3), cm=(0.1, 0.2, 0.3))
    s.define("tab", bc.table([0, 1, 2, 4], [0, 1, 0.5, 2]))
    s.add_external(
        "twice",
        arguments=("v",),
        python=lambda v: 2 * v,
        fortran="  function twice(v) result(r)\n    real(dp), intent(in) :: v\n    real(dp) :: "
        "r\n  "
        "  r = 2*v\n  end function twice\n",
    )
    s.add_moment("m", magnitude="m0*(f + tab(f) + twice(f))", direction=s.inertial[1], on=b)
    s.add_gravity()
    s.set_defaults(m0=1)
    s.set_run(t_end=2, step=0.01, inputs={"f": bc.signals.chirp(1, 0.5, 2, 1.5)})
    return s


@pytest.mark.campaign
def test_the_plain_program_turns_bodies_and_knows_tables_and_routines(tmp_path):
    eom = turning().equations()
    program = build(eom, "fortran", tmp_path)
    run, other = plain(tmp_path), program.run(tmp_path / "run")
    assert worst(run, other) < 1e-12 and len(run) == 201


@pytest.mark.parametrize(
    ("name", "events", "why"),
    [
        ("four_bar", (), "closed loops are kept closed by the kernel"),
        ("quarter_car", [bc.event("q(body) > 0.1", name="far")], "events are found by the kernel"),
    ],
)
def test_a_program_says_why_there_is_no_plain_one(tmp_path, name, events, why):
    example(name).export("fortran", tmp_path, events=events or None)
    assert not (tmp_path / "main.f90").exists()
    assert f"# there is no plain program in Fortran: {why}" in (tmp_path / "Makefile").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("flags", [["-fopenmp"], pytest.param([], marks=pytest.mark.campaign)])
def test_the_module_in_a_program_of_ones_own(tmp_path, flags):
    """Four runs at once, each with its own stiffness, are those of the package."""
    eom = example("quarter_car")
    model = eom.export("fortran", tmp_path)
    own = tmp_path / "own"
    command = [
        GFORTRAN,
        "-O0",
        *WARN,
        *flags,
        "-J",
        str(tmp_path),
        "-o",
        str(own),
        str(model),
        str(OWN),
    ]
    subprocess.run(command, check=True, cwd=tmp_path)
    said = subprocess.run([own], capture_output=True, text=True, check=True).stdout
    sim = eom.compile(backend="c")
    for stiffness, largest, final in (map(float, line.split()) for line in said.splitlines()):
        given = {"parameters": {"k": stiffness}, "inputs": {"z_road": 0.05}}
        run = sim.simulate(t_end=1, step=5e-4, output_every=1, method="euler", **given)
        assert final == pytest.approx(run["q(body)"][-1], rel=1e-12)
        assert largest == pytest.approx(np.abs(run["travel"]).max(), rel=1e-12)


# ---- under the kernel


def both(make, folder, options, events=None):
    """Rows of the programs in C and in Fortran, and what they said."""
    found = []
    for language in ("c", "fortran"):
        make.export(language, folder / language, events=events)
        program = compiled(language, folder / language)
        said = program("--output", "o.csv", *options, cwd=program.folder)
        run = bc.Run.read(program.folder / "o.csv")
        found.append((np.column_stack([run.time, *(run[n] for n in run)]), said.splitlines()))
    return found


CASES = {
    "no loops": ("stanford_arm", ["--t-end", "1"]),
    "a stiff method": ("quarter_car", ["--method", "rodas5p"]),
    "loops": ("four_bar", []),
    "loops, adaptive": ("four_bar", ["--method", "tsit5"]),
    "loops, stiff": ("four_bar", ["--method", "radau5"]),
}


@pytest.mark.campaign
@pytest.mark.parametrize("case", CASES)
def test_programs_in_fortran_have_the_rows_of_those_in_c(tmp_path, case):
    name, options = CASES[case]
    (rows, _), (others, _) = both(example(name), tmp_path, options)
    assert rows.shape == others.shape
    assert np.abs((rows - others) / np.maximum(np.abs(rows).max(axis=0), 1e-9)).max() < 1e-12


@pytest.mark.campaign
def test_routines_and_events_in_fortran_have_the_rows_of_c(tmp_path):
    """Routines in C that remember and keep, an input that jumps, events with actions."""
    (rows, said), (others, told) = both(lever().equations(), tmp_path, [], TURN)
    assert rows.shape == others.shape and np.abs(rows - others).max() < 1e-12 * np.abs(rows).max()
    assert [x for x in said if " at t = " in x and "finished" not in x] == [
        x for x in told if " at t = " in x and "finished" not in x
    ]
