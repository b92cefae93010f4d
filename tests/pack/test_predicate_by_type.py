"""A builder without a predicate of its own name is judged by the one that is written for its class of specs."""

from __future__ import annotations

from typing import Any

import pytest

from winnow.errors import Place, Refused
from winnow.pack.hydrate import Authored, Hydrated, check_support, hydrate


def hydrated(spec: dict[str, Any], builder: str = "build_forward") -> Hydrated:
    authored = Authored("k1", Place("main.kdp.json"), "pack_typed_predicate", builder, spec)
    return hydrate(authored, allowed=frozenset({"pack_typed_predicate"}))


def test_the_predicate_of_the_specs_type_judges() -> None:
    check_support(hydrated({"tile": 4}), "x86-64-v3")
    with pytest.raises(Refused) as error:
        check_support(hydrated({"tile": 7}), "x86-64-v3")
    assert str(error.value) == (
        "main.kdp.json: kernel_source.spec: k1: pack_typed_predicate.build_forward does not support this spec on "
        "x86-64-v3: seven\n  cure: take the variant out of the selection, or correct its spec"
    )


def test_a_predicate_for_a_class_judges_the_classes_that_derive_from_it() -> None:
    check_support(hydrated({"tile": 4, "fast": True}, "build_narrow"), "x86-64-v3")
    with pytest.raises(Refused, match="seven"):
        check_support(hydrated({"tile": 7, "fast": True}, "build_narrow"), "x86-64-v3")
