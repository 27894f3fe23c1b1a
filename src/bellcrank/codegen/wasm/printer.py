"""Expressions and statements of a program as instructions of WebAssembly.

What has a place in memory is loaded before the first statement that uses it; locals are used again
when their last user is behind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from bellcrank.codegen.memory import FLOAT64_BYTES, reduce_sizes
from bellcrank.codegen.schedule_steps import (
    SinCos,
    SinCosGroup,
    Step,
    VectorizedCall,
    step_expressions,
    symbols_in_order,
)
from bellcrank.codegen.wasm import encode_module as b
from bellcrank.codegen.wasm.number_pool import NumberPool
from bellcrank.codegen.wasm.sincos import SCRATCH, SinCosCode
from bellcrank.core.errors import InternalError, ModelError
from bellcrank.program.statements import (
    AssignStatement,
    CallStatement,
    NullSpaceSolve,
    SolveStatement,
)
from bellcrank.symbolic.expr import Expr, Func, Number, Product, Sum, Symbol, postorder
from bellcrank.symbolic.expr.function_table import COMPARISONS, FUNCTIONS
from bellcrank.symbolic.expr.node import PI, Rational, abs_rational

NO_ADDRESS = -1  # of what lies at fixed addresses
Function = Callable[
    [str, str, int, int], int
]  # number of an imported function: module, name, floats and addresses


class WasmPrinter:
    """Instructions of one function. `where` gives the local that holds an address (or NO_ADDRESS)
    and an offset for every symbol that lies in memory, `known` locals of others; locals from
    `first` on are free: an i32, an i64 and
    `SCRATCH` floats for sines, then floats. `numbers` keeps those of the text, `routines` are names
    of tables and user functions, `room` is the address that statements may use, `table` that of
    sines."""

    def __init__(
        self,
        addresses: Mapping[Symbol, tuple[int, int]],
        local_of_symbol: Mapping[Symbol, int],
        first: int,
        function: Function,
        numbers: NumberPool,
        routines: Mapping[object, str],
        room: int,
        table: int,
    ) -> None:
        self.where, self.known, self.function, self.numbers = (
            addresses,
            dict(local_of_symbol),
            function,
            numbers,
        )
        self.routines, self.room, self.table = routines, room, table
        self.code = bytearray()
        self._row, self._bits, self._sines = first, first + 1, range(first + 2, first + 2 + SCRATCH)
        self._floats, self._first, self._free = 0, first + 2 + SCRATCH, list[int]()
        self._last: dict[Symbol, int] = {}

    def body(self) -> bytes:
        """The function, as the module has it."""
        return b.function_body(
            [(1, b.I32), (1, b.I64), (SCRATCH + self._floats, b.F64)], bytes(self.code)
        )

    # ---- expressions

    def expr(self, root: Expr) -> bytes:
        """Instructions that leave the value on the stack; its symbols are in locals."""
        encoded: dict[Expr, bytes] = {}
        for node in postorder((root,)):
            encoded[node] = self._print_node(node, encoded)
        return encoded[root]

    def _print_node(self, node: Expr, encoded: Mapping[Expr, bytes]) -> bytes:
        if isinstance(node, Symbol):
            return self._symbol(node)
        if isinstance(node, Number):
            return self._number(node.value)
        if isinstance(node, Sum):
            return self._sum(node, encoded)
        if isinstance(node, Product):
            return self._product(node, encoded)
        if isinstance(node, Func):
            return self._function(node, [encoded[a] for a in node.args])
        raise InternalError(
            f"{type(node).__name__} reached the printer: the scheduler should have named it"
        )

    def _symbol(self, s: Symbol) -> bytes:
        if s is PI:
            return self.numbers.load_constant(math.pi)
        if s in self.known:
            return b.local_get(self.known[s])
        address, offset = self._symbol_address(s)
        return address + b.f64_load(offset)

    def _symbol_address(self, s: Symbol) -> tuple[bytes, int]:
        """Where a symbol lies in memory: instructions for an address, and how many bytes
        further."""
        local, offset = self.where[s]
        return (b.i32_const(offset), 0) if local == NO_ADDRESS else (b.local_get(local), offset)

    def _number(self, value: Rational) -> bytes:
        try:
            return self.numbers.load_constant(float(value))
        except OverflowError:
            raise ModelError(
                "a number of the model is larger than 1.8e308, which no program can hold"
            ) from None

    def _sum(self, node: Sum, encoded: Mapping[Expr, bytes]) -> bytes:
        code = b""
        for core, c in node.terms:
            term = (
                encoded[core]
                if abs(c) == 1
                else self._number(abs_rational(c)) + encoded[core] + b.MUL
            )
            code += term + ((b.SUB if c < 0 else b.ADD) if code else (b.NEG if c < 0 else b""))
        return code

    def _product(self, node: Product, encoded: Mapping[Expr, bytes]) -> bytes:
        top: list[bytes] = []
        bottom: list[bytes] = []
        if abs_rational(node.coefficient) != 1:
            top.append(self._number(abs_rational(node.coefficient)))
        for base, exponent in node.factors:
            (top if exponent > 0 else bottom).append(
                self._power(encoded[base], abs_rational(exponent))
            )
        code = _multiply_all(top) if top else b.f64_const(1.0)
        if bottom:
            code += _multiply_all(bottom) + b.DIV
        return code + (b.NEG if node.coefficient < 0 else b"")

    def _power(self, base: bytes, exponent: Rational) -> bytes:
        if exponent == 1:
            return base
        if exponent == 1 / 2:
            return base + b.SQRT
        if isinstance(exponent, int) and exponent <= 3:
            copy = self._allocate_local()
            self._free.append(copy)
            return base + b.local_tee(copy) + (b.local_get(copy) + b.MUL) * (exponent - 1)
        return base + self._number(exponent) + b.call_function(self.function("m", "pow", 2, 0))

    def _function(self, node: Func, args: list[bytes]) -> bytes:
        if node.function is not None:
            return self._routine(node.function, args)
        if node.name == "where":
            return args[1] + args[2] + _as_integer_test(node.args[0], args[0]) + b.SELECT
        instruction = FUNCTIONS[node.name].code.get("wasm")
        if instruction is not None:
            code = b"".join(args) + b.INSTRUCTIONS[instruction.name]
            return code + b.AS_FLOAT if node.name in COMPARISONS else code
        if node.name in ("sin", "cos"):
            return self._sine(node.name, *args)
        outside = FUNCTIONS[node.name].translation("javascript")
        return b"".join(args) + b.call_function(
            self.function("r" if outside.helper else "m", outside.name, len(args), 0)
        )

    def _routine(self, function: object, args: list[bytes]) -> bytes:
        """A table at its arguments."""
        return b"".join(args) + b.call_function(
            self.function("r", self.routines[function], len(args), 0)
        )

    def _sine(self, name: str, angle: bytes) -> bytes:
        x, result = self._allocate_local(), self._allocate_local()
        self._free += [x, result]
        targets = (result, None) if name == "sin" else (None, result)
        return (
            angle
            + b.local_set(x)
            + self._sincos([(b.local_get(x), *targets)])
            + b.local_get(result)
        )

    def _sincos(self, angles: Sequence[tuple[bytes, int | None, int | None]]) -> bytes:
        """Puts sines and cosines of angles into locals; those of angles that are very large come
        from Math."""
        sines = SinCosCode(self.table, self.numbers, self._sines, self._row, self._bits)
        code = sines.load_constants()
        for angle, sine, cosine in angles:
            targets = [
                (name, local)
                for name, local in (("sin", sine), ("cos", cosine))
                if local is not None
            ]
            far_code = [
                angle + b.call_function(self.function("m", name, 1, 0)) + b.local_set(local)
                for name, local in targets
            ]
            code += sines.sincos_block(angle, sine, cosine, b"".join(far_code))
        return code

    # ---- locals

    def _allocate_local(self) -> int:
        if self._free:
            return self._free.pop()
        self._floats += 1
        return self._first + self._floats - 1

    def _local_of(self, target: Symbol) -> int:
        self.known[target] = self._allocate_local()
        return self.known[target]

    def _set_local(self, target: Symbol) -> bytes:
        return b.local_set(self._local_of(target))

    def _preload_locals(self, roots: Iterable[Expr], step: int) -> None:
        """Brings what lies in memory into locals, if later steps use it, too."""
        for s in symbols_in_order(roots):
            if s is not PI and s not in self.known and self._last[s] > step:
                self.code += self._symbol(s) + self._set_local(s)

    # ---- statements

    def statements(self, steps: Sequence[Step], results: Sequence[Expr]) -> Iterator[Step]:
        """All steps, each given when it is done; `results` are needed after them."""
        for i, s in enumerate(steps):
            self._last.update(dict.fromkeys(symbols_in_order(step_expressions(s)), i))
        self._last.update(dict.fromkeys(symbols_in_order(results), len(steps)))
        permanent = set(self.known)
        for i, s in enumerate(steps):
            self._preload_locals(step_expressions(s), i)
            self._print_statement(s)
            expired = [
                x
                for x in symbols_in_order(step_expressions(s))
                if self._last.get(x) == i and x in self.known
            ]
            self._free += [self.known.pop(x) for x in expired if x not in permanent]
            yield s
        self._preload_locals(results, -1)

    def _print_statement(self, s: Step) -> None:
        if isinstance(s, AssignStatement):
            self.code += self.expr(s.value) + self._set_local(s.target)
        elif isinstance(s, SinCosGroup):
            self._angles(s.angles)
        elif isinstance(s, CallStatement):
            arguments_code = b"".join(map(self.expr, s.arguments)) + b.i32_const(self.room)
            self.code += arguments_code + b.call_function(
                self.function("r", self.routines[s.routine], len(s.arguments), 1)
            )
            self._load_targets(self.room, s.targets)
        elif isinstance(s, SolveStatement):
            self._solve(s)
        else:
            assert not isinstance(s, VectorizedCall)  # schedules for browsers have none
            self._reduce(s)

    def _angles(self, angles: Sequence[SinCos]) -> None:
        codes = [self.expr(a.value) for a in angles]
        locals_of = [
            tuple(None if x is None else self._local_of(x) for x in (a.sine, a.cosine))
            for a in angles
        ]
        self.code += self._sincos([(x, s, c) for x, (s, c) in zip(codes, locals_of, strict=True)])

    def _solve(self, s: SolveStatement) -> None:
        n = len(s.right)
        right_address = self.room + FLOAT64_BYTES * n * n
        for i, row in enumerate(s.matrix):
            for j, x in enumerate(row[: i + 1]):
                self.store(self.room + FLOAT64_BYTES * (i * n + j), x)
        for i, x in enumerate(s.right):
            self.store(right_address + FLOAT64_BYTES * i, x)
        self.code += (
            b.i32_const(n)
            + b.i32_const(self.room)
            + b.i32_const(right_address)
            + b.call_function(self.function("r", "solve", 0, 3))
        )
        self._load_targets(right_address, s.targets)

    def _reduce(self, s: NullSpaceSolve) -> None:
        address, addresses = self.room, []
        for count in reduce_sizes(s):
            addresses.append(address)
            address += FLOAT64_BYTES * count
        blocks = (
            [x for row in s.mass for x in row],
            s.force,
            [x for row in s.rows for x in row],
            s.right,
        )
        for start, values in zip(addresses, blocks, strict=False):
            for i, x in enumerate(values):
                self.store(start + FLOAT64_BYTES * i, x)
        self.code += b"".join(map(b.i32_const, addresses)) + b.call_function(
            self.function("r", "constrained_rates", 0, 5)
        )
        self._load_targets(addresses[-1], s.targets)

    def store(self, address: int, value: Expr, base: bytes | None = None) -> None:
        base, further = (b.i32_const(address), 0) if base is None else (base, address)
        self.code += base + self.expr(value) + b.f64_store(further)

    def _load_targets(self, address: int, targets: Sequence[Symbol | None]) -> None:
        for i, t in enumerate(targets):
            if t is not None and t in self._last:
                self.code += (
                    b.i32_const(address + FLOAT64_BYTES * i) + b.f64_load(0) + self._set_local(t)
                )


def _multiply_all(factors: Sequence[bytes]) -> bytes:
    return factors[0] + b"".join(factor + b.MUL for factor in factors[1:])


def _as_integer_test(node: Expr, code: bytes) -> bytes:
    """Whether a value is not zero, as an integer, which a comparison is before it becomes a
    value."""
    compared = isinstance(node, Func) and node.function is None and node.name in COMPARISONS
    return code[: -len(b.AS_FLOAT)] if compared else code + b.f64_const(0.0) + b.NE
