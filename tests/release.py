"""Builds sdist and wheel in dist/ and checks them as a user would meet them: `make release`.

The wheel is built from the sdist, its contents are compared with the package, twine reads its
description, and the demo of the sdist runs with the wheel in a new environment, away from this
folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

from bellcrank.core.version import __version__

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
IN_SDIST = (
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "examples/demo.py",
    "docs/index.md",
)


def package_files() -> set[str]:
    """Files of the package and its examples that git knows."""
    command = ["git", "ls-files", "src", "examples"]
    return {
        *subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.splitlines()
    }


def in_wheel(name: str) -> str:
    """The name that a file has in a wheel."""
    return (
        f"bellcrank/core/files/{name}"
        if name.startswith("examples/")
        else name.removeprefix("src/")
    )


def differences(wheel: Path, sdist: Path) -> list[str]:
    """A message for every file that is missing or superfluous."""
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    with tarfile.open(sdist) as archive:
        source = {name.partition("/")[2] for name in archive.getnames()}
    files = package_files()
    known = {in_wheel(name) for name in files}
    missing = [f"missing in the wheel: {name}" for name in sorted(known - inside)]
    missing += [f"in the wheel, but not in git: {name}" for name in sorted(inside - known)]
    wanted = {*IN_SDIST, *files}
    return missing + [f"missing in the sdist: {name}" for name in sorted(wanted - source)]


def try_demo(wheel: Path, sdist: Path) -> None:
    """Installs the wheel in a new environment and runs the demo of the sdist there."""
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder, "environment")
        venv.create(new, with_pip=True)
        bin_folder = new / ("Scripts" if os.name == "nt" else "bin")
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        source = Path(folder, sdist.name.removesuffix(".tar.gz"))
        python = str(bin_folder / "python")
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        where = "import bellcrank, pathlib; print(pathlib.Path(bellcrank.__file__).parent)"
        for step in (
            [python, "-m", "pip", "install", "--quiet", str(wheel)],
            [python, "-m", "pip", "check"],
            [python, "-P", "-c", where],
            [str(bin_folder / "bellcrank"), "--version"],
            [python, "examples/demo.py", str(Path(folder, "demo"))],
        ):
            subprocess.run(step, cwd=source, env=environment, check=True)
        assert Path(folder, "demo", "passenger_car.png").stat().st_size > 10_000


def main() -> int:
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT)], check=True)
    wheel, sdist = (
        DIST / f"bellcrank-{__version__}-py3-none-any.whl",
        DIST / f"bellcrank-{__version__}.tar.gz",
    )
    if problems := differences(wheel, sdist):
        print("\n".join(problems), file=sys.stderr)
        return 1
    subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)], check=True
    )
    try_demo(wheel, sdist)
    for path in (wheel, sdist):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
