"""Numerical analysis of models: equilibria, linear models, modes, responses, spectra, inverse
dynamics, sensitivities.

In:  values and exact derivatives as arrays, with names and units. Out: results that print as
tables, save as CSV and draw themselves. Nothing here knows of expressions or programs;
`api.analyses` brings both together.
"""
