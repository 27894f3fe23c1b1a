"""The thorough search: fewer operations than one greedy extraction, the same values, the same
result every time."""

import random

import pytest

from bellcrank.program.common_subexpressions import extract_common_parts, network_cost
from bellcrank.program.network import build_network, rebuild_expressions
from bellcrank.program.operation_count import count_operations
from bellcrank.program.operation_search import OperationSearch, anneal_network
from bellcrank.program.optimize import first_extraction
from bellcrank.symbolic.expr import Symbol, cos, sin
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace

x, y, z, q = (Symbol(name, "coordinate") for name in "xyzq")
h, J, k, l = (Symbol(name) for name in "hJkl")


def operations(roots, moves=200):
    found = rebuild_expressions(
        anneal_network(extract_common_parts(build_network(roots)), moves, 0.5)
    )
    assert [e.fingerprint for e in found] == [e.fingerprint for e in roots]
    counted = count_operations(found)
    return counted.add, counted.multiply + counted.divide


def test_multiples_of_a_sum_are_taken_out_once():
    """k x + l y, and h times it: one product more than the sum alone."""
    assert operations([k * x + l * y, h * k * x + h * l * y]) == (1, 3)


def test_a_multiple_never_divides_by_a_parameter_that_may_be_zero():
    """h (k x + l y) does not give (k x + l y) through 1/h; over J, which divides already, both are
    at hand."""
    roots = [h * k * x + h * l * y, k * x + l * y]
    found = rebuild_expressions(
        anneal_network(extract_common_parts(build_network(roots)), 200, 0.5)
    )
    assert "/h" not in "".join(map(str, found))
    assert operations([(k * x + l * y) / J, k * x + l * y]) == (1, 3)


def test_values_at_hand_are_found_by_identities():
    """cos (c x + s y) + sin (s x - c y) is x."""
    work, c, s = DerivationWorkspace([x, y, q]), cos(q), sin(q)
    turned = work.bind(c * x + s * y), work.bind(s * x - c * y)
    back = c * turned[0] * z + s * turned[1] * z
    assert operations([*turned, back]) == (2, 5)


def test_moves_that_are_undone_leave_nothing_behind():
    chance = random.Random(1)
    search = OperationSearch(
        extract_common_parts(
            build_network([x * y + x * z + q * y, x * y * q + z * q, (x + y) * (z + q)])
        ),
        chance,
    )
    before = {v: sorted(terms) for v, terms in search.best_network().sums.items()}
    cost = search.cost
    for _ in range(50):
        search.random_move(chance)
        search.undo_move()
        assert search.cost == cost == network_cost(search.best_network())
        assert {v: sorted(terms) for v, terms in search.best_network().sums.items()} == before


def test_what_is_forgotten_is_found_again():
    """Terms that are gone are forgotten after every move: the network stays whole, and worth the
    same."""
    chance = random.Random(2)
    roots = [x * y + x * z + q * y, x * y * q + z * q, (x + y) * (z + q), k * x * x + h * x * y]
    search = OperationSearch(extract_common_parts(build_network(roots)), chance)
    for _ in range(50):
        search.random_move(chance)
        search.prune_caches()
        assert len(search.shapes) == len({shape for _, shape in search.terms.values()})
        assert search.operations[0] == search.cost == network_cost(search.best_network())
        assert [e.fingerprint for e in rebuild_expressions(search.best_network())] == [
            e.fingerprint for e in roots
        ]


def test_of_networks_as_short_the_one_with_fewer_additions_is_preferred():
    search = OperationSearch(
        extract_common_parts(build_network([x * y + z, x * y * q])), random.Random(0)
    )
    assert search.operations == (3, 1)
    assert 3 < search.energy < 4


def test_the_search_repeats_itself():
    roots = [x * y + x * z + q * y, x * y * q + z * q, (x + y) * (z + q), k * x * x + h * x * y]
    first, second = (anneal_network(first_extraction(roots), 100, 0.5) for _ in range(2))
    assert first.sums == second.sums


@pytest.mark.parametrize("heat", [0, 0.5, 2])
def test_heat_never_costs_operations(heat):
    net = extract_common_parts(
        build_network([x * y + x * z + q * y, x * y * q + z * q, (x + y) * (z + q)])
    )
    assert network_cost(anneal_network(net, 100, heat)) <= network_cost(net)
