"""Draws the rooms and their floors as the import contract in `pyproject.toml` has them: `docs/rooms.svg`."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "rooms.svg"

_WIDTH, _FLOOR, _BOX, _MARGIN, _GAP = 480, 34, 26, 16, 8
_STYLE = (
    "text{font:13px sans-serif;fill:#1d2733}.room{fill:#e8eef5;stroke:#5b7186}.floor{fill:#f7f9fb}"
    ".arrow{stroke:#8a99a8;fill:none}@media(prefers-color-scheme:dark){text{fill:#e3e9ef}"
    ".room{fill:#26323e;stroke:#7f93a6}.floor{fill:#151b21}}"
)


def floors(root: Path = ROOT) -> list[list[str]]:
    """The rooms of each floor, the highest first."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (one for one in settings["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    return [[room.strip() for room in layer.split("|")] for layer in contract["layers"]]


def picture(rooms: list[list[str]]) -> str:
    """The floors as SVG: a room imports rooms of lower floors only."""
    height = len(rooms) * _FLOOR + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
        "<title>Winnow's rooms: each imports rooms of lower floors only</title>",
        f"<style>{_STYLE}</style>",
        '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="4" refY="4" orient="auto">'
        '<path class="arrow" d="M0 0L6 4L0 8"/></marker></defs>',
        f'<path class="arrow" marker-end="url(#tip)" d="M{_MARGIN} {_MARGIN}V{height - _MARGIN}"/>',
    ]
    for level, names in enumerate(rooms):
        top = _MARGIN + level * _FLOOR
        if level % 2:
            parts.append(f'<rect class="floor" x="{2 * _MARGIN}" y="{top}" width="{_WIDTH}" height="{_FLOOR}"/>')
        left = 3 * _MARGIN
        for name in names:
            width = 8 * len(name) + 24
            parts.append(
                f'<rect class="room" rx="5" x="{left}" y="{top + 4}" width="{width}" height="{_BOX}"/>'
                f'<text x="{left + width / 2:g}" y="{top + 21}" text-anchor="middle">{name}</text>'
            )
            left += width + _GAP
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(picture(floors()), encoding="utf-8")
