"""What is packed must be what the registry's builder would build: a spec that is guessed at is a wrong kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pack_bad_builders
import pytest

from winnow.errors import InputError, Place, Refused
from winnow.pack.hydrate import Authored, build_source, check_support, hydrate, module_name

SAMPLE = {"dtype": "fp32", "tile": 4}
RICH: dict[str, Any] = {"ratio": 1, "mode": "a", "inner": {"depth": 2}}
ALLOWED = frozenset({"pack_samples", "pack_bad_builders", "pack_broken_module", "no_such_package"})


def authored(builder: str, spec: dict[str, Any] = SAMPLE, source: str = "pack_bad_builders") -> Authored:
    return Authored("k1", Place("main.kdp.json", key="kernelDescriptors[0]"), source, builder, spec)


def message(error: pytest.ExceptionInfo[Any]) -> str:
    return str(error.value).removeprefix("main.kdp.json: kernelDescriptors[0].kernel_source")


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("a.b.c", "a.b.c"),
        ("kernels/gfx950/attention_dense.py", "kernels.gfx950.attention_dense"),
        ("kernels/x", "kernels.x"),
        ("../kernels/x.py", None),
        ("/kernels/x.py", None),
        ("kernels\\x", None),
        ("", None),
    ],
)
def test_sources_are_dotted_or_slash_paths(source: str, module: str | None) -> None:
    assert module_name(source) == module


def test_the_spec_is_the_builders_own_class_with_its_defaults() -> None:
    hydrated = hydrate(authored("build_sample", SAMPLE, "pack_samples.py"), allowed=ALLOWED)
    assert (hydrated.spec.dtype, hydrated.spec.tile, hydrated.spec.fast) == ("fp32", 4, False)
    check_support(hydrated, "x86-64-v3")
    assert build_source(hydrated, "x86-64-v3").text == "fp32 4 slow x86-64-v3"


def test_nested_optional_and_literal_fields() -> None:
    spec = {**RICH, "mode": 3, "maybe": None}
    found = hydrate(authored("build_rich", spec), allowed=ALLOWED).spec
    assert found == pack_bad_builders.RichSpec(1.0, 3, pack_bad_builders.Inner(2))
    assert type(found.ratio) is float
    assert hydrate(authored("build_rich", {**RICH, "maybe": 5}), allowed=ALLOWED).spec.maybe == 5


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (
            {"dtype": "fp32", "tile": 4, "tiel": 2},
            '.spec.tiel: k1: unknown key "tiel"\n  cure: did you mean "tile"?',
        ),
        ({"dtype": "fp32"}, '.spec.tile: k1: key "tile" is missing'),
        ({"dtype": "fp32", "tile": "4"}, ".spec.tile: k1: Input should be a valid integer (value: '4')"),
        ({"dtype": "fp32", "tile": True}, ".spec.tile: k1: Input should be a valid integer (value: True)"),
        ({"dtype": "fp32", "tile": None}, ".spec.tile: k1: Input should be a valid integer (value: None)"),
        ({"dtype": "fp32", "tile": 4, "fast": 1}, ".spec.fast: k1: Input should be a valid boolean (value: 1)"),
        (
            {"dtype": "fp32", "tile": 0},
            ".spec: k1: SampleSpec refuses this spec: ValueError: tile must be positive",
        ),
    ],
)
def test_specs_that_do_not_fit(spec: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        hydrate(authored("build_sample", spec, "pack_samples"), allowed=ALLOWED)
    assert message(error) == said


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"mode": "c"}, ".spec.mode: k1: not one of 'a', 'b', 3 (value: 'c')"),
        ({"mode": 3.0}, ".spec.mode: k1: not one of 'a', 'b', 3 (value: 3.0)"),
        ({"inner": 5}, ".spec.inner: k1: not a mapping (value: 5)"),
        (
            {"inner": {"deep": 1}},
            '.spec.inner.deep: k1: unknown key "deep"\n  cure: did you mean "depth"?',
        ),
        ({"tags": "x"}, ".spec.tags: k1: Input should be a valid list (value: 'x')"),
        ({"either": 1.5}, ".spec.either: k1: Input should be a valid integer (value: 1.5)"),
        ({"ratio": "x"}, ".spec.ratio: k1: Input should be a valid number (value: 'x')"),
    ],
)
def test_values_that_do_not_fit_a_richer_spec(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        hydrate(authored("build_rich", {**RICH, **changed}), allowed=ALLOWED)
    assert message(error) == said


def test_lists_and_alternatives_are_taken_as_they_stand() -> None:
    spec = hydrate(authored("build_rich", {**RICH, "tags": ["x"], "either": "y"}), allowed=ALLOWED).spec
    assert (spec.tags, spec.either) == (["x"], "y")


def test_a_type_that_plain_data_cannot_have_is_named() -> None:
    with pytest.raises(InputError) as error:
        hydrate(authored("build_opaque", {"handle": 1}), allowed=ALLOWED)
    assert message(error).startswith(".spec: k1: OpaqueSpec cannot come from a descriptor: Unable to generate")


@pytest.mark.parametrize(
    ("builder", "said"),
    [
        (
            "build_sampel",
            '.builder: k1: module pack_bad_builders has no builder "build_sampel"\n'
            '  cure: did you mean "build_sample"?',
        ),
        (
            "build_lonely",
            ".builder: k1: builder pack_bad_builders.build_lonely has no support predicate "
            "supports_lonely(spec, *, arch)\n"
            "  cure: write one: without it nothing refuses a spec that cannot be built",
        ),
        (
            "build_extra",
            ".builder: k1: builder pack_bad_builders.build_extra(spec: 'SampleSpec', *, arch: 'str', tuned: 'bool' = "
            "True) -> 'SampleSource' does not have the signature (spec, *, arch)\n"
            "  cure: put every other choice into the spec: a further argument would silently keep its default",
        ),
        (
            "build_positional",
            ".builder: k1: builder pack_bad_builders.build_positional(spec: 'SampleSpec', arch: 'str') -> "
            "'SampleSource' does not have the signature (spec, *, arch)\n"
            "  cure: put every other choice into the spec: a further argument would silently keep its default",
        ),
        (
            "build_untyped",
            ".builder: k1: builder pack_bad_builders.build_untyped does not say which dataclass its spec is\n"
            "  cure: annotate its first parameter with the spec's dataclass",
        ),
        (
            "build_mapping",
            ".builder: k1: builder pack_bad_builders.build_mapping does not say which dataclass its spec is\n"
            "  cure: annotate its first parameter with the spec's dataclass",
        ),
        (
            "build_dangling",
            ".builder: k1: the annotations of pack_bad_builders.build_dangling name nothing: "
            "NameError: name 'Missing' is not defined",
        ),
        (
            "build_confused",
            ".builder: k1: supports_confused judges RichSpec, but builder pack_bad_builders.build_confused builds "
            "from SampleSpec",
        ),
    ],
)
def test_builders_with_a_defect(builder: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        hydrate(authored(builder), allowed=ALLOWED)
    assert message(error) == said


def test_a_predicate_that_raises_names_builder_field_and_kernel() -> None:
    with pytest.raises(InputError) as error:
        check_support(hydrate(authored("build_raising"), allowed=ALLOWED), "x86-64-v3")
    assert message(error) == (
        ".spec: k1: pack_bad_builders.supports_raising, the predicate of pack_bad_builders.build_raising, raised "
        "AttributeError: 'SampleSpec' object has no attribute 'block_n' (it reads the field \"block_n\")\n"
        "  cure: a predicate that raises judges nothing: mend it"
    )


def test_a_predicate_that_says_no_is_a_refusal_with_its_reason() -> None:
    with pytest.raises(Refused) as error:
        check_support(hydrate(authored("build_sample", {"dtype": "fp32", "tile": 7}), allowed=ALLOWED), "x86-64-v3")
    assert message(error) == (
        ".spec: k1: pack_samples.build_sample does not support this spec on x86-64-v3: tile 7 is odd\n"
        "  cure: take the variant out of the selection, or correct its spec"
    )
    with pytest.raises(Refused, match="does not support this spec on x86-64-v3: no reason given"):
        check_support(hydrate(authored("build_rich", RICH), allowed=ALLOWED), "x86-64-v3")


@pytest.mark.filterwarnings("error")
def test_a_field_may_have_any_name_that_python_allows() -> None:
    found = hydrate(authored("build_named", {"copy": 2, "model_fields": 3}), allowed=ALLOWED).spec
    assert found == pack_bad_builders.NamedSpec(2, "a", 3)


def test_a_spec_that_holds_itself_is_refused() -> None:
    with pytest.raises(InputError) as error:
        hydrate(authored("build_nested", {}), allowed=ALLOWED)
    assert message(error) == ".spec: k1: NestedSpec cannot come from a descriptor: it holds itself"


def test_an_answer_that_is_neither_yes_nor_no() -> None:
    with pytest.raises(InputError) as error:
        check_support(hydrate(authored("build_vague"), allowed=ALLOWED), "x86-64-v3")
    assert message(error) == ".spec: k1: pack_bad_builders.supports_vague answered 'yes', not (bool, reason)"


@pytest.mark.parametrize(
    ("builder", "said"),
    [
        (
            "build_elsewhere",
            ".builder: k1: pack_bad_builders.build_elsewhere does not build for gfx942: only gfx950, not gfx942",
        ),
        ("build_failing", ".builder: k1: pack_bad_builders.build_failing failed for gfx942: KeyError: 'tile'"),
    ],
)
def test_builders_that_raise(builder: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        build_source(hydrate(authored(builder), allowed=ALLOWED), "gfx942")
    assert message(error) == said


def test_only_named_modules_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pack_samples_evil.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError) as error:
        hydrate(authored("build_x", source="pack_samples_evil"), allowed=frozenset({"pack_samples", "b"}))
    assert message(error) == (
        '.source: k1: module "pack_samples_evil" is not one that the manifest names, so it is not imported\n'
        "  cure: name it under enumerate.builders in engine.yaml (allowed now: b, pack_samples)"
    )
    with pytest.raises(InputError) as error:
        hydrate(authored("build_x", source="../evil"), allowed=ALLOWED)
    assert message(error) == '.source: k1: "../evil" names no module\n  cure: write it as a.b.c or as a/b/c.py'


def test_a_module_that_is_not_there_or_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pack_broken_module.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    cure = "\n  cure: install the package that holds it, or correct the name"
    with pytest.raises(InputError) as error:
        hydrate(authored("build_x", source="pack_broken_module"), allowed=ALLOWED)
    assert message(error) == (
        '.source: k1: module "pack_broken_module" cannot be imported: ZeroDivisionError: division by zero' + cure
    )
    with pytest.raises(InputError) as error:
        hydrate(authored("build_x", source="no_such_package.kernels"), allowed=ALLOWED)
    assert message(error) == (
        '.source: k1: module "no_such_package.kernels" cannot be imported: ModuleNotFoundError: '
        "No module named 'no_such_package'" + cure
    )
