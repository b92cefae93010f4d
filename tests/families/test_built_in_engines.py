"""The manifests of the built-in engines must launch kernels on the grids that the kernels were written for."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from winnow.families import attention, gemm
from winnow.families.algorithm import TunedSpec
from winnow.families.attention.spec import DecodeSpec, PrefillSpec
from winnow.families.gemm.spec import BlockedSpec, SkinnySpec
from winnow.graphs.reader import read_corpus
from winnow.runtime.launcher import Launcher, launcher_of
from winnow.runtime.matching import Matcher
from winnow.selection.enumerate import Variant, enumerate_variants
from winnow.settings.manifest import LoadedManifest, load_manifest

SPECS: dict[str, type[TunedSpec]] = {s.ALGORITHM: s for s in (BlockedSpec, SkinnySpec, PrefillSpec, DecodeSpec)}


def manifest(name: str) -> LoadedManifest:
    return load_manifest(Path(str(files("winnow.engines") / name / "engine.yaml")))


def launcher(loaded: LoadedManifest) -> Launcher:
    return launcher_of(loaded.manifest.launch_surface, loaded.place("launch_surface"))


def matcher(loaded: LoadedManifest) -> Matcher:
    match = loaded.manifest.match
    return Matcher(tuple((field, rule.operator, rule.against(field)) for field, rule in match.items()))


def completed(loaded: LoadedManifest, variant: Variant) -> dict[str, Any]:
    """The metadata as readers see it: what a kernel does not say is the field's default."""
    defaults = {field.name: field.default_value for field in loaded.manifest.kmd_fields}
    return defaults | dict(variant.metadata)


@pytest.mark.parametrize(("name", "family"), [("gemm_cpu", gemm), ("attention_cpu", attention)])
def test_manifests_launch_the_candidates_grids(name: str, family: Any) -> None:
    """A manifest that asks for a smaller grid would leave a part of the output unwritten."""
    loaded = manifest(name)
    surface, match = launcher(loaded), matcher(loaded)
    candidates = {c.name: c for c in family.REGISTRY.candidates()}
    problems = [family.ADAPTER.problem(graph) for graph in read_corpus(loaded.root / "corpus")]
    variants, launched = enumerate_variants(loaded).variants, 0
    assert {variant.candidate for variant in variants} == set(candidates)
    for variant in variants:
        spec, metadata = SPECS[variant.algorithm](**variant.spec), completed(loaded, variant)
        served = [problem for problem in problems if match.refusal(metadata, problem.fields) is None]
        for problem in served:
            request = family.ADAPTER.request(problem, variant.arch)
            expected = candidates[variant.candidate].grid(spec, request)
            assert surface.grid(metadata, problem.fields) == expected, spec.kernel_name()
        launched += len(served)
    assert launched > len(variants)


@pytest.mark.parametrize(("name", "family"), [("gemm_cpu", gemm), ("attention_cpu", attention)])
def test_every_corpus_graph_has_a_candidate(name: str, family: Any) -> None:
    """A graph of the corpus that the registry does not serve would be a gap in every report."""
    loaded = manifest(name)
    for graph in read_corpus(loaded.root / "corpus"):
        problem = family.ADAPTER.problem(graph)
        for arch in loaded.manifest.enumerate.candidates.arch:
            assert family.REGISTRY.supported(family.ADAPTER.request(problem, arch)), graph.name
