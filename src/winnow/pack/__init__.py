"""Descriptors → one shard an architecture: pre-flight, compiling, the object cache, provenance, the written tree.

Imports `descriptors`, `compilers`, `archive`, `settings`, `targets` and `workers`. Never knows a measurement.
"""
