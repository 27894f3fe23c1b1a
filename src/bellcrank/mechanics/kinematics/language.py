"""The whole model language: vectors, points, velocities, forces. What a formula means once the
machine is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.mechanics.kinematics.body_motion import Kinematics
from bellcrank.model.formula import to_syntax
from bellcrank.model.loads.load import BodyPoint
from bellcrank.model.owner import check_owner
from bellcrank.model.scope import FormulaScope, _formula_error, _kind_phrase, referenced_name
from bellcrank.symbolic.expr import Expr, Symbol, derivative, partial
from bellcrank.symbolic.expr.formula_parser import SyntaxNode
from bellcrank.symbolic.vector.basis import (
    NULL,
    UnitVector,
    Vector,
    angle,
    cross,
    direction,
    dot,
    magnitude,
    project,
)
from bellcrank.symbolic.vector.basis import as_vector as vector

Forces = Mapping[str, Callable[[], Expr]]
PRODUCTS: dict[str, Callable[..., Any]] = {
    "dot": dot,
    "cross": cross,
    "angle": angle,
    "direction": direction,
    "dir": direction,
    "magnitude": magnitude,
    "mag": magnitude,
    "norm": magnitude,
    "project": project,
    "dplane": project,
}


class FormulaLanguage(FormulaScope):
    """A scope that knows the mechanism."""

    def __init__(
        self,
        scope: FormulaScope,
        kinematics: Kinematics,
        points: dict[str, BodyPoint],
        forces: Forces,
    ) -> None:
        self.__dict__.update(scope.__dict__)
        self.k = kinematics
        self.points = points  # by name
        self.forces = forces  # by name: a function that gives the magnitude
        self.bodies = {b.name: b.index for b in kinematics.mechanism.bodies}
        self.bodies.setdefault("n", -1)
        self.clear_cache()  # a name may stand for something else once the machine is known

    # ---- names

    def body_index(self, reference: Any, node: SyntaxNode | None = None) -> int:
        """Index of a body given by object, name or text."""
        name = referenced_name(reference)
        if not isinstance(name, str):
            raise _formula_error(
                node, f"a body is needed here, but this is {_kind_phrase(reference)}"
            )
        check_owner(name, self.description, "body")
        if name not in self.bodies:
            body_names = [b.name for b in self.k.mechanism.bodies]
            bodies = f"{did_you_mean(name, body_names)} Bodies: {', '.join(['n', *body_names])}."
            raise _formula_error(node, f"no body has the name '{name}'.{bodies}")
        return self.bodies[name]

    def point(self, reference: Any, node: SyntaxNode | None = None) -> BodyPoint:
        """A point given by object, name or text."""
        if reference is None or isinstance(reference, BodyPoint):
            return reference or BodyPoint("o", -1, NULL)
        name = referenced_name(reference)
        if not isinstance(name, str):
            raise _formula_error(
                node, f"a point is needed here, but this is {_kind_phrase(reference)}"
            )
        check_owner(name, self.description, "point")
        if name in self.points:
            short = self._short_point(name)
            if short is not None and "." not in name:
                clash = f"is a point of that name and also short for '{short.name}'"
                raise _formula_error(
                    node, f"'{name}' {clash}: rename the point or write '{short.name}'"
                )
            return self.points[name]
        if name in ("o", "n.origin"):
            return BodyPoint("o", -1, NULL)
        point = self._long_point(name) or self._short_point(name)
        if point is None:
            point_names = [
                *(p.name for p in self.points.values()),
                *(f"{b.name}.origin" for b in self.k.mechanism.bodies),
            ]
            points = f"{did_you_mean(name, point_names)} Points: {', '.join(['o', *point_names])}."
            if name in self.bodies:
                points = (
                    f" It is a body, with the points '{name}.origin', '{name}.cm' and "
                    f"'{name}.joint'."
                )
            raise _formula_error(node, f"no point has the name '{name}'.{points}")
        return point

    def _long_point(self, key: str) -> BodyPoint | None:
        head, _, tail = key.rpartition(".")
        is_body_point = head in self.bodies and tail in ("origin", "joint", "cm")
        return self._body_point(self.bodies[head], tail) if is_body_point else None

    def _short_point(self, key: str) -> BodyPoint | None:
        for ending, tail in (("0", "origin"), ("j", "joint"), ("cm", "cm")):
            head = key[: -len(ending)]
            if key.endswith(ending) and head in self.bodies and key not in self.bodies:
                return self._body_point(self.bodies[head], tail)
        return None

    def _body_point(self, index: int, tail: str) -> BodyPoint | None:
        if index < 0:
            return BodyPoint("o", -1, NULL) if tail == "origin" else None
        b = self.k.mechanism.bodies[index]
        name = f"{b.name}.{tail}"
        if tail == "joint":
            return BodyPoint(name, b.parent, b.joint.at)
        return BodyPoint(name, index, b.cm if tail == "cm" else NULL)

    def unit_vector(self, node: SyntaxNode) -> Vector:
        name, axis = node.args
        return vector(self.k.frames[self.body_index(name, node)].axes[axis - 1])

    # ---- values

    def vector(self, value: Any) -> Vector:
        """The vector that a formula or text stands for."""
        node = to_syntax(value)
        return self.as_vector(self.evaluate(node), node)

    def as_vector(self, value: Any, node: SyntaxNode) -> Vector:
        value = self.resolve_name(value)
        if isinstance(value, Vector | UnitVector):
            return vector(value)
        raise _formula_error(
            node,
            f"a vector is needed here, but this is "
            f"{_kind_phrase(value)}{self._unit_vector_suggestion(node)}",
        )

    def _unit_vector_suggestion(self, node: SyntaxNode) -> str:
        """How a unit vector is written, where one seems to be meant."""
        text = str(node.args[0]) if node.op == "name" else ""
        if text[:-1].removesuffix(".") in self.bodies and text[-1:] in (
            "1",
            "2",
            "3",
            "x",
            "y",
            "z",
        ):
            return f"; the unit vector is written [{text}]"
        return "; axes of the ground are written [n1], [n2], [n3] or as three components"

    def motion_function(self, key: str, node: SyntaxNode, arguments: list[Any]) -> Any:
        k, children = self.k, node.children
        match key:
            case "q" | "u":
                s = self.state_symbol(key, node, arguments)
                return k.speed.get(s, s)
            case "qp":
                return k.rates[self.state_symbol("q", node, arguments)]
            case "up":
                return self.dxdt(self.motion_function("u", node, arguments), node)
            case "pos" | "vel":
                points = [self.point(p, c) for p, c in zip(arguments, children, strict=True)]
                vector_to = k.position if key == "pos" else k.velocity
                return (
                    vector_to(points[0]) - vector_to(points[1])
                    if len(points) == 2
                    else vector_to(points[0])
                )
            case "rot":
                return k.w[self.body_index(arguments[0], children[0])]
            case "dxdt":
                return self.dxdt(self.resolve_name(arguments[0]), node)
            case "nominal":
                value = self.resolve_name(arguments[0])
                if isinstance(value, Expr):
                    return k.with_drawn_values(value)
                return Vector.from_pairs(
                    (e, k.with_drawn_values(c))
                    for e, c in self.as_vector(value, children[0]).terms.items()
                )
            case "partial":
                e, x = (self.as_scalar(p, c) for p, c in zip(arguments, children, strict=True))
                if not isinstance(x, Symbol):
                    raise _formula_error(
                        node, f"partial() differentiates with respect to a symbol, not {x}"
                    )
                return partial(e, x)
            case "fm":
                return self.force_magnitude(arguments[0], node)
        vectors = [self.as_vector(p, c) for p, c in zip(arguments, children, strict=True)]
        if key in ("direction", "dir", "magnitude", "mag", "norm") and not vectors[0]:
            raise _formula_error(node, f"{key}() of a vector that is zero")
        return PRODUCTS[key](*vectors)

    def dxdt(self, value: Any, node: SyntaxNode) -> Any:
        try:
            if isinstance(value, Expr):
                return derivative(value, self.k.symbol_derivative)
            return self.k.derivative(self.as_vector(value, node))
        except ModelError as error:
            raise _formula_error(node, str(error)) from None

    def force_magnitude(self, load: Any, node: SyntaxNode) -> Expr:
        name: str = referenced_name(load) or ""
        check_owner(name, self.description, "force")
        if name not in self.forces:
            load_names = [f.name for f in self.description.forces]
            raise _formula_error(
                node, f"no force or moment has the name '{name}'.{did_you_mean(name, load_names)}"
            )
        return self.forces[name]()
