"""Registry and settings → `selection.yaml`: cells, enumeration, budget, plan, lock, the authored text and its expansion.

Imports `settings`, `registry`, `spaces` and `targets`. Never knows descriptors, objects or measurements.
"""
