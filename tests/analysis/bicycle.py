"""The benchmark bicycle by the formulas of its paper.

Meijaard, Papadopoulos, Ruina & Schwab (2007), Linearized dynamics equations for the balance and
steer of a bicycle, Proc. R. Soc. A 463, 1955-1982: table 1 (parameters), appendix A (matrices),
table 2 (eigenvalues).
"""

from math import cos, pi, sin

import numpy as np

PARAMETERS = {
    "w": 1.02, "c": 0.08, "lam": pi / 10, "g": 9.81, "r_r": 0.3, "m_r": 2, "irxx": 0.0603, "iryy": 0.12,
    "x_b": 0.3, "z_b": -0.9, "m_b": 85, "ibxx": 9.2, "ibxz": 2.4, "ibyy": 11, "ibzz": 2.8,
    "x_h": 0.9, "z_h": -0.7, "m_h": 4, "ihxx": 0.05892, "ihxz": -0.00756, "ihyy": 0.06, "ihzz": 0.00708,
    "r_f": 0.35, "m_f": 3, "ifxx": 0.1405, "ifyy": 0.28,
}  # fmt: skip

# v (m/s): weave (real, imaginary), capsize, castering; at 0 four real ones
TABLE_2 = {
    0: (-5.53094371765393, -3.13164324790656, 3.13164324790656, 5.53094371765393),
    1: (3.52696170990070, 0.80774027519930, -3.13423125066578, -7.11008014637442),
    2: (2.68234517512745, 1.68066296590675, -3.07158645641514, -8.67387984831735),
    3: (1.70675605663975, 2.31582447384325, -2.63366137253667, -10.35101467245920),
    4: (0.41325331521125, 3.07910818603206, -1.42944427361326, -12.15861426576447),
    5: (-0.77534188219585, 4.46486771378823, -0.32286642900409, -14.07838969279822),
    6: (-1.52644486584142, 5.87673060598709, -0.00406690076970, -16.08537123098026),
    7: (-2.13875644258362, 7.19525913329805, 0.10268170574766, -18.15788466125262),
    8: (-2.69348683581097, 8.46037971396931, 0.14327879765713, -20.27940894394569),
    9: (-3.21675402252485, 9.69377351531791, 0.15790184030917, -22.43788559040858),
    10: (-3.72016840437287, 10.90681139476287, 0.16105338653172, -24.62459635017404),
}


def published(v):
    """The four eigenvalues of table 2, sorted."""
    row = TABLE_2[v]
    found = row if v == 0 else (complex(row[0], row[1]), complex(row[0], -row[1]), row[2], row[3])
    return np.sort_complex(np.array(found, dtype=complex))


def canonical_matrices(p=PARAMETERS):
    """M, C1, K0, K2 of M x'' + v C1 x' + (g K0 + v^2 K2) x = 0, x = (lean, steer)."""
    w, c, lam, rR, mR, rF, mF = (p[k] for k in ("w", "c", "lam", "r_r", "m_r", "r_f", "m_f"))
    xB, zB, mB, xH, zH, mH = (p[k] for k in ("x_b", "z_b", "m_b", "x_h", "z_h", "m_h"))
    mT = mR + mB + mH + mF
    xT = (xB * mB + xH * mH + w * mF) / mT
    zT = (-rR * mR + zB * mB + zH * mH - rF * mF) / mT
    ITxx = (
        p["irxx"]
        + p["ibxx"]
        + p["ihxx"]
        + p["ifxx"]
        + mR * rR**2
        + mB * zB**2
        + mH * zH**2
        + mF * rF**2
    )
    ITxz = p["ibxz"] + p["ihxz"] - mB * xB * zB - mH * xH * zH + mF * w * rF
    ITzz = p["irxx"] + p["ibzz"] + p["ihzz"] + p["ifxx"] + mB * xB**2 + mH * xH**2 + mF * w**2
    mA = mH + mF
    xA, zA = (xH * mH + w * mF) / mA, (zH * mH - rF * mF) / mA
    IAxx = p["ihxx"] + p["ifxx"] + mH * (zH - zA) ** 2 + mF * (rF + zA) ** 2
    IAxz = p["ihxz"] - mH * (xH - xA) * (zH - zA) + mF * (w - xA) * (rF + zA)
    IAzz = p["ihzz"] + p["ifxx"] + mH * (xH - xA) ** 2 + mF * (w - xA) ** 2
    uA = (xA - w - c) * cos(lam) - zA * sin(lam)
    IAll = mA * uA**2 + IAxx * sin(lam) ** 2 + 2 * IAxz * sin(lam) * cos(lam) + IAzz * cos(lam) ** 2
    IAlx = -mA * uA * zA + IAxx * sin(lam) + IAxz * cos(lam)
    IAlz = mA * uA * xA + IAxz * sin(lam) + IAzz * cos(lam)
    mu = c / w * cos(lam)
    SR, SF = p["iryy"] / rR, p["ifyy"] / rF
    ST, SA = SR + SF, mA * uA + mu * mT * xT
    M = np.array(
        [[ITxx, IAlx + mu * ITxz], [IAlx + mu * ITxz, IAll + 2 * mu * IAlz + mu**2 * ITzz]]
    )
    K0 = np.array([[mT * zT, -SA], [-SA, -SA * sin(lam)]])
    K2 = np.array([[0, (ST - mT * zT) / w * cos(lam)], [0, (SA + SF * sin(lam)) / w * cos(lam)]])
    C1 = np.array(
        [
            [0, mu * ST + SF * cos(lam) + ITxz / w * cos(lam) - mu * mT * zT],
            [-(mu * ST + SF * cos(lam)), IAlz / w * cos(lam) + mu * (SA + ITzz / w * cos(lam))],
        ]
    )
    return M, C1, K0, K2


def canonical_A(v, p=PARAMETERS):
    """The first-order form of the canonical equations."""
    M, C1, K0, K2 = canonical_matrices(p)
    A = np.zeros((4, 4))
    A[:2, 2:] = np.eye(2)
    A[2:, :2] = -np.linalg.solve(M, p["g"] * K0 + v**2 * K2)
    A[2:, 2:] = -np.linalg.solve(M, v * C1)
    return A
