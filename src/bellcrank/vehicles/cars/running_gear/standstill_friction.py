"""Wheels at rest: rolling resistance that holds a wheel, and the torque with which a tyre resists
being turned.

Laws of tyres let rolling resistance vanish with the speed, so a car would creep. What is missing
near standstill acts as dry friction that sticks: elastic until the wheel has rolled a fraction of
its contact. A wheel that rolls on forgets within that distance what it held: without that, Newton's
method has no slope to follow to a slow steady motion. A tyre that is turned on the ground lies on
other rubber, and forgets too. A front tyre that is steered at rest twists, elastic up to Gough's
moment of a sliding contact, M = mu/3 sqrt(Fz^3/p) (Gough 1958, see Sharp & Granger, On car steering
torques at parking speeds, 2003); as the wheel rolls the twist relaxes within half the length of the
contact.
"""

from __future__ import annotations

from bellcrank.api.system import System
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.model.describe.patch import MIN_MAGNITUDE
from bellcrank.model.describe.slip import SLIDING_TIME_CONSTANT
from bellcrank.vehicles.cars.design.axles import AxleData
from bellcrank.vehicles.driver_inputs import add_dry_friction
from bellcrank.vehicles.model_parameters import add_si_parameter
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS

SLOW = 1.0  # m/s, above which the tyres' own law of rolling resistance holds alone
PATCH = 0.08  # m, half the length of a contact
TWIST = 5500.0  # N m/rad, torsional stiffness of a tyre on the ground. Plausible: 80 to 120 N m/deg
FRICTION = 1.0  # of a dry road
DAMPED = 0.002  # s
BUILT_UP = 0.005  # m, rolled until rolling resistance is whole: a fraction of the contact
SETTLES = 0.5  # s, damping over stiffness of that: a car that stops swings back once, below 10 mm/s
ROLLS = 0.3  # m/s, from which on a wheel rolls rather than being moved to and fro
# rad/s, above which a wheel spins rather than rolls slowly; without a limit its law would be stiff
SPINS = 10.0
TURNED = 0.05  # rad, by which a tyre is turned until its contact is another


def add_rolling_friction(
    s: System, name: str, axle: AxleData, wheel: BodyHandle, load: float
) -> None:
    """Friction of a wheel that makes up what its tyre lacks of rolling resistance near
    standstill."""
    tyre, tyre_load = axle.tyre, load / len(axle.tyre_offsets)
    part = abs(float(tyre.forces(tyre_load, 0.0, 0.0).My)) / tyre_load
    if not part > 0:
        return
    # parameters, since they follow the static load: another spring is the same model
    lever = add_si_parameter(
        s,
        f"l_rest_{name}",
        part,
        "L",
        f"rolling resistance of {name} near standstill, over its load",
    )
    per_length = float(tyre.free_radius(ARRAYS, 0.0)) / BUILT_UP
    stiffness_label = f"elasticity of the rolling resistance of {name} at rest"
    k = add_si_parameter(s, f"k_rest_{name}", part * load * per_length, "F*L/A", stiffness_label)
    fade_factor = f"max(0, 1 - abs({name}.tyre_vlong)/{SLOW})"
    limit = f"{fade_factor}*max(0, {lever}*{name}.tyre_newtons - abs({name}.tyre_my))"
    friction_label = f"rolling resistance of {name} at rest"
    v, spin = f"{name}.tyre_vlong", f"u({name}.wheel)"
    relaxation = f"{per_length!r}*min({SPINS}, abs({spin}))*{v}**2/({v}**2 + {ROLLS**2!r})"
    if axle.is_steered and axle.name == "front":
        relaxation += f" + abs(dot(rot({name}), [n3]))/{TURNED}"
    spin = f"({spin} - ({relaxation})*{name}.rest.pad)"
    add_dry_friction(s, f"{name}.rest", spin, limit, k, friction_label, SETTLES)
    s.add_moment(
        f"{name}.rest",
        magnitude=f"-{name}.rest.held",
        direction=wheel[2],
        on=wheel,
        label=f"rolling resistance of {name} at rest",
    )


def add_parking_torque(s: System, name: str, axle: AxleData) -> None:
    """The torque with which the tyre of a steered wheel resists being turned at rest."""
    pressure = float(axle.tyre.usual[0])
    add_si_parameter(
        s,
        f"mu_parking_{axle.name}",
        FRICTION,
        "1",
        f"friction of {axle.name} tyres that are steered at rest",
    )
    twist, elastic_torque, max_torque = f"{name}.twist", f"{name}.twist_hold", f"{name}.twist_most"
    s.define(
        max_torque, f"mu_parking_{axle.name}/3*sqrt(max(0, {name}.tyre_newtons)**3/{pressure!r})"
    )
    s.define(elastic_torque, f"sqrt(({TWIST}*{twist})**2 + {MIN_MAGNITUDE**2})")
    yaw_rate = f"dot(rot({name}), [n3])"
    relaxation = f"abs({name}.tyre_vlong)/{PATCH}*{twist}"
    s.define(
        f"{twist}_rate",
        f"{yaw_rate} - max(0, {elastic_torque} - "
        f"{max_torque})/{elastic_torque}/{SLIDING_TIME_CONSTANT}*{twist} - "
        f"{relaxation}",
    )
    s.add_state(
        twist, rate=f"{twist}_rate", units="A", label=f"twist of the tyre of {name} on the ground"
    )
    fade_factor = f"1/(1 + ({name}.tyre_vlong/{SLOW})**4)"
    s.define(
        f"{name}.parking",
        f"{fade_factor}*min({max_torque}, max(-{max_torque}, {TWIST}*({twist} + "
        f"{DAMPED}*{twist}_rate)))",
    )
    s.add_moment(
        f"{name}.parking",
        magnitude=f"-{name}.parking",
        direction=s.inertial[3],
        on=name,
        label=f"parking torque of {name}",
    )
