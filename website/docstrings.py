"""What MkDocs does with each docstring: plain text with names in backticks, in sections of
numpydoc."""

from __future__ import annotations

from typing import Any

import griffe

from website.words import as_markdown


class PlainDocstrings(griffe.Extension):
    """Writes docstrings so that Markdown shows their words as they are."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
