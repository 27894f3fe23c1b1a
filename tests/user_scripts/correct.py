"""A script of a user without a mistake: `mypy --strict` has nothing to report, and it runs."""

import bellcrank as bc
from bellcrank.choices import Method


def add_spring(
    s: bc.System, name: str, between: tuple[bc.PointLike, bc.PointLike], stiffness: bc.ScalarLike
) -> None:
    s.define(f"{name}_k", stiffness)
    s.add_strut(name, magnitude=f"-{name}_k*(x - x0)", between=between)


def pendulum(length: bc.ScalarLike, down: bc.VectorLike) -> bc.System:
    s = bc.System("pendulum", units="SI")
    rod = s.add_body("rod", rotate="y", mass="m", inertia=(0.01, 0.01, 0.01), cm=(0, 0, length))
    ball = s.add_point_mass("ball", translate=("x", 3), mass=0.5, joint_at=(1, 0, 0))
    tip = s.add_point("tip", rod, (0, 0, 2 * s.parameter("l")))
    s.add_gravity(down)
    s.add_force("drag", magnitude=-0.1 * bc.dot(bc.vel(tip), rod.x), direction=rod.x, at=tip)
    s.add_moment(
        "friction", magnitude=-0.01 * bc.tanh(10 * rod.u[1]), direction=2 * rod.y - rod[2], on=rod
    )
    add_spring(s, "spring", (tip, ball.origin), "k")
    s.add_outputs("energy", "forces")
    s.add_output("height", bc.dot(bc.pos(tip), -s.inertial.z), units="L")
    s.set_defaults(m=1, l="50 cm", k=100.0)
    return s


def main(method: Method = "rk4") -> dict[str, float]:
    eom = pendulum("l", (0, 0, 1)).equations(solve="auto")
    sim = eom.compile(backend="python")
    run = sim.simulate(
        0.5, step=0.01, method=method, initial={"q(rod)": "30 deg"}, parameters={"m": 2}
    )
    model = sim.linearize("start")
    first = model.modes[0] if len(model.modes) else None
    passes = bc.event("q(rod)", direction=-1, action={"u(rod)": "-u(rod)"})
    print(
        passes.name,
        run.message,
        run.status is bc.RunStatus.FINISHED,
        sim.backend,
        first,
        bc.choices.Backend,
    )
    return {name: float(run[name][-1]) for name in run}


if __name__ == "__main__":
    print(main())
