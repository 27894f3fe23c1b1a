"""Expressions as rows and as pickles: the same objects come back, shared parts are written once."""

import copy
import json
import os
import pickle
import subprocess
import sys

import pytest

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr import (
    Func,
    NamedSubexpression,
    Number,
    Symbol,
    apply_builtin,
    cos,
    dump_nodes,
    load_nodes,
    sin,
    sqrt,
)

a, b = Symbol("a"), Symbol("b")
x, y = Symbol("x", "coordinate"), Symbol("y", "speed", order=1)

CASES = [
    Number(3),
    Number(1) / 3,
    a,
    y,
    a * x / 3 + b,
    sqrt(a * x) / (b + x) ** 2,
    sin(x) * cos(x + a) - 1,
    NamedSubexpression(a + x) * b,
    apply_builtin("where", apply_builtin("lt", x, a), x, Number(0)),
]


@pytest.mark.parametrize("e", CASES, ids=str)
def test_what_is_dumped_is_loaded(e):
    assert load_nodes(dump_nodes([e])) == [e]


@pytest.mark.parametrize("e", CASES, ids=str)
def test_pickle_and_copy_give_the_same_object(e):
    assert pickle.loads(pickle.dumps(e)) is e
    assert copy.copy(e) is e
    assert copy.deepcopy([e, e]) == [e, e]


def test_several_roots_share_their_parts():
    shared = sin(x + a)
    rows = dump_nodes([shared * a, shared * b, shared * a])
    assert sum(row[0] == "func" for row in rows) == 1
    assert load_nodes(rows) == [shared * a, shared * b, shared * a]


def test_rows_are_plain_data():
    rows = dump_nodes(CASES)
    listed = json.loads(json.dumps(rows))
    assert load_nodes(listed) == CASES


def test_user_functions_travel_with_the_rows():
    e = Func("maximum", (x, a), max)
    assert pickle.loads(pickle.dumps(e)) is e
    assert load_nodes(dump_nodes([e])) == [e]


def test_damaged_rows_are_refused():
    rows = dump_nodes([a * x])
    with pytest.raises(ModelError, match="without its roots"):
        load_nodes(rows[:-1])
    with pytest.raises(ModelError, match="unknown kind"):
        load_nodes([("quaternion", 1), *rows])


def test_pickle_from_another_process_is_the_same_object():
    script = (
        "import pickle, sys\n"
        "from bellcrank.symbolic.expr import Symbol, sin\n"
        "a, x = Symbol('a'), Symbol('x', 'coordinate')\n"
        "sys.stdout.buffer.write(pickle.dumps([sin(a + x) * a, a + x]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    assert pickle.loads(done.stdout) == [sin(a + x) * a, a + x]
