"""The version of Winnow, for every room: the package itself stands above all of them, so none imports it."""

from __future__ import annotations

VERSION = "0.1.0"
