"""User functions of the deck spacecraft_1_small.lsp: those of spacecraft_1.lsp."""

from pathlib import Path
from runpy import run_path

_routines = run_path(str(Path(__file__).with_name("spacecraft_1.py")))
cmd, thrust = _routines["cmd"], _routines["thrust"]
