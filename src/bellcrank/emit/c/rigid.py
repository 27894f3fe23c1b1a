"""C source of a program whose wheels are rigid: runs with flight, impact and rolling inside the compiled loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bellcrank.emit.c import job
from bellcrank.emit.c.source import LONGEST, NO_WORDS, Words, _Source, template
from bellcrank.emit.schedule import BEST, Options
from bellcrank.program.program import Program
from bellcrank.program.statements import Section, needed


@dataclass(frozen=True)
class RigidWheel:
    """A rigid wheel as generated code knows it, in equation units.

    `inputs`: places in w of the force along x and z and of the moment of the ground (-1: none). `facts`: places among the outputs of x, z, vx, vz,
    spin, ax, az, turn. `resistance`: rolling resistance. `source`: C text of its ground, `ground` the name of the data there.
    """

    name: str
    radius: float
    restitution: tuple[float, float]
    turns: bool
    resistance: float
    inputs: tuple[int, int, int]
    facts: tuple[int, ...]
    source: str
    ground: str


def rigid_source(
    program: Program,
    wheels: Sequence[RigidWheel],
    words: Words = NO_WORDS,
    options: Options = BEST,
    outside: Iterable[str] = (),
    longest: int = LONGEST,
) -> str:
    """The program as C source, with runs of rigid wheels."""
    results = tuple(program.outputs.results[i] for w in wheels for i in w.facts)
    observed = needed(replace(program.outputs, results=results), program.derivatives.statements)
    return _RigidSource(program, words, options, outside, longest, {"wheels_at": observed}, wheels).text()


class _RigidSource(_Source):
    """The usual source with another way to take a step."""

    def __init__(
        self,
        program: Program,
        words: Words,
        options: Options,
        outside: Iterable[str],
        longest: int,
        extra: Mapping[str, Section],
        wheels: Sequence[RigidWheel],
    ) -> None:
        super().__init__(program, words, options, outside, longest, extra)
        self.wheels = wheels

    def _with_loops(self, text: str) -> str:
        pieces = {**_RIGID, "JOB": job.job_text(job.RIGID), "STEP": f"{self._wheels()}\n{template('rigid.c')}"}
        for name, piece in pieces.items():
            text = text.replace(f"@{name}@", piece)
        return text

    def _wheels(self) -> str:
        """The ground and what is known of the wheels."""
        n = len(self.wheels)
        columns = {
            f"double WHEEL_RADIUS[{n}]": [repr(w.radius) for w in self.wheels],
            f"double WHEEL_RESTITUTION[{n}][2]": [
                f"{{{w.restitution[0]!r}, {w.restitution[1]!r}}}" for w in self.wheels
            ],
            f"double WHEEL_RESISTANCE[{n}]": [repr(w.resistance) for w in self.wheels],
            f"int WHEEL_TURNS[{n}]": [str(int(w.turns)) for w in self.wheels],
            f"int WHEEL_INPUT[{n}][3]": ["{" + ", ".join(map(str, w.inputs)) + "}" for w in self.wheels],
            f"ground_t *const WHEEL_GROUND[{n}]": [f"&{w.ground}" for w in self.wheels],
        }
        lines = [*dict.fromkeys(w.source for w in self.wheels)]
        lines += [f"static const {head} = {{{', '.join(values)}}};" for head, values in columns.items()]
        return "\n".join([*lines, f"enum {{ N_WHEELS = {n} }};", ""])


_RIGID = {  # in the template of a run
    "STATUS": "",
    "CLOSED": "",
    "DECLARED": "static void with_ground(Job *job, double t, const double *y, double *w);\n\n",
    "WARY": "    with_ground(job, t, y, w);\n    if (job->unknown)\n        return INPUT_FAILED;\n    job->externals->live = live;\n",
    "MODES": """    if (job->all_modes)
        memcpy(job->all_modes + (job->filled - 1)*job->modes_of_row, job->modes, (size_t)job->modes_of_row*sizeof *job->modes);
""",
    "PAUSE": "        if (job->n_told + 1000 > job->most_told)\n            return job->status;\n",
    "MOVE": "rigid_step",
    "DEPTH": "",
    "BEGIN": "        job->from_time = 0.0;\n        land(job, 0.0, job->y, w);\n",
    "BEGUN": "",
    "ACCEPT": "    job->from_time = after;\n    (void)end;\n",
}
