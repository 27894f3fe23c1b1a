"""`bellcrank run`: a run, its table, files and plots."""

from __future__ import annotations

import json
import math
import time
from argparse import Namespace
from typing import Any

import bellcrank as bc
from bellcrank.cli.codes import ENDED_EARLY, FINE
from bellcrank.cli.files import is_script, prepare_output_path, read_input_files
from bellcrank.cli.load_model import derive_model_equations, parameter_settings
from bellcrank.cli.options import (
    ANIMATIONS,
    OF_MODEL,
    add_shared_options,
    compile_settings,
    event_options,
    event_settings,
    file_type_with_suffix,
    given_options,
    initial_values_and_guesses,
    parse_float,
    parse_positive_integer,
    run_options,
    run_settings,
)
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import ProgressReporter
from bellcrank.cli.report_text import (
    aligned_text_table,
    final_table,
    last_value,
    model_heading,
    model_sizes,
    operations_text,
    three_digits,
)
from bellcrank.core.files.format_choice import FORMATS
from bellcrank.core.numeric.fixed_step_methods import METHODS
from bellcrank.core.numeric.step_report import stiff_switch_message
from bellcrank.export.model_setup import program_setup
from bellcrank.export.parameter_files import write_echo
from bellcrank.simulation.run.plot_selection import MOST
from bellcrank.simulation.run.status import RunStatus


def add_options(parser: CommandParser) -> None:
    add_shared_options(parser, "model", "values", "start", "input")
    add = parser.group("run")
    add("--t-start", type=parse_float, metavar="S", help="start of the run in s (default: 0)")
    run_options(parser)
    add(
        "--output-every",
        type=parse_positive_integer,
        metavar="N",
        help=f"keep every N-th step {OF_MODEL}",
    )
    event_options(parser)
    add_shared_options(parser, "dae")
    add("--start", metavar="FILE", help="continue from the last sample of a saved run, to --t-end")
    add(
        "--pars",
        metavar="FILE",
        help="parameter file, as programs read it; other options override it",
    )
    add_shared_options(parser, "backend", "compile")
    add = parser.group("output")
    channels = f"write all channels ({', '.join(FORMATS)}); SCRIPT.al: or a folder for its files"
    add("--out", metavar="FILE", help=channels)
    add(
        "--plot",
        metavar="FILE",
        help=f"plot outputs, up to {MOST} curves (.png, .svg, .pdf, .html)",
    )
    animation = (
        "write an animation of the mechanism (.gif; .mp4 with ffmpeg) or a page that plays it "
        "(.html)"
    )
    add("--animate", type=file_type_with_suffix(*ANIMATIONS), metavar="FILE", help=animation)
    add("--echo", metavar="FILE", help="write a parameter file with all values used")
    add(
        "--classic", action="store_true", help="ERD file in the layout of 1990: 32 bit, in FILE.BIN"
    )
    add(
        "--labels",
        action="store_true",
        help="CSV file with a third line of labels, below names and units",
    )
    add(
        "--print",
        type=parse_float,
        metavar="S",
        help="SCRIPT.al: time between samples of its output files in s",
    )
    add(
        "--message",
        metavar="TEXT",
        help="SCRIPT.al: text that identifies the run in its output files",
    )
    add_shared_options(parser, "json")


def run_command(args: Namespace) -> int:
    if is_script(args.model):
        from bellcrank.cli.kane import run_script_command

        if args.animate:
            raise bc.ModelError("--animate: an AUTOLEV script names no bodies to be drawn")
        return run_script_command(args)
    if args.echo and (args.t_start or args.start):
        raise bc.ModelError(
            f"--echo and --{'start' if args.start else 't-start'}: a parameter file begins at t = 0"
        )
    for_scripts = [f"--{name}" for name in ("print", "message") if getattr(args, name) is not None]
    if for_scripts:
        raise bc.ModelError(
            f"{' and '.join(for_scripts)}: for AUTOLEV scripts alone; --output-every thins out rows"
        )
    equations = derive_model_equations(args)
    parameters = parameter_settings(args, equations)
    start = time.perf_counter()
    with ProgressReporter("compiling"):
        sim = equations.compile(**compile_settings(args))
    compiled = time.perf_counter()
    inputs = read_input_files(args.input, equations) if args.input else {}
    file_settings = bc.settings_of(equations, args.pars) if args.pars else {}
    output_options = given_options(
        output_every=args.output_every, dae=args.dae, t_start=args.t_start
    )
    options = {**run_settings(args), **output_options, **event_settings(args)}
    for name, values in (
        ("parameters", parameters),
        ("initial", initial_values_and_guesses(args)),
        ("inputs", inputs),
    ):
        options[name] = {**file_settings.get(name, {}), **values}
    options = {**file_settings, **options}
    if args.start:
        options |= {"start": bc.Run.read(args.start), "initial": options["initial"] or None}
    with ProgressReporter("running") as progress:
        run = sim.simulate(progress=progress.set_fraction, **options)
    if args.out:
        run.save(prepare_output_path(args.out), classic=args.classic, labels=args.labels)
    if args.echo:
        write_echo(
            program_setup(equations.derived),
            sim.loaded,
            run,
            options,
            prepare_output_path(args.echo),
        )
    if args.plot:
        run.plot(path=prepare_output_path(args.plot))
    if args.animate:
        with ProgressReporter("drawing") as progress:
            run.animate(prepare_output_path(args.animate), progress=progress.set_fraction)
    figures = run_figures(equations, sim, run, compiled - start)
    print(
        json.dumps(figures, indent=2) if args.json else run_text(equations, sim, run, figures, args)
    )
    return FINE if run.status is RunStatus.FINISHED else ENDED_EARLY


CHOSEN = (  # figures of adaptive methods
    "rtol",
    "atol",
    "rejected",
    "rates",
    "smallest_step",
    "largest_step",
    "jacobians",
    "factorisations",
    "newton_failures",
    "fastest_mode",
    "held_steps",
    "went_over",
)
WORK = {
    "rejected": "steps rejected",
    "rates": "rates",
    "jacobians": "Jacobians",
    "factorisations": "factorisations",
    "newton_failures": "failures of Newton's method",
}


def run_figures(equations: bc.Equations, sim: Any, run: bc.Run, compiling: float) -> dict[str, Any]:
    """All figures of a run, ready for JSON."""
    settings = run.settings
    t_start = settings["t_start"]
    end_time = float(run.time[-1]) if len(run) else t_start
    running = settings["seconds"]
    fixed = settings["method"] in METHODS
    return {
        **model_sizes(equations),
        "operations": equations.operation_count(),
        "backend": sim.backend,
        "compile_seconds": compiling,
        "method": settings["method"],
        "dae": settings.get("dae"),
        "step": settings["step"],
        "steps": math.ceil((end_time - t_start) / settings["step"] - 1e-9)
        if fixed
        else settings.get("steps"),
        **{x: settings[x] for x in CHOSEN if x in settings},
        "t_end": settings["t_end"],
        "reached": end_time,
        "run_seconds": running,
        "real_time_factor": (end_time - t_start) / running if running > 0 else None,
        "ended": run.ended,
        "events": [str(e) for e in run.events],
        "notes": run.notes,
        "final": {
            x: {**last_value(run, x), "label": run.labels.get(x, x)}
            for x in equations.outputs or run
        },
    }


def run_text(
    equations: bc.Equations, sim: Any, run: bc.Run, figures: dict[str, Any], args: Namespace
) -> str:
    """The summary of a run and the last value of every output."""
    f, c = figures, figures["operations"]
    length = (
        f"{f['step']:g}"
        if f.get("smallest_step") is None
        else f"{f['smallest_step']:.3g} to {f['largest_step']:.3g}"
    )
    steps = "" if f["steps"] is None else f"{f['steps']} steps of {length} s, "
    factor = f["real_time_factor"]
    rows = [
        [
            "operations",
            f"{sum(c[k] for k in ('add', 'multiply', 'divide', 'function'))} "
            f"({operations_text(c)})",
        ],
        ["derived", f"in {f['derivation_seconds']:.3g} s, {f['derivation']}"],
        [
            "compiled",
            f"in {f['compile_seconds']:.3g} s, {sim.notes[0] if sim.notes else sim.backend}",
        ],
        ["run", f"{steps}{f['method']}, to t = {f['reached']:g} s in {f['run_seconds']:.3g} s"],
        ["speed", "-" if factor is None else f"{three_digits(factor)} times real time"],
        ["ended", f["ended"]],
    ]
    if f.get("rates") is not None:
        rows.insert(
            4, ["work", ", ".join(f"{f[x]:,} {label}" for x, label in WORK.items() if x in f)]
        )
    rows += [["event", event] for event in f["events"]]
    rows += [
        ["note", note]
        for note in dict.fromkeys(
            (*run.notes, *stiff_switch_message(run.settings), *sim.notes[1:], *equations.notes)
        )
    ]
    rows += [
        ["wrote", str(path)] for path in (args.out, args.plot, args.animate, args.echo) if path
    ]
    last = final_table(f, "label")
    return "\n".join([model_heading(equations), aligned_text_table(rows, None, "<<"), "", last])
