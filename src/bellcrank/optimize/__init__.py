"""Parameters from measurements: least squares over runs of a model.

log = bc.measured.read("log.csv", "map.toml")
fit = bc.optimize.fit(sim, log, parameters={"k": (5e3, 5e4), "c": (100, 5000)})
print(fit); fit.plot("fit.png"); fit.page("fit.html")
sim.simulate(parameters=fit.parameters)
"""

from bellcrank.optimize.fit_result import Fit
from bellcrank.optimize.parameter_fitting import Recording, fit

__all__ = ["Fit", "Recording", "fit"]


def __dir__() -> list[str]:
    return sorted(__all__)
