"""Running gates: every artefact is read once, and what stops one gate stops no other."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest
from installed_gates import installed

from winnow.archive.verify import Shard, open_shard
from winnow.engine_dir import EngineDir
from winnow.files.reading import read_raw
from winnow.gates import find
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.needs import NEEDS
from winnow.gates.run import run_gates
from winnow.gates.verdict import Finding, Verdict, exit_code, incomplete, judged, passed, unusable
from winnow.selection.cells import load_registry
from winnow.settings.manifest import LoadedManifest


@pytest.fixture(autouse=True)
def _forget_gates():
    yield
    find.all_gates.cache_clear()


@pytest.fixture
def inspection(small_engine: Path) -> Inspection:
    return Inspection(EngineDir(small_engine / "engine.yaml"))


def test_every_artefact_is_read_once(small_engine: Path, monkeypatch: pytest.MonkeyPatch):
    (small_engine / "build" / "reduced").mkdir()
    for part in ("catalog", "build/archive"):
        shutil.copytree(small_engine / part, small_engine / "build" / "reduced" / Path(part).name)
    opened: Counter[Path] = Counter()
    watching = [True]

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        # Events, for whatever opens a file by whatever name comes by here.
        if watching and event == "open" and isinstance(arguments[0], str):
            opened[Path(arguments[0])] += 1

    shards: Counter[Path] = Counter()

    def open_counted(root: Path, arch: str) -> Shard:
        shards[root / arch] += 1
        return open_shard(root, arch)

    registries: list[LoadedManifest] = []

    def load_counted(loaded: LoadedManifest) -> object:
        registries.append(loaded)
        return load_registry(loaded)

    monkeypatch.setattr("winnow.gates.packed.open_shard", open_counted)
    for module in ("winnow.gates.inspection", "winnow.selection.budget"):
        monkeypatch.setattr(f"{module}.load_registry", load_counted)
    sys.addaudithook(watch)
    try:
        verdicts = run_gates(Inspection(EngineDir(small_engine / "engine.yaml")))
    finally:
        watching.clear()
    assert {verdict.state for verdict in verdicts} == {"passed", "incomplete"}
    folders = [small_engine / part for part in ("catalog", "corpus", "build/reduced/catalog")]
    once_each = [
        *(small_engine / name for name in ("engine.yaml", "selection.yaml")),
        *(path for folder in folders for path in folder.iterdir()),
        *(small_engine / "build").rglob("*.kpack"),
    ]
    assert len(once_each) > 20
    assert {path: opened[path] for path in once_each} == dict.fromkeys(once_each, 1)
    assert sorted(shards.values()) == [1, 1]
    assert len(registries) == 1


class Unforeseen(BaseException):
    """What no `except Exception` stops."""


def test_a_gate_that_fails_costs_itself_alone(inspection: Inspection, monkeypatch: pytest.MonkeyPatch):
    def leaves(_: Inspection) -> Verdict:
        raise SystemExit(0)

    def breaks(_: Inspection) -> Verdict:
        raise ZeroDivisionError("division by zero")

    def escapes(_: Inspection) -> Verdict:
        raise Unforeseen

    installed(
        monkeypatch,
        Gate("a", (), leaves),
        Gate("b", (), breaks),
        Gate("c", (), escapes),
        Gate("d", (), lambda _: passed("d", "looked at everything")),
    )
    a, b, c, d = run_gates(inspection)
    here = Path(__file__).name
    assert (a.state, b.state, c.state, d.state) == ("unusable", "unusable", "unusable", "passed")
    assert a.summary.startswith("the gate failed: SystemExit: 0 (")
    assert b.summary.startswith("the gate failed: ZeroDivisionError: division by zero (")
    assert f"{here}:" in b.summary
    assert c.summary.startswith("the gate failed: Unforeseen (")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, "a value of type NoneType, not a verdict"),
        (Verdict("a", "Refused", ""), 'the unknown state "Refused" (did you mean "refused"?)'),  # type: ignore[arg-type]
        (Verdict("serves", "passed", ""), 'the verdict of another gate, "serves"'),
        (Verdict("a", "passed", "", (Finding("k", "is wrong"),)), "1 finding, and passed"),
    ],
)
def test_what_is_not_a_gates_own_verdict_does_not_pass(
    inspection: Inspection, monkeypatch: pytest.MonkeyPatch, answer: Verdict, problem: str
):
    installed(monkeypatch, Gate("a", (), lambda _: answer))
    (verdict,) = run_gates(inspection)
    assert (verdict.gate, verdict.state, verdict.summary) == ("a", "unusable", f"the gate gave {problem}")
    assert exit_code([verdict]) == 2


def test_an_interruption_ends_the_check(inspection: Inspection, monkeypatch: pytest.MonkeyPatch):
    def interrupted(_: Inspection) -> Verdict:
        raise KeyboardInterrupt

    installed(monkeypatch, Gate("a", (), interrupted))
    with pytest.raises(KeyboardInterrupt):
        run_gates(inspection)


def test_a_need_that_cannot_be_looked_for_costs_that_gate(inspection: Inspection, monkeypatch: pytest.MonkeyPatch):
    def forbidden(_: object) -> tuple[Path, ...]:
        raise PermissionError(13, "Permission denied", "corpus")

    monkeypatch.setattr("winnow.gates.inspection.graph_files", forbidden)
    header, reachability = run_gates(inspection, ["header", "reachability"])
    assert (header.state, reachability.state) == ("passed", "unusable")
    assert reachability.summary.startswith("the gate failed: PermissionError: ")


@pytest.mark.parametrize(
    ("gone", "gates", "reason"),
    [
        ("corpus", ["coverage", "reachability", "launch-surface", "serves"], "no graph at "),
        ("build", ["archive", "resources", "agreement", "serves"], "no archive at "),
        ("build", ["reduction"], "no reduced selection at "),
        ("build/sweep.db", ["reduction"], "no measurements at "),
        ("build", ["nesting"], "10 kernels, 0 reduced catalogs, 0 shards: nothing to compare"),
    ],
)
def test_looking_at_nothing_is_incomplete(
    small_engine: Path, inspection: Inspection, gone: str, gates: list[str], reason: str
):
    if gone == "build/sweep.db":
        (small_engine / "build" / "reduced").mkdir()
        shutil.copy(small_engine / "selection.yaml", small_engine / "build" / "reduced")
    else:
        shutil.rmtree(small_engine / gone)
    if gone == "corpus":
        (small_engine / gone).mkdir()
    verdicts = run_gates(inspection, gates)
    assert [(verdict.gate, verdict.state) for verdict in verdicts] == [(gate, "incomplete") for gate in gates]
    assert all(verdict.summary.startswith(reason) for verdict in verdicts)


class Opened:
    """A device that counts how often it is opened and closed."""

    arch = "x86-64-v2"
    opened = closed = 0
    ends_well = True

    def __enter__(self) -> Opened:
        self.opened += 1
        return self

    def __exit__(self, *_: object) -> None:
        self.closed += 1
        if not self.ends_well:
            raise OSError("the device does not let go")


def test_a_device_is_open_for_the_gate_that_needs_it_alone(inspection: Inspection, monkeypatch: pytest.MonkeyPatch):
    device, seen = Opened(), []

    def runs(inspection: Inspection) -> Verdict:
        same = inspection.open_device() is inspection.open_device() is device
        seen.append((same, device.opened, device.closed))
        return passed("a", "")

    def looks(_: Inspection) -> Verdict:
        seen.append((True, device.opened, device.closed))
        return passed("b", "")

    monkeypatch.setattr("winnow.gates.inspection.open_device", lambda name, timeout_s: device)
    installed(monkeypatch, Gate("a", ("device",), runs), Gate("b", (), looks))
    assert [verdict.state for verdict in run_gates(inspection)] == ["passed", "passed"]
    assert seen == [(True, 1, 0), (True, 1, 1)]
    assert (device.opened, device.closed) == (1, 1)
    device.ends_well = False
    a, b = run_gates(inspection)
    assert (a.state, b.state) == ("unusable", "passed")
    assert a.summary.startswith("the gate failed: OSError: the device does not let go (")


def test_without_its_device_a_gate_is_incomplete_and_with_an_unknown_one_unusable(
    small_engine: Path, monkeypatch: pytest.MonkeyPatch
):
    installed(monkeypatch, Gate("a", ("device",), passed))
    monkeypatch.setitem(sys.modules, "hip", None)
    for device, state, summary in (
        ("hip", "incomplete", "the device hip needs the Python package hip-python"),
        ("gpu", "unusable", 'no device runtime "gpu" is installed; cure: '),
    ):
        (verdict,) = run_gates(Inspection(EngineDir(small_engine / "engine.yaml"), device=device))
        assert verdict.state == state
        assert verdict.summary.startswith(summary)


def test_one_graph_that_cannot_be_read_costs_the_gates_that_need_graphs(small_engine: Path, inspection: Inspection):
    (small_engine / "corpus" / "broken.json").write_text("{")
    states = {verdict.gate: verdict.state for verdict in run_gates(inspection)}
    assert states["header"] == states["structure"] == states["contract"] == states["archive"] == "passed"
    assert states["coverage"] == states["reachability"] == states["serves"] == "unusable"


def test_a_reduced_catalog_that_cannot_be_read_costs_no_gate_of_the_committed_one_alone(
    small_engine: Path, inspection: Inspection
):
    reduced = small_engine / "build" / "reduced" / "catalog"
    shutil.copytree(small_engine / "catalog", reduced)
    next(reduced.glob("*.kmd.json")).write_text("{")
    states = {verdict.gate: verdict.state for verdict in run_gates(inspection)}
    assert states["regeneration"] == states["launch-surface"] == states["serves"] == "passed"
    assert states["structure"] == states["nesting"] == states["contract"] == "unusable"


def test_a_stray_file_that_nobody_may_read_costs_no_gate(small_engine: Path, inspection: Inspection, monkeypatch):
    """What no descriptor names is not read; its name alone says that it is not generated."""
    stray = small_engine / "catalog" / "model.bin"
    stray.write_bytes(b"x")

    def forbidden(path: Path) -> bytes:
        if path == stray:
            raise AssertionError
        return read_raw(path)

    monkeypatch.setattr("winnow.files.folder.read_raw", forbidden)
    states = {verdict.gate: verdict.state for verdict in run_gates(inspection, ["regeneration", "structure", "tuples"])}
    assert states == {"regeneration": "refused", "structure": "passed", "tuples": "passed"}


def test_a_registry_that_leaves_the_program_is_not_a_verdict(small_engine: Path, winnow, monkeypatch):
    (small_engine / "leaves.py").write_text("import sys\nsys.exit('no GPU here')\n")
    monkeypatch.syspath_prepend(small_engine)
    manifest = small_engine / "engine.yaml"
    manifest.write_text(manifest.read_text().replace("registry: winnow.families.gemm:", "registry: leaves:"))
    code, out, _ = winnow("check", "-m", manifest, "registry", "header")
    assert code == 2
    assert "registry  unusable    " in out
    assert "no GPU here" in out
    assert "header    passed" in out


def test_a_manifest_that_cannot_be_read_is_said_once(small_engine: Path, winnow):
    (small_engine / "engine.yaml").write_text("engine: [\n")
    code, out, err = winnow("check", "-m", small_engine / "engine.yaml")
    assert (code, out) == (2, "")
    assert "malformed YAML" in err


def test_the_worst_state_decides_the_exit_code():
    verdicts = [passed("a", ""), incomplete("b", ""), unusable("c", ""), judged("d", "", [])]
    assert exit_code(verdicts[:1]) == 0
    assert exit_code(verdicts[:2]) == 3
    assert exit_code(verdicts[:3]) == 2
    assert exit_code([*verdicts, Verdict("e", "refused", "")]) == 1


def test_every_need_that_a_gate_may_name_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text()
    assert ", ".join(f"`{need}`" for need in NEEDS) in page
