"""Pictures: a figure that needs no display, and its file."""

from __future__ import annotations

from base64 import b64encode
from functools import partial
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

from bellcrank.core.errors import RunError
from bellcrank.core.files.atomic import AtomicWrite
from bellcrank.core.files.html import HtmlText
from bellcrank.core.files.picture_style import use_own_style
from bellcrank.core.files.text_files import to_one_line


def new_figure(width: float, height: float) -> Any:
    """An empty matplotlib figure, in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    use_own_style()
    figure: Any = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    figure._repr_png_ = partial(png_bytes, figure)  # notebooks ask for it
    return figure


def png_bytes(figure: Any) -> bytes:
    """A figure as the bytes of a PNG file."""
    data = BytesIO()
    figure.savefig(data, format="png", dpi=100)
    return data.getvalue()


def plot_text(text: str) -> str:
    """Words of a user for a picture, in which a dollar is no sign of a formula."""
    return to_one_line(text).replace("$", r"\$")


def figure_html(figure: Any, words: str) -> HtmlText:
    """A figure as an image inside a page, which needs no file; `words` are for those who do not see
    it."""
    text = b64encode(png_bytes(figure)).decode("ascii")
    return HtmlText(
        f'<img class="picture" alt="{escape(to_one_line(words))}" '
        f'src="data:image/png;base64,{text}">'
    )


def check_picture_extension(path: str | Path) -> None:
    """Rejects a path whose ending is that of no picture, before the work that it is to show."""
    from matplotlib.backend_bases import FigureCanvasBase

    endings = sorted(FigureCanvasBase.get_supported_filetypes())
    if (Path(path).suffix[1:].lower() or "png") not in endings:
        raise RunError(f"cannot write {path}: a picture ends in .{', .'.join(endings)}")


def save_figure(figure: Any, path: str | Path | None) -> Any:
    """Saves a figure if a path is given; its ending says as what."""
    if path is not None:
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            with AtomicWrite() as partial_files:
                figure.savefig(
                    partial_files.path_for(path),
                    dpi=130,
                    format=Path(path).suffix[1:].lower() or "png",
                )
        except (OSError, ValueError) as error:
            raise RunError(
                f"cannot write {path}: {getattr(error, 'strerror', None) or error}"
            ) from None
    return figure
