"""Lines of Fortran: none is longer than 132 columns (bytes), whatever statements, names, labels and
signals need."""

import random
import re
import subprocess

import pytest

import bellcrank as bc
from bellcrank.codegen.c.signals import signal_values
from bellcrank.codegen.fortran.line_wrapping import (
    LIMIT,
    fit_source,
    fortran_string,
    wrap_statement,
)
from bellcrank.core.signals import SIGNAL_KINDS, SignalKind, SignalParameter
from bellcrank.kernel.text import kernel_file
from tests.codegen.test_programs import everything
from tests.models import EXAMPLES, example
from tests.programs import COMPILED, GFORTRAN, SHELLS, build

PIECES = [
    'say ""so""',
    "it's",
    "a & b",
    "&",
    "! no comment",
    "längs größer",
    "αβγδ",
    "plain words, with commas",
    "//",
    "%",
]


def longest(folder):
    return max(
        len(line) for path in folder.glob("*.f90") for line in path.read_bytes().splitlines()
    )


def texts(seed):
    rng = random.Random(seed)
    return [" ".join(rng.choices(PIECES, k=rng.randint(1, 60))) for _ in range(6)]


def unbroken(lines):
    """The statement that continued lines hold."""
    text = "\n".join(lines)
    return re.sub(r" &\n +", " ", re.sub(r"&\n +&", "", text))


@pytest.mark.parametrize("seed", range(30))
def test_statements_of_any_length_are_kept_whole(seed):
    strings = [fortran_string(t) for t in texts(seed)]
    statement = f"  call something({', '.join(strings)}, a_b*c**2 - 1.0e-30_dp/x(1))"
    lines = wrap_statement(statement)
    assert max(len(line.encode()) for line in lines) <= LIMIT
    plain = re.compile(r"\s")
    assert plain.sub("", unbroken(lines)) == plain.sub("", statement)


def test_comments_are_continued_and_stand_before_their_statement():
    source = f"  x = 1 ! {'why this is so ' * 20}\n! {'größer ' * 40}\n  y = 2\n"
    lines = fit_source(source).splitlines()
    assert max(len(line.encode()) for line in lines) <= LIMIT
    assert [line for line in lines if not line.lstrip().startswith("!")] == ["  x = 1", "  y = 2"]


@pytest.mark.skipif(GFORTRAN is None, reason="gfortran is not installed")
def test_strings_have_the_same_value_when_continued(tmp_path):
    strings = [t for seed in range(8) for t in texts(seed)]
    body = "".join(f"  print '(a)', {fortran_string(t)}\n" for t in strings)
    (tmp_path / "a.f90").write_text(
        fit_source(f"program a\n{body}end program a\n"), encoding="utf-8"
    )
    flags = ["-std=f2008", "-Wall", "-Wextra", "-Werror", "-O0"]
    subprocess.run([GFORTRAN, *flags, "-o", "a", "a.f90"], cwd=tmp_path, check=True)
    printed = subprocess.run(
        [tmp_path / "a"], check=True, capture_output=True, encoding="utf-8"
    ).stdout
    assert printed.splitlines() == strings


@pytest.fixture
def many_kinds(monkeypatch):
    """Nine more kinds of signals, of which each needs three positive numbers."""
    positive = tuple(
        SignalParameter(f"{name}_of_the_signal", "s", True) for name in ("first", "second", "third")
    )
    value = (
        "first_of_the_signal*sin(two_pi*t/second_of_the_signal)*third_of_the_signal + "
        + " + ".join(["t*t"] * 40)
    )
    for i in range(9):
        name = f"another_kind_{i}"
        monkeypatch.setitem(
            SIGNAL_KINDS,
            name,
            SignalKind(name, positive, value, breaks=("first_of_the_signal",) * 9),
        )
    monkeypatch.setattr(
        "bellcrank.codegen.c.signals.NUMBERED", (*SIGNAL_KINDS, "pieces", "function")
    )
    printed = {"tables/signals.c": signal_values()}
    monkeypatch.setattr(
        "bellcrank.kernel.text.kernel_file", lambda name: printed.get(name) or kernel_file(name)
    )


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore:table '.*' was evaluated at:bellcrank.ModelWarning")
@pytest.mark.parametrize("language", SHELLS)
def test_every_positive_number_of_every_kind_is_checked(tmp_path, many_kinds, language):
    program = build(
        everything(memory=language != "python").equations(), language, tmp_path / "program"
    )
    bad = tmp_path / "bad.par"
    bad.write_text(f"PARSFILE\nPARSFILE {program.default}\nsteady another_kind_3 -1 1 0\nEND\n")
    said = program(bad, code=1)
    assert "the first_of_the_signal of a another_kind_3 must be positive" in said
    if language != "python":  # the first problem of a line
        assert "the third_of_the_signal of a another_kind_3 must be positive" in said


@pytest.mark.campaign
@pytest.mark.parametrize("language", COMPILED)
@pytest.mark.parametrize("flags", ["-O1 -Werror", "-O2 -Werror"])
@pytest.mark.parametrize("inputs", [False, True])
def test_one_mass_compiles_without_warnings(tmp_path, language, flags, inputs):
    s = bc.System("one mass", units="mks")
    b = s.add_body("b", translate=1, mass="m")
    if inputs:
        s.add_input("f", units="F")
        s.add_force("push", magnitude="f", direction=s.inertial[1], at=b.origin)
        s.set_run(inputs={"f": bc.signals.step()})
    s.set_defaults(m=1)
    build(s.equations(), language, tmp_path, flags)


def test_a_model_with_all_kinds_of_signals_fits(tmp_path, many_kinds):
    everything().equations().export("fortran", tmp_path)
    assert longest(tmp_path) <= LIMIT


@pytest.mark.campaign
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_fit(tmp_path, name):
    example(name).export("fortran", tmp_path)
    assert longest(tmp_path) <= LIMIT
