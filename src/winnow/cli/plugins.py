"""`winnow plugins`: node kinds, families, compilers, devices, targets, gates and the like that are installed."""

from __future__ import annotations

from winnow.cli.console import print_json, table
from winnow.cli.options import JsonOption
from winnow.steps.plugins import list_plugins


def command(as_json: JsonOption = False) -> int:
    found = list_plugins()
    if as_json:
        print_json(found.as_list())
        return 0
    rows = [
        (one.group, one.name, one.package, one.version, "ok" if one.state == "ok" else "broken")
        for one in found.plugins
    ]
    print(table([("group", "name", "package", "version", "state"), *rows], width=80))
    for one in found.broken:
        print(f"  {one.group} {one.name}: {one.state}")
    return 0
