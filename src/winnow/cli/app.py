"""The command `winnow`: one convention for exit codes and errors, whatever the subcommand."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from winnow import __version__
from winnow.errors import WinnowError, nearest

COMMANDS = {
    "demo": "the whole loop in DIR, from registry to report",
    "init": "a new engine directory, copied from a built-in engine",
    "space": "count, sample or list a constrained space given as JSON",
    "plan": "legal variants in total, per cell and per knob value, and the budget",
    "enumerate": "registry to selection",
    "coverage": "what the selection serves of a corpus, and what only the registry would",
    "generate": "selection to descriptors",
    "diff": "what differs between two catalogs, selections or packed trees",
    "check": "all gates, or those named",
    "pack": "descriptors to one shard an architecture",
    "inspect": "what an archive, a code object or a descriptor holds",
    "run": "one graph from a packed tree: which kernel, its time, its verdict",
    "sweep": "measure every kernel on every graph; a rerun resumes",
    "reduce": "measurements to a smaller selection, with reasons",
    "report": "one HTML file that shows it all",
}
"""Subcommands in the order of the flow; each is the function `command` of the module of its name."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code: 0 done, 1 refused, 2 unusable, 3 incomplete, 130 interrupted."""
    try:
        code = run(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:  # before the command itself began
        code = 130
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_help())
        return 0 if arguments else 2
    name, *rest = arguments
    if name == "--version":
        print(f"winnow {__version__}")
        return 0
    if name not in COMMANDS:
        print(f'winnow: no command "{name}"\n  cure: {nearest(name, COMMANDS)}', file=sys.stderr)
        return 2
    import typer

    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    command = importlib.import_module(f"winnow.cli.{name}").command
    summary = COMMANDS[name]
    app.command(help=f"{summary[0].upper()}{summary[1:]}.")(_with_exit_code(command))
    try:
        app(rest, prog_name=f"winnow {name}")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    return 0


def _with_exit_code(command: Callable[..., int]) -> Callable[..., None]:
    """The command with its result, and every error that a user can cause, as an exit code."""

    @functools.wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> None:
        sys.exit(_exit_code(lambda: command(*arguments, **options)))

    return wrapped


def _exit_code(call: Callable[[], int]) -> int:
    try:
        code = call()
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except WinnowError as error:
        print(f"winnow: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("winnow: interrupted; what was done is kept, the same command resumes", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader went away; anything still in the buffer has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = error.filename or "output"
        print(f"winnow: {where}: {error.strerror or error}\n  cure: make room, or allow writing there", file=sys.stderr)
        return 2


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = "\n".join(f"  {name.ljust(width)}  {summary}" for name, summary in COMMANDS.items())
    return (
        "Usage: winnow COMMAND [OPTIONS]\n\n"
        "From a kernel registry to the smallest catalog of precompiled kernels worth shipping.\n\n"
        f"Commands:\n{lines}\n\n"
        "Exit codes: 0 passed, 1 refused, 2 unusable input, 3 incomplete evidence, 130 interrupted.\n"
        "`winnow COMMAND --help` shows a command's options."
    )
