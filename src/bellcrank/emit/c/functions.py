"""Functions of a program in C: arguments are loaded by name, statements follow as arranged, results are stored.

Functions above some length are cut into several that share what they need in an array z.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bellcrank.emit.c.halves import HALF
from bellcrank.emit.c.printer import CPrinter, ExternalCall
from bellcrank.emit.names import comment, safe_names
from bellcrank.emit.number import Number
from bellcrank.emit.parts import cut, shared_symbols
from bellcrank.emit.schedule import Schedule
from bellcrank.emit.steps import Angles, Step, step_expressions, step_targets, symbols_in
from bellcrank.expr import ZERO, Expr, Symbol, postorder
from bellcrank.expr.table import Table
from bellcrank.program.functions import Function
from bellcrank.program.program import Program
from bellcrank.program.routine import Routine
from bellcrank.program.statements import Assign, Call

TIME = Symbol("t", "time")
OWN_NAMES = frozenset((
    "t", "q", "u", "p", "c", "w", "x", "z", "qd", "ud", "out", "real", "sincos_all", "atan_all", "solve_symmetric",
    "call_external", "memory_of", "LANES", "FILL_1", "FILL_2", "FILL_3", "EXPORT", "SEPARATE", "lanes", "choose",
    "one_if", "N_LANES",
    HALF,
))  # what the statements of a function may use besides the names of the model  # fmt: skip
C_NAMES = {"system": "system_at"}  # the C library has a function `system`


class Functions:
    """Prints the functions of a program. `tables` and `calls`: how its routines are called."""

    def __init__(
        self,
        program: Program,
        tables: Mapping[Table, str],
        calls: Mapping[Routine, ExternalCall],
        longest: int,
        number: Number,
    ) -> None:
        self.program, self.tables, self.calls, self.longest, self.number = program, tables, calls, longest, number
        self.groups = {"q": program.coordinates, "u": program.speeds, "p": program.parameters, "w": program.inputs}
        self.names = safe_names([s for group in self.groups.values() for s in group], OWN_NAMES)
        self.place = {s: f"{letter}[{i}]" for letter, group in self.groups.items() for i, s in enumerate(group)}
        self.place[TIME] = self.names[TIME] = "t"
        self.fixed = {s: f"c[{i}]" for i, s in enumerate(program.constant_symbols)}
        real = number.c
        self.declared = {
            **dict.fromkeys("qupcw", f"const {real} *restrict {{}}"),
            **dict.fromkeys(("qd", "ud", "out", "z"), f"{real} *restrict {{}}"),
            "t": f"{real} {{}}",
            "x": "Externals *{}",
        }

    def printer(self) -> CPrinter:
        return CPrinter({**self.names, **self.fixed}, self.tables, self.calls, self.number)

    def text(self, f: Function, plan: Schedule) -> str:
        """A function, arranged, with what it gives."""
        stores: dict[str, Sequence[str]] = {"out": f.labels}
        if f.name == "derivatives":
            n_q = len(self.program.coordinates)
            stores = {"qd": f.labels[:n_q], "ud": f.labels[n_q:]}
        name = C_NAMES.get(f.name, f.name)
        return f"/* ---- {f.kind.what} */\n\n{self._function(name, plan, stores, f.kind.sparse)}"

    def constants(self) -> str:
        printer = self.printer()
        pieces = cut([s for s in self.program.constants.statements if isinstance(s, Assign)], self.longest)
        head = f"(const {self.number.c} *restrict p, {self.number.c} *restrict c)"
        lines = ["/* ---- what follows from the parameters alone */", ""]
        for number, piece in enumerate(pieces, 1):
            loads, used = self._loads([s.value for s in piece])
            unused = {"p"} - used | ({"c"} if not piece else set())
            stores = [f"{self.fixed[s.target]} = {printer.expr(s.value)};" for s in piece]
            name = "EXPORT void constants" if len(pieces) == 1 else f"SEPARATE static void constants_{number}"
            lines += _block(name + head, [*_void(unused), *loads, *stores])
        if len(pieces) > 1:
            calls = [f"constants_{number}(p, c);" for number in range(1, len(pieces) + 1)]
            lines += _block(f"EXPORT void constants{head}", calls)
        return "\n".join(lines)

    def _loads(self, roots: Iterable[Expr], known: Iterable[Expr] = ()) -> tuple[list[str], set[str]]:
        """Named copies of the arguments that expressions use and `known` do not, and the letters of these arguments."""
        found = {*symbols_in(roots)}.difference(symbols_in(known))
        used = {self.place[s][0] for s in found if s in self.place} | {"c" for s in found if s in self.fixed}
        lines = []
        for letter, group in self.groups.items():
            taken = [f"{self.names[s]} = {letter}[{i}]" for i, s in enumerate(group) if s in found]
            lines += _wrapped(f"const {self.number.c} ", taken)
        return lines, used

    def _function(self, name: str, plan: Schedule, stores: Mapping[str, Sequence[str]], sparse: bool = False) -> str:
        """A function in as many parts as its length asks for; stores: what is stored to each array, for comments.

        `sparse`: zeros are not stored one by one.
        """
        printer = self.printer()
        pieces = cut(plan.steps, self.longest)
        shared = shared_symbols(pieces, plan.results)
        lines: list[str] = []
        calls = [f"{self.number.c} z[{len(shared)}];"] if shared else []
        everywhere: set[str] = set()
        for number, piece in enumerate(pieces[:-1], 1):
            body, used = self._body(piece, (), shared, printer)
            arguments = [a for a in _ARGUMENTS if a in used] + ["z"]
            lines += _block(self._signature(f"SEPARATE static void {name}_{number}", arguments), body)
            calls.append(f"{name}_{number}({', '.join(arguments)});")
            everywhere |= used
        body, used = self._body(pieces[-1], plan.results, shared, printer)
        unused = {*_ARGUMENTS} - everywhere - used | {array for array, notes in stores.items() if not notes}
        targets = [(f"{array}[{i}]", note) for array, notes in stores.items() for i, note in enumerate(notes)]
        results = [
            f"{target} = {printer.expr(r)}; /* {comment(note)} */"
            for (target, note), r in zip(targets, plan.results, strict=True)
            if not (sparse and r is ZERO)
        ]
        if sparse:
            results.insert(0, f"memset(out, 0, {len(targets)}*sizeof *out);")
        head = self._signature(f"EXPORT void {name}", ["t", "q", "u", "p", "c", "w", *stores, "x"])
        return "\n".join([*lines, *_block(head, [*_void(unused), *calls, *body, *results])])

    def _body(
        self, piece: Sequence[Step], results: Sequence[Expr], shared: Mapping[Symbol, int], printer: CPrinter
    ) -> tuple[list[str], set[str]]:
        """Lines of a part of a function, and the letters of the arguments it uses.

        What the first angles do not need is loaded after them: the C library may be called there, which would have to
        save it.
        """
        roots = [e for s in piece for e in step_expressions(s)] + list(results)
        printer.used = {*symbols_in(roots), *shared}
        angles = next((i for i, s in enumerate(piece) if isinstance(s, Angles)), -1)
        first = [e for s in piece[: angles + 1] for e in step_expressions(s)]
        lines, used = self._loads(first)
        later, used_later = self._loads(roots, first)
        used |= used_later
        lines += later if angles < 0 else []
        known: set[Symbol] = set()
        for i, s in enumerate(piece):
            for symbol in _shared_in(step_expressions(s), shared, known):
                lines.append(f"const {self.number.c} {symbol.name} = z[{shared[symbol]}];")
            lines += printer.statement(s)
            known.update(step_targets(s))
            lines += [f"z[{shared[t]}] = {t.name};" for t in step_targets(s) if t in shared]
            lines += later if i == angles else []
            if isinstance(s, Call) and (self.calls[s.routine].function is None or s.routine.memory):
                used.add("x")
        for symbol in _shared_in(results, shared, known):
            lines.append(f"const {self.number.c} {symbol.name} = z[{shared[symbol]}];")
        return lines, used

    def _signature(self, head: str, arguments: Sequence[str]) -> str:
        lines = _wrapped("", [self.declared[a].format(a) for a in arguments], 100)
        return f"{head}(" + ",\n    ".join(line[:-1] for line in lines) + ")"


def _shared_in(roots: Iterable[Expr], shared: Mapping[Symbol, int], known: set[Symbol]) -> list[Symbol]:
    """Shared symbols met for the first time in this function."""
    if not shared:
        return []
    found = [n for n in postorder(roots) if isinstance(n, Symbol) and n in shared and n not in known]
    known.update(found)
    return found


def _block(head: str, body: Sequence[str]) -> list[str]:
    return [head, "{", *(f"    {line}" if line else "" for line in body), "}", ""]


def _wrapped(start: str, items: Sequence[str], width: int = 112) -> list[str]:
    """Declarations, several to a line."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 2 < width:
            lines[-1] += f", {item}"
        else:
            lines.append(start + item)
    return [f"{line};" for line in lines]


_ARGUMENTS = ("t", "q", "u", "p", "c", "w", "x")


def _void(unused: set[str]) -> list[str]:
    return [f"(void){a};" for a in sorted(unused)]


def how_called(name: str) -> str:
    """How a function is called, for comments."""
    results = {"derivatives": "qd, ud"}.get(name, "out")
    return "constants(p, c)" if name == "constants" else f"{C_NAMES.get(name, name)}(t, q, u, p, c, w, {results}, x)"
