"""The live page of a model: one file with its program, that asks for nothing else, to be opened
from a disk.

In:  a derivation. Out: `LivePage`, which is written to a file, or shows itself in a notebook.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

from bellcrank.codegen.browser import BrowserProgram, refuse_foreign
from bellcrank.codegen.wasm.split_module import split_module
from bellcrank.core.errors import BuildError, ModelError
from bellcrank.core.files.atomic import write_text
from bellcrank.core.files.embed import compress_part, minify_script
from bellcrank.core.files.embed import page_text as plain
from bellcrank.core.files.template import template_text
from bellcrank.export.model_setup import kernel_features
from bellcrank.export.page.drag import drag_facts, inertia_expressions
from bellcrank.export.page.page_data import page_data, read_page_options
from bellcrank.export.page.recorded_data import mode_facts, record_facts
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.program.program import SimulationProgram
from bellcrank.scene.camera import fit_camera
from bellcrank.scene.draft_scene import draft_scene
from bellcrank.scene.page_scene import browser_scene, round_digits, scene_scripts
from bellcrank.scene.recorded import PAGES, recorded_page_text
from bellcrank.simulation.run.body_poses import (
    RecordedMotion,
    add_pose_functions,
    initial_pose,
    load_for_picture,
)

HEIGHT = 720  # pixels of a page in a notebook
JOIN = 570  # bytes that the script which joins parts takes, compressed
ASKED = {
    "join.js": "apart",
    "events.js": "events",
    "drive.js": "signals",
    "road.js": "road",
    "record.js": "record",
    "modes.js": "linear",
    "drag.js": "drag",
}  # for those facts


@dataclass(frozen=True)
class LivePage:
    """A live page, as `Equations.export("page")` returns it. A notebook shows it.

    Attributes
    ----------
    title : str
        Title.
    text : str
        The page, in HTML.
    path : Path or None
        The file, if it was written.
    values : mapping of str to float
        Parameters with their values, in user units.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("mass")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> s.set_run(t_end=1, step=0.1)
    >>> page = s.equations().export("page")
    >>> page.title, page.path
    ('mass', None)
    """

    title: str
    text: str
    path: Path | None = None
    values: Mapping[str, float] = field(default_factory=dict, repr=False)

    def widget(self) -> Any:
        """Show the page as a widget whose values Python reads and sets.

        Returns
        -------
        anywidget.AnyWidget
            The widget. Its `values` are those that are set in the page, in user units by name: of
            all parameters, and of inputs that do not follow the model. Assign to `values` to move
            sliders; `observe` calls you at changes.

        Raises
        ------
        RunError
            If the package anywidget is not installed (``pip install bellcrank[widget]``). Without
            it, the page itself displays in notebooks.
        """
        from bellcrank.export.page.widget import page_widget

        return page_widget(self.title, self.text, self.values, HEIGHT)

    def save(self, path: str | Path) -> LivePage:
        """Write the page to a file.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Page
            The same page with its path.

        Raises
        ------
        BuildError
            If the file cannot be written.
        """
        try:
            write_text(Path(path), self.text)
        except OSError as error:
            raise BuildError(f"cannot write to {path}: {error.strerror or error}") from None
        return replace(self, path=Path(path))

    def __repr__(self) -> str:
        location = f"in {self.path}" if self.path else "not written"
        return f"Page({self.title!r}, {len(self.text.encode()) / 1000:.0f} kB, {location})"

    def _repr_html_(self) -> str:
        """The page in a frame of its own, which can reach nothing around it."""
        inside = self.text.replace("&", "&amp;").replace('"', "&quot;")
        attributes = (
            f'sandbox="allow-scripts" style="width:100%;height:{HEIGHT}px;border:0" '
            f'title="{escape(self.title)}"'
        )
        return f'<iframe {attributes} srcdoc="{inside}"></iframe>'

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """For notebooks: the page, and a line where pages are not shown."""
        action = f"open {self.path}" if self.path else "run this cell"
        return {
            "text/plain": f"live page of {self.title}: {action} to see it",
            "text/html": self._repr_html_(),
        }


def live_page(
    derived: DerivedModel,
    sliders: Any = None,
    plots: Any = None,
    title: Any = None,
    run: Any = None,
    modes: Any = None,
    drag: bool = False,
) -> LivePage:
    """The page of a model; what else is given as of `Equations.export`."""
    refuse_foreign(derived.program)
    page_options = read_page_options(derived.interface, sliders, plots, title)
    has_bodies = bool(
        derived.analysis.mechanism.bodies
    )  # equations that were derived by hand have none
    if modes is not None and not has_bodies:
        raise ModelError(
            "modes cannot be shown of equations that were derived by hand, without bodies",
            derived.name,
        )
    record, numbers = (None, b"") if run is None else record_facts(derived.interface, run)
    linear = None if modes is None else mode_facts(derived.interface, modes)
    drag = drag and has_bodies and not kernel_features(derived).wheels
    program = page_program(derived, drag) if has_bodies else derived.program
    start = (
        initial_pose(load_for_picture(derived.analysis, derived.interface, derived.program))
        if has_bodies
        else None
    )
    facts, browser = page_data(
        derived, program, page_options, None if start is None else start.scene.reach
    )
    facts["title"] = plain(facts["title"])
    module, facts["apart"] = split_module(browser.module)
    if len(compress_part(module)) + JOIN > len(compress_part(browser.module)):
        module, facts["apart"] = browser.module, None
    if start is not None:
        facts |= scene_facts(derived, browser, start)
    if drag and start is not None:
        facts["drag"] = drag_facts(derived, start.scene.reach)
    facts |= {name: x for name, x in (("record", record), ("linear", linear)) if x is not None}
    scripts = [name for name, fact in ASKED.items() if facts.get(fact)]
    scripts += scene_scripts(facts["scene"]) if start is not None else []
    files = (
        "engine.js",
        "plots.js",
        "controls.js",
        *scripts,
        "player.js",
        "page.js",
    )  # no text of a user
    script = minify_script(
        "\n".join(['"use strict";', *(template_text(PAGES, name) for name in files)])
    )
    text = recorded_page_text(
        facts, (browser.kernel, module), numbers, script.encode(), has_bodies, live=True
    )
    return LivePage(
        facts["title"], text, values={q["name"]: q["value"] for q in facts["parameters"]}
    )


# ---- what a live page draws: the scene of the model at its start, with the view of its pictures,
# as short as it can be


AHEAD = 60.0  # reaches of the mechanism that ground which is not flat is shown in front and behind
WIDE = 20.0  # the same of ground over x and y, to all sides


def page_program(derived: DerivedModel, drag: bool = False) -> SimulationProgram:
    """The program of the model with its poses and marks; sizes of shapes stay those of the start.
    With `drag` the inertia of bodies follows the marks."""
    draft = draft_scene(derived.analysis)
    numbers = [*draft.mark_coordinates(), *(inertia_expressions(derived) if drag else ())]
    return add_pose_functions(derived.analysis, derived.program, draft.parts, numbers)


def scene_facts(
    derived: DerivedModel, browser: BrowserProgram, start: RecordedMotion
) -> dict[str, Any]:
    """The `scene`; where marks are follows from the parameters, in the page, or they and the bodies
    stand `still`. Heights of ground that is not flat are those at the address of the `road`,
    wherever one looks."""
    scene = start.scene
    scene_data = browser_scene(scene, fit_camera(scene, start.poses))
    static_data = {
        "poses": round_digits(start.poses[0].ravel()),
        "marks": round_digits([x for m in scene.marks for x in m.position]),
    }
    facts: dict[str, Any] = {"scene": scene_data, "still": static_data}
    ground, wheels = scene.ground, derived.analysis.wheels
    if ground is None or not (ground.across or len(ground.way) > 2):
        return facts
    road = browser.place_of(wheels[0].terrain.near_function)
    if road is None:  # nothing depends on where the ground is
        return facts
    scene_data["ground"] |= {
        "wide": (WIDE if ground.across else AHEAD) * scene.reach,
        "way": (),
        "height": (),
    }
    scene_data["ground"] |= {"across": ()} if ground.across else {}
    return facts | {"road": road}
