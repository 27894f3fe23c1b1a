"""Modules next to the tests (`deck_cases`, `mutations`) can be imported by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
