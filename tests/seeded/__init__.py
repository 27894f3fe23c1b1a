"""Seeded faults: single wrong changes of the source, and whether the tests notice them."""
