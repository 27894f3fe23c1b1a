"""Power spectral density of the ride, by Welch's method."""

from __future__ import annotations

from scipy.signal import welch

from bellcrank.vehicles.manoeuvres.manoeuvre_result import Curve, Result

SEGMENT = 4.0  # s
RANGE = (0.3, 25.0)  # Hz; the road has no shorter waves
BEFORE = 0.1  # of the run, until the road acts
CHANNELS = {
    "az": ("vertical acceleration PSD", "(m/s2)^2/Hz"),
    "pitch_rate": ("pitch rate PSD", "(deg/s)^2/Hz"),
    "fl.tyre_load": ("wheel load PSD, front left", "N^2/Hz"),
    "rl.tyre_load": ("wheel load PSD, rear left", "N^2/Hz"),
}


def ride_psd(result: Result) -> list[Curve]:
    """One-sided densities of the run on a rough road."""
    run, curves = result.run, []
    dt = float(run.time[1] - run.time[0])
    first = int(BEFORE * len(run.time))
    for name, (words, unit) in CHANNELS.items():
        if name in run.channels:
            values = run[name][first:]
            f, density = welch(
                values - values.mean(), 1 / dt, nperseg=min(len(values), round(SEGMENT / dt))
            )
            inside = (f >= RANGE[0]) & (f <= RANGE[1])
            curves.append(
                Curve("frequency, Hz", f"{words}, {unit}", ((name, f[inside], density[inside]),))
            )
    return curves
