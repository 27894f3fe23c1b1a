"""A stand-alone program in Fortran 2008: model.f90 holds the equations, program.f90 what surrounds them."""

from __future__ import annotations

from collections.abc import Iterable

from bellcrank.emit.c.routines import routines_file
from bellcrank.emit.fortran.loops import corrected_places
from bellcrank.emit.fortran.methods import method_cases, method_names
from bellcrank.emit.fortran.printer import fortran_string, wrapped
from bellcrank.emit.fortran.runtime_files import definitions, real, runtime
from bellcrank.emit.fortran.signals import break_cases, kind_tables, signal_cases
from bellcrank.emit.fortran.source import fortran_source
from bellcrank.emit.names import comment
from bellcrank.emit.words import Words
from bellcrank.export.standalone.loops import inertia_functions, row_names
from bellcrank.export.standalone.setup import Keyed, Setup, input_files
from bellcrank.export.standalone.text import about, require_language, written
from bellcrank.numeric.methods import METHODS, one_of
from bellcrank.numeric.tuning import LOOPS
from bellcrank.program.program import Program
from bellcrank.signals import KINDS


def fortran_program(program: Program, setup: Setup, words: Words) -> dict[str, str]:
    """All files of the program, by name."""
    require_language(program, "Fortran", "fortran", "c")
    foreign = [r for r in program.externals if not r.known_in("fortran")]
    common = {"TITLE": comment(setup.title)[:100], "STEM": setup.stem, "ABOUT": about(setup, "! ")}
    return {
        "model.f90": fortran_source(program, words, extra=inertia_functions(program)),
        "program.f90": written("fortran/program.f90", _pieces(program, setup), common),
        "Makefile": written("fortran/Makefile_with_c" if foreign else "fortran/Makefile", common=common),
        **({"routines.c": routines_file(foreign, setup.title)} if foreign else {}),
        **input_files(setup),
    }


def _pieces(program: Program, setup: Setup) -> dict[str, str]:
    lengths = _lengths(setup)
    pieces = {
        "TITLE_STRING": fortran_string(setup.title),
        "STEM_STRING": fortran_string(setup.stem),
        "REMOVED": fortran_string("|" + "|".join(setup.removed) + "|").replace(" // ", " // &\n    "),
        "T_END": real(setup.t_end),
        "STEP": real(setup.step),
        "EVERY": str(setup.every),
        "METHOD_NAMES": method_names(),
        "METHOD_CASES": method_cases(),
        "METHOD_LIST": one_of(),
        "METHOD": str(list(METHODS).index(setup.method) + 1),
        "DESCRIBE": "\n".join(_describe(setup)) + "\n",
        **lengths,
    }
    pieces |= dict.fromkeys(_PLACES, "")
    pieces |= {"N_GIVEN": str(len(setup.parameters)), "N_CHANNELS": str(len(setup.channels))}
    pieces |= {
        "BREAKS": "    breaks = [real(dp) ::]\n",
        "ACCEPT": _NO_ACCEPT,
        "ADVANCE": _ADVANCE,
        "RATES": "    call derivatives(y, rate)\n",
    }
    if setup.signals:
        pieces |= _inputs(setup, lengths)
    pieces |= _routines(program, setup, pieces["SET_INPUTS"])
    if program.loops is not None:
        pieces |= _loops(program, setup, pieces["SET_INPUTS"], pieces["DECLARATIONS"])
    return pieces


def _routines(program: Program, setup: Setup, set_inputs: str) -> dict[str, str]:
    """What external routines give before a run, over it, over its steps, and to its echo; inputs among the channels."""
    pieces = {}
    shown = [c.quantity.column - len(setup.states) - len(program.output_names) for c in setup.channels]
    if places := [str(i) for i in shown if i > 0]:
        pieces["SHOWN"] = f"    row(2 + n_s + n_out:) = w([{', '.join(places)}])\n"
    if setup.entered:
        pieces["ENTER"] = _ENTER
    if setup.entered or setup.echoed:
        lines = ['write (handle, \'(a)\') "", "* from external routines"']
        lines += [line for i, q in enumerate(setup.entered, 1) for line in _echo_line(q, f"p(n_given + {i})")]
        if setup.echoed:
            lines += [
                "block",
                f"  real(dp) :: echoed({len(setup.echoed)})",
                "  t = 0",
                *set_inputs.strip().splitlines(),
            ]
            lines += ["  call hold(.true., 0.0_dp, y, 0)"] if program.start.results or program.update.results else []
            lines += ["  call echo_values(y, echoed)"]
            lines += [line for i, q in enumerate(setup.echoed, 1) for line in _echo_line(q, f"echoed({i})")]
            lines += ["end block"]
        pieces["ECHO_ROUTINES"] = "".join(f"    {line}\n" for line in lines)
    if program.start.results or program.update.results:
        n, m = len(program.start.results), len(program.update.results)
        start = (
            f"    if (first) then\n      call start_values(y, held(:{n}))\n"
            f"      w(n_i + 1:n_i + {n}) = held(:{n})\n    end if\n"
        )
        update = f"    call update_values(y, held(:{m}))\n    w(n_i + {n + 1}:) = held(:{m})\n"
        unused = "" if n else "    if (first .and. n_i < 0) return ! not used\n"
        hold = {"SET_INPUTS": set_inputs, "START": start if n else unused, "UPDATE": update if m else ""}
        pieces["HOLD"] = written("fortran/hold.f90", hold)
        pieces["FIRST"] = "    call hold(.true., 0.0_dp, y, 2)\n"
        pieces["UPDATE"] = "    if (last) call hold(.false., later, y, 2)\n" if m else ""
    return pieces


_ENTER = """    block
      real(dp) :: entered(n_p - n_given)
      call entry_values(y, entered)
      p(n_given + 1:) = entered
    end block
"""


def _echo_line(q: Keyed, value: str) -> list[str]:
    """The lines that write a value as a comment of the echo."""
    texts = [fortran_string(x).replace(" // ", " // &\n        ") for x in (f"* {q.keyword}", q.unit, q.label)]
    return [f"call echo_line(handle, {texts[0]}, {value}/{real(q.factor)}, &", f"  {texts[1]}, &", f"  {texts[2]})"]


def _lengths(setup: Setup) -> dict[str, str]:
    """Lengths of texts, in bytes."""
    named: list[Keyed] = [*setup.parameters, *setup.states, *setup.signals]
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
    for array, quantities in (("parameters", setup.parameters), ("states", setup.states)):
        for i, q in enumerate(quantities, 1):
            yield _built(f"{array}({i}) = quantity", _quantity(q))
    for i, c in enumerate(setup.channels, 1):
        yield _built(f"channels({i}) = channel", _channel(c))
    for i, s in enumerate(setup.signals, 1):
        yield from _signal(i, s)


def _built(head: str, parts: list[str]) -> str:
    """A value put together from its parts, on as many lines as it needs."""
    lines = [f"    {head}("]
    for n, part in enumerate(parts):
        part += ")" if n == len(parts) - 1 else ", "
        if len(lines[-1]) + len(part) > 116:
            lines[-1] += "&"
            lines.append("      ")
        lines[-1] += part.replace('" // "', '" // &\n        "') if len(part) > 110 else part
    return "\n".join(lines)


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
        yield f"    signals({i})%{member} = " + fortran_string(text).replace('" // "', '" // &\n        "')
    yield f"    signals({i})%factor = {real(s.factor)}"
    if s.formula is not None:
        yield f'    signals({i})%kind = "{s.formula.name}"'
        numbers = ", ".join(real(max(min(x, 1e300), -1e300)) for x in s.formula.numbers)
        yield f"    signals({i})%a(:{len(s.formula.numbers)}) = [{numbers}]"


def _inputs(setup: Setup, lengths: dict[str, str]) -> dict[str, str]:
    declared = {
        "N_SIGNALS": str(len(setup.signals)),
        "INPUT_SIGNAL": _listed(i + 1 for i, _ in setup.inputs),
        "INPUT_RATE": _listed(rate for _, rate in setup.inputs),
        **kind_tables(),
    }
    cases = {**signal_cases(), "BREAK_CASES": break_cases(), "KIND_LIST": ", ".join(KINDS)}
    return {
        "DECLARATIONS": written("fortran/inputs_types.f90", declared, lengths),
        "INPUTS": written("fortran/inputs.f90", cases),
        "READ_INPUT": "    call read_input(keyword, rest, path, line, known)\n    if (known) return\n",
        "ECHO_INPUTS": "    call echo_inputs(handle)\n",
        "SET_INPUTS": "    call set_inputs()\n",
        "CHECK_INPUTS": "    call check_inputs()\n",
        "BREAKS": "    call find_breaks(total)\n",
    }


def _loops(program: Program, setup: Setup, set_inputs: str, declared: str) -> dict[str, str]:
    assert program.loops is not None
    rows = row_names(program)
    guessed = [*setup.guessed, *[False] * (len(setup.states) - setup.n_q)]
    flags = [".true." if g else ".false." for g in guessed]
    cases = "".join(
        f"    case ({i})\n      name = " + fortran_string(r, 80).replace(" // ", " // &\n        ") + "\n"
        for i, r in enumerate(rows, 1)
    )
    text = written(
        "fortran/loops.f90",
        {
            "LEAST_NORM": runtime("least_norm.f90"),
            "GUESSED": ", ".join(flags) if len(flags) < 12 else " &\n      " + ", &\n      ".join(flags),
            "ROW_LENGTH": str(max(len(" ".join(r.split()).encode()) for r in rows)),
            "ROWS": cases,
            "SET_INPUTS": set_inputs,
            "CORRECTION": _CORRECTION if program.loops.correction else "",
            "DONE": "    logical :: done\n" if program.loops.correction else "",
        },
    )
    if program.loops.correction:
        text = written("fortran/correction.f90", {"SET_INPUTS": set_inputs}) + text
    return {
        "LOOPS": text,
        "DECLARATIONS": declared
        + written("fortran/loops_types.f90", {"TUNING": definitions(LOOPS)})
        + corrected_places(program.loops),
        "ASSEMBLE": "    call assemble(y)\n    call find_metric(y)\n",
        "ADVANCE": "    call move(h, start, middle, seen, y, k, next, 0, ended)\n",
        "RATES": _WARY,
        "RECURSIVE": "recursive ",
        "BEGIN": "    call begin(y)\n",
        "BEGUN": "    call remember(0.0_dp, k)\n",
        "ACCEPT": _ACCEPT,
    }


_PLACES = (
    "DECLARATIONS", "INPUTS", "READ_INPUT", "ECHO_INPUTS", "SET_INPUTS", "CHECK_INPUTS", "LOOPS", "ASSEMBLE", "BEGIN",
    "BEGUN", "ACCEPT", "RECURSIVE", "SHOWN", "ENTER", "ECHO_ROUTINES", "HOLD", "FIRST", "UPDATE",
)  # fmt: skip
_ADVANCE = "    call advance(h, start, middle, seen, y, k, next)\n"
_WARY = """    if (wary) then
      call wary_rates(y, rate)
    else
      call derivatives(y, rate)
    end if
"""
_ACCEPT = """    if (ratio > singular) call remember(to, k)
    wary = ratio < tuned_watched .or. steady < tuned_watched
"""
_NO_ACCEPT = "    if (to < start) return ! not used\n"
_CORRECTION = """      if (.not. wary) then
        call correct_dependent(h, finish_time, next, done)
        if (done) return
      end if
"""


def _listed(numbers: Iterable[int]) -> str:
    return "\n    ".join(wrapped(", ".join(map(str, numbers))))
