"""Kernel source → code object, and what an object says of itself: one file a language.

Imports `targets`. Never knows a catalog, a family or a manifest.
"""
