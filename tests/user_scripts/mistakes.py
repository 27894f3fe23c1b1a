"""Thirteen typical mistakes of a user's script, one on each marked line: `mypy --strict` reports
every one."""

import bellcrank as bc

s = bc.System("pendulum")
rod = s.add_body("rod", rotate="y")
tip = s.add_point("tip", rod, (0, 0, 1))
eom = s.equations()
sim = eom.compile()
run = sim.simulate(1.0)

s.add_body("arm", rod, rotat="y")  # a mistyped argument
sim.simulate(1.0, step=0.01, method="rk5")  # an unknown method
s.add_outputs("energies")  # an unknown group of channels
eom.compile(backend="gpu")  # an unknown backend
s.add_loop_joint("loop", "hinge", between=("tip", "o"))  # an unknown kind of joint
s.add_force("push", magnitude=1, at=tip)  # a missing argument
eom.compile("python")  # an option without its name
s.add_force("pull", magnitude=1, direction=3, at=tip)  # a number in place of a vector
print(run.chanels)  # a mistyped attribute of a run
print(sim.linearise())  # a mistyped attribute of a simulation
bc.System("car", units="imperial")  # an unknown unit system
eom.export("matlab", "folder")  # an unknown format
eom.export("fmu", "car.fmu", precision="single")  # an option of another format
