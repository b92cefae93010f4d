"""What an inspection looked at it does not look at again, whether it was found or failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from winnow.engine_dir import EngineDir
from winnow.errors import InputError
from winnow.gates.inspection import Inspection
from winnow.gates.once import once


@pytest.fixture
def inspection(small_engine: Path) -> Inspection:
    return Inspection(EngineDir(small_engine / "engine.yaml"))


@pytest.mark.parametrize("failure", [InputError("gone"), ZeroDivisionError("gone"), SystemExit("gone")])
def test_a_failure_is_remembered_and_not_tried_again(failure: BaseException):
    tries = 0

    class Look:
        @once
        def artefact(self) -> int:
            """What it is."""
            nonlocal tries
            tries += 1
            raise failure

    look = Look()
    depths = []
    for _ in range(3):
        with pytest.raises(type(failure), match="gone") as error:
            _ = look.artefact
        depths.append(len(error.traceback))
    assert tries == 1
    assert depths[1] == depths[2]
    assert Look.artefact.__doc__ == "What it is."


def test_an_interrupted_look_is_taken_again():
    looks = iter([KeyboardInterrupt(), 7])

    class Look:
        @once
        def artefact(self) -> int:
            found = next(looks)
            if isinstance(found, KeyboardInterrupt):
                raise found
            return found

    look = Look()
    with pytest.raises(KeyboardInterrupt):
        _ = look.artefact
    assert look.artefact == 7
