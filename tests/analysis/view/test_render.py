"""Images of scenes: what is in front hides what is behind, pixel by pixel; ground, shadow, glass
and views."""

import math
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.scene.camera import LiveCamera, SceneCamera, fit_camera
from bellcrank.scene.rasterizer import EMPTY, coverage_mask, rasterize
from bellcrank.scene.render import render_frame
from bellcrank.scene.scene import Scene, SceneGround, SceneItem, SceneMark
from bellcrank.scene.solids import (
    coil_spring_solid,
    cube_solid,
    cylinder_solid,
    smooth_normals,
    sphere_solid,
    tyre_solid,
)
from tests.models import example, pendulum

FIXED = np.zeros((0, 12))
RED, GREEN, BLUE = "#ff0000", "#00ff00", "#0000ff"


def still(*items, ground=None):
    """A scene of shapes at places: (kind, place, size, color)."""
    marks = tuple(SceneMark(-1, tuple(map(float, at))) for _, at, _, _ in items)
    drawn = tuple(
        SceneItem(kind, (k,), size, color, "body") for k, (kind, _, size, color) in enumerate(items)
    )
    return Scene("still", (), marks, drawn, 1.0, (0.0, 0.0, 1.0), None, ground)


def from_above(distance=math.inf, edge=1.0):
    return SceneCamera(np.eye(3), distance, np.zeros((1, 3)), (-edge, edge, -edge, edge))


def hue(image, x, y, edge=1.0):
    """Which of red, green and blue is strongest at a place of the screen; "" where there is
    none."""
    size = len(image)
    pixel = image[int((edge - y) / (2 * edge) * size), int((x + edge) / (2 * edge) * size)].astype(
        int
    )
    return "" if np.ptp(pixel) < 40 else "rgb"[int(np.argmax(pixel))]


@pytest.mark.parametrize("distance", [math.inf, 8.0])
def test_boxes_through_each_other_hide_each_other_by_depth(distance):
    """A plate that leans through another: on one side it is in front, on the other behind; no order
    of whole shapes shows that."""
    plate = ("box", (0, 0, 0), (1.6, 1.6, 0.02), RED)
    tilted = ("box", (0, 0, 0), (1.6, 0.6, 0.02), GREEN)
    for order in ([plate, tilted], [tilted, plate]):
        scene = still(*order)
        c, s = math.cos(0.5), math.sin(0.5)  # about y: its right end lies lower
        turned = tuple(
            replace(i, axes=(c, 0, s, 0, 1, 0, -s, 0, c)) if i.color == GREEN else i
            for i in scene.items
        )
        image = render_frame(replace(scene, items=turned), FIXED, 200, 200, from_above(distance))
        assert [hue(image, x, 0.0) for x in (-0.5, -0.1, 0.1, 0.5)] == ["g", "g", "r", "r"]
        assert hue(image, -0.5, 0.5) == "r" and hue(image, 0.0, 0.95) == ""


def test_three_bars_each_over_the_next_have_no_order_but_a_picture():
    """Bars in a ring, each above the next: painting whole bars one after the other is wrong in any
    order."""
    bars = []
    for k, color in enumerate((RED, GREEN, BLUE)):
        a = 2 * math.pi * k / 3
        along = np.array([-math.sin(a), math.cos(a), -0.35])  # falls along the ring
        z = along / np.linalg.norm(along)
        x = np.array([math.cos(a), math.sin(a), 0.0])
        axes = np.stack([x, np.cross(z, x), z], axis=1)
        at = 0.35 * np.array([math.cos(a), math.sin(a), 0.0])
        bars.append((at, tuple(axes.ravel()), color))
    scene = still(*[("box", at, (0.16, 0.05, 1.7), color) for at, _, color in bars])
    scene = replace(
        scene, items=tuple(replace(i, axes=b[1]) for i, b in zip(scene.items, bars, strict=True))
    )
    image = render_frame(scene, FIXED, 300, 300, from_above())
    corner = 0.7  # where bars k and k + 1 cross, as seen from above: each falls towards the next
    seen = [
        hue(image, corner * math.cos(a), corner * math.sin(a))
        for a in (math.pi / 3, math.pi, -math.pi / 3)
    ]
    assert sorted(seen) == ["b", "g", "r"]
    below = render_frame(
        scene, FIXED, 300, 300, replace(from_above(), axes=np.diag([-1.0, 1.0, -1.0]))
    )
    other = [
        hue(below, -corner * math.cos(a), corner * math.sin(a))
        for a in (math.pi / 3, math.pi, -math.pi / 3)
    ]
    assert sorted(other) == ["b", "g", "r"] and all(
        x != y for x, y in zip(seen, other, strict=True)
    )


def test_a_triangle_covers_its_area_and_neighbours_share_no_pixel():
    rng = np.random.default_rng(3)
    for _ in range(20):
        a, b, c, d = rng.uniform(10, 190, (4, 2))
        pair = np.array([[a, b, c], [a, c, d]])
        first, second = (coverage_mask(t[None], 200, 200) for t in pair)
        size = abs(np.cross(np.append(b - a, 0), np.append(c - a, 0))[2]) / 2
        assert first.sum() == pytest.approx(size, abs=0.02 * size + 60)
        same_side = (
            np.cross(np.append(c - a, 0), np.append(b - a, 0))[2]
            * np.cross(np.append(c - a, 0), np.append(d - a, 0))[2]
            > 0
        )
        assert same_side or not (first & second).any()
        found = rasterize(pair, np.array([[1.0] * 3, [2.0] * 3]), 200, 200)
        nearest = np.where(second, 1, np.where(first, 0, EMPTY)).ravel()
        assert (found.triangle == nearest).all()


def test_depth_within_a_triangle_is_that_of_its_plane():
    corners = np.array([[[10.0, 10], [110, 20], [30, 90]]])
    near = np.array([[1.0, 2.0, 4.0]])
    found = rasterize(corners, near, 120, 100)
    at = np.flatnonzero(found.triangle == 0)
    A = np.column_stack([corners[0], np.ones(3)])
    plane = np.linalg.solve(A, near[0])
    expected = np.column_stack([at % 120 + 0.5, at // 120 + 0.5, np.ones(len(at))]) @ plane
    assert np.abs(found.nearness[at] - expected).max() < 1e-7


@pytest.mark.parametrize(
    "solid", [cube_solid(), cylinder_solid(48), sphere_solid(20), tyre_solid(), coil_spring_solid()]
)
def test_normals_point_out_of_shapes(solid):
    length = np.linalg.norm(solid.normals, axis=2)
    assert length == pytest.approx(1)
    flat = np.cross(
        solid.corners[:, 1] - solid.corners[:, 0], solid.corners[:, 2] - solid.corners[:, 0]
    )
    agrees = np.einsum("ij,ikj->ik", flat, solid.normals)
    if solid.closed:
        assert (agrees > 0).all()
    if solid is cylinder_solid(48):
        volume = (
            np.einsum(
                "ij,ij->i", solid.corners[:, 0], np.cross(solid.corners[:, 1], solid.corners[:, 2])
            ).sum()
            / 6
        )
        assert volume == pytest.approx(
            24 * math.sin(2 * math.pi / 48), rel=1e-12
        )  # of a prism with 48 sides


def test_meshes_are_round_but_for_their_edges():
    corner = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0.1], [0, 1, 0.1], [0, 0, 1.0], [1, 0, 1.0]])
    found = smooth_normals(corner, np.array([[0, 1, 2], [0, 2, 3], [0, 1, 5], [0, 5, 4]]))
    assert np.ptp(found.normals[:2].reshape(-1, 3), axis=0).max() < 1e-12  # one plane
    assert (
        np.abs(np.einsum("ij,ij->i", found.normals[0], found.normals[2])).max() < 0.2
    )  # an edge stays one


def test_one_sees_through_glass_but_not_through_what_is_before_it():
    glass = ("box", (0, 0, 0.5), (1.0, 1.0, 0.02), BLUE)
    scene = still(
        ("box", (0, 0, 0), (2.0, 0.4, 0.1), RED),
        glass,
        ("box", (0, 0.2, 1), (2.0, 0.1, 0.1), GREEN),
    )
    scene = replace(
        scene, items=tuple(replace(i, opacity=0.4) if i.color == BLUE else i for i in scene.items)
    )
    image = render_frame(scene, FIXED, 200, 200, from_above())
    through, bare, before = (image[100, 100], image[100, 20], image[80, 100])
    assert (
        through[0] > through[2] > through[1] + 30
        and bare[2] < 60
        and hue(image, 0.0, 0.2) == "g"
        and before[2] < 60
    )


GROUND = SceneGround((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (-50.0, 50.0), (0.0, 0.0))


def test_ground_has_a_shadow_below_things_and_ends_in_fog():
    scene = still(("box", (0, 0, 0.3), (0.6, 0.6, 0.6), RED), ground=GROUND)
    camera = fit_camera(scene, np.zeros((1, 0, 12)))
    image = render_frame(scene, FIXED, 300, 200, camera).astype(float)
    bare = render_frame(replace(scene, items=()), FIXED, 300, 200, camera).astype(float)
    red = image[..., 0] > image[..., 1] + 30
    shade = (bare - image).max(axis=2) * ~red
    assert shade.max() > 40 and 0.01 < (shade > 20).mean() < 0.3
    edge = np.abs(np.diff(shade, axis=1))[~red[:, 1:] & ~red[:, :-1]]
    assert np.quantile(edge, 0.999) < 30  # soft
    bands = bare[:, :, 0].mean(axis=1)
    assert (
        bands[0] > 250 and bands[-1] < 235 and np.abs(np.diff(bands)).max() < 8
    )  # no hard horizon


def test_lines_of_the_ground_stay_where_they_are():
    """As seen by a camera that moves along by a quarter of their distance, they have moved; by the
    whole, they have not."""
    scene = still(("sphere", (0, 0, 0.2), (0.2,), RED), ground=GROUND)
    first = fit_camera(scene, np.zeros((1, 0, 12)))
    images = []
    for x in (0.0, 0.125, 0.5):
        camera = replace(first, centres=first.centres + np.array([x, 0, 0]))
        images.append(render_frame(replace(scene, items=()), FIXED, 300, 200, camera).astype(int))
    assert np.abs(images[1] - images[0]).max() > 15 and np.abs(images[2] - images[0]).max() <= 2


def test_the_view_is_not_that_of_the_extreme():
    """Of a thousand frames ten in which a part is far away do not make all others small."""
    marks = (SceneMark(0, (0.0, 0.0, 0.0)), SceneMark(1, (0.0, 0.0, 0.0)))
    items = tuple(SceneItem("sphere", (k,), (0.5,), RED, "body") for k in (0, 1))
    scene = Scene("two", ("a", "b"), marks, items, 1.0, (0.0, 0.0, 1.0))
    poses = np.zeros((1000, 2, 12))
    poses[..., 3:] = np.eye(3).ravel()
    poses[:, 1, 0] = 1 + 0.2 * np.sin(np.arange(1000))
    poses[-10:, 1, 0] = np.linspace(4.0, 80, 10)
    camera = fit_camera(scene, poses)
    left, right, _, _ = camera.edges
    assert right - left < 4 and camera.widths[:990] == pytest.approx(1)
    assert (camera.widths[-10:] > 1.5).all() and camera.widths.max() == 3


def test_a_live_camera_follows_and_steps_back():
    marks = (SceneMark(0, (0.0, 0.0, 0.0)), SceneMark(1, (0.0, 0.0, 0.0)))
    items = tuple(SceneItem("sphere", (k,), (0.5,), RED, "body") for k in (0, 1))
    scene = Scene("two", ("a", "b"), marks, items, 1.0, (0.0, 0.0, 1.0))
    start = np.zeros((2, 12))
    start[:, 3:] = np.eye(3).ravel()
    live = LiveCamera(scene, start)
    gone = start.copy()
    gone[:, 0] = 40
    assert (
        live.camera_for_pose(start).centres[0] == pytest.approx([0, 0, 0])
        and live.camera_for_pose(start).widths[0] == 1
    )
    assert (
        live.camera_for_pose(gone).centres[0] == pytest.approx([40, 0, 0])
        and live.camera_for_pose(gone).widths[0] == 1
    )
    apart = gone.copy()
    apart[1, 0] += 3
    assert 1 < live.camera_for_pose(apart).widths[0] <= 3


def test_a_stepper_draws_its_state():
    st = (
        pendulum().equations().compile(backend="python").stepper(step=0.01, initial={"q(rod)": 1.0})
    )
    first = st.image(160, 100)
    st.step(30)
    second = st.image(160, 100)
    assert first.shape == (100, 160, 3) and first.dtype == np.uint8 and first.min() < 120
    assert (np.abs(first.astype(int) - second).max(axis=2) > 60).mean() > 0.005
    run = (
        pendulum()
        .equations()
        .compile(backend="python")
        .simulate(t_end=0.3, step=0.01, initial={"q(rod)": 1.0})
    )
    scene, poses = run.motion.scene, run.motion.poses
    assert (
        render_frame(
            scene, poses[-1], 160, 100, LiveCamera(scene, poses[0]).camera_for_pose(poses[-1])
        )
        == second
    ).all()
    with pytest.raises(bc.RunError, match="without bodies"):
        example("kane_double_pendulum").compile(backend="python").stepper(step=0.01).image()
