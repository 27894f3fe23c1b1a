"""Public calls with one argument that is odd: each gives a result, or an error of ours with words,
in a short time.

Each call of `CALLS` is sound. `odd_calls` puts every odd value in the place of each of its
arguments, one at a time; a system that accepts one must derive, compile and run, or say why not.
"""

import datetime
import decimal
import fractions
import inspect
import math
import signal
import warnings
from collections import Counter
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path

import numpy as np

import bellcrank as bc

SECONDS = 30.0  # of computing, for one call


class Hang(BaseException):
    """More computing than any of these calls should need."""


ODD = {
    "None": None,
    "True": True,
    "text": "x",
    "empty": "",
    "blank": " ",
    "number as text": "5",
    "unit": "16.8 N/mm",
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "zero": 0,
    "negative": -1.5,
    "huge": 1e300,
    "tiny": 1e-320,
    "many digits": 10**400,
    "complex": 1j,
    "list": [],
    "list of text": ["a", ""],
    "nested": [[1, 2], [3]],
    "tuple": (1,),
    "mapping": {},
    "odd mapping": {1: None},
    "set": {1, 2},
    "bytes": b"x",
    "object": object(),
    "class": int,
    "function": len,
    "date": datetime.date(2020, 1, 1),
    "decimal": decimal.Decimal("1.5"),
    "fraction": fractions.Fraction(1, 3),
    "array": np.array([1.0, np.nan]),
    "integer of NumPy": np.int64(2),
    "boolean of NumPy": np.bool_(True),
    "time of NumPy": np.timedelta64(3, "s"),
    "masked": np.ma.masked_array([1.0, 2.0], [False, True]),
    "0-d": np.array(2.0),
    "text of NumPy": np.array(["a"]),
    "control": "a\x1b[2J",
    "not closed": "sin(",
    "unknown": "no_such_name + 1",
    "path": Path("no/such/file"),
    "path up": "../../x",
    "range": range(3),
}


def system(gravity=True):
    s = bc.System("odd", units="mks")
    cart = s.add_body("cart", translate=1, mass="m")
    rod = s.add_body("rod", parent=cart, rotate=3, cm=(0, -1, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    s.add_input("push", units="N")
    s.add_force("spring", magnitude="-k*x - c*v + push", direction=cart[1], at=cart.origin)
    if gravity:
        s.add_gravity(direction=-s.inertial[2])
    s.set_defaults(k=3.0, c=0.5, m=2.0, r=1.0)
    s.set_run(t_end=0.02, step=0.01, inputs={"push": 0.5})
    return s, cart, rod


# name of a method: sound arguments, made of a system, a body that slides on it and one that turns
# on that
OF_SYSTEM = {
    "add_body": lambda s, cart, rod: {
        "name": "bob",
        "parent": rod,
        "mass": 1.0,
        "inertia": (1, 1, 1),
        "rotate": 3,
    },
    "add_point": lambda s, cart, rod: {"name": "tip", "body": rod, "at": (0, -2, 0)},
    "add_force": lambda s, cart, rod: {
        "name": "f",
        "magnitude": 1.0,
        "direction": cart[1],
        "at": rod.cm,
    },
    "add_moment": lambda s, cart, rod: {
        "name": "f",
        "magnitude": 1.0,
        "direction": rod[3],
        "on": rod,
    },
    "add_cable": lambda s, cart, rod: {
        "name": "f",
        "tension": "2*x",
        "through": (cart.origin, s.inertial.origin),
    },
    "add_strut": lambda s, cart, rod: {
        "name": "f",
        "magnitude": "-2*x",
        "between": (cart.origin, s.inertial.origin),
    },
    "add_bushing": lambda s, cart, rod: {
        "name": "f",
        "at": rod.cm,
        "stiffness": (1, 1, 1, 1, 1, 1),
    },
    "add_constraint": lambda s, cart, rod: {"expression": "u(cart) - u(rod)*r"},
    "add_gravity": lambda s, cart, rod: {"direction": s.inertial[1], "g": 9.81},
    "add_output": lambda s, cart, rod: {
        "expression": "q(rod)",
        "name": "angle",
        "units": "deg",
        "label": "angle",
    },
    "add_parameter": lambda s, cart, rod: {"name": "p", "value": 1.0, "units": "m", "label": "x"},
    "add_input": lambda s, cart, rod: {"name": "v2", "units": "m"},
    "add_state": lambda s, cart, rod: {"name": "z", "rate": "-z", "units": "m"},
    "add_shape": lambda s, cart, rod: {"body": rod, "kind": "sphere", "size": 0.1},
    "add_external": lambda s, cart, rod: {"name": "h", "arguments": ("x",), "python": abs},
    "add_attitude": lambda s, cart, rod: {"body": rod},
    "add_loop_joint": lambda s, cart, rod: {
        "name": "l",
        "between": (rod.cm, s.inertial.origin),
        "directions": [s.inertial[1]],
    },
    "define": lambda s, cart, rod: {"name": "d1", "expression": "2*q(rod)"},
    "expr": lambda s, cart, rod: {"text": "q(rod) + k"},
    "set_run": lambda s, cart, rod: {
        "t_end": 0.02,
        "step": 0.01,
        "initial": {"q(rod)": 0.1},
        "inputs": {"push": 1.0},
    },
    "set_defaults": lambda s, cart, rod: {"k": 2.0, "c": 1.0},
    "set_labels": lambda s, cart, rod: {"k": "stiffness"},
    "set_units": lambda s, cart, rod: {"k": "N/m"},
    "parameter": lambda s, cart, rod: {"name": "k"},
    "equations": lambda s, cart, rod: {},
}
OF_SIMULATION = {
    "simulate": {"t_end": 0.02, "step": 0.01},
    "simulate_many": {"n": 2, "t_end": 0.02, "step": 0.01, "parameters": {"k": [1.0, 2.0]}},
    "stepper": {"step": 0.01},
    "steppers": {"n": 2, "step": 0.01},
    "rhs": {},
    "derivatives": {"t": 0.0, "q": [0.0, 0.1], "u": [0.0, 0.0]},
    "outputs": {"t": 0.0, "q": [0.0, 0.1], "u": [0.0, 0.0]},
    "echo": {"t": 0.0, "q": [0.0, 0.1], "u": [0.0, 0.0]},
    "inverse": {"q": [0.0, 0.1], "u": [0.0, 0.0], "udot": [1.0, 0.0]},
    "assemble": {},
    "parameter_values": {},
    "equilibrium": {},
    "linearize": {},
    "modes": {},
    "frequency_response": {"input": "push", "output": "q(rod)", "f": [0.1, 1.0]},
    "equilibria": {"over": "k", "values": [1.0, 2.0]},
}
SIGNALS = {
    "chirp": {}, "pulse": {}, "ramp": {}, "sine": {}, "step": {}, "sampled": {"times": [0.0, 1.0], "values": [0.0, 1.0]},
    "event": {"expression": "q(rod)"}, "table": {"x": [0.0, 1.0], "y": [0.0, 1.0]}, "uniform": {"low": 0.0, "high": 1.0},
    "normal": {"mean": 0.0, "deviation": 1.0}, "log_uniform": {"low": 0.1, "high": 1.0}, "road_spectrum": {"road": "C", "speed": 20.0},
    "Run.read": {"path": "no.csv"}, "System.read": {"path": "no.py"}, "System": {"name": "x"}, "Study.read": {"source": "no.toml"},
    "load": {"path": "no.csv"}, "ParsFile.read": {"path": "no.par"},
    "vehicles.Car.read": {"path": "no.toml"}, "linkage.Linkage.read": {"source": "no.toml"}, "linkage.Table.read": {"path": "no.json"},
    "vehicles.terrain.Surface.read": {"path": "no.csv"}, "vehicles.terrain.Road.read": {"path": "no.crg"}, "vehicles.tyres.MagicFormula.read": {"path": "no.tir"},
    "metrics.rms": {"channels": "az"}, "metrics.percentile": {"channels": "az"},
}  # fmt: skip
NOT = {"self", "progress", "more", "options", "arguments", "groups", "what", "names", "memory"}


def _run_system(name, values):
    s, cart, rod = system(gravity=name != "add_gravity")
    getattr(s, name)(**values(s, cart, rod))
    sim = s.equations().compile(backend="python")
    sim.simulate()


def _use(found, name):
    """What a call gives must serve, too."""
    if name in ("chirp", "pulse", "ramp", "sine", "step", "sampled"):
        _simulation().simulate(inputs={"push": found})
    elif name == "event":
        _simulation().simulate(events={"e": found})
    elif name in ("uniform", "normal", "log_uniform"):
        _simulation().simulate_many(n=2, parameters={"k": found}, t_end=0.02, step=0.01)
    elif name == "stepper":
        found.step(2)
    elif name == "rhs":
        found(0.0, np.zeros(4))


_kept = []


def _simulation():
    if not _kept:
        _kept.append(system()[0].equations().compile(backend="python"))
    return _kept[0]


def odd_calls():
    """Every call: its name, and what makes it."""
    for name, made in OF_SYSTEM.items():
        names = _arguments(getattr(bc.System, name)) if name != "set_defaults" else ["k", "c"]
        for argument in names:
            for word, odd in ODD.items():

                def given(s, a, b, made=made, argument=argument, odd=odd):
                    return {**made(s, a, b), argument: odd}

                yield (
                    f"System.{name}({argument}={word})",
                    lambda name=name, given=given: _run_system(name, given),
                )
    for owner, calls in (("Simulation", OF_SIMULATION), ("bc", SIGNALS)):
        for name, given in calls.items():
            function = getattr(bc.Simulation, name) if owner == "Simulation" else _public(name)
            for argument in _arguments(function):
                for word, odd in ODD.items():
                    yield (
                        f"{owner}.{name}({argument}={word})",
                        _called(owner, name, {**given, argument: odd}),
                    )


def _public(name):
    first = name.partition(".")[0]
    return attrgetter(name)(
        next(home for home in (bc.signals, bc.random, bc) if hasattr(home, first))
    )


def _called(owner, name, given):
    def call():
        found = (getattr(_simulation(), name) if owner == "Simulation" else _public(name))(**given)
        _use(found, name)

    return call


def _arguments(function):
    listed = inspect.signature(function).parameters.values()
    return [
        p.name
        for p in listed
        if p.name not in NOT and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]


@contextmanager
def limited():
    def ring(*_):
        raise Hang

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def outcome(call):
    """ "accepted", "rejected", or what it did wrong."""
    try:
        with limited():
            call()
        return "accepted"
    except bc.InternalError as error:
        return repr(error)[:300]
    except bc.BellcrankError as error:
        return "refused" if str(error).strip() else "no words"
    except (Exception, Hang) as error:
        trace, place = error.__traceback__, ""
        while trace is not None:
            if "bellcrank" in trace.tb_frame.f_code.co_filename:
                place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
            trace = trace.tb_next
        return f"{type(error).__name__} at {place}: {error!s:.200}"


def tried(every=1, first=0):
    """Outcomes of odd calls, one of `every`: counts, and the calls that went wrong."""
    counts, wrong = Counter(), {}
    for i, (name, call) in enumerate(odd_calls()):
        if i % every == first:
            found = outcome(call)
            counts[found if found in ("accepted", "refused") else "wrong"] += 1
            if found not in ("accepted", "refused"):
                wrong[name] = found
    return counts, wrong


if __name__ == "__main__":
    for name, found in tried()[1].items():
        print(name, found)
