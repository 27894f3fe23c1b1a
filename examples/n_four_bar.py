"""Row of n four-bar linkages: n windows of unit links, one degree of freedom, positions in which
all links lie on one line.

Gonzalez, Dopico, Lugris & Cuadrado (2006), A benchmarking system for MBS simulation software,
Multibody System Dynamics 16, 179-190; IFToMM library of computational benchmark problems, planar
example "N-four-bar". Uniform rods of 1 m and 1 kg under gravity; the cranks start upright, their
tips moving at 1 m/s to the right. Look at `height`: all cranks go round together and pass two
horizontal positions in every turn, where the loops lose their rank and each window could fold over.
"""

from math import pi

import bellcrank as bc


def model(n=8, step=0.002):
    """One degree of freedom, SI units: n + 1 cranks on the ground, n couplers between their
    tips."""
    s = bc.System(f"row of {n} four-bar linkages", units="mks")
    ground = s.inertial
    rod = {"rotate": 3, "cm": ("l/2", 0, 0), "mass": "m", "inertia": (0, 0, "m*l**2/12")}
    previous = None
    for i in range(n + 1):
        at = (f"{i}*l" if i > 1 else "l" if i else 0, 0, 0)
        crank = s.add_body(f"a{i}", joint_at=at, label=f"crank {i}", **rod)
        tip = s.add_point(f"p{i}", body=crank, at=("l", 0, 0), label=f"tip of crank {i}")
        if previous is not None:
            coupler = s.add_body(
                f"b{i}", parent=previous, joint_at=("l", 0, 0), label=f"coupler {i}", **rod
            )
            end = s.add_point(f"e{i}", body=coupler, at=("l", 0, 0), label=f"end of coupler {i}")
            s.add_loop_joint(f"window {i}", between=(end, tip), directions=(ground[1], ground[2]))
        previous = crank
    s.add_gravity(direction=-ground[2])
    s.add_output("height", "dot(pos(p0), [n2])", label="height of the first tip")
    s.add_outputs("energy")
    s.set_defaults(l=1, m=1, g=9.81)
    s.set_labels(l="length of every bar", m="mass of every bar")
    start = {f"q(a{i})": pi / 2 for i in range(n + 1)} | {
        f"q(b{i})": -pi / 2 for i in range(1, n + 1)
    }
    s.set_run(t_end=10, step=step, output_every=5, initial={**start, "u(a0)": -1})
    return s


if __name__ == "__main__":
    print(model().equations().summary())
