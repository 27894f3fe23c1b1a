"""The report page of a model: derived, checked, run, and written as one HTML file."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bellcrank.api.equations import Equations
from bellcrank.api.system import System
from bellcrank.errors import RunError
from bellcrank.verify.check import check
from bellcrank.verify.report import Report
from bellcrank.view.report import Checked, Subject, report_page


def write_report(
    system: System,
    path: str | Path,
    *,
    states: int = 5,
    run: bool = True,
    parameters: Mapping[str, float] | None = None,
    solve: str = "auto",
    backend: str = "auto",
    **settings: Any,
) -> Path:
    """Writes the page; `states=0` leaves out the check, `run=False` the run. `settings` go to the run."""
    equations = system.equations(solve=solve)
    text = report_page(_subject(system, equations, states, run, dict(parameters or {}), solve, backend, settings))
    path = Path(path)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}") from None
    return path


def _subject(
    system: System,
    equations: Equations,
    states: int,
    run: bool,
    parameters: dict[str, float],
    solve: str,
    backend: str,
    settings: Mapping[str, Any],
) -> Subject:
    checked = None
    if states:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is to be warned of is warned of by the run
            found = check(system, states, equations=equations, parameters=parameters, solve=solve, backend=backend)
        checked = _checked(found)
    result = equations.compile(backend=backend).simulate(parameters=parameters, **settings) if run else None
    records = equations.analysis.mechanism.description.parameters
    given = {k.lower(): v for k, v in parameters.items()}
    values = {}
    for name in equations.parameters:
        record = records.get(name.lower())
        values[name] = given.get(name.lower(), record.value if record is not None else None)
    return Subject(
        equations.analysis,
        equations.quantities,
        equations.program,
        equations.how,
        sum(equations.seconds.values()),
        equations.operation_count(),
        values,
        result,
        checked,
        tuple(equations.notes),
    )


def _checked(report: Report) -> Checked:
    head = f"{'passed' if report.passed else 'failed'} ({report.states} random states, seed {report.seed})"
    return Checked(report.passed, head, report.rows())
