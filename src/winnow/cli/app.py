"""The command `winnow`: what it is asked goes to a command, and whatever comes of it becomes an exit code."""

from __future__ import annotations

import os
import sys

from winnow.cli.commands import COMMANDS, help_text

TYPE_CHECKING = False  # not typing's: `winnow --help` imports nothing that it can do without
if TYPE_CHECKING:
    from collections.abc import Sequence

_HELP = ("-h", "--help")
_VERSION = "--version"
_COMPLETING = "_WINNOW_COMPLETE"
"""The variable by which a shell's completion script asks for completions."""
_COMPLETION = {"--install-completion", "--show-completion"}
"""The options after which Typer exits by itself."""
_SHELLS = {
    "bash": 'eval "$(winnow --show-completion bash)" into ~/.bashrc',
    "zsh": 'eval "$(winnow --show-completion zsh)" into ~/.zshrc',
    "fish": "winnow --show-completion fish | source into ~/.config/fish/config.fish",
}
"""Where each shell reads its completion from."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code: 0 done, 1 refused, 2 unusable, 3 incomplete, 130 interrupted."""
    listed = list(sys.argv[1:] if arguments is None else arguments)
    try:
        _open_closed_streams()
        if listed and listed[0] in COMMANDS:
            from winnow.cli.signals import interrupt_when_ended

            interrupt_when_ended()
        code = run(listed)
    except KeyboardInterrupt:  # before the command itself began, or while its end was told
        code = 130
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    completing = _COMPLETING in os.environ
    code = 0 if arguments or completing else 2
    try:
        code = _run(arguments, completing)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 - the one place where failures become codes and messages
        if isinstance(error, SystemExit) and (completing or not _COMPLETION.isdisjoint(arguments)):
            return error.code if isinstance(error.code, int) else 0
        if completing:
            return 1  # no message: the cursor stands in the line that the user is typing
        from winnow.cli.failures import report

        return report(error) or code  # a reader that left early does not turn a refusal into a pass
    return code


def _run(arguments: Sequence[str], completing: bool) -> int:
    if not completing:
        # Answered from the table of commands: Typer takes longer to import than this takes to print.
        if not arguments or arguments[0] in _HELP:
            print(help_text())
            return 0 if arguments else 2
        if arguments[0] == _VERSION:
            from winnow.version import VERSION

            print(f"winnow {VERSION}")
            return 0
    if not completing and arguments[0] in _COMPLETION and len(arguments) > 1:
        _complete_in(*arguments)
    from winnow.cli.group import run_group

    return run_group(arguments)


def _complete_in(option: str, shell: str, *rest: str) -> None:
    """Have the script of a shell printed that is named, whichever shell runs this."""
    from winnow.errors import InputError, nearest

    if rest or shell not in _SHELLS:
        raise InputError(f"{option}: no shell {' '.join((shell, *rest))!r}", cure=nearest(shell, _SHELLS))
    if option != "--show-completion":
        raise InputError(
            f"{option} takes no shell: it is for the one that runs it",
            cure=f"run it in {shell}, or put {_SHELLS[shell]}",
        )
    os.environ[_COMPLETING] = f"source_{shell}"


def _open_closed_streams() -> None:
    """Give what was closed (`>&-`) to the null device, so that no file that is opened later becomes a standard stream.

    Characters that a stream's encoding lacks are printed as escapes: a file's name may hold any byte.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            # Opened in this order, each gets the lowest number that is free: its own.
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - as long as the process lives
            os.set_inheritable(number, True)
        elif mode == "w":
            stream.reconfigure(errors="backslashreplace")
