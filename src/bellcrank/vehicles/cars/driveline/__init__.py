"""From the motor to the wheels, as parts of a System: clutch or converter, gears, differentials,
motors of axles."""
