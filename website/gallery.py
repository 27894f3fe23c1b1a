"""The gallery: every example with its live page, what its check says, its picture and its source.

What takes time is made once: an example is made anew when its source or the package has changed.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shutil
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import bellcrank as bc
from website.words import described, fenced, plain

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
PAGE, PICTURE, FACTS = "live.html", "picture.png", "facts.json"
STATES = 20  # random states of a check
GROUPS = {  # by what stands in the name or the source of an example; the first that is found
    "Vehicles": r"\A\w*(car|motorcycle|bicycle|student|five_link)",
    "Closed loops": r"\.add_loop_joint\(",
    "Kane by hand": r"bellcrank\.kane",
    "Other machines": "",
}
HIDDEN = ("stanford_arm",)  # uncontrolled, it falls out of its slide: the controlled one is shown
SCRIPTS = "Programs"  # examples that are no model


@dataclass(frozen=True)
class Made:
    """What is shown of an example. `refused`: why it has no live page; `picture` may be missing."""

    name: str
    title: str
    words: str
    source: str
    live: bool = False
    picture: bool = False
    refused: str = ""
    check: str = ""

    @property
    def group(self) -> str:
        """Where it stands in the gallery."""
        if "def model(" not in self.source:
            return SCRIPTS
        return next(
            title
            for title, pattern in GROUPS.items()
            if re.search(pattern, f"{self.name}\n{self.source}")
        )


def example_files(only: Iterable[str] = ()) -> list[Path]:
    """The examples in Python, or those of the names."""
    found = sorted(EXAMPLES.glob("*.py"))
    return [p for p in found if p.stem in set(only)] if only else found


def make_example(path: Path, folder: Path) -> Made:
    """Live page, picture and check of an example, in a folder; as they are there if nothing has
    changed."""
    source = path.read_text(encoding="utf-8")
    now = hashlib.sha256((package_digest() + source).encode()).hexdigest()
    facts = folder / FACTS
    if facts.exists() and (kept := json.loads(facts.read_text(encoding="utf-8")))["digest"] == now:
        return Made(**kept["made"])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    words = ast.get_docstring(ast.parse(source)) or ""
    made = Made(path.stem, title_of(words) or path.stem.replace("_", " "), words, source)
    if "def model(" in source:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bc.ModelWarning)
            made = _with_model(made, path, folder)
    facts.write_text(json.dumps({"digest": now, "made": asdict(made)}), encoding="utf-8")
    return made


def title_of(words: str) -> str:
    """The title of an example: its docstring up to the first colon, or its first sentence."""
    return re.split(r"[:.](?:\s|\Z)", words, maxsplit=1)[0]


def _with_model(made: Made, path: Path, folder: Path) -> Made:
    system: Any = bc.System.read(path)
    equations = system.equations()
    found: dict[str, Any] = {"check": str(bc.check(system, states=STATES, equations=equations))}
    try:
        equations.export("page", folder / PAGE, title=made.title, drag=True)
        found["live"] = True
    except bc.ModelError as error:
        found["refused"] = str(error)
    if equations.analysis.mechanism.bodies:
        system.picture(folder / PICTURE, title="")
        found["picture"] = True
    return Made(**{**asdict(made), **found})


@cache
def package_digest() -> str:
    """What the results of an example depend on next to its source."""
    files = sorted(
        p for p in (ROOT / "src").rglob("*") if p.is_file() and "__pycache__" not in p.parts
    )
    return hashlib.sha256(b"".join(p.read_bytes() for p in files)).hexdigest()


def write_gallery(pages: Path, made: Iterable[tuple[Made, Path]]) -> list[Any]:
    """Writes a page for every example, and one that shows all; their titles and paths."""
    folder = pages / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    groups: dict[str, list[Made]] = {title: [] for title in [*GROUPS, SCRIPTS]}
    for x, files in made:
        if x.name in HIDDEN:
            continue
        groups[x.group].append(x)
        for has, name in ((x.live, PAGE), (x.picture, PICTURE)):
            if has:
                shutil.copy(files / name, folder / f"{x.name}_{name}")
        (folder / f"{x.name}.md").write_text(example_page(x), encoding="utf-8")
    groups = {title: listed for title, listed in groups.items() if listed}
    (folder / "index.md").write_text(_index(groups), encoding="utf-8")
    listed = [
        {title: [{escape(x.title): f"gallery/{x.name}.md"} for x in of]}
        for title, of in groups.items()
    ]
    return [{"Gallery": "gallery/index.md"}, *listed]


def example_page(x: Made) -> str:
    """The page of an example."""
    parts = [f"# {plain(x.title)}", described(x.words)]
    if x.live:
        frame = (
            f'<iframe class="live" sandbox="allow-scripts" src="{x.name}_{PAGE}" '
            f'title="{escape(x.title)}"></iframe>'
        )
        told = (
            f'<p>The model itself runs here; <a href="{x.name}_{PAGE}">in a window of its '
            f"own</a>, or as a file:"
        )
        parts += [frame, f"{told} <code>bellcrank page examples/{x.name}.py</code></p>"]
    elif x.picture:
        parts.append(f'<p><img src="{x.name}_{PICTURE}" alt="{escape(x.title)}"></p>')
    if x.refused:
        parts.append(f"<p>{escape(x.refused)}</p>")
    if x.check:
        parts += ["## Check", f"    bellcrank check examples/{x.name}.py", fenced(x.check, "text")]
    return (
        "\n\n".join([*parts, "## Source", f"`examples/{x.name}.py`", fenced(x.source, "python")])
        + "\n"
    )


def _index(groups: dict[str, list[Made]]) -> str:
    lines = [
        "# Gallery",
        "",
        "Every model runs in its page, next to its source and what its check says.",
        "",
    ]
    for title, made in groups.items():
        cards = "\n".join(_card(x) for x in made)
        lines += [f"## {title}", "", f'<div class="cards">\n{cards}\n</div>', ""]
    return "\n".join(lines)


def _card(x: Made) -> str:
    seen = f'<img src="{x.name}_{PICTURE}" alt="" loading="lazy">' if x.picture else ""
    words = " ".join(x.words.split("\n\n")[0].split())
    return f'<a href="{x.name}.html">{seen}<b>{escape(x.title)}</b><span>{escape(words)}</span></a>'
