"""`nox`: the tests on every Python that is here, the linters, and the package tried in clean environments."""

from __future__ import annotations

import nox

nox.options.sessions = ["lint", "tests"]
nox.options.error_on_missing_interpreters = False

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All tests, on an installed package."""
    session.install(".[test]")
    session.run("pytest", "-n", "2", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style, types, and the imports between rooms."""
    session.install("-e", ".[test]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("lint-imports")


@nox.session
def package(session: nox.Session) -> None:
    """Wheel and sdist, built and tried outside the checkout."""
    session.run("tools/check_package.sh", *session.posargs, external=True)
