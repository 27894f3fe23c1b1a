"""A wheel with a Magic Formula tyre on a slope of 15 %: rolls uphill, is braked to a standstill,
held, and started again.

A quarter of a car (400 kg) that may move along, across and up, with the tyre of a .tir file next to
this one. The brake is an elastic pad that slips above its moment, as in `bc.vehicles`. Look at
`tyre.fx`, `tyre.kappa`, `tyre_ex` and the speed: one law from 15 m/s to nothing and back.
`bellcrank run examples/tyres/wheel_on_a_slope.py`; `bellcrank tyre
examples/tyres/book_205_60R15.tir --plot curves.png` draws the tyre.
"""

from pathlib import Path

import bellcrank as bc

SLOPE, MASS, SPIN = 0.15, 400, 1.0
BRAKE, START = 2.0, 70.0  # s: brake on; off, and driven


def model():
    """SI units. Inputs: brake, drive (N m)."""
    tyre = bc.vehicles.tyres.MagicFormula.read(
        Path(__file__).with_name("book_205_60R15.tir")
    ).scaled(VERTICAL_DAMPING=3000)
    s = bc.System("wheel on a slope", axes="ISO 8855")
    hub = s.add_point_mass("hub", translate=(1, 2, 3), mass=MASS)
    wheel = s.add_body("wheel", hub, rotate=2, mass=0, inertia=(SPIN / 2, SPIN, SPIN / 2))
    s.add_gravity()
    s.add_input("brake", units="F*L", label="most moment of the brake")
    s.add_input("drive", units="F*L", label="driving moment")
    slides = "max(0, sqrt((k*pad)**2 + 1e-18) - brake)/sqrt((k*pad)**2 + 1e-18)/t_flow*pad"
    s.define("pad_rate", f"where(brake > 0, u(wheel) - {slides}, -pad/t_flow)")
    s.add_state("pad", rate="pad_rate", units="A", label="elastic turn of the brake")
    s.define("held", "min(brake, max(-brake, k*(pad + 0.004*pad_rate)))")
    s.add_moment("braked", magnitude="drive - held", direction=wheel[2], on=wheel)
    s.set_defaults(k=6e4, t_flow=0.005)
    s.set_units(k="F*L/A", t_flow="T")
    s.add_contact("tyre", at=wheel, terrain=bc.vehicles.terrain.ramp(SLOPE), tyre=tyre, wheel=wheel)
    s.add_output("speed", "dot(vel(hub.origin), [n1])", label="speed along the road", units="L/T")
    s.add_outputs("energy")
    start = {"q(hub, 3)": 0.2985, "u(hub, 1)": 15.0, "u(hub, 3)": 15.0 * SLOPE, "u(wheel)": 49.8}
    inputs = {
        "brake": bc.signals.sampled(
            [0, BRAKE, BRAKE + 0.1, START, START + 0.1, 100], [0, 0, 900, 900, 0, 0]
        ),
        "drive": bc.signals.sampled([0, START, START + 0.1, 100], [0, 0, 400, 400]),
    }
    s.set_run(t_end=75, step=0.001, output_every=10, initial=start, inputs=inputs)
    return s
