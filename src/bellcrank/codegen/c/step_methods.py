"""Steps of the fixed-step methods in C, and tables of adaptive ones."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from bellcrank.core.numeric.collocation import STIFF
from bellcrank.core.numeric.embedded import EMBEDDED
from bellcrank.core.numeric.fixed_step_methods import METHODS, FixedStepMethod

TIMES = {0.0: "t", 0.5: "middle", 1.0: "end"}  # of stages, in every language


def stage_time(node: float) -> str:
    return TIMES.get(node, f"t + {node!r}*h")


def method_names() -> str:
    """Their numbers: those of methods with a fixed step, then explicit ones that choose it, then
    stiff ones."""
    fixed, adaptive = (
        ", ".join(name.upper() for name in names) for names in (METHODS, (*EMBEDDED, *STIFF))
    )
    two_step = " || ".join(
        f"(method) == {name.upper()}" for name, m in METHODS.items() if m.two_step
    )
    return (
        f"enum {{ {fixed}, N_FIXED }};\nenum {{ FIRST_CHOSEN = N_FIXED - 1, {adaptive} }};\n"
        f"#define TWO_STEP(method) ({two_step}) /* does a step need the rates at the "
        f"beginning of the one before? */\n"
    )


def embedded_tables() -> str:
    """Adaptive methods."""
    max_stages = max(len(m.stage_weights) for m in EMBEDDED.values())
    coefficients = max(m.n_dense_coefficients for m in EMBEDDED.values())
    lines = [
        f"enum {{ MOST_STAGES = {max_stages}, MOST_COEFFICIENTS = {coefficients} }};",
        "",
        "typedef struct Embedded { /* as in the table of methods */",
        "    int stages, result, errors, coefficients, order, exponent;",
        "    real damping, growth, held;",
        "    const real (*rows)[MOST_STAGES], *nodes, *error, *second, (*dense)[MOST_STAGES];",
        "} Embedded;",
        "",
    ]
    entries = []
    for m in EMBEDDED.values():
        name = m.name.upper()
        tables = [("ROWS", m.stage_weights), ("DENSE", m.dense_weights)]
        for table_name, rows in tables:
            lines.append(f"static const real {name}_{table_name}[][MOST_STAGES] = {{")
            lines += [
                line for row in rows for line in wrapped_numbers(row or (0.0,), "    {", "},")
            ]
            lines.append("};")
        vectors = {"NODES": m.nodes, "ERROR": m.error_weights, "SECOND": m.second_error_weights}
        for table_name, row in vectors.items():
            if row:
                lines += [
                    f"static const real {name}_{table_name}[] = {{",
                    *wrapped_numbers(row, "    ", ""),
                    "};",
                ]
        second = f"{name}_SECOND" if m.second_error_weights else "NULL"
        entries.append(
            f"    {{{len(m.stage_weights)}, {m.result_stage}, {len(m.error_weights)}, "
            f"{m.n_dense_coefficients}, {m.order}, {m.error_exponent}, "
            f"{m.pi_beta!r}, {m.max_growth!r}, {m.stability_limit!r}, "
            f"{name}_ROWS, {name}_NODES, {name}_ERROR, {second}, {name}_DENSE}},"
        )
    lines += ["", "static const Embedded embedded[] = {", *entries, "};", ""]
    return "\n".join(lines)


def wrapped_numbers(row: Sequence[float], start: str, end: str) -> list[str]:
    """Numbers of a table, as many to a line as there is room for."""
    return textwrap.wrap(
        start + ", ".join(map(repr, row)) + end,
        112,
        initial_indent="",
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )


@dataclass(frozen=True)
class PreviousStep:
    """How C knows the step before: whether all of it is `known`, its `old` rates, and how one of
    two increments is
    `chosen` where it is known to some of several runs."""

    known: str
    old: str
    chosen: str = ""


ONE_RUN = PreviousStep("fabs(job->behind - h) < GAP*h", "job->old[j]")
CALLED = PreviousStep("job->behind", "job->old[j]")
SIDE_BY_SIDE = PreviousStep(
    "past && all(past)", "old[j]", "past ? choose(past[j/N_S], {later}, {first}) : {first}"
)


def _unit_sized(states: str) -> list[str]:
    """Euler parameters of the state `next`, or of several, brought to unit size."""
    if states == "N_S":
        return ["    unit_sizes_of(next);"]
    return [f"    for (int j = 0; j < {states}; j += N_S)", "        unit_sizes_of(next + j);"]


def method_cases(
    only: str = "",
    summed: str = "{} + {}",
    prefix: str = "",
    states: str = "N_S",
    past: PreviousStep = ONE_RUN,
) -> str:
    """The cases of `advance`, which goes from y with rates k to next; those of one method `only`,
    if it is named.

    `summed` is how a state and its increment are added; `prefix` stands before every loop; `states`
    is their number, that of the model or a multiple of it. Where rates cannot be had, nothing is
    made of what they left.
    """
    methods = [METHODS[only]] if only else [*METHODS.values()]
    max_stages = max(m.n_rhs_by_stages for m in methods)
    staged = ["stage"] if any(not m.semi_implicit for m in methods) else []
    array_names = [*staged, *(f"k{i}" for i in range(2, max_stages + 1))]
    lines = [f"    real {', '.join(f'{name}[{states}]' for name in array_names)};"]
    lines += ["    int failed = FINISHED;"]
    lines += [] if only else ["    switch (job->method) {"]
    for m in methods:
        ending = _unit_sized(states)
        steps = (
            _semi_implicit(summed, states)
            if m.semi_implicit
            else _explicit_step(m, summed, states, past, ending)
        )
        steps = _insert_before_loops(steps, prefix)
        comment = f"/* {m.description} */" if m.description else ""
        if only:
            lines += [
                f"    {comment or f'/* {m.name} */'}",
                *(line.removeprefix("    ") for line in steps),
            ]
        else:
            lines += [f"    case {m.name.upper()}:{f' {comment}' if comment else ''}"]
            lines += (
                ["    default: /* there is no other, which compilers cannot know */"]
                if m is methods[-1]
                else []
            )
            lines += [*steps, "        break;"]
    ending = _unit_sized(states)
    return "\n".join([*lines, *([] if only else ["    }"]), *ending, "    return failed;", ""])


def advance_text() -> str:
    """The function of the kernel that takes one step with a fixed method."""
    cases = method_cases().replace("rates(job,", "rates(HERE job,").replace("(next)", "(HERE next)")
    arrays = re.sub(r"^    real (.*);", lambda m: _array_declarations(m[1].split(", ")), cases)
    return f"""\
/* One step from y with rates k, of length h, to `next`: the rates there are left to the caller. */
static int advance(GIVEN Job *job, real h, real t, real middle, real end, const real *y, \
const real *k, real *next,
    real *w)
{{
{arrays}}}
"""


def advance_of_group(only: str, single: bool) -> str:
    """The same for a group of runs, of one method if it is named; in `single` precision sums carry
    what is rounded."""
    summed = "summed({}, {}, &carried[j])" if single else "{} + {}"
    cases = method_cases(only, summed, "" if only else "UNROLLED", "N_Y", SIDE_BY_SIDE)
    return f"""\
/* One step from y with rates k, of length h, to `next`: the rates there are left to the caller.
   `old`: rates at the beginning of the step before, in lanes that know it \
(`past`; NULL: none does). */
static int advance(Job *job, scalar h, double t, double middle, double end, const lanes *restrict y,
    const lanes *restrict k, const masks *past, const lanes *restrict old, lanes *restrict next, \
lanes *w,
    lanes *carried)
{{
    (void)carried;
    (void)past;
    (void)old;
{cases}}}
"""


def _array_declarations(declared: Sequence[str]) -> str:
    """Arrays `name[size]` as the kernel declares them, two to a line."""
    each = [
        f"ARRAY(real, {name}, {size.rstrip(']')});"
        for name, size in (x.split("[") for x in declared)
    ]
    return "\n".join(f"    {' '.join(each[i : i + 2])}" for i in range(0, len(each), 2))


def _insert_before_loops(lines: list[str], prefix: str) -> list[str]:
    """The lines, with a word before every loop."""
    loops = (["        " + prefix] if prefix and "for (" in line else [] for line in lines)
    return [x for line, word in zip(lines, loops, strict=True) for x in (*word, line)]


def _explicit_step(
    m: FixedStepMethod, summed: str, states: str, past: PreviousStep, ending: Sequence[str]
) -> list[str]:
    rates = ["k[j]", *(f"k{i}[j]" for i in range(2, m.n_rhs_by_stages + 1))]
    lines, result = [], m.result.c_source(rates)
    if m.two_step is not None:
        two_step_sum = m.two_step.c_source(["k[j]", past.old])
        each = _state_loop(states, f"next[j] = {summed.format('y[j]', two_step_sum)};")
        lines += [
            f"        if ({past.known}) {{",
            *(f"    {x}" for x in each),
            *(f"        {x}" for x in ending),
            "            return failed;",
            "        }",
        ]
        result = (
            f"({past.chosen.format(later=two_step_sum, first=result)})" if past.chosen else result
        )
    for i, s in enumerate(m.stages, 2):
        call = (
            f"failed = rates(job, {int(m.updates_memory_in_stages)}, {stage_time(s.node)}, "
            f"stage, k{i}, w)"
        )
        lines += [
            *_state_loop(states, f"stage[j] = y[j] + {s.increment.c_source(rates)};"),
            *_check_for_failure(call),
        ]
    return [*lines, *_state_loop(states, f"next[j] = {summed.format('y[j]', result)};")]


def _state_loop(states: str, statement: str) -> list[str]:
    return [f"        for (int j = 0; j < {states}; j++)", f"            {statement}"]


def _check_for_failure(call: str) -> list[str]:
    return [f"        if (({call}))", "            return failed;"]


def _semi_implicit(summed: str, states: str) -> list[str]:
    one, speeds, coordinates = states == "N_S", "j % N_S >= N_Q", "j % N_S < N_Q"

    def masked_update(part: str, loop: str, rates: str) -> list[str]:
        lines = [loop] if one else [f"for (int j = 0; j < {states}; j++)", f"    if ({part})"]
        lines.append(f"{'    ' * len(lines)}next[j] = {summed.format('y[j]', f'h*{rates}[j]')};")
        return [f"        {line}" for line in lines]

    return [
        f"        memcpy(next, y, {states}*sizeof *next);",
        *masked_update(speeds, "for (int j = N_Q; j < N_S; j++)", "k"),
        *_check_for_failure("failed = rates(job, 0, t, next, k2, w)"),
        *masked_update(coordinates, "for (int j = 0; j < N_Q; j++)", "k2"),
    ]


def half_explicit_tables() -> str:
    """Places of the stages of half-explicit methods and weights of the result; other methods have
    none."""
    max_stages = max(m.n_rhs_by_stages for m in METHODS.values())
    half_explicit = [m if m.is_chain else None for m in METHODS.values()]
    stage_counts = ", ".join(str(m.n_rhs_per_step if m else 0) for m in half_explicit)
    tables = {
        "HALF_PLACES": [m.nodes if m else (0.0,) for m in half_explicit],
        "HALF_WEIGHTS": [m.result.coefficients if m else (0.0,) for m in half_explicit],
    }
    lines = [f"static const int HALF_STAGES[] = {{{stage_counts}}};"]
    for name, rows in tables.items():
        row_texts = ", ".join(f"{{{', '.join(map(repr, row))}}}" for row in rows)
        lines.append(f"static const real {name}[][{max_stages}] = {{{row_texts}}};")
    return "\n".join([*lines, ""])
