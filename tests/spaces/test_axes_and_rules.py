"""What axes and rules say of a space: policy, gates, given fields, and each definition that is refused."""

from __future__ import annotations

from typing import Any

import pytest
from text_spaces import space_of

from winnow.errors import InputError
from winnow.spaces import POLICY, KnobAxis, Rule, TuningSpace, choices, flag, gated, rule, values


def test_an_axis_of_several_knobs_is_one_decision() -> None:
    tile = KnobAxis("tile", ((("m", 16), ("n", 16)), (("m", 16), ("n", 32)), (("m", 64), ("n", 32))))
    space = TuningSpace((tile, choices("k", [1, 2])), (Rule.from_expression("m * k <= n"),))
    assert [tuple(p.values()) for p in space.enumerate()] == [(16, 16, 1), (16, 32, 1), (16, 32, 2)]
    assert space.marginals() == {"m": {16: 3, 64: 0}, "n": {16: 1, 32: 2}, "k": {1: 2, 2: 1}}


def test_a_knob_left_to_policy_is_absent_from_the_point() -> None:
    space = TuningSpace((flag("persistent"), values("waves", 2, [1, 2, 4])))
    assert list(space.enumerate()) == [
        {},
        {"waves": 1},
        {"waves": 4},
        {"persistent": True},
        {"persistent": True, "waves": 1},
        {"persistent": True, "waves": 4},
    ]
    assert space.marginals() == {"persistent": {POLICY: 3, True: 3}, "waves": {POLICY: 2, 1: 2, 4: 2}}
    assert space.contains({})
    assert space.contains({"waves": 4})
    assert not space.contains({"waves": 2})


def test_a_gate_brings_its_sub_knobs() -> None:
    space = TuningSpace((gated("pad", {"pad_k": [4, 8], "pad_v": [4]}),))
    assert list(space.enumerate()) == [
        {},
        {"pad": True, "pad_k": 4, "pad_v": 4},
        {"pad": True, "pad_k": 8, "pad_v": 4},
    ]


def test_a_rule_must_say_what_it_sees_where_a_knob_is_left_to_policy() -> None:
    @rule("persistent kernels take one wave")
    def one_wave(persistent: bool, waves: int) -> bool:
        return not persistent or waves == 1

    with pytest.raises(InputError) as caught:
        TuningSpace((flag("persistent"), choices("waves", [1, 2])), (one_wave,))
    assert str(caught.value) == (
        'rule "one_wave" (persistent kernels take one wave) reads "persistent", which axis "persistent" may leave to '
        "the kernel's policy\n  cure: declare on the axis what the policy then does, or give the rule a value for that "
        "case (a default of the parameter)"
    )


def test_a_rule_sees_the_policy_that_the_axis_declares_before_its_own_default() -> None:
    @rule("persistent kernels take one wave")
    def one_wave(waves: int, persistent: bool = False) -> bool:
        return not persistent or waves == 1

    waves = choices("waves", [1, 2])
    assert TuningSpace((flag("persistent"), waves), (one_wave,)).count() == 3
    assert TuningSpace((flag("persistent", policy=(("persistent", True),)), waves), (one_wave,)).count() == 2


def test_given_fields_are_read_but_are_no_knobs() -> None:
    space = TuningSpace((choices("tile", [16, 48, 64]),), (Rule.from_expression("m % tile == 0"),), {"m": 128})
    assert list(space.enumerate()) == [{"tile": 16}, {"tile": 64}]


def test_the_reason_of_a_refusal_names_the_rule_and_what_it_saw() -> None:
    space = TuningSpace((choices("tile", [16, 48]),), (Rule.from_expression("m % tile == 0"),), {"m": 128})
    assert space.explain({"tile": 16}) is None
    assert space.explain({"tile": 48}) == 'rule "m % tile == 0" refuses m=128, tile=48'
    assert space.explain({"tile": 17}) == 'axis "tile" has no choice tile=17'
    assert space.explain({"tile": 16.0}) == 'axis "tile" has no choice tile=16.0'
    assert space.explain({}) == 'axis "tile" has no choice (left to policy)'
    assert space.explain({"tyle": 16}) == 'unknown knob "tyle": did you mean "tile"?'


def test_a_rule_that_raises_is_an_error_with_the_values() -> None:
    space = TuningSpace((choices("tile", [0, 2]),), (Rule.from_expression("m % tile == 0"),), {"m": 8})
    for ask in (space.count, space.marginals, lambda: list(space.enumerate()), lambda: space.contains({"tile": 0})):
        with pytest.raises(InputError) as caught:
            ask()
        assert str(caught.value) == (
            'rule "m % tile == 0" cannot be evaluated at m=8, tile=0: '
            "ZeroDivisionError: integer modulo by zero\n"
            "  cure: guard the rule (`x == 0 or y % x == 0`), or take the value out of the space"
        )


@pytest.mark.parametrize("rules", [("m % tile == 0", "tile > 0"), ("tile > 0", "m % tile == 0")])
def test_a_rule_may_raise_where_another_rule_refuses_in_whatever_order(rules: tuple[str, ...]) -> None:
    assert list(space_of({"m": [7, 8], "tile": [0, 2, 4]}, *rules).tuples()) == [(8, 2), (8, 4)]


def test_a_guard_inside_a_rule_keeps_it_from_raising() -> None:
    assert space_of({"x": [0, 2, 3], "y": [4, 6]}, "x == 0 or y % x == 0").count() == 5


def test_a_point_at_which_two_rules_raise_is_an_error_of_the_first() -> None:
    space = space_of({"a": [0, 1], "b": [0, 1]}, "b // a == b", "a % b == 0")
    with pytest.raises(InputError, match='rule "b // a == b" cannot be evaluated at b=0, a=0'):
        space.count()


def test_a_function_that_forgets_to_return_is_an_error() -> None:
    @rule("nothing is said")
    def forgetful(a: int) -> None:
        a + 1

    @rule("a pair is no truth")
    def talkative(a: int) -> tuple[bool, str]:
        return a > 1, "too small"

    for faulty, answer in ((forgetful, "None"), (talkative, "(False, 'too small')")):
        with pytest.raises(InputError) as caught:
            TuningSpace((choices("a", [1, 2]),), (faulty,)).count()
        assert f"at a=1: NotATruth: it must return true or false, not {answer}" in str(caught.value)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: choices("a", []), 'axis "a" has no values\n  cure: give it one value at least, or remove it'),
        (
            lambda: choices("a", [1, 2, True]),
            'axis "a": the choice a=True appears twice (rules cannot distinguish values that are equal in Python)'
            "\n  cure: keep one of the two",
        ),
        (
            lambda: choices("a", [float("nan")]),
            'axis "a": a=nan is not a JSON scalar\n  cure: use a bool, an int, a finite float, a string or None',
        ),
        (
            lambda: KnobAxis("a", ((("x", 1), ("x", 2)),)),
            'axis "a": the choice x=1, x=2 sets a knob twice',
        ),
        (
            lambda: flag("a", policy=(("b", 1),)),
            'axis "a": policy names "b", which no choice sets',
        ),
        (
            lambda: space_of({"a": [1]}, "a > zz"),
            'rule "a > zz" reads "zz", which is neither a knob nor a given field\n  cure: known: a',
        ),
        (
            lambda: TuningSpace((choices("a", [1]), choices("a", [2]))),
            'two axes have the name "a"\n  cure: give every axis its own name',
        ),
        (
            lambda: TuningSpace((choices("a", [1]), KnobAxis("b", ((("a", 2),),)))),
            'two knobs have the name "a"\n  cure: give every knob its own name',
        ),
        (
            lambda: TuningSpace((choices("a", [1]),), (Rule.from_expression("a > 0"), Rule.from_expression("a > 0"))),
            'two rules have the name "a > 0"\n  cure: give every rule its own name',
        ),
        (
            lambda: TuningSpace((choices("a", [1]),), given={"a": 2}),
            '"a" is a knob and a given field\n  cure: rename one of the two',
        ),
        (
            lambda: choices("\ufb01t", [1]),
            'axis "\ufb01t": rules cannot read "\ufb01t", which Python takes for "fit"\n  cure: name it "fit"',
        ),
        (
            lambda: TuningSpace((choices("\u03bb", [1]),), given={"\u210c": 2}),
            'rules cannot read "\u210c", which Python takes for "H"\n  cure: name it "H"',
        ),
        (
            lambda: rule("any")(lambda *knobs: True),
            'rule "<lambda>": the parameter *knobs does not name one knob\n'
            "  cure: name every knob that the rule reads as a plain parameter",
        ),
    ],
)
def test_a_space_that_is_not_well_defined_is_refused(build: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        build()
    assert str(caught.value) == message
