"""Values: one argument of a macro to what the System takes for it."""

from __future__ import annotations

from bellcrank.errors import counted
from bellcrank.formats.decks.fstring import formula
from bellcrank.formats.decks.names import Names, is_nil
from bellcrank.formats.decks.reader import Array, Datum, FString, List, Matrix, Number, String, Symbol, UnitVector

Scalar = int | float | str
Vector = tuple[Scalar, Scalar, Scalar]


class Values:
    """Reads arguments; a Lisp symbol that has a value stands for it."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def formula(self, datum: FString, dummies: tuple[str, ...] = ()) -> str:
        return formula(datum, self.names, dummies)

    def scalar(self, datum: Datum, label: str, dummies: tuple[str, ...] = ()) -> Scalar:
        """A number, the name of a parameter or variable, or a formula."""
        if isinstance(datum, Symbol) and datum.name in self.names.defined:
            return self.names.defined[datum.name]
        datum = self.names.value(datum)
        if isinstance(datum, Number):
            return datum.value
        if isinstance(datum, FString):
            return self.formula(datum, dummies)
        if isinstance(datum, Symbol):
            name = self.names.symbol(datum, label)
            return name if name in dummies else self.names.scalar(name, datum, datum.fail)
        raise datum.fail(f"{label} must be a number, a symbol or a formula, not {datum.shown}")

    def components(self, datum: Datum, label: str) -> Vector:
        """#(x y z)"""
        datum = self.names.value(datum)
        items = datum.items if isinstance(datum, Array | List) else ()
        if len(items) != 3:
            supplied = f"{len(items)} are given" if items else datum.shown
            raise datum.fail(f"{label} must be an array of 3 components, such as #(1 0 0), not {supplied}")
        x, y, z = (self.scalar(d, f"component {i} of {label}") for i, d in enumerate(items, 1))
        return x, y, z

    def inertia(self, datum: Datum, label: str) -> object:
        """0, three moments or a 3 x 3 matrix."""
        datum = self.names.value(datum)
        if isinstance(datum, Number) and datum.value == 0:
            return 0
        if isinstance(datum, Matrix):
            if len(datum.items) != 3:
                raise datum.fail(f"{label} must have 3 rows, not {len(datum.items)}")
            return tuple(self.components(row, f"row {i} of {label}") for i, row in enumerate(datum.items, 1))
        if isinstance(datum, Array):
            return self.components(datum, label)
        raise datum.fail(f"{label} must be 0, #(a b c) or #2a((..) (..) (..)), not {datum.shown}")

    def direction(self, datum: Datum, label: str) -> str:
        """A unit vector or a formula that gives a vector."""
        if isinstance(datum, Symbol) and datum.name in self.names.defined:
            return self.names.defined[datum.name]
        datum = self.names.value(datum)
        if isinstance(datum, UnitVector):
            return f"[{self.names.known_body(datum.body, datum.fail)}{datum.axis}]"
        if isinstance(datum, FString):
            return self.formula(datum)
        raise datum.fail(f'{label} must be a vector, such as [n1] or !"-[n2]", not {datum.shown}')

    def axis(self, datum: Datum, label: str) -> int | Vector:
        """1, 2, 3 or three components."""
        datum = self.names.value(datum)
        if isinstance(datum, Array):
            return self.components(datum, label)
        if isinstance(datum, Number) and datum.value in (1, 2, 3):
            return int(datum.value)
        raise datum.fail(f"{label}: an axis is 1, 2, 3 or an array #(x y z), not {datum.shown}")

    def axes(self, datum: Datum, label: str) -> tuple[int | Vector, ...]:
        """An axis or a list of axes."""
        if is_nil(datum):
            return ()
        datum = self.names.value(datum)
        items = datum.items if isinstance(datum, List) else (datum,)
        return tuple(self.axis(d, label) for d in items)

    def flags(self, datum: Datum | None, label: str, count: int) -> bool | tuple[bool, ...]:
        """T, NIL, or a list of these."""
        if datum is None or is_nil(datum):
            return False
        items = datum.items if isinstance(datum, List) else (datum,)
        for d in items:
            if not (is_nil(d) or (isinstance(d, Symbol) and d.name == "t")):
                raise d.fail(f"{label} holds T and NIL, not {d.shown}")
        if len(items) != count:
            raise datum.fail(f"{label} has {counted(len(items), 'value')}, but the joint has {count} of these")
        flags = tuple(not is_nil(d) for d in items)
        return flags[0] if len(set(flags)) == 1 else flags

    def text(self, datum: Datum, label: str) -> str:
        """A string; a symbol is taken by its name."""
        datum = self.names.value(datum)
        if isinstance(datum, String):
            return " ".join(datum.text.split())
        if isinstance(datum, Symbol):
            return datum.name.upper()
        raise datum.fail(f"{label} must be a string, not {datum.shown}")

    def units(self, datum: Datum, label: str) -> str:
        """Dimension words: a, !"l/t**2", 1."""
        match datum:
            case Number() if datum.value == 1:
                return "1"
            case Symbol():
                return datum.name.upper()
            case FString():
                return "".join(datum.text.split()).upper()
            case String():  # real units, such as "N/mm"
                return "".join(datum.text.split())
        raise datum.fail(f'{label} must be made of L, F, M, T, A, such as !"f/l", or 1, not {datum.shown}')
