"""What a user can get wrong is answered with its place and a cure, the right exit code, and nothing half-written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from winnow.targets.cpu import host_level


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def tree(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


MISTAKES = [
    ("engine.yaml", "family: gemm", "family: [gemm", "enumerate", r"engine.yaml:\d+: malformed YAML: "),
    ("engine.yaml", "family: gemm", "family: gemm\nfamily: gemm", "enumerate", r"engine.yaml:\d+: family: duplicate"),
    ("engine.yaml", "family: gemm", "famly: gemm", "enumerate", r'unknown key "famly"\n  cure: did you mean "family"'),
    ("engine.yaml", "rows: [1, 8]", "rowz: [1, 8]", "enumerate", r'no knob "rowz"\n  cure: did you mean "rows"'),
    ("engine.yaml", "  space: slice", "  space: half", "enumerate", r"engine.yaml:\d+: enumerate.space"),
    (
        "engine.yaml",
        "candidates: {arch: [",
        "candidates: {arch: [x86-64-v9, ",
        "enumerate",
        r'"x86-64-v9"\n  cure: did',
    ),
    ("selection.yaml", "dtype: fp32", "dtype: fp23", "generate", r'"fp23" is not a spelling of dtype'),
    ("selection.yaml", "arch: [", "arch: [x86-64-v9, ", "generate", r'arch\[0\]: unknown arch "x86-64-v9" \(did you'),
    ("selection.yaml", "knobs: knobs0", "knobs: knob0", "generate", r'no knob set "knob0"\n  cure: did you mean'),
    ("selection.yaml", "packs:", "packs: off", "generate", r"selection.yaml:\d+: "),
]


@pytest.mark.parametrize(("file", "old", "new", "command", "said"), MISTAKES)
def test_a_faulty_file_stops_its_command(small_engine: Path, winnow, file, old, new, command, said):
    edit(small_engine / file, old, new)
    before = tree(small_engine)
    code, out, err = winnow(command, "-m", small_engine / "engine.yaml")
    assert (code, out) == (2, "")
    assert re.search(said, err), err
    assert tree(small_engine) == before


def test_a_missing_compiler_is_named_with_its_cure(small_engine: Path, winnow, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(small_engine / "nowhere"))
    monkeypatch.setitem(__import__("sys").modules, "ziglang", None)
    before = tree(small_engine)
    code, _, err = winnow("pack", "-m", small_engine / "engine.yaml", "--arch", host_level())
    assert code == 2
    assert "winnow-kernels[zig]" in err
    assert tree(small_engine) == before


def test_an_empty_file_and_a_list_in_place_of_a_mapping_are_called_that(small_engine: Path, winnow):
    manifest, graph = small_engine / "engine.yaml", small_engine / "corpus" / "empty.json"
    graph.write_text(" \n")
    assert winnow("coverage", "-m", manifest)[::2] == (2, f"winnow: {graph}: the file is empty\n")
    manifest.write_text("- 1\n")
    assert winnow("plan", "-m", manifest)[::2] == (2, f"winnow: {manifest}:1: not a mapping (value: [1])\n")


def test_a_file_that_cannot_be_read_says_what_helps(small_engine: Path, winnow):
    manifest, database = small_engine / "engine.yaml", small_engine / "build" / "sweep.db"
    database.write_bytes(b"no database at all, but long enough to be looked at" * 20)
    code, _, err = winnow("reduce", "-m", manifest)
    assert (code, err) == (
        2,
        f"winnow: {database}: the sweep database failed: file is not a database\n"
        "  cure: move it away and run `winnow sweep`\n",
    )
    manifest.write_bytes(b"\xff\xfe")
    code, _, err = winnow("plan", "-m", manifest)
    assert (code, err) == (
        2,
        f"winnow: {manifest}: not UTF-8 text: invalid start byte\n  cure: save it as UTF-8, or name the file meant\n",
    )
    folder = small_engine / "folder.yaml"
    folder.mkdir()
    code, _, err = winnow("plan", "-m", folder)
    assert (code, err) == (
        2,
        f"winnow: {folder}: cannot be read: Is a directory\n  cure: this is a directory: name a file\n",
    )


def test_a_missing_manifest_catalog_or_archive_says_what_to_run(tmp_path: Path, small_engine: Path, winnow):
    assert winnow("plan", "-m", tmp_path / "engine.yaml") == (
        2,
        "",
        f"winnow: {tmp_path}/engine.yaml: no such file\n"
        "  cure: run this in an engine's directory, name its manifest with -m, or make one: `winnow init`\n",
    )
    (small_engine / "selection.yaml").rename(tmp_path / "away.yaml")
    assert winnow("coverage", "-m", small_engine / "engine.yaml") == (
        2,
        "",
        f"winnow: {small_engine}/selection.yaml: no such file\n  cure: run `winnow enumerate` first\n",
    )
    (tmp_path / "away.yaml").rename(small_engine / "selection.yaml")
    code, _, err = winnow("pack", "-m", small_engine / "engine.yaml", "--catalog", tmp_path / "none")
    assert (code, err) == (
        2,
        f"winnow: {tmp_path}/none: no such catalog directory\n  cure: run `winnow generate` first\n",
    )
    graph = small_engine / "corpus" / "vit_b16_classifier_encode_m8.json"
    code, _, err = winnow("run", graph, "-m", small_engine / "engine.yaml", "--archive", tmp_path)
    assert code == 2
    assert f"no shard for {host_level()}" in err


def test_a_graph_that_nothing_serves_is_refused_with_reasons(small_engine: Path, winnow):
    graph = small_engine / "corpus" / "qwen2_0_5b_q_proj_decode_m1.json"
    graph.write_text(graph.read_text().replace('"float"', '"half"'))
    code, out, err = winnow("run", graph, "-m", small_engine / "engine.yaml")
    assert code == 1
    assert out == ""
    assert "qwen2_0_5b_q_proj_decode_m1" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["paack"], 'winnow: no command "paack"\n  cure: did you mean "pack"?\n'),
        (
            ["init", "x", "--from", "gem_cpu"],
            'winnow: no built-in engine is called "gem_cpu"\n  cure: did you mean "gemm_cpu"?\n',
        ),
    ],
)
def test_unknown_names_are_answered_with_the_nearest(winnow, arguments, said):
    code, _, err = winnow(*arguments)
    assert (code, err) == (2, said)


def test_unknown_options_and_devices_exit_with_2(small_engine: Path, winnow):
    assert winnow("check", "--frobnicate")[0] == 2
    code, _, err = winnow("sweep", "-m", small_engine / "engine.yaml", "--device", "gpu")
    assert code == 2
    assert err.startswith('winnow: no device runtime "gpu" is installed')


def test_help_lists_every_command_and_exits_0(winnow):
    code, out, _ = winnow("--help")
    assert code == 0
    for command in ("demo", "enumerate", "generate", "pack", "sweep", "reduce", "check"):
        assert f"  {command} " in out
        assert winnow(command, "--help")[0] == 0
