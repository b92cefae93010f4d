"""What an object needs against what its target has: an object that could not be launched is not shipped."""

from __future__ import annotations

from collections.abc import Mapping

from winnow.targets.arches import arch_facts

_LIMITS = (
    ("lds_bytes", "bytes of local memory", "lds_bytes"),
    ("threads_per_block", "threads a block", "max_threads_per_block"),
)
"""(resource of the object, how errors call it, fact of the target)"""


def resource_problem(resources: Mapping[str, int], target: str) -> str | None:
    """The first resource of which the object needs more than `target` has, as a sentence; None where all fit."""
    facts = arch_facts(target)
    for key, words, fact in _LIMITS:
        needed, available = resources.get(key), getattr(facts, fact)
        if needed is not None and available is not None and needed > available:
            return f"needs {needed} {words}, {target} has {available}"
    return None
