"""What an engine descriptor carries for Winnow's own engine: its family, its matcher and its launch surface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from winnow.errors import InputError, Place
from winnow.families.adapter import FamilyAdapter
from winnow.families.find import find_family
from winnow.runtime.launcher import Launcher, launcher_of
from winnow.runtime.matching import Matcher
from winnow.settings.launch import LaunchSurface
from winnow.settings.matching import Comparison
from winnow.strict.document import Document
from winnow.strict.schema import StrictModel, validate


class _Extension(StrictModel):
    family: str
    match: dict[str, Comparison]
    launch_surface: LaunchSurface


@dataclass(frozen=True)
class Behaviour:
    """How an engine reads graphs, matches and launches."""

    adapter: FamilyAdapter
    matcher: Matcher
    launcher: Launcher


def behaviour(extension: Mapping[str, Any] | None, file: str) -> Behaviour:
    """The behaviour that an engine descriptor's `x-winnow` states.

    Raises:
        InputError: there is none, it is malformed, or its family is not installed.
    """
    if extension is None:
        raise InputError('no "x-winnow" key: this engine needs its native matchers', place=Place(file))
    document = Document(file, {"x-winnow": extension}, {})
    stated = validate(_Extension, document, "x-winnow")
    rules = tuple((field, rule.operator, rule.against(field)) for field, rule in stated.match.items())
    place = Place(file, key="x-winnow.launch_surface")
    launcher = launcher_of(stated.launch_surface, place)
    return Behaviour(find_family(stated.family, Place(file, key="x-winnow.family")), Matcher(rules), launcher)
