"""Records which functions and templates of Bellcrank each test runs, also in processes that a test
starts.

Python imports a module of this name when it starts. Functions are recorded once for each test, as
"dynamics/kane.py:Class.method"; templates in C and Fortran are recorded as "kernel/run.c:" when
they are read.
"""

import atexit
import json
import os
import re
import sys
import threading
from pathlib import Path

FOLDER, SOURCE = os.environ["BELLCRANK_RECORD_TO"], os.environ["BELLCRANK_RECORD_OF"]
FUNCTION = 1  # the flag of codes that are functions, not bodies of modules or classes
test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
seen = {}  # identity of a code: the code, which stays alive as long as its identity counts
read = set()


def _call(frame, event, argument):
    code = frame.f_code
    if id(code) not in seen:
        seen[id(code)] = code
    return None


def _opened(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(SOURCE):
        read.add(arguments[0])


def begin(name):
    """What is run from here on belongs to this test, or to a file of tests while it is
    collected."""
    global test
    texts = ("/templates/", "/runtime/", "/kernel/")
    places = {
        f"{path[len(SOURCE) + 1 :]}:" for path in read if any(folder in path for folder in texts)
    }
    for code in seen.copy().values():
        if code.co_flags & FUNCTION and code.co_filename.startswith(SOURCE):
            place = re.sub(r"\.?<[^>]*>", "", code.co_qualname)
            places.add(f"{code.co_filename[len(SOURCE) + 1 :]}:{place}")
    if places:
        with Path(FOLDER, str(os.getpid())).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"test": test, "ran": sorted(places)}) + "\n")
    seen.clear()
    read.clear()
    test = name


atexit.register(begin, "")
sys.addaudithook(_opened)
threading.settrace(_call)
sys.settrace(_call)
