"""AUTOLEV scripts of 1992: read as data, answered line by line, run."""

from bellcrank.kane.autolev.files import Files
from bellcrank.kane.autolev.session import Session, run_script
from bellcrank.kane.autolev.simulate import output_texts, simulate

__all__ = ["Files", "Session", "output_texts", "run_script", "simulate"]
