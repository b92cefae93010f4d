"""The gates as pytest tests: `winnow_manifests = engine.yaml …` in an ini file gives one test a gate and engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from winnow.gates.inspection import Inspection

# pytest loads this module wherever Winnow is installed, so what the gates need is imported when they run.


class GateFailed(Exception):
    """A gate did not pass; `str()` is what a person reads."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("winnow_manifests", "Winnow manifests whose gates are tests (paths from the ini file).", type="paths")
    parser.addini("winnow_gates", "The gates that run (default: all).", type="args")
    parser.addini("winnow_device", "The device runtime of gates that run kernels [default: what the archive is for].")
    group = parser.getgroup("winnow")
    group.addoption("--winnow-gates", metavar="GATES", help="Run these gates only, by name, separated by commas.")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    manifests = _manifests(parent.config)
    if manifests and file_path.resolve() in manifests:
        return ManifestFile.from_parent(parent, path=file_path)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Manifests outside the directories that were collected run too, unless the command line names what to run."""
    if not _runs_everything(config):
        return
    seen = {item.path.resolve() for item in items if isinstance(item, GateTest)}
    for path in _manifests(config):
        if path not in seen:
            items.extend(ManifestFile.from_parent(session, path=path).collect())


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Workers of pytest-xdist get their arguments spelled out: say whether a person wrote them."""
    node.workerinput["winnow_runs_everything"] = _runs_everything(node.config)


def _runs_everything(config: pytest.Config) -> bool:
    told: bool | None = getattr(config, "workerinput", {}).get("winnow_runs_everything")
    return config.args_source is not pytest.Config.ArgsSource.ARGS if told is None else told


def _manifests(config: pytest.Config) -> list[Path]:
    return [Path(path).resolve() for path in config.getini("winnow_manifests")]


def _gate_names(config: pytest.Config) -> list[str]:
    from winnow.errors import nearest
    from winnow.gates.find import all_gates

    option: str | None = config.getoption("--winnow-gates")
    wanted = config.getini("winnow_gates") if option is None else [name for name in option.split(",") if name]
    gates = all_gates()
    for name in wanted:
        if name not in gates:
            raise pytest.UsageError(f'no gate is called "{name}": {nearest(name, gates)}')
    return [name for name in gates if not wanted or name in wanted]


_INSPECTIONS: pytest.StashKey[dict[Path, Inspection]] = pytest.StashKey()


def _inspection(config: pytest.Config, manifest: Path) -> Inspection:
    """The one look at an engine that all of its gates share."""
    from winnow.engine_dir import EngineDir
    from winnow.gates.inspection import Inspection

    known = config.stash.setdefault(_INSPECTIONS, {})
    if manifest not in known:
        known[manifest] = Inspection(EngineDir(manifest), device=config.getini("winnow_device") or None)
    return known[manifest]


class ManifestFile(pytest.File):
    """One engine: its tests are its gates."""

    def collect(self) -> Iterator[pytest.Item]:
        for name in _gate_names(self.config):
            yield GateTest.from_parent(self, name=name)


class GateTest(pytest.Item):
    """One gate of one engine."""

    def runtest(self) -> None:
        from winnow.errors import WinnowError
        from winnow.gates.run import run_gates
        from winnow.report.verdicts import text

        try:
            verdicts = run_gates(_inspection(self.config, self.path), [self.name])
        except WinnowError as error:
            raise GateFailed(f"winnow: {error}") from error
        if any(verdict.state != "passed" for verdict in verdicts):
            raise GateFailed(text(verdicts))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """A refusal is not a crash: what it says is shown, not where in Winnow it was said."""
        if isinstance(excinfo.value, GateFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"winnow check {self.name}"
