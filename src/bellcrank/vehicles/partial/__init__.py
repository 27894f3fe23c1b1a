"""Vehicles of partial vehicles and on rigid axles, built by calls."""
