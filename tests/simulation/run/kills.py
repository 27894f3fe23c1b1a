"""Commands that are interrupted or killed at any moment: a server that has imported Bellcrank forks
one after another.

`python kills.py` reads a line of JSON for each command from its input: {"arguments", "folder",
"signal", "after", "environment"}; it answers with {"code", "seconds", "output", "errors"}. `after`
seconds the signal is sent; without a signal the command continues to its end. Starting Python anew
for each would take a hundred times as long.
"""

import gc
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

HANG = 60.0  # s after which a command does not react any more


class Commands:
    """The server, as tests see it."""

    def __init__(self):
        source = str(Path(__file__).parents[3] / "src")
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")]),
        }
        self.process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
        )

    def do(self, arguments, folder, number=0, after=0.0, **environment):
        """What became of a command; `after` counts from when it begins."""
        asked = {
            "arguments": [str(a) for a in arguments],
            "folder": str(folder),
            "signal": int(number),
            "after": after,
        }
        print(
            json.dumps({**asked, "environment": environment}), file=self.process.stdin, flush=True
        )
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


def serve():
    """Forks for every line."""
    import contextlib
    import io
    import tempfile

    from bellcrank.cli import main

    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stdout(io.StringIO()),
    ):  # imports all it needs
        model, out = Path(__file__).parents[3] / "examples" / "quarter_car.py", Path(folder)
        for options in (
            ["--out", out / "r.nc", "--echo", out / "e.par"],
            ["--out", out / "r.parquet", "--plot", out / "p.png"],
        ):
            main(list(map(str, ["run", model, "--t-end", 0.1, *options])))
        for language in ("c", "fortran", "python"):
            main(list(map(str, ["write", model, "--language", language, "--out", out / language])))
        import bellcrank.study  # noqa: F401
    gc.collect()
    gc.freeze()  # so that forked processes share their memory
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        asked = json.loads(line)
        ready, told = os.pipe()
        child = os.fork()
        if child == 0:
            _begin(asked, told, ready)
            sys.exit(main())
        os.close(told)
        os.read(ready, 1)
        os.close(ready)
        print(json.dumps(_watch(child, asked)), file=answers, flush=True)


def _begin(asked, told, ready):
    """The child becomes a command."""
    os.setsid()
    os.chdir(asked["folder"])
    os.environ.update(asked["environment"])
    for name, number in ((".stdout", 1), (".stderr", 2)):
        opened = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    sys.stdout, sys.stderr = (
        os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2)
    )
    sys.argv = ["bellcrank", *asked["arguments"]]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.write(told, b".")
    os.close(told)
    os.close(ready)


def _watch(child, asked):
    began, sent, status = time.perf_counter(), False, None
    while status is None:
        now = time.perf_counter() - began
        if asked["signal"] and not sent and now >= asked["after"]:
            os.kill(child, asked["signal"])
            sent = True
        if now > asked["after"] + HANG:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            status = "hangs"
        else:
            done, found, used = os.wait4(child, os.WNOHANG)
            status = os.waitstatus_to_exitcode(found) if done else None
            time.sleep(0 if sent else 0.0005)
    seconds = time.perf_counter() - began
    output, errors = (
        Path(asked["folder"], name).read_text("utf-8") for name in (".stdout", ".stderr")
    )
    return {
        "code": status,
        "seconds": seconds,
        "cpu": used.ru_utime + used.ru_stime,
        "output": output,
        "errors": errors,
    }


if __name__ == "__main__":
    serve()
