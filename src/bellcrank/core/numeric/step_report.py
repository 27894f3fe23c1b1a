"""What is reported of steps that a method chose: why it could go no further, and what held it on
the way."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from bellcrank.core.numeric.collocation import STIFF
from bellcrank.core.numeric.embedded import EMBEDDED
from bellcrank.core.numeric.fixed_step_methods import AUTO
from bellcrank.core.numeric.loop_projector import SingularityPassage
from bellcrank.core.numeric.run_spec import STEP_TOO_SMALL, TOO_MANY_STEPS
from bellcrank.core.numeric.step_statistics import StepStatistics
from bellcrank.core.numeric.tuning import CONTROL

STIFF_ONE, EXPLICIT_ONE = next(iter(STIFF)), next(iter(EMBEDDED))


def step_failure_message(
    status: int,
    count: StepStatistics,
    states: Sequence[str],
    t_end: float,
    method: str,
    rtol: float,
) -> str:
    """Why steps became too small or too many, and what to do; "" if they did not."""
    if status not in (STEP_TOO_SMALL, TOO_MANY_STEPS):
        return ""
    rounding = _rounding_message(count, rtol)
    if status == TOO_MANY_STEPS:
        text = f"{count.max_steps} steps were not enough to t_end = {t_end:g} s"
        if rounding:
            return f"{text}. {rounding}"
        if count.fastest_rate and method in EMBEDDED:
            return (
                f"{text}. A mode of {count.fastest_rate:.2g} 1/s holds them: try "
                f"method='{STIFF_ONE}'"
            )
        return f"{text}. Try a larger rtol"
    name = states[count.worst_state] if states else "nothing"
    error = (
        f", its error is {count.error_ratio:.2g} times what is allowed"
        if count.error_ratio > 1
        else ""
    )
    text = f"the step became too small (last {count.shortest:.2g} s): {name} asks for it{error}"
    if rounding:
        return f"{text}. {rounding}"
    question = "Does it grow without bound, or does a formula of the model jump?"
    return f"{text}. {question} Give that as an input or event; or raise atol of {name}"


def _rounding_message(count: StepStatistics, rtol: float) -> str:
    """Is a tolerance too fine for what a stiff model leaves of double precision?"""
    tried = count.n_accepted + count.n_rejected
    if not count.n_jacobians or count.n_newton_failures < CONTROL.doubtful * tried:
        return ""
    return (
        f"Newton's method failed in {count.n_newton_failures} of {tried} steps: "
        f"rtol={rtol:g} may be below what the "
        f"stiffness "
        f"of the model leaves of double precision: try rtol={min(100 * rtol, 1e-3):g}"
    )


def stiffness_message(method: str, settings: Mapping[str, Any]) -> list[str]:
    """A message if a fast mode held the steps of an explicit method that was chosen by name."""
    slowed, rate = settings.get("held_steps", 0), settings.get("fastest_mode", 0.0)
    if method not in EMBEDDED or not rate or slowed < CONTROL.doubtful * settings["steps"]:
        return []
    return [
        f"a mode of {rate:.2g} 1/s limited {slowed} of {settings['steps']} steps of "
        f"{method} by stability, "
        f"not accuracy; method='{STIFF_ONE}' takes longer steps, '{AUTO}' switches to it"
    ]


def stiff_fallback_message(
    method: str, settings: Mapping[str, Any], visits: Sequence[SingularityPassage]
) -> list[str]:
    """A message if an explicit method took the steps near singular configurations, in place of a
    stiff one."""
    times = [
        x.time
        for x in visits
        if x.ratio != SingularityPassage.DIVIDED and x.time >= settings.get("went_over", x.time)
    ]
    if not times or not (method in STIFF or "went_over" in settings):
        return []
    stiff = STIFF_ONE if method == AUTO else method
    often = f", {len(times)} times, first" if len(times) > 1 else ""
    return [
        f"near singular configurations of loops{often} at t = {times[0]:.6g} s, "
        f"{EXPLICIT_ONE} replaced {stiff}"
    ]


def stiff_switch_message(settings: Mapping[str, Any]) -> list[str]:
    """A message if a run went over to a stiff method."""
    if "went_over" not in settings:
        return []
    rate = settings["fastest_mode"]
    text = (
        f"went over to {STIFF_ONE} at t = {settings['went_over']:.6g} s: a mode of {rate:.2g} "
        f"1/s held the steps"
    )
    if "went_back" in settings:
        times = settings["times_back"]
        often = f", the last of {times} times" if times > 1 else ""
        text += (
            f"; back to {EXPLICIT_ONE} at t = {settings['went_back']:.6g} s{often}, whose steps "
            f"came on sooner"
        )
    return [text]


def merge_statistics(total: MutableMapping[str, Any], text: Mapping[str, Any]) -> None:
    """Adds the figures of a segment to those of the ones before."""
    for key, x in text.items():
        if key not in total or not isinstance(x, int | float):
            total[key] = x
        elif isinstance(x, int):
            total[key] += x
        else:
            first = key in ("smallest_step", "went_over")
            total[key] = min(x, total[key]) if first else max(x, total[key])
