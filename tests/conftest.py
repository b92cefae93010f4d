"""Small real engines that many tests start from, made once a run and copied for each test."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from small_engine import make_small_engine

from winnow.cli.app import run

# A shared machine may be slow at any time; that says nothing about the code.
settings.register_profile("winnow", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("winnow")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="Record the digests of tests/test_replay.py anew.")


@pytest.fixture(scope="session")
def _small_engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_small_engine(tmp_path_factory.mktemp("engine") / "gemm")


@pytest.fixture
def small_engine(_small_engine: Path, tmp_path: Path) -> Path:
    """An engine directory of its own, with a handful of GEMM kernels packed for this machine and four graphs."""
    target = tmp_path / "engine"
    shutil.copytree(_small_engine, target)
    return target


@pytest.fixture
def winnow(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command line; gives (exit code, stdout, stderr)."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = run([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return code, out, err

    return call
