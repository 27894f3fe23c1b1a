"""Forces of the air: drag, lift over the axles, and of a car that knows them, side force and yaw moment of a side wind.

With side coefficients the air comes at the car with its velocity against the wind (input `wind`, across the ground to
the left). V is its size in the plane of the car and v its part across: side force -rho/2 A c_side V v at mid-wheelbase
and a height of its own, yaw moment -rho/2 A l c_yaw V v: both in proportion to the sine of the angle of the flow, as
coefficients are measured to some 20 deg. Reference point and length: the middle of the wheelbase l (SAE J1594).
"""

from __future__ import annotations

from bellcrank.api.system import System
from bellcrank.describe.handles import BodyHandle
from bellcrank.library.vehicles.data import CarData
from bellcrank.library.vehicles.parameters import put
from bellcrank.library.vehicles.records import Aerodynamics
from bellcrank.library.vehicles.rest import Stand

STILL = 1e-6  # m/s: in still air the speed has a slope, too


def add_air(s: System, car: CarData, chassis: BodyHandle, at_rest: Stand) -> None:
    air = car.sections.aerodynamics
    if air is None:
        return
    put(s, "rho", air.density, "M/L**3", "density of the air")
    put(s, "area", air.area, "L**2", "frontal area")
    put(s, "c_drag", air.drag, "1", "drag coefficient")
    sided = air.side != 0 or air.yaw != 0
    if sided:
        s.add_input("wind", units="L/T", label="side wind across the ground, to the left")
        s.set_run(inputs={"wind": 0.0})
    s.define("ahead", "dot(vel(chassis.cm), [chassis1])" + (" - wind*dot([n2], [chassis1])" if sided else ""))
    pressure = "rho/2*area*airspeed" if sided else "rho/2*area*abs(ahead)"
    if sided:
        s.define("aside", "dot(vel(chassis.cm), [chassis2]) - wind*dot([n2], [chassis2])")
        s.define("airspeed", f"sqrt(ahead**2 + aside**2 + {STILL**2!r})")
    s.define("stagnation", f"{pressure}*ahead")
    s.add_force("drag", magnitude="-c_drag*stagnation", direction=chassis[1], at=chassis.cm, label="drag")
    ends = [float(at_rest.contact[i][0]) for i in (0, 2)]
    for axle, lift, x in (("front", air.lift_front, ends[0]), ("rear", air.lift_rear, ends[1])):
        put(s, f"x_lift_{axle}", x, "L", f"x of the lift over the {axle} axle, above its contacts at rest")
        point = s.add_point(f"{axle}.lift_at", body=chassis, at=(f"x_lift_{axle}", 0, "cg_z"))
        put(s, f"c_lift_{axle}", lift, "1", f"lift coefficient over the {axle} axle")
        s.add_force(f"{axle}.lift", magnitude=f"c_lift_{axle}*rho/2*area*ahead**2", direction=chassis[3], at=point,
                    label=f"lift over the {axle} axle")  # fmt: skip
    if sided:
        _add_side(s, air, chassis, at_rest)


def _add_side(s: System, air: Aerodynamics, chassis: BodyHandle, at_rest: Stand) -> None:
    put(s, "c_side", air.side, "1", "lateral force coefficient, per sine of the air-flow angle")
    put(s, "c_yaw", air.yaw, "1", "yaw moment coefficient, per sine of the air-flow angle")
    high = float(at_rest.centre[2]) if air.side_height is None else air.side_height - at_rest.height
    put(s, "z_air", high, "L", "z of the aerodynamic lateral force")
    point = s.add_point("air_centre", body=chassis, at=("(x_lift_front + x_lift_rear)/2", 0, "z_air"))
    s.add_force("side_wind", magnitude="-c_side*rho/2*area*airspeed*aside", direction=chassis[2], at=point,
                label="aerodynamic lateral force")  # fmt: skip
    s.define("air_base", "x_lift_front - x_lift_rear")
    s.add_moment("yaw_wind", magnitude="-c_yaw*air_base*rho/2*area*airspeed*aside", direction=chassis[3], on=chassis,
                 label="aerodynamic yaw moment")  # fmt: skip
