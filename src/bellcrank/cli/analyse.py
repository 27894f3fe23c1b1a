"""`bellcrank analyse`: equilibria, modes, responses and spectra of a model."""

from __future__ import annotations

import json
import re
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import bellcrank as bc
from bellcrank.cli.files import is_script
from bellcrank.cli.load_model import derive_model_equations, load_model_argument
from bellcrank.cli.options import (
    MOST_VALUES,
    NAMED_VALUE_OPTION,
    REPEATABLE_OPTION,
    add_shared_options,
    compile_settings,
    initial_values_and_guesses,
    parse_number_option,
    parse_value,
    run_options,
    run_settings,
)
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import ProgressReporter
from bellcrank.cli.report_text import json_number, model_heading

DEFAULT_FREQUENCIES = np.geomspace(0.1, 20.0, 60)


def add_options(parser: CommandParser) -> None:
    add_shared_options(parser, "model", "values")
    add = parser.group("analysis")
    equilibrium = (
        "equilibrium or steady motion (default: --equilibrium --modes, if no other analysis is "
        "named)"
    )
    add("--equilibrium", action="store_true", help=equilibrium)
    add("--modes", action="store_true", help="eigenvalues, frequencies, damping and participation")
    response = "frequency response of an output to an input or parameter (may be repeated)"
    add("--response", nargs=2, **REPEATABLE_OPTION, metavar=("INPUT", "OUTPUT"), help=response)
    hertz = "frequencies in Hz, evenly spaced on a logarithmic scale (default: 0.1:20:60)"
    add(
        "--frequencies",
        type=parse_frequencies,
        default=DEFAULT_FREQUENCIES,
        metavar="FROM:TO:COUNT",
        help=hertz,
    )
    sensitivity = "derivatives of the run with respect to these parameters"
    add("--sensitivity", nargs="+", default=[], metavar="PARAMETER", help=sensitivity)
    add(
        "--outputs",
        nargs="+",
        metavar="NAME",
        help="channels of --sensitivity (default: all outputs)",
    )
    add("--check", action="store_true", help="compare sensitivities with differences of runs")
    locus = "eigenvalues over a parameter, input, state or output, or over an argument of model()"
    add("--locus", type=parse_sweep, metavar="NAME=FROM:TO:COUNT", help=locus)
    add = parser.group("operating point")
    operating_point = (
        "where the model is linearised: equilibrium, start, a time of the run in s, or a "
        "state NAME=VALUE, which may be"
        " repeated (default: equilibrium)"
    )
    add("--at", action="append", type=parse_operating_point, metavar="POINT", help=operating_point)
    add(
        "--inputs",
        **NAMED_VALUE_OPTION,
        type=parse_value,
        metavar="NAME=VALUE",
        help="constant value of an input (may be repeated)",
    )
    free = "parameter or input that is unknown in the equilibrium (may be repeated)"
    add("--free", **REPEATABLE_OPTION, metavar="NAME", help=free)
    fixed = "state, input or parameter with a fixed value in the equilibrium (may be repeated)"
    add("--fixed", **NAMED_VALUE_OPTION, type=parse_number_option, metavar="NAME=VALUE", help=fixed)
    target = "value of an output or state in the equilibrium (may be repeated)"
    add(
        "--target",
        **NAMED_VALUE_OPTION,
        type=parse_number_option,
        metavar="NAME=VALUE",
        help=target,
    )
    add_shared_options(parser, "start", "backend", "compile")
    run_options(parser, "the run of --sensitivity", fixed=True)
    add_shared_options(parser, "json")
    parser.group("output")(
        "--out", metavar="FOLDER", help="write every result there as CSV and PNG"
    )


def run_command(args: Namespace) -> None:
    equations = derive_model_equations(args)
    with ProgressReporter("compiling"):
        sim = equations.compile(**compile_settings(args))
    if not (args.equilibrium or args.modes or args.response or args.sensitivity or args.locus):
        args.equilibrium = args.modes = True
    if not args.json:
        print(model_heading(equations))
    results: dict[str, Any] = {}
    with ProgressReporter("analysing"):
        for name, result in _compute_results(equations, sim, args):
            results[name] = result
            if not args.json:
                print(f"\n{result}")
            if args.out:
                for path in _write_result(result, Path(args.out), name):
                    if not args.json:
                        print(f"  wrote {path}")
    if args.json:
        motions = {
            name: result.motion for name, result in results.items() if hasattr(result, "motion")
        }
        listed = {name: result_as_dict(result) for name, result in results.items()}
        print(json.dumps({**listed, "motions": motions}, indent=2))


def _compute_results(equations: bc.Equations, sim: bc.Simulation, args: Namespace) -> Any:
    """Every result that was asked for, with its name, one after the other."""
    start = equations.interface.initial_values(initial_values_and_guesses(args))
    sought: dict[str, Any] = {
        "free": args.free,
        "fixed": dict(args.fixed),
        "targets": dict(args.target),
    }
    values: dict[str, Any] = {"parameters": dict(args.set), "inputs": dict(args.inputs)}
    requested_point = _operating_point(args.at, start, bool(args.initial or args.guess))
    operating_point = requested_point
    if args.equilibrium or (requested_point == "equilibrium" and (args.modes or args.response)):
        try:
            equilibrium = sim.equilibrium(at=start, **sought, **values)
        except bc.NoEquilibrium as error:
            hint = "to linearise the model at its initial state instead: --modes --at start"
            raise bc.NoEquilibrium(f"{error}; {hint}", error.residuals, error.runaway) from None
        if args.equilibrium:
            yield "equilibrium", equilibrium
        operating_point = equilibrium if requested_point == "equilibrium" else operating_point
    point_values = {} if operating_point is not requested_point else values
    if args.modes:
        linear = sim.linearize(
            at=operating_point,
            parameters=point_values.get("parameters"),
            inputs=point_values.get("inputs") or None,
        )
        for note in linear.notes:
            if not args.json:
                print(f"note: {note}")
        yield "modes", linear.essential().modes
    for source, output in args.response:
        yield (
            f"response of {output} to {source}",
            sim.frequency_response(
                source, output, args.frequencies, at=operating_point, **point_values
            ),
        )
    if args.locus:
        name, numbers = args.locus
        yield (
            f"locus over {name}",
            sim.root_locus(
                name, numbers, at=requested_point, model=_model_builder(args), **sought, **values
            ),
        )
    if args.sensitivity:
        yield (
            "sensitivity",
            sim.sensitivity(
                args.sensitivity,
                args.outputs,
                parameters=dict(args.set),
                initial=initial_values_and_guesses(args),
                check=args.check,
                **run_settings(args),
            ),
        )


def parse_operating_point(text: str) -> str | float | tuple[str, float]:
    """equilibrium, start, 3.2, u(chassis, 1)=10"""
    word = text.strip().lower()
    if word in ("equilibrium", "start"):
        return word
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return parse_number_option(text)
    except ArgumentTypeError:
        raise ArgumentTypeError(
            f"{text!r} is not equilibrium, start, a time of the run in s, or STATE=VALUE"
        ) from None


def _operating_point(
    requested: Sequence[Any] | None, start: Mapping[str, float], has_initial: bool
) -> Any:
    """What --at says: a word, a time, or states that are changed at the start."""
    states = [x for x in requested or () if isinstance(x, tuple)]
    points = [x for x in requested or () if not isinstance(x, tuple)]
    if len(points) > 1 or (states and points and points != ["start"]):
        raise bc.ModelError("--at: give one place; only states (--at NAME=VALUE) may be repeated")
    if states:
        return {**start, **dict(states)}
    point = points[0] if points else "equilibrium"
    return dict(start) if point == "start" and has_initial else point


def _model_builder(args: Namespace) -> Callable[..., Any] | None:
    """The model of the file made with other arguments; None for what is no Python file."""
    if is_script(args.model):
        return None
    return lambda **changed: load_model_argument(
        Namespace(**{**vars(args), "arg": [*args.arg, *changed.items()]})
    )


def _write_result(result: Any, folder: Path, name: str) -> list[Path]:
    """Table and picture of a result."""
    stem = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    table = result.save(folder / f"{stem}.csv")
    picture = folder / f"{stem}.png"
    result.plot(path=picture)
    return [table, picture]


def result_as_dict(result: Any) -> Any:
    """A result ready for JSON."""
    if hasattr(result, "residual"):
        keys = (
            "values",
            "units",
            "residual",
            "neutral",
            "steady",
            "unknowns",
            "moved",
            "stability",
            "settles",
        )
        return {k: getattr(result, k) for k in keys} | {
            "eigenvalues": [[x.real, x.imag] for x in result.eigenvalues]
        }
    if hasattr(result, "growth"):
        rows = zip(result.values, result.eigenvalues, strict=True)
        return [
            {result.over: float(v), "eigenvalues": [[x.real, x.imag] for x in row]}
            for v, row in rows
        ]
    if hasattr(result, "magnitude"):
        listed = zip(result.f, result.magnitude, result.phase, strict=True)
        return {
            "unit": result.unit,
            "response": [[float(f), json_number(m), json_number(p)] for f, m, p in listed],
        }
    if hasattr(result, "slopes"):
        pairs = [(o, p) for o in result.outputs for p in result.parameters]
        return {
            f"{o} by {p}": {
                "unit": result.unit(o, p),
                "largest": float(np.abs(result[o, p]).max()),
                "end": float(result[o, p][-1]),
                "against_differences": result.checked.get((o, p)),
            }
            for o, p in pairs
        }
    return [
        {
            "eigenvalue": [m.eigenvalue.real, m.eigenvalue.imag],
            "frequency": m.natural_frequency,
            "damping": m.damping,
            "participation": dict(zip(m.states, m.participation.tolist(), strict=True)),
        }
        for m in result
    ]


def _parse_range(text: str, label: str) -> tuple[float, float, int]:
    fields = text.split(":")
    try:
        first, last, count = float(fields[0]), float(fields[1]), int(fields[2])
    except (ValueError, IndexError):
        raise ArgumentTypeError(f"{label} {text!r} is not FROM:TO:COUNT") from None
    if not 1 <= count <= MOST_VALUES or not np.isfinite([first, last, last - first]).all():
        raise ArgumentTypeError(
            f"{label} {text!r}: the ends must be finite, the count from 1 to {MOST_VALUES}"
        )
    return first, last, count


def parse_frequencies(text: str) -> np.ndarray:
    """0.1:20:60"""
    first, last, count = _parse_range(text, "frequencies")
    if not 0 < first <= last:
        raise ArgumentTypeError(f"frequencies {text!r} must be positive and increase")
    return np.geomspace(first, last, count)


def parse_sweep(text: str) -> tuple[str, Sequence[float]]:
    """speed=200:1200:21"""
    name, equals, range_text = text.rpartition("=")
    if not equals or not name.strip():
        raise ArgumentTypeError(f"{text!r} is not NAME=FROM:TO:COUNT")
    first, last, count = _parse_range(range_text, "values")
    return name.strip(), np.linspace(first, last, count).tolist()
