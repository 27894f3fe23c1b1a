"""Exit codes of the command line."""

FINE, USER_ERROR, USAGE, CHECK_FAILED, ENDED_EARLY, INTERRUPTED = 0, 1, 2, 3, 4, 130
