"""@TITLE@

constants(p) gives what follows from the parameters alone; derivatives(t, q, u, p, c, w, f) the rates of all coordinates
and speeds; outputs(...) the extra channels. Equation units: rad, and consistent units of length, mass and time.
q, u, p, w: coordinates, speeds, parameters, inputs, in the order listed below; f: external routines and tables.
If there are, start(...) and update(...) give the last entries of w: values of external routines kept over a run
or over a step; entry(...) gives the last entries of p, and echo(...) values for the echo of a run.
"""

import math
