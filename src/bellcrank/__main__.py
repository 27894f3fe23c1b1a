"""`python -m bellcrank` is the command `bellcrank`."""

import sys

from bellcrank.cli import main

if __name__ == "__main__":
    sys.exit(main())
