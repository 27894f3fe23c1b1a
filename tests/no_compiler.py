"""The quick tests as on a machine without a compiler: `python -m tests.no_compiler [arguments of
pytest]`.

Programs are found in a folder of links to all but compilers of C and Fortran; the package ziglang
is one that fails.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

COMPILER = re.compile(
    r"(.*-)?(cc|c89|c99|gcc|g\+\+|c\+\+|clang|clang\+\+|gfortran|f77|f95|tcc|nvcc)(-[\d.]+)?(\.exe)?"
)


def links(folder):
    """Links to the first program of each name on the path, but compilers."""
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).glob("*"):
            link = Path(folder) / program.name
            if not COMPILER.fullmatch(program.name) and not link.is_symlink():
                link.symlink_to(program)


def main(arguments):
    with TemporaryDirectory() as folder, TemporaryDirectory() as modules:
        links(folder)
        (Path(modules) / "ziglang.py").write_text("raise SystemExit(1)\n", encoding="utf-8")
        env = {name: value for name, value in os.environ.items() if name not in ("CC", "CXX", "FC")}
        env |= {
            "PATH": folder,
            "PYTHONPATH": os.pathsep.join([modules, *filter(None, [os.environ.get("PYTHONPATH")])]),
        }
        return subprocess.run([sys.executable, "-m", "pytest", *arguments], env=env).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
