"""Stand-alone programs under test: written, built without warnings, run in a folder of their
own."""

import hashlib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import bellcrank as bc
from bellcrank.simulation.backend.cache import get_or_make_file
from bellcrank.simulation.backend.compiler import find_compiler
from bellcrank.simulation.backend.fortran_functions import find_fortran_compiler

GFORTRAN = shutil.which("gfortran")
SKIPPED = {
    "c": (
        find_compiler() is None or shutil.which("make") is None,
        "there is no C compiler, or no make",
    ),
    "fortran": (
        GFORTRAN is None or shutil.which("make") is None,
        "gfortran is not installed, or there is no make",
    ),
    "python": (False, ""),
}
LANGUAGES = [
    pytest.param(name, marks=pytest.mark.skipif(wanting, reason=reason))
    for name, (wanting, reason) in SKIPPED.items()
]
COMPILED = LANGUAGES[:2]
MAINLY_C = [
    LANGUAGES[0],
    *(pytest.param(*n.values, marks=(*n.marks, pytest.mark.campaign)) for n in LANGUAGES[1:]),
]
COMPILED_MAINLY_C = MAINLY_C[
    :2
]  # with loops, events or memories, which programs in Python do not have
LONG_PYTHON = [
    *COMPILED,
    pytest.param("python", marks=pytest.mark.campaign),
]  # Python takes its time to start
SHELLS = [
    LANGUAGES[0],
    LANGUAGES[2],
]  # of what surrounds the equations; programs in Fortran have that of C
LONG_SHELLS = [LANGUAGES[0], LONG_PYTHON[2]]
FLAGS = "-O0 -Werror"
# a program in Python where the package cannot be imported, although this interpreter has it
ALONE = (
    "import runpy, sys; sys.modules['bellcrank'] = None; del sys.argv[0]; "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)


@dataclass(frozen=True)
class Built:
    """A program ready to run."""

    language: str
    folder: Path
    stem: str

    def __call__(self, *arguments, cwd=None, code=0):
        """Runs the program; what it said on both streams. The exit code must be the one
        expected."""
        words = [str(self.folder / self.stem)]
        if self.language == "python":
            words = [
                sys.executable,
                "-I",
                "-W",
                "error",
                "-c",
                ALONE,
                str(self.folder / f"{self.stem}.py"),
            ]
        done = subprocess.run(
            [*words, *map(str, arguments)],
            cwd=cwd or self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        assert not re.search(r"^-\S+ s of computing", done.stdout, re.MULTILINE)
        return done.stdout + done.stderr

    @property
    def default(self):
        return self.folder / f"{self.stem}.par"

    def run(self, folder, *lines, include=None):
        """The run with some lines of input changed, read back."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "changed.par"
        path.write_text(
            "\n".join(["PARSFILE", f"PARSFILE {include or self.default}", *lines, "END", ""]),
            encoding="utf-8",
        )
        if self.language == "python":
            self(path, "--output", folder / "out.csv")
            return bc.Run.read(folder / "out.csv")
        self(path, "--output", folder / "out.erd", "--echo", folder / "out.echo")
        return bc.Run.read(folder / "out.erd")


def build(equations, language, folder, flags=FLAGS, **how):
    """Writes a program, `how` as `export` takes it, and compiles it; any warning is an error."""
    equations.export(language, folder, **how)
    return compiled(language, folder, flags)


def compiled(language, folder, flags=FLAGS):
    wanting, reason = SKIPPED[language]
    if wanting:
        pytest.skip(reason)
    (parameters,) = folder.glob("*.par")
    if language != "python":
        _make(folder, parameters.stem, flags)
    return Built(language, folder, parameters.stem)


def _make(folder, stem, flags):
    """Runs make, with no word from a compiler, or takes the program that the same files gave
    before."""
    files = sorted(
        p for p in folder.rglob("*") if p.name == "Makefile" or p.suffix in (".c", ".h", ".f90")
    )
    texts = [(str(p.relative_to(folder)), p.read_bytes()) for p in files]

    def make(work):
        command = ["make", "-s", "-C", str(folder), f"CFLAGS={flags}", f"FFLAGS={flags}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return Path(shutil.copy2(folder / stem, work))

    compilers = [c and c.version for c in (find_compiler(), find_fortran_compiler())]
    key = hashlib.sha256(repr((flags, compilers, texts)).encode()).hexdigest()
    shutil.copy2(get_or_make_file(f"program-{key}", make, name=stem), folder)
