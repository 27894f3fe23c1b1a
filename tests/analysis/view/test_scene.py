"""Scenes and pictures: what is drawn, where, and that all of it is in the picture."""

import json
import struct

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.files.stl import read_stl
from bellcrank.scene.camera import fit_camera
from bellcrank.scene.car_body import STYLES, car_body
from bellcrank.scene.lens import fit_pixel_camera
from bellcrank.scene.solids import scene_triangles
from bellcrank.simulation.run.body_poses import initial_pose, load_for_picture
from tests.models import EXAMPLES, example, pendulum, system


def scene_of(s):
    d = s.equations(optimise="none").derived
    return initial_pose(load_for_picture(d.analysis, d.interface, d.program))


def test_a_scene_is_plain_data():
    found = example("four_bar").compile(backend="python").simulate(t_end=0.1, step=0.01).motion
    data = json.loads(json.dumps(found.scene.to_dict(), allow_nan=False))
    kinds = [i["kind"] for i in data["items"]]
    assert data["bodies"] == list(found.scene.bodies) and found.poses.shape == (11, 3, 12)
    assert (
        kinds.count("rod") >= 3
        and kinds.count("coil") == 1
        and "cylinder" in kinds
        and "sphere" in kinds
    )
    assert abs(data["normal"][2]) == 1 and all(
        m < len(data["marks"]) for i in data["items"] for m in i["marks"]
    )


def test_shapes_take_the_place_of_rods(tmp_path):
    triangle = struct.pack("<80xI12fH", 1, *[0.0] * 3, *[0, 0, 0, 1, 0, 0, 0, 1, 0], 0)
    (tmp_path / "a.stl").write_bytes(triangle)
    s = pendulum()
    before = s.equations().derived.program.functions
    s.add_shape(
        body="rod",
        kind="box",
        size=("w", 0.1, 0.2),
        at=(0, "-w", 0),
        color="gold",
        label='a "box" & <more>',
    )
    s.add_shape(
        body="rod", kind="mesh", file=tmp_path / "a.stl", size=0.5, axis=(1, 1, 0), color="#102030"
    )
    s.add_shape(body=None, kind="line", at=((0, 0, 0), (1, 0, 0), (1, 1, 0)), size=0.02)
    s.set_defaults(w=0.4)
    scene = scene_of(s).scene
    box, mesh, line = [i for i in scene.items if i.role == "body"]
    assert (
        box.size == (0.4, 0.1, 0.2)
        and box.color == "#d4a017"
        and scene.marks[box.marks[0]].position == (0, -0.4, 0)
    )
    assert (
        np.reshape(mesh.axes, (3, 3))[:, 2] == pytest.approx([0.5**0.5, 0.5**0.5, 0])
        and len(mesh.mesh.faces) == 1
    )
    assert np.linalg.det(np.reshape(mesh.axes, (3, 3))) == pytest.approx(1) and len(line.marks) == 3
    after = s.equations().derived
    assert {k: f.section for k, f in after.program.functions.items()} == {
        k: f.section for k, f in before.items()
    }
    assert after.interface.find_or_raise("w", ("idle",), "").unit.text == "m"


WRONG = [
    (dict(kind="ball"), "kind 'ball' is not known"),
    (dict(kind="box", size=(1, 2)), "must have 1 or 3 numbers"),
    (dict(kind="sphere", size="q(rod)"), "must be constant"),
    (dict(kind="sphere", color="#12"), "color='#12' is not known"),
    (dict(kind="line", at=(0, 0, 0)), "must have 3 components"),
    (dict(kind="cylinder", axis=(0, 0, 0)), "has no direction"),
    (dict(kind="box", body="rood"), "Did you mean 'rod'"),
]


@pytest.mark.parametrize(("given", "words"), WRONG)
def test_a_wrong_shape_is_told(given, words):
    s = pendulum()
    s.add_shape(body=given.pop("body", "rod"), **given)
    with pytest.raises(bc.ModelError, match=words.replace("(", r"\(")):
        s.equations()


def test_a_wrong_mesh_is_told(tmp_path):
    s = pendulum()
    for name, data in {
        "short.stl": b"solid\n",
        "text.stl": b"solid a\nvertex 1 2 x\nvertex 1 2 3\nvertex 1 2 3",
        "huge.stl": struct.pack("<80xI", 2**31),
    }.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(bc.ModelError, match="cannot read"):
            s.add_shape(body="rod", kind="mesh", file=tmp_path / name)
    with pytest.raises(bc.ModelError, match="needs file="):
        s.add_shape(body="rod", kind="mesh")
    with pytest.raises(bc.ModelError, match="has no file"):
        s.add_shape(body="rod", kind="box", file="a.stl")
    text = (
        "solid a\n facet normal 0 0 1\n outer loop\n vertex 0 0 0\n vertex 1 0 0\n vertex 0 1e0 "
        "0\n endloop\n endfacet\nendsolid"
    )
    (tmp_path / "fine.stl").write_text(text)
    found = read_stl(tmp_path / "fine.stl")
    assert found.points == ((0, 0, 0), (0, 1, 0), (1, 0, 0)) and found.faces == ((0, 2, 1),)


def test_all_of_a_motion_is_in_the_picture(tmp_path):
    run = (
        pendulum()
        .equations()
        .compile(backend="python")
        .simulate(t_end=2, step=0.02, initial={"q(rod)": 3})
    )
    m = run.motion
    camera = fit_camera(m.scene, m.poses)
    left, right, lower, upper = camera.edges
    places = m.scene.mark_positions(m.poses)
    seen = np.array([camera.project_points(places[i], i) for i in range(len(m.time))])
    assert (
        left < seen[..., 0].min()
        and seen[..., 0].max() < right
        and lower < seen[..., 1].min()
        and seen[..., 1].max() < upper
    )
    assert camera.distance == np.inf and abs(camera.axes[2] @ [0, 0, 1]) == 1
    run.picture(tmp_path / "strip.png", at=(0, 1, 2))
    assert (tmp_path / "strip.png").read_bytes()[:4] == b"\x89PNG"
    for wrong, words in (
        ({"path": "x.bmp"}, "no picture ends in '.bmp'"),
        ({"at": 5}, "lies outside the run"),
        ({"at": "late"}, "a time"),
    ):
        with pytest.raises(bc.RunError, match=words):
            run.picture(**wrong)


def test_what_flies_off_leaves_the_rest_in_view(tmp_path):
    s = bc.System("runaway", units="mks")
    b = s.add_body("b", translate=1, mass=1)
    s.add_force("f", magnitude="k*x**3", direction=s.inertial[1], at=b.origin)
    s.set_defaults(k=1e3)
    run = s.equations().compile(backend="python").simulate(t_end=1, step=0.1, initial={"q(b)": 1.0})
    assert run.ended.startswith("stopped") and np.abs(run.motion.poses).max() > 1e100
    left, right, _, _ = fit_camera(run.motion.scene, run.motion.poses).edges
    assert 0 < right - left < 1e7
    run.picture(tmp_path / "a.png", at=run.time[-1])
    run.animate(tmp_path / "a.html")


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore:the picture needs values")
@pytest.mark.parametrize(
    "name",
    [*EXAMPLES, "driven_car", "suspension_car", "madymo_five_link", "formula_student_corner"],
)
def test_every_example_stays_in_its_picture(name):
    """All triangles of all times lie within the view, and what is seen is not small."""
    eom = example(name)
    if not eom.analysis.mechanism.bodies:
        with pytest.raises(bc.RunError, match="without bodies"):
            eom.compile(speed="quick").simulate(t_end=0.01).picture()
        return
    m = eom.compile(speed="quick").simulate().motion
    d = eom.derived
    start = initial_pose(
        load_for_picture(d.analysis, d.interface, d.program)
    )  # in Python, where a linkage was compiled
    assert (
        np.abs(m.poses[0] - start.poses[0]).max() < 1e-9 * m.scene.reach
        and m.scene.bodies == start.scene.bodies
    )
    camera = fit_camera(m.scene, m.poses)
    size = 600, 400
    for frame in np.linspace(0, len(m.time) - 1, 12).astype(int):
        triangles = scene_triangles(m.scene, m.poses[frame])
        points = (
            fit_pixel_camera(camera, frame, *size)
            .project_triangles(triangles.corners)[0]
            .reshape(-1, 2)
        )
        if name != "stanford_arm" or frame == 0:  # its boom falls out of the slide
            assert (points.min(axis=0) > 0).all() and (points.max(axis=0) < size).all()
            assert (np.ptp(points, axis=0) / size).max() > 0.15


@pytest.mark.parametrize("kind", STYLES)
def test_bodies_of_vehicles_have_the_size_that_they_are_given(kind):
    """They fill length and height above the ground, reach the width, if wings do, and are symmetric
    about the middle."""
    height = 2.2 if kind in ("van", "truck") else 1.3
    length, width, wheelbase, radius, overhang = 4.0, 1.6, 2.5, 0.3, 0.8
    parts = car_body(length, width, height, wheelbase, radius, overhang, kind)
    points = np.concatenate([np.array(mesh.points) for _, mesh in parts])
    low, high = points.min(axis=0), points.max(axis=0)
    assert high[0] == pytest.approx(overhang, abs=1e-3) and low[0] == pytest.approx(
        overhang - length, abs=1e-3
    )
    assert 0.85 * height < high[2] + radius <= height * 1.001 and 0 < low[2] + radius < 0.4 * height
    assert (
        high[1] == pytest.approx(-low[1], abs=1e-3)
        and 0.9 * width / 2 < high[1] <= width / 2 * 1.001
    )
    inside = np.abs(points[:, 0]) < 0.2 * radius  # over the front axle
    if kind not in ("formula", "motorcycle"):  # whose wheels stand beside the body
        assert (points[inside & (np.abs(points[:, 1]) > 0.75 * width / 2), 2] > radius).all()


def test_what_the_ground_holds_is_not_followed():
    """A pendulum on a rod of its own is seen with its pivot, however far it swings."""
    m = example("planar_pendulum").compile(backend="python").simulate().motion
    camera = fit_camera(m.scene, m.poses)
    assert np.ptp(camera.centres, axis=0).max() == 0 and camera.edges[1] - camera.edges[0] > 2.0


def test_a_coin_on_an_incline_rolls_on_the_incline():
    """Gravity pulls along the plane in which it slides, too."""
    scene = scene_of(system("rolling_coin")).scene
    assert scene.ground.up == pytest.approx((0, 0, 1)) and scene.ground.height == pytest.approx(
        (0, 0), abs=1e-12
    )
    assert scene.up[0] < -0.3
