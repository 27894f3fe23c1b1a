"""Runs of a loaded model: values, start, methods, closed loops, events, rigid wheels, results."""
