"""Exit codes of the command line."""

FINE, USER_ERROR, USAGE, CHECK_FAILED, ENDED_EARLY = 0, 1, 2, 3, 4
SIGNALLED = 128  # and the number of the signal: 130 for Ctrl-C, 143 for SIGTERM
