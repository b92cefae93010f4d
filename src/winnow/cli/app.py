"""The command `winnow`: one convention for exit codes and errors, whatever the subcommand."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import click
import typer

from winnow import __version__
from winnow.errors import WinnowError

_COMMANDS = {
    "demo": "the whole loop in DIR, from registry to report",
    "init": "a new engine directory, copied from a built-in engine",
    "space": "count, sample or list a constrained space given as JSON",
    "plan": "legal variants in total, per cell and per knob value",
    "enumerate": "registry to selection",
    "generate": "selection to descriptors",
    "check": "all gates, or those named",
    "pack": "descriptors to one shard an architecture",
    "inspect": "what an archive, a code object or a descriptor holds",
    "run": "run one graph from a packed tree",
    "sweep": "measure every kernel on every graph; a rerun resumes",
    "reduce": "measurements to a smaller selection, with reasons",
    "report": "one HTML file that shows it all",
}


class _LazyGroup(click.Group):
    """Imports a command's module only when that command is asked for, so that each starts quickly."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module = importlib.import_module(f"winnow.cli.{name}")
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        app.command(name, help=_COMMANDS[name][0].upper() + _COMMANDS[name][1:] + ".")(module.command)
        return typer.main.get_command(app)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="winnow")
def group() -> None:
    """From a kernel registry to the smallest catalog of precompiled kernels worth shipping."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code: 0 done, 1 refused, 2 unusable, 3 incomplete, 130 interrupted."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        code = group.main(args=arguments, prog_name="winnow", standalone_mode=False)
    except WinnowError as error:
        print(f"winnow: {error}", file=sys.stderr)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except (KeyboardInterrupt, click.Abort):
        print("winnow: interrupted; what was done is kept, the same command resumes", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    return code if isinstance(code, int) else 0
