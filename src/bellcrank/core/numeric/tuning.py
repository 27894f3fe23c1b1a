"""Thresholds, ratios and limits of algorithms that stand in several languages: one table, printed
into C.

A threshold of rounding grows with the rounding of the numbers a program computes in: by the ratio
of their epsilon to that of double precision, to a power of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any


def _constant(value: float, note: str, power: float = 0.0) -> Any:
    return field(default=value, metadata={"note": note, "power": power})


@dataclass(frozen=True)
class TuningConstant:
    """A line of the table."""

    name: str
    value: float
    note: str
    power: float

    def value_for_rounding(self, rounding: float) -> float:
        """Its value where numbers are rounded more than in double precision."""
        return self.value * rounding**self.power if rounding != 1.0 and self.power else self.value


@dataclass(frozen=True, eq=False, repr=False)
class EliminationTuning:
    """Linear systems: which pivots vanish."""

    singular: float = _constant(
        1e-4, "last pivot over the first, relative to its usual value, in a singular configuration"
    )
    vanishing: float = _constant(1e-12, "a scaled pivot in fixed order that is none", 0.75)
    dependent: float = _constant(
        1e-15, "a pivot of a symmetric matrix that is none, against its largest entry", 1.0
    )
    tied: float = _constant(1.0001, "ratio of two pivots above which the larger one goes first")
    sparser: float = _constant(
        0.5, "fraction of the largest entry of a row that a pivot in an emptier column has at least"
    )


@dataclass(frozen=True, eq=False, repr=False)
class RankTuning:
    """What counts as zero when a model is read and derived: rounding of what was given."""

    digits: float = _constant(1e-14, "a component of a direction that is none, against the largest")
    symmetric: float = _constant(
        1e-12, "difference of elements of an inertia that are equal, against the largest"
    )
    rounding: float = _constant(
        1e-9, "what is left of a row that follows from others, against what rows of its kind are"
    )
    rank: float = _constant(
        1e-6, "a singular value of closed loops against the largest, rows and columns of one size"
    )


@dataclass(frozen=True, eq=False, repr=False)
class LoopTuning:
    """How closed loops are kept closed."""

    closed: float = _constant(
        1e-13, "largest residual of a closed loop, in units of its equations ...", 1.0
    )
    tight: float = _constant(
        1e-15, "... near a singular configuration, where residuals are magnified", 1.0
    )
    open: float = _constant(1e-9, "... and of a loop that is not closed", 0.5)
    settled: float = _constant(
        1e-7, "a correction of q below this leaves a residual of rounding only", 0.5
    )
    near: float = _constant(
        0.1, "ratio of pivots below which a step that has ended is taken again with care"
    )
    watched: float = _constant(
        0.3, "ratio below which the next step is taken with care: all its stages are closed"
    )
    corrections: int = _constant(4, "most corrections of q at a step")
    fixed_corrections: int = _constant(
        2, "so many at every step, where a step takes a fixed number of operations ..."
    )
    first_corrections: int = _constant(20, "... and at the start")
    halvings: int = _constant(10, "of a step that needs a large correction")
    share: float = _constant(
        0.1, "a correction is large above this fraction of what a step moves ..."
    )
    least: float = _constant(1e-6, "... and this length", 0.5)
    short: float = _constant(1e-10, "a row that vanishes against the longest", 0.5)
    repeated: float = _constant(
        1e-12, "a pivot of a row that repeats others, against the largest", 0.75
    )


@dataclass(frozen=True, eq=False, repr=False)
class BridgeTuning:
    """Curves that carry closed loops through singular configurations. Lengths are those of scaled
    columns."""

    zone: float = _constant(
        0.02, "ratio of pivots of a block below which its rows give way to a curve"
    )
    edge: float = _constant(1.5, "a curve begins with a ratio between one and so many zones ...")
    behind: float = _constant(1.02, "... and ends with one of so many zones at least")
    glance: float = _constant(1e-4, "length of a look ahead", 0.25)
    pace: float = _constant(0.05, "longest pace on the way to the beginning of a curve")
    reach: float = _constant(0.5, "longest curve")
    widen: float = _constant(1.3, "factor by which a look goes farther")
    outside: float = _constant(
        0.5, "distance of points outside of the ends of a curve, against its length ..."
    )
    aligned: float = _constant(
        0.5, "... and cosine of the angle between the tangents there, at least"
    )
    sure: float = _constant(
        1e-3, "ratio above which a position determines the direction of its branch", 0.5
    )
    still: float = _constant(1e-9, "speed of a block at rest, 1/s", 0.5)
    round_off: float = _constant(4e-16, "residual of a scaled row that cannot be smaller", 1.0)
    off_branch: float = _constant(
        1e-6, "change of a speed of the start, onto its branch, that is reported", 0.5
    )
    foreign: float = _constant(1e-9, "scaled slope of a row by what is not in its block", 0.5)
    certified: float = _constant(1e-12, "largest residual of a scaled row along a curve", 1.0)
    falls: float = _constant(
        0.3,
        "largest fraction of the residual left by half the zone, unless branches miss each other",
    )
    zones: int = _constant(4, "halvings of the zone, the first included")
    leap: float = _constant(
        0.25, "fraction of the ratio that a step may be long where branches miss each other ..."
    )
    turn: float = _constant(0.1, "... and angle by which the speeds of a block may turn in it, rad")
    divisions: int = _constant(24, "of a step that is too long or turns too far ...")
    portions: int = _constant(
        400, "... into so many at most: a step that needs more is none for this motion"
    )


@dataclass(frozen=True, eq=False, repr=False)
class AssemblyTuning:
    """How loops are closed at the start, and the metric in which they are kept closed."""

    tries: int = _constant(60, "most Newton steps of an assembly")
    stride: float = _constant(0.5, "length of the longest of them")
    cuts: int = _constant(12, "most halvings of one that leads away ...")
    crumb: float = _constant(1e-3, "... down to this fraction of it")
    locked: float = _constant(
        1e-6, "sine of the angle between two axes of rotation that lock each other", 0.5
    )
    opposite: float = _constant(
        1e-12, "1 + the cosine of an angle: a direction that points the wrong way altogether", 0.5
    )
    nudges: int = _constant(6, "starts next to the given one from which that is mended ...")
    nudge: float = _constant(0.2, "... each further away by this")
    assembled: float = _constant(1e-10, "largest residual that may be left", 0.5)
    carried: float = _constant(1e-9, "... and of speeds, against the largest of them", 0.5)
    told: float = _constant(1e-9, "a change of a given value that is reported", 0.5)
    sweeps: int = _constant(30, "most over all pairs of columns, to make them orthogonal ...")
    orthogonal: float = _constant(1e-15, "... which they are at this cosine", 1.0)
    light: float = _constant(1e-3, "fraction of the largest inertia: smaller ones count as this")


@dataclass(frozen=True, eq=False, repr=False)
class MultiplierTuning:
    """Methods for differential-algebraic equations."""

    newton: int = _constant(10, "most iterations of a projection")
    closed: float = _constant(
        LoopTuning.closed, "largest residual of a closed loop, in units of its equations", 1.0
    )
    repeats: float = _constant(1e-9, "a pivot that means that rows repeat others", 0.5)


@dataclass(frozen=True, eq=False, repr=False)
class RigidWheelTuning:
    """Rigid wheels on rigid ground."""

    touch: float = _constant(
        1e-11, "length by which a wheel may be in ground that it rolls on", 0.5
    )
    bent: float = _constant(
        0.003, "rad by which the normal may turn in a step of a wheel that rolls on curved ground"
    )
    fine: float = _constant(0.3, "what curved ground turns at least, in a radius, for this")
    ahead: float = _constant(1e-7, "s, to see into which part of the ground a wheel moves", 0.5)
    narrow: float = _constant(
        -20.0, "turn of the normal in a radius from which on a valley is a notch"
    )
    shortest: float = _constant(
        1e-4, "fraction of a step that is taken at least where the normal turns quickly"
    )
    soon: float = _constant(
        0.01, "fraction of a step within which a wheel in a notch goes back to its other side ..."
    )
    flips: int = _constant(8, "... so many times in a row before it is held")
    raises: int = _constant(20, "turns in which wheels are moved out of the ground")
    impacts: int = _constant(50, "at one instant")
    halvings: int = _constant(60, "of a step, to find an event ...")
    instant: float = _constant(1e-14, "s, or fraction of the time: within this it is found", 1.0)
    creep: float = _constant(
        1e-9, "least speed that counts: it is divided by, or leads into the ground; ...", 0.5
    )
    after: int = _constant(10, "... more of it with every impact at an instant")
    peek: float = _constant(
        0.02, "fraction of a radius by which a wheel in a narrow valley sees ahead"
    )
    aside: float = _constant(1e-6, "fraction of a radius that distinguishes the sides of a notch")
    deeper: float = _constant(
        1e-13, "length by which a wheel that has got into the ground may continue into it", 1.0
    )
    stuck: float = _constant(
        1e-12, "an eigenvalue of the wheels' response that is none, against the largest", 0.75
    )


@dataclass(frozen=True, eq=False, repr=False)
class GroundTuning:
    """The nearest point of a ground made of pieces."""

    feet: int = _constant(8, "most iterations for it")
    foot: float = _constant(
        1e-9, "a change that ends them, as the next one would be its square ...", 0.5
    )
    exact: float = _constant(1e-15, "... and where there is no next one", 1.0)
    level: float = _constant(
        1e-12, "share by which heights and slopes may differ at an edge that is none"
    )


@dataclass(frozen=True, eq=False, repr=False)
class DifferenceTuning:
    """Slopes of user functions, by differences of fourth order."""

    step: float = _constant(1e-4, "step of an argument, against its size or 1")


@dataclass(frozen=True, eq=False, repr=False)
class SurfaceTuning:
    """The nearest point of a ground over x and y."""

    feet: int = _constant(20, "most iterations for it")
    foot: float = _constant(1e-10, "a change that ends them", 0.5)
    halves: int = _constant(12, "of a step that leads away")
    rounds: float = _constant(
        1e-14, "share by which a square of the distance may grow and counts as none", 1.0
    )
    flat: float = _constant(
        0.1,
        "fraction of the curvature of the distance that is left, below which slopes alone are used",
    )
    samples: int = _constant(8, "of each side of a square around, where there may be several")


@dataclass(frozen=True, eq=False, repr=False)
class ImplicitTuning:
    """Newton's method of a function given by equations."""

    turns: int = _constant(20, "most iterations")
    settled: float = _constant(1e-12, "a change that ends them; slopes are those before it", 0.75)
    small: float = _constant(1e-4, "square of half an angle below which its sine is a series")


@dataclass(frozen=True, eq=False, repr=False)
class InputTuning:
    """Sampled inputs."""

    known: float = _constant(
        1e-9, "fraction of the end of a run for which an input need not be known"
    )
    kink: float = _constant(
        1e-9, "fraction of the steepest slope by which lines of an input differ at a kink"
    )


@dataclass(frozen=True, eq=False, repr=False)
class EventTuning:
    """Events of a run; times are in double precision, whatever a run computes in."""

    instant: float = _constant(
        1e-14, "s, or fraction of the time: events so near to each other are at one time"
    )
    located: float = _constant(
        1e-15, "s, or fraction of the time, to which the zero of a condition is found"
    )
    rounding: float = _constant(
        1e-15, "share by which values are moved to see what rounding does to a condition", 1.0
    )
    zero: float = _constant(
        1e-9,
        "fraction of its size about an event below which a condition is zero after the action",
        0.5,
    )
    jump: float = _constant(
        1e-3, "fraction of its values about a step that a condition has where it jumps across zero"
    )
    tries: int = _constant(400, "evaluations of a condition in the search for its zero")
    looks: int = _constant(4, "in each step of an adaptive method, which may be long")
    halvings: int = _constant(
        40, "of the first step after an event, to see where its condition goes"
    )
    glance: float = _constant(
        1e-6, "fraction of a step over which the rate of a condition is found", 0.5
    )
    still: float = _constant(1e-6, "fraction of that rate that is none", 0.5)
    soon: float = _constant(
        1e-9, "fraction of a step: an event that fires again so soon chatters ...", 0.5
    )
    most: int = _constant(100, "... and so do so many actions of one event within ...")
    span: float = _constant(1e-4, "... this fraction of a run, or a step if that is shorter")
    followed: float = _constant(
        1e-12, "fraction of a state by which it has moved with one that an action set", 0.5
    )


@dataclass(frozen=True, eq=False, repr=False)
class StepTuning:
    """Steps of a run."""

    gap: float = _constant(
        1e-9, "fraction of a step: nearer to its end, a break of an input lies at it", 0.5
    )


@dataclass(frozen=True, eq=False, repr=False)
class StepControlTuning:
    """Steps that adaptive methods choose."""

    safety: float = _constant(0.9, "fraction of the step that the error would allow")
    shrink: float = _constant(0.2, "least factor between two steps")
    tenth: float = _constant(0.1, "factor after a step without finite numbers ...")
    tenths: int = _constant(10, "... and after so many in a row there are none")
    smooth: float = _constant(1e-10, "error below which a step is not lengthened further ...")
    calm: float = _constant(1e-4, "... and below which the next step does not remember it")
    patient: float = _constant(0.01, "... with stiff methods")
    lower: float = _constant(0.01, "weight of the square of a second estimate of the error")
    opening: float = _constant(
        0.01, "what the first step changes, against the state and in powers of its length ..."
    )
    vague: float = _constant(1e-5, "... a size without information ...")
    guess: float = _constant(1e-6, "... the length there, s ...")
    flat: float = _constant(1e-15, "... rates that do not change it ...")
    leap_most: float = _constant(100.0, "... and the longest, against the first guess")
    outlook: float = _constant(
        10.0, "first steps in which a motion that begins at zero shows its size"
    )
    fitted: float = _constant(1.01, "factor by which the last step of a segment may be longer")
    shortest: float = _constant(
        3.6e-15, "fraction of the time below which a step is too small", 1.0
    )
    near_share: float = _constant(
        0.5,
        "fraction of the ratio of pivots that a step near a singular configuration leaves "
        "at least ...",
    )
    near_zone: float = _constant(
        BridgeTuning.zone, "... down to this ratio, where a curve carries it"
    )
    stiff_steps: int = _constant(15, "in so many steps that a fast mode holds, a run is stiff ...")
    free_steps: int = _constant(6, "... unless so many in a row are free of it")
    doubtful: float = _constant(
        0.5, "fraction of steps limited by a fast mode, or with Newton failures, that is reported"
    )
    trial_steps: int = _constant(
        10, "steps of a stiff method over which it is compared with the explicit one ..."
    )
    sooner: float = _constant(
        1.5, "... and so many times sooner it has to come on, to go back to it ..."
    )
    trials: int = _constant(
        6, "... which takes twice the steps to be held after it was better, so many times"
    )
    turns_of_rate: int = _constant(
        16, "products of slopes and a vector to find the rate of the fastest mode"
    )
    finest: float = _constant(1e-13, "smallest relative tolerance", 1.0)
    absolute: float = _constant(
        0.01, "fraction of the relative tolerance that is the absolute one of 1 m, 1 rad, 1 m/s ..."
    )
    near_breaks: float = _constant(
        1e-12, "fraction of the time within which breaks of inputs are one"
    )
    most_steps: int = _constant(
        100000000, "of a run, those that are rejected included, besides ..."
    )
    steps_of_row: int = _constant(100, "... so many for every row")


@dataclass(frozen=True, eq=False, repr=False)
class NewtonTuning:
    """Newton's method of stiff steps."""

    newton_turns: int = _constant(8, "most iterations")
    left_over: float = _constant(0.03, "of the tolerance that is left of a stage at most")
    hopeless: float = _constant(1000.0, "by how much convergence is too slow where there is none")
    kept: float = _constant(
        1e-3, "rate of convergence up to which slopes are kept for the next step ..."
    )
    steady: float = _constant(1.2, "... and factor up to which its length is kept")
    difference: float = _constant(
        1.5e-8,
        "fraction of a state by which it is moved for derivatives of state derivatives ...",
        0.5,
    )
    least_moved: float = _constant(1e-3, "... where it is larger than this")
    rounding: float = _constant(2.2e-16, "of numbers", 1.0)
    moment: float = _constant(
        1e-6,
        "fraction of a step over which the derivative of state derivatives with respect to "
        "time is found",
        0.5,
    )
    own_pivot: float = _constant(
        0.1, "smallest fraction of s in s x - slopes x = r that divides a state eliminated first"
    )


@dataclass(frozen=True, eq=False, repr=False)
class RunTuning:
    """A run as a whole: its steps and samples."""

    at_end: float = _constant(1e-9, "fraction of the end of a run by which whole steps may miss it")
    over: float = _constant(1e-12, "fraction of the end by which a step may be longer")
    raster: float = _constant(1e-6, "fraction of a step by which samples may be off their raster")


@dataclass(frozen=True, eq=False, repr=False)
class ExchangeTuning:
    """A model that others integrate, or step by step."""

    drift: float = _constant(
        1e-6, "residual of closed loops, left by others' steps, from which on they are closed again"
    )
    nudged: float = _constant(
        6e-6, "fraction of a number by which it is moved for slopes by central differences"
    )
    at_point: float = _constant(
        1e-6, "fraction of a step, or of the time, by which its beginning may be missed"
    )


@dataclass(frozen=True, eq=False, repr=False)
class PercentileTuning:
    """Percentiles of many numbers that are not kept."""

    cells: int = _constant(1024, "of equal width into which the numbers of a run are counted")


ELIMINATION, RANKS, LOOPS, BRIDGES = EliminationTuning(), RankTuning(), LoopTuning(), BridgeTuning()
ASSEMBLY, MULTIPLIERS = AssemblyTuning(), MultiplierTuning()
RIGID_WHEELS, GROUND, SURFACE, IMPLICIT = (
    RigidWheelTuning(),
    GroundTuning(),
    SurfaceTuning(),
    ImplicitTuning(),
)
DIFFERENCES = DifferenceTuning()
INPUTS, EVENTS, STEPS = InputTuning(), EventTuning(), StepTuning()
CONTROL, NEWTON, PLANS, EXCHANGE, COUNTING = (
    StepControlTuning(),
    NewtonTuning(),
    RunTuning(),
    ExchangeTuning(),
    PercentileTuning(),
)


def constants(group: Any) -> list[TuningConstant]:
    """The lines of a part of the table."""
    return [
        TuningConstant(f.name, getattr(group, f.name), f.metadata["note"], f.metadata["power"])
        for f in fields(group)
    ]
