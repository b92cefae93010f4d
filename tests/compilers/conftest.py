"""The machine's C compiler, found once for all tests of this room."""

from __future__ import annotations

import pytest

from winnow.compilers.c import find_toolchain
from winnow.compilers.toolchain import Toolchain


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    return find_toolchain()
