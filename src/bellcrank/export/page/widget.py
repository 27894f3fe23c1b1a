"""The live page as a widget of notebooks, by anywidget, which not everyone has.

In:  a page. Out: a widget, whose `values` and the sliders of the page follow each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.core.errors import optional_package
from bellcrank.core.files.template import template_text
from bellcrank.scene.recorded import PAGES


def page_widget(title: str, text: str, values: Mapping[str, float], height: int) -> Any:
    """A widget of a page that starts with these values."""
    base = optional_package("anywidget", "widget").AnyWidget
    kinds = optional_package("traitlets", "widget")
    synced = {
        "title": kinds.Unicode(),
        "page": kinds.Unicode(),
        "height": kinds.Int(),
        "values": kinds.Dict(),
    }
    fields = {name: kind.tag(sync=True) for name, kind in synced.items()}
    widget_class: Any = type(
        "LivePage", (base,), {"_esm": template_text(PAGES, "widget.js"), **fields}
    )
    return widget_class(title=title, page=text, height=height, values=dict(values))
