"""Events in live pages: those of the run in WebAssembly; what they set, how they stop a page, how
it restarts."""

from importlib.resources import files

import numpy as np
import pytest

import bellcrank as bc
from tests.browser import needs_chromium
from tests.models import example
from tests.node import given_by, needs_node, node, page_runs, unpacked
from tests.vehicles.test_rigid import disc
from tests.ways.capabilities import G, ball, pendulum

_LIVE = """
const d = JSON.parse(require("fs").readFileSync(0));
(0, eval)(d.script);
engine(d.facts, Uint8Array.from(atob(d.module), c => c.charCodeAt(0))).then(me => {
  const seen = [], index = name => d.facts.parameters.findIndex(q => q.name === name);
  me.take();
  const does = {
    begin: () => me.begin(),
    go: n => me.advance(n),
    set(name, x) {
      me.p[index(name)] = x*d.facts.parameters[index(name)].factor;
      me.changed();
    },
    look: n => {
      const kept = me.kept();
      me.advance(n);
      me.restore(kept);
    },
  };
  for (const [what, ...given] of d.acts) {
    does[what](...given);
    seen.push({t: me.t, y: Array.from(me.y), p: Array.from(me.p), problem: me.problem, events: me.events.happened()});
  }
  console.log(JSON.stringify(seen));
});
"""


def live(page, *acts):
    """What a page has after each of several acts: begin, go n steps, set a parameter, look n steps
    ahead."""
    return node(_LIVE, {**given_by(page), "acts": acts})


def same_rows(eom, **given):
    """Are the rows of a page those of a run in WebAssembly, to the bit? Of several rows at a time
    the last counts."""
    pytest.importorskip("wasmtime")
    page = eom.export("page")
    facts, _, _ = unpacked(page.text)
    run = eom.compile(backend="wasm").simulate(
        method=facts["method"], step=facts["step"], output_every=1, **given
    )
    (rows,) = page_runs(page, (run.time[-1], facts["step"], 1, given))
    assert "error" not in rows, rows
    at = np.searchsorted(run.time, rows["t"], side="right") - 1
    assert np.array_equal(run.time[at], rows["t"])
    for name in run:
        assert np.array_equal(np.asarray(run[name])[at], rows[name]), name
    return run, rows


@needs_node
def test_a_ball_bounces_as_in_webassembly_to_the_bit():
    run, _ = same_rows(ball().equations())
    assert len(run.events) == 2


def swinging():
    """A pendulum on a rod: an event changes gravity, another reverses a speed; loops are closed
    after it."""
    s = pendulum()
    s.add_event("lighter", "q(bob, 1)", action={"g": "0.5*g"}, direction=-1)
    s.add_event("wall", "q(bob, 1) < -0.2", action={"u(bob, 1)": "-u(bob, 1)"})
    return s


@needs_node
def test_events_set_parameters_and_states_of_closed_loops():
    eom = swinging().equations()
    run, _ = same_rows(eom)
    assert [e.name for e in run.events][:2] == ["lighter", "wall"]
    begun, after, again = live(eom.export("page"), ["begin"], ["go", 100], ["begin"])
    assert [e["name"] for e in after["events"]] == [e.name for e in run.events]
    assert [e["t"] for e in after["events"]] == [e.time for e in run.events]
    assert after["p"] != begun["p"]
    assert again == begun  # the parameter too: nobody moved its slider


def falling(**more):
    s = bc.System("falling", axes="ISO 8855")
    s.add_body("ball", translate=3, mass="m")
    s.add_gravity()
    s.set_defaults(m=2, g=G, level=0.5, **more)
    s.set_run(t_end=1.0, step=0.01, method="rk4", initial={"q(ball)": 1})
    return s


@needs_node
def test_an_event_stops_a_page_which_can_be_started_again():
    s = falling()
    s.add_event("half way", "q(ball) < level")
    s.add_event("ground", "q(ball)", stop=True, direction=-1)
    eom = s.equations()
    run, rows = same_rows(eom)
    falls = (2 / G) ** 0.5
    assert run.time[-1] == rows["t"][-1] == pytest.approx(falls, abs=1e-9)
    begun, half, end, still, again, other = live(
        eom.export("page"),
        ["begin"],
        ["go", 40],
        ["go", 40],
        ["set", "g", 5.0],
        ["begin"],
        ["go", 40],
    )
    assert half["problem"] == "" and [e["name"] for e in half["events"]] == ["half way"]
    assert half["events"][0]["t"] == pytest.approx((1 / G) ** 0.5, abs=1e-9)
    assert (
        end["problem"] == "event 'ground' stopped the run at t = 0.451601 s: restart to run again"
    )
    assert [e["name"] for e in end["events"]] == ["half way", "ground"] and end[
        "t"
    ] == pytest.approx(falls, abs=1e-9)
    assert still["problem"] == end["problem"]
    assert again["problem"] == "" and again["events"] == [] and again["y"] == begun["y"]
    assert other["y"][0] == pytest.approx(1 - 5 * 0.4**2 / 2, rel=1e-12)  # of the other gravity


@needs_node
def test_a_value_that_is_moved_brings_an_event_about():
    s = falling()
    s.add_event("half way", "q(ball) < level", action={"u(ball)": "0.5*u(ball)"})
    page = s.equations().export("page", sliders={"level": (0, 1)})
    _, before, looked, moved, after = live(
        page, ["begin"], ["go", 10], ["look", 40], ["set", "level", 0.99], ["go", 1]
    )
    assert before["events"] == looked["events"] == moved["events"] == []
    assert looked == before
    assert after["events"] == [{"name": "half way", "t": 0.1}]
    assert after["y"][1] == pytest.approx(-G * (0.05 + 0.01), rel=1e-12)


@needs_node
def test_what_an_event_cannot_do_is_said():
    s = falling(e=1.0)
    s.add_event("high", "q(ball) < 0.4*level", action={"u(ball)": "1/(e - 1)"})
    *_, end = live(s.equations().export("page"), ["begin"], ["go", 80])
    assert end["problem"].startswith("event 'high' sets a value that is not finite at t = 0.40")


@needs_chromium
@pytest.mark.campaign
def test_events_are_shown_in_a_browser(tmp_path):
    """A line names the last event and its time; one that stops the run says how to run again."""
    from tests.chromium import Chromium

    s = falling()
    s.add_event("half way", "q(ball) < level")
    s.add_event("ground", "q(ball)", stop=True, direction=-1)
    path = tmp_path / "page.html"
    s.equations().export("page", path)
    with Chromium(tmp_path / "profile") as browser:
        browser.open(path.as_uri() + "#t=0.4")
        browser.until("window.bellcrank && bellcrank.t > 0.39")
        browser.until(
            "document.querySelector('#plots').previousElementSibling.textContent.includes('half way')"
        )
        line = browser.value("document.querySelector('#plots').previousElementSibling.textContent")
        assert line == "event half way at t = 0.31933 s"
        for button in ("go", "again"):
            browser.value(f"document.getElementById('{button}').click()")
            browser.until("bellcrank.problem === '' || bellcrank.events.length === 2")
            browser.until("bellcrank.problem !== ''")
            browser.until(
                "document.getElementById('told').textContent.includes(\"event 'ground' "
                'stopped the run")'
            )
            assert browser.value("bellcrank.events.map(e => e.name)") == ["half way", "ground"]
        assert not browser.complaints


@needs_node
def test_rigid_wheels_roll_as_in_webassembly_to_the_bit():
    """Bounces, rolling and an event that throws the wheel up: rows, and what is said of it."""
    s = disc(bc.vehicles.terrain.ramp(-0.2), (0.3, 0.0))
    s.add_event("kicked", "t - 1.2", action={"u(d, 2)": "2 + u(d, 2)"})
    s.set_run(t_end=1.5, step=0.01, method="rk4", initial={"q(d, 2)": 0.5})
    eom = s.equations()
    run, _ = same_rows(eom)
    assert {"w impact", "w rolls", "kicked"} == {e.name for e in run.events}
    page = eom.export("page")
    assert unpacked(page.text)[0]["signals"] == []  # the ground has no sliders
    begun, _, end, again, repeated = live(
        page, ["begin"], ["look", 100], ["go", 150], ["begin"], ["go", 150]
    )
    assert [e["name"] for e in end["events"]] == [e.name for e in run.events]
    assert [e["t"] for e in end["events"]] == [e.time for e in run.events]
    assert again == begun and repeated == end


@needs_node
def test_wheels_below_the_ground_are_moved_up_or_named():
    for below, problem in (
        ("raise", ""),
        ("error", "w starts below the ground: choose other values, and restart"),
    ):
        s = disc(bc.vehicles.terrain.flat(), **({} if below == "raise" else {"below": below}))
        s.set_run(t_end=1, step=0.01, method="rk4", initial={"q(d, 2)": 0.2})
        (found,) = live(s.equations().export("page"), ["begin"])
        assert found["problem"] == problem
        assert found["y"][1] == pytest.approx(0.3, abs=1e-9)


def test_a_page_without_events_has_a_kernel_without_them():
    kernel = files("bellcrank.kernel").joinpath("page.wasm").read_bytes()
    facts, module, script = unpacked(example("double_pendulum").export("page").text)
    assert module[: facts["kernel"]] == kernel
    assert "events" not in facts and "function events" not in script
