"""The version of Bellcrank."""

__version__ = "0.2.0"
