"""The registry must choose the kernel that its owners meant, and say why it did not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from winnow.registry import (
    CandidateRegistry,
    Capability,
    DimRelation,
    KernelCandidate,
    OperatorRequest,
    PinRefused,
    ShapeRange,
    make_kernel_id,
    pin_to_spec,
    selector_matches,
)


@dataclass(frozen=True)
class Request(OperatorRequest):
    m: int = 1
    extra: frozenset[str] = frozenset()

    def dims(self):
        return {"M": self.m}

    def features(self):
        return self.extra

    def normalized(self):
        return {"m": self.m, "extra": sorted(self.extra), "arch": self.arch}


@dataclass(frozen=True)
class Spec:
    tile: int
    tuning_id: str = ""
    knobs: tuple[tuple[str, int], ...] = ()


def request(**changes) -> Request:
    return replace(Request(arch="gfx950", dtype="fp32"), **changes)


def candidate(name: str, *, priority: int = 40, tiles=(16, 32), **changes) -> KernelCandidate:
    values = dict(
        name=name,
        family="fam",
        algorithm=name,
        spec_id="s",
        abi_version="1",
        priority=priority,
        capability=Capability(arches=("gfx950",)),
        spec=lambda r: Spec(tiles[0]),
        specs=lambda r: iter([Spec(t) for t in tiles]),
        parameters=lambda spec: ("a", "b"),
        launch_grid=lambda spec, r: (-(-r.m // spec.tile), 1, 1),
        builder=lambda spec, *, arch: None,
    )
    return KernelCandidate(**{**values, **changes})


def registry(*candidates: KernelCandidate) -> CandidateRegistry:
    made = CandidateRegistry("fam", known_arches=frozenset({"gfx950", "gfx942"}), dim_vocabulary=frozenset({"M"}))
    for one in candidates:
        made.register(one)
    return made


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (dict(family="other"), "its family is other, the registry's fam"),
        (dict(capability=None), "no capability"),
        (dict(capability=Capability()), "no arches"),
        (dict(capability=Capability(arches=("gfx9",))), "unknown arch gfx9"),
        (
            dict(capability=Capability(arches=("gfx950",), shapes=(ShapeRange("Q"),))),
            "dim Q is not in the vocabulary ['M']",
        ),
        (dict(builder=None), "no build"),
    ],
)
def test_a_faulty_candidate_is_refused(changes, reason):
    with pytest.raises(ValueError, match=r"^x: ") as caught:
        registry(candidate("x", **changes))
    assert str(caught.value) == f"x: {reason}"


def test_a_name_is_registered_once():
    with pytest.raises(ValueError, match="x: registered twice"):
        registry(candidate("x"), candidate("x"))


def test_lower_priority_number_wins_and_names_break_ties():
    made = registry(candidate("b", priority=10), candidate("z", priority=5), candidate("a", priority=10))
    assert [c.name for c in made.candidates()] == ["z", "a", "b"]
    assert made.select(request()).candidate.name == "z"


def test_opt_in_is_invisible_to_auto_and_found_by_its_algorithm():
    made = registry(candidate("shy", priority=1, opt_in=True), candidate("usual"))
    assert made.select(request()).candidate.name == "usual"
    assert made.select(request(algorithm=" SHY ")).candidate.name == "shy"


def test_nothing_supported_names_each_reason():
    made = registry(candidate("small", capability=Capability(arches=("gfx950",), shapes=(ShapeRange("M", max=8),))))
    with pytest.raises(ValueError, match="small: capability: M=9 is above 8"):
        made.select(request(m=9))


def test_refused_pin_has_its_own_error():
    with pytest.raises(PinRefused) as caught:
        registry(candidate("a")).select(request(spec_id="other"))
    assert caught.value.refusals == {"a": "spec_id other is pinned"}


def test_ranker_decides_and_may_not_answer_with_a_stranger():
    made = registry(candidate("a"), candidate("b"))
    assert made.select(request(), ranker=lambda r, c: reversed(c)).candidate.name == "b"
    with pytest.raises(ValueError, match="the ranker answered c"):
        made.select(request(), ranker=lambda r, c: [candidate("c")])
    with pytest.raises(ValueError, match="the ranker answered None"):
        made.select(request(), ranker=lambda r, c: [])


@pytest.mark.parametrize(
    ("capability", "changes", "reason"),
    [
        (dict(arches=("gfx942",)), {}, "arch gfx950 is not one of ['gfx942']"),
        (dict(dtypes=("fp16",)), {}, "dtype fp32 is not one of ['fp16']"),
        (dict(dtypes=("FP32",)), dict(dtype="Fp32"), None),
        (dict(layouts=("NHWC",)), dict(layout="nchw"), "layout NCHW is not one of ['NHWC']"),
        (dict(shapes=(ShapeRange("M", allowed=(4, 8)),)), dict(m=5), "M=5 is not one of [4, 8]"),
        (dict(shapes=(ShapeRange("M", min=2),)), {}, "M=1 is below 2"),
        (dict(shapes=(ShapeRange("M", multiple_of=4),)), dict(m=6), "M=6 is not a multiple of 4"),
        (dict(shapes=(ShapeRange(frozenset({"N", "M"})),)), {}, "dim N is missing"),
        (dict(relations=(DimRelation("M", "multiple_of", 4),)), dict(m=6), "M multiple_of 4 does not hold (6, 4)"),
        (dict(relations=(DimRelation("M", "multiple_of", 0),)), dict(m=6), "M multiple_of 0 does not hold (6, 0)"),
        (dict(requires_features=frozenset({"causal"})), {}, "needs the feature causal"),
        (
            dict(supports_features=frozenset({"a"})),
            dict(extra=frozenset({"b", "a"})),
            "does not support the feature b",
        ),
    ],
)
def test_capability_gives_the_first_reason(capability, changes, reason):
    made = Capability(**{"arches": ("gfx950",), **capability})
    assert made.refusal(request(**changes)) == reason


def test_capability_without_arches_fails_closed():
    assert Capability().refusal(request()) == "arch gfx950 is not one of []"


def test_unknown_relation_is_refused_at_construction():
    with pytest.raises(ValueError, match="unknown operator '~'"):
        DimRelation("M", "~", 1)


def test_kernel_id_keys_tell_binaries_and_choices_apart():
    one = candidate("a")
    small = make_kernel_id(request(m=1), one, Spec(16), op="gemm")
    large = make_kernel_id(request(m=2), one, Spec(16), op="gemm")
    assert small.compile_key == large.compile_key
    assert small.selection_key != large.selection_key
    assert small.compile_key != make_kernel_id(request(m=1), one, Spec(32), op="gemm").compile_key


def test_resolve_refuses_another_abi():
    made = registry(candidate("a"))
    kernel_id = make_kernel_id(request(), candidate("a"), Spec(16), op="gemm")
    assert made.resolve(kernel_id).name == "a"
    with pytest.raises(ValueError, match="a: ABI 1, the id was made for 2"):
        made.resolve(replace(kernel_id, abi_version="2"))


def test_sweep_space_drops_equal_specs_and_pins_each():
    made = registry(candidate("a", specs=lambda r: iter([Spec(16), Spec(16), Spec(32)])))
    results = list(made.sweep_space(request()))
    assert [r.spec.tile for r in results] == [16, 32]
    assert all(r.request.algorithm == "a" and r.request.spec_id == "s" for r in results)
    assert results[1].grid == (1, 1, 1)
    assert results[0].explanation[0] == "a (a) on gfx950"


def test_pin_to_spec_carries_tuning_only_where_the_spec_has_it():
    tuned = pin_to_spec(request(), candidate("a"), Spec(16, "v_wpe2@k", (("tile", 16),)))
    assert (tuned.tuning_id, tuned.tuning_knobs) == ("v_wpe2@k", (("tile", 16),))

    @dataclass(frozen=True)
    class Plain:
        tile: int

    assert pin_to_spec(tuned, candidate("a"), Plain(1)).tuning_id == "auto"


def test_coverage_lists_what_is_registered():
    rows = registry(candidate("a", opt_in=True)).coverage()
    assert rows["opt_in_candidates"] == ["a"]
    assert rows["candidates"][0]["capability"]["arches"] == ["gfx950"]


def test_selectors_ignore_case_and_blanks():
    assert selector_matches(" AUTO ", "x")
    assert selector_matches("X", " x ")
    assert not selector_matches("y", "x")
