"""Gates come in by entry points, the built-in ones too; a package that offers something else costs its own name."""

from __future__ import annotations

from pathlib import Path

import pytest
from installed_gates import installed

from winnow.engine_dir import EngineDir
from winnow.gates import find
from winnow.gates.builtin import GATES
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.run import run_gates
from winnow.gates.verdict import passed

FLOW = (
    *("header", "registry", "budget", "vocabulary", "coverage", "regeneration", "structure", "tuples", "contract"),
    *("nesting", "reachability", "launch-surface", "interpreter", "archive", "resources", "agreement", "serves"),
    "reduction",
)


@pytest.fixture
def inspection(small_engine: Path) -> Inspection:
    return Inspection(EngineDir(small_engine / "engine.yaml"))


@pytest.fixture(autouse=True)
def _forget_gates():
    yield
    find.all_gates.cache_clear()


def test_the_built_in_gates_come_in_by_the_door_in_the_order_of_the_flow():
    assert tuple(find.all_gates()) == FLOW
    assert tuple(gate.name for gate in GATES) == FLOW


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (("", (), passed), "name of a gate is a text (value: '')"),
        (("a", "corpus", passed), "needs of a gate is a tuple of texts (value: 'corpus')"),
        (("a", (), None), "check of a gate is a function (value: None)"),
        (("a", (), passed, "last"), "order of a gate is an int (value: 'last')"),
    ],
)
def test_a_gate_with_a_field_of_another_type_is_not_made(fields: tuple, message: str):
    """The package that makes it fails to load, and is named; sorting all gates would fail without a name."""
    with pytest.raises(TypeError) as error:
        Gate(*fields)
    assert str(error.value) == message


def test_gates_that_cannot_be_listed_cost_their_entry_point(inspection: Inspection, monkeypatch: pytest.MonkeyPatch):
    class HalfWay:
        def __iter__(self):
            yield Gate("a", (), passed)
            raise RuntimeError("half way")

    installed(monkeypatch)
    monkeypatch.setattr(find.plugins, "load", lambda *_, **__: HalfWay())
    verdict = find.all_gates()["test"].check(inspection)
    assert (verdict.gate, verdict.state) == ("test", "unusable")
    assert "cannot be used: its gates cannot be listed: RuntimeError: half way; cure: mend" in verdict.summary


def test_a_plugin_joins_the_flow_where_it_says(inspection: Inspection, monkeypatch: pytest.MonkeyPatch):
    late, early = Gate("late", (), lambda _: passed("late", "")), Gate("early", (), lambda _: passed("early", ""), 5)
    installed(monkeypatch, late, early)
    assert [verdict.gate for verdict in run_gates(inspection)] == ["early", "late"]


@pytest.mark.parametrize(
    ("gates", "message"),
    [
        (("no gate",), "it offers a value of type str, not a Gate"),
        (iter(()), "it offers an iterator, which can be read only once; a tuple would do"),
        (
            (Gate("a", ("catalogue",), passed),),
            'its gate "a" needs "catalogue"; known: archive, corpus, reduced, evidence, device',
        ),
    ],
)
def test_what_is_not_a_gate_is_unusable_by_the_name_of_its_entry_point(
    inspection: Inspection, monkeypatch: pytest.MonkeyPatch, gates: object, message: str
):
    installed(monkeypatch)
    monkeypatch.setattr(find.plugins, "load", lambda *_, **__: gates)
    (verdict,) = run_gates(inspection)
    assert (verdict.gate, verdict.state) == ("test", "unusable")
    assert verdict.summary == (
        f'the gate "test" of the package unknown cannot be used: {message}; '
        "cure: mend the package, install what it needs, or uninstall it"
    )


def test_two_gates_of_one_name_cost_that_name_alone(small_engine: Path, monkeypatch: pytest.MonkeyPatch):
    gates = [Gate(name, (), lambda _, name=name: passed(name, "looked")) for name in ("a", "b", "a")]
    installed(monkeypatch, *gates)
    found = {verdict.gate: verdict for verdict in run_gates(Inspection(EngineDir(small_engine / "engine.yaml")))}
    assert (found["a"].state, found["b"].state) == ("unusable", "passed")
    assert found["a"].summary.endswith('both bring a gate "a": uninstall the package of one')
