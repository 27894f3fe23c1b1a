"""Pages that show what their code prints and draws: `python -m website.shown` writes outputs and
figures into docs/.

Python blocks of a page run one after another, as a reader would paste them. What a block prints
stands in the block of text behind it; a figure that the page shows has the name of a file that the
code saves. Tests run the same code.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bellcrank.scene.animate import common_palette

DOCS = Path(__file__).parents[1] / "docs"
FOLDERS = ("concepts", "howto", "tutorials")
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<text>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
FIGURE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")
WIDEST, COLOURS = 400, 64  # of animations


def shown_pages() -> list[Path]:
    """Pages with outputs and figures, and the README."""
    return [
        DOCS.parent / "README.md",
        DOCS / "getting_started.md",
        *(p for folder in FOLDERS for p in sorted((DOCS / folder).glob("*.md"))),
    ]


def run_blocks(page: Path, names: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Runs the blocks in the present folder: what each prints, and what the page says that it
    prints."""
    for found in BLOCK.finditer(page.read_text(encoding="utf-8")):
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(found["code"], page.name, "exec"), names)
        yield printed.getvalue(), found["text"] or ""


def write_page(page: Path) -> None:
    """Writes what the code of a page prints and draws."""
    with TemporaryDirectory() as folder, chdir(folder):
        os.symlink(DOCS.parent / "examples", "examples")
        printed = iter([found for found, _ in run_blocks(page, {})])
        text = page.read_text(encoding="utf-8")
        page.write_text(
            BLOCK.sub(lambda found: _block(found["code"], next(printed)), text), encoding="utf-8"
        )
        for link in FIGURE.findall(text):
            saved, kept = Path(Path(link).name), page.parent / link
            if saved.exists():
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(
                    small_animation(saved) if saved.suffix == ".gif" else saved.read_bytes()
                )
            elif not kept.exists():
                print(f"{page.name} shows {link}, which its code does not save")


def _block(code: str, printed: str) -> str:
    shown = f"\n```text\n{printed.rstrip()}\n```\n" if printed.strip() else ""
    return f"```python\n{code}```\n{shown}"


def small_animation(path: Path) -> bytes:
    """An animation in fewer colours and points: a few ten kilobytes."""
    from PIL import Image, ImageSequence

    with Image.open(path) as given:
        scale = min(1.0, WIDEST / given.width)
        size = (round(given.width * scale), round(given.height * scale))
        frames = [
            f.convert("RGB").resize(size, Image.Resampling.LANCZOS)
            for f in ImageSequence.Iterator(given)
        ]
        return as_gif(frames, given.info.get("duration", 80))


def as_gif(frames: list[Any], duration: float) -> bytes:
    """Frames of one palette; `duration` of each in ms."""
    from PIL import Image

    palette = common_palette(frames, COLOURS)
    drawn = [f.quantize(palette=palette, dither=Image.Dither.NONE) for f in frames]
    result = io.BytesIO()
    drawn[0].save(
        result,
        "GIF",
        save_all=True,
        append_images=drawn[1:],
        duration=duration,
        loop=0,
        optimize=True,
    )
    return result.getvalue()


if __name__ == "__main__":
    for path in shown_pages():
        if not sys.argv[1:] or path.stem in sys.argv[1:]:
            print(path.name, flush=True)
            write_page(path)
