"""The whole model language: vectors, points, velocities, forces. What a formula means once the machine is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.expr import Expr, Symbol, derivative, partial
from bellcrank.expr.text import Syntax
from bellcrank.kinematics.body_motion import Kinematics
from bellcrank.model.formula import to_syntax
from bellcrank.model.loads.load import Point
from bellcrank.model.owner import check_owner
from bellcrank.model.scope import Scope, _fail, _what, name_in
from bellcrank.vector.basis import NULL, UnitVector, Vector, angle, cross, direction, dot, magnitude, project, vector

Forces = Mapping[str, Callable[[], Expr]]
PRODUCTS: dict[str, Callable[..., Any]] = {
    "dot": dot, "cross": cross, "angle": angle, "direction": direction, "dir": direction, "magnitude": magnitude,
    "mag": magnitude, "norm": magnitude, "project": project, "dplane": project,
}  # fmt: skip


class Language(Scope):
    """A scope that knows the mechanism."""

    def __init__(self, scope: Scope, kinematics: Kinematics, points: dict[str, Point], forces: Forces) -> None:
        self.__dict__.update(scope.__dict__)
        self.k = kinematics
        self.points = points  # by name
        self.forces = forces  # by name: a function that gives the magnitude
        self.bodies = {b.name: b.index for b in kinematics.mechanism.bodies}
        self.bodies.setdefault("n", -1)
        self.forget()  # a name may stand for something else once the machine is known

    # ---- names

    def body(self, reference: Any, node: Syntax | None = None) -> int:
        """Index of a body given by object, name or text."""
        name = name_in(reference)
        if not isinstance(name, str):
            raise _fail(node, f"a body is needed here, but this is {_what(reference)}")
        check_owner(name, self.description, "body")
        if name not in self.bodies:
            body_names = [b.name for b in self.k.mechanism.bodies]
            bodies = f"{did_you_mean(name, body_names)} Bodies: {', '.join(['n', *body_names])}."
            raise _fail(node, f"no body has the name '{name}'.{bodies}")
        return self.bodies[name]

    def point(self, reference: Any, node: Syntax | None = None) -> Point:
        """A point given by object, name or text."""
        if reference is None or isinstance(reference, Point):
            return reference or Point("o", -1, NULL)
        name = name_in(reference)
        if not isinstance(name, str):
            raise _fail(node, f"a point is needed here, but this is {_what(reference)}")
        check_owner(name, self.description, "point")
        if name in self.points:
            short = self._short_point(name)
            if short is not None and "." not in name:
                clash = f"is a point of that name and also short for '{short.name}'"
                raise _fail(node, f"'{name}' {clash}: rename the point or write '{short.name}'")
            return self.points[name]
        if name in ("o", "n.origin"):
            return Point("o", -1, NULL)
        point = self._long_point(name) or self._short_point(name)
        if point is None:
            point_names = [
                *(p.name for p in self.points.values()),
                *(f"{b.name}.origin" for b in self.k.mechanism.bodies),
            ]
            points = f"{did_you_mean(name, point_names)} Points: {', '.join(['o', *point_names])}."
            if name in self.bodies:
                points = f" It is a body, with the points '{name}.origin', '{name}.cm' and '{name}.joint'."
            raise _fail(node, f"no point has the name '{name}'.{points}")
        return point

    def _long_point(self, key: str) -> Point | None:
        head, _, tail = key.rpartition(".")
        is_body_point = head in self.bodies and tail in ("origin", "joint", "cm")
        return self._body_point(self.bodies[head], tail) if is_body_point else None

    def _short_point(self, key: str) -> Point | None:
        for ending, tail in (("0", "origin"), ("j", "joint"), ("cm", "cm")):
            head = key[: -len(ending)]
            if key.endswith(ending) and head in self.bodies and key not in self.bodies:
                return self._body_point(self.bodies[head], tail)
        return None

    def _body_point(self, index: int, tail: str) -> Point | None:
        if index < 0:
            return Point("o", -1, NULL) if tail == "origin" else None
        b = self.k.mechanism.bodies[index]
        name = f"{b.name}.{tail}"
        if tail == "joint":
            return Point(name, b.parent, b.joint.at)
        return Point(name, index, b.cm if tail == "cm" else NULL)

    def unit_vector(self, node: Syntax) -> Vector:
        name, axis = node.args
        return vector(self.k.frames[self.body(name, node)].axes[axis - 1])

    # ---- values

    def vector(self, value: Any) -> Vector:
        """The vector that a formula or text stands for."""
        node = to_syntax(value)
        return self.as_vector(self.value(node), node)

    def as_vector(self, value: Any, node: Syntax) -> Vector:
        value = self.settle(value)
        if isinstance(value, Vector | UnitVector):
            return vector(value)
        raise _fail(node, f"a vector is needed here, but this is {_what(value)}{self._meant(node)}")

    def _meant(self, node: Syntax) -> str:
        """How a unit vector is written, where one seems to be meant."""
        text = str(node.args[0]) if node.op == "name" else ""
        if text[:-1].removesuffix(".") in self.bodies and text[-1:] in ("1", "2", "3", "x", "y", "z"):
            return f"; the unit vector is written [{text}]"
        return "; axes of the ground are written [n1], [n2], [n3] or as three components"

    def mechanical(self, key: str, node: Syntax, arguments: list[Any]) -> Any:
        k, children = self.k, node.children
        match key:
            case "q" | "u":
                s = self.state(key, node, arguments)
                return k.speed.get(s, s)
            case "qp":
                return k.rates[self.state("q", node, arguments)]
            case "up":
                return self.dxdt(self.mechanical("u", node, arguments), node)
            case "pos" | "vel":
                points = [self.point(p, c) for p, c in zip(arguments, children, strict=True)]
                vector_to = k.position if key == "pos" else k.velocity
                return vector_to(points[0]) - vector_to(points[1]) if len(points) == 2 else vector_to(points[0])
            case "rot":
                return k.w[self.body(arguments[0], children[0])]
            case "dxdt":
                return self.dxdt(self.settle(arguments[0]), node)
            case "nominal":
                value = self.settle(arguments[0])
                if isinstance(value, Expr):
                    return k.nominal(value)
                return Vector.of((e, k.nominal(c)) for e, c in self.as_vector(value, children[0]).terms.items())
            case "partial":
                e, x = (self.as_scalar(p, c) for p, c in zip(arguments, children, strict=True))
                if not isinstance(x, Symbol):
                    raise _fail(node, f"partial() differentiates with respect to a symbol, not {x}")
                return partial(e, x)
            case "fm":
                return self.force_magnitude(arguments[0], node)
        vectors = [self.as_vector(p, c) for p, c in zip(arguments, children, strict=True)]
        if key in ("direction", "dir", "magnitude", "mag", "norm") and not vectors[0]:
            raise _fail(node, f"{key}() of a vector that is zero")
        return PRODUCTS[key](*vectors)

    def dxdt(self, value: Any, node: Syntax) -> Any:
        try:
            if isinstance(value, Expr):
                return derivative(value, self.k.rate_of)
            return self.k.derivative(self.as_vector(value, node))
        except ModelError as error:
            raise _fail(node, str(error)) from None

    def force_magnitude(self, load: Any, node: Syntax) -> Expr:
        name: str = name_in(load) or ""
        check_owner(name, self.description, "force")
        if name not in self.forces:
            load_names = [f.name for f in self.description.forces]
            raise _fail(node, f"no force or moment has the name '{name}'.{did_you_mean(name, load_names)}")
        return self.forces[name]()
