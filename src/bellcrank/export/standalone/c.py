"""A stand-alone program in C99: model.c holds the equations, program.c what surrounds them."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.emit.c.printer import external_calls
from bellcrank.emit.c.runtime_files import definitions
from bellcrank.emit.c.signals import break_cases, kind_rows, positive_rows
from bellcrank.emit.c.source import c_source
from bellcrank.emit.fortran.routines import routines_file
from bellcrank.emit.kernel_data import bridge_room
from bellcrank.emit.names import comment
from bellcrank.emit.number import DOUBLE
from bellcrank.emit.words import Words
from bellcrank.export.standalone.loops import row_names
from bellcrank.export.standalone.setup import Keyed, Setup, input_files
from bellcrank.export.standalone.text import about, indented, require_language, written
from bellcrank.numeric.collocation import STIFF
from bellcrank.numeric.embedded import EMBEDDED
from bellcrank.numeric.methods import AUTO, METHODS, RTOL, one_of
from bellcrank.numeric.multistart import STARTS, drawn
from bellcrank.numeric.run_spec import DAE_METHODS
from bellcrank.numeric.tuning import BRIDGES, INPUTS, PLANS
from bellcrank.program.inertias import inertia_functions
from bellcrank.program.program import Program
from bellcrank.program.slopes import with_slopes_in
from bellcrank.run.event_data import event_tables
from bellcrank.signals import KINDS, MOST_NUMBERS

GROWTHS = {"": "NO_GROWTH", "turn": "GROWS_BY_TURNS", "way": "GROWS_ALONG"}
REPORT_WHEELS = "        report_wheels(job);\n"
KNOWN_METHODS = (*METHODS, *EMBEDDED, *STIFF, AUTO)  # as they are numbered; the last is no method of its own


def c_program(program: Program, setup: Setup, words: Words) -> dict[str, str]:
    """All files of the program, by name."""
    require_language(program, "C", "c", "fortran")
    program = with_slopes_in_c(program) if setup.special.adaptive else program
    foreign = [c.routine for c in external_calls(program).values() if c.foreign]
    common = common_pieces(setup, "model.c", "model.c")
    return {
        "model.c": c_source(
            program,
            words,
            extra=inertia_functions(program),
            dae=setup.special.multipliers,
            stiff=setup.special.adaptive,
            wheels=[w for w, _ in setup.special.wheels],
            looks=bool(setup.events),
            assembles=True,
        ),
        "program.c": program_text(program, setup, common),
        "Makefile": written("c/Makefile_with_fortran" if foreign else "c/Makefile", common=common),
        **({"routines.f90": routines_file(foreign, setup.title)} if foreign else {}),
        **input_files(setup),
    }


def common_pieces(setup: Setup, equations: str, included: str) -> dict[str, str]:
    """What several files say; `equations`: the file that holds them; `included`: the one that the program includes."""
    names = {"TITLE": comment(setup.title), "STEM": setup.stem, "EQUATIONS": equations, "INCLUDED": included}
    return {**names, "ABOUT": about(setup, "   ")}


def program_text(program: Program, setup: Setup, common: dict[str, str]) -> str:
    """The program around equations in C or in Fortran."""
    return written("c/program.c", _pieces(program, setup), common)


def with_slopes_in_c(program: Program) -> Program:
    """The program with slopes of its rates, if all that they call can be had in C."""
    return with_slopes_in(program, "c", "fortran")


def _pieces(program: Program, setup: Setup) -> dict[str, str]:
    memory, methods = memory_of(program), setup.special.methods(KNOWN_METHODS)
    return {
        "TUNING": definitions(PLANS, DOUBLE),
        "TITLE_STRING": c_string(setup.title),
        "STEM_STRING": c_string(setup.stem),
        "PARAMETERS": indented([*map(_quantity, setup.settable), _NO_QUANTITY]),
        "STATES": indented([*map(_quantity, setup.states), _NO_QUANTITY]),
        "REMOVED": "".join(f"{c_string(r)}, " for r in setup.removed),
        "CHANNELS": indented([*map(_channel, setup.channels), "{NULL, NULL, NULL, NULL, NULL, NULL, 1.0, 0}"]),
        "N_GIVEN": str(len(setup.parameters)),
        "N_OWN": str(len(setup.own)),
        "N_CHANNELS": str(len(setup.channels)),
        "T_END": repr(setup.t_end),
        "STEP": repr(setup.step),
        "EVERY": str(setup.every),
        "METHOD_NAMES": ", ".join(c_string(x if x in methods else "") for x in KNOWN_METHODS),
        "METHOD_LIST": one_of(methods),
        "ADAPTIVE": "yes" if setup.special.adaptive else "",
        "RTOL": repr(RTOL),
        "UNIT_SIZES": ", ".join(map(repr, [*setup.interface.unit_sizes.tolist(), 1.0])),
        "UNIT_GROUPS": unit_groups(setup),
        "CAPS": caps(setup),
        "HELD": "1" if program.start.results or program.update.results else "n",
        "METHOD": str(KNOWN_METHODS.index(setup.method)),
        "MEMORY": str(memory),
        "ENTERED": "yes" if setup.entered else "",
        "ECHO_ROUTINES": _echo_routines(program, setup) if setup.entered or setup.echoed else "",
        "INPUTS": _inputs(setup) if setup.signals else "",
        "ASSEMBLY": _loops(program, setup) if program.loops is not None else "",
        "BRIDGE_ROOM": room_of_bridges(program),
        "ROOM": "yes" if setup.special.adaptive or not setup.events else "",
        "PROJECTED": "yes" if program.loops is not None and not setup.special.multipliers else "",
        "STAGED": str(int(setup.special.dae is not None and setup.special.dae.staged)),
        "DAE": dae_settings(setup) if setup.special.multipliers else "",
        "WHEELS": wheels_text(setup) if setup.special.wheels else "",
        "EVENTS": events_text(program, setup) if setup.events else "",
        "WHOLE_RUN": "" if setup.events else _whole_run(program, setup),
    }


def _whole_run(program: Program, setup: Setup) -> str:
    loops = "    job->n_past = job->wary = job->near = job->curves = job->portions = 0;\n" if program.loops else ""
    wheels = REPORT_WHEELS if setup.special.wheels else ""
    adaptive = "yes" if setup.special.adaptive else ""
    return written("c/whole_run.c", {"ADAPTIVE": adaptive, "LOOPS": loops, "WHEELS": wheels})


def wheels_text(setup: Setup) -> str:
    """What a program reports of rigid wheels."""
    names = ", ".join(c_string(w.name) for w, _ in setup.special.wheels)
    return written("c/wheels.c", {"NAMES": names, "STRICT": ", ".join(str(int(s)) for _, s in setup.special.wheels)})


def dae_settings(setup: Setup, job: str = "job.") -> str:
    """The method that keeps constraints, as a job knows it."""
    dae = setup.special.dae
    assert dae is not None
    numbers = {"dae": DAE_METHODS.index(dae.method), "free_fall": int(dae.base == "free fall")}
    settings = numbers | {name: repr(float(getattr(dae, name))) for name in ("alpha", "beta", "gamma")}
    return "".join(f"{job}{name} = {value};\n" for name, value in settings.items())


def memory_of(program: Program) -> int:
    """Numbers that user functions remember."""
    return sum(c.routine.memory or 0 for c in external_calls(program).values())


def room_of_bridges(program: Program) -> str:
    return str(bridge_room(program.loops.scales.blocks if program.loops is not None else ()))


def events_text(program: Program, setup: Setup, unit: bool = False) -> str:
    """The events of a program in C, or of a `unit`, as data."""
    names = [x.name for x in setup.settable]
    conditions, settings, steps = event_tables(setup.events, names)
    targets = [x for e in setup.events for x, _ in e.settings]
    keywords = [(setup.states[x.column - 1] if x.column >= 0 else setup.settable[names.index(x.name)]) for x in targets]
    lengths = [last - first for first, last, *_ in conditions] + [s[4] - s[3] for s in settings]
    return written(
        "c/events.c",
        {
            "N_EVENTS": str(len(conditions)),
            "N_SETTINGS": str(len(settings)),
            "N_VALUES": str(len(names)),
            "LONGEST": str(max(lengths)),
            "NAMES": ", ".join(c_string(e.name) for e in setup.events),
            "SETTING_NAMES": "".join(f"{c_string(x.keyword)}, " for x in keywords),
            "WATCHED": _records(conditions),
            "SETTINGS": _records(settings),
            "STEPS": _records(steps),
            "FOLLOWS": "".join(f"{int(f)}, " for f in setup.follows),
            "MEMORY": str(memory_of(program)),
            "UNIT": "yes" if unit else "",
            "LOOPS": "yes" if program.loops is not None else "",
            "WHEELS": "yes" if setup.special.wheels else "",
            "REPORT": REPORT_WHEELS if setup.special.wheels else "",
        },
    )


def _records(rows: Sequence[Sequence[float]]) -> str:
    """Structures of C, one on each line."""
    row_texts = (", ".join(repr(x) if isinstance(x, float) else str(int(x)) for x in row) for row in rows)
    return "".join(f"    {{{row}}},\n" for row in row_texts)


def unit_groups(setup: Setup) -> str:
    """Of each state, a number for its unit."""
    return ", ".join(map(str, [*setup.interface.unit_groups.tolist(), -1]))


def caps(setup: Setup) -> str:
    """Sizes up to which states count for tolerances, and which of the parameters are lengths."""
    interface = setup.interface
    lengths, parameter_count = interface.length_parameters, len(interface.parameters) + len(interface.entered)
    return written(
        "c/caps.c",
        {
            "GROWTHS": ", ".join([*(GROWTHS[x] for x in interface.growths), GROWTHS[""]]),
            "IS_LENGTH": ", ".join([*(str(int(i in lengths)) for i in range(parameter_count)), "0"]),
            "METRE": repr(interface.metre),
        },
    )


def _inputs(setup: Setup) -> str:
    return written(
        "c/inputs.c",
        {
            "TUNING": definitions(INPUTS, DOUBLE),
            "KINDS": kind_rows(),
            "POSITIVE": positive_rows(),
            "MOST_NUMBERS": str(MOST_NUMBERS),
            "KIND_LIST": ", ".join(KINDS),
            "BREAKS": break_cases(),
            "N_SIGNALS": str(len(setup.signals)),
            "SIGNALS": indented(map(_signal, setup.signals)),
            "INPUT_SIGNAL": ", ".join(str(i) for i, _ in setup.inputs),
            "INPUT_RATE": ", ".join(str(rate) for _, rate in setup.inputs),
        },
    )


def _loops(program: Program, setup: Setup) -> str:
    return written("c/loops.c", {"ASSEMBLY": assembly(program, setup), "OFF_BRANCH": repr(BRIDGES.off_branch)})


def assembly(program: Program, setup: Setup) -> str:
    """How closed loops are closed at the start, and the metric in which they are kept closed."""
    assert program.loops is not None
    return written(
        "c/assembly.c",
        {
            "GUESSED": ", ".join(str(int(g)) for g in setup.guessed),
            "SLIDES": ", ".join(str(int(s)) for s in setup.slides),
            "STARTS": str(STARTS),
            "DRAWN": indented(f"    {{{', '.join(map(repr, row))}}}," for row in drawn(setup.n_q).tolist()),
            "ROWS": ", ".join(map(c_string, row_names(program))),
        },
    )


def _echo_routines(program: Program, setup: Setup) -> str:
    """What user functions gave when the parameters had been read, and give to the echo."""
    lines = ['    fprintf(file, "\\n* from user functions\\n");']
    for i, q in enumerate(setup.entered):
        lines.append(_echo_line(q, f"job->p[N_GIVEN + {i}]"))
    if setup.echoed:
        n = len(setup.echoed)
        lines.append(f"    double w[N_W + 1] = {{0.0}}, from_routines[{n}];")
        lines += ["    set_inputs(job, 0.0, w);"] if program.given_inputs else []
        offset = "N_I"
        for name, section in (("start", program.start), ("update", program.update)):
            if section.results:
                lines.append(f"    {name}(0.0, y, y + N_Q, job->p, job->c, w, job->kept, job->externals);")
                lines.append(f"    memcpy(w + {offset}, job->kept, {len(section.results)}*sizeof *w);")
                offset = f"N_I + {len(section.results)}"
        lines.append("    echo(0.0, y, y + N_Q, job->p, job->c, w, from_routines, job->externals);")
        lines += [_echo_line(q, f"from_routines[{i}]") for i, q in enumerate(setup.echoed)]
    return "".join(f"{line}\n" for line in lines)


def _echo_line(q: Keyed, value: str) -> str:
    texts = [c_string(x) for x in (q.keyword, q.unit, q.label)]
    return f'    fputs("* ", file);\n    echo_line(file, {texts[0]}, {value}/{q.factor!r}, {texts[1]}, {texts[2]});'


_NO_QUANTITY = "{NULL, NULL, NULL, 1.0, 0.0, 0}"


def _quantity(q: Keyed) -> str:
    is_given = q.given and q.value is not None
    texts = ", ".join(map(c_string, (q.keyword, q.unit, q.label)))
    return f"{{{texts}, {q.factor!r}, {q.value or 0.0!r}, {int(is_given)}}},"


def _channel(c: Keyed) -> str:
    texts = ", ".join(map(c_string, (c.name, c.keyword, c.unit, c.label, c.quantity.generic, c.quantity.body)))
    return f"{{{texts}, {c.factor!r}, {c.quantity.column}}},"


def _signal(s: Keyed) -> str:
    """A signal as it is without an input file; sampled ones are known from their file only."""
    kind, values = (list(KINDS).index(s.formula.name), s.formula.numbers) if s.formula else (-1, ())
    numbers = ", ".join(repr(max(min(x, 1e300), -1e300)) for x in values) or "0.0"
    texts = ", ".join(map(c_string, (s.keyword, s.unit, s.label)))
    return f'{{{texts}, {s.factor!r}, {kind}, {{{numbers}}}, "", 0, 0, NULL, NULL}},'


def c_string(text: str) -> str:
    """A text as a string of C, on one line; what is not plain ASCII in octal."""
    line = " ".join(text.split())
    escaped = "".join(_escaped(b) for b in line.encode("utf-8"))
    return f'"{escaped}"'


def _escaped(byte: int) -> str:
    ch = chr(byte)
    if ch in '\\"?':
        return "\\" + ch
    return ch if " " <= ch <= "~" else f"\\{byte:03o}"
