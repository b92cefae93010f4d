"""What an object needs against what its target has and its manifest allows: what could not run well is not shipped."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from winnow.targets.arches import arch_facts

_AVAILABLE = (
    ("lds_bytes", "bytes of local memory", "lds_bytes"),
    ("threads_per_block", "threads a block", "max_threads_per_block"),
)
"""(resource of the object, how errors call it, fact of the target)"""

_LIMITED = {
    "vgpr_spills": "spilled vector registers",
    "sgpr_spills": "spilled scalar registers",
    "scratch_bytes": "bytes of scratch memory a lane",
}
"""Resources that a manifest may limit, and how errors call them."""

NO_LIMITS: Mapping[str, int] = MappingProxyType({})


def resource_problem(resources: Mapping[str, int], target: str, limits: Mapping[str, int] = NO_LIMITS) -> str | None:
    """The first resource of which the object needs too much, as a sentence; None where all fit.

    `limits` are those of the manifest's `pack:`. A limit on what an object does not say is none: a limit on spills
    says nothing of an NVIDIA object, whose spills are in its scratch memory.
    """
    facts = arch_facts(target)
    for key, words, fact in _AVAILABLE:
        needed, available = resources.get(key), getattr(facts, fact)
        if needed is not None and available is not None and needed > available:
            return f"needs {needed} {words}, {target} has {available}"
    for key, limit in limits.items():
        needed = resources.get(key)
        if needed is not None and needed > limit:
            return f"has {needed} {_LIMITED[key]}, the manifest allows {limit}"
    return None
