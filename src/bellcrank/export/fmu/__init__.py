"""Functional mock-up units: a model for other tools, by the standards FMI 2.0 and 3.0."""
