"""A built-in RDNA engine passes every gate that needs neither a GPU nor an archive."""

from __future__ import annotations

from pathlib import Path

GATES = (
    *("header", "registry", "budget", "vocabulary", "coverage", "regeneration", "structure", "tuples", "contract"),
    *("reachability", "launch-surface"),
)


def test_a_fresh_copy_passes(tmp_path: Path, winnow) -> None:
    """A kernel that no graph reaches, or a comparison that forgets a field, would ship unseen."""
    directory = tmp_path / "d"
    assert winnow("init", directory, "--from", "attention_gfx11")[0] == 0
    code, out, _ = winnow("check", "-m", directory / "engine.yaml", *GATES)
    assert code == 0, out
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert "64 selected kernels" in lines["registry"]
    assert "96 covered" in lines["coverage"]
    assert "0 UNREACHABLE" in lines["reachability"]
