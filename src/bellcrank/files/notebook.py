"""What notebooks show: a result as HTML, its words and tables first, then its plot as an image."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bellcrank.errors import BellcrankError
from bellcrank.files.html import Raw, verbatim
from bellcrank.files.picture import image


class Shown:
    """A result that shows itself in a notebook. A kind of results says what is reported and drawn of it."""

    def _html(self) -> Iterable[str]:
        """Pieces of HTML."""
        return [verbatim(str(self))]

    def _drawn(self) -> Any:
        """A figure, or None."""
        return None

    def _repr_html_(self) -> str:
        return card(self._html(), self._drawn, str(getattr(self, "name", "")))


class Plotted(Shown):
    """A result with a plot, which notebooks show too. A kind of results draws it in `_draw`."""

    def _draw(self, path: str | Path | None) -> Any:
        raise NotImplementedError

    def _drawn(self) -> Any:
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


def card(html_pieces: Iterable[str], drawn: Callable[[], Any], words: str) -> str:
    """Pieces of HTML one after another, and a figure; what cannot be drawn is omitted."""
    blocks = list(html_pieces)
    try:
        figure = drawn()
    except BellcrankError:
        figure = None
    if figure is not None:
        blocks.append(image(figure, words))
    return Raw('<div class="bellcrank">\n' + "\n".join(blocks) + "\n</div>")
