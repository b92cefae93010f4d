"""The pages say what is: their links lead somewhere, and the commands that they name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from winnow.cli.commands import COMMANDS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path):
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_exists(page: Path):
    for name in re.findall(r"(?:`|^)winnow ([a-z][a-z-]*)", page.read_text(encoding="utf-8"), re.MULTILINE):
        assert name in COMMANDS, f"{page.name} names the command {name}"


def test_every_page_is_reached_from_the_readme_or_another_page():
    linked = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+\.md)", page.read_text(encoding="utf-8"))
    }
    lost = [page.name for page in PAGES[1:] if page.resolve() not in linked]
    assert not lost
