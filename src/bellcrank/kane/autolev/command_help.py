"""The commands of the dialect in words: what WHAT, FORMS and HELP answer."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.core.errors import ModelError, did_you_mean, pluralize

COMMANDS: dict[str, tuple[str, str]] = {  # how it is written, what it does
    "AUTOZ": (
        "AUTOZ(ON) or AUTOZ(OFF)",
        "Intermediate symbols Z1, Z2, ... for coefficients and repeated parts. ON at the start.",
    ),
    "DOF": (
        "DOF(n)",
        "The number of degrees of freedom. Declares the generalized speeds U1 ... Un.",
    ),
    "FRAMES": (
        "FRAMES(A,B,..)",
        "Rigid bodies. Each brings unit vectors A1, A2, A3, mass centre ASTAR, mass MASSA "
        "and central inertias "
        "IA(i,j). The Newtonian frame N is always there.",
    ),
    "SIMPROT": (
        "SIMPROT(F,G,axis,angle)",
        "G is F turned by the angle about axis 1, 2 or 3, which both share.",
    ),
    "DIRCOS": (
        "DIRCOS(F,G)   DIRCOS(F,G,c11,c12,..,c33)   DIRCOS(F,G,EULERP)",
        "Direction cosines Fi.Gj: computed; given row by row; or by Euler parameters EGF1 "
        "... EGF4, scalar last.",
    ),
    "EPDOTS": (
        "EPDOTS(F,G)",
        "Rates of the Euler parameters of G in F. Needs the angular velocity WGF.",
    ),
    "ADD": ("X=ADD(V1,V2,..)", "Sum of vectors."),
    "EXPRESS": ("EXPRESS(V,F)", "Writes the vector V along the axes of F; V keeps its name."),
    "PANGVEL": (
        "PANGVEL(F)   PANGVEL(F,n)",
        "Partial angular velocities of F in N, all or the n-th, named WFN1, WFN2, ...",
    ),
    "PVEL": (
        "PVEL(P)   PVEL(P,n)",
        "Partial velocities of the point P in N, all or the n-th, named VPN1, VPN2, ...",
    ),
    "DERIV": (
        "X=DERIV(V,T,F)",
        "Derivative of V in F with respect to time T, or a partial one with respect to "
        "another variable.",
    ),
    "DOT": ("DOT(V1,V2)", "Scalar product, in formulas."),
    "CROSS": ("CROSS(V1,V2)", "Vector product, in formulas."),
    "VAR": (
        "VAR(X1,X2,..)",
        "Declares variables. Not needed for U's, T and what stands on the left of '='.",
    ),
    "CONST": (
        "CONST(C1,C2,..)",
        "Declares constants. Their values are read from the input file, in this order.",
    ),
    "SPECIFIED": (
        "SPECIFIED(X1,X2,..)",
        "Declares prescribed motions, then defined by X1=formula in T. Output file .SPn.",
    ),
    "POINTS": ("POINTS(Q,R,..)", "Points. Each has a mass MASSQ unless MASSLESS says otherwise."),
    "MASSLESS": ("MASSLESS(Q,R,..)", "Points or frames without mass."),
    "V2PTS": (
        "V2PTS(G,H,X,Y)",
        "Velocity of Y in G from that of X, both fixed in H: VYG = VXG + WHG x PXY.",
    ),
    "V1PT": (
        "V1PT(G,H,X,Y)",
        "Velocity of Y in G; Y moves on H, in which X is fixed: VYG = VYH + VXG + WHG x PXY.",
    ),
    "PRINCIPAL": ("PRINCIPAL(A,B,..)", "Products of inertia are zero; IA(i,i) becomes IA(i)."),
    "FRSTAR": (
        "FRSTAR",
        "Inertia torques TSTARA, ... and generalized inertia forces F1STAR, ... Needs V, A, "
        "W and ALF.",
    ),
    "FORCE": (
        "FORCE(P)=vector   FORCE(P/Q)=vector",
        "A force on P; a force that P exerts on Q, with its reaction on P.",
    ),
    "TORQUE": (
        "TORQUE(F)=vector   TORQUE(F/G)=vector",
        "A torque on F; a torque that F exerts on G, with its reaction on F.",
    ),
    "CONTROLS": (
        "CONTROLS(C1,C2,..)",
        "Force quantities that depend on the motion, then defined by C1=formula. Output file .COn.",
    ),
    "AUXILIARY": (
        "AUXILIARY(U3,R3)",
        "U3 is an auxiliary speed (always zero); R3 is the force or torque component it "
        "brings into evidence. "
        "Output file .AUn.",
    ),
    "FR": ("FR", "Generalized active forces F1, F2, ..."),
    "KANE": ("KANE", "The equations of motion Fr + FrSTAR = 0. Needs FR and FRSTAR."),
    "KE": ("KE", "Kinetic energy KE = KE0 + KE1 + KE2, by degree in the speeds. Output file .NRG."),
    "PE": ("PE=formula", "Potential energy, given by the user. Output file .NRG."),
    "UNITS": (
        "UNITS(name,unit,..)   UNITS",
        "Units for the output; MASS, INERTIA and ENERGY are classes. Bare: what has none.",
    ),
    "CODE": (
        "CODE(name)   CODE(name,SUBS)",
        "Writes the FORTRAN program name.FOR, with the integrator if SUBS is given. Needs KANE.",
    ),
    "HELP": ("HELP   HELP command", "Help."),
    "WHAT": ("WHAT", "The list of commands."),
    "FORMS": ("FORMS", "The forms of names that have a meaning."),
    "LIST": ("LIST   LIST first last", "The entries and answers so far."),
    "CLEAR": ("CLEAR", "Erases the workspace."),
    "RECORD": ("RECORD(file)", "Writes the entries (not the answers) to file.al."),
    "EXEC": ("EXEC(file)", "Enters the lines of file.al."),
    "SAVE": (
        "SAVE(file)",
        "Writes the workspace to file.sav, and entries with answers to file.wrk.",
    ),
    "LOAD": ("LOAD(file)", "Erases the workspace and restores file.sav."),
    "QUIT": ("QUIT", "Leaves."),
}

FORMS = """\
A1, A2, A3        unit vectors of frame A
ASTAR             mass centre of body A
MASSA, MASSQ      mass of body A, of point Q
IA(i,j), IA(i)    central inertia scalars of body A; IA(i) after PRINCIPAL(A)
W[A][F]           WAN: angular velocity of A in N
ALF[A][F]         ALFAN: angular acceleration of A in N
P[X][Y]           PQASTAR: position vector from Q to ASTAR
V[X][F]           VASTARN: velocity of ASTAR in N
A[X][F]           AASTARN: acceleration of ASTAR in N
U1, U1'           generalized speed and its derivative
X'=formula        kinematical differential equation of the coordinate X
FORCE(P), FORCE(P/Q), TORQUE(F), TORQUE(F/G)
F1, F1STAR, TSTARA, KE, PE, Z1: results of FR, FRSTAR, KE, AUTOZ
EAN1 ... EAN4     Euler parameters of A in N, scalar last"""

HELP = """\
Enter a command, or name=formula. A '!' begins a comment.
WHAT lists the commands, FORMS the names with a meaning, HELP command explains one.
LIST shows the entries, RECORD(file) keeps them, SAVE(file) and LOAD(file) keep and restore \
everything, QUIT leaves."""


def command_forms(name: str) -> str:
    """How a command is written, in words."""
    return " or ".join(COMMANDS[name][0].split("   "))


def argument_count_error(name: str, args: Sequence[str]) -> ModelError:
    """Complains about the number of arguments."""
    return ModelError(
        f"{pluralize(len(args), 'argument')} given; the form is {command_forms(name)}"
    )


def help_lines(name: str | None) -> list[str]:
    """The answer to HELP."""
    if name is None:
        return HELP.splitlines()
    key = name.upper().partition("(")[0]
    if key not in COMMANDS:
        return [f"there is no command {key}.{did_you_mean(key, COMMANDS)}"]
    return list(COMMANDS[key])


def what_lines() -> list[str]:
    """The answer to WHAT: commands in columns."""
    names = sorted(COMMANDS)
    return [
        "  ".join(f"{n:10}" for n in names[i : i + 6]).rstrip() for i in range(0, len(names), 6)
    ]
