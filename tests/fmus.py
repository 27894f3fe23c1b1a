"""Functional mock-up units under test: opened by FMPy, with values by name for both versions of
FMI."""

import contextlib
import ctypes
import io
import zipfile

import numpy as np
import pytest

with contextlib.redirect_stdout(io.StringIO()):  # it says that it cannot log on some machines
    fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed")
    from fmpy.validation import validate_fmu

__all__ = ["HEADERS", "Opened", "fmpy", "sources_of", "validate_fmu"]

HEADERS = next(p for p in fmpy.__path__) + "/c-code"
LINE = {"rk2": [(0.5, 0.5)], "rk4": [(0.5, 0.5), (0.5, 0.5), (1.0, 1.0)], "euler": []}
WEIGHTS = {"rk2": (0.0, 1.0), "rk4": (1 / 6, 1 / 3, 1 / 3, 1 / 6), "euler": (1.0,)}


def sources_of(path, folder):
    """The folder with the sources of a unit."""
    zipfile.ZipFile(path).extractall(folder)
    return folder / "sources"


class Opened:
    """One instance of a unit; values are in equation units."""

    def __init__(self, path, kind, folder=None):
        self.description = fmpy.read_model_description(str(path))
        self.folder = folder or fmpy.extract(str(path))
        self.three, self.kind = self.description.fmiVersion.startswith("3"), kind
        with contextlib.redirect_stdout(io.StringIO()):
            self.fmu = fmpy.instantiate_fmu(
                self.folder, self.description, kind, logger=lambda *_: None
            )
        self.by_name = {v.name: v for v in self.description.modelVariables}
        self.reference = {v.name: v.valueReference for v in self.description.modelVariables}
        self.rates = [d.variable.name for d in self.description.derivatives]
        self.states = [d.variable.derivative.name for d in self.description.derivatives]
        self.outputs, self.inputs = self.names("output"), self.names("input")

    def names(self, causality):
        return [v.name for v in self.description.modelVariables if v.causality == causality]

    def get(self, *names):
        call = self.fmu.getFloat64 if self.three else self.fmu.getReal
        return np.array(call([self.reference[n] for n in names])) if names else np.empty(0)

    def set(self, values):
        call = self.fmu.setFloat64 if self.three else self.fmu.setReal
        if values:
            call([self.reference[n] for n in values], [float(x) for x in values.values()])

    def start(self, values=None, t=0.0):
        self.set(values or {})
        if self.three:
            self.fmu.enterInitializationMode(startTime=t)
        else:
            self.fmu.setupExperiment(startTime=t)
            self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        if self.kind == "ModelExchange":
            self.new_states()
            self.fmu.enterContinuousTimeMode()
        return self

    def new_states(self):
        """Ends event mode; have states changed?"""
        if not self.three:
            return bool(self.fmu.newDiscreteStates()[3])
        return bool(self.fmu.updateDiscreteStates()[3])

    def step(self, t, length):
        self.fmu.doStep(t, length)

    def at(self, t, y):
        """Model exchange: goes to a state."""
        self.fmu.setTime(t)
        values = np.ascontiguousarray(y, dtype=float)
        self.fmu.setContinuousStates(
            values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), len(values)
        )

    def rates_at(self, t, y):
        self.at(t, y)
        return self.get(*self.rates)

    def integrate(self, method, t, y, h):
        """One step of an explicit method by calls of model exchange."""
        k = [self.rates_at(t, y)]
        for node, share in LINE[method]:
            k.append(self.rates_at(t + node * h, y + share * h * k[-1]))
        return y + h * sum(w * x for w, x in zip(WEIGHTS[method], k, strict=True))

    def complete(self):
        """Ends a step; loops may ask for event mode. Have states changed?"""
        if not self.fmu.completedIntegratorStep()[0]:
            return False
        self.fmu.enterEventMode()
        changed = self.new_states()
        self.fmu.enterContinuousTimeMode()
        return changed

    def along(self, unknowns, knowns, seed):
        given = (
            [self.reference[n] for n in unknowns],
            [self.reference[n] for n in knowns],
            list(map(float, seed)),
        )
        return np.array(self.fmu.getDirectionalDerivative(*given))

    def back(self, unknowns, knowns, seed):
        given = (
            [self.reference[n] for n in unknowns],
            [self.reference[n] for n in knowns],
            list(map(float, seed)),
        )
        return np.array(self.fmu.getAdjointDerivative(*given, nSensitivity=len(knowns)))

    def save(self):
        return self.fmu.getFMUState() if self.three else self.fmu.getFMUstate()

    def restore(self, state):
        (self.fmu.setFMUState if self.three else self.fmu.setFMUstate)(state)

    def packed(self, state):
        return (self.fmu.serializeFMUState if self.three else self.fmu.serializeFMUstate)(state)

    def unpacked(self, data):
        return (self.fmu.deserializeFMUState if self.three else self.fmu.deSerializeFMUstate)(data)

    def needs(self, name):
        """What an unknown depends on, by the description."""
        unknowns = [*self.description.derivatives, *self.description.outputs]
        found = next(u for u in unknowns if u.variable.name == name)
        return {v.name for v in found.dependencies}

    def display(self, name, value):
        """A value in the unit that is shown."""
        v = self.by_name[name]
        if not v.displayUnit:
            return value
        unit = next(u for u in self.description.unitDefinitions if u.name == v.unit)
        return value * float(next(d for d in unit.displayUnits if d.name == v.displayUnit).factor)

    def close(self):
        self.fmu.freeInstance()
