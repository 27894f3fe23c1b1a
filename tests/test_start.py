"""Starting is quick: the package and its command line load what is used, and nothing else."""

import ast
import builtins
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import bellcrank as bc
from bellcrank.model.formula import SCALAR

HEAVY = ("numpy", "scipy", "matplotlib", "pandas", "xarray")
ROOMS = tuple(
    f"bellcrank.{room}"
    for room in (
        "analysis",
        "formats",
        "kane",
        "vehicles",
        "linkage",
        "study",
        "verify",
        "analysis.view",
    )
)
MODEL = 's = bc.System("mass"); s.add_body("b", translate=1, mass=2); s.equations()'
THREADS = """
import sys, threading
import bellcrank as bc
sys.setswitchinterval(1e-6)
names, found, barrier = bc.__all__, [], threading.Barrier(8)
def use(i):
    barrier.wait()
    found.append({n: getattr(bc, n) for n in names[i:] + names[:i]})
threads = [threading.Thread(target=use, args=(7 * i,)) for i in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
assert len(found) == 8 and all(f == found[0] for f in found)
"""


def fresh(code, *arguments):
    done = subprocess.run([sys.executable, *arguments, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded_after(code, names):
    return fresh(
        f"import sys\nimport bellcrank as bc\n{code}\nprint(*[n for n in {names!r} if n in "
        f"sys.modules])"
    ).split()


def test_import_loads_nothing_heavy():
    assert loaded_after("", HEAVY + ROOMS) == []


def test_a_small_model_is_derived_without_pictures_tables_and_checks():
    assert loaded_after(MODEL, (*HEAVY[1:], *ROOMS)) == []


def test_a_run_needs_no_scipy_analyses_or_exports():
    code = f"{MODEL}\ns.equations().compile(backend='python').simulate(t_end=0.1, step=0.1)"
    rooms = (
        f"bellcrank.{room}"
        for room in ("analysis", "export", "simulation.many", "codegen.fortran", "codegen.browser")
    )
    assert loaded_after(code, (*HEAVY[1:], *rooms)) == []


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_command_line_loads_nothing_for_its_own_words(option):
    code = (
        f"import contextlib\nfrom bellcrank.cli import main\nwith "
        f"contextlib.suppress(SystemExit): main(['{option}'])"
    )
    assert not {*HEAVY, *ROOMS} & set(loaded_after(code, HEAVY + ROOMS))


def test_a_command_loads_what_it_does(tmp_path):
    model = tmp_path / "mass.py"
    model.write_text(
        f"import bellcrank as bc\n\n\ndef model():\n    {MODEL}\n    return s\n", encoding="utf-8"
    )
    quiet = (
        "import contextlib, io\nfrom bellcrank.cli import main\nwith "
        "contextlib.redirect_stdout(io.StringIO()):"
    )
    code = f"{quiet} assert main(['count', {str(model)!r}]) == 0"
    assert loaded_after(code, (*HEAVY[1:], *ROOMS)) == []


def test_first_use_from_several_threads():
    fresh(THREADS)


# ---- the public names


def listed():
    tree = ast.parse(Path(bc.__file__ + "i").read_text(encoding="utf-8"))
    lines = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module != "typing"]
    return {a.asname: (n.module, a.name) for n in lines for a in n.names}


def test_public_names_are_what_their_modules_define():
    names = listed()
    assert {"System", "load", "vehicles", "dot", "gym", "kane", "linkage"} < names.keys()
    assert all(name == given for name, (_, given) in names.items())
    for name, (home, _) in names.items():
        module = import_module(home)
        value = getattr(module, name) if hasattr(module, name) else import_module(f"{home}.{name}")
        assert getattr(bc, name) is value
    assert names.keys() <= set(dir(bc))


def test_star_takes_all_but_names_of_python():
    assert set(bc.__all__) == {n for n in (*listed(), *SCALAR) if not hasattr(builtins, n)}
    assert "sin" in bc.__all__ and "abs" not in bc.__all__
    assert bc.abs is SCALAR["abs"]


def test_folders_are_found_and_unknown_names_are_not():
    assert (
        fresh("import bellcrank as bc; print(bc.linkage.__name__)").strip() == "bellcrank.linkage"
    )
    with pytest.raises(AttributeError, match="module 'bellcrank' has no attribute 'Sytem'"):
        _ = bc.Sytem
    assert not hasattr(bc, "_private")


def test_no_module_imports_the_whole_package():
    """Inside, a name is imported from the module that defines it; the command line alone stands
    outside."""
    root = Path(bc.__file__).parent
    for path in root.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.parent.name != "cli" and re.search(r"import[^\n]*\bbellcrank\b", text):
            nodes = ast.walk(ast.parse(text))
            whole = [
                n
                for n in nodes
                if isinstance(n, ast.Import) and any(a.name == "bellcrank" for a in n.names)
            ]
            assert not whole, f"{path.relative_to(root)} imports the package as a whole"
