"""User functions of the deck spacecraft_1.lsp: commands to the motors, and the thrusters.

Sayers (1990), Figure 9.4.2. `thrust.memory` is the number of values that the routine keeps between
steps.
"""

DEAD_BAND = 0.0025  # rad
PULSE = 0.02  # s


def cmd(t):
    """Commanded clock and camera angles (rad): a ramp between two holds."""
    slew = min(max(t - 1.0, 0.0), 10.0)
    return 4.0 - 0.025 * slew, -0.5 + 0.01 * slew


def thrust(t, axis, err, memory):
    """Thruster of one axis: -1, 0 or 1. `memory` keeps what fires (0..2) and until when (3..5)."""
    fire, off = int(axis) - 1, int(axis) + 2
    if abs(err) > DEAD_BAND:
        memory[fire] = -1.0 if err > 0 else 1.0
        memory[off] = t + PULSE
    elif t >= memory[off]:
        memory[fire] = 0.0
    return memory[fire]


thrust.memory = 6
