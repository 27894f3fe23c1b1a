"""Axles, wheels, springs and brakes as parts of a System."""
