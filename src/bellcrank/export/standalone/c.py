"""A stand-alone program in C99: model.c holds the equations, program.c what surrounds them."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.codegen.c.printer import external_calls
from bellcrank.codegen.c.runtime_files import constant_definitions
from bellcrank.codegen.c.signals import break_cases, kind_rows, positive_rows
from bellcrank.codegen.c.source import c_source
from bellcrank.codegen.fortran.user_functions import routines_file
from bellcrank.codegen.identifiers import comment_text
from bellcrank.codegen.kernel_data import bridge_room
from bellcrank.codegen.name_comments import NameComments
from bellcrank.codegen.number_type import DOUBLE
from bellcrank.core.numeric.collocation import STIFF
from bellcrank.core.numeric.embedded import EMBEDDED
from bellcrank.core.numeric.fixed_step_methods import AUTO, METHODS, RTOL, join_alternatives
from bellcrank.core.numeric.multistart import STARTS, start_offsets
from bellcrank.core.numeric.run_spec import DAE_METHODS
from bellcrank.core.numeric.tuning import BRIDGES, INPUTS, PLANS
from bellcrank.core.signals import MOST_NUMBERS, SIGNAL_KINDS
from bellcrank.export.standalone.loops import row_names
from bellcrank.export.standalone.setup import KeyedQuantity, ProgramSetup, input_files
from bellcrank.export.standalone.templates import (
    fill_program_template,
    indent_lines,
    require_language,
    summary_comment,
)
from bellcrank.program.derivatives import with_rhs_jacobian_in
from bellcrank.program.inertias import inertia_functions
from bellcrank.program.program import SimulationProgram
from bellcrank.simulation.run.event_data import encode_events

GROWTHS = {"": "NO_GROWTH", "turn": "GROWS_BY_TURNS", "way": "GROWS_ALONG"}
REPORT_WHEELS = "        report_wheels(job);\n"
KNOWN_METHODS = (
    *METHODS,
    *EMBEDDED,
    *STIFF,
    AUTO,
)  # as they are numbered; the last is no method of its own


def c_program(
    program: SimulationProgram, setup: ProgramSetup, words: NameComments
) -> dict[str, str]:
    """All files of the program, by name."""
    require_language(program, "C", "c", "fortran")
    program = with_c_jacobian(program) if setup.special.allows_adaptive_steps else program
    foreign = [c.routine for c in external_calls(program).values() if c.foreign]
    common = common_template_values(setup, "model.c", "model.c")
    return {
        "model.c": c_source(
            program,
            words,
            extra=inertia_functions(program),
            dae=setup.special.uses_multipliers,
            stiff=setup.special.allows_adaptive_steps,
            wheels=[w for w, _ in setup.special.wheels],
            looks=bool(setup.events),
            assembles=True,
        ),
        "program.c": program_text(program, setup, common),
        "Makefile": fill_program_template(
            "c/Makefile_with_fortran" if foreign else "c/Makefile", common=common
        ),
        **({"routines.f90": routines_file(foreign, setup.title)} if foreign else {}),
        **input_files(setup),
    }


def common_template_values(setup: ProgramSetup, equations: str, included: str) -> dict[str, str]:
    """What several files say; `equations`: the file that holds them; `included`: the one that the
    program includes."""
    names = {
        "TITLE": comment_text(setup.title),
        "STEM": setup.stem,
        "EQUATIONS": equations,
        "INCLUDED": included,
    }
    return {**names, "ABOUT": summary_comment(setup, "   ")}


def program_text(program: SimulationProgram, setup: ProgramSetup, common: dict[str, str]) -> str:
    """The program around equations in C or in Fortran."""
    return fill_program_template("c/program.c", _template_values(program, setup), common)


def with_c_jacobian(program: SimulationProgram) -> SimulationProgram:
    """The program with slopes of its rates, if all that they call can be had in C."""
    return with_rhs_jacobian_in(program, "c", "fortran")


def _template_values(program: SimulationProgram, setup: ProgramSetup) -> dict[str, str]:
    memory, methods = user_memory_size(program), setup.special.available_methods(KNOWN_METHODS)
    return {
        "TUNING": constant_definitions(PLANS, DOUBLE),
        "TITLE_STRING": c_string(setup.title),
        "STEM_STRING": c_string(setup.stem),
        "PARAMETERS": indent_lines(
            [*map(_quantity_initializer, setup.settable_parameters), _NO_QUANTITY]
        ),
        "STATES": indent_lines([*map(_quantity_initializer, setup.states), _NO_QUANTITY]),
        "REMOVED": "".join(f"{c_string(r)}, " for r in setup.removed),
        "CHANNELS": indent_lines(
            [
                *map(_channel_initializer, setup.channels),
                "{NULL, NULL, NULL, NULL, NULL, NULL, 1.0, 0}",
            ]
        ),
        "N_GIVEN": str(len(setup.parameters)),
        "N_OWN": str(len(setup.own)),
        "N_CHANNELS": str(len(setup.channels)),
        "T_END": repr(setup.t_end),
        "STEP": repr(setup.step),
        "EVERY": str(setup.every),
        "METHOD_NAMES": ", ".join(c_string(x if x in methods else "") for x in KNOWN_METHODS),
        "METHOD_LIST": join_alternatives(methods),
        "ADAPTIVE": "yes" if setup.special.allows_adaptive_steps else "",
        "RTOL": repr(RTOL),
        "UNIT_SIZES": ", ".join(map(repr, [*setup.interface.si_unit_factors.tolist(), 1.0])),
        "UNIT_GROUPS": unit_groups(setup),
        "CAPS": tolerance_caps(setup),
        "HELD": "1" if program.start.results or program.update.results else "n",
        "METHOD": str(KNOWN_METHODS.index(setup.method)),
        "MEMORY": str(memory),
        "ENTERED": "yes" if setup.entered else "",
        "ECHO_ROUTINES": _echo_routines(program, setup) if setup.entered or setup.echoed else "",
        "INPUTS": _input_source(setup) if setup.signals else "",
        "ASSEMBLY": _loop_source(program, setup) if program.loops is not None else "",
        "BRIDGE_ROOM": bridge_workspace_size(program),
        "ROOM": "yes" if setup.special.allows_adaptive_steps or not setup.events else "",
        "PROJECTED": "yes"
        if program.loops is not None and not setup.special.uses_multipliers
        else "",
        "STAGED": str(int(setup.special.dae is not None and setup.special.dae.staged)),
        "DAE": dae_settings(setup) if setup.special.uses_multipliers else "",
        "WHEELS": wheels_text(setup) if setup.special.wheels else "",
        "EVENTS": events_text(program, setup) if setup.events else "",
        "WHOLE_RUN": "" if setup.events else _run_template(program, setup),
    }


def _run_template(program: SimulationProgram, setup: ProgramSetup) -> str:
    loops = (
        "    job->n_past = job->wary = job->near = job->curves = job->portions = 0;\n"
        if program.loops
        else ""
    )
    wheels = REPORT_WHEELS if setup.special.wheels else ""
    adaptive = "yes" if setup.special.allows_adaptive_steps else ""
    return fill_program_template(
        "c/whole_run.c", {"ADAPTIVE": adaptive, "LOOPS": loops, "WHEELS": wheels}
    )


def wheels_text(setup: ProgramSetup) -> str:
    """What a program reports of rigid wheels."""
    names = ", ".join(c_string(w.name) for w, _ in setup.special.wheels)
    return fill_program_template(
        "c/wheels.c",
        {"NAMES": names, "STRICT": ", ".join(str(int(s)) for _, s in setup.special.wheels)},
    )


def dae_settings(setup: ProgramSetup, job: str = "job.") -> str:
    """The method that keeps constraints, as a job knows it."""
    dae = setup.special.dae
    assert dae is not None
    numbers = {"dae": DAE_METHODS.index(dae.method), "free_fall": int(dae.base == "free fall")}
    settings = numbers | {
        name: repr(float(getattr(dae, name))) for name in ("alpha", "beta", "gamma")
    }
    return "".join(f"{job}{name} = {value};\n" for name, value in settings.items())


def user_memory_size(program: SimulationProgram) -> int:
    """Numbers that user functions remember."""
    return sum(c.routine.memory or 0 for c in external_calls(program).values())


def bridge_workspace_size(program: SimulationProgram) -> str:
    return str(bridge_room(program.loops.scales.blocks if program.loops is not None else ()))


def events_text(program: SimulationProgram, setup: ProgramSetup, unit: bool = False) -> str:
    """The events of a program in C, or of a `unit`, as data."""
    names = [x.name for x in setup.settable_parameters]
    conditions, settings, steps = encode_events(setup.events, names)
    targets = [x for e in setup.events for x, _ in e.settings]
    keywords = [
        (
            setup.states[x.column - 1]
            if x.column >= 0
            else setup.settable_parameters[names.index(x.name)]
        )
        for x in targets
    ]
    lengths = [last - first for first, last, *_ in conditions] + [s[4] - s[3] for s in settings]
    return fill_program_template(
        "c/events.c",
        {
            "N_EVENTS": str(len(conditions)),
            "N_SETTINGS": str(len(settings)),
            "N_VALUES": str(len(names)),
            "LONGEST": str(max(lengths)),
            "NAMES": ", ".join(c_string(e.name) for e in setup.events),
            "SETTING_NAMES": "".join(f"{c_string(x.keyword)}, " for x in keywords),
            "WATCHED": _struct_rows(conditions),
            "SETTINGS": _struct_rows(settings),
            "STEPS": _struct_rows(steps),
            "FOLLOWS": "".join(f"{int(f)}, " for f in setup.follows),
            "MEMORY": str(user_memory_size(program)),
            "UNIT": "yes" if unit else "",
            "LOOPS": "yes" if program.loops is not None else "",
            "WHEELS": "yes" if setup.special.wheels else "",
            "REPORT": REPORT_WHEELS if setup.special.wheels else "",
        },
    )


def _struct_rows(rows: Sequence[Sequence[float]]) -> str:
    """Structures of C, one on each line."""
    row_texts = (
        ", ".join(repr(x) if isinstance(x, float) else str(int(x)) for x in row) for row in rows
    )
    return "".join(f"    {{{row}}},\n" for row in row_texts)


def unit_groups(setup: ProgramSetup) -> str:
    """Of each state, a number for its unit."""
    return ", ".join(map(str, [*setup.interface.unit_groups.tolist(), -1]))


def tolerance_caps(setup: ProgramSetup) -> str:
    """Sizes up to which states count for tolerances, and which of the parameters are lengths."""
    interface = setup.interface
    lengths, parameter_count = (
        interface.length_parameters,
        len(interface.parameters) + len(interface.function_parameters),
    )
    return fill_program_template(
        "c/caps.c",
        {
            "GROWTHS": ", ".join([*(GROWTHS[x] for x in interface.growth_kinds), GROWTHS[""]]),
            "IS_LENGTH": ", ".join(
                [*(str(int(i in lengths)) for i in range(parameter_count)), "0"]
            ),
            "METRE": repr(interface.metre_factor),
        },
    )


def _input_source(setup: ProgramSetup) -> str:
    return fill_program_template(
        "c/inputs.c",
        {
            "TUNING": constant_definitions(INPUTS, DOUBLE),
            "KINDS": kind_rows(),
            "POSITIVE": positive_rows(),
            "MOST_NUMBERS": str(MOST_NUMBERS),
            "KIND_LIST": ", ".join(SIGNAL_KINDS),
            "BREAKS": break_cases(),
            "N_SIGNALS": str(len(setup.signals)),
            "SIGNALS": indent_lines(map(_signal_initializer, setup.signals)),
            "INPUT_SIGNAL": ", ".join(str(i) for i, _ in setup.inputs),
            "INPUT_RATE": ", ".join(str(rate) for _, rate in setup.inputs),
        },
    )


def _loop_source(program: SimulationProgram, setup: ProgramSetup) -> str:
    return fill_program_template(
        "c/loops.c",
        {"ASSEMBLY": assembly_source(program, setup), "OFF_BRANCH": repr(BRIDGES.off_branch)},
    )


def assembly_source(program: SimulationProgram, setup: ProgramSetup) -> str:
    """How closed loops are closed at the start, and the metric in which they are kept closed."""
    assert program.loops is not None
    return fill_program_template(
        "c/assembly.c",
        {
            "GUESSED": ", ".join(str(int(g)) for g in setup.guessed),
            "SLIDES": ", ".join(str(int(s)) for s in setup.slides),
            "STARTS": str(STARTS),
            "DRAWN": indent_lines(
                f"    {{{', '.join(map(repr, row))}}}," for row in start_offsets(setup.n_q).tolist()
            ),
            "ROWS": ", ".join(map(c_string, row_names(program))),
        },
    )


def _echo_routines(program: SimulationProgram, setup: ProgramSetup) -> str:
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
                lines.append(
                    f"    {name}(0.0, y, y + N_Q, job->p, job->c, w, job->kept, job->externals);"
                )
                lines.append(
                    f"    memcpy(w + {offset}, job->kept, {len(section.results)}*sizeof *w);"
                )
                offset = f"N_I + {len(section.results)}"
        lines.append("    echo(0.0, y, y + N_Q, job->p, job->c, w, from_routines, job->externals);")
        lines += [_echo_line(q, f"from_routines[{i}]") for i, q in enumerate(setup.echoed)]
    return "".join(f"{line}\n" for line in lines)


def _echo_line(q: KeyedQuantity, value: str) -> str:
    texts = [c_string(x) for x in (q.keyword, q.unit, q.label)]
    return (
        f'    fputs("* ", file);\n    echo_line(file, {texts[0]}, {value}/{q.factor!r}, '
        f"{texts[1]}, {texts[2]});"
    )


_NO_QUANTITY = "{NULL, NULL, NULL, 1.0, 0.0, 0}"


def _quantity_initializer(q: KeyedQuantity) -> str:
    is_given = q.given and q.value is not None
    texts = ", ".join(map(c_string, (q.keyword, q.unit, q.label)))
    return f"{{{texts}, {q.factor!r}, {q.value or 0.0!r}, {int(is_given)}}},"


def _channel_initializer(c: KeyedQuantity) -> str:
    texts = ", ".join(
        map(
            c_string, (c.name, c.keyword, c.unit, c.label, c.quantity.generic_name, c.quantity.body)
        )
    )
    return f"{{{texts}, {c.factor!r}, {c.quantity.column}}},"


def _signal_initializer(s: KeyedQuantity) -> str:
    """A signal as it is without an input file; sampled ones are known from their file only."""
    kind, values = (
        (list(SIGNAL_KINDS).index(s.closed_form_signal.name), s.closed_form_signal.numbers)
        if s.closed_form_signal
        else (-1, ())
    )
    numbers = ", ".join(repr(max(min(x, 1e300), -1e300)) for x in values) or "0.0"
    texts = ", ".join(map(c_string, (s.keyword, s.unit, s.label)))
    return f'{{{texts}, {s.factor!r}, {kind}, {{{numbers}}}, "", 0, 0, NULL, NULL}},'


def c_string(text: str) -> str:
    """A text as a string of C, on one line; what is not plain ASCII in octal."""
    line = " ".join(text.split())
    escaped = "".join(_escape_byte(b) for b in line.encode("utf-8"))
    return f'"{escaped}"'


def _escape_byte(byte: int) -> str:
    ch = chr(byte)
    if ch in '\\"?':
        return "\\" + ch
    return ch if " " <= ch <= "~" else f"\\{byte:03o}"
