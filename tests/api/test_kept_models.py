"""Derived models kept on disk: the same equations and runs as derived ones, for every value of
parameters; nothing is loaded that is not whole, not ours, or holds anything but objects of
Bellcrank."""

import hashlib
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.linkage import Linkage
from bellcrank.mechanics.derive import content_digest, model_pickle, pipeline
from bellcrank.simulation.backend import model_cache
from bellcrank.symbolic.expr import Func, Symbol, postorder
from tests.helpers import EXAMPLES
from tests.models import needs_compiler


class Kept(bc.System):
    _caches_equations = True


LAW = bc.table([-1, 0, 1], [-2, 0, 3])


def corner(k=20000.0, arm=0.3, python=None, law=LAW):
    """A wheel on a linkage, with a table, a state and a user's function."""
    s = Kept("corner", axes="ISO 8855")
    chain = Linkage.read("trailing_arm")
    wheel = s.add_body("wheel", mass=40, inertia=(1, 1, 1), cm=chain.points["wheel_centre"])
    s.add_linkage("front", chain, carrier=wheel)
    s.add_body(
        "pendulum",
        rotate=2,
        mass="m",
        joint_at=(arm, 0, 0),
        cm=(0, 0, -0.2),
        inertia=(0.1, 0.1, 0.1),
    )
    s.define("law", law)
    s.add_gravity()
    s.add_force("spring", magnitude="-k*(x - x0) - 500*v", direction=s.inertial[3], at=wheel.cm)
    s.add_state("z", rate="law(q(wheel)) - z", units="1")
    s.set_defaults(k=k, m=2.0)
    s.add_output("push", "k*q(wheel)", units="F")
    if python is not None:
        s.add_external("mine", arguments=("x",), python=python)
        s.add_output("own", "mine(q(wheel))", units="1")
    return s


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("BELLCRANK_CACHE", str(folder))
    return folder


@pytest.fixture
def derived(monkeypatch):
    """Names of the models that were derived."""
    names, derive = [], pipeline.derive_model

    def counted(description, *asked):
        names.append(description.name)
        return derive(description, *asked)

    monkeypatch.setattr(pipeline, "derive_model", counted)
    return names


def test_equal_things_have_equal_digests_whether_shared_or_not():
    """What was read from the cache shares fewer objects than what was made."""
    at, again = tuple([0.0, 1.0]), tuple([0.0, 1.0])
    assert at is not again
    assert content_digest.object_digest({"a": at, "b": at}) == content_digest.object_digest(
        {"a": at, "b": again}
    )
    assert (
        content_digest.object_digest((at, at))
        != content_digest.object_digest((at, (0.0, 2.0)))
        != content_digest.object_digest((at, [0.0, 2.0]))
    )
    ring: list = [at]
    ring.append(ring)
    assert content_digest.object_digest(ring) != content_digest.object_digest([at, []])


def channels(s):
    """Rates and outputs at a state."""
    sim = s.equations(optimise="none").compile(backend="python")
    q, u = np.array([0.02, 0.3, 0.1]), np.array([0.5, -0.7])
    return np.array([*np.concatenate(sim.derivatives(0.0, q, u)), *sim.outputs(0.0, q, u).values()])


def test_a_kept_model_is_the_derived_one_and_takes_other_values(cache, derived):
    first = channels(corner())
    assert len(derived) == 1 and len([*cache.glob("model-*")]) == 1
    assert (channels(corner()) == first).all()
    stiffer = corner(k=40000.0)
    found = channels(stiffer)
    assert len(derived) == 1  # k and m are parameters
    assert (channels(corner(k=40000.0)) == found).all() and not (found == first).all()
    stiffer.set_defaults(m=3.0)  # equations read defaults as they are now
    eom = stiffer.equations(optimise="none")
    assert {p.name: p.default for p in eom.interface.parameters}["m"] == 3.0
    corner(arm=0.31).equations(optimise="none")
    assert (
        len(derived) == 2 and len([*cache.glob("model-*")]) == 2
    )  # another structure is another model
    plain = bc.System("other")
    plain.add_body("b", translate=1, mass=1)
    plain.equations()
    assert len([*cache.glob("model-*")]) == 2  # others are not kept


def test_a_kept_model_takes_other_tables(cache, derived, monkeypatch):
    """Up to a number of points; two names of one table are not two tables."""
    other = bc.table([-1, -0.2, 0.1, 1], [-2, 1, 0, 3])
    channels(corner())
    found = channels(corner(law=other))
    assert len(derived) == 1
    monkeypatch.setenv("BELLCRANK_CACHE", str(cache / "afresh"))
    assert (channels(corner(law=other)) == found).all() and not (channels(corner()) == found).all()
    assert len(derived) == 2
    described = corner(), corner()
    for s, second in zip(described, (LAW, bc.table([-1, 0, 1], [-2, 0, 3])), strict=True):
        s.define("again", second)
    assert len({content_digest.equation_digest(s.description) for s in described}) == 2
    cubic, wider = bc.table(range(5), range(5), order=3), bc.table(range(9), range(9))
    known = {
        content_digest.equation_digest(corner(law=x).description)
        for x in (LAW, other, cubic, wider)
    }
    assert len(known) == 3


def test_a_model_that_was_read_before_takes_other_values_and_tables(cache, derived, monkeypatch):
    """What is the same for all numbers is read once; runs are those of models that are derived with
    these numbers."""
    channels(corner())
    channels(corner())  # read
    (path,) = cache.glob("model-*/model")
    path.unlink()  # it is not read again
    other = bc.table([-1, -0.2, 0.1, 1], [-2, 1, 0, 3])
    described = [dict(k=k, law=law) for k in (20000.0, 31000.0) for law in (LAW, other)]
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda given: channels(corner(**given)), 4 * described)]
    assert len(derived) == 1
    monkeypatch.setattr(Kept, "_caches_equations", False)
    for given, x in zip(4 * described, found, strict=True):
        assert (x == channels(corner(**given))).all()
    assert len({x.tobytes() for x in found}) == len(described)


def test_a_process_keeps_the_last_models_only(cache, derived):
    arms = [0.3 + 0.01 * i for i in range(model_cache.RECENT + 2)]
    for _ in range(2):
        for arm in arms:
            corner(arm=arm).equations(optimise="none")
    assert len(derived) == len(arms)
    assert len(model_cache._recent._read) == model_cache.RECENT


def test_shared_parts_are_one_object_and_hold_nothing_known():
    """Expressions without tables come first and are read once; tables have the points given with
    each reading."""
    x, known = Symbol("x"), {"axes": (LAW.axes[0],), "values": LAW.values}
    law = replace(LAW, axes=known["axes"], values=known["values"], name="law", defined=True)
    kept = model_pickle.PickledModel(model_pickle.dumps((x + 1, law(x) + (x + 1) ** 2, law), known))
    steeper = {"axes": known["axes"], "values": tuple(2 * v for v in LAW.values)}
    (a, b, first), (c, d, second) = kept.load_object(known), kept.load_object(steeper)
    assert a is c is x + 1
    assert first is not second and second.value(1) == 2 * first.value(1) == 6
    assert {n.function for n in postorder([b]) if isinstance(n, Func)} == {first}
    assert {n.function for n in postorder([d]) if isinstance(n, Func)} == {second}
    with pytest.raises(model_pickle.NotPortable, match="values is not known"):
        kept.load_object({"axes": known["axes"]})


@pytest.mark.parametrize("made", [set, frozenset])
def test_the_order_of_a_set_is_not_in_its_digest(made):
    names = [f"name {i}" for i in range(40)]
    assert (
        content_digest.object_digest(made(names))
        == content_digest.object_digest(made(names[::-1]))
        != content_digest.object_digest(made(names[1:]))
    )


def test_digests_tell_values_apart():
    things = [
        1,
        1.0,
        True,
        "1",
        b"1",
        None,
        "None",
        0.0,
        -0.0,
        (1,),
        [1],
        ((1,),),
        (1, 1),
        {"a": 1},
        ("a", 1),
        {1},
    ]
    assert len({content_digest.object_digest(x) for x in things}) == len(things)


@pytest.mark.campaign
@needs_compiler
def test_another_car_in_a_process_runs_as_in_one_of_its_own(tmp_path):
    """Another spring, damper curve or .tir file of the same form."""
    text = (EXAMPLES / "tyres" / "book_205_60R15.tir").read_text()
    (tmp_path / "t0.tir").write_text(text)
    (tmp_path / "t1.tir").write_text(text.replace("PDY1 = 0.8785", "PDY1 = 0.9125"))
    assert (tmp_path / "t0.tir").read_text() != (tmp_path / "t1.tir").read_text()
    together = runs_of_cars(tmp_path, "shared", 0, 1, 2, 3)
    for i in (2, 3):
        assert runs_of_cars(tmp_path, f"alone {i}", i) == together[i : i + 1]
    assert len(set(together)) == 4


def runs_of_cars(folder, cache, *numbers):
    """Digests of short runs of cars, one after another in a process with a cache of its own."""
    given = {**os.environ, "BELLCRANK_CACHE": str(folder / cache)}
    command = [sys.executable, "-c", CARS, str(folder), *map(str, numbers)]
    return subprocess.run(
        command, env=given, capture_output=True, text=True, check=True
    ).stdout.split()


CARS = """
import hashlib, sys
import bellcrank as bc
tyre = lambda i: {"tyre": {"size": None, "file": f"{sys.argv[1]}/t{i}.tir"}}
base = bc.vehicles.Car.read("passenger").changed(front=tyre(0), rear=tyre(0))
curve = [[-1.0, -3000], [-0.1, -700], [0, 0], [0.1, 350], [1.0, 1500]]
changes = {}, {"front": {"spring": {"stiffness": "45 N/mm"}}}, {"front": {"damper": {"table": curve}}}, {"front": tyre(1)}
for i in sys.argv[2:]:
    run = base.changed(**changes[int(i)]).system().equations().compile().simulate(
        t_end=0.02, step=0.001, inputs={"steer": 20})
    print(hashlib.sha256(b"".join(run[name].tobytes() for name in run.channels)).hexdigest())
"""


def test_equations_of_a_kept_model_say_the_same(cache):
    a, b = corner().equations(optimise="none"), corner().equations(optimise="none")
    assert a.latex() == b.latex()
    assert a.operation_count() == b.operation_count()
    assert [str(x) for x in a.forces] == [str(x) for x in b.forces]
    assert a.describe() == b.describe()


def test_a_function_of_the_user_is_not_kept(cache, derived):
    for _ in range(2):
        corner(python=lambda x: 2 * x).equations(optimise="none")
    assert len(derived) == 2 and not [*cache.glob("model-*")]


def test_a_damaged_file_is_made_again(cache, derived):
    corner().equations(optimise="none")
    (path,) = cache.glob("model-*/model")
    path.write_bytes(path.read_bytes()[:-10] + b"0123456789")
    with pytest.warns(bc.ModelWarning, match="made again"):
        corner().equations(optimise="none")
    assert len(derived) == 2


class Evil:
    def __reduce__(self):
        return os.mkdir, ("came-to-life",)


def test_nothing_but_objects_of_bellcrank_is_loaded(cache, derived, tmp_path, monkeypatch):
    """Even where owner, modes and digest are right."""
    monkeypatch.chdir(tmp_path)
    corner().equations(optimise="none")
    (path,) = cache.glob("model-*/model")
    assert b"marshal" not in path.read_bytes() and b"co_code" not in path.read_bytes()
    for data in (
        pickle.dumps(Evil()),
        pickle.dumps(print),
        b"",
        b"\x80\x05garbage",
        pickle.dumps(([], 3))[:-3],
    ):
        with pytest.raises(model_pickle.NotPortable):
            model_pickle.loads(data, {})
    path.write_bytes(data := pickle.dumps(Evil()))
    (path.parent / "digest").write_text(hashlib.sha256(data).hexdigest())
    assert corner().equations(optimise="none").coordinates
    assert not (tmp_path / "came-to-life").exists()
    assert len(derived) == 2


def test_the_digest_knows_the_values_of_loops():
    """Their derivation looks at numbers."""

    def four_bar(length):
        s = bc.System("loop")
        a = s.add_body("a", rotate=3, mass=1, cm=(0.5, 0, 0), inertia=(1, 1, 1))
        b = s.add_body(
            "b", parent=a, rotate=3, joint_at=("l", 0, 0), mass=1, cm=(0.5, 0, 0), inertia=(1, 1, 1)
        )
        tip = s.add_point("tip", body=b, at=(1, 0, 0))
        s.add_loop_joint(
            "loop",
            between=(tip, s.add_point("fixed", at=(1, 1, 0), body=s.inertial)),
            directions=(1, 2),
        )
        s.set_defaults(l=length)
        return s.description

    assert content_digest.equation_digest(four_bar(1.0)) == content_digest.equation_digest(
        four_bar(1.0)
    )
    assert content_digest.equation_digest(four_bar(1.0)) != content_digest.equation_digest(
        four_bar(1.1)
    )
    assert content_digest.equation_digest(corner().description) == content_digest.equation_digest(
        corner(k=3.0).description
    )
    assert content_digest.equation_digest(corner().description) != content_digest.equation_digest(
        corner(arm=3.0).description
    )


def chain(links, python=None):
    s = bc.System("chain")
    link = None
    for i in range(links):
        at = (0, 0, "-l") if link else (0, 0, 0)
        link = s.add_body(
            f"link{i}",
            link,
            rotate="x",
            joint_at=at,
            cm=(0, 0, "-c"),
            mass="m",
            inertia=("a", 0, 0),
        )
    s.add_gravity(direction="-[n.z]")
    s.set_defaults(l=1, c=0.5, m=2, a=0.1)
    if python is not None:
        s.add_external("mine", arguments=("x",), python=python)
        s.add_output("own", "mine(q(link0))", units="1")
    return s


@pytest.mark.parametrize(
    ("links", "python", "times"), [(5, None, 2), (6, None, 1), (6, lambda x: 2 * x, 2)]
)
def test_equations_of_large_systems_are_kept(cache, derived, monkeypatch, links, python, times):
    """Small ones are derived sooner than read; functions of the user have no content that is
    known."""
    monkeypatch.setattr(bc.System, "_caches_equations", None)
    first, second = (chain(links, python).equations() for _ in range(2))
    assert len(derived) == times
    state = {"q(link0)": 0.3, "q(link4)": -0.2}
    one, two = (e.compile().simulate(t_end=0.1, step=0.01, initial=state) for e in (first, second))
    assert np.array_equal(one["q(link4)"], two["q(link4)"])
