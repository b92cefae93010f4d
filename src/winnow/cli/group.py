"""Typer's group of commands: each is imported when it runs or completes its options, not when it is listed."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from winnow.cli.commands import COMMANDS, help_text, module_of
from winnow.cli.failures import report
from winnow.errors import InputError, WinnowError, nearest
from winnow.version import VERSION

# Typer has a public name for one of its usage errors only; what all of them derive from is that one's base.
_USAGE_ERROR: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "UsageError")
_PLAIN: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False}


def run_group(arguments: Sequence[str]) -> int:
    """Parse the command line, run its command, and return the command's exit code.

    Raises:
        InputError: an unknown command, option or value.
        SystemExit: the shell asked for completions, or for the script that asks for them.
    """
    try:
        ended = _group().main(list(arguments), prog_name="winnow", standalone_mode=False)
    except _USAGE_ERROR as error:
        raise _usage(error, arguments) from None
    except typer.Abort:
        raise KeyboardInterrupt from None
    return int(ended or 0)


def _group() -> Any:
    app = typer.Typer(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, **_PLAIN)
    app.callback()(_winnow)
    return typer.main.get_command(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"winnow {VERSION}")
        raise typer.Exit


def _winnow(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """The options of `winnow` itself."""


class _Commands(TyperGroup):
    """The table of commands as a group. Typer declares contexts as a class of its own, or of Click's."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _Later(cmd_name, help=_sentence(COMMANDS[cmd_name])) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            raise InputError(f'no command "{args[0]}"', cure=nearest(args[0], COMMANDS))
        return super().resolve_command(ctx, args)

    def get_help(self, ctx: Any) -> str:
        return help_text()

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        try:
            return super().make_context(*arguments, **options)
        except typer.Exit as ended:
            if ended.exit_code == 0:
                raise
            raise InputError(
                "the shell to complete in is unknown, or one that Typer does not know",
                cure="for bash, zsh or fish: _WINNOW_COMPLETE=source_bash winnow > FILE, and source that file",
            ) from None


class _Later(TyperCommand):
    """A command by its name and summary; its module is imported when there are arguments for it."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        return _command(str(self.name)).make_context(*arguments, **options)


def _command(name: str) -> Any:
    app = typer.Typer(add_completion=False, **_PLAIN)
    body: Callable[..., int] = importlib.import_module(module_of(name)).command
    app.command(name, help=_sentence(COMMANDS[name]))(_reported(body))
    return typer.main.get_command(app)


def _reported(body: Callable[..., int]) -> Callable[..., int]:
    """A command that raises nothing: whatever its body raises is its failure, and nothing that Typer may interpret."""

    @functools.wraps(body)
    def command(*arguments: Any, **options: Any) -> int:
        try:
            return body(*arguments, **options)
        except BaseException as error:  # noqa: BLE001 - becomes the command's exit code and message
            return report(error)

    return command


def _sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}."


def _usage(error: Any, arguments: Sequence[str]) -> WinnowError:
    """A usage error of Typer's in the words of Winnow."""
    name = arguments[0] if arguments and arguments[0] in COMMANDS else ""
    if getattr(error, "possibilities", None):
        message, cure = f"no such option: {error.option_name}", nearest(error.option_name, error.possibilities)
    else:
        said = " ".join(error.format_message().split()).rstrip(".").replace("Value error, ", "")
        message, cure = said[:1].lower() + said[1:], f"`{f'winnow {name}'.strip()} --help` shows what there is"
    return InputError(f"{name}: {message}" if name else message, cure=cure)
