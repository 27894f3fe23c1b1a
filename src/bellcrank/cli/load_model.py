"""The model of a command: loaded from its file, derived."""

from __future__ import annotations

import traceback
from argparse import Namespace
from pathlib import Path

import bellcrank as bc
from bellcrank.cli.files import is_script
from bellcrank.cli.options import given_options
from bellcrank.cli.progress import ProgressReporter
from bellcrank.mechanics.interface.listing import RUN
from bellcrank.simulation.run.argument_checks import check_parameter_names


def load_model_argument(args: Namespace) -> bc.System:
    """The model of a file. What its own code does wrong is reported with the line, not with a
    traceback."""
    if is_script(args.model):
        from bellcrank.cli.kane import script_plan

        return script_plan(args.model).equations.derivation  # type: ignore[return-value]
    try:
        with ProgressReporter("reading the model"):  # which may make tables
            return bc.System.read(
                args.model, **dict(args.arg), **given_options(external=args.external)
            )
    except (bc.BellcrankError, OSError):
        raise
    except Exception as error:
        lines = [
            f.lineno
            for f in traceback.extract_tb(error.__traceback__)
            if f.filename == str(Path(args.model))
        ]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        location = f"{args.model}, line {line}" if line else args.model
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        raise bc.ModelError(f"{location}: {type(error).__name__}: {text}") from error


def derive_model_equations(args: Namespace, system: bc.System | None = None) -> bc.Equations:
    if is_script(args.model):
        from bellcrank.cli.kane import script_plan

        return script_plan(args.model, args.solve).equations
    system = load_model_argument(args) if system is None else system
    with ProgressReporter("deriving the equations of motion"):
        equations = system.equations(**given_options(solve=args.solve))
    _apply_run_settings(args, equations)
    return equations


def _apply_run_settings(args: Namespace, equations: bc.Equations) -> None:
    """--set step=.01 and the like, which AUTOSIM counts among the parameters, mean the options of
    the run."""
    find_quantity = equations.interface.find_or_none
    settings = {
        key: option
        for key, (option, *_) in RUN.items()
        if find_quantity(key, ("parameter",)) is None
    }
    for name, value in getattr(args, "set", ()):
        option = settings.get(name.strip().lower())
        if option is not None and getattr(args, option, None) is None:
            setattr(
                args,
                option,
                int(value) if option == "output_every" and value.is_integer() else value,
            )
    deck = Path(args.model).suffix.lower() == ".lsp"
    if deck and getattr(args, "step", None) is not None and args.method is None:
        # that of AUTOSIM's programs; a deck without STEP is integrated with error control
        args.method = "rk2"
    if hasattr(args, "set"):
        args.set = [pair for pair in args.set if pair[0].strip().lower() not in settings]


def parameter_settings(args: Namespace, equations: bc.Equations) -> dict[str, float]:
    """The parameters of --set; a name that the model does not know is an error here, before a run
    nobody watches."""
    check_parameter_names(equations.interface, [name for name, _ in args.set], "--set {}")
    return dict(args.set)
