"""Is the step of a run too large for its method? Eigenvalues of the linear equations report, a
small push verifies it.

A mode with eigenvalue s grows by |exp(h s)| in a step; a method makes it grow by |R(h s)|. Where
the method lets errors grow that the motion does not, its step is too large. Motions that grow by
themselves (falling, tipping over) are followed as they are and raise no alarm. Hairer & Wanner
(1996), Solving Ordinary Differential Equations II, section IV.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from bellcrank.core.numeric.fixed_step_methods import METHODS, StageSum
from bellcrank.core.numeric.integrate import step_function
from bellcrank.simulation.run.state_jacobian import PUSH, AllRates, difference_jacobian

JUMP = 3.0  # times by which finer differences are larger or smaller where a formula jumps
GROWTH = (
    10.0  # of errors in a whole run, against the motion itself, from which on a step is looked at
)
SURE = 0.9  # fraction of that growth within which bounds need no eigenvalues
SQUARINGS = 6  # of matrices for such a bound
LARGE = 16  # states from which on it is worth leaving out those that move no others
MOST_POWERS = 32  # times the steps of a run, up to which powers of a step are formed
PROOF = 5.0  # times that a small push has to grow
MOST_STEPS = 2000  # in which it may do so
SMALLEST = 1e-9  # fraction of the step below which no stable one is looked for


@dataclass(frozen=True)
class UnstableMode:
    """A step that is too large: eigenvalue (1/s) at a time, growth of its errors per step, a stable
    step, the mode."""

    time: float
    eigenvalue: complex
    growth: float
    stable_step: float
    mode: np.ndarray
    motion_growth: float = 0.0  # growth of the fastest growing motion itself, 1/s


def smooth_jacobian(rates: AllRates, t: float, y: np.ndarray, coarse: np.ndarray) -> np.ndarray:
    """Slopes from which jumps are taken out: dry friction at rest is no stiff damper.

    Differences across a jump grow as they become finer: ten times as large with a tenth of the push
    where the jump is at the state, nothing where it is just next to it.
    """
    fine = difference_jacobian(rates, np.array([t]), y[None, :], PUSH / 10)[0]
    smoothed = np.where(np.abs(fine) < np.abs(coarse) / JUMP, fine, coarse)
    return np.where(np.abs(fine) > JUMP * np.abs(coarse), (10 * coarse - fine) / 9, smoothed)


def amplification_matrix(A: np.ndarray, h: float, method: str, n_q: int) -> np.ndarray:
    """What a step of the method makes of states whose rates are A y; A may be several matrices.

    Of a method with two steps: of the states at the end of one and at its beginning."""
    one, hA = np.eye(A.shape[-1]), h * A
    if (two := METHODS[method].two_step) is not None:
        b1, b0 = two.coefficients
        new = np.concatenate([one + b1 * hA, b0 * hA], axis=-1)
        identity_rows = np.broadcast_to(np.concatenate([one, 0 * one], axis=-1), new.shape)
        return np.concatenate([new, identity_rows], axis=-2)
    if METHODS[method].semi_implicit:
        step = one + hA
        step[..., :n_q, :] = one[:n_q]
        step[..., :n_q, :] += hA[..., :n_q, :] @ step
        return np.asarray(step)
    *lower_coefficients, highest = (
        x.numerator / x.denominator for x in METHODS[method].stability_polynomial
    )
    step = highest * one
    for x in reversed(lower_coefficients):
        step = hA @ step + x * one
    return np.asarray(step)


def two_step_roots(two: StageSum, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The roots w of w**2 = w + z*(b1*w + b0): a mode grows by them in a step of a method with two
    steps, z = h s. The first is that near exp(z) where z is small. Hairer & Wanner (1996), section
    V.1."""
    b1, b0 = two.coefficients
    mean_root = (1 + b1 * z) / 2
    root = np.sqrt(mean_root**2 + b0 * z + 0j)
    root = np.where((mean_root.conj() * root).real < 0, -root, root)
    return mean_root + root, mean_root - root


@cache
def _stability_error_bound(method: str) -> tuple[int, float, float]:
    """k, a and b of d = a r**k: where |z| <= r <= b, a step departs from exp(z) by no more, and so
    lets no mode grow by a factor of more than 1 + d against its motion."""
    if (two := METHODS[method].two_step) is not None:
        # up to there the first root is analytic, so that its departure by z**3 is largest on the
        # circle, and the second one is smaller than it
        k, b = METHODS[method].order + 1, 0.5
        z = b * np.exp(1j * np.linspace(0.0, math.pi, 721))
        return k, 1.01 * float(np.abs(two_step_roots(two, z)[0] - np.exp(z)).max()) / b**k, b
    coefficients = METHODS[method].stability_polynomial
    terms = [abs(float(Fraction(1, math.factorial(k)) - x)) for k, x in enumerate(coefficients)]
    first = next((k for k, x in enumerate(terms) if x), len(terms))
    tail = math.e - sum(1 / math.factorial(k) for k in range(len(coefficients)))
    return first, sum(terms) + tail, 1.0


@cache
def stable_norm_bound(steps: int, method: str) -> float:
    """The squared norm of h A, squared SQUARINGS times, below which no mode grows too quickly; zero
    if none reports."""
    if METHODS[method].semi_implicit:
        return 0.0
    k, a, b = _stability_error_bound(method)
    return float(min(_allowed_log_growth(steps) / a, b**k) ** (2.0 ** (SQUARINGS + 1) / k))


def _allowed_log_growth(steps: int) -> float:
    """The growth of a mode in one step, as a logarithm, that surely does no harm in so many."""
    return SURE * math.log(GROWTH) / steps


def certainly_stable(A: np.ndarray, h: float, steps: int, method: str, n_q: int) -> np.ndarray:
    """For which of several matrices is it sure, without a look at eigenvalues, that no mode grows
    too quickly?

    No eigenvalue of a matrix is larger than the m-th root of the norm of its m-th power, which is
    found by squaring: it is so for h A where that is small, or else for the step itself where
    motions do not grow.
    """
    max_log_growth = _allowed_log_growth(steps)
    A, n_q = _drop_ignorable_states(A, n_q) if A.shape[1] > LARGE else (A, n_q)
    stable = np.zeros(len(A), dtype=bool)
    if not METHODS[method].semi_implicit:
        undecided, power = np.arange(len(A)), h * A
        for squarings in range(SQUARINGS, -1, -1):
            is_stable = _squared_norms(power) < stable_norm_bound(steps, method) ** 0.5**squarings
            stable[undecided[is_stable]] = True  # and so it is for the squares
            undecided, power = undecided[~is_stable], power[~is_stable]
            if not len(undecided):
                return np.asarray(stable)
            power = power @ power if squarings else power
    undecided = np.flatnonzero(~stable)
    if (two := METHODS[method].two_step) is not None and len(
        undecided
    ):  # its matrices are twice as large
        roots = two_step_roots(two, h * np.linalg.eigvals(A[undecided]))
        stable[undecided] = np.log(np.maximum(*np.abs(roots)).max(axis=-1)) < max_log_growth
        return np.asarray(stable)
    power, m = amplification_matrix(A[undecided], h, method, n_q), 1
    while len(undecided) and m < MOST_POWERS * steps:
        power, m = power @ power, 2 * m
        if m > steps:
            is_stable = 0.5 * np.log(_squared_norms(power)) < max_log_growth * m
            stable[undecided[is_stable]] = True
            undecided, power = undecided[~is_stable], power[~is_stable]
    return np.asarray(stable)


def _drop_ignorable_states(A: np.ndarray, n_q: int) -> tuple[np.ndarray, int]:
    """The matrices without states on which no other depends, such as the place on a plane: their
    modes do not grow."""
    while not (coupled := np.asarray(A.any(axis=(0, 1)))).all():
        A, n_q = A[:, coupled][:, :, coupled], int(coupled[:n_q].sum())
    return A, n_q


def _squared_norms(matrices: np.ndarray) -> np.ndarray:
    return np.asarray(np.einsum("kij,kij->k", matrices, matrices))


def amplification_factors(
    A: np.ndarray, h: float, method: str, n_q: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues of A, by how much the method makes their modes grow in a step, and the modes."""
    values, modes = np.linalg.eig(A)
    if not METHODS[method].semi_implicit:
        z = h * values
        if (two := METHODS[method].two_step) is not None:
            return values, np.maximum(*np.abs(two_step_roots(two, z))), modes
        R = sum(
            z**k * x.numerator / x.denominator
            for k, x in enumerate(METHODS[method].stability_polynomial)
        )
        return values, np.abs(R), modes
    step = amplification_matrix(A, h, method, n_q)
    # a mode of the step belongs to the motion it is nearest to; slow ones, which are followed well,
    # choose first
    roots = list(np.linalg.eigvals(step))
    growth = np.empty(len(values))
    for i in np.argsort(np.abs(values)):
        closest = min(range(len(roots)), key=lambda k: abs(roots[k] - np.exp(h * values[i])))
        growth[i] = abs(roots.pop(closest))
    return values, growth, modes


def _excess_growth(values: np.ndarray, grown: np.ndarray, h: float) -> np.ndarray:
    """Logarithm of how much more modes grow than the fastest growing motion itself; those that
    decay do not count."""
    with np.errstate(all="ignore"):
        beyond = np.log(grown) - h * max(float(values.real.max()), 0.0)
    return np.where((grown > 1 + 1e-9) & np.isfinite(beyond), beyond, -np.inf)


def find_unstable_mode(
    rates: AllRates,
    t: float,
    y: np.ndarray,
    A: np.ndarray,
    h: float,
    steps: int,
    method: str,
    n_q: int,
) -> UnstableMode | None:
    """The mode whose errors grow most against the motion at a state with slopes A, if they do so
    too quickly."""
    with np.errstate(all="ignore"):
        alarm = unstable_mode_of_matrix(A, t, h, steps, method, n_q)
        return alarm and unstable_mode_of_matrix(
            smooth_jacobian(rates, t, y, A), t, h, steps, method, n_q
        )


def unstable_mode_of_matrix(
    A: np.ndarray, t: float, h: float, steps: int, method: str, n_q: int
) -> UnstableMode | None:
    """The same for states whose rates are A times them."""
    if not np.all(np.isfinite(A)):
        return None
    values, grown, modes = amplification_factors(A, h, method, n_q)
    excess = _excess_growth(values, grown, h)
    worst = int(np.argmax(excess))
    if steps * excess[worst] < math.log(GROWTH):
        return None

    def exceeds_growth(step: float) -> bool:
        v, g, _ = amplification_factors(A, step, method, n_q)
        beyond = float(_excess_growth(v, g, step).max())
        return steps * h / step * beyond > math.log(GROWTH)

    stable = min(h, 4 / abs(values[worst]))
    while exceeds_growth(stable):
        stable *= 0.9
        if stable < SMALLEST * h:
            return None
    motion_growth = max(0.0, float(values.real.max()))
    return UnstableMode(
        t, complex(values[worst]), float(grown[worst]), stable, modes[:, worst], motion_growth
    )


def confirm_instability(
    all_rates: AllRates, alarm: UnstableMode, y: np.ndarray, h: float, method: str, n_q: int
) -> bool:
    """Does a small push along the mode grow in some steps of the method, more than the motion
    itself lets it grow?"""
    perturbation = (
        alarm.mode.real
        / (np.abs(alarm.mode.real).max() or 1.0)
        * 1e-7
        * max(1.0, float(np.abs(y).max()))
    )
    count = min(MOST_STEPS, math.ceil(math.log(2 * PROOF) / max(math.log(alarm.growth), 1e-9)))
    if METHODS[method].two_step:  # the second root has a small fraction of a push at first
        count = min(MOST_STEPS, 2 * count + 20)
    advance = step_function(method, n_q)
    perturbed, reference = y + perturbation, y
    old_rates: list[np.ndarray | None] = [None, None]

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        return np.asarray(all_rates(np.array([t]), y[None, :])[0])

    with np.errstate(all="ignore"):
        for i in range(count):
            t = alarm.time + i * h
            times = t, t + h / 2, t + h
            new_rates = [rates(t, x) for x in (perturbed, reference)]
            perturbed, reference = (
                advance(rates, times, x, h, k, previous_rates)
                for x, k, previous_rates in zip(
                    (perturbed, reference), new_rates, old_rates, strict=True
                )
            )
            old_rates = [*new_rates]
            distance = np.abs(perturbed - reference).max()
            motion_growth = math.exp(min(alarm.motion_growth * (i + 1) * h, 100.0))
            if (
                not np.all(np.isfinite(perturbed))
                or distance > PROOF * motion_growth * np.abs(perturbation).max()
            ):
                return True
    return False


def first_unstable_state(
    rates: AllRates,
    times: np.ndarray,
    states: np.ndarray,
    h: float,
    steps: int,
    method: str,
    n_q: int,
    state_indices: np.ndarray,
    two_sided: np.ndarray,
) -> tuple[UnstableMode, np.ndarray] | None:
    """The first of some states at which the step is too large.

    `state_indices`: the states that rates depend on. Differences are forward, and central where
    `two_sided` is true: at states that may lie on a kink. Uncertain cases are checked with central
    differences.
    """
    with np.errstate(all="ignore"):
        slopes = np.empty((*states.shape, states.shape[1]))
        for sides in (True, False):
            selected = two_sided == sides
            if selected.any():
                slopes[selected] = difference_jacobian(
                    rates,
                    times[selected],
                    states[selected],
                    state_indices=state_indices,
                    is_central=sides,
                )
        doubtful = np.flatnonzero(~certainly_stable(slopes, h, steps, method, n_q))
    for i in doubtful.tolist():
        t, y = float(times[i]), states[i]
        A = (
            slopes[i]
            if two_sided[i]
            else difference_jacobian(
                rates, times[i : i + 1], states[i : i + 1], state_indices=state_indices
            )[0]
        )
        alarm = find_unstable_mode(rates, t, y, A, h, steps, method, n_q)
        if alarm is not None and confirm_instability(rates, alarm, y, h, method, n_q):
            return alarm, y
    return None


def instability_message(
    alarm: UnstableMode, h: float, method: str, culprit: Callable[[np.ndarray, float], str]
) -> str:
    """What is wrong, and which step would do."""
    s = alarm.eigenvalue
    eigenvalue_text = (
        f"{s.real:.3g} 1/s"
        if abs(s.imag) < 1e-9 * abs(s)
        else f"{s.real:.3g} +/- {abs(s.imag):.3g}i 1/s"
    )
    likely = culprit(alarm.mode, alarm.time)
    return (
        f"the step of {h:g} s is too large for {method}: at t = {alarm.time:g} s the "
        f"fastest motion has the "
        f"eigenvalue {eigenvalue_text}"
        f"{f' ({likely})' if likely else ''}, whose errors grow {alarm.growth:.3g} times "
        f"with every step; a step of "
        f"{alarm.stable_step:.2g} s is stable"
    )
