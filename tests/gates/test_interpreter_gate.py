"""The gate `interpreter` passes right kernels, refuses wrong ones by name, and never passes what it could not run."""

from __future__ import annotations

from pathlib import Path

import pytest
from rdna_engine import make_rdna_engine
from rdna_kernels import changed

from winnow.families.attention_rdna import forward
from winnow.families.gemm import ADAPTER as GEMM

FIRST = "attention_rdna.fp16_wi64_ws16_band_none_bm16_bn32_tr0_nw2_ns1_wpe0.gfx11-generic"


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    return make_rdna_engine(tmp_path / "engine")


def test_right_kernels_pass_and_the_extent_is_said(manifest: Path, winnow) -> None:
    code, out, _ = winnow("check", "-m", manifest, "interpreter", "--all")
    assert code == 0
    assert " ".join(out.split()) == "interpreter passed all 2 distinct sources of 2 kernels, 10 launches"


def test_a_wrong_kernel_is_refused_by_name_with_its_probe(
    manifest: Path, winnow, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = forward.source_of
    fault = [("queries + band_low\n", "queries + band_low + 1\n")]
    monkeypatch.setattr(forward, "source_of", lambda spec: changed(sound(spec), fault if spec.block_m == 16 else []))
    code, out, _ = winnow("check", "-m", manifest, "interpreter")
    assert code == 1
    found = [line for line in out.splitlines() if line.startswith("    ")]
    assert len(found) == 3
    assert found[0].startswith(f"    {FIRST}: probe narrow: o[0, ")
    assert " elements beyond rtol " in found[0]
    assert "selection.yaml:" in found[0]
    assert found[1].startswith(f"    {FIRST}: probe late: o[0, ")
    assert found[2].startswith(f"    {FIRST}: probe window: o[0, ")


def test_a_kernel_that_its_own_probe_does_not_match_is_refused(manifest: Path, winnow) -> None:
    """A manifest that compares too strictly serves nobody, and the kernel would never be checked."""
    text = manifest.read_text().replace("head_size_v: {at_most: width}", "head_size_v: {equal: width}")
    manifest.write_text(text)
    code, out, _ = winnow("check", "-m", manifest, "interpreter")
    assert code == 1
    assert f"{FIRST}: is not matched with its probe narrow: head_size_v=16 is not equal to width=64" in out


def test_a_family_without_probes_is_no_pass(manifest: Path, winnow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("winnow.runtime.behaviour.find_family", lambda name, place=None: GEMM)
    code, out, _ = winnow("check", "-m", manifest, "interpreter")
    assert code == 3
    assert 'incomplete  the family "gemm" names no probe graphs' in out


def test_a_family_that_fails_makes_the_gate_unusable(manifest: Path, winnow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("winnow.families.attention_rdna.adapter.RdnaAttentionAdapter.tolerance", lambda *_: 1 / 0)
    code, out, _ = winnow("check", "-m", manifest, "interpreter")
    assert code == 2
    said = (
        'interpreter unusable family "attention_rdna": tolerance on narrow raised ZeroDivisionError: division by zero'
    )
    assert " ".join(out.split()).startswith(said)


def test_without_triton_the_answer_is_incomplete_with_the_cure(
    manifest: Path, winnow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("winnow.interpreter.process.importlib.util.find_spec", lambda name: None)
    code, out, _ = winnow("check", "-m", manifest, "interpreter")
    assert code == 3
    assert "Triton is not installed" in out
    assert "pip install 'winnow-kernels[gpu]'" in out


def test_engines_in_c_have_nothing_to_interpret(small_engine: Path, winnow) -> None:
    code, out, _ = winnow("check", "-m", small_engine / "engine.yaml", "interpreter")
    assert code == 0
    assert " ".join(out.split()) == "interpreter passed kernels of kind c: none in Triton"
