"""The whole site: pages written and gathered in one folder, turned into HTML by MkDocs, and
checked."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from website.check import problems_of
from website.gallery import make_example, write_gallery
from website.reference import write_reference

HERE = Path(__file__).parent


def build(
    folder: Path, examples: Iterable[Path], tell: Callable[[str], None] = lambda what: None
) -> list[str]:
    """Builds the site in `folder`/html, with a gallery of the examples; a message for each
    problem."""
    folder = folder.resolve()
    pages, site, kept = folder / "pages", folder / "html", folder / "examples"
    for old in (pages, site):
        shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(HERE.parent / "docs", pages, dirs_exist_ok=True)
    shutil.copytree(HERE / "assets", pages / "assets")
    made = []
    for path in examples:
        tell(f"example {path.stem}")
        made.append((make_example(path, kept / path.stem), kept / path.stem))
    parts = {"GALLERY": write_gallery(pages, made), "REFERENCE": write_reference(pages)}
    tell("pages")
    _mkdocs(pages, site, parts)
    return problems_of(site)


def _mkdocs(pages: Path, site: Path, parts: dict[str, list[Any]]) -> None:
    from mkdocs.commands.build import build as to_html
    from mkdocs.config import load_config

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")

    config = load_config(
        str(HERE / "mkdocs.yml"), docs_dir=str(pages), site_dir=str(site), strict=True
    )
    config.nav = [
        {title: _with_parts(listed, parts) for title, listed in entry.items()}
        for entry in config.nav
    ]
    config.plugins.on_startup(command="build", dirty=False)
    to_html(config)


def _with_parts(listed: Any, parts: dict[str, list[Any]]) -> Any:
    """Pages of mkdocs.yml, with those that were written here in the place of GALLERY and
    REFERENCE."""
    if isinstance(listed, str):
        return parts.get(listed, listed)
    return [
        page for x in listed for page in (parts[x] if isinstance(x, str) and x in parts else [x])
    ]
