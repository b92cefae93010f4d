"""Shell completion: what a shell asks by the completion script, it is answered; and bash really completes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import shellingham

from winnow.cli.commands import COMMANDS

README = Path(__file__).parents[2] / "README.md"
WINNOW = [sys.executable, "-m", "winnow"]


def asked(shell: str, line: str, home: Path) -> tuple[int, str, str]:
    """What the completion script of a shell asks when TAB is pressed at the end of a line."""
    words = line.split(" ")
    variables = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_TYPER_COMPLETE_ARGS": line}
    variables |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args", "_WINNOW_COMPLETE": f"complete_{shell}"}
    done = subprocess.run(
        WINNOW, capture_output=True, text=True, cwd=home, env={**os.environ, **variables, "HOME": str(home)}
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("winnow ", sorted(COMMANDS)),
        ("winnow re", ["reduce", "report"]),
        ("winnow --sh", ["--show-completion"]),
        ("winnow plan --", ["--approve", "--help", "--json", "--manifest", "--reason"]),
        ("winnow check --format j", ["json", "junit"]),
        ("winnow plan -m ", []),
        ("winnow init d --from attention_gfx1", ["attention_gfx11", "attention_gfx12"]),
        ("winnow sweep --device c", ["cpu", "cuda"]),
        ("winnow check re", ["reachability", "reduction", "regeneration", "registry", "resources"]),
        ("winnow pack --arch gfx94", ["gfx942"]),
        ("winnow coverage --arch sm_9", ["sm_90"]),
        ("winnow pack --executor ", ["local"]),
        ("winnow space s --format j", ["json"]),
    ],
)
def test_bash_is_offered_commands_options_and_values(line, offered, tmp_path: Path):
    code, out, err = asked("bash", line, tmp_path)
    assert (code, err) == (0, "")
    assert sorted(out.split()) == offered


@pytest.mark.parametrize(("line", "offered"), [("winnow pla", "plan"), ("winnow plan --ap", "--approve")])
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_zsh_and_fish_are_offered_the_same_with_help(shell, line, offered, tmp_path: Path):
    code, out, err = asked(shell, line, tmp_path)
    assert (code, err) == (0, "")
    help_of = {"plan": "Legal variants in total", "--approve": "Write plan.lock"}[offered]
    lead = {"zsh": f"""_arguments '*: :(("{offered}":"{help_of}""", "fish": f"{offered}\t{help_of}"}[shell]
    assert out.startswith(lead)
    assert len(out.splitlines()) == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_its_script(shell, tmp_path: Path):
    done = subprocess.run(
        WINNOW, capture_output=True, text=True, env={**os.environ, "_WINNOW_COMPLETE": f"source_{shell}"}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_WINNOW_COMPLETE=complete_{shell}" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_that_is_named_is_printed(shell, tmp_path: Path):
    done = subprocess.run([*WINNOW, "--show-completion", shell], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_WINNOW_COMPLETE=complete_{shell}" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--install-completion", "zsh"],
            "winnow: --install-completion takes no shell: it is for the one that runs it\n"
            '  cure: run it in zsh, or put eval "$(winnow --show-completion zsh)" into ~/.zshrc\n',
        ),
        (["--show-completion", "zhs"], "winnow: --show-completion: no shell 'zhs'\n  cure: did you mean \"zsh\"?\n"),
        (
            ["--show-completion", "bash", "now"],
            "winnow: --show-completion: no shell 'bash now'\n  cure: did you mean \"bash\"?\n",
        ),
    ],
)
def test_a_shell_that_cannot_be_named_is_an_error(winnow, arguments, said):
    assert winnow(*arguments) == (2, "", said)


def in_bash(line: str, home: Path) -> str:
    """A line run in a bash that has `winnow` on its path and no settings."""
    tools = home / "bin"
    tools.mkdir()
    (tools / "winnow").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m winnow "$@"\n')
    (tools / "winnow").chmod(0o755)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", line],
        capture_output=True,
        text=True,
        cwd=home,
        env={**os.environ, "PATH": path, "HOME": str(home)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


PRESS_TAB = (
    'press() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
    "local how=$(complete -p winnow); how=${how##*-F }; ${how% winnow} winnow; "
    'echo "${COMPREPLY[@]}"; }; press winnow swe; press winnow sweep --ro; '
)


def test_bash_completes_with_the_script_that_winnow_prints(tmp_path: Path):
    assert in_bash(f'eval "$(winnow --show-completion)"; {PRESS_TAB}', tmp_path) == "sweep\n--rounds\n"


def test_bash_completes_after_the_script_is_installed(tmp_path: Path):
    out = in_bash(f"winnow --install-completion; source .bashrc; {PRESS_TAB}", tmp_path)
    assert out.splitlines()[-2:] == ["sweep", "--rounds"]
    assert out.startswith(f"bash completion installed in {tmp_path}/.bash_completions/winnow.sh\n")


def test_the_lines_of_the_readme_work(tmp_path: Path):
    (lines,) = re.findall(r"## Shell completion\n.*?```sh\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert in_bash(f"{lines}\n{PRESS_TAB}", tmp_path).splitlines()[-2:] == ["sweep", "--rounds"]
    assert (tmp_path / ".bash_completions" / "winnow.sh").is_file()


@pytest.mark.parametrize("option", ["--install-completion", "--show-completion"])
@pytest.mark.parametrize("found", ["", "tcsh"])
def test_an_unknown_shell_is_answered_with_how_to_name_one(winnow, monkeypatch, option, found):
    def detect() -> tuple[str, str]:
        if not found:
            raise shellingham.ShellDetectionFailure
        return found, f"/bin/{found}"

    monkeypatch.setattr(shellingham, "detect_shell", detect)
    code, _, err = winnow(option)
    assert code == 2
    assert err.endswith(
        "winnow: the shell to complete in is unknown, or one that Typer does not know\n"
        "  cure: for bash, zsh or fish: _WINNOW_COMPLETE=source_bash winnow > FILE, and source that file\n"
    )


def test_a_command_that_does_not_import_leaves_the_line_that_is_typed_alone(tmp_path: Path):
    script = (
        "from winnow.cli.app import main\nfrom winnow.cli.commands import COMMANDS\n"
        "COMMANDS['missing'] = 'not there'\nmain([])"
    )
    variables = {"COMP_WORDS": "winnow missing --", "COMP_CWORD": "2", "_WINNOW_COMPLETE": "complete_bash"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, **variables}
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
