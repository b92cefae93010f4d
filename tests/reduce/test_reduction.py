"""What a reduction says must follow from the evidence: each claim is computed here a second time."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from evidences import MATCH, evidence, metadata, permuted, reduction
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.errors import InputError, Refused
from winnow.evidence.rounds import choosing, scoring, settled
from winnow.reduce.knob_rules import matches
from winnow.reduce.noise import graph_noise
from winnow.reduce.result import reduce_evidence
from winnow.reduce.score import score


@st.composite
def tables(draw: st.DrawFn):
    """Evidence with ties, gaps, noise and knobs; kernel 0 serves everything."""
    graphs, kernels = draw(st.integers(1, 6)), draw(st.integers(2, 8))
    time = st.sampled_from([1.0, 1.0, 1.01, 1.05, 1.4, 3.0, None])
    rows = [[draw(time) for _ in range(kernels)] for _ in range(graphs)]
    for row in rows:
        row[0] = row[0] or 2.0
    kinds = [metadata(draw(st.sampled_from(["row", "col"])), vec=draw(st.integers(0, 3))) for _ in range(kernels)]
    return evidence(rows, kinds=kinds, noise=draw(st.sampled_from([0.0, 0.01])), seed=draw(st.integers(0, 9)))


def best_costs(given_, names):
    """(cost of the best named kernel over the best of all, limit) by graph, computed from scratch."""
    named = [k for k, kernel in enumerate(given_.kernels) if kernel.name in names]
    found = {}
    for g, graph in enumerate(given_.graphs):
        times = settled(given_.times[g][:, choosing(given_.rounds)])
        own = times[named]
        cost = math.inf if np.isnan(own).all() else float(np.nanmin(own) - np.nanmin(times))
        found[graph.name] = cost
    return found


@settings(max_examples=30, deadline=None)
@given(tables())
def test_every_graph_stays_within_its_epsilon_and_no_smaller_set_does(given_):
    result = reduce_evidence(given_, reduction(), MATCH)
    noise = {n.graph: math.log1p(n.epsilon) for n in graph_noise(given_, reduction().noise)}
    limits = {graph.name: noise[graph.id] for graph in given_.graphs}
    costs = best_costs(given_, result.kept_names)
    assert all(costs[name] <= limits[name] + 1e-12 for name in costs)
    assert not result.refused
    assert len(result.kept) == result.needed
    for left_out in result.kept:
        if left_out.roles:
            continue
        without = best_costs(given_, result.kept_names - {left_out.kernel})
        needing = {name for name in without if without[name] > limits[name]}
        assert needing == set(left_out.needed_by)
        assert needing, "a kernel without a role and without a graph that needs it should have gone"


@settings(max_examples=30, deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_input_order_changes_nothing(given_, random):
    graphs, kernels = list(range(len(given_.graphs))), list(range(len(given_.kernels)))
    random.shuffle(graphs)
    random.shuffle(kernels)
    one = reduce_evidence(given_, reduction(), MATCH)
    two = reduce_evidence(permuted(given_, graphs, kernels), reduction(), MATCH)
    assert one.kept == two.kept
    assert one.dropped == two.dropped
    assert one.rules == two.rules
    assert one.scores == two.scores
    assert one.frontier == two.frontier
    assert sorted(one.graphs, key=lambda g: g.id) == sorted(two.graphs, key=lambda g: g.id)


@settings(max_examples=25, deadline=None)
@given(tables(), st.integers(0, 9))
def test_choosing_and_scoring_never_see_each_others_rounds(given_, seed):
    random = np.random.Generator(np.random.PCG64(seed))
    even, odd = given_.times.copy(), given_.times.copy()
    even[:, :, choosing(6)] += random.standard_normal(even[:, :, choosing(6)].shape)
    odd[:, :, scoring(6)] += random.standard_normal(odd[:, :, scoring(6)].shape)
    plain = reduce_evidence(given_, reduction(), MATCH)
    other = reduce_evidence(replace(given_, times=odd), reduction(), MATCH)
    assert other.kept == plain.kept
    assert [(r.when, r.outside) for r in other.rules.rules] == [(r.when, r.outside) for r in plain.rules.rules]
    assert [p.kernels for p in other.frontier] == [p.kernels for p in plain.frontier]
    chosen = dict.fromkeys(range(len(given_.graphs)), 0)
    best = {g: int(np.nanargmin(given_.times[g, :, 0])) for g in range(len(given_.graphs))}
    assert score(given_, chosen, best) == score(replace(given_, times=even), chosen, best)


@settings(max_examples=30, deadline=None)
@given(tables(), st.integers(1, 4))
def test_witnesses_and_rules_hold(given_, budget):
    wanted = reduction(variants=budget)
    try:
        result = reduce_evidence(given_, wanted, MATCH)
    except Refused:
        return
    noise = {n.graph: math.log1p(n.epsilon) for n in graph_noise(given_, wanted.noise)}
    limits = {graph.name: noise[graph.id] for graph in given_.graphs}
    index = {kernel.name: k for k, kernel in enumerate(given_.kernels)}
    settled_ = {g.name: settled(given_.times[i][:, choosing(6)]) for i, g in enumerate(given_.graphs)}
    assert {k.kernel for k in result.kept} | {k.kernel for k in result.dropped} == index.keys()
    for dropped in result.dropped:
        served = {name for name, times in settled_.items() if not np.isnan(times[index[dropped.kernel]])}
        assert set().union(*(w.graphs for w in dropped.witnesses)) == served
        for witness in dropped.witnesses:
            assert witness.kernel in result.kept_names
            assert witness.low <= witness.ratio <= witness.high
            for name in set(witness.graphs) - set(dropped.lost):
                times = settled_[name]
                assert times[index[witness.kernel]] - times[index[dropped.kernel]] <= limits[name] + 1e-12
    assert set(result.outside) == {n for n, cost in best_costs(given_, result.kept_names).items() if cost > limits[n]}
    described = set(result.rules.named)
    for rule in result.rules.rules:
        dropped_names = {k.name for k in given_.kernels if matches(rule.when, k.metadata)}
        assert dropped_names == set(rule.drops)
        assert not dropped_names & result.kept_names
        costs = best_costs(given_, index.keys() - dropped_names)
        assert set(rule.outside) == {name for name, cost in costs.items() if cost > limits[name]}
        described |= dropped_names
    assert described == {k.kernel for k in result.dropped}


def test_the_budget_gives_the_best_and_names_what_it_costs():
    made = evidence([[2.0, 1.0, 9.0], [2.0, 9.0, 1.0], [1.0, 5.0, 5.0]])
    result = reduce_evidence(made, reduction(variants=2), MATCH)
    assert (result.needed, len(result.kept)) == (3, 2)
    assert result.refused
    assert result.outside == ("g1",)
    (dropped,) = result.dropped
    assert dropped.text == "dropped for the budget: no kept kernel is within epsilon on 1 of 3 graphs"
    assert dropped.lost == ("g1",)
    enough = reduce_evidence(made, reduction(variants=3), MATCH)
    assert (enough.outside, enough.refused) == ((), False)


def test_the_frontier_reaches_the_optimum_and_never_falls():
    made = evidence([[2.0, 1.0, 9.0], [2.0, 9.0, 1.0], [1.0, 5.0, 5.0]])
    points = reduce_evidence(made, reduction(), MATCH).frontier
    assert [(p.size, p.outside) for p in points] == [(1, 2), (2, 1), (3, 0)]
    assert [p.score.geomean for p in points] == pytest.approx([0.25 ** (1 / 3), 0.5 ** (1 / 3), 1.0])
    assert points[0].score.time_weighted == pytest.approx(3 / 5)
    assert (points[0].score.worst, points[0].score.worst_graph) == (pytest.approx(0.5), "g0")


def test_incumbents_win_ties_and_only_ties():
    made = evidence([[3.0, 1.0, 1.001, 1.2]] * 3)
    assert reduce_evidence(made, reduction(), MATCH).kept_names == {"k0", "k1"}
    assert reduce_evidence(made, reduction(), MATCH, incumbents=["k2"]).kept_names == {"k0", "k2"}
    assert reduce_evidence(made, reduction(), MATCH, incumbents=["k3"]).kept_names == {"k0", "k1"}
    assert reduce_evidence(made, reduction(tie=0.0), MATCH, incumbents=["k2"]).kept_names == {"k0", "k1"}


def test_winners_curse_shows_in_the_score_and_not_in_the_sample():
    """All kernels are equal, so the winner of the choosing rounds is luck; out of sample it is no better."""
    made = evidence([[1.0] * 30] * 20, noise=0.05, seed=4)
    result = reduce_evidence(made, reduction(), MATCH)
    assert 0.97 < result.scores.chosen.geomean < 1.03
    assert result.scores.hindsight.geomean < 0.97, "hindsight credits the full set with its luck"
    assert result.scores.chosen.low <= result.scores.chosen.geomean <= result.scores.chosen.high


def test_held_out_graphs_show_what_the_kept_set_hides():
    """Each graph has its own winner; chosen without it, the set serves it by the default only."""
    made = evidence([[2.0, 1.0, 9.0, 9.0], [2.0, 9.0, 1.0, 9.0], [2.0, 9.0, 9.0, 1.0]])
    result = reduce_evidence(made, reduction(), MATCH)
    assert result.scores.chosen.worst == 1.0
    assert result.scores.held_out.score.worst == pytest.approx(0.5)
    assert result.scores.held_out.folds == 3


def test_the_engines_own_ranking_is_scored():
    made = evidence([[2.0, 1.0], [1.0, 3.0]])
    scores = reduce_evidence(made, reduction(), MATCH).scores
    assert scores.ranked.geomean == 1.0
    assert scores.guessed.geomean == pytest.approx(math.sqrt(0.5))


def test_an_unmeasured_kernel_goes_if_another_admits_what_it_admits():
    made = evidence([[1.0, None, None]], kinds=[metadata(), metadata(step=4), metadata("col")])
    result = reduce_evidence(made, reduction(), MATCH)
    (dropped,) = result.dropped
    assert dropped.text == "no graph of the corpus measures it; k0 admits every problem that it admits"
    assert {k.kernel: k.roles[-1] for k in result.kept}["k2"] == "no graph of the corpus asks for it"


def test_a_kernel_that_failed_anywhere_goes_everywhere():
    made = evidence([[2.0, 1.0], [2.0, 1.0]], failed={(1, 1): "y[0] is nan"})
    result = reduce_evidence(made, reduction(), MATCH)
    assert result.kept_names == {"k0"}
    assert (result.dropped[0].why, result.dropped[0].text) == ("unfit", "failed in correctness on g1: y[0] is nan")
    assert result.graphs[0].slowdown == 0, "a wrong kernel is not the best of anything"


def test_a_graph_without_a_server_is_told():
    made = evidence([[1.0, 1.0], [None, None]])
    assert reduce_evidence(made, reduction(), MATCH).unserved == ("g1",)


def test_rules_are_the_shortest_description():
    """vec=4 and vec=2 with max_m=16 can go; one kernel that shares nothing with others is named."""
    kinds = [metadata(vec=v, max_m=m, step=s) for v in (1, 2, 4) for m in (8, 16) for s in (1, 1)]
    fast = {0, 3, 4, 5}
    made = evidence([[1.0 if k == winner else 1.4 for k in range(12)] for winner in sorted(fast)], kinds=kinds)
    made = replace(made, kernels=tuple(replace(k, metadata={**k.metadata, "id": k.position}) for k in made.kernels))
    result = reduce_evidence(made, reduction(), MATCH)
    assert result.kept_names == {f"k{k}" for k in fast}
    assert [rule.text for rule in result.rules.rules] == [
        "drop vec=4 (4 kernels): all 4 graphs stay within epsilon without it",
        "drop max_m=16 and vec=2 (2 kernels): all 4 graphs stay within epsilon without it",
    ]
    assert result.rules.named == ("k1", "k2"), "k1 and k2 differ from kept kernels in nothing about performance"


def test_the_result_is_plain_data():
    result = reduce_evidence(evidence([[1.0, 2.0], [2.0, 1.0]]), reduction(), MATCH)
    data = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert data["refused"] is False
    assert {kept["kernel"] for kept in data["kept"]} == {"k0", "k1"}


def test_hash_seeds_change_nothing(tmp_path):
    script = (
        "import json\n"
        "from evidences import MATCH, evidence, reduction\n"
        "from winnow.reduce.result import reduce_evidence\n"
        "rows = [[1 + (7 * g + 3 * k) % 5 / 20 for k in range(12)] for g in range(9)]\n"
        "made = evidence(rows, noise=0.01)\n"
        "print(json.dumps(reduce_evidence(made, reduction(), MATCH).as_dict()))\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed, "LC_ALL": locale},
            capture_output=True,
            check=True,
        ).stdout
        for seed, locale in (("1", "C"), ("2", "C.UTF-8"))
    }
    assert len(texts) == 1


def told(error, action):
    with pytest.raises(error) as caught:
        action()
    return str(caught.value)


def test_user_errors():
    made = evidence([[2.0, 1.0, None], [2.0, None, 1.0]], kinds=[metadata(), metadata("col"), metadata("col", vec=2)])
    assert told(Refused, lambda: reduce_evidence(made, reduction(variants=1), MATCH)) == (
        "a budget of 1 kernel cannot serve every graph: it takes 2 (2 defaults of cells, 0 not judged here, "
        "2 groups of last servers)\n  cure: raise reduction.budget.variants to 2 or more"
    )
    assert told(InputError, lambda: reduce_evidence(made, reduction(), MATCH, incumbents=["k9"])) == (
        'incumbent "k9" was not measured\n  cure: run `winnow pack` and `winnow sweep`'
    )
    tight = replace(made, policy={**made.policy, "prune_factor": 1.05})
    assert told(InputError, lambda: reduce_evidence(tight, reduction(), MATCH)) == (
        "the sweep left out kernels slower than 1.05× the best, but noise.ceiling accepts 1.1×\n"
        "  cure: raise sweep.prune_factor and sweep again, or lower reduction.noise.ceiling"
    )
    broken = evidence([[1.0]], failed={(0, 0): "y is nan"})
    assert told(Refused, lambda: reduce_evidence(broken, reduction(), MATCH)) == (
        "no kernel that passed everywhere serves a graph of table\n"
        "  cure: the ledger of `winnow sweep` says what failed"
    )
