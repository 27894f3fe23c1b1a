/* External routines of the decks spacecraft_1.lsp and spacecraft_1_small.lsp in C; see spacecraft_1.py. */

#include <math.h>

/* Commanded clock and camera angles (rad): a ramp between two holds. */
void cmd(double t, double *returns)
{
    const double slew = t < 1.0 ? 0.0 : t > 11.0 ? 10.0 : t - 1.0;
    returns[0] = 4.0 - 0.025*slew;
    returns[1] = -0.5 + 0.01*slew;
}

/* Thruster of one axis: -1, 0 or 1. `memory` keeps what fires (0..2) and until when (3..5). */
double thrust(double t, double axis, double err, double *memory)
{
    const double dead_band = 0.0025, pulse = 0.02; /* rad, s */
    double *fire = memory + (int)axis - 1, *off = fire + 3;
    if (fabs(err) > dead_band) {
        *fire = err > 0.0 ? -1.0 : 1.0;
        *off = t + pulse;
    } else if (t >= *off)
        *fire = 0.0;
    return *fire;
}
