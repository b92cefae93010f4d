"""The pages say what is: their links lead somewhere, and the commands that they name exist."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from winnow.cli.commands import COMMANDS
from winnow.coverage.cover import OUTCOMES
from winnow.families.checked import METHODS
from winnow.plugins import GROUPS

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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_name_that_is_imported_exists(page: Path):
    text = page.read_text(encoding="utf-8")
    for module, names in re.findall(r"^from (winnow[.\w]*) import (.+)$", text, re.MULTILINE):
        for name in names.split(", "):
            assert hasattr(importlib.import_module(module), name), f"{page.name} imports {name} from {module}"
    for dotted in re.findall(r"`(winnow\.[a-z_.]+\.\w+)\(", text):
        module, _, name = dotted.rpartition(".")
        assert hasattr(importlib.import_module(module), name), f"{page.name} names {dotted}"


def test_every_page_is_reached_from_the_readme_or_another_page():
    linked = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+\.md)", page.read_text(encoding="utf-8"))
    }
    lost = [page.name for page in PAGES[1:] if page.resolve() not in linked]
    assert not lost


def test_the_glossary_is_sorted_has_each_term_once_and_every_definition_in_one_line():
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| (.+) \|$", text, re.MULTILINE)
    assert len(rows) == text.count("**") // 2 == text.count("\n| ") - 1, "a row that is not `| **term** | meaning |`"
    terms = [term.casefold() for term, _ in rows]
    assert terms == sorted(set(terms))
    assert [term for term, meaning in rows if len(meaning) > 160 or meaning.endswith(".")] == []


def test_the_glossary_has_every_state_and_outcome_that_commands_print():
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = set(re.findall(r"^\| \*\*(.+?)\*\*", text, re.MULTILINE))
    assert {"refused", "incomplete", "declined", "unchecked", "missing", *(name.lower() for name in OUTCOMES)} <= terms


def test_the_picture_of_the_rooms_is_that_of_the_import_contract(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    draw_rooms = importlib.import_module("draw_rooms")
    rooms = draw_rooms.floors()
    assert draw_rooms.PICTURE.read_text(encoding="utf-8") == draw_rooms.picture(rooms)
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", page, re.MULTILINE))
    assert rows == {room: _first_line(room) for floor in rooms for room in floor}


def _first_line(room: str) -> str:
    package = ROOT / "src" / "winnow" / room
    file = package / "__init__.py" if package.is_dir() else package.with_suffix(".py")
    return file.read_text(encoding="utf-8").split('"""')[1].splitlines()[0]


def test_the_plugins_page_has_every_group_and_method():
    page = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(winnow\.\w+)` \|", page, re.MULTILINE)) == set(GROUPS)
    assert all(f"`{method}(" in page for method in METHODS)
    for path in re.findall(r"\| `([a-z_/]+(?:\.py|/))` \|$", page, re.MULTILINE):
        assert (ROOT / "src" / "winnow" / path).exists(), path


def test_the_plugins_page_shows_the_package_that_the_tests_run():
    page = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    standin = ROOT / "tests" / "support" / "standin"
    entries = (standin / "standin-1.0.dist-info" / "entry_points.txt").read_text()
    shown = re.findall(r'^(\S+) = "(standin\..+)"$', page, re.MULTILINE)
    assert shown == re.findall(r"^(\S+) = (standin\..+)$", entries, re.MULTILINE)
    gate = (standin / "standin" / "gates.py").read_text()
    assert gate[gate.index("def check") :].replace("\n\n\n", "\n\n") in page
