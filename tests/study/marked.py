"""A model that leaves a mark whenever a run of it starts: the only witness of how often runs were
really made."""

import os
import time

import bellcrank as bc


def model(marks="", pause=0.0):
    """A mass on a spring, released from 1 m; `pause` s are slept at the start of every run."""

    def mark(k):
        if marks:
            with open(marks, "ab", buffering=0) as stream:
                stream.write(f"{k!r} {os.getpid()}\n".encode())
        if k == 13:
            os.kill(os.getpid(), 9)
        time.sleep(pause)
        return 0.0

    s = bc.System("marked")
    mass = s.add_body("mass", translate=1, mass=1, inertia=0)
    s.add_external("mark", arguments=("k",), returns=("nothing",), when="init", python=mark)
    s.add_force("spring", magnitude="-k*x + nothing", direction=s.inertial[1], at=mass.origin)
    s.set_defaults(k=1)
    s.set_run(t_end=0.5, step=0.01, initial={"q(mass)": 1})
    return s
