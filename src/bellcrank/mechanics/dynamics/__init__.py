"""Accelerations by Kane's equations: composite bodies, articulated bodies or reduced partial
velocities."""
