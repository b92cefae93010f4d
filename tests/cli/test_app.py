"""The command line around its commands: help, usage errors, and for every failure one message and one exit code."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from command_line import shell

from winnow import __version__
from winnow.cli import app as app_module
from winnow.cli.commands import COMMANDS, help_text, module_of
from winnow.cli.failures import TRACEBACK, Failure, failure_of
from winnow.cli.group import _group
from winnow.errors import SYSTEM_CURES, Incomplete, InputError, Refused

CLI = Path(app_module.__file__).parent


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., int]], None]:
    """Gives `winnow stand-in` a body."""

    def put(body: Callable[..., int]) -> None:
        module = types.ModuleType("winnow.cli.stand_in")
        module.command = body  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "winnow.cli.stand_in", module)
        monkeypatch.setitem(COMMANDS, "stand-in", "a command of the tests")

    return put


# --- help and version


def test_help_needs_neither_typer_nor_a_command():
    script = (
        "import sys\nfrom winnow.cli.app import run\nassert run([sys.argv[1]]) == 0\n"
        "own = ('winnow.cli', 'winnow.cli.app', 'winnow.cli.commands', 'winnow.version')\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('typer', 'click', 'rich')"
        " or name.startswith('winnow.') and name not in own])"
    )
    for flag in ("--help", "-h", "--version"):
        done = subprocess.run([sys.executable, "-c", script, flag], capture_output=True, text=True)
        assert done.stdout.splitlines()[-1] == "[]", done


def test_help_and_version_are_the_same_however_they_are_asked_for(winnow):
    assert winnow("--help") == winnow("-h") == (0, f"{help_text()}\n", "")
    assert winnow() == (2, f"{help_text()}\n", "")
    assert winnow("--version") == (0, f"winnow {__version__}\n", "")
    assert shell("winnow --version") == (0, f"winnow {__version__}\n", "")


def test_help_names_every_command_and_every_option_and_fits_80_columns():
    text = help_text()
    assert max(map(len, text.splitlines())) <= 80
    group = _group()
    with group.make_context("winnow", ["plan"]) as context:
        options = {option for param in group.get_params(context) for option in param.opts}
        assert group.list_commands(context) == list(COMMANDS)
        assert group.get_help(context) == text
    assert options >= {"--version", "--help", "-h", "--install-completion", "--show-completion"}
    assert all(option in text for option in options)


def test_the_table_has_every_command_and_every_command_has_its_module():
    modules = {path.stem for path in CLI.glob("*.py") if "\ndef command(" in path.read_text(encoding="utf-8")}
    assert {module_of(name).rpartition(".")[2] for name in COMMANDS} == modules


def test_a_command_is_its_module_and_a_line_of_the_table(winnow, command):
    command(lambda: 3)
    assert winnow("stand-in") == (3, "", "")
    code, out, _ = winnow("stand-in", "-h")
    assert (code, "A command of the tests." in out) == (0, True)
    assert "  stand-in   a command of the tests\n" in winnow("--help")[1]


# --- usage errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["paack"], 'no command "paack"\n  cure: did you mean "pack"?'),
        (["--verson"], 'no such option: --verson\n  cure: did you mean "--version"?'),
        (["--"], "missing command\n  cure: `winnow --help` shows what there is"),
        (["check", "--fromat", "json"], 'check: no such option: --fromat\n  cure: did you mean "--format"?'),
        (["plan", "--xyzzy"], "plan: no such option: --xyzzy\n  cure: `winnow plan --help` shows what there is"),
        (["space"], "space: missing argument 'FILE'\n  cure: `winnow space --help` shows what there is"),
        (["pack", "-j"], "pack: option '-j' requires an argument\n  cure: `winnow pack --help` shows what there is"),
        (
            ["check", "--format", "tex"],
            "check: invalid value for '--format': 'tex' is not one of 'text', 'json', 'junit', 'github'\n"
            "  cure: `winnow check --help` shows what there is",
        ),
    ],
)
def test_a_usage_error_names_the_command_and_a_cure(winnow, arguments, said):
    assert winnow(*arguments) == (2, "", f"winnow: {said}\n")


@pytest.mark.parametrize("arguments", [["pack", "-j", "0"], ["pack", "-j", "two"], ["plan", "more"]])
def test_a_value_out_of_place_is_a_usage_error(winnow, arguments):
    code, out, err = winnow(*arguments)
    assert (code, out) == (2, "")
    assert re.fullmatch(rf"winnow: {arguments[0]}: .+\n  cure: `winnow {arguments[0]} --help` shows .+\n", err)


# --- failures


def failing(error: BaseException) -> BaseException:
    """The error with the traceback of having been raised here."""
    try:
        raise error
    except BaseException as raised:  # noqa: BLE001 - handed back
        return raised


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("bad", cure="better"), 2, "winnow: bad\n  cure: better"),
        (Refused("no"), 1, "winnow: no"),
        (Incomplete("some"), 3, "winnow: some"),
        (KeyboardInterrupt(), 130, "winnow: interrupted; what was done is kept, the same command resumes"),
    ],
)
def test_every_error_has_its_exit_code(error, code, said, winnow, command):
    assert failure_of(error) == Failure(code, said)

    def body() -> int:
        raise error

    command(body)
    assert winnow("stand-in") == (code, "", f"{said}\n")


class Meddling:
    """Raises what an interrupt that comes while a class is made becomes."""

    def __set_name__(self, owner: type, name: str) -> None:
        raise KeyboardInterrupt


def test_an_interrupt_in_the_making_of_a_class_is_an_interrupt():
    with pytest.raises((RuntimeError, KeyboardInterrupt)) as error:  # the first before Python 3.12
        type("Made", (), {"field": Meddling()})
    assert failure_of(error.value).code == 130


def test_what_an_interrupt_brought_about_is_an_interrupt():
    error = OSError("cleaning up failed")
    error.__context__ = KeyboardInterrupt()
    assert failure_of(failing(error)).code == 130


@pytest.mark.parametrize(
    ("number", "cure"),
    [
        (errno.ENOSPC, "make room on that file system"),
        (errno.EROFS, "that file system is read-only: name another place"),
        (errno.EISDIR, "this is a directory: name a file"),
    ],
)
def test_a_failure_of_the_system_names_its_cure(number, cure):
    assert failure_of(OSError(number, os.strerror(number), "a/b")).message.endswith(f"\n  cure: {cure}")


@pytest.mark.parametrize("number", SYSTEM_CURES, ids=errno.errorcode.get)
def test_a_failure_of_the_system_has_the_cure_of_its_number(number):
    strerror = os.strerror(number)
    said = f"{strerror}\n  cure: {SYSTEM_CURES[number]}"
    assert failure_of(OSError(number, strerror, "a/b")) == (2, f"winnow: a/b: {said}")
    assert failure_of(OSError(number, strerror, b"a/b")) == (2, f"winnow: a/b: {said}")
    assert failure_of(OSError(number, strerror)) == (2, f"winnow: output: {said}")


def test_an_unexpected_exception_says_what_and_where(winnow, command, monkeypatch):
    from winnow.targets.target_id import parse_target_id

    def body() -> int:
        parse_target_id(None)  # type: ignore[arg-type]
        return 0

    command(body)
    monkeypatch.delenv(TRACEBACK, raising=False)
    code, out, err = winnow("stand-in")
    assert (code, out) == (2, "")
    assert re.fullmatch(
        r"winnow: unexpected AttributeError at winnow\.targets\.target_id:\d+: .+\n"
        r"  cure: run with WINNOW_TRACEBACK=1 to see the traceback\n",
        err,
    ), err
    monkeypatch.setenv(TRACEBACK, "1")
    code, _, err = winnow("stand-in")
    assert code == 2
    assert re.match(r"Traceback \(most recent call last\):\n", err)
    assert re.search(r"\nwinnow: unexpected AttributeError at winnow\.targets\.target_id:\d+: .+\n$", err)


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ZeroDivisionError("two\nlines"), "unexpected ZeroDivisionError, raised at {here}: two lines"),
        (MemoryError(), "unexpected MemoryError, raised at {here}"),
        (Unspeakable(), "unexpected Unspeakable, raised at {here}"),
        (GeneratorExit(), "unexpected GeneratorExit, raised at {here}"),
        (typer.Exit(0), "unexpected Exit, raised at {here}"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "no"), "unexpected ConnectionRefusedError, raised at {here}"),
        (BrokenPipeError(errno.EPIPE, "a worker's"), "unexpected BrokenPipeError, raised at {here}"),
    ],
)
def test_any_exception_is_exit_code_2_in_one_line(error, said, monkeypatch):
    monkeypatch.delenv(TRACEBACK, raising=False)
    code, message = failure_of(failing(error))
    head, cure = message.split("\n")
    assert (code, cure) == (2, "  cure: run with WINNOW_TRACEBACK=1 to see the traceback")
    pattern = re.escape(said).replace(re.escape("{here}"), re.escape(__name__) + r":\d+")
    assert re.match(f"winnow: {pattern}", head), head


def test_typer_makes_nothing_of_what_a_command_raises(winnow, command):
    """Typer's own exceptions, raised by code that a command loads, would end it with 0 or without a word."""
    raised: list[BaseException] = []

    def body() -> int:
        raise raised[-1]

    command(body)
    for error in (typer.Exit(0), typer.Abort(), EOFError(), typer.BadParameter("x"), BrokenPipeError()):
        raised.append(error)
        code, _, err = winnow("stand-in")
        assert code == 2, error
        assert err.startswith(f"winnow: unexpected {type(error).__name__}"), err


@pytest.mark.parametrize("asked", ["0", "", "1", "'done'"])
def test_code_that_exits_in_the_middle_of_a_command_has_failed(small_engine: Path, winnow, asked, monkeypatch):
    (small_engine / "leaves.py").write_text(f"import sys\n\nsys.exit({asked})\n")
    monkeypatch.syspath_prepend(str(small_engine))
    monkeypatch.delitem(sys.modules, "leaves", raising=False)
    manifest = small_engine / "engine.yaml"
    manifest.write_text(re.sub(r"registry: \S+", "registry: leaves:REGISTRY", manifest.read_text(), count=1))
    code, out, err = winnow("plan", "-m", manifest)
    assert (code, out) == (2, "")
    assert err == (
        f"winnow: leaves:3 ended the process with exit code {eval(asked) if asked else None!r} "
        "in the middle of a command\n  cure: let that code raise an exception instead of calling sys.exit\n"
    )
