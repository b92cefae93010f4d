"""A family's mistake is the family's: it is named with its method and its graph, and never passes for a result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from winnow.errors import Incomplete, InputError, Refused
from winnow.families.adapter import Declined, FamilyAdapter, Operand, Problem
from winnow.families.checked import CheckedFamily, checked
from winnow.families.gemm import ADAPTER as GEMM
from winnow.graphs.model import Graph
from winnow.graphs.models.sources.cpu import gemm_corpus
from winnow.interpreter.probe import Probed

GRAPH: Graph = gemm_corpus()[0]
CURE = "\n  cure: correct the family's adapter; docs/plugins.md says what each method gives"


class Odd:
    """The GEMM family with one method replaced."""

    def __init__(self, **methods: Any) -> None:
        for name, method in methods.items():
            setattr(self, name, method)

    def __getattr__(self, name: str) -> Any:
        return getattr(GEMM, name)


def odd(**methods: Any) -> FamilyAdapter:
    return checked("odd", Odd(**methods))


def everything(family: FamilyAdapter) -> None:
    """What a sweep asks of a family, in order."""
    assert family.vocabulary
    problem = family.problem(GRAPH)
    family.request(problem, "x86-64-v3")
    inputs = family.inputs(problem, 0)
    family.reference(problem, inputs)
    family.tolerance(problem)
    family.score({"vec": 8}, problem.fields)


def test_a_sound_family_gives_what_it_gave():
    everything(odd())
    problem = odd().problem(GRAPH)
    assert problem == replace(GEMM.problem(GRAPH), graph=GRAPH.name)
    assert odd().name == "gemm"
    assert odd().tolerance(problem) == GEMM.tolerance(problem)


def truth(value: float) -> Any:
    def reference(problem: Problem, inputs: Any) -> Any:
        found = GEMM.reference(problem, inputs)
        next(iter(found.values())).flat[-1] = value
        return found

    return reference


def raising(*_: Any) -> Any:
    raise ValueError("no such size")


def leaving(*_: Any) -> Any:
    raise SystemExit("no GPU here")


@pytest.mark.parametrize(
    ("methods", "said"),
    [
        ({"problem": raising}, f"problem on {GRAPH.name} raised ValueError: no such size ("),
        ({"problem": leaving}, f"problem on {GRAPH.name} raised SystemExit: no GPU here ("),
        ({"problem": lambda graph: None}, f"problem on {GRAPH.name} gave a value of type NoneType, not a Problem"),
        (
            {"problem": lambda graph: replace(GEMM.problem(graph), fields={"n": [1]})},
            f'problem on {GRAPH.name} gave [1] for the field "n"',
        ),
        (
            {"problem": lambda graph: Problem({}, (Operand("x", 1, (2,), (1,), "int16", False),), 1)},
            f"problem on {GRAPH.name} gave x the unknown type 'int16'",
        ),
        (
            {"problem": lambda graph: Problem({}, (Operand("x", 1, (2,), (1,), "float", False),) * 2, 1)},
            f"problem on {GRAPH.name} gave two operands the role x",
        ),
        (
            {"problem": lambda graph: replace(GEMM.problem(graph), fields={"n": float("nan")})},
            f'problem on {GRAPH.name} gave nan for the field "n"',
        ),
        (
            {"problem": lambda graph: replace(GEMM.problem(graph), fields=None)},
            f"problem on {GRAPH.name} gave the fields None, not values by field",
        ),
        (
            {"problem": lambda graph: replace(GEMM.problem(graph), operands=(1, 2))},
            f"problem on {GRAPH.name} gave the operands (1, 2), not a tuple of Operand",
        ),
        (
            {"problem": lambda graph: replace(GEMM.problem(graph), flops="many")},
            f"problem on {GRAPH.name} gave 'many' flops, not a number from 0 up",
        ),
        (
            {"problem": lambda graph: Problem({}, (Operand("x", 1, (2, 3), (1,), "float", False),), 1)},
            f"problem on {GRAPH.name} gave x 2 dims and 1 strides",
        ),
        ({"request": lambda problem, arch: None}, f"request on {GRAPH.name} gave None, not a request"),
        (
            {"inputs": lambda problem, seed: 5},
            f"inputs on {GRAPH.name} gave a value of type int, not tensors for the roles ['a', 'b']",
        ),
        (
            {"inputs": lambda problem, seed: {"a": np.ones(1)}},
            f"inputs on {GRAPH.name} gave ['a'], not tensors for the roles ['a', 'b']",
        ),
        (
            {"inputs": lambda problem, seed: {**GEMM.inputs(problem, seed), "a": 1.0}},
            f"inputs on {GRAPH.name} gave a as a value of type float, not an array",
        ),
        (
            {"inputs": lambda problem, seed: {r: t[..., :1] for r, t in GEMM.inputs(problem, seed).items()}},
            f"inputs on {GRAPH.name} gave a the shape (1, 1, 1), the graph's is (1, 1, 4096)",
        ),
        (
            {"inputs": lambda problem, seed: {r: t.astype(np.float64) for r, t in GEMM.inputs(problem, seed).items()}},
            f"inputs on {GRAPH.name} gave a as float64, its type float is float32",
        ),
        ({"reference": truth(float("nan"))}, f"reference on {GRAPH.name} gave c elements that are not finite"),
        ({"reference": truth(float("inf"))}, f"reference on {GRAPH.name} gave c elements that are not finite"),
        (
            {"reference": lambda p, i: {"out": GEMM.reference(p, i)["c"]}},
            f"reference on {GRAPH.name} gave ['out'], not tensors for the roles ['c']",
        ),
        (
            {"reference": lambda p, i: {"c": GEMM.reference(p, i)["c"].astype(np.float32)}},
            f"reference on {GRAPH.name} gave c as float32: the truth is computed in float64",
        ),
        (
            {"tolerance": lambda problem: (float("nan"), 0.0)},
            f"tolerance on {GRAPH.name} gave (nan, 0.0), not two finite numbers from 0 up",
        ),
        (
            {"tolerance": lambda problem: (float("inf"), 0.0)},
            f"tolerance on {GRAPH.name} gave (inf, 0.0), not two finite numbers from 0 up",
        ),
        ({"tolerance": lambda problem: 0.1}, f"tolerance on {GRAPH.name} gave 0.1, not two finite numbers from 0 up"),
        ({"score": lambda metadata, fields: None}, "score gave None, not a number"),
        ({"score": lambda metadata, fields: float("nan")}, "score gave nan, not a number"),
        ({"score": lambda metadata, fields: 10**400}, "score gave 1000"),
        ({"vocabulary": {"dtype": ["FLOAT"]}}, "vocabulary is {'dtype': ['FLOAT']}, not sets of texts by field"),
    ],
)
def test_a_mistake_names_family_method_and_graph(methods: dict[str, Any], said: str):
    with pytest.raises(InputError) as error:
        everything(odd(**methods))
    assert str(error.value).startswith(f'family "odd": {said}')
    assert str(error.value).endswith(CURE)


def test_what_a_family_raises_is_placed_at_its_line():
    with pytest.raises(InputError, match=r"test_checked\.py:\d+\)"):
        odd(problem=raising).problem(GRAPH)


def test_a_declined_graph_is_not_a_mistake():
    def declines(graph: Graph) -> Problem:
        raise Declined("not mine")

    with pytest.raises(Declined, match="not mine"):
        odd(problem=declines).problem(GRAPH)


@pytest.mark.parametrize("error", [Declined("too late"), Refused("not today"), Incomplete("half of it")])
def test_only_problem_declines_and_no_method_gives_a_verdict(error: Exception):
    def raises(*_: Any) -> Any:
        raise error

    said = f"{type(error).__name__}: {error}"
    with pytest.raises(InputError, match=f'family "odd": inputs on {GRAPH.name} raised {said} '):
        everything(odd(inputs=raises))
    with pytest.raises(InputError, match=f'family "odd": score raised {said} '):
        everything(odd(score=raises))


def test_an_input_error_of_a_family_keeps_its_own_words():
    def raises(*_: Any) -> Any:
        raise InputError("no such shape", cure="take another")

    with pytest.raises(InputError) as error:
        odd(inputs=raises).inputs(odd().problem(GRAPH), 0)
    assert str(error.value) == "no such shape\n  cure: take another"


@pytest.mark.parametrize("attribute", ["name", "vocabulary", "probes", "score"])
def test_an_attribute_that_cannot_be_read_is_named(attribute: str):
    def raises(_: Any) -> Any:
        raise ValueError("no such file")

    adapter = type("Broken", (Odd,), {attribute: property(raises)})()
    with pytest.raises(InputError, match=f'family "odd": {attribute} raised ValueError: no such file '):
        _ = checked("odd", adapter).name, checked("odd", adapter).vocabulary


def test_roles_that_are_not_texts_are_shown():
    said = rf"inputs on {GRAPH.name} gave \[1, 'a'\], not tensors for the roles \['a', 'b'\]"
    with pytest.raises(InputError, match=said):
        everything(odd(inputs=lambda problem, seed: {"a": 1, 1: 2}))


def test_a_class_in_place_of_an_instance_is_named():
    with pytest.raises(InputError) as error:
        checked("odd", Odd)
    assert str(error.value) == (
        'family "odd": Odd is a class, not an adapter\n  cure: register an instance of it: ADAPTER = Odd()'
    )


def test_a_family_that_lacks_a_method_is_named():
    with pytest.raises(InputError) as error:
        checked("odd", object())
    assert str(error.value) == (
        'family "odd": object has no method problem\n  cure: docs/plugins.md lists the methods of a family'
    )


def test_a_name_that_is_not_a_text_is_named():
    with pytest.raises(InputError, match='family "odd": name is 5, not a text'):
        _ = odd(name=5).name


@pytest.mark.parametrize("found", [None, (), ("graph",)])
def test_probes_are_graphs(found: Any):
    family = odd(probes=lambda metadata: found)
    assert isinstance(family, Probed)
    with pytest.raises(InputError, match=r'family "odd": probes gave .*, not one or more graphs'):
        family.probes({})


def test_a_family_without_probes_has_none():
    assert not isinstance(odd(), Probed)
    assert type(odd()) is CheckedFamily
