"""`bellcrank export`: a model in another form. `write`, `fmu` and `page` are short forms of it."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

import bellcrank as bc
from bellcrank.choices import Precision, choice_values
from bellcrank.cli.files import prepare_output_path
from bellcrank.cli.load_model import derive_model_equations
from bellcrank.cli.options import (
    NAMED_VALUE_OPTION,
    SHARED_OPTIONS,
    add_event_options,
    add_shared_options,
    requested_events,
)
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import ProgressReporter
from bellcrank.export.formats import FORMATS, find_format

ENDINGS = {"fmu": ".fmu", "page": ".html"}  # of formats that are one file


def _parse_slider(text: str) -> tuple[str, tuple[float, float] | None]:
    """A name, or a name with two ends."""
    name, equals, limits = text.partition("=")
    if not equals:
        return name, None
    low, _, high = limits.partition(":")
    try:
        return name, (float(low), float(high))
    except ValueError:
        raise ArgumentTypeError(f"{text!r}: give NAME, or NAME=LOW:HIGH") from None


OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "dae": ("--dae", SHARED_OPTIONS["dae"][1]["--dae"]),
    "precision": (
        "--precision",
        {
            "choices": choice_values(Precision),
            "help": "precision of embedded C (default: double)",
        },
    ),
    "fmi": ("--fmi", {"type": int, "choices": (2, 3), "help": "version of FMI (default: 2)"}),
    "platforms": (
        "--platform",
        {
            "metavar": "NAME",
            "help": "host: this machine; all, or names separated by commas, such as x86_64-linux,"
            "x86_64-windows: by the Python package ziglang; sources: no library (default: host)",
        },
    ),
    "description": (
        "--description",
        {"metavar": "TEXT", "help": "what the FMU is, for importers to show"},
    ),
    "author": ("--author", {"metavar": "TEXT", "help": "who made it"}),
    "version": ("--model-version", {"metavar": "TEXT", "help": "its version"}),
    "license": ("--license", {"metavar": "TEXT", "help": "its terms of use"}),
    "copyright": ("--copyright", {"metavar": "TEXT", "help": "who owns it"}),
    "sliders": (
        "--slider",
        {
            **NAMED_VALUE_OPTION,
            "type": _parse_slider,
            "metavar": "NAME[=LOW:HIGH]",
            "help": "a parameter or input whose slider stands first, and its ends (may be "
            "repeated)",
        },
    ),
    "plots": (
        "--plot",
        {
            "action": "append",
            "metavar": "CHANNEL",
            "help": "a channel to plot (may be repeated) (default: outputs)",
        },
    ),
    "run": (
        "--run",
        {
            "metavar": "FILE",
            "help": "a saved run of the model that the page also plays (.csv, .erd ...)",
        },
    ),
    "modes": (
        "--modes",
        {
            "action": "store_true",
            "help": "also show the modes of small motions about the equilibrium",
        },
    ),
    "drag": (
        "--drag",
        {"action": "store_true", "help": "let the pointer pull bodies, which adds 3 kB"},
    ),
    "title": (
        "--title",
        {"metavar": "TEXT", "help": "title of the page (default: the name of the model)"},
    ),
}
"""Options of `Equations.export` on the command line: the name, and how it is read; events are
below."""


def add_options(parser: CommandParser) -> None:
    words = (
        "c, fortran or python: a program; embedded: C that a controller calls step by step; "
        "simulink: an S-function;"
        " fmu: a functional mock-up unit; page: a web page"
    )
    parser.group("model")("format", metavar="FORMAT", help=words)
    add_shared_options(parser, "model")
    format_options(parser, *FORMATS)


def format_options(parser: CommandParser, *formats: str) -> None:
    """Those of one or several formats, each once, in groups by the formats that have them; and
    --out."""
    groups = {
        option: ", ".join(x for x in formats if option in FORMATS[x].options)
        for option in ("events", *OPTIONS)
    }
    if groups["events"]:
        add_event_options(parser, groups["events"])
    for option, (name, argument_options) in OPTIONS.items():
        if groups[option]:
            parser.group(groups[option])(name, dest=option, **argument_options)
    (metavar, *other_kinds) = sorted({"FILE" if name in ENDINGS else "FOLDER" for name in formats})
    target = "file or folder" if other_kinds else metavar.lower()
    words = f"{target} to write (default: named after model and format)"
    parser.group("output")("--out", metavar="PATH" if other_kinds else metavar, help=words)


def run_command(args: Namespace) -> None:
    export_from_arguments(args, args.format)


def export_from_arguments(args: Namespace, name: str) -> None:
    """Writes the model of a command in a format."""
    export_options = {option: value for option in OPTIONS if (value := getattr(args, option, None))}
    if hasattr(args, "event"):
        export_options |= {
            option: value for option, value in requested_events(args).items() if value
        }
    find_format(name, export_options)  # before anything is derived
    one_file, stem = name in ENDINGS, Path(args.model).stem
    path: Any = args.out or (stem + ENDINGS[name] if one_file else f"{stem}_{name}")
    if one_file:
        if Path(path).suffix.lower() != ENDINGS[name]:
            raise bc.ModelError(f"--out {path}: what is written must end in {ENDINGS[name]}")
        prepare_output_path(path)
    equations = derive_model_equations(args)
    if "sliders" in export_options:
        export_options["sliders"] = dict(args.sliders)
    if "run" in export_options:
        export_options["run"] = bc.Run.read(args.run)
    if "modes" in export_options:
        with ProgressReporter("linearising"):
            export_options["modes"] = equations.compile().linearize(
                "equilibrium", wrt=(), outputs=()
            )
    with ProgressReporter("writing the files"):
        output: Any = equations.export(name, path, **export_options)  # type: ignore[call-overload]
    if name == "page":
        print(f"wrote {path}, {len(output.text.encode()) / 1000:.0f} kB")
        return
    print("\n".join([equations.summary(), *_next_steps(name, output), f"wrote {output}"]))


def _next_steps(name: str, path: Path) -> list[str]:
    """How to use what was written."""
    if name == "fmu":
        return []
    if name == "simulink":
        block = max(path.parent.glob("*_sfun.c"), key=lambda p: p.stat().st_mtime)
        return [f"in MATLAB: mex {block.name} {path.name}   (interface: {path.stem}.h)"]
    if name == "embedded":
        return [
            f"to time its steps on this machine: make -C {path.parent} run   (interface: "
            f"{path.stem}.h)"
        ]
    for parameters in sorted(path.parent.glob("*.par"), key=lambda p: p.stat().st_mtime)[-1:]:
        python = f"to run it: cd {path.parent} && python {parameters.stem}.py"
        compiled = f"to build and run it: make -C {path.parent} run"
        return [f"{python if name == 'python' else compiled}   (input: {parameters.name})"]
    return []
