"""A reduction that loses the last kernel for some shape breaks a user whose graph nobody happened to measure."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidences import MATCH, evidence, metadata, reduction
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.errors import InputError, Refused
from winnow.reduce.policy import admission, must_keep
from winnow.reduce.result import reduce_evidence
from winnow.runtime.matching import Matcher
from winnow.settings.reduction import Performance
from winnow.targets.tiers import Tier

MATCHER = Matcher(tuple((field, rule.operator, rule.against(field)) for field, rule in MATCH.items()))
SHAPES = [
    {"layout": a, "n": n, "m": m, "k": 3} for a in ("row", "col") for n in (1, 2, 3, 4, 6, 8, 12) for m in (1, 4, 9)
]

kinds = st.builds(
    metadata,
    layout=st.sampled_from(["row", "col"]),
    step=st.sampled_from([1, 2, 3, 4, 6]),
    max_m=st.sampled_from([1, 4, 16]),
    vec=st.integers(0, 3),
)


def serving(kernels, shape):
    return {name for name, kind in kernels.items() if MATCHER.refusal(kind, shape) is None}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(kinds, min_size=2, max_size=9),
    st.sets(st.integers(0, 1), max_size=1),
    st.one_of(st.none(), st.integers(5, 9)),
    st.data(),
)
def test_no_admissible_shape_loses_its_last_server(kernels, broken, budget, data):
    times = [[data.draw(st.sampled_from([1.0, 1.01, 1.3, 2.0])) for _ in kernels]]
    made = evidence(times, kinds=kernels, failed={(0, k): "wrong" for k in broken})
    try:
        result = reduce_evidence(made, reduction(variants=budget), MATCH)
    except Refused:
        assert budget is not None
        assert len(reduce_evidence(made, reduction(), MATCH).kept) > budget, "a budget that would do is not refused"
        return
    fit = {f"k{k}": kind for k, kind in enumerate(kernels) if k not in broken}
    kept = {name: kind for name, kind in fit.items() if name in result.kept_names}
    assert result.kept_names <= fit.keys(), "a kernel that failed never ships"
    for shape in SHAPES:
        assert bool(serving(kept, shape)) == bool(serving(fit, shape)), shape
    lost = [s for s in SHAPES if serving({f"k{k}": kernels[k] for k in broken}, s) and not serving(fit, s)]
    assert not lost or result.uncovered, "shapes that only failing kernels admit are told"


@settings(max_examples=100, deadline=None)
@given(kinds, kinds)
def test_covering_is_what_matchers_do(a, b):
    made = evidence([[1.0, 1.0]], kinds=[a, b])
    one, two = (admission(kernel, MATCH, reduction()) for kernel in made.kernels)
    admitted = [shape for shape in SHAPES if MATCHER.refusal(b, shape) is None]
    assert one.covers(two) == all(MATCHER.refusal(a, shape) is None for shape in admitted)


def test_cells_keep_their_default_by_priority_then_order():
    kernels = [metadata(vec=1), metadata(vec=2), metadata("col", vec=3), metadata("col", vec=4)]
    made = evidence([[1.0, 9.0, 9.0, 9.0]] * 2, kinds=kernels)
    first = replace(made.kernels[3], priority=-1)
    made = replace(made, kernels=(*made.kernels[:3], first))
    keep = must_keep(made, MATCH, reduction())
    assert keep.defaults == {0: "layout=row", 3: "layout=col"}
    result = reduce_evidence(made, reduction(), MATCH)
    assert {k.kernel: k.roles for k in result.kept} == {
        "k0": ("default of layout=row", "last server of layout=row, any n, m at most 1000"),
        "k3": ("default of layout=col", "last server of layout=col, any n, m at most 1000"),
    }


def test_kernels_for_other_devices_are_not_judged():
    made = evidence([[1.0, 5.0, 5.0]], tiers={1: Tier.GENERIC, 2: Tier.UNRESTRICTED})
    result = reduce_evidence(made, reduction(), MATCH)
    assert result.unjudged == ("k1", "k2")
    assert [k.roles for k in result.kept][1:] == [
        ("not judged here: its generic arch list also serves devices that were not measured",),
        ("not judged here: its unrestricted arch list also serves devices that were not measured",),
    ]


def test_a_group_of_last_servers_prefers_one_that_was_measured():
    """Both admit every shape; the one that no graph asked for has proved nothing."""
    kernels = [metadata(step=4), metadata(), metadata()]
    made = evidence([[1.0, None, 3.0]], kinds=kernels)
    result = reduce_evidence(made, reduction(), MATCH)
    assert {k.kernel: k.roles for k in result.kept} == {
        "k0": ("default of layout=row",),
        "k2": ("last server of layout=row, any n, m at most 1000",),
    }


def test_shapes_that_only_failing_kernels_admit_are_refused():
    made = evidence([[1.0, 2.0]], kinds=[metadata(step=4), metadata()], failed={(0, 1): "y[3] is nan"})
    result = reduce_evidence(made, reduction(), MATCH)
    assert result.uncovered == ("layout=row, any n, m at most 1000",)
    assert result.refused
    assert result.dropped[0].text == "failed in correctness on g0: y[3] is nan"


def test_errors_name_the_kernel():
    made = evidence([[1.0]], kinds=[metadata(step=0)])
    with pytest.raises(InputError) as caught:
        must_keep(made, MATCH, reduction())
    assert str(caught.value) == "k0: step is 0, but n must be a multiple of it"
    bare = replace(made, kernels=(replace(made.kernels[0], metadata={"layout": "row", "step": 1}),))
    with pytest.raises(InputError) as caught:
        must_keep(bare, MATCH, reduction())
    assert str(caught.value) == (
        'k0 was measured without the metadata field "max_m"\n'
        "  cure: the catalog changed since: run `winnow pack` and `winnow sweep`"
    )


def test_divides_counts_like_a_matcher():
    """A performance field that must divide a problem field restricts shapes even where no matcher says so."""
    kernels = [metadata(vec=4), metadata(vec=1)]
    made = evidence([[1.0, 3.0]], kinds=kernels)
    plain = reduction()
    divided = plain.model_copy(update={"performance": plain.performance | {"vec": Performance(divides="k")}})
    assert reduce_evidence(made, plain, MATCH).kept_names == {"k0"}
    assert reduce_evidence(made, divided, MATCH).kept_names == {"k0", "k1"}
