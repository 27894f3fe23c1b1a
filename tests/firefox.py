"""Headless Firefox, led over a socket by WebDriver BiDi: pages opened, scripts run in them,
screenshots."""

import base64
import json
import os
import re
import socket
import struct
import subprocess

from tests.browser import FIREFOX, Page

ARROWS = {"ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}
WANTED = """user_pref("webgl.force-enabled", true);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("toolkit.telemetry.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
"""


class Firefox(Page):
    """A browser with one page, as `Chromium` is."""

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "user.js").write_text(WANTED)
        command = [
            FIREFOX,
            "--headless",
            "--no-remote",
            "--remote-debugging-port=0",
            "--profile",
            str(folder),
        ]
        size = {"MOZ_HEADLESS_WIDTH": "1100", "MOZ_HEADLESS_HEIGHT": "900"}
        self._process = subprocess.Popen(
            command,
            env={**os.environ, "HOME": str(folder), **size},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            self._line = _Socket(self._port())
            self._number, self.requests, self.complaints = 0, [], []
            self._call("session.new", capabilities={})
            self._call("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
            self._page = self._call("browsingContext.getTree")["contexts"][0]["context"]
            self._call(
                "browsingContext.setViewport",
                context=self._page,
                viewport={"width": 1100, "height": 900},
            )
        except BaseException:
            self._process.kill()
            raise

    def _port(self):
        for line in self._process.stderr:
            if found := re.search(rb"BiDi listening on ws://127\.0\.0\.1:(\d+)", line):
                return int(found[1])
        raise TimeoutError("Firefox has ended")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.communicate(timeout=60)
        self._line.close()

    def open(self, address):
        """Opens a page and waits until it is loaded."""
        self.requests, self.complaints = [], []
        self._call(
            "browsingContext.navigate", context=self._page, url=str(address), wait="complete"
        )

    def value(self, script):
        """The value of an expression in the page, awaited where it is a promise."""
        found = self._call(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({script})))()",
            target={"context": self._page},
            awaitPromise=True,
        )
        assert found["type"] == "success", found
        return json.loads(found["result"].get("value", "null"))

    def key(self, name, kind="keyDown"):
        action = {"type": kind, "value": ARROWS[name]}
        self._call(
            "input.performActions",
            context=self._page,
            actions=[{"type": "key", "id": "keys", "actions": [action]}],
        )

    def screenshot(self, path=None):
        """A picture of the page as PNG."""
        data = base64.b64decode(
            self._call("browsingContext.captureScreenshot", context=self._page)["data"]
        )
        if path is not None:
            path.write_bytes(data)
        return data

    def _call(self, method, **given):
        self._number += 1
        self._line.send(json.dumps({"id": self._number, "method": method, "params": given}))
        while True:
            answer = json.loads(self._line.receive())
            if answer.get("id") == self._number:
                assert answer["type"] == "success", answer
                return answer["result"]
            given = answer.get("params", {})
            if answer.get("method") == "network.beforeRequestSent":
                self.requests += [
                    url for url in [given["request"]["url"]] if not url.startswith("data:")
                ]
            elif answer.get("method") == "log.entryAdded" and given["level"] == "error":
                self.complaints.append(given["text"])


class _Socket:
    """A web socket to this machine: texts sent and received (RFC 6455)."""

    def __init__(self, port):
        self._line = socket.create_connection(("127.0.0.1", port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        asked = (
            "GET /session HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
        )
        self._line.sendall(("\r\n".join(asked) + "\r\n\r\n").encode())
        self._from = self._line.makefile("rb")
        answer = self._from.readline()
        assert b" 101 " in answer, answer
        while self._from.readline() not in (b"\r\n", b""):
            pass

    def send(self, text, kind=1):
        data, mask = text.encode(), os.urandom(4)
        n = len(data)
        size = (
            bytes([0x80 | n]) if n < 126 else b"\xfe" + struct.pack(">H", n) if n < 65536 else None
        )
        size = size or b"\xff" + struct.pack(">Q", n)
        masked = bytes(x ^ mask[i % 4] for i, x in enumerate(data))
        self._line.sendall(bytes([0x80 | kind]) + size + mask + masked)

    def receive(self):
        text = b""
        while True:
            first, n = self._from.read(2)
            n = struct.unpack(">H", self._from.read(2))[0] if n == 126 else n
            n = struct.unpack(">Q", self._from.read(8))[0] if n == 127 else n
            data = self._from.read(n)
            if first & 15 == 8:
                raise TimeoutError("Firefox has ended")
            if first & 15 == 9:
                self.send("", 10)  # it asks whether someone is there
                continue
            text += data
            if first & 0x80:
                return text.decode()

    def close(self):
        self._from.close()
        self._line.close()
