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
from bellcrank.cli.files import read_inputs
from bellcrank.cli.model import derive, settings
from bellcrank.cli.options import MANY, OF_MODEL, compile_settings, given, real, shared, start_values, whole
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.progress import Progress
from bellcrank.cli.text import heading, table
from bellcrank.run.realtime import Timing, in_real_time, undisturbed
from bellcrank.run.stream import Stream
from bellcrank.run.values import positive

SHARES = (50, 99, 99.9, 100)
MOST_STEPS = 10_000_000
BAR = 40  # characters of the longest bar
SENT = 0.01  # s from one row that is sent to the next


def options(parser: CommandParser) -> None:
    shared(parser, "model", "values", "start", "input", "backend", "compile")
    add = parser.group("run")
    add("--step", type=real, metavar="S", help=f"time step in s {OF_MODEL}")
    add("--method", metavar="NAME", help=f"a fixed-step method {OF_MODEL}")
    add("--seconds", type=real, default=10.0, metavar="S", help="duration in s (default: %(default)g)")
    add = parser.group("output")
    add("--udp", type=whole, metavar="PORT", help="send channels as JSON to this port of this machine, 127.0.0.1")
    add("--udp-every", type=whole, metavar="N", help="steps between two samples sent (default: 100 samples a second)")
    add("--channel", **MANY, metavar="NAME", help="a channel to send (may be repeated) (default: all)")
    shared(parser, "json")


def command(args: Namespace) -> int:
    seconds = positive(args.seconds, "--seconds")
    equations = derive(args)
    values: dict[str, Any] = {"parameters": settings(args, equations), "initial": start_values(args)}
    if args.input:
        values["inputs"] = read_inputs(args.input, equations)
    with Progress("compiling"):
        sim = equations.compile(**compile_settings(args))
    stepper = sim.stepper(**values, **given(step=args.step, method=args.method))
    count = max(1, round(seconds / stepper.h))
    if count > MOST_STEPS:
        run_text = f"--seconds {seconds:g} at a step of {stepper.h:g} s"
        raise bc.RunError(f"{run_text} are {count} steps; at most {MOST_STEPS} are taken")
    with ExitStack() as stack:
        after_step = _sender(args, equations, stepper, stack)
        scheduled = stack.enter_context(undisturbed())
        timing = in_real_time(stepper.step, stepper.h, count, after_step)
    figures = _figures(equations, timing, stepper.h, scheduled)
    print(json.dumps(figures, indent=2) if args.json else _text(equations, figures))
    return FINE if len(timing.took) == count else ENDED_EARLY


def _sender(args: Namespace, equations: bc.Equations, stepper: Any, stack: ExitStack) -> Callable[[int], None] | None:
    """What sends rows after steps, if a port is given."""
    if args.udp is None:
        if args.channel or args.udp_every is not None:
            raise bc.RunError("--channel and --udp-every belong to --udp PORT")
        return None
    every = max(1, round(SENT / stepper.h)) if args.udp_every is None else args.udp_every
    if every < 1:
        raise bc.RunError(f"--udp-every {every} must be 1 or more")
    stream = stack.enter_context(Stream(equations.interface, args.udp, args.channel))
    return lambda i: stream.send(stepper.row) if i % every == 0 else None


def _figures(equations: bc.Equations, timing: Timing, h: float, scheduled: str) -> dict[str, Any]:
    """All figures, ready for JSON; times in us."""
    took = timing.took
    shares = np.percentile(took, SHARES).tolist() if len(took) else [None] * len(SHARES)
    return {
        "model": equations.name, "step": h, "steps": len(took), "ended": timing.ended, "scheduled": scheduled,
        "missed": timing.missed, "latest": float(max(timing.late.max(initial=0.0), 0.0)),
        "took": dict(zip((f"p{p:g}" for p in SHARES), shares, strict=True)),
        "histogram": [[a, None if b == np.inf else b, n] for a, b, n in timing.histogram()],
    }  # fmt: skip


def _text(equations: bc.Equations, f: dict[str, Any]) -> str:
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
        [heading(equations), table(rows, None, "<<"), "", table(bars, ["from us", "to", "steps", ""], ">>><")]
    )
