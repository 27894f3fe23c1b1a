"""The structures that a compiled run shares with its caller: one list of fields for each.

Out: the same list as text of C; `backend.c_job` makes the mirrors in ctypes of it and compares their sizes at load.
"""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.emit.c.runtime_files import runtime

KINDS = {  # how a field of a kind is declared: `real` is what the program computes in; routines speak double
    "int": "int32_t {}",
    "long": "int64_t {}",
    "real": "real {}",
    "reals": "real *{}",
    "doubles": "double *{}",
    "fixed reals": "const real *{}",
    "six reals": "real {}[6]",
    "inputs": "const Input *{}",
    "externals": "Externals *{}",
    "input function": "int (*{})(int32_t input, real t, real *value)",
    "external function": "int (*{})(int32_t routine, int32_t live, const double *arguments, double *values)",
    "double": "double {}",
    "fixed doubles": "const double *{}",
    "ints": "int32_t *{}",
    "fixed ints": "const int32_t *{}",
    "longs": "int64_t *{}",
    "fixed longs": "const int64_t *{}",
    "arrays": "const Array *{}",
    "program": "int (*{})(struct Job *)",  # declared beforehand
    "constants": "void (*{})(const double *p, double *c)",
}


@dataclass(frozen=True)
class Field:
    """Fields of one kind, their names separated by spaces, and what a comment says of them."""

    kind: str
    names: str
    note: str


EXTERNALS = (
    Field("external function", "callback", "those not in this file"),
    Field("doubles", "memory", "of those in this file, one after another"),
    Field("int", "live", "whose memory may change? 1: routines called for rates, 2: for outputs and kept values"),
    Field("int", "failed", "1 + the number of a routine that failed, else 0"),
)
INPUT = (
    Field("int", "kind", "of the signal"),
    Field("int", "rate", "0: the value, 1: its rate of change, 2: the rate of that"),
    Field("real", "scale", "to equation units"),
    Field("six reals", "a", "the numbers of the signal"),
    Field("long", "n", "PIECES: points x and four coefficients for every piece"),
    Field("fixed reals", "x pieces", ""),
)
_EVERY_RUN = (
    Field("int", "method", "one of the list above"),
    Field("int", "status", "out: FINISHED ... and what stands after it"),
    Field("long", "first last", "goes from step `first` to step `last` ..."),
    Field("long", "total every", "... of `total`; every n-th step is recorded, and the last of all"),
    Field("real", "h t_start", "step, s, and the beginning of the first"),
    Field("real", "t", "in, out: time of the state, s"),
    Field("fixed reals", "p c", "parameters, constants"),
    Field("inputs", "inputs", "one for each w"),
    Field("input function", "function", "inputs that are functions outside of this file"),
    Field("externals", "externals", "needed also if there are none"),
    Field("reals", "y k", "in, out: coordinates and speeds, and their rates, at the step reached"),
    Field("reals", "old", "in, out: of methods that need them: rates at the beginning of the step before ..."),
    Field("real", "behind", "... if it was a whole one and nothing was changed since: its length, s, else 0"),
    Field("reals", "bad", "out: the state that is not finite, if any"),
    Field("reals", "rows", "out: time, coordinates, speeds, outputs (and inputs) of each recorded step"),
    Field("long", "filled", "in, out: rows filled so far"),
    Field("long", "reached", "out: number of the last step taken or tried"),
    Field("real", "t_end", "end of the last step, s; t_start: that of `total` steps"),
    Field("fixed reals", "breaks", "times in order at which inputs jump or have a kink: steps are split there"),
    Field("long", "n_breaks", ""),
    Field("long", "begun", "in, out: NOT_BEGUN before step 0 has been recorded, AGAIN if a state was changed"),
    Field("long", "with_inputs", "are inputs recorded, too?"),
    Field("reals", "kept", "in, out: values of external routines that are kept, the last of w"),
)
RUN = (  # with methods that choose their steps: there, first ... total count output times, and stretches end at breaks
    *_EVERY_RUN,
    Field("fixed reals", "times", "adaptive methods: output times, the first is the start"),
    Field("real", "rtol", "the error allowed in a step, against each state ..."),
    Field("fixed reals", "atol", "... and besides, of each state"),
    Field("fixed reals", "caps", "sizes of states that count at most for rtol"),
    Field("reals", "work", "their memory; how much room it needs says work_room"),
    Field("long", "pause", "most steps in one call"),
    Field("long", "most", "... and in all, with those rejected"),
    Field("long", "steps rejected evaluations", "in, out: how many there were; evaluations: of rates"),
    Field("real", "shortest longest", "in, out: steps, s"),
    Field("long", "slopes factors failures", "in, out: of stiff methods: slopes found, systems factored, no stages"),
    Field("int", "look", "1: it is asked whether a fast mode holds the steps; 2: stiff ones may follow ..."),
    Field("int", "held", "... and does one? ..."),
    Field("long", "slowed", "... in so many steps ..."),
    Field("real", "fastest", "... its rate, 1/s ..."),
    Field("real", "pace", "... time that an evaluation of rates gained in these steps, s ..."),
    Field("long", "backs", "... and how often, at last when, explicit steps were better than the stiff ones for it"),
    Field("real", "went_back", ""),
    Field("long", "culprit", "out: the state whose error was the largest in the last step tried ..."),
    Field("real", "excess", "... against what is allowed"),
)
LOOPS = (
    *RUN,
    Field("real", "moved residual", "out: how far the last step was moved to close the loops, and what is left"),
    Field("real", "ratio steady", "of pivots at the step reached: of a singular position, and one of `derivatives`"),
    Field("long", "worst", "out: the position row that was furthest from being closed"),
    Field("fixed reals", "root_q root_u", "roots of inverse inertias: the metric of corrections"),
    Field("reals", "past", "times and accelerations of up to three steps before ..."),
    Field("int", "n_past", "... and how many there are"),
    Field("int", "wary", "does the present step take its rates from the redundant equations ..."),
    Field("int", "near", "... and are its stages closed too, as a singular position is near?"),
    Field("fixed reals", "from", "the start of the present step"),
    Field("reals", "bridges", "of blocks: curves that carry them through singular positions"),
    Field("int", "curves", "may there be some?"),
    Field("int", "portions", "into which the present step is divided so far"),
    Field("six reals", "visit", "near a singular position: time, ratio (1: none), 1 + block, residual, turned, missed"),
    Field("reals", "passages", "out: visits that are over, and steps that were halved (DIVIDED for the ratio) ..."),
    Field("long", "n_passages most_passages", "... how many there were, and how many there is room for"),
    Field("int", "staged", "are loops closed at every stage of a step?"),
)
DAE = (
    *_EVERY_RUN,
    Field("int", "dae", "PROJECTION ... HALF_EXPLICIT"),
    Field("int", "free_fall", "are accelerations those without constraints?"),
    Field("real", "alpha beta gamma", "of BAUMGARTE and STABILISED, 1/s"),
    Field("reals", "frozen", "g and v at the start of the step, for each row of v"),
    Field("int", "fresh", "are the next rates those at the start of a step?"),
    Field("int", "way", "how linear systems are solved, found at the first one: UNDECIDED ... BY_NULL_SPACE"),
)
RIGID = (
    *_EVERY_RUN,
    Field("reals", "modes", "in, out: of each wheel: does it roll, on which part of the ground, its place there ..."),
    Field("reals", "all_modes", "out: the same at each recorded step; may be NULL"),
    Field("reals", "told", "out: time, wheel and kind of events ..."),
    Field("long", "n_told most_told", "... how many there were, and how many there is room for"),
    Field("real", "from_time", "when inputs are read at the beginning of the next step"),
    Field("long", "modes_of_row", "numbers of all wheels"),
    Field("long", "unknown", "is there an input without a value?"),
)
ARRAY = (
    Field("doubles", "to", "an array that runs change ..."),
    Field("fixed doubles", "from", "... and what it holds when one begins"),
    Field("long", "n", ""),
)
BATCH = (
    Field("long", "n", "runs in all"),
    Field("fixed ints", "stop", "not zero: somebody wants no more runs"),
    Field("fixed doubles", "p", "parameters of the runs ..."),
    Field("long", "p_apart", "... how far those of one are from those of the next: 0 if all have the same"),
    Field("fixed doubles", "y", "states at the beginning"),
    Field("long", "y_apart", ""),
    Field("inputs", "inputs", "those of a run one after another"),
    Field("long", "inputs_apart", ""),
    Field("fixed doubles", "breaks", "of all runs ..."),
    Field("fixed longs", "first_breaks", "... the number of the first of each, and of that behind the last"),
    Field("long", "breaks_apart", ""),
    Field("fixed doubles", "roots", "roots of inverse inertias, of coordinates and speeds"),
    Field("long", "roots_apart", ""),
    Field("fixed doubles", "errors", "allowed of each state, and sizes of states that count at most: adaptive methods"),
    Field("long", "errors_apart", ""),
    Field("long", "n_states n_coordinates n_constants width", "width: numbers in a row"),
    Field("long", "block", "most steps between two looks at the rows"),
    Field("int", "method", "of runs that go side by side, as the fields of a job ..."),
    Field("long", "total every", "..."),
    Field("double", "h t_start t_end", "..."),
    Field("program", "run", "of runs one after another: the compiled program"),
    Field("constants", "constants", ""),
    Field("arrays", "arrays", ""),
    Field("long", "n_arrays", ""),
    Field("long", "n_kept n_times", "channels whose histories are kept, and rows of each"),
    Field("fixed longs", "kept_columns", "their places in a row"),
    Field("fixed doubles", "kept_factors", "to equation units"),
    Field("doubles", "kept", "out: by channel, run and row, in user units"),
    Field("long", "n_figures", "found while runs go on"),
    Field("fixed ints", "figure_kinds", "FINAL ..."),
    Field("fixed longs", "figure_columns", ""),
    Field("fixed doubles", "figure_factors figure_numbers", "numbers: a share in percent, or a level"),
    Field("fixed doubles", "filters", "of weightings, for rows a step apart and for the last row"),
    Field("doubles", "figures", "out: by figure and run"),
    Field("ints", "status", "out: of each run, when it is over"),
    Field("longs", "reached", "out: number of the last step taken or tried"),
    Field("doubles", "bad", "out: the state that is not finite, if any"),
    Field("fixed doubles", "values", "of parameters in events, in units of the user"),
    Field("long", "values_apart", ""),
    Field("ints", "stopped_by", "out: the number of the event that stopped a run ..."),
    Field("doubles", "stopped_at", "... and when, s"),
)
"""What many runs share, and where their results go."""


def structure(name: str, fields: tuple[Field, ...]) -> str:
    """The declaration of a structure in C."""
    lines = [f"typedef struct {name} {{"]
    for field in fields:
        first, *others = field.names.split()
        star = "*" if "*{}" in KINDS[field.kind] else ""
        declared = KINDS[field.kind].format(first) + "".join(f", {star}{other}" for other in others)
        lines.append(f"    {declared + ';':27} {f'/* {field.note} */' if field.note else ''}".rstrip())
    return "\n".join([*lines, f"}} {name};", ""])


def job_text(fields: tuple[Field, ...]) -> str:
    """Structures of a run in C, and the function that tells their sizes."""
    return runtime("structures.c", INPUT=structure("Input", INPUT), JOB=structure("Job", fields))
