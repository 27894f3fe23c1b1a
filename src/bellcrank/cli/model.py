"""The model of a command: loaded from its file, derived."""

from __future__ import annotations

import traceback
from argparse import Namespace
from pathlib import Path

import bellcrank as bc
from bellcrank.cli.kane import is_script, script_plan
from bellcrank.cli.options import given
from bellcrank.cli.progress import Progress


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


def derive(args: Namespace) -> bc.Equations:
    if is_script(args.model):
        return script_plan(args.model, args.solve).equations
    system = load(args)
    with Progress("deriving the equations of motion"):
        return system.equations(**given(solve=args.solve))
