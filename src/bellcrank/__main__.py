"""`python -m bellcrank` is the command `bellcrank`."""

import os
import sys

if not sys.flags.safe_path and sys.path and sys.path[0] == os.getcwd():
    del sys.path[
        0
    ]  # Python puts the working directory first: what is there is data, not modules to import

from bellcrank.cli import main

if __name__ == "__main__":
    sys.exit(main())
