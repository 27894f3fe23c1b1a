"""Compiled models and their runs."""
