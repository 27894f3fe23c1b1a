"""AUTOLEV scripts of 1992: read as data, answered line by line, run."""

from bellcrank.kane.autolev.run_program import output_texts, simulate_autolev_program
from bellcrank.kane.autolev.script_files import ScriptFiles
from bellcrank.kane.autolev.session import AutolevSession, run_script

__all__ = [
    "ScriptFiles",
    "AutolevSession",
    "output_texts",
    "run_script",
    "simulate_autolev_program",
]
