"""Running `winnow` as a shell does, also with one more command."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path


def shell(line: str, **environment: str) -> tuple[int, str, str]:
    """Run a line of bash in which `winnow` is this Winnow; gives (exit code, stdout, stderr)."""
    setup = f'winnow() {{ {shlex.quote(sys.executable)} -m winnow "$@"; }}; '
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        ["bash", "--norc", "-c", setup + line], capture_output=True, text=True, env={**inherited, **environment}
    )
    return done.returncode, done.stdout, done.stderr


def stand_in(tmp_path: Path, body: str) -> str:
    """A script that is `winnow` with one more command, `stand-in`; gives the words that run it."""
    script = tmp_path / "stand_in.py"
    script.write_text(
        "import os, sys, time, types\n"
        "from winnow.cli.app import main\nfrom winnow.cli.commands import COMMANDS\n"
        f"def command() -> int:\n    {body}\n"
        "module = types.ModuleType('winnow.cli.stand_in')\nmodule.command = command\n"
        "sys.modules[module.__name__] = module\nCOMMANDS['stand-in'] = 'a command of the tests'\n"
        "main(['stand-in'])\n"
    )
    return shlex.join([sys.executable, str(script)])
