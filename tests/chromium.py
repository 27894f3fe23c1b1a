"""Headless Chromium, led over a pipe by its DevTools protocol: pages opened, scripts run in them,
screenshots."""

import base64
import fcntl
import json
import os
import select
import time
from contextlib import contextmanager

from tests.browser import CHROMIUM, Page

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--window-size=1100,900",
    "--remote-debugging-pipe",
)


class Chromium(Page):
    """A browser with one page. `requests` are the addresses that were asked for, `complaints` what
    its console says."""

    def __init__(self, folder):
        from_us, to_it = os.pipe()
        from_it, to_us = os.pipe()
        given = [
            fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in (from_us, to_us)
        ]  # it reads from 3, writes to 4
        actions = [(os.POSIX_SPAWN_DUP2, end, number) for number, end in enumerate(given, 3)]
        actions += [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
        self._process = os.posix_spawn(CHROMIUM, command, os.environ, file_actions=actions)
        for end in (from_us, to_us, *given):
            os.close(end)
        self._out, self._in, self._rest, self._number = to_it, from_it, b"", 0
        self.requests, self.complaints = [], []
        self._session = None
        target = self._first_page()
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")

    def _first_page(self):
        """The page that was asked for, which may come after parts of the browser's own window."""
        until = time.monotonic() + 60.0
        while time.monotonic() < until:
            for x in self._call("Target.getTargets")["targetInfos"]:
                if (x["type"], x["url"]) == ("page", "about:blank"):
                    return x["targetId"]
            time.sleep(0.05)
        raise TimeoutError("Chromium opens no page")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._session = None
            self._call("Browser.close")
        except (OSError, TimeoutError):
            pass
        os.close(self._out), os.close(self._in)  # which ends it, too
        os.waitpid(self._process, 0)

    def open(self, address):
        """Opens a page and waits until it is loaded."""
        self.requests, self.complaints = [], []
        self._call("Page.navigate", url=str(address))
        self.until("document.readyState === 'complete'")

    def resize(self, width, height=800):
        """The window in points, as a phone or a desktop has it."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._call("Emulation.setDeviceMetricsOverride", **size)

    def slow(self, times):
        """A processor that is slower."""
        self._call("Emulation.setCPUThrottlingRate", rate=times)

    def value(self, script):
        """The value of an expression in the page, awaited where it is a promise."""
        found = self._call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def key(self, name, kind="keyDown"):
        code = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}[name]
        self._call(
            "Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code
        )

    def mouse(self, kind, x, y):
        """The left button of the mouse: kind is Pressed, Moved or Released."""
        self._call(
            "Input.dispatchMouseEvent",
            type=f"mouse{kind}",
            x=x,
            y=y,
            button="left",
            buttons=1,
            clickCount=1,
        )

    def touch(self, kind, *points):
        """Fingers on the screen: kind is Start, Move or End."""
        self._call(
            "Input.dispatchTouchEvent",
            type=f"touch{kind}",
            touchPoints=[{"x": x, "y": y} for x, y in points],
        )

    def screenshot(self, path=None, **clip):
        """A picture of the page as PNG."""
        more = {"clip": {**clip, "scale": 1}} if clip else {}
        data = base64.b64decode(self._call("Page.captureScreenshot", format="png", **more)["data"])
        if path is not None:
            path.write_bytes(data)
        return data

    @contextmanager
    def behind_another(self):
        """Another page stands before this one."""
        own, self._session = self._session, None
        front = [
            x["targetId"]
            for x in self._call("Target.getTargets")["targetInfos"]
            if x["type"] == "page"
        ]
        other = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._call("Target.activateTarget", targetId=other)
        self._session = own
        try:
            yield
        finally:
            self._session = None
            self._call("Target.activateTarget", targetId=front[0])
            self._call("Target.closeTarget", targetId=other)
            self._session = own

    def dark(self, on=True):
        """Prefers dark colours, or light ones."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if on else "light"}]
        self._call("Emulation.setEmulatedMedia", features=features)

    def _call(self, method, **given):
        self._number += 1
        message = {"id": self._number, "method": method, "params": given}
        if getattr(self, "_session", None):
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self._note(answer.get("method"), answer.get("params", {}))

    def _note(self, method, given):
        if method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(given["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and given["type"] in ("error", "assert"):
            self.complaints.append(
                " ".join(str(x.get("value", x.get("description"))) for x in given["args"])[:500]
            )
        elif method == "Log.entryAdded" and given["entry"]["level"] == "error":
            self.complaints.append(given["entry"]["text"])

    def _next(self, seconds=60):
        while b"\0" not in self._rest:
            if not select.select([self._in], [], [], seconds)[0]:
                raise TimeoutError("Chromium does not answer")
            part = os.read(self._in, 2**20)
            if not part:
                raise TimeoutError("Chromium has ended")
            self._rest += part
        first, self._rest = self._rest.split(b"\0", 1)
        return json.loads(first)
