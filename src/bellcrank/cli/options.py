"""Options that several commands share, and how the words of a user are read."""

from __future__ import annotations

from argparse import Action, ArgumentError, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bellcrank.choices import DaeMethod, choice_values
from bellcrank.cli.parser import CommandParser
from bellcrank.core.errors import ModelError
from bellcrank.core.name_lookup import normalized_name
from bellcrank.core.numeric.fixed_step_methods import ADAPTIVE, METHODS, RTOL
from bellcrank.core.units import parse_quantity
from bellcrank.model.describe.event import event
from bellcrank.model.guess import with_guess

MOST_VALUES = 1_000_000  # of a range
OF_MODEL = "(default: that of the model)"
ANIMATIONS = (".gif", ".mp4", ".html")  # endings of their files
ALL_STATES = "*"  # stands for their names in --atol
DAE_METHODS = choice_values(DaeMethod)
REPEATABLE_OPTION: dict[str, Any] = {
    "action": "append",
    "default": [],
}  # an option that may be repeated


class _AppendUniqueName(Action):
    """Appends (name, value) to a list, in which a name stands once."""

    key: Callable[[str], str] = staticmethod(normalized_name)

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, option: str | None = None
    ) -> None:
        earlier, name = getattr(namespace, self.dest), values[0]
        if any(self.key(x) == self.key(name) for x, _ in earlier):
            label = "a number for all states" if name == ALL_STATES else f"'{name}'"
            raise ArgumentError(self, f"{label} is given twice")
        setattr(namespace, self.dest, [*earlier, values])


class _AppendUniqueCaseless(_AppendUniqueName):
    """The same with names that differ only by case."""

    key = staticmethod(str)


NAMED_VALUE_OPTION: dict[str, Any] = {
    "action": _AppendUniqueName,
    "default": [],
}  # NAME=VALUE, which may be repeated with other names
CASELESS_VALUE_OPTION: dict[str, Any] = {
    "action": _AppendUniqueCaseless,
    "default": [],
}  # the same for names of Python's and of events


def given_options(**options: Any) -> dict[str, Any]:
    """The options that were given; the others keep the defaults of the functions they go to."""
    return {k: v for k, v in options.items() if v is not None}


def _parse_name_value(text: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals or not name.strip() or not value.strip():
        raise ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name.strip(), value.strip()


def parse_value(text: str) -> tuple[str, Any]:
    """k=3, q(f)=.25, l=20 mm"""
    name, value = _parse_name_value(text)
    return (name, value) if parse_quantity(value) is not None else parse_number_option(text)


def parse_number_option(text: str) -> tuple[str, float]:
    """k=3, q(f)=.25"""
    name, value = _parse_name_value(text)
    try:
        return name, float(value)
    except ValueError:
        raise ArgumentTypeError(f"{value!r} in {text!r} is not a number") from None


def parse_tolerance(text: str) -> tuple[str, float]:
    """1e-8, of all states; m=1e-9, q(arm)=1e-8: of a unit or state."""
    return parse_number_option(text if "=" in text else f"{ALL_STATES}={text}")


def merge_tolerances(listed: list[tuple[str, float]]) -> float | dict[str, float] | None:
    """Absolute tolerances as they were given: a number, or numbers by name."""
    values = dict(listed)
    if ALL_STATES not in values:
        return values or None
    if len(values) > 1:
        raise ModelError(
            "--atol is a number for all states, or NAME=VALUE for some of them, not both"
        )
    return values[ALL_STATES]


def parse_argument(text: str) -> tuple[str, Any]:
    """n=32, small=true, name=text: whole numbers, numbers, true and false, else text. Nothing is
    executed."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    for read in (int, float):
        try:
            return name.strip(), read(value)
        except ValueError:
            continue
    words = {"true": True, "false": False, "none": None}
    return name.strip(), words.get(value.strip().lower(), value)


def parse_integer_option(text: str, minimum: int = 0) -> int:
    try:
        number = int(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a whole number") from None
    if number < minimum:
        raise ArgumentTypeError(f"{text} must be at least {minimum}")
    return number


def parse_positive_integer(text: str) -> int:
    return parse_integer_option(text, 1)


def parse_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a number") from None


def file_type_with_suffix(*endings: str) -> Callable[[str], str]:
    """The type of an option that names a file to write; another ending is an error before anything
    is computed."""

    def check_suffix(text: str) -> str:
        if Path(text).suffix.lower() not in endings:
            raise ArgumentTypeError(f"{text!r} must end in {' or '.join(endings)}")
        return text

    return check_suffix


def parse_condition(text: str) -> tuple[str, Any]:
    """lift=Fz < 0: the name of an event and what makes it happen; without a name, the condition is
    the name.

    With an action: "bounce: z < 0: u(ball) = -e*u(ball); n = n + 1".
    """
    if ":" in text:
        first, formula, *actions = (part.strip() for part in text.split(":"))
        settings = [
            part.partition("=") for part in (actions[0].split(";") if len(actions) == 1 else ())
        ]
        if (
            not first
            or not formula
            or not settings
            or not all(x.strip() and y.strip() for x, _, y in settings)
        ):
            raise ArgumentTypeError(f"'{text}' is not like \"bounce: z < 0: u(ball) = -e*u(ball)\"")
        action: dict[str, str] = {}
        for name, _, value in settings:
            if name.strip() in action:
                raise ArgumentTypeError(f"'{text}' sets {name.strip()} twice")
            action[name.strip()] = value.strip()
        return first, event(
            formula,
            direction=0 if "<" in formula or ">" in formula else 1,
            action=action,
            name=first,
        )
    name, equals, formula = text.partition("=")
    if equals and name.strip().isidentifier() and formula.strip():
        return name.strip(), formula.strip()
    return text.strip(), text.strip()


SHARED_OPTIONS: dict[str, tuple[str, dict[str, dict[str, Any]]]] = {
    "model": (
        "model",
        {
            "model": {
                "metavar": "MODEL",
                "help": "a Python file with a function model(); it is run, so trust it; or an"
                " AUTOSIM deck (.lsp), car or motorcycle file (.toml) or AUTOLEV script "
                "(.al); or the name of an"
                " example or vehicle that comes with Bellcrank",
            },
            "--arg": {
                **CASELESS_VALUE_OPTION,
                "type": parse_argument,
                "metavar": "NAME=VALUE",
                "help": "argument of model(), such as n=32 (may be repeated)",
            },
            "--external": {
                "metavar": "FILE",
                "help": "file with the user functions of a deck (.py, .c, .f90) (default:"
                " the .py file of the same name)",
            },
            "--solve": {
                "metavar": "HOW",
                "help": "auto, explicit, implicit or order-n (default: auto)",
            },
        },
    ),
    "values": (
        "model",
        {
            "--set": {
                **NAMED_VALUE_OPTION,
                "type": parse_value,
                "metavar": "NAME=VALUE",
                "help": "value of a parameter in its user unit (may be repeated)",
            },
        },
    ),
    "backend": (
        "run",
        {"--backend": {"metavar": "NAME", "help": "auto, c, wasm or python (default: auto)"}},
    ),
    "compile": (
        "run",
        {
            "--quick": {
                "action": "store_true",
                "help": "compile in half the time, at half the speed",
            }
        },
    ),
    "start": (
        "run",
        {
            "--initial": {
                **NAMED_VALUE_OPTION,
                "type": parse_value,
                "metavar": "STATE=VALUE",
                "help": 'initial value in its user unit, such as "q(f)=.25" (may be repeated)',
            },
            "--guess": {
                **NAMED_VALUE_OPTION,
                "type": parse_value,
                "metavar": "STATE=VALUE",
                "help": "value from which the assembly of closed loops starts, and which it may "
                "change (may be"
                " repeated)",
            },
        },
    ),
    "input": (
        "run",
        {
            "--input": {
                "metavar": "FILE",
                "help": "CSV file: the first column is time, the others are named inputs; of a"
                " SCRIPT.al its input file",
            },
        },
    ),
    "dae": (
        "run",
        {
            "--dae": {
                "metavar": "NAME",
                "help": f"method for constraints and loops: {', '.join(DAE_METHODS)} (default:"
                f" {DAE_METHODS[0]})",
            },
        },
    ),
    "json": ("output", {"--json": {"action": "store_true", "help": "print all results as JSON"}}),
}
"""Options that several commands have, by set: the group in the help that they belong to, and the
options."""


def add_shared_options(parser: CommandParser, *sets: str) -> None:
    """Adds options by the names of their sets in SHARED."""
    for title, listed in map(SHARED_OPTIONS.__getitem__, sets):
        for name, options in listed.items():
            parser.group(title)(name, **options)


def compile_settings(args: Namespace) -> dict[str, Any]:
    """Of `Equations.compile`, those that were given."""
    return given_options(backend=args.backend, speed="quick" if args.quick else None)


def run_options(parser: CommandParser, subject: str = "the run", fixed: bool = False) -> None:
    """--t-end, --step, --method: what `run_settings` reads."""
    words = ", ".join(METHODS) + ("" if fixed else f"; adaptive: {', '.join(ADAPTIVE)}")
    add = parser.group("run")
    add("--t-end", type=parse_float, metavar="S", help=f"end of {subject} in s {OF_MODEL}")
    add("--step", type=parse_float, metavar="S", help=f"time step in s {OF_MODEL}")
    add("--method", metavar="NAME", help=f"{words} {OF_MODEL}")


def event_options(parser: CommandParser) -> None:
    """--rtol, --atol, --event, --stop: what `event_settings` reads."""
    add = parser.group("run")
    add(
        "--rtol",
        type=parse_float,
        metavar="E",
        help=f"relative tolerance of adaptive methods (default: {RTOL:g})",
    )
    atol = (
        "absolute tolerance in the unit of each state, or m=1e-9, q(arm)=1e-8: of a unit or "
        "state (may be repeated)"
    )
    add("--atol", **NAMED_VALUE_OPTION, type=parse_tolerance, metavar="[NAME=]E", help=atol)
    add_event_options(parser)


def add_event_options(parser: CommandParser, group: str = "run") -> None:
    """--event, --stop: what `requested_events` reads."""
    event = (
        'report when a condition over channels becomes true, such as "lift=Fz < 0", with an '
        "optional action, as in "
        '"bounce: z < 0: u(ball) = -e*u(ball)" (may be repeated)'
    )
    for name, words in (
        ("--event", event),
        ("--stop", "the same, and end the run there (may be repeated)"),
    ):
        parser.group(group)(
            name,
            **CASELESS_VALUE_OPTION,
            type=parse_condition,
            metavar="NAME=CONDITION",
            help=words,
        )


def event_settings(args: Namespace) -> dict[str, Any]:
    """Those of `event_options` that were given."""
    return {
        **given_options(rtol=args.rtol, atol=merge_tolerances(args.atol)),
        **requested_events(args),
    }


def requested_events(args: Namespace) -> dict[str, Any]:
    """What is to be watched."""
    conditions = dict(args.event)
    for name, condition_text in args.stop:
        if conditions.get(name, condition_text) != condition_text:
            raise ModelError(
                f"the event '{name}' is given twice, by --event and by --stop, with other "
                f"conditions"
            )
    return {"events": dict([*args.event, *args.stop]), "stop": [name for name, _ in args.stop]}


def initial_values_and_guesses(args: Namespace) -> dict[Any, float]:
    """Initial values and guesses that were given."""
    return dict(with_guess(dict(args.initial), dict(args.guess)))


def run_settings(args: Namespace) -> dict[str, Any]:
    """Those of `run_options` that were given."""
    return given_options(t_end=args.t_end, step=args.step, method=args.method)
