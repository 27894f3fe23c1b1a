"""Browsers without a window, where they are installed: what a script finds in a page, and what
Chromium complained of."""

import json
import re
import shutil
import subprocess
import time
from html import unescape

import pytest


def _first(*names):
    return next((found for name in names if (found := shutil.which(name))), None)


CHROMIUM, FIREFOX = (
    _first("chromium", "chromium-browser", "google-chrome"),
    _first("firefox", "firefox-esr"),
)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
needs_firefox = pytest.mark.skipif(FIREFOX is None, reason="Firefox is not installed")


class Page:
    """The one page of a browser, which has `value(script)` and `complaints`."""

    def until(self, script, seconds=40):
        """Waits for something to become true in the page."""
        end = time.monotonic() + seconds
        while not self.value(f"!!({script})"):
            assert time.monotonic() < end, (
                f"{script} did not come true; the page says: {self.complaints}"
            )
            time.sleep(0.05)


def look_at(path, script, folder):
    """Opens a copy of a page, runs a script in it that leaves a value in `found`; that value, and
    the messages of the console."""
    text = path.read_text(encoding="utf-8")
    probe = (
        f'<script>window.addEventListener("load", () => '
        f'{{ let found; {script}; const pre = document.createElement("pre");'
        ' pre.id = "found"; pre.textContent = JSON.stringify(found); '
        "document.body.append(pre); });</script>"
    )
    copy = folder / "looked_at.html"
    copy.write_text(text.replace("</body>", f"{probe}</body>"), encoding="utf-8")
    done = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--v=0",
            f"--user-data-dir={folder / 'profile'}",
            "--window-size=1100,900",
            "--virtual-time-budget=5000",
            "--dump-dom",
            copy.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    messages = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    (value,) = re.findall(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)
    return json.loads(unescape(value)), messages
