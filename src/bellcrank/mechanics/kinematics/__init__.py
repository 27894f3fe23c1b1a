"""Velocities, constraints, loops and units: every formula of a mechanism as an expression."""
