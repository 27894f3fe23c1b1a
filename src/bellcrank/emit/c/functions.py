"""Functions of a program in C: arguments are loaded by name, statements follow as arranged, results are stored.

Functions above some length are cut into several that share what they need in an array z.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bellcrank.emit.c.after_rates import Values
from bellcrank.emit.c.halves import HALF
from bellcrank.emit.c.printer import CPrinter, ExternalCall
from bellcrank.emit.names import comment, safe_names
from bellcrank.emit.number import Number
from bellcrank.emit.parts import cut, shared_symbols
from bellcrank.emit.schedule import Schedule
from bellcrank.emit.steps import Angles, Step, step_expressions, step_targets, symbols_in
from bellcrank.expr import ZERO, Expr, Symbol
from bellcrank.expr.table import Table
from bellcrank.program.functions import Function
from bellcrank.program.program import Program
from bellcrank.program.routine import Routine
from bellcrank.program.statements import Assign, Call

TIME = Symbol("t", "time")
OWN_NAMES = frozenset((
    "t", "q", "u", "p", "c", "w", "x", "z", "qd", "ud", "out", "real", "sincos_all", "atan_all", "solve_symmetric",
    "call_external", "memory_of", "LANES", "FILL_1", "FILL_2", "FILL_3", "EXPORT", "ONCE", "SEPARATE", "lanes",
    "choose", "one_if", "N_LANES",
    HALF,
))  # what the statements of a function may use besides the names of the model  # fmt: skip
MANY = 300  # constants, above which a compiler takes longer to make them fast than all runs gain
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

    def printer(self, known: Iterable[Symbol] = ()) -> CPrinter:
        """For a function; `known`: what was computed before it, under names of its own."""
        names = {**self.names, **self.fixed, **{s: s.name for s in known}}
        return CPrinter(names, self.tables, self.calls, self.number)

    def texts(self, plans: Iterable[tuple[Function, Schedule]], taken: Sequence[Symbol] = ()) -> dict[str, str]:
        """Functions by name, arranged; `taken`: the last results of the rates, from which outputs continue."""
        found, values = {}, None
        for f, plan in plans:
            if taken and f.name == "derivatives":
                found[f.name], values = self._rates(f, plan, taken)
            else:
                found[f.name] = self.text(f, plan, values if f.name == "outputs" else None)
        return found

    def text(self, f: Function, plan: Schedule, values: Values | None = None) -> str:
        """A function, arranged, with what it gives."""
        stores: dict[str, Sequence[str]] = {"out": f.labels}
        if f.name == "derivatives":
            stores = self._rate_labels(f)
        name = C_NAMES.get(f.name, f.name)
        head = f"{values.prototype};\n\n" if values is not None else ""
        return f"/* ---- {f.kind.what} */\n\n{head}{self._function(name, plan, stores, f.kind.sparse, values)}"

    def _rate_labels(self, f: Function) -> dict[str, Sequence[str]]:
        n_q = len(self.program.coordinates)
        return {"qd": f.labels[:n_q], "ud": f.labels[n_q:]}

    def _rates(self, f: Function, plan: Schedule, taken: Sequence[Symbol]) -> tuple[str, Values]:
        """The rates by a function that leaves values `taken` in an array, and where they are."""
        count, name, real = len(f.labels), f"{f.name}_and_values", self.number.c
        results = dict(zip(taken, plan.results[count:], strict=True))
        pieces = cut(plan.steps, self.longest)
        shared = shared_symbols(pieces, plan.results[:count])
        defined = {t for s in plan.steps for t in step_targets(s)}
        for r in results.values():
            if isinstance(r, Symbol) and r in defined:
                shared.setdefault(r, len(shared))
        late = [s for s, r in results.items() if r not in shared]
        places = {s: shared[r] for s, r in results.items() if isinstance(r, Symbol) and r in shared}
        places |= {s: len(shared) + i for i, s in enumerate(late)}
        size = len(shared) + len(late)
        printer, labels = self.printer(), self._rate_labels(f)
        lines, calls, everywhere = self._parts(f.name, pieces[:-1], shared, printer)
        last = [*plan.results[:count], *(results[s] for s in late)]
        body, used = self._body(pieces[-1], last, shared, printer)
        stored = self._stored(labels, plan.results[:count], printer)
        stored += [f"z[{places[s]}] = {printer.expr(results[s])};" for s in late]
        unused = _void({*_ARGUMENTS} - everywhere - used)
        arguments = ["t", "q", "u", "p", "c", "w", *labels]
        prototype = self._signature(f"SEPARATE EXPORT void {name}", [*arguments, "z", "x"])
        lines += _block(prototype, [*unused, *calls, *body, *stored])
        call = f"{name}({', '.join([*arguments, 'z', 'x'])});"
        head = self._signature(f"EXPORT void {f.name}", [*arguments, "x"])
        lines += _block(head, [f"{real} z[{size}];", call])
        rates = ", ".join(f"{array}[{max(1, len(notes))}]" for array, notes in labels.items())
        text = "\n".join([f"/* ---- {f.kind.what} */", "", *lines])
        return text, Values(places, size, [f"{real} {rates};", call], prototype)

    def constants(self) -> str:
        printer = self.printer()
        pieces = cut([s for s in self.program.constants.statements if isinstance(s, Assign)], self.longest)
        head = f"(const {self.number.c} *restrict p, {self.number.c} *restrict c)"
        lines = ["/* ---- what follows from the parameters alone */", ""]
        once = "ONCE " if sum(map(len, pieces)) > MANY else ""
        for number, piece in enumerate(pieces, 1):
            loads, used = self._loads([s.value for s in piece])
            unused = {"p"} - used | ({"c"} if not piece else set())
            stores = [f"{self.fixed[s.target]} = {printer.expr(s.value)};" for s in piece]
            name = "EXPORT void constants" if len(pieces) == 1 else f"SEPARATE static void constants_{number}"
            lines += _block(once + name + head, [*_void(unused), *loads, *stores])
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

    def _function(
        self,
        name: str,
        plan: Schedule,
        stores: Mapping[str, Sequence[str]],
        sparse: bool = False,
        values: Values | None = None,
    ) -> str:
        """A function in as many parts as its length asks for; stores: what is stored to each array, for comments.

        `sparse`: zeros are not stored one by one. `values`: what it begins with.
        """
        printer = self.printer(values.places if values is not None else ())
        pieces = cut(plan.steps, self.longest)
        shared = shared_symbols(pieces, plan.results)
        room, begin = len(shared), []
        if values is not None:
            shared = {**values.places, **{s: values.size + i for s, i in shared.items()}}
            room, begin = room + values.size, list(values.call)
        lines, calls, everywhere = self._parts(name, pieces[:-1], shared, printer)
        calls = [*([f"{self.number.c} z[{room}];"] if shared else []), *begin, *calls]
        everywhere |= {*_ARGUMENTS} if begin else set()
        body, used = self._body(pieces[-1], plan.results, shared, printer)
        unused = {*_ARGUMENTS} - everywhere - used | {array for array, notes in stores.items() if not notes}
        results = self._stored(stores, plan.results, printer, sparse)
        head = self._signature(f"EXPORT void {name}", ["t", "q", "u", "p", "c", "w", *stores, "x"])
        return "\n".join([*lines, *_block(head, [*_void(unused), *calls, *body, *results])])

    def _parts(
        self, name: str, pieces: Sequence[Sequence[Step]], shared: Mapping[Symbol, int], printer: CPrinter
    ) -> tuple[list[str], list[str], set[str]]:
        """All parts of a function but the last, their calls, and the letters of the arguments they use."""
        lines: list[str] = []
        calls: list[str] = []
        everywhere: set[str] = set()
        for number, piece in enumerate(pieces, 1):
            body, used = self._body(piece, (), shared, printer)
            arguments = [a for a in _ARGUMENTS if a in used] + ["z"]
            lines += _block(self._signature(f"SEPARATE static void {name}_{number}", arguments), body)
            calls.append(f"{name}_{number}({', '.join(arguments)});")
            everywhere |= used
        return lines, calls, everywhere

    def _stored(
        self, stores: Mapping[str, Sequence[str]], results: Sequence[Expr], printer: CPrinter, sparse: bool = False
    ) -> list[str]:
        """Results as they are stored, with what each is."""
        targets = [(f"{array}[{i}]", note) for array, notes in stores.items() for i, note in enumerate(notes)]
        lines = [
            f"{target} = {printer.expr(r)}; /* {comment(note)} */"
            for (target, note), r in zip(targets, results, strict=True)
            if not (sparse and r is ZERO)
        ]
        return [f"memset(out, 0, {len(targets)}*sizeof *out);", *lines] if sparse else lines

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
    found = [s for s in symbols_in(roots) if s in shared and s not in known]
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
