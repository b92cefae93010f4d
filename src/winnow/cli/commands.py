"""The table of commands: a name and one line each, from which the top-level help is written without importing any."""

from __future__ import annotations

COMMANDS = {
    "demo": "the whole loop in DIR, from registry to report",
    "init": "a new engine directory, copied from a built-in engine",
    "space": "count, sample or list a constrained space given as JSON",
    "plan": "legal variants in total, per cell and per knob value; the budget",
    "enumerate": "registry to selection",
    "coverage": "what the selection serves of a corpus, what only the registry does",
    "generate": "selection to descriptors",
    "diff": "what differs between two catalogs, selections or packed trees",
    "check": "all gates, or those named",
    "pack": "descriptors to one shard an architecture",
    "inspect": "what an archive, a code object or a descriptor holds",
    "run": "one graph from a packed tree: which kernel, its time, its verdict",
    "sweep": "measure every kernel on every graph; a rerun resumes",
    "reduce": "measurements to a smaller selection, with reasons",
    "report": "one HTML file that shows it all",
    "plugins": "what is installed: families, compilers, devices, gates and more",
}
"""Commands in the order of the flow; each is the function `command` of the module of its name."""


def module_of(name: str) -> str:
    """The module that holds a command: `winnow.cli.NAME`, with `_` for `-`."""
    return f"winnow.cli.{name.replace('-', '_')}"


def help_text() -> str:
    """What `winnow --help` prints."""
    width = max(map(len, COMMANDS))
    lines = "\n".join(f"  {name.ljust(width)}  {summary}" for name, summary in COMMANDS.items())
    return (
        "Usage: winnow COMMAND [OPTIONS]\n\n"
        "From a kernel registry to the smallest catalog of precompiled kernels worth\nshipping.\n\n"
        f"Commands:\n{lines}\n\n"
        "Options:\n"
        "  --version             print the version\n"
        "  --install-completion  install completion for the shell that runs this\n"
        "  --show-completion     print its completion script, or that of a shell you name\n"
        "  -h, --help            print this; `winnow COMMAND --help` shows a command's\n\n"
        "Exit codes: 0 passed, 1 refused, 2 unusable input, 3 incomplete evidence,\n"
        "130 interrupted."
    )
