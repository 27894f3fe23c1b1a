"""Spatial chain: n links, hinged alternately about axes 1 and 2, hanging in gravity.

Every link has its own length, mass centre, mass and three moments of inertia as parameters, so
nothing cancels by equal values. Look at how operations and derivation time grow with n: both should
grow linearly.
"""

import bellcrank as bc


def model(n=8):
    """n degrees of freedom, SI units; links of 0.5 m and 1 kg, released with the first link turned
    by 1 rad."""
    s = bc.System(f"chain of {n} links", units="mks")
    link = None
    for i in range(1, n + 1):
        link = s.add_body(
            f"link{i}",
            label=f"link {i}",
            parent=link,
            rotate=1 if i % 2 else 2,
            joint_at=(0, 0, f"l{i - 1}") if i > 1 else (0, 0, 0),
            cm=(0, 0, f"c{i}"),
            mass=f"m{i}",
            inertia=(f"i1_{i}", f"i2_{i}", f"i3_{i}"),
        )
        s.set_defaults(
            **{f"c{i}": 0.25, f"m{i}": 1, f"i1_{i}": 0.021, f"i2_{i}": 0.021, f"i3_{i}": 0.0002}
        )
        s.set_labels(**{f"c{i}": f"mass centre of link {i}", f"m{i}": f"mass of link {i}"})
        s.set_labels(**{f"i{k}_{i}": f"inertia of link {i} about its axis {k}" for k in (1, 2, 3)})
        if i < n:
            s.set_labels(**{f"l{i}": f"length of link {i}"})
            s.set_defaults(**{f"l{i}": 0.5})
    s.add_gravity(direction=s.inertial[3])
    s.set_run(t_end=5, step=0.002, output_every=10, initial={"q(link1)": 1})
    return s


if __name__ == "__main__":
    print(model().equations().summary())
