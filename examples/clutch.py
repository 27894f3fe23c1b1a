"""Clutch that slips, locks and slips again: events that switch the law of its torque.

An engine drives a wheel through a clutch. While it slips, its moment is the capacity `cap`, in the
direction `side`; while it is locked, it is the moment `hold` with which both turn alike. Two events
switch between the laws: the speeds become equal, or more would be needed than the clutch can hold.
"""

import bellcrank as bc


def model():
    s = bc.System("Clutch", units="mks")
    engine = s.add_body(
        "engine", rotate=3, mass=0, inertia=("j1", "j1", "j1"), label="engine and flywheel"
    )
    wheel = s.add_body("wheel", rotate=3, mass=0, inertia=("j2", "j2", "j2"), label="driven side")
    s.add_input("torque", units="F*L", label="torque of the engine")
    s.add_input("cap", units="F*L", label="capacity of the clutch")
    s.define("load", "drag*u(wheel)")
    s.define("hold", "(j2*torque + j1*load)/(j1 + j2)")
    s.define("moment", "where(locked > 0, hold, side*cap)")
    s.add_moment("drive", magnitude="torque - moment", direction=s.inertial[3], on=engine)
    s.add_moment("driven", magnitude="moment - load", direction=s.inertial[3], on=wheel)
    s.add_output("moment", "moment", units="F*L", label="torque of the clutch")
    s.add_output("hold", "hold", units="F*L", label="torque that holds it")
    s.set_defaults(j1=0.2, j2=1.0, drag=0.5, locked=0, side=1)
    s.set_labels(
        j1="inertia of engine and flywheel",
        j2="inertia of the driven side",
        drag="drag of the driven side",
    )
    s.set_labels(locked="clutch holds (1) or slips (0)", side="direction of slip")
    engaged, kick = (
        ([0, 0.5, 6], [0, 60, 60]),
        ([0, 3, 3.2, 3.6, 3.8, 6], [30, 30, 120, 120, 30, 30]),
    )
    s.add_shape(body=engine, kind="cylinder", size=(0.2, 0.06), at=(0, 0, -0.05), color="#5f6a75")
    s.add_shape(body=engine, kind="box", size=(0.36, 0.05, 0.07), at=(0, 0, -0.05), color="silver")
    s.add_shape(body=wheel, kind="cylinder", size=(0.17, 0.06), at=(0, 0, 0.05), color="#c98b2b")
    s.add_shape(body=wheel, kind="box", size=(0.3, 0.05, 0.07), at=(0, 0, 0.05), color="#7a4a2e")
    s.set_run(
        t_end=6, step=0.01, initial={"u(engine)": 100}, inputs={"cap": engaged, "torque": kick}
    )
    return s


EVENTS = [
    bc.event("u(engine) - u(wheel)", action={"locked": 1}, name="locks"),
    bc.event(
        "where(locked > 0, abs(hold) - cap, -1)",
        direction=1,
        action={"locked": 0, "side": "sign(hold)"},
        name="slips",
    ),
]


if __name__ == "__main__":
    run = model().equations().compile().simulate(events=EVENTS)
    print(*run.events, sep="\n")
