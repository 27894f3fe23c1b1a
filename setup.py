"""The folder `examples` is installed with the package; all the rest is in pyproject.toml."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithExamples(build_py):
    """Copies the examples next to the modules that find them."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # then they are found in the checkout
            target = Path(self.build_lib, "bellcrank", "core", "files", "examples")
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(
                "examples", target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
            )


setup(cmdclass={"build_py": WithExamples})
