"""What is public: names of `bellcrank.__all__`, and of `__all__` of the modules among them, at the
place users type."""

import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import bellcrank as bc

ROOT = Path(__file__).parents[1]
SOURCE = Path(bc.__file__).parent
# what pages and examples import although it is not public
INTERNAL = {
    "bellcrank.linkage.measures",
    "bellcrank.symbolic.expr",
    "bellcrank.vehicles.cars.metrics.load_cases",
}
OPTIONAL = {"bellcrank.gym.registered"}  # needs another package
IMPORTS_ALL = """
import pkgutil, sys
from importlib import import_module
import bellcrank as bc
names = {n: getattr(bc, n) for n in bc.__all__}
deeper = {(n, x): getattr(v, x) for n, v in names.items() if hasattr(v, "__all__") for x in v.__all__}
for found in pkgutil.walk_packages(bc.__path__, "bellcrank."):
    if not {"templates", "runtime", "__main__"} & {*found.name.split(".")}:
        try:
            import_module(found.name)
        except ModuleNotFoundError as error:  # of another package
            assert not str(error.name).startswith("bellcrank"), error
assert all(getattr(bc, n) is v for n, v in names.items())
assert [k for k, v in deeper.items() if getattr(names[k[0]], k[1]) is not v] == []
"""


def namespaces(module=bc):
    """Public modules by name, and those that they list."""
    for name in module.__all__:
        if isinstance(value := getattr(module, name), ModuleType):
            yield f"{module.__name__}.{name}", value
            if hasattr(value, "__all__"):
                yield from namespaces(value)


PUBLIC = dict(namespaces())


def test_the_namespaces_are_those_that_are_known():
    assert {*PUBLIC} == {
        f"bellcrank.{x}"
        for x in (
            *(
                "choices",
                "examples",
                "gym",
                "kane",
                "kane.euler",
                "linkage",
                "measured",
                "metrics",
                "optimize",
            ),
            *(
                "random",
                "signals",
                "vehicles",
                "vehicles.manoeuvres",
                "vehicles.terrain",
                "vehicles.tyres",
            ),
        )
    }


@pytest.mark.parametrize("name", PUBLIC)
def test_a_namespace_is_imported_under_the_name_users_type(name):
    assert import_module(name) is PUBLIC[name] and PUBLIC[name].__name__ == name
    assert all(hasattr(PUBLIC[name], x) for x in getattr(PUBLIC[name], "__all__", ()))


def test_no_room_hides_a_public_name():
    """Python binds a module to its package as soon as it is imported."""
    packages = [
        x for x in (bc, *PUBLIC.values()) if hasattr(x, "__path__") and hasattr(x, "__all__")
    ]
    assert {bc, bc.vehicles, bc.vehicles.manoeuvres} <= {*packages}
    for package in packages:
        rooms = {found.name for found in pkgutil.iter_modules(package.__path__)}
        hidden = [
            x for x in rooms & {*package.__all__} if not isinstance(getattr(package, x), ModuleType)
        ]
        assert hidden == []
    done = subprocess.run([sys.executable, "-c", IMPORTS_ALL], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def imported(text):
    """Modules from which a text imports, in lines that are code."""
    return set(re.findall(r"^(?:>>> |\s*)(?:from|import) (bellcrank[.\w]*)", text, re.M))


def test_pages_and_examples_use_public_names():
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.py")]
    found = {x for p in files for x in imported(p.read_text(encoding="utf-8"))}
    assert {"bellcrank", "bellcrank.kane"} < found
    assert found - {"bellcrank", *PUBLIC, *OPTIONAL} == INTERNAL


def test_each_module_at_the_top_is_public():
    """Loose files are lists of names for users; what does the work stands in a room."""
    loose = {p.stem for p in SOURCE.glob("*.py")} - {"__init__", "__main__", "loading"}
    assert (
        loose <= {*bc.__all__}
        and len([p for p in SOURCE.iterdir() if (p / "__init__.py").exists()]) <= 22
    )
