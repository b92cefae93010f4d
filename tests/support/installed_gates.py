"""Gates of a package that is not there."""

from __future__ import annotations

import pytest

from winnow.gates import find


def installed(monkeypatch: pytest.MonkeyPatch, *gates: object) -> None:
    """Pretend that one package offers these gates, and no other does."""
    names, load = find.plugins.installed, find.plugins.load
    find.all_gates.cache_clear()
    monkeypatch.setattr(find.plugins, "installed", lambda group: ("test",) if group == find.GROUP else names(group))
    monkeypatch.setattr(
        find.plugins,
        "load",
        lambda group, *rest, **named: gates if group == find.GROUP else load(group, *rest, **named),
    )
