"""`bellcrank realtime`: steps of a model in real time, and how long they take."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np

import bellcrank as bc
from bellcrank.cli.codes import ENDED_EARLY, FINE
from bellcrank.cli.files import read_input_files
from bellcrank.cli.load_model import derive_model_equations, parameter_settings
from bellcrank.cli.options import (
    OF_MODEL,
    REPEATABLE_OPTION,
    add_shared_options,
    compile_settings,
    given_options,
    initial_values_and_guesses,
    parse_float,
    parse_integer_option,
)
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import ProgressReporter
from bellcrank.cli.report_text import aligned_text_table, model_heading
from bellcrank.simulation.run.argument_checks import require_positive
from bellcrank.simulation.run.realtime import StepTiming, real_time_priority, run_in_real_time
from bellcrank.simulation.run.stream import ChannelStream

PERCENTILES = (50, 99, 99.9, 100)
MOST_STEPS = 10_000_000
BAR = 40  # characters of the longest bar
MIN_SEND_INTERVAL = 0.01  # s from one row that is sent to the next


def add_options(parser: CommandParser) -> None:
    add_shared_options(parser, "model", "values", "start", "input", "backend", "compile")
    add = parser.group("run")
    add("--step", type=parse_float, metavar="S", help=f"time step in s {OF_MODEL}")
    add("--method", metavar="NAME", help=f"a fixed-step method {OF_MODEL}")
    add(
        "--seconds",
        type=parse_float,
        default=10.0,
        metavar="S",
        help="duration in s (default: %(default)g)",
    )
    add = parser.group("output")
    add(
        "--udp",
        type=parse_integer_option,
        metavar="PORT",
        help="send channels as JSON to this port of this machine, 127.0.0.1",
    )
    add(
        "--udp-every",
        type=parse_integer_option,
        metavar="N",
        help="steps between two samples sent (default: 100 samples a second)",
    )
    add(
        "--channel",
        **REPEATABLE_OPTION,
        metavar="NAME",
        help="a channel to send (may be repeated) (default: all)",
    )
    add_shared_options(parser, "json")


def run_command(args: Namespace) -> int:
    seconds = require_positive(args.seconds, "--seconds")
    equations = derive_model_equations(args)
    values: dict[str, Any] = {
        "parameters": parameter_settings(args, equations),
        "initial": initial_values_and_guesses(args),
    }
    if args.input:
        values["inputs"] = read_input_files(args.input, equations)
    with ProgressReporter("compiling"):
        sim = equations.compile(**compile_settings(args))
    stepper = sim.stepper(**values, **given_options(step=args.step, method=args.method))
    count = max(1, round(seconds / stepper.h))
    if count > MOST_STEPS:
        run_text = f"--seconds {seconds:g} at a step of {stepper.h:g} s"
        raise bc.RunError(f"{run_text} are {count} steps; at most {MOST_STEPS} are taken")
    with ExitStack() as stack:
        after_step = _make_udp_sender(args, equations, stepper, stack)
        scheduled = stack.enter_context(real_time_priority())
        timing = run_in_real_time(stepper.step, stepper.h, count, after_step)
    figures = _timing_as_dict(equations, timing, stepper.h, scheduled)
    print(json.dumps(figures, indent=2) if args.json else _timing_report(equations, figures))
    return FINE if len(timing.durations) == count else ENDED_EARLY


def _make_udp_sender(
    args: Namespace, equations: bc.Equations, stepper: Any, stack: ExitStack
) -> Callable[[int], None] | None:
    """What sends rows after steps, if a port is given."""
    if args.udp is None:
        if args.channel or args.udp_every is not None:
            raise bc.RunError("--channel and --udp-every belong to --udp PORT")
        return None
    every = (
        max(1, round(MIN_SEND_INTERVAL / stepper.h)) if args.udp_every is None else args.udp_every
    )
    if every < 1:
        raise bc.RunError(f"--udp-every {every} must be 1 or more")
    stream = stack.enter_context(ChannelStream(equations.interface, args.udp, args.channel))
    return lambda i: stream.send(stepper.row) if i % every == 0 else None


def _timing_as_dict(
    equations: bc.Equations, timing: StepTiming, h: float, scheduled: str
) -> dict[str, Any]:
    """All figures, ready for JSON; times in us."""
    took = timing.durations
    shares = np.percentile(took, PERCENTILES).tolist() if len(took) else [None] * len(PERCENTILES)
    return {
        "model": equations.name,
        "step": h,
        "steps": len(took),
        "ended": timing.ended,
        "scheduled": scheduled,
        "missed": timing.n_missed,
        "latest": float(max(timing.lateness.max(initial=0.0), 0.0)),
        "took": dict(zip((f"p{p:g}" for p in PERCENTILES), shares, strict=True)),
        "histogram": [[a, None if b == np.inf else b, n] for a, b, n in timing.histogram()],
    }


def _timing_report(equations: bc.Equations, f: dict[str, Any]) -> str:
    late = f", the latest by {f['latest']:.1f} us" if f["missed"] else ""
    took = (f"{v:.1f} us in {p[1:]} %" if v is not None else "" for p, v in f["took"].items())
    rows = [
        ["steps", f"{f['steps']} of {f['step'] * 1e3:g} ms, {f['ended']}"],
        ["process", f["scheduled"]],
        ["took at most", ", ".join(took)],
        ["deadlines missed", f"{f['missed']}{late}"],
    ]
    max_count = max((n for *_, n in f["histogram"]), default=1)
    bars = [
        [f"{a:g}", f"{b:g}" if b is not None else "more", str(n), "#" * -(-n * BAR // max_count)]
        for a, b, n in f["histogram"]
    ]
    return "\n".join(
        [
            model_heading(equations),
            aligned_text_table(rows, None, "<<"),
            "",
            aligned_text_table(bars, ["from us", "to", "steps", ""], ">>><"),
        ]
    )
