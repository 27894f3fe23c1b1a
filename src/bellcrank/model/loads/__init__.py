"""Loads: what acts on bodies. `load` says what every stage may ask; the other files are kinds."""
