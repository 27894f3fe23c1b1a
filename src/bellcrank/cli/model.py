"""The model of a command: loaded from its file, derived."""

from __future__ import annotations

import traceback
from argparse import Namespace
from pathlib import Path

import bellcrank as bc
from bellcrank.cli.options import given
from bellcrank.cli.progress import Progress
from bellcrank.errors import did_you_mean


def load(args: Namespace) -> bc.System:
    """The model of a file. What its own code does wrong is told with the line, not with a traceback."""
    try:
        return bc.load_model(args.model, **dict(args.arg))
    except (bc.BellcrankError, OSError):
        raise
    except Exception as error:
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(Path(args.model))]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        place = f"{args.model}, line {line}" if line else args.model
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        raise bc.ModelError(f"{place}: {type(error).__name__}: {text}") from error


def derive(args: Namespace, system: bc.System | None = None) -> bc.Equations:
    system = load(args) if system is None else system
    with Progress("deriving the equations of motion"):
        return system.equations(**given(solve=args.solve))


def settings(args: Namespace, equations: bc.Equations) -> dict[str, float]:
    """The parameters of --set; a name that the model does not know is an error here, since nobody sees the run that follows."""
    known = {**equations.analysis.parameters, **equations.analysis.mechanism.description.parameters}
    names = sorted(equations.analysis.parameters.values(), key=str.lower)
    problems = [
        f"--set {name}: the model has no such parameter.{did_you_mean(name, names)}"
        for name, _ in args.set
        if name.lower() not in known
    ]
    if problems:
        raise bc.ModelError([*problems[:-1], f"{problems[-1]} Parameters: {', '.join(names)}."], equations.name)
    return dict(args.set)
