"""The built-in corpora: they are what the model table gives, and keep the limits that make a sweep quick."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from winnow.graphs.model import Graph, Tensor
from winnow.graphs.models import MODELS, attention, context, linear, scores
from winnow.graphs.models.sources import all_corpora
from winnow.graphs.models.sources.cpu import CORPORA
from winnow.graphs.reader import graph_of, read_corpus, write_graph
from winnow.strict.json_reader import parse_json

ENGINES = Path(str(resources.files("winnow"))) / "engines"


def _tensors(graph: Graph) -> dict[str, Tensor]:
    return {tensor.name: tensor for tensor in graph.tensors}


def _bytes(tensor: Tensor) -> int:
    return 4 * (1 + sum((dim - 1) * stride for dim, stride in zip(tensor.dims, tensor.strides, strict=True)))


def _flops(graph: Graph) -> float:
    named = _tensors(graph)
    if graph.nodes[0].type == "MatmulAttributes":
        return 2 * math.prod(named["a"].dims) * named["b"].dims[-1]
    full = 4 * math.prod(named["q"].dims) * named["k"].dims[2]
    return full / 2 if graph.nodes[0].options["causal_mask"] else full


@pytest.mark.parametrize("engine", all_corpora())
def test_committed_files_are_what_the_table_gives(engine: str) -> None:
    """A file edited by hand, or a table changed without its files, would make the provenance a lie."""
    committed = {path.name: path.read_text() for path in (ENGINES / engine / "corpus").iterdir()}
    assert committed == {f"{graph.name}.json": write_graph(graph) for graph in all_corpora()[engine]()}


def test_module_writes_the_corpora(tmp_path: Path) -> None:
    """The documented command must make the committed files, from any directory."""
    command = [sys.executable, "-m", "winnow.graphs.models", str(tmp_path / "out")]
    source = Path(str(resources.files("winnow"))).parent
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=tmp_path, env={"PYTHONPATH": str(source)}
    )
    counts = {
        "gemm_cpu": 28,
        "attention_cpu": 23,
        "attention_gfx950": 144,
        "attention_gfx11": 96,
        "attention_gfx12": 96,
    }
    assert done.stdout == "".join(f"{engine}: {count} graphs\n" for engine, count in counts.items())
    for engine in counts:
        made, committed = tmp_path / "out" / engine / "corpus", ENGINES / engine / "corpus"
        assert {path.name: path.read_bytes() for path in made.iterdir()} == {
            path.name: path.read_bytes() for path in committed.iterdir()
        }


@pytest.mark.parametrize(("engine", "least", "most_flops"), [("gemm_cpu", 24, 3e9), ("attention_cpu", 20, 2.5e9)])
def test_corpora_keep_their_limits(engine: str, least: int, most_flops: float) -> None:
    """One graph that is too large makes a sweep of sixty variants take an hour, or runs out of memory."""
    graphs = read_corpus(ENGINES / engine / "corpus")
    assert len(graphs) >= least
    assert max(_flops(graph) for graph in graphs) <= 0.3e9
    assert sum(_flops(graph) for graph in graphs) <= most_flops
    assert max(sum(_bytes(tensor) for tensor in graph.tensors) for graph in graphs) <= 250e6


@pytest.mark.parametrize("engine", CORPORA)
def test_every_graph_says_where_it_comes_from(engine: str) -> None:
    """A shape that nobody can trace to a model proves nothing about users' graphs."""
    names = {model.name: slug for slug, model in MODELS.items()}
    for graph in read_corpus(ENGINES / engine / "corpus"):
        said = graph.provenance
        assert graph.name.startswith(names[said["model"]])
        assert said["source"] == MODELS[names[said["model"]]].source
        assert f"_{said['phase']}_" in graph.name
        assert ("_tp" in graph.name) == ("slice" in said)


def _gemms() -> Iterator[tuple[Graph, dict[str, Tensor]]]:
    return ((graph, _tensors(graph)) for graph in read_corpus(ENGINES / "gemm_cpu" / "corpus"))


def test_gemm_corpus_has_both_weight_layouts_and_awkward_sizes() -> None:
    """A corpus of one layout and powers of two would let a kernel with a broken tail pass every gate."""
    layouts = {"column" if named["b"].strides[1] == 1 else "row" for _, named in _gemms()}
    assert layouts == {"column", "row"}
    assert {1, 4, 5, 8, 17, 197, 577} <= {named["a"].dims[1] for _, named in _gemms()}
    assert {1000, 50257} <= {named["b"].dims[2] for _, named in _gemms()}
    assert {1, 4, 12} <= {named["a"].dims[0] for _, named in _gemms()}


def test_gemm_shapes_agree_with_each_other() -> None:
    """An output that is not [batch, m, n] would be written out of bounds."""
    for graph, named in _gemms():
        (batch, m, k), (batch_b, k_b, n) = named["a"].dims, named["b"].dims
        assert (batch, k) == (batch_b, k_b), graph.name
        assert named["c"].dims == (batch, m, n), graph.name


def test_attention_corpus_has_every_kind_of_mask_and_shape() -> None:
    """Each of these is a path of its own in an attention kernel."""
    seen: set[str] = set()
    for graph in read_corpus(ENGINES / "attention_cpu" / "corpus"):
        named, options = _tensors(graph), graph.nodes[0].options
        (_, heads, seqlen_q, d), (_, kv_heads, seqlen_kv, _) = named["q"].dims, named["k"].dims
        assert options["attn_scale_value"] == 1 / math.sqrt(d)
        assert heads % kv_heads == 0
        assert not (options["causal_mask"] and seqlen_q != seqlen_kv), "rows would see too few keys"
        assert options["causal_mask_bottom_right"] == (options["diagonal_alignment"] == "BOTTOM_RIGHT")
        mask = "causal" if options["causal_mask"] else "full"
        mask = "bottom right" if options["causal_mask_bottom_right"] else mask
        seen |= {mask, f"head {d}", "GQA" if heads > kv_heads else "MHA"}
        seen |= {"decode" if seqlen_q == 1 else "many rows"}
        seen |= {"by head" if named["k"].strides[1] > named["k"].strides[2] else "by token"}
        seen |= {"room in the cache"} if named["k"].strides[1] > seqlen_kv * d else set()
        seen |= {"cross"} if "cross_attention" in graph.name else set()
    assert seen == {
        "causal", "full", "bottom right", "head 64", "head 128", "GQA", "MHA", "decode", "many rows",
        "by head", "by token", "room in the cache", "cross",
    }  # fmt: skip


def test_a_linear_weight_is_stored_by_output_and_a_conv1d_weight_by_input() -> None:
    """The wrong one of the two multiplies by the transposed matrix."""
    assert _tensors(linear("bert_base", "query", "encode", 3))["b"].strides == (768 * 768, 1, 768)
    assert _tensors(linear("gpt2", "c_attn", "prefill", 3))["b"].strides == (768 * 2304, 2304, 1)


def test_tensor_parallelism_divides_the_side_that_it_divides_in_the_model() -> None:
    """gate is cut by outputs, down by inputs: the other way round nobody runs them."""
    gate = linear("llama3_8b", "gate_proj", "decode", 1, shards=8)
    down = linear("llama3_8b", "down_proj", "decode", 1, shards=8)
    assert _tensors(gate)["b"].dims == (1, 4096, 1792)
    assert _tensors(down)["b"].dims == (1, 1792, 4096)
    assert gate.provenance["slice"] == "tensor parallel 8: 1792 of 14336 output features"
    assert down.provenance["slice"] == "tensor parallel 8: 1792 of 14336 input features"
    with pytest.raises(ValueError, match=r"^28 does not divide by 8$"):
        attention("qwen2_7b", "prefill", 8, 8, mask="causal", shards=8)


def test_products_in_attention_read_the_projections_in_place() -> None:
    """Heads side by side in a row: a copy that nobody makes would make these graphs too easy."""
    named = _tensors(scores("bert_base", "encode", 5))
    assert (named["a"].strides, named["b"].strides, named["c"].strides) == ((64, 768, 1), (64, 1, 768), (25, 5, 1))
    named = _tensors(context("bert_base", "encode", 5))
    assert (named["a"].strides, named["b"].strides, named["c"].strides) == ((25, 5, 1), (64, 768, 1), (64, 768, 1))


def test_layouts_of_attention() -> None:
    """Logical dims are the same in all layouts; only the strides say where an element is."""
    named = _tensors(attention("gpt2", "prefill", 7, 7, mask="causal", layout="fused"))
    assert named["q"].strides == named["v"].strides == (7 * 2304, 64, 2304, 1)
    assert named["o"].strides == (7 * 768, 64, 768, 1)
    cached = attention("llama3_8b", "decode", 1, 9, mask="none", batch=2, cache="bhsd", capacity=32)
    assert _tensors(cached)["k"].dims == (2, 8, 9, 128)
    assert _tensors(cached)["k"].strides == (8 * 32 * 128, 32 * 128, 128, 1)


def test_documentation_lists_every_graph() -> None:
    """A reader of the corpus page must see what is measured, no more and no less."""
    page = Path(__file__).parents[2] / "docs" / "corpus.md"
    example = page.read_text().split("```json\n")[1].split("```")[0]
    assert graph_of(parse_json(example, str(page))) == linear("llama3_8b", "k_proj", "decode", 1)
    listed = {line.split("`")[1] for line in page.read_text().splitlines() if line.startswith("| `")}
    assert listed == {graph.name for corpus in CORPORA.values() for graph in corpus()}
