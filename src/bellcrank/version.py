"""The version of Bellcrank."""

__version__ = "0.1.0"
