"""Change-point four-bar linkage: crank 1, coupler 2.5, rocker 1.5 on a ground of 2, so that all
links can lie on one line.

The shortest and the longest link are together as long as the other two. Once per turn of the crank
all joints are in line; there two branches of motion cross and the loop loses its rank, so only the
velocity determines how the linkage continues. The smooth continuation leads from one branch to the
other: the linkage needs two turns of the crank to come back. McCarthy & Soh, Geometric Design of
Linkages (2011), section 2.6.2 classifies such linkages. Look at `q(b)` and `energy` as the crank
goes through zero.
"""

import bellcrank as bc


def model(start=1.0, speed=3.0):
    """One degree of freedom, SI units, uniform rods of 1 kg/m, no gravity; `start` (rad) and
    `speed` (rad/s) of the crank."""
    s = bc.System("change-point four-bar linkage", units="mks")
    n = s.inertial

    def rod(name, label, length, **more):
        mass = f"rho*{length}"
        inertia = (0, 0, f"rho*{length}**3/12")
        return s.add_body(
            name,
            rotate=3,
            cm=(f"{length}/2", 0, 0),
            mass=mass,
            inertia=inertia,
            label=label,
            **more,
        )

    a = rod("a", "crank", "l1")
    b = rod("b", "coupler", "l2", parent=a, joint_at=("l1", 0, 0))
    c = rod("c", "rocker", "l3", joint_at=("l4", 0, 0))
    p = s.add_point("p", body=b, at=("l2", 0, 0), label="end of the coupler")
    r = s.add_point("r", body=c, at=("l3", 0, 0), label="end of the rocker")
    s.add_loop_joint("pin of coupler and rocker", between=(p, r), directions=(n[1], n[2]))
    s.add_outputs("energy")
    s.set_defaults(l1=1, l2=2.5, l3=1.5, l4=2, rho=1)
    s.set_labels(l1="length of the crank", l2="length of the coupler", l3="length of the rocker")
    s.set_labels(l4="distance of the fixed hinges", rho="mass of the bars over their length")
    s.set_run(t_end=10, step=0.002, output_every=5, initial={"q(a)": start, "u(a)": speed})
    return s


if __name__ == "__main__":
    print(model().equations().summary())
