"""Formula Student corner: Houdek (2020), chapter 5, with a point mass of 10 kg at the wheel centre.

`case="drop"`: free fall of the wheel from travel +0.1 m under gravity. The bell crank would reach a
dead point at +0.091 m, so it is omitted, as it carries no load here. `case="spring"`: released at
rest from the drawn position with the spring (3500 N/m, 50 N s/m) at the crank. The source does not
give two things; read here as: travel counts from the drawn position, and the spring is unloaded
there. With this reading its published differences come out at the published relative size.
`pushrod="upper_arm"` puts the push rod's end N on the upper arm, where it is on the car; the
source's joint could only carry it on the wheel carrier. `arms=True` gives the arms mass.
"""

import tomllib
from functools import cache
from pathlib import Path

import bellcrank as bc
from bellcrank.linkage import double_wishbone, formula_pushrod, shipped


@cache
def linkage(case="spring", pushrod="carrier"):
    """The linkage of a case."""
    data = tomllib.loads(Path(shipped("formula_student")).read_text(encoding="utf-8"))
    if case == "spring":
        data["attach"]["pushrod_outer"] = pushrod
        return formula_pushrod(data)
    points = {
        n: p for n, p in data["points"].items() if n.startswith(("lower", "upper", "tie", "wheel"))
    }
    return double_wishbone(
        points, name="formula_student_arms", units="m", axes="ISO 8855", side="right"
    )


def model(case="spring", exact=True, pushrod="carrier", arms=False):
    """One degree of freedom, SI units."""
    s = bc.System("Formula Student corner", units="mks", axes="ISO 8855")
    chain = linkage(case, pushrod)
    wheel = s.add_body(
        "wheel", mass=10, inertia=0, joint_at=chain.points["wheel_centre"], label="wheel carrier"
    )
    span = (-0.19, 0.12) if case == "drop" else (-0.075, 0.06)
    joint = s.add_linkage(
        "corner",
        chain if exact else chain.table(accuracy=1e-9, range=span),
        carrier=wheel,
        exact=exact,
    )
    s.add_gravity(g=9.81)
    if case == "spring":
        length = 0.170999730655
        joint.add_spring("spring", "spring", stiffness=3500, damping=50, free_length=length)
    if arms:
        for name, mass in (("lower_arm", 1.2), ("upper_arm", 0.9)):
            joint.link(name, mass=mass, inertia=(0.012, 0.02, 0.03), cm=_middle(chain, name[:5]))
    s.add_output("z", "dot(pos(wheel.origin), [n3])", label="height of the wheel centre", units="L")
    for i in (1, 2, 3):
        s.add_output(
            f"w{i}", f"dot(rot(wheel), [n{i}])", label=f"angular velocity, axis {i}", units="A/T"
        )
    s.set_run(
        t_end=0.25 if case == "drop" else 2,
        step=0.0005,
        initial={joint.q: 0.1 if case == "drop" else 0.0},
    )
    return s


def _middle(chain, level):
    ends = [chain.points[f"{level}_{p}"] for p in ("front", "rear", "ball")]
    return tuple(sum(p[i] for p in ends) / 3 for i in range(3))


if __name__ == "__main__":
    print(model().equations().summary())
