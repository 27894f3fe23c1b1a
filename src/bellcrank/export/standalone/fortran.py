"""A stand-alone program in Fortran 2008: model.f90 holds the equations, program.f90 what surrounds them."""

from __future__ import annotations

from collections.abc import Iterable

from bellcrank.emit.c.routines import routines_file
from bellcrank.emit.event_formula import FortranEventPrinter
from bellcrank.emit.fortran.lines import fitted, fortran_string, wrapped
from bellcrank.emit.fortran.loops import corrected_places
from bellcrank.emit.fortran.methods import method_cases, method_names, two_step
from bellcrank.emit.fortran.runtime_files import definitions, real, runtime
from bellcrank.emit.fortran.signals import break_cases, kind_tables, signal_cases
from bellcrank.emit.fortran.source import fortran_source
from bellcrank.emit.names import comment
from bellcrank.emit.words import Words
from bellcrank.export.standalone.loops import row_names
from bellcrank.export.standalone.setup import Keyed, Setup, input_files
from bellcrank.export.standalone.text import about, require_language, written
from bellcrank.numeric.methods import METHODS, one_of
from bellcrank.numeric.roots import MOST
from bellcrank.numeric.tuning import ASSEMBLY, EVENTS, INPUTS, LOOPS, PLANS, STEPS
from bellcrank.program.inertias import inertia_functions
from bellcrank.program.loops import Loops
from bellcrank.program.program import Program
from bellcrank.signals import KINDS, MOST_NUMBERS

EVENT = "tuned_event_"  # thresholds of events


def fortran_program(program: Program, setup: Setup, words: Words) -> dict[str, str]:
    """All files of the program, by name."""
    require_language(program, "Fortran", "fortran", "c")
    foreign = [r for r in program.externals if not r.known_in("fortran")]
    events = FortranEvents(program, setup)
    common = {"TITLE": comment(setup.title)[:100], "STEM": setup.stem, "ABOUT": about(setup, "! ")}
    return {
        "model.f90": fortran_source(program, words, extra=inertia_functions(program), called=events.called),
        "program.f90": fitted(written("fortran/program.f90", _pieces(program, setup, events), common)),
        "Makefile": written("fortran/Makefile_with_c" if foreign else "fortran/Makefile", common=common),
        **({"routines.c": routines_file(foreign, setup.title)} if foreign else {}),
        **input_files(setup),
    }


def _pieces(program: Program, setup: Setup, events: FortranEvents) -> dict[str, str]:
    lengths = _lengths(setup)
    inputs, loops = "yes" if setup.signals else "", program.loops
    declared = _declared_inputs(setup, lengths) if inputs else ""
    closed = ""
    if loops is not None:
        closed = _loops(program, setup, loops, inputs)
        sided = "tuned_nudges" if loops.sides else ""
        tuning = definitions(LOOPS, closed) + definitions(ASSEMBLY, f"{closed} {sided}")
        declared += written("fortran/loops_types.f90", {"TUNING": tuning, "SIDES": _sides(loops)})
        declared += corrected_places(loops)
    shown = [c.quantity.column - len(setup.states) - len(program.output_names) for c in setup.channels]
    places = ", ".join(str(i) for i in shown if i > 0)
    cases = {**signal_cases(), "BREAK_CASES": break_cases(), "KIND_LIST": fortran_string(", ".join(KINDS))}
    return {
        "TUNING": definitions(PLANS) + definitions(STEPS),
        "TITLE_STRING": fortran_string(setup.title),
        "STEM_STRING": fortran_string(setup.stem),
        "REMOVED": fortran_string("|" + "|".join(setup.removed) + "|"),
        "T_END": real(setup.t_end),
        "STEP": real(setup.step),
        "EVERY": str(setup.every),
        "METHOD_NAMES": method_names(),
        "METHOD_CASES": method_cases(program.unit),
        "TWO_STEP": two_step(),
        "METHOD_LIST": one_of(),
        "METHOD": str(list(METHODS).index(setup.method) + 1),
        "DESCRIBE": "\n".join(_describe(setup)) + "\n",
        "N_GIVEN": str(len(setup.parameters)),
        "N_CHANNELS": str(len(setup.channels)),
        "DECLARATIONS": declared + events.declared,
        "INPUTS": written("fortran/inputs.f90", cases) if inputs else "",
        "LOOPS": closed,
        "RECORD": "" if setup.events else _record(inputs, f"w([{places}])" if places else ""),
        "EVENTS": events.text(places),
        "ENDED_LENGTH": "600" if setup.events else "200",
        "ALSO_NAN": ", ieee_is_nan" if setup.events else "",
        "N_OWN": str(len(setup.own)),
        "ENTERED": "yes" if setup.entered else "",
        "ECHO_ROUTINES": _echo_routines(program, setup),
        "UPDATE": "yes" if program.update.results else "",
        "HOLD": _hold(program, inputs),
        **lengths,
    }


class FortranEvents:
    """The events of a program in Fortran; `called`: functions of the model language in their formulas."""

    def __init__(self, program: Program, setup: Setup) -> None:
        self.program, self.setup = program, setup
        named = [x.name for x in setup.settable]
        printer = FortranEventPrinter({name: f"parameters({i})%value" for i, name in enumerate(named, 1)})
        self._conditions = [printer.text(e.condition) for e in setup.events]
        settings = [(i, x, printer.text(steps)) for i, e in enumerate(setup.events, 1) for x, steps in e.settings]
        self._values = [text for _, _, text in settings]
        self._places = [
            f"{i}, {x.column if x.column >= 0 else 0}, {0 if x.column >= 0 else named.index(x.name) + 1}, &\n"
            for i, x, _ in settings
        ]
        self.called = printer.used

    @property
    def declared(self) -> str:
        """What they need of the whole program."""
        if not self.setup.events:
            return ""
        sizes = {"N_EVENTS": str(len(self.setup.events)), "N_SETTINGS": str(len(self._values))}
        tuning = definitions(EVENTS, self.text(""), EVENT) + definitions(EVENTS, f"{EVENT}most", EVENT)
        return written("fortran/events_types.f90", {"TUNING": "".join(dict.fromkeys(_pairs(tuning))), **sizes})

    def text(self, shown: str) -> str:
        """What watches and acts; `shown`: numbers of the inputs that are channels."""
        events, program, loops = self.setup.events, self.program, self.program.loops
        if not events:
            return ""
        remembers = any(r.memory for r in program.externals) or len(program.inputs) > len(program.given_inputs)
        names = ["name = " + fortran_string(e.name) for e in events]
        flags = {
            "UP": [1 in e.sides for e in events],
            "DOWN": [-1 in e.sides for e in events],
            "STOPS": [e.stop for e in events],
            "ACTS": [bool(e.settings) for e in events],
        }
        return written(
            "fortran/events.f90",
            {
                **{k: _listed(_flag(x) for x in values) for k, values in flags.items()},
                "STRICT": _listed(e.strict[0] if e.strict else 0 for e in events),
                "NAMES": _cases(names),
                "SETTINGS": "".join(f"      {line}" for line in self._places),
                "CONDITIONS": _cases(map(_value, self._conditions)),
                "VALUES": _cases(map(_value, self._values)),
                "SHOWN_PLACES": shown,
                "ROW": _record("yes" if program.given_inputs else "", "w", events=True),
                "INPUTS": "yes" if program.given_inputs else "",
                "LOOPS": "yes" if loops is not None else "",
                "NUDGES": "most_nudges = 0" if loops is not None and loops.sides else "",
                "KNOWN": "yes" if remembers else "",
                "FOLLOWS": _listed(_flag(f) for f in self.setup.follows),
                "MOST_LOOKS": str(MOST),
            },
        )


def _record(inputs: str, shown: str, events: bool = False) -> str:
    """What makes a row of a state, with the inputs that are `shown`; with events they are all in it."""
    return written(
        "fortran/record.f90",
        {
            "NAME": "event_row" if events else "record",
            "EVENTS": "yes" if events else "",
            "INPUTS": inputs,
            "WHOSE": "whose" if events else "2",
            "SHOWN": f"    row(2 + n_s + n_out:) = {shown}\n" if shown else "",
        },
    )


def _pairs(text: str) -> list[str]:
    """Comments with what they are about."""
    lines = text.splitlines(keepends=True)
    return [one + other for one, other in zip(lines[::2], lines[1::2], strict=True)]


def _value(text: str) -> str:
    return "\n      ".join(wrapped(f"value = {text}", 108))


def _flag(value: bool) -> str:
    return ".true." if value else ".false."


def _cases(statements: Iterable[str]) -> str:
    """Statements by number, which may have several lines."""
    return "".join(f"    case ({i})\n      {line}\n" for i, line in enumerate(statements, 1))


def _hold(program: Program, inputs: str) -> str:
    """What external routines give over a run and over its steps."""
    n, m = len(program.start.results), len(program.update.results)
    pieces = {"INPUTS": inputs, "START": str(n or ""), "UPDATE": str(m or ""), "NEXT": str(n + 1)}
    return written("fortran/hold.f90", pieces) if n or m else ""


def _echo_routines(program: Program, setup: Setup) -> str:
    """What external routines gave when the parameters had been read, and give to the echo."""
    if not setup.entered and not setup.echoed:
        return ""
    lines = ['write (handle, \'(a)\') "", "* from external routines"']
    lines += [line for i, q in enumerate(setup.entered, 1) for line in _echo_line(q, f"p(n_given + {i})")]
    if setup.echoed:
        lines += ["block", f"  real(dp) :: echoed({len(setup.echoed)})", "  t = 0"]
        lines += ["call set_inputs()"] if setup.signals else []
        lines += ["  call hold(.true., 0.0_dp, y, 0)"] if program.start.results or program.update.results else []
        lines += ["  call echo_values(y, echoed)"]
        lines += [line for i, q in enumerate(setup.echoed, 1) for line in _echo_line(q, f"echoed({i})")]
        lines += ["end block"]
    return "".join(f"    {line}\n" for line in lines)


def _echo_line(q: Keyed, value: str) -> list[str]:
    """The lines that write a value as a comment of the echo."""
    texts = [fortran_string(x) for x in (f"* {q.keyword}", q.unit, q.label)]
    return [f"call echo_line(handle, {texts[0]}, {value}/{real(q.factor)}, &", f"  {texts[1]}, &", f"  {texts[2]})"]


def _lengths(setup: Setup) -> dict[str, str]:
    """Lengths of texts, in bytes."""
    named: list[Keyed] = [*setup.settable, *setup.states, *setup.signals]
    texts = {
        "KEYWORD": [x.keyword for x in named],
        "UNIT": [*(x.unit for x in named), *(c.unit for c in setup.channels)],
        "LABEL": [*(x.label for x in named), *(c.label for c in setup.channels)],
        "NAME": [c.name for c in setup.channels],
        "GENERIC": [c.quantity.generic for c in setup.channels],
        "BODY": [c.quantity.body for c in setup.channels],
    }
    return {f"{k}_LENGTH": str(max((len(t.encode()) for t in v), default=1) or 1) for k, v in texts.items()}


def _describe(setup: Setup) -> Iterable[str]:
    for array, quantities in (("parameters", setup.settable), ("states", setup.states)):
        for i, q in enumerate(quantities, 1):
            yield _built(f"{array}({i}) = quantity", _quantity(q))
    for i, c in enumerate(setup.channels, 1):
        yield _built(f"channels({i}) = channel", _channel(c))
    for i, s in enumerate(setup.signals, 1):
        yield from _signal(i, s)


def _built(head: str, parts: list[str]) -> str:
    """A value put together from its parts."""
    return f"    {head}({', '.join(parts)})"


def _quantity(q: Keyed) -> list[str]:
    told = ".true." if q.given and q.value is not None else ".false."
    return [*map(fortran_string, (q.keyword, q.unit, q.label)), real(q.factor), real(q.value or 0.0), told]


def _channel(c: Keyed) -> list[str]:
    return [
        *map(fortran_string, (c.name, c.keyword, c.unit, c.label, c.quantity.generic, c.quantity.body)),
        real(c.factor),
    ]


def _signal(i: int, s: Keyed) -> Iterable[str]:
    """A signal as it is without an input file; sampled ones are known from their file only."""
    for member, text in (("keyword", s.keyword), ("unit", s.unit), ("label", s.label)):
        yield f"    signals({i})%{member} = " + fortran_string(text)
    yield f"    signals({i})%factor = {real(s.factor)}"
    if s.formula is not None:
        yield f'    signals({i})%kind = "{s.formula.name}"'
        numbers = ", ".join(real(max(min(x, 1e300), -1e300)) for x in s.formula.numbers)
        yield f"    signals({i})%a(:{len(s.formula.numbers)}) = [{numbers}]"


def _declared_inputs(setup: Setup, lengths: dict[str, str]) -> str:
    pieces = {
        "TUNING": definitions(INPUTS),
        "MOST_NUMBERS": str(MOST_NUMBERS),
        "N_SIGNALS": str(len(setup.signals)),
        "INPUT_SIGNAL": _listed(i + 1 for i, _ in setup.inputs),
        "INPUT_RATE": _listed(rate for _, rate in setup.inputs),
        **kind_tables(),
    }
    return written("fortran/inputs_types.f90", pieces, lengths)


def _loops(program: Program, setup: Setup, loops: Loops, inputs: str) -> str:
    rows = row_names(program)
    guessed = [*setup.guessed, *[False] * (len(setup.states) - setup.n_q)]
    flags = [".true." if g else ".false." for g in guessed]
    pieces = {
        "LEAST_NORM": runtime("least_norm.f90"),
        "GUESSED": ", ".join(flags),
        "ROW_LENGTH": str(max(len(" ".join(r.split()).encode()) for r in rows)),
        "ROWS": _cases("name = " + fortran_string(r) for r in rows),
        "INPUTS": inputs,
        "SIDES": "yes" if loops.sides else "",
        "N_SIDES": str(len(loops.sides)),
        "CORRECTED": "yes" if loops.correction else "",
        "CORRECTION": written("fortran/correction.f90", {"INPUTS": inputs}) if loops.correction else "",
    }
    return written("fortran/loops.f90", pieces)


def _sides(loops: Loops) -> str:
    """For every row of g, the number of the direction that must point as drawn, or 0."""
    return _listed(k + 1 for k in loops.sided) if loops.sides else ""


def _listed(numbers: Iterable[int | str]) -> str:
    return "\n    ".join(wrapped(", ".join(map(str, numbers))))
