"""The command `bellcrank`: one module per command, registered in `main.COMMANDS`.

Exit codes: 0 fine, 1 an error of the user (reported on stderr), 2 wrong usage, 3 a check failed, 4
a run ended early, 130 interrupted, 143 terminated.
"""

try:
    from bellcrank.cli.main import main
except KeyboardInterrupt:  # before anybody can be informed
    import os

    os._exit(130)

__all__ = ["main"]
