"""What notebooks show: a result as HTML, its words and tables first, then its plot as an image."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bellcrank.core.errors import BellcrankError
from bellcrank.core.files.figure_files import figure_html
from bellcrank.core.files.html import HtmlText, preformatted


class NotebookDisplay:
    """A result that shows itself in a notebook. A kind of results says what is reported and drawn
    of it."""

    def _html_parts(self) -> Iterable[str]:
        """Pieces of HTML."""
        return [preformatted(str(self))]

    def _notebook_figure(self) -> Any:
        """A figure, or None."""
        return None

    def _repr_html_(self) -> str:
        return html_card(self._html_parts(), self._notebook_figure, str(getattr(self, "name", "")))


class PlotDisplay(NotebookDisplay):
    """A result with a plot, which notebooks show too. A kind of results draws it in `_draw`."""

    def _draw(self, path: str | Path | None) -> Any:
        raise NotImplementedError

    def _notebook_figure(self) -> Any:
        return self.plot()

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the result.

        Parameters
        ----------
        path : str or Path, optional
            File of the picture (.png, .svg, .pdf). Default: none is written.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        return self._draw(path)


def html_card(html_pieces: Iterable[str], drawn: Callable[[], Any], words: str) -> str:
    """Pieces of HTML one after another, and a figure; what cannot be drawn is omitted."""
    blocks = list(html_pieces)
    try:
        figure = drawn()
    except BellcrankError:
        figure = None
    if figure is not None:
        blocks.append(figure_html(figure, words))
    return HtmlText('<div class="bellcrank">\n' + "\n".join(blocks) + "\n</div>")
