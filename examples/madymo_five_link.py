"""Wheel on a five-link suspension: its free motion, the test of a user-defined joint in MADYMO.

Kruijt, report WFW 93.089 (1993), appendix B.2: a body of 12 kg on the massless five-link, no
gravity, released at travel -0.2 m with 0.3 m/s. Nothing does work, so the kinetic energy stays
1.91942 J (published 1.92 J) while the effective mass changes a lot; after 1 s the wheel is at
+0.268370 m and moves at 0.211053 m/s, close to the fold of the linkage at 0.28483 m. Look at
`kinetic`.
"""

import bellcrank as bc
from bellcrank.linkage import five_link, shipped


def model(exact=True):
    """One degree of freedom, SI units."""
    s = bc.System("wheel on a five-link suspension", units="mks", axes="ISO 8855")
    linkage = five_link(shipped("five_link"))
    centre = linkage.points["wheel_centre"]
    wheel = s.add_body(
        "wheel", mass=12, inertia=(0.74, 1.46, 0.74), joint_at=centre, label="wheel and carrier"
    )
    if not exact:
        linkage = linkage.table(accuracy=1e-9, range=(-0.205, 0.275))
    joint = s.add_linkage("rear", linkage, carrier=wheel, exact=exact)
    s.add_outputs("energy")
    s.set_run(t_end=1, step=0.001, initial={joint.q: -0.2, joint.u: 0.3})
    return s


if __name__ == "__main__":
    print(model().equations().summary())
