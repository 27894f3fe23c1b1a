"""Values: one argument of a macro to what the System takes for it."""

from __future__ import annotations

from bellcrank.core.errors import pluralize
from bellcrank.formats.decks.formula_strings import translate_formula
from bellcrank.formats.decks.names import DeckNames, is_nil
from bellcrank.formats.decks.reader import (
    ArrayDatum,
    Datum,
    FormulaStringDatum,
    ListDatum,
    MatrixDatum,
    NumberDatum,
    StringDatum,
    SymbolDatum,
    UnitVectorDatum,
)

Scalar = int | float | str
Vector = tuple[Scalar, Scalar, Scalar]


class ArgumentReader:
    """Reads arguments; a Lisp symbol that has a value stands for it."""

    def __init__(self, names: DeckNames) -> None:
        self.names = names

    def read_formula(self, datum: FormulaStringDatum, dummies: tuple[str, ...] = ()) -> str:
        return translate_formula(datum, self.names, dummies)

    def read_scalar(self, datum: Datum, label: str, dummies: tuple[str, ...] = ()) -> Scalar:
        """A number, the name of a parameter or variable, or a formula."""
        if isinstance(datum, SymbolDatum) and datum.name in self.names.defined:
            return self.names.defined[datum.name]
        datum = self.names.symbol_value(datum)
        if isinstance(datum, NumberDatum):
            return datum.value
        if isinstance(datum, FormulaStringDatum):
            return self.read_formula(datum, dummies)
        if isinstance(datum, SymbolDatum):
            name = self.names.symbol_name(datum, label)
            return name if name in dummies else self.names.scalar_name(name, datum, datum.error)
        raise datum.error(
            f"{label} must be a number, a symbol or a formula, not {datum.message_text}"
        )

    def read_components(self, datum: Datum, label: str) -> Vector:
        """#(x y z)"""
        datum = self.names.symbol_value(datum)
        items = datum.items if isinstance(datum, ArrayDatum | ListDatum) else ()
        if len(items) != 3:
            supplied = f"{len(items)} are given" if items else datum.message_text
            raise datum.error(
                f"{label} must be an array of 3 components, such as #(1 0 0), not {supplied}"
            )
        x, y, z = (self.read_scalar(d, f"component {i} of {label}") for i, d in enumerate(items, 1))
        return x, y, z

    def read_inertia(self, datum: Datum, label: str) -> object:
        """0, three moments or a 3 x 3 matrix."""
        datum = self.names.symbol_value(datum)
        if isinstance(datum, NumberDatum) and datum.value == 0:
            return 0
        if isinstance(datum, MatrixDatum):
            if len(datum.items) != 3:
                raise datum.error(f"{label} must have 3 rows, not {len(datum.items)}")
            return tuple(
                self.read_components(row, f"row {i} of {label}")
                for i, row in enumerate(datum.items, 1)
            )
        if isinstance(datum, ArrayDatum):
            return self.read_components(datum, label)
        raise datum.error(
            f"{label} must be 0, #(a b c) or #2a((..) (..) (..)), not {datum.message_text}"
        )

    def read_direction(self, datum: Datum, label: str) -> str:
        """A unit vector or a formula that gives a vector."""
        if isinstance(datum, SymbolDatum) and datum.name in self.names.defined:
            return self.names.defined[datum.name]
        datum = self.names.symbol_value(datum)
        if isinstance(datum, UnitVectorDatum):
            return f"[{self.names.known_body(datum.body, datum.error)}{datum.axis}]"
        if isinstance(datum, FormulaStringDatum):
            return self.read_formula(datum)
        raise datum.error(
            f'{label} must be a vector, such as [n1] or !"-[n2]", not {datum.message_text}'
        )

    def read_axis(self, datum: Datum, label: str) -> int | Vector:
        """1, 2, 3 or three components."""
        datum = self.names.symbol_value(datum)
        if isinstance(datum, ArrayDatum):
            return self.read_components(datum, label)
        if isinstance(datum, NumberDatum) and datum.value in (1, 2, 3):
            return int(datum.value)
        raise datum.error(
            f"{label}: an axis is 1, 2, 3 or an array #(x y z), not {datum.message_text}"
        )

    def read_axes(self, datum: Datum, label: str) -> tuple[int | Vector, ...]:
        """An axis or a list of axes."""
        if is_nil(datum):
            return ()
        datum = self.names.symbol_value(datum)
        items = datum.items if isinstance(datum, ListDatum) else (datum,)
        return tuple(self.read_axis(d, label) for d in items)

    def read_flags(self, datum: Datum | None, label: str, count: int) -> bool | tuple[bool, ...]:
        """T, NIL, or a list of these."""
        if datum is None or is_nil(datum):
            return False
        items = datum.items if isinstance(datum, ListDatum) else (datum,)
        for d in items:
            if not (is_nil(d) or (isinstance(d, SymbolDatum) and d.name == "t")):
                raise d.error(f"{label} holds T and NIL, not {d.message_text}")
        if len(items) != count:
            raise datum.error(
                f"{label} has {pluralize(len(items), 'value')}, but the joint has {count} of these"
            )
        flags = tuple(not is_nil(d) for d in items)
        return flags[0] if len(set(flags)) == 1 else flags

    def read_text(self, datum: Datum, label: str) -> str:
        """A string; a symbol is taken by its name."""
        datum = self.names.symbol_value(datum)
        if isinstance(datum, StringDatum):
            return " ".join(datum.text.split())
        if isinstance(datum, SymbolDatum):
            return datum.name.upper()
        raise datum.error(f"{label} must be a string, not {datum.message_text}")

    def read_units(self, datum: Datum, label: str) -> str:
        """Dimension words: a, !"l/t**2", 1."""
        match datum:
            case NumberDatum() if datum.value == 1:
                return "1"
            case SymbolDatum():
                return datum.name.upper()
            case FormulaStringDatum():
                return "".join(datum.text.split()).upper()
            case StringDatum():  # real units, such as "N/mm"
                return "".join(datum.text.split())
        raise datum.error(
            f'{label} must be made of L, F, M, T, A, such as !"f/l", or 1, not {datum.message_text}'
        )
