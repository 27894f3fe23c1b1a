"""Strips, animations, and the commands that make them."""

import io
import re
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import bellcrank as bc
from bellcrank import cli
from bellcrank.scene.animate import film_frames
from bellcrank.scene.page_scene import quantize_columns
from tests.browser import needs_chromium
from tests.models import pendulum

MODEL = """
import bellcrank as bc
def model():
    s = bc.System("rod $x$ <b>", units="mks", axes="ISO 8855")
    s.add_body("rod", rotate=2, cm=("l", 0, 0), mass=1, inertia=0)
    s.add_gravity()
    s.set_defaults(l=0.5)
    s.set_run(t_end=0.2, step=0.01)
    return s
"""


@pytest.fixture(scope="module")
def run():
    return pendulum().equations().compile(backend="python").simulate(t_end=0.4, step=0.02)


@pytest.mark.campaign
def test_a_film_moves(run, tmp_path):
    run.animate(tmp_path / "a.gif", fps=1, speed=0.1)
    with Image.open(tmp_path / "a.gif") as film:
        first, n = np.asarray(film.convert("RGB"), float), film.n_frames
        film.seek(n - 1)
        last = np.asarray(film.convert("RGB"), float)
    assert n == 5 and (np.abs(first - last).max(axis=2) > 60).mean() > 0.005
    assert film_frames(run.time, 25, 1.0) == ([*range(0, 21, 2)], 25)
    rows, fps = film_frames(run.time, 25, None)  # six seconds, with no more frames than rows
    assert (
        rows == [*range(21)]
        and fps == pytest.approx(21 / 151 * 25)
        and film_frames(run.time[:1], 25, None)[0] == [0]
    )


@pytest.mark.campaign
def test_a_film_by_ffmpeg(run, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(
        bc.RunError,
        match=r"needs ffmpeg, which was not found: .*`pip install imageio-ffmpeg`; a \.gif",
    ):
        run.animate(tmp_path / "a.mp4")
    tool = tmp_path / "ffmpeg"
    tool.write_text(
        f"#!{sys.executable}\nimport sys\nopen(sys.argv[-1], 'wb').write(sys.stdin.buffer.read())\n"
    )
    tool.chmod(0o755)
    run.animate(tmp_path / "a.mp4", fps=2, speed=0.4)
    assert (tmp_path / "a.mp4").stat().st_size % 3 == 0 and (
        tmp_path / "a.mp4"
    ).stat().st_size > 1e6  # raw frames
    tool.write_text(
        f"#!{sys.executable}\nimport sys\nsys.stdin.buffer.read()\nsys.exit('no such codec')\n"
    )
    with pytest.raises(bc.RunError, match=r"a\.mp4: ffmpeg says"):
        run.animate(tmp_path / "a.mp4", fps=1, speed=0.4)
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.campaign
def test_a_film_that_players_read(run, tmp_path):
    tools = pytest.importorskip(
        "imageio_ffmpeg", reason="imageio-ffmpeg, which brings ffmpeg, is not installed"
    )
    run.animate(tmp_path / "a.mp4", fps=10, speed=0.2)
    asked = ["-i", str(tmp_path / "a.mp4"), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(
        [tools.get_ffmpeg_exe(), *asked], capture_output=True, check=True, timeout=100
    )
    wide, high, fps = map(
        int, re.search(rb"h264 .*yuv420p.*, (\d+)x(\d+).*, (\d+) fps", done.stderr).groups()
    )
    frames = np.frombuffer(done.stdout, np.uint8).reshape(-1, high, wide, 3).astype(int)
    assert len(frames) == 21 and fps == 10 and wide % 2 == high % 2 == 0
    assert frames[0].std() > 10 and (np.abs(frames[0] - frames[-1]).max(axis=2) > 60).mean() > 0.005


WRONG = [
    ({"fps": 0}, "fps=0 must be a positive number"),
    ({"speed": "slow"}, "speed='slow' must be"),
    ({"speed": 1e-6}, "too long"),
    (
        {"path": "a.avi"},
        r"no picture ends in '\.avi'; known file extensions are \.mp4, \.gif and \.html",
    ),
]


@pytest.mark.parametrize(("given", "words"), WRONG)
def test_a_wrong_film_is_told(run, tmp_path, given, words):
    with pytest.raises(bc.RunError, match=words):
        run.animate(**{"path": tmp_path / "a.gif", **given})


def test_a_run_from_a_file_has_no_picture(run, tmp_path):
    with pytest.raises(bc.RunError, match="comes from a file"):
        bc.Run.read(run.save(tmp_path / "run.csv")).picture()


@pytest.mark.campaign
def test_commands(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rod.py").write_text(MODEL)
    assert cli.main(["picture", "rod.py", "--set", "l=0.7", "--initial", "q(rod)=30"]) == 0
    assert (
        cli.main(
            [
                "picture",
                "rod.py",
                "--at",
                "0",
                "--at",
                "0.1",
                "--backend",
                "python",
                "--out",
                "new/b.svg",
            ]
        )
        == 0
    )
    assert (
        cli.main(["run", "rod.py", "--backend", "python", "--animate", "c.gif", "--t-end", "0.02"])
        == 0
    )
    assert "c.gif" in capsys.readouterr().out
    assert (tmp_path / "rod.png").exists() and "<svg" in (tmp_path / "new" / "b.svg").read_text()
    assert cli.main(["picture", "rod.py", "--at", "9"]) == 1
    assert "lies outside the run" in capsys.readouterr().err


@pytest.mark.parametrize(("rows", "digits"), [(50, 2e-7), (2000, 4e-5)])
def test_numbers_of_a_recorded_run_are_kept_to_a_fraction_of_their_range(rows, digits):
    """Read as `film.js` reads them; a constant and what is not finite among them."""
    t = np.linspace(0, 1, rows)
    columns = np.stack(
        [np.sin((k + 1) * t) * 10.0 ** (k - 20) for k in range(40)] + [0 * t, 0 * t + 7.25]
    )
    columns[-2, 3] = np.nan
    data, size = quantize_columns(columns)
    count, n = columns.shape
    low, step = np.frombuffer(data[: 8 * count], "<f4").reshape(2, count)
    planes = np.frombuffer(data[8 * count :], np.uint8).reshape(size, count, n).astype(int)
    folded = sum(p * 256 ** (size - 1 - k) for k, p in enumerate(planes))
    whole = np.cumsum(np.where(folded % 2, -(folded + 1) // 2, folded // 2), axis=1)
    found = low[:, None] + step[:, None].astype(float) * whole
    given = np.nan_to_num(columns)
    off = np.abs(found - given).max(axis=1)
    assert (off <= digits * np.abs(given).max(axis=1) + 1e-37).all() and len(
        data
    ) == size * columns.size + 8 * count


def test_a_page_that_plays_a_run_is_alone(run, tmp_path):
    hostile = "</script><script>alert(1)</script>&\"'"
    text = run.animate(tmp_path / "run.html", title=hostile).read_text(encoding="utf-8")
    assert text.count("<script") == text.count("</script>") == 2 and len(text) < 60_000
    assert not re.search(r"(src|href)=|url\(|@import|https?://", text) and "alert(1)</" not in text


@needs_chromium
@pytest.mark.campaign
def test_a_page_plays_a_run_in_chromium(run, tmp_path):
    from tests.chromium import Chromium

    path = run.animate(tmp_path / "run.html")
    with Chromium(tmp_path / "profile") as browser:
        browser.open(path.as_uri() + "#t=0.2")
        browser.until("window.bellcrank && window.bellcrank.go")
        assert not browser.complaints and browser.value("bellcrank.t") == pytest.approx(0.2)
        shots = []
        for row in (0, 20):
            browser.value(f"bellcrank.go({float(run.time[row])!r})")
            found = browser.value("Array.from(bellcrank.poses)")
            assert found == pytest.approx(run.motion.poses[row].ravel().tolist(), abs=1e-6)
            shots.append(
                np.asarray(Image.open(io.BytesIO(browser.screenshot())).convert("L"), float)[62:460]
            )
        assert shots[0].std() > 2 and (shots[0] != shots[1]).mean() > 0.002
        browser.value("document.getElementById('go').click()")
        browser.until("bellcrank.t < 0.3")  # again from the start
        assert len(browser.requests) == 1 and not browser.complaints
