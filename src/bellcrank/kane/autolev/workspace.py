"""The workspace of the dialect: names and forms of AUTOLEV on top of a `Derivation`.

Names are kept in capitals, in one name space, and given once. Some commands may use a name before
it is declared (SIMPROT its angle, FORCE and TORQUE their magnitudes): such names wait for their
declaration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.kane.derivation import Derivation
from bellcrank.kane.dynamics import Body
from bellcrank.kane.frames import Frame
from bellcrank.kane.language import PRIMED, KaneLanguage, Value
from bellcrank.kane.missing_quantities import MissingError, MissingQuantity
from bellcrank.kane.motion import Point
from bellcrank.kane.scalars import TIME
from bellcrank.symbolic.expr import Expr, Symbol
from bellcrank.symbolic.expr.formula_parser import SyntaxNode, parse_formula
from bellcrank.symbolic.vector.basis import Vector

NAME = re.compile(r"[A-Z_][A-Z0-9_]*", re.ASCII)
OWN = re.compile(r"[UZ][0-9]+", re.ASCII)  # speeds and intermediate symbols are never new names
FRAME = re.compile(r"[A-Z]+", re.ASCII)
FORMS = (("ALF", "alf"), ("W", "w"), ("V", "v"), ("P", "p"), ("A", "a"))


class AutolevWorkspace:
    """Everything that was entered."""

    def __init__(self) -> None:
        self.d = Derivation("AUTOLEV workspace", autoz=True, capitals=False)
        self.d.motion.derive_w = self.d.motion.derive_v = (
            False  # as in AUTOLEV, these are given or asked for
        )
        self.d.scalars.open_rates = False
        self.dof = 0
        self.frames: dict[str, Frame] = {"N": self.d.newtonian}
        self.points: dict[str, Point] = {}
        self.symbols: dict[str, Symbol] = {}
        self.results: dict[str, Value] = {}
        self.taken = {
            "N": "the Newtonian frame",
            "T": "time",
            "Z": "Z1, Z2, .. are intermediate symbols",
        }
        self.waiting: dict[str, str] = {}  # names that were used before their declaration: where
        self.constants: list[Symbol] = []
        self.controls: list[Symbol] = []
        self.specified: list[Symbol] = []
        self.masses: list[Symbol] = []
        self.inertias: dict[Body, list[Symbol]] = {}
        self.units: dict[str, str] = {}
        self.notes: list[str] = []
        self.hints: list[str] = []  # remarks on what may still follow
        self.done: set[str] = set()  # commands that were carried out
        self.code: tuple[str, bool] | None = None

    # ---- names

    def reserve_names(self, names: Iterable[str], pattern: re.Pattern[str] = NAME) -> list[str]:
        """Names that may be given now, all or none."""
        listed = [n.strip().upper() for n in names]
        problems = []
        for i, name in enumerate(listed):
            if not pattern.fullmatch(name) or name == "PI":
                rule = "letters" if pattern is FRAME else "letters and digits, a letter first"
                problems.append(f"'{name}' cannot be a name here: {rule}")
            elif name[0] == "Z" and OWN.fullmatch(name):
                problems.append(f"{name} cannot be given: Z1, Z2, .. are intermediate symbols")
            elif name in self.taken:
                problems.append(f"{name} is already defined: {self.taken[name]}")
            elif name[-1] in "123" and name[:-1] in self.frames:
                problems.append(f"{name} is already defined: a unit vector of {name[:-1]}")
            elif name in listed[:i]:
                problems.append(f"{name} is given twice")
        if problems:
            raise ModelError(problems if len(problems) > 1 else problems[0])
        return listed

    def register_name(self, name: str, description: str) -> None:
        self.taken[name] = description
        self.waiting.pop(name, None)

    def constant(self, name: str, description: str) -> Symbol:
        """A constant; a name that was used already becomes it."""
        symbol = Symbol(name, "parameter")
        self.d.scalars.constants.append(symbol)
        self.bind_symbol(name, symbol)
        self.register_name(name, description)
        return symbol

    def bind_symbol(self, name: str, value: Expr) -> None:
        """Gives the meaning of a name that may be in use already."""
        earlier = self.symbols.get(name)
        if earlier is not None and earlier is not value:
            self.d.scalars.define(earlier, value)
            if earlier in self.d.scalars.coordinates:
                self.d.scalars.coordinates.remove(earlier)
        if isinstance(value, Symbol):
            self.symbols[name] = value

    def variable(self, name: str, kind: str, first_use: str = "") -> Symbol:
        """A symbol for a name; with `first_use` it waits for its declaration."""
        if name not in self.symbols:
            self.symbols[name] = Symbol(name, kind)
            if kind == "coordinate":
                self.d.scalars.coordinates.append(self.symbols[name])
        if first_use and name not in self.taken:
            self.waiting.setdefault(name, first_use)
        return self.symbols[name]

    def frame(self, name: str) -> Frame:
        key = name.strip().upper()
        if key not in self.frames:
            raise self.unknown_name_error(key, "frame", self.frames, "FRAMES")
        return self.frames[key]

    def point(self, name: str) -> Point:
        key = name.strip().upper()
        if key not in self.points:
            raise self.unknown_name_error(key, "point", self.points, "POINTS")
        return self.points[key]

    @staticmethod
    def unknown_name_error(
        name: str, kind: str, known_names: Iterable[str], command: str
    ) -> ModelError:
        listed = (
            f"{kind.capitalize()}s: {', '.join(known_names) or 'none'}. More come with "
            f"{command}(..)."
        )
        return ModelError(f"there is no {kind} {name}.{did_you_mean(name, known_names)} {listed}")

    # ---- forms

    def parse_vector_name(self, name: str) -> tuple[str, Frame | Point, Frame | Point] | None:
        """(w, A, N) for WAN, (p, Q, ASTAR) for PQASTAR, ...; None if a name is of no such form."""
        readings: list[tuple[str, Frame | Point, Frame | Point]] = []
        for prefix, kind in FORMS:
            if not name.startswith(prefix):
                continue
            operands = name[len(prefix) :]
            first: dict[str, Frame] | dict[str, Point] = (
                self.frames if kind in ("w", "alf") else self.points
            )
            second: dict[str, Frame] | dict[str, Point] = (
                self.points if kind == "p" else self.frames
            )
            for i in range(1, len(operands)):
                if operands[:i] in first and operands[i:] in second:
                    readings.append((kind, first[operands[:i]], second[operands[i:]]))
        if len(readings) > 1:
            raise ModelError(f"{name} has more than one meaning: rename a frame or point")
        return readings[0] if readings else None

    def motion_table(self, kind: str) -> dict[tuple[Frame | Point, Frame | Point], Vector]:
        return getattr(self.d.motion, kind)

    def form_names(self) -> list[str]:
        return [f"{p}{a}{b}".upper() for p, kind in FORMS for a, b in self.motion_table(kind)]

    # ---- formulas

    @property
    def language(self) -> KaneLanguage:
        return KaneLanguage(self.lookup, self.known_names, self.call)

    def known_names(self) -> list[str]:
        units = [f"{f}{i}" for f in self.frames for i in (1, 2, 3)]
        return [*self.symbols, *self.results, *self.form_names(), *units, "T", "PI"]

    def lookup(self, name: str) -> Value | None:
        key = name.upper()
        if key.endswith("'"):
            return self._primed_value(key[:-1])
        if key == "T":
            return TIME
        if key in self.symbols:
            return self.symbols[key]
        if key in self.results:
            return self.results[key]
        if key[-1] in "123" and key[:-1] in self.frames:
            return self.frames[key[:-1]][int(key[-1])]
        if re.fullmatch(r"Z[1-9]\d*", key):
            z = Symbol(key, "defined")
            if z in self.d.scalars.definitions:
                return z
        form = self.parse_vector_name(key)
        return None if form is None else self.stored_vector(*form)

    def stored_vector(self, kind: str, first: Frame | Point, second: Frame | Point) -> Vector:
        table = self.motion_table(kind)
        if (first, second) not in table:
            raise MissingError([MissingQuantity(kind, str(first), str(second))])
        return table[first, second]

    def _primed_value(self, name: str) -> Expr | None:
        symbol = self.symbols.get(name)
        if symbol is None:
            if name in self.results or self.parse_vector_name(name) is not None:
                raise ModelError(
                    f"{name}' cannot be written: a vector is differentiated with "
                    f"DERIV({name},T,frame)"
                )
            return None
        return self.d.scalars.rate(symbol)

    def call(self, name: str, args: list[SyntaxNode]) -> Value | None:
        """IA(3), IA(1,2) and DERIV(V,T,F)."""
        key = name.upper()
        if key == "DERIV":
            return self._derivative(args)
        if key[0] == "I" and key[1:] in self.frames and isinstance(self.frames[key[1:]], Body):
            label = f"{key}({','.join(str(a.args[0]) for a in args)})"
            symbol = self.symbols.get(label)
            if symbol is None:
                listed = [s.name for s in self.inertias.get(self.frames[key[1:]], [])]  # type: ignore[call-overload]
                raise ModelError(
                    f"{label} is not known. Inertia scalars of {key[1:]}: "
                    f"{', '.join(listed) or 'none'}."
                )
            return symbol
        if key in ("WHERE", "LT", "LE", "GT", "GE", "POW"):
            raise ModelError(f"{key} is not a function of the dialect")
        return None

    def _derivative(self, args: list[SyntaxNode]) -> Vector:
        if len(args) != 3:
            raise ModelError("DERIV needs three arguments: DERIV(vector,T,frame)")
        v = self.language.evaluate_syntax_tree(args[0])
        if not isinstance(v, Vector):
            raise ModelError("DERIV differentiates a vector: DERIV(vector,T,frame)")
        variable = str(args[1].args[0]).upper() if args[1].op == "name" else ""
        frame = self.frame(str(args[2].args[0]) if args[2].op == "name" else "?")
        if variable == "T":
            return self.d.motion.derivative(v, frame)
        x = self.symbols.get(variable)
        if x is None:
            raise ModelError(
                f"DERIV differentiates by T or a variable, not "
                f"'{variable}'.{did_you_mean(variable, self.symbols)}"
            )
        expressed = self.d.express(v, frame)
        return self.d.scalars.tidy_vector(self.d.scalars.partial_vector(expressed, x))

    def scalar_with_new_names(self, text: str, kind: str, location: str) -> Value:
        """The value of a formula in which single unknown names are allowed; they wait for their
        declaration."""
        known_names = self.known_names()

        def lookup(name: str) -> Value | None:
            value = self.lookup(name)
            new = (
                NAME.fullmatch(name.upper())
                and not OWN.fullmatch(name.upper())
                and name.upper() not in self.taken
            )
            if value is None and new:
                suggestion = did_you_mean(
                    name.upper(), [n for n in known_names if n not in self.waiting]
                )
                self.variable(name.upper(), kind, location)
                if kind != "coordinate":
                    self.hints.append(
                        f"{name.upper()} is not declared yet; it must be before FR.{suggestion}"
                    )
                return self.symbols[name.upper()]
            return value

        parse_formula(text, PRIMED)  # complains about the form before any name is taken
        return KaneLanguage(lookup, self.known_names, self.call).evaluate_text(text)


def autolev_text(value: object) -> str:
    """A result as the dialect writes it."""
    text = str(value).upper().replace("**", "^").replace(" ", "")
    return text.replace("+-", "-") if text else "0"


Handler = Callable[[AutolevWorkspace, tuple[str, ...]], list[str] | None]
