"""Names of Magic Formula tyres: the keys of .tir files by section, versions, and what a missing key
stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__: list[str] = []

VERSIONS = {5: "5.2", 6: "5.2", 21: "5.2", 61: "6.1", 62: "6.2"}  # by FITTYP
MOTORCYCLE = (51, 52, 53)

SECTIONS = {
    "MODEL": "LONGVL VXLOW ROAD_INCREMENT",
    "DIMENSION": "UNLOADED_RADIUS WIDTH RIM_RADIUS RIM_WIDTH ASPECT_RATIO",
    "OPERATING_CONDITIONS": "INFLPRES NOMPRES",
    "TIRE_CONDITIONS": "IP IP_NOM",
    "INERTIA": "MASS IXX IYY BELT_MASS BELT_IXX BELT_IYY GRAVITY",
    "VERTICAL": "FNOMIN VERTICAL_STIFFNESS VERTICAL_DAMPING MC_CONTOUR_A MC_CONTOUR_B BREFF DREFF "
    "FREFF "
    "Q_RE0 Q_V1 Q_V2"
    " Q_FZ1-3 Q_FCX Q_FCY Q_FCY2 Q_CAM Q_CAM1-3 Q_FYS1-3 PFZ1 BOTTOM_OFFST BOTTOM_STIFF",
    "STRUCTURAL": "LONGITUDINAL_STIFFNESS LATERAL_STIFFNESS YAW_STIFFNESS FREQ_LONG FREQ_LAT "
    "FREQ_YAW "
    "FREQ_WINDUP"
    " DAMP_LONG DAMP_LAT DAMP_YAW DAMP_WINDUP DAMP_RESIDUAL DAMP_VLOW Q_BVX Q_BVT PCFX1-3 "
    "PCFY1-3 PCMZ1",
    "CONTACT_PATCH": "Q_RA1-2 Q_RB1-2 QA1-2 ELLIPS_SHIFT ELLIPS_LENGTH ELLIPS_HEIGHT ELLIPS_ORDER "
    "ELLIPS_MAX_STEP"
    " ELLIPS_NWIDTH ELLIPS_NLENGTH ENV_C1-2",
    "INFLATION_PRESSURE_RANGE": "PRESMIN PRESMAX",
    "VERTICAL_FORCE_RANGE": "FZMIN FZMAX",
    "LONG_SLIP_RANGE": "KPUMIN KPUMAX",
    "SLIP_ANGLE_RANGE": "ALPMIN ALPMAX",
    "INCLINATION_ANGLE_RANGE": "CAMMIN CAMMAX",
    "SCALING_COEFFICIENTS": "LFZO LCX LMUX LEX LKX LHX LVX LCY LMUY LEY LKY LHY LVY LTR LRES LXAL "
    "LYKA LVYKA LS LKYC LKZC LVMX LMX LMY LMP LMUV LGAX LGAY LGAZ LSGKP LSGAL LGYR LCZ LIP LKG "
    "LMPHI LMUS",
    "LONGITUDINAL_COEFFICIENTS": "PCX1 PDX1-3 PEX1-4 PKX1-3 PHX1-2 PVX1-2 PPX1-4 RBX1-3 RCX1 "
    "REX1-2 "
    "RHX1 "
    "PTX1-3",
    "OVERTURNING_COEFFICIENTS": "QSX1-14 PPMX1",
    "LATERAL_COEFFICIENTS": "PCY1 PDY1-3 PEY1-5 PKY1-7 PHY1-3 PVY1-4 PPY1-5 RBY1-4 RCY1 REY1-2 "
    "RHY1-2 "
    "RVY1-6 "
    "PTY1-2",
    "ROLLING_COEFFICIENTS": "QSY1-8",
    "ALIGNING_COEFFICIENTS": "QBZ1-10 QCZ1 QDZ1-11 QEZ1-5 QHZ1-4 PPZ1-2 QPZ1-2 SSZ1-4 QTZ1 MBELT",
    "TURNSLIP_COEFFICIENTS": "PDXP1-3 PKYP1 PDYP1-4 PHYP1-4 PECP1-2 QDTP1 QCRP1-2 QBRP1 QDRP1-2",
}


def expand_key_range(word: str) -> list[str]:
    """PDX1-3 as PDX1, PDX2, PDX3."""
    match = re.fullmatch(r"(\w*?)(\d+)-(\d+)", word)
    if match is None:
        return [word]
    return [f"{match[1]}{i}" for i in range(int(match[2]), int(match[3]) + 1)]


SECTION_OF = {
    key: section
    for section, text in SECTIONS.items()
    for word in text.split()
    for key in expand_key_range(word)
}
SCALES = tuple(key for key, section in SECTION_OF.items() if section == "SCALING_COEFFICIENTS")
RANGES = {  # limit: the quantity it bounds, its words, its unit
    "PRES": ("p", "pressure", "Pa"),
    "FZ": ("Fz", "load", "N"),
    "KPU": ("kappa", "longitudinal slip", ""),
    "ALP": ("alpha", "slip angle", "rad"),
    "CAM": ("gamma", "inclination", "rad"),
}
NOT_ZERO = {  # what a missing key stands for, where it is not zero
    **dict.fromkeys(SCALES, 1.0),
    "LMUV": 0.0,
    "Q_RE0": 1.0,
    "PKY4": 2.0,
    "LONGVL": 16.7,
    "VXLOW": 1.0,
    "NOMPRES": 2.2e5,
    **{f"{key}MIN": -float("inf") for key in RANGES},
    **{f"{key}MAX": float("inf") for key in RANGES},
}
DEFAULTS = {key: NOT_ZERO.get(key, 0.0) for key in SECTION_OF}

# of the coefficients that are no pure numbers: over length, force, angle, mass, time, pressure
DIMENSIONS = {
    "L": "UNLOADED_RADIUS WIDTH RIM_RADIUS RIM_WIDTH BOTTOM_OFFST ELLIPS_MAX_STEP ROAD_INCREMENT",
    "L/T": "LONGVL VXLOW",
    "L/T/T": "GRAVITY",
    "F": "FNOMIN FZMIN FZMAX",
    "F/A": "Q_FYS1 Q_FYS2 Q_FYS3",
    "F/L": "VERTICAL_STIFFNESS LONGITUDINAL_STIFFNESS LATERAL_STIFFNESS BOTTOM_STIFF",
    "F*T/L": "VERTICAL_DAMPING",
    "F*L/A": "YAW_STIFFNESS",
    "P": "INFLPRES NOMPRES IP IP_NOM PRESMIN PRESMAX",
    "A": "ALPMIN ALPMAX CAMMIN CAMMAX",
    "M": "MASS BELT_MASS MBELT",
    "M*L*L": "IXX IYY BELT_IXX BELT_IYY",
}
DIMENSION_OF = {key: dimension for dimension, keys in DIMENSIONS.items() for key in keys.split()}


def dimension_factor(dimension: str, factors: Mapping[str, float]) -> float:
    """The value of one unit of a dimension, such as F*T/L, from those of its letters."""
    value = 1.0
    for operator, letter in re.findall(r"([*/]?)([A-Z])", dimension):
        value = value / factors[letter] if operator == "/" else value * factors[letter]
    return value
