"""Files, modules and names that pages, comments, docstrings and messages mention exist."""

import functools
import io
import re
import tokenize
from importlib import import_module
from pathlib import Path

import pytest

import bellcrank

ROOT = Path(__file__).parents[1]
SOURCE = Path(bellcrank.__file__).parent
ROOMS = sorted(p.name for p in SOURCE.iterdir() if (p / "__init__.py").exists())
FOLDERS = ("benchmarks", "docs", "examples", "src", "tests", "website")
# a path below a room or a folder of the repository; a dotted name below `bellcrank` or, in backticks, below a room
PATH = re.compile(
    rf"(?<![\w/.:<-])(?:bellcrank/)?((?:{'|'.join([*ROOMS, *FOLDERS])})/[\w/]*\w(?:\.[a-z]\w*)?|"
    rf"(?:{'|'.join(ROOMS)})/)(?![\w/*<{{])"
)
FILE_ENDS = "c|csv|dylib|f90|h|html|js|json|png|py|so|svg|toml|wasm"
DOTTED = re.compile(r"(?<![\w./-])bellcrank((?:\.[A-Za-z_]\w*)+)(?!\w*[(*{])")
IN_TICKS = re.compile(rf"`((?:{'|'.join(ROOMS)})(?:\.(?!(?:{FILE_ENDS})\b)[a-z_]\w*)+)`")
FILE_IN_TICKS = re.compile(r"`(\w+\.(?:py|c|h|js))\b")
CLASS_IN_TICKS = re.compile(r"`([A-Z][a-z]+[A-Z]\w+)\b")
# `bellcrank` is an object of JavaScript there
LIVE_PAGES = {
    "page.md",
    "test_site.py",
    *(p.name for p in (ROOT / "tests/analysis/view").glob("*.py")),
}
TEXTS = [
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
]
CODE = [
    path
    for folder in ("src", "benchmarks", "website", "examples")
    for path in (ROOT / folder).rglob("*.py")
    if not {"templates", "runtime"} & {*path.parts} and path != Path(__file__)
]


def spoken_text(path):
    """A page, or the comments and strings of a module."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text if path.name not in LIVE_PAGES else DOTTED.sub("", text)
    kinds = (tokenize.COMMENT, tokenize.STRING)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    text = "\n".join(t.string for t in tokens if t.type in kinds)
    return text if path.name not in LIVE_PAGES else DOTTED.sub("", text)


@functools.cache
def resolves(dotted):
    """Return True if a dotted name below `bellcrank` is a module, or a member of one."""
    parts = dotted.split(".")
    for count in range(len(parts), -1, -1):
        try:
            found = import_module(".".join(["bellcrank", *parts[:count]]))
        except ModuleNotFoundError as error:
            if not str(error.name).startswith("bellcrank"):
                return True  # needs another package
            continue
        for name in parts[count:]:
            if not hasattr(found, name):
                return name in getattr(found, "__annotations__", {})
            found = getattr(found, name)
        return True
    return False


def missing_places(text, file_names=()):
    for m in PATH.finditer(text):
        place = m[1].rstrip("/.")
        if "NAME" not in place and not any(
            (base / f"{place}{suffix}").exists()
            for base in (ROOT, SOURCE)
            for suffix in ("", ".py")
        ):
            yield m[0]
    yield from (m[0] for m in DOTTED.finditer(text) if not resolves(m[1][1:]))
    yield from (m[0] for m in IN_TICKS.finditer(text) if not resolves(m[1]))
    if file_names:
        yield from (m[1] for m in FILE_IN_TICKS.finditer(text) if m[1] not in file_names)


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_places_of_pages_exist(path):
    names = {p.name for p in SOURCE.rglob("*.*")} if path.name == "architecture.md" else ()
    assert sorted({*missing_places(spoken_text(path), names)}) == []


def test_classes_of_the_map_of_the_source_exist():
    source = "\n".join(p.read_text(encoding="utf-8") for p in SOURCE.rglob("*.py"))
    defined = {*re.findall(r"^(?:class )?(\w+)(?=\(|:| = )", source, re.M)}
    named = {*CLASS_IN_TICKS.findall((ROOT / "docs/architecture.md").read_text(encoding="utf-8"))}
    assert len(named) > 20
    assert sorted(named - defined) == []


def test_places_of_comments_and_messages_exist():
    missing = {
        f"{path.relative_to(ROOT)}: {place}"
        for path in CODE
        for place in missing_places(spoken_text(path))
    }
    assert sorted(missing) == []


def test_missing_places_are_found():
    text = "`emit/c/run.py`, src/bellcrank/kernel/nothing.c, bellcrank.model.nothing, `codegen.nothing`"
    assert len([*missing_places(text)]) == 3
    assert [*missing_places("`nothing.py`", {"bounds.py"})] == ["nothing.py"]
    good = "src/bellcrank/kernel/job.h, `model/joints/`, bellcrank.System, `codegen.memory`"
    assert [*missing_places(good)] == []
