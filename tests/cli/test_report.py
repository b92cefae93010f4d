"""`winnow report` writes its page, and says which gates did not pass: its exit code is theirs."""

from __future__ import annotations

from pathlib import Path


def test_a_gate_that_did_not_pass_is_named_with_its_summary(small_engine: Path, winnow) -> None:
    manifest = small_engine / "engine.yaml"
    assert winnow("sweep", "-m", manifest, "--rounds", "2")[0] == 0
    code, out, err = winnow("report", "-m", manifest)
    page, *rest = out.splitlines()
    assert (code, err) == (3, "")
    assert page.startswith(f"{small_engine / 'build' / 'report.html'}: ")
    assert [line.split(":")[0] for line in rest] == ["  nesting incomplete", "  reduction incomplete"]
    assert "run `winnow reduce` first" in rest[1]
