"""Kernel families: what a graph asks of them, their candidates and their kernels; one folder a built-in family.

Imports `registry`, `spaces`, `graphs`, `targets`, and `compilers` for kernel sources. Never knows an engine, an
archive or a sweep.
"""
