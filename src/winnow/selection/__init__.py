"""Registry and settings → `selection.yaml`: cells, enumeration, budget, plan, lock, author, expansion.

Imports `settings`, `registry` and `targets`. Never knows descriptors, objects or measurements.
"""
