"""documentation/index.html of an FMU: every variable under its name in the FMU, with unit, start
value and label.

In:  the `FmuModelInfo` of the description. Out: a page that needs nothing besides itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from bellcrank.core.files.template import fill_template, template_text
from bellcrank.export.fmu.description import FmuModelInfo
from bellcrank.export.fmu.sources import FOLDER
from bellcrank.export.fmu.unit_definitions import UnitDefinitions
from bellcrank.export.fmu.variables import FmuVariable


def documentation_html(about: FmuModelInfo, version: int) -> str:
    """The page."""
    listed = about.variables.listed
    n = len(about.variables.rates)
    outputs = [x for x in listed if x.causality == "output"]
    groups: tuple[tuple[str, Sequence[FmuVariable]], ...] = (
        ("Inputs", [x for x in listed if x.causality == "input"]),
        ("Outputs", outputs),
        ("Parameters", [x for x in listed if x.causality == "parameter"]),
        ("States", listed[1 : 1 + n]),
    )
    units = UnitDefinitions(about.units)
    facts = {
        "author": about.credits.author,
        "version": about.credits.version,
        "license": about.credits.license,
        "copyright": about.credits.copyright,
        "standard": f"FMI {version}.0, "
        + ("model exchange and co-simulation" if about.exchange else "co-simulation"),
        "method of co-simulation": about.method
        + (f", steps of at most {about.step:g} s" if about.fixed else ""),
        "stop time": f"{about.t_end:g} s",
    }
    return fill_template(
        template_text(FOLDER, "index.html"),
        {
            "TITLE": escape(about.title),
            "DESCRIPTION": escape(about.credits.description),
            "FACTS": _table_rows([(name, text) for name, text in facts.items() if text], head="th"),
            "PARTS": escape("\n".join(about.parts)),
            "TABLES": "\n".join(
                _variable_table(title, rows, units) for title, rows in groups if rows
            ),
        },
    )


def _variable_table(title: str, variables: Sequence[FmuVariable], units: UnitDefinitions) -> str:
    columns = "name", "start", "unit", "shown in", "variability", "description"
    rows = []
    for x in variables:
        unit, display_unit = units.unit_and_display_unit(x.unit, x.rated)
        start = "" if x.start is None else f"{x.start:.6g}"
        rows.append((x.name, start, unit or "-", display_unit, x.variability, x.label))
    used_columns = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    head = "".join(f"<th>{columns[i]}</th>" for i in used_columns)
    body = _table_rows([tuple(row[i] for i in used_columns) for row in rows])
    return f"<h2>{title}</h2>\n<table>\n<tr>{head}</tr>\n{body}\n</table>"


def _table_rows(rows: Sequence[tuple[str, ...]], head: str = "td") -> str:
    cells = (
        f"<{head}>{escape(row[0])}</{head}>" + "".join(f"<td>{escape(x)}</td>" for x in row[1:])
        for row in rows
    )
    return "\n".join(f"<tr>{x}</tr>" for x in cells)
