"""Problems to ask about a kernel: those of the corpus that it serves, and others at the edges of its numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from winnow.families.adapter import Field, Problem
from winnow.identity import sha256_hex
from winnow.runtime.matching import Matcher

SAMPLES = 24
"""Problems that are made up for each kernel."""

_LARGEST = 1 << 16
_KEPT = 0.5
_COMMON = (1, 2, 3, 7, 64, 513)


def sampled_problems(
    corpus: Sequence[Problem], matcher: Matcher, metadata: Mapping[str, Any], name: str
) -> Iterator[Problem]:
    """Problems that the kernel's matcher admits; the same ones for the same kernel name.

    Made-up ones have a corpus problem's fields, except those that matching looks at: equal ones are the kernel's,
    sizes are near its own numbers. Their strides do not follow.
    """
    yield from (problem for problem in corpus if matcher.refusal(metadata, problem.fields) is None)
    chooser = random.Random(int(sha256_hex(name)[:16], 16))
    edges = sorted({abs(v) + d for v in metadata.values() if type(v) is int for d in (-1, 0, 1)} | set(_COMMON))
    edges = [edge for edge in edges if 0 < edge <= _LARGEST]
    for _ in range(SAMPLES):
        base = chooser.choice(corpus)
        fields = {**base.fields, **_varied(base.fields, matcher, metadata, edges, chooser)}
        if matcher.refusal(metadata, fields) is None:
            yield replace(base, fields=fields)


def _varied(
    fields: Mapping[str, Field],
    matcher: Matcher,
    metadata: Mapping[str, Any],
    edges: Sequence[int],
    chooser: random.Random,
) -> dict[str, Field]:
    varied: dict[str, Field] = {}
    for name, operator, other in matcher.rules:
        if operator == "equal":
            varied[name] = metadata[other]
        elif type(fields.get(name)) is not int or chooser.random() < _KEPT:
            continue
        elif operator == "multiple_of":
            varied[name] = metadata[other] * chooser.choice(_COMMON)
        elif operator == "at_most":
            varied[name] = chooser.choice([edge for edge in edges if edge <= metadata[other]] or [1])
        else:
            varied[name] = chooser.choice(edges)
    return varied
