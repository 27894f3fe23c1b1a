"""Tables against recomputed figures of Houdek (2020), their orders, continuity, files and edges."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.core.errors import ModelError
from bellcrank.linkage import Linkage, Table
from bellcrank.linkage.pose_lookup import pose_lookup
from bellcrank.linkage.pose_table import pose_differences
from bellcrank.linkage.rotations import rotation_matrix, rotation_vector
from bellcrank.model.guided_linkage import TableGuide
from bellcrank.symbolic.expr import ONE, Symbol, evaluate
from bellcrank.verify.taylor import central_difference
from tests.linkage.machines import linkage
from tests.models import rarely

MEASURES = ("position", "angle", "d", "delta", "dd", "ddelta")
FULL = {  # five-link, table over [-0.2, 0.2] m, largest errors on a 1 mm grid
    ("three-rotations", 0.04): (2.574e-4, 2.902e-3, 2.299e-2, 2.606e-1, 9.331, 106.9),
    ("three-rotations", 0.01): (5.474e-6, 6.356e-5, 1.790e-3, 2.081e-2, 2.175, 25.35),
    ("quintic", 0.04): (7.128e-5, 8.375e-4, 6.588e-3, 7.746e-2, 1.120, 13.19),
    ("quintic", 0.01): (2.248e-7, 2.672e-6, 7.642e-5, 9.084e-4, 5.311e-2, 0.6312),
}
SMOOTH = {  # the same on [0, 0.1] m, away from the fold
    ("three-rotations", 0.02): (7.00e-8, 3.64e-7, 1.09e-5, 5.59e-5, 5.75e-3, 2.69e-2),
    ("cubic", 0.01): (4.67e-9, 2.00e-8, 1.44e-6, 6.19e-6, 1.51e-3, 6.53e-3),
    ("quintic", 0.01): (1.34e-12, 7.54e-12, 4.55e-10, 2.56e-9, 3.22e-7, 1.81e-6),
}


@pytest.fixture(scope="module")
def five():
    return linkage("five_link")


@pytest.mark.parametrize(
    ("ends", "cases", "digits"), [((-0.2, 0.2), FULL, 5e-4), ((0.0, 0.1), SMOOTH, 6e-3)]
)
def test_errors_are_the_recomputed_ones(five, ends, cases, digits):
    z = np.linspace(*ends, round((ends[1] - ends[0]) / 1e-3) + 1)
    exact = five.solve(z, links=())
    for (scheme, step), expected in cases.items():
        found = pose_differences(
            five.table(step=step, range=ends, scheme=scheme, links=()).solve(z), exact
        )
        assert [found[m] for m in MEASURES] == pytest.approx(expected, rel=digits)


@pytest.mark.parametrize(
    ("scheme", "orders"),
    [
        ("three-rotations", (4, 3, 3, 2, 2, 1)),
        ("cubic", (4, 4, 3, 3, 2, 2)),
        ("quintic", (6, 6, 5, 5, 4, 4)),
    ],
)
def test_orders(five, scheme, orders):
    """Steps of 10 and 5 mm on [0, 0.1] m. The three rotations do not commute, which costs their
    angle an order."""
    errors = [
        five.table(step=h, range=(0.0, 0.1), scheme=scheme, links=()).compare(five, per_interval=16)
        for h in (0.01, 0.005)
    ]
    found = [np.log2(errors[0][m] / errors[1][m]) for m in MEASURES]
    assert found == pytest.approx(orders, abs=0.45)


def test_quintic_accelerations_are_continuous_and_cubic_ones_jump(five):
    for scheme, low, high in (("quintic", 0.0, 1e-11), ("cubic", 1.0568, 1.0569)):
        table = five.table(step=0.01, range=(-0.2, 0.2), scheme=scheme, links=())
        piece = table.pieces["carrier"]
        inner = np.arange(1, len(table.travel) - 1)
        left, right = (
            piece.pose_at(inner - 1, np.ones(len(inner))),
            piece.pose_at(inner, np.zeros(len(inner))),
        )
        jump = {name: np.linalg.norm(left[name] - right[name], axis=1).max() for name in left}
        assert jump["position"] < 1e-14 and jump["d"] < 1e-12 and jump["delta"] < 1e-11
        # the source promises a continuous acceleration; it jumps by 1.05684 1/m at z = -0.19 m
        assert low <= jump["dd"] < high
    nodes = five.table(step=0.01, range=(-0.2, 0.2), links=())
    assert (
        max(
            pose_differences(nodes.solve(nodes.travel), five.solve(nodes.travel, links=())).values()
        )
        < 1e-9
    )


def test_single_rod():
    """Houdek (2020), section 3.5.1: a rod of unit length, nodes every 0.3 rad: e = 2.106e-5, about
    h^4/384, rotation exact.

    Here travel is the height of the rod's end, so the same accuracy is looked for by a table over
    the angle's sine."""
    rod = Linkage.read(
        {
            "kind": "trailing_arm", "name": "rod", "units": "m", "axes": "ISO 8855", "side": "left",
            "points": {"pivot_inner": [0, 0, 0], "pivot_outer": [0, 1, 0], "wheel_centre": [-1, 0, 0]},
        }
    )  # fmt: skip
    from bellcrank.linkage import Pose
    from bellcrank.linkage.pose_interpolation import pose_polynomials

    angles = np.arange(0, 1.81, 0.3)

    def at(a):
        R = rotation_matrix(np.stack([0 * a, a, 0 * a], -1))
        p = np.stack([-np.cos(a), 0 * a, np.sin(a)], -1)
        delta = np.tile([0.0, 1.0, 0.0], (len(a), 1))
        return Pose(a, p, R, np.cross(delta, p), delta, -p, 0 * p)

    check = np.arange(0, np.pi / 2, 0.01)
    i = np.minimum((check / 0.3).astype(int), 5)
    found = Pose(
        check, **pose_polynomials(at(angles), 0.3, quintic=False).pose_at(i, check / 0.3 - i)
    )
    exact = at(check)
    assert np.linalg.norm(found.position - exact.position, axis=1).max() == pytest.approx(
        2.106e-5, rel=1e-3
    )
    assert np.linalg.norm(found.d - exact.d, axis=1).max() == pytest.approx(2.157e-4, rel=1e-3)
    assert np.abs(found.rotation - exact.rotation).max() < 1e-14
    pose = rod.solve(np.sin(0.4))
    assert np.abs(pose.rotation - at(np.array([0.4])).rotation[0]).max() < 1e-14


@pytest.mark.campaign
def test_grid_is_chosen_for_an_accuracy(five):
    for accuracy in (1e-5, 1e-8):
        table = five.table(accuracy=accuracy, range=(-0.19, 0.2), links=())
        exact = table.compare(five, per_interval=7)
        assert max(exact["position"], exact["angle"]) < 1.1 * accuracy
        coarse = five.table(step=2 * table.step, range=(-0.19, 0.2), links=()).compare(
            five, per_interval=7
        )
        assert max(coarse["position"], coarse["angle"]) > accuracy
        assert table.errors["angle"] <= accuracy


def test_travel_and_rack_are_bicubic():
    wishbone = linkage("double_wishbone")
    errors = []
    for step in (0.02, 0.01):
        table = wishbone.table(step=step, rack=(0.0, 0.04), range=(-0.04, 0.04), links=())
        errors.append(table.compare(wishbone, per_interval=3))
    orders = [np.log2(errors[0][m] / errors[1][m]) for m in MEASURES]
    assert orders == pytest.approx([4, 4, 3, 3, 2, 2], abs=0.5)
    z, r = table.travel[3], table.rack[2]
    a, b = table.solve(z, r), wishbone.solve(z, r)
    for name in (
        "position",
        "rotation",
        "d",
        "delta",
        "d_rack",
        "delta_rack",
        "dd_mixed",
        "ddelta_mixed",
    ):
        assert np.abs(getattr(a, name) - getattr(b, name)).max() < 1e-10, name
    pose = wishbone.table(accuracy=1e-6, rack=(-0.01, 0.01), range=(-0.02, 0.02)).solve(
        0.013, 0.004
    )
    exact = wishbone.solve(0.013, 0.004)
    assert (
        np.abs(pose.point("spring_arm").position - exact.point("spring_arm").position).max() < 2e-6
    )
    assert np.abs(pose.point("tie_base").d_rack - [0, 1, 0]).max() < 1e-9


def test_what_a_table_of_two_inputs_adds_to_accelerations():
    """Terms in the squares of both rates and in their product, each with the second derivative that
    belongs to it."""
    table = linkage("double_wishbone").table(
        step=0.02, rack=(0.0, 0.04), range=(-0.04, 0.04), links=()
    )
    guide = TableGuide("corner", table, True, lambda part: None)
    at, rates, carrier = (0.013, 0.014), (0.7, -1.9), table.chain.carrier
    q, u = (
        [Symbol(f"{x}{i}", kind) for i in range(2)]
        for x, kind in (("q", "coordinate"), ("u", "speed"))
    )
    motion = guide.motion(carrier, q, u, ONE)
    values = dict(zip((*q, *u), (*at, *rates), strict=True))
    n = guide.numeric_motion(carrier, at, 1.0)
    for found, terms in ((motion.a, n["dd"]), (motion.alpha, n["ddelta"])):
        expected = sum(
            (1 if i == j else 2) * x * rates[i] * rates[j] for (i, j), x in terms.items()
        )
        assert evaluate(found, values) == pytest.approx(list(expected), rel=1e-9)
    small = guide.numeric_motion(carrier, [1000 * x for x in at], 1000.0)  # in mm
    for name, power in (("d", 0), ("delta", 1)):
        for i in range(2):
            assert 1000**power * small[name][i] == pytest.approx(n[name][i], rel=1e-12)
        for pair, x in n[f"d{name}"].items():
            assert 1000 ** (power + 1) * small[f"d{name}"][pair] == pytest.approx(x, rel=1e-12)


def test_slopes_of_what_is_looked_up():
    """Of all values but second derivatives, by either input, against differences within a cell."""
    table = linkage("double_wishbone").table(
        step=0.02, rack=(0.0, 0.04), range=(-0.04, 0.04), links=()
    )
    carrier, at = table.chain.carrier, np.array([0.013, 0.014])
    guide = TableGuide("corner", table, True, lambda part: None)
    look_up = guide.routine(carrier).python
    args = [Symbol("z", "coordinate"), Symbol("r", "coordinate")]
    values = dict(zip(args, at, strict=True))
    for j in range(2):
        expected = central_difference(
            lambda h, j=j: np.array(look_up(*(at + h * np.eye(2)[j]))), 5e-4
        )[:24]
        found = evaluate([guide._derivative_rule(carrier, i)(j, args) for i in range(24)], values)
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("extend", [False, True])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("trailing_arm", {"scheme": "quintic"}),  # about one axis
        ("five_link", {"scheme": "quintic"}),
        ("five_link", {"scheme": "three-rotations"}),
        ("double_wishbone", {"rack": (0.0, 0.04)}),
    ],
)
def test_formulas_of_a_cell_are_the_table(name, options, extend):
    """All values in two cells, and past the last one where it may be exceeded."""
    table = linkage(name).table(step=0.02, range=(-0.04, 0.04), links=(), **options)
    part, two = table.chain.carrier, "rack" in options
    found = pose_lookup(table, part, extend)
    look_up = TableGuide("corner", table, two, lambda part: None, extend).routine(part).python
    for at in (
        (-0.031, 0.003),
        (0.027, 0.036),
        *([(0.046, 0.045), (-0.047, 0.01)] if extend else []),
    ):
        z = np.array(at[: 1 + two])
        lows, highs, steps = map(np.array, (found.lows, found.highs, found.steps))
        inside = np.clip(z, lows, highs)
        cell = np.minimum(((inside - lows) / steps).astype(int), np.array(found.cell_counts) - 1)
        row = found.rows[cell[0] * found.cell_counts[-1] + cell[1] if two else cell[0]]
        values = dict(zip(found.numbers, row, strict=True)) | dict(
            zip(
                (*found.places, *found.beyond, *found.inside),
                (
                    *(inside - lows - cell * steps),
                    *((z - inside) if extend else ()),
                    *((z == inside) if extend else ()),
                ),
                strict=True,
            )
        )
        assert evaluate(found.values, values) == pytest.approx(look_up(*z), rel=1e-9, abs=1e-9), at


def test_links_and_points_are_interpolated_too():
    formula = linkage("formula_student")
    table = formula.table(accuracy=1e-8, range=(-0.06, 0.06))
    z = np.linspace(-0.06, 0.06, 23)
    a, b = table.solve(z), formula.solve(z)
    for name in formula.links:
        assert np.abs(a.link[name].position - b.link[name].position).max() < 1e-6
    for point in ("spring_crank", "pushrod_outer"):
        assert np.abs(a.point(point).position - b.point(point).position).max() < 1e-6
        assert np.abs(a.point(point).d - b.point(point).d).max() < 1e-4


def test_a_table_has_at_most_so_many_nodes(five, monkeypatch):
    monkeypatch.setattr("bellcrank.linkage.pose_table.MOST", 11)
    assert len(five.table(step=0.01, range=(-0.05, 0.05), links=()).travel) == 11
    with pytest.raises(
        ModelError, match="a table of 12 nodes is too large; use a larger step or accuracy"
    ):
        five.table(step=0.01, range=(-0.05, 0.06), links=())


def test_outside_the_table(five):
    table = five.table(step=0.01, range=(-0.1, 0.1))
    with pytest.raises(
        ModelError, match=r"travel 0\.12 lies outside its nodes, which go from -0\.1 to 0\.1"
    ):
        table.solve([0.0, 0.12])
    pose = table.solve([0.05, 0.12], extend=True)
    assert pose.extended.tolist() == [False, True]
    edge = table.solve(0.1)
    assert np.abs(pose.position[1] - edge.position - 0.02 * edge.d).max() < 1e-12


@pytest.mark.parametrize(
    "scheme",
    rarely(["quintic", "cubic", "three-rotations", "bicubic"], ["cubic", "three-rotations"]),
)
def test_beyond_the_table_it_goes_on_straight(scheme, five):
    """Position straight, attitude continuous, derivatives those of the pose itself, in Python and
    in C; outside one end or both."""
    if scheme == "bicubic":
        table = linkage("double_wishbone").table(step=0.02, range=(-0.04, 0.04), rack=(-0.02, 0.02))
        places = [(0.05, 0.013), (-0.012, -0.031), (0.055, 0.028), (-0.049, -0.03)]
    else:
        table = five.table(step=0.02, range=(-0.1, 0.1), scheme=scheme)
        places = [(0.12,), (-0.13,)]
    place = np.array(places).T
    pose = table.solve(*place, extend=True)
    assert pose.extended.all()
    compiled = bc.compile_linkage(table, extend=True).solve(*place)
    assert compiled.extended.all()
    assert max(pose_differences(pose, compiled).values()) < 1e-11
    h = 1e-4
    names = [("d", "delta", "dd", "ddelta"), ("d_rack", "delta_rack", "dd_rack", "ddelta_rack")][
        : len(place)
    ]
    for k, (d, delta, dd, ddelta) in enumerate(names):
        low, high = (
            table.solve(*(place + h * s * np.eye(len(place))[k][:, None]), extend=True)
            for s in (-1, 1)
        )
        assert np.abs((high.position - low.position) / (2 * h) - getattr(pose, d)).max() < 1e-6
        turned = rotation_vector(high.rotation @ np.swapaxes(low.rotation, 1, 2)) / (2 * h)
        assert np.abs(turned - getattr(pose, delta)).max() < 1e-6
        assert (
            np.abs((getattr(high, d) - getattr(low, d)) / (2 * h) - getattr(pose, dd)).max() < 1e-4
        )
        assert (
            np.abs(
                (getattr(high, delta) - getattr(low, delta)) / (2 * h) - getattr(pose, ddelta)
            ).max()
            < 1e-4
        )
    edges = [
        np.clip(x, g[0], g[-1]) for x, g in zip(place, (table.travel, table.rack), strict=False)
    ]
    near = table.solve(
        *(e + 1e-9 * np.sign(x - e) for x, e in zip(place, edges, strict=True)), extend=True
    )
    inside = table.solve(*edges)
    assert np.abs(near.delta - inside.delta).max() < 1e-6 and np.abs(near.d - inside.d).max() < 1e-6


def test_files(five, tmp_path):
    table = five.table(step=0.02, range=(-0.1, 0.1))
    again = Table.read(table.save(tmp_path / "five.json"))
    z = np.linspace(-0.1, 0.1, 17)
    assert max(pose_differences(table.solve(z), again.solve(z)).values()) == 0
    assert (
        np.abs(table.solve(z).point("X5").position - again.solve(z).point("X5").position).max() == 0
    )
    lines = table.save_transformations(tmp_path / "five.txt").read_text().splitlines()
    assert int(lines[0]) == 11 and len(lines) == 1 + 11 * 6
    T = np.array([[float(x) for x in line.split()] for line in lines[2:5]])
    assert np.abs(T[:, :3] - table.nodes["carrier"].rotation[0]).max() == 0
    assert [float(x) for x in lines[6].split()] == table.nodes["carrier"].delta[0].tolist()
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot be read as a linkage table"):
        Table.read(tmp_path / "bad.json")
    with pytest.raises(ModelError, match="either step"):
        five.table()
    with pytest.raises(ModelError, match="scheme='linear' is not known"):
        five.table(step=0.01, scheme="linear")


@pytest.mark.parametrize(
    ("name", "rack"),
    rarely(
        [("double_wishbone", (-0.02, 0.03)), ("five_link", None)],
        [("five_link", None)],
        several=True,
    ),
)
def test_the_table_of_the_other_side_is_the_mirror_image(name, rack):
    one, grid = linkage(name), {"step": 0.03, "range": (-0.03, 0.06), "rack": rack}
    found, made = one.mirror().table(**grid), Linkage(one.chain.mirrored()).table(**grid)
    assert found.chain == made.chain and found.nodes.keys() == made.nodes.keys()
    z, r = np.linspace(-0.03, 0.06, 7), () if rack is None else (np.linspace(0.03, -0.02, 7),)
    a, b = found.solve(z, *r), made.solve(z, *r)
    for one, two in ((a, b), *((a.link[n], b.link[n]) for n in found.links)):
        for field, value in vars(two).items():
            if isinstance(value, np.ndarray):
                assert getattr(one, field) == pytest.approx(value, abs=1e-9), field


def test_a_table_by_compiled_poses():
    one = linkage("five_link")
    a = bc.compile_linkage(one, links=["rod_5"]).table(step=0.02, range=(-0.1, 0.1))
    b = one.table(step=0.02, range=(-0.1, 0.1), links=["rod_5"])
    for name in ("carrier", "rod_5"):
        found = pose_differences(a.nodes[name], b.nodes[name])
        assert found["position"] < 1e-14 and found["angle"] < 1e-13 and max(found.values()) < 1e-8
