"""Analyses of a simulation: what `Simulation` hands on, with names and units read and written at this boundary."""
