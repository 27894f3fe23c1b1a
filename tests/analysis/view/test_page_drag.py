"""Bodies that the pointer pulls in a live page: work and energy, the motion of a pulled mass, mouse
and fingers."""

import numpy as np
import pytest

import bellcrank as bc
from tests.accessibility import violations
from tests.analysis.view.test_page import browser, export_and_open  # noqa: F401  a fixture
from tests.browser import needs_chromium
from tests.models import example, system
from tests.node import needs_node, page_pulled, page_runs, unpacked
from tests.vehicles.test_rigid import disc

STEPS = 200


def slide(mass=2.0, step=1e-3):
    s = bc.System("mass on a slide", units="mks")
    s.add_body("mass", translate="x", mass=mass, inertia=0)
    s.add_outputs("energy")
    s.set_run(t_end=1, step=step)
    return s.equations()


@needs_node
def test_a_pulled_mass_moves_as_a_critically_damped_one():
    """x = X (1 - (1 + w t) exp(-w t)); the spring acts by impulses, one per step of which errors
    are proportional."""
    page = slide().export("page", drag=True)
    facts, _, _ = unpacked(page.text)
    w = max(14.0, facts["drag"]["omega"])
    rows = page_pulled(page, [[0, [0, 0, 0], [0.3, 7.0, -4.0]], STEPS])
    t, x = np.array([[r["t"], r["q(mass)"]] for r in rows]).T
    assert x == pytest.approx(0.3 * (1 - (1 + w * t) * np.exp(-w * t)), abs=0.3 * w * 1e-3)
    assert rows[-1]["work"] == pytest.approx(rows[-1]["kinetic"], rel=1e-9)


@needs_node
def test_the_work_of_the_pointer_is_the_change_of_energy():
    """Of a double pendulum without damping, that is pulled up and released: then its energy is
    constant."""
    page = example("double_pendulum").export("page", drag=True)
    rows = page_pulled(page, [[1, [1, 0, 0], [1.5, 1.0, 0]], STEPS], [None, STEPS])
    energy, work = np.array([[r["energy"], r["work"]] for r in rows]).T
    assert work[:STEPS].min() < -5 and np.ptp(work[STEPS:]) == 0
    assert energy - energy[0] == pytest.approx(work, abs=1e-6 * np.abs(energy).max())
    assert energy[STEPS:] == pytest.approx(energy[STEPS], abs=1e-7 * np.abs(energy).max())
    assert [r["own"] for r in rows] == pytest.approx([r["kinetic"] for r in rows], rel=1e-8)


@needs_node
@pytest.mark.campaign
@pytest.mark.parametrize(
    "name",
    [
        "n_four_bar",
        "sarrus_linkage",
        "cart",
        "rolling_disc",
        "stanford_arm",
        "spacecraft_2",
        "whipple_bicycle",
        "suspension_car",
    ],
)
def test_mass_matrices_of_pages_are_those_of_the_models(name):
    """The kinetic energy from poses and inertias is the channel of the model: with loops, rolling,
    and linkages. Loops stay closed, and nothing but impulses of the pointer makes a difference to a
    run."""
    s = system(name)
    try:
        s.add_outputs("energy")
        eom = s.equations()
    except bc.ModelError:  # it has them
        eom = example(name)
    page = eom.export("page", drag=True)
    facts, _, _ = unpacked(page.text)
    rows = page_pulled(
        page, [[facts["drag"]["bodies"] - 1, [0.1, 0.1, 0.1], [0.2, 0.2, 0.2]], 40], [None, 40]
    )
    assert all(r["problem"] == "" and r["loose"] < 1e-9 for r in rows) and rows[-1]["work"] != 0
    kinetic = np.array([r["kinetic"] for r in rows])
    assert np.array([r["own"] for r in rows]) == pytest.approx(kinetic, abs=1e-6 * kinetic.max())
    runs = [
        page_runs(x, (40 * facts["step"], facts["step"], 10))[0] for x in (page, eom.export("page"))
    ]
    assert runs[0] == runs[1]


def test_pages_with_rigid_wheels_have_no_bodies_to_pull():
    s = disc(bc.vehicles.terrain.flat())
    s.set_run(t_end=0.1, step=0.01, method="rk4", initial={"q(d, 2)": 0.5})
    facts, _, script = unpacked(s.equations().export("page", drag=True).text)
    assert "drag" not in facts and "function pulling" not in script


@needs_chromium
@pytest.mark.campaign
def test_mouse_and_fingers_pull_bodies(browser, tmp_path):  # noqa: F811
    """A body follows the pointer and is free again behind it; beside bodies and with the page
    paused, the view turns."""
    export_and_open(browser, tmp_path, example("double_pendulum"), drag=True)
    assert violations(browser) == []
    kinds = {
        "mouse": [
            lambda x, y, k=k: browser.mouse(k, x, y) for k in ("Pressed", "Moved", "Released")
        ],
        "finger": [
            lambda x, y: browser.touch("Start", (x, y)),
            lambda x, y: browser.touch("Move", (x, y)),
            lambda x, y: browser.touch("End"),
        ],
    }
    for press, move, release in kinds.values():
        browser.value(
            "document.getElementById('pace').value = 0.1"
        )  # it does not move away meanwhile
        browser.value("bellcrank.restart()")
        before = browser.value("bellcrank.values().energy - bellcrank.hand.work")
        x, y = browser.value(PLACE)
        press(x, y)
        assert browser.value("bellcrank.hand.held.body") == 1
        browser.value("document.getElementById('pace').value = 1")
        move(x + 60, y - 80)
        t = browser.value("bellcrank.t")
        browser.until(f"bellcrank.t > {t} + 1.5")
        there = browser.value(PLACE)
        assert (
            np.hypot(there[0] - x - 60, there[1] - y + 80) < 40
        )  # px: weight takes it some way from the pointer
        release(x + 60, y - 80)
        browser.until("!bellcrank.hand.held")
        work, energy = browser.value("[bellcrank.hand.work, bellcrank.values().energy]")
        assert energy - before == pytest.approx(work, abs=1e-4 * abs(energy))
        t = browser.value("bellcrank.t")
        browser.until(f"bellcrank.t > {t} + 1")
        assert browser.value("bellcrank.values().energy") == pytest.approx(energy, rel=1e-4)
    browser.value("bellcrank.pause(true)")
    x, y = browser.value(PLACE)
    browser.mouse("Pressed", x, y)
    assert browser.value("bellcrank.hand.held") is None and not browser.complaints
    browser.mouse("Released", x, y)


PLACE = """(() => {  // of the mass centre of the lower body, in pixels
  const {tools} = bellcrank.hand.view, {eye, numbers: [wide, high, deep]} = tools.lens(), p = bellcrank.poses();
  const at = [0, 1, 2].map(i => p[12 + i] + p[15 + 3*i] - eye[i]);
  const [x, y, z] = tools.axes.map(a => a[0]*at[0] + a[1]*at[1] + a[2]*at[2]), w = 1 - deep*z;
  const box = document.getElementById("view").getBoundingClientRect();
  return [box.left + (1 + wide*x/w)/2*box.width, box.top + (1 - high*y/w)/2*box.height];
})()"""
