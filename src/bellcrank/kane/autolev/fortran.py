"""The FORTRAN program that CODE writes: reads name.IN, asks for TMAX, PSTEP and STEP, writes
name.OU1 and others.

In:  a `ProgramLayout`. Out: FORTRAN 77 in fixed form. The statements are those of the `Program`
that runs everywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import ClassVar

from bellcrank.codegen.printer import ATOM, UNARY, CodePrinter, Piece
from bellcrank.core.errors import InternalError, ModelError
from bellcrank.core.files.template import fill_template, template_text
from bellcrank.kane.autolev.program_layout import OutputFile, ProgramLayout
from bellcrank.program.statements import (
    AssignStatement,
    SolveStatement,
    Statement,
    statement_targets,
)
from bellcrank.symbolic.expr import Func, Symbol
from bellcrank.symbolic.expr.function_table import FUNCTIONS, function_names_in
from bellcrank.symbolic.expr.node import Rational

RESERVED = {
    "T",
    "U",
    "UDOT",
    "Z",
    "C",
    "OUT",
    "X",
    "A",
    "B",
    "PI",
    "TMAX",
    "PSTEP",
    "STEP",
    "STEP0",
    "NCUTS",
    "HC",
    "IERR",
    "NPSTEP",
    "NSTEPS",
    "COUNT",
    "I",
    "J",
    "K",
    "MSG",
    "EQNS",
    "OUTPS",
    "CONSTS",
    "DEQS",
    "SOLVE",
    "SETTLE",
    "R",
    "SIGN",
    "IF",
    *(name.upper() for name in function_names_in("fortran").values()),
    "DO",
    "END",
    "READ",
    "WRITE",
    "STOP",
    "CALL",
    "DABS",
    "RETURN",
    "INT",
    "COEF",
    "RHS",
    "SOL",
}
_FOLDER = "bellcrank.kane.autolev/templates"
WIDTH = 66  # characters of a statement on one line: columns 7 to 72


class AutolevFortranPrinter(CodePrinter):
    """Double-precision expressions."""

    FUNCTIONS: ClassVar[Mapping[str, str]] = {
        f.name: f.code["fortran77"].name
        if "fortran77" in f.code
        else f.translation("fortran").name.upper()
        for f in FUNCTIONS.values()
        if "fortran77" in f.code or not f.translation("fortran").helper
    }
    PI_TEXT = "3.141592653589793D0"

    def print_number(self, value: Rational) -> str:
        text = repr(float(value))
        mantissa, _, exponent = text.partition("e")
        return f"{mantissa}D{int(exponent or 0)}"

    def print_integer_power(self, base: str, exponent: int) -> str:
        return f"{base}**{exponent}"

    def print_power(self, base: Piece, exponent: Rational) -> str:
        if isinstance(exponent, int) or exponent in (1, 0.5):
            return super().print_power(base, exponent)
        return f"{self.parenthesize(base, ATOM)}**{self.print_number(exponent)}"

    def print_function(self, node: Func, args: list[Piece]) -> Piece:
        if node.function is None and node.name == "pow":
            return f"{self.parenthesize(args[0], ATOM)}**({args[1][0]})", UNARY
        if node.function is None and node.name not in self.FUNCTIONS:
            raise ModelError(
                f"CODE writes no programs with {node.name}(), which FORTRAN does not have"
            )
        return super().print_function(node, args)


class ProgramWriter:
    """Writes the text of name.FOR."""

    def __init__(self, plan: ProgramLayout) -> None:
        self.plan, self.program, self.derivation = (
            plan,
            plan.equations.program,
            plan.equations.derivation,
        )
        self.states = (*self.program.speeds, *self.program.coordinates)
        self.files = list(enumerate(plan.files, 12))  # with the numbers of their units
        if self.program.inputs or self.program.routines:
            raise ModelError("CODE writes no programs with run-time inputs or user functions")
        self.names = self._symbol_names()
        self.printer = AutolevFortranPrinter(self.names)
        self.intermediate: dict[str, int] = {}

    def _symbol_names(self) -> dict[Symbol, str]:
        names: dict[Symbol, str] = {Symbol("t", "time"): "T"}
        names |= {s: f"U({i})" for i, s in enumerate(self.states, 1)}
        used_names = set(RESERVED)
        for s in self.derivation.scalars.constants:
            base = re.sub(r"[^A-Z0-9]+", "", s.name.upper()) or "P"
            name, k = base, 2
            while name in used_names or not name[0].isalpha():
                name, k = f"{base if base[0].isalpha() else 'P' + base}{k}", k + 1
            used_names.add(name)
            names[s] = name
        return names | {s: f"C({i})" for i, s in enumerate(self.program.constant_symbols, 1)}

    def program_source(self, with_subroutines: bool) -> str:
        units = [
            self._main_program(),
            self._constants_subroutine(),
            self._equations_subroutine(),
            self._output_subroutine(),
            self._normalize_subroutine(),
        ]
        solves = any(isinstance(s, SolveStatement) for s in self.program.derivatives.statements)
        if with_subroutines:
            units.append(
                fill_template(template_text(_FOLDER, "deqs.f"), {"N": str(len(self.states))})
            )
            units += [template_text(_FOLDER, "solve.f")] if solves else []
        return "\n".join(part.rstrip("\n") for part in units) + "\n"

    # ---- pieces

    def _common_block(self) -> list[str]:
        sections = (self.program.derivatives, self.program.outputs)
        targets = {
            t for section in sections for s in section.statements for t in statement_targets(s)
        }
        lines = [
            f"COMMON/CZEES/Z({max(len(targets), 1)})",
            f"COMMON/CCON/C({max(len(self.program.constant_symbols), 1)})",
        ]
        parameters = [self.names[s] for s in self.derivation.scalars.constants]
        return lines + ([f"COMMON/CPAR/{','.join(parameters)}"] if parameters else [])

    def _subroutine(
        self, title: str, sizes: str, body: list[str], comment: Iterable[str] = ()
    ) -> str:
        head = ["!", *comment, f"SUBROUTINE {title}", "IMPLICIT DOUBLE PRECISION (A-Z)"]
        return _fixed_form(
            [
                *head,
                *([f"DIMENSION {sizes}"] if sizes else []),
                *self._common_block(),
                *body,
                "RETURN",
                "END",
            ]
        )

    def _statements(self, statements: Iterable[Statement]) -> list[str]:
        lines: list[str] = []
        for s in statements:
            if isinstance(s, AssignStatement):
                value = self.printer.print_expression(s.value)  # before its target has a name
                lines.append(f"{self._target_name(s.target)} = {value}")
            elif isinstance(s, SolveStatement):
                n = len(s.targets)
                for i, row in enumerate(s.matrix, 1):
                    lines += [
                        f"COEF({i},{j}) = {self.printer.print_expression(x)}"
                        for j, x in enumerate(row, 1)
                    ]
                    lines.append(f"RHS({i}) = {self.printer.print_expression(s.right[i - 1])}")
                lines.append(f"CALL SOLVE({n},COEF,RHS,SOL)")
                lines += [f"{self._target_name(t)} = SOL({i})" for i, t in enumerate(s.targets, 1)]
            else:
                raise InternalError("a user function reached CODE")
        return lines

    def _target_name(self, s: Symbol) -> str:
        if s not in self.printer.names:
            self.intermediate[s.name] = len(self.intermediate) + 1
            self.printer.names[s] = f"Z({self.intermediate[s.name]})"
        return self.printer.names[s]

    def _constants_subroutine(self) -> str:
        assignments = [
            s for s in self.program.constants.statements if isinstance(s, AssignStatement)
        ]
        body = [
            f"{self.names[s.target]} = {self.printer.print_expression(s.value)}"
            for s in assignments
        ]
        return self._subroutine("CONSTS", "", body)

    def _equations_subroutine(self) -> str:
        section, n, n_q = self.program.derivatives, len(self.states), len(self.program.coordinates)
        body = self._statements(section.statements)
        rates = [*section.results[n_q:], *section.results[:n_q]]
        body += [f"UDOT({i}) = {self.printer.print_expression(r)}" for i, r in enumerate(rates, 1)]
        m = next((len(s.targets) for s in section.statements if isinstance(s, SolveStatement)), 0)
        extra = f",COEF({m},{m}),RHS({m}),SOL({m})" if m else ""
        comment = [f"! U{i} IS {s.name}" for i, s in enumerate(self.states, 1)]
        return self._subroutine("EQNS(T,U,UDOT)", f"U({n}),UDOT({n}){extra}", body, comment)

    def _output_subroutine(self) -> str:
        """Channels; intermediate results are those of the last call of EQNS."""
        section = self.program.outputs
        body = self._statements(section.statements)
        body += [
            f"OUT({i}) = {self.printer.print_expression(r)}"
            for i, r in enumerate(section.results, 1)
        ]
        sizes = f"U({len(self.states)}),OUT({max(len(self.program.output_names), 1)})"
        return self._subroutine("OUTPS(T,U,OUT)", sizes, body)

    def _normalize_subroutine(self) -> str:
        """Euler parameters are kept at unit size."""
        lines = [
            "!",
            "SUBROUTINE SETTLE(U)",
            "IMPLICIT DOUBLE PRECISION (A-Z)",
            f"DIMENSION U({len(self.states)})",
        ]
        for four in self.derivation.euler.values():
            e = [self.names[x] for x in four]
            lines.append(f"R = SQRT({'+'.join(f'{x}**2' for x in e)})")
            lines += [f"{x} = {x}/R" for x in e]
        return _fixed_form([*lines, "RETURN", "END"])

    def _main_program(self) -> str:
        """The program: what it reads, the heads of its files, and its steps."""
        heads = [line for unit, f in self.files for line in self._file_head(unit, f)]
        return _fixed_form(
            [*self._main_declarations(), *self._read_statements(), *heads, *self._step_loop()]
        )

    def _main_declarations(self) -> list[str]:
        plan, name = self.plan, self.plan.name
        n, n_out = len(self.states), max(len(self.program.output_names), 1)
        return [
            f"! THE NAME OF THIS PROGRAM IS {name}.FOR",
            "! WRITTEN BY BELLCRANK",
            "!",
            f"! IT READS {name}.IN",
            "! IN THE ORDER OF THE READ STATEMENTS BELOW, ASKS FOR A MESSAGE AND",
            "! FOR TMAX, PSTEP, STEP (FINAL TIME, TIME BETWEEN ROWS OF OUTPUT,",
            "! LARGEST STEP OF INTEGRATION), AND WRITES",
            *(f"!   {name}.{f.suffix}" for f in plan.files),
            "!",
            "IMPLICIT DOUBLE PRECISION (A-Z)",
            "INTEGER J,NCUTS,IERR,NPSTEP,NSTEPS,COUNT",
            "CHARACTER*75 MSG",
            f"DIMENSION U({n}),UDOT({n}),OUT({n_out})",
            *self._common_block(),
            f"OPEN(UNIT=11,FILE='{name}.IN',STATUS='OLD')",
        ]

    def _read_statements(self) -> list[str]:
        plan, name = self.plan, self.plan.name
        return [
            *(
                f"OPEN(UNIT={unit},FILE='{name}.{f.suffix}',STATUS='UNKNOWN')"
                for unit, f in self.files
            ),
            *(f"READ(11,*) {','.join(self.names[s] for s in group)}" for group in plan.groups),
            "WRITE(*,'(A)') ' INPUT A DESCRIPTION OF THIS RUN'",
            "READ(*,'(A75)') MSG",
            "WRITE(*,'(A)') ' INPUT TMAX, PSTEP, STEP'",
            "READ(*,*) TMAX,PSTEP,STEP0",
            "NPSTEP = INT((PSTEP-1.0D-8)/STEP0+1)",
            "STEP = PSTEP/NPSTEP",
        ]

    def _step_loop(self) -> list[str]:
        name, n = self.plan.name, len(self.states)
        variable_of = {s.name: self.names[s] for s in self.states}
        variable_of |= {o: f"OUT({i})" for i, o in enumerate(self.program.output_names, 1)}
        return [
            "CALL CONSTS",
            "CALL SETTLE(U)",
            "HC = 0.0D0",
            "T = 0.0D0",
            "NCUTS = 20",
            "COUNT = 0",
            "NSTEPS = INT(TMAX/STEP+0.1D0)+1",
            "DO 1000 J=1,NSTEPS",
            "IF (COUNT.EQ.NPSTEP.OR.COUNT.EQ.0) THEN",
            "CALL EQNS(T,U,UDOT)",
            "CALL OUTPS(T,U,OUT)",
            *(
                f"WRITE({unit},6005) T,{','.join(variable_of[c.channel] for c in f.columns)}"
                for unit, f in self.files
            ),
            "COUNT = 0",
            "ENDIF",
            "COUNT = COUNT+1",
            "IF (J.EQ.NSTEPS) GOTO 1000",
            f"CALL DEQS({n},T,STEP,HC,NCUTS,U,IERR)",
            "IF (IERR.NE.0) THEN",
            "WRITE(*,'(A)') ' STEPSIZE HALVED TOO MANY TIMES'",
            "STOP 1",
            "ENDIF",
            "1000 CONTINUE",
            "WRITE(*,'(A)') ' OUTPUT IS ON FILES:'",
            *(f"WRITE(*,'(A)') '   {name}.{f.suffix}'" for f in self.plan.files),
            "6005 FORMAT(6(1X,1PE12.5))",
            "6006 FORMAT(A15,' = ',1PE12.5,1X,A)",
            "STOP",
            "END",
        ]

    def _file_head(self, unit: int, f: OutputFile) -> list[str]:
        plan, name = self.plan, self.plan.name
        lines = [
            f"WRITE({unit},'(A)') ' FILE: {name}.{f.suffix}  (OUTPUT FROM PROGRAM {name}.FOR)'",
            f"WRITE({unit},'(/A,A75)') ' *** ',MSG",
        ]
        if f.suffix.startswith("OU"):
            lines.append(f"WRITE({unit},'(//A)') ' SYSTEM PARAMETERS'")
            for head, rows in plan.listed_groups():
                lines += [f"WRITE({unit},'(//A)') ' INITIAL CONDITIONS'"] if head else []
                lines.append(f"WRITE({unit},'(A)') ' '")
                for label, s, unit_text in rows:
                    lines.append(
                        f"WRITE({unit},6006) "
                        f"'{label:>15}',{self.names[s]},'{_without_quotes(unit_text)}'"
                    )
            lines.append(f"WRITE({unit},'(A)') ' '")
            time = _without_quotes(plan.units.get("T", ""))
            lines += [
                f"WRITE({unit},6006) '{x:>15}',{x},'{time}'" for x in ("TMAX", "PSTEP", "STEP")
            ]
        lines.append(f"WRITE({unit},'(//A/)') ' SIMULATION RESULTS'")
        for row in plan.column_heads(f):
            lines.append(
                f"WRITE({unit},'({len(row)}(1X,A12))') "
                f"{','.join(repr(_without_quotes(x).center(12)) for x in row)}"
            )
        lines.append(f"WRITE({unit},'(A)') ' '")
        return lines


def _without_quotes(text: str) -> str:
    return text.replace("'", "")


def _fixed_form(lines: Iterable[str]) -> str:
    """Statements in fixed form: labels in columns 1 to 5, continuation in column 6, nothing after
    column 72."""
    output: list[str] = []
    for line in lines:
        if line.startswith("!"):
            output.append(f"C {line[1:].strip()}".rstrip()[:72])
            continue
        label, statement = "", line
        if line[0].isdigit():
            label, _, statement = line.partition(" ")
        first, *continuations = _break_statement(statement)
        output += [
            f"{label:>5} {first}",
            *(f"     &{continuation}" for continuation in continuations),
        ]
    return "\n".join(output)


def _break_statement(statement: str) -> list[str]:
    """Pieces of up to 66 characters, broken between tokens and never inside quoted text."""
    tokens = re.findall(
        r"'(?:[^']|'')*'|[A-Z][A-Z0-9]*|[0-9.]+(?:D[+-]?[0-9]+)?|\*\*|\s+|.", statement
    )
    lines, line = [], ""
    for token in tokens:
        if len(line) + len(token) > WIDTH and line:
            lines.append(line)
            line = ""
        line += token
        while len(line) > WIDTH:  # a quoted text longer than a line continues in the next one
            lines.append(line[:WIDTH])
            line = line[WIDTH:]
    return [*lines, line]
