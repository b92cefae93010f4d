"""What the registry serves of a corpus against what the selection serves: outside, declined, covered or a gap.

Imports `selection`, `families`, `graphs`, `settings`, `targets`, and `runtime` for its matcher. Never knows
descriptors or objects.
"""
