"""What the registry serves of a corpus against what the selection serves: outside, declined, covered or a gap.

Imports `selection`, `families` and the runtime's matcher. Never knows descriptors or objects.
"""
