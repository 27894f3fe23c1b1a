"""The report page of a model: derived, checked, run, and written as one HTML file."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bellcrank.analysis.view.report import CheckSummary, ReportContext, report_page
from bellcrank.api.system import System
from bellcrank.choices import Backend, Solve
from bellcrank.core.files.html import page_path, save_page
from bellcrank.mechanics.interface.interface import DECLARED
from bellcrank.verify.check import check
from bellcrank.verify.report import Report


def write_report(
    system: System,
    path: str | Path,
    *,
    states: int = 5,
    run: bool = True,
    parameters: Mapping[str, float] | None = None,
    solve: Solve = "auto",
    backend: Backend = "auto",
    **settings: Any,
) -> Path:
    """Writes the page; `states=0` omits the check, `run=False` the run. `settings` go to the
    run."""
    page_path(path)
    equations, parameter_values, checked = (
        system.equations(solve=solve),
        dict(parameters or {}),
        None,
    )
    if states:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is to be warned of is warned of by the run
            report = check(
                system,
                states=states,
                equations=equations,
                parameters=parameter_values,
                solve=solve,
                backend=backend,
            )
        checked = _check_summary(report)
    result = (
        equations.compile(backend=backend).simulate(parameters=parameter_values, **settings)
        if run
        else None
    )
    values = equations.interface.values_by_key(parameter_values, DECLARED, "parameters")
    text = report_page(
        ReportContext(equations.derived, equations.operation_count(), values, result, checked)
    )
    return save_page(path, text)


def _check_summary(report: Report) -> CheckSummary:
    head = (
        f"{'passed' if report.passed else 'failed'} ({report.states} random states, seed "
        f"{report.seed})"
    )
    return CheckSummary(report.passed, head, report.rows())
